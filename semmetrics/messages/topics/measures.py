"""Names, options and definitions of measures."""

from semmetrics.messages.message import Message

MESSAGES = {
    "function-as-measure": Message(
        "{name!r} is a function, not a measure",
        "Decorate it with @semmetrics.measure.",
    ),
    "not-a-measure": Message(
        "{text!r} is not a measure",
        "Write a name such as F1, or with options and cutoff F1(average=macro)@3.",
    ),
    "measure-option": Message("{measure} does not support {option}", "Leave it out."),
    "missing-option": Message(
        "the option {option} is missing",
        "Write {measure}({option}=…): {help}.",
    ),
    "fixed-option": Message(
        "{alias} has {fixed}, not {given!r}",
        "Write {name} with its options.",
    ),
    "comma-separated": Message(
        "{text!r} has commas between measures",
        "Separate measures by spaces: {wanted!r}.",
    ),
    "wrong-measures": Message("{n:measure} are not valid:{listed}"),
    "duplicate-measures": Message(
        "some measures are requested twice: {names:list}",
        "Name each once.",
    ),
    "name-taken": Message(
        "there is already a measure {name!r}",
        "Choose another name.",
    ),
    "reserved-option": Message(
        "{measure} cannot have options named {names:list}",
        "Choose names that semmetrics does not use.",
    ),
    "not-registered": Message(
        "the measure {name!r} is not registered",
        "Import the module that defines it.",
    ),
    "wrong-formula": Message("the formula of {measure} {problem}", "{remedy}"),
    "measure-of-kind": Message(
        "a measure of your own cannot have kind={value!r}, because its formula takes "
        "counts of labels",
        "Leave out kind, or compute a value for each item in Python and compare "
        "systems with compare_values({{item: {{system: value}}}}). See 'Measures of "
        "other data' in docs/adding-a-metric.md.",
    ),
    "outside-bounds": Message(
        "{heading} has the value {value}, outside its bounds {low} to {high}",
        "Pass bounds= to @measure.",
    ),
    "no-cutoff": Message("{measure} needs a cutoff", "Write {wanted}."),
    "counts-all": Message(
        "{measure} has no cutoff, so it counts all candidates",
        "To use a cutoff, write {measure}@1.",
    ),
    "lacks-measure": Message(
        "none of the measures has {what}",
        "Add one, such as {example}.",
    ),
    "needs-parts": Message(
        "{measure} needs {parts:list} evaluated together",
        "Set {opt:direction=both}.",
    ),
}
