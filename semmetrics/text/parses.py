"""Parses of captions: who makes them, and how each is made once and kept.

Conventions
-----------
A parser turns a caption into an ordered list of raw tuples. Its ``identity`` says which parser it
is, and in which version; parses are kept by it and by the exact caption, in a SQLite file of the
user's cache folder, so that a second run parses nothing. A blank caption has no tuples, whoever
parses.

A file of tuples has a line of JSON a caption: ``{"caption": "a dog", "tuples": [["dog"]], "parser":
"official@…"}``. "parser" is the identity of what parsed the caption, and may be left out. Tuples
are in the order in which the parser gave them, which merging depends on. A caption that appears
twice must have the same tuples. Blanks around a caption do not count.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any, Protocol

from semmetrics.core.hashing import UNVERSIONED, own_version, qualified_name
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse
from semmetrics.data.source import enough_memory, load, no_collection, text_lines
from semmetrics.errors import Fact, InputError, at
from semmetrics.messages import brief, did_you_mean, listing, pluralize, report_progress
from semmetrics.store.files import cache_folder
from semmetrics.store.text_cache import TextCache, as_json
from semmetrics.text.tokenizers import Parsed, RawTuple, check_count, check_tuples

_OPENERS = {
    "official": "java.OfficialParser",
    "offline": "offline_parser.OfflineParser",
}
PARSERS = (*_OPENERS, "given")
SAME_CAPTIONS = (
    "parse all captions, tokens or as written, as the measure's option captions is"
)
"""What to do about captions that have no tuples."""
ANY_PARSER = "SPICE(parser=given) takes tuples of any parser"
_BLOCK = 1024  # captions parsed between two writes,
_SECONDS = 1.0  # and the longest time between two
_TABLE: tuple[str, dict[str, str]] = ("parses", {"tuples": "BLOB"})
_KEYS = frozenset(["caption", "tuples", "parser"])
_PROBE = ("a small black dog runs on the beach", "two men in hats")


class Parser(Protocol):
    """What turns captions into raw tuples."""

    @property
    def identity(self) -> str:
        """Which parser it is, and in which version."""
        ...

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Yield the raw tuples of each caption, or an error of that caption alone."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class FunctionParser:
    """A parser made of a function from a list of captions to a list of raw tuples for each.

    Attributes
    ----------
    function : callable
        Its attribute ``version``, a text, says which version it is; without one its parses are not
        kept.

    Examples
    --------
    >>> def words(captions):
    ...     return [[(word,) for word in caption.split()] for caption in captions]
    >>> words.version = "1"
    >>> parser = FunctionParser(words)
    >>> parser.identity, list(parser.parse(["a dog"]))
    ('words@1@7b0deb69c70c', [[['a'], ['dog']]])
    """

    function: Callable[[list[str]], Sequence[Sequence[RawTuple]]]

    @cached_property
    def identity(self) -> str:
        """The function's name and version, and a hash of what it gives for two captions.

        Without the hash, functions of the same name and version would share their kept parses.
        """
        version, name = own_version(self.function), qualified_name(self.function)
        sign = f"{UNVERSIONED}-" if version is None else f"@{version}@"
        try:
            # other functions may give the same
            probed = json.dumps(list(self.parse(_PROBE)))
        except InputError:  # it may know its own captions alone
            return f"{name}{sign}untried"
        return f"{name}{sign}{hashlib.sha256(probed.encode()).hexdigest()[:12]}"

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Yield what the function gives.

        Raises
        ------
        InputError
            If the function fails, or gives something else than a list of tuples for each caption.
        """
        what = f"the parser {qualified_name(self.function)}"
        try:
            found = list(self.function(list(captions)))
        except Exception as error:
            remedy = "give a function from a list of captions to a list of raw tuples for each"
            values = {"kind": type(error).__name__, "why": error, "remedy": remedy}
            raise InputError("own-code-failed", what=what, **values) from error
        check_count(what, found, captions)
        for caption, tuples in zip(captions, found, strict=True):
            check_tuples(tuples, f"{what}, caption {brief(caption)}")
            yield [list(one) for one in tuples]


@dataclass(frozen=True, eq=False, repr=False)
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
    def of(
        given: Mapping[str, Sequence[RawTuple]], name: str = "tuples="
    ) -> TupleTable:
        """Check tuples that are given by caption.

        Raises
        ------
        InputError
            If something is not a list of tuples, or a caption appears twice with different ones;
            names the caption.
        """
        plain: dict[str, Parsed] = {}
        for caption, tuples in given.items():
            check_tuples(tuples, at(name, f"caption {brief(caption)}"))
            _add(plain, caption, [list(one) for one in tuples], name)
        return TupleTable(name, plain, {})

    @cached_property
    def identity(self) -> str:
        """The parser, where it is one for all captions, and a hash of all captions and tuples."""
        hashed = hashlib.sha256()
        for caption in sorted(self.tuples):
            hashed.update(json.dumps([caption, self.tuples[caption]]).encode() + b"\n")
        parsers = {self.parsers.get(caption, "") for caption in self.tuples}
        (name,) = parsers if len(parsers) == 1 else ("",)
        return f"{name or 'given'}@{hashed.hexdigest()[:12]}"

    def of_parser(self, identity: str) -> dict[str, Parsed]:
        """Return the tuples that a parser made."""
        return {
            c: self.tuples[c]
            for c, parser in self.parsers.items()
            if parser == identity
        }

    def parse(self, captions: Iterable[str]) -> Iterator[Parsed | InputError]:
        """Yield the tuples of captions, or an error if there are none."""
        for caption in captions:
            yield self.tuples.get(
                caption, InputError("no-tuples", self.name, remedy=SAME_CAPTIONS)
            )


def read_tuples(
    path: str | os.PathLike[str], max_bytes: int = DEFAULTS.max_bytes
) -> TupleTable:
    """Read a file of raw tuples, JSON lines, perhaps with gzip.

    Raises
    ------
    InputError
        If the file cannot be read, a line is something else, or a caption appears twice with
        different tuples; names the line.
    """
    source = load(path, max_bytes)
    tuples: dict[str, Parsed] = {}
    parsers: dict[str, str] = {}
    with enough_memory(source.name), no_collection():
        for number, text in enumerate(text_lines(source.text), 1):
            if text.isspace():
                continue
            where = at(source.name, f"line {number}")
            try:
                value = parse(text, source.name, number)
            except InputError as error:
                raise InputError("wrong-tuple-line", error.where) from None
            fits = (
                isinstance(value, dict)
                and {"caption", "tuples"} <= value.keys() <= _KEYS
            )
            if not fits or {type(value["caption"]), type(value.get("parser", ""))} != {
                str
            }:
                raise InputError("wrong-tuple-line", where)
            caption, found, parser = (
                value["caption"],
                value["tuples"],
                value.get("parser", ""),
            )
            check_tuples(found, where)
            caption = _add(tuples, caption, found, where)
            if parser:
                parsers[caption] = parser
    return TupleTable(source.name, tuples, parsers)


def _add(tuples: dict[str, Parsed], caption: str, found: Parsed, where: str) -> str:
    """Add the tuples of a caption, once; return it without the blanks around it."""
    if tuples.setdefault(caption.strip(), found) != found:
        raise InputError("conflicting-tuples", where, caption=caption)
    return caption.strip()


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


class KeptParser:
    """A parser whose parses are kept, for the process and for later ones.

    Parameters
    ----------
    parser : Parser
    given : TupleTable or FunctionParser, optional
        Tuples; those that the parser made take the place of its work. A function takes the place
        of none.
    file : path, optional
        The SQLite file; without one, parses are kept for the process alone.
    progress : callable, optional
        Called with captions parsed and captions to parse.

    Attributes
    ----------
    identity : str
        The parser's.
    n_given : int
        Captions whose tuples were given.
    file : path or None

    Examples
    --------
    >>> kept = KeptParser(FunctionParser(lambda captions: [[("dog",)] for _ in captions]))
    >>> kept.tuples(["a dog", " "])
    [[['dog']], []]
    """

    def __init__(
        self,
        parser: Parser,
        given: TupleTable | FunctionParser | None = None,
        file: Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.identity = parser.identity
        self._parser, self._progress, self._given = parser, progress, given
        known = given.of_parser(self.identity) if isinstance(given, TupleTable) else {}
        self._known: dict[str, Parsed] = known
        self.n_given = len(self._known)
        self.file, self._cache = file, None
        if file is not None and os.path.exists(file):  # noqa: PTH110, no error
            self._cache = TextCache(file, *_TABLE)

    @property
    def trouble(self) -> Fact | None:
        """Why the file is not used, or that rows in it were damaged."""
        return None if self._cache is None else self._cache.trouble

    def tuples(
        self,
        captions: Sequence[str],
        explain: Callable[[str], tuple[str, str]] | None = None,
    ) -> list[Parsed]:
        """Return the raw tuples of captions; parse those that are not kept.

        Parameters
        ----------
        captions : sequence of str
        explain : callable, optional
            From a caption without tuples to its place, and to a remedy of its own or "".

        Raises
        ------
        InputError
            If the parser fails on some captions: on how many, and the first. The parses of the
            others are kept.
        """
        known = self._known
        if not all(caption in known for caption in captions):
            failed = self.parse(captions, explain)
            if failed:
                caption, first = next(iter(failed.items()))
                place, remedy = ("", "") if explain is None else explain(caption)
                where = f"caption {brief(caption)}" + (f" of {place}" if place else "")
                remedy = remedy or "leave them out; the parses of the others are kept"
                counts = {"n": len(failed), "total": len(captions)}
                raise InputError(
                    "captions-fail", where, **counts, error=first, remedy=remedy
                )
        return [known[caption] if caption.strip() else [] for caption in captions]

    def parse(
        self,
        captions: Sequence[str],
        explain: Callable[[str], tuple[str, str]] | None = None,
    ) -> dict[str, InputError]:
        """Parse the captions that are not kept; return those on which the parser fails."""
        new = self._new(captions)
        if self._cache is not None and new:
            rows = self._cache.find(self.identity, new)
            with no_collection():  # of many small lists that all stay
                kept = json.loads(
                    b"[" + b",".join(row[0] for row in rows.values()) + b"]"
                )
            self._known.update(zip(rows, kept, strict=True))
            new = self._new(new)
        failed: dict[str, InputError] = {}
        block: dict[str, Parsed] = {}
        written = monotonic()
        try:
            answers = self._answers(new, explain)
            for done, (caption, answer) in enumerate(
                zip(new, answers, strict=False), 1
            ):
                if isinstance(answer, InputError):
                    failed[caption] = answer
                else:
                    block[caption] = answer
                if (
                    len(block) < _BLOCK
                    and monotonic() < written + _SECONDS
                    and done < len(new)
                ):
                    continue
                self._keep(block)
                block, written = {}, monotonic()
                report_progress(
                    self._progress, done, len(new), "parsing captions", "caption"
                )
        finally:  # an interruption loses nothing
            self._keep(block)
        return failed

    def _answers(
        self, captions: Sequence[str], explain: Callable[[str], tuple[str, str]] | None
    ) -> Iterator[Parsed | InputError]:
        """Let the parser parse; if it cannot, name what it was to parse."""
        try:
            yield from self._parser.parse(captions) if captions else ()
        except InputError as error:
            place, form = ("", "") if explain is None else explain(captions[0])
            new = f"{pluralize(len(captions), 'new caption')}, such as {brief(captions[0])}"
            new += f" of {place}" if place else ""
            if isinstance(self._given, TupleTable):
                values = {"identity": self.identity, "error": error, "new": new}
                names = listing(sorted(set(self._given.parsers.values())))
                own = (
                    f", only by {names}" if names else ", for its tuples name no parser"
                )
                values["own"] = "" if self.n_given else own
                values["remedy"] = (
                    (form or SAME_CAPTIONS) if self.n_given else ANY_PARSER
                )
                raise InputError("tuples-lack", self._given.name, **values) from error
            if self._given is not None:
                raise InputError(
                    "tuples-function", error=error, remedy=ANY_PARSER
                ) from error
            if not self._known or type(error) is not InputError:
                raise
            raise error.placed(
                f"{error.where}{', ' if error.where else ''}{new}"
            ) from error

    def _new(self, captions: Sequence[str]) -> list[str]:
        return [
            one
            for one in dict.fromkeys(captions)
            if one not in self._known and one.strip()
        ]

    def _keep(self, parses: Mapping[str, Parsed]) -> None:
        self._known.update(parses)
        if self.file is not None and parses:
            self._cache = self._cache or TextCache(self.file, *_TABLE)
            rows = {text: (as_json(tuples),) for text, tuples in parses.items()}
            self._cache.keep(self.identity, rows)


def open_parser(
    name: str,
    given: Any = None,
    progress: Callable[[int, int], None] | None = None,
    **limits: Any,
) -> KeptParser:
    """Open a parser by its name in measures.

    Parameters
    ----------
    name : {"official", "offline", "given"}
    given : TupleTable or FunctionParser, optional
        What "given" is. Tuples that the parser made take the place of its work for others, too.
    progress : callable, optional
    **limits
        Of the official parser: ``seconds`` a caption, ``processors`` and ``memory``.

    Raises
    ------
    InputError
        If there is no such parser, or "given" is not given.
    """
    if name not in PARSERS:
        remedy = did_you_mean(str(name), PARSERS, f"choose one of {listing(PARSERS)}")
        raise InputError("unknown-name", what="parser", value=name, remedy=remedy)
    if name == "given" and given is None:
        raise InputError("needs-option", what="parser=given", name="tuples")
    opener = (
        None if name == "given" else resolve_name(f"semmetrics.text.{_OPENERS[name]}")
    )
    parser: Parser = opener(**limits) if opener else given
    beside = None if parser is given and isinstance(given, FunctionParser) else given
    file = None
    if not isinstance(parser, TupleTable) and UNVERSIONED not in parser.identity:
        with suppress(InputError):  # a user without a folder: every run parses
            file = cache_folder() / "parses.sqlite"
    return KeptParser(parser, beside, file, progress)
