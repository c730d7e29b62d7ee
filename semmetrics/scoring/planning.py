"""What to compute: from a user's measures, cutoffs and decoding rules to a list of measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse_all
from semmetrics.scoring.protocols import Plan, find_protocol
from semmetrics.scoring.score import NotComputed

__all__ = [
    "BY_NAME",
    "DEFAULT_CAPTIONS",
    "DEFAULT_LISTS",
    "DEFAULT_SCORES",
    "cutoffs_of",
    "plan_captions",
    "plan_measures",
    "plan_protocol",
]

_EXACT = ("F1", "Precision", "Recall", "Jaccard", "SubsetAccuracy", "MicroF1", "MacroF1")
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
DEFAULT_LISTS = (*_EXACT, *_SEMANTIC)
BY_NAME = "give labels by name, or the class list of a matrix's columns (classes=, --classes)"
_NUMBERS = f"the labels are numbers; {BY_NAME}"
DEFAULT_CAPTIONS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")
DEFAULT_SCORES = ("mAP", "LRAP", "RankingLoss", "CoverageError")


def plan_protocol(
    name: str,
    *,
    top_k: Sequence[int] = (),
    rules: Sequence[str | None] = (None,),
    min_labels: int = 0,
    n_classes: int | None = None,
    embeddings: Mapping[str, Any] = MappingProxyType({}),
) -> Plan:
    """The measures of a protocol, under each decoding rule."""
    _check_rules(rules)
    protocol = find_protocol(name)
    if min_labels and protocol.decode and set(rules) == {None}:
        raise _needs_rule(min_labels)
    plans = [protocol.plan(tuple(top_k), n_classes, rule, min_labels, embeddings) for rule in rules]
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
    named: bool = True,
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
    named : bool
        Whether some label is more than a number. Where none is, labels have no meaning to compare,
        and the semantic ones of the default measures are not computed.
    top_k : sequence of int
        For the measures without a cutoff of their own.
    rules : sequence of str or None
        For the measures without a decoding rule of their own.
    min_labels : int

    Returns
    -------
    Plan
    """
    _check_rules(rules)
    absent: list[NotComputed] = []
    if texts is None:
        sets = not ranked or bool(top_k) or rules != (None,)
        texts = (DEFAULT_LISTS if named else _EXACT) if sets else DEFAULT_SCORES
        absent = [NotComputed(name, _NUMBERS) for name in _SEMANTIC if sets and not named]
    chosen: dict[Measure, None] = {}
    for measure in parse_all([texts] if isinstance(texts, (str, Measure, Definition)) else texts):
        for rule in rules:
            decoded = _decoded(measure, rule, min_labels)
            cut = decoded.definition.cutoff and decoded.k is None
            for k in top_k if cut and top_k else (decoded.k,):
                chosen[decoded if k is None else decoded @ k] = None
    measures = list(chosen)
    if not measures:
        raise InputError("no measure is named", remedy="name one, or leave measures out")
    if min_labels and not any(measure["min_labels"] for measure in measures):
        raise _needs_rule(min_labels)
    return Plan(measures, [str(measure) for measure in measures], absent)


def plan_captions(texts: Iterable[str | Measure | Definition] | str | None) -> Plan:
    """Named measures of captions, or the default ones: those that need nothing beside the library.

    Parameters
    ----------
    texts : iterable of str, Measure or Definition, or None

    Returns
    -------
    Plan
    """
    texts = DEFAULT_CAPTIONS if texts is None else texts
    chosen = parse_all([texts] if isinstance(texts, (str, Measure, Definition)) else texts)
    measures = list(dict.fromkeys(chosen))
    if not measures:
        raise InputError("no measure is named", remedy="name one, or leave measures out")
    return Plan(measures, [str(measure) for measure in measures])


def _decoded(measure: Measure, rule: str | None, min_labels: int) -> Measure:
    if measure["decode"] is None:
        return measure
    if rule is not None and measure["decode"] == "all":
        measure = measure.with_options(decode=rule)
    if min_labels and measure["min_labels"] == 0 and measure["decode"] != "all":
        measure = measure.with_options(min_labels=min_labels)
    return measure


def _check_rules(rules: Sequence[str | None]) -> None:
    if not rules or len(set(rules)) != len(rules):
        raise InputError(f"decode={rules!r}", remedy="give one or more different decoding rules")


def _needs_rule(min_labels: int) -> InputError:
    return InputError(
        f"min_labels={min_labels} means nothing without a decoding rule",
        remedy="give decode=threshold:0.5 (--decode threshold:0.5), or leave it out",
    )


def cutoffs_of(top_k: int | Sequence[int] | None) -> tuple[int, ...]:
    """Cutoffs as a tuple.

    Raises
    ------
    InputError
        If one is not a whole number from 1.
    """
    if top_k is None:
        return ()
    every = (top_k,) if isinstance(top_k, (int, np.integer)) else tuple(top_k)
    right = [isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k > 0 for k in every]
    if not all(right) or len(set(every)) != len(every):
        raise InputError(f"top_k={top_k!r}", remedy="give distinct whole numbers from 1")
    return tuple(map(int, every))
