"""METEOR's Java program: how it is called, how it fails, and that its counts are ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meteor_inputs import (
    UNUSUAL_TOKENS,
    best_lines,
    possible_counts,
    random_captions,
    words_of,
)
from oracles import meteor as oracle
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap

import semmetrics
from semmetrics.errors import message_of_error
from semmetrics.metrics.meteor import java_counts
from semmetrics.text.java import METEOR_FILES
from semmetrics.text.meteor import Sentences
from semmetrics.text.paraphrases import open_paraphrases

TESTS = str(Path(__file__).resolve().parents[1])
needs_scripts = pytest.mark.skipif(
    os.name == "nt", reason="Windows does not run scripts by their first line"
)


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Install a script in the place of Java."""
    files = [f"{METEOR_FILES.folder}/{name}" for name in METEOR_FILES.files]
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *files)

    def install(script):
        fake_java(monkeypatch, tmp_path / "bin", script)

    return install


# Matches equal words, as the program does without its tables.
EQUAL_WORDS = """#!{python}
import sys
sys.path.insert(0, {tests!r})
from oracles.meteor import Data
data = Data(lambda word: word, lambda word: set(), ())
for line in sys.stdin.buffer.read().decode("utf-8").splitlines():
    command, reference, candidate = line.split(" ||| ")
    assert command == "SCORE"
    counts = data.line(candidate.split(), reference.split())
    print(*map(float, counts))
"""


@needs_scripts
def test_the_program_counts_matches(java):
    java(EQUAL_WORDS.format(python=sys.executable, tests=TESTS))
    candidates, references = random_captions(40, seed=6)

    table = semmetrics.score(
        candidates,
        references,
        measures="METEOR(program=java)",
        task="captions",
        tokenizer="whitespace",
    )

    data = oracle.Data(lambda word: word, lambda word: set(), ())
    expected = oracle.meteor(best_lines(data, candidates, references))
    assert table[0].value == pytest.approx(expected, abs=1e-12)


FAILING = {
    "silent": ("exit 0", "after 0 of 3 segments"),
    "fails": (
        "echo 'UnsupportedClassVersionError: major.minor' >&2; exit 1",
        "code 1 after 0 of 3 segments: UnsupportedClassVersionError",
    ),
    "crashes": ("read line; echo 1; kill -9 $$", "code -9 after 1 of 3 segments"),
    "other answers": ("echo hello; echo hello; echo hello", "is 'hello'"),
}
CANDIDATES = {"a": "a dog runs", "b": "two cats sit"}
REFERENCES = {"a": ["a big dog runs", "the dog is on grass"], "b": ["cats"]}


@needs_scripts
@pytest.mark.parametrize(("script", "problem"), FAILING.values(), ids=FAILING)
def test_a_failing_program_is_an_error(java, script, problem):
    java(f"#!/bin/sh\n{script}\n")

    with refused("meteor-failed") as caught:
        semmetrics.score(CANDIDATES, REFERENCES, measures="METEOR(program=java)")

    assert problem in caught.value.values["why"]


@needs_scripts
def test_a_file_that_is_not_a_program_is_an_error(java):
    java("\x00\x01")

    with refused("java-not-started"):
        semmetrics.score(CANDIDATES, REFERENCES, measures="METEOR(program=java)")


# ---- the real program ----------------------------------------------------------------


@pytest.fixture(scope="module")
def program():
    """The real program: Java and the folder of its jar."""
    if missing := message_of_error(METEOR_FILES.locate):
        pytest.skip(missing)
    return METEOR_FILES.locate()


COMMON = words_of(
    "a the an in on of to is are with and man woman boy dog dogs playing plays sitting "
    "sits riding street road field next near top front large big small young little old "
    "elderly group people kid child children rides bike bicycle motorcycle . , one "
    "number at least due because take place"
)
UNUSUAL = [token for token in UNUSUAL_TOKENS if token != "|||"] + COMMON[:20]


@pytest.mark.slow
@pytest.mark.parametrize("paraphrases", ["true", "false"])
@pytest.mark.parametrize("vocabulary", [COMMON, UNUSUAL], ids=["common", "unusual"])
def test_counts_are_the_programs(program, vocabulary, paraphrases):
    n = 8000
    candidates, references = random_captions(n, 9, 16, vocabulary)
    texts = candidates + [own_references[0] for own_references in references]
    pairs = np.arange(n), np.arange(n, 2 * n)
    table = open_paraphrases() if paraphrases == "true" else None

    ours = Sentences(texts, table).counts(*pairs)

    assert ours.tolist() == java_counts(texts, *pairs, paraphrases).tolist()


def run_evaluation(program, corpora):
    """Return the program's value of each corpus, a list of lines of counts."""
    java, folder = program
    requests = []
    for lines in corpora:
        segments = [" ".join(map(str, line)) for line in lines]
        requests.append(" ||| ".join(["EVAL", *segments]) + "\n")
    arguments = words_of("-Xmx2G -jar meteor-1.5.jar - - -stdio -l en -norm")
    done = subprocess.run(
        [java, *arguments],
        input="".join(requests).encode(),
        capture_output=True,
        cwd=folder,
        check=True,
    )
    answers = list(map(float, done.stdout.decode().splitlines()))
    values = []
    for lines in corpora:  # it answers the value of each segment, then of all
        values.append(answers[len(lines)])
        del answers[: len(lines) + 1]
    return values


@pytest.mark.slow
def test_the_oracle_has_the_programs_values(program):
    corpora = []

    @settings(database=None, derandomize=True)
    @given(st.lists(possible_counts(), min_size=1, max_size=4))
    def collect(lines):
        corpora.append(lines)

    collect()

    expected = run_evaluation(program, corpora)
    assert list(map(oracle.meteor, corpora)) == pytest.approx(expected, abs=1e-12)
