"""The kinds of data that can be evaluated: labels, captions, retrieval and classes.

Each kind has a package of its own with a subclass of `semmetrics.kinds.base.Kind`, which
`find_kind` returns. The modules of this package are used by several kinds.
"""

from __future__ import annotations

import importlib

from semmetrics.kinds.base import Kind
from semmetrics.kinds.recognition import Resolved as Resolved
from semmetrics.kinds.recognition import find_recogniser
from semmetrics.kinds.recognition import resolve_kind as resolve_kind
from semmetrics.options import KINDS


def find_kind(name: str) -> Kind:
    """Load a kind by its name.

    Raises
    ------
    ValueError
        If there is no kind of that name.
    NotImplementedError
        If the package of the kind has no function ``recognise``.

    Examples
    --------
    >>> find_kind("labels").name
    'labels'
    """
    if name not in KINDS:
        raise ValueError(f"unknown kind {name!r}")
    if find_recogniser(name) is None:
        raise NotImplementedError(
            f"semmetrics.kinds.{name} has no function 'recognise', which "
            "semmetrics.kinds.recognition describes"
        )
    module = importlib.import_module(f"semmetrics.kinds.{name}.kind")
    kind: Kind = module.KIND
    return kind
