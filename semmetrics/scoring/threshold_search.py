"""Finding the threshold of an embedding: on labelled pairs, or by contrast without them.

Conventions
-----------
*Pairs.* Every distinct cosine of the pairs is a cut: thresholds lie midway between neighbours, and
below the lowest and above the highest. A pair is called the same where its cosine is above the
threshold. Of equally good thresholds the highest is taken.

*Contrast.* A measure of predictions with their own references, less the same with the references
of another item. A threshold too low lets both match, one too high neither; where the difference is
largest, a match says most about which item it is of. Items are held by a hash of their id and a
seed, whatever stands beside them; each is given the references of the next in an order by another
hash. This criterion is semmetrics' own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.backend import Backend
from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.beside import Pair
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.messages import agreeing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.label_similarity import (
    LabelSimilarity,
    label_vectors_of,
    written_codes,
)
from semmetrics.scoring.calibration import Calibration, best_place, packed_hashes
from semmetrics.scoring.score_result import score_values

__all__ = ["CRITERIA", "choose_holdout", "of_contrast", "of_pairs", "pairs_task", "derangement"]

CRITERIA = ("f1", "youden", "accuracy")
# Of fewer, a share has a standard error of up to sqrt(0.25 / 30) = 0.09, and neighbouring
# thresholds differ by less.
_FEW = 30
_LARGER = "larger holdout= (--holdout)"
_DECIMALS = 10  # cosines have nine


def pairs_task(pairs: Sequence[Pair], normalize: str = "none") -> LabelTask:
    """A task in which an item is a pair: one label predicted, the other true."""
    sides = [
        as_labels([[getattr(pair, name)] for pair in pairs], source=f"pairs, {name}")
        for name in ("a", "b")
    ]
    return label_task(sides[0], sides[1], normalize=normalize)


def of_pairs(task: LabelTask, pairs: Sequence[Pair], *, criterion: str = "f1") -> Calibration:
    """The threshold that parts pairs that mean the same from those that do not.

    Parameters
    ----------
    task : LabelTask
        That of ``pairs_task``, with the label vectors "default".
    pairs : sequence of Pair
    criterion : {"f1", "youden", "accuracy"}
        What is largest at the threshold; "youden" is the true positive rate less the false one.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the criterion is unknown, or all pairs have the same answer or the same cosine.
    """
    if criterion not in CRITERIA:
        raise InputError(f"criterion={criterion!r}", remedy=f"choose one of {', '.join(CRITERIA)}")
    same = np.array([pair.same for pair in pairs], np.bool_)
    if same.all() or not same.any():
        every = f"all {len(same):,} pairs" if len(same) > 1 else "the labels of the only pair"
        raise InputError(
            f"{every} {'' if same.all() else 'do not '}mean the same",
            remedy="a threshold needs pairs of both kinds",
        )
    curve, auc = _pairs_curve(_similarities(task), same)
    place, model = best_place(curve[criterion]), label_vectors_of(task, "default")
    if place is None or len(curve["threshold"]) < 3:
        raise InputError(
            f"all pairs are equally similar{_unknown(model)}",
            remedy="give other pairs, or another embedding",
        )
    text = json.dumps(sorted(map(list, pairs)), ensure_ascii=True)  # in whatever order they came
    return Calibration(
        threshold=curve["threshold"][place],
        method="pairs",
        criterion=criterion,
        value=curve[criterion][place],
        **_facts(model),
        n=len(pairs),
        unit="pair",
        data=hashlib.sha256(text.encode()).hexdigest()[:16],
        curve=curve,
        auc=auc,
        settings={"norm": task.settings["norm"]},
        notes=_few_pairs(int(same.sum()), int((~same).sum())),
    )


def _few_pairs(yes: int, no: int) -> tuple[str, ...]:
    """Say that few pairs of one kind decide a threshold."""
    if min(yes, no) >= _FEW:
        return ()
    return (
        f"few pairs decide the threshold: {yes:,} that mean the same and {no:,} that do not; give "
        f"at least {_FEW} of both",
    )


def _facts(model: Any) -> dict[str, Any]:
    """Say what labels were compared by."""
    return {"embedding": model.embedder.identity, "lookup": model.lookup, "oov": model.oov}


def _unknown(model: Any) -> str:
    """How many terms are not known, where a reader of an error should know."""
    n = model.counts["unknown"]
    of = f"{pluralize(len(model.terms), 'term')} {agreeing(n, 'are')} unknown to "
    of += model.embedder.identity
    return f" ({n:,} of {of})" if n else ""


def _similarities(task: LabelTask) -> Floats:
    """The cosine of each pair, as the measures compute it; -inf where a label takes no part."""
    parts = []
    for block in task.blocks():
        sides = (side.rows(block.start, block.stop) for side in (task.pred, task.ref))
        mine, theirs = map(written_codes, sides)
        source = block.get(LabelSimilarity("default"))
        table = source.gather(mine[:, None], theirs[:, None], by_term=False)[:, 0, 0]
        parts.append(Backend(table).numpy(table))
    found: Floats = np.concatenate(parts)
    return found


def _pairs_curve(similarity: Floats, same: Bools) -> tuple[dict[str, tuple[float, ...]], float]:
    """Precision and the like at every cut, thresholds rising; and the area under the ROC curve."""
    distinct, place = np.unique(similarity, return_inverse=True)
    yes = np.bincount(place, same, minlength=len(distinct))
    no = np.bincount(place, ~same, minlength=len(distinct))
    thresholds, above = _cuts(distinct)
    # how many of both kinds are above each cut
    tp, fp = (np.append(np.cumsum(n[::-1])[::-1], 0.0)[above] for n in (yes, no))
    n_yes, n_no = yes.sum(), no.sum()
    with np.errstate(invalid="ignore"):
        precision = tp / (tp + fp)
    columns = {
        "threshold": thresholds,
        "precision": precision,
        "recall": tp / n_yes,
        "f1": 2 * tp / (tp + fp + n_yes),
        "accuracy": (tp + n_no - fp) / (n_yes + n_no),
        "youden": tp / n_yes - fp / n_no,
    }
    below = np.cumsum(no) - no  # different pairs with a smaller cosine
    auc = float((yes * (below + no / 2)).sum() / (n_yes * n_no))
    return {name: tuple(column.tolist()) for name, column in columns.items()}, auc


def _cuts(distinct: Floats) -> tuple[Floats, Ints]:
    """Thresholds between the cosines, below and above them; and the first cosine above each."""
    real = distinct[np.isfinite(distinct)]
    outer = np.concatenate([[-1.0], real, [1.0]])
    thresholds = np.round((outer[:-1] + outer[1:]) / 2, _DECIMALS)
    thresholds = np.unique(thresholds)
    return thresholds, np.searchsorted(distinct, thresholds, side="right")


def choose_holdout(hashes: Hashes, holdout: float, seed: int) -> Bools:
    """Which items are held: those whose hash with the seed is among the lowest share of all.

    Parameters
    ----------
    hashes : uint64 array, shape (items,)
        Of the ids.
    holdout : float
        The share of items that are held, on average.
    seed : int

    Returns
    -------
    bool array, shape (items,)

    Examples
    --------
    >>> from semmetrics.core.hashing import hash_ids
    >>> ids = [f"image {i}" for i in range(1000)]
    >>> some = choose_holdout(hash_ids(ids), 0.2, 12345)
    >>> int(some.sum()), bool((choose_holdout(hash_ids(ids[::-1]), 0.2, 12345)[::-1] == some).all())
    (221, True)
    """
    if holdout == 1:
        return np.ones(len(hashes), np.bool_)
    # the upper 53 bits are a float in [0, 1) exactly
    share = (_keyed(hashes, seed, 0) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(share < holdout, np.bool_)


def derangement(hashes: Hashes, seed: int) -> Ints:
    """For each item another one; every item is that of one other.

    Examples
    --------
    >>> derangement(np.array([5, 6, 7], np.uint64), 1).tolist() in ([1, 2, 0], [2, 0, 1])
    True
    """
    keys = _keyed(hashes, seed, 1)
    order = np.lexsort((hashes, keys))
    other = np.empty(len(order), np.int64)
    other[order] = np.roll(order, -1)
    return other


def _keyed(hashes: Hashes, seed: int, stream: int) -> Hashes:
    """Hashes that depend on a seed, and are others for each stream."""
    key = mix(mix(np.array([seed % 2**63])).astype(np.uint64) + np.uint64(stream))
    return mix(hashes ^ key)


def of_contrast(
    task: LabelTask, measure: Measure, *, points: Sequence[float], holdout: float, seed: int
) -> Calibration:
    """The threshold at which own and other references differ most.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        With a threshold, still to be found.
    points : sequence of float
        The thresholds to choose from, rising.
    holdout : float, above 0 and at most 1
        The share of items that are held to calibrate.
    seed : int
        Chooses them, and the other item of each.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        If the holdout has fewer than two items, or the measure is undefined on it or nowhere higher
        with the own references.
    """
    if isinstance(holdout, bool) or not isinstance(holdout, int | float) or not 0 < holdout <= 1:
        raise InputError(f"holdout={holdout!r}", remedy="give a share of the items, as 0.2")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed={seed!r}", remedy="give a whole number from 0")
    chosen = task.take(np.flatnonzero(choose_holdout(task.hashes, holdout, int(seed))))
    if len(chosen) < 2:
        raise InputError(
            f"the holdout has {len(chosen)} of {pluralize(len(task), 'item')}",
            remedy=f"take a {_LARGER}",
        )
    others = replace(chosen, ref=chosen.ref.take(derangement(chosen.hashes, int(seed))))
    measures = [measure.with_options(threshold=point) for point in points]
    own, other = (tuple(score_values(some, measures)) for some in (chosen, others))
    contrast = [a - b for a, b in zip(own, other, strict=True)]
    place = best_place(contrast)
    if place is None:
        raise InputError(
            f"{measure} is undefined on the holdout",
            remedy=f"take a {_LARGER}, or another measure",
        )
    model = label_vectors_of(task, str(measure["embedding"]))
    if contrast[place] <= 0:
        raise InputError(
            f"at no threshold is {measure} higher with an item's own references than with those of "
            f"another item{_unknown(model)}",
            remedy=f"take a {_LARGER}, or calibrate on labelled pairs",
        )
    few = ""
    if len(chosen) < _FEW:
        are = agreeing(len(chosen), "are")
        few = f"few items decide the threshold: {len(chosen)} of {len(task):,} {are} in the "
        few += "holdout; "
        few += f"give more, at least {_FEW}" if holdout == 1 else f"take a {_LARGER}"
    named = isinstance(task.ids, Sequence) and not isinstance(task.ids, range)
    return Calibration(
        threshold=points[place],
        method="contrast",
        criterion=str(measure),
        value=contrast[place],
        **_facts(model),
        n=len(chosen),
        unit=task.unit,
        # of ids and references, and of ids and predictions
        data=f"{chosen.fingerprint:016x}{replace(chosen, ref=chosen.pred).fingerprint:016x}",
        curve={"threshold": tuple(points), "own": own, "other": other, "contrast": tuple(contrast)},
        holdout=float(holdout),
        seed=int(seed),
        settings=dict(task.settings),
        items=packed_hashes(chosen.hashes) if named else "",
        notes=(few,) if few else (),
    )
