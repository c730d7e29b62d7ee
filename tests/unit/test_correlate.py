"""Correlations of phi with ratings of pairs, against scipy, and the forms of both."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats
from tables import write_table

import semmetrics
from semmetrics.metrics import ncs
from semmetrics.studies.correlations import NAMES, correlate_values

IMAGES = ["i1", "i2", "i3"]
CAPTIONS = ["c1", "c2", "c3", "c4"]
PHI = pd.DataFrame(
    [[9.0, 8.0, 0.5, 0.0], [0.0, 1.0, 7.0, 2.0], [2.5, 0.0, 1.0, 6.0]],
    index=IMAGES,
    columns=CAPTIONS,
)
MATRIX = (PHI.to_numpy(), IMAGES, CAPTIONS)
RATINGS = pd.DataFrame(
    [
        ("c1", "i1", 4.9),
        ("c2", "i1", 4.0),
        ("c3", "i1", 0.3),
        ("c3", "i2", 4.5),
        ("c4", "i2", 2.0),
        ("c1", "i3", 1.8),
        ("c4", "i3", 5.0),
    ],
    columns=["caption", "image", "score"],
)


def phi_of_rated_pairs(phi):
    return [phi.at[row.image, row.caption] for row in RATINGS.itertuples()]


def check_correlations(row, values):
    """Compare a row of correlations with scipy, for values of the rated pairs."""
    scores = RATINGS["score"]
    expected = [
        stats.pearsonr(values, scores).statistic,
        stats.spearmanr(values, scores).statistic,
        stats.kendalltau(values, scores).statistic,
    ]
    assert row["n"] == 7
    assert_allclose([row[name] for name in NAMES], expected, atol=1e-9)


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: list(frame.itertuples(index=False, name=None)),
        lambda frame: frame.to_numpy().tolist(),
        lambda frame: frame.to_dict("records"),
        lambda frame: frame,
    ],
    ids=["tuples", "lists", "records", "frame"],
)
def test_ratings_may_have_any_form(convert):
    (row,) = semmetrics.correlate(convert(RATINGS), MATRIX)

    check_correlations(row, phi_of_rated_pairs(PHI))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json"])
def test_ratings_and_phi_may_be_files_of_pairs(tmp_path, suffix):
    pairs = RATINGS.assign(score=phi_of_rated_pairs(PHI))
    ratings = write_table(tmp_path / f"r{suffix}", RATINGS.to_dict("records"))
    phi = write_table(tmp_path / f"phi{suffix}", pairs.to_dict("records"))

    (row,) = semmetrics.correlate(ratings, {"mine": phi})

    assert row["phi"] == "mine"
    check_correlations(row, phi_of_rated_pairs(PHI))


def test_phi_may_be_a_matrix_in_a_file(tmp_path):
    path = tmp_path / "phi.npy"
    np.save(path, PHI)
    ids = {"images": IMAGES, "captions": CAPTIONS}
    (tmp_path / "phi.npy.ids.json").write_text(json.dumps(ids), encoding="utf-8")

    (row,) = semmetrics.correlate(RATINGS, path)

    check_correlations(row, phi_of_rated_pairs(PHI))


def test_sides_of_phi_are_recognised_by_their_ids():
    transposed = (PHI.T.to_numpy(np.float32), CAPTIONS, IMAGES)
    pairs = RATINGS.assign(score=phi_of_rated_pairs(PHI))
    swapped = pairs[["image", "caption", "score"]].to_numpy().tolist()

    rows = semmetrics.correlate(RATINGS, {"matrix": transposed, "pairs": swapped})

    for row in rows:
        check_correlations(row, phi_of_rated_pairs(PHI))


def test_pairs_that_phi_does_not_have_are_counted():
    ratings = [*RATINGS.to_numpy().tolist(), ["c9", "i3", 5.0]]

    (row,) = semmetrics.correlate(ratings, MATRIX)

    assert row["lacking"] == 1
    check_correlations(row, phi_of_rated_pairs(PHI))


@pytest.mark.parametrize(("side", "axis"), [("rows", 1), ("columns", 0)])
def test_ncs_divides_by_the_largest_phi_of_the_query(side, axis):
    ncs_of_pairs = PHI.div(PHI.max(axis=axis), axis=1 - axis)
    best = PHI.to_numpy().argmax(axis=axis)[:, None]
    assert_allclose(ncs(best, PHI.to_numpy(), 1, queries=side), 1, atol=1e-9)

    (row,) = semmetrics.correlate(RATINGS, {"SPICE": MATRIX}, ncs=side)

    assert row["phi"] == "NCS(phi=SPICE)@1"
    check_correlations(row, phi_of_rated_pairs(ncs_of_pairs))


def test_correlations_with_a_constant_are_none():
    (row,) = semmetrics.correlate([("a", "b", 1), ("a", "c", 2)], {"a": ["b", "c"]})

    assert [row[name] for name in NAMES] == [None, None, None]
    assert math.isnan(correlate_values([], []).kendall)


def test_resamples_without_a_value_are_left_out():
    bootstrap = semmetrics.Bootstrap(resamples=200)

    correlation = correlate_values([0, 0, 1], [1, 2, 3], bootstrap=bootstrap)

    assert 0 < correlation.intervals["pearson"].undefined < 200


def test_intervals_of_correlations_are_percentiles():
    with refused("bad-option"):
        correlate_values([0, 1], [1, 2], bootstrap=semmetrics.Bootstrap(method="bca"))


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "code", "where"),
    [
        ([], "nothing-given", "ratings"),
        ([("a", "b", 1), ["a"]], "wrong-cells", "ratings, element [1]"),
        ([("a", "b", "x")], "not-a-number", "ratings, element [0]"),
        ([("a", "", 1.0)], "empty-id", "ratings, element [0]"),
        ([("a", "b", 1.0), "ab"], "wrong-type", "ratings, element [1]"),
        ([{"a": "a", "b": "b"}], "missing-column", "ratings, element [0]"),
    ],
)
def test_invalid_ratings_raise_an_error_with_their_place(ratings, code, where):
    with refused(code, where):
        semmetrics.correlate(ratings, {"a": ["b"]})


@pytest.mark.parametrize(
    ("phi", "code"),
    [
        ({"x": ["y"]}, "no-common-pairs"),
        ((np.eye(2), "aa", "xy"), "wrong-ids"),
        ((np.eye(2), "ab", "xyz"), "wrong-ids"),
        ((np.ma.masked_all((2, 2)), "ab", "xy"), "masked"),
        (([[1, 2], [3]], "ab", "xy"), "wrong-type"),
        ([("a", "b", 1), ("a", "b", 2)], "two-scores"),
    ],
)
def test_invalid_phi_raises_an_error(phi, code):
    with refused(code):
        semmetrics.correlate([("a", "b", 1.0)], phi)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"ncs": "rows"}, "wrong-format"),
        ({"ids": "("}, "bad-option"),
        ({"ids": r"(\d)(\d)"}, "bad-option"),
        ({"ids": r"\d+"}, "id-mismatch"),
        ({"columns": ["a"]}, "bad-option"),
        ({"group_by": "kind"}, "needs-keys"),
    ],
)
def test_invalid_options_raise_an_error(options, code):
    with refused(code):
        semmetrics.correlate([("a", "b", 1.0)], {"a": ["b"]}, **options)


@pytest.mark.parametrize(
    ("groups", "code"),
    [
        (["x", None], "empty"),
        (["x", " "], "empty"),
        (["x", math.nan], "empty"),
        (["x", "all"], "reserved-group"),
    ],
)
def test_invalid_groups_raise_an_error(groups, code):
    ratings = [
        {"a": "x", "b": "y", "score": 1, "of": groups[0]},
        {"a": "x", "b": "z", "score": 1, "of": groups[1]},
    ]

    with refused(code):
        semmetrics.correlate(ratings, {"x": ["y"]}, group_by="of")


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("r.csv", "a,b,score\nx,y,1\nx,,2\n", "empty-id", "line 3"),
        ("r.json", '{"x": {"y": 1}}', "wrong-type", "r.json"),
    ],
)
def test_invalid_files_raise_an_error_with_their_place(
    tmp_path, name, text, code, where
):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with refused(code, place=where):
        semmetrics.correlate(path, {"x": ["y"]})


def test_files_that_map_ids_need_lists_of_ids(tmp_path):
    path = tmp_path / "phi.json"
    path.write_text('{"x": {"y": 1}}', encoding="utf-8")

    with refused("wrong-type", place="id 'x'"):
        semmetrics.correlate(RATINGS, path)


def test_matrices_in_files_need_their_ids(tmp_path):
    path = tmp_path / "phi.npy"
    np.save(path, PHI)

    with refused("missing-file"):
        semmetrics.correlate(RATINGS, path)
    (tmp_path / "phi.npy.ids.json").write_text('{"images": []}', encoding="utf-8")
    with refused("wrong-type"):
        semmetrics.correlate(RATINGS, path)


@pytest.mark.parametrize(
    "phi",
    [
        (np.arange(9).reshape(3, 3), "012", "012"),
        {"0": ["1"], "1": ["2"], "2": ["0"]},
        [("0", "1", 1.0), ("1", "0", 0.5), ("1", "2", 0.2), ("2", "1", 0.1)],
    ],
)
def test_ids_that_occur_on_both_sides_raise_an_error(phi):
    ratings = [("0", "1", 1.0), ("1", "2", 0.2), ("2", "0", 0.4)]

    with refused("ambiguous-sides"):
        semmetrics.correlate(ratings, phi)
