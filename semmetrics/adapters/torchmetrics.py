"""Measures as a ``torchmetrics.Metric``, for training loops and several processes.

Conventions
-----------
Processes exchange their items or, with ``keep_rows=False``, the sums of their items. So
the value is exactly the value of one process with all items. Items without ids are
numbered consecutively over all processes.

A ``DistributedSampler`` repeats items to fill its last batch. These count twice, as in
every metric of torchmetrics. If items have ids, a repeated item raises an error, except
with ``keep_rows=False``, which does not compare ids.

Items are not part of ``state_dict``, but a pickled metric includes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.adapters import as_sides
from semmetrics.errors import MissingDependencyError
from semmetrics.options import OPTIONS, READING
from semmetrics.scoring.scorer import (
    Scorer,
    merge_pickled,
    pickle_items,
    user_options,
    without_items,
)
from semmetrics.scoring.table import ScoreTable

try:
    from torchmetrics import Metric
    from torchmetrics.utilities.distributed import gather_all_tensors
except ImportError as error:
    package = "torchmetrics"
    raise MissingDependencyError(
        package, "SemMetric", extra=package, error=error
    ) from error

import torch


class SemMetric(Metric):  # type: ignore[misc]
    """Measures of each batch, and of all batches.

    Parameters
    ----------
    measures : str, or sequence of str or Measure, optional
    **options
        The options of ``semmetrics.Scorer`` and ``torchmetrics.Metric``.

    Attributes
    ----------
    table : ScoreTable or None
        The last result, with its notes and signatures.

    Raises
    ------
    InputError
        If an option is invalid.

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
        torch_names = options.keys() - OPTIONS.keys() - READING.keys()
        torch_options = {name: options.pop(name) for name in torch_names}
        super().__init__(**torch_options)
        self._scorer = Scorer(measures=measures, **options)
        self.table: ScoreTable | None = None

    def update(
        self, preds: Any, target: Any, weights: Any = None, set_size_probs: Any = None
    ) -> None:
        """Add the items of a batch. An invalid batch changes nothing.

        Parameters
        ----------
        preds, target : sequence, mapping, or tensor of shape (n,) or (n, classes)
            As for ``Scorer.update``. If each item has one class, integers are indices
            into ``classes`` or, without ``classes``, names.
        weights, set_size_probs : optional
            As for ``Scorer.update``.

        Raises
        ------
        InputError
            If the batch is invalid.
        """
        preds, refs = as_sides(user_options(self._scorer), preds, target)
        self._scorer.update(preds, refs, weights=weights, set_size_probs=set_size_probs)

    def compute(self) -> Any:
        """Score the items of all processes.

        Returns
        -------
        tensor, shape (), or dict of tensors
            A dict by measure if there are several values. nan if undefined.

        Raises
        ------
        InputError
            If there are no items, or they are invalid together.
        """
        table = self._scorer.compute()
        self.table = table
        dtype = torch.float64
        if self.device.type == "mps":  # MPS has no float64.
            dtype = torch.float32
        values = {}
        for name, value in table.to_dict().items():
            values[name] = torch.tensor(value, dtype=dtype, device=self.device)
        if len(values) == 1:
            (value,) = values.values()
            return value
        return values

    def reset(self) -> None:
        """Discard all items."""
        super().reset()
        self._scorer = without_items(self._scorer)

    def _copy_state_dict(self) -> dict[str, Any]:
        """Return the items, so that torchmetrics can restore them."""
        # No copy is needed, because synchronisation replaces the scorer.
        return {"_scorer": self._scorer}

    def _sync_dist(
        self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None
    ) -> None:
        """Replace the items by the items of all processes."""
        own_items = pickle_items(self._scorer)
        state_array = np.frombuffer(own_items, np.uint8).copy()
        tensor = torch.from_numpy(state_array).to(self.device)
        group = process_group or self.process_group
        merged_scorer = without_items(self._scorer)
        for part in dist_sync_fn(tensor, group=group):
            merge_pickled(merged_scorer, part.cpu().numpy().tobytes())
        self._scorer = merged_scorer
