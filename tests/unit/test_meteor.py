"""METEOR against its oracle, the program itself where it is, and a stand-in where it is not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import laws
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import meteor as oracle
from oracles.captions_ngram import task_of
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap

from semmetrics.errors import MissingDependencyError
from semmetrics.metrics.meteor import (
    COUNTS,
    METEOR,
    METEOR_NLTK,
    METEOR_PROGRAM,
    meteor_value,
    segment_counts,
)
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import Bootstrap

WORDS = ["a", "the", "man", "horse", "dog", "rides", "riding", "runs", "jogs", "on", "big", "large"]

# What the program says of lines, and of them together: an EVAL of its own.
SAID = {
    "a man is riding a horse": "6 5 3 2 2 2 2 2 1 1 0 0 0 0 0 0 0 0 0 0 2 5 5",
    "a man rides a horse": "5 5 2 2 3 3 2 2 0 0 0 0 0 0 0 0 0 0 0 0 1 5 5",
    "": "0 5 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
}
EVALS = [((0,), 0.4398732861414338), ((1,), 1.0), ((0, 1), 0.5306884784335151), ((2,), 0.0)]


def score(task, measure=None, ci=None):
    measures = [measure or METEOR()]
    return laws.scores(evaluate(task, measures), measures, ci)[0]


def by_name(lines):
    """Counts as the formula takes them, from lines as the program gives them."""
    rows = np.array(lines, np.float64)
    rows[[oracle.whole(line) for line in lines], COUNTS.index("chunks")] = 0
    return dict(zip(COUNTS, rows.T, strict=True))


@st.composite
def lines(draw):
    """Lines that a matcher can give, whole matches among them."""
    n_pred, n_ref = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    hits = draw(st.just(min(n_pred, n_ref)) | st.integers(0, min(n_pred, n_ref)))
    function = draw(st.integers(0, hits))
    stages = np.zeros((4, 2, 2), int)
    for place in range(hits):
        stages[draw(st.integers(0, 3)), int(place < function)] += 1
    small = [draw(st.integers(function, n - hits + function)) for n in (n_pred, n_ref)]
    chunks = draw(st.integers(1, hits)) if hits else 0
    return [n_pred, n_ref, *small, *stages.ravel().tolist(), chunks, hits, hits]


@given(st.lists(lines(), min_size=1, max_size=6))
def test_formula_and_oracle(drawn):
    counts = by_name(drawn)
    single = meteor_value(counts)
    assert single == pytest.approx([oracle.meteor([line]) for line in drawn], abs=1e-12)
    assert ((single >= 0) & (single <= 1)).all()
    together = meteor_value({name: column.sum() for name, column in counts.items()})
    assert float(together) == pytest.approx(oracle.meteor(drawn), abs=1e-12)


@pytest.mark.parametrize(("chosen", "value"), EVALS)
def test_what_the_program_says_of_its_lines(chosen, value):
    said = [[int(part) for part in line.split()] for line in SAID.values()]
    drawn = [said[place] for place in chosen]
    assert oracle.meteor(drawn) == pytest.approx(value, abs=1e-12)
    sums = {name: column.sum() for name, column in by_name(drawn).items()}
    assert float(meteor_value(sums)) == pytest.approx(value, abs=1e-12)


# A stand-in for Java: a program that knows equal words only, where the real one would be started.
PROGRAM = """#!{python}
import json, sys
sys.path.insert(0, {tests!r})
from oracles.meteor import exact_line
with open({log!r}, "a", encoding="utf-8") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
given = sys.stdin.buffer.read().decode("utf-8").splitlines()
for number, line in enumerate(given):
    if number == {stop}:
        sys.exit("Exception: no more")
    word, *references, candidate = line.split(" ||| ")
    assert word == "SCORE"
    if candidate.startswith("odd"):
        print("Error: odd")
    else:
        print(*(f"{{float(part)}}" for part in exact_line(candidate, references)))
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Make the program start another; gives a list of how it was started, after the fact."""
    if os.name == "nt":
        pytest.skip("the stand-in is a script with a first line that Windows does not read")
    files = ("meteor/meteor-1.5.jar", "meteor/data/paraphrase-en.gz")
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *files)
    log = tmp_path / "log"

    def install(stop=-1):
        tests = str(Path(oracle.__file__).parents[1])
        text = PROGRAM.format(python=sys.executable, tests=tests, log=str(log), stop=stop)
        fake_java(monkeypatch, tmp_path / "bin", text)
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]

    return install


def captions(number, seed=0):
    chance = random.Random(seed)

    def one(least=0):
        return " ".join(chance.choices(WORDS, k=chance.randint(least, 7)))

    return [one() for _ in range(number)], [
        [one(1) for _ in range(chance.randint(1, 3))] for _ in range(number)
    ]


def test_items_and_the_corpus(stand_in):
    started = stand_in()
    candidates, references = captions(300)
    candidates[:2] = [references[0][0], references[1][-1]]  # whole matches
    found = score(task_of(candidates, references))
    expected = [oracle.exact_line(*pair) for pair in zip(candidates, references, strict=True)]
    assert found.items == pytest.approx([oracle.meteor([line]) for line in expected], abs=1e-12)
    assert found.value == pytest.approx(oracle.meteor(expected), abs=1e-12)
    assert found.items[0] == 1.0
    assert abs(found.items.mean() - found.value) > 1e-3
    (command,) = started()
    assert command[-5:] == ["-", "-stdio", "-l", "en", "-norm"]
    assert "meteor-1.5.jar" in command


def test_intervals_are_the_formula_on_resampled_sums(stand_in):
    stand_in()
    candidates, references = captions(30, 2)
    ci = Bootstrap(resamples=50, method="percentile")
    found = score(task_of(candidates, references), ci=ci)
    rows = [oracle.exact_line(*pair) for pair in zip(candidates, references, strict=True)]
    draw = np.random.default_rng(Bootstrap().seed)
    order = found.statistics.order
    values = [
        oracle.meteor([rows[place] for place in order[draw.integers(0, 30, 30)]]) for _ in range(50)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    assert (found.ci.low, found.ci.high) == pytest.approx((low, high), abs=1e-12)


def test_a_program_that_fails(stand_in):
    stand_in(stop=1)
    with refused("meteor-failed", why="code 1 after 1 of 2 segments: Exception: no more"):
        segment_counts(["a", "b"], [["a"], ["b"]])
    stand_in()
    with refused("meteor-failed"):
        segment_counts(["odd"], [["a"]])


@pytest.fixture(scope="module")
def program():
    """The real program: gives the answers to lines."""
    missing = METEOR_PROGRAM.missing()
    if missing:
        pytest.skip(missing)

    def ask(given):
        java, folder = METEOR_PROGRAM.locate()
        done = subprocess.run(
            [java, "-Xmx2G", "-jar", "meteor-1.5.jar", "-", "-", "-stdio", "-l", "en", "-norm"],
            input="".join(f"{line}\n" for line in given).encode(),
            capture_output=True,
            cwd=folder,
            check=True,
        )
        return done.stdout.decode().splitlines()

    return ask


def asked(program, statistics, groups):
    """The program's segment values and corpus value of groups of lines."""
    evals = ["EVAL ||| " + " ||| ".join(statistics[one] for one in group) for group in groups]
    answers = iter(map(float, program(evals)))
    return [([next(answers) for _ in group], next(answers)) for group in groups]


@pytest.mark.slow
def test_the_program_on_lines_of_any_kind(program):
    @settings(database=None, derandomize=True)
    @given(st.lists(lines(), min_size=1, max_size=4))
    def collect(drawn):
        every.append(drawn)

    every = []
    collect()
    statistics = [" ".join(map(str, line)) for drawn in every for line in drawn]
    bounds = np.cumsum([0, *map(len, every)]).tolist()
    groups = [list(range(a, b)) for a, b in pairwise(bounds)]
    for drawn, (_, value) in zip(every, asked(program, statistics, groups), strict=True):
        assert oracle.meteor(drawn) == pytest.approx(value, abs=1e-12)


class TestNltk:
    """METEOR-nltk: the function of nltk itself, item by item."""

    @pytest.fixture
    def corpus(self):
        corpus = pytest.importorskip("nltk.corpus", reason="nltk is not installed")
        try:
            corpus.wordnet.ensure_loaded()
        except (LookupError, OSError):
            pytest.skip("nltk has no WordNet data")

    @pytest.fixture
    def fake(self, monkeypatch):
        """A stand-in for nltk, whose value is the share of the candidate's words that occur."""

        def meteor_score(references, hypothesis, *, alpha, beta, gamma):
            seen.append((alpha, beta, gamma))
            return max(sum(w in one for w in hypothesis) / 8 for one in references)

        seen = []
        state = SimpleNamespace(seen=seen, error=None)

        def ensure_loaded():
            if state.error:
                raise state.error

        wordnet = SimpleNamespace(ensure_loaded=ensure_loaded)
        parts = {
            "nltk": SimpleNamespace(),
            "nltk.corpus": SimpleNamespace(wordnet=wordnet),
            "nltk.translate": SimpleNamespace(),
            "nltk.translate.meteor_score": SimpleNamespace(meteor_score=meteor_score),
        }
        for name, part in parts.items():
            monkeypatch.setitem(sys.modules, name, part)
        return state

    def test_items_are_those_of_nltk(self, corpus):
        from nltk.translate.meteor_score import meteor_score

        candidates, references = captions(60, 6)
        tokens = [[one.split() for one in several] for several in references]
        for options in ({}, {"alpha": 0.5, "beta": 1.0, "gamma": 0.25}):
            expected = [
                meteor_score(several, one.split(), **options)
                for one, several in zip(candidates, tokens, strict=True)
            ]
            found = score(task_of(candidates, references), METEOR_NLTK(**options))
            assert found.items == pytest.approx(expected, abs=1e-12)
            assert found.value == pytest.approx(np.mean(expected), abs=1e-12)

    def test_means_and_options(self, fake):
        candidates, references = ["a man", "a horse", "two dogs"], [["a man on", "a"], ["a"], []]
        found = score(task_of(candidates, references), METEOR_NLTK(alpha=0.5))
        assert found.items.tolist()[:2] == [0.25, 0.125]
        assert np.isnan(found.items[2])
        assert found.value == 0.1875
        assert found.undefined == {"no_reference": 1}
        assert fake.seen == [(0.5, 3.0, 0.5)] * 2
        with_zero = score(task_of(candidates, references), METEOR_NLTK(no_reference="0"))
        assert with_zero.value == 0.125

    @pytest.mark.parametrize(
        ("option", "value"), [("alpha", 1.5), ("gamma", -0.1), ("beta", -1.0), ("beta", np.inf)]
    )
    def test_options_out_of_range(self, option, value):
        with refused("bad-option", name=option):
            METEOR_NLTK(**{option: value})

    @pytest.mark.parametrize("error", [LookupError("no data"), OSError("no index.sense")])
    def test_without_data(self, fake, error):
        fake.error = error
        with refused("no-wordnet"):
            score(task_of(["a"], [["a"]]), METEOR_NLTK())

    def test_without_nltk(self, monkeypatch):
        for name in ("nltk", "nltk.corpus", "nltk.translate.meteor_score"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(MissingDependencyError, match=r"pip install 'semmetrics\[wordnet\]'"):
            score(task_of(["a"], [["a"]]), METEOR_NLTK())
