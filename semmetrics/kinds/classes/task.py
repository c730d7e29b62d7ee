"""Make the task of comparing scores of classes with the classes of images.

Conventions
-----------
The class list is that of the option, or the names of a matrix's columns, or seen and unseen classes
together; without any, all classes that either side names. A predicted class outside the class list
is a miss. Images are joined by id, or by position.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from semmetrics.core.hashing import identity_of
from semmetrics.data.join import join_rows
from semmetrics.data.lists import Lists, take_ids
from semmetrics.data.matrix import Matrix
from semmetrics.data.observations import Observations
from semmetrics.data.rankings import RankedLists, check_repeats
from semmetrics.data.tasks import ClassScores, ClassTask
from semmetrics.errors import InputError
from semmetrics.kinds import class_names
from semmetrics.kinds.base import (
    Options,
)
from semmetrics.kinds.classes import as_truth
from semmetrics.kinds.classes.class_lists import code_names, named_sides
from semmetrics.messages import pluralize
from semmetrics.metrics.class_predictions import SEEN, UNSEEN


def make_task(
    run: Lists | Matrix, truth: Lists | Matrix, options: Options
) -> ClassTask:
    """Make the task of one system.

    Parameters
    ----------
    run, truth : Lists or Matrix
    options : ResolvedOptions
        With what they name read.

    Returns
    -------
    ClassTask

    Raises
    ------
    InputError
        If ids do not match, a class is not in the class list, an image has no class or several,
        or a class is both seen and unseen.
    """
    if isinstance(run, Matrix) and isinstance(truth, Matrix) and not truth.named:
        shape, width = truth.values.shape, run.values.shape[1]
        if shape[1] != width:  # such as a column of numbers
            wanted = f"0/1 for {pluralize(width, 'class')}, or a vector of classes"
            values = {"role": "the ground truth", "shape": shape, "wanted": wanted}
            raise InputError("wrong-shape", truth.source, **values)
    truth = as_truth(truth)
    classes, given = _class_list(run, truth, options)
    codes, numbered = code_names([str(name) for name in truth.vocabulary], classes)
    lost = np.flatnonzero((codes < 0) & truth.occurring() & (given is not None))
    if len(lost):
        name, where = (
            str(truth.vocabulary[lost[0]]),
            truth.where(truth.first_item(int(lost[0]))),
        )
        raise class_names.outside_classes(name, classes[:given], where, "the class")
    scores, classes = _scores(run, classes)
    named, rest = named_sides(options, classes[:given], whole=given is not None)
    joined, rows = join_rows(run.ids, truth, source=run.source, missing=options.missing)
    kept = np.flatnonzero(joined.ref.sizes)
    counts, weights, ids = dict(joined.counts), options.weights, joined.ids
    if len(kept) < len(rows):
        counts["without_class"] = counts.pop("missing_reference")
        ids = take_ids(ids, kept)
    settings = options.settings("classes")
    if options.classes is not None:
        settings["classes"] = identity_of(options.classes)
    settings |= {
        name: identity_of(sorted(named[name]))
        for name in (SEEN, UNSEEN)
        if options.value(name)
    }
    task = ClassTask(
        ids=ids,
        settings=settings | ({} if weights is None else {"weights": "given"}),
        counts=counts,
        classes=tuple(classes),
        given=given,
        scores=scores,
        rows=rows[kept],
        truth=codes[joined.ref.codes].astype(np.int32),
        ties=options.ties,
        named=named,
        weights=None if weights is None else weights.align(truth, ids),
    )
    observations = _observe(task)
    observations.count("numbered", int(numbered))
    observations.add_names("rest", [rest])
    return replace(task, observations=observations)


def _observe(task: ClassTask) -> Observations:
    """Count the images of classes, and what is outside of lists of classes."""
    observations = Observations()
    n_images = task.axis.n_reference.tolist()
    images_by_class = dict(zip(task.classes, n_images, strict=True))
    present = [name for name, n in images_by_class.items() if n]
    observations.count("images", len(task))
    observations.add_names("present", present)
    if SEEN in task.named and UNSEEN in task.named:
        inside = task.named[SEEN] | task.named[UNSEEN]
        n_outside = sum(n for name, n in images_by_class.items() if name not in inside)
        observations.count("neither", n_outside)
    if isinstance(task.scores, RankedLists) and task.given is not None:
        codes = task.scores.side.codes
        outside = codes[codes >= task.given]
        observations.count("outside", len(outside))
        misses = [task.classes[code] for code in np.unique(outside).tolist()]
        observations.add_names("misses", misses)
    return observations


def _class_list(
    run: Lists | Matrix, truth: Lists, options: Options
) -> tuple[list[str], int | None]:
    """Return the classes in their order, and how many of them are a class list that is known."""
    listed = options.classes
    if isinstance(run, Matrix):
        names = list(map(str, run.vocabulary))
        if listed is not None and set(names) != set(listed):
            lost = sorted(set(names) ^ set(listed))
            raise InputError("differing-classes", run.source, n=len(lost), names=lost)
        return names, len(names)
    if (
        listed is None
        and options.value(SEEN) is not None
        and options.value(UNSEEN) is not None
    ):
        listed = list(dict.fromkeys([*options.value(SEEN), *options.value(UNSEEN)]))
    if listed is not None:
        return list(listed), len(listed)
    sides = (
        truth.vocabulary,
        run.vocabulary,
        options.value(SEEN) or (),
        options.value(UNSEEN) or (),
    )
    return sorted({str(name) for side in sides for name in side}), None


def _scores(
    run: Lists | Matrix, classes: list[str]
) -> tuple[ClassScores | RankedLists, list[str]]:
    """Return the scores, and the classes; those outside the class list stand last."""
    if isinstance(run, Matrix):
        if run.sparse:
            return RankedLists.of(run.ranked().side, len(classes)), classes
        return ClassScores(run.values, source=run.source), classes
    check_repeats(run, "class")
    names = [str(name) for name in run.vocabulary]
    codes, _ = code_names(names, classes)
    outside = np.flatnonzero(codes < 0)
    more = sorted({names[i] for i in outside.tolist()})
    place = {name: len(classes) + i for i, name in enumerate(more)}
    codes[outside] = [place[names[i]] for i in outside.tolist()]
    side = replace(run.side, codes=codes.astype(np.int32)[run.side.codes])
    every = [*classes, *more]
    return RankedLists.of(side, len(every)), every
