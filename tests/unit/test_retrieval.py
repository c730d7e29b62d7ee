"""Retrieval: how runs and positives are read and joined, what is refused, and what is said."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.lib.format import open_memmap
from oracles import retrieval as oracle
from refusals import codes, facts, refused

import semmetrics
from semmetrics.core.ragged import offsets
from semmetrics.core.ranks import count_down, count_nearer
from semmetrics.core.top_k import first_places
from semmetrics.kinds import find_kind
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.kinds.retrieval import embeddings as reading
from semmetrics.kinds.retrieval.positives import plausible_positives
from semmetrics.metrics.retrieval import median_rank

N, EACH = 6, 5
M = N * EACH
IMAGES, TEXTS = [f"im{i}" for i in range(N)], [f"c{j}" for j in range(M)]
POSITIVES = {IMAGES[i]: TEXTS[EACH * i : EACH * (i + 1)] for i in range(N)}
NAMED = {"queries": IMAGES, "gallery": TEXTS}
MEASURES = "HitRate@1,5,10 Recall@5 MedR MeanR MRR R-Precision mAP@R"


@pytest.mark.parametrize(
    ("measures", "n"), [("Recall@1", [N]), ("Recall@1 HitRate@1", [])]
)
def test_recall_of_several_positives_is_not_what_papers_print(measures, n):
    found = semmetrics.score(
        similarities(), POSITIVES, measures=measures, task="retrieval", **NAMED
    )
    assert [fact.n for fact in facts(found, "recall-of-several")] == n


def similarities(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(N, M))
    for i in range(N):
        table[i, EACH * i : EACH * (i + 1)] += 1.5
    return table.astype(dtype)


S = similarities()


def score(preds=S, gts=POSITIVES, **options):
    options = {"task": "retrieval", "measures": MEASURES, **NAMED, **options}
    return semmetrics.score(preds, gts, **options)


WHOLE = score().to_dict()


def by_position(**options):
    rows = [list(range(EACH * i, EACH * (i + 1))) for i in range(N)]
    return score(gts=rows, queries=None, gallery=None, **options).to_dict()


# Data


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def ranked(number=None, scored=True):
    lists = {}
    for i, name in enumerate(IMAGES):
        order = np.argsort(-S[i], kind="stable")[:number].tolist()
        lists[name] = (
            {TEXTS[j]: float(S[i, j]) for j in order}
            if scored
            else [TEXTS[j] for j in order]
        )
    return lists


def parquet(tmp_path, frame):
    path = tmp_path / "sims.parquet"
    frame.to_parquet(path)
    return path


def saved(tmp_path, name, **arrays):
    path = tmp_path / name
    np.savez(path, **arrays) if name.endswith("z") else np.save(path, arrays["values"])
    return path


RUNS = {
    "npy": lambda tmp: saved(tmp, "a.npy", values=S),
    "npz": lambda tmp: saved(
        tmp, "a.npz", values=S, ids=np.array(IMAGES), classes=np.array(TEXTS)
    ),
    "fortran": lambda tmp: saved(tmp, "a.npy", values=np.asfortranarray(S)),
    "json": lambda tmp: write(tmp, "a.json", json.dumps(S.tolist())),
    "lists of numbers": lambda tmp: S.tolist(),
    "frame": lambda tmp: pd.DataFrame(S, index=IMAGES, columns=TEXTS),
    "parquet": lambda tmp: parquet(
        tmp, pd.DataFrame({"id": IMAGES, **dict(zip(TEXTS, S.T, strict=True))})
    ),
    "scored lists": lambda tmp: ranked(),
    "plain lists": lambda tmp: ranked(scored=False),
    "jsonl": lambda tmp: write(
        tmp,
        "a.jsonl",
        "".join(
            json.dumps({"query": q, "candidates": c}) + "\n"
            for q, c in ranked(scored=False).items()
        ),
    ),
    "trec": lambda tmp: write(
        tmp,
        "a.run",
        "".join(
            f"{q} Q0 {c} 0 {s!r} x\n"
            for q, some in ranked().items()
            for c, s in some.items()
        ),
    ),
}


def test_names_in_the_files_alone(tmp_path):
    for name in ("npz", "frame", "parquet", "scored lists", "trec"):
        found = score(RUNS[name](tmp_path), queries=None, gallery=None)
        assert found.to_dict() == WHOLE, name


def test_rows_of_numbers_may_begin_with_whole_ones():
    table = [[1, 0], [0.5, 1]]
    options = {"queries": None, "gallery": None, "measures": "HitRate@1"}
    assert score(table, [[0], [1]], **options)[0].value == 1.0
    with refused("wrong-type"):
        score([[1, 0], [0.5]], [[0], [1]], **options)


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["sims/values"] = S
    assert score(tmp_path / "a.h5").to_dict() == WHOLE
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["values"], file["ids"], file["classes"] = S, IMAGES, TEXTS
    assert score(tmp_path / "b.h5", queries=None, gallery=None).to_dict() == WHOLE
    (tmp_path / "c.h5").write_bytes((tmp_path / "b.h5").read_bytes()[:600])
    with refused("damaged"):
        score(tmp_path / "c.h5")


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("other", ["pipe", "other.h5"])
@pytest.mark.parametrize(
    "way", ["external", "virtual", "link", "linked ids", "linked group"]
)
def test_other_files_that_an_hdf5_file_names_are_not_read(
    tmp_path, monkeypatch, way, other
):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with h5py.File("other.h5", "w") as file:
        file["values"], file["ids"] = S, IMAGES
    with h5py.File("a.h5", "w") as file:
        if way == "external":
            place = [(other, 0, h5py.h5f.UNLIMITED)]
            file.create_dataset("values", S.shape, S.dtype, external=place)
        elif way == "virtual":
            layout = h5py.VirtualLayout(S.shape, S.dtype)
            layout[:] = h5py.VirtualSource(other, "values", S.shape)
            file.create_virtual_dataset("values", layout)
        elif way == "link":
            file["values"] = h5py.ExternalLink(other, "values")
        else:
            file["values"] = S
            name = "ids" if way == "linked ids" else "names/ids"
            file[name] = h5py.ExternalLink(other, "ids")
    with refused("stored-elsewhere"):
        score("a.h5")


GRADED = {
    q: {**dict.fromkeys(some, 2), "c29" if q != "im5" else "c0": 0}
    for q, some in POSITIVES.items()
}
TRUTHS = {
    "lists": lambda tmp: POSITIVES,
    "json": lambda tmp: write(tmp, "gt.json", json.dumps(POSITIVES)),
    "grades": lambda tmp: GRADED,
    "qrels": lambda tmp: write(
        tmp,
        "gt.qrels",
        "".join(
            f"{q} 0 {c} {g}\n" for q, some in GRADED.items() for c, g in some.items()
        ),
    ),
    "tsv": lambda tmp: write(
        tmp,
        "gt.tsv",
        "query-id\tcorpus-id\tscore\n"
        + "".join(
            f"{q}\t{c}\t{g}\n" for q, some in GRADED.items() for c, g in some.items()
        ),
    ),
    "frame": lambda tmp: pd.DataFrame(
        [{"query": q, "document": c} for q, some in POSITIVES.items() for c in some]
    ),
    "repeats": lambda tmp: {q: some * 2 for q, some in POSITIVES.items()},
    "coco": lambda tmp: {
        "images": [{"id": q} for q in IMAGES],
        "annotations": [
            {"id": c, "image_id": q, "caption": "a cat"}
            for q, some in POSITIVES.items()
            for c in some
        ],
    },
    "membership": lambda tmp: pd.DataFrame(
        np.kron(np.eye(N, dtype=int), np.ones((1, EACH), int)),
        index=IMAGES,
        columns=TEXTS,
    ),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_every_format_of_positives_gives_the_same_values(name, tmp_path):
    assert score(gts=TRUTHS[name](tmp_path)).to_dict() == WHOLE


def test_positions_name_what_has_no_names():
    assert by_position() == WHOLE
    numbered = {str(i): list(range(EACH * i, EACH * (i + 1))) for i in range(N)}
    assert score(gts=numbered, queries=None, gallery=None).to_dict() == WHOLE
    columns = np.arange(M).reshape(N, EACH)
    assert score(gts=columns, queries=None, gallery=None).to_dict() == WHOLE
    reordered = dict(reversed(POSITIVES.items()))
    assert score(gts=reordered).to_dict() == pytest.approx(WHOLE)


# Directions, parts, folds


def test_an_interval_without_pairs_is_left_out():
    shared = {**POSITIVES, "im0": [*POSITIVES["im0"], "c5"]}  # c5 has two images
    table = score(gts=shared, direction="both", measures="Rsum", ci=True, resamples=20)
    assert table["Rsum"].ci is None
    assert any("Rsum has no interval" in note for note in table.notes)


def test_positives_of_columns_may_be_given():
    reverse = {c: [q, "im0"] for q, some in POSITIVES.items() for c in some}
    both = score(
        direction="both", reverse_positives=reverse, measures="HitRate@1 Recall@1"
    )
    alone = score(
        S.T, reverse, queries=TEXTS, gallery=IMAGES, measures="HitRate@1 Recall@1"
    )
    assert both["t2i Recall@1"].value == pytest.approx(alone["Recall@1"].value)
    assert both["i2t Recall@1"].value == score(measures="Recall@1")[0].value


# Embeddings


def vectors(seed=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 4)).astype(dtype), rng.normal(size=(M, 4)).astype(dtype)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_embeddings_rank_as_their_products(similarity, tmp_path):
    queries, gallery = vectors()
    table = queries @ gallery.T
    if similarity == "cosine":
        lengths = [np.linalg.norm(some, axis=1) for some in (queries, gallery)]
        table = table / lengths[0][:, None] / lengths[1]
    wanted = score(table, direction="both").to_dict()
    options = {"queries_embeddings": queries, "gallery_embeddings": gallery}
    found = score(None, similarity=similarity, direction="both", **options)
    assert found.to_dict() == wanted
    assert f"similarity:{similarity}" in found[0].signature
    assert found.systems == ["preds"]
    for name, values in options.items():
        np.save(tmp_path / f"{name}.npy", values)
        options[name] = tmp_path / f"{name}.npy"
    assert (
        score(None, similarity=similarity, direction="both", **options).to_dict()
        == wanted
    )


def test_the_products_of_a_query_do_not_depend_on_the_others(monkeypatch):
    monkeypatch.setattr("semmetrics.data.rankings._MIN_ROWS_PER_TABLE", 4)
    monkeypatch.setattr("semmetrics.data.rankings._MAX_BYTES_PER_PRODUCT", 1)
    rng = np.random.default_rng(0)
    queries, gallery = (
        rng.normal(size=(40, 33)).astype("f4"),
        rng.normal(size=(90, 33)).astype("f4"),
    )
    kind = find_kind("retrieval")
    from semmetrics.kinds.options import resolve_options

    options = kind.read_side_inputs(
        resolve_options(
            {"queries_embeddings": queries, "gallery_embeddings": gallery}, "retrieval"
        )
    )
    run = kind.read(None, "one", options)
    whole = run.values.table(np.arange(40), None)
    for rows in (np.array([7]), np.arange(5, 9), np.array([39, 1, 20])):
        tile = run.values.table(rows, None)
        assert (
            tile.tobytes()
            == np.stack(
                [run.values.table(np.array([r]), None)[0] for r in rows]
            ).tobytes()
        )
        np.testing.assert_allclose(tile, whole[rows], rtol=1e-5, atol=1e-6)


BAD_VECTORS = [
    ("needs-option", {"queries_embeddings": None}),
    ("needs-option", {"gallery_embeddings": None}),
    ("wrong-shape", {"queries_embeddings": np.ones((N, 3))}),
    ("wrong-count", {"queries_embeddings": np.ones((5, 4))}),
    ("not-finite", {"queries_embeddings": np.full((N, 4), np.nan)}),
    ("wrong-type", {"queries_embeddings": {"a": 1}}),
    ("wrong-shape", {"queries_embeddings": np.ones((0, 4))}),
]


@pytest.mark.parametrize(("code", "given"), BAD_VECTORS)
def test_bad_vectors(code, given):
    queries, gallery = vectors()
    options = {"queries_embeddings": queries, "gallery_embeddings": gallery}
    with refused(code):
        score(None, **{**options, **given})


def test_predictions_and_embeddings_exclude_each_other():
    queries, gallery = vectors()
    with refused("conflicting-options"):
        score(queries_embeddings=queries, gallery_embeddings=gallery)
    with refused("conflicting-options"):
        score(gallery_embeddings=gallery)
    assert "no-effect" in codes(score(similarity="dot"))
    with refused("wrong-type"):
        score(None)


def test_tensors_are_ranked_on_the_device_that_they_lie_on(monkeypatch):
    torch = pytest.importorskip("torch")
    queries, gallery = map(torch.tensor, vectors())
    asked: list[str | None] = []
    monkeypatch.setattr(reading, "find_device", asked.append)
    options = {"queries_embeddings": queries, "gallery_embeddings": gallery}
    plain = {name: tensor.numpy() for name, tensor in options.items()}
    assert score(None, **options).to_dict() == score(None, **plain).to_dict()
    asked.clear()
    score(None, **options)
    score(None, device="torch:cpu", **options)
    assert asked == [None, "torch:cpu"]


# What is wrong

NAN, ENDLESS = S.copy(), S.copy()
NAN[2, 3], ENDLESS[1, 4] = np.nan, np.inf
OUTSIDE = {**POSITIVES, "im0": ["c0", "c99"]}
TWICE = {**ranked(scored=False), "im3": ["c1", "c2", "c1"]}
BAD = [
    ("row 2, column 3 .from 0.", {"preds": NAN}),
    ("not-finite", {"preds": ENDLESS}),
    ("transposed-names", {"preds": S.T}),
    ("wrong-count", {"preds": S[:4]}),
    ("wrong-count", {"preds": S[:, :29]}),
    ("wrong-count", {"gallery": TEXTS[:29]}),
    ("outside-gallery", {"gts": OUTSIDE}),
    ("duplicate", {"preds": TWICE}),
    ("duplicate-at", {"gallery": [*TEXTS[:29], "c0"]}),
    ("not-in-option", {"preds": {**ranked(), "im0": {"x": 1.0, "y": 2.0}}}),
    ("preds is missing 1 of the ids: 'im7'", {"gts": {**POSITIVES, "im7": ["c0"]}}),
    ("the ground truth is a matrix of scores", {"gts": S}),
    ("unnamed-rows", {"queries": None}),
    ("not-in-option", {"preds": {**ranked(), "im9": {"c0": 1.0}}}),
    ("other-names", {"preds": pd.DataFrame(S, index=IMAGES[::-1], columns=TEXTS)}),
    ("not-applicable", {"preds": ranked(), "direction": "both"}),
    ("not-applicable", {"direction": "i2t", "reverse_positives": {"c0": ["im0"]}}),
    ("bad-option", {"folds": 4}),
    ("folds.*1", {"folds": 1}),
    ("bad-choice", {"direction": "up"}),
    ("bad-choice", {"ties": "best"}),
    (
        "outside-gallery",
        {"gts": {c: [q] for q, some in POSITIVES.items() for c in some}},
    ),
    ("unknown-name", {"measures": "R@5"}),
    ("not-applicable", {"weights": dict.fromkeys(IMAGES, 1.0), "direction": "both"}),
]


@pytest.mark.parametrize(("code", "given"), BAD)
def test_bad_input(code, given):
    with refused(code):
        score(**given)


def test_bad_input_by_position():
    numbered = {str(i): list(range(EACH * i, EACH * (i + 1))) for i in range(N)}
    with refused("transposed-positives"):
        score(S.T, numbered, queries=None, gallery=None)
    with refused("transposed-names"):
        score(S, [[i // EACH] for i in range(M)], queries=None, gallery=None)


def test_positives_outside_the_gallery_are_never_found_and_counted():
    table = score(gts=OUTSIDE, missing="skip", measures="Recall@10 R-Precision")
    assert "positives-outside" in codes(table)
    line = oracle.ranking(S[0].tolist(), {0})
    assert table["Recall@10"].items[0] == (line.index(0) < 10) / 2
    assert table.worst(6)[0]["ranks"][-1] in (None, *range(1, 31))


def test_a_large_memory_map_is_read_in_blocks(tmp_path):
    import tracemalloc

    # 320 MB, nearly all of it a hole
    path, rows, columns = (
        tmp_path / "large.npy",
        2000,
        40_000,
    )
    table = open_memmap(path, "w+", np.float32, (rows, columns))
    table[7, 3] = table[1999, 39_999] = 1
    table.flush()
    del table
    gts = {"7": [3, 5], "1999": [39_999]}
    tracemalloc.start()
    found = score(
        path, gts, queries=None, gallery=None, missing="skip", measures="HitRate@1 MedR"
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.to_dict() == {"HitRate@1": 1.0, "MedR": 1.0}
    assert peak < 100e6


# What is said


def test_worst_items_show_ranks_and_what_came_first():
    record = score(measures="MRR").worst(1)[0]
    row = IMAGES.index(record["id"])
    order = oracle.ranking(S[row].tolist(), set())
    assert record["first"] == [TEXTS[j] for j in order[:5]]
    own = [TEXTS.index(name) for name in record["positives"]]
    assert record["ranks"] == sorted(order.index(j) + 1 for j in own)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (S, {"shape": [N, M], "dtype": "float64", "items": N}),
        (POSITIVES, {"candidates": M, "distinct": M, "zeros": None}),
        (GRADED, {"candidates": M + N, "zeros": N}),
    ],
)
def test_validate_says_shapes_and_positives(data, facts):
    record = semmetrics.validate(data, task="retrieval")
    assert {name: record[name] for name in facts} == facts
    assert record["odd"] == []
    odd = semmetrics.validate(np.ones((3, 4)), task="retrieval")["odd"]
    assert "ties affect ranks" in odd[0]


# Counting


@pytest.mark.parametrize("wide", [3, 5000])
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int64, np.bool_]
)
def test_counts_equal_plain_comparison(dtype, wide, monkeypatch):
    monkeypatch.setattr("semmetrics.core.ranks._ROWS_PER_BLOCK", 2)
    monkeypatch.setattr("semmetrics.core.ranks._COLUMNS_PER_TILE", 3)
    rng = np.random.default_rng(wide)
    table = rng.integers(0, 2 if dtype == np.bool_ else 4, (5, wide)).astype(dtype)
    widths = np.array([2, 0, 3, 1, 2])
    codes = np.concatenate([rng.permutation(wide)[:w] for w in widths]).astype(np.int32)
    indptr = offsets(widths)
    for found in (
        count_nearer(table, indptr, codes),
        count_down(np.ascontiguousarray(table.T), indptr, codes),
    ):
        for row in range(5):
            for place in range(indptr[row], indptr[row + 1]):
                line, column = table[row], codes[place]
                assert found.nearer[place] == sum(
                    v > line[column] for v in line.tolist()
                )
                same = [
                    j
                    for j, v in enumerate(line.tolist())
                    if v == line[column] and j != column
                ]
                assert found.tied[place] == len(same)
                assert found.tied_before[place] == sum(j < column for j in same)
    firsts = first_places(table.astype(np.float64), 3)
    for row in range(5):
        assert firsts[row].tolist() == oracle.ranking(table[row].tolist(), set())[:3]


@pytest.mark.parametrize("weight", [1, 0.1, 0.3, 0.7, 1e-9, 1 / 3, 12345.678])
def test_equal_weights_leave_the_median_as_it_is(weight):
    rng = np.random.default_rng(1)
    for n in range(1, 40):
        ranks = rng.integers(1, 3 * n + 1, n)
        # as resamples have them, and none at all
        counts = np.vstack([np.ones(n), rng.integers(0, 5, (20, n)), np.zeros(n)])
        found = median_rank(ranks, weight * counts)
        expected = [
            oracle.median_rank(np.repeat(ranks, row.astype(int))) for row in counts
        ]
        np.testing.assert_array_equal(found, expected)


def test_the_median_of_queries_that_find_nothing_is_undefined():
    lists = {"a": ["x"], "b": ["y", "x"], "c": ["z"]}
    lost = semmetrics.score(
        lists, {name: ["w"] for name in "abc"}, measures="MedR", task="retrieval"
    )
    assert np.isnan(lost[0].value)


def test_the_median_says_which_queries_have_no_positive_or_no_rank():
    lists, truth = (
        {"a": ["x"], "b": ["x"], "c": ["x"]},
        {"a": ["x"], "b": [], "c": ["y"]},
    )
    skip, strict = semmetrics.score(
        lists, truth, measures="MedR MedR(no_reference=nan)", task="retrieval"
    ).scores
    assert skip.undefined == {"no_reference": 1}
    assert np.isnan(strict.value)
    assert np.isnan(skip.items).tolist() == [False, True, True]


def test_a_square_matrix_that_is_probably_turned_is_suspected():
    rng = np.random.default_rng(0)
    relation = {i: [(i + 1) % 40] for i in range(40)}
    table = rng.normal(size=(40, 40))
    for i in relation:
        table[i, (i + 1) % 40] += 4
    options = {"queries": None, "gallery": None}
    gts = [[(i + 1) % 40] for i in range(40)]
    assert "transposed" not in codes(score(table, gts, **options))
    assert "transposed" in codes(score(table.T.copy(), gts, **options))
    assert "transposed" not in codes(score(table, [[i] for i in range(40)], **options))


@pytest.mark.parametrize("name", RUNS)
def test_every_format_of_a_run_gives_the_same_values(name, tmp_path):
    assert score(RUNS[name](tmp_path)).to_dict() == WHOLE


@pytest.mark.parametrize("differing", [0, 1, 2])
def test_plausible_matches_are_those_of_a_loop(differing):
    rng = np.random.default_rng(3)
    classes = {
        str(i): [f"c{n}" for n in np.flatnonzero(rng.random(4) < 0.4)]
        for i in range(20)
    }
    captions = {str(i): [f"{i}-{n}" for n in range(2)] for i in range(3, 23)}
    found = plausible_positives(as_labels(classes), as_candidates(captions), differing)
    images = [i for i in classes if classes[i] and i in captions]
    assert found == {
        i: [
            name
            for j in images
            if len({*classes[i]} ^ {*classes[j]}) <= differing
            for name in captions[j]
        ]
        for i in images
    }
    with refused("nothing-given"):
        plausible_positives(as_labels({"x": ["a"]}), as_candidates(captions))
