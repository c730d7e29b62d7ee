"""Files read in blocks: the same items, places and errors as from the whole file."""

import gzip
import io
import json
import os
import random
import sys
import threading

import pyarrow as pa
import pytest
from pyarrow import parquet
from reading import saved
from refusals import refused

from semmetrics import ReadOptions, as_labels
from semmetrics.data import blocks, large_text, source
from semmetrics.data.blocks import find_side_files
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import DEFAULTS
from semmetrics.errors import InputError
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.classes import as_classes
from semmetrics.scale.stream import score_stream
from semmetrics.scoring.input_buffer import InputBuffer


def set_block_size(monkeypatch, size):
    """Read blocks of about ``size`` bytes, which pyarrow reads after the first one."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", max(1, size // 20))
    monkeypatch.setattr(blocks, "MAX_SMALL_BYTES", 64)
    monkeypatch.setattr(source, "MAX_SMALL_BYTES", 64)
    monkeypatch.setattr(large_text, "BLOCK_BYTES", 200)


def read_blocks(path, read=as_labels, options=DEFAULTS):
    """Return the lists of all blocks, and the number of bytes that were read."""
    n_bytes = []

    def read_block(data, name):
        return read(data, source=name, options=options)

    lists = find_side_files(str(path)).lists(read_block, options, n_bytes.append)
    return list(lists), sum(n_bytes)


def plain_values(lists_of_blocks):
    """Return ids, entries, scores, places, notes and description of the blocks together."""
    batches = InputBuffer()
    places = []
    for lists in lists_of_blocks:
        batches.extend(InputBuffer.of(lists))
        places += map(lists.where, range(len(lists)))
    merged = batches.lists()
    scores = merged.side.scores
    if scores is not None:
        scores = scores.tolist()
    notes = {note.code for note in batches.notes}
    return {
        "ids": list(merged.ids),
        "entries": merged.to_list(),
        "scores": scores,
        "places": places,
        "notes": notes,
        "understood": batches.understood,
    }


def csv(rows, header="id,label,score", comma=",", end="\n"):
    """Return a table as text."""
    lines = [header.replace(",", comma)]
    for row in rows:
        lines.append(comma.join(map(str, row)))
    return end.join(lines) + end


def jsonl(records, end="\n"):
    """Return JSON lines."""
    return end.join(map(json.dumps, records)) + end


def save_table(path, columns, rows_per_group=11):
    """Write a Parquet or Arrow file, and return the path."""
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=rows_per_group)
        return path
    open_file = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with open_file(str(path), table.schema) as sink:
        sink.write_table(table, max_chunksize=rows_per_group)
    return path


ROWS = []
for number in range(30):
    for copy in range(number % 4 + 1):
        ROWS.append((f"é{number}", f"cat {number * copy % 7}", number % 4 / 4))
IDS, LABELS, SCORES = zip(*ROWS, strict=True)
ROWS_AS_CSV = csv(ROWS)
QUOTED = [(id_, f'"{label}, ""x""\nx\r\ry"', 0.5) for id_, label, _ in ROWS]

NUMBERS = range(40)
ZERO_OR_ONE = [n % 2 for n in NUMBERS]
ONE_HOT = [(n, n % 2, n % 3 % 2, n % 5 % 2) for n in NUMBERS]
PROBABILITIES = [(n, n % 3 / 4, n % 5 / 4) for n in NUMBERS]
TAGS = [["a", "b"][: n % 3] for n in NUMBERS]
SETS = [{"id": n, "labels": ["cat", "dög"] * (n % 3), "url": n} for n in NUMBERS]
SETS_AS_JSONL = jsonl(SETS)
CAPTIONS = [{"id": n // 3, "caption": f"a cat {n}"} for n in NUMBERS]
INCHES = []
LISTS = []
for number in NUMBERS:
    INCHES.append((number, f'5" {number}' if number % 7 else '"a, b"'))
    LISTS.append((number, "\"['a', 'b']\"" if number % 3 else "['a']"))

TEXTS = {
    "rows.csv": ROWS_AS_CSV,
    "rows.tsv.gz": csv(ROWS, comma="\t", end="\r\n"),
    "quoted.csv": csv(QUOTED, '"id","\nlabel\r",scores'),
    "inches.csv": csv(INCHES, "id,label"),
    "lists.csv": csv(LISTS, "id,labels"),
    "empty_lines.csv": ROWS_AS_CSV.replace("é7,", "\n\né7,").replace("é20,", "\né20,"),
    "one_hot.csv": csv(ONE_HOT, "id,cat,dog,bus"),
    "sets.jsonl": jsonl(SETS, end="\n\n \n"),
    "mark.jsonl.gz": "\ufeff" + SETS_AS_JSONL.removesuffix("\n"),
    "captions.jsonl": jsonl(CAPTIONS),
    "classes.csv": csv(PROBABILITIES, "id,cat,dog"),
}
TABLES = {
    "rows.parquet": {"id": IDS, "label": LABELS, "x": SCORES, "score": SCORES},
    "sets.parquet": {"id": NUMBERS, "tags": TAGS},
    "one_hot.arrow": {"id": NUMBERS, "cat": ZERO_OR_ONE},
    "rows.arrows": {"id": IDS, "label": pa.array(LABELS).dictionary_encode()},
}
READERS = {"captions": as_captions, "classes": as_classes}
SIZES = [1, 7, 40, 10_000]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [*TEXTS, *TABLES])
def test_blocks_have_the_items_of_the_file(tmp_path, monkeypatch, name, size):
    path = tmp_path / name
    if name in TABLES:
        save_table(path, TABLES[name])
    else:
        saved(tmp_path, name, TEXTS[name])
    set_block_size(monkeypatch, size)
    stem, _, _ = name.partition(".")
    read = READERS.get(stem, as_labels)

    lists, n_bytes = read_blocks(path, read)

    whole = read(path)
    if not isinstance(whole, Lists):
        whole = whole.ranked()
    assert plain_values(lists) == plain_values([whole])
    assert n_bytes == path.stat().st_size == find_side_files(str(path)).size
    assert len(lists) > 1 or size == 10_000


# Errors

GOOD_RECORDS = [{"id": f"é{n}", "labels": ["cat"]} for n in range(30)]
GOOD_ROWS = [(f"é{n // 2}", f"cat {n}") for n in range(30)]
GOOD_TEXTS = {"jsonl": jsonl(GOOD_RECORDS), "csv": csv(GOOD_ROWS, "id,label")}
WRONG_LINES = {
    "jsonl": [
        b"{",
        b"[]",
        b'{"id": 1}',
        b'{"id": 1, "labels": ["a", 3]}',
        b'{"id": 1, "labels": []}\n{"id": 1, "labels": []}',
        b'{"id": 1, "labels": []} x',
        b'{"x": NaN}',
        b"\xff",
        b"\0",
        b" " * 99,
    ],
    "csv": [
        b"a",
        b"a,b,c",
        b",x",
        b"a,\na,b",
        b"\xff,",
        b"a,\0",
        b"a," + b"x" * 99,
        b"\xef\xbb\xbfa,b",
        b'a,"\n\n"',
        b'"a\n\xc3",b',
    ],
}
TEXT_CASES = []
for suffix, wrong_lines in WRONG_LINES.items():
    TEXT_CASES += [(suffix, line) for line in wrong_lines]


def assert_same_error(path, monkeypatch, size):
    """Check that reading in blocks raises the error of the whole file."""
    options = ReadOptions(max_line_bytes=80)
    set_block_size(monkeypatch, size)
    with pytest.raises(InputError) as whole_error:
        as_labels(path, options=options)
    with pytest.raises(InputError) as block_error:
        read_blocks(path, options=options)
    assert str(block_error.value) == str(whole_error.value)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("suffix", "wrong_line"), TEXT_CASES)
def test_errors_in_blocks_of_lines_are_errors_of_the_file(
    tmp_path, monkeypatch, suffix, wrong_line, size
):
    rng = random.Random(f"{wrong_line}{size}")
    lines = GOOD_TEXTS[suffix].encode().splitlines()
    place = rng.choice([1, 2, 15, 16, len(lines)])
    lines.insert(place, wrong_line)
    path = saved(tmp_path, f"x.{suffix}", b"\n".join(lines))

    assert_same_error(path, monkeypatch, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "wrong_cells",
    [
        {"id": ""},
        {"label": " "},
        {"score": None},
        {"label": None, "score": None},
    ],
    ids=str,
)
def test_errors_in_blocks_of_tables_are_errors_of_the_file(
    tmp_path, monkeypatch, suffix, wrong_cells, size
):
    ids = [f"i{n // 2}" for n in range(30)]
    columns = {"id": ids, "label": ["a"] * 30, "score": [0.5] * 30}
    for column, value in wrong_cells.items():
        columns[column][14] = value
    path = save_table(tmp_path / f"x.{suffix}", columns)

    assert_same_error(path, monkeypatch, size)


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet", "arrow", "arrows"])
def test_truncated_files_are_an_error(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv.gz":
        saved(tmp_path, path.name, csv(ROWS * 999))
    else:
        save_table(path, {"id": ["a", "b"] * 99, "label": ["x"] * 198})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])

    with refused("damaged", str(path)):
        read_blocks(path)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("x.json", b"{}", "wrong-format"),
        ("x.parquet.gz", b"PAR1", "wrong-format"),
        ("x.jsonl", b"\n \n", "empty"),
        ("x.csv", b"label\na\n", "missing-column"),
        ("x.csv", b"id,label\na," + b"x" * 10_000, "line-too-long"),
        ("x.csv", b'id,label\na,"' + b"x\n" * 5_000, "not-csv"),
    ],
)
def test_files_that_cannot_be_read_in_blocks_are_an_error(
    tmp_path, monkeypatch, name, data, code
):
    set_block_size(monkeypatch, 40)
    path = saved(tmp_path, name, data)

    with refused(code):
        read_blocks(path, options=ReadOptions(max_line_bytes=100))


def test_rows_of_an_id_must_be_together(tmp_path, monkeypatch):
    ids = ["a", "a", "b", *range(50), "b"]
    rows = [(id_, "x") for id_ in ids]
    path = saved(tmp_path, "x.csv", csv(rows, "id,label"))

    with refused("rows-apart", f"{path}, id 'b'"):
        read_blocks(path)


def test_rows_of_an_id_in_different_blocks_are_found_by_the_caller(
    tmp_path, monkeypatch
):
    set_block_size(monkeypatch, 40)
    rows = [(id_, "x") for id_ in ["b", *range(50), "b"]]
    path = saved(tmp_path, "x.csv", csv(rows, "id,label"))

    lists, _ = read_blocks(path)

    assert lists[0].ids[0] == lists[-1].ids[-1] == "b"


def test_blocks_that_are_read_in_two_layouts_are_an_error(tmp_path, monkeypatch):
    """Early rows are all 0/1, so they are items; a later label shows that rows are labels."""
    set_block_size(monkeypatch, 1000)
    rows = [(f"i{n}", n % 2, 1, 0) for n in range(500)]
    rows.append(("last", "cat", 1, 0))
    path = str(saved(tmp_path, "gt.csv", csv(rows, "id,label,dog,bus")))

    with refused("mixed-layout"):
        score_stream(path, path, measures="F1").compute()


# Folders and streams


def test_the_files_of_a_folder_are_one_side(tmp_path):
    folder = tmp_path / "set [1]*"
    folder.mkdir()
    (folder / "a.tsv.GZ").write_bytes(gzip.compress(b"id\tlabel\na\tx\n"))
    saved(folder, "b.csv", "id,label\nb,y\n")
    saved(folder, ".hidden.csv", "id,label\n")
    saved(folder, "_SUCCESS", "")

    (first, second), n_bytes = read_blocks(folder)

    assert list(first.ids) == ["a"]
    assert list(second.ids) == ["b"]
    assert first.source == second.source == str(folder)
    assert second.where(0) == f"{folder / 'b.csv'}, line 2, id 'b'"
    assert n_bytes == find_side_files(str(folder)).size


def test_a_pattern_may_match_in_a_folder_with_wildcards_in_its_name(tmp_path):
    folder = tmp_path / "set [1]*"
    folder.mkdir()
    path = saved(folder, "b.csv", "id,label\nb,y\n")

    parts = find_side_files(str(tmp_path / "set*" / "b*"))

    assert parts.paths == (str(path),)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("header.csv", "nothing-given"),
        ("no*", "nothing-given"),
        ("no", "missing-file"),
        ("empty.jsonl", "empty-file"),
        ("empty.parquet", "nothing-given"),
    ],
)
def test_paths_without_items_are_an_error(tmp_path, name, code):
    saved(tmp_path, "header.csv", "id,label\n")
    saved(tmp_path, "empty.jsonl", "")
    no_strings = pa.array([], pa.string())
    save_table(tmp_path / "empty.parquet", {"id": no_strings, "label": no_strings})

    with refused(code, str(tmp_path / name)):
        read_blocks(tmp_path / name)


@pytest.mark.parametrize(
    ("columns", "name", "found", "wanted"),
    [
        ({"id": [4], "tags": [["x"]]}, "id", "int64", "string"),
        ({"id": ["d"], "names": [["x"]]}, "tags", "missing", "list<string>"),
    ],
)
def test_tables_of_a_folder_with_other_columns_are_an_error(
    tmp_path, columns, name, found, wanted
):
    save_table(tmp_path / "a.parquet", {"id": ["a"], "tags": [["x"]]})
    path = save_table(tmp_path / "b.parquet", columns)

    where = f"{path}, column '{name}'"
    with refused("other-column", where, found=found, wanted=wanted):
        read_blocks(tmp_path)


@pytest.mark.parametrize("name", ["-", "x.jsonl"])
def test_standard_input_and_pipes_are_read_once(tmp_path, monkeypatch, name):
    set_block_size(monkeypatch, 40)
    monkeypatch.setattr(source, "copy_to_file", None)
    data = SETS_AS_JSONL.encode()
    path = name
    if name == "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    else:
        path = tmp_path / name
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(data,)).start()

    assert find_side_files(str(path)).size is None
    lists, n_bytes = read_blocks(path)

    labels = [record["labels"] for record in SETS]
    assert plain_values(lists)["entries"] == labels
    assert n_bytes == len(data)
