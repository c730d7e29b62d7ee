"""What else a user of retrieval gives: names that are numbers, frames of vectors, damaged files."""

import numpy as np
import pytest
from refusals import codes, refused

import semmetrics

SIMS = np.array([[0.9, 0.1], [0.2, 0.8]])


POSITIVES = ([0], [1])


def score(preds=SIMS, gts=POSITIVES, **options):
    given = {"task": "retrieval", "measures": "HitRate@1", **options}
    return semmetrics.score(preds, [*gts] if isinstance(gts, tuple) else gts, **given)


def test_frames_of_vectors_are_refused_with_what_to_give():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(2), index=["a", "b"])
    options = {"queries_embeddings": frame, "gallery_embeddings": np.eye(2)}
    problem = "wrong-type"
    with refused(problem):
        score(None, **options)
    options = {"queries_embeddings": np.eye(2), "gallery_embeddings": frame}
    with refused("wrong-type"):
        score(None, **options)
    given = {"queries_embeddings": frame.to_numpy(), "gallery_embeddings": np.eye(2)}
    named = score(
        None,
        {"a": ["0"], "b": ["1"]},
        queries=list(frame.index),
        gallery=["0", "1"],
        **given,
    )
    assert named[0].value == 1.0


def test_columns_of_positives_are_not_taken_for_0_and_1():
    # of three queries the last would say that it is no 0/1
    columns = np.array([[0], [1]])
    with refused("partial-truth"):
        score(gts=columns)
    assert score(gts=columns.tolist())[0].value == 1.0
    assert score(np.eye(3), np.array([[0], [1], [2]]))[0].value == 1.0
    vectors = {"queries_embeddings": np.eye(2), "gallery_embeddings": np.eye(2)}
    with refused("is 0/1 in 1 column"):
        score(None, columns, **vectors)


@pytest.mark.parametrize("kind", [np.int64, np.float32])
def test_a_matrix_of_places_is_noted(kind):
    rng = np.random.default_rng(0)
    similarities = rng.normal(size=(12, 12)) + 3 * np.eye(12)
    order = np.argsort(-similarities, axis=1)
    gts = [[row] for row in range(12)]
    assert "places-as-scores" in codes(score(order.astype(kind), gts))
    assert "places-as-scores" in codes(
        score((order + 1).astype(kind), gts, direction="both")
    )
    assert score(order.tolist(), gts)[0].value == score(similarities, gts)[0].value


@pytest.mark.parametrize(
    "table",
    [
        np.arange(144).reshape(12, 12) * 1000 % 997,  # integers that are no places
        np.arange(144).reshape(12, 12) % 5,
        np.arange(144).reshape(12, 12) / 144,
        np.tile([[0, 1]], (12, 1)),
        -np.tile(np.arange(12), (12, 1)),
    ],
)
def test_scores_are_no_places(table):
    gts = [[row % table.shape[1]] for row in range(12)]
    assert "places-as-scores" not in codes(score(table, gts))


def test_a_matrix_of_distances_is_noted():
    rng = np.random.default_rng(0)
    distances = rng.uniform(1, 2, size=(20, 20)) - np.eye(20)
    gts = [[row] for row in range(20)]
    found = score(distances, gts)
    assert "positives-last" in codes(found)
    assert "20 of 20 queries with all positives in the last quarter" in str(found.notes)
    assert "positives-last" in codes(score(distances, gts, direction="both"))
    assert "positives-last" in codes(score(distances, gts, measures="MRR"))


def test_rankings_without_positives_at_their_end_are_no_distances():
    rng = np.random.default_rng(0)
    gts = [[row] for row in range(20)]
    random = rng.normal(size=(20, 20))
    for table in (random, np.ones((20, 20)), random + np.eye(20)):
        assert "positives-last" not in codes(score(table, gts))
    few = 1 - np.eye(4)
    assert "positives-last" not in codes(score(few, gts[:4]))


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        (
            np.ma.masked_equal(np.eye(2), 1),
            "masked",
        ),
        ([[1, 2], [3]], "wrong-type"),
        (np.ones(2), "wrong-type"),
        ([[np.nan, 1], [1, 2]], "not-finite"),
    ],
)
def test_vectors_that_are_none_are_refused(vectors, problem):
    with refused(problem):
        score(None, queries_embeddings=vectors, gallery_embeddings=np.eye(2))
