"""Errors and notes with a place, a problem and a fix.

Conventions
-----------
Lines of a file begin with 1 in messages. Items without ids, rows and columns of arrays, and
elements of lists begin with 0, as in Python. The message then adds "(from 0)", or writes an index
in brackets. All numbers of one place follow the same rule.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import FrameType
from typing import Any, Protocol

from semmetrics.messages import (
    Spelling,
    find_message,
    pluralize,
    shown,
    visible,
    write,
    write_message,
    write_remedy,
)


class InputError(ValueError):
    """An error in the input, an option or a measure. The message has the place and the fix.

    Parameters
    ----------
    code : str
        The key of the message in `semmetrics.messages.catalog`.
    where : str, optional
        File, line or key, and id.
    **values
        Values of the fields of the message.

    Examples
    --------
    >>> raise InputError("duplicate-id", "gt.json", value="7")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the id '7' appears twice. Keep one record per id.
    """

    def __init__(self, code: str, where: object = "", **values: Any) -> None:
        super().__init__(code)
        self.code = code
        self.where = str(where)
        self.values = values

    def __reduce__(self) -> tuple[object, ...]:
        """Keep all parts when the error is sent to another process."""
        return partial(type(self), self.code, self.where, **self.values), ()

    @property
    def problem(self) -> str:
        """What is wrong, without the place and the remedy."""
        return write(find_message(self.code).problem, self.values)

    @property
    def remedy(self) -> str:
        """How to fix the problem, as one or more sentences."""
        return write_remedy(find_message(self.code), self.values)

    def placed(self, where: object) -> InputError:
        """Return the same error with a place, which only the caller knows."""
        return type(self)(self.code, where, **self.values)

    def text(self, spell: Spelling | None = None) -> str:
        """Return the message, with options written by `spell`, such as flags of the command line."""
        message = write_message(find_message(self.code), self.values, spell)
        if not self.where:
            return message
        return f"{visible(self.where)}: {message}"

    def __str__(self) -> str:
        return self.text()


class InputWarning(UserWarning):
    """A warning that the input probably does not fit the options. Values are computed anyway.

    The command line prints a note instead of the warning.

    Examples
    --------
    >>> import semmetrics, warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     logits = {"a.jpg": {"cat": 4.2, "dog": -1.5}}
    ...     table = semmetrics.score(logits, {"a.jpg": ["cat"]}, threshold=0.5)
    >>> found[0].category is semmetrics.InputWarning
    True
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def warn_user(fact: Fact) -> None:
    """Show a fact as an `InputWarning` at the line of the caller outside of this package."""
    package = __name__.partition(".")[0]
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and _package_of(frame) == package:
        frame = frame.f_back
        level += 1
    warnings.warn(fact.text(), InputWarning, stacklevel=level)


class UnknownKeyError(InputError, KeyError):
    """A key is not in a collection. It is an InputError and a KeyError.

    Examples
    --------
    >>> raise UnknownKeyError("unknown-name", what="measure", value="F2", remedy="did you mean F1?")
    Traceback (most recent call last):
    semmetrics.errors.UnknownKeyError: unknown measure 'F2'. Did you mean F1?
    """

    # KeyError would put the message into quotes.
    __str__ = InputError.__str__


class MissingDependencyError(InputError, ImportError):
    """An optional package is missing or broken. The message has the command that installs it.

    Examples
    --------
    >>> raise MissingDependencyError("gensim", "reading word vectors", extra="word2vec")
    Traceback (most recent call last):
    semmetrics.errors.MissingDependencyError: reading word vectors needs the package gensim. Run
    `pip install gensim` or `pip install 'semmetrics[word2vec]'`.
    """

    def __init__(
        self,
        package: str,
        purpose: str,
        *,
        extra: str,
        error: ImportError | None = None,
    ) -> None:
        self.package = package
        self.purpose = purpose
        self.extra = extra
        self.error = error
        code = "broken-package" if self._is_broken() else "missing-package"
        InputError.__init__(
            self, code, package=package, purpose=purpose, extra=extra, why=error
        )

    def _is_broken(self) -> bool:
        """Return whether the package is installed and cannot be imported."""
        if self.error is None:
            return False
        if not isinstance(self.error, ModuleNotFoundError):
            return True
        module = self.package.replace("-", "_")
        missing_module = self.error.name or module
        return missing_module.partition(".")[0] != module

    def __reduce__(self) -> tuple[object, ...]:
        """Keep all parts when the error is sent to another process."""
        create = partial(
            type(self), self.package, self.purpose, extra=self.extra, error=self.error
        )
        return create, ()


def message_of_error(call: Callable[[], object]) -> str:
    """Return the message of the InputError that a call raises, or an empty string."""
    try:
        call()
    except InputError as error:
        return str(error)
    return ""


def require(module: str, purpose: str, *, extra: str) -> Any:
    """Import an optional package, or a module of it.

    Raises
    ------
    MissingDependencyError
        If it is missing or broken.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise MissingDependencyError(
            package, purpose, extra=extra, error=error
        ) from error


@dataclass(frozen=True)
class Fact:
    """A note to the user, which is not an error.

    Attributes
    ----------
    code : str
        The key of the message in `semmetrics.messages.catalog`.
    n : int
        The number of cases. It is added up over parts of the data.
    examples : tuple of str
        Some of the cases.
    where : str
        The file, or the system and part of the data.
    values : mapping
        Values of the other fields of the message. Integers are counts, which are added up over
        parts of the data. Facts that differ in other values are different facts.

    Examples
    --------
    >>> print(Fact("unused-columns", 2, ("note", "date"), "gt.csv"))
    gt.csv: 2 columns not used: 'note', 'date'
    """

    code: str
    n: int = 0
    examples: tuple[str, ...] = ()
    where: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Fact) -> Fact:
        """Return the fact of two parts of the data, with added counts."""
        examples = tuple(dict.fromkeys(self.examples + other.examples))
        values = dict(self.values)
        for name, value in self.values.items():
            if _is_count(value):
                values[name] = value + other.values.get(name, 0)
        return replace(
            self, n=self.n + other.n, examples=examples[:MAX_EXAMPLES], values=values
        )

    def __hash__(self) -> int:
        return hash((self.code, self.n, self.examples, self.where))

    @property
    def kind(self) -> tuple[Any, ...]:
        """A key that is equal for facts that differ only in place, counts and examples."""
        key: list[Any] = [self.code]
        for name, value in self.values.items():
            if not _is_count(value):
                key.append((name, repr(value)))
        return tuple(key)

    def text(self, spell: Spelling | None = None, **changed: Any) -> str:
        """Return the text.

        Parameters
        ----------
        spell : callable, optional
            How options are written, such as flags of the command line.
        **changed
            Values that replace the values of the fact.
        """
        values = {"n": self.n, "examples": self.examples, **self.values, **changed}
        where = values.pop("where", self.where)
        return InputError(self.code, where, **values).text(spell)

    def __str__(self) -> str:
        return self.text()


def _is_count(value: object) -> bool:
    # A bool is not a count.
    return type(value) is int


# Facts on names that usually occur in all parts of the data, so their counts are not added.
_CODES_OF_SHARED_NAMES = (
    "odd-columns",
    "shared-terms",
    "unused-columns",
    "unused-embeddings",
    "unused-entry-keys",
    "unused-options",
)


def unite(facts: Iterable[Fact]) -> list[Fact]:
    """Combine facts about parts of the data into facts about all data.

    Counts are added. For counts of distinct names, the largest count of a part is used.

    Examples
    --------
    >>> print(*unite([Fact("unused-columns", 1, ("a",), "gt.csv")] * 2))
    gt.csv: 1 column not used: 'a'
    """
    united: dict[Any, Fact] = {}
    for fact in facts:
        key = fact.where, fact.kind
        if key not in united:
            united[key] = fact
        elif _counts_distinct_names(fact):
            united[key] = max(united[key], fact, key=attrgetter("n"))
        else:
            united[key] += fact
    return list(united.values())


def _counts_distinct_names(fact: Fact) -> bool:
    if fact.code in _CODES_OF_SHARED_NAMES:
        return True
    return str(fact.values.get("noun")).startswith("distinct")


def first_of_each(facts: Iterable[Fact]) -> list[Fact]:
    """Return the first of all facts that have the same place and kind."""
    first: dict[Any, Fact] = {}
    for fact in facts:
        first.setdefault((fact.where, *fact.kind), fact)
    return list(first.values())


_MAX_LINES_OF_A_KIND = 3  # More systems with the same kind of fact share a line.


def render_facts(
    facts: Iterable[Fact], systems: Collection[str] = (), spell: Spelling | None = None
) -> list[str]:
    """Write facts, one line each. The same kind of fact of more than three systems is one line.

    Parameters
    ----------
    facts : iterable of Fact
    systems : collection of str
        The names of systems, as in ``Fact.where``.
    spell : callable, optional
        How options are written.

    Examples
    --------
    >>> facts = [Fact("unused-columns", n, (), name) for n, name in enumerate("abcd", 2)]
    >>> render_facts(facts, "abcd")
    ['all 4 systems: 2 to 5 columns not used: ']
    >>> render_facts(facts[:1], "abcd")
    ['a: 2 columns not used: ']
    """
    facts = list(facts)
    systems = frozenset(systems)
    groups: dict[Any, list[Fact]] = {}
    for fact in facts:
        if fact.where in systems:
            groups.setdefault(fact.kind, []).append(fact)
    lines = []
    for fact in facts:
        group = groups.get(fact.kind, [])
        if fact.where not in systems or len(group) <= _MAX_LINES_OF_A_KIND:
            lines.append(fact.text(spell))
        elif fact is group[0]:
            lines.append(_text_of_group(group, len(systems), spell))
    return lines


def _text_of_group(
    group: Sequence[Fact], n_systems: int, spell: Spelling | None
) -> str:
    """Write the facts of several systems as one line, with the ranges of their counts."""
    first = group[0]
    ranges: dict[str, Any] = {"n": _range_of([fact.n for fact in group])}
    for name, value in first.values.items():
        if _is_count(value):
            ranges[name] = _range_of([fact.values[name] for fact in group])
    examples: dict[str, None] = {}
    for fact in group:
        examples.update(dict.fromkeys(fact.examples))
    where = _name_systems([fact.where for fact in group], n_systems)
    return first.text(
        spell, where=where, examples=tuple(examples)[:MAX_EXAMPLES], **ranges
    )


def _name_systems(names: Sequence[str], n_systems: int) -> str:
    if len(names) == n_systems:
        return f"all {pluralize(n_systems, 'system')}"
    first_names = ", ".join(names[:_MAX_LINES_OF_A_KIND])
    return f"{first_names} and {len(names) - _MAX_LINES_OF_A_KIND} more"


def _range_of(counts: Sequence[int]) -> Any:
    """Return the smallest and the largest count, or the only one."""
    smallest = min(counts)
    largest = max(counts)
    return smallest if smallest == largest else (smallest, largest)


def format_place(name: str, place: str = "", id_: str | None = None) -> str:
    """Write a place for a message.

    Examples
    --------
    >>> format_place("gt.csv", "line 7", "a")
    "gt.csv, line 7, id 'a'"
    """
    parts = [name, place, "" if id_ is None else f"id {shown(id_)}"]
    return ", ".join(part for part in parts if part)


def reason_of(error: Exception) -> str:
    """Return the reason of an error of the operating system, without the path that it repeats.

    Examples
    --------
    >>> reason_of(FileNotFoundError(2, "No such file or directory", "gt.json"))
    'No such file or directory'
    >>> reason_of(ValueError("embedded null byte")), reason_of(OSError())
    ('embedded null byte', 'OSError')
    """
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def place_in(error: BaseException, file: str) -> str:
    """Return the line of a Python file in which an error was raised, or only the file.

    Parameters
    ----------
    error : exception
    file : str
        The name of the file in tracebacks.
    """
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return file if line is None else f"{file}, line {line}"


MAX_EXAMPLES = 5
"""The largest number of examples of a fact."""
FROM_0 = " (from 0)"
ITEM = f"item {{}}{FROM_0}"
ROW = f"row {{}}{FROM_0}"


class Indexable(Protocol):
    """A sequence or an array."""

    def __getitem__(self, index: int, /) -> Any:
        """Return the element at an index."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the elements."""


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """The places of items, for `Lists.where`. They are written only if they are needed.

    Attributes
    ----------
    name : str
        The file or the argument.
    ids : sequence of str, or None
    place_format : str
        How the number of an item is written, such as "line {}". "" if only ids are written.
    numbers : sequence of int
        The number of each item, such as its line.

    Examples
    --------
    >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7])(1)
    "gt.csv, line 7, id 'b'"
    >>> Places("gts", None, ITEM, range(2))(1)
    'gts, item 1 (from 0)'
    """

    name: str
    ids: Indexable | None
    place_format: str = ""
    numbers: Indexable = ()

    def __call__(self, position: int) -> str:
        """Write the place of the item at a position."""
        place = (
            self.place_format.format(self.numbers[position])
            if self.place_format
            else ""
        )
        return format_place(
            self.name, place, None if self.ids is None else self.ids[position]
        )

    def entry(self, position: int, noun: str, number: int) -> str:
        """Write the place of an entry of an item. ``number`` begins with 0.

        Examples
        --------
        >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7]).entry(1, "label", 0)
        "gt.csv, line 7, id 'b', label 1"
        >>> Places("gts", None, ITEM, range(2)).entry(1, "label", 0)
        'gts, item 1, label 0 (from 0)'
        """
        # All numbers of one place begin with the same number.
        items_begin_with_0 = self.place_format.endswith((FROM_0, "[{}]"))
        if not items_begin_with_0:
            return f"{self(position)}, {noun} {number + 1}"
        plain = replace(self, place_format=self.place_format.removesuffix(FROM_0))
        return f"{plain(position)}, {noun} {number}{FROM_0}"
