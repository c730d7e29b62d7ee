"""Labels joined by a space and other delimiters are noted, and names of several words are not."""

from __future__ import annotations

import pytest
from refusals import facts

import semmetrics
from semmetrics import ReadOptions
from semmetrics.kinds.labels import joined
from semmetrics.kinds.labels.joined import are_joined_words, are_permuted

PLANTS = [
    *(
        "scab",
        "healthy",
        "frogeye",
        "rust",
        "complex",
        "mildew",
        "scab frogeye",
        "rust frogeye",
    ),
    *("scab frogeye complex", "frogeye complex", "rust complex", "mildew complex"),
]
PLANET = [
    *(
        "clear primary",
        "clear primary water",
        "agriculture clear primary",
        "haze primary",
    ),
    *(
        "agriculture clear primary water",
        "cloudy",
        "haze primary water",
        "clear primary road",
    ),
]
PROTEINS = ["16 0", "7 1 2 0", "5", "1", "18", "0", "25 0", "2 0"]
COCO = (
    "person bicycle car motorcycle airplane bus train truck boat/traffic light/fire hydrant/stop "
    "sign/parking meter/bench bird cat dog horse sheep cow bear/sports ball/baseball bat/baseball "
    "glove/tennis racket/wine glass/hot dog/potted plant/dining table/cell phone/teddy bear/hair "
    "drier"
)
OPEN_IMAGES = (
    "Bronze sculpture/Sculpture/Brown bear/Bear/Coffee cup/Coffee table/Coffee/Table/Cowboy hat/Hat"
    "/Sun hat/Dog bed/Dog/Bed/Infant bed/Human arm/Human face/Tree house/Tree/House/Wine glass/Wine"
    "/Wine rack/Kitchen knife/Knife/Football helmet/Football/Helmet/Golf ball/Ball/Golf cart/Cart"
)
LVIS = (
    "airplane/aeroplane|air conditioner|bat/bat animal|bow/bow weapon|bow/bow ribbons|cap/headwear"
    "|fish/fish food|fish|dog|dog collar|collar|egg/eggs|egg yolk/yolk/yolk egg|car/auto"
)
PLACES = (
    "church/indoor|church/outdoor|bistro/indoor|bistro/outdoor|street|balcony/exterior"
)
IMAGENET = (
    "great white shark|tiger shark|hammerhead|garden spider|black and gold garden spider|ski mask"
    "|mask|maillot|maillot tank suit|suit|tabby|Persian cat|Siamese cat|Egyptian cat|tiger cat"
)
PAIRS = [
    f"{one} {other}"
    for one in ("red", "old", "wet")
    for other in ("car", "dog", "house")
]
COLORS = ["red car", "blue car", "red bus", "blue bus", "red", "blue", "car", "bus"]


def noted(preds, gts, **options):
    found = facts(
        semmetrics.score(preds, gts, measures="F1", **options), "joined-labels"
    )
    return [fact.values["delimiter"] for fact in found]


def one_each(labels):
    return {f"i{n}": [label] for n, label in enumerate(labels)}


@pytest.mark.parametrize(
    "labels", [PLANTS, PLANET, PROTEINS, ["frog_eye scab", "scab", "rust"]]
)
def test_labels_joined_by_spaces_are_noted(labels):
    assert noted(one_each(labels[::-1]), one_each(labels)) == [" ", " "]


@pytest.mark.parametrize("delimiter", ["\n", "+", "/", "|", ";"])
def test_other_delimiters_are_noted(delimiter):
    labels = [label.replace(" ", delimiter) for label in PLANTS]
    assert noted(one_each(labels[::-1]), one_each(labels)) == [delimiter] * 2


def test_the_same_words_in_another_order(tmp_path):
    preds, gts = tmp_path / "p.csv", tmp_path / "gt.csv"
    preds.write_text("image,labels\na,frogeye scab\nb,healthy\nc,scab complex\n")
    gts.write_text("image,labels\na,scab frogeye\nb,healthy\nc,scab frogeye complex\n")
    table = semmetrics.score(preds, gts, measures="F1")
    first, _ = facts(table, "joined-labels")
    assert "label_delimiter=' '" in str(first)
    assert noted(preds, gts, read=ReadOptions(label_delimiter=" ")) == []
    lists = {"a": ["frogeye", "scab"], "b": ["healthy"], "c": ["scab", "complex"]}
    assert noted(lists, preds) == [" "]


def test_lists_beside_joined_labels():
    preds = {f"i{n}": label.split() for n, label in enumerate(PLANTS)}
    assert noted(preds, one_each(PLANTS)) == [" "]


@pytest.mark.parametrize(
    "labels",
    [
        [
            name
            for part in COCO.split("/")
            for name in ([part] if part.count(" ") < 2 else part.split())
        ],
        OPEN_IMAGES.split("/"),
        LVIS.split("|"),
        PLACES.split("|"),
        IMAGENET.split("|"),
        PAIRS,
        COLORS,
        ["C++", "C", "C#", "A+", "Google+"],
        ["animal/dog", "animal/cat", "plant/tree", "animal", "plant", "dog"],
        ["1", "2", "12"],
        ["1/2", "3/4"],
        ["fire truck", "truck", "fire", "fire hydrant", "hydrant"],
    ],
)
def test_names_of_several_words_are_not_noted(labels):
    assert noted(one_each(labels[::-1]), one_each(labels)) == []
    assert noted(one_each(labels[1:] + labels[:1]), one_each(labels)) == []
    odd = semmetrics.validate(one_each(labels))["odd"]
    assert not any("separates labels" in fact for fact in odd)


def test_sides_with_several_labels_per_item_are_not_noted():
    preds = {"a": ["car red", "red", "car"], "b": ["red car"]}
    assert noted(preds, preds) == []


def test_parts_have_characters():
    assert not are_joined_words([" dog", "dog ", "cat  dog"], [], " ")
    assert not are_permuted([" dog", "dog ", "cat  dog"], [], " ")
    assert are_permuted(["cat dog", "dog cat"], [], " ")


DELIMITERS = [",", ";", "|", ":", "/", "+", "&", "、", "\n", "\t", " ", ", ", " & "]


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_two_orders_of_the_same_parts(delimiter):
    preds = {"a": [f"cat{delimiter}dog"], "b": ["bus"], "c": ["van"], "d": ["car"]}
    gts = preds | {"a": [f"dog{delimiter}cat"]}
    shown = delimiter.strip(" ") or " "
    assert noted(preds, gts) == [shown] * 2
    odd = semmetrics.validate({"a": preds["a"], "b": gts["a"]} | {"c": ["van"]})["odd"]
    assert any(repr(shown) in fact for fact in odd)
    assert noted({"a": ["猫、犬"]}, {"a": ["犬、猫"]}) == ["、", "、"]


def test_colons_in_a_table(tmp_path):
    preds, gts = tmp_path / "p.csv", tmp_path / "gt.csv"
    preds.write_text("id,labels\na,water:road\nb,road\n")
    gts.write_text("id,labels\na,road:water\nb,road\n")
    assert noted(preds, gts) == [":", ":"]
    assert noted(preds, gts, read=ReadOptions(label_delimiter=":")) == []


@pytest.mark.parametrize("delimiter", [" ", ":", "、", "&"])
def test_a_label_that_splits_into_the_labels_of_the_other_side(delimiter, tmp_path):
    preds = tmp_path / "p.csv"
    preds.write_text(f"id,labels\na,cat{delimiter}dog\nb,bus\nc,dog\n")
    gts = {"a": ["dog", "cat"], "b": ["bus"], "c": ["dog", "tree"]}
    assert noted(preds, gts) == [delimiter]
    assert noted(gts, preds) == [delimiter]


def test_one_label_of_many_that_splits_is_a_name():
    preds = {f"i{n}": ["traffic light"] for n in range(11)}
    gts = {name: ["light"] for name in preds}
    hot_dogs = {"i0": ["hot dog"], "i1": ["hot dog"]}
    assert noted(preds | {"i0": ["hot dog"]}, gts | {"i0": ["dog", "hot"]}) == []
    assert noted(
        preds | hot_dogs, gts | {"i0": ["dog", "hot"], "i1": ["hot", "dog"]}
    ) == [" "]


@pytest.mark.parametrize(
    "labels",
    [
        ["16:9", "9:16", "4:3", "3:4"],
        ["salt & pepper", "R&B", "rock & roll", "AT&T"],
        ["Doe, John", "Roe, Jane", "Smith, Ann", "cat", "dog", "bus", "car", "van"],
        ["person:adult", "person:child", "animal:dog", "vehicle:car"],
        ["hot dog", "dog", "traffic light", "light"],
    ],
)
def test_names_with_delimiters_are_not_noted(labels):
    assert noted(one_each(labels[::-1]), one_each(labels)) == []
    assert (
        noted(
            one_each(labels), {f"i{n}": [label, "x"] for n, label in enumerate(labels)}
        )
        == []
    )


class CountedSet(frozenset):
    """A set that counts how often it is compared."""

    n_comparisons = 0

    def __lt__(self, other):
        CountedSet.n_comparisons += 1
        return super().__lt__(other)


def test_labels_with_a_word_in_common_are_not_all_compared(monkeypatch):
    monkeypatch.setattr(joined, "frozenset", CountedSet, raising=False)
    names = [f"road a{n % 250} b{n // 250}" for n in range(2_000)]
    assert not are_joined_words(names, ["road"], " ")
    assert 0 < CountedSet.n_comparisons < 20 * len(names)  # 8 labels have the same part
