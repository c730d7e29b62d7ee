"""``semmetrics demo`` writes example files for users who only installed the package."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from semmetrics.store.examples import EXAMPLES

EXAMPLES_OF_REPOSITORY = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def expand(words):
    """Expand patterns, as a shell does."""
    expanded = []
    for word in words:
        if "*" in word:
            expanded += sorted(map(str, Path().glob(word)))
        else:
            expanded.append(word)
    return expanded


def test_the_files_are_those_of_the_repository(ok):
    ok("demo")

    for name in EXAMPLES:
        copy = Path("semmetrics-demo", name)
        assert copy.read_bytes() == (EXAMPLES_OF_REPOSITORY / name).read_bytes()


def test_the_printed_commands_can_be_run(ok, monkeypatch):
    lines = ok("demo 'my files'").splitlines()

    commands = [line.strip() for line in lines if line.startswith("  ")]
    assert commands[0] == "cd 'my files'"
    monkeypatch.chdir("my files")
    assert len(commands) == 4
    for command in commands[1:]:
        program, *words = expand(shlex.split(command))
        assert program == "semmetrics"
        assert ("CIDEr" if "captions" in command else "F1") in ok(*words)


def test_an_existing_folder_is_an_error(refused):
    Path("folder").mkdir()
    Path("folder/file.txt").write_text("old")

    assert "already exists" in refused("demo folder")

    assert [path.name for path in Path("folder").iterdir()] == ["file.txt"]
