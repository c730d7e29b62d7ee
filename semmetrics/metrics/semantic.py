"""Precision, recall and F1 of label sets whose words differ, on embeddings of the labels.

Conventions
-----------
**Matched** (``SemPrecision`` and the like): a predicted label matches a reference label when the
cosine of their embeddings is above a threshold, strictly. With tp matched predictions, p
predictions and g references, precision is tp/p, recall tp/g (with ``match=any`` the references that
some prediction matches, over g). ``threshold=auto`` is the threshold of the embedding: calibrated
for the default model, 0.4 for word2vec (Kubany et al. 2020, section 3.2, footnote 2).

**Soft** (``SoftPrecision`` and the like): precision is the mean over predictions of the similarity
to the nearest reference, recall the mean over references of that to the nearest prediction, without
a threshold, and with similarities below 0 set to 0. With ``match=total`` labels are paired
one-to-one so that the similarities of the pairs have the largest sum, and a label without a partner
counts 0.

**Matching.** Similarities are those of ``metrics.label_similarity``. Items of like size are matched
together, in one padded table: predicted labels (or their terms) along its rows, reference labels
along its columns. It is on the device of the similarities, and comes to the processor to be
matched.

References
----------
Zhang, Kishore, Wu, Weinberger, Artzi, 2020, BERTScore: Evaluating Text Generation with BERT, ICLR,
equation 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import assignment, ragged
from semmetrics.core.backend import Backend, to_numpy
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks import Block, LabelTask, kept
from semmetrics.errors import InputError
from semmetrics.metrics import definition, formulas, label_similarity
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic, Value
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.label_similarity import EMBEDDING, Similarities, similarities_of
from semmetrics.metrics.matching import CountColumns, Cut, Matched, cut_of, sides_of
from semmetrics.metrics.registry import define
from semmetrics.metrics.sets import set_options
from semmetrics.options import clean_number

LabelBlock = Block[LabelTask]

_TENSOR = 1 << 21  # cells of the padded table of some items
_MORE = 5e-10  # half of the last place of a similarity
NEAR = "pairs near a threshold"
"""What is noted, with the step that matched, of pairs within 1e-6 of its threshold."""


class Batch(NamedTuple):
    """Items of like size, padded with -1.

    Attributes
    ----------
    rows : int array, shape (items, rows)
        Predicted labels, or their terms.
    columns : int array, shape (items, references)
        Reference labels.
    owner : int array, shape (items, rows)
        The place of the prediction that a row belongs to.
    goal : int array, shape (items, references)
        The place of the reference of a column.
    continues : bool array, shape (items, rows), or None
        Rows that are a further term of the prediction of the row before; None where rows are
        labels.
    """

    rows: Ints
    columns: Ints
    owner: Ints
    goal: Ints
    continues: Bools | None


@kept
def lay_out(block: LabelBlock, duplicates: str, model: str, cut: Cut | None = None) -> BatchLayout:
    """Leave out labels without a vector that takes part, and then repeats (under "once")."""
    if cut is not None:
        whole = lay_out(block, duplicates, model)
        inside = ragged.prefixes(whole.pred.indptr, block.get(cut))
        return whole._replace(pred_kept=whole.pred_kept & inside)
    vectors = label_similarity.label_vectors_of(block.task, model)
    sides = sides_of(block)
    included = np.logical_or.reduceat(vectors.included[vectors.rows], vectors.indptr[:-1])
    taken = [included[label_similarity.written_codes(side)] for side in sides]
    if duplicates == "once":
        width = max(1, len(block.task.classes))
        for side, flags in zip(sides, taken, strict=True):  # the first of a class of an item
            chosen = side if flags.all() else side.keep(flags)
            keys = ragged.cell_keys(chosen.indptr, chosen.codes, width)
            first = ragged.first_occurrences(keys, len(side) * width)
            if first is not None:
                flags[flags] = first
    return BatchLayout(sides[0], sides[1], taken[0], taken[1], vectors)


class BatchLayout(NamedTuple):
    """Both sides of a block, flags of what takes part in them, and the label vectors."""

    pred: Side
    ref: Side
    pred_kept: Bools
    ref_kept: Bools
    vectors: Any

    def batches(self, *, by_term: bool) -> Iterator[Batch]:
        """Yield the items that have something on both sides, those of like size together."""
        owner, goal = np.flatnonzero(self.pred_kept), np.flatnonzero(self.ref_kept)
        row = label_similarity.written_codes(self.pred)[owner]
        column = label_similarity.written_codes(self.ref)[goal]
        widths = ragged.sum_rows(self.pred_kept, self.pred.indptr)
        continues = None
        if by_term:
            tptr, flat = ragged.take_rows(self.vectors.indptr, row)
            owner, row = owner[ragged.row_numbers(tptr)], self.vectors.rows[flat]
            continues, widths = ragged.positions(tptr) > 0, np.diff(tptr[ragged.offsets(widths)])
        pred_ptr = ragged.offsets(widths)
        ref_ptr = ragged.offsets(ragged.sum_rows(self.ref_kept, self.ref.indptr))
        sizes = np.diff(pred_ptr), np.diff(ref_ptr)
        both = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))
        for part in ragged.group_by_size(sizes[1][both], sizes[0][both], _TENSOR):
            items = both[part]
            mine, theirs = _flat_places(pred_ptr, items), _flat_places(ref_ptr, items)
            rows, owners = (np.append(values, -1)[mine] for values in (row, owner))
            columns, goals = (np.append(values, -1)[theirs] for values in (column, goal))
            more = None if continues is None else np.append(continues, False)[mine]
            yield Batch(rows, columns, owners, goals, more)


def _flat_places(indptr: Ints, items: Ints) -> Ints:
    """Return flat places of the items' elements, shape (items, longest); -1 is padding."""
    widths = np.diff(indptr)[items]
    place = np.arange(int(widths.max()))
    return np.where(place < widths[:, None], indptr[items][:, None] + place, -1)


@dataclass(frozen=True, eq=False, repr=False)
class SemanticMatched(Matched):
    """Matching on similarities; besides what every matching has, who matched whom.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The reference, by its place in the flat list, that a prediction matched; -1 for none.
    first : int array, shape (references,)
        The place of the first prediction that matches a reference; the number of predictions
        where none does.
    """

    partner: Ints
    first: Ints


@dataclass(frozen=True, repr=False)
class SemanticMatches:
    """Match ranked predictions with references whose similarity is above a threshold.

    Attributes
    ----------
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"greedy", "optimal", "total", "any"}
        "greedy": predictions in their order, the terms of one in theirs, each taking the first
        unused reference in the order of the list (Kubany et al. 2020); "optimal": as many
        matches as any one-to-one matching of the first k predictions has, for every k; "total":
        as many as the matching of the first k with the largest sum of similarities has, for
        every k; "any": a reference may serve several predictions.
    duplicates : {"once", "each"}
    model : str
    cut : Cut, optional
        Match only the predictions kept. Counts are the same without it; who matched whom may not
        be.
    """

    threshold: float
    match: str = "greedy"
    duplicates: str = "once"
    model: str = "default"
    cut: Cut | None = None

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the block, items of like size together."""
        layout = lay_out(block, self.duplicates, self.model, self.cut)
        source = similarities_of(block, self.model)
        n_pred, n_ref = len(layout.pred.codes), len(layout.ref.codes)
        partner, first = np.full(n_pred, -1), np.full(n_ref, n_pred)
        hit, close = np.zeros(n_pred, np.bool_), 0
        by_term = self.match == "greedy" and layout.vectors.has_synonyms
        for batch in layout.batches(by_term=by_term):
            above, near = source.above(batch.rows, batch.columns, self.threshold, by_term=by_term)
            found, hits = self._match(batch, source, above)
            item, row = np.nonzero(found >= 0)
            mine, theirs = batch.owner[item, row], batch.goal[item, found[item, row]]
            partner[mine], hit[batch.owner[hits]] = theirs, True
            if self.match == "any":  # every reference above the threshold is served
                item, row, column = np.nonzero(above)
                np.minimum.at(first, batch.goal[item, column], batch.owner[item, row])
            else:
                first[theirs] = mine
            close += near
        block.note((NEAR, self), close)
        counted = None if layout.pred_kept.all() else layout.pred_kept
        n_refs = ragged.sum_rows(layout.ref_kept, layout.ref.indptr)
        return SemanticMatched(counted, hit, layout.ref_kept, n_refs, partner, first)

    def _match(self, batch: Batch, source: Similarities, above: Bools) -> tuple[Ints, Bools]:
        """Match a batch: the column of each row, or -1, and the rows that are hits."""
        if self.match == "total":
            table = to_numpy(source.gather(batch.rows, batch.columns))
            # of equal sums that with more pairs: then a prediction adds one pair or none
            gain = np.where(above & (table > 0), table + _MORE / (1 + table.shape[1]), 0.0)
            columns, hits = assignment.max_similarity_matching(gain), np.any(gain, axis=2)
            # where all that may match do so at the end, each has added a pair
            some = np.flatnonzero((columns >= 0).sum(axis=1) < hits.sum(axis=1))
            hits[some] = assignment.rows_with_more_pairs(gain[some])
            return columns, hits
        if self.match == "greedy":
            columns = assignment.greedy_matching(above, batch.continues)
        elif self.match == "any":
            columns = assignment.first_allowed(above)
        else:
            columns = assignment.max_cardinality_matching(above)
        return columns, columns >= 0


def matches_of(measure: Measure, cut: Cut | None = None) -> SemanticMatches:
    """Return the step that a measure's options describe."""
    threshold, match = float(str(measure["threshold"])), str(measure["match"])
    duplicates, model = str(measure["duplicates"]), str(measure["embedding"])
    return SemanticMatches(threshold, match, duplicates, model, cut)


def match_pairs(block: LabelBlock, matches: SemanticMatches) -> tuple[Ints, Floats]:
    """Return the reference that each prediction matched, and how similar the two are.

    Places of references are -1 for none. Where a reference may serve several predictions it is the
    most similar one. Without a match the similarity is that with the nearest reference, -inf where
    there is none.
    """
    matched = block.get(matches)
    layout = lay_out(block, matches.duplicates, matches.model, matches.cut)
    source = similarities_of(block, matches.model)
    partner, similarity = matched.partner.copy(), np.full(len(matched.partner), -np.inf)
    for batch in layout.batches(by_term=False):
        table = to_numpy(source.gather(batch.rows, batch.columns))
        real = batch.owner >= 0
        mine, nearest = batch.owner[real], table.argmax(axis=2)
        if matches.match == "any":
            theirs = np.take_along_axis(batch.goal, nearest, axis=1)[real]
            partner[mine] = np.where(matched.hit[mine], theirs, -1)
        # a column of the partner where there is one
        column = (partner[batch.owner][..., None] == batch.goal[:, None]).argmax(axis=2)
        column = np.where(partner[batch.owner] >= 0, column, nearest)
        similarity[mine] = np.take_along_axis(table, column[..., None], axis=2)[..., 0][real]
    return partner, similarity


@dataclass(frozen=True, repr=False)
class SemanticCounts(Statistic):
    """Counts of semantic matches of each item: columns "hit", "served", "n_pred", "n_ref".

    ``served`` counts the references that a prediction matches; it differs from ``hit`` only where
    a reference may serve several predictions.
    """

    cut: Cut
    matches: SemanticMatches
    ranks: bool = False

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Count within the kept prefix of each item."""
        columns = block.get(CountColumns(self.cut, self.matches, self.ranks))
        if self.matches.match != "any":
            return {**columns, "served": columns["hit"]}
        matched, (ranked, ref) = block.get(self.matches), sides_of(block)
        end = (ranked.indptr[:-1] + block.get(self.cut))[ragged.row_numbers(ref.indptr)]
        return {**columns, "served": Dense(ragged.sum_rows(matched.first < end, ref.indptr))}


class SemanticFamily(CountFormulas):
    """Formulas on counts of semantic matches: means over items, or of all counts together."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the counts of matches."""
        ranks = "precision_sum" in measure.definition.arguments
        return SemanticCounts(cut_of(measure), matches_of(measure), ranks)


@dataclass(frozen=True, repr=False)
class SoftCounts(Statistic):
    """Similarities of labels to what they go with on the other side, summed as hits are counted.

    Columns "hit" (over predictions), "served" (over references), "n_pred" and "n_ref". ``match``
    is "any", where a label goes with the nearest of the other side, or "total", where pairs are
    one-to-one with the largest sum. Similarities below 0 count as 0.
    """

    cut: Cut
    duplicates: str
    model: str
    match: str = "any"

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Sum the similarities of each item."""
        layout = lay_out(block, self.duplicates, self.model, self.cut)
        found = nearest_by_rule(layout, similarities_of(block, self.model), self.match)
        sides = (layout.pred, layout.pred_kept), (layout.ref, layout.ref_kept)
        columns: dict[str, Any] = {}
        for names, (side, taking_part), values in zip(_SIDES, sides, found, strict=True):
            rows = ragged.row_numbers(side.indptr)
            total = np.bincount(rows, np.maximum(values, 0.0), len(block)).astype(np.float64)
            number = ragged.sum_rows(taking_part, side.indptr)
            columns |= {names[0]: Dense(total), names[1]: Dense(number)}
        return columns


def _nearest(table: Any) -> tuple[Any, Any]:
    """Return similarities of rows and of columns to their nearest, in a table of each item."""
    xp = Backend(table).xp
    return xp.amax(table, 2), xp.amax(table, 1)


def _paired(table: Any) -> tuple[Any, Any]:
    """Return similarities of rows and of columns to their partners; 0 without one."""
    table = to_numpy(table)
    rows, columns = np.zeros(table.shape[:2]), np.zeros(table.shape[::2])
    found = assignment.max_similarity_matching(table)
    item, row = np.nonzero(found >= 0)
    column = found[item, row]
    rows[item, row] = columns[item, column] = table[item, row, column]
    return rows, columns


_RULES = {"any": _nearest, "total": _paired}
_SIDES = ("hit", "n_pred"), ("served", "n_ref")


def nearest_by_rule(layout: BatchLayout, source: Similarities, rule: str = "any") -> list[Floats]:
    """Return how similar each label of either side is to what it goes with, 0 without anything.

    With "any" that is the nearest of the other side; with "total" its partner, pairs having the
    largest sum of similarities.
    """
    found = [np.zeros(len(side.codes)) for side in (layout.pred, layout.ref)]
    for batch in layout.batches(by_term=False):
        part = _RULES[rule](source.gather(batch.rows, batch.columns))
        for values, new, place in zip(found, part, (batch.owner, batch.goal), strict=True):
            real = place >= 0
            values[place[real]] = to_numpy(new)[real]
    return found


class SoftFamily(CountFormulas):
    """Formulas on similarities without a threshold."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the sums of similarities."""
        chosen = (str(measure[name]) for name in ("duplicates", "embedding", "match"))
        return SoftCounts(cut_of(measure), *chosen)


def _recall(served: Any, n_ref: Any) -> Any:
    return formulas.recall(served, n_ref)


def _soft_f1(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    precision, recall = formulas.divide(hit, n_pred, 0.0), formulas.divide(served, n_ref, 0.0)
    return np.where((n_pred == 0) & (n_ref == 0), np.nan, formulas.harmonic_mean(precision, recall))


class _Threshold(Option):
    """A cosine, written as text or given as a number, or "auto"."""

    def read(self, text: Value) -> Value:
        """Write a number in one way."""
        if isinstance(text, (int, float, np.number)) and not isinstance(text, bool):
            text = repr(float(text))
        value = clean_number(str(super().read(text)))
        with suppress(ValueError):
            if value == "auto" or -1 <= float(value) <= 1:
                return value
        raise InputError("bad-option", name=self.name, value=value, wanted="a cosine, or auto")


_THRESHOLD = _Threshold(
    "threshold", "thr", "auto", help="cosine that a match is above; auto: the embedding's own"
)
_PAIRS = definition.one_of(
    "match", "greedy optimal total",
    "first unused reference in order; most matches; the matches with the largest total similarity",
)  # fmt: skip
_MATCH = _PAIRS._replace(
    choices=(*_PAIRS.choices, "any"), help=f"{_PAIRS.help}; a reference may serve several"
)
_NEAREST = definition.one_of(
    "match", "any total",
    "the nearest label of the other side; pairs one-to-one with the largest total similarity",
)  # fmt: skip
_HITS = definition.one_of(
    "normalize", "references hits", "divide by the references, or by the hits (Kubany et al. 2020)"
)


def _define(
    name: str,
    summary: str,
    equation: str,
    formula: Callable[..., Any],
    *options: Option,
    policies: tuple[str, ...] = (),
    averages: tuple[str, ...] = ("example", "micro"),
    **traits: Any,
) -> Definition:
    every = set_options(averages, without=("labels",), policies=("empty", *policies))
    average, duplicates, *shared = every
    known: dict[str, Any] = {
        "options": (average, *options, EMBEDDING, duplicates._replace(averages=None), *shared),
        "averages": averages, "formula": formula, "needs": frozenset({"embedding"}),
    }  # fmt: skip
    return define(name, summary=summary, equation=equation, **known, **traits)


_MATCHED: dict[str, Any] = {
    "family": SemanticFamily(), "source": "Kubany et al. 2020, section 3.2",
    "cite": ("kubany2020",), "order_invariant": False,
}  # fmt: skip
_SOFT: dict[str, Any] = {
    "family": SoftFamily(),
    "source": "Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
    "cite": ("zhang2020",), "averages": ("example",),
}  # fmt: skip
SemPrecision = _define(
    "SemPrecision", "Share of the predicted labels that mean the same as a true one.",
    "tp / p", formulas.precision, _THRESHOLD, _MATCH, policies=("no_prediction",), **_MATCHED,
)  # fmt: skip
SemRecall = _define(
    "SemRecall", "Share of the true labels that a predicted label means.",
    "tp / g", _recall, _THRESHOLD, _MATCH, policies=("no_reference",), **_MATCHED,
)  # fmt: skip
SemF1 = _define(
    "SemF1", "Harmonic mean of semantic precision and recall.",
    "2PR / (P + R)", formulas.f1_many_to_one, _THRESHOLD, _MATCH, **_MATCHED,
)  # fmt: skip
SemJaccard = _define(
    "SemJaccard", "Matched labels over all labels; the paper's accuracy.",
    "tp / (p + g - tp)", formulas.jaccard, _THRESHOLD, _PAIRS, **_MATCHED,
)  # fmt: skip
SemAP = _define(
    "SemAP", "Average precision of the ranked labels of an item, matched by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    formulas.average_precision, _THRESHOLD, _PAIRS, _HITS,
    averages=("example",), policies=("no_prediction", "no_reference"), **_MATCHED,
)  # fmt: skip
SoftPrecision = _define(
    "SoftPrecision", "Mean similarity of predictions to the nearest truth.",
    "Σ max cos / p", formulas.precision, _NEAREST, policies=("no_prediction",), **_SOFT,
)  # fmt: skip
SoftRecall = _define(
    "SoftRecall", "Mean similarity of true labels to the nearest prediction.",
    "Σ max cos / g", _recall, _NEAREST, policies=("no_reference",), **_SOFT,
)  # fmt: skip
SoftF1 = _define(
    "SoftF1", "Harmonic mean of soft precision and soft recall.",
    "2PR / (P + R)", _soft_f1, _NEAREST, symmetric=True, **_SOFT,
)  # fmt: skip
