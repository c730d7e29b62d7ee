"""Small data of every kind in files of every form, and all that a table says."""

from __future__ import annotations

import gzip
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

MEASURES = {
    "labels": ["F1", "MicroF1", "MacroF1", "SemF1", "WMD"],
    "captions": ["BLEU-4", "CIDEr-D"],
    "classes": ["PerClassAccuracy", "Accuracy"],
    "retrieval": ["HitRate@1", "Recall@2", "MRR"],
}
NOUNS = {
    "labels": "labels",
    "captions": "caption",
    "classes": "class",
    "retrieval": "candidates",
}
CI = {"ci": True, "ci_method": "poisson", "resamples": 20}
_NAMES = ["cat", "dog", "old dog", "bird", "sea", "blue car", "tree"]
_WORDS = ["a", "man", "dog", "cat", "runs", "on", "red", "beach"]


def draw(kind, n=24, seed=0, prefix="item "):
    """Draw predictions and ground truth: lists of names, or captions, by id."""
    rng = np.random.default_rng(seed)

    def some(least, most):
        number = 1 if kind == "classes" else rng.integers(least, most)
        if kind == "captions":
            return [
                " ".join(rng.choice(_WORDS, rng.integers(4, 7))) for _ in range(number)
            ]
        return rng.permutation(_NAMES)[:number].tolist()

    ids = [f"{prefix}{number}" for number in range(n)]
    least = int(kind in ("captions", "retrieval"))
    return {i: some(least, 4 - 2 * (kind == "captions")) for i in ids}, {
        i: some(1 - (kind == "labels"), 4) for i in ids
    }


def shuffled(side, seed=1):
    """Return the same items in another order."""
    return dict(
        np.random.default_rng(seed)
        .permutation(np.array([*side.items()], object))
        .tolist()
    )


def write(path, side, kind):
    """Write items as the ending says: lists in a row, but captions, classes and CSV row by row."""
    noun, lists = (
        NOUNS[kind],
        kind in ("labels", "retrieval") and ".csv" not in path.name,
    )
    noun = (
        noun
        if lists
        else {"labels": "label", "candidates": "candidate"}.get(noun, noun)
    )
    every = {i: [some] if lists else some or [""] for i, some in side.items()}
    rows = [(name, one) for name, some in every.items() for one in some]
    if path.suffix == ".parquet":
        names, entries = map(list, zip(*rows, strict=True))
        parquet.write_table(
            pa.table({"id": names, noun: entries}), path, row_group_size=7
        )
        return str(path)
    if path.name.removesuffix(".gz").endswith(".csv"):
        lines = [f"id,{noun}", *(f"{name},{entry}" for name, entry in rows)]
    else:
        lines = [json.dumps({"id": name, noun: entry}) for name, entry in rows]
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return str(path)


def write_both(folder, kind, form="jsonl", **options):
    """Write both sides of drawn items, and return their paths."""
    sides = zip(("preds", "gts"), draw(kind, **options), strict=True)
    return [write(folder / f"{name}.{form}", side, kind) for name, side in sides]


def asked(kind):
    """Return the measures of a kind, with intervals that do not depend on the order of items."""
    return {"measures": MEASURES[kind], "task": kind, **CI}


def check_same(found, whole, names=True):
    """Check all that tables, or their JSON, say of scores, but for the last digit of the limits."""
    texts = (one if isinstance(one, str) else one.to_json() for one in (found, whole))
    pair = [json.loads(text)["scores"] for text in texts]
    for one, other in zip(*pair, strict=True):
        limits = [
            [(each["ci"] or {}).pop(name, math.nan) for name in ("low", "high")]
            for each in (one, other)
        ]
        assert limits[0] == pytest.approx(limits[1], rel=1e-12, nan_ok=True)
        assert one == (other if names else {**other, "system": one["system"]})
