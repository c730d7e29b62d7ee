"""From a run and positives to retrieval tasks: names, directions, folds, and what is left out.

Conventions
-----------
The rows of a run are joined with the positives by id, or by position where rows have no names; ids
that are whole numbers are then positions. The positives of the columns (t2i) are those of the rows
turned round, unless they are given themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.hashing import hash_ids, mix
from semmetrics.core.ragged import Ints, lengths, offsets, row_numbers, sum_rows
from semmetrics.data.join import aligned_weights
from semmetrics.data.lists import Ids, Lists, Side
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import Similarities
from semmetrics.data.tasks import RetrievalTask
from semmetrics.errors import InputError
from semmetrics.kinds.retrieval.computed_phi import CAPTIONS, CaptionedTruth
from semmetrics.kinds.retrieval.reading import as_positives
from semmetrics.kinds.retrieval.relation import (
    Relation,
    Run,
    Sides,
    by_name,
    check_transposed,
    name_sides,
)
from semmetrics.messages import pluralize

__all__ = ["LISTED", "make_parts"]

LISTED = "listed"
"""What a signature says of a gallery that lists alone name."""

_SUSPECT = 3  # standard errors by which turned similarities are larger


def make_parts(run: Run, truth: Lists | Matrix, options: Mapping[str, Any]) -> dict[str, Any]:
    """Make the tasks of one system: one, or one for each direction.

    Parameters
    ----------
    run : Lists, Matrix or Embeddings
    truth : Lists or Matrix
    options : mapping
        Resolved, with what they name read.

    Returns
    -------
    dict of RetrievalTask by part

    Raises
    ------
    InputError
        If sizes or ids do not fit, a positive is not in the gallery, a candidate is ranked twice,
        or the options do not fit each other.
    """
    positives, graded = as_positives(truth, _gallery_size(run))
    sides = name_sides(run, positives, options)
    positives = by_name(positives, sides, "row")
    check_transposed(sides, positives)
    reverse = options["reverse_positives"]
    direction, reversed_ = options["direction"], None
    if reverse is not None:
        if direction == "i2t":
            raise InputError(
                "reverse_positives= (--reverse-positives) are those of t2i",
                remedy="say direction='both' (--direction both), or leave them out",
            )
        reversed_, _ = as_positives(reverse, len(sides.rows))
        reversed_ = by_name(reversed_, sides.turned(), "column")
    counts = {"graded_0": graded}
    folds = None
    beside: dict[str, Any] = {}
    if options[CAPTIONS] is not None:
        beside[CAPTIONS] = CaptionedTruth(positives, sides, options[CAPTIONS])
    made: dict[str, Any] = {}
    relation = Relation.of(positives, sides, options["missing"])
    if options["folds"]:
        folds = _fold(relation, sides, options["folds"])
    if direction in ("i2t", "both"):
        made["i2t"] = _task(sides, relation, options, counts, "i2t", folds)
    if direction in ("t2i", "both"):
        turned = sides.turned()
        if reversed_ is None:
            back = relation.turned(turned, options["missing"])
        else:
            back = Relation.of(reversed_, turned, options["missing"])
        made["t2i"] = _task(turned, back, options, counts, "t2i", folds and folds[::-1])
    made = {part: replace(task, beside=beside) for part, task in made.items()}
    return made if direction == "both" else {"": made[direction]}


def _gallery_size(run: Run) -> int | None:
    """Return how many candidates a run says that there are; None for lists."""
    if isinstance(run, Lists):
        return None
    return int((run.values if isinstance(run, Matrix) else run.scores).shape[1])


def _fold(relation: Relation, sides: Sides, number: int) -> tuple[Ints, Ints]:
    """Return the fold of each row, and that of each column: of the first row that has it."""
    n_rows, n_columns = len(sides.rows), len(sides.columns)
    if n_rows % number:
        raise InputError(
            f"{pluralize(n_rows, 'row')} cannot be cut into {number} parts of equal size",
            where=sides.source,
            remedy="leave folds= (--folds) out, or choose another number",
        )
    mine = np.arange(n_rows) * number // n_rows
    theirs = np.full(n_columns, -1)
    rows = relation.rows[row_numbers(relation.indptr)]
    order = np.argsort(-rows, kind="stable")  # the first row is written last
    order = order[(rows[order] >= 0) & (relation.codes[order] < n_columns)]
    theirs[relation.codes[order]] = mine[rows[order]]
    return mine, theirs


def _task(
    sides: Sides,
    relation: Relation,
    options: Mapping[str, Any],
    counts: Mapping[str, int],
    direction: str,
    folds: tuple[Ints, Ints] | None,
) -> RetrievalTask:
    indptr, codes, gallery = relation.indptr, relation.codes, sides.columns
    counts = {**counts, **relation.counts}
    settings = {
        "task": "retrieval",
        "missing": options["missing"],
        "direction": direction,
        "tie": options["ties"],
        # what lists name differs from part to part of the queries
        "gallery": LISTED if sides.listed else f"{len(gallery)}@{_hash(gallery)}",
    }
    if hasattr(sides.scores, "queries"):
        settings["similarity"] = options["similarity"]
    own = None
    if folds is not None:
        settings["folds"] = str(options["folds"])
        beyond = np.full(len(relation.outside), -1)
        own = (np.where(relation.rows >= 0, folds[0][relation.rows], -2), folds[1])
        there = own[0][row_numbers(indptr)] == np.append(folds[1], beyond)[codes]
        counts["other_folds"] = int((~there).sum())
        indptr, codes = offsets(sum_rows(there, indptr)), codes[there]
    codes = codes[np.lexsort((codes, row_numbers(indptr)))]
    if relation.outside:
        gallery = [*map(str, gallery), *relation.outside]
    groups = None
    alone = lengths(indptr) == 0
    if direction == "t2i" and len(codes) and (lengths(indptr) <= 1).all():
        groups = mix(hash_ids(relation.ids))  # a query without positives belongs to no other
        groups[~alone] = hash_ids(gallery)[codes]
        settings["groups"] = "positive"
    if options["weights"] is not None:
        settings["weights"] = "given"
    task = RetrievalTask(
        ids=relation.ids,
        settings=settings,
        counts={name: number for name, number in counts.items() if number},
        odd=_odd(sides, relation) | _numbered(sides, relation),
        groups=groups,
        unit="query",
        gallery=gallery,
        scores=sides.scores,
        rows=relation.rows,
        indptr=indptr,
        positives=codes.astype(np.int32),
        ties=options["ties"],
        folds=own,
    )
    return task if options["weights"] is None else _weighed(task, options)


def _weighed(task: RetrievalTask, options: Mapping[str, Any]) -> RetrievalTask:
    if options["direction"] == "both":
        raise InputError(
            "weights are those of the queries of one direction",
            remedy="score each direction alone: direction='i2t', then direction='t2i'",
        )
    n = len(task)
    nothing = Side(np.zeros(n + 1, np.int64), np.zeros(0, np.int32))
    return replace(
        task, weights=aligned_weights(options["weights"], Lists(task.ids, [], nothing), task.ids)
    )


def _hash(names: Ids) -> str:
    """Return twelve hex digits of a hash of names in their order."""
    return hashlib.blake2b(hash_ids(names).astype("<u8").tobytes(), digest_size=6).hexdigest()


def _numbered(sides: Sides, relation: Relation) -> dict[Any, int]:
    """Note that the ids of positives were taken for numbers of rows, which have no names."""
    return {"numbered": int(isinstance(sides.rows, range) and not isinstance(relation.ids, range))}


def _odd(sides: Sides, relation: Relation) -> dict[Any, int]:
    """Note a square matrix whose positives have larger similarities where it is turned round."""
    scores = sides.scores
    if not isinstance(scores, Similarities) or len(set(scores.shape)) > 1:
        return {}
    rows, codes = relation.rows[row_numbers(relation.indptr)], relation.codes
    there = (rows >= 0) & (codes < len(sides.columns))
    rows, codes = rows[there], codes[there]
    keys, turned = (np.sort(a * len(sides.rows) + b) for a, b in ((rows, codes), (codes, rows)))
    if not len(rows) or np.array_equal(keys, turned):
        return {}
    straight, across = scores.values[rows, codes], scores.values[codes, rows]
    if scores.transposed:
        straight, across = across, straight
    more = across.astype(np.float64) - straight.astype(np.float64)
    error = more.std() / np.sqrt(len(more))
    return {"turned": 1} if more.mean() > _SUSPECT * error and more.mean() > 0 else {}
