"""From prepared tasks to scores: fit, evaluate, aggregate."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from semmetrics.errors import InputError
from semmetrics.metrics.families import terms_of
from semmetrics.options import ResolvedOptions
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.fits import fit_measures, naming
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.plan import CERTAINTY, Prepared
from semmetrics.scoring.result import Score, score_statistics, with_derived


def score_prepared(prepared: Prepared) -> list[Score]:
    """Score prepared tasks.

    Returns
    -------
    list of Score
        Part by part, system by system, measures in the order given.
    """
    options, plan = prepared.options, prepared.plan
    ci, progress = _bootstrap(options), options["progress"]
    keep_rows = options["keep_rows"] or ci is not None  # intervals need them
    named = dict(zip(plan.measures, plan.headings, strict=True))
    derived = {measure: terms for measure in named if (terms := terms_of(measure))}
    scores: list[Score] = []
    for part in dict.fromkeys(part for parts in prepared.tasks.values() for part in parts):
        tasks = {name: parts[part] for name, parts in prepared.tasks.items() if part in parts}
        needed = [term for of in derived.values() for term in of.get(part, ())]
        wanted = list(dict.fromkeys([*(m for m in named if m not in derived), *needed]))
        fitted = fit_measures(tasks, wanted, prepared.calibrations)
        statistics = {}
        for name, task in tasks.items():
            with naming(name * (len(tasks) > 1)):
                measures = [measure for measure, _ in fitted[name]]
                statistics[name] = evaluate(task, measures, keep_rows=keep_rows, progress=progress)
        headings = [f"{part} {named.get(m, str(m))}".lstrip() for m in wanted]
        made = score_statistics(statistics, fitted, headings=headings, ci=ci, progress=progress)
        scores += [replace(score, part=part, task=tasks[score.system]) for score in made]
    return with_derived(scores, named, derived, list(prepared.tasks), ci) if derived else scores


def _bootstrap(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals are made; None without."""
    ci, given = options["ci"], {name: options[name] for name in CERTAINTY}
    if isinstance(ci, Bootstrap):
        own = {**asdict(ci), "ci_method": ci.method}
        for name, value in given.items():
            if name in options.given and value != own[name]:
                raise InputError("conflicting-options", names=f"ci={ci!r} and {name}={value!r}")
        return ci
    if not isinstance(ci, (bool, np.bool_)):
        raise InputError(
            "bad-option", name="ci", value=ci, wanted="True, with the level as level=0.9"
        )
    made = Bootstrap(method=given.pop("ci_method"), **given)
    return made if ci else None
