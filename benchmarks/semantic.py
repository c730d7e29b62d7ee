"""Semantic matching of label lists beside the way papers' code does it: one cosine call at a time.

Every contender starts from the same lists of labels and the same vectors in memory. The peers are
timed on a sample of the items, since they are slow; rates are compared. All must agree on the
number of matches of the sample before a time is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

import semmetrics
from benchmarks.labels import Scale
from benchmarks.timing import Row, Times, fresh, seconds, take_turns
from semmetrics.embed.embedder import Embedded

__all__ = ["WORKLOADS"]

PREDICTED, REFERENCE, THRESHOLD = 5, 14, 0.4
Lists = list[list[str]]


class Vectors:
    """Vectors of the benchmark's labels, clustered so that some labels are alike."""

    identity = "benchmark-300@000000000000"
    dimension = 300

    def __init__(self, labels: int) -> None:
        rng = np.random.default_rng(0)
        kinds = rng.normal(size=(labels // 5, self.dimension))
        near = kinds[np.arange(labels) % len(kinds)] + rng.normal(
            size=(labels, self.dimension)
        )
        self.rows: NDArray[np.float32] = near.astype(np.float32)
        self.place = {f"label {number}": number for number in range(labels)}

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Rows of the table."""
        rows = self.rows[[self.place[text] for text in texts]]
        return Embedded(rows, np.ones(len(texts), np.bool_))


def make_lists(items: int, size: int, model: Vectors, seed: int) -> Lists:
    """Random labels, without repeats in a list."""
    rng = np.random.default_rng(seed)
    names = np.array(list(model.place), object)
    first = rng.integers(len(names), size=(items, 1))
    step = rng.integers(1, len(names) // size, size=(items, 1))
    return names[(first + step * np.arange(size)) % len(names)].tolist()


def ours(pred: Lists, ref: Lists, model: Vectors) -> float:
    """Semantic precision, recall and F1, from lists."""
    options = f"threshold={THRESHOLD},match=greedy"
    measures = [f"Sem{name}({options})" for name in ("Precision", "Recall", "F1")]
    return (
        semmetrics.score(pred, ref, measures=measures, embedding=model).scores[0].value
    )


def rules(scale: Scale) -> list[Row]:
    """Time SemF1 by the default rule of matching and by the paper's, on few and on many matches."""
    return [_time_rules(scale, n_labels) for n_labels in (5_000, 100)]


def _time_rules(scale: Scale, n_labels: int) -> Row:
    """Time both rules with a number of distinct labels."""
    model = Vectors(n_labels)
    items = scale.examples // 10
    pred = make_lists(items, PREDICTED, model, 1)
    ref = make_lists(items, REFERENCE, model, 2)

    def score_by(match: str) -> float:
        measure = f"SemF1(threshold={THRESHOLD},match={match})"
        return (
            semmetrics.score(pred, ref, measures=measure, embedding=model)
            .scores[0]
            .value
        )

    contenders = {
        "ours": partial(score_by, "exact-first"),
        "peer": partial(score_by, "greedy"),
    }
    times = take_turns(contenders, scale.repeats)
    mine, theirs = times["ours"], times["peer"]
    what = f"SemF1 from lists, {items:,} items x (5 x 14), {n_labels:,} labels; match=greedy"
    ratio = f"{theirs.median / mine.median:.2f}x"
    return Row(what, seconds(mine), seconds(theirs), ratio)


def one_by_one(pred: Lists, ref: Lists, model: Vectors) -> float:
    """One scikit-learn cosine call a pair of labels, as the paper's loop."""
    from sklearn.metrics.pairwise import cosine_similarity

    def vector(label: str) -> NDArray[np.float32]:
        return model.rows[model.place[label]][None]

    def alike(mine: str, theirs: str) -> bool:
        return bool(cosine_similarity(vector(mine), vector(theirs))[0, 0] > THRESHOLD)

    return float(
        np.mean([_greedy(p, r, alike) for p, r in zip(pred, ref, strict=True)])
    )


def per_item(pred: Lists, ref: Lists, model: Vectors) -> float:
    """One scikit-learn cosine call an item."""
    from sklearn.metrics.pairwise import cosine_similarity

    shares = []
    for mine, theirs in zip(pred, ref, strict=True):
        rows, columns = (
            [model.place[label] for label in side] for side in (mine, theirs)
        )
        table = cosine_similarity(model.rows[rows], model.rows[columns]) > THRESHOLD
        cell = {
            (p, r): table[i, j]
            for i, p in enumerate(mine)
            for j, r in enumerate(theirs)
        }
        shares.append(_greedy(mine, theirs, lambda p, r, cell=cell: bool(cell[p, r])))
    return float(np.mean(shares))


def _greedy(
    pred: list[str], ref: list[str], alike: Callable[[str, str], bool]
) -> float:
    unused, hits = list(ref), 0
    for label in pred:
        for other in unused:
            if alike(label, other):
                unused.remove(other)
                hits += 1
                break
    return hits / len(pred)


def matching(scale: Scale) -> list[Row]:
    """Rates of matching, ours on all items and the peers' on a sample."""
    model = Vectors(5_000)
    rows = []
    for items in (scale.examples // 10, scale.examples // 1_000):
        pred = make_lists(items, PREDICTED, model, 1)
        ref = make_lists(items, REFERENCE, model, 2)
        for name, peer, some in (
            ("one cosine call a pair", one_by_one, min(300, items)),
            ("one cosine call an item", per_item, min(3_000, items)),
        ):
            sample = pred[:some], ref[:some], model
            found, expected = ours(*sample), peer(*sample)
            if abs(found - expected) > 1e-6:
                raise SystemExit(f"{name}: {expected} where semmetrics has {found}")
            times = take_turns(
                {
                    "ours": partial(ours, pred, ref, model),
                    "peer": partial(peer, *sample),
                },
                scale.repeats,
            )
            mine, theirs = times["ours"], times["peer"]
            each = Times(tuple(run * items / some for run in theirs.runs))
            what = f"semantic P, R, F1 from lists, {items:,} items x (5 x 14), 5,000 labels; {name}"
            rows.append(
                Row(
                    f"{what} (timed on {some:,} items)",
                    seconds(mine),
                    seconds(each),
                    f"{each.median / mine.median:,.0f}x",
                )
            )
    return rows


def memory(scale: Scale) -> list[Row]:
    """Peak memory of a new process that makes its input and scores it."""
    items = scale.examples
    code = (
        "import semmetrics\n"
        "from benchmarks.semantic import Vectors, make_lists, ours\n"
        "from benchmarks.timing import megabytes\n"
        "model = Vectors(5_000)\n"
        f"pred = make_lists({items}, 5, model, 1)\n"
        f"ref = make_lists({items}, 14, model, 2)\n"
        "before = megabytes()[0]\n"
        "ours(pred, ref, model)\n"
        "print(before, *megabytes())\n"
    )
    before, peak, source = fresh(code).split()
    return [
        Row(
            f"peak memory of the same with its input, {items:,} items",
            f"{float(peak):,.0f} MB ({source})",
            f"{float(before):,.0f} MB before scoring (the input and imports)",
        )
    ]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "matching": matching,
    "rules": rules,
    "memory": memory,
}
