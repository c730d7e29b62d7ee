"""Describe runs and positives, and explain measures and protocols for retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import PHI
from semmetrics.errors import Fact
from semmetrics.kinds import descriptions, item_notes, odd_texts
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition
from semmetrics.metrics.families import Derived
from semmetrics.options import OPTIONS

_MAX_VALUES_FOR_TIES = 1 << 20
"""The values of a matrix in which ties are counted."""


def describe(data: Lists | Matrix) -> dict[str, Any]:
    """Describe a run, or the positives of queries.

    Returns
    -------
    dict
        Plain values, None if undefined. For a matrix its "shape", "dtype" and "range". For lists
        the number of candidates per query ("cardinality"), of entries with a grade of 0 or less
        ("zeros"), and of "distinct" candidates.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> record = describe(as_candidates({"q1": ["a", "b"], "q2": ["a"]}))
    >>> record["items"], record["candidates"], record["distinct"], record["cardinality"]["max"]
    (2, 3, 2, 2)
    """
    odd = odd_texts.find_odd_ids(data.ids)
    if isinstance(data, Matrix):
        return descriptions.describe_input(data, _find_ties(data) + odd)
    sizes = None
    if len(data):
        sizes = descriptions.describe_sizes(data.side.indptr)
    n_zeros = None
    if data.side.scores is not None:
        n_zeros = int((data.side.scores <= 0).sum())
    return descriptions.describe_input(
        data,
        item_notes.find_gaps(data) + odd,
        candidates=len(data.side.codes),
        distinct=int(data.occurring().sum()),
        cardinality=sizes,
        zeros=n_zeros,
    )


def _find_ties(matrix: Matrix) -> list[Fact]:
    """Return a note if most values of a matrix are equal to others.

    Only the first values of a large matrix are counted.
    """
    blocks = descriptions.matrix_cells(matrix)
    if not blocks:
        return []
    values = np.sort(blocks[0].reshape(-1)[:_MAX_VALUES_FOR_TIES])
    n_tied = int((values[1:] == values[:-1]).sum())
    if 2 * n_tied <= len(values):
        return []
    return [Fact("many-ties", n_tied, values={"total": len(values)})]


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of a description by their names. An empty line is not shown."""
    if "shape" in record:
        return descriptions.format_matrix(record, "queries", "values")
    zeros = ""
    if record["zeros"]:
        zeros = f"{record['zeros']:,}"
    number = pluralize(record["candidates"], "candidate")
    return {
        "queries": descriptions.format_item_count(record),
        "candidates": f"{number}, {record['distinct']:,} distinct",
        "a query": descriptions.format_spread(record["cardinality"]),
        "grade 0 or less": zeros,
    }


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return the meaning of a cutoff, and the options that an example command needs."""
    cutoff = ""
    if definition.cutoff:
        cutoff = "@k, the first k candidates"
    options = ""
    if isinstance(definition.family, Derived):  # computed from both directions
        options += "--direction both "
    if PHI in definition.needs:
        options += "--phi phi.npy "
    return {"cutoff": cutoff, "options": options}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return which predictions and phi a protocol takes, and how many queries it has."""
    phi = ""
    if any("phi=" in text for text in protocol.entries.values()):
        phi = (
            f"computed of {OPTIONS['captions'].keyword_and_flag} as the measures say, unless "
            f"{OPTIONS['phi'].keyword_and_flag} gives a matrix or another measure, such as CIDEr-D"
        )
    sizes = [f"{number:,} in {part}" for part, number in protocol.sizes.items()]
    return {
        "predictions": "similarities of images (rows) and captions (columns), or embeddings",
        "phi": phi,
        "queries": ", ".join(sizes),
    }
