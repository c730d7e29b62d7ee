"""``semmetrics embed``: list, fetch, convert, info and coverage."""

import json
from pathlib import Path

import pytest

GLOVE = "cat 1 2\ndog 3 4\nunknown 5 6\n"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))


@pytest.fixture
def vectors(files):
    Path("toy.txt").write_text(GLOVE)
    return "toy.txt"


def test_convert_takes_the_options_of_the_reader(ok, vectors):
    said = ok(
        "embed",
        "convert",
        f"glove:{vectors}",
        "toy",
        "--max-words",
        "2",
        "--name",
        "mine",
    )
    assert said.startswith("toy: 2 words, mine-2@")


def test_convert_tells_of_zero_vectors(run, files):
    Path("zero.txt").write_text("cat 0 0\ndog 3 4\n")
    assert (
        "words whose vector is zero: 1"
        in run("embed", "convert", "zero.txt", "zero").stderr
    )


@pytest.mark.parametrize(
    "source", ["static", "same", "sbert:some", "matrix:some.npy", "there"]
)
def test_only_word_vectors_are_converted(ok, refused, vectors, source):
    ok("embed", "convert", vectors, "there")
    assert refused("embed", "convert", source, "x").code == "wrong-format"


def test_offline_it_says_what_is_missing(refused, files):
    Path("manifest.toml").write_text(
        '[toy-2]\nurl = "http://127.0.0.1:9/toy.txt"\nkind = "glove"\ndimension = 2\n'
        'licence = "CC0"\n'
    )
    options = ("--manifest", "manifest.toml", "--quiet")
    assert refused("embed", "fetch", "toy-2", *options).code == "needs-option"
    text = refused("embed", "fetch", "toy-2", *options, "--to", "toy")
    assert text.code == "fetch-failed"


@pytest.mark.parametrize("name", ["static", "same"])
def test_the_models_of_the_package_are_described(ok, name):
    facts = json.loads(ok("embed", "info", name, "--format", "json"))
    assert facts["identity"].startswith(f"semmetrics-{name}-{facts['dimension']}@")
    assert facts["threshold"] > 0


@pytest.mark.parametrize(("name", "untuned"), [("static", "0"), ("same", "1")])
def test_coverage_counts_labels_that_a_model_was_not_tuned_on(ok, files, name, untuned):
    Path("labels.json").write_text('{"a": ["couch", "left handed guitar player"]}')
    lines = ok("embed", "coverage", "--embedding", name, "labels.json").splitlines()
    assert lines[0].split()[-1] == "untuned"
    assert lines[1].split()[-2:] == ["0", untuned]
    assert ("untuned in labels: 'left handed guitar player'" in lines) == (
        name == "same"
    )


def test_coverage_is_of_the_model_that_matches_labels(ok, files):
    """A user asks which labels SemF1 knows, so it looks at the same model."""
    Path("labels.json").write_text('{"a": ["couch"]}')
    said = ok("embed", "coverage", "labels.json")
    assert said == ok("embed", "coverage", "--embedding", "same", "labels.json")
    assert "semmetrics-static" in ok(
        "embed", "coverage", "--embedding", "static", "labels.json"
    )
    (score,) = json.loads(
        ok("score", "-m", "SemF1", "labels.json", "labels.json", "--format", "json")
    )["scores"]
    used = score["signature"].partition("|emb:")[2].partition("|")[0]
    assert f"embedding {used}," in said
