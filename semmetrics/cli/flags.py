"""Options of the command line, made from the tables of options, and their values for Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.help import (
    FILE,
    F,
    add_options,
    complete,
    formats,
    measures,
    normalizations,
    option,
    protocols,
)
from semmetrics.cli.own_measures import import_option
from semmetrics.errors import InputError
from semmetrics.options import (
    CERTAINTY,
    COLUMNS,
    FORMATS,
    KINDS,
    OPTIONS,
    RESULT_FORMATS,
    Option,
    decoding_rules,
)

if TYPE_CHECKING:
    from semmetrics.data.form import ReadOptions

__all__ = [
    "OUTPUT", "digits_option", "format_option", "max_bytes_option", "measure_option",
    "named_files", "output_option", "read_given", "reading_options", "score_options",
    "signatures_option", "split_measures",
]  # fmt: skip

READING, OUTPUT = "How files are read", "Output"
_SPEC_NAME = re.compile(r"[\w.+-]+")
_RULES = ("all", "threshold:0.5", "threshold:best", "cumulative:0.5", "cardinality",
          "cardinality+scores")  # fmt: skip
_COMPLETED: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "measures": measures,
    "protocols": protocols,
    "normalizations": normalizations,
    "rules": lambda: dict.fromkeys(_RULES, ""),
}


def score_options(
    *chosen: str, without: Iterable[str] = (), defaults: Mapping[str, Any] | None = None
) -> Callable[[F], F]:
    """Add options of the table to a command, in the table's order.

    Parameters
    ----------
    *chosen : str
        Their names; all that have a place on the command line where none is named.
    without : iterable of str
        Names that are not added.
    defaults : mapping from name to value, optional
        Defaults that the command has itself.
    """
    wanted = [
        replace(one, default=(defaults or {}).get(one.name, one.default))
        for one in OPTIONS.values()
        if one.group and (not chosen or one.name in chosen) and one.name not in without
    ]
    return lambda command: add_options(command, *map(_make, wanted))


def _make(one: Option) -> Callable[[F], F]:
    """Make the option of the command line."""
    settings: dict[str, Any] = {"help": one.help + one.default_text()}
    if one.read is bool:
        settings |= {"is_flag": True}
    else:
        settings |= {"multiple": one.repeat, "type": _type_of(one), "metavar": one.metavar or None}
    if one.names:
        settings["shell_complete"] = complete(_COMPLETED[one.names])
    flags = one.flags or (one.flag,)
    return option(one.group, *flags, one.name, **settings)


def _type_of(one: Option) -> Any:
    """Return what click reads the value of an option as."""
    if one.choices:
        return click.Choice(one.choices)
    if one.least is not None:
        return click.IntRange(min=one.least)
    return FILE if one.file else one.read


def reading_options(*kinds: str) -> Callable[[F], F]:
    """Add the options that say how files are read.

    Parameters
    ----------
    *kinds : str
        What the files may hold; anything where none is named.
    """
    held = set(kinds or KINDS)
    known, columns = ([name for name, of in d.items() if held & {*of}] for d in (FORMATS, COLUMNS))

    def every() -> Iterable[Callable[[F], F]]:
        yield option(READING, "--input-format", metavar="F", shell_complete=complete(formats),
                     help=f"{', '.join(known[:-1])} or {known[-1]}. The default is told by "
                     "the extension.")  # fmt: skip
        for role in ("id", *columns):
            yield option(READING, f"--{role}-column", metavar="NAME",
                         help=f"Column or key of the {role}s.")  # fmt: skip
        yield option(READING, "--delimiter", metavar="C",
                     help="Character between the cells of CSV; a comma.")  # fmt: skip
        if "score" in columns:
            yield option(READING, "--label-delimiter", metavar="TEXT",
                         help="Text between the labels in a cell. Without it, CSV has one row a "
                         "label.")  # fmt: skip
        if {"captions", "retrieval"} & held:
            yield option(READING, "--split", metavar="NAME",
                         help="Split of Karpathy's JSON: test, val, train or restval. The default "
                         "is all.")  # fmt: skip
        yield option(READING, "--max-line-bytes", type=int, metavar="N", default=64 * 2**20,
                     show_default=True, help="Longest line of CSV and JSONL.")  # fmt: skip
        yield max_bytes_option

    return lambda command: add_options(command, *every())


def max_bytes_option(command: F) -> F:
    """Add ``--max-bytes``, the limit of every file that is read."""
    return option(READING, "--max-bytes", type=int, metavar="N", default=4 * 2**30,
                  show_default=True, help="Largest file, decompressed, and the memory that what it "
                  "holds may take (1 GiB is always allowed). An embedding may have 16 times as "
                  "many bytes.")(command)  # fmt: skip


def measure_option(group: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Add ``--measure``, which a shell completes."""
    named = option(
        group, "-m", "--measure", *names, metavar="MEASURE", shell_complete=complete(measures),
        **settings,
    )  # fmt: skip
    return lambda command: named(import_option(group)(command))


def format_option(*forms: str, help: str | None = None) -> Callable[[F], F]:
    """Add ``--format`` as ``form``: formats of results, or these; the first is the default."""
    forms = forms or RESULT_FORMATS
    return option(OUTPUT, "--format", "form", type=click.Choice(forms), default=forms[0],
                  show_default=True, help=help)  # fmt: skip


def signatures_option(help: str = "Show the whole signature of each row.") -> Callable[[F], F]:
    """Add ``--show-signatures`` as ``signatures``."""
    return option(CERTAINTY, "--show-signatures", "signatures", is_flag=True, help=help)


def output_option(
    *names: str, help: str = "Write the result there.", **settings: Any
) -> Callable[[F], F]:
    """Add ``--output``, or another option that names a file to write."""
    names = names or ("-o", "--output")
    return option(OUTPUT, *names, type=FILE, metavar="FILE", help=help, **settings)


def digits_option(**settings: Any) -> Callable[[F], F]:
    """Add ``--digits``."""
    return option(OUTPUT, "--digits", type=click.IntRange(0, 17), metavar="N", **settings)


def read_given(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of the tables from what a command was given, as values for Python.

    Raises
    ------
    InputError
        If one is wrong; of measures all that are wrong are named together.
    """
    from semmetrics.data.form import ReadOptions

    fields = ReadOptions.__dataclass_fields__
    reading = {name: given.pop(name) for name in fields if name in given and name not in OPTIONS}
    read = ReadOptions(format=given.pop("input_format", None), **reading)
    found = {name: given.pop(name) for name in OPTIONS if name in given}
    found = {
        name: value
        for name, value in found.items()
        if value is not None and value is not False and value != ()  # 0 is a value
    }
    for name, convert in _CONVERTED.items():
        if name in found:
            found[name] = convert(found[name], read)
    _check_rules(found.get("decode"), found.get("threshold"))
    return {**found, "read": read}


def _check_rules(decode: Iterable[str] | None, threshold: str | None) -> None:
    """Refuse decoding rules that are wrong before anything is read."""
    from semmetrics.metrics.set_measures import check_decode

    for rule in decoding_rules(decode, threshold):
        check_decode(rule)


def split_measures(texts: Iterable[str], example: str = "F1") -> list[str]:
    """Split measures at blanks outside parentheses.

    Raises
    ------
    InputError
        If there is none; the remedy has the example.
    """
    from semmetrics.metrics.registry import split_measures as split

    found = [word for text in texts for word in split(text)]
    if not found:
        raise InputError("-m names no measure", remedy=f"write -m {example}")
    return found


def _read_measures(texts: Iterable[str], read: ReadOptions) -> Any:
    from semmetrics.metrics.registry import kinds_of_all, parse_all

    words = split_measures(texts)
    # where several kinds have them, the data or --task say which are meant
    return words if len(kinds_of_all(words)) > 1 else parse_all(words, *kinds_of_all(words))


def _read_ignored(entries: Iterable[str], read: ReadOptions) -> list[str]:
    from semmetrics.data.side_inputs import read_class_list

    labels: list[str] = []
    for entry in entries:
        if entry.startswith("@"):
            labels += read_class_list(entry[1:], read.beside())
        else:
            labels += [label for label in entry.split(",") if label]
    return labels


def embeddings(texts: Iterable[str]) -> dict[str, str]:
    """Return embeddings by name.

    Raises
    ------
    InputError
        If a name cannot be that of an embedding, or is given twice.

    Examples
    --------
    >>> embeddings(["words.bin", "bert=sbert:all-MiniLM-L6-v2"])
    {'default': 'words.bin', 'bert': 'sbert:all-MiniLM-L6-v2'}
    >>> embeddings(["./a=b.bin"])
    {'default': './a=b.bin'}
    """
    return _by_name(texts, "--embedding", "an embedding", "SemF1(embedding=NAME)")


def _by_name(texts: Iterable[str], flag: str, noun: str, example: str) -> dict[str, str]:
    """Return what is given as [NAME=]SPEC by name, "default" where there is none."""
    found: dict[str, str] = {}
    for text in texts:
        name, spec = _split_spec(text, flag, noun)
        if name in found:
            bare = noun.partition(" ")[2] or noun
            raise InputError(
                f"the default {bare} is given twice"
                if name == "default"
                else f"the {bare} {name!r} is given twice",
                where=f"{flag} {text}",
                remedy=f"give each a name: {flag} NAME=SPEC, and -m '{example}'",
            )
        found[name] = spec
    return found


def _split_spec(text: str, flag: str, noun: str) -> tuple[str, str]:
    name, sign, spec = text.partition("=")
    if not sign or any(mark in name for mark in "/\\:("):  # a path, kind:PATH or a measure
        name, spec = "default", text
    if not _SPEC_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name of {noun}",
            where=f"{flag} {text}",
            remedy="use letters, digits and . _ + - before the sign =; write ./a=b.bin for a file "
            "that has the sign in its name",
        )
    if not spec.strip():
        what = "a name, a path, kind:NAME or kind:PATH" if flag == "--embedding" else "a path"
        raise InputError(
            "nothing is named",
            where=f"{flag} {text}",
            remedy=f"write {flag} [NAME=]SPEC with {what}",
        )
    return name, spec


def named_files(given: Mapping[str, Any]) -> list[str]:
    """Return all files that options of the table name, so that no output is written over them."""
    found: list[str] = []
    for name, one in OPTIONS.items():
        value = given.get(name) or ()
        texts = [value] if isinstance(value, str) else value
        if name == "embedding":
            specs = [_split_spec(text, one.flag, "an embedding")[1] for text in texts]
            found += [path for spec in specs for path in (spec, spec.partition(":")[2]) if path]
        elif name in _NAMED:
            found += [_split_spec(text, one.flag, _NAMED[name])[1] for text in texts]
        elif name == "ignore":
            found += [text[1:] for text in texts if text.startswith("@")]
        elif one.file:
            found += texts
    return found


_CONVERTED: Mapping[str, Callable[[Any, Any], Any]] = {
    "measures": _read_measures,
    "ignore": _read_ignored,
    "embedding": lambda texts, read: embeddings(texts),
    "phi": lambda texts, read: _by_name(texts, "--phi", "a phi", "NCS(phi=NAME)@10"),
    "class_lists": lambda texts, read: _class_lists(texts),
}
_NAMED = {"phi": "a phi", "class_lists": "a class list"}


def _class_lists(texts: Iterable[str]) -> dict[str, str]:
    """Return the files of class lists by name."""
    found = _by_name(texts, "--class-list", "a class list", "PerClassAccuracy(labels=NAME)")
    if "default" in found:
        raise InputError(
            "the class list has no name",
            where=f"--class-list {found['default']}",
            remedy="write --class-list NAME=FILE, and -m 'PerClassAccuracy(labels=NAME)'",
        )
    return found
