r"""Similarities and distances of whole label lists: BagSim, MeanSim, WMD and RWMD.

Conventions
-----------
Similarities are cosines, rounded to 1e-9. An empty list has none, nor has one that the model does
not know under the out-of-vocabulary policy ``skip``. A vector of zeros has cosine 0 with every
vector.

Distances have the policy ``skip`` by default, as gensim's ``wmdistance`` has: words without a
vector are left out on both sides, also those that both have. An item with nothing left on a side
has no value, except that two lists of the same labels have distance 0, whatever their vectors.

Two ways to make words of labels for the distances, named by ``build``. ``text``, as the code of
Kubany et al. 2020: all terms of all labels are joined into one string, words are ``\b\w\w+\b`` of
it in lower case, and a word weighs as often as it occurs. Two texts with one word between them are
at distance 0, even if one text has no word. ``labels``: every label is one point, with the vector
of its first term that has one, and all weigh the same.

Distances are Euclidean between vectors as the model gives them (Kubany et al. 2020) and therefore
depend on the model. They are at least 0; lower is better.

References
----------
Kubany et al., 2020, Expert Systems with Applications, section 3.2.
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.backend import to_device, to_numpy
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.similarity import paired_cosines, sum_vectors
from semmetrics.core.transport import WeightedWords, relaxed_transport, transport
from semmetrics.data.lists import Side
from semmetrics.data.tasks import Block, LabelTask, kept
from semmetrics.embed.embedder import Embedded, embed_unique
from semmetrics.embed.lookup import label_vectors
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Option, Statistic, model_key, one_of
from semmetrics.metrics.families import ItemMeans, value_columns
from semmetrics.metrics.label_similarity import (
    EMBEDDING,
    label_vectors_of,
    written_codes,
)
from semmetrics.metrics.matching import Cut, cut_of, kept_sides
from semmetrics.metrics.registry import define
from semmetrics.metrics.sets import set_options


@dataclass(frozen=True, repr=False)
class BagValues(Statistic):
    """Cosine of the two label lists of each item as wholes: columns "value" and "cause".

    ``how`` is "text" (all terms joined by blanks and embedded as one text) or "mean" (the mean of
    the labels' normalised vectors).
    """

    how: str
    cut: Cut
    model: str

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Embed both sides and compare them item by item."""
        vectors = label_vectors_of(block.task, self.model)
        sides, pairs = kept_sides(block, self.cut), []
        labels = list(
            map(" ".join, vectors.terms_of_labels if self.how == "text" else ())
        )
        for side in sides:
            if self.how == "text":
                words = [labels[code] for code in written_codes(side).tolist()]
                texts = [
                    " ".join(words[a:b]) for a, b in pairwise(side.indptr.tolist())
                ]
                listed = ragged.lengths(side.indptr) > 0
                found, lost = embed_wholes(vectors, texts, listed, "label lists")
                block.note(("unknown", self), lost)  # counts of both sides are added
                block.note(("truncated", self), found.truncated)
                pairs.append((to_device(found.vectors, vectors.device), found.known))
            else:
                first = vectors.first_terms[written_codes(side)]
                indptr = ragged.offsets(ragged.sum_rows(first >= 0, side.indptr))
                sums = sum_vectors(vectors.units, indptr, first[first >= 0])
                pairs.append((sums, ragged.lengths(indptr) > 0))
        (mine, some), (theirs, any_) = pairs
        value, both = np.full(len(block), np.nan), np.flatnonzero(some & any_)
        if len(both):
            value[both] = to_numpy(paired_cosines(mine[both], theirs[both]))
        # a list that is not known is not empty
        if self.how == "text" and vectors.oov != "skip":
            some, any_ = (ragged.lengths(side.indptr) > 0 for side in sides)
        return value_columns(value, some, any_)


def embed_wholes(
    model: Any,
    texts: Sequence[str],
    listed: Bools | None = None,
    what: str = "captions",
) -> tuple[Embedded, int]:
    """Embed texts as they are by the policy for unknown ones, and count those not known.

    Parameters
    ----------
    model : TextModel or LabelVectors
    texts : sequence of str
    listed : bool array, optional
        Which texts anybody wrote: others are not known, and not counted. Those that are not blank.
    what : str
        What the texts are.

    Raises
    ------
    InputError
        If the model has vectors of words alone, or does not know a text under the policy "error".
    """
    identity = model.embedder.identity
    if getattr(model.embedder, "lookup", "text") == "words":
        remedy = ", or MeanSim" if what == "label lists" else ""
        raise InputError("word-vectors", what=what, embedding=identity, remedy=remedy)
    if listed is None:
        listed = np.array([bool(text.strip()) for text in texts], np.bool_)
    read = embed_unique(
        model.embedder, [texts[row] for row in np.flatnonzero(listed).tolist()]
    )
    table, known = (
        np.zeros((len(texts), read.vectors.shape[1]), np.float32),
        listed.copy(),
    )
    table[listed], known[listed] = read.vectors, read.known
    lost = listed & ~known
    if lost.any() and model.oov not in ("skip", "zero"):
        stand_in = (
            None if model.oov == "error" else embed_unique(model.embedder, ["unknown"])
        )
        if stand_in is None or not stand_in.known[0]:
            names = list(
                dict.fromkeys(texts[item] for item in np.flatnonzero(lost).tolist())
            )
            raise InputError("unknown-text", what=what, embedding=identity, names=names)
        table[lost], known = stand_in.vectors, listed
    return Embedded(table, known, read.truncated), int(lost.sum())


class BagSimilarityFamily(ItemMeans):
    """Means over items of a similarity of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        how = "text" if "text_embedding" in measure.definition.needs else "mean"
        return BagValues(how, cut_of(measure), model_key(measure))


def bag_options(policy: str, *more: Option, whole: bool = False) -> tuple[Option, ...]:
    """Return the options of a measure that compares whole lists.

    ``policy`` is the default where a list is empty; two empty lists score 1 unless it is skip.
    A list that is embedded ``whole`` may be unknown, which is undefined.
    """
    policies = dict.fromkeys(
        ("empty", "no_prediction", "no_reference", "undefined"), policy
    )
    if policy != "skip":
        policies["empty"] = "1"
    named = [name for name in policies if whole or name != "undefined"]
    without = ("average", "duplicates")
    shared = set_options(
        ("example",), without=without, defaults=policies, policies=named
    )
    return (*more, EMBEDDING, *(option._replace(averages=None) for option in shared))


_COSINE: Any = {
    "family": BagSimilarityFamily(),
    "bounds": (-1.0, 1.0),
    "symmetric": True,
}
BagSim = define(
    name="BagSim",
    summary="Cosine of the embeddings of both label lists, each joined to one text.",
    equation="cos(e(y_1 y_2 …), e(z_1 z_2 …))",
    source="Kubany et al. 2020, section 3.2",
    cite=("kubany2020",),
    options=bag_options("0", whole=True),
    order_invariant=False,
    needs=frozenset({"text_embedding"}),
    **_COSINE,
)
MeanSim = define(
    name="MeanSim",
    summary="Cosine of the mean label vectors of both sides.",
    equation="cos(Σ e(y_j) / ||e(y_j)||, Σ e(z_s) / ||e(z_s)||)",
    source="mean of normalised label vectors",
    options=bag_options("0"),
    needs=frozenset({"embedding"}),
    **_COSINE,
)


LabelBlock = Block[LabelTask]
_WORD = re.compile(r"\b\w\w+\b")


@dataclass(frozen=True, eq=False, repr=False)
class WordTable:
    """Words by label, and the vectors of words.

    Words are in the order of their texts, so that an item's sums have an order of their own.

    Attributes
    ----------
    indptr, codes : int arrays
        The words of each label, as often as they occur.
    vectors : float32 array, shape (words, dimension)
    device : torch.device, optional
        Where distances are computed.
    skips : bool
        Whether words without a vector are left out.
    """

    indptr: Ints
    codes: Ints
    vectors: NDArray[np.float32]
    device: Any = None
    skips: bool = False

    @cached_property
    def distances(self) -> EuclideanDistances:
        """Return distances of pairs of words, the same bits whatever else is asked for."""
        return EuclideanDistances(
            to_device(self.vectors.astype(np.float64), self.device)
        )

    @cached_property
    def points(self) -> Ints:
        """Return words by number, one number for equal vectors."""
        return np.unique(self.vectors, axis=0, return_inverse=True)[1].ravel()


@kept
def find_words(task: LabelTask, build: str, model: str) -> WordTable:
    """Find the words of each written label of a task, and their vectors."""
    vectors = label_vectors_of(task, model)
    skips = vectors.oov == "skip"
    if build == "text":
        found = [
            _WORD.findall(" ".join(terms).lower()) for terms in vectors.terms_of_labels
        ]
        names = sorted(set().union(*found))
        place = {word: code for code, word in enumerate(names)}
        codes = np.array([place[word] for words in found for word in words], np.int64)
        rules = {"lookup": vectors.lookup, "oov": vectors.oov}
        looked = label_vectors([(name,) for name in names], vectors.embedder, **rules)
        used = looked.included[codes]  # words that take part
        widths = np.fromiter(map(len, found), np.int64, len(found))
        indptr = ragged.offsets(ragged.sum_rows(used, ragged.offsets(widths)))
        return WordTable(indptr, codes[used], looked.vectors, vectors.device, skips)
    first = vectors.first_terms
    used = first >= 0
    order = np.array(
        sorted(range(len(vectors.terms)), key=vectors.terms.__getitem__), np.int64
    )
    indptr, codes = (
        ragged.offsets(used.astype(np.int64)),
        np.argsort(order)[first[used]],
    )
    return WordTable(indptr, codes, vectors.vectors[order], vectors.device, skips)


@kept
def count_words(
    block: LabelBlock, cut: Cut, build: str, model: str
) -> tuple[WordTable, list[WeightedWords], Bools]:
    """Count the words of the labels of each item, predictions cut first.

    Returns
    -------
    table : WordTable
    bags : list of WeightedWords
        The distinct words of each item on both sides; weights sum to 1 in an item with words.
    listed : bool array, shape (items,)
        Whether both sides have labels, perhaps without any word.
    """
    table, sides, bags = (
        find_words(block.task, build, model),
        kept_sides(block, cut),
        [],
    )
    for side in sides:
        wptr, flat = ragged.take_rows(table.indptr, written_codes(side))
        words, width = wptr[side.indptr], max(1, len(table.vectors))
        indptr, codes, times = ragged.distinct_codes(words, table.codes[flat], width)
        shares = times / np.repeat(ragged.lengths(words), ragged.lengths(indptr))
        bags.append(WeightedWords(indptr, codes, shares))
    mine, theirs = (ragged.lengths(side.indptr) > 0 for side in sides)
    return table, bags, mine & theirs


@dataclass(frozen=True, repr=False)
class TransportValues(Statistic):
    """Word mover's distance of each item, or its relaxed bound: columns "value" and "cause"."""

    name: str
    cut: Cut
    build: str
    model: str

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Solve the problem of each item."""
        table, bags, listed = count_words(block, self.cut, self.build, self.model)
        problem: Any = table.distances, *bags
        value = (
            relaxed_transport(*problem)
            if self.name == "RWMD"
            else transport(*problem).costs
        )
        if self.build == "text":
            value = _as_released(value, table, bags, listed)
        if table.skips:
            sides = kept_sides(block, self.cut)
            equal = have_same_shares(*sides, len(block.task.classes))
            value = np.where(np.isnan(value) & equal & listed, 0.0, value)
        return value_columns(value, *(ragged.lengths(side.indptr) for side in bags))


def have_same_shares(pred: Side, ref: Side, n_labels: int) -> Bools:
    """Return whether both lists of an item have the same labels with the same shares.

    Parameters
    ----------
    pred, ref : Side
    n_labels : int
        Codes are below it.

    Returns
    -------
    bool array, shape (items,)

    Examples
    --------
    >>> pred, ref = np.array([0, 1, 1, 0, 0]), np.array([1, 1, 0, 0, 1])
    >>> ends = np.array([0, 3, 5])
    >>> have_same_shares(Side(ends, pred), Side(ends, ref), 2).tolist()
    [True, False]
    >>> have_same_shares(Side(ends, pred), Side(np.array([0, 3, 4]), pred[:4]), 2).tolist()
    [True, True]
    """
    width = max(1, n_labels)
    ends, codes, times = ragged.distinct_codes(pred.indptr, pred.codes, width)
    ref_ends, ref_codes, ref_times = ragged.distinct_codes(ref.indptr, ref.codes, width)
    same: Bools = ragged.lengths(ends) == ragged.lengths(ref_ends)
    items = np.flatnonzero(same)
    indptr, mine = ragged.take_rows(ends, items)
    _, theirs = ragged.take_rows(ref_ends, items)
    item = items[ragged.row_numbers(indptr)]
    n_pred, n_ref = ragged.lengths(pred.indptr)[item], ragged.lengths(ref.indptr)[item]
    differs = codes[mine] != ref_codes[theirs]
    differs |= times[mine] * n_ref != ref_times[theirs] * n_pred
    same[items] = ragged.sum_rows(differs, indptr) == 0
    return same


def _as_released(
    value: Floats, table: WordTable, bags: list[WeightedWords], both: Bools
) -> Floats:
    """Return distances as the paper's code has them where words are few, or all at one place.

    It replaces a matrix of zeros by one of ones. Where both texts together have but one word, the
    distance is 0 before anything is compared, also if one of them has no word at all.
    """
    items = np.concatenate([ragged.row_numbers(side.indptr) for side in bags])
    codes, points = np.concatenate([side.codes for side in bags]), table.points
    n_words, n_points = (
        np.bincount(
            np.unique(items * len(points) + names) // len(points), minlength=len(value)
        )
        for names in (codes, points[codes])
    )
    value = np.where((n_points == 1) & (n_words > 1) & ~np.isnan(value), 1.0, value)
    if table.skips:  # which of the words a text has is not known any more
        return value
    return np.where((n_words == 1) & both, 0.0, value)


class TransportFamily(ItemMeans):
    """Means over items of a distance of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        build = str(measure["build"])
        return TransportValues(
            measure.definition.name, cut_of(measure), build, model_key(measure)
        )


_BUILD = one_of(
    "build",
    "labels text",
    "every label a point, or the words of the joined text (Kubany et al. 2020)",
)
_DISTANCE: dict[str, Any] = {
    "family": TransportFamily(),
    "options": bag_options("skip", _BUILD),
    "bounds": (0.0, np.inf),
    "higher_is_better": False,
    "symmetric": True,
    "needs": frozenset({"embedding"}),
    "oov": "skip",
}
WMD = define(
    name="WMD",
    summary="Least total distance that the words of one side travel to become the other's.",
    equation="min over T of Σ T_lk ||w_l - w_k||, rows of T summing to d, columns to d'",
    source="Kubany et al. 2020, equations 13 and 14 (Kusner et al. 2015)",
    cite=("kubany2020", "kusner2015"),
    **_DISTANCE,
)
RWMD = define(
    name="RWMD",
    summary="Lower bound of WMD: every word travels to its nearest, the larger of both directions.",
    equation="max of Σ d_l min_k ||w_l - w_k|| and Σ d'_k min_l ||w_l - w_k||",
    source="Kusner et al. 2015, section 4",
    cite=("kusner2015",),
    **_DISTANCE,
)
