"""Which prediction matched which reference, item by item."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny, one_hot

import semmetrics
from semmetrics.scoring.table_text import draw_worst

PLANE = Tiny({"x": [1, 0], "near": [3, 4], "up": [0, 1], "far": [-1, 0]}, threshold=0.5)


def matches(preds, refs, text, model=PLANE, oov="zero"):
    """The score, and the values of its matches without the system."""
    table = semmetrics.score(preds, refs, measures=[text], embedding=model, oov=oov)
    return table.scores[0], [
        tuple(row.values())
        for row in table.matches().drop("system").drop("nearest").drop("reason")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SemF1(threshold=0.5)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.5)@1", [("near", "up", 0.8), (None, "x", None)]),
        (
            "SemF1(threshold=0.5,match=greedy)",
            [("near", "x", 0.6), ("x", None, 1.0), (None, "up", None)],
        ),
        (
            "SemF1(threshold=0.5,match=greedy)@1",
            [("near", "x", 0.6), (None, "up", None)],
        ),
        ("SemF1(threshold=0.5,match=optimal)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.7,match=any)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.5,match=any)@1", [("near", "up", 0.8)]),  # x is served, too
    ],
)
def test_rules_and_cutoffs(text, expected):
    _, rows = matches([["near", "x"]], [["x", "up"]], text)
    assert [row[2:] for row in rows] == expected


def test_an_unmatched_prediction_has_its_nearest_reference():
    table = semmetrics.score(
        {"a": ["near", "far"], "b": ["x"], "c": []},
        {"a": ["x", "up"], "b": [], "c": ["up"]},
        measures="SemF1(threshold=0.9)",
        embedding=PLANE,
    )
    rows = [
        (row["prediction"], row["reference"], row["nearest"]) for row in table.matches()
    ]
    assert rows == [
        ("near", None, "up"),
        ("far", None, "up"),
        (None, "x", None),
        (None, "up", None),
        ("x", None, None),
        (None, "up", None),
    ]
    paired = semmetrics.score(
        [["near"]], [["x", "up"]], measures="SemF1(threshold=0.5)", embedding=PLANE
    )
    first = paired.matches()[0]
    assert (first["reference"], first["nearest"]) == ("up", "up")


@pytest.mark.parametrize(
    ("measure", "missed", "wrong"),
    [
        ("F1", "x, up", "near, far"),
        ("SemF1(threshold=0.5)", "x", "far"),
        ("SoftF1", "", ""),
    ],
)
def test_the_worst_items_name_what_was_missed_and_wrong(measure, missed, wrong):
    table = semmetrics.score(
        [["near", "far"]], [["x", "up"]], measures=measure, embedding=PLANE
    )
    lines = [line.strip() for line in draw_worst(table, 1).splitlines()]
    assert [line[11:] for line in lines if line.startswith("missed")] == [
        missed
    ] * bool(missed)
    assert [line[11:] for line in lines if line.startswith("wrong")] == [wrong] * bool(
        wrong
    )
    right = semmetrics.score([["x"]], [["x"]], measures="F1")
    assert "missed" not in draw_worst(right, 1)


def test_labels_are_shown_as_they_were_written():
    _, rows = matches(
        [[["near", "n"], "far", "x"]], [[["x", "y"], "up"]], "SemF1(threshold=0.7)"
    )
    assert rows == [
        ("0", 1, "near | n", "up", 0.8),
        ("0", 2, "far", None, 0.0),
        ("0", 3, "x", "x | y", 1.0),
    ]


@pytest.mark.parametrize(
    "text", ["SemF1(threshold=0.5)", "SemF1(threshold=0.5,match=total)"]
)
def test_of_several_best_pairings_the_same_is_shown_in_any_order(text):
    """Both x and y go with both u and v, equally well."""
    model = Tiny({name: [1, place % 2 / 100] for place, name in enumerate("xuyvzw")})
    found = set()
    for pred in itertools.permutations("xyz"):
        for ref in itertools.permutations("uvw"):
            _, rows = matches([list(pred)], [list(ref)], text, model)
            found.add(frozenset(row[2:4] for row in rows))
    assert len(found) == 1


@pytest.mark.parametrize("text", ["F1", "SoftF1", "WMD"])
def test_measures_that_match_nothing(text):
    with refused("lacks-measure"):
        matches([["a"]], [["a"]], text, one_hot("ab"))


@pytest.mark.parametrize("match", ["exact-first", "total", "greedy", "optimal", "any"])
@pytest.mark.parametrize("at", ["", "@3"])
def test_rows_make_up_the_score(match, at):
    rng = np.random.default_rng(5)
    names = [f"w{i}" for i in range(20)]
    model = Tiny(dict(zip(names, rng.normal(size=(20, 4)).tolist(), strict=True)))
    preds, refs = (
        [
            [names[i] for i in rng.integers(0, 20, rng.integers(0, size))]
            for _ in range(60)
        ]
        for size in (7, 5)
    )
    text = f"(threshold=0.4,match={match}){at}"
    for name, side in (("SemPrecision", 2), ("SemRecall", 3)):
        score, rows = matches(preds, refs, name + text, model)
        if match == "any" and side == 3:
            continue  # a reference may be served by a prediction that is nearer to another
        for item, value in enumerate(score.items.tolist()):
            mine = [row for row in rows if row[0] == str(item)]
            hits = sum(row[2] is not None and row[3] is not None for row in mine)
            number = sum(row[1] is not None for row in mine)
            if side == 3:
                number = hits + sum(row[1] is None for row in mine)
            assert value == pytest.approx(
                hits / number if number else np.nan, nan_ok=True
            )
