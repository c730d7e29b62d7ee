"""Tell names of several words from several labels with a space or slash between them.

Conventions
-----------
Kaggle's Planet, Plant Pathology and Human Protein Atlas write all labels of an item into one cell,
separated by spaces. A space is also part of names such as "traffic light". Only sides with at most
one label per item are looked at, because other sides have their labels separated already. A label
that contains the delimiter is called joined, and the text between delimiters a part.

Two signs tell joined labels with any delimiter:

- Two labels have the same parts in another order, on either side. Ratios such as 16:9 do not count.
- A label has exactly the parts that are the labels of the same item on the other side. It has to
  happen for two items, or in a task of up to ten items for one.

Any of these signs tells labels joined by a space or slash:

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

import numpy as np

from semmetrics.data.lists import Side

DELIMITERS = (";", "|", "\t", "+", "\n", ",")
WORD_DELIMITERS = (" ", "/")
RARE_DELIMITERS = (":", "&", "、")
"""Delimiters that only the signs for any delimiter look for."""
ALL_DELIMITERS = (*DELIMITERS, *WORD_DELIMITERS, *RARE_DELIMITERS)
_RATIO = re.compile(r"[\d.]+(\s*:\s*[\d.]+)+")
_SMALL_TASK = 10  # items up to which one split label is enough
_NUMBERS = re.compile(r"\d+( \d+)*")
_UNDERSCORE = re.compile(r"\w_\w")
_MOST = 0.9  # of the joined labels have only parts that are labels
_FEW = 5  # joined labels below which containment says little

Parts = tuple[str, ...]


def has_parts(name: str, delimiter: str) -> bool:
    """Tell whether a name contains a delimiter; "C++" does not contain "+" between two parts."""
    if delimiter not in name:
        return False
    return delimiter != "+" or all(name.split(delimiter))


def are_joined(
    joined: Sequence[str],
    names: Sequence[str],
    delimiter: str,
    others: Sequence[str] | None = None,
) -> bool:
    """Tell whether the labels of a side that hold a delimiter are labels with it between them.

    Most of them share a part with labels of the side, or with ``others``, those of the other side
    if none of these holds the delimiter; or, where nobody writes the delimiter in a name, half of
    all labels hold it.
    """

    def parts(name: str) -> set[str]:
        return {
            part.strip().casefold() for part in name.split(delimiter) if part.strip()
        }

    if (delimiter != "," or others is not None) and 2 * len(joined) >= len(names):
        return True
    if others is not None:
        known = {name.casefold() for name in others}
    else:
        times = Counter(part for name in names for part in parts(name))
        known = {part for part, n in times.items() if n > 1}
    return 2 * sum(not known.isdisjoint(parts(name)) for name in joined) >= len(joined)


def are_joined_words(
    names: Sequence[str], others: Sequence[str], delimiter: str
) -> bool:
    """Tell whether some labels of a side are several labels with a delimiter between them.

    Parameters
    ----------
    names : sequence of str
        The distinct labels of the side, which has at most one label per item.
    others : sequence of str
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
        or _consist_of_labels(joined, [*names, *others], delimiter)
        or _contain_each_other(joined)
    )


def are_permuted(names: Sequence[str], others: Sequence[str], delimiter: str) -> bool:
    """Tell whether a label has the same parts as another one of either side, in another order.

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
    orders: defaultdict[Parts, set[Parts]] = defaultdict(set)
    for parts in (*joined, *_split_joined(others, delimiter)):
        orders[tuple(sorted(parts))].add(parts)
    return any(len(orders[tuple(sorted(parts))]) > 1 for parts in joined)


def are_split_by_other(
    names: Sequence[str], mine: Side, other: Side, delimiter: str
) -> bool:
    """Tell whether labels have as parts exactly the labels of the same item on the other side.

    Parameters
    ----------
    names : sequence of str
        The labels by code.
    mine, other : Side
        The labels of the same items. The items of ``mine`` have at most one.
    delimiter : str
    """
    if other.sizes.max(initial=0) < 2:
        return False
    parts_by_code = {}
    n_parts = np.zeros(len(names), np.int64)
    for code in np.unique(mine.codes).tolist():
        for parts in _split_joined([names[code]], delimiter):
            parts_by_code[code] = set(parts)
            n_parts[code] = len(set(parts))
    if not parts_by_code:
        return False
    has_label = mine.sizes == 1
    n_parts_of_item = np.zeros(len(has_label), np.int64)
    n_parts_of_item[has_label] = n_parts[mine.codes]
    is_candidate = (n_parts_of_item > 1) & (n_parts_of_item == other.sizes)
    n_left = 1 if len(has_label) <= _SMALL_TASK else 2
    for row in np.flatnonzero(is_candidate).tolist():
        code = int(mine.codes[mine.indptr[row]])
        other_codes = other.codes[other.indptr[row] : other.indptr[row + 1]]
        if parts_by_code[code] == {names[one] for one in other_codes.tolist()}:
            n_left -= 1
        if n_left == 0:
            return True
    return False


def _split_joined(names: Sequence[str], delimiter: str) -> list[Parts]:
    """Return the parts of each label that contains the delimiter between words."""
    joined = []
    for name in names:
        parts = tuple(part.strip() for part in name.split(delimiter))
        if delimiter == ":" and _RATIO.fullmatch(name):
            continue
        if len(parts) > 1 and all(part.strip(punctuation) for part in parts):
            joined.append(parts)
    return joined


def _are_numbers(names: Sequence[str], delimiter: str) -> bool:
    """Tell whether all labels are integers with spaces between them."""
    return delimiter == " " and all(_NUMBERS.fullmatch(name) for name in names)


def _have_underscores(joined: Sequence[Parts], delimiter: str) -> bool:
    """Tell whether half of the joined labels have parts with underscores between letters."""
    if delimiter != " ":
        return False
    n_with = sum(any(_UNDERSCORE.search(part) for part in parts) for parts in joined)
    return 2 * n_with >= len(joined)


def _consist_of_labels(
    joined: Sequence[Parts], names: Sequence[str], delimiter: str
) -> bool:
    """Tell whether nearly all joined labels consist of labels, in no fixed order."""
    single = {name for name in names if delimiter not in name}
    n_of_labels = sum(single.issuperset(parts) for parts in joined)
    used: set[str] = set()
    for parts in joined:
        used.update(single.intersection(parts))
    first = {parts[0] for parts in joined}
    last = {parts[-1] for parts in joined}
    is_most = n_of_labels >= _MOST * len(joined)
    return is_most and 2 * len(used) >= len(single) and not first.isdisjoint(last)


def _contain_each_other(joined: Sequence[Parts]) -> bool:
    """Tell whether most joined labels contain the parts of another one, or are contained."""
    distinct = {frozenset(parts) for parts in joined}
    holders: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for parts in distinct:
        for part in parts:
            holders[part].append(parts)
    if len(distinct) < _FEW or len(holders) >= len(distinct):
        return False
    related: set[frozenset[str]] = set()
    for parts in distinct:
        rarest = min((holders[part] for part in parts), key=len)
        containing = [other for other in rarest if parts < other]
        if containing:
            related.update(containing, [parts])
    return 2 * len(related) >= len(distinct)
