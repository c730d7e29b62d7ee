"""Limits count what is made of an input, in every reader, and are named in the refusal."""

import json
import subprocess
import sys

import pytest
from reading import refused_in

import semmetrics
from semmetrics import ReadOptions, as_labels
from semmetrics.cli.app import program


@pytest.mark.parametrize("wide", [False, True])
def test_a_text_that_is_meant_often_is_counted_as_often(tmp_path, wide):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n = 2**12
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * n, pa.int32()), pa.array(["x" * 2**20])
    )
    values = (
        pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), texts)
        if wide
        else texts
    )
    table = pa.table({"id": [str(i) for i in range(n)], "labels": values})
    parquet.write_table(
        table, tmp_path / "a.parquet", store_schema=False, compression="zstd"
    )
    with refused_in("too-large", "a.parquet"):
        as_labels(tmp_path / "a.parquet", options=ReadOptions(max_bytes=2**30))


GIVEN = {
    "doc_freq": ({"a": "a cat"}, {"a": "a cat"}, "CIDEr-D(df=given)", "df.json"),
    "calibration": ({"a": ["cat"]}, {"a": ["cat"]}, "SemF1", "cal.json"),
    "embedding": ({"a": ["cat"]}, {"a": ["cat"]}, "SemF1", "words.vec"),
    "weights": ({"a": ["cat"]}, {"a": ["cat"]}, "F1", "w.json"),
    "classes": ({"a": ["cat"]}, {"a": ["cat"]}, "F1", "c.txt"),
    "taxonomy": ({"a": ["cat"]}, {"a": ["cat"]}, "hF", "t.json"),
}


@pytest.mark.parametrize("option", GIVEN)
def test_the_limit_holds_for_every_file_beside(option, tmp_path):
    preds, gts, measure, name = GIVEN[option]
    path = tmp_path / name
    path.write_bytes(b"x" * 2000)
    options = {option: path, "read": ReadOptions(max_bytes=100)}
    with refused_in("too-large"):
        semmetrics.score(preds, gts, measures=measure, **options)


def run(*args):
    return program.main([str(arg) for arg in args], standalone_mode=False)


def test_out_of_memory_names_the_file_and_the_limit(tmp_path, monkeypatch, capsys):
    path = tmp_path / "a.json"
    path.write_text('{"a": ["cat"]}')

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("semmetrics.data.json_files.parse", fail)
    with refused_in("out-of-memory", "a.json"):
        as_labels(path)
    assert run("score", path, path) == 2
    assert "fault" not in capsys.readouterr().err


def test_out_of_memory_elsewhere_is_no_fault(tmp_path, monkeypatch, capsys):
    def fail(*_, **__):
        raise MemoryError

    path = tmp_path / "a.json"
    path.write_text('{"a": ["cat"]}')
    monkeypatch.setattr("semmetrics.scoring.score.evaluate", fail)
    assert run("score", "-m", "F1", path, path) == 2
    assert "not enough memory" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux")
def test_pyarrow_out_of_memory_is_no_damaged_file(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.csv"
    path.write_bytes(
        b"id,label\n" + b"".join(b"%d,x%d\n" % (i, i) for i in range(400_000))
    )
    code = (
        "import pyarrow.csv, resource, sys, semmetrics\n"
        "from semmetrics.data import large_text\n"
        "def fail(*_, **__): raise pyarrow.lib.ArrowMemoryError('malloc of size 1 failed')\n"
        "large_text.pa_csv.read_csv = fail\n"
        "try: semmetrics.as_labels(sys.argv[1])\n"
        "except semmetrics.InputError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "a.csv: not enough memory" in done.stdout, done.stderr


def test_the_program_limits_ranked_scores_and_frequencies(tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["x" * 2000]))
    assert run("rank", "--max-bytes", 100, path) == 2
    assert f"{path}: the contents exceed 100 bytes" in capsys.readouterr().err
    out = tmp_path / "o.npz"
    assert run("doc-freq", "--convert", "--max-bytes", 100, path, "-o", out) == 2
    assert f"{path}: the contents exceed 100 bytes" in capsys.readouterr().err
