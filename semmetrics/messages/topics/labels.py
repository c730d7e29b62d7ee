"""Label sets: labels, scores of labels, taxonomies and label measures."""

from semmetrics.messages.message import Message

MESSAGES = {
    "merged-names": Message(
        "{names:list} become {term!r} after normalization",
        "Rename one, or change {opt:normalize}.",
    ),
    "differ-by-blanks": Message(
        "{names:list} differ only by spaces",
        "Write the name in one way.",
    ),
    "number-as-label": Message(
        "{value!r} is a number, not a label",
        "If each row has a 0 or 1 per label, pass numpy.array(rows) or save it as "
        '.npy. If numbers are names, write them as strings, such as "{value}". For '
        "the names of a class list set {opt:classes}, for one class per image set "
        "{opt:task=classes}, and for positives of queries set {opt:task=retrieval}.",
    ),
    "vector-as-labels": Message(
        "the labels {value} are a 0 or 1 per class",
        "Set {opt:classes} to the list of classes, or save the vectors with "
        "numpy.save as .npy. If 0 and 1 are names of labels, write lists of strings, "
        'such as ["1", "0"].',
    ),
    "number-as-list": Message(
        "{value!r} is a number, not a list of {noun}s",
        "Write a list for each item: {example}.",
    ),
    "text-as-list": Message(
        "{value!r} is a string, not a list of {noun}s",
        "Write {example}.",
    ),
    "ambiguous-rows": Message(
        "rows of a 0 and a 1 could be two labels or 0/1 values",
        "Write class names, or pass numpy.array(rows, dtype=float).",
    ),
    "no-scores": Message(
        "{what} needs a score for each predicted label{given}",
        "Add scores ({opt:score_column} names their column{unused}){remedy}.",
    ),
    "no-rule": Message(
        "{measure} compares sets of labels, but the predictions are scores",
        "Set {opt:threshold=0.5}, add a cutoff (F1@3), or give sets of labels.",
    ),
    "outside-taxonomy": Message(
        "the taxonomy does not contain {names:list}",
        "Add them, or make them roots: unknown=own.",
    ),
    "cycle": Message(
        "the links form a cycle: {names}",
        "Remove one of its links.",
    ),
    "too-many-ancestors": Message(
        "the taxonomy has over {limit} pairs of a name and an ancestor",
        "Remove some names.",
    ),
    "own-parent": Message("{value!r} is its own parent", "Remove the link."),
    "no-wordnet": Message(
        "nltk has no WordNet data",
        "Run `python -m nltk.downloader wordnet`{instead}.",
    ),
    "not-wordnet": Message(
        "these are not the nouns of WordNet: {why}",
        "Give the folder with data.noun and index.noun.",
    ),
    "fractional-members": Message(
        "the score {value} is neither 0 nor 1",
        "Leave out {opt:scores=members}.",
    ),
    "truth-of-scores": Message(
        "the ground truth is a matrix of scores",
        "Give 0/1 or lists. If the order of the sides is wrong, swap them: "
        "predictions come first.",
    ),
    "not-probabilities": Message(
        "{value:unquoted} are not probabilities of set sizes",
        "Make each row sum to 1.",
    ),
    "cells-as-labels": Message(
        "the labels {names:list} look like a matrix stored as strings: each item has "
        "{columns}, as many as {other} has columns",
        "Convert them to numbers with numpy.array(rows, dtype=float), which numpy.save "
        "writes as .npy. If they are labels, set {opt:classes}.",
    ),
    "unnamed-columns": Message(
        "the columns have no names, but the labels of {other} are {names:list}",
        "Set {opt:classes}.",
    ),
    "unnamed-widths": Message(
        "the columns have no names, and there are {mine} in the predictions but "
        "{theirs} in the ground truth",
        "Set {opt:classes}.",
    ),
    "unverified-cell": Message(
        "{value!r} is neither 0/1 nor a score from 0 to 1",
        "If it marks an unverified label of the ground truth, set "
        "{opt:unknown_value=-1}, or nan for empty cells.",
    ),
    "empty-truth-cell": Message(
        "{value!r} is neither 0 nor 1",
        "If it marks an unverified label, set {opt:unknown_value=nan}. Otherwise "
        "write 0 or 1.",
    ),
    "counts-unverified": Message(
        "{measure} counts q labels of every item, but the ground truth has "
        "neg_category_ids, so not all of them are verified (LVIS)",
        "Choose another measure, or remove neg_category_ids.",
    ),
}
