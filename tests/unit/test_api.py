"""The Python entry point: every kind of input, every option, and errors that name the remedy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels

IDS = ["x", "y", "z"]
PREDS = [["a", "b"], ["b"], []]
REFS = [["a"], ["a", "b"], ["c"]]
CLASSES = ["a", "b", "c"]
MEASURES = ["F1", "MacroF1", "MicroF1"]
SCORES = np.array([[0.9, 0.6, 0.1], [0.2, 0.7, 0.3], [0.1, 0.3, 0.2]])


def matrix(rows):
    return np.array([[int(c in row) for c in CLASSES] for row in rows])


def values(preds, refs, **options):
    return [s.value for s in semmetrics.score(preds, refs, measures=MEASURES, **options)]


def by_id(rows):
    return dict(zip(IDS, rows, strict=True))


def expected():
    macro = (2 * 1 / (1 + 2) + 2 * 1 / (2 + 1) + 0) / 3
    return pytest.approx([(2 / 3 + 2 / 3 + 0) / 3, macro, 2 * 2 / (3 + 4)], abs=1e-12)


@pytest.mark.parametrize("made", [
    list,
    tuple,
    by_id,
    lambda rows: [set(row) for row in rows],
    pd.Series,
    lambda rows: pd.Series(rows, index=IDS),
    lambda rows: as_labels(by_id(rows)),
    matrix,
    lambda rows: matrix(rows).astype(bool),
    lambda rows: matrix(rows).astype(float),
    lambda rows: scipy.sparse.csr_matrix(matrix(rows)),
    lambda rows: pd.DataFrame(matrix(rows), columns=CLASSES),
    lambda rows: pd.DataFrame(matrix(rows), columns=CLASSES, index=IDS),
])  # fmt: skip
def test_every_kind_of_input(made):
    named = isinstance(made(PREDS), (np.ndarray, scipy.sparse.csr_matrix))
    options = {"classes": CLASSES} if named else {}
    assert values(made(PREDS), made(REFS), **options) == expected()


@pytest.mark.parametrize("top_k", [[1, 3], (1, 3), np.array([1, 3]), range(1, 4, 2)])
def test_cutoffs_go_to_measures_without_one(top_k):
    table = semmetrics.score(PREDS, REFS, measures=["F1", "Recall@2"], top_k=top_k)
    assert table.headings == ["F1@1", "F1@3", "Recall@2"]
    assert semmetrics.score(PREDS, REFS, measures=["F1"], top_k=np.int64(2)).headings == ["F1@2"]


def test_labels_without_a_score_tie_below_and_others_count_nowhere():
    measures = ["RankingLoss", "LRAP", "CoverageError"]
    for preds, refs, classes, wanted in (
        ([("zebra", 0.9), ("a", 0.8), ("yak", 0.7), ("b", 0.1)], ["a"], "ab", [0.0, 1.0, 1.0]),
        # b below a; c below a and tied with d
        ([("a", 0.9), ("b", 0.5)], ["b", "c"], "abcd", [3 / 4, (1 / 2 + 2 / 4) / 2, 4.0]),
    ):
        table = semmetrics.score([preds], [refs], measures=measures, classes=[*classes])
        assert [s.value for s in table] == wanted


SCORED = {"preds": SCORES, "classes": CLASSES, "measures": "F1"}


@pytest.mark.parametrize(("options", "code"), [
    ({"measures": []}, "nothing-given"),
    ({"measures": ["F2"]}, "unknown-name"),
    ({"metrics": "F1"}, "unknown-name"),
    *[({"measures": [text]}, "no-scores") for text in ("mAP", "F1(decode=threshold:0.5)")],
    ({"decode": "threshold:best"}, "no-scores"),
    ({"measures": ["C-F1"]}, "needs-option"),
    *[({"decode": rule}, "bad-option") for rule in ([], ["all", "all"], "best", 0.5)],
    ({"keep_at_least": 2}, "needs-option"),
    *[({"top_k": k}, "bad-option") for k in (0, [1, 1], True, [1.5])],
    ({"task": "sounds"}, "bad-choice"),
    ({"missing": "drop"}, "bad-choice"),
    ({"normalize": "upper"}, "bad-option"),
    ({"weights": [1, 2]}, "weights for 3 items|weights of shape"),
    ({"weights": [0, 0, 0]}, "zero-weights"),
    ({"weights": [1, -1, 1]}, "weight of item"),
    ({"classes": ["a", "b"]}, "outside-classes"),
    ({"ci": True, "level": 95}, "bad-option"),
    ({"preds": 3}, "wrong-type"),
    *[({**SCORED, "measures": text}, "no-rule") for text in ("F1", "MacroF1")],
    ({**SCORED, "decode": "cardinality"}, "needs-option"),
    ({**SCORED, "decode": "cardinality", "set_size_probs": [["x"]]}, "wrong-type"),
    ({**SCORED, "decode": "cardinality", "set_size_probs": [[1, 0]]}, "shape"),
])  # fmt: skip
def test_errors(options, code):
    with refused(code):
        semmetrics.score(**{"preds": PREDS, "gts": REFS, **options})


def test_public_names_are_loaded_when_used():
    code = (
        "import sys, semmetrics\n"
        "early = {'scipy', 'pandas', 'semmetrics.scoring.score'} & set(sys.modules)\n"
        "assert not early, early\n"
        "assert semmetrics.metrics.f1([[1]], [[1]]) == 1.0\n"
        "for name in semmetrics.__all__: assert getattr(semmetrics, name) is not None, name\n"
        "assert set(semmetrics.__all__) < set(dir(semmetrics))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        semmetrics.scores  # noqa: B018


# more likely another option, or said by the name of one measure alone
