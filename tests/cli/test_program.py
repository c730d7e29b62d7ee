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

from semmetrics.cli import app
from semmetrics.cli.output import Progress, show_progress

ROOT = Path(__file__).resolve().parents[2]
LISTS = ("a.json", "gt.json")


def process(*arguments, code=None, **options):
    command = [sys.executable, *(("-c", code) if code else ("-m", "semmetrics")), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    options.setdefault("encoding", "utf-8")
    return subprocess.run(
        [str(part) for part in command],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_bad_input_is_one_message(files):
    done = process("score", "none.json", "gt.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("semmetrics: error: none.json: no such file")
    assert "Traceback" not in done.stderr


def test_there_is_no_progress_without_a_terminal(files):
    assert "\r" not in process("score", *LISTS, "--ci").stderr


def test_starting_loads_nothing_heavy(example):
    predictions, truth = example
    code = (
        "import sys\n"
        "from semmetrics.cli.app import program\n"
        "assert program.main(sys.argv[1:], standalone_mode=False) == 0\n"
        "heavy = {'scipy', 'torch', 'gensim', 'ot', 'pandas', 'pyarrow', 'sklearn'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = process("score", *predictions, truth, code=code)
    assert done.returncode == 0, done.stderr


def test_one_measure_loads_what_it_needs(files):
    code = (
        "import sys\n"
        "from semmetrics.cli.app import program\n"
        "assert program.main(['score', '-m', 'F1', *sys.argv[1:]], standalone_mode=False) == 0\n"
        "idle = {'shutil', 'tempfile', 'semmetrics.embed', 'semmetrics.metrics.decoding'}\n"
        "assert not idle & set(sys.modules), idle & set(sys.modules)\n"
        "ours = [name for name in sys.modules if name.startswith('semmetrics')]\n"
        "assert len(ours) < 79, sorted(ours)\n"
    )
    done = process(*LISTS, code=code)
    assert done.returncode == 0, done.stderr


def test_help_does_without_numpy():
    code = (
        "import sys\n"
        "from semmetrics.cli.app import program\n"
        "program.main(['score', '--help'], standalone_mode=False)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    assert process(code=code).returncode == 0


def test_a_reader_that_goes_away_is_no_fault():
    code = "from semmetrics.cli import main; main(['explain'] + ['F1'] * 3000)"
    # Without its buffer Python itself loses the rest of a write that is cut short.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment,
    ) as running:  # fmt: skip
        running.stdout.read(10)
        running.stdout.close()
        error = running.stderr.read()
        assert running.wait(60) == app.BROKEN_PIPE
    assert error == b""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["score", "--help"], ["embed", "--help"], ["list"]]
)
def test_nobody_reads_the_output(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "semmetrics", *arguments], stdout=writer, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (app.BROKEN_PIPE, b"")


@pytest.mark.parametrize("arguments", [[], ["score"], ["nothing"], ["score", "none.json", "a"]])
def test_nobody_reads_the_messages(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "semmetrics", *arguments], stdout=subprocess.PIPE, stderr=writer,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_stopped_by_the_user():
    code = (  # a parent in the background leaves the signal ignored
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from semmetrics.cli import main; main(['validate', '-'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as running:  # fmt: skip
        time.sleep(1.5)  # until it waits for its input
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=60)
    assert running.returncode == 130
    assert out == b""
    assert error.decode().split() == ["semmetrics:", "stopped"]


def test_names_that_the_output_cannot_show(files):
    Path("unicode.json").write_text(json.dumps({"1": ["naïve ∩ 你"]}), encoding="utf-8")
    done = process("validate", "unicode.json", env={"PYTHONIOENCODING": "cp437"}, encoding="cp437")
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


def test_a_fault_is_one_line(files):
    result = process("score", *LISTS, "-q", "-m", "F1", code=FAULT, env={app.TRACEBACK: ""})
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "RuntimeError: something is broken" in line
    assert "please report" in line
    assert "SEMMETRICS_TRACEBACK=1" in line


def test_the_traceback_of_a_fault_on_request(files):
    result = process("score", *LISTS, "-m", "F1", code=FAULT, env={app.TRACEBACK: "1"})
    assert result.returncode == 1
    assert "Traceback (most recent call last)" in result.stderr


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
    progress.close()
    assert terminal.text.endswith("\r\x1b[K")


def test_progress_is_for_terminals(capsys):
    with show_progress(Terminal()) as progress:
        assert progress is not None
    with show_progress(Terminal(), quiet=True) as progress:
        assert progress is None
    with show_progress() as progress:
        assert progress is None


@pytest.mark.parametrize("ending", [SystemExit(143), KeyboardInterrupt()])
def test_what_ends_the_program_while_classes_are_made_is_no_fault(monkeypatch, ending):
    """Python 3.11 wraps it in a RuntimeError, if an attribute of the class is being named."""

    def fail(*_, **__):
        raise RuntimeError("Error calling __set_name__") from ending

    monkeypatch.setattr(click.Group, "main", fail)
    with pytest.raises(type(ending)):
        app.program.main(["list"], standalone_mode=False)
