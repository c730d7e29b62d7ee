"""Readable values of label and caption lists, for tests of the public file formats."""

import semmetrics


def items_by_id(lists):
    """Return the labels or captions of each item."""
    return dict(zip(map(str, lists.ids), lists.to_list(), strict=True))


def scores_by_id(lists):
    """Return the score of each label of each item."""
    scores = iter(lists.side.scores.tolist())
    scores_of_items = {}
    for id_, labels in items_by_id(lists).items():
        scores_of_items[id_] = {label: next(scores) for label in labels}
    return scores_of_items


def measure_values(preds, gts, **options):
    """Return the values of a score by the headings of their measures."""
    table = semmetrics.score(preds, gts, **options)
    return {score.heading: score.value for score in table}
