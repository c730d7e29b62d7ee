"""Match predicted labels with reference labels: the steps that all set measures share.

Conventions
-----------
The predictions of an item are ranked by descending score. Equal scores, and predictions
without scores, keep the given order. Every decoding rule keeps a prefix of this ranking,
so one sort and one matching serve all cutoffs and thresholds.

``duplicates="once"`` counts each label of an item once. ``duplicates="each"`` counts
every occurrence: a label that occurs c times among the references can be matched c times
(Kubany et al. 2020).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import round_to
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import UNUSED_COLUMNS, Block, Step, memoised
from semmetrics.data.tasks.labels import LabelTask, Synonyms
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Statistic
from semmetrics.options import OPTIONS

LabelBlock = Block[LabelTask]
SHORT_LISTS = "short lists"
"""The name of notes on items that have fewer predictions than the cutoff."""


@memoised
def unranked_sides(block: LabelBlock) -> tuple[Side, Side]:
    """Return the predictions and reference labels of each item in the given order."""
    pred = block.task.pred.rows(block.start, block.stop)
    ref = block.task.ref.rows(block.start, block.stop)
    return pred, ref


@memoised
def sides_of(block: LabelBlock) -> tuple[Side, Side]:
    """Return the ranked predictions of each item, and its reference labels."""
    pred, ref = unranked_sides(block)
    if pred.scores is None:
        return pred, ref
    order = ragged.order_rows(pred.indptr, pred.scores)
    written = pred.written
    if written is not None:
        written = written[order]
    codes = pred.codes[order]
    scores = pred.scores[order]
    return Side(pred.indptr, codes, scores, written), ref


# ---- cuts -----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Cut:
    """How many predictions of each item to keep: a decoding rule, then a cutoff.

    Attributes
    ----------
    decode : str
        "all", "threshold:T", "at-least:T", "cumulative:T", "cardinality",
        "cardinality+scores", "cardinality+scores:code" or "dirichlet:U".
    keep_at_least : int
        The least number to keep, if the item has as many.
    k : int or None
        The cutoff.
    measure : str
        The measure that the cut is for, in messages.
    """

    decode: str = "all"
    keep_at_least: int = 0
    k: int | None = None
    measure: str = field(default="", compare=False)

    def compute(self, block: LabelBlock) -> Ints:
        """Return how many predictions of each item to keep, shape (items,)."""
        n_kept = self._apply_rule(block)
        if self.k is None:
            return n_kept
        if self.decode == "all":
            n_short = int((n_kept < self.k).sum())
            block.observations.count(SHORT_LISTS, n_short, self.k)
            block.observations.count(SHORT_LISTS, len(n_kept), self.k, "items")
        return np.minimum(n_kept, self.k)

    def _apply_rule(self, block: LabelBlock) -> Ints:
        """Apply the decoding rule without the cutoff."""
        task = block.task
        ranked, _ = sides_of(block)
        rule, _, argument = self.decode.partition(":")
        if rule == "all" and task.ranked and self.k is None:
            raise InputError("no-rule", measure=self.measure or "this measure")
        n_predictions = ranked.sizes
        if rule == "all" or not len(ranked.codes):
            return n_predictions
        if rule in ("threshold", "at-least"):
            return self._apply_threshold(block, ranked, rule, float(argument))
        scores = self._check_scores(ranked, task)
        if rule == "cumulative":
            from semmetrics.metrics.decoding import keep_cumulative

            limit = float(argument)
            return keep_cumulative(ranked.indptr, scores, limit, self.keep_at_least)
        n_kept = self._apply_cardinality(block, ranked.indptr, scores, rule, argument)
        least = np.minimum(self.keep_at_least, n_predictions)
        return np.maximum(n_kept, least)

    def _apply_threshold(
        self, block: LabelBlock, ranked: Side, rule: str, threshold: float
    ) -> Ints:
        """Apply the rule "threshold" or "at-least"."""
        task = block.task
        threshold = round_to(threshold, task.precision)
        if rule == "at-least":
            # A score is at least the threshold if it is above the next lower number.
            threshold = float(np.nextafter(threshold, -np.inf))
        if task.binary and not self.keep_at_least and threshold >= 0:
            # Lists of binary predictions contain the labels of score 1.
            if threshold < 1:
                return ranked.sizes
            return np.zeros(len(ranked), np.int64)
        scores = self._check_scores(ranked, task)
        # Imported here, because measures of lists without scores do not need it.
        from semmetrics.metrics.decoding import keep_above

        return keep_above(ranked.indptr, scores, threshold, self.keep_at_least)

    def _apply_cardinality(
        self,
        block: LabelBlock,
        indptr: Ints,
        scores: Floats,
        rule: str,
        argument: str,
    ) -> Ints:
        """Apply a rule that uses the probabilities of set sizes."""
        from semmetrics.metrics.decoding import (
            keep_cardinality,
            keep_cardinality_with_scores,
        )

        task = block.task
        if task.set_size_probs is None:
            option = f"decode={self.decode}"
            raise InputError("needs-option", what=option, name="set_size_probs")
        heads = task.set_size_probs[block.start : block.stop]
        offset = task.first_set_size
        if rule == "cardinality":
            return keep_cardinality(indptr, heads, offset=offset)
        extra = 0
        if argument == "code" and not offset:
            # The released code sums one more score if sets may be empty.
            extra = 1
        if rule == "dirichlet":
            # The product of c scores gets a factor of U to the power of c.
            scores = scores * float(argument)
        return keep_cardinality_with_scores(indptr, scores, heads, offset, extra)

    def _check_scores(self, ranked: Side, task: LabelTask) -> Floats:
        """Return the scores of the predictions. Without scores, raise an error."""
        if ranked.scores is None:
            raise no_scores(f"decode={self.decode}", task, self._name_alternative())
        return ranked.scores

    def _name_alternative(self) -> str:
        """Return what to do without scores: use no rule, or a threshold of similarity."""
        if not self.decode.startswith("threshold:"):
            return "leave out decode"
        threshold = self.decode.partition(":")[2]
        return (
            f"leave out {OPTIONS['threshold'].keyword_and_flag}, which applies to scores. The "
            "similarity threshold of semantic measures is an option of the measure: "
            f"SemF1(threshold={threshold})"
        )


def no_scores(name: str, task: LabelTask, alternative: str = "") -> InputError:
    """Return the error for a measure or option if the predictions have no scores.

    Parameters
    ----------
    name : str
        The measure or option.
    task : LabelTask
    alternative : str
        What the user can do instead of adding scores.
    """
    if task.ref.scores is not None:
        return InputError("swapped-sides", sign="only the ground truth has scores")
    columns = sorted(task.observations.names_of(UNUSED_COLUMNS))
    unused = "".join(f", {column}" for column in columns)
    explanation = ""
    if task.binary:
        explanation = ", but 0 and 1 only tell which labels are predicted"
    remedy = ""
    if alternative:
        remedy = f", or {alternative}"
    return InputError(
        "no-scores", what=name, given=explanation, unused=unused, remedy=remedy
    )


def cut_of(measure: Measure) -> Cut:
    """Return the cut that the options of a measure describe."""
    decode = str(measure["decode"])
    keep_at_least = int(measure["keep_at_least"] or 0)
    return Cut(decode, keep_at_least, measure.k, str(measure))


def kept_sides(block: LabelBlock, cut: Cut) -> tuple[Side, Side]:
    """Return the predictions that a cut keeps, and the references."""
    ranked, ref = sides_of(block)
    is_kept = ragged.prefixes(ranked.indptr, block.get(cut))
    return ranked.keep(is_kept), ref


# ---- matches --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Matched:
    """Matches of ranked predictions with references.

    Attributes
    ----------
    is_counted_pred : bool array, shape (predictions,), or None
        Predictions that count. None if all do.
    hit : bool array, shape (predictions,)
        Counted predictions that match a reference.
    is_first_ref : bool array, shape (references,), or None
        The first occurrence of each reference label of an item. None if no label is
        repeated.
    n_ref : int array, shape (items,)
        The number of reference labels that count.
    """

    is_counted_pred: Bools | None
    hit: Bools
    is_first_ref: Bools | None
    n_ref: Ints


@dataclass(frozen=True, repr=False)
class Matches:
    """Match ranked predictions with references.

    Attributes
    ----------
    duplicates : {"once", "each"}
    by : {"item", "class"}
        How labels with synonyms are compared. "item" compares their terms within the
        item: each prediction in order, with its terms in order, takes the first unused
        reference label that has the term. "class" compares the classes of predictions
        and references. Without synonyms, both are the same.
    """

    duplicates: str = "once"
    by: str = "item"

    def compute(self, block: LabelBlock) -> Matched:
        """Match all predictions. A cut takes a prefix of the result."""
        if self.by == "class":
            ranked, ref = sides_of(block)
            return match_classes(block, ranked, ref, self.duplicates)
        matched = block.get(Matches(self.duplicates, "class"))
        if block.task.synonyms is None:
            return matched
        return _match_terms(block, block.task.synonyms, matched, self.duplicates)


def match_classes(block: LabelBlock, pred: Side, ref: Side, duplicates: str) -> Matched:
    """Match predictions with references of the same class.

    If a class is repeated in the predictions of an item, the first occurrences match.
    """
    width = max(1, len(block.task.classes))
    n_cells = len(block) * width
    pred_cells = ragged.cell_keys(pred.indptr, pred.codes, width)
    ref_cells = ragged.cell_keys(ref.indptr, ref.codes, width)
    first_pred = ragged.first_occurrences(pred_cells, n_cells)
    first_ref = ragged.first_occurrences(ref_cells, n_cells)
    hit = ragged.is_member(pred_cells, ref_cells, n_cells)
    if duplicates == "once":
        n_ref = ref.sizes
        if first_ref is not None:
            n_ref = ragged.sum_rows(first_ref, ref.indptr)
        if first_pred is not None:
            hit = hit & first_pred
        return Matched(first_pred, hit, first_ref, n_ref)
    if first_pred is not None:
        # Each equal prediction before this one uses up an equal reference.
        sorted_refs = np.sort(ref_cells)
        n_equal_refs = np.searchsorted(sorted_refs, pred_cells, "right")
        n_equal_refs -= np.searchsorted(sorted_refs, pred_cells, "left")
        n_used_refs = ragged.occurrence_numbers(pred_cells)
        hit &= n_used_refs < n_equal_refs
    return Matched(None, hit, first_ref, ref.sizes)


def _match_terms(
    block: LabelBlock, synonyms: Synonyms, matched: Matched, duplicates: str
) -> Matched:
    """Match items that have a label of several classes again, term by term."""
    pred, ref = sides_of(block)
    if pred.written is None or ref.written is None:
        return matched
    pred_items = ragged.row_numbers(pred.indptr)[synonyms.ambiguous[pred.written]]
    ref_items = ragged.row_numbers(ref.indptr)[synonyms.ambiguous[ref.written]]
    hit = matched.hit.copy()
    for item in np.union1d(pred_items, ref_items).tolist():
        ref_labels = _written_labels(ref.rows(item, item + 1), duplicates)
        references = _UnusedReferences([synonyms.terms[code] for code in ref_labels])
        first = int(pred.indptr[item])
        end = int(pred.indptr[item + 1])
        pred_labels = pred.written[first:end].tolist()
        for position, code in enumerate(pred_labels, start=first):
            if matched.is_counted_pred is None or matched.is_counted_pred[position]:
                hit[position] = references.take(synonyms.terms[code])
            else:
                hit[position] = False
    return Matched(matched.is_counted_pred, hit, matched.is_first_ref, matched.n_ref)


def _written_labels(item: Side, duplicates: str) -> list[int]:
    """Return the written labels of an item, each class once if duplicates count once."""
    labels: list[int] = []
    if item.written is not None:
        labels = item.written.tolist()
    if duplicates == "each":
        return labels
    # A repeated class keeps its first position and its last written label.
    label_of_class = dict(zip(item.codes.tolist(), labels, strict=True))
    return list(label_of_class.values())


class _UnusedReferences:
    """The reference labels of an item that no prediction has matched yet.

    Parameters
    ----------
    terms_of_references : sequence of iterables of str
        The terms of each reference label.
    """

    def __init__(self, terms_of_references: Sequence[Iterable[str]]) -> None:
        self._used: set[int] = set()
        # The references that have a term. The first one is at the end, for ``pop``.
        self._references_by_term: dict[str, list[int]] = {}
        for reference in reversed(range(len(terms_of_references))):
            for term in terms_of_references[reference]:
                self._references_by_term.setdefault(term, []).append(reference)

    def take(self, terms: Iterable[str]) -> bool:
        """Use up the first unused reference with one of the terms, trying terms in order.

        Return whether there is such a reference.
        """
        for term in terms:
            references = self._references_by_term.get(term, [])
            while references:
                reference = references.pop()
                if reference not in self._used:
                    self._used.add(reference)
                    return True
        return False


# ---- counts ---------------------------------------------------------------------------


class ItemCounts(NamedTuple):
    """Counts of each item, int64 arrays of shape (items,)."""

    hit: Ints
    n_pred: Ints
    n_ref: Ints


@memoised
def count_matches(block: LabelBlock, cut: Cut, matches: Step[Matched]) -> ItemCounts:
    """Count the hits, predictions and references of each item under a cut."""
    ranked, _ = sides_of(block)
    n_kept = block.get(cut)
    matched = block.get(matches)
    starts = ranked.indptr[:-1]
    stops = starts + n_kept
    hits_before = ragged.offsets(matched.hit)
    hit = hits_before[stops] - hits_before[starts]
    n_pred = n_kept
    if matched.is_counted_pred is not None:
        counted_before = ragged.offsets(matched.is_counted_pred)
        n_pred = counted_before[stops] - counted_before[starts]
    return ItemCounts(hit, n_pred, matched.n_ref)


@dataclass(frozen=True, repr=False)
class CountColumns(Statistic):
    """The counts of each item under a cut: columns "hit", "n_pred" and "n_ref".

    If ``with_precision_sum``, there is also a column "precision_sum": the sum of the
    precisions at the ranks of the hits.
    """

    cut: Cut
    matches: Step[Matched]
    with_precision_sum: bool = False

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Return the columns."""
        counts = count_matches(block, self.cut, self.matches)
        columns = {
            "hit": Dense(counts.hit),
            "n_pred": Dense(counts.n_pred),
            "n_ref": Dense(counts.n_ref),
        }
        if self.with_precision_sum:
            precision_sums = _sum_precisions(block, self.cut, self.matches)
            columns["precision_sum"] = Dense(precision_sums)
        return columns


@dataclass(frozen=True, repr=False)
class DistinctCounts(Statistic):
    """The distinct counts of items: columns "hit", "n_pred" and "n_ref", and "codes".

    ``codes`` gives the row of each item in the columns. Sets are small, so there are few
    distinct counts and a formula needs few evaluations.
    """

    cut: Cut
    matches: Step[Matched]

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Return the columns and the codes."""
        hit, n_pred, n_ref = count_matches(block, self.cut, self.matches)
        pred_width = int(n_pred.max(initial=0)) + 1
        ref_width = int(n_ref.max(initial=0)) + 1
        keys = (hit * pred_width + n_pred) * ref_width + n_ref
        distinct, codes = ragged.distinct_keys(keys)
        hit_and_pred, n_ref = np.divmod(distinct, ref_width)
        hit, n_pred = np.divmod(hit_and_pred, pred_width)
        return {
            "hit": Dense(hit),
            "n_pred": Dense(n_pred),
            "n_ref": Dense(n_ref),
            "codes": codes,
        }


def _sum_precisions(block: LabelBlock, cut: Cut, matches: Step[Matched]) -> Floats:
    """Sum the precisions at the ranks of the kept hits of each item."""
    ranked, _ = sides_of(block)
    n_kept = block.get(cut)
    matched = block.get(matches)
    items = ragged.row_numbers(ranked.indptr)
    n_predictions = len(items)
    is_counted = matched.is_counted_pred
    if is_counted is None:
        is_counted = np.ones(n_predictions, np.bool_)
    hits_before = ragged.offsets(matched.hit)
    counted_before = ragged.offsets(is_counted)

    # The first prediction of the item of each prediction.
    starts = ranked.indptr[:-1][items]
    positions = np.arange(n_predictions) - starts
    kept_hits = np.flatnonzero(matched.hit & (positions < n_kept[items]))
    after_hit = kept_hits + 1
    start_of_hit = starts[kept_hits]
    n_hits = hits_before[after_hit] - hits_before[start_of_hit]
    ranks = counted_before[after_hit] - counted_before[start_of_hit]
    precisions = n_hits / ranks
    sums = np.bincount(items[kept_hits], precisions, minlength=len(n_kept))
    return sums.astype(np.float64)
