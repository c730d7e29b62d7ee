"""Make the model that tells the same from the related.

    python -m embeddings.make_same --cache FOLDER [--out FOLDER]

Takes about a quarter of an hour on two CPU cores. The weights of the tuned sentence model are kept
in the cache. See embeddings/README.md for what must be installed.

It makes the model twice. The one that ships with the package knows all of WordNet. The other one,
in the folder ``held-out`` of the cache, has no constraint on a noun of the fold ``test``, so that
`embeddings.same` can measure how a model does on labels that it was not tuned on. The sentence
model and the network are the same in both, and know no constraint on these nouns.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings import measures, pack, sources, vocabulary, wordnet
from embeddings.constraints import Constraints
from embeddings.moves import move
from embeddings.network import fit_network
from embeddings.relations import Lexicon, draw
from embeddings.tune import TunedModel, tune
from semmetrics.embed.model_files import DATA
from semmetrics.embed.same import FILES, SameEmbedder
from semmetrics.embed.static import StaticEmbedder, normalise
from semmetrics.store.files import file_digest

__all__ = ["HELD_OUT", "NEGATIVES", "balanced_accuracy", "main", "threshold_pairs"]

RECIPE = 2
DIMENSION = 64
GENERAL = 0.2
"""The weight of the cosine of the static model. It keeps unrelated labels apart."""
HELD_OUT = "held-out"
NEGATIVES = ("sibling", "hypernym", "random")
"""The relations that a threshold is balanced against, each with the same weight."""
_GRID = np.round(np.arange(0.2, 0.801, 0.05), 2)
_TOLERANCE = 0.005
_PAIRS = 8000
_SEED = 20261202

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class _Tuned:
    """Vectors of the tuned sentence model, turned to the dimensions of the package's model.

    Attributes
    ----------
    static : StaticEmbedder
    entries : int array, shape (entries,)
        Numbers of the tuned entries in the static model's vocabulary, rising.
    own_texts : list of str
        Normalised nouns for visible things that are not in that vocabulary.
    rows : dict of str to int
        The row of each noun in the following arrays: first the entries, then the own texts.
    general : array, shape (entries + own texts, 320)
        Vectors of the static model.
    vectors : array, shape (entries + own texts, dimension)
    network : dict of str to array
    """

    static: StaticEmbedder
    entries: NDArray[np.int64]
    own_texts: list[str]
    rows: dict[str, int]
    general: Matrix
    vectors: Matrix
    network: dict[str, Matrix]


def _prepare(lexicon: Lexicon, model: TunedModel) -> _Tuned:
    """Embed the nouns of the vocabulary, reduce the dimensions and fit the network."""
    static = StaticEmbedder()
    entry_of_noun = {}
    own_text_of_noun = {}
    for text in lexicon.nouns:
        entry = static.tokenizer.find(text)
        if entry is not None:
            entry_of_noun[text] = entry
        elif lexicon.nouns[text].visible:
            own_text_of_noun[text] = normalise(text)
    text_of_entry = {entry: text for text, entry in entry_of_noun.items()}
    entries = np.array(sorted(text_of_entry))
    own_texts = sorted(set(own_text_of_noun.values()))
    row_of_entry = {entry: row for row, entry in enumerate(entries.tolist())}
    row_of_own_text = {text: row for row, text in enumerate(own_texts, len(entries))}
    rows = {text: row_of_entry[entry] for text, entry in entry_of_noun.items()}
    rows |= {text: row_of_own_text[own] for text, own in own_text_of_noun.items()}
    texts = [text_of_entry[entry] for entry in entries.tolist()] + own_texts
    general = static.embed(texts).vectors
    wholes = _mix(general, model.embed(texts))
    axes = pack.axes(wholes, DIMENSION)
    inputs, targets = _fitting_texts(lexicon, static, model)
    network = fit_network(inputs, _unit(targets @ axes))
    return _Tuned(
        static, entries, own_texts, rows, general, _unit(wholes @ axes), network
    )


def _mix(general: Matrix, tuned: Matrix) -> Matrix:
    """Return vectors whose cosines are a mean of those of the static and of the tuned model."""
    parts = [np.sqrt(GENERAL) * general, np.sqrt(1 - GENERAL) * tuned]
    return np.asarray(np.concatenate(parts, axis=1), np.float32)


def _fitting_texts(
    lexicon: Lexicon, static: StaticEmbedder, model: TunedModel
) -> tuple[Matrix, Matrix]:
    """Return what the network is fitted on: vectors of the static and of the tuned model.

    The texts are all nouns, the words of the sentence model, plurals, and the phrases of the
    vocabulary once more, put together as if they were no entries.
    """
    texts = [*lexicon.nouns, *vocabulary.base_words()]
    texts += wordnet.plurals(lexicon.nouns.values()).values()
    inputs = static.embed(texts).vectors
    targets = _mix(inputs, model.embed(texts))
    phrases = []
    for place, text in enumerate(texts):
        if " " in normalise(text) and static.tokenizer.find(text) is not None:
            phrases.append(place)
    composed = [_embed_composed(static, texts[place]) for place in phrases]
    return np.concatenate([inputs, np.array(composed)]), np.concatenate(
        [targets, targets[phrases]]
    )


def _embed_composed(static: StaticEmbedder, text: str) -> Matrix:
    """Return the static vector of a phrase as if it were no entry."""
    numbers = static.tokenizer.numbers
    form = normalise(text)
    number = numbers.pop(form)
    vector = static.embed([form]).vectors[0]
    numbers[form] = number
    return vector


def _unit(vectors: Matrix) -> Matrix:
    return np.asarray(measures.unit(vectors), np.float32)


def _write(
    tuned: _Tuned, lexicon: Lexicon, held_out: Sequence[str], folder: Path
) -> None:
    """Move the vectors of nouns, pack and write."""
    moved = move(
        tuned.vectors, tuned.general, tuned.rows, Constraints(lexicon, held_out)
    )
    folder.mkdir(parents=True, exist_ok=True)
    rows, entries, own_texts, network, synsets = (folder / name for name in FILES)
    np.save(rows, pack.four_bits(moved), allow_pickle=False)
    np.save(entries, tuned.entries.astype(np.uint16), allow_pickle=False)
    own_texts.write_text(
        "\n".join(tuned.own_texts) + "\n", encoding="ascii", newline="\n"
    )
    np.savez(network, **_pack_network(tuned.network))
    np.save(synsets, _synsets_of_rows(lexicon, tuned.rows), allow_pickle=False)
    _describe(tuned, folder, 0.5)
    threshold = _choose_threshold(lexicon, tuned.static, SameEmbedder(folder))
    _describe(tuned, folder, threshold)


def _pack_network(network: dict[str, Matrix]) -> dict[str, NDArray[Any]]:
    """Return matrices of eight bits with a scale per column, and biases in half precision."""
    packed: dict[str, NDArray[Any]] = {}
    for name, values in network.items():
        if values.ndim == 1:
            packed[name] = values.astype(np.float16)
        else:
            scale = (np.abs(values).max(axis=0) / 127).astype(np.float16)
            packed[name] = np.round(values / scale.astype(np.float32)).astype(np.int8)
            packed[f"{name}_scale"] = scale
    return packed


def _synsets_of_rows(lexicon: Lexicon, rows: dict[str, int]) -> NDArray[np.uint16]:
    """Return pairs of a row and the number of a synset, for synsets of at least two rows."""
    constraints = Constraints(lexicon)
    pairs = set()
    count = 0
    for members in constraints.members.values():
        texts = [constraints.texts[number] for number in members]
        of_synset = {rows[text] for text in texts if text in rows}
        if len(of_synset) > 1:
            pairs.update((row, count) for row in of_synset)
            count += 1
    return np.array(sorted(pairs), np.uint16)


def threshold_pairs(
    lexicon: Lexicon, static: StaticEmbedder
) -> dict[str, list[tuple[str, str]]]:
    """Draw pairs of visible nouns of the fold "fit", on which the threshold is chosen.

    They are nouns of the vocabulary, as most labels of datasets are.
    """
    fit = [text for text in lexicon.visible() if lexicon.fold_of(text) == "fit"]
    inside = [text for text in fit if static.tokenizer.find(text) is not None]
    return draw(lexicon, inside, _PAIRS, _SEED)


def balanced_accuracy(
    cosines: dict[str, NDArray[np.float64]], threshold: float
) -> float:
    """Return the mean of the share of same pairs above a threshold and of others not above it.

    Siblings, hypernyms and random pairs count alike among the others.
    """
    kept = (cosines["same"] > threshold).mean()
    rejected = np.mean([(cosines[name] <= threshold).mean() for name in NEGATIVES])
    return float((kept + rejected) / 2)


def _choose_threshold(
    lexicon: Lexicon, static: StaticEmbedder, model: SameEmbedder
) -> float:
    """Return the largest multiple of 0.05 whose balanced accuracy is close to the best.

    Most pairs of labels in real data are not the same, so a strict threshold is preferred.
    """
    cosines = {}
    for name, pairs in threshold_pairs(lexicon, static).items():
        left, right = map(list, zip(*pairs, strict=True))
        text_pairs = measures.TextPairs(left, right, np.zeros(len(left), np.bool_))
        cosines[name] = measures.cosines(
            lambda texts: model.embed(texts).vectors, text_pairs
        )
    accuracies = np.array(
        [balanced_accuracy(cosines, threshold) for threshold in _GRID]
    )
    return float(_GRID[accuracies >= accuracies.max() - _TOLERANCE].max())


def _describe(tuned: _Tuned, folder: Path, threshold: float) -> None:
    """Write what is to be known of the model, with the checksums of its files."""
    facts = {
        "name": "semmetrics-same",
        "recipe": RECIPE,
        "dimension": DIMENSION,
        "entries": len(tuned.vectors),
        "threshold": threshold,
        "static": tuned.static.metadata["sha256"],
        "source": tuned.static.metadata["source"],
        "licence": "Apache-2.0; synonyms: WordNet 3.0, see NOTICE",
        "files": {name: file_digest(folder / name) for name in FILES},
    }
    text = json.dumps(facts, indent=2)
    (folder / "same.json").write_text(text + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Run the recipe from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=Path, required=True, help="keep weights and models here"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="write the files here")
    options = parser.parse_args()
    sources.verify()
    lexicon = Lexicon.read()
    tuned = _prepare(lexicon, tune(lexicon, options.cache / "tuned.pt"))
    _write(tuned, lexicon, ("test",), options.cache / HELD_OUT)
    _write(tuned, lexicon, (), options.out)


if __name__ == "__main__":
    main()
