"""Protocols: what they compute, what they fix, and what they cannot compute."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.options import OPTIONS
from semmetrics.scoring.protocols import PROTOCOLS, find_protocol
from semmetrics.studies.ranks import rank_normalized

PREDS = {"1": ["Person", "person", "tree house"], "2": ["car"], "3": []}
DOCS = Path(__file__).resolve().parents[2] / "docs"
O_F1 = {  # means of table 3 of Pineda et al. 2019, in the printed order
    "FF BCE": (86.40, 76.98, 71.34, 70.89, 46.83),
    "LSTM": (86.36, 76.63, 70.85, 70.68, 47.33),
    "TF": (85.89, 76.62, 70.30, 70.46, 47.77),
    "FF BCE,C": (84.59, 75.40, 69.61, 70.19, 50.22),
    "TF shuffle": (86.79, 77.04, 69.51, 70.26, 46.78),
    "FF TD,C": (84.77, 74.99, 69.09, 69.35, 49.87),
    "LSTM shuffle": (87.45, 77.11, 68.26, 69.49, 46.04),
    "LSTM set": (85.41, 76.52, 69.82, 69.42, 46.68),
    "TF set": (86.26, 59.74, 70.18, 70.99, 45.23),
    "FF sIoU": (87.25, 71.04, 64.13, 67.60, 44.23),
    "FF BCE,DC": (85.77, 70.63, 61.54, 70.75, 43.00),
    "FF sIoU,C": (85.89, 67.62, 63.12, 65.90, 42.78),
}
REFS = {"1": ["person", "Tree House"], "2": ["bus"], "3": ["dog"], "4": ["cat"]}


def test_the_help_of_the_program_names_every_protocol():
    named = OPTIONS["protocol"].help.rpartition(": ")[2].rstrip(".").split(", ")
    assert set(named) == PROTOCOLS.keys()


def test_the_page_of_pineda2019_has_the_ranking_of_the_papers_table_3():
    page = (DOCS / "protocols" / "pineda2019.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| (.*) \| (0\.\d+) \| (\d+) \|$", page, re.MULTILINE)
    sets = ("VOC", "COCO", "NUS-WIDE", "ADE20k", "Recipe1M")
    values = {
        name: dict(zip(O_F1, column, strict=True))
        for name, column in zip(sets, zip(*O_F1.values(), strict=True), strict=True)
    }
    found = {one.system: one for one in rank_normalized(values)}
    assert rows == [
        (name, f"{found[name].value:.4f}", f"{found[name].rank:.0f}") for name in O_F1
    ]


# Table 4 of Pineda et al. 2019: means of O-F1, C-F1 and I-F1 on the five data sets.
TABLE_4 = """
FF BCE, ResNet-50   | 86.40 85.16 88.23 | 76.98 73.49 79.35 | 71.34 54.94 69.19 | 70.89 47.87 69.43 | 46.83 18.38 43.63
FF BCE, ResNet-101  | 87.64 86.57 89.34 | 77.67 74.78 79.80 | 71.81 57.82 69.61 | 71.81 49.92 70.81 | 47.90 18.59 44.78
FF BCE, ResNeXt-101 | 87.93 87.60 90.05 | 78.48 75.62 80.88 | 71.72 57.95 69.34 | 71.98 46.25 70.87 | 49.07 19.13 46.12
LSTM, ResNet-50     | 86.36 85.00 88.20 | 76.63 72.98 79.45 | 70.85 54.15 69.43 | 70.68 48.73 69.97 | 47.33 17.55 46.12
LSTM, ResNet-101    | 87.29 85.77 89.01 | 77.62 74.39 80.27 | 71.43 55.76 70.08 | 70.73 48.13 70.06 | 48.03 17.87 46.84
LSTM, ResNeXt-101   | 87.51 86.53 89.40 | 77.71 74.74 80.34 | 70.86 54.26 69.58 | 70.00 47.84 69.23 | 48.43 18.18 47.23
"""


def test_the_page_of_pineda2019_has_the_gains_of_the_papers_table_4():
    table = {}
    for line in TABLE_4.strip().splitlines():
        name, *cells = line.split("|")
        values = [float(value) for cell in cells for value in cell.split()]
        table[name.strip()] = values
    page = (DOCS / "protocols" / "pineda2019.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ((?:FF BCE|LSTM), ResNe\S+) \|(.*)\|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == [
        name for name in table if "ResNet-50" not in name
    ]
    for name, cells in rows:
        gains = [float(value) for value in re.findall(r"[+-]\d\.\d\d", cells)]
        before = table[f"{name.partition(',')[0]}, ResNet-50"]
        assert gains == pytest.approx(
            [b - a for a, b in zip(before, table[name], strict=True)]
        )


def test_kubany2020_reads_the_data_as_the_paper_does():
    table = semmetrics.score(PREDS, REFS, protocol="kubany2020")
    assert table.headings[:4] == ["Accuracy@1", "Recall@1", "Precision@1", "F1@1"]
    assert {score.n for score in table} == {2}  # images with at least one prediction
    assert table["Precision@3"].value == pytest.approx((2 / 3 + 0) / 2)  # repeats count
    assert table["Recall@3"].value == pytest.approx(0.5)
    assert table["Average Precision@5"].value == pytest.approx((1 + 2 / 3) / 2 / 2)
    settings = table["F1@1"].statistics.settings
    assert (
        settings | {"norm": "kubany2020", "missing": "skip", "emptypred": "skip"}
        == settings
    )
    # labels of the truth of these images: person, tree_house, bus
    assert table["Macro Recall@5"].value == pytest.approx(2 / 3)
    assert "|L:3|" in table["Macro F1@5"].signature
    assert (
        semmetrics.score(PREDS, REFS, protocol="kubany2020", top_k=2).headings[0]
        == "Accuracy@2"
    )


def test_kubany2020_needs_the_number_of_labels_for_balanced_accuracy():
    table = semmetrics.score(PREDS, REFS, protocol="kubany2020", top_k=5)
    reasons = {entry.heading: entry.reason for entry in table.not_computed}
    assert "give the class list" in reasons["Balanced Accuracy@5"]
    assert "Balanced Accuracy@5" not in table.headings
    classes = ["person", "tree house", "bus", "dog", "cat", "car", "sky", "sea"]
    for ignore, q in (((), 8), (["sky"], 7)):
        table = semmetrics.score(
            PREDS, REFS, protocol="kubany2020", top_k=5, classes=classes, ignore=ignore
        )
        score = table["Balanced Accuracy@5"]
        assert score.measure["q"] == q
        first, second = (1 + (q - 3) / (q - 2)) / 2, (0 + (q - 2) / (q - 1)) / 2
        assert score.value == pytest.approx((first + second) / 2)


def test_what_kubany2020_fixes_cannot_be_asked_otherwise():
    for options in (
        {"normalize": "none"},
        {"missing": "error"},
        {"empty_predictions": "keep"},
        {"decode": "threshold:0.5"},
        {"keep_at_least": 1},
    ):
        with refused("fixed-by"):
            semmetrics.score(PREDS, REFS, protocol="kubany2020", **options)
    with refused("measures-and-protocol"):
        semmetrics.score(PREDS, REFS, protocol="kubany2020", measures="F1")
    same = {"normalize": "kubany2020", "missing": "skip", "empty_predictions": "skip"}
    assert semmetrics.score(PREDS, REFS, protocol="kubany2020", **same).scores


def test_pineda2019_takes_decoding_rules_and_cutoffs():
    scores, refs = np.array([[0.9, 0.6], [0.2, 0.4]]), [["a"], []]
    options = {"protocol": "pineda2019", "classes": ["a", "b"]}
    table = semmetrics.score(
        scores, refs, decode=["threshold:0.5", "threshold:0.7"], **options
    )
    assert table.headings[:2] == ["O-F1 [threshold:0.5]", "C-F1 [threshold:0.5]"]
    assert table["O-F1 [threshold:0.5]"].value == pytest.approx(2 / 3)
    assert table["O-F1 [threshold:0.7]"].value == pytest.approx(1)
    least = semmetrics.score(
        scores, refs, decode="threshold:0.7", keep_at_least=1, **options
    )
    assert least["O-F1"].value == pytest.approx(2 / 3)
    assert semmetrics.score(scores, refs, top_k=1, **options).headings[0] == "O-F1@1"
    with refused("no-rule"):
        semmetrics.score(scores, refs, **options)
    with refused("needs-option"):
        semmetrics.score([["a"], []], refs, keep_at_least=1, **options)


@pytest.mark.parametrize(
    "name", ["kubany", "flickr8k-expert", "coco-caption(parser=offline)"]
)
def test_protocols_that_do_not_exist(name):
    with refused("unknown-name"):
        find_protocol(name)
