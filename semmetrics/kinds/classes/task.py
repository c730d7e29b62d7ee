"""From predictions and classes to a task: the class list, codes, rows, and what is outside.

Conventions
-----------
The class list is that of the option, or the names of a matrix's columns, or seen and unseen classes
together; without any, all classes that either side names. A predicted class outside the class list
is a miss. Images are joined by id, or by position.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import Codes, lengths
from semmetrics.data.block import Noted
from semmetrics.data.class_task import ClassScores, ClassTask
from semmetrics.data.join import aligned_weights, join_rows
from semmetrics.data.lists import Lists, take_ids
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import RankedLists, check_repeats
from semmetrics.errors import InputError
from semmetrics.kinds import Options
from semmetrics.kinds.classes.class_lists import code_names, named_sides, unnamed_columns
from semmetrics.kinds.classes.reading import as_truth
from semmetrics.messages import agreeing, listing, pluralize
from semmetrics.metrics.classes import SEEN, UNSEEN

__all__ = ["make_task"]


def make_task(run: Lists | Matrix, truth: Lists | Matrix, options: Options) -> ClassTask:
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
    _check_width(run, truth)
    truth = as_truth(truth)
    classes, given = _class_list(run, truth, options)
    codes, numbered = _code_truth(truth, classes, whole=given is not None)
    scores, classes = _scores(run, classes)
    named, rest = named_sides(options, classes[:given], whole=given is not None)
    joined, rows = join_rows(run.ids, truth, source=run.source, missing=options["missing"])
    kept = np.flatnonzero(lengths(joined.ref.indptr))
    counts = dict(joined.counts)
    if len(kept) < len(rows):
        counts["without_class"] = counts.pop("missing_reference")
    ids = joined.ids if len(kept) == len(rows) else take_ids(joined.ids, kept)
    weights = options["weights"]
    task = ClassTask(
        ids=ids,
        settings=_settings(options, named),
        counts=counts,
        classes=tuple(classes),
        given=given,
        scores=scores,
        rows=rows[kept],
        truth=codes[joined.ref.codes].astype(np.int32),
        ties=options["ties"],
        named=named,
        weights=None if weights is None else aligned_weights(weights, truth, ids),
    )
    odd: dict[Hashable, Noted] = {"numbered": int(numbered), "rest": frozenset({rest})}
    return replace(task, odd=odd | _found(task))


def _check_width(run: Lists | Matrix, truth: Lists | Matrix) -> None:
    """Refuse 0/1 for other classes than the scores have, such as a column of numbers of classes."""
    if not isinstance(run, Matrix) or not isinstance(truth, Matrix) or truth.named:
        return
    mine, theirs = truth.values.shape[1], run.values.shape[1]
    if mine != theirs:
        raise InputError(
            f"the ground truth has {pluralize(mine, 'column')}, and the scores have {theirs}",
            where=truth.source,
            remedy="give 0/1 for each class, or a vector of the numbers of classes",
        )


def _settings(options: Options, named: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Return what signatures say of the options."""
    settings = {"missing": options["missing"], "tie": options["ties"]}
    if options["classes"] is not None:
        settings["classes"] = identity_of(options["classes"])
    settings |= {name: identity_of(sorted(named[name])) for name in (SEEN, UNSEEN) if options[name]}
    return settings | ({} if options["weights"] is None else {"weights": "given"})


def _found(task: ClassTask) -> dict[Hashable, Noted]:
    """Note the images and their classes, and what is outside of lists; parts add up."""
    names, number = task.classes, task.axis.n_reference.tolist()
    found: dict[Hashable, Noted] = {
        "images": len(task),
        "present": frozenset(name for name, n in zip(names, number, strict=True) if n),
    }
    if {SEEN, UNSEEN} <= {*task.named}:
        inside = task.named[SEEN] | task.named[UNSEEN]
        some = zip(names, number, strict=True)
        found["neither"] = sum(n for name, n in some if name not in inside)
    if isinstance(task.scores, RankedLists) and task.given is not None:
        outside = task.scores.side.codes >= task.given
        found["outside"] = int(outside.sum())
        codes = np.unique(task.scores.side.codes[outside])
        found["misses"] = frozenset(names[code] for code in codes.tolist())
    return found


def _class_list(
    run: Lists | Matrix, truth: Lists, options: Options
) -> tuple[list[str], int | None]:
    """Return the classes in their order, and how many of them are a class list that is known."""
    listed = options["classes"]
    if isinstance(run, Matrix):
        names = list(map(str, run.vocabulary))
        if listed is not None and set(names) != set(listed):
            lost = sorted(set(names) ^ set(listed))
            raise InputError(
                f"the columns and the class list differ: {listing(lost)} "
                f"{agreeing(len(lost), 'are')} in one of them alone",
                where=run.source,
                remedy="name the columns as classes= (--classes) does, or leave that out",
            )
        return names, len(names)
    if listed is None and options[SEEN] is not None and options[UNSEEN] is not None:
        listed = list(dict.fromkeys([*options[SEEN], *options[UNSEEN]]))
    if listed is not None:
        return list(listed), len(listed)
    sides = (truth.vocabulary, run.vocabulary, options[SEEN] or (), options[UNSEEN] or ())
    return sorted({str(name) for side in sides for name in side}), None


def _code_truth(truth: Lists, classes: Sequence[str], *, whole: bool) -> tuple[Codes, bool]:
    """Return the code of each name of the ground truth, and whether these are places."""
    codes, numbered = code_names([str(name) for name in truth.vocabulary], classes)
    lost = np.flatnonzero((codes < 0) & truth.occurring())
    if whole and len(lost):
        code = int(lost[0])
        name = str(truth.vocabulary[code])
        remedy = unnamed_columns([name], classes) or "add it to the class list, or correct it"
        if numbered:
            remedy = f"places in the class list go from 0 to {len(classes) - 1}"
        raise InputError(
            f"the class {name!r} is not among {pluralize(len(classes), 'class')}",
            where=truth.where(truth.first_item(code)),
            remedy=remedy,
        )
    return codes.astype(np.int32), numbered


def _scores(run: Lists | Matrix, classes: list[str]) -> tuple[ClassScores | RankedLists, list[str]]:
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
