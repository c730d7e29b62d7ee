"""Parses of captions: who makes them, and how each is made once and kept.

Conventions
-----------
A parser turns a caption into an ordered list of raw tuples. Its ``identity`` says which parser it
is, and in which version; parses are kept by it and by the exact caption, in a SQLite file of the
user's cache folder (`semmetrics.store`), so that a second run parses nothing. A caption without
anything but blanks has no tuples, whoever parses.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from semmetrics.core.hashing import UNVERSIONED, own_version
from semmetrics.data.source import no_collection
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, did_you_mean, listing, pluralize
from semmetrics.store import cache_folder
from semmetrics.store.cache import TextCache, as_json
from semmetrics.text.scene_graphs import RawTuple, check_tuples
from semmetrics.text.tuple_files import ANY_PARSER, SAME_CAPTIONS, Parsed, TupleTable

__all__ = ["PARSERS", "FunctionParser", "KeptParser", "Parser", "open_parser"]

PARSERS = ("official", "offline", "given")
_BLOCK = 1024  # captions parsed between two writes,
_SECONDS = 1.0  # and the longest time between two
_TABLE: tuple[str, dict[str, str]] = ("parses", {"tuples": "BLOB"})
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


@dataclass(frozen=True, eq=False)
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

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    @cached_property
    def identity(self) -> str:
        """The function's name and version, and a hash of what it gives for two captions.

        Without the hash, functions of the same name and version would share their kept parses.
        """
        version = own_version(self.function)
        sign = f"{UNVERSIONED}-" if version is None else f"@{version}@"
        try:
            probed = json.dumps(list(self.parse(_PROBE)))  # other functions may give the same
        except InputError:  # it may know its own captions alone; what is wrong is said of them
            return f"{self._name}{sign}untried"
        return f"{self._name}{sign}{hashlib.sha256(probed.encode()).hexdigest()[:12]}"

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Yield what the function gives.

        Raises
        ------
        InputError
            If the function fails, or gives something else than a list of tuples for each caption.
        """
        try:
            found = list(self.function(list(captions)))
        except Exception as error:
            raise InputError(
                f"the parser {self._name} fails: {type(error).__name__}: {error}",
                remedy="give a function from a list of captions to a list of raw tuples for each",
            ) from error
        if len(found) != len(captions):
            raise InputError(
                f"the parser {self._name} gives {pluralize(len(found), 'list')} for "
                f"{pluralize(len(captions), 'caption')}",
                remedy="give a list of raw tuples for each caption",
            )
        for caption, tuples in zip(captions, found, strict=True):
            check_tuples(tuples, f"the parser {self._name}, caption {brief(caption)}")
            yield [list(one) for one in tuples]


class KeptParser:
    """A parser whose parses are kept, for the process and for later ones.

    Parameters
    ----------
    parser : Parser
    given : TupleTable or FunctionParser, optional
        Tuples, of which those that the parser made take the place of its work. A function takes
        the place of none, and errors say so.
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
        self._parser, self._progress = parser, progress
        self._given = given
        table = given if isinstance(given, TupleTable) else None
        self._known: dict[str, Parsed] = {} if table is None else table.of_parser(self.identity)
        self.n_given = len(self._known)
        self.file, self._cache = file, None if file is None else _find_cache(file)

    @property
    def trouble(self) -> str:
        """Why the file is not used, and what to do; "" where all is well."""
        return "" if self._cache is None else self._cache.trouble

    def tuples(
        self, captions: Sequence[str], explain: Callable[[str], tuple[str, str]] | None = None
    ) -> list[Parsed]:
        """Return the raw tuples of captions; parse those that are not kept.

        Parameters
        ----------
        captions : sequence of str
        explain : callable, optional
            From a caption without tuples to where it stands, and to a remedy of its own or "".

        Raises
        ------
        InputError
            If the captions are no list, or the parser fails on some; says on how many, and the
            first. The parses of the others are kept.
        """
        if isinstance(captions, str):
            raise InputError("the captions are one text", remedy="give a list of captions")
        known = self._known
        if not all(caption in known for caption in captions):
            failed = self.parse(captions, explain)
            if failed:
                raise _failure(failed, len(captions), explain)
        return [[] if _is_blank(caption) else known[caption] for caption in captions]

    def parse(
        self, captions: Sequence[str], explain: Callable[[str], tuple[str, str]] | None = None
    ) -> dict[str, InputError]:
        """Parse the captions that are not kept; return those on which the parser fails."""
        self._recall(self._new(captions))
        new = self._new(captions)
        failed: dict[str, InputError] = {}
        block: dict[str, Parsed] = {}
        written = monotonic()
        try:
            answers = self._answers(new, explain)
            for done, (caption, answer) in enumerate(zip(new, answers, strict=False), 1):
                if isinstance(answer, InputError):
                    failed[caption] = answer
                else:
                    block[caption] = answer
                if len(block) < _BLOCK and monotonic() < written + _SECONDS and done < len(new):
                    continue
                self._keep(block)
                block, written = {}, monotonic()
                if self._progress is not None:
                    self._progress(done, len(new))
        finally:  # an interruption loses nothing
            self._keep(block)
        return failed

    def _answers(
        self, captions: Sequence[str], explain: Callable[[str], tuple[str, str]] | None
    ) -> Iterator[Parsed | InputError]:
        """Let the parser parse; where it cannot, say that the given tuples lack captions."""
        try:
            yield from self._parser.parse(captions) if captions else ()
        except InputError as error:
            place, form = ("", "") if explain is None else explain(captions[0])
            if self._given is not None:
                raise self._lacking(captions, error, form or SAME_CAPTIONS) from error
            if not self._known or type(error) is not InputError:
                raise
            what = f"{pluralize(len(captions), 'new caption')}, such as {brief(captions[0])}"
            problem = f"{error.problem} (to parse {what}{f' of {place}' if place else ''})"
            raise InputError(problem, where=error.where, remedy=error.remedy) from error

    def _lacking(self, captions: Sequence[str], error: InputError, form: str) -> InputError:
        """Return the error of captions that are not given, and cannot be parsed either."""
        where, problem = "", "tuples= is a function, which is no parser that the measure names"
        if isinstance(self._given, TupleTable):
            where = self._given.name
            own = "" if self.n_given else f", {self._given.makers}"
            problem = (
                f"it has no tuples by {self.identity} of {pluralize(len(captions), 'caption')}, "
                f"such as {brief(captions[0])}{own}"
            )
        return InputError(
            f"{problem}, and {error.problem}",
            where=where,
            remedy=(form if self.n_given else ANY_PARSER)
            + (f"; or {error.remedy}" if error.remedy else ""),
        )

    def _new(self, captions: Sequence[str]) -> list[str]:
        some = dict.fromkeys(captions)
        return [one for one in some if one not in self._known and not _is_blank(one)]

    def _recall(self, captions: Sequence[str]) -> None:
        """Read what is kept in the file."""
        if self._cache is not None and captions:
            rows = self._cache.find(self.identity, captions)
            with no_collection():  # of many small lists that all stay
                found = json.loads(b"[" + b",".join(row[0] for row in rows.values()) + b"]")
            self._known.update(zip(rows, found, strict=True))

    def _keep(self, parses: Mapping[str, Parsed]) -> None:
        self._known.update(parses)
        if self.file is not None and parses:
            self._cache = self._cache or TextCache(self.file, *_TABLE)
            rows = {text: (as_json(tuples),) for text, tuples in parses.items()}
            self._cache.keep(self.identity, rows)


def _is_blank(caption: str) -> bool:
    return not caption or caption.isspace()


def _find_cache(file: Path) -> TextCache | None:
    """Open the file of parses, if there is one."""
    return TextCache(file, *_TABLE) if os.path.exists(file) else None  # noqa: PTH110, no error


def _failure(
    failed: Mapping[str, InputError],
    number: int,
    explain: Callable[[str], tuple[str, str]] | None,
) -> InputError:
    """Return the error of captions without tuples, with the remedy of the first."""
    caption, first = next(iter(failed.items()))
    place, remedy = ("", "") if explain is None else explain(caption)
    where = f"{first.where}, " if first.where else ""
    where += f"caption {brief(caption)}" + (f" of {place}" if place else "")
    more = f" and {len(failed) - 1} more of {number}" if len(failed) > 1 else ""
    otherwise = first.remedy or "leave such captions out; the parses of the others are kept"
    return InputError(first.problem, where=where + more, remedy=remedy or otherwise)


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
        raise InputError(
            f"there is no parser {brief(name)}",
            remedy=did_you_mean(str(name), PARSERS, f"there are {listing(PARSERS)}"),
        )
    if name == "given" and given is None:
        raise InputError(
            "parser=given needs tuples",
            remedy="give them as tuples= (--tuples FILE), or choose another parser",
        )
    parser: Parser = given if name == "given" else _open(name, limits)
    beside = None if parser is given and isinstance(given, FunctionParser) else given
    lasting = not isinstance(parser, TupleTable) and UNVERSIONED not in parser.identity
    return KeptParser(parser, beside, _file() if lasting else None, progress)


def _open(name: str, limits: Mapping[str, Any]) -> Parser:
    if name == "offline":
        from semmetrics.text.offline_parser import OfflineParser

        return OfflineParser()
    from semmetrics.text.official_parser import OfficialParser

    return OfficialParser(**limits)


def _file() -> Path | None:
    try:
        return cache_folder() / "parses.sqlite"
    except InputError:  # a user without a folder: every run parses
        return None
