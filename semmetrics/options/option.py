"""What is known of an option: its type, default, help, flag, and what it applies to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple, Protocol


class Measure(Protocol):
    """What ``semmetrics.parse`` and ``@semmetrics.measure`` give."""


class Array(Protocol):
    """A vector or matrix of NumPy, SciPy, torch, pandas or polars, or what ``as_labels`` gives."""


Path = str | PathLike[str]
Data = Path | Mapping[Any, Any] | Iterable[Any] | Array
"""What inputs may be: files, and objects in memory."""
Measures = str | Measure | Iterable[str | Measure]


class Option(NamedTuple):
    """What is known of an option besides its name and type.

    Attributes
    ----------
    help : str
        Shown by ``help(semmetrics.score)`` and by ``--help``.
    default : value
        What is used when the option is left out; None stands for no value.
    kinds : tuple of str
        What must be evaluated for it to mean something; empty where it always does.
    key : str
        Its key in a signature, for options that change the data.
    signed : bool
        Whether a signature says it, so that it may not be given beside one.
    choices : tuple of str
        All values, where they can be listed.
    group : str
        Its heading in ``--help``; empty for options of Python alone.
    flags : tuple of str
        Its names on the command line, where they do not follow from its name.
    metavar : str
        What stands for its value in ``--help``, if not FILE, N or X.
    read : type
        What the command line reads its value as.
    least, most : int, optional
        The smallest and the largest value of a number.
    repeat, file : bool
        Whether it may be given several times, and whether its value is a path.
    instead : bool
        Whether it stands in place of the predictions.
    names : str
        Which names a shell completes, such as "measures" or "protocols".
    acts_by : str
        The option of measures by which it acts; on a measure that lacks it, it has no effect.
    batch : str
        How a Scorer takes it: with each batch ("items": it has a value for each item), for all
        items alone ("whole": no part of them can be scored with it), or with the items that are
        kept ("kept": of some of them it means something else).
    values : int
        How many values it takes.
    required : bool
        Whether the command needs it.
    written : tuple of str
        Of a file that is written: its endings, "" for any.
    common : bool
        Whether ``-h`` of a command with many options shows it.
    """

    help: str
    group: str = ""
    default: Any = None
    kinds: tuple[str, ...] = ()
    key: str = ""
    signed: bool = False
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    metavar: str = ""
    read: type = str
    least: int | None = None
    repeat: bool = False
    file: bool = False
    instead: bool = False
    names: str = ""
    acts_by: str = ""
    batch: str = ""
    most: int | None = None
    values: int = 1
    required: bool = False
    written: tuple[str, ...] = ()
    common: bool = False
    name: str = ""

    @property
    def flag(self) -> str:
        """Its long name on the command line."""
        named = (flag for flag in self.flags if flag.startswith("--"))
        return next(named, f"--{self.name.replace('_', '-')}")

    @property
    def both(self) -> str:
        """Its keyword and its name on the command line, as messages write them."""
        return f"{self.name}= ({self.flag})"

    def text(self) -> str:
        """Return its help, with the kinds it applies to and its default."""
        only = f" Only for {', '.join(self.kinds)}." if self.kinds else ""
        return f"{self.help}{only}{self.default_text()}"

    def default_text(self) -> str:
        """Return a sentence on its default; empty where that is to do nothing."""
        if self.default in (None, False, (), 0):
            return ""
        several = isinstance(self.default, tuple)
        return f" The default is {' '.join(self.default) if several else self.default}."


def name_options(**options: Option) -> dict[str, Option]:
    """Return options with their names, and what stands for their values in help."""
    found = {}
    for name, one in options.items():
        usual = (
            "FILE"
            if one.file or one.written
            else {int: "N", float: "X"}.get(one.read, "")
        )
        found[name] = one._replace(name=name, metavar=one.metavar or usual)
    return found
