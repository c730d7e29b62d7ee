"""The embedding that ships with semmetrics to match labels: a couch is a sofa, a car is not a bus.

Conventions
-----------
A label is read as a form of a name (`semmetrics.embed.names`): *The Dogs* is *dog*. If the name is
an entry of the static model whose vector was tuned, or one of this model's own entries, the label
has that vector. Every other label has the vector that a small network computes from its static
vector. The network has one hidden layer::

    vector = linear(x) + out(gelu(hidden(x)))

``x`` is the static vector, and the result is scaled to length 1. Tuned vectors and the
network's are in one space, so their cosines compare.

The network's vectors are less reliable than tuned ones, and least reliable for a word that is cut
into pieces, such as a name or a word of another language. So the vector of an untuned label is
scaled to the length ``UNTUNED`` or ``COMPOSED``, and 128 numbers from a hash of the name are
appended that bring it back to length 1. In tuned vectors these numbers are zeros. This multiplies
the network's cosine with a tuned label by the length, and its cosine with another untuned label by
both lengths, apart from the small cosine of the hashes.

An untuned name with a digit, such as a code or a year, and a label that cannot be read in full
have only the numbers of the hash. They are similar to nothing but the same name.

The model also knows which entries are lemmas of which synsets of WordNet. This explains a match and
has no effect on a vector.

``embeddings/README.md`` describes how the data was made, and ``embeddings/SAME.md`` how good it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.embed.embedder import Embedded, Vectors, format_identity
from semmetrics.embed.model_files import (
    ModelFiles,
    PackedRows,
    check_digest,
    reading_model,
)
from semmetrics.embed.names import LabelNames, has_digit, is_partly_read
from semmetrics.embed.static import StaticEmbedder, open_static, scale_to_unit_length
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
    A packed vector for each tuned entry of the static model, then for each entry of its own.
``same-entries.npy``
    Numbers of the tuned entries in the static model's vocabulary, rising.
``same-vocabulary.txt``
    The model's own entries, normalised, one per line.
``same-network.npz``
    Matrices of eight bits with a scale per column, and biases.
``same-synsets.npy``
    Pairs of a row and the number of a synset that the row's entry is a lemma of, sorted.
"""

UNTUNED = 0.80
"""The length of the network's vector for a label whose words are all entries."""
COMPOSED = 0.71
"""The same for a label with a word that is cut into pieces."""

RULES = 4
"""The version of everything in code that decides a vector. Raise it when a vector changes."""

_MAX_TEXTS_PER_BATCH = 4096
_N_HASH_NUMBERS = 128
_GELU_FACTOR = np.sqrt(2 / np.pi)


# ---- network ----------------------------------------------------------------------------


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
    result: Floats = values * (1 + np.tanh(_GELU_FACTOR * (values + cubic))) / 2
    return result


class Network:
    """A network with one hidden layer and a linear path around it.

    It computes in double precision. Rounded to single precision, the vector of a label then does
    not depend on how many others are embedded with it.

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
        """The length of a vector."""
        return int(self._bias.shape[0])

    def __call__(self, vectors: Vectors) -> Vectors:
        """Return the network's vectors for static vectors, scaled to length 1."""
        outputs = np.empty((len(vectors), self.dimension), np.float32)
        for low in range(0, len(vectors), _MAX_TEXTS_PER_BATCH):
            batch = slice(low, low + _MAX_TEXTS_PER_BATCH)
            inputs = vectors[batch].astype(np.float64)
            hidden = gelu(inputs @ self._hidden + self._hidden_bias)
            outputs[batch] = inputs @ self._linear + hidden @ self._out + self._bias
        return scale_to_unit_length(outputs)


def hash_vectors(names: Sequence[str]) -> Vectors:
    """Return a vector of length 1 for each name from the bits of two hashes.

    Returns
    -------
    float32 array, shape (names, 128)
    """
    first_hashes = hash_strings(names)
    second_hashes = hash_strings([f"{name}\0" for name in names])
    hashes = np.stack([first_hashes, second_hashes], axis=1).astype("<u8")
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 16), axis=1)
    signs = bits.astype(np.float32) * 2 - 1
    vectors: Vectors = signs / np.float32(np.sqrt(_N_HASH_NUMBERS))
    return vectors


# ---- files ------------------------------------------------------------------------------


class _Tables(NamedTuple):
    """The content of the model's files.

    Attributes
    ----------
    rows : PackedRows
        The tuned vectors.
    dimension : int
        The length of a tuned vector.
    row_of_entry : list of int
        The row of each entry of the static model, or -1.
    row_of_own_entry : dict of str to int
    network : Network
    synsets : int array, shape (pairs, 2)
        Rows and the synsets that they are lemmas of, sorted.
    """

    rows: PackedRows
    dimension: int
    row_of_entry: list[int]
    row_of_own_entry: dict[str, int]
    network: Network
    synsets: Ints


def _read_tables(files: ModelFiles, static: StaticEmbedder) -> _Tables:
    """Read the files of a model, and raise ValueError if they do not fit together."""
    rows_file, entries_file, vocabulary_file, network_file, synsets_file = FILES
    if files.metadata["static"] != static.metadata["sha256"]:
        raise ValueError("it belongs to a different static model")
    table = files.map_array(rows_file)
    numbers = files.load_array(entries_file)
    _check_formats(table, numbers)

    own_entries = files.read_lines(vocabulary_file, "ascii")
    n_tuned = len(numbers)
    n_rows = n_tuned + len(own_entries)
    if not len(table) == n_rows == files.metadata["entries"]:
        raise ValueError("its files belong to different models")
    n_static_entries = len(static.tokenizer.numbers)
    if n_tuned and numbers[-1] >= n_static_entries:
        raise ValueError("it has more entries than the static model")

    dimension = 2 * table["codes"].shape[1]
    with reading_model(files.path(network_file)):
        network = _read_network(files.path(network_file), static.dimension, dimension)
    with reading_model(files.path(synsets_file)):
        synsets = _read_synsets(files.path(synsets_file), n_rows)

    row_of_entry = np.full(n_static_entries, -1)
    row_of_entry[numbers] = np.arange(n_tuned)
    row_of_own_entry = dict(zip(own_entries, range(n_tuned, n_rows), strict=True))
    return _Tables(
        PackedRows(table),
        dimension,
        row_of_entry.tolist(),
        row_of_own_entry,
        network,
        synsets,
    )


def _check_formats(table: NDArray[Any], numbers: NDArray[Any]) -> None:
    """Raise ValueError if the packed rows or the numbers of entries have another format."""
    has_codes = table.dtype["codes"].base == np.uint8
    is_packed = has_codes and table.dtype["scale"] == np.float16
    is_rising = False
    if numbers.dtype == np.uint16:
        is_rising = bool((np.diff(numbers.astype(int)) > 0).all())
    if not is_packed or not is_rising or numbers.ndim != 1 or table.ndim != 1:
        raise ValueError("its files have a different format")


def _read_threshold(value: Any) -> float:
    """Return the threshold, and raise ValueError if it is not a number from -1 to 1."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -1 <= value <= 1:
        raise ValueError("its threshold is not a cosine")
    return float(value)


def _read_network(path: Path, n_inputs: int, dimension: int) -> Network:
    """Read the network and unpack its matrices."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    _check_network(arrays, n_inputs, dimension)
    return Network(
        _unpack_matrix(arrays, "linear"),
        _unpack_matrix(arrays, "hidden"),
        arrays["hidden_bias"].astype(np.float64),
        _unpack_matrix(arrays, "out"),
        arrays["bias"].astype(np.float64),
    )


def _check_network(
    arrays: Mapping[str, NDArray[Any]], n_inputs: int, dimension: int
) -> None:
    """Raise ValueError if an array of the network has another shape or type, or is not finite."""
    n_hidden = arrays["hidden"].shape[-1]
    shapes: dict[str, tuple[int, ...]] = {
        "linear": (n_inputs, dimension),
        "linear_scale": (dimension,),
        "hidden": (n_inputs, n_hidden),
        "hidden_scale": (n_hidden,),
        "hidden_bias": (n_hidden,),
        "out": (n_hidden, dimension),
        "out_scale": (dimension,),
        "bias": (dimension,),
    }
    for name, shape in shapes.items():
        array = arrays[name]
        dtype = np.int8 if len(shape) == 2 else np.float16
        is_valid = array.shape == shape and array.dtype == dtype
        if not is_valid or not np.isfinite(array).all():
            raise ValueError(f"{name} of its network is not of this model")


def _unpack_matrix(arrays: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """Return a matrix whose columns were scaled to eight bits."""
    matrix: Floats = arrays[name].astype(np.float64) * arrays[f"{name}_scale"]
    return matrix


def _read_synsets(path: Path, n_rows: int) -> Ints:
    """Read the pairs of a row and a synset."""
    pairs = np.load(path, allow_pickle=False)
    if pairs.dtype != np.uint16 or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError("its synsets are not pairs")
    synsets: Ints = pairs.astype(np.int64)
    rows = synsets[:, 0]
    if (np.diff(rows) < 0).any() or rows.max(initial=0) >= n_rows:
        raise ValueError("its synsets are not sorted, or belong to other rows")
    return synsets


# ---- embedder ---------------------------------------------------------------------------


class SameEmbedder:
    """The model of the package for the question whether two labels name the same thing.

    Parameters
    ----------
    folder : Path, optional
        The folder with its files. Default: the model of the package.
    static : StaticEmbedder, optional
        The model whose vocabulary and vectors it builds on. Default: the model of the package.

    Attributes
    ----------
    folder : Path
    metadata : dict
        Written by the recipe: name, dimension, threshold, static model, licence, checksums.

    Raises
    ------
    InputError
        If a file is missing, damaged or belongs to another model.

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
        self._static = open_static() if static is None else static
        files = ModelFiles(folder, "same.json")
        self.folder = files.folder
        self.metadata = files.metadata
        with reading_model(files.description):
            self._name = str(self.metadata["name"])
            self._digests = {name: str(self.metadata["files"][name]) for name in FILES}
            self._threshold = _read_threshold(self.metadata["threshold"])
        with reading_model(self.folder):
            self._tables = _read_tables(files, self._static)
        self._label_names = LabelNames(self._static, self._is_noun)

    def __len__(self) -> int:
        return len(self._tables.rows)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._tables.dimension + _N_HASH_NUMBERS

    @cached_property
    def identity(self) -> str:
        """``semmetrics-same-<dimension>@`` and the first 12 digits of a SHA-256.

        The SHA-256 covers the checksums of this model's files, the checksum of the static model and
        the version of the rules in code.

        Raises
        ------
        InputError
            If a file has another checksum than same.json records.
        """
        for name, expected in self._digests.items():
            path = self.folder / name
            check_digest(path, file_digest(path), expected)
        parts = [*self._digests.values(), self._static.identity, f"rules {RULES}"]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        return format_identity(self._name, self.dimension, digest)

    @property
    def threshold(self) -> float:
        """The cosine above which two labels match."""
        return self._threshold

    # ---- vectors ----

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of labels, of length 1, or zeros if a label has no entry.

        A label is tuned if the name that it is a form of has a tuned vector.
        """
        names = self.names(texts)
        rows = self._find_rows(names)
        tuned = rows >= 0
        known = tuned.copy()
        composed = np.zeros(len(texts), np.bool_)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        tuned_vectors = self._tables.rows[rows[tuned]]
        vectors[tuned, : self._tables.dimension] = scale_to_unit_length(tuned_vectors)
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
        composed = static.composed
        if composed is None:
            composed = np.zeros(len(names), np.bool_)
        lengths = np.where(composed, COMPOSED, UNTUNED)
        for place, name in enumerate(names):
            if has_digit(name) or is_partly_read(name):
                lengths[place] = 0
        lengths = lengths[:, None]
        network_vectors = self._tables.network(static.vectors) * lengths
        hashes = hash_vectors(names) * np.sqrt(1 - lengths**2)
        vectors = np.concatenate([network_vectors, hashes], axis=1).astype(np.float32)
        vectors[~static.known] = 0
        return Embedded(vectors, static.known, composed=composed)

    # ---- names and synsets ----

    def names(self, texts: Sequence[str]) -> list[str]:
        """Return the name that each label is a form of.

        Examples
        --------
        >>> SameEmbedder().names(["The Dogs", "planes", "glasses", "cell phones", "C++"])
        ['dog', 'plane', 'glasses', 'cellphone', 'c++']
        """
        return self._label_names(texts)

    def share_name(self, first: Sequence[str], second: Sequence[str]) -> Bools:
        """Return whether two labels are forms of one name, such as *Dogs* and *a dog*.

        Parameters
        ----------
        first, second : sequences of str, of one length

        Returns
        -------
        bool array, shape (pairs,)
        """
        pairs = zip(self.names(first), self.names(second), strict=True)
        is_shared = [name == other and name != "" for name, other in pairs]
        return np.array(is_shared, np.bool_)

    def share_synset(self, first: Sequence[str], second: Sequence[str]) -> Bools:
        """Return whether two labels are lemmas of one synset of WordNet.

        Only synsets that are a frequent sense of both lemmas count.

        Parameters
        ----------
        first, second : sequences of str, of one length

        Returns
        -------
        bool array, shape (pairs,)
            False for labels whose vector was not tuned.
        """
        rows = self._find_rows(self.names(first))
        other_rows = self._find_rows(self.names(second))
        is_shared = np.zeros(len(first), np.bool_)
        for place in np.flatnonzero((rows >= 0) & (other_rows >= 0)).tolist():
            synsets = self._synsets_of(rows[place])
            other_synsets = self._synsets_of(other_rows[place])
            is_shared[place] = not synsets.isdisjoint(other_synsets)
        return is_shared

    def _synsets_of(self, row: int) -> set[int]:
        """Return the synsets that the entry of a tuned row is a lemma of."""
        pairs = self._tables.synsets
        low, high = np.searchsorted(pairs[:, 0], [row, row + 1])
        return set(pairs[low:high, 1].tolist())

    def _is_noun(self, name: str) -> bool:
        """Return whether a normalised name has a tuned vector."""
        return self._find_row(name) >= 0

    def _find_rows(self, names: Sequence[str]) -> Ints:
        """Return the tuned row of each name, or -1."""
        return np.array([self._find_row(name) for name in names], np.int64)

    def _find_row(self, name: str) -> int:
        """Return the tuned row of a normalised name, or -1. A number is not a name."""
        if name.replace(" ", "").isdigit():
            return -1
        entry = self._static.tokenizer.numbers.get(name)
        if entry is None:
            return self._tables.row_of_own_entry.get(name, -1)
        return self._tables.row_of_entry[entry]


@cache
def open_same(folder: str = "") -> SameEmbedder:
    """Open the model in a folder, once. Default: the model of the package."""
    return SameEmbedder(Path(folder) if folder else None)
