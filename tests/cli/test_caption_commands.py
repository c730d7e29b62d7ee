"""``semmetrics doc-freq``, and outputs that are inputs."""

import json

import pytest

BOTH = ("captions.json", "references.json")


def value(ok, *arguments):
    text = ok("score", *BOTH, "-m", "CIDEr-D", "--format", "json", *arguments)
    return json.loads(text)["scores"][0]


@pytest.mark.parametrize("name", ["df.npz", "df.json"])
def test_frequencies_are_saved_and_used(ok, files, name):
    assert "10 documents" not in ok("doc-freq", "-q", "-o", name, "references.json")
    mine, given = value(ok), value(ok, "--doc-freq", name)
    assert given["value"] == mine["value"] > 0
    fits = [entry["signature"].partition("fit:")[2].partition("|")[0] for entry in (mine, given)]
    assert fits[0] == fits[1]
    assert "df:given" in given["signature"]


@pytest.mark.parametrize("command", ["doc-freq", "pairs", "rank", "score"])
def test_what_to_do_where_an_input_would_be_overwritten(refused, files, command):
    inputs = {"doc-freq": ("references.json",), "rank": ("references.json", "-m", "F1")}.get(
        command, BOTH
    )
    message = refused(command, *inputs, "-o", "references.json")
    assert message.code == "output-is-input"
