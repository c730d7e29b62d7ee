"""Definitions in groups, by the module that their family is of."""

from __future__ import annotations

from collections.abc import Iterable

from semmetrics.metrics.definition import Definition

__all__ = ["HIERARCHICAL", "group_of", "grouped"]

SETS, RANKING = "Sets of labels", "Rankings of labels"
SEMANTIC = "Meanings of labels (--embedding)"
BAGS = "Bags of labels and transport (--embedding)"
HIERARCHICAL = "Hierarchies of labels (--taxonomy)"
CAPTIONS = "Captions (--task captions)"
_GROUPS = {
    "families": SETS,
    "semantic": SEMANTIC,
    "soft": SEMANTIC,
    "bag_distances": BAGS,
    "bag_similarity": BAGS,
    "score_measures": RANKING,
    "hierarchical": HIERARCHICAL,
}
_OTHERS = "Other measures"


def group_of(definition: Definition) -> str:
    """The title of its group.

    Examples
    --------
    >>> from semmetrics.metrics.catalogue import DEFINITIONS
    >>> group_of(DEFINITIONS["F1"]), group_of(DEFINITIONS["LRAP"])
    ('Sets of labels', 'Rankings of labels')
    """
    if definition.task == "captions":
        return CAPTIONS
    module = type(definition.family).__module__.rpartition(".")[2]
    return _GROUPS.get(module, _OTHERS)


def grouped(definitions: Iterable[Definition]) -> dict[str, list[Definition]]:
    """Definitions by group, in the order of the groups; groups without any are left out."""
    found: dict[str, list[Definition]] = {
        title: [] for title in dict.fromkeys((*_GROUPS.values(), CAPTIONS, _OTHERS))
    }
    for definition in definitions:
        found[group_of(definition)].append(definition)
    return {title: members for title, members in found.items() if members}
