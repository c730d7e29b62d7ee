"""NCS, semantic recall and nDCG as measures: the functions of phi, query by query."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import facts, refused

import semmetrics
from semmetrics.metrics.semantic_retrieval import NCS, SR

RNG = np.random.default_rng(5)
N, M = 12, 60
SIMS, PHI = (
    RNG.random((N, M), np.float32),
    np.maximum(0, RNG.normal(size=(N, M))).round(1),
)
POSITIVES = {f"i{row}": [f"c{5 * row + one}" for one in range(5)] for row in range(N)}
NAMES = {
    "queries": [f"i{row}" for row in range(N)],
    "gallery": [f"c{one}" for one in range(M)],
}


def scored(measures, sims=SIMS, positives=POSITIVES, **options):
    given = {"task": "retrieval", "direction": "both", "phi": PHI, **NAMES, **options}
    return semmetrics.score(sims, positives, measures=measures, **given)


def saved(folder, phi=PHI, images=NAMES["queries"], captions=NAMES["gallery"]):
    """The path of a matrix phi, whose ids lie beside it."""
    np.save(folder / "phi.npy", phi)
    ids = {"images": images, "captions": captions}
    (folder / "phi.npy.ids.json").write_text(json.dumps(ids), encoding="utf-8")
    return folder / "phi.npy"


MEASURES = [
    "NCS@1",
    "NCS@10",
    "NCS(ground_truth=left-out)@5",
    "NCS(extended=k)@5",
    "NCS(extended=7)@5",
    "SR(m=4)@5",
    "SR(m=4,variant=soft)@10",
    "SR(m=4,variant=weighted)@10",
    "SR(m=4,variant=hit)@3",
    "SR(m=4,similar=images,depth=6)@5",
    "SR(m=4,similar=images,depth=6,ground_truth=left-out)@5",
    "nDCG@5",
    "nDCG(gain=exponential)@10",
    "nDCG(ground_truth=left-out)@5",
]


def test_ranked_lists_have_the_values_of_their_matrix():
    order = np.argsort(-SIMS, axis=1, kind="stable")
    lists = {f"i{row}": [f"c{one}" for one in order[row]] for row in RNG.permutation(N)}
    for measure in ("NCS@5", "SR(m=4)@5", "nDCG(ground_truth=left-out)@5"):
        whole = scored([measure], direction="i2t")[0].value
        assert scored([measure], sims=lists, direction="i2t")[0].value == pytest.approx(
            whole
        )
    with refused("unnamed-phi"):
        scored(["NCS@5"], sims=lists, direction="i2t", gallery=None)


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
@pytest.mark.parametrize("how", ["frame", "beside"])
def test_phi_is_joined_by_its_ids(direction, how, tmp_path):
    rows, columns = RNG.permutation(N), RNG.permutation(M)
    names = [f"i{row}" for row in rows], [f"c{one}" for one in columns]
    values = PHI[np.ix_(rows, columns)]
    if how == "frame":
        pandas = pytest.importorskip("pandas")
        phi = pandas.DataFrame(values, index=names[0], columns=names[1])
    else:
        phi = saved(tmp_path, values, *names)
    for measure in (
        "NCS@5",
        "SR(m=4,similar=images)@5",
        "nDCG(ground_truth=left-out)@5",
    ):
        whole = scored([measure], direction=direction)[0].value
        assert scored([measure], direction=direction, phi=phi)[
            0
        ].value == pytest.approx(whole)
    queries = ["other", *NAMES["queries"][1:]]
    positives = dict(zip(queries, POSITIVES.values(), strict=True))
    with refused("phi-lacks"):
        scored(
            ["NCS@5"],
            direction=direction,
            phi=phi,
            queries=queries,
            positives=positives,
        )


def test_sums_that_no_float_holds_are_refused():
    options = {"task": "retrieval", "phi": [[2000.0, 1.0], [1.0, 2000.0]]}
    for measure, phi in (("nDCG(gain=exponential)@2", 2000), ("NCS@2", 1e308)):
        with refused("infinite-sum"):
            semmetrics.score(
                np.eye(2),
                [[0], [1]],
                measures=measure,
                **{**options, "phi": np.full((2, 2), float(phi))},
            )


def test_large_whole_numbers_are_ranked_as_they_are():
    large = np.array([[2**53, 2**53 + 1]])
    table = semmetrics.score(
        large, [[1]], measures="HitRate@1 NCS@1", phi=[[0.0, 1.0]], task="retrieval"
    )
    assert [one.value for one in table] == [1.0, pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("measure", "options", "problem"),
    [
        ("NCS@5", {"phi": None}, "needs-option"),
        ("NCS(phi=SPICE)@5", {}, "phi-without-captions"),
        ("NCS(phi=other)@5", {}, "unknown-name"),
        ("NCS@5", {"phi": {"a": PHI, "b": PHI}}, "several-phi"),
        ("NCS@5", {"phi": PHI.T}, "wrong-shape"),
        ("NCS@5", {"phi": PHI[:, :9]}, "wrong-shape"),
        ("NCS@5", {"phi": {"default": POSITIVES}}, "wrong-format"),
        ("NCS@5", {"phi": np.where(PHI > 2, np.nan, PHI)}, "not-finite"),
        ("SR@5", {}, "missing-option"),
    ],
)
def test_what_does_not_fit_is_refused(measure, options, problem):
    with refused(problem):
        scored([measure], direction="i2t", **options)


@pytest.mark.parametrize("ties", ["position", "optimistic", "pessimistic"])
@pytest.mark.parametrize("folds", [None, 3])
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_torch_ranks_embeddings_as_numpy(ties, folds, kind):
    pytest.importorskip("torch")
    vectors = (
        RNG.integers(-1, 2, (N, 4)).astype(kind),
        RNG.integers(-1, 2, (M, 4)).astype(kind),
    )
    options = {
        "queries_embeddings": vectors[0],
        "gallery_embeddings": vectors[1],
        "ties": ties,
        "similarity": "dot",
        "folds": folds,
    }
    measures = [*MEASURES, "HitRate@1", "Recall@5", "MeanR", "mAP@R"]
    wanted = scored(measures, sims=None, **options)
    found = scored(measures, sims=None, device="torch:cpu", **options)
    assert found.to_dict() == wanted.to_dict()
    assert [one.signature for one in found] == [one.signature for one in wanted]
    table = (vectors[0].astype(float) @ vectors[1].astype(float).T).astype(int)
    shared = {name: options[name] for name in ("ties", "folds")}
    assert scored(measures, sims=table, **shared).to_dict() == wanted.to_dict()


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_measures_share_what_they_find_only_where_it_is_the_same(direction):
    measures = [
        *MEASURES,
        "SR(m=2,similar=images,depth=6)@5",
        "SR(m=4,similar=images,depth=2)@5",
    ]
    together = scored(measures, direction=direction)
    alone = [scored([one], direction=direction)[0].value for one in measures]
    assert [one.value for one in together] == alone
    assert (
        len(
            set(alone[-2:])
            | {alone[MEASURES.index("SR(m=4,similar=images,depth=6)@5")]}
        )
        > 1
    )


@pytest.mark.parametrize("folds", [None, 3])
def test_queries_without_a_row_have_no_row_of_phi_by_id(folds, tmp_path):
    positives, phi = {"new": ["c1"], **POSITIVES}, saved(tmp_path)
    options = {"direction": "i2t", "missing": "empty", "folds": folds, "phi": phi}
    found = scored(["NCS@5"], positives=positives, **options)[0].items
    whole = scored(["NCS@5"], direction="i2t", folds=folds)[0].items
    assert found.tolist() == [0.0, *whole.tolist()]


def test_a_phi_that_does_not_fit_its_ids_is_refused(tmp_path):
    twice, names = np.vstack([PHI, PHI[:1]]), NAMES["queries"]
    for phi, images, code in (
        (PHI, names[1:], "wrong-count"),
        (twice, [*names, names[0]], "duplicate-at"),
    ):
        with refused(code):
            scored(["NCS@5"], phi=saved(tmp_path, phi, images))
    lists = {f"i{row}": ["c0", "c1"] for row in range(N)}
    with refused("wrong-shape"):
        scored(["NCS@1"], sims=lists, direction="i2t", phi=PHI[1:])


def test_a_sparse_phi_is_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with refused("wrong-format"):
        scored(["NCS@5"], phi=sparse.csr_array(PHI))


def test_numbers_of_items_are_checked():
    with refused("no-cutoff"):
        scored(["NCS"], direction="i2t")
    with refused("bad-option", value=0):
        SR(m=0, k=5)
    for extended in ("0", "9" * 5000):
        with refused("bad-option", name="extended"):
            NCS(extended=extended, k=5)


def test_batches_of_lists_find_their_rows_of_phi():
    order = np.argsort(-SIMS, axis=1, kind="stable")
    lists = {f"i{row}": [f"c{one}" for one in order[row]] for row in range(N)}
    scorer = semmetrics.Scorer(task="retrieval", measures="NCS@5", phi=PHI, **NAMES)
    for part in np.array_split(RNG.permutation(N), 3):
        names = [f"i{row}" for row in part]
        scorer.update({n: lists[n] for n in names}, {n: POSITIVES[n] for n in names})
    assert scorer.compute()[0].value == scored(["NCS@5"], direction="i2t")[0].value


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_folds_are_scored_each_by_its_part_of_phi(direction):
    mixed = RNG.permutation(M)  # a fold's captions do not lie together
    positives = {
        f"i{row}": [f"c{one}" for one in mixed[5 * row : 5 * row + 5]]
        for row in range(N)
    }
    whole = scored(MEASURES, positives=positives, direction=direction, folds=3)
    parts = []
    for rows in np.split(np.arange(N), 3):
        columns = np.sort(mixed[5 * rows[0] : 5 * rows[-1] + 5])
        cells, names = np.ix_(rows, columns), [f"i{row}" for row in rows]
        table = scored(
            MEASURES,
            SIMS[cells],
            {name: positives[name] for name in names},
            phi=PHI[cells],
            queries=names,
            gallery=[f"c{one}" for one in columns],
            direction=direction,
        )
        parts.append([one.value for one in table])
    assert_allclose([one.value for one in whole], np.mean(parts, axis=0), rtol=1e-12)
    assert [one.value for one in whole] != [one.value for one in scored(MEASURES)][
        : len(MEASURES)
    ]


def test_positives_outside_the_gallery_are_left_out_of_nothing():
    positives = {**POSITIVES, "i0": [*POSITIVES["i0"], "elsewhere"]}
    for measure in ("NCS(ground_truth=left-out)@5", "SR(m=2,similar=images)@5"):
        more = scored([measure], positives=positives, direction="i2t", missing="skip")[
            0
        ]
        assert (
            more.items.tolist() == scored([measure], direction="i2t")[0].items.tolist()
        )


GRADES = {
    f"q{row}": {
        f"d{one}": int(grade)
        for one, grade in zip(
            RNG.permutation(20)[:6], RNG.integers(-1, 4, 6), strict=True
        )
    }
    for row in range(9)
}


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("k", [1, 3, 10, 40])
def test_ndcg_of_graded_judgements_is_that_of_a_loop(gain, k):
    run = {query: [f"d{one}" for one in RNG.permutation(25)[:12]] for query in GRADES}
    found = semmetrics.score(
        run, GRADES, task="retrieval", measures=f"nDCG(gain={gain})@{k}"
    )[0]
    for query, value in zip(found.ids, found.items, strict=True):
        gains = {
            d: (2.0**g - 1 if gain == "exponential" else g)
            for d, g in GRADES[query].items()
            if g > 0
        }
        ranked = [gains.get(d, 0.0) for d in run[query]]
        ideal = sorted(gains.values(), reverse=True)
        dcg, best = (
            sum(g / np.log2(r + 2) for r, g in enumerate(row[:k]))
            for row in (ranked, ideal)
        )
        assert value == pytest.approx(dcg / best)
    alike = {
        query: {d: int(g > 0) for d, g in row.items()} for query, row in GRADES.items()
    }
    signed = [
        semmetrics.score(run, some, task="retrieval", measures="nDCG@10")[0].signature
        for some in (GRADES, alike)
    ]
    assert signed[0] != signed[1]


def test_grades_are_turned_with_the_positives():
    matrix = RNG.random((9, 25))
    names = {"queries": [*GRADES], "gallery": [f"d{one}" for one in range(25)]}
    turned = {}
    for query, row in GRADES.items():
        for document, grade in row.items():
            turned.setdefault(document, {})[query] = grade
    options = {"task": "retrieval", "measures": "nDCG@3", "missing": "skip"}
    mine = semmetrics.score(matrix, GRADES, direction="t2i", **names, **options)[0]
    names = {"gallery": names["queries"], "queries": names["gallery"]}
    theirs = semmetrics.score(matrix.T, turned, direction="i2t", **names, **options)[0]
    positive = [
        place
        for place, value in zip(theirs.ids, theirs.items, strict=True)
        if max(turned[place].values()) > 0
    ]
    assert dict(zip(mine.ids, mine.items, strict=True)) == {
        place: value
        for place, value in zip(theirs.ids, theirs.items, strict=True)
        if place in positive
    }


def test_values_are_those_of_ir_measures():
    ir = pytest.importorskip("ir_measures")
    run = {
        query: {
            f"d{one}": 50.0 - rank for rank, one in enumerate(RNG.permutation(25)[:12])
        }
        for query in GRADES
    }
    judged = {
        query: {d: max(0, g) for d, g in row.items()} for query, row in GRADES.items()
    }
    theirs = {
        "nDCG@5": ir.nDCG @ 5,
        "MAP": ir.AP,
        "MAP@5": ir.AP @ 5,
        "Precision@5": ir.P @ 5,
        "Recall@5": ir.R @ 5,
        "MRR": ir.RR,
        "R-Precision": ir.Rprec,
    }
    values = ir.calc_aggregate(theirs.values(), judged, run)
    for one in semmetrics.score(run, GRADES, task="retrieval", measures=[*theirs]):
        assert one.value == pytest.approx(values[theirs[one.heading]], abs=1e-9), (
            one.heading
        )


def test_grades_that_are_odd():
    run, options = (
        {"q": ["a", "b"]},
        {"task": "retrieval", "measures": "nDCG(gain=exponential)@2"},
    )
    with refused("infinite-sum"):
        semmetrics.score(run, {"q": {"a": 2000, "b": 1500}}, **options)
    for grades in ([0, 2], [3, 1]):
        with refused("duplicate"):
            semmetrics.score(run, {"q": [("a", grade) for grade in grades]}, **options)


def test_graded_judgements_in_batches_are_those_of_one_call():
    run = {query: [f"d{one}" for one in RNG.permutation(25)[:12]] for query in GRADES}
    options = {
        "task": "retrieval",
        "measures": "nDCG@5",
        "gallery": [f"d{one}" for one in range(25)],
    }
    scorer, queries = semmetrics.Scorer(keep_rows=False, **options), [*GRADES]
    for some in (queries[:4], queries[4:]):
        scorer.update({q: run[q] for q in some}, {q: GRADES[q] for q in some})
    (mine,), (whole,) = scorer.compute(), semmetrics.score(run, GRADES, **options)
    assert (mine.value, mine.signature) == (pytest.approx(whole.value), whole.signature)


def test_plain_positives_have_gain_1():
    run = {query: [f"d{one}" for one in RNG.permutation(25)[:12]] for query in GRADES}
    plain, graded = {}, {}
    for query, row in GRADES.items():
        plain[query] = [candidate for candidate, grade in row.items() if grade > 0]
        graded[query] = dict.fromkeys(plain[query], 1)
    options = {"task": "retrieval", "measures": "nDCG@3 nDCG nDCG(gain=exponential)@5"}
    without, with_grades = (
        semmetrics.score(run, some, **options) for some in (plain, graded)
    )
    assert without.to_dict() == with_grades.to_dict()
    assert [one.signature for one in without] == [one.signature for one in with_grades]
    for query, value in zip(without[0].ids, without[0].items, strict=True):
        gains = [
            1 / np.log2(rank + 2)
            for rank in range(3)
            if run[query][rank] in plain[query]
        ]
        ideal = sum(1 / np.log2(rank + 2) for rank in range(min(3, len(plain[query]))))
        assert value == pytest.approx(sum(gains) / ideal)


def test_plain_positives_of_both_directions_have_gain_1():
    table = [[0.9, 0.1], [0.2, 0.8]]
    options = {"task": "retrieval", "measures": "nDCG@2", "direction": "both"}
    for reverse in (None, [["0"], ["1"]]):
        found = semmetrics.score(
            table, [["0"], ["1"]], reverse_positives=reverse, **options
        )
        assert [one.value for one in found] == [1.0, 1.0]


LEVELS = [
    "MAP",
    "MAP@5",
    "MRR",
    "MRR@3",
    "Recall@4",
    "Precision@4",
    "HitRate@3",
    "R-Precision",
]


def at_level(name, rel):
    name, sign, k = name.partition("@")
    return f"{name}(rel={rel}){sign}{k}"


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_a_level_of_relevance_is_that_of_judgements_without_lower_grades(rel):
    run = {query: [f"d{one}" for one in RNG.permutation(25)[:12]] for query in GRADES}
    binary = {}
    for query, row in GRADES.items():
        binary[query] = [candidate for candidate, grade in row.items() if grade >= rel]
    names = [*LEVELS, "mAP@R", "MedR", "MeanR(undefined=skip)"]
    options = {"task": "retrieval", "ties": "pessimistic"}
    run = {
        query: {one: float(place // 2) for place, one in enumerate(row)}
        for query, row in run.items()
    }
    levels = [at_level(name, rel) for name in LEVELS]
    levels += [
        f"mAP@R(rel={rel})",
        f"MedR(rel={rel})",
        f"MeanR(undefined=skip,rel={rel})",
    ]
    found = semmetrics.score(run, GRADES, measures=levels, **options)
    wanted = semmetrics.score(run, binary, measures=names, **options)
    assert [one.value for one in found] == pytest.approx(
        [one.value for one in wanted], nan_ok=True
    )
    assert f"|rel:{rel}|" in found[0].signature
    assert "rel:" not in wanted[0].signature


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_levels_of_relevance_are_those_of_ir_measures(rel):
    ir = pytest.importorskip("ir_measures")
    run = {
        query: {
            f"d{one}": 50.0 - rank for rank, one in enumerate(RNG.permutation(25)[:12])
        }
        for query in GRADES
    }
    judged = {
        query: {d: max(0, g) for d, g in row.items()} for query, row in GRADES.items()
    }
    judged = {query: row for query, row in judged.items() if max(row.values()) >= rel}
    theirs = [
        ir.AP(rel=rel),
        ir.AP(rel=rel) @ 5,
        ir.RR(rel=rel),
        ir.RR(rel=rel) @ 3,
        ir.R(rel=rel) @ 4,
        ir.P(rel=rel) @ 4,
        ir.Success(rel=rel) @ 3,
        ir.Rprec(rel=rel),
    ]
    values = ir.calc_aggregate(theirs, judged, run)
    table = semmetrics.score(
        run,
        judged,
        task="retrieval",
        missing="skip",
        measures=[at_level(name, rel) for name in LEVELS],
    )
    for score, measure in zip(table, theirs, strict=True):
        assert score.value == pytest.approx(values[measure], abs=1e-9), score.heading


def test_a_level_above_1_needs_grades():
    run, plain = {"q": ["a", "b"]}, {"q": ["b"]}
    assert (
        semmetrics.score(run, plain, task="retrieval", measures="MRR(rel=1)")[0].value
        == 0.5
    )
    with refused("no-grades", level=2):
        semmetrics.score(run, plain, task="retrieval", measures="MRR(rel=2)")
    graded = {"q": {"b": 1}}  # no candidate is so relevant, which is counted
    score = semmetrics.score(run, graded, task="retrieval", measures="MRR(rel=2)")[0]
    assert score.undefined == {"no_reference": 1}


def test_ties_that_only_a_level_decides_are_noted():
    run, graded = {"q": [("a", 0.5), ("b", 0.5)]}, {"q": {"a": 1, "b": 2}}
    for measure, number in (("MRR", 0), ("MRR(rel=2)", 1)):
        table = semmetrics.score(run, graded, task="retrieval", measures=measure)
        assert sum(fact.n for fact in facts(table, "tied-ranks")) == number
