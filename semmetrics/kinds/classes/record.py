"""The record of classes: how scores and classes are read, joined and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import lengths
from semmetrics.data.beside import read_names
from semmetrics.data.class_task import ALL, ClassTask
from semmetrics.data.form import ReadOptions
from semmetrics.data.form import number as as_number
from semmetrics.data.join import Weights
from semmetrics.data.rankings import RankedLists
from semmetrics.errors import InputError, at
from semmetrics.kinds import (
    Defaults,
    Kind,
    Options,
    Tasks,
    different_items,
    each_task,
    read_weights,
    task_notes,
    unused_weights,
)
from semmetrics.kinds.classes.class_lists import (
    explain_unknown_side,
    find_list,
    names_asked,
    number_notes,
    overlap_note,
)
from semmetrics.kinds.classes.reading import as_classes
from semmetrics.kinds.classes.task import make_task
from semmetrics.messages import agreeing, brief, listing, pluralize
from semmetrics.metrics.classes import RESERVED, SEEN, UNSEEN
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS, check_choice

__all__ = ["KIND"]

_PLAIN = ("PerClassAccuracy", "Accuracy")
_GENERALISED = ("UnseenAccuracy", "SeenAccuracy", "H")
_LISTED = ("classes", SEEN, UNSEEN, "pretraining")
_ZERO_SHOT = "PerClassAccuracy(labels=unseen,candidates=unseen)"
_NEEDS_RANKING = (
    "restricts predictions to some classes, and there is one class for each image: give scores or "
    "ranked classes"
)
_COUNTS = {
    "missing_prediction": "images that nothing is predicted for",
    "missing_reference": "images without a class",
    "without_class": "images without a class, left out",
}
_NUMBERED = (
    "the classes of the ground truth are numbers, taken for places in the class list, from 0"
)


def read_beside(options: Options) -> Options:
    """Read the lists of classes, their numbers, and the weights."""
    check_choice("ties", options["ties"])
    files = (options["read"] or ReadOptions()).beside()
    lists = options["class_lists"]
    return options.replace(
        **{name: read_names(options[name], files, name, "class name") for name in _LISTED},
        **{name: _read_numbers(options[name], files, name) for name in ("populations", "hops")},
        weights=read_weights(options["weights"], files),
        class_lists={
            _list_name(str(name)): read_names(some, files, f"class_lists, {name}", "class name")
            for name, some in (lists or {}).items()
        },
    )


def _list_name(name: str) -> str:
    """Return the name of a further list; refuse one that means something else already."""
    if name in (SEEN, UNSEEN):
        raise InputError(f"class_lists has {name!r}", remedy=f"give {OPTIONS[name].both}")
    if name in RESERVED:
        raise InputError(f"class_lists has {name!r}, which measures know as another",
                         remedy="choose another name")  # fmt: skip
    return name


def _read_numbers(given: Any, files: ReadOptions, option: str) -> Any:
    """Read a number for each class; what is no mapping is refused where it is asked for."""
    found = read_weights(given, files, option)
    numbers = found.values if isinstance(found, Weights) else found
    if not isinstance(numbers, Mapping):
        return found
    read = {}
    for name, value in numbers.items():
        where = at(option, "", str(name))
        if str(name) in read:
            raise InputError("the class has two numbers", where=where, remedy="keep one")
        read[str(name)] = as_number(value, where, "number")
        if read[str(name)] < 0:
            raise InputError(f"the number {brief(value)} is negative", where=where,
                             remedy="count from 0")  # fmt: skip
    return replace(found, values=read) if isinstance(found, Weights) else read


def read(data: Any, source: str, options: Options) -> Any:
    """Read one side; the class list names the columns of a matrix."""
    return as_classes(data, source=source, classes=options["classes"], options=options["read"])


def make_tasks(preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
    """Make the task of each system."""
    return {name: {"": make_task(run, ref, options)} for name, run in preds.items()}


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return accuracies, and those of generalised zero-shot learning where classes are unseen."""
    every = [task for _, task in each_task(tasks)]
    if not all({SEEN, UNSEEN} <= {*task.named} for task in every):
        return Defaults(_PLAIN)
    if not all(map(_has_ranking, every)):
        return Defaults((*_GENERALISED, *_PLAIN), {_ZERO_SHOT: _NEEDS_RANKING})
    return Defaults((*_GENERALISED, _ZERO_SHOT, *_PLAIN))


def _has_ranking(task: ClassTask) -> bool:
    """Tell whether more classes than one are ranked for some image."""
    lists = isinstance(task.scores, RankedLists)
    return not lists or int(lengths(task.scores.side.indptr).max(initial=0)) > 1  # type: ignore[union-attr]


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Say which lists of classes a measure lacks."""
    (measure,), every = parse(text, "classes"), [task for _, task in each_task(tasks)]
    known = {name for task in every for name in task.named}
    asked = [name for name in names_asked([measure]) if name in (SEEN, UNSEEN)]
    lacking = [OPTIONS[name].both for name in asked if name not in known]
    if lacking:
        return text, f"needs {' and '.join(lacking)}"
    ranked = measure["candidates"] in (None, ALL) or all(map(_has_ranking, every))
    return text, "" if ranked else _NEEDS_RANKING


def prepare(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Hand over the lists of classes that measures name.

    Raises
    ------
    InputError
        If there is no such list, it holds none of the classes, or a measure needs scores.
    """
    asked = names_asked(measures)
    for system, task in each_task(tasks):
        for one in measures:
            if "scores" in one.definition.needs and not _has_scores(task):
                raise InputError(
                    f"{one} needs scores, and the predictions have none",
                    where=system,
                    remedy="give a matrix of scores, or leave it out",
                )
    return {
        system: {part: _with_lists(task, asked, options) for part, task in parts.items()}
        for system, parts in tasks.items()
    }


def _has_scores(task: ClassTask) -> bool:
    return not isinstance(task.scores, RankedLists) or task.scores.side.scores is not None


def _with_lists(task: ClassTask, asked: Sequence[str], options: Options) -> ClassTask:
    """Add the lists that are asked for and are not there."""
    known = task.class_list
    more = {
        name: find_list(name, options, task.named, known)
        for name in asked
        if name not in task.named
    }
    listed = {name: identity_of(sorted(some)) for name, some in more.items()}
    return replace(task, named={**task.named, **more}, listed=listed)


def class_notes(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> list[str]:
    """Say what was classified, how many ties mattered, and what is outside of lists."""

    def of_task(name: str, task: Any) -> list[str]:
        found = noted.get(name) or task.odd
        lines = [_size_note(task, found), *_step_notes(found, task)]
        lines += [_NUMBERED] * bool(found.get("numbered")) + _outside_notes(task, found)
        for rest in sorted(found["rest"] & {SEEN, UNSEEN}):
            number = pluralize(len(task.named[rest]), "class")
            lines.append(f"{rest} are all others of the class list, {number}")
        return lines

    notes = task_notes(tasks, _COUNTS, of_task)
    notes += unused_weights(options["weights"], [*inputs[-1:]])
    first = next(task for _, task in each_task(tasks))
    notes += overlap_note(options, first.named.get(UNSEEN), first.class_list)
    for name in ("populations", "hops"):
        if isinstance(options[name], Weights):
            notes += options[name].notes
    asked = names_asked(measures)
    notes += number_notes(asked, options, first.named.get(UNSEEN), first.class_list)
    return notes + _idle_notes(measures, options, first) + different_items(tasks)


def _size_note(task: ClassTask, found: Mapping[Any, Any]) -> str:
    number = len(found["present"]) if task.given is None else task.given
    sides = [f"{len(task.named[n]):,} {n}" for n in (SEEN, UNSEEN) if n in task.named]
    sides_text = f" ({', '.join(sides)})" if sides else ""
    known = f"{pluralize(number, 'class')}{' with images' * (task.given is None)}"
    ties = f"ties by {task.ties}" if task.ties == "position" else f"{task.ties} ties"
    return f"{pluralize(found['images'], 'image')}, {known}{sides_text}, {ties}"


def _step_notes(found: Mapping[Any, Any], task: ClassTask) -> list[str]:
    """Write what steps noted for each name of candidates."""
    lines, known = [], {ALL: task.class_list, **task.named}
    for key, number in found.items():
        if not isinstance(key, tuple) or not number:
            continue
        what, candidates, *k = key
        among = "" if candidates == ALL else f" with candidates={candidates}"
        images = pluralize(number, "image", "have")
        if what == "tied":
            cut = f"is among the first {k[0]:,}" if k[0] > 1 else "comes first"
            line = f"{images} a tie that may decide whether the class {cut}{among}"
        elif what == "fewer":
            line = f"{images} fewer than {pluralize(k[0], 'ranked class')}{among}"
            if len(known[candidates]) < k[0]:
                some = pluralize(len(known[candidates]), "class")
                line = f"there are {some}{among}, fewer than {k[0]:,}"
            line += f", all of which count at @{k[0]}"
        elif what == "nothing":
            line = f"{images} no prediction{among}"
        else:
            continue
        lines.append(line)
    return lines


def _outside_notes(task: ClassTask, found: Mapping[Any, Any]) -> list[str]:
    """Say which classes have no image, and what is outside of lists."""
    known, lines = task.class_list, []
    without = [name for name in known if name not in found["present"]]
    if without and task.given is not None:
        have, count = (agreeing(len(without), verb) for verb in ("have", "count"))
        lines.append(
            f"{len(without):,} of {pluralize(len(known), 'class')} {have} no image, and {count} in "
            f"no mean over classes: {listing(without, most=3)}"
        )
    if found.get("outside"):
        names = listing(sorted(found["misses"]), most=3)
        lines.append(
            f"{pluralize(found['outside'], 'prediction', 'are')} outside the class list, and no "
            f"class of an image: {names}"
        )
    if found.get("neither"):
        images = pluralize(found["neither"], "image", "are")
        lines.append(f"{images} of classes neither seen nor unseen")
    return lines


def _idle_notes(measures: Sequence[Measure], options: Options, task: ClassTask) -> list[str]:
    """Say which lists no measure asks for, and which list some measures would ask for."""
    asked = names_asked(measures)
    lost = [name for name in options["class_lists"] or () if name not in asked]
    notes = [f"no measure names the class list {name}" for name in lost]
    for name, other in ((SEEN, UNSEEN), (UNSEEN, SEEN)):
        if other in task.named and name not in task.named and not {SEEN, UNSEEN} & {*asked}:
            notes.append(": ".join(explain_unknown_side(name, task.named, task.class_list)))
    return notes


KIND = Kind(
    name="classes",
    read_beside=read_beside,
    read=read,
    make_tasks=make_tasks,
    defaults=defaults,
    fill_entry=fill_entry,
    prepare=prepare,
    notes=class_notes,
)
