"""Java, and the programs that the package pycocoevalcap brings."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["java_program", "packaged"]

_PACKAGE = "pycocoevalcap"


def java_program(purpose: str, *, instead: str = "") -> str:
    """The program java.

    Parameters
    ----------
    purpose : str
        What needs it, for the message.
    instead : str
        What serves without it, for the remedy.

    Raises
    ------
    InputError
        If there is none.
    """
    java = shutil.which("java")
    if java is None:
        raise InputError(
            f"{purpose} needs Java, and there is no program java",
            remedy=_or(
                "install a Java runtime, 8 or later (Debian's package is default-jre-headless)",
                instead,
            ),
        )
    return java


def packaged(folder: str, files: tuple[str, ...], purpose: str, *, instead: str = "") -> Path:
    """The folder of pycocoevalcap that has those files.

    Parameters
    ----------
    folder : str
    files : tuple of str
        As paths in the folder.
    purpose, instead : str
        As for ``java_program``.

    Raises
    ------
    MissingDependencyError
        If the package is not installed.
    InputError
        If it has not all of them.
    """
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingDependencyError(_PACKAGE, purpose, extra="captions")
    for place in found.submodule_search_locations:
        if all(Path(place, folder, name).is_file() for name in files):
            return Path(place, folder)
    raise InputError(
        f"{purpose} needs {' and '.join(files)}, which {_PACKAGE} has not here",
        remedy=_or(f"run: pip install --force-reinstall {_PACKAGE}", instead),
    )


def _or(remedy: str, instead: str) -> str:
    return f"{remedy}, or {instead}" if instead else remedy
