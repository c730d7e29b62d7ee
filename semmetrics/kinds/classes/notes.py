"""What a user should know of classes besides the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.data.tasks import ALL, ClassTask
from semmetrics.errors import Fact
from semmetrics.kinds import item_notes, note_builders, odd_texts, sample_weights
from semmetrics.kinds.base import (
    Measures,
    Notes,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.classes.class_lists import (
    _NUMBERED,
    code_names,
    names_asked,
    unknown_side,
)
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.class_predictions import SEEN, UNSEEN

_NUMBERS = {"populations": "M500", "hops": "2H"}  # options and lists that they give
_CODES = {  # what steps note of candidates
    "tied": "tied-classes",
    "fewer": "fewer-classes",
    "few": "few-classes",
    "nothing": "no-prediction",
}

_SHOWN_MISSES = 3  # predicted classes outside the class list that are named


def class_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Note what was classified, how many ties mattered, and what is outside of lists."""
    facts: list[Fact] = []
    for name, task in each_task(tasks):
        facts += item_notes.count_facts(name, task)
        observed = noted.get(name, task.observations)
        if observed.is_empty:
            observed = task.observations
        facts += _task_notes(name, task, observed)
    facts += sample_weights.unused_weights(options.weights, inputs[-1:])
    _, first = next(each_task(tasks))
    unseen, classes = first.named.get(UNSEEN), first.class_list
    # otherwise a class that is written in another way is not in the list
    if first.given is None:
        facts += odd_texts.find_odd_texts(classes, "class")
    known = options.pretraining
    if known is not None and unseen is None:
        facts.append(
            note_builders.no_effect("pretraining", "unseen classes are not given")
        )
    elif known is not None:
        codes, _ = code_names(known, classes)
        both = sorted(
            unseen.intersection(classes[code] for code in codes.tolist() if code >= 0)
        )
        which = f": {listing(both)}" if both else ""
        values = {"total": len(unseen), "known": len(known), "which": which}
        facts.append(Fact("pretraining-overlap", len(both), (), "", values))
    asked = names_asked(measures)
    facts += [fact for option in _NUMBERS for fact in options.value(option).notes]
    for option in _NUMBERS:
        facts += _number_facts(
            option, asked, options, unseen or frozenset(classes), classes
        )
    lost = [name for name in options.class_lists or () if name not in asked]
    facts += [Fact("unused-list", values={"name": name}) for name in lost]
    for name, other in ((SEEN, UNSEEN), (UNSEEN, SEEN)):
        if (
            other in first.named
            and name not in first.named
            and not {SEEN, UNSEEN} & {*asked}
        ):
            error = unknown_side(name, first.named, classes)
            facts.append(Fact(error.code, values=error.values))
    return facts + item_notes.different_items(tasks)


def _task_notes(where: str, task: ClassTask, observed: Observations) -> list[Fact]:
    """Note the size of a task, how many ties mattered, and what is outside of lists of classes."""
    notes: list[Fact] = []
    # The first part of the data has what is counted of all items.
    if observed.has("images"):
        values = {"how": _describe_classes(task, observed)}
        n_images = observed.number("images")
        notes.append(Fact("run-of-classes", n_images, (), where, values))
    notes += _candidate_notes(where, task, observed)
    if observed.number("numbered"):
        notes.append(Fact("numbers-as-places", where=where))
    if task.given is not None and observed.has("images"):
        present = observed.names_of("present")
        without_images = [name for name in task.class_list if name not in present]
        total = len(task.class_list)
        code = "classes-without-images"
        notes += note_builders.named(code, without_images, where, total=total)
    misses = sorted(observed.names_of("misses"))[:_SHOWN_MISSES]
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
    if task.given is None:
        n_classes = len(observed.names_of("present"))
        text = f"{pluralize(n_classes, 'class')} with images"
    else:
        text = pluralize(task.given, "class")
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
    """Note ties, short rankings and missing predictions, for each list of candidates."""
    notes: list[Fact] = []
    for key, n in observed.counts.items():
        what = str(key[0])
        if what not in _CODES:
            continue
        candidates = str(key[1])
        k: Any = 1
        if len(key) > 2:
            k = key[2]
        among = ""
        names: Any = task.class_list
        if candidates != ALL:
            among = f" with candidates={candidates}"
            names = task.named[candidates]
        values: dict[str, Any] = {"k": str(k), "among": among}
        if what == "fewer" and task.given is not None and len(names) < k:
            what = "few"
            values["n_classes"] = len(names)
        notes += note_builders.counted(_CODES[what], n, (), where, **values)
    return notes


def _number_facts(
    option: str,
    asked: Sequence[str],
    options: Options,
    among: frozenset[str],
    classes: Any,
) -> list[Fact]:
    """Note which (unseen) classes have no number, and which numbers no class."""
    values, example, own = (
        options.value(option).values,
        _NUMBERS[option],
        options.class_lists or {},
    )
    if values is None:
        return []
    forms = [_NUMBERED.fullmatch(name) for name in asked if name not in own]
    if not any(form and bool(form["hops"]) == (option == "hops") for form in forms):
        return [
            note_builders.no_effect(
                option, f"no measure names a list such as {example}"
            )
        ]
    lost = (one for one in classes if one not in values and one in among)
    strange = (name for name in values if name not in {*classes})
    facts = note_builders.named("unnumbered-classes", lost, option, example=example)
    return facts + note_builders.named("numbers-of-no-class", strange, option)
