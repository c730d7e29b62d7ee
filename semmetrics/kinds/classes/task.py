"""Make the task of comparing predicted classes, or scores of classes, with the classes of images.

Conventions
-----------
The class list is the value of the option. Without the option, it consists of the names of a
matrix's columns, or else of the seen and unseen classes together. Without any of these, it consists
of all classes that either side names. A predicted class outside the class list is a miss.

Images are joined by id, or by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import Ints
from semmetrics.data.item_ids import take_ids
from semmetrics.data.join import join_rows
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.observations import Observations
from semmetrics.data.rankings import RankedLists, check_repeats
from semmetrics.data.tasks.classes import ClassScores, ClassTask
from semmetrics.errors import InputError
from semmetrics.kinds import class_names
from semmetrics.kinds.base import Options
from semmetrics.kinds.classes import as_truth
from semmetrics.kinds.classes.class_lists import NamedSides, code_names, name_sides
from semmetrics.messages import pluralize
from semmetrics.metrics.class_predictions import SEEN, UNSEEN


def make_task(
    run: Lists | Matrix, truth: Lists | Matrix, options: Options
) -> ClassTask:
    """Make the task of one system.

    Parameters
    ----------
    run, truth : Lists or Matrix
        The predictions and the ground truth.
    options : ResolvedOptions
        The inputs that they name are read.

    Raises
    ------
    InputError
        If ids do not match, a class is not in the class list, an image has no class or several
        classes, or a class is both seen and unseen.
    """
    _check_width(run, truth)
    truth = as_truth(truth)
    class_list = _find_class_list(run, truth, options)
    codes, are_positions = _code_truth(truth, class_list)
    predictions = _rank_classes(run, class_list.classes)
    listed_classes = predictions.classes[: class_list.size]
    sides = name_sides(options, listed_classes, is_complete=class_list.size is not None)
    n_columns = None
    if isinstance(run, Matrix):
        n_columns = len(run.vocabulary)
    joined, rows = join_rows(
        run.ids,
        truth,
        source=run.source,
        missing=options.missing,
        columns=n_columns,
    )
    has_class = np.flatnonzero(joined.ref.sizes)
    ids = joined.ids
    counts = dict(joined.counts)
    if len(has_class) < len(rows):
        counts["without_class"] = counts.pop("missing_reference")
        ids = take_ids(ids, has_class)
    weights = None
    if options.weights is not None:
        weights = options.weights.align(truth, ids)
    task = ClassTask(
        ids=ids,
        settings=_task_settings(options, sides),
        counts=counts,
        classes=tuple(predictions.classes),
        n_listed=class_list.size,
        scores=predictions.scores,
        rows=rows[has_class],
        truth=codes[joined.ref.codes].astype(np.int32),
        ties=options.ties,
        named=sides.named,
        weights=weights,
    )
    observations = _observe(task)
    observations.count("numbered", int(are_positions))
    observations.add_names("rest", [sides.rest])
    return replace(task, observations=observations)


def _check_width(run: Lists | Matrix, truth: Lists | Matrix) -> None:
    """Raise an error if a ground truth of 0/1 does not have as many columns as the scores.

    A common mistake is a ground truth with a single column of class numbers.
    """
    if not isinstance(run, Matrix) or not isinstance(truth, Matrix) or truth.named:
        return
    shape = truth.values.shape
    n_classes = run.values.shape[1]
    if shape[1] != n_classes:
        wanted = f"0/1 for {pluralize(n_classes, 'class')}, or a vector of classes"
        raise InputError(
            "wrong-shape",
            truth.source,
            role="the ground truth",
            shape=shape,
            wanted=wanted,
        )


def _task_settings(options: Options, sides: NamedSides) -> dict[str, str]:
    """Return the settings that a signature names, with hashes of the lists that were given."""
    settings = options.settings("classes")
    if options.classes is not None:
        settings["classes"] = identity_of(options.classes)
    for side in (SEEN, UNSEEN):
        if options.value(side):
            settings[side] = identity_of(sorted(sides.named[side]))
    if options.weights is not None:
        settings["weights"] = "given"
    return settings


# ---- classes and scores -------------------------------------------------------------------------


class _ClassList(NamedTuple):
    """The classes in their order.

    Attributes
    ----------
    classes : list of str
    size : int or None
        The number of classes in the class list. None without a class list, if classes may be
        missing.
    """

    classes: list[str]
    size: int | None


def _find_class_list(run: Lists | Matrix, truth: Lists, options: Options) -> _ClassList:
    """Return the class list, or all classes that occur."""
    listed = options.classes
    if isinstance(run, Matrix):
        return _list_columns(run, listed)
    seen = options.value(SEEN)
    unseen = options.value(UNSEEN)
    if listed is None and seen is not None and unseen is not None:
        listed = list(dict.fromkeys([*seen, *unseen]))
    if listed is not None:
        return _ClassList(list(listed), len(listed))
    occurring: set[str] = set()
    for names in (truth.vocabulary, run.vocabulary, seen or (), unseen or ()):
        occurring.update(map(str, names))
    return _ClassList(sorted(occurring), None)


def _list_columns(run: Matrix, listed: Sequence[str] | None) -> _ClassList:
    """Return the columns of a matrix as the class list.

    Raises
    ------
    InputError
        If they are not the listed classes.
    """
    columns = [str(name) for name in run.vocabulary]
    if listed is not None:
        differing = sorted(set(columns) ^ set(listed))
        if differing:
            n = len(differing)
            raise InputError("differing-classes", run.source, n=n, names=differing)
    return _ClassList(columns, len(columns))


def _code_truth(truth: Lists, class_list: _ClassList) -> tuple[Ints, bool]:
    """Return the position of each name of the ground truth in the class list.

    Returns
    -------
    codes : int array, shape (names,)
    are_positions : bool
        Whether the names were read as positions.

    Raises
    ------
    InputError
        If a class is not in the class list.
    """
    names = [str(name) for name in truth.vocabulary]
    codes, are_positions = code_names(names, class_list.classes)
    if class_list.size is not None:
        outside = np.flatnonzero((codes < 0) & truth.occurring())
        if len(outside):
            code = int(outside[0])
            where = truth.where(truth.first_item(code))
            raise class_names.outside_classes_error(
                names[code], class_list.classes, where, "the class"
            )
    return codes, are_positions


class _RankedClasses(NamedTuple):
    """The predictions of a system.

    Attributes
    ----------
    scores : ClassScores or RankedLists
    classes : list of str
        The names of its columns: the class list, then the predicted classes outside of it.
    """

    scores: ClassScores | RankedLists
    classes: list[str]


def _rank_classes(run: Lists | Matrix, classes: list[str]) -> _RankedClasses:
    """Return the rankings of classes for each image.

    Raises
    ------
    InputError
        If a class is ranked twice for an image.
    """
    if isinstance(run, Matrix):
        if run.is_sparse:
            ranked = RankedLists.of(run.ranked().side, len(classes))
            return _RankedClasses(ranked, classes)
        return _RankedClasses(ClassScores(run.values, source=run.source), classes)
    check_repeats(run, "class")
    names = [str(name) for name in run.vocabulary]
    codes, _ = code_names(names, classes)
    outside = np.flatnonzero(codes < 0).tolist()
    outside_names = sorted({names[code] for code in outside})
    all_classes = [*classes, *outside_names]
    code_of_outside = {}
    for number, name in enumerate(outside_names):
        code_of_outside[name] = len(classes) + number
    for code in outside:
        codes[code] = code_of_outside[names[code]]
    side = replace(run.side, codes=codes.astype(np.int32)[run.side.codes])
    ranked = RankedLists.of(side, len(all_classes))
    return _RankedClasses(ranked, all_classes)


# ---- observations -------------------------------------------------------------------------------


def _observe(task: ClassTask) -> Observations:
    """Count the images, and the predictions and classes outside the lists of classes."""
    observations = Observations()
    n_images = task.axis.n_reference.tolist()
    images_by_class = dict(zip(task.classes, n_images, strict=True))
    present = [name for name, n in images_by_class.items() if n]
    observations.count("images", len(task))
    observations.add_names("present", present)
    if SEEN in task.named and UNSEEN in task.named:
        on_either_side = task.named[SEEN] | task.named[UNSEEN]
        n_neither = 0
        for name, n in images_by_class.items():
            if name not in on_either_side:
                n_neither += n
        observations.count("neither", n_neither)
    if isinstance(task.scores, RankedLists) and task.n_listed is not None:
        codes = task.scores.side.codes
        outside = codes[codes >= task.n_listed]
        observations.count("outside", len(outside))
        misses = [task.classes[code] for code in np.unique(outside).tolist()]
        observations.add_names("misses", misses)
    return observations
