"""Sample weights from frames: the columns of a table in a file, or the ids in the index."""

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from refusals import refused

import semmetrics

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


@pytest.mark.parametrize(
    ("frame", "code", "where"),
    [
        (
            FRAME.rename(columns={"weight": "w"}),
            "missing-column",
            "weights, row 0 (from 0)",
        ),
        (FRAME[["weight"]], "missing-column", "weights, row 0 (from 0)"),
        (
            pl.from_pandas(FRAME)[["weight"]],
            "missing-column",
            "weights, row 0 (from 0)",
        ),
        (pd.concat([FRAME, FRAME]), "duplicate-id", "weights, row 2 (from 0), id 'a'"),
        (pd.Series([1.0, 2.0, 3.0], ["a", "a", "b"]), None, "weights"),
        (
            FRAME.assign(weight=["x", "y"]),
            "not-a-number",
            "weights, row 0 (from 0), id 'a'",
        ),
        (FRAME.assign(weight=[-1.0, 1.0]), None, "weights"),
    ],
)
def test_refusals(frame, code, where):
    with refused(code, place=where) as caught:
        score(frame)
    assert not re.search("have no weight|first line", str(caught.value))
