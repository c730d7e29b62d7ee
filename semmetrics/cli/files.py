"""Input and output files: their names, and that none overwrites another or is left half."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TextIO

import click

from semmetrics.errors import InputError

__all__ = [
    "check_endings",
    "check_inputs",
    "check_outputs",
    "name_files",
    "ending",
    "open_output",
    "strip_endings",
    "write_text",
]

STDIN = "-"


def strip_endings(path: str) -> str:
    """Return the name of a file without its folder and endings.

    Examples
    --------
    >>> strip_endings("runs/resnet.json.gz")
    'resnet'
    """
    from semmetrics.api.scores import system_name

    return system_name(path)


def name_files(paths: Sequence[str]) -> list[str]:
    """Name each file: its stem, with as many folders before it as tell equal stems apart.

    Raises
    ------
    InputError
        If a file is named twice.

    Examples
    --------
    >>> name_files(["a/preds.json", "b/preds.json", "c/other.csv"])
    ['a/preds', 'b/preds', 'other']
    >>> name_files(["a/preds.json", "a/preds.csv"])
    ['a/preds.json', 'a/preds.csv']
    """
    for place, path in enumerate(paths):
        if any(_is_same(path, other) for other in paths[:place]):
            raise InputError(f"{path} is given twice", remedy="give each file once")
    stems = [strip_endings(path) for path in paths]
    alike: dict[str, list[str]] = {}
    for name, path in zip(stems, paths, strict=True):
        alike.setdefault(name, []).append(path)
    return [
        name if len(alike[name]) == 1 else _add_folders(path, alike[name])
        for name, path in zip(stems, paths, strict=True)
    ]


def _add_folders(path: str, alike: Sequence[str]) -> str:
    depth = max(len(PurePath(other).parts) for other in alike)
    for folders in range(1, depth):
        names = [_with_folders(other, folders) for other in alike]
        if len(set(names)) == len(names):
            return _with_folders(path, folders)
    return path


def _with_folders(path: str, number: int) -> str:
    return "/".join((*PurePath(path).parent.parts[-number:], strip_endings(path)))


def _is_same(one: str, other: str) -> bool:
    """Whether two names are one regular file, or standard input twice."""
    if STDIN in (one, other):
        return one == other
    left, right = Path(one), Path(other)
    if left.exists() and not left.is_file():
        return False  # such as /dev/null
    if os.path.realpath(left) == os.path.realpath(right):
        return True
    return left.exists() and right.exists() and left.samefile(right)


def check_inputs(paths: Iterable[str]) -> None:
    """Refuse to read standard input for two things.

    Raises
    ------
    InputError
        If "-" is there twice.
    """
    if list(paths).count(STDIN) > 1:
        raise InputError("standard input (-) is given twice", remedy="write one of them to a file")


def check_outputs(
    outputs: Mapping[str, str | None],
    inputs: Iterable[str],
    *,
    remedy: str = "give the output another name",
) -> None:
    """Refuse outputs that would overwrite an input or one another, or that have no place.

    Parameters
    ----------
    outputs : mapping from option to path or None
    inputs : iterable of paths
    remedy : str
        What to do where an input would be overwritten.

    Raises
    ------
    InputError
        If so; names the option.
    """
    read = [path for path in inputs if path != STDIN]
    seen: dict[str, str] = {}
    for name, path in outputs.items():
        if path is None or path == STDIN:
            continue
        if any(_is_same(path, other) for other in read):
            raise InputError(
                "the output would overwrite an input",
                where=f"{name} {path}",
                remedy=remedy,
            )
        first = next((option for other, option in seen.items() if _is_same(path, other)), None)
        if first is not None:
            raise InputError(f"{first} writes to the same file", where=f"{name} {path}",
                             remedy="give each output its own file")  # fmt: skip
        folder = Path(path).is_dir()
        if folder or not Path(os.path.realpath(path)).parent.is_dir():
            raise InputError(
                "this is a folder" if folder else "there is no such folder",
                where=f"{name} {path}",
                remedy="name a file in a folder that exists",
            )
        seen[path] = name


def check_endings(files: Mapping[str, str | None], endings: Mapping[str, Sequence[str]]) -> None:
    """Refuse names of files that do not say what the files are to hold.

    Parameters
    ----------
    files : mapping from option to path or None
    endings : mapping from option to the endings that it knows

    Raises
    ------
    InputError
        If an ending is unknown.
    """
    for option, path in files.items():
        known = endings.get(option, ())
        if path is not None and known and ending(path) not in known:
            raise InputError(
                f"the ending {ending(path)!r} says nothing about the format",
                where=f"{option} {path}",
                remedy=f"end the name with {', '.join(known[:-1])} or {known[-1]}",
            )


def ending(path: str) -> str:
    """Return what says the format of a file.

    Examples
    --------
    >>> ending("runs/items.JSONL")
    '.jsonl'
    """
    return Path(path).suffix.lower()


def write_text(text: str, output: str | None) -> None:
    """Write a result with a line end, to standard output where no file is named.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if output in (None, STDIN):
        click.echo(text)
        return
    with open_output(str(output)) as out:
        out.write(text + "\n")


@contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Open a text file that appears under its name only when it is complete.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    target = Path(os.path.realpath(path))
    special = target.exists() and not target.is_file()
    place = target if special else target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with place.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as handle:
            yield handle
        if not special:
            place.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"it cannot be written: {reason}", where=path, remedy="choose another place"
        ) from error
    finally:
        if not special:
            place.unlink(missing_ok=True)
