"""What a file or an object holds, how it is understood, and what in it is probably a mistake."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from semmetrics.arguments import check_choice
from semmetrics.data.form import ReadOptions
from semmetrics.data.inputs import open_input
from semmetrics.data.side_inputs import read_class_list
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import find_kind, resolve_kind
from semmetrics.messages import visible
from semmetrics.options import OPTIONS, resolve_options

__all__ = ["SCHEMA", "report_validation", "validate"]

SCHEMA = "semmetrics.validation/1"


def validate(
    data: Any,
    *,
    classes: str | os.PathLike[str] | Sequence[str] | None = None,
    task: str | None = None,
    read: ReadOptions | None = None,
) -> dict[str, Any]:
    """Describe predictions or ground truth, and find what is odd in them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, matrix, Lists or Matrix
        One side, as ``score`` takes it.
    classes : path or sequence of str, optional
        The class list, which names the columns of a matrix.
    task : {"labels", "captions", "retrieval", "classes"}, optional
        What the data are; left out, their shape tells.
    read : ReadOptions, optional
        How a file is read.

    Returns
    -------
    dict
        Plain values: "file" (None for an object), "error" (None), "task", "understood", "notes",
        "items" and "odd", a line for each oddity; of labels and of captions different numbers.

    Raises
    ------
    InputError
        If the data cannot be read, or an option is wrong.

    Examples
    --------
    >>> found = validate({"a": ["cat", "cat"], "b": ["Cat "]})
    >>> for line in found["odd"]:
    ...     print(line)
    1 of 2 items with a repeated label: 'a'
    1 label with blanks around: 'Cat '
    1 group of labels differing only by case or white space: 'cat', 'Cat '
    """
    if task is not None:
        check_choice("task", task, OPTIONS["task"].choices)
    files, notes = read or ReadOptions(), []
    side = open_input(data, files)
    if isinstance(classes, (str, os.PathLike)):
        classes = read_class_list(classes, files.beside())
    with_classes = OPTIONS["classes"].kinds
    if task is None and classes is None:
        found = resolve_kind(side, options=files)
        task = found.kind
        if found.others:
            values = {"understood": found.understood, "kind": task, "others": found.others}
            notes.append(Fact("kind-guessed", values=values))
    task = task or with_classes[0]
    if classes is not None and task not in with_classes:
        notes.append(Fact("no-effect-on", values={"option": "classes", "on": task}))
        classes = None
    kind = find_kind(task)
    options = resolve_options({"classes": classes, "read": files}, task)
    lists = kind.read(side, "input", options)
    if not len(lists):
        raise InputError("nothing-given", "input", what="items", remedy="give at least one")
    record = kind.describer.describe(lists)
    record["notes"] += [fact.text(lambda name, _: OPTIONS[name].both) for fact in notes]
    path = os.fspath(data) if isinstance(data, (str, os.PathLike)) else None
    return {"schema": SCHEMA, "file": path, "error": None, "task": task, **record}


def report_validation(record: dict[str, Any]) -> str:
    """Write what `validate` found as a person reads it."""
    facts = find_kind(record["task"]).describer.report(record)
    width = max(map(len, facts))
    lines = [f"{record['file'] or 'data'}: {record['understood']}"]
    lines += [f"  {name.ljust(width)}  {text}" for name, text in facts.items() if text]
    lines += [f"  note: {note}" for note in record["notes"]]
    lines += [f"  odd: {line}" for line in record["odd"]]
    return "\n".join(map(visible, lines if record["odd"] else [*lines, "  nothing is odd"]))
