"""Word mover's distance and bags of labels against loops, with the quirks of the paper's code."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import semantic as oracle
from oracles.sets import class_of, classes_of, kept
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics._version import __version__
from semmetrics.embed.coverage import measure_coverage
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.normalization import kubany2020

WORDS = ["ash", "can", "trash", "x", "parking_meter", "Can", "bin"]
TERM = st.sampled_from([*WORDS, "trash can", "ash-can", "x y", "can x bin"])
LABEL = st.one_of(
    TERM.map(lambda t: (t,)), st.lists(TERM, min_size=2, max_size=2).map(tuple)
)
NUMBER = st.sampled_from([-1.0, 0.0, 0.5, 2.0])
TEXTS = [*WORDS, "y", "trash can", "ash-can", "x y", "can x bin", "parking meter"]
FOUR = ("WMD(build=text)", "WMD", "RWMD(build=text)", "RWMD", "MeanSim")


@pytest.fixture(autouse=True, scope="module")
def nothing_shared_is_accepted():
    """The distance of labels without vectors is tried in items of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semmetrics.kinds.side_input_checks.check_shared", lambda *given: None
        )
        yield


@st.composite
def problems(draw):
    preds = draw(st.lists(st.lists(LABEL, max_size=4), min_size=1, max_size=4))
    refs = [draw(st.lists(LABEL, max_size=3)) for _ in preds]
    few = draw(st.booleans())  # vectors that are often equal
    number = st.sampled_from([0.0, 1.0]) if few else NUMBER
    vectors = {text: [draw(number) for _ in range(2)] for text in TEXTS}
    unknown = draw(st.sets(st.sampled_from(TEXTS), max_size=6))
    return preds, refs, {t: v for t, v in vectors.items() if t not in unknown}


def known(vectors, oov):
    """A function from a term, or a word, to its vector; None where it takes no part."""
    instead = {"zero": [0.0, 0.0], "unknown": [1.0, 2.0], "skip": None}[oov]
    return lambda text: vectors.get(text.replace("_", " "), instead)


def expected(text, pred, ref, vectors, oov, classes):
    look = known(vectors, oov)
    pred, ref = (
        [tuple(dict.fromkeys(label)) for label in side] for side in (pred, ref)
    )
    if "text" in text:
        sides = [oracle.text_words(side) for side in (pred, ref)]
        table = {word: look(word) for side in sides for word in side}
    else:
        table = {t: look(t) for side in (pred, ref) for label in side for t in label}
    table = {word: vector for word, vector in table.items() if vector is not None}
    if "text" in text:
        sides = [[word for word in side if word in table] for side in sides]
    else:
        sides = [oracle.label_points(side, table) for side in (pred, ref)]
    if text == "MeanSim":
        return oracle.mean_similarity(*sides, table)
    if (
        "text" in text
        and oov != "skip"
        and pred
        and ref
        and len({*sides[0], *sides[1]}) == 1
    ):
        return 0.0
    nothing_left = pred and ref and not all(sides)
    if oov == "skip" and nothing_left and same_shares(pred, ref, classes):
        return 0.0
    return oracle.transport_value(
        *sides, table, text="text" in text, relaxed=text[0] == "R"
    )


def same_shares(pred, ref, classes):
    """Whether every class has the same share of the labels of both sides."""
    mine, theirs = (
        Counter(class_of(label, classes) for label in side) for side in (pred, ref)
    )
    return all(mine[c] * len(ref) == theirs[c] * len(pred) for c in {*mine, *theirs})


@given(
    problems(),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(["zero", "skip", "unknown"]),
)
def test_bags_are_those_of_loops(problem, k, oov):
    preds, refs, vectors = problem
    classes = classes_of(
        [[tuple(dict.fromkeys(label)) for label in ref] for ref in refs]
    )
    at = "" if k is None else f"@{k}"
    table = semmetrics.score(
        [[list(x) for x in row] for row in preds],
        [[list(x) for x in row] for row in refs],
        measures=[text + at for text in FOUR],
        oov=oov,
        embedding=Tiny({**vectors, "unknown": [1.0, 2.0]}),
    )
    for text, score in zip(FOUR, table, strict=True):
        values = [
            expected(
                text, kept([(x, None) for x in pred], k), ref, vectors, oov, classes
            )
            for pred, ref in zip(preds, refs, strict=True)
        ]
        assert_allclose(score.items, values, rtol=0, atol=1e-8, err_msg=text)
        defined = [value for value in values if not math.isnan(value)]
        if "WMD" in text:  # what is undefined is left out
            mean = sum(defined) / len(defined) if defined else math.nan
            assert score.value == pytest.approx(mean, abs=1e-8, nan_ok=True)
    exact, bound = table.scores[0].items, table.scores[2].items
    assert not (bound > exact + 1e-9).any()


PLANE = {
    "car": [0, 0],
    "bus": [3, 4],
    "van": [0, 0],
    "red car": [6, 8],
    "car bus": [3, 3],
}


def value(text, pred, ref, vectors=PLANE, **options):
    given = {"measures": [text], "embedding": Tiny(vectors), **options}
    (score,) = semmetrics.score([pred], [ref], **given).scores
    return score.value


def test_quirks_of_the_papers_code():
    assert value("WMD(build=text)", ["car"], ["car"]) == 0
    assert value("WMD(build=text)", ["car"], ["van"]) == 1  # two words, no distance
    assert value("WMD(build=text)", ["car", "van"], ["van", "car"]) == 1
    assert value("RWMD(build=text)", ["car"], ["van"]) == 1
    assert value("WMD(build=text)", ["car"], ["van", "bus"]) == 2.5
    assert value("WMD", ["car"], ["van"]) == 0
    assert value("WMD(build=text)", ["?"], ["!!", "??"], oov="zero") is not None


@pytest.mark.parametrize("text", ["WMD(build=text)", "RWMD(build=text)"])
def test_one_word_and_a_side_without_words_are_at_distance_0(text):
    """As in the paper's code, which looks at the vocabulary of both texts first."""
    zero = partial(value, text, oov="zero")
    assert zero(["car"], ["a"]) == zero(["a"], ["car", "b"]) == 0
    assert (
        value(text, ["car", "car"], ["?"], oov="unknown", vectors={"unknown": [1, 2]})
        == 0
    )
    # two words and none, no words at all, no labels, and words that are left out have no value
    for pred, ref in (
        (["car", "bus"], ["a"]),
        (["a"], ["b"]),
        (["car"], []),
        ([], ["car"]),
    ):
        assert math.isnan(value(text, pred, ref))
        assert math.isnan(zero(pred, ref))
    assert math.isnan(value(text, ["car"], ["dog"], oov="skip"))
    assert value(text, ["car"], [], measures=[f"{text[:-1]},no_reference=1)"]) == 1
    assert math.isnan(value("WMD", ["car"], ["dog"], oov="skip"))


@pytest.mark.parametrize("text", ["WMD", "RWMD", "WMD(build=text)", "RWMD(build=text)"])
def test_distances_leave_labels_without_a_vector_out(text):
    """As gensim's wmdistance does."""
    assert value(text, ["bus", "??x"], ["red car"]) == value(text, ["bus"], ["red car"])
    assert value(text, ["bus", "lost"], ["red car", "lost"]) == value(
        text, ["bus"], ["red car"]
    )
    for pred, ref in (
        (["lost"], ["gone"]),
        (["lost"], ["bus"]),
        (["bus"], ["gone", "lost"]),
    ):
        assert math.isnan(value(text, pred, ref))
    # two lists of the same labels are at no distance, whatever their vectors
    for pred, ref in ((["lost"], ["lost"]), (["lost", "gone"], ["gone", "lost"])):
        assert value(text, pred, ref) == 0
    assert value(text, ["lost", "lost"], ["lost"]) == 0
    assert math.isnan(value(text, ["lost", "lost", "gone"], ["lost", "gone"]))
    assert math.isnan(value(text, ["lost", "gone"], ["lost"]))
    assert math.isnan(value(text, [], []))
    assert value(text, ["lost", "gone"], ["gone"], measures=[f"{text}@1"]) != 0
    assert value(text, ["gone", "lost"], ["gone"], measures=[f"{text}@1"]) == 0


def test_a_policy_that_is_set_applies_to_every_measure():
    given = {
        "embedding": Tiny({**PLANE, "unknown": [1, 1]}),
        "measures": "SemF1 WMD RWMD MeanSim",
    }
    for oov in (None, "zero", "skip", "unknown"):
        table = semmetrics.score([["bus", "lost"]], [["red car"]], oov=oov, **given)
        policies = [
            score.signature.partition("|oov:")[2].partition("|")[0] for score in table
        ]
        assert policies == (
            ["zero", "skip", "skip", "zero"] if oov is None else [oov] * 4
        )
        codes = {
            fact.values["oov"] for fact in table.facts if fact.code == "unknown-texts"
        }
        assert codes == {"zero, skip for distances" if oov is None else oov}


def test_an_old_signature_gives_the_old_distance():
    """Of two unknown labels it was 0, and 0.2.0 leaves them out."""
    given = {"embedding": Tiny(PLANE)}
    preds, refs = [["bus", "lost"], ["lost"]], [["red car"], ["gone"]]
    (now,) = semmetrics.score(preds, refs, measures=["WMD"], **given)
    assert now.items[0] == 5
    old = now.signature.replace("oov:skip", "oov:zero").replace(__version__, "0.1.0")
    (again,) = semmetrics.rescore(old, preds, refs, **given)
    assert again.items.tolist() == [7.5, 0]
    assert "oov:zero" in again.signature
    (same,) = semmetrics.rescore(now.signature, preds, refs, **given)
    assert same.signature == now.signature
    assert same.value == now.value


def test_a_term_that_a_cell_repeats_counts_as_often_in_the_texts_of_the_protocol(
    tmp_path,
):
    """ "bus, Bus" is two words of "bus bus car" and one label."""
    once, twice = [["bus, car"]], [["bus, Bus, car"]]
    ref, setting = [["car"]], {"normalize": "kubany2020"}
    measure = "WMD(build=text)"
    assert value(measure, *once, *ref, **setting) == pytest.approx(5 / 2)
    assert value(measure, *twice, *ref, **setting) == pytest.approx(5 * 2 / 3)
    assert value(measure, ["car"], *twice, **setting) == pytest.approx(5 * 2 / 3)
    assert value(measure, [["bus", "bus", "car"]], ["car"], **setting) == pytest.approx(
        5 * 2 / 3
    )
    assert value(measure, [["bus", "bus", "car"]], ["car"]) == pytest.approx(5 / 2)
    assert value("WMD", *twice, ["car"], **setting) == value(
        "WMD", *once, ["car"], **setting
    )
    cells = {
        "preds.csv": [("a", "car, car"), ("b", "bus")],
        "gts.csv": [("a", "car"), ("b", "x")],
    }
    for name, rows in cells.items():
        lines = ["id,label", *(f'{item},"{label}"' for item, label in rows)]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    exact = "F1 MacroF1 MicroF1 SubsetAccuracy AP"
    files = [str(tmp_path / name) for name in cells]
    table = semmetrics.score(
        *files, measures=f"{exact} SemF1", embedding=Tiny(PLANE), **setting
    )
    plain = semmetrics.score(
        {"a": ["car"], "b": ["bus"]},
        {"a": ["car"], "b": ["x"]},
        measures=f"{exact} SemF1",
        embedding=Tiny(PLANE),
        **setting,
    )
    assert [str(one.signature) for one in table] == [
        str(one.signature) for one in plain
    ]
    assert [one.value for one in table] == [one.value for one in plain]


def test_the_protocol_has_the_quirks_of_few_words_and_repeated_terms():
    vectors = {**PLANE, "unknown": [9, 9]}
    table = semmetrics.score(
        {"one": ["a"], "two": ["bus, Bus, car"]},
        {"one": ["car"], "two": ["car"]},
        protocol="kubany2020",
        top_k=5,
        embedding=Tiny(vectors),
    )
    (score,) = (one for one in table if one.heading == "WMD@5")
    assert_allclose(score.items, [0, 10 / 3])
    assert not score.undefined
    labels = as_labels({"two": [["bus", "Bus", "car"]]}).normalized(
        kubany2020, repeats=True
    )
    (counted,) = measure_coverage({"y": labels}, Tiny(vectors))
    assert (counted.labels, counted.terms) == (1, 3)


def bag(model, oov, name="BagSim"):
    preds = [["a", "b"], ["a", "b"], ["c", "d"], [], [], ["c", "d"]]
    refs = [["x"], ["c", "d"], ["c", "d"], ["c", "d"], [], []]
    (score,) = semmetrics.score(
        preds, refs, measures=[name], embedding=model, oov=oov
    ).scores
    return score


def test_a_list_that_a_model_does_not_know_is_not_empty():
    model = Tiny({"a b": [3, 4], "x": [1, 0], "unknown": [0, 1]})
    zero = bag(model, "zero")
    causes = {"empty": 1, "no_prediction": 1, "no_reference": 1, "undefined": 2}
    assert zero.undefined == causes
    assert zero.value == pytest.approx((0.6 + 1) / 6)
    assert np.isnan(bag(model, "zero", "BagSim(undefined=nan)").value)
    unknown = bag(model, "unknown")
    assert unknown.items[:3].tolist() == [0.6, 0.8, 1.0]
    assert unknown.undefined == {"empty": 1, "no_prediction": 1, "no_reference": 1}
    skip = bag(model, "skip")
    assert skip.undefined == {"empty": 4, "no_reference": 1}
    with refused("unknown-text", names=["c d"]):
        bag(model, "error")
    lacking = Tiny({"a b": [3, 4], "x": [1, 0]})
    with refused("unknown-text", names=["c d"]):
        bag(lacking, "unknown")
