"""Raw tuples of captions in files, and as given from Python.

Conventions
-----------
A file has a line of JSON a caption: ``{"caption": "a dog", "tuples": [["dog"]], "parser":
"official@…"}``. "parser" is the identity of what parsed the caption, and may be
left out. Tuples stand in the order in which the parser gave them, which merging depends on. A
caption that stands in a file twice must have the same tuples. Blanks around a caption do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse
from semmetrics.data.source import enough_memory, load, no_collection
from semmetrics.errors import InputError, at
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, listing
from semmetrics.text.scene_graphs import RawTuple, check_tuples

__all__ = ["ANY_PARSER", "SAME_CAPTIONS", "Parsed", "TupleTable", "read_tuples", "tuple_lines"]

Parsed = list[list[str]]

_KEYS = frozenset(["caption", "tuples", "parser"])
_SIZE = 120  # bytes that a text takes in memory, beside its letters
SAME_CAPTIONS = "parse all captions, tokens or as written, as the measure's option captions is"
"""What to do about captions that have no tuples."""
ANY_PARSER = "SPICE(parser=given) takes tuples of any parser"
_REMEDY = "write it as 'semmetrics spice parse' does"


@dataclass(frozen=True, eq=False)
class TupleTable:
    """The raw tuples of captions.

    Attributes
    ----------
    name : str
        What messages call it.
    tuples : mapping from caption to raw tuples
    parsers : mapping from caption to str
        Who parsed it, where that is known.

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
    def of(given: Mapping[str, Sequence[RawTuple]], name: str = "tuples=") -> TupleTable:
        """Check tuples that are given by caption.

        Raises
        ------
        InputError
            If something is no list of tuples, or a caption stands there twice with different ones;
            names the caption.
        """
        plain: dict[str, Parsed] = {}
        for caption, tuples in given.items():
            if not isinstance(caption, str):
                raise InputError(
                    f"the caption {brief(caption)} is no text",
                    where=name,
                    remedy='give {"a small dog": [["dog"], ["dog", "small"]]}',
                )
            check_tuples(tuples, at(name, f"caption {brief(caption)}"))
            _add(plain, caption, [list(one) for one in tuples], name)
        return TupleTable(name, plain, {})

    @property
    def makers(self) -> str:
        """Say whose tuples they are, for messages."""
        names = listing(sorted(set(self.parsers.values())))
        return f"only by {names}" if names else "for its tuples name no parser"

    @cached_property
    def identity(self) -> str:
        """The parser, where it is one for all captions, and a hash of all captions and tuples."""
        hashed = hashlib.sha256()
        for caption in sorted(self.tuples):
            line = json.dumps([caption, self.tuples[caption]])
            hashed.update(line.encode() + b"\n")
        parsers = {self.parsers.get(caption, "") for caption in self.tuples}
        (name,) = parsers if len(parsers) == 1 else ("",)
        return f"{name or 'given'}@{hashed.hexdigest()[:12]}"

    def of_parser(self, identity: str) -> dict[str, Parsed]:
        """Return the tuples that a parser made."""
        return {c: self.tuples[c] for c, parser in self.parsers.items() if parser == identity}

    def parse(self, captions: Iterable[str]) -> Iterator[Parsed | InputError]:
        """Yield the tuples of captions, or an error where there are none."""
        for caption in captions:
            if caption in self.tuples:
                yield self.tuples[caption]
                continue
            yield InputError("there are no tuples of it", where=self.name, remedy=SAME_CAPTIONS)


def read_tuples(path: str | os.PathLike[str], max_bytes: int = DEFAULTS.max_bytes) -> TupleTable:
    """Read a file of raw tuples, JSON lines, perhaps with gzip.

    Raises
    ------
    InputError
        If the file cannot be read, a line is something else, or a caption stands there twice with
        different tuples; names the line.
    """
    source = load(path, max_bytes)
    tuples: dict[str, Parsed] = {}
    parsers: dict[str, str] = {}
    with enough_memory(source.name, max_bytes), no_collection():
        room = source.room()
        for number, text in enumerate(source.lines(), 1):
            if text.isspace():
                continue
            where = at(source.name, f"line {number}")
            room.take(len(text) + _SIZE * (text.count('"') // 2))
            caption, found, parser = _read_line(_parse(text, source.name, number), where)
            caption = _add(tuples, caption, found, where)
            if parser:
                parsers[caption] = parser
    return TupleTable(source.name, tuples, parsers)


def _parse(text: str, name: str, number: int) -> Any:
    try:
        return parse(text, name, number)
    except InputError as error:
        lines = "a file of tuples has one JSON object a line, as 'semmetrics spice parse' writes it"
        remedy = f"{error.remedy}; {lines}"
        raise InputError(error.problem, where=error.where, remedy=remedy) from None


def _add(tuples: dict[str, Parsed], caption: str, found: Parsed, where: str) -> str:
    """Add the tuples of a caption, once; return it without the blanks around it."""
    if tuples.setdefault(caption.strip(), found) != found:
        raise InputError(
            f"the caption {brief(caption)} stands twice, with different tuples",
            where=where,
            remedy="keep one of them",
        )
    return caption.strip()


def _read_line(value: Any, where: str) -> tuple[str, Parsed, str]:
    if not isinstance(value, dict) or not {"caption", "tuples"} <= value.keys():
        raise InputError('it is no {"caption": …, "tuples": …}', where=where, remedy=_REMEDY)
    if extra := value.keys() - _KEYS:
        raise InputError(
            f"the key {listing(sorted(extra))} means nothing", where=where, remedy=_REMEDY
        )
    caption, parser = value["caption"], value.get("parser", "")
    for text in (caption, parser):
        if not isinstance(text, str):
            raise InputError(f"{brief(text)} is no text", where=where, remedy=_REMEDY)
    check_tuples(value["tuples"], where)
    return caption, value["tuples"], parser


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
