"""Check the files of a command, and write its results, messages and progress."""

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

    Content = str | bytes | Records
    """The content of an output file."""

STDIN = "-"
"""The path of standard input, and of standard output."""
EXACT = ("json", "csv")
"""The formats for programs, in which names are written unchanged."""
_PROGRESS_DELAY = 0.5  # Seconds before the first line of progress on a terminal
_PROGRESS_INTERVAL = 0.1  # Seconds between lines of progress on a terminal
_PROGRESS_LOG_INTERVAL = 30.0
"""Seconds before the first line of progress without a terminal, and between lines."""


# ---- files ------------------------------------------------------------------


def name_files(paths: Sequence[str]) -> list[str]:
    """Return a name for each file: its stem, with as many folders as make it unique.

    Raises
    ------
    InputError
        If two paths are the same file.

    Examples
    --------
    >>> name_files(["a/preds.json", "b/preds.json", "c/other.csv"])
    ['a/preds', 'b/preds', 'other']
    >>> name_files(["a/preds.json", "a/preds.csv"])
    ['a/preds.json', 'a/preds.csv']
    """
    from semmetrics.scoring.score import decode_path, system_name

    identities = set()
    paths_by_stem: dict[str, list[str]] = {}
    for path in paths:
        identity = _identify_file(path)
        if identity in identities:
            raise InputError("duplicate", role="the file", value=path)
        identities.add(identity)
        paths_by_stem.setdefault(system_name(path), []).append(path)
    name_of_path: dict[str, str] = {}
    for stem, paths_of_stem in paths_by_stem.items():
        names = _distinguish_by_folders(paths_of_stem, stem)
        name_of_path |= zip(paths_of_stem, names, strict=True)
    return [decode_path(name_of_path[path]) for path in paths]


def _distinguish_by_folders(paths: Sequence[str], stem: str) -> Sequence[str]:
    """Return unique names of files with the same stem, or the paths if their folders are also equal."""
    folders_of_paths = [PurePath(path).parent.parts for path in paths]
    max_folders = max(map(len, folders_of_paths))
    for n_folders in range(max_folders + 1):
        names = []
        for folders in folders_of_paths:
            first = max(0, len(folders) - n_folders)
            names.append("/".join((*folders[first:], stem)))
        if len(set(names)) == len(names):
            return names
    return paths


def path_of(text: str) -> str:
    """Return the path in NAME=FILE. A string without "=", or an existing file, is a path.

    Examples
    --------
    >>> path_of("ours=runs/a.json"), path_of("runs/a.json"), path_of("ours=-")
    ('runs/a.json', 'runs/a.json', '-')
    """
    if "=" not in text or Path(text).exists():
        return text
    _, _, path = text.partition("=")
    return path


def name_systems(specs: Sequence[str], argument: str) -> dict[str, str]:
    """Return files by the names of their systems.

    Parameters
    ----------
    specs : sequence of str
        Each NAME=FILE, or a file, folder or pattern, whose name is used.
    argument : str
        The name of the argument in errors.

    Raises
    ------
    InputError
        If a name or path is empty, or a name occurs twice. A file may have two names.
    """
    unnamed_paths = [spec for spec in specs if path_of(spec) == spec]
    name_of_path = dict(zip(unnamed_paths, name_files(unnamed_paths), strict=True))
    for path in unnamed_paths:
        if not Path(path).exists():
            name_of_path[path] = _name_pattern(path, name_of_path[path])
    systems: dict[str, str] = {}
    for spec in specs:
        path = path_of(spec)
        if spec in name_of_path:
            name = name_of_path[spec]
        else:
            name, _, _ = spec.partition("=")
        if not name or not path or name in systems:
            raise InputError(
                "bad-spec",
                spec,
                flag=argument,
                metavar="NAME=FILE with a different name for each file",
            )
        systems[name] = path
    return systems


def _name_pattern(pattern: str, name: str) -> str:
    """Return a name without wildcards: "part" for "part-*.csv", and "preds" for "preds/*.csv"."""
    name = re.sub(r"[-_.]*[*?[].*", "", name)
    return name or Path(pattern).parent.name or pattern


def _identify_file(path: str) -> object:
    """Return a value that is equal for two paths of the same file.

    The file may not exist yet. Something that is not a regular file, such as /dev/null, gets a
    different value each time, so it can be used twice.
    """
    if path == STDIN:
        return STDIN
    try:
        status = Path(path).stat()
    except OSError:
        return os.path.realpath(path)
    if stat.S_ISREG(status.st_mode):
        return (status.st_dev, status.st_ino)
    return object()


def check_files(
    inputs: Iterable[str], outputs: Iterable[tuple[str, str | None]]
) -> None:
    """Check that input and output files do not conflict.

    Parameters
    ----------
    inputs : iterable of paths
    outputs : iterable of pairs of flag, and path or None

    Raises
    ------
    InputError
        If standard input is read twice, if an output would overwrite an input or another output,
        or if its folder does not exist. The message names the flag.
    """
    from semmetrics.store.files import check_output

    inputs = list(inputs)
    if inputs.count(STDIN) > 1:
        raise InputError("stdin-twice")
    input_identities = set(map(_identify_file, inputs))
    flags_of_outputs: dict[object, str] = {}
    for flag_name, path in outputs:
        if path is None or path == STDIN:
            continue
        where = f"{flag_name} {path}"
        identity = _identify_file(path)
        if identity in input_identities:
            raise InputError("output-is-input", where)
        if identity in flags_of_outputs:
            raise InputError(
                "output-is-output", where, other=flags_of_outputs[identity]
            )
        check_output(path, where)
        flags_of_outputs[identity] = flag_name


def extension_of(path: str) -> str:
    """Return the extension that shows the format of a file, in lower case.

    The extension ".gz" is ignored. A number is not an extension, but the end of a version.

    Examples
    --------
    >>> extension_of("runs/items.JSONL"), extension_of("items.csv.gz"), extension_of("run-v1.2"), extension_of("a.7z")
    ('.jsonl', '.csv', '', '.7z')
    """
    name = Path(path).name.lower().removesuffix(".gz")
    extension = Path(name).suffix
    if extension[1:].isdecimal():
        return ""
    return extension


def write_text(
    text: str | Records,
    output: str | None = None,
    form: str = "table",
    other_files: Mapping[str, Content] | None = None,
    digits: int | None = None,
) -> None:
    """Write a result and other files.

    All files appear together, with the file of the result last. If one of them cannot be written,
    none appears.

    Parameters
    ----------
    text : str or Records
        The result. Control characters are removed from text unless programs read the format.
    output : str or None
        The path of the result. None and "-" are standard output.
    form : str
        The format of the result, and of records on standard output.
    other_files : mapping of path to content, optional
        Other files. Records are written in the format of the extension.
    digits : int, optional
        The number of digits of records, by default 4.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    result: Content = text
    if isinstance(text, str):
        result = _as_line(text, form)
    if digits is None:
        digits = 4
    files: list[tuple[str | None, Content]] = []
    streams: list[tuple[str | None, Content]] = []
    for path, content in [*(other_files or {}).items(), (output, result)]:
        is_parquet = extension_of(str(path)) == ".parquet"
        if is_parquet and not isinstance(content, str | bytes):
            content = content.to_parquet()
        if _is_stream(path):
            streams.append((path, content))
        else:
            files.append((path, content))
    # The stack closes the last file first, and a file appears when it is closed.
    with contextlib.ExitStack() as stack:
        for path, content in reversed(files):
            _write_content(stack, path, content, form, digits)
        for path, content in streams:
            stack.close()  # All files appear before anything is written to a stream.
            _write_content(stack, path, content, form, digits)


def _is_stream(path: str | None) -> bool:
    """Return whether a path is standard output or a device, which has no temporary file."""
    from semmetrics.store.files import target_of

    if path is None or path == STDIN:
        return True
    _, is_written_directly = target_of(path)
    return is_written_directly


def _write_content(
    stack: contextlib.ExitStack,
    path: str | None,
    content: Content,
    form: str,
    digits: int,
) -> None:
    """Write the content of a file, which the stack closes."""
    is_binary = isinstance(content, bytes)
    out: Any = stack.enter_context(open_output(path, binary=is_binary))
    if isinstance(content, str | bytes):
        out.write(content)
    else:
        form_of_file = extension_of(str(path)).removeprefix(".")
        content.write(out, form_of_file or form, digits)
    out.flush()  # Reports a full disk before any of the files appears


def csv_as_tsv(text: str) -> str:
    r"""Convert CSV to TSV.

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
    """Open a file for writing. It appears under its name when it is complete.

    Parameters
    ----------
    path : str or None
        None and "-" are standard output, which is always text.
    binary : bool

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if path in (None, STDIN):
        yield sys.stdout
        sys.stdout.flush()
        return
    from semmetrics.store import files

    with files.open_output(str(path), binary=binary) as out:
        yield cast("TextIO", out)


# ---- messages ---------------------------------------------------------------


def complain(text: str) -> None:
    """Write a message to standard error.

    Line breaks are escaped, since a name may contain one, except before an indented line. It is not
    an error if standard error is closed.
    """
    text = re.sub(r"\n(?! )", r"\\n", printable(text))
    # click.echo would replace characters that the terminal cannot show by "?". Different names
    # could then look the same.
    with contextlib.suppress(OSError):
        sys.stderr.write(f"semmetrics: {text}\n")
        sys.stderr.flush()


def echo(text: str, form: str = "table") -> None:
    """Write text to standard output, without control characters unless programs read the format."""
    sys.stdout.write(_as_line(text, form))
    sys.stdout.flush()


def _as_line(text: str, form: str) -> str:
    """Return text with a line end, without control characters unless programs read the format."""
    if form not in EXACT:
        text = printable(text)
    return f"{text}\n"


def to_json(value: Any) -> str:
    """Return a value as indented JSON."""
    import json

    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)


def report(lines: Iterable[str], *, quiet: bool) -> None:
    """Write messages to standard error, unless ``--quiet`` is set."""
    if quiet:
        return
    for line in lines:
        complain(visible(line))


def split_lines(parts: Iterable[str]) -> list[str]:
    """Return the lines of rendered texts."""
    lines = []
    for part in parts:
        lines += part.split("\n")
    return lines


def report_inputs(result: Any, *, quiet: bool) -> None:
    """Report how the inputs of a result were read, and its notes."""
    lines = [f"read {line}" for line in getattr(result, "understood", ())]
    if hasattr(result, "write_notes"):
        write_notes = result.write_notes
    else:
        write_notes = partial(render_facts, getattr(result, "facts", ()))
    lines += write_notes(spell=flag)
    report(lines, quiet=quiet)


# ---- progress ---------------------------------------------------------------


class Progress:
    """A callback that shows progress: one line on a terminal, or a new line from time to time.

    Parameters
    ----------
    stream : text stream
    clock : callable
        Returns the time in seconds.
    wait : float
        Seconds before the first line on a terminal.
    """

    labelled = True
    """Marks a callback that accepts keywords for `tqdm.format_meter`."""

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        wait: float = _PROGRESS_DELAY,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._delay = wait
        self._interval = _PROGRESS_INTERVAL
        if not self._is_terminal:
            self._delay = _PROGRESS_LOG_INTERVAL
            self._interval = _PROGRESS_LOG_INTERVAL
        self._start_time = clock()
        self._last_drawn = -_PROGRESS_LOG_INTERVAL
        self._done = 0
        self._stage: tuple[int, Any] = (0, None)
        self._line_is_visible = False

    def __call__(self, done: int, total: int, **labels: Any) -> None:
        """Show that a number of steps are done.

        If fewer steps are done than before, or the total or the unit changes, a new stage begins,
        and its time is measured from zero.

        Parameters
        ----------
        done : int
        total : int
        labels
            Keywords of ``tqdm.format_meter``.
        """
        now = self._clock()
        stage = (total, labels.get("unit"))
        is_first_stage = not self._stage[0]
        is_new_stage = done < self._done or stage != self._stage
        if is_new_stage and not is_first_stage:
            self._start_time = now
        self._done = done
        self._stage = stage
        elapsed = now - self._start_time
        if elapsed >= self._delay and now - self._last_drawn >= self._interval:
            self._draw(done, total, elapsed, labels)
            self._last_drawn = now

    def _draw(
        self, done: int, total: int, elapsed: float, labels: Mapping[str, Any]
    ) -> None:
        """Write a line, which replaces the previous one on a terminal."""
        from shutil import get_terminal_size

        from tqdm import tqdm

        width = get_terminal_size().columns - 1 if self._is_terminal else None
        line = tqdm.format_meter(done, total, elapsed, width, **labels)
        if self._is_terminal:
            self._stream.write(f"\r{line}\x1b[K")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()
        self._line_is_visible = self._is_terminal

    def close(self) -> None:
        """Remove the line from the terminal."""
        if self._line_is_visible:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


@contextlib.contextmanager
def show_progress(
    *, quiet: bool = False, at_once: bool = False
) -> Iterator[Progress | None]:
    """Show progress on standard error if it is a terminal.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    at_once : bool
        For long work: show progress without a delay, and if standard error is not a terminal, a
        line every 30 seconds.
    """
    if quiet or not (at_once or sys.stderr.isatty()):
        yield None
        return
    delay = 0 if at_once else _PROGRESS_DELAY
    with contextlib.closing(Progress(sys.stderr, wait=delay)) as progress:
        yield progress
