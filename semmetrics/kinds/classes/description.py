"""Describe scores of classes and classes of images, and show single images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.data.rankings import RankedLists
from semmetrics.data.tasks import ClassTask
from semmetrics.kinds import descriptions, item_notes, odd_texts
from semmetrics.metrics.definition import Definition, Measure

_FIRST = 3  # predictions that an item shows


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
    >>> from semmetrics.kinds.classes import as_classes
    >>> found = describe(as_classes(["cat", "dog", "cat"]))
    >>> found["items"], found["classes"], found["counts"]
    (3, 2, [('cat', 2), ('dog', 1)])
    """
    names = (
        list(map(str, found.vocabulary))
        if isinstance(found, Lists) or found.named
        else []
    )
    odd = odd_texts.find_odd_texts(names, "class") + odd_texts.find_odd_ids(found.ids)
    if isinstance(found, Matrix):
        if found.values.dtype.kind == "f":
            check_finite(found.values, found.source)
        return descriptions.describe_input(found, odd)
    number = np.bincount(found.side.codes, minlength=len(names)).tolist()
    counts = sorted(
        zip(names, number, strict=True), key=lambda pair: (-pair[1], pair[0])
    )
    return descriptions.describe_input(
        found,
        item_notes.find_gaps(found) + odd,
        classes=len(names),
        counts=counts,
        cardinality=descriptions.describe_sizes(found.side.indptr)
        if len(found)
        else None,
    )


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        return descriptions.format_matrix(record, "images", "scores")
    sizes = record["cardinality"]
    one = sizes is None or (sizes["min"], sizes["max"]) == (1, 1)
    return {
        "images": descriptions.format_known(record),
        "classes": f"{record['classes']:,}",
        "most frequent": descriptions.format_counts(record["counts"]),
        "an image": "" if one else descriptions.format_spread(sizes),
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


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an image: its class, the rank of that, and what was ranked first."""
    rank = "not ranked" if record["rank"] is None else f"rank {record['rank']:,}"
    return [
        descriptions.on_one_line(f"class  {record['class']} ({rank})"),
        descriptions.on_one_line(f"first  {', '.join(record['first'])}"),
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
