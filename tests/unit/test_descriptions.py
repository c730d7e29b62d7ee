"""Descriptions of inputs are only shown: other words change nothing else."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from batches import save_and_load
from reading import saved
from refusals import codes

from semmetrics import ReadOptions, Scorer, as_candidates, as_captions, as_labels, score
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.state_inputs import read_input, write_input
from semmetrics.scoring.state_records import Record
from semmetrics.scoring.state_values import ValueWriter

COCO = {
    "images": [{"id": 7}],
    "annotations": [{"id": 1, "image_id": 7, "category_id": 3}],
    "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": "dog"}],
}
LVIS = {
    **COCO,
    "images": [{"id": 7, "neg_category_ids": [4], "not_exhaustive_category_ids": []}],
}
KARPATHY = {
    "images": [
        {"imgid": 0, "split": "test", "sentences": [{"sentid": 1, "raw": "a cat"}]}
    ]
}
MSRVTT = {
    "videos": [{"video_id": "v0", "split": "test"}],
    "sentences": [{"sen_id": 1, "video_id": "v0", "caption": "a cat"}],
}
CAPTIONS = {"annotations": [{"image_id": 7, "id": 40, "caption": "a cat"}]}


# ---- formats ------------------------------------------------------------------------------------


def test_coco_instances_as_predictions_are_noted_in_other_words():
    pred = as_labels(COCO)
    renamed = replace(pred, understood="annotations")
    looks_alike = replace(as_labels({"7": ["cat"]}), understood="COCO instances")
    truth = {"7": ["cat"]}

    assert codes(score(renamed, truth)) == codes(score(pred, truth))
    assert "swapped-sides" in codes(score(renamed, truth))
    assert "swapped-sides" not in codes(score(looks_alike, truth))
    assert not as_labels(LVIS).is_coco_instances


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_and_states_remember_coco_instances(keep_rows):
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update(replace(as_labels(COCO), understood="annotations"), {"7": ["cat"]})

    assert "swapped-sides" in codes(scorer.compute())

    scorer = Scorer(measures="F1", keep_rows=False)
    scorer.update(as_labels(COCO), {"7": ["cat"]})
    loaded = save_and_load(scorer)

    assert codes(loaded.compute()) == codes(scorer.compute())


def test_a_state_recognises_coco_instances_by_their_description():
    buffer = InputBuffer.of(as_labels(COCO))
    buffer.drop_items()

    record = Record(write_input(buffer, ValueWriter()), "input", {})

    assert read_input(record).has_coco_instances


@pytest.mark.parametrize(
    ("document", "has_splits"), [(KARPATHY, True), (MSRVTT, True), (CAPTIONS, False)]
)
def test_a_split_has_an_effect_on_formats_with_splits(tmp_path, document, has_splits):
    path = saved(tmp_path, "captions.json", document)

    captions = as_captions(path, options=ReadOptions(split="test"))

    assert captions.has_splits is has_splits
    assert bool(captions.notes) is not has_splits


def test_a_token_file_is_described_by_its_own_title(tmp_path):
    path = saved(tmp_path, "a.token", "1.jpg#0\ta cat\n1.jpg#1\ttwo cats\n")

    captions = as_captions(path)
    candidates = as_candidates(path)

    assert captions.understood == "Flickr's token file, 2 captions"
    assert candidates.understood == "Flickr's token file, ids of 2 captions"


@pytest.mark.parametrize(
    ("document", "is_single"),
    [({"a": "a cat"}, True), ({"a": ["a cat"]}, False), (["a cat"], False)],
)
def test_a_mapping_to_single_captions_is_recognised(tmp_path, document, is_single):
    captions = as_captions(saved(tmp_path, "captions.json", document))

    assert captions.has_single_entries is is_single


# ---- matrices -----------------------------------------------------------------------------------


def test_a_matrix_of_candidates_is_described_once(tmp_path):
    np.save(tmp_path / "sims.npy", np.eye(2))
    size = "2 queries x 2 candidates, float64"

    described = {
        f"matrix, {size}": np.eye(2),
        f"rows of numbers, matrix, {size}": [[0.5, 1.0], [0.0, 1.0]],
        f"NumPy matrix, {size}": tmp_path / "sims.npy",
    }

    for understood, data in described.items():
        matrix = as_candidates(data)
        assert matrix.understood == understood
        assert as_candidates(matrix).understood == understood


def test_a_column_of_ids_may_be_called_matrix(tmp_path):
    path = tmp_path / "sims.csv"
    pd.DataFrame({"the matrix": ["q"], "a": [0.5], "b": [1]}).to_csv(path, index=False)

    matrix = as_candidates(path, options=ReadOptions(id_column="the matrix"))

    assert "id 'the matrix', matrix, 1 query" in matrix.understood


def test_a_matrix_of_0_and_1_is_described_like_earlier_scores():
    scorer = Scorer(measures="mAP", classes=["cat", "dog"])
    truth = np.array([[1, 0], [0, 1]])
    scorer.update(np.array([[0.5, 0.25], [0.75, 1.0]]), truth)
    scorer.update(np.array([[0.0, 1.0], [1.0, 0.0]]), truth)

    line, _ = scorer.compute().understood

    assert line == "preds: matrix of items x classes, scores: 4 items, 8 scores"
