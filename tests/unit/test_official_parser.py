"""SPICE's own parser, with a stand-in for its Java program."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from refusals import refused
from spice_program import install_program, use_empty_jars
from stand_ins import fake_java, fake_pycocoevalcap

from semmetrics.errors import InputError
from semmetrics.text import java, official_parser
from semmetrics.text.java import SPICE_FILES
from semmetrics.text.official_parser import OfficialParser
from semmetrics.text.parses import CachingParser

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows does not run scripts by their first line"
)
ANSWER = """
import json, os, sys, time

def answer(**value):
    print(json.dumps(value), flush=True)

for line in sys.stdin:
    caption = line.rstrip("\\n")
"""
FAIL_ON_SOME = (
    ANSWER
    + """
    if caption == "crash":
        sys.exit(134)
    if caption == "slow":
        answer(error="it takes longer than 1 second")
        sys.exit(75)
    if caption == "error":
        answer(error="java.lang.OutOfMemoryError")
    elif caption == "half":
        print('{"tup', flush=True)
    elif caption == "hang":
        time.sleep(100)
    else:
        answer(tuples=[[caption]])
"""
)


@pytest.fixture(autouse=True)
def package(monkeypatch, tmp_path):
    """A package pycocoevalcap with empty files."""
    files = [f"{SPICE_FILES.folder}/{name}" for name in SPICE_FILES.files]
    fake_pycocoevalcap(monkeypatch, tmp_path / "site", *files)


@pytest.fixture
def program(monkeypatch, tmp_path):
    """Install Python code as the program, and return the parser."""

    def install(code, **limits):
        install_program(monkeypatch, tmp_path, code)
        return OfficialParser(**limits)

    return install


@pytest.fixture
def short_limits(monkeypatch):
    monkeypatch.setattr(official_parser, "MAX_START_SECONDS", 2)
    monkeypatch.setattr(official_parser, "GRACE_SECONDS", 1)


def parse(parser, *captions):
    """Return tuples, and the texts of errors."""
    answers = []
    for answer in parser.parse(captions):
        answers.append(str(answer) if isinstance(answer, InputError) else answer)
    return answers


def test_the_program_is_started_in_english(program):
    """In Turkish, Java would lower "I" to a letter of its own."""
    parser = program(ANSWER + "    answer(tuples=[sys.argv[1:3]])")

    assert parse(parser, "a") == [[["-Duser.language=en", "-Duser.country=US"]]]


def test_captions_after_failures_are_parsed(program):
    captions = ["crash", "a", "slow", "b", "error", "crash", "crash", "é\nx"]

    answers = parse(program(FAIL_ON_SOME), *captions)

    assert len(answers) == len(captions)
    assert answers[1::2] == [[["a"]], [["b"]], answers[5], [["é x"]]]
    assert "status 134" in answers[0]
    assert "raise the limit with `semmetrics spice parse --seconds 600`" in answers[2]
    assert "java.lang.OutOfMemoryError" in answers[4]


def test_no_caption_gets_the_answer_of_another_after_half_an_answer(program):
    answers = parse(program(FAIL_ON_SOME), "a", "half", "b", "c")

    assert [answers[0], *answers[2:]] == [[["a"]], [["b"]], [["c"]]]
    assert "gave no valid answer" in answers[1]


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"",
        b'["error"]',
        b"{}",
        b'{"tuples": null}',
        b'{"tuples": [["a", "b", "c", "d"]]}',
        b'{"tuples": [["a"]',
        b"\x80\xff",
        b'{"' + b"[" * 5000,
        b'Warning{"tuples": [["dog"]]}',
    ],
)
def test_a_wrong_answer_is_an_error_and_not_cached(program, tmp_path, answer):
    """The program is started again only once, and not for each caption."""
    runs = tmp_path / "runs"
    code = f"open({str(runs)!r}, 'a').write('x')\n{ANSWER}"
    code += f"    sys.stdout.buffer.write({answer!r} + b'\\n')\n"
    kept = CachingParser(program(code), file=tmp_path / "p.sqlite")

    with refused("no-answer") as caught:
        kept.tuples([f"caption {number}" for number in range(20)])

    assert len(str(caught.value)) < 300
    assert runs.read_text() == "xx"
    assert not (tmp_path / "p.sqlite").exists()


@pytest.mark.parametrize("text", ["y\n", "x" * 1000])
def test_endless_output_is_an_error(program, text):
    parser = program(f"while True: print({text!r}, end='')")

    with refused("no-answer") as caught:
        parse(parser, "a", "b")

    assert caught.value.values["why"].startswith(f"'{text[0]}")


@pytest.mark.parametrize(
    "code", ["", "import os; os.close(1)", "print('a warning', flush=True)"]
)
def test_a_program_that_never_answers_is_an_error(program, short_limits, code):
    parser = program(f"{code}\nimport time; time.sleep(100)", seconds=1)

    with refused("no-answer"):
        parse(parser, "a", "b")


def test_a_program_that_hangs_on_a_caption_is_started_again(program, short_limits):
    answers = parse(program(FAIL_ON_SOME, seconds=1), "a", "hang", "b")

    assert answers[::2] == [[["a"]], [["b"]]]
    assert "gave no valid answer: timeout after 3 seconds" in answers[1]


@pytest.mark.parametrize("memory", ["lots", "0G", "4 G", "", "-1G"])
def test_memory_must_be_a_size(memory):
    with refused("bad-option"):
        OfficialParser(memory=memory)


# ---- the program in Java -------------------------------------------------------------

SLOW_PIPELINE = {
    "edu/stanford/nlp/pipeline/StanfordCoreNLP.java": """
        package edu.stanford.nlp.pipeline;
        public class StanfordCoreNLP {
          public StanfordCoreNLP(java.util.Properties properties) {}
          public void annotate(Annotation text) throws InterruptedException {
            Thread.sleep(100_000);
          }
        }
    """,
    "edu/stanford/nlp/pipeline/Annotation.java": """
        package edu.stanford.nlp.pipeline;
        public class Annotation {
          public Annotation(String text) {}
        }
    """,
    "edu/anu/spice/SpiceParser.java": """
        package edu.anu.spice;
        import edu.stanford.nlp.pipeline.Annotation;
        public class SpiceParser {
          public SpiceParser(String host, int threads, Boolean isMerged) {}
          ProposedTuples parseAnnotation(Annotation text) { return null; }
          public static class ProposedTuples { public java.util.List<?> tuples; }
        }
    """,
}
"""Classes in place of CoreNLP and SPICE that never finish a caption."""


@pytest.mark.skipif(shutil.which("javac") is None, reason="needs javac")
def test_the_program_reports_that_a_caption_takes_too_long(tmp_path):
    for name, code in SLOW_PIPELINE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code)
    subprocess.run(["javac", *SLOW_PIPELINE], cwd=tmp_path, check=True)
    program_folder = Path(official_parser.__file__).with_name("java_program")
    class_path = f"{program_folder}{os.pathsep}{tmp_path}"

    run = subprocess.run(
        ["java", "-cp", class_path, "SpiceTuples", "1", "1"],
        input=b"a dog\n",
        capture_output=True,
        check=False,
    )

    assert json.loads(run.stdout) == {"error": "it takes longer than 1 second"}
    assert run.returncode == 75


# ---- files of CoreNLP ----------------------------------------------------------------


@pytest.fixture
def failing_java(monkeypatch, tmp_path):
    fake_java(monkeypatch, tmp_path / "bin", "#!/bin/sh\nexit 1\n")


def test_a_folder_name_with_the_path_separator_is_an_error(
    failing_java, monkeypatch, tmp_path
):
    use_empty_jars(monkeypatch, tmp_path / "a:b")

    with refused("java-path"):
        parse(OfficialParser(), "a")


def test_a_file_that_is_not_a_program_is_an_error(monkeypatch, tmp_path):
    use_empty_jars(monkeypatch, tmp_path)
    fake_java(monkeypatch, tmp_path / "bin", "\x00\x01")

    with refused("java-not-started"):
        parse(OfficialParser(), "a")


def test_a_missing_file_of_the_package_is_an_error(monkeypatch, tmp_path):
    fake_pycocoevalcap(monkeypatch, tmp_path / "other", "spice/spice-1.0.jar")

    with refused("incomplete-package"):
        parse(OfficialParser(), "a")


def test_missing_jars_are_reported(failing_java, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / ("n" * 300)))

    assert "needs CoreNLP 3.6.0" in OfficialParser().missing()


def test_damaged_jars_are_named_if_the_program_fails(
    failing_java, monkeypatch, tmp_path
):
    use_empty_jars(monkeypatch, tmp_path)
    jar = java.jar_paths()[1]
    jar.write_bytes(b"damaged")

    with refused("wrong-jar", str(jar)):
        parse(OfficialParser(), "a")


def test_unreadable_jars_are_named_if_the_program_fails(
    failing_java, monkeypatch, tmp_path
):
    def file_digest(path):
        raise PermissionError(13, "Permission denied", str(path))

    use_empty_jars(monkeypatch, tmp_path)
    monkeypatch.setattr(java, "file_digest", file_digest)

    with refused("unreadable", str(java.jar_paths()[0])):
        parse(OfficialParser(), "a")
