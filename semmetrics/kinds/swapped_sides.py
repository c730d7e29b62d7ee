"""What is odd in both sides together, whatever they hold: sides that look swapped."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from pathlib import PurePath

from semmetrics.data.lists import Lists

__all__ = ["Odd", "WORDS", "mean_words", "several_captions", "swapped_notes", "swapped_sides"]

Odd = Mapping[Hashable, "int | frozenset[str]"]
"""What was found in a task: counts, which parts add up, and sets, which they unite."""

WORDS = "words of"
_SWAPPED = "swapped"
_TRUTHS = {"gt", "gts", "truth", "groundtruth", "reference", "references", "refs", "annotations"}
_GUESSES = {"pred", "preds", "prediction", "predictions", "results", "candidates", "outputs"}
_REASONS = {
    "names": "the file of predictions is named as ground truth, and the other as predictions",
    "scores": "the ground truth has scores, and the predictions have none",
    "coco": "the predictions are COCO annotations with a class list, and the ground truth is not",
    "several": "every image has a single reference, and several captions",
}


def swapped_sides(pred: Lists, ref: Lists) -> dict[Hashable, int | frozenset[str]]:
    """Find signs that predictions and ground truth were given in the wrong order."""
    signs = {
        "names": _is_called(pred, _TRUTHS - _GUESSES) and _is_called(ref, _GUESSES - _TRUTHS),
        "scores": ref.side.scores is not None and pred.side.scores is None,
        "coco": "COCO instances" in pred.understood and "COCO instances" not in ref.understood,
    }
    return {(_SWAPPED, sign): 1 for sign, found in signs.items() if found}


def _is_called(lists: Lists, words: set[str]) -> bool:
    """Tell whether the name of a file has one of those words."""
    name = PurePath(lists.source).name
    parts = re.split(r"[^a-z]+", name.lower())
    return "." in name and not words.isdisjoint({*parts, "".join(parts[:2])})


def several_captions() -> tuple[str, str]:
    """Return the name under which tasks note captions that look like references."""
    return (_SWAPPED, "several")


def swapped_notes(odd: Odd) -> list[str]:
    """Say that the sides look swapped, and why."""
    return [
        f"{reason}: are the two sides in the right order (predictions first)?"
        for sign, reason in _REASONS.items()
        if (_SWAPPED, sign) in odd
    ]


def mean_words(odd: Odd, side: str) -> float | None:
    """Return the mean number of words that a task noted of a side; None where it noted none."""
    words, entries = (odd.get((WORDS, side, what)) for what in ("words", "entries"))
    if not isinstance(words, int) or not isinstance(entries, int):
        return None
    return words / max(1, entries)
