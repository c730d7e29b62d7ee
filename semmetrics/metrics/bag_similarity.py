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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, to_device
from semmetrics.core.ragged import Bools, lengths, offsets, sum_rows
from semmetrics.core.similarity import paired_cosines, sum_vectors
from semmetrics.data.block import Block
from semmetrics.data.lists import Side
from semmetrics.data.tasks import LabelTask
from semmetrics.embed.embedder import Embedded, embed_unique
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import listing
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic
from semmetrics.metrics.families import ItemMeans, choose_policies, value_columns
from semmetrics.metrics.label_similarity import EMBEDDING, label_vectors_of, written_codes
from semmetrics.metrics.matching import Cut, cut_of, kept_sides
from semmetrics.metrics.registry import add
from semmetrics.metrics.set_measures import set_options

__all__ = [
    "BagSim",
    "BagSimilarityFamily",
    "BagValues",
    "MeanSim",
    "bag_options",
    "embed_wholes",
    "list_counts",
]


@dataclass(frozen=True)
class BagValues(ItemSums):
    """Cosine of the two label lists of each item as wholes: columns "value" and "cause".

    ``how`` is "text" (all terms joined by blanks and embedded as one text) or "mean" (the mean of
    the labels' normalised vectors).
    """

    how: str
    cut: Cut
    model: str

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Embed both sides and compare them item by item."""
        vectors = label_vectors_of(block.task, self.model)
        sides = kept_sides(block, self.cut)
        if self.how == "text":
            found, lost = zip(*(_whole_texts(side, vectors) for side in sides), strict=True)
            block.note(("unknown", self), sum(lost))
            block.note(("truncated", self), sum(one.truncated for one in found))
            pairs = [(to_device(one.vectors, vectors.device), one.known) for one in found]
        else:
            pairs = [_means(side, vectors) for side in sides]
        (mine, some), (theirs, any_) = pairs
        value, both = np.full(len(block), np.nan), np.flatnonzero(some & any_)
        if len(both):
            cosines = paired_cosines(mine[both], theirs[both])
            value[both] = Backend(cosines).numpy(cosines)
        if self.how == "text" and vectors.oov != "skip":  # a list that is not known is not empty
            some, any_ = (lengths(side.indptr) > 0 for side in sides)
        return value_columns(value, some, any_)


def list_counts(noted: Mapping[Any, Any]) -> dict[str, dict[str, int]]:
    """Return how many label lists a model did not know, and of how many it read the beginning.

    Parameters
    ----------
    noted : mapping
        What steps noted, as ``Statistics.noted`` holds it.

    Returns
    -------
    dict from name of the embedding to counts of "unknown" and "truncated"
        By the measure that has most of them; of those cut, equal lists of a block once.
    """
    found: dict[str, dict[str, int]] = {}
    for name, number in noted.items():
        if isinstance(name, tuple) and isinstance(name[1], BagValues):
            counts = found.setdefault(name[1].model, {})
            counts[name[0]] = max(number, counts.get(name[0], 0))
    return found


def _whole_texts(side: Side, vectors: Any) -> tuple[Embedded, int]:
    """Every list as one text, and how many the model does not know; an empty list is not known."""
    _check_reads_text(vectors, "a list of labels", "name MeanSim in its place, or ")
    labels = [" ".join(terms) for terms in vectors.terms_of_labels]
    codes = written_codes(side).tolist()
    texts = [
        " ".join([labels[code] for code in codes[a:b]])
        for a, b in zip(side.indptr[:-1].tolist(), side.indptr[1:].tolist(), strict=True)
    ]
    return _embed(vectors, texts, lengths(side.indptr) > 0, "label lists")


def embed_wholes(model: Any, texts: Sequence[str]) -> tuple[Embedded, int]:
    """Embed captions, or several joined, as they are; and count those that the model does not know.

    Parameters
    ----------
    model : TextModel
    texts : sequence of str
        What is blank is not known, and not counted.

    Raises
    ------
    InputError
        If the model has vectors of words alone, or does not know a text under the policy "error".
    """
    _check_reads_text(model, "captions", "name ")
    return _embed(model, texts, np.array([bool(text.strip()) for text in texts]), "captions")


def _check_reads_text(model: Any, what: str, remedy: str) -> None:
    """Refuse an embedding that cannot take many words as one text."""
    if getattr(model.embedder, "lookup", "text") == "words":
        raise InputError(
            f"BagSim takes {what} as one text, and {model.embedder.identity} has vectors of words",
            remedy=f"{remedy}an embedding that reads text",
        )


def _embed(model: Any, texts: Sequence[str], listed: Bools, what: str) -> tuple[Embedded, int]:
    """Return vectors of texts by the policy for unknown ones, and how many are; of those listed.

    The model is not asked for the others, which nobody wrote.
    """
    read = embed_unique(model.embedder, [texts[row] for row in np.flatnonzero(listed).tolist()])
    table, known = np.zeros((len(texts), read.vectors.shape[1]), np.float32), listed.copy()
    table[listed], known[listed] = read.vectors, read.known
    found, lost = Embedded(table, known, read.truncated), listed & ~known
    if lost.any() and model.oov not in ("skip", "zero"):
        table = np.where(lost[:, None], _stand_in(model, texts, lost, what), found.vectors)
        found = replace(found, vectors=table, known=listed)
    return found, int(lost.sum())


def _stand_in(model: Any, texts: Sequence[str], lost: Bools, what: str) -> NDArray[np.float32]:
    """Return the vector of the word "unknown", where that stands for texts that are not known."""
    identity = model.embedder.identity
    missing = listing(dict.fromkeys(texts[item] for item in np.flatnonzero(lost).tolist()))
    if model.oov == "error":
        raise InputError(
            f"{identity} does not know the {what} {missing}",
            remedy="add their vectors, or choose oov='skip', 'zero' or 'unknown' (--oov)",
        )
    read = embed_unique(model.embedder, ["unknown"])
    if not read.known[0]:
        raise InputError(
            f"{identity} has no word 'unknown' to stand for the {what} {missing}",
            remedy="add their vectors, or choose oov='skip' or 'zero' (--oov)",
        )
    return read.vectors


def _means(side: Side, vectors: Any) -> tuple[Any, Bools]:
    first = vectors.first_terms[written_codes(side)]
    kept = first >= 0
    indptr = offsets(sum_rows(kept, side.indptr))
    return sum_vectors(vectors.units, indptr, first[kept]), lengths(indptr) > 0


class BagSimilarityFamily(ItemMeans):
    """Means over items of a similarity of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        how = "text" if "text_embedding" in measure.definition.needs else "mean"
        return BagValues(how, cut_of(measure), str(measure["embedding"]))


def bag_options(policy: str, *more: Option, whole: bool = False) -> tuple[Option, ...]:
    """Return the options of a measure that compares whole lists.

    ``policy`` is the default where a list is empty; two empty lists score 1 unless it is skip.
    A list that is embedded ``whole`` may be unknown, which is undefined.
    """
    policies = dict.fromkeys(("empty", "no_prediction", "no_reference", "undefined"), policy)
    if policy != "skip":
        policies["empty"] = "1"
    shared = set_options(("example",), without=("average", "duplicates"), defaults=policies)
    shared = choose_policies(shared, [name for name in policies if whole or name != "undefined"])
    return (*more, EMBEDDING, *(replace(option, averages=None) for option in shared))


_TRAITS: dict[str, Any] = {
    "family": BagSimilarityFamily(),
    "bounds": (-1.0, 1.0),
    "symmetric": True,
}
BagSim = add(
    Definition(
        name="BagSim",
        summary="Cosine of the embeddings of both label lists, each joined to one text.",
        equation="cos(e(y_1 y_2 …), e(z_1 z_2 …))",
        source="Kubany et al. 2020, section 3.2",
        cite=("kubany2020",),
        options=bag_options("0", whole=True),
        order_invariant=False,
        needs=frozenset({"text_embedding"}),
        **_TRAITS,
    )
)
MeanSim = add(
    Definition(
        name="MeanSim",
        summary="Cosine of the mean label vectors of both sides.",
        equation="cos(Σ e(y_j) / ||e(y_j)||, Σ e(z_s) / ||e(z_s)||)",
        source="mean of normalised label vectors",
        options=bag_options("0"),
        needs=frozenset({"embedding"}),
        **_TRAITS,
    )
)
