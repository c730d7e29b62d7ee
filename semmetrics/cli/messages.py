"""What is said on standard error: messages, and progress on a terminal."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from semmetrics.errors import render_facts
from semmetrics.messages import printable, visible
from semmetrics.options import flag

EXACT = ("json", "csv")
"""The formats that programs read, in which names are as they are."""
_WAIT, _EVERY = 0.5, 0.1  # seconds before the first line, and between lines


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


def say(lines: Iterable[str], *, quiet: bool) -> None:
    """Write messages, unless nobody wants to read them."""
    for line in () if quiet else lines:
        complain(visible(line))


def say_understood(result: Any, *, quiet: bool) -> None:
    """Say how the inputs of a result were read, and what is odd."""
    read = [f"read {line}" for line in getattr(result, "understood", ())]
    say([*read, *render_facts(result.facts, spell=flag)], quiet=quiet)


class Progress:
    """Draws one line, over and over.

    Parameters
    ----------
    stream : text stream
    clock : callable
        Gives seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._start, self._drawn = clock(), -_EVERY
        self._done, self._total, self._visible = 0, 0, False

    def __call__(self, done: int, total: int) -> None:
        """Say that so many of all are done; fewer than before, or others, begin a new stage."""
        now = self._clock()
        if done <= self._done or total != self._total:
            self._start = now if self._total else self._start
        self._done, self._total = done, total
        if now - self._start >= _WAIT and now - self._drawn >= _EVERY:
            self._stream.write("\r" + format_progress(done, total, now - self._start) + "\x1b[K")
            self._stream.flush()
            self._drawn, self._visible = now, True

    def close(self) -> None:
        """Wipe the line."""
        if self._visible:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def format_progress(done: int, total: int, seconds: float) -> str:
    """Write how much is done.

    Examples
    --------
    >>> format_progress(250_000, 1_000_000, 2.0)
    ' 25% (250,000 of 1,000,000), 125,000/s, 6 s left'
    """
    rate = done / seconds if seconds > 0 else 0.0
    left = f", {format_duration((total - done) / rate)} left" if rate else ""
    return f"{done / max(1, total):4.0%} ({done:,} of {total:,}), {rate:,.0f}/s{left}"


def format_duration(seconds: float) -> str:
    """Write seconds as a person says them.

    Examples
    --------
    >>> format_duration(6), format_duration(95), format_duration(7300)
    ('6 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextlib.contextmanager
def show_progress(
    stream: TextIO | None = None, *, quiet: bool = False
) -> Iterator[Progress | None]:
    """Show progress on standard error, if that is a terminal and nobody asked for quiet."""
    stream = sys.stderr if stream is None else stream
    if quiet or not stream.isatty():
        yield None
        return
    progress = Progress(stream)
    try:
        yield progress
    finally:
        progress.close()
