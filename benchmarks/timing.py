"""Timing of contenders in turns, the memory of a process, and a description of the machine."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Row",
    "Times",
    "fresh",
    "machine",
    "megabytes",
    "ratio",
    "seconds",
    "take_turns",
]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Times:
    """Wall-clock seconds of one contender, one entry a run."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median run."""
        return statistics.median(self.runs)


@dataclass(frozen=True)
class Row:
    """One line of a results table: the workload, our cost, the peer's, and their ratio."""

    workload: str
    ours: str
    peer: str = ""
    ratio: str = ""


def take_turns(
    contenders: Mapping[str, Callable[[], object]], repeats: int
) -> dict[str, Times]:
    """Run the contenders alternately, so that a slow phase of the machine meets them all."""
    runs: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            runs[name].append(time.perf_counter() - start)
    return {name: Times(tuple(values)) for name, values in runs.items()}


def fresh(code: str, *arguments: str) -> str:
    """Run code in a new interpreter at the project's root and give what it prints."""
    command = [sys.executable, "-c", code, *arguments]
    # An installed package has its bytecode compiled, which this variable would prevent.
    kept = {
        name: text
        for name, text in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    done = subprocess.run(
        command, cwd=ROOT, env=kept, check=False, text=True, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"{code}\n{done.stderr}")
    return done.stdout


def megabytes() -> tuple[float, str]:
    """Peak memory of this process in MB, and where the number comes from.

    Linux keeps the peak of the parent in a child's ``ru_maxrss``, so the process' own high-water
    mark is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6, "VmHWM"
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 1 if sys.platform == "darwin" else 1024
    return peak * unit / 1e6, "ru_maxrss"


def seconds(times: Times) -> str:
    """Median and range, in the unit that suits them."""
    unit, scale = ("ms", 1e3) if times.median < 1 else ("s", 1.0)
    low, high = min(times.runs) * scale, max(times.runs) * scale
    return f"{times.median * scale:.3g} {unit} ({low:.3g} to {high:.3g})"


def ratio(peer: Times, ours: Times) -> str:
    """How many times longer the peer takes, median against median."""
    found = peer.median / ours.median
    return f"{found:.1f}x" if found >= 1 else f"{found:.2f}x"


def machine() -> list[str]:
    """What the numbers were measured on, without the names of the machine and its folders."""
    lines = [
        f"processor: {_processor()}, {os.cpu_count()} logical cores",
        f"memory: {_memory()}",
        f"system: {platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
    ]
    for name in ("numpy", "scipy", "scikit-learn", "torch", "torchmetrics"):
        try:
            lines.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{name} not installed")
    return lines


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _memory() -> str:
    info = Path("/proc/meminfo")
    if info.exists():
        return f"{int(info.read_text().split()[1]) * 1024 / 1e9:.0f} GB"
    return "unknown"
