"""Labels outside the vocabulary that a model was tuned on."""

import numpy as np
from tiny import Tiny

import semmetrics
from semmetrics.embed.coverage import measure_coverage
from semmetrics.embed.embedder import Embedded, RememberingEmbedder, embed_unique
from semmetrics.embed.lookup import embed_terms
from semmetrics.kinds.labels import as_labels

VECTORS = {"cat": [1, 0], "kitten": [1, 0.1], "dog": [0, 1], "zx": [1, 1]}


class Tuned(Tiny):
    """A model that was tuned on "cat" and "dog", and composes "zx"."""

    def __init__(self):
        super().__init__(VECTORS, "tuned", threshold=0.5)

    def embed(self, texts):
        embedded = super().embed(texts)
        tuned = np.isin(texts, ["cat", "dog"])
        composed = np.isin(texts, ["zx"])
        return Embedded(
            embedded.vectors, embedded.known, composed=composed, tuned=tuned
        )


def test_terms_are_untuned_if_they_are_neither_tuned_nor_composed_nor_unknown():
    terms = embed_terms(["cat", "kitten", "zx", "nothing"], Tuned())

    assert terms.untuned.tolist() == [False, True, False, False]
    assert terms.composed.tolist() == [False, False, True, False]
    assert terms.counts["untuned"] == terms.counts["composed"] == 1


def test_a_model_without_a_tuned_vocabulary_has_no_untuned_terms():
    assert embed_terms(["cat", "kitten"], Tiny(VECTORS)).counts["untuned"] == 0
    assert RememberingEmbedder(Tiny(VECTORS)).embed(["cat"]).tuned is None


def test_repeated_texts_are_tuned_or_not():
    texts = ["kitten", "cat", "kitten"]
    remembering = RememberingEmbedder(Tuned())

    for _ in range(2):
        assert remembering.embed(texts).tuned.tolist() == [False, True, False]
    assert embed_unique(Tuned(), texts).tuned.tolist() == [False, True, False]


def test_a_note_counts_untuned_terms():
    preds = [["kitten", "zx"], ["cat"]]
    gts = [["cat"], ["dog"]]

    table = semmetrics.score(
        preds, gts, measures=["SemF1", "SoftF1"], embedding=Tuned()
    )

    (note,) = [note for note in table.notes if "tuned on" in note]
    assert note.startswith("preds: 1 distinct term outside the vocabulary")
    assert "'kitten'" in note


def test_coverage_counts_untuned_and_composed_labels():
    labels = as_labels(
        {"a": ["cat", "kitten", ["zx", "kitten"]], "b": ["zx", "kitten"]}
    )

    (row,) = measure_coverage({"vet": labels}, Tuned())

    assert row.untuned == row.to_dict()["untuned"] == 3
    assert row.untuned_names == ("kitten", "zx, kitten")
    assert (row.composed, row.composed_names) == (1, ("zx",))
