r"""Distances and similarities of whole label lists: word mover's distance and bags of labels.

Conventions
-----------
Two ways to make words of labels, named by ``build``. ``text``, as the paper's reference code: all
terms of all labels are joined into one string, words are ``\b\w\w+\b`` of it in lower case, and
a word weighs as often as it occurs. ``labels``: every label is one point, with the vector of its
first term that has one, and all weigh the same.

Distances are Euclidean between vectors as the model gives them (Kubany et al. 2020) and therefore
depend on the model. They are at least 0; lower is better. Similarities are cosines.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.keys import distinct
from semmetrics.core.pairs import Euclidean
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    prefixes,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.core.similarity import unit_rows
from semmetrics.core.transport import gathered_transport, relaxed_transport
from semmetrics.data.block import Block
from semmetrics.data.labels import Side
from semmetrics.data.task import LabelTask
from semmetrics.embed.base import Embedded, embed_unique
from semmetrics.embed.labels import label_vectors
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import (
    Definition,
    Measure,
    Option,
    Statistic,
)
from semmetrics.metrics.families import cut_of, set_options
from semmetrics.metrics.matching import Cut, Ranked, Reference
from semmetrics.metrics.policies import POLICIES, ItemMeans, value_columns
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic import EMBEDDING
from semmetrics.metrics.similar import model_of, written

__all__ = ["RWMD", "WMD", "BagSim", "MeanSim", "texts_cut"]

LabelBlock = Block[LabelTask]
_WORD = re.compile(r"\b\w\w+\b")
_CUT = "lists cut by a model"


@dataclass(frozen=True)
class Vocabulary:
    """The words of a task's labels, with vectors; made once for all blocks."""

    build: str
    model: str

    def compute(self, block: LabelBlock) -> Any:
        """Words of each written label, and their vectors."""
        key = ("words", self.build, self.model)
        shared = block.task.shared
        if key not in shared:
            vectors = model_of(block.task, self.model)
            shared[key] = _text_words(vectors) if self.build == "text" else _label_words(vectors)
        return shared[key]


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words by label, and the vectors of words.

    Words are in the order of their texts, so that an item's sums have an order of their own.

    Attributes
    ----------
    indptr, codes : int arrays
        The words of each label, as often as they occur.
    vectors : float32 array, shape (words, dimension)
    """

    indptr: Ints
    codes: Ints
    vectors: NDArray[np.float32]

    @cached_property
    def distances(self) -> Euclidean:
        """Distances of pairs of words, each with the same bits whatever else is asked for."""
        return Euclidean(self.vectors.astype(np.float64))

    @cached_property
    def points(self) -> Ints:
        """Words by number, one number for equal vectors."""
        return np.unique(self.vectors, axis=0, return_inverse=True)[1].ravel()


def _text_words(vectors: Any) -> WordTable:
    found = [
        [w for row in vectors.rows[a:b] for w in _WORD.findall(vectors.terms[row].lower())]
        for a, b in zip(vectors.indptr[:-1], vectors.indptr[1:], strict=True)
    ]
    place = {word: code for code, word in enumerate(sorted({w for words in found for w in words}))}
    codes = [place[word] for words in found for word in words]
    looked = label_vectors(
        [(word,) for word in place], vectors.embedder, lookup=vectors.lookup, oov=vectors.oov
    )
    indptr = offsets(np.fromiter(map(len, found), np.int64, len(found)))
    return _standing(WordTable(indptr, np.array(codes, np.int64), looked.vectors), looked.stands)


def _label_words(vectors: Any) -> WordTable:
    first = _first_terms(vectors)
    kept = first >= 0
    order = np.array(sorted(range(len(vectors.terms)), key=vectors.terms.__getitem__), np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return WordTable(offsets(kept.astype(np.int64)), place[first[kept]], vectors.vectors[order])


def _first_terms(vectors: Any) -> Ints:
    """The first term of each label that takes part, or -1."""
    first = np.full(len(vectors.indptr) - 1, -1)
    standing = np.flatnonzero(vectors.stands[vectors.rows])[::-1]
    first[row_numbers(vectors.indptr)[standing]] = vectors.rows[standing]
    return first


def _standing(table: WordTable, stands: Bools) -> WordTable:
    """Without the words that do not take part."""
    if stands.all():
        return table
    kept = stands[table.codes]
    widths = np.bincount(row_numbers(table.indptr)[kept], minlength=len(table.indptr) - 1)
    return WordTable(offsets(widths), table.codes[kept], table.vectors)


@dataclass(frozen=True, eq=False)
class WordBags:
    """Words of each item with their shares, both sides, in one coding.

    Attributes
    ----------
    pred, ref : tuples of offsets, codes and weights
        Distinct words of each item; weights sum to 1 in an item that has words.
    table : WordTable
    """

    pred: tuple[Ints, Ints, Floats]
    ref: tuple[Ints, Ints, Floats]
    table: WordTable


@dataclass(frozen=True)
class Bags:
    """The bags of words of each item, predictions cut first."""

    cut: Cut
    build: str
    model: str

    def compute(self, block: LabelBlock) -> WordBags:
        """Words of the labels kept, counted."""
        table = block.get(Vocabulary(self.build, self.model))
        ranked, ref = block.get(Ranked()), block.get(Reference())
        kept = prefixes(ranked.indptr, block.get(self.cut))
        sides = [_bag(side, table) for side in (ranked.keep(kept), ref)]
        return WordBags(sides[0], sides[1], table)


def _bag(side: Side, table: WordTable) -> tuple[Ints, Ints, Floats]:
    wptr, flat = take_rows(table.indptr, written(side))
    words = wptr[side.indptr]
    indptr, codes, times = distinct(words, table.codes[flat], max(1, len(table.vectors)))
    return indptr, codes, times / np.repeat(lengths(words), lengths(indptr))


@dataclass(frozen=True)
class TransportValues:
    """Word mover's distance of each item, or its relaxed bound: columns "value" and "cause"."""

    name: str
    bags: Bags
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Solve the items that have words on both sides."""
        bags = block.get(self.bags)
        widths = [lengths(side[0]) for side in (bags.pred, bags.ref)]
        both = np.flatnonzero((widths[0] > 0) & (widths[1] > 0))
        value = np.full(len(block), np.nan)
        if len(both):
            sides = [_rows(side, both) for side in (bags.pred, bags.ref)]
            solve = relaxed_transport if self.name == "RWMD" else _exact_transport
            value[both] = solve(bags.table.distances, *sides[0], *sides[1])
            if self.bags.build == "text":
                value[both] = _flat_as_ones(value[both], sides, bags.table.points)
        return value_columns(value, *widths)


def _exact_transport(*problems: Any) -> Any:
    return gathered_transport(*problems).costs


def _rows(side: tuple[Ints, Ints, Floats], items: Ints) -> tuple[Ints, Ints, Floats]:
    indptr, flat = take_rows(side[0], items)
    return indptr, side[1][flat], side[2][flat]


def _flat_as_ones(value: Floats, sides: Any, points: Ints) -> Floats:
    """Where all words of an item share one vector, every distance counts 1, as in the paper's code.

    (It replaces a matrix of zeros by one of ones, unless there is but one word.)
    """
    items = np.concatenate([row_numbers(side[0]) for side in sides])
    codes = np.concatenate([side[1] for side in sides])
    n_words, n_points = (
        np.bincount(np.unique(items * len(points) + names) // len(points), minlength=len(value))
        for names in (codes, points[codes])
    )
    return np.where((n_points == 1) & (n_words > 1), 1.0, value)


@dataclass(frozen=True)
class BagValues:
    """Cosine of the two label lists of each item as wholes: columns "value" and "cause".

    ``how`` is "text" (all terms joined by blanks and embedded as one text) or "mean" (the mean of
    the labels' normalised vectors).
    """

    how: str
    cut: Cut
    model: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Embed both sides and compare them item by item."""
        vectors = model_of(block.task, self.model)
        ranked, ref = block.get(Ranked()), block.get(Reference())
        kept = prefixes(ranked.indptr, block.get(self.cut))
        sides = (ranked.keep(kept), ref)
        if self.how == "text":
            found = [_whole_texts(side, vectors) for side in sides]
            cut = sum(one.truncated for one in found)
            block.task.shared.setdefault(_CUT, {})[self, block.start] = cut
            pairs = [(one.vectors.astype(np.float64), one.known) for one in found]
        else:
            pairs = [_means(side, vectors) for side in sides]
        (mine, some), (theirs, any_) = pairs
        value = np.round(np.einsum("ij,ij->i", unit_rows(mine), unit_rows(theirs)), 9)
        value = np.where(some & any_, np.clip(value, -1.0, 1.0), np.nan)
        if self.how == "text" and vectors.oov != "skip":  # a list that is not known is not empty
            some, any_ = (lengths(side.indptr) > 0 for side in sides)
        return value_columns(value, some, any_)


def texts_cut(task: LabelTask) -> dict[str, int]:
    """Label lists of which a model read only the beginning, by name of the embedding.

    Counted in what has been embedded so far, equal lists of a block once.
    """
    found: Counter[str] = Counter()
    for (values, _), cut in task.shared.get(_CUT, {}).items():
        found[values.model] += cut
    return dict(found)


def _whole_texts(side: Side, vectors: Any) -> Embedded:
    """Every list as one text; an empty list is not known."""
    if getattr(vectors.embedder, "lookup", "text") == "words":
        raise InputError(
            f"BagSim takes a list of labels as one text, and {vectors.embedder.identity} has "
            "vectors of words",
            remedy="name MeanSim in its place, or an embedding that reads text",
        )
    labels = [
        " ".join(vectors.terms[row] for row in vectors.rows[a:b])
        for a, b in zip(vectors.indptr[:-1], vectors.indptr[1:], strict=True)
    ]
    codes = written(side).tolist()
    texts = [
        " ".join([labels[code] for code in codes[a:b]])
        for a, b in zip(side.indptr[:-1].tolist(), side.indptr[1:].tolist(), strict=True)
    ]
    found = embed_unique(vectors.embedder, texts)
    listed = lengths(side.indptr) > 0
    found = replace(found, known=found.known & listed)
    lost = listed & ~found.known
    if not lost.any() or vectors.oov in ("skip", "zero"):
        return found
    table = np.where(lost[:, None], _stand_in(vectors, texts, lost), found.vectors)
    return replace(found, vectors=table, known=listed)


def _stand_in(vectors: Any, texts: list[str], lost: Bools) -> NDArray[np.float32]:
    """The vector of the word "unknown", where that stands for the lists that are not known."""
    identity = vectors.embedder.identity
    missing = listing(dict.fromkeys(texts[item] for item in np.flatnonzero(lost).tolist()))
    if vectors.oov == "error":
        raise InputError(
            f"{identity} does not know the label lists {missing}",
            remedy="add their vectors, or choose oov='skip', 'zero' or 'unknown'",
        )
    read = embed_unique(vectors.embedder, ["unknown"])
    if not read.known[0]:
        raise InputError(
            f"{identity} has no word 'unknown' to stand for the label lists {missing}",
            remedy="add their vectors, or choose oov='skip' or 'zero'",
        )
    return read.vectors


def _means(side: Side, vectors: Any) -> tuple[Floats, Bools]:
    from scipy.sparse import csr_array

    first = _first_terms(vectors)[written(side)]
    kept = first >= 0
    indptr = offsets(sum_rows(kept, side.indptr))
    shape = len(side), len(vectors.terms)
    times = csr_array((np.ones(int(indptr[-1])), first[kept], indptr), shape=shape)
    total: Floats = times @ vectors.units
    return total, lengths(indptr) > 0


class BagFamily(ItemMeans):
    """Means over items of a distance or similarity of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        name, model, cut = measure.definition.name, str(measure["embedding"]), cut_of(measure)
        if name in ("WMD", "RWMD"):
            return TransportValues(name, Bags(cut, str(measure["build"]), model))
        return BagValues("text" if name == "BagSim" else "mean", cut, model)


_BUILD = Option(
    "build",
    "build",
    "labels",
    ("labels", "text"),
    help="every label a point, or the words of the joined text (Kubany et al. 2020)",
)


def _options(*more: Option, policy: str) -> tuple[Option, ...]:
    shared = []
    for option in set_options(("example",)):
        if option.name in ("average", "count"):
            continue
        default = option.default
        if option.choices == POLICIES:
            default = "1" if option.name == "empty" and policy != "skip" else policy
        shared.append(replace(option, averages=None, default=default))
    return (*more, EMBEDDING, *shared)


def _bag_measure(
    name: str, summary: str, equation: str, source: str, cite: tuple[str, ...], **traits: Any
) -> Definition:
    return add(
        Definition(
            name=name,
            family=BagFamily(),
            summary=summary,
            equation=equation,
            source=source,
            cite=cite,
            symmetric=True,
            **traits,
        )
    )


_DISTANCE: dict[str, Any] = {
    "options": _options(_BUILD, policy="skip"),
    "bounds": (0.0, np.inf),
    "higher_is_better": False,
}
_SIMILARITY: dict[str, Any] = {"options": _options(policy="0"), "bounds": (-1.0, 1.0)}

WMD = _bag_measure(
    "WMD",
    "Least total distance that the words of one side travel to become the other's.",
    "min over T of Σ T_lk ||w_l - w_k||, rows of T summing to d, columns to d'",
    "Kubany et al. 2020, equations 13 and 14 (Kusner et al. 2015)",
    ("kubany2020", "kusner2015"),
    **_DISTANCE,
)
RWMD = _bag_measure(
    "RWMD",
    "Lower bound of WMD: every word travels to its nearest, the larger of both directions.",
    "max of Σ d_l min_k ||w_l - w_k|| and Σ d'_k min_l ||w_l - w_k||",
    "Kusner et al. 2015, section 4",
    ("kusner2015",),
    **_DISTANCE,
)
BagSim = _bag_measure(
    "BagSim",
    "Cosine of the embeddings of both label lists, each joined to one text.",
    "cos(e(y_1 y_2 …), e(z_1 z_2 …))",
    "Kubany et al. 2020, section 3.2",
    ("kubany2020",),
    order_invariant=False,
    **_SIMILARITY,
)
MeanSim = _bag_measure(
    "MeanSim",
    "Cosine of the mean label vectors of both sides.",
    "cos(Σ e(y_j) / ||e(y_j)||, Σ e(z_s) / ||e(z_s)||)",
    "mean of normalised label vectors",
    (),
    **_SIMILARITY,
)
