"""Selection of discrepant images: against a loop, in batches, with any measure, and bad input."""

from __future__ import annotations

import json
import math
import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import competition as oracle
from oracles.captions_ngram import Blanks
from refusals import refused

import semmetrics
from semmetrics import add_systems, select_discrepant
from semmetrics.errors import Fact
from semmetrics.studies import image_selector

CAPTION = st.lists(st.sampled_from("abc"), max_size=6).map(" ".join)
SETS = st.integers(2, 4).flatmap(
    lambda m: st.lists(
        st.lists(CAPTION, min_size=m, max_size=m), min_size=3, max_size=12
    )
)


TWO = {"a": {"1": "x y", "2": "z"}, "b": {"1": "x", "2": "w"}}
LABELS = {"a": {"1": ["x"], "2": ["z"]}, "b": {"1": ["x"], "2": ["w"]}}


@pytest.mark.parametrize(
    ("systems", "options", "code"),
    [
        ({"a": TWO["a"]}, {}, "too-few-compared"),
        ([], {}, "wrong-type"),
        ("a.json", {}, "wrong-type"),
        (TWO, {"k": 3}, "too-few-images"),
        (TWO, {"k": 0}, "bad-option"),
        (TWO, {"ties": "name"}, "bad-choice"),
        (TWO, {"measure": "NGSM BLEU-4"}, "wrong-count"),
        (LABELS, {"measure": "MacroF1"}, "no-item-values"),
        (TWO, {"measure": lambda a, b: math.inf, "task": "captions"}, "not-finite"),
        (LABELS, {"measure": "NGSM", "task": "labels"}, "wrong-kind"),
        (TWO, {"exclude": ["1", "2"]}, "too-few-images"),
        (TWO, {"weights": {}}, "not-applicable"),
        ({"a": {"1": "x"}, "b": {"2": "x"}}, {}, "missing-images"),
        ({"a": {"1": "x"}, "b": {"2": "x"}}, {"missing": "skip"}, "nothing-given"),
        ({"a": {"1": "x"}, "b": ["x"]}, {}, "unlike-images"),
        ({"a": ["x"], "b": ["x", "y"]}, {}, "unlike-images"),
        ({"a": {"1": ["x", "y"]}, "b": {"1": ["z"]}}, {}, "several-answers"),
        ({1: TWO["a"], 2: TWO["b"]}, {}, "wrong-type"),
        # no file in UTF-8 can hold these, so that the state could not be read
        ({"a": TWO["a"], "\ud800": TWO["b"]}, {}, "lone-surrogate"),
        ({n: {"\ud800": "x"} for n in "ab"}, {}, "lone-surrogate"),
        (
            {n: {"1": ["\udc00"]} for n in "ab"},
            {"measure": "F1", "task": "labels"},
            "lone-surrogate",
        ),
        ([TWO, TWO], {}, "duplicate"),
        ([TWO, {"a": {"3": "x"}, "c": {"3": "y"}}], {}, "other-systems"),
    ],
)
def test_what_is_refused(systems, options, code):
    with refused(code):
        select_discrepant(systems, **{"k": 1, **options})


def named(rows):
    """Systems from rows of captions; ids are not in the order of their names."""
    ids = [f"{(7 * n) % len(rows)}{n}" for n in range(len(rows))]
    names = [f"s{n}" for n in range(len(rows[0]))]
    return {
        n: {i: row[k] for i, row in zip(ids, rows, strict=True)}
        for k, n in enumerate(names)
    }


def made(n=40, m=4, seed=0):
    rng = random.Random(seed)
    words = ["a", "dog", "cat", "runs", "sits", "on", "the", "red", "grass", "bus"]
    return named(
        [
            [" ".join(rng.choices(words, k=rng.randint(2, 6))) for _ in range(m)]
            for _ in range(n)
        ]
    )


def chosen(selection):
    return {
        (pair.first, pair.second): list(zip(pair.images, pair.values, strict=True))
        for pair in selection.pairs
    }


@given(SETS, st.integers(1, 3))
def test_selection_is_that_of_a_loop(rows, k):
    systems = named(rows)
    found = select_discrepant(systems, k, ties="id", tokenizer=Blanks())
    expected = oracle.select(systems, k)
    assert [*chosen(found)] == [*combinations(systems, 2)]
    for pair, images in chosen(found).items():
        assert [i for i, _ in images] == [i for i, _ in expected[pair]]
        assert [v for _, v in images] == pytest.approx([v for _, v in expected[pair]])
    for pair in found.pairs:
        a, b = systems[pair.first], systems[pair.second]
        values = [oracle.ngsm(a[i].split(), b[i].split()) for i in a]
        assert pair.mean == pytest.approx(sum(values) / len(values))
        assert pair.identical == sum(a[i] == b[i] for i in a)
        last = pair.values[-1]
        assert pair.tied == sum(math.isclose(v, last, abs_tol=1e-12) for v in values)
        assert pair.taken == sum(v == last for v in pair.values)
        assert (pair.n, pair.undefined) == (len(a), 0)


@pytest.mark.parametrize("ties", ["orders", "id", "position", "random"])
def test_blocks_and_batches_change_nothing(monkeypatch, ties):
    systems = made()
    whole = select_discrepant(systems, 5, ties=ties, seed=3)
    monkeypatch.setattr(image_selector, "_MAX_ANSWERS_PER_BLOCK", 12)
    blocks = select_discrepant(systems, 5, ties=ties, seed=3)
    assert blocks.to_json() == whole.to_json()
    ids = list(systems["s0"])
    parts = [ids[:7], ids[7:8], ids[8:]]
    batches = (
        {n: {i: one[i] for i in part} for n, one in systems.items()} for part in parts
    )
    assert select_discrepant(batches, 5, ties=ties, seed=3).to_json() == whole.to_json()


@given(SETS, st.integers(1, 3))
def test_lower_orders_come_before_ids_if_ngsm_is_0(rows, k):
    systems = {
        f"s{column}": {
            f"{row:02}": captions[column] for row, captions in enumerate(rows)
        }
        for column in range(len(rows[0]))
    }
    found = select_discrepant(systems, k, measure="NGSM(order=3)", tokenizer=Blanks())
    assert found.ties == "orders"
    for pair in found.pairs:
        levels = {}
        for image, caption in systems[pair.first].items():
            both = caption.split(), systems[pair.second][image].split()
            values = [round(oracle.ngsm(*both, order), 12) for order in (3, 2, 1)]
            levels[image] = values if values[0] == 0 else values[:1]
        expected = sorted(levels, key=lambda image: (levels[image], image))[:k]
        assert list(pair.images) == expected
        last = levels[expected[-1]]
        assert pair.tied == sum(one == last for one in levels.values())
        assert pair.taken == sum(levels[image] == last for image in expected)


def test_a_state_that_was_selected_by_ids_stays_so(tmp_path):
    systems = {
        "a": {"1": "a red dog runs", "2": "one big cat sits", "3": "two men talk here"},
        "b": {
            "1": "a red dog sits",
            "2": "some blue bus waits",
            "3": "two women talk there",
        },
    }
    before = select_discrepant(systems, 1, ties="id")
    assert before.pairs[0].images == ("1",)
    assert select_discrepant(systems, 1).pairs[0].images == ("2",)
    before.save(tmp_path / "state.json")
    systems["c"] = {"1": "a red dog talks", "2": "nobody knows why", "3": "a red cow"}
    after = add_systems(tmp_path / "state.json", systems)
    assert after.ties == "id"
    assert [pair.images for pair in after.pairs] == [("1",), ("1",), ("1",)]


def test_equal_values_are_ties_in_exact_arithmetic():
    rng, k = random.Random(1), 400
    texts = [
        {
            f"{i:04}": " ".join(rng.choices("ab", k=rng.randint(5, 14)))
            for i in range(1500)
        }
        for _ in "xy"
    ]
    values = {
        i: oracle.ngsm_product(one.split(), texts[1][i].split(), 3)
        for i, one in texts[0].items()
    }
    found = select_discrepant(
        dict(zip("xy", texts, strict=True)),
        k,
        measure="NGSM(order=3)",
        ties="id",
        tokenizer=Blanks(),
    ).pairs[0]
    expected = sorted(values, key=lambda i: (values[i], i))[:k]
    assert list(found.images) == expected
    assert found.tied == sum(v == values[expected[-1]] for v in values.values())


def test_items_without_ids_are_numbered():
    systems = {"a": ["x y", "same one", "p q"], "b": ["z w", "same one", "r s"]}
    found = select_discrepant(systems, 2)
    assert found.pairs[0].images == ("0", "2")
    batches = [
        {n: one[:1] for n, one in systems.items()},
        {n: one[1:] for n, one in systems.items()},
    ]
    assert chosen(select_discrepant(batches, 2)) == chosen(found)
    many = [f"w{n} v" for n in range(12)]
    assert select_discrepant({"a": many, "b": ["z"] * 12}, 3).pairs[0].images == (
        "0",
        "1",
        "2",
    )


def test_a_function_of_ones_own():
    systems = made(12, 3)

    def overlap(first, second):
        return len({*first.split()} & {*second.split()})

    found = select_discrepant(systems, 4, measure=overlap, task="captions")
    assert found.measure.endswith("overlap")
    expected = oracle.select(systems, 4, overlap)
    assert chosen(found) == expected
    labels = {"a": {"1": ["x", "y"], "2": ["z"]}, "b": {"1": ["x"], "2": ["q"]}}
    pair = select_discrepant(labels, 1, measure=lambda a, b: len({*a} & {*b})).pairs[0]
    assert pair.images == ("2",)
    alone = {"a": {"1": ["x"], "2": ["z"]}, "b": {"1": ["x"], "2": ["q"]}}
    seen = []
    select_discrepant(
        alone, 1, task="labels", measure=lambda a, b: seen.append((a, b)) or 0
    )
    assert seen == [(["x"], ["x"]), (["z"], ["q"])]
    half = select_discrepant(
        systems, 1, measure=lambda a, b: math.nan if len(a) > 12 else 0.0
    )
    assert all(pair.undefined for pair in half.pairs)
    assert "undefined-pairs" in {fact.code for fact in half.facts}


def test_excluded_images_are_not_undefined():
    systems = {n: {str(i): f"{n} {i}" for i in range(4)} for n in "ab"}
    found = select_discrepant(
        systems,
        1,
        exclude=["0"],
        task="captions",
        measure=lambda a, b: math.nan if a.endswith("1") else 0.0,
    ).pairs[0]
    assert (found.n, found.undefined, found.images) == (2, 1, ("2",))


def test_progress_and_a_file_of_excluded_images(tmp_path, monkeypatch):
    monkeypatch.setattr(image_selector, "_MAX_ANSWERS_PER_BLOCK", 30)
    path, said = tmp_path / "out.txt", []
    systems = made(m=2)
    path.write_text("\n".join([*systems["s0"]][:3]) + "\n\n", encoding="utf-8")
    found = select_discrepant(
        systems, 2, exclude=path, progress=lambda *s: said.append(s)
    )
    assert said == [(15, 40), (30, 40), (40, 40)]
    assert found.excluded == tuple(sorted([*systems["s0"]][:3]))


@pytest.mark.parametrize("ties", ["orders", "id", "position", "random"])
def test_an_image_taken_out_is_replaced_by_the_next_of_its_pair(ties):
    systems = made(m=3)
    before = select_discrepant(systems, 3, ties=ties)
    lost = before.pairs[0].images[:1] + before.pairs[2].images[1:2]
    after = add_systems(before, systems, exclude=lost)
    assert after == select_discrepant(systems, 3, ties=ties, exclude=lost)
    for old, new in zip(before.pairs, after.pairs, strict=True):
        kept = [image for image in old.images if image not in lost]
        assert [*new.images][: len(kept)] == kept
        assert len(new.images) == 3
    rows = [row["image_id"] for row in after.sheet(annotators=1, since=before)]
    assert {*rows} == {*after.images} - {*before.images}
    again = add_systems(after, systems, exclude=after.pairs[0].images[:1])
    assert {*lost} < {*again.excluded}
    changed, fewer = (
        {**systems, "s0": systems["s1"]},
        {n: systems[n] for n in ("s0", "s1")},
    )
    more = {**systems, "s9": systems["s1"]}
    both = [
        add_systems(before, more, exclude=lost),
        select_discrepant(more, 3, ties=ties, exclude=lost),
    ]
    assert both[0].pairs == both[1].pairs
    for some, out, code in (
        (changed, lost, "state-differs"),
        (fewer, lost, "systems-missing"),
        (systems, ["none"], "nothing-given"),
    ):
        with refused(code):
            add_systems(before, some, exclude=out)


# ---- systems that are added -------------------------------------------------------------------


def test_adding_compares_new_pairs_alone():
    systems, compared = made(m=3), []

    def similarity(first, second):
        compared.append({first, second})
        return float(first == second)

    some = {name: systems[name] for name in ("s0", "s1")}
    before = select_discrepant(some, 5, measure=similarity, task="captions")
    compared.clear()
    after = add_systems(before, systems, measure=similarity)
    mine = {*systems["s2"].values()}
    assert len(after.pairs) == 3
    assert compared
    assert all(pair & mine for pair in compared)


def test_what_cannot_be_added():
    systems = made(m=3)
    before = select_discrepant({n: systems[n] for n in ("s0", "s1")}, 5)
    other = {
        **systems,
        "s0": {**systems["s0"], next(iter(systems["s0"])): "something else"},
    }
    fewer = {n: dict(list(one.items())[:30]) for n, one in systems.items()}
    a, b = (
        systems["s0"]["00"],
        next(t for t in systems["s0"].values() if t != systems["s0"]["00"]),
    )
    swaps = {a: b, b: a}  # answers that changed places
    turned = {
        **systems,
        "s0": {i: swaps.get(text, text) for i, text in systems["s0"].items()},
    }
    cases = [
        (
            lambda: add_systems(before, {n: systems[n] for n in ("s2", "s0")}),
            "systems-missing",
        ),
        (
            lambda: add_systems(before, {n: systems[n] for n in ("s0", "s1")}),
            "nothing-given",
        ),
        (lambda: add_systems(before, {"new": {}}), "too-few-compared"),
        (lambda: add_systems(before, turned), "state-differs"),
        (lambda: add_systems(before, other), "state-differs"),
        (lambda: add_systems(before, fewer), "state-differs"),
        (lambda: add_systems(before, systems, tokenizer="13a"), "state-differs"),
        (lambda: add_systems(before, systems, missing="skip"), "not-applicable"),
        (lambda: add_systems(before, systems, measure=len), "not-applicable"),
    ]
    for call, code in cases:
        with refused(code):
            call()
    own = select_discrepant(
        {n: systems[n] for n in ("s0", "s1")}, 5, tokenizer=Blanks()
    )
    with refused("give-again", name="tokenizer"):
        add_systems(own, systems)
    assert len(add_systems(own, systems, tokenizer=Blanks()).pairs) == 3


def test_another_embedding_or_tokenizer_is_refused(tmp_path):
    labels = {"a": {"1": ["cat"]}, "b": {"1": ["dog"]}, "c": {"1": ["bus"]}}
    some = {name: labels[name] for name in "ab"}
    path = tmp_path / "words.txt"
    path.write_text("cat 1 0\ndog 0 1\nbus 1 1\n", encoding="utf-8")
    before = select_discrepant(some, 1, measure="SemF1(threshold=0.5)", embedding=path)
    assert len(add_systems(before, labels).pairs) == 3
    path.write_text("cat 1 0\ndog 0 2\nbus 1 3\n", encoding="utf-8")
    with refused("state-differs"):
        add_systems(before, labels)
    captions = {n: {"1": one["1"][0]} for n, one in labels.items()}
    first = {n: captions[n] for n in "ab"}
    before = select_discrepant(first, 1, tokenizer=lambda text: text.split())
    with refused("state-differs"):
        add_systems(before, captions, tokenizer=list)
    kept = select_discrepant(first, 1, measure="ROUGE-L", tokenizer="13a")
    assert kept.models == {"tok": "13a"}


# ---- the state --------------------------------------------------------------------------------


KEYS = ["k", "n", "systems", "answers", "digest", "measure", "options"]


@pytest.mark.parametrize("what", [*KEYS, [], {}, {"schema": "semmetrics.score/1"}])
def test_a_state_that_was_changed_or_is_none_is_refused(tmp_path, what):
    if changed := isinstance(what, str):
        entry = json.loads(select_discrepant(made(), 5).to_json())
        what = {**entry, what: 6 if isinstance(entry[what], int) else "other"}
    path = tmp_path / "state.json"
    path.write_text(json.dumps(what), encoding="utf-8")
    with refused("state-edited" if changed else "not-a-state"):
        semmetrics.DiscrepancySelection.load(path)


def test_records():
    found = select_discrepant(made(m=3), 4)
    rows = found.to_records()
    assert len(rows) == 12
    assert rows[0]["first_answer"] == found.answers[rows[0]["image_id"]]["s0"][0]
    assert [row["place"] for row in rows][:4] == [1, 2, 3, 4]
    assert len(found.pair_records()) == len(found.system_records()) == 3


def test_images_that_a_system_lacks_are_counted():
    systems = {"a": {"1": "x", "2": "y", "3": "z"}, "b": {"3": "q", "1": "x", "4": "r"}}
    found = select_discrepant(systems, 1, missing="skip")
    assert (found.n, found.left_out) == (2, 2)
    assert found.pairs[0].images == ("3",)
    assert found.answers == {"3": {"a": ["z"], "b": ["q"]}}
    assert Fact("images-left-out", 2) in found.facts


def test_the_order_of_images_matters_for_ties_by_position_alone():
    systems = made()
    ids = list(systems["s0"])
    turned = {n: {i: one[i] for i in reversed(ids)} for n, one in systems.items()}
    for ties, same in (("id", True), ("random", True), ("position", False)):
        one, other = (select_discrepant(s, 5, ties=ties) for s in (systems, turned))
        assert (chosen(one) == chosen(other)) == same
    first, second = (
        select_discrepant(systems, 5, ties="random", seed=s) for s in (1, 2)
    )
    assert chosen(first) != chosen(second)
