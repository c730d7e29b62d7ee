"""BagSim of captions against loops, as a measure and for all pairs; a name that two kinds share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import soft_spice as oracle
from refusals import refused

import semmetrics
from semmetrics import caption_matrix
from semmetrics.errors import InputError


@pytest.fixture(autouse=True, scope="module")
def nothing_shared_is_accepted():
    """Random data of a few names may share none with what is given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semmetrics.kinds.side_input_checks.check_shared", lambda *given: None
        )
        yield


MEAN = "BagSim(references=mean)"
TEXT = st.lists(st.sampled_from(["a dog", "Cat", "sits", "on", "  "]), max_size=4).map(
    " ".join
)
ITEMS = st.lists(
    st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5
)
REFERENCES = [
    ["a dog runs", "dogs on a beach", "a wet dog"],
    ["two men"],
    ["a cat", " "],
]
CAPTIONS = ["a dog", "men on a beach", "", "a cat"]


def vector(text):
    return [text.count(letter) + (letter == "a") - 0.5 for letter in "abcdghmnost "]


def letters(texts):
    return [vector(text) for text in texts]


letters.version = "1"


def score(preds, gts, measures="BagSim", **options):
    options = {"embedding": letters, "task": "captions", **options}
    return semmetrics.score(preds, gts, measures=measures, **options)


@given(ITEMS)
def test_equals_loops(data):
    preds, gts = [[caption] for caption, _ in data], [theirs for _, theirs in data]
    table = score(preds, gts, ["BagSim", MEAN])
    for name, how in (("BagSim", "joined"), (MEAN, "mean")):
        expected = [oracle.bag_similarity(*item, vector, how=how) for item in data]
        np.testing.assert_allclose(table[name].items, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("rows", ["images", "references"])
@pytest.mark.parametrize(("name", "how"), [("BagSim", "joined"), (MEAN, "mean")])
def test_all_pairs_equal_loops(name, how, rows):
    found = caption_matrix(
        REFERENCES, CAPTIONS, measure=name, rows=rows, embedding=letters
    )
    groups = REFERENCES
    if rows == "references":
        groups = [[text] for texts in REFERENCES for text in texts]
    expected = [
        [oracle.bag_similarity(one, texts, vector, how=how) for one in CAPTIONS]
        for texts in groups
    ]
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=0, atol=1e-8)


FREQUENCIES = semmetrics.fit_document_frequencies([["a dog"], ["a cat"]])


@pytest.mark.parametrize(
    ("options", "code", "name"),
    [
        ({"embedding": letters}, "not-applicable", "embedding"),
        ({"lookup": "text", "cache": True}, "not-applicable", "lookup"),
        ({"tuples": {"a": []}}, "not-applicable", "tuples"),
        ({"measure": "BagSim", "doc_freq": FREQUENCIES}, "not-applicable", "doc_freq"),
        (
            {"measure": "BagSim", "embedding": {"m": letters}},
            "not-applicable",
            "embedding",
        ),
        ({"measure": "BagSim(undefined=nan)"}, "no-matrix", None),
        ({"measure": "Soft-SPICE"}, "no-matrix", None),
    ],
)
def test_wrong_requests_for_all_pairs(options, code, name):
    with refused(code, name=name):
        caption_matrix([["a dog"]], ["a cat"], **options)


@pytest.mark.parametrize(
    "wrong", [{"measure": "BagSim(embedding=m)"}, {"oov": "never"}]
)
def test_embeddings_of_all_pairs_are_checked(wrong):
    with pytest.raises(InputError):
        caption_matrix([["a dog"]], ["a cat"], **{"measure": "BagSim", **wrong})


def test_torch_gives_the_same():
    pytest.importorskip("torch", reason="torch is not installed")
    for name in ("BagSim", MEAN):
        options = {"measure": name, "embedding": letters}
        first, second = (
            caption_matrix(REFERENCES, CAPTIONS, device=device, **options)
            for device in ("cpu", "torch:cpu")
        )
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-9)
        tables = [
            score([["a dog"], ["a cat"], ["men"]], REFERENCES, name, device=device)
            for device in ("cpu", "torch:cpu")
        ]
        np.testing.assert_allclose(
            tables[0][0].items, tables[1][0].items, rtol=0, atol=1e-9
        )


# ---- labels have a BagSim, too ---------------------------------------------------------------


def test_data_that_could_be_either_are_labels_as_before():
    lists = {"a": ["a dog sits on a sofa"]}, {"a": ["a cat sits on a sofa"]}
    with refused("ambiguous-kind"):
        semmetrics.score(*lists)
    (one,) = semmetrics.score(*lists, measures="BagSim").scores
    assert one.measure.definition.kind == "labels"
    (one,) = semmetrics.score(*lists, measures="BagSim", task="captions").scores
    assert one.measure.definition.kind == "captions"
