"""Shards: parts of the data that are evaluated separately, chosen by the hashes of the ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Ints
from semmetrics.errors import InputError

_MAX_SHARDS = 1_000_000
_MAX_DIGITS = 8


class Shard(NamedTuple):
    """One of several parts of the items. No two parts share an item.

    Attributes
    ----------
    number : int
        From 1.
    of : int
        The number of parts.

    Examples
    --------
    >>> Shard.read("3/8")
    Shard(number=3, of=8)
    """

    number: int
    of: int

    @staticmethod
    def read(text: str) -> Shard:
        """Parse a string such as "3/8".

        Raises
        ------
        InputError
            If the string has another form, or the number is not from 1 to the number of parts.
        """
        first, _, second = str(text).partition("/")
        if _is_number(first) and _is_number(second):
            shard = Shard(int(first), int(second))
            is_canonical = text == f"{shard.number}/{shard.of}"  # not 03/8
            if is_canonical and 1 <= shard.number <= shard.of <= _MAX_SHARDS:
                return shard
        wanted = "a part such as 3/8"
        raise InputError("bad-option", name="shard", value=text, wanted=wanted)

    def rows(self, hashes: Hashes) -> Ints:
        """Return the rows of the items of this part."""
        return np.flatnonzero(hashes % np.uint64(self.of) == self.number - 1)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MAX_DIGITS
