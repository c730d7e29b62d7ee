"""What a caller changes after a call changes nothing that the call returned."""

from __future__ import annotations

import copy
import importlib.util
import pickle
from threading import Thread
from time import sleep

import numpy as np
import pytest
from refusals import codes

import semmetrics
from semmetrics import Scorer
from semmetrics.errors import Fact
from semmetrics.metrics import registry

PREDS, GTS = {"a": ["x"], "b": ["y"]}, {"a": ["x"], "b": ["x"]}


def record(name, **more):
    return [{"id": name, "labels": ["x"], **more}]


def test_weights_are_those_of_the_call():
    weights = {"a": 1.0, "b": 2.0, "other": 1.0}
    table, scorer = (
        semmetrics.score(PREDS, GTS, measures="F1", weights=weights),
        Scorer(),
    )
    del weights["other"]
    scorer.update(PREDS, GTS, weights=weights)
    weights.clear()
    assert "unused-weights" in codes(table)
    assert scorer.compute()["F1"].value == table["F1"].value == pytest.approx(1 / 3)


def test_phi_is_that_of_the_call():
    phi = dict.fromkeys("pq", np.random.default_rng(0).random((2, 3)))
    positives, options = (
        [[0], [1]],
        {"measures": "NCS(phi=p)@2", "phi": phi, "task": "retrieval"},
    )
    table = semmetrics.score(phi["p"], positives, **options)
    del phi["q"]
    assert "no-effect" in codes(table)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_table_says_nothing_of_later_batches(keep_rows):
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update(record("a"), record("a"))
    table = scorer.compute()
    scorer.update(record("b", unknown=1), record("b"))
    assert "unused-columns" not in codes(table)
    assert "unused-columns" in codes(scorer.compute())


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copied_scorer_has_the_options_of_the_first(again):
    classes = ["x", "y", "z"]
    scorer = Scorer(measures="F1(average=macro,labels=given,absent=0)", classes=classes)
    scorer.update([["x"]], [["x"]])
    classes.append("w")
    assert (
        again(scorer).compute()[0].value
        == scorer.compute()[0].value
        == pytest.approx(1 / 3)
    )


def test_a_signature_is_of_the_code_that_ran(tmp_path):
    path, code = (
        tmp_path / "of_ones_own.py",
        "import semmetrics\n\n@semmetrics.measure\n",
    )
    code += "def Mine(hit, n_pred):\n    return hit / n_pred\n"
    signatures = []
    for later in (code, code + "    # other\n"):
        path.write_text(code)
        spec = importlib.util.spec_from_file_location("of_ones_own", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        table = semmetrics.score(PREDS, GTS, measures="Mine")
        path.write_text(later.replace("hit / n_pred", "0 * hit / n_pred"))
        signatures.append(table[0].signature)
    registry.forget(registry.find("Mine")[0])
    assert signatures[0] == signatures[1]


def test_threads_read_the_same_list():
    table, made = semmetrics.score(PREDS, GTS, measures="F1"), []

    def make():
        made.append(len(made))
        sleep(0.02)
        return []

    vars(table)["facts"] = make
    fact = Fact("different-items")
    threads = [Thread(target=lambda: table.facts.append(fact)) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (made, table.facts) == ([0], [fact] * 4)


def test_inputs_are_let_go_when_facts_are_read():
    table = semmetrics.score(PREDS, GTS, measures="F1")
    assert callable(vars(table)["understood"])
    assert table.notes == table.notes
    assert isinstance(vars(table)["understood"], list)
