"""What cannot be told apart is not taken for the same."""

from __future__ import annotations

import pytest
from refusals import codes, refused

import semmetrics
from semmetrics.embed.embedder import CachedEmbedder, CallableEmbedder
from semmetrics.embed.open import open_embedding

PREDS, GTS = [["cat"]], [["dog"]]


def alike(texts):
    return [[1.0, 0.0] for _ in texts]


def apart(texts):
    """Differ from ``alike`` by the vector of a dog alone."""
    return [[0.0, 1.0] if text == "dog" else [1.0, 0.0] for text in texts]


def named(function):
    """Give a function the name of the other."""
    function.__name__ = "alike"
    return function


def sem_f1(model, **options):
    table = semmetrics.score(
        PREDS, GTS, measures="SemF1(threshold=0.4)", embedding=model, **options
    )
    (score,) = table
    return score, table.notes


def test_two_functions_of_one_name_do_not_share_a_cache(tmp_path):
    options = {"cache": tmp_path / "kept.sqlite"}
    assert sem_f1(alike, **options)[0].value == 1.0
    score, notes = sem_f1(named(apart), **options)
    assert score.value == 0.0
    assert "|emb:alike@unversioned|" in score.signature
    assert len(notes) == 1
    assert notes[0].startswith("vectors of alike@unversioned are not cached")
    assert not (tmp_path / "kept.sqlite").exists()


def test_functions_with_versions_share_what_is_theirs(tmp_path):
    options = {"cache": tmp_path / "kept.sqlite"}
    models = [
        CallableEmbedder(alike, version="1"),
        CallableEmbedder(apart, name="alike", version="2"),
    ]
    scores = [sem_f1(model, **options)[0] for model in models]
    assert [score.value for score in scores] == [1.0, 0.0]
    assert not any("unversioned" in score.signature for score in scores)
    assert (tmp_path / "kept.sqlite").exists()


@pytest.mark.parametrize("wrong", [2, "", True])
def test_a_version_is_a_text(wrong):
    with refused("bad-option"):
        CallableEmbedder(alike, version=wrong)


def test_a_cache_refuses_what_it_cannot_tell_apart(tmp_path):
    with refused("unversioned"):
        CachedEmbedder(CallableEmbedder(alike), tmp_path / "kept.sqlite")
    for function in (alike, CallableEmbedder(alike)):
        with refused("unversioned"):
            open_embedding(function, cache=tmp_path / "kept.sqlite")
        assert open_embedding(function, cache=None).embed(["cat"]).known.all()


def test_rescore_says_that_a_function_may_be_another():
    score, _ = sem_f1(alike)
    again = semmetrics.rescore(score.signature, PREDS, GTS, embedding=named(apart))
    assert again.scores[0].value == 0.0
    (line,) = again.differences
    assert (
        "is a function without a version: whether it is the same one is not known"
        in line
    )
    versioned, _ = sem_f1(CallableEmbedder(alike, version="1"))
    model = CallableEmbedder(alike, version="1")
    assert not semmetrics.rescore(
        versioned.signature, PREDS, GTS, embedding=model
    ).differences


def test_a_tokenizer_may_know_its_own_captions_alone():
    known = {"a dog": ["a", "dog"]}
    (score,) = semmetrics.score(
        {"1": "a dog"},
        {"1": ["a dog"]},
        measures="BLEU-1",
        tokenizer=lambda text: known[text],
    )
    assert score.value == pytest.approx(1)
    assert "@unversioned-" in score.signature
    with refused("own-code-failed"):
        semmetrics.score(
            {"1": "a cat"},
            {"1": ["a dog"]},
            measures="BLEU-1",
            tokenizer=lambda text: known[text],
        )


def test_a_calibration_says_that_a_function_may_be_another():
    def lengths(texts):
        return [[1.0, float(len(text))] for text in texts]

    pairs = [
        ("cat", "kitten", 1),
        ("cat", "horses", 1),
        ("cat", "dog", 0),
        ("a", "bus", 0),
    ]
    for version, number in ((None, 1), ("1", 0)):
        model = CallableEmbedder(lengths, version=version)
        found = semmetrics.calibrate_threshold_on_pairs(pairs, model)
        other = CallableEmbedder(apart, name="lengths", version=version)
        table = semmetrics.score(
            PREDS,
            GTS,
            measures="SemF1(threshold=auto)",
            embedding=other,
            calibration=found,
        )
        assert codes(table).count("unversioned-calibration") == number
