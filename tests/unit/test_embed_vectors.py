"""Files of word vectors: what is read, in which form, and what is refused."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.word_files import read_vectors
from semmetrics.embed.word_index import WordIndex

WORDS = ["cat", "dog", "Parking_Meter", "naïve", "unknown"]
VECTORS = np.array(
    [[1, 0, 0.5], [0.25, -1, 2], [3, 3, 3], [1e-3, 1e5, -7], [0, 0, 1]], np.float32
)


def binary(words=WORDS, vectors=VECTORS, *, newlines=False, count=None):
    """Bytes of word2vec's binary format; the original program ends each vector with a new line."""
    end = b"\n" if newlines else b""
    head = f"{len(words) if count is None else count} {vectors.shape[1]}\n".encode()
    return head + b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + end
        for word, row in zip(words, vectors, strict=True)
    )


def text(words=WORDS, vectors=VECTORS, *, header=True, tail=""):
    lines = [f"{len(words)} {vectors.shape[1]}"] if header else []
    lines += [
        f"{word} {' '.join(str(number) for number in row)}{tail}"
        for word, row in zip(words, vectors.tolist(), strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


FORMS = {
    "binary": binary(),
    "binary, new lines": binary(newlines=True),
    "text": text(),
    "text, trailing blanks": text(tail=" "),
    "text, CR LF": text().replace(b"\n", b"\r\n"),
    "glove": text(header=False),
    "glove, no last new line": text(header=False).rstrip(b"\n"),
    "gzip": gzip.compress(binary(), mtime=0),
    "zip": zipped(vectors=text()),
}


@pytest.fixture
def file(tmp_path):
    def write(data, name="toy.bin"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same_vectors(file, form):
    vectors = read_vectors(file(FORMS[form]))
    assert len(vectors) == len(WORDS)
    assert vectors.dimension == 3
    assert vectors.find([*WORDS, "cow", "Cat", ""]).tolist() == [
        0,
        1,
        2,
        3,
        4,
        -1,
        -1,
        -1,
    ]
    found = vectors.embed(["naïve", "cow", "cat", "cat"])
    assert found.known.tolist() == [True, False, True, True]
    assert found.vectors.dtype == np.float32
    np.testing.assert_array_equal(
        found.vectors, VECTORS[[3, 0, 0, 0]] * [[1], [0], [1], [1]]
    )
    assert vectors.words(np.array([2, 3])) == ["Parking_Meter", "naïve"]


def test_membership_and_rows(file):
    vectors = read_vectors(file(binary()))
    assert "cat" in vectors
    assert "cow" not in vectors
    assert 7 not in vectors
    np.testing.assert_array_equal(
        vectors.rows(np.array([1, -1])), [VECTORS[1], [0, 0, 0]]
    )
    assert vectors.rows(np.zeros(0, int)).shape == (0, 3)
    assert vectors.embed([]).vectors.shape == (0, 3)


def test_bytes_that_are_no_utf8_are_never_found(file):
    data = binary().replace("naïve".encode(), b"na\xff\xfeve")
    vectors = read_vectors(file(data))
    assert vectors.find(["na\ufffd\ufffdve", "cat", "\udcff"]).tolist() == [-1, 0, -1]


def test_words_with_the_same_hash_are_told_apart():
    index = WordIndex.build([b"cat", b"dog"])
    same = index._hashes.copy()
    same[:] = same[index._order == 0][0]  # both get the hash of "cat"
    index._hashes = same
    assert index.find(["cat"]).tolist() == [0]
    index._order = index._order[::-1].copy()
    assert index.find(["cat"]).tolist() == [0]


DAMAGED = "damaged"


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "empty-file", 0),
        (b"\x89PNG\r\n\x1a\n", "not-word-vectors", 0),
        (binary()[:3], "not-word-vectors", 0),
        (b"\xef\xbb\xbf" + text(), "not-word-vectors", 0),
        (b"\xef\xbb\xbf" + text(header=False), "not-word-vectors", 0),
        (binary()[:-1], DAMAGED, 0),
        (binary()[:12], DAMAGED, 0),
        (binary(count=6), DAMAGED, 0),
        (binary(count=4), DAMAGED, 0),
        (b"9000000 300\ncat ", DAMAGED, 0),
        (b"2 3\n" + b"x" * 9000, DAMAGED, 0),
        (b"0 3\n", DAMAGED, 0),
        (text()[:-10], DAMAGED, 6),
        (text().replace(b"5 3", b"7 3"), DAMAGED, 0),
        (text().replace(b"5 3", b"4 3"), DAMAGED, 0),
        (b"cat 1 2 3\ndog 1 2\ncow 1 2 3\n", DAMAGED, 2),
        (b"cat 1 2 3\n\ndog 1 2 3\n", DAMAGED, 2),
        (text(["cat 0.5", *WORDS[1:]]), DAMAGED, 2),
        # a single line does not say whether the number is of the phrase or the header is wrong
        (text(["route 66"], VECTORS[:1]), DAMAGED, 2),
        (gzip.compress(binary(), mtime=0)[:-12], DAMAGED, 0),
        (zipped(a=text(), b=text()), "wrong-member", 0),
        (zipped(a=text())[:-10], DAMAGED, 0),
    ],
)
def test_damaged_files_are_refused(file, data, code, line):
    path = file(data)
    with refused(code, f"{path}, line {line}" if line else str(path)):
        read_vectors(path)


def test_numbers_that_are_wrong_are_refused_by_line_or_word(file):
    path = file(b"cat 1 2 3\ndog 1 x 3\n")
    vectors = read_vectors(path)
    assert vectors.embed(["cat"]).known.all()
    with refused(DAMAGED, f"{path}, line 2"):
        vectors.embed(["cat", "dog"])
    for bad in (np.nan, np.inf):
        damaged = VECTORS.copy()
        damaged[1, 2] = bad
        vectors = read_vectors(file(binary(vectors=damaged)))
        assert vectors.embed(["cat"]).known.all()
        with refused("vector-not-finite", names=["dog"]):
            vectors.embed(["cat", "dog"])


def test_options_are_checked(file, tmp_path):
    path = file(binary())
    with refused("missing-file"):
        read_vectors(tmp_path / "none.bin")
    with refused("bad-option"):
        read_vectors(path, max_words=0)
    with refused("wrong-vectors"):
        read_vectors(path, kind="glove")
    with refused("wrong-member"):
        read_vectors(file(zipped(a=text(), b=text()), "x.zip"), member="c")
    assert len(
        read_vectors(file(zipped(a=text(), b=text()), "x.zip"), member="b")
    ) == len(WORDS)
    with refused("unreadable"):
        read_vectors(tmp_path)


@pytest.mark.parametrize("max_words", [None, 2])
@pytest.mark.parametrize("newlines", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_a_binary_header_that_names_another_width_is_refused(
    file, dimension, newlines, max_words
):
    data = binary(newlines=newlines).replace(b"5 3\n", b"5 %d\n" % dimension, 1)
    with refused("damaged"):
        read_vectors(file(data), max_words=max_words)


@pytest.mark.parametrize(
    ("width", "promised"), [(3, 1), (3, 2), (3, 4), (3, 300), (2, 1), (2, 3), (2, 300)]
)
def test_a_text_header_that_names_another_width_is_refused(file, width, promised):
    data = text(vectors=VECTORS[:, :width])
    data = data.replace(b"5 %d\n" % width, b"5 %d\n" % promised, 1)
    for max_words in (None, 1):
        with refused("damaged"):
            read_vectors(file(data), max_words=max_words)


@pytest.mark.parametrize("header", [True, False])
def test_a_line_with_a_number_too_many_is_refused(file, header):
    lines = text(header=header).replace(b"Parking_Meter", b"Parking_Meter 0.5")
    with refused("damaged"):
        read_vectors(file(lines))
    phrases = text([*WORDS[:2], "route 66", *WORDS[3:]], header=header)
    assert read_vectors(file(phrases)).find(["route 66"]).tolist() == [2]


@pytest.mark.parametrize(("place", "value"), [((6, 8), 1), ((8, 10), 99)])
def test_archives_that_python_cannot_unpack_are_refused(file, place, value):
    """The flag of encryption, and a method that is none, in both headers of the member."""
    data = bytearray(zipped(a=text()))
    middle = data.index(b"PK\x01\x02")
    data[place[0]] = data[middle + place[1]] = value
    with refused("damaged"):
        read_vectors(file(bytes(data)))
