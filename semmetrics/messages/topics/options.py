"""Options and arguments, their values and combinations."""

from semmetrics.messages.message import Message

MESSAGES = {
    "bad-option": Message("{setting} is not valid", "Expected {wanted}."),
    "bad-choice": Message(
        "{setting} is not valid",
        "{suggestion}Choose one of {choices:unquoted}.{hint:else }",
    ),
    "unknown-name": Message("unknown {what} {value!r}", "{remedy}"),
    "not-of-kind": Message(
        "{name:options} does not apply to {kind}",
        "{fix:else Remove it, or set {opt:task}.}",
    ),
    "not-applicable": Message(
        "{name:options} does not apply to {what}", "{fix:else Remove it.}"
    ),
    "conflicting-options": Message(
        "{names} cannot be combined",
        "Give only one of them.",
    ),
    "needs-option": Message("{what} needs {name:options}", "{fix:else Set it.}"),
    "fixed-by": Message(
        "{what} sets {names} itself",
        "Remove the option, or name measures instead.",
    ),
    "no-effect": Message("{option:options} has no effect: {why}"),
    "no-effect-on": Message("{option:options} has no effect on {on}"),
    "needs-ci": Message("{option:options} has no effect without {opt:ci=True}"),
    "other-names": Message(
        "the {what}s have different names from those in {option:options}",
        "Remove either.",
    ),
    "not-in-option": Message(
        "{n:{what}} not in {option:options}: {names:list}",
        "Add them, or remove the option.",
    ),
    "nothing-shared": Message(
        "nothing in {name:options} occurs in the data, whose {noun}s are {names:list}",
        "Give one for the same data, or remove the option.",
    ),
    "unused-weights": Message(
        "{n} of {total:sample weight} not used, because the data have no such id: "
        "{examples:list}",
    ),
    "measures-and-protocol": Message(
        "{opt:measures} and {opt:protocol} cannot be combined",
        "`semmetrics explain {protocol}` lists the measures of the protocol. Give "
        "only one of the two options.",
    ),
    "zero-weights": Message(
        "all sample weights are zero",
        "Give a positive weight to at least one item.",
    ),
    "weights-apart": Message(
        "the weights {low} and {high} differ too much",
        "Keep their ratio below 1e15.",
    ),
}
