"""An input that has nothing in common with the data raises an error."""

from __future__ import annotations

import math

import pytest
from batches import update_with
from refusals import codes, refused

import semmetrics
from semmetrics import DocumentFrequencies, Scorer, score

PREDS = {"a": ["cat", "dog"], "b": ["bus"]}
GTS = {"a": ["cat"], "b": ["bus", "car"]}
FRENCH_VECTORS = {"chat": [1.0, 0.0], "chien": [0.0, 1.0]}
VECTORS = {"cat": [1.0, 0.0], "chien": [0.0, 1.0]}
EMBEDDING_AND_TAXONOMY = pytest.mark.parametrize(
    ("option", "measure", "foreign", "usable"),
    [
        ("embedding", "SemF1", FRENCH_VECTORS, VECTORS),
        ("taxonomy", "hF(unknown=own)", {"katze": "tier"}, {"cat": "animal"}),
    ],
)


@EMBEDDING_AND_TAXONOMY
def test_an_input_needs_a_label_of_the_data(option, measure, foreign, usable):
    with refused("nothing-shared", name=option):
        score(PREDS, GTS, measures=measure, **{option: foreign})

    table = score(PREDS, GTS, measures=measure, **{option: usable})
    assert "nothing-shared" not in codes(table)


@pytest.mark.parametrize("keep_rows", [True, False])
@EMBEDDING_AND_TAXONOMY
def test_a_scorer_looks_for_a_label_in_all_batches(
    option, measure, foreign, usable, keep_rows
):
    def scorer_with(value):
        scorer = Scorer(measures=measure, keep_rows=keep_rows, **{option: value})
        update_with(scorer, PREDS, GTS, "b")
        update_with(scorer, PREDS, GTS, "a")  # has the label cat
        return scorer

    assert len(scorer_with(usable).compute()) == 1
    with refused("nothing-shared", name=option):
        scorer_with(foreign).compute()


CANDIDATES = {"a": "a cat sleeps", "b": "2 dogs run"}
REFERENCES = {"a": ["the cat is asleep"], "b": ["dogs run fast"]}


def frequencies_of(*words):
    counts = {(word,): 1 for word in words}
    return DocumentFrequencies.from_counts(counts, documents=3)


def test_document_frequencies_need_a_word_of_the_captions():
    numbers = frequencies_of("2", "12")

    with refused("nothing-shared", name="doc_freq"):
        score(CANDIDATES, REFERENCES, measures="CIDEr-D", doc_freq=numbers)
    scorer = Scorer(measures="CIDEr-D", doc_freq=numbers, keep_rows=False)
    scorer.update(CANDIDATES, REFERENCES)
    with refused("nothing-shared", name="doc_freq"):
        scorer.compute()

    words = frequencies_of("cat", "12")
    table = score(CANDIDATES, REFERENCES, measures="CIDEr-D", doc_freq=words)
    assert "nothing-shared" not in codes(table)


def test_captions_without_words_may_have_frequencies_of_numbers():
    captions = {"a": "7 12", "b": "2"}
    numbers = frequencies_of("2", "12")

    table = score(captions, captions, measures="CIDEr-D", doc_freq=numbers)

    assert table[0].n == 2


def test_vectors_need_a_word_of_the_captions():
    measure = "Soft-SPICE(parser=offline)"

    with refused("nothing-shared", name="embedding"):
        score(CANDIDATES, REFERENCES, measures=measure, embedding=FRENCH_VECTORS)

    table = score(CANDIDATES, REFERENCES, measures=measure, embedding=VECTORS)
    assert "unknown-texts" in codes(table)


# ---- inputs that need nothing in common -----------------------------------------------------------


def test_the_embedding_of_the_package_may_have_no_label():
    labels = {"a": ["xqzt"], "b": ["qqq"]}

    assert semmetrics.score(labels, labels, measures="SemF1")[0].n == 2


def test_a_single_true_label_may_have_no_vector():
    options = {"measures": "WMD", "embedding": {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}}

    assert math.isnan(score([["lost"]], [["gone"]], **options)[0].value)
    with refused("nothing-shared"):
        score([["lost"], ["x"]], [["gone"], ["y"]], **options)


def test_labels_to_ignore_need_not_occur():
    table = score(PREDS, GTS, measures="F1", ignore=["background"])

    assert "ignored-labels-not-found" in codes(table)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("Accuracy(labels=M1)@1", {"populations": {"x": 3}}),
        ("Accuracy(labels=2H)@1", {"hops": {"x": 3}}),
        ("Accuracy(labels=foo)@1", {"class_lists": {"foo": ["x"]}}),
        ("H", {"seen": ["x"], "unseen": ["y"]}),
    ],
)
def test_lists_of_classes_raise_errors_of_their_own(measure, options):
    ranked = {"a": ["cat", "dog"], "b": ["dog", "cat"]}
    truth = {"a": "cat", "b": "dog"}

    with pytest.raises(semmetrics.InputError):
        score(
            ranked,
            truth,
            measures=measure,
            task="classes",
            classes=["cat", "dog"],
            **options,
        )
