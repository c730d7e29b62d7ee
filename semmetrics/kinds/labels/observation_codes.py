"""Codes under which tasks of label sets observe something, for the notes.

An observation has a code and details, see `semmetrics.data.observations.Observations`. A *side* is
"pred" or "ref".
"""

from __future__ import annotations

# Labels
ALIKE_LABELS = "alike"
"""Labels that differ from others only by spelling.

The details are the side and "labels" (number, and a pair as an example), "items" (number of items
with such a label), or a normalisation of `SPELLING_STEPS` that makes the pairs equal.
"""
OTHER_ENCODINGS = "encoding"
"""Labels of a side that look like a label of the other side and have other characters."""
JOINED_LABELS = "delimiter"
"""Labels that are several labels with a delimiter between them. The details are (side, delimiter)."""
LISTS_AS_TEXT = "lists as text"
"""Labels of a side that are a list, or a part of one, written as text."""
MISSING_VALUES = "missing values"
"""Labels of a side such as "nan" that are the only label of an item."""
ONE_SIDED_LABELS = "lone labels"
"""Labels that the other side does not have.

The details are the side and "alone" (number, and an example), or "all" (number of all labels of
the side).
"""
HAS_NAMES = "labels that are no numbers"
"""Counted if a label is not a number."""
SHARED_TERMS = "terms of several classes"
IGNORED_LABELS = "labels to ignore"
"""The labels to ignore that occur in the data."""
DIFFICULT_LABELS = "difficult labels"
UNVERIFIED_CELLS = "unverified cells"
UNVERIFIED_PREDICTIONS = "unverified predicted labels"

# Scores and their order
SCORES = "scores"
"""Scores of predicted labels.

The details are "pred" and "low" (number below 0.5), "all" (number of scores), "highest" or "lowest"
(the score as text). "ref" is counted if the ground truth has scores other than 1.
"""
MINUS_ONE_SCORES = "scores of -1"
"""Counted for "ref" if a score of the ground truth is -1."""
LABEL_ORDER = "order"
"""What determines the order of predicted labels without scores.

The detail is "sorted", "columns" or "keys", which is counted, or "file", which has the names of
columns that may be scores and are not used.
"""
ITEMS_WITH_SCORES = "items with scores"
ITEMS_WITH_PROBABILITIES = "items with probabilities"
"""Items whose scores are probabilities before the activation."""

# Vectors and taxonomy
EMBEDDED_TERMS = "terms"
"""Terms in an embedding.

The details are a problem of `TERM_PROBLEMS` and the embedding (names of terms), or "truncated" or
"known" and the embedding (number of terms).
"""
TERM_PROBLEMS = ("unknown", "composed", "untuned", "zero_vectors")
"""Problems of terms in an embedding."""
LABELS_IN_TAXONOMY = "labels in the taxonomy"
LABELS_WITH_PARENTS = "labels with parents in the taxonomy"

OF_WHOLE_DATA = (ALIKE_LABELS, JOINED_LABELS, ONE_SIDED_LABELS, OTHER_ENCODINGS)
"""The observations that are true only for all items together."""

SPELLING_STEPS = {
    "lower": "case or surrounding spaces",
    "separators": "spaces, _ or -",
    "plural": "plural",
}
"""The normalisations that labels may differ by, and the difference as messages call it."""
