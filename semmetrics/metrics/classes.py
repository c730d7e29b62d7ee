r"""Accuracy of classifiers, by class and by image, on seen and on unseen classes.

Conventions
-----------
An item is an image with one class. A prediction is correct at K if the true class is among
the K classes ranked first. Without ``@K``, only the first counts. ``labels`` names the
classes whose images count. ``candidates`` names the classes among which one is predicted:
all classes in the generalised zero-shot setting, or the unseen classes in the standard
one. Classes without images are left out of means over classes and counted (``absent``).
Values are in [0, 1], and higher is better.

Measures
--------
``PerClassAccuracy@K``  mean over the classes with images of each class's top-K accuracy
``Accuracy@K``          share of the images that are predicted correctly
``SeenAccuracy``        ``PerClassAccuracy(labels=seen)``, tr of Xian et al. 2018
``UnseenAccuracy``      ``PerClassAccuracy(labels=unseen)``, ts
``H``                   harmonic mean of the two
``AUSUC``               area under the curve of seen over unseen accuracy, see `stacking`
``BestH``               largest harmonic mean of a point of that curve. It is chosen on the test
                        images, so it is an upper bound of H
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.columns import Sparse, as_floats
from semmetrics.core.ragged import Bools, Floats, offsets
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.classes import ALL
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import as_cutoffs
from semmetrics.metrics.class_predictions import (
    SEEN,
    UNSEEN,
    ClassBlock,
    array_task,
    predict_classes,
    rank_true_classes,
)
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    LabelTable,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import Derived, weighted_mean
from semmetrics.metrics.formulas import divide, harmonic_mean
from semmetrics.metrics.measure_options import MeasureOption, universe_option
from semmetrics.metrics.registry import define
from semmetrics.metrics.stacking import StackingFamily

LISTS = ("labels", "candidates")
"""The options of measures that name lists of classes."""
_UNIVERSES = universe_option().choices
RESERVED = (ALL, *_UNIVERSES)
"""The values of the options `LISTS` that do not name a list of classes."""


# ---- accuracy -------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ClassHits(Statistic):
    """The class of each image, and whether it is among the first k.

    The columns have shape (images, classes): "hit", "n_ref" for the true class, and
    "n_pred" for the predicted class, only if k is 1.
    """

    candidates: str
    k: int
    labels = frozenset(("hit", "n_ref", "n_pred"))

    def compute(self, block: ClassBlock) -> dict[str, Any]:
        """Predict the class, or rank the true class."""
        task = block.task
        n_classes = len(task.classes)
        truth = task.truth[block.start : block.stop]
        columns = {}
        if self.k == 1:
            decided = predict_classes(block, self.candidates)
            predicted = decided.predicted
            columns["hit"] = _class_column(truth, decided.hit, n_classes)
            columns["n_pred"] = _class_column(predicted, predicted >= 0, n_classes)
        else:
            ranked = rank_true_classes(block, self.candidates)
            hit = (ranked.ranks > 0) & (ranked.ranks <= self.k)
            n_tied = int(ranked.tied.sum())
            n_short = int((ranked.sizes < self.k).sum())
            block.observations.count("tied", n_tied, self.candidates, self.k)
            block.observations.count("fewer", n_short, self.candidates, self.k)
            columns["hit"] = _class_column(truth, hit, n_classes)
        every_image = np.ones(len(truth), np.bool_)
        columns["n_ref"] = _class_column(truth, every_image, n_classes)
        return columns


def _class_column(codes: NDArray[Any], chosen: Bools, n_classes: int) -> Sparse:
    """Return a column with the class of each chosen image. Other images have no class."""
    indptr = offsets(chosen.astype(np.int64))
    return Sparse(indptr, codes[chosen].astype(np.int32), n_classes)


def _mean_over_classes(hit: Floats, n_images: Floats) -> Floats:
    """Average the accuracy of the classes that have images. Classes are the last axis."""
    has_images = (n_images > 0).astype(np.float64)
    return weighted_mean(divide(hit, n_images), has_images)


class ClassFamily(Family):
    """Means over classes of the accuracy of each class."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the hits of images."""
        return ClassHits(str(measure["candidates"]), measure.k or 1)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the classes that have images."""
        hit, n_images = self._counts(measure, sums, frame)
        return _mean_over_classes(hit, n_images)

    def _counts(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Floats, Floats]:
        """Return the hits and the images of each class of the universe."""
        in_universe = frame.universe(measure)
        hit = as_floats(sums["hit"])[..., in_universe]
        n_images = as_floats(sums["n_ref"])[..., in_universe]
        return hit, n_images

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the classes without images."""
        _, n_images = self._counts(measure, sums, frame)
        return {"absent": int((n_images == 0).sum())}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return 1 or 0 for each image, nan if its class does not count."""
        hit = np.diff(rows["hit"].indptr).astype(np.float64)
        is_counted = frame.universe(measure)[rows["n_ref"].codes]
        return np.where(is_counted, hit, np.nan)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> LabelTable | None:
        """Return the accuracy and the counts of each class, nan if it has no images."""
        in_universe = frame.universe(measure)
        hit, n_images = self._counts(measure, sums, frame)
        table = {
            "label": np.array(frame.labels, dtype=object)[in_universe],
            "value": divide(hit, n_images),
            "support": n_images,
            "hit": hit,
        }
        if "n_pred" in sums:
            table["predicted"] = as_floats(sums["n_pred"])[..., in_universe]
        return table

    def confusion(
        self, rows: Columns
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
        """Count the images of each pair of a true and a predicted class.

        Returns
        -------
        true, predicted, n_images : int arrays, shape (pairs,)
            Pairs without images are left out. The predicted class of an image without a
            prediction is -1. Returns None instead if several classes are predicted per
            image.
        """
        if "n_pred" not in rows:
            return None
        true = rows["n_ref"].codes
        predictions = rows["n_pred"]
        predicted = np.full(len(true), -1)
        has_prediction = np.diff(predictions.indptr) > 0
        predicted[has_prediction] = predictions.codes
        # Add 1 to predicted classes, so that keys with -1 are unique and not negative.
        width = predictions.width + 1
        keys = true.astype(np.int64) * width + (predicted + 1)
        distinct_keys, n_images = np.unique(keys, return_counts=True)
        true_classes, shifted_classes = np.divmod(distinct_keys, width)
        return true_classes, shifted_classes - 1, n_images


class ImageFamily(ClassFamily):
    """The accuracy over all images."""

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Divide the hits by the images."""
        hit, n_images = self._counts(measure, sums, frame)
        return divide(hit.sum(axis=-1), n_images.sum(axis=-1))

    def averaged(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each image. The score is their mean."""
        return self.items(measure, rows, frame)


class HarmonicMean(Derived):
    """The harmonic mean of the accuracy on seen and on unseen classes, at one cutoff."""

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the two accuracies."""
        seen = PerClassAccuracy(k=measure.k, labels=SEEN)
        unseen = PerClassAccuracy(k=measure.k, labels=UNSEEN)
        return {"": [seen, unseen]}

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Return 2 ts tr / (ts + tr), and 0 if both are 0."""
        seen, unseen = values
        return harmonic_mean(unseen, seen)


def per_class_accuracy(scores: ArrayLike, truth: ArrayLike, *, k: int = 1) -> float:
    r"""Compute the mean over classes of each class's top-k accuracy.

    .. math:: \frac{1}{|Y|} \sum_{c \in Y} \frac{|\{i : y_i = c, \mathrm{rank}_i(c) \le k\}|}
              {|\{i : y_i = c\}|}

    Parameters
    ----------
    scores : array, shape (images, classes)
        Finite. Of equal scores, the first class is ranked first.
    truth : int array, shape (images,)
        The column of each image's class.
    k : int
        At least 1.

    Returns
    -------
    float in [0, 1]
        The mean over the classes with images, nan without images.

    Raises
    ------
    InputError
        If shapes do not fit, a class is not a column, a score is not finite, or k is not a
        cutoff.

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
    cutoff, *_ = as_cutoffs(k)
    all_images = Block(task, 0, len(task))
    columns = ClassHits(ALL, cutoff).compute(all_images)
    hit = as_floats(columns["hit"].sum())
    n_images = as_floats(columns["n_ref"].sum())
    return float(_mean_over_classes(hit, n_images))


# ---- definitions ----------------------------------------------------------------------


def _check_candidates(name: Any) -> None:
    """Check that candidates are not a label universe such as "reference"."""
    if name in _UNIVERSES:
        wanted = "all, seen, unseen, or the name of a list of classes"
        raise InputError("bad-option", name="candidates", value=name, wanted=wanted)


_OPTIONS = (
    MeasureOption(
        "labels",
        "labels",
        _UNIVERSES[0],
        help="the classes that are evaluated: auto is the class list, or the classes of "
        "both sides without one; reference is the classes with images; given is "
        "the class list; otherwise seen, unseen, or the name of a list from "
        "class_lists, populations or hops",
    ),
    MeasureOption(
        "candidates",
        "among",
        ALL,
        check=_check_candidates,
        help="the classes that can be predicted: all, seen, unseen, or the name of a "
        "list",
    ),
)
_define = partial(define, kind="classes", order_invariant=False)


PerClassAccuracy = _define(
    name="PerClassAccuracy",
    family=ClassFamily(),
    summary="Mean over the classes of the top-K accuracy of each class. Classes "
    "without images are left out.",
    equation="(1/|Y|) Σ_{c∈Y} |right in c| / |images of c|",
    source="Xian et al. 2018, section 5.3, the equation of average per-class accuracy",
    cite=("xian2018",),
    interval="jackknife-bias",  # as for other means over classes
    options=_OPTIONS,
    aliases={
        "SeenAccuracy": "PerClassAccuracy(labels=seen)",
        "UnseenAccuracy": "PerClassAccuracy(labels=unseen)",
    },
)
Accuracy = _define(
    name="Accuracy",
    family=ImageFamily(),
    summary="Share of the images whose class is among the K highest-ranked classes.",
    equation="|right| / |images|",
    source="Xian et al. 2018, section 5.3, which prefers the mean over classes",
    cite=("xian2018",),
    options=_OPTIONS,
)
H = _define(
    name="H",
    family=HarmonicMean(),
    summary="Harmonic mean of the per-class accuracies on seen and unseen classes.",
    equation="2 ts tr / (ts + tr)",
    source="Xian et al. 2018, section 5.3, the equation of the harmonic mean",
    cite=("xian2018",),
    interval="jackknife-bias",
)
AUSUC = _define(
    name="AUSUC",
    family=StackingFamily(best=False),
    summary="Area under the seen-unseen accuracy curve of calibrated stacking.",
    equation="∫ A_S dA_U over the constant that is subtracted from the scores of seen "
    "classes",
    source="Chao et al. 2016",
    cite=("chao2016",),
    cutoff=False,
    needs=frozenset(["scores"]),
)
BestH = _define(
    name="BestH",
    family=StackingFamily(best=True),
    summary="Largest H over all constants of calibrated stacking, an upper bound of H.",
    equation="max_γ 2 A_U(γ) A_S(γ) / (A_U(γ) + A_S(γ))",
    source="Mancini et al. 2021, best harmonic mean (there by image)",
    cite=("mancini2021",),
    cutoff=False,
    needs=frozenset(["scores"]),
)
