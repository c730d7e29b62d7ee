"""``semmetrics correlate``."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from refusals import is_refusal

import semmetrics

RATINGS = "caption,image,score,how\nc1,i1,4.9,own\nc2,i1,1.0,near\nc2,i2,4.0,own\nc3,i2,0.5,near\n"
POSITIVES = {"i1": ["c1"], "i2": ["c2"]}


@pytest.fixture
def inputs(files):
    Path("ratings.csv").write_text(RATINGS, encoding="utf-8")
    Path("positives.json").write_text(json.dumps(POSITIVES), encoding="utf-8")
    np.save("phi.npy", np.array([[3.0, 0.5, 0.0], [0.1, 2.0, 0.2]]))
    ids = {"images": ["i1", "i2"], "captions": ["c1", "c2", "c3"]}
    Path("phi.npy.ids.json").write_text(json.dumps(ids), encoding="utf-8")


def test_a_table_of_all_and_of_groups(ok, inputs):
    text = ok(
        "correlate",
        "--group-by",
        "how",
        "ratings.csv",
        "phi.npy",
        "binary=positives.json",
    )
    lines = text.splitlines()
    assert lines[0].split() == [
        "phi",
        "group",
        "n",
        "lacking",
        "pearson",
        "spearman",
        "kendall",
    ]
    assert [line.split()[:4] for line in lines[1:]] == [
        [phi, group, n, "0"]
        for phi in ("phi", "binary")
        for group, n in (("all", "4"), ("own", "2"), ("near", "2"))
    ]
    assert lines[-1].split()[4:] == ["-", "-", "-"]  # not one of them is relevant


def test_json_and_csv_are_those_of_python(ok, inputs):
    found = semmetrics.correlate("ratings.csv", {"phi": "phi.npy"}, ncs="rows", ci=True)
    asked = (
        "correlate",
        "-q",
        "--ncs",
        "rows",
        "--ci",
        "ratings.csv",
        "phi.npy",
        "--format",
    )
    assert json.loads(ok(*asked, "json")) == list(found)
    (row,) = csv.DictReader(ok(*asked, "csv").splitlines())
    assert [float(row[name]) for name in ("pearson", "kendall_low")] == [
        found[0]["pearson"],
        found[0]["kendall_low"],
    ]
    ok(*asked, "markdown", "-o", "table.md", "--digits", "2")
    assert (
        Path("table.md").read_text(encoding="utf-8").startswith("| phi | group | n |")
    )


@pytest.mark.parametrize(
    ("arguments", "message"), [(("a=phi.npy", "a=positives.json"), "bad-spec")]
)
def test_what_is_wrong_is_refused(refused, inputs, arguments, message):
    assert is_refusal(refused("correlate", "ratings.csv", *arguments), message)


def test_a_matrix_of_pairs_is_read_with_its_ids(ok, inputs):
    captions = {
        "c1": "a cat on a mat",
        "c2": "two dogs run",
        "c3": "a red bus on a street",
    }
    references = {
        "i1": ["a cat on a mat", "a cat sleeps"],
        "i2": ["two dogs run", "dogs run"],
    }
    Path("captions.json").write_text(json.dumps(captions), encoding="utf-8")
    Path("references.json").write_text(json.dumps(references), encoding="utf-8")
    ok("pairs", "-q", "-o", "made.npy", "captions.json", "references.json")
    (row,) = json.loads(
        ok("correlate", "-q", "ratings.csv", "made.npy", "--format", "json")
    )
    assert row["phi"] == "made"
    assert row["n"] == 4
    assert row["pearson"] > 0.9
