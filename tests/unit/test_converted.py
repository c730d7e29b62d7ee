"""The converted form of word vectors: the same vectors, and errors for damage."""

import json

import numpy as np
import pytest
from refusals import refused
from word_vectors import WORDS, text_file

from semmetrics.embed.converted import convert, is_converted, open_converted, verify
from semmetrics.embed.word_files import read_vectors
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import InputError


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "toy.txt"
    path.write_bytes(text_file())
    return read_vectors(path)


@pytest.fixture
def folder(source, tmp_path):
    return convert(source, tmp_path / "toy", licence="CC0")


def flip_last_bit(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def change_metadata(folder, **values):
    path = folder / "meta.json"
    metadata = json.loads(path.read_text("utf-8")) | values
    path.write_text(json.dumps(metadata), "utf-8")


def test_vectors_and_identity_are_those_of_the_source(source, folder):
    opened = open_converted(folder)

    words = [*WORDS, "cow", ""]
    assert opened.find(words).tolist() == source.find(words).tolist()
    np.testing.assert_array_equal(
        opened.embed(words).vectors, source.embed(words).vectors
    )
    assert opened.identity == source.identity
    assert opened.lookup == "words"
    verify(folder)


def test_vectors_in_memory_can_be_converted(tmp_path):
    model = MatrixEmbedder(np.eye(2), ["traffic light", "cat"], name="mine")

    opened = open_converted(convert(model, tmp_path / "mine"))

    assert opened.find(["traffic light"]).tolist() == [0]
    assert opened.identity == model.identity


def test_an_existing_folder_is_not_overwritten(source, folder):
    with refused("exists"):
        convert(source, folder)


@pytest.mark.parametrize(
    "name", ["vectors.npy", "hashes.npy", "order.npy", "words.utf8"]
)
def test_a_missing_or_cut_off_part_is_an_error(folder, name):
    part = folder / name
    part.write_bytes(part.read_bytes()[:-1])
    with refused("damaged"):
        open_converted(folder)

    part.unlink()
    with refused("damaged"):
        open_converted(folder)


def test_changed_vectors_are_found_by_verify(folder):
    flip_last_bit(folder / "vectors.npy")

    open_converted(folder)
    with refused("damaged"):
        verify(folder)


def test_vectors_without_checksums_are_verified_when_opened(folder):
    metadata = json.loads((folder / "meta.json").read_text("utf-8"))
    del metadata["index_checksum"]
    del metadata["files"]["checksums.npy"]
    (folder / "meta.json").write_text(json.dumps(metadata), "utf-8")
    (folder / "checksums.npy").unlink()
    assert len(open_converted(folder)) == 5

    flip_last_bit(folder / "vectors.npy")
    with refused("damaged"):
        open_converted(folder)


@pytest.mark.parametrize(
    "change",
    [{"schema": "other/2"}, {"words": 4}, {"hash": "0" * 16}, {"dimension": None}],
)
def test_metadata_that_do_not_fit_are_an_error(folder, change):
    change_metadata(folder, **change)

    with refused("damaged", str(folder)):
        open_converted(folder)


@pytest.mark.parametrize(
    ("text", "code"),
    [("[]", "not-converted"), ('{"schema": "semmetrics.vectors/1"}', "damaged")],
)
def test_other_metadata_are_an_error(folder, text, code):
    (folder / "meta.json").write_text(text, "utf-8")

    with refused(code):
        open_converted(folder)


def test_another_folder_is_an_error(tmp_path, folder):
    assert is_converted(folder)
    assert not is_converted(tmp_path)
    with refused("not-converted"):
        open_converted(tmp_path)


def test_a_flipped_bit_never_gives_other_vectors(folder):
    texts = ["cat", "dog", "Parking_Meter", "cow"]
    intact = open_converted(folder)
    expected = intact.embed(texts)
    n_errors = 0

    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in range(0, len(content), 1 + len(content) // 40):
            flipped = bytearray(content)
            flipped[place] ^= 1 << place % 8
            path.unlink()  # the opened vectors keep the file of before
            path.write_bytes(flipped)
            try:
                opened = open_converted(folder)
                embedded = opened.embed(texts)
            except InputError:
                n_errors += 1
                continue
            assert opened.identity == intact.identity, (path.name, place)
            np.testing.assert_array_equal(embedded.vectors, expected.vectors)
            np.testing.assert_array_equal(embedded.known, expected.known)
        path.unlink()
        path.write_bytes(content)

    assert n_errors > 100
