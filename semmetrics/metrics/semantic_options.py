"""The options of measures on embeddings: those of set measures, and the embedding's name."""

from __future__ import annotations

from dataclasses import replace

from semmetrics.metrics.definition import Option
from semmetrics.metrics.families import POLICIES
from semmetrics.metrics.set_measures import set_options

__all__ = ["bag_options", "match_options"]

_EMBEDDING = Option(
    "embedding", "embedding", "default", help="which of the embeddings given is meant"
)


def match_options(averages: tuple[str, ...], *more: Option) -> tuple[Option, ...]:
    """The options of a measure that compares labels with labels."""
    shared = [o for o in set_options(averages) if o.name not in ("labels", "absent")]
    shared = [replace(o, averages=None) if o.name == "duplicates" else o for o in shared]
    return (shared[0], *more, _EMBEDDING, *shared[1:])


def bag_options(policy: str, *more: Option) -> tuple[Option, ...]:
    """The options of a measure that compares whole lists.

    ``policy`` is the default where a list is empty; two empty lists score 1 unless it is skip.
    """
    shared = []
    for option in set_options(("example",)):
        if option.name in ("average", "duplicates"):
            continue
        default = option.default
        if option.choices == POLICIES:
            default = "1" if option.name == "empty" and policy != "skip" else policy
        shared.append(replace(option, averages=None, default=default))
    return (*more, _EMBEDDING, *shared)
