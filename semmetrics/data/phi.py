"""phi: how similar in meaning queries and candidates are, a matrix beside their scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from semmetrics.core.ragged import Ints, as_slice
from semmetrics.frozen import dataclass

__all__ = ["DEPTH", "MOST", "PHI", "Phi", "computed_as", "fingerprint", "phi_identities"]

PHI, DEPTH, MOST = "phi", "depth", "most similar"
"""What a retrieval task has beside it: matrices by name, how deep rankings and lists of the most
similar items are needed."""

_PART = 1 << 26  # bytes that are hashed at a time


@dataclass(frozen=True, eq=False)
class Phi:
    """A matrix of similarities in meaning, and how a task's queries lie in it.

    Attributes
    ----------
    matrix : array, shape (rows, columns) of the run
    queries : {"rows", "columns"}
        What of it the queries of the task are.
    place : int array
        The row (or column) of each row of the run; -1 for none.
    identity : str
        Its shape and a hash of its values; of one that was computed also how.
    """

    matrix: Any
    queries: Literal["rows", "columns"]
    place: Ints
    identity: str

    def places(self, rows: Ints) -> Ints:
        """Return where queries lie that have those rows of the run; -1 for none."""
        return np.where(rows >= 0, self.place[rows], -1)

    def part(self, rows: Ints, candidates: Ints, identity: str) -> Phi:
        """Return the part of some rows of the run, and of some candidates, which rise.

        It is looked at where it lies, if it is a block.
        """
        places = self.places(rows)
        kept = np.unique(places[places >= 0])
        sides = (kept, candidates) if self.queries == "rows" else (candidates, kept)
        first, second = map(as_slice, sides)
        matrix = self.matrix[first][:, second]
        place = np.full(len(self.place), -1)
        place[rows[places >= 0]] = np.searchsorted(kept, places[places >= 0])
        return Phi(matrix, self.queries, place, identity)


def fingerprint(matrix: Any) -> str:
    """Return the shape of a matrix and twelve hex digits of a hash of its values, as float64.

    Examples
    --------
    >>> fingerprint(np.eye(2, dtype=np.float32)) == fingerprint(np.eye(2))
    True
    """
    rows, columns = matrix.shape
    step = max(1, _PART // max(1, 8 * columns))

    def digest(start: int) -> bytes:
        part = np.ascontiguousarray(matrix[start : start + step], "<f8")
        return hashlib.blake2b(part.data if part.size else b"", digest_size=16).digest()

    with ThreadPoolExecutor(2) as pool:
        parts = b"".join(pool.map(digest, range(0, rows, step)))
    return f"{rows}x{columns}@{hashlib.blake2b(parts, digest_size=6).hexdigest()}"


def phi_identities(beside: Mapping[str, Any]) -> dict[str, str]:
    """Return what each matrix is, by the names under which signatures find them."""
    return {f"{PHI}:{name}": one.identity for name, one in beside.get(PHI, {}).items()}


def computed_as(identity: str, name: str) -> dict[str, Any]:
    """Return the options by which a phi of that identity was computed; none of one that was read.

    Parameters
    ----------
    identity : str
    name : str
        What measures call it.

    Examples
    --------
    >>> computed_as("3x6@0b6523f5e0c0;CIDEr;tok:13a;df@0c6416d5fdbd", "default")
    {'phi': {'default': 'CIDEr'}, 'tokenizer': '13a'}
    >>> computed_as("3x6@0b6523f5e0c0", "default")
    {}
    """
    _, *how = identity.split(";")
    if not how:
        return {}
    names = {"tok": "tokenizer", "lookup": "lookup", "oov": "oov"}
    parts = [part.partition(":") for text in how[1:] for part in text.split("|")]
    return {PHI: {name: how[0]}, **{names[key]: value for key, _, value in parts if key in names}}
