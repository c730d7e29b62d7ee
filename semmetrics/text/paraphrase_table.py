"""METEOR's table of paraphrases: conversion to arrays, and a memory-mapped cache file.

Conventions
-----------
The source is a file of the package pycocoevalcap: gzipped text with three lines per
entry. These are its probability, which METEOR does not use, a phrase, and its
paraphrase. It is converted once, to a file in the cache folder. If that file cannot be
written, each process converts the table.

Phrases are nodes of a trie, and nodes are numbers. The words of the table have the
numbers from 0 to W - 1. The node of a phrase of one word is the number of the word. A
longer phrase has a key: W times the node of the phrase without its last word, plus the
number of the last word. Its node is W plus the index of the key in the sorted ``keys``.

The cache file begins with a checksum of everything after it, which is compared when the
file is opened. A damaged file is converted again. The file name contains the version of
the layout.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import bytes_checksum
from semmetrics.core.ragged import Codes, Ints, lengths, offsets
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.store.downloads import Progress
from semmetrics.store.files import cache_folder, exclusive, open_output
from semmetrics.text.java import METEOR_FILES

# CRC-32 and length of the text, which are the last eight bytes of the gzipped file.
CRC_AND_LENGTH = (2937437918, 272201058)
_TRAILER_BYTES = 8
_BLOCK_BYTES = 1 << 22  # of text that is parsed at once
_LINES_PER_ENTRY = 3
_ABSENT_CHARACTER = "\x01"  # as the delimiter, it makes each line one column

_LAYOUT_VERSION = 2
_CHECKSUM_BYTES = 16
_ARRAY_TYPES = (np.uint8, np.int64, np.int64, np.int64, np.int64)
# The bounds are where each array begins, and where the last one ends, as int64.
_BOUNDS_BYTES = 8 * (len(_ARRAY_TYPES) + 1)


class ParaphraseArrays(NamedTuple):
    r"""The table of paraphrases.

    Attributes
    ----------
    words : uint8 array
        The words as UTF-8, with line feeds between them, and more line feeds at the
        end.
    keys : int array, shape (nodes of longer phrases,)
        Sorted.
    phrases : int array, shape (phrases,)
        The nodes of phrases that have paraphrases, sorted.
    starts : int array, shape (phrases + 1,)
        Where the paraphrases of each phrase begin in ``targets``.
    targets : int array, shape (entries,)
        The nodes of paraphrases.
    """

    words: NDArray[np.uint8]
    keys: Ints
    phrases: Ints
    starts: Ints
    targets: Ints


def find_table() -> Path:
    """Return the path of the gzipped table.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If the file is missing in the package.
    """
    name = METEOR_FILES.files[-1]  # after the files without paraphrases
    return METEOR_FILES.folder_of_files() / name


def load_table(source: Path, progress: Progress | None) -> ParaphraseArrays:
    """Check the gzipped table and return its arrays, mapped from the converted file.

    The file is written if it is missing or damaged. If that fails, the arrays are in memory.

    Parameters
    ----------
    source : Path
    progress : callable or None
        Called with the number of converted bytes and of all bytes.

    Raises
    ------
    InputError
        If the table is damaged, or is not from METEOR 1.5.
    """
    _check_version(source)
    try:
        path = (
            cache_folder() / f"paraphrases-{CRC_AND_LENGTH[0]:08x}-v{_LAYOUT_VERSION}"
        )
    except InputError:  # the user has no folder
        return _convert(source, progress)
    arrays = _map_file(path)
    if arrays is not None:
        return arrays
    with ExitStack() as stack:
        with suppress(InputError):  # the folder cannot be written
            stack.enter_context(exclusive(path))
        arrays = _map_file(path)
        if arrays is not None:  # another process has written it meanwhile
            return arrays
        arrays = _convert(source, progress)
        with suppress(InputError):
            _write_file(path, arrays)
            arrays = _map_file(path) or arrays
        return arrays


def _check_version(source: Path) -> None:
    """Raise an error if the gzipped table is not from METEOR 1.5."""
    expected = b"".join(number.to_bytes(4, "little") for number in CRC_AND_LENGTH)
    with source.open("rb") as file:
        size = source.stat().st_size
        file.seek(max(0, size - _TRAILER_BYTES))
        trailer = file.read()
    if trailer != expected:
        why = "the file is not the table of METEOR 1.5"
        raise InputError("damaged-package", source, why=why)


# ---- the cache file ------------------------------------------------------------------


def _map_file(path: Path) -> ParaphraseArrays | None:
    """Map a cache file; None if it is missing or damaged."""
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError):
        return None
    checksum = data[:_CHECKSUM_BYTES].tobytes()
    content = data[_CHECKSUM_BYTES:]
    if bytes_checksum(content).encode() != checksum:
        return None
    bounds = content[:_BOUNDS_BYTES].view(np.int64).tolist()
    arrays: list[Any] = []
    for (start, stop), dtype in zip(pairwise(bounds), _ARRAY_TYPES, strict=True):
        arrays.append(content[start:stop].view(dtype))
    return ParaphraseArrays(*arrays)


def _write_file(path: Path, arrays: ParaphraseArrays) -> None:
    """Write a cache file: checksum, bounds, arrays."""
    sizes = np.array([array.nbytes for array in arrays])
    bounds = _BOUNDS_BYTES + offsets(sizes)
    parts = [_as_bytes(array) for array in (bounds, *arrays)]
    checksum = bytes_checksum(np.concatenate(parts))
    with open_output(path, binary=True) as out:
        out.write(checksum.encode())
        for part in parts:
            out.write(part.data)


def _as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).view(np.uint8)


# ---- conversion ----------------------------------------------------------------------


class _ParsedTable(NamedTuple):
    """The phrases of the table, as numbers of words.

    A phrase may be repeated, once for each block of text in which it occurs.

    Attributes
    ----------
    words : list of str
        The word of each number.
    word_numbers : int array
        The words of all phrases.
    sizes : int8 array, shape (phrases,)
        The number of words of each phrase.
    entries : int array, shape (2 * entries,)
        The phrase and the paraphrase of each entry, as phrase numbers.
    """

    words: list[str]
    word_numbers: Codes
    sizes: NDArray[np.int8]
    entries: Codes


def _convert(source: Path, progress: Progress | None) -> ParaphraseArrays:
    """Convert the gzipped table to arrays."""
    import pyarrow as pa

    table = _parse(source, progress)
    pa.default_memory_pool().release_unused()  # what parsing needed
    n_words = len(table.words)
    nodes, keys = _build_trie(table.word_numbers, table.sizes, n_words)
    nodes_of_entries = nodes[table.entries].reshape(-1, 2)
    phrases, targets = nodes_of_entries.T
    order = np.argsort(phrases, kind="stable")
    distinct_phrases, counts = np.unique(phrases, return_counts=True)
    text = "\n".join(table.words).encode()
    padding = b"\n" * (-len(text) % 8)  # the next array begins at a multiple of 8
    return ParaphraseArrays(
        words=np.frombuffer(text + padding, np.uint8),
        keys=keys,
        phrases=distinct_phrases,
        starts=offsets(counts),
        targets=targets[order],
    )


def _parse(source: Path, progress: Progress | None) -> _ParsedTable:
    """Parse the gzipped table block by block.

    Raises
    ------
    InputError
        If it is damaged.
    """
    import pyarrow as pa

    parser = _TableParser()
    total = source.stat().st_size
    try:
        with source.open("rb") as file:
            stream = pa.CompressedInputStream(file, "gzip")
            for batch in _read_lines(stream):
                parser.add(batch.column(0))
                done = file.tell()
                report_progress(
                    progress,
                    done,
                    total,
                    "converting paraphrases",
                    "B",
                    unit_scale=True,
                )
        parser.check_complete()
    except (OSError, ValueError) as error:  # errors of Arrow are ValueErrors
        raise InputError("damaged-package", source, why=error) from error
    return parser.finish()


def _read_lines(stream: Any) -> Any:
    """Return an iterator over record batches with the lines of a stream as a column."""
    import pyarrow as pa
    from pyarrow import csv

    read_options = csv.ReadOptions(
        column_names=["line"], block_size=_BLOCK_BYTES, use_threads=False
    )
    parse_options = csv.ParseOptions(
        delimiter=_ABSENT_CHARACTER, quote_char=False, ignore_empty_lines=False
    )
    convert_options = csv.ConvertOptions(
        column_types={"line": pa.string()}, strings_can_be_null=False
    )
    return csv.open_csv(stream, read_options, parse_options, convert_options)


class _TableParser:
    """Numbers the words and phrases of the table, block by block."""

    def __init__(self) -> None:
        self._number_of_word: dict[str, int] = {}
        self._n_lines = 0
        self._n_phrases = 0
        self._word_numbers: list[Codes] = []
        self._sizes: list[NDArray[np.int8]] = []
        self._entries: list[Codes] = []

    def add(self, lines: Any) -> None:
        """Add lines, an Arrow array of strings."""
        import pyarrow as pa
        from pyarrow import compute

        line_numbers = self._n_lines + np.arange(len(lines))
        is_phrase = line_numbers % _LINES_PER_ENTRY > 0
        self._n_lines += len(lines)
        phrases = lines.filter(pa.array(is_phrase)).dictionary_encode()
        words_of_phrases = compute.split_pattern(phrases.dictionary, " ")
        words = words_of_phrases.flatten().dictionary_encode()
        # Codes of words in this block become numbers of words in the whole table.
        numbers = []
        for word in words.dictionary.to_pylist():
            new_number = len(self._number_of_word)
            numbers.append(self._number_of_word.setdefault(word, new_number))
        number_of_code = np.array(numbers, np.int32)
        self._word_numbers.append(number_of_code[words.indices.to_numpy()])
        sizes = lengths(words_of_phrases.offsets.to_numpy())
        self._sizes.append(sizes.astype(np.int8))
        self._entries.append(phrases.indices.to_numpy() + np.int32(self._n_phrases))
        self._n_phrases += len(phrases.dictionary)

    def check_complete(self) -> None:
        """Raise a ValueError if the last entry is incomplete, or there is none."""
        if self._n_lines % _LINES_PER_ENTRY or not self._n_lines:
            raise ValueError(f"{self._n_lines} lines")

    def finish(self) -> _ParsedTable:
        """Return the whole table."""
        return _ParsedTable(
            words=list(self._number_of_word),
            word_numbers=np.concatenate(self._word_numbers),
            sizes=np.concatenate(self._sizes),
            entries=np.concatenate(self._entries),
        )


def _build_trie(
    word_numbers: Codes, sizes: NDArray[np.int8], n_words: int
) -> tuple[Ints, Ints]:
    """Return the node of each phrase, and the keys of the nodes of longer phrases."""
    starts = offsets(sizes)[:-1]
    # The nodes of the first words. Each step of the loop adds a word to longer phrases.
    nodes = word_numbers[starts].astype(np.int64)
    keys_by_length: list[Ints] = [nodes[:0]]  # phrases of one word have no keys
    n_nodes = n_words
    for length in range(1, int(sizes.max())):
        longer = np.flatnonzero(sizes > length)
        next_word = word_numbers[starts[longer] + length]
        keys = nodes[longer] * n_words + next_word
        distinct_keys, key_index = np.unique(keys, return_inverse=True)
        nodes[longer] = n_nodes + key_index
        n_nodes += len(distinct_keys)
        keys_by_length.append(distinct_keys)
    # Longer phrases extend nodes with higher numbers, so that all keys are sorted.
    return nodes, np.concatenate(keys_by_length)
