"""Comparisons, rankings, figures and competitions."""

from semmetrics.messages.message import Message

MESSAGES = {
    "ids-as-systems": Message(
        "expected {{name: predictions}}, but the names are the ids of the ground truth",
        'Give each system a name, such as {{"ours": preds, "baseline": other}}.',
    ),
    "summary": Message(
        "the {what} {name!r} looks like a mean, a deviation or a size, not like "
        "values to compare",
        "Remove it. If it has values to compare, rename it.",
    ),
    "too-few-compared": Message("got {n:system}", "Give at least two to compare."),
    "unlike-runs": Message(
        "the runs differ in {what}: {names:list}",
        "Score all of them the same way.",
    ),
    "too-few-systems": Message(
        "there are {systems} systems on {rows} datasets",
        "Give at least two of each.",
    ),
    "unlike-items": Message(
        "the systems have different items: {only}",
        "Give the same items for all, or set {opt:missing=common} for the items that "
        "all have.",
    ),
    "unlike-images": Message(
        "the systems have different images: {only}",
        "Give the same images for all, or set {opt:missing=skip}.",
    ),
    "different-items": Message(
        "systems are scored on different items",
        "To use only the items that all have, set {opt:missing=common}.",
    ),
    "different-items-of-sums": Message(
        "systems are scored on different items",
        "To use only the items that all have, set {opt:missing=common}, and score all "
        "systems in one call (without --stream and states, or in Python without "
        "keep_rows=False).",
    ),
    "not-in-all": Message(
        "{n:item} left out, missing from another system",
    ),
    "references-as-system": Message(
        "there are several captions per image, like references",
        "Give the references last.",
    ),
    "not-paired": Message(
        "its resamples are not paired",
        "Remove it, or compare its parts.",
    ),
    "too-few-for-test": Message(
        "{test} needs {least} {unit:plural}, but there are {n}",
        "Give more, or use another test.",
    ),
    "test-does-not-fit": Message(
        "the {test} needs {what}",
        "Set {opt:test=interval} or {opt:test=randomization}.",
    ),
    "not-comparable": Message(
        "these are not the resampled scores of one system",
        "Score the system with {opt:ci=True}.",
    ),
    "scored-otherwise": Message(
        "{what} differ from {other}",
        "Score both the same way.",
    ),
    "scored-on-other-items": Message(
        "the items or the ground truth differ from {other} ({n:item} here, {m} there)",
        "Score both on the same items and ground truth, for example with "
        "{opt:missing=empty}. Or give the files themselves (without --stream and "
        "states), and set {opt:missing=common}.",
    ),
    "ambiguous-key": Message("{value!r} is not unique", "Choose one of {choices}."),
    "no-figure": Message(
        "the figure {name} does not suit this result: {why}",
        "{fix} You can also draw {known}.",
    ),
    "other-result": Message("this result has no {what}", "Give one of {of}."),
    "no-item-values": Message(
        "{measure} has no per-item values",
        "Use a measure that has them, such as F1.",
    ),
    "not-scores": Message(
        "this is not a list of scores",
        "Give a table, or the output of `semmetrics score --format json -o FILE`.",
    ),
    "mixed-directions": Message(
        "lower is better for {measure}, but not for all rows",
        "Rank those rows separately.",
    ),
    "lower-is-better": Message(
        "lower is better for {measure}, so it cannot be normalized",
        "Set {opt:by=rank}.",
    ),
    "unknown-direction": Message(
        "it is unclear whether higher {measure} is better",
        "Import its file (--import FILE.py).",
    ),
    "vanishing-dominance": Message(
        "the powers of the matrix vanish",
        "Let each system dominate itself by 1.",
    ),
    "no-dominance": Message(
        "the dominance over {value} is infinite",
        "Set {opt:floor}, or select more images.",
    ),
    "no-common-items": Message(
        "the systems have no item in common: {ids}",
        "Give systems that share items, or write their ids the same way.",
    ),
    "not-converged": Message("equation 7 had not converged at power {n:,}"),
    "shared-ranks": Message("{n:system} sharing a rank with another"),
    "raised-to-floor": Message("{n:score} raised to the floor {floor}"),
    "both-zero": Message("{n:pair} in which both scores are 0, treated as equal"),
}
