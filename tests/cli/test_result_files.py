"""Files of results: records, reports and figures in the format of the extension."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest


def read_records(path):
    """Read the records of a result."""
    if ".parquet" in path.name:
        return pq.read_table(path).to_pylist()
    if ".jsonl" in path.name.lower():
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    delimiter = "\t" if ".tsv" in path.name else ","
    return pd.read_csv(path, sep=delimiter).to_dict("records")


@pytest.mark.parametrize(
    "name", ["out.tsv", "out.jsonl", "out.parquet", "out.tsv.gz", "OUT.JSONL"]
)
def test_records_are_written_in_the_format_of_the_extension(ok, files, name):
    ok("score -m 'F1 MacroF1' a.json gt.json -o", name)
    ok("score -m 'F1 MacroF1' a.json gt.json -o out.csv")

    records = read_records(Path(name))
    expected = read_records(Path("out.csv"))
    for key in ("heading", "measure", "value", "signature"):
        assert [row[key] for row in records] == [row[key] for row in expected]


@pytest.mark.parametrize("name", ["a.xlsx", "a.htm", "a.parquet.gz", "a.jpeg"])
def test_unknown_extensions_of_results_raise_an_error(refused, files, name):
    refusal = refused("score -m F1 a.json gt.json -o", name)

    assert refusal.code == "wrong-ending"
    assert ".tsv" in refusal
    assert not Path(name).exists()


@pytest.mark.parametrize("name", ["plain", "a.txt", "run-v1.2"])
def test_other_files_have_the_table_of_the_terminal(ok, files, name):
    ok("score -m F1 a.json gt.json -o", name)

    assert Path(name).read_text(encoding="utf-8").startswith("measure")


def test_compressed_csv_is_csv(ok, files):
    ok("score -m F1 a.json gt.json -o a.csv.gz")

    text = gzip.decompress(Path("a.csv.gz").read_bytes()).decode()
    assert text.startswith("system,part")


def test_a_classification_report_has_no_records(refused, files):
    refusal = refused("score -m F1 --classification-report -o a.jsonl a.json gt.json")

    assert refusal.code == "not-applicable"


@pytest.mark.parametrize(
    ("with_report", "without_report"),
    [
        ("score --html r.html a.json b.json gt.json", "score a.json b.json gt.json"),
        ("compare -o r.html a.json b.json gt.json", "compare a.json b.json gt.json"),
    ],
)
def test_a_report_does_not_replace_the_table(ok, files, with_report, without_report):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")

    assert ok(with_report) == ok(without_report)

    assert "<svg" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("option", "code"),
    [("--images nowhere", "missing-file"), ("--state s.state", "not-applicable")],
)
def test_a_report_is_not_written_after_an_error(refused, files, option, code):
    pytest.importorskip("jinja2")

    refusal = refused(f"score --html r.html {option} a.json gt.json")

    assert refusal.code == code
    assert not Path("r.html").exists()


def test_figures_are_written_in_addition_to_the_result(ok, files):
    ok("score -m F1 --plot v.svg --plot items=i.png -o o.txt a.json gt.json")

    assert Path("v.svg").read_bytes().startswith(b"<?xml")
    assert Path("i.png").read_bytes().startswith(b"\x89PNG")
    assert Path("o.txt").read_text().startswith("measure")


def test_merged_states_and_sweeps_have_figures(ok, files):
    ok("score -m F1 --state a.state a.json gt.json")

    ok("merge --plot merged.png a.state")
    ok("sweep --thresholds=0:1:0.5 --plot sweep.pdf a.json gt.json")

    assert Path("merged.png").read_bytes().startswith(b"\x89PNG")
    assert Path("sweep.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("command", ["rank", "compare"])
def test_tables_of_datasets_have_figures(ok, files, command):
    Path("table.csv").write_text("dataset,A,B\nx,0.5,0.6\ny,0.4,0.8\n")

    ok(f"{command} --table table.csv --plot figure.svg")

    assert "<svg" in Path("figure.svg").read_text()


@pytest.mark.parametrize(
    ("plot", "code"),
    [
        ("labels=b.png", "no-figure"),
        ("label=b.png", "bad-choice"),
        ("b.jpg", "wrong-ending"),
        ("items=gt.json", "output-is-input"),
        ("b.png --plot items=b.png", "output-is-output"),
    ],
)
def test_wrong_figures_are_errors(refused, files, plot, code):
    refusal = refused(f"score -m F1 --plot {plot} a.json gt.json")

    assert refusal.code == code
