"""Which prediction matched which reference: what a semantic score is made of, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds.labels.classes import class_name
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.label_similarity import written_codes
from semmetrics.metrics.matching import Ranked, Reference, cut_of
from semmetrics.metrics.semantic import SemanticFamily
from semmetrics.metrics.semantic_matching import MatchedPairs, SemanticMatches

__all__ = ["match_rows"]


def match_rows(task: LabelTask, measure: Measure) -> Iterator[dict[str, Any]]:
    """What each predicted label matched, and the references that nothing matched.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        A semantic set measure, its threshold and rule fixed.

    Yields
    ------
    dict
        "id"; "rank" (from 1; None for a reference that nothing matched), "prediction",
        "reference" (None without a match), "similarity" (of the pair, else of the prediction and
        its nearest reference; None where the item has no reference).

    Raises
    ------
    InputError
        If the measure matches nothing.
    """
    if not isinstance(measure.definition.family, SemanticFamily):
        raise InputError(f"{measure} matches no labels", remedy="name a measure such as SemF1")
    step = SemanticMatches(
        float(str(measure["threshold"])),
        str(measure["match"]),
        str(measure["duplicates"]),
        str(measure["embedding"]),
        cut_of(measure),
    )
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = block.get(Ranked()), block.get(Reference())
        matched, kept = block.get(step), block.get(cut_of(measure))
        pairs = block.get(MatchedPairs(step))
        counted = np.ones(len(ranked.codes), np.bool_)
        if matched.counted is not None:
            counted = matched.counted
        once = np.ones(len(ref.codes), np.bool_) if matched.once is None else matched.once
        for item in range(len(block)):
            first, end = int(ranked.indptr[item]), int(ranked.indptr[item]) + int(kept[item])
            base = {"id": str(task.ids[block.start + item])}
            for place in range(first, end):
                if counted[place]:
                    yield {**base, **_prediction(names, ranked, ref, pairs, first, place)}
            for place in range(int(ref.indptr[item]), int(ref.indptr[item + 1])):
                if once[place] and matched.first[place] >= end:
                    yield {
                        **base,
                        "rank": None,
                        "prediction": None,
                        "reference": names[written_codes(ref)[place]],
                        "similarity": None,
                    }


def _prediction(
    names: Sequence[str], ranked: Any, ref: Any, pairs: Any, first: int, place: int
) -> dict[str, Any]:
    partner, similarity = (array[place].item() for array in pairs)
    return {
        "rank": place - first + 1,
        "prediction": names[written_codes(ranked)[place]],
        "reference": None if partner < 0 else names[written_codes(ref)[partner]],
        "similarity": similarity if np.isfinite(similarity) else None,
    }
