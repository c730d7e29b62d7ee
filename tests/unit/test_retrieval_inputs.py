"""What else a user of retrieval gives: names that are numbers, frames of vectors, damaged files."""

import numpy as np
import pytest
from refusals import refused

import semmetrics

SIMS = np.array([[0.9, 0.1], [0.2, 0.8]])


def score(preds=SIMS, gts=([0], [1]), **options):
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
        None, {"a": ["0"], "b": ["1"]}, queries=list(frame.index), gallery=["0", "1"], **given
    )
    assert named[0].value == 1.0


def test_columns_of_positives_are_not_taken_for_0_and_1():
    columns = np.array([[0], [1]])  # of three queries the last would say that it is no 0/1
    with refused("is 0/1 in 1 column, and the gallery has 2 candidates"):
        score(gts=columns)
    assert score(gts=columns.tolist())[0].value == 1.0
    assert score(np.eye(3), np.array([[0], [1], [2]]))[0].value == 1.0
    vectors = {"queries_embeddings": np.eye(2), "gallery_embeddings": np.eye(2)}
    with refused("is 0/1 in 1 column"):
        score(None, columns, **vectors)


@pytest.mark.parametrize(("vectors", "problem"), [
    (np.ma.masked_equal(np.eye(2), 1), "queries_embeddings: values are masked; fill them"),
    ([[1, 2], [3]], "wrong-type"), (np.ones(2), "wrong-type"),
    ([[np.nan, 1], [1, 2]], "not-finite"),
])  # fmt: skip
def test_vectors_that_are_none_are_refused(vectors, problem):
    with refused(problem):
        score(None, queries_embeddings=vectors, gallery_embeddings=np.eye(2))
