"""Ranks of many systems, against scipy, the examples of papers, and plain counting."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats

from semmetrics import rank_systems
from semmetrics.studies import compare_values
from semmetrics.studies.rank_diagram import draw_mean_ranks
from semmetrics.studies.rank_tests import (
    critical_difference,
    friedman,
    nemenyi_p,
    rank_differences,
    rank_matrix,
    rank_rows,
)
from semmetrics.studies.ranking import report_ranks
from semmetrics.studies.ranks import rank_normalized

# Demšar 2006, table 6: AUC of four classifiers on 14 datasets.
NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
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


def by_dataset(table, names=NAMES):
    datasets = {}
    for n, row in enumerate(table.tolist()):
        datasets[f"set {n}"] = dict(zip(names, row, strict=True))
    return datasets


# ---- tests of ranks -----------------------------------------------------------------------------


def test_mean_ranks_and_critical_differences_of_demsar():
    means = rank_rows(AUC).mean(axis=0)

    assert means.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.9) == pytest.approx(1.12, abs=0.005)


def test_classifiers_that_demsar_finds_indistinct_at_level_090():
    ranking = rank_normalized(by_dataset(AUC), measure="AUC", level=0.9)

    first, second = map(set, ranking.groups)
    assert first == {"C4.5+m+cf", "C4.5+m", "C4.5+cf"}
    assert second == {"C4.5+cf", "C4.5"}


@pytest.fixture(params=["distinct", "tied"])
def values(request):
    """A table of 12 datasets and 5 systems."""
    rng = np.random.default_rng(1)
    table = rng.random((12, 5))
    return np.round(table * 4) if request.param == "tied" else table


def test_friedman_equals_scipy(values):
    test = friedman(values)

    expected = stats.friedmanchisquare(*values.T)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p == pytest.approx(expected.pvalue)


def test_f_of_iman_and_davenport_is_an_analysis_of_variance_of_ranks(values):
    test = friedman(values)

    ranks = stats.rankdata(-values, axis=1)
    means = ranks.mean(axis=0)
    residuals = ranks - means - ranks.mean(axis=1, keepdims=True) + 3
    between = 12 * ((means - 3) ** 2).sum() / 4
    f = between / ((residuals**2).sum() / 44)
    assert test.f_statistic == pytest.approx(f)
    assert test.f_p == pytest.approx(stats.f.sf(f, 4, 44))


def test_nemenyi_p_equals_scipy(values):
    means = stats.rankdata(-values, axis=1).mean(axis=0)

    p = nemenyi_p(means, 12)

    range_statistic = abs(means[0] - means[1]) * math.sqrt(12 * 12 / 30)
    expected = stats.studentized_range.sf(range_statistic, 5, np.inf)
    assert p[0, 1] == pytest.approx(expected)


def test_systems_that_rank_equally_on_all_datasets():
    test = friedman(np.tile([0.9, 0.5, 0.1], (6, 1)))

    assert test.f_statistic == math.inf
    assert test.f_p == 0.0
    assert test.statistic == pytest.approx(12)


def test_systems_with_equal_values_share_a_rank_and_have_no_p():
    assert math.isnan(friedman(np.ones((4, 3))).p)

    ranking = rank_normalized({name: {"A": 1.0, "B": 1.0} for name in "xy"})

    assert [place.rank for place in ranking] == [1, 1]
    assert report_ranks(ranking)[-1].endswith("all are equal everywhere")


def test_rank_matrix_counts_ties_in_equal_parts():
    counts, means = rank_matrix(AUC)

    expected = np.zeros((4, 4))
    for row in AUC:
        for system, value in enumerate(row):
            n_better = (row > value).sum()
            n_equal = (row == value).sum()
            expected[system, n_better : n_better + n_equal] += 1 / n_equal
    assert_allclose(counts, expected)
    assert_allclose(counts @ [1, 2, 3, 4] / 14, means)


# ---- differences of ranks -----------------------------------------------------------------------

# Wan et al. 2022, tables 3 and 4: CIDEr on COCO, rank in their competition, printed difference.
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


def datasets_of_wan2022(table):
    """Return the scores on COCO, and values that rank as in the competition."""
    scores = {name: score for name, (score, _, _) in table.items()}
    ranks = {name: 10.0 - rank for name, (_, rank, _) in table.items()}
    return scores, ranks


@pytest.mark.parametrize("table", [TABLE_3, TABLE_4])
def test_rank_differences_of_wan2022(table):
    scores, ranks = datasets_of_wan2022(table)

    rows = rank_differences(scores, ranks, ties="order")

    assert [row["system"] for row in rows] == list(table)
    assert [row["first_rank"] for row in rows] == list(range(1, 10))
    for row in rows:
        _, rank, difference = table[row["system"]]
        assert row["second_rank"] == rank
        assert row["difference"] == difference
    ranking = rank_normalized({"COCO": scores, "D": ranks})
    assert list(ranking.differences("COCO", "D", ties="order")) == rows


@pytest.mark.parametrize(("ties", "rank"), [("best", 4), ("mean", 4.5), ("order", 5)])
def test_systems_with_equal_values_have_the_rank_of_the_rule(ties, rank):
    rows = rank_differences(*datasets_of_wan2022(TABLE_3), ties=ties)

    (row,) = [row for row in rows if row["system"] == "ORT"]  # as good as SGAE
    assert row["first_rank"] == rank


# ---- rankings -----------------------------------------------------------------------------------


def test_a_single_dataset_cannot_be_tested():
    ranking = rank_normalized({"x": {"A": 1.0, "B": 0.5}})

    assert ranking.friedman is None
    assert ranking.groups == ()
    assert math.isnan(ranking.critical_difference)
    assert report_ranks(ranking) == []


def test_reports_and_diagrams_name_datasets():
    ranking = rank_normalized(by_dataset(AUC, ("a<b", "m", "cf", "m & cf")))
    n_datasets = f"{len(ranking.values)} datasets"

    matrix, friedman_test, *_ = report_ranks(ranking)

    assert matrix.startswith("datasets at rank")
    assert f"over {n_datasets}:" in friedman_test
    assert f"over {n_datasets}<" in ranking.to_svg()
    assert f"over {n_datasets} by" in repr(ranking)


SVG = "{http://www.w3.org/2000/svg}"


def test_the_diagram_has_the_names_and_a_bar_per_group():
    names = ("a<b", "m", "cf", "m & cf")
    ranking = rank_normalized(by_dataset(AUC, names), measure="AUC")

    svg = ET.fromstring(ranking.to_svg())

    texts = {text.text: text for text in svg.iter(f"{SVG}text")}
    assert texts.keys() >= {"3.14 a<b", "m 2.00", "2.89 cf", "m & cf 1.96", "CD = 1.25"}
    bars = svg.findall(f".//{SVG}path[@stroke-width='4']")
    assert len(bars) == len(ranking.groups) == 1
    for text in texts.values():
        assert 0 <= float(text.get("x")) <= float(svg.get("width"))
        assert 0 <= float(text.get("y")) <= float(svg.get("height"))


@pytest.mark.parametrize("names", ["AB", "ABC", "ABCD"])
def test_two_systems_are_enough_for_a_diagram(names):
    mean_ranks = [float(rank) for rank in range(1, len(names) + 1)]

    svg = ET.fromstring(draw_mean_ranks(list(names), mean_ranks, 0.5))

    texts = {text.text for text in svg.iter(f"{SVG}text")}
    assert {"1.00 A", "A 1.00"} & texts


def test_the_diagram_has_no_critical_difference_without_a_test():
    assert "CD" not in draw_mean_ranks(["x", "y"], [1, 2], math.nan)


ROWS = [{"row": name, "A": 0.5, "B": 0.25} for name in ("F1", "i2t MedR", "WMD (voc)")]


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        (rank_rows, [[[1.0, math.nan]]], "not-finite"),
        (friedman, [[[1.0, 2.0]]], "too-few-systems"),
        (critical_difference, [1, 5], "too-few-systems"),
        (critical_difference, [3, 5, 1.0], "bad-option"),
        (rank_differences, [{"A": 1.0}, {"B": 1.0}], "nothing-given"),
        (draw_mean_ranks, [["A"], [1.0], 0.5], "too-few-compared"),
        (draw_mean_ranks, [["A", "B", "C"], [1.0, 2.0], 0.5], "wrong-count"),
        (draw_mean_ranks, [["A", "B"], [1.0, 2.0, 3.0], 0.5], "wrong-count"),
        (draw_mean_ranks, [["A", "B"], [1.0, math.nan], 0.5], "out-of-range"),
        (draw_mean_ranks, [["A", "B"], [1.0, 2.5], 0.5], "out-of-range"),
        (rank_systems, [{"x": 3}, "F1"], "not-scores"),
        (rank_systems, [{"x": {"system": "A"}}, "F1"], "missing-file"),
        (rank_systems, [ROWS[1:]], "lower-is-better"),
        (compare_values, [ROWS], "mixed-directions"),
        (rank_normalized, [{"x": {}}], "nothing-given"),
        (rank_normalized, [{"x": {"A": 0.0}}], "out-of-range"),
    ],
)
def test_invalid_arguments_raise_an_error(function, arguments, code):
    with refused(code):
        function(*arguments)


def test_invalid_options_raise_an_error():
    with refused("bad-choice"):
        rank_rows([[1.0]], ties="max")
    with refused("bad-choice"):
        rank_systems({"x": []}, by="mean")
    with refused("mixed-directions"):
        rank_systems(ROWS, by="rank")
    with refused("unknown-name"):
        rank_normalized({"x": {"A": 1.0}}).differences("x", "z")
