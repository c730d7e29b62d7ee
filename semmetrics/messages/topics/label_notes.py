"""Notes on label sets and their scores."""

from semmetrics.messages.message import Message

MESSAGES = {
    "weight-0": Message("{n:item} of weight 0 left out"),
    "empty-prediction-skipped": Message("{n:item} without a predicted label left out"),
    "shared-terms": Message("{n:term} in several classes"),
    "no-parents": Message(
        "{n:label} in the taxonomy, none with a parent, so hF counts only equal labels",
        "If the taxonomy was written as parent: children, swap both.",
    ),
    "ignored-labels-not-found": Message("{n:label} to ignore not found in the data"),
    "header-as-class": Message(
        "no item has the first class of the class list, {name!r}",
        "If it is the header of the file, remove it, because it counts as a class.",
    ),
    "ignored-file": Message(
        "the label to ignore, {name!r}, is also the name of a file",
        "To ignore the labels in the file, write @{name} on the command line, or pass "
        "the path without a list in Python.",
    ),
    "left-out-labels": Message(
        "{n:label} {how} ({verb} {predictions:time}, true {references:time})",
    ),
    "spelling": Message(
        "{n:{side} label} in {items:item} differing from others only by {ways}: "
        "{examples:unquoted}",
        "To join them, set {opt:normalize={rules}}.",
    ),
    "spelling-kept": Message(
        "{n:{side} label} in {items:item} differing from others only by {ways}: "
        "{examples:unquoted}",
        "Protocol {protocol} compares them unchanged.",
    ),
    "other-encoding": Message(
        "{n:{side} label} equal to labels of the other side only after Unicode "
        "normalisation and without invisible characters, such as {examples:unquoted}",
        "Clean both files, in Python: unicodedata.normalize('NFC', "
        "label).replace('\\u200b', '').",
    ),
    "joined-labels": Message(
        "{n:{side} label} containing {delimiter!r}{examples:such as}",
        "If it separates labels, set {opt:label_delimiter={delimiter}} for CSV, or "
        'write lists, ["cat", "dog"].',
    ),
    "lists-as-text": Message(
        "{n:{side} label} looking like a list written as a string{examples:such as}",
        "Save lists as JSON or Parquet, or join labels with ';' "
        "({opt:label_delimiter=;}).",
    ),
    "one-sided-labels": Message(
        "{n:{side} label} of {total:,} not in {other}{examples:such as}",
        "Check the spelling.",
    ),
    "sentences": Message(
        "the {side} labels have {mean:.1f} words on average",
        "If they are captions, set {opt:task=captions}.",
    ),
    "nested-labels": Message(
        "{n:item} with a list inside the list, [{example}], which is one label with "
        "several names (synonyms)",
        "If the names are separate labels, write {example}.",
    ),
    "unlike-scores": Message(
        "{n:label} in {items:item} listed with different scores, such as "
        "{examples:unquoted}",
        "The highest score counts. To count each, set duplicates=each.",
    ),
    "difficult-labels": Message(
        "{n:label} marked 0, in addition to -1 (absent) and 1 (present)",
        "They count as difficult: left out of average precision, and absent "
        "elsewhere. If 0 means absent and -1 unverified, set {opt:unknown_value=-1}.",
    ),
    "unverified-cells": Message(
        "{n:cell} not verified, left out of predictions and references",
    ),
    "unverified-labels": Message(
        "{n:predicted label} left out, because {other} does not verify whether the "
        "images have them (neg_category_ids, LVIS)",
    ),
    "true-minus": Message(
        "the scores of the ground truth are ignored, so a label with the score -1 is "
        "true",
        "If -1 marks an unverified label, set {opt:unknown_value=-1}.",
    ),
    "true-scores": Message(
        "the scores of the ground truth are ignored, and every listed label is true",
    ),
    "scores-unused": Message(
        "every listed label counts as predicted, including {n:score} of {total:,} "
        "below 0.5",
        "If the scores decide, set {opt:threshold=0.5}, or name a rule or cutoff in "
        "the measure: F1(decode=threshold:0.5), F1@3.",
    ),
    "no-probabilities": Message(
        "scores from {lowest:g} to {highest:g} are not probabilities, but the "
        "threshold {threshold} is meant for probabilities",
        "If they are logits, set {opt:activation=sigmoid}. Otherwise set the "
        "threshold on the scale of the scores.",
    ),
    "activated-probabilities": Message(
        "{scores}, so they may already be probabilities",
        "If they are, leave out {opt:activation}, which transforms them again.",
    ),
    "short-lists": Message(
        "{n:,} of {total:item} with fewer than {cutoff} predictions",
        "The denominator of {measures} is the number of predictions of the item. To "
        "divide by {cutoff} for every item, write {example}.",
    ),
    "nothing-predicted": Message(
        "no score is above the threshold {threshold} (the highest is {highest:g})",
    ),
    "order-of-labels": Message(
        "the order of predictions affects {measures}, but it is {order}",
        "Give scores, or ordered lists.",
    ),
    "order-of-file": Message(
        "labels are ranked in file order for {measures}, because no column with scores "
        "is used",
        "If {examples:list} has them, set {opt:pred_score_column={column}}.",
    ),
    "missing-labels": Message(
        "{n:{side} label}{examples:such as} without another label in the item",
        "Many programs write this for a missing value. If the item has no labels, "
        "write an empty cell or [].",
    ),
    "one-sided-columns": Message(
        "{n:column} only in the predictions or only in the ground truth: "
        "{examples:list}",
        "Each counts as a label. If it is not a label, remove it or set "
        "{opt:ignore={column}}.",
    ),
    "flag-columns": Message(
        "{n:column} with the same cells in predictions and ground truth: "
        "{examples:list}",
        "Each counts as a label. If it is not a label, remove it or set "
        "{opt:ignore={column}}.",
    ),
    "numbers-as-labels": Message(
        "the labels are numbers, compared without names",
        "Give names, or set {opt:classes}.",
    ),
    "without-entries": Message(
        "{n} of {total:item} without {noun}s: {examples:list}{numbered}",
    ),
    "repeated-entries": Message(
        "{n} of {total:item} with a repeated {noun}: {examples:list}{numbered}",
    ),
    "padded-texts": Message(
        "{n:{noun}} with leading or trailing spaces: {examples:list}",
    ),
    "hidden-characters": Message(
        "{n:{noun}} with invisible characters: {examples:list}",
    ),
    "lookalikes": Message(
        "{n:group} of {noun} differing only by case or white space: {examples:list}",
    ),
    "common-labels": Message(
        "{n:label} in more than 95% of the items: {examples:list}",
    ),
    "rare-labels": Message("{n} of {total:label} in only one item"),
    "outside-0-1": Message("{n} of {total:score} not between 0 and 1"),
    "equal-scores": Message("all scores are {score:g}"),
    "rising-scores": Message(
        "{n} of {total:item} with labels that are not in order of score: "
        "{examples:list}{numbered}",
        "The score determines the ranking, not the order in the file.",
    ),
}
