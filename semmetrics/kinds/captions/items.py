"""Show single items of captions as measures see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.kinds import descriptions
from semmetrics.metrics.definition import Measure

_MAX_CHARACTERS = 500
"""How many characters of a line are shown."""


def show_item(task: CaptionTask, row: int, measure: Measure) -> dict[str, Any]:
    """Return the "caption" and the "references" of an item, and details that the measure uses."""
    _, references = task.item_references(row, row + 1)
    record: dict[str, Any] = {
        "caption": task.texts[task.candidates[row]],
        "references": [task.texts[code] for code in references.tolist()],
    }
    show_details = measure.definition.extra.get("show")
    if show_details is not None:
        record.update(show_details(task, row, measure))
    return record


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the caption, a line per reference, and the matches."""
    lines = [_format_line("caption", record["caption"])]
    for reference in record["references"]:
        lines.append(_format_line("reference", reference))
    if record.get("aligned"):
        words = [_format_alignment(*alignment) for alignment in record["aligned"]]
        lines.append(_format_line("aligned", ", ".join(words)))
    for name in ("matched", "unmatched", "missing"):
        if record.get(name):
            tuples = [_format_tuple(slots) for slots in record[name]]
            lines.append(_format_line(name, ", ".join(tuples)))
    if record.get("nearest"):
        pairs = []
        for phrase, nearest, similarity in record["nearest"]:
            pairs.append(f"{phrase} ~ {nearest} {similarity:.2f}")
        lines.append(_format_line("nearest", ", ".join(pairs)))
    return lines


def _format_alignment(word: str, other: str, stage: str) -> str:
    """Write the words that METEOR aligns. Of equal words only one is written."""
    if stage == "exact":
        return word
    return f"{word} ~ {other} ({stage})"


def _format_tuple(slots: Sequence[str]) -> str:
    """Write a tuple in the order of words: the relation is between its subject and object."""
    if len(slots) == 3:
        subject, object_, relation = slots
        return f"{subject}-{relation}-{object_}"
    return "-".join(slots)


def _format_line(name: str, text: str) -> str:
    """Write a line, cut if it is too long."""
    line = descriptions.on_one_line(text[: 2 * _MAX_CHARACTERS])
    n_cut = len(text) - _MAX_CHARACTERS
    if n_cut > 0:
        line = f"{line[:_MAX_CHARACTERS]} ... and {n_cut:,} more letters"
    return f"{name:<9}  {line}"
