"""Fingerprints against splitmix64 in Python integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.core import hashing
from semmetrics.data.lists import Texts

MASK = (1 << 64) - 1
TEXTS = st.lists(st.text(max_size=6), max_size=8)


def mix(number):
    state = (number + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def of_text(text):
    coded = text.encode("utf-8", "surrogatepass")
    total = sum(mix(place * 256 + byte) for place, byte in enumerate(coded))
    return mix((total + mix(len(coded))) & MASK)


@given(numbers=st.lists(st.integers(0, 2**63 - 1)))
def test_numbers_are_scattered_by_splitmix64(numbers):
    assert hashing.mix(np.array(numbers, np.int64)).tolist() == [mix(n) for n in numbers]


@given(texts=TEXTS)
def test_texts(texts):
    got = hashing.hash_strings(texts)
    assert got.dtype == np.uint64
    assert got.tolist() == [of_text(text) for text in texts]


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=9))
def test_texts_that_are_kept_as_bytes(texts):
    coded = [text.encode() for text in texts] * 2000
    ends = np.cumsum([0, *map(len, coded)])
    kept = Texts(np.frombuffer(b"".join(coded), np.uint8), ends.astype(np.int32))
    assert hashing.hash_strings(kept).tolist() == hashing.hash_strings(texts).tolist() * 2000


def test_many_texts_are_those_of_few():
    texts = ["", "a", "é" * 9, "\0", "ab" * 40, "a b"]
    many = hashing.hash_strings(texts * 11_000)
    assert (many.reshape(-1, 6) == hashing.hash_strings(texts)).all()


def test_texts_that_look_alike_differ():
    texts = ["", "\0", "\0\0", "a", "a\0", "\0a", "ab", "ba", "é", "e\u0301", "A", "\ud800", " a"]
    assert len(set(hashing.hash_strings(texts).tolist())) == len(texts)


def test_positions_hash_by_their_number():
    every = hashing.hash_ids(range(2, 9, 3))
    assert every.tolist() == [mix(2), mix(5), mix(8)]
    assert hashing.hash_ids(np.array([2, 5, 8])).tolist() == every.tolist()
    assert hashing.hash_ids(["2"]).tolist() == [of_text("2")] != [mix(2)]


def test_nothing():
    for ids in ([], range(0), np.zeros(0, np.int64)):
        assert hashing.hash_ids(ids).shape == (0,)


def test_many_strings_are_hashed_as_each_alone():
    strings = [f"a string that is number {n} of many" for n in range(6_000)]
    strings[7] = "long " * 200  # beyond the places that are known
    found = hashing.hash_strings(strings)
    assert len(set(found.tolist())) == len(strings)
    for place in (0, 7, 2_999, 5_999):
        assert found[place] == hashing.hash_strings([strings[place]])[0]
    short = hashing.hash_strings(strings[1_000:])
    assert short.tolist() == found[1_000:].tolist()
