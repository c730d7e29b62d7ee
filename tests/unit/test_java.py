"""Files of CoreNLP: copied from a folder, or fetched with Maven, and checked."""

from hashlib import sha256

import pytest
from refusals import refused

from semmetrics.text import java

FIRST, SECOND = java.JARS


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    home = tmp_path / "mine" / "home"
    monkeypatch.setenv("SEMMETRICS_HOME", str(home))
    return home


@pytest.fixture
def source(tmp_path):
    """A folder with the first file, which is not original."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / FIRST).write_bytes(b"x")
    return folder


@pytest.fixture
def accepted(monkeypatch):
    """Let the content of the files be "x"."""
    digest = sha256(b"x").hexdigest()
    jars = {name: (place, digest) for name, (place, _) in java.JARS.items()}
    monkeypatch.setattr(java, "JARS", jars)


def test_files_are_copied_from_a_folder(source, accepted):
    (source / SECOND).write_bytes(b"x")

    folder = java.set_up(source)

    assert sorted(path.name for path in folder.iterdir()) == sorted([FIRST, SECOND])
    assert java.wrong_jars() == []


def test_a_missing_file_is_an_error(source, accepted):
    with refused("missing-jar", name=SECOND):
        java.set_up(source)


def test_a_folder_nearby_is_suggested(source):
    for place in (source / FIRST, source.parent, source / "home"):
        with refused("missing-jar") as caught:
            java.set_up(place)

        assert caught.value.remedy.endswith(f"Did you mean {source}?")


def test_a_file_that_is_not_original_is_an_error(source):
    with refused("wrong-jar", str(source / FIRST)):
        java.set_up(source)


def test_missing_maven_is_an_error(monkeypatch):
    monkeypatch.setenv("PATH", "")

    with refused("maven-failed"):
        java.set_up()


@pytest.mark.parametrize("script", [b"\x7fELF", b"#!/bin/sh\nprintf '\\377'; exit 1\n"])
def test_a_failing_maven_is_an_error(script, tmp_path, monkeypatch):
    program = tmp_path / "mvn"
    program.write_bytes(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    with refused("maven-failed", str(program)):
        java.set_up()
