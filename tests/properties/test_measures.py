"""What holds for every measure of labels and scores, each held to the traits that it declares."""

from __future__ import annotations

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
from semmetrics.metrics.registry import all_definitions, find
from semmetrics.metrics.set_families import SetFamily
from semmetrics.metrics.sets import ClassF1
from semmetrics.scoring.evaluate import evaluate

CLASSES = ["a", "b", "c", "d", "e"]
CAUSES = {"empty", "absent", "no_prediction", "no_reference", "undefined"}
TEXTS = [
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
MEASURES = parse_all(TEXTS)
# Equal scores in the order of the items: the only measure that this order changes.
UNORDERED = [m for m in MEASURES if m["ties"] != "ordered"]
PLAIN = [m for m in MEASURES if m.k is None and m["decode"] in ("all", None)]
# no 0 that, beside 1, is no score
SCORES = st.sampled_from([0.125, 0.25, 0.5, 0.75, 1.0, 1.25])


def items(labels="abcdez", references=CLASSES):
    predicted = st.lists(st.tuples(st.sampled_from(labels), SCORES), max_size=5)
    true = st.lists(st.sampled_from(references), max_size=4)
    return st.lists(st.tuples(predicted, true), min_size=1, max_size=7)


def statistics(
    data, measures, *, classes=CLASSES, weights=None, change=lambda task: task
):
    pred = as_labels({name: p for name, (p, _) in data.items()})
    # a part that predicts nothing cannot show that it has scores
    if not len(pred.side.codes):
        pred = replace(pred, side=replace(pred.side, scores=np.zeros(0)))
    ref = as_labels({name: r for name, (_, r) in data.items()})
    task = label_task(
        pred,
        ref,
        resolve_options(
            {"weights": weights and Weights(weights), "classes": classes}, "labels"
        ),
    )
    return evaluate(change(task), measures)


def values(data, measures, **options):
    return laws.values(statistics(data, measures, **options), measures)


def exact():
    """The definitions that need nothing but labels and scores."""
    families = (SetFamily, ClassF1, ItemRankingFamily, ClassCurveFamily)
    return {d.name for d in all_definitions("labels") if type(d.family) in families}


def test_every_registered_definition_is_covered():
    assert {m.definition.name for m in MEASURES} == exact()


@given(items())
def test_values_lie_within_the_bounds(data):
    for score in laws.check_bounds(statistics(named(data), MEASURES), MEASURES):
        assert score.undefined.keys() <= CAUSES


@given(items(labels=CLASSES))
def test_symmetric_measures_may_exchange_the_sides(data):
    chosen = [m for m in PLAIN if m.definition.symmetric and m["average"] != "weighted"]
    chosen = [
        m if m["labels"] != "reference" else m.with_options(labels="union")
        for m in chosen
    ]
    chosen = list(dict.fromkeys(chosen))
    assert {m.definition.name for m in chosen} == {
        name for name in exact() if find(name)[0].symmetric
    }
    there = named([([label for label, _ in p], r) for p, r in data])
    back = {name: (r, p) for name, (p, r) in there.items()}
    first, second = values(there, chosen), values(back, chosen)
    assert first == pytest.approx(second, abs=1e-12, nan_ok=True)


@given(items(), st.randoms(use_true_random=False))
def test_order_invariant_measures_ignore_the_order_of_labels(data, shuffled):
    chosen = [m for m in PLAIN if m.definition.order_invariant and m in UNORDERED]
    mixed = [(shuffled.sample(p, len(p)), shuffled.sample(r, len(r))) for p, r in data]
    # a label that is predicted twice has the higher score, wherever it stands
    first, second = values(named(data), chosen), values(named(mixed), chosen)
    assert first == pytest.approx(second, abs=1e-12, nan_ok=True)


def test_measures_that_declare_an_order_depend_on_it():
    there = {"1": ([("a", 0.5), ("b", 0.5)], ["a"])}
    back = {"1": ([("b", 0.5), ("a", 0.5)], ["a"])}
    chosen = [m for m in PLAIN if not m.definition.order_invariant]
    first, second = values(there, chosen), values(back, chosen)
    assert chosen
    assert all(first[name] != second[name] for name in first)


@given(items())
def test_the_reference_itself_is_the_best_prediction(data):
    # with its default policies; the best coverage is the number of references
    chosen = [
        m for m in PLAIN if "no_reference=" not in str(m) and "absent=" not in str(m)
    ]
    # and CF1 counts a class that is never predicted, true or not
    chosen = [m for m in chosen if m.definition.name not in ("CoverageError", "CF1")]
    refs = [list(dict.fromkeys(r)) for _, r in [*data, ([], ["a"])]]
    found = values(named([([(label, 1.0) for label in r], r) for r in refs]), chosen)
    for m in chosen:
        best = m.definition.bounds[m.definition.higher_is_better]
        # all are positives
        if m.definition.name == "ROC-AUC" and math.isnan(found[str(m)]):
            continue
        assert found[str(m)] == best, m


@pytest.mark.parametrize("classes", [None, CLASSES])
@given(data=items(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_any_split_in_any_order_gives_the_same_bits(classes, data, weighted, seed):
    # the measures that can be computed with, or without, a class list
    chosen = [m for m in UNORDERED if classes is not None or m["labels"] != "given"]
    of_classes = partial(statistics, classes=classes)
    laws.check_order(of_classes, named(data), chosen, weighted, seed)


@given(items(), st.booleans())
def test_blocks_of_one_item_give_the_bits_of_one_block(data, weighted):
    laws.check_blocks(statistics, named(data), MEASURES, weighted)


@given(items(), st.sets(st.integers(0, 6)))
def test_an_item_of_weight_two_is_the_item_twice(data, chosen):
    laws.check_double(statistics, named(data), UNORDERED, chosen)


@given(items())
def test_the_mean_over_items_is_the_value(data):
    seen = set()
    for score in laws.scores(statistics(named(data), MEASURES), MEASURES):
        if score.items is None or score.measure["average"] == "micro":
            continue
        seen.add(score.measure.definition.name)
        assert score.items.shape == (score.n,)
        number = sum(score.undefined.values())
        assert number == np.isnan(score.items).sum()
        policies = {score.measure[cause] for cause in score.undefined}
        if policies <= {"skip"}:
            defined = score.items[~np.isnan(score.items)]
            expected = defined.mean() if len(defined) else np.nan
        elif policies <= {"1"}:
            expected = np.nan_to_num(score.items, nan=1.0).mean()
        elif policies <= {"0"}:
            expected = np.nan_to_num(score.items, nan=0.0).mean()
        else:
            continue
        assert score.value == pytest.approx(expected, abs=1e-12, nan_ok=True), (
            score.measure
        )
    assert seen == {
        m.definition.name for m in MEASURES if m["average"] in ("example", None)
    }
