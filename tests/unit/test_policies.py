"""Undefined values: every policy for every cause, compared with plain Python."""

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
CLASSES = ["a", "b", "c", "d"]
SETS = st.sets(st.sampled_from(CLASSES))
WEIGHTS = st.sampled_from([0.0, 0.5, 2.0])


@given(
    items=st.lists(st.tuples(SETS, SETS, WEIGHTS), min_size=1, max_size=6),
    name=st.sampled_from(["Precision", "Recall", "F1", "Jaccard"]),
    average=st.sampled_from(["example", "macro", "micro", "weighted"]),
    labels=st.sampled_from(["reference", "union", "given"]),
    chosen=st.tuples(st.sampled_from(POLICIES), st.sampled_from(POLICIES)),
)
def test_values_under_any_policy_equal_the_oracle(items, name, average, labels, chosen):
    items = [*items, ({"a"}, {"b"}, 0.25)]
    preds, refs, weights = zip(*items, strict=True)
    empty = "absent" if average in ("macro", "weighted") else "empty"
    policies = {empty: chosen[0]}
    if name in CAUSES:
        policies[CAUSES[name]] = chosen[1]
    universe = {} if average == "example" else {"labels": labels}
    measure = find(name)[0](average=average, **policies, **universe)

    (score,) = semmetrics.score(
        [sorted(pred) for pred in preds],
        [sorted(ref) for ref in refs],
        measures=[measure],
        classes=CLASSES,
        weights=weights,
    )

    # An item of weight 0 does not count.
    preds, refs, weights = zip(*[item for item in items if item[2]], strict=True)
    among = CLASSES if labels == "given" else labels
    expected = oracle.score(
        name, preds, refs, average=average, labels=among, weights=weights, **policies
    )
    assert score.value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("policy", "value"), [("nan", np.nan), ("0", 0.25), ("1", 0.75), ("skip", 0.5)]
)
@pytest.mark.parametrize(
    ("cause", "pred", "ref"),
    [
        ("empty", [], []),
        ("no_prediction", [], ["a"]),
        ("no_reference", ["a"], []),
        ("undefined", ["a"], ["a", "b"]),
    ],
)
def test_a_policy_replaces_values_of_its_cause(cause, pred, ref, policy, value):
    @semmetrics.measure(name="HalfOrNothing")
    def half(hit, n_pred, n_ref):
        """Give a half to exact answers, and nothing to others."""
        return np.where((n_pred == 1) & (n_ref == 1), 0.5, np.nan)

    measure = half(**{cause: policy})
    (score,) = semmetrics.score([["a"], pred], [["a"], ref], measures=[measure])
    forget(half)

    assert score.value == pytest.approx(value, nan_ok=True)
    assert score.undefined == {cause: 1}
    assert np.isnan(score.items[1])


@pytest.mark.parametrize(
    "measure",
    [
        "LRAP(undefined=0)",
        "CoverageError(undefined=nan)",
        "F1(no_prediction=1)",
        "CardinalityError(empty=skip)",
        "WMD(undefined=0)",
        "HammingLoss(average=macro,absent=1)",
        "hF(no_reference=skip)",
        "SoftF1(undefined=1)",
    ],
)
def test_a_policy_for_a_cause_that_cannot_occur_is_an_error(measure):
    with refused("bad-choice"):
        parse_all([measure], "labels")


@pytest.mark.parametrize("classes", [None, ["x"]])
def test_hamming_loss_of_empty_lists_is_0(classes):
    table = semmetrics.score([[]], [[]], measures="HammingLoss", classes=classes)

    assert table[0].value == 0


# ---- every policy of every measure --------------------------------------------------

# Every cause of an undefined value occurs in some of these groups of items.
HALF_RIGHT = (["a", "b"], ["a"])
GROUPS = [
    [([], []), ([], ["a"]), (["b"], []), HALF_RIGHT, (["c"], ["a"])],
    [([], [])],
    [(["b"], [])],
    [([], ["a", "b", "c", "z"])],
    [HALF_RIGHT, ([], [])],
    [HALF_RIGHT, ([], ["a"])],
    [HALF_RIGHT, (["b"], [])],
    [HALF_RIGHT, (["a"], ["a", "b", "c", "z"])],
    [HALF_RIGHT, (["c"], ["z"])],
]
TREE = {"a": "top", "b": "top", "z": "top", "c": "other"}
OPTIONS = {"q": 4, "beta": 2.0, "unconnected": "skip"}


def list_policies():
    """Return each measure of labels with each of its averages and policies."""
    cases = []
    for definition in all_definitions("labels"):
        if definition.name == "BagSim":
            continue  # is undefined only for unknown words
        for average in definition.averages or (None,):
            for option in definition.options:
                if tuple(option.choices) == POLICIES and option.applies(average):
                    name = f"{definition.name}-{average}-{option.name}"
                    cases.append(
                        pytest.param(definition, average, option.name, id=name)
                    )
    return cases


def value_or_error(measure, group, classes):
    preds, refs = zip(*group, strict=True)
    if "scores" in measure.definition.needs:
        preds = [[(label, 0.9) for label in pred] for pred in preds]
    options = {"taxonomy": TREE} if "taxonomy" in measure.definition.needs else {}
    try:
        return semmetrics.score(
            preds, refs, measures=[measure], classes=classes, **options
        )[0].value
    except semmetrics.InputError as error:
        return error.code


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("definition", "average", "option"), list_policies())
def test_every_policy_has_an_effect(definition, average, option):
    names = {option.name for option in definition.options}
    options = {name: value for name, value in OPTIONS.items() if name in names}
    if average is not None:
        options["average"] = average

    values = {}
    for policy in POLICIES:
        measure = definition(**{**options, option: policy})
        values[policy] = []
        for group in GROUPS:
            for classes in (None, ["a", "b", "c", "z"]):
                values[policy].append(str(value_or_error(measure, group, classes)))

    for policy, other in combinations(POLICIES, 2):
        if (policy, other) != ("nan", "skip"):  # both leave a mean of nothing undefined
            assert values[policy] != values[other]


# ---- C-F1 ---------------------------------------------------------------------------

PREDS = [["a"], ["b"]]
REFS = [["a"], ["a"]]


def score_c_f1(measure):
    return semmetrics.score(PREDS, REFS, measures=measure, classes=["a", "b", "c"])[0]


@pytest.mark.parametrize(
    ("policy", "value"), [("1", (2 / 3 + 0 + 1) / 3), ("0", 2 / 9), ("skip", 1 / 3)]
)
def test_c_f1_applies_a_policy_to_absent_classes(policy, value):
    assert score_c_f1(f"C-F1(absent={policy})").value == pytest.approx(value, abs=1e-6)


def test_signatures_of_version_0_1_0_name_a_policy_that_was_not_applied():
    score = score_c_f1("C-F1")
    signature = score.signature.replace("absent:1", "absent:skip")
    version = signature.rpartition("|v:")[2]

    def rescore(signature):
        return semmetrics.rescore(signature, PREDS, REFS, classes=["a", "b", "c"])

    old = rescore(signature.replace(version, "0.1.0"))
    assert old[0].value == score.value
    assert not any("absent" in line for line in old.differences)
    assert rescore(signature)[0].value == pytest.approx(1 / 3, abs=1e-6)
