"""Codes under which tasks of label sets observe something, for the notes.

An observation has a code and details, see `semmetrics.data.observations.Observations`. A *side* is
"pred" or "ref".
"""

from __future__ import annotations

# Labels
ALIKE = "alike"
"""Labels that differ from others only by spelling.

The details are the side and "labels" (number, and a pair as an example), "items" (number of items
with such a label), or a normalisation of `STEPS` that makes the pairs equal.
"""
ENCODED = "encoding"
"""Labels of a side that are another sequence of characters with the same appearance."""
HELD = "delimiter"
"""Labels of a side that are several labels with a delimiter between them: (side, delimiter)."""
WRITTEN = "lists as text"
"""Labels of a side that are a list, or a part of one, written as text."""
MISSING = "missing values"
"""Labels of a side such as "nan" that are the only label of an item."""
LONE = "lone labels"
"""Labels that the other side does not have.

The details are the side and "alone" (number, and an example), or "all" (number of all labels of
the side).
"""
NAMED = "labels that are no numbers"
"""Counted if some label is not a number."""
SHARED = "terms of several classes"
IGNORED = "labels to ignore"
"""The labels to ignore that occur in the data."""
DIFFICULT = "difficult labels"
UNVERIFIED = "unverified cells"
LEFT_OUT = "unverified predicted labels"

# Scores and their order
SCORES = "scores"
"""Scores of predicted labels.

The details are "pred" and "low" (number below 0.5), "all" (number of scores), "highest" or "lowest"
(the score as text). "ref" is counted if the ground truth has scores other than 1.
"""
MINUS = "scores of -1"
"""Counted for "ref" if a score of the ground truth is -1."""
ORDER = "order"
"""What determines the order of predicted labels without scores.

The detail is "sorted", "columns" or "keys", which is counted, or "file", which has the names of
columns that may be scores and are not used.
"""
SCORED = "items with scores"
PROBABLE = "items with probabilities"
"""Items whose scores are probabilities before the activation."""

# Vectors and taxonomy
TERMS = "terms"
"""Terms in an embedding: (problem, embedding) has the names of terms with a problem of `FLAGS`.

("truncated", embedding) and ("known", embedding) count terms.
"""
FLAGS = ("unknown", "composed", "untuned", "zero_vectors")
"""The problems of terms in an embedding that have the names of terms."""
PLACED = "labels in the taxonomy"
WITH_PARENTS = "labels with parents in the taxonomy"

OF_WHOLE_DATA = (ALIKE, HELD, LONE, ENCODED)
"""The observations that are true only for all items together."""

STEPS = {
    "lower": "case or surrounding blanks",
    "separators": "blanks, _ or -",
    "plural": "plural",
}
"""The normalisations that make labels equal that are alike, and what they remove."""
