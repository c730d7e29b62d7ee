"""Ratings and preferences of people, for agreement with human judgements."""

from semmetrics.messages.message import Message

MESSAGES = {
    "not-judged": Message(
        "{value!r} is not an image with judgements",
        'Write {{"human_judgement": [{{"caption": "a dog", "rating": 4}}], '
        '"ground_truth": ["a dog runs"]}}, or [{{"id": "a", "rating": 4}}].',
    ),
    "rated-twice": Message(
        "the rater {rater!r} judges {names:list} twice, first in {other}",
        "Keep one, or use {opt:columns} to name the ids that distinguish them.",
    ),
    "ambiguous-side": Message(
        "{value!r} could be either side",
        "Rename the ids of the candidates.",
    ),
    "two-groups": Message(
        "the judgements of {value!r} are in the groups {groups:list}",
        "Leave out {opt:group_by}.",
    ),
    "only-own-reference": Message(
        "{value!r} has no reference but itself",
        "Add another reference of its image.",
    ),
    "not-pascal": Message(
        "this is not Pascal-50S: {why}",
        "Give its files as they were published.",
    ),
    "unused-judged-columns": Message(
        "{n:column} not used: {examples:list}",
        "To add rows for each value of a column, set {opt:group_by} to its name.",
    ),
    "own-references": Message(
        "{n:judgement} left out, because the candidate is one of its own references",
    ),
    "own-reference-dropped": Message(
        "{n:candidate} among their own references, compared only with the other "
        "references",
    ),
    "equal-votes": Message(
        "{n:pair} with as many votes for one side as for the other, decided at random",
    ),
    "constant-ratings": Message("all ratings are equal, so agreement is undefined"),
    "constant-side": Message(
        "the values or the ratings are all equal, so agreement is undefined",
    ),
    "other-size": Message(
        "got {n:{unit}}, but papers with {protocol} have {expected:,}",
    ),
    "unjudged": Message("skipped {n:judgement} without a value or preference"),
    "untested-group": Message(
        "no p-value, because Williams' test needs {n} {unit:plural} with values of "
        "both measures",
    ),
    "one-image": Message(
        "all {unit:plural} belong to one image, so neither intervals nor tests are possible",
    ),
    "dependent-judgements": Message(
        "Williams' test treats {n} {unit:plural} of {images} images as independent",
        "Use {opt:test=bootstrap} to avoid this assumption.",
    ),
    "reserved-group": Message(
        "a group is named {name!r}, which is the name of the row for all groups",
        "Rename the group.",
    ),
    "unmatched-ids": Message(
        "{n:id} not among {role}: {lacking:list} ({known:list} exist)",
        "Correct the ids, or select the part to compare with {opt:ids}.",
    ),
    "no-common-pairs": Message(
        "the file does not contain any of the rated pairs, such as {pair} (it has {there})",
        "Name the columns of ids with {opt:columns}, or their common part with "
        "{opt:ids}.",
    ),
}
