"""Score the sums of systems whose items a `Scorer` dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from semmetrics.errors import Fact, InputError
from semmetrics.metrics.definition import model_key
from semmetrics.scoring.evaluation import Evaluation, describe_inputs, resolve
from semmetrics.scoring.fits import EvaluatedPart
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.item_sums import interval_options_of_sums
from semmetrics.scoring.score import score_parts
from semmetrics.scoring.score_notes import interval_notes
from semmetrics.scoring.statistics import Statistics, check_models
from semmetrics.scoring.system_items import SystemItems
from semmetrics.scoring.table import ScoreTable

_Parts: TypeAlias = Mapping[str, Mapping[str, EvaluatedPart]]
"""The measures and statistics, by part of the data and system."""


def score_sums(
    systems: Mapping[str, SystemItems],
    kind: str,
    options: Mapping[str, Any],
    setup: Evaluation | None,
) -> ScoreTable:
    """Score the sums of all items of some systems.

    Parameters
    ----------
    systems : mapping from name to SystemItems
        At least one, each without stored items.
    kind : str
    options : mapping from name to value
        The options of the user.
    setup : Evaluation or None
        The options, and the files and models that were opened for them. None if they cannot be
        opened here.

    Raises
    ------
    InputError
        If shards are missing, or the systems cannot be compared.
    """
    parts = _evaluated_parts(systems)
    if setup is not None:
        _check_shared(systems, setup)
    notes = []
    if _have_different_items(parts):
        notes.append(Fact("different-items-of-sums"))
    _check_embeddings(parts)
    intervals = interval_options_of_sums(resolve(kind, options))
    chosen = next(iter(systems.values())).chosen
    scores = score_parts(parts, chosen, intervals)
    has_intervals = intervals is not None
    for system, items in systems.items():
        scores_of_system = [score for score in scores if score.system == system]
        notes += items.notes(setup, system, scores_of_system, ci=has_intervals)
    notes += interval_notes(scores)
    understood = describe_inputs(_inputs_of(systems))
    unique_notes = list(dict.fromkeys(notes))
    return ScoreTable(scores, chosen.not_computed, unique_notes, understood)


def _evaluated_parts(
    systems: Mapping[str, SystemItems],
) -> dict[str, dict[str, EvaluatedPart]]:
    """Check the shards of all systems, and return their measures and statistics."""
    parts: dict[str, dict[str, EvaluatedPart]] = {}
    for system, items in systems.items():
        items.dropped.check_shards()
        for part, evaluated in items.dropped.evaluated.items():
            parts.setdefault(part, {})[system] = evaluated
    return parts


def _inputs_of(systems: Mapping[str, SystemItems]) -> list[InputBuffer]:
    """Return the predictions of all systems, and the ground truth of the last one."""
    inputs = [items.preds for items in systems.values()]
    *_, last = systems.values()
    return [*inputs, last.gts]


# ---- checks -------------------------------------------------------------------------------------


def _check_shared(systems: Mapping[str, SystemItems], setup: Evaluation) -> None:
    """Raise an error if nothing in an input such as document frequencies is in the data."""
    observations = []
    names: list[str] = []
    for items in systems.values():
        for statistics in items.dropped.statistics.values():
            observations.append(statistics.observations)
        names += items.dropped.sample_names()
    setup.kind.check_shared(observations, setup.options, names)


def _have_different_items(parts: _Parts) -> bool:
    """Return whether systems have different items.

    Raises
    ------
    InputError
        If they do, and no policy for missing items allows it.
    """
    have_different_items = False
    for systems in parts.values():
        statistics = _statistics_of(systems)
        first_name, first = next(iter(statistics.items()))
        for name, other in statistics.items():
            if other.fingerprint == first.fingerprint:
                continue
            if _must_have_same_items(first):
                values = {"other": first_name, "n": len(other), "m": len(first)}
                raise InputError("scored-on-other-items", name, **values)
            have_different_items = True
    return have_different_items


def _must_have_same_items(statistics: Statistics) -> bool:
    """Return whether the settings of a system forbid missing items."""
    settings = statistics.settings
    return settings.get("missing") == "error" and "skip" not in settings.values()


def _check_embeddings(parts: _Parts) -> None:
    """Raise an error if systems were scored with different embeddings.

    This is possible if their states were computed separately.
    """
    for systems in parts.values():
        first = next(iter(systems.values()))
        keys = []
        for measure, _ in first.measures:
            if measure["embedding"] is not None:
                keys.append(model_key(measure))
        check_models(_statistics_of(systems), keys)


def _statistics_of(systems: Mapping[str, EvaluatedPart]) -> dict[str, Statistics]:
    """Return the statistics of each system."""
    return {name: evaluated.statistics for name, evaluated in systems.items()}
