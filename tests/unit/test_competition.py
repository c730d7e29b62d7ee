"""Sheets that are filled and read back, the page to annotate in, and the ranking."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from oracles import competition as oracle
from refusals import refused
from tables import write_table
from unit.test_discrepancy import made

import semmetrics
from semmetrics import ReadOptions, add_systems, rank_competition, select_discrepant
from semmetrics.errors import Fact, InputError
from semmetrics.reports import Records
from semmetrics.studies.annotation_page import write_annotation_page
from semmetrics.studies.inspections import inspect_sheets


@pytest.fixture(scope="module")
def state():
    return select_discrepant(made(m=4), 6)


@pytest.fixture(scope="module")
def truth():
    others = made(m=3, seed=9)
    return {image: [one[image] for one in others.values()] for image in others["s0"]}


def filled(sheet, truth):
    """The rows of a sheet of references, each annotator's own filled in."""
    return [
        {**r, "caption": truth[r["image_id"]][int(r["annotator"]) - 1]} for r in sheet
    ]


def rated(state, annotators=1):
    """Ratings that depend on the answer and the annotator alone."""
    rows = state.sheet(ratings=True, annotators=annotators)
    return [
        {**r, "rating": 1 + len(r["caption"]) % 5 + int(r["annotator"]) / 10}
        for r in rows
    ]


def scores_by_hand(state, truth, measure, k=None):
    """The matrix P, each entry one call of ``score``."""
    size = len(state.systems)
    found = np.full((size, size), math.nan)
    for pair in state.pairs:
        images = pair.images[:k]
        refs = {image: truth[image] for image in images}
        i, j = (state.systems.index(name) for name in (pair.first, pair.second))
        for mine, other, name in ((i, j, pair.first), (j, i, pair.second)):
            preds = {image: state.answers[image][name][0] for image in images}
            found[mine, other] = semmetrics.score(preds, refs, measures=measure)[
                0
            ].value
    return found


# ---- the ranking ------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ROUGE-L", "BLEU-1", "NGSM(order=1)"])
def test_scores_of_pairs_dominance_and_rank(state, truth, measure):
    found = rank_competition(state, truth, measures=measure, stability=[2, 4])
    (one,) = found.rankings
    expected = scores_by_hand(state, truth, measure)
    assert_allclose(one.pairs.scores, expected, rtol=1e-12)
    dominance = oracle.dominance(expected.tolist())
    assert_allclose(one.dominance, dominance, rtol=1e-12)
    assert_allclose(one.rank.scores, oracle.power_mean(dominance, 3000), atol=1e-3)
    for k, value in one.stability.items():
        fewer = oracle.dominance(scores_by_hand(state, truth, measure, k).tolist())
        ranks = oracle.power_mean(fewer, 200)
        whole = oracle.power_mean(dominance, 200)
        assert value == pytest.approx(oracle.spearman(ranks, whole))
    assert found.n == len(state.images)


def test_several_measures_and_their_forms(state, truth):
    found = rank_competition(
        state, truth, measures=["ROUGE-L", "BLEU-1"], stability=[3]
    )
    assert [one.measure for one in found.rankings] == ["ROUGE-L", "BLEU-1"]
    rows = found.to_records()
    assert [row["rank"] for row in rows][:4] == sorted(row["rank"] for row in rows[:4])
    assert len(found.pair_records()) == 2 * 12
    first = found.pair_records()[0]
    assert first["dominance"] == pytest.approx(
        first["first_score"] / first["second_score"]
    )
    assert len(found.stability_records()) == 2
    _, dominance, *others = found._tables(3, 1.0)
    assert [dominance[0], others[0][0][0]] == [
        ["dominance, ROUGE-L", *state.systems],
        "dominance, BLEU-1",
    ]
    values = [[float(cell) for cell in row[1:]] for row in dominance[1:]]
    assert_allclose(values, found.rankings[0].dominance, atol=5e-4)
    entry = json.loads(found.render("json"))
    assert entry["rankings"][0]["scores"][0][0] is None
    assert entry["rankings"][0]["dominance"][0][0] == 1
    assert entry["rankings"][0]["convergence"]["irreducible"] is True
    assert sum(entry["rankings"][1]["global_scores"].values()) == pytest.approx(1)


def test_identical_systems_share_a_rank():
    systems = made(m=2)
    systems["s2"] = systems["s0"]
    state = select_discrepant(systems, 40)
    truth = {image: [systems["s1"][image]] for image in systems["s1"]}
    found = rank_competition(state, truth, measures="ROUGE-L")
    ranks = {row["system"]: row["rank"] for row in found.to_records()}
    assert ranks == {"s1": 1, "s0": 2, "s2": 2}
    assert Fact("shared-ranks", 1, where="ROUGE-L") in found.facts
    assert Fact("same-answers", 40, where="s0 and s2") in state.facts


# ---- sheets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".json", ".jsonl"])
def test_a_filled_sheet_is_read_back(state, truth, tmp_path, suffix):
    rows = filled(state.sheet(), truth)
    path = write_table(tmp_path / f"sheet{suffix}", rows)
    expected = rank_competition(state, truth, measures="ROUGE-L")
    # a filled sheet is a file of captions like any other
    plain = {image: truth[image] for image in state.images}
    for given in (path, rows, pd.DataFrame(rows), plain):
        found = rank_competition(state, given, measures="ROUGE-L")
        assert found.to_dict() == expected.to_dict()


def test_rows_that_are_not_filled(state, truth):
    rows = filled(state.sheet(), truth)
    one = state.pairs[0].images[0]
    some = [{**r, "caption": " "} if r["image_id"] == one else r for r in rows]
    with refused("not-annotated"):
        rank_competition(state, some, measures="ROUGE-L")
    found = rank_competition(state, some, measures="ROUGE-L", missing="skip")
    assert Fact("images-not-annotated", 1) in found.facts
    assert found.images["s0", "s1"] == 5
    assert found.n == len(state.images) - 1
    with refused("nothing-given", "s0 and s1"):
        rank_competition(state, [{**r, "caption": ""} for r in rows], missing="skip")
    # two of three annotators left: an image is annotated all the same
    two = [{**r, "caption": ""} if r["annotator"] == "3" else r for r in rows]
    assert rank_competition(state, two, measures="ROUGE-L").n == len(state.images)


@pytest.mark.parametrize("ratings", [False, True])
def test_rows_below_the_last_may_be_blank(state, truth, tmp_path, ratings):
    rows = rated(state) if ratings else filled(state.sheet(), truth)
    blank = dict.fromkeys(rows[0], "")
    path = tmp_path / "sheet.csv"
    path.write_text(
        semmetrics.Records.from_rows([*blank], [*rows, blank, blank]).to_csv(),
        encoding="utf-8",
    )
    how = {"ratings": path} if ratings else {"references": path, "measures": "ROUGE-L"}
    plain = (
        {"ratings": rows} if ratings else {"references": rows, "measures": "ROUGE-L"}
    )
    expected = rank_competition(state, **plain)
    assert rank_competition(state, **how).to_dict() == expected.to_dict()
    half = [*rows, {**blank, "caption": "a dog"}]
    with refused("empty-id"):
        rank_competition(
            state, **{name: half if v is rows else v for name, v in plain.items()}
        )


def test_sheets_of_other_images(state, truth):
    rows = filled(state.sheet(), truth)
    other = [*rows, {"image_id": "zz", "annotator": "1", "caption": "a dog"}]
    with refused("foreign-rows", "the sheet"):
        rank_competition(state, other, measures="ROUGE-L")
    found = rank_competition(state, other, measures="ROUGE-L", missing="skip")
    assert [n.examples for n in found.facts if n.code == "foreign-rows-ignored"] == [
        ("zz",)
    ]
    more = {**truth, "zz": ["a dog"]}
    notes = rank_competition(state, more, measures="ROUGE-L").facts
    assert Fact("references-not-used", len(more) - found.n) in notes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rating": "good"}, ""),
        ({"rating": math.inf}, ""),
        ({"rating": ""}, "not-annotated"),
        ({"rating": -1}, "no-dominance"),
        ({"caption": "another caption"}, "foreign-rows"),
        ({"image_id": "zz"}, "foreign-rows"),
        ({"image_id": ""}, ""),
        ({"image_id": None}, ""),
        ({"caption": 3}, "wrong-type"),
    ],
)
def test_ratings_that_are_wrong(change, words):
    state = select_discrepant({"a": {"1": "x"}, "b": {"1": "y"}}, 1)
    rows = [{**row, "rating": 2} for row in state.sheet(ratings=True, annotators=1)]
    rows[0] = {**rows[0], **change}
    with refused(words) if words else pytest.raises(InputError):
        rank_competition(state, ratings=rows)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs-option"),
        ({"references": {}, "ratings": []}, "conflicting-options"),
        ({"ratings": []}, "not-a-sheet"),
        ({"ratings": {"1": 2}}, "not-a-sheet"),
        ({"ratings": 3}, "not-a-sheet"),
        ({"references": {"x": ["y"]}, "missing": "empty"}, "bad-choice"),
        ({"references": {"x": ["y"]}, "k": 7}, "bad-option"),
        ({"references": {"x": ["y"]}, "stability": [7]}, "bad-option"),
        ({"references": {"x": ["y"]}, "stability": [0]}, "bad-option"),
        ({"references": {"x": ["y"]}, "ci": True}, "not-applicable"),
    ],
)
def test_rankings_that_are_refused(state, options, words):
    with refused(words) if words else pytest.raises(InputError):
        rank_competition(state, **options)


TWO = {"a": {"1": ["cat", "dog"], "2": ["bus"]}, "b": {"1": ["cat"], "2": ["tram"]}}


@pytest.mark.parametrize(
    ("cell", "options"),
    [
        (None, {}),  # a label a row
        ("cat\npuppy", {}),
        ("cat; puppy ;", {"read": ReadOptions(label_delimiter=";")}),
        (["cat", "puppy"], {}),
    ],
)
def test_sheets_of_labels(cell, options):
    state = select_discrepant(TWO, 2, measure="SemF1")
    sheet = state.sheet(annotators=2)
    assert sheet.columns == ("image_id", "annotator", "label")
    labels = {"1": ["cat", "puppy"] if cell is None else [cell, cell], "2": ["bus", ""]}
    rows = [
        {**r, "label": labels[r["image_id"]][int(r["annotator"]) - 1]} for r in sheet
    ]
    found = rank_competition(state, rows, measures="F1", floor=0.1, **options)
    expected = rank_competition(
        state, {"1": ["cat", "puppy"], "2": ["bus"]}, measures="F1", floor=0.1
    )
    assert found.to_dict() == expected.to_dict()
    answers = {row["label"] for row in state.sheet(ratings=True, annotators=1)}
    assert answers == {"cat; dog", "cat", "bus", "tram"}


def test_sheets_after_a_system_was_added():
    systems = made(m=4)
    before = select_discrepant({n: systems[n] for n in ("s0", "s1", "s2")}, 6)
    after = add_systems(before, systems)
    for ratings in (False, True):
        whole = list(after.sheet(ratings=ratings))
        old, new = (
            before.sheet(ratings=ratings),
            after.sheet(ratings=ratings, since=before),
        )
        assert sorted(map(str, whole)) == sorted(map(str, [*old, *new]))


# ---- the page ---------------------------------------------------------------------------------


EVIL = '<script>alert("x")</script>&\'"'


def test_the_page_escapes_what_it_shows():
    systems = {"a": {EVIL: EVIL, "2": "x"}, "b": {EVIL: "b </textarea>", "2": "x"}}
    state = select_discrepant(systems, 1)
    for ratings in (False, True):
        text = write_annotation_page(
            state.sheet(ratings=ratings),
            images='im"ages/{id}.jpg',
            title=EVIL,
            name=EVIL,
        )
        assert "<script>alert" not in text
        assert "</textarea> " not in text.replace("</textarea></p>", "")
        assert 'src="im&quot;ages/%3Cscript%3E' in text
        assert (
            len(re.findall("<script", text)) == len(re.findall("</script>", text)) == 2
        )
        (kept,) = re.findall(
            '<script type="application/json" id="sheet">(.*?)</script>', text
        )
        assert json.loads(kept)["rows"][0][0] == EVIL
        assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", text)


def test_sheets_of_the_other_sort(state, tmp_path):
    path, ratings = tmp_path / "sheet.csv", state.sheet(ratings=True)
    filled_in = ratings.with_columns(rating=[3] * len(ratings))
    path.write_text(filled_in.to_csv(), encoding="utf-8")
    for given in (list(filled_in), path):
        with refused("not-a-sheet"):
            rank_competition(state, given, measures="ROUGE-L")
    path.write_text(state.sheet().to_csv(), encoding="utf-8")
    with refused("not-a-sheet"):
        rank_competition(state, ratings=path)


@pytest.mark.parametrize(
    "columns", [[], ["image_id"], ["image_id", "rating"], ["x", "y", "z"]]
)
def test_pages_that_are_refused(state, columns):
    with refused("bad-option"):
        write_annotation_page(semmetrics.Records({name: ["1"] for name in columns}))
    with refused("bad-option"):
        write_annotation_page(state.sheet(), images="a.jpg")


def test_the_page_says_how_labels_are_written(state):
    systems = {"a": {"1": ["cat", "dog"]}, "b": {"1": ["cat"]}}
    labels = select_discrepant(systems, 1, measure="F1")
    assert 'placeholder="one label per line"' in write_annotation_page(labels.sheet())
    assert "placeholder" not in write_annotation_page(labels.sheet(ratings=True))
    assert "placeholder" not in write_annotation_page(state.sheet())


def test_annotations_are_dropped_by_majority(state, truth, tmp_path):
    path, votes, kept = (
        tmp_path / name for name in ("sheet.csv", "votes.csv", "kept.csv")
    )
    rows = filled(state.sheet(annotators=2), truth)
    path.write_text(Records.from_rows([*rows[0]], rows).to_csv(), encoding="utf-8")
    asked = inspect_sheets(path)
    assert (len(asked), {row["inspector"] for row in asked}) == (
        3 * len(rows),
        {"1", "2", "3"},
    )
    said = [
        {
            **row,
            "keep": "no"
            if row["annotator"] == "2" and row["inspector"] != "3"
            else "yes",
        }
        for row in asked
    ]
    votes.write_text(Records.from_rows([*said[0]], said).to_csv(), encoding="utf-8")
    found = inspect_sheets(votes)
    assert list(found) == [
        {n: row[n] for n in found.columns} for row in rows if row["annotator"] == "1"
    ]
    kept.write_text(found.to_csv(), encoding="utf-8")
    alone = {image: refs[:1] for image, refs in truth.items()}
    ranked = [
        rank_competition(state, refs, measures="BLEU-1").rankings
        for refs in (kept, alone)
    ]
    assert ranked[0] == ranked[1]
    tied = [
        {**row, "inspector": one, "keep": one} for row in rows for one in ("yes", "no")
    ]
    assert len(inspect_sheets(tied)) == 0
    with refused("votes"):
        rank_competition(state, votes, measures="BLEU-1")
    for given, code in (
        ([*said, {**rows[0], "caption": "new"}], "wrong-content"),
        ([*said, said[0]], "duplicate"),
        ([{**said[0], "keep": ""}], "row 0"),
        ([{"image_id": "1"}], "not-a-sheet"),
    ):
        with refused(code):
            inspect_sheets(given)


def test_texts_like_formulas_come_through_an_inspection(state, tmp_path):
    path, votes, kept = (
        tmp_path / name for name in ("sheet.csv", "votes.csv", "kept.csv")
    )
    texts = ["=hello", "- a cat, sits", "+1 more dog", "'tis"]
    rows = [
        {"image_id": str(n), "annotator": "1", "caption": text}
        for n, text in enumerate(texts)
    ]
    for ending in (".csv", ".json"):
        path.write_text(Records.from_rows([*rows[0]], rows).to_csv(), encoding="utf-8")
        votes.write_text(
            inspect_sheets(path).to_csv().replace(",\n", ",yes\n"), encoding="utf-8"
        )
        found = inspect_sheets(votes)
        assert found.column("caption") == texts
        kept = kept.with_suffix(ending)
        kept.write_text(getattr(found, f"to_{ending[1:]}")(), encoding="utf-8")
        assert inspect_sheets(kept, inspectors=1).column("caption") == texts
    genuine = [
        {"image_id": "'-a b", "annotator": "1", "caption": "'=hello", "keep": "yes"}
    ]
    # JSON has no apostrophes but its own
    kept.write_text(json.dumps(genuine), encoding="utf-8")
    assert inspect_sheets(kept)[0] == {
        n: genuine[0][n] for n in ("image_id", "annotator", "caption")
    }
    labels = [{"image_id": "1", "annotator": "1", "label": ["dog", "cat"]}]
    votes.write_text(
        inspect_sheets(labels).to_csv().replace(",\n", ",yes\n"), encoding="utf-8"
    )
    assert inspect_sheets(votes)[0]["label"] == "dog\ncat"
    path.write_text("image_id,annotator,caption\n", encoding="utf-8")
    assert len(inspect_sheets(path)) == 0
    with refused("not-a-sheet"):
        inspect_sheets([*rows, {"image_id": "9", "annotator": "1", "label": "a"}])
    with refused("duplicate"):
        inspect_sheets([rows[0], rows[0]])


def test_a_sheet_of_ratings_may_have_semicolons(state, tmp_path):
    rows = rated(state)
    commas, semicolons = tmp_path / "a.csv", tmp_path / "b.csv"
    pd.DataFrame(rows).to_csv(commas, index=False)
    pd.DataFrame(rows).to_csv(semicolons, index=False, sep=";")
    found = [rank_competition(state, ratings=path) for path in (commas, semicolons)]
    assert found[0].to_dict() == found[1].to_dict()
