"""Which options each function and command takes.

`OPTIONS` has the options of `semmetrics.score`, `READING` the options that describe how files are
read, and `OPTIONS_OF_FUNCTION` the options that each function or command shares with `semmetrics.score`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.options.choices import (
    CAPTIONS,
    COLUMNS,
    DATA,
    EMBEDDINGS,
    FILES_OF_SIDE,
    FOR_LABELS,
    FOR_RETRIEVAL,
    KINDS,
    MEASURES,
    TITLES,
)
from semmetrics.options.keywords import Options
from semmetrics.options.option import Option, name_options
from semmetrics.options.reading import Reading


def _read_annotations(names: Iterable[str]) -> dict[str, Option]:
    """Return the options with these names, from the annotations of `keywords.Options`."""
    options = {}
    for name in names:
        (option,) = Options.__annotations__[name].__metadata__
        options[name] = option
    return name_options(**options)


SHARED_READING = _read_annotations(Reading.__annotations__)
"""The options for reading the files of both sides: the fields of `semmetrics.ReadOptions`."""
SIDES = {"pred": "predictions", "gt": "ground truth"}
"""The two sides of a score, by the prefix of the options for one side."""
SIDED = (
    "format",
    *(f"{role}_column" for role in ("id", *COLUMNS)),
    "delimiter",
    "label_delimiter",
)
"""The options for reading files that may differ between the sides."""


def _reading_of_side(side: str) -> dict[str, Option]:
    """Return the options for reading the files of one side, such as ``pred_id_column``."""
    options = {}
    for name in SIDED:
        shared = SHARED_READING[name]
        help_text = f"{shared.flag}, only for the {SIDES[side]}."
        flags = (f"--{side}-{shared.flag.removeprefix('--')}",)
        options[f"{side}_{name}"] = shared._replace(
            help=help_text, group=FILES_OF_SIDE, flags=flags
        )
    return options


READING = SHARED_READING | name_options(
    **_reading_of_side("pred"), **_reading_of_side("gt")
)
"""All options for reading files, including the options for one side."""


OPTIONS: Mapping[str, Option] = _read_annotations(
    name for name in Options.__annotations__ if name not in READING
)
"""The options of `semmetrics.score`, except the options for reading files."""


def select_options(
    *without: str,
    groups: Iterable[str] = (*TITLES, ""),
    kinds: Iterable[str] = KINDS,
    **defaults: Any,
) -> dict[str, Option]:
    """Select the options of a score that belong to some groups and apply to some kinds of data.

    Parameters
    ----------
    *without : str
        Names of options to leave out.
    groups : iterable of str
        Headings, or "" for the options that exist only in Python.
    kinds : iterable of str
    **defaults
        Other defaults for some of the options.
    """
    wanted_groups = set(groups)
    wanted_kinds = set(kinds)
    options = {}
    for name, option in OPTIONS.items():
        applies = not option.kinds or not wanted_kinds.isdisjoint(option.kinds)
        if name in without or option.group not in wanted_groups or not applies:
            continue
        if name in defaults:
            option = option._replace(default=defaults[name])
        options[name] = option
    return options


def options_named(*names: str) -> dict[str, Option]:
    """Return the options of a score with these names."""
    return {name: OPTIONS[name] for name in names}


_SELECTION_OPTIONS = options_named("task", "normalize", "classes", "ignore", "missing")
_SELECTION_OPTIONS |= select_options(
    "score_references",
    "keep_rows",
    groups=(EMBEDDINGS, CAPTIONS, ""),
    kinds=("labels", "captions"),
)
_SELECTION_OPTIONS["missing"] = OPTIONS["missing"]._replace(
    choices=("error", "skip"),
    help="Whether an image that a system has no answer for is an error or is left out (skip).",
)
"""The options for selecting images without references."""
_COMPETITION_OPTIONS = {
    name: option
    for name, option in _SELECTION_OPTIONS.items()
    if name not in ("task", "missing")
}
_VALUE_COMPARISON_OPTIONS = options_named("level", "seed", "read")
_VALUE_COMPARISON_OPTIONS["resamples"] = OPTIONS["resamples"]._replace(default=10_000)
_CAPTION_PAIR_OPTIONS = select_options(
    groups=(EMBEDDINGS, CAPTIONS), kinds=FOR_RETRIEVAL
)
OPTIONS_OF_FUNCTION: dict[str, Mapping[str, Option]] = {
    "score": OPTIONS,
    "compare": select_options("ci", "keep_rows", "score_references", resamples=10_000),
    "compare_values": _VALUE_COMPARISON_OPTIONS,
    "meta": select_options(
        "protocol", "ci", "ci_method", "ids", "keep_rows", "weights", "score_references"
    ),
    "correlate": options_named("ci", "level", "resamples", "seed", "read", "progress"),
    "sweep": select_options(
        "measures",
        "protocol",
        "headings",
        "threshold",
        "calibration",
        "keep_rows",
        kinds=FOR_LABELS,
    ),
    "calibrate_threshold": select_options(
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
        groups=(MEASURES, DATA, EMBEDDINGS, ""),
        kinds=FOR_LABELS,
    ),
    "calibrate_threshold_on_pairs": select_options(
        "embedding", "calibration", "taxonomy", groups=(EMBEDDINGS,), kinds=FOR_LABELS
    )
    | options_named("normalize", "read"),
    "validate": options_named("classes", "task", "read"),
    "rank": options_named("read"),
    "select_discrepant": _SELECTION_OPTIONS,
    "add_systems": _SELECTION_OPTIONS,
    "inspect_sheets": options_named("read"),
    "rank_competition": options_named("measures") | _COMPETITION_OPTIONS,
    "caption_matrix": _CAPTION_PAIR_OPTIONS,
    "caption_blocks": _CAPTION_PAIR_OPTIONS,
    "caption_top_k": _CAPTION_PAIR_OPTIONS,
    "doc-freq": options_named("tokenizer", "read"),
    "positives": options_named("read"),
    "spice parse": options_named("tokenizer", "read"),
    "embed fetch": options_named("max_words"),
    "embed convert": options_named("max_words"),
    "embed coverage": options_named(
        "classes", "lookup", "device", "max_words", "normalize", "read"
    ),
}
"""The options of a score that each function takes, or each command if it differs from its function.

A function that is not in the table takes all options. An entry made by `select_options` includes
every option that is added to its groups and kinds.
"""
OPTIONS_OF_FUNCTION["sweep_systems"] = OPTIONS_OF_FUNCTION["sweep"]
_TWO_SIDED = (
    "score",
    "compare",
    "meta",
    "sweep",
    "sweep_systems",
    "calibrate_threshold",
)


def reading_of(function: str) -> Mapping[str, Option]:
    """Return the options for reading the files of a function or command.

    They include the options for one side if the function has predictions and ground truth.

    Examples
    --------
    >>> "gt_id_column" in reading_of("score"), "gt_id_column" in reading_of("validate")
    (True, False)
    """
    if function in _TWO_SIDED or function not in OPTIONS_OF_FUNCTION:
        return READING
    return SHARED_READING
