"""Random draws of items for resamples and randomisation tests.

Conventions
-----------
Items are in the order of the hashes of their ids, so the order of the input does not
matter. A resample draws as many items as there are, with replacement. How often an item
is drawn depends only on the ids, the seed and the number of resamples, so the replicates
of all measures, systems and parts with the same items are paired. Several captions of one
image are drawn together.

With ``poisson`` each item is drawn independently. The number is a hash of the seed, the
resample and the id. Sums under these numbers can be added over parts of the data, exactly,
so items need not be stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Sparse
from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import Floats, Ints, offsets, row_numbers
from semmetrics.scoring.intervals import POISSON, Bootstrap
from semmetrics.scoring.statistics import Statistics

MAX_DRAWS_AT_ONCE = 1 << 15
_RESAMPLES_PER_HASH = 4  # a hash of 64 bits has 16 bits for each of them
_FREQUENCIES = (24110, 24109, 12055, 4017, 1005, 201, 33, 5, 1)
"""How many of the 2**16 values of a 16-bit number mean 0, 1, 2, ... draws.

The frequencies approximate a Poisson distribution with mean 1. Their variance is 1.0002.
"""
_COUNT_OF_NUMBER = np.repeat(np.arange(len(_FREQUENCIES), dtype=np.uint8), _FREQUENCIES)
MAX_POISSON_COUNT = len(_FREQUENCIES) - 1


@dataclass(frozen=True)
class Draws:
    """The units that are drawn: items, or groups of items that are drawn together.

    Attributes
    ----------
    unit_of_item : int array, shape (items,)
        The index of the unit of each item. Units are in rising order of their hashes,
        which does not depend on the order or the parts of the input.
    max_items : int
        The maximum number of items in a resample.
    hashes : uint64 array, shape (units,)
        The hash of each unit, in rising order.
    """

    unit_of_item: Ints
    max_items: int
    hashes: Hashes

    @staticmethod
    def of(statistics: Statistics) -> Draws:
        """Return draws of the groups of items, or of single items without groups."""
        if statistics.groups is None:
            return Draws.of_hashes(statistics.hashes)
        groups, unit_of_item, sizes = np.unique(
            statistics.groups, return_inverse=True, return_counts=True
        )
        max_items = len(groups) * int(sizes.max())
        return Draws(unit_of_item.ravel(), max_items, groups)

    @staticmethod
    def of_hashes(hashes: Hashes) -> Draws:
        """Return draws of single items with these hashes."""
        n_items = len(hashes)
        order = np.argsort(hashes, kind="stable")
        unit_of_item = np.empty(n_items, np.int64)
        unit_of_item[order] = np.arange(n_items)
        return Draws(unit_of_item, n_items, hashes[order])

    def fingerprint(self, bootstrap: Bootstrap) -> str:
        """Return 16 hexadecimal digits that identify the draws of a bootstrap."""
        settings = f"{bootstrap.seed},{bootstrap.resamples},"
        digest = hashlib.blake2b(settings.encode(), digest_size=8)
        digest.update(self.hashes.astype("<u8").tobytes())
        return digest.hexdigest()

    def counts(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[Any]]:
        """Yield how often each unit is drawn in each resample.

        Parameters
        ----------
        bootstrap : Bootstrap
            With the method "poisson" units are drawn independently. Otherwise a resample
            draws as many units as there are.
        chunk : int
            The number of resamples at a time.

        Yields
        ------
        array of unsigned int, shape (up to ``chunk``, units)
        """
        if bootstrap.method == POISSON:
            return self._poisson_counts(bootstrap, chunk)
        return self._multinomial_counts(bootstrap, chunk)

    def _multinomial_counts(
        self, bootstrap: Bootstrap, chunk: int
    ) -> Iterator[NDArray[np.uint16]]:
        """Draw as many units as there are, with replacement."""
        generator = np.random.default_rng(bootstrap.seed)
        n_units = len(self.hashes)
        rows_at_once = max(1, MAX_DRAWS_AT_ONCE // max(n_units, 1))
        for start in range(0, bootstrap.resamples, chunk):
            n_rows = min(chunk, bootstrap.resamples - start)
            counts = np.empty((n_rows, n_units), np.uint16)
            for first_row in range(0, n_rows, rows_at_once):
                rows = counts[first_row : first_row + rows_at_once]
                # The generator gives the same numbers as if rows were drawn one by one.
                cells = generator.integers(0, n_units, rows.shape)
                # One bincount counts all rows, since each row has its own cells.
                cells += n_units * np.arange(len(rows))[:, None]
                flat_counts = np.bincount(cells.ravel(), minlength=rows.size)
                rows[:] = flat_counts.reshape(rows.shape)
            yield counts

    def _poisson_counts(
        self, bootstrap: Bootstrap, chunk: int
    ) -> Iterator[NDArray[np.uint8]]:
        """Draw each unit independently, a Poisson number of times.

        A word is a hash of the seed and the number of four resamples. Combined with the
        hash of a unit, it gives how often the unit is drawn in these resamples.
        """
        n_units = len(self.hashes)
        seed = np.array([bootstrap.seed % (1 << 64)], np.uint64)
        n_words = -(-bootstrap.resamples // _RESAMPLES_PER_HASH)
        words = mix(np.arange(n_words)) ^ mix(seed)
        words_at_once = max(1, chunk // _RESAMPLES_PER_HASH)
        for start in range(0, n_words, words_at_once):
            chunk_words = words[start : start + words_at_once]
            counts = np.empty(
                (len(chunk_words), _RESAMPLES_PER_HASH, n_units), np.uint8
            )
            for rows, word in zip(counts, chunk_words, strict=True):
                hashes = mix(self.hashes ^ word).astype("<u8")
                # Each hash is four 16-bit numbers, one for each of four resamples.
                numbers = hashes.view("<u2").reshape(-1, _RESAMPLES_PER_HASH)
                rows[:] = _COUNT_OF_NUMBER.take(numbers).T
            n_remaining = bootstrap.resamples - _RESAMPLES_PER_HASH * start
            yield counts.reshape(-1, n_units)[:n_remaining]

    def coins(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint8]]:
        """Yield 0 or 1 for each unit, with equal probability.

        Parameters
        ----------
        bootstrap : Bootstrap
        chunk : int
            The number of resamples at a time.

        Yields
        ------
        uint8 array, shape (up to ``chunk``, units)
        """
        generator = np.random.default_rng(bootstrap.seed)
        n_units = len(self.hashes)
        n_bytes = -(-n_units // 8)
        for start in range(0, bootstrap.resamples, chunk):
            rows = []
            for _ in range(min(chunk, bootstrap.resamples - start)):
                rows.append(np.frombuffer(generator.bytes(n_bytes), np.uint8))
            yield np.unpackbits(np.stack(rows), axis=1, count=n_units)

    @property
    def are_many(self) -> bool:
        """Whether drawing in a thread of its own is worth its overhead."""
        return len(self.hashes) >= MAX_DRAWS_AT_ONCE

    def sum_items(self, values: Floats) -> Floats:
        """Sum the values of the items of each unit."""
        sums = np.bincount(self.unit_of_item, values, len(self.hashes))
        return np.asarray(sums, np.float64)

    def gather_labels(
        self, column: Sparse, weights: Floats | None
    ) -> tuple[Sparse, Floats | None]:
        """Gather the labels of the items of each unit, with the weights of their items."""
        item_of_label = row_numbers(column.indptr)
        unit_of_label = self.unit_of_item[item_of_label]
        order = np.argsort(unit_of_label, kind="stable")
        n_labels = np.bincount(unit_of_label, minlength=len(self.hashes))
        gathered = Sparse(offsets(n_labels), column.codes[order], column.width)
        if weights is None:
            return gathered, None
        return gathered, weights[item_of_label][order]
