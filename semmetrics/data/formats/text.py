"""Text files of machine learning tools: XMLC's sparse text, fastText, ARFF, and MATLAB files.

Conventions
-----------
Items are identified by position. Labels that are numbers are read as strings. With ``classes`` they
are positions in that list, from 0. Labels that the header of a file declares are in the label
universe even if no row has them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import LABELS, TextFormat, recipe
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, check_lines, reporting_damage
from semmetrics.errors import InputError, Places, format_place
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
_LABEL_PREFIX = "__label__"
_MATLAB_HEADER = "MATLAB "
_MAX_ROWS_TO_MATCH = 50


def _lines(source: Source, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without line ends."""
    check_lines(source, options.max_line_bytes)
    for number, line in enumerate(source.text.removesuffix("\n").split("\n"), 1):
        yield number, line.removesuffix("\r")


class Xmlc(TextFormat):
    """The sparse text of the Extreme Classification Repository.

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
        return any(map(_XMLC_ROW.match, rows[:_MAX_ROWS_TO_MATCH]))

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each row.

        Raises
        ------
        InputError
            If a row has another form, a label is not below the number of labels, or the number of
            rows differs from the header.
        """
        rows = _lines(source, options)
        _, header = next(rows)
        sizes = [int(word) for word in header.split()]
        n_points = sizes[0]
        n_labels = sizes[-1]
        has_features = len(sizes) == 3
        items: list[list[Any]] = []
        lines: list[int] = []
        for number, line in rows:
            where = format_place(source.name, f"line {number}")
            if has_features:
                entries = _labels_before_features(line)
            else:
                entries = _scored_labels(line, where)
            _check_labels(entries, n_labels, where)
            items.append(entries)
            lines.append(number)
        if len(items) != n_points:
            n_rows = pluralize(len(items), "row")
            wanted = f"{n_points:,}"
            raise InputError("wrong-count", source.name, found=n_rows, wanted=wanted)
        if all(map(_are_ones, items)):
            items = list(map(_drop_scores, items))
        places = Places(source.name, None, "line {}", lines)
        size = f"{pluralize(n_points, 'row')}, {pluralize(n_labels, 'label')}"
        understood = f"{self.title}, {size}"
        declared = list(map(str, range(n_labels)))
        return Items(None, items, places, source.name, understood, declared=declared)


def _are_ones(entries: Iterable[tuple[str, float]]) -> bool:
    """Return whether all scores of a row are 1."""
    return all(score == 1 for _, score in entries)


def _drop_scores(entries: Iterable[tuple[str, float]]) -> list[str]:
    """Return the labels of a row."""
    return [label for label, _ in entries]


def _check_labels(
    entries: Iterable[tuple[str, float]], n_labels: int, where: str
) -> None:
    """Raise an error if a label of a row is not a number below the number of labels."""
    for label, _ in entries:
        if not label.isdecimal() or int(label) >= n_labels:
            raise InputError(
                "wrong-content",
                where,
                value=repr(label),
                wanted=f"a label below {n_labels:,}",
                example="labels numbered from 0",
            )


def _labels_before_features(line: str) -> list[tuple[str, float]]:
    """Return the labels before the features of a row.

    Examples
    --------
    >>> _labels_before_features("3,17 0:0.5 4:1.2"), _labels_before_features(" 0:0.5")
    ([('3', 1.0), ('17', 1.0)], [])
    """
    labels, _, _ = line.partition(" ")
    if not labels or ":" in labels:
        return []
    return [(label, 1.0) for label in labels.split(",")]


def _scored_labels(line: str, where: str) -> list[tuple[str, float]]:
    """Return the labels of a row, with their values as scores: "3:1.0 17:0.5"."""
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
            items.append(
                _fasttext_labels(line, format_place(source.name, f"line {number}"))
            )
            lines.append(number)
        places = Places(source.name, None, "line {}", lines)
        understood = f"fastText, {pluralize(len(items), 'line')}"
        return Items(None, items, places, source.name, understood)


def _fasttext_labels(line: str, where: str) -> list[Any]:
    """Return the labels of a line, with their scores if a score follows each label.

    Examples
    --------
    >>> _fasttext_labels("__label__cat __label__dog two of them", "")
    ['cat', 'dog']
    >>> _fasttext_labels("__label__cat 0.75 __label__dog 0.25", "")
    [('cat', 0.75), ('dog', 0.25)]
    """
    words = line.split()
    labels: list[Any] = []
    others = []
    for word in words:
        if word.startswith(_LABEL_PREFIX):
            labels.append(word.removeprefix(_LABEL_PREFIX))
        else:
            others.append(word)
    if "" in labels:
        remedy = f"name it after {_LABEL_PREFIX}"
        raise InputError("empty", where, role="the label", remedy=remedy)
    alternate = all(word.startswith(_LABEL_PREFIX) for word in words[::2])
    if not labels or len(others) != len(labels) or not alternate:
        return labels
    try:
        scores = [as_number(word, "the score") for word in others]
    except InputError:  # one label and one word of text
        return labels
    return list(zip(labels, scores, strict=True))


class Arff(TextFormat):
    """ARFF of Weka and MEKA.

    In MEKA, the relation has the number of attributes that are labels: the first six for ``-C 6``,
    the last six for ``-C -6``. In a file without this number, the only nominal attribute is the
    class. If it has several, another file names the labels (MULAN's XML), and reading raises an
    error.
    """

    title = "ARFF"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether the file begins with a relation, after comments, and has attributes."""
        if _ARFF.match(beginning) is None:
            return False
        return _ATTRIBUTE.search(beginning) is not None

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each row."""
        if _SPARSE_ARFF.search(source.text):
            raise _sparse_error(source.name)
        from scipy.io import arff  # only for this format

        if _STRING_ATTRIBUTE.search(source.text):
            raise _string_error(source.name)
        with reporting_damage(source.name, Exception):
            rows, meta = arff.loadarff(io.StringIO(source.text))
        names = meta.names()
        nominal = [name for name in names if meta[name][0] == "nominal"]
        declared: list[str] = []
        label_count = _MEKA_LABELS.search(source.text)
        if label_count is not None:
            number = int(label_count[1])
            declared = names[:number] if number > 0 else names[number:]
            items = [_labels_of_row(row, declared) for row in rows]
            content = pluralize(len(declared), "label")
        elif len(nominal) == 1:
            (class_name,) = nominal
            items = [[row[class_name].decode()] for row in rows]
            content = f"class {class_name!r}"
        else:
            raise _unnamed_labels_error(source.name)
        row_numbers = range(1, len(items) + 1)
        places = Places(source.name, None, "row {}", row_numbers)
        understood = f"ARFF, {content}"
        return Items(None, items, places, source.name, understood, declared=declared)


def _labels_of_row(row: Any, names: list[str]) -> list[str]:
    """Return the labels that a row of 0 and 1 has."""
    labels = []
    for name in names:
        value = row[name]
        text = value.decode() if isinstance(value, bytes) else str(value)
        if text.strip().removesuffix(".0") in ("1", "true", "yes"):
            labels.append(name)
    return labels


def _sparse_error(name: str) -> InputError:
    return recipe(
        "sparse ARFF",
        name,
        "SciPy reads only dense rows",
        "rows = arff.loads(Path(path).read_text(), return_type=arff.LOD)['data']  # liac-arff",
        "labels = [[names[i] for i in row if i in names] for row in rows]",
    )


def _string_error(name: str) -> InputError:
    return recipe(
        "ARFF with string attributes",
        name,
        "SciPy reads only numbers and nominal attributes",
        "rows = arff.loads(Path(path).read_text())['data']  # pip install liac-arff",
        "labels = [[row[i] for i in columns] for row in rows]",
    )


def _unnamed_labels_error(name: str) -> InputError:
    return recipe(
        "ARFF without the number of labels",
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
        """Raise an error with code that writes the classes of a split, numbered from 0."""
        raise recipe(
            self.title,
            source.name,
            "their classes and rows are numbered from 1, and the splits are in another "
            "file",
            "rows = scipy.io.loadmat('att_splits.mat')['test_unseen_loc'].ravel() - 1",
            "numpy.save('gt.npy', scipy.io.loadmat('res101.mat')['labels'].ravel()[rows] - 1)",
        )
