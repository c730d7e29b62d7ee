"""Input and output files: their names, and that none overwrites another or is left half."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TextIO, cast

from semmetrics.cli.help import EXACT
from semmetrics.errors import InputError
from semmetrics.messages import printable
from semmetrics.store.files import check_output, target_of
from semmetrics.store.files import open_output as open_file

if TYPE_CHECKING:
    from semmetrics.reports import Records

STDIN = "-"


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
    from semmetrics.scoring.score import decode_path, system_name

    seen = set[object]()
    for path in paths:
        same = _identity(path)
        if same in seen:
            raise InputError("duplicate", role="the file", value=path)
        seen.add(same)
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(system_name(path), []).append(path)
    named = {path: name for stem, some in by_name.items() for path, name in _name_alike(stem, some)}
    return [decode_path(named[path]) for path in paths]


def _name_alike(stem: str, paths: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Name files of one stem, each beside its path."""
    parents = [PurePath(path).parent.parts for path in paths]
    for folders in range(max(map(len, parents)) + 1):
        names = ["/".join((*some[max(0, len(some) - folders) :], stem)) for some in parents]
        if len(set(names)) == len(names):
            return zip(paths, names, strict=True)
    return zip(paths, paths, strict=True)


def _identity(path: str) -> object:
    """Return what is equal for two names of one file, one of standard input's or one to be made."""
    if path == STDIN:
        return STDIN
    try:
        found = Path(path).stat()
    except OSError:
        return os.path.realpath(path)
    # What is no file, such as /dev/null, may be named twice.
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else object()


def check_files(
    inputs: Iterable[str],
    outputs: Mapping[str, str | None],
    endings: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Refuse files that are in each other's way, before anything large is read.

    Parameters
    ----------
    inputs : iterable of paths
    outputs : mapping from flag to path or None
    endings : mapping from flag to endings, optional
        Of outputs whose ending names the format.

    Raises
    ------
    InputError
        If standard input is read twice, or an output would overwrite an input or another output,
        has no place, or its ending is unknown; names the flag.
    """
    inputs = list(inputs)
    if inputs.count(STDIN) > 1:
        raise InputError("stdin-twice")
    read, written = set(map(_identity, inputs)), dict[object, str]()
    for name, path in outputs.items():
        if path is None or path == STDIN:
            continue
        where, same = f"{name} {path}", _identity(path)
        if same in read:
            raise InputError("output-is-input", where)
        if same in written:
            raise InputError("output-is-output", where, other=written[same])
        check_output(path, where)
        written[same] = name
    for name, known in (endings or {}).items():
        path = outputs[name]
        if path is not None and ending(path) not in known:
            raise InputError("wrong-ending", f"{name} {path}", known=known)


def ending(path: str) -> str:
    """Return what says the format of a file.

    Examples
    --------
    >>> ending("runs/items.JSONL")
    '.jsonl'
    """
    return Path(path).suffix.lower()


def write_text(
    text: str,
    output: str | None = None,
    form: str = "table",
    beside: Mapping[str, str | Records] | None = None,
) -> None:
    """Write a result with a line end, to standard output where no file is named.

    What programs read is exact, what people read has no control characters. ``beside`` has what
    other files are to hold, by path. All files appear together, that of the result last; none does
    if one cannot be written.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    result = (text if form in EXACT else printable(text)) + "\n"
    files: list[tuple[str | None, str | Records]] = [*(beside or {}).items(), (output, result)]
    streams = [one for one in files if one[0] in (None, STDIN) or target_of(str(one[0]))[1]]
    with ExitStack() as stack:  # which closes the last one first
        for path, content in reversed(files):
            if (path, content) not in streams:
                _write(content, path, stack.enter_context(open_output(path)))
    for path, content in streams:
        with open_output(path) as out:
            _write(content, path, out)


def _write(content: str | Records, path: str | None, out: TextIO) -> None:
    """Write a text, or records in the form that the ending of the path names."""
    if isinstance(content, str):
        out.write(content)
    else:
        content.write(out, ending(str(path))[1:])
    out.flush()  # a full disk is noticed before any file appears


@contextmanager
def open_output(path: str | None) -> Iterator[TextIO]:
    """Open a text file that appears under its name only when it is complete.

    Parameters
    ----------
    path : str or None
        Standard output where it is None or "-".

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if path in (None, STDIN):
        yield sys.stdout
        sys.stdout.flush()
        return
    with open_file(str(path)) as out:
        yield cast("TextIO", out)
