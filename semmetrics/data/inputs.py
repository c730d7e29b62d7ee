"""Read lists or a matrix from a file, a stream or a Python object.

Conventions
-----------
Text is UTF-8, or UTF-16 with a byte order mark. Readers never drop or repair anything. Content that
is unusual but clear is accepted with a note. Large JSON Lines files and tables are read by pyarrow.
If pyarrow meets anything unusual, the strict reader reads the file instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from semmetrics.data.cell_lists import check_no_vectors, read_cell_lists
from semmetrics.data.cells import MISSING_TEXTS
from semmetrics.data.form import DELIMITED_FORMATS, MATRICES, Form
from semmetrics.data.formats import find_document, find_table, find_text
from semmetrics.data.formats.base import Table
from semmetrics.data.input_formats import FIRST_LINE, format_of
from semmetrics.data.items import Items, encode
from semmetrics.data.json_files import (
    is_columns,
    parse,
    parse_source,
    read_json,
    read_jsonl,
)
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, is_number_rows
from semmetrics.data.read_options import (
    DEFAULTS,
    ReadOptions,
    is_truth,
    note_unused_options,
)
from semmetrics.data.source import (
    Source,
    check_lines,
    enough_memory,
    load,
    no_collection,
)
from semmetrics.errors import Fact, InputError, Places, format_place

ColumnNames: TypeAlias = Sequence[str | Sequence[str]] | None
"""The names of the columns of a matrix. Each is a string, or a sequence of synonyms."""

_FORMATS_WITH_NAMES = (*DELIMITED_FORMATS, "parquet", "arrow", "json", "jsonl", "coco")
_CHECKED_OPTIONS = (
    "id_column",
    "label_column",
    "score_column",
    "caption_column",
    "delimiter",
    "label_delimiter",
)
"""Options that a note reports if they have no effect on a format."""
_WORD_END = re.compile(r"[\W_\d]+")
_LOWER_IS_BETTER = frozenset(
    (
        "distance",
        "distances",
        "dist",
        "dists",
        "loss",
        "losses",
        "rank",
        "ranks",
        "ranking",
        "cost",
    )
)
"""Words in the name of a score column that suggest that its lowest score is the best."""
_NEGATED = frozenset(
    ("neg", "negative", "negated", "minus", "inv", "inverse", "inverted")
)
"""Words that suggest the opposite if they are in the same name."""


def open_input(data: Any, options: ReadOptions | None = None) -> Any:
    """Open a path, read a stream, and return any other object unchanged.

    Parameters
    ----------
    data : path, or any object
    options : ReadOptions, optional
        Only ``max_bytes`` is used.

    Returns
    -------
    Source, or data
        ``as_data`` and ``sample_of`` accept either, and read a Source only once.

    Raises
    ------
    InputError
        If a path or a stream cannot be read.

    Examples
    --------
    >>> open_input({"a": ["cat"]})
    {'a': ['cat']}
    """
    if isinstance(data, (str, os.PathLike)):
        return load(data, (options or DEFAULTS).max_bytes)
    if hasattr(data, "__arrow_c_stream__"):
        from semmetrics.data.objects import read_once

        return read_once(data)
    return data


def as_data(
    data: Any,
    form: Form,
    *,
    source: str = "input",
    names: ColumnNames = None,
    options: ReadOptions | None = None,
) -> Lists | Matrix:
    """Read lists or a matrix from any supported input.

    Parameters
    ----------
    data : path, Source, Lists, Matrix, or Python object
        A path (str or PathLike) is read in its format. A mapping or a Series has ids. A sequence
        contains items matched by position, or records. For frames, arrays, tensors and Arrow
        streams see `semmetrics.data.objects`.
    form : Form
        How values are written.
    source : str
        Name of a Python object in messages. Messages name a file by its path.
    names : sequence, optional
        Column names of a matrix.
    options : ReadOptions, optional
        How to read files and records.

    Returns
    -------
    Lists or Matrix
        A Matrix for arrays, sparse matrices, frames of numbers and files of these.

    Raises
    ------
    InputError
        If the input cannot be read as this form, or its content is invalid.
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    if isinstance(data, Source):
        return _finish(_read_file(data, form, names, options), form, options)
    if not isinstance(data, (Lists, Matrix)):
        from semmetrics.data.objects import read_python

        with enough_memory(source), no_collection():
            contents = read_python(data, form, source, names, options)
            return _finish(contents, form, options)
    if data.noun != form.noun:
        raise InputError(
            "wrong-content",
            data.source,
            value=f"{data.noun}s",
            wanted=f"{form.noun}s",
            example=f"{form.noun}s",
        )
    return data


def _finish(
    contents: Lists | Matrix, form: Form, options: ReadOptions
) -> Lists | Matrix:
    """Parse lists that are written as text in cells, and note suspicious contents."""
    if not isinstance(contents, Lists):
        return contents
    lists = read_cell_lists(contents, form)
    if (
        options.label_delimiter is not None
        and lists.column_names
        and not form.integers_as_positions
    ):
        check_no_vectors(lists)
    if form.noun == "caption":
        lists = _note_missing_captions(lists)
    if _are_lower_scores_better(lists, options):
        values = {"name": options.score_column}
        note = Fact("less-is-better", where=lists.source, values=values)
        return replace(lists, notes=[*lists.notes, note])
    return lists


def _are_lower_scores_better(lists: Lists, options: ReadOptions) -> bool:
    """Return whether the name of the score column suggests that its lowest score is the best.

    This is for predictions only. A column called "neg_loss", for example, or without a positive
    score, contains negated values, so its highest score is the best.
    """
    column = options.score_column
    scores = lists.side.scores
    if column is None or scores is None or is_truth(options):
        return False
    words = set(_WORD_END.split(column.casefold()))
    if words.isdisjoint(_LOWER_IS_BETTER) or not words.isdisjoint(_NEGATED):
        return False
    return bool((scores > 0).any())


def _note_missing_captions(lists: Lists) -> Lists:
    """Note captions that only mark a missing value, such as "nan"."""
    missing_codes = []
    for code, text in enumerate(lists.vocabulary):
        if str(text).strip().casefold() in MISSING_TEXTS:
            missing_codes.append(code)
    if not missing_codes:
        return lists
    n_missing = int(np.isin(lists.side.codes, missing_codes).sum())
    if not n_missing:
        return lists
    examples = (str(lists.vocabulary[missing_codes[0]]),)
    note = Fact("missing-captions", n_missing, examples, lists.source)
    return replace(lists, notes=[*lists.notes, note])


def _read_file(
    source: Source, form: Form, names: ColumnNames, options: ReadOptions
) -> Lists | Matrix:
    """Read a file that is not empty, and note options that have no effect on it."""
    with enough_memory(source.name), no_collection():
        file_format, contents = _read_any_format(source, form, names, options)
    source.forget()
    if not len(contents):
        what = f"{form.noun}s" if form.single else "items"
        remedy = "check the program that wrote it"
        raise InputError("nothing-given", source.name, what=what, remedy=remedy)
    unused_names = []
    for name in _CHECKED_OPTIONS:
        if file_format not in _formats_using(name, form):
            unused_names.append(name)
    has_splits = isinstance(contents, Lists) and contents.has_splits
    if not has_splits:
        unused_names.append("split")
    notes: list[Any] = [
        *contents.notes,
        *note_unused_options(options, unused_names, file_format),
    ]
    understood = contents.understood
    if source.packed:
        understood += ", gzip"
    return replace(contents, understood=understood, notes=notes)


def _formats_using(option: str, form: Form) -> Collection[str]:
    """Return the formats for which an option of ``_CHECKED_OPTIONS`` has an effect."""
    if option == "delimiter":
        return DELIMITED_FORMATS
    if option == "label_delimiter":
        return DELIMITED_FORMATS if form.scored else ()
    if option.removesuffix("_column") in form.roles:
        return _FORMATS_WITH_NAMES
    return ()


def _read_any_format(
    source: Source, form: Form, names: ColumnNames, options: ReadOptions
) -> tuple[str, Lists | Matrix]:
    """Read a file in a public format if it has one, otherwise in the format of its extension.

    Returns
    -------
    str
        The format, for messages.
    Lists or Matrix
    """
    text_format = find_text(source, form, options)
    if text_format is not None:
        items = text_format.read(source, form, options)
        return text_format.title, encode(items, form)
    file_format = format_of(source, options, form)
    if file_format not in DELIMITED_FORMATS:
        return file_format, _read_format(source, file_format, form, names, options)
    from semmetrics.data.dialect import describe_delimiter, find_delimiter

    dialect = find_delimiter(source, options, file_format)
    public_items = _read_public_table(source, file_format, form, dialect)
    if public_items is None:
        contents = _read_format(source, file_format, form, names, dialect)
    else:
        contents = encode(public_items, form)
    understood = contents.understood + describe_delimiter(options, dialect)
    return file_format, replace(contents, understood=understood)


def _read_format(
    source: Source,
    file_format: str,
    form: Form,
    names: ColumnNames,
    options: ReadOptions,
) -> Lists | Matrix:
    """Read a file in a given format, as a matrix or by the fastest reader that accepts it."""
    if file_format in MATRICES:
        from semmetrics.data.arrays import read_matrix_file

        contents = read_matrix_file(source, options, names, form)
        if isinstance(contents, Items):
            return encode(contents, form)
        return contents
    if file_format in DELIMITED_FORMATS:
        from semmetrics.data.one_hot_tables import read_one_hot

        matrix = read_one_hot(source, file_format, form, options)
        if matrix is not None:
            return matrix
    if file_format in ("parquet", "arrow"):
        from semmetrics.data.frame_reader import read_arrow_file

        return read_arrow_file(source, file_format, form, options)
    large = _read_large_text(source, file_format, form, options)
    if large is not None:
        return large
    if file_format == "json":
        json_table = _read_json_table(source, form, names, options)
        if json_table is not None:
            return json_table
    return encode(_read_strictly(source, file_format, form, options), form)


def _read_large_text(
    source: Source, file_format: str, form: Form, options: ReadOptions
) -> Lists | Matrix | None:
    """Read a large table or JSON Lines file with pyarrow.

    Return None for other files and for public formats, and if only the strict reader can read the
    file or report the problem.
    """
    if not source.is_large or file_format not in ("jsonl", *DELIMITED_FORMATS):
        return None
    if file_format == "jsonl" and _are_public_lines(source, form):
        return None
    from semmetrics.data.column_coder import FallbackError
    from semmetrics.data.large_text import read_large

    try:
        return read_large(source, file_format, form, options)
    except FallbackError:
        return None


def _read_public_table(
    source: Source, file_format: str, form: Form, options: ReadOptions
) -> Items | None:
    """Read a CSV or TSV file in a public format, or return None if it is not in one."""
    from semmetrics.data.csv_rows import Rows, field_limit, first_row

    is_tabbed = file_format == "tsv"
    with field_limit(options.max_line_bytes):
        header = first_row(source, options, tabs=is_tabbed)
        public_format = find_table(header, form, options)
        if public_format is None:
            return None
        rows = Rows(source, options, tabs=is_tabbed)
        table = Table(rows.name, rows.header, "line {}", rows)
        items = public_format.read(table, form, options)
    items.notes += public_format.unused(options, form)
    items.notes += rows.notes
    return items


def _are_public_lines(source: Source, form: Form) -> bool:
    """Return whether the first line of a JSON Lines file is in a public format."""
    line = FIRST_LINE.search(source.beginning)
    if line is None:
        return False
    try:
        return find_document([parse(line.group(), "")], form) is not None
    except InputError:
        # The strict reader raises it again, with the place in the file.
        return False


def _read_json_table(
    source: Source, form: Form, names: ColumnNames, options: ReadOptions
) -> Lists | Matrix | None:
    """Read a JSON file that contains rows of numbers or a mapping of columns, or return None."""
    value = source.parsed(parse_source)
    if find_document(value, form) is not None:
        return None
    if form.integers_as_names and is_number_rows(value):
        from semmetrics.data.objects import plain_matrix

        return as_matrix(
            plain_matrix(value, source.name),
            names,
            source=source.name,
            understood="JSON, rows of numbers",
            finite=not form.allows_nan,
        )
    if not isinstance(value, dict):
        return None
    if not is_columns(value, form, options, source.name):
        return None
    from semmetrics.data.objects import read_columns

    contents = read_columns(value, form, source.name, options)
    return replace(contents, understood=f"JSON, {contents.understood}")


def _read_strictly(
    source: Source, file_format: str, form: Form, options: ReadOptions
) -> Items:
    """Read a text format with the strict reader, which names the place of every error."""
    if file_format in DELIMITED_FORMATS:
        from semmetrics.data.tables import read_table

        return read_table(source, form, options, tabs=file_format == "tsv")
    if file_format == "txt":
        return _read_text(source, form, options)
    if file_format == "flickr":
        return _read_flickr(source, form, options)
    if file_format == "trec":
        from semmetrics.data.trec_files import read_trec

        return read_trec(source, options)
    if file_format == "jsonl":
        return read_jsonl(source, form, options)
    if file_format in ("json", "coco"):
        return read_json(source, form, options)
    raise NotImplementedError(f"no reader for the format {file_format!r}")


def _read_flickr(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read a token file of Flickr8k or Flickr30k as if it were a COCO file of captions."""
    from semmetrics.data.karpathy_files import read_tokens

    annotations = read_tokens(source, options.max_line_bytes)
    title = "Flickr's token file"
    items: Items = form.coco(annotations, source.name, title=title)  # type: ignore[misc]
    return items


def _blank_lines(lines: Sequence[str]) -> list[int]:
    """Return the numbers of lines without a visible character."""
    numbers = []
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            numbers.append(number)
    return numbers


def _read_text(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read plain text with one item per line and tabs between its entries.

    Only a line feed ends a line, with an optional carriage return before it.
    """
    from semmetrics.data.dialect import check_plain_text

    check_lines(source, options.max_line_bytes)
    text = source.text
    if "\n" not in text and "\r" in text.strip("\r"):
        raise InputError("carriage-returns", format_place(source.name, "line 1"))
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if options.format is None:
        check_plain_text(source, lines)
    places = Places(source.name, None, "line {}", range(1, len(lines) + 1))
    items = Items(None, lines, places, source.name, f"text, one {form.noun} per line")
    if "\t" in text:
        items.items = [line.split("\t") for line in lines]
        items.understood = f"text, one item per line, tabs between its {form.noun}s"
    blank_lines = _blank_lines(lines)
    if blank_lines:
        values = {"noun": form.noun, "first": blank_lines[0]}
        items.notes.append(Fact("blank-texts", len(blank_lines), values=values))
    return items
