"""The parser of captions without Java: determinism, independence of captions, speed."""

import hashlib
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interruptions import interruptions

from semmetrics.text import offline_parser
from semmetrics.text.offline_parser import DATA, OfflineParser

CAPTIONS = [
    "A small dog sits on a red sofa.",
    "two men ride horses on the beach",
    "",
    "The cat's bowl is empty! A child doesn't look at it.",
    "a kitchen with a stove, a sink and a refrigerator",
    "a man that is holding a frisbee in his hand next to a tree",
    'A (very) old "clock" hangs above 2,000 people.',
]
WORDS = (
    "a the two 12 dog dogs man men running Running sits is with of and on in front , . "
    "who 's red RED small table t-shirt park quickly there stands zxqv hot-air balloon "
    "by at"
)


@pytest.fixture(scope="module")
def parser():
    return OfflineParser()


def parse(parser, *captions):
    return list(parser.parse(captions))


def random_captions(number, max_words):
    rng = random.Random(0)
    words = WORDS.split()
    lengths = [rng.randint(1, max_words) for _ in range(number)]
    return [" ".join(rng.choices(words, k=length)) for length in lengths]


def run_program(code, environment, *arguments):
    """Return what a Python program prints."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    "caption", ["", "   ", "\n\t", ".", "?!", "\U0001f600", "\ud800", "\x00"]
)
def test_a_caption_without_words_has_no_tuples(parser, caption):
    assert parse(parser, caption) == [[]]


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_caption_can_be_parsed(parser, captions):
    parses = parse(parser, *captions)

    assert len(parses) == len(captions)
    for tuples in parses:
        assert {len(raw) for raw in tuples} <= {1, 2, 3}
        assert all(map(all, tuples))


def test_the_weights_are_small():
    assert DATA.stat().st_size < 5e6


def test_neither_torch_nor_java_is_needed():
    code = (
        "import sys; from semmetrics.text.offline_parser import OfflineParser;"
        "print(list(OfflineParser().parse(['a red car'])), 'torch' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}

    printed = run_program(code, environment)

    assert printed == "[[['car', 'red'], ['car']]] False\n"


# ---- the same tuples always ----------------------------------------------------------


def test_tuples_and_identity_change_together(parser):
    """Parses are cached by the identity. Raise the revision if tuples change."""
    parses = parse(parser, *random_captions(1500, max_words=60))

    digest = hashlib.sha256(json.dumps(parses).encode()).hexdigest()[:16]
    assert {parser.identity: digest} == {"offline@0f289e3a096e": "871e303d37100a00"}


def test_tuples_of_a_caption_do_not_depend_on_other_captions(parser):
    captions = CAPTIONS + random_captions(1500, max_words=18)
    rng = np.random.default_rng(3)
    order = rng.permutation(len(captions))
    together = parse(parser, *captions)

    shuffled = parse(OfflineParser(), *[captions[index] for index in order])

    assert shuffled == [together[index] for index in order]
    for index in order[:100]:
        assert parse(parser, captions[index]) == [together[index]]


def test_a_full_cache_of_words_does_not_change_tuples(parser, monkeypatch):
    monkeypatch.setattr("semmetrics.text.offline_parser.MAX_CACHED_TOKENS", 15)
    small = OfflineParser()

    for caption in CAPTIONS:
        assert parse(small, caption) == parse(parser, caption)


def test_an_interruption_leaves_no_wrong_vector(parser):
    captions = ["a dog on a sofa", "two men on a dog"]

    def start():
        new_parser = OfflineParser()
        return lambda: [parse(new_parser, caption) for caption in captions]

    parses = list(interruptions(offline_parser, start, stride=5))

    assert len(parses) > 100
    expected = [parse(parser, caption) for caption in captions]
    assert all(after_interruption == expected for after_interruption in parses)


# Prints hashes of all values that the network computes, and of plain products of floats.
PRINT_VALUES = """
from hashlib import sha256
import numpy as np
from semmetrics.text import network
from semmetrics.text.offline_parser import OfflineParser
values = sha256()
apply_to_tokens = network.apply_to_tokens
def watched(layer, *arguments):
    result = apply_to_tokens(layer, *arguments)
    values.update(result.tobytes())
    return result
network.apply_to_tokens = watched
captions = [f"a man and {k} dogs on the beach" + " by a car" * k for k in range(30)]
for tuples in OfflineParser().parse(captions):
    values.update(repr(tuples).encode())
floats = np.random.default_rng(0).normal(size=(2, 40, 40)).astype(np.float32)
product = floats[0] @ floats[1]
print(values.hexdigest(), sha256(product.tobytes() + np.exp(floats).tobytes()).hexdigest())
"""


def test_values_do_not_depend_on_the_processors_instructions():
    features = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    old_processor = {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
    }

    values, floats = run_program(PRINT_VALUES, os.environ).split()
    old_values, old_floats = run_program(
        PRINT_VALUES, {**os.environ, **old_processor}
    ).split()

    if floats == old_floats:
        pytest.skip("products of floats are also the same with other instructions")
    assert values == old_values


# ---- threads -------------------------------------------------------------------------

# A thread of OpenBLAS without work spins for some 30 ms before it sleeps.
PRINT_THREADS = """
import sys
from time import process_time, sleep, thread_time
from semmetrics.text.offline_parser import OfflineParser
parser = OfflineParser()
list(parser.parse(["a warm start"]))
count, times = map(int, sys.argv[1:])
end = "by the water " * times
captions = [f"a man with {k} dogs stands on the beach {end}" for k in range(count)]
sleep(0.3)
process, thread = process_time(), thread_time()
list(parser.parse(captions))
print((process_time() - process) / (thread_time() - thread))
"""
BLAS = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]


@pytest.mark.skipif("openblas" not in BLAS, reason="only OpenBLAS is limited")
@pytest.mark.parametrize(("count", "times"), [("500", "1"), ("60", "30")])
def test_parsing_uses_one_thread(count, times):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}

    n_threads = run_program(PRINT_THREADS, environment, count, times)

    assert float(n_threads) < 1.15
