"""Sheets of references and of ratings, filled in and read back."""

import math

import pandas as pd
import pytest
from competitors import random_captions
from refusals import refused
from tables import write_table

from semmetrics import ReadOptions, add_systems, rank_competition, select_discrepant
from semmetrics.errors import Fact


@pytest.fixture(scope="module")
def state():
    return select_discrepant(random_captions(m=3), 6)


@pytest.fixture(scope="module")
def filled(state):
    """The rows of a sheet of references, with three captions per image."""
    rows = []
    for row in state.sheet():
        rows.append({**row, "caption": f"a dog {row['image_id']} {row['annotator']}"})
    return rows


@pytest.fixture(scope="module")
def rated(state):
    """The rows of a sheet of ratings, in which longer answers are better."""
    sheet = state.sheet(ratings=True, annotators=2)
    return [{**row, "rating": 1 + len(row["caption"])} for row in sheet]


def rank(state, references):
    return rank_competition(state, references, measures="ROUGE-L", floor=0.1)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl"])
def test_filled_sheets_are_read_from_files(state, filled, tmp_path, suffix):
    path = write_table(tmp_path / f"sheet{suffix}", filled)

    assert rank(state, path).to_dict() == rank(state, filled).to_dict()


def test_filled_sheets_are_references_of_images(state, filled):
    references = {}
    for row in filled:
        references.setdefault(row["image_id"], []).append(row["caption"])

    ranking = rank(state, filled)

    assert ranking.to_dict() == rank(state, references).to_dict()
    assert ranking.to_dict() == rank(state, pd.DataFrame(filled)).to_dict()


def test_images_need_only_one_of_their_annotators(state, filled):
    rows = []
    for row in filled:
        rows.append(row if row["annotator"] == "1" else {**row, "caption": " "})

    assert rank(state, rows).n == len(state.images)


def test_empty_rows_below_the_last_row_are_ignored(state, filled, rated, tmp_path):
    references = tmp_path / "sheet.csv"
    ratings = tmp_path / "ratings.csv"
    for path, rows in ((references, filled), (ratings, rated)):
        empty = dict.fromkeys(rows[0], "")
        write_table(path, [*rows, empty, empty])

    assert rank(state, references).to_dict() == rank(state, filled).to_dict()
    by_file = rank_competition(state, ratings=ratings)
    assert by_file.to_dict() == rank_competition(state, ratings=rated).to_dict()


def test_ratings_may_be_separated_by_semicolons(state, rated, tmp_path):
    path = tmp_path / "ratings.csv"
    pd.DataFrame(rated).to_csv(path, index=False, sep=";")

    ranking = rank_competition(state, ratings=path)

    assert ranking.to_dict() == rank_competition(state, ratings=rated).to_dict()


def test_rows_of_other_images_raise_an_error_or_are_ignored(state, filled):
    rows = [*filled, {"image_id": "zz", "annotator": "1", "caption": "a dog"}]

    with refused("foreign-rows", "the sheet"):
        rank(state, rows)
    ranking = rank_competition(state, rows, measures="ROUGE-L", missing="skip")

    (fact,) = [fact for fact in ranking.facts if fact.code == "foreign-rows-ignored"]
    assert fact.examples == ("zz",)


def test_references_of_other_images_are_counted(state):
    references = {image: ["a dog"] for image in [*state.images, "y", "z"]}

    assert Fact("references-not-used", 2) in rank(state, references).facts


def test_rows_with_a_caption_and_no_image_raise_an_error(state, filled):
    with refused("empty-id"):
        rank(state, [*filled, {**filled[0], "image_id": ""}])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rating": "good"}, "not-a-number"),
        ({"rating": math.inf}, "not-finite"),
        ({"rating": ""}, "not-annotated"),
        ({"rating": -1}, "no-dominance"),
        ({"caption": "another caption"}, "foreign-rows"),
        ({"image_id": None}, "wrong-id"),
        ({"caption": 3}, "wrong-type"),
    ],
)
def test_invalid_ratings_raise_an_error(change, code):
    state = select_discrepant({"a": {"1": "x"}, "b": {"1": "y"}}, 1)
    first, second = state.sheet(ratings=True, annotators=1)
    rows = [{**first, "rating": 2, **change}, {**second, "rating": 2}]

    with refused(code):
        rank_competition(state, ratings=rows)


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_sheets_of_references_are_no_ratings_and_vice_versa(
    state, filled, rated, tmp_path, suffix
):
    references = write_table(tmp_path / f"references{suffix}", filled)
    ratings = write_table(tmp_path / f"ratings{suffix}", rated)

    with refused("not-a-sheet", str(ratings)):
        rank(state, ratings)
    with refused("not-a-sheet", str(references)):
        rank_competition(state, ratings=references)


@pytest.mark.parametrize(
    ("cells", "options"),
    [
        (["cat", "puppy"], {}),  # one label per row
        (["cat\npuppy", ""], {}),
        (["cat; puppy ;", ""], {"read": ReadOptions(label_delimiter=";")}),
        ([["cat", "puppy"], None], {}),
    ],
)
def test_labels_of_an_image_may_be_in_one_cell(cells, options):
    answers = {"a": {"1": ["cat", "dog"]}, "b": {"1": ["cat"]}}
    state = select_discrepant(answers, 1, measure="SemF1")
    sheet = state.sheet(annotators=2).with_columns(label=cells)

    ranking = rank_competition(state, list(sheet), measures="F1", **options)

    expected = rank_competition(state, {"1": ["cat", "puppy"]}, measures="F1")
    assert ranking.to_dict() == expected.to_dict()


def test_answers_of_several_labels_are_joined_in_sheets_of_ratings():
    answers = {"a": {"1": ["cat", "dog"]}, "b": {"1": ["cat"]}}
    state = select_discrepant(answers, 1, measure="F1")

    sheet = state.sheet(ratings=True, annotators=1)

    assert sorted(sheet.column("label")) == ["cat", "cat; dog"]


@pytest.mark.parametrize("ratings", [False, True])
def test_sheets_since_an_earlier_state_have_only_the_new_rows(ratings):
    systems = random_captions(m=4)
    last = systems.pop("s3")
    before = select_discrepant(systems, 6)
    after = add_systems(before, {**systems, "s3": last})

    new = after.sheet(ratings=ratings, since=before)

    rows = [*before.sheet(ratings=ratings), *new]
    whole = after.sheet(ratings=ratings)
    assert sorted(map(str, rows)) == sorted(map(str, whole))
