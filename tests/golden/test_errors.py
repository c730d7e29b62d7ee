"""Errors and notes that no test of a module has: their code, and the place that they name."""

from __future__ import annotations

import json
import pickle
import types

import numpy as np
import pytest
from refusals import codes, refused

import semmetrics

LABELS = {"1": ["cat"], "2": ["dog"]}
CAPTIONS = {"1": "a cat"}
REFERENCES = {"1": ["a cat sleeps"]}
SCORES = np.array([[0.5, 0.25, 0.75], [0.25, 0.5, 0.0]])
TRUTH = np.array([[1, 0, 1], [0, 1, 0]])
VECTORS = "3 2\ncat 1 0\ndog 0 1\ncar 0.6 0.8\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in a folder with word vectors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.vec").write_text(VECTORS, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "code", "place"),
    [
        ("p.json", '{"1": ["a\0b"]}', "bad-character", "p.json, line 1"),
        ("p.csv", "id,label\n1,a\0b\n", "bad-character", "p.csv, line 2"),
        ("p.csv", "id,label,score\n1,,0.5\n", "score-alone", "p.csv, line 2, id '1'"),
        ("p.xyz", '{"1": ["cat"]}', "unknown-extension", "p.xyz"),
        ("p.json", "7", "wrong-type", "p.json"),
        ("p.json", '{"1": [%s]}' % ("9" * 5000), "not-json", "p.json"),
        ("p.csv", "\nid,label\n1,cat\n", "empty", "p.csv, line 1"),
        (
            "p.json",
            json.dumps(
                {
                    "images": [{"id": 1}],
                    "categories": [{"id": 1, "name": "cat"}],
                    "annotations": [{"image_id": 3, "category_id": 1}],
                }
            ),
            "unlisted-id",
            "p.json, annotations[0]",
        ),
    ],
)
def test_errors_in_files_of_labels_name_the_line_or_the_key(
    folder, name, content, code, place
):
    (folder / name).write_text(content, encoding="utf-8")

    with refused(code, place):
        semmetrics.as_labels(name)


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.zeros(3), "vector-as-matrix"),
        (np.zeros((1, 1, 1)), "wrong-shape"),
        (np.array([[1j]]), "wrong-dtype"),
    ],
)
def test_arrays_that_are_not_scores_are_errors(folder, array, code):
    np.save(folder / "p.npy", array)

    with refused(code, "p.npy"):
        semmetrics.as_labels("p.npy")


def test_an_archive_of_two_arrays_is_an_error(folder):
    np.savez(folder / "p.npz", a=SCORES, b=TRUTH)

    with refused("no-main-array", "p.npz"):
        semmetrics.as_labels("p.npz")


def test_a_class_has_a_name():
    with refused("empty", "class list, class 1 (from 0)"):
        semmetrics.score(SCORES, TRUTH, measures="mAP", classes=["a", "", "c"])


def test_coco_instances_are_not_captions(folder):
    annotation = {"image_id": 1, "category_id": 3}
    text = json.dumps({"images": [], "annotations": [annotation]})
    (folder / "c.json").write_text(text, encoding="utf-8")

    with refused("instances-file", "c.json, annotations[0], id '1'"):
        semmetrics.as_captions("c.json")


def test_a_taxonomy_without_the_named_columns_is_an_error(folder):
    (folder / "t.csv").write_text("a,b\n", encoding="utf-8")

    with refused("no-column", "t.csv, line 1"):
        semmetrics.score(LABELS, LABELS, measures="hF", taxonomy="t.csv")


def test_labels_outside_the_taxonomy_are_an_error():
    with refused("outside-taxonomy"):
        semmetrics.score(LABELS, LABELS, measures="hF", taxonomy={"cat": "animal"})


@pytest.mark.parametrize(
    ("taxonomy", "code"),
    [({"cat": "dog", "dog": "cat"}, "cycle"), ({}, "nothing-given")],
)
def test_a_taxonomy_is_a_graph_without_cycles(taxonomy, code):
    with refused(code):
        semmetrics.score(LABELS, LABELS, measures="hF", taxonomy=taxonomy)


def test_normalized_classes_of_a_taxonomy_must_differ():
    taxonomy = {"Tree": "plant", "tree": "plant", "cat": "animal", "dog": "animal"}

    with refused("merged-names"):
        semmetrics.score(
            LABELS, LABELS, measures="hF", taxonomy=taxonomy, normalize="lower"
        )


@pytest.mark.parametrize(
    ("measure", "code"),
    [
        ("MacroF1(average=micro)", "fixed-option"),
        ("F1(average)", "not-a-measure"),
        ("F1,Precision", "comma-separated"),
        ("F1@0", "out-of-range"),
        ("F1(empty=2)", "bad-choice"),
        ("SemF1(threshold=high)", "bad-option"),
        ("SemF1(threshold=2)", "bad-option"),
        ("F2 Recal", "wrong-measures"),
    ],
)
def test_wrong_measures_are_errors(measure, code):
    with refused(code):
        semmetrics.score(LABELS, LABELS, measures=measure)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"protocol": "kubany2020", "keep_at_least": 1}, "fixed-by"),
        ({"measures": "F1 F1"}, "duplicate-measures"),
    ],
)
def test_wrong_options_of_a_score_are_errors(options, code):
    with refused(code):
        semmetrics.score(LABELS, LABELS, **options)


def test_a_protocol_has_its_own_document_frequencies():
    with refused("not-applicable"):
        semmetrics.score(
            CAPTIONS, REFERENCES, protocol="coco-caption", doc_freq="df.npz"
        )


def test_a_score_needs_a_system():
    with refused("nothing-given"):
        semmetrics.score_systems({}, LABELS)


def test_a_t_test_has_no_weights():
    systems = {"a": LABELS, "b": LABELS}

    with refused("test-does-not-fit"):
        semmetrics.compare(
            systems, LABELS, measures="F1", test="t", weights={"1": 1, "2": 2}
        )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"holdout": 0}, "bad-option"),
        ({"thresholds": [0.5, 0.5]}, "duplicate"),
        ({"thresholds": [2]}, "out-of-range"),
        ({"thresholds": []}, "bad-thresholds"),
    ],
)
def test_wrong_options_of_a_calibration_are_errors(options, code):
    with refused(code):
        semmetrics.calibrate_threshold(LABELS, LABELS, embedding="words.vec", **options)


@pytest.mark.parametrize("name", ["nothing.vec", "nothing:words.vec"])
def test_an_embedding_that_does_not_exist_is_an_error(name):
    with refused("unknown-embedding"):
        semmetrics.score(LABELS, LABELS, measures="SemF1", embedding=name)


def test_an_array_of_vectors_without_words_is_an_error(folder):
    np.save(folder / "e.npy", np.eye(2))

    with refused("no-texts", "e.npy"):
        semmetrics.score(LABELS, LABELS, measures="SemF1", embedding="e.npy")


def test_unknown_terms_are_an_error_if_the_user_says_so():
    preds = LABELS | {"2": ["gnu"]}

    with refused("unknown-terms"):
        semmetrics.score(
            preds, LABELS, measures="SemF1", embedding="words.vec", oov="error"
        )


def test_word_vectors_cannot_embed_captions():
    with refused("word-vectors"):
        semmetrics.score(CAPTIONS, REFERENCES, measures="BagSim", embedding="words.vec")


def test_a_calibration_of_another_embedding_is_an_error():
    pairs = [("cat", "car", 1), ("cat", "dog", 0)]
    calibration = semmetrics.calibrate_threshold_on_pairs(pairs, "words.vec")

    with refused("other-embedding"):
        semmetrics.score(LABELS, LABELS, measures="SemF1", calibration=calibration)


def test_a_calibration_needs_predictions_that_resemble_their_own_references():
    preds = {"a": ["cat"], "b": ["cat"]}
    gts = {"a": ["dog"], "b": ["dog"]}

    with refused("no-contrast"):
        semmetrics.calibrate_threshold(
            preds, gts, holdout=1, thresholds="0:0.9:0.1", embedding="words.vec"
        )


def test_matrices_without_classes_must_have_the_same_width():
    with refused("unnamed-widths", "preds and gts"):
        semmetrics.score(SCORES[:, :2], TRUTH, measures="mAP")


def test_columns_without_classes_cannot_meet_names():
    with refused("unnamed-columns", "gts"):
        semmetrics.score([["cat"], ["dog"]], TRUTH, measures="F1")


def test_a_matrix_that_another_process_writes_is_an_error(folder):
    fcntl = pytest.importorskip("fcntl")

    with (folder / "phi.npy.blocks").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with refused("matrix-locked", "phi.npy"):
            semmetrics.caption_matrix([["a cat"]], ["a cat"], out="phi.npy")


def test_a_pickled_error_has_the_same_message():
    error = semmetrics.InputError("duplicate-id", "gt.json", value="7")

    loaded = pickle.loads(pickle.dumps(error))

    assert (type(loaded), str(loaded)) == (type(error), str(error))


class ShortEmbedding:
    """An embedding that reads only the first letter of a text."""

    identity = "letters@1"
    dimension = 2
    threshold = 0.5

    def embed(self, texts):
        return types.SimpleNamespace(
            vectors=np.ones((len(texts), 2), np.float32),
            known=np.ones(len(texts), bool),
            truncated=len(texts),
        )


def test_a_note_counts_texts_that_an_embedding_truncates():
    table = semmetrics.score(
        LABELS, LABELS, measures="SemF1", embedding=ShortEmbedding()
    )

    assert "truncated-texts" in codes(table)
