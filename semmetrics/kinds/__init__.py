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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from types import ModuleType
from typing import Any, TypeAlias

from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.frozen import dataclass
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
    "name_task",
    "read_weights",
    "task_notes",
]

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
    notes = []
    for name, task in each_task(tasks):
        lines = [f"{texts.get(key, key)}: {n:,}" for key, n in task.counts.items() if n]
        notes += [f"{name}: {line}" for line in dict.fromkeys(lines + more(name, task))]
    return notes


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


def read_weights(weights: Any, files: ReadOptions) -> Any:
    """Read sample weights where they are a path; a Series has its ids in the index."""
    if isinstance(weights, (str, os.PathLike)):
        from semmetrics.data.beside import read_numbers

        return Weights(read_numbers(weights, files), os.fspath(weights))
    if hasattr(weights, "to_dict"):
        return {str(name): value for name, value in weights.to_dict().items()}
    return weights


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
    notes : callable (tasks, measures, options, noted) -> list of str
        What a user is told beside the scores; ``noted`` is what steps noted of each task, by name.
    """

    name: str
    read_beside: Callable[[ResolvedOptions], ResolvedOptions]
    read: Callable[[Any, str, Options], Any]
    make_tasks: Callable[[Mapping[str, Any], Any, Options], Tasks]
    defaults: Callable[[Tasks, Options], Defaults]
    fill_entry: Callable[[str, Tasks, Options], tuple[str, str]]
    prepare: Callable[[Tasks, Sequence[Measure], Options], Tasks]
    notes: Callable[[Tasks, Sequence[Measure], Options, Mapping[str, Any]], list[str]]

    @property
    def describer(self) -> ModuleType:
        """The module that describes its data and shows its items, loaded when it is needed.

        It has ``FILES`` (names of files in examples) and these functions:

        - ``describe(lists)`` returns a record of what was read;
        - ``report(record)`` returns the facts of that record as texts by name;
        - ``show_item(task, row, measure)`` returns a record of one item as a measure sees it;
        - ``report_item(record)`` returns the lines of that record;
        - ``explain_definition(definition)`` and ``explain_protocol(protocol)`` return what these
          mean for the kind, by name.
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
