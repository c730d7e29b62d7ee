"""H computed from the printed accuracies of Xian et al. 2018, the table of generalised results.

Each entry has ts, tr and H as printed, in percent (Proposed Split, version 2.0). ts and tr are
rounded, so that 3 of the 70 printed H differ from the H of the printed ts and tr.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from semmetrics.metrics.classes import H
from semmetrics.metrics.formulas import harmonic_mean
from semmetrics.studies import compare_values, rank_systems

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = ("SUN", "CUB", "AWA1", "AWA2", "aPY")
AWA_NAMES = ("AWA1", "AWA2")
PRINTED = """
DAP     4.2 25.1  7.2 |  1.7 67.9  3.3 |  0.0 88.7  0.0 |  0.0 84.7  0.0 |  4.8 78.3  9.0
IAP     1.0 37.8  1.8 |  0.2 72.8  0.4 |  2.1 78.2  4.1 |  0.9 87.6  1.8 |  5.7 65.6 10.4
CONSE   6.8 35.9 11.4 |  2.0 70.6  3.9 |  0.4 89.6  0.8 |  0.5 90.6  1.0 |  0.0 91.2  0.0
CMT     8.1 21.8 11.8 |  7.2 49.8 12.6 |  0.9 87.6  1.8 |  0.5 90.0  1.0 |  1.4 85.2  2.8
CMT*    8.7 28.0 13.3 |  4.7 60.1  8.7 |  8.4 86.9 15.3 |  8.7 89.0 15.9 | 10.9 74.2 19.0
SSE     2.1 36.4  4.0 |  8.5 46.9 14.4 |  7.0 80.5 12.9 |  8.1 82.5 14.8 |  0.3 78.4  0.6
LATEM  14.7 28.8 19.5 | 15.2 57.3 24.0 |  7.3 71.7 13.3 | 11.5 77.3 20.0 |  1.3 71.4  2.6
ALE    21.8 33.1 26.3 | 23.7 62.8 34.4 | 16.8 76.1 27.5 | 14.0 81.8 23.9 |  4.6 73.7  8.7
DEVISE 16.9 27.4 20.9 | 23.8 53.0 32.8 | 13.4 68.7 22.4 | 17.1 74.7 27.8 |  3.5 78.4  6.7
SJE    14.4 29.7 19.4 | 23.5 59.2 33.6 | 11.3 74.6 19.6 |  8.0 73.9 14.4 |  1.3 71.4  2.6
ESZSL  11.0 27.9 15.8 | 14.7 56.5 23.3 |  6.6 75.6 12.1 |  5.9 77.8 11.0 |  2.4 70.1  4.6
SYNC    7.9 43.3 13.4 | 11.5 70.9 19.8 |  9.0 88.9 16.3 |  9.7 89.7 17.5 |  7.4 66.3 13.3
SAE     8.8 18.0 11.8 |  7.8 54.0 13.6 |  1.8 77.1  3.5 |  1.1 82.2  2.2 |  0.4 80.9  0.9
GFZSL   0.0 39.6  0.0 |  0.0 45.7  0.0 |  1.8 80.3  3.5 |  2.5 80.1  4.8 |  0.0 83.3  0.0
"""
OTHER_H = {("IAP", "SUN"): "1.9", ("IAP", "aPY"): "10.5", ("SAE", "aPY"): "0.8"}
"""H of the printed ts and tr, if it is not the printed H."""


def parse_table(printed):
    """Return the method, the dataset, ts, tr and H of each entry."""
    entries = []
    for line in printed.strip().split("\n"):
        method, _, cells = line.partition(" ")
        for dataset, cell in zip(DATA, cells.split("|"), strict=True):
            entries.append((method, dataset, *cell.split()))
    return entries


ENTRIES = parse_table(PRINTED)


def test_the_table_is_complete():
    assert len(ENTRIES) == 14 * 5


@pytest.mark.parametrize(("method", "dataset", "ts", "tr", "printed"), ENTRIES)
def test_h_is_the_printed_one(method, dataset, ts, tr, printed):
    measure = H()
    unseen = float(ts) / 100
    seen = float(tr) / 100

    value = 100 * float(measure.definition.family.combine(measure, [seen, unseen]))

    assert value == pytest.approx(100 * float(harmonic_mean(unseen, seen)))
    without_float_errors = Decimal(repr(round(value, 9)))
    rounded = without_float_errors.quantize(Decimal("0.1"), ROUND_HALF_UP)
    assert str(rounded) == OTHER_H.get((method, dataset), printed)


# Accuracies of models trained on AWA1, tested on AWA1 and AWA2, and of models trained on AWA2, tested
# on AWA2 and AWA1.
AWA = """
DAP   44.1 44.2 46.1 46.2 | IAP    35.9 36.1 35.9 35.3 | CONSE 45.6 46.5 44.5 43.7
CMT   39.5 40.7 37.9 37.7 | SSE    60.1 61.6 61.0 59.8 | LATEM 55.1 55.4 55.8 53.5
ALE   59.9 59.9 62.5 60.9 | DEVISE 54.2 55.2 59.7 57.7 | SJE   65.6 65.5 61.9 62.0
ESZSL 58.2 58.5 58.6 59.9 | SYNC   54.0 53.7 46.6 46.9 | SAE   53.0 52.4 54.1 53.1
"""


@pytest.mark.parametrize(("paired_by", "p"), [("training", 0.0072), ("test", 0.35)])
def test_awa1_and_awa2_differ_if_paired_by_training_data(paired_by, p):
    """The paper prints 0.007 for pairs "whose test sets are the same"."""
    accuracies = {}
    for entry in AWA.replace("|", "\n").strip().split("\n"):
        method, *cells = entry.split()
        one_on_one, one_on_two, two_on_two, two_on_one = map(float, cells)
        if paired_by == "training":
            first_pair = (one_on_one, one_on_two)
            second_pair = (two_on_one, two_on_two)
        else:
            first_pair = (one_on_one, two_on_one)
            second_pair = (one_on_two, two_on_two)
        accuracies[f"{method}, first"] = dict(zip(AWA_NAMES, first_pair, strict=True))
        accuracies[f"{method}, second"] = dict(zip(AWA_NAMES, second_pair, strict=True))

    (difference,) = compare_values(accuracies)

    assert difference["n"] == 24
    assert difference["p"] == pytest.approx(p, rel=0.01)


def test_the_page_has_the_mean_ranks_of_the_printed_table():
    page = (DOCS / "protocols" / "xian2018.md").read_text(encoding="utf-8")
    row = r"^\| ([A-Z]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$"
    shown = {}
    for method, *ranks in re.findall(row, page, re.MULTILINE):
        shown[method] = ranks

    expected: dict[str, list[str]] = {}
    for column in range(3):  # ts, tr, H
        values: dict[str, dict[str, float]] = {dataset: {} for dataset in DATA}
        for method, dataset, *cells in ENTRIES:
            if method != "CMT*":
                values[dataset][method] = float(cells[column])
        for ranked in rank_systems(values, by="rank"):
            expected.setdefault(ranked.system, []).append(f"{ranked.mean_rank:.1f}")

    assert len(shown) == 13
    assert shown == expected
