"""Where data come from: files, gzip, standard input, and sources that cannot be read."""

import gzip
import io
import sys
from pathlib import Path

import pytest
from reading import read, refused_in, saved

from semmetrics import ReadOptions

LABELS = b'{"a": ["cat", "dog"], "b": []}'


@pytest.fixture
def set_stdin(monkeypatch):
    """Return a function that sets the bytes of standard input."""

    def set_bytes(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return set_bytes


def test_gzip_members_and_padding_are_read(tmp_path):
    data = gzip.compress(LABELS[:9]) + gzip.compress(LABELS[9:]) + b"\0" * 512
    (tmp_path / "x.json.gz").write_bytes(data)

    assert read(tmp_path / "x.json.gz").ids == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("no.json", "missing-file"),
        ("none/x.json", "missing-file"),
        ("x.json/y.json", "unreadable"),
        ("x" * 5000, "unreadable"),
        ("a\0b.json", "unreadable"),
        ("", "is-folder"),
    ],
)
def test_paths_that_are_not_files_are_an_error(tmp_path, path, code):
    saved(tmp_path, "x.json", LABELS)

    with refused_in(code):
        read(f"{tmp_path}/{path}")


def test_a_file_that_is_not_gzip_despite_its_name_is_an_error(tmp_path):
    (tmp_path / "x.json.gz").write_bytes(LABELS)

    with refused_in("not-gzip", "x.json.gz"):
        read(tmp_path / "x.json.gz")


@pytest.mark.parametrize("data", [3, b"x.json"])
def test_other_objects_are_not_paths(data):
    with refused_in("wrong-type", "input"):
        read(data)


def test_a_file_without_permission_is_an_error(tmp_path, monkeypatch):
    def forbid(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", forbid)

    with refused_in("unreadable", "x.json"):
        read(tmp_path / "x.json")


class BrokenStream(io.BytesIO):
    """A stream whose device fails."""

    def read(self, *_):
        raise OSError(5, "Input/output error")


def test_a_failure_while_reading_a_file_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.open", lambda *_: BrokenStream())

    with refused_in("unreadable", "x.json"):
        read(tmp_path / "x.json")


@pytest.mark.parametrize("stdin", [None, io.TextIOWrapper(BrokenStream())])
def test_standard_input_that_cannot_be_read_is_an_error(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)

    with refused_in("unreadable", "standard input"):
        read("-")


@pytest.mark.skipif(
    not Path("/dev/zero").exists(), reason="the system has no /dev/zero"
)
def test_an_endless_stream_is_read_up_to_the_limit():
    with refused_in("too-large", "zero"):
        read("/dev/zero", ReadOptions(max_bytes=4_000_000))


@pytest.mark.parametrize(
    ("data", "understood"),
    [
        (LABELS, "JSON, {id: [labels]}"),
        (gzip.compress(LABELS, mtime=0), "JSON, {id: [labels]}, gzip"),
        (b'{\n"a": ["x"]\n}', "JSON, {id: [labels]}"),
        (b'[["x"]]', "JSON, [[labels]] by position"),
        (b'\n{"id": 1, "labels": ["x"]}\n{"id": 2, "labels": []}', "JSON lines"),
        (b'{"id": 1, "labels": ["x"]}', "JSON lines"),
        (b'{"id": ["x"], "labels": ["x"]}', "JSON, a table, one row per label"),
        (b"id,label\na,x", "CSV, one row per label"),
        (b"id\tlabel\na\tx", "TSV, one row per label"),
    ],
)
def test_the_content_of_standard_input_tells_its_format(set_stdin, data, understood):
    set_stdin(data)

    lists = read("-")

    assert lists.understood.startswith(understood)
    assert lists.where(0).startswith("standard input")


def test_an_option_sets_the_format_of_standard_input(set_stdin):
    set_stdin(b"id,label\n")

    with refused_in("not-json", "standard input, line 1, column 1"):
        read("-", ReadOptions(format="json"))
