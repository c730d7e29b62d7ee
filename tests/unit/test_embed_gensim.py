"""Vectors through gensim: KeyedVectors, fastText models; and our readers against gensim's."""

import gzip
import sys

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.converted import convert, read_meta
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


@pytest.fixture(scope="module")
def fasttext(tmp_path_factory):
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


@pytest.mark.parametrize("binary", [True, False])
def test_our_reader_reads_what_gensim_writes(keyed, tmp_path, binary):
    path = tmp_path / "toy.bin"
    keyed.save_word2vec_format(str(path), binary=binary)
    ours = read_vectors(path)
    theirs = type(keyed).load_word2vec_format(str(path), binary=binary)
    assert ours.words(np.arange(len(ours))) == theirs.index_to_key
    np.testing.assert_array_equal(ours.rows(np.arange(len(ours))), theirs.vectors)


def test_keyed_vectors_pass_through(keyed):
    model = open_embedding(keyed)
    assert model.find(["dog", "cow"]).tolist() == [1, -1]
    np.testing.assert_array_equal(
        model.embed(["dog", "cow"]).vectors, [VECTORS[1], np.zeros(8)]
    )
    assert model.identity.startswith("keyedvectors-8@")
    assert open_embedding(keyed, max_words=1).find(["cat", "dog"]).tolist() == [0, -1]
    assert open_embedding(keyed, max_words=1).identity != model.identity


def test_keyed_vectors_from_a_file(keyed, tmp_path):
    path = tmp_path / "toy.kv"
    keyed.save(str(path))
    model = open_embedding(f"kv:{path}")
    np.testing.assert_array_equal(model.embed(WORDS).vectors, VECTORS)
    assert model.identity.startswith("toy-8@")
    assert (
        model.identity.partition("@")[2]
        == from_keyed_vectors(keyed).identity.partition("@")[2]
    )
    with refused("unsafe-pickle"):
        open_embedding(str(path))


def test_what_gensim_cannot_open_is_refused(keyed, tmp_path):
    path = tmp_path / "toy.kv"
    with refused("missing-file"):
        read_keyed_vectors(path)
    path.write_bytes(b"\x80\x04nonsense")
    with refused("own-code-failed"):
        read_keyed_vectors(path)
    with refused("wrong-type"):
        from_keyed_vectors(object())


def test_a_fasttext_model_knows_parts_of_words(fasttext):
    path, wv = fasttext
    model = open_embedding(str(path))  # told by its content
    np.testing.assert_allclose(
        model.embed(["traffic"]).vectors[0], wv["traffic"], atol=1e-6
    )
    made = model.embed(["trafficlight", ""])
    assert made.known.tolist() == [True, False]
    np.testing.assert_allclose(
        made.vectors[0], wv.get_vector("trafficlight"), atol=1e-6
    )
    found = embed_terms(["traffic light", "trafficlights", "…"], model)
    assert found.words == ["traffic + light", "trafficlights*", None]
    assert found.known.tolist() == [True, True, False]
    strict = embed_terms(["trafficlights"], model, lookup="kubany2020")
    assert strict.known.tolist() == [False]


def test_a_damaged_fasttext_model_is_refused(fasttext, tmp_path):
    path = tmp_path / "cut.bin"
    path.write_bytes(fasttext[0].read_bytes()[:200])
    with refused("own-code-failed"):
        open_embedding(f"fasttext:{path}")
    packed = tmp_path / "model.bin.gz"
    packed.write_bytes(gzip.compress(fasttext[0].read_bytes()))
    with refused("wrong-format"):
        open_embedding(packed)


def test_without_gensim_there_is_the_command_to_install_it(monkeypatch, tmp_path):
    path = tmp_path / "toy.kv"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(
        MissingDependencyError, match=r"pip install 'semmetrics\[word2vec\]'"
    ):
        open_embedding(f"kv:{path}")


def test_a_converted_fasttext_model_is_another_embedding(fasttext, tmp_path):
    path, _ = fasttext
    model = open_embedding(path)
    folder = convert(model, tmp_path / "toy")
    listed = open_embedding(folder)
    assert model.embed(["trafficking"]).known.tolist() == [True]
    assert listed.embed(["trafficking"]).known.tolist() == [False]
    assert listed.identity == read_meta(folder)["identity"] != model.identity


def test_converted_keyed_vectors_keep_their_identity(keyed, tmp_path):
    model = open_embedding(keyed)
    assert open_embedding(convert(model, tmp_path / "toy")).identity == model.identity
