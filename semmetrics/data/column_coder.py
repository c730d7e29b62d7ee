"""Code batches of Arrow columns as lists of entries.

The coder accepts only regular input. For a null, an empty id, a repeated id or an empty entry it
raises `FallbackError`. The caller then uses the strict reader of the format, which accepts the
input or reports the problem and its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from semmetrics.core.ragged import Ints, offsets
from semmetrics.data.form import Form
from semmetrics.data.item_ids import Utf8Strings
from semmetrics.data.item_rows import row_notes
from semmetrics.data.lists import Lists, Side, renumber_entries
from semmetrics.errors import ROW, Places

_SAMPLE_SIZE = 2**13
"""How many strings are tested before all strings are."""


class FallbackError(Exception):
    """The input contains something that only the strict reader can accept or report."""


def fall_back_if(condition: object) -> None:
    """Raise `FallbackError` if a condition is true, so that the strict reader takes over."""
    if condition:
        raise FallbackError


class Coder:
    """Collect batches of ids and entries, and code them as lists.

    Only the codes and the distinct strings of each batch are stored.

    Parameters
    ----------
    form : Form
    by_row : bool
        Whether a row is one entry. Rows with the same id are then gathered. Otherwise a row is an
        item with a list of entries.
    parsed : bool
        Whether dictionary columns come from the parser of a text file. All strings of such a
        dictionary occur, in order of first appearance.
    first_row : int
        The number of the first row.
    """

    def __init__(
        self, form: Form, *, by_row: bool, parsed: bool = False, first_row: int = 0
    ) -> None:
        self.form = form
        self.by_row = by_row
        self._is_parsed = parsed
        # Whether the codes are numbered in order of first appearance.
        self._is_ordered = True
        # Whether most entries of the last batch are distinct, as captions are.
        self._is_distinct = False
        self._n_rows = first_row
        self._last_id: Any = None
        # The id, the first row and its line of each run of rows with the same id.
        self._ids: list[Any] = []
        self._starts: list[Any] = []
        self._lines: list[Any] = []
        self._sizes: list[Any] = []
        self._dictionaries: list[Any] = []
        self._codes: list[Any] = []
        self._scores: list[Any] = []

    def add(self, ids: Any, values: Any, scores: Any = None, lines: Any = None) -> None:
        """Code a batch of rows.

        Parameters
        ----------
        ids : pyarrow.Array
        values : pyarrow.Array
            Entries if ``by_row``, otherwise lists of entries.
        scores : pyarrow.Array, optional
            Numbers, or lists of numbers, of the same shape as the values.
        lines : int or int array, optional
            The line of each row in the file, or the line of the first row.

        Raises
        ------
        FallbackError
            If there is a null, or if a score is infinite.
        """
        ids = as_strings(ids)
        fall_back_if(ids.null_count or values.null_count)
        if not len(ids):
            return
        starts = self._find_runs(ids) if self.by_row else np.arange(len(ids))
        if len(starts) < len(ids):
            self._ids.append(ids.take(pa.array(starts)))
        else:
            self._ids.append(ids)
        self._starts.append(starts + self._n_rows)
        if isinstance(lines, int):
            self._lines.append(lines + starts)
        elif lines is not None:
            self._lines.append(lines[starts])
        self._n_rows += len(ids)
        if not self.by_row:
            sizes = _list_sizes(values)
            self._sizes.append(sizes)
            values = values.flatten()
            if scores is not None:
                fall_back_if(scores.null_count)
                fall_back_if(not np.array_equal(_list_sizes(scores), sizes))
                scores = scores.flatten()
        self._add_entries(values)
        if scores is not None:
            self._add_scores(scores)

    def _find_runs(self, ids: Any) -> Ints:
        """Return the rows whose id differs from the id of the row before."""
        is_change = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
        continues_batch = self._last_id is not None and ids[0].equals(self._last_id)
        self._last_id = ids[-1]
        return np.flatnonzero(np.append(not continues_batch, is_change))

    def _add_entries(self, values: Any) -> None:
        """Code entries by a dictionary of their batch."""
        fall_back_if(null_count(values))
        is_coded = types.is_dictionary(values.type)
        if is_coded and not self._is_parsed:
            self._is_ordered = False
        first_code = sum(map(len, self._dictionaries))
        if self._is_distinct and not is_coded:
            # Coding such a batch does not pay off. All batches are coded together at the end.
            self._dictionaries.append(as_strings(values))
            end = first_code + len(values)
            self._codes.append(np.arange(first_code, end, dtype=np.int32))
            return
        coded = values if is_coded else values.dictionary_encode()
        self._is_distinct = len(coded.dictionary) > len(values) / 2
        self._dictionaries.append(as_strings(coded.dictionary))
        codes = coded.indices.to_numpy(zero_copy_only=False)
        self._codes.append(np.add(codes, first_code, dtype=np.int32))

    def _add_scores(self, scores: Any) -> None:
        """Store scores as floats, with nan for nulls."""
        # Adding 0 turns -0.0 into 0, which is also what the JSON number -0 becomes.
        floats = pc.add(scores.cast(pa.float64()), 0.0)
        fall_back_if(pc.all(pc.is_finite(floats)).as_py() is False)
        self._scores.append(floats.to_numpy(zero_copy_only=False))

    def finish(self, name: str, place_format: str = ROW) -> Lists:
        """Return the lists of all batches.

        Parameters
        ----------
        name : str
            The name of the input in messages.
        place_format : str
            The template for the place of an item: "line {}".

        Raises
        ------
        FallbackError
            If an id is empty, an id of a list occurs twice, an entry is blank, or a score is
            missing.
        """
        run_ids = _concatenate_arrays(self._ids)
        fall_back_if(pc.any(pc.equal(pc.binary_length(run_ids), 0)).as_py())
        items, ids = _number_strings(run_ids)
        fall_back_if(not self.by_row and len(ids) < len(run_ids))
        vocabulary, codes = self._merge_dictionaries()
        side = self._make_side(codes)
        lines = _concatenate(self._lines or self._starts, np.int64)
        scattered: list[str] = []
        if len(ids) < len(run_ids):
            gathered = _gather_runs(side, items)
            side = gathered.side
            lines = lines[gathered.first_runs]
            scattered = [ids[item] for item in gathered.scattered_items.tolist()]
        is_ordered = self._is_ordered and not scattered
        vocabulary, side = self._finish_entries(vocabulary, side, is_ordered)
        n_empty = len(codes) - len(side.codes)
        return Lists(
            ids,
            vocabulary,
            side,
            noun=self.form.noun,
            source=name,
            notes=row_notes(n_empty, scattered, self.form),
            where=Places(name, ids, place_format, lines),
        )

    def _merge_dictionaries(self) -> tuple[Sequence[str], Any]:
        """Return the distinct entries of all batches, and the code of each entry."""
        merged_codes, texts = _number_strings(_concatenate_arrays(self._dictionaries))
        codes = _concatenate(self._codes, np.int32)
        if len(texts) < len(merged_codes):
            codes = merged_codes[codes]
        if self.form.allows_empty:
            return texts, codes
        return list(texts), codes

    def _finish_entries(
        self, vocabulary: Sequence[str], side: Side, is_ordered: bool
    ) -> tuple[Sequence[str], Side]:
        """Return the final codes: without empty cells, in order of first appearance.

        Raises
        ------
        FallbackError
            If an entry is empty although the form does not allow it, or a score is missing.
        """
        allows_empty = self.form.allows_empty
        if self.by_row and not allows_empty and "" in vocabulary:
            side = _drop_empty_entries(side, vocabulary.index(""))
            is_ordered = False
        fall_back_if(side.scores is not None and np.isnan(side.scores).any())
        if not is_ordered:
            vocabulary, codes = renumber_entries(list(vocabulary), side.codes)
            side = replace(side, codes=codes)
        fall_back_if(not allows_empty and not all(map(str.strip, vocabulary)))
        if not len(side.codes):
            side = replace(side, scores=None)
        return vocabulary, side

    def _make_side(self, codes: Any) -> Side:
        """Return a side with an item for each run of rows, or for each list."""
        if self.by_row:
            starts = _concatenate(self._starts, np.int64)
            sizes = np.diff(np.append(starts, self._n_rows))
        else:
            sizes = _concatenate(self._sizes, np.int64)
        scores = None
        if self._scores:
            scores = _concatenate(self._scores, np.float64)
        return Side(offsets(sizes), codes, scores)


class _GatheredRuns(NamedTuple):
    """Items whose rows may have been in several runs.

    Attributes
    ----------
    side : Side
        One item per id.
    first_runs : int array, shape (items,)
        The first run of each item.
    scattered_items : int array
        The items with several runs.
    """

    side: Side
    first_runs: Ints
    scattered_items: Ints


def _gather_runs(side: Side, items: Ints) -> _GatheredRuns:
    """Bring the runs of each item together, given the item of each run."""
    order = np.argsort(items, kind="stable")
    _, starts = np.unique(items[order], return_index=True)
    ordered_side = side.take(order)
    ends = np.append(starts, len(order))
    scattered_items = np.flatnonzero(np.diff(ends) > 1)
    gathered_side = replace(ordered_side, indptr=ordered_side.indptr[ends])
    return _GatheredRuns(gathered_side, order[starts], scattered_items)


def _drop_empty_entries(side: Side, empty_code: int) -> Side:
    """Remove empty entries, each of which means that its item has no entries.

    Raises
    ------
    FallbackError
        If such an item has other entries, or the empty entry has a score.
    """
    is_empty = side.codes == empty_code
    item_sizes = side.sizes
    fall_back_if((np.repeat(item_sizes, item_sizes)[is_empty] > 1).any())
    if side.scores is not None:
        fall_back_if(not np.isnan(side.scores[is_empty]).all())
    return side.keep(~is_empty)


def _number_strings(strings: Any) -> tuple[Any, Utf8Strings]:
    """Number the distinct strings of an array in order of first appearance.

    Returns
    -------
    int array
        The number of each string.
    Utf8Strings
        The distinct strings.
    """
    if _are_distinct(strings):
        numbers = np.arange(len(strings))
        distinct = strings
    else:
        coded = strings.dictionary_encode()
        numbers = coded.indices.to_numpy(zero_copy_only=False)
        distinct = coded.dictionary
    # The buffers of a slice are those of the whole array. An empty array has no buffers.
    _, offset_buffer, text_buffer = distinct.buffers()
    first = distinct.offset
    last = first + len(distinct) + 1
    text_offsets = np.frombuffer(offset_buffer or bytes(4), np.int32)[first:last]
    text = np.frombuffer(text_buffer or b"", np.uint8)
    start = text_offsets[0]
    end = text_offsets[-1]
    return numbers, Utf8Strings(text[start:end], text_offsets - start)


def _are_distinct(strings: Any) -> bool:
    """Return whether no string occurs twice. A sample is tested first, to save time."""
    sample = strings[:_SAMPLE_SIZE]
    if _is_increasing(sample) and _is_increasing(strings):
        return True
    if len(sample.unique()) < len(sample):
        return False
    return len(strings.unique()) == len(strings)


def _is_increasing(strings: Any) -> bool:
    return pc.all(pc.less(strings[:-1], strings[1:])).as_py() is not False


def as_strings(values: Any) -> Any:
    """Return a column as an array of strings, without chunks and dictionaries."""
    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if types.is_string(values.type):
        return values
    return values.cast(pa.string())


def null_count(values: Any) -> int:
    """Count the nulls of an array, and those in its dictionary."""
    count = values.null_count
    if types.is_dictionary(values.type):
        count += values.dictionary.null_count
    return int(count)


def _list_sizes(lists: Any) -> Ints:
    sizes: Ints = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    return sizes.astype(np.int64)


def _concatenate_arrays(arrays: Sequence[Any]) -> Any:
    if not arrays:
        return pa.array([], pa.string())
    return pa.concat_arrays(arrays)


def _concatenate(arrays: Sequence[Any], dtype: Any) -> Any:
    if not arrays:
        return np.zeros(0, dtype)
    return np.concatenate(arrays)
