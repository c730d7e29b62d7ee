"""max_bytes limits the memory of each input, in every reader."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet
from reading import refused_in

import semmetrics
from semmetrics import ReadOptions, as_labels
from semmetrics.cli.app import program


def run(*args):
    """Run the program, and return its exit code."""
    return program.main([str(arg) for arg in args], standalone_mode=False)


@pytest.fixture
def labels_path(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"a": ["cat"]}')
    return path


def out_of_memory(*args, **options):
    raise MemoryError


# ---- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_lists", [False, True])
def test_each_occurrence_of_a_dictionary_value_counts(tmp_path, has_lists):
    n = 2**12
    values = pa.DictionaryArray.from_arrays(
        pa.array([0] * n, pa.int32()), pa.array(["x" * 2**20])
    )
    if has_lists:
        values = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), values)
    table = pa.table({"id": [str(i) for i in range(n)], "labels": values})
    path = tmp_path / "a.parquet"
    parquet.write_table(table, path, store_schema=False, compression="zstd")

    with refused_in("too-large", "a.parquet"):
        as_labels(path, options=ReadOptions(max_bytes=2**30))


@pytest.mark.parametrize(
    ("option", "measure", "name"),
    [
        ("doc_freq", "CIDEr-D(df=given)", "df.json"),
        ("calibration", "SemF1", "cal.json"),
        ("embedding", "SemF1", "words.vec"),
        ("weights", "F1", "w.json"),
        ("classes", "F1", "c.txt"),
        ("taxonomy", "hF", "t.json"),
    ],
)
def test_the_limit_applies_to_the_file_of_an_option(option, measure, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"x" * 2000)
    side = {"a": "a cat"} if option == "doc_freq" else {"a": ["cat"]}
    options = {option: path, "read": ReadOptions(max_bytes=100)}

    with refused_in("too-large"):
        semmetrics.score(side, side, measures=measure, **options)


@pytest.mark.parametrize("command", ["rank", "doc-freq --convert"])
def test_the_limit_applies_to_other_commands(tmp_path, capsys, command):
    path = tmp_path / "a.json"
    path.write_text('["' + "x" * 2000 + '"]')
    arguments = [*command.split(), "--max-bytes", 100, path]
    if command != "rank":
        arguments += ["-o", tmp_path / "o.npz"]

    assert run(*arguments) == 2

    assert f"{path}: the contents exceed 100 bytes" in capsys.readouterr().err


# ---- out of memory ------------------------------------------------------------------------------


def test_an_error_of_a_reader_without_memory_names_the_file(labels_path, monkeypatch):
    monkeypatch.setattr("semmetrics.data.json_files.parse", out_of_memory)

    with refused_in("out-of-memory", "a.json"):
        as_labels(labels_path)


@pytest.mark.parametrize(
    "function",
    ["semmetrics.data.json_files.parse", "semmetrics.scoring.score.evaluate"],
)
def test_the_program_without_memory_ends_with_an_error(
    labels_path, monkeypatch, capsys, function
):
    monkeypatch.setattr(function, out_of_memory)

    assert run("score", "-m", "F1", labels_path, labels_path) == 2

    message = capsys.readouterr().err
    assert "not enough memory" in message
    assert "fault" not in message


def test_pyarrow_without_memory_is_not_a_damaged_file(tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"{i},x{i}\n" for i in range(400_000))
    path.write_text("id,label\n" + rows)
    code = (
        "import pyarrow.csv, sys, semmetrics\n"
        "from semmetrics.data import large_text\n"
        "def fail(*_, **__): raise pyarrow.lib.ArrowMemoryError('malloc failed')\n"
        "large_text.pa_csv.read_csv = fail\n"
        "try: semmetrics.as_labels(sys.argv[1])\n"
        "except semmetrics.InputError as error: print(error)\n"
    )

    result = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )

    assert "a.csv: not enough memory" in result.stdout
