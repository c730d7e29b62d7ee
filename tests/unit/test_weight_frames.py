"""Sample weights from frames: the columns of a table in a file, or the ids in the index."""

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import semmetrics
from semmetrics.errors import InputError

PRED, REF = {"a": ["x"], "b": ["y"]}, {"b": ["x"], "a": ["x"]}
FRAME = pd.DataFrame({"id": ["a", "b"], "weight": [3.0, 1.0]})
FORMS = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "arrow": pa.table(FRAME),
    "other names": FRAME.set_axis(["image_id", "Sample_Weight"], axis=1),
    "index": FRAME.set_index("id"),
    "index and one column": FRAME.set_index("id").set_axis(["w"], axis=1),
    "Series": FRAME.set_index("id")["weight"],
}


def score(weights, **options):
    return semmetrics.score(PRED, REF, measures="F1", weights=weights, **options)


@pytest.mark.parametrize("form", FORMS)
def test_of_each_form(form):
    assert score(FORMS[form])["F1"].value == 0.75


def test_one_column_of_arrow_is_in_the_order_of_the_ground_truth():
    weights = pa.chunked_array([[1.0, 3.0]])
    table = semmetrics.score([["x"], ["y"]], [["x"], ["x"]], measures="F1", weights=weights)
    assert table["F1"].value == 0.25


def test_columns_not_used_are_noted_in_batches_too():
    frame = FRAME.set_index("id").assign(by="me")
    assert "weights: 1 column not used: 'by'" in score(frame).notes
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(PRED, REF, weights=frame)
    assert scorer.compute()["F1"].value == 0.75
    assert "weights: 1 column not used: 'by'" in scorer.compute().notes


def test_id_column_names_the_ids():
    weights = FRAME.rename(columns={"id": "key"})
    assert score(weights, read=semmetrics.ReadOptions(id_column="key"))["F1"].value == 0.75


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (FRAME.rename(columns={"weight": "w"}), "no column for weight"),
        (FRAME[["weight"]], "no column for id"),
        (pl.from_pandas(FRAME)[["weight"]], "no column for id"),
        (pd.concat([FRAME, FRAME]), r"weights, row 2 \(from 0\), id 'a': the id stands twice"),
        (pd.Series([1.0, 2.0, 3.0], ["a", "a", "b"]), "weights: the id 'a' appears twice"),
        (FRAME.assign(weight=["x", "y"]), r"row 0 \(from 0\), id 'a': the number is 'x'"),
        (FRAME.assign(weight=[-1.0, 1.0]), r"the weight of item 'a' is -1\.0;"),
    ],
)
def test_refusals(frame, problem):
    with pytest.raises(InputError, match=problem) as caught:
        score(frame)
    assert not re.search("have no weight|first line", str(caught.value))
