"""``semmetrics score``: embeddings, taxonomies, matches, the worst items."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import semmetrics
from semmetrics.embed import lookup
from semmetrics.embed.open import open_embedding
from semmetrics.options import OPTIONS

LISTS = ("a.json", "gt.json")
# Cosines: cat-dog 0.8, cat-cow 0.6, dog-cow 0.96, dog-bird 0.6, cow-bird 0.8, cat-bird 0.
VECTORS = {"cat": (1, 0), "dog": (0.8, 0.6), "cow": (0.6, 0.8), "bird": (0, 1), "unknown": (-1, 0)}
KINDS = {"cat": "mammal", "dog": "mammal", "cow": "mammal", "bird": "animal", "mammal": "animal"}
NEAR = "SemF1(threshold=0.7)"


def word2vec(name, vectors):
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in vectors.items()]
    Path(name).write_text(f"{len(lines)} 2\n" + "\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def vectors(files):
    """The working directory, with word vectors, a matrix of the same, and a taxonomy."""
    word2vec("words.vec", VECTORS)
    np.save("matrix.npy", np.array(list(VECTORS.values()), np.float32))
    Path("matrix.txt").write_text("\n".join(VECTORS) + "\n", encoding="utf-8")
    Path("kinds.json").write_text(json.dumps(KINDS), encoding="utf-8")
    return files


def entries(text):
    return {entry["heading"]: entry for entry in json.loads(text)}


def api(systems, **options):
    return semmetrics.score_systems(systems, "gt.json", **options).to_dicts()


# ---- embeddings -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["words.vec", "word2vec:words.vec", "matrix:matrix.npy"])
def test_an_embedding_is_what_the_api_takes(ok, vectors, spec):
    found = ok("score", *LISTS, "-m", f"{NEAR} WMD", "--embedding", spec, "--format", "json")
    assert json.loads(found) == api({"a": "a.json"}, measures=[NEAR, "WMD"], embedding=spec)
    # 1: 2/3, 2: 2/3, 3: 0, 4: 1
    assert entries(found)[NEAR]["value"] == pytest.approx((2 / 3 + 2 / 3 + 0 + 1) / 4)


def test_unknown_labels_of_the_first_words(ok, vectors):
    few = ok("embed", "coverage", "--embedding", "words.vec", "--max-words", 1, "gt.json")
    assert "unknown in gt: " in few
    assert "unknown in gt: " not in ok("embed", "coverage", "--embedding", "words.vec", "gt.json")


def test_the_choices_are_those_of_the_lookup():
    choices = OPTIONS["lookup"].choices, OPTIONS["oov"].choices
    assert choices == (lookup.LOOKUPS, lookup.OOV)


# ---- taxonomies -------------------------------------------------------------------------------


# ---- matches ----------------------------------------------------------------------------------


def matches(name):
    text = Path(name).read_text(encoding="utf-8")
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(text)))
    return json.loads(text) if name.endswith(".json") else [*map(json.loads, text.splitlines())]


# ---- the worst items --------------------------------------------------------------------------


def test_the_worst_of_score_matrices(ok, files):
    np.save("s.npy", np.array([[0.9, 0.2, 0.4, 0.1], [0.1, 0.8, 0.7, 0.3]]))
    np.save("g.npy", np.array([[1, 0, 0, 0], [1, 0, 0, 0]]))
    arguments = ("score", "s.npy", "g.npy", "--classes", "classes.txt", "--worst", 1)
    assert "  0.2500  1\n    predicted  dog, bird, cow, cat\n" in ok(*arguments, "-m", "LRAP")
    text = ok(*arguments, "-m", "F1", "--threshold", 0.5)
    assert "  0.0000  1\n    predicted  dog, bird\n    true       cat\n" in text


# ---- protocols --------------------------------------------------------------------------------


def test_what_a_protocol_cannot_compute_is_one_line_a_reason(ok, vectors):
    text = ok("score", *LISTS, "--protocol", "kubany2020")
    lines = [line for line in text.split("\n") if line.startswith("not computed: ")]
    assert len(lines) == 4
    assert lines[0].startswith("not computed: Accuracy (Semantic), Recall (Semantic), ")
    assert "(@1,3,5) - needs word vectors" in lines[0]
    assert lines[1].startswith("not computed: Fine-Tuned BERT@1,3,5 - needs the sentence model")
    text = ok("score", *LISTS, "--protocol", "kubany2020", "--embedding", "words.vec")
    assert "needs word vectors" not in text
    assert "\nF1 (Semantic)@3 " in text


# ---- signatures -------------------------------------------------------------------------------


def again(run, entry, *arguments):
    result = run("score", *LISTS, "--rescore", entry["signature"], "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)
    return found, result.stderr


@pytest.mark.parametrize("given", ["words.vec", "m=words.vec"])
def test_a_signature_with_an_embedding(ok, run, refused, vectors, given):
    measure = "SemF1" if given == "words.vec" else "SemF1(embedding=m)"
    asked = ("-m", measure, "--embedding", given, "--lookup", "exact", "--oov", "skip")
    (entry,) = json.loads(ok("score", *LISTS, *asked, "--format", "json"))
    assert "|thr:0.4|" in entry["signature"]
    for embedding in {given, "words.vec"}:
        found, said = again(run, entry, "--embedding", embedding)
        assert (found["value"], found["signature"]) == (entry["value"], entry["signature"])
        assert "warning" not in said
    message = refused("score", *LISTS, "--rescore", entry["signature"])
    assert "words-2@" in message
    message = refused("score", *LISTS, "--rescore", entry["signature"], "--oov", "zero")
    assert "--oov is part of the signature" in message


def test_another_version_of_the_model_of_the_package(ok, run, files):
    (entry,) = json.loads(ok("score", *LISTS, "-m", "SemF1", "--format", "json"))
    now = open_embedding("static").identity
    old = now.rpartition("@")[0] + "@000000000000"
    found, said = again(run, {"signature": entry["signature"].replace(now, old)})
    assert found["value"] == entry["value"]
    assert f"emb:{now} instead of emb:{old}" in said


def test_matches_count_what_the_score_counts(ok, vectors):
    arguments = ("-m", "SemPrecision SemRecall", "--matches", "m.jsonl", "--format", "json")
    ok("score", *LISTS, *arguments)
    found = matches("m.jsonl")
    table = semmetrics.score("a.json", "gt.json", measures=["SemPrecision(no_prediction=nan)"])
    for place, name in enumerate(table.scores[0].ids):
        rows = [row for row in found if row["id"] == name and row["rank"] is not None]
        share = sum(row["reference"] is not None for row in rows) / len(rows)
        assert table.scores[0].items[place] == pytest.approx(share)
