"""The record of classes: how scores and classes are read, joined, scored and shown."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import lengths
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.data.rankings import RankedLists
from semmetrics.data.side_inputs import read_names
from semmetrics.data.tasks import ALL, ClassTask
from semmetrics.errors import Fact, InputError, at
from semmetrics.kinds import (
    Defaults,
    Facts,
    Kind,
    Options,
    Tasks,
    count_facts,
    different_items,
    each_task,
    no_effect,
    read_weights,
    unused_weights,
)
from semmetrics.kinds.classes import as_classes
from semmetrics.kinds.classes.lists import (
    code_names,
    find_list,
    list_form,
    make_task,
    names_asked,
    unknown_side,
)
from semmetrics.kinds.describe import (
    describe_input,
    describe_matrix,
    describe_sizes,
    find_gaps,
    find_odd_ids,
    find_odd_texts,
    format_counts,
    format_known,
    format_matrix,
    format_spread,
    on_one_line,
    some_of,
)
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.classes import RESERVED, SEEN, UNSEEN
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS
from semmetrics.schema import as_number

FILES = (  # of an example
    "--task classes --classes classes.txt --seen seen.txt --unseen unseen.txt scores.npy truth.txt"
)
_PLAIN = ("PerClassAccuracy", "Accuracy")
_GENERALISED = ("UnseenAccuracy", "SeenAccuracy", "H")
_LISTED = ("classes", SEEN, UNSEEN, "pretraining")
_ZERO_SHOT = "PerClassAccuracy(labels=unseen,candidates=unseen)"
_NEEDS_RANKING = (
    "restricts predictions to some classes, and there is one class for each image: give scores or "
    "ranked classes"
)
_NUMBERS = {"populations": "M500", "hops": "2H"}  # options and lists that they give
_FIRST = 3  # predictions that an item shows


def read_beside(options: Options) -> Options:
    """Read the lists of classes, their numbers, and the weights."""
    check_choice("ties", options["ties"], OPTIONS["ties"].choices)
    files = (options["read"] or ReadOptions()).beside()
    lists = {str(name): some for name, some in (options["class_lists"] or {}).items()}
    for name in lists:
        if name in (SEEN, UNSEEN, *RESERVED):
            raise InputError("reserved-list", "class_lists", name=name)
    return options.replace(
        **{name: read_names(options[name], files, name, "class name") for name in _LISTED},
        **{name: _read_numbers(options[name], files, name) for name in _NUMBERS},
        weights=read_weights(options["weights"], files),
        class_lists={
            name: read_names(some, files, f"class_lists, {name}", "class name")
            for name, some in lists.items()
        },
    )


def _read_numbers(given: Any, files: ReadOptions, option: str) -> Any:
    """Read a number for each class; anything else than a mapping is refused when it is used."""
    found = read_weights(given, files, option)
    numbers = found.values if isinstance(found, Weights) else found
    if not isinstance(numbers, Mapping):
        return found
    read = {}
    for name, value in numbers.items():
        where = at(option, "", str(name))
        if str(name) in read:
            raise InputError("duplicate", where, role="the class", value=str(name))
        read[str(name)] = as_number(value, "the number", where)
        if read[str(name)] < 0:
            wanted = "a number from 0"
            raise InputError("out-of-range", where, role="the number", value=value, wanted=wanted)
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
    """Name the lists of classes that a measure lacks."""
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
            lists = isinstance(task.scores, RankedLists)
            if "scores" in one.definition.needs and lists and task.scores.side.scores is None:
                raise InputError("measure-needs-scores", system, measure=str(one))
    return {
        system: {part: _with_lists(task, asked, options) for part, task in parts.items()}
        for system, parts in tasks.items()
    }


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


def class_facts(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> Facts:
    """Note what was classified, how many ties mattered, and what is outside of lists."""
    facts: Facts = []
    for name, task in each_task(tasks):
        found = noted.get(name) or task.odd
        facts += count_facts(name, task) + _task_facts(name, task, found)
    facts += unused_weights(options["weights"], inputs[-1:])
    _, first = next(each_task(tasks))
    unseen, classes = first.named.get(UNSEEN), first.class_list
    known = options["pretraining"]
    if known is not None and unseen is None:
        facts.append(no_effect("pretraining", "unseen classes are not given"))
    elif known is not None:
        codes, _ = code_names(known, classes)
        both = sorted(unseen.intersection(classes[code] for code in codes.tolist() if code >= 0))
        which = f": {listing(both)}" if both else ""
        values = {"total": len(unseen), "known": len(known), "which": which}
        facts.append(Fact("pretraining-overlap", len(both), (), "", values))
    asked = names_asked(measures)
    for option in _NUMBERS:
        facts += options[option].notes if isinstance(options[option], Weights) else ()
    for option in _NUMBERS:
        facts += _number_facts(option, asked, options, unseen, classes)
    lost = [name for name in options["class_lists"] or () if name not in asked]
    facts += [Fact("unused-list", values={"name": name}) for name in lost]
    for name, other in ((SEEN, UNSEEN), (UNSEEN, SEEN)):
        if other in first.named and name not in first.named and not {SEEN, UNSEEN} & {*asked}:
            error = unknown_side(name, first.named, classes)
            facts.append(Fact(error.code, values=error.values))
    return facts + different_items(tasks)


def _task_facts(where: str, task: ClassTask, found: Mapping[Any, Any]) -> Facts:
    """Note the sizes of a task, what steps noted of candidates, and what is outside of lists."""
    number = len(found["present"]) if task.given is None else task.given
    sides = [f"{len(task.named[n]):,} {n}" for n in (SEEN, UNSEEN) if n in task.named]
    how = f"{pluralize(number, 'class')}{' with images' * (task.given is None)}"
    how += f" ({', '.join(sides)})" if sides else ""
    how += f", ties by {task.ties}" if task.ties == "position" else f", {task.ties} ties"
    facts: Facts = [Fact("run-of-classes", found["images"], (), where, {"how": how})]
    names, known = {ALL: task.class_list, **task.named}, task.class_list
    for key, n in found.items():
        if not isinstance(key, tuple) or not n:
            continue
        what, candidates, k = (*key, 1)[:3]
        values: dict[str, Any] = {"k": str(k)}
        values["among"] = "" if candidates == ALL else f" with candidates={candidates}"
        if what == "tied":
            facts.append(Fact("tied-classes", n, (), where, values))
        elif what == "fewer" and len(names[candidates]) < k:
            values["n_classes"] = len(names[candidates])
            facts.append(Fact("few-classes", n, (), where, values))
        elif what == "fewer":
            facts.append(Fact("fewer-classes", n, (), where, values))
        elif what == "nothing":
            facts.append(Fact("no-prediction", n, (), where, values))
    facts += [Fact("numbers-as-places", where=where)] * bool(found.get("numbered"))
    without = [name for name in known if name not in found["present"]]
    if without and task.given is not None:
        n, examples, _, _ = some_of(without)
        facts.append(Fact("classes-without-images", n, examples, where, {"total": len(known)}))
    if found.get("outside"):
        examples = tuple(sorted(found["misses"])[:3])
        facts.append(Fact("predicted-outside", found["outside"], examples, where))
    if found.get("neither"):
        facts.append(Fact("neither-side", found["neither"], (), where))
    for rest in sorted(found["rest"] & {SEEN, UNSEEN}):
        facts.append(Fact("rest-of-classes", len(task.named[rest]), (), where, {"side": rest}))
    return facts


def _number_facts(
    option: str,
    asked: Sequence[str],
    options: Options,
    unseen: frozenset[str] | None,
    classes: Sequence[str],
) -> Facts:
    """Note which (unseen) classes have no number, and which numbers no class."""
    values, example = options[option], _NUMBERS[option]
    values = values.values if isinstance(values, Weights) else values
    own = options["class_lists"] or {}
    if values is None:
        return []
    if option not in {list_form(name) for name in asked if name not in own}:
        return [no_effect(option, f"no measure names a list such as {example}")]
    if not isinstance(values, Mapping):  # which is refused
        return []
    lost = [one for one in classes if one not in values and one in (unseen or classes)]
    strange = [name for name in values if name not in {*classes}]
    n, examples, _, more = some_of(lost, example=example)
    facts: Facts = [Fact("unnumbered-classes", n, examples, option, more)] if lost else []
    if strange:
        n, examples, _, _ = some_of(strange)
        facts.append(Fact("numbers-of-no-class", n, examples, option))
    return facts


# ---- what is shown of classes -------------------------------------------------------------------


def describe(found: Lists | Matrix) -> dict[str, Any]:
    """Describe scores of classes, or the classes of images.

    Returns
    -------
    dict
        Plain values, None for what is undefined. Of a matrix its "shape", "dtype" and "range"; of
        lists how many "classes" there are, how often each occurs ("counts"), and how many an image
        has ("cardinality").

    Examples
    --------
    >>> found = describe(as_classes(["cat", "dog", "cat"]))
    >>> found["items"], found["classes"], found["counts"]
    (3, 2, [('cat', 2), ('dog', 1)])
    """
    named = isinstance(found, Lists) or found.named
    names = list(map(str, found.vocabulary)) if named else []
    odd = find_odd_texts(names, "class") + find_odd_ids(found.ids)
    if isinstance(found, Matrix):
        if found.values.dtype.kind == "f":
            check_finite(found.values, found.source)
        return describe_input(found, odd, **describe_matrix(found))
    number = np.bincount(found.side.codes, minlength=len(names)).tolist()
    counts = sorted(zip(names, number, strict=True), key=lambda pair: (-pair[1], pair[0]))
    return describe_input(
        found,
        find_gaps(found) + odd,
        classes=len(names),
        counts=counts,
        cardinality=describe_sizes(found.side.indptr) if len(found) else None,
    )


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        return format_matrix(record, "images", "scores")
    sizes = record["cardinality"]
    one = sizes is None or (sizes["min"], sizes["max"]) == (1, 1)
    return {
        "images": format_known(record),
        "classes": f"{record['classes']:,}",
        "most frequent": format_counts(record["counts"]),
        "an image": "" if one else format_spread(sizes),
    }


def show_item(task: ClassTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show an image: its "class", its "rank" (None if not ranked), and the "first" classes."""
    candidates = measure["candidates"]
    columns = task.columns("all" if candidates is None else str(candidates))
    rank = int(task.place(row, row + 1, columns).ranks[0])
    first: Any = np.zeros(0, np.int64)
    if task.rows[row] >= 0:
        most = _FIRST
        if not isinstance(task.scores, RankedLists):
            most = min(most, task.scores.shape[1] if columns is None else len(columns))
        (first,) = task.scores.first(task.rows[row : row + 1], columns, most, None)
    return {
        "class": task.classes[task.truth[row]],
        "rank": rank or None,
        "first": [task.classes[code] for code in first.tolist()],
    }


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an image: its class, the rank of that, and what was ranked first."""
    rank = "not ranked" if record["rank"] is None else f"rank {record['rank']:,}"
    return [
        on_one_line(f"class  {record['class']} ({rank})"),
        on_one_line(f"first  {', '.join(record['first'])}"),
    ]


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means, and what predictions a measure takes."""
    return {
        "cutoff": "@k, the first k classes; the first alone without it" * definition.cutoff,
        "predictions": "scores of seen and unseen classes" * ("scores" in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes."""
    return {
        "predictions": "scores of images (rows) and classes (columns), or the predicted classes",
        "classes": "seen= (--seen FILE) and unseen= (--unseen FILE)",
    }


KIND = Kind(
    name="classes",
    read_beside=read_beside,
    read=read,
    make_tasks=make_tasks,
    defaults=defaults,
    fill_entry=fill_entry,
    prepare=prepare,
    facts=class_facts,
    describer=sys.modules[__name__],
)
