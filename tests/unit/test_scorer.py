"""A Scorer gives the scores of one call of score on all items, in whatever batches they come."""

from __future__ import annotations

import gc
import pickle
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pytest
from batches import (
    by_id,
    contents,
    save_and_load,
    select,
    signatures,
    update_in_batches,
    update_with,
    values,
)
from every_measure import (
    DEFINITIONS,
    EVERY,
    MODEL,
    N_ITEMS,
    case_of,
    label_items,
    measures_of,
    stand_ins,  # noqa: F401
)
from refusals import codes, refused

import semmetrics
from semmetrics import Bootstrap, Scorer, score

IDS = [f"item {number}" for number in range(40)]
STORED_OR_SUMMED = pytest.mark.parametrize("keep_rows", [True, False])
ITEMS_SUMMED_TOGETHER = "semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER"


# ---- every measure ------------------------------------------------------------------------------


def is_additive(measure):
    """Return whether sums over items suffice to compute a measure."""
    if measure["threshold"] == "auto":
        measure = measure.with_options(threshold="0.5")
    return measure.definition.family.statistic(measure).additive


ALL_MEASURES = list(chain.from_iterable(map(measures_of, DEFINITIONS)))
ADDITIVE = [measure for measure in ALL_MEASURES if is_additive(measure)]
NOT_ADDITIVE = [measure for measure in ALL_MEASURES if not is_additive(measure)]


@pytest.mark.sampled(30)
@EVERY
def test_merged_scorers_give_the_scores_of_one_call(definition):
    measures, options, (preds, gts) = case_of(definition)
    ids = IDS[:N_ITEMS]
    preds = by_id(preds, ids)
    gts = by_id(gts, ids)
    shuffled_ids = np.random.default_rng(5).permutation(ids)

    scorers = []
    for part in np.split(shuffled_ids, 4):
        scorer = Scorer(measures=measures, **options)
        update_with(scorer, preds, gts, part[:2])
        update_with(scorer, preds, gts, part[2:])
        scorers.append(pickle.loads(pickle.dumps(scorer)))

    whole = score(preds, gts, measures=measures, **options).to_json()
    assert sum(scorers).compute().to_json() == whole
    assert sum(reversed(scorers)).compute().to_json() == whole


@pytest.mark.sampled(30)
@pytest.mark.parametrize("n_summed", [1, 7, 1000])
@pytest.mark.parametrize("measure", ADDITIVE, ids=str)
def test_sums_of_items_give_the_scores_of_one_call(measure, n_summed, monkeypatch):
    monkeypatch.setattr(ITEMS_SUMMED_TOGETHER, n_summed)
    _, options, (preds, gts) = case_of(measure.definition)
    if measure.definition.kind == "captions":
        options["doc_freq"] = semmetrics.fit_document_frequencies(gts)
    options |= {"measures": [measure], "keep_rows": False}
    scorer = Scorer(**options)
    part = Scorer(**options)
    other_part = Scorer(**options)

    update_in_batches(scorer, preds, gts, [0, 5, 5, 18, N_ITEMS])
    update_in_batches(part, preds, gts, [0, 5])
    update_in_batches(other_part, preds, gts, [5, N_ITEMS])
    merged = save_and_load(part) + save_and_load(other_part)

    whole = score(preds, gts, **options)
    assert contents(scorer.compute()) == contents(whole)
    assert str(values(merged.compute())) == str(values(whole))


@pytest.mark.parametrize("measure", NOT_ADDITIVE, ids=str)
def test_a_measure_that_needs_all_items_raises_an_error_without_them(measure):
    _, options, (preds, gts) = case_of(measure.definition)
    scorer = Scorer(measures=[measure], keep_rows=False, **options)

    with refused("needs-all-items"):
        scorer.update(preds, gts)

    assert len(scorer) == 0


def test_without_stored_items_there_are_no_values_of_items():
    scorer = Scorer(measures="SemF1", embedding=MODEL, keep_rows=False)
    scorer.update([["label 1"]], [["label 2"]])

    table = scorer.compute()

    with refused("rows-not-kept"):
        table.per_item()
    with refused("rows-not-kept"):
        table.matches()


# ---- batches ------------------------------------------------------------------------------------


ORDERED_LABELS = {"a": ["dog", "cat"], "b": ["qqwv"], "c": ["cat", "bus"]}
LABELS = {"a": ["cat"], "b": ["dog", "zzxq"], "c": []}
PROBABILITIES = {
    "a": {"cat": 0.9, "dog": 0.1},
    "b": {"cat": 0.3, "dog": 0.7},
    "c": {"cat": 1.0},
}
LOGITS = {
    "a": {"cat": 2.5, "dog": 0.3},
    "b": {"cat": 0.4, "dog": 0.6},
    "c": {"cat": -1.0},
}
CELLS = {
    "a": {"cat": 1, "dog": 0},
    "b": {"cat": 0, "dog": -1},
    "c": {"cat": 0, "dog": 1},
}
F1_OF_SCORES = {"measures": "F1", "threshold": 0.5}
GRADES = {"a": {"cat": 2, "dog": 1}, "b": {"dog": 3}, "c": {"cat": 1}}


@STORED_OR_SUMMED
@pytest.mark.parametrize("batches", [("a", "b", "c"), ("ab", "c")], ids=" ".join)
@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (ORDERED_LABELS, LABELS, {"measures": "SemF1 SemPrecision@1 WMD RWMD"}),
        (
            ORDERED_LABELS,
            LABELS,
            {"measures": "Precision(denominator=cutoff)@3 Precision@3"},
        ),
        (PROBABILITIES, LABELS, {**F1_OF_SCORES, "activation": "sigmoid"}),
        (PROBABILITIES, LABELS, {**F1_OF_SCORES, "activation": "softmax"}),
        (LOGITS, LABELS, {**F1_OF_SCORES, "activation": "sigmoid"}),
        (PROBABILITIES, CELLS, {**F1_OF_SCORES, "unknown_value": -1}),
        (PROBABILITIES, GRADES, {"task": "retrieval", "measures": "MAP(rel=2) nDCG@2"}),
    ],
)
@pytest.mark.filterwarnings("ignore::semmetrics.InputWarning")
def test_batches_give_the_values_signatures_and_notes_of_one_call(
    preds, gts, options, batches, keep_rows
):
    scorer = Scorer(keep_rows=keep_rows, **options)

    for ids in batches:
        update_with(scorer, preds, gts, ids)
    table = scorer.compute()

    whole = score(preds, gts, **options)
    assert values(table) == values(whole)
    assert signatures(table) == signatures(whole)
    assert sorted(table.notes) == sorted(whole.notes)


SYNONYMS = [("cat", "kitty")]


@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (
            {"a": [*SYNONYMS, "ant"], "b": ["ant"], "c": ["zebra"], "d": ["bee"]},
            {"a": [*SYNONYMS, "zebra"], "b": ["zebra"], "c": SYNONYMS, "d": ["zebra"]},
            {"measures": "MacroF1 MacroPrecision"},
        ),
        (
            {"a": "bird", "b": "cat", "c": "dog"},
            {"b": "cat", "c": "dog"},
            {"measures": "Accuracy", "task": "classes", "missing": "skip"},
        ),
    ],
    ids=["synonyms", "classes"],
)
def test_batches_may_have_labels_in_another_order(preds, gts, options):
    scorer = Scorer(keep_rows=False, **options)

    for ids in ("ab", "cd"):
        update_with(scorer, preds, gts, ids)
        scorer.drop_items()

    whole = score(preds, gts, **options)
    assert contents(scorer.compute()) == contents(whole)


def test_a_note_on_ignored_labels_counts_dropped_items_but_not_items_of_weight_0():
    preds = {"a": ["x", "q"], "b": ["z"]}
    gts = {"a": ["x"], "b": ["z"]}
    weights = {"a": 1.0, "b": 0.0}
    options = {"measures": "F1", "ignore": ["q", "z"]}
    scorer = Scorer(keep_rows=False, **options)

    for name in gts:
        update_with(scorer, preds, gts, [name], weights={name: weights[name]})
        scorer.drop_items()

    whole = score(preds, gts, weights=weights, **options)
    assert sorted(scorer.compute().notes) == sorted(whole.notes)


def test_batches_that_find_different_classes_of_synonyms_raise_an_error():
    scorer = Scorer(measures="F1", ignore=["a"], keep_rows=False)
    scorer.update({"x": [("a", "b")]}, {"x": ["a", "b"]})
    scorer.drop_items()
    scorer.update({"y": [("a", "b")]}, {"y": ["b"]})

    with refused("classes-of-references"):
        scorer.compute()


def test_similarities_come_in_one_call():
    scorer = Scorer(measures="HitRate@1")

    with refused("matrix-batch"):
        scorer.update(np.eye(3), [[0], [1], [2]])


def test_a_sum_of_directions_raises_an_error_for_lists():
    scorer = Scorer(measures="Rsum", keep_rows=False)
    scorer.update({"q": ["a"]}, {"q": ["a"]})

    with refused("needs-parts"):
        scorer.compute()


# ---- values by item -----------------------------------------------------------------------------


@STORED_OR_SUMMED
def test_weights_come_with_their_items(keep_rows):
    preds, gts = label_items(40, seed=3)
    weights = np.random.default_rng(1).random(40)
    weights[:9] = 0  # no item of the first two batches counts
    bounds = [0, 5, 9, 30, 40]
    options = {"measures": "F1 MacroF1 MicroF1", "keep_rows": keep_rows}
    scorer = Scorer(**options)

    update_in_batches(scorer, preds, gts, bounds, weights=weights)

    whole = score(preds, gts, weights=weights, **options)
    assert contents(scorer.compute()) == contents(whole)


@STORED_OR_SUMMED
def test_weights_of_items_with_ids_may_be_an_array(keep_rows):
    scorer = Scorer(measures="F1", keep_rows=keep_rows)

    scorer.update({"a": ["x"], "b": ["y"]}, {"a": ["x"], "b": ["x"]}, weights=[3, 1])

    assert scorer.compute()["F1"].value == 0.75


@STORED_OR_SUMMED
def test_weights_that_are_all_zero_raise_an_error(keep_rows):
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update([["a"], ["b"]], [["a"], ["b"]], weights=[0, 0])

    with refused("zero-weights"):
        scorer.compute()


@STORED_OR_SUMMED
def test_probabilities_of_set_sizes_come_with_their_items(keep_rows):
    preds, gts = label_items(40, seed=3)
    probs = np.random.default_rng(1).dirichlet(np.ones(5), 40)
    options = {"measures": "F1(decode=cardinality)", "keep_rows": keep_rows}
    scorer = Scorer(**options)

    update_in_batches(scorer, preds, gts, [0, 5, 40], set_size_probs=probs)

    whole = score(preds, gts, set_size_probs=probs, **options)
    assert contents(scorer.compute()) == contents(whole)
    with refused("batch-differs"):
        scorer.update(preds[:1], gts[:1], set_size_probs=probs[:1, :4])
    with refused("batch-differs"):
        scorer.update(preds[:1], gts[:1])


# ---- missing items ------------------------------------------------------------------------------


@STORED_OR_SUMMED
@pytest.mark.parametrize("missing", ["skip", "empty"])
def test_each_side_of_a_batch_may_have_items_that_the_other_has_not(missing, keep_rows):
    preds, gts = label_items(40, seed=3)
    preds = select(by_id(preds, IDS), IDS[:3] + IDS[9:])
    gts = select(by_id(gts, IDS), IDS[:20] + IDS[24:])
    options = {"measures": "F1 MacroF1", "missing": missing, "keep_rows": keep_rows}
    scorer = Scorer(**options)

    only_true = IDS[3:9]
    only_predicted = IDS[20:24]
    for ids in (only_predicted, only_true, IDS[:3], IDS[9:20], IDS[24:]):
        update_with(scorer, preds, gts, ids)

    assert contents(scorer.compute()) == contents(score(preds, gts, **options))


def test_both_sides_of_a_stored_item_may_be_in_different_batches():
    preds, gts = label_items(40, seed=3)
    preds = by_id(preds, IDS)
    gts = by_id(gts, IDS)
    scorer = Scorer(measures="F1", missing="skip")

    scorer.update(select(preds, IDS[:30]), select(gts, IDS[:10]))
    scorer.update(select(preds, IDS[30:]), select(gts, IDS[10:]))

    whole = score(preds, gts, measures="F1", missing="skip")
    assert contents(scorer.compute()) == contents(whole)


def test_sums_of_items_with_one_side_each_can_be_saved():
    options = {"measures": "Accuracy", "task": "classes", "missing": "empty"}
    scorer = Scorer(keep_rows=False, **options)
    for preds, gts in (({"a": "cat"}, {}), ({}, {"b": "cat"})):
        scorer.update(preds, gts)
        scorer.drop_items()

    assert save_and_load(scorer).compute()["Accuracy"].n == 1


def test_systems_may_have_different_items_if_missing_items_count_as_empty():
    scorer = Scorer(keep_rows=False, measures="F1", missing="empty")
    scorer.update({"a": ["cat"], "z": ["cow"]}, {"a": ["cat"]}, system="one")
    scorer.update({"a": ["cat"]}, {"a": ["cat"]}, system="two")

    table = scorer.compute()

    assert table["one", "F1"].value == 0.5
    assert table["two", "F1"].value == 1.0
    assert "different-items-of-sums" in codes(table)


# ---- the life of a scorer -----------------------------------------------------------------------


def test_a_scorer_continues_after_compute_and_starts_again_after_reset():
    preds, gts = label_items(40, seed=3)
    half = contents(score(preds[:20], gts[:20], measures="F1 MacroF1"))
    whole = contents(score(preds, gts, measures="F1 MacroF1"))
    scorer = Scorer(measures="F1 MacroF1")

    scorer.update(preds[:20], gts[:20])
    assert contents(scorer.compute()) == half

    scorer.update(preds[20:], gts[20:])
    assert contents(scorer.compute()) == whole
    assert len(scorer) == 40

    scorer.reset()
    assert len(scorer) == 0
    with refused("empty"):
        scorer.compute()

    scorer.update(preds[:20], gts[:20])
    assert contents(scorer.compute()) == half


def test_empty_batches_do_not_decide_the_kind_of_data():
    scorer = Scorer()

    scorer.update([], [])
    scorer.update({}, {})
    scorer.update({"a": "a cat sleeps on a sofa"}, {"a": ["a cat is asleep"]})
    scorer.update({}, {})

    assert len(scorer) == 1
    assert scorer.compute()["BLEU-1"].n == 1


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"measures": "F7"}, "unknown-name"),
        ({"measures": "F1", "protocol": "kubany2020"}, "measures-and-protocol"),
        ({"weights": [1]}, "given-by-batch"),
        ({"measures": "F1", "tokenizer": "13a"}, "not-of-kind"),
        (
            {"ci": True, "ci_method": "bca", "keep_rows": False},
            "needs-all-items",
        ),
        (
            {"ci": Bootstrap(method="wilson"), "keep_rows": False},
            "needs-all-items",
        ),
        ({"score_references": True, "keep_rows": False}, "needs-all-items"),
    ],
)
def test_wrong_options_raise_an_error_before_the_first_batch(options, code):
    with refused(code):
        Scorer(**options)


@STORED_OR_SUMMED
@pytest.mark.parametrize(
    ("preds", "gts", "code"),
    [
        ({"z": ["cat"]}, {"y": ["cat"]}, "other-ids"),
        ([["cat"]], [["cat"]], "other-batch"),
        ({"z": [("cat", 0.5)]}, {"z": ["cat"]}, "other-batch"),
    ],
)
def test_a_wrong_batch_raises_an_error_and_changes_nothing(preds, gts, code, keep_rows):
    scorer = Scorer(measures="MacroF1", classes=["cat", "dog"], keep_rows=keep_rows)
    scorer.update({"a": ["cat", "dog"], "b": ["dog"]}, {"a": ["cat"], "b": ["cat"]})
    before = contents(scorer.compute())

    with refused(code):
        scorer.update(preds, gts)

    assert len(scorer) == 2
    assert contents(scorer.compute()) == before


def test_an_id_of_an_earlier_batch_raises_an_error():
    scorer = Scorer(measures="F1")
    scorer.update({"a": ["cat"], "b": ["dog"]}, {"a": ["cat"], "b": ["cat"]})

    with refused("ids-in-two-batches", "preds"):
        scorer.update({"b": ["dog"], "c": ["dog"]}, {"b": ["dog"], "c": ["dog"]})

    assert len(scorer) == 2


def test_a_repeated_id_is_another_item_if_items_are_not_stored():
    scorer = Scorer(measures="F1", keep_rows=False)

    for _ in range(3):
        scorer.update({"a": ["cat"]}, {"a": ["cat"]})

    assert len(scorer) == 3
    assert scorer.compute()["F1"].n == 3


# ---- memory -------------------------------------------------------------------------------------


def test_no_working_array_grows_with_the_number_of_summed_items(monkeypatch):
    monkeypatch.setattr(ITEMS_SUMMED_TOGETHER, 1000)
    scorer = Scorer(measures="F1 MacroF1", keep_rows=False)
    items = [["cat"]] * 500

    def add_batches(n_batches):
        for _ in range(n_batches):
            scorer.update(items, items)
        gc.collect()

    def peak_memory_of_ten_batches():
        tracemalloc.reset_peak()
        add_batches(10)
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        add_batches(10)
        first_peak = peak_memory_of_ten_batches()
        add_batches(100)
        later_peak = peak_memory_of_ten_batches()
    finally:
        tracemalloc.stop()

    # Eight bytes of each item would be four times as much.
    assert later_peak < first_peak + 100_000


@STORED_OR_SUMMED
def test_batches_of_several_threads_are_all_counted(keep_rows):
    batches = [{f"{name} {number}": ["cat"] for name in IDS} for number in range(10)]
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    interval = sys.getswitchinterval()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(batches)) as pool:
            list(pool.map(scorer.update, batches, batches))
    finally:
        sys.setswitchinterval(interval)

    assert len(scorer) == len(batches) * len(IDS)
    assert scorer.compute()["F1"].n == len(scorer)


def test_class_lists_that_the_caller_changes_later_stay_as_they_were():
    lists = {"rare": ["dog"]}
    options = {"classes": ["cat", "dog"], "measures": "PerClassAccuracy(labels=rare)"}
    scorer = Scorer(task="classes", class_lists=lists, **options)
    other = Scorer(task="classes", class_lists={"rare": ["dog"]}, **options)

    lists["rare"].append("cat")
    scorer.update({"a": "cat", "b": "dog"}, {"a": "dog", "b": "dog"})
    copied = pickle.loads(pickle.dumps(scorer))

    assert values((copied + other).compute()) == values(scorer.compute()) == [0.5]


def test_a_system_that_is_not_a_string_raises_an_error():
    scorer = Scorer(measures="F1", keep_rows=False)

    with refused("bad-option", name="system"):
        scorer.update([["cat"]], [["cat"]], system=5)


def test_an_error_without_stored_items_names_the_option_that_drops_them():
    # given a scorer without stored items
    scorer = Scorer(measures="F1", keep_rows=False)
    scorer.update([["cat"]], [["cat"]])

    # then errors about missing items name the option
    with refused("rows-not-kept") as caught:
        scorer.compute().per_item()
    assert "keep_rows=False" in str(caught.value)
    with refused("needs-all-items") as caught:
        Scorer(measures="F1", keep_rows=False, missing="common")
    assert "keep_rows=False" in str(caught.value)
