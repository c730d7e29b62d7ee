"""Options of reading for one side, and columns that only one side has."""

import json

import pytest
from reading import saved
from refusals import refused

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data.large_text import read_large
from semmetrics.data.read_options import truth_options
from semmetrics.data.source import load
from semmetrics.kinds.labels import FORM
from semmetrics.scale import score_stream

OPTIONS = {
    "pred_id_column": "key",
    "pred_label_column": "tag",
    "gt_id_column": "photo",
    "gt_label_column": "names",
    "gt_delimiter": ";",
}


@pytest.fixture
def sides(tmp_path):
    """Return the paths of two tables with other columns and delimiters."""
    preds = saved(tmp_path, "p.csv", "key,tag\na,cat\nb,dog\n")
    gts = saved(tmp_path, "g.csv", "photo;names\na;cat\nb;bus\n")
    return str(preds), str(gts)


@pytest.mark.parametrize("measures", ["F1", None])
def test_each_side_may_have_its_own_columns_and_delimiter(sides, measures):
    table = semmetrics.score(*sides, measures=measures, **OPTIONS)

    assert table["F1"].value == 0.5


def test_other_functions_have_the_options_of_each_side(sides):
    preds, gts = sides
    scorer = semmetrics.Scorer(measures="F1", **OPTIONS)

    scorer.update(preds, gts)
    compared = semmetrics.compare(
        {"one": preds, "two": preds}, gts, measures="F1", **OPTIONS
    )
    streamed = score_stream(preds, gts, measures="F1", **OPTIONS).compute()

    assert scorer.compute()["F1"].value == 0.5
    assert [score.value for score in compared.scores] == [0.5, 0.5]
    assert streamed["F1"].value == 0.5
    assert semmetrics.sweep(preds, gts, measures="SemF1", thresholds="0.9", **OPTIONS)


def test_an_option_of_one_side_overrides_the_option_of_both(tmp_path):
    preds = saved(tmp_path, "p.csv", "k;tag\na;cat\nb;dog\n")
    gts = saved(tmp_path, "g.csv", "photo|tag\na|cat\nb|bus\n")
    options = {"delimiter": ";", "label_column": "tag", "gt_delimiter": "|"}

    table = semmetrics.score(preds, gts, id_column="k", gt_id_column="photo", **options)

    assert table["F1"].value == 0.5
    with refused("missing-column", flag="gt_id_column"):
        semmetrics.score(preds, gts, id_column="k", gt_id_column="z", **options)
    with refused("missing-column", flag="pred_id_column"):
        semmetrics.score(preds, gts, id_column="z", gt_id_column="photo", **options)


@pytest.mark.parametrize("role", ["id", "label"])
@pytest.mark.parametrize("side", ["pred", "gt"])
def test_the_error_for_a_missing_column_names_the_option_of_the_side(
    tmp_path, role, side
):
    names = {"id": "image", "label": "label", role: "other"}
    table = saved(tmp_path, "t.csv", f"{names['id']},{names['label']}\na,cat\n")
    usual = saved(tmp_path, "usual.csv", "image,label\na,cat\n")
    sides = (table, usual) if side == "pred" else (usual, table)
    option = f"{side}_{role}_column"

    with refused("missing-column", flag=option) as caught:
        semmetrics.score(*sides, measures="F1")

    score = semmetrics.score(*sides, measures="F1", **{option: "other"})
    assert score["F1"].value == 1.0
    assert f"set {option}=" in caught.value.remedy


@pytest.mark.parametrize("option", ["pred_delimiter", "gt_delimiter"])
def test_the_error_for_another_delimiter_names_the_option_of_the_side(tmp_path, option):
    commas = saved(tmp_path, "commas.csv", "id,label\na,cat\n")
    semicolons = saved(tmp_path, "semicolons.csv", "id;label\na;cat\n")
    sides = (semicolons, commas) if option == "pred_delimiter" else (commas, semicolons)

    with refused("other-delimiter", option=option):
        semmetrics.score(*sides, measures="F1", delimiter=",")

    table = semmetrics.score(*sides, measures="F1", **{option: ";"})
    assert table["F1"].value == 1.0


def test_rankings_of_other_programs_have_options_of_each_side(tmp_path):
    preds = saved(tmp_path, "p.csv", "user,movie,pred\n1,a,0.9\n1,b,0.8\n")
    gts = saved(tmp_path, "g.csv", "person,film,stars\n1,b,1\n")
    options = {
        "pred_id_column": "user",
        "pred_candidate_column": "movie",
        "pred_score_column": "pred",
        "gt_id_column": "person",
        "gt_candidate_column": "film",
        "gt_score_column": "stars",
    }

    table = semmetrics.score(preds, gts, task="retrieval", measures="MRR", **options)

    assert table["MRR"].value == 0.5


@pytest.mark.parametrize("name", ["pred_id_column", "gt_delimiter"])
def test_a_function_of_one_side_does_not_have_options_of_each_side(sides, name):
    with refused("not-applicable", name=name):
        semmetrics.validate(sides[0], **{name: "x"})


def test_options_of_each_side_cannot_be_given_twice(sides):
    with refused("conflicting-options"):
        semmetrics.score(*sides, read=ReadOptions(), gt_id_column="key")


# A column of scores is needed only for predictions

PREDS = "id,label,how\na,x,.9\na,y,.1\nb,y,.8\n"
WITH_SCORES = ReadOptions(score_column="how")
LINES = '{"id": "a", "labels": ["x"]}\n{"id": "b", "labels": ["y"]}\n'
TRUTHS = {
    "plain.csv": "id,label\na,x\nb,y\n",
    "scored.csv": "id,label,score\na,x,1\na,y,0\nb,y,1\n",
    "one_hot.csv": "id,x,y\na,1,0\nb,0,1\n",
    "records.json": json.dumps([json.loads(line) for line in LINES.splitlines()]),
    "columns.json": '{"id": ["a", "b"], "labels": [["x"], ["y"]]}',
    "lines.jsonl": LINES,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_the_ground_truth_does_not_need_the_score_column(tmp_path, name):
    preds = saved(tmp_path, "p.csv", PREDS)
    truth = saved(tmp_path, name, TRUTHS[name])
    measure = "F1(decode=threshold:0.5)"

    table = semmetrics.score(preds, truth, measures=measure, read=WITH_SCORES)

    assert table[measure].value == 1.0


def test_large_lines_of_a_ground_truth_do_not_need_the_score_column(tmp_path):
    source = load(saved(tmp_path, "gt.jsonl", LINES), 2**20)

    lists = read_large(source, "jsonl", FORM, truth_options(WITH_SCORES))

    assert lists.to_list() == [["x"], ["y"]]


def test_the_former_name_of_a_method_gives_a_warning():
    options = ReadOptions(delimiter=";", label_column="tags")

    with pytest.warns(DeprecationWarning, match="for_side_inputs"):
        side_input_options = options.beside()

    assert side_input_options == ReadOptions(delimiter=";")
