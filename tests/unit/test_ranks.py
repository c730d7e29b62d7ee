"""Ranks of many systems: against scipy, worked examples of papers, and plain counting."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.studies.rank_diagram import draw_mean_ranks
from semmetrics.studies.rank_tests import (
    critical_difference,
    friedman,
    nemenyi_p,
    rank_differences,
    rank_matrix,
    rank_rows,
)
from semmetrics.studies.ranking import draw_rank_differences, report_ranks
from semmetrics.studies.ranks import rank_normalized

# Demšar 2006, table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.978, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def by_data_set(table, names=NAMES):
    return {
        f"set {n}": dict(zip(names, row, strict=True))
        for n, row in enumerate(table.tolist())
    }


def test_the_worked_example_of_demsar():
    """Mean ranks, χ² and F of section 3.2.2 (without correction for ties), and both differences."""
    means = rank_rows(AUC).mean(axis=0)
    assert means.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    n, k = AUC.shape
    chi = 12 * n / (k * (k + 1)) * ((means**2).sum() - k * (k + 1) ** 2 / 4)
    assert chi == pytest.approx(9.28, abs=0.005)
    assert (n - 1) * chi / (n * (k - 1) - chi) == pytest.approx(3.69, abs=0.005)
    assert critical_difference(k, n) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(k, n, 0.9) == pytest.approx(1.12, abs=0.005)
    found = rank_normalized(by_data_set(AUC), measure="AUC", level=0.9)
    # at 0.90 the text finds C4.5 worse than C4.5+m and C4.5+m+cf
    apart = {frozenset(group) for group in found.groups}
    assert apart == {
        frozenset(("C4.5+m+cf", "C4.5+m", "C4.5+cf")),
        frozenset(("C4.5+cf", "C4.5")),
    }
    p = nemenyi_p(means, n)
    assert (
        (p < 0.1) == (np.abs(means[:, None] - means) > critical_difference(k, n, 0.9))
    ).all()


@pytest.mark.parametrize("seed", range(4))
def test_friedman_and_nemenyi_are_those_of_scipy(seed):
    from scipy import stats

    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (12, 5)) / 4 if seed % 2 else rng.random((12, 5))
    found, expected = friedman(values), stats.friedmanchisquare(*values.T)
    assert (found.statistic, found.p) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    # F of Iman and Davenport is that of an analysis of variance of the ranks
    ranks = rank_rows(values)
    np.testing.assert_allclose(ranks, stats.rankdata(-values, axis=1))
    between = 12 * ((ranks.mean(axis=0) - 3) ** 2).sum() / 4
    rest = ranks - ranks.mean(axis=0) - ranks.mean(axis=1, keepdims=True) + 3
    assert found.f_statistic == pytest.approx(between / ((rest**2).sum() / 44))
    assert found.f_p == pytest.approx(stats.f.sf(found.f_statistic, 4, 44))
    expected = stats.studentized_range.sf(
        abs(ranks.mean(axis=0)[0] - ranks.mean(axis=0)[1]) * math.sqrt(12 * 12 / 30),
        5,
        np.inf,
    )
    assert nemenyi_p(ranks.mean(axis=0), 12)[0, 1] == pytest.approx(expected)


def test_all_rows_alike_and_all_systems_alike():
    same = friedman(np.tile([0.9, 0.5, 0.1], (6, 1)))
    assert (same.f_statistic, same.f_p) == (math.inf, 0.0)
    assert same.statistic == pytest.approx(12)
    tied = friedman(np.ones((4, 3)))
    assert math.isnan(tied.p)
    found = rank_normalized({name: {"A": 1.0, "B": 1.0} for name in "xy"})
    assert [place.rank for place in found] == [1, 1]
    assert report_ranks(found)[-1].endswith("all are equal everywhere")


def test_rank_matrix_counts_each_rank():
    counts, means = rank_matrix(AUC)
    np.testing.assert_allclose(counts.sum(axis=0), 14)
    np.testing.assert_allclose(counts.sum(axis=1), 14)
    np.testing.assert_allclose(counts @ [1, 2, 3, 4] / 14, means)
    # by hand: rows of ties are 5 (2, 4), 7 (1, 2), 9 (all) and 10 (2, 4)
    expected = np.zeros((4, 4))
    for row in AUC:
        for place, value in enumerate(row):
            better, equal = (row > value).sum(), (row == value).sum()
            expected[place, better : better + equal] += 1 / equal
    np.testing.assert_allclose(counts, expected)
    found = rank_normalized(by_data_set(AUC))
    order = [NAMES.index(name) for name in found.ranked]
    np.testing.assert_allclose(found.rank_matrix(), counts[order])


# Wan et al. 2022, tables 3 and 4: score on COCO, rank in their comparison, difference printed.
TABLE_3 = {
    "X-LAN": (132.0, 2, -1),
    "MM": (131.2, 1, 1),
    "AoA": (128.9, 3, 0),
    "SGAE": (128.3, 4, 0),
    "ORT": (128.3, 9, -4),
    "Stack-Cap": (120.5, 5, 1),
    "Top-Down": (120.1, 6, 1),
    "SCST": (115.6, 8, 0),
    "Disc": (113.9, 7, 2),
}
TABLE_4 = {
    "X-LAN": (23.40, 1, 0),
    "AoA": (22.68, 2, 0),
    "ORT": (22.64, 9, -6),
    "MM": (22.60, 3, 1),
    "SGAE": (21.87, 5, 0),
    "Top-Down": (21.40, 6, 0),
    "Stack-Cap": (20.92, 4, 3),
    "Disc": (20.50, 7, 1),
    "SCST": (20.02, 8, 1),
}


@pytest.mark.parametrize("table", [TABLE_3, TABLE_4])
def test_rank_differences_of_wan2022(table):
    """SGAE and ORT are equal on COCO, and ranked in the order of the table there."""
    scores = {name: score for name, (score, _, _) in table.items()}
    ranks = {name: -float(rank) for name, (_, rank, _) in table.items()}
    rows = rank_differences(scores, ranks, ties="order")
    assert [row["system"] for row in rows] == list(table)
    assert [row["first_rank"] for row in rows] == list(range(1, 10))
    assert [(row["second_rank"], row["difference"]) for row in rows] == [
        (rank, printed) for _, rank, printed in table.values()
    ]
    datasets = {
        "COCO": scores,
        "D": {name: 10.0 + rank for name, rank in ranks.items()},
    }
    found = rank_normalized(datasets, measure="CIDEr").differences(
        "COCO", "D", ties="order"
    )
    assert found.column("difference") == [row["difference"] for row in rows]
    assert list(found.to_pandas()) == list(rows[0])
    shared = {row["system"]: row for row in rank_differences(scores, ranks)}
    if table is TABLE_3:  # equal systems share the better rank
        assert (shared["ORT"]["first_rank"], shared["ORT"]["difference"]) == (4, -5)
        mean = {
            row["system"]: row for row in rank_differences(scores, ranks, ties="mean")
        }
        assert mean["ORT"]["first_rank"] == mean["SGAE"]["first_rank"] == 4.5


def test_tests_of_ranks_in_json():
    found = rank_normalized(by_data_set(AUC), measure="AUC")
    (entry, *_) = json.loads(found.render("json"))["places"]
    assert (entry["schema"], entry["system"]) == ("semmetrics.ranks/1", "C4.5+m+cf")
    assert entry["friedman"]["statistic"] == pytest.approx(10.2283, abs=1e-4)
    assert entry["critical_difference"] == pytest.approx(1.2536, abs=1e-4)
    assert len(entry["ranks"]) == entry["datasets"] == 14
    one = rank_normalized({"x": {"A": 1.0, "B": 0.5}})
    assert (one.friedman, one.to_dicts()[0]["friedman"], one.groups) == (None, None, ())
    assert math.isnan(one.critical_difference)
    assert report_ranks(one) == []


def test_rank_differences_are_drawn():
    rows = rank_differences({"A": 0.9, "B": 0.8}, {"A": 0.3, "B": 0.4})
    text = draw_rank_differences(rows, "COCO", "D", "table", digits=1).splitlines()
    assert text[1].split() == ["A", "0.9", "1", "0.3", "2", "-1"]
    assert text[2].split()[-1] == "+1"
    entry = json.loads(draw_rank_differences(rows, "COCO", "D", "json"))[0]
    assert (entry["first_dataset"], entry["difference"]) == ("COCO", -1)
    head = draw_rank_differences(rows, "COCO", "D", "csv").splitlines()[0]
    assert head == "system,first,second,first_rank,second_rank,difference"


ROWS = [{"row": name, "A": 0.5, "B": 0.25} for name in ("F1", "i2t MedR", "WMD (voc)")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank_rows([[1.0, math.nan]]), "not-finite"),
        (lambda: rank_rows([[1.0]], ties="max"), "bad-choice"),
        (lambda: friedman([[1.0, 2.0]]), "too-few-systems"),
        (lambda: critical_difference(1, 5), "too-few-systems"),
        (lambda: critical_difference(3, 5, 1.0), "bad-option"),
        (lambda: rank_differences({"A": 1.0}, {"B": 1.0}), "nothing-given"),
        (lambda: draw_mean_ranks(["A"], [1.0], 0.5), "too-few-systems"),
        (lambda: rank_normalized({"x": {"A": 1.0}}).to_svg(), "too-few-systems"),
        (
            lambda: rank_normalized({"x": {"A": 1.0}}).differences("x", "z"),
            "unknown-name",
        ),
        (lambda: semmetrics.rank_systems({"x": []}, by="mean"), "bad-choice"),
        (lambda: semmetrics.rank_systems({"x": 3}, "F1"), "not-scores"),
        (lambda: semmetrics.rank_systems({"x": {"system": "A"}}, "F1"), "missing-file"),
        (lambda: semmetrics.rank_systems({"x": None}, "WMD"), "lower-is-better"),
        (lambda: semmetrics.rank_systems(ROWS, by="rank"), "mixed-directions"),
        (lambda: semmetrics.rank_systems(ROWS[1:]), "lower-is-better"),
        (lambda: semmetrics.studies.compare_values(ROWS), "mixed-directions"),
        (lambda: rank_normalized({"x": {}}), "nothing-given"),
        (lambda: rank_normalized({"x": {"A": 1.0}, "y": {}}), "out-of-range"),
        (lambda: rank_normalized({"x": {"A": 0.0}}), "out-of-range"),
        (lambda: rank_normalized({"x": {"A": math.nan}}), "out-of-range"),
    ],
)
def test_bad_input(call, message):
    with refused(message):
        call()


def test_the_diagram_is_svg_with_all_names_and_bars():
    found = rank_normalized(
        by_data_set(AUC, ("a<b", "m", "cf", "m & cf")), measure="AUC"
    )
    root = ET.fromstring(found.to_svg())
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"3.14 a<b", "m 2.00", "2.89 cf", "m & cf 1.96"} <= set(texts)
    assert "CD = 1.25" in texts
    assert "mean ranks by AUC over 14 data sets" in texts
    bars = [
        one
        for one in root.iter("{http://www.w3.org/2000/svg}path")
        if one.get("stroke-width") == "4"
    ]
    assert len(bars) == len(found.groups) == 1
    width, height = float(root.get("width")), float(root.get("height"))
    for one in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(one.get("x")) <= width
        assert 0 <= float(one.get("y")) <= height
    plain = draw_mean_ranks(["x", "y"], [1, 2], math.nan)
    assert "CD" not in plain
    assert found.to_svg() == found.to_svg()
