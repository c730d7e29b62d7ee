"""Write lists of names into a signature, and read them back."""

from __future__ import annotations

import re
from collections.abc import Iterable


def join_names(names: Iterable[str]) -> str:
    r"""Join names by commas. Commas and backslashes in a name are escaped by a backslash.

    Examples
    --------
    >>> print(join_names(["cat", "a, b"]))
    cat,a\, b
    >>> split_names(join_names(["cat", "a, b", "\\"]))
    ['cat', 'a, b', '\\']
    """
    return ",".join(re.sub(r"[\\,]", r"\\\g<0>", name) for name in names)


def split_names(text: str) -> list[str]:
    """Split a string that was written by `join_names` into the names."""
    escaped_names = re.findall(r"(?:\\.|[^\\,])+", text, re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in escaped_names]
