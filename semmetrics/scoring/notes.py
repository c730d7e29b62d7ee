"""Notes on scores: labels that are left out, intervals, bounds, and options without effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.lists import gather
from semmetrics.errors import Fact
from semmetrics.kinds.base import name_task
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.options import CERTAINTY, OPTIONS
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_notes import bound_notes, interval_notes, left_out_notes

INTERVAL_OPTIONS = tuple(
    name
    for name, option in OPTIONS.items()
    if option.group == CERTAINTY and name != "ci"
)
"""The options of intervals, which have no effect without ``ci``."""


def score_notes(
    scores: Sequence[Score], axes: Mapping[str, tuple[Any, str]], *, ci: bool
) -> list[Fact]:
    """Return notes on labels that are left out, on intervals and on bounds.

    Parameters
    ----------
    scores : sequence of Score
    axes : mapping from name of a task to its label axis, and "predicted" or "scored"
    ci : bool
        Whether intervals were requested.
    """
    notes: list[Fact] = []
    scores_by_task = gather((name_task(s.system, s.part), s) for s in scores)
    for name, (axis, verb) in axes.items():
        scores_of_task = scores_by_task.get(name, [])
        if scores_of_task:
            axis = scores_of_task[0].statistics
        left_out = left_out_notes(axis, scores_of_task, verb)
        notes += [replace(note, where=name) for note in left_out]
    notes += interval_notes(scores)
    if ci:
        for score in scores:
            if score.ci is None:
                notes.append(Fact("parts-apart", values={"heading": score.heading}))
    return notes + bound_notes(scores)


def idle_intervals(options: ResolvedOptions) -> list[Fact]:
    """Note the options of intervals that the user sets without requesting intervals."""
    if options.ci:
        return []
    ignored = [name for name in INTERVAL_OPTIONS if name in options.set_by_user]
    return [Fact("needs-ci", values={"option": name}) for name in ignored]
