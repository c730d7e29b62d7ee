"""Selection of discrepant images beside a plain loop over a sample of the same captions.

Nine systems caption the same images: each changes some words of one caption, so that pairs share
n-grams as captioners do. Captions are read from JSON lines, tokenised by the PTB rules and compared
in all 36 pairs, in a process of its own, whose peak memory is measured. The peer counts n-grams of
both captions of each pair with `collections.Counter`, on tokens that are ready; its time is that
of the sample times how much larger the whole is. On the sample both must select the same images.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np

import semmetrics
from benchmarks.labels import Scale
from benchmarks.timing import Row, fresh

__all__ = ["WORKLOADS"]

SYSTEMS, IMAGES, QUICK_IMAGES, K, SAMPLE, WORDS = 9, 370_000, 20_000, 70, 500, 10_000
_BLOCK = 10_000  # images whose captions are made at a time
_RUN = """
import sys, time
from benchmarks.timing import megabytes
from semmetrics.cli import main
start = time.perf_counter()
try:
    main(["mad", "select", "-k", sys.argv[1], "--ties", "id", "-o", "/dev/null", "--quiet",
          *sys.argv[2:]])
except SystemExit as end:
    if end.code:
        raise
print(time.perf_counter() - start, megabytes()[0])
"""
Captions = dict[str, str]


def write(folder: Path, images: int, seed: int = 0) -> list[Path]:
    """Write the captions of each system; a word of rank r comes about as often as 1 / r."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{rank}" for rank in range(WORDS)], object)
    paths = [folder / f"system{number}.jsonl" for number in range(SYSTEMS)]
    outs = [path.open("w", encoding="utf-8") for path in paths]
    for start in range(0, images, _BLOCK):
        size = min(_BLOCK, images - start)
        shared = np.exp(rng.random((size, 14)) * np.log(WORDS)).astype(np.int64)
        lengths = rng.integers(8, 15, size)
        for out in outs:
            own = np.exp(rng.random((size, 14)) * np.log(WORDS)).astype(np.int64)
            codes = np.where(rng.random((size, 14)) < 0.4, own, shared)
            for row, length in enumerate(lengths.tolist()):
                text = " ".join(words[codes[row, :length]])
                line = {"image_id": f"{start + row:012d}", "caption": text}
                out.write(json.dumps(line) + "\n")
    for out in outs:
        out.close()
    return paths


def read(path: Path, images: int) -> Captions:
    """The captions of the first images."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(images), strict=False)]
    return {row["image_id"]: row["caption"] for row in rows}


def loop(systems: dict[str, Captions], k: int) -> list[list[str]]:
    """The k images of each pair, by counting n-grams caption by caption."""
    selected = []
    for first, second in combinations(systems, 2):
        values = {}
        for image, caption in systems[first].items():
            values[image] = similarity(caption.split(), systems[second][image].split())
        selected.append(
            sorted(values, key=lambda image, v=values: (v[image], image))[:k]
        )
    return selected


def similarity(first: list[str], second: list[str]) -> float:
    """NGSM of two captions."""
    product, orders = 1.0, 0
    for order in range(1, 5):
        one, two = (
            Counter(tuple(s[i : i + order]) for i in range(len(s) - order + 1))
            for s in (first, second)
        )
        common = sum((one & two).values())
        union = sum(one.values()) + sum(two.values()) - common
        if union:
            product, orders = product * common / union, orders + 1
    return float(product ** (1 / max(1, orders)))


def selection(scale: Scale) -> list[Row]:
    """All pairs of nine systems."""
    images = IMAGES if scale.examples == Scale().examples else QUICK_IMAGES
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), images)
        sample = {path.stem: read(path, SAMPLE) for path in paths}
        start = time.perf_counter()
        expected = loop(sample, K)
        peer = (time.perf_counter() - start) * images / SAMPLE
        got = semmetrics.select_discrepant(sample, K, ties="id").pairs
        if [list(pair.images) for pair in got] != expected:
            raise SystemExit("the selections differ")
        output = fresh(_RUN, str(K), *map(str, paths))
        ours, memory = map(float, output.split()[-2:])
    what = (
        f"select the {K} most discrepant of {images:,} images, {SYSTEMS} systems, 36 pairs, equal "
        f"values by id: one run, at most {memory:,.0f} MB"
    )
    by = f"{peer:,.0f} s (plain loop, from a sample of {SAMPLE:,} images)"
    return [Row(what, f"{ours:.3g} s", by, f"{peer / ours:.0f}x")]


WORKLOADS = {"selection": selection}
