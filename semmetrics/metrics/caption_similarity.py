"""BagSim of captions: how similar the embeddings of whole captions are.

Conventions
-----------
A caption is embedded as it is written, blanks at its ends aside. The references of an image are one
bag, as the labels of an item are in BagSim of labels: those that are not blank are joined by blanks
to one text. Or each is compared by itself, and the similarities are averaged. Of one reference the
two are the same. Blank captions, and those that the model does not know under the policies ``zero``
and ``skip``, have no similarity; among several references they are left out of the mean.
Similarities are cosines, rounded to 1e-9.

Source: Kubany et al., 2020, Expert Systems with Applications, section 3.2, on captions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from semmetrics.core.backend import Backend, to_device
from semmetrics.core.ragged import Bools, Floats, Ints, lengths, row_numbers, sum_rows
from semmetrics.core.similarity import SplitVectors, paired_cosines
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.metrics.bags import embed_wholes
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock, References
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic
from semmetrics.metrics.families import ItemMeans, policy_option, value_columns
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.label_similarity import EMBEDDING, label_vectors_of
from semmetrics.metrics.registry import add

__all__ = ["CUT_CAPTIONS", "UNKNOWN_CAPTIONS", "BagPairs", "BagSim", "bag_pairs"]

UNKNOWN_CAPTIONS, CUT_CAPTIONS = "captions without a vector", "captions of which a part was read"
"""What is counted, with the name of the embedding; equal captions of a block once."""


@dataclass(frozen=True)
class _BagValues(ItemSums):
    """The similarity of each candidate to its references: columns "value" and "cause"."""

    embedding: str
    references: str

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Embed the captions of a block, each distinct one once, and compare."""
        task, items = block.task, block.get(References())
        model = label_vectors_of(task, self.embedding)
        texts, indptr = _bags(task, items.references, items.indptr, self.references)
        captions = [task.texts[code].strip() for code in items.candidates.tolist()]
        distinct = {text: row for row, text in enumerate(dict.fromkeys([*captions, *texts]))}
        found, lost = embed_wholes(model, list(distinct))
        block.note((UNKNOWN_CAPTIONS, self.embedding), lost)
        block.note((CUT_CAPTIONS, self.embedding), found.truncated)
        mine, theirs = (
            np.array([distinct[one] for one in side], np.int64) for side in (captions, texts)
        )
        item, vectors = row_numbers(indptr), to_device(found.vectors, model.device)
        cosines = Backend(vectors).numpy(paired_cosines(vectors[mine[item]], vectors[theirs]))
        known = found.known[theirs]
        total = np.bincount(item, np.where(known, cosines, 0.0), minlength=len(block))
        value = divide(total, sum_rows(known, indptr))
        some = found.known[mine]
        n_candidate = np.where(items.n_refs > 0, some, 1)  # without references it is no cause
        return value_columns(np.where(some, value, np.nan), n_candidate, items.n_refs)


def _bags(task: CaptionTask, references: Ints, indptr: Ints, how: str) -> tuple[list[str], Ints]:
    """Return the texts that stand for the references of each item, and their offsets."""
    texts = [task.texts[code].strip() for code in references.tolist()]
    if how == "mean":
        return texts, indptr
    joined = [" ".join(filter(None, texts[a:b])) for a, b in pairwise(indptr.tolist())]
    return joined, np.arange(len(joined) + 1)


class _BagMeans(ItemMeans):
    """Means over candidates."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the step of item values."""
        return _BagValues(str(measure["embedding"]), str(measure["references"]))


class BagPairs:
    """Similarities of every caption to every image's references, in blocks of images.

    An entry has the same bits whatever block it is in.

    Parameters
    ----------
    texts : sequence of str
        What stands for the references of the images.
    indptr : int array, shape (images + 1,)
        The texts of each image.
    captions : sequence of str
    model : TextModel
    """

    def __init__(
        self, texts: Sequence[str], indptr: Ints, captions: Sequence[str], model: Any
    ) -> None:
        self.n_rows, self.n_columns = len(indptr) - 1, len(captions)
        self._indptr = indptr
        distinct = {text: row for row, text in enumerate(dict.fromkeys([*captions, *texts]))}
        found, _ = embed_wholes(model, list(distinct))
        self._theirs, mine = (
            np.array([distinct[one] for one in side], np.int64) for side in (texts, captions)
        )
        self._known: Bools = found.known
        vectors = to_device(found.vectors, model.device)
        self._split = SplitVectors.of(Backend(vectors).array(vectors, "float64"))
        self._captions, self._known_captions = self._split[mine], found.known[mine]

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the rows start to stop, shape (rows, captions); 0 where there is no value."""
        values = np.empty((stop - start, self.n_columns)) if out is None else out
        values[...] = 0.0
        first, number = self._indptr[start:stop], lengths(self._indptr[start : stop + 1])
        counts = np.zeros(stop - start, np.int64)
        for place in range(int(number.max(initial=0))):  # the references of images, one by one
            rows = np.flatnonzero(number > place)
            texts = self._theirs[first[rows] + place]
            known = self._known[texts]
            rows, texts = rows[known], texts[known]
            table = self._split[texts].cosines(self._captions)
            values[rows] += Backend(table).numpy(table)
            counts[rows] += 1
        values /= np.maximum(counts, 1)[:, None]
        values[:, ~self._known_captions] = 0.0
        return values


def bag_pairs(task: CaptionTask, measure: Measure) -> BagPairs:
    """Return pairs whose entry (image, candidate) is BagSim of the candidate for the image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images; rows are images.
    measure : Measure
        Of BagSim, with 0 for what has no value.

    Raises
    ------
    InputError
        If something else stands for what has no value.
    """
    if any(measure[policy] != "0" for policy in ("no_prediction", "undefined")):
        raise InputError(
            f"no matrix of {measure} is computed",
            remedy="leave no_prediction and undefined out: entries without a value are 0",
        )
    texts, indptr = _bags(task, task.references, task.indptr, str(measure["references"]))
    captions = [task.texts[code].strip() for code in task.candidates.tolist()]
    return BagPairs(texts, indptr, captions, label_vectors_of(task, str(measure["embedding"])))


BagSim = add(
    Definition(
        name="BagSim",
        family=_BagMeans(),
        summary="Cosine of the embeddings of the candidate and of its references.",
        equation="cos(e(c), e(s_1 s_2 …)), or the mean of cos(e(c), e(s_i))",
        source="Kubany et al. 2020, section 3.2, on captions in place of lists of labels",
        cite=("kubany2020",),
        options=(
            Option(
                "references",
                "refs",
                "joined",
                ("joined", "mean"),
                help="several references are joined to one text, or their similarities averaged",
            ),
            EMBEDDING,
            policy_option("no_prediction", "nopred", "0", "candidates that are blank or not known"),
            NO_REFERENCE,
            policy_option("undefined", "undef", "0", "references that are blank or not known"),
        ),
        bounds=(-1.0, 1.0),
        order_invariant=False,
        cutoff=False,
        kind="captions",
        needs=frozenset({"text_embedding"}),
        extra={"pairs": bag_pairs},
    )
)
