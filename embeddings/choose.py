"""Compare the options of the recipe, on synsets that the evaluation does not use.

    python -m embeddings.choose --cache FOLDER

Writes embeddings/CHOICES.md. Takes some minutes for each size of the vocabulary.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embeddings import baselines, distill, measures, pack, vocabulary
from embeddings.measures import Embed
from embeddings.sentences import SentenceModel
from semmetrics.embed.model_files import PackedRows
from semmetrics.embed.static import StaticModel

__all__ = ["main"]

Matrix = NDArray[np.float32]

_SIZES = (40_000, 55_000, 70_000)
_HEAD = """# Options of the recipe, measured

Written by `python -m embeddings.choose --cache FOLDER`.

- AUC: 4,000 pairs of synonyms of the `choice` quarter of WordNet's noun synsets, inside the
  vocabulary or not, against as many random pairs.
- model, word2vec: Pearson's correlation of the cosines with the sentence model's over all pairs of
  Open Images' labels with predicted labels, and with word2vec's over those whose words it knows.
- joined: the same with the sentence model's, for an image's labels in one text with its predictions
  in one, and with another image's.
- MB: the rows alone.

| option | MB | model | word2vec | joined | AUC |
|---|---|---|---|---|---|
"""


class _Float:
    """Rows that are kept as they are."""

    def __init__(self, rows: Matrix) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, numbers: NDArray[np.int64]) -> Matrix:
        return self._rows[numbers]


def _eight_bits(rows: Matrix) -> Matrix:
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    return np.asarray(np.round(rows / scale) * scale, np.float32)


#: Name to bytes of a number, and what is left of the rows.
_FORMATS: dict[str, tuple[float, Callable[[Matrix], Matrix]]] = {
    "float16": (2, lambda rows: rows.astype(np.float16).astype(np.float32)),
    "8 bits": (1, _eight_bits),
    "4 bits": (
        0.5,
        lambda rows: PackedRows(pack.four_bits(rows))[np.arange(len(rows))],
    ),
}


class _Judge:
    """Measures an embedding by each of the yardsticks."""

    def __init__(self, sentences: SentenceModel) -> None:
        self._labels = measures.open_images()
        self._known, word2vec = measures.known_labels(self._labels)
        self._joined = measures.joined_pairs()
        self._synonyms = measures.synonyms(set(), inside=None, parts=["choice"])
        self._full = measures.grid(sentences.embed, self._labels)
        self._words = measures.grid(word2vec, self._known)
        self._bags = measures.cosines(sentences.embed, self._joined)

    def row(self, name: str, megabytes: float, embed: Embed) -> str:
        model = measures.correlation(measures.grid(embed, self._labels), self._full)[0]
        words = measures.correlation(measures.grid(embed, self._known), self._words)[0]
        bags = measures.correlation(measures.cosines(embed, self._joined), self._bags)[
            0
        ]
        auc = measures.auc(measures.cosines(embed, self._synonyms), self._synonyms.same)
        return f"| {name} | {megabytes:.1f} | {model:.4f} | {words:.4f} | {bags:.4f} | {auc:.4f} |"


def _static(model: distill.Distilled, dimension: int, kind: str) -> tuple[float, Embed]:
    """The model with fewer dimensions and bits, and its size."""
    axes = pack.axes(model.wholes, dimension)
    rows = np.concatenate([model.wholes - model.mean, model.parts]) @ axes
    size, reduce = _FORMATS[kind]
    made = StaticModel(model.entries, _Float(reduce(rows)), model.mean @ axes)
    return len(rows) * (
        dimension * size + 2
    ) / 1e6, lambda texts: made.embed(texts).vectors


def _options(judge: _Judge, sentences: SentenceModel) -> Iterator[str]:
    yield judge.row("the sentence model", 90.9, sentences.embed)
    for weights in baselines.WEIGHTS:
        embed = baselines.pieces_only(sentences, weights=weights)
        yield judge.row(
            f"its pieces only, 256, float32, {weights} weights", 28.2, embed
        )
    for size in _SIZES:
        model = distill.distill(size, sentences)
        yield judge.row(
            f"{size:,} entries, 320, 4 bits", *_static(model, 320, "4 bits")
        )
        if size == distill.ENTRIES:
            yield from _formats(judge, model)
            yield from _weights(judge, model, sentences)


def _formats(judge: _Judge, model: distill.Distilled) -> Iterator[str]:
    for kind, dimension in (
        *(("float16", dimension) for dimension in (128, 256)),
        *(("8 bits", dimension) for dimension in (128, 192, 256, 384)),
        *(("4 bits", dimension) for dimension in (128, 192, 256, 384)),
    ):
        name = f"{distill.ENTRIES:,} entries, {dimension}, {kind}"
        yield judge.row(name, *_static(model, dimension, kind))


def _weights(
    judge: _Judge, model: distill.Distilled, sentences: SentenceModel
) -> Iterator[str]:
    """No parts: means of the entries' own vectors."""
    pieces = vocabulary.pieces()
    entries = model.entries[len(pieces) :] + [piece for _, piece in pieces]
    vectors = np.concatenate([model.wholes, sentences.embed_pieces(pieces)])
    for weights in baselines.WEIGHTS:
        embed = baselines.means(entries, vectors, weights)
        name = f"{distill.ENTRIES:,} entries, 384, float32, no parts, {weights} weights"
        yield judge.row(name, vectors.nbytes / 1e6, embed)


def main() -> None:
    """Measure all options and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    sentences = SentenceModel(parser.parse_args().cache)
    rows = []
    for row in _options(_Judge(sentences), sentences):
        print(row, flush=True)
        rows.append(row)
    path = Path(__file__).with_name("CHOICES.md")
    path.write_text(_HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
