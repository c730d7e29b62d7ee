"""Soft-SPICE against loops, its undefined cases, and what is said of parsers and embeddings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import soft_spice as oracle
from refusals import codes, facts, refused
from tiny import Tiny

import semmetrics
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import MissingDependencyError
from semmetrics.metrics.caption_similarity import phrases_of

NAME = "Soft-SPICE(parser=given)"
BOTH = "Soft-SPICE(bidirectional=yes,parser=given)"
WORD = st.sampled_from(["dog", "sofa", "red", "on", "is", "small"])
TUPLES = st.lists(st.lists(WORD, min_size=1, max_size=3).map(tuple), max_size=4)
ITEMS = st.lists(
    st.tuples(TUPLES, st.lists(TUPLES, min_size=1, max_size=3)), min_size=1, max_size=5
)


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
    options = {"tokenizer": "whitespace", "tuples": parse, "embedding": letters, **options}
    return semmetrics.score(preds, gts, measures=measures, task="captions", **options)


@settings(max_examples=80, deadline=None)
@given(ITEMS)
def test_equals_loops(data):
    preds = [[written(mine)] for mine, _ in data]
    gts = [[written(one) for one in theirs] for _, theirs in data]
    table = score(preds, gts, [NAME, BOTH])
    for name, both in ((NAME, False), (BOTH, True)):
        expected = [oracle.soft_spice(*item, vector, bidirectional=both) for item in data]
        np.testing.assert_allclose(table[name].items, expected, rtol=0, atol=1e-8)
        defined = [0.0 if math.isnan(value) else value for value in expected]
        assert table[name].value == pytest.approx(sum(defined) / len(defined), abs=1e-8)


@pytest.mark.parametrize(
    ("tuples", "phrases"),
    [
        ([("dog",)], ["dog"]),
        ([("dog", "red")], ["red dog", "dog"]),
        ([("dog", "sofa", "be on")], ["dog on sofa", "dog", "sofa"]),
        ([("dog", "sofa", "bear")], ["dog bear sofa", "dog", "sofa"]),
        ([("dog", "red", "is")], ["red dog", "dog"]),
        ([("dog",), ("dog", "red"), ("dog",)], ["dog", "red dog"]),
        ([("  traffic   light ", "red")], ["red traffic light", "traffic light"]),
        ([("",), (" ",)], []),
        ([], []),
    ],
)
def test_phrases(tuples, phrases):
    assert phrases_of(tuples) == phrases


def test_an_example_by_hand():
    # dog: cos 1; red dog: the nearest is "dog", by 0.8; of the references "cat" has 0 with both
    tiny = Tiny({"dog": [1, 0, 0], "red dog": [0.8, 0.6, 0], "cat": [0, 0, 1]})
    table = score(["dog;dog/red"], [["dog", "cat;dog"]], [NAME, BOTH], embedding=tiny)
    assert table[NAME].value == pytest.approx(0.9, abs=1e-7)
    precision, recall = 0.95, (1.0 + 0.5) / 2
    expected = 2 * precision * recall / (precision + recall)
    assert table[BOTH].value == pytest.approx(expected, abs=1e-7)


def test_what_has_no_value_is_counted_by_cause():
    preds = {"a": ["dog"], "b": [""], "c": ["dog"], "d": [""], "e": [""]}
    gts = {"a": ["dog"], "b": ["dog"], "c": ["", ""], "d": [""], "e": []}
    (one,) = score(preds, gts, missing="empty").scores
    assert one.undefined == {"no_prediction": 2, "undefined": 1, "no_reference": 1}
    assert one.value == pytest.approx(1 / 4)
    np.testing.assert_array_equal(np.isnan(one.items), [False, True, True, True, True])
    name = "Soft-SPICE(parser=given,no_prediction=skip,undefined=1)"
    assert score(preds, gts, name, missing="empty")[0].value == pytest.approx(1.0)


def test_parser_and_embedding_are_in_the_signature_and_computed_again():
    preds, gts = {"a": ["dog;dog/red"]}, {"a": ["dog", "sofa/red"]}
    table = score(preds, gts, "Soft-SPICE(bidirectional=yes,parser=given,captions=written)")
    text = table[0].signature
    assert text.startswith("Soft-SPICE|bidir:yes|parser:given|captions:written|embedding:default|")
    assert "|emb:letters@" in text
    assert "|lookup:text|oov:zero|fit:parser-parse@1@" in text
    again = semmetrics.rescore(text, preds, gts, tuples=parse, embedding=letters)
    assert (again[0].signature, again.differences) == (text, [])
    assert again[0].value == table[0].value


def test_intervals_and_groups_of_candidates():
    preds = {"a": ["dog", "dog/red"], "b": ["sofa", "dog"]}
    gts = {"a": ["sofa"], "b": ["red/sofa"]}
    (one,) = score(preds, gts, ci=True, resamples=50).scores
    assert one.ids == ["a#1", "a#2", "b#1", "b#2"]
    assert one.ci.low <= one.value <= one.ci.high


def test_worst_items_show_the_nearest_phrases():
    table = score({"a": ["dog;dog/red"], "b": [""]}, {"a": ["dog", "sofa/red"], "b": ["dog"]})
    (found,) = table.worst(2)
    assert found["nearest"][0] == ["dog", "dog", 1.0]
    assert [one[0] for one in found["nearest"]] == ["dog", "red dog"]


def test_each_phrase_is_embedded_once_for_all_systems_and_measures():
    asked = []

    def spy(texts):
        asked.extend(texts)
        return letters(texts)

    spy.version = "1"
    systems = {"one": ["dog;dog/red"], "two": ["dog;sofa"]}
    semmetrics.score_systems(
        systems, [["dog", "sofa/red"]], measures=[NAME, BOTH], task="captions",
        tokenizer="whitespace", tuples=parse, embedding=spy,
    )  # fmt: skip
    phrases = {"dog", "red dog", "red sofa", "sofa"}
    assert sorted(text for text in asked if text in phrases) == sorted(phrases)


def test_vectors_of_words_and_what_they_do_not_know():
    words = MatrixEmbedder(np.eye(3), ["red", "dog", "sofa"], lookup="words")
    preds, gts = ["dog/red;cow"], [["dog;sofa/red"]]
    (one,) = score(preds, gts, embedding=words).scores
    # red dog: (1, 1, 0) with (1, 0, 1) or (0, 1, 0); dog: 1; cow: zeros
    assert one.value == pytest.approx((math.sqrt(0.5) + 1 + 0) / 3, abs=1e-7)
    notes = score(preds, gts, embedding=words).notes
    assert any("1 phrase unknown to" in note and "'cow'" in note for note in notes)
    left_out = score(preds, gts, embedding=words, oov="skip")[0]
    assert left_out.value == pytest.approx((math.sqrt(0.5) + 1) / 2, abs=1e-7)
    with refused("unknown-terms"):
        score(preds, gts, embedding=words, oov="error")
    with refused("reads-text"):
        score(preds, gts, lookup="words")


def test_embeddings_have_names():
    name = "Soft-SPICE(parser=given,embedding=m)"
    tiny = Tiny({"dog": [1, 0], "cat": [0, 1]})
    table = score(["dog"], [["cat"]], [name, NAME], embedding={"m": tiny, "n": tiny})
    assert table[name].value == 0.0
    assert "unused-embeddings" in codes(table)
    with refused("unknown-name"):
        score(["dog"], [["cat"]], name)


def test_options_that_have_no_effect_are_said():
    options = {"tuples": None, "lookup": "text", "device": "cpu"}
    table = score(["a dog"], [["a cat"]], "NGSM", **options)
    assert "unused-embeddings" in codes(table)
    idle = [fact.values["option"] for fact in facts(table, "no-effect")]
    assert idle == ["lookup", "device"]


def test_no_synonyms_are_needed(monkeypatch):
    def lacking():
        raise MissingDependencyError("no synonyms", remedy="get them")

    monkeypatch.setattr("semmetrics.text.graphs.open_synonyms", lacking)
    table = semmetrics.score(
        ["a dog on a sofa"], [["a puppy on a couch"]], measures="Soft-SPICE(parser=offline)"
    )
    assert 0.5 < table[0].value < 1


def test_torch_gives_the_same():
    pytest.importorskip("torch", reason="torch is not installed")
    preds, gts = ["dog;dog/red", "sofa"], [["dog", "sofa/red"], ["dog/sofa/on"]]
    first, second = (
        score(preds, gts, [NAME, BOTH], device=device) for device in ("cpu", "torch:cpu")
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one.items, other.items, rtol=0, atol=1e-9)
