"""Recognising the kind of data, and choosing measures for it."""

from semmetrics.messages.message import Message

MESSAGES = {
    "unknown-kind": Message(
        "the kind of data is ambiguous ({what})",
        "If each image has one class, set {opt:task={task}}. For queries, set "
        "{opt:task=retrieval}.",
    ),
    "different-kinds": Message(
        "the two sides have different kinds of data ({what})",
        "Set {opt:task} to {kinds:or}.",
    ),
    "ambiguous-kind": Message(
        "{reason} could be {kinds:or} ({what})",
        'Set {opt:task}. For single words, lists such as ["cat"] mean labels.',
    ),
    "wrong-kind": Message(
        "{names:list} cannot be computed for {kind}",
        "{hint:sentence} If the data are of another kind, set {opt:task}.",
    ),
    "protocol-of-kind": Message(
        "protocol {protocol} evaluates {kind}, not {task}",
        "Remove {opt:task}.",
    ),
    "kind-guessed": Message(
        "{understood}, read as {kind}",
        "If they are something else, set {opt:task} to {others:or}.",
    ),
    "no-items": Message(
        "no items to evaluate",
        "Check the ids of both sides and {opt:missing}.",
    ),
    "not-computed": Message("{heading}: {reason}"),
}
