"""Word mover's distance of many pairs of short texts, beside gensim and POT in the same run.

Every contender starts from the same lists of words and has a model at hand: a dictionary of words
and their vectors, as gensim keeps them. Looking words up, counting them and computing distances is
part of its time. The distances must agree to 1e-9 before a time is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import semmetrics
from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics.core.assignment import (
    first_allowed,
    greedy_matching,
    max_cardinality_matching,
    max_similarity_matching,
)
from semmetrics.core.backend import Backend
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.ragged import distinct_codes, offsets
from semmetrics.core.transport import WeightedWords, transport

__all__ = ["WORKLOADS"]

WORDS = 5_000
DIMENSION = 300
TOLERANCE = 1e-9
GENSIM = "gensim `wmdistance`"
DEFAULTS = f"{GENSIM} as it is called by default"
Lists = list[list[str]]


@dataclass(frozen=True)
class Texts:
    """Pairs of word lists and the vectors of their words."""

    predicted: Lists
    reference: Lists
    vectors: NDArray[np.float32]

    @cached_property
    def places(self) -> dict[str, int]:
        """The row of each word."""
        return {f"word{row}": row for row in range(len(self.vectors))}

    @cached_property
    def distances(self) -> EuclideanDistances:
        """Of pairs of words, with the vectors in double precision."""
        return EuclideanDistances(self.vectors)


def make_texts(pairs: int, sizes: tuple[int, int], seed: int = 0) -> Texts:
    """Random words, repeats included, with normal vectors."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(WORDS, DIMENSION)).astype(np.float32)
    names = np.array([f"word{row}" for row in range(WORDS)], object)
    predicted, reference = (
        names[rng.integers(WORDS, size=(pairs, size))].tolist() for size in sizes
    )
    return Texts(predicted, reference, vectors)


def counted(lists: Lists, places: dict[str, int]) -> WeightedWords:
    """Count the distinct words of each list."""
    sizes = np.fromiter(map(len, lists), np.int64, len(lists))
    codes = np.fromiter(itemgetter(*chain.from_iterable(lists))(places), np.int64)
    indptr, codes, counts = distinct_codes(offsets(sizes), codes, len(places))
    return WeightedWords(indptr, codes, counts / np.repeat(sizes, np.diff(indptr)))


def ours(texts: Texts) -> list[float]:
    """All pairs at once."""
    sides = (
        counted(lists, texts.places) for lists in (texts.predicted, texts.reference)
    )
    return transport(texts.distances, *sides).costs.tolist()


def pot(texts: Texts) -> list[float]:
    """One call of ``ot.emd2`` a pair, on distances by scipy."""
    import ot
    from scipy.spatial.distance import cdist

    places, vectors = texts.places, texts.distances.vectors
    result = []
    for pair in zip(texts.predicted, texts.reference, strict=True):
        (mine, rows), (theirs, columns) = (
            (
                vectors[[places[word] for word in count]],
                np.array([*count.values()]) / sum(count.values()),
            )
            for count in map(Counter, pair)
        )
        result.append(float(ot.emd2(rows, columns, cdist(mine, theirs))))
    return result


def gensim(texts: Texts, model: Any, **options: bool) -> list[float]:
    """One call of ``wmdistance`` a pair."""
    return [
        model.wmdistance(*pair, **options)
        for pair in zip(texts.predicted, texts.reference, strict=True)
    ]


def scored(texts: Texts, model: Any) -> list[float]:
    """The mean distance by ``semmetrics.score``, from dictionaries of lists to the signature."""
    sides = (dict(enumerate(lists)) for lists in (texts.predicted, texts.reference))
    return [semmetrics.score(*sides, measures=["WMD"], embedding=model)["WMD"].value]


def distances(sizes: tuple[int, int], scale: Scale) -> list[Row]:
    """Word mover's distance of pairs of texts of these sizes."""
    texts = make_texts(scale.examples // 100, sizes)
    contenders: dict[str, Callable[[], list[float]]] = {
        "ours": partial(ours, texts),
        "`ot.emd2`": partial(pot, texts),
    }
    what = "WMD from lists, {} x {} words, {:,} pairs, {} distinct words of {} dimensions".format(
        *sizes, len(texts.predicted), WORDS, DIMENSION
    )
    skipped = ""
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        skipped = f"skipped: {error}"
    else:
        model = KeyedVectors(DIMENSION)
        model.add_vectors([*texts.places], texts.vectors)
        normed = replace(texts, vectors=model.get_normed_vectors())
        agree(DEFAULTS, ours(normed), gensim(texts, model), TOLERANCE)
        contenders[f"{GENSIM}, `norm=False`"] = partial(
            gensim, texts, model, norm=False
        )
        contenders["`semmetrics.score`"] = partial(scored, texts, model)
    mine = ours(texts)
    for name, run in contenders.items():
        theirs = run()
        agree(
            name, mine if len(theirs) > 1 else [float(np.mean(mine))], theirs, TOLERANCE
        )
    # which makes vectors as long as each other: other distances, the same work
    if not skipped:
        contenders[DEFAULTS] = partial(gensim, texts, model)
    times = take_turns(contenders, scale.repeats)
    own, whole = times.pop("ours"), times.pop("`semmetrics.score`", None)
    rows = [
        Row(f"{what}; {name}", seconds(own), seconds(taken), ratio(taken, own))
        for name, taken in times.items()
    ]
    if whole is None:
        return [*rows, Row(f"{what}; gensim", "", skipped)]
    name, peer = times.popitem()
    what = f"{what}, by `semmetrics.score`; {name}"
    return [*rows, Row(what, seconds(whole), seconds(peer), ratio(peer, whole))]


class Given:
    """Costs given for each pair, whose words no other pair has."""

    def __init__(self, costs: Any) -> None:
        self.backend, self.costs = Backend(costs), costs
        self.pairs, self.m, self.n = costs.shape

    def __len__(self) -> int:
        return self.pairs * (self.m + self.n)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        first, last = pred_codes[0, 0] // self.m, pred_codes[-1, 0] // self.m
        return self.costs[first : last + 1]  # pairs of one size stay in their order

    def sides(self) -> tuple[WeightedWords, WeightedWords]:
        """Every word with the same weight."""
        ends, split = np.arange(self.pairs + 1), self.pairs * self.m
        codes = np.arange(len(self))
        return (
            WeightedWords(ends * self.m, codes[:split], np.ones(split)),
            WeightedWords(ends * self.n, codes[split:], np.ones(len(self) - split)),
        )


def compiled(scale: Scale) -> list[Row]:
    """Transport alone, costs given: all at once beside POT's compiled function in a loop."""
    from ot.lp.emd_wrap import emd_c

    pairs = scale.examples // 100
    rows = []
    for sizes in ((5, 14), (10, 10)):
        rng = np.random.default_rng(1)
        costs = EuclideanDistances(rng.normal(size=(WORDS, DIMENSION)))(
            *(rng.integers(WORDS, size=(pairs, size)) for size in sizes)
        )
        a, b = (np.full((pairs, size), 1 / size) for size in sizes)

        def loop(costs: Any = costs, a: Any = a[0], b: Any = b[0]) -> list[float]:
            return [emd_c(a, b, cost, 100_000, 1)[1] for cost in costs]

        given = Given(costs)
        at_once = partial(transport, given, *given.sides())
        agree("emd_c", at_once().costs.tolist(), loop(), TOLERANCE)
        times = take_turns({"ours": at_once, "loop": loop}, scale.repeats)
        what = "transport, costs given, {} x {}, {:,} problems; POT's `emd_c`".format(
            *sizes, pairs
        )
        mine, theirs = times["ours"], times["loop"]
        rows.append(Row(what, seconds(mine), seconds(theirs), ratio(theirs, mine)))
    return rows


def matching(scale: Scale) -> list[Row]:
    """One-to-one matching of similarity tensors in blocks."""
    items = scale.examples // 10
    rng = np.random.default_rng(2)
    block = rng.normal(0.2, 0.2, (10_000, 5, 14)).astype(np.float32)

    def run(match: Callable[[Any], Any], *, decided: bool) -> None:
        for _ in range(0, items, len(block)):
            match(block > 0.4 if decided else np.where(block > 0.4, block, -np.inf))

    ways = {
        "greedy": partial(run, greedy_matching, decided=True),
        "optimal": partial(run, max_cardinality_matching, decided=True),
        "any": partial(run, first_allowed, decided=True),
        "total": partial(run, max_similarity_matching, decided=False),
    }
    times = take_turns(ways, scale.repeats)
    return [
        Row(
            f"matching `{name}`, {items:,} items x (5 x 14), similarities given",
            seconds(taken),
        )
        for name, taken in times.items()
    ]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "labels": partial(distances, (5, 14)),
    "captions": partial(distances, (10, 10)),
    "compiled": compiled,
    "matching": matching,
}
