"""Several labels joined in one are noted, and names of several words are not."""

import pytest
from refusals import facts

import semmetrics
from semmetrics import ReadOptions
from semmetrics.kinds.labels import joined
from semmetrics.kinds.labels.joined import are_joined_words

PLANTS = (
    "scab/healthy/frogeye/rust/complex/mildew/scab frogeye/rust frogeye/"
    "scab frogeye complex/frogeye complex/rust complex/mildew complex"
)
PLANET = (
    "clear primary/clear primary water/agriculture clear primary/haze primary/"
    "agriculture clear primary water/cloudy/haze primary water/clear primary road"
)
PROTEINS = "16 0/7 1 2 0/5/1/18/0/25 0/2 0"


def noted_delimiters(preds, gts, **options):
    """Return the delimiter of each note on joined labels."""
    table = semmetrics.score(preds, gts, measures="F1", **options)
    return [fact.values["delimiter"] for fact in facts(table, "joined-labels")]


def items_of(labels):
    """Return items with one label each."""
    return {f"i{number}": [label] for number, label in enumerate(labels)}


@pytest.mark.parametrize(
    "names", [PLANTS, PLANET, PROTEINS], ids=["plants", "planet", "proteins"]
)
def test_labels_of_public_datasets_joined_by_spaces_are_noted(names):
    labels = names.split("/")

    delimiters = noted_delimiters(items_of(labels[::-1]), items_of(labels))

    assert delimiters == [" ", " "]


@pytest.mark.parametrize("delimiter", ["\n", "+", "/", "|", ";"])
def test_labels_joined_by_other_delimiters_are_noted(delimiter):
    labels = [label.replace(" ", delimiter) for label in PLANTS.split("/")]

    delimiters = noted_delimiters(items_of(labels[::-1]), items_of(labels))

    assert delimiters == [delimiter, delimiter]


def test_joined_labels_of_one_side_are_noted():
    labels = PLANTS.split("/")
    preds = {f"i{number}": label.split() for number, label in enumerate(labels)}

    assert noted_delimiters(preds, items_of(labels)) == [" "]


def test_the_label_delimiter_of_the_note_separates_the_labels(tmp_path):
    preds = tmp_path / "preds.csv"
    gts = tmp_path / "gts.csv"
    preds.write_text("id,label\n1,cat;dog\n2,cow\n3,dog;cow\n")
    gts.write_text("id,label\n1,cat;cow\n2,cow\n3,cow;dog\n")

    table = semmetrics.score(preds, gts, measures="F1")

    notes = facts(table, "joined-labels")
    assert [(fact.n, fact.where) for fact in notes] == [(2, "preds"), (2, str(gts))]
    assert "label_delimiter=';'" in str(notes[0])
    assert noted_delimiters(preds, gts, read=ReadOptions(label_delimiter=";")) == []


@pytest.mark.parametrize("delimiter", [",", ";", ":", "&", "、", "\n", " ", " & "])
def test_two_orders_of_the_same_parts_are_noted(delimiter):
    others = {"b": ["bus"], "c": ["van"], "d": ["car"]}
    preds = {"a": [f"cat{delimiter}dog"], **others}
    gts = {"a": [f"dog{delimiter}cat"], **others}

    stripped = delimiter.strip(" ") or " "
    assert noted_delimiters(preds, gts) == [stripped, stripped]


@pytest.mark.parametrize("delimiter", [" ", ",", ":", "、", "&"])
def test_a_label_that_splits_into_the_labels_of_the_other_side_is_noted(delimiter):
    preds = {"a": [f"cat{delimiter}dog"], "b": ["bus"], "c": ["dog"]}
    gts = {"a": ["dog", "cat"], "b": ["bus"], "c": ["dog", "tree"]}

    assert noted_delimiters(preds, gts) == [delimiter]
    assert noted_delimiters(gts, preds) == [delimiter]


def test_a_name_must_split_into_the_labels_of_several_items():
    preds = {f"i{number}": ["traffic light"] for number in range(11)}
    gts = {id_: ["light"] for id_ in preds}
    preds["i0"] = ["hot dog"]
    gts["i0"] = ["dog", "hot"]
    assert noted_delimiters(preds, gts) == []

    preds["i1"] = ["hot dog"]
    gts["i1"] = ["hot", "dog"]

    assert noted_delimiters(preds, gts) == [" "]


COCO = (
    "person/car/traffic light/fire hydrant/stop sign/bench/bird/cat/dog/sports ball/"
    "baseball bat/baseball glove/tennis racket/wine glass/hot dog/cell phone/teddy bear"
)
OPEN_IMAGES = (
    "Bronze sculpture/Sculpture/Brown bear/Bear/Coffee cup/Coffee table/Coffee/Table/Cowboy hat/Hat"
    "/Sun hat/Dog bed/Dog/Bed/Infant bed/Human arm/Human face/Tree house/Tree/House/Wine glass/Wine"
    "/Wine rack/Kitchen knife/Knife/Football helmet/Football/Helmet/Golf ball/Ball/Golf cart/Cart"
)
IMAGENET = (
    "great white shark/tiger shark/hammerhead/garden spider/black and gold garden spider/ski mask"
    "/mask/maillot/maillot tank suit/suit/tabby/Persian cat/Siamese cat/Egyptian cat/tiger cat"
)
LVIS = (
    "airplane/aeroplane|air conditioner|bat/bat animal|bow/bow weapon|bow/bow ribbons|cap/headwear"
    "|fish/fish food|fish|dog|dog collar|collar|egg/eggs|egg yolk/yolk/yolk egg|car/auto"
)


@pytest.mark.parametrize(
    "labels",
    [
        COCO.split("/"),
        OPEN_IMAGES.split("/"),
        IMAGENET.split("/"),
        LVIS.split("|"),
        ["red car", "blue car", "red bus", "blue bus", "red", "blue", "car", "bus"],
        ["animal/dog", "animal/cat", "plant/tree", "animal", "plant", "dog"],
        ["C++", "C", "C#", "A+", "Google+"],
        ["16:9", "9:16", "4:3", "3:4"],
        ["salt & pepper", "R&B", "rock & roll", "AT&T"],
        ["tench, Tinca tinca", "goldfish, Carassius auratus"],
        ["Doe, John", "Roe, Jane", "Smith, Ann", "cat", "dog", "bus", "car", "van"],
        ["person:adult", "person:child", "animal:dog", "vehicle:car"],
    ],
)
def test_names_of_several_words_are_not_noted(labels):
    gts = items_of(labels)

    assert noted_delimiters(items_of(labels[::-1]), gts) == []
    assert noted_delimiters(items_of(labels[1:] + labels[:1]), gts) == []


def test_sides_with_several_labels_per_item_are_not_noted():
    preds = {"a": ["car red", "red", "car"], "b": ["red car"]}

    assert noted_delimiters(preds, preds) == []


class CountedSet(frozenset):
    """A set that counts how often it is compared."""

    n_comparisons = 0

    def __lt__(self, other):
        CountedSet.n_comparisons += 1
        return super().__lt__(other)


def test_labels_with_a_word_in_common_are_not_all_compared(monkeypatch):
    monkeypatch.setattr(joined, "frozenset", CountedSet, raising=False)
    names = []
    for number in range(2_000):
        names.append(f"road a{number % 250} b{number // 250}")

    assert not are_joined_words(names, ["road"], " ")
    assert 0 < CountedSet.n_comparisons < 20 * len(names)
