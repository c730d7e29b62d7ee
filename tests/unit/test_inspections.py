"""Inspectors vote on annotations, and the majority keeps them."""

import json

import pytest
from refusals import refused
from tables import write_table

from semmetrics import rank_competition, select_discrepant
from semmetrics.studies.inspections import inspect_sheets

ROW = {"image_id": "1", "annotator": "1", "caption": "a dog"}
OTHER_ROW = {"image_id": "1", "annotator": "2", "caption": "a cat"}


def test_annotations_are_kept_if_most_inspectors_vote_for_them():
    sheet = inspect_sheets([ROW, OTHER_ROW])
    assert sheet.column("inspector") == ["1", "2", "3"] * 2

    votes = sheet.with_columns(keep=["yes", "no", "yes", "no", "no", "yes"])

    assert list(inspect_sheets(list(votes))) == [ROW]


def test_ties_of_votes_keep_no_annotation():
    sheet = inspect_sheets([ROW], inspectors=2)
    votes = sheet.with_columns(keep=["yes", "no"])

    assert len(inspect_sheets(list(votes))) == 0


@pytest.mark.parametrize("text", ["=hello", "- a cat, sits", "+1 more dog", "'tis"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_captions_like_formulas_survive_an_inspection_in_files(tmp_path, text, form):
    rows = [{**ROW, "caption": text}]
    path = tmp_path / f"sheet.{form}"

    for inspectors in (1, 1):
        sheet = inspect_sheets(rows, inspectors=inspectors)
        votes = sheet.with_columns(keep=["yes"])
        path.write_text(votes.render(form), encoding="utf-8")
        kept = inspect_sheets(path)
        path.write_text(kept.render(form), encoding="utf-8")
        rows = path

    assert kept.column("caption") == [text]


def test_apostrophes_in_json_are_part_of_the_caption(tmp_path):
    path = tmp_path / "votes.json"
    row = {"image_id": "'-a b", "annotator": "1", "caption": "'=hello"}
    path.write_text(json.dumps([{**row, "keep": "yes"}]), encoding="utf-8")

    assert list(inspect_sheets(path)) == [row]


def test_labels_are_written_one_per_line():
    sheet = inspect_sheets(
        [{"image_id": "1", "annotator": "1", "label": ["dog", "cat"]}]
    )

    assert sheet[0]["label"] == "dog\ncat"


def test_sheets_without_rows_have_no_annotations(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("image_id,annotator,caption\n", encoding="utf-8")

    assert len(inspect_sheets(path)) == 0


VOTE = {**ROW, "inspector": "1", "keep": "yes"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([VOTE, ROW], "wrong-content"),
        ([VOTE, VOTE], "duplicate"),
        ([ROW, ROW], "duplicate"),
        ([{**VOTE, "keep": ""}], "wrong-content"),
        ([{"image_id": "1"}], "not-a-sheet"),
        ([ROW, {"image_id": "9", "annotator": "1", "label": "a"}], "not-a-sheet"),
    ],
)
def test_sheets_that_cannot_be_inspected_raise_an_error(rows, code):
    with refused(code):
        inspect_sheets(rows)


def test_sheets_of_votes_are_not_references(tmp_path):
    state = select_discrepant({"a": {"1": "a dog"}, "b": {"1": "a cat"}}, 1)
    path = write_table(tmp_path / "votes.csv", [VOTE])

    with refused("votes"):
        rank_competition(state, path, measures="BLEU-1")
