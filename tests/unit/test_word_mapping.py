"""Vectors of words as a mapping."""

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.embed.open import open_embedding

VECTORS = {"cat": [1, 0], "kitten": [1, 1], "dog": [0, 1]}


def score(
    embedding, measures="SemF1(threshold=0.7)", preds="kitten", gts="cat", **options
):
    return semmetrics.score(
        [[preds]], [[gts]], measures=measures, embedding=embedding, **options
    )


def test_the_identity_is_of_words_and_vectors_whatever_their_order_and_type():
    def identity(vectors):
        return open_embedding(vectors).identity

    turned = {word: np.array(VECTORS[word], np.float64) for word in reversed(VECTORS)}
    assert identity(turned) == identity(VECTORS)
    assert identity({**VECTORS, "cat": [1, 0.5]}) != identity(VECTORS)
    assert identity({**VECTORS, "cow": [1, 0]}) != identity(VECTORS)


def test_labels_are_looked_up_as_in_word_vectors():
    labels = {"preds": "dog kitten", "gts": "dog"}  # the mean of words
    assert score(VECTORS, "SemF1(threshold=0.85)", **labels).scores[0].value == 1
    found = score(
        VECTORS, "SemF1(threshold=0.85)", lookup="exact", oov="skip", **labels
    )
    assert found.scores[0].value == 0
    assert "|lookup:exact|oov:skip|" in found.scores[0].signature


def test_a_name_may_stand_for_vectors_of_words():
    table = score({"mine": VECTORS}, "SemF1(embedding=mine,threshold=0.7)")
    assert table.scores[0].value == 1


WRONG = "out-of-range"


@pytest.mark.parametrize(
    ("embedding", "code", "where", "values"),
    [
        (
            {"cat": [1, 0], "dog": [1]},
            WRONG,
            "embedding",
            {"role": "the vector of 'dog'"},
        ),
        (
            {"cat": [1, 0], "dog": "static"},
            "mixed-mapping",
            "embedding",
            {"other": "dog"},
        ),
        (
            {"cat": [1, 0], "dog": ["a", "b"]},
            WRONG,
            "embedding",
            {"role": "the vector of 'dog'"},
        ),
        (
            {"cat": [1, 0], "dog": [[1, 0]]},
            WRONG,
            "embedding",
            {"role": "the vector of 'dog'"},
        ),
        (
            {"cat": [1, 0], "dog": [1, float("inf")]},
            "vector-not-finite",
            None,
            {"names": ["dog"]},
        ),
        ({"cat": []}, WRONG, "embedding", {"role": "the vector of 'cat'"}),
        ({"cat": 5}, "wrong-type", "embedding 'cat'", {"value": 5}),
        ({"mine": {}}, "nothing-given", "embedding 'mine'", {}),
        (
            {"mine": {"cat": "x"}},
            WRONG,
            "embedding 'mine'",
            {"role": "the vector of 'cat'"},
        ),
        ({1: [1, 0], "1": [1, 0]}, "duplicate", "embedding", {"value": "1"}),
    ],
)
def test_other_values_are_refused_by_their_key(embedding, code, where, values):
    with refused(code, where, **values):
        score(embedding)


def test_a_signature_is_computed_again_with_them():
    signature = score(VECTORS, "SemF1(threshold=0.7)").scores[0].signature
    again = semmetrics.rescore(signature, [["kitten"]], [["cat"]], embedding=VECTORS)
    assert again.differences == []
    other = {**VECTORS, "cat": [1, 0.5]}
    (line,) = semmetrics.rescore(
        signature, [["kitten"]], [["cat"]], embedding=other
    ).differences
    assert line.startswith("the embedding differs")


def test_pairs_are_calibrated_with_them():
    pairs = [("cat", "kitten", 1), ("cat", "dog", 0)]
    found = semmetrics.calibrate_threshold_on_pairs(pairs, embedding=VECTORS)
    assert found.embedding.startswith("words-2@")
    assert 0 < found.threshold < 0.71
