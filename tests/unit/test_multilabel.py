"""coco-multilabel: the table of multi-label recognition against loops; difficult labels."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import multilabel as oracle
from refusals import facts

import semmetrics

PROTOCOL = {"protocol": "coco-multilabel"}


def data(seed):
    """Logits with ties and zeros, and -1/0/1: a class never predicted, one that is never true."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-4, 5, (17, 6)) / 2
    scores[:, 1] = -1.5
    marks = rng.choice([-1, 0, 1], (17, 6), p=[0.5, 0.2, 0.3])
    marks[:, 2] = rng.choice([-1, 0], 17)
    return scores, marks


@pytest.mark.parametrize("seed", range(5))
def test_the_table_is_that_of_loops(seed):
    scores, marks = data(seed)
    expected = [oracle.mean_average_precision(scores, marks)]
    expected += oracle.sets(scores, marks, 0) + oracle.sets(scores, marks, 0, 3)
    table = semmetrics.score(scores, marks, ci=True, **PROTOCOL)
    assert [score.value for score in table] == pytest.approx(expected, abs=1e-12)
    assert all(score.ci.low < score.value < score.ci.high for score in table)
    assert (
        table["CR"].undefined["no_reference"]
        == table["CF1"].undefined["no_reference"]
        == 1
    )
    # probabilities: one of exactly 0.5 is predicted, as a logit of 0 is
    chances = 1 / (1 + np.exp(-scores))
    same = semmetrics.score(
        chances, marks.astype(np.float32), threshold=0.5, **PROTOCOL
    )
    assert [score.value for score in same] == pytest.approx(expected, abs=1e-12)
    assert "|decode:at-least:0.5|" in same["CF1"].signature
    assert semmetrics.score(chances, marks, **PROTOCOL).headings == ["mAP"]  # no logits


def test_difficult_labels_are_absent_but_for_average_precision():
    scores, marks = data(0)
    plain, table = (
        semmetrics.score(scores, truth, measures="mAP ROC-AUC LRAP F1@2")
        for truth in ((marks == 1).astype(int), marks)
    )
    assert facts(table, "difficult-labels")[0].n == (marks == 0).sum()
    assert [a.value == b.value for a, b in zip(table, plain, strict=True)] == [
        False,
        *[True] * 3,
    ]
    assert table[0].signature != plain[0].signature


def test_names_that_differ_by_a_hyphen_are_exact():
    given = {"threshold": -0.1, "classes": list("abcdef")}
    table = semmetrics.score(*data(1), measures="CF1 C-F1 OF1 O-F1", **given)
    assert [one.measure.definition.name for one in table] == [
        "CF1",
        "C-F1",
        "F1",
        "O-F1",
    ]
    assert [abs(table[i].value - table[i + 1].value) < 1e-7 for i in (0, 2)] == [
        False,
        True,
    ]
