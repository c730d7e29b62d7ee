"""Intervals and tests on simulated data: ``python -m benchmarks.simulation``.

Two systems answer the same items, drawn from a known process. Without an effect both are drawn
alike. Intervals of the first are compared with the value of a very large dataset of the process,
by every method; p of the difference, by every test, should be below 0.05 in 5 of 100 datasets.
With an effect the second system makes fewer errors, and a test should find it the more often.

A macro average is compared with the average of the large dataset over the labels that the small
one averages over. What depends on the number of items (Vocabulary, Rsum) is compared with its mean
over the datasets of the same size.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semmetrics
from semmetrics import Bootstrap
from semmetrics.scoring.score_notes import interval_notes
from semmetrics.studies.comparisons import compare_scores
from semmetrics.studies.differences import Design
from semmetrics.studies.randomization import swapped_differences
from semmetrics.studies.rank_tests import signed_rank_p
from semmetrics.studies.significance import (
    shifted_p,
    shifted_size_p,
    simulated_p,
    student_t,
    subtract,
)

__all__ = ["CASES", "Case", "captions", "main", "simulate"]

METHODS = (
    "percentile",
    "bca",
    "jackknife",
    "jackknife-bias",
    "wilson",
    "hall",
    "poisson",
)
TESTS = (
    "interval",
    "bootstrap",
    "randomization",
    "t",
    "wilcoxon",
    "bootstrap-sacrebleu",
)
WORDS = np.array([f"w{number}" for number in range(200)], object)
Drawn = tuple[dict[str, Any], Any, dict[str, Any]]
Generator = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A process, what is computed, and how many items stand for the population (0: none can)."""

    name: str
    draw: Callable[[int, float, Generator], Drawn]
    measures: str
    population: int
    sizes: tuple[int, ...] = ()


@dataclass
class Line:
    """A measure of datasets of one size: the shares of true values held, and of p below 0.05."""

    case: str
    measure: str
    items: int
    effect: float
    default: str
    values: list[float] = field(default_factory=list)
    truths: list[float] = field(default_factory=list)
    limits: list[list[tuple[float, float]]] = field(default_factory=list)
    warned: list[bool] = field(default_factory=list)
    p: list[list[float]] = field(default_factory=list)

    @property
    def held(self) -> NDArray[np.float64]:
        """The share of intervals that hold the true value, by method, of those there are."""
        low, high = np.moveaxis(np.array(self.limits), 2, 0)
        true = np.array(self.truths)[:, None]
        held = (low <= true + 1e-12) & (true - 1e-12 <= high)
        return np.asarray(held.sum(axis=0) / (~np.isnan(low)).sum(axis=0))

    @property
    def widths(self) -> NDArray[np.float64]:
        """The mean width of the intervals, by method."""
        return np.asarray(
            np.nanmean(np.diff(np.array(self.limits), axis=2)[..., 0], axis=0)
        )

    @property
    def found(self) -> NDArray[np.float64]:
        """The share of p values below 0.05, by test; nan for tests of items that lack values."""
        p = np.array(self.p)
        of_items = [test in ("t", "wilcoxon") for test in TESTS]
        return np.where(
            np.isnan(p).any(axis=0) & of_items, np.nan, (p < 0.05).mean(axis=0)
        )


def label_sets(
    items: int,
    effect: float,
    rng: Generator,
    *,
    labels: int,
    hits: float,
    false: float,
    even: bool = False,
    scored: bool = False,
    **options: Any,
) -> Drawn:
    """Draw labels, most of them found, and false ones; some items and labels are harder."""
    rates = np.ones(labels) if even else 1 / np.arange(1, labels + 1)
    rates = np.minimum(2.5 * rates / rates.sum(), 0.8)
    ease = np.random.default_rng(7).beta(4, 2, labels) - 2 / 3
    true = rng.random((items, labels)) < rates
    hard = rng.random((items, 1)) - 0.5
    names = np.array([f"label {number}" for number in range(labels)], object)
    systems = {}
    for name, gain in (("one", 0.0), ("two", effect)):
        hit = hits + (1 - hits) * (hard + ease) + gain
        wrong = (false - 4 * gain) * rates / rates.sum() * (1 - hard)
        chance = np.where(true, hit, wrong)
        found = rng.random(true.shape) < chance
        if scored:
            scores = np.round(
                rng.normal(size=true.shape) + np.where(true, 2 + 2 * hard, 0), 2
            )
            systems[name] = [
                list(zip(names, row.tolist(), strict=True)) for row in scores
            ]
        else:
            systems[name] = [names[row].tolist() for row in found]
    return systems, [names[row].tolist() for row in true], options


def meanings(items: int, effect: float, rng: Generator) -> Drawn:
    """Label sets, compared by vectors that are the same in every dataset."""
    vectors = np.random.default_rng(5).normal(size=(12, 6))

    def embed(texts: Sequence[str]) -> Any:
        return np.array(
            [
                vectors[int(text.removeprefix("label ")) if text[:5] == "label" else 0]
                for text in texts
            ]
        )

    systems, refs, _ = label_sets(items, effect, rng, labels=12, hits=0.6, false=1.2)
    systems = {
        name: [some or ["label 0"] for some in one] for name, one in systems.items()
    }
    return systems, [some or ["label 1"] for some in refs], {"embedding": embed}


def captions(items: int, effect: float, rng: Generator) -> Drawn:
    """Draw two systems that repeat a sentence with errors, and references with fewer."""
    chances = 1 / np.arange(1, len(WORDS) + 1)
    chances /= chances.sum()
    size = (items, 12)
    words, lengths = rng.choice(len(WORDS), size, p=chances), rng.integers(7, 13, items)

    def copy(noise: Any) -> list[list[str]]:
        other = rng.choice(len(WORDS), size, p=chances)
        texts = WORDS[np.where(rng.random(size) < noise, other, words)]
        return [
            [" ".join(row[:n])] for row, n in zip(texts, lengths.tolist(), strict=True)
        ]

    hard = 0.2 + 0.2 * rng.random((items, 1))
    references = [a + b for a, b in zip(copy(0.1), copy(0.2), strict=True)]
    options = {
        "tokenizer": "whitespace",
        "task": "captions",
        "doc_freq": _frequencies(),
    }
    return {"one": copy(hard), "two": copy(hard - effect)}, references, options


@cache
def _frequencies() -> Any:
    """Document frequencies that are fixed, not part of what varies."""
    rng = np.random.default_rng(1)
    texts = [
        [" ".join(row)]
        for row in WORDS[np.minimum(rng.zipf(1.5, (5_000, 10)), 200) - 1]
    ]
    return semmetrics.fit_document_frequencies(texts, tokenizer="whitespace")


def repeated_captions(items: int, effect: float, rng: Generator) -> Drawn:
    """Captions that are often the same: 200 sentences, some much more frequent than others."""
    kinds = np.minimum(rng.zipf(1.5, (2, items)), 200)
    one, two = (
        [[f"a sentence about thing {kind}"] for kind in row] for row in kinds.tolist()
    )
    references = [[*some, "a sentence"] for some in one]
    return {"one": one, "two": two}, references, {"tokenizer": "whitespace"}


def retrieval(
    items: int,
    effect: float,
    rng: Generator,
    *,
    positives: int = 1,
    graded: bool = False,
) -> Drawn:
    """Queries over a gallery of 100; a few of them find their positives nowhere near the top."""
    hard = rng.normal(2.2, 1.2, (items, 1))
    places = np.argsort(rng.random((items, 100)), axis=1)[:, :positives]
    phi = rng.gamma(0.5, 0.2, (items, 100))
    systems = {}
    for name, gain in (("one", 0.0), ("two", effect)):
        similarities = rng.normal(size=(items, 100)) + 2 * graded * phi
        noise = rng.normal(0, 0.4, places.shape)
        np.put_along_axis(
            similarities,
            places,
            np.take_along_axis(similarities, places, 1) + hard + noise + gain,
            1,
        )
        systems[name] = similarities
    names = [f"candidate {number}" for number in range(100)]
    truth = [[names[place] for place in row] for row in places.tolist()]
    given = {"phi": {"phi": phi}} if graded else {}
    return systems, truth, {"task": "retrieval", "gallery": names, **given}


def both_directions(items: int, effect: float, rng: Generator) -> Drawn:
    """As many images as captions, one of each belonging together."""
    hard = rng.normal(1.6, 0.8, items)
    systems = {}
    for name, gain in (("one", 0.0), ("two", effect)):
        own = np.diag(hard + gain + rng.normal(0, 0.4, items))
        systems[name] = rng.normal(size=(items, items)) + own
    images = [f"image {number}" for number in range(items)]
    texts = [f"text {number}" for number in range(items)]
    truth = {image: [text] for image, text in zip(images, texts, strict=True)}
    return (
        systems,
        truth,
        {
            "task": "retrieval",
            "queries": images,
            "gallery": texts,
            "direction": "both",
        },
    )


def classes(items: int, effect: float, rng: Generator) -> Drawn:
    """Eight classes of unequal size, five of them seen."""
    names = [f"class {number}" for number in range(8)]
    truth = rng.choice(8, items, p=(0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05))
    ease = np.random.default_rng(3).normal(1.8, 0.6, 8)[truth] + rng.random(items) - 0.5
    systems = {}
    for name, gain in (("one", 0.0), ("two", effect)):
        scores = rng.normal(size=(items, 8)) + 0.4 * (np.arange(8) < 5)
        scores[np.arange(items), truth] += ease + gain
        systems[name] = scores
    given = {
        "task": "classes",
        "classes": names,
        "seen": names[:5],
        "unseen": names[5:],
    }
    return systems, [names[place] for place in truth], given


_NAMES = [f"label {number}" for number in range(12)]
_MACRO = "F1(average=macro,labels=reference) F1(average=macro,labels=union)"
CASES = (
    Case(
        "12 labels",
        partial(label_sets, labels=12, hits=0.6, false=1.2, classes=_NAMES),
        "F1 SubsetAccuracy HammingLoss CardinalityError F1(average=micro) F1(average=weighted) "
        "F1(average=macro) C-F1 CR",
        50_000,
    ),
    Case(
        "6 labels, nearly all right",
        partial(label_sets, labels=6, hits=0.95, false=0.1, even=True),
        "F1 SubsetAccuracy HammingLoss F1(average=micro) F1(average=macro)",
        50_000,
    ),
    Case(
        "12 labels, scored",
        partial(label_sets, labels=12, hits=0.6, false=1.2, scored=True),
        "LRAP RankingLoss CoverageError mAP ROC-AUC",
        20_000,
    ),
    Case("12 labels, meanings", meanings, "SemF1 SoftF1 WMD MeanSim", 20_000),
    Case("captions", captions, "BLEU-1 BLEU-4 CIDEr-D ROUGE-L", 20_000),
    Case("repeated captions", repeated_captions, "UniqueCaptions Vocabulary", 0),
    Case("retrieval", retrieval, "HitRate@1 HitRate@10 MRR MeanR MedR", 50_000),
    Case(
        "retrieval, 5 positives",
        partial(retrieval, positives=5),
        "Recall@5 R-Precision mAP@R MeanR",
        50_000,
    ),
    Case(
        "retrieval, phi",
        partial(retrieval, graded=True),
        "NCS@5 nDCG@5 SR(m=20)@5",
        20_000,
    ),
    Case("both directions", both_directions, "Rsum", 0),
    Case("classes", classes, "Accuracy PerClassAccuracy H AUSUC BestH", 20_000),
    Case(
        "100 labels",
        partial(label_sets, labels=100, hits=0.6, false=1.0),
        f"{_MACRO} Recall(average=macro)",
        100_000,
        (20, 100, 400),
    ),
    Case(
        "300 labels",
        partial(label_sets, labels=300, hits=0.6, false=1.0),
        _MACRO,
        100_000,
        (2_500,),
    ),
)


def simulate(
    case: Case,
    items: int,
    sets: int,
    *,
    effect: float = 0.0,
    resamples: int = 400,
    seed: int = 0,
    tests: bool = True,
) -> list[Line]:
    """Draw datasets of one size, and compute the intervals and p values of all measures."""
    truth = _population(case)
    rng = np.random.default_rng([seed, items, round(1000 * effect)])
    lines: dict[tuple[str, str], Line] = {}
    for _ in range(sets):
        systems, refs, options = case.draw(items, effect, rng)
        made = Bootstrap(resamples=resamples, seed=int(rng.integers(1 << 30)))
        scores = semmetrics.score_systems(
            systems, refs, measures=case.measures.split(), ci=made, **options
        ).scores
        one, two = (
            [score for score in scores if score.system == name] for name in systems
        )
        poisson = semmetrics.score(
            systems["one"],
            refs,
            measures=case.measures.split(),
            ci=replace(made, method="poisson"),
            **options,
        )
        p_values = [[np.nan] * len(TESTS)] * len(one)
        if tests:
            p_values = _p_values(scores, list(zip(two, one, strict=True)), made)
        for score, other, p in zip(one, poisson, p_values, strict=True):
            key, replicates = (score.part, score.heading), score.replicates
            line = lines.setdefault(
                key, Line(case.name, score.heading, items, effect, replicates.default)
            )
            if np.isnan(score.value):
                continue
            line.values.append(score.value)
            line.truths.append(_truth(truth[key], score) if truth else np.nan)
            found = [replicates.interval(method=method) for method in METHODS[:-1]]
            found.append(other.ci)
            line.limits.append([(one.low, one.high) for one in found])
            line.warned.append(
                any(f.code != "interval-methods" for f in interval_notes([score]))
            )
            line.p.append(p)
    for line in lines.values():
        if not truth or "Captions" in line.measure:
            line.truths = [float(np.mean(line.values))] * len(line.values)
    return list(lines.values())


@cache
def _population(case: Case) -> dict[tuple[str, str], Any]:
    """Score a large dataset; nothing if the values depend on the number of items."""
    if not case.population:
        return {}
    systems, refs, options = case.draw(case.population, 0.0, np.random.default_rng(3))
    table = semmetrics.score(
        systems["one"], refs, measures=case.measures.split(), **options
    )
    return {(score.part, score.heading): score for score in table}


def _p_values(
    scores: Sequence[Any], pairs: Sequence[tuple[Any, Any]], made: Bootstrap
) -> list[list[float]]:
    """Return p of each pair by each test; nan for tests of means, where it is none."""
    by_interval = compare_scores(scores, Design("interval", "one", "none", made))
    found = []
    swapped = swapped_differences(pairs, made)
    for (score, other), one, swaps in zip(pairs, by_interval, swapped, strict=True):
        drawn = subtract(score.replicates.values, other.replicates.values)
        p = [
            one.p,
            shifted_p(drawn, one.difference),
            simulated_p(swaps, one.difference),
        ]
        items = one.items if score.averaged is not None else np.full(1, np.nan)
        means = (
            [np.nan] * 2
            if np.isnan(items).any()
            else [student_t(items)[0], signed_rank_p(items)]
        )
        found.append([*p, *means, shifted_size_p(drawn, one.difference)])
    return found


def _truth(whole: Any, score: Any) -> float:
    """The value of the population, of a macro average over the labels that the dataset has."""
    over_labels = score.measure["average"] == "macro" or "PerClass" in score.heading
    if score.per_label is None or not over_labels:
        return float(whole.value)
    kept = ~np.isnan(score.per_label["value"])
    inside = np.isin(whole.per_label["label"], score.per_label["label"][kept])
    return float(np.mean(whole.per_label["value"][inside]))


def coverage_table(lines: Sequence[Line]) -> str:
    """Write the coverage of each method as Markdown; the default of a measure is bold."""
    head = ("data", "measure", "items", "bias", *METHODS, "noted")
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for line in lines:
        cells = []
        for method, share, width in zip(METHODS, line.held, line.widths, strict=True):
            text = f"{share:.3f}".lstrip("0") if share < 1 else "1"
            cells.append(
                f"{f'**{text}**' if method == line.default else text} ({width:.3g})"
            )
        bias = np.mean(line.values) - np.mean(line.truths)
        rows.append(
            f"| {line.case} | `{line.measure}` | {line.items} | {bias:+.3f} | "
            f"{' | '.join(cells)} | {np.mean(line.warned):.0%} |"
        )
    return "\n".join(rows) + "\n"


def significance_table(lines: Sequence[Line]) -> str:
    """Write the share of p below 0.05 of each test as Markdown."""
    head = ("data", "measure", "items", "effect", "sets", *TESTS)
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for line in lines:
        cells = [
            "" if np.isnan(share) else f"{share:.3f}".lstrip("0")
            for share in line.found
        ]
        rows.append(
            f"| {line.case} | `{line.measure}` | {line.items} | "
            f"{f'{line.effect:g}' if line.effect else 'none'} | {len(line.p):,} | "
            f"{' | '.join(cells)} |"
        )
    return "\n".join(rows) + "\n"


def _jobs(asked: argparse.Namespace) -> Iterator[tuple[int, int, int, float]]:
    """Yield what is simulated: the case, items, datasets and effect."""
    for number, case in enumerate(CASES):
        if asked.only and number + 1 not in asked.only:
            continue
        for items in asked.items or case.sizes or (10, 20, 30, 50, 100):
            yield (
                number,
                items,
                asked.sets // (20 if items > 1000 else 4 if case.sizes else 1),
                0.0,
            )
        if case.name in ("12 labels", "captions"):
            yield from ((number, 100, asked.power, effect) for effect in asked.effects)


def _run(job: tuple[int, int, int, float], asked: argparse.Namespace) -> list[Line]:
    number, items, sets, effect = job
    start = time.perf_counter()
    case = CASES[number]
    case = replace(case, population=(asked.population or 1) * case.population)
    how = {
        "resamples": asked.resamples,
        "seed": asked.seed,
        "tests": not asked.without_tests,
    }
    lines = simulate(case, items, sets, effect=effect, **how)
    took = time.perf_counter() - start
    sys.stderr.write(
        f"{CASES[number].name}, {items} items, {sets} sets: {took:.0f} s\n"
    )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and write or print both tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.simulation", description=__doc__
    )
    parser.add_argument("--sets", type=int, default=100, help="datasets of each size")
    parser.add_argument("--power", type=int, default=50, help="datasets of each effect")
    parser.add_argument("--items", type=int, nargs="+", help="sizes of the datasets")
    parser.add_argument("--effects", type=float, nargs="*", default=[0.03, 0.06, 0.09])
    parser.add_argument("--resamples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--population", type=int, help="so many times the items that stand for it"
    )
    parser.add_argument("--without-tests", action="store_true", help="intervals alone")
    parser.add_argument("--only", nargs="+", type=int, help="cases by number, from 1")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--coverage", type=Path, help="write the table of intervals to this file"
    )
    parser.add_argument(
        "--significance", type=Path, help="write the table of tests to this file"
    )
    asked = parser.parse_args(arguments)
    run = partial(_run, asked=asked)
    with ProcessPoolExecutor(asked.jobs) as pool:
        lines = [line for some in pool.map(run, _jobs(asked)) for line in some]
    how = (
        f"Written by `python -m benchmarks.simulation --sets {asked.sets} --power {asked.power} "
        f"--resamples {asked.resamples} --seed {asked.seed}`, by semmetrics "
        f"{semmetrics.__version__}. Each cell is the share of"
    )
    plain = [line for line in lines if not line.effect]
    tables = (
        (
            asked.coverage,
            f"{how} datasets whose 95% interval holds the true value, and the mean "
            'width of the intervals; the default of the measure is bold. "Noted" is the share of data '
            "sets in which a note says that the interval may fail, or that there is none. "
            "Of 100 and 300 labels there are a quarter and a twentieth of the datasets.\n\n"
            f"{coverage_table(plain)}",
        ),
        (
            asked.significance,
            f"{how} datasets in which p is below 0.05: without an effect false "
            "differences, which should be 0.050; with one, those that were found.\n\n"
            f"{significance_table(lines)}",
        ),
    )
    for path, text in tables:
        if path is None:
            sys.stdout.write(f"{text}\n")
        else:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
