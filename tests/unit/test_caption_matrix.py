"""CIDEr-D and CIDEr of all pairs against loops, in blocks, in files, and after a kill."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import cider as oracle
from oracles.cider import split
from refusals import refused

from semmetrics.core import sparse_pairs
from semmetrics.core.sparse_pairs import SparsePairs
from semmetrics.kinds.captions.matrix import caption_matrix, caption_top_k
from semmetrics.metrics.cider import CIDEr, CIDErD, fit_document_frequencies

CAPTION = st.lists(
    st.sampled_from(["a", "the", "man", "men", "rides", "bike"]), max_size=9
)
TEXT = CAPTION.map(" ".join)
IMAGES = st.lists(st.lists(TEXT, min_size=1, max_size=3), min_size=1, max_size=5)
TEXTS = st.lists(TEXT, min_size=1, max_size=7)


def made(images=30, each=3, words=40, seed=0):
    """References of images, and captions, of which some are references."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, words + 1)
    names = [f"w{number}" for number in range(words)]

    def caption():
        return " ".join(rng.choice(names, rng.integers(2, 16), p=chance / chance.sum()))

    references = [[caption() for _ in range(each)] for _ in range(images)]
    return references, [text for refs in references for text in refs] + [
        caption(),
        "",
        "w1",
    ]


def matrix(references, captions, **options):
    return caption_matrix(references, captions, tokenizer="whitespace", **options)


@given(
    IMAGES,
    TEXTS,
    st.sampled_from([None, 0.5, 6.0, np.inf]),
    st.sampled_from(["none", "porter"]),
    st.booleans(),
)
def test_equals_loops(images, captions, sigma, stem, given_df):
    documents, df = [split(refs, stem) for refs in images], None
    if given_df:
        other = [["a man rides", "the bike"], ["the men"], ["the man"]]
        documents = [split(refs, stem) for refs in other]
        df = fit_document_frequencies(other, "whitespace", stem)
    frequencies = oracle.document_frequencies(documents)
    measure = CIDEr(stem=stem) if sigma is None else CIDErD(stem=stem, sigma=sigma)
    found = matrix(images, captions, measure=measure, doc_freq=df)
    options = {"sigma": sigma, "clip": sigma is not None}
    expected = [
        [
            oracle.score(
                caption, split(refs, stem), frequencies, len(documents), **options
            )
            for caption in split(captions, stem)
        ]
        for refs in images
    ]
    assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("gain", "most"),
    [
        (0, 1 << 27),
        (1 << 40, 1 << 27),
        (8, 1 << 27),
        (1 << 40, 7 * 93 * 8),
        (1 << 40, 0),
    ],
)
def test_dense_and_sparse_products_agree(monkeypatch, gain, most):
    references, captions = made()
    expected = matrix(references, captions)
    monkeypatch.setattr(sparse_pairs, "_DENSE_GAIN", gain)
    monkeypatch.setattr(sparse_pairs, "_MAX_DENSE_BYTES", most)
    assert_allclose(matrix(references, captions), expected, rtol=0, atol=1e-13)


def test_blocks():
    references, captions = made()
    memory, seen = 16 * len(captions) * 7, []
    found = matrix(
        references, captions, memory=memory, progress=lambda *done: seen.append(done)
    )
    assert_allclose(found, matrix(references, captions), rtol=0, atol=1e-13)
    assert seen == [(7, 30), (14, 30), (21, 30), (28, 30), (30, 30)]


INPUTS = {"images": 40, "each": 2, "words": 30, "seed": 3}
MEMORY = 16 * 83 * 3  # 14 blocks
CHILD = """
import json, sys, time
from semmetrics.kinds.captions.matrix import caption_matrix
references, captions, path, memory = json.load(open(sys.argv[1]))
def progress(done, rows):
    print(done, flush=True)
    time.sleep(0 if done < 12 else 600)
caption_matrix(references, captions, tokenizer="whitespace", out=path, memory=memory,
               progress=progress)
"""


def notes_of(path):
    return path.with_name(f"{path.name}.blocks")


def part_of(path):
    return path.with_name(f"{path.name}.part")


def test_killed_job_is_continued(tmp_path, monkeypatch):
    references, captions = made(**INPUTS)
    path = tmp_path / "phi.npy"
    job = tmp_path / "job.json"
    job.write_text(json.dumps([references, captions, str(path), MEMORY]))
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(job)], stdout=subprocess.PIPE
    )
    with child:
        while child.stdout.readline() != b"12\n":
            assert child.poll() is None
        child.kill()
    assert child.returncode != 0
    assert not path.exists()  # what is not finished has another name
    done = len(notes_of(path).read_text().splitlines()) - 1
    assert done == 4
    computed = []
    block = SparsePairs.block

    def counted(self, start, stop, out=None):
        computed.append(start)
        return block(self, start, stop, out)

    monkeypatch.setattr(SparsePairs, "block", counted)
    found = matrix(references, captions, out=path, memory=MEMORY)
    assert computed == list(range(3 * done, 40, 3))
    whole = matrix(references, captions, out=tmp_path / "whole.npy", memory=MEMORY)
    assert_array_equal(found, whole)
    assert_array_equal(np.load(path), np.load(tmp_path / "whole.npy"))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "job.json",
        "phi.npy",
        "whole.npy",
    ]
    assert not found.flags.writeable


def test_killed_when_only_the_notes_were_left(tmp_path, monkeypatch):
    references, captions = made(**INPUTS)
    path = tmp_path / "phi.npy"
    monkeypatch.setattr(
        "semmetrics.store.matrix_files._MatrixFile.remove_notes", lambda self: None
    )
    whole = np.array(matrix(references, captions, out=path, memory=MEMORY))
    assert notes_of(path).exists()
    monkeypatch.undo()
    monkeypatch.setattr(SparsePairs, "block", None)  # nothing is computed
    assert_array_equal(matrix(references, captions, out=path, memory=MEMORY), whole)
    assert not notes_of(path).exists()


def stopped(path, rows=40, **options):
    """A matrix that was stopped after some rows; the value is what it would have been."""
    references, captions = made(**INPUTS)
    with pytest.raises(Killed):
        matrix(
            references,
            captions,
            out=path,
            memory=MEMORY,
            progress=stopped_after(rows),
            **options,
        )
    assert part_of(path).exists()
    return np.array(matrix(references, captions, memory=MEMORY, **options))


def test_files_that_no_run_wrote(tmp_path):
    references, captions = made(**INPUTS)
    path = tmp_path / "phi.npy"
    np.save(path, np.zeros(3))
    with refused("matrix-exists"):
        matrix(references, captions, out=path)
    assert_array_equal(np.load(path), np.zeros(3))
    path.unlink()
    whole = stopped(path)
    other = io.BytesIO()
    np.save(other, np.zeros((2, 2)))
    for written in (b"damaged", other.getvalue()):
        part_of(path).write_bytes(written)
        with refused("matrix-unfinished"):
            matrix(references, captions, out=path, memory=MEMORY)
    for written in (
        b"[\n",
        b"[]\n",
        b"5\n",
        b"\xff\xfe\n",
        b"\n",
        b"[" * 10**5 + b"\n",
        b"{}\n",
        b"",
    ):
        notes_of(path).write_bytes(written)
        with refused("matrix-unfinished"):
            matrix(references, captions, out=path)
    part_of(path).unlink()  # notes without numbers: all of it is computed
    assert_array_equal(matrix(references, captions, out=path, memory=MEMORY), whole)


class Killed(Exception):
    pass


def stopped_after(rows):
    def progress(done, _):
        if done >= rows:
            raise Killed

    return progress


@pytest.mark.parametrize("written", [None, b"\xff\xfe\n", b"{}\n3\n"])
def test_notes_of_a_matrix_that_is_gone_are_written_anew(tmp_path, written):
    references, captions = made(**INPUTS)
    path = tmp_path / "phi.npy"
    whole = stopped(path, measure="CIDEr")
    part_of(path).unlink()
    if written is not None:
        notes_of(path).write_bytes(written)
    with pytest.raises(Killed):  # the notes may also be of another measure
        matrix(references, captions, out=path, memory=MEMORY, progress=stopped_after(6))
    assert [
        line.split()[0] for line in notes_of(path).read_text().splitlines()[1:]
    ] == ["0", "3"]
    part_of(path).unlink()
    with pytest.raises(Killed):
        matrix(
            references,
            captions,
            out=path,
            memory=MEMORY,
            measure="CIDEr",
            progress=stopped_after(9),
        )
    found = matrix(references, captions, out=path, memory=MEMORY, measure="CIDEr")
    assert_array_equal(found, whole)
    assert whole.any(axis=1).all()


@pytest.mark.parametrize("kept", [60, 200, -1])
def test_a_matrix_that_is_cut_off_is_refused(tmp_path, kept):
    references, captions = made(**INPUTS)
    path = tmp_path / "phi.npy"
    stopped(path)
    data = part_of(path).read_bytes()[:kept]
    part_of(path).write_bytes(data)
    with refused("matrix-unfinished"):
        matrix(references, captions, out=path, memory=MEMORY)
    assert part_of(path).read_bytes() == data


def test_places_where_no_file_can_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    references, captions = made(**INPUTS)
    for out, problem in (
        (".", "folder"),
        ("", "path is empty"),
        ("no/phi.npy", "no such folder"),
        (tmp_path, "folder"),
        (os.devnull, "not a regular file"),
    ):
        for resume in (True, False):
            with refused(problem):
                matrix(references, captions, out=out, resume=resume)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"references": [["a"], []]}, "nothing-given", "references[1]"),
        ({"references": {"1": ["a"]}}, "wrong-type", "references"),
        ({"references": "a man"}, "wrong-type", "references"),
        (
            {"references": ["a man"], "captions": [["a man"]]},
            "wrong-type",
            "references[0]",
        ),
        ({"references": [["a"], None]}, "wrong-type", "references[1]"),
        ({"references": [["a"], ["a", 3]]}, "wrong-type", "references[1][1]"),
        ({"captions": {"1": "a"}}, "wrong-type", "captions"),
        ({"captions": {"a"}}, "wrong-type", "captions"),
        ({"captions": ["a", ["b"]]}, "wrong-type", "captions[1]"),
        ({"captions": []}, "empty", "captions"),
        ({"captions": "a man"}, "wrong-type", "captions"),
        ({"measure": "BLEU-4"}, "no-matrix", ""),
        ({"measure": "CIDEr-D(df=rows)"}, "no-matrix", ""),
        ({"measure": "CIDEr-D(df=given)"}, "needs-option", ""),
        ({"rows": "reference"}, "bad-choice", ""),
    ],
)
def test_inputs_are_checked(change, code, where):
    options = {"references": [["a man"], ["a bike"]], "captions": ["a"], **change}
    with refused(code, where):
        matrix(**options)
    with refused(code, where):
        caption_top_k(k=1, tokenizer="whitespace", **options)


def test_arrays_of_texts():
    references, captions = made(**INPUTS)
    found = matrix(np.array(references), np.array(captions))
    assert_array_equal(found, matrix(references, captions))


@pytest.mark.parametrize(
    ("k", "axis", "code"),
    [
        (0, "captions", "bad-option"),
        (3, "captions", "bad-option"),
        (1.0, "captions", "bad-option"),
        (2, "images", "bad-option"),
        (1, "rows", "bad-choice"),
    ],
)
def test_k_is_checked(k, axis, code):
    with refused(code):
        caption_top_k([["a man"]], ["a", "b"], k, axis=axis, tokenizer="whitespace")
