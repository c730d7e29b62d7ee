"""Pickles of plain values, read without running code, in little memory and time."""

from __future__ import annotations

import collections
import os
import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.data.plain_pickle import read_plain_pickle
from semmetrics.errors import InputError
from semmetrics.metrics.cider import DocumentFrequencies

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
def test_plain_values_are_those_of_pickle(value, protocol):
    data = pickle.dumps(value, protocol)

    assert read_plain_pickle(data, "df.p") == pickle.loads(data)


@pytest.mark.parametrize(
    "data",
    [
        # attributes set on a stand-in for a container
        b"ccollections\nCounter\n(N(dS'update'\nI1\nstb.",
        b"ccollections\nCounter\n(N(dS'make'\nI1\nstb.",
        b"cnumpy\ndtype\n(S'f8'\ntR(N(dS'letter'\nS's'\nstb.",
        # types and values that are called
        b"}(S'a'\nI1\ntR.",
        b"cnumpy.core.multiarray\nscalar\n(ccollections\nCounter\nC\x011tR.",
        b"c__builtin__\nint\n(S'5'\ntR.",
    ],
)
def test_stand_ins_for_names_are_neither_changed_nor_called(tmp_path, data):
    before = dict(vars(collections.Counter))
    path = tmp_path / "df.p"
    path.write_bytes(data)

    with pytest.raises(InputError, match=r"df\.p"):
        DocumentFrequencies.load(path)

    assert dict(vars(collections.Counter)) == before
    counter = pickle.dumps(collections.Counter(a=1))
    assert read_plain_pickle(counter, "df.p") == {"a": 1}


NESTED_KEY = b"\x80\x02}(U\x12document_frequency})%sK\x01sU\x07ref_lenK\x09u."
ENCODE = b"c_codecs\nencode\nq\x00"
HOSTILE = {
    "nested key": NESTED_KEY % (b"\x85" * 10**6),  # its hash would overflow the stack
    "nested value": b"\x80\x02}U\x01a\x85)" + b"\x85" * 10**6 + b"s.",
    "nested name": b"cnumpy\ndtype\n)" + b"q\x00h\x00\x86" * 60 + b"\x85R.",
    "nested module": b"\x80\x04)" + b"q\x00h\x00\x86" * 60 + b"h\x00\x93.",
    "memo": b"\x80\x02Nr\xff\xff\xff\x0f.",  # an index that would need gigabytes
    "long text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f.",
    "long bytearray": b"\x80\x05\x96" + b"\xff" * 7 + b"\x00.",
    "many marks": b"(" * 10**6 + b".",
    "many frames": b"\x80\x04" + b"\x95\xff\xff\xff\xff\x00\x00\x00\x00" * 10**5 + b".",
    "many digits": b"I" + b"9" * 10**6 + b"\n.",
    "a long key again and again": b"\x80\x02}(%stq\x00Ns%s."
    % (b"U\x01a" * 10**5, b"h\x00Ns" * 10**5),
    "a long text again and again": b"\x80\x02%sX\x00\x00\x0f\x00%sU\x06latin1\x86q\x01R%s."
    % (ENCODE, b"a" * 0xF0000, b"h\x00h\x01R" * 10**5),
    "long arguments again and again": b"\x80\x02%s(%stq\x01%s."
    % (ENCODE, b"N" * 10**6, b"h\x00h\x01R" * 10**5),
}
READ_WITH_LIMITS = """
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
def test_hostile_pickles_need_little_memory_and_time(tmp_path):
    paths = []
    for name, data in HOSTILE.items():
        path = tmp_path / f"{name}.p"
        path.write_bytes(data)
        paths.append(str(path))

    done = subprocess.run(
        [sys.executable, "-c", READ_WITH_LIMITS, *paths],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )

    assert done.returncode == 0, done.stderr[-500:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(HOSTILE)
    assert [line for line in lines if not line.startswith("True")] == []
