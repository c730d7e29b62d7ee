"""``semmetrics embed``: fetch, convert, info and coverage."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))


@pytest.fixture
def vectors(files):
    Path("toy.txt").write_text("cat 1 2\ndog 3 4\nunknown 5 6\n")
    return "toy.txt"


def test_a_conversion_is_limited_and_named_by_options(ok, vectors):
    output = ok("embed convert --max-words 2 --name mine glove:toy.txt toy")

    assert output.startswith("toy: 2 words, mine-2@")


def test_converted_vectors_can_be_verified(ok, vectors):
    ok("embed convert toy.txt toy")

    facts = json.loads(ok("embed info --verify --format json toy"))

    assert (facts["words"], facts["verified"]) == (3, True)


def test_other_vectors_cannot_be_verified(refused, vectors):
    assert refused("embed info --verify toy.txt").code == "not-converted"


def test_a_conversion_counts_vectors_of_zeros(run, files):
    Path("zero.txt").write_text("cat 0 0\ndog 3 4\n")

    result = run("embed convert zero.txt zero")

    assert "words whose vector is zero: 1" in result.stderr


@pytest.mark.parametrize(
    "source", ["static", "same", "sbert:some", "matrix:some.npy", "there"]
)
def test_only_word_vectors_are_converted(ok, refused, vectors, source):
    ok("embed convert toy.txt there")

    assert refused("embed convert", source, "x").code == "wrong-format"


def test_a_failed_download_is_an_error(refused, files):
    Path("manifest.toml").write_text(
        '[toy-2]\nurl = "http://127.0.0.1:9/toy.txt"\nkind = "glove"\ndimension = 2\n'
        'licence = "CC0"\n'
    )
    fetch = "embed fetch toy-2 --manifest manifest.toml --quiet"

    assert refused(fetch).code == "needs-option"
    assert refused(fetch, "--to", "toy").code == "fetch-failed"


@pytest.mark.parametrize("name", ["static", "same"])
def test_the_included_models_are_described(ok, name):
    facts = json.loads(ok("embed info --format json", name))

    assert facts["identity"].startswith(f"semmetrics-{name}-{facts['dimension']}@")
    assert facts["threshold"] > 0


@pytest.mark.parametrize(("name", "untuned"), [("static", "0"), ("same", "1")])
def test_coverage_counts_labels_that_a_model_was_not_tuned_on(ok, files, name, untuned):
    Path("labels.json").write_text('{"a": ["couch", "left handed guitar player"]}')

    lines = ok("embed coverage labels.json --embedding", name).splitlines()

    assert lines[0].split()[-1] == "untuned"
    assert lines[1].split()[-2:] == ["0", untuned]
    untuned_line = "untuned in labels: 'left handed guitar player'"
    assert (untuned_line in lines) == (untuned == "1")


def test_coverage_is_computed_for_the_model_of_semantic_measures(ok, scores, files):
    Path("labels.json").write_text('{"a": ["couch"]}')

    output = ok("embed coverage labels.json")

    (score,) = scores("score -m SemF1 labels.json labels.json")
    model = score["signature"].partition("|emb:")[2].partition("|")[0]
    assert f"embedding {model}," in output
    assert output == ok("embed coverage labels.json --embedding same")
