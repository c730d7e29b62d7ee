"""Scorers for ``cross_val_score``, ``GridSearchCV`` and similar tools of scikit-learn.

Conventions
-----------
Targets are 0/1 matrices of items x classes (sparse or dense), lists of labels, or
vectors with the class of each item, whose value is its name. Rows are items in order.
The index of a pandas object is ignored.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from semmetrics.adapters import as_sides
from semmetrics.data.matrix import as_matrix
from semmetrics.data.side_inputs import read_class_list
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.messages import brief
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
        A single measure.
    response_method : str or sequence of str, optional
        The method of the estimator that returns predictions. Default: "predict", or
        "predict_proba" and then "decision_function" for a measure that needs or decodes
        scores, or has a cutoff.
    **options
        The options of ``semmetrics.score``. ``classes`` are the names of the columns.
        ``pos_label`` is the positive class of a binary problem. Default: 1, if all
        targets are -1, 0 or 1.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``. Its value is negated if lower is better.

    Raises
    ------
    MissingDependencyError
        If scikit-learn is not installed.
    InputError
        If the measure or an option is invalid.

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
    score_options = {n: value for n, value in options.items() if n != "pos_label"}
    # Raises errors of options before anything is fitted.
    Scorer(measures=[measure], **score_options)
    (parsed_measure,) = parse_all([measure], prefer=options.get("task"))
    if response_method is None and _needs_scores(parsed_measure, options):
        response_method = ("predict_proba", "decision_function")
    return metrics.make_scorer(
        measure_value,
        measures=[measure],
        **options,
        response_method=response_method or "predict",
        greater_is_better=parsed_measure.higher_is_better,
    )


def measure_value(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, **options: Any
) -> float:
    """Return the value of a measure, with the arguments of scikit-learn's metrics.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,) or (n, classes), frames, sparse matrices or lists
    sample_weight : array, shape (n,), optional
    **options
        As for ``make_scorer``, and ``measures`` with a single measure.

    Returns
    -------
    float
        nan if undefined. HammingLoss of vectors of classes is the share of wrong
        classes, as in scikit-learn.

    Raises
    ------
    InputError
        If the input or an option is invalid.
    """
    # Not a parameter, because scikit-learn would read its default.
    pos_label = options.pop("pos_label", None)
    targets = _Targets(_to_numpy(y_true), _to_numpy(y_pred))
    (measure,) = parse_all(listed(options["measures"]), prefer=options.get("task"))
    columns = options.get("classes")
    if isinstance(columns, (str, os.PathLike)):
        columns = read_class_list(columns)
    needs_scores = _needs_scores(measure, options)
    if needs_scores:
        has_classes = "classes" in options
        targets = _resolve_scores(targets, pos_label, has_classes=has_classes)
    else:
        targets = _Targets(
            _name_float_classes(targets.true, columns),
            _name_float_classes(targets.pred, columns),
        )

    truth, preds = as_sides(options, targets.true, targets.pred, by_index=False)
    are_vectors = all(map(_is_vector_of_classes, targets))
    if measure.definition is HammingLoss and are_vectors:
        options["measures"] = ["SubsetAccuracy"]
        table = score(preds, truth, weights=sample_weight, **options)
        return 1.0 - table[0].value
    is_matrix = getattr(preds, "ndim", 0) == 2
    if needs_scores and is_matrix and "labels" in kinds_of_all([measure]):
        # Declared as scores, because all values may be 0 or 1.
        preds = as_matrix(preds, columns).ranked()
    table = score(preds, truth, weights=sample_weight, **options)
    return table[0].value


class _Targets(NamedTuple):
    """True targets and predictions, as scikit-learn has them."""

    true: Any
    pred: Any


def _needs_scores(measure: Measure, options: Mapping[str, Any]) -> bool:
    """Return whether a measure needs scores of classes, not only predicted classes."""
    decodes_scores = measure["decode"] not in (None, "all")
    if options.get("decode") or decodes_scores or measure.k is not None:
        return True
    return "scores" in measure.definition.needs


def _to_numpy(y: Any) -> Any:
    """Convert a frame or series to an array. Return other targets unchanged."""
    if hasattr(y, "to_numpy"):
        return y.to_numpy()
    return y


def _resolve_scores(
    targets: _Targets, pos_label: Any, *, has_classes: bool
) -> _Targets:
    """Check that scores have classes, and convert the scores of a binary problem.

    Parameters
    ----------
    targets : _Targets
    pos_label
        The positive class of a binary problem, None for the default.
    has_classes : bool
        Whether the columns of scores have names.
    """
    n_dimensions = _n_dimensions(targets.pred)
    if n_dimensions == 2 and _n_dimensions(targets.true) == 1 and not has_classes:
        _check_classes_are_columns(targets.true, n_columns=targets.pred.shape[1])
    if n_dimensions == 1 and targets.pred.dtype.kind == "f":
        is_positive = _find_positives(targets.true, pos_label)
        return _Targets(is_positive[:, None], targets.pred[:, None])
    return targets


def _n_dimensions(y: Any) -> int:
    """Return the number of dimensions of an array, 0 for a list."""
    return len(getattr(y, "shape", ()))


def _name_float_classes(y: Any, classes: Iterable[Any] | None) -> Any:
    """Replace floats in a vector by the names of classes. Return others unchanged.

    A float is the name of a class with the same value, such as 1.0 of "1". Without such
    a class, it is a name itself, as an integer if possible.
    """
    if _n_dimensions(y) != 1 or y.dtype.kind != "f":
        return y
    name_of_value = {}
    if classes is not None:
        for name in classes:
            name_of_value[_parse_number(name)] = str(name)
    names = []
    for value in y.tolist():
        own_name = str(value)
        if value.is_integer():
            own_name = str(int(value))
        names.append(name_of_value.get(value, own_name))
    return names


def _parse_number(name: Any) -> float:
    """Return the number that a class is named after, nan if there is none."""
    try:
        return float(name)
    except (TypeError, ValueError):
        return math.nan


def _check_classes_are_columns(y_true: Any, n_columns: int) -> None:
    """Raise an error unless the classes are the indices of the columns."""
    if np.unique(y_true).tolist() != list(range(n_columns)):
        names = np.unique(y_true).tolist()
        raise InputError(
            "needs-option",
            what="a measure of class scores",
            name="classes",
            fix="set it to the classes in the order of the columns, usually "
            f"model.classes_: classes={brief(names)}",
        )


def _find_positives(y_true: Any, pos_label: Any) -> Any:
    """Return whether each item has the positive class of a binary problem."""
    if pos_label is None:
        names = np.unique(y_true).tolist()
        if set(names) - {-1, 0, 1}:
            raise InputError(
                "needs-option",
                what="a measure of class scores",
                name="pos_label",
                fix=f"set it to the positive class, such as pos_label={names[-1]!r}",
            )
        pos_label = 1
    return np.asarray(y_true) == pos_label


def _is_vector_of_classes(y: Any) -> bool:
    """Return whether each item has a class, not a list of labels or row of numbers."""
    if getattr(y, "ndim", 1) != 1:
        return False
    return all(isinstance(value, (str, int, np.integer)) for value in y)
