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
    """Return the offsets and the items of rows."""
    sizes = np.array(list(map(len, lists)), int)
    items = np.concatenate([*lists, []])
    return offsets(sizes), items.astype(int)


def lists_of(relation):
    """Return the items of each row of a relation."""
    indptr, items = relation
    return [row.tolist() for row in np.split(items, indptr[1:-1])]


def orient(matrix, queries):
    """Return a matrix of queries as rows with the queries as rows or as columns."""
    return matrix.T if queries == "columns" else matrix


# ---- comparison with the definitions ------------------------------------------------


class Case:
    """Random similarities and phi of queries, and the items that each leaves out."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        has_ties = seed & 1
        leaves_out = seed & 4
        shape = tuple(rng.integers(1, 16, 2))
        self.sims = rng.random(shape)
        self.phi = rng.random(shape)
        if has_ties:
            self.sims = np.floor(4 * self.sims)
            self.phi = np.floor(4 * self.phi)
        self.phi[rng.random(len(self.phi)) < 0.2] = 0
        is_out = rng.random(shape) < (0.3 if leaves_out else 0)
        self.out = [np.flatnonzero(row).tolist() for row in is_out]

        self.queries = "columns" if seed & 2 else "rows"
        self.given_sims = orient(self.sims, self.queries)
        self.given_phi = orient(self.phi, self.queries)
        self.options = {"queries": self.queries}
        if leaves_out:
            self.options["leave_out"] = make_relation(self.out)
        self.top = metrics.top_items(self.given_sims, 20, queries=self.queries)
        self.retrieved = [row[row >= 0].tolist() for row in self.top]


SEEDS = pytest.mark.parametrize("seed", range(24))


@SEEDS
def test_top_items_and_most_similar_items_equal_sorting(seed):
    case = Case(seed)

    top = metrics.top_items(case.given_sims, 3, **case.options)
    best = metrics.most_similar(case.given_phi, 3, **case.options)

    n_items, n_places = case.phi.shape[1], top.shape[1]
    for query, out in enumerate(case.out):
        phi = case.phi[query]
        nearest = oracle.ranking(case.sims[query], 3, out)
        similar = oracle.ranking(phi, 3, out)
        n_padded = n_places - len(nearest)
        padding = [-1] * n_padded
        assert top[query].tolist() == nearest + padding
        assert best.places[query].tolist() == similar + padding
        values = phi[similar].tolist() + [0.0] * n_padded
        assert best.values[query].tolist() == values
        assert best.sizes[query] == n_items - len(out)


@pytest.mark.sampled(30)
@SEEDS
@pytest.mark.parametrize("extended", [None, "k", 3])
def test_ncs_equals_its_definition(seed, extended):
    case = Case(seed)

    values = metrics.ncs(
        case.top, case.given_phi, (1, 5), extended=extended, **case.options
    )

    expected = []
    for retrieved, phi, out in zip(case.retrieved, case.phi, case.out, strict=True):
        if extended is None:
            value = oracle.ncs(retrieved, phi, 5, out)
        else:
            m = 5 if extended == "k" else extended
            value = oracle.equation_5(retrieved, phi, 5, m, out)
        expected.append(value)
    assert_allclose(values[:, 1], expected, rtol=1e-12)


@pytest.mark.sampled(30)
@SEEDS
@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("discount", ["log2", "jarvelin2002"])
def test_ndcg_equals_its_definition(seed, gain, discount):
    case = Case(seed)
    options = {"gain": gain, "discount": discount, **case.options}

    values = metrics.ndcg(case.top, case.given_phi, (1, 5), **options)

    expected = []
    for retrieved, phi, out in zip(case.retrieved, case.phi, case.out, strict=True):
        value = oracle.ndcg(retrieved, phi, 5, gain, discount, out)
        expected.append(value)
    assert_allclose(values[:, 1], expected, rtol=1e-12)


@pytest.mark.sampled(40)
@SEEDS
@pytest.mark.parametrize("variant", ["hard", "soft", "weighted", "hit"])
@pytest.mark.parametrize("m", [1, 3])
def test_semantic_recall_equals_its_definition(seed, variant, m):
    case = Case(seed)
    best = metrics.most_similar(case.given_phi, m, queries=case.queries)
    relevant = best.relation(m)
    options = {"variant": variant, "phi": case.given_phi, **case.options}

    values = metrics.semantic_recall(case.top, relevant, 1, **options)

    expected = []
    for query, items in enumerate(lists_of(relevant)):
        retrieved, phi, out = case.retrieved[query], case.phi[query], case.out[query]
        value = oracle.semantic_recall(retrieved, items, 1, variant, phi, out)
        expected.append(value)
    assert_allclose(values[:, 0], expected, rtol=1e-12)


def test_hard_semantic_recall_needs_no_phi():
    top = np.array([[0, 1, 2], [1, 0, 2]])
    relevant = make_relation([[1], [0, 2]])

    recall = metrics.semantic_recall(top, relevant, 2)

    assert recall.tolist() == [[1.0], [0.5]]


@pytest.mark.parametrize("itself", [False, True])
@pytest.mark.parametrize("n_images", [1, 2, 9])
@pytest.mark.parametrize(("m", "depth"), [(1, 2), (3, 4)])
def test_similar_images_equal_their_definition(itself, n_images, m, depth):
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 4, n_images)
    captions = offsets(sizes), rng.permutation(sizes.sum())
    captions_by_image = lists_of(captions)
    n_captions = max(1, sizes.sum())
    phi = rng.integers(0, 3, (n_images, n_captions))

    similar = metrics.similar_images(phi, captions, m, depth=depth, itself=itself)
    of_images = metrics.captions_of_images(similar, captions)
    of_captions = metrics.images_of_captions(similar, captions, n_captions)

    expected = oracle.similar_images(phi, captions_by_image, m, depth, itself)
    captions_of_images = lists_of(of_images)
    images_of_captions = lists_of(of_captions)
    for image, others in enumerate(expected):
        row = similar[image]
        assert row[row >= 0].tolist() == others
        captions_of_others = []
        for other in others:
            captions_of_others += captions_by_image[other]
        assert captions_of_images[image] == captions_of_others
        for caption in captions_by_image[image]:
            assert images_of_captions[caption] == sorted(others)


# ---- forms of phi -------------------------------------------------------------------


@pytest.mark.parametrize(("queries", "n_queries"), [("rows", 30), ("columns", 80)])
@pytest.mark.parametrize("convert", [np.asfortranarray, Sliced, sparse.coo_array])
def test_every_form_of_phi_and_any_part_of_it_gives_the_same_values(
    queries, n_queries, convert
):
    rng = np.random.default_rng(3)
    phi = rng.random((30, 80), np.float32)
    top = metrics.top_items(rng.random((30, 80)), 11, queries=queries)
    best = metrics.most_similar(phi, 10, queries=queries)

    def compute(phi, rows):
        first_item = make_relation([[0]] * len(rows))
        options = {"queries": queries, "rows": rows, "leave_out": first_item}
        relevant = best.part(rows).relation(3)
        ncs = metrics.ncs(top[rows], phi, **options)
        ndcg = metrics.ndcg(top[rows], phi, **options)
        options |= {"variant": "weighted", "phi": phi}
        recall = metrics.semantic_recall(top[rows], relevant, **options)
        return np.hstack([ncs, ndcg, recall])

    all_rows = np.arange(n_queries)
    some_rows = rng.permutation(n_queries)[:7]
    expected = compute(phi, all_rows)
    converted = convert(phi)

    assert not np.isnan(expected).any()
    for rows in (all_rows, all_rows[7:29], some_rows):
        assert_array_equal(compute(converted, rows), expected[rows])


def test_tensors_have_the_values_of_arrays(tensor):
    rng = np.random.default_rng(6)
    phi, sims = rng.random((2, 5, 20))
    own = make_relation([[0], [1], [2], [3], [4]])
    own_tensors = [tensor(array) for array in own]
    expected_top = metrics.top_items(sims, 10)

    top = metrics.top_items(tensor(sims), 10)
    ncs = metrics.ncs(tensor(top), tensor(phi), 5, leave_out=own_tensors)
    recall = metrics.semantic_recall(tensor(top), own_tensors)

    expected_ncs = metrics.ncs(top, phi, 5, leave_out=own)
    expected_recall = metrics.semantic_recall(top, own)
    assert_array_equal(top, expected_top)
    assert_array_equal(ncs, expected_ncs)
    assert_array_equal(recall, expected_recall)


def test_ndcg_of_integer_phi_equals_ir_measures():
    ir = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(4)
    phi = rng.integers(0, 5, (30, 40))
    sims = rng.random((30, 40))
    top = metrics.top_items(sims, 10)

    ndcg = metrics.ndcg(top, phi.astype(float), 10)

    judgements = []
    run = []
    for (query, item), gain in np.ndenumerate(phi):
        ids = str(query), str(item)
        judgements.append(ir.Qrel(*ids, int(gain)))
        run.append(ir.ScoredDoc(*ids, sims[query, item]))
    for result in ir.iter_calc([ir.nDCG @ 10], judgements, run):
        query = int(result.query_id)
        assert ndcg[query, 0] == pytest.approx(result.value, rel=1e-12)


# ---- undefined values and errors ----------------------------------------------------


def test_queries_without_a_similar_item_are_undefined():
    phi = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    top = np.array([[0, 1, 2], [1, 0, 2]])

    ncs = metrics.ncs(top, phi, 2)
    ndcg = metrics.ndcg(top, phi, 2)

    is_undefined = [[True], [False]]
    assert np.isnan(ncs).tolist() == is_undefined
    assert np.isnan(ndcg).tolist() == is_undefined
    assert metrics.nsum(ncs, [[0.25]]) == pytest.approx(75)
    assert metrics.nsum(ncs, [[0.25]], undefined=math.nan) == pytest.approx(125)


def test_a_fold_without_positives_has_an_empty_gallery():
    sims = np.array([[0.1, 0.2], [0.3, 0.1]])
    phi = np.array([[0.5, 0.1], [0.3, 0.2]])
    measure = "NCS(ground_truth=left-out)@1"

    table = semmetrics.score(sims, [[0, 1], []], measures=measure, phi=phi, folds=2)

    assert table[0].value == 0


PHI = np.ones((2, 4))
TOP = [[0, 1, 2]]
FIRST = "query 0 (from 0)"


@pytest.mark.parametrize(
    ("top", "code", "where"),
    [
        ([[0, 1]], "too-few-ranks", FIRST),
        ([[0, 0, 1]], "duplicate", f"top, {FIRST}"),
        ([[0, 4, 1]], "not-in-gallery", f"top, {FIRST}"),
        ([[0, -1, 1]], "item-after-end", f"top, {FIRST}"),
        ([[0.0, 1.0, 2.0]], "wrong-dtype", ""),
        (np.ma.masked_equal(TOP, 1), "masked", "top"),
    ],
)
def test_invalid_rankings_are_errors(top, code, where):
    with refused(code, where):
        metrics.ncs(top, PHI, 3)


@pytest.mark.parametrize(
    ("options", "code", "where"),
    [
        ({"rows": [2]}, "out-of-range", "rows, row 0 (from 0)"),
        ({"rows": [0, 1]}, "wrong-count", "rows"),
        ({"queries": "images"}, "bad-choice", ""),
        ({"k": ()}, "bad-option", ""),
        ({"k": (1, 2.5)}, "bad-option", ""),
        ({"extended": 0}, "bad-option", ""),
        ({"leave_out": ([0, 1], [4])}, "not-in-gallery", f"leave_out, {FIRST}"),
        ({"leave_out": ([0, 2], [1])}, "wrong-offsets", "leave_out"),
    ],
)
def test_invalid_options_of_ncs_are_errors(options, code, where):
    options = {"k": 3, **options}

    with refused(code, where):
        metrics.ncs(TOP, PHI, **options)


def test_too_few_most_similar_items_are_an_error():
    top = [[0, 1, 2], [1, 2, 3]]
    best = metrics.most_similar(PHI, 2)

    with refused("too-few-similar", found=2, wanted=3):
        metrics.ncs(top, PHI, 3, best=best)
    with refused("other-items", name="best"):
        metrics.ncs(top, PHI, 2, best=best.part(slice(1)))


def test_invalid_options_of_recall_and_ndcg_are_errors():
    relevant = make_relation([[0]])

    with refused("needs-option", name="phi"):
        metrics.semantic_recall(TOP, relevant, variant="soft", k=1)
    with refused("bad-choice", name="variant"):
        metrics.semantic_recall(TOP, relevant, variant="firm", k=1)
    with refused("bad-choice", name="gain"):
        metrics.ndcg(TOP, PHI, 3, gain="log")


def test_nan_in_phi_is_an_error_even_if_the_most_similar_items_are_given():
    phi = np.array([[0.5, np.nan, 0.5]])
    best = metrics.most_similar([[1.0, 1.0, 1.0]], 2)

    with refused("not-a-number", "row 0, column 1 (from 0)"):
        metrics.ncs(TOP, phi, 2, best=best)


# ---- ties of phi --------------------------------------------------------------------


class TiedGallery:
    """Five items in any order, and queries with equal phi of several items."""

    def __init__(self, queries, leaves_out):
        rng = np.random.default_rng(11)
        self.queries = queries
        self.leaves_out = leaves_out
        self.phi = rng.choice([0.0, 0.2, 0.4], (12, 5))
        self.sims = rng.random((12, 5))
        self.items_out = rng.integers(0, 5, 12)

    def in_order(self, order):
        """Return the rankings, and the options of measures, for an order of the items."""
        sims = orient(self.sims[:, order], self.queries)
        phi = orient(self.phi[:, order], self.queries)
        options = {"queries": self.queries, "phi": phi}
        if self.leaves_out:
            places = np.argsort(order)
            options["leave_out"] = np.arange(13), places[self.items_out]
        top = metrics.top_items(sims, 5, queries=self.queries)
        return top, options


COUNTED = {"hard": "number", "weighted": "phi", "soft": "phi", "hit": "any"}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("variant", COUNTED)
@pytest.mark.parametrize("queries", ["rows", "columns"])
@pytest.mark.parametrize("leaves_out", [False, True])
@pytest.mark.parametrize(("m", "k"), [(1, 1), (2, 3), (3, 2), (5, 2)])
def test_a_query_is_tied_if_another_order_of_the_gallery_changes_its_value(
    variant, queries, leaves_out, m, k
):
    gallery = TiedGallery(queries, leaves_out)
    top, options = gallery.in_order([0, 1, 2, 3, 4])

    ties = tied_queries(top, k=k, m=m, counts=COUNTED[variant], **options)

    values_by_order = []
    for order in permutations(range(5)):
        top, options = gallery.in_order(order)
        relevant = metrics.most_similar(k=m, **options).relation(m)
        values = metrics.semantic_recall(top, relevant, k, variant=variant, **options)
        values_by_order.append(values[:, 0])
    is_defined = ~np.isnan(values_by_order[0])
    changes = np.ptp(values_by_order, axis=0) > 1e-12
    assert_array_equal(ties[is_defined], changes[is_defined])


SIMS = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.9, 0.3, 0.2], [0.9, 0.3, 0.1, 0.2]])
TIED_PHI = np.array([[9, 5, 5, 5], [1, 8, 8, 2], [3, 3, 3, 9]]) / 10
EQUAL_SUMS = np.array([[5, 2, 2, 0], [2, 5, 2, 0], [2, 2, 5, 0]]) / 10
NO_TIES = np.arange(12).reshape(3, 4)


@pytest.mark.parametrize(
    ("phi", "measures"),
    [
        (TIED_PHI, "SR(m=2)@2 NCS(extended=2)@1"),
        (EQUAL_SUMS, "SR(m=2,similar=images)@2"),
    ],
)
def test_a_note_names_the_measures_that_a_tie_of_phi_decides(phi, measures):
    table = semmetrics.score(SIMS, [[0], [1], [2]], measures=measures, phi=phi)

    (note,) = facts(table, "tied-phi")
    assert list(note.examples) == measures.split()


@pytest.mark.parametrize(
    ("phi", "measures"),
    [
        (TIED_PHI, "NCS@2 nDCG@2 SR(m=4)@2"),
        (NO_TIES, "SR(m=2)@2 NCS(extended=2)@2"),
        (EQUAL_SUMS, "SR(m=1,similar=images)@2 SR(m=3,similar=images)@2"),
    ],
)
def test_ties_of_phi_that_decide_no_measure_are_not_noted(phi, measures):
    table = semmetrics.score(SIMS, [[0], [1], [2]], measures=measures, phi=phi)

    assert not facts(table, "tied-phi")
