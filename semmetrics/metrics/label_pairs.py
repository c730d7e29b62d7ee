"""Show which predicted label matches which reference label by meaning, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import to_numpy
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.metrics import label_similarity
from semmetrics.metrics.label_batches import Batch, BatchLayout, LabelBlock, lay_out
from semmetrics.metrics.semantic import SemanticMatches
from semmetrics.metrics.similarity_sources import SimilaritySource, equal_labels

if TYPE_CHECKING:
    from semmetrics.embed.label_vectors import LabelVectors


class LabelPairs(NamedTuple):
    """Which reference each prediction is paired with.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The place of the matched reference in the flat list, or -1. If a prediction may
        match several references, it is the most similar one.
    similarity : float array, shape (predictions,)
        The similarity to the partner. Without a partner, the similarity to the nearest
        reference, or -inf if the item has no reference.
    served : bool array, shape (references,)
        Whether a prediction matches the reference.
    nearest : int array, shape (predictions,)
        The place of the reference that ``similarity`` refers to, or -1.
    reasons : list of str or None
        Why each prediction matches: "equal", "same name", "same synset" or "similar".
        None without a match.
    """

    partner: Ints
    similarity: Floats
    served: Bools
    nearest: Ints
    reasons: list[str | None]


def match_pairs(block: LabelBlock, matches: SemanticMatches) -> LabelPairs:
    """Pair predictions with references, as a step matches them.

    Among equally good pairings, the alphabetical order of labels decides. So a pairing
    does not depend on the order of a list, except under "greedy" and "optimal".
    """
    layout = lay_out(block, matches.duplicates, matches.model, matches.cut)
    source = label_similarity.similarities_of(block, matches.model)
    shown = _ShownReferences.empty(_find_partners(block, matches, layout, source))
    for batch in layout.batches(by_term=False):
        similarity = to_numpy(source.gather(batch.rows, batch.columns))
        if matches.match == "any":
            shown.set_nearest_partners(batch, similarity)
        shown.set_similarities(batch, similarity)
    return LabelPairs(
        shown.partner,
        shown.similarity,
        _find_served(block, matches, layout, shown.partner),
        shown.nearest,
        _explain_partners(layout, shown.partner),
    )


def _find_partners(
    block: LabelBlock,
    matches: SemanticMatches,
    layout: BatchLayout,
    source: SimilaritySource,
) -> Ints:
    """Return the place of each prediction's reference, or -1."""
    partner = np.full(len(layout.pred.codes), -1)
    by_term = matches.takes_terms(layout)
    for batch in layout.batches(by_term=by_term):
        if matches.maximizes_sum:
            batch = _sort_alphabetically(block, batch)
        decisions = source.above(
            batch.rows, batch.columns, matches.threshold, by_term=by_term
        )
        columns = matches.find_pairs(batch, source, decisions.above)
        item, row = np.nonzero(columns >= 0)
        ref_places = batch.ref_places[item, columns[item, row]]
        partner[batch.pred_places[item, row]] = ref_places
    return partner


def _find_served(
    block: LabelBlock, matches: SemanticMatches, layout: BatchLayout, partner: Ints
) -> Bools:
    """Return which references a prediction matches."""
    served = np.zeros(len(layout.ref.codes), np.bool_)
    if matches.match == "any":
        # A prediction may also match references that are not its partner.
        served = block.get(matches).first < len(partner)
    served[partner[partner >= 0]] = True
    return served


@dataclass(frozen=True, eq=False)
class _ShownReferences:
    """The reference that is shown with each prediction: its partner, or the nearest.

    Attributes
    ----------
    partner, similarity, nearest
        As in `LabelPairs`, filled batch by batch.
    """

    partner: Ints
    similarity: Floats
    nearest: Ints

    @staticmethod
    def empty(partner: Ints) -> _ShownReferences:
        """Return the partners, without similarities yet."""
        n_pred = len(partner)
        return _ShownReferences(partner, np.full(n_pred, -np.inf), np.full(n_pred, -1))

    def set_nearest_partners(self, batch: Batch, similarity: Floats) -> None:
        """Replace the partner of each matched prediction by the nearest reference.

        ``similarity`` has the shape (items, rows, columns).
        """
        nearest_column = similarity.argmax(axis=2)
        nearest = np.take_along_axis(batch.ref_places, nearest_column, axis=1)
        is_row = batch.pred_places >= 0  # not padding
        places = batch.pred_places[is_row]
        has_partner = self.partner[places] >= 0
        self.partner[places] = np.where(has_partner, nearest[is_row], -1)

    def set_similarities(self, batch: Batch, similarity: Floats) -> None:
        """Set the similarity to the partner, or else to the nearest reference.

        ``similarity`` has the shape (items, rows, columns).
        """
        partner_of_row = self.partner[batch.pred_places]
        is_partner = partner_of_row[..., None] == batch.ref_places[:, None]
        partner_column = is_partner.argmax(axis=2)
        nearest_column = similarity.argmax(axis=2)
        column = np.where(partner_of_row >= 0, partner_column, nearest_column)
        similarity_of_row = np.take_along_axis(similarity, column[..., None], axis=2)
        reference_of_row = np.take_along_axis(batch.ref_places, column, axis=1)
        is_row = batch.pred_places >= 0  # not padding
        places = batch.pred_places[is_row]
        self.similarity[places] = similarity_of_row[..., 0][is_row]
        self.nearest[places] = reference_of_row[is_row]


# ---- reasons -------------------------------------------------------------------------


def _explain_partners(layout: BatchLayout, partner: Ints) -> list[str | None]:
    """Return why each prediction matches its partner, None without one."""
    matched = np.flatnonzero(partner >= 0)
    predicted = label_similarity.written_codes(layout.pred)[matched]
    true = label_similarity.written_codes(layout.ref)[partner[matched]]
    reasons: list[str | None] = [None] * len(partner)
    reasons_of_matches = explain_matches(layout.vectors, predicted, true)
    for place, reason in zip(matched.tolist(), reasons_of_matches, strict=True):
        reasons[place] = reason
    return reasons


def explain_matches(vectors: LabelVectors, predicted: Ints, true: Ints) -> list[str]:
    """Return why labels match. Each distinct pair is examined once.

    Parameters
    ----------
    vectors : LabelVectors
    predicted, true : int arrays, shape (pairs,)
        Codes of labels.

    Returns
    -------
    list of str
        "equal" if both labels share a term, "same name" if terms are forms of one name,
        "same synset" if terms of both are lemmas of one WordNet synset, as far as the
        model knows, and otherwise "similar".
    """
    n_labels = np.int64(len(vectors.indptr))
    keys, key_of_pair = ragged.distinct_keys(predicted * n_labels + true)
    first, second = np.divmod(keys, n_labels)
    reasons = np.full(len(keys), "similar", object)
    is_equal = equal_labels(vectors, first, second)
    unequal = np.flatnonzero(~is_equal)
    # Only few models have these methods. If both apply, the last reason counts.
    for reason, method in (
        ("same synset", "share_synset"),
        ("same name", "share_name"),
    ):
        share = getattr(vectors.embedder, method, None)
        if share is not None and len(unequal):
            applies = _share_any(vectors, share, first[unequal], second[unequal])
            reasons[unequal[applies]] = reason
    reasons[is_equal] = "equal"
    reasons_of_pairs: list[str] = reasons[key_of_pair].tolist()
    return reasons_of_pairs


def _share_any(
    vectors: LabelVectors,
    share: Callable[[list[str], list[str]], Bools],
    predicted: Ints,
    true: Ints,
) -> Bools:
    """Return whether any terms of two labels share something, for each pair of labels.

    Parameters
    ----------
    vectors : LabelVectors
    share : callable
        Takes two lists of terms, and returns which terms at the same place share it.
    predicted, true : int arrays, shape (pairs,)
        Codes of labels.
    """
    terms = [term.replace("_", " ") for term in vectors.terms]
    predicted_terms = []
    true_terms = []
    pair_of_terms = []
    labels = zip(predicted.tolist(), true.tolist(), strict=True)
    for pair, (predicted_label, true_label) in enumerate(labels):
        predicted_rows = vectors.rows_of_label(predicted_label)
        true_rows = vectors.rows_of_label(true_label)
        for predicted_row, true_row in product(predicted_rows, true_rows):
            predicted_terms.append(terms[predicted_row])
            true_terms.append(terms[true_row])
            pair_of_terms.append(pair)
    are_shared = np.asarray(share(predicted_terms, true_terms), np.bool_)
    is_shared = np.zeros(len(predicted), np.bool_)
    is_shared[np.array(pair_of_terms, np.int64)[are_shared]] = True
    return is_shared


# ---- alphabetical order --------------------------------------------------------------


@memoised
def _alphabetical_ranks(task: LabelTask) -> Ints:
    """Return the alphabetical rank of each written label by its terms.

    A last rank, after all others, is the rank of padding, which has the code -1.
    """
    terms: Sequence[Any] = task.classes
    if task.synonyms is not None:
        terms = task.synonyms.terms
    n_labels = len(terms)
    order = sorted(range(n_labels), key=terms.__getitem__)
    ranks = np.empty(n_labels + 1, np.int64)
    ranks[order] = np.arange(n_labels)
    ranks[-1] = n_labels
    return ranks


def _sort_alphabetically(block: LabelBlock, batch: Batch) -> Batch:
    """Sort the labels of each item alphabetically."""
    ranks = _alphabetical_ranks(block.task)
    row_order = np.argsort(ranks[batch.rows], axis=1, kind="stable")
    column_order = np.argsort(ranks[batch.columns], axis=1, kind="stable")
    return Batch(
        np.take_along_axis(batch.rows, row_order, axis=1),
        np.take_along_axis(batch.columns, column_order, axis=1),
        np.take_along_axis(batch.pred_places, row_order, axis=1),
        np.take_along_axis(batch.ref_places, column_order, axis=1),
        continues=None,
    )
