"""``semmetrics df`` and ``semmetrics matrix``."""

import json
from pathlib import Path

import numpy as np
import pytest

BOTH = ("captions.json", "references.json")


def value(ok, *arguments):
    text = ok("score", *BOTH, "-m", "CIDEr-D", "--format", "json", *arguments)
    return json.loads(text)[0]


@pytest.mark.parametrize("name", ["df.npz", "df.json"])
def test_frequencies_are_saved_and_used(ok, files, name):
    assert "10 documents" not in ok("doc-freq", "-q", "-o", name, "references.json")
    mine, given = value(ok), value(ok, "--doc-freq", name)
    assert given["value"] == mine["value"] > 0
    fits = [entry["signature"].partition("fit:")[2].partition("|")[0] for entry in (mine, given)]
    assert fits[0] == fits[1]
    assert "df:given" in given["signature"]


def test_a_matrix_of_something_else_is_overwritten_on_request(ok, refused, files):
    ok("pairs", "-o", "phi.npy", *BOTH)
    before = np.load("phi.npy")
    message = refused("pairs", "-m", "CIDEr", "-o", "phi.npy", *BOTH)
    assert message.code == "matrix-exists"
    assert message.code == "matrix-exists"
    np.testing.assert_array_equal(np.load("phi.npy"), before)
    ok("pairs", "-m", "CIDEr", "--overwrite", "-o", "phi.npy", *BOTH)
    ok("pairs", "-m", "CIDEr", "-o", "other.npy", *BOTH)
    np.testing.assert_array_equal(np.load("phi.npy"), np.load("other.npy"))
    assert (np.load("phi.npy") != before).any()


@pytest.mark.parametrize("command", ["doc-freq", "pairs", "rank", "score"])
def test_what_to_do_where_an_input_would_be_overwritten(refused, files, command):
    inputs = {"doc-freq": ("references.json",), "rank": ("references.json", "-m", "F1")}.get(
        command, BOTH
    )
    message = refused(command, *inputs, "-o", "references.json")
    assert message.code == "output-is-input"


def test_the_best_of_each_row_or_column(ok, files):
    ok("pairs", "-o", "phi.npy", "references.json", "references.json")
    matrix = np.load("phi.npy")
    ok("pairs", "--top-k", 2, "-o", "best.jsonl", "references.json", "references.json")
    ids = json.loads(Path("phi.npy.ids.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in Path("best.jsonl").read_text().splitlines()]
    for row, values in zip(rows, matrix, strict=True):
        best = np.argsort(-values, kind="stable")[:2]
        assert [one["id"] for one in row["captions"]] == [ids["captions"][i] for i in best]
    ok("pairs", "--top-k", 1, "--axis", "images", "-o", "best.jsonl", *BOTH)
    rows = [json.loads(line) for line in Path("best.jsonl").read_text().splitlines()]
    assert [(row["caption"], row["images"][0]["id"]) for row in rows] == [("1", "1"), ("2", "2")]
