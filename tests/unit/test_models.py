"""Embeddings by the names that measures use, and the vectors of a task's labels."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import codes, refused
from tiny import Tiny, with_vectors

import semmetrics
from semmetrics.embed.embedder import CallableEmbedder, Embedded
from semmetrics.embed.lookup import label_vectors
from semmetrics.embed.open import open_embedding
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import InputError
from semmetrics.kinds.embeddings import embeddings_by_name
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.label_similarity import label_vectors_of
from semmetrics.metrics.registry import parse_all

ONE = Tiny({"a": [1, 0], "b": [0, 1]}, name="one")
TWO = Tiny({"a": [1, 0], "b": [1, 0]}, name="two", threshold=0.7)


def task(preds=(["a"],), refs=(["b"],)):
    return label_task(as_labels(list(preds)), as_labels(list(refs)))


def test_names():
    assert embeddings_by_name(None) == {"default": "static"}
    assert embeddings_by_name(ONE) == {"default": ONE}
    assert embeddings_by_name({"m": ONE}) == {"default": "static", "m": ONE}
    assert embeddings_by_name({"default": ONE, "m": TWO})["default"] is ONE


def test_several_embeddings_in_one_call():
    texts = ["SemF1", "SemF1(embedding=m)", "SoftF1(embedding=m)", "F1"]
    table = semmetrics.score(
        [["a"]], [["b"]], measures=texts, embedding={"default": ONE, "m": TWO}, lookup="text"
    )
    assert [score.value for score in table] == [0, 1, 1, 0]
    first, second, soft, exact = (score.signature for score in table)
    assert "|thr:0.4|" in first
    assert "|emb:one-2@000000000000|lookup:text|oov:zero|" in first
    assert "|thr:0.7|" in second
    assert "|emb:two-2@" in second
    assert "|emb:two-2@" in soft
    assert "emb:" not in exact


def test_only_what_is_needed_is_opened():
    options = {"embedding": {"m": "no/such/file", "other": ONE}}
    assert semmetrics.score([["a"]], [["a"]], measures=["F1"], **options).scores[0].value == 1
    table = semmetrics.score([["a"]], [["b"]], measures=["SoftF1(embedding=other)"], **options)
    assert table.scores[0].value == 0
    with refused("unknown-embedding"):
        semmetrics.score([["a"]], [["b"]], measures=["SoftF1(embedding=m)"], **options)
    plain = task()
    assert with_vectors(plain, parse_all(["F1"]), "no/such/file") is plain


def test_a_name_that_is_not_given():
    with refused("unknown-name"):
        semmetrics.score(
            [["a"]], [["b"]], measures=["WMD(embedding=n)"], embedding={"m": ONE}
        )  # fmt: skip
    with refused("no-embedding"):
        label_vectors_of(task(), "default")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"oov": "drop"}, "bad-choice"), ({"lookup": "fuzzy"}, "bad-choice"),
     ({"lookup": "words"}, "reads-text"), ({"oov": "unknown"}, "no-unknown-word")],
)  # fmt: skip
def test_wrong_rules(options, message):
    with refused(message):
        semmetrics.score([["a"]], [["?"]], measures=["SemF1"], embedding=ONE, **options)


def test_each_system_has_vectors_of_its_own_labels():
    model = Tiny({"a": [1, 0], "b": [1, 0], "c": [0, 1]})
    table = semmetrics.score_systems(
        {"x": [["a"]], "y": [["c"]], "z": [["?"]]}, [["b"]], measures=["SemF1"], embedding=model
    )
    assert {score.system: score.value for score in table} == {"x": 1, "y": 0, "z": 0}
    assert "unknown-texts" in codes(table)


def test_what_vectors_lack_is_noted_once_for_each_system():
    class Short(Tiny):
        def embed(self, texts):
            found = super().embed(texts)
            return Embedded(found.vectors, found.known, sum(len(text) > 3 for text in texts))

    model = Short({"a": [1, 0], "b": [0, 0], "long": [1, 1], "longer": [0, 1]})
    table = semmetrics.score_systems(
        {"x": [["a", "long", "longer"]], "y": [["?", "b"]]}, [["a"]],
        measures=["SemF1(threshold=0.4)", "SemF1(embedding=again,threshold=0.4)", "SoftF1"],
        embedding={"default": model, "again": model}, oov="skip",
    )  # fmt: skip
    assert [(fact.code, fact.where, fact.n, fact.examples) for fact in table.facts] == [
        ("truncated-texts", "x", 2, ()),
        ("unknown-texts", "y", 1, ("?",)),
        ("zero-vectors-texts", "y", 1, ()),
    ]
    plain = semmetrics.score([["a"]], [["a"]], measures=["SoftF1"], embedding=model)
    assert plain.notes == []


def test_max_words_is_for_the_embeddings_that_it_says_something_about(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text("cat 1 0\ndog 0.9 0.1\n")
    texts = ["SemF1(threshold=0.5)", "SemF1(embedding=m)"]
    options = {"measures": texts, "embedding": {"default": str(path), "m": ONE}}
    whole = semmetrics.score([["dog"]], [["cat"]], **options)
    part = semmetrics.score([["dog"]], [["cat"]], max_words=1, **options)
    assert [score.value for score in whole] == [1, 0]
    assert [score.value for score in part] == [0, 0]
    assert whole.scores[0].signature != part.scores[0].signature
    assert whole.scores[1].signature == part.scores[1].signature


def test_an_option_that_says_nothing_about_any_embedding_is_refused():
    options = {"measures": ["SemF1"], "max_words": 5}
    said = "not-applicable"
    for embedding in (None, {"m": "static"}):
        with refused(said):
            semmetrics.score([["a"]], [["b"]], embedding=embedding, **options)
    with refused("not-applicable"):
        semmetrics.score([["a"]], [["b"]], embedding=ONE, **options)


def test_terms_are_looked_up_once_and_labels_point_to_them():
    model = Tiny({"a": [3, 4], "b c": [0, 2], "d": [0, 0]})
    found = label_vectors([("a",), ("b_c", "a"), ("x", "d")], model, oov="skip")
    assert found.terms == ("a", "b_c", "x", "d")
    assert found.indptr.tolist() == [0, 1, 3, 5]
    assert found.rows.tolist() == [0, 1, 0, 2, 3]
    assert found.included.tolist() == [True, True, False, True]
    assert found.vectors.tolist() == [[3, 4], [0, 2], [0, 0], [0, 0]]
    np.testing.assert_allclose(found.units, [[0.6, 0.8], [0, 1], [0, 0], [0, 0]], atol=1e-15)
    assert found.counts["unknown"] == 1
    assert found.counts["zero_vectors"] == 1
    assert str(found) == "tiny-2@000000000000|lookup:text|oov:skip"
    assert found.threshold == 0.4
    assert label_vectors([], model).vectors.shape == (0, 2)


def test_word_vectors_have_their_own_rule():
    model = MatrixEmbedder(
        np.eye(4), ["red", "car", "traffic_light", "unknown"], lookup="words", name="m"
    )
    preds, refs = [["red car", "Traffic light"]], [["car", "traffic_light"]]
    options = {"measures": ["SemPrecision(threshold=0.7)"], "embedding": model}
    assert semmetrics.score(preds, refs, **options).scores[0].value == 1
    score = semmetrics.score(preds, refs, lookup="exact", **options).scores[0]
    assert score.value == 0.5
    assert "|lookup:exact|" in score.signature
    unknown = semmetrics.score([["x"]], [["y"]], oov="unknown", **options).scores[0]
    assert unknown.value == 1


def test_a_protocol_gives_a_model_that_reads_text_its_own_rules():
    table = semmetrics.score(
        [["a"]], [["b"]], protocol="kubany2020", top_k=1,
        embedding={"default": MatrixEmbedder(np.eye(3), ["a", "b", "unknown"], lookup="words"),
                   "bert-base-nli-stsb-wkpooling": Tiny({"a": [1, 1], "b": [1, 0]})},
    )  # fmt: skip
    signatures = {score.heading: score.signature for score in table}
    assert "|lookup:kubany2020|oov:unknown|" in signatures["F1 (Semantic)@1"]
    assert "|lookup:text|oov:zero|" in signatures["Fine-Tuned BERT@1"]
    lacking = {entry.heading for entry in table.not_computed}
    assert {"Fine-Tuned RoBERTa@1", "Balanced Accuracy@1"} <= lacking
    assert "WMD@1" not in lacking


def test_vectors_are_kept_from_one_run_to_the_next(tmp_path):
    asked = []

    def slow(texts):
        asked.extend(texts)
        return [[float(len(text)), 1.0] for text in texts]

    def run(**options):
        return semmetrics.score([["a", "bb"]], [["ccc"]], measures=["SemF1"], **options)

    model = CallableEmbedder(slow, name="slow", version="1")
    first = run(embedding=model, cache=tmp_path / "kept.sqlite")
    assert [asked.count(text) for text in ("a", "bb", "ccc")] == [1, 1, 1]
    again = run(embedding=model, cache=tmp_path / "kept.sqlite")
    assert asked.count("bb") == 1
    assert (again["SemF1"].value, again["SemF1"].signature) == (
        first["SemF1"].value, first["SemF1"].signature,
    )  # fmt: skip
    run(embedding=model)
    assert asked.count("bb") == 2
    pairs = [("a", "bb", 1), ("a", "d" * 9, 0)]
    for _ in range(2):
        semmetrics.calibrate_threshold_on_pairs(pairs, model, cache=tmp_path / "kept.sqlite")
    assert [asked.count(text) for text in ("bb", "d" * 9)] == [2, 1]
    table = semmetrics.score({"a": "a cat sits"}, {"a": ["a cat sat"]}, measures="NGSM", cache=True)
    assert "no-effect" in codes(table)


def test_the_packaged_model_is_read_once():
    assert open_embedding() is open_embedding("static")


def test_a_cache_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    model = CallableEmbedder(lambda texts: [[1.0, 2.0]] * len(texts), name="slow")
    for none in (None, False):
        table = semmetrics.score([["a"]], [["b"]], measures=["SoftF1"], embedding=model, cache=none)
        assert (table.notes, [*tmp_path.iterdir()]) == ([], [])
    for wrong in (0, "", np.False_, [True]):
        with pytest.raises(InputError, match=r"^cache="):
            semmetrics.score([["a"]], [["b"]], measures=["SemF1"], embedding=model, cache=wrong)
