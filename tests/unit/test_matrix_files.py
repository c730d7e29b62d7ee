"""Matrices in files: continued after a kill, and errors for files of others."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from caption_pairs import matrix, random_images
from numpy.testing import assert_array_equal
from refusals import refused

from semmetrics.core.sparse_pairs import SparsePairs

IMAGES, CAPTIONS = random_images()
MEMORY = 16 * len(CAPTIONS) * 3  # 14 blocks of 3 rows


class Killed(Exception):
    pass


@pytest.fixture
def path(tmp_path):
    return tmp_path / "phi.npy"


def notes_of(path):
    return path.with_name(f"{path.name}.blocks")


def part_of(path):
    return path.with_name(f"{path.name}.part")


def write(path, **options):
    return matrix(IMAGES, CAPTIONS, out=path, memory=MEMORY, **options)


def kill_after(path, rows, **options):
    """Write a matrix until some rows are done."""

    def progress(done, total):
        if done >= rows:
            raise Killed

    with pytest.raises(Killed):
        write(path, progress=progress, **options)


@pytest.fixture(scope="module")
def whole():
    return matrix(IMAGES, CAPTIONS, memory=MEMORY)


CHILD = """
import json, sys, time
from caption_pairs import matrix
images, captions, path, memory = json.load(sys.stdin)
def progress(done, rows):
    print(done, flush=True)
    time.sleep(0 if done < 12 else 600)
matrix(images, captions, out=path, memory=memory, progress=progress)
"""


def test_a_killed_job_is_continued(path, whole, monkeypatch):
    job = json.dumps([IMAGES, CAPTIONS, str(path), MEMORY])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as child:
        child.stdin.write(job)
        child.stdin.close()
        assert [child.stdout.readline() for _ in range(4)][-1] == "12\n"
        child.kill()
    assert not path.exists()
    computed = []
    compute = SparsePairs.block

    def block(self, start, stop, out=None):
        computed.append(start)
        return compute(self, start, stop, out)

    monkeypatch.setattr(SparsePairs, "block", block)
    values = write(path)

    assert computed == list(range(12, 40, 3))
    assert_array_equal(values, whole)
    assert_array_equal(np.load(path), whole)
    assert list(path.parent.iterdir()) == [path]
    assert not values.flags.writeable


def test_a_complete_matrix_with_notes_is_not_computed_again(path, whole, monkeypatch):
    """A job may be killed between renaming the matrix and removing the notes."""
    kill_after(path, 40)
    part_of(path).replace(path)
    monkeypatch.setattr(SparsePairs, "block", None)

    assert_array_equal(write(path), whole)
    assert not notes_of(path).exists()


def test_another_file_is_not_replaced(path):
    np.save(path, np.zeros(3))

    with refused("matrix-exists"):
        write(path)

    assert_array_equal(np.load(path), np.zeros(3))


def other_matrix():
    stream = io.BytesIO()
    np.save(stream, np.zeros((2, 2)))
    return stream.getvalue()


@pytest.mark.parametrize("content", [b"damaged", other_matrix()])
def test_unfinished_numbers_of_another_matrix_are_an_error(path, content):
    kill_after(path, 40)
    part_of(path).write_bytes(content)

    with refused("matrix-unfinished"):
        write(path)


@pytest.mark.parametrize("size", [60, 200, -1])
def test_unfinished_numbers_that_are_cut_off_are_an_error(path, size):
    kill_after(path, 40)
    content = part_of(path).read_bytes()[:size]
    part_of(path).write_bytes(content)

    with refused("matrix-unfinished"):
        write(path)
    assert part_of(path).read_bytes() == content


@pytest.mark.parametrize(
    "notes",
    [b"[\n", b"[]\n", b"5\n", b"\xff\xfe\n", b"[" * 10**5 + b"\n", b"{}\n", b""],
)
def test_damaged_notes_are_an_error_if_there_are_numbers(path, whole, notes):
    kill_after(path, 40)
    notes_of(path).write_bytes(notes)

    with refused("matrix-unfinished"):
        write(path)

    part_of(path).unlink()
    assert_array_equal(write(path), whole)


@pytest.mark.parametrize("notes", [None, b"{}\n3\n"])
def test_notes_without_numbers_are_written_again(path, notes):
    """They may also be the notes of another measure."""
    kill_after(path, 40, measure="CIDEr")
    part_of(path).unlink()
    if notes is not None:
        notes_of(path).write_bytes(notes)

    kill_after(path, 6)

    lines = notes_of(path).read_text().splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["0", "3"]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize(
    ("out", "problem"),
    [
        (".", "folder"),
        ("", "path is empty"),
        ("no/phi.npy", "no such folder"),
        (os.devnull, "not a regular file"),
    ],
)
def test_an_impossible_path_is_an_error(tmp_path, monkeypatch, out, problem, resume):
    monkeypatch.chdir(tmp_path)

    with refused(problem):
        write(out, resume=resume)

    assert list(tmp_path.iterdir()) == []
