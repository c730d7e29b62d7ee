"""The program as a process: streams, exit codes, faults, start."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from semmetrics.cli import app
from semmetrics.cli.output import Progress, show_progress
from semmetrics.messages import report_progress

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("a.json", "gt.json")


HERE = os.environ | {"PYTHONPATH": str(ROOT)}


def process(*arguments, code=None, env=None, **options):
    command = [
        sys.executable,
        *(("-c", code) if code else ("-m", "semmetrics")),
        *arguments,
    ]
    options = {"capture_output": True, "encoding": "utf-8", **options}
    environment = HERE | (env or {})
    return subprocess.run(
        list(map(str, command)), env=environment, check=False, **options
    )


def loaded(*arguments):
    """The modules that are loaded when a command has run."""
    code = (
        "import sys\n"
        "from semmetrics.cli.app import program\n"
        "assert program.main(sys.argv[1:], standalone_mode=False) == 0\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = process(*arguments, code=code)
    assert done.returncode == 0, done.stderr
    return {*done.stderr.splitlines()[-1].split()}


def test_commands_load_what_they_need(example, files):
    predictions, truth = example
    heavy = {"scipy", "torch", "gensim", "ot", "pandas", "pyarrow", "sklearn"}
    assert not heavy & loaded("score", *predictions, truth)
    of_one = loaded("score", "-m", "F1", *LISTS)
    assert (
        not {"shutil", "tempfile", "semmetrics.embed", "semmetrics.metrics.decoding"}
        & of_one
    )
    ours = sorted(name for name in of_one if name.startswith("semmetrics"))
    assert len(ours) < 170, ours


def test_help_is_one_screen_and_the_rest_is_asked_for(ok, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in (*app.COMMANDS, "mad select", "spice parse", "embed coverage"):
        brief, whole = ok(*name.split(), "-h"), ok(*name.split(), "--help")
        assert brief.startswith("Usage: ")
        assert brief.count("\n") <= 53, name
        assert len(brief) <= len(whole)
    of_kind = ok("score", "--help", "captions")
    assert "--tokenizer" in of_kind
    assert "--taxonomy" not in of_kind
    assert "--ci" in of_kind
    assert "--taxonomy" in ok("score", "--help", "preds.json")  # no kind
    assert run("score").stderr == ok("score", "-h")
    assert ok("-V") == ok("--version")
    for colour in ("", "1"):
        monkeypatch.setenv("NO_COLOR", colour)
        for arguments in (["score", "-h"], ["score"]):
            shown = CliRunner().invoke(app.program, arguments, color=True).output
            assert ("\x1b[1mOptions" in shown) == (not colour)


def test_a_reader_that_goes_away_is_no_fault():
    code = "from semmetrics.cli import main; main(['explain'] + ['F1'] * 3000)"
    # Without its buffer Python itself loses the rest of a write that is cut short.
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    environment = HERE | {"PYTHONUNBUFFERED": ""}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, **pipes
    ) as running:
        running.stdout.read(10)
        running.stdout.close()
        error = running.stderr.read()
        assert running.wait(60) == app.BROKEN_PIPE
    assert error == b""


@pytest.mark.parametrize(
    ("stream", "line"),
    [
        *(
            ("stdout", line)
            for line in ("--help", "--version", "score --help", "embed --help")
        ),
        ("stdout", "list"),
        *(("stderr", line) for line in ("", "score", "nothing", "score none.json a")),
    ],
)
def test_nobody_reads(stream, line):
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}
    done = process(*line.split(), capture_output=False, **streams)
    os.close(writer)
    assert done.returncode == (app.BROKEN_PIPE if stream == "stdout" else 2)
    assert not done.stdout
    assert not done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_stopped_by_the_user():
    code = (  # a parent in the background leaves the signal ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from semmetrics.cli import main; main(['validate', '-'])"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code], env=HERE, **pipes) as running:
        time.sleep(1.5)  # until it waits for its input
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == b""
    assert error.decode().split() == ["semmetrics:", "stopped"]


def test_names_that_the_output_cannot_show(files):
    Path("unicode.json").write_text(json.dumps({"1": ["naïve ∩ 你"]}), encoding="utf-8")
    done = process(
        "validate", "unicode.json", env={"PYTHONIOENCODING": "cp437"}, encoding="cp437"
    )
    assert done.returncode == 0
    assert "naïve ∩ \\u4f60" in done.stdout


# ---- faults -----------------------------------------------------------------------------------


FAULT = """
import semmetrics.metrics.sets
from semmetrics.cli import main

def broken(*arguments):
    raise RuntimeError("something is broken")

semmetrics.metrics.sets.F1.family.__class__.aggregate = broken
main()
"""


@pytest.mark.parametrize("asked", ["", "1"])
def test_a_fault_is_one_line_and_its_traceback_on_request(files, asked):
    result = process(
        "score", *LISTS, "-q", "-m", "F1", code=FAULT, env={app.TRACEBACK: asked}
    )
    assert (result.returncode, result.stdout) == (1, "")
    line, *traceback = result.stderr.splitlines()
    assert "RuntimeError: something is broken" in line
    assert "Please report it" in line
    assert "SEMMETRICS_TRACEBACK=1" in line
    assert traceback[:1] == ["Traceback (most recent call last):"] * bool(asked)


# ---- files and progress -----------------------------------------------------------------------


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_says_how_far_how_fast_and_how_long():
    terminal, now = Terminal(), [0.0]
    progress = Progress(terminal, lambda: now[0])
    for done in (100, 200, 300):
        now[0] += 1.0
        progress(done, 1000)
    assert "\r 30%|" in terminal.text
    assert "300/1000 [00:03<00:07, 100.00it/s]" in terminal.text
    now[0] += 1.0
    progress(1, 50)  # a new stage begins
    assert "50" not in terminal.text
    for done in (10, 20):
        now[0] += 1.0
        report_progress(progress, done, 40, "bootstrap", "resample")
    assert "\rbootstrap:  50%|" in terminal.text
    assert "20/40 [00:01<00:01, 20.00 resample/s]" in terminal.text
    progress.close()
    assert terminal.text.endswith("\r\x1b[K")


def test_progress_is_for_terminals(monkeypatch):
    with show_progress() as progress:
        assert progress is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    for quiet in (False, True):
        with show_progress(quiet=quiet) as progress:
            assert (progress is None) == quiet


@pytest.mark.parametrize("ending", [SystemExit(143), KeyboardInterrupt()])
def test_what_ends_the_program_while_classes_are_made_is_no_fault(monkeypatch, ending):
    """Python 3.11 wraps it in a RuntimeError, if an attribute of the class is being named."""

    def fail(*_, **__):
        raise RuntimeError("Error calling __set_name__") from ending

    monkeypatch.setattr(click.Group, "main", fail)
    with pytest.raises(type(ending)):
        app.program.main(["list"], standalone_mode=False)
