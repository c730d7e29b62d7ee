"""NCS, semantic recall and nDCG against their definitions, in every form that phi may have."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import semantic_retrieval as oracle
from refusals import refused
from scipy import sparse
from stand_ins import Sliced

import semmetrics
from semmetrics import metrics
from semmetrics.core.ragged import offsets
from semmetrics.metrics.nearest_items import most_similar, top_items
from semmetrics.metrics.phi_scores import semantic_recall, tied_queries

CUTOFFS = (1, 2, 5, 10)


class Case:
    """Random rankings with ties, positives of several sizes, and phi that is often 0."""

    def __init__(self, seed, queries="rows", ties=True):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(1, 16, 2))
        draw = (
            (lambda: rng.integers(0, 4, shape) / 2.0)
            if ties
            else (lambda: rng.random(shape))
        )
        self.sims, self.phi, self.queries = draw(), draw(), queries
        self.phi[rng.random(shape[0]) < 0.2] = 0.0
        turned = queries == "columns"
        self.rows = self.phi.T if turned else self.phi
        self.scores = self.sims.T if turned else self.sims
        self.n, self.width = self.rows.shape
        self.out = [
            sorted(
                rng.permutation(self.width)[
                    : rng.integers(0, min(4, self.width + 1))
                ].tolist()
            )
            for _ in range(self.n)
        ]

    def relation(self, lists):
        flat = [one for some in lists for one in some]
        return offsets(np.array([len(some) for some in lists], int)), np.array(
            flat, np.int64
        )

    def top(self, k):
        return metrics.top_items(self.sims, k, queries=self.queries)


def cases():
    return [
        Case(seed, queries, ties)
        for seed in range(15)
        for queries in ("rows", "columns")
        for ties in (False, True)
    ]


@pytest.mark.parametrize("leaves_out", [False, True])
def test_rankings_and_most_similar_items(leaves_out):
    for case in cases():
        out = case.out if leaves_out else [()] * case.n
        given = case.relation(case.out) if leaves_out else None
        for k in (1, 3, 20):
            ranked = metrics.top_items(
                case.sims, k, queries=case.queries, leave_out=given
            )
            best = metrics.most_similar(
                case.phi, k, queries=case.queries, leave_out=given
            )
            wide = min(k, case.width)
            assert ranked.shape == best.values.shape == (case.n, wide)
            for query in range(case.n):
                for found, row in ((ranked, case.scores), (best.places, case.rows)):
                    expected = oracle.ranking(row[query], k, out[query])
                    assert found[query].tolist() == expected + [-1] * (
                        wide - len(expected)
                    )
                values = [
                    case.rows[query, place]
                    for place in best.places[query]
                    if place >= 0
                ]
                assert best.values[query].tolist() == values + [0.0] * (
                    wide - len(values)
                )
                assert best.sizes[query] == case.width - len(out[query])


@pytest.mark.parametrize("leaves_out", [False, True])
def test_ncs_and_ndcg_equal_the_definitions(leaves_out):
    for case in cases():
        out = case.out if leaves_out else [()] * case.n
        given = case.relation(case.out) if leaves_out else None
        top = case.top(20)
        same = {"queries": case.queries, "leave_out": given}
        found = {
            "ncs": metrics.ncs(top, case.phi, CUTOFFS, **same),
            "k": metrics.ncs(top, case.phi, CUTOFFS, extended="k", **same),
            "3": metrics.ncs(top, case.phi, CUTOFFS, extended=3, **same),
        }
        for gain in ("linear", "exponential"):
            for discount in ("log2", "jarvelin2002"):
                found[gain, discount] = metrics.ndcg(
                    top, case.phi, CUTOFFS, gain=gain, discount=discount, **same
                )
        for query in range(case.n):
            row, left = case.rows[query], out[query]
            mine = [place for place in top[query] if place >= 0]
            for column, k in enumerate(CUTOFFS):
                expected = {
                    "ncs": oracle.ncs(mine, row, k, left),
                    "k": oracle.equation_5(mine, row, k, k, left),
                    "3": oracle.equation_5(mine, row, k, 3, left),
                }
                for name in found.keys() - expected.keys():
                    expected[name] = oracle.ndcg(mine, row, k, *name, left)
                for name, value in expected.items():
                    assert_allclose(
                        found[name][query, column], value, rtol=1e-12, err_msg=name
                    )


@pytest.mark.parametrize("variant", ["hard", "soft", "weighted", "hit"])
def test_semantic_recall_equals_the_definition(variant):
    for case in cases():
        best = metrics.most_similar(case.phi, 3, queries=case.queries)
        top = case.top(10)
        for relevant in (best.relation(1), best.relation(3), case.relation(case.out)):
            for out, cutoffs in (([()] * case.n, CUTOFFS), (case.out, (1,))):
                same = {"variant": variant, "leave_out": case.relation(out)}
                found = metrics.semantic_recall(
                    top, relevant, cutoffs, phi=case.phi, queries=case.queries, **same
                )
                for query in range(case.n):
                    some = _row(relevant, query)
                    mine = [place for place in top[query] if place >= 0]
                    for column, k in enumerate(cutoffs):
                        value = oracle.semantic_recall(
                            mine, some, k, variant, case.rows[query], out[query]
                        )
                        assert_allclose(found[query, column], value, rtol=1e-12)
                if variant in ("hard", "hit"):  # phi only says how large the gallery is
                    bare = metrics.semantic_recall(top, relevant, cutoffs, **same)
                    assert_array_equal(bare, found)


@pytest.mark.parametrize("itself", [False, True])
def test_similar_images_equal_the_definition(itself):
    rng = np.random.default_rng(5)
    for n in (1, 2, 9):
        sizes = rng.integers(0, 4, n)
        captions = offsets(sizes), rng.permutation(sizes.sum())
        phi = rng.integers(0, 3, (n, max(1, sizes.sum()))) / 2.0
        lists = np.split(captions[1], captions[0][1:-1])
        for m, depth in ((1, 2), (3, 4)):
            found = metrics.similar_images(phi, captions, m, depth=depth, itself=itself)
            expected = oracle.similar_images(phi, lists, m, depth, itself)
            assert [row[row >= 0].tolist() for row in found] == expected
            of_images = metrics.captions_of_images(found, captions)
            of_captions = metrics.images_of_captions(found, captions, phi.shape[1])
            for image, others in enumerate(expected):
                wanted = [one for other in others for one in lists[other].tolist()]
                assert _row(of_images, image) == wanted
                for caption in lists[image]:
                    assert _row(of_captions, caption) == sorted(others)


def _row(relation, number):
    return relation[1][relation[0][number] : relation[0][number + 1]].tolist()


@pytest.mark.parametrize("queries", ["rows", "columns"])
def test_every_form_of_phi_and_every_block_gives_the_same(queries, tmp_path):
    rng = np.random.default_rng(3)
    phi, sims = rng.random((30, 80), np.float32), rng.random((30, 80))
    np.save(tmp_path / "phi.npy", phi)
    n = 80 if queries == "columns" else 30
    out = np.arange(n + 1), np.zeros(n, int)
    top = metrics.top_items(sims, 11, queries=queries)
    best = metrics.most_similar(phi, 10, queries=queries, leave_out=out)

    def values(some, **more):
        shared = {"queries": queries, "leave_out": out, **more}
        relevant = best.part(more.get("rows", slice(None))).relation(3)
        ranked = shared.pop("top", top)
        weights = {key: shared[key] for key in shared if key != "best"}
        return np.hstack(
            [
                metrics.ncs(ranked, some, **shared),
                metrics.ndcg(ranked, some, **shared),
                metrics.semantic_recall(
                    ranked, relevant, variant="weighted", phi=some, **weights
                ),
            ]
        )

    whole = values(phi)
    assert not np.isnan(whole).any()
    forms = (
        np.load(tmp_path / "phi.npy", mmap_mode="r"),
        np.asfortranarray(phi),
        Sliced(phi),
    )
    for some in (*forms, sparse.coo_array(phi), sparse.csc_matrix(phi)):
        assert_array_equal(values(some), whole)
        assert_array_equal(values(some, best=best), whole)
        every = rng.permutation(n)
        for rows in (every[:7], np.arange(7, 29), every[7:]):
            part = {
                "top": top[rows],
                "leave_out": (np.arange(len(rows) + 1), np.zeros(len(rows), int)),
                "rows": rows,
            }
            assert_array_equal(values(some, **part), whole[rows])
            given = values(some, best=best.part(rows), **part)
            assert_array_equal(given, whole[rows])


def test_tensors_are_taken(tensor):
    rng = np.random.default_rng(6)
    phi, sims = rng.random((5, 20)), rng.random((5, 20))
    top, own = metrics.top_items(sims, 10), (np.arange(6), np.arange(5))
    assert_array_equal(metrics.top_items(tensor(sims), 10), top)
    found = metrics.ncs(
        tensor(top), tensor(phi), (1, 5), leave_out=tuple(map(tensor, own))
    )
    assert_array_equal(found, metrics.ncs(top, phi, (1, 5), leave_out=own))
    recall = metrics.semantic_recall(tensor(top), tuple(map(tensor, own)))
    assert_array_equal(recall, metrics.semantic_recall(top, own))


def test_equation_5_is_the_weighted_recall_of_the_most_similar_items():
    rng = np.random.default_rng(8)
    phi, top = rng.random((20, 50)), metrics.top_items(rng.random((20, 50)), 10)
    relevant = metrics.most_similar(phi, 4).relation(4)
    weighted = metrics.semantic_recall(top, relevant, variant="weighted", phi=phi)
    assert_allclose(metrics.ncs(top, phi, extended=4), weighted, rtol=1e-12)
    assert (metrics.ncs(top, phi, extended="k") <= metrics.ncs(top, phi) + 1e-9).all()


def test_queries_without_anything_similar_are_undefined():
    phi = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    top = np.array([[0, 1, 2], [1, 0, 2]])
    for found in (
        metrics.ncs(top, phi, 2),
        metrics.ndcg(top, phi, 2),
        metrics.ncs(top, phi, 2, extended="k"),
    ):
        assert np.isnan(found).tolist() == [[True], [False]]
    assert metrics.nsum(metrics.ncs(top, phi, 2), [[0.25]]) == pytest.approx(50 + 25)
    assert metrics.nsum(
        metrics.ncs(top, phi, 2), [[0.25]], undefined=math.nan
    ) == pytest.approx(100 + 25)


FIRST = "query 0 (from 0)"


@pytest.mark.parametrize(
    ("top", "options", "code", "where"),
    [
        ([[0, 1]], {}, "too-few-ranks", FIRST),
        ([[0, 0, 1]], {}, "duplicate", f"top, {FIRST}"),
        ([[0, 9, 1]], {}, "not-in-gallery", f"top, {FIRST}"),
        ([[0, -1, 1]], {}, "item-after-end", f"top, {FIRST}"),
        ([[0.0, 1.0, 2.0]], {}, "wrong-dtype", ""),
        (np.ma.masked_equal([[0, 1, 2]], 1), {}, "masked", "top"),
        ([[0, 1, 2]] * 3, {}, "out-of-range", "rows, row 2 (from 0)"),
        ([[0, 1, 2]], {"rows": [2]}, "out-of-range", "rows, row 0 (from 0)"),
        ([[0, 1, 2]], {"rows": [0, 1]}, "wrong-count", "rows"),
        ([[0, 1, 2]], {"queries": "images"}, "bad-choice", ""),
        ([[0, 1, 2]], {"k": ()}, "bad-option", ""),
        ([[0, 1, 2]], {"k": (1, 0)}, "bad-option", ""),
        ([[0, 1, 2]], {"k": (1, 2.5)}, "bad-option", ""),
        ([[0, 1, 2]], {"extended": 0}, "bad-option", ""),
        ([[0, 1, 2]], {"extended": "m"}, "bad-option", ""),
        (
            [[0, 1, 2]],
            {"leave_out": ([0, 1], [4])},
            "not-in-gallery",
            f"leave_out, {FIRST}",
        ),
        (
            [[0, 1, 2]],
            {"leave_out": ([0, 2], [1, 1])},
            "duplicate",
            f"leave_out, {FIRST}",
        ),
        ([[0, 1, 2]], {"leave_out": ([0, 2], [1])}, "wrong-offsets", "leave_out"),
        ([[0, 1, 2]], {"leave_out": ([0, 1], [1])}, "too-few-ranks", FIRST),
    ],
)
def test_what_does_not_fit_is_refused(top, options, code, where):
    with refused(code, where):
        metrics.ncs(top, np.ones((2, 4)), **{"k": 3, **options})


def test_too_few_similar_items_and_missing_phi():
    phi, top = np.ones((2, 9)), np.array([[0, 1, 2], [3, 4, 5]])
    best = metrics.most_similar(phi, 2)
    with refused("too-few-similar", found=2, wanted=3):
        metrics.ncs(top, phi, 3, best=best)
    with refused("other-items", name="best"):
        metrics.ncs(top, phi, 2, best=best.part(slice(1)))
    with refused("too-few-similar", found=2, wanted=3):
        best.relation(3)
    with refused("needs-option", name="phi"):
        metrics.semantic_recall(top, best.relation(1), variant="soft", k=1)
    with refused("bad-choice", name="variant"):
        metrics.semantic_recall(top, best.relation(1), variant="firm", k=1)
    with refused("bad-choice", name="gain"):
        metrics.ndcg(top, phi, 3, gain="log")
    phi[1, 3] = np.nan
    with refused("not-a-number", "row 1, column 3 (from 0)"):
        metrics.ncs(top, phi, 2, best=best)


def test_other_programs_compute_the_same_ndcg():
    """ir_measures with trec_eval: linear gains of whole numbers, log2 of the rank plus one."""
    peer = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    rng = np.random.default_rng(4)
    phi, sims = rng.integers(0, 5, (30, 40)), rng.random((30, 40))
    qrels = [
        peer.Qrel(str(q), str(d), int(phi[q, d])) for q in range(30) for d in range(40)
    ]
    run = [
        peer.ScoredDoc(str(q), str(d), float(sims[q, d]))
        for q in range(30)
        for d in range(40)
    ]
    found = metrics.ndcg(metrics.top_items(sims, 10), phi.astype(float), 10)
    expected = {
        one.query_id: one.value for one in peer.iter_calc([peer.nDCG @ 10], qrels, run)
    }
    assert_allclose(found.ravel(), [expected[str(q)] for q in range(30)], rtol=1e-12)


def test_a_fold_without_positives_has_an_empty_gallery():
    given = {"phi": np.array([[0.5, 0.1], [0.3, 0.2]]), "folds": 2, "task": "retrieval"}
    similarities = np.array([[0.1, 0.2], [0.3, 0.1]])
    measure = "NCS(ground_truth=left-out)@1"
    assert (
        semmetrics.score(similarities, [[0, 1], []], measures=measure, **given)[0].value
        == 0
    )


VARIANTS = {"hard": "number", "weighted": "phi", "soft": "phi", "hit": "any"}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("queries", ["rows", "columns"])
@pytest.mark.parametrize("leaves_out", [False, True])
def test_ties_of_phi_count_if_another_order_of_the_gallery_changes_the_value(
    variant, queries, leaves_out
):
    rng = np.random.default_rng(11)
    n, width = 12, 5
    tied = decided = 0
    for m, k in ((1, 1), (2, 2), (2, 3), (3, 2), (4, 1), (5, 2)):
        phi = rng.choice([0.0, 0.2, 0.4], (n, width))
        sims = rng.random((n, width))
        own = rng.integers(0, width, n)
        values = []
        for order in permutations(range(width)):
            there = np.argsort(order)
            mine, ranked = phi[:, order], sims[:, order]
            if queries == "columns":
                mine, ranked = mine.T, ranked.T
            out = (np.arange(n + 1), there[own]) if leaves_out else None
            best = most_similar(mine, m, queries=queries, leave_out=out)
            given = {"queries": queries, "leave_out": out, "phi": mine}
            top = top_items(ranked, width, queries=queries)
            found = semantic_recall(top, best.relation(m), k, variant=variant, **given)
            values.append(found[:, 0])
            if len(values) == 1:
                counts = VARIANTS[variant]
                flags = tied_queries(top, k=k, m=m, counts=counts, **given)
        spread = np.ptp(np.array(values), axis=0) > 1e-12
        defined = ~np.isnan(values[0])
        np.testing.assert_array_equal(flags[defined], spread[defined])
        tied += int(flags[defined].sum())
        decided += int((~flags[defined]).sum())
    assert tied > 2
    assert decided > 2


def test_a_note_counts_the_queries_whose_value_a_tie_of_phi_decides():
    phi = np.array([[0.9, 0.5, 0.5, 0.5], [0.1, 0.8, 0.8, 0.2], [0.3, 0.3, 0.3, 0.9]])
    sims = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.9, 0.3, 0.2], [0.9, 0.3, 0.1, 0.2]])
    options = {"task": "retrieval", "phi": {"phi": phi}}

    def notes(measures):
        table = semmetrics.score(sims, [[0], [1], [2]], measures=measures, **options)
        return {fact.code: (fact.n, fact.examples) for fact in table.facts}

    found = notes("SR(m=2)@2 NCS(extended=2)@1 NCS@2 nDCG@2 SR(m=4)@2")
    assert found["tied-phi"] == (2, ("SR(m=2)@2", "NCS(extended=2)@1"))
    assert "tied-phi" not in notes("NCS@2 nDCG@2 SR(m=4)@2")
    phi[:] = np.arange(12).reshape(3, 4)
    assert "tied-phi" not in notes("SR(m=2)@2 NCS(extended=2)@2")


def test_equal_sums_of_similar_images_are_noted():
    phi = np.array([[0.5, 0.2, 0.2], [0.2, 0.5, 0.2], [0.2, 0.2, 0.5]])
    sims = np.array([[0.9, 0.8, 0.1], [0.1, 0.9, 0.8], [0.9, 0.1, 0.2]])
    options = {"task": "retrieval", "phi": {"phi": phi}}
    measures = (
        "SR(m=2,similar=images)@2 SR(m=1,similar=images)@2 SR(m=3,similar=images)@2"
    )
    table = semmetrics.score(sims, [[0], [1], [2]], measures=measures, **options)
    (fact,) = (fact for fact in table.facts if fact.code == "tied-phi")
    assert fact.examples == ("SR(m=2,similar=images)@2",)
