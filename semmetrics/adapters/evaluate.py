"""Measures with the interface of a metric of Hugging Face's ``evaluate``.

Conventions
-----------
``compute`` returns values by the names of the measures. If each item has one class,
integers are indices into ``classes`` or, without ``classes``, names. The package
``evaluate`` is not needed. If it is installed, ``evaluate.combine`` and
``evaluate.evaluator`` accept these objects.

Examples
--------
>>> metric = SemMetric("F1 Recall")
>>> predictions = [["cat", "dog"], ["cat"]]
>>> references = [["cat"], ["cat", "cow"]]
>>> metric.compute(predictions=predictions, references=references)
{'F1': 0.6666666666666666, 'Recall': 0.75}
"""

from __future__ import annotations

from typing import Any

from semmetrics.adapters import as_sides
from semmetrics.scoring.score import score
from semmetrics.scoring.scorer import Scorer
from semmetrics.scoring.table import ScoreTable


class SemMetric:
    """Measures, as an evaluation module.

    Parameters
    ----------
    measures : str, or sequence of str or Measure, optional
    **options
        The options of ``semmetrics.Scorer``.

    Attributes
    ----------
    name : str
    table : ScoreTable or None
        The last result, with its notes and signatures.

    Raises
    ------
    InputError
        If an option is invalid.
    """

    name = "semmetrics"

    def __init__(self, measures: Any = None, **options: Any) -> None:
        self._options = {"measures": measures, **options}
        Scorer(**self._options)  # Checks the options.
        self._batches: list[tuple[Any, Any, Any]] = []
        self.table: ScoreTable | None = None

    def add(
        self, *, prediction: Any = None, reference: Any = None, **named: Any
    ) -> None:
        """Add an item.

        ``evaluate.combine`` calls the two sides "predictions" and "references".
        """
        pred = named.get("predictions", prediction)
        ref = named.get("references", reference)
        self._batches.append(([pred], [ref], None))

    def add_batch(
        self, *, predictions: Any, references: Any, weights: Any = None
    ) -> None:
        """Add a batch of items.

        Parameters
        ----------
        predictions, references, weights
            As for ``Scorer.update``.
        """
        self._batches.append((predictions, references, weights))

    def compute(
        self,
        *,
        predictions: object = None,
        references: object = None,
        weights: object = None,
        **options: Any,
    ) -> dict[str, float]:
        """Score the items that were added and the items of this call, then discard them.

        Parameters
        ----------
        predictions, references, weights
            As for ``Scorer.update``.
        **options
            Options that replace the options of the metric.

        Returns
        -------
        dict from str to float
            nan if undefined.

        Raises
        ------
        InputError
            If the items or an option are invalid. The items that were added are not discarded.
        """
        options = self._options | options
        batches = list(self._batches)
        if predictions is not None:
            batches.append((predictions, references, weights))
        if len(batches) == 1:
            # A single batch may be a matrix.
            preds, refs, batch_weights = batches[0]
            preds, refs = as_sides(options, preds, refs)
            table = score(preds, refs, weights=batch_weights, **options)
        else:
            scorer = Scorer(**options)
            for preds, refs, batch_weights in batches:
                preds, refs = as_sides(options, preds, refs)
                scorer.update(preds, refs, weights=batch_weights)
            table = scorer.compute()
        self.table = table
        self._batches = []
        return table.to_dict()

    def _feature_names(self) -> list[str]:
        """Return the names of the two sides, for ``evaluate.combine``."""
        return ["predictions", "references"]
