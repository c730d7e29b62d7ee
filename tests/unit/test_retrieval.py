"""Retrieval: how runs, embeddings and positives are read and joined, and errors and notes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.lib.format import open_memmap
from oracles import retrieval as oracle
from refusals import codes, facts, refused
from scipy import sparse

import semmetrics
from semmetrics.data.rankings import Products
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.kinds.retrieval import embeddings as embeddings_module
from semmetrics.kinds.retrieval.positives import plausible_positives

# Six images with five captions each.
IMAGES = [f"im{image}" for image in range(6)]
TEXTS = [f"c{text}" for text in range(30)]
ROWS = np.arange(30).reshape(6, 5)
PAIRS = list(zip(np.repeat(IMAGES, 5).tolist(), TEXTS, strict=True))
POSITIVES = {image: [] for image in IMAGES}
for image, text in PAIRS:
    POSITIVES[image].append(text)
IMAGES_OF_TEXTS = {text: [image] for image, text in PAIRS}
IS_POSITIVE = np.repeat(np.eye(6, dtype=int), 5, axis=1)
SIMILARITIES = np.random.default_rng(0).normal(size=(6, 30)) + 1.5 * IS_POSITIVE

NAMES = {"queries": IMAGES, "gallery": TEXTS}
NO_NAMES = {"queries": None, "gallery": None}
MEASURES = "HitRate@1,5,10 Recall@5 MedR MeanR MRR R-Precision mAP@R"


def score(preds=SIMILARITIES, gts=POSITIVES, **options):
    options = {"task": "retrieval", "measures": MEASURES, **NAMES, **options}
    return semmetrics.score(preds, gts, **options)


@pytest.fixture(scope="module")
def expected():
    """The values of the similarities."""
    return score().to_dict()


# ---- runs ---------------------------------------------------------------------------


# The candidates of each image, best first, and with their similarities
RANKED = {}
SCORED = {}
for image, row in zip(IMAGES, SIMILARITIES, strict=True):
    order = np.argsort(-row)
    RANKED[image] = [TEXTS[column] for column in order]
    SCORED[image] = dict(zip(TEXTS, row.tolist(), strict=True))


def write_npy(folder):
    np.save(folder / "run.npy", SIMILARITIES)
    return folder / "run.npy"


def write_npz(folder):
    np.savez(folder / "run.npz", values=SIMILARITIES, ids=IMAGES, classes=TEXTS)
    return folder / "run.npz"


def write_trec(folder):
    lines = []
    for image, candidates in SCORED.items():
        for text, similarity in candidates.items():
            lines.append(f"{image} Q0 {text} 0 {similarity!r} x")
    path = folder / "a.run"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def write_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "run.h5", "w") as file:
        file["values"] = SIMILARITIES
        file["ids"] = IMAGES
        file["classes"] = TEXTS
    return folder / "run.h5"


@pytest.mark.parametrize("write", [write_npz, write_hdf5, write_trec])
def test_every_format_of_a_file_with_names_gives_the_same_values(
    write, tmp_path, expected
):
    assert score(write(tmp_path), **NO_NAMES).to_dict() == expected


def test_a_npy_file_gives_the_same_values(tmp_path, expected):
    assert score(write_npy(tmp_path)).to_dict() == expected


@pytest.mark.parametrize(
    ("run", "names"),
    [
        (SIMILARITIES.tolist(), NAMES),
        (RANKED, NAMES),
        (SCORED, NO_NAMES),
        (pd.DataFrame(SIMILARITIES, IMAGES, TEXTS), NO_NAMES),
    ],
    ids=["lists of numbers", "ranked lists", "scored lists", "frame"],
)
def test_every_object_with_a_run_gives_the_same_values(run, names, expected):
    assert score(run, **names).to_dict() == expected


def test_a_truncated_hdf5_file_is_an_error(tmp_path):
    path = write_hdf5(tmp_path)
    path.write_bytes(path.read_bytes()[:600])

    with refused("damaged"):
        score(path)


def link_ids(file, h5py):
    file["values"] = SIMILARITIES
    file["names/ids"] = h5py.ExternalLink("other.h5", "ids")


def store_values_elsewhere(file, h5py):
    options = {"dtype": float, "external": [("other.h5", 0, h5py.h5f.UNLIMITED)]}
    file.create_dataset("values", SIMILARITIES.shape, **options)


def make_virtual_values(file, h5py):
    layout = h5py.VirtualLayout(SIMILARITIES.shape, float)
    layout[:] = h5py.VirtualSource("other.h5", "values", SIMILARITIES.shape)
    file.create_virtual_dataset("values", layout)


@pytest.mark.parametrize(
    "link", [link_ids, store_values_elsewhere, make_virtual_values]
)
def test_an_hdf5_file_does_not_make_us_read_other_files(tmp_path, monkeypatch, link):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    write_hdf5(tmp_path).rename("other.h5")
    with h5py.File("links.h5", "w") as file:
        link(file, h5py)

    with refused("stored-elsewhere"):
        score("links.h5")


def test_a_large_memory_map_is_read_in_blocks(tmp_path):
    path = tmp_path / "large.npy"
    table = open_memmap(path, "w+", np.float32, (2000, 40_000))  # 320 MB
    table[7, 3] = 1
    table[1999, 39_999] = 1
    table.flush()
    del table
    positives = {"7": [3, 5], "1999": [39_999]}

    tracemalloc.start()
    options = {"missing": "skip", "measures": "HitRate@1 MedR", **NO_NAMES}
    values = score(path, positives, **options).to_dict()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert values == {"HitRate@1": 1.0, "MedR": 1.0}
    assert peak < 100e6


# ---- positives ----------------------------------------------------------------------


# The positives have the grade 2, and another candidate of each query has the grade 0.
GRADES = {}
for image, texts in POSITIVES.items():
    GRADES[image] = {**dict.fromkeys(texts, 2), "c29": 0}
GRADES["im5"] = {**dict.fromkeys(POSITIVES["im5"], 2), "c0": 0}


def write_qrels(folder):
    lines = []
    for query, grades in GRADES.items():
        for text, grade in grades.items():
            lines.append(f"{query} 0 {text} {grade}")
    path = folder / "gt.qrels"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


TWICE = {image: 2 * texts for image, texts in POSITIVES.items()}
ROWS_OF_PAIRS = pd.DataFrame(PAIRS, columns=["query", "document"])
ROWS_OF_NUMBERS = pd.DataFrame(IS_POSITIVE, IMAGES, TEXTS)


@pytest.mark.parametrize(
    "positives",
    [GRADES, TWICE, ROWS_OF_PAIRS, ROWS_OF_NUMBERS],
    ids=["grades", "repeated", "pairs", "0 and 1"],
)
def test_every_form_of_positives_gives_the_same_values(positives, expected):
    assert score(gts=positives).to_dict() == expected


def test_positives_are_read_from_qrels(tmp_path, expected):
    assert score(gts=write_qrels(tmp_path)).to_dict() == expected


ROWS_BY_NUMBER = {str(number): row.tolist() for number, row in enumerate(ROWS)}


@pytest.mark.parametrize("positions", [ROWS, ROWS.tolist(), ROWS_BY_NUMBER])
def test_positions_are_the_names_of_unnamed_rows_and_columns(positions, expected):
    assert score(gts=positions, **NO_NAMES).to_dict() == expected


def test_positives_outside_the_gallery_count_as_never_retrieved():
    outside = {**POSITIVES, "im0": ["c0", "c99"]}

    table = score(gts=outside, missing="skip", measures="Recall@10 R-Precision")

    assert "positives-outside" in codes(table)
    order = oracle.ranking(SIMILARITIES[0].tolist(), {0})
    assert table["Recall@10"].items[0] == (order.index(0) < 10) / 2


def test_positives_of_columns_may_be_given():
    reverse = {text: [*image, "im0"] for text, image in IMAGES_OF_TEXTS.items()}
    options = {"measures": "HitRate@1 Recall@1"}

    both = score(direction="both", reverse_positives=reverse, **options)

    turned_names = {"queries": TEXTS, "gallery": IMAGES}
    i2t = score(**options)["Recall@1"]
    t2i = score(SIMILARITIES.T, reverse, **turned_names, **options)["Recall@1"]
    assert both["i2t Recall@1"].value == i2t.value
    assert both["t2i Recall@1"].value == pytest.approx(t2i.value)


@pytest.mark.parametrize(
    ("max_differing", "positives"),
    [
        (0, {"a": ["a0", "a1"], "b": ["b0"], "c": ["c0"]}),
        (1, {"a": ["a0", "a1", "b0"], "b": ["a0", "a1", "b0"], "c": ["c0"]}),
    ],
)
def test_captions_of_images_with_similar_classes_are_plausible(
    max_differing, positives
):
    classes = {"a": ["cat"], "b": ["cat", "dog"], "c": ["bus"], "d": [], "e": ["cat"]}
    captions = {"a": ["a0", "a1"], "b": ["b0"], "c": ["c0"], "d": ["d0"]}

    plausible = plausible_positives(
        as_labels(classes), as_candidates(captions), max_differing
    )

    assert plausible == positives


def test_plausible_positives_need_a_common_image():
    with refused("nothing-given"):
        plausible_positives(as_labels({"x": ["a"]}), as_candidates({"y": ["b"]}))


# ---- embeddings ---------------------------------------------------------------------


@pytest.fixture
def embeddings():
    rng = np.random.default_rng(3)
    return {
        "queries_embeddings": rng.normal(size=(6, 4)),
        "gallery_embeddings": rng.normal(size=(30, 4)),
    }


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_embeddings_are_ranked_by_their_products(similarity, embeddings, tmp_path):
    queries, gallery = embeddings.values()
    products = queries @ gallery.T
    if similarity == "cosine":
        products /= np.linalg.norm(queries, axis=1)[:, None]
        products /= np.linalg.norm(gallery, axis=1)
    paths = {}
    for name, vectors in embeddings.items():
        paths[name] = tmp_path / f"{name}.npy"
        np.save(paths[name], vectors)

    options = {"similarity": similarity, "direction": "both"}
    from_arrays = score(None, **embeddings, **options)
    from_files = score(None, **paths, **options)

    assert from_arrays.to_dict() == score(products, direction="both").to_dict()
    assert from_files.to_dict() == from_arrays.to_dict()
    assert f"similarity:{similarity}" in from_arrays[0].signature


@pytest.mark.parametrize("rows", [[7], [5, 6, 7, 8], [39, 1, 20]])
def test_products_of_a_query_do_not_depend_on_the_other_queries(rows):
    rng = np.random.default_rng(0)
    # More queries than are multiplied at once
    queries = rng.normal(size=(5000, 33)).astype("f4")
    gallery = rng.normal(size=(90, 33)).astype("f4")
    products = Products(queries, gallery)

    together = products.table(np.array(rows), None)

    for row, values in zip(rows, together, strict=True):
        alone = products.table(np.array([row]), None)
        np.testing.assert_array_equal(alone[0], values)
    np.testing.assert_allclose(together, queries[rows] @ gallery.T, atol=1e-5)


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("needs-option", {"gallery_embeddings": None}),
        ("wrong-shape", {"queries_embeddings": np.ones((6, 3))}),
        ("wrong-count", {"queries_embeddings": np.ones((5, 4))}),
        ("not-finite", {"queries_embeddings": np.full((6, 4), np.nan)}),
        ("wrong-shape", {"queries_embeddings": np.ones((0, 4))}),
        ("wrong-type", {"queries_embeddings": {"a": 1}}),
        ("conflicting-options", {"preds": SIMILARITIES}),
    ],
)
def test_invalid_embeddings_are_errors(code, options, embeddings):
    with refused(code):
        score(**{"preds": None, **embeddings, **options})


@pytest.mark.parametrize(
    ("device", "expected"), [(None, "cpu"), ("torch:cpu", "torch:cpu")]
)
def test_tensors_are_ranked_on_the_requested_device(
    monkeypatch, embeddings, device, expected
):
    torch = pytest.importorskip("torch")
    tensors = {name: torch.tensor(values) for name, values in embeddings.items()}
    requested = []
    monkeypatch.setattr(embeddings_module, "find_device", requested.append)

    table = score(None, device=device, **tensors)

    assert requested == [expected]
    assert table.to_dict() == score(None, **embeddings).to_dict()


# ---- errors -------------------------------------------------------------------------


def with_value(row, column, value):
    table = SIMILARITIES.copy()
    table[row, column] = value
    return table


OTHER_ORDER = pd.DataFrame(SIMILARITIES, IMAGES[::-1], TEXTS)


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("row 2, column 3 .from 0.", {"preds": with_value(2, 3, np.nan)}),
        ("not-finite", {"preds": with_value(1, 4, np.inf)}),
        ("wrong-type", {"preds": [[1, 0], [0.5]]}),
        ("wrong-type", {"preds": None}),
        ("transposed-names", {"preds": SIMILARITIES.T}),
        ("wrong-count", {"preds": SIMILARITIES[:4]}),
        ("wrong-count", {"preds": SIMILARITIES[:, :29]}),
        ("duplicate-at", {"gallery": [*TEXTS[:29], "c0"]}),
        ("duplicate", {"preds": {**RANKED, "im3": ["c1", "c2", "c1"]}}),
        ("not-in-option", {"preds": {**SCORED, "im0": {"x": 1.0, "y": 2.0}}}),
        ("not-in-option", {"preds": {**SCORED, "im9": {"c0": 1.0}}}),
        ("preds is missing 1 of the ids: 'im7'", {"gts": {**POSITIVES, "im7": ["c0"]}}),
        ("outside-gallery", {"gts": {**POSITIVES, "im0": ["c0", "c99"]}}),
        ("the ground truth is a matrix of scores", {"gts": SIMILARITIES}),
        ("unnamed-rows", {"queries": None}),
        ("other-names", {"preds": OTHER_ORDER}),
        ("not-applicable", {"preds": RANKED, "direction": "both"}),
        ("not-applicable", {"direction": "i2t", "reverse_positives": IMAGES_OF_TEXTS}),
        ("not-applicable", {"weights": dict.fromkeys(IMAGES, 1), "direction": "both"}),
        ("bad-option", {"folds": 4}),
        ("bad-option", {"folds": 1}),
        ("bad-choice", {"direction": "up"}),
    ],
)
def test_invalid_input_is_an_error(code, options):
    with refused(code):
        score(**options)


@pytest.mark.parametrize("run", [sparse.csr_array((1, 2)), [["a"]]])
def test_an_empty_mapping_of_positives_is_an_error(run):
    with refused("gts is missing 1 of the ids: '0'"):
        score(run, {}, **NO_NAMES)


def test_transposed_input_without_names_is_an_error():
    positives_of_rows = dict(enumerate(ROWS.tolist()))
    positives_of_columns = [[column // 5] for column in range(30)]

    with refused("transposed-positives"):
        score(SIMILARITIES.T, positives_of_rows, **NO_NAMES)
    with refused("transposed-names"):
        score(SIMILARITIES, positives_of_columns, **NO_NAMES)


# ---- notes and reports --------------------------------------------------------------


@pytest.mark.parametrize(
    ("measures", "counts"), [("Recall@1", [6]), ("Recall@1 HitRate@1", [])]
)
def test_a_note_says_that_recall_of_several_positives_is_not_hit_rate(measures, counts):
    table = score(measures=measures)

    assert [fact.n for fact in facts(table, "recall-of-several")] == counts


def test_rsum_has_no_interval_if_its_directions_are_not_paired():
    text_of_two_images = {**POSITIVES, "im0": [*POSITIVES["im0"], "c5"]}
    options = {"direction": "both", "measures": "Rsum", "ci": True, "resamples": 20}

    table = score(gts=text_of_two_images, **options)

    assert table["Rsum"].ci is None
    assert any("Rsum has no interval" in note for note in table.notes)


def test_worst_items_have_the_ranks_of_positives_and_the_first_candidates():
    record = score(measures="MRR").worst(1)[0]

    row = SIMILARITIES[IMAGES.index(record["id"])].tolist()
    order = [TEXTS[column] for column in oracle.ranking(row, set())]
    assert record["first"] == order[:5]
    ranks = [order.index(name) + 1 for name in record["positives"]]
    assert record["ranks"] == sorted(ranks)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (SIMILARITIES, {"shape": [6, 30], "dtype": "float64", "items": 6}),
        (POSITIVES, {"candidates": 30, "distinct": 30, "zeros": None}),
        (GRADES, {"candidates": 36, "zeros": 6}),
    ],
)
def test_validate_reports_shapes_and_positives(data, facts):
    report = semmetrics.validate(data, task="retrieval")

    assert {name: report[name] for name in facts} == facts
    assert report["odd"] == []


def test_validate_reports_many_ties():
    report = semmetrics.validate(np.ones((3, 4)), task="retrieval")

    assert "ties affect ranks" in report["odd"][0]


def test_similarity_has_no_effect_without_embeddings():
    assert "no-effect" in codes(score(similarity="dot"))


def test_the_median_rank_skips_queries_without_positives_by_default():
    positives = {**POSITIVES, "im0": []}

    skip, strict = score(gts=positives, measures="MedR MedR(no_reference=nan)")

    assert skip.undefined == {"no_reference": 1}
    assert skip.value == 1
    assert np.flatnonzero(np.isnan(skip.items)).tolist() == [0]
    assert np.isnan(strict.value)


def test_a_note_says_that_a_square_matrix_is_probably_transposed():
    next_places = np.roll(np.arange(40), -1)
    table = np.random.default_rng(0).normal(size=(40, 40))
    table[np.arange(40), next_places] += 4
    positives = next_places[:, None].tolist()
    diagonal = [[place] for place in range(40)]

    assert "transposed" in codes(score(table.T.copy(), positives, **NO_NAMES))
    assert "transposed" not in codes(score(table, positives, **NO_NAMES))
    assert "transposed" not in codes(score(table, diagonal, **NO_NAMES))


def test_top_k_of_retrieval_is_a_cutoff_in_the_measure():
    # given the option for cutoffs, which retrieval does not have
    with refused("not-of-kind", name="top_k") as caught:
        semmetrics.score(np.eye(2), [[0], [1]], task="retrieval", top_k=[1, 5])
    # then the error shows how to write them
    assert "HitRate@1,5" in str(caught.value)


def test_options_that_were_not_given_need_no_swap():
    # given as many lists of positives as columns, without names of rows or columns
    with refused("transposed-names") as caught:
        semmetrics.score(np.eye(5, 3), [[0], [1, 2], [3]], task="retrieval")
    # then the error does not mention the options for names
    assert "queries=" not in str(caught.value)
