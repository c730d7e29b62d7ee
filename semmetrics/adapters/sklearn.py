"""Scorers for scikit-learn's ``cross_val_score``, ``GridSearchCV`` and the like.

Conventions
-----------
Targets are 0/1 matrices of items x classes, sparse or dense, lists of labels, or the class of each
item, whose value is its name. Rows are items in order: an index of pandas is not looked at.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from semmetrics.adapters import as_sides
from semmetrics.data.matrix import as_matrix
from semmetrics.data.side_inputs import read_class_list
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.parsing import kinds_of_all, listed, parse_all
from semmetrics.metrics.sets import HammingLoss
from semmetrics.scoring.score import score
from semmetrics.scoring.scorer import Scorer


def make_scorer(measure: Any, *, response_method: Any = None, **options: Any) -> Any:
    """Make a scorer of a measure, with ``sklearn.metrics.make_scorer``.

    Parameters
    ----------
    measure : str or Measure
        One alone.
    response_method : str or sequence of str, optional
        The method of the estimator that gives predictions. The default is "predict"; for a measure
        that needs or decodes scores, or has a cutoff, "predict_proba" or else "decision_function".
    **options
        Those of ``semmetrics.score``. ``classes`` are the names of the columns. ``pos_label`` is
        the class of two that scores are of; 1, unless targets have other values than -1, 0 and 1.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``; its value is negative where less is better.

    Raises
    ------
    MissingDependencyError
        If scikit-learn is not installed.
    InputError
        If the measure or an option is wrong.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [0]], ["cat", "cat"])
    >>> make_scorer("F1(average=micro)")(model, [[0], [0]], ["cat", "dog"])
    0.5
    """
    try:
        from sklearn import metrics
    except ImportError as error:
        raise MissingDependencyError(
            "scikit-learn", "a scorer", extra="sklearn"
        ) from error

    if not isinstance(options.get("classes", ""), (str, os.PathLike)):
        options["classes"] = list(map(str, options["classes"]))
    named = {name: value for name, value in options.items() if name != "pos_label"}
    # refuses what is wrong before anything is fitted
    Scorer(measures=[measure], **named)
    (chosen,) = parse_all([measure], first=options.get("task"))
    if response_method is None and _is_scored(chosen, options):
        response_method = ("predict_proba", "decision_function")
    return metrics.make_scorer(
        measure_value,
        measures=[measure],
        **options,
        response_method=response_method or "predict",
        greater_is_better=chosen.higher_is_better,
    )


def _is_scored(measure: Measure, options: Mapping[str, Any]) -> bool:
    """Tell whether a measure is of scores, not of the classes that an estimator predicts."""
    decoded = options.get("decode") or measure["decode"] not in (None, "all")
    return bool(
        decoded or measure.k is not None or "scores" in measure.definition.needs
    )


def _number(name: Any) -> float:
    """Return the number that a class is called by; nan if it is none."""
    try:
        return float(name)
    except (TypeError, ValueError):
        return math.nan


def _is_vector_of_classes(y: Any) -> bool:
    """Tell whether each item has one class: not a list of labels, nor a row of numbers."""
    if getattr(y, "ndim", 1) != 1:
        return False
    return all(isinstance(value, (str, int, np.integer)) for value in y)


def measure_value(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, **options: Any
) -> float:
    """Return the value of a measure, with the arguments of scikit-learn's metrics.

    Parameters
    ----------
    y_true, y_pred : arrays, shapes (n,) or (n, classes), frames, sparse matrices or lists
    sample_weight : array, shape (n,), optional
    **options
        As for ``make_scorer``, and ``measures``, which is one.

    Returns
    -------
    float
        nan where undefined. HammingLoss of the class of each item is the share of wrong classes, as
        in scikit-learn.

    Raises
    ------
    InputError
        If the input or an option is wrong.
    """
    # no parameter: scikit-learn would read its default
    positive = options.pop("pos_label", None)
    y_true, y_pred = (
        y.to_numpy() if hasattr(y, "to_numpy") else y for y in (y_true, y_pred)
    )
    (chosen,) = parse_all(listed(options["measures"]), first=options.get("task"))
    given = options.get("classes")
    columns = read_class_list(given) if isinstance(given, (str, os.PathLike)) else given
    shapes: list[Any] = [getattr(y, "shape", ()) for y in (y_true, y_pred)]
    if not _is_scored(chosen, options):  # floats are classes, whose names they are
        names = {_number(one): str(one) for one in ([] if columns is None else columns)}
        y_true, y_pred = (
            [names.get(v, str(int(v) if v.is_integer() else v)) for v in y.tolist()]
            if len(shape) == 1 and y.dtype.kind == "f"
            else y
            for y, shape in zip((y_true, y_pred), shapes, strict=True)
        )
    elif list(map(len, shapes)) == [1, 2] and "classes" not in options:
        if np.unique(y_true).tolist() != list(range(shapes[1][1])):
            raise InputError(
                "needs-option", what="scores of several classes", name="classes"
            )
    elif len(shapes[1]) == 1 and y_pred.dtype.kind == "f":
        if positive is None and {*np.unique(y_true).tolist()} - {-1, 0, 1}:
            raise InputError(
                "needs-option", what="scores of one class of two", name="pos_label"
            )
        positives = np.asarray(y_true) == (1 if positive is None else positive)
        y_true, y_pred = positives[:, None], y_pred[:, None]
    truth, preds = as_sides(options, y_true, y_pred, by_place=False)
    are_vectors = all(_is_vector_of_classes(y) for y in (y_true, y_pred))
    if chosen.definition is HammingLoss and are_vectors:
        options["measures"] = ["SubsetAccuracy"]
        return 1.0 - score(preds, truth, weights=sample_weight, **options)[0].value
    is_scored = "labels" in kinds_of_all([chosen]) and _is_scored(chosen, options)
    # scores, though all may be 0 and 1
    if is_scored and getattr(preds, "ndim", 0) == 2:
        preds = as_matrix(preds, columns).ranked()
    return score(preds, truth, weights=sample_weight, **options)[0].value
