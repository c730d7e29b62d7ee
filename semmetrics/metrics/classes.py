r"""Accuracy of classifiers, by class and by image, with lists of classes such as seen and unseen.

Conventions
-----------
An item is an image with one class. A prediction is right at K where the true class is among the K
classes ranked first; without ``@K`` it is the first alone. ``labels`` names the classes whose
images count, ``candidates`` those among which a class is predicted: all classes in the generalised
zero-shot setting, the unseen ones in the plain one. Classes without images are left out of means
over classes and counted (``absent``). Values lie in [0, 1]; higher is better.

Measures
--------
``PerClassAccuracy@K``  mean over the classes with images of each class's top-K accuracy
``Accuracy@K``          share of the images
``SeenAccuracy``        ``PerClassAccuracy(labels=seen)``, tr of Xian et al. 2018
``UnseenAccuracy``      ``PerClassAccuracy(labels=unseen)``, ts
``H``                   harmonic mean of the two
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.backend import refuse_masked
from semmetrics.core.columns import Sparse, as_floats
from semmetrics.core.ragged import Bools, Floats, offsets
from semmetrics.data.tasks import ALL, Block, ClassRanks, ClassScores, ClassTask, Decided
from semmetrics.errors import ROW, InputError
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import (
    AUTO,
    Columns,
    Definition,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import Derived, weighted_mean
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.registry import add
from semmetrics.metrics.relations import as_cutoffs

ClassBlock = Block[ClassTask]
SEEN, UNSEEN = "seen", "unseen"
LISTS = ("labels", "candidates")
"""The options of measures that name lists of classes."""
_UNIVERSES = (AUTO, "reference", "union", "given")
RESERVED = (ALL, *_UNIVERSES)
"""What these options have besides lists of classes."""


@dataclass(frozen=True)
class Decisions:
    """A step: the class that is predicted for each image, among candidates of a name."""

    candidates: str

    def compute(self, block: ClassBlock) -> Decided:
        """Find the largest score of each image."""
        task = block.task
        found = task.decide(block.start, block.stop, task.columns(self.candidates))
        block.note(("tied", self.candidates, 1), int(found.tied.sum()))
        block.note(("nothing", self.candidates), int((found.predicted < 0).sum()))
        return found


@dataclass(frozen=True)
class Places:
    """A step: where the class of each image is ranked, among candidates of a name."""

    candidates: str

    def compute(self, block: ClassBlock) -> ClassRanks:
        """Count the scores that are larger than that of the class."""
        task = block.task
        return task.place(block.start, block.stop, task.columns(self.candidates))


@dataclass(frozen=True)
class ClassHits:
    """A step: of each image its class, and whether it is among the first k; one column a class.

    Columns "hit" and "n_ref", and for the first class alone "n_pred", which is predicted.
    """

    candidates: str
    k: int
    additive: bool = True
    labels: frozenset[str] = frozenset(("hit", "n_ref", "n_pred"))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Decide, or place the true class."""
        task, more = block.task, {}
        width, truth = len(task.classes), task.truth[block.start : block.stop]
        if self.k == 1:
            decided = block.get(Decisions(self.candidates))
            hit = decided.hit
            more["n_pred"] = _one_each(decided.predicted, decided.predicted >= 0, width)
        else:
            placed = block.get(Places(self.candidates))
            hit = (placed.ranks > 0) & (placed.ranks <= self.k)
            block.note(("tied", self.candidates, self.k), int(placed.tied.sum()))
            block.note(("fewer", self.candidates, self.k), int((placed.sizes < self.k).sum()))
        every = np.ones(len(truth), np.bool_)
        more["n_ref"] = _one_each(truth, every, width)
        return {"hit": _one_each(truth, hit, width), **more}


def _one_each(codes: NDArray[Any], chosen: Bools, width: int) -> Sparse:
    """Return a column of at most one class an image."""
    return Sparse(offsets(chosen.astype(np.int64)), codes[chosen].astype(np.int32), width)


class ClassFamily:
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
        absent = int((self._counts(measure, sums, frame)[1] == 0).sum())
        return {"absent": absent} if absent else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return 1 where an image is hit, else 0; nan where its class does not count."""
        columns: Any = rows
        hits = np.diff(columns["hit"].indptr).astype(np.float64)
        return np.where(frame.universe(measure)[columns["n_ref"].codes], hits, np.nan)

    def per_label(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, NDArray[Any]]:
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

    def confusion(self, rows: Columns) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Count the images of each class that are taken for each class, where there are any.

        Returns
        -------
        codes of the true and of the predicted class (-1 for none), and numbers of images; None
        where more classes than one are predicted
        """
        columns: Any = rows
        if "n_pred" not in columns:
            return None
        true, predicted = columns["n_ref"].codes, columns["n_pred"]
        codes = np.full(len(true), -1)
        codes[np.diff(predicted.indptr) > 0] = predicted.codes
        width = predicted.width + 1
        keys, number = np.unique(true.astype(np.int64) * width + codes + 1, return_counts=True)
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
        return {"": [PerClassAccuracy(k=measure.k, labels=name) for name in (SEEN, UNSEEN)]}

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Return 2 ts tr / (ts + tr), and 0 where both are 0."""
        seen, unseen = values
        return harmonic_mean(unseen, seen)


def _check_candidates(name: Any) -> None:
    """Refuse what says which images count, and is no list of classes."""
    if name in _UNIVERSES:
        wanted = "all, seen, unseen, or the name of another list of classes"
        raise InputError("bad-option", name="candidates", value=name, wanted=wanted)


_OPTIONS = (
    Option(
        "labels", "labels", AUTO,
        help="the classes whose images count: the class list, or without one those of both sides "
        "(auto); those with images (reference); the class list (given); seen, unseen, or a list "
        "of class_lists, populations or hops",
    ),
    Option(
        "candidates", "among", ALL, check=_check_candidates,
        help="the classes among which one is predicted: all, seen, unseen, or another list",
    ),
)  # fmt: skip
_SEEN_UNSEEN = {
    "SeenAccuracy": "PerClassAccuracy(labels=seen)",
    "UnseenAccuracy": "PerClassAccuracy(labels=unseen)",
}


def class_measure(
    name: str, family: Any, summary: str, equation: str, source: str, **more: Any
) -> Definition:
    """Register a measure of classes: of Xian et al., and with a cutoff, if nothing else."""
    more = {"cite": ("xian2018",), **more, "kind": "classes", "order_invariant": False}
    aliases = more.pop("aliases", None)
    return add(Definition(name, family, summary, equation, source, **more), aliases)


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
        If shapes do not fit, or a class is no column.
    """
    refuse_masked(scores, "scores")
    refuse_masked(truth, "truth")
    table, codes = np.asarray(scores), np.asarray(truth)
    rows, width = table.shape
    wanted = f"the column of the class of each of {pluralize(rows, 'row')}"
    if codes.shape != (rows,):
        raise InputError("wrong-shape", role="truth", shape=codes.shape, wanted=wanted)
    if codes.dtype.kind not in "iu" and codes.size:
        raise InputError("wrong-dtype", role="truth", dtype=codes.dtype, wanted=wanted)
    outside = np.flatnonzero((codes < 0) | (codes >= width))
    if len(outside):
        where = f"truth, {ROW.format(outside[0])}"
        value, wanted = int(codes[outside[0]]), f"a column from 0 to {width - 1}"
        raise InputError("out-of-range", where, role="the class", value=value, wanted=wanted)
    return ClassTask(
        ids=range(rows),
        classes=tuple(map(str, range(width))),
        given=None,
        scores=ClassScores(table),
        rows=np.arange(rows),
        truth=codes.astype(np.int32),
        named=named,
    )
