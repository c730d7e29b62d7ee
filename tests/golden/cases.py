"""All cases, by the file that their results are on record in."""

from __future__ import annotations

from importlib import import_module

from golden.harness import Case

_MODULES = (
    "names",
    "measures",
    "formats",
    "commands",
    "errors",
    "pickles",
    "arrays",
    "thresholds",
    "fits",
    "objects",
    "devices",
    "large",
    "retrieval",
    "classes",
)
GROUPS: dict[str, list[Case]] = {}
for _name in _MODULES:
    GROUPS |= import_module(f"golden.cases_{_name}").GROUPS
