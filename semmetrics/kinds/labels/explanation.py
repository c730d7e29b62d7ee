"""Explain measures and protocols for label sets."""

from __future__ import annotations

from typing import Any

from semmetrics.metrics.definition import Definition
from semmetrics.options import OPTIONS


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return the effect of a cutoff, and whether the order of labels and sides matters."""
    cutoff = "none"
    if definition.cutoff:
        cutoff = f"{definition.name}@5 takes the first 5 predictions"
    sides = _matters(is_invariant=definition.symmetric)
    order = _matters(is_invariant=definition.order_invariant)
    traits = f"which side predicts {sides}; the order of labels in a list {order}"
    return {"cutoff": cutoff, "traits": traits}


def _matters(*, is_invariant: bool) -> str:
    """Write whether something matters to a measure."""
    if is_invariant:
        return "does not matter"
    return "matters"


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and which predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k) or "none"
    top_k = OPTIONS["top_k"].both
    return {
        "cutoffs": f"{cutoffs} unless {top_k} says otherwise",
        "predictions": _explain_predictions(protocol),
    }


def _explain_predictions(protocol: Any) -> str:
    """Write which predictions a protocol takes."""
    threshold = OPTIONS["threshold"].both
    decode = OPTIONS["decode"].both
    if not protocol.decode:
        return "label lists, ranked by their scores if they have any"
    if "{logits}" in str(protocol.entries):
        return f"logits, which predict a label from 0, or scores from {threshold}"
    return f"label lists, or scores that {threshold} or {decode} make sets of"
