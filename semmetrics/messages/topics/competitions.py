"""Selecting images by discrepancy, annotation sheets and votes."""

from semmetrics.messages.message import Message

MESSAGES = {
    "votes": Message("this is a sheet of votes", "Run `semmetrics mad inspect`."),
    "too-few-images": Message(
        "{n:image} with a value of {measure}, fewer than k={k}",
        "Choose a smaller k.",
    ),
    "total-too-small": Message(
        "one image for each pair is {least:image}, more than a total of {total}",
        "Increase {opt:total}, or compare fewer systems.",
    ),
    "odd-pictures": Message(
        "{n:picture} whose content is not JPEG, PNG, WebP, GIF or BMP, which browsers "
        "may not show{examples:such as}",
        "Save pictures in one of these formats.",
    ),
    "missing-pictures": Message(
        "{n:image} without a picture here: {names:list}",
        "Give the folder of the pictures, or a path such as 'images/{{id}}.jpg' or "
        "'images/{{id:012d}}.jpg' (ids of 12 digits, with leading zeros). To leave "
        "out these images, use {opt:exclude}.",
    ),
    "no-thumbnail": Message("{n:item} without a picture{examples:such as}: {why}"),
    "several-answers": Message(
        "got {found} for one image",
        "Give one, or use a measure of label sets, such as SemF1.",
    ),
    "systems-missing": Message(
        "{n:system} of the competition missing: {systems:list}",
        "Give all of them.",
    ),
    "other-systems": Message(
        "the systems differ from the first batch",
        "Give each of {systems:list}.",
    ),
    "not-a-state": Message(
        "this is not the state of a competition",
        "Give a file from `semmetrics mad select`.",
    ),
    "state-edited": Message(
        "the state was edited after it was written",
        "Select the images again.",
    ),
    "state-differs": Message(
        "the state was selected with something else: {what}",
        "Give the same as before, or select again.",
    ),
    "give-again": Message(
        "the state was selected with {what}, which it does not store",
        "Set {name:options} again.",
    ),
    "not-annotated": Message(
        "{n:image} not annotated: {images:list}",
        "Fill them in, or set {opt:missing=skip}.",
    ),
    "not-a-sheet": Message(
        "this is not a sheet of {wanted}",
        "Give such a sheet, or use {name:options}.",
    ),
    "foreign-rows": Message(
        "rows of other {noun}s: {examples:list}",
        "Remove them, or set {opt:missing=skip}.",
    ),
    "no-stability": Message("the first {k} images of each pair give no ranks ({why})"),
    "images-not-annotated": Message("{n:image} not annotated, left out"),
    "unknown-exclusions": Message(
        "{n:image} to exclude that no system has: {examples:list}",
    ),
    "same-answers": Message(
        "the answers are the same for all {n:image}, so nothing distinguishes the "
        "systems",
    ),
    "ties-decide": Message(
        "{n:pair} for which ties affect the selection: images with the same value as "
        "the last selected one are chosen by {ties} (for {pair}, {taken} of {tied:,})",
    ),
    "undefined-pairs": Message("{n:value} of pairs undefined, and not selected"),
    "empty-answers": Message("{n:empty {noun}}"),
    "images-left-out": Message(
        "{n:image} left out, missing from at least one system",
    ),
    "references-not-used": Message(
        "references of {n:image} that were not selected, not used",
    ),
    "foreign-rows-ignored": Message(
        "rows of other {noun}s, not used: {n} ({examples:list})",
    ),
}
