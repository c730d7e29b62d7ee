"""Soft-SPICE against loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import soft_spice as oracle

import semmetrics

MEASURES = {
    "Soft-SPICE(parser=given)": False,
    "Soft-SPICE(bidirectional=yes,parser=given)": True,
}
WORD = st.sampled_from(["dog", "sofa", "red", "on", "is", "small"])
TUPLE = st.lists(WORD, min_size=1, max_size=3).map(tuple)
TUPLES = st.lists(TUPLE, max_size=4)
ITEMS = st.lists(
    st.tuples(TUPLES, st.lists(TUPLES, min_size=1, max_size=3)), min_size=1, max_size=5
)


@pytest.fixture(autouse=True, scope="module")
def accept_unrelated_sides():
    """Random captions may have no words in common."""
    with pytest.MonkeyPatch.context() as patch:
        check = "semmetrics.kinds.side_input_checks.check_shared"
        patch.setattr(check, lambda *sides: None)
        yield


def vector(text):
    return [text.count(letter) + (letter == "o") - 1.5 for letter in "dogsafren"]


def letters(texts):
    return list(map(vector, texts))


def parse(captions):
    """Parse tuples that are written as "dog;dog/red"."""
    parses = []
    for caption in captions:
        parses.append([tuple(raw.split("/")) for raw in caption.split(";") if raw])
    return parses


letters.version = parse.version = "1"
OPTIONS = {
    "tokenizer": "whitespace",
    "tuples": parse,
    "embedding": letters,
    "task": "captions",
}


def write(tuples):
    return ";".join(map("/".join, tuples))


def score(preds, gts, **options):
    measures = list(MEASURES)
    return semmetrics.score(preds, gts, measures=measures, **{**OPTIONS, **options})


@given(ITEMS)
def test_values_are_those_of_loops(items):
    preds = [write(candidate) for candidate, _ in items]
    gts = [list(map(write, references)) for _, references in items]

    table = score(preds, gts)

    for name, both in MEASURES.items():
        values = [oracle.soft_spice(*i, vector, bidirectional=both) for i in items]
        np.testing.assert_allclose(table[name].items, values, rtol=0, atol=1e-8)
        mean = np.nan_to_num(values).mean()
        assert table[name].value == pytest.approx(mean, abs=1e-8)


PREDS = ["dog;dog/red", "sofa"]
GTS = [["dog", "sofa/red"], ["dog/sofa/on"]]


def test_torch_has_the_values_of_numpy():
    pytest.importorskip("torch", reason="torch is not installed")

    on_torch = score(PREDS, GTS, device="torch:cpu")

    for expected, result in zip(score(PREDS, GTS), on_torch, strict=True):
        np.testing.assert_allclose(result.items, expected.items, rtol=0, atol=1e-9)


def test_a_phrase_is_embedded_once_for_all_systems_and_measures():
    embedded = []

    def watched(texts):
        embedded.extend(texts)
        return letters(texts)

    watched.version = "1"
    semmetrics.score_systems(
        {"first": PREDS, "second": ["dog;sofa", "sofa"]},
        GTS,
        measures=list(MEASURES),
        **{**OPTIONS, "embedding": watched},
    )

    for phrase in ("dog", "red dog", "red sofa", "sofa", "dog on sofa"):
        assert embedded.count(phrase) == 1


def test_worst_items_show_the_nearest_phrases():
    table = score({"a": PREDS[:1]}, {"a": GTS[0]})

    (worst,) = table.worst(1)

    assert worst["nearest"][0] == ["dog", "dog", 1.0]
    assert [phrase for phrase, *_ in worst["nearest"]] == ["dog", "red dog"]
