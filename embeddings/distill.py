"""Make the embedding that ships with the package.

    python -m embeddings.distill [--cache FOLDER] [--out FOLDER]

Takes about five minutes on two CPU cores. See embeddings/README.md for what must be installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings import fit, pack, sources, vocabulary, wordnet
from embeddings.sentences import SentenceModel
from semmetrics.embed.model_files import DATA
from semmetrics.embed.static import Tokenizer

__all__ = ["Distilled", "distill", "joined", "main", "save"]

RECIPE = 1
ENTRIES = 55_000
DIMENSION = 320
#: The cosine that plays the part of 0.4 for word2vec; EVALUATION.md says why.
THRESHOLD = 0.5
_JOINS = 20_000
_SEED = 20200712

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Distilled:
    """A distilled model before it loses dimensions and bits.

    Attributes
    ----------
    entries : list of str
        Continuations, other entries with a part, entries without.
    wholes : array
        Vectors of the entries that are no continuations, of length 1.
    parts : array
        Of the first entries.
    mean : array
    """

    entries: list[str]
    wholes: Matrix
    parts: Matrix
    mean: Matrix


def joined(texts: Sequence[str]) -> list[str]:
    """Joined labels: 2 to 12 different texts in a row, as bags of labels are embedded."""
    random = np.random.default_rng(_SEED)
    sizes = random.integers(2, 13, size=_JOINS)
    chosen = (random.choice(len(texts), size, replace=False) for size in sizes)
    return [" ".join(texts[place] for place in places) for places in chosen]


def _joinable() -> list[str]:
    common = [one.text for one in wordnet.nouns() if one.count >= 3 and not one.name]
    return sources.class_names() + common


def distill(size: int, model: SentenceModel) -> Distilled:
    """Choose the vocabulary, embed it, and fit parts.

    Parameters
    ----------
    size : int
        Entries without the continuations.
    model : SentenceModel
    """
    chosen = vocabulary.choose(size)
    pieces = vocabulary.pieces()
    wholes = model.embed(list(chosen.values()))
    mean = wholes.mean(axis=0)
    entries = [piece for _, piece in pieces] + list(chosen)
    centred = np.concatenate([model.embed_pieces(pieces), wholes]) - mean

    base = set(vocabulary.base_words())
    inside = [entry for entry in chosen if entry not in base]
    outside = vocabulary.fitting_texts(chosen)
    joins = joined(_joinable())
    bag = fit.bags(Tokenizer(entries), inside + outside + joins)
    place = {entry: row for row, entry in enumerate(chosen)}
    own = wholes[[place[entry] for entry in inside]]
    targets = np.concatenate([own, model.embed(outside), model.embed(joins)]) - mean

    free = fit.often(bag, entries)
    parts = fit.fit_parts(bag, targets, centred, free)
    # continuations stay first: all of them are free
    order = np.argsort(~free, kind="stable")
    return Distilled(
        [entries[number] for number in order],
        wholes[order[len(pieces) :] - len(pieces)],
        parts,
        mean,
    )


def save(model: Distilled, dimension: int, folder: Path) -> None:
    """Turn to the principal axes, pack and write."""
    axes = pack.axes(model.wholes, dimension)
    rows = np.concatenate([model.wholes - model.mean, model.parts])
    pack.write(folder, model.entries, rows @ axes, model.mean @ axes)
    pack.describe(folder, _facts(model, dimension))


def _facts(model: Distilled, dimension: int) -> dict[str, Any]:
    return {
        "name": "semmetrics-static",
        "recipe": RECIPE,
        "dimension": dimension,
        "entries": len(model.entries),
        "threshold": THRESHOLD,
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "file": "model.safetensors",
            "sha256": sources.SENTENCE_MODEL.sha256,
            "licence": "Apache-2.0",
        },
        "licence": "Apache-2.0; list of nouns: WordNet 3.0, see NOTICE",
    }


def main() -> None:
    """Run the recipe from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=Path, help="keep the sentence model's vectors here"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="write the files here")
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--dimension", type=int, default=DIMENSION)
    options = parser.parse_args()
    sources.verify()
    save(
        distill(options.entries, SentenceModel(options.cache)),
        options.dimension,
        options.out,
    )


if __name__ == "__main__":
    main()
