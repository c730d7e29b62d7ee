"""``semmetrics spice`` with a replacement of the official program."""

import json
import sys
from pathlib import Path

import pytest
from cli.conftest import write_json
from cli.data import REFERENCES

from semmetrics.text import java
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.tuple_tables import read_tuples

FILES = "captions.json references.json"
PROGRAM = """
import json, sys
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["hang"]:
        print(json.dumps({"error": "it takes longer than 1 second"}), flush=True)
        sys.exit(75)
    print(json.dumps({"tuples": [[word] for word in words]}), flush=True)
"""


@pytest.fixture
def parsers(files, monkeypatch, tmp_path):
    """Replace the official program; return the list of parsers that start it."""
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    parsers = []

    def command(self):
        parsers.append(self)
        return [sys.executable, "-c", PROGRAM]

    monkeypatch.setattr(OfficialParser, "command", command)
    return parsers


def test_the_program_gets_the_limits(ok, parsers):
    ok(f"spice parse -o t.jsonl --seconds 5 --processors 2 --memory 3G {FILES}")

    (parser,) = parsers
    assert (parser.seconds, parser.processors, parser.memory) == (5, 2, "3G")


def test_other_captions_are_written_if_the_program_fails_on_some(run, parsers):
    write_json(bad={"1": "hang", "2": "a dog", "3": "hang on"})

    result = run("spice parse -o t.jsonl bad.json")

    assert result.exit_code == 2
    error = "bad.json, id '1': the parser failed on 2 captions, such as 'hang'"
    assert error in result.stderr
    assert "it takes longer than 1 second" in result.stderr
    assert list(read_tuples("t.jsonl").tuples) == ["a dog"]


def test_a_matrix_of_spice_has_a_row_for_each_image(ok, parsers):
    pytest.importorskip("pycocoevalcap")

    output = ok(f"pairs -q --phi SPICE -o phi.npy {FILES}")

    assert "2 x 2, float64" in output


def test_a_matrix_of_spice_has_a_row_for_each_reference(ok, parsers):
    pytest.importorskip("pycocoevalcap")

    output = ok(f"pairs -q --phi SPICE --rows references -o phi.npy {FILES}")

    n_references = sum(map(len, REFERENCES.values()))
    assert f"{n_references} x 2, float64" in output
    ids = json.loads(Path("phi.npy.ids.json").read_text(encoding="utf-8"))["images"]
    assert len(set(ids)) == n_references


def test_setup_copies_only_missing_files(run, files, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    jars = {name: (where, digest) for name, (where, _) in java.JARS.items()}
    monkeypatch.setattr(java, "JARS", jars)
    monkeypatch.setattr(OfficialParser, "missing", lambda self: "there is no Java")
    for name in jars:
        Path(name).write_bytes(b"x")

    first = run("spice setup --jars .")
    second = run("spice setup")

    assert "there already" not in first.stdout
    assert second.stdout.endswith("-models.jar, there already\n")
    assert (second.exit_code, second.stderr) == (0, "semmetrics: there is no Java\n")
