"""Lists of names as one text of a signature."""

from __future__ import annotations

import re
from collections.abc import Iterable


def join_names(names: Iterable[str]) -> str:
    r"""Write names as one text of a signature, from which `split_names` reads them.

    Examples
    --------
    >>> print(join_names(["cat", "a, b"]))
    cat,a\, b
    >>> split_names(join_names(["cat", "a, b", "\\"]))
    ['cat', 'a, b', '\\']
    """
    return ",".join(re.sub(r"[\\,]", r"\\\g<0>", name) for name in names)


def split_names(text: str) -> list[str]:
    """Return the names that `join_names` wrote."""
    found = re.findall(r"(?:\\.|[^\\,])+", text, re.DOTALL)
    return [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in found]
