"""How similar labels are, and whether that is above a threshold.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have similarity 1 by
their text, whatever their vectors. A term without a vector that takes part (out-of-vocabulary
policy ``skip``) is left out, and a label without any other term with it.

Similarities are computed once for the distinct terms of the task, or of a block, and then gathered;
or pair by pair where that is less. A similarity has the same bits in all three, and a decision on
a threshold is that of the similarity, though most are made in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from semmetrics.core.ragged import lengths
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.errors import InputError
from semmetrics.metrics.matching import Ranked, Reference
from semmetrics.metrics.similar_pairs import Apart
from semmetrics.metrics.similar_tables import Tables, present

__all__ = ["Similar", "Source", "model_of", "written"]

LabelBlock = Block[LabelTask]
Source: TypeAlias = Tables | Apart
_TABLE = 1 << 25  # cells of a table of similarities, terms by terms
_DEARER = 16  # a similarity computed for a pair costs so many of a table


def model_of(task: LabelTask, name: str) -> Any:
    """The label vectors of that name.

    Raises
    ------
    InputError
        If the task has none.
    """
    if name not in task.models:
        raise InputError(
            f"there is no embedding {name!r}",
            remedy="give embedding= (--embedding NAME|PATH); semmetrics embed list names some",
        )
    return task.models[name]


def written(side: Side) -> Any:
    """Codes of the labels as they were written."""
    return side.codes if side.written is None else side.written


@dataclass(frozen=True)
class Similar:
    """Where a block takes similarities from; one table for the whole task where it fits."""

    model: str = "default"

    def compute(self, block: LabelBlock) -> Source:
        """The task's table, or the block's; pairs where both are too large."""
        task, vectors = block.task, model_of(block.task, self.model)
        key = ("similar", self.model)
        if key not in task.shared:
            task.shared[key] = _source(vectors, task.pred, task.ref)
        source: Source = task.shared[key]
        if isinstance(source, Tables):
            return source
        return _source(vectors, block.get(Ranked()), block.get(Reference()))


def _source(vectors: Any, pred: Side, ref: Side) -> Source:
    size = len(vectors.indptr) - 1
    mine, theirs = (present(written(side), size) for side in (pred, ref))
    widths = lengths(vectors.indptr)
    cells = int(widths[mine].sum()) * int(widths[theirs].sum())
    asked = int(lengths(pred.indptr) @ lengths(ref.indptr))
    if cells > _TABLE or (cells > _DEARER * asked and not vectors.split):
        return Apart(vectors)
    return Tables(vectors, mine, theirs)
