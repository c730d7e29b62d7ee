"""A table and a scorer do not change if the caller changes the inputs later."""

from __future__ import annotations

import copy
import importlib.util
import pickle

import numpy as np
import pytest
from own_measures import temporary_measures
from refusals import codes

import semmetrics
from semmetrics import Scorer

PREDS = {"a": ["x"], "b": ["y"]}
GTS = {"a": ["x"], "b": ["x"]}


def test_weights_may_be_changed_after_the_call():
    weights = {"a": 1.0, "b": 2.0, "unused": 1.0}
    scorer = Scorer()

    table = semmetrics.score(PREDS, GTS, measures="F1", weights=weights)
    del weights["unused"]
    scorer.update(PREDS, GTS, weights=weights)
    weights.clear()

    assert "unused-weights" in codes(table)
    assert scorer.compute()["F1"].value == pytest.approx(1 / 3)


def test_phi_may_be_changed_after_the_call():
    similarities = np.random.default_rng(0).random((2, 3))
    phi = {"used": similarities, "unused": similarities}

    table = semmetrics.score(
        similarities, [[0], [1]], measures="NCS(phi=used)@2", phi=phi, task="retrieval"
    )
    del phi["unused"]

    assert "no-effect" in codes(table)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_table_has_no_notes_of_later_batches(keep_rows):
    row = {"id": "a", "labels": ["x"]}
    other_row = {"id": "b", "labels": ["x"]}
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update([row], [row])

    table = scorer.compute()
    scorer.update([{**other_row, "unknown": 1}], [other_row])

    assert "unused-columns" not in codes(table)
    assert "unused-columns" in codes(scorer.compute())


@pytest.mark.parametrize(
    "make_copy", [copy.deepcopy, lambda scorer: pickle.loads(pickle.dumps(scorer))]
)
def test_a_copied_scorer_has_the_options_of_the_original(make_copy):
    classes = ["x", "y", "z"]
    measure = "F1(average=macro,labels=given,absent=0)"
    scorer = Scorer(measures=measure, classes=classes)
    scorer.update([["x"]], [["x"]])

    classes.append("w")

    assert make_copy(scorer).compute()[0].value == pytest.approx(1 / 3)
    assert scorer.compute()[0].value == pytest.approx(1 / 3)


SOURCE = """
import semmetrics

@semmetrics.measure
def Mine(hit, n_pred):
    return hit / n_pred
"""


def signature_of_source(path, later_source):
    """Score with the measure of a file that is changed afterwards, and return the signature."""
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("own_module", path)
    with temporary_measures():
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        table = semmetrics.score(PREDS, GTS, measures="Mine")
        path.write_text(later_source)
        return table[0].signature


def test_a_signature_has_the_code_that_ran(tmp_path):
    path = tmp_path / "own_module.py"

    signature = signature_of_source(path, SOURCE)

    assert signature_of_source(path, SOURCE.replace("hit /", "0 /")) == signature
