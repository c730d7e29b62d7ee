"""The program as a process: imports, help, streams, faults and progress."""

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
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def run_python(*arguments, env=None, **options):
    """Run Python in a process, and return the completed process."""
    options = {"capture_output": True, "encoding": "utf-8", **options}
    command = [sys.executable, *map(str, arguments)]
    environment = ENVIRONMENT | (env or {})
    return subprocess.run(command, env=environment, check=False, **options)


# ---- imports and help ----------------------------------------------------------------------------

PRINT_MODULES = """
import sys
from semmetrics.cli.app import program
assert program.main(sys.argv[1:], standalone_mode=False) == 0
print(*sys.modules, file=sys.stderr)
"""


def imported_modules(*arguments):
    """Return the modules that a command imports."""
    process = run_python("-c", PRINT_MODULES, *arguments)
    assert process.returncode == 0, process.stderr
    return set(process.stderr.splitlines()[-1].split())


def test_a_score_does_not_import_optional_packages(example):
    predictions, truth = example

    modules = imported_modules("score", *predictions, truth)

    optional = {"scipy", "torch", "gensim", "ot", "pandas", "pyarrow", "sklearn"}
    assert not optional & modules


def test_f1_does_not_import_embeddings_or_decoding(files):
    modules = imported_modules("score", "-m", "F1", *LISTS)

    unneeded = {"shutil", "tempfile", "semmetrics.embed", "semmetrics.metrics.decoding"}
    assert not unneeded & modules


def test_each_module_of_a_command_is_loaded():
    # given
    modules = set(app.MODULE_OF_COMMAND.values())

    # when
    missing = sorted(modules - set(app.MODULES))

    # then
    assert not missing, f"add {missing} to MODULES in cli/app.py"


def test_each_command_of_a_module_is_a_command_of_the_program():
    # given the names of commands and of groups of subcommands
    defined = {name.split()[0] for name in app.load_commands()}

    # when
    missing = sorted(defined - set(app.COMMANDS))

    # then
    assert not missing, f"add {missing} to MODULE_OF_COMMAND in cli/app.py"


@pytest.mark.parametrize(
    "command", [*app.COMMANDS, "mad select", "spice parse", "embed coverage"]
)
def test_the_brief_help_fits_on_a_screen(ok, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")

    brief_help = ok(f"{command} -h")

    assert brief_help.startswith("Usage: ")
    assert brief_help.count("\n") <= 53
    assert len(brief_help) <= len(ok(f"{command} --help"))


def test_the_help_of_a_kind_has_its_options(ok):
    text = ok("score --help captions")

    assert "--tokenizer" in text
    assert "--ci" in text
    assert "--taxonomy" not in text


def test_the_help_before_a_file_has_all_options(ok):
    assert "--taxonomy" in ok("score --help preds.json")


def test_the_help_of_an_unknown_kind_is_an_error_that_lists_the_kinds(refused):
    message = refused("score --help caption")

    assert "'labels', 'captions', 'retrieval', 'classes'" in message
    assert "Did you mean captions?" in message


def test_the_help_lists_the_kinds_that_it_can_select(ok):
    assert "--help [labels|captions|retrieval|classes]" in ok("score --help")


def test_a_command_without_arguments_prints_its_brief_help(ok, run):
    assert run("score").stderr == ok("score -h")


def test_the_version_has_a_short_flag(ok):
    assert ok("-V") == ok("--version")


@pytest.mark.parametrize(("no_color", "is_bold"), [("", True), ("1", False)])
def test_headings_of_the_help_are_bold_in_a_terminal(monkeypatch, no_color, is_bold):
    monkeypatch.setenv("NO_COLOR", no_color)

    output = CliRunner().invoke(app.program, ["score", "-h"], color=True).output

    assert ("\x1b[1mOptions" in output) == is_bold


# ---- streams -------------------------------------------------------------------------------------


def test_a_reader_that_exits_early_is_not_an_error():
    code = "from semmetrics.cli import main; main(['explain'] + ['F1'] * 3000)"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        # Without a buffer, Python itself loses the rest of an interrupted write.
        env=ENVIRONMENT | {"PYTHONUNBUFFERED": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait(60) == app.BROKEN_PIPE
    assert error == b""


@pytest.mark.parametrize(
    ("stream", "line", "code"),
    [
        ("stdout", "--help", app.BROKEN_PIPE),
        ("stdout", "--version", app.BROKEN_PIPE),
        ("stdout", "embed --help", app.BROKEN_PIPE),
        ("stdout", "list", app.BROKEN_PIPE),
        ("stderr", "", 2),
        ("stderr", "nothing", 2),
        ("stderr", "score none.json a", 2),
    ],
)
def test_a_stream_without_a_reader_leaves_the_other_empty(stream, line, code):
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}

    process = run_python(
        "-m", "semmetrics", *line.split(), capture_output=False, **streams
    )

    os.close(writer)
    assert process.returncode == code
    assert not process.stdout
    assert not process.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_ctrl_c_ends_the_program_with_one_line():
    # A parent in the background leaves the signal ignored.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from semmetrics.cli import main; main(['validate', '-'])"
    )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        [sys.executable, "-c", code], env=ENVIRONMENT, **pipes
    ) as process:
        time.sleep(1.5)  # until it waits for its input
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
    assert process.returncode == app.INTERRUPTED
    assert output == b""
    assert error.decode().split() == ["semmetrics:", "stopped"]


def test_characters_that_the_encoding_has_not_are_escaped(files):
    text = json.dumps({"1": ["naïve ∩ 你"]})
    Path("unicode.json").write_text(text, encoding="utf-8")

    process = run_python(
        *("-m", "semmetrics", "validate", "unicode.json"),
        env={"PYTHONIOENCODING": "cp437"},
        encoding="cp437",
    )

    assert process.returncode == 0
    assert "naïve ∩ \\u4f60" in process.stdout


# ---- wrong commands and faults -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("scores a.json gt.json", "Did you mean score?"),
        ("a.json gt.json", "semmetrics score PRED... GT"),
        ("embed coverge", "Did you mean coverage?"),
        ("list measuress", "Did you mean measures?"),
        ("score --tresholds 0.5 a.json gt.json", "--threshold"),
        ("calibrate a.json", "--pairs"),
        ("correlate a.json", "PHI"),
    ],
)
def test_a_wrong_command_is_an_error_with_a_hint(refused, files, line, hint):
    assert hint in refused(line)


@pytest.mark.parametrize(
    ("line", "code", "place"),
    [
        ("score -m F1 - -", "stdin-twice", ""),
        (
            "score -m SemF1 --embedding w=a.vec --embedding w=b.vec a.json gt.json",
            "repeated-spec",
            "--embedding w=b.vec",
        ),
        ("calibrate --pairs pairs.csv a.json gt.json", "conflicting-options", ""),
        ("pairs --axis images -o phi.npy a.json gt.json", "needs-option", ""),
        ("pairs --top-k 1 -o phi.npy a.json gt.json", "wrong-ending", "-o phi.npy"),
        ("score -o gt.json a.json gt.json", "output-is-input", "-o gt.json"),
    ],
)
def test_options_that_contradict_are_an_error(refused, files, line, code, place):
    refusal = refused(line)

    assert (refusal.code, refusal.where) == (code, place)


FAULT = """
import semmetrics.metrics.sets
from semmetrics.cli import main

def broken(*arguments):
    raise RuntimeError("something is broken")

semmetrics.metrics.sets.F1.family.__class__.aggregate = broken
main()
"""


@pytest.mark.parametrize(("variable", "has_traceback"), [("", False), ("1", True)])
def test_a_fault_is_one_line_and_a_traceback_on_request(files, variable, has_traceback):
    process = run_python(
        *("-c", FAULT, "score", *LISTS, "-q", "-m", "F1"),
        env={app.TRACEBACK: variable},
    )

    assert (process.returncode, process.stdout) == (1, "")
    message, *traceback = process.stderr.splitlines()
    assert "RuntimeError: something is broken" in message
    assert "Please report it" in message
    assert "SEMMETRICS_TRACEBACK=1" in message
    assert ("Traceback (most recent call last):" in traceback) == has_traceback


@pytest.mark.parametrize("ending", [SystemExit(143), KeyboardInterrupt()])
def test_a_signal_while_classes_are_created_is_not_a_fault(monkeypatch, ending):
    """Python 3.11 wraps the exception of the signal in a RuntimeError."""

    def fail(*_, **__):
        raise RuntimeError("Error calling __set_name__") from ending

    monkeypatch.setattr(click.Group, "main", fail)

    with pytest.raises(type(ending)):
        app.program.main(["list"], standalone_mode=False)


# ---- progress ------------------------------------------------------------------------------------


class Terminal:
    """A stream that is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


class Clock:
    """A clock that a test sets."""

    seconds = 0.0

    def __call__(self):
        return self.seconds


def test_progress_shows_the_share_the_speed_and_the_remaining_time():
    terminal = Terminal()
    clock = Clock()
    progress = Progress(terminal, clock)

    for done in (100, 200, 300):
        clock.seconds += 1
        progress(done, 1000)

    assert "\r 30%|" in terminal.text
    assert "300/1000 [00:03<00:07, 100.00it/s]" in terminal.text


def test_progress_of_another_stage_begins_anew():
    terminal = Terminal()
    clock = Clock()
    progress = Progress(terminal, clock)
    progress(1, 50)

    for done in (10, 20):
        clock.seconds += 1
        report_progress(progress, done, 40, "bootstrap", "resample")
    progress.close()

    assert "\rbootstrap:  50%|" in terminal.text
    assert "20/40 [00:01<00:01, 20.00 resample/s]" in terminal.text
    assert terminal.text.endswith("\r\x1b[K")


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_shown_in_a_terminal_if_the_program_is_not_quiet(
    monkeypatch, quiet
):
    monkeypatch.setattr(sys, "stderr", Terminal())

    with show_progress(quiet=quiet) as progress:
        assert (progress is None) == quiet


def test_progress_is_not_shown_without_a_terminal():
    with show_progress() as progress:
        assert progress is None
