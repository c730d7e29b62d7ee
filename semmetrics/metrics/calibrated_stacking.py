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

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.backend import refuse_masked
from semmetrics.core.columns import Dense, Sparse
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.same import by_value
from semmetrics.data.tasks import ClassScores
from semmetrics.errors import ITEM, InputError, at
from semmetrics.metrics.classes import SEEN, UNSEEN, ClassBlock, Decisions, check_scores
from semmetrics.metrics.definition import Columns, Definition, Frame, Measure, Statistic, Sums
from semmetrics.metrics.families import WithoutLabels
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.registry import add

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


@dataclass(frozen=True, eq=False)
class Steps:
    """The images that are right among the classes of their own group, at the constants that decide.

    Attributes
    ----------
    bounds : float array
        The distinct constants, rising.
    place : int array, shape (images,)
        The bound of each image, from 0; -1 for one that no constant makes right.
    classes : int array, shape (images,)
    groups : int8 array, shape (classes,)
        1 for seen classes, 2 for unseen ones, 0 for others, whose images do not count.
    """

    bounds: Floats
    place: Ints
    classes: Ints
    groups: NDArray[np.int8]

    @staticmethod
    def of(
        gaps: Floats, sizes: Floats, right: Bools, classes: Ints, seen: Bools, unseen: Bools
    ) -> Steps:
        """Find the constants from the best seen less the best unseen score of each image.

        ``sizes`` are those of the scores where differences may be rounded, otherwise 0.
        """
        groups = seen + 2 * unseen.astype(np.int8)
        right = right & (groups[classes] > 0)
        bounds, place = np.unique(gaps[right], return_inverse=True)
        apart = np.ones(len(bounds), np.bool_)
        with np.errstate(over="ignore"):
            apart[1:] = np.diff(bounds) > _ROUNDING * sizes[right].max(initial=0.0)
        places = np.full(len(gaps), -1)
        places[right] = (np.cumsum(apart) - 1)[place.ravel()]
        return Steps(bounds[apart], places, classes, groups)

    def curve(self, weights: Floats) -> Curve:
        """Return the curve of images that count by their weights; nan where a group has none."""
        totals = np.bincount(self.classes, weights, len(self.groups))
        there = totals > 0
        number = np.bincount(self.groups[there], minlength=3)
        each = weights / np.where(there, totals, 1.0)[self.classes]
        falls = []
        for group in (1, 2):
            chosen = (self.place >= 0) & (self.groups[self.classes] == group)
            shares = np.bincount(self.place[chosen], each[chosen], len(self.bounds))
            falls.append(divide(shares, float(number[group])))
        seen = np.append(np.cumsum(falls[0][::-1])[::-1], 0.0 if number[1] else np.nan)
        unseen = np.append(0.0 if number[2] else np.nan, np.cumsum(falls[1]))
        return Curve(self.bounds, unseen, seen)


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
                _check_exact(found.values[ranked], task.scores.source)
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


def _check_exact(values: NDArray[Any], where: str) -> None:
    """Refuse integers that a float may round, as their differences decide which constant is read.

    Raises
    ------
    InputError
        If there is one of 2**53 or more; shows it.
    """
    large = np.flatnonzero(np.abs(values.astype(np.float64)) >= _EXACT)
    if len(large):
        raise InputError("inexact", where, value=int(values[large[0]]))


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

    def _steps(self, rows: Columns, frame: Frame, order: Any = slice(None)) -> Steps:
        columns: Any = rows
        return Steps.of(
            columns["gap"].values[order],
            columns["size"].values[order],
            columns["right"].values[order],
            columns["n_ref"].codes[order].astype(np.int64),
            frame.members(SEEN),
            frame.members(UNSEEN),
        )

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Make the curve under each row of weights, and read its value off."""
        some: Any = sums
        steps = self._steps(some["rows"], frame, some["order"])
        curves = (steps.curve(weights[some["order"]]) for weights in some["weights"])
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
        return self._steps(rows, frame).curve(weights)


_COMMON: dict[str, Any] = {
    "kind": "classes",
    "order_invariant": False,
    "cutoff": False,
    "needs": frozenset(["scores"]),
}
AUSUC = add(
    Definition(
        name="AUSUC",
        family=StackingFamily(best=False),
        summary="Area under the curve of seen over unseen accuracy, by calibrated stacking.",
        equation="∫ A_S dA_U over the constant taken from the scores of seen classes",
        source="Chao et al. 2016",
        cite=("chao2016",),
        **_COMMON,
    )
)
BestH = add(
    Definition(
        name="BestH",
        family=StackingFamily(best=True),
        summary="Largest H over all constants of calibrated stacking: an upper bound of H.",
        equation="max_γ 2 A_U(γ) A_S(γ) / (A_U(γ) + A_S(γ))",
        source="Mancini et al. 2021, best harmonic mean (there by image)",
        cite=("mancini2021",),
        **_COMMON,
    )
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
    table, codes = check_scores(scores, truth)
    named = ((seen, SEEN), (unseen, UNSEEN))
    sides = [_columns(given, name, table.shape[1]) for given, name in named]
    if (sides[0] & sides[1]).any():
        column = int((sides[0] & sides[1]).argmax())
        raise InputError("column-on-both-sides", column=column)
    best, right = [], np.zeros(len(codes), np.bool_)
    for side in sides:
        columns = np.flatnonzero(side)
        part = table[:, columns]
        first = part.argmax(axis=1)
        values = np.take_along_axis(part, first[:, None], 1)[:, 0]
        if values.dtype.kind in "iu":
            _check_exact(values, "scores")
        right |= columns[first] == codes
        best.append(values.astype(np.float64))
    sizes = np.abs(best).max(axis=0) * (table.dtype == np.float64)
    with np.errstate(over="ignore"):
        steps = Steps.of(best[0] - best[1], sizes, right, codes, *sides)
    return steps.curve(np.ones(len(codes)))


def _columns(given: ArrayLike, name: str, width: int) -> Bools:
    """Return which columns are of a group."""
    refuse_masked(given, name)
    columns = np.asarray(given)
    whole = columns.ndim == 1 and columns.size > 0 and columns.dtype.kind in "iu"
    if not whole or not ((columns >= 0) & (columns < width)).all():
        wanted = f"a list of columns from 0 to {width - 1}"
        raise InputError("bad-option", name=name, value=given, wanted=wanted)
    found = np.zeros(width, np.bool_)
    found[columns] = True
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
