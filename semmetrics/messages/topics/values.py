"""Values, shapes and counts, wherever they occur."""

from semmetrics.messages.message import Message

MESSAGES = {
    "wrong-type": Message("{value!r} is {value:type}", "Expected {wanted}."),
    "no-entry": Message(
        "{value!r} is not a {noun}",
        "Remove it. An item without {noun}s is an empty list, [].",
    ),
    "not-finite": Message(
        "{role} is {value!r}, which is not a finite number",
        "Check how it was computed.",
    ),
    "not-a-number": Message(
        "{role} is {value!r}, which is not a number",
        "{fix:else Write a number such as 0.5.}",
    ),
    "out-of-range": Message("{role} is {value!r}", "Expected {wanted}."),
    "infinite-sum": Message("the sum of {role} is infinite", "Scale them down."),
    "empty": Message("{role} is empty", "{remedy}"),
    "empty-id": Message("the id is empty", "Give the item an id."),
    "wrong-id": Message("{value!r} is not a valid id", "Use a string or an integer."),
    "null": Message("{role} is null", "{remedy}"),
    "masked": Message(
        "some values are masked",
        "Fill them in, or leave the items out.",
    ),
    "lone-surrogate": Message(
        "{role} contains half of a surrogate pair (\\ud800 to \\udfff)",
        "Write the whole character.",
    ),
    "duplicate": Message("{role} {value!r} appears twice", "Keep one."),
    "duplicate-id": Message(
        "the id {value!r} appears twice",
        "Keep one record per id.",
    ),
    "duplicate-at": Message("{role} also appears at {other}", "Keep one."),
    "duplicate-row": Message(
        "the id {value!r} appears twice",
        "Keep one row per id. If each row has one {noun}, set {flag:options} to the "
        "column of {noun}s.",
    ),
    "duplicate-row-at": Message(
        "the id also appears at {other}",
        "Keep one row per id. If each row has one {noun}, set {flag:options} to the "
        "column of {noun}s.",
    ),
    "nothing-left": Message(
        "{role} {value!r} is empty after normalization",
        "{remedy}",
    ),
    "wrong-shape": Message("{role} has shape {shape}", "Expected {wanted}."),
    "vector-as-matrix": Message(
        "{role} has shape {shape}, so it has no rows and columns",
        "For one class per image, give integers and set {opt:task=classes}. For label "
        "sets, give a matrix of items x classes. For retrieval, give lists of "
        "positives: [[0], [2]].",
    ),
    "wrong-dtype": Message("{role} has dtype {dtype}", "Expected {wanted}."),
    "wrong-count": Message("got {found} for {wanted}", "{fix:else Give one for each.}"),
    "classes-of-columns": Message(
        "the matrix has {n_columns:column}, but there are {n_classes:class}",
        "{fix:else Give one class for each column.}",
    ),
    "several-classes": Message(
        "an image has {n:class}, but classification needs one class per image",
        "Keep one, or measure label sets: Jaccard (example-based accuracy) or "
        "SubsetAccuracy (accuracy_score in scikit-learn).",
    ),
    "nothing-given": Message("there are no {what}", "{remedy}"),
}
