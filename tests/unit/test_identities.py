"""Functions of users: without a version, two functions of one name are not the same."""

from __future__ import annotations

import pytest
from refusals import codes, refused

import semmetrics
from semmetrics.embed.embedder import CachedEmbedder, CallableEmbedder
from semmetrics.embed.open import open_embedding

PREDS = [["cat"]]
REFS = [["dog"]]


def model(texts):
    """Give all texts the same vector."""
    return [[1.0, 0.0] for _ in texts]


def other_model(texts):
    """Give a dog another vector."""
    return [[0.0, 1.0] if text == "dog" else [1.0, 0.0] for text in texts]


other_model.__name__ = "model"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache.sqlite"


def score(embedding, measure="SemF1(threshold=0.4)", **options):
    return semmetrics.score(
        PREDS, REFS, measures=measure, embedding=embedding, **options
    )


def test_functions_without_a_version_are_not_cached(cache):
    assert score(model, cache=cache)[0].value == 1.0

    table = score(other_model, cache=cache)

    assert table[0].value == 0.0
    assert "|emb:model@unversioned|" in table[0].signature
    (fact,) = table.facts
    assert fact.code == "not-cached"
    assert fact.values["model"] == "model@unversioned"
    assert not cache.exists()


def test_functions_with_different_versions_do_not_share_vectors(cache):
    first = CallableEmbedder(model, version="1")
    second = CallableEmbedder(other_model, version="2")

    assert score(first, cache=cache)[0].value == 1.0
    assert score(second, cache=cache)[0].value == 0.0
    assert cache.exists()


@pytest.mark.parametrize("version", [2, "", True])
def test_a_version_must_be_a_string(version):
    with refused("bad-option"):
        CallableEmbedder(model, version=version)


def test_a_cache_needs_a_version(cache):
    with refused("unversioned"):
        CachedEmbedder(CallableEmbedder(model), cache)
    with refused("unversioned"):
        open_embedding(model, cache=cache)

    assert open_embedding(model, cache=None).embed(["cat"]).known.all()


def test_rescoring_with_a_function_reports_that_it_may_be_another():
    signature = score(model)[0].signature

    rescored = semmetrics.rescore(signature, PREDS, REFS, embedding=other_model)

    assert rescored[0].value == 0.0
    (difference,) = rescored.differences
    assert "is a function without a version" in difference


def test_rescoring_with_the_same_version_reports_no_difference():
    versioned = CallableEmbedder(model, version="1")
    signature = score(versioned)[0].signature

    rescored = semmetrics.rescore(signature, PREDS, REFS, embedding=versioned)

    assert not rescored.differences


def test_a_tokenizer_may_fail_for_captions_that_do_not_occur():
    tokens = {"a dog": ["a", "dog"]}
    options = {"measures": "BLEU-1", "tokenizer": tokens.__getitem__}
    refs = {"1": ["a dog"]}

    (result,) = semmetrics.score({"1": "a dog"}, refs, **options)

    assert result.value == pytest.approx(1)
    assert "@unversioned-" in result.signature
    with refused("own-code-failed"):
        semmetrics.score({"1": "a cat"}, refs, **options)


@pytest.mark.parametrize(("version", "count"), [(None, 1), ("1", 0)])
def test_a_note_says_that_a_calibration_may_be_of_another_function(version, count):
    def lengths(texts):
        return [[1.0, float(len(text))] for text in texts]

    pairs = [("cat", "kitten", 1), ("cat", "horses", 1), ("cat", "dog", 0)]
    pairs.append(("a", "bus", 0))
    embedder = CallableEmbedder(lengths, name="model", version=version)
    calibration = semmetrics.calibrate_threshold_on_pairs(pairs, embedder)

    table = score(
        CallableEmbedder(other_model, version=version),
        "SemF1(threshold=auto)",
        calibration=calibration,
    )

    assert codes(table).count("unversioned-calibration") == count
