"""``semmetrics spice``, and ``--tuples``, with a stand-in for the official program."""

import json
import sys
from pathlib import Path

import pytest
from cli.data import CAPTIONS, REFERENCES

from semmetrics.text import java as official_parser
from semmetrics.text.java import OfficialParser
from semmetrics.text.parses import read_tuples

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

    monkeypatch.setattr(official_parser.OfficialParser, "_command", command)
    return runs


def texts():
    every = [text for one in (CAPTIONS, REFERENCES) for several in one.values()
             for text in ([several] if isinstance(several, str) else several)]  # fmt: skip
    return list(dict.fromkeys(every))


def test_captions_of_files_are_parsed_once(ok, run, files, program):
    first = run("spice", "parse", "--captions", "written", "-o", "t.jsonl", *BOTH)
    assert first.exit_code == 0, first.stderr
    assert f"t.jsonl: {len(texts())} captions, {OfficialParser.identity}" in first.stdout
    table = read_tuples("t.jsonl")
    assert list(table.tuples) == texts()
    assert set(table.parsers.values()) == {OfficialParser.identity}
    lines = ok("spice", "parse", "-q", "--captions", "written", "-o", "-", *BOTH)
    assert lines == Path("t.jsonl").read_text(encoding="utf-8")
    assert len(program) == 1


def test_limits_are_handed_to_the_program(ok, files, program):
    ok("spice", "parse", "-o", "t.jsonl", "--seconds", "5", "--processors", "2", "--memory", "3G",
       *BOTH)  # fmt: skip
    (parser,) = program
    assert (parser.seconds, parser.processors, parser.memory) == (5, 2, "3G")


def test_captions_on_which_it_fails_are_named_and_the_others_written(run, files, program):
    Path("bad.json").write_text(json.dumps({"1": "hang", "2": "a dog", "3": "hang on"}))
    result = run("spice", "parse", "-o", "t.jsonl", "bad.json")
    assert result.exit_code == 2
    assert "bad.json, id '1': the parser fails on 2 captions, such as 'hang'" in result.stderr
    assert "it takes longer than 1 seconds" in result.stderr
    assert list(read_tuples("t.jsonl").tuples) == ["a dog"]


def test_a_caption_on_which_it_fails_is_found_in_its_file(run, files, program):
    Path("bad.json").write_text(json.dumps({"1": ["a dog", "a cat"], "x": ["a cat", "Hang on!"]}))
    result = run("spice", "parse", "-o", "t.jsonl", *BOTH, "bad.json")
    assert "error: bad.json, id 'x': the parser fails on 1 caption, such as 'hang on'" in (
        result.stderr
    )


def test_captions_for_tuples_are_told(refused, files):
    Path("map.json").write_text(json.dumps({"a dog": [["dog"]]}, indent=1))
    text = refused("score", "-m", "SPICE(parser=given)", *BOTH, "--tuples", "map.json")
    assert "map.json, line 2" in text
    assert text.code == "wrong-tuple-line"


def test_tuples_score_without_the_program(ok, refused, files, program):
    pytest.importorskip("pycocoevalcap")
    ok("spice", "parse", "-q", "-o", "t.jsonl", *BOTH)
    Path("home").rename("elsewhere")
    arguments = ("score", "-q", "-m", "SPICE", *BOTH, "--format", "json")
    (given,) = json.loads(ok(*arguments, "--tuples", "t.jsonl"))
    assert len(program) == 1
    (parsed,) = json.loads(ok(*arguments))
    assert len(program) == 2
    assert given == parsed
    assert given["value"] > 0
    assert f"fit:parser-{OfficialParser.identity}|" in given["signature"]
    Path("other.json").write_text(json.dumps(dict.fromkeys(CAPTIONS, "A new caption.")))
    said = refused(
        "score", "-m", "SPICE(parser=given)", "--tuples", "t.jsonl", "other.json", "references.json"
    )
    assert said.code == "captions-fail"
    assert said.code == "captions-fail"


def test_a_file_of_tuples_is_no_file_of_captions(ok, refused, files, program):
    ok("spice", "parse", "-q", "-o", "t.jsonl", *BOTH)
    commands = ["score captions.json t.jsonl", "score t.jsonl references.json",
                "validate t.jsonl", "spice parse -o - t.jsonl"]  # fmt: skip
    for command in map(str.split, commands):
        assert refused(*command).code == "missing-column"


def test_a_matrix_of_spice(ok, files, program):
    pytest.importorskip("pycocoevalcap")
    assert "2 x 2, float64" in ok("pairs", "-q", "--phi", "SPICE", "-o", "phi.npy", *BOTH)
    number = sum(len(several) for several in REFERENCES.values())
    shape = f"{number} x 2, float64"
    assert shape in ok("pairs", "-q", "--phi", "SPICE", "--rows", "references", "-o", "phi2.npy",
                       *BOTH)  # fmt: skip
    names = json.loads(Path("phi2.npy.ids.json").read_text(encoding="utf-8"))["images"]
    assert len(set(names)) == number


@pytest.mark.parametrize("output", [("-o", "phi.npy"), ("--top-k", "1", "-o", "best.jsonl")])
def test_kept_parses_that_are_damaged_are_said_of_a_matrix(run, files, program, output):
    pytest.importorskip("pycocoevalcap")
    Path("home").mkdir()
    Path("home", "parses.sqlite").write_bytes(b"no database" * 1000)
    result = run("pairs", "--phi", "SPICE", *output, *BOTH)
    assert result.exit_code == 0
    assert "parses.sqlite: the cache of parses cannot be used" in result.stderr


def test_without_the_program_every_way_is_named(refused, files, monkeypatch, tmp_path):
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "none"))
    said = refused("score", "-m", "SPICE", *BOTH)
    assert said.code == "needs-corenlp"
    assert said.code == "needs-corenlp"
    said = refused("spice", "parse", "-o", "t.jsonl", *BOTH)
    assert said.code == "needs-corenlp"
    assert "--tuples" not in said


def test_set_up_names_what_is_wrong(refused, files, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "none"))
    assert refused("spice", "setup", "--jars", ".").code == "missing-jar"
    monkeypatch.setenv("PATH", "")
    assert refused("spice", "setup").code == "no-maven"


def test_set_up_asks_for_what_is_not_there(run, files, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    jars = {name: (where, digest) for name, (where, _) in official_parser.JARS.items()}
    monkeypatch.setattr(official_parser, "JARS", jars)
    monkeypatch.setattr(OfficialParser, "missing", lambda self: "there is no Java")
    for name in jars:
        Path(name).write_bytes(b"x")
    assert "there already" not in run("spice", "setup", "--jars", ".").stdout
    again = run("spice", "setup")
    assert again.exit_code == 0
    assert again.stdout.endswith("-models.jar, there already\n")
    assert again.stderr == "semmetrics: there is no Java\n"


@pytest.mark.parametrize("command", ["score", "compare", "pairs"])
def test_an_option_of_the_measure_is_shown_in_the_measure(refused, command):
    said = refused(command, "-m", "SPICE", "--parser", "offline", *BOTH)
    assert said.code == "UsageError"
    assert refused(command, "--nothing", *BOTH).code == "NoSuchOption"


def test_an_option_of_another_command_is_said_to_be_that(refused):
    said = refused("compare", "--worst", "3", *BOTH)
    assert said.code == "UsageError"
    assert refused("cite", "F1", "--quiet").code == "UsageError"
    assert refused("score", "--differing", "3", *BOTH).code == "UsageError"
    assert refused("spice", "parse", "--nothing", "x.json").code == "NoSuchOption"
