"""How time and memory grow with the items: one call, a stream, shards with their merge, and Ray.

Synthetic label sets of about five labels a side from a vocabulary of 1,000, in JSON lines, are
scored by F1 (by example, micro and macro) from the command line, each time in a new process. The
scores must agree to the last digit before a time is reported. The shards are scored one after the
other, as one machine of a job array would score one of them.

    python -m benchmarks.scale --items 100000 1000000 10000000
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labels import Scale, agree
from benchmarks.timing import ROOT, Row

__all__ = ["WORKLOADS", "main"]

MEASURES = ("-m", "F1", "-m", "MicroF1", "-m", "MacroF1")
SHARDS, FILES = 4, 8
_DISTINCT = 1 << 16  # lists of labels; items repeat them
_SCORE = ("score", "-q", *MEASURES)
_JSON = ("--format", "json")
_RUN = """
import sys
from benchmarks.timing import megabytes
from semmetrics.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    sys.stdout.flush()
    sys.stderr.write(f"{megabytes()[0]}")
    raise
"""
_START = "import ray, time; t = time.time(); ray.init(num_cpus={cpus}); print(time.time() - t)"


def write_files(folder: Path, items: int, *, shuffled: bool = False) -> None:
    """Write both sides in several files, perhaps the ground truth in another order of ids."""
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 1001)
    shares /= shares.sum()
    truth = rng.choice(1000, (_DISTINCT, 5), p=shares)
    guess = np.where(
        rng.random(truth.shape) < 0.6, truth, rng.choice(1000, truth.shape, p=shares)
    )
    step = next(k for k in range(items // 3 | 1, items) if math.gcd(k, items) == 1)
    for side, codes in (("preds", guess), ("gt", truth)):
        lists = [
            json.dumps([f"label {c:04d}" for c in dict.fromkeys(row)])
            for row in codes.tolist()
        ]
        (folder / side).mkdir()
        place = (lambda i: i * step % items) if shuffled and side == "gt" else int
        for file in range(FILES):
            start, stop = items * file // FILES, items * (file + 1) // FILES
            with (folder / side / f"part-{file}.jsonl").open("w") as out:
                out.writelines(_lines(lists, map(place, range(start, stop))))


def _lines(lists: Sequence[str], items: Iterator[int]) -> Iterator[str]:
    for item in items:
        yield f'{{"id": "image{item:010d}", "labels": {lists[item % len(lists)]}}}\n'


def run(code: str, *arguments: str) -> tuple[Any, float, float]:
    """Run code in a new process: what it prints, seconds, and its peak memory in MB."""
    start = time.perf_counter()
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{arguments} failed: {done.stderr[-2000:]}")
    peak = done.stderr.strip().rpartition("\n")[2]
    return (
        done.stdout,
        seconds,
        float(peak) if peak.replace(".", "").isdecimal() else math.nan,
    )


def values(text: str) -> list[float]:
    """The values of scores in JSON."""
    return [entry["value"] for entry in json.loads(text)["scores"]]


def one_call(folder: Path) -> tuple[Any, float, float]:
    """All items in memory."""
    whole = {}
    for side in ("preds", "gt"):
        whole[side] = folder / f"{side}.jsonl"
        with whole[side].open("wb") as out:
            for part in sorted((folder / side).iterdir()):
                out.write(part.read_bytes())
    return run(_RUN, *_SCORE, *_JSON, str(whole["preds"]), str(whole["gt"]))


def stream(folder: Path, *more: str) -> tuple[Any, float, float]:
    """Both sides block by block."""
    form = () if "--state" in more else _JSON
    return run(
        _RUN,
        *_SCORE,
        *form,
        "--stream",
        *more,
        str(folder / "preds"),
        str(folder / "gt"),
    )


def shards(folder: Path) -> tuple[Any, float, float]:
    """Shards that write states, and their merge; the seconds are those of all."""
    states, seconds, most = [], 0.0, 0.0
    for number in range(1, SHARDS + 1):
        states.append(str(folder / f"{number}.state"))
        part = ("--shard", f"{number}/{SHARDS}", "--state", states[-1])
        _, took, peak = stream(folder, *part)
        seconds, most = seconds + took, max(most, peak)
    text, took, peak = run(_RUN, "merge", "-q", *_JSON, *states)
    return text, seconds + took, max(most, peak)


def on_ray(folder: Path, cpus: int) -> tuple[Any, float, float]:
    """By Ray with some workers on this machine, its start included."""
    code = (
        "import ray, sys; ray.init(num_cpus=int(sys.argv[1]), log_to_driver=False,"
        " logging_level='error'); from semmetrics.scale import score_dataset;"
        "t = score_dataset({'preds': sys.argv[2]}, sys.argv[3],"
        " measures=['F1', 'MicroF1', 'MacroF1']); print(t.to_json())"
    )
    return run(code, str(cpus), str(folder / "preds"), str(folder / "gt"))


def measure(items: int, *, ci: bool = True) -> Iterator[tuple[str, float, float]]:
    """Yield what was run, its seconds and its peak memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, items)
        jobs: dict[str, Callable[[], tuple[Any, float, float]]] = {
            "one call": lambda: one_call(folder),
            "stream, in order": lambda: stream(folder),
            f"{SHARDS} shards and merge": lambda: shards(folder),
        }
        if importlib.util.find_spec("ray") is not None:
            jobs |= {
                "Ray, 1 worker": lambda: on_ray(folder, 1),
                "Ray, 2 workers": lambda: on_ray(folder, 2),
            }
        expected: list[float] = []
        for what, job in jobs.items():
            text, seconds, peak = job()
            expected = expected or values(text)
            agree(what, values(text), expected, 0.0)
            yield what, seconds, peak
        if ci:
            yield "stream, 1,000 resamples", *stream(folder, "--ci")[1:]
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), items, shuffled=True)
        text, seconds, peak = stream(Path(name))
        agree("shuffled", values(text), expected, 0.0)
        yield "stream, in another order", seconds, peak
    if importlib.util.find_spec("ray") is not None:
        yield (
            "Ray's start alone",
            float(run(_START.format(cpus=2))[0].split()[-1]),
            math.nan,
        )


def growth(scale: Scale) -> list[Row]:
    """Of one size: a stream beside one call."""
    found = {
        what: (took, peak) for what, took, peak in measure(scale.examples, ci=False)
    }
    (base, most) = found.pop("one call")
    return [
        Row(
            f"{what}, {scale.examples:,} items; one call",
            f"{took:.1f} s, {peak:.0f} MB",
            f"{base:.1f} s, {most:.0f} MB",
            f"{base / took:.2f}x",
        )
        for what, (took, peak) in found.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of times and peak memory."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale", description=__doc__
    )
    parser.add_argument("--items", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument(
        "--without-ci", action="store_true", help="no replicates, which take long"
    )
    asked = parser.parse_args(arguments)
    sys.stdout.write(
        "| items | what | seconds | items a second | peak MB |\n|---|---|---|---|---|\n"
    )
    for items in asked.items:
        for what, seconds, peak in measure(items, ci=not asked.without_ci):
            rate = f"{items / seconds:,.0f}"
            sys.stdout.write(
                f"| {items:,} | {what} | {seconds:.1f} | {rate} | {peak:.0f} |\n"
            )
            sys.stdout.flush()


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"growth": growth}

if __name__ == "__main__":
    main()
