"""What is shown of a command before it runs: its help, and the names that a shell completes."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import click

from semmetrics.errors import render_facts
from semmetrics.messages import listing, printable, visible
from semmetrics.options import OTHER, flag

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


EXIT_CODES = (
    "Exit codes: 0 done; 2 the input or an option is wrong, one message says where and what to do; "
    "1 a fault of the program; 130 stopped by Ctrl-C; 141 the reader of the output went away."
)
# Readers check what is there and say more than click would; the type completes file names.
FILE = click.Path(readable=False)
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


class Examples(click.Command):
    """A command whose help shows examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, then the examples as they are typed."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(Examples):
    """A command whose help groups its options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("epilog", EXIT_CODES)
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what is written; of an option of a measure, or of other commands, say so."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from semmetrics.options import measure_option

            name, remedy = error.option_name, ""
            if any("--measure" in one.opts for one in self.get_params(ctx)):
                remedy = measure_option(name.lstrip("-").replace("-", "_"))
            remedy = remedy or _name_its_commands(name, ctx)
            if not remedy:
                raise
            raise click.UsageError(f"there is no option {name!r}; {remedy}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the titles of their groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Argument):
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(parameter, "group", OTHER), []).append(record)
        for title in sorted(groups, key=OTHER.__eq__):
            with formatter.section(title):
                formatter.write_dl(groups[title], col_max=30)


def _name_its_commands(name: str, ctx: click.Context) -> str:
    """Name the commands that have an option; "" if none has."""
    root = ctx.find_root()
    group = root.command
    if not isinstance(group, click.Group):
        return ""
    every = {one: group.get_command(root, one) for one in group.list_commands(root)}
    have = [one for one, command in every.items()
            if command and any(name in option.opts for option in command.params)]  # fmt: skip
    return f"it is an option of {listing(have, most=4)}" if have else ""


class Group(Examples, click.Group):
    """A command of commands, with examples."""


def measures() -> dict[str, str]:
    """Return measures and aliases, and what each is."""
    from semmetrics.metrics.registry import aliases, all_definitions

    return {d.name: d.summary for d in all_definitions()} | aliases()


def protocols() -> dict[str, str]:
    """Return protocols, and the title of each."""
    from semmetrics.scoring.protocols import PROTOCOLS

    return {name: protocol.title for name, protocol in PROTOCOLS.items()}


def agreement_protocols() -> dict[str, str]:
    """Return protocols of agreement with people, and the title of each."""
    from semmetrics.scoring.protocols import AGREEMENT_PROTOCOLS

    return {name: protocol.title for name, protocol in AGREEMENT_PROTOCOLS.items()}


def topics() -> dict[str, str]:
    """Return what can be explained and cited."""
    return measures() | protocols() | agreement_protocols()


def normalizations() -> dict[str, str]:
    """Return label normalisations, and what each does."""
    from semmetrics.kinds.labels.normalization import NORMALIZATIONS

    return {
        name: (clean.__doc__ or "").strip().split("\n")[0] for name, clean in NORMALIZATIONS.items()
    }


def formats() -> dict[str, str]:
    """Return formats of input files, and their extensions."""
    from semmetrics.data.form import EXTENSIONS
    from semmetrics.options import FORMATS

    return {
        name: ", ".join(end for end, form in EXTENSIONS.items() if form == name) for name in FORMATS
    }


def decoding() -> dict[str, str]:
    """Return examples of decoding rules."""
    return dict.fromkeys(("all", "threshold:0.5", "threshold:best", "cumulative:0.5",
                          "cardinality", "cardinality+scores"), "")  # fmt: skip


COMPLETED: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "measures": measures,
    "protocols": protocols,
    "agreement_protocols": agreement_protocols,
    "normalizations": normalizations,
    "formats": formats,
    "topics": topics,
    "rules": decoding,
    "vectors": dict,
}
"""What a shell completes: names, with what each is."""


def complete(what: str) -> Completer:
    """Return a completer of names, in any case.

    Examples
    --------
    >>> [item.value for item in complete("rules")(None, None, "Card")]
    ['cardinality', 'cardinality+scores']
    """

    def completer(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=text or None)
            for name, text in COMPLETED[what]().items()
            if name.lower().startswith(incomplete.lower())
        ]

    return completer


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
    write = getattr(result, "write_notes", partial(render_facts, result.facts))
    say([*read, *write(spell=flag)], quiet=quiet)


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
