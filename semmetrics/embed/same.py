"""The model that tells the same from the related: a couch is a sofa, and a car is not a bus.

Conventions
-----------
A text is read as a form of a name (`semmetrics.embed.names`): *The Dogs* is *dog*. If the name is
an entry of the static model whose vector was tuned, or one of this model's own texts, the text has
that vector. Every other text has the vector that a small network makes of its static vector. The
network has one hidden layer::

    vector = linear(x) + out(gelu(hidden(x)))

``x`` is the static vector, and the result is scaled to length 1. Tuned vectors and those of the
network are in one space, so their cosines compare.

The network's vectors are less reliable than tuned ones, and least reliable for a word that is cut
into pieces, such as a name or a word of another language. So the vector of an untuned text is
scaled to the length ``UNTUNED`` or ``COMPOSED``, and 128 numbers from a hash of the name are
appended that bring it back to length 1. In tuned vectors these numbers are zeros. This multiplies
the network's cosine with a tuned text by the length, and its cosine with another untuned text by
both lengths, apart from the small cosine of the hashes.

An untuned name with a digit, such as a code or a year, and a text of which a part cannot be read
have only the numbers of the hash. They are similar to nothing but the same name.

The model also knows which entries are lemmas of which synsets of WordNet. This explains a match and
has no effect on a vector.

``embeddings/README.md`` describes how the data was made, and ``embeddings/SAME.md`` how good it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.embed.embedder import Embedded, Vectors, format_identity
from semmetrics.embed.names import LabelNames, has_digit, is_partly_read
from semmetrics.embed.static import (
    DATA,
    PackedRows,
    StaticEmbedder,
    check_digest,
    open_static,
    reading_model,
)
from semmetrics.store.files import file_digest

FILES = (
    "same-rows.npy",
    "same-entries.npy",
    "same-vocabulary.txt",
    "same-network.npz",
    "same-synsets.npy",
)
"""The files of the model.

``same-rows.npy``
    A packed vector for each tuned entry of the static model, then for each tuned text of its own.
``same-entries.npy``
    Numbers of the tuned entries in the static model's vocabulary, rising.
``same-vocabulary.txt``
    The model's own texts, normalised, one per line.
``same-network.npz``
    Matrices of eight bits with a scale per column, and biases.
``same-synsets.npy``
    Pairs of a row and the number of a synset that the row's entry is a lemma of, sorted.
"""

UNTUNED = 0.80
"""The length of the network's vector of a text whose words are all entries."""
COMPOSED = 0.71
"""The same for a text with a word that is cut into pieces."""

RULES = 4
"""The version of everything in code that decides a vector. Raise it when a vector changes."""

_BLOCK = 4096  # texts that the network embeds at a time
_OWN_NUMBERS = 128
_GELU = np.sqrt(2 / np.pi)


def gelu(values: Floats) -> Floats:
    """Return the Gaussian error linear unit of values, in the approximation by tanh.

    References
    ----------
    Hendrycks and Gimpel, 2016, Gaussian error linear units, section 2.

    Examples
    --------
    >>> gelu(np.array([0.0, 1.0, 2.0])).round(3).tolist()
    [0.0, 0.841, 1.955]
    """
    cubic = values * values * values * 0.044715
    result: Floats = values * (1 + np.tanh(_GELU * (values + cubic))) / 2
    return result


class Network:
    """A network with one hidden layer and a linear path around it.

    It computes in double precision. Rounded to single precision, the vector of a text does then not
    depend on how many others are embedded with it.

    Parameters
    ----------
    linear : float array, shape (inputs, dimension)
    hidden : float array, shape (inputs, hidden)
    hidden_bias : float array, shape (hidden,)
    out : float array, shape (hidden, dimension)
    bias : float array, shape (dimension,)
    """

    def __init__(
        self,
        linear: Floats,
        hidden: Floats,
        hidden_bias: Floats,
        out: Floats,
        bias: Floats,
    ) -> None:
        self._linear = linear
        self._hidden = hidden
        self._hidden_bias = hidden_bias
        self._out = out
        self._bias = bias

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._bias.shape[0])

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return the vectors, of length 1, that the network makes of static vectors."""
        made = np.empty((len(vectors), self.dimension), np.float32)
        for low in range(0, len(vectors), _BLOCK):
            block = vectors[low : low + _BLOCK].astype(np.float64)
            hidden = gelu(block @ self._hidden + self._hidden_bias)
            made[low : low + _BLOCK] = (
                block @ self._linear + hidden @ self._out + self._bias
            )
        return unit_length(made)


def own_numbers(names: Sequence[str]) -> Vectors:
    """Return the bits of two hashes of each name, shape (names, 128), as vectors of length 1."""
    hashes = [hash_strings(names), hash_strings([f"{name}\0" for name in names])]
    as_bytes = np.stack(hashes, axis=1).astype("<u8").view(np.uint8).reshape(-1, 16)
    bits = np.unpackbits(as_bytes, axis=1)
    numbers: Vectors = (bits.astype(np.float32) * 2 - 1) / np.float32(
        np.sqrt(_OWN_NUMBERS)
    )
    return numbers


def unit_length(vectors: Vectors) -> Vectors:
    """Scale vectors to length 1 in place; zeros stay zeros."""
    length = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))[:, None]
    np.divide(vectors, length, out=vectors, where=length > 0, casting="same_kind")
    return vectors


class SameEmbedder:
    """The model of the package for the question whether two labels name the same thing.

    Parameters
    ----------
    folder : Path, optional
        Where the model's files are. Default: the package's own.
    static : StaticEmbedder, optional
        The model whose vocabulary and vectors it builds on. Default: the package's own.

    Attributes
    ----------
    metadata : dict
        What the recipe wrote: name, dimension, threshold, static model, licence, checksums.

    Raises
    ------
    InputError
        If a file is missing or does not fit the others.

    Examples
    --------
    >>> model = SameEmbedder()
    >>> couch, sofa, car, bus = model.embed(["couch", "sofa", "car", "bus"]).vectors
    >>> bool(couch @ sofa > model.threshold > car @ bus)
    True
    >>> model.share_synset(["couch", "car"], ["Sofa", "bus"]).tolist()
    [True, False]
    """

    cacheable = False

    def __init__(
        self, folder: Path | None = None, static: StaticEmbedder | None = None
    ) -> None:
        self._folder = DATA if folder is None else Path(folder)
        self._static = open_static() if static is None else static
        with reading_model(self._folder / "same.json") as path:
            self.metadata: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            self._name = str(self.metadata["name"])
            self._digests = {name: str(self.metadata["files"][name]) for name in FILES}
            self._threshold = _read_threshold(self.metadata["threshold"])
        with reading_model(self._folder):
            self._read()

    def _read(self) -> None:
        """Read the arrays, and raise ValueError if they are not of one model."""
        rows, entries, own_texts, network, synsets = (
            self._folder / name for name in FILES
        )
        if self.metadata["static"] != self._static.metadata["sha256"]:
            raise ValueError("it was made for another static model")
        with reading_model(rows):
            table = np.load(rows, mmap_mode="r", allow_pickle=False)
        with reading_model(entries):
            numbers = np.load(entries, allow_pickle=False)
        n_entries = len(self._static.tokenizer.numbers)
        is_packed = (
            table.dtype["codes"].base == np.uint8 and table.dtype["scale"] == np.float16
        )
        is_rising = numbers.dtype == np.uint16 and bool(
            (np.diff(numbers.astype(int)) > 0).all()
        )
        if not is_packed or not is_rising or numbers.ndim != 1 or table.ndim != 1:
            raise ValueError("its files are not of this format")
        with reading_model(own_texts):
            texts = own_texts.read_text(encoding="ascii").splitlines()
        n_rows = len(numbers) + len(texts)
        if not len(table) == n_rows == self.metadata["entries"]:
            raise ValueError("its files are not of one model")
        if len(numbers) and numbers[-1] >= n_entries:
            raise ValueError("it has more entries than the static model")
        self._width: int = 2 * table["codes"].shape[1]
        with reading_model(network):
            self._network = _read_network(network, self._static.dimension, self._width)
        with reading_model(synsets):
            self._synsets = _read_synsets(synsets, len(table))
        self._rows = PackedRows(table)
        row_of_entry = np.full(n_entries, -1)
        row_of_entry[numbers] = np.arange(len(numbers))
        self._row_of_entry: list[int] = row_of_entry.tolist()
        self._row_of_own_text = dict(
            zip(texts, range(len(numbers), n_rows), strict=True)
        )
        self._label_names = LabelNames(self._static, self._is_noun)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._width + _OWN_NUMBERS

    @cached_property
    def identity(self) -> str:
        """``semmetrics-same-<dimension>@`` and the first 12 digits of a SHA-256.

        It is the SHA-256 of the checksums of this model's files, the checksum of the static model
        and the version of the rules in code.

        Raises
        ------
        InputError
            If a file has another checksum than same.json records.
        """
        for name, expected in self._digests.items():
            check_digest(
                self._folder / name, file_digest(self._folder / name), expected
            )
        static = self._static.identity
        parts = [*self._digests.values(), static, f"rules {RULES}"]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return format_identity(self._name, self.dimension, digest)

    @property
    def threshold(self) -> float:
        """The cosine above which two labels are taken to mean the same."""
        return self._threshold

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts, of length 1; zeros where nothing of a text is an entry.

        A text is tuned if the name that it is a form of has a tuned vector.
        """
        names = self.names(texts)
        rows = self._find_rows(names)
        tuned = rows >= 0
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        vectors[tuned, : self._width] = unit_length(self._rows[rows[tuned]])
        known = tuned.copy()
        composed = np.zeros(len(texts), np.bool_)
        others = np.flatnonzero(~tuned)
        if len(others):
            untuned = self.embed_untuned([names[place] for place in others.tolist()])
            vectors[others] = untuned.vectors
            known[others] = untuned.known
            composed[others] = untuned.composed
        return Embedded(vectors, known, composed=composed, tuned=tuned)

    def embed_untuned(self, names: Sequence[str]) -> Embedded:
        """Return the vectors that names would have if none of them had a tuned vector.

        Examples
        --------
        >>> model = SameEmbedder()
        >>> couch, sofa = model.embed_untuned(["couch", "sofa"]).vectors
        >>> bool(couch @ sofa < np.prod(model.embed(["couch", "sofa"]).vectors, axis=0).sum())
        True
        """
        static = self._static.embed(names)
        composed = (
            np.zeros(len(names), np.bool_)
            if static.composed is None
            else static.composed
        )
        length = np.where(composed, COMPOSED, UNTUNED)
        for place, name in enumerate(names):
            if has_digit(name) or is_partly_read(name):
                length[place] = 0
        length = length[:, None]
        made = self._network(static.vectors) * length
        own = own_numbers(names) * np.sqrt(1 - length**2)
        vectors = np.concatenate([made, own], axis=1).astype(np.float32)
        vectors[~static.known] = 0
        return Embedded(vectors, static.known, composed=composed)

    def names(self, texts: Sequence[str]) -> list[str]:
        """Return the name that each text is a form of.

        Examples
        --------
        >>> SameEmbedder().names(["The Dogs", "planes", "glasses", "cell phones", "C++"])
        ['dog', 'plane', 'glasses', 'cellphone', 'c++']
        """
        return self._label_names(texts)

    def share_name(self, first: Sequence[str], second: Sequence[str]) -> Bools:
        """Return whether two texts are forms of one name, such as *Dogs* and *a dog*.

        Parameters
        ----------
        first, second : sequences of str, of one length

        Returns
        -------
        bool array, shape (texts,)
        """
        pairs = zip(self.names(first), self.names(second), strict=True)
        return np.array(
            [name == other and name != "" for name, other in pairs], np.bool_
        )

    def _is_noun(self, name: str) -> bool:
        return self._find_row(name) >= 0

    def _find_row(self, name: str) -> int:
        """Return the tuned row of a normalised name, or -1. A number is not a name."""
        if name.replace(" ", "").isdigit():
            return -1
        entry = self._static.tokenizer.numbers.get(name)
        if entry is None:
            return self._row_of_own_text.get(name, -1)
        return self._row_of_entry[entry]

    def share_synset(self, first: Sequence[str], second: Sequence[str]) -> Bools:
        """Return whether two texts are lemmas of one synset of WordNet.

        Only synsets that are a frequent sense of both lemmas count.

        Parameters
        ----------
        first, second : sequences of str, of one length

        Returns
        -------
        bool array, shape (texts,)
            False for texts whose vector was not tuned.
        """
        rows = self._find_rows(self.names(first))
        other_rows = self._find_rows(self.names(second))
        shared = np.zeros(len(first), np.bool_)
        for place in np.flatnonzero((rows >= 0) & (other_rows >= 0)).tolist():
            synsets = self._synsets_of(rows[place])
            shared[place] = not synsets.isdisjoint(self._synsets_of(other_rows[place]))
        return shared

    def _find_rows(self, names: Sequence[str]) -> Ints:
        """Return the tuned row of each name, or -1."""
        return np.array([self._find_row(name) for name in names], np.int64)

    def _synsets_of(self, row: int) -> set[int]:
        low, high = np.searchsorted(self._synsets[:, 0], [row, row + 1])
        return set(self._synsets[low:high, 1].tolist())


def _read_threshold(value: Any) -> float:
    """Return the threshold, and raise ValueError if it is not a number from -1 to 1."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not -1 <= value <= 1
    ):
        raise ValueError("its threshold is not a cosine")
    return float(value)


def _read_network(path: Path, inputs: int, dimension: int) -> Network:
    """Read the network and unpack its matrices."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
        arrays = {name: parts[name] for name in parts.files}
    hidden = arrays["hidden"].shape[-1]
    shapes = {
        "linear": (inputs, dimension),
        "linear_scale": (dimension,),
        "hidden": (inputs, hidden),
        "hidden_scale": (hidden,),
        "hidden_bias": (hidden,),
        "out": (hidden, dimension),
        "out_scale": (dimension,),
        "bias": (dimension,),
    }
    for name, shape in shapes.items():
        array = arrays[name]
        wanted = np.int8 if len(shape) == 2 else np.float16
        if (
            array.shape != shape
            or array.dtype != wanted
            or not np.isfinite(array).all()
        ):
            raise ValueError(f"{name} of its network is not of this model")
    matrices = {}
    for name in ("linear", "hidden", "out"):
        matrices[name] = arrays[name].astype(np.float64) * arrays[f"{name}_scale"]
    return Network(
        matrices["linear"],
        matrices["hidden"],
        arrays["hidden_bias"].astype(np.float64),
        matrices["out"],
        arrays["bias"].astype(np.float64),
    )


def _read_synsets(path: Path, n_rows: int) -> Ints:
    """Read the pairs of a row and a synset."""
    pairs = np.load(path, allow_pickle=False)
    if pairs.dtype != np.uint16 or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError("its synsets are not pairs")
    rows: Ints = pairs.astype(np.int64)
    if (np.diff(rows[:, 0]) < 0).any() or rows[:, 0].max(initial=0) >= n_rows:
        raise ValueError("its synsets are not sorted, or of other rows")
    return rows


@cache
def open_same(folder: str = "") -> SameEmbedder:
    """Open the model in a folder, once; without one, the package's own."""
    return SameEmbedder(Path(folder) if folder else None)
