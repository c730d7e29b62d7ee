"""Python's data model holds for every public class, and for all objects that they return.

The search starts at the results of public functions, and follows attributes and methods without
arguments. A new class is tested as soon as something public returns it.
"""

import contextlib
import copy
import dataclasses
import inspect
import json
import pickle
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np
import pytest
from refusals import refused
from scipy.sparse import csr_array

import semmetrics
from semmetrics import ScoreTable, metrics
from semmetrics.data.matrix import as_matrix
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.errors import InputError
from semmetrics.options import RESULT_FORMATS
from semmetrics.reports import Result
from semmetrics.text.tokenizers import TOKENIZERS, open_tokenizer

LABELS = {"a": ["cat", "dog"], "b": ["bus"]}
OTHER_LABELS = {"a": ["cat"], "b": ["car", "tram"]}
CAPTIONS = {"a": "a cat sleeps", "b": "a red bus"}
REFERENCES = {
    "a": ["a cat is asleep", "a grey cat"],
    "b": ["a bus in the rain", "the red bus"],
}
# Exceptions, and what changes while it is used, are equal only to themselves.
EQUAL_BY_IDENTITY = {"InputError", "InputWarning", "MissingDependencyError", "Scorer"}


# ---- all objects --------------------------------------------------------------------------------


def scored_labels():
    systems = {"one": LABELS, "two": OTHER_LABELS}
    measures = "F1 MacroF1 SemF1 WMD"
    return semmetrics.score_systems(
        systems, LABELS, measures=measures, ci=True, resamples=20
    )


def calibrate(other_word):
    pairs = [("car", "automobile", 1), ("car", other_word, 0)]
    return semmetrics.calibrate_threshold_on_pairs(pairs)


def results_of_studies():
    table = scored_labels()
    systems = {"one": LABELS, "two": OTHER_LABELS}
    ratings = [{"id": "a", "rating": 3}, {"id": "b", "rating": 1}]
    captions = {"a": {"1": "a cat"}, "b": {"1": "a dog"}}
    selection = semmetrics.select_discrepant(captions, 1)
    references = {"1": ["a cat"]}
    rescored = semmetrics.rescore(table[0].signature, LABELS, LABELS)
    sweep = semmetrics.sweep(LABELS, OTHER_LABELS, thresholds=[0.3, 0.5])
    ranking = semmetrics.rank_systems({"VOC": table, "COCO": table}, "F1")
    comparison = semmetrics.compare(systems, LABELS, measures="F1 MacroF1", resamples=5)
    agreement = semmetrics.meta(
        ratings, LABELS, OTHER_LABELS, measures="F1 Recall", resamples=5
    )
    competition = semmetrics.rank_competition(selection, references, measures="ROUGE-L")
    return [
        rescored,
        sweep,
        calibrate("tree"),
        ranking,
        comparison,
        agreement,
        selection,
        competition,
        semmetrics.validate(LABELS),
    ]


def results_of_metrics():
    scores = np.array([[0.9, 0.2], [0.4, 0.6]])
    targets = np.array([[1, 0], [1, 1]])
    return [
        as_matrix(scores, ["cat", "dog"]),
        metrics.sweep_thresholds(scores, targets),
        metrics.best_threshold(scores, targets),
        metrics.label_frequencies([0, 1, 1], 2),
        metrics.cardinality([0, 1, 3]),
        metrics.label_order([0, 1, 3], [0, 0, 1]),
    ]


def public_results():
    """Return results of public functions and constructors."""
    table = scored_labels()
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(LABELS, OTHER_LABELS)
    references = list(REFERENCES.values())
    ranked = {"a": [{"label": "cat", "score": 0.9}, {"label": "dog", "score": 0.2}]}
    tokenizers = [open_tokenizer(name) for name in TOKENIZERS if name != "ptb-java"]
    undefined = {"a": []}
    return [
        semmetrics.score(undefined, undefined, measures="F1(empty=skip)", ci=True),
        table,
        semmetrics.score(CAPTIONS, REFERENCES, measures="BLEU-4 CIDEr-D ROUGE-L"),
        table[:2],
        semmetrics.score(ranked, {"a": ["dog"]}, measures="mAP LRAP"),
        scorer,
        *results_of_studies(),
        *results_of_metrics(),
        semmetrics.as_labels(LABELS),
        semmetrics.as_captions(REFERENCES),
        semmetrics.parse("F1(average=macro)@3"),
        semmetrics.ReadOptions(),
        semmetrics.Bootstrap(),
        semmetrics.Records({"id": ["a"]}),
        semmetrics.fit_document_frequencies(references),
        semmetrics.caption_matrix(references, list(CAPTIONS.values())),
        InputError("not-finite", "a.json", value=3, role="a score"),
        semmetrics.MissingDependencyError("pandas", "to_pandas", extra="report"),
        *tokenizers,
    ]


def is_of_package(value):
    module = type(value).__module__
    return module.startswith("semmetrics.") and not inspect.isroutine(value)


def takes_no_argument(method):
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for parameter in inspect.signature(method).parameters.values():
        if parameter.default is parameter.empty and parameter.kind not in variadic:
            return False
    return True


def read_member(value, name):
    """Return an attribute, or the result of a method without arguments."""
    member = getattr(value, name)
    if inspect.ismethod(member) and takes_no_argument(member):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return member()
    return member


def members_of(value):
    """Return the content of a collection, or the attributes of an object and its results."""
    if isinstance(value, Mapping):
        return [*islice(value.keys(), 50), *islice(value.values(), 50)]
    if isinstance(value, (list, tuple)):
        return list(value[:50])
    if not is_of_package(value):
        return []
    members = []
    for name in dir(value):
        if name.startswith(("_", "to_p")):  # to_pandas and to_polars
            continue
        with contextlib.suppress(InputError):
            member = read_member(value, name)
            if not inspect.isroutine(member):
                members.append(member)
    return members


def find_objects():
    """Return an object of each class of the package that results contain."""
    objects = {}
    queue = deque(public_results())
    while queue:
        value = queue.popleft()
        if is_of_package(value):
            if type(value) in objects:
                continue
            objects[type(value)] = value
        queue.extend(members_of(value))
    return objects


OBJECTS = find_objects()


def parametrize(*classes, exclude=()):
    """Parametrise a test with the objects that are instances of some classes."""
    cases = []
    for kind, value in OBJECTS.items():
        if issubclass(kind, classes or object) and not issubclass(kind, exclude):
            cases.append(pytest.param(value, id=kind.__name__))
    return pytest.mark.parametrize("value", cases)


# ---- classes ------------------------------------------------------------------------------------


def public_classes():
    classes = {type(semmetrics.as_labels(LABELS)), type(as_matrix(np.eye(2)))}
    for name in semmetrics.__all__:
        public = getattr(semmetrics, name)
        if isinstance(public, type):
            classes.add(public)
    return sorted(classes, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_public_classes_are_equal_by_value(kind):
    is_equal_by_identity = kind.__eq__ is object.__eq__

    assert is_equal_by_identity == (kind.__name__ in EQUAL_BY_IDENTITY)


def test_every_public_class_is_tested():
    untested = set(public_classes()) - set(OBJECTS)

    assert untested == {semmetrics.InputWarning}  # no result contains it


# ---- properties of all objects ------------------------------------------------------------------


@parametrize()
def test_a_repr_is_short(value):
    text = repr(value)

    assert len(text) < 500
    assert "\n" not in text or isinstance(value, ScoreTable)


@parametrize(Result)
def test_a_result_has_the_same_rows_as_records_and_frames(value):
    records = value.to_records()
    arrow = value.to_arrow()
    pandas = value.to_pandas()
    polars = value.to_polars()

    assert len(records)
    assert arrow.to_pylist() == list(records)
    assert arrow.column_names == list(records.columns)
    assert list(pandas.columns) == list(polars.columns) == list(records.columns)
    assert len(pandas) == len(polars) == len(records)


@parametrize(Result)
def test_a_result_is_rendered_in_all_formats(value):
    texts = {form: value.render(form) for form in RESULT_FORMATS}

    json.loads(texts["json"])
    assert texts["table"] == str(value) == value.to_text()
    assert texts["markdown"] == value.to_markdown()
    assert texts["latex"] == value.to_latex()
    assert texts["csv"] == value.to_csv().removesuffix("\n")
    assert texts["markdown"].startswith("| ")
    n_tables = texts["latex"].count("begin{tabular}")
    assert texts["latex"].count("end{tabular}") == n_tables > 0


@parametrize(Result)
def test_unknown_formats_and_too_many_digits_raise_an_error(value):
    with refused("bad-choice", value="text"):
        value.render("text")
    with refused("bad-option", value=18):
        value.to_latex(digits=18)


def pickle_copy(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, pickle_copy])
@parametrize()
def test_copies_and_pickles_are_equal(value, copy_of):
    other = copy_of(value)

    assert type(other) is type(value)
    assert " at 0x" in repr(value) or repr(other) == repr(value)
    if hasattr(value, "__len__"):
        assert len(other) == len(value)
    if type(value).__eq__ is not object.__eq__:
        assert other == value
        if type(value).__hash__ is not None:
            assert hash(other) == hash(value)


@parametrize()
def test_objects_equal_themselves_and_nothing_of_another_type(value):
    assert value == value
    assert (value == object()) is False
    assert (value != object()) is True
    assert (value == None) is False  # noqa: E711


@parametrize()
def test_hashable_objects_are_found_in_sets(value):
    if type(value).__hash__ is not None:
        assert value in {value}


@parametrize()
def test_attributes_that_dir_lists_exist(value):
    for name in dir(value):
        if not name.startswith("__"):
            with contextlib.suppress(InputError):
                getattr(value, name)


@parametrize()
def test_bool_and_len_agree_with_iteration(value):
    assert isinstance(bool(value), bool)
    if hasattr(type(value), "__iter__") and hasattr(value, "__len__"):
        entries = list(value)
        assert len(entries) == len(value)
        assert isinstance(value, semmetrics.Measure) or bool(value) == bool(entries)


@parametrize()
def test_in_finds_the_entries_of_iteration(value):
    if not hasattr(type(value), "__iter__"):
        with pytest.raises(TypeError):
            "F1" in value  # noqa: B015
        return
    entries = list(islice(iter(value), 5))
    if not any(isinstance(entry, np.ndarray) for entry in entries):
        assert "nothing of the kind" not in value
        assert all(entry in value for entry in entries)


@parametrize(Sequence, ScoreTable, exclude=str)
def test_sequences_have_places_from_both_ends_and_slices(value):
    entries = list(value)
    n = len(entries)

    assert [value[place] for place in range(n)] == entries
    assert [value[place] for place in range(-n, 0)] == entries
    assert list(reversed(value)) == entries[::-1]
    assert list(value[::-1]) == entries[::-1]
    assert list(value[1:]) == entries[1:]
    assert list(value[:0]) == []
    with pytest.raises(IndexError):
        value[n]
    with pytest.raises(IndexError):
        value[-n - 1]


# ---- equality -----------------------------------------------------------------------------------


def different_pairs():
    """Return pairs of objects of a class with different content."""
    labels = semmetrics.as_labels(LABELS)
    other_labels = semmetrics.as_labels(OTHER_LABELS)
    table = semmetrics.score(LABELS, LABELS, measures="F1", ci=True)
    other_table = semmetrics.score(LABELS, OTHER_LABELS, measures="F1", ci=True)
    matrix = as_matrix(np.eye(2), ["a", "b"])
    records = semmetrics.Records({"id": ["a"]})
    return [
        (table, other_table),
        (table[0], other_table[0]),
        (table[0].replicates, other_table[0].replicates),
        (labels, other_labels),
        (labels.side, other_labels.side),
        (matrix, as_matrix(np.ones((2, 2)), ["a", "b"])),
        (matrix, as_matrix(np.eye(2), ["a", "c"])),
        (as_matrix(csr_array(np.eye(2))), as_matrix(csr_array(np.eye(2)[::-1]))),
        (records, semmetrics.Records({"id": ["b"]})),
        (records, semmetrics.Records({"name": ["a"]})),
        (
            semmetrics.sweep(LABELS, OTHER_LABELS, thresholds=[0.3]),
            semmetrics.sweep(LABELS, OTHER_LABELS, thresholds=[0.5]),
        ),
        (calibrate("tree"), calibrate("cat")),
        (
            semmetrics.fit_document_frequencies([["a cat"]]),
            semmetrics.fit_document_frequencies([["a dog"]]),
        ),
        (Taxonomy.from_parents({"a": "b"}), Taxonomy.from_parents({"a": "c"})),
    ]


@pytest.mark.parametrize(("value", "other"), different_pairs())
def test_objects_with_different_content_are_not_equal(value, other):
    assert value != other
    assert value == pickle_copy(value)
    assert value in [other, copy.deepcopy(value)]


def test_tables_of_equal_calls_are_equal():
    options = {"measures": "F1 SemF1", "ci": True}
    table = semmetrics.score(LABELS, OTHER_LABELS, **options)
    other = semmetrics.score(LABELS, OTHER_LABELS, **options)

    assert table == other
    assert pickle_copy(table)[0] in other
    assert table[0] not in other[1:]


def test_undefined_values_are_equal():
    options = {"measures": "F1(empty=skip)", "ci": True}
    table = semmetrics.score([[]], [[]], **options)
    other = semmetrics.score([[]], [[]], **options)

    assert np.isnan(table[0].value)
    assert np.isnan(table[0].ci.low)
    assert table == other
    assert hash(table[0]) == hash(other[0])
    assert hash(table[0].ci) == hash(other[0].ci)


def test_values_of_different_number_types_are_equal():
    (score,) = semmetrics.score([["a"]], [["a"]], measures="F1")

    scores = set()
    for value in (1, 1.0, np.float64(1), np.int64(1)):
        scores.add(dataclasses.replace(score, value=value))

    assert scores == {score}


def test_measures_contain_their_options():
    (measure,) = semmetrics.parse("F1")

    assert "average" in measure
    assert "F1" not in measure
    assert measure["beta"] is None
