"""The interface of public file formats: how a format is recognised, and how it is read.

Conventions
-----------
A format is one class, which ``registry`` lists. `DocumentFormat` is for JSON documents, JSON lines
and Python objects of the same shape, `TableFormat` for tables with a header (CSV, TSV, Parquet,
Arrow, frames) and `TextFormat` for other text files. ``matches`` gets the beginning of the content
and must be strict: if it accepts a file of another format, the ordinary readers never see that
file. ``read`` returns `Items`, or raises the error of a `recipe` if semmetrics does not read the
format. A document can contain any type of value, so ``read`` checks each one, with `require_key`
and similar functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from semmetrics.data.form import Form
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions, is_truth, note_unused_options
from semmetrics.data.source import Source
from semmetrics.errors import Fact, InputError, Places
from semmetrics.schema import as_id, as_real

LABELS = ("label",)
CAPTIONS = ("caption",)
RECORD = "element [{}]"
"""The place of a record in a document. Records count from 0."""
_ANY_NOUN = "item"
_RECORDS_TO_MATCH = 20
_TYPE_NAMES: dict[type, str] = {list: "a list", str: "a string", dict: "an object"}


class PublicFormat(ABC):
    """A file format of other programs or datasets.

    Attributes
    ----------
    title : str
        The name in messages: "COCO results".
    nouns : tuple of str
        The nouns of the forms that the format may contain: "label", "caption" or both.
    used_options : tuple of str
        The options for columns that have an effect. A note lists the others that the user set.
    """

    title: str
    nouns: tuple[str, ...]
    used_options: tuple[str, ...] = ()

    def supports(self, form: Form) -> bool:
        """Return whether the format may contain the entries that a form describes."""
        return form.noun == _ANY_NOUN or form.noun in self.nouns

    def unused(self, options: ReadOptions, form: Form) -> list[Fact]:
        """Return a note on options for columns that the user set and that have no effect."""
        names = [f"{role}_column" for role in form.roles]
        ignored = [name for name in names if name not in self.used_options]
        return note_unused_options(options, ignored, self.title)


class DocumentFormat(PublicFormat):
    """A format of JSON documents. JSON lines are read as a list of their values."""

    @abstractmethod
    def matches(self, document: Any) -> bool:
        """Return whether a document has this format.

        For JSON lines, the document is a list of only the first line.
        """

    @abstractmethod
    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the items of a document that messages call ``name``."""

    def noun_of(self, document: Any) -> str:
        """Return the content of a document, if the format has several kinds of content."""
        return self.nouns[0]


class Table(NamedTuple):
    """A table as a format reads it.

    Attributes
    ----------
    name : str
        The name in messages.
    columns : sequence of str
    place_format : str
        The template for the place of a row: "line {}".
    rows : iterable of (place, cells)
    """

    name: str
    columns: Sequence[str]
    place_format: str
    rows: Iterable[tuple[int, Sequence[Any]]]


class TableFormat(PublicFormat):
    """A format of tables with a header."""

    @abstractmethod
    def matches(self, columns: Sequence[str], options: ReadOptions) -> bool:
        """Return whether a table with these columns has this format."""

    @abstractmethod
    def read(self, table: Table, form: Form, options: ReadOptions) -> Items:
        """Read the items of a table."""


class TextFormat(PublicFormat):
    """A format of text files that are neither JSON nor tables."""

    @abstractmethod
    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether a file with this beginning and extension has this format."""

    @abstractmethod
    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the items of a file."""


def recipe(title: str, name: str, reason: str, *lines: str) -> InputError:
    """Return the error for a format that is not read, with the reason and code for converting it.

    Examples
    --------
    >>> print(recipe("MATLAB", "res101.mat", "classes count from 1", "import scipy.io", "..."))
    res101.mat: MATLAB files cannot be read, because classes count from 1. Convert the file in Python:
        import scipy.io
        ...
    """
    script = "".join(f"\n    {line}" for line in lines)
    return InputError("format-recipe", name, title=title, reason=reason, script=script)


def are_records(document: Any, *keys: str) -> bool:
    """Return whether a document is a list of objects, and its first objects have these keys.

    Examples
    --------
    >>> are_records([{"id": 1, "name": "a"}], "id"), are_records([], "id"), are_records({}, "id")
    (True, False, False)
    """
    if not isinstance(document, Sequence) or isinstance(document, str | bytes):
        return False
    if not document:
        return False
    for record in islice(document, _RECORDS_TO_MATCH):  # a deque has no slices
        if not isinstance(record, Mapping) or not all(key in record for key in keys):
            return False
    return True


def require_key(record: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return the value of a key.

    Raises
    ------
    InputError
        If the key is missing, or its value is of another type.
    """
    if key not in record:
        raise InputError("missing-key", where, key=key)
    if not isinstance(record[key], kind):
        wanted = f"{_TYPE_NAMES[kind]} for {key!r}"
        raise InputError("wrong-type", where, value=record[key], wanted=wanted)
    return record[key]


def optional_key(record: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return the value of a key, or an empty one if the key is missing or null.

    Raises
    ------
    InputError
        If the value is of another type.
    """
    if record.get(key) is None:
        return kind()
    return require_key(record, key, kind, where)


def optional_records(
    record: Mapping[str, Any], key: str, where: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of the list under a key, which may be missing or null."""
    for value in optional_key(record, key, list, where):
        yield check_record(value, where)


def check_record(record: Any, where: str) -> Mapping[str, Any]:
    """Return a record. Raise an error if it is not an object."""
    if not isinstance(record, Mapping):
        raise InputError("wrong-type", where, value=record, wanted="an object")
    return record


class ScoredLabels:
    """The labels of items, collected one occurrence at a time.

    A label that an item has several times, such as several detections of one class, counts once,
    with its highest score. Labels with scores are in descending order of their scores.

    Examples
    --------
    >>> gathered = ScoredLabels("results.json")
    >>> gathered.add("7", "cat", 0.5, "")
    >>> gathered.add("7", "dog", 0.75, "")
    >>> gathered.add("7", "cat", 0.25, "")
    >>> gathered.items().items
    [[('dog', 0.75), ('cat', 0.5)]]
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_occurrences = 0
        self._known: set[str] = set()
        self._labels: dict[str, dict[str, float | None]] = {}
        self._places: list[Any] = []
        self._n_annotations: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def labels(self) -> frozenset[str]:
        """The distinct labels."""
        return frozenset(self._known)

    @property
    def n_labels(self) -> int:
        """The number of distinct labels."""
        return len(self._known)

    def open(self, id_: str, place: Any = None) -> None:
        """Add an item, which may have no label. An item that exists is unchanged."""
        if id_ not in self._labels:
            self._labels[id_] = {}
            self._places.append(place)

    def add(
        self, id_: str, label: Any, score: float | None, where: str, place: Any = None
    ) -> None:
        """Add a label to an item.

        Raises
        ------
        InputError
            If the label is not a string or is empty, or only some labels of the item have a score.
        """
        if not isinstance(label, str):
            wanted = "a string for the label"
            raise InputError("wrong-type", where, value=label, wanted=wanted)
        self.n_occurrences += 1
        labels = self._labels.get(id_)
        if labels is None:
            self.open(id_, place)
            labels = self._labels[id_]
        best_score = labels.get(label)
        if score is None and best_score is None and label in labels:
            return  # By far the most common case is checked first.
        if label not in self._known:
            self._check_label(label, where)
        if labels:
            first_score = next(iter(labels.values()))
            if (first_score is None) != (score is None):
                raise InputError("some-scores", where, noun="label")
        if best_score is None or (score is not None and score > best_score):
            labels[label] = score

    def _check_label(self, label: str, where: str) -> None:
        """Register a new label. Raise an error if it is empty."""
        if not label.strip():
            remedy = "remove it, or name it"
            raise InputError("empty", where, role="the label", remedy=remedy)
        self._known.add(label)

    def count_annotations(self, id_: str, number: int) -> None:
        """Add to the number of people who annotated an item, which may be in several records."""
        self._n_annotations[id_] = self._n_annotations.get(id_, 0) + number

    @property
    def is_annotated(self) -> bool:
        """Whether anybody annotated an item."""
        return any(self._n_annotations.values())

    @property
    def n_annotated_twice(self) -> int:
        """The number of items that several people annotated."""
        return sum(number > 1 for number in self._n_annotations.values())

    def leave_out_unannotated(self) -> int:
        """Leave out items without labels that nobody annotated, and return their number."""
        left_out = set()
        for id_, n_annotations in self._n_annotations.items():
            if not n_annotations and not self._labels[id_]:
                left_out.add(id_)
        places = []
        for id_, place in zip(self._labels, self._places, strict=True):
            if id_ not in left_out:
                places.append(place)
        self._places = places
        for id_ in left_out:
            del self._labels[id_]
        return len(left_out)

    def items(self, place_format: str = "") -> Items:
        """Return the items. With a place format, messages name the place at which each was added."""
        items: list[list[Any]] = []
        for labels in self._labels.values():
            pairs: list[Any] = [pair for pair in labels.items() if pair[1] is not None]
            pairs.sort(key=_negative_score)
            items.append(pairs or list(labels))
        ids = list(self._labels)
        numbers = self._places if place_format else ()
        return Items(
            ids, items, Places(self.name, ids, place_format, numbers), self.name
        )


def _negative_score(pair: tuple[str, Any]) -> float:
    """Return a sort key that puts labels in descending order of scores."""
    return -float(pair[1])


def read_score(record: Mapping[str, Any], key: str, where: str) -> float | None:
    """Return the score under a key, or None if there is none."""
    if record.get(key) is None:
        return None
    try:
        return as_real(record[key], "the score")
    except InputError as error:
        raise error.placed(where) from None


def read_id(record: Mapping[str, Any], key: str, where: str) -> str:
    """Return the id under a key. Raise an error if the key is missing."""
    if key not in record:
        raise InputError("missing-key", where, key=key)
    return as_id(record[key], where=where)


def unused_keys(keys: Iterable[str], known: Iterable[str], noun: str) -> list[Fact]:
    """Return a note on keys that the format does not define, and that are therefore not used."""
    known_keys = set(known)
    unknown = tuple(key for key in dict.fromkeys(keys) if key not in known_keys)
    if not unknown:
        return []
    return [Fact("unused-entry-keys", len(unknown), unknown, values={"noun": noun})]


def answer_style(questions: Collection[str], with_question: str) -> dict[str, str]:
    """Return how the answers of an input are named, as a style of `Lists.styles`.

    Examples
    --------
    >>> answer_style({"animal", "size"}, "question: answer")
    {'answers': "named 'question: answer'"}
    >>> answer_style({"animal"}, "question: answer"), answer_style((), "question: answer")
    ({'answers': "named without their only question 'animal'"}, {})
    """
    if not questions:
        return {}
    if len(questions) > 1:
        return {"answers": f"named {with_question!r}"}
    (question,) = questions
    return {"answers": f"named without their only question {question!r}"}


def unused_results(names: Iterable[str]) -> list[Fact]:
    """Return a note on results of an annotation tool that are not labels, given their names."""
    counts = Counter(names)
    if not counts:
        return []
    return [Fact("unused-results", counts.total(), tuple(counts))]


def finish(
    gathered: ScoredLabels,
    understood: str,
    place_format: str,
    options: ReadOptions,
    aliases: Mapping[str, str] | None = None,
) -> Items:
    """Return the collected items, with notes on how they were annotated.

    Parameters
    ----------
    gathered : ScoredLabels
    understood : str
    place_format : str
        The template for the place of an item.
    options : ReadOptions
        In a ground truth, items that nobody annotated are left out.
    aliases : mapping of str to str, optional
        Other names of the items, including items that are left out.
    """
    n_left_out = 0
    if is_truth(options):
        n_left_out = gathered.leave_out_unannotated()
    items = gathered.items(place_format)
    items.understood = understood
    if n_left_out:
        items.notes.append(Fact("unannotated-items", n_left_out))
    if gathered.n_annotated_twice:
        items.notes.append(Fact("several-annotations", gathered.n_annotated_twice))
    if aliases:
        ids = set(items.ids or ())
        items.aliases = {name: id_ for name, id_ in aliases.items() if id_ in ids}
    return items
