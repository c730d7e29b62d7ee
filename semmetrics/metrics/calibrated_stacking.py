r"""Seen against unseen classes under calibrated stacking: the curve, its area, and its best H.

Conventions
-----------
A constant is subtracted from the scores of the seen classes, and the class with the largest score
is predicted (Chao et al. 2016). From minus to plus infinity of the constant the accuracy on images
of seen classes falls to 0 while that on unseen classes rises. Both are means over the classes with
images. The curve has a point for each interval between constants at which a prediction changes, so
area and best value are exact; at such a constant itself nothing is read off. Where an image of a
seen class and one of an unseen class change at the same constant, the curve goes straight from
point to point; constants of float64 scores that rounding alone tells apart are the same, so that
0.3 - 0.2 is 0.9 - 0.8. Values lie in [0, 1]; higher is better.

Measures
--------
``AUSUC``  the area under the curve of seen over unseen accuracy
``BestH``  the largest harmonic mean of a point; chosen on the test images, so an upper bound of H
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.backend import refuse_masked
from semmetrics.core.columns import Dense, Sparse
from semmetrics.core.ragged import Bools, Floats
from semmetrics.core.same import by_value
from semmetrics.data.tasks import Block, ClassScores, occurring
from semmetrics.errors import ITEM, InputError, at
from semmetrics.metrics.classes import (
    SEEN,
    UNSEEN,
    ClassBlock,
    Decisions,
    array_task,
    class_measure,
)
from semmetrics.metrics.definition import Columns, Frame, Measure, Statistic, Sums
from semmetrics.metrics.families import WithoutLabels
from semmetrics.metrics.formulas import divide, harmonic_mean

_ROUNDING = 2.0**-50  # of differences, relative to the largest score
_EXACT = 2**53  # integers below have exact differences in float64


@by_value()
class Curve(NamedTuple):
    """Accuracy on unseen and on seen classes, for each interval of the calibrating constant.

    Attributes
    ----------
    bounds : float array, shape (points - 1,)
        The constants between the points, rising: the first point is that of all constants below
        the first bound, the last that of all above the last.
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
        found: Floats = harmonic_mean(self.unseen, self.seen)
        return found


def weighted_curve(
    rows: Columns, seen: Bools, unseen: Bools, order: Any = slice(None)
) -> Callable[[Floats], Curve]:
    """Return the function from weights of images to their curve, from the columns of `Gaps`.

    ``seen`` and ``unseen`` tell the classes of either group; images of others do not count. The
    curve is nan where a group has no image.
    """
    columns: Any = rows
    gaps, sizes, right = (columns[name].values[order] for name in ("gap", "size", "right"))
    groups = seen + 2 * unseen.astype(np.int8)
    classes = columns["n_ref"].codes[order].astype(np.int64)
    right = right & (groups[classes] > 0)
    bounds, place = np.unique(gaps[right], return_inverse=True)
    apart = np.ones(len(bounds), np.bool_)
    with np.errstate(over="ignore"):
        apart[1:] = np.diff(bounds) > _ROUNDING * sizes[right].max(initial=0.0)
    places = (np.cumsum(apart) - 1)[place.ravel()]  # of images that some constant makes right
    bounds = bounds[apart]

    def curve(weights: Floats) -> Curve:
        totals = np.bincount(classes, weights, len(groups))
        there = totals > 0
        number = np.bincount(groups[there], minlength=3)
        each = (weights / np.where(there, totals, 1.0)[classes])[right]
        falls = []
        for group in (1, 2):
            chosen = groups[classes[right]] == group
            shares = np.bincount(places[chosen], each[chosen], len(bounds))
            falls.append(divide(shares, float(number[group])))
        lost = np.append(np.cumsum(falls[0][::-1])[::-1], 0.0 if number[1] else np.nan)
        won = np.append(0.0 if number[2] else np.nan, np.cumsum(falls[1]))
        return Curve(bounds, won, lost)

    return curve


@dataclass(frozen=True)
class Gaps:
    """A step: by how much the best seen class of an image is above the best unseen one.

    Columns "gap", "size" (of the scores, where the gap may be rounded), "right" (whether the true
    class is the best of its group) and "n_ref" (the true class).
    """

    additive: bool = False
    labels: frozenset[str] = frozenset(("n_ref",))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Find the best of both groups.

        Raises
        ------
        InputError
            If an image has no score of a seen, or of an unseen class, or scores are integers whose
            differences no float has.
        """
        task = block.task
        both = [block.get(Decisions(name)) for name in (SEEN, UNSEEN)]
        ranked = task.rows[block.start : block.stop] >= 0
        for found, name in zip(both, (SEEN, UNSEEN), strict=True):
            lacking = ranked & ~np.isfinite(found.values)
            if lacking.any():
                id_ = task.ids[block.start + int(lacking.argmax())]
                where = at("", "", id_) if isinstance(id_, str) else ITEM.format(int(id_))
                raise InputError("no-class-score", where, group=name)
            if isinstance(task.scores, ClassScores) and task.scores.integer:
                # a float may round them, and their differences decide which constant is read
                large = np.abs(found.values.astype(np.float64)) >= _EXACT
                if (ranked & large).any():
                    value = int(found.values[ranked & large][0])
                    raise InputError("inexact", task.scores.source, value=value)
        with np.errstate(over="ignore"):
            gap = np.where(ranked, both[0].values - both[1].values, 0.0)
        sizes = np.zeros(len(ranked))  # of scores whose differences may be rounded
        if not isinstance(task.scores, ClassScores) or task.scores.values.dtype == np.float64:
            sizes[ranked] = np.abs([found.values[ranked] for found in both]).max(axis=0)
        truth = task.truth[block.start : block.stop]
        every = np.arange(len(truth) + 1)
        return {
            "gap": Dense(gap),
            "size": Dense(sizes),
            "right": Dense(ranked & (both[0].hit | both[1].hit)),
            "n_ref": Sparse(every, truth, len(task.classes)),
        }


class StackingFamily(WithoutLabels):
    """Values read off the curve.

    Parameters
    ----------
    best : bool
        Whether it is the best harmonic mean; otherwise the area.
    """

    def __init__(self, *, best: bool) -> None:
        self._best = best

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of gaps."""
        return Gaps()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Make the curve under each row of weights, and read its value off."""
        some: Any = sums
        groups = frame.members(SEEN), frame.members(UNSEEN)
        curve = weighted_curve(some["rows"], *groups, some["order"])
        curves = (curve(weights[some["order"]]) for weights in some["weights"])
        return np.array([c.harmonic.max() if self._best else c.area for c in curves])

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the seen and unseen classes without images."""
        rows: Any = sums["rows"]
        there = np.bincount(rows["n_ref"].codes, minlength=len(frame.labels)) > 0
        both = frame.members(SEEN) | frame.members(UNSEEN)
        absent = int((both & ~there).sum())
        return {"absent": absent} if absent else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return None: an image alone has no curve."""
        return None

    def curve(self, rows: Columns, frame: Frame, weights: Floats) -> Curve:
        """Return the whole curve of images that count by their weights."""
        return weighted_curve(rows, frame.members(SEEN), frame.members(UNSEEN))(weights)


_SCORES: dict[str, Any] = {"cutoff": False, "needs": frozenset(["scores"])}
AUSUC = class_measure(
    "AUSUC",
    StackingFamily(best=False),
    "Area under the curve of seen over unseen accuracy, by calibrated stacking.",
    "∫ A_S dA_U over the constant taken from the scores of seen classes",
    "Chao et al. 2016",
    cite=("chao2016",),
    **_SCORES,
)
BestH = class_measure(
    "BestH",
    StackingFamily(best=True),
    "Largest H over all constants of calibrated stacking: an upper bound of H.",
    "max_γ 2 A_U(γ) A_S(γ) / (A_U(γ) + A_S(γ))",
    "Mancini et al. 2021, best harmonic mean (there by image)",
    cite=("mancini2021",),
    **_SCORES,
)


def seen_unseen_curve(
    scores: ArrayLike, truth: ArrayLike, *, seen: ArrayLike, unseen: ArrayLike
) -> Curve:
    """Compute accuracy on seen and unseen classes for every calibrating constant.

    Parameters
    ----------
    scores : array, shape (images, classes)
        Finite; of equal scores in one group the first class is predicted.
    truth : int array, shape (images,)
        The column of each image's class.
    seen, unseen : int arrays
        The columns of the seen and of the unseen classes; no column is both.

    Returns
    -------
    Curve
        Constants are in units of the scores, accuracies in [0, 1].

    Raises
    ------
    InputError
        If shapes do not fit, seen and unseen overlap or are no columns, or scores are integers of
        2**53 or more.

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
    width = np.shape(scores)[1]
    both = [_columns(given, name, width) for given, name in ((seen, SEEN), (unseen, UNSEEN))]
    if twice := set(both[0]) & set(both[1]):
        raise InputError("column-on-both-sides", column=min(twice))
    names = (frozenset(map(str, columns)) for columns in both)
    task = array_task(scores, truth, dict(zip((SEEN, UNSEEN), names, strict=True)))
    columns = Gaps().compute(Block(task, 0, len(task)))
    curve = weighted_curve(columns, *(occurring(side, width) for side in both))
    return curve(np.ones(len(task)))


def _columns(given: ArrayLike, name: str, width: int) -> list[int]:
    """Return the columns of a group."""
    refuse_masked(given, name)
    columns = np.asarray(given)
    whole = columns.ndim == 1 and columns.size > 0 and columns.dtype.kind in "iu"
    if not whole or not ((columns >= 0) & (columns < width)).all():
        wanted = f"a list of columns from 0 to {width - 1}"
        raise InputError("bad-option", name=name, value=given, wanted=wanted)
    found: list[int] = columns.tolist()
    return found


def ausuc(scores: ArrayLike, truth: ArrayLike, *, seen: ArrayLike, unseen: ArrayLike) -> float:
    """Compute the area under the seen-unseen accuracy curve.

    Parameters
    ----------
    scores, truth, seen, unseen
        As for `seen_unseen_curve`.

    Returns
    -------
    float in [0, 1]
        nan where no image is of a seen, or of an unseen class.

    Raises
    ------
    InputError
        As `seen_unseen_curve`.

    References
    ----------
    Chao et al. 2016, as `seen_unseen_curve`.

    Examples
    --------
    >>> ausuc([[0.9, 0.2], [0.1, 0.5]], [0, 1], seen=[0], unseen=[1])
    1.0
    """
    return seen_unseen_curve(scores, truth, seen=seen, unseen=unseen).area
