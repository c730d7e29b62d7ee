"""Properties of all measures that need only labels and scores."""

import math
from dataclasses import replace
from functools import partial

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import named

from semmetrics.data.join import Weights
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.ranking import ClassCurveFamily, ItemRankingFamily
from semmetrics.metrics.registry import all_definitions
from semmetrics.metrics.set_families import SetFamily
from semmetrics.metrics.sets import ClassF1
from semmetrics.scoring.evaluate import evaluate

CLASSES = ["a", "b", "c", "d", "e"]
CAUSES = {"empty", "absent", "no_prediction", "no_reference", "undefined"}
MEASURES = parse_all(
    [
        "F1",
        "F1(duplicates=each)",
        "F1@1",
        "F1(decode=threshold:0.5)",
        "F1(average=macro)",
        "F1(average=macro,labels=union)",
        "F1(average=macro,labels=given,absent=0)",
        "F1(average=macro)@2",
        "F1(average=macro,decode=cumulative:0.6,keep_at_least=1)",
        "F1(average=micro)",
        "F1(average=micro,labels=reference)",
        "F1(average=weighted)",
        "Precision",
        "Precision(no_prediction=skip,empty=skip)",
        "Precision(average=micro)",
        "Precision(average=macro,no_prediction=skip)",
        "Recall",
        "Recall(no_reference=nan)",
        "Recall(average=weighted,labels=union)",
        "Jaccard",
        "Jaccard(average=macro)",
        "SubsetAccuracy",
        "HammingLoss",
        "HammingLoss(average=macro,labels=given)",
        "AP",
        "AP(normalize=hits,duplicates=each)@2",
        "BalancedAccuracy(q=7)",
        "CardinalityError",
        "O-F1",
        "C-F1",
        "I-F1",
        "LRAP",
        "RankingLoss",
        "RankingLoss(undefined=0,no_reference=1)",
        "CoverageError",
        "mAP",
        "mAP(average=weighted)",
        "mAP(interpolation=coco101,labels=union)",
        "mAP(labels=given,no_reference=0,interpolation=voc2007)",
        "mAP(interpolation=voc2010)",
        "mAP(ties=ordered)",
        "mAP(average=micro)",
        "mAP(average=micro,labels=union)",
        "ROC-AUC",
        "ROC-AUC(average=micro)",
        "ROC-AUC(average=weighted,labels=given)",
        "FBeta(beta=2)",
        "FBeta(beta=0.5,average=macro)",
        "CF1",
        "CF1(labels=reference,decode=at-least:0.5)@2",
    ]
)
# Equal scores are ranked in the order of the items only with ties=ordered.
OF_ANY_ITEM_ORDER = [m for m in MEASURES if m["ties"] != "ordered"]
OF_ALL_LABELS = [m for m in MEASURES if m.k is None and m["decode"] in ("all", None)]
SCORES = st.sampled_from([0.125, 0.25, 0.5, 0.75, 1.0, 1.25])


def definitions():
    """Return the definitions that need only labels and scores."""
    families = (SetFamily, ClassF1, ItemRankingFamily, ClassCurveFamily)
    return [d for d in all_definitions("labels") if type(d.family) in families]


def items(labels="abcdez"):
    """Draw scored predictions and references of one to seven items."""
    preds = st.lists(st.tuples(st.sampled_from(labels), SCORES), max_size=5)
    refs = st.lists(st.sampled_from(CLASSES), max_size=4)
    return st.lists(st.tuples(preds, refs), min_size=1, max_size=7)


def statistics(
    data, measures, *, classes=CLASSES, weights=None, change=lambda task: task
):
    preds = as_labels({item: sides[0] for item, sides in data.items()})
    refs = as_labels({item: sides[1] for item, sides in data.items()})
    # Without any prediction, nothing shows that predictions have scores.
    if not len(preds.side.codes):
        preds = replace(preds, side=replace(preds.side, scores=np.zeros(0)))
    options = {"classes": classes}
    if weights:
        options["weights"] = Weights(weights)
    task = label_task(preds, refs, resolve_options(options, "labels"))
    return evaluate(change(task), measures)


def values(data, measures):
    return laws.values(statistics(named(data), measures), measures)


def test_every_definition_is_covered():
    names = {definition.name for definition in definitions()}

    assert {measure.definition.name for measure in MEASURES} == names


@given(items())
def test_values_are_within_the_bounds(data):
    for score in laws.check_bounds(statistics(named(data), MEASURES), MEASURES):
        assert score.undefined.keys() <= CAUSES


def symmetric_measures():
    """Return the symmetric measures, with labels of both sides instead of references."""
    measures = {}
    for measure in OF_ALL_LABELS:
        if not measure.definition.symmetric or measure["average"] == "weighted":
            continue
        if measure["labels"] == "reference":
            measure = measure.with_options(labels="union")
        measures[str(measure)] = measure
    return list(measures.values())


def test_every_symmetric_definition_is_covered():
    symmetric = {d.name for d in definitions() if d.symmetric}

    assert {m.definition.name for m in symmetric_measures()} == symmetric


@given(items(labels=CLASSES))
def test_symmetric_measures_are_symmetric(data):
    measures = symmetric_measures()
    straight = []
    swapped = []
    for preds, refs in data:
        labels = [label for label, _ in preds]
        straight.append((labels, refs))
        swapped.append((refs, labels))

    expected = pytest.approx(values(straight, measures), abs=1e-12, nan_ok=True)
    assert values(swapped, measures) == expected


@given(items(), st.randoms(use_true_random=False))
def test_order_invariant_measures_ignore_the_order_of_labels(data, random):
    measures = []
    for measure in OF_ALL_LABELS:
        if measure.definition.order_invariant and measure in OF_ANY_ITEM_ORDER:
            measures.append(measure)
    shuffled = []
    for preds, refs in data:
        shuffled.append(
            (random.sample(preds, len(preds)), random.sample(refs, len(refs)))
        )

    expected = pytest.approx(values(data, measures), abs=1e-12, nan_ok=True)
    assert values(shuffled, measures) == expected


def test_measures_that_declare_an_order_depend_on_it():
    measures = [m for m in OF_ALL_LABELS if not m.definition.order_invariant]
    assert measures

    right_first = values([([("a", 0.5), ("b", 0.5)], ["a"])], measures)
    wrong_first = values([([("b", 0.5), ("a", 0.5)], ["a"])], measures)

    for measure in measures:
        assert right_first[str(measure)] != wrong_first[str(measure)]


def has_best_value_for_references(measure):
    """Return whether the references, predicted, have the best value of the bounds."""
    # The best coverage is the number of references, and CF1 counts classes without predictions.
    if measure.definition.name in ("CoverageError", "CF1"):
        return False
    # Other policies than the defaults may count empty lists or absent classes as errors.
    return "no_reference=" not in str(measure) and "absent=" not in str(measure)


@given(items())
def test_the_reference_is_the_best_prediction(data):
    measures = [m for m in OF_ALL_LABELS if has_best_value_for_references(m)]
    answers = []
    for _, refs in [*data, ([], ["a"])]:
        labels = list(dict.fromkeys(refs))
        answers.append(([(label, 1.0) for label in labels], labels))

    best = values(answers, measures)

    for measure in measures:
        low, high = measure.definition.bounds
        expected = high if measure.definition.higher_is_better else low
        value = best[str(measure)]
        if measure.definition.name == "ROC-AUC" and math.isnan(value):
            continue  # no negatives
        assert value == expected, measure


@pytest.mark.parametrize("classes", [None, CLASSES])
@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(classes, data, weighted, seed):
    measures = OF_ANY_ITEM_ORDER
    if classes is None:
        measures = [m for m in measures if m["labels"] != "given"]

    statistics_with_classes = partial(statistics, classes=classes)
    laws.check_order(statistics_with_classes, named(data), measures, weighted, seed)


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), MEASURES, weighted)


@given(items(), st.sets(st.integers(0, 6)))
def test_an_item_of_weight_two_is_the_item_twice(data, places):
    laws.check_double(statistics, named(data), OF_ANY_ITEM_ORDER, places)


def averages_items(measure):
    return measure["average"] in ("example", None)


@given(items())
def test_the_value_is_the_mean_over_items(data):
    averaged = set()
    for score in laws.scores(statistics(named(data), MEASURES), MEASURES):
        if score.items is None or score.measure["average"] == "micro":
            continue
        averaged.add(score.measure)
        assert score.items.shape == (score.n,)
        assert sum(score.undefined.values()) == np.isnan(score.items).sum()
        expected = mean_under_policies(score)
        if expected is not None:
            assert score.value == pytest.approx(expected, abs=1e-12, nan_ok=True), score

    assert averaged == set(filter(averages_items, MEASURES))


def mean_under_policies(score):
    """Return the mean of items, or None if undefined items have different policies."""
    policies = {score.measure[cause] for cause in score.undefined}
    if policies <= {"skip"}:
        defined = score.items[~np.isnan(score.items)]
        return defined.mean() if len(defined) else math.nan
    if policies == {"1"}:
        return np.nan_to_num(score.items, nan=1.0).mean()
    if policies == {"0"}:
        return np.nan_to_num(score.items, nan=0.0).mean()
    return None
