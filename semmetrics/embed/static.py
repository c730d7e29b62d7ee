"""The embedding that ships with the package: numpy, no torch, no network.

Conventions
-----------
A text is lower-cased, stripped of accents and apostrophes, and cut into runs of ``a-z`` and
``0-9``; what stands between them (blanks, underscores, hyphens, brackets) separates words. From the
left, the longest run of words that is an entry is taken; a word that begins none is cut into its
longest beginning that is an entry and ``##`` continuations.

A text that is one entry has the entry's vector, which is the sentence model's own vector of that
text. Any other text has ``mean + sum(parts) / sqrt(entries / 2)``: a part is what an entry adds to
a longer text, fitted by the recipe. Vectors have length 1, as the sentence model's. A text is
unknown only where nothing of it is an entry: no letter or digit that can be read as Latin. A text
with a word that is cut into pieces is *composed*: its vector says little where the word is a name
or a misspelling.

``embeddings/README.md`` says how the data was made, ``embeddings/EVALUATION.md`` how good it is.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints, offsets, row_numbers
from semmetrics.embed.embedder import Embedded, Vectors
from semmetrics.errors import InputError
from semmetrics.store.files import file_digest

DATA = Path(__file__).parent / "data"

#: What decides the vectors; the identity is the SHA-256 of their bytes in this order.
FILES = ("static-rows.npy", "static-mean.npy", "static-vocabulary.txt")

#: What an entry without a part of its own adds to a longer text: this much of its vector less mean.
SHARE = np.float32(0.7)

# The 16 numbers that stand for a normally distributed one with the least squared error (Max 1960).
_HALF = (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0691, 2.7326)
#: The number that each four-bit code stands for, times its row's scale.
LEVELS = np.array([-x for x in reversed(_HALF)] + list(_HALF), np.float32)
# Both numbers of each byte, the high four bits first.
_PAIRS = np.stack(np.meshgrid(LEVELS, LEVELS, indexing="ij"), axis=-1).reshape(256, 2)

#: What reading a damaged file may raise.
DAMAGED = (
    AttributeError,
    BadZipFile,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TokenError,
    TypeError,
    ValueError,
)

_WORD = re.compile(r"[a-z0-9]+")
_APOSTROPHES = re.compile(r"['’`´]")
# Letters that no decomposition turns into Latin ones with an accent.
_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_CONTINUES = "##"
# Of a longer word only the beginning is cut into entries, so that cost stays linear.
_LONGEST_WORD = 100
# Texts summed at a time.
_BLOCK = 8192


def split_words(text: str) -> list[str]:
    """Cut a text into plain words.

    Examples
    --------
    >>> split_words("Crème-brûlée_DISH (sweet)")
    ['creme', 'brulee', 'dish', 'sweet']
    """
    return _WORD.findall(_APOSTROPHES.sub("", fold_accents(text)))


def fold_accents(text: str) -> str:
    """Return a text in lower case, with letters of the Latin alphabet in place of variants.

    Examples
    --------
    >>> fold_accents("Smørbrød und Süßes"), fold_accents("Кофе")
    ('smorbrod und susses', 'кофе')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in text if not unicodedata.combining(c)).translate(
            _LETTERS
        )
    return text.lower()


def normalise(text: str) -> str:
    """Return the form in which a text is looked up.

    Examples
    --------
    >>> normalise("Traffic_light")
    'traffic light'
    """
    return " ".join(split_words(text))


class Tokenizer:
    """Cut texts into vocabulary entries: the longest phrase, then the word, then its pieces.

    Parameters
    ----------
    entries : sequence of str
        Normalised words and phrases, and ``##`` continuations; an entry's number is its place.

    Examples
    --------
    >>> tokenizer = Tokenizer(["traffic light", "traffic", "chain", "##saw", "##s"])
    >>> tokenizer("Traffic-light chainsaws"), tokenizer("traffic sign")
    ([0, 2, 3, 4], [1])
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.numbers = dict(zip(entries, range(len(entries)), strict=True))
        self._most_words = 1 + max((entry.count(" ") for entry in entries), default=0)

    def find(self, text: str) -> int | None:
        """Return the number of the entry that a text is, or None."""
        number = self.numbers.get(text)
        if number is None or text.startswith(_CONTINUES):
            number = self.numbers.get(normalise(text))
        return number

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of a text's entries, from left to right."""
        number = self.numbers.get(text)
        if number is not None and not text.startswith(_CONTINUES):
            return [number]
        words, found, start = split_words(text), list[int](), 0
        while start < len(words):
            for width in range(min(self._most_words, len(words) - start), 0, -1):
                number = self.numbers.get(" ".join(words[start : start + width]))
                if number is not None:
                    found.append(number)
                    start += width
                    break
            else:
                found += self._pieces(words[start])
                start += 1
        return found

    def _pieces(self, word: str) -> list[int]:
        """Return the numbers of a word's longest beginning and continuations.

        A letter with which no entry goes on is passed over.
        """
        word, found, start = word[:_LONGEST_WORD], list[int](), 0
        while start < len(word):
            head = _CONTINUES if start else ""
            for end in range(len(word), start, -1):
                number = self.numbers.get(head + word[start:end])
                if number is not None:
                    found.append(number)
                    break
            start = end
        return found


class PackedRows:
    """Vectors kept as four bits a number and a scale a row.

    Parameters
    ----------
    table : structured array, shape (rows,)
        Fields ``scale`` (float16) and ``codes`` (uint8, two numbers a byte, the high bits first).
    """

    def __init__(self, table: NDArray[Any]) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, numbers: Ints) -> Vectors:
        packed = self._table[numbers]
        codes, scales = packed["codes"], packed["scale"].astype(np.float32)
        rows: Vectors = _PAIRS[codes].reshape(len(codes), 2 * codes.shape[1])
        rows *= scales[:, None]
        return rows


class StaticModel:
    """Entries and their vectors, put together to vectors of texts.

    Parameters
    ----------
    entries : sequence of str
        First the continuations, then the other entries that have a part, then those that have none.
    rows : array or PackedRows
        For each entry that is no continuation its vector less ``mean``; after them the parts.
    mean : float32 array, shape (dimension,)
    """

    def __init__(self, entries: Sequence[str], rows: Any, mean: Vectors) -> None:
        self.tokenizer = Tokenizer(entries)
        self._rows, self._mean = rows, np.array(mean, np.float32)
        self._pieces = _count_pieces(entries)
        self._wholes = len(entries) - self._pieces
        self._parts = len(rows) - self._wholes

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts, of length 1; zeros where nothing of a text is an entry.

        A text with a continuation among its entries is composed.
        """
        found = [self.tokenizer(text) for text in texts]
        counts = np.fromiter(map(len, found), np.int64, len(found))
        flat = np.fromiter(
            (number for one in found for number in one), np.int64, int(counts.sum())
        )
        starts = offsets(counts)[:-1]
        vectors = np.zeros((len(found), len(self._mean)), np.float32)
        for low in range(0, len(found), _BLOCK):
            part = slice(low, low + _BLOCK)
            self._fill(vectors[part], flat, starts[part], counts[part])
        composed = np.zeros(len(found), np.bool_)
        composed[row_numbers(offsets(counts))[flat < self._pieces]] = True
        return Embedded(vectors, counts > 0, composed=composed)

    def _fill(self, vectors: Vectors, flat: Ints, starts: Ints, counts: Ints) -> None:
        """Write the vectors of some texts.

        Goes through the first entry of all texts, then the second of those that have one, and so
        on: each text is added up alone and from left to right, whatever stands beside it.
        """
        single = np.flatnonzero(counts == 1)
        vectors[single] = self._rows[flat[starts[single]] - self._pieces]
        for place in range(int(counts.max(initial=0))):
            having = np.flatnonzero((counts > place) & (counts > 1))
            numbers = flat[starts[having] + place]
            own = numbers < self._parts
            added = self._rows[
                np.where(own, self._wholes + numbers, numbers - self._pieces)
            ]
            added[~own] *= SHARE
            vectors[having] += added
        several = np.flatnonzero(counts > 1)
        vectors[several] /= np.sqrt(counts[several] / 2).astype(np.float32)[:, None]
        vectors[counts > 0] += self._mean
        length = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))[:, None]
        np.divide(vectors, length, out=vectors, where=length > 0, casting="same_kind")


class StaticEmbedder(StaticModel):
    """The static model of the package, or another that the same recipe made.

    Parameters
    ----------
    folder : Path, optional
        Where the model's files are; the package's own without it.

    Attributes
    ----------
    metadata : dict
        What the recipe wrote: name, dimension, threshold, source model, licence, checksums.

    Raises
    ------
    InputError
        If a file is missing or does not fit the others.

    Examples
    --------
    >>> model = StaticEmbedder()
    >>> embedded = model.embed(["car", "automobile", "tree", "日本"])
    >>> embedded.known.tolist()
    [True, True, True, False]
    >>> cosines = embedded.vectors @ embedded.vectors.T
    >>> bool(cosines[0, 1] > model.threshold > cosines[0, 2])
    True
    """

    cacheable = False

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = DATA if folder is None else Path(folder)
        rows, mean, vocabulary = (self._folder / name for name in FILES)
        with reading_model(self._folder / "static.json") as path:
            self.metadata: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            noted = self.metadata["entries"], self.metadata["dimension"]
            self._name = str(self.metadata["name"])
            self._digest = str(self.metadata["sha256"])
        with reading_model(vocabulary):
            entries = vocabulary.read_text(encoding="utf-8").splitlines()
        with reading_model(rows):
            table = np.load(rows, mmap_mode="r", allow_pickle=False)
            width = 2 * table["codes"].shape[1]
        with reading_model(mean):
            centre = np.array(np.load(mean, allow_pickle=False), np.float32)
        wholes = len(entries) - _count_pieces(entries)
        with reading_model(self._folder):
            fits = noted == (len(entries), width) and centre.shape == (width,)
            if not fits or not wholes < len(table) <= wholes + len(entries):
                raise ValueError("its files are not of one model")
        super().__init__(entries, PackedRows(table), centre)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self.metadata["dimension"])

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that decide the vectors."""
        return tuple(self._folder / name for name in FILES)

    @cached_property
    def identity(self) -> str:
        """``semmetrics-static-<dimension>@`` and the first 12 digits of the files' SHA-256."""
        digest = file_digest(*self.paths)
        check_digest(self._folder, digest, self._digest)
        return f"{self._name}-{self.dimension}@{digest[:12]}"

    @property
    def threshold(self) -> float:
        """The cosine above which two labels are taken to mean the same."""
        return float(self.metadata["threshold"])


@contextmanager
def reading_model(path: Path) -> Iterator[Path]:
    """Raise an error that names a file of a model if it cannot be read.

    Parameters
    ----------
    path : Path
        The file, or the folder if the files do not fit together.
    """
    try:
        yield path
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError("damaged-model", path, why=error) from error


def check_digest(path: Path, digest: str, expected: str) -> None:
    """Raise an error if a file of a model has another SHA-256 than was recorded."""
    if digest != expected:
        raise InputError(
            "damaged-model", path, why="its SHA-256 is not the recorded one"
        )


@cache
def open_static(folder: str = "") -> StaticEmbedder:
    """Open the static model in a folder, once; without one, the package's own."""
    return StaticEmbedder(Path(folder) if folder else None)


def _count_pieces(entries: Sequence[str]) -> int:
    """Count the continuations, which come first."""
    return sum(
        1 for _ in takewhile(lambda entry: entry.startswith(_CONTINUES), entries)
    )
