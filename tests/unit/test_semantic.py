"""Semantic precision, recall, F1, Jaccard, AP and the soft measures against loops."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import semantic as oracle
from oracles.sets import classes_of
from refusals import codes, refused
from tiny import Tiny, one_hot, with_vectors

import semmetrics
from semmetrics.core.ragged import sum_rows
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics import label_similarity, semantic
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.matching import Ranked, Reference
from semmetrics.metrics.registry import parse
from semmetrics.metrics.semantic import MatchedPairs, SemanticMatches, SemF1
from semmetrics.scoring.signature import read_signature

TERM = st.sampled_from("abcdefgh")
LABEL = st.one_of(
    TERM.map(lambda term: (term,)), st.lists(TERM, min_size=1, max_size=3, unique=True).map(tuple)
)
NUMBER = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
SETS = ("SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP", "SemAP(normalize=hits)")
SOFT = ("SoftPrecision", "SoftRecall", "SoftF1")


@st.composite
def problems(draw):
    """Predictions with scores, references, and vectors; some terms without."""
    label = draw(st.sampled_from([LABEL, TERM.map(lambda term: (term,))]))
    scores = st.sampled_from([0.5, 1.5, 2.0, 3.0])  # 0 and 1 alone would be no scores
    score = scores if draw(st.booleans()) else st.none()
    pred = st.lists(st.tuples(label, score), max_size=5)
    preds = draw(st.lists(pred, min_size=1, max_size=5))
    preds[0].append((("a",), draw(score)))  # a list without scores is told from one with scores
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
    return vectors if instead is None else {**dict.fromkeys("abcdefgh", instead), **vectors}


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
        both = oracle.sides(pred, ref, classes, known, duplicates=duplicates, k=k, above=above)
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


@pytest.mark.parametrize("match", ["greedy", "optimal", "total", "any"])
@given(problems(), CUTS, st.sampled_from([0.0, 0.4, 0.5, 0.8, -0.3]),
       st.sampled_from(["skip", "zero", "unknown"]))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_matching_is_that_of_loops(match, problem, cut, threshold, oov):
    texts = SETS if match != "any" else SETS[:3]

    def expected(pred, ref, vectors):
        return oracle.set_values(pred, ref, vectors, threshold, match)

    check(problem, texts, expected, oov, threshold=threshold, match=match, **cut_of(problem, cut))


@pytest.mark.parametrize("match", ["any", "total"])
@given(problems(), CUTS, st.sampled_from(["skip", "zero", "unknown"]))
@settings(max_examples=80, deadline=None)
def test_soft_measures_are_those_of_loops(match, problem, cut, oov):
    def expected(pred, ref, vectors):
        return oracle.soft_values(pred, ref, vectors, match)

    check(problem, SOFT, expected, oov, match=match, **cut_of(problem, cut))


@given(problems(), st.sampled_from([None, 1, 3]), st.sampled_from(["each", "once"]))
@settings(max_examples=150, deadline=None)
def test_one_hot_vectors_give_the_exact_measures(problem, k, duplicates):
    preds, refs, _ = problem
    at = "" if k is None else f"@{k}"
    exact = ["Precision", "Recall", "F1", "Jaccard", "AP"]
    texts = [f"{name}(duplicates={duplicates}){at}" for name in exact]
    texts += [f"Sem{name}(duplicates={duplicates},threshold=0.5){at}" for name in exact]
    texts += [f"Soft{name}(duplicates={duplicates},match=total){at}" for name in exact[:3]]
    *scores, precision, recall, f1 = semmetrics.score(
        *written(preds, refs), measures=texts, embedding=one_hot("abcdefgh")
    ).scores
    for mine, theirs in zip(scores[:5], scores[5:], strict=True):
        assert_array_equal(mine.items, theirs.items)
        assert mine.value == theirs.value
        assert mine.undefined == theirs.undefined
    if all(
        len(label) == 1 for row in [*refs, *([x for x, _ in p] for p in preds)] for label in row
    ):
        for mine, theirs in zip(scores[:3], (precision, recall, f1), strict=True):
            assert_allclose(theirs.items, mine.items, atol=1e-12)


def test_micro_averages_add_the_counts():
    preds, refs = [["a", "b"], ["c"], []], [["b"], ["a", "c", "d"], ["e"]]
    texts = ["F1", "Precision", "Recall", "Jaccard"]
    table = semmetrics.score(
        preds, refs, embedding=one_hot("abcdefgh"), weights=[1, 2, 0.5],
        measures=[f"{p}{t}({o}average=micro)" for p, o in (("", ""), ("Sem", "threshold=0.5,"))
                  for t in texts],
    )  # fmt: skip
    values = [score.value for score in table]
    assert values[:4] == pytest.approx(values[4:], abs=1e-15)
    counts = semmetrics.score(preds, refs, embedding=one_hot("abcdefgh"),
                              measures=["SemF1(average=micro)"]).scores[0]  # fmt: skip
    assert counts.items.tolist() == pytest.approx([2 / 3, 0.5, 0.0])
    texts = ["SemF1(average=micro)", "SemRecall(average=micro)"]
    nothing = semmetrics.score([[]], [[]], embedding=one_hot("ab"), measures=texts)
    assert [s.value for s in nothing] == [1.0, 1.0]
    assert nothing.scores[0].undefined == {"empty": 1}


# ---- conventions, one by one --------------------------------------------------------------------

ANGLES = {"x": [1, 0], "near": [3, 4], "far": [-1, 0], "up": [0, 1], "none": [0, 0]}


def value(text, preds, refs, vectors=ANGLES, **options):
    return semmetrics.score([preds], [refs], measures=[text], embedding=Tiny(vectors), **options)[
        text
    ].value


def test_the_threshold_is_strict():
    assert value("SemPrecision(threshold=0.6)", ["near"], ["x"]) == 0
    assert value("SemPrecision(threshold=0.599999998)", ["near"], ["x"]) == 1
    assert value("SemPrecision(threshold=1)", ["x"], ["x"]) == 0


def test_equal_terms_are_similar_whatever_their_vectors():
    for term in ("none", "strange"):
        assert value("SemF1(threshold=0.99)", [term], [term]) == 1
        assert value("SoftF1", [term], [term]) == 1
    assert value("SemF1(threshold=0)", ["none"], ["x"]) == 0
    assert value("SemF1(threshold=-0.5)", ["none"], ["x"]) == 1
    assert value("SemF1(threshold=0.99)", ["strange"], ["odd"]) == 0


def test_the_first_unused_reference_is_taken_not_the_nearest():
    # near is similar to both, x to x and to near
    assert value("SemPrecision(threshold=0.5)", ["near", "x"], ["x", "up"]) == 0.5
    assert value("SemPrecision(threshold=0.5)", ["near", "x"], ["up", "x"]) == 1
    assert value("SemPrecision(threshold=0.5)", ["x", "near"], ["x", "up"]) == 1
    assert value("SemPrecision(threshold=0.5,match=optimal)", ["near", "x"], ["x", "up"]) == 1


def test_first_predictions_are_matched_as_if_there_were_no_more():
    """A later prediction may not take the place of an earlier one in a maximum matching."""
    similar = {"p": [1, 1, 0], "q": [1, 0, 0], "r": [0, 1, 0], "A": [1, 0, 0], "B": [0, 1, 0]}
    preds, refs = ["p", "q", "r"], ["A", "B"]
    for k, expected in ((1, 1), (2, 2), (3, 2)):
        found = value(f"SemRecall(threshold=0.5,match=optimal)@{k}", preds, refs, similar)
        assert found == expected / 2


def test_any_counts_references_that_are_served():
    table = semmetrics.score(
        [["x", "near", "far"]], [["x", "far", "up", "none"]], embedding=Tiny(ANGLES),
        measures=[f"{name}(match=any,threshold=0.5){at}" for at in ("", "@1")
                  for name in SETS[:3]],
    )  # fmt: skip
    p, r = 1.0, 0.75
    assert [s.value for s in table][:3] == pytest.approx([p, r, 2 * p * r / (p + r)])
    assert [s.value for s in table][3:] == [1.0, 0.25, 0.4]
    for name in ("SemJaccard", "SemAP"):
        with refused("bad-choice"):
            parse(f"{name}(match=any)")


def test_terms_of_a_prediction_are_tried_in_order():
    preds = [[["up", "x"], "near"]]
    for refs, expected in ((["x", "up"], 0.5), (["near", "x"], 1.0)):
        table = semmetrics.score(
            preds, [[*refs]], measures=["SemPrecision(threshold=0.9)"], embedding=Tiny(ANGLES)
        )
        assert table.scores[0].value == expected


def test_a_label_none_of_whose_terms_is_known_is_left_out():
    preds, refs = [["?", "x"], ["!"], ["x"]], [["x", "odd"], ["x"], ["??"]]
    options = {"embedding": Tiny(ANGLES), "oov": "skip"}
    texts = ["SemPrecision", "SemRecall", "SemJaccard", "SemPrecision@1", "SoftPrecision"]
    table = semmetrics.score(preds, refs, measures=texts, **options)
    expected = [[1, np.nan, 0], [1, 0, np.nan], [1, 0, 0], [np.nan, np.nan, 0], [1, np.nan, 0]]
    for score, values in zip(table, expected, strict=True):
        assert_array_equal(score.items, values)
    assert "unknown-texts" in codes(table)


def test_a_class_stands_by_any_label_that_does():
    """Of two predictions of one class the first may be unknown."""
    preds, refs = [["strange", "x"]], [[["strange", "x"]]]
    table = semmetrics.score(
        preds, refs, measures=["SemF1"], embedding=Tiny(ANGLES), oov="skip"
    )  # fmt: skip
    assert table.scores[0].items.tolist() == [1.0]


def test_oov_policies():
    texts = ["SemPrecision(threshold=0.5)"]
    with_word = Tiny({**ANGLES, "unknown": [1, 1]})
    for oov, expected in (("unknown", 1.0), ("zero", 0.0)):
        table = semmetrics.score([["?"]], [["!"]], measures=texts, embedding=with_word, oov=oov)
        assert table.scores[0].value == expected
        assert f"|oov:{oov}|" in table.scores[0].signature
    with refused("unknown-terms"):
        value(texts[0], ["?"], ["x"], oov="error")
    with refused("no-unknown-word"):
        value(texts[0], ["?"], ["x"], oov="unknown")


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


@pytest.mark.parametrize("oov", ["skip", "zero"])
@pytest.mark.parametrize(
    ("preds", "refs"),
    [([[]], [[]]), ([[], []], [["x"], ["up"]]), ([["x"], ["x"]], [[], []]), ([["?"]], [["!"]]),
     ([["?"], []], [[], ["x"]])],
)  # fmt: skip
def test_empty_sides_are_matters_of_policy(preds, refs, oov):
    texts = ["SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP", *SOFT,
             "SemF1(match=optimal)", "SemF1(match=any)", "SemF1(match=total)",
             "SoftF1(match=total)"]  # fmt: skip
    table = semmetrics.score(preds, refs, measures=texts, embedding=Tiny(ANGLES), oov=oov, ci=True)
    for score in table:
        missing = {"empty", "no_prediction", "no_reference"}
        assert set(score.undefined) <= missing
        assert not math.isnan(score.value)
        policies = [o.name for o in score.measure.definition.options if o.choices == POLICIES]
        for policy, expected in (("0", 0.0), ("1", 1.0)):
            options = dict.fromkeys(policies, policy)
            same = semmetrics.score(
                preds, refs, measures=[score.measure.with_options(**options)],
                embedding=Tiny(ANGLES), oov=oov,
            ).scores[0]  # fmt: skip
            if np.isnan(score.items).all():
                assert same.value == expected


@pytest.mark.parametrize(
    ("duplicates", "expected"), [("once", [1 / 2, 1.0]), ("each", [2 / 3, 2 / 3])]
)  # fmt: skip
def test_repeats(duplicates, expected):
    table = semmetrics.score(
        [["x", "x", "far"], ["x", "x", "x"]], [["x", "x"], ["x", "x"]],
        measures=[f"SemPrecision(duplicates={duplicates})"], embedding=Tiny(ANGLES),
    )  # fmt: skip
    assert table.scores[0].items.tolist() == pytest.approx(expected)


def test_wrong_vectors_and_options():
    broken = Tiny({"x": [1, np.nan], "up": [0, np.inf], "near": [1, 1]})
    for text in ("SemF1", "SoftF1", "WMD", "MeanSim"):
        with refused("vector-not-finite"):
            semmetrics.score([["up", "near"]], [["x"]], measures=[text], embedding=broken)
    for wrong in (2, float("nan"), True):
        with refused("bad-option"):
            SemF1(threshold=wrong)
    with refused("unknown-name"):
        value("SemF1(embedding=other)", ["x"], ["x"])


def test_thresholds_are_written_or_numbers():
    assert SemF1(threshold=0.4) == SemF1(threshold="0.4") == parse("SemF1(threshold=0.4)")[0]
    assert SemF1(threshold=np.float64(0.25))["threshold"] == "0.25"
    assert SemF1(threshold=1) == SemF1(threshold=1.0)


def test_auto_is_the_threshold_of_the_embedding():
    for threshold, expected in ((None, 0.4), (0.61, 0.61)):
        model = Tiny(ANGLES, threshold=threshold)
        score = semmetrics.score([["near"]], [["x"]], measures=["SemF1"], embedding=model).scores[0]
        assert f"|thr:{expected}|" in score.signature
        assert score.value == float(expected < 0.6)
        assert score.heading == "SemF1"


@pytest.mark.parametrize(
    "text",
    ["SemF1", "SemAP@2", "SoftF1(match=total)", "WMD(build=text)@1", "RWMD", "BagSim", "MeanSim",
     "SemRecall(average=micro,match=optimal,threshold=0.3)"],
)  # fmt: skip
def test_a_signature_reads_back(text):
    options = {"embedding": Tiny(ANGLES), "oov": "skip", "weights": [1, 2]}
    (score,) = semmetrics.score([["x"], ["up"]], [["x"], ["far"]], measures=[text], ci=True,
                                **options).scores  # fmt: skip
    found = read_signature(score.signature)
    assert found.measure == score.measure
    assert found.models == {"emb": "tiny-2@000000000000", "lookup": "text", "oov": "skip"}
    weights = f"{score.statistics.weighting:016x}"
    assert found.settings == {**score.statistics.settings, "weights": weights}


# ---- one result, however it is computed ---------------------------------------------------------


def many(rng, n, words, sizes=(5, 9)):
    names = [f"w{i}" for i in range(words)]
    centres = rng.normal(size=(words // 4, 12))[rng.integers(0, words // 4, words)]
    table = (centres + 0.5 * rng.normal(size=(words, 12))).astype(np.float32)
    table[3] = 0
    sides = [
        [[names[i] for i in rng.integers(0, words, rng.integers(0, size + 1))] for _ in range(n)]
        for size in sizes
    ]
    return (*sides, Tiny(dict(zip(names, table.tolist(), strict=True))))


EVERY = [
    "SemPrecision(threshold=0.5)", "SemRecall(threshold=0.5,match=optimal,duplicates=each)@3",
    "SemF1(threshold=0.3,match=any)", "SemAP(threshold=0.5)", "SoftF1",
    "SemJaccard(threshold=0.3,match=total)",
    "SoftPrecision(match=total)",
]  # fmt: skip


def bits(table):
    return [repr((score.value, score.items.tolist())) for score in table]


@pytest.mark.parametrize(
    "limits",
    [{"_TABLE": 0}, {"_TABLE": 0, "_LOCAL": 0, "_GATHERED": (0, 0)},
     {"_TABLE": 1500, "_TENSOR": 200}, {"_TABLE": 0, "_GATHERED": (500, 500), "_LOCAL": 200},
     {"_TENSOR": 0}, {"_PAIR_COST": 0}],
)  # fmt: skip
@pytest.mark.parametrize("synonyms", [False, True])
def test_tables_of_the_task_of_blocks_and_of_batches_give_the_same_bits(
    monkeypatch, limits, synonyms
):
    preds, refs, model = many(np.random.default_rng(1), 150, 60)
    preds[70], refs[70] = preds[0] + [f"w{i}" for i in range(60)] * 6, refs[0] + ["w1", "w2"]
    if synonyms:
        preds = [[[name, "w7"] if name in ("w5", "w6") else name for name in p] for p in preds]
        refs = [[["w9", name] if name in ("w5", "w8") else name for name in r] for r in refs]
    whole = bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model))
    for name, limit in limits.items():
        room = semantic if name == "_TENSOR" else label_similarity
        monkeypatch.setattr(room, name, limit)
    assert bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model)) == whole
    task = type(label_task(as_labels([["a"]]), as_labels([["a"]])))
    monkeypatch.setattr(
        task, "blocks", lambda self, memory=3000, real=task.blocks: real(self, 3000)
    )
    assert bits(semmetrics.score(preds, refs, measures=EVERY, embedding=model)) == whole


def test_an_item_is_worth_the_same_alone():
    preds, refs, model = many(np.random.default_rng(2), 40, 60)
    whole = semmetrics.score(preds, refs, measures=EVERY, embedding=model).scores
    for place in range(40):
        alone = semmetrics.score([preds[place]], [refs[place]], measures=EVERY, embedding=model)
        for score, one in zip(whole, alone, strict=True):
            assert_array_equal(score.items[place], one.items[0])


def test_a_prediction_has_the_same_partner_in_any_block():
    preds, refs, model = many(np.random.default_rng(3), 30, 40)
    task = label_task(as_labels(preds), as_labels(refs))
    task = with_vectors(task, [SemF1(threshold=0.3)], model)
    for match in ("greedy", "optimal", "total", "any"):
        step = SemanticMatches(0.3, match, "each")
        found = []
        for memory in (1 << 25, 500):
            rows = []
            for block in task.blocks(memory):
                matched, ranked, ref = (block.get(s) for s in (step, Ranked(), Reference()))
                partner = np.append(ref.codes, -1)[matched.partner]
                nearest, similarity = block.get(MatchedPairs(step))
                if match == "total":  # a later prediction may take a partner from an earlier one
                    assert_array_equal(*(sum_rows(flags, ranked.indptr)
                                         for flags in (nearest >= 0, matched.hit)))  # fmt: skip
                else:
                    assert_array_equal(nearest >= 0, matched.hit)
                rows += [*zip(ranked.codes.tolist(), partner.tolist(), similarity.tolist(),
                              strict=True)]  # fmt: skip
                one = np.flatnonzero(matched.partner >= 0)
                assert (similarity[one] > 0.3).all()
                if match != "any":
                    assert len(np.unique(matched.partner[one])) == len(one)
            found.append(rows)
        assert found[0] == found[1]
