"""Similarity thresholds and their calibration."""

from semmetrics.messages.message import Message

MESSAGES = {
    "near-threshold": Message(
        "{n:pair} of labels within 1e-6 of the threshold {threshold!r}",
    ),
    "near-thresholds": Message(
        "up to {n:pair} of labels within 1e-6 of each of {thresholds} thresholds",
    ),
    "uncalibrated": Message(
        "the threshold {threshold:g} of word2vec is not calibrated for {model}",
        "Calibrate a threshold on part of the data (semmetrics calibrate), and set "
        "{opt:calibration}.",
    ),
    "unused-calibration": Message(
        "the calibration for {embedding} is not used, because no measure has "
        "threshold=auto",
    ),
    "other-calibration": Message(
        "the threshold was calibrated with {name}:{was}, but is used with {name}:{now}",
    ),
    "unversioned-calibration": Message(
        "{embedding} has no version",
        "Check that it is the calibrated one.",
    ),
    "calibration-items-unknown": Message(
        "the items have no ids, so they cannot be compared with the items of the "
        "calibration",
    ),
    "calibration-items": Message(
        "{n:,} of {total:scored item} also used to calibrate the threshold",
    ),
    "all-pairs-alike": Message(
        "all pairs are on the same side of the threshold, so it separates nothing",
        "Try {opt:criterion=youden}, or another embedding.",
    ),
    "few-pairs": Message(
        "few pairs determine the threshold: {same:,} with the same meaning and "
        "{others:,} with different meanings",
        "Give at least {least} of both.",
    ),
    "few-items": Message(
        "few items determine the threshold: {n:,} of {total:,} in the holdout",
        "Use at least {least}.",
    ),
    "not-a-calibration": Message(
        "this is not a valid calibration: {why}",
        "Write one with `semmetrics calibrate -o FILE`.",
    ),
    "other-embedding": Message(
        "{measure} uses {embedding}, but the calibration is for {known:list}",
        "Calibrate this embedding, use the calibrated one with {opt:embedding}, or "
        "write the threshold: {name}(threshold=0.5).",
    ),
    "pairs-of-one-kind": Message("all {n:pair} mean {what}", "Add pairs that do not."),
    "equal-pairs": Message(
        "all pairs are equally similar{unknown}",
        "Give other pairs, or use another embedding.",
    ),
    "small-holdout": Message(
        "the holdout has {n} of {of:item}",
        "Increase {opt:holdout}, up to 1.",
    ),
    "undefined-on-holdout": Message(
        "{measure} is undefined on the holdout",
        "Increase {opt:holdout}.",
    ),
    "no-contrast": Message(
        "{measure} is never higher with an item's own references than with another "
        "item's{unknown}",
        "Increase {opt:holdout}, or calibrate on labelled pairs.",
    ),
    "no-threshold": Message(
        "this measure has no similarity threshold",
        "Use one of {measures}.",
    ),
    "bad-thresholds": Message(
        "{value!r} gives no thresholds, or too many",
        "Write a range such as 0:1:0.05, or a list such as 0.3,0.4,0.5.",
    ),
    "no-best-threshold": Message(
        "{measure} does not support decode=threshold:best",
        "Use the threshold of F1(decode=threshold:best) or "
        "SemF1(decode=threshold:best).",
    ),
}
