"""What can be evaluated: one folder and one record a kind.

Conventions
-----------
Everything that differs between kinds stands in the folder of the kind and is reached through its
record. Nothing else asks what is evaluated.
"""

from __future__ import annotations

import importlib

from semmetrics.kinds.kind import Kind
from semmetrics.options import KINDS

__all__ = ["find_kind"]


def find_kind(name: str) -> Kind:
    """Load the record of a kind.

    Examples
    --------
    >>> find_kind("labels").name
    'labels'
    """
    module = importlib.import_module(f"semmetrics.kinds.{KINDS[KINDS.index(name)]}.record")
    kind: Kind = module.KIND
    return kind
