"""Options of reading that are for one side, the predictions or the ground truth."""

from __future__ import annotations

import json
import pickle

import pytest
from refusals import refused

import semmetrics
from semmetrics.options import SIDED, flag
from semmetrics.scale import score_stream

LABELS = ("key,tag\na,cat\nb,dog\n", "photo;names\na;cat\nb;bus\n")
OPTIONS = {
    "pred_id_column": "key",
    "pred_label_column": "tag",
    "gt_id_column": "photo",
    "gt_label_column": "names",
    "gt_delimiter": ";",
}


def written(folder, texts=LABELS, names=("p.csv", "g.csv")):
    paths = []
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text, encoding="utf-8")
        paths.append(str(folder / name))
    return paths


def test_each_side_has_columns_and_a_delimiter_of_its_own(tmp_path):
    sides = written(tmp_path)
    assert semmetrics.score(*sides, measures="F1", **OPTIONS)["F1"].value == 0.5
    read = semmetrics.ReadOptions(
        pred=semmetrics.ReadOptions(id_column="key", label_column="tag"),
        gt=semmetrics.ReadOptions(
            id_column="photo", label_column="names", delimiter=";"
        ),
    )
    assert semmetrics.score(*sides, measures="F1", read=read)["F1"].value == 0.5
    # the kind is found by them, too
    assert semmetrics.score(*sides, **OPTIONS)["F1"].value == 0.5
    compared = semmetrics.compare(
        {"one": sides[0], "two": sides[0]}, sides[1], measures="F1", **OPTIONS
    )
    assert [one.value for one in compared.scores] == [0.5, 0.5]
    scorer = semmetrics.Scorer(measures="F1", **OPTIONS)
    scorer.update(*sides)
    assert pickle.loads(pickle.dumps(scorer)).compute()["F1"].value == 0.5
    assert score_stream(*sides, measures="F1", **OPTIONS).compute()["F1"].value == 0.5
    swept = semmetrics.sweep(*sides, measures="SemF1", thresholds="0.9", **OPTIONS)
    assert swept


def test_an_option_of_one_side_goes_before_that_of_both(tmp_path):
    sides = written(tmp_path, ("k;tag\na;cat\nb;dog\n", "photo|tag\na|cat\nb|bus\n"))
    shared = {"id_column": "k", "delimiter": ";", "label_column": "tag"}
    found = semmetrics.score(*sides, gt_id_column="photo", gt_delimiter="|", **shared)
    assert found["F1"].value == 0.5
    with refused("missing-column", flag="gt_id_column"):
        semmetrics.score(*sides, gt_id_column="other", gt_delimiter="|", **shared)
    with refused("missing-column", flag="pred_id_column"):
        semmetrics.score(
            *sides,
            gt_id_column="photo",
            gt_delimiter="|",
            **{**shared, "id_column": "z"},
        )


@pytest.mark.parametrize("side", [0, 1])
def test_the_delimiter_that_is_probably_meant_is_that_of_the_side(side, tmp_path):
    texts = ["id,label\na,cat\n", "id,label\na,cat\n"]
    texts[side] = texts[side].replace(",", ";")
    sides = written(tmp_path, texts)
    option = ("pred", "gt")[side] + "_delimiter"
    with refused("other-delimiter", option=option):
        semmetrics.score(*sides, measures="F1", delimiter=",")
    assert semmetrics.score(*sides, measures="F1", **{option: ";"})["F1"].value == 1.0


def test_captions_of_two_foreign_files(tmp_path):
    texts = (
        "image\tblip2\n1.jpg\ta cat sleeps\n2.jpg\ta dog runs\n",
        json.dumps(
            [
                {"photo": "1.jpg", "human": "a cat sleeps"},
                {"photo": "2.jpg", "human": "a dog runs"},
            ]
        ),
    )
    sides = written(tmp_path, texts, ("p.txt", "g.json"))
    options = {
        "pred_format": "tsv",
        "pred_caption_column": "blip2",
        "gt_caption_column": "human",
        "gt_id_column": "photo",
        "measures": "BLEU-1",
    }
    assert semmetrics.score(*sides, **options)[0].value == pytest.approx(1)


def test_rankings_of_two_foreign_tables(tmp_path):
    texts = ("user,movie,pred\n1,a,0.9\n1,b,0.8\n", "person,film,stars\n1,b,1\n")
    sides = written(tmp_path, texts)
    options = {
        "pred_id_column": "user",
        "pred_candidate_column": "movie",
        "pred_score_column": "pred",
        "gt_id_column": "person",
        "gt_candidate_column": "film",
        "gt_score_column": "stars",
        "task": "retrieval",
        "measures": "MRR",
    }
    assert semmetrics.score(*sides, **options)[0].value == 0.5


def test_labels_in_a_cell_of_one_side(tmp_path):
    sides = written(tmp_path, ("id,label\na,cat\na,dog\n", "id,label\na,cat;dog\n"))
    found = semmetrics.score(*sides, measures="F1", gt_label_delimiter=";")
    assert found["F1"].value == 1.0


def test_functions_of_one_side_have_no_such_options(tmp_path):
    side = written(tmp_path)[0]
    for name in ("pred_id_column", "gt_delimiter"):
        with refused("not-applicable", name=name):
            semmetrics.validate(side, **{name: "x"})
    with refused("conflicting-options"):
        semmetrics.score(side, side, read=semmetrics.ReadOptions(), gt_id_column="key")


def test_flags_follow_from_those_of_both_sides():
    names = [f"{side}_{name}" for side in ("pred", "gt") for name in SIDED]
    assert len({flag(name) for name in names}) == len(names)
    assert flag("gt_format", "csv") == "--gt-input-format csv"
    assert flag("pred_id_column", "key") == "--pred-id-column key"
