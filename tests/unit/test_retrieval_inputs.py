"""What else a user of retrieval gives: names that are numbers, frames of vectors, damaged files."""

import json
import zipfile

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.metrics.registry import parse
from semmetrics.scoring.score_text import report_shared

SIMS = np.array([[0.9, 0.1], [0.2, 0.8]])


def score(preds=SIMS, gts=([0], [1]), **options):
    given = {"task": "retrieval", "measures": "HitRate@1", **options}
    return semmetrics.score(preds, [*gts] if isinstance(gts, tuple) else gts, **given)


def test_ids_in_json_may_be_whole_numbers(tmp_path):
    path = tmp_path / "gallery.json"
    path.write_text("[7, 8]", encoding="utf-8")
    options = {"queries": ["a", "b"], "gallery": path}
    assert score(gts={"a": [7], "b": ["8"]}, **options)[0].value == 1.0
    for content, problem in (
        ("[7, 0.5]", "wrong-type"),
        ('[7, "7"]', "duplicate-at"),
        ("[true]", "wrong-type"),
        ('{"categories": []}', "wrong-type"),
    ):
        path.write_text(content, encoding="utf-8")
        with refused(problem):
            score(gts={"a": [7], "b": ["8"]}, **options)


def test_frames_of_vectors_are_refused_with_what_to_give():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(2), index=["a", "b"])
    options = {"queries_embeddings": frame, "gallery_embeddings": np.eye(2)}
    problem = "wrong-type"
    with refused(problem):
        score(None, **options)
    options = {"queries_embeddings": np.eye(2), "gallery_embeddings": frame}
    with refused("wrong-type"):
        score(None, **options)
    given = {"queries_embeddings": frame.to_numpy(), "gallery_embeddings": np.eye(2)}
    named = score(
        None, {"a": ["0"], "b": ["1"]}, queries=list(frame.index), gallery=["0", "1"], **given
    )
    assert named[0].value == 1.0


def test_columns_of_positives_are_not_taken_for_0_and_1():
    columns = np.array([[0], [1]])  # of three queries the last would say that it is no 0/1
    with refused("is 0/1 in 1 column, and the gallery has 2 candidates"):
        score(gts=columns)
    assert score(gts=columns.tolist())[0].value == 1.0
    assert score(np.eye(3), np.array([[0], [1], [2]]))[0].value == 1.0
    vectors = {"queries_embeddings": np.eye(2), "gallery_embeddings": np.eye(2)}
    with refused("is 0/1 in 1 column"):
        score(None, columns, **vectors)


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        (np.ma.masked_equal(np.eye(2), 1), "queries_embeddings: values are masked; fill them"),
        ([[1, 2], [3]], "wrong-type"),
        (np.ones(2), "wrong-type"),
        ([[np.nan, 1], [1, 2]], "not-finite"),
    ],
)
def test_vectors_that_are_none_are_refused(vectors, problem):
    with refused(problem):
        score(None, queries_embeddings=vectors, gallery_embeddings=np.eye(2))


def test_a_damaged_archive_is_named_without_what_it_holds(tmp_path):
    path = tmp_path / "sims.npz"
    np.savez(path, sims=np.eye(30))
    whole = path.read_bytes()
    start = whole.index(b"sims.npy")
    for damaged in (
        whole[: len(whole) // 2],
        whole[:start] + b"\xff\x01\xfe" + whole[start + 3 :],
        whole[:200] + bytes(50) + b"\xff" + whole[251:],
    ):
        path.write_bytes(damaged)
        with refused("damaged"):
            score(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", json.dumps([]))
    with refused("damaged"):
        score(path)


@pytest.mark.parametrize(
    ("name", "meant"), [("recall@5", "Recall"), ("hitrate@1", "HitRate"), ("MEDR", "MedR")]
)
def test_a_name_in_another_case_has_one_remedy(name, meant):
    with refused(rf"did you mean {meant}\?$"):
        parse(name, "retrieval")


def test_what_signatures_share_says_the_task_and_how_queries_are_grouped():
    table = score(measures="HitRate@1 MRR", direction="t2i")
    assert report_shared(table).startswith("signatures share: task:retrieval|missing:error|")
    assert "|groups:positive|" in report_shared(table)


def test_an_image_without_captions_leaves_the_groups_of_others():
    rng = np.random.default_rng(2)
    sims = rng.random((6, 12)) + np.repeat(np.eye(6), 2, axis=1)
    names = [f"c{n}" for n in range(12)]
    truth = {f"i{n}": names[2 * n : 2 * n + 2] for n in range(6)} | {"i5": []}
    options = {"task": "retrieval", "queries": [*truth], "gallery": names, "direction": "t2i",
               "measures": "HitRate@1", "ci": True}  # fmt: skip
    whole = semmetrics.score(sims, truth, missing="empty", **options)
    kept = {name: some for name, some in truth.items() if some}
    assert "|groups:positive|" in whole[0].signature
    assert whole[0].replicates.grouped
    assert whole[0].replicates.sizes.sum() == len(kept) + 2  # captions of no image, each alone


def test_thresholds_of_similarity_take_no_options_of_other_kinds():
    with refused("unknown-name"):
        semmetrics.sweep([["cat"]], [["dog"]], phi=SIMS)
    with refused("unknown-name"):
        semmetrics.calibrate_threshold([["cat"]], [["dog"]], phi=SIMS)
    for function in (semmetrics.sweep, semmetrics.calibrate_threshold):
        assert not {"phi", "queries", "captions", "tokenizer"} & {
            line.partition(" ")[0] for line in map(str.strip, function.__doc__.splitlines())
        }
