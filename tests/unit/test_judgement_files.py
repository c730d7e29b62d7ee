"""Every form of human judgements is read, or raises an error that names the row."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from judged import (
    CATS,
    DOGS,
    GTS,
    JUDGED_CAPTIONS,
    PREDS,
    RATINGS,
    REFERENCES,
    agreements,
    images,
)
from oracles import agreement as oracle
from refusals import refused
from tables import write_table

import semmetrics


def meta(data, *sides, measures="ROUGE-L", **options):
    return semmetrics.meta(data, *sides, measures=measures, resamples=20, **options)


# ---- captions -----------------------------------------------------------------------------------


def test_captions_of_images_are_scored_with_their_references(tmp_path):
    path = tmp_path / "flickr8k.json"
    path.write_text(json.dumps(images()))

    table = meta(path, statistics="kendall-b")

    captions = {}
    for image, caption, _ in JUDGED_CAPTIONS:
        captions.setdefault(image, []).append(caption)
    scores = semmetrics.score(captions, REFERENCES, measures="ROUGE-L")[0].items
    ratings = [rating for _, _, rating in JUDGED_CAPTIONS]
    assert table[0].value == pytest.approx(oracle.tau_b(scores.tolist(), ratings))


def test_the_protocol_of_flickr8k_expert_leaves_out_captions_that_are_references():
    table = meta(images(), protocol="flickr8k-expert")

    assert [row.statistic for row in table] == ["kendall-c"]
    assert (table[0].n, table[0].candidates) == (5, 4)
    assert "16,992" in "".join(table.notes)


def test_the_protocol_of_flickr8k_cf_keeps_captions_but_not_as_their_own_reference():
    table = meta(images(), protocol="flickr8k-cf", measures="BLEU-1")

    plain = meta(images(), statistics="kendall-b", measures="BLEU-1")
    assert [row.statistic for row in table] == ["kendall-b"]
    assert table[0].n == 6
    assert table[0].value < plain[0].value


def composite(form, folder):
    """Return captions with their references in each row, in one of several forms."""
    rows = []
    for image, caption, rating in JUDGED_CAPTIONS:
        references = REFERENCES[image]
        if form == "csv of JSON":
            references = json.dumps(references)
        elif form == "csv of Python":
            references = repr(references)  # as pandas writes lists
        elif form == "rows with arrays":
            references = np.array(references)
        rows.append(
            {"imgid": image, "mt": caption, "refs": references, "score": rating}
        )
    if form == "frame":
        return pd.DataFrame(rows)
    if form.startswith("rows"):
        return rows
    extension = "json" if form == "json" else "csv"
    return write_table(folder / f"composite.{extension}", rows)


@pytest.mark.parametrize(
    "form",
    ["rows", "rows with arrays", "frame", "json", "csv of JSON", "csv of Python"],
)
def test_composite_has_its_references_in_each_row(tmp_path, form):
    table = meta(composite(form, tmp_path), protocol="composite")

    assert [row.statistic for row in table] == ["kendall-c", "kendall-b"]
    assert agreements(table) == agreements(meta(images(), protocol="composite"))


CAPTION = {"caption": "a dog", "references": ["a dog runs"], "rating": 3, "image": "i"}
OTHER = {**CAPTION, "caption": "a cat", "rating": 1}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"references": []}, "empty"),
        ({"references": "[]"}, "empty"),
        ({"references": b"ab"}, "wrong-type"),
        ({"image": None}, "wrong-id"),
        ({"image": ["i"]}, "wrong-id"),
        ({"image": ""}, "empty-id"),
    ],
)
def test_a_caption_without_references_or_image_raises_an_error(change, code):
    with refused(code, "ratings, element [1]"):
        meta([OTHER, {**CAPTION, **change}])


@pytest.mark.parametrize(
    ("judgement", "change", "code"),
    [
        (1, {"rating": None}, "not-a-number"),
        (0, {"caption": 7}, "wrong-type"),
    ],
)
def test_a_wrong_judgement_raises_an_error_that_names_it(judgement, change, code):
    data = images()
    data["dogs"]["human_judgement"][judgement].update(change)

    with refused(code, f"ratings, id 'dogs', judgement {judgement} (from 0)"):
        meta(data)


def test_a_judgement_without_a_rating_raises_an_error():
    data = images()
    del data["cats"]["human_judgement"][0]["rating"]

    with refused("wrong-type", "ratings, id 'cats', judgement 0 (from 0)"):
        meta(data)


@pytest.mark.parametrize(("references", "code"), [(None, "not-judged"), ([], "empty")])
def test_an_image_without_references_raises_an_error(references, code):
    data = images()
    data["dogs"]["ground_truth"] = references

    with refused(code):
        meta(data)


# ---- ids ----------------------------------------------------------------------------------------


CAPTIONS = {
    "1": "the dog is fast",
    "2": "a cat",
    "3": "a dog runs fast",
    "4": "two cars",
}
RATED_PAIRS = [
    {"candidate": "1", "reference": "dogs", "rating": 4},
    {"candidate": "2", "reference": "dogs", "rating": 1},
    {"candidate": "3", "reference": "dogs", "rating": 5},
    {"candidate": "4", "reference": "cats", "rating": 2},
]


def test_an_image_counts_once_in_document_frequencies():
    table = meta(
        RATED_PAIRS, CAPTIONS, REFERENCES, measures="CIDEr-D", statistics="pearson"
    )

    candidates = {"dogs": list(CAPTIONS.values())[:3], "cats": [CAPTIONS["4"]]}
    scores = semmetrics.score(candidates, REFERENCES, measures="CIDEr-D")[0].items
    assert table[0].value == pytest.approx(oracle.pearson(scores, [4, 1, 5, 2]))


SITS = [
    {"caption": "sentid:11", "image": "COCO_val2014_00007.jpg", "agg_score": 4.5},
    {"caption": "sentid:12", "image": "COCO_val2014_00007.jpg", "agg_score": 2},
    {"caption": "sentid:13", "image": "COCO_val2014_00008.jpg", "agg_score": 3},
    {"caption": "sentid:14", "image": "COCO_val2014_00008.jpg", "agg_score": 1},
]
SITS = [{**row, "sampling_method": "xxyy"[k]} for k, row in enumerate(SITS)]
SITS_CAPTIONS = {"11": DOGS[0], "12": "a cat", "13": "cats sleep here", "14": "cars"}
SITS_REFERENCES = {"7": DOGS, "8": CATS}


def test_the_protocol_of_cxc_leaves_a_caption_out_of_its_references():
    table = meta(SITS, SITS_CAPTIONS, SITS_REFERENCES, protocol="cxc-sits")

    references = [DOGS[1:], DOGS, CATS, CATS]
    scores = semmetrics.score(
        list(SITS_CAPTIONS.values()), references, measures="ROUGE-L"
    )
    expected = oracle.pearson(scores[0].items, [4.5, 2, 3, 1])
    assert table["ROUGE-L", "pearson"].value == pytest.approx(expected)
    assert table.groups == ["all", "x", "y"]


@pytest.mark.parametrize(
    ("captions", "references", "code"),
    [
        (SITS_CAPTIONS, {"7": DOGS[:1], "8": CATS}, "only-own-reference"),
        (dict.fromkeys(SITS_CAPTIONS, DOGS), SITS_REFERENCES, "wrong-count"),
    ],
)
def test_the_protocol_of_cxc_needs_another_reference_and_one_caption(
    captions, references, code
):
    with refused(code):
        meta(SITS, captions, references, protocol="cxc-sits", task="captions")


# ---- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.csv", "r.json", "r.jsonl"])
def test_every_form_of_a_table_gives_the_same(tmp_path, name):
    path = write_table(tmp_path / name, RATINGS)

    table = meta(path, PREDS, GTS, measures="F1")

    assert table.to_dicts() == meta(RATINGS, PREDS, GTS, measures="F1").to_dicts()


def test_columns_may_have_other_names_and_ids_extensions():
    rows = []
    for row in RATINGS:
        rows.append({"item no": row["id"] + ".jpg", "stars": row["rating"]})
    names = {"rating": "stars", "id": "item no"}

    table = meta(rows, PREDS, GTS, measures="F1", columns=names, ids=r"(\w)[.]jpg")

    assert agreements(table) == agreements(meta(RATINGS, PREDS, GTS, measures="F1"))


A = {"id": "a", "rating": 1}
PAIR = {"a": "a", "b": "b", "preferred": "a"}


@pytest.mark.parametrize(
    ("rows", "code", "place"),
    [
        ([], "nothing-given", "ratings"),
        ([{"id": "a", "rating": math.nan}], "not-finite", "element [0]"),
        ([{"id": "a", "rating": "good"}], "not-a-number", "element [0]"),
        ([{"id": "zz", "rating": 1}], "unmatched-ids", "ratings"),
        ([{"rating": 1}], "missing-column", "element [0]"),
        ([{"id": "a"}], "no-ratings", "element [0]"),
        (RATINGS[:1] * 2, "rated-twice", "element [1]"),
        ([["a", 1]], "needs-keys", "element [0]"),
        ([A, PAIR], "mixed-rows", "element [1]"),
        ([{**PAIR, "preferred": "c"}], "wrong-content", "element [0]"),
        ([{**PAIR, "a": "b", "b": "a"}], "ambiguous-side", "element [0]"),
        ([{"a": "e", "b": "e", "preferred": "e"}], "wrong-content", "element [0]"),
        ("", "empty", ""),
        (7, "wrong-type", "ratings"),
    ],
)
def test_a_wrong_row_raises_an_error_that_names_it(rows, code, place):
    with refused(code, place=place):
        meta(rows, PREDS, GTS, measures="F1")


@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        (RATINGS, {"columns": {"stars": "rating"}}, "unknown-name"),
        (RATINGS, {"group_by": "place"}, "missing-column"),
        ([{**A, "of": "all"}], {"group_by": "of"}, "reserved-group"),
        ([{**A, "of": None}], {"group_by": "of"}, "empty"),
        (RATINGS, {"group_by": "rater", "aggregate": "mean"}, "two-groups"),
        (RATINGS, {"test": "williams", "statistics": "spearman"}, "bad-option"),
        (RATINGS[1:3], {"test": "williams"}, "too-few-for-test"),
        (RATINGS, {"statistics": "kendall"}, "bad-choice"),
        (RATINGS, {"baseline": "F2"}, "unknown-name"),
        (RATINGS, {"measures": "MacroF1"}, "no-item-values"),
        (RATINGS, {"protocol": "pascal-50s"}, "bad-option"),
        ([PAIR], {"statistics": "kendall-b"}, "bad-option"),
        (RATINGS, {"ci": True}, "not-applicable"),
    ],
)
def test_an_option_that_does_not_fit_the_ratings_raises_an_error(rows, options, code):
    with refused(code):
        meta(rows, PREDS, GTS, **{"measures": "F1 Recall", **options})


@pytest.mark.parametrize(
    "options", [{"columns": {"rating": "x"}}, {"group_by": "x"}, {"ids": "x"}]
)
def test_options_of_tables_raise_an_error_for_images(options):
    with refused("not-applicable"):
        meta(images(), **options)


def test_ratings_of_ids_without_sides_raise_an_error():
    with refused("nothing-given", "ratings"):
        meta(RATINGS, measures="F1")


def test_captions_with_their_references_and_sides_raise_an_error():
    with refused("not-applicable", "ratings"):
        meta(images(), PREDS, GTS)


def test_an_image_without_a_caption_to_judge_raises_an_error():
    judged = {"caption": "a dog", "rating": 1}
    image = {"ground_truth": ["a dog"], "human_judgement": [judged]}

    with refused("nothing-given", "ratings"):
        meta({"x": image}, protocol="flickr8k-expert")
