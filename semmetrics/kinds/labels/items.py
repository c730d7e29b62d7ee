"""Show single items of label sets, as a measure sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.tasks.labels import LabelTask
from semmetrics.kinds.descriptions import on_one_line
from semmetrics.kinds.labels.matches import match_rows
from semmetrics.metrics.definition import Measure

_MAX_SHOWN_LABELS = 20  # of a list


def show_item(task: LabelTask, row: int, measure: Measure) -> dict[str, Any]:
    """Return a record that shows one item as a measure sees it.

    Returns
    -------
    dict
        "predicted", the labels that the measure's cutoff or decoding rule keeps, in its order.
        "true", the reference labels. "matches", if the measure matches by meaning: lists of a
        predicted label, a true label and their similarity.
    """
    from semmetrics.metrics.matching import cut_of, sides_of

    item = task.take(np.array([row]))
    (block,) = item.blocks()
    pred, ref = sides_of(block)
    n_kept = measure.k
    if measure["decode"] is not None:
        n_kept = int(block.get(cut_of(measure))[0])
    predicted_codes = pred.codes[:n_kept].tolist()
    record: dict[str, Any] = {
        "predicted": [task.classes[code] for code in predicted_codes],
        "true": [task.classes[code] for code in ref.codes.tolist()],
    }
    if measure["match"] is not None and measure["threshold"] is not None:
        record["matches"] = _list_matches(item, measure)
    return record


def _list_matches(item: LabelTask, measure: Measure) -> list[list[Any]]:
    """Return the predicted label, the true label and the similarity of each match."""
    matches = []
    for row in match_rows(item, measure):
        is_match = row["rank"] is not None and row["reference"] is not None
        if is_match:
            matches.append([row["prediction"], row["reference"], row["similarity"]])
    return matches


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: predicted, true, missed and wrong labels.

    Labels are missed or wrong if they have no match. Without "matches", labels match by name if
    the value of the measure does (``by_name``). Otherwise missed and wrong labels are not shown.
    """
    predicted = record["predicted"]
    true = record["true"]
    lines = [_format_labels("predicted", predicted), _format_labels("true", true)]
    matched_predictions = true
    matched_references = predicted
    if "matches" in record:
        matched_predictions = [match[0] for match in record["matches"]]
        matched_references = [match[1] for match in record["matches"]]
    elif not record.get("by_name"):
        return lines
    missed = [name for name in true if name not in matched_references]
    wrong = [name for name in predicted if name not in matched_predictions]
    if missed:
        lines.append(_format_labels("missed", missed))
    if wrong:
        lines.append(_format_labels("wrong", wrong))
    return lines


def _format_labels(title: str, names: Sequence[str]) -> str:
    """Write the first labels of a list."""
    shown = [on_one_line(name) for name in names[:_MAX_SHOWN_LABELS]]
    text = ", ".join(shown) or "nothing"
    n_others = len(names) - _MAX_SHOWN_LABELS
    if n_others > 0:
        text += f" and {n_others:,} more"
    return f"{title:<9}  {text}"
