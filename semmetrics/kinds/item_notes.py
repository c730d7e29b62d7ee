"""Notes on the items of inputs and tasks: left out, merged, empty, or not the same."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from semmetrics.core.ragged import cell_keys
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact
from semmetrics.kinds.base import Tasks
from semmetrics.kinds.note_builders import of_items

_LEFT_OUT = {"missing_prediction": "left out", "missing_reference": "left out"}
_OUTCOMES_BY_POLICY = {
    "skip": _LEFT_OUT,
    "common": _LEFT_OUT,
    "empty": {
        "missing_prediction": "scored as empty",
        "missing_reference": "treated as empty",
    },
}
"""What happens to items that are missing on one side, by the policy for missing items."""


def count_facts(name: str, task: Any) -> list[Fact]:
    """Return notes on the items that were left out of a task or merged.

    Parameters
    ----------
    name : str
        The name of the task.
    task : Task
    """
    policy = task.settings.get("missing", "")
    outcomes = _OUTCOMES_BY_POLICY.get(policy, {})
    notes = []
    for key, n in task.counts.items():
        if not n:
            continue
        values = {}
        if key in outcomes:
            values["became"] = outcomes[key]
        code = key.replace("_", "-")
        notes.append(Fact(code, n, (), name, values))
    return notes


def different_items(tasks: Tasks, excluded: Collection[str] = ()) -> list[Fact]:
    """Return a note if systems are scored on different items.

    Parameters
    ----------
    tasks : mapping from system and part to Task
    excluded : collection of str
        Systems that are not compared, because they always have items of their own.
    """
    items_by_part: dict[str, set[tuple[int, int]]] = {}
    for system, parts in tasks.items():
        if system in excluded:
            continue
        for part, task in parts.items():
            fingerprint = int(task.hashes.sum(dtype=np.uint64))
            items = items_by_part.setdefault(part, set())
            items.add((len(task), fingerprint))
    for items in items_by_part.values():
        if len(items) > 1:
            return [Fact("different-items")]
    return []


def find_gaps(lists: Lists) -> list[Fact]:
    """Return notes on items without entries, and on items that have an entry twice."""
    side = lists.side
    sizes = side.sizes
    n_names = max(1, len(lists.vocabulary))
    cells = np.unique(cell_keys(side.indptr, side.codes, n_names))
    n_distinct = np.bincount(cells // n_names, minlength=len(lists))
    empty_rows = np.flatnonzero(sizes == 0)
    repeating_rows = np.flatnonzero(sizes > n_distinct)
    notes = of_items("without-entries", lists, empty_rows)
    return notes + of_items("repeated-entries", lists, repeating_rows)
