"""A stand-in for the Java program of SPICE's parser."""

from __future__ import annotations

import sys
from hashlib import sha256

from stand_ins import fake_java

from semmetrics.text import java

EMPTY_FILE = sha256(b"").hexdigest()


def use_empty_jars(monkeypatch, home):
    """Make the folder of CoreNLP's files one with empty files, which are accepted."""
    monkeypatch.setenv("SEMMETRICS_HOME", str(home))
    expected = {name: (place, EMPTY_FILE) for name, (place, _) in java.JARS.items()}
    monkeypatch.setattr(java, "JARS", expected)
    folder = java.jar_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for name in expected:
        (folder / name).touch()


def install_program(monkeypatch, folder, code):
    """Make Python code the program. The package pycocoevalcap must be there."""
    use_empty_jars(monkeypatch, folder / "home")
    fake_java(monkeypatch, folder / "bin", f"#!{sys.executable}\n{code}")
