"""What is accepted of captions, and yet is probably a mistake: labels, and sides that are swapped.

Conventions
-----------
Words stand between blanks and are counted by distinct caption, then weighed by occurrence. Findings
are counts, which parts of the data add up (``Task.odd``); what is said is made of these alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from semmetrics.core.ragged import Codes, lengths
from semmetrics.data.join import Joined
from semmetrics.data.lists import Lists
from semmetrics.kinds.swapped_sides import (
    WORDS,
    Odd,
    mean_words,
    several_captions,
    swapped_notes,
    swapped_sides,
)

__all__ = ["find_odd_captions", "find_oddities", "oddity_notes"]

_SINGLE = 1.5  # mean words of a caption below which captions look like labels
_BLOCK = 256  # captions whose words are counted at a time
_SIDES = {"pred": "candidates", "ref": "references"}


def find_oddities(candidates: Lists, references: Lists, joined: Joined) -> Odd:
    """Find what is probably a mistake in both sides together."""
    found: dict[Hashable, Any] = dict(swapped_sides(candidates, references))
    for name, lists, side in (
        ("pred", candidates, joined.pred),
        ("ref", references, joined.ref),
    ):
        words, captions = _count_words(lists, side.codes)
        if words:
            found |= {(WORDS, name, "words"): words, (WORDS, name, "entries"): captions}
    mine, theirs = (lengths(side.indptr) for side in (joined.pred, joined.ref))
    if len(mine) and mine.min() > 1 and theirs.max() == 1:
        found[several_captions()] = 1
    return found


def _count_words(lists: Lists, codes: Codes) -> tuple[int, int]:
    """Count the words and the captions of occurrences where they look like labels, else (0, 0).

    Empty captions are none. Of others only as many are read as it takes to know.
    """
    times = np.bincount(codes, minlength=len(lists.vocabulary))
    words = captions = 0
    for start in range(0, len(times), _BLOCK):
        some = slice(start, start + _BLOCK)
        each = np.array([len(str(text).split()) for text in lists.vocabulary[some]], np.int64)
        words += int(each @ times[some])
        captions += int((each > 0) @ times[some])
        if words >= _SINGLE * len(codes):
            return 0, 0
    return (words, captions) if words < _SINGLE * captions else (0, 0)


def oddity_notes(odd: Odd) -> list[str]:
    """Say what was found, as ``Task.odd`` or ``Statistics.noted`` holds it."""
    found = {name: mean_words(odd, side) for side, name in _SIDES.items()}
    notes = [f"the {name} are {_single(mean)}" for name, mean in found.items() if mean is not None]
    return notes + swapped_notes(odd)


def _single(mean: float) -> str:
    return f"single words, {mean:.1f} each on average; of labels say task='labels' (--task labels)"


def find_odd_captions(captions: Lists) -> list[str]:
    """Say what one side alone shows: captions that look like labels."""
    words, number = _count_words(captions, captions.side.codes)
    return [f"the captions are {_single(words / number)}"] if number else []
