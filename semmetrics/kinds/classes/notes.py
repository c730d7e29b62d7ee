"""What a user should know of classes besides the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.tasks import ALL, ClassTask
from semmetrics.errors import Fact
from semmetrics.kinds import common
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
from semmetrics.metrics.classes import SEEN, UNSEEN

_NUMBERS = {"populations": "M500", "hops": "2H"}  # options and lists that they give
_CODES = {  # what steps note of candidates
    "tied": "tied-classes",
    "fewer": "fewer-classes",
    "few": "few-classes",
    "nothing": "no-prediction",
}


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
        facts += common.count_facts(name, task)
        facts += _task_facts(name, task, noted.get(name) or task.odd)
    facts += common.unused_weights(options.weights, inputs[-1:])
    _, first = next(each_task(tasks))
    unseen, classes = first.named.get(UNSEEN), first.class_list
    # otherwise a class that is written in another way is not in the list
    if first.given is None:
        facts += common.find_odd_texts(classes, "class")
    known = options.pretraining
    if known is not None and unseen is None:
        facts.append(common.no_effect("pretraining", "unseen classes are not given"))
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
    return facts + common.different_items(tasks)


def _task_facts(where: str, task: ClassTask, found: Mapping[Any, Any]) -> list[Fact]:
    """Note the sizes of a task, what steps noted of candidates, and what is outside of lists."""
    # what is counted of all items is not with every part of them
    number = len(found.get("present", ())) if task.given is None else task.given
    sides = [f"{len(task.named[n]):,} {n}" for n in (SEEN, UNSEEN) if n in task.named]
    how = f"{pluralize(number, 'class')}{' with images' * (task.given is None)}"
    how += f" ({', '.join(sides)})" if sides else ""
    how += (
        f", ties by {task.ties}" if task.ties == "position" else f", {task.ties} ties"
    )
    facts: list[Fact] = []
    if "images" in found:
        facts.append(Fact("run-of-classes", found["images"], (), where, {"how": how}))
    names, known = {ALL: task.class_list, **task.named}, task.class_list
    for key, n in found.items():
        if not isinstance(key, tuple) or key[0] not in _CODES:
            continue
        what, candidates, k = (*key, 1)[:3]
        among = "" if candidates == ALL else f" with candidates={candidates}"
        values: dict[str, Any] = {"k": str(k), "among": among}
        if what == "fewer" and task.given is not None and len(names[candidates]) < k:
            what, values = "few", {**values, "n_classes": len(names[candidates])}
        facts += common.counted(_CODES[what], n, (), where, **values)
    facts += [Fact("numbers-as-places", where=where)] * bool(found.get("numbered"))
    if task.given is not None and "present" in found:
        without = (name for name in known if name not in found["present"])
        facts += common.named(
            "classes-without-images", without, where, total=len(known)
        )
    misses = sorted(found.get("misses", ()))[:3]
    facts += common.counted("predicted-outside", found.get("outside", 0), misses, where)
    facts += common.counted("neither-side", found.get("neither", 0), (), where)
    for rest in sorted(found.get("rest", frozenset()) & {SEEN, UNSEEN}):
        facts.append(
            Fact("rest-of-classes", len(task.named[rest]), (), where, {"side": rest})
        )
    return facts


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
        return [common.no_effect(option, f"no measure names a list such as {example}")]
    lost = (one for one in classes if one not in values and one in among)
    strange = (name for name in values if name not in {*classes})
    facts = common.named("unnumbered-classes", lost, option, example=example)
    return facts + common.named("numbers-of-no-class", strange, option)
