"""Correlations with ratings: against scipy, for every form of input, with intervals and errors."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats
from tables import write_table

import semmetrics
from semmetrics.studies.correlations import NAMES, correlate_values

IMAGES, CAPTIONS = ["i1", "i2", "i3"], ["c1", "c2", "c3", "c4"]
PHI = np.array([[9.0, 8.0, 0.5, 0.0], [0.0, 1.0, 7.0, 2.0], [2.5, 0.0, 1.0, 6.0]])
RATINGS = [
    ("c1", "i1", 4.9),
    ("c2", "i1", 4.0),
    ("c3", "i1", 0.3),
    ("c3", "i2", 4.5),
    ("c4", "i2", 2.0),
    ("c1", "i3", 1.8),
    ("c4", "i3", 5.0),
    ("c9", "i3", 5.0),
]
SCORES = [score for *_, score in RATINGS[:-1]]


def expected(one, other):
    return [
        float(f(one, other).statistic)
        for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
    ]


def numbers(row):
    return [row[name] for name in NAMES]


def test_resamples_without_a_value_are_left_out():
    bootstrap = semmetrics.Bootstrap(resamples=200)
    found = correlate_values([0.0, 0.0, 1.0], [1.0, 2.0, 3.0], bootstrap=bootstrap)
    assert 0 < found.intervals["pearson"].undefined < 200
    assert math.isnan(correlate_values([], []).kendall)
    with refused("bad-option"):
        correlate_values([0, 1], [1, 2], bootstrap=semmetrics.Bootstrap(method="bca"))


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_ncs_of_a_pair_is_that_of_a_query_that_retrieves_it(side):
    top = (
        np.array([[0], [2], [3]]) if side == "rows" else np.array([[0], [0], [1], [2]])
    )
    whole = semmetrics.metrics.ncs(top, PHI, 1, queries=side).ravel()
    assert_allclose(whole, 1, atol=1e-9)
    best = PHI.max(axis=1)[:, None] if side == "rows" else PHI.max(axis=0)
    values = [
        (PHI / best)[IMAGES.index(i), CAPTIONS.index(c)] for c, i, _ in RATINGS[:-1]
    ]
    for matrix in ((PHI, IMAGES, CAPTIONS), (np.asfortranarray(PHI), IMAGES, CAPTIONS)):
        (row,) = semmetrics.correlate(RATINGS, {"SPICE": matrix}, ncs=side)
        assert row["phi"] == "NCS(phi=SPICE)@1"
        assert_allclose(numbers(row), expected(values, SCORES), atol=1e-9)


ONE, REL = [("a", "b", 1.0)], {"a": ["b"]}


@pytest.mark.parametrize(
    ("ratings", "phi", "options", "code", "where"),
    [
        ([], REL, {}, "nothing-given", "ratings"),
        ([("a", "b")], REL, {}, "wrong-cells", "ratings, element [0]"),
        ([("a", "b", 1), ["a"]], REL, {}, "wrong-cells", "ratings, element [1]"),
        ([("a", "b", "x")], REL, {}, "not-a-number", "ratings, element [0]"),
        ([("a", "", 1.0)], REL, {}, "empty-id", "ratings, element [0]"),
        ([("a", "b", 1.0), "ab"], REL, {}, "wrong-type", "ratings, element [1]"),
        ([{"a": "a", "b": "b"}], REL, {}, "missing-column", "ratings, element [0]"),
        (ONE, {"x": ["y"]}, {}, None, ""),
        (ONE, (np.eye(2), "ab", "xy"), {}, None, ""),
        (ONE, (np.eye(2), "aa", "xy"), {}, "wrong-ids", "phi"),
        (ONE, (np.eye(2), "ab", "xyz"), {}, "wrong-ids", "phi"),
        (ONE, ([[1, 2], [3]], "ab", "xy"), {}, None, "phi"),
        (ONE, (np.ma.masked_all((2, 2)), "ab", "xy"), {}, None, "phi"),
        (ONE, [("a", "b", 1), ("a", "b", 2)], {}, "two-scores", "phi"),
        (ONE, REL, {"ncs": "rows"}, None, ""),
        (ONE, REL, {"ids": "("}, "bad-option", ""),
        (ONE, REL, {"ids": r"(\d)(\d)"}, "bad-option", ""),
        (ONE, REL, {"ids": r"\d+"}, "id-mismatch", "ratings, element [0]"),
        (ONE, REL, {"columns": ["a"]}, None, ""),
        (ONE, REL, {"group_by": "kind"}, "needs-keys", "ratings, element [0]"),
        (
            [{"a": "a", "b": "b", "s": 1}],
            REL,
            {"group_by": "kind"},
            "missing-column",
            "ratings, element [0]",
        ),
    ],
)
def test_what_is_wrong_is_named(ratings, phi, options, code, where):
    with refused(code, place=where):
        semmetrics.correlate(ratings, phi, **options)


def test_files_that_are_wrong_are_named(tmp_path):
    def wrong(code, where, ratings, phi, **options):
        with refused(code) as caught:
            semmetrics.correlate(ratings, phi, **options)
        assert (caught.value.where or "").endswith(where)

    path = tmp_path / "phi.npy"
    np.save(path, PHI)
    wrong("missing-file", "", RATINGS, path)
    (tmp_path / "phi.npy.ids.json").write_text('{"images": []}', encoding="utf-8")
    wrong("wrong-type", "", RATINGS, path)
    for name, text, code, where, options in (
        ("r.csv", "a,b,score\nx,y,1\nx,,2\n", "empty-id", "line 3", {}),
        (
            "r.csv",
            "a,a,score\nx,y,1\n",
            "duplicate-column",
            "line 1",
            {"columns": ["a", "a", "score"]},
        ),
        ("r.json", '{"x": {"y": 1}}', "wrong-type", "", {}),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        wrong(code, where, tmp_path / name, {"x": ["y"]}, **options)
    wrong("wrong-type", "id 'x'", RATINGS, tmp_path / "r.json")


def test_ids_that_stand_on_both_sides_are_refused(tmp_path):
    names = [str(number) for number in range(4)]
    phi = np.random.default_rng(1).random((4, 4))
    pairs = [
        (str(j), str(i), float(phi[i, j])) for i in range(4) for j in range(4) if i != j
    ]
    for given in (
        (phi, names, names),
        {"0": ["1"], "1": ["2"], "2": ["0"], "3": []},
        pairs[::-1],
    ):
        ratings = [(b, a, v) for a, b, v in pairs] if given == pairs[::-1] else pairs
        with refused("ambiguous-sides"):
            semmetrics.correlate(ratings[:-1], given)
    apart = [f"image-{name}" for name in names], [f"caption-{name}" for name in names]
    ratings = [(f"caption-{a}", f"image-{b}", v) for a, b, v in pairs]
    assert semmetrics.correlate(ratings, (phi, *apart))[0]["pearson"] == pytest.approx(
        1.0
    )


@pytest.mark.parametrize("lacking", [None, " ", math.nan])
def test_a_pair_without_a_group_is_refused(lacking):
    ratings = [
        {"a": "x", "b": b, "s": 1, "of": of} for b, of in (("y", "one"), ("z", lacking))
    ]
    with refused("empty", "ratings, element [1]"):
        semmetrics.correlate(ratings, {"x": ["y"]}, group_by="of")


def test_a_group_with_the_name_of_the_row_for_all_pairs_is_refused():
    ratings = [
        {"a": "x", "b": b, "s": score, "of": of}
        for b, score, of in (("y", 1, "all"), ("z", 2, "all"), ("w", 3, "other"))
    ]
    with refused("reserved-group", "ratings"):
        semmetrics.correlate(ratings, {"x": ["y"]}, group_by="of")


def test_an_undefined_correlation_is_none():
    (row,) = semmetrics.correlate([("a", "b", 1), ("a", "c", 2)], {"a": ["b", "c"]})
    assert numbers(row) == [None, None, None]
    assert row["n"] == 2


KNOWN = [PHI[IMAGES.index(i), CAPTIONS.index(c)] for c, i, _ in RATINGS[:-1]]


def write(folder, name, value):
    path = folder / name
    if name.endswith(".npy"):
        np.save(path, value)
        ids = {"images": IMAGES, "captions": CAPTIONS}
        Path(f"{path}.ids.json").write_text(json.dumps(ids), encoding="utf-8")
        return path
    names = (
        ("caption", "image", "score") if name.endswith(".csv") else ("a", "b", "score")
    )
    listed = name.endswith(".json")
    return write_table(
        path, value if listed else [dict(zip(names, v, strict=True)) for v in value]
    )


def test_every_form_of_ratings_and_phi_gives_the_same(tmp_path):
    pandas = pytest.importorskip("pandas")
    wanted = expected(KNOWN, SCORES)
    pairs = [(c, i, v) for (c, i, _), v in zip(RATINGS, KNOWN, strict=False)]
    turned = [(i, c, v) for c, i, v in pairs]
    ratings = [
        RATINGS,
        [list(one) for one in RATINGS],
        [dict(zip("abc", one, strict=True)) for one in RATINGS],
        pandas.DataFrame(RATINGS, columns=["caption", "image", "score"]),
        *(
            write(tmp_path, f"ratings.{end}", RATINGS)
            for end in ("csv", "jsonl", "json")
        ),
    ]
    phis = [
        (PHI, IMAGES, CAPTIONS),
        (PHI.T, CAPTIONS, IMAGES),
        (PHI.astype(np.float32), IMAGES, CAPTIONS),
        write(tmp_path, "phi.npy", PHI),
        pairs,
        turned,
        *(write(tmp_path, f"pairs.{end}", pairs) for end in ("csv", "jsonl", "json")),
    ]
    for given in ratings:
        (row,) = semmetrics.correlate(given, phis[0])
        assert (row["phi"], row["group"], row["n"], row["lacking"]) == (
            "phi",
            "all",
            7,
            1,
        )
        assert_allclose(numbers(row), wanted, atol=1e-12)
    for phi in phis:
        (row,) = semmetrics.correlate(RATINGS, {"mine": phi})
        assert (row["phi"], row["n"], row["lacking"]) == ("mine", 7, 1)
        assert_allclose(numbers(row), wanted, atol=1e-12)
