"""TREC's lines: ranked runs, and the judged relevance of documents (qrels).

Conventions
-----------
Words stand between blanks. A line of a run has six, ``query Q0 document rank score tag``; a line of
qrels four, ``query 0 document grade``. Documents of a run are ranked by falling score, those of
equal score as the lines are; the rank that a line says is not looked at, as in trec_eval.
"""

from __future__ import annotations

from semmetrics.data.form import Form, ReadOptions, number
from semmetrics.data.items import Items
from semmetrics.data.source import Source, check_lines
from semmetrics.errors import InputError, Places, at
from semmetrics.messages import pluralize

__all__ = ["read_trec"]

_WIDTHS = {6: (4, "score", "TREC run, one row a document"), 4: (3, "grade", "TREC qrels")}
_ROW = 300  # bytes that a line takes, at most


def read_trec(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read a run or qrels; documents have their scores, or grades.

    Raises
    ------
    InputError
        If a line has another number of words, or a score is no number; names the line.
    """
    check_lines(source, options.max_line_bytes)
    source.room().take(_ROW * source.text.count("\n"))
    found: dict[str, list[tuple[str, float]]] = {}
    lines: dict[str, int] = {}
    width = 0
    for line, text in enumerate(source.text.split("\n"), 1):
        words = text.split()
        if not words:
            continue
        width = width or len(words)
        if len(words) not in _WIDTHS or len(words) != width:
            raise InputError(
                f"the line has {pluralize(len(words), 'word')}",
                where=at(source.name, f"line {line}"),
                remedy="write 'query Q0 document rank score tag', or 'query 0 document grade'",
            )
        place, what, _ = _WIDTHS[width]
        score = number(words[place], at(source.name, f"line {line}", words[0]), what)
        found.setdefault(words[0], []).append((words[2], score))
        lines.setdefault(words[0], line)
    ids = list(found)
    places = Places(source.name, ids, "line {}", list(lines.values()))
    return Items(ids, list(found.values()), places, source.name, _WIDTHS[width][2])
