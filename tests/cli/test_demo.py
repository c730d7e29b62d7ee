"""The command demo: example files for users without a clone of the repository."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from semmetrics.cli import main
from semmetrics.store.examples import EXAMPLES

EXAMPLES_OF_REPOSITORY = Path(__file__).resolve().parents[2] / "examples"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code or 0


def expand(words):
    """Expand patterns, as a shell does."""
    expanded = []
    for word in words:
        expanded += sorted(map(str, Path().glob(word))) if "*" in word else [word]
    return expanded


def test_it_writes_the_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo") == 0
    for name in EXAMPLES:
        copied = tmp_path / "semmetrics-demo" / name
        assert copied.read_bytes() == (EXAMPLES_OF_REPOSITORY / name).read_bytes()


def test_the_commands_that_it_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "my files") == 0
    commands = [
        line.strip()
        for line in capsys.readouterr().out.splitlines()
        if line[:2] == "  "
    ]
    assert commands[0] == "cd 'my files'"
    monkeypatch.chdir("my files")
    assert len(commands) == 4
    for command in commands[1:]:
        program, *arguments = expand(shlex.split(command))
        assert program == "semmetrics"
        assert run(*arguments) == 0
        assert ("CIDEr" if "captions" in command else "F1") in capsys.readouterr().out


def test_a_folder_that_exists_is_left_alone(tmp_path, capsys):
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    assert run("demo", str(tmp_path)) == 2
    assert "already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
