"""The cache of slow models: each text once, and right vectors whatever becomes of the file."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from semmetrics.embed.embedder import CachedEmbedder, Embedded
from semmetrics.embed.open import open_embedding
from semmetrics.store.text_cache import TextCache

ROOT = Path(__file__).resolve().parents[2]


class Counting:
    """A model that counts what it is asked; texts of more than 4 letters are cut."""

    threshold = 0.25

    def __init__(self, identity="slow-2@0123456789ab"):
        self.identity, self.dimension, self.asked = identity, 2, []

    def embed(self, texts):
        self.asked += texts
        known = np.array([bool(text) for text in texts], bool)
        vectors = np.array([[len(t), len(t) / 3] for t in texts], np.float32).reshape(
            -1, 2
        )
        return Embedded(vectors, known, int(self.is_truncated(texts).sum()))

    def is_truncated(self, texts):
        return np.array([len(text) > 4 for text in texts], bool)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "below" / "cache.sqlite"


def test_what_else_the_model_says_is_still_there(path):
    cached = CachedEmbedder(Counting(), path)
    assert (cached.identity, cached.dimension, cached.threshold) == (
        "slow-2@0123456789ab",
        2,
        0.25,
    )
    assert not hasattr(cached, "find")
    assert cached.embed([]).vectors.shape == (0, 2)


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
    assert rows.execute("SELECT count(*) FROM vectors_checked").fetchone() == (310,)
    rows.close()


VECTORS = Counting().embed(["cat", "mouse"]).vectors


def gives_the_vectors(path, trouble):
    """The right vectors come from a cache with trouble, which is said."""
    model = Counting()
    cached = CachedEmbedder(model, path)
    for _ in range(2):
        np.testing.assert_array_equal(cached.embed(["cat", "mouse"]).vectors, VECTORS)
    assert trouble in str(cached.trouble)
    assert cached.trouble.code == "cache-unusable"
    return model


def test_the_database_of_another_program_is_left_as_it_is(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE vectors_checked (identity, text, vector)")
    gives_the_vectors(path, "table vectors_checked is not of a cache")
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [
            ("vectors_checked",)
        ]


def test_every_damaged_place_of_a_file(path):
    """Bytes are changed all over the file: the vectors stay right, whatever is noticed."""
    CachedEmbedder(Counting(), path).embed(["cat", "mouse"])
    with closing(sqlite3.connect(path)) as rows:
        rows.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data, said = path.read_bytes(), 0
    places = {
        *range(0, 200, 7),
        *range(200, len(data), 97),
        *range(len(data) - 300, len(data)),
    }
    for place in places:
        for beside in path.parent.iterdir():
            beside.unlink()
        path.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        cached = CachedEmbedder(Counting(), path)
        np.testing.assert_array_equal(cached.embed(["cat", "mouse"]).vectors, VECTORS)
        said += bool(cached.trouble)
    assert said > 50


@pytest.mark.parametrize(
    "change",
    [
        "vector = X'00000000'",
        "vector = X'000080BF000080BF'",
        "vector = 'text'",
        "vector = 1.5",
        "known = 0",
        "truncated = 'x'",
        "text = X'636f77'",
        "text = 'cat'",
        "checksum = X'00'",
    ],
)
def test_a_damaged_row_is_computed_again(path, change):
    CachedEmbedder(Counting(), path).embed(["cat", "mouse"])
    with closing(sqlite3.connect(path)) as rows:
        rows.execute(f"UPDATE vectors_checked SET {change} WHERE text = ?", (b"cat",))
        rows.commit()
    model = Counting()
    cached = CachedEmbedder(model, path)
    got = cached.embed(["cat", "mouse"])
    np.testing.assert_array_equal(got.vectors, VECTORS)
    assert got.known.all()
    assert model.asked == ["cat"]
    again = Counting()
    CachedEmbedder(again, path).embed(["cat", "mouse"])
    assert again.asked == []


def test_vectors_of_another_length_are_not_used(path):
    cached = CachedEmbedder(Counting(), path)
    cached._cache.rows(cached.identity, ["cat"], lambda texts: [(b"1234", 1, 0)])
    gives_the_vectors(path, "a vector is not finite, or has another length")


def test_a_full_disk(path, monkeypatch):
    CachedEmbedder(Counting(), path)  # the table is there
    connect = sqlite3.connect

    def small(*args, **options):
        connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr("semmetrics.store.text_cache.sqlite3.connect", small)
    texts = [str(number) * 50 for number in range(500)]
    cached = CachedEmbedder(Counting(), path)
    np.testing.assert_array_equal(
        cached.embed(texts).vectors, Counting().embed(texts).vectors
    )
    assert "cannot be used: database or disk is full" in str(cached.trouble)


def test_what_is_composed_is_kept_too(path):
    model = open_embedding("static")
    texts = ["cat", "zxqwv", "cat"]
    for _ in range(2):
        kept = CachedEmbedder(model, path).embed(texts)
        assert (
            kept.composed.tolist() == model.embed(texts).composed.tolist() == [0, 1, 0]
        )
        assert kept.known.tolist() == model.embed(texts).known.tolist()
    assert CachedEmbedder(Counting(), path).embed(["cat"]).composed is None


def busy(path, seconds):
    """Hold the file for some seconds, as another process does that makes it."""
    path.parent.mkdir(exist_ok=True)
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    threading.Timer(seconds, other.close).start()


def test_it_does_not_wait_for_ever(path, monkeypatch):
    monkeypatch.setattr("semmetrics.store.text_cache._MAX_WAIT", 0.05)
    busy(path, 1)
    cache = TextCache(path, "vectors", {"vector": "BLOB"})
    assert "the cache of vectors cannot be used: database is locked" in str(
        cache.trouble
    )
    assert cache.rows("a", ["b"], lambda texts: [(b"c",)]) == {"b": (b"c",)}


# ---- what else may be kept ----------------------------------------------------------------------


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


def test_a_file_that_is_no_database_is_left_as_it_is(path):
    path.parent.mkdir()
    data = b"this is no database, and long enough to be seen as none" * 40
    path.write_bytes(data)
    gives_the_vectors(path, "file is not a database")
    assert path.read_bytes() == data
