"""What can be evaluated: one folder and one record a kind.

Conventions
-----------
Everything that differs between kinds is in the folder of the kind and is reached through its
record, from inputs to prepared tasks and the facts that a user should know. Nothing else asks what
is evaluated.

A *task* holds both sides of the same items. A kind makes one or more tasks of each system, each a
named part ("" where there is one). Options are those of `semmetrics.options`, resolved: every name
has a value.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.backend import refuse_masked
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.errors import EXAMPLES, FROM_0, Fact, InputError
from semmetrics.metrics.definition import Measure
from semmetrics.options import KINDS, ResolvedOptions

__all__ = [
    "Defaults",
    "Facts",
    "Kind",
    "Options",
    "Tasks",
    "count_facts",
    "different_items",
    "each_task",
    "find_kind",
    "name_task",
    "no_effect",
    "read_set_size_probs",
    "read_weights",
    "unused_weights",
]

_MISSING = {  # what becomes of items that one side lacks, under each policy
    "skip": {"missing_prediction": "left out", "missing_reference": "left out"},
    "empty": {"missing_prediction": "scored as empty", "missing_reference": "taken as empty"},
}
_CLOSE = 0.01  # to which probabilities of half precision sum to 1

Options: TypeAlias = ResolvedOptions
Facts: TypeAlias = list[Fact]
"""What a user should know; texts are those of readers."""

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


def count_facts(name: str, task: Any) -> Facts:
    """Return what was left out of a task or merged in it, from its counts."""
    became = _MISSING.get(task.settings.get("missing", ""), {})
    return [
        Fact(key.replace("_", "-"), n, (), name, {"became": became[key]} if key in became else {})
        for key, n in task.counts.items()
        if n
    ]


def different_items(tasks: Tasks, apart: Collection[str] = ()) -> Facts:
    """Note that systems are scored on different items; ``apart`` are systems that always are."""
    sizes: dict[str, set[int]] = {}
    for system, parts in tasks.items():
        for part, task in parts.items() if system not in apart else ():
            sizes.setdefault(part, set()).add(len(task))
    return [Fact("different-items")] if any(len(some) > 1 for some in sizes.values()) else []


def no_effect(option: str, why: str) -> Fact:
    """Return the fact that an option has no effect."""
    return Fact("no-effect", values={"option": option, "why": why})


def read_weights(weights: Any, files: ReadOptions, of: str = "weights") -> Any:
    """Read weights, or numbers of classes, from a path or frame; a Series has ids in the index."""
    from semmetrics.data.objects import is_frame, is_series, string_ids

    path = isinstance(weights, (str, os.PathLike))
    named = hasattr(weights, "columns") or hasattr(weights, "column_names")
    if path or (named and is_frame(weights)):
        from semmetrics.data.side_inputs import read_numbers

        notes: list[Any] = []
        values = read_numbers(weights, files, notes, of)
        return Weights(values, os.fspath(weights) if path else of, notes)
    if is_series(weights) and hasattr(weights, "index"):
        return dict(zip(string_ids(weights.index, of), weights.to_list(), strict=True))
    return weights


def unused_weights(weights: Any, inputs: Sequence[Any]) -> Facts:
    """Note which sample weights are of ids that no input has, and what their reader noted.

    Parameters
    ----------
    weights : mapping from id, sequence in the order of the ground truth, Weights of those, or None
    inputs : sequence of Lists

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> print(*unused_weights({"a": 1.0, "b": 2.0}, [as_labels({"a": ["cat"]})]))
    1 of 2 sample weights not used, as no input has the id: 'b'
    """
    notes: Facts = []
    if isinstance(weights, Weights):
        weights, notes = weights.values, [*weights.notes]
    if not isinstance(weights, Mapping) or not inputs:
        return notes
    known = set().union(*(map(str, one.ids) for one in inputs))
    extra = [name for name in map(str, weights) if name not in known]
    if extra:
        values = {"total": len(weights)}
        notes.append(Fact("unused-weights", len(extra), tuple(extra[:EXAMPLES]), "", values))
    return notes


def read_set_size_probs(given: Any, files: ReadOptions | None) -> Any:
    """Return the probabilities of set sizes as an array, read where they are a path.

    Raises
    ------
    InputError
        If they are not numbers, masked, or those of an item are not probabilities.
    """
    if given is None:
        return None
    where = "set_size_probs"
    if isinstance(given, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        where = os.fspath(given)
        given = read_dense(given, (files or ReadOptions()).beside())
    from semmetrics.data.objects import plain_object

    refuse_masked(given, where)
    try:
        values = np.asarray(plain_object(given))
        if values.dtype.kind not in "biufO":
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        wanted = "a matrix of numbers"
        raise InputError("wrong-type", where, value=given, wanted=wanted) from None
    if values.ndim == 2:
        sums = values.sum(axis=1)
        wrong = (sums > 1 + _CLOSE) | (values < 0).any(axis=1)  # sizes may end before all of 1
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError("not-probabilities", f"{where}, row {row}{FROM_0}", value=values[row])
    return values


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
        Complete a protocol's measure from the data; a reason says what is lacking, with the
        option that gives it.
    prepare : callable (tasks, measures, options) -> Tasks
        Open models and freeze fits that the measures need.
    facts : callable (tasks, measures, options, noted, inputs) -> list of Fact
        What a user should know beside the scores; ``noted`` is what steps noted of each task, by
        name. ``where`` is the name of a task or of a file.
    describer : module
        Describes its data and shows its items. It has ``FILES`` (names of files in examples) and:

        - ``describe(lists)`` returns a record of what was read;
        - ``report(record)`` returns that record as texts by name;
        - ``show_item(task, row, measure)`` returns a record of one item as a measure sees it;
        - ``report_item(record)`` returns the lines of that record;
        - ``explain_definition(definition)`` and ``explain_protocol(protocol)`` return what these
          mean for the kind, by name; of a definition "options" are those that an example needs.
    name_counts : mapping from name to str
        The counts of a task that do not add up over parts: those that are the same in all parts
        ("same"), and those of distinct entries ("distinct"). Where it is empty, most entries occur
        once, and nobody keeps those of past items.
    """

    name: str
    read_beside: Callable[[Options], Options]
    read: Callable[[Any, str, Options], Any]
    make_tasks: Callable[[Mapping[str, Any], Any, Options], Tasks]
    defaults: Callable[[Tasks, Options], Defaults]
    fill_entry: Callable[[str, Tasks, Options], tuple[str, str]]
    prepare: Callable[[Tasks, Sequence[Measure], Options], Tasks]
    facts: Callable[[Tasks, Sequence[Measure], Options, Mapping[str, Any], Sequence[Any]], Facts]
    describer: ModuleType
    name_counts: Mapping[str, str] = field(default_factory=dict)


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
