"""Signs of swapped sides and of another kind of data, and the notes on them.

A task observes signs that its sides are swapped, and how many words the entries of a side have.
The data may come in parts, such as batches, whose observations add up. A sign leads to a note only
if all parts have it. Therefore `observe_swapped_sides` also counts the parts.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.errors import Fact

SWAPPED = "swapped"
"""The code of observations of signs of swapped sides. The detail is the sign."""
_PARTS = "parts"
"""The code that counts parts: all of them, and with the detail of a side those with entries."""
_WORDS = "words of"
"""The code that counts the words of a side.

The details are the side, which counts parts, and then "words" or "entries", which counts those.
"""

_TRUTH_WORDS = {
    "gt",
    "gts",
    "truth",
    "groundtruth",
    "reference",
    "references",
    "refs",
    "annotations",
}
_PREDICTION_WORDS = {
    "pred",
    "preds",
    "prediction",
    "predictions",
    "results",
    "candidates",
    "outputs",
}
"""Words in the names of files. No word is in both sets."""
_SIGNS = {
    "names": "the files are named as if the predictions were the ground truth",
    "scores": "only the ground truth has scores",
    "coco": "only the predictions are COCO annotations",
    "several": "each image has one reference and several captions",
}
"""The signs of swapped sides, and their texts."""


def observe_swapped_sides(pred: Lists, ref: Lists) -> Observations:
    """Observe signs that predictions and ground truth are in the wrong order.

    The result also counts this part of the data, and on which sides it has entries.
    """
    observations = Observations()
    observations.count(_PARTS, 1)
    if len(pred.side.codes):
        observations.count(_PARTS, 1, "pred")
    if len(ref.side.codes):
        observations.count(_PARTS, 1, "ref")
    is_pred_named_as_truth = _is_file_named(pred, _TRUTH_WORDS)
    if is_pred_named_as_truth and _is_file_named(ref, _PREDICTION_WORDS):
        observations.count(SWAPPED, 1, "names")
    if ref.side.scores is not None and pred.side.scores is None:
        observations.count(SWAPPED, 1, "scores")
    if pred.is_coco_instances and not ref.is_coco_instances:
        observations.count(SWAPPED, 1, "coco")
    return observations


def _is_file_named(lists: Lists, words: set[str]) -> bool:
    """Return whether an input is a file whose name contains one of these words."""
    name = PurePath(lists.source).name
    if "." not in name:
        return False
    parts = re.split(r"[^a-z]+", name.lower())
    # "ground_truth.json" has the word "groundtruth".
    first_two = "".join(parts[:2])
    return not words.isdisjoint([*parts, first_two])


def swapped_facts(observed: Observations) -> list[Fact]:
    """Return a note on each sign of swapped sides that all parts of the data have."""
    n_parts = observed.number(_PARTS)
    notes = []
    for sign, text in _SIGNS.items():
        if observed.has(SWAPPED, sign) and observed.number(SWAPPED, sign) == n_parts:
            notes.append(Fact("swapped-sides", values={"sign": text}))
    return notes


def observe_words(side: str, n_words: int, n_entries: int) -> Observations:
    """Observe how many words the entries of a side have.

    Parameters
    ----------
    side : {"pred", "ref"}
    n_words : int
        The words of all entries.
    n_entries : int
    """
    observations = Observations()
    observations.count(_WORDS, 1, side)
    observations.count(_WORDS, n_words, side, "words")
    observations.count(_WORDS, n_entries, side, "entries")
    return observations


def word_facts(
    code: str, observed: Observations, side: str, noun: str, where: str = ""
) -> list[Fact]:
    """Return a note on the mean number of words, if all parts of the data observed words.

    Parameters
    ----------
    code : str
        The key of the message.
    observed : Observations
    side : {"pred", "ref"}
    noun : str
        The name of the side in the message.
    where : str
    """
    n_parts = observed.number(_PARTS, side)
    if not observed.has(_WORDS, side) or observed.number(_WORDS, side) != n_parts:
        return []
    n_words = observed.number(_WORDS, side, "words")
    n_entries = observed.number(_WORDS, side, "entries")
    mean = n_words / max(1, n_entries)
    return [Fact(code, 0, (), where, {"side": noun, "mean": mean})]


def count_parts(observed: Observations, side: str) -> int:
    """Return how many parts of the data have entries on a side."""
    return observed.number(_PARTS, side)
