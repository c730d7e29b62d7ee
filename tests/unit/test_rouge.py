"""ROUGE-L against dynamic programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored, task_of
from refusals import refused

from semmetrics.data.block import Block
from semmetrics.metrics.registry import parse
from semmetrics.metrics.rouge import ROUGE_L
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.result import score_statistics

TEXT = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=4)), min_size=1, max_size=6)


def score_of(items, measure=None, ids=None):
    sides = [mine for mine, _ in items], [theirs for _, theirs in items]
    return scored(*sides, [measure or ROUGE_L()], ids)[0]


@given(ITEMS, st.sampled_from([1.2, 0.0, 1.0, 3.5]))
@settings(max_examples=150, deadline=None)
def test_values_are_those_of_dynamic_programming(items, beta):
    got = score_of(items, ROUGE_L(beta=beta))
    expected = [
        oracle.rouge_l(mine.split(), [t.split() for t in theirs], beta) for mine, theirs in items
    ]
    assert_allclose(got.items, expected, rtol=1e-14)
    defined = [value for value in expected if value == value]
    mean = sum(defined) / len(defined) if defined else np.nan
    assert_allclose(got.value, mean, rtol=1e-12)
    assert all(0 <= value <= 1 for value in defined)
    missing = len(expected) - len(defined)
    assert got.undefined == ({"no_reference": missing} if missing else {})


@given(ITEMS, st.randoms())
@settings(max_examples=50, deadline=None)
def test_items_and_references_in_any_order(items, random):
    ids = [f"image{place}" for place in range(len(items))]
    order = random.sample(range(len(items)), len(items))
    mixed = [(items[i][0], random.sample(items[i][1], len(items[i][1]))) for i in order]
    one, other = score_of(items), score_of(mixed, ids=[ids[i] for i in order])
    assert_array_equal(one.value, other.value)
    assert_array_equal(one.items[order], other.items)


@given(ITEMS, st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_parts_add_up(items, cut):
    whole = score_of(items)
    sides = [[mine for mine, _ in items], [theirs for _, theirs in items]]
    task = task_of(*sides)
    cut = min(cut, len(items))
    parts = [
        evaluate(task.take(np.arange(*some)), [ROUGE_L()])
        for some in ((0, cut), (cut, len(items)))
        if some[0] < some[1]
    ]
    merged = parts[0] if len(parts) == 1 else parts[1] + parts[0]
    again = score_statistics({"a": merged}, {"a": [(ROUGE_L(), "")]}, headings=["x"])[0]
    assert_array_equal(whole.value, again.value)


@given(ITEMS)
@settings(max_examples=40, deadline=None)
def test_an_item_alone_has_the_value_that_it_has_in_a_block(items):
    task = task_of([mine for mine, _ in items], [theirs for _, theirs in items])
    step = ROUGE_L.family.statistic(ROUGE_L())
    whole = step.compute(Block(task, 0, len(task)))["value"].values
    alone = [step.compute(Block(task, i, i + 1))["value"].values for i in range(len(task))]
    assert_array_equal(np.concatenate(alone), whole)


@given(TEXT, st.lists(TEXT, max_size=3))
@settings(max_examples=40, deadline=None)
def test_a_candidate_that_is_a_reference_has_1(text, others):
    assert score_of([(text, [*others, text])]).value == pytest.approx(1, abs=1e-15)


def test_an_empty_caption_is_one_empty_token():
    items = [("", [""]), ("", ["a b"]), ("a", [""]), ("", ["a", ""])]
    assert score_of(items).items.tolist() == [1, 0, 0, 1]


def test_precision_and_recall_may_be_of_different_references():
    # precision 2/3 of the long one, recall 1 of the short one
    value = score_of([("a b x", ["a c b c c c", "x"])]).value
    assert value == pytest.approx(2.44 * (2 / 3) / (1 + 1.44 * 2 / 3))


def test_a_caption_of_100000_words():
    long = " ".join(f"w{number % 5000}" for number in range(100_000))
    score = score_of([(long, ["w3 w1 w2", "w9"]), ("w1 w2", [long])])
    precision = 3 / 100_000
    assert score.items[0] == pytest.approx(2.44 * precision / (1 + 1.44 * precision))
    recall = 2 / 100_000
    assert score.items[1] == pytest.approx(2.44 * recall / (recall + 1.44))


@pytest.mark.parametrize(("policy", "value"), [("skip", 1.0), ("0", 0.5), ("nan", np.nan)])
def test_without_references(policy, value):
    score = score_of([("a", ["a"]), ("a", [])], ROUGE_L(no_reference=policy))
    assert score.value == pytest.approx(value, nan_ok=True)


def test_options():
    assert str(parse("ROUGE-L")[0]) == "ROUGE-L"
    assert str(parse("ROUGE-L(beta=1)")[0]) == "ROUGE-L(beta=1.0)"
    for wrong in ("-1", "inf", "1e200", "x"):
        with refused("bad-option"):
            parse(f"ROUGE-L(beta={wrong})")
