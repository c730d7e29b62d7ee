"""What messages advise: remedies and notes that fit the input they are about."""

import pandas as pd
import polars as pl
import pytest
from reading import saved
from refusals import refused

import semmetrics


def test_a_few_columns_of_a_frame_hold_other_numbers():
    frame = pd.DataFrame({"id": ["a", "b"], "x": [0.5, 0.1], "y": [0.1, 1.0], "epoch": [3, 3]})
    truth = {"a": ["x"], "b": ["y"]}
    for form in (frame, pl.from_pandas(frame), frame.set_index("id")):
        said = [n for n in semmetrics.score(form, truth, measures="mAP").notes if "outside" in n]
        assert said == [
            "preds: 1 column of 3 with numbers outside [0, 1]: 'epoch'; leave out what is not a "
            "label"
        ]
        assert any("outside [0, 1]" in note for note in semmetrics.validate(form)["notes"])
    logits = frame.assign(x=[-2.0, 5.0])  # most columns: scores of another range
    for form in (logits, frame.drop(columns="epoch")):
        notes = semmetrics.score(form, truth, measures="mAP").notes
        assert not any("outside" in note for note in notes)


@pytest.mark.parametrize("sign", [";", "|", "\t"])
def test_a_header_of_one_column_that_holds_a_delimiter(tmp_path, sign):
    path = saved(tmp_path, "p.csv", f"id{sign}label\na{sign}x\n")
    with refused("other-delimiter", sign=sign):
        semmetrics.score(path, path, measures="F1")
    read = semmetrics.ReadOptions(delimiter=sign)
    assert semmetrics.score(path, path, measures="F1", read=read)["F1"].value == 1.0
