"""Semantic precision, recall, F1, Jaccard, AP and the soft measures against loops."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import semantic as oracle
from oracles.sets import classes_of
from tiny import Tiny, one_hot

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics import label_batches, label_similarity, similarity_sources
from semmetrics.metrics.parsing import parse
from semmetrics.scoring.signature import read_signature

TERM = st.sampled_from("abcdefgh")
LABEL = st.one_of(
    TERM.map(lambda term: (term,)),
    st.lists(TERM, min_size=1, max_size=3, unique=True).map(tuple),
)


@pytest.fixture(autouse=True, scope="module")
def nothing_shared_is_accepted():
    """Random data of a few names may share none with what is given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semmetrics.kinds.side_input_checks.check_shared", lambda *given: None
        )
        yield


NUMBER = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
SETS = (
    "SemPrecision",
    "SemRecall",
    "SemF1",
    "SemJaccard",
    "SemAP",
    "SemAP(normalize=hits)",
)
SOFT = ("SoftPrecision", "SoftRecall", "SoftF1")


@st.composite
def problems(draw):
    """Predictions with scores, references, and vectors; some terms without."""
    label = draw(st.sampled_from([LABEL, TERM.map(lambda term: (term,))]))
    scores = st.sampled_from([0.5, 1.5, 2.0, 3.0])  # 0 and 1 alone would be no scores
    score = scores if draw(st.booleans()) else st.none()
    pred = st.lists(st.tuples(label, score), max_size=5)
    preds = draw(st.lists(pred, min_size=1, max_size=5))
    # a list without scores is told from one with scores
    preds[0].append((("a",), draw(score)))
    refs = [draw(st.lists(label, max_size=4)) for _ in preds]
    vectors = {term: [draw(NUMBER) for _ in range(3)] for term in "abcdefgh"}
    unknown = draw(st.sets(TERM, max_size=4))
    return preds, refs, {t: v for t, v in vectors.items() if t not in unknown}


def written(preds, refs):
    preds = [[list(x) if s is None else (list(x), s) for x, s in row] for row in preds]
    return preds, [[list(x) for x in row] for row in refs]


def standing(vectors, oov):
    """The vectors that an out-of-vocabulary policy leaves, for the oracle."""
    instead = {"zero": [0.0] * 3, "unknown": [1.0, 2.0, 0.0]}.get(oov)
    return (
        vectors
        if instead is None
        else {**dict.fromkeys("abcdefgh", instead), **vectors}
    )


def named(texts, **options):
    """Measures with more options in their names."""
    result = {}
    for text in texts:
        name, _, inside = text.rstrip(")").partition("(")
        more = [f"{key}={value}" for key, value in options.items() if key != "k"]
        full = f"{name}({','.join([inside, *more] if inside else more)})"
        result[text] = full if options.get("k") is None else f"{full}@{options['k']}"
    return result


def check(problem, texts, expected, oov, *, duplicates, k, above, **options):
    preds, refs, vectors = problem
    classes = classes_of(refs)
    decode = "all" if above is None else f"threshold:{above}"
    names = named(texts, duplicates=duplicates, decode=decode, k=k, **options)
    model = Tiny({**vectors, "unknown": [1.0, 2.0, 0.0]})
    table = semmetrics.score(
        *written(preds, refs), measures=list(names.values()), embedding=model, oov=oov
    )
    known = standing(vectors, oov)
    rows = []
    for pred, ref in zip(preds, refs, strict=True):
        both = oracle.sides(
            pred, ref, classes, known, duplicates=duplicates, k=k, above=above
        )
        rows.append((expected(*both, known), *map(len, both)))
    for (text, name), score in zip(names.items(), table, strict=True):
        assert str(score.measure) == str(parse(name)[0])
        values = [found[text] for found, _, _ in rows]
        assert_allclose(score.items, values, rtol=0, atol=1e-8, err_msg=name)
        causes = [
            "empty" if not p and not g else "no_prediction" if not p else "no_reference"
            for _, p, g in rows
        ]
        mean = oracle.mean(
            values, causes, {"empty": "1", "no_prediction": "0", "no_reference": "0"}
        )
        assert score.value == pytest.approx(mean, abs=1e-8, nan_ok=True)


CUTS = st.fixed_dictionaries(
    {
        "duplicates": st.sampled_from(["once", "each"]),
        "k": st.sampled_from([None, 1, 2, 3]),
        "above": st.sampled_from([None, None, 0.0, 1.0]),
    }
)


def cut_of(problem, cut):
    """Without a decoding rule where there are no scores."""
    return cut if problem[0][0][0][1] is not None else {**cut, "above": None}


@pytest.mark.parametrize("match", ["exact-first", "greedy", "optimal", "total", "any"])
@given(
    problems(),
    CUTS,
    st.sampled_from([0.0, 0.4, 0.5, 0.8, -0.3, 1.0]),
    st.sampled_from(["skip", "zero", "unknown"]),
)
def test_matching_is_that_of_loops(match, problem, cut, threshold, oov):
    texts = SETS if match != "any" else SETS[:3]

    def expected(pred, ref, vectors):
        return oracle.set_values(pred, ref, vectors, threshold, match)

    check(
        problem,
        texts,
        expected,
        oov,
        threshold=threshold,
        match=match,
        **cut_of(problem, cut),
    )


@pytest.mark.parametrize("match", ["any", "total"])
@given(problems(), CUTS, st.sampled_from(["skip", "zero", "unknown"]))
def test_soft_measures_are_those_of_loops(match, problem, cut, oov):
    def expected(pred, ref, vectors):
        return oracle.soft_values(pred, ref, vectors, match)

    check(problem, SOFT, expected, oov, match=match, **cut_of(problem, cut))


@given(problems(), st.sampled_from([None, 1, 3]), st.sampled_from(["each", "once"]))
def test_one_hot_vectors_give_the_exact_measures(problem, k, duplicates):
    preds, refs, _ = problem
    at = "" if k is None else f"@{k}"
    exact = ["Precision", "Recall", "F1", "Jaccard", "AP"]
    texts = [f"{name}(duplicates={duplicates}){at}" for name in exact]
    rule = f"duplicates={duplicates},threshold=0.5,match=greedy"  # of synonyms both are greedy
    texts += [f"Sem{name}({rule}){at}" for name in exact]
    texts += [
        f"Soft{name}(duplicates={duplicates},match=total){at}" for name in exact[:3]
    ]
    *scores, precision, recall, f1 = semmetrics.score(
        *written(preds, refs), measures=texts, embedding=one_hot("abcdefgh")
    ).scores
    for mine, theirs in zip(scores[:5], scores[5:], strict=True):
        assert_array_equal(mine.items, theirs.items)
        assert mine.value == theirs.value
        assert mine.undefined == theirs.undefined
    if all(
        len(label) == 1
        for row in [*refs, *([x for x, _ in p] for p in preds)]
        for label in row
    ):
        for mine, theirs in zip(scores[:3], (precision, recall, f1), strict=True):
            assert_allclose(theirs.items, mine.items, atol=1e-12)


# ---- conventions, one by one --------------------------------------------------------------------

ANGLES = {"x": [1, 0], "near": [3, 4], "far": [-1, 0], "up": [0, 1], "none": [0, 0]}


def value(text, preds, refs, vectors=ANGLES, **options):
    return semmetrics.score(
        [preds], [refs], measures=[text], embedding=Tiny(vectors), **options
    )[text].value


def test_the_threshold_is_strict():
    assert value("SemPrecision(threshold=0.6)", ["near"], ["x"]) == 0
    assert value("SemPrecision(threshold=0.599999998)", ["near"], ["x"]) == 1
    assert value("SemPrecision(threshold=1,match=greedy)", ["x"], ["x"]) == 0


def test_equal_labels_are_paired_at_a_threshold_of_1():
    assert value("SemF1(threshold=1)", ["near", "x"], ["x", "up"]) == 0.5
    assert value("SemF1(threshold=1)", [["near", "x"]], [["x", "up"]]) == 1
    assert (
        value("SemF1(threshold=1)", ["same"], ["x"], {"x": [1, 0], "same": [1, 0]}) == 0
    )


def test_a_perfect_answer_is_1_in_any_order():
    pred, ref = {"a": ["horse", "sheep", "dog"]}, {"a": ["dog", "horse", "sheep"]}
    measures = "F1 SemPrecision SemRecall SemF1 SemJaccard SemAP"
    assert [
        score.value for score in semmetrics.score(pred, ref, measures=measures)
    ] == [1] * 6


def test_of_equal_sums_that_with_more_pairs_counts():
    """One pair of 1.0, or two of 0.5."""
    vectors = {
        "p": [2, 0, 0, 0],
        "q": [1, -1, -1, -1],
        "r": [1, 1, 1, 1],
        "s": [1, 0, 0, 0],
    }
    for pred in (["p", "q"], ["q", "p"]):
        for ref in (["r", "s"], ["s", "r"]):
            assert value("SemPrecision(threshold=0.2)", pred, ref, vectors) == 1.0


def test_a_vector_of_zeros_is_similar_to_nothing():
    vectors = {"x": [1, 0], "null": [0, 0], "void": [0, 0], "side": [0, 1]}
    for rule in ("exact-first", "greedy", "optimal", "total", "any"):
        text = f"SemRecall(threshold=-0.5,match={rule})"
        for pred, ref in (
            ("null", "void"),
            ("null", "x"),
            ("unknown", "null"),
            ("a", "b"),
        ):
            assert value(text, [pred], [ref], vectors) == 0
    assert value("SemRecall(threshold=-0.5)", ["null"], ["null"], vectors) == 1
    assert value("SemRecall(threshold=-0.5)", ["side"], ["x"], vectors) == 1
    assert value("SemRecall(threshold=-0.5)", [["null", "side"]], ["x"], vectors) == 1
    for text in ("SoftF1", "SoftF1(match=total)", "MeanSim"):
        assert (
            value(text, ["a"], ["b"], vectors)
            == value(text, ["null"], ["void"], vectors)
            == 0
        )


def random_items(rng, *, synonyms, n=250, alphabet="abcdefghijkl"):
    """Items whose similarities are often equal, with repeated labels, and terms of zeros."""
    numbers = [-1.0, 0.0, 0.0, 1.0, 1.0, 2.0]
    vectors = {term: rng.choice(numbers, 3).tolist() for term in alphabet}
    items = []
    for _ in range(n):
        sides = [], []
        for side, size in zip(sides, rng.integers(0, 6, 2), strict=True):
            for _ in range(size):
                n_terms = rng.choice([1, 1, 2]) if synonyms else 1
                side.append(
                    tuple(rng.choice([*alphabet], n_terms, replace=False).tolist())
                )
        items.append(sides)
    return items, vectors


@pytest.mark.parametrize("device", [None, "torch:cpu"])
@pytest.mark.parametrize("synonyms", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.6, 0.9, 1.0, -0.4])
@pytest.mark.parametrize("duplicates", ["each", "once"])
def test_many_items_are_matched_as_by_trying_all(
    duplicates, threshold, synonyms, device
):
    if device is not None:
        pytest.importorskip("torch")
    rng = np.random.default_rng([round(threshold * 10) % 100, synonyms])
    items, vectors = random_items(rng, synonyms=synonyms)
    preds, refs = ([[list(x) for x in item[side]] for item in items] for side in (0, 1))
    classes = classes_of([ref for _, ref in items])
    options = f"(threshold={threshold},duplicates={duplicates})"
    names = [f"SemAP{options}", f"SemPrecision{options}", f"SemPrecision{options}@2"]
    ap, precision, at_two = semmetrics.score(
        preds, refs, measures=names, embedding=Tiny(vectors), device=device
    )
    for place, item in enumerate(items):
        pred = [(label, None) for label in item[0]]
        first, sides = (
            oracle.sides(pred, item[1], classes, vectors, duplicates=duplicates, k=k)
            for k in (2, None)
        )
        values_at_two = oracle.set_values(*first, vectors, threshold, "exact-first")
        values = oracle.set_values(*sides, vectors, threshold, "exact-first")
        found = ap.items[place], precision.items[place], at_two.items[place]
        known = values["SemAP"], values["SemPrecision"], values_at_two["SemPrecision"]
        assert found == pytest.approx(known, abs=1e-12, nan_ok=True), item
        if sides[0] and not synonyms:
            n_pairs = oracle.exact_first_in_steps(*sides, vectors, threshold)
            assert n_pairs == round(values["SemPrecision"] * len(sides[0]))


@pytest.mark.parametrize("threshold", [0.3, 0.9])
def test_one_assignment_is_solved_for_an_item_however_many_labels_it_has(threshold):
    rng = np.random.default_rng(4)
    words = [f"w{place}" for place in range(300)]
    vectors = dict(zip(words, rng.normal(size=(300, 4)), strict=True))
    preds, refs = ([rng.permutation(words)[:100].tolist()] for _ in range(2))
    solve = "scipy.optimize.linear_sum_assignment"
    with mock.patch(solve, wraps=scipy.optimize.linear_sum_assignment) as solved:
        semmetrics.score(
            preds,
            refs,
            measures=f"SemAP(match=total,threshold={threshold})",
            embedding=Tiny(vectors),
        )
    assert solved.call_count == 1


# ---- one result, however it is computed ---------------------------------------------------------


def many(rng, n, words, sizes=(5, 9)):
    names = [f"w{i}" for i in range(words)]
    centres = rng.normal(size=(words // 4, 12))[rng.integers(0, words // 4, words)]
    table = (centres + 0.5 * rng.normal(size=(words, 12))).astype(np.float32)
    table[3] = 0
    sides = [
        [
            [names[i] for i in rng.integers(0, words, rng.integers(0, size + 1))]
            for _ in range(n)
        ]
        for size in sizes
    ]
    return (*sides, Tiny(dict(zip(names, table.tolist(), strict=True))))


EVERY = [
    "SemPrecision(threshold=0.5)",
    "SemRecall(threshold=0.5,match=optimal,duplicates=each)@3",
    "SemF1(threshold=0.3,match=any)",
    "SemAP(threshold=0.5)",
    "SoftF1",
    "SemJaccard(threshold=0.3,match=total)",
    "SoftPrecision(match=total)",
]


def bits(table):
    return [repr((score.value, score.items.tolist())) for score in table]


@pytest.mark.parametrize(
    "limits",
    [
        {"_MAX_TABLE_CELLS": 0},
        {"_MAX_TABLE_CELLS": 0, "_MAX_GATHERED_ON_CPU": 0},
        {"_MAX_TABLE_CELLS": 1500, "_MAX_CELLS_PER_BATCH": 200},
        {"_MAX_TABLE_CELLS": 0, "_MAX_GATHERED_ON_CPU": 500},
        {"_MAX_CELLS_PER_BATCH": 0},
        {"COST_OF_PAIR": 0},
    ],
)
@pytest.mark.parametrize("synonyms", [False, True])
def test_tables_of_the_task_of_blocks_and_of_batches_give_the_same_bits(
    monkeypatch, limits, synonyms
):
    preds, refs, model = many(np.random.default_rng(1), 75, 60)
    preds[70], refs[70] = (
        preds[0] + [f"w{i}" for i in range(60)] * 6,
        refs[0] + ["w1", "w2"],
    )
    if synonyms:
        preds = [
            [[name, "w7"] if name in ("w5", "w6") else name for name in p]
            for p in preds
        ]
        refs = [
            [["w9", name] if name in ("w5", "w8") else name for name in r] for r in refs
        ]
    whole = bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model))
    for name, limit in limits.items():
        for module in (label_batches, label_similarity, similarity_sources):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, limit)
    assert bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model)) == whole
    task = type(label_task(as_labels([["a"]]), as_labels([["a"]])))
    monkeypatch.setattr(
        task, "blocks", lambda self, memory=3000, real=task.blocks: real(self, 3000)
    )
    assert bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model)) == whole


@pytest.mark.parametrize(
    "text",
    [
        "SemF1",
        "SemAP@2",
        "SoftF1(match=total)",
        "WMD(build=text)@1",
        "RWMD",
        "BagSim",
        "MeanSim",
        "SemRecall(average=micro,match=optimal,threshold=0.3)",
    ],
)
def test_a_signature_reads_back(text):
    options = {"embedding": Tiny(ANGLES), "oov": "skip", "weights": [1, 2]}
    (score,) = semmetrics.score(
        [["x"], ["up"]], [["x"], ["far"]], measures=[text], ci=True, **options
    ).scores
    found = read_signature(score.signature)
    assert found.measure == score.measure
    assert found.models == {
        "emb": "tiny-2@000000000000",
        "lookup": "text",
        "oov": "skip",
    }
    weights = f"{score.statistics.weighting:016x}"
    assert found.settings == {**score.statistics.settings, "weights": weights}
