"""TREC files: runs and qrels.

Conventions
-----------
The words of a line are separated by spaces. A line of a run has six, ``query Q0 document rank score
tag``. A line of qrels has four, ``query 0 document grade``. Documents of a run are ranked by
descending score. Equal scores keep the order of the lines. The rank in a line is ignored, as in
trec_eval.
"""

from __future__ import annotations

from semmetrics.data.items import Items
from semmetrics.data.lists import InputContent
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, check_lines
from semmetrics.errors import InputError, Places, format_place
from semmetrics.messages import pluralize
from semmetrics.schema import TREC, Row

_RUN_WIDTH = 6
_TREC_TITLES = {_RUN_WIDTH: "TREC run, one row per document", 4: "TREC qrels"}
"""What messages call a TREC file, by the number of words in a line."""


def read_trec(source: Source, options: ReadOptions) -> Items:
    """Read a run, whose documents have scores, or qrels, whose documents have grades.

    Raises
    ------
    InputError
        If a line has another number of words, or a score is not a number. The message names the
        line.
    """
    check_lines(source, options.max_line_bytes)
    rows: list[Row] = []
    for line, text in enumerate(source.text.split("\n"), 1):
        words = text.split()
        if words:
            rows.append((line, None, words))
    first_line, _, first_words = rows[0]
    width = len(first_words)
    if width not in TREC:
        raise InputError(
            "wrong-content",
            format_place(source.name, f"line {first_line}"),
            value=pluralize(width, "word"),
            wanted="a line of a run or of qrels",
            example="query Q0 document rank score tag, or query 0 document grade",
        )
    is_run = width == _RUN_WIDTH
    table = TREC[width].read(rows, source.name, "line {}")
    documents = table.columns["document"]
    scores = table.columns["score" if is_run else "grade"]
    items = []
    first_lines = []
    for query_rows in table.rows_by_group.values():
        items.append([(documents[row], scores[row]) for row in query_rows])
        line, _, _ = rows[query_rows[0]]
        first_lines.append(line)
    ids = list(table.rows_by_group)
    places = Places(source.name, ids, "line {}", first_lines)
    content: InputContent = "run" if is_run else "judgements"
    title = _TREC_TITLES[width]
    return Items(ids, items, places, source.name, title, content=content)
