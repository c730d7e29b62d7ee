"""Scores of the candidates that people judge, item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.judgements import CAPTIONS, Judgements, name_all, name_of
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError
from semmetrics.messages import pluralize
from semmetrics.scoring.evaluation import (
    Evaluation,
    choose_kind,
    join_systems,
    open_evaluation,
)
from semmetrics.scoring.score import score_evaluation
from semmetrics.scoring.score_notes import INTERVAL_OPTIONS
from semmetrics.studies.agreement import Judged
from semmetrics.studies.differences import item_values


class ScoredJudgements(NamedTuple):
    """Judgements, and the values of measures for their candidates.

    Attributes
    ----------
    judgements : Judgements
        As they were scored, with captions in place of ids if the ids are of captions.
    prepared : Evaluation
        The inputs and tasks of the scores.
    measures : list of Judged
    """

    judgements: Judgements
    prepared: Evaluation
    measures: list[Judged]


@dataclass(frozen=True, eq=False)
class _Sides:
    """Predictions and references that give each candidate an item.

    Attributes
    ----------
    judgements : Judgements
    preds, gts
        The two sides, as for ``score``.
    options : mapping
        The options of the score.
    ids : sequence of str
        The item of each candidate. Not used if ``rows`` is set.
    rows : int array or None
        The row of each candidate among the scored items, if it is fixed before scoring.
    inputs : list of Lists or None
        Both sides as they were read, if ``preds`` and ``gts`` were made from them.
    """

    judgements: Judgements
    preds: Any
    gts: Any
    options: Mapping[str, Any]
    ids: Sequence[str] = ()
    rows: Ints | None = None
    inputs: list[Lists] | None = None

    def find_rows(self, item_ids: Iterable[Any]) -> Ints:
        """Return the row of each candidate among the scored items."""
        if self.rows is not None:
            return self.rows
        return _find_rows(self.ids, item_ids, self.judgements.source, "the items")


def score_judgements(
    judgements: Judgements,
    preds: Any,
    gts: Any,
    options: Mapping[str, Any],
    name: str,
    own_references: str,
) -> ScoredJudgements:
    """Score the captions of judgements, or the predictions that they name by id.

    Parameters
    ----------
    judgements : Judgements
    preds, gts : path or object
        None if the judgements have captions and references.
    options : mapping
        The options of the score.
    name : str
        The name of the system.
    own_references : {"keep", "drop-candidate", "drop-reference"}
        As for `Judgements.without_own_references`.

    Raises
    ------
    InputError
        If the predictions do not fit the judgements, or a measure has no values of
        items.
    """
    _check_sides(judgements, preds, gts, options)
    sides = _resolve_sides(judgements, preds, gts, options, name, own_references)
    prepared = join_systems({name: sides.preds}, sides.gts, sides.options)
    measures = _collect_item_values(prepared, sides)
    if sides.inputs is not None:
        prepared = replace(prepared, inputs=sides.inputs)
    return ScoredJudgements(sides.judgements, prepared, measures)


def _check_sides(
    judgements: Judgements, preds: Any, gts: Any, options: Mapping[str, Any]
) -> None:
    """Raise an error if predictions and judgements do not belong together."""
    if not judgements.are_captions:
        if preds is None or gts is None:
            raise InputError(
                "nothing-given",
                judgements.source,
                what="captions in the table",
                remedy="give predictions and ground truth for its ids",
            )
        return
    if preds is not None or gts is not None:
        raise InputError(
            "not-applicable",
            judgements.source,
            name="preds",
            what="ratings with captions and references",
        )
    if options.get("task", CAPTIONS) != CAPTIONS:
        raise InputError(
            "bad-option",
            judgements.source,
            name="task",
            value=options["task"],
            wanted=repr(CAPTIONS),
        )


def _resolve_sides(
    judgements: Judgements,
    preds: Any,
    gts: Any,
    options: Mapping[str, Any],
    name: str,
    own_references: str,
) -> _Sides:
    """Return predictions and references that give each candidate an item."""
    if judgements.are_captions:
        return _caption_sides(judgements, options)
    if _are_candidates_their_references(judgements):
        return _Sides(judgements, preds, gts, options, ids=judgements.candidates)
    paired = _pair_with_references(judgements, preds, gts, options, name)
    if paired.kind != CAPTIONS:
        return _Sides(
            judgements,
            paired.preds,
            paired.gts,
            {**options, "task": paired.kind},
            ids=paired.ids,
            inputs=paired.inputs,
        )
    # Captions are grouped by image, so that an image counts once.
    captions = _as_captions(judgements, paired.preds, paired.gts)
    captions = captions.without_own_references(own_references)
    sides = _caption_sides(captions, options)
    return replace(sides, inputs=paired.inputs)


def _are_candidates_their_references(judgements: Judgements) -> bool:
    """Return whether each candidate has the id of its only reference."""
    pairs = zip(judgements.candidates, judgements.references, strict=True)
    return all(references == (candidate,) for candidate, references in pairs)


def _caption_sides(judgements: Judgements, options: Mapping[str, Any]) -> _Sides:
    """Return the captions of judgements as predictions and references."""
    preds, gts, rows = judgements.caption_sides()
    return _Sides(judgements, preds, gts, {**options, "task": CAPTIONS}, rows=rows)


def _collect_item_values(prepared: Evaluation, sides: _Sides) -> list[Judged]:
    """Return the value of each candidate by each measure that has values of items.

    Raises
    ------
    InputError
        If no measure has values of items, or a requested one has none.
    """
    measures = []
    without_values = []
    for score in score_evaluation(prepared):
        values = item_values(score)
        if values is None:
            without_values.append(score.heading)
            continue
        values_of_candidates = values[sides.find_rows(score.ids)].astype(np.float64)
        sign = 1.0
        if not score.measure.higher_is_better:
            sign = -1.0
        judged = Judged(
            score.heading,
            str(score.measure),
            score.signature,
            sign * values_of_candidates,
            score.names,
        )
        measures.append(judged)
    is_requested = sides.options.get("measures") is not None
    if without_values and (is_requested or not measures):
        raise InputError("no-item-values", "measures", measure=without_values[0])
    return measures


def _find_rows(
    wanted_ids: Sequence[str], item_ids: Iterable[Any], source: str, where: str
) -> Ints:
    """Return the row of each wanted id among the items."""
    row_of_id = {str(item_id): row for row, item_id in enumerate(item_ids)}
    missing = [wanted_id for wanted_id in wanted_ids if wanted_id not in row_of_id]
    if missing:
        distinct = list(dict.fromkeys(missing))
        raise InputError(
            "unmatched-ids",
            source,
            n=len(distinct),
            lacking=distinct,
            role=where,
            known=row_of_id,
        )
    return np.array([row_of_id[wanted_id] for wanted_id in wanted_ids], np.int64)


# ---- candidates with references of other ids -----------------------------------------


class _PairedSides(NamedTuple):
    """Candidates and their references as items of their own.

    Attributes
    ----------
    kind : str
        The kind of data.
    inputs : list of Lists
        Both sides as they were read.
    ids : list of str
        The id of the item of each judged candidate.
    preds, gts : Lists
        One item per judged candidate.
    """

    kind: str
    inputs: list[Lists]
    ids: list[str]
    preds: Lists
    gts: Lists


def _pair_with_references(
    judgements: Judgements, preds: Any, gts: Any, options: Mapping[str, Any], name: str
) -> _PairedSides:
    """Pair each judged candidate with its reference, as an item of its own."""
    kind, _, systems, gts = choose_kind({name: preds}, gts, options)
    setup = open_evaluation(kind, options)
    pair_names = []
    reference_ids = []
    for candidate, references in zip(
        judgements.candidates, judgements.references, strict=True
    ):
        pair_names.append(" | ".join((candidate, *references)))
        reference_ids.append(references[0])
    pair_ids = name_all(pair_names)
    pred_input = setup.read(systems[name], name)
    gt_input = setup.read_truth(gts)
    pred_lists = _take_items(
        pred_input, judgements.candidates, pair_ids, judgements.source
    )
    gt_lists = _take_items(gt_input, reference_ids, pair_ids, judgements.source)
    inputs = [pred_input, gt_input]
    return _PairedSides(kind, inputs, pair_ids, pred_lists, gt_lists)


def _take_items(
    side: Any, item_ids: Sequence[str], new_ids: Sequence[str], source: str
) -> Lists:
    """Return the items with these ids, under new ids."""
    lists = _check_lists(side)
    rows = _find_rows(item_ids, lists.ids, source, f"those of {lists.source}")
    return replace(
        lists, ids=new_ids, side=lists.side.take(rows), where=new_ids.__getitem__
    )


def _check_lists(side: Any) -> Lists:
    """Return a side that consists of lists. Raise an error for a matrix."""
    if isinstance(side, Lists):
        return side
    raise InputError(
        "wrong-format",
        side.source,
        what="candidates",
        format="a matrix",
        wanted="captions or labels by id",
    )


def _as_captions(judgements: Judgements, preds: Lists, gts: Lists) -> Judgements:
    """Replace ids by captions.

    Raises
    ------
    InputError
        If the id of a candidate does not have exactly one caption.
    """
    captions = []
    for candidate, entries in zip(judgements.candidates, preds.to_list(), strict=True):
        if len(entries) != 1:
            raise InputError(
                "wrong-count",
                f"{preds.source}, {candidate}",
                found=pluralize(len(entries), "caption"),
                wanted="one id",
            )
        captions.append(str(entries[0]))
    references = [tuple(map(str, entries)) for entries in gts.to_list()]
    return replace(
        judgements, candidates=captions, references=references, are_captions=True
    )


def pool_systems(
    systems: Mapping[str, Any], gts: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Fact]]:
    """Combine the predictions of several systems, under ids that name the system.

    Returns
    -------
    predictions : dict from id to entries
    notes : list of Fact
        The notes of all inputs.
    """
    kind, _, systems, _ = choose_kind(systems, gts, options)
    settings = {
        name: value for name, value in options.items() if name not in INTERVAL_OPTIONS
    }
    setup = open_evaluation(kind, settings)
    pooled: dict[str, Any] = {}
    notes: list[Fact] = []
    for system, data in systems.items():
        lists = _check_lists(setup.read(data, system))
        for item_id, entries in zip(lists.ids, lists.to_list(), strict=True):
            pooled[name_of(system, str(item_id))] = entries
        notes += lists.notes
    return pooled, notes
