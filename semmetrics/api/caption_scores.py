"""Lists against references: from inputs to a table of scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from semmetrics.api.inputs import conventions, weights_of
from semmetrics.data.caption_task import CaptionTask
from semmetrics.data.form import ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.errors import InputError
from semmetrics.kinds.captions.reading import as_captions
from semmetrics.kinds.captions.task import join_captions, leave_one_out
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.caption_fits import (
    as_frequencies,
    fits_of,
    frozen_captions,
    unused_frequencies,
)
from semmetrics.scoring.caption_notes import caption_notes
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.planning import plan_captions, plan_protocol
from semmetrics.scoring.score import score_tasks
from semmetrics.text.remembering import Remembering
from semmetrics.text.tokenize import open_tokenizer

__all__ = ["HUMAN", "score_captions"]

HUMAN = "human"
"""The system whose candidates are references, each against the others of its image."""


def score_captions(
    systems: Mapping[str, Any],
    gts: Any,
    *,
    measures: Any = None,
    protocol: str | None = None,
    tokenizer: Any = None,
    df: Any = None,
    human: bool = False,
    missing: str | None = None,
    weights: Any = None,
    ci: Bootstrap | None = None,
    read: ReadOptions | None = None,
    keep_rows: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTable:
    """Score captions; parameters, result and errors are those of ``score_systems``."""
    settings = conventions(protocol, {"missing": missing, "tokenizer": tokenizer})
    words = Remembering(open_tokenizer(settings.pop("tokenizer", "ptb")))
    settings["weights"] = weights_of(weights, read)
    tasks, inputs = _tasks(systems, gts, words, human, settings, read)
    plan = plan_captions(measures) if protocol is None else plan_protocol(protocol)
    notes = []
    if df is not None:
        if protocol is not None:
            raise InputError(
                f"protocol {protocol} counts document frequencies on the references",
                remedy="leave df= (--df) out, or name measures instead of the protocol",
            )
        fit = as_frequencies(df)
        tasks = {name: replace(task, fits={"df": fit}) for name, task in tasks.items()}
        notes = unused_frequencies(plan.measures)
    elif human:  # weights as for the first system, and not of the references left over
        fits = fits_of(tasks[next(iter(systems))], plan.measures)
        tasks[HUMAN] = replace(tasks[HUMAN], fits=fits)
    chosen = {
        name: [frozen_captions(m, task) for m in plan.measures] for name, task in tasks.items()
    }
    scores = score_tasks(
        tasks, chosen, headings=plan.headings, ci=ci, keep_rows=keep_rows, progress=progress
    )
    notes += caption_notes(tasks, inputs, plan.measures, apart=(HUMAN,) if human else ())
    return ScoreTable(scores, plan.not_computed, notes, tasks)


def _tasks(
    systems: Mapping[str, Any],
    gts: Any,
    tokenizer: Remembering,
    human: bool,
    settings: Mapping[str, Any],
    read: ReadOptions | None,
) -> tuple[dict[str, CaptionTask], list[Lists]]:
    """The task of each system, and everything that was read."""
    ref = as_captions(gts, source="gts", options=read)
    preds = {name: as_captions(data, source=name, options=read) for name, data in systems.items()}
    tasks = {
        name: join_captions(pred, ref, tokenizer=tokenizer, **settings)
        for name, pred in preds.items()
    }
    if human:
        if HUMAN in tasks:
            raise InputError(f"a system is called {HUMAN!r} already", remedy="rename it")
        tasks[HUMAN] = leave_one_out(ref, tokenizer=tokenizer, weights=settings["weights"])
    return tasks, [*preds.values(), ref]
