"""Word mover's distance and bags of labels, with the peculiarities of the paper's code."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import semantic as oracle
from oracles.sets import class_of, classes_of, decode
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics._version import __version__

TEXT_DISTANCES = ["WMD(build=text)", "RWMD(build=text)"]
DISTANCES = ["WMD", "RWMD", *TEXT_DISTANCES]


@pytest.fixture(autouse=True, scope="module")
def accept_files_without_common_labels():
    """Accept data in which no label occurs on both sides."""
    with pytest.MonkeyPatch.context() as patch:
        check = "semmetrics.kinds.side_input_checks.check_shared"
        patch.setattr(check, lambda *arguments: None)
        yield


# ---- comparison with loops ----------------------------------------------------------

WORDS = ["ash", "can", "trash", "x", "parking_meter", "Can", "bin"]
PHRASES = ["trash can", "ash-can", "x y", "can x bin"]
TERMS = st.sampled_from(WORDS + PHRASES)
LABELS = st.lists(TERMS, min_size=1, max_size=2).map(tuple)
UNKNOWN = [1.0, 2.0]


@st.composite
def vector_tables(draw):
    """Vectors of most texts, which are often equal."""
    numbers = draw(st.sampled_from([[0.0, 1.0], [-1.0, 0.0, 0.5, 2.0]]))
    texts = [*WORDS, *PHRASES, "y", "parking meter"]
    unknown = draw(st.sets(st.sampled_from(texts), max_size=6))
    vector = st.lists(st.sampled_from(numbers), min_size=2, max_size=2)
    return {text: draw(vector) for text in texts if text not in unknown}


def find_vectors(texts, vectors, oov):
    """Return the vectors of the texts that count."""
    known = {}
    for text in texts:
        vector = vectors.get(text.replace("_", " "))
        if vector is None:
            vector = {"zero": [0.0, 0.0], "unknown": UNKNOWN, "skip": None}[oov]
        if vector is not None:
            known[text] = vector
    return known


def expected_text_distance(pred, ref, vectors, oov, *, relaxed):
    """Return the distance of the words of all labels."""
    pred_words = oracle.text_words(pred)
    ref_words = oracle.text_words(ref)
    known = find_vectors(pred_words + ref_words, vectors, oov)
    pred_words = [word for word in pred_words if word in known]
    ref_words = [word for word in ref_words if word in known]
    if oov != "skip" and pred and ref and len({*pred_words, *ref_words}) == 1:
        return 0.0
    return oracle.transport_value(
        pred_words, ref_words, known, text=True, relaxed=relaxed
    )


def points_of_labels(pred, ref, vectors, oov):
    """Return the first known term of each label, and the vectors."""
    terms = [term for label in pred + ref for term in label]
    known = find_vectors(terms, vectors, oov)
    pred_points = oracle.label_points(pred, known)
    return pred_points, oracle.label_points(ref, known), known


def have_equal_shares(pred, ref):
    """Return whether every class has the same share of the labels of both sides."""
    classes = classes_of([ref])
    pred_counts = Counter(class_of(label, classes) for label in pred)
    ref_counts = Counter(class_of(label, classes) for label in ref)
    for counted in pred_counts | ref_counts:
        if pred_counts[counted] * len(ref) != ref_counts[counted] * len(pred):
            return False
    return True


def unique_terms(labels):
    return [tuple(dict.fromkeys(label)) for label in labels]


def expected_values(pred, ref, vectors, oov, k):
    pred = decode([(label, None) for label in pred], k)
    *points, known = points_of_labels(pred, ref, vectors, oov)
    distances = [
        oracle.transport_value(*points, known, text=False),
        oracle.transport_value(*points, known, text=False, relaxed=True),
        expected_text_distance(pred, ref, vectors, oov, relaxed=False),
        expected_text_distance(pred, ref, vectors, oov, relaxed=True),
    ]
    if oov == "skip" and pred and ref and have_equal_shares(pred, ref):
        distances = np.nan_to_num(distances).tolist()
    return [*distances, oracle.mean_similarity(*points, known)]


@pytest.mark.parametrize("oov", ["zero", "skip", "unknown"])
@given(
    pred=st.lists(LABELS, max_size=4),
    ref=st.lists(LABELS, max_size=3),
    vectors=vector_tables(),
    k=st.sampled_from([None, 1, 2]),
)
def test_distances_and_similarities_of_bags_equal_loops(oov, pred, ref, vectors, k):
    at = "" if k is None else f"@{k}"
    measures = [f"{name}{at}" for name in [*DISTANCES, "MeanSim"]]
    embedding = Tiny({**vectors, "unknown": UNKNOWN})
    preds = [[list(label) for label in pred]]
    refs = [[list(label) for label in ref]]

    table = semmetrics.score(
        preds, refs, measures=measures, oov=oov, embedding=embedding
    )

    expected = expected_values(unique_terms(pred), unique_terms(ref), vectors, oov, k)
    values = [score.items[0] for score in table]
    assert_allclose(values, expected, rtol=0, atol=1e-8)


# ---- conventions of the paper -------------------------------------------------------

PLANE = {
    "car": [0, 0],
    "bus": [3, 4],
    "van": [0, 0],
    "red car": [6, 8],
    "car bus": [3, 3],
}


def value(measure, pred, ref, vectors=PLANE, **options):
    options = {"measures": measure, "embedding": Tiny(vectors), **options}
    return semmetrics.score([pred], [ref], **options)[0].value


@pytest.mark.parametrize(
    ("pred", "ref", "distance"),
    [
        (["car"], ["car"], 0),
        (["car"], ["van"], 1),
        (["car", "van"], ["van", "car"], 1),
        (["car"], ["van", "bus"], 2.5),
    ],
)
def test_texts_of_different_words_at_no_distance_have_the_distance_1(
    pred, ref, distance
):
    assert value("WMD(build=text)", pred, ref) == distance


@pytest.mark.parametrize("measure", TEXT_DISTANCES)
def test_one_word_and_a_side_without_words_are_at_distance_0(measure):
    """The paper's code looks at the vocabulary of both texts first."""
    assert value(measure, ["car"], ["a"], oov="zero") == 0
    assert value(measure, ["a"], ["car", "b"], oov="zero") == 0


@pytest.mark.parametrize("measure", TEXT_DISTANCES)
@pytest.mark.parametrize(
    ("pred", "ref"),
    [
        pytest.param(["car", "bus"], ["a"], id="two words and none"),
        pytest.param(["a"], ["b"], id="no words"),
        pytest.param(["car"], [], id="no labels"),
    ],
)
@pytest.mark.parametrize("oov", [None, "zero"])
def test_other_texts_without_words_have_no_distance(measure, pred, ref, oov):
    assert math.isnan(value(measure, pred, ref, oov=oov))


@pytest.mark.parametrize("measure", DISTANCES)
def test_distances_ignore_labels_without_a_vector(measure):
    """gensim's ``wmdistance`` does the same."""
    distance = value(measure, ["bus"], ["red car"])

    assert value(measure, ["bus", "lost"], ["red car", "lost"]) == distance
    assert math.isnan(value(measure, ["lost"], ["gone"]))
    assert math.isnan(value(measure, ["bus"], ["gone", "lost"]))


@pytest.mark.parametrize("measure", DISTANCES)
def test_equal_lists_without_vectors_are_at_distance_0(measure):
    assert value(measure, ["lost", "gone"], ["gone", "lost"]) == 0
    assert value(f"{measure}@1", ["gone", "lost"], ["gone"]) == 0
    assert math.isnan(value(measure, ["lost", "gone"], ["lost"]))
    assert math.isnan(value(measure, ["lost", "lost", "gone"], ["lost", "gone"]))


@pytest.mark.parametrize(
    ("pred", "ref"),
    [
        ([["bus, Bus, car"]], ["car"]),
        (["car"], [["bus, Bus, car"]]),
        ([["bus", "bus", "car"]], ["car"]),
    ],
)
def test_the_protocol_counts_a_repeated_term_in_texts_as_often(pred, ref):
    """ "bus, Bus" is two words of the text "bus bus car", and one label."""
    distance = value("WMD(build=text)", pred, ref, normalize="kubany2020")

    assert distance == pytest.approx(5 * 2 / 3)


def test_other_measures_count_a_repeated_term_once():
    twice, once = [["bus", "bus", "car"]], [["bus", "car"]]
    options = {"normalize": "kubany2020"}

    assert value("WMD(build=text)", twice, ["car"]) == pytest.approx(5 / 2)
    for measure in ("WMD", "F1", "MacroF1", "AP", "SemF1"):
        expected = value(measure, once, ["car"], **options)
        assert value(measure, twice, ["car"], **options) == expected


# ---- labels without a vector --------------------------------------------------------


def test_distances_skip_labels_without_a_vector_and_other_measures_use_zeros():
    table = semmetrics.score(
        [["bus", "lost"]],
        [["red car"]],
        embedding=Tiny(PLANE),
        measures="SemF1 WMD RWMD MeanSim",
    )

    policies = [score.signature.partition("|oov:")[2][:4] for score in table]
    assert policies == ["zero", "skip", "skip", "zero"]
    (fact,) = (fact for fact in table.facts if fact.code == "unknown-texts")
    assert fact.values["oov"] == "zero, skip for distances"


def test_an_old_signature_gives_the_old_distance():
    """Version 0.1.0 gave two unknown labels the distance 0."""
    data = [["bus", "lost"], ["lost"]], [["red car"], ["gone"]]
    (score,) = semmetrics.score(*data, measures="WMD", embedding=Tiny(PLANE))
    old = score.signature.replace("oov:skip", "oov:zero").replace(__version__, "0.1.0")

    (rescored,) = semmetrics.rescore(old, *data, embedding=Tiny(PLANE))

    assert score.items[0] == 5
    assert rescored.items.tolist() == [7.5, 0]
    assert "oov:zero" in rescored.signature


VECTORS = {"a b": [3, 4], "x": [1, 0], "unknown": [0, 1]}


def bag_similarity(oov, measure="BagSim", vectors=VECTORS):
    """Score items of which some are empty, and of which ["c", "d"] is unknown."""
    preds = [["a", "b"], ["a", "b"], ["c", "d"], [], [], ["c", "d"]]
    refs = [["x"], ["c", "d"], ["c", "d"], ["c", "d"], [], []]
    options = {"measures": measure, "embedding": Tiny(vectors), "oov": oov}
    return semmetrics.score(preds, refs, **options)[0]


def test_unknown_bags_are_undefined_under_zero_and_count_as_0_or_1():
    score = bag_similarity("zero")

    causes = {"empty": 1, "no_prediction": 1, "no_reference": 1, "undefined": 2}
    assert score.undefined == causes
    assert score.value == pytest.approx((0.6 + 1) / 6)
    assert np.isnan(bag_similarity("zero", "BagSim(undefined=nan)").value)


def test_unknown_bags_have_the_vector_of_the_unknown_token():
    score = bag_similarity("unknown")

    assert score.items[:3].tolist() == [0.6, 0.8, 1.0]
    assert score.undefined == {"empty": 1, "no_prediction": 1, "no_reference": 1}


def test_unknown_bags_count_as_empty_lists_under_skip():
    assert bag_similarity("skip").undefined == {"empty": 4, "no_reference": 1}


@pytest.mark.parametrize("oov", ["error", "unknown"])
def test_unknown_bags_are_an_error_if_nothing_replaces_them(oov):
    vectors = {"a b": [3, 4], "x": [1, 0]}

    with refused("unknown-text", names=["c d"]):
        bag_similarity(oov, vectors=vectors)
