"""Files of word vectors: their forms, and errors for damaged ones."""

import gzip

import numpy as np
import pytest
from refusals import refused
from word_vectors import VECTORS, WORDS, binary_file, text_file, zip_file

from semmetrics.embed.word_files import read_vectors

FORMS = {
    "binary": binary_file(),
    "binary with newlines": binary_file(newlines=True),
    "text": text_file(),
    "text with trailing spaces": text_file(tail=" "),
    "text with CR LF": text_file().replace(b"\n", b"\r\n"),
    "GloVe": text_file(header=False),
    "GloVe without last newline": text_file(header=False).rstrip(b"\n"),
    "gzip": gzip.compress(binary_file(), mtime=0),
    "zip": zip_file(vectors=text_file()),
}


@pytest.fixture
def write(tmp_path):
    def write(data):
        path = tmp_path / "toy.bin"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_have_the_same_vectors(write, form):
    model = read_vectors(write(FORMS[form]))

    assert len(model) == len(WORDS)
    assert model.find([*WORDS, "cow", "Cat", ""]).tolist() == [
        0,
        1,
        2,
        3,
        4,
        -1,
        -1,
        -1,
    ]
    embedded = model.embed(["naïve", "cow", "cat", "cat"])
    assert embedded.known.tolist() == [True, False, True, True]
    assert embedded.vectors.dtype == np.float32
    expected = [VECTORS[3], np.zeros(3), VECTORS[0], VECTORS[0]]
    np.testing.assert_array_equal(embedded.vectors, expected)
    assert model.words(np.array([2, 3])) == ["Parking_Meter", "naïve"]


def test_words_can_be_looked_up_by_membership_and_row(write):
    model = read_vectors(write(binary_file()))

    assert "cat" in model
    assert "cow" not in model
    assert 7 not in model
    rows = model.rows(np.array([1, -1]))
    np.testing.assert_array_equal(rows, [VECTORS[1], np.zeros(3)])
    assert model.embed([]).vectors.shape == (0, 3)


def test_a_word_that_is_not_utf8_is_never_found(write):
    data = binary_file().replace("naïve".encode(), b"na\xff\xfeve")

    model = read_vectors(write(data))

    assert model.find(["na\ufffd\ufffdve", "cat", "\udcff"]).tolist() == [-1, 0, -1]


@pytest.mark.parametrize("header", [True, False])
def test_a_word_may_end_with_a_number(write, header):
    words = [*WORDS[:2], "route 66", *WORDS[3:]]

    model = read_vectors(write(text_file(words, header=header)))

    assert model.find(["route 66"]).tolist() == [2]


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "empty-file", 0),
        (b"\x89PNG\r\n\x1a\n", "not-word-vectors", 0),
        (binary_file()[:3], "not-word-vectors", 0),
        (b"\xef\xbb\xbf" + text_file(), "not-word-vectors", 0),
        (binary_file()[:-1], "damaged", 0),
        (binary_file(count=6), "damaged", 0),
        (binary_file(count=4), "damaged", 0),
        (text_file().replace(b"5 3", b"4 3"), "damaged", 0),
        (b"0 3\n", "damaged", 0),
        (b"9000000 300\ncat ", "damaged", 0),
        (b"2 3\n" + b"x" * 9000, "damaged", 0),
        (text_file()[:-10], "damaged", 6),
        (text_file().replace(b"5 3", b"7 3"), "damaged", 0),
        (b"cat 1 2 3\ndog 1 2\ncow 1 2 3\n", "damaged", 2),
        (b"cat 1 2 3\n\ndog 1 2 3\n", "damaged", 2),
        # A single line does not tell whether its word or the header is wrong.
        (text_file(["route 66"], VECTORS[:1]), "damaged", 2),
        (text_file().replace(b"Meter", b"Meter 0.5"), "damaged", 0),
        (gzip.compress(binary_file(), mtime=0)[:-12], "damaged", 0),
        (zip_file(a=text_file(), b=text_file()), "wrong-member", 0),
    ],
)
def test_a_damaged_file_is_an_error(write, data, code, line):
    path = write(data)

    with refused(code) as caught:
        read_vectors(path)

    assert caught.value.where.startswith(str(path))
    if line:
        assert caught.value.where.endswith(f", line {line}")


@pytest.mark.parametrize("max_words", [None, 2])
@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("newlines", [False, True])
def test_a_binary_header_with_another_width_is_an_error(
    write, newlines, width, max_words
):
    path = write(binary_file(newlines=newlines, width=width))

    with refused("damaged"):
        read_vectors(path, max_words=max_words)


@pytest.mark.parametrize("max_words", [None, 1])
@pytest.mark.parametrize(("width", "promised"), [(3, 1), (3, 2), (3, 4), (2, 3)])
def test_a_text_header_with_another_width_is_an_error(
    write, width, promised, max_words
):
    data = text_file(vectors=VECTORS[:, :width])
    path = write(data.replace(f"5 {width}\n".encode(), f"5 {promised}\n".encode(), 1))

    with refused("damaged"):
        read_vectors(path, max_words=max_words)


@pytest.mark.parametrize(
    ("header", "in_directory", "value"), [(6, 8, 1), (8, 10, 99)], ids=["key", "method"]
)
def test_an_encrypted_or_unknown_archive_is_an_error(
    write, header, in_directory, value
):
    data = bytearray(zip_file(a=text_file()))
    directory = data.index(b"PK\x01\x02")
    data[header] = value
    data[directory + in_directory] = value

    with refused("damaged"):
        read_vectors(write(bytes(data)))


def test_a_wrong_number_is_an_error_when_its_word_is_looked_up(write):
    path = write(b"cat 1 2 3\ndog 1 x 3\n")
    model = read_vectors(path)

    assert model.embed(["cat"]).known.all()
    with refused("damaged", f"{path}, line 2"):
        model.embed(["cat", "dog"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_an_error_when_looked_up(write, value):
    vectors = VECTORS.copy()
    vectors[1, 2] = value
    model = read_vectors(write(binary_file(vectors)))

    assert model.embed(["cat"]).known.all()
    with refused("vector-not-finite", names=["dog"]):
        model.embed(["cat", "dog"])


def test_a_member_of_an_archive_can_be_chosen(write):
    path = write(zip_file(a=text_file(), b=text_file(header=False)))

    assert len(read_vectors(path, member="b")) == len(WORDS)
    with refused("wrong-member"):
        read_vectors(path, member="c")


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("none.bin", {}, "missing-file"),
        ("", {}, "unreadable"),
        ("toy.bin", {"max_words": 0}, "bad-option"),
        ("toy.bin", {"kind": "glove"}, "wrong-vectors"),
    ],
)
def test_wrong_options_are_errors(write, tmp_path, name, options, code):
    write(binary_file())

    with refused(code):
        read_vectors(tmp_path / name, **options)
