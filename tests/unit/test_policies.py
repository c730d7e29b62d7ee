"""Undefined values: each policy for each cause against plain Python, and how they are counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions, find, forget

POLICIES = ("nan", "0", "1", "skip")
CAUSES = {"Precision": "no_prediction", "Recall": "no_reference"}
CLASSES = list("abcd")
SETS = st.lists(
    st.tuples(st.sets(st.sampled_from(CLASSES)), st.sets(st.sampled_from(CLASSES))),
    min_size=1,
    max_size=6,
)


@given(
    data=SETS,
    name=st.sampled_from(["Precision", "Recall", "F1", "Jaccard"]),
    average=st.sampled_from(["example", "macro", "micro", "weighted"]),
    labels=st.sampled_from(["reference", "union", "given"]),
    chosen=st.tuples(*[st.sampled_from(POLICIES)] * 2),
    weights=st.none()
    | st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=6, max_size=6),
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
    (found,) = semmetrics.score(
        *sides, measures=[measure], classes=CLASSES, weights=weights
    )
    if weights is not None:  # items of weight 0 are as if they were not there
        kept = [item for item in zip(preds, refs, weights, strict=True) if item[2]]
        preds, refs, weights = zip(*kept, strict=True)
    among = CLASSES if labels == "given" else labels
    expected = oracle.score(
        name, preds, refs, average=average, labels=among, weights=weights, **policies
    )
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("policy", "expected"), [("nan", np.nan), ("0", 0.25), ("1", 0.75), ("skip", 0.5)]
)
@pytest.mark.parametrize(
    "cause", ["empty", "no_prediction", "no_reference", "undefined"]
)
def test_a_policy_acts_on_its_cause_alone(cause, policy, expected):
    preds = {
        "empty": [],
        "no_prediction": [],
        "no_reference": ["a"],
        "undefined": ["a"],
    }[cause]
    refs = {
        "empty": [],
        "no_prediction": ["a"],
        "no_reference": [],
        "undefined": ["a", "b"],
    }[cause]

    @semmetrics.measure(name="HalfOrNothing")
    def half(hit, n_pred, n_ref):
        """Give a half to exact answers, nothing to others."""
        return np.where((n_pred == 1) & (n_ref == 1), 0.5, np.nan)

    try:
        measure = half(**{cause: policy})
        found = semmetrics.score(
            [["a"], preds], [["a"], refs], measures=[measure]
        ).scores[0]
    finally:
        forget(half)
    assert found.value == pytest.approx(expected, nan_ok=True)
    assert found.undefined == {cause: 1}
    assert np.isnan(found.items[1])


@pytest.mark.parametrize(
    "text",
    [
        "LRAP(undefined=0)",
        "CoverageError(undefined=nan)",
        "F1(no_prediction=1)",
        "F1(undefined=0)",
        "Precision(no_reference=1)",
        "CardinalityError(empty=skip)",
        "WMD(undefined=0)",
        "HammingLoss(average=macro,absent=1)",
        "hF(no_reference=skip)",
        "SoftF1(undefined=1)",
    ],
)
def test_a_policy_that_cannot_act_is_refused(text):
    with refused("bad-choice"):
        parse_all([text], "labels")


def test_nothing_predicted_of_nothing_is_no_loss():
    assert semmetrics.score([[]], [[]], measures="HammingLoss")[0].value == 0
    assert (
        semmetrics.score([[]], [[]], measures="HammingLoss", classes=["x"])[0].value
        == 0
    )


ITEMS = {  # predictions and references; every cause is met by some of them
    "empty": ([], []),
    "no prediction": ([], ["a"]),
    "no reference": (["b"], []),
    "half": (["a", "b"], ["a"]),
    "wrong": (["c"], ["a"]),
    "all true": (["a"], ["a", "b", "c", "z"]),
    "all missed": ([], ["a", "b", "c", "z"]),
    "other tree": (["c"], ["z"]),
}
TREE = {"a": "top", "b": "top", "z": "top", "c": "other"}
GROUPS = [
    [*ITEMS],
    ["empty"],
    ["no reference"],
    ["all missed"],
    *(["half", name] for name in ITEMS),
]
REQUIRED = {"q": 4, "beta": 2.0}


def policies_of_labels():
    """Yield each definition of label measures with an average and an option of policies."""
    for definition in all_definitions():
        # needs unknown words
        if definition.kind != "labels" or definition.name == "BagSim":
            continue
        for average in definition.averages or (None,):
            for option in definition.options:
                if tuple(option.choices) == POLICIES and option.applies(average):
                    yield pytest.param(
                        definition,
                        average,
                        option.name,
                        id=f"{definition.name}-{average}-{option.name}",
                    )


def values_under(definition, average, option, policy):
    """Return the value of each group of items, with and without a class list."""
    chosen = {
        name: value
        for name, value in REQUIRED.items()
        if name in [one.name for one in definition.options if one.required]
    }
    if average is not None:
        chosen["average"] = average
    if "unconnected" in [one.name for one in definition.options]:
        chosen["unconnected"] = "skip"
    measure = definition(**chosen, **{option: policy})
    options = {"taxonomy": TREE} if "taxonomy" in definition.needs else {}
    values = []
    for group in GROUPS:
        preds = {name: ITEMS[name][0] for name in group}
        if "scores" in definition.needs:
            preds = {name: dict.fromkeys(row, 0.9) for name, row in preds.items()}
        refs = {name: ITEMS[name][1] for name in group}
        for classes in (
            (None, ["a", "b", "c", "z"]) if len(group) != 2 else (list("abcz"),)
        ):
            if classes is None and chosen.get("labels") == "given":
                continue
            try:
                (score,) = semmetrics.score(
                    preds, refs, measures=[measure], classes=classes, **options
                )
                values.append(score.value)
            except semmetrics.InputError as error:
                values.append(error.code)
    return values


@pytest.mark.parametrize(
    ("definition", "average", "option"), list(policies_of_labels())
)
def test_every_policy_that_can_be_chosen_acts(definition, average, option):
    rows = {
        policy: values_under(definition, average, option, policy) for policy in POLICIES
    }
    for one, other in combinations(POLICIES, 2):
        if {one, other} == {"nan", "skip"}:
            continue  # both leave a mean of nothing undefined
        differ = [
            a != b and not (a != a and b != b)
            for a, b in zip(rows[one], rows[other], strict=True)
        ]
        assert any(differ), (one, other)


def test_class_f1_signs_the_policy_that_it_applies():
    preds, refs = [["a"], ["b"]], [["a"], ["a"]]
    expected = {"1": (2 / 3 + 0 + 1) / 3, "0": 2 / 9, "skip": 1 / 3}
    for policy, value in expected.items():
        (score,) = semmetrics.score(
            preds, refs, measures=f"C-F1(absent={policy})", classes=list("abc")
        )
        assert score.value == pytest.approx(value, abs=1e-6)
    (score,) = semmetrics.score(preds, refs, measures="C-F1", classes=list("abc"))
    assert "|absent:1|" in score.signature
    assert score.undefined["absent"] == 1
    old = score.signature.replace("absent:1", "absent:skip")
    old = old.replace(score.signature.rpartition("|v:")[2], "0.1.0")
    again = semmetrics.rescore(old, preds, refs, classes=list("abc"))
    assert again[0].value == score.value
    assert [line for line in again.differences if "absent" in line] == []
    new = score.signature.replace("absent:1", "absent:skip")
    (skipped,) = semmetrics.rescore(new, preds, refs, classes=list("abc"))
    assert skipped.value == pytest.approx(1 / 3, abs=1e-6)
