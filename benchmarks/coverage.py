"""Coverage of confidence intervals by simulation: ``python -m benchmarks.coverage``.

Data sets are drawn from a known process. For each, the intervals of every method are made from one
set of replicates, and compared with the value of a very large data set of the same process. A
macro average is compared with the average of the large data set over the labels that the small one
averages over: no data set says anything of labels that it lacks. Values that grow with the number
of items (UniqueCaptions) are compared with their mean over data sets of the same size.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semmetrics
from semmetrics import Bootstrap

__all__ = ["CASES", "main", "simulate"]

METHODS = ("percentile", "bca", "jackknife", "jackknife-bias")
Sides = tuple[Any, Any]
Generator = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A process, what is computed of its data, and how many items stand for the population.

    ``sizes`` are the numbers of items of its data sets, where they are not those that are asked.
    """

    name: str
    draw: Callable[[int, Generator], Sides]
    measures: str
    population: int
    options: dict[str, Any] = field(default_factory=dict)
    same_size: frozenset[str] = frozenset()
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Coverage:
    """One line: the share of intervals that hold the true value, by method."""

    case: str
    measure: str
    items: int
    default: str
    bias: float
    few: float
    shares: tuple[float, ...]
    widths: tuple[float, ...]


class LabelSets:
    """Labels drawn one by one, three an item; some labels and some items are harder than others."""

    def __init__(self, labels: int, *, even: bool = False, scored: bool = False) -> None:
        rng = np.random.default_rng(7)
        rates = np.ones(labels) if even else 1 / np.arange(1, labels + 1)
        self.rates = np.minimum(3 * rates / rates.sum(), 0.9)
        self.recall, self.false = rng.beta(4, 2, labels), self.rates * rng.beta(2, 6, labels)
        self.scored = scored

    def __call__(self, items: int, rng: Generator) -> Sides:
        """Draw references and predictions."""
        refs: list[Any] = []
        preds: list[Any] = []
        for start in range(0, items, 10_000):
            size = (min(10_000, items - start), len(self.rates))
            true = rng.random(size) < self.rates
            hard = rng.random((size[0], 1)) < 0.5
            recall = np.where(hard, self.recall, (1 + self.recall) / 2)
            false = self.false * np.where(hard, 1.5, 0.5)
            found = rng.random(size) < np.where(true, recall, false)
            scores = np.round(rng.random(size) + 0.7 * true, 2)
            refs += [[f"label {c}" for c in np.flatnonzero(row)] for row in true]
            preds += [
                [(f"label {c}", float(some[c])) if self.scored else f"label {c}" for c in codes]
                for codes, some in zip(map(np.flatnonzero, found), scores, strict=True)
            ]
        return preds, refs


def captions(items: int, rng: Generator) -> Sides:
    """References are three noisy copies of a sentence, the candidate a fourth, noisier one."""
    names = np.array([f"w{number}" for number in range(500)], object)
    chances = 1 / np.arange(1, 501)
    chances /= chances.sum()

    def copy(words: NDArray[np.int64], noise: float) -> str:
        other = rng.choice(500, len(words), p=chances)
        return " ".join(names[np.where(rng.random(len(words)) < noise, other, words)])

    candidates, references = [], []
    for _ in range(items):
        words = rng.choice(500, rng.integers(6, 13), p=chances)
        candidates.append([copy(words, rng.choice([0.1, 0.4]))])
        references.append([copy(words, 0.2) for _ in range(3)])
    return candidates, references


def short_captions(items: int, rng: Generator) -> Sides:
    """Captions that are often the same: 200 sentences, some much more frequent than others."""
    kinds = np.minimum(rng.zipf(1.5, items), 200)
    candidates = [[f"a sentence about thing {kind}"] for kind in kinds.tolist()]
    return candidates, [[*some, "a sentence"] for some in candidates]


def _frequencies() -> Any:
    references = captions(5_000, np.random.default_rng(1))[1]
    return semmetrics.fit_document_frequencies(references, tokenizer="whitespace")


_MACRO = "F1(average=macro,labels=reference) F1(average=macro,labels=union)"
CASES = (
    Case("20 labels, equally frequent", LabelSets(20, even=True), _MACRO, 100_000),
    Case(
        "20 labels, Zipf",
        LabelSets(20),
        f"F1 F1(average=micro) F1(average=weighted) {_MACRO}",
        100_000,
    ),
    Case(
        "100 labels, Zipf",
        LabelSets(100),
        f"F1 F1(average=micro) F1(average=weighted) {_MACRO} Recall(average=macro)",
        200_000,
    ),
    Case("100 labels, Zipf, scored", LabelSets(100, scored=True), "LRAP mAP", 50_000),
    Case("20 labels, Zipf, meanings", LabelSets(20), "SemF1", 20_000),
    Case("captions", captions, "BLEU-4 CIDEr-D ROUGE-L", 60_000, {"tokenizer": "whitespace"}),
    Case(
        "repeated captions",
        short_captions,
        "UniqueCaptions Vocabulary",
        100,
        {"tokenizer": "whitespace"},
        frozenset(("UniqueCaptions", "Vocabulary")),
    ),
    Case("300 labels, Zipf", LabelSets(300), f"F1 {_MACRO}", 150_000, sizes=(2_500,)),
)


def simulate(
    case: Case, sizes: Sequence[int], sets: int, *, resamples: int = 400, seed: int = 0
) -> Iterator[Coverage]:
    """Draw data sets of each size, and count the intervals that hold the true value."""
    options: dict[str, Any] = {**case.options, "measures": case.measures.split()}
    if "CIDEr-D" in case.measures:  # document frequencies are fixed, not part of what varies
        options["doc_freq"] = _frequencies()
    population = semmetrics.score(*case.draw(case.population, np.random.default_rng(3)), **options)
    options["ci"] = Bootstrap(resamples=resamples)
    for items in sizes:
        rng = np.random.default_rng([seed, items])
        drawn = [semmetrics.score(*case.draw(items, rng), **options) for _ in range(sets)]
        yield from _compare(case, population, drawn)


def _compare(case: Case, population: Any, drawn: Sequence[Any]) -> Iterator[Coverage]:
    """Compare the intervals of data sets of one size with the true values."""
    for place, whole in enumerate(population):
        scores = [one.scores[place] for one in drawn]
        truths = [_truth(whole, score) for score in scores]
        if whole.heading in case.same_size:
            truths = [float(np.mean([score.value for score in scores]))] * len(scores)
        limits = np.array([[_limits(score, method) for method in METHODS] for score in scores])
        true = np.array(truths)[:, None]
        held = (limits[..., 0] <= true + 1e-12) & (true - 1e-12 <= limits[..., 1])
        widths = limits[..., 1] - limits[..., 0]
        yield Coverage(
            case.name,
            whole.heading,
            scores[0].n,
            scores[0].replicates.default,
            float(np.mean([s.value for s in scores]) - true.mean()),
            float(np.mean([_few(score) for score in scores])),
            tuple(held.mean(axis=0).tolist()),
            tuple(np.nanmean(widths, axis=0).tolist()),
        )


def _limits(score: Any, method: str) -> tuple[float, float]:
    found = score.replicates.interval(method=method)
    return found.low, found.high


def _truth(whole: Any, score: Any) -> float:
    """The value of the population, of a macro average over the labels that the data set has."""
    if score.per_label is None or score.measure["average"] != "macro":
        return float(whole.value)
    inside = np.isin(whole.per_label["label"], score.per_label["label"])
    kept = ~np.isnan(score.per_label["value"])
    inside &= np.isin(whole.per_label["label"], score.per_label["label"][kept])
    return float(np.mean(whole.per_label["value"][inside]))


def _few(score: Any) -> float:
    """The share of labels with fewer than five true items; nan without labels."""
    if score.per_label is None or score.measure["average"] != "macro":
        return np.nan
    return float((score.per_label["support"] < 5).mean())


def table(rows: Sequence[Coverage]) -> str:
    """Write the results as Markdown; the default of a measure is bold."""
    lines = [
        f"| data | measure | items | bias | few | {' | '.join(METHODS)} |",
        f"|---|---|---|---|---|{'---|' * len(METHODS)}",
    ]
    for row in rows:
        cells = []
        for method, share, width in zip(METHODS, row.shares, row.widths, strict=True):
            text = f"{share:.3f}".lstrip("0") if share < 1 else "1"
            text = f"**{text}**" if method == row.default else text
            cells.append(f"{text} ({width:.3g})")
        few = "" if np.isnan(row.few) else f"{row.few:.0%}"
        lines.append(
            f"| {row.case} | `{row.measure}` | {row.items} | {row.bias:+.3f} | {few} | "
            f"{' | '.join(cells)} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and write or print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--sets", type=int, default=100, help="data sets of each size")
    parser.add_argument("--items", type=int, nargs="+", default=[20, 100, 400])
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", type=int, help="cases by number, from 1")
    parser.add_argument("-o", "--output", type=Path, help="write the table to this file")
    asked = parser.parse_args(arguments)
    cases = CASES if asked.only is None else [CASES[number - 1] for number in asked.only]
    rows: list[Coverage] = []
    begun = time.perf_counter()
    for case in cases:
        start = time.perf_counter()
        sizes = case.sizes or asked.items
        rows += simulate(case, sizes, asked.sets, resamples=asked.resamples, seed=asked.seed)
        sys.stderr.write(f"{case.name}: {time.perf_counter() - start:.0f} s\n")
    text = (
        f"Written by `python -m benchmarks.coverage --sets {asked.sets} --seed {asked.seed}` in "
        f"{time.perf_counter() - begun:.0f} seconds, by semmetrics {semmetrics.__version__} with "
        f"{asked.resamples} resamples. Each cell is the share of {asked.sets} data sets whose 95% "
        "interval holds the true value, and the mean width of the intervals; the default of the "
        'measure is bold. "Few" is the mean share of labels with fewer than five true items.'
        f"\n\n{table(rows)}"
    )
    if asked.output is None:
        sys.stdout.write(text)
    else:
        asked.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
