"""A Scorer gives what one call of score on all items gives, however they come."""

from __future__ import annotations

import copy
import gc
import io
import itertools
import json
import pickle
import threading
import tracemalloc
from functools import reduce
from operator import add

import numpy as np
import pytest
from refusals import refused
from stand_ins import meteor_programs, spice_programs
from tiny import Tiny

import semmetrics
from semmetrics import Scorer, score
from semmetrics.errors import InputError
from semmetrics.metrics.families import Derived
from semmetrics.metrics.registry import all_definitions

NAMES = [f"label {number}" for number in range(12)]
WORDS = [
    "a",
    "the",
    "man",
    "dog",
    "cat",
    "rides",
    "runs",
    "on",
    "red",
    "big",
    "beach",
    "two",
]
PARENTS = {name: f"label {(int(name[6:]) - 1) // 2}" for name in NAMES[1:]}


def unit_vectors():
    rng = np.random.default_rng(7)
    return Tiny({name: rng.normal(size=8).tolist() for name in NAMES[:-1]})


MODEL = unit_vectors()


def label_items(n, seed=0):
    rng = np.random.default_rng(seed)

    def some(scored):
        chosen = rng.permutation(NAMES)[: rng.integers(0, 5)].tolist()
        return [(name, float(rng.random())) for name in chosen] if scored else chosen

    return [some(True) for _ in range(n)], [some(False) for _ in range(n)]


def class_items(n, seed=0):
    rng = np.random.default_rng(seed)
    scored = [[(name, float(rng.random())) for name in NAMES] for _ in range(n)]
    return scored, [[str(name)] for name in rng.choice(NAMES, n)]


def caption_items(n, seed=0):
    rng = np.random.default_rng(seed)

    def one():
        return " ".join(rng.choice(WORDS, rng.integers(3, 9)))

    return [one() for _ in range(n)], [
        [one() for _ in range(rng.integers(1, 4))] for _ in range(n)
    ]


def case_of(definition):
    """Measures of a definition, with the options and the items that they need."""
    required = {
        o.name: {"q": 40}.get(o.name, 3) for o in definition.options if o.required
    }
    averages = definition.averages or (None,)
    chosen = [definition(**required, **({"average": a} if a else {})) for a in averages]
    if definition.kind == "captions":
        return chosen, {}, caption_items(24)
    if definition.kind == "classes":
        sides = {"seen": NAMES[:7], "unseen": NAMES[7:]}
        return chosen, {"task": "classes", **sides}, class_items(24)
    options = {}
    if any(measure["labels"] == "given" for measure in chosen):
        options["classes"] = NAMES
    if definition.needs & {"embedding", "text_embedding"}:
        options["embedding"] = MODEL if "embedding" in definition.needs else embed_texts
    if "taxonomy" in definition.needs:
        options["taxonomy"] = PARENTS
    return chosen, options, label_items(24)


def embed_texts(texts):
    return [[len(text), text.count("1") + 1.0, text.count("l") + 0.5] for text in texts]


@pytest.fixture(scope="module", autouse=True)
def stand_ins():
    words = dict.fromkeys(("Color", "Cardinality", "Size"), frozenset(["cat"]))
    with meteor_programs(), spice_programs(words):
        yield


EVERY = pytest.mark.parametrize(
    "definition",
    [
        pytest.param(d, id=f"{d.kind} {d.name}")
        for d in all_definitions()
        # of parts that batches of lists do not have
        if not isinstance(d.family, Derived)
        and "phi" not in d.needs  # tests/unit/test_graded_retrieval.py
    ],
)


def digits(table):
    """All that a table says, with every digit."""
    return json.loads(table.to_json()), table.notes, table.understood


def told(table):
    """The same, notes in any order."""
    scores, notes, understood = digits(table)
    return scores, sorted(notes), understood


def splits(n, seed):
    """Bounds of random batches; some are empty."""
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, n + 1, rng.integers(1, 6))).tolist()
    return list(zip([0, *cuts], [*cuts, n], strict=True))


def by_id(items, names):
    return dict(zip(names, items, strict=True))


def part_of(items, names):
    return {name: items[name] for name in names}


def fed(scorer, preds, gts, bounds, **each):
    for start, stop in bounds:
        part = {name: some[start:stop] for name, some in each.items()}
        scorer.update(preds[start:stop], gts[start:stop], **part)
    return scorer


def check(preds, gts, bounds, same=digits, **options):
    """A Scorer that is fed batches says what one call says."""
    whole = score(preds, gts, **options)
    assert same(fed(Scorer(**options), preds, gts, bounds).compute()) == same(whole)


@EVERY
def test_every_measure_by_id_in_any_order(definition):
    measures, options, items = case_of(definition)
    names = [f"item {number}" for number in range(24)]
    preds, gts = (by_id(side, names) for side in items)
    whole = score(preds, gts, measures=measures, **options).to_json()
    rng = np.random.default_rng(5)
    parts = []
    for some in np.array_split(rng.permutation(names), 4):
        one = Scorer(measures=measures, **options)
        for half in (some[:2].tolist(), some[2:].tolist()):
            one.update(part_of(preds, half), part_of(gts, half[::-1]))
        parts.append(pickle.loads(pickle.dumps(one)))
    for order in (parts, parts[::-1]):
        total = reduce(add, order)
        assert len(total) == 24
        assert json.loads(total.compute().to_json()) == json.loads(whole)
    assert [len(part) for part in parts] == [6, 6, 6, 6]


def is_additive(measure):
    if measure["threshold"] == "auto":
        measure = measure.with_options(threshold="0.5")
    return measure.definition.family.statistic(measure).additive


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@EVERY
def test_every_measure_without_rows_or_refused(definition, chunk, monkeypatch):
    monkeypatch.setattr("semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER", chunk)
    measures, options, (preds, gts) = case_of(definition)
    if definition.kind == "captions":
        options["doc_freq"] = semmetrics.fit_document_frequencies(gts)
    additive = [m for m in measures if is_additive(m)]
    for other in (m for m in measures if m not in additive):
        scorer = Scorer(measures=[other], keep_rows=False, **options)
        with refused("needs-all-items"):
            scorer.update(preds, gts)
        assert len(scorer) == 0
    if not additive:
        return
    whole = score(preds, gts, measures=additive, keep_rows=False, **options)
    scorer = fed(
        Scorer(measures=additive, keep_rows=False, **options), preds, gts, splits(24, 3)
    )
    assert told(scorer.compute()) == told(whole)
    parts = []
    for start, stop in ((0, 5), (5, 24)):
        part = Scorer(measures=additive, keep_rows=False, **options)
        part.update(preds[start:stop], gts[start:stop])
        parts.append(io.BytesIO())
        part.save(parts[-1])
    merged = sum(map(Scorer.load, parts)).compute()
    assert [one.to_dict()["value"] for one in merged] == [
        one.to_dict()["value"] for one in whole
    ]
    with refused("rows-not-kept"):
        scorer.compute().per_item()
    if "SemF1" in map(str, measures):
        with refused("rows-not-kept"):
            scorer.compute().matches()


def test_similarities_and_sums_over_directions_are_refused():
    scorer = Scorer(measures="HitRate@1")
    with refused("matrix-batch"):
        scorer.update(np.eye(3), [[0], [1], [2]])
    scorer = Scorer(measures="Rsum", keep_rows=False)
    scorer.update({"q": ["a"]}, {"q": ["a"]})
    with refused("needs-parts"):
        scorer.compute()


# Everything that depends on all items


def some_items(n=40, seed=3):
    preds, gts = label_items(n, seed)
    return preds, gts, [f"item {number}" for number in range(n)]


@pytest.mark.parametrize("keep_rows", [True, False])
def test_weights_come_with_their_items(keep_rows):
    preds, gts, names = some_items()
    weights = np.random.default_rng(1).random(40)
    weights[:9] = 0  # a batch of which nothing counts
    options = {"measures": ["F1", "MacroF1", "MicroF1"], "keep_rows": keep_rows}
    bounds = ((0, 5), (5, 9), (9, 30), (30, 40))
    scorer, named = (
        fed(Scorer(**options), preds, gts, bounds, weights=weights),
        Scorer(**options),
    )
    for start, stop in bounds:
        part, some = weights[start:stop], names[start:stop]
        sides = by_id(preds[start:stop], some), by_id(gts[start:stop], some)
        named.update(*sides, weights=by_id(part.tolist(), some) if start else part)
    assert digits(scorer.compute()) == digits(
        score(preds, gts, weights=weights, **options)
    )
    by_name = score(by_id(preds, names), by_id(gts, names), weights=weights, **options)
    assert digits(named.compute()) == digits(by_name)
    with refused("zero-weights"):
        fed(Scorer(**options), preds, gts, [(0, 9)], weights=weights).compute()


@pytest.mark.parametrize("keep_rows", [True, False])
def test_probabilities_of_set_sizes_come_with_their_items(keep_rows):
    preds, gts, _ = some_items()
    probs = np.random.default_rng(1).dirichlet(np.ones(5), 40)
    options = {"measures": ["F1(decode=cardinality)"], "keep_rows": keep_rows}
    scorer = fed(Scorer(**options), preds, gts, ((0, 5), (5, 40)), set_size_probs=probs)
    assert digits(scorer.compute()) == digits(
        score(preds, gts, set_size_probs=probs, **options)
    )
    for wrong in ({"set_size_probs": probs[:1, :4]}, {}):
        with refused("batch-differs"):
            scorer.update(preds[:1], gts[:1], **wrong)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_batch_that_one_side_lacks_as_a_whole(keep_rows):
    options = {"measures": ["F1"], "missing": "empty", "keep_rows": keep_rows}
    scorer = Scorer(**options)
    scorer.update({}, {"a": ["dog"]})
    scorer.update({"b": ["cat"]}, {"b": ["cat"]})
    whole = score({"b": ["cat"]}, {"a": ["dog"], "b": ["cat"]}, **options)
    assert told(scorer.compute()) == told(whole)


_TWO = [("cat", "kitty")]


@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (
            {
                "a": [*_TWO, "ant"],
                "b": ["zebra"],
                "c": ["zebra", "ant"],
                "d": [*_TWO, "bee"],
            },
            {"a": [*_TWO, "zebra"], "b": ["zebra"], "c": _TWO, "d": ["zebra"]},
            {},
        ),
        (
            {
                "a": ["cat, cat", "ant"],
                "b": ["zebra"],
                "c": ["zebra", "ant"],
                "d": ["cat", "bee"],
            },
            {"a": ["cat"], "b": ["zebra"], "c": ["dog"], "d": ["zebra"]},
            {"normalize": "kubany2020"},
        ),
        (
            {"a": "bird", "b": "cat", "c": "dog"},
            {"b": "cat", "c": "dog"},
            {"task": "classes", "missing": "skip"},
        ),
    ],
)
def test_batches_whose_labels_stand_in_another_order(preds, gts, options):
    measures = (
        ["Accuracy"]
        if "task" in options
        else ["MacroF1", "MacroPrecision", "MacroRecall"]
    )
    scorer = Scorer(measures=measures, keep_rows=False, **options)
    for some in (["a", "b"], ["c", "d"]) if "d" in preds else "abc":
        scorer.update(
            *({i: side[i] for i in some if i in side} for side in (preds, gts))
        )
        scorer.drop_items()
    assert told(scorer.compute()) == told(
        score(preds, gts, measures=measures, **options)
    )


def test_no_item_has_both_sides():
    scorer = Scorer(
        measures="Accuracy", task="classes", missing="empty", keep_rows=False
    )
    for pair in (({"a": "cat"}, {}), ({}, {"b": "cat"})):
        scorer.update(*pair)
        scorer.drop_items()
    scorer.save(state := io.BytesIO())
    assert [one.compute()["Accuracy"].n for one in (scorer, Scorer.load(state))] == [
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (
            {"a": ["x", "q"], "b": ["z"]},
            {"a": ["x"], "b": ["z"]},
            {"measures": "F1", "ignore": ["q", "z"], "weights": {"a": 1.0, "b": 0.0}},
        ),
        (
            {"a": ["a"]},
            {"a": ["b"], "b": ["d"]},
            {"measures": "CaptionLength", "task": "captions", "missing": "empty"},
        ),
        (
            {"a": ["a"], "b": ["two words"]},
            {"a": ["b"], "b": ["and more"]},
            {"measures": "CaptionLength", "task": "captions"},
        ),
        (
            {"a": {"x": 0.5}, "b": {"x": 0.5, "y": 0.1}},
            {"a": "x", "b": "y"},
            {"measures": "Accuracy@2", "task": "classes"},
        ),
    ],
)
def test_batches_that_fall_away_or_differ_have_the_notes_of_all(preds, gts, options):
    given = {name: one for name, one in options.items() if name != "weights"}
    scorer = Scorer(**given, keep_rows=False)
    for i in gts:
        weights = {i: options["weights"][i]} if "weights" in options else None
        pair = ({i: side[i]} if i in side else {} for side in (preds, gts))
        scorer.update(*pair, weights=weights)
        scorer.drop_items()
    assert sorted(scorer.compute().notes) == sorted(score(preds, gts, **options).notes)


def test_systems_beside_each_other_keep_their_counts():
    gts = {"a": [*_TWO, "zebra"], "b": ["zebra"], "c": _TWO, "d": ["zebra", "dog"]}
    systems = {
        "one": {
            "a": [*_TWO, "ant"],
            "b": ["zebra"],
            "c": ["cat", "ant"],
            "d": ["zebra"],
        },
        "two": {
            "a": ["bee", "zebra"],
            "b": ["zebra"],
            "c": ["cat"],
            "d": ["dog", "xylo"],
        },
    }
    both = semmetrics.score_systems(systems, gts, measures="MacroF1")
    for one in both:
        (alone,) = score(systems[one.system], gts, measures="MacroF1")
        own, supports = (
            dict(
                zip(
                    *(each.per_label[name].tolist() for name in ("label", "support")),
                    strict=True,
                )
            )
            for each in (alone, one)
        )
        assert own.items() <= supports.items()


# Matrices


def test_matrices_of_scores_and_of_members():
    rng = np.random.default_rng(2)
    scores, members = rng.random((30, 5)).astype(np.float32), rng.random((30, 5)) < 0.4
    for options in (
        {},
        {"measures": ["F1"], "decode": "threshold:0.5"},
        {"classes": NAMES[:5]},
    ):
        check(scores, members, splits(30, 4), **options)
    scorer = fed(Scorer(), scores, members, [(0, 30)])
    with refused("other-batch"):
        scorer.update(scores[:, :2], members[:, :2])


SCORES = np.array([[0.5, 0.25], [0, 1.0], [1, 0], [1, 1]])
MEMBERS = np.array([[0, 1], [1, 1], [0, 1], [1, 0]])


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_first_batch_of_scores_makes_later_0_and_1_scores(keep_rows):
    measures = ["F1(decode=threshold:0.3)"]
    if keep_rows:
        measures.append("LRAP")
    whole = score(SCORES, MEMBERS, measures=measures)
    scorer = Scorer(measures=measures, keep_rows=keep_rows)
    table = fed(scorer, SCORES, MEMBERS, [(0, 1), (1, 2), (2, 3), (3, 4)]).compute()
    assert [s.value for s in table] == [s.value for s in whole]
    assert table.understood[1:] == whole.understood[1:]


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_first_batch_of_0_and_1_is_never_read_again_as_scores(keep_rows):
    scorer = Scorer(measures=["F1"], keep_rows=keep_rows)
    scorer.update(SCORES[1:2], MEMBERS[1:2])
    with refused("other-scores"):
        scorer.update(SCORES[:1], MEMBERS[:1])
    scorer.update(SCORES[3:], MEMBERS[3:])
    assert (
        scorer.compute()["F1"].value
        == score(SCORES[[1, 3]], MEMBERS[[1, 3]], measures="F1")["F1"].value
    )


@pytest.mark.parametrize("keep_rows", [True, False])
def test_the_option_scores_decides_what_0_and_1_are(keep_rows):
    options = {"measures": ["F1(decode=threshold:0.3)"], "scores": "values"}
    whole = score(SCORES[::-1], MEMBERS[::-1], **options)
    scorer = Scorer(keep_rows=keep_rows, **options)
    fed(scorer, SCORES[::-1], MEMBERS[::-1], [(0, 1), (1, 4)])
    assert [s.value for s in scorer.compute()] == [s.value for s in whole]
    assert "|scores:values|" in whole[0].signature
    members = score({"a": {"cat": 1}}, {"a": ["cat"]}, measures="F1", scores="members")
    assert members.understood[0].endswith("0/1: 1 item, 1 label")
    with refused("fractional-members"):
        score(SCORES, MEMBERS, measures="F1", scores="members")
    with refused("fractional-members"):
        score({"a": {"cat": 0.5}}, {"a": ["cat"]}, measures="F1", scores="members")


# What a scorer is


def test_a_scorer_goes_on_after_compute_and_begins_again_after_reset():
    preds, gts, _ = some_items()
    scorer = Scorer(measures=["F1", "MacroF1"])
    half, whole = (
        digits(score(preds[:n], gts[:n], measures=["F1", "MacroF1"])) for n in (20, 40)
    )
    assert digits(fed(scorer, preds, gts, [(0, 20)]).compute()) == half
    assert digits(fed(scorer, preds, gts, [(20, 40)]).compute()) == whole
    assert len(scorer) == 40
    scorer.reset()
    assert len(scorer) == 0
    with refused("empty"):
        scorer.compute()
    assert digits(fed(scorer, preds, gts, [(0, 20)]).compute()) == half


def test_empty_batches_say_nothing():
    scorer = Scorer()
    for _ in range(2):
        scorer.update([], [])
        scorer.update({}, {})
    scorer.update({"a": "a cat sleeps on a sofa"}, {"a": ["a cat is asleep"]})
    scorer.update({}, {})
    assert scorer.compute()["BLEU-1"].n == len(scorer) == 1


# What is refused


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"measures": "F7"}, "unknown-name"),
        ({"measures": "F1", "protocol": "kubany2020"}, "measures-and-protocol"),
        ({"weights": [1]}, "given-by-batch"),
        ({"measures": "F1", "tokenizer": "13a"}, "not-of-kind"),
        ({"ci": True, "ci_method": "bca", "keep_rows": False}, "needs-all-items"),
        (
            {"ci": semmetrics.Bootstrap(method="wilson"), "keep_rows": False},
            "needs-all-items",
        ),
        ({"score_references": True, "keep_rows": False}, "needs-all-items"),
    ],
)
def test_wrong_options_are_refused_at_once(options, code):
    with refused(code):
        Scorer(**options)


def state(scorer):
    return len(scorer), digits(scorer.compute())


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    ("preds", "gts", "more", "code"),
    [
        ({"z": ["cat"]}, {"y": ["cat"]}, {}, "other-ids"),
        ([["cat"]], [["cat"]], {}, "other-batch"),
        ({"z": ["cat"]}, {"z": ["emu"]}, {}, "outside-classes"),
        ({"z": [("cat", 0.5)]}, {"z": ["cat"]}, {}, "other-batch"),
        ({"z": [7]}, {"z": ["cat"]}, {}, "number-outside-classes"),
        ({"z": ["cat"]}, {"z": ["cat"]}, {"weights": [1]}, "batch-differs"),
        ({"z": "a cat sleeps"}, {"z": ["cat"]}, {}, "preds"),
    ],
)
def test_a_batch_that_is_refused_changes_nothing(preds, gts, more, code, keep_rows):
    scorer = Scorer(
        measures=["F1", "MacroF1"], classes=["cat", "dog"], keep_rows=keep_rows
    )
    scorer.update({"a": ["cat", "dog"], "b": ["dog"]}, {"a": ["cat"], "b": ["cat"]})
    before = state(scorer)
    with refused(code):
        scorer.update(preds, gts, **more)
    assert state(scorer) == before
    scorer.update({"c": ["dog"]}, {"c": ["dog"]})
    assert len(scorer) == 3


def test_ids_that_come_again():
    scorer = Scorer(measures=["F1"])
    scorer.update({"a": ["cat"], "b": ["dog"]}, {"a": ["cat"], "b": ["cat"]})
    before = state(scorer)
    with refused("ids-in-two-batches", "preds"):
        scorer.update({"b": ["dog"], "c": ["dog"]}, {"b": ["dog"], "c": ["dog"]})
    assert state(scorer) == before
    with refused("ids-in-two-batches"):
        scorer.merge(copy.copy(scorer))
    assert state(scorer) == before
    sums = Scorer(measures=["F1"], keep_rows=False)  # ids are not kept: each is an item
    for _ in range(3):
        sums.update({"a": ["cat"]}, {"a": ["cat"]})
    assert (len(sums), sums.compute()["F1"].n) == (3, 3)


@pytest.mark.parametrize(
    ("options", "preds", "gts", "code"),
    [
        ({"measures": ["Recall"]}, [["cat"]], [["cat"]], "different-scorers"),
        ({"missing": "skip"}, [["cat"]], [["cat"]], "different-scorers"),
        ({"system": "other"}, [["cat"]], [["cat"]], "different-scorers"),
        ({"keep_rows": False}, [["cat"]], [["cat"]], "different-scorers"),
        (
            {"measures": None},
            ["a cat sleeps here"],
            [["a cat is asleep"]],
            "different-scorers",
        ),
        ({}, {"a": ["cat"]}, {"a": ["cat"]}, "other-batch"),
        ({}, [[("cat", 0.5)]], [["cat"]], "other-batch"),
    ],
)
def test_scorers_that_do_not_fit(options, preds, gts, code):
    scorer, other = Scorer(measures=["F1"]), Scorer(**{"measures": ["F1"], **options})
    scorer.update([["cat"]], [["dog"]])
    other.update(preds, gts)
    before = state(scorer), state(other)
    for both in (scorer.merge, scorer.__add__):
        with refused(code):
            both(other)
    assert (state(scorer), state(other)) == before


def test_options_of_merged_scorers_are_compared_by_what_they_are():
    options = {"measures": ["SemF1", "F1"], "embedding": MODEL, "classes": NAMES}

    def made():
        return Scorer(**{**options, "classes": np.array(NAMES).tolist()})

    preds, gts = label_items(10)
    one = fed(made(), preds, gts, [(0, 5)])
    other = fed(pickle.loads(pickle.dumps(made())), preds, gts, [(5, 10)])
    whole = digits(score(preds, gts, **options))
    for total in (one + other, made() + one + other, one + other + made()):
        assert digits(total.compute()) == whole


def traced(peak, *batches):
    """The memory, or its peak, after each of some numbers of batches.

    Objects in cycles are freed between them, whatever tests ran before.
    """
    tracemalloc.start()
    try:
        for some in batches:
            gc.collect()
            tracemalloc.reset_peak()
            for batch in some:
                batch()
            yield tracemalloc.get_traced_memory()[peak]
    finally:
        tracemalloc.stop()


def test_memory_is_constant_without_rows(monkeypatch):
    monkeypatch.setattr("semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER", 100)
    rng = np.random.default_rng(0)
    scorer = Scorer(
        measures=["BLEU-2", "ROUGE-L"], tokenizer="whitespace", keep_rows=False
    )

    def batch():
        texts = [" ".join(map(str, rng.integers(0, 10**6, 8))) for _ in range(100)]
        scorer.update(texts, [[text] for text in texts])

    first, later = traced(0, [batch] * 3, [batch] * 12)
    assert later < first + 50_000  # the texts of a batch alone take more
    assert scorer.compute()["BLEU-2"].n == 1500


def test_no_working_array_grows_with_the_items_let_go(monkeypatch):
    monkeypatch.setattr("semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER", 1000)
    scorer = Scorer(measures=["F1", "MacroF1"], keep_rows=False)
    items = [["cat"]] * 500

    def batch():
        scorer.update(items, items)

    _, first, _, later = traced(1, *([batch] * n for n in (10, 10, 100, 10)))
    # eight bytes for each item would be four times as much
    assert later < first + 100_000
    assert len(scorer) == 65_000


def _embedding(number):
    def vectors(labels):
        return np.array(
            [[1.0, 0.0] if len(label) % 2 else [number, 1.0] for label in labels]
        )

    return vectors


class Locked:
    """A function that cannot be pickled."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, labels):
        return np.array([[1.0, float(len(label))] for label in labels])


def semantic(embedding):
    scorer = Scorer(measures="SemF1", embedding=embedding)
    scorer.update([["aa"]], [["b"]])
    return scorer


def test_functions_are_told_apart_by_more_than_their_code():
    one, other, locked = _embedding(9.0), _embedding(0.0), Locked()
    for pair in (
        (one, other),
        (lambda labels: one([*labels]), lambda labels: other([*labels])),
        (Locked().__call__, Locked()),
    ):
        with refused("different-scorers"):
            semantic(pair[0]) + semantic(pair[1])
    for same in (one, locked, locked.__call__):
        assert len(semantic(same) + semantic(same)) == 2


def test_options_that_mean_the_same_are_the_same():
    given = {"normalize": "none", "ignore": ["x", "y"], "classes": ["a", "b"]}
    other = {"ignore": ("y", "x"), "classes": np.array(["a", "b"])}
    assert len(Scorer(measures="F1", **given) + Scorer(measures="F1", **other)) == 0


def test_a_score_is_written_as_a_number():
    (one,) = score([["cat"]], [["cat", "dog"]], measures="F1")
    assert (f"{one:.3f}", f"{one:>8.1%}", f"{one}") == ("0.667", "   66.7%", str(one))
    (undefined,) = score([[]], [["cat"]], measures="Precision(no_prediction=nan)")
    assert f"{undefined:.2f}" == "nan"


ITEMS_OF_BATCHES = {
    "zero and one": {"cat": 1, "dog": 0},
    "zero": {"cat": 0},
    "one": {"cat": 1},
    "fraction": {"cat": 0.3},
    "plain": ["cat"],
    "booleans": {"cat": True, "dog": False},
    "empty": {},
}
ALIKE = [
    ("zero and one", "one", "one"),
    ("zero", "empty", "one", "one"),
    ("zero", "zero and one"),
    ("booleans", "zero and one", "one"),
    ("booleans", "one", "one"),
    ("one", "fraction"),
    ("fraction", "one", "zero"),
    ("fraction", "zero and one"),
    ("one", "one"),
    ("empty", "fraction"),
    ("plain", "empty", "plain"),
]
UNLIKE = [
    ("zero", "fraction"),
    ("zero and one", "one", "fraction"),
    ("one", "zero"),
    ("one", "zero and one"),
    ("plain", "fraction"),
    ("plain", "zero"),
    ("fraction", "plain"),
    ("booleans", "fraction"),
]
RULES = ["all", "threshold:-1", "threshold:0.5", "cumulative:0.5"]


def items_of(batches, side):
    """Items with one entry per batch on a side, and a label on the other."""
    items = {str(i): ITEMS_OF_BATCHES[name] for i, name in enumerate(batches)}
    others = {id_: ["cat"] for id_ in items}
    return (items, others) if side == "preds" else (others, items)


def fed_one_by_one(preds, gts, options):
    scorer = Scorer(**options)
    for id_ in preds:
        scorer.update({id_: preds[id_]}, {id_: gts[id_]})
    return scorer


def values_or_error(compute):
    """The values of a table, or "error"."""
    try:
        return [one.value for one in compute()]
    except InputError:
        return "error"


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("side", ["preds", "gts"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("batches", ALIKE, ids=" ".join)
def test_batches_with_one_meaning_of_scores_are_read_as_in_one_call(
    batches, rule, side, keep_rows
):
    preds, gts = items_of(batches, side)
    options = {"measures": "F1", "decode": rule, "keep_rows": keep_rows}
    whole = values_or_error(lambda: score(preds, gts, **options))
    by_batch = values_or_error(lambda: fed_one_by_one(preds, gts, options).compute())
    assert by_batch == whole


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("side", ["preds", "gts"])
@pytest.mark.parametrize("batches", UNLIKE, ids=" ".join)
def test_batches_that_change_the_meaning_of_scores_are_an_error(
    batches, side, keep_rows
):
    preds, gts = items_of(batches, side)
    with pytest.raises(InputError) as error:
        fed_one_by_one(preds, gts, {"measures": "F1", "keep_rows": keep_rows}).compute()
    assert error.value.code in ("other-scores", "other-batch", "truth-of-scores")


def test_a_scorer_of_ones_is_read_as_the_members_before():
    preds, gts = items_of(("zero and one", "one", "one"), "preds")
    first = fed_one_by_one({"0": preds["0"]}, {"0": gts["0"]}, {"measures": "F1"})
    second = fed_one_by_one(
        {i: preds[i] for i in "12"}, {i: gts[i] for i in "12"}, {"measures": "F1"}
    )
    assert [one.value for one in (first + second).compute()] == [
        one.value for one in score(preds, gts, measures="F1")
    ]
    with refused("other-scores"):
        second.merge(first)


def test_calibrated_thresholds():
    preds, gts, _ = some_items()
    plain = [[name for name, _ in item] for item in preds]
    calibration = semmetrics.calibrate_threshold(plain, gts, embedding=MODEL)
    options = {"measures": ["SemF1"], "embedding": MODEL, "calibration": calibration}
    whole = score(plain, gts, **options)
    assert digits(
        fed(Scorer(**options), plain, gts, splits(40, 2)).compute()
    ) == digits(whole)
    sums = fed(Scorer(**options, keep_rows=False), plain, gts, splits(40, 2))
    assert told(sums.compute()) == told(whole)


@pytest.mark.parametrize("missing", ["skip", "empty"])
def test_items_that_one_side_lacks(missing):
    preds, gts, names = some_items()
    preds, gts = by_id(preds, names), by_id(gts, names)
    for name in names[3:9]:
        del preds[name]
    for name in names[20:24]:
        del gts[name]
    options = {"measures": ["F1", "MacroF1"], "missing": missing}
    whole = score(preds, gts, **options)
    scorer, sums = Scorer(**options), Scorer(**options, keep_rows=False)
    for some in (names[:7], names[7:22], names[22:]):
        sides = [{n: side[n] for n in some if n in side} for side in (preds, gts)]
        scorer.update(*sides)
        sums.update(*sides)
    assert digits(scorer.compute()) == digits(whole)
    assert told(sums.compute()) == told(whole)
    apart = Scorer(**options)  # both sides of an item in different batches
    for some, others in ((names[:30], names[:10]), (names[30:], names[10:])):
        apart.update(
            {n: preds[n] for n in some if n in preds},
            {n: gts[n] for n in others if n in gts},
        )
    assert digits(apart.compute()) == digits(whole)


def test_options_may_be_iterators():
    scorer = Scorer(measures=iter(["F1", "MacroF1"]), classes=iter(["cat", "dog"]))
    scorer.update([["cat"]], [["dog"]])
    assert digits(scorer.compute()) == digits(scorer.compute())


_SHARES = {
    "a": {"cat": 0.9, "dog": 0.1},
    "b": {"cat": 0.3, "dog": 0.7},
    "c": {"cat": 1.0},
}
_LOGITS = {
    "a": {"cat": 2.5, "dog": 0.3},
    "b": {"cat": 0.4, "dog": 0.6},
    "c": {"cat": -1.0},
}
_SETS = {"a": ["cat"], "b": ["dog", "zzxq"], "c": []}
_CELLS = {
    "a": {"cat": 1, "dog": 0},
    "b": {"cat": 0, "dog": -1},
    "c": {"cat": 0, "dog": 1},
}
_GRADES = {"a": {"cat": 2, "dog": 1}, "b": {"dog": 3}, "c": {"cat": 1}}
_ORDERED = {"a": ["dog", "cat"], "b": ["qqwv"], "c": ["cat", "bus"]}


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("cuts", [(0, 1, 2, 3), (0, 2, 3), (0, 1, 3)])
@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (_ORDERED, _SETS, {"measures": "SemF1 SemPrecision@1 WMD RWMD"}),
        (_ORDERED, _SETS, {"measures": "Precision(denominator=cutoff)@3 Precision@3"}),
        (_SHARES, _SETS, {"measures": "F1", "threshold": 0.5, "activation": "sigmoid"}),
        (_SHARES, _SETS, {"measures": "F1", "threshold": 0.5, "activation": "softmax"}),
        (_LOGITS, _SETS, {"measures": "F1", "threshold": 0.5, "activation": "sigmoid"}),
        (_SHARES, _CELLS, {"measures": "F1", "threshold": 0.5, "unknown_value": -1}),
        (
            _CELLS | {"b": {"cat": 0, "dog": 0}},
            _SETS,
            {"measures": "HammingLoss MacroF1"},
        ),
        (_SHARES, _GRADES, {"task": "retrieval", "measures": "MAP(rel=2) nDCG@2"}),
        (
            {id_: {id_: 0.9, **scores} for id_, scores in _SHARES.items()},
            {id_: ["cat"] for id_ in _SHARES},
            {
                "task": "retrieval",
                "measures": "MRR HitRate@1",
                "ignore_identical_ids": True,
            },
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::semmetrics.InputWarning")
def test_batches_give_the_values_signatures_and_notes_of_one_call(
    preds, gts, options, cuts, keep_rows
):
    whole = score(preds, gts, **options)
    scorer, ids = Scorer(keep_rows=keep_rows, **options), list(preds)
    for start, stop in itertools.pairwise(cuts):
        batch = [{id_: side[id_] for id_ in ids[start:stop]} for side in (preds, gts)]
        scorer.update(*batch)
    found = scorer.compute()
    assert [(one.name, one.value) for one in found] == [
        (one.name, one.value) for one in whole
    ]
    assert [one.signature for one in found] == [one.signature for one in whole]
    assert sorted(map(str, found.notes)) == sorted(map(str, whole.notes))


def test_columns_without_names_do_not_follow_names():
    lists, matrix = [["cat"], ["dog"]], np.array([[1, 0]])
    for first, second in ((lists, matrix), (matrix, lists)):
        scorer = Scorer(measures="HammingLoss")
        scorer.update(first, first)
        with refused("other-batch"):
            scorer.update(second, second)


@pytest.mark.parametrize("names", [["cat", "dog"], None])
def test_matrices_follow_lists_of_their_columns(names):
    lists = [["cat"], ["dog"]] if names else [["0"], ["1"]]
    scorer = Scorer(measures="HammingLoss", classes=names)
    scorer.update(lists, lists)
    scorer.update(np.array([[1, 0]]), np.array([[1, 1]]))
    assert float(scorer.compute()["HammingLoss"].value) == pytest.approx(1 / 6)
