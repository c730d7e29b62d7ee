"""Small data of every kind in files of every form, and comparisons of tables of scores."""

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
_NOUNS_OF_ROWS = NOUNS | {"labels": "label", "retrieval": "candidate"}
_KINDS_OF_LISTS = ("labels", "retrieval")
CI = {"ci": True, "ci_method": "poisson", "resamples": 20}
_NAMES = ["cat", "dog", "old dog", "bird", "sea", "blue car", "tree"]
_WORDS = ["a", "man", "dog", "cat", "runs", "on", "red", "beach"]


def draw(kind, n=24, seed=0, prefix="item "):
    """Draw predictions and ground truth: lists of names or of captions by id."""
    rng = np.random.default_rng(seed)
    ids = [f"{prefix}{number}" for number in range(n)]
    most_preds = 2 if kind == "captions" else 4
    preds = {id_: _draw_entries(rng, kind, most_preds) for id_ in ids}
    gts = {id_: _draw_entries(rng, kind, 4) for id_ in ids}
    return preds, gts


def _draw_entries(rng, kind, most):
    """Draw the entries of an item: fewer than ``most``, and for labels perhaps none."""
    if kind == "classes":
        number = 1
    else:
        number = rng.integers(0 if kind == "labels" else 1, most)
    if kind == "captions":
        return [_draw_caption(rng) for _ in range(number)]
    return rng.permutation(_NAMES)[:number].tolist()


def _draw_caption(rng):
    return " ".join(rng.choice(_WORDS, rng.integers(4, 7)))


def shuffled(side, seed=1):
    """Return the same items in another order."""
    items = np.array([*side.items()], object)
    return dict(np.random.default_rng(seed).permutation(items).tolist())


def write(path, side, kind):
    """Write items in the format of the extension, and return the path.

    Each row of labels and retrieval has a list, except in CSV. All other rows have one entry.
    """
    has_lists = kind in _KINDS_OF_LISTS and ".csv" not in path.name
    noun = NOUNS[kind] if has_lists else _NOUNS_OF_ROWS[kind]
    ids = []
    entries = []
    for id_, item in side.items():
        item_rows = [item] if has_lists else item or [""]
        ids += [id_] * len(item_rows)
        entries += item_rows
    if path.suffix == ".parquet":
        table = pa.table({"id": ids, noun: entries})
        parquet.write_table(table, path, row_group_size=7)
        return str(path)
    if path.name.removesuffix(".gz").endswith(".csv"):
        content = _encode_csv(ids, noun, entries)
    else:
        content = _encode_json_lines(ids, noun, entries)
    if path.suffix == ".gz":
        content = gzip.compress(content)
    path.write_bytes(content)
    return str(path)


def _encode_csv(ids, noun, entries):
    lines = [f"id,{noun}"]
    for id_, entry in zip(ids, entries, strict=True):
        lines.append(f"{id_},{entry}")
    return "".join(f"{line}\n" for line in lines).encode()


def _encode_json_lines(ids, noun, entries):
    lines = []
    for id_, entry in zip(ids, entries, strict=True):
        lines.append(json.dumps({"id": id_, noun: entry}))
    return "".join(f"{line}\n" for line in lines).encode()


def write_both(folder, kind, form="jsonl", **options):
    """Write both sides of drawn items, and return their paths."""
    preds, gts = draw(kind, **options)
    return [
        write(folder / f"preds.{form}", preds, kind),
        write(folder / f"gts.{form}", gts, kind),
    ]


def asked(kind):
    """Return the measures of a kind, with intervals that do not depend on the order of items."""
    return {"measures": MEASURES[kind], "task": kind, **CI}


def check_same(found, whole, names=True):
    """Check that tables, or their JSON, have equal scores. Limits may differ in the last digit."""
    found_scores = _scores_of(found)
    whole_scores = _scores_of(whole)
    for found_score, whole_score in zip(found_scores, whole_scores, strict=True):
        found_limits = _pop_limits(found_score)
        assert found_limits == pytest.approx(
            _pop_limits(whole_score), rel=1e-12, nan_ok=True
        )
        if not names:
            whole_score["system"] = found_score["system"]
        assert found_score == whole_score


def _scores_of(table):
    text = table if isinstance(table, str) else table.to_json()
    return json.loads(text)["scores"]


def _pop_limits(score):
    """Remove the limits of the interval of a score, and return them."""
    interval = score["ci"] or {}
    return [interval.pop("low", math.nan), interval.pop("high", math.nan)]
