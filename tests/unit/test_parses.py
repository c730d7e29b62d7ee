"""Parses of captions: files of tuples, functions as parsers, kept parses, the official program."""

import gzip
import sys
from dataclasses import replace
from time import monotonic

import pytest
from refusals import refused
from stand_ins import fake_java

from semmetrics.errors import InputError
from semmetrics.text import java, official_parser
from semmetrics.text.java import ENGLISH
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.parses import FunctionParser, KeptParser, open_parser
from semmetrics.text.tuple_tables import TupleTable, read_tuples, tuple_lines


def words(captions):
    """A parser: each word is an object."""
    return [[(word,) for word in caption.split()] for caption in captions]


def versioned(version, function=words):
    def parse(captions):
        return function(captions)

    parse.version = version
    return FunctionParser(parse)


@pytest.mark.parametrize("name", ["Offline", "x"])
def test_a_parser_that_is_unknown(name):
    with refused("unknown-name"):
        open_parser(name)


# ---- files --------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_was_written(tmp_path):
    parsed = {
        "a dog": [["dog"]],
        'é\n"x"': [["dog", "small"], ["dog", "sofa", "on"]],
        "": [],
    }
    path = tmp_path / "tuples.jsonl.gz"
    lines = "".join(tuple_lines(parsed.items(), "mine@1"))
    path.write_bytes(gzip.compress(lines.encode()))
    table = read_tuples(path)
    assert table.tuples == parsed
    assert table.of_parser("mine@1") == parsed
    assert table.of_parser("official") == {}
    assert table.identity.startswith("mine@1@")
    assert TupleTable.of(parsed).identity.startswith("given@")
    assert TupleTable.of(parsed).identity[-12:] == table.identity[-12:]
    assert TupleTable.of({**parsed, "": [["x"]]}).identity[-12:] != table.identity[-12:]


GOOD = '{"caption": "a dog", "tuples": [["dog"]]}'


LINE, TUPLE, TWICE = "wrong-tuple-line", "wrong-content", "conflicting-tuples"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('["a dog"]', LINE, 1),
        ('{"caption": "a dog"}', LINE, 1),
        (f"{GOOD}\n\n{{}}", LINE, 3),
        ('{"caption": 3, "tuples": []}', "wrong-tuple-line", 1),
        ('{"caption": "a", "tuples": [], "parser": 1}', "wrong-tuple-line", 1),
        ('{"caption": "a", "tuples": [], "score": 1}', LINE, 1),
        ('{"caption": "a", "tuples": [[]]}', TUPLE, 1),
        ('{"caption": "a", "tuples": ["dog"]}', TUPLE, 1),
        ('{"caption": "a", "tuples": [["a", "b", "c", "d"]]}', TUPLE, 1),
        ('{"caption": "a", "tuples": {"a": 1}}', TUPLE, 1),
        ('{"caption": "a", "tuples": [["a", 1]]}', TUPLE, 1),
        ('{"caption": "a", "tuples": [["a", " "]]}', TUPLE, 1),
        (f'{GOOD}\n{{"caption": " a dog ", "tuples": []}}', TWICE, 2),
        (f'{GOOD}\n{{"caption": "a dog", "tuples": []}}', TWICE, 2),
    ],
)
def test_files_that_are_wrong(tmp_path, text, code, line):
    path = tmp_path / "tuples.jsonl"
    path.write_text(text)
    with refused(code, f"{path}, line {line}"):
        read_tuples(path)


@pytest.mark.parametrize(
    "given",
    [{"a": "dog"}, {"a": [["a", 2]]}, {"a": None}, {"a": [["b"]], "a ": [["c"]]}],
)
def test_mappings_that_are_wrong(given):
    with pytest.raises(InputError, match="tuples="):
        TupleTable.of(given)


# ---- functions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda captions: [[]], "wrong-count"),
        (lambda captions: ["dog"] * 2, "wrong-content"),
        (lambda captions: [[("a", 1)]] * 2, "wrong-content"),
        (lambda captions: 1 / 0, "own-code-failed"),
        (lambda captions: None, "own-code-failed"),
    ],
)
def test_functions_that_are_wrong(function, problem):
    with refused(problem):
        KeptParser(versioned("1", function)).tuples(["a dog", "a cat"])


# ---- kept parses --------------------------------------------------------------------------------


def test_a_parser_that_does_not_run_leaves_no_file(tmp_path, program):
    kept = KeptParser(program("raise SystemExit('Error')"), file=tmp_path / "p.sqlite")
    with pytest.raises(InputError):
        kept.tuples(["a"])
    assert list(tmp_path.iterdir()) == []


class Failing:
    """Fails on captions that hold an x; stops after some."""

    identity = "failing@1"

    def __init__(self, stop=10**9):
        self.stop = stop

    def parse(self, captions):
        for number, caption in enumerate(captions):
            if number == self.stop:
                raise KeyboardInterrupt
            yield (
                InputError("no-answer", "here", why="it fails")
                if "x" in caption
                else [[caption]]
            )


def test_a_parser_that_cannot_run_is_said_with_what_it_is_needed_for(tmp_path):
    """All others were parsed before: which caption is the new one?"""
    fails = []

    def parse(captions):
        if fails:
            raise OSError("no program")
        return words(captions)

    kept = KeptParser(versioned("1", parse), file=tmp_path / "p.sqlite")
    kept.tuples(["a b", "c"])
    fails.append(True)
    with pytest.raises(InputError) as caught:
        kept.tuples(
            ["a b", "c", "d", " "], lambda caption: (f"preds, id '{caption}'", "")
        )
    assert caught.value.where == "1 new caption, such as 'd' of preds, id 'd'"
    assert caught.value.remedy
    with pytest.raises(InputError) as caught:
        KeptParser(versioned("1", parse)).tuples(["d"])  # all are new
    assert "1 new caption" not in str(caught.value)


def test_what_was_parsed_before_an_interruption_is_kept(tmp_path):
    captions, file = [f"caption {n}" for n in range(1000)], tmp_path / "p.sqlite"
    with pytest.raises(KeyboardInterrupt):
        KeptParser(Failing(stop=900), file=file).tuples(captions)
    seen = []
    kept = KeptParser(
        Failing(), file=file, progress=lambda done, every: seen.append(every)
    )
    kept.tuples(captions)
    assert seen[-1] == 100


def test_tuples_of_the_official_parser_take_its_place(tmp_path):
    path = tmp_path / "t.jsonl"
    tuples = {"a dog": [["wolf"]], " ": [["nothing"]]}
    path.write_text("".join(tuple_lines(tuples.items(), OfficialParser.identity)))
    for parser in ("official", "given"):  # a blank caption has none, whoever parses
        found = open_parser(parser, read_tuples(path)).tuples(["a dog", " "])
        assert found == [[["wolf"]], []]


# ---- the official program, with a stand-in for Java ---------------------------------------------

PROGRAM = """
import json, sys
lines = sys.stdin.readlines()
for line in lines:
    caption = line.rstrip("\\n")
    if caption == "crash":
        sys.exit(134)
    if caption == "hang":
        print(json.dumps({"error": "it takes longer than 1 seconds"}), flush=True)
        sys.exit(75)
    if caption == "half" and line != lines[-1]:
        print('{"tup', end="", flush=True)
        sys.exit(0)
    if caption == "error":
        print(json.dumps({"error": "java.lang.OutOfMemoryError"}), flush=True)
    else:
        print(json.dumps({"tuples": [[caption]]}), flush=True)
"""


@pytest.fixture
def program(monkeypatch):
    def use(code):
        command = [sys.executable, "-c", code]
        monkeypatch.setattr(
            official_parser.OfficialParser, "_command", lambda self: command
        )
        return OfficialParser()

    return use


def answers(parser, captions):
    found = list(parser.parse(captions))
    return [str(one) if isinstance(one, InputError) else one for one in found]


def test_the_program_goes_on_after_captions_that_it_fails_on(program):
    found = answers(
        program(PROGRAM), ["crash", "a", "hang", "b", "error", "crash", "crash", "é\nx"]
    )
    assert [one for one in found if isinstance(one, list)] == [
        [["a"]],
        [["b"]],
        [["é x"]],
    ]
    assert "status 134" in found[0]
    assert found[2].startswith(
        "the SPICE parser failed: it takes longer than 1 seconds. Leave out such"
    )
    assert found[2].endswith("`semmetrics spice parse --seconds 600`.")
    assert "java.lang.OutOfMemoryError" in found[4]
    assert len(found) == 8


GOOD_ANSWER = '{"tuples": [["dog"]]}'


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"",
        b"3",
        b"null",
        b"[]",
        b'["error"]',
        b'"error"',
        b"{}",
        b'{"tuples": null}',
        b'{"tuples": 3}',
        b'{"tuples": [["a", "b", "c", "d"]]}',
        b'{"tuples": [[1]]}',
        b'{"tuples": ["a"]}',
        b'{"tuples": [["a"]',
        b"\x80\xff",
        b"[" * 5000,
        b"Warning" + GOOD_ANSWER.encode(),
    ],
)
def test_answers_that_are_no_answers(program, tmp_path, answer):
    """Nothing of them is kept, and the program is not started again for each caption."""
    code = f"""import sys
open({str(tmp_path / "runs")!r}, "a").write("x")
for line in sys.stdin: sys.stdout.buffer.write({answer!r} + b"\\n"), sys.stdout.flush()
"""
    kept = KeptParser(program(code), file=tmp_path / "p.sqlite")
    with refused("no-answer") as caught:
        kept.tuples([f"caption {n}" for n in range(20)])
    assert len(str(caught.value)) < 300
    assert (tmp_path / "runs").read_text() == "xx"
    assert not (tmp_path / "p.sqlite").exists()


def test_after_half_an_answer_no_caption_takes_the_answer_of_another(program):
    code = PROGRAM.replace("print('{\"tup", "print('{\"tup\\n").replace(
        "sys.exit(0)", "continue"
    )
    found = answers(program(code), ["a", "half", "b", "c"])
    assert [found[0], *found[2:]] == [[["a"]], [["b"]], [["c"]]]
    assert "did not respond" in found[1]


@pytest.mark.parametrize("said", ["y\n", "x" * 1000])
def test_a_program_that_writes_without_end(program, monkeypatch, said):
    monkeypatch.setattr(official_parser, "_MAX_ANSWER_BYTES", 1 << 20)
    code = f"while True: print({said!r}, end='')"
    with refused("no-answer"):
        answers(program(code), ["a", "b"])


@pytest.mark.parametrize(
    "code", ["", "import os, sys; os.close(1)", "print('a warning')"]
)
def test_a_program_that_hangs(program, monkeypatch, code):
    for name in ("_MAX_START_SECONDS", "_GRACE_SECONDS"):
        monkeypatch.setattr(official_parser, name, 0.3)
    parser = replace(program(f"{code}\nimport time; time.sleep(100)"), seconds=1)
    start = monotonic()
    with refused("no-answer"):
        answers(parser, ["a", "b"])
    assert monotonic() < start + 30


def test_a_program_that_hangs_on_a_caption(program, monkeypatch):
    for name in ("_MAX_START_SECONDS", "_GRACE_SECONDS"):
        monkeypatch.setattr(official_parser, name, 2)
    code = PROGRAM.replace("sys.exit(75)", "import time; time.sleep(100)").replace(
        'print(json.dumps({"error": "it takes longer than 1 seconds"}), flush=True)',
        "pass",
    )
    found = answers(replace(program(code), seconds=1), ["a", "hang", "b"])
    assert found[::2] == [[["a"]], [["b"]]]
    assert "did not respond: timeout" in found[1]


def test_java_is_started_in_english(own_home, tmp_path, monkeypatch):
    """In Turkish Java lowers "I" to a letter of its own."""
    pytest.importorskip("pycocoevalcap")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "a:b"))
    fake_java(monkeypatch, tmp_path / "bin", "#!/bin/sh\nexit 1\n")
    for name in java.JARS:
        path = java.jar_folder() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with refused("java-path"):
        OfficialParser()._command()
    (tmp_path / "a:b").rename(tmp_path / "é b")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "é b"))
    assert set(ENGLISH) < set(OfficialParser()._command())
    assert "-Duser.language=en" in ENGLISH


@pytest.mark.parametrize("memory", ["lots", "0G", "4 G", "", "-1G"])
def test_memory_is_a_size(memory):
    with refused("bad-option"):
        OfficialParser(memory=memory)


def test_set_up_takes_jars_from_a_folder_and_checks_them(tmp_path, monkeypatch):
    tmp_path = tmp_path / "mine"  # beside which no other test has jars
    tmp_path.mkdir()
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    with refused("missing-jar"):
        java.set_up(tmp_path)
    with refused("missing-jar"):
        java.set_up(tmp_path / "nowhere")
    (tmp_path / "stanford-corenlp-3.6.0.jar").write_bytes(b"x")
    for place in (
        tmp_path / "stanford-corenlp-3.6.0.jar",
        tmp_path.parent,
        tmp_path / "home",
    ):
        with pytest.raises(InputError) as caught:
            java.set_up(place)
        assert caught.value.remedy.endswith(f"Did you mean {tmp_path}?")
    with refused("wrong-jar"):
        java.set_up(tmp_path)
    digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    jars = {name: (where, digest) for name, (where, _) in java.JARS.items()}
    monkeypatch.setattr(java, "JARS", jars)
    (tmp_path / "stanford-corenlp-3.6.0-models.jar").write_bytes(b"x")
    folder = java.set_up(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == sorted(jars)
    monkeypatch.setenv("PATH", "")
    (folder / "stanford-corenlp-3.6.0.jar").write_bytes(b"damaged")
    with refused("maven-failed"):
        java.set_up()


@pytest.mark.parametrize("script", [b"\x7fELF", b"#!/bin/sh\nprintf '\\377'; exit 1\n"])
def test_set_up_by_a_maven_that_is_none(script, tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_bytes(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    with refused("maven-failed"):
        java.set_up()


def test_a_place_that_can_hold_no_jars_is_said(tmp_path, monkeypatch):
    pytest.importorskip("pycocoevalcap")
    fake_java(monkeypatch, tmp_path / "bin", "#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / ("n" * 300)))
    assert "needs CoreNLP 3.6.0" in OfficialParser().missing()
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    java.jar_folder().mkdir()
    for name in java.JARS:
        (java.jar_folder() / name).touch()
    with refused("wrong-jar"):
        answers(OfficialParser(), ["a"])

    def unreadable(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(java, "file_digest", unreadable)
    with refused("unreadable"):
        answers(OfficialParser(), ["a"])


@pytest.mark.parametrize("name", ["n" * 300, "file"])
def test_a_place_that_can_hold_no_parses_is_said(tmp_path, name):
    (tmp_path / "file").touch()
    kept = KeptParser(versioned("1"), file=tmp_path / name / "p.sqlite")
    assert kept.tuples(["a"]) == [[["a"]]]
    assert kept.trouble.code == "cache-unusable"
