"""What is true of any input: names, gzip, encodings, limits, standard input."""

import gzip
import io
import sys
from pathlib import Path

import pytest
from reading import read, refused_in, saved

import semmetrics
from semmetrics import ReadOptions

GOOD = b'{"a": ["cat", "dog"], "b": []}'


@pytest.fixture
def stdin(monkeypatch):
    def give(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def test_gzip_members_and_padding_are_read(tmp_path):
    data = gzip.compress(GOOD[:9], mtime=0) + gzip.compress(GOOD[9:]) + b"\0" * 512
    (tmp_path / "x.json.gz").write_bytes(data)
    assert read(tmp_path / "x.json.gz").ids == ["a", "b"]


def test_missing_file_suggests_names(tmp_path):
    saved(tmp_path, "preds.json", GOOD)
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
    saved(tmp_path, "x.json", GOOD)
    with refused_in("unreadable", "y.json"):
        read(tmp_path / "x.json" / "y.json")


def test_no_permission_from_the_system(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with refused_in("unreadable", "x.json"):
        read(tmp_path / "x.json")


@pytest.mark.parametrize(
    ("data", "understood"),
    [
        (GOOD, "JSON, {id: [labels]}"),
        (gzip.compress(GOOD, mtime=0), "JSON, {id: [labels]}, gzip"),
        (b'{\n"a": ["x"]\n}', "JSON, {id: [labels]}"),
        (b'[["x"]]', "JSON, [[labels]] by position"),
        (
            b'\n{"id": 1, "labels": ["x"]}\n{"id": 2, "labels": []}',
            "JSON lines, one record",
        ),
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


@pytest.mark.skipif(
    not Path("/dev/zero").exists(), reason="the system has no /dev/zero"
)
def test_an_endless_stream_ends_at_the_limit():
    with refused_in("too-large", "zero"):
        semmetrics.score(
            "/dev/zero", [["a"]], read=semmetrics.ReadOptions(max_bytes=4_000_000)
        )


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
