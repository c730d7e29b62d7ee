"""CSV and TSV."""

import time

import pytest
from reading import read, refused_in, saved

import semmetrics
from semmetrics import ReadOptions, as_labels


@pytest.fixture
def load(tmp_path):
    def reader(text, name="gt.csv", **options):
        return read(saved(tmp_path, name, text), ReadOptions(**options))

    return reader


def test_chosen_columns_must_be_there_once(load):
    with refused_in("missing-column", "gt.csv, line 1"):
        load("id,label\na,x\n", score_column="p")
    with refused_in("duplicate-column", "gt.csv, line 1"):
        load("id,x,x\na,b,c\n", label_column="x")


@pytest.mark.parametrize("size", [2**21, 16])
def test_how_many_cells_were_split_is_said(tmp_path, monkeypatch, size):
    monkeypatch.setattr("semmetrics.data.source.SMALL", size)
    preds, gts = tmp_path / "p.csv", tmp_path / "g.csv"
    preds.write_text(
        "id,labels\na,cat,dog\n".replace("cat,dog", '"cat,dog"') + "b,ox\nc,\n"
    )
    gts.write_text('id,labels\na,cat\nb,"ox, wild"\nc,ox\n')
    split = ReadOptions(label_delimiter=",")
    table = semmetrics.score(preds, gts, measures="F1", read=split)
    assert all(
        ", split at ',' in 1 of 3 rows: 3 items" in text for text in table.understood
    )
    whole = semmetrics.score(as_labels(preds, options=split), gts, measures="F1")
    assert ["split at" in text for text in whole.understood] == [True, False]
    gts.write_text("id,labels\na,cat\nb,ox\nc,ox\n")
    assert as_labels(gts, options=split).understood.endswith(
        "split at ',' in 0 of 3 rows"
    )


@pytest.mark.parametrize("place", [0, 50_000])
def test_one_quote_in_a_large_table_takes_no_longer(tmp_path, place):
    path = tmp_path / "gt.csv"
    rows = [
        f"{number},{'a label that makes a row long ' * 2}" for number in range(100_000)
    ]
    rows[place] = f'{place},a 12" pizza'
    path.write_text("\n".join(["id,label", *rows]))
    began = time.monotonic()
    found = as_labels(path)
    # half a minute, where quotes are counted again for each line
    assert time.monotonic() - began < 10
    assert found.to_list()[place] == ['a 12" pizza']
    assert len(found) == 100_000
