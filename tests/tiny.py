"""A tiny embedding in memory, for tests of what is made of vectors."""

from __future__ import annotations

import numpy as np

from semmetrics.embed.embedder import Embedded


class Tiny:
    """Vectors from a dict; other texts are not known."""

    def __init__(self, vectors, name="tiny", threshold=None):
        self.vectors = vectors
        self.dimension = len(next(iter(vectors.values())))
        self.identity = f"{name}-{self.dimension}@000000000000"
        self.asked = []
        if threshold is not None:
            self.threshold = threshold

    def embed(self, texts):
        self.asked += texts
        nothing = [0.0] * self.dimension
        table = np.array([self.vectors.get(t, nothing) for t in texts], np.float32)
        known = np.array([t in self.vectors for t in texts], np.bool_)
        return Embedded(table.reshape(-1, self.dimension), known)


def one_hot(names):
    return Tiny(dict(zip(names, np.eye(len(names)).tolist(), strict=True)))
