"""METEOR's table of paraphrases: which phrases of some captions stand for which.

Conventions
-----------
The table is a file of the package pycocoevalcap: gzipped text of three lines an entry, its
probability, which METEOR does not use, a phrase and its paraphrase. It is converted once, into
arrays in the cache folder that are mapped and not read; where they cannot be kept, at each start.

Phrases are nodes of a trie. Those of one word are the numbers of words; a longer one is the number
of words plus the place of ``node of all but its last word * number of words + last word`` in
``keys``, which are sorted.

The converted file begins with a checksum of all that follows, which is compared when it is opened.
A damaged file is converted again. Its name contains the version of its layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.hashing import bytes_checksum
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.store.downloads import Progress
from semmetrics.store.files import cache_folder, exclusive, open_output
from semmetrics.text.java import METEOR_FILES

# CRC-32 and length of the text, which end the gzipped file
_TABLE = (
    2937437918,
    272201058,
)
_BLOCK = 1 << 22  # bytes of text at a time
_KINDS = np.uint8, np.int64, np.int64, np.int64, np.int64  # of the arrays of a table
_HEAD = len(_KINDS) + 1  # where they begin, and the end
_LAYOUT = 2  # of the converted file, for its name
_CHECKSUM_BYTES = 16  # hex digits, before all else


class Phrases(NamedTuple):
    """The phrases of texts that have a paraphrase among those of all texts, or are one.

    Attributes
    ----------
    indptr : int array, shape (texts + 1,)
        The phrases of each text, by where they begin, the short ones first.
    start, size : int arrays, shape (phrases,)
        The first word of each in its text, and how many it has.
    codes : int array, shape (phrases,)
        The same phrase has the same number, below ``n``.
    first, second : int arrays, shape (pairs,)
        Numbers of phrases and of their paraphrases, in the order of the table.
    n : int
    """

    indptr: Ints
    start: Ints
    size: Ints
    codes: Ints
    first: Ints
    second: Ints
    n: int


class Paraphrases:
    """A table of paraphrases.

    Parameters
    ----------
    words : array of bytes
        The words as UTF-8, with line feeds between them.
    keys : int array, shape (longer phrases and their beginnings,)
    phrases : int array
        The nodes of phrases that have paraphrases, sorted.
    starts : int array, shape (phrases + 1,)
        Where the paraphrases of each begin.
    targets : int array
        The nodes of paraphrases.
    """

    def __init__(
        self, words: Any, keys: Any, phrases: Any, starts: Any, targets: Any
    ) -> None:
        self.keys, self.phrases, self.starts, self.targets = (
            keys,
            phrases,
            starts,
            targets,
        )
        text = words.tobytes().decode().rstrip("\n")
        self._number = {word: number for number, word in enumerate(text.split("\n"))}

    def find(self, indptr: Ints, codes: Codes, vocabulary: list[str]) -> Phrases:
        r"""Find the phrases of texts that are paraphrases of each other.

        Parameters
        ----------
        indptr, codes : int arrays
            The words of each text, as numbers.
        vocabulary : list of str
            The word of each number.

        Examples
        --------
        >>> words, targets = np.frombuffer(b"big\nlarge\nvery", np.uint8), np.array([1, 3])
        >>> table = Paraphrases(words, np.array([6]), np.array([0, 1]), np.arange(3), targets)
        >>> found = table.find(np.array([0, 1, 3]), np.array([0, 1, 0]), ["big", "very"])
        >>> found.start.tolist(), found.size.tolist(), found.first.tolist(), found.n
        ([], [], [], 0)
        >>> found = table.find(np.array([0, 1, 2]), np.array([0, 1]), ["big", "large"])
        >>> found.codes.tolist(), found.first.tolist(), found.second.tolist()
        ([0, 1], [0], [1])
        """
        place, sizes, nodes = self._nodes(indptr, codes, vocabulary)
        distinct, node = np.unique(nodes, return_inverse=True)
        at = np.minimum(np.searchsorted(self.phrases, distinct), len(self.phrases) - 1)
        known = np.flatnonzero(self.phrases[at] == distinct)
        rows, cells = take_rows(self.starts, at[known])
        targets = self.targets[cells]
        second = np.searchsorted(distinct, targets)
        both = np.flatnonzero(np.append(distinct, -1)[second] == targets)
        pairs = np.stack([known[row_numbers(rows)][both], second[both]])
        used, pairs = np.unique(pairs, return_inverse=True)
        code = np.full(len(distinct), -1)
        code[used] = np.arange(len(used))
        order = np.lexsort((sizes, place))
        order = order[code[node[order]] >= 0]
        in_text = np.bincount(
            row_numbers(indptr)[place[order]], minlength=len(indptr) - 1
        )
        first, second = pairs.reshape(2, -1)
        return Phrases(
            offsets(in_text),
            positions(indptr)[place[order]],
            sizes[order],
            code[node[order]],
            first,
            second,
            len(used),
        )

    def _nodes(self, indptr: Ints, codes: Codes, vocabulary: list[str]) -> list[Ints]:
        """Return where words and phrases of the trie begin, how many words they have, and nodes."""
        n_words = len(self._number)
        known = [self._number.get(word, -1) for word in vocabulary]
        words = np.array(known, np.int64)[codes]
        # in the text
        left = np.repeat(indptr[1:], lengths(indptr)) - np.arange(len(codes))
        place = np.flatnonzero(words >= 0)
        node, size, found = words[place], 1, [[words[:0]] * 3]
        while len(place):
            found.append([place, np.full(len(place), size), node])
            longer = left[place] > size
            place, node = place[longer], node[longer]
            last = words[place + size]
            distinct, which = np.unique(node * n_words + last, return_inverse=True)
            at = np.minimum(np.searchsorted(self.keys, distinct), len(self.keys) - 1)
            is_node: Bools = self.keys[at] == distinct
            longer = is_node[which] & (last >= 0)
            place, node, size = place[longer], n_words + at[which][longer], size + 1
        return list(map(np.concatenate, zip(*found, strict=True)))


_opened: dict[Path, Paraphrases] = {}


def open_paraphrases(progress: Progress | None = None) -> Paraphrases:
    """Open the table, once a process; it is converted at the first use.

    Parameters
    ----------
    progress : callable, optional
        Called with the bytes that were converted, and all.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap, which brings it, is not installed.
    InputError
        If it is damaged, or not that of METEOR 1.5.
    """
    source = METEOR_FILES.folder_of_files() / METEOR_FILES.files[-1]
    if source not in _opened:
        with source.open("rb") as file:
            file.seek(max(0, source.stat().st_size - 8))
            if file.read() != b"".join(
                number.to_bytes(4, "little") for number in _TABLE
            ):
                raise InputError(
                    "damaged-package", source, why="it is not the table of METEOR 1.5"
                )
        _opened[source] = Paraphrases(*_open_kept(source, progress))
    return _opened[source]


def _open_kept(source: Path, progress: Progress | None) -> list[Any]:
    """Map the table that was converted, or convert and keep it where that can be."""
    try:
        path = cache_folder() / f"paraphrases-{_TABLE[0]:08x}-v{_LAYOUT}"
    except InputError:
        return _convert(source, progress)
    if arrays := _read(path):
        return arrays
    with ExitStack() as stack:
        with suppress(InputError):  # of a folder that cannot be written
            stack.enter_context(exclusive(path))
        if arrays := _read(path):  # another process was first
            return arrays
        arrays = _convert(source, progress)
        with suppress(InputError):
            _write(path, arrays)
            arrays = _read(path) or arrays
        return arrays


def _read(path: Path) -> list[Any] | None:
    """Map a table that was converted; None if there is none, or it is damaged."""
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError):
        return None
    content = data[_CHECKSUM_BYTES:]
    if bytes_checksum(content).encode() != data[:_CHECKSUM_BYTES].tobytes():
        return None
    bounds = content[: 8 * _HEAD].view(np.int64)
    cells = zip(pairwise(bounds.tolist()), _KINDS, strict=True)
    return [content[start:stop].view(kind) for (start, stop), kind in cells]


def _write(path: Path, arrays: Sequence[Any]) -> None:
    bounds = 8 * _HEAD + offsets(np.array([array.nbytes for array in arrays]))
    parts = [np.ascontiguousarray(array).view(np.uint8) for array in (bounds, *arrays)]
    checksum = bytes_checksum(np.concatenate(parts)).encode()
    with open_output(path, binary=True) as out:
        out.write(checksum)
        for part in parts:
            out.write(part.data)


def _convert(source: Path, progress: Progress | None) -> list[Any]:
    """Read the table: its words, and the nodes of phrases and paraphrases."""
    import pyarrow as pa
    from pyarrow import compute, csv

    numbers, n_lines, n_phrases = dict[str, int](), 0, 0
    entries, words, sizes = list[Any](), list[Any](), list[Any]()
    kinds = csv.ConvertOptions(
        column_types={"line": pa.string()}, strings_can_be_null=False
    )
    lines = csv.ParseOptions(
        delimiter="\x01", quote_char=False, ignore_empty_lines=False
    )
    shape = csv.ReadOptions(column_names=["line"], block_size=_BLOCK, use_threads=False)
    total = source.stat().st_size
    try:
        with source.open("rb") as file:
            stream = pa.CompressedInputStream(file, "gzip")
            for batch in csv.open_csv(stream, shape, lines, kinds):
                is_phrase = (n_lines + np.arange(len(batch))) % 3 > 0
                n_lines += len(batch)
                block = batch.column(0).filter(pa.array(is_phrase)).dictionary_encode()
                split = compute.split_pattern(block.dictionary, " ")
                flat = split.flatten().dictionary_encode()
                number = [
                    numbers.setdefault(word, len(numbers))
                    for word in flat.dictionary.to_pylist()
                ]
                words.append(np.array(number, np.int32)[flat.indices.to_numpy()])
                sizes.append(lengths(split.offsets.to_numpy()).astype(np.int8))
                entries.append(block.indices.to_numpy() + np.int32(n_phrases))
                n_phrases += len(block.dictionary)
                report_progress(
                    progress,
                    file.tell(),
                    total,
                    "converting paraphrases",
                    "B",
                    unit_scale=True,
                )
        if n_lines % 3 or not n_lines:
            raise ValueError(f"{n_lines} lines")
    except (OSError, ValueError) as error:  # those of Arrow are such
        raise InputError("damaged-package", source, why=error) from error
    word, size = np.concatenate(words), np.concatenate(sizes)
    words.clear()
    pa.default_memory_pool().release_unused()
    first, n = offsets(size)[:-1], len(numbers)
    node, keys = word[first].astype(np.int64), list[Ints]()
    for place in range(1, int(size.max())):
        longer = np.flatnonzero(size > place)
        key = node[longer] * n + word[first[longer] + place]
        distinct, which = np.unique(key, return_inverse=True)
        node[longer] = n + sum(map(len, keys)) + which
        keys.append(distinct)
    phrases, targets = node[np.concatenate(entries)].reshape(-1, 2).T
    order = np.argsort(phrases, kind="stable")
    distinct, counts = np.unique(phrases, return_counts=True)
    text = "\n".join(numbers).encode()
    padded = np.frombuffer(text + b"\n" * (-len(text) % 8), np.uint8)
    return [
        padded,
        np.concatenate([*keys, node[:0]]),
        distinct,
        offsets(counts),
        targets[order],
    ]
