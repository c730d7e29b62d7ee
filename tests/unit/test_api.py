"""The Python entry point: every kind of input, every option, and errors that name the remedy."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.metrics.registry import parse

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


@pytest.mark.parametrize(
    "made",
    [
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
    ],
)
def test_every_kind_of_input(made):
    named = isinstance(made(PREDS), (np.ndarray, scipy.sparse.csr_matrix))
    options = {"classes": CLASSES} if named else {}
    assert values(made(PREDS), made(REFS), **options) == expected()


@pytest.mark.parametrize("top_k", [[1, 3], (1, 3), np.array([1, 3]), range(1, 4, 2)])
def test_cutoffs_go_to_measures_without_one(top_k):
    table = semmetrics.score(PREDS, REFS, measures=["F1", "Recall@2"], top_k=top_k)
    assert table.headings == ["F1@1", "F1@3", "Recall@2"]
    assert semmetrics.score(PREDS, REFS, measures=["F1"], top_k=np.int64(2)).headings == ["F1@2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": []}, "nothing-given"),
        ({"measures": ["F2"]}, "no measure 'F2'; did you mean "),
        ({"measures": [None]}, "bad-option"),
        ({"measures": ["mAP"]}, "mAP needs a score for each predicted label"),
        ({"measures": ["C-F1"]}, "labels=given needs classes="),
        ({"measures": ["F1(decode=threshold:0.5)"]}, "needs a score for each predicted label"),
        ({"decode": "threshold:best"}, "threshold:best needs a score"),
        ({"decode": []}, "bad-option"),
        ({"decode": ["all", "all"]}, "bad-option"),
        ({"decode": "best"}, "bad-option"),
        ({"keep_at_least": 2}, "needs-option"),
        ({"top_k": 0}, "bad-option"),
        ({"top_k": [1, 1]}, "bad-option"),
        ({"top_k": True}, "top_k=True; give a whole number, a list of whole numbers or a text"),
        ({"top_k": [1.5]}, r"top_k=\[1.5\]; give a whole number"),
        ({"task": "sounds"}, "bad-choice"),
        ({"missing": "drop"}, "missing='drop'"),
        ({"normalize": "upper"}, "bad-option"),
        ({"weights": [1, 2]}, "weights for 3 items|weights of shape"),
        ({"weights": [0, 0, 0]}, "zero-weights"),
        ({"weights": [1, -1, 1]}, "weight of item"),
        ({"classes": ["a", "b"]}, "the reference label 'c' is not in the class list"),
        ({"ci": True, "level": 95}, "bad-option"),
    ],
)
def test_errors(options, message):
    with refused(message):
        semmetrics.score(PREDS, REFS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "F1"}, r"no rule makes sets of them; give a cutoff \(F1@3\) or decode="),
        ({"measures": "MacroF1"}, "no rule makes sets of them"),
        ({"measures": "F1", "decode": "cardinality"}, "needs-option"),
        ({"measures": "F1", "decode": "cardinality", "set_size_probs": [["x"]]}, "wrong-type"),
        ({"measures": "F1", "decode": "cardinality", "set_size_probs": [[1, 0]]}, "shape"),
    ],
)
def test_errors_with_scores(options, message):
    with refused(message):
        semmetrics.score(SCORES, REFS, classes=CLASSES, **options)


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


@pytest.mark.parametrize(
    ("option", "value"),
    [("decode", 0.5), ("decode", ["top:1", 2]), ("top_k", 1.5), ("ci", 0.9), ("ci", "yes")],
)
def test_options_of_the_wrong_type(option, value):
    with refused(f"^{option}="):
        semmetrics.score([["a"]], [["a"]], measures=["F1"], **{option: value})


def test_things_that_are_no_mapping_from_names():
    with refused("wrong-type"):
        semmetrics.score_systems([[["a"]], [["b"]]], [["a"]])
    with refused("wrong-type"):
        semmetrics.rank_systems(["v1.json"])


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("metrics", "did you mean measures"),
        ("k", "did you mean top_k"),
        ("labels", "did you mean classes"),
        ("n_resamples", "did you mean resamples"),
        ("confidence", "did you mean level"),
        ("random_state", "did you mean seed"),
        ("thresholds", "did you mean threshold"),
        ("average", r"write it in the measure, as 'F1\(average=macro\)'"),
    ],
)
def test_names_of_other_libraries_are_understood(name, remedy):
    with refused(remedy):
        semmetrics.score([["cat"]], [["cat"]], **{name: 1})


# more likely another option, or said by the name of one measure alone
@pytest.mark.parametrize("name", ["average", "zero_division", "match", "sigma", "parser", "gain"])
def test_an_option_of_a_measure_is_shown_in_a_measure(name):
    with refused("unknown-name") as found:
        semmetrics.score([["cat"]], [["cat"]], **{name: "x"})
    shown = re.findall(r"'([^' ]+)'", found.value.remedy)
    assert shown
    assert all(parse(measure) for measure in shown)
