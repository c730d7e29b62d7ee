"""The tasks: predictions and references of the same items, checked once and then immutable.

Conventions
-----------
Ranks count from 1. Where scores or similarities are equal, the rule of ties decides: by
``position`` (what stands first in the class list or gallery is ranked first), ``optimistic`` (the
true class or positives before others), or ``pessimistic`` (others before them). Positives that are
tied with each other have different ranks under every rule. The prediction of a class may be
restricted to some classes, the *candidates*; a query may rank only the candidates of its *fold*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from inspect import signature
from typing import (
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    TypeVar,
    cast,
)

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.core import ragged
from semmetrics.core.hashing import Hashes, by_value, hash_ids, hash_strings, mix
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.core.ranks import Counts, First
from semmetrics.data.lists import Ids, Side, Terms, take_ids
from semmetrics.data.matrix import check_finite
from semmetrics.data.observations import Observations
from semmetrics.data.rankings import PHI, RankedLists, Rows, Similarities

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K", bound="Task")
F = TypeVar("F", bound="Callable[..., Any]")


_NONE: Mapping[str, Any] = {}
UNUSED = "unused-columns"
"""The code of the notes on columns that could have the scores."""


class Step(Protocol[T_co]):
    """A computation on a block. Steps that are equal are computed once for each block."""

    def compute(self, block: Block[Any]) -> T_co:
        """Compute it for the items of the block."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False, repr=False)
class Block(Generic[D]):
    """Items ``start`` to ``stop`` of a task.

    Attributes
    ----------
    task : D
    start, stop : int
    memo : dict
        Results by step.
    observations : Observations
        What steps observe in the items, for notes.
    """

    task: D
    start: int
    stop: int
    memo: dict[Step[Any], Any] = field(default_factory=dict)
    observations: Observations = field(default_factory=Observations)

    def __len__(self) -> int:
        return self.stop - self.start

    def note(self, name: Hashable, found: int | frozenset[str]) -> None:
        """Note something for the user; counts are added to those noted before, sets united."""
        code, *details = name if isinstance(name, tuple) else (name,)
        if isinstance(found, int):
            self.observations.count(str(code), found, *details)
        elif str(code).startswith("#"):
            for identity in found:
                self.observations.require(str(code)[1:], identity)
        else:
            self.observations.add_names(str(code), found, *details)

    def get(self, step: Step[T]) -> T:
        """The result of a step, computed at its first use."""
        if step not in self.memo:
            self.memo[step] = step.compute(self)
        result: T = self.memo[step]
        return result


@by_value()
class LabelAxis(NamedTuple):
    """Labels by name, and how often each of them occurs; empty where there are no labels.

    Attributes
    ----------
    labels : tuple of str
    n_reference, n_prediction : int arrays, shape (labels,)
        Occurrences on each side, before a cutoff or a decoding rule.
    given : int or None
        The first so many labels are the class list.
    ignored : mapping from label to pair of int
        How often labels that were ignored were predicted and true.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    in_columns : bool array, shape (labels,), or None
        Labels that are columns of a matrix or keys of 0/1 mappings; None if there are none.
    """

    labels: tuple[str, ...]
    n_reference: Ints
    n_prediction: Ints
    given: int | None
    ignored: Mapping[str, tuple[int, int]]
    named: Mapping[str, frozenset[str]] = _NONE
    in_columns: Bools | None = None


def occurring(codes: Any, width: int) -> Bools:
    """Tell which of the codes from 0 to ``width`` there are.

    Examples
    --------
    >>> occurring(np.array([2, 0, 2]), 3).tolist()
    [True, False, True]
    """
    flags = np.zeros(width, np.bool_)
    flags[codes] = True
    return flags


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Task(ABC):
    """What the block loop evaluates, of any kind.

    Attributes
    ----------
    kind : str
        The name of its kind.
    ids : sequence of str, range or int array
        One for each item; numbers where items are known by position.
    settings : mapping
        Conventions that changed the data, by their keys in signatures.
    counts : mapping
        How many items were left out or merged, by reason.
    observations : Observations
        What was observed in both sides together, such as probable mistakes.
    weights : float array, shape (items,), or None
    groups : uint64 array, shape (items,), or None
        Items with equal numbers are resampled together.
    unit : str
        What an item is.
    shared : dict
        What steps compute once for all blocks.
    """

    kind: ClassVar[str]
    ids: Ids
    settings: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    observations: Observations = field(default_factory=Observations)
    weights: Floats | None = None
    groups: Hashes | None = None
    unit: str = "image"
    shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each item's id."""
        return hash_ids(self.ids)

    @property
    @abstractmethod
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their references; the parts of a split add up."""

    @property
    def weighting(self) -> int:
        """64-bit fingerprint of the ids and their weights, as `fingerprint`; 0 without weights."""
        if self.weights is None:
            return 0
        bits = (self.weights + 0.0).view(np.uint64)  # -0 is 0
        return int(mix(self.hashes ^ mix(bits)).sum(dtype=np.uint64))

    @property
    def axis(self) -> LabelAxis:
        """What macro averages run over; empty where there are no labels."""
        return LabelAxis((), np.zeros(0, np.int64), np.zeros(0, np.int64), None, {})

    @property
    def identities(self) -> dict[str, str]:
        """What each model is, for signatures, and what else must be equal in parts."""
        return {}

    def blocks(self, memory: int = 1 << 25) -> Iterator[Block[Any]]:
        """Items in blocks whose working arrays take about that many bytes."""
        step = self._step(memory)
        for start in range(0, len(self), step):
            yield Block(self, start, min(start + step, len(self)))

    def _step(self, memory: int) -> int:
        """Return how many items are a block."""
        return len(self)

    def take(self: K, rows: Ints) -> K:
        """The task on those items alone, in that order; nothing is coded again."""
        return replace(
            self,
            ids=take_ids(self.ids, rows),
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
            **self._take_sides(rows),
        )

    @abstractmethod
    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        """Return the attributes of a kind for those items."""


def kept(make: F) -> F:
    """Keep what a function makes of a task or a block with it, by name and other arguments."""
    form = signature(make)

    @wraps(make)
    def get(*given: Any, **named: Any) -> Any:
        bound = form.bind(*given, **named)
        bound.apply_defaults()
        owner, *others = bound.arguments.values()
        results: Any = owner.memo if isinstance(owner, Block) else owner.shared
        key = (make.__module__, make.__name__, *others)
        if key not in results:
            results[key] = make(*given, **named)
        return results[key]

    return cast("F", get)


TAXONOMY, FOUND = "#taxonomy", "#classes found"  # no embedding can have these names
ALL = "all"
"""The candidates of a prediction that is not restricted."""
UNRANKED = 1 << 60
"""The rank of a positive that a ranked list does not have."""

# Bytes of working arrays: of an item, of a candidate with a reference, and of a letter of either,
# of which a token has about five.
_ITEM, _PAIR, _LETTER = 1024, 512, 24


def _hash_lists(names: Hashes, indptr: Ints, codes: Ints | Codes) -> Hashes:
    """Hash lists of names, in which the order counts."""
    # an odd factor for each place in the list; it is never 1, the factor of the id
    place = ragged.positions(indptr).astype(np.uint64)
    place += place + np.uint64(3)
    return _sum_hashes(np.multiply(names.take(codes), place, out=place), indptr)


def _sum_hashes(hashes: Hashes, indptr: Ints) -> Hashes:
    """Sum the hashes of each row."""
    total = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(hashes, out=total[1:])
    return np.asarray(total[indptr[1:]] - total[indptr[:-1]])


class Synonyms(NamedTuple):
    """Labels as they were written, where some of them have several terms.

    Attributes
    ----------
    terms : sequence of tuples of str
        The terms of each written label; ``Side.written`` holds its codes.
    ambiguous : bool array, shape (written labels,)
        A prediction that shares terms with several classes, or a reference label whose terms
        another class has too.
    found : str or None
        Number and hash of the classes that the references gave; None where classes were given.
    """

    terms: Sequence[Terms]
    ambiguous: Bools
    found: str | None = None


class IgnoredLabels(NamedTuple):
    """Labels that were taken out of both sides, item by item.

    Attributes
    ----------
    labels : tuple of str
    pred, ref : Side
        Codes into ``labels``.
    """

    labels: tuple[str, ...]
    pred: Side
    ref: Side

    def times(self) -> dict[str, tuple[int, int]]:
        """Count how often each is predicted and true; those that never are left out."""
        sides = (
            np.bincount(s.codes, minlength=len(self.labels))
            for s in (self.pred, self.ref)
        )
        every = zip(self.labels, *(counts.tolist() for counts in sides), strict=True)
        return {
            name: (n_pred, n_ref) for name, n_pred, n_ref in every if n_pred or n_ref
        }

    def take(self, rows: Ints) -> IgnoredLabels:
        """Return those of some items."""
        return IgnoredLabels(self.labels, self.pred.take(rows), self.ref.take(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Unverified:
    """The cells of items and labels that nobody verified, or their complement.

    Attributes
    ----------
    cells : Side
        Distinct labels of each item.
    categories : bool array, shape (classes,), or None
        None if ``cells`` are the unverified cells. Otherwise ``cells`` are the verified ones, as a
        federated dataset lists them, and these classes are its categories. A predicted label that
        is not a category is a verified cell of its item. It counts as wrong.
    """

    cells: Side
    categories: Bools | None = None

    @property
    def name(self) -> str:
        """What the cells are: "unverified" or "verified"."""
        return "unverified" if self.categories is None else "verified"

    def rows(self, start: int, stop: int) -> Unverified:
        """Return items start to stop."""
        return replace(self, cells=self.cells.rows(start, stop))

    def take(self, rows: Ints) -> Unverified:
        """Return the items of those numbers."""
        return replace(self, cells=self.cells.take(rows))

    def of_truth(self) -> Side:
        """Return the cells without the predicted labels that are not categories."""
        if self.categories is None:
            return self.cells
        return self.cells.keep(self.categories[self.cells.codes])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LabelTask(Task):
    """Predicted and reference label lists of the same items, coded in one class list.

    Attributes
    ----------
    classes : tuple of str
        Given classes in their order, then the others by name; without a class list all by name.
    pred, ref : Side
        Codes into ``classes``.
    ranked : bool
        Whether predictions are scores of labels rather than label lists.
    binary : bool
        Whether predictions were 0 and 1: a score of each label, of which 1 alone is in the lists.
    precision : str
        The floating-point type in which scores were given. A threshold is rounded to it, as NumPy
        and torch do if they compare an array with a number.
    given : int or None
        How many of the classes were given.
    in_columns : bool array, shape (classes,), or None
        Classes that are columns of a matrix or keys of 0/1 mappings: labels of the data even if no
        item has them. None if no side is one.
    ignored : IgnoredLabels or None
        The labels that were taken out.
    difficult : Side or None
        The labels of each item that are neither present nor absent in the ground truth.
    unverified : Unverified or None
        The cells of which nobody verified whether the item has the label. No prediction has them,
        and what divides by the number of labels or items leaves them out. None if all cells are
        verified.
    synonyms : Synonyms or None
    terms : sequence of tuples of str, or None
        The terms of each class; None where the name of each is its one term.
    heads : float array, shape (items, cardinalities), or None
        Probabilities of each set size, for the decoding rules that use them.
    first_set_size : int
        The set size of their first column.
    models : mapping from key to label vectors
        Embeddings of the labels as they were written, by the ``model_key`` of measures.
    taxonomy : Taxonomy or None
    """

    kind: ClassVar[str] = "labels"
    classes: tuple[str, ...]
    pred: Side
    ref: Side
    ranked: bool = False
    binary: bool = False
    precision: str = "float64"
    given: int | None = None
    in_columns: Bools | None = None
    ignored: IgnoredLabels | None = None
    difficult: Side | None = None
    unverified: Unverified | None = None
    synonyms: Synonyms | None = None
    terms: Sequence[Terms] | None = None
    heads: Floats | None = None
    first_set_size: int = 0
    models: Mapping[str, Any] = field(default_factory=dict)
    taxonomy: Any = None

    def _step(self, memory: int) -> int:
        occurrences = len(self.pred.codes) + len(self.ref.codes)
        return max(1, int(memory / (64 * (1 + occurrences / max(1, len(self))))))

    @property
    def numbered(self) -> bool:
        """Whether every label is a number, which has no meaning of its own."""
        return bool(self.classes) and all(map(str.isdecimal, self.classes))

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their reference lists; the parts of a split add up."""
        names = hash_strings(self.classes)
        parts = []
        for block in self.blocks():
            ref = self.ref.rows(block.start, block.stop)
            items = _hash_lists(names, ref.indptr, ref.codes)
            items += self.hashes[block.start : block.stop]
            if self.difficult is not None:
                hard = self.difficult.rows(block.start, block.stop)
                items += np.uint64(5) * _hash_lists(names, hard.indptr, hard.codes)
            if self.unverified is not None:
                cells = self.unverified.rows(block.start, block.stop).of_truth()
                factor = np.uint64(7 if self.unverified.categories is None else 11)
                items += factor * _hash_lists(names, cells.indptr, cells.codes)
            parts.append(mix(items).sum(dtype=np.uint64))
        return int(np.array(parts, np.uint64).sum(dtype=np.uint64))

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how often each of them occurs."""
        width = len(self.classes)
        sides = [
            np.bincount(side.codes, minlength=width) for side in (self.ref, self.pred)
        ]
        ignored = {} if self.ignored is None else self.ignored.times()
        return LabelAxis(
            self.classes,
            sides[0],
            sides[1],
            self.given,
            ignored,
            in_columns=self.in_columns,
        )

    @property
    def n_known(self) -> int | None:
        """The number of labels there are: of the class list, or else of the columns of a matrix.

        Labels that the other side has besides the columns count too. None if neither is given.
        """
        if self.given is not None or self.in_columns is None:
            return self.given
        axis = self.axis
        return int(
            (self.in_columns | (axis.n_reference > 0) | (axis.n_prediction > 0)).sum()
        )

    @property
    def identities(self) -> dict[str, str]:
        """What each embedding is, and the taxonomy, for signatures; and the classes found."""
        models = {name: str(model) for name, model in self.models.items()}
        if self.taxonomy is not None:
            models[TAXONOMY] = str(self.taxonomy.identity)
        if self.synonyms is not None and self.synonyms.found is not None:
            models[FOUND] = self.synonyms.found
        return models

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        heads = None if self.heads is None else self.heads[rows]
        ignored = None if self.ignored is None else self.ignored.take(rows)
        difficult = None if self.difficult is None else self.difficult.take(rows)
        sides: dict[str, Any] = {
            "pred": self.pred.take(rows),
            "ref": self.ref.take(rows),
        }
        if self.unverified is not None:
            sides["unverified"] = self.unverified.take(rows)
        return {**sides, "difficult": difficult, "heads": heads, "ignored": ignored}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CaptionTask(Task):
    """Candidate captions and reference captions of the same images.

    An item is a candidate. Where an image has several, each is an item of its own, and ``groups``
    has a hash of each item's image.

    Attributes
    ----------
    texts : tuple of str
        The distinct captions of both sides, as they were written.
    candidates : int array, shape (items,)
        The caption of each item, in ``texts``.
    images : int array, shape (items,)
        The image of each item, from 0; items of one image have the same references.
    indptr, references : int arrays, shapes (images + 1,) and (occurrences,)
        The reference captions of each *image*, in ``texts``.
    tokenizer : Tokenizer
        With ``name``, which is "tok" of the settings, and ``tokens(captions)``.
    fits : mapping
        Document frequencies: "df" for measures with ``df=given`` ("df/porter" for those with
        ``stem=porter``), "references/none" in place of those that ``df=references`` would count.
        Scene graphs: "parser/official" and so on.
    models : mapping from key to TextModel
        Embeddings, by the ``model_key`` of measures.
    """

    kind: ClassVar[str] = "captions"
    texts: tuple[str, ...]
    candidates: Ints
    images: Ints
    indptr: Ints
    references: Ints
    tokenizer: Any
    fits: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identities(self) -> dict[str, str]:
        """What each embedding is, for signatures."""
        return {name: str(model) for name, model in self.models.items()}

    def blocks(self, memory: int = 1 << 27) -> Iterator[Block[CaptionTask]]:
        """Items in blocks whose working arrays take about that many bytes, or of one item."""
        # an item takes what its pairs and the letters of their captions do; not their tokens, for
        # which no measure may have asked
        letters = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        n_refs = ragged.lengths(self.indptr)[self.images]
        theirs = ragged.sum_rows(letters[self.references], self.indptr)[self.images]
        of_pairs = n_refs * letters[self.candidates] + theirs
        costs = _ITEM + _PAIR * n_refs + _LETTER * of_pairs
        for rows in ragged.runs_within(ragged.offsets(costs), memory):
            yield Block(self, rows.start, rows.stop)

    @staticmethod
    def of_images(ids: Ids, sizes: Ints, **attributes: Any) -> CaptionTask:
        """Make a task of images by id; image ``i`` has the next ``sizes[i]`` candidates.

        Raises
        ------
        InputError
            If the name of an item would be that of another.
        """
        if (sizes > 1).any():
            attributes |= {"groups": np.repeat(hash_ids(ids), sizes), "unit": "caption"}
        images = np.repeat(np.arange(len(sizes)), sizes)
        return CaptionTask(ids=item_ids(ids, sizes), images=images, **attributes)

    def pairs(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Offsets and captions of the references of items ``start`` to ``stop``."""
        indptr, flat = ragged.take_rows(self.indptr, self.images[start:stop])
        return indptr, self.references[flat]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their references; the parts of a split add up."""
        images = _hash_lists(hash_strings(self.texts), self.indptr, self.references)
        return int(mix(images[self.images] + self.hashes).sum(dtype=np.uint64))

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        images, place = np.unique(self.images[rows], return_inverse=True)
        indptr, flat = ragged.take_rows(self.indptr, images)
        items = {"candidates": self.candidates[rows], "images": place.ravel()}
        return {**items, "indptr": indptr, "references": self.references[flat]}


def caption_task(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    ids: Ids,
    tokenizer: Any,
    **more: Any,
) -> CaptionTask:
    """A task from the captions of each image, both sides in the same order.

    Parameters
    ----------
    candidates, references : sequences of sequences of str
    ids : sequence of str, range or int array
        One an image. Where images have several candidates, items are called "id#1", "id#2".
    tokenizer : Tokenizer
    **more
        Further attributes.

    Raises
    ------
    InputError
        If the name of an item would be that of another.
    """
    codes: dict[str, int] = {}
    flat = [
        codes.setdefault(text, len(codes)) for texts in candidates for text in texts
    ]
    refs = [
        codes.setdefault(text, len(codes)) for texts in references for text in texts
    ]
    own, others = (
        np.array([*map(len, side)], np.int64) for side in (candidates, references)
    )
    coded = {
        "candidates": np.array(flat, np.int64),
        "references": np.array(refs, np.int64),
    }
    rest = {
        "texts": tuple(codes),
        "indptr": ragged.offsets(others),
        "tokenizer": tokenizer,
    }
    return CaptionTask.of_images(ids, own, **coded, **rest, **more)


def item_ids(ids: Ids, sizes: Ints) -> Ids:
    """The names of candidates, from the ids of images and how many candidates each has.

    Raises
    ------
    InputError
        If an image is called as a candidate of another.

    Examples
    --------
    >>> item_ids(["a", "b"], np.array([2, 1]))
    ['a#1', 'a#2', 'b']
    """
    if (sizes == 1).all():
        return ids
    names = [
        f"{name}#{number}" if size > 1 else str(name)
        for name, size in zip(ids, sizes.tolist(), strict=True)
        for number in range(1, size + 1)
    ]
    check_once(names, "id-of-candidate")
    return names


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores(Similarities):
    """A matrix of images x classes; that its numbers are finite is checked as they are read.

    Attributes
    ----------
    source : str
        What messages call it.
    """

    source: str = "scores"

    @property
    def integer(self) -> bool:
        """Whether scores are whole numbers, which floats may not hold."""
        return bool(self.values.dtype.kind in "iu")

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the scores of some images; perhaps memory-mapped."""
        table = super().table(rows, columns)
        return table.view(np.uint8) if table.dtype == np.bool_ else table

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count the classes with a larger score than some."""
        table = self.table(rows, columns)
        with np.errstate(all="ignore"):
            plain = np.isfinite(table.sum())
        if not plain and not np.isfinite(table).all():
            check_finite(self.values, self.source)
        return super().count(rows, columns, indptr, codes)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> First:
        """Find the class with the largest score of each image."""
        found = super().nearest(rows, columns, codes)
        if not found.finite.all():
            check_finite(self.values, self.source)
        return found


class Decided(NamedTuple):
    """What is predicted for some images.

    Attributes
    ----------
    hit : bool array, shape (images,)
        Whether it is the true class.
    predicted : int32 array
        Its code; -1 where nothing is ranked.
    values : float array
        Its score; nan where it has none.
    tied : bool array
        Whether the rule of ties decided whether it is the true class.
    """

    hit: Bools
    predicted: Codes
    values: Floats
    tied: Bools


class ClassRanks(NamedTuple):
    """Where the true classes of some images are ranked.

    Attributes
    ----------
    ranks : int array, shape (images,)
        From 1; 0 where the true class is not ranked.
    sizes : int array
        How many classes are ranked.
    tied : bool array
        Whether the rule of ties decided the rank.
    """

    ranks: Ints
    sizes: Ints
    tied: Bools


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClassTask(Task):
    """Images with their true classes and the ranking of all classes that is predicted for each.

    Attributes
    ----------
    classes : tuple of str
        Those that are ranked, in the order of the columns; behind them predicted ones outside the
        class list.
    given : int or None
        How many classes the class list has; None without one.
    scores : ClassScores or RankedLists
    rows : int array, shape (images,)
        The row of each image in ``scores``; -1 where it has none.
    truth : int32 array, shape (images,)
        The code of each image's class.
    ties : {"position", "optimistic", "pessimistic"}
    named : mapping from name to set of classes
        The lists of classes that measures may name.
    listed : mapping from name to text
        Number and hash of those lists that are no option's own, for signatures.
    """

    kind: ClassVar[str] = "classes"
    classes: tuple[str, ...]
    given: int | None
    scores: ClassScores | RankedLists
    rows: Ints
    truth: Codes
    ties: str = "position"
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)

    def _step(self, memory: int) -> int:
        return self.scores.step

    @property
    def class_list(self) -> tuple[str, ...]:
        """The class list; without one, all classes that either side names."""
        return self.classes[: self.given]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their classes; parts add up."""
        names = mix(hash_strings(self.classes))
        return int(mix(names[self.truth] + self.hashes).sum(dtype=np.uint64))

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how many images each has; predictions of all of them count."""
        true = np.bincount(self.truth, minlength=len(self.classes))
        return LabelAxis(
            self.classes, true, np.zeros_like(true), self.given, {}, self.named
        )

    @property
    def identities(self) -> dict[str, str]:
        """What the lists of classes are, for signatures."""
        return {f"#list {name}": text for name, text in self.listed.items()}

    def columns(self, name: str) -> Ints | None:
        """Return the codes of the candidates of that name, rising; None for all."""
        if name == ALL:
            return None
        chosen = self.named[name]
        return np.flatnonzero([one in chosen for one in self.classes])

    def decide(self, start: int, stop: int, columns: Ints | None) -> Decided:
        """Return what is predicted for images ``start`` to ``stop`` among the candidates."""
        rows, truth = self.rows[start:stop], self.truth[start:stop]
        found = First.empty(stop - start)
        some = np.flatnonzero(rows >= 0)
        nearest = self.scores.nearest(rows[some], columns, truth[some])
        for whole, part in zip(found, nearest, strict=True):
            whole[some] = part
        hit = {
            "position": (found.places == truth) & found.reached,
            "optimistic": found.reached,
            "pessimistic": found.reached & (found.tied == 0),
        }[self.ties]
        others = found.places if self.ties == "position" else found.others
        tied = found.reached & (found.tied > 0)
        return Decided(hit, np.where(hit, truth, others), found.values, tied)

    def place(self, start: int, stop: int, columns: Ints | None) -> ClassRanks:
        """Return where the classes of images ``start`` to ``stop`` rank among the candidates."""
        rows, truth = self.rows[start:stop], self.truth[start:stop]
        ranks, sizes = (
            np.zeros(stop - start, np.int64),
            np.zeros(stop - start, np.int64),
        )
        tied = np.zeros(stop - start, np.bool_)
        ranked = rows >= 0
        sizes[ranked] = self.scores.sizes(rows[ranked], columns)
        if columns is not None:
            ranked &= np.isin(truth, columns)
        some = np.flatnonzero(ranked)
        found = self.scores.count(
            rows[some], columns, np.arange(len(some) + 1), truth[some]
        )
        before = {
            "position": found.tied_before,
            "optimistic": np.zeros_like(found.tied),
            "pessimistic": found.tied,
        }[self.ties]
        ranks[some] = np.where(found.nearer < 0, 0, found.nearer + before + 1)
        tied[some] = (found.nearer >= 0) & (found.tied > 0)
        return ClassRanks(ranks, sizes, tied)

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        return {"rows": self.rows[rows], "truth": self.truth[rows]}


class Ranks(NamedTuple):
    """The ranks of the positives of some queries.

    Attributes
    ----------
    indptr : int array, shape (queries + 1,)
    ranks : int array
        From 1, rising within a query; `UNRANKED` where a list lacks the positive.
    candidates : int array, shape (queries,)
        How many candidates each query ranks.
    undecided : bool array, shape (queries,)
        Whether a positive is tied with what is none, so that the rule of ties decides its rank.
    grades : float array, optional
        Of the positives, as their ranks.
    """

    indptr: Ints
    ranks: Ints
    candidates: Ints
    undecided: Bools
    grades: Floats | None = None

    @property
    def number(self) -> Ints:
        """The number of positives of each query."""
        return ragged.lengths(self.indptr)

    def hits(self, k: Any) -> Ints:
        """Return how many positives each query has among the first k, one k or one for each."""
        limits = np.broadcast_to(np.asarray(k), self.candidates.shape)
        within = self.ranks <= np.repeat(limits, self.number)
        return np.bincount(
            ragged.row_numbers(self.indptr)[within], minlength=len(self.candidates)
        )

    @property
    def best(self) -> Ints:
        """The rank of the first positive of each query; `UNRANKED` without one."""
        found = np.full(len(self.candidates), UNRANKED)
        some = self.number > 0
        found[some] = self.ranks[self.indptr[:-1][some]]
        return found


def _ranks_of(counts: Counts, indptr: Ints, ties: str) -> tuple[Ints, Bools, Ints]:
    """Return the ranks of positives under a rule of ties, rising, and which queries it decides.

    Also the place of each, in the order given.
    """
    rows = ragged.row_numbers(indptr)
    # positives of one query are tied with each other where as many candidates are nearer
    order = np.lexsort((counts.tied_before, counts.nearer, rows))
    nearer = counts.nearer[order]
    starts = np.flatnonzero(ragged.starts_run(rows) | ragged.starts_run(nearer))
    widths = np.diff(starts, append=len(order))
    mine, among = (
        np.repeat(widths, widths),
        np.arange(len(order)) - np.repeat(starts, widths),
    )
    # tied, and no positives
    others = np.where(nearer < 0, 0, counts.tied[order] + 1 - mine)
    before = {
        "position": counts.tied_before[order],
        "optimistic": among,
        "pessimistic": others + among,
    }[ties]
    ranks = np.where(nearer < 0, UNRANKED, nearer + before + 1)
    undecided = np.zeros(len(indptr) - 1, np.bool_)
    undecided[rows[others > 0]] = True
    rising = np.lexsort((ranks, rows))  # an unranked positive comes last
    return ranks[rising], undecided, order[rising]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RetrievalTask(Task):
    """Queries with their positives, and the ranking of the gallery for each.

    Attributes
    ----------
    gallery : sequence of str, range or int array
        The names of the candidates; numbers where they are known by position. Behind them there
        may be names of positives that are no candidates.
    scores : Rows
        What ranks the gallery.
    rows : int array, shape (queries,)
        The row of each query in ``scores``; -1 where it has none, and so ranks nothing.
    indptr, positives : int arrays, shapes (queries + 1,) and (n,)
        The positives of each query by their place in the gallery, rising and each once.
    ties : {"position", "optimistic", "pessimistic"}
    folds : pair of int arrays, or None
        The fold of each query and of each candidate.
    beside : mapping from name to object
        What measures take besides, such as matrices of queries x gallery.
    grades : float array, shape (n,), or None
        Of the positives, all above 0.
    """

    kind: ClassVar[str] = "retrieval"
    gallery: Ids
    scores: Rows
    rows: Ints
    indptr: Ints
    positives: Codes
    ties: str = "position"
    folds: tuple[Ints, Ints] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)
    grades: Floats | None = None

    def _step(self, memory: int) -> int:
        return self.scores.step

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids, the names of their positives and grades but 1; adds up."""
        grades = np.ones(1) if self.grades is None else self.grades
        more = grades.view(np.uint64) - np.ones(1).view(np.uint64)
        names = mix(hash_ids(self.gallery)[self.positives] + more)
        return int(
            mix(_sum_hashes(names, self.indptr) + self.hashes).sum(dtype=np.uint64)
        )

    def at_level(self, rel: int) -> RetrievalTask:
        """Return the task with only the positives of a grade of at least ``rel``.

        Positives without grades have grade 1.
        """
        if self.grades is None:
            chosen = np.full(len(self.positives), rel <= 1)
        else:
            chosen = self.grades >= rel
        indptr = ragged.offsets(ragged.sum_rows(chosen, self.indptr))
        grades = None if self.grades is None else self.grades[chosen]
        return replace(
            self, indptr=indptr, positives=self.positives[chosen], grades=grades
        )

    def ranks(self, start: int, stop: int) -> Ranks:
        """Return the ranks of the positives of queries ``start`` to ``stop``."""
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        codes = self.positives[self.indptr[start] : self.indptr[stop]]
        counts, sizes = Counts.empty(len(codes)), np.zeros(stop - start, np.int64)
        counts.nearer[:] = -1
        inside = codes < self.scores.shape[1]
        for chosen, rows, columns in self._by_fold(start, stop):
            indices, flat = ragged.take_rows(indptr, chosen)
            indices = ragged.offsets(ragged.sum_rows(inside[flat], indices))
            flat = flat[inside[flat]]
            part = self.scores.count(rows, columns, indices, codes[flat])
            for whole, some in zip(counts, part, strict=True):
                whole[flat] = some
            sizes[chosen] = self.scores.sizes(rows, columns)
        ranks, undecided, order = _ranks_of(counts, indptr, self.ties)
        grades = (
            None if self.grades is None else self.grades[self.indptr[start] + order]
        )
        return Ranks(indptr, ranks, sizes, undecided, grades)

    def first(self, start: int, stop: int, k: int) -> list[Codes]:
        """Return the first k candidates of queries ``start`` to ``stop``, the nearest first.

        Returns
        -------
        list of int32 arrays
            Fewer than k where a query ranks fewer.
        """
        found: list[Codes] = [np.zeros(0, np.int32)] * (stop - start)
        for chosen, rows, columns in self._by_fold(start, stop):
            later = None  # which of tied candidates stand behind the others
            if self.ties != "position":
                later = np.full(
                    (len(chosen), len(self.gallery)), self.ties == "optimistic"
                )
                indptr, flat = ragged.take_rows(self.indptr, chosen + start)
                later[ragged.row_numbers(indptr), self.positives[flat]] = (
                    self.ties == "pessimistic"
                )
                later = later[:, : self.scores.shape[1]]
            part = self.scores.first(rows, columns, k, later)
            for place, codes in zip(chosen.tolist(), part, strict=True):
                found[place] = codes
        return found

    def _by_fold(
        self, start: int, stop: int
    ) -> Iterator[tuple[Ints, Ints, Ints | None]]:
        """Yield queries of one fold (from 0 in the block), their rows, and their candidates."""
        rows = self.rows[start:stop]
        ranked = np.flatnonzero(rows >= 0)
        if self.folds is None:
            if len(ranked):
                yield ranked, rows[ranked], None
            return
        mine, theirs = self.folds[0][start:stop], self.folds[1]
        for fold in np.unique(mine[ranked]).tolist():
            chosen = ranked[mine[ranked] == fold]
            yield chosen, rows[chosen], np.flatnonzero(theirs == fold)

    @property
    def identities(self) -> dict[str, str]:
        """What each phi is, for signatures; without one, nDCG takes the grades."""
        found = {f"{PHI}:default": "grades"}
        return found | {
            f"{PHI}:{n}": one.identity for n, one in self.beside.get(PHI, {}).items()
        }

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        indptr, flat = ragged.take_rows(self.indptr, rows)
        folds = None if self.folds is None else (self.folds[0][rows], self.folds[1])
        grades = None if self.grades is None else self.grades[flat]
        sides = {
            "rows": self.rows[rows],
            "indptr": indptr,
            "positives": self.positives[flat],
        }
        return {**sides, "grades": grades, "folds": folds}
