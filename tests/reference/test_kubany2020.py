"""The figures of Kubany et al. 2020, from the command line, to the digits that are known.

Source: Expert Systems with Applications 161, tables 2, 7, 8 and 10; at five predictions the output
of the authors' program on the Open Images data of their repository.
"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import semmetrics
from semmetrics.cli.app import program

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "kubany2020_table2"

FIVE = {
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

HEADINGS = (
    "Accuracy",
    "Recall",
    "Precision",
    "F1",
    "Macro Precision",
    "Macro Recall",
    "Macro F1",
    "Micro Precision",
    "Micro Recall",
    "Micro F1",
)
# Microsoft Computer Vision; the tables 7 and 8 print three digits.
PRINTED = {
    1: (0.185, 0.185, 0.667, 0.271, 0.242, 0.116, 0.142, 0.867, 0.156, 0.264),
    3: (0.188, 0.240, 0.452, 0.284, 0.293, 0.180, 0.196, 0.763, 0.204, 0.322),
    5: (0.186, 0.266, 0.420, 0.282, 0.315, 0.213, 0.224, 0.714, 0.230, 0.348),
}

# Recall and precision of table 2, as they are printed.
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


def scored(*arguments):
    result = CliRunner().invoke(
        program, ["score", *map(str, arguments), "--format", "json"]
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["scores"]


@pytest.fixture(scope="module")
def openimages(reference_dir):
    folder = reference_dir / "openimages"
    files = folder / "microsoft_predictions.csv", folder / "ground_truth.csv"
    scores = scored(*files, "--protocol", "kubany2020", "--top-k", "1,3,5")
    return {score["heading"]: score for score in scores}


@pytest.mark.parametrize("heading", FIVE)
def test_top_five_to_nine_digits(openimages, heading):
    assert abs(openimages[f"{heading}@5"]["value"] - FIVE[heading]) < 5e-10


@pytest.mark.parametrize("k", PRINTED)
@pytest.mark.parametrize("heading", HEADINGS)
def test_printed_digits(openimages, heading, k):
    value = openimages[f"{heading}@{k}"]["value"]
    assert f"{value:.3f}" == f"{PRINTED[k][HEADINGS.index(heading)]:.3f}"


def test_images_and_labels(openimages):
    assert {score["n"] for score in openimages.values()} == {833}
    assert "|L:254|" in openimages["Macro F1@5"]["signature"]


def test_table_2():
    assert sorted(path.stem for path in (EXAMPLE / "predictions").iterdir()) == sorted(
        TABLE_2
    )
    files = [EXAMPLE / "predictions" / f"{system}.json" for system in TABLE_2]
    truth = EXAMPLE / "ground_truth.json"
    scores = scored(*files, truth, "--protocol", "kubany2020", "--top-k", "5")
    found = {(score["system"], score["heading"]): score["value"] for score in scores}
    for system, printed in TABLE_2.items():
        values = (found[system, "Recall@5"], found[system, "Precision@5"])
        assert tuple(f"{value:.12g}" for value in values) == printed, system


def test_section_4_1_and_figure_1(reference_dir):
    """The paper prints 3.9 labels per image of 263 classes, and draws the frequent classes."""
    truth = reference_dir / "openimages" / "ground_truth.csv"
    record = semmetrics.validate(truth)
    assert record["cardinality"]["mean"] == pytest.approx(3.94, abs=0.005)
    assert (record["items"], record["vocabulary"]) == (1000, 263)
    rows = semmetrics.score(truth, truth, measures="MacroF1").per_label()
    support = sorted(((row["support"], row["label"]) for row in rows), reverse=True)
    assert support[:3] == [(486, "Person"), (365, "Clothing"), (245, "Man")]
    share = sum(count for count, _ in support[:100]) / sum(
        count for count, _ in support
    )
    assert share == pytest.approx(0.93, abs=0.005)
