"""Measures of similarities phi, and of graded judgements, as ``score`` computes them."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from refusals import facts, refused
from scipy import sparse

import semmetrics
from semmetrics.metrics.semantic_retrieval import NCS, SR

# ---- phi ----------------------------------------------------------------------------

RNG = np.random.default_rng(5)
IMAGES = [f"i{image}" for image in range(12)]
TEXTS = [f"c{text}" for text in range(60)]
SIMILARITIES = RNG.random((12, 60), np.float32)
PHI = np.maximum(0, RNG.normal(size=(12, 60))).round(1)
POSITIVES = {}
for image, texts in zip(IMAGES, np.reshape(TEXTS, (12, 5)), strict=True):
    POSITIVES[image] = texts.tolist()

MEASURES = [
    "NCS@10",
    "NCS(ground_truth=left-out)@5",
    "NCS(extended=k)@5",
    "NCS(extended=7)@5",
    "SR(m=4)@5",
    "SR(m=4,variant=weighted)@10",
    "SR(m=4,similar=images,depth=6)@5",
    "SR(m=2,similar=images,depth=6)@5",
    "SR(m=4,similar=images,depth=2,ground_truth=left-out)@5",
    "nDCG(gain=exponential)@10",
    "nDCG(ground_truth=left-out)@5",
]


def score_phi(measures, sims=SIMILARITIES, positives=POSITIVES, **options):
    given = {"task": "retrieval", "direction": "i2t", "phi": PHI}
    given |= {"queries": IMAGES, "gallery": TEXTS, "measures": measures, **options}
    return semmetrics.score(sims, positives, **given)


def save_phi(folder, phi=PHI, images=IMAGES, captions=TEXTS):
    """Save a matrix, with its ids in a second file, and return its path."""
    path = folder / "phi.npy"
    np.save(path, phi)
    ids = json.dumps({"images": images, "captions": captions})
    (folder / "phi.npy.ids.json").write_text(ids, encoding="utf-8")
    return path


def values(table):
    return [score.value for score in table]


MATRIX_VALUES = values(score_phi(MEASURES))


def ranked_lists(rows):
    """Return the texts of some images by falling similarity."""
    lists = {}
    for row in rows:
        order = np.argsort(-SIMILARITIES[row])
        lists[IMAGES[row]] = [TEXTS[column] for column in order]
    return lists


def test_ranked_lists_have_the_values_of_their_matrix():
    lists = ranked_lists(range(12))

    assert values(score_phi(MEASURES, lists)) == pytest.approx(MATRIX_VALUES)
    with refused("unnamed-phi"):
        score_phi("NCS@5", lists, gallery=None)


@pytest.mark.parametrize("form", ["frame", "file with ids"])
def test_phi_is_joined_by_its_ids(form, tmp_path):
    shuffled = pd.DataFrame(PHI, IMAGES, TEXTS)
    shuffled = shuffled.sample(frac=1, random_state=0)
    shuffled = shuffled.sample(frac=1, axis=1, random_state=0)
    phi = shuffled
    if form == "file with ids":
        captions = list(shuffled.columns)
        phi = save_phi(tmp_path, shuffled, list(shuffled.index), captions)

    table = score_phi(MEASURES, phi=phi)

    assert values(table) == pytest.approx(MATRIX_VALUES)


def test_queries_without_a_row_of_phi_are_an_error():
    phi = pd.DataFrame(PHI[1:], IMAGES[1:], TEXTS)

    with refused("phi-lacks"):
        score_phi("NCS@5", phi=phi)


@pytest.mark.parametrize("folds", [None, 3])
def test_a_query_without_a_prediction_needs_no_row_of_phi(folds, tmp_path):
    positives = {"new": ["c1"], **POSITIVES}
    options = {"missing": "empty", "folds": folds, "phi": save_phi(tmp_path)}

    items = score_phi("NCS@5", positives=positives, **options)[0].items

    expected = score_phi("NCS@5", folds=folds)[0].items
    assert items.tolist() == [0.0, *expected.tolist()]


def test_measures_have_the_same_values_alone_and_together():
    for measure, value in zip(MEASURES, MATRIX_VALUES, strict=True):
        assert values(score_phi(measure)) == [value]


def test_batches_of_lists_use_their_rows_of_phi():
    options = {"queries": IMAGES, "gallery": TEXTS, "phi": PHI}
    scorer = semmetrics.Scorer(task="retrieval", measures="NCS@5", **options)
    for rows in np.array_split(RNG.permutation(12), 3):
        preds = ranked_lists(rows)
        scorer.update(preds, {image: POSITIVES[image] for image in preds})

    assert values(scorer.compute()) == values(score_phi("NCS@5"))


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_a_fold_is_scored_with_its_part_of_phi(direction):
    columns_of_images = RNG.permutation(60).reshape(12, 5)
    options = {"measures": MEASURES, "direction": direction}
    positives = {}
    for image, columns in zip(IMAGES, columns_of_images, strict=True):
        positives[image] = [TEXTS[column] for column in columns]

    whole = score_phi(positives=positives, folds=3, **options)

    values_of_folds = []
    for rows in np.split(np.arange(12), 3):
        columns = np.sort(columns_of_images[rows], axis=None)
        cells = np.ix_(rows, columns)
        images = [IMAGES[row] for row in rows]
        fold = score_phi(
            sims=SIMILARITIES[cells],
            positives={image: positives[image] for image in images},
            phi=PHI[cells],
            queries=images,
            gallery=[TEXTS[column] for column in columns],
            **options,
        )
        values_of_folds.append(values(fold))
    means = np.mean(values_of_folds, axis=0)
    assert_allclose(values(whole), means, rtol=1e-12)


def test_large_integers_are_ranked_exactly():
    similarities = np.array([[2**53, 2**53 + 1]])

    table = semmetrics.score(
        similarities, [[1]], measures="HitRate@1 NCS@1", phi=[[0.0, 1.0]]
    )

    assert values(table) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("measure", "phi"), [("nDCG(gain=exponential)@2", 2000.0), ("NCS@2", 1e308)]
)
def test_sums_beyond_the_largest_float_are_errors(measure, phi):
    phi = np.full((2, 2), phi)

    with refused("infinite-sum"):
        semmetrics.score(np.eye(2), [[0], [1]], measures=measure, phi=phi)


@pytest.mark.parametrize(
    ("measure", "options", "code"),
    [
        ("NCS@5", {"phi": None}, "needs-option"),
        ("NCS(phi=SPICE)@5", {}, "phi-without-captions"),
        ("NCS(phi=other)@5", {}, "unknown-name"),
        ("NCS@5", {"phi": {"a": PHI, "b": PHI}}, "several-phi"),
        ("NCS@5", {"phi": PHI.T}, "wrong-shape"),
        ("NCS@5", {"phi": PHI[:, :9]}, "wrong-shape"),
        ("NCS@5", {"phi": PHI[1:], "sims": POSITIVES}, "wrong-shape"),
        ("NCS@5", {"phi": {"default": POSITIVES}}, "wrong-format"),
        ("NCS@5", {"phi": sparse.csr_array(PHI)}, "wrong-format"),
        ("NCS@5", {"phi": np.where(PHI > 2, np.nan, PHI)}, "not-finite"),
        ("SR@5", {}, "missing-option"),
        ("NCS", {}, "no-cutoff"),
    ],
)
def test_invalid_options_of_phi_are_errors(measure, options, code):
    with refused(code):
        score_phi(measure, **options)


@pytest.mark.parametrize(
    ("images", "code"),
    [(IMAGES[1:], "wrong-count"), ([*IMAGES[1:], "i1"], "duplicate-at")],
)
def test_ids_that_do_not_fit_phi_are_an_error(images, code, tmp_path):
    path = save_phi(tmp_path, images=images)

    with refused(code):
        score_phi("NCS@5", phi=path)


def test_numbers_of_items_must_be_positive():
    with refused("bad-option", value=0):
        SR(m=0, k=5)
    for extended in ("0", "9" * 5000):
        with refused("bad-option", name="extended"):
            NCS(extended=extended, k=5)


@pytest.mark.parametrize("ties", ["position", "optimistic", "pessimistic"])
@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_torch_ranks_embeddings_as_numpy_does(ties, folds, dtype):
    pytest.importorskip("torch")
    queries = RNG.integers(-1, 2, (12, 4))
    gallery = RNG.integers(-1, 2, (60, 4))
    embeddings = {
        "queries_embeddings": queries.astype(dtype),
        "gallery_embeddings": gallery.astype(dtype),
        "similarity": "dot",
    }
    measures = [*MEASURES, "HitRate@1", "Recall@5", "MeanR", "mAP@R"]
    options = {"direction": "both", "ties": ties, "folds": folds}

    with_numpy = score_phi(measures, None, **embeddings, **options)
    with_torch = score_phi(measures, None, device="torch:cpu", **embeddings, **options)

    assert with_torch.to_dict() == with_numpy.to_dict()
    expected = score_phi(measures, queries @ gallery.T, **options)
    assert with_torch.to_dict() == expected.to_dict()


# ---- graded judgements --------------------------------------------------------------

DOCUMENTS = [f"d{document}" for document in range(25)]
QUERIES = [f"q{query}" for query in range(9)]
GRADES = {}
RUN = {}
for query in QUERIES:
    judged = RNG.permutation(DOCUMENTS)[:8].tolist()
    GRADES[query] = dict(zip(judged, [3, 3, 2, 1, 1, 0, 0, -1], strict=True))
    RUN[query] = RNG.permutation(DOCUMENTS)[:12].tolist()


def score_grades(measures, grades=GRADES, run=RUN, **options):
    options = {"task": "retrieval", **options}
    return semmetrics.score(run, grades, measures=measures, **options)


def binary_judgements(least_grade):
    """Return the documents of each query that have at least a grade."""
    judgements = {}
    for query, grades in GRADES.items():
        judgements[query] = []
        for document, grade in grades.items():
            if grade >= least_grade:
                judgements[query].append(document)
    return judgements


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_ndcg_of_grades_equals_a_loop(gain, k):
    score = score_grades(f"nDCG(gain={gain})@{k}")[0]

    def discounted_sum(grades):
        total = 0.0
        for rank, grade in enumerate(grades[:k], start=1):
            gain_of_grade = max(grade, 0)
            if gain == "exponential":
                gain_of_grade = 2**gain_of_grade - 1
            total += gain_of_grade / math.log2(rank + 1)
        return total

    for query, value in zip(score.ids, score.items, strict=True):
        grades = GRADES[query]
        retrieved = [grades.get(document, 0) for document in RUN[query]]
        ideal = sorted(grades.values(), reverse=True)
        expected = discounted_sum(retrieved) / discounted_sum(ideal)
        assert value == pytest.approx(expected)


def test_positives_without_grades_have_gain_1():
    measures = "nDCG@3 nDCG nDCG(gain=exponential)@5"
    positives = binary_judgements(1)
    ones = {query: dict.fromkeys(names, 1) for query, names in positives.items()}

    table = score_grades(measures, positives)

    with_ones = score_grades(measures, ones)
    assert values(table) == values(with_ones)
    assert table[0].signature == with_ones[0].signature
    assert table[0].signature != score_grades(measures)[0].signature


@pytest.mark.parametrize("reverse", [None, [["0"], ["1"]]])
def test_positives_of_both_directions_have_gain_1(reverse):
    options = {"direction": "both", "reverse_positives": reverse}
    run = [[0.9, 0.1], [0.2, 0.8]]

    table = score_grades("nDCG@2", [["0"], ["1"]], run, **options)

    assert values(table) == [1, 1]


def test_grades_are_transposed_with_the_matrix():
    grades = {"q0": {"d0": 3, "d1": 1}, "q1": {"d1": 2}}
    transposed = {"d0": {"q0": 3}, "d1": {"q0": 1, "q1": 2}}
    matrix = RNG.random((2, 2))
    queries = {"queries": ["q0", "q1"], "gallery": ["d0", "d1"]}
    documents = {"queries": ["d0", "d1"], "gallery": ["q0", "q1"]}

    down = score_grades("nDCG@1", grades, matrix, direction="t2i", **queries)[0]
    across = score_grades("nDCG@1", transposed, matrix.T, **documents)[0]

    assert down.items.tolist() == across.items.tolist()


def test_a_sum_of_gains_beyond_the_largest_float_is_an_error():
    grades = {"q": {"a": 2000, "b": 1500}}

    with refused("infinite-sum"):
        score_grades("nDCG(gain=exponential)@2", grades, {"q": ["a", "b"]})


def test_two_grades_of_a_document_are_an_error():
    with refused("duplicate"):
        score_grades("nDCG@2", {"q": [("a", 0), ("a", 2)]}, {"q": ["a"]})


# ---- levels of relevance ------------------------------------------------------------

# Names of measures, and their names in ir_measures
IR_NAMES = {
    "MAP(rel={})": "AP(rel={})",
    "MAP(rel={})@5": "AP(rel={})@5",
    "MRR(rel={})": "RR(rel={})",
    "MRR(rel={})@3": "RR(rel={})@3",
    "Recall(rel={})@4": "R(rel={})@4",
    "Precision(rel={})@4": "P(rel={})@4",
    "HitRate(rel={})@3": "Success(rel={})@3",
    "R-Precision(rel={})": "Rprec(rel={})",
    "nDCG@5": "nDCG@5",
}


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_measures_at_a_level_of_relevance_equal_ir_measures(rel):
    ir = pytest.importorskip("ir_measures")
    judgements = []
    for query, grades in GRADES.items():
        for document, grade in grades.items():
            judgements.append(ir.Qrel(query, document, max(0, grade)))
    run = []
    for query, documents in RUN.items():
        for rank, document in enumerate(documents):
            run.append(ir.ScoredDoc(query, document, -rank))

    table = score_grades([name.format(rel) for name in IR_NAMES])

    ir_names = [name.format(rel) for name in IR_NAMES.values()]
    measures = [ir.parse_measure(name) for name in ir_names]
    expected = ir.calc_aggregate(measures, judgements, run)
    for score, measure in zip(table, measures, strict=True):
        assert score.value == pytest.approx(expected[measure], abs=1e-9), score.heading


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_a_level_of_relevance_ignores_lower_grades(rel):
    tied_scores = np.arange(12) // 2
    run = {}
    for query, documents in RUN.items():
        run[query] = dict(zip(documents, tied_scores.tolist(), strict=True))
    levels = f"mAP@R(rel={rel}) MedR(rel={rel}) MeanR(undefined=skip,rel={rel})"

    table = score_grades(levels, run=run, ties="pessimistic")

    measures = "mAP@R MedR MeanR(undefined=skip)"
    binary = score_grades(measures, binary_judgements(rel), run, ties="pessimistic")
    assert values(table) == values(binary)
    assert f"|rel:{rel}|" in table[0].signature
    assert "rel:" not in binary[0].signature


def test_a_level_above_1_needs_grades():
    data = {"q": ["b"]}, {"q": ["a", "b"]}

    assert values(score_grades("MRR(rel=1)", *data)) == [0.5]
    with refused("no-grades", level=2):
        score_grades("MRR(rel=2)", *data)


def test_a_query_without_a_document_of_the_level_is_undefined():
    (score,) = score_grades("MRR(rel=2)", {"q": {"b": 1}}, {"q": ["a", "b"]})

    assert score.undefined == {"no_reference": 1}


@pytest.mark.parametrize(("measure", "counts"), [("MRR", []), ("MRR(rel=2)", [1])])
def test_a_note_counts_ties_that_decide_a_rank_at_the_level(measure, counts):
    run = {"q": [("a", 0.5), ("b", 0.5)]}

    table = score_grades(measure, {"q": {"a": 1, "b": 2}}, run)

    assert [fact.n for fact in facts(table, "tied-ranks")] == counts
