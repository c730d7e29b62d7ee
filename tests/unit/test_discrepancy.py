"""Selection of discrepant images, against a loop over all images."""

import json
import math
from itertools import combinations

import pytest
from competitors import by_system, random_captions
from hypothesis import given
from hypothesis import strategies as st
from oracles import competition as oracle
from oracles.captions_ngram import Blanks
from refusals import codes, refused

from semmetrics import DiscrepancySelection, add_systems, select_discrepant
from semmetrics.errors import Fact
from semmetrics.studies import image_selector

CAPTION = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)
CAPTIONS_OF_SYSTEMS = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.tuples(*[CAPTION] * m), min_size=3, max_size=12)
)
CAPTIONS = {"a": {"1": "x y", "2": "z"}, "b": {"1": "x", "2": "w"}}
LABELS = {"a": {"1": ["x"], "2": ["z"]}, "b": {"1": ["x"], "2": ["w"]}}


def selected(state):
    """Return the selected images of each pair."""
    return {(pair.first, pair.second): pair.images for pair in state.pairs}


def without(systems, name):
    return {other: answers for other, answers in systems.items() if other != name}


# ---- the images of each pair --------------------------------------------------------------------


@given(CAPTIONS_OF_SYSTEMS, st.integers(1, 3))
def test_images_with_the_smallest_ngsm_are_selected(rows, k):
    systems = by_system(rows)

    state = select_discrepant(systems, k, ties="id", tokenizer=Blanks())

    expected = oracle.select(systems, k)
    assert list(selected(state)) == list(combinations(systems, 2))
    for pair in state.pairs:
        images, values = zip(*expected[pair.first, pair.second], strict=True)
        assert pair.images == images
        assert pair.values == pytest.approx(values)
        first = systems[pair.first].items()
        assert pair.n == len(first)
        assert pair.identical == len(first & systems[pair.second].items())


@given(CAPTIONS_OF_SYSTEMS, st.integers(1, 3))
def test_lower_orders_come_before_ids_if_ngsm_is_0(rows, k):
    systems = by_system(rows)

    state = select_discrepant(systems, k, measure="NGSM(order=3)", tokenizer=Blanks())

    assert state.ties == "orders"
    for pair in state.pairs:
        keys = {}
        for image, caption in systems[pair.first].items():
            other_caption = systems[pair.second][image]
            keys[image] = ngsm_by_falling_order(caption, other_caption)
        expected = sorted(keys, key=lambda image: (keys[image], image))[:k]
        assert list(pair.images) == expected
        last = keys[expected[-1]]
        assert pair.tied == list(keys.values()).count(last)
        assert pair.taken == [keys[image] for image in expected].count(last)


def ngsm_by_falling_order(first, second):
    """Return NGSM of order 3, followed by the lower orders if it is 0."""
    values = []
    for order in (3, 2, 1):
        value = oracle.ngsm(first.split(), second.split(), order)
        values.append(round(value, 12))
    return values if values[0] == 0 else values[:1]


@pytest.mark.parametrize("ties", ["orders", "id", "position", "random"])
def test_blocks_and_batches_change_nothing(monkeypatch, ties):
    systems = random_captions()
    options = {"k": 5, "ties": ties, "seed": 3}
    whole = select_discrepant(systems, **options)

    batches = []
    for start, stop in ((0, 7), (7, 8), (8, 40)):
        batch = {}
        for system, answers in systems.items():
            batch[system] = dict(list(answers.items())[start:stop])
        batches.append(batch)
    in_batches = select_discrepant(iter(batches), **options)
    monkeypatch.setattr(image_selector, "MAX_ANSWERS_PER_BLOCK", 12)
    in_blocks = select_discrepant(systems, **options)

    assert in_batches.to_json() == whole.to_json()
    assert in_blocks.to_json() == whole.to_json()


@pytest.mark.parametrize(
    ("ties", "same"), [("id", True), ("random", True), ("position", False)]
)
def test_order_of_images_only_matters_for_ties_by_position(ties, same):
    systems = random_captions()
    reordered = {s: dict(reversed(answers.items())) for s, answers in systems.items()}

    state = select_discrepant(systems, 5, ties=ties)
    other_state = select_discrepant(reordered, 5, ties=ties)

    assert (selected(state) == selected(other_state)) is same


def test_answers_without_ids_are_numbered():
    numbered = [f"w{n} v" for n in range(12)]
    batches = [
        {"a": numbered[:5], "b": ["z"] * 5},
        {"a": numbered[5:], "b": ["z"] * 7},
    ]

    state = select_discrepant(batches, 11)

    assert state.pairs[0].images == tuple(map(str, range(11)))


def test_images_that_a_system_does_not_have_are_left_out_and_counted():
    systems = {"a": {"1": "x", "2": "y", "3": "z"}, "b": {"3": "q", "1": "x", "4": "r"}}

    state = select_discrepant(systems, 1, missing="skip")

    assert state.n == 2
    assert state.pairs[0].images == ("3",)
    assert state.answers == {"3": {"a": ["z"], "b": ["q"]}}
    assert Fact("images-left-out", 2) in state.facts


def test_excluded_images_are_read_from_a_file_and_progress_is_reported(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(image_selector, "MAX_ANSWERS_PER_BLOCK", 30)
    systems = random_captions(m=2)
    images = sorted(systems["s0"])[:3]
    path = tmp_path / "images.txt"
    path.write_text("\n".join(images) + "\n\n", encoding="utf-8")
    reports = []

    state = select_discrepant(
        systems, 2, exclude=path, progress=lambda *report: reports.append(report)
    )

    assert state.excluded == tuple(images)
    assert reports == [(15, 40), (30, 40), (40, 40)]


def test_records_have_a_row_per_image_pair_and_system():
    state = select_discrepant(random_captions(m=3), 4)

    records = state.to_records()

    assert records.column("place") == [1, 2, 3, 4] * 3
    answers = state.answers[records[0]["image_id"]]
    assert answers["s0"] == [records[0]["first_answer"]]
    assert len(state.pair_records()) == len(state.system_records()) == 3


def test_the_tokenizer_of_a_measure_is_in_the_state():
    state = select_discrepant(CAPTIONS, 1, measure="ROUGE-L", tokenizer="13a")

    assert state.models == {"tok": "13a"}


# ---- functions of two answers -------------------------------------------------------------------


def shared_words(first, second):
    return len(set(first.split()) & set(second.split()))


def test_captions_are_compared_by_a_function():
    systems = random_captions(12, 3)

    state = select_discrepant(systems, 4, measure=shared_words)

    assert state.measure == "function:shared_words"
    expected = oracle.select(systems, 4, shared_words)
    for pair in state.pairs:
        images = list(zip(pair.images, pair.values, strict=True))
        assert images == expected[pair.first, pair.second]


@pytest.mark.parametrize("options", [{"task": "labels"}, {}])
def test_functions_of_label_sets_take_lists(options):
    calls = []

    def similarity(first, second):
        calls.append((first, second))
        return 0

    systems = {"a": {"1": ["x", "y"], "2": ["z"]}, "b": {"1": ["x"], "2": ["q"]}}
    select_discrepant(systems, 1, measure=similarity, **options)

    assert calls == [(["x", "y"], ["x"]), (["z"], ["q"])]


def test_undefined_images_are_not_selected_but_counted_unless_excluded():
    systems = {"a": ["a 0", "a 1", "a 2", "a 3"], "b": ["b 0", "b 1", "b 2", "b 3"]}

    def similarity(first, second):
        return math.nan if first.endswith("1") else 0.0

    state = select_discrepant(systems, 1, exclude=["0"], measure=similarity)

    (pair,) = state.pairs
    assert pair.images == ("2",)
    assert pair.n == 2
    assert pair.undefined == 1
    assert "undefined-pairs" in codes(state)


@pytest.mark.parametrize(
    ("systems", "options", "code"),
    [
        ({"a": CAPTIONS["a"]}, {}, "too-few-compared"),
        ([], {}, "wrong-type"),
        (CAPTIONS, {"k": 3}, "too-few-images"),
        (CAPTIONS, {"k": 0}, "bad-option"),
        (CAPTIONS, {"ties": "name"}, "bad-choice"),
        (CAPTIONS, {"measure": "NGSM BLEU-4"}, "wrong-count"),
        (LABELS, {"measure": "MacroF1"}, "no-item-values"),
        (CAPTIONS, {"measure": lambda a, b: math.inf}, "not-finite"),
        (CAPTIONS, {"weights": {}}, "not-applicable"),
        ({"a": {"1": "x"}, "b": {"2": "x"}}, {}, "missing-images"),
        ({"a": {"1": "x"}, "b": {"2": "x"}}, {"missing": "skip"}, "nothing-given"),
        ({"a": {"1": ["x", "y"]}, "b": {"1": ["z"]}}, {}, "several-answers"),
        ({"a": CAPTIONS["a"], "\ud800": CAPTIONS["b"]}, {}, "lone-surrogate"),
        ([CAPTIONS, CAPTIONS], {}, "duplicate"),
        ([CAPTIONS, {"a": {"3": "x"}, "c": {"3": "y"}}], {}, "other-systems"),
    ],
)
def test_invalid_competitions_raise_an_error(systems, options, code):
    with refused(code):
        select_discrepant(systems, **{"k": 1, **options})


# ---- systems that are added and images that are taken out ---------------------------------------


def test_added_systems_are_compared_and_earlier_pairs_are_not():
    systems = random_captions(m=3)
    compared = []

    def similarity(first, second):
        compared.append({first, second})
        return float(first == second)

    before = select_discrepant(without(systems, "s2"), 5, measure=similarity)
    compared.clear()
    after = add_systems(before, systems, measure=similarity)

    assert len(after.pairs) == 3
    captions = set(systems["s2"].values())
    assert compared
    assert all(pair & captions for pair in compared)


def test_ties_of_added_systems_are_ordered_as_before(tmp_path):
    systems = random_captions(m=3)
    before = select_discrepant(without(systems, "s2"), 1, ties="id")
    before.save(tmp_path / "state.json")

    after = add_systems(tmp_path / "state.json", systems)

    assert selected(after) == selected(select_discrepant(systems, 1, ties="id"))
    assert selected(after) != selected(select_discrepant(systems, 1, ties="orders"))


@pytest.mark.parametrize("ties", ["orders", "id", "position", "random"])
def test_images_that_are_taken_out_are_replaced_by_the_next_of_their_pair(ties):
    systems = random_captions(m=3)
    before = select_discrepant(systems, 3, ties=ties)
    lost = [before.pairs[0].images[0], before.pairs[2].images[1]]

    after = add_systems(before, systems, exclude=lost)

    assert after == select_discrepant(systems, 3, ties=ties, exclude=lost)
    for old, new in zip(before.pairs, after.pairs, strict=True):
        kept = [image for image in old.images if image not in lost]
        assert list(new.images[: len(kept)]) == kept
    sheet = after.sheet(annotators=1, since=before)
    assert set(sheet.column("image_id")) == set(after.images) - set(before.images)


def test_images_are_taken_out_while_systems_are_added():
    systems = random_captions(m=3)
    before = select_discrepant(without(systems, "s2"), 3)
    lost = before.images[:1]

    after = add_systems(before, systems, exclude=lost)

    assert after.pairs == select_discrepant(systems, 3, exclude=lost).pairs


SYSTEMS = random_captions(m=3)
FIRST_ANSWERS = SYSTEMS["s0"]
CHANGED_ANSWERS = dict(
    zip(FIRST_ANSWERS, reversed(FIRST_ANSWERS.values()), strict=True)
)


@pytest.mark.parametrize(
    ("systems", "options", "code"),
    [
        (without(SYSTEMS, "s1"), {}, "systems-missing"),
        (without(SYSTEMS, "s2"), {}, "nothing-given"),
        ({"new": {}}, {}, "too-few-compared"),
        ({**SYSTEMS, "s0": CHANGED_ANSWERS}, {}, "state-differs"),
        (random_captions(30, 3), {}, "state-differs"),
        (SYSTEMS, {"tokenizer": "13a"}, "state-differs"),
        (SYSTEMS, {"missing": "skip"}, "not-applicable"),
        (SYSTEMS, {"measure": len}, "not-applicable"),
    ],
)
def test_systems_that_cannot_be_added_raise_an_error(systems, options, code):
    before = select_discrepant(without(SYSTEMS, "s2"), 5)

    with refused(code):
        add_systems(before, systems, **options)


def test_a_tokenizer_of_ones_own_must_be_passed_again():
    before = select_discrepant(without(SYSTEMS, "s2"), 5, tokenizer=Blanks())

    with refused("give-again", name="tokenizer"):
        add_systems(before, SYSTEMS)
    with refused("state-differs"):
        add_systems(before, SYSTEMS, tokenizer=list)

    assert len(add_systems(before, SYSTEMS, tokenizer=Blanks()).pairs) == 3


def test_an_embedding_that_has_changed_raises_an_error(tmp_path):
    systems = {"a": {"1": ["cat"]}, "b": {"1": ["dog"]}, "c": {"1": ["bus"]}}
    path = tmp_path / "words.txt"
    path.write_text("cat 1 0\ndog 0 1\nbus 1 1\n", encoding="utf-8")
    before = select_discrepant(
        without(systems, "c"), 1, measure="SemF1(threshold=0.5)", embedding=path
    )

    assert len(add_systems(before, systems).pairs) == 3
    path.write_text("cat 1 0\ndog 0 2\nbus 1 3\n", encoding="utf-8")
    with refused("state-differs"):
        add_systems(before, systems)


@pytest.mark.parametrize("key", ["k", "n", "systems", "answers", "digest", "measure"])
def test_states_that_were_edited_raise_an_error(tmp_path, key):
    entry = json.loads(select_discrepant(CAPTIONS, 1).to_json())
    entry[key] = 6 if isinstance(entry[key], int) else "other"
    path = tmp_path / "state.json"
    path.write_text(json.dumps(entry), encoding="utf-8")

    with refused("state-edited"):
        DiscrepancySelection.load(path)


@pytest.mark.parametrize("content", ["[]", "{}", '{"schema": "semmetrics.score/1"}'])
def test_files_that_are_no_state_raise_an_error(tmp_path, content):
    path = tmp_path / "state.json"
    path.write_text(content, encoding="utf-8")

    with refused("not-a-state"):
        DiscrepancySelection.load(path)


def test_a_missing_column_proposes_an_option_that_the_selection_has(tmp_path):
    systems = {}
    for system in "ab":
        path = tmp_path / f"{system}.csv"
        path.write_text("photo,caption\n1,x\n2,y\n", encoding="utf-8")
        systems[system] = str(path)

    with refused("missing-column", flag="id_column"):
        select_discrepant(systems, 1)

    assert select_discrepant(systems, 1, id_column="photo").pairs
