"""What descriptions of any kind of data have in common: sizes, names, and what is odd in texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Ints, cell_keys, lengths
from semmetrics.data.lists import Ids, Lists
from semmetrics.data.matrix import Matrix, row_blocks
from semmetrics.errors import FROM_0
from semmetrics.messages import agreeing, listing, pluralize, visible

__all__ = [
    "count_items",
    "describe_input",
    "describe_matrix",
    "describe_sizes",
    "find_empty",
    "find_odd_ids",
    "find_odd_texts",
    "find_repeated",
    "finite_or_none",
    "format_counts",
    "format_known",
    "format_spread",
    "list_ids",
    "matrix_cells",
    "on_one_line",
]


_TOP = 10  # names that a line shows


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON has it: None where there is none."""
    return value if math.isfinite(value) else None


def describe_input(found: Lists | Matrix) -> dict[str, Any]:
    """Describe what any input has: "understood", "notes", the number of "items", whether "ids"."""
    return {
        "understood": found.understood,
        "notes": list(map(str, found.notes)),
        "items": len(found),
        "ids": not isinstance(found.ids, range),
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
    from semmetrics.metrics.set_statistics import cardinality

    sizes = cardinality(indptr)
    return {
        "mean": finite_or_none(sizes.mean),
        "std": finite_or_none(sizes.std),
        "min": int(np.flatnonzero(sizes.histogram)[0]),
        "max": len(sizes.histogram) - 1,
        "histogram": sizes.histogram.tolist(),
    }


def count_items(some: int, of: Sequence[Any] | Any, verb: str) -> str:
    """Write how many of the items do something; the verb is that of many.

    Examples
    --------
    >>> count_items(1, "abc", "have"), count_items(2, "abc", "have")
    ('1 of 3 items has', '2 of 3 items have')
    """
    return f"{some:,} of {pluralize(len(of), 'item')} {agreeing(some, verb)}"


def find_empty(lists: Lists) -> Iterator[str]:
    """Say which items have no entries."""
    yield from _find_items(lists, lengths(lists.side.indptr) == 0, "have", f"no {lists.noun}s")


def find_repeated(lists: Lists) -> Iterator[str]:
    """Say which items have an entry twice."""
    cells = cell_keys(lists.side.indptr, lists.side.codes, len(lists.vocabulary))
    distinct = np.bincount(np.unique(cells) // max(1, len(lists.vocabulary)), minlength=len(lists))
    yield from _find_items(
        lists, lengths(lists.side.indptr) > distinct, "repeat", f"a {lists.noun}"
    )


def _find_items(lists: Lists, chosen: Bools, verb: str, what: str) -> Iterator[str]:
    if chosen.any():
        ids = list_ids(lists.ids, np.flatnonzero(chosen))
        yield f"{count_items(int(chosen.sum()), lists, verb)} {what}: {ids}"


def list_ids(ids: Ids, rows: Any) -> str:
    """Write the ids of some items, or their positions, the first few and how many more."""
    numbered = FROM_0 if isinstance(ids, (range, np.ndarray)) else ""
    return listing(ids[row] for row in rows.tolist()) + numbered


def find_odd_ids(ids: Ids) -> Iterator[str]:
    """Yield what is odd in ids; nothing where items are known by position."""
    if not isinstance(ids, range):
        yield from find_odd_texts([str(name) for name in ids], "id")


def find_odd_texts(texts: Sequence[str], noun: str) -> Iterator[str]:
    """Yield what is odd in names: blanks around them, what cannot be seen, and lookalikes.

    Examples
    --------
    >>> list(find_odd_texts(["cat", "Cat", "dog"], "label"))
    ["labels differ only by case or white space: 'cat' and 'Cat'"]
    """
    padded = [text for text in texts if text != text.strip()]
    if padded:
        what, them = pluralize(len(padded), noun, "have"), "it" if len(padded) == 1 else "them"
        yield f"{what} blanks around {them}: {listing(padded)}"
    strange = [text for text in texts if not text.strip().isprintable()]
    if strange:
        what = f"{pluralize(len(strange), noun, 'have')} characters that cannot be seen"
        yield f"{what}: {listing(strange)}"
    alike = _group_alike(texts)
    if alike:
        shown = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
        more = f" and {len(alike) - 3:,} more" if len(alike) > 3 else ""
        yield f"{noun}s differ only by case or white space: {shown}{more}"


def _group_alike(texts: Iterable[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault("".join(text.split()).casefold(), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def format_known(record: Mapping[str, Any]) -> str:
    """Write how many items there are, and what they are known by."""
    return f"{record['items']:,}, known by {'id' if record['ids'] else 'position'}"


def format_spread(sizes: Mapping[str, Any]) -> str:
    """Write mean, standard deviation and range."""
    std = "" if sizes["std"] is None else f" ({sizes['std']:.2f})"
    return f"{sizes['mean']:.2f}{std} mean (std), from {sizes['min']:,} to {sizes['max']:,}"


def format_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Write the first names with their counts, and how many more there are."""
    shown = [f"{name} {times:,}" for name, times in counts[:_TOP]]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def on_one_line(text: str) -> str:
    r"""Return the text on one line; what would command a terminal is written out.

    Examples
    --------
    >>> on_one_line("a\nb\x1b[2J")
    'a b\\x1b[2J'
    """
    return visible(" ".join(text.splitlines()).replace("\t", " "))
