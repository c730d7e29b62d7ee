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


@pytest.mark.parametrize(("wrong", "code"), [
    *[(one, "bad-thresholds") for one in ("", "0:1", "1:0:0.1", "0:1:0", "0:1:0.00001", "0,x",
                                          "0:nan:1", [], [True], [None])],
    ([0.1, 0.1], "duplicate"), ([2.0], "out-of-range"),
])  # fmt: skip
def test_wrong_thresholds(wrong, code):
    with refused(code):
        sweep(PREDS, GTS, thresholds=wrong, embedding=MODEL)


@pytest.mark.parametrize(("options", "code"), [
    *[({"measures": name}, "no-threshold") for name in ("F1", "SoftF1", "WMD")],
    ({"measures": "SemF1(threshold=0.4)"}, "not-applicable"),
    ({"treshold": 0.4}, "unknown-name"), ({"protocol": "kubany2020"}, "not-applicable"),
])  # fmt: skip
def test_what_cannot_be_swept(options, code):
    with refused(code):
        sweep(PREDS, GTS, embedding=MODEL, **options)
