"""Matrices of retrieval that have other numbers than similarities, and wrong vectors."""

import numpy as np
import pandas as pd
import pytest
from refusals import codes, facts, refused

import semmetrics

OPTIONS = {"task": "retrieval", "measures": "HitRate@1"}


def score(preds, gts, **options):
    """Score a matrix or vectors."""
    return semmetrics.score(preds, gts, **{**OPTIONS, **options})


def own_columns(n_queries):
    """Return the positives of queries that each have the column with their number."""
    return [[number] for number in range(n_queries)]


@pytest.mark.parametrize(
    ("vectors", "code"),
    [
        (pd.DataFrame(np.eye(2), index=["a", "b"]), "wrong-type"),
        (np.ma.masked_equal(np.eye(2), 1), "masked"),
        ([[1, 2], [3]], "wrong-type"),
        (np.ones(2), "wrong-type"),
        ([[np.nan, 1], [1, 2]], "not-finite"),
    ],
    ids=["data frame", "masked", "ragged", "one dimension", "nan"],
)
@pytest.mark.parametrize("name", ["queries_embeddings", "gallery_embeddings"])
def test_wrong_vectors_are_an_error(vectors, code, name):
    embeddings = {"queries_embeddings": np.eye(2), "gallery_embeddings": np.eye(2)}
    embeddings[name] = vectors

    with refused(code):
        score(None, own_columns(2), **embeddings)


def test_a_column_of_positions_is_not_a_matrix_of_0_and_1():
    # With three queries, the last number shows that it is not.
    similarities = np.array([[0.9, 0.1], [0.2, 0.8]])
    positions = np.array([[0], [1]])

    with refused("partial-truth"):
        score(similarities, positions)
    assert score(similarities, positions.tolist())[0].value == 1.0
    assert score(np.eye(3), np.array([[0], [1], [2]]))[0].value == 1.0


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize(("first", "direction"), [(0, "i2t"), (1, "both")])
def test_a_matrix_of_ranked_positions_is_noted(dtype, first, direction):
    noise = np.random.default_rng(0).normal(size=(12, 12))
    order = np.argsort(-noise - 3 * np.eye(12), axis=1)

    table = score((order + first).astype(dtype), own_columns(12), direction=direction)

    assert "places-as-scores" in codes(table)


NUMBERS = np.arange(144).reshape(12, 12)


@pytest.mark.parametrize(
    "matrix",
    [
        NUMBERS * 1000 % 997,
        NUMBERS % 5,
        NUMBERS / 144,
        np.tile([[0, 1]], (12, 1)),
        -np.tile(np.arange(12), (12, 1)),
    ],
    ids=["large", "repeated", "fractions", "two columns", "negative"],
)
def test_other_integers_are_not_ranked_positions(matrix):
    positives = [[number % matrix.shape[1]] for number in range(12)]

    assert "places-as-scores" not in codes(score(matrix, positives))


@pytest.mark.parametrize(
    "options", [{}, {"direction": "both"}, {"measures": "MRR"}], ids=str
)
def test_a_matrix_of_distances_is_noted(options):
    distances = np.random.default_rng(0).uniform(1, 2, size=(20, 20)) - np.eye(20)

    table = score(distances, own_columns(20), **options)

    assert "positives-last" in codes(table)


@pytest.mark.parametrize(
    "matrix",
    [
        np.random.default_rng(0).normal(size=(20, 20)),
        np.ones((20, 20)),
        np.eye(20),
        1 - np.eye(4),
    ],
    ids=["random", "ties", "similarities", "few"],
)
def test_other_matrices_are_not_distances(matrix):
    table = score(matrix, own_columns(len(matrix)))

    assert not facts(table, "positives-last")


def test_a_run_without_queries_retrieves_nothing():
    options = {"missing": "empty", "gallery": ["q1", "d1"]}

    assert score({}, {"q1": ["d1"]}, **options)[0].value == 0
