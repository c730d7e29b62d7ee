"""The one interface of embeddings: strings in, a matrix and a known-mask out.

Conventions
-----------
Vectors are float32, one row a text. A text that the model does not know has a row of zeros and is
not known; what stands for it is the out-of-vocabulary policy's business, not the model's. An
identity, ``name-dimension@hash``, says in signatures which vectors they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools

__all__ = ["Embedded", "Embedder", "Vectors", "embed_unique"]

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Embedded:
    """Vectors of texts.

    Attributes
    ----------
    vectors : float32 array, shape (texts, dimension)
        As the model gives them, not normalised; zeros where unknown.
    known : bool array, shape (texts,)
    truncated : int
        Texts of which the model read only the beginning.
    """

    vectors: Vectors
    known: Bools
    truncated: int = 0


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Attributes
    ----------
    identity : str
        ``name-dimension@hash``: the name, and the first 12 hex digits of a SHA-256 of what decides
        the vectors (the file, the weights and pooling, the matrix).
    dimension : int
    """

    @property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts, row by row; equal texts have equal rows whatever stands beside them."""
        ...


def embed_unique(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed each distinct text once and repeat its row.

    Parameters
    ----------
    embedder : Embedder
    texts : sequence of str

    Returns
    -------
    Embedded
        ``truncated`` counts distinct texts.
    """
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    if len(place) == len(texts):
        return embedder.embed(texts)
    once = embedder.embed(list(place))
    rows = np.fromiter((place[text] for text in texts), np.int64, len(texts))
    return Embedded(once.vectors[rows], once.known[rows], once.truncated)
