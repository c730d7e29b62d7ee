"""Labelled pairs: two labels, and whether they mean the same."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.readers.formats import format_among
from semmetrics.data.readers.strict_json import parse
from semmetrics.data.readers.table import Rows, field_limit
from semmetrics.data.source import Source, at, load, shown
from semmetrics.errors import InputError, listing

__all__ = ["Pair", "as_pairs"]

_KNOWN = {
    "a": ("a", "first", "left", "label_a", "text_a", "label1", "text1", "word1", "prediction"),
    "b": ("b", "second", "right", "label_b", "text_b", "label2", "text2", "word2", "reference"),
    "same": ("same", "match", "matches", "equal", "gold", "label", "target"),
}
_YES = ("1", "true", "yes", "same", "y", "t")
_NO = ("0", "false", "no", "different", "n", "f")


class Pair(NamedTuple):
    """Two labels, and whether they mean the same."""

    a: str
    b: str
    same: bool


def as_pairs(
    pairs: str | os.PathLike[str] | Iterable[Any], options: ReadOptions = DEFAULTS
) -> list[Pair]:
    """Labelled pairs from a file or from Python objects.

    Parameters
    ----------
    pairs : path, or iterable of (a, b, same) or of mappings with such keys
        A CSV or TSV file with a header, JSON lines of objects, or a JSON list of objects or of
        lists of three. Columns are known by name: ``a``, ``b`` and ``same``, or others such as
        ``word1``, ``word2`` and ``match``. ``same`` is true or false, 1 or 0, yes or no.
    options : ReadOptions

    Returns
    -------
    list of Pair

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a label is empty or an answer is neither yes nor
        no; names the place.

    Examples
    --------
    >>> as_pairs([("car", "automobile", True), {"a": "car", "b": "tree", "same": 0}])
    [Pair(a='car', b='automobile', same=True), Pair(a='car', b='tree', same=False)]
    """
    if isinstance(pairs, str | os.PathLike):
        source = load(pairs, options.max_bytes)
        name, found = source.name, list(_read(source, options))
    else:
        if not isinstance(pairs, Iterable):
            raise InputError(
                f"a {type(pairs).__name__} holds no pairs",
                remedy="give a path, or a list of (a, b, same)",
            )
        name = "pairs"
        found = [_of_value(value, at(name, f"pair {i}")) for i, value in enumerate(pairs)]
    if not found:
        raise InputError("there are no pairs", where=name, remedy="write a,b,same a line")
    return found


def _read(source: Source, options: ReadOptions) -> Iterator[Pair]:
    kinds = ("csv", "tsv", "json", "jsonl")
    kind = format_among(source, options, "pairs are", kinds, told=True)
    if kind in ("csv", "tsv"):
        yield from _table(source, options, tabs=kind == "tsv")
    elif kind == "jsonl":
        for line, text in enumerate(io.StringIO(source.text, newline="\n"), 1):
            if not text.isspace():
                yield _of_value(parse(text, source.name, line), at(source.name, f"line {line}"))
    else:
        values = parse(source.text, source.name)
        if not isinstance(values, list):
            raise InputError(
                f"{shown(values)} is no list of pairs",
                where=source.name,
                remedy='write [{"a": "car", "b": "automobile", "same": true}, ...]',
            )
        for place, value in enumerate(values):
            yield _of_value(value, at(source.name, f"pair {place}"))


def _table(source: Source, options: ReadOptions, *, tabs: bool) -> Iterator[Pair]:
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        columns = _columns(rows.header, at(source.name, "line 1"))
        for lines, batch in rows.batches():
            for line, row in zip(lines, batch, strict=True):
                yield _pair([row[column] for column in columns], at(source.name, f"line {line}"))


def _columns(names: Sequence[str], where: str) -> list[int]:
    """The columns of a, b and same."""
    plain = [name.strip().casefold() for name in names]
    found = []
    for role, known in _KNOWN.items():
        hits = [plain.index(name) for name in known if name in plain]
        if not hits:
            raise InputError(
                f"there is no column {role!r}: found {listing(names, most=12)}",
                where=where,
                remedy="begin with the header a,b,same",
            )
        found.append(hits[0])
    return found


def _of_value(value: Any, where: str) -> Pair:
    if isinstance(value, Mapping):
        names = [str(name) for name in value]
        cells = list(value.values())
        return _pair([cells[column] for column in _columns(names, where)], where)
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == len(_KNOWN):
        return _pair(value, where)
    raise InputError(
        f"{shown(value)} is no pair", where=where, remedy="write two labels, and true or false"
    )


def _pair(cells: Sequence[Any], where: str) -> Pair:
    a, b, same = cells
    for text in (a, b):
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{shown(text)} is no label", where=where, remedy="write a text")
    return Pair(a, b, _answer(same, where))


def _answer(value: Any, where: str) -> bool:
    text = value if isinstance(value, str) else str(value.item() if _numpy(value) else value)
    text = text.strip().casefold().removesuffix(".0")
    if text in _YES or text in _NO:
        return text in _YES
    raise InputError(
        f"{shown(value)} does not say whether they mean the same",
        where=where,
        remedy="write true or false, 1 or 0, yes or no",
    )


def _numpy(value: Any) -> bool:
    return hasattr(value, "item") and getattr(value, "shape", None) == ()
