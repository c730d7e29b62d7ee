"""Notes on classes: tasks and ties, lists of classes, and options without effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.data.tasks.classes import ALL, ClassTask
from semmetrics.errors import Fact
from semmetrics.kinds import item_notes, note_builders, odd_texts, sample_weights
from semmetrics.kinds.base import (
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.classes.class_lists import (
    EXAMPLE_LIST_OF_OPTION,
    NUMBERED_LIST,
    code_names,
    requested_lists,
    unknown_side_error,
)
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.class_predictions import SEEN, UNSEEN

_NOTES_ON_CANDIDATES = {
    "tied": "tied-classes",
    "fewer": "fewer-classes",
    "few": "few-classes",
    "nothing": "no-prediction",
}
"""The codes of notes on predictions, by the code of the observation."""
_MAX_SHOWN_MISSES = 3
"""How many predicted classes outside the class list a note shows."""


def class_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    observations: ObservationsByTask,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Return notes on tasks and ties, classes outside of lists, and options without effect."""
    notes: list[Fact] = []
    for name, task in each_task(tasks):
        notes += item_notes.count_facts(name, task)
        observed = observations.get(name, task.observations)
        if observed.is_empty:
            observed = task.observations
        notes += _task_notes(name, task, observed)
    notes += sample_weights.unused_weights(options.weights, inputs[-1:])
    _, first_task = next(each_task(tasks))
    if first_task.n_listed is None:
        # With a class list, a class that is spelled differently is not in the list.
        notes += odd_texts.find_odd_texts(first_task.class_list, "class")
    notes += _pretraining_notes(first_task, options)
    notes += _list_notes(first_task, requested_lists(measures), options)
    return notes + item_notes.different_items(tasks)


# ---- notes on a task ----------------------------------------------------------------------------


def _task_notes(where: str, task: ClassTask, observed: Observations) -> list[Fact]:
    """Return notes on the size of a task, ties, and classes outside of lists."""
    notes: list[Fact] = []
    # Only the first part of the data has the observations on all items.
    if observed.has("images"):
        values = {"how": _describe_classes(task, observed)}
        n_images = observed.number("images")
        notes.append(Fact("run-of-classes", n_images, (), where, values))
    notes += _candidate_notes(where, task, observed)
    if observed.number("numbered"):
        notes.append(Fact("numbers-as-places", where=where))
    if task.n_listed is not None and observed.has("images"):
        present = observed.names_of("present")
        without_images = [name for name in task.class_list if name not in present]
        total = len(task.class_list)
        code = "classes-without-images"
        notes += note_builders.named(code, without_images, where, total=total)
    misses = sorted(observed.names_of("misses"))[:_MAX_SHOWN_MISSES]
    n_outside = observed.number("outside")
    notes += note_builders.counted("predicted-outside", n_outside, misses, where)
    notes += note_builders.counted(
        "neither-side", observed.number("neither"), (), where
    )
    for side in (SEEN, UNSEEN):
        if side in observed.names_of("rest"):
            n_classes = len(task.named[side])
            notes.append(Fact("rest-of-classes", n_classes, (), where, {"side": side}))
    return notes


def _describe_classes(task: ClassTask, observed: Observations) -> str:
    """Write how many classes there are, how many of each side, and the rule for ties."""
    if task.n_listed is None:
        n_classes = len(observed.names_of("present"))
        text = f"{pluralize(n_classes, 'class')} with images"
    else:
        text = pluralize(task.n_listed, "class")
    sides = []
    for side in (SEEN, UNSEEN):
        if side in task.named:
            sides.append(f"{len(task.named[side]):,} {side}")
    if sides:
        text += f" ({', '.join(sides)})"
    if task.ties == "position":
        return f"{text}, ties by position"
    return f"{text}, {task.ties} ties"


def _candidate_notes(where: str, task: ClassTask, observed: Observations) -> list[Fact]:
    """Return notes on ties, short rankings and missing predictions, for each list of candidates."""
    notes: list[Fact] = []
    for key, n in observed.counts.items():
        observation = str(key[0])
        if observation not in _NOTES_ON_CANDIDATES:
            continue
        candidates = str(key[1])
        k = 1
        if len(key) > 2:
            k = int(str(key[2]))
        among = ""
        n_classes = len(task.class_list)
        if candidates != ALL:
            among = f" with candidates={candidates}"
            n_classes = len(task.named[candidates])
        values: dict[str, Any] = {"k": str(k), "among": among}
        if observation == "fewer" and task.n_listed is not None and n_classes < k:
            observation = "few"
            values["n_classes"] = n_classes
        code = _NOTES_ON_CANDIDATES[observation]
        notes += note_builders.counted(code, n, (), where, **values)
    return notes


# ---- notes on options ---------------------------------------------------------------------------


def _pretraining_notes(task: ClassTask, options: Options) -> list[Fact]:
    """Return a note on how many unseen classes occur in the pretraining data."""
    pretraining = options.pretraining
    if pretraining is None:
        return []
    unseen = task.named.get(UNSEEN)
    if unseen is None:
        return [
            note_builders.no_effect("pretraining", "the unseen classes are not given")
        ]
    codes, _ = code_names(pretraining, task.class_list)
    pretrained = {task.class_list[code] for code in codes.tolist() if code >= 0}
    both = sorted(unseen & pretrained)
    shown_classes = ""
    if both:
        shown_classes = f": {listing(both)}"
    values = {"total": len(unseen), "known": len(pretraining), "which": shown_classes}
    return [Fact("pretraining-overlap", len(both), (), "", values)]


def _list_notes(
    task: ClassTask, used_lists: Sequence[str], options: Options
) -> list[Fact]:
    """Return notes on lists of classes without effect, and on classes without a number.

    Parameters
    ----------
    task : ClassTask
    used_lists : sequence of str
        The names of the lists that measures use.
    options : ResolvedOptions
    """
    class_lists = options.class_lists or {}
    from_numbers = [name for name in used_lists if name not in class_lists]
    notes: list[Fact] = []
    for option in EXAMPLE_LIST_OF_OPTION:
        notes += options.value(option).notes
    for option in EXAMPLE_LIST_OF_OPTION:
        numbers = options.value(option).values
        if numbers is not None:
            notes += _number_notes(option, numbers, task, from_numbers)
    for name in class_lists:
        if name not in used_lists:
            notes.append(Fact("unused-list", values={"name": name}))
    if SEEN not in used_lists and UNSEEN not in used_lists:
        notes += _side_notes(task)
    return notes


def _number_notes(
    option: str,
    numbers: Mapping[str, float],
    task: ClassTask,
    list_names: Sequence[str],
) -> list[Fact]:
    """Return notes on candidates without a number, and on numbers of names that are not classes.

    Parameters
    ----------
    option : {"populations", "hops"}
    numbers : mapping from class to float
    task : ClassTask
    list_names : sequence of str
        The names of lists that measures use and the user does not give.
    """
    example = EXAMPLE_LIST_OF_OPTION[option]
    if not any(_option_of_list(name) == option for name in list_names):
        return [
            note_builders.no_effect(
                option, f"no measure names a list such as {example}"
            )
        ]
    classes = set(task.class_list)
    candidates = task.named.get(UNSEEN) or classes
    unnumbered = []
    for name in task.class_list:
        if name in candidates and name not in numbers:
            unnumbered.append(name)
    unknown_names = [name for name in numbers if name not in classes]
    notes = note_builders.named(
        "unnumbered-classes", unnumbered, option, example=example
    )
    return notes + note_builders.named("numbers-of-no-class", unknown_names, option)


def _option_of_list(name: str) -> str:
    """Return the option that gives the numbers of a list, or "" if it is not made from numbers."""
    match = NUMBERED_LIST.fullmatch(name)
    if match is None:
        return ""
    return "hops" if match["hops"] else "populations"


def _side_notes(task: ClassTask) -> list[Fact]:
    """Return a note if only the seen or only the unseen classes are given."""
    notes = []
    for side, other in ((SEEN, UNSEEN), (UNSEEN, SEEN)):
        if other in task.named and side not in task.named:
            error = unknown_side_error(side, task.named, task.class_list)
            notes.append(Fact(error.code, values=error.values))
    return notes
