"""What can be evaluated: one folder and one record a kind.

Conventions
-----------
Everything that differs between kinds stands in the folder of the kind and is reached through its
record, from inputs to prepared tasks and what is said of them. Nothing else asks what is evaluated.

A *task* holds both sides of the same items. A kind makes one or more tasks of each system, each a
named part ("" where there is one). Options are those of `semmetrics.options`, resolved: every name
has a value.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from semmetrics.arguments import foreign_errors, refuse_masked
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.options import KINDS, ResolvedOptions

__all__ = [
    "Defaults",
    "Kind",
    "Options",
    "Tasks",
    "different_items",
    "each_task",
    "find_kind",
    "first_of_alike",
    "group_notes",
    "name_task",
    "read_set_size_probs",
    "read_weights",
    "task_notes",
    "unused_weights",
]

_MISSING = {  # what became of items that one side lacks, under each policy
    "skip": dict.fromkeys(("missing_prediction", "missing_reference"), ", left out"),
    "empty": {"missing_prediction": ", scored as empty", "missing_reference": ", taken as empty"},
}
_CLOSE = 0.01  # to which probabilities of half precision sum to 1

Options: TypeAlias = ResolvedOptions

Tasks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Tasks by system and part."""


@dataclass(frozen=True)
class Defaults:
    """The measures of input for which none is named.

    Attributes
    ----------
    measures : sequence of str
    absent : mapping from measure to reason
        Those that such input usually has and this one does not allow.
    """

    measures: Sequence[str]
    absent: Mapping[str, str] = field(default_factory=dict)


def each_task(tasks: Tasks) -> Iterator[tuple[str, Any]]:
    """Yield each task with its name: the system, and its part where there are several."""
    for system, parts in tasks.items():
        for part, task in parts.items():
            yield name_task(system, part), task


def name_task(system: str, part: str) -> str:
    """Return how messages call a task: the system, and its part where there are several."""
    return f"{system}, {part}" if part else system


_COUNTS = {"weight_0": "items left out because their weight is 0"}


def task_notes(
    tasks: Tasks, texts: Mapping[str, str], more: Callable[[str, Any], list[str]]
) -> list[str]:
    """Say what was left out, merged or odd in each task, and what more there is to say of it.

    Parameters
    ----------
    tasks : mapping from system and part to Task
    texts : mapping from name of a count to text
    more : callable (name of a task, task) -> list of str
    """
    found: dict[str, list[str]] = {}
    for name, task in each_task(tasks):
        became = _MISSING.get(task.settings.get("missing", ""), {})
        lines = [
            f"{texts.get(key, _COUNTS.get(key, key))}{became.get(key, '')}: {n:,}"
            for key, n in task.counts.items()
            if n
        ]
        found[name] = list(dict.fromkeys(lines + more(name, task)))
    return group_notes(found)


def group_notes(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Write notes of systems; those of many systems that differ by their numbers are one.

    Parameters
    ----------
    found : mapping from name of a system to its notes

    Examples
    --------
    >>> group_notes({name: [f"items left out: {n}"] for n, name in enumerate("abcd", 2)})
    ['all 4 systems: items left out: 2 to 5']
    >>> group_notes({"a": ["items left out: 2"], "b": []})
    ['a: items left out: 2']
    """
    groups: dict[str, dict[str, str]] = {}
    for name, lines in found.items():
        for line in lines:
            groups.setdefault(_shape_of(line), {})[name] = line
    many = {shape: group for shape, group in groups.items() if len(group) > _MANY}
    notes = []
    for name, lines in found.items():
        for line in lines:
            group = many.get(_shape_of(line), {name: line})
            if next(iter(group)) == name:
                notes.append(f"{_name_systems(list(group), len(found))}: {_join_lines(group)}")
    return notes


_PLURAL = re.compile(r"s\b")
_MANY = 3  # systems that have each their own note
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# Numbers, and examples in quotes: one, or a list as `listing` writes it.
_VARIES = re.compile(rf"{_QUOTED}(?:, {_QUOTED})*(?: and \d+ more)?|\d+(?:,\d{{3}})*")


def first_of_alike(lines: Iterable[str]) -> list[str]:
    """Return the first of those notes that differ by numbers and examples alone."""
    found: dict[str, str] = {}
    for line in lines:
        found.setdefault(_shape_of(line), line)
    return list(found.values())


def _name_systems(names: Sequence[str], of: int) -> str:
    if len(names) <= _MANY:
        return ", ".join(names)
    if len(names) == of:
        return f"all {of} systems"
    return f"{', '.join(names[:_MANY])} and {len(names) - _MANY} more"


def _shape_of(line: str) -> str:
    """Return what notes have in common that differ by numbers, plurals and examples alone."""
    return _PLURAL.sub("", _VARIES.sub("", line))


def _join_lines(group: Mapping[str, str]) -> str:
    """Return one of lines that differ by numbers and examples, with ranges of numbers."""
    longest = max(group.values(), key=len)  # in the plural
    columns = iter(zip(*(_VARIES.findall(line) for line in group.values()), strict=True))

    def written(place: re.Match[str]) -> str:
        several = dict.fromkeys(next(columns))
        if len(several) == 1 or place.group()[0] in "'\"":
            return place.group()
        numbers = sorted(several, key=lambda text: int(text.replace(",", "")))
        return f"{numbers[0]} to {numbers[-1]}"

    return _VARIES.sub(written, longest)


def different_items(tasks: Tasks, apart: Collection[str] = ()) -> list[str]:
    """Say that systems are scored on different items, if they are.

    Parameters
    ----------
    tasks : mapping from system and part to Task
    apart : collection of str
        Systems that are on other items by what they are.
    """
    sizes: dict[str, set[int]] = {}
    for system, parts in tasks.items():
        for part, task in parts.items() if system not in apart else ():
            sizes.setdefault(part, set()).add(len(task))
    different = any(len(some) > 1 for some in sizes.values())
    return ["systems are scored on different items: compare with care"] if different else []


def read_weights(weights: Any, files: ReadOptions, of: str = "weights") -> Any:
    """Read weights, or numbers of classes, from a path or frame; a Series has ids in the index."""
    from semmetrics.data.objects import is_frame, is_series

    path = isinstance(weights, (str, os.PathLike))
    named = hasattr(weights, "columns") or hasattr(weights, "column_names")
    if path or (named and is_frame(weights)):
        from semmetrics.data.side_inputs import read_numbers

        notes: list[Any] = []
        values = read_numbers(weights, files, notes, of)
        return Weights(values, os.fspath(weights) if path else of, list(map(str, notes)))
    if is_series(weights) and hasattr(weights, "index"):
        from semmetrics.data.objects import string_ids

        return dict(zip(string_ids(weights.index, of), weights.to_list(), strict=True))
    return weights


def unused_weights(weights: Any, inputs: Sequence[Any]) -> list[str]:
    """Say which sample weights are of ids that no input has, and what their file holds beside them.

    Parameters
    ----------
    weights : mapping from id, sequence in the order of the ground truth, Weights of those, or None
    inputs : sequence of Lists

    Examples
    --------
    >>> from semmetrics.kinds.labels.reading import as_labels
    >>> unused_weights({"a": 1.0, "b": 2.0}, [as_labels({"a": ["cat"]})])
    ["1 of 2 sample weights has no effect: no input has its id: 'b'"]
    """
    notes: list[str] = []
    if isinstance(weights, Weights):
        weights, notes = weights.values, [*weights.notes]
    if not isinstance(weights, Mapping) or not inputs:
        return notes
    extra = set(map(str, weights)).difference(*(map(str, one.ids) for one in inputs))
    if not extra:
        return notes
    verb, whose = ("has", "its id") if len(extra) == 1 else ("have", "their ids")
    named = listing(name for name in map(str, weights) if name in extra)
    of = pluralize(len(weights), "sample weight")
    return [*notes, f"{len(extra):,} of {of} {verb} no effect: no input has {whose}: {named}"]


def read_set_size_probs(given: Any, files: ReadOptions | None) -> Any:
    """Return the probabilities of set sizes as an array, read where they are a path.

    Raises
    ------
    InputError
        If they are no numbers, or masked.
    """
    if given is None:
        return None
    where = "set_size_probs"
    if isinstance(given, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        with foreign_errors(where):
            where = os.fspath(given)
        given = read_dense(given, (files or ReadOptions()).beside())
    from semmetrics.data.objects import plain_object

    refuse_masked(given, where)
    try:
        with foreign_errors(where):
            values = np.asarray(plain_object(given))
        if values.dtype.kind not in "biufO":
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "set_size_probs is no matrix of numbers", remedy="give items x sizes of probabilities"
        ) from None
    if values.ndim == 2:
        _check_probabilities(values, where)
    return values


def _check_probabilities(values: Any, where: str) -> None:
    """Refuse rows that are no probabilities; of sizes beyond the last column some may be lost."""
    sums = values.sum(axis=1)
    wrong = (sums > 1 + _CLOSE) | (values < 0).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            "a number is negative" if (values[row] < 0).any() else f"the sum is {sums[row]:g}",
            where=f"{where}, row {row} (from 0)",
            remedy="give the probability of each set size; those of an item sum to 1",
        )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What differs between kinds; see the module ``record`` in each kind's folder.

    Attributes
    ----------
    name : str
    read_beside : callable (options) -> options
        Read the further inputs that options name: class lists, weights and so on.
    read : callable (data, source, options) -> input
        Read one side from a path or an object.
    make_tasks : callable (predictions by system, references, options) -> Tasks
        Join the sides, with everything else that the options hand over.
    defaults : callable (tasks, options) -> Defaults
    fill_entry : callable (text, tasks, options) -> (text, reason)
        Complete a protocol's measure by facts of the data; a reason says what is lacking, with the
        option that gives it.
    prepare : callable (tasks, measures, options) -> Tasks
        Open models and freeze fits that the measures need.
    notes : callable (tasks, measures, options, noted, inputs) -> list of str
        What a user is told beside the scores; ``noted`` is what steps noted of each task, by name.
    name_counts : mapping from name to str
        The counts of a task that do not add up over parts: those that are the same in all parts
        ("same"), and those of distinct entries ("distinct"). Where it is empty, most entries occur
        once, and nobody keeps those of past items.
    """

    name: str
    read_beside: Callable[[ResolvedOptions], ResolvedOptions]
    read: Callable[[Any, str, Options], Any]
    make_tasks: Callable[[Mapping[str, Any], Any, Options], Tasks]
    defaults: Callable[[Tasks, Options], Defaults]
    fill_entry: Callable[[str, Tasks, Options], tuple[str, str]]
    prepare: Callable[[Tasks, Sequence[Measure], Options], Tasks]
    notes: Callable[
        [Tasks, Sequence[Measure], Options, Mapping[str, Any], Sequence[Any]], list[str]
    ]
    name_counts: Mapping[str, str] = field(default_factory=dict)

    @property
    def describer(self) -> ModuleType:
        """The module that describes its data and shows its items, loaded when it is needed.

        It has ``FILES`` (names of files in examples) and these functions:

        - ``describe(lists)`` returns a record of what was read;
        - ``report(record)`` returns the facts of that record as texts by name;
        - ``show_item(task, row, measure)`` returns a record of one item as a measure sees it;
        - ``report_item(record)`` returns the lines of that record;
        - ``explain_definition(definition)`` and ``explain_protocol(protocol)`` return what these
          mean for the kind, by name; of a definition "options" are those that an example needs.
        """
        return importlib.import_module(f"semmetrics.kinds.{self.name}.describe")


def find_kind(name: str) -> Kind:
    """Load the record of a kind.

    Examples
    --------
    >>> find_kind("labels").name
    'labels'
    """
    module = importlib.import_module(f"semmetrics.kinds.{KINDS[KINDS.index(name)]}.record")
    kind: Kind = module.KIND
    return kind
