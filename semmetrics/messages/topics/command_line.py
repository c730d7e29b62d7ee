"""The command line: files, outputs and named values."""

from semmetrics.messages.message import Message

MESSAGES = {
    "nothing-computed": Message(
        "no measure could be computed:{reasons}",
    ),
    "stdin-twice": Message(
        "standard input (-) is used twice",
        "Write one of them to a file.",
    ),
    "output-is-input": Message(
        "the output would overwrite an input",
        "Choose another file (GT comes last).",
    ),
    "output-is-output": Message(
        "{other} writes to the same file",
        "Give each output its own file.",
    ),
    "wrong-ending": Message(
        "the extension does not name an output format",
        "Use {known:or}.",
    ),
    "bad-spec": Message(
        "this is not a valid {metavar}",
        "Write {flag} {metavar} with a name of letters, digits, '.', '_', '+' or '-', "
        "and ./ before a path that contains '='.",
    ),
    "repeated-spec": Message(
        "the name {name!r} is missing or repeated",
        "Give each a name: {flag} NAME=SPEC.",
    ),
}
