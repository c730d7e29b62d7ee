"""Published figures of Kubany et al. 2020, computed by the command line.

Source: Expert Systems with Applications 161, tables 2, 7, 8 and 10. The values at five predictions
are the output of the authors' program for the Open Images data of their repository.
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import semmetrics
from semmetrics.cli.app import program

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kubany2020_table2"

VALUES_AT_5 = {
    "Accuracy": 0.185609385,
    "Recall": 0.266224722,
    "Precision": 0.419567827,
    "F1": 0.282226482,
    "Average Precision": 0.697313926,
    "Macro Precision": 0.315207423,
    "Macro Recall": 0.213339162,
    "Macro F1": 0.223655084,
    "Micro Precision": 0.713541667,
    "Micro Recall": 0.22993007,
    "Micro F1": 0.347789296,
}

# Microsoft Computer Vision in tables 7 and 8, at 1, 3 and 5 predictions.
PRINTED = {
    "Accuracy": ("0.185", "0.188", "0.186"),
    "Recall": ("0.185", "0.240", "0.266"),
    "Precision": ("0.667", "0.452", "0.420"),
    "F1": ("0.271", "0.284", "0.282"),
    "Macro Precision": ("0.242", "0.293", "0.315"),
    "Macro Recall": ("0.116", "0.180", "0.213"),
    "Macro F1": ("0.142", "0.196", "0.224"),
    "Micro Precision": ("0.867", "0.763", "0.714"),
    "Micro Recall": ("0.156", "0.204", "0.230"),
    "Micro F1": ("0.264", "0.322", "0.348"),
}

# Recall and precision in table 2.
TABLE_2 = {
    "clarifai": ("0.04", "0.2"),
    "google-cloud-vision": ("0.04", "0.2"),
    "ibm-watson": ("0.04", "0.25"),
    "imagga": ("0.08", "0.4"),
    "microsoft-computer-vision": ("0.12", "0.6"),
    "wolfram": ("0", "0"),
    "deepdetect": ("0", "0"),
    "inceptionresnet-v2": ("0.04", "0.2"),
    "inception-v3": ("0", "0"),
    "mobilenet-v2": ("0.04", "0.2"),
    "resnet50": ("0.04", "0.2"),
    "resnet50-coco": ("0.04", "0.2"),
    "vgg19": ("0.04", "0.2"),
    "yolo-v3": ("0", "0"),
    "yolo-v3-coco": ("0.08", "0.4"),
}


def run_score(*arguments):
    """Return the scores that the command line prints as JSON."""
    command = ["score", *map(str, arguments), "--format", "json"]
    result = CliRunner().invoke(program, command)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["scores"]


@pytest.fixture(scope="module")
def openimages(reference_dir):
    """Return the scores of Open Images by heading."""
    folder = reference_dir / "openimages"
    preds = folder / "microsoft_predictions.csv"
    gts = folder / "ground_truth.csv"
    scores = run_score(preds, gts, "--protocol", "kubany2020", "--top-k", "1,3,5")
    return {score["heading"]: score for score in scores}


@pytest.mark.parametrize("heading", VALUES_AT_5)
def test_values_at_5_agree_with_the_authors_program_to_nine_digits(openimages, heading):
    value = openimages[f"{heading}@5"]["value"]

    assert abs(value - VALUES_AT_5[heading]) < 5e-10


@pytest.mark.parametrize("heading", PRINTED)
def test_values_have_the_printed_digits(openimages, heading):
    values = [openimages[f"{heading}@{k}"]["value"] for k in (1, 3, 5)]

    assert tuple(f"{value:.3f}" for value in values) == PRINTED[heading]


def test_scores_have_the_numbers_of_images_and_labels(openimages):
    assert {score["n"] for score in openimages.values()} == {833}
    assert "|L:254|" in openimages["Macro F1@5"]["signature"]


def test_table_2_is_reproduced_from_the_example():
    folder = EXAMPLE / "predictions"
    files = [folder / f"{system}.json" for system in TABLE_2]
    truth = EXAMPLE / "ground_truth.json"

    scores = run_score(*files, truth, "--protocol", "kubany2020", "--top-k", "5")

    assert sorted(path.stem for path in folder.iterdir()) == sorted(TABLE_2)
    printed = {}
    for score in scores:
        printed[score["system"], score["heading"]] = f"{score['value']:.12g}"
    for system, (recall, precision) in TABLE_2.items():
        assert printed[system, "Recall@5"] == recall, system
        assert printed[system, "Precision@5"] == precision, system


def test_the_data_have_the_printed_statistics(reference_dir):
    """Section 4.1 prints 3.9 labels per image and 263 classes. Figure 1 shows frequent classes."""
    truth = reference_dir / "openimages" / "ground_truth.csv"

    record = semmetrics.validate(truth)
    rows = semmetrics.score(truth, truth, measures="MacroF1").per_label()

    assert record["cardinality"]["mean"] == pytest.approx(3.94, abs=0.005)
    assert record["items"] == 1000
    assert record["vocabulary"] == 263
    most_frequent = sorted(rows, key=lambda row: row["support"], reverse=True)
    top_3 = [(row["support"], row["label"]) for row in most_frequent[:3]]
    assert top_3 == [(486, "Person"), (365, "Clothing"), (245, "Man")]
    supports = [row["support"] for row in most_frequent]
    assert sum(supports[:100]) / sum(supports) == pytest.approx(0.93, abs=0.005)
