"""Feed a Scorer with batches, and compare tables of scores."""

from __future__ import annotations

import io
import json
from itertools import pairwise

from semmetrics import Scorer


def by_id(items, ids):
    """Return items as a dictionary."""
    return dict(zip(ids, items, strict=True))


def select(side, ids):
    """Return those items of a side that have one of the ids."""
    return {name: side[name] for name in ids if name in side}


def update_with(scorer, preds, gts, ids, **options):
    """Add the items with the given ids as one batch."""
    scorer.update(select(preds, ids), select(gts, ids), **options)


def update_in_batches(scorer, preds, gts, bounds, **by_item):
    """Add the items between each two bounds as a batch, and return the scorer."""
    for start, stop in pairwise(bounds):
        batch = {name: values[start:stop] for name, values in by_item.items()}
        scorer.update(preds[start:stop], gts[start:stop], **batch)
    return scorer


def save(scorer, shard=None):
    """Return the state of a scorer as a file in memory."""
    state = io.BytesIO()
    scorer.save(state, shard=shard)
    state.seek(0)
    return state


def save_and_load(scorer):
    """Return a scorer that was read from the state of another."""
    return Scorer.load(save(scorer))


def values(table):
    """Return the values of all scores."""
    return [score.value for score in table]


def signatures(table):
    """Return the signatures of all scores."""
    return [score.signature for score in table]


def scores(table):
    """Return all that a table says of each score."""
    return json.loads(table.to_json())["scores"]


def contents(table):
    """Return all that a table says, with its notes in alphabetical order."""
    document = json.loads(table.to_json())
    document["notes"].sort()
    return document
