"""Caption datasets: MSR-VTT, TextCaps, LAVIS, VATEX, nocaps, Clotho and ActivityNet."""

import json
import textwrap
from pathlib import Path

import pandas as pd
import pytest
from public_formats import items_by_id, measure_values
from reading import saved
from refusals import refused

from semmetrics import ReadOptions, as_captions
from semmetrics.data.formats.captions import path_aliases
from semmetrics.kinds.retrieval import as_candidates

MSRVTT = {
    "videos": [
        {"video_id": "video0", "split": "train"},
        {"video_id": "video1", "split": "test"},
    ],
    "sentences": [
        {"caption": "a man drives", "video_id": "video0", "sen_id": 3},
        {"caption": "a car", "video_id": "video0", "sen_id": 4},
        {"caption": "a cat sleeps", "video_id": "video1", "sen_id": 5},
    ],
}


def test_msrvtt_has_captions_of_videos():
    assert items_by_id(as_captions(MSRVTT)) == {
        "video0": ["a man drives", "a car"],
        "video1": ["a cat sleeps"],
    }


def test_msrvtt_sentences_are_candidates_of_retrieval():
    assert items_by_id(as_candidates(MSRVTT)) == {"video0": ["3", "4"], "video1": ["5"]}


def test_an_option_chooses_a_split_of_msrvtt():
    captions = as_captions(MSRVTT, options=ReadOptions(split="test"))

    assert items_by_id(captions) == {"video1": ["a cat sleeps"]}


def test_an_unknown_split_of_msrvtt_is_an_error():
    with refused("unknown-name"):
        as_captions(MSRVTT, options=ReadOptions(split="val"))


def test_textcaps_repeats_the_references_of_an_image():
    references = ["a sign that says stop", "a red sign"]
    image = {"image_id": "x1", "reference_strs": references}
    records = [
        {**image, "caption_id": 0, "caption_str": references[0]},
        {**image, "caption_id": 1, "caption_str": references[1]},
    ]

    captions = as_captions({"dataset_name": "textcaps", "data": records})

    assert items_by_id(captions) == {"x1": references}


def test_textcaps_may_have_only_captions():
    record = {"image_id": "x1", "caption_id": 5, "caption_str": "a sign"}

    assert items_by_id(as_captions({"data": [record]})) == {"x1": ["a sign"]}


def test_predictions_may_use_the_number_in_a_path_of_lavis():
    path = "val2014/COCO_val2014_000000184613.jpg"
    document = [{"image": path, "caption": ["a cow", "a cow in a field"]}]
    preds = [{"image_id": 184613, "caption": "a cow in a field"}]

    values = measure_values(preds, document, measures="BLEU-1")

    assert items_by_id(as_captions(document)) == {path: ["a cow", "a cow in a field"]}
    assert values["BLEU-1"] == pytest.approx(1.0)


def test_numbers_and_file_names_of_several_paths_are_not_other_names():
    paths = ["val/a_7.jpg", "val/a_7.jpg", "test/b_7.jpg", "test/a_8.jpg", "8"]

    aliases = path_aliases(paths)

    assert aliases == {
        "a_7.jpg": "val/a_7.jpg",
        "a_7": "val/a_7.jpg",
        "b_7.jpg": "test/b_7.jpg",
        "b_7": "test/b_7.jpg",
        "a_8.jpg": "test/a_8.jpg",
        "a_8": "test/a_8.jpg",
    }


def test_vatex_has_english_captions():
    records = [{"videoID": "v1", "enCap": ["a cat", "the cat"], "chCap": ["x"]}]

    assert items_by_id(as_captions(records)) == {"v1": ["a cat", "the cat"]}


CLOTHO = """file_name,caption_1,caption_2,caption_3
rain.wav,"Rain falls, hard",It rains,Rain
wind.wav,Wind blows,A storm,
"""


def test_clotho_has_a_column_for_each_caption(tmp_path):
    path = saved(tmp_path, "clotho.csv", CLOTHO)
    predicted = "file_name,caption_predicted\nrain.wav,Rain\nwind.wav,A storm\n"
    pred_path = saved(tmp_path, "predicted.csv", predicted)

    captions = items_by_id(as_captions(path))
    values = measure_values(pred_path, path, measures="BLEU-1")

    assert captions["rain.wav"] == ["Rain falls, hard", "It rains", "Rain"]
    assert captions["wind.wav"] == ["Wind blows", "A storm"]
    assert values["BLEU-1"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "columns",
    [("ref1", "ref2"), ("reference_01", "reference_02"), ("caption 1", "caption 2")],
)
def test_columns_with_the_same_name_and_a_number_are_captions(columns):
    frame = pd.DataFrame(
        [["a", "x y", "z", "s"]], columns=["image_id", *columns, "source"]
    )

    lists = as_captions(frame)

    (note,) = lists.notes
    assert items_by_id(lists) == {"a": ["x y", "z"]}
    assert note.examples == ("source",)


def test_numbered_references_are_read_for_ground_truth_and_caption_for_predictions():
    frame = pd.DataFrame(
        [["a", "x", "x y", "x z"]], columns=["id", "caption", "ref1", "ref2"]
    )

    values = measure_values(frame, frame, measures="ROUGE-L")

    assert items_by_id(as_captions(frame)) == {"a": ["x"]}
    assert 0 < values["ROUGE-L"] < 1


def test_one_numbered_column_is_not_a_list_of_references():
    frame = pd.DataFrame([["a", "x y z", "q"]], columns=["id", "caption", "ref1"])

    values = measure_values(frame, frame, measures="ROUGE-L")

    assert values["ROUGE-L"] == pytest.approx(1)


EVENTS = {"timestamps": [[0, 4], [4, 9]], "sentences": ["A man.", "He ran."]}
RESULTS = [{"sentence": "a man", "timestamp": [0, 4]}]


@pytest.mark.parametrize("document", [{"v_1": EVENTS}, {"results": {"v_1": RESULTS}}])
def test_the_error_for_activitynet_has_code_that_converts_it(
    tmp_path, monkeypatch, document
):
    path = saved(tmp_path, "val_1.json", document)

    with refused("format-recipe") as caught:
        as_captions(path)

    _, _, code = str(caught.value).partition("\n")
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(code), {"json": json, "path": path, "Path": Path})
    captions = items_by_id(as_captions("captions.json"))
    assert len(captions["v_1"]) == 1
