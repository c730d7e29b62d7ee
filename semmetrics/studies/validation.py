"""Descriptions of input data, with anything unusual in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import find_kind, resolve_kind
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import visible
from semmetrics.options import OPTIONS, Options
from semmetrics.reports import Records

if TYPE_CHECKING:
    from typing_extensions import Unpack

VALIDATION_SCHEMA = "semmetrics.validation/1"


@takes_options()
def validate(data: Any, **options: Unpack[Options]) -> dict[str, Any]:
    """Describe predictions or ground truth, and find anything unusual in them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, matrix, Lists or Matrix
        One side, as for ``score``.
    **options

    Returns
    -------
    dict
        Plain values: "file" (None for an object), "error" (None), "task", "understood",
        "notes", "items" and "odd", which has a line per oddity. Labels and captions
        have further numbers.

    Raises
    ------
    InputError
        If the data cannot be read, or an option is invalid.

    Examples
    --------
    >>> record = validate({"a": ["cat", "cat"], "b": ["Cat "]})
    >>> for line in record["odd"]:
    ...     print(line)
    1 of 2 items with a repeated label: 'a'
    1 label with leading or trailing spaces: 'Cat '
    1 group of labels differing only by case or white space: 'cat', 'Cat '
    """
    from semmetrics.data.inputs import open_input
    from semmetrics.data.side_inputs import read_class_list

    classes = options.get("classes")
    files = options.get("read") or ReadOptions()
    side = open_input(data, files)
    if isinstance(classes, (str, os.PathLike)):
        classes = read_class_list(classes, files.for_side_inputs())
    task, notes = _choose_task(options.get("task"), classes, side, files)
    if classes is not None and task not in OPTIONS["classes"].kinds:
        values = {"option": "classes", "on": task}
        notes.append(Fact("no-effect-on", values=values))
        classes = None

    kind = find_kind(task)
    read_options = resolve_options({"classes": classes, "read": files}, task)
    lists = kind.read(side, "input", read_options)
    # Lists of labels have another order than "columns", which is for matrices.
    has_names = getattr(lists, "order", "columns") != "columns"
    if classes is not None and has_names:
        values = {"option": "classes", "on": "lists, because their labels have names"}
        notes.append(Fact("no-effect-on", values=values))
    if not len(lists):
        raise InputError(
            "nothing-given", "input", what="items", remedy="give at least one"
        )
    record = kind.describe(lists)
    record["notes"] += [note.text(_spell_option) for note in notes]
    path = None
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
    return {
        "schema": VALIDATION_SCHEMA,
        "file": path,
        "error": None,
        "task": task,
        **record,
    }


def _choose_task(
    task: str | None, classes: Any, side: Any, files: ReadOptions
) -> tuple[str, list[Fact]]:
    """Return the requested task, or infer it from the data. Also return notes."""
    if task is not None or classes is not None:
        first_task_with_classes = OPTIONS["classes"].kinds[0]
        return task or first_task_with_classes, []
    guess = resolve_kind(side, options=files)
    if not guess.others:
        return guess.kind, []
    values = {
        "understood": guess.understood,
        "kind": guess.kind,
        "others": guess.others,
    }
    return guess.kind, [Fact("kind-guessed", values=values)]


def _spell_option(name: str, _: Any) -> str:
    """Return the keyword and the flag of an option."""
    return OPTIONS[name].keyword_and_flag


def report_validation(record: dict[str, Any]) -> str:
    """Return the result of `validate` as text."""
    facts = find_kind(record["task"]).format_description(record)
    width = max(map(len, facts))
    lines = [f"{record['file'] or 'data'}: {record['understood']}"]
    for name, text in facts.items():
        if text:
            lines.append(f"  {name.ljust(width)}  {text}")
    lines += [f"  note: {note}" for note in record["notes"]]
    lines += [f"  odd: {line}" for line in record["odd"]]
    if not record["odd"]:
        lines.append("  nothing is odd")
    return "\n".join(map(visible, lines))


def tabulate_order(data: Any, read: ReadOptions | None = None) -> Records:
    """Return how often one label of a pair precedes the other, for each pair of labels.

    Parameters
    ----------
    data : path, mapping, sequence, Series or Lists
        Lists of labels whose order is meaningful.
    read : ReadOptions, optional

    Returns
    -------
    Records
        Columns "first", "second", "before" and "after" (numbers of lists in which the
        first label precedes or follows the second), and "order", the larger number
        divided by their sum, from 0.5 to 1. The most ordered pairs come first.

    Raises
    ------
    InputError
        If the data are a matrix, which has no order.

    References
    ----------
    Pineda, Salvador et al., 2019, supplement A.1 and figure 5.

    Examples
    --------
    >>> tabulate_order([["cat", "dog"], ["dog", "cat"], ["cat", "dog"]])[0]
    {'first': 'cat', 'second': 'dog', 'before': 2, 'after': 1, 'order': 0.6666666666666666}
    """
    from semmetrics.kinds.labels import as_labels
    from semmetrics.kinds.labels.normalization import class_name
    from semmetrics.metrics.label_statistics import label_order

    lists = as_labels(data, options=read or ReadOptions())
    if lists.order == "columns":
        raise InputError("not-applicable", lists.source, name="order", what="a matrix")
    counts = label_order(lists.side.indptr, lists.side.codes)
    names = [class_name(term) for term in lists.terms]
    first_codes, second_codes = counts.pairs.T.tolist()
    return Records(
        {
            "first": [names[code] for code in first_codes],
            "second": [names[code] for code in second_codes],
            "before": counts.a,
            "after": counts.b,
            "order": counts.order,
        }
    )
