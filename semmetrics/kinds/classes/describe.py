"""Classes and scores described: shapes, classes and how often they occur, and one image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.data.rankings import RankedLists
from semmetrics.data.tasks import ClassTask
from semmetrics.kinds.description import (
    describe_input,
    describe_matrix,
    describe_sizes,
    find_empty,
    find_odd_ids,
    find_odd_texts,
    find_repeated,
    format_counts,
    format_known,
    format_spread,
    on_one_line,
)
from semmetrics.metrics.definition import Definition, Measure

__all__ = [
    "FILES",
    "describe",
    "explain_definition",
    "explain_protocol",
    "report",
    "report_item",
    "show_item",
]

FILES = (  # of an example
    "--task classes --classes classes.txt --seen seen.txt --unseen unseen.txt scores.npy truth.txt"
)
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
    >>> from semmetrics.kinds.classes.reading import as_classes
    >>> found = describe(as_classes(["cat", "dog", "cat"]))
    >>> found["items"], found["classes"], found["counts"]
    (3, 2, [('cat', 2), ('dog', 1)])
    """
    of = _describe_scores(found) if isinstance(found, Matrix) else _describe_lists(found)
    return {**describe_input(found), **of}


def _describe_scores(matrix: Matrix) -> dict[str, Any]:
    if matrix.values.dtype.kind == "f":
        check_finite(matrix.values, matrix.source)
    names = list(map(str, matrix.vocabulary)) if matrix.named else []
    odd = [*find_odd_texts(names, "class"), *find_odd_ids(matrix.ids)]
    return {**describe_matrix(matrix), "odd": odd}


def _describe_lists(lists: Lists) -> dict[str, Any]:
    names = list(map(str, lists.vocabulary))
    number = np.bincount(lists.side.codes, minlength=len(names)).tolist()
    counts = sorted(zip(names, number, strict=True), key=lambda pair: (-pair[1], pair[0]))
    odd = [*find_empty(lists), *find_repeated(lists), *find_odd_texts(names, "class")]
    return {
        "classes": len(names),
        "counts": counts,
        "cardinality": describe_sizes(lists.side.indptr) if len(lists) else None,
        "odd": [*odd, *find_odd_ids(lists.ids)],
    }


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    if "shape" in record:
        rows, columns = record["shape"]
        low, high = record["range"]
        return {
            "images": format_known(record),
            "shape": f"{rows:,} x {columns:,}, {record['dtype']}",
            "scores": "" if low is None else f"from {low:g} to {high:g}",
        }
    sizes = record["cardinality"]
    one = sizes is None or (sizes["min"], sizes["max"]) == (1, 1)
    return {
        "images": format_known(record),
        "classes": f"{record['classes']:,}",
        "most frequent": format_counts(record["counts"]),
        "an image": "" if one else format_spread(sizes),
    }


def show_item(task: ClassTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show an image: its "class", its "rank" (None if not ranked), and the "first" classes."""
    candidates = measure["candidates"]
    columns = task.columns("all" if candidates is None else str(candidates))
    rank = int(task.place(row, row + 1, columns).ranks[0])
    first: Any = np.zeros(0, np.int64)
    if task.rows[row] >= 0:
        (first,) = task.scores.first(task.rows[row : row + 1], columns, _first(task, columns), None)
    return {
        "class": task.classes[task.truth[row]],
        "rank": rank or None,
        "first": [task.classes[code] for code in first.tolist()],
    }


def _first(task: ClassTask, columns: Any) -> int:
    if isinstance(task.scores, RankedLists):
        return _FIRST
    return min(_FIRST, task.scores.shape[1] if columns is None else len(columns))


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an image: its class, the rank of that, and what was ranked first."""
    rank = "not ranked" if record["rank"] is None else f"rank {record['rank']:,}"
    return [
        on_one_line(f"class  {record['class']} ({rank})"),
        on_one_line(f"first  {', '.join(record['first'])}"),
    ]


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a cutoff means, and what predictions a measure takes."""
    return {
        "cutoff": "@k, the first k classes; the first alone without it" * definition.cutoff,
        "predictions": "scores of seen and unseen classes" * ("scores" in definition.needs),
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes."""
    return {
        "predictions": "scores of images (rows) and classes (columns), or the predicted classes",
        "classes": "seen= (--seen FILE) and unseen= (--unseen FILE)",
    }
