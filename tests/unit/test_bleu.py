"""BLEU against loops, and what sums of counts allow."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import captions_ngram as oracle
from oracles.captions_ngram import task_of
from refusals import refused

from semmetrics.core.columns import as_floats
from semmetrics.core.ngrams import count_ngrams
from semmetrics.data.block import Block
from semmetrics.metrics.bleu import BLEU, BleuCounts, clipped_matches
from semmetrics.metrics.registry import parse
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.result import score_statistics

RULES = ("closest", "shortest", "average")
TEXT = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
ITEM = st.tuples(TEXT, st.lists(TEXT, max_size=4))
ITEMS = st.lists(ITEM, min_size=1, max_size=6)
FOUR = [definition() for definition in BLEU]


def sides(items):
    return [mine for mine, _ in items], [theirs for _, theirs in items]


def scores(task, measures=FOUR, **options):
    statistics = evaluate(task, measures)
    chosen = {"one": [(measure, "") for measure in measures]}
    return score_statistics({"one": statistics}, chosen, headings=[*map(str, measures)], **options)


def rows_of(items, rule="closest"):
    return [
        oracle.bleu_row(mine.split(), [t.split() for t in theirs], rule) for mine, theirs in items
    ]


@given(ITEMS, st.sampled_from(RULES))
@settings(max_examples=150, deadline=None)
def test_counts_and_values_are_those_of_loops(items, rule):
    task = task_of(*sides(items))
    columns = BleuCounts(rule).compute(Block(task, 0, len(task)))
    rows = rows_of(items, rule)
    assert columns["testlen"].values.tolist() == [row[0] for row in rows]
    assert_allclose(columns["reflen"].values, [row[1] for row in rows], rtol=1e-15)
    for n in range(1, 5):
        assert columns[f"guess_{n}"].values.tolist() == [row[2][n - 1] for row in rows]
        assert columns[f"correct_{n}"].values.tolist() == [row[3][n - 1] for row in rows]
    some = [bool(theirs) for _, theirs in items]
    for n, score in enumerate(scores(task, [one(reflen=rule) for one in BLEU]), 1):
        each = [
            oracle.bleu([row], n) if kept else np.nan for row, kept in zip(rows, some, strict=True)
        ]
        assert_allclose(score.items, each, rtol=1e-12)
        value = oracle.bleu(rows, n) if any(some) else np.nan
        assert_allclose(score.value, value, rtol=1e-12)
        missing = some.count(False)
        assert score.undefined == ({"no_reference": missing} if missing else {})
        defined = np.array(each)[some]
        assert ((defined >= 0) & (defined <= 1)).all()


@given(ITEMS, st.integers(0, 5), st.randoms())
@settings(max_examples=60, deadline=None)
def test_parts_add_up_in_any_order(items, cut, random):
    ids = [f"image{place}" for place in range(len(items))]
    whole = scores(task_of(*sides(items)))
    order = random.sample(range(len(items)), len(items))
    cut = min(cut, len(items))
    parts = [
        evaluate(task_of(*sides([items[i] for i in some]), [ids[i] for i in some]), FOUR)
        for some in (order[:cut], order[cut:])
        if some
    ]
    merged = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    chosen = {"one": [(measure, "") for measure in FOUR]}
    again = score_statistics({"one": merged}, chosen, headings=["x"] * 4)
    for one, other in zip(whole, again, strict=True):
        assert_array_equal(one.value, other.value)
        assert_array_equal(one.items[order], other.items)


@given(ITEMS)
@settings(max_examples=40, deadline=None)
def test_an_item_alone_has_the_counts_that_it_has_in_a_block(items):
    task = task_of(*sides(items))
    whole = BleuCounts().compute(Block(task, 0, len(task)))
    for place in range(len(task)):
        for one in (Block(task, place, place + 1), Block(task.take(np.array([place])), 0, 1)):
            for name, column in BleuCounts().compute(one).items():
                kind = "codes" if name == "cause" else "values"
                assert getattr(column, kind)[0] == getattr(whole[name], kind)[place]


@given(ITEMS.filter(lambda items: any(theirs for _, theirs in items)), st.randoms())
@settings(max_examples=40, deadline=None)
def test_sums_may_have_axes_in_front(items, random):
    """A resample is the corpus of the items drawn."""
    statistics = evaluate(task_of(*sides(items)), FOUR)
    counts = np.array([[random.randrange(3) for _ in items] for _ in range(4)])
    rows = statistics.rows(BleuCounts())
    sums = {name: column.resample(counts.astype(float)) for name, column in rows.items()}
    drawn = [
        [item for item, times in zip(items, row, strict=True) for _ in range(times)]
        for row in counts.tolist()
    ]
    for n, measure in enumerate(FOUR, 1):
        got = measure.definition.family.aggregate(measure, sums, None)
        expected = [
            oracle.bleu(rows_of(some), n) if any(theirs for _, theirs in some) else np.nan
            for some in drawn
        ]
        assert_allclose(got, expected, rtol=1e-12)


def test_all_orders_share_their_counts():
    assert len({measure.definition.family.statistic(measure) for measure in FOUR}) == 1


def test_references_of_one_image_are_for_all_its_candidates():
    task = replace(
        task_of(["a b", "b b", "c"], [["b c"], ["a a"], ["c"]]), images=np.array([1, 0, 1])
    )
    columns = BleuCounts().compute(Block(task, 0, 3))
    assert columns["correct_1"].values.tolist() == [1, 1, 0]


def test_the_shorter_of_two_lengths_as_close():
    assert rows_of([("a a", ["a", "a a a"])])[0][1] == 1
    columns = BleuCounts().compute(Block(task_of(["a a"], [["a a a", "a"]]), 0, 1))
    assert columns["reflen"].values.tolist() == [1]


def test_empty_candidates_are_worth_almost_nothing():
    for score in scores(task_of(["", "a b c d"], [["a"], ["a b c d"]])):
        assert score.items[0] == 0
        assert score.items[1] == pytest.approx(1, abs=1e-8)
        assert score.value == pytest.approx(math.exp(1 - 5 / 4), abs=1e-8)  # four tokens of five


def test_a_repeated_word_counts_as_often_as_in_one_reference():
    # seven times "the": two in the reference that has it most often (Papineni et al. 2002)
    the = task_of(["the the the the the the the"], [["the cat the mat", "the cat"]])
    columns = BleuCounts().compute(Block(the, 0, 1))
    assert columns["correct_1"].values.tolist() == [2]


def test_counts_beyond_a_byte():
    long = "a " * 1000
    columns = BleuCounts().compute(Block(task_of([long], [["a " * 700, "a b " * 600]]), 0, 1))
    assert columns["correct_1"].values.tolist() == [700]
    assert columns["correct_4"].values.tolist() == [697]


def test_without_references():
    task = task_of(["a b", "a"], [["a b"], []])
    skipped, lacking = (
        scores(task, [BLEU[0](no_reference=policy)])[0] for policy in ("skip", "nan")
    )
    assert skipped.value == pytest.approx(1, abs=1e-8)
    assert np.isnan(lacking.value)
    assert lacking.undefined == {"no_reference": 1}
    assert np.isnan(scores(task_of(["a"], [[]]))[0].value)
    with refused("bad-choice"):
        BLEU[0](no_reference="0")


def test_weights_are_times():
    texts, references = ["a b", "b", "c a"], [["a c"], ["b"], ["c a b"]]
    heavy = scores(task_of(texts, references, weights=np.array([2.0, 1.0, 3.0])))
    times = [0, 0, 1, 2, 2, 2]
    many = scores(task_of([texts[i] for i in times], [references[i] for i in times]))
    assert [s.value for s in heavy] == [s.value for s in many]


def test_intervals_hold_the_value():
    rng = random.Random(0)
    items = [
        (" ".join(rng.choices("abcd", k=6)), [" ".join(rng.choices("abcd", k=7))])
        for _ in range(40)
    ]
    for score in scores(task_of(*sides(items)), ci=Bootstrap(resamples=200)):
        assert score.ci.low < score.value < score.ci.high


def test_names():
    measure = parse("BLEU-4(reflen=shortest)")[0]
    assert str(measure) == "BLEU-4(reflen=shortest)"
    assert parse(str(measure)) == [measure]
    assert [str(one) for one in FOUR] == ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"]
    with refused("measure-option"):
        BLEU[0](k=3)


def test_no_references_at_all_in_matches():
    grams = count_ngrams(np.array([0, 2]), np.array([0, 1]), 1)[0]
    none = np.zeros(0, np.int64)
    found = clipped_matches(grams, np.array([0]), np.array([0]), np.array([0, 0]), none)
    assert found.tolist() == [0]


def test_sums_are_whole_numbers():
    statistics = evaluate(task_of(["a b"], [["a c d"]]), FOUR)
    sums = {n: as_floats(s).tolist() for n, s in statistics.sums[BleuCounts()].items()}
    assert sums == {
        "testlen": 2, "reflen": 3, "guess_1": 2, "guess_2": 1, "guess_3": 0, "guess_4": 0,
        "correct_1": 1, "correct_2": 0, "correct_3": 0, "correct_4": 0, "cause": [1, 0, 0, 0, 0],
    }  # fmt: skip
