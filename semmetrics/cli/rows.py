"""Files beside the result: the values of each item, and of each label."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from semmetrics.cli.files import written
from semmetrics.errors import InputError
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.score import Score

__all__ = [
    "check_rows",
    "ending",
    "item_headings",
    "item_rows",
    "label_rows",
    "label_scores",
    "write_csv",
    "write_items",
    "write_labels",
]

LABEL_COLUMNS = ("system", "measure", "label", "value", "support", "predicted", "hit")
_ENDINGS = {
    "--per-item": (".jsonl", ".csv"),
    "--per-label": (".json", ".csv"),
    "--matches": (".csv", ".json", ".jsonl"),
}


def check_rows(files: Mapping[str, str | None]) -> None:
    """Whether the names of the files, by option, say what they are to hold.

    Raises
    ------
    InputError
        If an ending is unknown.
    """
    for option, path in files.items():
        if path is not None and option in _ENDINGS and ending(path) not in _ENDINGS[option]:
            raise InputError(
                f"the ending {ending(path)!r} says nothing about the format",
                where=f"{option} {path}",
                remedy=f"end the name with {_either(_ENDINGS[option])}",
            )


def _either(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]])


def ending(path: str) -> str:
    """What says the format of a file."""
    return Path(path).suffix.lower()


def item_headings(table: ScoreTable, option: str = "--per-item") -> list[str]:
    """The measures that have a value for an item alone.

    Raises
    ------
    InputError
        If there is none.
    """
    found = list(dict.fromkeys(score.heading for score in table if score.items is not None))
    if not found:
        raise InputError("no measure here has item values", where=option,
                         remedy="leave it out, or add a measure such as F1")  # fmt: skip
    return found


def item_rows(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """One row an item and system, None for what is undefined.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score({"a": ["cat"]}, {"a": ["cat", "dog"]}, measures=["Recall"])
    >>> list(item_rows(table))
    [{'id': 'a', 'system': 'preds', 'Recall': 0.5}]
    """
    headings = item_headings(table)
    for system in table.systems:
        scores = {score.heading: score for score in table if score.system == system}
        columns = [_values(scores.get(heading)) for heading in headings]
        ids = next(iter(scores.values())).ids
        for place, name in enumerate(ids):
            values = (None if column is None else column[place] for column in columns)
            row = {"id": name if isinstance(name, str) else int(name), "system": system}
            yield row | {h: _number(v) for h, v in zip(headings, values, strict=True)}


def _values(score: Score | None) -> list[float] | None:
    return None if score is None or score.items is None else score.items.tolist()


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def label_scores(table: ScoreTable) -> list[Score]:
    """The scores that have values of labels.

    Raises
    ------
    InputError
        If there is none.
    """
    found = [score for score in table if score.per_label is not None]
    if not found:
        raise InputError("no measure here has values of labels", where="--per-label",
                         remedy="leave it out, or add a measure such as MacroF1")  # fmt: skip
    return found


def label_rows(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """One row a system, measure and label, None for what is undefined or not known."""
    for score in label_scores(table):
        known = {name: column.tolist() for name, column in (score.per_label or {}).items()}
        for place in range(len(known["label"])):
            row = {"system": score.system, "measure": score.heading, "label": known["label"][place]}
            for name in LABEL_COLUMNS[3:]:
                row[name] = _count(name, known[name][place]) if name in known else None
            yield row


def _count(name: str, value: float) -> float | int | None:
    number = _number(value)
    whole = number is not None and name != "value" and number == int(number)
    return int(number) if whole and number is not None else number


def write_items(path: str, table: ScoreTable) -> None:
    """Write the values of each item, as JSONL or CSV by the name's ending."""
    columns = ["id", "system", *item_headings(table)]
    with written(path) as out:
        if ending(path) == ".csv":
            write_csv(out, columns, item_rows(table))
        else:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in item_rows(table))


def write_labels(path: str, table: ScoreTable) -> None:
    """Write the values of each label, as JSON or CSV by the name's ending."""
    rows = label_rows(table)
    with written(path) as out:
        if ending(path) == ".csv":
            write_csv(out, LABEL_COLUMNS, rows)
        else:
            out.write(json.dumps(list(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(out: Any, columns: Sequence[str], rows: Iterator[dict[str, Any]]) -> None:
    """Write rows under a head; an empty cell for None."""
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
