"""What the distilled model is compared with: plain means of vectors, weighted or not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from embeddings import vocabulary
from embeddings.measures import Embed
from embeddings.sentences import SentenceModel
from semmetrics.embed.static import Tokenizer

__all__ = ["WEIGHTS", "means", "pieces_only"]

Matrix = NDArray[np.float32]

WEIGHTS = ("equal", "zipf", "sif")
_SIF = 1e-3


def means(entries: Sequence[str], vectors: Matrix, weights: str) -> Embed:
    """Weighted sums of the vectors of entries, whose order stands for how common they are.

    Parameters
    ----------
    entries : sequence of str
    vectors : array, shape (entries, dimension)
    weights : {"equal", "zipf", "sif"}
        The logarithm of the rank, or ``a / (a + p)`` with ``p`` by Zipf's law.
    """
    rank = np.arange(1, len(entries) + 1)
    probability = 1 / rank / (1 / rank).sum()
    weight = {
        "equal": np.ones(len(entries)),
        "zipf": np.log1p(rank),
        "sif": _SIF / (_SIF + probability),
    }[weights]
    rows = np.asarray(vectors * weight[:, None], np.float32)
    tokenizer = Tokenizer(entries)

    def embed(texts: Sequence[str]) -> Matrix:
        found = [tokenizer(text) for text in texts]
        lengths = [len(numbers) for numbers in found]
        columns = [number for numbers in found for number in numbers]
        at = np.repeat(np.arange(len(texts)), lengths)
        ones = np.ones(len(columns), np.float32)
        return np.asarray(
            sp.csr_array((ones, (at, columns)), (len(texts), len(rows))) @ rows
        )

    return embed


def pieces_only(
    model: SentenceModel, *, dimension: int = 256, weights: str = "zipf"
) -> Embed:
    """The plain recipe of model2vec: the model's own pieces, centred principal axes, a weight."""
    words, pieces = vocabulary.base_words(), vocabulary.pieces()
    vectors = np.concatenate([model.embed(words), model.embed_pieces(pieces)])
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:dimension].T
    return means(words + [piece for _, piece in pieces], centred @ axes, weights)
