"""The record of classes: how scores and classes are read, joined, scored and shown.

Conventions
-----------
The class list is that of the option, or the names of a matrix's columns, or seen and unseen classes
together; without any, all classes that either side names. A predicted class outside the class list
is a miss. Images are joined by id, or by position.

A class is given by its name, or by its place in the class list, from 0, where none of the names is
a number. ``M500`` and ``L500`` are the most and the least populated classes, ``2H`` those within
two hops, as papers write them; ``1K`` is 1000. Where unseen classes are named, these alone take
part. Of equal populations those first in the class list come first.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.hashing import identity_of
from semmetrics.core.ragged import Ints
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights, aligned_weights, join_rows
from semmetrics.data.lists import Lists, take_ids
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.data.rankings import RankedLists, check_repeats
from semmetrics.data.side_inputs import read_names
from semmetrics.data.tasks import ALL, ClassScores, ClassTask, Noted
from semmetrics.errors import Fact, InputError, at
from semmetrics.kinds import (
    Defaults,
    Kind,
    Measures,
    Notes,
    Options,
    Tasks,
    common,
    each_task,
)
from semmetrics.kinds.classes import as_classes, as_truth
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.class_predictions import SEEN, UNSEEN
from semmetrics.metrics.classes import LISTS, RESERVED
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import flat_terms
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
_CODES = {  # what steps note of candidates
    "tied": "tied-classes",
    "fewer": "fewer-classes",
    "few": "few-classes",
    "nothing": "no-prediction",
}
_NUMBERED = re.compile(r"(?P<most>[ML])(?P<size>\d{1,9}K?)|(?P<hops>\d{1,4})H")
_FIRST = 3  # predictions that an item shows


def read_beside(options: Options) -> Options:
    """Read the lists of classes, their numbers, and the weights."""
    files = (options["read"] or ReadOptions()).beside()
    lists = {str(name): some for name, some in (options["class_lists"] or {}).items()}
    for name in lists:
        if name in (SEEN, UNSEEN, *RESERVED):
            raise InputError("reserved-list", "class_lists", name=name)
    return options.replace(
        **{
            name: read_names(options[name], files, name, "class name")
            for name in _LISTED
        },
        **{name: _read_numbers(options[name], files, name) for name in _NUMBERS},
        weights=common.read_weights(options["weights"], files),
        class_lists={
            name: read_names(some, files, f"class_lists, {name}", "class name")
            for name, some in lists.items()
        },
    )


def _read_numbers(given: Any, files: ReadOptions, option: str) -> Weights:
    """Read a number for each class; its values are None if it is not a mapping."""
    found = common.read_weights(given, files, option)
    found = found if isinstance(found, Weights) else Weights(found, option)
    if not isinstance(found.values, Mapping):
        return replace(found, values=None)
    read: dict[str, float] = {}
    for name, value in found.values.items():
        where = at(option, "", str(name))
        if str(name) in read:
            raise InputError("duplicate", where, role="the class", value=str(name))
        read[str(name)] = as_number(value, "the number", where)
        if read[str(name)] < 0:
            wanted = "a number from 0"
            raise InputError(
                "out-of-range", where, role="the number", value=value, wanted=wanted
            )
    return replace(found, values=read)


def read(data: Any, source: str, options: Options) -> Any:
    """Read one side; the class list names the columns of a matrix."""
    return as_classes(
        data, source=source, classes=options["classes"], options=options["read"]
    )


def make_tasks(preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
    """Make the task of each system."""
    return {name: {"": make_task(run, ref, options)} for name, run in preds.items()}


# ---- tasks, and lists of classes by name --------------------------------------------------------


def code_names(names: Sequence[str], classes: Sequence[str]) -> tuple[Ints, bool]:
    """Return the place of each name in the class list, -1 for none, and whether names are places.

    Examples
    --------
    >>> [codes.tolist() for codes, _ in (code_names(["dog"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["1", "2"]))]
    [[1], [1, 0], [0, -1]]
    """
    codes, lost = common.find_names(names, classes)
    named = len(lost) < len(names) or any(map(_is_number, classes))
    if named or not lost or not all(map(_is_number, names)):
        return codes, False
    numbers = np.fromiter(map(int, names), np.int64, len(names))
    return np.where((numbers >= 0) & (numbers < len(classes)), numbers, -1), True


def _is_number(name: str) -> bool:
    return name.isascii() and name.removeprefix("-").isdecimal() and len(name) < 18


def named_sides(
    options: Options, classes: Sequence[str], *, whole: bool
) -> tuple[dict[str, frozenset[str]], str]:
    """Return the seen and unseen classes, as far as they are known, and which side is the rest.

    Parameters
    ----------
    options : ResolvedOptions
    classes : sequence of str
        The class list.
    whole : bool
        Whether it is known whole, so that what is not seen is unseen.

    Raises
    ------
    InputError
        If a class is on both sides, or is not in the class list.
    """
    named = {
        name: frozenset(_listed(options[name], classes, name))
        for name in (SEEN, UNSEEN)
        if options[name] is not None
    }
    both = frozenset.intersection(*named.values()) if len(named) > 1 else ()
    if both:
        raise InputError("seen-and-unseen", n=len(both), names=sorted(both))
    if len(named) == 1 and whole:
        (name,) = named
        if rest := frozenset(classes) - named[name]:
            other = UNSEEN if name == SEEN else SEEN
            return {**named, other: rest}, other
    return named, ""


def _listed(names: Sequence[str], classes: Sequence[str], where: str) -> list[str]:
    """Return the names of listed classes; refuse those outside the class list."""
    codes, _ = code_names(names, classes)
    if lost := [names[i] for i in np.flatnonzero(codes < 0).tolist()]:
        raise common.outside_classes(lost[0], classes, where, "the class")
    return [classes[code] for code in codes.tolist()]


def names_asked(measures: Measures) -> list[str]:
    """Return the names of the lists that measures, or their terms, need."""
    flat = flat_terms(measures)
    found = [
        str(one[option]) for one in flat for option in LISTS if one[option] is not None
    ]
    if any("scores" in one.definition.needs for one in flat):
        found += [SEEN, UNSEEN]
    return [name for name in dict.fromkeys(found) if name not in RESERVED]


def find_list(
    name: str, options: Options, named: Mapping[str, Any], classes: Sequence[str]
) -> Any:
    """Return the classes of a named list: the user's own, or else one made from numbers.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    given = options["class_lists"] or {}
    if name in given:
        return frozenset(_listed(given[name], classes, f"class list {name}"))
    if name in (SEEN, UNSEEN):
        raise unknown_side(name, named, classes)
    form = _NUMBERED.fullmatch(name)
    if form is None:
        remedy = f"give class_lists={{{name!r}: ...}} (--class-list {name}=FILE)"
        raise InputError("unknown-name", what="class list", value=name, remedy=remedy)
    among = [one for one in classes if one in named.get(UNSEEN, classes)]
    option = "hops" if form["hops"] else "populations"
    numbers = options[option].values
    if numbers is None:
        raise InputError("needs-option", what=f"the list {name}", name=option)
    if form["hops"]:
        of = {one: numbers[one] for one in among if one in numbers}
        found = frozenset(one for one, hops in of.items() if hops <= int(form["hops"]))
        if not found:
            nearest = f"{min(of.values()):g} hops" if of else "none"
            raise InputError("empty-list", "hops", name=name, nearest=nearest)
        return found
    size = int(form["size"].replace("K", "000"))
    if lost := [one for one in among if one not in numbers]:
        raise InputError(
            "without-value",
            "populations",
            n=len(lost),
            noun="class",
            what="number",
            names=lost,
        )
    if not 0 < size <= len(among):
        wanted = f"a size from 1 to {len(among):,}"
        raise InputError(
            "out-of-range", "populations", role="the list", value=name, wanted=wanted
        )
    return frozenset(
        sorted(among, key=numbers.__getitem__, reverse=form["most"] == "M")[:size]
    )


def unknown_side(
    name: str, named: Mapping[str, Any], classes: Sequence[str]
) -> InputError:
    """Return why the seen or the unseen classes are not known."""
    other = UNSEEN if name == SEEN else SEEN
    if other in named and named[other].issuperset(classes):
        return InputError("empty-side", side=name, other=other)
    return InputError("unknown-side", side=name, other=other)


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
        raise common.outside_classes(name, classes[:given], where, "the class")
    scores, classes = _scores(run, classes)
    named, rest = named_sides(options, classes[:given], whole=given is not None)
    joined, rows = join_rows(
        run.ids, truth, source=run.source, missing=options["missing"]
    )
    kept = np.flatnonzero(joined.ref.sizes)
    counts, weights, ids = dict(joined.counts), options["weights"], joined.ids
    if len(kept) < len(rows):
        counts["without_class"] = counts.pop("missing_reference")
        ids = take_ids(ids, kept)
    settings = options.settings("classes")
    if options["classes"] is not None:
        settings["classes"] = identity_of(options["classes"])
    settings |= {
        name: identity_of(sorted(named[name]))
        for name in (SEEN, UNSEEN)
        if options[name]
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
        ties=options["ties"],
        named=named,
        weights=None if weights is None else aligned_weights(weights, truth, ids),
    )
    odd: dict[Hashable, Noted] = {"numbered": int(numbered), "rest": frozenset({rest})}
    return replace(task, odd=odd | _found(task))


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
            raise InputError("differing-classes", run.source, n=len(lost), names=lost)
        return names, len(names)
    if listed is None and options[SEEN] is not None and options[UNSEEN] is not None:
        listed = list(dict.fromkeys([*options[SEEN], *options[UNSEEN]]))
    if listed is not None:
        return list(listed), len(listed)
    sides = (
        truth.vocabulary,
        run.vocabulary,
        options[SEEN] or (),
        options[UNSEEN] or (),
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


# ---- measures and facts ------------------------------------------------------------------------


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
    return not lists or int(task.scores.side.sizes.max(initial=0)) > 1  # type: ignore[union-attr]


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Name the lists of classes that a measure lacks."""
    (measure,), every = parse(text, "classes"), [task for _, task in each_task(tasks)]
    known = {name for task in every for name in task.named}
    asked = [name for name in names_asked([measure]) if name in (SEEN, UNSEEN)]
    if lacking := [OPTIONS[name].both for name in asked if name not in known]:
        return text, f"needs {' and '.join(lacking)}"
    ranked = measure["candidates"] in (None, ALL) or all(map(_has_ranking, every))
    return text, "" if ranked else _NEEDS_RANKING


def prepare(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Hand over the lists of classes that measures name.

    Raises
    ------
    InputError
        If there is no such list, it holds none of the classes, or a measure needs scores.
    """
    asked, prepared = names_asked(measures), {}
    for system, parts in tasks.items():
        (task,) = parts.values()
        for one in measures:
            lists = isinstance(task.scores, RankedLists)
            if (
                "scores" in one.definition.needs
                and lists
                and task.scores.side.scores is None
            ):
                raise InputError("measure-needs-scores", system, measure=str(one))
        lacking = [name for name in asked if name not in task.named]
        more = {
            name: find_list(name, options, task.named, task.class_list)
            for name in lacking
        }
        listed = {name: identity_of(sorted(some)) for name, some in more.items()}
        prepared[system] = {
            "": replace(task, named={**task.named, **more}, listed=listed)
        }
    return prepared


def class_facts(
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
    facts += common.unused_weights(options["weights"], inputs[-1:])
    _, first = next(each_task(tasks))
    unseen, classes = first.named.get(UNSEEN), first.class_list
    # otherwise a class that is written in another way is not in the list
    if first.given is None:
        facts += common.find_odd_texts(classes, "class")
    known = options["pretraining"]
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
    facts += [fact for option in _NUMBERS for fact in options[option].notes]
    for option in _NUMBERS:
        facts += _number_facts(
            option, asked, options, unseen or frozenset(classes), classes
        )
    lost = [name for name in options["class_lists"] or () if name not in asked]
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
        options[option].values,
        _NUMBERS[option],
        options["class_lists"] or {},
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
    names = (
        list(map(str, found.vocabulary))
        if isinstance(found, Lists) or found.named
        else []
    )
    odd = common.find_odd_texts(names, "class") + common.find_odd_ids(found.ids)
    if isinstance(found, Matrix):
        if found.values.dtype.kind == "f":
            check_finite(found.values, found.source)
        return common.describe_input(found, odd)
    number = np.bincount(found.side.codes, minlength=len(names)).tolist()
    counts = sorted(
        zip(names, number, strict=True), key=lambda pair: (-pair[1], pair[0])
    )
    return common.describe_input(
        found,
        common.find_gaps(found) + odd,
        classes=len(names),
        counts=counts,
        cardinality=common.describe_sizes(found.side.indptr) if len(found) else None,
    )


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        return common.format_matrix(record, "images", "scores")
    sizes = record["cardinality"]
    one = sizes is None or (sizes["min"], sizes["max"]) == (1, 1)
    return {
        "images": common.format_known(record),
        "classes": f"{record['classes']:,}",
        "most frequent": common.format_counts(record["counts"]),
        "an image": "" if one else common.format_spread(sizes),
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
        common.on_one_line(f"class  {record['class']} ({rank})"),
        common.on_one_line(f"first  {', '.join(record['first'])}"),
    ]


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means, and what predictions a measure takes."""
    return {
        "cutoff": "@k, the first k classes; the first alone without it"
        * definition.cutoff,
        "predictions": "scores of seen and unseen classes"
        * ("scores" in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes."""
    return {
        "predictions": "scores of images (rows) and classes (columns), or the predicted classes",
        "classes": "seen= (--seen FILE) and unseen= (--unseen FILE)",
    }


KIND = Kind(
    "classes", read_beside, read, make_tasks, defaults, fill_entry, prepare, class_facts
)
