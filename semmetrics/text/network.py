"""The offline parser's network, computed with numpy.

Conventions
-----------
Weights are integers of eight bits with a scale a column. What is multiplied with them is rounded to
such integers, too, so that every sum of products is an integer below 2**24, which float32 holds
exactly. Values that are multiplied with each other are rounded to a fine grid, and float64 holds
their sums exactly. Exponentials are rounded to it, too, for their last digits differ between
processors. So the result does not depend on the order of the sums, hence not on the size of the
batch, on the BLAS library or on the processor. All else is computed for each token or sentence
alone.

Products are cut into small ones, which BLAS libraries leave to one thread: threads would wait for
each other at every product, and take several times as long where other programs keep the cores
busy.

The tags are found first, by convolutions over words. The edges are found by convolutions and
attention over words and tags: a score for each pair of tokens, an edge where it is above a
threshold, and for each edge the relation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

_STEP = np.float32(24)  # steps to a unit, of normalised values that are rounded
_TOP = np.float32(127)
_EPSILON = np.float32(1e-5)
# steps to a unit, of values that are multiplied with each other
_GRID = np.float64(4096)
_LARGEST = 2**18  # multiplications of a product: OpenBLAS uses threads above it
_DEPTH, _WIDTH = 128, 64  # of blocks of a matrix
_HEIGHT = _LARGEST // (_DEPTH * _WIDTH)


class Dependencies(NamedTuple):
    """What the network says of sentences of one length.

    Attributes
    ----------
    tags : array, shape (sentences, tokens), int64
    sentence, governor, dependent, label : array, shape (edges,), int64
        Sorted by sentence.
    """

    tags: NDArray[np.int64]
    sentence: NDArray[np.int64]
    governor: NDArray[np.int64]
    dependent: NDArray[np.int64]
    label: NDArray[np.int64]


def _cuts(size: int, step: int) -> list[slice]:
    return [slice(start, start + step) for start in range(0, size, step)]


class _Matrix:
    """A matrix of integers, multiplied with others in products that are too small for threads.

    Parameters
    ----------
    weight : array, shape (depth, width)
    """

    def __init__(self, weight: Array) -> None:
        self.shape = weight.shape
        depth, width = weight.shape
        # BLAS libraries copy what is not contiguous, which takes longer than such a product.
        self._blocks = []
        for columns in _cuts(width, _WIDTH):
            blocks = [
                (rows, np.ascontiguousarray(weight[rows, columns]))
                for rows in _cuts(depth, _DEPTH)
            ]
            self._blocks.append((columns, blocks))

    def of(self, values: Array) -> Array:
        """Multiply integers, shape (rows, depth), with it; shape (rows, width)."""
        result = np.empty((len(values), self.shape[1]), np.float32)
        whole = len(values) // _HEIGHT * _HEIGHT
        for rows in (slice(whole), slice(whole, None)):
            height = min(_HEIGHT, len(values[rows])) or 1
            stack = values[rows].reshape(-1, height, self.shape[0])
            sums = result[rows].reshape(-1, height, self.shape[1])  # a view
            for columns, ((first, block), *others) in self._blocks:
                np.matmul(stack[..., first], block, out=sums[..., columns])
                for part, block in others:
                    sums[..., columns] += stack[..., part] @ block
        return result


class _Linear(NamedTuple):
    """A matrix of integers, its scales and what is added."""

    matrix: _Matrix
    scale: Array
    bias: Array

    def of_steps(self, steps: Array) -> Array:
        """Apply it to normalised values, given as integers."""
        result = self.matrix.of(steps)
        result *= self.scale / _STEP
        result += self.bias
        return result

    def of_rows(self, values: Array, sizes: Array | None = None) -> Array:
        """Apply it to values, which are overwritten, rounded to 127 levels of each sign a row.

        ``sizes`` are their absolute values; left out where values are from 0 up.
        """
        # The bits of floats from 0 up, read as integers, have the same order: compared faster.
        bits = (values if sizes is None else sizes).view(np.int32)
        top = np.maximum(bits.max(axis=-1, keepdims=True).view(np.float32), _EPSILON)
        values *= _TOP / top
        result = self.matrix.of(np.rint(values, out=values))
        result *= top / _TOP
        result *= self.scale
        result += self.bias
        return result


class _Norm(NamedTuple):
    """Layer normalisation."""

    gain: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        centred: Array = values - values.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + _EPSILON)
        centred *= self.gain
        centred += self.bias
        return centred

    def steps(self, values: Array) -> Array:
        """Normalise, and round to integers."""
        result = _Norm(self.gain * _STEP, self.bias * _STEP)(values)
        np.rint(result, out=result)
        np.clip(result, -_TOP, _TOP, out=result)
        return result


class _Convolution(NamedTuple):
    """Adds to each token what it and its neighbours say."""

    norm: _Norm
    window: _Linear
    out: _Linear

    def __call__(self, values: Array) -> Array:
        steps = self.norm.steps(values)
        sentences, length, width = steps.shape
        size = self.window.matrix.shape[0] // width
        padded = np.zeros((sentences, length + size - 1, width), np.float32)
        padded[:, size // 2 : size // 2 + length] = steps
        joined = np.concatenate(
            [padded[:, k : k + length] for k in range(size)], axis=-1
        )
        hidden = _flat(self.window.of_steps, joined)
        return values + _flat(self.out.of_rows, np.maximum(hidden, 0, out=hidden))


class _Attention(NamedTuple):
    """Adds to each token what tokens of the whole sentence say, then a layer of its own."""

    norm: _Norm
    projections: _Linear
    out: _Linear
    distances: Array
    inner_norm: _Norm
    inner: _Linear
    inner_out: _Linear

    def __call__(self, values: Array) -> Array:
        sentences, length, width = values.shape
        heads = len(self.distances)
        parts = _flat(self.projections.of_steps, self.norm.steps(values))
        steps = _on_grid(parts).reshape(sentences, length, 3, heads, width // heads)
        query, key, value = steps.transpose(2, 0, 3, 1, 4)
        scores = _multiply(query, key.swapaxes(-1, -2))
        scores /= _GRID**2 * np.sqrt(width // heads)
        scores += self.distances[:, _distances(length, self.distances.shape[1])]
        scores -= scores.max(axis=-1, keepdims=True)
        shares = _on_grid(np.exp(scores, out=scores))
        seen = _multiply(shares, value)
        seen /= shares.sum(axis=-1, keepdims=True) * _GRID
        seen = seen.swapaxes(1, 2).astype(np.float32).reshape(values.shape)
        values = values + _flat(self.out.of_rows, seen, np.abs(seen))
        hidden = _flat(self.inner.of_steps, self.inner_norm.steps(values))
        return values + _flat(self.inner_out.of_rows, np.maximum(hidden, 0, out=hidden))


def _on_grid(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return values in steps of the grid, as integers that float64 multiplies and adds exactly."""
    steps: NDArray[np.float64] = np.multiply(values, _GRID, dtype=np.float64)
    np.rint(steps, out=steps)
    return steps


def _multiply(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply stacks of matrices, in products that are too small for threads."""
    parts = _cuts(left.shape[-2], _LARGEST // (right.shape[-2] * right.shape[-1]))
    products = [left[..., rows, :] @ right for rows in parts]
    return products[0] if len(products) == 1 else np.concatenate(products, axis=-2)


def _flat(layer: Callable[..., Array], *values: Array) -> Array:
    """Apply a layer to the tokens of all sentences at once."""
    result = layer(*(one.reshape(-1, one.shape[-1]) for one in values))
    return result.reshape(*values[0].shape[:-1], -1)


@cache
def _distances(length: int, count: int) -> NDArray[np.int64]:
    """Return from each token to each other one how far it is, as a place in a table."""
    places = np.arange(length)
    reach = count // 2
    steps: NDArray[np.int64] = np.clip(places - places[:, None], -reach, reach) + reach
    return steps


class Network:
    """The network of the offline parser.

    Parameters
    ----------
    arrays : mapping from str to array
        As `embeddings.parsing.pack` writes them.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        settings = json.loads(bytes(arrays["settings"]))
        self._threshold = np.float32(settings["threshold"])
        self.words: dict[str, int] = {
            word: at for at, word in enumerate(settings["words"])
        }
        self.tags: list[str] = settings["tags"]
        self.labels: list[str] = settings["labels"]
        part = self._part
        self._tagger = self._blocks("tagger", settings["tagger"])
        self._parser = self._blocks("parser", settings["parser"])
        self._word_norm, self._tag_norm = part("word_norm"), part("tag_norm")
        self._tagger_norm, self._parser_norm = part("tagger_norm"), part("parser_norm")
        self._tag, self._pair, self._relation = (
            part("tag"),
            part("pair"),
            part("relation"),
        )
        self._ends, self._tag_vectors = part("ends"), part("tag_vectors")
        self._pair_distances = part("pair_distances")
        self._relation_distances = part("relation_distances")
        self._relation_out = part("relation_out")

    def _part(self, name: str) -> Any:
        """Return the layer of a name, or the numbers, by the arrays that begin with it."""
        names = [f"{name}.{end}" for end in ("weight", "scale", "gain", "bias")]
        found = [
            self._arrays[one].astype(np.float32) for one in names if one in self._arrays
        ]
        if len(found) == 3:
            return _Linear(_Matrix(found[0]), *found[1:])
        return _Norm(*found) if found else self._arrays[name].astype(np.float32)

    def _blocks(self, name: str, kinds: list[str]) -> list[_Convolution | _Attention]:
        blocks: list[_Convolution | _Attention] = []
        for place, kind in enumerate(kinds):
            block = _Convolution if kind == "convolution" else _Attention
            blocks.append(
                block(
                    *[self._part(f"{name}{place}.{field}") for field in block._fields]
                )
            )
        return blocks

    def vector(self, word: int, affixes: list[int], shape: int) -> Array:
        """Return the vector of a token: what its word, its affixes and its shape add up to."""
        total = np.zeros(self._ends.shape[1], np.float32)
        for name, rows in (
            ("words", [word]),
            ("affixes", affixes),
            ("shapes", [shape]),
        ):
            values, scales = (
                self._arrays[f"{name}.rows"],
                self._arrays[f"{name}.scales"],
            )
            for row in rows:
                total += values[row].astype(np.float32) * np.float32(scales[row])
        return total

    def __call__(self, vectors: Array) -> Dependencies:
        """Parse sentences of one length.

        Parameters
        ----------
        vectors : array, shape (sentences, tokens, width)
            Of the tokens, as `vector` gives them.
        """
        vectors = vectors.copy()
        vectors[:, 0] += self._ends[0]
        vectors[:, -1] += self._ends[1]
        tokens = self._word_norm(vectors)
        for block in self._tagger:
            tokens = block(tokens)
        tags = _flat(self._tag.of_steps, self._tagger_norm.steps(tokens)).argmax(
            axis=-1
        )
        tokens = self._tag_norm(vectors + self._tag_vectors[tags])
        for block in self._parser:
            tokens = block(tokens)
        return Dependencies(tags, *self._edges(self._parser_norm.steps(tokens)))

    def _edges(self, steps: Array) -> tuple[NDArray[np.int64], ...]:
        """Return sentence, governor, dependent and relation of each edge."""
        length = steps.shape[1]
        parts = _flat(self._pair.of_steps, steps)
        rank = parts.shape[-1] // 2 - 1
        ends = _on_grid(parts[..., : 2 * rank])
        scores = _multiply(ends[..., :rank], ends[..., rank:].swapaxes(-1, -2))
        scores /= _GRID**2
        scores += parts[..., -2, None]
        scores += parts[..., None, :, -1]
        scores += self._pair_distances[_distances(length, len(self._pair_distances))]
        sentence, governor, dependent = np.nonzero(scores > self._threshold)
        sides = _flat(self._relation.of_steps, steps)
        half = sides.shape[-1] // 2
        table = self._relation_distances
        distance = np.clip(dependent - governor, -(len(table) // 2), len(table) // 2)
        hidden = sides[sentence, governor, :half] + sides[sentence, dependent, half:]
        hidden += table[distance + len(table) // 2]
        label = self._relation_out.of_rows(np.maximum(hidden, 0)).argmax(axis=-1)
        return sentence, governor, dependent, label
