"""Scores of derived measures, from those of their terms in each part of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from semmetrics.core.hashing import mix
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.intervals import Bootstrap, Replicates, default_method
from semmetrics.scoring.score_result import Score
from semmetrics.scoring.statistics import Statistics

__all__ = ["with_derived"]


def with_derived(
    scores: Sequence[Score],
    named: Mapping[Measure, str],
    derived: Mapping[Measure, Mapping[str, Sequence[Measure]]],
    systems: Sequence[str],
    ci: Bootstrap | None,
) -> list[Score]:
    """Return the scores that were asked for, and those of derived measures behind them.

    Parameters
    ----------
    scores : sequence of Score
        With those of all terms.
    named : mapping from measure to heading
        What was asked for.
    derived : mapping from measure to its terms by part
    systems : sequence of str
    ci : Bootstrap or None

    Raises
    ------
    InputError
        If the data lack a part that a measure needs.
    """
    parts = dict.fromkeys(score.part for score in scores)
    place = {(score.system, score.part, score.measure): score for score in scores}
    made = [score for score in scores if score.measure in named]
    for measure, terms in derived.items():
        lacking = [part for part in terms if part not in parts]
        if lacking:
            raise InputError(
                f"{measure} is made of values of {' and '.join(terms)}, which are not evaluated "
                "together",
                remedy="say direction='both' (--direction both), or leave it out",
            )
        for system in systems:
            found = [place[system, part, term] for part, some in terms.items() for term in some]
            made.append(_derived(measure, named[measure], found, ci))
    return made


def _derived(measure: Measure, heading: str, terms: Sequence[Score], ci: Bootstrap | None) -> Score:
    """Return the score of a formula on other scores of one system."""
    family = measure.definition.family
    whole = _joined([term.statistics for term in terms], measure)
    value = float(family.combine(measure, [term.value for term in terms]))  # type: ignore[attr-defined]
    replicates = _replicates(measure, value, terms)
    made = None if replicates is None or ci is None else replicates.interval(ci.level, ci.method)
    return replace(
        terms[0],
        measure=measure,
        heading=heading,
        value=value,
        n=len(whole),
        ci=made,
        undefined={},
        statistics=whole,
        note="",
        part="",
        task=None,
        replicates=replicates,
        terms=tuple(terms),
    )


def _joined(parts: Sequence[Statistics], measure: Measure) -> Statistics:
    """Return statistics without sums of the items of all parts, each part once."""
    each = list({id(part): part for part in parts}.values())
    different = {
        key: dict.fromkeys(part.settings[key] for part in each if key in part.settings)
        for key in dict.fromkeys(key for part in each for key in part.settings)
    }
    settings = {key: "+".join(values) for key, values in different.items()}
    if len(different.get("direction", ())) > 1:
        settings["direction"] = "both"
    nothing = measure.definition.family.statistic(measure)
    number = sum(map(len, each))
    return replace(
        each[0],
        sums={nothing: {}},
        parts={nothing: [{}]},
        ids=range(number),
        hashes=mix(np.arange(number)),
        weights=None,
        groups=None,
        fingerprint=sum(part.fingerprint for part in each) % (1 << 64),
        settings=settings,
        counts={},
        noted=each[0].noted if len(each) == 1 else {},
    )


def _replicates(measure: Measure, value: float, terms: Sequence[Score]) -> Replicates | None:
    """Return the formula on the replicates of the terms, which must be paired."""
    found = [term.replicates for term in terms if term.replicates is not None]
    if len(found) < len(terms) or len({one.drawn for one in found}) > 1:
        return None
    if len({len(one.left_out) for one in found}) > 1:
        return None
    combine = measure.definition.family.combine  # type: ignore[attr-defined]
    return replace(
        found[0],
        values=combine(measure, [one.values for one in found]),
        value=value,
        left_out=combine(measure, [one.left_out for one in found]),
        bounds=measure.definition.bounds,
        default=default_method(measure),
        items=0.0,
    )
