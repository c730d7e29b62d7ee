"""Properties of all measures of classes, and their values against the oracle."""

from dataclasses import replace
from functools import reduce
from operator import add

import laws
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import classes as oracle
from scipy.sparse import csr_array

import semmetrics
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.classes import per_class_accuracy
from semmetrics.metrics.families import Derived
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.metrics.stacking import ausuc, seen_unseen_curve
from semmetrics.scoring.evaluate import evaluate


def list_measures():
    names = ["AUSUC", "BestH"]
    for name in ("PerClassAccuracy", "Accuracy"):
        for labels in ("auto", "seen", "unseen"):
            for candidates in ("all", "seen", "unseen"):
                options = f"labels={labels},candidates={candidates}"
                names += [f"{name}({options})@{k}" for k in (1, 2, 4)]
    return parse_all(names, "classes")


MEASURES = list_measures()


@st.composite
def cases(draw, *, ties=True):
    """Draw scores, by default with ties, the class of each image, and the number of seen classes."""
    n = draw(st.integers(1, 8))
    width = draw(st.integers(2, 6))
    # Differences of eighths, and the middle of two differences, are exact in float32.
    levels = st.integers(-3, 3) if ties else st.integers(-(2**20), 2**20)
    row = st.lists(levels, min_size=width, max_size=width)
    scores = draw(st.lists(row, min_size=n, max_size=n))
    truth = draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n))
    n_seen = draw(st.integers(1, width - 1))
    return np.array(scores, np.float32) / 8, truth, n_seen


def options_of(width, n_seen):
    names = [f"c{column}" for column in range(width)]
    return {"classes": names, "seen": names[:n_seen], "unseen": names[n_seen:]}


def make_task(scores, truth, n_seen, **options):
    """Join the scores of each image, as a mapping by class, with its class."""
    kind = find_kind("classes")
    class_options = options_of(scores.shape[1], n_seen)
    resolved = resolve_options({**class_options, **options}, "classes")
    resolved = kind.read_side_inputs(resolved)
    names = class_options["classes"]
    preds = {}
    gts = {}
    for image, (row, label) in enumerate(zip(scores.tolist(), truth, strict=True)):
        preds[f"i{image}"] = dict(zip(names, row, strict=True))
        gts[f"i{image}"] = names[label]
    systems = {"one": kind.read(preds, "one", resolved)}
    joined = kind.join(systems, kind.read(gts, "gts", resolved), resolved)
    return kind.prepare(joined, MEASURES, resolved)["one"][""]


def evaluate_case(*case, **options):
    return evaluate(make_task(*case, **options), MEASURES)


# ---- values against the oracle ------------------------------------------------------------------


def expected_value(measure, scores, truth, n_seen, ties):
    table = scores.tolist()
    everything = range(scores.shape[1])
    seen = range(n_seen)
    unseen = range(n_seen, scores.shape[1])
    if measure.definition.name == "AUSUC":
        return oracle.area(oracle.curve(table, truth, seen, unseen, ties))
    if measure.definition.name == "BestH":
        points = oracle.curve(table, truth, seen, unseen, ties)
        return max(oracle.harmonic(*point) for point in points)
    lists = {"auto": everything, "all": everything, "seen": seen, "unseen": unseen}
    candidates = lists[measure["candidates"]]
    hits = oracle.hits(table, truth, candidates, measure.k, ties)
    labels = lists[measure["labels"]]
    if measure.definition.name == "Accuracy":
        return oracle.by_image(hits, truth, labels)
    return oracle.per_class(hits, truth, labels)


@pytest.mark.parametrize("ties", ["position", "optimistic", "pessimistic"])
@pytest.mark.parametrize("form", ["array", "float16", "sparse", "mappings"])
@given(data=cases())
def test_every_value_equals_the_oracle(form, ties, data):
    scores, truth, n_seen = data

    if form == "mappings":
        results = laws.scores(evaluate_case(*data, ties=ties), MEASURES)
    else:
        arrays = {
            "array": scores,
            "float16": scores.astype(np.float16),
            "sparse": csr_array(scores + 10),  # zeros would not be stored
        }
        options = options_of(scores.shape[1], n_seen)
        results = semmetrics.score(
            arrays[form], truth, measures=MEASURES, ties=ties, **options
        )

    for score in results:
        expected = expected_value(score.measure, scores, truth, n_seen, ties)
        assert score.value == pytest.approx(expected, 1e-12, 1e-12, nan_ok=True), score


@pytest.mark.parametrize("k", [1, 2, 4])
@given(data=cases())
def test_per_class_accuracy_of_arrays_equals_the_oracle(k, data):
    scores, truth, _ = data
    classes = range(scores.shape[1])

    accuracy = per_class_accuracy(scores, truth, k=k)

    hits = oracle.hits(scores.tolist(), truth, classes, k)
    expected = oracle.per_class(hits, truth, classes)
    assert accuracy == pytest.approx(expected, rel=1e-12)


@given(data=cases())
def test_the_seen_unseen_curve_equals_the_oracle(data):
    scores, truth, n_seen = data
    seen = np.arange(n_seen)
    unseen = np.arange(n_seen, scores.shape[1])

    curve = seen_unseen_curve(scores, truth, seen=seen, unseen=unseen)
    area = ausuc(scores, truth, seen=seen, unseen=unseen)

    expected = oracle.curve(scores.tolist(), truth, seen, unseen)
    points = np.stack([curve.unseen, curve.seen], axis=1)
    assert distinct_points(points) == distinct_points(expected)
    expected_area = oracle.area(expected)
    assert area == pytest.approx(expected_area, rel=1e-12, abs=1e-12, nan_ok=True)


def distinct_points(points):
    """Return the points without repetitions, in their order, as strings, so that nan is equal."""
    return list(dict.fromkeys(map(repr, np.round(points, 12).tolist())))


# ---- properties ---------------------------------------------------------------------------------


def test_every_definition_of_classes_is_covered():
    definitions = set()
    for definition in all_definitions("classes"):
        if not isinstance(definition.family, Derived):
            definitions.add(definition.name)

    assert {measure.definition.name for measure in MEASURES} == definitions


@given(data=cases())
def test_values_are_within_the_bounds(data):
    laws.check_bounds(evaluate_case(*data), MEASURES)


@given(data=cases(), seed=st.integers(0, 99))
def test_merged_halves_in_any_order_have_the_bits_of_the_whole(data, seed):
    task = make_task(*data)
    order = np.random.default_rng(seed).permutation(len(task))
    halves = []
    for rows in np.array_split(order, 2):
        if len(rows):
            halves.append(evaluate(task.take(np.sort(rows)), MEASURES))

    merged = reduce(add, halves)

    assert laws.bits(merged, MEASURES) == laws.bits(evaluate(task, MEASURES), MEASURES)


@given(data=cases(ties=False))
def test_weights_are_copies_of_images(data):
    scores, truth, n_seen = data
    counts = np.random.default_rng(len(truth)).integers(0, 3, len(truth))
    assume(counts.any())

    weighted = replace(make_task(*data), weights=counts.astype(np.float64))

    copied_truth = np.repeat(truth, counts).tolist()
    copies = make_task(np.repeat(scores, counts, axis=0), copied_truth, n_seen)
    values = laws.values(evaluate(copies, MEASURES), MEASURES)
    expected = laws.values(evaluate(weighted, MEASURES), MEASURES)
    assert values == pytest.approx(expected, rel=1e-12, nan_ok=True)


@given(data=cases(), factor=st.sampled_from([0.5, 2.0, 8.0]), shift=st.integers(-4, 4))
def test_scale_and_shift_of_scores_change_nothing(data, factor, shift):
    scores, truth, n_seen = data

    changed = evaluate_case(scores * factor + shift, truth, n_seen)

    expected = laws.values(evaluate_case(*data), MEASURES)
    assert repr(laws.values(changed, MEASURES)) == repr(expected)
