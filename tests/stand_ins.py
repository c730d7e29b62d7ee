"""Stand-ins for the package pycocoevalcap and for Java, so that tests need neither."""

from __future__ import annotations

import sys


def without_pycocoevalcap(monkeypatch):
    """Hide the package."""
    monkeypatch.setitem(sys.modules, "pycocoevalcap", None)


def fake_pycocoevalcap(monkeypatch, folder, *files):
    """Put a package with those files in front of any other."""
    for name in ("__init__.py", *files):
        path = folder / "pycocoevalcap" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.delitem(sys.modules, "pycocoevalcap", raising=False)
    monkeypatch.syspath_prepend(str(folder))
    return folder / "pycocoevalcap"


def fake_java(monkeypatch, folder, script):
    """Make a script the only program called java."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return program


def without_java(monkeypatch, folder):
    """Hide Java, and every other program."""
    monkeypatch.setenv("PATH", str(folder))
