"""Parsers of captions, and parses that are cached.

Conventions
-----------
A parser turns a caption into an ordered list of raw tuples. Its ``identity`` names the
parser and its version. Parses are cached by the identity and the exact caption, in an
SQLite file in the user's cache folder, so that a second run parses nothing. A caption
without visible characters has no tuples, with any parser.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, TypeAlias

from semmetrics.core.hashing import UNVERSIONED, own_version, qualified_name
from semmetrics.data.source import no_collection
from semmetrics.errors import Fact, InputError
from semmetrics.messages import brief, did_you_mean, listing, pluralize, report_progress
from semmetrics.store.downloads import Progress
from semmetrics.store.files import cache_folder
from semmetrics.store.text_cache import Row, TextCache, as_json
from semmetrics.text.captions import check_count
from semmetrics.text.raw_tuples import Parsed, RawTuple, check_tuples
from semmetrics.text.tuple_tables import SAME_CAPTIONS, TupleTable

ANY_PARSER = "SPICE(parser=given) takes tuples of any parser"

Explain: TypeAlias = Callable[[str], tuple[str, str]]
"""Returns the place of a caption without tuples, and a remedy or an empty string."""

_MAX_CAPTIONS_PER_WRITE = 1024
_MAX_SECONDS_BETWEEN_WRITES = 1.0
_CACHE_TABLE: tuple[str, dict[str, str]] = ("parses", {"tuples": "BLOB"})
_PROBE_CAPTIONS = ("a small black dog runs on the beach", "two men in hats")


# ---- parsers -------------------------------------------------------------------------


class Parser(Protocol):
    """The interface of a parser of captions."""

    @property
    def identity(self) -> str:
        """The name of the parser, and its version."""
        ...

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Yield the raw tuples of each caption, or an error of this caption only."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class FunctionParser:
    """A parser from a function, which returns the raw tuples of each caption of a list.

    Attributes
    ----------
    function : callable
        Its attribute ``version``, a string, is its version. Without a version its
        parses are not cached in a file.

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
        """The function's name and version, and a hash of its parses of two captions.

        Without the hash, functions with the same name and version would share their
        cached parses.
        """
        name = qualified_name(self.function)
        version = own_version(self.function)
        prefix = f"{name}@{version}@"
        if version is None:
            prefix = f"{name}{UNVERSIONED}-"
        try:
            parses = json.dumps(list(self.parse(_PROBE_CAPTIONS)))
        except InputError:  # it may accept certain captions only
            return f"{prefix}untried"
        digest = hashlib.sha256(parses.encode()).hexdigest()[:12]
        return f"{prefix}{digest}"

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed | InputError]:
        """Yield the result of the function for each caption.

        Raises
        ------
        InputError
            If the function raises an error, or does not return a list of tuples for
            each caption.
        """
        what = f"the parser {qualified_name(self.function)}"
        try:
            parses = list(self.function(list(captions)))
        except Exception as error:
            raise InputError(
                "own-code-failed",
                what=what,
                kind=type(error).__name__,
                why=error,
                remedy="give a function that takes a list of captions and returns a list of raw "
                "tuples for each",
            ) from error
        check_count(what, parses, captions)
        for caption, tuples in zip(captions, parses, strict=True):
            check_tuples(tuples, f"{what}, caption {brief(caption)}")
            yield list(map(list, tuples))


# ---- cached parses -------------------------------------------------------------------


class CachingParser:
    """A parser whose parses are cached in memory, and in a file for later processes.

    Parameters
    ----------
    parser : Parser
    given : TupleTable or FunctionParser, optional
        Tuples from the user. Those of the same parser are used instead of parsing. A
        function is only mentioned in errors.
    file : path, optional
        The SQLite file. Without it parses are cached in memory only.
    progress : callable, optional
        Called with the number of parsed captions and of captions to parse.

    Attributes
    ----------
    identity : str
        The identity of the parser.
    n_given : int
        The number of captions whose tuples are from the user.
    file : path or None

    Examples
    --------
    >>> kept = CachingParser(FunctionParser(lambda captions: [[("dog",)] for _ in captions]))
    >>> kept.tuples(["a dog", " "])
    [[['dog']], []]
    """

    def __init__(
        self,
        parser: Parser,
        given: TupleTable | FunctionParser | None = None,
        file: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.identity = parser.identity
        self.file = file
        self._parser = parser
        self._progress = progress
        self._given = given
        self._tuples: dict[str, Parsed] = {}
        if isinstance(given, TupleTable):
            self._tuples = given.of_parser(self.identity)
        self.n_given = len(self._tuples)
        self._cache: TextCache | None = None
        # Path.exists raises an error if the folder may not be entered.
        if file is not None and os.path.exists(file):  # noqa: PTH110
            self._cache = TextCache(file, *_CACHE_TABLE)

    @property
    def trouble(self) -> Fact | None:
        """Why the file is not used, or that rows of it were damaged."""
        if self._cache is None:
            return None
        return self._cache.trouble

    def tuples(
        self, captions: Sequence[str], explain: Explain | None = None
    ) -> list[Parsed]:
        """Return the raw tuples of captions, which are parsed if they are not cached.

        Parameters
        ----------
        captions : sequence of str
        explain : callable, optional
            Returns the place of a caption without tuples, and a remedy for it or an
            empty string.

        Raises
        ------
        InputError
            If the parser fails on some captions. The message has their number and the
            first of them. The parses of the others are cached.
        """
        cache = self._tuples
        if not all(caption in cache for caption in captions):
            failed = self.parse(captions, explain)
            if failed:
                raise _failed_captions_error(failed, len(captions), explain)
        parses = []
        for caption in captions:
            is_blank = not caption.strip()
            parses.append([] if is_blank else cache[caption])
        return parses

    def parse(
        self, captions: Sequence[str], explain: Explain | None = None
    ) -> dict[str, InputError]:
        """Parse the captions that are not cached, and return errors by caption."""
        new_captions = self._uncached(captions)
        if self._cache is not None and new_captions:
            self._read_file(self._cache, new_captions)
            new_captions = self._uncached(new_captions)
        n_new = len(new_captions)
        failed: dict[str, InputError] = {}
        unwritten: dict[str, Parsed] = {}
        last_write = monotonic()
        try:
            answers = self._run_parser(new_captions, explain)
            answers_by_caption = zip(new_captions, answers, strict=False)
            for n_done, (caption, answer) in enumerate(answers_by_caption, 1):
                if isinstance(answer, InputError):
                    failed[caption] = answer
                else:
                    unwritten[caption] = answer
                is_full = len(unwritten) >= _MAX_CAPTIONS_PER_WRITE
                is_late = monotonic() >= last_write + _MAX_SECONDS_BETWEEN_WRITES
                if is_full or is_late or n_done == n_new:
                    self._add(unwritten)
                    unwritten = {}
                    last_write = monotonic()
                    report_progress(
                        self._progress, n_done, n_new, "parsing captions", "caption"
                    )
        finally:  # so that an interruption loses nothing
            self._add(unwritten)
        return failed

    def _uncached(self, captions: Sequence[str]) -> list[str]:
        """Return the distinct captions that are not cached, without empty ones."""
        uncached = []
        for caption in dict.fromkeys(captions):
            if caption not in self._tuples and caption.strip():
                uncached.append(caption)
        return uncached

    def _read_file(self, cache: TextCache, captions: Sequence[str]) -> None:
        """Read the parses of those captions that are in the file."""
        rows = cache.find(self.identity, captions)
        content = b"[" + b",".join(row[0] for row in rows.values()) + b"]"
        with no_collection():  # there are many small lists, and all remain
            parses = json.loads(content)
        self._tuples.update(zip(rows, parses, strict=True))

    def _add(self, parses: Mapping[str, Parsed]) -> None:
        """Cache parses in memory and in the file."""
        self._tuples.update(parses)
        if self.file is None or not parses:
            return
        if self._cache is None:
            self._cache = TextCache(self.file, *_CACHE_TABLE)
        rows: dict[str, Row] = {}
        for caption, tuples in parses.items():
            rows[caption] = (as_json(tuples),)
        self._cache.store(self.identity, rows)

    def _run_parser(
        self, captions: Sequence[str], explain: Explain | None
    ) -> Iterator[Parsed | InputError]:
        """Yield the answers of the parser.

        Raises
        ------
        InputError
            If it cannot parse. The message names the captions.
        """
        if not captions:
            return
        try:
            yield from self._parser.parse(captions)
        except InputError as error:
            specific_error = self._parser_error(error, captions, explain)
            if specific_error is None:
                raise
            raise specific_error from error

    def _parser_error(
        self, error: InputError, captions: Sequence[str], explain: Explain | None
    ) -> InputError | None:
        """Return a more specific error for a parser that cannot parse, or None."""
        place, remedy = _find_place_and_remedy(explain, captions[0])
        n_captions = pluralize(len(captions), "new caption")
        new_captions = f"{n_captions}, such as {brief(captions[0])}"
        if place:
            new_captions += f" of {place}"
        if isinstance(self._given, TupleTable):
            return self._missing_tuples_error(error, self._given, new_captions, remedy)
        if self._given is not None:
            return InputError("tuples-function", error=error, remedy=ANY_PARSER)
        if not self._tuples or type(error) is not InputError:
            return None
        where = new_captions
        if error.where:
            where = f"{error.where}, {new_captions}"
        return error.placed(where)

    def _missing_tuples_error(
        self, error: InputError, given: TupleTable, new_captions: str, remedy: str
    ) -> InputError:
        """Return the error for captions that are not among the user's tuples."""
        if self.n_given:
            reason = ""
            remedy = remedy or SAME_CAPTIONS
        else:
            remedy = ANY_PARSER
            parsers = listing(sorted(set(given.parsers.values())))
            reason = f", only tuples by {parsers}"
            if not parsers:
                reason = ", because the tuples do not name a parser"
        return InputError(
            "tuples-lack",
            given.name,
            identity=self.identity,
            error=error,
            new=new_captions,
            own=reason,
            remedy=remedy,
        )


def _failed_captions_error(
    failed: Mapping[str, InputError], n_captions: int, explain: Explain | None
) -> InputError:
    """Return the error for captions on which the parser failed."""
    first_caption, *_ = failed
    place, remedy = _find_place_and_remedy(explain, first_caption)
    where = f"caption {brief(first_caption)}"
    if place:
        where += f" of {place}"
    return InputError(
        "captions-fail",
        where,
        n=len(failed),
        total=n_captions,
        error=failed[first_caption],
        remedy=remedy or "leave them out. The parses of the others are stored",
    )


def _find_place_and_remedy(explain: Explain | None, caption: str) -> tuple[str, str]:
    """Return the place of a caption and a remedy, both empty if they are unknown."""
    if explain is None:
        return "", ""
    return explain(caption)


# ---- opening -------------------------------------------------------------------------


def _open_official(**limits: Any) -> Parser:
    from semmetrics.text.official_parser import OfficialParser

    return OfficialParser(**limits)


def _open_offline(**limits: Any) -> Parser:
    from semmetrics.text.offline_parser import OfflineParser

    return OfflineParser(**limits)


_OPENERS: dict[str, Callable[..., Parser]] = {
    "official": _open_official,
    "offline": _open_offline,
}
PARSERS = (*_OPENERS, "given")


def open_parser(
    name: str,
    given: TupleTable | FunctionParser | None = None,
    progress: Progress | None = None,
    **limits: Any,
) -> CachingParser:
    """Open a parser by its name in measures.

    Parameters
    ----------
    name : {"official", "offline", "given"}
    given : TupleTable or FunctionParser, optional
        The parser "given". For other parsers, tuples that they made are used instead of
        parsing.
    progress : callable, optional
        Called with the number of parsed captions and of captions to parse.
    **limits
        For the official parser: ``seconds`` per caption, ``processors`` and ``memory``.

    Raises
    ------
    InputError
        If no parser has the name, or it is "given" and ``given`` is None.
    """
    if name not in PARSERS:
        remedy = did_you_mean(str(name), PARSERS, f"choose one of {listing(PARSERS)}")
        raise InputError("unknown-name", what="parser", value=name, remedy=remedy)
    if name != "given":
        parser = _OPENERS[name](**limits)
        return CachingParser(parser, given, _cache_file(parser), progress)
    if given is None:
        raise InputError("needs-option", what="parser=given", name="tuples")
    if isinstance(given, TupleTable):
        return CachingParser(given, given, None, progress)
    return CachingParser(given, None, _cache_file(given), progress)


def _cache_file(parser: Parser) -> Path | None:
    """Return the file for the parses of a parser, or None if there must be none."""
    if UNVERSIONED in parser.identity:
        return None
    with suppress(InputError):  # the user has no folder
        return cache_folder() / "parses.sqlite"
    return None
