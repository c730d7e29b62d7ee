"""Undefined values: each policy for each cause against plain Python, and how they are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics.metrics.registry import find, forget, parse_all

POLICIES = ("nan", "0", "1", "skip")
CAUSES = {"Precision": "no_prediction", "Recall": "no_reference"}
CLASSES = list("abcd")
SETS = st.lists(st.tuples(st.sets(st.sampled_from(CLASSES)), st.sets(st.sampled_from(CLASSES))),
                min_size=1, max_size=6)  # fmt: skip


@given(
    data=SETS,
    name=st.sampled_from(["Precision", "Recall", "F1", "Jaccard"]),
    average=st.sampled_from(["example", "macro", "micro", "weighted"]),
    labels=st.sampled_from(["reference", "union", "given"]),
    chosen=st.tuples(*[st.sampled_from(POLICIES)] * 2),
    weights=st.none() | st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=6, max_size=6),
)
def test_every_policy_for_every_cause(data, name, average, labels, chosen, weights):
    policies = {"absent" if average in ("macro", "weighted") else "empty": chosen[0]}
    if name in CAUSES:
        policies[CAUSES[name]] = chosen[1]
    if weights is not None:
        weights = [w or 0.25 * (i == 0) for i, w in enumerate(weights)][: len(data)]
    universe = {} if average == "example" else {"labels": labels}
    measure = find(name)[0](average=average, **policies, **universe)
    preds, refs = zip(*data, strict=True)
    sides = ([sorted(one) for one in side] for side in (preds, refs))
    (found,) = semmetrics.score(*sides, measures=[measure], classes=CLASSES, weights=weights)
    if weights is not None:  # items of weight 0 are as if they were not there
        kept = [item for item in zip(preds, refs, weights, strict=True) if item[2]]
        preds, refs, weights = zip(*kept, strict=True)
    among = CLASSES if labels == "given" else labels
    expected = oracle.score(name, preds, refs, average=average, labels=among, weights=weights,
                            **policies)  # fmt: skip
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


@pytest.mark.parametrize("text", [
    "LRAP(undefined=0)", "CoverageError(undefined=nan)", "F1(no_prediction=1)", "F1(undefined=0)",
    "Precision(no_reference=1)", "CardinalityError(empty=skip)", "WMD(undefined=0)",
    "HammingLoss(average=macro,absent=1)", "hF(no_reference=skip)", "SoftF1(undefined=1)",
])  # fmt: skip
def test_a_policy_that_cannot_act_is_refused(text):
    with refused("bad-choice"):
        parse_all([text], "labels")


def test_nothing_predicted_of_nothing_is_no_loss():
    assert semmetrics.score([[]], [[]], measures="HammingLoss")[0].value == 0
    assert semmetrics.score([[]], [[]], measures="HammingLoss", classes=["x"])[0].value == 0
