"""Undefined values: each policy for each cause against plain Python, and how they are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics.metrics.registry import find, forget

POLICIES = ("nan", "0", "1", "skip")
CAUSES = {"Precision": "no_prediction", "Recall": "no_reference"}
CLASSES = list("abcd")
SETS = st.lists(st.tuples(st.sets(st.sampled_from(CLASSES)), st.sets(st.sampled_from(CLASSES))),
                min_size=1, max_size=6)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    data=SETS,
    name=st.sampled_from(["Precision", "Recall", "F1", "Jaccard"]),
    average=st.sampled_from(["example", "macro", "micro", "weighted"]),
    labels=st.sampled_from(["reference", "union", "given"]),
    chosen=st.tuples(*[st.sampled_from(POLICIES)] * 2),
    weights=st.none() | st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=6, max_size=6),
)
def test_every_policy_for_every_cause(data, name, average, labels, chosen, weights):
    nothing = "absent" if average in ("macro", "weighted") else "empty"
    policies = {nothing: chosen[0]}
    if name in CAUSES:
        policies[CAUSES[name]] = chosen[1]
    weights = None if weights is None else [w or 0.25 * (i == 0) for i, w in enumerate(weights)]
    weights = weights and weights[: len(data)]
    universe = {} if average == "example" else {"labels": labels}
    preds, refs = zip(*data, strict=True)
    found = semmetrics.score(
        [sorted(p) for p in preds],
        [sorted(r) for r in refs],
        measures=[find(name)[0](average=average, **policies, **universe)],
        classes=CLASSES,
        weights=weights,
    ).scores[0]
    if weights is not None:  # items of weight 0 are as if they were not there
        kept = [item for item in zip(preds, refs, weights, strict=True) if item[2]]
        preds, refs, weights = zip(*kept, strict=True)
    expected = oracle.score(
        name,
        preds,
        refs,
        average=average,
        labels=CLASSES if labels == "given" else labels,
        weights=weights,
        **policies,
    )
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("policy", "expected"), [("nan", np.nan), ("0", 0.25), ("1", 0.75), ("skip", 0.5)]
)
@pytest.mark.parametrize("cause", ["empty", "no_prediction", "no_reference", "undefined"])
def test_a_policy_acts_on_its_cause_alone(cause, policy, expected):
    preds = {"empty": [], "no_prediction": [], "no_reference": ["a"], "undefined": ["a"]}[cause]
    refs = {"empty": [], "no_prediction": ["a"], "no_reference": [], "undefined": ["a", "b"]}[cause]

    @semmetrics.measure(name="HalfOrNothing")
    def half(hit, n_pred, n_ref):
        """Give a half to exact answers, nothing to others."""
        return np.where((n_pred == 1) & (n_ref == 1), 0.5, np.nan)

    try:
        measure = half(**{cause: policy})
        found = semmetrics.score([["a"], preds], [["a"], refs], measures=[measure]).scores[0]
    finally:
        forget(half)
    assert found.value == pytest.approx(expected, nan_ok=True)
    assert found.undefined == {cause: 1}
    assert np.isnan(found.items[1])


@pytest.mark.parametrize(("policy", "value"), [("0", 1 / 3), ("1", 2 / 3), ("skip", 0.5)])
def test_the_policy_of_empty_items_acts_on_subset_accuracy(policy, value):
    preds, refs = [["a"], ["a"], []], [["a"], ["b"], []]
    (chosen,) = semmetrics.score(preds, refs, measures=f"SubsetAccuracy(empty={policy})")
    usual, strict = semmetrics.score(
        preds, refs, measures="SubsetAccuracy SubsetAccuracy(empty=nan)"
    )
    assert (usual.value, chosen.value) == pytest.approx((2 / 3, value))
    assert np.isnan(strict.value)
    assert usual.undefined == chosen.undefined == {"empty": 1}


@pytest.mark.parametrize(
    "text",
    ["LRAP(undefined=0)", "CoverageError(undefined=nan)", "F1(no_prediction=1)", "F1(undefined=0)",
     "Precision(no_reference=1)", "CardinalityError(empty=skip)", "WMD(undefined=0)",
     "HammingLoss(average=macro,absent=1)", "hF(no_reference=skip)", "SoftF1(undefined=1)"],
)  # fmt: skip
def test_a_policy_that_cannot_act_is_refused(text):
    with refused("bad-choice"):
        semmetrics.parse(text)


@pytest.mark.parametrize("name", ["Precision", "Recall", "F1", "Jaccard"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_weighted_average_without_references_is_the_macro_average(name, policy):
    options = {"absent": policy} | ({CAUSES[name]: policy} if name in CAUSES else {})
    macro, weighted = semmetrics.score(
        [["a", "b"], ["c"]],
        [[], []],
        measures=[find(name)[0](average=a, **options) for a in ("macro", "weighted")],
        classes=CLASSES,
    )
    assert weighted.value == pytest.approx(macro.value, nan_ok=True)
    if policy in ("0", "1"):  # d is absent, and without references Recall follows the policy
        number = float(policy)
        assert weighted.value == pytest.approx(number if name == "Recall" else number / 4)


def test_a_weighted_mean_of_average_precisions_without_positives_follows_the_policy():
    measures = [f"mAP(average=weighted,no_reference={policy})" for policy in POLICIES]
    scores = np.array([[0.9, 0.2], [0.1, 0.3]])
    found = semmetrics.score(scores, [[], []], measures=measures, classes=["a", "b"])
    assert [one.value for one in found] == pytest.approx([np.nan, 0, 1, np.nan], nan_ok=True)


def test_undefined_items_are_counted_whatever_their_weight():
    preds, refs = [["a"], [], [], []], [["a"], [], [], ["b"]]
    for weights in (None, [1, 0.3, 0.3, 0.3], [1, 0.1, 5, 7]):
        table = semmetrics.score(preds, refs, measures=["F1", "Precision"], weights=weights)
        assert table["F1"].undefined == {"empty": 2}
        assert table["Precision"].undefined == {"empty": 2, "no_prediction": 1}
    scores = np.array([[0.5, 0.2], [0.1, 0.2]])
    table = semmetrics.score(scores, [["0"], []], measures=["LRAP"], weights=[0.5, 0.5])
    assert table["LRAP"].undefined == {"no_reference": 1}


def test_labels_without_a_value_are_counted_by_cause():
    measures = ["Precision(average=macro,labels=given)", "Recall(average=macro,labels=given)"]
    table = semmetrics.score([["a", "b"]], [["a", "c"]], measures=measures, classes=CLASSES)
    assert table[measures[0]].undefined == {"absent": 1, "no_prediction": 1}
    assert table[measures[1]].undefined == {"absent": 1, "no_reference": 1}
    assert semmetrics.score([[]], [["a"]], measures="MicroPrecision").scores[0].undefined == {
        "no_prediction": 1
    }


def test_classes_without_positives_have_a_policy():
    scores = np.array([[0.9, 0.2], [0.1, 0.3]])
    found = {
        policy: semmetrics.score(
            scores,
            [["a"], []],
            measures=[f"mAP(labels=given,no_reference={policy})"],
            classes=["a", "b"],
        ).scores[0]
        for policy in POLICIES
    }
    assert [found[p].value for p in ("0", "1", "skip")] == [0.5, 1.0, 1.0]
    assert np.isnan(found["nan"].value)
    assert all(score.undefined == {"no_reference": 1} for score in found.values())
    assert found["0"].per_label["support"].tolist() == [1, 0]
    assert np.isnan(found["0"].per_label["value"][1])


@pytest.mark.parametrize(
    ("normalize", "causes"),
    [
        ("hits", ["empty", "no_prediction", "no_reference"]),
        ("references", ["empty", "no_reference"]),
    ],
)
def test_average_precision_is_undefined_without_labels(normalize, causes):
    preds, refs = [["x", "a"], ["x"], [], [], ["a"]], [["a", "b"], ["a"], [], ["a"], []]
    score = semmetrics.score(preds, refs, measures=[f"AP(normalize={normalize})"]).scores[0]
    assert score.undefined == dict.fromkeys(causes, 1)
    first = 0.5 if normalize == "hits" else 0.25
    assert np.nan_to_num(score.items, nan=-1).tolist()[:3] == [first, 0.0, -1]
    assert score.value == pytest.approx((first + 0 + 1 + 0 + 0) / 5)
