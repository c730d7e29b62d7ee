"""Correlations with ratings: against scipy, for every form of input, with intervals and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats

import semmetrics
from semmetrics.errors import InputError
from semmetrics.studies.correlations import NAMES, correlate_values

IMAGES, CAPTIONS = ["i1", "i2", "i3"], ["c1", "c2", "c3", "c4"]
PHI = np.array([[9.0, 8.0, 0.5, 0.0], [0.0, 1.0, 7.0, 2.0], [2.5, 0.0, 1.0, 6.0]])
RATINGS = [
    ("c1", "i1", 4.9), ("c2", "i1", 4.0), ("c3", "i1", 0.3), ("c3", "i2", 4.5), ("c4", "i2", 2.0),
    ("c1", "i3", 1.8), ("c4", "i3", 5.0), ("c9", "i3", 5.0),
]  # fmt: skip
SCORES = [score for *_, score in RATINGS[:-1]]


def expected(one, other):
    return [
        float(f(one, other).statistic) for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    ]


def numbers(row):
    return [row[name] for name in NAMES]


def test_its_statistics_are_those_of_scipy():
    rng = np.random.default_rng(5)
    one, other = np.round(rng.normal(size=(2, 50)), 1)
    found = correlate_values(one, other)
    assert found.n == 50
    assert_allclose([getattr(found, name) for name in NAMES], expected(one, other), atol=1e-12)
    assert math.isnan(correlate_values([], []).kendall)
    with refused("wrong-count"):
        correlate_values([1.0, 2.0], [1.0])


def test_resamples_without_a_value_are_left_out():
    bootstrap = semmetrics.Bootstrap(resamples=200)
    found = correlate_values([0.0, 0.0, 1.0], [1.0, 2.0, 3.0], bootstrap=bootstrap)
    assert 0 < found.intervals["pearson"].undefined < 200
    with refused("bad-option"):
        correlate_values([0, 1], [1, 2], bootstrap=semmetrics.Bootstrap(method="bca"))


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_ncs_of_a_pair_is_that_of_a_query_that_retrieves_it(side):
    top = np.array([[0], [2], [3]]) if side == "rows" else np.array([[0], [0], [1], [2]])
    whole = semmetrics.metrics.ncs(top, PHI, 1, queries=side).ravel()
    assert_allclose(whole, 1, atol=1e-9)
    best = PHI.max(axis=1)[:, None] if side == "rows" else PHI.max(axis=0)
    values = [(PHI / best)[IMAGES.index(i), CAPTIONS.index(c)] for c, i, _ in RATINGS[:-1]]
    for matrix in ((PHI, IMAGES, CAPTIONS), (np.asfortranarray(PHI), IMAGES, CAPTIONS)):
        (row,) = semmetrics.correlate(RATINGS, {"SPICE": matrix}, ncs=side)
        assert row["phi"] == "NCS(phi=SPICE)@1"
        assert_allclose(numbers(row), expected(values, SCORES), atol=1e-9)


@pytest.mark.parametrize(
    ("ratings", "phi", "options", "code", "where"),
    [
        ([], {"a": ["b"]}, {}, "nothing-given", "ratings"),
        ([("a", "b")], {"a": ["b"]}, {}, "wrong-cells", "ratings, element [0]"),
        ([("a", "b", 1), ["a"]], {"a": ["b"]}, {}, "wrong-cells", "ratings, element [1]"),
        ([("a", "b", "x")], {"a": ["b"]}, {}, "not-a-number", "ratings, element [0]"),
        ([("a", "", 1.0)], {"a": ["b"]}, {}, "empty-id", "ratings, element [0]"),
        ([("a", "b", 1.0), "ab"], {"a": ["b"]}, {}, "wrong-type", "ratings, element [1]"),
        ([("a", "b", 1.0)], {}, {}, None, ""),
        ([("a", "b", 1.0)], {"a": 3}, {}, "wrong-type", "a"),
        ([("a", "b", 1.0)], {"x": ["y"]}, {}, None, ""),
        ([("a", "b", 1.0)], (np.eye(2), "ab", "xy"), {}, None, ""),
        ([("a", "b", 1.0)], (np.eye(2), "aa", "xy"), {}, "wrong-ids", "phi"),
        ([("a", "b", 1.0)], (np.eye(2), "ab", "xyz"), {}, "wrong-ids", "phi"),
        ([("a", "b", 1.0)], (np.eye(2), 3, "xy"), {}, "wrong-type", "phi"),
        ([("a", "b", 1.0)], ([[1, 2], [3]], "ab", "xy"), {}, None, "phi"),
        ([("a", "b", 1.0)], (np.full((2, 2), "x"), "ab", "xy"), {}, None, "phi"),
        ([("a", "b", 1.0)], (np.ma.masked_all((2, 2)), "ab", "xy"), {}, None, "phi"),
        ([("a", "b", 1.0)], [("a", "b", 1), ("a", "b", 2)], {}, "two-scores", "phi"),
        ([("a", "b", 1.0)], {"a": ["b"]}, {"ncs": "rows"}, None, ""),
        ([("a", "b", 1.0)], {"a": ["b"]}, {"ids": "("}, "bad-option", ""),
        ([("a", "b", 1.0)], {"a": ["b"]}, {"ids": r"(\d)(\d)"}, "bad-option", ""),
        ([("a", "b", 1.0)], {"a": ["b"]}, {"ids": r"\d+"}, "id-mismatch", "ratings, element [0]"),
        ([("a", "b", 1.0)], {"a": ["b"]}, {"columns": ["a"]}, None, ""),
        (
            [("a", "b", 1.0)],
            {"a": ["b"]},
            {"group_by": "kind"},
            "needs-keys",
            "ratings, element [0]",
        ),
        (
            [{"a": "a", "b": "b", "s": 1}],
            {"a": ["b"]},
            {"group_by": "kind"},
            "missing-column",
            "ratings, element [0]",
        ),
        ([{"a": "a", "b": "b"}], {"a": ["b"]}, {}, "missing-column", "ratings, element [0]"),
        (3, {"a": ["b"]}, {}, "wrong-type", "ratings"),
    ],
)
def test_what_is_wrong_is_named(ratings, phi, options, code, where):
    with pytest.raises(InputError) as caught:
        semmetrics.correlate(ratings, phi, **options)
    assert code in (None, caught.value.code)
    assert caught.value.where.endswith(where)


def test_files_that_are_wrong_are_named(tmp_path):
    np.save(tmp_path / "phi.npy", PHI)
    with refused("missing-file"):
        semmetrics.correlate(RATINGS, tmp_path / "phi.npy")
    (tmp_path / "phi.npy.ids.json").write_text('{"images": []}', encoding="utf-8")
    with refused("wrong-type"):
        semmetrics.correlate(RATINGS, tmp_path / "phi.npy")
    (tmp_path / "other.txt").write_text("a b 1", encoding="utf-8")
    with refused("wrong-format"):
        semmetrics.correlate(RATINGS, tmp_path / "other.txt")
    (tmp_path / "r.csv").write_text("a,b,score\nx,y,1\nx,,2\n", encoding="utf-8")
    with refused("empty-id") as caught:
        semmetrics.correlate(tmp_path / "r.csv", {"x": ["y"]})
    assert caught.value.where.endswith("line 3")
    (tmp_path / "r.csv").write_text("a,a,score\nx,y,1\n", encoding="utf-8")
    with refused("duplicate-column") as caught:
        semmetrics.correlate(tmp_path / "r.csv", {"x": ["y"]}, columns=["a", "a", "score"])
    assert caught.value.where.endswith("line 1")
    (tmp_path / "r.json").write_text('{"x": {"y": 1}}', encoding="utf-8")
    with refused("wrong-type"):
        semmetrics.correlate(tmp_path / "r.json", {"x": ["y"]})
    with refused("wrong-type") as caught:
        semmetrics.correlate(RATINGS, tmp_path / "r.json")
    assert caught.value.where.endswith("id 'x'")


def test_ids_that_stand_on_both_sides_are_refused(tmp_path):
    names = [str(number) for number in range(4)]
    phi = np.random.default_rng(1).random((4, 4))
    pairs = [(str(j), str(i), float(phi[i, j])) for i in range(4) for j in range(4) if i != j]
    for given in ((phi, names, names), {"0": ["1"], "1": ["2"], "2": ["0"], "3": []}, pairs[::-1]):
        ratings = [(b, a, v) for a, b, v in pairs] if given == pairs[::-1] else pairs
        with refused("ambiguous-sides"):
            semmetrics.correlate(ratings[:-1], given)
    apart = [f"image-{name}" for name in names], [f"caption-{name}" for name in names]
    ratings = [(f"caption-{a}", f"image-{b}", v) for a, b, v in pairs]
    assert semmetrics.correlate(ratings, (phi, *apart))[0]["pearson"] == pytest.approx(1.0)


@pytest.mark.parametrize("lacking", [None, " ", math.nan])
def test_a_pair_without_a_group_is_refused(lacking):
    ratings = [
        {"a": "x", "b": "y", "s": 1, "of": "one"},
        {"a": "x", "b": "z", "s": 2, "of": lacking},
    ]
    with refused("empty", "ratings, element [1]"):
        semmetrics.correlate(ratings, {"x": ["y"]}, group_by="of")
