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

import semmetrics
from semmetrics.errors import InputError
from semmetrics.studies.correlations import NAMES, correlate_values

IMAGES, CAPTIONS = ["i1", "i2", "i3"], ["c1", "c2", "c3", "c4"]
PHI = np.array([[9.0, 8.0, 0.5, 0.0], [0.0, 1.0, 7.0, 2.0], [2.5, 0.0, 1.0, 6.0]])
RATINGS = [
    ("c1", "i1", 4.9), ("c2", "i1", 4.0), ("c3", "i1", 0.3), ("c3", "i2", 4.5), ("c4", "i2", 2.0),
    ("c1", "i3", 1.8), ("c4", "i3", 5.0), ("c9", "i3", 5.0),
]  # fmt: skip
KNOWN = [PHI[IMAGES.index(i), CAPTIONS.index(c)] for c, i, _ in RATINGS[:-1]]
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


def test_intervals_are_quantiles_of_resampled_pairs():
    rng = np.random.default_rng(3)
    one = np.round(rng.normal(size=60), 1)
    other = np.round(one + rng.normal(size=60))
    bootstrap = semmetrics.Bootstrap(level=0.9, resamples=40, seed=7)
    found = correlate_values(one, other, bootstrap=bootstrap)
    draw = np.random.default_rng(7)
    drawn = [draw.integers(0, 60, 60) for _ in range(40)]
    values = np.array([expected(one[some], other[some]) for some in drawn])
    for place, name in enumerate(NAMES):
        interval = found.intervals[name]
        limits = np.quantile(values[:, place], [0.05, 0.95])
        assert_allclose([interval.low, interval.high], limits, atol=1e-12)
        assert interval.method == "percentile"
        assert interval.undefined == 0
        assert interval.low < getattr(found, name) < interval.high


def test_resamples_without_a_value_are_left_out():
    bootstrap = semmetrics.Bootstrap(resamples=200)
    found = correlate_values([0.0, 0.0, 1.0], [1.0, 2.0, 3.0], bootstrap=bootstrap)
    assert 0 < found.intervals["pearson"].undefined < 200
    with refused("bad-option"):
        correlate_values([0, 1], [1, 2], bootstrap=semmetrics.Bootstrap(method="bca"))


def write(folder, name, value):
    path = folder / name
    if name.endswith(".npy"):
        np.save(path, value)
        ids = {"images": IMAGES, "captions": CAPTIONS}
        Path(f"{path}.ids.json").write_text(json.dumps(ids), encoding="utf-8")
    elif name.endswith(".csv"):
        lines = ["caption,image,score", *(f"{a},{b},{v}" for a, b, v in value)]
        path.write_text("\n".join(lines), encoding="utf-8")
    elif name.endswith(".jsonl"):
        lines = [json.dumps({"a": a, "b": b, "score": v}) for a, b, v in value]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        path.write_text(json.dumps(value), encoding="utf-8")
    return path


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
        *(write(tmp_path, f"ratings.{end}", RATINGS) for end in ("csv", "jsonl", "json")),
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
        assert (row["phi"], row["group"], row["n"], row["lacking"]) == ("phi", "all", 7, 1)
        assert_allclose(numbers(row), wanted, atol=1e-12)
    for phi in phis:
        (row,) = semmetrics.correlate(RATINGS, {"mine": phi})
        assert (row["phi"], row["n"], row["lacking"]) == ("mine", 7, 1)
        assert_allclose(numbers(row), wanted, atol=1e-12)


def test_binary_relevance_of_a_relation(tmp_path):
    captions = {"i1": ["c1", "c2"], "i2": ["c3"], "i3": []}
    images = {"c1": ["i1"], "c2": ["i1"], "c3": ["i2"], "c4": [], "c9": ["i3"]}
    binary = [1, 1, 0, 1, 0, 0, 0]
    for relation in (captions, write(tmp_path, "positives.json", captions)):
        found = semmetrics.correlate(RATINGS[:-1], {"binary": relation})
        assert_allclose(numbers(found[0]), expected(binary, SCORES), atol=1e-12)
    found = semmetrics.correlate(RATINGS, images)
    assert_allclose(numbers(found[0]), expected([*binary, 1], [*SCORES, 5.0]), atol=1e-12)
    (row,) = semmetrics.correlate([("i1", "c1", 1), ("x", "y", 2), ("i2", "c1", 3)], captions)
    assert (row["n"], row["lacking"]) == (2, 1)


def test_entries_of_a_relation_that_have_one_id_are_joined():
    ratings = [("a", "x", 3.0), ("a", "y", 2.0), ("b", "x", 1.0)]
    relation = {"a#0": ["x"], "a#1": ["y"], "b": ["z"]}
    (row,) = semmetrics.correlate(ratings, {"phi": relation}, ids=r"^(\w+)")
    assert numbers(row) == pytest.approx(expected([1, 1, 0], [3, 2, 1]))


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


def test_groups_and_ids(tmp_path):
    rows = ["score,x,caption,image,how"]
    kinds = ["near", "own", "own", "near", "near", "near", "near"]
    for (c, i, v), kind in zip(RATINGS, kinds, strict=False):
        rows.append(f"{v},0,coco:{c[1:]},img_00{i[1:]}.jpg,{kind}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    named = PHI, [f"{i[1:]}" for i in IMAGES], [f"cap{c[1:]}" for c in CAPTIONS]
    found = semmetrics.correlate(
        path, named, columns=("caption", "image", "score"), group_by="how",
        ids=r"0*(\d+)(?:[.]jpg)?$", ci=semmetrics.Bootstrap(resamples=30),
    )  # fmt: skip
    assert found.column("group") == ["all", "near", "own"]
    assert found.column("n") == [7, 5, 2]
    assert_allclose(numbers(found[0]), expected(KNOWN, SCORES), atol=1e-12)
    near = [place for place, kind in enumerate(kinds) if kind == "near"]
    wanted = expected([KNOWN[p] for p in near], [SCORES[p] for p in near])
    assert_allclose(numbers(found[1]), wanted, atol=1e-12)
    assert all(found[0][f"{n}_low"] <= found[0][n] <= found[0][f"{n}_high"] for n in NAMES)
    (note,) = found.facts
    assert (note.code, note.where, note.examples) == ("unused-columns", str(path), ("x",))
    frame = pytest.importorskip("pandas").DataFrame(list(found))
    assert found.to_pandas().equals(frame)


def test_an_undefined_correlation_is_none():
    (row,) = semmetrics.correlate([("a", "b", 1), ("a", "c", 2)], {"a": ["b", "c"]})
    assert numbers(row) == [None, None, None]
    assert row["n"] == 2


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


def test_names_of_columns_tell_ids_that_stand_on_both_sides(tmp_path):
    phi = np.arange(16.0).reshape(4, 4) ** 2
    np.save(tmp_path / "phi.npy", phi)
    names = [str(number) for number in range(4)]
    beside = tmp_path / "phi.npy.ids.json"
    beside.write_text(json.dumps({"images": names, "captions": names}), encoding="utf-8")
    places = [(i, j) for i in range(4) for j in range(4) if i < 3]
    table = [{"image": i, "caption": j, "value": phi[i, j]} for i, j in places]
    for image, caption in (("image", "caption"), ("img_id", "sentence"), ("Images", "b")):
        ratings = [{caption: j, image: i, "score": phi[i, j]} for i, j in places]
        turned = [{image: i, caption: j, "score": phi[i, j]} for i, j in places]
        csv = tmp_path / "ratings.csv"
        lines = [f"{i},{phi[i, j]},{j}" for i, j in places]
        csv.write_text("\n".join([f"{image},score,{caption}", *lines]), encoding="utf-8")
        for given in (ratings, turned, csv):
            chosen = (caption, image, "score")
            for data in (tmp_path / "phi.npy", table):
                (row,) = semmetrics.correlate(given, {"phi": data}, columns=chosen)
                assert (row["n"], row["lacking"]) == (12, 0)
                assert row["pearson"] == pytest.approx(1.0)
    unnamed = [{"a": i, "b": j, "score": phi[i, j]} for i in range(4) for j in range(4) if i < j]
    with refused("ambiguous-sides"):
        semmetrics.correlate(unnamed, tmp_path / "phi.npy")


def test_names_that_contradict_all_ids_are_not_followed(tmp_path):
    phi = write(tmp_path, "phi.npy", PHI)
    ratings = [{"image": caption, "caption": image, "score": v} for caption, image, v in RATINGS]
    assert semmetrics.correlate(ratings, phi)[0]["n"] == 7


def test_keys_in_another_order_are_the_same_keys():
    ratings = [
        {"image": 1, "caption": 12, "score": 3.5},
        {"score": 4, "image": 1, "caption": 11},
        {"caption": 12, "image": 2, "score": 1},
    ]
    (row,) = semmetrics.correlate(ratings, [(1, 12, 3.5), (1, 11, 4), (2, 12, 1)])
    assert (row["n"], row["lacking"], row["pearson"]) == (3, 0, pytest.approx(1.0))
    with refused("missing-column", "ratings, element [1]"):
        semmetrics.correlate([ratings[0], {"image": 1, "text": 2, "score": 3}], [(1, 12, 3.5)])


@pytest.mark.parametrize("lacking", [None, " ", math.nan])
def test_a_pair_without_a_group_is_refused(lacking):
    ratings = [
        {"a": "x", "b": "y", "s": 1, "of": "one"},
        {"a": "x", "b": "z", "s": 2, "of": lacking},
    ]
    with refused("empty", "ratings, element [1]"):
        semmetrics.correlate(ratings, {"x": ["y"]}, group_by="of")
