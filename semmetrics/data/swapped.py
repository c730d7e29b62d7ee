"""Sides in the wrong order: ground truth given as predictions, and predictions as ground truth.

Conventions
-----------
Only conclusive evidence raises an error. Either the formats of both files decide, or the numbers of
the ground truth cannot be grades and the numbers of the predictions look like grades.

These are not evidence by themselves: both sides are judgements, a run has few candidates, or
references have confidences. If no error is raised, a note reports a ground truth of retrieval that
is a run or has fractions as grades.
"""

from __future__ import annotations

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.observations import Observations
from semmetrics.errors import InputError

_MAX_GRADE = 10
_MAX_GRADES_PER_MEAN = 4
"""The largest number of grades whose mean is recognised."""
_MEAN_TOLERANCE = 1e-6
_MIN_PROBABILITY = 0.5
"""Ground truths list labels of lower probability only if they are rankings."""
_MIN_RANKED_LABELS = 3
"""The smallest number of labels of an item whose descending order is evidence of a ranking."""


def check_rankings(run: Lists, truth: Lists) -> None:
    """Raise an error if judgements are given as the run, and a run as the judgements.

    Raises
    ------
    InputError
        If the order is wrong.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> judged = as_candidates({"q": {"d1": 2, "d2": 1}}, source="qrels")
    >>> run = as_candidates({"q": {"d1": 0.93, "d2": 0.81, "d3": 0.12}}, source="run")
    >>> check_rankings(run, judged)
    >>> check_rankings(judged, run)
    Traceback (most recent call last):
    semmetrics.errors.InputError: the predictions (qrels) have grades and the ground truth (run)
    has scores of a ranking, so the order is wrong. Swap them: predictions come first.
    """
    if truth.content == "run":
        truth_evidence = "is a run"
    elif truth.content == "" and _are_scores(truth):
        truth_evidence = "has ranking scores"
    else:
        return
    run_evidence = _evidence_of_judgements(run, truth)
    if run_evidence:
        raise _swapped_error(run, run_evidence, truth, truth_evidence)


def _evidence_of_judgements(run: Lists, truth: Lists) -> str:
    """Return the evidence that predictions are judgements, or "". The ground truth is a ranking."""
    if run.content:
        return "are judgements" if run.content == "judgements" else ""
    have_grades = _are_grades(run)
    if have_grades and truth.content == "run":
        return "have grades"
    if _are_zeros_and_ones(run):
        return "have only 0 and 1"
    have_scores = run.side.scores is not None
    if have_scores and not have_grades:
        return ""
    if not _has_fewer(run, truth):
        return ""
    return "have grades" if have_grades else "have no scores"


def observe_truth(truth: Lists | Matrix) -> Observations:
    """Count the queries of a ground truth whose numbers look like scores instead of grades.

    Returns
    -------
    Observations
        "run_as_truth": the number of queries, if the ground truth is a run. Otherwise
        "fractional_grades": the number of queries with a number that is not an integer.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> truth = as_candidates({"q1": {"d1": 0.9, "d2": 0.2}, "q2": {"d1": 1}})
    >>> observe_truth(truth).number("fractional_grades")
    1
    """
    observations = Observations()
    if not isinstance(truth, Lists):
        return observations
    scores = truth.side.scores
    if truth.content == "run":
        observations.count("run_as_truth", len(truth))
        return observations
    if scores is None:
        return observations
    rows = ragged.row_numbers(truth.side.indptr)
    is_fraction = scores != np.floor(scores)
    n_queries = len(np.unique(rows[is_fraction]))
    if n_queries:
        observations.count("fractional_grades", n_queries)
    return observations


def check_captions(candidates: Lists, references: Lists) -> None:
    """Raise an error if COCO annotations are the predictions, and COCO results the ground truth.

    Raises
    ------
    InputError
        If the order is wrong.
    """
    if candidates.content == "annotations" and references.content == "results":
        raise _swapped_error(
            candidates, "are annotations", references, "is a list of results"
        )


def check_labels(pred: Lists, ref: Lists) -> None:
    """Raise an error if only the ground truth has scores, and its labels are a ranking.

    Labels of the ground truth may have confidences. They are a ranking if some are unlikely (below
    0.5), and every item has the same labels, or equally many that are sorted by score.

    Raises
    ------
    InputError
        If the order is wrong.
    """
    if pred.side.scores is not None or ref.ranked or len(ref) < 2:
        return
    if _has_unlikely(ref) and _is_ranking(ref):
        raise _swapped_error(pred, "have no scores", ref, "has ranking scores")


def _has_unlikely(lists: Lists) -> bool:
    """Return whether scores are probabilities, and some of them are low."""
    scores = lists.side.scores
    if scores is None or not len(scores) or not lists.has_fractions:
        return False
    return bool(0 <= scores.min() < _MIN_PROBABILITY and scores.max() <= 1)


def _is_ranking(lists: Lists) -> bool:
    """Return whether all items have all labels, or equally many in descending order of scores."""
    sizes = lists.side.sizes
    size = int(sizes[0])
    if (sizes != size).any():
        return False
    if 1 < size == len(lists.vocabulary):
        return True
    scores = lists.side.scores
    if scores is None or size < _MIN_RANKED_LABELS:
        return False
    table = scores.reshape(len(lists), size)
    is_descending = np.diff(table, axis=1) < 0
    return bool(is_descending.all())


def _swapped_error(
    pred: Lists, pred_evidence: str, ref: Lists, ref_evidence: str
) -> InputError:
    """Return the error for sides in the wrong order, given the evidence of each side."""
    return InputError(
        "swapped-order",
        pred=pred.source,
        of_pred=pred_evidence,
        ref=ref.source,
        of_ref=ref_evidence,
    )


def _are_grades(lists: Lists) -> bool:
    """Return whether all numbers are small integers."""
    scores = lists.side.scores
    if scores is None or not len(scores):
        return False
    is_integer = scores == np.floor(scores)
    is_small = np.abs(scores) <= _MAX_GRADE
    return bool((is_integer & is_small).all())


def _are_zeros_and_ones(lists: Lists) -> bool:
    """Return whether all numbers are 0 and 1, and both occur."""
    scores = lists.side.scores
    if scores is None:
        return False
    return set(np.unique(scores).tolist()) == {0.0, 1.0}


def _are_scores(lists: Lists) -> bool:
    """Return whether the numbers of each item differ, and most are not means of a few grades."""
    scores = lists.side.scores
    if scores is None or lists.side.sizes.max(initial=0) < 2:
        return False
    rows = ragged.row_numbers(lists.side.indptr)
    order = np.lexsort((scores, rows))
    is_repeated = (np.diff(scores[order]) == 0) & (np.diff(rows[order]) == 0)
    if is_repeated.any():
        return False
    n_means = int(_may_be_mean_grades(scores).sum())
    return 2 * n_means < len(scores)


def _may_be_mean_grades(scores: Floats) -> Bools:
    """Return whether each score may be a grade, or the mean of a few grades."""
    may_be_mean = np.zeros(len(scores), np.bool_)
    for n_grades in range(1, _MAX_GRADES_PER_MEAN + 1):
        sums = scores * n_grades
        may_be_mean |= np.abs(sums - np.round(sums)) < _MEAN_TOLERANCE
    return may_be_mean


def _has_fewer(run: Lists, truth: Lists) -> bool:
    """Return whether the run has fewer candidates than the ground truth for all shared items."""
    truth_row_of_id = {str(id_): row for row, id_ in enumerate(truth.ids)}
    run_sizes = run.side.sizes
    truth_sizes = truth.side.sizes
    shares_items = False
    for run_row, id_ in enumerate(run.ids):
        truth_row = truth_row_of_id.get(str(id_))
        if truth_row is None:
            continue
        shares_items = True
        if run_sizes[run_row] >= truth_sizes[truth_row]:
            return False
    return shares_items
