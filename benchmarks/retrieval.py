"""Retrieval: ranks by counting beside sorting, and embeddings beside their product alone.

The peer sorts every row, as reference codes do, and looks up where the positives are; of embeddings
it is numpy's product alone, which no ranking can do without, and the exact index of faiss where it
is installed, which finds the first ten. Values must agree before a time is reported.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import semmetrics
from benchmarks.labels import Scale
from benchmarks.timing import Row, Times, fresh, megabytes, ratio, seconds, take_turns

__all__ = ["WORKLOADS"]

IMAGES, EACH = 5_000, 5
QUERIES, GALLERY, WIDTH = 10_000, 100_000, 512
# queries that are timed, the gallery, all queries
SLICE, LARGE, ALL = (
    5_000,
    500_000,
    100_000,
)
TABLE = 1 << 28  # bytes of products that are made together
KS = (1, 5, 10)
MEASURES = "HitRate@1,5,10 Recall@1,5,10"
TOLERANCE = 1e-9


def similarities(images: int, seed: int = 0) -> np.ndarray:
    """Make random similarities, in single precision, with larger ones for an image's captions."""
    rng = np.random.default_rng(seed)
    table = rng.random((images, EACH * images), np.float32)
    for image in range(images):
        table[image, EACH * image : EACH * (image + 1)] += np.float32(0.01)
    return table


def sort_rows(table: np.ndarray, positives: list[list[int]]) -> dict[str, float]:
    """Return values by sorting each row, as reference codes do."""
    hits = np.zeros((len(table), len(KS)))
    recalls = np.zeros((len(table), len(KS)))
    for row, own in enumerate(positives):
        ranked = np.argsort(table[row])[::-1]
        for place, k in enumerate(KS):
            found = np.isin(ranked[:k], own).sum()
            hits[row, place], recalls[row, place] = found > 0, found / len(own)
    named = (("HitRate", hits), ("Recall", recalls))
    return {
        f"{name}@{k}": values[:, i].mean()
        for name, values in named
        for i, k in enumerate(KS)
    }


def both_directions(table: np.ndarray, positives: list[list[int]]) -> dict[str, float]:
    """Return the values of both directions."""
    captions = [[place // EACH] for place in range(table.shape[1])]
    return {
        f"{part} {name}": value
        for part, found in (
            ("i2t", sort_rows(table, positives)),
            ("t2i", sort_rows(np.ascontiguousarray(table.T), captions)),
        )
        for name, value in found.items()
    }


def matrix(scale: Scale) -> list[Row]:
    """Both directions of COCO's size: 5,000 images and 25,000 captions."""
    images = IMAGES if scale.examples > 100_000 else IMAGES // 5
    table = similarities(images)
    positives = [list(range(EACH * i, EACH * (i + 1))) for i in range(images)]
    found: dict[str, dict[str, float]] = {}

    def ours() -> None:
        found["ours"] = semmetrics.score(
            table, positives, measures=MEASURES, direction="both", task="retrieval"
        ).to_dict()

    def peer() -> None:
        found["peer"] = both_directions(table, positives)

    times = take_turns({"ours": ours, "peer": peer}, min(3, scale.repeats))
    for name, value in found["peer"].items():
        if not abs(found["ours"][name] - value) <= TOLERANCE:
            raise SystemExit(f"{name}: {found['ours'][name]} and {value}")
    return [
        Row(
            f"HitRate and Recall at 1, 5, 10, both directions, {images:,} x {EACH * images:,}",
            seconds(times["ours"]),
            f"{seconds(times['peer'])}, argsort of each row",
            ratio(times["peer"], times["ours"]),
        )
    ]


def embeddings(scale: Scale) -> list[Row]:
    """Embeddings, ranked without holding their similarities, beside the product alone."""
    small = scale.examples <= 100_000
    n, m = (QUERIES // 10, GALLERY // 10) if small else (QUERIES, GALLERY)
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((n, WIDTH), np.float32)
    gallery = rng.standard_normal((m, WIDTH), np.float32)
    positives = {str(i): [int(i * m // n)] for i in range(n)}

    def ours() -> None:
        semmetrics.score(
            None,
            positives,
            queries_embeddings=queries,
            gallery_embeddings=gallery,
            similarity="dot",
            measures=MEASURES,
            task="retrieval",
        )

    def product() -> None:
        multiply(queries, gallery)

    times = take_turns({"ours": ours, "product": product}, min(3, scale.repeats))
    return [
        Row(
            f"the same of one direction from embeddings, {n:,} x {m:,} x {WIDTH}",
            seconds(times["ours"]),
            f"{seconds(times['product'])}, numpy's product alone",
            ratio(times["product"], times["ours"]),
        )
    ]


def multiply(queries: np.ndarray, gallery: np.ndarray) -> None:
    """Make all products, some queries at a time, and keep none."""
    step = max(1, TABLE // (4 * len(gallery)))
    for start in range(0, len(queries), step):
        queries[start : start + step] @ gallery.T


def large(scale: Scale) -> list[Row]:
    """A slice of the queries of a large gallery; a query costs the same in all of them."""
    small = scale.examples <= 100_000
    n, m = (SLICE // 10, LARGE // 10) if small else (SLICE, LARGE)
    code = "import sys; from benchmarks.retrieval import time_large;"
    code += "time_large(*map(int, sys.argv[1:]))"
    lines = fresh(code, str(n), str(m), str(min(2, scale.repeats))).splitlines()
    times = {
        name: Times(tuple(map(float, runs))) for name, *runs in map(str.split, lines)
    }
    peak = times.pop("MB").median
    what = f"HitRate at 1, 5, 10 from embeddings, {n:,} of {ALL:,} queries x {m:,} x {WIDTH}"
    peers = {
        "product": "numpy's product alone",
        "faiss": "IndexFlatIP of faiss-cpu, the first 10",
    }
    rows = [
        Row(
            what,
            seconds(times["ours"]),
            f"{seconds(times[name])}, {text}",
            ratio(times[name], times["ours"]),
        )
        for name, text in peers.items()
        if name in times
    ]
    return [
        *rows,
        Row("peak memory of the same, with both sides in memory", f"{peak:,.0f} MB"),
    ]


def time_large(n: int, m: int, repeats: int) -> None:
    """Print the peak memory after the first run, and the seconds of each contender."""
    rng = np.random.default_rng(0)
    gallery = rng.standard_normal((m, WIDTH), np.float32)
    own = np.arange(n) * (m // n)
    queries = gallery[own] + 4 * rng.standard_normal((n, WIDTH), np.float32)
    positives = {str(i): [int(place)] for i, place in enumerate(own)}
    found: dict[str, list[float]] = {}

    def ours() -> None:
        found["ours"] = (
            semmetrics.score(
                None,
                positives,
                queries_embeddings=queries,
                gallery_embeddings=gallery,
                measures="HitRate@1,5,10",
                task="retrieval",
            )
            .to_dict()
            .values()
        )

    ours()
    print("MB", megabytes()[0])
    for table in (queries, gallery):  # the peers have vectors of length 1 already
        table /= np.linalg.norm(table, axis=1, keepdims=True)
    times = take_turns(
        {"ours": ours, "product": lambda: multiply(queries, gallery)}, repeats
    )
    try:
        import faiss
    except ImportError:
        pass
    else:  # by itself: its threads wait busily for more
        index = faiss.IndexFlatIP(WIDTH)
        index.add(gallery)

        def peer() -> None:
            first = index.search(queries, max(KS))[1] == own[:, None]
            found["faiss"] = [float(first[:, :k].any(axis=1).mean()) for k in KS]

        times |= take_turns({"faiss": peer}, repeats)
    for name, one in times.items():
        print(name, *one.runs)
    if not np.allclose(
        [*found["ours"]], found.get("faiss", [*found["ours"]]), atol=2 / n
    ):
        raise SystemExit(f"{found}")


def graded(scale: Scale) -> list[Row]:
    """MAP and nDCG of graded judgements, from the same dictionaries."""
    import ir_measures
    from ir_measures import AP, nDCG

    n = 500 if scale.examples <= 100_000 else 5_000
    rng = np.random.default_rng(0)
    run = {
        f"q{q}": {
            f"d{d}": 100.0 - r for r, d in enumerate(rng.permutation(1_000)[:100])
        }
        for q in range(n)
    }
    judged = {
        f"q{q}": {
            f"d{d}": int(g)
            for d, g in zip(
                rng.permutation(1_000)[:50], rng.integers(0, 4, 50), strict=True
            )
        }
        for q in range(n)
    }
    found: dict[str, list[float]] = {}

    def ours() -> None:
        table = semmetrics.score(run, judged, measures="MAP nDCG@10", task="retrieval")
        found["ours"] = [one.value for one in table]

    def peer() -> None:
        values = ir_measures.calc_aggregate([AP, nDCG @ 10], judged, run)
        found["peer"] = [values[AP], values[nDCG @ 10]]

    times = take_turns({"ours": ours, "peer": peer}, min(3, scale.repeats))
    np.testing.assert_allclose(found["ours"], found["peer"], atol=TOLERANCE)
    return [
        Row(
            f"MAP and nDCG@10, {n:,} queries x 100 documents, 50 judgements each",
            seconds(times["ours"]),
            f"{seconds(times['peer'])}, ir_measures",
            ratio(times["peer"], times["ours"]),
        )
    ]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "matrix": matrix,
    "graded": graded,
    "embeddings": embeddings,
    "large": large,
}
