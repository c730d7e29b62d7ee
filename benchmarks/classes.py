"""Per-class accuracy of a memory-mapped matrix of scores, beside numpy's argmax and beside reading.

The peer is numpy on the same memory map: the argmax of each row, then the mean over classes of what
is right. Reading is that of the file's bytes alone. Values must agree before a time is reported.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import semmetrics
from benchmarks.labels import Scale
from benchmarks.timing import Row, ratio, seconds, take_turns

__all__ = ["WORKLOADS"]

IMAGES, CLASSES = 100_000, 2_000
ROWS = 2_000  # made at a time
CHUNK = 1 << 22
TOLERANCE = 1e-12


def write_scores(path: Path, images: int, truth: np.ndarray) -> None:
    """Write random scores in single precision, with larger ones for the classes of images."""
    rng = np.random.default_rng(0)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (images, CLASSES))
    for start in range(0, images, ROWS):
        part = table[start : start + ROWS]
        part[:] = rng.random(part.shape, np.float32)
        part[np.arange(len(part)), truth[start : start + ROWS]] += np.float32(0.5)
    table.flush()


def read_file(path: Path) -> None:
    """Read the bytes of a file, and do nothing with them."""
    buffer = bytearray(CHUNK)
    with path.open("rb", buffering=0) as stream:
        while stream.readinto(buffer):
            pass


def per_class(path: Path, truth: np.ndarray) -> float:
    """Return the mean over classes of what numpy's argmax has right."""
    hit = np.load(path, mmap_mode="r").argmax(axis=1) == truth
    number = np.bincount(truth, minlength=CLASSES)
    right = np.bincount(truth, hit, CLASSES)
    return float((right[number > 0] / number[number > 0]).mean())


def accuracy(scale: Scale) -> list[Row]:
    """Top-1 accuracy by class, from a file."""
    images = IMAGES if scale.examples > 100_000 else IMAGES // 5
    truth = np.random.default_rng(1).integers(0, CLASSES, images)
    names = [f"class {place}" for place in range(CLASSES)]
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.npy"
        write_scores(path, images, truth)

        def ours() -> None:
            table = semmetrics.score(
                path, truth, measures="PerClassAccuracy", classes=names, keep_rows=False
            )
            found["ours"] = table.scores[0].value

        def peer() -> None:
            found["peer"] = per_class(path, truth)

        contenders = {"ours": ours, "peer": peer, "reading": lambda: read_file(path)}
        times = take_turns(contenders, min(3, scale.repeats))
    if not abs(found["ours"] - found["peer"]) <= TOLERANCE:
        raise SystemExit(f"PerClassAccuracy: {found['ours']} and {found['peer']}")
    workload = f"PerClassAccuracy, {images:,} x {CLASSES:,}, memory-mapped"
    mine = seconds(times["ours"])
    return [
        Row(
            workload,
            mine,
            f"{seconds(times['peer'])}, numpy",
            ratio(times["peer"], times["ours"]),
        ),
        Row(
            "the same beside reading the file alone",
            mine,
            f"{seconds(times['reading'])}, read",
            ratio(times["reading"], times["ours"]),
        ),
    ]


WORKLOADS = {"accuracy": accuracy}
