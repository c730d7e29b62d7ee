"""Errors that a user can act on: each says where, what is wrong, and what to do.

Conventions
-----------
Positions in messages count from 1, as lines of a file do. What Python counts from 0 (items without
ids, rows and columns of arrays, elements of lists) is counted so in messages, too, which then say
"(from 0)", or write an index in brackets. All numbers of one place count alike.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from operator import attrgetter
from types import FrameType
from typing import Any

from semmetrics.messages import MESSAGES, Spelling, pluralize, shown, visible, write


class InputError(ValueError):
    """The input, an option or a measure is wrong; the message says where, and what to do.

    Parameters
    ----------
    code : str
        What is wrong: a key of `semmetrics.messages.MESSAGES`.
    where : str, optional
        File, line or key, and id.
    **values
        What the message shows.

    Examples
    --------
    >>> raise InputError("duplicate-id", "gt.json", value="7")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the id '7' appears twice; keep one record for each id
    """

    def __init__(self, code: str, where: object = "", **values: Any) -> None:
        super().__init__(code)
        self.code, self.where, self.values = code, str(where), values

    def __reduce__(self) -> tuple[object, ...]:
        """Keep all parts when the error crosses a process."""
        return partial(type(self), self.code, self.where, **self.values), ()

    @property
    def problem(self) -> str:
        """What is wrong."""
        return write(MESSAGES[self.code].partition("; ")[0], self.values)

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return write(MESSAGES[self.code].partition("; ")[2], self.values)

    def placed(self, where: object) -> InputError:
        """Return the same error at a place that only its caller knows."""
        return type(self)(self.code, where, **self.values)

    def text(self, spell: Spelling | None = None) -> str:
        """Return the message, with options as the caller writes them."""
        place = f"{visible(self.where)}: " if self.where else ""
        return place + write(MESSAGES[self.code], self.values, spell).removesuffix("; ")

    def __str__(self) -> str:
        return self.text()


class InputWarning(UserWarning):
    """The input is probably not what the options say; the values are computed all the same.

    The command line shows a note in place of the warning.

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
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package_of(frame) == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(fact.text(), InputWarning, stacklevel=level)


class UnknownKeyError(InputError, KeyError):
    """A collection has nothing under a key; both an InputError and a KeyError.

    Examples
    --------
    >>> raise UnknownKeyError("unknown-name", what="measure", value="F2", remedy="did you mean F1?")
    Traceback (most recent call last):
    semmetrics.errors.UnknownKeyError: there is no measure 'F2'; did you mean F1?
    """

    __str__ = InputError.__str__  # that of KeyError would put the message into quotes


class MissingDependencyError(InputError, ImportError):
    """An optional package is needed, and not installed or broken; the message has the command.

    Examples
    --------
    >>> raise MissingDependencyError("gensim", "reading word vectors", extra="word2vec")
    Traceback (most recent call last):
    semmetrics.errors.MissingDependencyError: reading word vectors needs the package gensim;
    run: pip install gensim, or pip install 'semmetrics[word2vec]'
    """

    def __init__(
        self,
        package: str,
        purpose: str,
        *,
        extra: str,
        error: ImportError | None = None,
    ) -> None:
        self.package, self.purpose, self.extra, self.error = (
            package,
            purpose,
            extra,
            error,
        )
        module = package.replace("-", "_")
        lacks = error.name or module if isinstance(error, ModuleNotFoundError) else ""
        broken = error is not None and lacks.partition(".")[0] != module
        code = "broken-package" if broken else "missing-package"
        InputError.__init__(
            self, code, package=package, purpose=purpose, extra=extra, why=error
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Keep all parts when the error crosses a process."""
        again = partial(
            type(self), self.package, self.purpose, extra=self.extra, error=self.error
        )
        return again, ()


def why_not(find: Callable[[], object]) -> str:
    """Return the message of the error that a call ends with, or nothing."""
    try:
        find()
    except InputError as error:
        return str(error)
    return ""


def require(module: str, purpose: str, *, extra: str) -> Any:
    """Import an optional package, or a module of it.

    Raises
    ------
    MissingDependencyError
        If it is not installed or broken; has the command that installs it.
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
    """Something that a user should know and that refuses nothing.

    Attributes
    ----------
    code : str
        A key of `semmetrics.messages.MESSAGES`.
    n : int
        How often it is so; it adds up over parts of the data.
    examples : tuple of str
        A few of those that it is about.
    where : str
        The file, or the system and part, that it is about.
    values : mapping
        What else its text shows; facts with other values do not add up. Whole numbers are counts,
        in which systems may differ; all else is part of what it says.

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
        """Return the fact of both parts, whose counts add up."""
        examples = tuple(dict.fromkeys(self.examples + other.examples))
        values = {
            name: value + other.values.get(name, 0) if type(value) is int else value
            for name, value in self.values.items()
        }
        return replace(
            self, n=self.n + other.n, examples=examples[:EXAMPLES], values=values
        )

    def __hash__(self) -> int:
        return hash((self.code, self.n, self.examples, self.where))

    @property
    def kind(self) -> tuple[Any, ...]:
        """What facts have in common that differ by place, counts and examples alone."""
        return self.code, *(
            (k, repr(v)) for k, v in self.values.items() if type(v) is not int
        )

    def text(self, spell: Spelling | None = None, **changed: Any) -> str:
        """Return its text, with options as the caller writes them; changed are values of it."""
        shown = {"n": self.n, "examples": self.examples, **self.values, **changed}
        return InputError(self.code, shown.pop("where", self.where), **shown).text(
            spell
        )

    def __str__(self) -> str:
        return self.text()


# names that all parts have, as a rule
_ALL = (
    "odd-columns",
    "shared-terms",
    "unused-columns",
    "unused-embeddings",
    "unused-entry-keys",
    "unused-options",
)


def unite(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts of all parts of some data as facts of the whole.

    Distinct names that a part counted are those of the part with the most.

    Examples
    --------
    >>> print(*unite([Fact("unused-columns", 1, ("a",), "gt.csv")] * 2))
    gt.csv: 1 column not used: 'a'
    """
    found: dict[Any, Fact] = {}
    for fact in facts:
        key = fact.where, fact.kind
        if key not in found:
            found[key] = fact
        elif fact.code in _ALL or str(fact.values.get("noun")).startswith("distinct"):
            found[key] = max(found[key], fact, key=attrgetter("n"))
        else:
            found[key] += fact
    return list(found.values())


def first_of_each(facts: Iterable[Fact]) -> list[Fact]:
    """Return the first of the facts of each place that differ by counts and examples alone."""
    found: dict[Any, Fact] = {}
    for fact in facts:
        found.setdefault((fact.where, *fact.kind), fact)
    return list(found.values())


_MANY = 3  # systems that have each their own note


def render_facts(
    facts: Iterable[Fact], systems: Collection[str] = (), spell: Spelling | None = None
) -> list[str]:
    """Write facts; those of many systems that differ by counts and examples are one line.

    Parameters
    ----------
    facts : iterable of Fact
    systems : collection of str
        The systems, as facts name them in ``where``.
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
    facts, lines, systems = list(facts), [], frozenset(systems)
    groups: dict[Any, list[Fact]] = {}
    for fact in facts:
        if fact.where in systems:
            groups.setdefault(fact.kind, []).append(fact)
    for fact in facts:
        group = groups.get(fact.kind, [])
        if fact.where not in systems or len(group) <= _MANY:
            lines.append(fact.text(spell))
        elif fact is group[0]:
            lines.append(_text_of_many(group, len(systems), spell))
    return lines


def _text_of_many(group: Sequence[Fact], systems: int, spell: Spelling | None) -> str:
    names = [fact.where for fact in group]
    where = f"all {pluralize(systems, 'system')}"
    if len(names) < systems:
        where = f"{', '.join(names[:_MANY])} and {len(names) - _MANY} more"
    spans: dict[str, Any] = {}
    for name in (
        "n",
        *(name for name, one in group[0].values.items() if type(one) is int),
    ):
        some = [fact.n if name == "n" else fact.values[name] for fact in group]
        spans[name] = (min(some), max(some)) if min(some) < max(some) else some[0]
    examples = dict.fromkeys(example for fact in group for example in fact.examples)
    return group[0].text(
        spell, where=where, examples=tuple(examples)[:EXAMPLES], **spans
    )


def at(name: str, place: str = "", id_: str | None = None) -> str:
    """Write a place for a message.

    Examples
    --------
    >>> at("gt.csv", "line 7", "a")
    "gt.csv, line 7, id 'a'"
    """
    parts = [name, place, "" if id_ is None else f"id {shown(id_)}"]
    return ", ".join(part for part in parts if part)


def place_in(error: BaseException, file: str) -> str:
    """Return the line of a Python file that an error comes from; the file where none is known.

    Parameters
    ----------
    error : exception
    file : str
        As the interpreter names it.
    """
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return file if line is None else f"{file}, line {line}"


EXAMPLES = 5
"""How many examples a fact keeps."""
FROM_0 = " (from 0)"
ITEM, ROW = f"item {{}}{FROM_0}", f"row {{}}{FROM_0}"


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """Where each item stands; a `Lists.where` that costs nothing until it is asked.

    Examples
    --------
    >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7])(1)
    "gt.csv, line 7, id 'b'"
    >>> Places("gts", None, ITEM, range(2))(1)
    'gts, item 1 (from 0)'
    """

    name: str
    ids: Sequence[str] | None
    unit: str = ""
    numbers: Sequence[int] | Any = ()

    def __call__(self, position: int) -> str:
        """Write the place of the item at a position."""
        place = self.unit.format(self.numbers[position]) if self.unit else ""
        return at(self.name, place, None if self.ids is None else self.ids[position])

    def entry(self, position: int, noun: str, number: int) -> str:
        """Write the place of an entry of an item; its number is given from 0.

        Examples
        --------
        >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7]).entry(1, "label", 0)
        "gt.csv, line 7, id 'b', label 1"
        >>> Places("gts", None, ITEM, range(2)).entry(1, "label", 0)
        'gts, item 1, label 0 (from 0)'
        """
        if not self.unit.endswith((FROM_0, "[{}]")):
            return f"{self(position)}, {noun} {number + 1}"
        alone = replace(self, unit=self.unit.removesuffix(FROM_0))
        return f"{alone(position)}, {noun} {number}{FROM_0}"
