"""What Python's data model promises holds for every public class, and for all that they return.

The walk begins at what public functions return and goes through attributes and methods without
arguments, so a class that is new is met when something public returns it.
"""

import contextlib
import copy
import dataclasses
import inspect
import json
import pickle
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import metrics
from semmetrics.data.matrix import as_matrix
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.errors import InputError
from semmetrics.options import RESULT_FORMATS
from semmetrics.reports import Result
from semmetrics.text.tokenizers import TOKENIZERS, open_tokenizer

LABELS = {"a": ["cat", "dog"], "b": ["bus"]}
OTHERS = {"a": ["cat"], "b": ["car", "tram"]}
CAPTIONS = {"a": "a cat sleeps", "b": "a red bus"}
REFERENCES = {
    "a": ["a cat is asleep", "a grey cat"],
    "b": ["a bus in the rain", "the red bus"],
}
PRINTED = ("ScoreTable",)  # whose repr is the table
# Public, and equal to nothing but themselves: as every exception, and what grows.
THEMSELVES = {"InputError", "InputWarning", "MissingDependencyError", "Scorer"}


def starts():
    """What public functions and the constructors of public classes return."""
    systems = {"one": LABELS, "two": OTHERS}
    table = semmetrics.score_systems(
        systems, LABELS, measures="F1 MacroF1 SemF1 WMD", ci=True, resamples=20
    )
    captions = semmetrics.score(CAPTIONS, REFERENCES, measures="BLEU-4 CIDEr-D ROUGE-L")
    scored = {"a": {"cat": 0.9, "dog": 0.2}, "b": {"bus": 0.5, "cat": 0.1}}
    records = {
        k: [{"label": n, "score": s} for n, s in v.items()] for k, v in scored.items()
    }
    scores, targets = np.array([[0.9, 0.2], [0.4, 0.6]]), np.array([[1, 0], [1, 1]])
    # all are nan
    yield semmetrics.score({"a": []}, {"a": []}, measures="F1(empty=skip)", ci=True)
    yield from (
        table,
        captions,
        table[:2],
        semmetrics.score(records, LABELS, measures="mAP LRAP"),
    )
    yield _scorer()
    yield semmetrics.rescore(table[0].signature, LABELS, LABELS)
    yield semmetrics.sweep(LABELS, OTHERS, thresholds=[0.3, 0.5])
    yield semmetrics.calibrate_threshold_on_pairs(
        [("car", "automobile", 1), ("car", "tree", 0)]
    )
    yield semmetrics.rank_systems({"VOC": table, "COCO": table}, "F1")
    yield semmetrics.compare(systems, LABELS, measures="F1 MacroF1", resamples=5)
    rated = [{"id": "a", "rating": 3}, {"id": "b", "rating": 1}]
    yield semmetrics.meta(rated, LABELS, OTHERS, measures="F1 Recall", resamples=5)
    selected = semmetrics.select_discrepant(
        {"a": {"1": "a cat"}, "b": {"1": "a dog"}}, 1
    )
    yield selected
    yield semmetrics.rank_competition(selected, {"1": ["a cat"]}, measures="ROUGE-L")
    yield semmetrics.validate(LABELS)
    yield from (semmetrics.as_labels(LABELS), semmetrics.as_captions(REFERENCES))
    yield as_matrix(scores, ["cat", "dog"])
    yield semmetrics.parse("F1(average=macro)@3")
    yield from (
        semmetrics.ReadOptions(),
        semmetrics.Bootstrap(),
        semmetrics.Records({"id": ["a"]}),
    )
    yield semmetrics.fit_document_frequencies(list(REFERENCES.values()))
    yield semmetrics.caption_matrix(list(REFERENCES.values()), list(CAPTIONS.values()))
    yield from (InputError("not-finite", "a.json", value=3, role="a score"),)
    yield semmetrics.MissingDependencyError("pandas", "to_pandas", extra="report")
    yield from (open_tokenizer(name) for name in TOKENIZERS if name != "ptb-java")
    yield metrics.sweep_thresholds(scores, targets)
    yield metrics.best_threshold(scores, targets)
    yield metrics.label_frequencies([0, 1, 1], 2)
    yield from (
        metrics.cardinality([0, 1, 3]),
        metrics.label_order([0, 1, 3], [0, 0, 1]),
    )


def _scorer():
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(LABELS, OTHERS)
    return scorer


def is_ours(value):
    kind = type(value)
    return kind.__module__.startswith("semmetrics.") and not inspect.isroutine(value)


def inside(value):
    """What a value holds or returns."""
    if isinstance(value, Mapping):
        return [*islice(value.keys(), 50), *islice(value.values(), 50)]
    if isinstance(value, (list, tuple)):
        return list(value[:50])
    if not is_ours(value):
        return []
    found = []
    for name in dir(value):
        if name.startswith("_") or name.startswith("to_p"):
            continue
        try:
            one = getattr(value, name)
            if inspect.ismethod(one) and not any(
                p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
                for p in inspect.signature(one).parameters.values()
            ):
                one = one()
        except InputError:
            continue
        if not inspect.isroutine(one):
            found.append(one)
    return found


def walk():
    """One object of each class that is met."""
    met, queue = {}, deque(starts())
    while queue:
        value = queue.popleft()
        if is_ours(value):
            if type(value) in met and not isinstance(value, semmetrics.ScoreTable):
                continue
            met.setdefault(type(value), value)
        queue.extend(
            inside(value)
            if not isinstance(value, semmetrics.ScoreTable) or met[type(value)] is value
            else []
        )
    return met


MET = walk()
OBJECTS = [pytest.param(value, id=kind.__name__) for kind, value in MET.items()]


def test_every_public_class_is_met():
    classes = {getattr(semmetrics, name) for name in semmetrics.__all__}
    classes.discard(semmetrics.InputWarning)  # raised by nothing, and in no result
    assert {one for one in classes if isinstance(one, type)} <= set(MET)


@pytest.mark.parametrize("value", OBJECTS)
def test_a_repr_is_short_and_never_fails(value):
    text = repr(value)
    assert isinstance(text, str)
    assert len(text) < 500
    assert "\n" not in text or type(value).__name__ in PRINTED


REPORTS = [
    pytest.param(v, id=k.__name__) for k, v in MET.items() if issubclass(k, Result)
]


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_has_all_forms(report):
    records = report.to_records()
    assert len(records)
    arrow, frame, polars = report.to_arrow(), report.to_pandas(), report.to_polars()
    assert tuple(arrow.column_names) == tuple(frame.columns) == tuple(polars.columns)
    assert arrow.column_names == list(records.columns)
    assert len(arrow) == len(frame) == len(polars) == len(records)
    assert arrow.to_pylist() == list(records)
    json.loads(report.render("json"))
    texts = {form: report.render(form) for form in RESULT_FORMATS}
    assert texts["table"] == str(report) == report.to_text()
    assert (texts["markdown"], texts["latex"]) == (
        report.to_markdown(),
        report.to_latex(),
    )
    assert texts["csv"] == report.to_csv().removesuffix("\n")
    assert texts["markdown"].startswith("| ")
    assert (
        texts["latex"].count("begin{tabular}")
        == texts["latex"].count("end{tabular}")
        > 0
    )
    with refused("bad-choice", value="text"):
        report.render("text")
    with refused("bad-option", value=18):
        report.to_latex(digits=18)


@pytest.mark.parametrize("value", OBJECTS)
def test_copies_and_pickles_are_the_same(value):
    for again in (
        copy.copy(value),
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
    ):
        assert type(again) is type(value)
        assert " at 0x" in repr(value) or repr(again) == repr(value)
        if hasattr(value, "__len__"):
            assert len(again) == len(value)
        if type(value).__eq__ is not object.__eq__:
            assert again == value
        if again == value and type(value).__hash__ is not None:
            assert hash(again) == hash(value)


def public_classes():
    named = {getattr(semmetrics, name) for name in semmetrics.__all__}
    returned = map(
        type, (semmetrics.as_labels(LABELS), as_matrix(np.eye(2), ["cat", "dog"]))
    )
    found = {one for one in named if isinstance(one, type)} | set(returned)
    # of tests that run side by side, too
    return sorted(found, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_public_records_are_equal_by_value(kind):
    assert (kind.__eq__ is object.__eq__) == (kind.__name__ in THEMSELVES)


def changed():
    """Pairs of objects that differ in what they hold."""
    one, two = (
        semmetrics.score(LABELS, refs, measures="F1", ci=True)
        for refs in (LABELS, OTHERS)
    )
    yield from ((one, two), (one[0], two[0]), (one[0].replicates, two[0].replicates))
    yield semmetrics.as_labels(LABELS), semmetrics.as_labels(OTHERS)
    yield semmetrics.as_labels(LABELS).side, semmetrics.as_labels(OTHERS).side
    yield as_matrix(np.eye(2), ["a", "b"]), as_matrix(np.ones((2, 2)), ["a", "b"])
    yield as_matrix(np.eye(2), ["a", "b"]), as_matrix(np.eye(2), ["a", "c"])
    sparse = pytest.importorskip("scipy.sparse").csr_array
    yield as_matrix(sparse(np.eye(2))), as_matrix(sparse(np.eye(2)[::-1]))
    yield semmetrics.Records({"id": ["a"]}), semmetrics.Records({"id": ["b"]})
    yield semmetrics.Records({"id": ["a"]}), semmetrics.Records({"name": ["a"]})
    yield tuple(
        semmetrics.sweep(LABELS, OTHERS, thresholds=points) for points in ([0.3], [0.5])
    )
    yield tuple(
        semmetrics.calibrate_threshold_on_pairs(
            [("car", "automobile", 1), ("car", word, 0)]
        )
        for word in ("tree", "cat")
    )
    yield tuple(
        semmetrics.fit_document_frequencies(lists)
        for lists in ([["a cat"]], [["a dog"]])
    )
    yield Taxonomy.from_parents({"a": "b"}), Taxonomy.from_parents({"a": "c"})


@pytest.mark.parametrize(("one", "other"), list(changed()))
def test_what_differs_is_not_equal(one, other):
    assert one != other
    assert one == pickle.loads(pickle.dumps(one))
    assert one in [other, copy.deepcopy(one)]


def test_a_score_of_one_call_is_that_of_another():
    one, other = (
        semmetrics.score(LABELS, OTHERS, measures="F1 SemF1", ci=True) for _ in range(2)
    )
    assert one == other
    assert pickle.loads(pickle.dumps(one))[0] in other
    assert one[0] not in other[1:]


def test_undefined_values_are_equal():
    one, other = (
        semmetrics.score([[]], [[]], measures="F1(empty=skip)", ci=True)
        for _ in range(2)
    )
    assert np.isnan(one[0].value)
    assert np.isnan(one[0].ci.low)
    assert one == other
    assert hash(one[0]) == hash(other[0])
    assert hash(one[0].ci) == hash(other[0].ci)


@pytest.mark.parametrize("value", OBJECTS)
def test_equality_and_hash_agree(value):
    assert value == value
    assert (value == object()) is False
    assert (value != object()) is True
    assert (value == None) is False  # noqa: E711
    if type(value).__hash__ is not None:
        assert hash(value) == hash(value)
        assert value in {value}


@pytest.mark.parametrize("value", OBJECTS)
def test_bool_len_in_and_iteration_end(value):
    assert isinstance(bool(value), bool)
    if not hasattr(type(value), "__iter__"):
        with pytest.raises(TypeError):
            iter(value)
        with pytest.raises(TypeError):
            "F1" in value  # noqa: B015
        return
    every = list(islice(iter(value), 10_000))
    if not any(isinstance(one, np.ndarray) for one in every):
        assert "nothing of the kind" not in value
        assert all(one in value for one in every[:5])
    if hasattr(value, "__len__"):
        assert len(every) == len(value)
        assert bool(value) == bool(every) or type(value).__name__ in ("Measure",)


def is_sequence(value):
    return hasattr(value, "__getitem__") and (
        isinstance(value, (Sequence, semmetrics.ScoreTable))
        and not isinstance(value, str)
    )


@pytest.mark.parametrize(
    "value", [one for one in OBJECTS if is_sequence(one.values[0])]
)
def test_sequences_have_places_from_both_ends_and_slices(value):
    every = list(value)
    assert [value[place] for place in range(len(every))] == every
    assert [value[place - len(every)] for place in range(len(every))] == every
    assert list(reversed(value)) == every[::-1]
    assert list(value[::-1]) == every[::-1]
    assert list(value[1:]) == every[1:]
    assert list(value[:0]) == []
    for place in (len(every), -len(every) - 1):
        with pytest.raises(IndexError):
            value[place]


@pytest.mark.parametrize("value", OBJECTS)
def test_what_dir_names_is_there(value):
    for name in dir(value):
        if not name.startswith("__"):
            with contextlib.suppress(InputError):
                getattr(value, name)


def test_what_no_object_has_is_said():
    assert "F1" not in semmetrics.parse("F1")[0]
    assert "average" in semmetrics.parse("F1")[0]
    assert semmetrics.parse("F1")[0]["beta"] is None


def test_equal_numbers_of_other_types_are_equal_and_hash_alike():
    (score,) = semmetrics.score([["a"]], [["a"]], measures="F1")
    others = [
        dataclasses.replace(score, value=one)
        for one in (1, 1.0, np.float64(1), np.int64(1))
    ]
    assert len(set(others)) == 1
    assert all(one == score for one in others)
