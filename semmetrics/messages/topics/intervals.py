"""Confidence intervals."""

from semmetrics.messages.message import Message

MESSAGES = {
    "too-many-resamples": Message(
        "the sums of all resamples ({sums:,} columns) do not fit in 1 GiB",
        "Set {opt:resamples} to {fit} at most, or leave out averages over labels.",
    ),
    "interval-methods": Message("interval methods: {used}"),
    "one-item": Message(
        "no interval, because there is only {what}", "Give at least two."
    ),
    "few-true-items": Message(
        "{headings}: {few:,} of {labels:label} have fewer than {least} true items "
        "({none:,} without any), too few for a reliable interval",
    ),
    "undefined-value": Message(
        "{headings}: no interval, because the value is undefined"
    ),
    "undefined-without-one": Message(
        "{headings}: no interval, because leaving out one of the {units} makes the "
        "value undefined",
    ),
    "few-decide": Message(
        "{headings}: the interval depends on few {units} and may be too narrow",
    ),
    "no-width": Message(
        "{headings}: the interval has zero width ({why}), which does not mean that "
        "the value is certain",
    ),
    "parts-apart": Message(
        "{heading} has no interval, because its parts are not resampled together",
    ),
}
