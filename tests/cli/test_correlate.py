"""``semmetrics correlate`` and ``semmetrics meta``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import write_json

import semmetrics

RATINGS = """caption,image,score,how
c1,i1,4.9,own
c2,i1,1.0,near
c2,i2,4.0,own
c3,i2,0.5,near
"""


@pytest.fixture
def inputs(files):
    """Write ratings, positives and a matrix with its ids."""
    Path("ratings.csv").write_text(RATINGS, encoding="utf-8")
    np.save("phi.npy", np.array([[3.0, 0.5, 0.0], [0.1, 2.0, 0.2]]))
    ids = {"images": ["i1", "i2"], "captions": ["c1", "c2", "c3"]}
    Path("phi.npy.ids.json").write_text(json.dumps(ids), encoding="utf-8")
    write_json(positives={"i1": ["c1"], "i2": ["c2"]})


def test_a_table_has_rows_for_all_ratings_and_for_groups(ok, inputs):
    text = ok("correlate --group-by how ratings.csv phi.npy binary=positives.json")

    rows = [line.split() for line in text.splitlines()]
    assert rows[0][:4] == ["phi", "group", "n", "lacking"]
    assert [row[:4] for row in rows[1:]] == [
        ["phi", "all", "4", "0"],
        ["phi", "own", "2", "0"],
        ["phi", "near", "2", "0"],
        ["binary", "all", "4", "0"],
        ["binary", "own", "2", "0"],
        ["binary", "near", "2", "0"],
    ]
    undefined = ["-", "-", "-"]  # No caption of the last group is relevant.
    assert rows[-1][4:] == undefined


def test_json_and_csv_equal_the_records_of_python(ok, inputs):
    expected = semmetrics.correlate(
        "ratings.csv", {"phi": "phi.npy"}, ncs="rows", ci=True
    )
    line = "correlate -q --ncs rows --ci ratings.csv phi.npy --format"

    assert json.loads(ok(line, "json")) == list(expected)
    (row,) = csv.DictReader(ok(line, "csv").splitlines())
    for name in ("pearson", "kendall_low"):
        assert float(row[name]) == expected[0][name]


def test_a_table_is_written_to_a_file(ok, inputs):
    ok("correlate --format markdown --digits 2 -o table.md ratings.csv phi.npy")

    text = Path("table.md").read_text(encoding="utf-8")
    assert text.startswith("| phi | group | n |")


def test_two_matrices_of_one_name_are_an_error(refused, inputs):
    refusal = refused("correlate ratings.csv a=phi.npy a=positives.json")

    assert refusal.code == "bad-spec"


def test_a_matrix_of_pairs_is_read_with_its_ids(ok, inputs):
    write_json(
        captions={
            "c1": "a cat on a mat",
            "c2": "two dogs run",
            "c3": "a red bus on a street",
        },
        references={
            "i1": ["a cat on a mat", "a cat sleeps"],
            "i2": ["two dogs run", "dogs run"],
        },
    )
    ok("pairs -q -o cider.npy captions.json references.json")

    (row,) = json.loads(ok("correlate -q ratings.csv cider.npy --format json"))

    assert (row["phi"], row["n"]) == ("cider", 4)
    assert row["pearson"] > 0.9


def test_meta_finds_ids_in_ratings_by_a_pattern(ok, files):
    Path("r.csv").write_text("image name,stars\n1.jpg,5\n2.jpg,1\n3.jpg,4\n")
    write_json(
        preds={"1": ["cat"], "2": ["dog", "bus"], "3": ["cow", "car"]},
        gts={"1": ["cat"], "2": ["house"], "3": ["cow"]},
    )

    text = ok(
        "meta -m F1 --columns 'id=image name,rating=stars' --ids '\\d+' --statistics all "
        "r.csv preds.json gts.json"
    )

    assert "3 ratings of 3 distinct candidates of 3 images" in text
    assert text.count("F1 ") == 5
