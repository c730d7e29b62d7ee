"""Document frequencies: counted, merged, saved and loaded."""

from __future__ import annotations

import gzip
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import cider as oracle
from refusals import refused

from semmetrics.data.tasks.captions import caption_task
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import task_tokens
from semmetrics.metrics.cider import DocumentFrequencies, fit_document_frequencies
from semmetrics.text.tokenizers import open_tokenizer

CAPTION = st.lists(st.sampled_from(["a", "man", "é", "rides", "on"]), max_size=6)
CAPTIONS = st.lists(CAPTION.map(" ".join), max_size=3)
DOCUMENTS = st.lists(CAPTIONS, min_size=1, max_size=5)
COUNTS = {("a",): 3, ("a", "man"): 2, ("man",): 2, ("a", "man", "rides"): 1}


def fit(documents, stem="none"):
    return fit_document_frequencies(documents, "whitespace", stem)


def task_of(caption):
    return caption_task([[caption]], [[caption]], ["1"], open_tokenizer("whitespace"))


@pytest.fixture
def load_bytes(tmp_path):
    """Write bytes to a file and load it."""

    def load(data, name="df.p", **options):
        path = tmp_path / name
        path.write_bytes(data)
        return DocumentFrequencies.load(path, **options)

    return load


@given(DOCUMENTS)
def test_counts_are_those_of_loops(documents):
    frequencies = fit(documents)

    tokens = [oracle.split(captions) for captions in documents if captions]
    assert frequencies.as_dict() == oracle.document_frequencies(tokens)
    assert frequencies.documents == len(tokens)
    assert (frequencies.tokenizer, frequencies.stem) == ("whitespace", "none")
    assert len(frequencies) == len(frequencies.as_dict())


@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False))
def test_parts_add_up_to_the_whole_in_any_order(first, second, rng):
    shuffled = first + second
    rng.shuffle(shuffled)

    merged = fit(second) + fit(first)

    whole = fit(first + second)
    assert merged.as_dict() == whole.as_dict()
    assert merged.documents == whole.documents
    assert fit(shuffled).hash == merged.hash == whole.hash


def test_the_references_of_a_task_are_counted():
    task = task_of("a")

    assert fit_document_frequencies(task).hash == fit([["a"]]).hash
    with refused("not-applicable", name="tokenizer"):
        fit_document_frequencies(task, "whitespace")


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (fit([["a"]], "porter"), "stem"),
        (DocumentFrequencies.from_counts({}, documents=1, stem="none"), "tokenizer"),
    ],
)
def test_frequencies_of_other_tokens_cannot_be_added(other, name):
    with refused("other-tokens", name=name):
        fit([["a"]]) + other


@pytest.mark.parametrize(
    ("captions", "where"),
    [
        ({"a": ["a cat"]}, "captions"),
        ([["a cat"], [1]], "captions[1][0]"),
        ("gt.json", "captions"),
    ],
)
def test_documents_must_be_lists_of_captions(captions, where):
    with refused("wrong-type", where):
        fit_document_frequencies(captions)


def test_a_count_above_the_number_of_documents_is_an_error():
    with refused("too-frequent"):
        DocumentFrequencies.from_counts({("a",): 3}, documents=2)


@pytest.mark.parametrize("documents", [-1, 2.5, 3.0, "3", 10**400, 2**53, True])
def test_a_wrong_number_of_documents_is_an_error(load_bytes, documents):
    with refused("out-of-range"):
        load_bytes(pickle.dumps({("a",): 1}), documents=documents)
    with refused("out-of-range"):
        DocumentFrequencies.from_counts({("a",): 1}, documents=documents)


@pytest.mark.parametrize("name", ["df.npz", "df.json", "other.name"])
def test_saved_frequencies_are_loaded_from_a_packed_file(tmp_path, name):
    frequencies = fit([["a man rides", "é é é é é"], ["a man"], ["on a man"]])
    path = tmp_path / name
    packed = tmp_path / f"{name}.gz"

    frequencies.save(path)
    packed.write_bytes(gzip.compress(path.read_bytes()))

    assert DocumentFrequencies.load(packed).hash == frequencies.hash


# ---- pickles of the COCO caption code ------------------------------------------------


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "length", [np.log(40504.0), math.log(40504), np.float32(40504)]
)
def test_pickled_numbers_may_be_numpys(load_bytes, protocol, length):
    counts = {ngram: np.int64(count) for ngram, count in COUNTS.items()}
    value = {"document_frequency": counts, "ref_len": length}

    frequencies = load_bytes(pickle.dumps(value, protocol))

    assert frequencies.as_dict() == COUNTS
    assert frequencies.documents == 40504
    assert frequencies.log_documents == np.log(40504.0)


@pytest.mark.parametrize(
    ("value", "code"), [({("a",): 1}, "no-documents"), (print, "pickled-name")]
)
def test_another_pickle_is_an_error(load_bytes, value, code):
    with refused(code):
        load_bytes(pickle.dumps(value))


@pytest.mark.parametrize(
    "length",
    [
        -1.0,
        math.nan,
        math.inf,
        "3",
        None,
        60.5,
        2**53,
        2.0**53,
        True,
        pytest.param(1 << 20000, id="more digits than Python prints"),
    ],
)
def test_a_wrong_length_is_an_error(load_bytes, length):
    value = {"document_frequency": {("a",): 1}, "ref_len": length}

    with pytest.raises(InputError, match=r"df\.p"):
        load_bytes(pickle.dumps(value))


@pytest.fixture
def unknown_documents(load_bytes):
    """Frequencies whose length is not the logarithm of an integer."""
    counts = {("a", "café"): 2.0, ("é",): 1.0}
    value = {"document_frequency": counts, "ref_len": 10.609157}
    return load_bytes(pickle.dumps(value))


def test_a_length_that_is_not_the_logarithm_of_an_integer_is_used_as_it_is(
    unknown_documents,
):
    assert unknown_documents.documents is None
    assert unknown_documents.log_documents == 10.609157
    tokens = task_tokens(task_of("a café"), "none")
    _, weights, *_ = unknown_documents.weights(tokens)
    assert weights.tolist() == [10.609157 - math.log(2)]


def test_frequencies_of_unknown_documents_are_saved_as_arrays_only(
    unknown_documents, tmp_path
):
    with refused("unknown-documents"):
        unknown_documents + unknown_documents
    with refused("not-as-json"):
        unknown_documents.save(tmp_path / "df.json")
    unknown_documents.save(tmp_path / "df.npz")

    loaded = DocumentFrequencies.load(tmp_path / "df.npz")

    assert loaded.hash == unknown_documents.hash
    assert loaded.documents is None


# ---- JSON ----------------------------------------------------------------------------


def test_json_may_be_written_by_hand(load_bytes):
    data = b'{"documents": 5, "frequencies": {"a man": 3, "a": 5, "b": 0}}'

    frequencies = load_bytes(data, "df.json")

    assert frequencies.as_dict() == {("a",): 5, ("a", "man"): 3}
    assert (frequencies.tokenizer, frequencies.stem) == ("", "")
    with refused("other-documents"):
        load_bytes(data, "df.json", documents=6)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"frequencies": {"a": 1}}, "not-frequencies"),
        ({"documents": 10**400, "frequencies": {"a": 1}}, "not-frequencies"),
        ({"documents": 2, "frequencies": {"a": 10**400}}, "out-of-range"),
        ({"documents": 2, "frequencies": {"a": 1, " a": 1}}, "duplicate"),
    ],
)
def test_wrong_json_is_an_error(load_bytes, content, code):
    with refused(code):
        load_bytes(json.dumps(content).encode(), "df.json")


# ---- arrays --------------------------------------------------------------------------


def header(**change):
    values = {
        "format": "semmetrics.frequencies/1",
        "documents": 2,
        "log_documents": 0.7,
        "tokenizer": "",
        "stem": "",
    }
    return as_array(json.dumps(values | change).encode())


def as_array(data):
    return np.frombuffer(data, np.uint8)


def load_changed(folder, **arrays):
    """Change saved arrays, or remove them if they are None, and load them."""
    path = folder / "df.npz"
    counts = {("a",): 1, ("a", "b"): 1}
    DocumentFrequencies.from_counts(counts, documents=2).save(path)
    with np.load(path) as parts:
        arrays = {**parts, **arrays}
    kept = {name: array for name, array in arrays.items() if array is not None}
    np.savez(path, **kept)
    return DocumentFrequencies.load(path)


def test_the_header_that_other_tests_change_is_right(tmp_path):
    assert load_changed(tmp_path, header=header()).documents == 2


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("grams_1", np.array([[-1]])),
        ("grams_1", np.array([[0.5]])),
        ("grams_2", np.array([[0, 0, 0]])),
        ("counts_1", np.array([1.5])),
        ("counts_1", np.array([2**63], np.uint64)),
        ("token_indptr", np.array([0, 5])),
        ("token_indptr", np.array([0, 2, 1])),
        ("token_indptr", np.array([0.0, 1.0])),
        ("tokens", None),
        ("tokens", as_array(b"aa")),  # one token twice
        ("header", as_array(b"{}")),
        ("header", as_array(b"[" * 10**5)),
        ("header", np.array([print], object)),
        ("header", header(documents=10**400)),
        ("header", header(documents=None, log_documents=math.nan)),
        ("header", header(tokenizer=3)),
    ],
)
def test_damaged_arrays_are_an_error(tmp_path, name, array):
    with pytest.raises(InputError, match=r"df\.npz"):
        load_changed(tmp_path, **{name: array})
