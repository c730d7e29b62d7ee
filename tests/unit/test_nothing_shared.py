"""Inputs of which no entry occurs in the data are an error; those with some are not."""

from __future__ import annotations

import math

import pytest
from refusals import codes, refused

import semmetrics
from semmetrics import DocumentFrequencies, Scorer
from semmetrics.scale.stream import score_stream

PREDS = {"a": ["cat", "dog"], "b": ["bus"]}
GTS = {"a": ["cat"], "b": ["bus", "car"]}
CANDIDATES = {"a": "a cat sleeps", "b": "2 dogs run"}
REFERENCES = {"a": ["the cat is asleep"], "b": ["dogs run fast"]}
OTHER_VECTORS = {"chat": [1.0, 0.0], "chien": [0.0, 1.0]}
SOME_VECTORS = {"cat": [1.0, 0.0], "chien": [0.0, 1.0]}
NUMBERS = DocumentFrequencies.from_counts({("2",): 2, ("12", "7"): 1}, documents=3)
WORDS = DocumentFrequencies.from_counts({("cat",): 2, ("12", "7"): 1}, documents=3)
SPICE = "Soft-SPICE(parser=offline)"
CASES = [
    ("embedding", "SemF1", OTHER_VECTORS, SOME_VECTORS),
    ("taxonomy", "hF(unknown=own)", {"katze": "tier"}, {"cat": "animal"}),
]


@pytest.mark.parametrize(("option", "measure", "other", "some"), CASES)
def test_inputs_of_label_sets(option, measure, other, some):
    with refused("nothing-shared", name=option):
        semmetrics.score(PREDS, GTS, measures=measure, **{option: other})
    found = semmetrics.score(PREDS, GTS, measures=measure, **{option: some})
    assert "nothing-shared" not in codes(found)


@pytest.mark.parametrize(("option", "measure", "other", "some"), CASES)
@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_scorer_looks_at_all_batches(option, measure, other, some, keep_rows):
    for given in (other, some):
        scorer = Scorer(measures=measure, keep_rows=keep_rows, **{option: given})
        for name in "ba":  # the first batch has none of some
            scorer.update({name: PREDS[name]}, {name: GTS[name]})
        if given is some:
            assert len(scorer.compute()) == 1
        else:
            with refused("nothing-shared", name=option):
                scorer.compute()


def test_a_stream_looks_at_all_items(tmp_path):
    path = tmp_path / "gt.csv"
    path.write_text("id,label\n" + "".join(f"i{n},cat\n" for n in range(50)))
    with refused("nothing-shared", name="embedding"):
        score_stream(
            str(path), str(path), measures="SemF1", embedding=OTHER_VECTORS
        ).compute()
    table = score_stream(
        str(path), str(path), measures="SemF1", embedding=SOME_VECTORS
    ).compute()
    assert table["SemF1"].value == 1


def test_document_frequencies_of_numbers():
    options = {"measures": "CIDEr-D", "doc_freq": NUMBERS}
    with refused("nothing-shared", name="doc_freq"):
        semmetrics.score(CANDIDATES, REFERENCES, **options)
    with refused("nothing-shared", name="doc_freq"):
        scorer = Scorer(**options, keep_rows=False)
        scorer.update(CANDIDATES, REFERENCES)
        scorer.compute()
    semmetrics.score(CANDIDATES, REFERENCES, measures="CIDEr-D", doc_freq=WORDS)
    numbers = {"a": "7 12", "b": "2"}
    semmetrics.score(numbers, numbers, **options)  # there are no words


def test_vectors_of_other_words_for_captions():
    with refused("nothing-shared", name="embedding"):
        semmetrics.score(
            CANDIDATES, REFERENCES, measures=SPICE, embedding=OTHER_VECTORS
        )
    found = semmetrics.score(
        CANDIDATES, REFERENCES, measures=SPICE, embedding=SOME_VECTORS
    )
    assert "unknown-texts" in codes(found)


def test_what_the_package_brings_is_not_checked():
    labels = {"a": ["xqzt"], "b": ["qqq"]}
    semmetrics.score(labels, labels, measures="SemF1")


def test_a_single_true_label_may_be_unknown():
    given = {"measures": "WMD", "embedding": {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}}
    (score,) = semmetrics.score([["lost"]], [["gone"]], **given)
    assert math.isnan(score.value)
    with refused("nothing-shared"):
        semmetrics.score([["lost"], ["x"]], [["gone"], ["y"]], **given)


def test_labels_to_ignore_need_not_occur():
    found = semmetrics.score(PREDS, GTS, measures="F1", ignore=["background"])
    assert "ignored-labels-not-found" in codes(found)


def test_lists_that_name_the_data_were_errors_before():
    with refused("outside-classes"):
        semmetrics.score(PREDS, GTS, measures="F1", classes=["katze"])
    with refused(None):
        semmetrics.score(PREDS, GTS, measures="F1", weights={"x": 1.0})
    ranked, truth = {"a": ["cat", "dog"], "b": ["dog", "cat"]}, {"a": "cat", "b": "dog"}
    classes = {"task": "classes", "classes": ["cat", "dog"]}
    for measure, options in (
        ("Accuracy(labels=M1)@1", {"populations": {"x": 3}}),
        ("Accuracy(labels=2H)@1", {"hops": {"x": 3}}),
        ("Accuracy(labels=foo)@1", {"class_lists": {"foo": ["x"]}}),
        ("H", {"seen": ["x"], "unseen": ["y"]}),
    ):
        with refused(None):
            semmetrics.score(ranked, truth, measures=measure, **classes, **options)
