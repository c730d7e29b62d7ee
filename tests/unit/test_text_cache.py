"""The cache of slow models: each text once, and right vectors in spite of damage."""

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
    """A model that records the texts it embeds. Texts of more than 4 letters are cut."""

    threshold = 0.25
    dimension = 2
    identity = "slow-2@0123456789ab"

    def __init__(self):
        self.texts = []

    def embed(self, texts):
        self.texts += texts
        lengths = np.array([len(text) for text in texts], np.float32)
        vectors = np.stack([lengths, lengths / 3], axis=1)
        n_truncated = int(self.is_truncated(texts).sum())
        return Embedded(vectors, lengths > 0, n_truncated)

    def is_truncated(self, texts):
        return np.array([len(text) > 4 for text in texts], bool)


VECTORS = Counting().embed(["cat", "mouse"]).vectors


@pytest.fixture
def path(tmp_path):
    return tmp_path / "below" / "cache.sqlite"


def embed(path):
    """Embed two texts with a cache, and return the cache and the model."""
    model = Counting()
    cached = CachedEmbedder(model, path)
    embedded = cached.embed(["cat", "mouse"])
    np.testing.assert_array_equal(embedded.vectors, VECTORS)
    assert embedded.known.all()
    assert embedded.truncated == 1
    return cached, model


def change_database(path, statement):
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()


def test_a_cached_model_has_the_properties_of_the_model(path):
    cached = CachedEmbedder(Counting(), path)

    assert cached.identity == Counting.identity
    assert cached.dimension == 2
    assert cached.threshold == 0.25
    assert not hasattr(cached, "find")
    assert cached.embed([]).vectors.shape == (0, 2)


def test_a_cached_text_is_not_embedded_again(path):
    embed(path)

    _, model = embed(path)

    assert model.texts == []


def test_composed_texts_are_cached_as_composed(path):
    model = open_embedding("static")
    texts = ["cat", "zxqwv", "cat"]

    for _ in range(2):
        embedded = CachedEmbedder(model, path).embed(texts)
        assert embedded.composed.tolist() == [False, True, False]
        assert embedded.known.tolist() == model.embed(texts).known.tolist()
    assert CachedEmbedder(Counting(), path).embed(["cat"]).composed is None


WRITE = """
import sys
sys.path[:0] = sys.argv[2:]
from test_text_cache import CachedEmbedder, Counting
cached = CachedEmbedder(Counting(), sys.argv[1])
for start in range(0, 300, 10):
    texts = [str(number) for number in range(start, start + 20)]
    assert cached.embed(texts).vectors[:, 0].tolist() == [len(text) for text in texts]
"""


def test_several_processes_write_at_once(path):
    folders = [str(Path(__file__).parent), str(ROOT)]
    command = [sys.executable, "-c", WRITE, str(path), *folders]

    running = [subprocess.Popen(command) for _ in range(3)]

    assert [process.wait() for process in running] == [0, 0, 0]
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT count(*) FROM vectors_checked")
        assert rows.fetchone() == (310,)


def test_rows_before_an_interruption_are_cached(path):
    cache = TextCache(path, "lengths", {"length": "INTEGER"})
    texts = [str(number) for number in range(1500)]
    computed = []

    def compute(block):
        if len(computed) == 1:
            raise KeyboardInterrupt
        computed.append(block)
        return [(len(text),) for text in block]

    with pytest.raises(KeyboardInterrupt):
        cache.rows("len@1", texts, compute)
    (first_block,) = computed
    computed.clear()

    assert len(cache.rows("len@1", texts, compute)) == 1500
    assert computed == [texts[len(first_block) :]]


# ---- damage --------------------------------------------------------------------------


def assert_reported(cached, text):
    assert cached.trouble.code == "cache-unusable"
    assert text in str(cached.trouble)


def test_a_file_that_is_not_a_database_is_not_changed(path):
    path.parent.mkdir()
    data = b"this is not a database, and long enough to be recognised" * 40
    path.write_bytes(data)

    cached, _ = embed(path)

    assert_reported(cached, "file is not a database")
    assert path.read_bytes() == data


def test_the_database_of_another_program_is_not_changed(path):
    path.parent.mkdir()
    change_database(path, "CREATE TABLE vectors_checked (identity, text, vector)")

    cached, _ = embed(path)

    assert_reported(cached, "table vectors_checked is not of a cache")
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT name FROM sqlite_master").fetchall()
    assert rows == [("vectors_checked",)]


def test_a_changed_byte_never_gives_other_vectors(path):
    embed(path)
    change_database(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    places = [*range(0, 200, 7), *range(200, len(data), 97)]
    places += range(len(data) - 300, len(data))
    n_reported = 0

    for place in places:
        for file in path.parent.iterdir():
            file.unlink()
        changed = bytearray(data)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        cached, _ = embed(path)
        n_reported += cached.trouble is not None

    assert n_reported > 50


@pytest.mark.parametrize(
    "change",
    [
        "vector = X'000080BF000080BF'",
        "vector = 'text'",
        "known = 0",
        "truncated = 'x'",
        "text = X'636f77'",
        "checksum = X'00'",
    ],
)
def test_a_damaged_row_is_computed_again(path, change):
    embed(path)
    change_database(path, f"UPDATE vectors_checked SET {change} WHERE text = X'636174'")

    _, model = embed(path)
    assert model.texts == ["cat"]

    _, model = embed(path)
    assert model.texts == []


def test_a_vector_of_another_length_is_not_used(path):
    columns = {"vector": "BLOB", "known": "INTEGER", "truncated": "INTEGER"}
    cache = TextCache(path, "vectors", columns)
    cache.rows(Counting.identity, ["cat"], lambda texts: [(b"1234", 1, 0)])

    cached, _ = embed(path)

    assert_reported(cached, "a vector is not finite, or has a different length")


def test_a_full_disk_is_reported(path, monkeypatch):
    embed(path)
    connect = sqlite3.connect

    def connect_to_full_disk(*arguments, **options):
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_to_full_disk)
    texts = [str(number) * 50 for number in range(500)]
    cached = CachedEmbedder(Counting(), path)

    vectors = cached.embed(texts).vectors

    np.testing.assert_array_equal(vectors, Counting().embed(texts).vectors)
    assert_reported(cached, "database or disk is full")


def test_a_locked_file_is_not_waited_for_without_end(path, monkeypatch):
    monkeypatch.setattr("semmetrics.store.text_cache.MAX_WAIT_SECONDS", 0.05)
    path.parent.mkdir()
    other = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    threading.Timer(1, other.close).start()

    cache = TextCache(path, "vectors", {"vector": "BLOB"})

    assert_reported(cache, "database is locked")
    assert cache.rows("a", ["b"], lambda texts: [(b"c",)]) == {"b": (b"c",)}
