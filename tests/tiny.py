"""A small embedding in memory."""

from __future__ import annotations

import numpy as np

from semmetrics.embed.embedder import Embedded
from semmetrics.kinds import find_kind
from semmetrics.kinds.options import resolve_options


class Tiny:
    """An embedding of the terms of a mapping. It records all terms in ``asked``."""

    def __init__(self, vectors, name="tiny", threshold=None):
        self.vectors = vectors
        self.dimension = len(next(iter(vectors.values())))
        self.identity = f"{name}-{self.dimension}@000000000000"
        self.asked = []
        if threshold is not None:
            self.threshold = threshold

    def embed(self, texts):
        """Return the vectors of texts, with zeros for unknown texts."""
        self.asked += texts
        table = np.zeros((len(texts), self.dimension), np.float32)
        known = np.zeros(len(texts), np.bool_)
        for row, text in enumerate(texts):
            if text in self.vectors:
                table[row] = self.vectors[text]
                known[row] = True
        return Embedded(table, known)


def one_hot(names):
    """Return an embedding of names in which all names are orthogonal."""
    return Tiny(dict(zip(names, np.eye(len(names)).tolist(), strict=True)))


def with_vectors(task, measures, embedding, **options):
    """Add the vectors of labels that measures need, as ``score`` does."""
    resolved = resolve_options({"embedding": embedding, **options}, "labels")
    return find_kind("labels").prepare({"": {"": task}}, measures, resolved)[""][""]
