"""How often tests find a difference, by simulation: ``python -m benchmarks.significance``.

Two systems answer the same items. Without an effect both are drawn from one process, so that every
difference that a test finds is false: p should be below 0.05 in 5 of 100 data sets. With an effect
the second one makes fewer errors, and a test should find it the more often, the larger it is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import semmetrics
from semmetrics import Bootstrap
from semmetrics.comparison.paired import Design, compare_scores
from semmetrics.errors import InputError

__all__ = ["CASES", "Found", "main", "simulate", "table"]

TESTS = ("bootstrap", "randomization", "t", "wilcoxon", "bootstrap-sacrebleu")
WORDS = np.array([f"w{number}" for number in range(200)], object)
LABELS = np.array([f"label {number}" for number in range(12)], object)
Generator = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A process, and what is compared."""

    name: str
    draw: Callable[[int, float, Generator], tuple[dict[str, Any], Any]]
    measures: tuple[str, ...]
    options: dict[str, Any]


@dataclass(frozen=True)
class Found:
    """One line: the share of data sets with p below 0.05, by test; nan where a test is not for it.

    ``alpha`` is the level, and ``error`` the standard error of a share of that size.
    """

    case: str
    measure: str
    items: int
    effect: float
    sets: int
    shares: tuple[float, ...]


def labels(items: int, effect: float, rng: Generator) -> tuple[dict[str, Any], Any]:
    """Draw two systems that find labels and invent some; some items are harder than others."""
    rates = 1 / np.arange(1, len(LABELS) + 1)
    true = rng.random((items, len(LABELS))) < np.minimum(2.5 * rates / rates.sum(), 0.8)
    hard = rng.random((items, 1))
    systems = {}
    for name, gain in (("one", 0.0), ("two", effect)):
        found = rng.random(true.shape) < np.where(true, 0.3 + 0.5 * hard + gain, 0.12 - gain / 3)
        systems[name] = [LABELS[row].tolist() for row in found]
    return systems, [LABELS[row].tolist() for row in true]


def captions(items: int, effect: float, rng: Generator) -> tuple[dict[str, Any], Any]:
    """Draw two systems that repeat a sentence with errors, and references with fewer."""
    chances = 1 / np.arange(1, len(WORDS) + 1)
    chances /= chances.sum()
    size = (items, 12)
    words, lengths = rng.choice(len(WORDS), size, p=chances), rng.integers(7, 13, items)

    def copy(noise: Any) -> list[list[str]]:
        other = rng.choice(len(WORDS), size, p=chances)
        texts = WORDS[np.where(rng.random(size) < noise, other, words)]
        return [[" ".join(row[:n])] for row, n in zip(texts, lengths.tolist(), strict=True)]

    hard = 0.2 + 0.2 * rng.random((items, 1))
    references = [a + b for a, b in zip(copy(0.1), copy(0.2), strict=True)]
    return {"one": copy(hard), "two": copy(hard - effect)}, references


CASES = (
    Case("label sets", labels, ("F1", "F1(average=micro)"), {}),
    Case("captions", captions, ("BLEU-4",), {"tokenizer": "whitespace", "task": "captions"}),
)


def simulate(
    case: Case, items: int, effect: float, sets: int, *, resamples: int = 1000, seed: int = 0
) -> Iterator[Found]:
    """Draw data sets, and count those in which each test finds a difference."""
    rng = np.random.default_rng([seed, items, round(1000 * effect)])
    below = np.zeros((len(case.measures), len(TESTS)))
    for _ in range(sets):
        systems, references = case.draw(items, effect, rng)
        made = Bootstrap(resamples=resamples, seed=int(rng.integers(1 << 30)))
        scores = semmetrics.score_systems(
            systems, references, measures=list(case.measures), ci=made, **case.options
        ).scores
        for column, test in enumerate(TESTS):
            for row, name in enumerate(case.measures):
                some = [score for score in scores if score.heading == name]
                try:
                    (found,) = compare_scores(some, Design(test, "one", "none", made))
                except InputError:  # no mean over items
                    below[row, column] = np.nan
                else:
                    below[row, column] += found.p < 0.05
    for row, name in enumerate(case.measures):
        yield Found(case.name, name, items, effect, sets, tuple((below[row] / sets).tolist()))


def table(rows: Sequence[Found]) -> str:
    """Write the results as Markdown."""
    lines = [
        f"| data | measure | items | effect | data sets | {' | '.join(TESTS)} |",
        f"|---|---|---|---|---|{'---|' * len(TESTS)}",
    ]
    for row in rows:
        cells = ["" if np.isnan(share) else f"{share:.3f}" for share in row.shares]
        effect = f"{row.effect:g}" if row.effect else "none"
        lines.append(
            f"| {row.case} | `{row.measure}` | {row.items} | {effect} | {row.sets:,} | "
            f"{' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and write or print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.significance", description=__doc__)
    parser.add_argument("--sets", type=int, default=200, help="data sets without an effect")
    parser.add_argument("--power", type=int, default=100, help="data sets of each effect")
    parser.add_argument("--items", type=int, nargs="+", default=[100])
    parser.add_argument("--effects", type=float, nargs="*", default=[0.03, 0.06, 0.09])
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, help="write the table to this file")
    asked = parser.parse_args(arguments)
    rows: list[Found] = []
    for case in CASES:
        for items in asked.items:
            for effect in (0.0, *asked.effects):
                start, sets = time.perf_counter(), asked.power if effect else asked.sets
                rows += simulate(
                    case, items, effect, sets, resamples=asked.resamples, seed=asked.seed
                )
                took = time.perf_counter() - start
                sys.stderr.write(f"{case.name}, {items} items, effect {effect}: {took:.0f} s\n")
    text = (
        f"Written by `python -m benchmarks.significance --sets {asked.sets} --power {asked.power} "
        f"--seed {asked.seed}` of semmetrics {semmetrics.__version__}, with {asked.resamples:,} "
        "resamples. Each cell is the share of data sets in which p is below 0.05: without an "
        "effect false differences, of which there should be 0.050; with one, those that were "
        f"found.\n\n{table(rows)}"
    )
    if asked.output is None:
        sys.stdout.write(text)
    else:
        asked.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
