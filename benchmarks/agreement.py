"""Agreement with people: its resamples beside a loop over scipy, and a simulation of its claims.

The workload starts from values and ratings of as many captions as Flickr8k-Expert has. The
simulation, ``python -m benchmarks.agreement``, draws images with several captions, each rated by
several people on a scale of four, and counts how often an interval holds the true value, and how
often a test tells two equally good measures apart.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import semmetrics
from benchmarks.labels import Scale
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics import Bootstrap
from semmetrics.data.judgements import Judgements
from semmetrics.options import AGREEMENT
from semmetrics.scoring.draws import Draws
from semmetrics.studies.agreement import AgreementDesign, Judged, measure_agreement
from semmetrics.studies.correlations import correlation, resample
from semmetrics.studies.weighted_correlations import Correlated

__all__ = ["WORKLOADS", "draw", "judge", "simulate"]

IMAGES, CAPTIONS, RATERS = 1_000, 5_664, 3
Generator = np.random.Generator


def draw(
    images: int,
    captions: int,
    raters: int,
    rng: Generator,
    noise: float = 1.0,
    spread: float = 1.0,
) -> tuple[Any, ...]:
    """Draw two equally good scores, ratings from 1 to 4, and the image of each rating.

    Parameters
    ----------
    images, captions, raters : int
        How many there are, of each image and of each caption.
    rng : Generator
    noise : float
        Of either score, whose candidate has the quality that people see.
    spread : float
        Of the images, whose captions are alike.
    """
    of = np.repeat(np.arange(images), captions)
    quality = rng.normal(size=images)[of] * spread + rng.normal(size=len(of))
    scores = quality + noise * rng.normal(size=(2, len(of)))
    seen = np.repeat(quality, raters) + rng.normal(size=len(of) * raters)
    ratings = np.digitize(seen, [-0.3, 0.9, 2.0]) + 1.0
    return (*np.repeat(scores, raters, axis=1), ratings, np.repeat(of, raters))


def judge(ratings: Any, of: Any) -> Judgements:
    """Return ratings as they are read, each of a candidate of its own."""
    n = len(ratings)
    return Judgements(
        [str(i) for i in range(n)],
        [("",)] * n,
        [str(i) for i in of],
        True,
        ratings,
        np.arange(n),
        None,
        None,
        "drawn",
        [],
    )


def _design(
    statistics: Sequence[str], resamples: int, test: str = "bootstrap"
) -> AgreementDesign:
    made = Bootstrap(resamples=resamples)
    return AgreementDesign(tuple(statistics), "none", test, "none", "one", made)


def simulate(
    images: int,
    captions: int,
    raters: int,
    trials: int,
    resamples: int = 500,
    seed: int = 0,
) -> list[tuple[str, float, float, float]]:
    """Return for each statistic coverage of intervals, and the share of p below 0.05.

    Returns
    -------
    list of (statistic, coverage, share by bootstrap, share by Williams' test)
        The last is nan but for Pearson's r.
    """
    rng = np.random.default_rng(seed)
    one, _, ratings, _ = draw(60_000, captions, raters, rng)
    true = {name: correlation(one, ratings, name) for name in AGREEMENT}
    held, found, williams = dict.fromkeys(true, 0), dict.fromkeys(true, 0), 0
    for _ in range(trials):
        one, other, ratings, of = draw(images, captions, raters, rng)
        judgements = judge(ratings, of)
        both = [
            Judged(name, name, "", v) for name, v in (("one", one), ("other", other))
        ]
        for row in measure_agreement(judgements, both, _design(list(true), resamples)):
            if row.heading == "one":
                held[row.statistic] += row.low <= true[row.statistic] <= row.high
            else:
                found[row.statistic] += row.p < 0.05
        tested = measure_agreement(
            judgements, both, _design(["pearson"], 2, "williams")
        )
        williams += tested[1].p < 0.05
    return [
        (
            name,
            held[name] / trials,
            found[name] / trials,
            williams / trials if name == "pearson" else float("nan"),
        )
        for name in true
    ]


def resamples(_: Scale) -> list[Row]:
    """A thousand resamples of images, each statistic beside scipy's on the same resamples."""
    from scipy import stats

    rng = np.random.default_rng(0)
    one, _, ratings, of = draw(IMAGES, CAPTIONS // IMAGES + 1, RATERS, rng)
    n = CAPTIONS * RATERS
    one, ratings, of = one[:n], ratings[:n], of[:n]
    made, number = Bootstrap(), int(of.max()) + 1
    draws = Draws(np.arange(number), number, np.arange(number, dtype=np.uint64))
    by_group = np.split(np.arange(n), np.flatnonzero(np.diff(of)) + 1)
    peers: dict[str, Callable[[Any, Any], Any]] = {
        "kendall-c": lambda a, b: stats.kendalltau(a, b, variant="c"),
        "kendall-b": stats.kendalltau,
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
    }
    rows = []
    for name, of_scipy in peers.items():

        def ours(name: str = name) -> Any:
            return resample([Correlated.of(one, ratings, of)], [name], made, draws)[0][
                name
            ]

        def peer(of_scipy: Any = of_scipy) -> Any:
            found = []
            for counts in draws.counts(made, 256):
                for row in counts:
                    some = np.concatenate(
                        [by_group[g] for g in np.repeat(np.arange(number), row)]
                    )
                    found.append(of_scipy(one[some], ratings[some]).statistic)
            return np.array(found)

        np.testing.assert_allclose(ours(), peer(), atol=1e-11)
        times = take_turns({"ours": ours, "peer": peer}, 1)  # the peer takes long
        what = (
            f"{name}: {n:,} ratings of {number:,} images, {made.resamples:,} resamples"
        )
        rows.append(
            Row(
                what,
                seconds(times["ours"]),
                f"{seconds(times['peer'])} (scipy)",
                ratio(times["peer"], times["ours"]),
            )
        )
    return rows


WORKLOADS = {"resamples": resamples}


def main() -> None:
    """Print the simulation as Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agreement", description=__doc__
    )
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(
        f"Written by `python -m benchmarks.agreement --trials {given.trials} --seed {given.seed}`"
        f" of semmetrics {semmetrics.__version__}. A standard error of a share is about 0.005.\n"
    )
    print(
        "| images | captions | raters | statistic | coverage | bootstrap | Williams |"
    )
    print("|---|---|---|---|---|---|---|")
    for images, captions, raters in ((30, 1, 1), (100, 1, 1), (30, 4, 3)):
        for name, *shares in simulate(
            images, captions, raters, given.trials, seed=given.seed
        ):
            cells = [f"{share:.3f}" if share == share else "" for share in shares]
            print(
                "|",
                " | ".join([str(images), str(captions), str(raters), name, *cells]),
                "|",
                flush=True,
            )


if __name__ == "__main__":
    main()
