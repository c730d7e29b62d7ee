"""Show which predicted label matches which reference label by meaning, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import to_numpy
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks import LabelTask, kept
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
        The place of the reference in the flat list, or -1. If a reference may serve
        several predictions, it is the most similar reference.
    similarity : float array, shape (predictions,)
        The similarity of the pair. Without a partner, the similarity to the nearest
        reference, or -inf if the item has no reference.
    served : bool array, shape (references,)
        Whether some prediction matches a reference.
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
    partner = _find_partners(block, matches, layout, source)
    if matches.match == "any":
        served = block.get(matches).first < len(partner)
    else:
        served = np.zeros(len(layout.ref.codes), np.bool_)
    shown = _ShownReferences.empty(partner)
    for batch in layout.batches(by_term=False):
        similarity = to_numpy(source.gather(batch.rows, batch.columns))
        if matches.match == "any":
            shown.set_nearest_partners(batch, similarity)
        shown.set_similarities(batch, similarity)
    served[shown.partner[shown.partner >= 0]] = True
    return LabelPairs(
        shown.partner,
        shown.similarity,
        served,
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
        """Return partners whose similarities are not known yet."""
        n_pred = len(partner)
        return _ShownReferences(partner, np.full(n_pred, -np.inf), np.full(n_pred, -1))

    def set_nearest_partners(self, batch: Batch, similarity: Floats) -> None:
        """Replace the partner of each matched prediction by the nearest reference."""
        nearest_column = similarity.argmax(axis=2)
        nearest = np.take_along_axis(batch.ref_places, nearest_column, axis=1)
        is_row = batch.pred_places >= 0
        places = batch.pred_places[is_row]
        has_partner = self.partner[places] >= 0
        self.partner[places] = np.where(has_partner, nearest[is_row], -1)

    def set_similarities(self, batch: Batch, similarity: Floats) -> None:
        """Set the similarity to the partner, or else to the nearest reference."""
        partner_of_row = self.partner[batch.pred_places]
        is_partner = partner_of_row[..., None] == batch.ref_places[:, None]
        nearest_column = similarity.argmax(axis=2)
        column = np.where(
            partner_of_row >= 0, is_partner.argmax(axis=2), nearest_column
        )
        similarity_of_row = np.take_along_axis(similarity, column[..., None], axis=2)
        reference_of_row = np.take_along_axis(batch.ref_places, column, axis=1)
        is_row = batch.pred_places >= 0
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
    others = np.flatnonzero(~is_equal)
    for reason, method in (
        ("same synset", "share_synset"),
        ("same name", "share_name"),
    ):
        applies = _ask_model(vectors, method, first[others], second[others])
        reasons[others[applies]] = reason
    reasons[is_equal] = "equal"
    reasons_of_pairs: list[str] = reasons[key_of_pair].tolist()
    return reasons_of_pairs


def _ask_model(
    vectors: LabelVectors, method: str, predicted: Ints, true: Ints
) -> Bools:
    """Return whether a method of the model is true for any terms of two labels.

    It is false if the model has no such method.
    """
    is_shared = np.zeros(len(predicted), np.bool_)
    share = getattr(vectors.embedder, method, None)
    if share is None or not len(predicted):
        return is_shared
    terms = [term.replace("_", " ") for term in vectors.terms]
    first_terms = []
    second_terms = []
    pairs = []
    labels = zip(predicted.tolist(), true.tolist(), strict=True)
    for pair, (first, second) in enumerate(labels):
        rows = vectors.rows_of_label(first)
        other_rows = vectors.rows_of_label(second)
        for row, other_row in product(rows, other_rows):
            first_terms.append(terms[row])
            second_terms.append(terms[other_row])
            pairs.append(pair)
    answers = np.asarray(share(first_terms, second_terms), np.bool_)
    is_shared[np.array(pairs, np.int64)[answers]] = True
    return is_shared


# ---- alphabetical order --------------------------------------------------------------


@kept
def _alphabetical_ranks(task: LabelTask) -> Ints:
    """Return the alphabetical rank of each written label by its terms.

    One more rank at the end, which -1 finds, is the rank of padding.
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
