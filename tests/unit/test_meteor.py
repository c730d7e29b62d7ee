"""METEOR against its oracle, and against the program itself where it and Java are."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from importlib.util import find_spec
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
from stand_ins import (
    METEOR_LISTS,
    PARAPHRASES,
    fake_java,
    fake_pycocoevalcap,
    meteor_programs,
    small_meteor,
    write_meteor,
)

import semmetrics
from semmetrics.core.alignment import Matches, align
from semmetrics.errors import MissingDependencyError
from semmetrics.metrics.meteor import METEOR, METEOR_NLTK, java_counts
from semmetrics.metrics.meteor_formula import COUNTS, meteor_value
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.text import java, meteor_words, paraphrase_table, paraphrases
from semmetrics.text import meteor as words
from semmetrics.text.java import METEOR_FILES
from semmetrics.text.meteor_words import normalize
from semmetrics.text.paraphrases import open_paraphrases
from semmetrics.text.porter2 import english_stem
from semmetrics.text.synonyms import open_synonyms

WORDS = [
    "a",
    "the",
    "man",
    "men",
    "guy",
    "horse",
    "pony",
    "dog",
    "dogs",
    "puppy",
    "rides",
    "is",
    "riding",
    "runs",
    "jogs",
    "on",
    "upon",
    "big",
    "large",
    "animal",
]


# What the program says of lines, and of them together: an EVAL of its own.
SAID = {
    "a man is riding a horse": "6 5 3 2 2 2 2 2 1 1 0 0 0 0 0 0 0 0 0 0 2 5 5",
    "a man rides a horse": "5 5 2 2 3 3 2 2 0 0 0 0 0 0 0 0 0 0 0 0 1 5 5",
    "": "0 5 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
}
EVALS = [
    ((0,), 0.4398732861414338),
    ((1,), 1.0),
    ((0, 1), 0.5306884784335151),
    ((2,), 0.0),
]


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


# Pairs of references whose values are equal, and which of the two the program takes.
EQUAL = [
    (
        "9 9 5 7 2 2 2 2 0 0 0 0 0 0 0 0 0 0 0 0 2 4 4",
        "9 9 5 5 3 3 1 1 0 0 0 0 0 0 0 0 0 0 0 0 2 4 4",
        1,
    ),
    (
        "6 6 2 2 2 2 1 1 0 0 0 0 1 1 0 0 1 1 0 0 1 5 5",
        "6 6 2 2 2 2 1 1 1 1 0 0 1 1 0 0 0 0 0 0 1 5 5",
        0,
    ),
    (
        "7 7 2 2 3 3 2 2 1 1 0 0 0 0 0 0 0 0 0 0 2 6 6",
        "7 8 2 1 5 5 1 1 0 0 0 0 0 0 0 0 0 0 0 0 2 6 6",
        0,
    ),
    (
        "7 7 2 2 3 3 1 1 2 2 0 0 0 0 0 0 0 0 0 0 2 6 6",
        "7 7 2 2 3 3 1 1 1 1 0 0 0 0 0 0 1 1 0 0 2 6 6",
        0,
    ),
    (
        "11 12 3 6 3 3 2 2 2 2 0 0 0 0 0 0 0 0 0 0 4 7 7",
        "11 10 3 3 3 3 2 2 1 1 0 0 0 0 0 0 1 1 0 0 4 7 7",
        1,
    ),
]


@pytest.mark.parametrize(("first", "second", "best"), EQUAL)
def test_of_equal_references_the_one_that_the_program_takes(first, second, best):
    pair = [[int(part) for part in line.split()] for line in (first, second)]
    assert oracle.meteor(pair[:1]) == pytest.approx(oracle.meteor(pair[1:]), abs=1e-15)
    assert meteor_value(by_name(pair)).argmax() == best


# ---- words ------------------------------------------------------------------------------------

ODD = [
    "dog",
    "Dog",
    "don't",
    "u.s.",
    "U.S.",
    "Mr.",
    "No.",
    "5",
    "1,000",
    "3.5",
    "'s",
    "s'",
    "'90s",
    "5's",
    "x-ray",
    "a-b-c",
    "--",
    "–",
    "—",
    "...",
    ".",
    ",",
    "!",
    '"',
    "''",
    "`",
    "‘",
    "’",
    "“",
    "”",
    "é",
    "Ž",
    "Ÿ",
    "Ё",
    "中",
    "ß",
    "(",
    "|",
    "|||",
    "_",
    "ſ",
    "×",
    "\u00a0",
    "\x01",
    "\x1c",
    "\u1680",
    "\t",
    "\U0001f600",
    "İ",
    "Σ",
    " ",
]
STEMS = {
    "riding": "ride",
    "rides": "ride",
    "skies": "sky",
    "dying": "die",
    "generously": "generous",
    "'cause": "caus",
    "dog's": "dog",
    "dogs'": "dog",
    "ties": "tie",
    "cries": "cri",
    "gas": "gas",
    "kiwis": "kiwi",
    "agreed": "agre",
    "hopping": "hop",
    "hoping": "hope",
    "falling": "fall",
    "toy": "toy",
    "by": "by",
    "happy": "happi",
    "relational": "relat",
    "apologist": "apologist",
    "geologi": "geolog",
    "gently": "gentl",
    "quickly": "quick",
    "hopefulness": "hope",
    "adoption": "adopt",
    "lion": "lion",
    "controll": "control",
    "innings": "inning",
    "see": "see",
    "yellow": "yellow",
    "sayyid": "sayyid",
    "communism": "communism",
    "conversational": "convers",
}


@given(
    st.lists(
        st.tuples(st.sampled_from(ODD), st.sampled_from(["", "", " "])), max_size=9
    )
)
def test_the_words_of_a_caption(parts):
    text = "".join(one + blank for one, blank in parts)
    with meteor_programs():
        several = normalize([text, "", text])
        expected = oracle.split(text.replace("|||", ""), ["Mr"], ["No"])
    assert several == [expected, [], expected]


def test_stems():
    assert {word: english_stem(word) for word in STEMS} == STEMS


# ---- alignment ----------------------------------------------------------------------------------

spans = st.tuples(*[st.integers(0, 9), st.integers(1, 3)] * 2, st.integers(0, 3))


@given(
    st.lists(spans, min_size=1, max_size=40),
    st.lists(spans, max_size=9),
    st.integers(1, 70),
)
@settings(max_examples=300)
def test_the_beam_and_its_oracle(one, other, far):
    pairs = []
    # the second pair has no match, and the others are far apart
    for found in (
        one,
        [],
        other,
    ):
        moved = [(j * far, n, i * far, m, stage) for j, n, i, m, stage in found]
        pairs.append(sorted(moved, key=lambda match: match[0]))
    size = np.full(len(pairs), 9 * far + 4)
    rows = [
        (pair, j, i, n, m, stage)
        for pair, found in enumerate(pairs)
        for j, n, i, m, stage in found
    ]
    matches = Matches(*np.array(rows).T)
    chosen = align(matches, size, size)
    for number, found in enumerate(pairs):
        best = oracle.align(found, int(size[0]), int(size[0]))
        taken = [
            row[1:]
            for row, kept in zip(rows, chosen, strict=True)
            if kept and row[0] == number
        ]
        assert [(j, n, i, m, stage) for j, i, n, m, stage in taken] == list(best)


def small_data(some=PARAPHRASES):
    synonyms = open_synonyms(java.METEOR_LISTS)
    function = METEOR_LISTS["function/english.words"]
    return oracle.Data(english_stem, synonyms.synsets, some, function)


def drawn(number, seed=0, most=14, vocabulary=WORDS):
    chance = random.Random(seed)

    def one(least=0):
        return " ".join(chance.choices(vocabulary, k=chance.randint(least, most)))

    return [one() for _ in range(number)], [
        [one(1) for _ in range(chance.randint(1, 3))] for _ in range(number)
    ]


@pytest.fixture
def small():
    with meteor_programs():
        yield


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize(
    ("n", "most", "vocabulary"),
    [
        (100, 14, WORDS),
        (50, 30, WORDS[:6]),
        (12, 150, WORDS),
    ],
)
def test_counts_and_their_oracle(small, table, n, most, vocabulary):
    mine, theirs = drawn(n, 3, most, vocabulary)
    texts = [*mine, *(several[0] for several in theirs), "big dog", "big dog"]
    data = small_data(PARAPHRASES if table else ())
    sentences = words.Sentences(texts, open_paraphrases() if table else None)
    pairs = np.append(np.arange(n), 2 * n), np.append(np.arange(n, 2 * n), 2 * n + 1)
    expected = [
        data.line(*(texts[side].split() for side in pair))
        for pair in zip(*map(np.ndarray.tolist, pairs), strict=True)
    ]
    assert sentences.counts(*pairs).tolist() == expected
    assert sentences.counts(*(side[:0] for side in pairs)).shape == (0, 23)


def test_blocks_do_not_change_counts(small, monkeypatch):
    mine, theirs = drawn(60, 5)
    texts = [*mine, *(several[0] for several in theirs)]
    pairs = np.arange(60), np.arange(60, 120)
    expected = words.Sentences(texts, open_paraphrases()).counts(*pairs).tolist()
    monkeypatch.setattr(words, "_MAX_CELLS_PER_BATCH", 7)
    assert (
        words.Sentences(texts, open_paraphrases()).counts(*pairs).tolist() == expected
    )
    monkeypatch.setattr(words, "_MAX_MATCHES", 3)
    with refused("too-many-matches"):
        words.Sentences(["a a", "a a"], open_paraphrases()).counts(
            *np.array([[0], [1]])
        )


def test_a_word_that_is_repeated_too_often_is_an_error(small):
    sentences = words.Sentences([" ".join(["dog"] * 1025), "a dog"], None)
    with refused("too-many-matches"):
        sentences.counts(*np.array([[0], [0]]))
    assert sentences.counts(*np.array([[0, 1], [1, 0]]))[:, 4].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("n_pred", "n_ref"), [(16_385, 1), (1, 16_385), (5_793, 5_793)]
)
def test_captions_too_long_to_be_compared_are_an_error(small, n_pred, n_ref):
    texts = [
        " ".join(f"a{k}" for k in range(n_pred)),
        " ".join(f"b{k}" for k in range(n_ref)),
    ]
    sentences = words.Sentences(texts, None)
    with refused("caption-too-long", n_pred=n_pred, n_ref=n_ref):
        sentences.counts(*np.array([[0], [1]]))


@pytest.mark.parametrize(
    ("n_pred", "n_ref"), [(16_384, 2), (2, 16_384), (20_000, 0), (0, 20_000)]
)
def test_a_long_caption_with_a_short_or_empty_one_has_counts(small, n_pred, n_ref):
    texts = [" ".join(["dog"] * n_pred), " ".join(["dog"] * n_ref)]
    counts = words.Sentences(texts, None).counts(*np.array([[0], [1]]))
    n_matched = min(n_pred, n_ref)
    assert counts[0, :2].tolist() == [n_pred, n_ref]
    assert counts[0, 21:].tolist() == [n_matched, n_matched]


# ---- the table of paraphrases -------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Files of METEOR that a test may change; gives their folder."""
    place = write_meteor(tmp_path / "meteor")
    with small_meteor(place):
        yield place


def test_a_table_is_converted_once(folder):
    said = []
    targets = open_paraphrases(
        lambda done, total: said.append((done, total))
    ).targets.tolist()
    assert said[-1][0] == said[-1][1] > 0
    (kept,) = [path for path in (folder / "kept").iterdir() if path.suffix != ".lock"]
    before, when = kept.read_bytes(), kept.stat().st_mtime_ns
    for damage in (None, b"", before[:9], before[:-1], before + b"x", b"x" * 100):
        paraphrases._opened.clear()  # nothing maps it
        if damage is not None:
            kept.write_bytes(damage)
        assert open_paraphrases().targets.tolist() == targets
        assert kept.read_bytes() == before
        assert (kept.stat().st_mtime_ns == when) is (damage is None)


def test_a_flipped_byte_of_the_converted_table_changes_nothing(folder):
    captions = [
        "a man rides a horse on the hill",
        "the guy is riding a pony upon large animal",
    ]
    both = np.array([0, 1]), np.array([1, 0])

    def line():
        return words.Sentences(captions, open_paraphrases()).counts(*both).tolist()

    expected = line()
    (kept,) = [path for path in (folder / "kept").iterdir() if path.suffix != ".lock"]
    before = kept.read_bytes()
    for place in range(0, len(before), 7):
        flipped = bytearray(before)
        flipped[place] ^= 1 << place % 8
        kept.write_bytes(flipped)
        paraphrases._opened.clear()
        assert line() == expected
        assert kept.read_bytes() == before


def test_the_name_of_the_converted_table_has_its_layout(folder):
    old = folder / "kept" / f"paraphrases-{paraphrase_table._CRC_AND_LENGTH[0]:08x}"
    old.parent.mkdir()
    old.write_bytes(b"of an earlier version")
    assert len(open_paraphrases().targets) == len(PARAPHRASES)
    assert old.read_bytes() == b"of an earlier version"


def test_a_table_that_cannot_be_kept(folder):
    (folder / "kept").write_text("no folder")
    assert len(open_paraphrases().targets) == len(PARAPHRASES)


def damaged(folder, change):
    path = folder / "data" / "paraphrase-en.gz"
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    {
        "cut off": lambda data: data[:-9],
        "empty": lambda data: b"",
        "another": lambda data: gzip.compress(b"0.5\na\nb\n"),
        "flipped": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        "zeros within": lambda data: data[:30] + bytes(len(data) - 38) + data[-8:],
    }.values(),
)
def test_a_damaged_table(folder, change):
    damaged(folder, change)
    with refused("damaged-package"):
        open_paraphrases()
    assert not [path for path in (folder / "kept").glob("*") if path.suffix != ".lock"]


def test_lines_that_are_no_entries(folder, monkeypatch):
    text = b"0.5\na\n"
    damaged(folder, lambda data: gzip.compress(text))
    end = np.frombuffer((folder / "data" / "paraphrase-en.gz").read_bytes()[-8:], "<u4")
    monkeypatch.setattr(paraphrase_table, "_CRC_AND_LENGTH", tuple(end.tolist()))
    with refused("damaged-package") as caught:
        open_paraphrases()
    assert "2 lines" in str(caught.value)


def test_word_lists_of_another_version(folder, monkeypatch):
    name = "function/english.words"
    monkeypatch.setitem(meteor_words._CHECKSUMS, name, 1)
    with refused("damaged-package") as caught:
        meteor_words.read_list(name)
    assert f"{name} is not that of METEOR 1.5" in str(caught.value)
    (folder / "meteor-1.5.jar").write_bytes(b"no jar")
    with refused("damaged-package"):
        meteor_words.read_list(name)


CONVERT = """
import sys
from pathlib import Path
from stand_ins import small_meteor
from semmetrics.text.paraphrases import open_paraphrases
with small_meteor(Path(sys.argv[1])):
    print(len(open_paraphrases().targets))
"""


def test_processes_that_convert_at_once(folder):
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, Path(__file__).parents[1:3])),
    }
    run = [sys.executable, "-c", CONVERT, str(folder)]
    several = [subprocess.Popen(run, env=env, stdout=subprocess.PIPE) for _ in range(3)]
    assert {one.communicate()[0].strip() for one in several} == {
        str(len(PARAPHRASES)).encode()
    }


# ---- the measure ------------------------------------------------------------------------------


def best_lines(data, mine, theirs):
    """The line of each item, of the first of its best references."""
    lines = [
        [data.line(one.split(), other.split()) for other in several]
        for one, several in zip(mine, theirs, strict=True)
    ]
    return [max(several, key=lambda line: oracle.meteor([line])) for several in lines]


def test_items_and_the_corpus(small):
    mine, theirs = drawn(200, 1)
    mine[:2] = [theirs[0][0], theirs[1][-1]]  # whole matches
    found = score(task_of(mine, theirs))
    expected = best_lines(small_data(), mine, theirs)
    assert found.items == pytest.approx(
        [oracle.meteor([line]) for line in expected], abs=1e-12
    )
    assert found.value == pytest.approx(oracle.meteor(expected), abs=1e-12)
    assert found.items[0] == 1.0
    assert abs(found.items.mean() - found.value) > 1e-3


def test_parts(small):
    mine, theirs = drawn(50, 8)
    total = np.sum(best_lines(small_data(), mine, theirs), axis=0).tolist()
    both = total[0] + total[1]
    expected = {
        "precision": oracle.share(total, 0),
        "recall": oracle.share(total, 1),
        **{
            one: sum(total[at : at + 4]) / both
            for one, at in zip(words.STAGES, (4, 8, 12, 16), strict=True)
        },
    }
    table = semmetrics.score(
        mine,
        theirs,
        tokenizer="whitespace",
        task="captions",
        measures=[METEOR(part=part) for part in (*expected, "fragmentation")],
    )
    *others, fragmentation = table.scores
    assert [one.value for one in others] == pytest.approx(
        [float(x) for x in expected.values()], abs=1e-12
    )
    assert fragmentation.value == pytest.approx(
        2 * total[20] / (total[21] + total[22]), abs=1e-12
    )
    assert not fragmentation.measure.higher_is_better
    assert fragmentation.measure.with_options(part="recall").higher_is_better


def test_intervals_are_the_formula_on_resampled_sums(small):
    mine, theirs = drawn(30, 2)
    found = score(
        task_of(mine, theirs), ci=Bootstrap(resamples=50, method="percentile")
    )
    rows = best_lines(small_data(), mine, theirs)
    draw = np.random.default_rng(Bootstrap().seed)
    order = found.statistics.order
    values = [
        oracle.meteor([rows[place] for place in order[draw.integers(0, 30, 30)]])
        for _ in range(50)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    assert (found.ci.low, found.ci.high) == pytest.approx((low, high), abs=1e-12)


def test_the_matches_of_many_items_are_found_in_turn(small, monkeypatch):
    # two captions of two words
    monkeypatch.setattr(words, "_MAX_CELLS_PER_BATCH", 9)
    monkeypatch.setattr(words, "_MAX_MATCHES", 5)  # those of one item, not of both
    sides = {"a": "dog dog", "b": "dog dog"}, {"a": ["dog dog"], "b": ["dog dog"]}
    table = semmetrics.score(*sides, measures="METEOR", tokenizer="whitespace")
    rows = [
        (row["id"], row["start"], row["reference_start"]) for row in table.matches()
    ]
    assert rows == [("a", 1, 1), ("a", 2, 2), ("b", 1, 1), ("b", 2, 2)]


SIDES = (
    {"a": "the big dog rides on a horse"},
    {"a": ["cats", "puppy is riding the pony . Mr. X"]},
)


def test_the_words_that_are_aligned(small):
    table = semmetrics.score(*SIDES, measures="METEOR", tokenizer="whitespace")
    rows = [tuple(row.values()) for row in table.matches()]
    assert rows == [
        ("a", "preds", 1, "the", 2, 4, "the", "exact"),
        ("a", "preds", 2, "big", 2, None, None, None),
        ("a", "preds", 3, "dog", 2, 1, "puppy", "synonym"),
        ("a", "preds", 4, "rides", 2, 2, "is riding", "paraphrase"),
        ("a", "preds", 5, "on", 2, None, None, None),
        ("a", "preds", 6, "a", 2, None, None, None),
        # found twice, so that it is not fixed
        (
            "a",
            "preds",
            7,
            "horse",
            2,
            None,
            None,
            None,
        ),
        *(
            ("a", "preds", None, None, 2, place, word, None)
            for place, word in ((5, "pony"), (6, "."), (7, "mr."), (8, "x"))
        ),
    ]
    (worst,) = table.worst(1)
    assert worst["aligned"][1] == ["dog", "puppy", "synonym"]
    assert worst["unmatched"] == [["big"], ["on"], ["a"], ["horse"]]
    assert worst["missing"] == [["pony"], ["."], ["mr."], ["x"]]


@pytest.mark.parametrize(
    "measure", ["METEOR", "METEOR(paraphrases=false)", "METEOR(part=recall)"]
)
def test_all_captions_for_all_images(small, measure):
    mine, theirs = drawn(12, 4)
    found = semmetrics.caption_matrix(
        theirs, mine, measure=measure, tokenizer="whitespace"
    )
    every = [(one, several) for several in theirs for one in mine]
    table = semmetrics.score(
        *map(list, zip(*every, strict=True)),
        measures=measure,
        tokenizer="whitespace",
        task="captions",
    )
    assert found.ravel() == pytest.approx(table[0].items, abs=1e-12)


def test_without_the_package(monkeypatch):
    monkeypatch.setattr("semmetrics.text.java.find_spec", lambda name: None)
    for measure in ("METEOR", "METEOR(paraphrases=false)", "METEOR(program=java)"):
        with pytest.raises(MissingDependencyError, match=r"semmetrics\[captions\]"):
            semmetrics.score(*SIDES, measures=measure)


# ---- the program itself ---------------------------------------------------------------------

# A stand-in for Java: a program that knows equal words only.
PROGRAM = """#!{python}
import sys
sys.path.insert(0, {tests!r})
from oracles.meteor import Data
data = Data(lambda word: word, lambda word: set(), ())
for number, line in enumerate(sys.stdin.buffer.read().decode("utf-8").splitlines()):
    if number == {stop}:
        sys.exit("Exception: no more")
    word, reference, candidate = line.split(" ||| ")
    assert word == "SCORE"
    if candidate.startswith("odd"):
        print("Error: odd")
    else:
        print(*(f"{{float(part)}}" for part in data.line(candidate.split(), reference.split())))
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Make the program start another."""
    if os.name == "nt":
        pytest.skip(
            "the stand-in is a script with a first line that Windows does not read"
        )
    files = (f"{METEOR_FILES.folder}/{name}" for name in METEOR_FILES.files)
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *files)

    def install(stop=-1):
        tests = str(Path(oracle.__file__).parents[1])
        text = PROGRAM.format(python=sys.executable, tests=tests, stop=stop)
        fake_java(monkeypatch, tmp_path / "bin", text)

    return install


def test_a_program_that_counts(stand_in):
    stand_in()
    mine, theirs = drawn(40, 6)
    found = score(task_of(mine, theirs), METEOR(program="java"))
    data = oracle.Data(lambda word: word, lambda word: set(), ())
    assert found.value == pytest.approx(
        oracle.meteor(best_lines(data, mine, theirs)), abs=1e-12
    )


def test_a_program_that_fails(stand_in):
    stand_in(stop=1)
    with refused(
        "meteor-failed", why="code 1 after 1 of 2 segments: Exception: no more"
    ):
        java_counts(["a", "b"], *np.array([[0, 1], [0, 1]]))
    stand_in()
    with refused("meteor-failed"):
        java_counts(["odd", "a"], *np.array([[0], [1]]))


@pytest.fixture(scope="module")
def program():
    """The real program, where it and Java are."""
    if not find_spec("pycocoevalcap"):
        pytest.skip("pycocoevalcap is not installed")
    try:
        return METEOR_FILES.locate()
    except semmetrics.errors.InputError as error:
        pytest.skip(str(error))


COMMON = [
    "a",
    "the",
    "an",
    "in",
    "on",
    "of",
    "to",
    "is",
    "are",
    "with",
    "and",
    "man",
    "woman",
    "boy",
    "dog",
    "dogs",
    "playing",
    "plays",
    "sitting",
    "sits",
    "riding",
    "street",
    "road",
    "field",
    "next",
    "near",
    "top",
    "front",
    "large",
    "big",
    "small",
    "young",
    "little",
    "old",
    "elderly",
    "group",
    "people",
    "kid",
    "child",
    "children",
    "rides",
    "bike",
    "bicycle",
    "motorcycle",
    ".",
    ",",
    "one",
    "number",
    "at",
    "least",
    "due",
    "because",
    "take",
    "place",
]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["true", "false"])
@pytest.mark.parametrize(
    ("vocabulary", "number"), [(COMMON, 8000), (ODD + COMMON[:20], 8000)]
)
def test_the_program_counts_the_same(program, vocabulary, number, table):
    mine, theirs = drawn(number, 9, 16, [one for one in vocabulary if one != "|||"])
    texts = [*mine, *(several[0] for several in theirs)]
    pairs = np.arange(number), np.arange(number, 2 * number)
    sentences = words.Sentences(texts, open_paraphrases() if table == "true" else None)
    assert (
        sentences.counts(*pairs).tolist() == java_counts(texts, *pairs, table).tolist()
    )


def asked(program, statistics, groups):
    """The program's segment values and corpus value of groups of lines."""
    java, folder = program
    evals = [
        "EVAL ||| " + " ||| ".join(statistics[one] for one in group) for group in groups
    ]
    done = subprocess.run(
        [
            java,
            "-Xmx2G",
            "-jar",
            "meteor-1.5.jar",
            "-",
            "-",
            "-stdio",
            "-l",
            "en",
            "-norm",
        ],
        input="".join(f"{line}\n" for line in evals).encode(),
        capture_output=True,
        cwd=folder,
        check=True,
    )
    answers = iter(map(float, done.stdout.decode().splitlines()))
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
    for drawn, (_, value) in zip(
        every, asked(program, statistics, groups), strict=True
    ):
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

        candidates, references = drawn(60, 6)
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
        candidates, references = (
            ["a man", "a horse", "two dogs"],
            [["a man on", "a"], ["a"], []],
        )
        found = score(task_of(candidates, references), METEOR_NLTK(alpha=0.5))
        assert found.items.tolist()[:2] == [0.25, 0.125]
        assert np.isnan(found.items[2])
        assert found.value == 0.1875
        assert found.undefined == {"no_reference": 1}
        assert fake.seen == [(0.5, 3.0, 0.5)] * 2
        with_zero = score(
            task_of(candidates, references), METEOR_NLTK(no_reference="0")
        )
        assert with_zero.value == 0.125

    @pytest.mark.parametrize(
        ("option", "value"),
        [("alpha", 1.5), ("gamma", -0.1), ("beta", -1.0), ("beta", np.inf)],
    )
    def test_options_out_of_range(self, option, value):
        with refused("bad-option", name=option):
            METEOR_NLTK(**{option: value})

    @pytest.mark.parametrize(
        "error", [LookupError("no data"), OSError("no index.sense")]
    )
    def test_without_data(self, fake, error):
        fake.error = error
        with refused("no-wordnet"):
            score(task_of(["a"], [["a"]]), METEOR_NLTK())

    def test_without_nltk(self, monkeypatch):
        for name in ("nltk", "nltk.corpus", "nltk.translate.meteor_score"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(
            MissingDependencyError, match=r"pip install 'semmetrics\[wordnet\]'"
        ):
            score(task_of(["a"], [["a"]]), METEOR_NLTK())
