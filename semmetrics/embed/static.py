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
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

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
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(c for c in text if not unicodedata.combining(c)).translate(_LETTERS)
    return _WORD.findall(_APOSTROPHES.sub("", text.lower()))


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
        flat = np.fromiter((number for one in found for number in one), np.int64, int(counts.sum()))
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
            added = self._rows[np.where(own, self._wholes + numbers, numbers - self._pieces)]
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
        try:
            text = (self._folder / "static.json").read_text(encoding="utf-8")
            self.metadata: dict[str, Any] = json.loads(text)
            entries = vocabulary.read_text(encoding="utf-8").splitlines()
            table = np.load(rows, mmap_mode="r", allow_pickle=False)
            centre = np.load(mean, allow_pickle=False)
            wholes, width = len(entries) - _count_pieces(entries), 2 * table["codes"].shape[1]
            noted = self.metadata["entries"], self.metadata["dimension"]
            fits = noted == (len(entries), width) and centre.shape == (width,)
            if not fits or not wholes < len(table) <= wholes + len(entries):
                raise ValueError("its files are not of one model")
        except (OSError, LookupError, ValueError, TypeError) as error:
            raise InputError("damaged", self._folder, why=error) from error
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
        return f"{self.metadata['name']}-{self.dimension}@{digest[:12]}"

    @property
    def threshold(self) -> float:
        """The cosine above which two labels are taken to mean the same."""
        return float(self.metadata["threshold"])


@cache
def open_static(folder: str = "") -> StaticEmbedder:
    """Open the static model in a folder, once; without one, the package's own."""
    return StaticEmbedder(Path(folder) if folder else None)


def _count_pieces(entries: Sequence[str]) -> int:
    """Count the continuations, which come first."""
    return sum(1 for _ in takewhile(lambda entry: entry.startswith(_CONTINUES), entries))
