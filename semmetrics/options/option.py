"""The description of an option: its help, default, flag and the data it applies to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, NamedTuple, Protocol


class Measure(Protocol):
    """The result of ``semmetrics.parse`` and ``@semmetrics.measure``."""


class Array(Protocol):
    """A vector or matrix of NumPy, SciPy, torch, pandas or polars, or a result of ``as_labels``."""


Path = str | PathLike[str]
Data = Path | Mapping[Any, Any] | Iterable[Any] | Array
"""The type of inputs: paths of files, and objects in memory."""
Measures = str | Measure | Iterable[str | Measure]


class Option(NamedTuple):
    """The description of an option of a function or a command.

    `name_options` sets ``name``, and ``metavar`` if it is empty. The type of a Python keyword is
    not part of the description: it is the type annotation of the field of `keywords.Options`.

    Attributes
    ----------
    help : str
        One or two sentences, shown by ``help(semmetrics.score)`` and ``--help``, and on the page
        of options. ``-h`` shows the part before the first period, colon or semicolon.
    group : str
        The heading under which ``--help`` lists the option, one of `choices.TITLES`. Empty for an
        option that exists only in Python.
    default : value
        The value if the option is not set. None if there is no default.
    kinds : tuple of str
        The kinds of data that the option applies to. Setting it for other kinds is an error. Empty
        if it applies to all kinds.
    key : str
        The key in signatures, for options that change the data. Signatures record other options
        in other ways, or not at all.
    signed : bool
        Whether signatures determine the value, so that the option cannot be set together with
        ``--rescore``.
    choices : tuple of str
        The allowed values. Empty if they cannot be listed.
    flags : tuple of str
        The names on the command line, if they do not follow from the name. By default,
        ``label_column`` is ``--label-column``.
    metavar : str
        The placeholder for the value in ``--help``. By default FILE for a path, N for an integer
        and X for a float. "[NAME=]..." marks an option with named values, such as
        ``--embedding bert=sbert:all-MiniLM-L6-v2``.
    read : type
        The type of the value on the command line: str, int, float, or bool for a flag without a
        value.
    least : int, optional
        The smallest allowed value of a number.
    repeat : bool
        Whether the option can be repeated on the command line.
    file : bool
        Whether the value is the path of an input file.
    replaces_predictions : bool
        Whether the option replaces the predictions.
    names : str
        The names that a shell completes, one of the topics of ``cli.names.known_names`` such as
        "measures" or "protocols".
    measure_option : str
        The option of a measure that makes the measure use this option, such as "df" for
        ``doc_freq``. This option has no effect on measures without that option.
    batch : str
        How a ``Scorer``, which reads the data in batches, uses the option:

        - "": as a setting for all batches
        - "items": the value has an entry per item, so each batch gets its own value
        - "whole": the option needs all items at once, so it cannot be used with batches
        - "kept": the option needs stored items, because its meaning depends on all of them
    most : int, optional
        The largest allowed value of a number.
    values : int
        The number of values that follow the flag.
    required : bool
        Whether the command fails without the option.
    output_extensions : tuple of str
        For the path of an output file, the allowed extensions, such as ".csv". "" allows any
        extension and "-" standard output. Empty if the option is not an output file.
    common : bool
        Whether ``-h`` shows the option for commands with many options.
    name : str
        The keyword in Python.
    """

    help: str
    group: str = ""
    default: object = None
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
    replaces_predictions: bool = False
    names: str = ""
    measure_option: str = ""
    batch: str = ""
    most: int | None = None
    values: int = 1
    required: bool = False
    output_extensions: tuple[str, ...] = ()
    common: bool = False
    name: str = ""

    @property
    def flag(self) -> str:
        """The long name on the command line."""
        for flag in self.flags:
            if flag.startswith("--"):
                return flag
        return f"--{self.name.replace('_', '-')}"

    @property
    def keyword_and_flag(self) -> str:
        """The keyword and the flag, for messages."""
        return f"{self.name}= ({self.flag})"

    def text(self) -> str:
        """Return the help with the kinds of data that the option applies to and its default."""
        text = self.help
        if self.kinds:
            text += f" Only for {', '.join(self.kinds)}."
        return text + self.default_text()

    def default_text(self) -> str:
        """Return a sentence about the default, or "" if the option is off or unset."""
        if self.default in (None, False, (), 0):
            return ""
        default = self.default
        if isinstance(default, tuple):
            default = " ".join(default)
        return f" The default is {default}."


def name_options(**options: Option) -> dict[str, Option]:
    """Return the options by name, with their ``name`` and ``metavar`` set."""
    named_options = {}
    for name, option in options.items():
        metavar = option.metavar or _default_metavar(option)
        named_options[name] = option._replace(name=name, metavar=metavar)
    return named_options


def _default_metavar(option: Option) -> str:
    """Return the placeholder for the value of an option without its own placeholder."""
    if option.file or option.output_extensions:
        return "FILE"
    if option.read is int:
        return "N"
    if option.read is float:
        return "X"
    return ""
