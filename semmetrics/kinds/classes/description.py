"""Describe classes of images and scores of classes, and explain measures and protocols for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.kinds import descriptions, item_notes, odd_texts
from semmetrics.metrics.definition import Definition


def describe(data: Lists | Matrix) -> dict[str, Any]:
    """Describe scores of classes, or the classes of images.

    Returns
    -------
    dict
        Plain values, None if undefined. For a matrix its "shape", "dtype" and "range". For lists
        the number of "classes", the number of occurrences of each ("counts"), and the number of
        classes per image ("cardinality").

    Examples
    --------
    >>> from semmetrics.kinds.classes import as_classes
    >>> record = describe(as_classes(["cat", "dog", "cat"]))
    >>> record["items"], record["classes"], record["counts"]
    (3, 2, [('cat', 2), ('dog', 1)])
    """
    names: list[str] = []
    if isinstance(data, Lists) or data.named:
        names = [str(name) for name in data.vocabulary]
    odd = odd_texts.find_odd_texts(names, "class") + odd_texts.find_odd_ids(data.ids)
    if isinstance(data, Matrix):
        if data.values.dtype.kind == "f":
            check_finite(data.values, data.source)
        return descriptions.describe_input(data, odd)
    sizes = None
    if len(data):
        sizes = descriptions.describe_sizes(data.side.indptr)
    return descriptions.describe_input(
        data,
        item_notes.find_gaps(data) + odd,
        classes=len(names),
        counts=_count_classes(data, names),
        cardinality=sizes,
    )


def _count_classes(lists: Lists, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return each class with its number of occurrences, the most frequent class first."""
    occurrences = np.bincount(lists.side.codes, minlength=len(names)).tolist()
    counts = list(zip(names, occurrences, strict=True))
    counts.sort(key=lambda count: (-count[1], count[0]))
    return counts


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of a description by their names. An empty line is not shown."""
    if "shape" in record:
        return descriptions.format_matrix(record, "images", "scores")
    sizes = record["cardinality"]
    classes_per_image = ""
    if sizes is not None and (sizes["min"], sizes["max"]) != (1, 1):
        classes_per_image = descriptions.format_spread(sizes)
    return {
        "images": descriptions.format_item_count(record),
        "classes": f"{record['classes']:,}",
        "most frequent": descriptions.format_counts(record["counts"]),
        "an image": classes_per_image,
    }


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return the meaning of a cutoff, and which predictions the measure takes."""
    cutoff = ""
    if definition.cutoff:
        cutoff = "@k, the first k classes, or only the first class without a cutoff"
    predictions = ""
    if "scores" in definition.needs:
        predictions = "scores of seen and unseen classes"
    return {"cutoff": cutoff, "predictions": predictions}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return which predictions and lists of classes a protocol takes."""
    return {
        "predictions": "scores of images (rows) and classes (columns), or the predicted classes",
        "classes": "seen= (--seen FILE) and unseen= (--unseen FILE)",
    }
