"""Embeddings by the names that measures use, and the rules by which labels are looked up."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.embed.words import MatrixEmbedder

FIRST = Tiny({"a": [1, 0], "b": [0, 1]}, name="first")
SECOND = Tiny({"a": [1, 0], "b": [1, 0]}, name="second", threshold=0.7)


def score(measures, preds=(("a",),), gts=(("b",),), **options):
    sides = (list(map(list, preds)), list(map(list, gts)))
    return semmetrics.score(*sides, measures=measures, **options)


def test_measures_of_one_call_may_use_several_embeddings():
    table = score(
        ["SemF1", "SemF1(embedding=m)", "SoftF1(embedding=m)", "F1"],
        embedding={"default": FIRST, "m": SECOND},
        lookup="text",
    )

    assert [result.value for result in table] == [0, 1, 1, 0]
    first, second, soft, exact = [result.signature for result in table]
    assert "|thr:0.4|" in first
    assert "|emb:first-2@000000000000|lookup:text|oov:zero|" in first
    assert "|thr:0.7|" in second
    assert "|emb:second-2@" in second
    assert "|emb:second-2@" in soft
    assert "emb:" not in exact


def test_an_embedding_that_is_not_given_is_an_error():
    with refused("unknown-name"):
        score("WMD(embedding=n)", embedding={"m": FIRST})


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"oov": "drop"}, "bad-choice"),
        ({"lookup": "fuzzy"}, "bad-choice"),
        ({"lookup": "words"}, "reads-text"),
        ({"oov": "unknown"}, "no-unknown-word"),
    ],
)
def test_a_rule_that_does_not_fit_the_embedding_is_an_error(options, code):
    with refused(code):
        score("SemF1", gts=[["?"]], embedding=FIRST, **options)


def test_word_vectors_have_a_rule_of_their_own():
    words = ["red", "car", "traffic_light", "unknown"]
    model = MatrixEmbedder(np.eye(4), words, lookup="words")
    preds = [["red car", "Traffic light"]]
    gts = [["car", "traffic_light"]]
    measure = "SemPrecision(threshold=0.7)"

    (by_words,) = score(measure, preds, gts, embedding=model)
    (exact,) = score(measure, preds, gts, embedding=model, lookup="exact")

    assert by_words.value == 1
    assert exact.value == 0.5
    assert "|lookup:exact|" in exact.signature


def test_unknown_labels_may_have_the_vector_of_a_word():
    model = MatrixEmbedder(np.eye(1), ["unknown"], lookup="words")

    (result,) = score("SemF1(threshold=0.7)", embedding=model, oov="unknown")

    assert result.value == 1


def test_a_protocol_has_rules_for_words_and_for_models_of_text():
    words = MatrixEmbedder(np.eye(3), ["a", "b", "unknown"], lookup="words")
    text_model = Tiny({"a": [1, 1], "b": [1, 0]})

    table = semmetrics.score(
        [["a"]],
        [["b"]],
        protocol="kubany2020",
        top_k=1,
        embedding={"default": words, "bert-base-nli-stsb-wkpooling": text_model},
    )

    signatures = {result.heading: result.signature for result in table}
    assert "|lookup:kubany2020|oov:unknown|" in signatures["F1 (Semantic)@1"]
    assert "|lookup:text|oov:zero|" in signatures["Fine-Tuned BERT@1"]
    not_computed = {entry.heading for entry in table.not_computed}
    assert {"Fine-Tuned RoBERTa@1", "Balanced Accuracy@1"} <= not_computed
    assert "WMD@1" not in not_computed
