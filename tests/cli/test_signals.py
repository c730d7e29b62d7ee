"""Commands that are killed or interrupted leave the old file or the complete new one."""

import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from cli.processes import N_IMAGES, finish, hidden_files, posix, start

from semmetrics import cli
from semmetrics.cli import app

pytestmark = [posix, pytest.mark.usefixtures("default_signals")]
N_KILLS = int(os.environ.get("SEMMETRICS_KILLS", "3"))
"""The number of kills of each command."""
COMMANDS = [
    ("score -q -m F1 --per-item OUT p.json g.json", "x.csv"),
    ("pairs -q --overwrite -o OUT c.json r.json", "x.npy"),
]
SLOW_COMMANDS = [
    ("score -q -m F1 -o OUT --format json p.json g.json", "x.json"),
    ("score -q -m MacroF1 --per-label OUT p.json g.json", "x.json"),
    ("score -q -m SemF1 --matches OUT p.json g.json", "x.jsonl"),
    ("sweep -q --format csv -o OUT p.json g.json", "x.csv"),
    ("calibrate -q -o OUT p.json g.json", "x.json"),
    ("doc-freq -q -o OUT r.json", "x.npz"),
    ("doc-freq -q -o OUT r.json", "x.json"),
    ("pairs -q --top-k 3 -o OUT c.json r.json", "x.jsonl"),
]


def measure_seconds(line, folder, out):
    """Run a command, and return how long it takes."""
    begin = time.monotonic()
    finish(line, folder, out)
    return time.monotonic() - begin


def send_signal_after(seconds, number, line, folder, out):
    """Start a command, send a signal, and return the exit code and the error text."""
    process = start(line, folder, out)
    time.sleep(seconds)
    process.send_signal(number)
    error = process.communicate()[1]
    return process.returncode, error


def content_of(path, may_be_absent):
    """Return the content of a file, or None if it is absent and may be."""
    if may_be_absent and not path.exists():
        return None
    return path.read_bytes()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        *COMMANDS,
        *(pytest.param(*command, marks=pytest.mark.slow) for command in SLOW_COMMANDS),
    ],
)
def test_a_killed_command_leaves_the_old_file_or_the_new_one(
    many_images, tmp_path, line, name
):
    out = tmp_path / name
    seconds = measure_seconds(line, many_images, out)
    new = out.read_bytes()
    generator = random.Random(line)
    signals = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]

    for kill in range(N_KILLS):
        out.write_bytes(b"old")
        before = set(hidden_files(tmp_path))
        number = signals[kill % 3]
        pause = generator.uniform(0.3, 1.05) * seconds
        code, error = send_signal_after(pause, number, line, many_images, out)
        assert code in (0, -number, 128 + number), error
        assert b"Traceback" not in error
        is_removed_first = name.endswith(".npy")  # A matrix, before its ids change.
        assert content_of(out, is_removed_first) in (b"old", new, None)
        if number != signal.SIGKILL:
            assert set(hidden_files(tmp_path)) <= before

    finish(line, many_images, out)
    assert out.read_bytes() == new
    assert hidden_files(tmp_path) == []


def test_a_killed_conversion_leaves_all_files_or_none(many_images, tmp_path):
    line = "embed convert -q v.txt OUT"
    seconds = measure_seconds(line, many_images, tmp_path / "complete")
    names = {path.name for path in (tmp_path / "complete").iterdir()}
    generator = random.Random(2)

    for kill in range(N_KILLS):
        out = tmp_path / f"x{kill}"
        pause = generator.uniform(0.5, 1.05) * seconds
        send_signal_after(pause, signal.SIGKILL, line, many_images, out)
        if out.exists():
            assert {path.name for path in out.iterdir()} == names
        else:
            finish(line, many_images, out)

    assert hidden_files(tmp_path) == []


def test_killed_pairs_are_resumed(many_images, tmp_path):
    line = "pairs -q -o OUT c.json r.json"
    out = tmp_path / "phi.npy"
    for seconds in (0.5, 0.7, 0.9, 1.1):
        if not out.exists():
            send_signal_after(seconds, signal.SIGKILL, line, many_images, out)

    if not out.exists():
        finish(line, many_images, out)

    finish(line, many_images, tmp_path / "whole.npy")
    np.testing.assert_array_equal(np.load(out), np.load(tmp_path / "whole.npy"))


@pytest.mark.parametrize("n_renamed", [0, 1])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_matrix_is_never_without_its_ids(
    many_images, tmp_path, monkeypatch, overwrite, n_renamed
):
    """The command is interrupted at each renaming, and continues when it is run again."""
    monkeypatch.chdir(many_images)
    out = tmp_path / "x.npy"
    ids = tmp_path / "x.npy.ids.json"
    command = ["pairs", "-q", "-o", str(out), "c.json", "r.json"]
    if overwrite:
        command.append("--overwrite")
        out.write_bytes(b"old")
        ids.write_text("old")
    replace = Path.replace
    renamed = []

    def replace_or_interrupt(path, target):
        if len(renamed) == n_renamed:
            raise KeyboardInterrupt
        renamed.append(Path(target).name)
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_or_interrupt)
        code = app.program.main(command, standalone_mode=False)
    assert code == app.INTERRUPTED
    assert not out.exists()
    assert renamed == [ids.name][:n_renamed]

    assert app.program.main(command, standalone_mode=False) == 0
    assert np.load(out).shape == (N_IMAGES, N_IMAGES)
    assert len(json.loads(ids.read_text())["images"]) == N_IMAGES
    assert len(list(tmp_path.iterdir())) == 2


def wait_for_signal():
    # In a function of its own, since Python 3.13 leaves a function from the last jump of a loop
    # without calling signal handlers.
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def raise_in_callback(number):
    class Callback:
        def __del__(self):
            signal.raise_signal(number)

    Callback()


def raise_in_library(number):
    with contextlib.suppress(BaseException):
        signal.raise_signal(number)


@pytest.mark.parametrize("raise_dropped", [raise_in_callback, raise_in_library])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_whose_exception_is_dropped_is_repeated(
    monkeypatch, number, raise_dropped
):
    """Python drops exceptions in callbacks, and pyarrow while it imports pandas."""

    def run_command(*_, **__):
        raise_dropped(number)
        wait_for_signal()

    monkeypatch.setattr(app.program, "main", run_command)

    with pytest.raises(SystemExit) as caught:
        cli.main([])

    assert caught.value.code == 128 + number
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("seconds", [0.15, 0.25, 0.35])
def test_a_signal_while_modules_are_imported_leaves_no_traceback(
    many_images, number, seconds
):
    line = "score -q -m SemF1 --ci p.json g.json"

    code, error = send_signal_after(seconds, number, line, many_images, "")

    starts_python = code in (-number, 1)
    if not starts_python:
        assert code in (0, 128 + number)
        assert b"Traceback" not in error
