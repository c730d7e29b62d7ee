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
_SIDES = {"pred": "candidates", "ref": "references"}


def find_oddities(candidates: Lists, references: Lists, joined: Joined) -> Odd:
    """Find what is probably a mistake in both sides together."""
    found: dict[Hashable, Any] = dict(swapped_sides(candidates, references))
    for name, lists, side in (
        ("pred", candidates, joined.pred),
        ("ref", references, joined.ref),
    ):
        words, captions = _count_words(lists, side.codes)
        if captions and words < _SINGLE * captions:
            found |= {(WORDS, name, "words"): words, (WORDS, name, "entries"): captions}
    mine, theirs = (lengths(side.indptr) for side in (joined.pred, joined.ref))
    if len(mine) and mine.min() > 1 and theirs.max() == 1:
        found[several_captions()] = 1
    return found


def _count_words(lists: Lists, codes: Codes) -> tuple[int, int]:
    """Count the words and the captions of occurrences; empty captions are none."""
    each = np.fromiter(map(len, map(str.split, map(str, lists.vocabulary))), np.int64)
    words = each[codes]
    return int(words.sum()), int(np.count_nonzero(words))


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
    if number and words < _SINGLE * number:
        return [f"the captions are {_single(words / number)}"]
    return []
