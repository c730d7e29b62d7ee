"""Lists or a matrix from anything that holds them, and samples of inputs to tell them by.

Conventions
-----------
The format of a file is that of its extension, with or without ".gz"; gzip is known by its content.
"-" is standard input, and its format is told by its content. Text is UTF-8, or UTF-16 with a byte
order mark. Nothing is dropped or repaired; what is odd but clear is noted. Large JSON lines and
tables are read by pyarrow, and by the strict reader where something in them is odd.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data import form as forms
from semmetrics.data.cell_lists import check_no_vectors, read_cell_lists
from semmetrics.data.cells import MISSING_TEXTS
from semmetrics.data.form import DEFAULTS, TABLES, Form, ReadOptions, unused
from semmetrics.data.formats import find_document, find_table, find_text
from semmetrics.data.formats.base import Table
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
from semmetrics.data.public import TOKEN_LINE
from semmetrics.data.source import (
    Source,
    check_lines,
    enough_memory,
    load,
    no_collection,
)
from semmetrics.errors import Fact, InputError, Places, at
from semmetrics.messages import a_kind

_BINARY = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x89HDF": "hdf5",
}
_NAMED = (*TABLES, "parquet", "arrow", "json", "jsonl", "coco")
_ITEMS, _STRINGS = 200, 20
_LINE = re.compile(r"\S[^\n]*")
_WORD_END = re.compile(r"[\W_\d]+")
_LESS_IS_BETTER = frozenset(
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
"""Words in the name of a column whose lowest number is the best."""
_NEGATED = frozenset(
    ("neg", "negative", "negated", "minus", "inv", "inverse", "inverted")
)
# bytes that have the header
_NPY_VECTOR, _HEADER = (
    re.compile(rb"'shape': *\(\d+,\)"),
    10_100,
)


def format_of(source: Source, options: ReadOptions, form: Form) -> str:
    """Find the format of an input among those that a form is read from."""
    table = None
    if source.suffix == ".txt":
        from semmetrics.data.dialect import table_in_text

        table = table_in_text(source, options, frozenset(form.columns))
    return table or format_among(
        source, options, f"{form.noun}s", form.formats, told=True
    )


def format_among(
    source: Source,
    options: ReadOptions,
    what: str,
    kinds: Collection[str],
    *,
    told: bool = False,
) -> str:
    """Find the format of an input; a file with an unknown extension needs the option.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    what : str
        What it holds, for messages: "numbers are".
    kinds : collection of str
        The formats it is read from, as messages list them. Where plain text is one of them, a
        stream of text with a header that names an id is a table all the same.
    told : bool
        Whether a user of the program can name the format.

    Raises
    ------
    InputError
        If it cannot be told, or is none of these.
    """
    if source.suffix is None and options.format is None:
        kind: str | None = sniff(source, options, text="txt" in kinds)
    else:
        kind = options.format or forms.EXTENSIONS.get(source.suffix or "")
    if (
        kind == "txt" != options.format
        and "flickr" in kinds
        and TOKEN_LINE.match(source.beginning)
    ):
        kind = "flickr"
    if kind is None or (
        kind == "txt" != options.format and told and "txt" not in kinds
    ):
        known = ", ".join(
            suffix for suffix, one in forms.EXTENSIONS.items() if one in kinds
        )
        raise InputError(
            "unknown-extension",
            source.name,
            ending=source.suffix or "",
            known=known,
            instead="format" * told,
        )
    if kind not in kinds:
        what = what.removesuffix(" are").removesuffix(" is")
        wanted = ", ".join(kinds)
        raise InputError(
            "wrong-format", source.name, what=what, format=kind, wanted=wanted
        )
    return kind


def sniff(source: Source, options: ReadOptions, *, text: bool) -> str:
    """Tell the format from the content; text that is not a table is plain text, if that is read."""
    for magic, kind in _BINARY.items():
        if source.head.startswith(magic):
            return kind
    content = source.beginning
    found = _LINE.search(content)
    line = found.group() if found else ""
    if line.startswith("{"):
        try:
            value: Any = parse(line, "")
        except InputError:
            # an object over several lines, or an error that its reader raises
            return "json"
        more = found is not None and _LINE.search(content, found.end()) is not None
        keys = (*forms.RECORD_IDS, forms.FILE_ID)
        record = more or any(isinstance(value.get(key), str | int) for key in keys)
        return "jsonl" if record else "json"
    kind = "json" if line.startswith("[") else "csv"
    if kind == "csv" and "\t" in line and options.delimiter is None:
        kind = "tsv"
    if kind == "json" or not text:
        return kind
    if TOKEN_LINE.fullmatch(line.rstrip("\r")):
        return "flickr"
    from semmetrics.data.csv_rows import first_row
    from semmetrics.data.dialect import find_delimiter, names_id

    used = find_delimiter(source, options, kind)
    cells = first_row(source, used, tabs=kind == "tsv")
    return kind if len(cells) > 1 and names_id(cells, options) else "txt"


def open_input(data: Any, options: ReadOptions | None = None) -> Any:
    """Open a path, read a stream, and leave anything else as it is.

    Parameters
    ----------
    data : path, or anything
    options : ReadOptions, optional
        The limit on bytes is used.

    Returns
    -------
    Source, or data
        ``as_data`` and ``sample_of`` take either, and do not read it twice.

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
    names: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists | Matrix:
    """Read lists or a matrix from whatever holds them.

    Parameters
    ----------
    data : path, Source, Lists, Matrix, or Python object
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        has items by position, or records. Of frames, arrays, tensors and Arrow streams see
        `semmetrics.data.objects`.
    form : Form
        How values are written.
    source : str
        What messages call it; a path is called by itself.
    names : sequence, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix
        The latter of arrays, sparse matrices, frames of numbers, and files of them.

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    if isinstance(data, Source):
        found = _read_file(data, form, names, options)
        return _finish(found, form, options)
    if not isinstance(data, (Lists, Matrix)):
        from semmetrics.data.objects import read_python

        with enough_memory(source), no_collection():
            found = read_python(data, form, source, names, options)
            return _finish(found, form, options)
    if data.noun != form.noun:
        raise InputError(
            "wrong-content",
            data.source,
            value=f"{data.noun}s",
            wanted=f"{form.noun}s",
            example="the data again",
        )
    return data


def _finish(found: Lists | Matrix, form: Form, options: ReadOptions) -> Lists | Matrix:
    """Read lists that cells contain, and note a column of scores in which less is better."""
    if not isinstance(found, Lists):
        return found
    found = read_cell_lists(found, form)
    if options.label_delimiter is not None and found.column_names and not form.places:
        check_no_vectors(found)
    if form.noun == "caption":
        found = _note_missing_captions(found)
    column, scores = options.score_column, found.side.scores
    if column is None or scores is None or forms.is_truth(options):
        return found
    words = set(_WORD_END.split(column.casefold()))
    is_negated = not words.isdisjoint(_NEGATED) or not (scores > 0).any()
    if words.isdisjoint(_LESS_IS_BETTER) or is_negated:
        return found
    note = Fact("less-is-better", where=found.source, values={"name": column})
    return replace(found, notes=[*found.notes, note])


def _note_missing_captions(found: Lists) -> Lists:
    """Note captions that only say that a value is missing, such as "nan"."""
    codes = []
    for code, text in enumerate(found.vocabulary):
        if str(text).strip().casefold() in MISSING_TEXTS:
            codes.append(code)
    n = int(np.isin(found.side.codes, codes).sum()) if codes else 0
    if not n:
        return found
    note = Fact("missing-captions", n, (str(found.vocabulary[codes[0]]),), found.source)
    return replace(found, notes=[*found.notes, note])


def _read_file(
    source: Source, form: Form, names: Any, options: ReadOptions
) -> Lists | Matrix:
    with enough_memory(source.name), no_collection():
        kind, found = _read_any(source, form, names, options)
    source.forget()
    if not len(found):
        what = f"{form.noun}s" if form.single else "items"
        remedy = "check how it was written"
        raise InputError("nothing-given", source.name, what=what, remedy=remedy)
    applies = {
        **{f"{role}_column": _NAMED for role in form.roles},
        "delimiter": TABLES,
        "label_delimiter": TABLES if form.scored else (),
    }
    given = (
        "id_column",
        "label_column",
        "score_column",
        "caption_column",
        *list(applies)[-2:],
    )
    elsewhere = [option for option in given if kind not in applies.get(option, ())]
    if not found.understood.startswith(("Karpathy's", "MSR-VTT")):
        elsewhere.append("split")
    packed = ", gzip" if source.packed else ""
    notes: list[Any] = [*found.notes, *unused(options, elsewhere, kind)]
    return replace(found, understood=f"{found.understood}{packed}", notes=notes)


def _read_any(
    source: Source, form: Form, names: Any, options: ReadOptions
) -> tuple[str, Lists | Matrix]:
    """Read a file of a public format, or else of the format that its name says; return which."""
    text_format = find_text(source, form, options)
    if text_format is not None:
        return text_format.title, encode(text_format.read(source, form, options), form)
    kind = format_of(source, options, form)
    if kind not in TABLES:
        return kind, _read_format(source, kind, form, names, options)
    from semmetrics.data.dialect import describe_delimiter, find_delimiter

    used = find_delimiter(source, options, kind)
    items = _read_public_table(source, kind, form, used)
    found = (
        _read_format(source, kind, form, names, used)
        if items is None
        else encode(items, form)
    )
    understood = found.understood + describe_delimiter(options, used)
    return kind, replace(found, understood=understood)


def _read_format(
    source: Source, kind: str, form: Form, names: Any, options: ReadOptions
) -> Lists | Matrix:
    if kind in forms.MATRICES:
        from semmetrics.data.arrays import read_matrix_file

        read = read_matrix_file(source, options, names, form)
        return encode(read, form) if isinstance(read, Items) else read
    if kind in TABLES:
        from semmetrics.data.one_hot_tables import read_one_hot

        matrix = read_one_hot(source, kind, form, options)
        if matrix is not None:
            return matrix
    if kind in ("parquet", "arrow"):
        from semmetrics.data.frame_reader import read_arrow_file

        return read_arrow_file(source, kind, form, options)
    if (
        source.is_large
        and kind in ("jsonl", *TABLES)
        and not _is_public_lines(source, kind, form)
    ):
        from semmetrics.data.column_coder import OddError
        from semmetrics.data.large_text import read_large

        try:
            return read_large(source, kind, form, options)
        except OddError:
            pass
    if kind == "json":
        found = _read_json_table(source, form, names, options)
        if found is not None:
            return found
    return encode(_read_strictly(source, kind, form, options), form)


def _read_public_table(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Items | None:
    """Read a CSV or TSV file of a public format; None if it is not one."""
    from semmetrics.data.csv_rows import Rows, field_limit, first_row

    with field_limit(options.max_line_bytes):
        public_format = find_table(
            first_row(source, options, tabs=kind == "tsv"), form, options
        )
        if public_format is None:
            return None
        rows = Rows(source, options, tabs=kind == "tsv")
        found = public_format.read(
            Table(rows.name, rows.header, "line {}", rows), form, options
        )
    found.notes += public_format.unused(options, form) + rows.notes
    return found


def _is_public_lines(source: Source, kind: str, form: Form) -> bool:
    """Return whether JSON lines are of a public format, by the first one."""
    line = _LINE.search(source.beginning) if kind == "jsonl" else None
    if line is None:
        return False
    try:
        return find_document([parse(line.group(), "")], form) is not None
    except InputError:  # which the strict reader raises with its place
        return False


def _read_json_table(
    source: Source, form: Form, names: Any, options: ReadOptions
) -> Lists | Matrix | None:
    """Read a document that is a mapping of columns, or rows of numbers; None of any other."""
    value = source.parsed(parse_source)
    if find_document(value, form) is not None:
        return None
    if form.numbered and is_number_rows(value):
        from semmetrics.data.objects import plain_matrix

        rows = plain_matrix(value, source.name)
        return as_matrix(
            rows,
            names,
            source=source.name,
            understood="JSON, rows of numbers",
            finite=not form.allows_nan,
        )
    if not isinstance(value, dict) or not is_columns(value, form, options, source.name):
        return None
    from semmetrics.data.objects import read_columns

    found = read_columns(value, form, source.name, options)
    return replace(found, understood=f"JSON, {found.understood}")


def _read_strictly(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Items:
    if kind in TABLES:
        from semmetrics.data.tables import read_table

        return read_table(source, form, options, tabs=kind == "tsv")
    if kind == "txt":
        return _read_text(source, form, options)
    if kind == "flickr":
        from semmetrics.data.public import read_tokens

        annotations = read_tokens(source, options.max_line_bytes)
        found: Items = form.coco(annotations, source.name)  # type: ignore[misc]
        found.understood = found.understood.replace(
            "COCO captions", "Flickr's token file"
        )
        return found
    if kind == "trec":
        from semmetrics.data.public import read_trec

        return read_trec(source, form, options)
    return (read_jsonl if kind == "jsonl" else read_json)(source, form, options)


def _read_text(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read plain text: one item a line, and tabs between its entries.

    A line ends with a line feed, or a carriage return and a line feed, and nothing else.
    """
    from semmetrics.data.dialect import check_plain_text

    check_lines(source, options.max_line_bytes)
    text = source.text
    if "\n" not in text and "\r" in text.strip("\r"):
        raise InputError("carriage-returns", at(source.name, "line 1"))
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    if options.format is None:
        check_plain_text(source, lines)
    places = Places(source.name, None, "line {}", range(1, len(lines) + 1))
    found = Items(None, lines, places, source.name, f"text, one {form.noun} a line")
    if "\t" in text:
        found.items = [line.split("\t") for line in lines]
        found.understood = f"text, one item a line, tabs between its {form.noun}s"
    if blank := [
        number for number, line in enumerate(lines, 1) if not line or line.isspace()
    ]:
        values = {"noun": form.noun, "first": blank[0]}
        found.notes.append(Fact("blank-texts", len(blank), values=values))
    return found


class Sample(NamedTuple):
    """What an input looks like, for kinds to recognise.

    Attributes
    ----------
    shape : {"strings", "vector", "lists", "entries", "columns", "keys", "mapping", "text", "run",
    "matrix", "other"}
        A string an item; a whole number an item; lists of strings; lists of something else, such as
        scores; a table or records with ``names``; a ``mapping`` that may be a COCO file; plain
        text; a ranked run or its judgements; a matrix; what is none of these, or cannot be read.
    what : str
        The same in words.
    names : sequence of str
        The columns of a table, or the keys of the first records.
    strings : sequence of str
        Some of the strings.
    cut : bool
        Whether there may be more strings.
    read : ReadOptions
        How the input is read.
    noun : str or None
        What entries are, where the input has been read before.
    value : object
        The mapping.
    """

    shape: str
    what: str
    names: Sequence[str] = ()
    strings: Sequence[str] = ()
    noun: str | None = None
    value: Any = None
    cut: bool = False
    read: ReadOptions = DEFAULTS

    @property
    def words(self) -> float:
        """The mean number of words of its strings."""
        return sum(len(text.split()) for text in self.strings) / max(
            1, len(self.strings)
        )

    @property
    def is_single_words(self) -> bool:
        """Whether every string is one word; scripts without blanks do not tell."""
        return all(text.isascii() and len(text.split()) < 2 for text in self.strings)


_VECTOR = Sample("vector", "a whole number an item")


def sample_of(data: Any, form: Form, options: ReadOptions | None = None) -> Sample:
    """Look at the beginning of an input.

    Parameters
    ----------
    data : Source, or anything that ``as_data`` takes
        What a Source reads for it is not read again.
    form : Form
        With all formats that may be meant.
    options : ReadOptions, optional

    Raises
    ------
    InputError
        If a file cannot be read.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> sample_of({"a": ["cat", "dog"]}, form).shape
    'lists'
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    if isinstance(data, Source):
        text_format = find_text(data, form, options)
        if text_format is not None:
            return Sample("other", text_format.title, noun=text_format.nouns[0])
        with enough_memory(data.name):
            return _sample_file(data, form, options)
    if isinstance(data, (Lists, Matrix)):
        return Sample("other", data.understood, noun=data.noun)
    from semmetrics.data.frames import column_names, is_frame, is_series
    from semmetrics.data.objects import plain_object

    if is_frame(data):
        return _sample_columns(column_names(data), form, options)
    if is_series(data):
        return _sample_values(data)
    return _sample_value(plain_object(data), f"{a_kind(data)}", form)


def _sample_file(source: Source, form: Form, options: ReadOptions) -> Sample:
    kind = format_of(source, options, form)
    if kind in ("json", "coco"):
        return _sample_value(source.parsed(parse_source), "JSON", form)
    if kind == "jsonl":
        line = _LINE.search(source.beginning)
        return _sample_value(
            [parse(line.group() if line else "{}", source.name)], "JSON", form
        )
    if kind in TABLES:
        from semmetrics.data.csv_rows import first_row
        from semmetrics.data.dialect import find_delimiter

        used = find_delimiter(source, options, kind)
        return _sample_columns(
            first_row(source, used, tabs=kind == "tsv"), form, options
        )
    if kind in ("parquet", "arrow"):
        from semmetrics.data.arrow_files import open_arrow

        with open_arrow(source, kind) as (schema, _):
            names = list(schema.names)  # in a damaged file they may not be text
            return _sample_columns(names, form, options)
    if kind in ("txt", "trec", "flickr"):
        return (
            Sample("run", "TREC lines")
            if kind == "trec"
            else Sample("text", "plain text")
        )
    vector = source.head[:6] == b"\x93NUMPY" and _NPY_VECTOR.search(
        source.head[:_HEADER]
    )
    return _VECTOR if vector else Sample("matrix", "a matrix")


def _sample_columns(columns: Sequence[Any], form: Form, options: ReadOptions) -> Sample:
    """Look at the columns of a table."""
    sample = _named("columns", columns)
    public_format = find_table(sample.names, form, options)
    if public_format is None:
        return sample
    return Sample("other", public_format.title, noun=public_format.nouns[0])


def _sample_value(value: Any, what: str, form: Form) -> Sample:
    public_format = find_document(value, form)
    if public_format is not None:
        return Sample("other", public_format.title, noun=public_format.noun_of(value))
    if isinstance(value, Mapping):
        return _sample_values(value.values())._replace(value=value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return _sample_sequence(value)
    if isinstance(value, np.ndarray):
        return (
            _VECTOR
            if value.ndim == 1 and value.dtype.kind in "iu"
            else Sample("matrix", what)
        )
    return Sample("other", what)


def _sample_sequence(values: Sequence[Any]) -> Sample:
    """Look at records by their keys, or at other items."""
    first = list(islice(values, _STRINGS))
    records = [record for record in first if isinstance(record, Mapping)]
    if records and isinstance(first[0], Mapping):
        return _named("keys", list(dict.fromkeys(chain.from_iterable(records))))
    return _sample_values(values)


def _named(shape: str, names: Sequence[Any]) -> Sample:
    return Sample(
        shape, f"{shape} {', '.join(map(repr, names[:8]))}", [str(n) for n in names]
    )


def _sample_values(items: Iterable[Any]) -> Sample:
    """Look at items that are strings or lists."""
    first = list(islice(items, _ITEMS))
    kinds = (list, tuple, Set, np.ndarray)
    lists = [
        item for item in first if isinstance(item, kinds) and forms.is_iterable(item)
    ]
    if not lists:
        if texts := [item for item in first if isinstance(item, str)]:
            return Sample("strings", "a string an item", (), texts)
        whole = {type(item) for item in first} <= {int}
        return _VECTOR if first and whole else Sample("other", "items")
    parts = [part for item in lists for part in islice(item, _STRINGS)]
    if all(isinstance(part, str) for part in parts):
        cut = len(first) == _ITEMS or any(len(item) > _STRINGS for item in lists)
        return Sample("lists", "lists of strings", (), parts, cut=cut)
    return Sample("entries", "lists of labels")
