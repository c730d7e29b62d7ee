"""The tasks that run on the workers of a cluster.

Tasks are stateless: if a machine is lost, its tasks are repeated, beginning with the files.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from semmetrics.core.hashing import hash_ids
from semmetrics.data.blocks import SideFiles
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions, prediction_options, truth_options
from semmetrics.scale.stream import (
    ItemWeights,
    StreamedSide,
    read_truth_block,
    score_sides,
)
from semmetrics.scoring.fits import add_up_frequencies, count_frequencies
from semmetrics.scoring.scorer import Scorer

TRUTH = ""
"""The name of the ground truth among the systems."""

_open_scorers: dict[bytes, Scorer] = {}
"""The scorer of the last task of this process, by its pickled options."""


def split_block(
    settings: Mapping[str, Any], name: str, source: str, block: Any, n_parts: int
) -> list[Any]:
    """Read a file or a block, and return its items by part.

    The hash of its id decides to which part an item belongs.

    Parameters
    ----------
    settings : mapping
        The options of the scorer.
    name : str
        The system, or `TRUTH`.
    source : str
        What messages call the block.
    block : SideFiles or Arrow table
    n_parts : int

    Returns
    -------
    list of list of Lists
        One list per part. With a single part the list of this part, because Ray expects
        one object per part.
    """
    lists_of_parts: list[list[Lists]] = [[] for _ in range(n_parts)]
    for lists in _read_block(settings, name, source, block):
        part_of_items = hash_ids(lists.ids) % np.uint64(n_parts)
        order = np.argsort(part_of_items, kind="stable")
        sorted_lists = lists.take(order)
        ends = np.searchsorted(part_of_items[order], np.arange(n_parts + 1)).tolist()
        for lists_of_part, (start, stop) in zip(
            lists_of_parts, pairwise(ends), strict=True
        ):
            if stop > start:
                items = sorted_lists.rows(start, stop)
                lists_of_part.append(items.without_unused_entries())
    if n_parts == 1:
        return lists_of_parts[0]
    return lists_of_parts


def _read_block(
    settings: Mapping[str, Any], name: str, source: str, block: Any
) -> Iterator[Lists]:
    """Yield the items of a file or a block."""
    setup = _open_scorer(settings).setup
    read_options = settings.get("read") or ReadOptions()
    read = setup.read
    options = prediction_options(read_options)
    if name == TRUTH:
        read = partial(read_truth_block, setup)
        options = truth_options(read_options)
    if isinstance(block, SideFiles):
        yield from block.lists(read, options, _ignore_progress)
    else:
        yield read(block, source)


def _ignore_progress(n_bytes: int) -> None:
    """Ignore the number of bytes read, because only whole tasks are counted."""


def count_block(
    settings: Mapping[str, Any], block: Any, stems: Sequence[str]
) -> dict[str, Any]:
    """Count the document frequencies of a file or a block of the ground truth."""
    setup = _open_scorer(settings).setup
    batches = _read_block(settings, TRUTH, "", block)
    counts = (count_frequencies(lists, setup, stems) for lists in batches)
    return add_up_frequencies(counts)


def score_part(
    settings: Mapping[str, Any],
    weights: ItemWeights,
    n_blocks_of_sides: Sequence[tuple[str, int]],
    shard: str,
    *blocks: list[Lists],
) -> bytes:
    """Join the items of a part, and return the state of their sums.

    Parameters
    ----------
    settings : mapping
        The options of the scorer.
    weights : mapping from id to weight, or None
    n_blocks_of_sides : sequence of (str, int)
        The sides, `TRUTH` among them, and their numbers of blocks.
    shard : str
        The number of the part, such as "3/8".
    *blocks : list of Lists
        The items of this part of all blocks, side by side.
    """
    remaining_blocks = iter(blocks)
    sides = {}
    for name, n_blocks in n_blocks_of_sides:
        lists_of_side: list[Lists] = []
        for lists_of_block in islice(remaining_blocks, n_blocks):
            lists_of_side += lists_of_block
        sides[name] = StreamedSide(iter(lists_of_side), None)
    truth = sides.pop(TRUTH)
    scorer = _open_scorer(settings)
    scorer.reset()
    score_sides(scorer, truth, sides, weights)
    return save_state(scorer, shard)


def score_shard(
    inputs: tuple[Mapping[str, Any], ItemWeights, Mapping[str, Any]], shard: str
) -> bytes:
    """Score a shard of inputs that are not read in blocks, and return the state.

    Parameters
    ----------
    inputs : tuple
        The options of the scorer, the weights, and the data of all sides by name.
    shard : str
        Such as "3/8".
    """
    settings, weights, sides = inputs
    scorer = Scorer(**settings)
    truth = sides[TRUTH]
    for name, preds in sides.items():
        if name != TRUTH:
            scorer.update(preds, truth, system=name, shard=shard, weights=weights)
    return save_state(scorer, shard)


def merge_parts(*states: bytes) -> bytes:
    """Merge states into one."""
    scorer = Scorer.load(*map(io.BytesIO, states))
    return save_state(scorer)


def save_state(scorer: Scorer, shard: str | None = None) -> bytes:
    """Return the state of a scorer as `Scorer.save` writes it."""
    target = io.BytesIO()
    scorer.save(target, shard=shard)
    return target.getvalue()


def _open_scorer(settings: Mapping[str, Any]) -> Scorer:
    """Return a scorer, whose models stay open for the next task of this process."""
    key = pickle.dumps(settings)
    if key not in _open_scorers:
        _open_scorers.clear()
        _open_scorers[key] = Scorer(**settings)
    return _open_scorers[key]
