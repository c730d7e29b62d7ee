"""METEOR's table of paraphrases: its conversion, the cache file, and damage to either."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import refused
from stand_ins import PARAPHRASES, small_meteor, write_meteor

from semmetrics.text.paraphrase_table import find_table, load_table
from semmetrics.text.paraphrases import open_paraphrases

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def folder(tmp_path):
    """A folder with METEOR's files, which a test may change. The cache is in "kept"."""
    folder = write_meteor(tmp_path / "meteor")
    with small_meteor(folder):
        yield folder


def load():
    """Load the table anew, as a new process does."""
    arrays = load_table(find_table(), None)
    return [array.tolist() for array in arrays]


def cache_files(folder):
    files = (folder / "kept").glob("*")
    return [path for path in files if path.suffix != ".lock"]


def test_the_table_is_converted_once(folder):
    progress = []
    open_paraphrases(lambda done, total: progress.append((done, total)))
    (cache,) = cache_files(folder)
    written = cache.stat().st_mtime_ns

    arrays = load()

    assert progress[-1][0] == progress[-1][1] > 0
    assert len(arrays[-1]) == len(PARAPHRASES)
    assert cache.stat().st_mtime_ns == written


def test_a_cache_file_with_a_flipped_byte_is_written_again(folder):
    expected = load()
    (cache,) = cache_files(folder)
    intact = cache.read_bytes()

    for place in range(0, len(intact), 7):
        flipped = bytearray(intact)
        flipped[place] ^= 1 << place % 8
        cache.write_bytes(flipped)

        assert load() == expected
        assert cache.read_bytes() == intact


@pytest.mark.parametrize("size", [0, 9, -1])
def test_a_cache_file_that_is_cut_off_is_written_again(folder, size):
    expected = load()
    (cache,) = cache_files(folder)
    intact = cache.read_bytes()
    cache.write_bytes(intact[:size])

    assert load() == expected
    assert cache.read_bytes() == intact


def test_the_cache_folder_may_be_unusable(folder):
    (folder / "kept").write_text("not a folder")

    assert len(open_paraphrases().targets) == len(PARAPHRASES)


DAMAGES = {
    "cut off": lambda data: data[:-9],
    "empty": lambda data: b"",
    "another table": lambda data: gzip.compress(b"0.5\na\nb\n"),
    "flipped bit": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "zeros": lambda data: data[:30] + bytes(len(data) - 38) + data[-8:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_table_is_an_error_and_not_cached(folder, damage):
    table = find_table()
    table.write_bytes(damage(table.read_bytes()))

    with refused("damaged-package"):
        open_paraphrases()

    assert cache_files(folder) == []


def test_an_incomplete_entry_is_an_error(tmp_path):
    folder = write_meteor(tmp_path / "meteor")
    table = folder / "data" / "paraphrase-en.gz"
    table.write_bytes(gzip.compress(b"0.5\na\n"))

    with small_meteor(folder), refused("damaged-package", str(table)):
        open_paraphrases()


CONVERT = """
import sys
from pathlib import Path
from stand_ins import small_meteor
from semmetrics.text.paraphrases import open_paraphrases
with small_meteor(Path(sys.argv[1])):
    print(len(open_paraphrases().targets))
"""


def test_several_processes_may_convert_at_once(folder):
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", CONVERT, str(folder)]

    running = []
    for _ in range(3):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        running.append(process)

    for process in running:
        assert int(process.communicate()[0]) == len(PARAPHRASES)
