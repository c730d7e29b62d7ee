"""What is true of any input: names, gzip, encodings, limits, standard input."""

import gzip
import io
import os
import pickle
import sys
from pathlib import Path

import pytest
from reading import read

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.errors import InputError

GOOD = b'{"a": ["cat", "dog"], "b": []}'


def file_of(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.mark.parametrize("name", ["x.json.gz", "x.JSON.GZ", "x.json"])
def test_gzip_is_known_by_its_content(tmp_path, name):
    raw = read(file_of(tmp_path, name, gzip.compress(GOOD, mtime=0)))
    assert raw.items == [["cat", "dog"], []]
    assert raw.understood.endswith(", gzip")


def test_gzip_members_and_padding_are_read(tmp_path):
    data = gzip.compress(GOOD[:9], mtime=0) + gzip.compress(GOOD[9:]) + b"\0" * 512
    assert read(file_of(tmp_path, "x.json.gz", data)).ids == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (
            gzip.compress(GOOD, mtime=0)[:-5],
            r"json\.gz: the gzip data ends too early; .*copy it",
        ),
        (gzip.compress(GOOD, mtime=0)[:4], "ends too early"),
        (gzip.compress(GOOD, mtime=0) + b"junk", r"x\.json\.gz: the gzip data is corrupt"),
        (gzip.compress(GOOD, mtime=0)[:-8] + b"12345678", "corrupt"),
        (GOOD, r"x\.json\.gz: it is not gzip; name it without \.gz"),
        (gzip.compress(b"", mtime=0), "empty"),
    ],
)
def test_bad_gzip(tmp_path, data, match):
    with pytest.raises(InputError, match=match):
        read(file_of(tmp_path, "x.json.gz", data))


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_size_limit(tmp_path, name):
    data = b"id,label\n" + b"a,b\n" * 10**6
    path = file_of(tmp_path, name, gzip.compress(data, 1, mtime=0) if name.endswith("gz") else data)
    with pytest.raises(InputError, match=r"more than 100000 bytes.*max_bytes \(--max-bytes\)"):
        read(path, ReadOptions(max_bytes=100_000))


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + GOOD,
        GOOD.decode().encode("utf-16"),
        b"\xfe\xff" + GOOD.decode().encode("utf-16-be"),
        GOOD.replace(b", ", b",\r\n"),
    ],
)
def test_byte_order_marks_and_windows_lines(tmp_path, data):
    assert read(file_of(tmp_path, "x.json", data)).items == [["cat", "dog"], []]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b'{"a":\n["\xff"]}', r"x\.json, line 2: byte 8 .*UTF-8; save it as UTF-8"),
        (b"\xef\xbb\xbf\n{\xff", "line 2: byte 5"),
        (b"\xff\xfea\0\n\0\0\xd8", "line 2: byte 6 .* UTF-16"),
        (b"\xff\xfea", "no valid UTF-16"),
        ('{"a":\n["x\ufeff"]}'.encode(), "line 2: a byte order mark .*joined"),
        (GOOD.decode().encode("utf-16-le"), "NUL character; save it as UTF-8"),
        (b"", r"x\.json: it is empty \(0 bytes\)"),
        (b" \r\n\t", r"x\.json: it is empty;"),
        (b"\xef\xbb\xbf", "empty"),
    ],
)
def test_bad_text(tmp_path, data, match):
    with pytest.raises(InputError, match=match):
        read(file_of(tmp_path, "x.json", data))


def test_missing_file_suggests_names(tmp_path):
    file_of(tmp_path, "preds.json", GOOD)
    with pytest.raises(InputError, match=r"pred\.json: .*did you mean 'preds\.json'"):
        read(tmp_path / "pred.json")
    with pytest.raises(InputError, match="check the path"):
        read(tmp_path / "zzzzzz")
    with pytest.raises(InputError, match="cannot be listed"):
        read(tmp_path / "none" / "preds.json")


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(InputError, match="it is a directory; name a file in it"):
        read(tmp_path)
    with pytest.raises(InputError, match="cannot read labels from an int; give a path"):
        read(3)
    with pytest.raises(InputError, match="cannot read labels from a bytes"):
        read(b"x.json")
    with pytest.raises(InputError, match="null byte"):
        read("a\0b.json")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / ("x" * 5000))
    file_of(tmp_path, "x.json", GOOD)
    with pytest.raises(InputError, match="cannot be read: Not a directory"):
        read(tmp_path / "x.json" / "y.json")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads anything")
def test_no_permission(tmp_path):
    path = file_of(tmp_path, "x.json", GOOD)
    path.chmod(0)
    with pytest.raises(InputError, match="may not be read; check the path and its permissions"):
        read(path)


def test_no_permission_from_the_system(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match=r"x\.json: it may not be read"):
        read(tmp_path / "x.json")


def test_an_error_while_reading_is_an_input_error(tmp_path, monkeypatch):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("pathlib.Path.open", lambda *_: Broken())
    with pytest.raises(InputError, match=r"x\.json: it cannot be read: Input/output error"):
        read(tmp_path / "x.json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Broken()))
    with pytest.raises(InputError, match="standard input: it cannot be read: Input/output error"):
        read("-")


@pytest.mark.parametrize("name", ["labels", "labels.txt", "labels.gz"])
def test_a_name_that_says_nothing_needs_a_format(tmp_path, name):
    data = gzip.compress(GOOD, mtime=0) if name.endswith("gz") else GOOD
    path = file_of(tmp_path, name, data)
    with pytest.raises(InputError, match=r"about the format; give format \(--input-format"):
        read(path)
    assert read(path, ReadOptions(format="json")).ids == ["a", "b"]


@pytest.mark.parametrize(
    ("data", "understood"),
    [
        (GOOD, "JSON, {id: [labels]}"),
        (gzip.compress(GOOD, mtime=0), "JSON, {id: [labels]}, gzip"),
        (b'{\n"a": ["x"]\n}', "JSON, {id: [labels]}"),
        (b'[["x"]]', "JSON, [[labels]] by position"),
        (b'\n{"id": 1, "labels": ["x"]}\n{"id": 2, "labels": []}', "JSON lines, one record"),
        (b'{"id": 1, "labels": ["x"]}', "JSON lines, one record"),
        (b'{"id": ["x"], "labels": ["x"]}', "JSON, a table, one row a label"),
        (b"id,label\na,x", "CSV, one row a label"),
        (b"id\tlabel\na\tx", "TSV, one row a label"),
    ],
)
def test_standard_input_is_told_by_its_content(stdin, data, understood):
    stdin(data)
    raw = read("-")
    assert raw.understood.startswith(understood)
    assert raw.source == "standard input"
    assert raw.where(0).startswith("standard input")


def test_standard_input_with_a_format_and_closed(stdin, monkeypatch):
    stdin(b"id,label\n")
    with pytest.raises(InputError, match="standard input, line 1, column 1: invalid JSON"):
        read("-", ReadOptions(format="json"))
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: it is closed; give a path"):
        read("-")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_like_standard_input():
    out, into = os.pipe()
    with os.fdopen(into, "wb") as stream:
        stream.write(GOOD)
    try:
        assert read(f"/dev/fd/{out}").ids == ["a", "b"]
    finally:
        os.close(out)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"format": "xml"}, "option format: 'xml'.*use one of json"),
        ({"delimiter": "||"}, r"option delimiter.*--input-format tsv"),
        ({"delimiter": ""}, "option delimiter"),
        ({"delimiter": '"'}, "option delimiter"),
        ({"label_delimiter": ""}, "option label_delimiter"),
        ({"max_bytes": 0}, "option max_bytes: it must be positive"),
        ({"max_line_bytes": -1}, "option max_line_bytes"),
        ({"classes": ["a", "b", "a"]}, r"option classes, class 2 \(from 0\): 'a' is also class 0"),
        ({"classes": ["a", ""]}, "class 1 .*empty"),
        ({"classes": [1]}, "not int"),
        ({"classes": "cat"}, "classes='cat'; give a list"),
    ],
)
def test_options_are_checked(options, match):
    with pytest.raises(InputError, match=match):
        ReadOptions(**options)


def test_options_without_use_are_noted(tmp_path):
    raw = read(file_of(tmp_path, "x.json", GOOD), ReadOptions(label_delimiter="|"))
    assert raw.notes == ["options that do not apply to json: label_delimiter"]
    raw = read(file_of(tmp_path, "x.json", GOOD), ReadOptions(id_column="a"))
    assert raw.notes == ["options that do not apply to {id: [labels]}: id_column"]


def test_what_is_read_can_cross_a_process(tmp_path):
    raw = pickle.loads(pickle.dumps(read(file_of(tmp_path, "x.json", GOOD)).lists))
    assert isinstance(raw, Lists)
    assert raw.where(1).endswith("x.json, id 'b'")


def test_gzip_of_many_small_members_is_read_whole(tmp_path):
    parts = [b'{"a": ["cat"]', *(f', "{i}": []'.encode() for i in range(50)), b"}"]
    data = b"".join(gzip.compress(part, mtime=0) for part in parts)
    assert len(read(file_of(tmp_path, "x.json.gz", data)).ids) == 51


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no /dev/zero")
def test_an_endless_stream_ends_at_the_limit():
    with pytest.raises(InputError, match="it holds more than 4000000 bytes"):
        semmetrics.score("/dev/zero", [["a"]], read=semmetrics.ReadOptions(max_bytes=4_000_000))
