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


def random_matrix(size):
    return np.random.default_rng(0).normal(size=(size, size))


VECTORS = np.eye(2)


@pytest.mark.parametrize(
    ("vectors", "code"),
    [
        (pd.DataFrame(VECTORS, index=["a", "b"]), "wrong-type"),
        (np.ma.masked_equal(VECTORS, 1), "masked"),
        ([[1, 2], [3]], "wrong-type"),
        (np.ones(2), "wrong-type"),
        ([[np.nan, 1], [1, 2]], "not-finite"),
    ],
    ids=["data frame", "masked", "ragged", "one dimension", "nan"],
)
@pytest.mark.parametrize("name", ["queries_embeddings", "gallery_embeddings"])
def test_wrong_vectors_are_an_error(vectors, code, name):
    embeddings = {"queries_embeddings": VECTORS, "gallery_embeddings": VECTORS}
    embeddings[name] = vectors

    with refused(code):
        score(None, own_columns(2), **embeddings)


def test_a_column_of_positions_is_not_a_matrix_of_0_and_1():
    # With three queries, the last number shows that it is not.
    similarities = np.array([[0.9, 0.1], [0.2, 0.8]])
    positions = np.array([[0], [1]])
    three_positions = np.array([[0], [1], [2]])

    with refused("partial-truth"):
        score(similarities, positions)
    (of_lists,) = score(similarities, positions.tolist())
    (of_three,) = score(np.eye(3), three_positions)

    assert of_lists.value == 1.0
    assert of_three.value == 1.0


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
@pytest.mark.parametrize(("first", "direction"), [(0, "i2t"), (1, "both")])
def test_a_matrix_of_ranked_positions_is_noted(dtype, first, direction):
    similarities = 3 * np.eye(12) + random_matrix(12)
    positions = np.argsort(-similarities, axis=1) + first

    table = score(positions.astype(dtype), own_columns(12), direction=direction)

    assert "places-as-scores" in codes(table)


NUMBERS = np.arange(144).reshape(12, 12)
OTHER_NUMBERS = {
    "large": NUMBERS * 1000 % 997,
    "repeated": NUMBERS % 5,
    "fractions": NUMBERS / 144,
    "two columns": np.array([[0, 1]] * 12),
    "negative": -np.array([range(12)] * 12),
}


@pytest.mark.parametrize("name", OTHER_NUMBERS)
def test_other_integers_are_not_ranked_positions(name):
    matrix = OTHER_NUMBERS[name]
    n_columns = matrix.shape[1]
    positives = [[number % n_columns] for number in range(12)]

    table = score(matrix, positives)

    assert "places-as-scores" not in codes(table)


@pytest.mark.parametrize(
    "options", [{}, {"direction": "both"}, {"measures": "MRR"}], ids=str
)
def test_a_matrix_of_distances_is_noted(options):
    distances = np.random.default_rng(0).uniform(1, 2, size=(20, 20))
    np.fill_diagonal(distances, 0.5)

    table = score(distances, own_columns(20), **options)

    assert "positives-last" in codes(table)


OTHER_MATRICES = {
    "random": random_matrix(20),
    "ties": np.ones((20, 20)),
    "similarities": np.eye(20),
    "few": 1 - np.eye(4),
}


@pytest.mark.parametrize("name", OTHER_MATRICES)
def test_other_matrices_are_not_distances(name):
    matrix = OTHER_MATRICES[name]

    table = score(matrix, own_columns(len(matrix)))

    assert not facts(table, "positives-last")


def test_a_run_without_queries_retrieves_nothing():
    options = {"missing": "empty", "gallery": ["q1", "d1"]}

    (result,) = score({}, {"q1": ["d1"]}, **options)

    assert result.value == 0
