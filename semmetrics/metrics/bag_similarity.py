"""Similarities of whole label lists: of both lists as texts, and of their mean vectors.

Conventions
-----------
Similarities are cosines, rounded to 1e-9. An empty list has none, nor has one that the model does
not know under the out-of-vocabulary policy ``skip``.

References
----------
Kubany et al., 2020, Expert Systems with Applications, section 3.2.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, lengths, offsets, sum_rows
from semmetrics.core.similarity import unit_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.embed.base import Embedded, embed_unique
from semmetrics.errors import InputError, listing
from semmetrics.metrics.bags import first_terms, sides_kept, terms_of_labels
from semmetrics.metrics.definition import Definition, Measure, Statistic
from semmetrics.metrics.families import cut_of
from semmetrics.metrics.matching import Cut
from semmetrics.metrics.policies import ItemMeans, value_columns
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_options import bag_options
from semmetrics.metrics.similar import model_of, written

__all__ = ["BagSim", "BagSimilarityFamily", "BagValues", "MeanSim", "list_counts"]

_COUNTS = "lists unknown to a model, and cut by it"


@dataclass(frozen=True)
class BagValues:
    """Cosine of the two label lists of each item as wholes: columns "value" and "cause".

    ``how`` is "text" (all terms joined by blanks and embedded as one text) or "mean" (the mean of
    the labels' normalised vectors).
    """

    how: str
    cut: Cut
    model: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Embed both sides and compare them item by item."""
        vectors = model_of(block.task, self.model)
        sides = sides_kept(block, self.cut)
        if self.how == "text":
            found, lost = zip(*(_whole_texts(side, vectors) for side in sides), strict=True)
            counts = {"unknown": sum(lost), "truncated": sum(one.truncated for one in found)}
            block.task.shared.setdefault(_COUNTS, {})[self, block.start] = counts
            pairs = [(one.vectors.astype(np.float64), one.known) for one in found]
        else:
            pairs = [_means(side, vectors) for side in sides]
        (mine, some), (theirs, any_) = pairs
        value = np.round(np.einsum("ij,ij->i", unit_rows(mine), unit_rows(theirs)), 9)
        value = np.where(some & any_, value, np.nan)
        if self.how == "text" and vectors.oov != "skip":  # a list that is not known is not empty
            some, any_ = (lengths(side.indptr) > 0 for side in sides)
        return value_columns(value, some, any_)


def list_counts(task: LabelTask) -> dict[str, Counter[str]]:
    """How many label lists a model did not know, and of how many it read only the beginning.

    Returns
    -------
    dict from name of the embedding to counts of "unknown" and "truncated"
        Of what has been embedded so far, by the measure that has most of them; of those cut, equal
        lists of a block once.
    """
    sums: dict[BagValues, Counter[str]] = defaultdict(Counter)
    for (values, _), counts in task.shared.get(_COUNTS, {}).items():
        sums[values].update(counts)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for values, every in sums.items():
        found[values.model] |= every
    return dict(found)


def _whole_texts(side: Side, vectors: Any) -> tuple[Embedded, int]:
    """Every list as one text, and how many the model does not know; an empty list is not known."""
    if getattr(vectors.embedder, "lookup", "text") == "words":
        raise InputError(
            f"BagSim takes a list of labels as one text, and {vectors.embedder.identity} has "
            "vectors of words",
            remedy="name MeanSim in its place, or an embedding that reads text",
        )
    labels = [" ".join(terms) for terms in terms_of_labels(vectors)]
    codes = written(side).tolist()
    texts = [
        " ".join([labels[code] for code in codes[a:b]])
        for a, b in zip(side.indptr[:-1].tolist(), side.indptr[1:].tolist(), strict=True)
    ]
    found = embed_unique(vectors.embedder, texts)
    listed = lengths(side.indptr) > 0
    found = replace(found, known=found.known & listed)
    lost = listed & ~found.known
    if lost.any() and vectors.oov not in ("skip", "zero"):
        table = np.where(lost[:, None], _stand_in(vectors, texts, lost), found.vectors)
        found = replace(found, vectors=table, known=listed)
    return found, int(lost.sum())


def _stand_in(vectors: Any, texts: list[str], lost: Bools) -> NDArray[np.float32]:
    """The vector of the word "unknown", where that stands for the lists that are not known."""
    identity = vectors.embedder.identity
    missing = listing(dict.fromkeys(texts[item] for item in np.flatnonzero(lost).tolist()))
    if vectors.oov == "error":
        raise InputError(
            f"{identity} does not know the label lists {missing}",
            remedy="add their vectors, or choose oov='skip', 'zero' or 'unknown'",
        )
    read = embed_unique(vectors.embedder, ["unknown"])
    if not read.known[0]:
        raise InputError(
            f"{identity} has no word 'unknown' to stand for the label lists {missing}",
            remedy="add their vectors, or choose oov='skip' or 'zero'",
        )
    return read.vectors


def _means(side: Side, vectors: Any) -> tuple[Floats, Bools]:
    from scipy.sparse import csr_array

    first = first_terms(vectors)[written(side)]
    kept = first >= 0
    indptr = offsets(sum_rows(kept, side.indptr))
    shape = len(side), len(vectors.terms)
    times = csr_array((np.ones(int(indptr[-1])), first[kept], indptr), shape=shape)
    total: Floats = times @ vectors.units
    return total, lengths(indptr) > 0


class BagSimilarityFamily(ItemMeans):
    """Means over items of a similarity of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        how = "text" if measure.definition.name == "BagSim" else "mean"
        return BagValues(how, cut_of(measure), str(measure["embedding"]))


def _similarity(
    name: str,
    summary: str,
    equation: str,
    source: str,
    cite: tuple[str, ...],
    *,
    order_invariant: bool = True,
) -> Definition:
    return add(
        Definition(
            name=name,
            family=BagSimilarityFamily(),
            summary=summary,
            equation=equation,
            source=source,
            cite=cite,
            options=bag_options("0"),
            bounds=(-1.0, 1.0),
            symmetric=True,
            order_invariant=order_invariant,
        )
    )


BagSim = _similarity(
    "BagSim",
    "Cosine of the embeddings of both label lists, each joined to one text.",
    "cos(e(y_1 y_2 …), e(z_1 z_2 …))",
    "Kubany et al. 2020, section 3.2",
    ("kubany2020",),
    order_invariant=False,
)
MeanSim = _similarity(
    "MeanSim",
    "Cosine of the mean label vectors of both sides.",
    "cos(Σ e(y_j) / ||e(y_j)||, Σ e(z_s) / ||e(z_s)||)",
    "mean of normalised label vectors",
    (),
)
