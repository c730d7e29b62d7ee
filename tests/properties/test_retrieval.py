"""Properties of all measures of retrieval, and their values against the oracle."""

import math
from functools import reduce
from operator import add

import laws
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import retrieval as oracle
from scipy.sparse import csr_array

import semmetrics
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.families import Derived
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.scoring.evaluate import evaluate

KS = (1, 2, 5)
NAMES = ["MeanR(no_reference=skip)", "MedR", "R-Precision", "mAP@R", "PMRP"]
for name in ("Recall", "Precision", "HitRate", "MRR", "MAP"):
    NAMES += [f"{name}@{k}" for k in KS]
MEASURES = parse_all(NAMES, "retrieval")


@st.composite
def cases(draw, *, ties=True):
    """Draw similarities, by default with ties, and the positives of each query, perhaps none."""
    n = draw(st.integers(1, 7))
    width = draw(st.integers(1, 9))
    levels = st.integers(-3, 3).map(float) if ties else st.floats(-1e6, 1e6, width=32)
    row = st.lists(levels, min_size=width, max_size=width)
    similarity = draw(st.lists(row, min_size=n, max_size=n))
    columns = st.sets(st.integers(0, width - 1), max_size=width)
    positives = draw(st.lists(columns, min_size=n, max_size=n))
    return np.array(similarity, np.float32), positives


def number(prefix, n):
    return [f"{prefix}{place}" for place in range(n)]


def make_task(similarity, positives, **options):
    """Join the similarities with the positives of each query."""
    kind = find_kind("retrieval")
    resolved = kind.read_side_inputs(resolve_options(options, "retrieval"))
    queries = number("q", len(positives))
    by_query = dict(zip(queries, map(sorted, positives), strict=True))
    truth = kind.read(by_query, "gts", resolved)
    resolved = resolved.replace(queries=queries)
    systems = {"one": kind.read(similarity, "one", resolved)}
    (task,) = kind.join(systems, truth, resolved)["one"].values()
    return task


def evaluate_case(*case, **options):
    return evaluate(make_task(*case, **options), MEASURES)


# ---- values against the oracle ------------------------------------------------------------------


def in_form(form, similarity):
    """Return similarities of queries in a form that ``score`` reads."""
    if form == "float16":
        return similarity.astype(np.float16)
    if form == "sparse":
        return csr_array(similarity + 10)  # zeros would not be stored and not be ranked
    if form == "mappings":
        names = number("", similarity.shape[1])
        rows = {}
        for query, row in enumerate(similarity.tolist()):
            rows[f"q{query}"] = dict(zip(names, row, strict=True))
        return rows
    return similarity


def score_columns(similarity, positives, ties):
    """Score the queries as the columns of a matrix."""
    queries = number("q", len(positives))
    gallery = number("", similarity.shape[1])
    queries_of_item = {}
    for column, item in enumerate(gallery):
        rows = [row for row, columns in enumerate(positives) if column in columns]
        queries_of_item[item] = [queries[row] for row in rows]
    return semmetrics.score(
        np.ascontiguousarray(similarity.T),
        queries_of_item,
        measures=MEASURES,
        task="retrieval",
        direction="t2i",
        ties=ties,
        queries=gallery,
        gallery=queries,
    )


def expected_items(measure, similarity, positives, ties):
    """Return the value of each query by the oracle."""
    name = measure.definition.name
    name = {"PMRP": "R-Precision", "MedR": "MeanR"}.get(name, name)
    values = []
    for row, columns in zip(similarity.tolist(), positives, strict=True):
        ranking = oracle.ranking(row, columns, ties)
        values.append(oracle.values(ranking, columns, measure.k or 1)[name])
    return values


@pytest.mark.parametrize("ties", ["position", "optimistic", "pessimistic"])
@pytest.mark.parametrize("form", ["rows", "columns", "mappings", "sparse", "float16"])
@given(data=cases())
def test_every_item_and_mean_equals_the_oracle(form, ties, data):
    similarity, positives = data

    if form == "columns":
        scores = score_columns(similarity, positives, ties)
    else:
        gallery = number("", similarity.shape[1])
        preds = in_form(form, similarity)
        evaluated = evaluate_case(preds, positives, ties=ties, gallery=gallery)
        scores = laws.scores(evaluated, MEASURES)

    for score in scores:
        expected = expected_items(score.measure, similarity, positives, ties)
        np.testing.assert_allclose(score.items, expected, rtol=1e-12)
        defined = [value for value in expected if not math.isnan(value)]
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        if score.measure.definition.name == "MedR":
            mean = oracle.median_rank(defined)
        assert score.value == pytest.approx(mean, rel=1e-12, nan_ok=True), score.measure


# ---- properties ---------------------------------------------------------------------------------


def test_every_definition_of_retrieval_is_covered():
    """test_graded_retrieval.py has the measures with a phi."""
    definitions = set()
    for definition in all_definitions("retrieval"):
        if not isinstance(definition.family, Derived) and "phi" not in definition.needs:
            definitions.add(definition.name)

    assert {measure.definition.name for measure in MEASURES} == definitions


@given(data=cases())
def test_values_are_within_the_bounds(data):
    laws.check_bounds(evaluate_case(*data), MEASURES)


@given(data=cases(), size=st.integers(1, 6))
def test_merged_parts_have_the_bits_of_the_whole(data, size):
    task = make_task(*data)
    parts = []
    for start in range(0, len(task), size):
        rows = np.arange(start, min(start + size, len(task)))
        parts.append(evaluate(task.take(rows), MEASURES))

    merged = reduce(add, reversed(parts))

    assert laws.bits(merged, MEASURES) == laws.bits(evaluate(task, MEASURES), MEASURES)


@given(data=cases(ties=False), random=st.randoms(use_true_random=False))
def test_the_order_of_queries_and_gallery_changes_nothing(data, random):
    similarity, positives = data
    n, width = similarity.shape
    # Ranks instead of similarities, so that nothing is tied.
    ranks = np.argsort(np.argsort(similarity, axis=1), axis=1).astype(np.float32)
    queries = np.array(number("q", n))
    gallery = np.array(number("g", width))
    truth = {}
    for query, columns in zip(queries, positives, strict=True):
        truth[query] = gallery[sorted(columns)].tolist()

    def score(rows, columns):
        return semmetrics.score(
            ranks[rows][:, columns],
            truth,
            task="retrieval",
            measures=MEASURES,
            queries=queries[rows].tolist(),
            gallery=gallery[columns].tolist(),
        ).to_dict()

    rows = random.sample(range(n), n)
    columns = random.sample(range(width), width)
    expected = score(np.arange(n), np.arange(width))
    assert score(rows, columns) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(data=cases())
def test_optimistic_ties_are_best_and_pessimistic_ties_worst(data):
    values = {}
    for ties in ("pessimistic", "position", "optimistic"):
        values[ties] = laws.values(evaluate_case(*data, ties=ties), MEASURES)

    for measure in MEASURES:
        sign = 1 if measure.definition.higher_is_better else -1
        worst, middle, best = (sign * value[str(measure)] for value in values.values())
        if math.isnan(worst):
            assert math.isnan(middle)
            assert math.isnan(best)
        else:
            assert worst <= middle + 1e-12
            assert middle <= best + 1e-12
