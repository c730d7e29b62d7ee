"""List the matches of predicted and reference labels, and count confused labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.kinds.labels.normalization import class_name
from semmetrics.metrics.definition import Measure

if TYPE_CHECKING:
    from semmetrics.metrics.label_pairs import LabelPairs
    from semmetrics.metrics.matching import Cut
    from semmetrics.metrics.semantic import SemanticMatches

_LabelPair = tuple[str | None, str | None]
"""A true and a predicted label."""


# ---- matches ------------------------------------------------------------------------------------


def match_rows(task: LabelTask, measure: Measure) -> Iterator[dict[str, Any]]:
    """Yield the match of each predicted label, and the references without a match.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        A semantic measure of sets, with a threshold and a matching rule.

    Yields
    ------
    dict
        "id", the item.
        "rank", of the prediction, from 1. None for a reference that nothing matches.
        "prediction", None for such a reference.
        "reference", None without a match.
        "reason", "equal", "same name", "same synset" or "similar". None without a match.
        "similarity", of the pair. Without a match, of the prediction and its nearest reference.
        None if the item has no reference.
        "nearest", the reference that the similarity refers to.
    """
    from semmetrics.metrics.matching import cut_of
    from semmetrics.metrics.semantic import matches_of

    cut = cut_of(measure)
    step = matches_of(measure, cut)
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        matched_block = _MatchedBlock.of(block, step, cut, names)
        for number in range(len(block)):
            item_id = str(task.ids[block.start + number])
            for row in matched_block.rows(number):
                yield {"id": item_id, **row}


class _MatchedBlock(NamedTuple):
    """The matched labels of a block of items.

    *Places* are positions in the flat lists of a side.

    Attributes
    ----------
    names : sequence of str
        The labels by their written codes.
    pred, ref : Side
        The predictions of each item by falling score, and its references.
    n_kept : int array, shape (items,)
        How many predictions of each item are kept.
    pairs : LabelPairs
    pred_codes, ref_codes : int arrays
        The written codes of labels, by their places.
    is_counted : bool array, shape (predictions,)
        Whether a prediction counts, and is not a repetition.
    is_first : bool array, shape (references,)
        Whether a reference is the first of equal ones in its item.
    """

    names: Sequence[str]
    pred: Side
    ref: Side
    n_kept: Ints
    pairs: LabelPairs
    pred_codes: Ints
    ref_codes: Ints
    is_counted: Bools
    is_first: Bools

    @staticmethod
    def of(
        block: Block[LabelTask], step: SemanticMatches, cut: Cut, names: Sequence[str]
    ) -> _MatchedBlock:
        """Match the labels of a block."""
        from semmetrics.metrics.label_pairs import match_pairs
        from semmetrics.metrics.label_similarity import written_codes
        from semmetrics.metrics.matching import sides_of

        pred, ref = sides_of(block)
        matched = block.get(step)
        is_counted = matched.is_counted_pred
        if is_counted is None:
            is_counted = np.ones(len(pred.codes), np.bool_)
        is_first = matched.is_first_ref
        if is_first is None:
            is_first = np.ones(len(ref.codes), np.bool_)
        return _MatchedBlock(
            names=names,
            pred=pred,
            ref=ref,
            n_kept=block.get(cut),
            pairs=match_pairs(block, step),
            pred_codes=written_codes(pred),
            ref_codes=written_codes(ref),
            is_counted=is_counted,
            is_first=is_first,
        )

    def rows(self, item: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of an item: its predictions, then the references without a match."""
        start = int(self.pred.indptr[item])
        for place in range(start, start + int(self.n_kept[item])):
            if self.is_counted[place]:
                yield self._prediction_row(place, rank=place - start + 1)
        start = int(self.ref.indptr[item])
        end = int(self.ref.indptr[item + 1])
        for place in range(start, end):
            if self.is_first[place] and not self.pairs.served[place]:
                yield self._missed_row(place)

    def _prediction_row(self, place: int, rank: int) -> dict[str, Any]:
        """Return the row of a prediction."""
        partner = self.pairs.partner[place].item()
        reference = None
        if partner >= 0:
            reference = self._reference_name(partner)
        similarity = finite_or_none(self.pairs.similarity[place].item())
        nearest = None
        if similarity is not None:
            nearest = self._reference_name(self.pairs.nearest[place])
        return {
            "rank": rank,
            "prediction": self.names[self.pred_codes[place]],
            "reference": reference,
            "reason": self.pairs.reasons[place],
            "similarity": similarity,
            "nearest": nearest,
        }

    def _missed_row(self, place: int) -> dict[str, Any]:
        """Return the row of a reference that nothing matches."""
        return {
            "rank": None,
            "prediction": None,
            "reference": self._reference_name(place),
            "reason": None,
            "similarity": None,
            "nearest": None,
        }

    def _reference_name(self, place: int) -> str:
        """Return the label of a reference."""
        name: str = self.names[self.ref_codes[place]]
        return name


# ---- confused labels ----------------------------------------------------------------------------


def count_confused(task: LabelTask, measure: Measure) -> Counter[_LabelPair]:
    """Count which true labels are confused with which predicted labels.

    A measure that matches by meaning pairs a prediction with the reference that it matches. With
    other measures, each wrong prediction of an item is paired with each label that the item misses.

    Returns
    -------
    Counter of pairs of a true and a predicted label
        None means that there is no partner.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    if measure["match"] is not None:
        rows = match_rows(task, measure)
        return Counter((row["reference"], row["prediction"]) for row in rows)
    n_of_pair: Counter[_LabelPair] = Counter()
    for block in task.blocks():
        pred, ref = sides_of(block)
        n_kept = block.get(cut_of(measure))
        for item in range(len(block)):
            first = int(pred.indptr[item])
            end = first + int(n_kept[item])
            predicted = pred.codes[first:end].tolist()
            true = ref.codes[ref.indptr[item] : ref.indptr[item + 1]].tolist()
            n_of_pair.update(_pair_labels(predicted, true, task.classes))
    return n_of_pair


def _pair_labels(
    predicted: Sequence[int], true: Sequence[int], classes: Sequence[str]
) -> list[_LabelPair]:
    """Return the pairs of an item: equal labels, and each missed with each wrong label.

    Parameters
    ----------
    predicted, true : sequence of int
        Codes of classes. Repetitions do not count.
    classes : sequence of str
    """
    pred_codes = dict.fromkeys(predicted)
    ref_codes = dict.fromkeys(true)
    pairs: list[_LabelPair] = []
    missed: list[str | None] = []
    for code in ref_codes:
        name = classes[code]
        if code in pred_codes:
            pairs.append((name, name))
        else:
            missed.append(name)
    wrong: list[str | None] = []
    for code in pred_codes:
        if code not in ref_codes:
            wrong.append(classes[code])
    if missed or wrong:
        pairs += product(missed or [None], wrong or [None])
    return pairs
