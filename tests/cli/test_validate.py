"""``semmetrics validate`` and ``semmetrics positives``."""

import json
import statistics
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import write_json
from cli.data import GT


def test_the_cardinality_is_the_number_of_labels_of_an_item(ok, files):
    (report,) = json.loads(ok("validate --format json gt.json"))

    numbers = [len(labels) for labels in GT.values()]
    cardinality = report["cardinality"]
    assert (cardinality["min"], cardinality["max"]) == (0, 2)
    assert cardinality["mean"] == statistics.mean(numbers)
    assert cardinality["std"] == pytest.approx(statistics.stdev(numbers))
    assert cardinality["histogram"] == [numbers.count(n) for n in (0, 1, 2)]


@pytest.mark.parametrize("name", ["gt", "b", "captions", "references"])
def test_the_description_of_a_file_has_its_number_of_items(ok, files, name):
    (report,) = json.loads(ok(f"validate --format json {name}.json"))

    text = ok(f"validate {name}.json")

    assert f"{name}.json" in text
    assert str(report["items"]) in text


@pytest.mark.parametrize("task", ["labels", "classes", "retrieval"])
def test_the_description_of_a_matrix_has_the_range_of_its_scores(ok, files, task):
    np.save("scores.npy", np.array([[0.25, 0.5], [0.75, 0.5]]))

    text = ok(f"validate --task {task} scores.npy")

    assert "from 0.25 to 0.75" in text


def test_the_description_of_ranked_labels_has_the_range_of_their_scores(ok, files):
    assert "from 0.1 to 0.9" in ok("validate b.json")


def test_the_order_of_each_pair_of_labels_is_counted(ok, files):
    write_json(lists=[["a", "b", "c"], ["b", "a"], ["a", "b"]])

    ok("validate --order pairs.csv lists.json")

    assert Path("pairs.csv").read_text(encoding="utf-8").splitlines() == [
        "first,second,before,after,order",
        "a,c,1,0,1.0",
        "b,c,1,0,1.0",
        "a,b,2,1,0.6666666666666666",
    ]


def test_the_order_is_counted_in_one_file_only(refused, files):
    refusal = refused("validate --order pairs.csv a.json b.json")

    assert refusal.code == "not-applicable"


def test_a_missing_file_does_not_hide_the_others(run, files):
    result = run("validate --format json missing.json a.json")

    missing, existing = json.loads(result.stdout)
    assert result.exit_code == 2
    assert "missing.json" in missing["error"]
    assert (existing["error"], existing["items"]) == (None, 4)


def test_positives_are_the_captions_of_images_with_the_same_classes(ok, files):
    write_json(
        classes={"1": ["cat"], "2": ["cat"], "3": ["cat", "dog"], "4": []},
        own={"1": ["a"], "2": ["b", "c"], "3": ["d"], "4": ["e"]},
    )

    output = ok("positives -o out.json classes.json own.json")

    assert output == "out.json: positives of 3 images\n"
    assert json.loads(Path("out.json").read_text(encoding="utf-8")) == {
        "1": ["a", "b", "c"],
        "2": ["a", "b", "c"],
        "3": ["d"],
    }


def test_positives_are_the_ground_truth_of_pmrp(ok, files):
    write_json(
        positives={"1": ["a", "b"], "2": ["a", "b"]},
        ranking={"1": ["a", "d"], "2": ["d", "b"]},
    )

    assert "PMRP" in ok("score -q -m PMRP ranking.json positives.json")


def test_captions_of_coco_are_counted(ok, reference_dir):
    path = reference_dir / "coco" / "coco_karpathy_test5k.tsv"

    (report,) = json.loads(ok("validate --format json", path))

    assert (report["items"], report["captions"]) == (5000, 25_000)
    assert report["distinct"] == 24_824
    assert report["cardinality"]["histogram"] == [0, 0, 0, 0, 0, 5000]
    repeats = [entry["count"] - 1 for entry in report["repeated"]]
    assert sum(repeats) == 25_000 - 24_824
