"""Tell names of several words from several labels with a space or slash between them.

Conventions
-----------
Kaggle's Planet, Plant Pathology and Human Protein Atlas write all labels of an item into one cell,
separated by spaces. A space is also part of names such as "traffic light". Only sides with at most
one label per item are looked at, because other sides have their labels separated already. A label
that contains the delimiter is called joined, and the text between delimiters a part.

Any of these signs tells joined labels:

- Two labels have the same parts in another order, on either side.
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
from collections import defaultdict
from collections.abc import Sequence

WORD_DELIMITERS = (" ", "/")
_NUMBERS = re.compile(r"\d+( \d+)*")
_UNDERSCORE = re.compile(r"\w_\w")
_MOST = 0.9  # of the joined labels have only parts that are labels
_FEW = 5  # joined labels below which containment says little

Parts = tuple[str, ...]


def are_joined_words(names: Sequence[str], others: Sequence[str], delimiter: str) -> bool:
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
    >>> are_joined_words(["scab rust", "healthy"], ["rust scab", "healthy"], " ")
    True
    >>> are_joined_words(["traffic light", "hot dog", "dog"], ["dog", "light"], " ")
    False
    """
    joined = _split_joined(names, delimiter)
    if not joined:
        return False
    return (
        _are_permuted(joined, _split_joined(others, delimiter))
        or _are_numbers(names, delimiter)
        or _have_underscores(joined, delimiter)
        or _consist_of_labels(joined, [*names, *others], delimiter)
        or _contain_each_other(joined)
    )


def _split_joined(names: Sequence[str], delimiter: str) -> list[Parts]:
    """Return the parts of each label that contains the delimiter between other characters."""
    joined = []
    for name in names:
        parts = tuple(name.split(delimiter))
        if len(parts) > 1 and all(parts):
            joined.append(parts)
    return joined


def _are_permuted(joined: Sequence[Parts], others: Sequence[Parts]) -> bool:
    """Tell whether two labels have the same parts in another order."""
    orders: defaultdict[Parts, set[Parts]] = defaultdict(set)
    for parts in (*joined, *others):
        orders[tuple(sorted(parts))].add(parts)
    return any(len(orders[tuple(sorted(parts))]) > 1 for parts in joined)


def _are_numbers(names: Sequence[str], delimiter: str) -> bool:
    """Tell whether all labels are integers with spaces between them."""
    return delimiter == " " and all(_NUMBERS.fullmatch(name) for name in names)


def _have_underscores(joined: Sequence[Parts], delimiter: str) -> bool:
    """Tell whether half of the joined labels have parts with underscores between letters."""
    if delimiter != " ":
        return False
    n_with = sum(any(_UNDERSCORE.search(part) for part in parts) for parts in joined)
    return 2 * n_with >= len(joined)


def _consist_of_labels(joined: Sequence[Parts], names: Sequence[str], delimiter: str) -> bool:
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
    n_related = 0
    for parts in distinct:
        rarest = min((holders[part] for part in parts), key=len)
        is_within = any(parts < other for other in rarest)
        if is_within or any(other < parts for part in parts for other in holders[part]):
            n_related += 1
    return 2 * n_related >= len(distinct)
