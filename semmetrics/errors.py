"""Errors that a user can act on: each says where, what is wrong, and what to do.

Conventions
-----------
Positions in messages count from 1, as lines of a file do. What Python counts from 0 (items without
ids, rows and columns of arrays, elements of lists) is counted so in messages, too, which then say
"(from 0)", or write an index in brackets. All numbers of one place count alike.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.frozen import by_value, dataclass

__all__ = [
    "a_kind",
    "agreeing",
    "FROM_0",
    "ITEM",
    "InputError",
    "MissingDependencyError",
    "Places",
    "ROW",
    "UnknownKeyError",
    "at",
    "brief",
    "counted",
    "did_you_mean",
    "listing",
    "misfit",
    "place_in",
    "placed",
    "plural",
    "pluralize",
    "printable",
    "shown",
    "visible",
]

_UNSEEN = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
_UNSEEN |= {9: "\\t", 10: "\\n", 13: "\\r"}
_UNSEEN |= {code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))}
_KEPT = {code: text for code, text in _UNSEEN.items() if code not in (9, 10)}


def visible(name: str) -> str:
    r"""Return a name as people may read it: what would command a terminal is written out.

    Control characters, ends of lines and changes of the direction of writing.

    Examples
    --------
    >>> visible("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    return name if name.isprintable() else name.translate(_UNSEEN)


def printable(text: str) -> str:
    r"""Return a text of lines, as ``visible`` has each of them.

    Examples
    --------
    >>> printable("a\nb\x1b[2J")
    'a\nb\\x1b[2J'
    """
    return text.translate(_KEPT)


class InputError(ValueError):
    """The input, an option or a measure is wrong; the message names it and the remedy.

    Parameters
    ----------
    problem : str
        What is wrong.
    where : str, optional
        File, line or key, and id; put before the problem, on one line.
    remedy : str, optional
        What the user can do; put after it.

    Examples
    --------
    >>> raise InputError("the label is empty", where="gt.json, id '7'", remedy="remove it")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json, id '7': the label is empty; remove it
    """

    def __init__(self, problem: str, *, where: str = "", remedy: str = "") -> None:
        self.problem, self.where, self.remedy = problem, where, remedy
        head = f"{visible(str(where))}: " if where else ""
        tail = f"; {remedy}" if remedy else ""
        super().__init__(f"{head}{problem}{tail}")

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the three parts when the error crosses a process."""
        return _rebuild, (self.problem, self.where, self.remedy)


class UnknownKeyError(InputError, KeyError):
    """A collection has nothing under a key; both an InputError and a KeyError.

    Examples
    --------
    >>> raise UnknownKeyError("the table has no 'F2'", remedy="did you mean F1?")
    Traceback (most recent call last):
    semmetrics.errors.UnknownKeyError: the table has no 'F2'; did you mean F1?
    """

    __str__ = Exception.__str__  # that of KeyError would put the message into quotes

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the three parts when the error crosses a process."""
        return _rebuild_key, (self.problem, self.where, self.remedy)


def _rebuild_key(problem: str, where: str, remedy: str) -> UnknownKeyError:
    return UnknownKeyError(problem, where=where, remedy=remedy)


def _rebuild(problem: str, where: str, remedy: str) -> InputError:
    return InputError(problem, where=where, remedy=remedy)


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
        self, package: str, purpose: str, *, extra: str, error: ImportError | None = None
    ) -> None:
        self.package, self.purpose, self.extra, self.error = package, purpose, extra, error
        problem = f"{purpose} needs the package {package}"
        remedy = f"run: pip install {package}, or pip install 'semmetrics[{extra}]'"
        module = package.replace("-", "_")
        lacks = error.name or module if isinstance(error, ModuleNotFoundError) else ""
        if error is not None and lacks.partition(".")[0] != module:
            problem += f", which cannot be loaded: {error}"
            remedy = f"run: pip install --upgrade {package} numpy, for versions that fit"
        InputError.__init__(self, problem, remedy=remedy)

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the parts when the error crosses a process."""
        return _rebuild_missing, (self.package, self.purpose, self.extra, self.error)


def _rebuild_missing(
    package: str, purpose: str, extra: str, error: ImportError | None
) -> MissingDependencyError:
    return MissingDependencyError(package, purpose, extra=extra, error=error)


def listing(names: Iterable[object], *, most: int = 5) -> str:
    """Write names for a message, the first few quoted and the rest counted.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    every = list(names)
    first = ", ".join(repr(name) for name in every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "", *, most: int = 3) -> str:
    """Return the remedy for an unknown name: the nearest of those that are known.

    Examples
    --------
    >>> did_you_mean("recal", ["Recall", "F1"]), did_you_mean("x", ["F1"], "see: semmetrics list")
    ('did you mean Recall?', 'see: semmetrics list')
    """
    import difflib

    names = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), names, n=most, cutoff=0.5)
    return f"did you mean {' or '.join(names[one] for one in near)}?" if near else otherwise


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = _BRIEF.maxlong = 60


def brief(value: object) -> str:
    """Write a value for a message, cut when it is long or deep.

    Examples
    --------
    >>> brief([[1, 2, 3, 4, 5, 6, 7], "cat"])
    "[[1, 2, 3, 4, 5, 6, ...], 'cat']"
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # the number of NumPy or torch
    try:
        return " ".join(_BRIEF.repr(value).split())  # arrays are written on many lines
    except (RecursionError, ValueError):  # an object in itself, or a number of too many digits
        return f"<{type(value).__name__}>"


def pluralize(number: float, noun: str, verb: str = "") -> str:
    """Write how many there are, and what they do: the verb is that of many.

    Examples
    --------
    >>> pluralize(1, "item"), pluralize(2000, "category")
    ('1 item', '2,000 categories')
    >>> pluralize(1, "class", "have"), pluralize(2, "class", "have"), pluralize(1, "label", "occur")
    ('1 class has', '2 classes have', '1 label occurs')
    """
    noun = noun if number == 1 else plural(noun)
    return f"{number:,} {noun} {agreeing(number, verb)}".rstrip()


def plural(noun: str) -> str:
    """Return a noun as many of it are called.

    Examples
    --------
    >>> plural("query"), plural("class"), plural("image")
    ('queries', 'classes', 'images')
    """
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith("s") else "s")


_OF_ONE = {"": "", "are": "is", "have": "has", "do": "does", "were": "was"}


def agreeing(number: float, verb: str) -> str:
    """Return a verb as it follows a number; it is given as that of many.

    Examples
    --------
    >>> agreeing(1, "have"), agreeing(2, "have"), agreeing(1, "occur")
    ('has', 'have', 'occurs')
    """
    return verb if number != 1 else _OF_ONE.get(verb, f"{verb}s")


def a_kind(value: object) -> str:
    """Write the type of a value with its article.

    Examples
    --------
    >>> a_kind(3), a_kind(0.5)
    ('an int', 'a float')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def misfit(value: object, wanted: str) -> str:
    """Say that a value is of another kind than the one wanted.

    Examples
    --------
    >>> misfit(3, "a string"), misfit(None, "a string")
    ('3 is an int, not a string', 'None (null) is not a string')
    """
    if value is None:
        return f"None (null) is not {wanted}"
    return f"{brief(value)} is {a_kind(value)}, not {wanted}"


def shown(value: object) -> str:
    """Write a value for a message: texts and numbers, cut when long; of others the kind."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."
    if isinstance(value, int | float):
        huge = isinstance(value, int) and value.bit_length() > 10_000  # Python refuses to print it
        return "a number of thousands of digits" if huge else str(value)[:60]
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return type(value).__name__


def counted(things: Collection[object], noun: str) -> str:
    """Write how many there are: "1 row", "2 rows"."""
    return pluralize(len(things), noun)


def at(name: str, place: str = "", id_: str | None = None) -> str:
    """Write a place for a message.

    Examples
    --------
    >>> at("gt.csv", "line 7", "a")
    "gt.csv, line 7, id 'a'"
    """
    parts = [name, place, "" if id_ is None else f"id {shown(id_)}"]
    return ", ".join(part for part in parts if part)


def placed(error: InputError, where: str) -> InputError:
    """The same error with its place, which loops write only when it is needed."""
    return InputError(error.problem, where=where, remedy=error.remedy)


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


FROM_0 = " (from 0)"
ITEM, ROW = f"item {{}}{FROM_0}", f"row {{}}{FROM_0}"


@by_value()
@dataclass(frozen=True, eq=False)
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
