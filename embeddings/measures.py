"""How good an embedding of labels is: correlations, synonyms against random pairs, thresholds.

An embedding is here a function from texts to vectors.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, rankdata, spearmanr

from embeddings import wordnet
from semmetrics.embed.static import normalise

__all__ = [
    "Embed",
    "LabelPairs",
    "TextPairs",
    "agreement",
    "auc",
    "best_f1",
    "correlation",
    "cosines",
    "false_alarms",
    "grid",
    "joined_pairs",
    "known_labels",
    "open_images",
    "reference",
    "synonyms",
    "unit",
    "word2vec",
    "youden",
]

Matrix = NDArray[np.float32]
Values = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Matrix]

_SEED = 20200714


def reference() -> Path:
    """The folder of reference data, which may be absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "reference"
    return Path(os.environ.get("SEMMETRICS_REFERENCE", beside))


def unit(vectors: Matrix) -> NDArray[np.float64]:
    """Rows of length 1."""
    wide = np.asarray(vectors, np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)


@dataclass(frozen=True)
class TextPairs:
    """Pairs of texts, and which of them mean the same."""

    left: list[str]
    right: list[str]
    same: NDArray[np.bool_]


@dataclass(frozen=True)
class LabelPairs:
    """Labels of the ground truth and of the predictions; each with each is a pair."""

    reference: list[str]
    predicted: list[str]


def cosines(embed: Embed, pairs: TextPairs) -> Values:
    """Cosine of each pair."""
    both = unit(embed(pairs.left + pairs.right))
    half = len(pairs.left)
    return np.asarray((both[:half] * both[half:]).sum(axis=1))


def grid(embed: Embed, pairs: LabelPairs) -> Values:
    """Cosine of each reference label with each predicted label, as one row."""
    return np.asarray(
        unit(embed(pairs.reference)) @ unit(embed(pairs.predicted)).T
    ).ravel()


def correlation(one: Values, other: Values) -> tuple[float, float]:
    """Pearson's and Spearman's correlation."""
    return float(pearsonr(one, other)[0]), float(spearmanr(one, other)[0])


def auc(values: Values, same: NDArray[np.bool_]) -> float:
    """Probability that a pair that means the same has the higher value; ties count half."""
    positive, negative = int(same.sum()), int((~same).sum())
    ranks = rankdata(values)[same].sum()
    return float((ranks - positive * (positive + 1) / 2) / (positive * negative))


def synonyms(
    vocabulary: set[str],
    *,
    inside: bool | None,
    parts: Sequence[str],
    count: int = 4000,
) -> TextPairs:
    """Pairs of lemmas of one synset, and as many random pairs of the same lemmas.

    Parameters
    ----------
    vocabulary : set of str
    inside : bool or None
        Whether both lemmas are entries, or neither is; None takes all.
    parts : sequence of str
        Which synsets to take; see :func:`embeddings.wordnet.split`. Named persons and places are
        left out.
    count : int
        Pairs of each kind, at most.
    """
    every = [
        pair
        for one in wordnet.synsets()
        for pair in _pairs(one, vocabulary, inside, parts)
    ]
    random = np.random.default_rng(_SEED)
    chosen = [every[place] for place in random.permutation(len(every))[:count]]
    pool = [lemma for pair in chosen for lemma in pair]
    drawn = random.integers(len(pool), size=(3 * len(chosen), 2))
    together = set(every)
    others = [
        (pool[a], pool[b])
        for a, b in drawn
        if a // 2 != b // 2
        and normalise(pool[a]) != normalise(pool[b])
        and together.isdisjoint([(pool[a], pool[b]), (pool[b], pool[a])])
    ][: len(chosen)]
    left, right = zip(*chosen, *others, strict=True)
    return TextPairs(list(left), list(right), np.arange(len(left)) < len(chosen))


def _pairs(
    synset: wordnet.Synset,
    vocabulary: set[str],
    inside: bool | None,
    parts: Sequence[str],
) -> list[tuple[str, str]]:
    if synset.instance or wordnet.split(synset) not in parts:
        return []
    forms = {normalise(lemma): lemma.lower() for lemma in synset.lemmas}
    kept = [
        lemma
        for form, lemma in forms.items()
        if form and inside in (None, form in vocabulary)
    ]
    return list(combinations(kept, 2))


def open_images() -> LabelPairs:
    """Labels of Open Images' ground truth and of the predictions for it, each once."""
    folder = reference() / "openimages"
    return LabelPairs(
        _column(folder / "ground_truth.csv", "names"),
        _column(folder / "microsoft_predictions.csv", "label"),
    )


def _column(path: Path, name: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(dict.fromkeys(row[name] for row in csv.DictReader(file)))


def known_labels(labels: LabelPairs) -> tuple[LabelPairs, Embed]:
    """The labels that the word2vec subset knows, and their embedding."""
    vectors = word2vec(labels.reference + labels.predicted)
    known = LabelPairs(
        [label for label in labels.reference if label in vectors],
        [label for label in labels.predicted if label in vectors],
    )
    return known, lambda texts: np.array([vectors[text] for text in texts], np.float32)


def joined_pairs() -> TextPairs:
    """For each image its labels joined with its predictions joined, and with the next image's."""
    folder = reference() / "openimages"
    truth = _lists(folder / "ground_truth.csv", "names")
    predicted = _lists(folder / "microsoft_predictions.csv", "label")
    left = [" ".join(truth[image]) for image in predicted]
    right = [" ".join(labels) for labels in predicted.values()]
    same = np.arange(2 * len(left)) < len(left)
    return TextPairs(left + left, right + right[1:] + right[:1], same)


def _lists(path: Path, name: str) -> dict[str, list[str]]:
    lists: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lists.setdefault(row["img_id"], []).append(row[name])
    return lists


def word2vec(labels: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Unit vectors of the labels that the word2vec subset knows, as written or in lower case."""
    stored = np.load(reference() / "word2vec" / "googlenews_subset_8074.npz")
    rows = {str(word): row for row, word in enumerate(stored["words"])}
    found = {label: rows.get(label, rows.get(label.lower())) for label in labels}
    return {
        label: stored["unit"][row] for label, row in found.items() if row is not None
    }


def best_f1(values: Values, same: NDArray[np.bool_]) -> tuple[float, float]:
    """The threshold with the best F1 of finding the pairs that mean the same, and that F1."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(same[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + same.sum())
    return _between(values[order], int(f1.argmax())), float(f1.max())


def youden(values: Values, same: NDArray[np.bool_]) -> tuple[float, float]:
    """The threshold with the largest hit rate less false alarm rate, and that difference."""
    order = np.argsort(-values, kind="stable")
    gain = np.cumsum(same[order]) / same.sum() - np.cumsum(~same[order]) / (~same).sum()
    return _between(values[order], int(gain.argmax())), float(gain.max())


def false_alarms(values: Values, same: NDArray[np.bool_], rate: float) -> float:
    """The threshold that a share of the random pairs is above."""
    return float(np.quantile(values[~same], 1 - rate))


def _between(falling: Values, last: int) -> float:
    """The middle between the last value that is above the threshold and the next."""
    return float(falling[last : last + 2].mean())


def agreement(
    values: Values, decisions: NDArray[np.bool_], threshold: float
) -> dict[str, float]:
    """How decisions above a threshold agree with others: share, F1, and how many are positive."""
    above = values > threshold
    both = (above & decisions).sum()
    return {
        "equal": float((above == decisions).mean()),
        "f1": float(2 * both / max(above.sum() + decisions.sum(), 1)),
        "positive": float(above.mean()),
    }
