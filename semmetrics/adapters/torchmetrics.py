"""Measures as a ``torchmetrics.Metric``, for training loops and several processes.

Conventions
-----------
Between processes the items travel, or with ``keep_rows=False`` their sums, so the value is that of
one process with all items, to the last digit. Items without ids are numbered on from process to
process. Those that a ``DistributedSampler`` repeats to fill its last batch count twice, as in every
metric of torchmetrics; with ids, a repeated item is refused (with ``keep_rows=False`` ids are not
compared). The items are not part of ``state_dict``; the metric can be pickled with them.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from semmetrics.adapters import as_sides
from semmetrics.errors import MissingDependencyError
from semmetrics.options import OPTIONS, READING
from semmetrics.scoring.scorer import Scorer

try:
    from torchmetrics import Metric
    from torchmetrics.utilities.distributed import gather_all_tensors
except ImportError as error:
    package = "torchmetrics"
    raise MissingDependencyError(
        package, "SemMetric", extra=package, error=error
    ) from error

import torch


def _emptied(scorer: Scorer) -> Scorer:
    """Return a scorer without items that shares what is opened."""
    new = Scorer.__new__(Scorer)
    vars(new).update(vars(scorer))
    new.reset()
    return new


class SemMetric(Metric):  # type: ignore[misc]
    """Measures of batches, and of all of them.

    Parameters
    ----------
    measures : str, or sequence of str or Measure, optional
    **options
        Those of ``semmetrics.Scorer``, and those of ``torchmetrics.Metric``.

    Attributes
    ----------
    table : ScoreTable or None
        What was computed last, with its notes and signatures.

    Raises
    ------
    InputError
        If an option is wrong.

    Examples
    --------
    >>> metric = SemMetric("F1")
    >>> metric([["cat", "dog"]], [["cat"]])
    tensor(0.6667, dtype=torch.float64)
    >>> metric([["cat"]], [["cat"]])
    tensor(1., dtype=torch.float64)
    >>> metric.compute()
    tensor(0.8333, dtype=torch.float64)
    """

    full_state_update = True

    def __init__(self, measures: Any = None, **options: Any) -> None:
        theirs = options.keys() - OPTIONS.keys() - READING.keys()
        super().__init__(**{name: options.pop(name) for name in theirs})
        self._scorer = Scorer(measures=measures, **options)
        self.table: Any = None

    def update(
        self, preds: Any, target: Any, weights: Any = None, set_size_probs: Any = None
    ) -> None:
        """Add the items of a batch; one that is refused changes nothing.

        Parameters
        ----------
        preds, target : sequence, mapping, or tensor of shape (n,) or (n, classes)
            As for ``Scorer.update``. Whole numbers that stand for the class of an item are places
            in ``classes``, or without it names.
        weights, set_size_probs : optional
            As for ``Scorer.update``.

        Raises
        ------
        InputError
            If the batch is wrong.
        """
        sides = as_sides(self._scorer._given, preds, target)
        self._scorer.update(*sides, weights=weights, set_size_probs=set_size_probs)

    def compute(self) -> Any:
        """Score all items, of all processes.

        Returns
        -------
        tensor, shape (), or dict of them
            Of several values each under its measure; nan where undefined.

        Raises
        ------
        InputError
            If there is no item, or something is wrong that no batch alone could show.
        """
        self.table = self._scorer.compute()
        # MPS has no float64.
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        values = {
            name: torch.tensor(value, dtype=dtype, device=self.device)
            for name, value in self.table.to_dict().items()
        }
        return values if len(values) > 1 else next(iter(values.values()))

    def reset(self) -> None:
        """Forget all items."""
        super().reset()
        self._scorer = _emptied(self._scorer)

    def _copy_state_dict(self) -> dict[str, Any]:
        # not changed while it is kept: another takes its place
        return {"_scorer": self._scorer}

    def _sync_dist(
        self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None
    ) -> None:
        """Put the items of all processes in the place of those of this one."""
        mine, whole = self._scorer, _emptied(self._scorer)
        state = np.frombuffer(
            pickle.dumps((mine._kind, mine._systems)), np.uint8
        ).copy()
        group = process_group or self.process_group
        for part in dist_sync_fn(torch.from_numpy(state).to(self.device), group=group):
            other = _emptied(mine)
            other._kind, other._systems = pickle.loads(part.cpu().numpy().tobytes())
            whole.merge(other)
        self._scorer = whole
