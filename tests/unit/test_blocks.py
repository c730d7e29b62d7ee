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
from refusals import refused

from semmetrics import ReadOptions, as_labels
from semmetrics.data import blocks, large_text, source
from semmetrics.data.blocks import find_parts
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import DEFAULTS
from semmetrics.errors import InputError
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.classes import as_classes
from semmetrics.scale.stream import score_stream
from semmetrics.scoring.input_buffer import InputBuffer

SIZES = [1, 7, 40, 10_000]


def cut_at(monkeypatch, size):
    """Let blocks be of a size; what comes after the first one is read by pyarrow."""
    for name, value in {"BLOCK": size, "ROWS": max(1, size // 20), "SMALL": 64}.items():
        monkeypatch.setattr(blocks, name, value)
    monkeypatch.setattr(source, "SMALL", 64)
    monkeypatch.setattr(large_text, "BLOCK", 200)


def stream(path, read=as_labels, options=DEFAULTS):
    """Everything that a stream yields, and the bytes that it went forward."""
    parts, steps = find_parts(str(path)), []
    given = parts.lists(
        lambda x, name: read(x, source=name, options=options), options, steps.append
    )
    return list(given), sum(steps)


def plain(some, is_split=False):
    """Lists as plain values: of blocks those of all together, and what notes do not count."""
    batches = InputBuffer()
    for one in some:
        batches.extend(InputBuffer.of(one))
    # counts cells
    found, understood = (
        batches.lists(),
        None if is_split else batches.understood,
    )
    scores = None if found.side.scores is None else found.side.scores.tolist()
    places = [one.where(row) for one in some for row in range(len(one))]
    notes = {
        (fact.code, fact.n * (fact.code == "unused-columns")) for fact in batches.notes
    }
    return list(found.ids), found.to_list(), scores, places, notes, understood


def csv(rows, comma=",", end="\n", header=("id", "label", "score")):
    return end.join(comma.join(map(str, row)) for row in [header, *rows]) + end


def jsonl(records, blank=""):
    return "".join(
        f"{blank if n % 9 == 4 else ''}{json.dumps(r)}\n" for n, r in enumerate(records)
    )


def write_table(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=11)
        return
    new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with new(str(path), table.schema) as sink:
        sink.write_table(table, max_chunksize=13)


ROWS = [
    (f"é{n}", f"cat {n * k % 7}", n % 4 / 4)
    for n in range(30)
    for k in range(n % 4 + 1)
]
IDS, LABELS, SCORES = zip(*ROWS, strict=True)
CELLS = {f"l{k}": [n * k % 3 % 2 for n in range(30)] for k in range(5)}
QUOTED = [
    (id_, f'"{label}, ""{n % 3}""\nx\r\ry"', "0.5")
    for n, (id_, label, _) in enumerate(ROWS)
]
INCHES = [(f"i{n}", f'5" {n}' if n % 7 else '"a, b"') for n in range(60)]
SETS = [{"id": n, "labels": ["cat", "dög"] * (n % 3), "url": n} for n in range(40)]
TEXTS = {
    "rows.csv": csv(ROWS),
    "rows.tsv.gz": csv(ROWS, "\t", "\r\n"),
    "bare.csv": csv(
        [(f"i{n}", "" if n % 3 else "cat") for n in range(40)], header=("id", "tag")
    ),
    "quoted.csv": csv(QUOTED, header=('"id"', '"\nlabel\r"', "scores")),
    "inches.csv": csv(INCHES, header=("id", "label")),
    "returns.csv": csv(ROWS, ",", "\r"),
    "blanks.csv": csv(ROWS).replace("é7,", "\n\né7,", 1).replace("é20,", "\né20,")
    + "\n\n",
    "hot.csv": csv(zip(range(30), *CELLS.values(), strict=True), header=("id", *CELLS)),
    "sets.jsonl": jsonl(SETS, " \n\n") + "\n \n",
    "mark.jsonl.gz": "\ufeff" + jsonl(SETS)[:-1],
    "scored.jsonl": jsonl({"id": n, "labels": {"a": n / 9, "b": 1}} for n in range(9)),
    "captions.jsonl": jsonl({"id": n // 3, "caption": f"a cat {n}"} for n in range(40)),
    "captions.lists.jsonl": jsonl(
        {"id": n, "refs": ["a", "b"] * (n % 2)} for n in range(40)
    ),
    "classes.jsonl": jsonl({"id": n, "class": n % 3} for n in range(40)),
    "classes.csv": csv(
        [(n, n % 3 / 4, n % 5 / 4) for n in range(40)], header=("id", "cat", "dog")
    ),
    "cells.csv": csv(
        [(n, ("", "a", "a|b")[n % 3]) for n in range(40)], header=("id", "tags")
    ),
    "rows.parquet": {"id": IDS, "label": LABELS, "x": SCORES, "score": SCORES},
    "sets.parquet": {"id": range(9), "tags": [["a", "b"][: n % 3] for n in range(9)]},
    "hot.arrow": {"id": range(30), **CELLS},
    "rows.arrows": {"id": IDS, "label": pa.array(LABELS).dictionary_encode()},
}
READ = {"captions": as_captions, "classes": as_classes}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TEXTS)
def test_blocks_are_the_file(tmp_path, monkeypatch, name, size):
    path, data = tmp_path / name, TEXTS[name]
    if isinstance(data, dict):
        write_table(pa.table(data), path)
    else:
        path.write_bytes(
            gzip.compress(data.encode()) if name.endswith("gz") else data.encode()
        )
    cut_at(monkeypatch, size)
    read, is_split = READ.get(name.partition(".")[0], as_labels), "cells" in name
    options = ReadOptions(label_delimiter="|" if is_split else None)
    found, taken = stream(path, read, options)
    whole = read(path, options=options)
    whole = whole if isinstance(whole, Lists) else whole.ranked()
    assert plain(found, is_split) == plain([whole], is_split)
    assert taken == path.stat().st_size == find_parts(str(path)).size
    assert len(found) > 1 or size > 150 or name == "returns.csv"


GOOD = {
    "jsonl": [json.dumps({"id": f"é{n}", "labels": ["cat", "dog"]}) for n in range(30)],
    "csv": ["id,label", *(f"é{n // 2},cat {n}" for n in range(30))],
}
WRONG = {
    "jsonl": [
        b"{",
        b"[]",
        b"3",
        b'{"id": 1}',
        b'{"id": "", "labels": []}',
        b'{"id": 1, "labels": 2}',
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
        b'"a"b,c',
        b",x",
        b"a,\na,b",
        b"a, ",
        b"\xff,",
        b"a,\0",
        b"a," + b"x" * 99,
        b"\xef\xbb\xbfa,b",
        b'a,"\n\n"',
        b'"a\n\xc3",b',
    ],
    "parquet": [
        {"id": ""},
        {"label": " "},
        {"score": None},
        {"label": None, "score": None},
        {"hot": 1.5},
        {"hot": float("nan")},
        {"hot": 0.5, "id": ""},
    ],
}
WRONG["arrow"] = WRONG["parquet"]


def write_wrong(path, wrong, rng):
    if path.suffix[1:] in GOOD:
        lines = [line.encode() for line in GOOD[path.suffix[1:]]]
        lines.insert(rng.choice([1, 2, 15, 16, len(lines)]), wrong)
        path.write_bytes(b"\n".join(lines) + b"\n" * rng.randrange(2))
        return
    width, names = (1, ("hot", "cold")) if "hot" in wrong else (2, ("score",))
    table = {
        "id": [f"i{n // width}" for n in range(30)],
        **{name: [0.5] * 30 for name in names},
    }
    table |= {"label": ["a"] * 30} if width == 2 else {}
    row = rng.choice([0, 14, 28])
    for column, value in wrong.items():
        table[column][row] = value
    write_table(pa.table(table), path)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("kind", "wrong"), [(k, one) for k, some in WRONG.items() for one in some]
)
def test_errors_are_those_of_the_file(tmp_path, monkeypatch, kind, wrong, size):
    path, options = tmp_path / f"x.{kind}", ReadOptions(max_line_bytes=80)
    write_wrong(path, wrong, random.Random(f"{wrong}{size}"))
    cut_at(monkeypatch, size)
    with pytest.raises(InputError) as whole:
        as_labels(path, options=options)
    with pytest.raises(InputError) as found:
        stream(path, options=options)
    assert str(found.value) == str(whole.value)


@pytest.mark.parametrize(("kind", "read"), [("csv", as_labels), ("jsonl", as_captions)])
def test_rows_of_an_id_are_together(tmp_path, monkeypatch, kind, read):
    rows, path = (
        [(one, "x") for one in ("a", "a", "b", *range(50), "b")],
        tmp_path / f"x.{kind}",
    )
    records = jsonl({"id": one, "text": text} for one, text in rows)
    path.write_text(records if kind == "jsonl" else csv(rows, header=("id", "label")))
    with refused("rows-apart", f"{path}, id 'b'"):
        stream(path, read)
    cut_at(monkeypatch, 40)  # in another block the caller finds it
    assert stream(path, read)[0][-1].ids[-1] == "b"


def test_parts_of_a_folder(tmp_path):
    folder = tmp_path / "set [1]*"
    folder.mkdir()
    names = tuple(str(folder / name) for name in ("a.tsv.GZ", "b.csv", "c.csv"))
    (folder / "a.tsv.GZ").write_bytes(gzip.compress(b"id\tlabel\na\tx\n"))
    for name in ("b.csv", "c.csv", ".hidden.csv", "_SUCCESS"):
        (folder / name).write_text("id,label\n" + "b,y\n" * (name == "b.csv"))
    assert find_parts(str(folder)).paths == names
    assert find_parts(str(tmp_path / "set*" / "*.csv")).paths == names[1:]
    lists, taken = stream(folder)
    assert [(*one.ids, one.source) for one in lists] == [
        (id_, str(folder)) for id_ in "ab"
    ]
    assert lists[1].where(0) == f"{names[1]}, line 2, id 'b'"
    assert taken == find_parts(str(folder)).size
    (folder / "d.jsonl").write_text("")
    wrong = {
        names[2]: "nothing-given",
        tmp_path / "no*": "nothing-given",
        tmp_path / "n": "missing-file",
    }
    for path, code in wrong.items():
        with refused(code, str(path)):
            stream(path)
    with refused("empty-file", str(folder / "d.jsonl")):
        stream(folder)


def test_tables_of_a_folder_have_the_same_columns(tmp_path):
    nothing = {
        "id": pa.array([], pa.string()),
        "tags": pa.array([], pa.list_(pa.string())),
    }
    larger = {"id": ["c"], "tags": pa.array([[]], pa.large_list(pa.null())), "x": [[1]]}
    tables = {"a": {"id": ["a"], "tags": [["x"]], "x": [1]}, "b": nothing, "c": larger}
    for name, columns in tables.items():
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    assert [list(one.ids) for one in stream(tmp_path)[0]] == [["a"], ["c"]]
    with refused("nothing-given", str(tmp_path / "b.parquet")):
        stream(tmp_path / "b.parquet")
    last = tmp_path / "d.parquet"
    for columns, name, found, wanted in (
        ({"id": [4], "tags": [["x"]]}, "id", "int64", "string"),
        ({"id": ["d"], "names": [["x"]]}, "tags", "missing", "list<string>"),
        (
            {"id": ["d"], "tags": [["x"]], "score": [[0.5]]},
            "score",
            "list<double>",
            "missing",
        ),
    ):
        parquet.write_table(pa.table(columns), last)
        with refused(
            "other-column", f"{last}, column '{name}'", found=found, wanted=wanted
        ):
            stream(tmp_path)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.parquet", "x.arrow", "x.arrows"])
def test_files_that_are_cut_off_or_damaged(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(csv(ROWS * 999).encode()))
    if not name.endswith("gz"):
        write_table(
            pa.table({"id": [f"i{n}" for n in range(9999)], "label": ["a"] * 9999}),
            path,
        )
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:999] + bytes(99) + data[1098:]):
        path.write_bytes(damaged)
        with refused("damaged", str(path)):
            stream(path)


REFUSED = [
    ("x.json", b"{}", "wrong-format"),
    ("x.parquet.gz", gzip.compress(b"PAR1", mtime=0), "wrong-format"),
    ("x.csv.gz", b"id,label\n", "not-gzip"),
    ("x.jsonl", b"\n \n", "empty"),
    ("x.csv", b"label\na\n", "missing-column"),
    ("x.csv", b"id,label\na," + b"x" * 10_000, "line-too-long"),
    ("x.csv", b'id,label\na,"' + b"x\n" * 5_000, "not-csv"),
]


@pytest.mark.parametrize(("name", "data", "code"), REFUSED)
def test_what_is_not_read_in_blocks(tmp_path, monkeypatch, name, data, code):
    cut_at(monkeypatch, 40)
    (tmp_path / name).write_bytes(data)
    with refused(code):
        stream(tmp_path / name, options=ReadOptions(max_line_bytes=100))


@pytest.mark.parametrize("name", ["-", "x.jsonl"])
def test_standard_input_and_pipes_are_read_once(tmp_path, monkeypatch, name):
    cut_at(monkeypatch, 40)
    monkeypatch.setattr(source, "_copy_to_file", None)
    path, data = "-" if name == "-" else tmp_path / name, jsonl(SETS).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    if name != "-":
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(data,)).start()
    assert find_parts(str(path)).size is None
    found, taken = stream(path)
    assert plain(found)[1] == [one["labels"] for one in SETS]
    assert taken == len(data)


def test_blocks_that_are_read_in_two_layouts_are_an_error(tmp_path, monkeypatch):
    """Early rows are all 0/1, so they are items; a later label shows that rows are labels."""
    cut_at(monkeypatch, 1000)
    rows = "".join(f"i{n},{n % 2},1,0\n" for n in range(500))
    path = tmp_path / "gt.csv"
    path.write_text(f"id,label,dog,bus\n{rows}")
    assert score_stream(str(path), str(path), measures="F1").compute()["F1"].value == 1
    path.write_text(f"id,label,dog,bus\n{rows}last,cat,1,0\n")
    with refused("mixed-layout"):
        score_stream(str(path), str(path), measures="F1").compute()
