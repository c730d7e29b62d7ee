"""Runs and positives described: shapes, ids, positives per query, and one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import PHI
from semmetrics.data.tasks import UNRANKED, RetrievalTask
from semmetrics.kinds.description import (
    describe_input,
    describe_matrix,
    describe_sizes,
    find_empty,
    find_odd_ids,
    find_repeated,
    format_known,
    format_spread,
    matrix_cells,
    on_one_line,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import Derived
from semmetrics.options import OPTIONS

__all__ = [
    "FILES",
    "describe",
    "explain_definition",
    "explain_protocol",
    "report",
    "report_item",
    "show_item",
]

FILES = "--task retrieval sims.npy positives.json"  # of an example
_FIRST = 5  # candidates that an item shows
_LONGEST = 200  # letters of a line
_TIES = 1 << 20  # values that are looked at for ties


def describe(found: Lists | Matrix) -> dict[str, Any]:
    """Describe a run, or the positives of queries.

    Returns
    -------
    dict
        Plain values, None for what is undefined. Of a matrix its "shape", "dtype" and "range"; of
        lists how many candidates each query has ("cardinality"), how many of grade 0 ("zeros"), and
        "distinct" candidates.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval.reading import as_candidates
    >>> found = describe(as_candidates({"q1": ["a", "b"], "q2": ["a"]}))
    >>> found["items"], found["candidates"], found["distinct"], found["cardinality"]["max"]
    (2, 3, 2, 2)
    """
    of = _describe_scores(found) if isinstance(found, Matrix) else _describe_lists(found)
    return {**describe_input(found), **of}


def _describe_scores(matrix: Matrix) -> dict[str, Any]:
    return {
        **describe_matrix(matrix),
        "odd": [*_find_ties(matrix), *find_odd_ids(matrix.ids)],
    }


def _find_ties(matrix: Matrix) -> Iterator[str]:
    """Say that most of the first values stand several times."""
    for block in matrix_cells(matrix)[:1]:
        first = np.sort(block.reshape(-1)[:_TIES])
        same = int((first[1:] == first[:-1]).sum())
        if 2 * same > len(first):
            what = f"{same:,} of the first {len(first):,}"
            yield f"most values stand several times ({what}): ties decide ranks"


def _describe_lists(lists: Lists) -> dict[str, Any]:
    scores = lists.side.scores
    return {
        "candidates": len(lists.side.codes),
        "distinct": int(lists.occurring().sum()),
        "cardinality": describe_sizes(lists.side.indptr) if len(lists) else None,
        "zeros": None if scores is None else int((scores <= 0).sum()),
        "odd": [*find_empty(lists), *find_repeated(lists), *find_odd_ids(lists.ids)],
    }


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        rows, columns = record["shape"]
        low, high = record["range"]
        return {
            "queries": format_known(record),
            "shape": f"{rows:,} x {columns:,}, {record['dtype']}",
            "values": "" if low is None else f"from {low:g} to {high:g}",
        }
    return {
        "queries": format_known(record),
        "candidates": f"{pluralize(record['candidates'], 'candidate')}, "
        f"{record['distinct']:,} distinct",
        "a query": format_spread(record["cardinality"]),
        "grade 0 or less": f"{record['zeros']:,}" if record["zeros"] else "",
    }


def show_item(task: RetrievalTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show a query: its "positives" with their "ranks" (None if not ranked), and "first" ones."""
    ranks = task.ranks(row, row + 1)
    codes = task.positives[task.indptr[row] : task.indptr[row + 1]]
    return {
        "positives": _names(task, codes),
        "ranks": [int(rank) if rank < UNRANKED else None for rank in ranks.ranks.tolist()],
        "first": _names(task, task.first(row, row + 1, _FIRST)[0]),
    }


def _names(task: RetrievalTask, codes: Any) -> list[Any]:
    names = [task.gallery[code] for code in codes.tolist()]
    return [name if isinstance(name, str) else int(name) for name in names]


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of a query: its positives, their ranks, and what was ranked first."""
    ranks = ["-" if rank is None else f"{rank:,}" for rank in record["ranks"]]
    parts = {"positives": record["positives"], "ranks": ranks, "first": record["first"]}
    return [f"{name:<9}  {_cut(', '.join(map(str, some)))}" for name, some in parts.items()]


def _cut(text: str) -> str:
    line = on_one_line(text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means; the traits of labels say nothing of rankings."""
    both = isinstance(definition.family, Derived)  # of values of both directions
    return {
        "cutoff": "@k, the first k candidates" if definition.cutoff else "",
        "options": "--direction both " * both + "--phi phi.npy " * (PHI in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, what phi is, and of how many queries it is."""
    queries = ", ".join(f"{number:,} in {part}" for part, number in protocol.sizes.items())
    named = any("phi=" in text for text in protocol.entries.values())
    return {
        "predictions": "similarities of images (rows) and captions (columns), or embeddings",
        "phi": f"computed of {OPTIONS['captions'].both} as the measures say, unless "
        f"{OPTIONS['phi'].both} gives a matrix or another measure, such as CIDEr-D"
        if named
        else "",
        "queries": queries,
    }
