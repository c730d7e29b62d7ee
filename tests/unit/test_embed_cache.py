"""The cache of slow models: each text once, also across processes; damaged files refused."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from semmetrics.embed.embedder import CachedEmbedder, Embedded
from semmetrics.errors import InputError
from semmetrics.store.cache import TextCache

ROOT = Path(__file__).resolve().parents[2]


class Counting:
    """A model that counts what it is asked; texts of more than 4 letters are cut."""

    threshold = 0.25

    def __init__(self, identity="slow-2@0123456789ab"):
        self.identity, self.dimension, self.asked = identity, 2, []

    def embed(self, texts):
        self.asked += texts
        known = np.array([bool(text) for text in texts], bool)
        vectors = np.array([[len(t), len(t) / 3] for t in texts], np.float32).reshape(-1, 2)
        return Embedded(vectors, known, int(self.is_truncated(texts).sum()))

    def is_truncated(self, texts):
        return np.array([len(text) > 4 for text in texts], bool)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "below" / "cache.sqlite"


TEXTS = ["cat", "mouse", "", "cat", "a\x00b", "\udcff", "naïve", "cat"]


def test_it_gives_what_the_model_gives(path):
    model = Counting()
    cached = CachedEmbedder(model, path)
    plain = Counting().embed(TEXTS)
    for _ in range(2):
        got = cached.embed(TEXTS)
        np.testing.assert_array_equal(got.vectors, plain.vectors)
        np.testing.assert_array_equal(got.known, plain.known)
        assert got.truncated == plain.truncated == 2
    assert sorted(model.asked) == sorted(set(TEXTS))


def test_another_run_asks_only_for_what_is_new(path):
    CachedEmbedder(Counting(), path).embed(["cat", "dog"])
    model = Counting()
    assert CachedEmbedder(model, path).embed(["dog", "cow"]).vectors[:, 0].tolist() == [3, 3]
    assert model.asked == ["cow"]


def test_models_do_not_share_vectors(path):
    CachedEmbedder(Counting(), path).embed(["cat"])
    other = Counting("slow-2@ba9876543210")
    CachedEmbedder(other, path).embed(["cat"])
    assert other.asked == ["cat"]


def test_what_else_the_model_says_is_still_there(path):
    cached = CachedEmbedder(Counting(), path)
    assert (cached.identity, cached.dimension, cached.threshold) == (
        "slow-2@0123456789ab", 2, 0.25,
    )  # fmt: skip
    assert not hasattr(cached, "find")
    assert cached.embed([]).vectors.shape == (0, 2)


def test_the_default_place_is_in_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path))
    CachedEmbedder(Counting()).embed(["cat"])
    assert (tmp_path / "embeddings.sqlite").is_file()


def test_several_processes_write_at_once(path):
    code = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from unit_cache_model import Counting\n"
        "from semmetrics.embed.embedder import CachedEmbedder\n"
        "cached = CachedEmbedder(Counting(), sys.argv[1])\n"
        "for start in range(0, 300, 10):\n"
        "    texts = [str(number) for number in range(start, start + 20)]\n"
        "    assert cached.embed(texts).vectors[:, 0].tolist() == [len(t) for t in texts]\n"
    )
    folder = path.parent
    folder.mkdir()
    source = Path(__file__).read_text("utf-8")
    (folder / "unit_cache_model.py").write_text(source, "utf-8")
    command = [sys.executable, "-c", code, str(path), str(folder), str(ROOT)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    ended = [(one.communicate()[1], one.returncode) for one in running]
    assert [code for _, code in ended] == [0, 0, 0], ended
    rows = sqlite3.connect(path)
    assert rows.execute("SELECT count(*) FROM vectors").fetchone() == (310,)
    rows.close()


def test_a_damaged_file_is_refused(path):
    path.parent.mkdir()
    path.write_bytes(b"this is no database, and long enough to be seen as none" * 40)
    with pytest.raises(InputError, match="cache of vectors is damaged") as caught:
        CachedEmbedder(Counting(), path)
    assert "remove the file" in caught.value.remedy
    assert path.is_file()


@pytest.mark.parametrize("blob", [b"\0" * 4, np.array([1, np.nan], "<f4").tobytes()])
def test_a_damaged_vector_is_refused(path, blob):
    cached = CachedEmbedder(Counting(), path)
    cached.embed(["cat"])
    rows = sqlite3.connect(path)
    rows.execute("UPDATE vectors SET vector = ?", (blob,))
    rows.commit()
    rows.close()
    with pytest.raises(InputError, match="cache of vectors is damaged"):
        cached.embed(["cat"])


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be used"):
        CachedEmbedder(Counting(), tmp_path / "file" / "cache.sqlite")
    with pytest.raises(InputError, match="cannot be used"):
        CachedEmbedder(Counting(), tmp_path)


def busy(path, seconds):
    """Hold the file for some seconds, as another process does that makes it."""
    path.parent.mkdir(exist_ok=True)
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    threading.Timer(seconds, other.close).start()


def test_it_waits_for_another_process_that_makes_the_file(path):
    busy(path, 0.2)
    assert CachedEmbedder(Counting(), path).embed(["cat"]).vectors[0, 0] == 3


def test_it_does_not_wait_for_ever(path):
    busy(path, 1)
    with pytest.raises(InputError, match="cache of vectors cannot be used: database is locked"):
        TextCache(path, "vectors", {"vector": "BLOB"}, wait=0.05)


# ---- what else may be kept ----------------------------------------------------------------------


def graphs(texts):
    return [(text.upper(), len(text)) for text in texts]


def test_tables_of_one_file_are_kept_apart(path):
    columns = {"graph": "TEXT", "size": "INTEGER"}
    CachedEmbedder(Counting(), path).embed(["cat"])
    found = TextCache(path, "graphs", columns).rows("parser@1", ["cat", "dog", "cat"], graphs)
    assert found == {"cat": ("CAT", 3), "dog": ("DOG", 3)}
    again = TextCache(path, "graphs", columns)
    assert again.rows("parser@1", ["dog"], lambda texts: 1 / 0) == {"dog": ("DOG", 3)}
    assert again.rows("parser@2", ["dog"], lambda texts: [("other", 0)]) == {"dog": ("other", 0)}
    with pytest.raises(InputError, match="cache of graphs cannot be used: no such column"):
        TextCache(path, "graphs", {"tree": "TEXT"}).rows("parser@1", ["dog"], graphs)


def test_what_was_computed_before_an_interruption_is_kept(path):
    cache, blocks = TextCache(path, "lengths", {"length": "INTEGER"}), []

    def compute(texts):
        if len(blocks) == 1:
            raise KeyboardInterrupt
        blocks.append(texts)
        return [(len(text),) for text in texts]

    texts = [str(number) for number in range(1500)]
    with pytest.raises(KeyboardInterrupt):
        cache.rows("len@1", texts, compute)
    (block,) = blocks
    blocks.clear()
    assert len(cache.rows("len@1", texts, compute)) == 1500
    assert blocks == [texts[len(block) :]]
