"""Embeddings by the names that measures use, and the vectors of a task's labels."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.label_similarity import label_vectors_of

ONE = Tiny({"a": [1, 0], "b": [0, 1]}, name="one")
TWO = Tiny({"a": [1, 0], "b": [1, 0]}, name="two", threshold=0.7)


def task(preds=None, refs=None):
    preds = [["a"]] if preds is None else preds
    refs = [["b"]] if refs is None else refs
    return label_task(as_labels(preds), as_labels(refs))


def test_several_embeddings_in_one_call():
    texts = ["SemF1", "SemF1(embedding=m)", "SoftF1(embedding=m)", "F1"]
    table = semmetrics.score(
        [["a"]],
        [["b"]],
        measures=texts,
        embedding={"default": ONE, "m": TWO},
        lookup="text",
    )
    assert [score.value for score in table] == [0, 1, 1, 0]
    parts = (
        ("|thr:0.4|", "|emb:one-2@000000000000|lookup:text|oov:zero|"),
        ("|thr:0.7|",),
    )
    for score, some in zip(table, (*parts, ("|emb:two-2@",)), strict=False):
        assert all(part in score.signature for part in some)
    assert "|emb:two-2@" in table[1].signature
    assert "emb:" not in table[3].signature


def test_a_name_that_is_not_given():
    with refused("unknown-name"):
        semmetrics.score(
            [["a"]], [["b"]], measures="WMD(embedding=n)", embedding={"m": ONE}
        )
    with refused("no-embedding"):
        label_vectors_of(task(), "default")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"oov": "drop"}, "bad-choice"),
        ({"lookup": "fuzzy"}, "bad-choice"),
        ({"lookup": "words"}, "reads-text"),
        ({"oov": "unknown"}, "no-unknown-word"),
    ],
)
def test_wrong_rules(options, message):
    with refused(message):
        semmetrics.score([["a"]], [["?"]], measures=["SemF1"], embedding=ONE, **options)


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
        [["a"]],
        [["b"]],
        protocol="kubany2020",
        top_k=1,
        embedding={
            "default": MatrixEmbedder(np.eye(3), ["a", "b", "unknown"], lookup="words"),
            "bert-base-nli-stsb-wkpooling": Tiny({"a": [1, 1], "b": [1, 0]}),
        },
    )
    signatures = {score.heading: score.signature for score in table}
    assert "|lookup:kubany2020|oov:unknown|" in signatures["F1 (Semantic)@1"]
    assert "|lookup:text|oov:zero|" in signatures["Fine-Tuned BERT@1"]
    lacking = {entry.heading for entry in table.not_computed}
    assert {"Fine-Tuned RoBERTa@1", "Balanced Accuracy@1"} <= lacking
    assert "WMD@1" not in lacking
