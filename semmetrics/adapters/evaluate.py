"""Scores in the shape of a metric of Hugging Face's ``evaluate``.

Conventions
-----------
``compute`` returns values by the names of the measures. Whole numbers that stand for the class of
an item are places in ``classes``, or without it names. The package ``evaluate`` is not needed;
where it is installed, ``evaluate.combine`` and ``evaluate.evaluator`` take these objects.

Examples
--------
>>> metric = SemMetric("F1 Recall")
>>> metric.compute(predictions=[["cat", "dog"], ["cat"]], references=[["cat"], ["cat", "cow"]])
{'F1': 0.6666666666666666, 'Recall': 0.75}
"""

from __future__ import annotations

from typing import Any

from semmetrics.adapters import as_sides
from semmetrics.scoring.score import score
from semmetrics.scoring.scorer import Scorer


class SemMetric:
    """Some measures, as an evaluation module.

    Parameters
    ----------
    measures : str, or sequence of str or Measure, optional
    **options
        Those of ``semmetrics.Scorer``.

    Attributes
    ----------
    name : str
    table : ScoreTable or None
        What was computed last, with its notes and signatures.

    Raises
    ------
    InputError
        If an option is wrong.
    """

    name = "semmetrics"

    def __init__(self, measures: Any = None, **options: Any) -> None:
        self._options = {"measures": measures, **options}
        Scorer(**self._options)  # refuses what is wrong
        self._batches: list[tuple[Any, Any, Any]] = []
        self.table: Any = None

    def add(
        self, *, prediction: Any = None, reference: Any = None, **named: Any
    ) -> None:
        """Add one item; ``evaluate.combine`` names its sides as those of a batch."""
        sides = named.get("predictions", prediction), named.get("references", reference)
        self._batches.append(([sides[0]], [sides[1]], None))

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
        predictions: Any = None,
        references: Any = None,
        weights: Any = None,
        **given: Any,
    ) -> dict[str, float]:
        """Score all items that were added, and those given here, and forget them.

        Parameters
        ----------
        predictions, references, weights
            As for ``Scorer.update``.
        **given
            Options in place of those of the metric.

        Returns
        -------
        dict from str to float
            nan where undefined.

        Raises
        ------
        InputError
            If the items or an option are wrong; the items that were added are then kept.
        """
        options, batches = self._options | given, list(self._batches)
        if predictions is not None:
            batches.append((predictions, references, weights))
        if len(batches) == 1:  # which may be a matrix
            ((preds, gts, some),) = batches
            table = score(*as_sides(options, preds, gts), weights=some, **options)
        else:
            scorer = Scorer(**options)
            for preds, gts, some in batches:
                scorer.update(*as_sides(options, preds, gts), weights=some)
            table = scorer.compute()
        self.table, self._batches = table, []
        return table.to_dict()

    def _feature_names(self) -> list[str]:
        return ["predictions", "references"]  # which evaluate.combine asks for
