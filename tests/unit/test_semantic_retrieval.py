"""NCS, semantic recall and nDCG of matrices phi, compared with their definitions."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import semantic_retrieval as oracle
from refusals import facts, refused
from scipy import sparse
from stand_ins import Sliced

import semmetrics
from semmetrics import metrics
from semmetrics.core.ragged import offsets
from semmetrics.metrics.phi_scores import tied_queries


def make_relation(lists):
    sizes = np.array([len(row) for row in lists], int)
    return offsets(sizes), np.concatenate([*lists, []]).astype(int)


def row_of(relation, number):
    indptr, codes = relation
    return codes[indptr[number] : indptr[number + 1]].tolist()


# ---- comparison with the definitions ------------------------------------------------


class Case:
    """Random similarities and phi, and items that are left out, query by query."""

    def __init__(self, seed, queries, leaves_out):
        rng = np.random.default_rng(seed)
        n_queries, width = rng.integers(1, 16, 2).tolist()
        self.sims, self.phi = rng.random((2, n_queries, width))
        if seed % 2:
            self.sims = np.floor(self.sims * 4)
            self.phi = np.floor(self.phi * 4)
        self.phi[rng.random(n_queries) < 0.2] = 0
        self.out = [[] for _ in range(n_queries)]
        self.options = {"queries": queries}
        if leaves_out:
            for row in self.out:
                n_out = rng.integers(0, min(4, width + 1))
                row += np.sort(rng.permutation(width)[:n_out]).tolist()
            self.options["leave_out"] = make_relation(self.out)
        self.given_sims, self.given_phi = self.sims, self.phi
        if queries == "columns":
            self.given_sims, self.given_phi = self.sims.T, self.phi.T
        self.queries = range(n_queries)
        self.top = metrics.top_items(self.given_sims, 20, queries=queries)

    def retrieved(self, query):
        return [item for item in self.top[query].tolist() if item >= 0]


def with_cases(test):
    """Run a test with some of 40 cases."""
    for name, values in (
        ("seed", range(10)),
        ("queries", ["rows", "columns"]),
        ("leaves_out", [False, True]),
    ):
        test = pytest.mark.parametrize(name, values)(test)
    return pytest.mark.sampled(30)(test)


@with_cases
def test_top_items_and_most_similar_items_equal_sorting(seed, queries, leaves_out):
    case = Case(seed, queries, leaves_out)

    top = metrics.top_items(case.given_sims, 3, **case.options)
    best = metrics.most_similar(case.given_phi, 3, **case.options)

    for query in case.queries:
        nearest = oracle.ranking(case.sims[query], 3, case.out[query])
        similar = oracle.ranking(case.phi[query], 3, case.out[query])
        padding = [-1] * (top.shape[1] - len(nearest))
        assert top[query].tolist() == nearest + padding
        assert best.places[query].tolist() == similar + padding
        values = best.values[query]
        assert_array_equal(values[: len(similar)], case.phi[query][similar])
        assert not values[len(similar) :].any()
        assert best.sizes[query] == case.phi.shape[1] - len(case.out[query])


@with_cases
@pytest.mark.parametrize(
    ("function", "options", "oracle_function", "arguments"),
    [
        (metrics.ncs, {}, oracle.ncs, ()),
        (metrics.ncs, {"extended": "k"}, oracle.equation_5, (5,)),
        (metrics.ncs, {"extended": 3}, oracle.equation_5, (3,)),
        (metrics.ndcg, {}, oracle.ndcg, ("linear", "log2")),
        (metrics.ndcg, {"gain": "exponential"}, oracle.ndcg, ("exponential", "log2")),
        (
            metrics.ndcg,
            {"discount": "jarvelin2002"},
            oracle.ndcg,
            ("linear", "jarvelin2002"),
        ),
    ],
)
def test_ncs_and_ndcg_equal_their_definitions(
    seed, queries, leaves_out, function, options, oracle_function, arguments
):
    case = Case(seed, queries, leaves_out)

    values = function(case.top, case.given_phi, (1, 5), **options, **case.options)

    for query in case.queries:
        data = case.retrieved(query), case.phi[query]
        expected = oracle_function(*data, 5, *arguments, case.out[query])
        assert_allclose(values[query, 1], expected, rtol=1e-12)


@with_cases
@pytest.mark.parametrize("variant", ["hard", "soft", "weighted", "hit"])
@pytest.mark.parametrize("m", [1, 3])
def test_semantic_recall_equals_its_definition(seed, queries, leaves_out, variant, m):
    case = Case(seed, queries, leaves_out)
    best = metrics.most_similar(case.given_phi, m, queries=queries)
    relevant = best.relation(m)

    values = metrics.semantic_recall(
        case.top, relevant, 1, variant=variant, phi=case.given_phi, **case.options
    )

    for query in case.queries:
        data = case.retrieved(query), row_of(relevant, query)
        expected = oracle.semantic_recall(
            *data, 1, variant, case.phi[query], case.out[query]
        )
        assert_allclose(values[query, 0], expected, rtol=1e-12)


def test_hard_semantic_recall_needs_no_phi():
    top = np.array([[0, 1, 2], [1, 0, 2]])
    relevant = make_relation([[1], [0, 2]])

    assert metrics.semantic_recall(top, relevant, 2).tolist() == [[1.0], [0.5]]


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("n_images", [1, 2, 9])
@pytest.mark.parametrize(("m", "depth"), [(1, 2), (3, 4)])
def test_similar_images_equal_their_definition(itself, n_images, m, depth):
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 4, n_images)
    captions = offsets(sizes), rng.permutation(sizes.sum())
    lists = [row_of(captions, image) for image in range(n_images)]
    phi = rng.integers(0, 3, (n_images, max(1, sizes.sum()))) / 2.0

    similar = metrics.similar_images(phi, captions, m, depth=depth, itself=itself)
    of_images = metrics.captions_of_images(similar, captions)
    of_captions = metrics.images_of_captions(similar, captions, phi.shape[1])

    expected = oracle.similar_images(phi, lists, m, depth, itself)
    for image, others in enumerate(expected):
        assert similar[image][similar[image] >= 0].tolist() == others
        own_captions = [caption for other in others for caption in lists[other]]
        assert row_of(of_images, image) == own_captions
        for caption in lists[image]:
            assert row_of(of_captions, caption) == sorted(others)


# ---- forms of phi -------------------------------------------------------------------


def save_and_map(phi, folder):
    np.save(folder / "phi.npy", phi)
    return np.load(folder / "phi.npy", mmap_mode="r")


@pytest.mark.parametrize("queries", ["rows", "columns"])
@pytest.mark.parametrize(
    "convert",
    [
        save_and_map,
        lambda phi, folder: np.asfortranarray(phi),
        lambda phi, folder: Sliced(phi),
        lambda phi, folder: sparse.coo_array(phi),
    ],
    ids=["memory map", "fortran", "slices only", "sparse"],
)
def test_every_form_of_phi_and_any_part_of_it_gives_the_same_values(
    queries, convert, tmp_path
):
    rng = np.random.default_rng(3)
    phi = rng.random((30, 80), np.float32)
    n_queries = 80 if queries == "columns" else 30
    top = metrics.top_items(rng.random((30, 80)), 11, queries=queries)
    out = np.zeros((n_queries, 1), int)
    best = metrics.most_similar(phi, 10, queries=queries)

    def compute(phi, rows):
        shared = {"queries": queries, "rows": rows}
        shared["leave_out"] = make_relation(out[rows].tolist())
        relevant = best.part(rows).relation(3)
        ncs = metrics.ncs(top[rows], phi, **shared)
        ndcg = metrics.ndcg(top[rows], phi, **shared)
        recall = metrics.semantic_recall(
            top[rows], relevant, variant="weighted", phi=phi, **shared
        )
        return np.hstack([ncs, ndcg, recall])

    every = np.arange(n_queries)
    expected = compute(phi, every)
    converted = convert(phi, tmp_path)

    assert not np.isnan(expected).any()
    for rows in (every, every[7:29], rng.permutation(every)[:7]):
        assert_array_equal(compute(converted, rows), expected[rows])


def test_tensors_have_the_values_of_arrays(tensor):
    rng = np.random.default_rng(6)
    phi, sims = rng.random((2, 5, 20))
    own = np.arange(6), np.arange(5)
    own_tensors = tensor(own[0]), tensor(own[1])

    top = metrics.top_items(tensor(sims), 10)
    ncs = metrics.ncs(tensor(top), tensor(phi), 5, leave_out=own_tensors)
    recall = metrics.semantic_recall(tensor(top), own_tensors)

    assert_array_equal(top, metrics.top_items(sims, 10))
    assert_array_equal(ncs, metrics.ncs(top, phi, 5, leave_out=own))
    assert_array_equal(recall, metrics.semantic_recall(top, own))


def test_ndcg_of_integer_phi_equals_ir_measures():
    ir = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(4)
    phi = rng.integers(0, 5, (30, 40))
    sims = rng.random((30, 40))

    ndcg = metrics.ndcg(metrics.top_items(sims, 10), phi.astype(float), 10)

    judgements = []
    run = []
    for query, item in np.ndindex(phi.shape):
        names = str(query), str(item)
        judgements.append(ir.Qrel(*names, int(phi[query, item])))
        run.append(ir.ScoredDoc(*names, float(sims[query, item])))
    for result in ir.iter_calc([ir.nDCG @ 10], judgements, run):
        value = ndcg[int(result.query_id), 0]
        assert value == pytest.approx(result.value, rel=1e-12)


# ---- undefined values and errors ----------------------------------------------------


def test_queries_without_a_similar_item_are_undefined():
    phi = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    top = np.array([[0, 1, 2], [1, 0, 2]])

    ncs = metrics.ncs(top, phi, 2)

    assert np.isnan(ncs).tolist() == [[True], [False]]
    assert np.isnan(metrics.ndcg(top, phi, 2)).tolist() == [[True], [False]]
    assert metrics.nsum(ncs, [[0.25]]) == pytest.approx(50 + 25)
    assert metrics.nsum(ncs, [[0.25]], undefined=math.nan) == pytest.approx(100 + 25)


def test_a_fold_without_positives_has_an_empty_gallery():
    (score,) = semmetrics.score(
        np.array([[0.1, 0.2], [0.3, 0.1]]),
        [[0, 1], []],
        measures="NCS(ground_truth=left-out)@1",
        phi=np.array([[0.5, 0.1], [0.3, 0.2]]),
        folds=2,
    )

    assert score.value == 0


TOP = [[0, 1, 2]]
FIRST = "query 0 (from 0)"


@pytest.mark.parametrize(
    ("top", "options", "code", "where"),
    [
        ([[0, 1]], {}, "too-few-ranks", FIRST),
        ([[0, 0, 1]], {}, "duplicate", f"top, {FIRST}"),
        ([[0, 9, 1]], {}, "not-in-gallery", f"top, {FIRST}"),
        ([[0, -1, 1]], {}, "item-after-end", f"top, {FIRST}"),
        ([[0.0, 1.0, 2.0]], {}, "wrong-dtype", ""),
        (np.ma.masked_equal(TOP, 1), {}, "masked", "top"),
        (TOP, {"rows": [2]}, "out-of-range", "rows, row 0 (from 0)"),
        (TOP, {"rows": [0, 1]}, "wrong-count", "rows"),
        (TOP, {"queries": "images"}, "bad-choice", ""),
        (TOP, {"k": ()}, "bad-option", ""),
        (TOP, {"k": (1, 2.5)}, "bad-option", ""),
        (TOP, {"extended": 0}, "bad-option", ""),
        (TOP, {"leave_out": ([0, 1], [4])}, "not-in-gallery", f"leave_out, {FIRST}"),
        (TOP, {"leave_out": ([0, 2], [1])}, "wrong-offsets", "leave_out"),
    ],
)
def test_invalid_rankings_and_options_are_errors(top, options, code, where):
    with refused(code, where):
        metrics.ncs(top, np.ones((2, 4)), **{"k": 3, **options})


def test_too_few_most_similar_items_are_an_error():
    phi = np.ones((2, 9))
    top = np.array([[0, 1, 2], [3, 4, 5]])
    best = metrics.most_similar(phi, 2)

    with refused("too-few-similar", found=2, wanted=3):
        metrics.ncs(top, phi, 3, best=best)
    with refused("other-items", name="best"):
        metrics.ncs(top, phi, 2, best=best.part(slice(1)))


def test_invalid_options_of_recall_and_ndcg_are_errors():
    relevant = make_relation([[0]])

    with refused("needs-option", name="phi"):
        metrics.semantic_recall(TOP, relevant, variant="soft", k=1)
    with refused("bad-choice", name="variant"):
        metrics.semantic_recall(TOP, relevant, variant="firm", k=1)
    with refused("bad-choice", name="gain"):
        metrics.ndcg(TOP, np.ones((1, 9)), 3, gain="log")
    phi = np.array([[0.5, np.nan, 0.5]])
    best = metrics.most_similar(np.ones((1, 3)), 2)
    with refused("not-a-number", "row 0, column 1 (from 0)"):
        metrics.ncs(TOP, phi, 2, best=best)


# ---- ties of phi --------------------------------------------------------------------

COUNTED = {"hard": "number", "weighted": "phi", "soft": "phi", "hit": "any"}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("variant", COUNTED)
@pytest.mark.parametrize("queries", ["rows", "columns"])
@pytest.mark.parametrize("leaves_out", [False, True])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 2), (2, 3), (3, 2), (4, 1), (5, 2)])
def test_a_query_is_tied_if_another_order_of_the_gallery_changes_its_value(
    variant, queries, leaves_out, m, k
):
    rng = np.random.default_rng(11)
    phi = rng.choice([0.0, 0.2, 0.4], (12, 5))
    sims = rng.random((12, 5))
    out = rng.integers(0, 5, 12)

    def value_and_ties(order):
        options = {"queries": queries, "phi": phi[:, order]}
        ordered_sims = sims[:, order]
        if queries == "columns":
            options["phi"] = options["phi"].T
            ordered_sims = ordered_sims.T
        if leaves_out:
            places = np.argsort(order)[out]
            options["leave_out"] = make_relation(places[:, None].tolist())
        top = metrics.top_items(ordered_sims, 5, queries=queries)
        relevant = metrics.most_similar(k=m, **options).relation(m)
        value = metrics.semantic_recall(top, relevant, k, variant=variant, **options)
        ties = tied_queries(top, k=k, m=m, counts=COUNTED[variant], **options)
        return value[:, 0], ties

    values, ties = value_and_ties([0, 1, 2, 3, 4])

    of_orders = [value_and_ties(order)[0] for order in permutations(range(5))]
    changes = np.ptp(of_orders, axis=0) > 1e-12
    is_defined = ~np.isnan(values)
    assert_array_equal(ties[is_defined], changes[is_defined])


TIED_PHI = [[0.9, 0.5, 0.5, 0.5], [0.1, 0.8, 0.8, 0.2], [0.3, 0.3, 0.3, 0.9]]
EQUAL_SUMS = [[0.5, 0.2, 0.2, 0], [0.2, 0.5, 0.2, 0], [0.2, 0.2, 0.5, 0]]


@pytest.mark.parametrize(
    ("phi", "measures", "tied"),
    [
        (TIED_PHI, "SR(m=2)@2 NCS(extended=2)@1", ("SR(m=2)@2", "NCS(extended=2)@1")),
        (TIED_PHI, "NCS@2 nDCG@2 SR(m=4)@2", None),
        (np.arange(12).reshape(3, 4), "SR(m=2)@2 NCS(extended=2)@2", None),
        (EQUAL_SUMS, "SR(m=2,similar=images)@2", ("SR(m=2,similar=images)@2",)),
        (EQUAL_SUMS, "SR(m=1,similar=images)@2 SR(m=3,similar=images)@2", None),
    ],
)
def test_a_note_names_the_measures_that_a_tie_of_phi_decides(phi, measures, tied):
    sims = [[0.9, 0.8, 0.1, 0.2], [0.1, 0.9, 0.3, 0.2], [0.9, 0.3, 0.1, 0.2]]

    table = semmetrics.score(
        np.array(sims), [[0], [1], [2]], measures=measures, phi=np.array(phi)
    )

    notes = [fact.examples for fact in facts(table, "tied-phi")]
    assert notes == ([] if tied is None else [tied])
