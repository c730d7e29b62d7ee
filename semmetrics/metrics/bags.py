r"""Similarities and distances of whole label lists: BagSim, MeanSim, WMD and RWMD.

Conventions
-----------
**Similarities** are cosines, rounded to 1e-9. An empty list has no similarity. Under the
out-of-vocabulary policy ``skip``, a list that the model does not know has none either. A
zero vector has cosine 0 with every vector.

**Distances** have the policy ``skip`` by default, like gensim's ``wmdistance``: words
without a vector are left out on both sides, even if both sides have them. If no word is
left on a side, the item has no value. Two lists of the same labels are an exception: they
have distance 0, whatever their vectors.

The option ``build`` chooses how labels become words. With ``text``, as in the code of
Kubany et al. 2020, all terms of all labels are joined into one string. Words are the
matches of ``\b\w\w+\b`` in lower case, weighted by how often they occur. Two lists that
together have a single word have distance 0, even if one has no word. With ``labels``,
every label is one word, with the vector of its first term that has one, and all labels
have the same weight.

Distances are Euclidean between vectors as the model gives them (Kubany et al. 2020), so
they depend on the model. They are at least 0, and lower is better.

References
----------
Kubany et al., 2020, Expert Systems with Applications, section 3.2.
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.backend import to_device, to_numpy
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.similarity import paired_cosines, sum_vectors
from semmetrics.core.transport import WeightedWords, relaxed_transport, transport
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.embed.label_vectors import LabelVectors, label_vectors
from semmetrics.metrics.definition import Measure, Statistic, model_key
from semmetrics.metrics.families import ItemMeans, value_columns
from semmetrics.metrics.label_similarity import (
    EMBEDDING,
    label_vectors_of,
    written_codes,
)
from semmetrics.metrics.matching import Cut, cut_of, kept_sides
from semmetrics.metrics.measure_options import MeasureOption, choice_option
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_options import set_options
from semmetrics.metrics.whole_texts import embed_texts

LabelBlock = Block[LabelTask]

# ---- similarities --------------------------------------------------------------------


class _ListVectors(NamedTuple):
    """A vector for the label list of each item.

    Attributes
    ----------
    vectors : array or tensor, shape (items, dimension)
    has_vector : bool array, shape (items,)
    """

    vectors: Any
    has_vector: Bools


@dataclass(frozen=True, repr=False)
class BagValues(Statistic):
    """A step: the cosine of both label lists of each item, in columns "value" and "cause".

    Attributes
    ----------
    pooling : {"text", "mean"}
        How the labels of a list become one vector. "text" joins all terms by spaces and
        embeds the string. "mean" averages the normalised vectors of the labels.
    cut : Cut
    model : str
        The ``model_key`` of the measure.
    """

    pooling: str
    cut: Cut
    model: str

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Embed both sides and compare them item by item."""
        vectors: LabelVectors = label_vectors_of(block.task, self.model)
        pred, ref = kept_sides(block, self.cut)
        if self.pooling == "text":
            texts = list(map(" ".join, vectors.terms_of_labels))
            pred_vectors = self._embed_texts(block, pred, texts, vectors)
            ref_vectors = self._embed_texts(block, ref, texts, vectors)
        else:
            pred_vectors = _average_labels(pred, vectors)
            ref_vectors = _average_labels(ref, vectors)
        has_pred = pred_vectors.has_vector
        has_ref = ref_vectors.has_vector
        values = np.full(len(block), np.nan)
        items = np.flatnonzero(has_pred & has_ref)
        if len(items):
            cosines = paired_cosines(
                pred_vectors.vectors[items], ref_vectors.vectors[items]
            )
            values[items] = to_numpy(cosines)
        if self.pooling == "text" and vectors.oov != "skip":
            # A list that the model does not know is not empty.
            has_pred = pred.sizes > 0
            has_ref = ref.sizes > 0
        return value_columns(values, has_pred, has_ref)

    def _embed_texts(
        self, block: LabelBlock, side: Side, texts: Sequence[str], vectors: LabelVectors
    ) -> _ListVectors:
        """Embed the lists of a side as strings, and count the unknown and the truncated ones.

        Counts of both sides add up.

        Parameters
        ----------
        block : Block
        side : Side
        texts : sequence of str
            The terms of each written label, joined by spaces.
        vectors : LabelVectors
        """
        labels = [texts[code] for code in written_codes(side).tolist()]
        bounds = pairwise(side.indptr.tolist())
        lists = [" ".join(labels[start:stop]) for start, stop in bounds]
        embedded, n_unknown = embed_texts(vectors, lists, side.sizes > 0, "label lists")
        # Each step has its own counts, because other steps embed other lists.
        step = str(astuple(self))
        block.observations.count("unknown", n_unknown, self.model, step)
        block.observations.count("truncated", embedded.truncated, self.model, step)
        list_vectors = to_device(embedded.vectors, vectors.device)
        return _ListVectors(list_vectors, embedded.known)


def _average_labels(side: Side, vectors: LabelVectors) -> _ListVectors:
    """Sum the normalised vectors of each list. The sum has the direction of the mean."""
    term_numbers = vectors.first_terms[written_codes(side)]
    has_term = term_numbers >= 0
    n_terms = ragged.sum_rows(has_term, side.indptr)
    indptr = ragged.offsets(n_terms)
    sums = sum_vectors(vectors.units, indptr, term_numbers[has_term])
    return _ListVectors(sums, ragged.lengths(indptr) > 0)


class BagSimilarityFamily(ItemMeans):
    """Means over items of a similarity of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes item values."""
        pooling = "mean"
        if "text_embedding" in measure.definition.needs:
            pooling = "text"
        return BagValues(pooling, cut_of(measure), model_key(measure))


def bag_options(
    policy: str, *own_options: MeasureOption, embeds_whole: bool = False
) -> tuple[MeasureOption, ...]:
    """Return the options of a measure that compares whole lists.

    Parameters
    ----------
    policy : str
        The default policy for an empty list. Two empty lists have the value 1, unless the
        policy is "skip".
    *own_options
        Options of this measure only.
    embeds_whole : bool
        Whether lists are embedded as wholes. The value of an unknown list is undefined.
    """
    causes = ["empty", "no_prediction", "no_reference", "undefined"]
    defaults = dict.fromkeys(causes, policy)
    if policy != "skip":
        defaults["empty"] = "1"
    if not embeds_whole:
        causes.remove(
            "undefined"
        )  # It cannot occur, so users cannot choose its policy.
    shared = set_options(
        ("example",),
        without=("average", "duplicates"),
        defaults=defaults,
        policies=causes,
    )
    # The measure has no option "average" that the others could depend on.
    independent = [option._replace(averages=None) for option in shared]
    return (*own_options, EMBEDDING, *independent)


_COSINE: dict[str, Any] = {
    "family": BagSimilarityFamily(),
    "bounds": (-1.0, 1.0),
    "symmetric": True,
}
BagSim = define(
    name="BagSim",
    summary="Cosine similarity of the embeddings of the two label lists, each joined "
    "into one sentence.",
    equation="cos(e(y_1 y_2 …), e(z_1 z_2 …))",
    source="Kubany et al. 2020, section 3.2",
    cite=("kubany2020",),
    options=bag_options("0", embeds_whole=True),
    order_invariant=False,
    needs=frozenset({"text_embedding"}),
    **_COSINE,
)
MeanSim = define(
    name="MeanSim",
    summary="Cosine similarity of the mean label vectors of both sides.",
    equation="cos(Σ e(y_j) / ||e(y_j)||, Σ e(z_s) / ||e(z_s)||)",
    source="mean of normalised label vectors",
    options=bag_options("0"),
    needs=frozenset({"embedding"}),
    **_COSINE,
)

# ---- distances -----------------------------------------------------------------------

_WORD = re.compile(r"\b\w\w+\b")


@dataclass(frozen=True, eq=False, repr=False)
class WordTable:
    """The words of each label, and the vectors of words.

    Words are sorted alphabetically, so that sums over an item's words have a fixed order.

    Attributes
    ----------
    indptr, codes : int arrays
        The words of each label, as often as they occur.
    vectors : float32 array, shape (words, dimension)
    device : torch.device, optional
        Where distances are computed.
    skips_unknown : bool
        Whether words without a vector are left out.
    """

    indptr: Ints
    codes: Ints
    vectors: NDArray[np.float32]
    device: object = None
    skips_unknown: bool = False

    @cached_property
    def distances(self) -> EuclideanDistances:
        """Distances of pairs of words. Their bits do not depend on other pairs."""
        vectors = self.vectors.astype(np.float64)
        return EuclideanDistances(to_device(vectors, self.device))

    @cached_property
    def points(self) -> Ints:
        """A number for each word. Words with equal vectors have the same number."""
        _, points = np.unique(self.vectors, axis=0, return_inverse=True)
        return points.ravel()


@memoised
def find_words(task: LabelTask, build: str, model: str) -> WordTable:
    """Return the words of each written label of a task, and their vectors.

    Parameters
    ----------
    task : LabelTask
    build : {"text", "labels"}
    model : str
        The ``model_key`` of the measure.
    """
    vectors: LabelVectors = label_vectors_of(task, model)
    if build == "text":
        return _split_words(vectors)
    return _take_labels_as_words(vectors)


def _split_words(vectors: LabelVectors) -> WordTable:
    """Return the words in the terms of each label."""
    words_of_labels = []
    for terms in vectors.terms_of_labels:
        text = " ".join(terms).lower()
        words_of_labels.append(_WORD.findall(text))
    words = sorted(set().union(*words_of_labels))
    code_of = {word: code for code, word in enumerate(words)}
    code_list: list[int] = []
    for words_of_label in words_of_labels:
        code_list.extend(code_of[word] for word in words_of_label)
    codes = np.array(code_list, np.int64)
    word_vectors = label_vectors(
        [(word,) for word in words],
        vectors.embedder,
        lookup=vectors.lookup,
        oov=vectors.oov,
    )
    is_included = word_vectors.included[codes]
    n_words = np.fromiter(map(len, words_of_labels), np.int64, len(words_of_labels))
    n_included = ragged.sum_rows(is_included, ragged.offsets(n_words))
    return WordTable(
        ragged.offsets(n_included),
        codes[is_included],
        word_vectors.vectors,
        vectors.device,
        skips_unknown=vectors.oov == "skip",
    )


def _take_labels_as_words(vectors: LabelVectors) -> WordTable:
    """Return each label as one word, with the vector of its first term that has one."""
    first_terms = vectors.first_terms
    has_term = first_terms >= 0
    # Words are the terms in alphabetical order.
    n_terms = len(vectors.terms)
    terms_in_order = sorted(range(n_terms), key=vectors.terms.__getitem__)
    term_of_word = np.array(terms_in_order, np.int64)
    word_of_term = np.argsort(term_of_word)  # the inverse permutation
    return WordTable(
        ragged.offsets(has_term.astype(np.int64)),
        word_of_term[first_terms[has_term]],
        vectors.vectors[term_of_word],
        vectors.device,
        skips_unknown=vectors.oov == "skip",
    )


class WordCounts(NamedTuple):
    """The words of the items of a block.

    Attributes
    ----------
    table : WordTable
    pred, ref : WeightedWords
        The distinct words of each item. Weights sum to 1 in an item with words.
    have_labels : bool array, shape (items,)
        Whether both sides have labels. Labels may have no words.
    """

    table: WordTable
    pred: WeightedWords
    ref: WeightedWords
    have_labels: Bools


@memoised
def count_words(block: LabelBlock, cut: Cut, build: str, model: str) -> WordCounts:
    """Count the words of the labels of each item, after predictions are cut."""
    table = find_words(block.task, build, model)
    pred, ref = kept_sides(block, cut)
    have_labels = (pred.sizes > 0) & (ref.sizes > 0)
    return WordCounts(
        table, _weigh_words(table, pred), _weigh_words(table, ref), have_labels
    )


def _weigh_words(table: WordTable, side: Side) -> WeightedWords:
    """Return the distinct words of each item, with their shares of all its words."""
    label_indptr, places = ragged.take_rows(table.indptr, written_codes(side))
    # The labels of an item follow one another, and so do their words.
    item_indptr = label_indptr[side.indptr]
    n_codes = max(1, len(table.vectors))
    indptr, codes, counts = ragged.distinct_codes(
        item_indptr, table.codes[places], n_codes
    )
    n_words = ragged.lengths(item_indptr)
    shares = counts / np.repeat(n_words, ragged.lengths(indptr))
    return WeightedWords(indptr, codes, shares)


@dataclass(frozen=True, repr=False)
class TransportValues(Statistic):
    """A step: the word mover's distance of each item, or its lower bound.

    The columns are "value" and "cause".

    Attributes
    ----------
    name : {"WMD", "RWMD"}
    cut : Cut
    build : {"text", "labels"}
    model : str
        The ``model_key`` of the measure.
    """

    name: str
    cut: Cut
    build: str
    model: str

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Solve the transport problem of each item."""
        words = count_words(block, self.cut, self.build, self.model)
        distances = words.table.distances
        if self.name == "RWMD":
            values = relaxed_transport(distances, words.pred, words.ref)
        else:
            values = transport(distances, words.pred, words.ref).costs
        if self.build == "text":
            values = _apply_rules_of_paper_code(values, words)
        if words.table.skips_unknown:
            # Equal lists have distance 0 even if the model knows none of their words.
            pred, ref = kept_sides(block, self.cut)
            are_equal = have_same_shares(pred, ref, len(block.task.classes))
            is_zero = np.isnan(values) & are_equal & words.have_labels
            values = np.where(is_zero, 0.0, values)
        n_pred = ragged.lengths(words.pred.indptr)
        n_ref = ragged.lengths(words.ref.indptr)
        return value_columns(values, n_pred, n_ref)


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
    >>> indptr = np.array([0, 3, 5])
    >>> pred = Side(indptr, np.array([0, 1, 1, 0, 0]))
    >>> ref = Side(indptr, np.array([1, 1, 0, 0, 1]))
    >>> have_same_shares(pred, ref, 2).tolist()
    [True, False]
    >>> ref = Side(np.array([0, 3, 4]), np.array([0, 1, 1, 0]))
    >>> have_same_shares(pred, ref, 2).tolist()
    [True, True]
    """
    n_labels = max(1, n_labels)
    pred_indptr, pred_codes, pred_counts = ragged.distinct_codes(
        pred.indptr, pred.codes, n_labels
    )
    ref_indptr, ref_codes, ref_counts = ragged.distinct_codes(
        ref.indptr, ref.codes, n_labels
    )
    # Items can only be the same if both sides have equally many distinct labels.
    are_same: Bools = ragged.lengths(pred_indptr) == ragged.lengths(ref_indptr)
    items = np.flatnonzero(are_same)
    indptr, pred_places = ragged.take_rows(pred_indptr, items)
    _, ref_places = ragged.take_rows(ref_indptr, items)
    item_of_label = items[ragged.row_numbers(indptr)]
    # Compare count / n_pred with count / n_ref in integers, both times n_pred * n_ref.
    scaled_pred_shares = pred_counts[pred_places] * ref.sizes[item_of_label]
    scaled_ref_shares = ref_counts[ref_places] * pred.sizes[item_of_label]
    differs = pred_codes[pred_places] != ref_codes[ref_places]
    differs |= scaled_pred_shares != scaled_ref_shares
    are_same[items] = ragged.sum_rows(differs, indptr) == 0
    return are_same


def _apply_rules_of_paper_code(values: Floats, words: WordCounts) -> Floats:
    """Return distances as the paper's code gives them for one word or one point.

    The code replaces a matrix of zeros by a matrix of ones, so several words with the same
    vector have distance 1. If both sides together have only one word, it returns 0 before
    it compares anything, even if one side has no word.
    """
    table = words.table
    every_word = np.arange(len(table.points))
    n_words = _count_distinct(words, every_word)
    n_points = _count_distinct(words, table.points)
    is_one_point = (n_points == 1) & (n_words > 1) & ~np.isnan(values)
    values = np.where(is_one_point, 1.0, values)
    if table.skips_unknown:  # Then n_words does not include words without a vector.
        return values
    return np.where((n_words == 1) & words.have_labels, 0.0, values)


def _count_distinct(words: WordCounts, number_of_word: Ints) -> Ints:
    """Count the distinct numbers of the words of each item, over both sides."""
    pred_items = ragged.row_numbers(words.pred.indptr)
    ref_items = ragged.row_numbers(words.ref.indptr)
    items = np.concatenate([pred_items, ref_items])
    codes = np.concatenate([words.pred.codes, words.ref.codes])
    n_numbers = len(number_of_word)
    distinct_keys = np.unique(items * n_numbers + number_of_word[codes])
    item_of_key = distinct_keys // n_numbers
    return np.bincount(item_of_key, minlength=len(words.have_labels))


class TransportFamily(ItemMeans):
    """Means over items of a distance of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes item values."""
        return TransportValues(
            measure.definition.name,
            cut_of(measure),
            str(measure["build"]),
            model_key(measure),
        )


_BUILD = choice_option(
    "build",
    "labels text",
    "the points that are moved: whole labels, or the words of all labels "
    "(Kubany et al. 2020)",
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
    summary="Word mover's distance: the smallest total distance to move the words of "
    "one side to the words of the other side.",
    equation="min over T of Σ T_lk ||w_l - w_k||, rows of T summing to d, columns to d'",
    source="Kubany et al. 2020, equations 13 and 14 (Kusner et al. 2015)",
    cite=("kubany2020", "kusner2015"),
    **_DISTANCE,
)
RWMD = define(
    name="RWMD",
    summary="Relaxed WMD, a lower bound: each word moves to the nearest word of the "
    "other side. The larger of both directions.",
    equation="max of Σ d_l min_k ||w_l - w_k|| and Σ d'_k min_l ||w_l - w_k||",
    source="Kusner et al. 2015, section 4",
    cite=("kusner2015",),
    **_DISTANCE,
)
