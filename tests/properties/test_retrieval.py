"""What holds for every measure of retrieval, each held to the oracle and to its traits."""

from __future__ import annotations

import math
from functools import reduce
from operator import add

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import retrieval as oracle

import semmetrics
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.families import Derived
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.scoring.evaluate import evaluate

KS = (1, 2, 5)
NAMES = ("Recall", "Precision", "HitRate", "MRR", "MAP")
TEXTS = [
    *(f"{name}@{k}" for name in NAMES for k in KS),
    "MeanR(no_reference=skip)",
    "MedR",
    "R-Precision",
    "mAP@R",
    "PMRP",
]
MEASURES = parse_all(TEXTS, "retrieval")


@st.composite
def cases(draw, *, ties=True):
    """Similarities with many ties, and positives of each query, of some none."""
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 9))
    levels = st.integers(-3, 3).map(float) if ties else st.floats(-1e6, 1e6, width=32)
    table = draw(
        st.lists(st.lists(levels, min_size=m, max_size=m), min_size=n, max_size=n)
    )
    sets = st.sets(st.integers(0, m - 1), max_size=m)
    return np.array(table, np.float32), draw(st.lists(sets, min_size=n, max_size=n))


def make_task(table, positives, **options):
    kind = find_kind("retrieval")
    given_ = kind.read_side_inputs(resolve_options(options, "retrieval"))
    truth = kind.read(
        {f"q{i}": sorted(some) for i, some in enumerate(positives)}, "gts", given_
    )
    names = [f"q{i}" for i in range(len(positives))]
    given_ = given_.replace(queries=names)
    (task,) = kind.join({"one": kind.read(table, "one", given_)}, truth, given_)[
        "one"
    ].values()
    return task


def expected(table, positives, ties):
    rows = []
    for line, some in zip(table.tolist(), positives, strict=True):
        ranked = oracle.ranking(line, some, ties)
        rows.append({k: oracle.values(ranked, some, k) for k in KS})
    return rows


@pytest.mark.parametrize("ties", ["position", "optimistic", "pessimistic"])
@pytest.mark.parametrize("how", ["rows", "columns", "lists", "sparse", "half"])
@given(data=cases())
def test_every_item_equals_the_oracle(how, ties, data):
    table, positives = data
    values, options = (
        table,
        {"ties": ties, "gallery": [str(j) for j in range(table.shape[1])]},
    )
    if how == "lists":
        values = {
            f"q{i}": {str(j): float(s) for j, s in enumerate(line)}
            for i, line in enumerate(table)
        }
    elif how == "half":
        values = table.astype(np.float16)
    elif how == "sparse":
        from scipy.sparse import csr_array

        # what a sparse matrix does not hold is not ranked
        values = csr_array(table + 10)
    if how == "columns":
        names = [f"q{i}" for i in range(len(positives))]
        turned = {
            str(j): [names[i] for i, some in enumerate(positives) if j in some]
            for j in range(table.shape[1])
        }
        tab = semmetrics.score(
            np.ascontiguousarray(table.T),
            turned,
            measures=MEASURES,
            direction="t2i",
            ties=ties,
            queries=options["gallery"],
            gallery=names,
            task="retrieval",
        )
        found = list(tab)
    else:
        found = laws.scores(
            evaluate(make_task(values, positives, **options), MEASURES), MEASURES
        )
    rows = expected(table, positives, ties)
    for score in found:
        name, k = score.measure.definition.name, score.measure.k or KS[0]
        plain = {"PMRP": "R-Precision", "MedR": "MeanR"}.get(name, name)
        wanted = [row[k][plain] for row in rows]
        np.testing.assert_allclose(
            score.items, wanted, rtol=1e-12, err_msg=str(score.measure)
        )
        defined = [value for value in wanted if not math.isnan(value)]
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        if name == "MedR":
            mean = oracle.median_rank(defined)
        assert score.value == pytest.approx(mean, rel=1e-12, nan_ok=True), score.measure


def test_every_definition_of_retrieval_is_covered():
    known = [
        d for d in all_definitions("retrieval") if not isinstance(d.family, Derived)
    ]
    # tests/unit/test_graded_retrieval.py
    plain = {d.name for d in known if "phi" not in d.needs}
    assert plain == {m.definition.name for m in MEASURES}


@given(data=cases())
def test_values_lie_within_the_bounds(data):
    laws.check_bounds(evaluate(make_task(*data), MEASURES), MEASURES)


@given(data=cases(), cut=st.integers(1, 6))
def test_merged_parts_are_the_whole(data, cut):
    task = make_task(*data)
    parts = [
        np.arange(start, min(start + cut, len(task)))
        for start in range(0, len(task), cut)
    ]
    merged = reduce(add, (evaluate(task.take(rows), MEASURES) for rows in parts[::-1]))
    assert laws.bits(merged, MEASURES) == laws.bits(evaluate(task, MEASURES), MEASURES)


@given(data=cases(ties=False), order=st.randoms(use_true_random=False))
def test_the_order_of_queries_and_gallery_changes_nothing(data, order):
    table, positives = data
    distinct = np.argsort(np.argsort(table, axis=1, kind="stable"), axis=1).astype(
        np.float32
    )
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    order.shuffle(rows)
    order.shuffle(columns)
    names, gallery = (
        [f"q{i}" for i in range(len(table))],
        [f"g{j}" for j in range(table.shape[1])],
    )
    truth = {names[i]: [gallery[j] for j in some] for i, some in enumerate(positives)}

    def values(values, q, g):
        options = {
            "task": "retrieval",
            "queries": q,
            "gallery": g,
            "measures": MEASURES,
        }
        return semmetrics.score(values, truth, **options).to_dict()

    straight = values(distinct, names, gallery)
    mixed = values(
        distinct[rows][:, columns],
        [names[i] for i in rows],
        [gallery[j] for j in columns],
    )
    assert straight == pytest.approx(mixed, rel=1e-12, nan_ok=True)


@given(data=cases())
def test_rules_of_ties_are_in_order(data):
    table, positives = data
    rules = ("pessimistic", "position", "optimistic")
    tasks = [make_task(table, positives, ties=rule) for rule in rules]
    found = [laws.values(evaluate(task, MEASURES), MEASURES) for task in tasks]
    for measure in MEASURES:
        one, middle, other = (values[str(measure)] for values in found)
        if math.isnan(one):
            assert math.isnan(middle)
            continue
        signed = 1 if measure.definition.higher_is_better else -1
        assert signed * one <= signed * middle + 1e-12
        assert signed * middle <= signed * other + 1e-12
