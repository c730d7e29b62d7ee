r"""Accuracy of classifiers, by class and by image, and the curve of seen and unseen classes.

Conventions
-----------
An item is an image with one class. A prediction is right at K where the true class is among the K
classes ranked first; without ``@K`` it is the first alone. ``labels`` names the classes whose
images count, ``candidates`` those among which a class is predicted: all classes in the generalised
zero-shot setting, the unseen ones in the plain one. Classes without images are left out of means
over classes and counted (``absent``). Values lie in [0, 1]; higher is better.

In calibrated stacking a constant is subtracted from the scores of the seen classes, and the class
with the largest score is predicted (Chao et al. 2016). From minus to plus infinity of the constant
the accuracy on images of seen classes falls to 0 while that on unseen classes rises. Both are means
over the classes with images. The curve has a point for each interval between constants at which a
prediction changes, so area and best value are exact; at such a constant itself nothing is read off.
Where an image of a seen class and one of an unseen class change at the same constant, the curve
goes straight from point to point; constants of float64 scores that rounding alone tells apart are
the same, so that 0.3 - 0.2 is 0.9 - 0.8.

Measures
--------
``PerClassAccuracy@K``  mean over the classes with images of each class's top-K accuracy
``Accuracy@K``          share of the images
``SeenAccuracy``        ``PerClassAccuracy(labels=seen)``, tr of Xian et al. 2018
``UnseenAccuracy``      ``PerClassAccuracy(labels=unseen)``, ts
``H``                   harmonic mean of the two
``AUSUC``               the area under the curve of seen over unseen accuracy
``BestH``               the largest harmonic mean of a point; chosen on the test images, so an upper
                        bound of H
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.backend import refuse_masked
from semmetrics.core.columns import Dense, Sparse, as_floats
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats, offsets
from semmetrics.data.tasks import (
    ALL,
    Block,
    ClassRanks,
    ClassScores,
    ClassTask,
    Decided,
    kept,
)
from semmetrics.errors import ITEM, InputError, at
from semmetrics.metrics import definition
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import Derived, weighted_mean
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.registry import define
from semmetrics.metrics.relations import as_cutoffs, whole_numbers

ClassBlock = Block[ClassTask]
SEEN, UNSEEN = "seen", "unseen"
LISTS = ("labels", "candidates")
"""The options of measures that name lists of classes."""
_UNIVERSES = definition.universe_option().choices
RESERVED = (ALL, *_UNIVERSES)
"""What these options have besides lists of classes."""
_ROUNDING = 2.0**-50  # of differences, relative to the largest score
_EXACT = 2**53  # integers below have exact differences in float64


@kept
def _decide(block: ClassBlock, candidates: str) -> Decided:
    """Decide the class of each image, among candidates of a name."""
    task = block.task
    found = task.decide(block.start, block.stop, task.columns(candidates))
    block.note(("tied", candidates, 1), int(found.tied.sum()))
    block.note(("nothing", candidates), int((found.predicted < 0).sum()))
    return found


@kept
def _place(block: ClassBlock, candidates: str) -> ClassRanks:
    """Rank the class of each image, among candidates of a name."""
    task = block.task
    return task.place(block.start, block.stop, task.columns(candidates))


@dataclass(frozen=True, repr=False)
class ClassHits(Statistic):
    """A step: of each image its class, and whether it is among the first k; one column a class.

    Columns "hit" and "n_ref", and for the first class alone "n_pred", which is predicted.
    """

    candidates: str
    k: int
    labels = frozenset(("hit", "n_ref", "n_pred"))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Decide, or place the true class."""
        task, more = block.task, {}
        width, truth = len(task.classes), task.truth[block.start : block.stop]
        if self.k == 1:
            decided = _decide(block, self.candidates)
            hit = decided.hit
            more["n_pred"] = _one_each(decided.predicted, decided.predicted >= 0, width)
        else:
            placed = _place(block, self.candidates)
            hit = (placed.ranks > 0) & (placed.ranks <= self.k)
            block.note(("tied", self.candidates, self.k), int(placed.tied.sum()))
            block.note(
                ("fewer", self.candidates, self.k), int((placed.sizes < self.k).sum())
            )
        more["n_ref"] = _one_each(truth, np.ones(len(truth), np.bool_), width)
        return {"hit": _one_each(truth, hit, width), **more}


def _one_each(codes: NDArray[Any], chosen: Bools, width: int) -> Sparse:
    """Return a column of at most one class an image."""
    return Sparse(
        offsets(chosen.astype(np.int64)), codes[chosen].astype(np.int32), width
    )


class ClassFamily(Family):
    """Means over classes of the share of each class's images that are hit."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of hits."""
        return ClassHits(str(measure["candidates"]), measure.k or 1)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the classes that have images."""
        hit, n_ref = self._counts(measure, sums, frame)
        return weighted_mean(divide(hit, n_ref), (n_ref > 0).astype(np.float64))

    def _counts(self, measure: Measure, sums: Sums, frame: Frame) -> list[Floats]:
        """Return hits and images of each class of the universe."""
        chosen = frame.universe(measure)
        return [as_floats(sums[name])[..., chosen] for name in ("hit", "n_ref")]

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the classes without images."""
        return {"absent": int((self._counts(measure, sums, frame)[1] == 0).sum())}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return 1 where an image is hit, else 0; nan where its class does not count."""
        hits = np.diff(rows["hit"].indptr).astype(np.float64)
        return np.where(frame.universe(measure)[rows["n_ref"].codes], hits, np.nan)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]]:
        """Return the accuracy and the counts of each class; nan where it has no images."""
        chosen = frame.universe(measure)
        hit, n_ref = self._counts(measure, sums, frame)
        found = {
            "label": np.array(frame.labels, dtype=object)[chosen],
            "value": divide(hit, n_ref),
            "support": n_ref,
            "hit": hit,
        }
        if "n_pred" in sums:
            found["predicted"] = as_floats(sums["n_pred"])[..., chosen]
        return found

    def confusion(
        self, rows: Columns
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Count the images of each class that are taken for each class, where there are any.

        Returns
        -------
        codes of the true and of the predicted class (-1 for none), and numbers of images; None
        where more classes than one are predicted
        """
        if "n_pred" not in rows:
            return None
        true, predicted = rows["n_ref"].codes, rows["n_pred"]
        codes = np.full(len(true), -1)
        codes[np.diff(predicted.indptr) > 0] = predicted.codes
        width = predicted.width + 1
        keys, number = np.unique(
            true.astype(np.int64) * width + codes + 1, return_counts=True
        )
        return keys // width, keys % width - 1, number


class ImageFamily(ClassFamily):
    """Shares of all images that are hit."""

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Divide the hits by the images."""
        hit, n_ref = self._counts(measure, sums, frame)
        return divide(hit.sum(axis=-1), n_ref.sum(axis=-1))

    def averaged(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each image: the score is their mean."""
        return self.items(measure, rows, frame)


class HarmonicMean(Derived):
    """The harmonic mean of the accuracy on seen and on unseen classes, under one cutoff."""

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the two accuracies."""
        return {
            "": [PerClassAccuracy(k=measure.k, labels=name) for name in (SEEN, UNSEEN)]
        }

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Return 2 ts tr / (ts + tr), and 0 where both are 0."""
        seen, unseen = values
        return harmonic_mean(unseen, seen)


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
        return np.asarray(harmonic_mean(self.unseen, self.seen))


def weighted_curve(
    rows: Columns, seen: Bools, unseen: Bools, order: Any = slice(None)
) -> Callable[[Floats], Curve]:
    """Return the function from weights of images to their curve, from the columns of `Gaps`.

    ``seen`` and ``unseen`` tell the classes of either group; images of others do not count. The
    curve is nan where a group has no image.
    """
    gaps, sizes, right = (rows[name].values[order] for name in ("gap", "size", "right"))
    groups = seen + 2 * unseen.astype(np.int8)
    classes = rows["n_ref"].codes[order].astype(np.int64)
    right = right & (groups[classes] > 0)
    bounds, place = np.unique(gaps[right], return_inverse=True)
    apart = np.ones(len(bounds), np.bool_)
    with np.errstate(over="ignore"):
        apart[1:] = np.diff(bounds) > _ROUNDING * sizes[right].max(initial=0.0)
    # of images that some constant makes right
    places = (np.cumsum(apart) - 1)[place.ravel()]
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


class Gaps(Statistic):
    """A step: by how much the best seen class of an image is above the best unseen one.

    Columns "gap", "size" (of the scores, where the gap may be rounded), "right" (whether the true
    class is the best of its group) and "n_ref" (the true class).
    """

    additive = False
    labels = frozenset(("n_ref",))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Find the best of both groups.

        Raises
        ------
        InputError
            If an image has no score of a seen, or of an unseen class, or scores are integers whose
            differences no float has.
        """
        task = block.task
        both = [_decide(block, name) for name in (SEEN, UNSEEN)]
        ranked = task.rows[block.start : block.stop] >= 0
        for found, name in zip(both, (SEEN, UNSEEN), strict=True):
            lacking = ranked & ~np.isfinite(found.values)
            if lacking.any():
                id_ = task.ids[block.start + int(lacking.argmax())]
                where = (
                    at("", "", id_) if isinstance(id_, str) else ITEM.format(int(id_))
                )
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
        if (
            not isinstance(task.scores, ClassScores)
            or task.scores.values.dtype == np.float64
        ):
            sizes[ranked] = np.abs([found.values[ranked] for found in both]).max(axis=0)
        truth = task.truth[block.start : block.stop]
        return {
            "gap": Dense(gap),
            "size": Dense(sizes),
            "right": Dense(ranked & (both[0].hit | both[1].hit)),
            "n_ref": Sparse(np.arange(len(truth) + 1), truth, len(task.classes)),
        }


class StackingFamily(Family):
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
        groups = frame.members(SEEN), frame.members(UNSEEN)
        curve = weighted_curve(sums["rows"], *groups, sums["order"])
        curves = (curve(weights[sums["order"]]) for weights in sums["weights"])
        return np.array([c.harmonic.max() if self._best else c.area for c in curves])

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the seen and unseen classes without images."""
        there = (
            np.bincount(sums["rows"]["n_ref"].codes, minlength=len(frame.labels)) > 0
        )
        both = frame.members(SEEN) | frame.members(UNSEEN)
        return {"absent": int((both & ~there).sum())}

    def curve(self, rows: Columns, frame: Frame, weights: Floats) -> Curve:
        """Return the whole curve of images that count by their weights."""
        return weighted_curve(rows, frame.members(SEEN), frame.members(UNSEEN))(weights)


def _check_candidates(name: Any) -> None:
    """Refuse what says which images count, and is no list of classes."""
    if name in _UNIVERSES:
        wanted = "all, seen, unseen, or the name of another list of classes"
        raise InputError("bad-option", name="candidates", value=name, wanted=wanted)


_OPTIONS = (
    Option(
        "labels",
        "labels",
        _UNIVERSES[0],
        help="the classes whose images count: the class "
        "list, or without one those of both sides (auto); those with images (reference); the "
        "class list (given); seen, unseen, or a list of class_lists, populations or hops",
    ),
    Option(
        "candidates",
        "among",
        ALL,
        check=_check_candidates,
        help="the classes among which one "
        "is predicted: all, seen, unseen, or another list",
    ),
)
_SEEN_UNSEEN = {
    "SeenAccuracy": "PerClassAccuracy(labels=seen)",
    "UnseenAccuracy": "PerClassAccuracy(labels=unseen)",
}


class_measure = partial(
    define, cite=("xian2018",), kind="classes", order_invariant=False
)
"""Register a measure of classes: of Xian et al., and with a cutoff, if nothing else."""


PerClassAccuracy = class_measure(
    "PerClassAccuracy",
    ClassFamily(),
    "Mean over the classes with images of each class's top-K accuracy.",
    "(1/|Y|) Σ_{c∈Y} |right in c| / |images of c|",
    "Xian et al. 2018, section 5.3, the equation of average per-class accuracy",
    interval="jackknife-bias",  # as of other means over classes
    options=_OPTIONS,
    aliases=_SEEN_UNSEEN,
)
Accuracy = class_measure(
    "Accuracy",
    ImageFamily(),
    "Share of the images whose class is among the first K.",
    "|right| / |images|",
    "Xian et al. 2018, section 5.3, which prefers the mean over classes",
    options=_OPTIONS,
)
H = class_measure(
    "H",
    HarmonicMean(),
    "Harmonic mean of the per-class accuracy on seen and on unseen classes.",
    "2 ts tr / (ts + tr)",
    "Xian et al. 2018, section 5.3, the equation of the harmonic mean",
    interval="jackknife-bias",
)


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


def per_class_accuracy(scores: ArrayLike, truth: ArrayLike, *, k: int = 1) -> float:
    r"""Compute the mean over classes of each class's top-k accuracy.

    .. math:: \frac{1}{|Y|} \sum_{c \in Y} \frac{|\{i : y_i = c, \mathrm{rank}_i(c) \le k\}|}
              {|\{i : y_i = c\}|}

    Parameters
    ----------
    scores : array, shape (images, classes)
        Finite; of equal scores the first class is ranked first.
    truth : int array, shape (images,)
        The column of each image's class.
    k : int
        From 1.

    Returns
    -------
    float in [0, 1]
        The mean is over the classes that have images; nan without images.

    Raises
    ------
    InputError
        If shapes do not fit, a class is no column, a score is not finite, or k is no cutoff.

    References
    ----------
    Xian et al. 2018, "Zero-shot learning: a comprehensive evaluation", section 5.3.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]
    >>> per_class_accuracy(scores, [0, 1, 1])
    0.75
    """
    task = array_task(scores, truth, {})
    columns = ClassHits(ALL, as_cutoffs(k)[0]).compute(Block(task, 0, len(task)))
    hit, n_ref = (as_floats(columns[name].sum()) for name in ("hit", "n_ref"))
    return float(weighted_mean(divide(hit, n_ref), (n_ref > 0).astype(np.float64)))


def array_task(
    scores: ArrayLike, truth: ArrayLike, named: Mapping[str, frozenset[str]]
) -> ClassTask:
    """Return a task of arrays, whose classes are named by their columns.

    Raises
    ------
    InputError
        If a class is no column, or an array is masked.
    """
    refuse_masked(scores, "scores")
    table = np.asarray(scores)
    rows, width = table.shape
    codes = whole_numbers(truth, "truth", width)
    if codes.shape != (rows,):
        wanted = f"a class for each of the {rows:,} rows of scores"
        raise InputError("wrong-shape", role="truth", shape=codes.shape, wanted=wanted)
    return ClassTask(
        ids=range(rows),
        classes=tuple(map(str, range(width))),
        given=None,
        scores=ClassScores(table),
        rows=np.arange(rows),
        truth=codes.astype(np.int32),
        named=named,
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
    both = [
        whole_numbers(given, name, width)
        for given, name in ((seen, SEEN), (unseen, UNSEEN))
    ]
    if twice := {*both[0].tolist()} & {*both[1].tolist()}:
        raise InputError("seen-and-unseen", n=len(twice), names=sorted(twice))
    names = (frozenset(map(str, columns.tolist())) for columns in both)
    task = array_task(scores, truth, dict(zip((SEEN, UNSEEN), names, strict=True)))
    columns = Gaps().compute(Block(task, 0, len(task)))
    curve = weighted_curve(columns, *(np.isin(np.arange(width), side) for side in both))
    return curve(np.ones(len(task)))


def ausuc(
    scores: ArrayLike, truth: ArrayLike, *, seen: ArrayLike, unseen: ArrayLike
) -> float:
    """Compute the area under the seen-unseen accuracy curve.

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
    float in [0, 1]
        nan where no image is of a seen, or of an unseen class.

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
    >>> ausuc([[0.9, 0.2], [0.1, 0.5]], [0, 1], seen=[0], unseen=[1])
    1.0
    """
    return seen_unseen_curve(scores, truth, seen=seen, unseen=unseen).area
