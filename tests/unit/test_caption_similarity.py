"""BagSim of captions against loops, as a measure and for all pairs; a name that two kinds share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import soft_spice as oracle
from refusals import facts, refused
from tiny import Tiny

import semmetrics
from semmetrics import caption_blocks, caption_matrix, caption_top_k
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import InputError
from semmetrics.metrics.registry import kinds_of_all, parse

MEAN = "BagSim(references=mean)"
TEXT = st.lists(st.sampled_from(["a dog", "Cat", "sits", "on", "  "]), max_size=4).map(" ".join)
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)
REFERENCES = [["a dog runs", "dogs on a beach", "a wet dog"], ["two men"], ["a cat", " "]]
CAPTIONS = ["a dog", "men on a beach", "", "a cat"]


def vector(text):
    return [text.count(letter) + (letter == "a") - 0.5 for letter in "abcdghmnost "]


def letters(texts):
    return [vector(text) for text in texts]


letters.version = "1"


def score(preds, gts, measures="BagSim", **options):
    options = {"embedding": letters, "task": "captions", **options}
    return semmetrics.score(preds, gts, measures=measures, **options)


@settings(max_examples=80, deadline=None)
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
    found = caption_matrix(REFERENCES, CAPTIONS, measure=name, rows=rows, embedding=letters)
    groups = REFERENCES
    if rows == "references":
        groups = [[text] for texts in REFERENCES for text in texts]
    expected = [
        [oracle.bag_similarity(one, texts, vector, how=how) for one in CAPTIONS] for texts in groups
    ]
    np.testing.assert_allclose(found, np.nan_to_num(expected), rtol=0, atol=1e-8)


def test_all_pairs_have_the_bits_of_any_block_and_of_the_best():
    rng = np.random.default_rng(0)
    words = ["a", "dog", "cat", "man", "on", "hat"]
    texts = [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(60)]
    references, captions = [texts[i : i + 3] for i in range(0, 45, 3)], texts[30:]
    for name in ("BagSim", MEAN):
        options = {"measure": name, "embedding": letters}
        whole = caption_matrix(references, captions, **options)
        blocks = [b for _, b in caption_blocks(references, captions, memory=999, **options)]
        assert len(blocks) > 3
        np.testing.assert_array_equal(np.concatenate(blocks), whole)
        values, places = caption_top_k(references, captions, 2, **options)
        np.testing.assert_allclose(values, np.sort(whole, axis=1)[:, :-3:-1], atol=1e-12)
        np.testing.assert_allclose(np.take_along_axis(whole, places, 1), values, atol=1e-12)


def test_entries_are_the_values_of_candidates():
    for name in ("BagSim", MEAN):
        items = score([["a dog"], ["two men"], [""]], REFERENCES, name)[0].items
        found = caption_matrix(
            REFERENCES, ["a dog", "two men", ""], measure=name, embedding=letters
        )
        np.testing.assert_allclose(np.diag(found), np.nan_to_num(items), rtol=0, atol=2e-9)


def test_a_file_names_its_embedding_and_is_not_continued_with_another(tmp_path):
    out = tmp_path / "phi.npy"
    caption_matrix(REFERENCES, CAPTIONS, measure="BagSim", embedding=letters, out=out)
    with refused("matrix-exists"):
        caption_matrix(REFERENCES, CAPTIONS, measure="BagSim", out=out)

    def stop(done, of):
        raise KeyboardInterrupt

    begun = tmp_path / "begun.npy"
    options = {"measure": "BagSim", "out": begun, "memory": 16}
    with pytest.raises(KeyboardInterrupt):
        caption_matrix(REFERENCES, CAPTIONS, embedding=letters, progress=stop, **options)
    with refused("matrix-unfinished"):
        caption_matrix(REFERENCES, CAPTIONS, **options)
    found = caption_matrix(REFERENCES, CAPTIONS, embedding=letters, **options)
    np.testing.assert_array_equal(found, np.load(out))


def test_what_has_no_value_is_counted_by_cause():
    tiny = Tiny({"dog": [1, 0], "cat": [0, 1], "dog cat": [1, 1], "unknown": [1, 0]})
    preds = {"a": ["dog"], "b": [" "], "c": ["dog"], "d": ["cow"], "e": ["dog"]}
    gts = {"a": ["dog", "cat"], "b": ["dog"], "c": ["", ""], "d": ["dog"], "e": []}
    options = {"embedding": tiny, "missing": "empty"}
    (one,) = score(preds, gts, **options).scores
    assert one.undefined == {"no_prediction": 2, "undefined": 1, "no_reference": 1}
    assert one.items[0] == pytest.approx(0.5**0.5, abs=1e-8)
    assert one.value == pytest.approx(0.5**0.5 / 4, abs=1e-8)
    (fact,) = facts(score(preds, gts, **options), "unknown-texts")
    assert (fact.n, fact.values["noun"], fact.values["oov"]) == (1, "caption", "zero")
    (other,) = score(preds, gts, oov="unknown", **options).scores
    assert other.undefined == {"no_prediction": 1, "undefined": 1, "no_reference": 1}
    assert other.items[3] == 1.0
    with refused("unknown-text"):
        score(preds, gts, oov="error", **options)


def test_vectors_of_words_are_refused():
    words = MatrixEmbedder(np.eye(2), ["dog", "cat"], lookup="words")
    for run in (
        lambda: score(["dog"], [["cat"]], embedding=words),
        lambda: caption_matrix([["dog"]], ["cat"], measure="BagSim", embedding=words),
    ):
        with refused("word-vectors"):
            run()


@pytest.mark.parametrize(
    ("options", "code", "name"),
    [
        ({"embedding": letters}, "not-applicable", "embedding"),
        ({"lookup": "text", "cache": True}, "not-applicable", "lookup"),
        ({"tuples": {"a": []}}, "not-applicable", "tuples"),
        ({"measure": "BagSim", "doc_freq": "df.npz"}, "not-applicable", "doc_freq"),
        ({"measure": "BagSim", "embedding": {"m": letters}}, "not-applicable", "embedding"),
        ({"measure": "BagSim(undefined=nan)"}, "no-matrix", None),
        ({"measure": "Soft-SPICE"}, "no-matrix", None),
    ],
)
def test_wrong_requests_for_all_pairs(options, code, name):
    with refused(code, name=name):
        caption_matrix([["a dog"]], ["a cat"], **options)


@pytest.mark.parametrize("wrong", [{"measure": "BagSim(embedding=m)"}, {"oov": "never"}])
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
        np.testing.assert_allclose(tables[0][0].items, tables[1][0].items, rtol=0, atol=1e-9)


# ---- labels have a BagSim, too ---------------------------------------------------------------


def test_kinds_that_share_a_name_are_told_by_data_and_by_options():
    captions = {"a": "a dog sits on a sofa"}, {"a": ["a dog on a couch", "a small dog"]}
    labels = {"a": ["dog", "sofa"]}, {"a": ["dog"]}
    for data, kind in ((captions, "captions"), (labels, "labels")):
        for measure in ("BagSim", ["BagSim"]):
            (one,) = semmetrics.score(*data, measures=measure).scores
            assert one.measure.definition.kind == kind
            again = semmetrics.rescore(one.signature, *data)
            assert (again[0].value, again.differences) == (one.value, [])
    kinds = [["labels", "captions"], ["labels"], ["captions"]]
    assert [kinds_of_all([text]) for text in ("BagSim", "BagSim@5", MEAN)] == kinds
    assert parse(MEAN)[0].definition.kind == "captions"
    assert parse("BagSim")[0].definition.kind == "labels"
    both = semmetrics.score(*captions, measures=["BagSim", "CIDEr-D"])
    assert [one.measure.definition.kind for one in both] == ["captions", "captions"]


def test_data_that_could_be_either_are_labels_as_before():
    lists = {"a": ["a dog sits on a sofa"]}, {"a": ["a cat sits on a sofa"]}
    with refused("ambiguous-kind"):
        semmetrics.score(*lists)
    (one,) = semmetrics.score(*lists, measures="BagSim").scores
    assert one.measure.definition.kind == "labels"
    (one,) = semmetrics.score(*lists, measures="BagSim", task="captions").scores
    assert one.measure.definition.kind == "captions"


def test_a_scorer_is_told_by_its_first_batch(tmp_path):
    import pickle

    captions = {"a": "a dog sits on a sofa"}, {"a": ["a dog on a couch", "a small dog"]}
    scorer = semmetrics.Scorer(measures="BagSim")
    scorer = pickle.loads(pickle.dumps(scorer))
    scorer.update(*captions)
    copied = pickle.loads(pickle.dumps(scorer))
    whole = semmetrics.score(*captions, measures="BagSim")
    assert copied.compute()[0].signature == whole[0].signature
