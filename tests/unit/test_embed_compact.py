"""The converted form: the same vectors, opened at once, and refused where it is damaged."""

import json

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.converted import convert, is_converted, open_converted, verify
from semmetrics.embed.word_files import read_vectors
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import InputError

WORDS = ["cat", "dog", "traffic light", "naïve", "zero"]
VECTORS = np.array([[1, 2], [3, -4], [0.5, 0.25], [9, 9], [0, 0]], np.float32)


@pytest.fixture
def folder(tmp_path):
    source = tmp_path / "toy.txt"
    lines = [
        f"{word.replace(' ', '_')} {a} {b}"
        for word, (a, b) in zip(WORDS, VECTORS, strict=True)
    ]
    source.write_text("\n".join(lines), "utf-8")
    return convert(read_vectors(source), tmp_path / "toy", licence="CC0")


def test_an_existing_folder_is_not_overwritten(folder, tmp_path):
    with refused("exists"):
        convert(read_vectors(tmp_path / "toy.txt"), folder)


def test_progress_is_told(tmp_path, folder):
    seen = []
    convert(
        open_converted(folder),
        tmp_path / "again",
        progress=lambda *told: seen.append(told),
    )
    assert seen == [(5, 5)]


@pytest.mark.parametrize(
    "name", ["vectors.npy", "hashes.npy", "order.npy", "words.utf8"]
)
def test_a_part_that_is_missing_or_cut_off_is_refused(folder, name):
    part = folder / name
    part.write_bytes(part.read_bytes()[:-1])
    with refused("damaged"):
        open_converted(folder)
    part.unlink()
    with refused("damaged"):
        open_converted(folder)


def test_changed_numbers_are_found_by_verify(folder):
    part = folder / "vectors.npy"
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(data)
    open_converted(folder)
    with refused("damaged"):
        verify(folder)


CHANGES = [{"schema": "other/2"}, {"words": 4}, {"hash": "0" * 16}, {"dimension": None}]


@pytest.mark.parametrize("change", CHANGES)
def test_metadata_that_do_not_fit_are_refused(folder, change):
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    (folder / "meta.json").write_text(json.dumps(meta | change), "utf-8")
    with refused("damaged", str(folder)):
        open_converted(folder)


def test_what_is_no_such_folder_is_refused(tmp_path, folder):
    assert is_converted(folder)
    assert not is_converted(tmp_path)
    with refused("not-converted"):
        open_converted(tmp_path)
    for text, code in (
        ("[]", "not-converted"),
        ('{"schema": "semmetrics.vectors/1"}', "damaged"),
    ):
        (folder / "meta.json").write_text(text, "utf-8")
        with refused(code):
            open_converted(folder)


def test_it_gives_the_same_vectors_and_identity(folder, tmp_path):
    source, opened = read_vectors(tmp_path / "toy.txt"), open_converted(folder)
    asked = [*[word.replace(" ", "_") for word in WORDS], "cow", ""]
    assert opened.find(asked).tolist() == source.find(asked).tolist()
    np.testing.assert_array_equal(
        opened.embed(asked).vectors, source.embed(asked).vectors
    )
    assert opened.identity == source.identity
    assert opened.lookup == "words"
    verify(folder)


def test_other_vectors_can_be_converted(tmp_path):
    model = MatrixEmbedder(VECTORS, WORDS, name="mine")
    opened = open_converted(convert(model, tmp_path / "mine"))
    assert opened.find(["traffic light"]).tolist() == [2]
    assert opened.identity == model.identity


def test_a_flipped_byte_never_gives_other_vectors(folder):
    texts = ["cat", "dog", "traffic light", "cow", "house"]
    whole = open_converted(folder)
    expected = whole.embed(texts)
    refusals = 0
    for path in sorted(folder.iterdir()):
        before = path.read_bytes()
        for place in range(0, len(before), 1 + len(before) // 40):
            flipped = bytearray(before)
            flipped[place] ^= 1 << place % 8
            path.unlink()  # the file of the opened vectors stays as it was
            path.write_bytes(flipped)
            try:
                opened = open_converted(folder)
                found = opened.embed(texts)
            except InputError:
                refusals += 1
                continue
            assert opened.identity == whole.identity, (path.name, place)
            np.testing.assert_array_equal(found.vectors, expected.vectors)
            np.testing.assert_array_equal(found.known, expected.known)
        path.unlink()
        path.write_bytes(before)
    assert refusals > 100


def test_vectors_without_checksums_are_verified(folder):
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    del meta["index_checksum"]
    del meta["files"]["checksums.npy"]
    (folder / "meta.json").write_text(json.dumps(meta), "utf-8")
    (folder / "checksums.npy").unlink()
    assert len(open_converted(folder)) == meta["words"]
    path = folder / "vectors.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with refused("damaged"):
        open_converted(folder)
