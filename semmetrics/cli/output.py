"""What is read and written: files that are in each other's way, results, messages and progress."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TextIO, cast

from semmetrics.errors import InputError, render_facts
from semmetrics.messages import printable, visible
from semmetrics.options import flag

if TYPE_CHECKING:
    from semmetrics.reports import Records

STDIN = "-"
EXACT = ("json", "csv")
"""The formats that programs read, in which names are as they are."""
_WAIT, _EVERY = 0.5, 0.1  # seconds before the first line of progress, and between lines
_SELDOM = 30.0  # the same where lines are not drawn over each other


# Files


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

    seen, by_stem = set[object](), dict[str, list[str]]()
    for path in paths:
        if (same := _identity(path)) in seen:
            raise InputError("duplicate", role="the file", value=path)
        seen.add(same)
        by_stem.setdefault(system_name(path), []).append(path)
    named: dict[str, str] = {}
    for stem, some in by_stem.items():
        parents = [PurePath(path).parent.parts for path in some]
        for folders in range(max(map(len, parents)) + 1):
            names = [
                "/".join((*one[max(0, len(one) - folders) :], stem)) for one in parents
            ]
            if len(set(names)) == len(names):
                break
        else:
            names = some
        named |= zip(some, names, strict=True)
    return [decode_path(named[path]) for path in paths]


def path_of(text: str) -> str:
    """Return the path in NAME=FILE; a text without a name, or the name of a file, is a path.

    Examples
    --------
    >>> path_of("ours=runs/a.json"), path_of("runs/a.json"), path_of("ours=-")
    ('runs/a.json', 'runs/a.json', '-')
    """
    return text if "=" not in text or Path(text).exists() else text.partition("=")[2]


def name_systems(given: Sequence[str], what: str) -> dict[str, str]:
    """Return files by name: those given as NAME=FILE, or those of the files, folders, patterns."""
    plain = [text for text in given if path_of(text) == text]
    names = dict(zip(plain, name_files(plain), strict=True))
    for text in plain:  # part-*.csv is called part, and preds/*.csv preds
        if not Path(text).exists():
            name = re.sub(r"[-_.]*[*?[].*", "", names[text])
            names[text] = name or Path(text).parent.name or text
    found: dict[str, str] = {}
    for text in given:
        path = path_of(text)
        name = names[text] if text in names else text.partition("=")[0]
        if not name or not path or name in found:
            raise InputError(
                "bad-spec", text, flag=what, metavar="NAME=FILE, each name once"
            )
        found[name] = path
    return found


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
    inputs: Iterable[str], outputs: Iterable[tuple[str, str | None]]
) -> None:
    """Refuse files that are in each other's way, before anything large is read.

    Parameters
    ----------
    inputs : iterable of paths
    outputs : pairs of flag, and path or None

    Raises
    ------
    InputError
        If standard input is read twice, or an output would overwrite an input or another output,
        or has no place; names the flag.
    """
    from semmetrics.store.files import check_output

    inputs = list(inputs)
    if inputs.count(STDIN) > 1:
        raise InputError("stdin-twice")
    read, written = set(map(_identity, inputs)), dict[object, str]()
    for name, path in outputs:
        if path is None or path == STDIN:
            continue
        where, same = f"{name} {path}", _identity(path)
        if same in read:
            raise InputError("output-is-input", where)
        if same in written:
            raise InputError("output-is-output", where, other=written[same])
        check_output(path, where)
        written[same] = name


def ending(path: str) -> str:
    """Return what says the format of a file: its extension, without that of compression.

    Examples
    --------
    >>> ending("runs/items.JSONL"), ending("items.csv.gz"), ending("run-v1.2"), ending("a.7z")
    ('.jsonl', '.csv', '', '.7z')
    """
    name = Path(path).name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    return "" if suffix[1:].isdecimal() else suffix  # the number of a version


def write_text(
    text: str | Records,
    output: str | None = None,
    form: str = "table",
    beside: Mapping[str, str | bytes | Records] | None = None,
    digits: int | None = None,
) -> None:
    """Write a result with a line end, to standard output where no file is named.

    What programs read is exact, what people read has no control characters. ``beside`` has what
    other files are to hold, by path: texts, bytes, or records in the form that the ending names,
    those for standard output in that of the result. A result may also be records.
    All files appear together, that of the result
    last; none does if one cannot be written.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    from semmetrics.store.files import target_of

    result: Any = text
    if isinstance(text, str):
        result = (text if form in EXACT else printable(text)) + "\n"
    files: list[tuple[str | None, Any]] = []
    for path, content in [*(beside or {}).items(), (output, result)]:
        if not isinstance(content, str | bytes) and ending(str(path)) == ".parquet":
            content = content.to_parquet()
        files.append((path, content))
    streams = [
        one for one in files if one[0] in (None, STDIN) or target_of(str(one[0]))[1]
    ]
    with contextlib.ExitStack() as stack:  # which closes the last one first
        for path, content in [
            *(one for one in files[::-1] if one not in streams),
            *streams,
        ]:
            if (path, content) in streams:
                stack.close()  # files appear before anything is shown
            binary = isinstance(content, bytes)
            out: Any = stack.enter_context(open_output(path, binary=binary))
            if isinstance(content, str | bytes):
                out.write(content)
            else:
                content.write(
                    out, ending(str(path))[1:] or form, 4 if digits is None else digits
                )
            out.flush()  # a full disk is noticed before any file appears


def csv_as_tsv(text: str) -> str:
    r"""Return CSV with tabs in place of commas.

    Examples
    --------
    >>> csv_as_tsv('id,labels\na,"cat, dog"')
    'id\tlabels\na\tcat, dog'
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerows(csv.reader(io.StringIO(text)))
    return out.getvalue().rstrip("\n")


@contextlib.contextmanager
def open_output(path: str | None, *, binary: bool = False) -> Iterator[TextIO]:
    """Open a file that appears under its name only when it is complete.

    Parameters
    ----------
    path : str or None
        Standard output where it is None or "-", as text.
    binary : bool

    Raises
    ------
    InputError
        If it cannot be written.
    """
    if path in (None, STDIN):
        yield sys.stdout
        sys.stdout.flush()
        return
    from semmetrics.store import files

    with files.open_output(str(path), binary=binary) as out:
        yield cast("TextIO", out)


# Messages


def complain(text: str) -> None:
    """Write a message to standard error; nobody may be reading it.

    A line of its own belongs to a message only where it is indented: names may hold ends of lines.
    """
    text = re.sub(r"\n(?! )", r"\\n", printable(text))
    # Not by click, which makes "?" of what the terminal cannot show: names must stay apart.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"semmetrics: {text}\n")
        sys.stderr.flush()


def echo(text: str, form: str = "table") -> None:
    """Write a line to standard output: what programs read exactly, what people read printable."""
    sys.stdout.write(f"{text if form in EXACT else printable(text)}\n")
    sys.stdout.flush()


def to_json(value: Any) -> str:
    """Write a value as indented JSON."""
    import json

    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


def say(lines: Iterable[str], *, quiet: bool) -> None:
    """Write messages, unless nobody wants to read them."""
    for line in () if quiet else lines:
        complain(visible(line))


def split_lines(parts: Iterable[str]) -> list[str]:
    """Return the lines of what was drawn, to be said."""
    return [line for part in parts for line in part.split("\n")]


def say_understood(result: Any, *, quiet: bool) -> None:
    """Say how the inputs of a result were read, and what is odd."""
    read = [f"read {line}" for line in getattr(result, "understood", ())]
    write = getattr(
        result, "write_notes", partial(render_facts, getattr(result, "facts", ()))
    )
    say([*read, *write(spell=flag)], quiet=quiet)


# Progress


class Progress:
    """Shows how much is done: on a terminal one line, over and over, and elsewhere a few lines.

    Parameters
    ----------
    stream : text stream
    clock : callable
        Gives seconds.
    wait : float
        Seconds before the first line on a terminal.
    """

    labelled = True

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        wait: float = _WAIT,
    ) -> None:
        self._stream, self._clock, self._redraws = stream, clock, stream.isatty()
        self._wait = wait
        self._start, self._drawn = clock(), -_SELDOM
        self._done, self._stage, self._visible = 0, (0, None), False

    def __call__(self, done: int, total: int, **form: Any) -> None:
        """Say that so many of all are done; fewer than before, or others, begin a new stage.

        What else is given is a form of ``tqdm.format_meter``.
        """
        now = self._clock()
        stage = (total, form.get("unit"))
        wait, every = (self._wait, _EVERY) if self._redraws else (_SELDOM, _SELDOM)
        if done < self._done or stage != self._stage:
            self._start = now if self._stage[0] else self._start
        self._done, self._stage = done, stage
        if now - self._start >= wait and now - self._drawn >= every:
            from shutil import get_terminal_size

            from tqdm import tqdm

            width = get_terminal_size().columns - 1 if self._redraws else None
            line = tqdm.format_meter(done, total, now - self._start, width, **form)
            self._stream.write(f"\r{line}\x1b[K" if self._redraws else f"{line}\n")
            self._stream.flush()
            self._drawn, self._visible = now, self._redraws

    def close(self) -> None:
        """Wipe the line."""
        if self._visible:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


@contextlib.contextmanager
def show_progress(
    *, quiet: bool = False, at_once: bool = False
) -> Iterator[Progress | None]:
    """Show progress on standard error, unless somebody asked for quiet.

    Long work shows it ``at_once``, and also where that is not a terminal.
    """
    if quiet or not (at_once or sys.stderr.isatty()):
        yield None
        return
    with contextlib.closing(
        Progress(sys.stderr, wait=0 if at_once else _WAIT)
    ) as progress:
        yield progress
