"""Search for the similarity threshold of an embedding, on pairs or by contrast.

Both searches return a `Calibration`. `of_pairs` separates labelled pairs with the same
meaning from other pairs. `of_contrast` needs no labels: at the best threshold, a measure is
much higher with the references of each item than with the references of another item.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.backend import to_numpy
from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.side_inputs import Pair
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.embed.label_vectors import LabelVectors
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import Options
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.label_similarity import (
    label_vectors_of,
    similarities_of,
    written_codes,
)
from semmetrics.scoring.calibration import Calibration, Curve
from semmetrics.scoring.result import score_values

CRITERIA = ("f1", "youden", "accuracy")

_FEW = 30
"""Notes warn of fewer pairs or items.

A share of 30 has a standard error of up to sqrt(0.25 / 30) = 0.09. The values at
neighbouring thresholds differ by less.
"""
_THRESHOLD_DECIMALS = 10  # cosines have nine
_SEED_LIMIT = 2**63


def best_threshold_index(values: Sequence[float]) -> int | None:
    """Return the position of the largest value, or None if all are undefined.

    Of equal values the last one wins, which belongs to the highest threshold.

    Examples
    --------
    >>> best_threshold_index([float("nan"), 0.5, 0.5, 0.2]), best_threshold_index([float("nan")])
    (2, None)
    """
    best = None
    for index, value in enumerate(values):
        if math.isnan(value):
            continue
        if best is None or value >= values[best]:
            best = index
    return best


# ---- pairs ----------------------------------------------------------------------------


class _PairsCurve(NamedTuple):
    """How well each threshold separates pairs with the same meaning from other pairs.

    Attributes
    ----------
    columns : mapping from column to tuple of float
        "threshold", in ascending order, "precision", "recall", and CRITERIA.
    auc : float
        The area under the ROC curve.
    """

    columns: Curve
    auc: float


def pairs_task(pairs: Sequence[Pair], options: Options | None = None) -> LabelTask:
    """Return a task with one item per pair: one label is predicted, the other is true."""
    first_labels = [[pair.a] for pair in pairs]
    second_labels = [[pair.b] for pair in pairs]
    pred = as_labels(first_labels, source="pairs, a")
    ref = as_labels(second_labels, source="pairs, b")
    return label_task(pred, ref, options)


def of_pairs(
    task: LabelTask, pairs: Sequence[Pair], measure: Measure, *, criterion: str = "f1"
) -> Calibration:
    """Find the threshold that best separates pairs with the same meaning from others.

    Parameters
    ----------
    task : LabelTask
        As ``pairs_task`` returns it, with the label vectors of the measure.
    pairs : sequence of Pair
    measure : Measure
        The measure that the threshold is for.
    criterion : {"f1", "youden", "accuracy"}
        The statistic that is largest at the threshold. "youden" is the true positive rate
        minus the false positive rate.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the criterion is unknown, or all pairs have the same answer or the same cosine.
    """
    check_choice("criterion", criterion, CRITERIA)
    is_same = np.array([pair.same for pair in pairs], np.bool_)
    n_same = int(is_same.sum())
    n_others = len(is_same) - n_same
    if not n_others:
        raise InputError("pairs-of-one-kind", n=len(is_same), what="the same")
    if not n_same:
        raise InputError("pairs-of-one-kind", n=len(is_same), what="something else")
    key = model_key(measure)
    curve = _compute_pairs_curve(_cosines_of_pairs(task, key), is_same)
    thresholds = curve.columns["threshold"]
    values = curve.columns[criterion]
    best = best_threshold_index(values)
    model = label_vectors_of(task, key)
    if best is None or len(thresholds) < 3:
        raise InputError("equal-pairs", unknown=_describe_unknown(model))
    facts = []
    if min(n_same, n_others) < _FEW:
        counts = {"same": n_same, "others": n_others, "least": _FEW}
        facts.append(Fact("few-pairs", values=counts))
    if best in (0, len(thresholds) - 1):
        facts.append(Fact("all-pairs-alike"))
    return Calibration(
        threshold=thresholds[best],
        method="pairs",
        criterion=criterion,
        value=values[best],
        embedding=model.embedder.identity,
        lookup=model.lookup,
        oov=model.oov,
        n=len(pairs),
        unit="pair",
        data=_hash_pairs(pairs),
        curve=curve.columns,
        auc=curve.auc,
        settings={"norm": task.settings["norm"]},
        facts=tuple(facts),
    )


def _hash_pairs(pairs: Sequence[Pair]) -> str:
    """Return sixteen hex digits of a hash of the pairs, which ignores their order."""
    rows = sorted(list(pair) for pair in pairs)
    text = json.dumps(rows, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _describe_unknown(model: LabelVectors) -> str:
    """Return how many terms the embedding does not contain, or "" if it contains all."""
    n_unknown = model.counts["unknown"]
    if not n_unknown:
        return ""
    terms = pluralize(len(model.terms), "term")
    return f" ({n_unknown:,} of {terms} unknown to {model.embedder.identity})"


def _cosines_of_pairs(task: LabelTask, key: str) -> Floats:
    """Return the cosine of each pair, as measures compute it. -inf if a label is left out."""
    cosines_of_blocks: list[Floats] = []
    for block in task.blocks():
        pred = task.pred.rows(block.start, block.stop)
        ref = task.ref.rows(block.start, block.stop)
        pred_codes = written_codes(pred)
        ref_codes = written_codes(ref)
        source = similarities_of(block, key)
        table = source.gather(pred_codes[:, None], ref_codes[:, None], by_term=False)
        cosines_of_blocks.append(to_numpy(table[:, 0, 0]))
    return np.concatenate(cosines_of_blocks)


def _compute_pairs_curve(cosines: Floats, is_same: Bools) -> _PairsCurve:
    """Compute the criteria at every threshold between two distinct cosines."""
    distinct, cosine_index = np.unique(cosines, return_inverse=True)
    n_same = np.bincount(cosine_index, is_same, minlength=len(distinct))
    n_other = np.bincount(cosine_index, ~is_same, minlength=len(distinct))
    total_same = n_same.sum()
    total_other = n_other.sum()
    # Thresholds are halfway between two cosines, below the lowest and above the highest.
    ends = np.concatenate([[-1.0], distinct[np.isfinite(distinct)], [1.0]])
    midpoints = (ends[:-1] + ends[1:]) / 2
    thresholds = np.unique(np.round(midpoints, _THRESHOLD_DECIMALS))
    first_above = np.searchsorted(distinct, thresholds, side="right")
    tp = _count_from(n_same, first_above)
    fp = _count_from(n_other, first_above)
    with np.errstate(invalid="ignore"):
        precision = tp / (tp + fp)
    columns = {
        "threshold": thresholds,
        "precision": precision,
        "recall": tp / total_same,
        "f1": 2 * tp / (tp + fp + total_same),
        "accuracy": (tp + total_other - fp) / (total_same + total_other),
        "youden": tp / total_same - fp / total_other,
    }
    n_other_below = np.cumsum(n_other) - n_other
    wins = n_same * (n_other_below + n_other / 2)  # a tie is half a win
    auc = float(wins.sum() / (total_same * total_other))
    curve = {name: tuple(column.tolist()) for name, column in columns.items()}
    return _PairsCurve(curve, auc)


def _count_from(counts: NDArray[Any], starts: Ints) -> Floats:
    """Return the sums of the counts from each start to the end."""
    sums_to_end = np.cumsum(counts[::-1])[::-1]
    return np.append(sums_to_end, 0.0)[starts]


# ---- contrast -------------------------------------------------------------------------


class _Holdout(NamedTuple):
    """The items that are used to calibrate.

    Attributes
    ----------
    own : LabelTask
        The items with their own references.
    other : LabelTask
        The same items, each with the references of another one.
    """

    own: LabelTask
    other: LabelTask


def of_contrast(
    task: LabelTask,
    measure: Measure,
    *,
    points: Sequence[float],
    holdout: float,
    seed: int,
) -> Calibration:
    """Find the threshold with the largest contrast between own and other references.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        With a threshold, which is replaced.
    points : sequence of float
        The thresholds to choose from, in ascending order.
    holdout : float
        The share of items that are held out to calibrate, above 0 and at most 1.
    seed : int
        Chooses these items, and the other item for each. At least 0.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the holdout has fewer than two items, if the measure is undefined on it, or if
        the measure is not higher with the own references at any threshold.
    """
    _check_holdout(holdout, seed)
    held_out = _hold_out(task, holdout, int(seed))
    curve = _compute_contrast(held_out, measure, points)
    contrast = curve["contrast"]
    best = best_threshold_index(contrast)
    if best is None:
        raise InputError("undefined-on-holdout", measure=measure)
    model = label_vectors_of(task, model_key(measure))
    if contrast[best] <= 0:
        unknown = _describe_unknown(model)
        raise InputError("no-contrast", measure=measure, unknown=unknown)
    n_items = len(held_out.own)
    facts = []
    if n_items < _FEW:
        counts = {"total": len(task), "least": _FEW}
        facts.append(Fact("few-items", n_items, values=counts))
    return Calibration(
        threshold=points[best],
        method="contrast",
        criterion=str(measure),
        value=contrast[best],
        embedding=model.embedder.identity,
        lookup=model.lookup,
        oov=model.oov,
        n=n_items,
        unit=task.unit,
        data=_hash_items(held_out.own),
        curve=curve,
        holdout=float(holdout),
        seed=int(seed),
        settings=dict(task.settings),
        items=_encode_ids(held_out.own),
        facts=tuple(facts),
    )


def _check_holdout(holdout: float, seed: int) -> None:
    """Raise an error if the share or the seed is out of range."""
    if not 0 < holdout <= 1:
        wanted = "a share such as 0.2"
        raise InputError("bad-option", name="holdout", value=holdout, wanted=wanted)
    if seed < 0:
        wanted = "a non-negative integer"
        raise InputError("bad-option", name="seed", value=seed, wanted=wanted)


def _hold_out(task: LabelTask, holdout: float, seed: int) -> _Holdout:
    """Choose the items of the holdout, and give each the references of another one.

    An item is chosen if its hash, which depends on the id and the seed, is below
    ``holdout`` when scaled to [0, 1). The chosen items form a random cycle, in which each
    item gets the references of the next one.
    """
    hashes = _seeded_hashes(task.hashes, seed, stream=0)
    # A float64 has 53 bits, so dividing the upper 53 bits by 2**53 is exact.
    scaled = (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53
    own = task.take(np.flatnonzero(scaled < holdout))
    n_items = len(own)
    if n_items < 2:
        raise InputError("small-holdout", n=n_items, of=len(task))
    random_keys = _seeded_hashes(own.hashes, seed, stream=1)
    cycle = np.lexsort((own.hashes, random_keys))
    other_rows = np.empty(n_items, np.int64)
    other_rows[cycle] = np.roll(cycle, -1)
    other = replace(own, ref=own.ref.take(other_rows))
    return _Holdout(own, other)


def _compute_contrast(
    held_out: _Holdout, measure: Measure, points: Sequence[float]
) -> Curve:
    """Compute the measure with own and with other references, and the difference.

    Returns
    -------
    mapping from column to tuple of float
        "threshold", "own", "other" and "contrast".
    """
    measures = [measure.with_options(threshold=point) for point in points]
    own_values = score_values(held_out.own, measures)
    other_values = score_values(held_out.other, measures)
    contrast = []
    for own, other in zip(own_values, other_values, strict=True):
        contrast.append(own - other)
    return {
        "threshold": tuple(points),
        "own": own_values,
        "other": other_values,
        "contrast": tuple(contrast),
    }


def _seeded_hashes(hashes: Hashes, seed: int, stream: int) -> Hashes:
    """Return hashes that depend on the seed. Each stream has independent hashes."""
    seed_hash = mix(np.array([seed % _SEED_LIMIT]))
    return mix(hashes ^ mix(seed_hash + np.uint64(stream)))


def _hash_items(task: LabelTask) -> str:
    """Return a hash of ids and references, followed by a hash of ids and predictions."""
    prediction_hash = replace(task, ref=task.pred).fingerprint
    return f"{task.fingerprint:016x}{prediction_hash:016x}"


def _encode_ids(task: LabelTask) -> str:
    """Return the sorted hashes of the ids in base64, or "" if items have no ids."""
    ids = task.ids
    if isinstance(ids, range) or not isinstance(ids, Sequence):
        return ""
    hashes = np.sort(task.hashes).astype("<u8").tobytes()
    return base64.b64encode(hashes).decode("ascii")
