"""Calibrated stacking: accuracy on seen and unseen classes under every calibration.

Conventions
-----------
Calibrated stacking subtracts a constant from the scores of the seen classes, and predicts
the class with the largest score (Chao et al. 2016). As the constant goes from minus to
plus infinity, the accuracy on images of seen classes falls to 0, and the accuracy on
images of unseen classes rises. Both are means over the classes with images.

The curve has one point for each interval between constants at which a prediction changes.
The area and the best value are therefore exact. The curve has no point at such a constant
itself. If an image of a seen class and one of an unseen class change at the same constant,
the curve goes straight from point to point. Constants that differ only by the rounding of
float64 scores are equal, so 0.3 - 0.2 equals 0.9 - 0.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.columns import Dense, Sparse
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.classes import ClassScores, ClassTask, PredictedClasses
from semmetrics.errors import ITEM, InputError, format_place
from semmetrics.metrics.array_inputs import integer_array
from semmetrics.metrics.class_predictions import (
    SEEN,
    UNSEEN,
    ClassBlock,
    array_task,
    predict_classes,
)
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.formulas import divide, harmonic_mean

_ROUNDING = 2.0**-50  # of differences, relative to the largest score
_MAX_EXACT_SCORE = 2**53  # integers below have exact differences as float64


# ---- curves ---------------------------------------------------------------------------


@by_value()
class Curve(NamedTuple):
    """Accuracy on unseen and seen classes for each interval of the calibrating constant.

    Attributes
    ----------
    bounds : float array, shape (points - 1,)
        The constants between the points, in ascending order. The first point is for all
        constants below the first bound, the last for all above the last.
    unseen, seen : float arrays, shape (points,)
    """

    bounds: Floats
    unseen: Floats
    seen: Floats

    @property
    def area(self) -> float:
        """The area under the accuracy on seen classes over that on unseen classes."""
        if np.isnan(self.unseen[0] + self.seen[-1]):  # a group has no images
            return np.nan
        heights = (self.seen[1:] + self.seen[:-1]) / 2
        return float((np.diff(self.unseen) * heights).sum())

    @property
    def harmonic(self) -> Floats:
        """The harmonic mean of each point."""
        return np.asarray(harmonic_mean(self.unseen, self.seen))


class WeightedCurves:
    """Curves of the same images under different weights.

    Parameters
    ----------
    rows : mapping
        The columns of `Gaps`.
    seen, unseen : bool arrays, shape (classes,)
        The classes of each group. Images of other classes do not count.
    order : int array, optional
        The order of the images, and of their weights. Default: the order of the rows.
    """

    def __init__(
        self, rows: Columns, seen: Bools, unseen: Bools, order: Ints | None = None
    ) -> None:
        gaps = rows["gap"].values
        sizes = rows["size"].values
        is_right = rows["right"].values
        classes = rows["n_ref"].codes
        if order is not None:
            gaps = gaps[order]
            sizes = sizes[order]
            is_right = is_right[order]
            classes = classes[order]
        self._seen = seen
        self._unseen = unseen
        self._classes = classes.astype(np.int64)

        # Images that are right under some constants and wrong under others.
        images = np.flatnonzero(is_right & (seen | unseen)[self._classes])
        # Their gaps are the bounds. Gaps that differ only by rounding are one bound.
        distinct_gaps, gap_of_image = np.unique(gaps[images], return_inverse=True)
        is_new_bound = np.ones(len(distinct_gaps), np.bool_)
        with np.errstate(over="ignore"):
            rounding_error = _ROUNDING * sizes[images].max(initial=0.0)
            is_new_bound[1:] = np.diff(distinct_gaps) > rounding_error
        self._bounds = distinct_gaps[is_new_bound]
        bound_of_gap = np.cumsum(is_new_bound) - 1
        bounds = bound_of_gap[gap_of_image.ravel()]

        is_seen = seen[self._classes[images]]
        self._seen_images = images[is_seen]
        self._seen_bounds = bounds[is_seen]
        self._unseen_images = images[~is_seen]
        self._unseen_bounds = bounds[~is_seen]

    def curve(self, weights: Floats) -> Curve:
        """Return the curve under weights of images.

        The accuracy on a group without images is nan.
        """
        # The share of each image in the accuracy on its class.
        totals = np.bincount(self._classes, weights, len(self._seen))
        has_images = totals > 0
        n_seen = int((has_images & self._seen).sum())
        n_unseen = int((has_images & self._unseen).sum())
        divisors = np.where(has_images, totals, 1.0)
        shares = weights / divisors[self._classes]

        seen_shares = shares[self._seen_images]
        unseen_shares = shares[self._unseen_images]
        lost = self._change_at_bounds(self._seen_bounds, seen_shares, n_seen)
        won = self._change_at_bounds(self._unseen_bounds, unseen_shares, n_unseen)
        last_seen = 0.0
        if not n_seen:
            last_seen = np.nan
        first_unseen = 0.0
        if not n_unseen:
            first_unseen = np.nan
        # Images of seen classes are right below their bound, images of unseen classes above it.
        lost_from_end = np.cumsum(lost[::-1])[::-1]
        seen = np.append(lost_from_end, last_seen)
        unseen = np.append(first_unseen, np.cumsum(won))
        return Curve(self._bounds, unseen, seen)

    def _change_at_bounds(self, bounds: Ints, shares: Floats, n_classes: int) -> Floats:
        """Return by how much the accuracy on a group changes at each bound."""
        changes = np.bincount(bounds, shares, len(self._bounds))
        return divide(changes, float(n_classes))


# ---- columns --------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Gaps(Statistic):
    """By how much the best seen class of each image is above the best unseen class.

    The columns are "gap", "size" (of the scores, 0 if the gap is not rounded), "right"
    (whether the true class is the best of its group) and "n_ref" (the true class).
    """

    additive = False
    labels = frozenset(("n_ref",))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Find the best class of both groups.

        Raises
        ------
        InputError
            If an image has no score of a seen, or of an unseen class, or scores are
            integers whose differences are not exact as floats.
        """
        task = block.task
        best_seen = predict_classes(block, SEEN)
        best_unseen = predict_classes(block, UNSEEN)
        is_ranked = task.rows[block.start : block.stop] >= 0
        _check_group(block, best_seen, SEEN, is_ranked)
        _check_group(block, best_unseen, UNSEEN, is_ranked)

        with np.errstate(over="ignore"):
            gap = np.where(is_ranked, best_seen.values - best_unseen.values, 0.0)
        sizes = np.zeros(len(is_ranked))
        if _has_rounded_differences(task):
            seen_sizes = np.abs(best_seen.values[is_ranked])
            unseen_sizes = np.abs(best_unseen.values[is_ranked])
            sizes[is_ranked] = np.maximum(seen_sizes, unseen_sizes)
        is_right = is_ranked & (best_seen.hit | best_unseen.hit)
        truth = task.truth[block.start : block.stop]
        one_per_image = np.arange(len(truth) + 1)
        return {
            "gap": Dense(gap),
            "size": Dense(sizes),
            "right": Dense(is_right),
            "n_ref": Sparse(one_per_image, truth, len(task.classes)),
        }


def _has_rounded_differences(task: ClassTask) -> bool:
    """Return whether differences of scores may be rounded. Smaller types have exact ones."""
    if not isinstance(task.scores, ClassScores):
        return True
    return bool(task.scores.values.dtype == np.float64)


def _check_group(
    block: ClassBlock, best: PredictedClasses, group: str, is_ranked: Bools
) -> None:
    """Check the scores of the best classes of a group."""
    task = block.task
    has_no_score = is_ranked & ~np.isfinite(best.values)
    if has_no_score.any():
        image_id = task.ids[block.start + int(has_no_score.argmax())]
        if isinstance(image_id, str):
            where = format_place("", "", image_id)
        else:
            where = ITEM.format(int(image_id))
        raise InputError("no-class-score", where, group=group)
    if isinstance(task.scores, ClassScores) and task.scores.has_integers:
        # float64 would round them, and their differences decide between constants.
        is_inexact = np.abs(best.values.astype(np.float64)) >= _MAX_EXACT_SCORE
        is_inexact &= is_ranked
        if is_inexact.any():
            value = int(best.values[is_inexact][0])
            raise InputError("inexact", task.scores.source, value=value)


class StackingFamily(Family):
    """Values of the curve of calibrated stacking.

    Parameters
    ----------
    best : bool
        Whether the value is the best harmonic mean. Otherwise it is the area.
    """

    def __init__(self, *, best: bool) -> None:
        self._best = best

    def statistic(self, measure: Measure) -> Statistic:
        """Return the gaps of images."""
        return Gaps()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Read the value off the curve under each row of weights."""
        order = sums["order"]
        seen = frame.members(SEEN)
        unseen = frame.members(UNSEEN)
        curves = WeightedCurves(sums["rows"], seen, unseen, order)
        values = []
        for weights in sums["weights"]:
            curve = curves.curve(weights[order])
            if self._best:
                values.append(curve.harmonic.max())
            else:
                values.append(curve.area)
        return np.array(values)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the seen and unseen classes without images."""
        true_classes = sums["rows"]["n_ref"].codes
        n_images = np.bincount(true_classes, minlength=len(frame.labels))
        is_listed = frame.members(SEEN) | frame.members(UNSEEN)
        return {"absent": int((is_listed & (n_images == 0)).sum())}

    def curve(self, rows: Columns, frame: Frame, weights: Floats) -> Curve:
        """Return the curve of images under their weights."""
        seen = frame.members(SEEN)
        unseen = frame.members(UNSEEN)
        return WeightedCurves(rows, seen, unseen).curve(weights)


# ---- arrays ---------------------------------------------------------------------------


def seen_unseen_curve(
    scores: ArrayLike, truth: ArrayLike, *, seen: ArrayLike, unseen: ArrayLike
) -> Curve:
    """Compute accuracy on seen and unseen classes for every calibrating constant.

    Parameters
    ----------
    scores : array, shape (images, classes)
        Finite. Of equal scores in one group, the first class is predicted.
    truth : int array, shape (images,)
        The column of each image's class.
    seen, unseen : int arrays
        The columns of the seen and of the unseen classes, without overlap.

    Returns
    -------
    Curve
        Constants are in the units of the scores, accuracies in [0, 1].

    Raises
    ------
    InputError
        If shapes do not fit, seen and unseen overlap or are not columns, or scores are
        integers of 2**53 or more.

    References
    ----------
    Chao et al. 2016, "An empirical study and analysis of generalized zero-shot learning for object
    recognition in the wild", ECCV.

    Examples
    --------
    >>> curve = seen_unseen_curve([[0.9, 0.2], [0.8, 0.5]], [0, 1], seen=[0], unseen=[1])
    >>> curve.bounds.round(1).tolist(), curve.unseen.tolist(), curve.seen.tolist()
    ([0.3, 0.7], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    >>> curve.area
    1.0
    """
    n_classes = np.shape(scores)[1]
    seen_columns = integer_array(seen, SEEN, n_classes)
    unseen_columns = integer_array(unseen, UNSEEN, n_classes)
    overlap = set(seen_columns.tolist()) & set(unseen_columns.tolist())
    if overlap:
        names = sorted(overlap)
        raise InputError("seen-and-unseen", n=len(overlap), names=names)
    class_lists = {
        SEEN: frozenset(map(str, seen_columns.tolist())),
        UNSEEN: frozenset(map(str, unseen_columns.tolist())),
    }
    task = array_task(scores, truth, class_lists)
    n_images = len(task)
    rows = Gaps().compute(Block(task, 0, n_images))
    classes = np.arange(n_classes)
    is_seen = np.isin(classes, seen_columns)
    is_unseen = np.isin(classes, unseen_columns)
    return WeightedCurves(rows, is_seen, is_unseen).curve(np.ones(n_images))


def ausuc(
    scores: ArrayLike, truth: ArrayLike, *, seen: ArrayLike, unseen: ArrayLike
) -> float:
    """Compute the area under the seen-unseen accuracy curve.

    Parameters
    ----------
    scores : array, shape (images, classes)
        Finite. Of equal scores in one group, the first class is predicted.
    truth : int array, shape (images,)
        The column of each image's class.
    seen, unseen : int arrays
        The columns of the seen and of the unseen classes, without overlap.

    Returns
    -------
    float in [0, 1]
        nan without images of a seen, or of an unseen class.

    Raises
    ------
    InputError
        If shapes do not fit, seen and unseen overlap or are not columns, or scores are
        integers of 2**53 or more.

    References
    ----------
    Chao et al. 2016, "An empirical study and analysis of generalized zero-shot learning for object
    recognition in the wild", ECCV.

    Examples
    --------
    >>> ausuc([[0.9, 0.2], [0.1, 0.5]], [0, 1], seen=[0], unseen=[1])
    1.0
    """
    return seen_unseen_curve(scores, truth, seen=seen, unseen=unseen).area
