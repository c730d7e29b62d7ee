"""Suggest the registered names that are most similar to an unknown one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from semmetrics.messages.display import join_by_or

_MIN_PREFIX = 3
"""The fewest letters of a name for which all longer names are suggested."""


def fold(name: str) -> str:
    """Return a name in lower case, without hyphens, underscores and spaces, for comparisons.

    Examples
    --------
    >>> fold("BLEU-4"), fold("rouge_L")
    ('bleu4', 'rougel')
    """
    return re.sub(r"[-_\s]", "", name).casefold()


def did_you_mean(
    name: str, known: Iterable[str], otherwise: str = "", *, most: int = 3
) -> str:
    """Return a question with the names that are most similar to an unknown one.

    Parameters
    ----------
    name : str
    known : iterable of str
        The registered names.
    otherwise : str
        The result if no name is similar.
    most : int
        The largest number of names, as in `nearest_names`.

    Examples
    --------
    >>> did_you_mean("recal", ["Recall", "F1"]), did_you_mean("x", ["F1"], "write F1")
    ('did you mean Recall?', 'write F1')
    >>> did_you_mean("coco", ["f30k", "coco-1k", "coco-caption"])
    'did you mean coco-1k or coco-caption?'
    """
    nearest = nearest_names(name, known, most=most)
    if not nearest:
        return otherwise
    return ask_which(nearest)


def ask_which(names: Sequence[str]) -> str:
    """Return a question with several names, of which a user may mean one.

    Examples
    --------
    >>> ask_which(["BLEU-1"]), ask_which(["BLEU-1", "BLEU-2", "BLEU-3"])
    ('did you mean BLEU-1?', 'did you mean BLEU-1, BLEU-2 or BLEU-3?')
    """
    return f"did you mean {join_by_or(names)}?"


def nearest_names(
    name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.75
) -> list[str]:
    """Return the registered names that are most similar to an unknown one, the nearest first.

    If any names start with the unknown name, only they are returned, up to twice ``most``,
    because none of them is more likely than the others.

    Parameters
    ----------
    name : str
    known : iterable of str
        The registered names. Case, hyphens, underscores and spaces do not matter.
    most : int
        The largest number of names.
    cutoff : float
        The least similarity, from 0 to 1, as in `difflib.get_close_matches`.

    Examples
    --------
    >>> nearest_names("scor", ["compare", "score"]), nearest_names("zzz", ["compare", "score"])
    (['score'], [])
    """
    import difflib

    folded = fold(name)
    originals: dict[str, str] = {}
    for original in known:
        originals.setdefault(fold(original), original)
    if len(folded) >= _MIN_PREFIX:
        longer = [key for key in originals if key.startswith(folded)]
        if longer:
            return [originals[key] for key in longer[: 2 * most]]
    nearest = difflib.get_close_matches(folded, originals, n=most, cutoff=cutoff)
    if not nearest:
        nearest = _nearest_by_beginning(folded, originals, most, cutoff)
    return [originals[key] for key in nearest]


def _nearest_by_beginning(
    folded: str, keys: Iterable[str], most: int, cutoff: float
) -> list[str]:
    """Return the keys whose beginnings are similar to a name, which may be misspelled."""
    import difflib

    key_of_beginning = {key[: len(folded)]: key for key in keys}
    beginnings = difflib.get_close_matches(
        folded, key_of_beginning, n=most, cutoff=cutoff
    )
    return [key_of_beginning[beginning] for beginning in beginnings]
