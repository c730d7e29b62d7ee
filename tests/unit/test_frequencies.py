"""Document frequencies: counted, merged, saved, and read from files that may not be trusted."""

from __future__ import annotations

import collections
import gzip
import json
import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import cider as oracle
from refusals import refused

from semmetrics.data.plain_pickle import read_plain_pickle
from semmetrics.data.tasks import caption_task
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import task_tokens
from semmetrics.metrics.cider import DocumentFrequencies, fit_document_frequencies
from semmetrics.text.tokenizers import open_tokenizer

CAPTION = st.lists(st.sampled_from(["a", "man", "é", "rides", "on"]), max_size=6).map(
    " ".join
)
DOCUMENTS = st.lists(st.lists(CAPTION, max_size=3), min_size=1, max_size=5)
COUNTS = {("a",): 3, ("a", "man"): 2, ("man",): 2, ("a", "man", "rides"): 1}


def tokens(documents):
    return [
        [caption.split() for caption in captions] for captions in documents if captions
    ]


def fit(documents):
    return fit_document_frequencies(documents, "whitespace")


@given(DOCUMENTS)
def test_counts(documents):
    found = fit(documents)
    assert found.as_dict() == oracle.document_frequencies(tokens(documents))
    assert found.documents == len(tokens(documents))
    assert (found.tokenizer, found.stem) == ("whitespace", "none")
    assert len(found) == len(found.as_dict())


@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False))
def test_parts_add_to_the_whole(some, others, rng):
    whole = fit(some + others)
    merged = fit(others) + fit(some)
    assert merged.as_dict() == whole.as_dict()
    assert merged.documents == whole.documents
    assert merged.log_documents == whole.log_documents
    shuffled = some + others
    rng.shuffle(shuffled)
    assert fit(shuffled).hash == merged.hash == whole.hash


def write(tmp_path, data):
    path = tmp_path / "df.p"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_numbers_of_numpy(tmp_path, protocol):
    held = {gram: np.int64(count) for gram, count in COUNTS.items()}
    for length in (np.log(40504.0), math.log(40504), np.float32(40504)):
        value = {"document_frequency": held, "ref_len": length}
        found = DocumentFrequencies.load(write(tmp_path, pickle.dumps(value, protocol)))
        assert found.as_dict() == COUNTS
        assert (found.documents, found.log_documents) == (40504, np.log(40504.0))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({("a",): 1}, "no-documents"),
        (print, "pickled-name"),
    ],
)
def test_what_a_pickle_lacks_or_names(tmp_path, value, code):
    with refused(code):
        DocumentFrequencies.load(write(tmp_path, pickle.dumps(value)))


def test_the_logarithm_of_no_integer_is_kept(tmp_path):
    value = {
        "document_frequency": {("a", "café"): 2.0, ("é",): 1.0},
        "ref_len": 10.609157,
    }
    found = DocumentFrequencies.load(write(tmp_path, pickle.dumps(value)))
    assert found.documents is None
    assert found.log_documents == 10.609157
    weights = found.weights(task_tokens(task_of("a café"), "none"))
    assert weights[1].tolist() == [10.609157 - math.log(2)]
    with refused("unknown-documents"):
        found + found
    with refused("not-as-json"):
        found.save(tmp_path / "df.json")
    found.save(tmp_path / "df.npz")
    assert DocumentFrequencies.load(tmp_path / "df.npz").hash == found.hash


def task_of(caption):
    return caption_task([[caption]], [[caption]], ["1"], open_tokenizer("whitespace"))


def nested(depth, step):
    """A dict with one key, of which each level is made of the one below."""
    return (
        b"\x80\x02}(U\x12document_frequency})"
        + step * depth
        + b"K\x01sU\x07ref_lenK\x09u."
    )


HOSTILE = {
    "deep": nested(10**6, b"\x85"),  # hashing it would overflow the stack
    "deep value": b"\x80\x02}U\x01a\x85)" + b"\x85" * 10**6 + b"s.",
    "deep name": b"cnumpy\ndtype\n)" + b"q\x00h\x00\x86" * 60 + b"\x85R.",
    "deep module": b"\x80\x04)" + b"q\x00h\x00\x86" * 60 + b"h\x00\x93.",
    "memo": b"\x80\x02Nr\xff\xff\xff\x0f.",  # a table of places would take gigabytes
    "long text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f.",
    "many marks": b"(" * 10**6 + b".",
    # a long key put into the dict again and again
    "again": b"\x80\x02}("
    + b"U\x01a" * 10**5
    + b"tq\x00N"
    + b"s"
    + b"h\x00Ns" * 10**5
    + b".",
    "digits": b"I" + b"9" * 10**6 + b"\n.",
    "to encode": b"\x80\x02c_codecs\nencode\nq\x00X\x00\x00\x0f\x00"
    + b"a" * 0xF0000
    + b"U\x06latin1\x86q\x01R"
    + b"h\x00h\x01R" * 10**5
    + b".",
    "long arguments": b"\x80\x02c_codecs\nencode\nq\x00("
    + b"N" * 10**6
    + b"tq\x01"
    + b"h\x00h\x01R0"[:-1] * 10**5
    + b".",
    "many frames": b"\x80\x04" + b"\x95\xff\xff\xff\xff\x00\x00\x00\x00" * 10**5 + b".",
    "long bytearray": b"\x80\x05\x96" + b"\xff" * 7 + b"\x00.",
}
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from semmetrics.errors import InputError
from semmetrics.metrics.cider import DocumentFrequencies
for path in sys.argv[1:]:
    try:
        DocumentFrequencies.load(path, documents=9)
        print("loaded", path)
    except InputError as error:
        print(path in str(error), error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of memory and time")
def test_hostile_pickles_take_little(tmp_path):
    for name, data in HOSTILE.items():
        (tmp_path / f"{name}.p").write_bytes(data)
    paths = [str(tmp_path / f"{name}.p") for name in HOSTILE]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, "-c", LIMITED, *paths],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert found.returncode == 0, found.stderr[-500:]
    lines = found.stdout.splitlines()
    assert len(lines) == len(HOSTILE)
    assert all(line.startswith("True") for line in lines), lines


@pytest.mark.parametrize(
    "data",
    [
        # attributes set on what stands for a container, and types called as functions
        b"ccollections\nCounter\n(N(dS'update'\nI1\nstb.",
        b"ccollections\nCounter\n(N(dS'make'\nI1\nstb.",
        b"cnumpy\ndtype\n(S'f8'\ntR(N(dS'letter'\nS's'\nstb.",
        b"}(S'a'\nI1\ntR.",  # a call of a dict
        b"cnumpy.core.multiarray\nscalar\n(ccollections\nCounter\nC\x011tR.",
        b"c__builtin__\nint\n(S'5'\ntR.",
    ],
)
def test_what_stands_for_names_is_not_changed_or_called(tmp_path, data):
    before = dict(vars(collections.Counter))
    with pytest.raises(InputError, match=r"df\.p"):
        DocumentFrequencies.load(write(tmp_path, data))
    assert dict(vars(collections.Counter)) == before
    # nothing was changed for the next file
    counter = pickle.dumps(collections.Counter(a=1))
    assert read_plain_pickle(counter, "df.p") == {"a": 1}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"frequencies": {"a": 1}}, "not-frequencies"),
        ({"documents": 10**400, "frequencies": {"a": 1}}, "not-frequencies"),
        ({"documents": 2, "frequencies": {"a": 10**400}}, "out-of-range"),
        ({"documents": 2, "frequencies": {"a": 1, " a": 1}}, "duplicate"),
    ],
)
def test_json_is_checked(tmp_path, content, code):
    path = tmp_path / "df.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with refused(code, str(path)):
        DocumentFrequencies.load(path)


def test_json_by_hand(tmp_path):
    path = tmp_path / "df.json"
    path.write_text(
        '{"documents": 5, "frequencies": {"a man": 3, "a": 5, "b": 0}}', "utf-8"
    )
    found = DocumentFrequencies.load(path)
    assert found.as_dict() == {("a",): 5, ("a", "man"): 3}
    assert (found.tokenizer, found.stem) == ("", "")
    with refused("other-documents"):
        DocumentFrequencies.load(path, documents=6)


@pytest.mark.parametrize(
    "length",
    [
        -1.0,
        math.nan,
        math.inf,
        "3",
        None,
        60.5,
        10**400,
        2**53,
        2.0**53,
        "long",
        True,
        -1,
    ],
)
def test_ref_len_is_checked(tmp_path, length):
    # more digits than Python writes
    length = 1 << 20000 if length == "long" else length
    value = {"document_frequency": {("a",): 1}, "ref_len": length}
    with pytest.raises(InputError, match=r"df\.p"):
        DocumentFrequencies.load(write(tmp_path, pickle.dumps(value)))


@pytest.mark.parametrize("documents", [-1, 2.5, 3.0, "3", 10**400, 2**53, True])
def test_a_given_number_of_documents_is_checked(tmp_path, documents):
    path = write(tmp_path, pickle.dumps({("a",): 1}))
    with refused("out-of-range"):
        DocumentFrequencies.load(path, documents=documents)
    with refused("out-of-range"):
        DocumentFrequencies.from_counts({("a",): 1}, documents=documents)


def noted(**change):
    said = {
        "format": "semmetrics.frequencies/1",
        "documents": 2,
        "log_documents": 0.7,
        "tokenizer": "",
        "stem": "",
        **change,
    }
    return np.frombuffer(json.dumps(said).encode(), np.uint8)


def test_noted(tmp_path):
    """What damages are made from is whole."""
    path = tmp_path / "df.npz"
    DocumentFrequencies.from_counts({("a",): 1, ("a", "a"): 1}, documents=2).save(path)
    with np.load(path) as parts:
        arrays = dict(parts)
    for change, documents in (({}, 2), ({"documents": None, "log_documents": 2}, None)):
        np.savez(path, **{**arrays, "header": noted(**change)})
        assert DocumentFrequencies.load(path).documents == documents


@pytest.mark.parametrize(
    ("key", "array"),
    [
        ("grams_1", np.array([[9]])),
        ("grams_1", np.array([[-1]])),
        ("grams_2", np.array([[0, 0, 0]])),
        ("counts_1", np.array([0])),
        ("counts_1", np.array([1.5])),
        ("token_indptr", np.array([0, 5])),
        ("token_indptr", np.array([0, 2, 1])),
        ("header", np.frombuffer(b"{}", np.uint8)),
        ("header", np.array([os.system], object)),
        ("header", noted(documents=10**400)),
        ("header", noted(documents=None, log_documents=math.nan)),
        ("header", noted(documents=None, log_documents=10**400)),
        ("header", noted(tokenizer=3)),
        ("header", np.frombuffer(b"[" * 10**5, np.uint8)),
        ("counts_1", np.array([2**63], np.uint64)),
        ("counts_1", np.array([True])),
        ("grams_1", np.array([[0.5]])),
        ("grams_1", np.array([[2**63]], np.uint64)),
        ("token_indptr", np.array([0.0, 1.0])),
        ("token_indptr", np.array([[0, 1]])),
        ("tokens", None),
        ("tokens", np.frombuffer(b"aa", np.uint8)),  # one token twice
    ],
)
def test_damaged_arrays_are_refused(tmp_path, key, array):
    path = tmp_path / "df.npz"
    DocumentFrequencies.from_counts({("a",): 1, ("a", "b"): 1}, documents=2).save(path)
    with np.load(path) as parts:
        arrays = dict(parts)
    del arrays[key]
    if array is not None:
        arrays[key] = array
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=r"df\.npz"):
        DocumentFrequencies.load(path)


def test_what_cannot_be_added_or_counted():
    one = fit([["a"]])
    with refused("other-tokens", name="stem"):
        one + fit_document_frequencies([["a"]], "whitespace", "porter")
    with refused("other-tokens", name="tokenizer"):
        one + DocumentFrequencies.from_counts({("a",): 1}, documents=1, stem="none")
    task = caption_task([["a"]], [["a"]], ["1"], open_tokenizer("whitespace"))
    with refused("not-applicable", name="tokenizer"):
        fit_document_frequencies(task, "whitespace")
    assert fit_document_frequencies(task).hash == fit([["a"]]).hash
    with refused("too-frequent"):
        DocumentFrequencies.from_counts({("a",): 3}, documents=2)


@pytest.mark.parametrize(
    ("captions", "where"),
    [
        ({"a": ["a cat"]}, "captions"),
        ([["a cat"], [1]], "captions[1][0]"),
        ("gt.json", "captions"),
    ],
)
def test_what_is_no_list_of_lists_is_refused(captions, where):
    with refused("wrong-type", where):
        fit_document_frequencies(captions)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)


NUMBER = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())


KEY = st.one_of(TEXT, st.lists(TEXT, max_size=4).map(tuple))


VALUE = st.recursive(
    st.one_of(NUMBER, TEXT, st.binary(min_size=1, max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEY, inner, max_size=4),
    ),
    max_leaves=20,
)


@given(VALUE, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_are_read_as_by_pickle(value, protocol):
    data = pickle.dumps(value, protocol)
    assert read_plain_pickle(data, "df.p") == pickle.loads(data)


@pytest.mark.parametrize("name", ["df.npz", "df.json", "other.name"])
def test_saved_packed_and_loaded(tmp_path, name):
    found = fit([["a man rides", "é é é é é"], ["a man"], ["on a man"]])
    path, packed = tmp_path / name, tmp_path / f"{name}.gz"
    found.save(path)
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert DocumentFrequencies.load(packed).hash == found.hash
