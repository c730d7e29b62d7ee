"""What is said of scores that count for nothing, and of an order of labels that nobody gave."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from semmetrics.data.block import UNUSED
from semmetrics.data.lists import Lists, Side
from semmetrics.kinds import Options
from semmetrics.kinds.swapped_sides import Odd
from semmetrics.messages import agreeing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

__all__ = ["find_scores", "score_notes", "unlike_scores"]

_SCORES, _ORDER = "scores", "order"
_LOW = 0.5  # lists of what a tagger is sure of have no lower scores
_MANY = 3


def find_scores(pred: Lists, predicted: Side, true: Side) -> dict[Hashable, Any]:
    """Find scores and the order of labels, as far as notes need them.

    Parameters
    ----------
    pred : Lists
        As it was read.
    predicted, true : Side
        Of the items that are evaluated.
    """
    found: dict[Hashable, Any] = {}
    if pred.order and pred.side.scores is None:
        found[_ORDER, pred.order] = 1
        if pred.order in ("columns", "keys") and len(predicted.codes):  # 0/1: the highest is 1
            found[_SCORES, "pred", "highest"] = frozenset(["1.0"])
    unused = [one for one in pred.notes if getattr(one, "code", "") == "unused-columns"]
    if unused and pred.side.scores is None:
        found[UNUSED] = frozenset(map(str, unused))
    both = pred.side.scores is not None  # the ground truth alone: the sides look swapped
    if both and true.scores is not None and (true.scores != 1).any():
        found[_SCORES, "ref"] = 1
    if predicted.scores is not None and len(predicted.scores):
        found[_SCORES, "pred", "low"] = int((predicted.scores < _LOW).sum())
        found[_SCORES, "pred", "all"] = len(predicted.scores)
        found[_SCORES, "pred", "highest"] = frozenset([repr(float(predicted.scores.max()))])
    return found


def score_notes(
    odd: Odd, measures: Sequence[Measure], options: Options, *, ranked: bool
) -> tuple[list[str], list[str]]:
    """Say which scores count for nothing, and which measures take an order that nobody gave.

    Parameters
    ----------
    odd : mapping
        As ``find_scores`` found it.
    measures : sequence of Measure
    options : ResolvedOptions
    ranked : bool
        Whether the predictions are a matrix of scores.

    Returns
    -------
    lists of str
        What is said of the predictions, and of the ground truth.
    """
    mine = [] if ranked else _without_rule(odd, measures, options)
    mine += _nothing_left(odd, measures)
    theirs = []
    if (_SCORES, "ref") in odd:
        theirs.append(
            "the scores of the ground truth count for nothing: every label listed is true"
        )
    mine += _order_note(odd, filter(_ranks, measures))
    return mine, theirs


def unlike_scores(labels: Lists) -> list[str]:
    """Say how many labels stand in one item with different scores, in one note or none.

    Examples
    --------
    >>> from semmetrics.kinds.labels.reading import as_labels
    >>> print(*unlike_scores(as_labels({"a": [("cat", 1), ("cat", 0)]})))
    1 label of 1 item stands there several times with different scores (such as 'cat' of 'a': 1 and
    0): the highest counts, or each where a measure counts repeats (duplicates=each)
    """
    number, items, example = labels.unlike
    if not number:
        return []
    return [
        f"{pluralize(number, 'label')} of {pluralize(items, 'item')} {agreeing(number, 'stand')} "
        f"there several times with different scores (such as {example}): the highest counts, or "
        "each where a measure counts repeats (duplicates=each)"
    ]


# ---- the order of labels ------------------------------------------------------------------------

_ORDERS = {
    "sorted": "sets of labels are taken in sorted order",
    "columns": "the labels of a 0/1 matrix are taken in the order of its columns",
    "keys": "labels given 0 or 1 are taken in the order in which they stand",
}


def _order_note(odd: Odd, measures: Iterable[Measure]) -> list[str]:
    orders = [text for order, text in _ORDERS.items() if (_ORDER, order) in odd]
    which = list(dict.fromkeys(map(str, measures)))
    if not orders or not which:
        return []
    shown = ", ".join(which[:_MANY]) + (f" and {len(which) - _MANY} more" * (len(which) > _MANY))
    verb = "depends" if len(which) == 1 else "depend"
    better = "scores, or lists in an order that means something"
    return [
        f"{'; '.join(orders)}, and {shown} {verb} on the order of the predictions: give {better}"
    ]


def _ranks(measure: Measure) -> bool:
    """Tell whether the value depends on the order of the predicted labels."""
    invariant = measure.definition.order_invariant or measure["match"] in ("optimal", "any")
    return measure.k is not None or not invariant


# ---- scores of predictions ----------------------------------------------------------------------


def _without_rule(odd: Odd, measures: Sequence[Measure], options: Options) -> list[str]:
    """Say that every label listed is taken for predicted, where low scores make that doubtful."""
    low, total = (odd.get((_SCORES, "pred", what)) for what in ("low", "all"))
    if not isinstance(low, int) or not isinstance(total, int) or not low:
        return []
    if options["protocol"] is not None or not any(map(_counts_all, measures)):
        return []
    return [
        f"every label listed counts as predicted, whatever its score ({low:,} of "
        f"{pluralize(total, 'score')} below {_LOW}): if scores decide, give "
        f"threshold=0.5 (--threshold 0.5), another rule, {OPTIONS['decode'].both}, or a cutoff "
        "(F1@3)"
    ]


def _counts_all(measure: Measure) -> bool:
    """Tell whether a measure takes all labels listed as a set, with no rule and no ranking."""
    ranking = "scores" in measure.definition.needs or measure.definition.name == "AP"
    return not ranking and measure.k is None and measure["decode"] in (None, "all")


def _nothing_left(odd: Odd, measures: Iterable[Measure]) -> list[str]:
    """Say which thresholds no score is above."""
    highest = odd.get((_SCORES, "pred", "highest"))
    if not isinstance(highest, frozenset):
        return []
    top = max(map(float, highest))
    rules = [
        str(measure["decode"]).partition(":")
        for measure in measures
        if not measure["keep_at_least"]
    ]
    return [
        f"no score is above the threshold {number}, so nothing is predicted for any item: the "
        f"highest is {top:g}"
        for number in dict.fromkeys(number for rule, _, number in rules if rule == "threshold")
        if number[:1].isdigit() and float(number) >= top
    ]
