"""What is true of any input: names, gzip, encodings, limits, standard input."""

import gzip
import io
import os
import pickle
import sys
from pathlib import Path

import pytest
from reading import codes, read, refused_in

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
        (gzip.compress(GOOD, mtime=0)[:-5], ("damaged", "x.json.gz")),
        (gzip.compress(GOOD, mtime=0)[:4], ("damaged", "x.json.gz")),
        (gzip.compress(GOOD, mtime=0) + b"junk", ("damaged", "x.json.gz")),
        (gzip.compress(GOOD, mtime=0)[:-8] + b"12345678", ("damaged", "x.json.gz")),
        (GOOD, ("not-gzip", "x.json.gz")),
        (gzip.compress(b"", mtime=0), ("empty", "x.json.gz")),
    ],
)
def test_bad_gzip(tmp_path, data, match):
    with refused_in(*match):
        read(file_of(tmp_path, "x.json.gz", data))


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_size_limit(tmp_path, name):
    data = b"id,label\n" + b"a,b\n" * 10**6
    path = file_of(tmp_path, name, gzip.compress(data, 1, mtime=0) if name.endswith("gz") else data)
    with refused_in("too-large"):
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
        (b'{"a":\n["\xff"]}', ("not-utf8", "x.json, line 2")),
        (b"\xef\xbb\xbf\n{\xff", ("not-utf8", "x.json, line 2")),
        (b"\xff\xfea\0\n\0\0\xd8", ("not-utf8", "x.json, line 2")),
        (b"\xff\xfea", ("not-utf8", "x.json, line 1")),
        ('{"a":\n["x\ufeff"]}'.encode(), ("bad-character", "x.json, line 2")),
        (GOOD.decode().encode("utf-16-le"), ("bad-character", "x.json, line 1")),
        (b"", ("empty-file", "x.json")),
        (b" \r\n\t", ("empty", "x.json")),
        (b"\xef\xbb\xbf", ("empty", "x.json")),
    ],
)
def test_bad_text(tmp_path, data, match):
    with refused_in(*match):
        read(file_of(tmp_path, "x.json", data))


def test_missing_file_suggests_names(tmp_path):
    file_of(tmp_path, "preds.json", GOOD)
    with refused_in("missing-file", "pred.json"):
        read(tmp_path / "pred.json")
    with refused_in("missing-file", "zzzzzz"):
        read(tmp_path / "zzzzzz")
    with refused_in("missing-file", "preds.json"):
        read(tmp_path / "none" / "preds.json")


def test_paths_that_are_no_files(tmp_path):
    with refused_in("is-folder", tmp_path.name):
        read(tmp_path)
    with refused_in("wrong-type", "input"):
        read(3)
    with refused_in("wrong-type", "input"):
        read(b"x.json")
    with refused_in("unreadable", "a\u0000b.json"):
        read("a\0b.json")
    with refused_in("unreadable"):
        read(tmp_path / ("x" * 5000))
    file_of(tmp_path, "x.json", GOOD)
    with refused_in("unreadable", "y.json"):
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
    with refused_in("unreadable", "x.json"):
        read(tmp_path / "x.json")


def test_an_error_while_reading_is_an_input_error(tmp_path, monkeypatch):
    class Broken(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr("pathlib.Path.open", lambda *_: Broken())
    with refused_in("unreadable", "x.json"):
        read(tmp_path / "x.json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Broken()))
    with refused_in("unreadable", "standard input"):
        read("-")


@pytest.mark.parametrize("name", ["labels", "labels.txt", "labels.gz"])
def test_a_name_that_says_nothing_needs_a_format(tmp_path, name):
    data = gzip.compress(GOOD, mtime=0) if name.endswith("gz") else GOOD
    path = file_of(tmp_path, name, data)
    with refused_in("unknown-extension"):
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
    with refused_in("not-json", "standard input, line 1, column 1"):
        read("-", ReadOptions(format="json"))
    monkeypatch.setattr(sys, "stdin", None)
    with refused_in("unreadable", "standard input"):
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
        ({"format": "xml"}, ("bad-choice", "")),
        ({"delimiter": "||"}, ("bad-option", "")),
        ({"delimiter": ""}, ("bad-option", "")),
        ({"delimiter": '"'}, ("bad-option", "")),
        ({"label_delimiter": ""}, ("bad-option", "")),
        ({"max_bytes": 0}, ("bad-option", "")),
        ({"max_line_bytes": -1}, ("bad-option", "")),
        ({"classes": ["a", "b", "a"]}, ("duplicate-at", "option classes, class 2 (from 0)")),
        ({"classes": ["a", ""]}, ("empty", "option classes, class 1 (from 0)")),
        ({"classes": [1]}, ("wrong-type", "option classes, class 0 (from 0)")),
        ({"classes": "cat"}, (None, "")),
    ],
)
def test_options_are_checked(options, match):
    with refused_in(*match):
        ReadOptions(**options)


def test_options_without_use_are_noted(tmp_path):
    raw = read(file_of(tmp_path, "x.json", GOOD), ReadOptions(label_delimiter="|"))
    assert codes(raw) == [("unused-options", 1, "label_delimiter")]
    raw = read(file_of(tmp_path, "x.json", GOOD), ReadOptions(id_column="a"))
    assert codes(raw) == [("unused-options", 1, "id_column")]


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
    with refused_in("too-large", "zero"):
        semmetrics.score("/dev/zero", [["a"]], read=semmetrics.ReadOptions(max_bytes=4_000_000))
