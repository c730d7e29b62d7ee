"""Semantic measures over thresholds, held to the scores at each."""

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

from semmetrics import sweep

WORDS = [f"w{i}" for i in range(40)]
RNG = np.random.default_rng(7)
MODEL = Tiny({w: RNG.integers(-3, 6, 4).tolist() for w in WORDS[:36]})


def lists(n, size, seed):
    rng = np.random.default_rng(seed)
    return {
        f"i{i}": [WORDS[j] for j in rng.integers(0, len(WORDS), rng.integers(0, size))]
        for i in range(n)
    }


PREDS, GTS = lists(60, 6, 1), lists(60, 8, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", "bad-thresholds"),
        ("0:1", "bad-thresholds"),
        ("1:0:0.1", "bad-thresholds"),
        ("0:1:0", "bad-thresholds"),
        ("0:1:0.00001", "bad-thresholds"),
        ("0,x", "bad-thresholds"),
        ("0:nan:1", "bad-thresholds"),
        ([0.1, 0.1], "duplicate"),
        ([2.0], "out-of-range"),
        ([], "bad-thresholds"),
        ([True], "bad-thresholds"),
        ([None], "bad-thresholds"),
    ],
)
def test_wrong_thresholds(wrong, message):
    with refused(message):
        sweep(PREDS, GTS, thresholds=wrong, embedding=MODEL)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("F1", "no-threshold"),
        ("SoftF1", "no-threshold"),
        ("WMD", "no-threshold"),
        ("SemF1(threshold=0.4)", "not-applicable"),
    ],
)
def test_measures_without_a_threshold_to_sweep(measure, message):
    with refused(message):
        sweep(PREDS, GTS, measures=[measure])
