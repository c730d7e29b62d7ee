"""NCS and semantic recall of image-text retrieval, beside the way of the released code.

Similarities and phi are random and seeded, 5,000 images by 25,000 captions in float32, five
captions an image. Both directions, cutoffs 1, 5 and 10, and one similar image in the extended
ground truth, which is found from phi. The peer sorts every row and column of both matrices, as the
class of Biten et al. does; it is written here anew. All values must be equal, with a stable sort in
the peer, before a time is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, fresh, ratio, seconds, take_turns
from semmetrics import metrics

__all__ = ["WORKLOADS"]

IMAGES, PER_IMAGE, CUTOFFS = 5_000, 5, (1, 5, 10)
Matrix = NDArray[np.float32]
Order = Callable[[Matrix], NDArray[np.int64]]


def make_matrices(images: int = IMAGES) -> tuple[Matrix, Matrix]:
    """Similarities and phi; an image's own captions are the most similar in most cases."""
    random = np.random.default_rng(12345)
    shape = images, images * PER_IMAGE
    sims, phi = (random.random(shape, np.float32) for _ in range(2))
    phi **= 8
    captions = np.arange(shape[1])
    phi[captions // PER_IMAGE, captions] += 1
    sims[captions // PER_IMAGE, captions] += np.float32(0.1)
    return sims, phi


def ours(sims: Matrix, phi: Matrix) -> list[float]:
    """Mean NCS and hard semantic recall in percent, at each cutoff, of both directions."""
    n_images, n_captions = phi.shape
    captions = np.arange(n_images + 1) * PER_IMAGE, np.arange(n_captions)
    most = max(CUTOFFS)
    best = {
        side: metrics.most_similar(phi, most, queries=side)
        for side in ("rows", "columns")
    }
    similar = metrics.similar_images(
        phi, captions, 1, depth=most, itself=True, best=best["columns"]
    )
    relevant = {
        "rows": metrics.captions_of_images(similar, captions),
        "columns": metrics.images_of_captions(similar, captions, n_captions),
    }
    found: list[float] = []
    for side, some in best.items():
        top = metrics.top_items(sims, most, queries=side)
        same: dict[str, Any] = {"phi": phi, "queries": side}
        for values in (
            metrics.ncs(top, k=CUTOFFS, best=some, **same),
            metrics.semantic_recall(top, relevant[side], CUTOFFS, **same),
        ):
            found += (100 * np.nan_to_num(values).mean(axis=0)).tolist()
    return found


def reversed_order(row: Matrix) -> NDArray[np.int64]:
    """How the released code sorts: of equal numbers any may come first."""
    return np.argsort(row)[::-1]


def stable_order(row: Matrix) -> NDArray[np.int64]:
    """Of equal numbers the first comes first."""
    return np.argsort(-row, kind="stable")


def sorting(sims: Matrix, phi: Matrix, order: Order = reversed_order) -> list[float]:
    """The same by sorting, a query at a time, as the released code goes."""
    n_images = len(phi)
    by_caption, most = np.ascontiguousarray(phi.T), max(CUTOFFS)
    similar = []
    for image in range(n_images):
        sums: dict[int, float] = {}
        for caption in range(image * PER_IMAGE, (image + 1) * PER_IMAGE):
            for other in order(by_caption[caption])[:most].tolist():
                sums[other] = sums.get(other, 0) + float(by_caption[caption, other])
        similar.append(max(sums, key=sums.__getitem__))
    found: list[float] = []
    for side in ("rows", "columns"):
        scores, values = (
            (sims, phi) if side == "rows" else (np.array(sims).T, by_caption)
        )
        ncs, recall = [], []
        for query, row in enumerate(scores):
            ranked, ideal = order(row), order(values[query])
            mine = values[query, ranked[:most]].astype(np.float64)
            best = values[query, ideal[:most]].astype(np.float64)
            ncs.append([mine[:k].mean() / (best[:k].mean() + 1e-10) for k in CUTOFFS])
            if side == "rows":
                first = similar[query] * PER_IMAGE
                relevant = set(range(first, first + PER_IMAGE))
            else:
                relevant = {similar[query // PER_IMAGE]}
            hits = [place in relevant for place in ranked[:most].tolist()]
            recall.append([sum(hits[:k]) / len(relevant) for k in CUTOFFS])
        for values_of in (ncs, recall):
            found += (100 * np.mean(values_of, axis=0)).tolist()
    return found


MEMORY = """
import sys
from benchmarks import semantic_recall
from benchmarks.timing import megabytes
matrices = semantic_recall.make_matrices()
if sys.argv[1] == "ours":
    semantic_recall.ours(*(matrix[:500, :2500] for matrix in matrices))  # loads what is imported
before = sum(matrix.nbytes for matrix in matrices) / 1e6
held = megabytes()[0]
getattr(semantic_recall, sys.argv[1])(*matrices)
print(megabytes()[0] - held, megabytes()[0] - before)
"""


def both_directions(scale: Scale) -> list[Row]:
    """NCS and semantic recall from two matrices, and the memory that they take beside them."""
    matrices = make_matrices()
    agree(
        "sorting every query", ours(*matrices), sorting(*matrices, stable_order), 1e-9
    )
    mine = take_turns({"ours": lambda: ours(*matrices)}, scale.repeats)["ours"]
    theirs = take_turns({"peer": lambda: sorting(*matrices)}, 1)["peer"]
    peaks = [float(fresh(MEMORY, name).split()[0]) for name in ("ours", "sorting")]
    shape = f"{IMAGES:,} x {IMAGES * PER_IMAGE:,}"
    what = f"NCS and semantic recall, {shape}, both directions, K = 1, 5, 10"
    return [
        Row(
            f"{what}; sorting every query, one run",
            seconds(mine),
            seconds(theirs),
            ratio(theirs, mine),
        ),
        Row("peak memory beyond both matrices", *(f"{peak:,.0f} MB" for peak in peaks)),
    ]


WORKLOADS = {"both_directions": both_directions}
