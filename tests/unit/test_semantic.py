"""Semantic precision, recall, F1, Jaccard and AP, and soft measures, compared with loops."""

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

RULES = ["exact-first", "greedy", "optimal", "total", "any"]
SET_MEASURES = ["SemPrecision", "SemRecall", "SemF1"]
ORDERED_MEASURES = ["SemJaccard", "SemAP", "SemAP(normalize=hits)"]
SOFT_MEASURES = ["SoftPrecision", "SoftRecall", "SoftF1"]


def with_options(name, options):
    """Return a measure with more options."""
    if name.endswith(")"):
        return name.removesuffix(")") + f",{options})"
    return f"{name}({options})"


@pytest.fixture(autouse=True, scope="module")
def accept_files_without_common_labels():
    """Accept random data in which no label occurs on both sides."""
    with pytest.MonkeyPatch.context() as patch:
        check = "semmetrics.kinds.side_input_checks.check_shared"
        patch.setattr(check, lambda *arguments: None)
        yield


# ---- random label lists -------------------------------------------------------------

TERMS = st.sampled_from("abcdefgh")
LABELS_OF_ONE_TERM = st.tuples(TERMS)
LABELS = st.lists(TERMS, min_size=1, max_size=3, unique=True).map(tuple)
NUMBERS = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
UNKNOWN = [1.0, 2.0, 0.0]


class Problem:
    """Scored predictions, references and vectors, as semmetrics and the oracle read them."""

    def __init__(self, preds, refs, vectors):
        self.preds = preds
        self.refs = refs
        self.vectors = vectors
        self.classes = classes_of(refs)
        self.is_scored = preds[0][0][1] is not None

    def score(self, measures, **options):
        preds = []
        refs = []
        for pred, ref in zip(self.preds, self.refs, strict=True):
            labels = [list(label) for label, _ in pred]
            if self.is_scored:
                scores = [score for _, score in pred]
                labels = list(zip(labels, scores, strict=True))
            preds.append(labels)
            refs.append([list(label) for label in ref])
        own_embedding = Tiny(self.vectors | {"unknown": UNKNOWN})
        options = {"embedding": own_embedding} | options
        return semmetrics.score(preds, refs, measures=measures, **options)

    def sides(self, vectors, **options):
        """Return the predictions and references of each item that count."""
        items = zip(self.preds, self.refs, strict=True)
        return [oracle.sides(*item, self.classes, vectors, **options) for item in items]

    def known_vectors(self, oov):
        """Return the vectors of the terms that count under an out-of-vocabulary policy."""
        if oov == "skip":
            return self.vectors
        replacement = [0.0] * 3 if oov == "zero" else UNKNOWN
        return dict.fromkeys("abcdefgh", replacement) | self.vectors


@st.composite
def problems(draw):
    labels = draw(st.sampled_from([LABELS, LABELS_OF_ONE_TERM]))
    scores = st.none()
    if draw(st.booleans()):
        scores = st.sampled_from([0.5, 1.5, 2.0, 3.0])
    rows = st.lists(st.tuples(labels, scores), max_size=5)
    preds = draw(st.lists(rows, min_size=1, max_size=5))
    preds[0].insert(0, (("a",), draw(scores)))
    refs = [draw(st.lists(labels, max_size=4)) for _ in preds]
    terms = draw(st.sets(TERMS, min_size=4))
    vectors = {}
    for term in sorted(terms):
        vectors[term] = [draw(NUMBERS) for _ in range(3)]
    return Problem(preds, refs, vectors)


CUTS = st.fixed_dictionaries(
    {
        "duplicates": st.sampled_from(["once", "each"]),
        "k": st.sampled_from([None, 1, 2, 3]),
        "above": st.sampled_from([None, None, 0.0, 1.0]),
    }
)
POLICIES = st.sampled_from(["skip", "zero", "unknown"])


def check_measures(problem, names, options, oracle_values, oov, cut):
    """Compare the values of items, and their mean, with the oracle."""
    if not problem.is_scored:
        cut["above"] = None
    options += f",duplicates={cut['duplicates']}"
    if cut["above"] is not None:
        options += f",decode=threshold:{cut['above']}"
    at = "" if cut["k"] is None else f"@{cut['k']}"
    vectors = problem.known_vectors(oov)

    measures = [with_options(name, options) + at for name in names]
    scores = problem.score(measures, oov=oov)

    sides = problem.sides(vectors, **cut)
    expected = [oracle_values(*side, vectors) for side in sides]
    value_if_undefined = [0.0 if pred or ref else 1.0 for pred, ref in sides]
    for name, score in zip(names, scores, strict=True):
        items = [values[name] for values in expected]
        assert_allclose(score.items, items, rtol=0, atol=1e-8, err_msg=name)
        defined_items = np.where(np.isnan(items), value_if_undefined, items)
        assert score.value == pytest.approx(defined_items.mean(), abs=1e-8)


@pytest.mark.parametrize("match", RULES)
@given(
    problem=problems(),
    cut=CUTS,
    threshold=st.sampled_from([0.0, 0.4, 0.5, 0.8, -0.3, 1.0]),
    oov=POLICIES,
)
def test_matching_equals_loops(match, problem, cut, threshold, oov):
    def values(pred, ref, vectors):
        return oracle.set_values(pred, ref, vectors, threshold, match)

    measures = SET_MEASURES
    if match != "any":
        measures = SET_MEASURES + ORDERED_MEASURES
    options = f"threshold={threshold},match={match}"
    check_measures(problem, measures, options, values, oov, cut)


@pytest.mark.parametrize("match", ["any", "total"])
@given(problem=problems(), cut=CUTS, oov=POLICIES)
def test_soft_measures_equal_loops(match, problem, cut, oov):
    def values(pred, ref, vectors):
        return oracle.soft_values(pred, ref, vectors, match)

    check_measures(problem, SOFT_MEASURES, f"match={match}", values, oov, cut)


@pytest.mark.parametrize("name", ["Precision", "Recall", "F1", "Jaccard", "AP"])
@given(
    problem=problems(),
    at=st.sampled_from(["", "@1", "@3"]),
    duplicates=st.sampled_from(["each", "once"]),
)
def test_one_hot_vectors_give_the_exact_measure(name, problem, at, duplicates):
    options = f"duplicates={duplicates}"
    exact_measure = f"{name}({options}){at}"
    measure = f"Sem{name}({options},threshold=0.5,match=greedy){at}"

    exact, semantic = problem.score(
        [exact_measure, measure], embedding=one_hot("abcdefgh")
    )

    assert_array_equal(semantic.items, exact.items)
    assert semantic.value == exact.value
    assert semantic.undefined == exact.undefined


def random_lists(rng, words, sizes):
    """Draw words of each item, which may be repeated."""
    return [rng.choice(words, size).tolist() for size in sizes]


@pytest.mark.parametrize("device", [None, "torch:cpu"])
@pytest.mark.parametrize("threshold", [-0.4, 0.0, 0.3, 0.9])
def test_equal_labels_are_paired_before_the_others_in_many_items(threshold, device):
    if device is not None:
        pytest.importorskip("torch")
    rng = np.random.default_rng(round(threshold * 10) % 100)
    numbers = [-1.0, 0.0, 0.0, 1.0, 1.0, 2.0]  # many similarities are equal
    vectors = {term: rng.choice(numbers, 3).tolist() for term in "abcdefghijkl"}
    terms = list(vectors)
    preds = random_lists(rng, terms, rng.integers(0, 6, 250))
    refs = random_lists(rng, terms, rng.integers(0, 6, 250))
    measure = f"SemPrecision(threshold={threshold},duplicates=each)"

    (score,) = semmetrics.score(
        preds, refs, measures=measure, embedding=Tiny(vectors), device=device
    )

    for pred, ref, value in zip(preds, refs, score.items, strict=True):
        expected = np.nan
        if pred:
            pred_labels = [(term,) for term in pred]
            ref_labels = [(term,) for term in ref]
            n_pairs = oracle.exact_first_in_steps(
                pred_labels, ref_labels, vectors, threshold
            )
            expected = n_pairs / len(pred)
        assert_allclose(value, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("threshold", [0.3, 0.9])
def test_one_assignment_is_solved_for_all_prefixes_of_an_item(threshold):
    rng = np.random.default_rng(4)
    words = [f"w{place}" for place in range(300)]
    vectors = dict(zip(words, rng.normal(size=(300, 4)), strict=True))
    pred, ref = rng.permutation(words).reshape(2, 150).tolist()
    measure = f"SemAP(match=total,threshold={threshold})"

    solver = scipy.optimize.linear_sum_assignment
    with mock.patch.object(scipy.optimize, solver.__name__, wraps=solver) as solve:
        score_item(measure, pred, ref, vectors)

    assert solve.call_count == 1


# ---- conventions --------------------------------------------------------------------

ANGLES = {"x": [1, 0], "near": [3, 4], "far": [-1, 0], "up": [0, 1]}


def score_item(measure, pred, ref, vectors=ANGLES):
    """Return the value of one item."""
    (score,) = semmetrics.score(
        [pred], [ref], measures=measure, embedding=Tiny(vectors)
    )
    return score.value


@pytest.mark.parametrize(
    ("options", "pred", "value"),
    [
        ("threshold=0.6", "near", 0),
        ("threshold=0.599999998", "near", 1),
        ("threshold=1,match=greedy", "x", 0),
    ],
)
def test_a_similarity_equal_to_the_threshold_does_not_match(options, pred, value):
    assert score_item(f"SemPrecision({options})", [pred], ["x"]) == value


@pytest.mark.parametrize(
    ("pred", "ref", "value"),
    [
        (["near", "x"], ["x", "up"], 0.5),
        ([["near", "x"]], [["x", "up"]], 1),
        (["same"], ["x"], 0),
    ],
)
def test_equal_labels_match_at_a_threshold_of_1(pred, ref, value):
    vectors = ANGLES | {"same": ANGLES["x"]}

    assert score_item("SemF1(threshold=1)", pred, ref, vectors) == value


@pytest.mark.parametrize("pred", [["p", "q"], ["q", "p"]])
@pytest.mark.parametrize("ref", [["r", "s"], ["s", "r"]])
def test_of_equal_sums_the_one_with_more_pairs_counts(pred, ref):
    """One pair has the similarity 1, or two pairs have 0.5 each."""
    vectors = {
        "p": [2, 0, 0, 0],
        "q": [1, -1, -1, -1],
        "r": [1, 1, 1, 1],
        "s": [1, 0, 0, 0],
    }

    assert score_item("SemPrecision(threshold=0.2)", pred, ref, vectors) == 1.0


NULL_VECTORS = {"x": [1, 0], "null": [0, 0], "void": [0, 0], "side": [0, 1]}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("pred", "ref"),
    [("null", "void"), ("null", "x"), ("unknown", "null"), ("a", "b")],
)
def test_a_vector_of_zeros_matches_nothing_at_any_threshold(rule, pred, ref):
    measure = f"SemRecall(threshold=-0.5,match={rule})"

    assert score_item(measure, [pred], [ref], NULL_VECTORS) == 0


@pytest.mark.parametrize(("pred", "ref"), [("null", "null"), (["null", "side"], "x")])
def test_a_vector_of_zeros_matches_an_equal_label_or_through_a_synonym(pred, ref):
    measure = "SemRecall(threshold=-0.5)"

    assert score_item(measure, [pred], [ref], NULL_VECTORS) == 1


@pytest.mark.parametrize("measure", ["SoftF1", "SoftF1(match=total)", "MeanSim"])
@pytest.mark.parametrize(("pred", "ref"), [("a", "b"), ("null", "void")])
def test_soft_measures_of_vectors_of_zeros_are_0(measure, pred, ref):
    assert score_item(measure, [pred], [ref], NULL_VECTORS) == 0


# ---- independence of how a value is computed ----------------------------------------

VARIED_MEASURES = [
    "SemRecall(threshold=0.5,match=optimal,duplicates=each)@3",
    "SemF1(threshold=0.3,match=any)",
    "SemAP(threshold=0.5)",
    "SoftF1",
    "SemJaccard(threshold=0.3,match=total)",
    "SoftPrecision(match=total)",
]


# Few words have a table of all their similarities, and many words do not.
@pytest.mark.parametrize(
    ("n_items", "n_words", "synonyms"),
    [
        (200, 40, False),
        (200, 40, True),
        (200, 500, False),
        pytest.param(7000, 7000, True, marks=pytest.mark.slow),
    ],
)
def test_an_item_has_the_same_bits_alone_and_among_many(n_items, n_words, synonyms):
    rng = np.random.default_rng(1)
    words = [f"w{place}" for place in range(n_words)]
    centres = rng.normal(size=(n_words // 4, 12))
    noise = rng.normal(size=(n_words, 12))
    vectors = np.tile(centres, (4, 1)) + 0.5 * noise
    model = Tiny(dict(zip(words, vectors.tolist(), strict=True)))
    pred_sizes, ref_sizes = rng.integers(0, 8, (2, n_items))
    preds = random_lists(rng, words[3:], pred_sizes)
    refs = random_lists(rng, words[3:], ref_sizes)
    if synonyms:  # of words that are not used for other labels
        preds = [[*pred, words[:2]] for pred in preds]
        refs = [[*ref, words[1:3]] for ref in refs]

    def score(preds, refs):
        """Return one row per measure, and one column per item."""
        measures = VARIED_MEASURES
        table = semmetrics.score(preds, refs, measures=measures, embedding=model)
        return np.array([score.items for score in table])

    together = score(preds, refs)

    for item in range(5):
        alone = score([preds[item]], [refs[item]])
        assert_array_equal(alone, together[:, [item]])
