"""Measures on a device beside numpy on the processor, from lists to the score.

On the GPU where there is one, and otherwise by torch on the processor, with fewer items: there the
figures say little, but the workload is the same. The scores must agree before a time is reported.

What a device is asked for is counted on any machine, by torch's profiler on the processor, in
blocks as large as a device gets. An operation is a call of an operator of torch; views and the
operators that one calls in turn count, too. A transfer makes the processor wait for the device: for
an array, for a number, or for the places of what is true in a mask.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import semmetrics
from benchmarks.labels import Scale, agree
from benchmarks.semantic import Lists, Vectors, make_lists
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics.core import backend
from semmetrics.embed.embedder import Embedded

__all__ = ["WORKLOADS", "Counts", "count", "counted_runs"]

LABELS, PREDICTED, REFERENCE = 5_000, 5, 14
TOLERANCE = 1e-9
MEASURES = (
    "SemF1(threshold=0.4)",
    "SemF1(threshold=0.4, match=optimal)",
    "SoftF1",
    "WMD",
    "RWMD",
    "MeanSim",
    "BagSim",
)
COUNTED = (
    *MEASURES,
    *(f"SemF1(match={match},threshold=0.4)" for match in ("total", "any")),
    "SemAP(threshold=0.4)",
    "SoftF1(match=total)",
)
OF_CAPTIONS = ("BagSim", "BagSim(references=mean)", "Soft-SPICE(parser=given)")
OF_RANKS = "HitRate@1,5,10 Recall@1,5,10 MAP MedR"
OF_PHI = "NCS@10 SR(m=5)@10 nDCG@10"
GALLERY, EACH = 1_000, 5
WAITS = "aten::resolve_neg", "aten::_local_scalar_dense", "aten::nonzero"
"""What torch calls for an array of numpy or a list, for a number, and for the places of a mask."""


class Counts(NamedTuple):
    """What a device is asked for."""

    operations: int
    transfers: int


class Texts(Vectors):
    """The same vectors, and one for a list: that of its first label, which costs little."""

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Rows of the table; a text is known by its first two words."""
        return super().embed([" ".join(text.split()[:2]) for text in texts])


def device_name() -> str:
    """``cuda`` where torch finds it, else torch on the processor."""
    import torch

    return "cuda" if torch.cuda.is_available() else "torch:cpu"


def named(device: str) -> str:
    """The device as the tables call it."""
    import torch

    return (
        torch.cuda.get_device_name() if device == "cuda" else "torch on the processor"
    )


def scored(
    pred: Lists, ref: Lists, measure: str, model: Vectors, device: str | None
) -> float:
    """One score, from lists."""
    result = semmetrics.score(
        pred, ref, measures=[measure], embedding=model, device=device
    )
    return float(result.scores[0].value)


def measures(scale: Scale) -> list[Row]:
    """One measure at a time, on the device and by numpy in turns."""
    if importlib.util.find_spec("torch") is None:
        return [Row("measures on torch", "", "skipped: torch is not installed")]
    device = device_name()
    items = scale.examples // (10 if device == "cuda" else 100)
    model = Texts(LABELS)
    sides = (
        make_lists(items, PREDICTED, model, 1),
        make_lists(items, REFERENCE, model, 2),
    )
    rows = []
    for measure in MEASURES:
        runs: dict[str, Callable[[], float]] = {
            name: partial(scored, *sides, measure, model, where)
            for name, where in (("device", device), ("numpy", None))
        }
        agree("numpy", [runs["device"]()], [runs["numpy"]()], TOLERANCE)
        times = take_turns(runs, scale.repeats)
        what = f"{measure} from lists, {items:,} items x ({PREDICTED} x {REFERENCE} labels)"
        mine, theirs = times["device"], times["numpy"]
        rows.append(
            Row(
                f"{what}, {named(device)}; numpy on the processor",
                seconds(mine),
                seconds(theirs),
                ratio(theirs, mine),
            )
        )
    return rows


def count(run: Callable[[], object]) -> Counts:
    """Count what a call would ask of a device; it computes by torch on the processor."""
    from torch.profiler import ProfilerActivity, profile

    as_on_device = mock.patch.object(backend.Backend, "on_cpu", new=False)
    # the only one that is profiled
    one_thread = mock.patch.object(backend, "_MAX_WORKERS", 1)
    with (
        as_on_device,
        one_thread,
        profile(activities=[ProfilerActivity.CPU], acc_events=True) as profiled,
    ):
        run()
    calls = Counter(e.name for e in profiled.events() if e.name.startswith("aten::"))
    return Counts(calls.total(), sum(calls[name] for name in WAITS))


def counted_runs(items: int, *, uneven: bool = False) -> dict[str, Callable[[], Any]]:
    """Scores of so many items by torch, with a name each; of lists of many lengths if uneven."""
    model = Texts(LABELS)
    pred, ref = (
        make_lists(items, PREDICTED, model, 1),
        make_lists(items, REFERENCE, model, 2),
    )
    if uneven:
        pred, ref = (
            [row[: 1 + place * step % len(row)] for place, row in enumerate(side)]
            for side, step in ((pred, 1), (ref, 3))
        )
    score = partial(semmetrics.score, device="torch:cpu")
    runs: dict[str, Callable[[], Any]] = {
        measure: partial(score, pred, ref, measures=[measure], embedding=model)
        for measure in COUNTED
    }
    captions, references = (
        list(map(" , ".join, pred)),
        [list(row[:EACH]) for row in ref],
    )
    for measure in OF_CAPTIONS:
        given = {"tuples": as_objects} if "parser" in measure else {}
        runs[f"{measure} of captions"] = partial(
            score,
            captions,
            references,
            measures=[measure],
            embedding=model,
            task="captions",
            tokenizer="whitespace",
            **given,
        )
    rng = np.random.default_rng(3)
    queries, gallery = (
        rng.normal(size=(n, 32)).astype(np.float32) for n in (items, GALLERY)
    )
    positives = (np.arange(items)[:, None] * EACH + np.arange(EACH)) % GALLERY
    by_rank = partial(
        score,
        None,
        positives,
        queries_embeddings=queries,
        gallery_embeddings=gallery,
        task="retrieval",
    )
    runs["ranks from embeddings"] = partial(by_rank, measures=OF_RANKS)
    phi = rng.random((items, GALLERY), np.float32)
    runs["phi of ranks from embeddings"] = partial(by_rank, measures=OF_PHI, phi=phi)
    return runs


def as_objects(captions: Sequence[str]) -> list[list[tuple[str]]]:
    """Parse captions that list objects."""
    return [[(name,) for name in caption.split(" , ")] for caption in captions]


as_objects.version = "1"  # type: ignore[attr-defined]


def counts(scale: Scale) -> list[Row]:
    """Operations and transfers of each measure, for some items and for four times as many."""
    if importlib.util.find_spec("torch") is None:
        return [Row("operations on torch", "", "skipped: torch is not installed")]
    few, many = scale.examples // 100, scale.examples // 25
    more = counted_runs(many)
    rows = []
    for name, run in counted_runs(few).items():
        found = [
            f"{c.operations:,} and {c.transfers}" for c in map(count, (run, more[name]))
        ]
        what = f"operations and transfers of {name}, {few:,} items; {many:,} items"
        rows.append(Row(what, "; ".join(found)))
    return rows


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "measures": measures,
    "counts": counts,
}
