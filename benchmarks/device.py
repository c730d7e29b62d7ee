"""The similarity core on torch: cosine blocks beside torch.matmul alone, transport beside numpy.

On the GPU where there is one, and otherwise by torch on the processor, with fewer rows: there the
figures say little, but the workload is the same. The results must agree before a time is reported.
"""

from __future__ import annotations

import importlib.util
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics.core.similarity import cosine_blocks, unit_rows
from semmetrics.core.transport import transport

__all__ = ["WORKLOADS"]

DIMENSION = 300
MEMORY = 1 << 28
TOLERANCE = 1e-9


def device_name() -> str:
    """``cuda`` where torch finds it, else ``cpu``."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def named(device: str) -> str:
    """The device as the tables call it."""
    import torch

    return torch.cuda.get_device_name() if device == "cuda" else "torch on the processor"


def finished(device: str, run: Callable[[], object]) -> None:
    """Run it, and wait for the device."""
    import torch

    run()
    if device == "cuda":
        torch.cuda.synchronize()


def cosines(scale: Scale) -> list[Row]:
    """All pairs of two sets of vectors, in blocks of 256 MB."""
    if importlib.util.find_spec("torch") is None:
        return [Row("cosine blocks on torch", "", "skipped: torch is not installed")]
    import torch

    device = device_name()
    count = scale.examples // (20 if device == "cuda" else 200)
    rng = np.random.default_rng(0)
    left, right = (torch.from_numpy(rng.normal(size=(count, DIMENSION))) for _ in range(2))
    left, right = left.to(device), right.to(device)
    step = MEMORY // (8 * count)

    def ours() -> None:
        deque(cosine_blocks(left, right, memory=MEMORY), maxlen=0)

    def product() -> None:
        for start in range(0, count, step):
            torch.matmul(left[start : start + step], right.T)

    some = next(cosine_blocks(left[:50], right[:50]))[1]
    plain = torch.matmul(unit_rows(left[:50]), unit_rows(right[:50]).T)
    agree("torch.matmul", some.flatten().tolist(), plain.flatten().tolist(), TOLERANCE)
    runs = {"ours": ours, "product": product}
    times = take_turns(
        {k: partial(finished, device, run) for k, run in runs.items()}, scale.repeats
    )
    share = times["product"].median / times["ours"].median
    what = f"cosine blocks, {count:,} x {count:,} of {DIMENSION} dimensions, float64"
    return [
        Row(
            f"{what}, {named(device)}; `torch.matmul` of the same blocks alone",
            seconds(times["ours"]),
            seconds(times["product"]),
            f"{share:.0%} of its rate",
        )
    ]


def solved(scale: Scale) -> list[Row]:
    """Exact transport of many problems, costs given on the device."""
    if importlib.util.find_spec("torch") is None:
        return [Row("transport on torch", "", "skipped: torch is not installed")]
    import torch

    device = device_name()
    count = scale.examples // (10 if device == "cuda" else 100)
    rng = np.random.default_rng(1)
    rows = []
    for m, n in ((5, 14), (10, 10)):
        sides = [rng.random((count, m, n)), np.full((count, m), 1 / m), np.full((count, n), 1 / n)]
        there = [torch.from_numpy(side).to(device) for side in sides]
        found = transport(*there).costs
        agree("numpy", found.tolist(), transport(*sides).costs.tolist(), TOLERANCE)
        runs: dict[str, Callable[[], Any]] = {
            "ours": partial(finished, device, partial(transport, *there)),
            "numpy": partial(transport, *sides),
        }
        times = take_turns(runs, scale.repeats)
        rows.append(
            Row(
                f"transport, costs given, {m} x {n}, {count:,} problems, {named(device)};"
                " numpy on the processor",
                seconds(times["ours"]),
                seconds(times["numpy"]),
                ratio(times["numpy"], times["ours"]),
            )
        )
    return rows


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"cosines": cosines, "transport": solved}
