"""Derived measures: formulas on the values of other measures, from all parts of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from semmetrics.core.hashing import mix
from semmetrics.data.observations import Observations
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import Derived, terms_of
from semmetrics.scoring.intervals import Bootstrap, Replicates, default_method
from semmetrics.scoring.result import Score, add_interval
from semmetrics.scoring.score_cells import list_systems
from semmetrics.scoring.statistics import Statistics


def with_derived(
    scores: Sequence[Score],
    heading_by_measure: Mapping[Measure, str],
    ci: Bootstrap | None,
) -> list[Score]:
    """Return the scores of the requested measures, including derived ones.

    Derived scores belong to the whole data, not to a part, and come last.

    Parameters
    ----------
    scores : sequence of Score
        Including the scores of all terms.
    heading_by_measure : mapping from measure to heading
        The requested measures.
    ci : Bootstrap or None

    Raises
    ------
    InputError
        If the data do not have a part that a measure needs.
    """
    parts = list(dict.fromkeys(score.part for score in scores))
    systems = list_systems(scores)
    measures = list(heading_by_measure)
    term_scores = {(score.system, score.part, score.measure): score for score in scores}
    requested = [score for score in scores if score.measure in heading_by_measure]
    for measure, heading in heading_by_measure.items():
        terms_by_part = terms_of(measure)
        if not terms_by_part:
            continue
        if not terms_by_part.keys() <= set(parts):
            needed_parts = list(terms_by_part)
            raise InputError("needs-parts", measure=measure, parts=needed_parts)
        for system in systems:
            terms = []
            for part, measures_of_part in terms_by_part.items():
                for term in measures_of_part:
                    terms.append(term_scores[system, part, term])
            requested.append(_derive(measure, heading, terms, ci))
    ordered_parts = [*parts, ""]
    requested.sort(
        key=lambda score: (
            ordered_parts.index(score.part),
            systems.index(score.system),
            measures.index(score.measure),
        )
    )
    return requested


def _derived_family(measure: Measure) -> Derived:
    """Return the family of a measure that is computed from other measures."""
    family = measure.definition.family
    if not isinstance(family, Derived):
        raise TypeError(f"{measure} is not computed from other measures")
    return family


def _derive(
    measure: Measure, heading: str, terms: Sequence[Score], ci: Bootstrap | None
) -> Score:
    """Return the score of a derived measure, computed from the scores of its terms."""
    family = _derived_family(measure)
    statistics = _join_statistics([term.statistics for term in terms], measure)
    value = float(family.combine(measure, [term.value for term in terms]))
    score = replace(
        terms[0],
        measure=measure,
        heading=heading,
        value=value,
        n=len(statistics),
        undefined={},
        statistics=statistics,
        note="",
        part="",
        task=None,
        terms=tuple(terms),
    )
    return add_interval(score, _combine_replicates(measure, value, terms), ci)


def _join_statistics(parts: Sequence[Statistics], measure: Measure) -> Statistics:
    """Return statistics of the items of all parts, without sums. Each part counts once."""
    # Terms on the same part of the data share one object.
    part_by_id = {id(part): part for part in parts}
    distinct_parts = list(part_by_id.values())
    empty_statistic = measure.definition.family.statistic(measure)
    n_items = sum(map(len, distinct_parts))
    fingerprints = [part.fingerprint for part in distinct_parts]
    first_part = distinct_parts[0]
    observations = Observations()
    if len(distinct_parts) == 1:
        observations = first_part.observations
    return replace(
        first_part,
        sums={empty_statistic: {}},
        parts={empty_statistic: [{}]},
        ids=range(n_items),
        hashes=mix(np.arange(n_items)),
        weights=None,
        groups=None,
        fingerprint=sum(fingerprints) % (1 << 64),
        settings=_join_settings(distinct_parts),
        counts={},
        observations=observations,
    )


def _join_settings(parts: Sequence[Statistics]) -> dict[str, str]:
    """Return the settings of all parts, with different values joined by "+"."""
    values_by_key: dict[str, dict[str, None]] = {}
    for part in parts:
        for key, value in part.settings.items():
            values_by_key.setdefault(key, {})[value] = None
    settings = {key: "+".join(values) for key, values in values_by_key.items()}
    if len(values_by_key.get("direction", ())) > 1:
        settings["direction"] = "both"
    return settings


def _combine_replicates(
    measure: Measure, value: float, terms: Sequence[Score]
) -> Replicates | None:
    """Apply the formula to the replicates of the terms. None if they are not paired."""
    family = _derived_family(measure)
    replicates_of_terms = []
    for term in terms:
        if term.replicates is None:
            return None
        replicates_of_terms.append(term.replicates)
    draws = set()
    for replicates in replicates_of_terms:
        draws.add((replicates.drawn, len(replicates.left_out)))
    if len(draws) > 1:
        return None
    values = [replicates.values for replicates in replicates_of_terms]
    left_out = [replicates.left_out for replicates in replicates_of_terms]
    return replace(
        replicates_of_terms[0],
        values=family.combine(measure, values),
        value=value,
        left_out=family.combine(measure, left_out),
        bounds=measure.definition.bounds,
        default=default_method(measure),
        items=0.0,
    )
