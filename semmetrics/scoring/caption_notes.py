"""What a user is told beside the scores of captions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from semmetrics.data.caption_task import CaptionTask
from semmetrics.data.lists import Lists
from semmetrics.metrics.captions.documents import frequency_notes
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.caption_fits import frozen_captions
from semmetrics.scoring.notes import count_notes, different_items

__all__ = ["caption_notes"]


def caption_notes(
    tasks: Mapping[str, CaptionTask],
    inputs: Iterable[Lists],
    measures: Iterable[Measure],
    apart: Collection[str] = (),
) -> list[str]:
    """Notes on inputs, on the captions of each system, and on measures that say nothing of them.

    Parameters
    ----------
    tasks : mapping from system to CaptionTask
    inputs : iterable of Lists
    measures : iterable of Measure
    apart : collection of str
        Systems that are on other items by what they are.

    Returns
    -------
    list of str
    """
    notes = [f"{one.source}: {note}" for one in inputs for note in one.notes]
    for name, task in tasks.items():
        chosen = [frozen_captions(measure, task)[0] for measure in measures]
        told = count_notes(task) + frequency_notes(task, chosen)
        notes += [f"{name}: {line}" for line in dict.fromkeys(told)]
    return notes + different_items({n: task for n, task in tasks.items() if n not in apart})
