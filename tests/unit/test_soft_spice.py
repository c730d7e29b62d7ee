"""Soft-SPICE against loops, its undefined cases, and what is said of parsers and embeddings."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import soft_spice as oracle

import semmetrics

NAME = "Soft-SPICE(parser=given)"
BOTH = "Soft-SPICE(bidirectional=yes,parser=given)"
WORD = st.sampled_from(["dog", "sofa", "red", "on", "is", "small"])
TUPLES = st.lists(st.lists(WORD, min_size=1, max_size=3).map(tuple), max_size=4)
ITEMS = st.lists(
    st.tuples(TUPLES, st.lists(TUPLES, min_size=1, max_size=3)), min_size=1, max_size=5
)


@pytest.fixture(autouse=True, scope="module")
def nothing_shared_is_accepted():
    """Random data of a few names may share none with what is given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semmetrics.kinds.side_input_checks.check_shared", lambda *given: None
        )
        yield


def vector(text):
    """Two texts of the same letters have the same vector."""
    return [text.count(letter) + (letter == "o") - 1.5 for letter in "dogsafren"]


def letters(texts):
    return [vector(text) for text in texts]


letters.version = "1"


def parse(captions):
    """A parser: tuples are written with slashes between slots, and semicolons between tuples."""
    split = [caption.split(";") for caption in captions]
    return [[tuple(one.split("/")) for one in several if one] for several in split]


parse.version = "1"


def written(tuples):
    return ";".join("/".join(raw) for raw in tuples)


def score(preds, gts, measures=NAME, **options):
    options = {
        "tokenizer": "whitespace",
        "tuples": parse,
        "embedding": letters,
        **options,
    }
    return semmetrics.score(preds, gts, measures=measures, task="captions", **options)


@given(ITEMS)
def test_equals_loops(data):
    preds = [[written(mine)] for mine, _ in data]
    gts = [[written(one) for one in theirs] for _, theirs in data]
    table = score(preds, gts, [NAME, BOTH])
    for name, both in ((NAME, False), (BOTH, True)):
        expected = [
            oracle.soft_spice(*item, vector, bidirectional=both) for item in data
        ]
        np.testing.assert_allclose(table[name].items, expected, rtol=0, atol=1e-8)
        defined = [0.0 if math.isnan(value) else value for value in expected]
        assert table[name].value == pytest.approx(sum(defined) / len(defined), abs=1e-8)


def test_torch_gives_the_same():
    pytest.importorskip("torch", reason="torch is not installed")
    preds, gts = ["dog;dog/red", "sofa"], [["dog", "sofa/red"], ["dog/sofa/on"]]
    first, second = (
        score(preds, gts, [NAME, BOTH], device=device)
        for device in ("cpu", "torch:cpu")
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one.items, other.items, rtol=0, atol=1e-9)


def test_each_phrase_is_embedded_once_for_all_systems_and_measures():
    asked = []

    def spy(texts):
        asked.extend(texts)
        return letters(texts)

    spy.version = "1"
    systems = {"one": ["dog;dog/red"], "two": ["dog;sofa"]}
    semmetrics.score_systems(
        systems,
        [["dog", "sofa/red"]],
        measures=[NAME, BOTH],
        task="captions",
        tokenizer="whitespace",
        tuples=parse,
        embedding=spy,
    )
    phrases = {"dog", "red dog", "red sofa", "sofa"}
    assert sorted(text for text in asked if text in phrases) == sorted(phrases)


def test_worst_items_show_the_nearest_phrases():
    table = score(
        {"a": ["dog;dog/red"], "b": [""]}, {"a": ["dog", "sofa/red"], "b": ["dog"]}
    )
    (found,) = table.worst(2)
    assert found["nearest"][0] == ["dog", "dog", 1.0]
    assert [one[0] for one in found["nearest"]] == ["dog", "red dog"]
