"""What descriptions of any kind of data have in common: sizes, names, and what is odd in them."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints, cell_keys, lengths
from semmetrics.data.lists import Ids, Lists
from semmetrics.data.matrix import Matrix, row_blocks
from semmetrics.errors import EXAMPLES, FROM_0, Fact
from semmetrics.kinds import Facts
from semmetrics.messages import visible

Odd = Mapping[Hashable, "int | frozenset[str]"]
"""What was found in a task: counts, which parts add up, and sets, which they unite."""

WORDS, SWAPPED = "words of", "swapped"
"""Names under which tasks note how many words entries have, and signs of swapped sides."""

_TOP = 10  # names that a line shows
_TRUTHS = {"gt", "gts", "truth", "groundtruth", "reference", "references", "refs", "annotations"}
_GUESSES = {"pred", "preds", "prediction", "predictions", "results", "candidates", "outputs"}
_SIGNS = {
    "names": "the predictions are named as ground truth",
    "scores": "only the ground truth has scores",
    "coco": "only the predictions are COCO annotations",
    "several": "each image has one reference and several captions",
}


def swapped_sides(pred: Lists, ref: Lists) -> dict[Hashable, int | frozenset[str]]:
    """Find signs that predictions and ground truth were given in the wrong order."""

    def is_called(lists: Lists, words: set[str]) -> bool:
        name = PurePath(lists.source).name
        parts = re.split(r"[^a-z]+", name.lower())
        return "." in name and not words.isdisjoint({*parts, "".join(parts[:2])})

    signs = {
        "names": is_called(pred, _TRUTHS - _GUESSES) and is_called(ref, _GUESSES - _TRUTHS),
        "scores": ref.side.scores is not None and pred.side.scores is None,
        "coco": "COCO instances" in pred.understood and "COCO instances" not in ref.understood,
    }
    return {(SWAPPED, sign): 1 for sign, found in signs.items() if found}


def swapped_facts(odd: Odd) -> Facts:
    """Note that the sides look swapped, and why."""
    signs = [text for sign, text in _SIGNS.items() if (SWAPPED, sign) in odd]
    return [Fact("swapped-sides", values={"sign": text}) for text in signs]


def mean_words(odd: Odd, side: str) -> float | None:
    """Return the mean number of words that a task noted of a side; None where it noted none."""
    words, entries = (odd.get((WORDS, side, what)) for what in ("words", "entries"))
    if not isinstance(words, int) or not isinstance(entries, int):
        return None
    return words / max(1, entries)


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON has it: None where there is none."""
    return value if math.isfinite(value) else None


# ---- records ------------------------------------------------------------------------------------


def describe_input(found: Lists | Matrix, odd: Iterable[Fact], **more: Any) -> dict[str, Any]:
    """Describe what any input has: "understood", "notes", "items", "ids", and "odd" last."""
    return {
        "understood": found.understood,
        "notes": list(map(str, found.notes)),
        "items": len(found),
        "ids": not isinstance(found.ids, range),
        **more,
        "odd": list(map(str, odd)),
    }


def describe_matrix(matrix: Matrix) -> dict[str, Any]:
    """Describe the "shape", "dtype" and "range" of a matrix; None for ends that are undefined."""
    cells = matrix_cells(matrix)
    ends = [min(part.min() for part in cells), max(part.max() for part in cells)] if cells else []
    return {
        "shape": list(matrix.values.shape),
        "dtype": str(matrix.values.dtype),
        "range": [finite_or_none(float(end)) for end in ends] or [None, None],
    }


def matrix_cells(matrix: Matrix) -> list[Any]:
    """Return the numbers of a matrix, block by block; of a sparse one those that are stored."""
    blocks = (part for _, part in row_blocks(matrix.values))
    cells = (part if isinstance(part, np.ndarray) else part.data for part in blocks)
    return [part for part in cells if part.size]


def describe_sizes(indptr: Ints) -> dict[str, Any]:
    """Describe how many entries items have.

    Parameters
    ----------
    indptr : int array, shape (items + 1,)

    Returns
    -------
    dict
        "mean", "std" (None for one item), "min", "max" and "histogram": items by size, from 0.

    Examples
    --------
    >>> describe_sizes(np.array([0, 2, 2]))["histogram"]
    [1, 0, 1]
    """
    from semmetrics.metrics.arrays import cardinality

    sizes = cardinality(indptr)
    return {
        "mean": finite_or_none(sizes.mean),
        "std": finite_or_none(sizes.std),
        "min": int(np.flatnonzero(sizes.histogram)[0]),
        "max": len(sizes.histogram) - 1,
        "histogram": sizes.histogram.tolist(),
    }


# ---- what is odd --------------------------------------------------------------------------------


def some_of(names: Iterable[str], n: int | None = None, **values: Any) -> tuple[Any, ...]:
    """Return the number, the examples and the values of a fact about names."""
    names = list(names)
    return len(names) if n is None else n, tuple(names[:EXAMPLES]), "", values


def items_fact(code: str, lists: Any, rows: Any, **values: Any) -> Facts:
    """Note a fact of some items, if there are any; they are named by id or position."""
    numbered = FROM_0 if isinstance(lists.ids, (range, np.ndarray)) else ""
    ids = [lists.ids[row] for row in rows[:EXAMPLES].tolist()]
    plain = [name.item() if hasattr(name, "item") else name for name in ids]
    values |= {"total": len(lists), "noun": lists.noun, "numbered": numbered}
    return [Fact(code, *some_of(plain, len(rows), **values))] if len(rows) else []


def find_gaps(lists: Lists) -> Facts:
    """Note items without entries, and those that have an entry twice."""
    sizes, width = lengths(lists.side.indptr), max(1, len(lists.vocabulary))
    cells = cell_keys(lists.side.indptr, lists.side.codes, len(lists.vocabulary))
    distinct = np.bincount(np.unique(cells) // width, minlength=len(lists))
    return [
        *items_fact("without-entries", lists, np.flatnonzero(sizes == 0)),
        *items_fact("repeated-entries", lists, np.flatnonzero(sizes > distinct)),
    ]


def find_odd_ids(ids: Ids) -> Facts:
    """Note what is odd in ids; nothing where items are known by position."""
    return [] if isinstance(ids, range) else find_odd_texts([str(name) for name in ids], "id")


def find_odd_texts(texts: Sequence[str], noun: str) -> Facts:
    """Note what is odd in names: blanks around them, what cannot be seen, and lookalikes.

    Examples
    --------
    >>> print(*find_odd_texts(["cat", "Cat", "dog"], "label"))
    1 group of labels differing only by case or white space: 'cat', 'Cat'
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault("".join(text.split()).casefold(), []).append(text)
    similar = [group for group in groups.values() if len(group) > 1]
    padded = [text for text in texts if text != text.strip()]
    hidden = [text for text in texts if not text.strip().isprintable()]
    first = [text for group in similar[:2] for text in group]
    found = {
        "padded-texts": some_of(padded, noun=noun),
        "hidden-characters": some_of(hidden, noun=noun),
        "lookalikes": some_of(first, len(similar), noun=f"{noun}s"),
    }
    return [Fact(code, *rest) for code, rest in found.items() if rest[0]]


# ---- as texts -----------------------------------------------------------------------------------


def format_known(record: Mapping[str, Any]) -> str:
    """Write how many items there are, and what they are known by."""
    return f"{record['items']:,}, known by {'id' if record['ids'] else 'position'}"


def format_spread(sizes: Mapping[str, Any] | None) -> str:
    """Write mean, standard deviation and range."""
    if sizes is None:
        return ""
    std = "" if sizes["std"] is None else f" ({sizes['std']:.2f})"
    return f"{sizes['mean']:.2f}{std} mean (std), from {sizes['min']:,} to {sizes['max']:,}"


def format_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Write the first names with their counts, and how many more there are."""
    shown = [f"{name} {times:,}" for name, times in counts[:_TOP]]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def format_matrix(record: Mapping[str, Any], items: str, values: str) -> dict[str, str]:
    """Write what `describe_matrix` found, by name."""
    (rows, columns), (low, high) = record["shape"], record["range"]
    return {
        items: format_known(record),
        "shape": f"{rows:,} x {columns:,}, {record['dtype']}",
        values: "" if low is None else f"from {low:g} to {high:g}",
    }


def on_one_line(text: str) -> str:
    r"""Return the text on one line; what would command a terminal is written out.

    Examples
    --------
    >>> on_one_line("a\nb\x1b[2J")
    'a b\\x1b[2J'
    """
    return visible(" ".join(text.splitlines()).replace("\t", " "))
