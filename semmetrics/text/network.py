"""The network of the offline parser, computed with NumPy.

Conventions
-----------
The result must not depend on the order of sums, and so not on the batch size, the BLAS
library or the processor. Therefore all sums are exact:

- Weights are 8-bit integers with one scale per column. Values that are multiplied with
  them are also rounded to 8-bit integers. Every sum of products is then an integer
  below 2**24, which float32 represents exactly.
- Values that are multiplied with each other are rounded to a fine grid, and float64
  represents their sums exactly. Exponentials are also rounded to the grid, because
  their last digits differ between processors.

Everything else is computed for each token or sentence on its own.

Products are cut into small ones, which BLAS libraries compute in one thread. Threads
would wait for each other at every product. That takes several times as long while other
programs use the processors.

Tags are found first, by convolutions over words. Edges are found by convolutions and
attention over words and tags. Each pair of tokens has a score and is an edge if the
score is above a threshold. Each edge then has a relation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints, slices

Array = NDArray[np.float32]
GridValues = NDArray[np.float64]

_STEPS_PER_UNIT = np.float32(24)  # of normalised values, when they are rounded
_MAX_STEP = np.float32(127)
_EPSILON = np.float32(1e-5)
_GRID_STEPS_PER_UNIT = np.float64(4096)
_MAX_MULTIPLICATIONS = 2**18  # of a product: OpenBLAS uses several threads above it
_BLOCK_DEPTH = 128
_BLOCK_WIDTH = 64
_MAX_ROWS = _MAX_MULTIPLICATIONS // (_BLOCK_DEPTH * _BLOCK_WIDTH)


class Dependencies(NamedTuple):
    """The output of the network for sentences of the same length.

    Attributes
    ----------
    tags : int64 array, shape (sentences, tokens)
    sentence, governor, dependent, label : int64 arrays, shape (edges,)
        Sorted by sentence.
    """

    tags: Ints
    sentence: Ints
    governor: Ints
    dependent: Ints
    label: Ints


# ---- layers --------------------------------------------------------------------------


class Matrix:
    """A matrix of integers, which is multiplied block by block.

    Parameters
    ----------
    weight : array, shape (depth, width)
    """

    def __init__(self, weight: Array) -> None:
        self.shape = weight.shape
        depth, width = weight.shape
        # BLAS libraries copy arrays that are not contiguous, which takes longer than
        # the product.
        self._column_blocks = []
        for columns in slices(width, _BLOCK_WIDTH):
            row_blocks = []
            for rows in slices(depth, _BLOCK_DEPTH):
                row_blocks.append((rows, np.ascontiguousarray(weight[rows, columns])))
            self._column_blocks.append((columns, row_blocks))

    def multiply(self, values: Array) -> Array:
        """Return the product of integers, shape (rows, depth), with the matrix."""
        n_rows = len(values)
        result = np.empty((n_rows, self.shape[1]), np.float32)
        n_in_full_blocks = n_rows // _MAX_ROWS * _MAX_ROWS
        full_blocks = slice(0, n_in_full_blocks)
        last_block = slice(n_in_full_blocks, n_rows)
        self._multiply_stack(values[full_blocks], result[full_blocks], _MAX_ROWS)
        if n_in_full_blocks < n_rows:
            height = n_rows - n_in_full_blocks
            self._multiply_stack(values[last_block], result[last_block], height)
        return result

    def _multiply_stack(self, values: Array, result: Array, height: int) -> None:
        """Write the product to ``result``, in blocks of so many rows."""
        depth, width = self.shape
        stack = values.reshape(-1, height, depth)
        sums = result.reshape(-1, height, width)  # a view
        for columns, row_blocks in self._column_blocks:
            first_rows, first_block = row_blocks[0]
            np.matmul(stack[..., first_rows], first_block, out=sums[..., columns])
            for rows, block in row_blocks[1:]:
                sums[..., columns] += stack[..., rows] @ block


class _Linear(NamedTuple):
    """A linear layer: a matrix of integers, its scales and a bias."""

    matrix: Matrix
    scale: Array
    bias: Array

    def of_steps(self, steps: Array) -> Array:
        """Apply the layer to normalised values that are rounded to integers."""
        result = self.matrix.multiply(steps)
        result *= self.scale / _STEPS_PER_UNIT
        result += self.bias
        return result

    def of_rows(self, values: Array, magnitudes: Array | None = None) -> Array:
        """Apply the layer to values, rounded to 127 levels of each sign per row.

        Parameters
        ----------
        values : array, shape (rows, depth)
            Is overwritten.
        magnitudes : array of the same shape, optional
            Absolute values. Without it all values must be at least 0.
        """
        if magnitudes is None:
            magnitudes = values
        # The bits of nonnegative floats, read as integers, have the same order but
        # compare faster.
        highest_bits = magnitudes.view(np.int32).max(axis=-1, keepdims=True)
        highest = np.maximum(highest_bits.view(np.float32), _EPSILON)
        values *= _MAX_STEP / highest
        steps = np.rint(values, out=values)
        result = self.matrix.multiply(steps)
        result *= highest / _MAX_STEP
        result *= self.scale
        result += self.bias
        return result


class _Norm(NamedTuple):
    """Layer normalisation."""

    gain: Array
    bias: Array

    def __call__(self, values: Array) -> Array:
        """Normalise values."""
        centred: Array = values - values.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        centred /= np.sqrt(variance + _EPSILON)
        centred *= self.gain
        centred += self.bias
        return centred

    def steps(self, values: Array) -> Array:
        """Normalise values, and round them to integers."""
        scaled = _Norm(self.gain * _STEPS_PER_UNIT, self.bias * _STEPS_PER_UNIT)
        result = scaled(values)
        np.rint(result, out=result)
        np.clip(result, -_MAX_STEP, _MAX_STEP, out=result)
        return result


class _Block(Protocol):
    """A block of layers, which adds something to the values of each token."""

    def __call__(self, values: Array) -> Array:
        """Return the new values, shape (sentences, tokens, width)."""
        ...


class _Convolution(NamedTuple):
    """Adds a function of each token and its neighbours."""

    norm: _Norm
    window: _Linear
    out: _Linear

    def __call__(self, values: Array) -> Array:
        """Return the new values, shape (sentences, tokens, width)."""
        steps = self.norm.steps(values)
        sentences, length, width = steps.shape
        window_size = self.window.matrix.shape[0] // width
        n_before = window_size // 2
        padded = np.zeros((sentences, length + window_size - 1, width), np.float32)
        padded[:, n_before : n_before + length] = steps
        shifted = [padded[:, k : k + length] for k in range(window_size)]
        windows = np.concatenate(shifted, axis=-1)
        hidden = apply_to_tokens(self.window.of_steps, windows)
        np.maximum(hidden, 0, out=hidden)
        return values + apply_to_tokens(self.out.of_rows, hidden)


class _Attention(NamedTuple):
    """Adds a function of all tokens of the sentence, and then a function of each token.

    ``distances`` has a bias for each head and distance between tokens.
    """

    norm: _Norm
    projections: _Linear
    out: _Linear
    distances: Array
    inner_norm: _Norm
    inner: _Linear
    inner_out: _Linear

    def __call__(self, values: Array) -> Array:
        """Return the new values, shape (sentences, tokens, width)."""
        means = self._attend(values)
        values = values + apply_to_tokens(self.out.of_rows, means, np.abs(means))
        hidden = apply_to_tokens(self.inner.of_steps, self.inner_norm.steps(values))
        np.maximum(hidden, 0, out=hidden)
        return values + apply_to_tokens(self.inner_out.of_rows, hidden)

    def _attend(self, values: Array) -> Array:
        """Return the mean of the values of all tokens, weighted by attention."""
        sentences, length, width = values.shape
        n_heads, n_distances = self.distances.shape
        head_width = width // n_heads
        parts = apply_to_tokens(self.projections.of_steps, self.norm.steps(values))
        steps = _round_to_grid(parts)
        steps = steps.reshape(sentences, length, 3, n_heads, head_width)
        # Each of shape (sentences, heads, tokens, head width).
        query, key, value = steps.transpose(2, 0, 3, 1, 4)
        # The softmax of scores, shape (sentences, heads, tokens, tokens). The division by
        # the sum of weights comes after the product with the values.
        scores = _multiply_grids(query, key.swapaxes(-1, -2))
        scores /= _GRID_STEPS_PER_UNIT**2 * np.sqrt(head_width)
        scores += self.distances[:, _distance_table(length, n_distances)]
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        weights = _round_to_grid(scores)
        means = _multiply_grids(weights, value)
        means /= weights.sum(axis=-1, keepdims=True) * _GRID_STEPS_PER_UNIT
        joined_heads: Array = means.swapaxes(1, 2).astype(np.float32)
        return joined_heads.reshape(values.shape)


def _round_to_grid(values: NDArray[Any]) -> GridValues:
    """Return values in steps of the grid, which float64 multiplies and adds exactly."""
    steps: GridValues = np.multiply(values, _GRID_STEPS_PER_UNIT, dtype=np.float64)
    np.rint(steps, out=steps)
    return steps


def _multiply_grids(left: GridValues, right: GridValues) -> GridValues:
    """Multiply stacks of matrices, in products too small for several threads."""
    n_rows = left.shape[-2]
    depth, width = right.shape[-2:]
    rows_per_product = _MAX_MULTIPLICATIONS // (depth * width)
    products = []
    for rows in slices(n_rows, rows_per_product):
        products.append(left[..., rows, :] @ right)
    if len(products) == 1:
        return products[0]
    return np.concatenate(products, axis=-2)


def apply_to_tokens(layer: Callable[..., Array], *values: Array) -> Array:
    """Apply a layer to the tokens of all sentences at once.

    Parameters
    ----------
    layer : callable
        Takes as many arrays of shape (tokens, width) and returns one.
    *values : arrays, shape (sentences, tokens, width)
    """
    flat = [array.reshape(-1, array.shape[-1]) for array in values]
    result = layer(*flat)
    return result.reshape(*values[0].shape[:-1], -1)


@cache
def _distance_table(length: int, n_distances: int) -> Ints:
    """Return the index of the distance between each pair of tokens in a table."""
    positions = np.arange(length)
    return _distance_index(positions - positions[:, None], n_distances)


def _distance_index(distance: Ints, n_distances: int) -> Ints:
    """Return the index of distances in a table, whose middle is distance 0."""
    max_distance = n_distances // 2
    index: Ints = np.clip(distance, -max_distance, max_distance) + max_distance
    return index


# ---- the network ---------------------------------------------------------------------


class Network:
    """The network of the offline parser.

    Parameters
    ----------
    arrays : mapping from str to array
        As `embeddings.parsing.pack` writes them.

    Attributes
    ----------
    words : dict of str to int
        The row of each known word in the table of words.
    tags, labels : list of str
        The names of tags and relations by their codes.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        settings = json.loads(bytes(arrays["settings"]))
        words: Sequence[str] = settings["words"]
        self.words = {word: row for row, word in enumerate(words)}
        self.tags: list[str] = settings["tags"]
        self.labels: list[str] = settings["labels"]
        self._threshold = np.float32(settings["threshold"])

        weights = _Weights(arrays)
        self._weights = weights
        self._ends = weights.array("ends")
        self._word_norm = weights.norm("word_norm")
        self._tagger = weights.blocks("tagger", settings["tagger"])
        self._tagger_norm = weights.norm("tagger_norm")
        self._tag = weights.linear("tag")
        self._tag_vectors = weights.array("tag_vectors")
        self._tag_norm = weights.norm("tag_norm")
        self._parser = weights.blocks("parser", settings["parser"])
        self._parser_norm = weights.norm("parser_norm")
        self._pair = weights.linear("pair")
        self._pair_distances = weights.array("pair_distances")
        self._relation = weights.linear("relation")
        self._relation_distances = weights.array("relation_distances")
        self._relation_out = weights.linear("relation_out")

    def vector(self, word: int, affixes: list[int], shape: int) -> Array:
        """Return the vector of a token, a sum over its word, its affixes and its shape.

        Parameters
        ----------
        word : int
            Row in the table of words.
        affixes : list of int
            Rows in the table of affixes.
        shape : int
            Row in the table of shapes.
        """
        total = np.zeros(self._ends.shape[1], np.float32)
        total += self._weights.row("words", word)
        for affix in affixes:
            total += self._weights.row("affixes", affix)
        total += self._weights.row("shapes", shape)
        return total

    def __call__(self, vectors: Array) -> Dependencies:
        """Parse sentences of the same length.

        Parameters
        ----------
        vectors : array, shape (sentences, tokens, width)
            The vectors of the tokens, as `vector` returns them.
        """
        vectors = vectors.copy()
        vectors[:, 0] += self._ends[0]
        vectors[:, -1] += self._ends[1]
        values = self._word_norm(vectors)
        for block in self._tagger:
            values = block(values)
        steps = self._tagger_norm.steps(values)
        tags = apply_to_tokens(self._tag.of_steps, steps).argmax(axis=-1)

        values = self._tag_norm(vectors + self._tag_vectors[tags])
        for block in self._parser:
            values = block(values)
        steps = self._parser_norm.steps(values)
        sentence, governor, dependent = self._find_edges(steps)
        label = self._label_edges(steps, sentence, governor, dependent)
        return Dependencies(tags, sentence, governor, dependent, label)

    def _find_edges(self, steps: Array) -> tuple[Ints, Ints, Ints]:
        """Return sentence, governor and dependent of each edge."""
        length = steps.shape[1]
        parts = apply_to_tokens(self._pair.of_steps, steps)
        # Of each token: a vector as governor, one as dependent, and a bias for each role.
        rank = parts.shape[-1] // 2 - 1
        ends = _round_to_grid(parts[..., : 2 * rank])
        governors = ends[..., :rank]
        dependents = ends[..., rank:]
        scores = _multiply_grids(governors, dependents.swapaxes(-1, -2))
        scores /= _GRID_STEPS_PER_UNIT**2
        governor_bias = parts[..., -2]
        dependent_bias = parts[..., -1]
        scores += governor_bias[..., :, None]
        scores += dependent_bias[..., None, :]
        distances = _distance_table(length, len(self._pair_distances))
        scores += self._pair_distances[distances]
        sentence, governor, dependent = np.nonzero(scores > self._threshold)
        return sentence, governor, dependent

    def _label_edges(
        self, steps: Array, sentence: Ints, governor: Ints, dependent: Ints
    ) -> Ints:
        """Return the code of the relation of each edge."""
        parts = apply_to_tokens(self._relation.of_steps, steps)
        half = parts.shape[-1] // 2
        of_governor = parts[sentence, governor, :half]
        of_dependent = parts[sentence, dependent, half:]
        hidden = of_governor + of_dependent
        table = self._relation_distances
        hidden += table[_distance_index(dependent - governor, len(table))]
        scores = self._relation_out.of_rows(np.maximum(hidden, 0))
        label: Ints = scores.argmax(axis=-1)
        return label


class _Weights:
    """The weights of the network, by the names of its parts."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays

    def array(self, name: str) -> Array:
        """Return an array as float32."""
        return self._arrays[name].astype(np.float32)

    def linear(self, name: str) -> _Linear:
        """Return a linear layer."""
        return _Linear(
            matrix=Matrix(self.array(f"{name}.weight")),
            scale=self.array(f"{name}.scale"),
            bias=self.array(f"{name}.bias"),
        )

    def norm(self, name: str) -> _Norm:
        """Return a layer normalisation."""
        return _Norm(self.array(f"{name}.gain"), self.array(f"{name}.bias"))

    def blocks(self, name: str, kinds: Sequence[str]) -> list[_Block]:
        """Return blocks, each a "convolution" or an attention."""
        blocks: list[_Block] = []
        for number, kind in enumerate(kinds):
            prefix = f"{name}{number}"
            if kind == "convolution":
                blocks.append(self._convolution(prefix))
            else:
                blocks.append(self._attention(prefix))
        return blocks

    def _convolution(self, prefix: str) -> _Convolution:
        return _Convolution(
            norm=self.norm(f"{prefix}.norm"),
            window=self.linear(f"{prefix}.window"),
            out=self.linear(f"{prefix}.out"),
        )

    def _attention(self, prefix: str) -> _Attention:
        return _Attention(
            norm=self.norm(f"{prefix}.norm"),
            projections=self.linear(f"{prefix}.projections"),
            out=self.linear(f"{prefix}.out"),
            distances=self.array(f"{prefix}.distances"),
            inner_norm=self.norm(f"{prefix}.inner_norm"),
            inner=self.linear(f"{prefix}.inner"),
            inner_out=self.linear(f"{prefix}.inner_out"),
        )

    def row(self, table: str, row: int) -> Array:
        """Return a row of a table of integers, times its scale."""
        steps = self._arrays[f"{table}.rows"][row].astype(np.float32)
        scale = np.float32(self._arrays[f"{table}.scales"][row])
        values: Array = steps * scale
        return values
