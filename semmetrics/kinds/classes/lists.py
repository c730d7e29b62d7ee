"""From predictions and classes to a task, and lists of classes by name.

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
from semmetrics.core.ragged import Codes, Ints, lengths
from semmetrics.data.join import aligned_weights, join_rows
from semmetrics.data.lists import Lists, take_ids
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import RankedLists, check_repeats
from semmetrics.data.tasks import ClassScores, ClassTask, Noted
from semmetrics.errors import InputError
from semmetrics.kinds import Options
from semmetrics.kinds.classes import as_truth
from semmetrics.messages import pluralize
from semmetrics.metrics.classes import LISTS, RESERVED, SEEN, UNSEEN
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import flat_terms

_NUMBERED = re.compile(r"(?P<most>[ML])(?P<size>\d{1,9}K?)|(?P<hops>\d{1,4})H")


def code_names(names: Sequence[str], classes: Sequence[str]) -> tuple[Ints, bool]:
    """Return the place of each name in the class list, -1 for none, and whether names are places.

    Examples
    --------
    >>> [codes.tolist() for codes, _ in (code_names(["dog"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["1", "2"]))]
    [[1], [1, 0], [0, -1]]
    """
    place = {name: code for code, name in enumerate(classes)}
    codes = np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))
    if not len(codes) or (codes >= 0).any() or not all(map(_is_number, names)):
        return codes, False
    if any(map(_is_number, classes)):
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
        rest = frozenset(classes) - named[name]
        if rest:
            other = UNSEEN if name == SEEN else SEEN
            return {**named, other: rest}, other
    return named, ""


def _listed(names: Sequence[str], classes: Sequence[str], where: str) -> list[str]:
    """Return the names of listed classes; refuse those outside the class list."""
    codes, _ = code_names(names, classes)
    lost = [names[i] for i in np.flatnonzero(codes < 0).tolist()]
    if lost:
        raise InputError(_outside(lost, classes), where, role="the class", value=lost[0])
    return [classes[code] for code in codes.tolist()]


def _outside(lost: Sequence[str], classes: Sequence[str]) -> str:
    """Return the code of names that are not classes; columns may only be numbered."""
    numbered = all(map(_is_number, classes)) and not any(map(_is_number, lost))
    return "unnamed-classes" if numbered else "outside-classes"


def names_asked(measures: Sequence[Measure]) -> list[str]:
    """Return the names of the lists that measures, or their terms, need."""
    flat = flat_terms(measures)
    found = [str(one[option]) for one in flat for option in LISTS if one[option] is not None]
    if any("scores" in one.definition.needs for one in flat):
        found += [SEEN, UNSEEN]
    return [name for name in dict.fromkeys(found) if name not in RESERVED]


def find_list(name: str, options: Options, named: Mapping[str, Any], classes: Sequence[str]) -> Any:
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
    size = int(form["size"].removesuffix("K")) * (1000 if form["size"].endswith("K") else 1)
    lost = [one for one in among if one not in numbers]
    if lost:
        raise InputError("classes-without-number", "populations", n=len(lost), names=lost)
    if not 0 < size <= len(among):
        wanted = f"a size from 1 to {len(among):,}"
        raise InputError("out-of-range", "populations", role="the list", value=name, wanted=wanted)
    most = form["most"] == "M"
    order = sorted(among, key=lambda one: -numbers[one] if most else numbers[one])
    return frozenset(order[:size])


def list_form(name: str) -> str:
    """Return the option that gives the numbers of a list of that name; "" for other names."""
    form = _NUMBERED.fullmatch(name)
    return "" if form is None else "hops" if form["hops"] else "populations"


def unknown_side(name: str, named: Mapping[str, Any], classes: Sequence[str]) -> InputError:
    """Return why the seen or the unseen classes are not known."""
    other = UNSEEN if name == SEEN else SEEN
    if other in named and named[other].issuperset(classes):
        return InputError("empty-side", side=name, other=other)
    return InputError("unknown-side", side=name, other=other)


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
    if isinstance(run, Matrix) and isinstance(truth, Matrix) and not truth.named:
        shape, width = truth.values.shape, run.values.shape[1]
        if shape[1] != width:  # such as a column of numbers
            wanted = f"0/1 for {pluralize(width, 'class')}, or a vector of classes"
            role = "the ground truth"
            raise InputError("wrong-shape", truth.source, role=role, shape=shape, wanted=wanted)
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
    settings = {"missing": options["missing"], "tie": options["ties"]}
    if options["classes"] is not None:
        settings["classes"] = identity_of(options["classes"])
    settings |= {name: identity_of(sorted(named[name])) for name in (SEEN, UNSEEN) if options[name]}
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
    sides = (truth.vocabulary, run.vocabulary, options[SEEN] or (), options[UNSEEN] or ())
    return sorted({str(name) for side in sides for name in side}), None


def _code_truth(truth: Lists, classes: Sequence[str], *, whole: bool) -> tuple[Codes, bool]:
    """Return the code of each name of the ground truth, and whether these are places."""
    codes, numbered = code_names([str(name) for name in truth.vocabulary], classes)
    lost = np.flatnonzero((codes < 0) & truth.occurring())
    if whole and len(lost):
        code = int(lost[0])
        name = str(truth.vocabulary[code])
        code_name = _outside([name], classes)
        where = truth.where(truth.first_item(code))
        raise InputError(code_name, where, role="the class", value=name)
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
