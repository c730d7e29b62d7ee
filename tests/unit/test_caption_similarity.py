"""BagSim of captions, as a measure and for all pairs, against loops."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import soft_spice as oracle
from refusals import refused

import semmetrics
from semmetrics import caption_matrix

MEASURES = {"BagSim": "joined", "BagSim(references=mean)": "mean"}
TEXT = st.lists(st.sampled_from(["a dog", "Cat", "sits", "on", "  "]), max_size=4)
CAPTION = TEXT.map(" ".join)
ITEMS = st.lists(
    st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=3)),
    min_size=1,
    max_size=5,
)
IMAGES = [["a dog runs", "dogs on a beach", "a wet dog"], ["two men"], ["a cat", " "]]
CAPTIONS = ["a dog", "men on a beach", "", "a cat"]


def vector(text):
    return [text.count(letter) + (letter == "a") - 0.5 for letter in "abcdghmnost "]


def letters(texts):
    return list(map(vector, texts))


letters.version = "1"


@pytest.fixture(autouse=True, scope="module")
def accept_unrelated_sides():
    """Random captions may have no words in common."""
    with pytest.MonkeyPatch.context() as patch:
        check = "semmetrics.kinds.side_input_checks.check_shared"
        patch.setattr(check, lambda *sides: None)
        yield


@given(ITEMS)
def test_values_are_those_of_loops(items):
    candidates, references = zip(*items, strict=True)

    table = semmetrics.score(
        list(candidates),
        list(references),
        measures=list(MEASURES),
        embedding=letters,
        task="captions",
    )

    for name, how in MEASURES.items():
        expected = [oracle.bag_similarity(*item, vector, how=how) for item in items]
        np.testing.assert_allclose(table[name].items, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("rows", ["images", "references"])
@pytest.mark.parametrize(("name", "how"), MEASURES.items())
def test_the_matrix_has_the_values_of_loops(name, how, rows):
    matrix = caption_matrix(
        IMAGES, CAPTIONS, measure=name, rows=rows, embedding=letters
    )

    groups = IMAGES
    if rows == "references":
        groups = [[text] for text in chain(*IMAGES)]
    for values, references in zip(matrix, groups, strict=True):
        for value, caption in zip(values, CAPTIONS, strict=True):
            expected = oracle.bag_similarity(caption, references, vector, how=how)
            assert value == pytest.approx(np.nan_to_num(expected), abs=1e-8)


@pytest.mark.parametrize("name", MEASURES)
def test_torch_has_the_values_of_numpy(name):
    pytest.importorskip("torch", reason="torch is not installed")
    options = {"measure": name, "embedding": letters}

    on_torch = caption_matrix(IMAGES, CAPTIONS, device="torch:cpu", **options)

    expected = caption_matrix(IMAGES, CAPTIONS, **options)
    np.testing.assert_allclose(on_torch, expected, rtol=0, atol=1e-9)


FREQUENCIES = semmetrics.fit_document_frequencies([["a dog"], ["a cat"]])


@pytest.mark.parametrize(
    ("options", "code", "name"),
    [
        ({"embedding": letters}, "not-applicable", "embedding"),
        ({"lookup": "text", "cache": True}, "not-applicable", "lookup"),
        ({"tuples": {"a": []}}, "not-applicable", "tuples"),
        ({"measure": "BagSim", "doc_freq": FREQUENCIES}, "not-applicable", "doc_freq"),
        ({"measure": "BagSim", "oov": "never"}, "bad-choice", "oov"),
        ({"measure": "BagSim(embedding=m)"}, "unknown-name", None),
        ({"measure": "BagSim(undefined=nan)"}, "no-matrix", None),
        ({"measure": "Soft-SPICE"}, "no-matrix", None),
    ],
)
def test_a_wrong_option_of_the_matrix_is_an_error(options, code, name):
    with refused(code, name=name) if name else refused(code):
        caption_matrix([["a dog"]], ["a cat"], **options)


@pytest.mark.parametrize(
    ("options", "kind"), [({}, "labels"), ({"task": "captions"}, "captions")]
)
def test_lists_of_texts_are_labels_by_default(options, kind):
    """Labels also have a measure BagSim."""
    preds = {"a": ["a dog sits on a sofa"]}
    gts = {"a": ["a cat sits on a sofa"]}

    (score,) = semmetrics.score(preds, gts, measures="BagSim", **options)

    assert score.measure.definition.kind == kind
    with refused("ambiguous-kind"):
        semmetrics.score(preds, gts)
