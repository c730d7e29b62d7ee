"""Describe runs and positives, and show single queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import PHI
from semmetrics.data.tasks import UNRANKED, RetrievalTask
from semmetrics.errors import Fact
from semmetrics.kinds import descriptions, item_notes, odd_texts
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import Derived
from semmetrics.options import OPTIONS

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
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> found = describe(as_candidates({"q1": ["a", "b"], "q2": ["a"]}))
    >>> found["items"], found["candidates"], found["distinct"], found["cardinality"]["max"]
    (2, 3, 2, 2)
    """
    odd = odd_texts.find_odd_ids(found.ids)
    if isinstance(found, Matrix):
        for block in descriptions.matrix_cells(found)[:1]:
            first = np.sort(block.reshape(-1)[:_TIES])
            same = int((first[1:] == first[:-1]).sum())
            if 2 * same > len(first):
                odd = [Fact("many-ties", same, values={"total": len(first)}), *odd]
        return descriptions.describe_input(found, odd)
    scores = found.side.scores
    return descriptions.describe_input(
        found,
        item_notes.find_gaps(found) + odd,
        candidates=len(found.side.codes),
        distinct=int(found.occurring().sum()),
        cardinality=descriptions.describe_sizes(found.side.indptr)
        if len(found)
        else None,
        zeros=None if scores is None else int((scores <= 0).sum()),
    )


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        return descriptions.format_matrix(record, "queries", "values")
    number = pluralize(record["candidates"], "candidate")
    return {
        "queries": descriptions.format_known(record),
        "candidates": f"{number}, {record['distinct']:,} distinct",
        "a query": descriptions.format_spread(record["cardinality"]),
        "grade 0 or less": f"{record['zeros']:,}" if record["zeros"] else "",
    }


def show_item(task: RetrievalTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show a query: its "positives" with their "ranks" (None if not ranked), and "first" ones."""

    def names(codes: Any) -> list[Any]:
        found = [task.gallery[code] for code in codes.tolist()]
        return [name if isinstance(name, str) else int(name) for name in found]

    ranks = task.ranks(row, row + 1).ranks.tolist()
    return {
        "positives": names(task.positives[task.indptr[row] : task.indptr[row + 1]]),
        "ranks": [int(rank) if rank < UNRANKED else None for rank in ranks],
        "first": names(task.first(row, row + 1, _FIRST)[0]),
    }


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of a query: its positives, their ranks, and what was ranked first."""
    ranks = ["-" if rank is None else f"{rank:,}" for rank in record["ranks"]]
    parts = {"positives": record["positives"], "ranks": ranks, "first": record["first"]}
    lines = {
        name: descriptions.on_one_line(", ".join(map(str, some)))
        for name, some in parts.items()
    }
    return [
        f"{name:<9}  {line if len(line) <= _LONGEST else f'{line[:_LONGEST]} ...'}"
        for name, line in lines.items()
    ]


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means; the traits of labels do not apply to rankings."""
    both = isinstance(definition.family, Derived)  # of values of both directions
    return {
        "cutoff": "@k, the first k candidates" if definition.cutoff else "",
        "options": "--direction both " * both
        + "--phi phi.npy " * (PHI in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, what phi is, and of how many queries it is."""
    queries = ", ".join(
        f"{number:,} in {part}" for part, number in protocol.sizes.items()
    )
    named = any("phi=" in text for text in protocol.entries.values())
    return {
        "predictions": "similarities of images (rows) and captions (columns), or embeddings",
        "phi": f"computed of {OPTIONS['captions'].both} as the measures say, unless "
        f"{OPTIONS['phi'].both} gives a matrix or another measure, such as CIDEr-D"
        if named
        else "",
        "queries": queries,
    }
