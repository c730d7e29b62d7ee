"""The public spellings that cases use, each written once: a rename is a change of one line here.

Cases hold the keys in braces, as in ``"score {frequencies} df.npz"``. The names of cases hold
them, too, so a rename changes no name.
"""

from __future__ import annotations

NAMES = {
    # commands
    "fit": "doc-freq",
    "pairs": "pairs",
    "coverage": "embed coverage",
    # flags
    "empty": "--empty-predictions",
    "frequencies": "--doc-freq",
    "references_too": "--score-references",
    "most_words": "--max-words",
    "keep": "--keep-at-least",
    "set_sizes": "--set-size-probs",
    "again": "--rescore",
    "show_signatures": "--show-signatures",
    "share": "--holdout",
    # options of measures
    "repeats": "duplicates",
    "once": "once",
    "each": "each",
    "kept": "keep_at_least",
    "counted_on": "df",
    # rules
    "by_size": "cardinality",
    "by_size_scores": "cardinality+scores",
}


def spelled(text: str) -> str:
    """A text of a case with today's spellings."""
    for key, name in NAMES.items():
        text = text.replace(f"{{{key}}}", name)
    return text
