"""How similar labels are: tables of similarities, or pairs where a table would be too large.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have similarity 1 by
their text, whatever their vectors. A term without a vector that takes part (out-of-vocabulary
policy ``skip``) is left out, and a label without any other term with it.

Similarities are computed once for the distinct terms of the task, or of a block, and then gathered;
or pair by pair where that is less. A similarity has the same bits in all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.ragged import Floats, Ints, lengths, take_rows
from semmetrics.core.similarity import Parts, cosine_table
from semmetrics.data.block import Block
from semmetrics.data.labels import Side
from semmetrics.data.task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.matching import Ranked, Reference

__all__ = ["Apart", "Pairs", "Similar", "Source", "model_of", "written"]

LabelBlock = Block[LabelTask]
_TABLE = 1 << 25  # cells of a table of similarities, terms by terms
_DEARER = 8  # a similarity computed for a pair costs so many of a table
_LOCAL = 1 << 18  # cells of a table for some items alone
_NUMBERS = 1 << 18  # of vectors gathered for pairs at a time: they stay in a cache


def model_of(task: LabelTask, name: str) -> Any:
    """The label vectors of that name.

    Raises
    ------
    InputError
        If the task has none.
    """
    if name not in task.models:
        raise InputError(
            f"there is no embedding {name!r}",
            remedy="give embedding= (--embedding NAME|PATH); semmetrics embed list names some",
        )
    return task.models[name]


def written(side: Side) -> Any:
    """Codes of the labels as they were written."""
    return side.codes if side.written is None else side.written


@dataclass(frozen=True, eq=False)
class Pairs:
    """Similarities of distinct predicted labels with distinct reference labels.

    The last row and the last column of a table are -inf and stand for padding.

    Attributes
    ----------
    by_term : float array, shape (terms + 1, reference labels + 1)
        -inf where a term or a label does not take part.
    by_label : float array, shape (predicted labels + 1, reference labels + 1)
        The best over the terms of a label; the same array where every label has one term.
    term_row, label_row, label_column : int arrays
        Row or column for each term, or each label, of the model.
    """

    by_term: Floats
    by_label: Floats
    term_row: Ints
    label_row: Ints
    label_column: Ints

    @staticmethod
    def of(vectors: Any, predicted: Ints, referred: Ints) -> Pairs:
        """The tables of distinct labels, given by rising codes."""
        tptr, flat = take_rows(vectors.indptr, predicted)
        terms = _present(vectors.rows[flat], len(vectors.terms))
        by_term = _padded(_similarities(vectors, terms, referred))
        term_row = _places(len(vectors.terms), terms)
        by_label = by_term
        label_row = np.full(len(vectors.indptr) - 1, len(terms))
        if len(flat) == len(predicted):  # every label is one term
            label_row[predicted] = term_row[vectors.rows[flat]]
        else:
            rows = by_term[term_row[vectors.rows[flat]]]
            by_label = np.concatenate([np.maximum.reduceat(rows, tptr[:-1]), by_term[-1:]])
            label_row = _places(len(label_row), predicted)
        return Pairs(by_term, by_label, term_row, label_row, _places(len(label_row), referred))

    def gather(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """Similarities of terms or predicted labels with reference labels; -1 is padding.

        Parameters
        ----------
        rows, labels : int arrays, shapes (items, m) and (items, n)
        by_term : bool
            Whether ``rows`` are terms.

        Returns
        -------
        float array, shape (items, m, n)
            -inf for padding.
        """
        table, place = (self.by_term, self.term_row) if by_term else (self.by_label, self.label_row)
        mine, theirs = np.append(place, -1)[rows], np.append(self.label_column, -1)[labels]
        mine[rows < 0], theirs[labels < 0] = len(table) - 1, table.shape[1] - 1
        cells: Ints = mine[:, :, None] * table.shape[1] + theirs[:, None, :]
        return np.take(table, cells)


@dataclass(frozen=True, eq=False)
class Apart:
    """Similarities of the pairs that are asked for, where a table of all would be too large."""

    vectors: Any

    def gather(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """As ``Pairs.gather``, some items at a time."""
        table = np.full((*rows.shape, labels.shape[1]), -np.inf)
        single = not _split(self.vectors)
        for part in self._parts(rows.shape, labels.shape[1], single=single):
            if single:
                table[part] = self._one_by_one(rows[part], labels[part])
            else:
                table[part] = self._tabled(rows[part], labels[part], by_term=by_term)
        table[np.broadcast_to(rows[:, :, None] < 0, table.shape)] = -np.inf
        table[np.broadcast_to(labels[:, None] < 0, table.shape)] = -np.inf
        return table

    def _parts(self, shape: tuple[int, ...], n: int, *, single: bool) -> Iterator[slice]:
        items, m = shape
        numbers = (m + n) * self.vectors.vectors.shape[1]
        step = _NUMBERS // max(1, numbers) if single else int((_LOCAL / (m * n)) ** 0.5)
        for start in range(0, items, max(1, step)):
            yield slice(start, start + max(1, step))

    def _one_by_one(self, rows: Ints, labels: Ints) -> Floats:
        """Of labels of one term each; anything for padding."""
        vectors, split = self.vectors, rows.size
        terms = vectors.rows[np.maximum(np.concatenate([rows.ravel(), labels.ravel()]), 0)]
        used, place = np.unique(terms, return_inverse=True)
        parts = Parts.of(vectors.vectors[used].astype(np.float64))
        mine, theirs = place[:split].reshape(rows.shape), place[split:].reshape(labels.shape)
        table: Floats = parts[mine].cosines(parts[theirs])
        table[mine[:, :, None] == theirs[:, None]] = 1.0
        stands = vectors.stands[used]
        table[~(stands[mine][:, :, None] & stands[theirs][:, None])] = -np.inf
        return table

    def _tabled(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """From a table of these items alone."""
        mine, theirs = np.unique(rows[rows >= 0]), np.unique(labels[labels >= 0])
        vectors = self.vectors
        if by_term:
            table = _similarities(vectors, mine, theirs)
        else:
            tptr, flat = take_rows(vectors.indptr, mine)
            terms, place = np.unique(vectors.rows[flat], return_inverse=True)
            table = _similarities(vectors, terms, theirs)[place]
            table = np.maximum.reduceat(table, tptr[:-1])
        row, column = np.searchsorted(mine, rows), np.searchsorted(theirs, labels)
        found: Floats = table[row[:, :, None], column[:, None]]
        return found


Source: TypeAlias = Pairs | Apart


@dataclass(frozen=True)
class Similar:
    """Where a block takes similarities from; one table for the whole task where it fits."""

    model: str = "default"

    def compute(self, block: LabelBlock) -> Source:
        """The task's table, or the block's; pairs where both are too large."""
        task, vectors = block.task, model_of(block.task, self.model)
        key = ("similar", self.model)
        if key not in task.shared:
            task.shared[key] = _source(vectors, task.pred, task.ref)
        source: Source = task.shared[key]
        if isinstance(source, Pairs):
            return source
        return _source(vectors, block.get(Ranked()), block.get(Reference()))


def _source(vectors: Any, pred: Side, ref: Side) -> Source:
    size = len(vectors.indptr) - 1
    mine, theirs = (_present(written(side), size) for side in (pred, ref))
    widths = lengths(vectors.indptr)
    cells = int(widths[mine].sum()) * int(widths[theirs].sum())
    asked = int(lengths(pred.indptr) @ lengths(ref.indptr))
    if cells > _TABLE or (cells > _DEARER * asked and not _split(vectors)):
        return Apart(vectors)
    return Pairs.of(vectors, mine, theirs)


def _split(vectors: Any) -> bool:
    """Whether a label has several terms."""
    return len(vectors.rows) > len(vectors.indptr) - 1


def _present(codes: Any, size: int) -> Ints:
    """The codes that occur, rising."""
    flags = np.zeros(size, np.bool_)
    flags[codes] = True
    return np.flatnonzero(flags)


def _places(size: int, chosen: Ints) -> Ints:
    """The place of each chosen number; the number of them, which is padding, for the others."""
    places = np.full(size, len(chosen))
    places[chosen] = np.arange(len(chosen))
    return places


def _padded(table: Floats) -> Floats:
    wide = np.full((table.shape[0] + 1, table.shape[1] + 1), -np.inf)
    wide[:-1, :-1] = table
    return wide


def _similarities(vectors: Any, terms: Ints, labels: Ints) -> Floats:
    """Of distinct terms with labels, the best of the terms of a label."""
    indptr, flat = take_rows(vectors.indptr, labels)
    columns = vectors.rows[flat]
    table: Floats = cosine_table(vectors.vectors[terms], vectors.vectors[columns])
    place = _places(len(vectors.terms), terms)[columns]
    same = np.flatnonzero(place < len(terms))
    table[place[same], same] = 1.0
    table[:, ~vectors.stands[columns]] = -np.inf
    table[~vectors.stands[terms]] = -np.inf
    if len(columns) == len(labels):
        return table
    best: Floats = np.maximum.reduceat(table, indptr[:-1], axis=1)
    return best
