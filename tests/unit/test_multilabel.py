"""coco-multilabel: the table of multi-label recognition against loops; difficult labels."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from oracles import multilabel as oracle
from refusals import facts, refused
from scipy.sparse import csr_array

import semmetrics
from semmetrics.cli.app import program

NAMES = ["CP", "CR", "CF1", "OP", "OR", "OF1"]
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
    expected = [oracle.mean_average_precision(scores.tolist(), marks.tolist())]
    expected += oracle.sets(scores, marks, 0) + oracle.sets(scores, marks, 0, 3)
    table = semmetrics.score(scores, marks, ci=True, **PROTOCOL)
    assert table.headings == ["mAP", *NAMES, *(f"{name} (top 3)" for name in NAMES)]
    assert [score.value for score in table] == pytest.approx(expected, abs=1e-12)
    assert all(score.ci.low < score.value < score.ci.high for score in table)
    for name in ("CR", "CF1"):
        assert table[name].undefined["no_reference"] == 1
    # probabilities: one of exactly 0.5 is predicted, as a logit of 0 is
    chances = 1 / (1 + np.exp(-scores))
    same = semmetrics.score(chances, marks.astype(np.float32), threshold=0.5, **PROTOCOL)
    assert [score.value for score in same] == pytest.approx(expected, abs=1e-12)
    assert "|decode:at-least:0.5|" in same["CF1"].signature
    table = semmetrics.score(chances, marks, **PROTOCOL)  # probabilities taken for logits
    assert [entry.heading for entry in table.not_computed] == [*same.headings[1:]]


def test_difficult_labels_are_absent_but_for_average_precision():
    scores, marks = data(0)
    measures = "mAP ROC-AUC LRAP F1@2"
    table = semmetrics.score(scores, marks, measures=measures)
    plain = semmetrics.score(scores, (marks == 1).astype(int), measures=measures)
    assert facts(table, "difficult-labels")[0].n == (marks == 0).sum()
    assert [a.value == b.value for a, b in zip(table, plain, strict=True)] == [False, *[True] * 3]
    assert table[0].signature != plain[0].signature
    for truth in (marks * 0.5, csr_array(marks.astype(float))):  # which cells are 0 is not known
        with refused("truth-of-scores"):
            semmetrics.score(scores, truth, measures=measures)


def test_names_that_differ_by_a_hyphen_are_exact_and_values_shown_in_percent(tmp_path):
    classes = list("abcdef")
    names = ["CF1", "C-F1", "OF1", "O-F1"]
    scores, marks = data(1)
    table = semmetrics.score(scores, marks, measures=names, threshold=-0.1, classes=classes)
    assert [one.measure.definition.name for one in table] == ["CF1", "C-F1", "F1", "O-F1"]
    assert table[0].value != pytest.approx(table[1].value, abs=1e-3)
    assert table[2].value == pytest.approx(table[3].value, abs=1e-7)
    with refused("unknown-name"):
        semmetrics.score(scores, marks, measures="cf1")
    files = [str(tmp_path / "scores.npy"), str(tmp_path / "truth.npy")]
    for file, values in zip(files, (scores, marks), strict=True):
        np.save(file, values)
    shown = CliRunner().invoke(program, ["score", "--protocol", "coco-multilabel", *files]).stdout
    cf1 = semmetrics.score(scores, marks, **PROTOCOL)["CF1"].value
    assert ["CF1", f"{100 * cf1:.2f}"] in [line.split() for line in shown.splitlines()]
