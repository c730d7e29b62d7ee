"""coco-multilabel: the measures of multi-label recognition, compared with loops."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import multilabel as oracle
from refusals import facts

import semmetrics


def draw(seed):
    """Draw logits, and marks of true (1), difficult (0) and absent (-1) classes.

    A class is never predicted, and another one is never true.
    """
    rng = np.random.default_rng(seed)
    logits = rng.integers(-4, 5, (17, 6)) / 2
    logits[:, 1] = -1.5
    marks = rng.choice([-1, 0, 1], (17, 6), p=[0.5, 0.2, 0.3])
    marks[:, 2] = rng.choice([-1, 0], 17)
    return logits, marks


def score(*data, **options):
    return semmetrics.score(*data, protocol="coco-multilabel", **options)


def values(table):
    return [result.value for result in table]


@pytest.mark.parametrize("seed", range(3))
def test_the_protocol_equals_loops_for_logits_and_probabilities(seed):
    logits, marks = draw(seed)
    probabilities = 1 / (1 + np.exp(-logits))

    table = score(logits, marks)
    of_probabilities = score(probabilities, marks, threshold=0.5)

    expected = [oracle.mean_average_precision(logits, marks)]
    expected += oracle.sets(logits, marks, 0)
    expected += oracle.sets(logits, marks, 0, 3)
    assert values(table) == pytest.approx(expected, abs=1e-12)
    assert values(of_probabilities) == pytest.approx(expected, abs=1e-12)
    assert "|decode:at-least:0.5|" in of_probabilities["CF1"].signature
    assert table["CR"].undefined["no_reference"] == 1


def test_probabilities_without_a_threshold_have_only_average_precision():
    _, marks = draw(0)

    assert score(np.full((17, 6), 0.5), marks).headings == ["mAP"]


def test_difficult_labels_are_absent_except_in_average_precision():
    logits, marks = draw(0)
    measures = "mAP ROC-AUC LRAP F1@2"

    table = semmetrics.score(logits, marks, measures=measures)
    without = semmetrics.score(logits, (marks == 1).astype(int), measures=measures)

    assert facts(table, "difficult-labels")[0].n == (marks == 0).sum()
    assert values(table)[1:] == values(without)[1:]
    assert table["mAP"].value != without["mAP"].value
    assert table["mAP"].signature != without["mAP"].signature


def test_cf1_is_not_c_f1():
    options = {"threshold": -0.1, "classes": list("abcdef")}

    table = semmetrics.score(*draw(1), measures="CF1 C-F1 OF1 O-F1", **options)

    class_f1, other_class_f1, overall_f1, other_overall_f1 = values(table)
    assert class_f1 != pytest.approx(other_class_f1, abs=1e-7)
    assert overall_f1 == pytest.approx(other_overall_f1, abs=1e-7)
