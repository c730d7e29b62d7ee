"""The public spellings that cases use, each written once: a rename is a change of one line here.

Cases hold the keys in braces, as in ``"score {frequencies} df.npz"``, and Python options by the
keys of ``KEYWORDS``. The names of cases hold them, too, so a rename changes no name.
"""

from __future__ import annotations

__all__ = ["KEYWORDS", "NAMES", "PUBLIC", "spelled"]

NAMES = {
    # commands
    "fit": "df",
    "pairs": "matrix",
    "coverage": "embed unknown",
    # flags
    "empty": "--unpredicted",
    "frequencies": "--df",
    "references_too": "--human",
    "most_words": "--limit",
    "keep": "--min-labels",
    "set_sizes": "--cardinality",
    "again": "--signature",
    "show_signatures": "--signatures",
    "share": "--part",
    # options of measures
    "repeats": "count",
    "once": "set",
    "each": "list",
    "kept": "min_labels",
    "counted_on": "df",
    # rules
    "by_size": "cardinality",
    "by_size_scores": "cardinality+scores",
}

KEYWORDS = {
    "empty": "unpredicted",
    "frequencies": "df",
    "references_too": "human",
    "most_words": "limit",
    "keep": "min_labels",
    "set_sizes": "cardinality",
    "share": "part",
}

PUBLIC = {"fit_frequencies": "fit_frequencies"}


def spelled(text: str) -> str:
    """A text of a case with today's spellings."""
    for key, name in NAMES.items():
        text = text.replace(f"{{{key}}}", name)
    return text
