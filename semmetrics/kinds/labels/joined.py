"""Tell several labels joined by a delimiter from one name that contains the delimiter.

Conventions
-----------
Kaggle's Planet, Plant Pathology and Human Protein Atlas write all labels of an item into one cell,
separated by spaces. A space is also part of names such as "traffic light". Most rules are for sides
with at most one label per item, because other sides have their labels separated already. A label
that contains the delimiter is called joined, and the text between delimiters a part.

Two signs show that labels are joined by any delimiter:

- Two labels have the same parts in another order, on either side. Ratios such as 16:9 do not count.
- A label has exactly the parts that are the labels of the same item on the other side. It has to
  happen for two items, or in a task of up to ten items for one.

Any of these signs shows that labels are joined by a space or slash:

- All labels are integers, such as "16 0".
- A joined label has a part with underscores, as in "frog_eye_leaf_spot scab".
- Nearly all joined labels consist of parts that are labels themselves, these are at least half of
  the other labels, and some part comes first in one joined label and last in another. Names fail
  this: "hot dog" has no label "hot", and in "red car" and "blue car" each word has its place.
- Most joined labels contain all parts of another joined label, or are contained in one, and there
  are fewer parts than joined labels. Names of several words rarely contain each other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from string import punctuation
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.lists import Side

DELIMITERS = (";", "|", "\t", "+", "\n", ",")
"""Delimiters that are rare in names."""
WORD_DELIMITERS = (" ", "/")
"""Delimiters that often occur in names."""
RARE_DELIMITERS = (":", "&", "、")
"""Delimiters that only the signs for any delimiter look for."""
ALL_DELIMITERS = (*DELIMITERS, *WORD_DELIMITERS, *RARE_DELIMITERS)
_RATIO = re.compile(r"[\d.]+(\s*:\s*[\d.]+)+")
_NUMBERS = re.compile(r"\d+( \d+)*")
_UNDERSCORE = re.compile(r"\w_\w")
_MAX_SMALL_TASK = 10  # items up to which one split label is enough
_MIN_SHARE_OF_LABELS = 0.9  # joined labels whose parts are all labels
_MIN_JOINED = 5  # joined labels below which containment means little

_Parts: TypeAlias = tuple[str, ...]
"""The parts of a joined label."""


def has_parts(name: str, delimiter: str) -> bool:
    """Return whether a name contains a delimiter. "+" has to be between two parts, unlike in "C++".

    Examples
    --------
    >>> has_parts("cat+dog", "+"), has_parts("C++", "+"), has_parts("cat;", ";")
    (True, False, True)
    """
    if delimiter not in name:
        return False
    return delimiter != "+" or all(name.split(delimiter))


def find_joined(names: Sequence[str], delimiter: str) -> list[str]:
    """Return the names that contain a delimiter, see `has_parts`."""
    return [name for name in names if has_parts(name, delimiter)]


# ---- rare delimiters ----------------------------------------------------------------------------


def are_joined(
    joined: Sequence[str],
    names: Sequence[str],
    delimiter: str,
    other_names: Sequence[str] | None = None,
) -> bool:
    """Return whether the labels of a side that contain a rare delimiter are several labels.

    They are if most of them have a part that is a label of the other side or, without
    ``other_names``, a part that occurs in several labels of their side. They also are if at least
    half of all labels contain the delimiter. This does not apply to a comma without
    ``other_names``, because it may be part of names.

    Parameters
    ----------
    joined : sequence of str
        The labels of the side that contain the delimiter.
    names : sequence of str
        All labels of the side.
    delimiter : str
    other_names : sequence of str, optional
        The labels of the other side, if none of them contains the delimiter.

    Examples
    --------
    >>> are_joined(["Doe, John"], ["Doe, John", "cat"], ",")
    False
    >>> are_joined(["cat, dog"], ["cat, dog", "bus", "cow"], ",", ["cat"])
    True
    """
    may_be_in_names = delimiter == "," and other_names is None
    if not may_be_in_names and 2 * len(joined) >= len(names):
        return True
    if other_names is None:
        labels = _repeated_parts(names, delimiter)
    else:
        labels = {name.casefold() for name in other_names}
    n_with_label = 0
    for name in joined:
        if not labels.isdisjoint(_folded_parts(name, delimiter)):
            n_with_label += 1
    return 2 * n_with_label >= len(joined)


def _repeated_parts(names: Sequence[str], delimiter: str) -> set[str]:
    """Return the parts that occur in several names."""
    n_names: Counter[str] = Counter()
    for name in names:
        n_names.update(_folded_parts(name, delimiter))
    return {part for part, n in n_names.items() if n > 1}


def _folded_parts(name: str, delimiter: str) -> set[str]:
    """Return the parts of a name without case and surrounding white space, none of them empty."""
    parts = {part.strip().casefold() for part in name.split(delimiter)}
    parts.discard("")
    return parts


# ---- delimiters that occur in names -------------------------------------------------------------


def are_joined_words(
    names: Sequence[str], other_names: Sequence[str], delimiter: str
) -> bool:
    """Return whether some labels of a side are several labels joined by a space or slash.

    Parameters
    ----------
    names : sequence of str
        The distinct labels of the side, which has at most one label per item.
    other_names : sequence of str
        The distinct labels of the other side.
    delimiter : str

    Examples
    --------
    >>> are_joined_words(["16 0", "7"], ["0", "7 16"], " ")
    True
    >>> are_joined_words(["traffic light", "hot dog", "dog"], ["dog", "light"], " ")
    False
    """
    joined = _split_joined(names, delimiter)
    if not joined:
        return False
    return (
        _are_numbers(names, delimiter)
        or _have_underscores(joined, delimiter)
        or _consist_of_labels(joined, [*names, *other_names], delimiter)
        or _contain_each_other(joined)
    )


def _are_numbers(names: Sequence[str], delimiter: str) -> bool:
    """Return whether all labels are integers with spaces between them."""
    return delimiter == " " and all(_NUMBERS.fullmatch(name) for name in names)


def _have_underscores(joined: Sequence[_Parts], delimiter: str) -> bool:
    """Return whether half of the joined labels have parts with underscores between letters."""
    if delimiter != " ":
        return False
    n_with_underscore = 0
    for parts in joined:
        if any(_UNDERSCORE.search(part) for part in parts):
            n_with_underscore += 1
    return 2 * n_with_underscore >= len(joined)


def _consist_of_labels(
    joined: Sequence[_Parts], names: Sequence[str], delimiter: str
) -> bool:
    """Return whether nearly all joined labels consist of labels, in no fixed order."""
    single_labels = {name for name in names if delimiter not in name}
    n_of_labels = 0
    used_labels: set[str] = set()
    first_parts: set[str] = set()
    last_parts: set[str] = set()
    for parts in joined:
        if single_labels.issuperset(parts):
            n_of_labels += 1
        used_labels.update(single_labels.intersection(parts))
        first_parts.add(parts[0])
        last_parts.add(parts[-1])
    if n_of_labels < _MIN_SHARE_OF_LABELS * len(joined):
        return False
    if 2 * len(used_labels) < len(single_labels):
        return False
    return not first_parts.isdisjoint(last_parts)


def _contain_each_other(joined: Sequence[_Parts]) -> bool:
    """Return whether most joined labels contain all parts of another one, or are contained."""
    distinct = {frozenset(parts) for parts in joined}
    labels_of_part: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for parts in distinct:
        for part in parts:
            labels_of_part[part].append(parts)
    if len(distinct) < _MIN_JOINED or len(labels_of_part) >= len(distinct):
        return False
    related: set[frozenset[str]] = set()
    for parts in distinct:
        # A label that contains these parts also contains the rarest of them.
        candidates = min((labels_of_part[part] for part in parts), key=len)
        containing = [other for other in candidates if parts < other]
        if containing:
            related.add(parts)
            related.update(containing)
    return 2 * len(related) >= len(distinct)


# ---- any delimiter ------------------------------------------------------------------------------


def are_permuted(
    names: Sequence[str], other_names: Sequence[str], delimiter: str
) -> bool:
    """Return whether a label has the same parts as another of either side, in another order.

    Examples
    --------
    >>> are_permuted(["dog, cat", "bus"], ["cat,dog"], ",")
    True
    >>> are_permuted(["16:9", "9:16"], [], ":")
    False
    """
    joined = _split_joined(names, delimiter)
    if not joined:
        return False
    orders_of_parts: defaultdict[_Parts, set[_Parts]] = defaultdict(set)
    for parts in (*joined, *_split_joined(other_names, delimiter)):
        orders_of_parts[tuple(sorted(parts))].add(parts)
    return any(len(orders_of_parts[tuple(sorted(parts))]) > 1 for parts in joined)


def are_split_by_other(
    names: Sequence[str], side: Side, other: Side, delimiter: str
) -> bool:
    """Return whether the parts of labels are exactly the labels of the same item on the other side.

    Parameters
    ----------
    names : sequence of str
        The labels by code.
    side, other : Side
        The labels of the same items. The items of ``side`` have at most one.
    delimiter : str
    """
    if other.sizes.max(initial=0) < 2:
        return False
    parts_of_code: dict[int, set[str]] = {}
    for code in np.unique(side.codes).tolist():
        parts = _split(names[code], delimiter)
        if parts:
            parts_of_code[code] = set(parts)
    if not parts_of_code:
        return False
    n_wanted = 2
    if len(side) <= _MAX_SMALL_TASK:
        n_wanted = 1
    n_split = 0
    for row in _rows_with_as_many_labels(parts_of_code, len(names), side, other):
        code = int(side.codes[side.indptr[row]])
        other_codes = other.codes[other.indptr[row] : other.indptr[row + 1]]
        other_names = {names[other_code] for other_code in other_codes.tolist()}
        if parts_of_code[code] == other_names:
            n_split += 1
        if n_split == n_wanted:
            return True
    return False


def _rows_with_as_many_labels(
    parts_of_code: dict[int, set[str]], n_names: int, side: Side, other: Side
) -> list[int]:
    """Return the items with a joined label of as many parts as the other side has labels."""
    n_parts_of_code = np.zeros(n_names, np.int64)
    for code, parts in parts_of_code.items():
        n_parts_of_code[code] = len(parts)
    # Items have at most one label, so the codes are the labels of the items that have one.
    has_label = side.sizes == 1
    n_parts: Ints = np.zeros(len(side), np.int64)
    n_parts[has_label] = n_parts_of_code[side.codes]
    rows: list[int] = np.flatnonzero((n_parts > 1) & (n_parts == other.sizes)).tolist()
    return rows


def _split_joined(names: Sequence[str], delimiter: str) -> list[_Parts]:
    """Return the parts of each label that contains the delimiter between words."""
    joined = []
    for name in names:
        parts = _split(name, delimiter)
        if parts:
            joined.append(parts)
    return joined


def _split(name: str, delimiter: str) -> _Parts:
    """Return the parts of a label, or nothing if the delimiter is not between words."""
    if delimiter == ":" and _RATIO.fullmatch(name):
        return ()
    parts = tuple(part.strip() for part in name.split(delimiter))
    if len(parts) > 1 and all(part.strip(punctuation) for part in parts):
        return parts
    return ()
