"""Vectors through gensim, and our reader against gensim's."""

import gzip
import sys

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.converted import convert
from semmetrics.embed.lookup import embed_terms
from semmetrics.embed.open import open_embedding
from semmetrics.embed.word_files import (
    from_keyed_vectors,
    read_keyed_vectors,
    read_vectors,
)
from semmetrics.errors import MissingDependencyError

WORDS = ["cat", "dog", "Parking_Meter", "unknown"]
VECTORS = np.random.default_rng(0).normal(size=(4, 8)).astype(np.float32)


@pytest.fixture
def keyed():
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors = models.KeyedVectors(8)
    vectors.add_vectors(WORDS, VECTORS)
    return vectors


@pytest.mark.parametrize("binary", [True, False])
def test_our_reader_reads_what_gensim_writes(keyed, tmp_path, binary):
    path = tmp_path / "toy.bin"
    keyed.save_word2vec_format(str(path), binary=binary)

    ours = read_vectors(path)

    theirs = type(keyed).load_word2vec_format(str(path), binary=binary)
    rows = np.arange(len(ours))
    assert ours.words(rows) == theirs.index_to_key
    np.testing.assert_array_equal(ours.rows(rows), theirs.vectors)


def test_keyed_vectors_are_an_embedding(keyed, tmp_path):
    model = open_embedding(keyed)

    assert model.find(["dog", "cow"]).tolist() == [1, -1]
    np.testing.assert_array_equal(model.embed(["dog"]).vectors, VECTORS[[1]])
    assert model.identity.startswith("keyedvectors-8@")
    converted = open_embedding(convert(model, tmp_path / "toy"))
    assert converted.identity == model.identity


def test_the_first_words_can_be_selected(keyed):
    model = open_embedding(keyed, max_words=1)

    assert model.find(["cat", "dog"]).tolist() == [0, -1]
    assert model.identity != open_embedding(keyed).identity


def test_keyed_vectors_are_read_from_a_file_of_that_kind_only(keyed, tmp_path):
    path = tmp_path / "toy.kv"
    keyed.save(str(path))

    model = open_embedding(f"kv:{path}")

    np.testing.assert_array_equal(model.embed(WORDS).vectors, VECTORS)
    digest = from_keyed_vectors(keyed).identity.partition("@")[2]
    assert model.identity == f"toy-8@{digest}"
    with refused("unsafe-pickle"):
        open_embedding(str(path))


def test_other_files_and_objects_are_errors(keyed, tmp_path):
    path = tmp_path / "toy.kv"
    with refused("missing-file"):
        read_keyed_vectors(path)
    path.write_bytes(b"\x80\x04nonsense")
    with refused("own-code-failed"):
        read_keyed_vectors(path)
    with refused("wrong-type"):
        from_keyed_vectors(object())


def test_missing_gensim_is_an_error_with_its_extra(monkeypatch, tmp_path):
    path = tmp_path / "toy.kv"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "gensim.models", None)

    with pytest.raises(MissingDependencyError, match=r"semmetrics\[word2vec\]"):
        open_embedding(f"kv:{path}")


# ---- fastText ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fasttext(tmp_path_factory):
    """A fastText model: the path of its file, and gensim's vectors."""
    module = pytest.importorskip(
        "gensim.models.fasttext", reason="gensim is not installed"
    )
    texts = [["traffic", "light", "cat"], ["traffic", "sign", "dog"]] * 5
    model = module.FastText(
        texts,
        vector_size=8,
        min_count=1,
        bucket=50,
        seed=1,
        workers=1,
        min_n=3,
        max_n=4,
    )
    path = tmp_path_factory.mktemp("fasttext") / "toy.bin"
    module.save_facebook_model(model, str(path))
    return path, model.wv


def test_fasttext_composes_unknown_words(fasttext):
    path, theirs = fasttext
    model = open_embedding(str(path))

    embedded = model.embed(["traffic", "trafficlight", ""])

    expected = [theirs["traffic"], theirs.get_vector("trafficlight"), np.zeros(8)]
    np.testing.assert_allclose(embedded.vectors, expected, atol=1e-6)
    assert embedded.known.tolist() == [True, True, False]


def test_terms_name_composed_words_with_a_star(fasttext):
    model = open_embedding(str(fasttext[0]))

    terms = embed_terms(["traffic light", "trafficlights", "…"], model)

    assert terms.words == ["traffic + light", "trafficlights*", None]
    exact = embed_terms(["trafficlights"], model, lookup="kubany2020")
    assert exact.known.tolist() == [False]


def test_a_damaged_or_packed_fasttext_model_is_an_error(fasttext, tmp_path):
    content = fasttext[0].read_bytes()
    path = tmp_path / "cut.bin"
    path.write_bytes(content[:200])
    with refused("own-code-failed"):
        open_embedding(f"fasttext:{path}")

    packed = tmp_path / "model.bin.gz"
    packed.write_bytes(gzip.compress(content))
    with refused("wrong-format"):
        open_embedding(packed)


def test_a_converted_fasttext_model_has_another_identity(fasttext, tmp_path):
    """It has the words of the vocabulary only."""
    model = open_embedding(fasttext[0])

    converted = open_embedding(convert(model, tmp_path / "toy"))

    assert converted.embed(["trafficking"]).known.tolist() == [False]
    assert converted.identity != model.identity
