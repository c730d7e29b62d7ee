"""Text files of machine learning tools: XMLC's sparse text, fastText, ARFF, and MATLAB files.

Conventions
-----------
All but ARFF with an id have their items by position. Labels that are numbers are read as they are
written; with ``classes`` they are places in that list, from 0. Labels that the header of a file
declares are in the label universe, also if no row has them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.formats.base import LABELS, TextFormat, recipe
from semmetrics.data.items import Items
from semmetrics.data.source import Source, check_lines, undamaged
from semmetrics.errors import InputError, Places, at
from semmetrics.messages import pluralize
from semmetrics.schema import as_number

_XMLC_HEADER = re.compile(r"\s*(\d+) (\d+)(?: (\d+))?[ \t]*\r?\n")
_XMLC_ROW = re.compile(r"[\d,]*[ \t]*\d+:[-+\d.]")
_FASTTEXT = re.compile(r"^[ \t]*__label__\S", re.MULTILINE)
_ARFF = re.compile(r"(?:\s*%[^\n]*\n)*\s*@relation\b", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"^\s*@attribute\s", re.IGNORECASE | re.MULTILINE)
_SPARSE_ARFF = re.compile(r"@data\s*(?:%[^\n]*\n\s*)*\{", re.IGNORECASE)
_STRING_ATTRIBUTE = re.compile(
    r"^\s*@attribute\s.*\sstring\s*$", re.IGNORECASE | re.MULTILINE
)
_MEKA_LABELS = re.compile(r"@relation\b[^\n]*-C\s+(-?\d+)", re.IGNORECASE)
_PREFIX = "__label__"
_MATLAB_HEADER = "MATLAB "


def _lines(source: Source, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without line ends."""
    check_lines(source, options.max_line_bytes)
    for number, line in enumerate(source.text.removesuffix("\n").split("\n"), 1):
        yield number, line.removesuffix("\r")


class Xmlc(TextFormat):
    """The Extreme Classification Repository's sparse text.

    A data file has the header ``points features labels`` and rows ``3,17 0:0.5 4:1.2``: labels,
    then features, which are not used. A label file has the header ``points labels`` and rows
    ``3:1.0 17:1.0``. The values are scores unless all are 1.
    """

    title = "XMLC sparse text"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether there is a header of two or three numbers and a sparse row."""
        header = _XMLC_HEADER.match(beginning)
        if header is None or int(header[2]) == 0:
            return False
        rows = beginning[header.end() :].split("\n")
        return any(map(_XMLC_ROW.match, rows[:50]))

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each row.

        Raises
        ------
        InputError
            If a row is of another form, a label is not below the number of labels, or there are
            fewer or more rows than the header says.
        """
        rows = _lines(source, options)
        _, header = next(rows)
        sizes = [int(word) for word in header.split()]
        n_points, n_labels = sizes[0], sizes[-1]
        has_features = len(sizes) == 3
        items: list[list[Any]] = []
        lines: list[int] = []
        for number, line in rows:
            where = at(source.name, f"line {number}")
            entries = _first_labels(line) if has_features else _pairs(line, where)
            _check_places(entries, n_labels, where)
            items.append(entries)
            lines.append(number)
        if len(items) != n_points:
            found = pluralize(len(items), "row")
            raise InputError(
                "wrong-count", source.name, found=found, wanted=f"{n_points:,}"
            )
        scores = {score for entries in items for _, score in entries}
        if scores <= {1.0}:
            items = [[label for label, _ in entries] for entries in items]
        places = Places(source.name, None, "line {}", lines)
        understood = f"{self.title}, {pluralize(n_points, 'row')}, {pluralize(n_labels, 'label')}"
        declared = list(map(str, range(n_labels)))
        return Items(None, items, places, source.name, understood, declared=declared)


def _check_places(
    entries: Iterable[tuple[str, float]], n_labels: int, where: str
) -> None:
    """Raise if a label of a row is not a number below the number of labels."""
    for label, _ in entries:
        if not label.isdecimal() or int(label) >= n_labels:
            wanted = f"a label below {n_labels:,}"
            example = "labels that count from 0"
            raise InputError(
                "wrong-content",
                where,
                value=repr(label),
                wanted=wanted,
                example=example,
            )


def _first_labels(line: str) -> list[tuple[str, float]]:
    """Return the labels before the features of a row.

    Examples
    --------
    >>> _first_labels("3,17 0:0.5 4:1.2"), _first_labels(" 0:0.5")
    ([('3', 1.0), ('17', 1.0)], [])
    """
    labels = line.split(" ", 1)[0]
    if not labels or ":" in labels:
        return []
    return [(label, 1.0) for label in labels.split(",")]


def _pairs(line: str, where: str) -> list[tuple[str, float]]:
    """Return the labels and values of a row: "3:1.0 17:0.5"."""
    pairs = []
    for word in line.split():
        label, colon, value = word.partition(":")
        if not colon:
            raise InputError(
                "wrong-content",
                where,
                value=repr(word),
                wanted="label:value",
                example="3:1.0",
            )
        pairs.append((label, as_number(value, "the value", where)))
    return pairs


class FastText(TextFormat):
    """``__label__cat __label__dog some text``, and predictions ``__label__cat 0.9``.

    A line without a label is an item without labels. The text is not used.
    """

    title = "fastText"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether the first line that has a label begins with it."""
        return _FASTTEXT.match(beginning.lstrip("\r\n")) is not None

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each line."""
        items: list[list[Any]] = []
        lines: list[int] = []
        for number, line in _lines(source, options):
            items.append(_fasttext_labels(line, at(source.name, f"line {number}")))
            lines.append(number)
        places = Places(source.name, None, "line {}", lines)
        return Items(
            None,
            items,
            places,
            source.name,
            f"fastText, {pluralize(len(items), 'line')}",
        )


def _fasttext_labels(line: str, where: str) -> list[Any]:
    """Return the labels of a line, with their scores if only scores are between them.

    Examples
    --------
    >>> _fasttext_labels("__label__cat __label__dog two of them", "")
    ['cat', 'dog']
    >>> _fasttext_labels("__label__cat 0.75 __label__dog 0.25", "")
    [('cat', 0.75), ('dog', 0.25)]
    """
    words = line.split()
    labels = [word.removeprefix(_PREFIX) for word in words if word.startswith(_PREFIX)]
    if "" in labels:
        raise InputError(
            "empty", where, role="the label", remedy=f"name it after {_PREFIX}"
        )
    others = [word for word in words if not word.startswith(_PREFIX)]
    alternate = all(word.startswith(_PREFIX) for word in words[::2])
    if not labels or len(others) != len(labels) or not alternate:
        return list(labels)
    try:
        scores = [as_number(word, "the score") for word in others]
    except InputError:  # one label and one word of text
        return list(labels)
    return list(zip(labels, scores, strict=True))


class Arff(TextFormat):
    """Weka's and MEKA's ARFF: labels are the attributes that the relation counts (``-C 6``).

    A positive number counts from the first attribute, a negative one from the last. A file without
    it names its labels in another file (MULAN's XML), or has a single class, if only one attribute
    is nominal.
    """

    title = "ARFF"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether the file begins with a relation, after comments, and has attributes."""
        return (
            _ARFF.match(beginning) is not None
            and _ATTRIBUTE.search(beginning) is not None
        )

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each row."""
        if _SPARSE_ARFF.search(source.text):
            raise _refuse_sparse(source.name)
        from scipy.io import arff  # only for this format

        if _STRING_ATTRIBUTE.search(source.text):
            raise _refuse_texts(source.name)
        with undamaged(source.name, Exception):
            rows, meta = arff.loadarff(io.StringIO(source.text))
        nominal = [name for name in meta.names() if meta[name][0] == "nominal"]
        declared: list[str] = []
        counted = _MEKA_LABELS.search(source.text)
        if counted is not None:
            number = int(counted[1])
            declared = meta.names()[:number] if number > 0 else meta.names()[number:]
            items = [_present(row, declared) for row in rows]
            what = pluralize(len(declared), "label")
        elif len(nominal) == 1:
            items = [[row[nominal[0]].decode()] for row in rows]
            what = f"class {nominal[0]!r}"
        else:
            raise _refuse_unnamed(source.name)
        places = Places(source.name, None, "row {}", range(1, len(items) + 1))
        return Items(
            None, items, places, source.name, f"ARFF, {what}", declared=declared
        )


def _present(row: Any, names: list[str]) -> list[str]:
    """Return the labels that a row of 0 and 1 has."""
    labels = []
    for name in names:
        value = row[name]
        text = value.decode() if isinstance(value, bytes) else str(value)
        if text.strip().removesuffix(".0") in ("1", "true", "yes"):
            labels.append(name)
    return labels


def _refuse_sparse(name: str) -> InputError:
    return recipe(
        "sparse ARFF",
        name,
        "SciPy reads dense rows only",
        "rows = arff.loads(Path(path).read_text(), return_type=arff.LOD)['data']  # liac-arff",
        "labels = [[names[i] for i in row if i in names] for row in rows]",
    )


def _refuse_texts(name: str) -> InputError:
    return recipe(
        "ARFF with text attributes",
        name,
        "SciPy reads numbers and nominal attributes only",
        "rows = arff.loads(Path(path).read_text())['data']  # pip install liac-arff",
        "labels = [[row[i] for i in columns] for row in rows]",
    )


def _refuse_unnamed(name: str) -> InputError:
    return recipe(
        "ARFF without a count of labels",
        name,
        "another file says which attributes are labels",
        "frame = pandas.DataFrame(scipy.io.arff.loadarff(path)[0])[labels].astype(int)",
        "frame.to_csv('gt.csv', index_label='id')   # labels: the names in MULAN's .xml file",
    )


class Matlab(TextFormat):
    """MATLAB files with class numbers, such as ``res101.mat`` of xlsa17, which count from 1."""

    title = "MATLAB"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether the file is called .mat, or has MATLAB's header."""
        return suffix == ".mat" or beginning.startswith(_MATLAB_HEADER)

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Raise an error with the code that writes the classes of a split, counted from 0."""
        raise recipe(
            self.title,
            source.name,
            "their classes and rows count from 1, and a split is in another file",
            "rows = scipy.io.loadmat('att_splits.mat')['test_unseen_loc'].ravel() - 1",
            "numpy.save('gt.npy', scipy.io.loadmat('res101.mat')['labels'].ravel()[rows] - 1)",
        )
