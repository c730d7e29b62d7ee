"""``semmetrics embed``: list, fetch, convert, info and coverage."""

import json
from pathlib import Path

import pytest

from semmetrics.embed.lookup import measure_coverage
from semmetrics.embed.open import open_embedding

GLOVE = "cat 1 2\ndog 3 4\nunknown 5 6\n"


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))


@pytest.fixture
def vectors(files):
    Path("toy.txt").write_text(GLOVE)
    return "toy.txt"


def test_help_names_the_commands(run):
    text = run("embed", "--help").stdout
    for name in ("list", "fetch", "convert", "info", "coverage"):
        assert name in text
        assert run("embed", name, "--help").exit_code == 0


def test_list_names_vectors_kinds_and_the_folder(ok, tmp_path):
    text = ok("embed", "list")
    for part in ("word2vec-googlenews-300", "PDDL-1.0", "sbert:", "matrix:", str(tmp_path)):
        assert part in text


def test_convert_and_info(ok, vectors):
    said = ok("embed", "convert", vectors, "toy", "--licence", "CC0")
    assert said.startswith("toy: 3 words, toy-2@")
    facts = json.loads(ok("embed", "info", "toy", "--verify", "--format", "json"))
    assert (facts["words"], facts["dimension"], facts["lookup"]) == (3, 2, "words")
    assert (facts["licence"], facts["verified"]) == ("CC0", True)
    table = ok("embed", "info", f"glove:{vectors}")
    assert facts["identity"] in table
    assert "verified" not in table


def test_convert_takes_the_options_of_the_reader(ok, vectors):
    said = ok("embed", "convert", f"glove:{vectors}", "toy", "--max-words", "2", "--name", "mine")
    assert said.startswith("toy: 2 words, mine-2@")


def test_convert_tells_of_zero_vectors(run, files):
    Path("zero.txt").write_text("cat 0 0\ndog 3 4\n")
    assert "words whose vector is zero: 1" in run("embed", "convert", "zero.txt", "zero").stderr


@pytest.mark.parametrize("source", ["static", "sbert:some", "matrix:some.npy", "there"])
def test_only_word_vectors_are_converted(ok, refused, vectors, source):
    ok("embed", "convert", vectors, "there")
    assert refused("embed", "convert", source, "x").code == "wrong-format"


def test_a_pickle_is_not_converted_unasked(refused, files):
    Path("toy.kv").write_bytes(b"")
    text = refused("embed", "convert", "toy.kv", "x")
    assert text.code == "unsafe-pickle"
    assert text.code == "unsafe-pickle"


def test_refusals(refused, vectors):
    assert refused("embed", "convert", "none.bin", "x").code == "unknown-embedding"
    Path("there").mkdir()
    assert refused("embed", "convert", vectors, "there").code == "exists"
    assert refused("embed", "fetch", "nix").code == "bad-choice"
    assert refused("embed", "fetch", "glove-6b-50", "--max-words", "9").code == "needs-option"
    assert refused("embed", "info", "glove-6b-50").code == "not-fetched"
    assert refused("embed", "info", vectors, "--verify").code == "not-converted"
    assert refused("embed", "coverage", "a.json", "--lookup", "stem").code == "BadParameter"


def test_offline_it_says_what_is_missing(refused, files):
    Path("manifest.toml").write_text(
        '[toy-2]\nurl = "http://127.0.0.1:9/toy.txt"\nkind = "glove"\ndimension = 2\n'
        'licence = "CC0"\n'
    )
    options = ("--manifest", "manifest.toml", "--quiet")
    assert refused("embed", "fetch", "toy-2", *options).code == "needs-option"
    text = refused("embed", "fetch", "toy-2", *options, "--to", "toy")
    assert text.code == "fetch-failed"
    assert text.code == "fetch-failed"


def test_coverage_counts_what_the_function_counts(ok, run, vectors):
    from semmetrics.kinds.labels import as_labels

    (expected,) = measure_coverage({"gt": as_labels("gt.json")}, open_embedding(vectors))
    told = json.loads(
        ok("embed", "coverage", "--embedding", vectors, "--format", "json", "gt.json")
    )
    assert told["systems"] == [expected.to_dict()]
    assert (told["schema"], told["lookup"]) == ("semmetrics.coverage/1", "words")
    table = run("embed", "coverage", "--embedding", vectors, "gt.json", "a.json")
    assert "gt.json: " in table.stderr
    head, first, second, *_rest = table.stdout.split("\n")
    assert head.split()[:3] == ["system", "images", "labels"]
    assert first.split()[1:3] == [str(expected.images), str(expected.labels)]
    assert second.split()[0] == "a"
    assert f"unknown in gt: {expected.names[0]!r}" in table.stdout
    assert "lookup words" in table.stdout
    csv = ok("embed", "coverage", "--embedding", vectors, "--format", "csv", "-q", "gt.json")
    assert csv.startswith("system,images,labels,")
