"""What holds for every measure of classes, each held to the oracle and to its traits."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import classes as oracle

import semmetrics
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.classes import per_class_accuracy
from semmetrics.metrics.families import Derived
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.metrics.stacking import ausuc, seen_unseen_curve
from semmetrics.scoring.evaluate import evaluate

TIES = ("position", "optimistic", "pessimistic")
KS = (1, 2, 4)
LISTS = ("auto", "seen", "unseen")
TEXTS = [
    f"{name}(labels={labels},candidates={among})@{k}"
    for name in ("PerClassAccuracy", "Accuracy")
    for labels in LISTS
    for among in ("all", *LISTS[1:])
    for k in KS
]
MEASURES = parse_all([*TEXTS, "AUSUC", "BestH"], "classes")


@st.composite
def cases(draw, *, ties=True):
    """Scores with many ties, the class of each image, and how many classes are seen."""
    n, c = draw(st.integers(1, 8)), draw(st.integers(2, 6))
    # eighths: a difference of two of them, and the middle of two differences, is exact
    levels = st.integers(-3, 3) if ties else st.integers(-(2**20), 2**20)
    line = st.lists(levels, min_size=c, max_size=c)
    table = draw(st.lists(line, min_size=n, max_size=n))
    truth = draw(st.lists(st.integers(0, c - 1), min_size=n, max_size=n))
    return np.array(table, np.float32) / 8, truth, draw(st.integers(1, c - 1))


def options_of(width, number, **more):
    names = [f"c{j}" for j in range(width)]
    return {"classes": names, "seen": names[:number], "unseen": names[number:], **more}


def make_task(table, truth, number, measures=MEASURES, **more):
    kind = find_kind("classes")
    options = kind.read_side_inputs(
        resolve_options(options_of(np.shape(table)[1], number, **more), "classes")
    )
    ids = [f"i{i}" for i in range(len(truth))]
    gts = kind.read(
        {i: f"c{one}" for i, one in zip(ids, truth, strict=True)}, "gts", options
    )
    run = kind.read(as_lists(table, ids), "one", options)
    tasks = kind.prepare(kind.join({"one": run}, gts, options), measures, options)
    return tasks["one"][""]


def as_lists(table, ids):
    return {
        i: {f"c{j}": float(one) for j, one in enumerate(line)}
        for i, line in zip(ids, np.asarray(table), strict=True)
    }


def evaluated(*case, **more):
    return evaluate(make_task(*case, **more), MEASURES)


def expected(measure, table, truth, number, ties):
    width = table.shape[1]
    lists = {
        "auto": range(width),
        "seen": range(number),
        "unseen": range(number, width),
    }
    lists["all"] = lists["auto"]
    if measure.definition.name in ("AUSUC", "BestH"):
        points = oracle.curve(
            table.tolist(), truth, lists["seen"], lists["unseen"], ties
        )
        if measure.definition.name == "AUSUC":
            return oracle.area(points)
        return max(oracle.harmonic(*point) for point in points)
    found = oracle.hits(
        table.tolist(), truth, lists[measure["candidates"]], measure.k, ties
    )
    mean = {"PerClassAccuracy": oracle.per_class, "Accuracy": oracle.by_image}
    return mean[measure.definition.name](found, truth, lists[measure["labels"]])


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("how", ["matrix", "lists", "half", "sparse"])
@given(data=cases())
def test_every_value_equals_the_oracle(how, ties, data):
    table, truth, number = data
    if how == "lists":
        found = laws.scores(evaluated(table, truth, number, ties=ties), MEASURES)
    else:
        values = table.astype(np.float16) if how == "half" else table
        if how == "sparse":
            from scipy.sparse import csr_array

            values = csr_array(table + 10)
        found = semmetrics.score(
            values,
            truth,
            measures=MEASURES,
            **options_of(table.shape[1], number, ties=ties),
        )
    for one in found:
        wanted = expected(one.measure, table, truth, number, ties)
        assert one.value == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True), (
            one.measure
        )


@given(data=cases())
def test_pure_functions_equal_the_oracle(data):
    table, truth, number = data
    width = table.shape[1]
    lists = {"seen": np.arange(number), "unseen": np.arange(number, width)}
    for k in KS:
        found = oracle.hits(table.tolist(), truth, range(width), k)
        wanted = oracle.per_class(found, truth, range(width))
        assert per_class_accuracy(table, truth, k=k) == pytest.approx(wanted, rel=1e-12)
    points = oracle.curve(table.tolist(), truth, *lists.values())
    curve = seen_unseen_curve(table, truth, **lists)
    mine = dict.fromkeys(
        map(repr, np.round(np.stack([curve.unseen, curve.seen], 1), 12).tolist())
    )
    theirs = dict.fromkeys(map(repr, np.round(points, 12).tolist()))
    assert list(mine) == list(theirs)  # the same points in the same order
    wanted = oracle.area(points)
    assert ausuc(table, truth, **lists) == pytest.approx(
        wanted, rel=1e-12, abs=1e-12, nan_ok=True
    )


def test_every_definition_of_classes_is_covered():
    known = {
        d.name for d in all_definitions("classes") if not isinstance(d.family, Derived)
    }
    assert known == {m.definition.name for m in MEASURES}


@given(data=cases())
def test_values_lie_within_the_bounds(data):
    laws.check_bounds(evaluated(*data), MEASURES)


@given(data=cases(), seed=st.integers(0, 99))
def test_parts_and_permutations_give_the_same_bits(data, seed):
    table, truth, number = data
    task = make_task(table, truth, number)
    order = np.random.default_rng(seed).permutation(len(truth))
    halves = [
        task.take(np.sort(some)) for some in np.array_split(order, 2) if len(some)
    ]
    added = reduce(add, (evaluate(half, MEASURES) for half in halves))
    assert laws.bits(added, MEASURES) == laws.bits(evaluate(task, MEASURES), MEASURES)


@given(data=cases(ties=False))
def test_resamples_are_copies_of_images(data):
    table, truth, number = data
    whole = make_task(table, truth, number)
    counts = np.random.default_rng(len(truth)).integers(0, 3, len(truth))
    rows = np.repeat(np.arange(len(truth)), counts)
    if not len(rows):
        return
    weighted = evaluate(replace(whole, weights=counts.astype(np.float64)), MEASURES)
    copies = laws.values(
        evaluated(table[rows], [truth[row] for row in rows], number), MEASURES
    )
    expected = laws.values(weighted, MEASURES)
    assert copies == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(data=cases(), factor=st.sampled_from([0.5, 2.0, 8.0]), shift=st.integers(-4, 4))
def test_scale_and_shift_of_scores_change_nothing(data, factor, shift):
    table, truth, number = data
    one, other = (
        laws.values(evaluated(values, truth, number), MEASURES)
        for values in (table, table * factor + shift)
    )
    assert repr(one) == repr(other)
