"""Measure the embedding that ships with the package, and write EVALUATION.md.

    python -m embeddings.evaluate [--cache FOLDER] [--only-speed]

What needs WordNet or the reference data is left out where they are absent, and the page says so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings import baselines, measures, sources, wordnet
from embeddings.measures import Embed
from embeddings.sentences import SentenceModel
from semmetrics.embed.model_files import DATA
from semmetrics.embed.static import FILES, StaticEmbedder

__all__ = ["Speed", "main", "speed"]

_WORD2VEC = 0.4  # the threshold of Kubany et al. 2020
_RATES = (0.05, 0.01)
_REPEATS = 7


@dataclass(frozen=True)
class Speed:
    """Texts a second on the same texts, and the time to load.

    Attributes
    ----------
    sentence, static : float
        Texts a second, the median of several runs.
    load : float
        Seconds to load the static model, its files in the page cache.
    """

    sentence: float
    static: float
    load: float


def speed(model: SentenceModel, texts: Sequence[str]) -> Speed:
    """Texts a second of the sentence model and of the static one, on the same texts."""
    static = StaticEmbedder()
    model.compute(texts[:64])  # loads the weights
    once = _median(lambda: model.compute(texts), 3)
    fast = _median(lambda: static.embed(texts), _REPEATS)
    return Speed(
        len(texts) / once, len(texts) / fast, _median(StaticEmbedder, _REPEATS)
    )


def _median(work: Callable[[], object], repeats: int) -> float:
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return float(np.median(took))


@dataclass(frozen=True)
class _Models:
    full: Embed
    static: Embed
    floor: Embed

    def named(self) -> Iterator[tuple[str, Embed]]:
        yield "all-MiniLM-L6-v2 itself", self.full
        yield "the static model", self.static
        yield "its pieces only", self.floor


def _correlations(models: _Models) -> Iterator[str]:
    labels = measures.open_images()
    known, word2vec = measures.known_labels(labels)
    joined = measures.joined_pairs()
    full, words = measures.grid(models.full, labels), measures.grid(word2vec, known)
    bags = measures.cosines(models.full, joined)
    yield f"""## Agreement of cosines

Pearson's and Spearman's correlation over all {len(full):,} pairs of Open Images' labels
with the labels predicted for it; with word2vec over the {len(words):,} of them whose labels the
subset knows; joined: an image's labels in one text with its predictions in one, and with another
image's ({len(bags):,} pairs).

| | with the model | with word2vec | joined, with the model |
|---|---|---|---|"""
    for name, embed in models.named():
        cells = (
            measures.correlation(measures.grid(embed, labels), full),
            measures.correlation(measures.grid(embed, known), words),
            measures.correlation(measures.cosines(embed, joined), bags),
        )
        yield (
            f"| {name} | "
            + " | ".join(f"{r:.4f}, {rho:.4f}" for r, rho in cells)
            + " |"
        )


def _synonyms(models: _Models, entries: set[str]) -> Iterator[str]:
    inside = measures.synonyms(entries, inside=True, parts=["test"])
    outside = measures.synonyms(entries, inside=False, parts=["test"])
    yield f"""
## Synonyms against random pairs

Area under the ROC curve: the probability that two lemmas of one synset of WordNet's nouns have
the higher cosine than two lemmas at random. {inside.same.sum():,} seeded pairs of synonyms with
both lemmas in the vocabulary, {outside.same.sum():,} with both outside, and as many random pairs
each, of synsets that no choice of the recipe was made on and whose lemmas outside were not fitted
(`test` in embeddings/wordnet.py); names of persons and places left out.

| | inside | outside |
|---|---|---|"""
    for name, embed in models.named():
        aucs = [
            measures.auc(measures.cosines(embed, p), p.same) for p in (inside, outside)
        ]
        yield f"| {name} | " + " | ".join(f"{value:.4f}" for value in aucs) + " |"


def _balanced(models: _Models, entries: set[str]) -> Iterator[str]:
    """Thresholds from WordNet's pairs."""
    for name, inside in (("inside", True), ("outside", False)):
        pairs = measures.synonyms(entries, inside=inside, parts=["choice"])
        values = measures.cosines(models.static, pairs)
        threshold, f1 = measures.best_f1(values, pairs.same)
        yield f"| synonyms and as many random pairs, {name}: best F1 ({f1:.3f}) | {threshold:.3f} |"
        threshold, gain = measures.youden(values, pairs.same)
        yield f"| the same: hit rate less false alarm rate ({gain:.3f}) | {threshold:.3f} |"
        for rate in _RATES:
            threshold = measures.false_alarms(values, pairs.same, rate)
            hits = (values[pairs.same] > threshold).mean()
            text = f"the same: {rate:.0%} of random pairs above it ({hits:.1%} of synonyms)"
            yield f"| {text} | {threshold:.3f} |"


def _like_word2vec(models: _Models, threshold: float) -> Iterator[str]:
    """Thresholds that decide as word2vec's does."""
    for name, (values, words) in _beside_word2vec(models).items():
        decided = words > _WORD2VEC
        best, f1 = measures.best_f1(values, decided)
        same = float(np.quantile(values, 1 - decided.mean()))
        chosen = measures.agreement(values, decided, threshold)
        yield f"| {name}: decisions most like word2vec's (F1 {f1:.3f}) | {best:.3f} |"
        share = f"{decided.mean():.2%}"
        yield f"| the same: as many pairs above it as for word2vec ({share}) | {same:.3f} |"
        yield (
            f"| the same: at the default, F1 {chosen['f1']:.3f}, equal decisions "
            f"{chosen['equal']:.2%}, above it {chosen['positive']:.2%} | {threshold:.3f} |"
        )


def _beside_word2vec(models: _Models) -> dict[str, tuple[NDArray[np.float64], ...]]:
    known, _ = measures.known_labels(measures.open_images())
    pairs = len(known.reference) * len(known.predicted)
    found = {f"{pairs:,} pairs of Open Images": (known, False)}
    if wordnet.FOLDER.exists():
        nouns = [one.text for one in wordnet.nouns() if one.visible and not one.name]
        words = sorted(measures.word2vec(nouns))
        label = f"all pairs of {len(words):,} nouns for visible things"
        found[label] = (measures.LabelPairs(words, words), True)
    return {name: _values(models.static, *pairs) for name, pairs in found.items()}


def _values(
    embed: Embed, pairs: measures.LabelPairs, once: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosines of the static model and of word2vec; a square only above its diagonal."""
    vectors = measures.word2vec(pairs.reference + pairs.predicted)
    shape = (len(pairs.reference), len(pairs.predicted))
    kept = (
        np.triu(np.ones(shape, bool), 1).ravel()
        if once
        else np.ones(shape, bool).ravel()
    )
    words = measures.grid(
        lambda texts: np.array([vectors[text] for text in texts]), pairs
    )
    return measures.grid(embed, pairs)[kept], words[kept]


def _thresholds(models: _Models, entries: set[str], threshold: float) -> Iterator[str]:
    yield f"""
## The default threshold: {threshold}

| how | cosine |
|---|---|"""
    if wordnet.FOLDER.exists():
        yield from _balanced(models, entries)
    if measures.reference().exists():
        yield from _like_word2vec(models, threshold)
    yield f"""
A threshold that parts synonyms from as many random pairs is too low for label sets, where nearly
all pairs that are compared are unrelated: of two lists of labels it would match almost everything.
The default is the one that decides like word2vec above {_WORD2VEC}, both in which pairs and in how
many; the values agree to two hundredths and are rounded. Semantic metrics of the two embeddings are
then on a comparable footing, but they are different measures: the signature names both the
embedding and the threshold."""


def _speed(sentences: SentenceModel) -> Iterator[str]:
    texts = sources.class_names()
    took = speed(sentences, texts)
    times, milliseconds = took.static / took.sentence, 1000 * took.load
    size = sum(path.stat().st_size for path in DATA.iterdir()) / 1e6
    yield f"""
## Speed and size

On {len(texts):,} class names, two CPU cores: all-MiniLM-L6-v2 {took.sentence:,.0f} texts/s, the
static model {took.static:,.0f} texts/s: {times:,.0f} times as many. It loads in
{milliseconds:.0f} ms (its files in the page cache) and takes {size:.1f} MB."""


def _page(sentences: SentenceModel) -> Iterator[str]:
    static = StaticEmbedder()
    entries = set((DATA / FILES[2]).read_text(encoding="utf-8").splitlines())
    yield f"""# How good the static model is

`{static.identity}`, recipe {static.metadata["recipe"]}, {len(entries):,} entries. Written by
`python -m embeddings.evaluate`. "Its pieces only" is the plain recipe of model2vec: the sentence
model's own word pieces, 256 principal axes, weights by rank, a mean.
"""
    models = _Models(
        sentences.embed,
        lambda texts: static.embed(texts).vectors,
        baselines.pieces_only(sentences),
    )
    if measures.reference().exists():
        yield from _correlations(models)
    else:
        yield "Agreement of cosines: not measured, the reference data is absent."
    if wordnet.FOLDER.exists():
        yield from _synonyms(models, entries)
    else:
        yield "Synonyms against random pairs: not measured, WordNet is absent."
    yield from _thresholds(models, entries, static.threshold)
    yield from _speed(sentences)


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=Path, help="keep the sentence model's vectors here"
    )
    parser.add_argument(
        "--only-speed", action="store_true", help="print the speed, write nothing"
    )
    options = parser.parse_args()
    sentences = SentenceModel(options.cache)
    if options.only_speed:
        print("\n".join(_speed(sentences)).strip())
        return
    text = "\n".join(_page(sentences)) + "\n"
    print(text)
    Path(__file__).with_name("EVALUATION.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
