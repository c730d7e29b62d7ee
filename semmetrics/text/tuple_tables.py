"""Raw tuples that users provide, and files of them.

Conventions
-----------
A file of tuples has one line of JSON per caption: ``{"caption": "a dog", "tuples":
[["dog"]], "parser": "official@…"}``. "parser" is the identity of the parser, and may be
left out. Tuples are in the order in which the parser returned them, because merging
depends on it. If a caption occurs twice, it must have the same tuples. White space
around a caption is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from semmetrics.data.json_files import parse
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import enough_memory, load, no_collection, text_lines
from semmetrics.errors import InputError, format_place
from semmetrics.messages import brief
from semmetrics.text.raw_tuples import Parsed, RawTuple, check_tuples

SAME_CAPTIONS = (
    "parse all captions in the form that the measure's option captions sets: as tokens or as "
    "written"
)
"""The remedy for captions without tuples."""
_REQUIRED_KEYS = frozenset(["caption", "tuples"])
_KEYS = _REQUIRED_KEYS | {"parser"}


@dataclass(frozen=True, eq=False, repr=False)
class TupleTable:
    """The raw tuples of captions.

    Attributes
    ----------
    name : str
        What messages call it.
    tuples : mapping from caption to raw tuples
    parsers : mapping from caption to str
        The identity of the parser of each caption, if the file has it.

    Examples
    --------
    >>> table = TupleTable.of({"a small dog": [("dog",), ("dog", "small")]})
    >>> table.identity, next(table.parse(["a small dog"]))
    ('given@82930ce6bb91', [['dog'], ['dog', 'small']])
    """

    name: str
    tuples: Mapping[str, Parsed]
    parsers: Mapping[str, str]

    @staticmethod
    def of(
        tuples_by_caption: Mapping[str, Sequence[RawTuple]], name: str = "tuples="
    ) -> TupleTable:
        """Return the table of tuples by caption, after a check.

        Raises
        ------
        InputError
            If a value is not a list of tuples, or a caption occurs twice with different
            ones. The message has the caption.
        """
        table: dict[str, Parsed] = {}
        for caption, tuples in tuples_by_caption.items():
            check_tuples(tuples, format_place(name, f"caption {brief(caption)}"))
            _add(table, caption, list(map(list, tuples)), name)
        return TupleTable(name, table, {})

    @cached_property
    def identity(self) -> str:
        """The parser, if all captions have the same, and a hash of all their tuples."""
        digest = hashlib.sha256()
        for caption in sorted(self.tuples):
            line = json.dumps([caption, self.tuples[caption]])
            digest.update(line.encode() + b"\n")
        parsers = {self.parsers.get(caption, "") for caption in self.tuples}
        name = ""
        if len(parsers) == 1:
            (name,) = parsers
        return f"{name or 'given'}@{digest.hexdigest()[:12]}"

    def of_parser(self, identity: str) -> dict[str, Parsed]:
        """Return the tuples of a parser by caption."""
        tuples = {}
        for caption, parser in self.parsers.items():
            if parser == identity:
                tuples[caption] = self.tuples[caption]
        return tuples

    def parse(self, captions: Iterable[str]) -> Iterator[Parsed | InputError]:
        """Yield the tuples of each caption, or an error if it has none."""
        for caption in captions:
            tuples = self.tuples.get(caption)
            if tuples is None:
                yield InputError("no-tuples", self.name, remedy=SAME_CAPTIONS)
            else:
                yield tuples


def _add(table: dict[str, Parsed], caption: str, tuples: Parsed, where: str) -> str:
    """Add the tuples of a caption, and return the caption without outer white space.

    Raises
    ------
    InputError
        If it has other tuples already.
    """
    stripped = caption.strip()
    if table.setdefault(stripped, tuples) != tuples:
        raise InputError("conflicting-tuples", where, caption=caption)
    return stripped


# ---- files ---------------------------------------------------------------------------


class _Line(NamedTuple):
    """A line of a file of tuples. The parser is an empty string if it is unknown."""

    caption: str
    tuples: Parsed
    parser: str


def read_tuples(
    path: str | os.PathLike[str], max_bytes: int = DEFAULTS.max_bytes
) -> TupleTable:
    """Read a file of raw tuples: JSON lines, which may be gzipped.

    Raises
    ------
    InputError
        If the file cannot be read, a line has another content, or a caption occurs
        twice with different tuples. The message has the line.
    """
    source = load(path, max_bytes)
    tuples: dict[str, Parsed] = {}
    parsers: dict[str, str] = {}
    with enough_memory(source.name), no_collection():
        for number, text in enumerate(text_lines(source.text), start=1):
            if text.isspace():
                continue
            where = format_place(source.name, f"line {number}")
            line = _parse_line(text, source.name, number, where)
            caption = _add(tuples, line.caption, line.tuples, where)
            if line.parser:
                parsers[caption] = line.parser
    return TupleTable(source.name, tuples, parsers)


def _parse_line(text: str, source_name: str, number: int, where: str) -> _Line:
    """Parse a line of a file of tuples."""
    try:
        value = parse(text, source_name, number)
    except InputError as error:
        raise InputError("wrong-tuple-line", error.where) from None
    if not isinstance(value, dict) or not _REQUIRED_KEYS <= value.keys() <= _KEYS:
        raise InputError("wrong-tuple-line", where)
    caption = value["caption"]
    parser = value.get("parser", "")
    if not isinstance(caption, str) or not isinstance(parser, str):
        raise InputError("wrong-tuple-line", where)
    tuples = value["tuples"]
    check_tuples(tuples, where)
    return _Line(caption, tuples, parser)


def tuple_lines(parsed: Iterable[tuple[str, Parsed]], parser: str) -> Iterator[str]:
    """Yield the lines of a file of raw tuples.

    Examples
    --------
    >>> print(*tuple_lines([("a dog", [["dog"]])], "mine@1"), end="")
    {"caption": "a dog", "tuples": [["dog"]], "parser": "mine@1"}
    """
    for caption, tuples in parsed:
        line = {"caption": caption, "tuples": tuples, "parser": parser}
        yield json.dumps(line, ensure_ascii=False) + "\n"
