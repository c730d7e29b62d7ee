"""What to compute: from a user's measures, cutoffs and decoding rules to a list of measures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.scoring.parse import parse_all
from semmetrics.scoring.protocols import Plan, find_protocol

__all__ = ["DEFAULT_LISTS", "DEFAULT_SCORES", "plan_measures", "plan_protocol"]

DEFAULT_LISTS = ("F1", "Precision", "Recall", "Jaccard", "SubsetAccuracy", "MicroF1", "MacroF1")
DEFAULT_SCORES = ("mAP", "LRAP", "RankingLoss", "CoverageError")


def plan_protocol(
    name: str,
    *,
    top_k: Sequence[int] = (),
    rules: Sequence[str | None] = (None,),
    min_labels: int = 0,
    n_classes: int | None = None,
) -> Plan:
    """The measures of a protocol, under each decoding rule."""
    protocol = find_protocol(name)
    plans = [protocol.plan(tuple(top_k), n_classes, rule, min_labels) for rule in rules]
    headings = [
        heading if len(rules) == 1 else f"{heading} [{rule}]"
        for plan, rule in zip(plans, rules, strict=True)
        for heading in plan.headings
    ]
    return Plan([m for p in plans for m in p.measures], headings, plans[0].not_computed)


def plan_measures(
    texts: Iterable[str | Measure | Definition] | None,
    *,
    ranked: bool,
    top_k: Sequence[int] = (),
    rules: Sequence[str | None] = (None,),
    min_labels: int = 0,
) -> Plan:
    """Named measures, or the default ones, at each cutoff and under each decoding rule.

    Parameters
    ----------
    texts : iterable of str, Measure or Definition, or None
        None takes the defaults of the kind of input.
    ranked : bool
        Whether predictions are scores without a decision.
    top_k : sequence of int
        For the measures without a cutoff of their own.
    rules : sequence of str or None
        For the measures without a decoding rule of their own.
    min_labels : int

    Returns
    -------
    Plan
    """
    if texts is None:
        sets = not ranked or bool(top_k) or rules != (None,)
        texts = DEFAULT_LISTS if sets else DEFAULT_SCORES
    chosen: dict[Measure, None] = {}
    for measure in parse_all([texts] if isinstance(texts, (str, Measure, Definition)) else texts):
        for rule in rules:
            decoded = _decoded(measure, rule, min_labels)
            cut = decoded.definition.cutoff and decoded.k is None
            for k in top_k if cut and top_k else (decoded.k,):
                chosen[decoded if k is None else decoded @ k] = None
    measures = list(chosen)
    return Plan(measures, [str(measure) for measure in measures])


def _decoded(measure: Measure, rule: str | None, min_labels: int) -> Measure:
    if measure["decode"] is None:
        return measure
    if rule is not None and measure["decode"] == "all":
        measure = measure.with_options(decode=rule)
    if min_labels and measure["min_labels"] == 0:
        measure = measure.with_options(min_labels=min_labels)
    return measure


def cutoffs_of(top_k: int | Sequence[int] | None) -> tuple[int, ...]:
    """Cutoffs as a tuple.

    Raises
    ------
    InputError
        If one is not a whole number from 1.
    """
    if top_k is None:
        return ()
    every = (top_k,) if isinstance(top_k, int) else tuple(top_k)
    bad = [k for k in every if isinstance(k, bool) or not isinstance(k, int) or k < 1]
    if bad or len(set(every)) != len(every):
        raise InputError(f"top_k={top_k!r}", remedy="give distinct whole numbers from 1")
    return every
