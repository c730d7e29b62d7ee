"""Measures on a device beside numpy on the processor, from lists to the score.

On the GPU where there is one, and otherwise by torch on the processor, with fewer items: there the
figures say little, but the workload is the same. The scores must agree before a time is reported.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import partial

import semmetrics
from benchmarks.labels import Scale, agree
from benchmarks.semantic import Lists, Vectors, make_lists
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics.embed.embedder import Embedded

__all__ = ["WORKLOADS"]

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

    return torch.cuda.get_device_name() if device == "cuda" else "torch on the processor"


def scored(pred: Lists, ref: Lists, measure: str, model: Vectors, device: str | None) -> float:
    """One score, from lists."""
    result = semmetrics.score(pred, ref, measures=[measure], embedding=model, device=device)
    return float(result.scores[0].value)


def measures(scale: Scale) -> list[Row]:
    """One measure at a time, on the device and by numpy in turns."""
    if importlib.util.find_spec("torch") is None:
        return [Row("measures on torch", "", "skipped: torch is not installed")]
    device = device_name()
    items = scale.examples // (10 if device == "cuda" else 100)
    model = Texts(LABELS)
    sides = make_lists(items, PREDICTED, model, 1), make_lists(items, REFERENCE, model, 2)
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


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"measures": measures}
