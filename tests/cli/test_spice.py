"""``semmetrics spice``, and ``--tuples``, with a stand-in for the official program."""

import json
import sys
from pathlib import Path

import pytest
from cli.data import REFERENCES

from semmetrics.text import java
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.tuple_tables import read_tuples

BOTH = ("captions.json", "references.json")
PROGRAM = """
import json, sys
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["hang"]:
        print(json.dumps({"error": "it takes longer than 1 seconds"}), flush=True)
        sys.exit(75)
    print(json.dumps({"tuples": [[word] for word in words]}), flush=True)
"""


@pytest.fixture
def program(monkeypatch, tmp_path):
    """The official program, and a folder of its own for what it parsed; a list of its runs."""
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    runs = []

    def command(self):
        runs.append(self)
        return [sys.executable, "-c", PROGRAM]

    monkeypatch.setattr(OfficialParser, "_command", command)
    return runs


def test_limits_are_handed_to_the_program(ok, files, program):
    ok(
        "spice",
        "parse",
        "-o",
        "t.jsonl",
        "--seconds",
        "5",
        "--processors",
        "2",
        "--memory",
        "3G",
        *BOTH,
    )
    (parser,) = program
    assert (parser.seconds, parser.processors, parser.memory) == (5, 2, "3G")


def test_captions_on_which_it_fails_are_named_and_the_others_written(
    run, files, program
):
    Path("bad.json").write_text(json.dumps({"1": "hang", "2": "a dog", "3": "hang on"}))
    result = run("spice", "parse", "-o", "t.jsonl", "bad.json")
    assert result.exit_code == 2
    assert (
        "bad.json, id '1': the parser failed on 2 captions, such as 'hang'"
        in result.stderr
    )
    assert "it takes longer than 1 seconds" in result.stderr
    assert list(read_tuples("t.jsonl").tuples) == ["a dog"]


def test_a_matrix_of_spice(ok, files, program):
    pytest.importorskip("pycocoevalcap")
    assert "2 x 2, float64" in ok(
        "pairs", "-q", "--phi", "SPICE", "-o", "phi.npy", *BOTH
    )
    number = sum(len(several) for several in REFERENCES.values())
    shape = f"{number} x 2, float64"
    assert shape in ok(
        "pairs", "-q", "--phi", "SPICE", "--rows", "references", "-o", "phi2.npy", *BOTH
    )
    names = json.loads(Path("phi2.npy.ids.json").read_text(encoding="utf-8"))["images"]
    assert len(set(names)) == number


def test_set_up_asks_for_what_is_not_there(run, files, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    jars = {name: (where, digest) for name, (where, _) in java.JARS.items()}
    monkeypatch.setattr(java, "JARS", jars)
    monkeypatch.setattr(OfficialParser, "missing", lambda self: "there is no Java")
    for name in jars:
        Path(name).write_bytes(b"x")
    assert "there already" not in run("spice", "setup", "--jars", ".").stdout
    again = run("spice", "setup")
    assert again.exit_code == 0
    assert again.stdout.endswith("-models.jar, there already\n")
    assert again.stderr == "semmetrics: there is no Java\n"
