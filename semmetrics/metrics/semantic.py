"""Precision, recall and F1 of label sets whose words differ, on embeddings of the labels.

Conventions
-----------
**Matched** (``SemPrecision`` and the like): a predicted label matches a reference label when the
cosine of their embeddings is above a threshold, strictly. With tp matched predictions, p
predictions and g references, precision is tp/p, recall tp/g (with ``match=any`` the references that
some prediction matches, over g). ``threshold=auto`` is the threshold of the embedding: calibrated
for the default model, 0.4 for word2vec (Kubany et al. 2020, section 3.2, footnote 2).

``match=exact-first``, the default, pairs equal labels first, as many as there can be and whatever
the threshold. It pairs the others one-to-one so that their similarities have the largest sum, and
with equal sums so that there are more pairs. Labels are equal if they share a term that takes part.
A matched measure is therefore at least as high as the exact one, a perfect answer in any order has
the value 1, and the order of labels does not matter except under a cutoff and in ``SemAP``. There
the rule applies to the first k predictions, for every k.

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

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from itertools import product
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
from semmetrics.metrics.definition import (
    Definition,
    Measure,
    Option,
    Statistic,
    Value,
    model_key,
)
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.label_similarity import EMBEDDING, Similarities, similarities_of
from semmetrics.metrics.matching import CountColumns, Cut, Matched, cut_of, sides_of
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_options import set_options
from semmetrics.options import clean_number

LabelBlock = Block[LabelTask]

_TENSOR = 1 << 21  # cells of the padded table of some items
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


def lay_out(
    block: LabelBlock, duplicates: str, model: str, cut: Cut | None = None
) -> BatchLayout:
    """Leave out labels without a vector that takes part, and then repeats (under "once")."""
    return _lay_out(
        block, duplicates, label_similarity.first_key(block.task, model), cut
    )


@kept
def _lay_out(
    block: LabelBlock, duplicates: str, model: str, cut: Cut | None
) -> BatchLayout:
    if cut is not None:
        whole = lay_out(block, duplicates, model)
        inside = ragged.prefixes(whole.pred.indptr, block.get(cut))
        return whole._replace(pred_kept=whole.pred_kept & inside)
    vectors = label_similarity.label_vectors_of(block.task, model)
    sides = sides_of(block)
    included = np.logical_or.reduceat(
        vectors.included[vectors.rows], vectors.indptr[:-1]
    )
    taken = [included[label_similarity.written_codes(side)] for side in sides]
    if duplicates == "once":
        width = max(1, len(block.task.classes))
        # the first of a class of an item
        for side, flags in zip(sides, taken, strict=True):
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
            continues, widths = (
                ragged.positions(tptr) > 0,
                np.diff(tptr[ragged.offsets(widths)]),
            )
        pred_ptr = ragged.offsets(widths)
        ref_ptr = ragged.offsets(ragged.sum_rows(self.ref_kept, self.ref.indptr))
        sizes = np.diff(pred_ptr), np.diff(ref_ptr)
        both = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))
        for part in ragged.group_by_size(sizes[1][both], sizes[0][both], _TENSOR):
            items = both[part]
            mine, theirs = _flat_places(pred_ptr, items), _flat_places(ref_ptr, items)
            rows, owners = (np.append(values, -1)[mine] for values in (row, owner))
            columns, goals = (
                np.append(values, -1)[theirs] for values in (column, goal)
            )
            more = None if continues is None else np.append(continues, False)[mine]
            yield Batch(rows, columns, owners, goals, more)


def _flat_places(indptr: Ints, items: Ints) -> Ints:
    """Return flat places of the items' elements, shape (items, longest); -1 is padding."""
    widths = np.diff(indptr)[items]
    place = np.arange(int(widths.max()))
    return np.where(place < widths[:, None], indptr[items][:, None] + place, -1)


@dataclass(frozen=True, eq=False, repr=False)
class SemanticMatched(Matched):
    """Matching on similarities.

    Attributes
    ----------
    first : int array, shape (references,)
        The place of the first prediction that matches a reference, or the number of predictions
        where none does. Empty under a rule by which a reference serves one prediction.
    """

    first: Ints


@dataclass(frozen=True, repr=False)
class SemanticMatches:
    """Match ranked predictions with references whose similarity is above a threshold.

    Attributes
    ----------
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"exact-first", "greedy", "optimal", "total", "any"}
        "exact-first": equal labels are paired first, whatever the threshold, and the others
        one-to-one so that the similarities have the largest sum (of equal sums, with more pairs).
        "greedy": predictions in their order, the terms of one in theirs, each taking the first
        unused reference in the order of the list (Kubany et al. 2020). "optimal": as many matches
        as a one-to-one matching can have. "total": the matching whose similarities have the largest
        sum, equal labels included. "any": a reference may serve several predictions. Except for
        "any" and "greedy", each rule applies to the first k predictions, for every k.
    duplicates : {"once", "each"}
    model : str
        The key of the label vectors in the task.
    cut : Cut, optional
        Match only the predictions kept. Counts are the same without it; who matched whom may not
        be.
    """

    threshold: float
    match: str = "exact-first"
    duplicates: str = "once"
    model: str = "default"
    cut: Cut | None = None

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the block, items of like size together."""
        layout = lay_out(block, self.duplicates, self.model, self.cut)
        source = similarities_of(block, self.model)
        n_pred, n_ref = len(layout.pred.codes), len(layout.ref.codes)
        hit, close = np.zeros(n_pred, np.bool_), 0
        first = np.full(n_ref if self.match == "any" else 0, n_pred)
        by_term = self.takes_terms(layout)
        for batch in layout.batches(by_term=by_term):
            above, near = source.above(
                batch.rows, batch.columns, self.threshold, by_term=by_term
            )
            hits = self._find_hits(batch, source, above)
            hit[batch.owner[hits]] = True
            if self.match == "any":  # every reference above the threshold is served
                item, row, column = np.nonzero(above)
                np.minimum.at(first, batch.goal[item, column], batch.owner[item, row])
            close += near
        block.note((NEAR, self.model, self.threshold, str(astuple(self))), close)
        counted = None if layout.pred_kept.all() else layout.pred_kept
        n_refs = ragged.sum_rows(layout.ref_kept, layout.ref.indptr)
        return SemanticMatched(counted, hit, layout.ref_kept, n_refs, first)

    def takes_terms(self, layout: BatchLayout) -> bool:
        """Return whether the rows of batches are terms in place of labels."""
        return self.match == "greedy" and bool(layout.vectors.has_synonyms)

    def _find_hits(self, batch: Batch, source: Similarities, above: Bools) -> Bools:
        """Return the rows of a batch that are hits, for every number of first predictions."""
        if self.match not in _BY_SUM:
            return self._pair_by_order(batch, above) >= 0
        usable = self._usable(batch, source, above)
        hits, contested = assignment.find_stars(usable)
        if len(contested):
            table = self._contested_table(batch, source, usable.shape, contested)
            item, row = np.nonzero(assignment.rows_with_more_pairs(table.gains))
            hits[table.items[item], table.rows[item, row]] = True
        return hits

    def find_pairs(self, batch: Batch, source: Similarities, above: Bools) -> Ints:
        """Return the column that each row of a batch is paired with, or -1.

        Of several pairings with the largest sum, it is that of the first rows and columns.
        """
        if self.match not in _BY_SUM:
            return self._pair_by_order(batch, above)
        usable = self._usable(batch, source, above)
        columns = np.full(batch.rows.shape, -1)
        edges = np.flatnonzero(usable)
        if len(edges):
            table = self._contested_table(batch, source, usable.shape, edges)
            chosen = assignment.best_pairs(table.gains)
            item, row = np.nonzero(chosen >= 0)
            column = table.columns[item, chosen[item, row]]
            columns[table.items[item], table.rows[item, row]] = column
        return columns

    def _pair_by_order(self, batch: Batch, above: Bools) -> Ints:
        if self.match == "greedy":
            return assignment.greedy_matching(above, batch.continues)
        if self.match == "any":
            return assignment.first_allowed(above)
        return assignment.max_cardinality_matching(above)

    def _usable(self, batch: Batch, source: Similarities, above: Bools) -> Bools:
        """Return the pairs that a matching with the largest sum may have.

        A similarity below 0 makes no sum larger. Equal labels have the similarity 1, and may be
        paired at a threshold of 1.
        """
        if self.threshold < 0:
            similarity = source.gather(
                batch.rows, batch.columns, skip_zero_vectors=True
            )
            least = 0.0 if self.match == "exact-first" else np.nextafter(0.0, 1.0)
            usable: Bools = above & to_numpy(similarity >= least)
            return usable
        if self.threshold >= 1 and self.match == "exact-first":
            return source.equal(batch.rows[:, :, None], batch.columns[:, None, :])
        return above

    def _contested_table(
        self, batch: Batch, source: Similarities, shape: tuple[int, ...], edges: Ints
    ) -> _GainTable:
        """Lay the rows and columns of some pairs out, with what each pair adds to the sum."""
        item, row, column = np.unravel_index(edges, shape)
        n_items, n_rows, n_columns = shape
        rows = _number_within(item, row, (n_items, n_rows))
        columns = _number_within(item, column, (n_items, n_columns))
        size = min(rows.places.shape[1], columns.places.shape[1])
        mine, theirs = batch.rows[item, row], batch.columns[item, column]
        gains = np.zeros((*rows.places.shape, columns.places.shape[1]))
        gains[rows.item, rows.number, columns.number] = self._gains(
            source, mine, theirs, size
        )
        return _GainTable(rows.items, rows.places, columns.places, gains)

    def _gains(
        self, source: Similarities, mine: Ints, theirs: Ints, size: int
    ) -> Floats:
        """Return what each pair of labels adds, each distinct pair computed once."""
        width = int(theirs.max()) + 1
        keys, place = ragged.distinct_keys(mine * np.int64(width) + theirs)
        mine, theirs = np.divmod(keys, width)
        sides = mine[:, None], theirs[:, None]
        similarity = source.gather(*sides, skip_zero_vectors=self.threshold < 0)
        equal = np.zeros(len(keys), np.bool_)
        if self.match == "exact-first":
            equal = source.equal(mine, theirs)
        gains = assignment.make_gains(to_numpy(similarity)[:, 0, 0], equal, size)
        return gains[place]


_BY_SUM = ("exact-first", "total")
"""Rules that maximise the sum of similarities."""


class _GainTable(NamedTuple):
    """What pairs add to a sum, in tables of the rows and columns that have such a pair.

    Attributes
    ----------
    items : int array, shape (items,)
        Numbers of the items in the batch.
    rows, columns : int arrays, shapes (items, m) and (items, n)
        Their places in the batch; padded with the first.
    gains : float array, shape (items, m, n)
    """

    items: Ints
    rows: Ints
    columns: Ints
    gains: Floats


class _Numbered(NamedTuple):
    """Elements of items, numbered within their item.

    Attributes
    ----------
    items : int array, shape (items,)
        Those that have an element, rising.
    places : int array, shape (items, most elements)
        What has each number; 0 for padding.
    item, number : int arrays, shape (elements,)
        The place of the item in ``items``, and the number of the element.
    """

    items: Ints
    places: Ints
    item: Ints
    number: Ints


def _number_within(item: Ints, place: Ints, shape: tuple[int, int]) -> _Numbered:
    """Number the distinct places of each item, in their order."""
    is_used = np.zeros(shape, np.bool_)
    is_used[item, place] = True
    items = np.flatnonzero(is_used.any(axis=1))
    number_of_item = np.zeros(shape[0], np.int64)
    number_of_item[items] = np.arange(len(items))
    is_used = is_used[items]
    number = np.cumsum(is_used, axis=1) - 1
    places = np.zeros((len(items), int(number[:, -1].max()) + 1), np.int64)
    own, distinct = np.nonzero(is_used)
    places[own, number[own, distinct]] = distinct
    own = number_of_item[item]
    return _Numbered(items, places, own, number[own, place])


def matches_of(measure: Measure, cut: Cut | None = None) -> SemanticMatches:
    """Return the step that a measure's options describe."""
    threshold, match = float(str(measure["threshold"])), str(measure["match"])
    duplicates = str(measure["duplicates"])
    return SemanticMatches(threshold, match, duplicates, model_key(measure), cut)


class LabelPairs(NamedTuple):
    """Which reference each prediction is paired with.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The reference, by its place in the flat list; -1 for none. Where a reference may serve
        several predictions it is the most similar one.
    similarity : float array, shape (predictions,)
        That of the pair; without one, the similarity to the nearest reference, or -inf where there
        is none.
    served : bool array, shape (references,)
        Whether some prediction matches a reference.
    nearest : int array, shape (predictions,)
        The reference that the similarity is of, by its place; -1 where there is none.
    reasons : list of str or None
        Why each prediction matches: "equal", "same name", "same synset" or "similar". None without
        a match.
    """

    partner: Ints
    similarity: Floats
    served: Bools
    nearest: Ints
    reasons: list[str | None]


def match_pairs(block: LabelBlock, matches: SemanticMatches) -> LabelPairs:
    """Pair predictions with references, by labels in the order of their texts.

    So a pairing does not depend on the order of a list, except under "greedy" and "optimal".
    """
    layout = lay_out(block, matches.duplicates, matches.model, matches.cut)
    source = similarities_of(block, matches.model)
    partner = np.full(len(layout.pred.codes), -1)
    by_term = matches.takes_terms(layout)
    for batch in layout.batches(by_term=by_term):
        if matches.match in _BY_SUM:
            batch = _sort_by_text(block, batch)
        above, _ = source.above(
            batch.rows, batch.columns, matches.threshold, by_term=by_term
        )
        columns = matches.find_pairs(batch, source, above)
        item, row = np.nonzero(columns >= 0)
        partner[batch.owner[item, row]] = batch.goal[item, columns[item, row]]
    served = np.zeros(len(layout.ref.codes), np.bool_)
    if matches.match == "any":
        served = block.get(matches).first < len(partner)
    similarity = np.full(len(partner), -np.inf)
    nearest_place = np.full(len(partner), -1)
    for batch in layout.batches(by_term=False):
        table = to_numpy(source.gather(batch.rows, batch.columns))
        real = batch.owner >= 0
        mine, nearest = batch.owner[real], table.argmax(axis=2)
        if matches.match == "any":
            theirs = np.take_along_axis(batch.goal, nearest, axis=1)[real]
            partner[mine] = np.where(partner[mine] >= 0, theirs, -1)
        # a column of the partner where there is one
        column = (partner[batch.owner][..., None] == batch.goal[:, None]).argmax(axis=2)
        column = np.where(partner[batch.owner] >= 0, column, nearest)
        similarity[mine] = np.take_along_axis(table, column[..., None], axis=2)[..., 0][
            real
        ]
        nearest_place[mine] = np.take_along_axis(batch.goal, column, axis=1)[real]
    served[partner[partner >= 0]] = True
    reasons: list[str | None] = [None] * len(partner)
    matched = np.flatnonzero(partner >= 0)
    predicted = label_similarity.written_codes(layout.pred)[matched]
    true = label_similarity.written_codes(layout.ref)[partner[matched]]
    reasons_of_matches = explain_matches(layout.vectors, predicted, true)
    for place, reason in zip(matched.tolist(), reasons_of_matches, strict=True):
        reasons[place] = reason
    return LabelPairs(partner, similarity, served, nearest_place, reasons)


def explain_matches(vectors: Any, predicted: Ints, true: Ints) -> list[str]:
    """Return why labels match, looking at each distinct pair once.

    Parameters
    ----------
    vectors : LabelVectors
    predicted, true : int arrays, shape (pairs,)
        Codes of labels.

    Returns
    -------
    list of str
        "equal" if both share a term, "same name" if terms are forms of one name, "same synset" if a
        term of each is a lemma of one synset of WordNet, as far as the model knows, and otherwise
        "similar".
    """
    width = np.int64(len(vectors.indptr))
    keys, place = ragged.distinct_keys(predicted * width + true)
    mine, theirs = np.divmod(keys, width)
    reasons = np.full(len(keys), "similar", object)
    is_equal = label_similarity.equal_labels(vectors, mine, theirs)
    others = np.flatnonzero(~is_equal)
    for reason, question in (
        ("same synset", "share_synset"),
        ("same name", "share_name"),
    ):
        is_so = _ask_model(vectors, question, mine[others], theirs[others])
        reasons[others[is_so]] = reason
    reasons[is_equal] = "equal"
    reasons_of_pairs: list[str] = reasons[place].tolist()
    return reasons_of_pairs


def _ask_model(vectors: Any, question: str, predicted: Ints, true: Ints) -> Bools:
    """Return the model's answer on terms of two labels, or False if it has no such method."""
    shared = np.zeros(len(predicted), np.bool_)
    ask = getattr(vectors.embedder, question, None)
    if ask is None or not len(predicted):
        return shared
    terms = [term.replace("_", " ") for term in vectors.terms]
    first, second, pairs = [], [], []
    for pair, codes in enumerate(zip(predicted.tolist(), true.tolist(), strict=True)):
        mine, theirs = (vectors.rows_of_label(code) for code in codes)
        for row, other in product(mine, theirs):
            first.append(terms[row])
            second.append(terms[other])
            pairs.append(pair)
    answers = np.asarray(ask(first, second), np.bool_)
    shared[np.array(pairs, np.int64)[answers]] = True
    return shared


@kept
def _text_order(task: LabelTask) -> Ints:
    """Return the place of each written label among all, by their terms; padding is the last."""
    terms: Sequence[Any] = (
        task.classes if task.synonyms is None else task.synonyms.terms
    )
    place = np.empty(len(terms) + 1, np.int64)
    place[sorted(range(len(terms)), key=terms.__getitem__)] = np.arange(len(terms))
    place[-1] = len(terms)
    return place


def _sort_by_text(block: LabelBlock, batch: Batch) -> Batch:
    """Sort the labels of each item by their texts."""
    place = _text_order(block.task)
    rows = np.argsort(place[batch.rows], axis=1, kind="stable")
    columns = np.argsort(place[batch.columns], axis=1, kind="stable")
    return Batch(
        np.take_along_axis(batch.rows, rows, axis=1),
        np.take_along_axis(batch.columns, columns, axis=1),
        np.take_along_axis(batch.owner, rows, axis=1),
        np.take_along_axis(batch.goal, columns, axis=1),
        None,
    )


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
        return {
            **columns,
            "served": Dense(ragged.sum_rows(matched.first < end, ref.indptr)),
        }


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
        for names, (side, taking_part), values in zip(
            _SIDES, sides, found, strict=True
        ):
            rows = ragged.row_numbers(side.indptr)
            total = np.bincount(rows, np.maximum(values, 0.0), len(block)).astype(
                np.float64
            )
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


def nearest_by_rule(
    layout: BatchLayout, source: Similarities, rule: str = "any"
) -> list[Floats]:
    """Return how similar each label of either side is to what it goes with, 0 without anything.

    With "any" that is the nearest of the other side; with "total" its partner, pairs having the
    largest sum of similarities.
    """
    found = [np.zeros(len(side.codes)) for side in (layout.pred, layout.ref)]
    for batch in layout.batches(by_term=False):
        part = _RULES[rule](source.gather(batch.rows, batch.columns))
        for values, new, place in zip(
            found, part, (batch.owner, batch.goal), strict=True
        ):
            real = place >= 0
            values[place[real]] = to_numpy(new)[real]
    return found


class SoftFamily(CountFormulas):
    """Formulas on similarities without a threshold."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the sums of similarities."""
        duplicates, match = str(measure["duplicates"]), str(measure["match"])
        return SoftCounts(cut_of(measure), duplicates, model_key(measure), match)


def _recall(served: Any, n_ref: Any) -> Any:
    return formulas.recall(served, n_ref)


def _soft_f1(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    precision, recall = (
        formulas.divide(hit, n_pred, 0.0),
        formulas.divide(served, n_ref, 0.0),
    )
    return np.where(
        (n_pred == 0) & (n_ref == 0), np.nan, formulas.harmonic_mean(precision, recall)
    )


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
        raise InputError(
            "bad-option", name=self.name, value=value, wanted="a cosine, or auto"
        )


_THRESHOLD = _Threshold(
    "threshold",
    "thr",
    "auto",
    help="cosine that a match is above; auto: the embedding's own",
)
_PAIRS = definition.one_of(
    "match",
    "exact-first greedy optimal total",
    "equal labels first, then the largest total similarity; first unused reference in order "
    "(Kubany et al. 2020); most matches; the largest total similarity",
)
_MATCH = _PAIRS._replace(
    choices=(*_PAIRS.choices, "any"),
    help=f"{_PAIRS.help}; a reference may serve several",
)
_NEAREST = definition.one_of(
    "match",
    "any total",
    "the nearest label of the other side; pairs one-to-one with the largest total similarity",
)
_HITS = definition.one_of(
    "normalize",
    "references hits",
    "divide by the references, or by the hits (Kubany et al. 2020)",
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
        "options": (
            average,
            *options,
            EMBEDDING,
            duplicates._replace(averages=None),
            *shared,
        ),
        "averages": averages,
        "formula": formula,
        "needs": frozenset({"embedding"}),
    }
    return define(name, summary=summary, equation=equation, **known, **traits)


_MATCHED: dict[str, Any] = {
    "family": SemanticFamily(),
    "source": "Kubany et al. 2020, section 3.2",
    "cite": ("kubany2020",),
    "extra": {"ordered": ("greedy",)},
    "own_embedding": "same",
}
_SOFT: dict[str, Any] = {
    "family": SoftFamily(),
    "source": "Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
    "cite": ("zhang2020",),
    "averages": ("example",),
}
SemPrecision = _define(
    "SemPrecision",
    "Share of the predicted labels that mean the same as a true one.",
    "tp / p",
    formulas.precision,
    _THRESHOLD,
    _MATCH,
    policies=("no_prediction",),
    **_MATCHED,
)
SemRecall = _define(
    "SemRecall",
    "Share of the true labels that a predicted label means.",
    "tp / g",
    _recall,
    _THRESHOLD,
    _MATCH,
    policies=("no_reference",),
    **_MATCHED,
)
SemF1 = _define(
    "SemF1",
    "Harmonic mean of semantic precision and recall.",
    "2PR / (P + R)",
    formulas.f1_many_to_one,
    _THRESHOLD,
    _MATCH,
    **_MATCHED,
)
SemJaccard = _define(
    "SemJaccard",
    "Matched labels over all labels; the paper's accuracy.",
    "tp / (p + g - tp)",
    formulas.jaccard,
    _THRESHOLD,
    _PAIRS,
    **_MATCHED,
)
SemAP = _define(
    "SemAP",
    "Average precision of the ranked labels of an item, matched by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    formulas.average_precision,
    _THRESHOLD,
    _PAIRS,
    _HITS,
    averages=("example",),
    policies=("no_prediction", "no_reference"),
    order_invariant=False,
    **_MATCHED,
)
SoftPrecision = _define(
    "SoftPrecision",
    "Mean similarity of predictions to the nearest truth.",
    "Σ max cos / p",
    formulas.precision,
    _NEAREST,
    policies=("no_prediction",),
    **_SOFT,
)
SoftRecall = _define(
    "SoftRecall",
    "Mean similarity of true labels to the nearest prediction.",
    "Σ max cos / g",
    _recall,
    _NEAREST,
    policies=("no_reference",),
    **_SOFT,
)
SoftF1 = _define(
    "SoftF1",
    "Harmonic mean of soft precision and soft recall.",
    "2PR / (P + R)",
    _soft_f1,
    _NEAREST,
    symmetric=True,
    **_SOFT,
)
