"""METEOR's formula against its oracle and values that the program printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from meteor_inputs import parse_counts, possible_counts
from oracles import meteor as oracle

from semmetrics.metrics.meteor_formula import COUNTS, meteor_value

# Counts that the program printed, and the values that it computed from them.
CLOSE = "6 5 3 2 2 2 2 2 1 1 0 0 0 0 0 0 0 0 0 0 2 5 5"
EQUAL = "5 5 2 2 3 3 2 2 0 0 0 0 0 0 0 0 0 0 0 0 1 5 5"
EMPTY = "0 5 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
PROGRAM_VALUES = [
    ([CLOSE], 0.4398732861414338),
    ([EQUAL], 1.0),
    ([CLOSE, EQUAL], 0.5306884784335151),
    ([EMPTY], 0.0),
]
# Counts of two references with the same exact value. The program's rounding decides which
# of the two it chooses.
TIES = [
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


def columns(lines):
    """Return the columns of lines of counts by name, without chunks of whole matches."""
    rows = np.array(lines, np.float64)
    is_whole = [oracle.whole(line) for line in lines]
    rows[is_whole, COUNTS.index("chunks")] = 0
    return dict(zip(COUNTS, rows.T, strict=True))


def corpus_value(lines):
    sums = {name: column.sum() for name, column in columns(lines).items()}
    return float(meteor_value(sums))


@given(st.lists(possible_counts(), min_size=1, max_size=6))
def test_values_of_items_and_corpus_are_the_oracles(lines):
    items = meteor_value(columns(lines))

    expected = [oracle.meteor([line]) for line in lines]
    assert items == pytest.approx(expected, abs=1e-12)
    assert corpus_value(lines) == pytest.approx(oracle.meteor(lines), abs=1e-12)


@pytest.mark.parametrize(("lines", "value"), PROGRAM_VALUES)
def test_values_are_the_programs(lines, value):
    parsed = [parse_counts(line) for line in lines]

    assert oracle.meteor(parsed) == pytest.approx(value, abs=1e-12)
    assert corpus_value(parsed) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("first", "second", "best"), TIES)
def test_ties_are_rounded_as_in_the_program(first, second, best):
    pair = [parse_counts(first), parse_counts(second)]

    exact = [oracle.meteor([line]) for line in pair]
    assert exact[0] == pytest.approx(exact[1], abs=1e-15)
    assert meteor_value(columns(pair)).argmax() == best
