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

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocols" / "pineda2019.md"


def test_the_help_of_the_program_names_every_protocol():
    names = OPTIONS["protocol"].help.rpartition(": ")[2].rstrip(".").split(", ")

    assert set(names) == PROTOCOLS.keys()


@pytest.mark.parametrize(
    "name", ["kubany", "flickr8k-expert", "coco-caption(parser=offline)"]
)
def test_unknown_protocols_are_errors(name):
    with refused("unknown-name"):
        find_protocol(name)


# ---- kubany2020 ---------------------------------------------------------------------

PREDS = {"1": ["Person", "person", "tree house"], "2": ["car"], "3": []}
REFS = {"1": ["person", "Tree House"], "2": ["bus"], "3": ["dog"], "4": ["cat"]}


def score_kubany(**options):
    return semmetrics.score(PREDS, REFS, protocol="kubany2020", **options)


def test_kubany2020_reads_the_data_as_the_paper_does():
    table = score_kubany()

    assert table.headings[:4] == ["Accuracy@1", "Recall@1", "Precision@1", "F1@1"]
    for score in table:
        assert score.n == 2  # images with a prediction
    assert table["Precision@3"].value == pytest.approx((2 / 3 + 0) / 2)
    assert table["Recall@3"].value == pytest.approx((1 + 0) / 2)
    assert table["Average Precision@5"].value == pytest.approx(
        ((1 + 2 / 3) / 2 + 0) / 2
    )
    # The labels are person, tree_house and bus.
    assert table["Macro Recall@5"].value == pytest.approx(2 / 3)
    assert "|L:3|" in table["Macro F1@5"].signature
    assert score_kubany(top_k=2).headings[0] == "Accuracy@2"


@pytest.mark.parametrize(("ignore", "q"), [([], 8), (["sky"], 7)])
def test_kubany2020_needs_a_class_list_for_balanced_accuracy(ignore, q):
    classes = ["person", "tree house", "bus", "dog", "cat", "car", "sky", "sea"]

    score = score_kubany(top_k=5, classes=classes, ignore=ignore)["Balanced Accuracy@5"]

    of_first_image = (2 / 2 + (q - 3) / (q - 2)) / 2
    of_second_image = (0 / 1 + (q - 2) / (q - 1)) / 2
    assert score.value == pytest.approx((of_first_image + of_second_image) / 2)
    left_out = score_kubany(top_k=5).not_computed
    reasons = {measure.heading: measure.reason for measure in left_out}
    assert "give the class list" in reasons["Balanced Accuracy@5"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"normalize": "none"}, "fixed-by"),
        ({"missing": "error"}, "fixed-by"),
        ({"empty_predictions": "keep"}, "fixed-by"),
        ({"decode": "threshold:0.5"}, "fixed-by"),
        ({"keep_at_least": 1}, "fixed-by"),
        ({"measures": "F1"}, "measures-and-protocol"),
    ],
)
def test_options_that_contradict_kubany2020_are_errors(options, code):
    with refused(code):
        score_kubany(**options)


def test_options_that_repeat_kubany2020_are_accepted():
    options = {"normalize": "kubany2020", "missing": "skip"}

    assert score_kubany(**options).to_dict() == score_kubany().to_dict()


# ---- pineda2019 ---------------------------------------------------------------------

SCORES = np.array([[0.9, 0.6], [0.2, 0.4]])


def score_pineda(preds=SCORES, **options):
    options = {"protocol": "pineda2019", "classes": ["a", "b"], **options}
    return semmetrics.score(preds, [["a"], []], **options)


def test_pineda2019_accepts_decoding_rules_and_cutoffs():
    table = score_pineda(decode=["threshold:0.5", "threshold:0.7"])

    assert table["O-F1 [threshold:0.5]"].value == pytest.approx(2 / 3)
    assert table["O-F1 [threshold:0.7]"].value == pytest.approx(1)
    kept = score_pineda(decode="threshold:0.7", keep_at_least=1)
    assert kept["O-F1"].value == pytest.approx(2 / 3)
    assert score_pineda(top_k=1).headings[0] == "O-F1@1"


def test_pineda2019_needs_a_rule_for_scores_and_scores_for_a_rule():
    with refused("no-rule"):
        score_pineda()
    with refused("needs-option"):
        score_pineda([["a"], []], keep_at_least=1)


# Means of O-F1 in table 3 of Pineda et al. 2019, in the printed order.
DATASETS = ["VOC", "COCO", "NUS-WIDE", "ADE20k", "Recipe1M"]
TABLE_3 = """
FF BCE       | 86.40 76.98 71.34 70.89 46.83
LSTM         | 86.36 76.63 70.85 70.68 47.33
TF           | 85.89 76.62 70.30 70.46 47.77
FF BCE,C     | 84.59 75.40 69.61 70.19 50.22
TF shuffle   | 86.79 77.04 69.51 70.26 46.78
FF TD,C      | 84.77 74.99 69.09 69.35 49.87
LSTM shuffle | 87.45 77.11 68.26 69.49 46.04
LSTM set     | 85.41 76.52 69.82 69.42 46.68
TF set       | 86.26 59.74 70.18 70.99 45.23
FF sIoU      | 87.25 71.04 64.13 67.60 44.23
FF BCE,DC    | 85.77 70.63 61.54 70.75 43.00
FF sIoU,C    | 85.89 67.62 63.12 65.90 42.78
"""
# Means of O-F1, C-F1 and I-F1 on the five datasets in table 4.
TABLE_4 = """
FF BCE, ResNet-50   | 86.40 85.16 88.23 76.98 73.49 79.35 71.34 54.94 69.19 70.89 47.87 69.43 46.83 18.38 43.63
FF BCE, ResNet-101  | 87.64 86.57 89.34 77.67 74.78 79.80 71.81 57.82 69.61 71.81 49.92 70.81 47.90 18.59 44.78
FF BCE, ResNeXt-101 | 87.93 87.60 90.05 78.48 75.62 80.88 71.72 57.95 69.34 71.98 46.25 70.87 49.07 19.13 46.12
LSTM, ResNet-50     | 86.36 85.00 88.20 76.63 72.98 79.45 70.85 54.15 69.43 70.68 48.73 69.97 47.33 17.55 46.12
LSTM, ResNet-101    | 87.29 85.77 89.01 77.62 74.39 80.27 71.43 55.76 70.08 70.73 48.13 70.06 48.03 17.87 46.84
LSTM, ResNeXt-101   | 87.51 86.53 89.40 77.71 74.74 80.34 70.86 54.26 69.58 70.00 47.84 69.23 48.43 18.18 47.23
"""


def parse_table(text):
    """Return the numbers of each row by its name."""
    rows = {}
    for line in text.strip().splitlines():
        name, numbers = line.split("|")
        rows[name.strip()] = np.array(numbers.split(), float)
    return rows


def test_the_page_of_pineda2019_has_the_ranking_of_table_3():
    means = parse_table(TABLE_3)
    by_dataset = {}
    for place, dataset in enumerate(DATASETS):
        by_dataset[dataset] = {name: row[place] for name, row in means.items()}

    ranking = {rank.system: rank for rank in rank_normalized(by_dataset)}

    rows = re.findall(
        r"^\| \d+ \| (.*) \| (0\.\d+) \| (\d+) \|$", PAGE.read_text(), re.M
    )
    assert [name for name, _, _ in rows] == list(means)
    for name, value, rank in rows:
        assert value == f"{ranking[name].value:.4f}"
        assert rank == f"{ranking[name].rank:.0f}"


def test_the_page_of_pineda2019_has_the_gains_of_table_4():
    means = parse_table(TABLE_4)

    rows = re.findall(
        r"^\| ((?:FF|LSTM).*, ResNe\S+) \|(.*)\|$", PAGE.read_text(), re.M
    )

    assert len(rows) == 4
    for name, cells in rows:
        gains = np.array(re.findall(r"[+-]\d\.\d\d", cells), float)
        smallest = name.partition(",")[0] + ", ResNet-50"
        np.testing.assert_allclose(gains, means[name] - means[smallest], atol=1e-9)
