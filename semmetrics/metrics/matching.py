"""Which predicted labels match a reference label: the steps that every set metric shares.

Conventions
-----------
Predictions of an item are looked at in falling order of score, equal scores in their given order
(without scores, in the given order). Every rule that turns them into a set keeps a prefix of that
order, so one sort and one matching serve all cutoffs and thresholds.

``duplicates="once"`` counts each label of an item once. ``duplicates="each"`` counts each time: a
label that a list has c times can be matched c times (Kubany et al. 2020).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import round_to
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks import UNUSED, Block, LabelTask, Step, kept
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Statistic

LabelBlock = Block[LabelTask]
SHORT = "short lists"
"""The name under which cutoffs note items that have fewer predictions than k."""


@kept
def sides_of(block: LabelBlock) -> tuple[Side, Side]:
    """Return the predictions of each item by falling score, and its reference labels.

    Lists without scores are in order already.
    """
    pred, ref = (
        side.rows(block.start, block.stop) for side in (block.task.pred, block.task.ref)
    )
    if pred.scores is not None:
        order = ragged.order_rows(pred.indptr, pred.scores)
        written = None if pred.written is None else pred.written[order]
        pred = Side(pred.indptr, pred.codes[order], pred.scores[order], written)
    return pred, ref


@dataclass(frozen=True, repr=False)
class Cut:
    """How many predictions of each item are kept: a decoding rule, then a cutoff.

    Attributes
    ----------
    decode : str
        "all", "threshold:T", "at-least:T", "cumulative:T", "cardinality", "cardinality+scores",
        "cardinality+scores:code" or "dirichlet:U".
    keep_at_least : int
        At least so many are kept where there are as many.
    k : int or None
    """

    decode: str = "all"
    keep_at_least: int = 0
    k: int | None = None

    def compute(self, block: LabelBlock) -> Ints:
        """Prefix lengths, shape (items,)."""
        kept = self._rule(block)
        if self.k is None:
            return kept
        if self.decode == "all":
            block.note((SHORT, self.k), int((kept < self.k).sum()))
            block.note((SHORT, self.k, "items"), len(kept))
        return np.minimum(kept, self.k)

    def _rule(self, block: LabelBlock) -> Ints:
        ranked, _ = sides_of(block)
        rule, _, number = self.decode.partition(":")
        if rule == "all" and block.task.ranked and self.k is None:
            raise InputError("no-rule")
        every = np.diff(ranked.indptr)
        # nothing predicted, with or without scores
        if rule == "all" or not len(ranked.codes):
            return every
        if rule in ("threshold", "at-least"):
            threshold = round_to(float(number), block.task.precision)
            if rule == "at-least":  # above the next lower number
                threshold = float(np.nextafter(threshold, -np.inf))
            rule, number = "threshold", repr(threshold)
        binary = block.task.binary and not self.keep_at_least
        if binary and rule == "threshold" and float(number) >= 0:
            return every * (float(number) < 1)  # the labels of score 1, or none
        if ranked.scores is None:
            raise no_scores(f"decode={self.decode}", block.task, "leave decode out")
        from semmetrics.metrics import decoding  # a measure of lists does without it

        if rule in ("threshold", "cumulative"):
            keep = (
                decoding.keep_above if rule == "threshold" else decoding.keep_cumulative
            )
            return keep(ranked.indptr, ranked.scores, float(number), self.keep_at_least)
        if block.task.heads is None:
            raise InputError(
                "needs-option", what=f"decode={self.decode}", name="set_size_probs"
            )
        heads, offset = (
            block.task.heads[block.start : block.stop],
            block.task.first_set_size,
        )
        # U to the c
        scores = ranked.scores * (float(number) if rule == "dirichlet" else 1.0)
        if rule == "cardinality":
            kept = decoding.keep_cardinality(ranked.indptr, heads, offset=offset)
        else:
            extra = int(number == "code" and not offset)
            rows = ranked.indptr, scores, heads
            kept = decoding.keep_cardinality_with_scores(*rows, offset, extra)
        return np.maximum(kept, np.minimum(self.keep_at_least, every))


def no_scores(what: str, task: LabelTask, otherwise: str = "") -> InputError:
    """Return the error for what needs scores that the predictions do not have."""
    if task.ref.scores is not None:
        return InputError("swapped-sides", sign="only the ground truth has scores")
    columns = sorted(task.observations.names_of(UNUSED))
    unused = "".join(f"; {column}" for column in columns)
    given = ", and 0 and 1 alone say only what is predicted" if task.binary else ""
    remedy = f", or {otherwise}" if otherwise else ""
    return InputError("no-scores", what=what, given=given, unused=unused, remedy=remedy)


def cut_of(measure: Measure) -> Cut:
    """Return the cut that a measure's options describe."""
    return Cut(str(measure["decode"]), int(measure["keep_at_least"] or 0), measure.k)


def kept_sides(block: LabelBlock, cut: Cut) -> tuple[Side, Side]:
    """Return the predictions that a cut keeps, and the references."""
    ranked, ref = sides_of(block)
    return ranked.keep(ragged.prefixes(ranked.indptr, block.get(cut))), ref


@dataclass(frozen=True, eq=False, repr=False)
class Matched:
    """Matching of ranked predictions with references.

    Attributes
    ----------
    counted : bool array, shape (predictions,), or None
        Predictions that count; None where all do.
    hit : bool array, shape (predictions,)
        Counted predictions that match.
    once : bool array, shape (references,), or None
        The first of equal references of an item; None where none is repeated.
    n_ref : int array, shape (items,)
        Reference labels that count.
    """

    counted: Bools | None
    hit: Bools
    once: Bools | None
    n_ref: Ints


@dataclass(frozen=True, repr=False)
class Matches:
    """Match ranked predictions with references.

    Attributes
    ----------
    duplicates : {"once", "each"}
    by : {"item", "class"}
        With synonyms, "item" compares terms within the item (predictions in order, each with its
        terms in order, take the first unused reference label that has the term); "class" compares
        the classes that predictions and references belong to. The same without synonyms.
    """

    duplicates: str = "once"
    by: str = "item"

    def compute(self, block: LabelBlock) -> Matched:
        """Match all predictions; a cutoff is a prefix of the result."""
        if self.by == "item":
            matched = block.get(Matches(self.duplicates, "class"))
            if block.task.synonyms is not None:
                matched = _match_terms(block, matched, self.duplicates)
            return matched
        pred, ref = sides_of(block)
        width = max(1, len(block.task.classes))
        size = len(block) * width
        pred_cells = ragged.cell_keys(pred.indptr, pred.codes, width)
        ref_cells = ragged.cell_keys(ref.indptr, ref.codes, width)
        first = ragged.first_occurrences(pred_cells, size)
        once = ragged.first_occurrences(ref_cells, size)
        hit = ragged.is_member(pred_cells, ref_cells, size)
        if self.duplicates == "once":
            n_ref = (
                np.diff(ref.indptr)
                if once is None
                else ragged.sum_rows(once, ref.indptr)
            )
            return Matched(first, hit if first is None else hit & first, once, n_ref)
        # the j-th of equal predictions needs more than j equal references
        if first is not None:
            ordered = np.sort(ref_cells)
            present = np.searchsorted(ordered, pred_cells, "right")
            present -= np.searchsorted(ordered, pred_cells)
            hit &= ragged.occurrence_numbers(pred_cells) < present
        return Matched(None, hit, once, np.diff(ref.indptr))


def _match_terms(block: LabelBlock, matched: Matched, duplicates: str) -> Matched:
    """Match again, term by term, the items in which a label touches several classes."""
    pred, ref = sides_of(block)
    synonyms = block.task.synonyms
    if synonyms is None or pred.written is None or ref.written is None:
        return matched
    hit = matched.hit.copy()
    touched = np.union1d(
        ragged.row_numbers(pred.indptr)[synonyms.ambiguous[pred.written]],
        ragged.row_numbers(ref.indptr)[synonyms.ambiguous[ref.written]],
    )
    for item in touched.tolist():
        mine = slice(pred.indptr[item], pred.indptr[item + 1])
        theirs = slice(ref.indptr[item], ref.indptr[item + 1])
        written = ref.written[theirs].tolist()
        if duplicates == "once":
            written = dict(
                zip(ref.codes[theirs].tolist(), written, strict=True)
            ).values()
        holders: dict[str, list[int]] = {}  # references by term, the first one last
        for number, code in reversed([*enumerate(written)]):
            for term in synonyms.terms[code]:
                holders.setdefault(term, []).append(number)
        used: set[int] = set()
        for place, code in enumerate(
            pred.written[mine].tolist(), int(pred.indptr[item])
        ):
            counts = matched.counted is None or bool(matched.counted[place])
            hit[place] = counts and _take_match(synonyms.terms[code], holders, used)
    return Matched(matched.counted, hit, matched.once, matched.n_ref)


def _take_match(
    terms: Iterable[str], holders: Mapping[str, list[int]], used: set[int]
) -> bool:
    """Use the first unused reference that has the first matching term."""
    for term in terms:
        references = holders.get(term, [])
        while references:
            if (number := references.pop()) not in used:
                used.add(number)
                return True
    return False


class ItemCounts(NamedTuple):
    """Counts of each item, int64 arrays of shape (items,)."""

    hit: Ints
    n_pred: Ints
    n_ref: Ints


@kept
def count_matches(block: LabelBlock, cut: Cut, matches: Step[Matched]) -> ItemCounts:
    """Count the hits, predictions and references of each item under a cut."""
    start, kept, matched = (
        sides_of(block)[0].indptr[:-1],
        block.get(cut),
        block.get(matches),
    )
    hits, n_pred = ragged.offsets(matched.hit), kept
    if matched.counted is not None:
        counted = ragged.offsets(matched.counted)
        n_pred = counted[start + kept] - counted[start]
    return ItemCounts(hits[start + kept] - hits[start], n_pred, matched.n_ref)


@dataclass(frozen=True, repr=False)
class CountColumns(Statistic):
    """The counts of each item under a cut, as columns; with ``ranks`` "precision_sum", too."""

    cut: Cut
    matches: Step[Matched]
    ranks: bool = False

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Make the columns "hit", "n_pred", "n_ref"."""
        columns: dict[str, Any] = count_matches(block, self.cut, self.matches)._asdict()
        if self.ranks:
            columns["precision_sum"] = _sum_precisions(block, self.cut, self.matches)
        return {name: Dense(values) for name, values in columns.items()}


@dataclass(frozen=True, repr=False)
class DistinctCounts(Statistic):
    """The different counts that items have: sets are small, so a formula needs few evaluations."""

    cut: Cut
    matches: Step[Matched]

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Make the columns "hit", "n_pred", "n_ref"; "codes" says which of them an item has."""
        columns = count_matches(block, self.cut, self.matches)
        widths = [int(column.max(initial=0)) + 1 for column in columns]
        keys = (columns[0] * widths[1] + columns[1]) * widths[2] + columns[2]
        if widths[0] * widths[1] * widths[2] <= 8 * len(keys):
            present = np.bincount(keys) > 0
            codes = (np.cumsum(present) - 1).take(keys)
            distinct = np.flatnonzero(present)
        else:
            distinct, codes = np.unique(keys, return_inverse=True)
        rest, n_ref = np.divmod(distinct, widths[2])
        counts = ItemCounts(*np.divmod(rest, widths[1]), n_ref)._asdict()
        return {
            **{name: Dense(values) for name, values in counts.items()},
            "codes": codes,
        }


def _sum_precisions(block: LabelBlock, cut: Cut, matches: Step[Matched]) -> Floats:
    """Sum the precision at the rank of each hit of each item; independent of the block."""
    (ranked, _), kept, matched = sides_of(block), block.get(cut), block.get(matches)
    rows = ragged.row_numbers(ranked.indptr)
    counted = (
        np.ones(len(rows), np.bool_) if matched.counted is None else matched.counted
    )
    start = ranked.indptr[:-1][rows]
    chosen = matched.hit & (np.arange(len(rows)) - start < kept[rows])
    hits, ranks = ragged.offsets(matched.hit), ragged.offsets(counted)
    place = np.flatnonzero(chosen)
    first = start[place]
    precision = (hits[place + 1] - hits[first]) / (ranks[place + 1] - ranks[first])
    return np.bincount(rows[place], precision, minlength=len(kept)).astype(np.float64)
