"""The tables of options: of a score, of reading files, and of each function.

The keyword of `semmetrics.score`, the flag of the command line, the error if an option does not
apply, what a protocol fixes and what a signature says all follow from these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.options.choices import (
    CAPTIONS,
    COLUMNS,
    DATA,
    FOR_LABELS,
    FOR_RETRIEVAL,
    KINDS,
    MEANING,
    READ_SIDE,
    TITLES,
    WHAT,
)
from semmetrics.options.keywords import Options
from semmetrics.options.option import Option, name_options
from semmetrics.options.reading import Reading

_hints = Options.__annotations__
SHARED_READING = name_options(
    **{name: _hints[name].__metadata__[0] for name in Reading.__annotations__}
)
"""How files of both sides are read: the fields of `semmetrics.ReadOptions`."""
SIDES = {"pred": "predictions", "gt": "ground truth"}
"""The two sides of a score, by the prefix of the options that are for one side."""
SIDED = (
    "format",
    *(f"{role}_column" for role in ("id", *COLUMNS)),
    "delimiter",
    "label_delimiter",
)
"""The options of reading that may differ between the sides."""


def _of_side(side: str) -> dict[str, Option]:
    """Return the options of reading for one side."""
    found = {}
    for name in SIDED:
        shared = SHARED_READING[name]
        text = f"{shared.flag}, only for the {SIDES[side]}."
        flags = (f"--{side}-{shared.flag.removeprefix('--')}",)
        found[f"{side}_{name}"] = shared._replace(
            help=text, group=READ_SIDE, flags=flags
        )
    return found


READING = SHARED_READING | name_options(**_of_side("pred"), **_of_side("gt"))
"""All options of reading, with those of one side."""
OPTIONS: Mapping[str, Option] = name_options(
    **{
        name: hint.__metadata__[0]
        for name, hint in _hints.items()
        if name not in READING
    }
)


def taken_options(
    *without: str,
    groups: Iterable[str] = (*TITLES, ""),
    kinds: Iterable[str] = KINDS,
    **defaults: Any,
) -> dict[str, Option]:
    """Return the options of some groups that apply to some kinds, without those that are named."""
    return {
        name: one._replace(default=defaults[name]) if name in defaults else one
        for name, one in OPTIONS.items()
        if name not in without
        and one.group in groups
        and {*(one.kinds or kinds)} & {*kinds}
    }


def options_named(*names: str) -> dict[str, Option]:
    """Return the options of a score with these names."""
    return {name: OPTIONS[name] for name in names}


_SELECTING = options_named(
    "task", "normalize", "classes", "ignore", "missing"
) | taken_options(  # no references
    "score_references",
    "keep_rows",
    groups=(MEANING, CAPTIONS, ""),
    kinds=("labels", "captions"),
)
_SELECTING["missing"] = OPTIONS["missing"]._replace(
    choices=("error", "skip"),
    help="An image that a system lacks is an error, or is left out (skip).",
)
_PAIRING = taken_options(groups=(MEANING, CAPTIONS), kinds=FOR_RETRIEVAL)
TAKEN: dict[str, Mapping[str, Option]] = {
    "score": OPTIONS,
    "compare": taken_options("ci", "keep_rows", "score_references", resamples=10_000),
    "compare_values": options_named("level", "seed", "read")
    | {"resamples": OPTIONS["resamples"]._replace(default=10_000)},
    "meta": taken_options(
        "protocol", "ci", "ci_method", "ids", "keep_rows", "weights", "score_references"
    ),
    "correlate": options_named("ci", "level", "resamples", "seed", "read", "progress"),
    "sweep": taken_options(
        "measures",
        "protocol",
        "headings",
        "threshold",
        "calibration",
        "keep_rows",
        kinds=FOR_LABELS,
    ),
    "calibrate_threshold": taken_options(
        "measures",
        "protocol",
        "headings",
        "top_k",
        "decode",
        "threshold",
        "keep_at_least",
        "calibration",
        "keep_rows",
        "progress",
        groups=(WHAT, DATA, MEANING, ""),
        kinds=FOR_LABELS,
    ),
    "calibrate_threshold_on_pairs": taken_options(
        "embedding", "calibration", "taxonomy", groups=(MEANING,), kinds=FOR_LABELS
    )
    | options_named("normalize", "read"),
    "validate": options_named("classes", "task", "read"),
    "rank": options_named("read"),
    "select_discrepant": _SELECTING,
    "add_systems": _SELECTING,
    "inspect_sheets": options_named("read"),
    "rank_competition": options_named("measures")
    | {
        name: one for name, one in _SELECTING.items() if name not in ("task", "missing")
    },
    "caption_matrix": _PAIRING,
    "caption_blocks": _PAIRING,
    "caption_top_k": _PAIRING,
    "doc-freq": options_named("tokenizer", "read"),
    "positives": options_named("read"),
    "spice parse": options_named("tokenizer", "read"),
    "embed fetch": options_named("max_words"),
    "embed convert": options_named("max_words"),
    "embed coverage": options_named(
        "classes", "lookup", "device", "max_words", "normalize", "read"
    ),
}
TAKEN["sweep_systems"] = TAKEN["sweep"]
"""The options of a score that each function takes, or a command whose function takes others.

A function that is not here takes all. `_taken` includes every new option of its groups and kinds.
"""
_TWO_SIDED = (
    "score",
    "compare",
    "meta",
    "sweep",
    "sweep_systems",
    "calibrate_threshold",
)


def reading_of(function: str) -> Mapping[str, Option]:
    """Return how the files of a function are read; with options of one side if it has two.

    Examples
    --------
    >>> "gt_id_column" in reading_of("score"), "gt_id_column" in reading_of("validate")
    (True, False)
    """
    two_sided = function in _TWO_SIDED or function not in TAKEN
    return READING if two_sided else SHARED_READING
