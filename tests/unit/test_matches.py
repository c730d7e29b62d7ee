"""Which prediction matched which reference, item by item."""

from __future__ import annotations

import numpy as np
import pytest
from tiny import Tiny, one_hot

from semmetrics.data.inputs import as_labels
from semmetrics.data.prepare import label_task
from semmetrics.errors import InputError
from semmetrics.metrics.registry import parse
from semmetrics.scoring.matches import match_rows
from semmetrics.kinds.labels.models import with_models
from semmetrics.scoring.score import score_statistics
from semmetrics.scoring.statistics import evaluate

PLANE = Tiny({"x": [1, 0], "near": [3, 4], "up": [0, 1], "far": [-1, 0]}, threshold=0.5)


def rows_of(preds, refs, text, model=PLANE, oov="zero", memory=None):
    (measure,) = parse(text)
    task = label_task(as_labels(preds), as_labels(refs))
    task = with_models({"": task}, [measure], model, oov=oov)[""]
    return task, measure, [tuple(row.values()) for row in match_rows(task, measure)]


def test_matches_and_what_is_left():
    _, _, rows = rows_of(
        {"1": ["far", "near", "near"], "2": [], "3": ["x"]},
        {"1": ["x", "up"], "2": ["x"], "3": []},
        "SemF1(threshold=0.5)",
    )  # fmt: skip
    assert rows == [
        ("1", 1, "far", None, 0.0),
        ("1", 2, "near", "x", 0.6),
        ("1", None, None, "up", None),
        ("2", None, None, "x", None),
        ("3", 1, "x", None, None),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SemF1(threshold=0.5)", [("near", "x", 0.6), ("x", None, 1.0), (None, "up", None)]),
        ("SemF1(threshold=0.5)@1", [("near", "x", 0.6), (None, "up", None)]),
        ("SemF1(threshold=0.5,match=optimal)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.7,match=any)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.5,match=any)@1", [("near", "up", 0.8)]),  # x is served, too
    ],
)
def test_rules_and_cutoffs(text, expected):
    _, _, rows = rows_of([["near", "x"]], [["x", "up"]], text)
    assert [row[2:] for row in rows] == expected


def test_the_threshold_may_be_the_models():
    assert rows_of([["near"]], [["x"]], "SemF1")[2] == [("0", 1, "near", "x", 0.6)]


def test_labels_are_shown_as_they_were_written():
    _, _, rows = rows_of(
        [[["near", "n"], "far", "x"]], [[["x", "y"], "up"]], "SemF1(threshold=0.7)"
    )
    assert rows == [
        ("0", 1, "near | n", "up", 0.8),
        ("0", 2, "far", None, 0.0),
        ("0", 3, "x", "x | y", 1.0),
    ]


def test_what_takes_no_part_is_not_shown():
    _, _, rows = rows_of([["?", "x"]], [["!", "x"]], "SemF1", oov="skip")
    assert rows == [("0", 2, "x", "x", 1.0)]
    _, _, rows = rows_of([["x", "x"]], [["x", "x"]], "SemF1(count=list)")
    assert [row[1:4] for row in rows] == [(1, "x", "x"), (2, "x", "x")]


@pytest.mark.parametrize("match", ["greedy", "optimal", "any"])
@pytest.mark.parametrize("at", ["", "@3"])
def test_rows_make_up_the_score(match, at):
    rng = np.random.default_rng(5)
    names = [f"w{i}" for i in range(20)]
    model = Tiny(dict(zip(names, rng.normal(size=(20, 4)).tolist(), strict=True)))
    preds, refs = ([[names[i] for i in rng.integers(0, 20, rng.integers(0, size))]
                    for _ in range(60)] for size in (7, 5))  # fmt: skip
    text = f"(threshold=0.4,match={match}){at}"
    for name, side in (("SemPrecision", 2), ("SemRecall", 3)):
        task, measure, rows = rows_of(preds, refs, name + text, model)
        if match == "any" and side == 3:
            continue  # a reference may be served by a prediction that is nearer to another
        found = evaluate(task, [measure])
        (score,) = score_statistics({"": found}, {"": [(measure, "")]}, headings=[""])
        for item, value in enumerate(score.items.tolist()):
            mine = [row for row in rows if row[0] == str(item)]
            hits = sum(row[2] is not None and row[3] is not None for row in mine)
            number = sum(row[1] is not None for row in mine)
            if side == 3:
                number = hits + sum(row[1] is None for row in mine)
            assert value == pytest.approx(hits / number if number else np.nan, nan_ok=True)


def test_measures_that_match_nothing():
    for text in ("F1", "SoftF1", "WMD"):
        with pytest.raises(InputError, match=f"{text} matches no labels"):
            rows_of([["a"]], [["a"]], text, one_hot("ab"))
