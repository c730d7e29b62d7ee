"""A tiny embedding in memory, for tests of what is made of vectors."""

from __future__ import annotations

import numpy as np

from semmetrics.embed.embedder import Embedded
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options


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


def with_vectors(task, measures, embedding, **options):
    """Add the label vectors that measures need, as a score does."""
    resolved = resolve_options({"embedding": embedding, **options}, "labels")
    return find_kind("labels").prepare({"": {"": task}}, measures, resolved)[""][""]
