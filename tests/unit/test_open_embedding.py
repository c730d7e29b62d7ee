"""What a user may name as an embedding, and the manifest of downloads."""

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.converted import convert
from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.manifest import read_manifest
from semmetrics.embed.open import open_embedding
from semmetrics.embed.words import MatrixEmbedder


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text("cat 1 2\ndog 3 4\n")
    return path


@pytest.fixture
def matrix(tmp_path):
    np.save(tmp_path / "rows.npy", np.eye(2))
    (tmp_path / "rows.txt").write_text("cat\ndog\n")
    return tmp_path / "rows.npy"


def embed_ones(texts):
    return np.ones((len(texts), 2))


@pytest.mark.parametrize(
    "spec", ["static", embed_ones, MatrixEmbedder([[1.0]], ["cat"])]
)
@pytest.mark.parametrize("options", [{"device": "cpu"}, {"max_words": 3}])
def test_an_option_without_effect_is_an_error(spec, options):
    with refused("not-applicable"):
        open_embedding(spec, **options)


def test_files_have_no_device_and_models_no_maximum_of_words(glove, matrix, tmp_path):
    folder = convert(open_embedding(glove), tmp_path / "toy")
    for spec in (glove, folder, matrix):
        with refused("not-applicable"):
            open_embedding(spec, device="cpu")
    for spec in (f"matrix:{matrix}", "sbert:none", "transformers:none"):
        with refused("not-applicable"):
            open_embedding(spec, max_words=3)


def test_a_maximum_of_words_must_be_positive(glove):
    with refused("bad-option"):
        open_embedding(glove, max_words=0)


def test_vectors_of_the_manifest_are_opened_by_name(glove, tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    with refused("not-fetched"):
        open_embedding("glove-6b-50")

    (tmp_path / "vectors").mkdir()
    convert(open_embedding(glove), tmp_path / "vectors" / "glove-6b-50")

    assert open_embedding("glove-6b-50").dimension == 2


def test_an_unknown_name_is_an_error():
    with refused("unknown-embedding"):
        open_embedding("nonsense")


@pytest.mark.parametrize("spec", ["word2vec:", "sbert:", "converted:", "matrix:"])
def test_a_kind_without_a_name_is_an_error(spec):
    with refused("empty"):
        open_embedding(spec)


@pytest.mark.parametrize("kind", ["word2vec", "glove", "fasttext", "kv", "matrix"])
def test_a_missing_file_is_an_error(kind, tmp_path):
    with refused("missing-file"):
        open_embedding(f"{kind}:{tmp_path / 'none.npy'}")


@pytest.mark.parametrize("name", ["none.txt", "config.json"])
def test_a_folder_of_no_kind_is_an_error(tmp_path, name):
    (tmp_path / name).write_text("{}")

    with refused("unclear-folder"):
        open_embedding(tmp_path)


def test_a_model_with_an_encoder_is_given_as_its_method():
    class Model:
        def encode(self, texts):
            return [[1.0, len(text)] for text in texts]

    with refused("wrong-type"):
        open_embedding(Model())
    assert open_embedding(Model().encode).embed(["cat"]).vectors.tolist() == [[1, 3]]


def test_vectors_of_a_function_with_a_version_are_cached(tmp_path):
    path = tmp_path / "cache.sqlite"
    embedded = []

    def lengths(texts):
        embedded.extend(texts)
        return [[len(text)] for text in texts]

    service = CallableEmbedder(lengths, name="lengths", version="1")
    for _ in range(2):
        cached = open_embedding(service, cache=path)
        assert cached.embed(["mouse"]).vectors.tolist() == [[5]]
        assert cached.identity == service.identity
        assert open_embedding(cached, cache=path) is cached
    assert embedded.count("mouse") == 1


def test_fast_embeddings_are_not_cached(glove, tmp_path):
    path = tmp_path / "cache.sqlite"

    for spec in ("static", glove, MatrixEmbedder([[1.0]], ["cat"])):
        open_embedding(spec, cache=path)

    assert not path.exists()


# ---- the manifest --------------------------------------------------------------------

REST = 'kind = "glove"\ndimension = 2\nlicence = "CC0"\n'


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        ("[a", "unreadable", None),
        ("x = " + "[" * 2000 + "]" * 2000, "unreadable", None),
        ("a = 1", "wrong-type", None),
        ('["../a"]\n', "wrong-type", None),
        ("[a.b.c]\nx=1", "bad-option", "b"),
        ('[a]\nurl = "https://x/y"\n', "bad-option", "kind"),
        ("[a]\nurl = 7\n", "bad-option", "url"),
        ("[a]\nwords = inf", "bad-option", "words"),
        ("[a]\nurl = ['" + "x" * 10**6 + "']", "bad-option", "url"),
        (f'[a]\nurl = "file:///x"\n{REST}', "bad-option", "url"),
        (f'[a]\nurl = "http://[bad/x"\n{REST}', "bad-option", "url"),
        (f'[a]\nurl = "http://x:99999/x"\n{REST}', "bad-option", "url"),
        (
            f'[a]\nurl = "http://x/y"\n{REST}'.replace("glove", "elmo"),
            "bad-choice",
            "kind",
        ),
    ],
)
def test_a_wrong_manifest_is_an_error(tmp_path, text, code, key):
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")

    with refused(code, name=key) as caught:
        read_manifest(path)

    assert caught.value.where.startswith(str(path))
    assert len(str(caught.value)) < 2000


def test_a_missing_manifest_is_an_error(tmp_path):
    with refused("unreadable"):
        read_manifest(tmp_path / "none.toml")
