"""What a user may name as an embedding."""

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.converted import convert
from semmetrics.embed.embedder import CallableEmbedder
from semmetrics.embed.manifest import read_manifest
from semmetrics.embed.open import open_embedding
from semmetrics.embed.words import MatrixEmbedder

GLOVE = "cat 1 2\ndog 3 4\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def glove(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_text(GLOVE)
    return path


def test_options_that_say_nothing_are_refused(glove, tmp_path):
    np.save(tmp_path / "rows.npy", np.eye(2))
    (tmp_path / "rows.txt").write_text("cat\ndog\n")
    folder = convert(open_embedding(glove), tmp_path / "toy")
    for spec in ("static", glove, folder, tmp_path / "rows.npy"):
        with refused("not-applicable"):
            open_embedding(spec, device="cpu")
    for spec in (
        "static",
        f"matrix:{tmp_path / 'rows.npy'}",
        "sbert:none",
        "transformers:none",
    ):
        with refused("not-applicable"):
            open_embedding(spec, max_words=3)
    model = MatrixEmbedder([[1.0]], ["cat"])
    for spec in (model, lambda texts: np.ones((len(texts), 2))):
        for options in ({"device": "cuda"}, {"max_words": 1}):
            with refused("not-applicable"):
                open_embedding(spec, **options)
    with refused("bad-option"):
        open_embedding(glove, max_words=0)


def test_names_of_the_manifest(glove, home):
    with refused("not-fetched"):
        open_embedding("glove-6b-50")
    (home / "vectors").mkdir(parents=True)
    convert(open_embedding(glove), home / "vectors" / "glove-6b-50")
    assert open_embedding("glove-6b-50").dimension == 2


@pytest.mark.parametrize("spec", ["word2vec:", "sbert:", "converted:", "matrix:"])
def test_a_kind_alone_names_nothing(spec):
    with refused("empty"):
        open_embedding(spec)


@pytest.mark.parametrize("kind", ["word2vec", "glove", "fasttext", "kv", "matrix"])
def test_missing_files_are_refused(kind, tmp_path):
    with refused("missing-file"):
        open_embedding(f"{kind}:{tmp_path / 'none.npy'}")


def test_folders_that_say_nothing_are_refused(tmp_path):
    with refused("unclear-folder"):
        open_embedding(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with refused("unclear-folder"):
        open_embedding(tmp_path)


# ---- the manifest -------------------------------------------------------------------------------


REST = 'kind = "glove"\ndimension = 2\nlicence = "CC0"\n'


@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        ("[a", "unreadable", None),
        ("x = " + "[" * 2000 + "]" * 2000, "unreadable", None),
        ("[a]\nurl = " + "[" * 2000, "unreadable", None),
        ("\ufeff[a]", "unreadable", None),
        ("a = 1", "wrong-type", None),
        ('["../a"]\n', "wrong-type", None),
        ("['']\nurl=''", "wrong-type", None),
        ("[a.b.c]\nx=1", "bad-option", "b"),
        ('[a]\nurl = "https://x/y"\n', "bad-option", "kind"),
        ("[a]\nurl = 7\n", "bad-option", "url"),
        ("[a]\nwords = inf", "bad-option", "words"),
        ("[a]\nurl = 1979-05-27", "bad-option", "url"),
        ("[a]\nurl = ['" + "x" * 10**6 + "']", "bad-option", "url"),
        ("[a]\ncolour = 7\n", "bad-option", "colour"),
        (f'[a]\nurl = "file:///x"\n{REST}', "bad-option", "url"),
        (f'[a]\nurl = "http://[bad/x"\n{REST}', "bad-option", "url"),
        (f'[a]\nurl = "http://x:99999/x"\n{REST}', "bad-option", "url"),
        (
            f'[a]\nurl = "http://x/y"\n{REST.replace("glove", "elmo")}',
            "bad-choice",
            "kind",
        ),
    ],
)
def test_manifests_are_checked(tmp_path, text, code, key):
    path = tmp_path / "manifest.toml"
    path.write_text(text, encoding="utf-8")
    with refused(code, name=key) as caught:
        read_manifest(path)
    assert caught.value.where.startswith(str(path))
    assert len(str(caught.value)) < 2000
    with refused("unreadable"):
        read_manifest(tmp_path / "none.toml")


def test_what_is_kept_on_disk(glove, tmp_path):
    path, asked = tmp_path / "cache.sqlite", []

    def lengths(texts):
        asked.extend(texts)
        return [[len(text)] for text in texts]

    service = CallableEmbedder(lengths, name="lengths", version="1")
    for _ in range(2):
        kept = open_embedding(service, cache=path)
        assert kept.embed(["mouse"]).vectors.tolist() == [[5]]
        assert kept.identity == service.identity
        assert open_embedding(kept, cache=path) is kept
    assert asked.count("mouse") == 1
    path.unlink()
    for spec in ("static", glove, MatrixEmbedder([[1.0]], ["cat"])):
        open_embedding(spec, cache=path)
    assert not path.exists()


def test_a_model_that_only_encodes_is_given_as_its_method():
    class Model:
        def encode(self, texts):
            return [[1.0, len(text)] for text in texts]

    with refused("wrong-type"):
        open_embedding(Model())
    assert open_embedding(Model().encode).embed(["cat"]).vectors.tolist() == [[1, 3]]
