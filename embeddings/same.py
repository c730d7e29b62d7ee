"""Measure whether models tell the same from the related, and write SAME.md.

    python -m embeddings.same --cache FOLDER [--ratings FOLDER] [--lvis FILE]

The first folder is the cache of `embeddings.make_same`. ``--ratings`` is the folder
``data/word-sim`` of the repository mfaruqui/eval-word-vectors, which has SimLex-999 and sets of
graded relatedness. ``--lvis`` is lvis_v1_categories.py of detectron2. The page says which parts
were not measured because a file is absent.
"""

from __future__ import annotations

import argparse
import ast
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from embeddings import measures
from embeddings.make_same import HELD_OUT, NEGATIVES, balanced_accuracy, threshold_pairs
from embeddings.relations import RELATIONS, Lexicon, Pairs, draw
from embeddings.sentences import SentenceModel
from semmetrics.embed.model_files import DATA
from semmetrics.embed.same import FILES, SameEmbedder
from semmetrics.embed.static import StaticEmbedder, normalise

__all__ = ["main"]

_WORD2VEC = 0.4  # the threshold of Kubany et al. 2020
_LIST = Path(__file__).with_name("label_pairs.csv")
_PAIRS = 8000
_SEED = 20261203
_SIMLEX = "SIMLEX-999"
# of the 999 pairs: after the adjectives, before the verbs
_SIMLEX_NOUNS = slice(111, 777)
_RATED = {
    _SIMLEX: "SimLex-999, 666 pairs of nouns",
    "MEN-TR-3k": "MEN",
    "WS-353-SIM": "WordSim-353, similarity",
    "WS-353-REL": "WordSim-353, relatedness",
    "MTurk-771": "MTurk-771",
}
_CURVE = np.round(np.arange(0.30, 0.751, 0.05), 2)
_STRANGERS = 4000

Values = NDArray[np.float64]
Groups = dict[str, Pairs]


@dataclass(frozen=True)
class _Model:
    """A model to measure.

    Attributes
    ----------
    name : str
    embed : callable
        From texts to vectors.
    threshold : float or None
        Above which labels match by default.
    knows : callable
        Whether the model has a vector for a text.
    """

    name: str
    embed: measures.Embed
    threshold: float | None
    knows: Callable[[str], bool] = lambda _: True

    def cosines(self, pairs: Pairs) -> Values:
        """Return the cosine of each pair."""
        left, right = map(list, zip(*pairs, strict=True))
        unused = np.zeros(len(left), np.bool_)
        return measures.cosines(self.embed, measures.TextPairs(left, right, unused))

    def known(self, pairs: Pairs) -> Pairs:
        """Return the pairs whose texts the model knows."""
        return [pair for pair in pairs if self.knows(pair[0]) and self.knows(pair[1])]


def _of_package(model: SameEmbedder | StaticEmbedder, name: str) -> _Model:
    return _Model(name, lambda texts: model.embed(texts).vectors, model.threshold)


def _word2vec(texts: Sequence[str]) -> _Model:
    """Return the vectors of those texts that the word2vec subset knows."""
    vectors = measures.word2vec(texts)

    def embed(several: Sequence[str]) -> NDArray[np.float32]:
        return np.array([vectors[text] for text in several], np.float32)

    return _Model("word2vec (pairs it knows)", embed, _WORD2VEC, vectors.__contains__)


def _auc(same: Values, others: Values) -> float:
    is_same = np.arange(len(same) + len(others)) < len(same)
    return measures.auc(np.concatenate([same, others]), is_same)


def _table(groups: Groups, models: Sequence[_Model]) -> Iterator[str]:
    """Yield a table with a row for each model."""
    others = [name for name in RELATIONS[1:] if groups[name]]
    counts = ", ".join(f"{len(groups[name]):,} {name}" for name in ("same", *others))
    yield f"{counts} pairs.\n"
    heads = " | ".join(others)
    yield f"| AUC, same against | {heads} |"
    yield "|---|" + "---|" * len(others)
    decisions = []
    for model in models:
        cosines = {
            name: model.cosines(model.known(groups[name])) for name in ("same", *others)
        }
        cells = [f"{_auc(cosines['same'], cosines[name]):.3f}" for name in others]
        yield f"| {model.name} | " + " | ".join(cells) + " |"
        if model.threshold is not None:
            shares = [
                f"{(cosines[name] > model.threshold).mean():.3f}" for name in cosines
            ]
            accuracy = balanced_accuracy(cosines, model.threshold)
            cells = [f"{model.threshold:g}", f"{accuracy:.3f}", *shares]
            decisions.append(f"| {model.name} | " + " | ".join(cells) + " |")
    yield f"\n| matched at the threshold | threshold | balanced accuracy | same | {heads} |"
    yield "|---|---|---|---|" + "---|" * len(others)
    yield from decisions


def _wordnet(lexicon: Lexicon, folder: Path, sentences: SentenceModel) -> Iterator[str]:
    """Yield the tables on nouns of WordNet."""
    visible = lexicon.visible()
    tagged = lexicon.visible(tagged=True)
    test = [text for text in visible if lexicon.fold_of(text) == "test"]
    in_test = set(test)
    static = _of_package(StaticEmbedder(), "static, the general model")
    sentence = _Model("all-MiniLM-L6-v2", sentences.embed, None)
    shipped = SameEmbedder()
    same = _of_package(shipped, "same, the default of matching")
    held_out = SameEmbedder(folder / HELD_OUT)
    never_tuned = _Model(
        "same, without constraints on these nouns",
        lambda texts: held_out.embed(texts).vectors,
        shipped.threshold,
    )
    outside = _Model(
        "same, if these nouns were outside its vocabulary",
        lambda texts: held_out.embed_untuned(texts).vectors,
        shipped.threshold,
    )
    numbers = static_numbers()
    inside = [text for text in test if normalise(text) in numbers]
    sets = (
        ("Known nouns that occur in WordNet's tagged texts", tagged, [same]),
        ("Held-out synsets, all nouns", test, [never_tuned, outside]),
        (
            "Held-out synsets, nouns of the general model's vocabulary",
            inside,
            [never_tuned],
        ),
        (
            "Held-out synsets, nouns that occur in the tagged texts",
            [text for text in tagged if text in in_test],
            [never_tuned],
        ),
    )
    for place, (title, texts, of_same) in enumerate(sets):
        groups = draw(lexicon, texts, _PAIRS, _SEED + place)
        models = [static, sentence, *of_same]
        if measures.reference().exists():
            models.insert(2, _word2vec(texts))
        yield f"\n### {title}\n\n{len(texts):,} nouns."
        yield from _table(groups, models)


def static_numbers() -> dict[str, int]:
    """Return the numbers of the static model's entries."""
    return StaticEmbedder().tokenizer.numbers


def _curve(lexicon: Lexicon) -> Iterator[str]:
    """Yield how the threshold of the model was chosen."""
    model = _of_package(SameEmbedder(), "same")
    groups = threshold_pairs(lexicon, StaticEmbedder())
    cosines = {name: model.cosines(groups[name]) for name in ("same", *NEGATIVES)}
    counts = ", ".join(f"{len(groups[name]):,} {name}" for name in cosines)
    yield f"""
## The threshold: {model.threshold:g}

The threshold is the largest multiple of 0.05 whose balanced accuracy is at most 0.005 below the
best one. The balanced accuracy is the mean of the share of same pairs that match and the share of
other pairs that do not, in which siblings, hypernyms and random pairs count alike. In real data,
most pairs of labels are not the same, so the strictest of the good thresholds is taken. It was
chosen on nouns for visible things of the training fold that are in the general model's vocabulary:
{counts} pairs.

| threshold | balanced accuracy | same | {" | ".join(NEGATIVES)} |
|---|---|---|{"---|" * len(NEGATIVES)}"""
    for threshold in sorted({*_CURVE.tolist(), model.threshold or 0.0}):
        shares = [f"{(cosines[name] > threshold).mean():.3f}" for name in cosines]
        mark = "**" if threshold == model.threshold else ""
        cells = [
            f"{mark}{threshold:.2f}{mark}",
            f"{balanced_accuracy(cosines, threshold):.3f}",
        ]
        yield "| " + " | ".join([*cells, *shares]) + " |"


def _ratings(folder: Path | None, models: Sequence[_Model]) -> Iterator[str]:
    """Yield rank correlations of cosines with ratings of pairs of words."""
    yield "\n### Ratings of pairs of words\n"
    if folder is None or not folder.exists():
        yield "Not measured: the files are absent."
        return
    names = " | ".join(_RATED.values())
    yield f"Spearman's correlation of the cosines with the ratings.\n\n| | {names} |"
    yield "|---|" + "---|" * len(_RATED)
    for model in models:
        cells = []
        for name in _RATED:
            pairs, ratings = _read_ratings(folder / f"EN-{name}.txt")
            if name == _SIMLEX:
                pairs, ratings = pairs[_SIMLEX_NOUNS], ratings[_SIMLEX_NOUNS]
            cells.append(f"{spearmanr(model.cosines(pairs), ratings)[0]:.3f}")
        yield f"| {model.name} | " + " | ".join(cells) + " |"
    yield """
SimLex-999 rates similarity (Hill et al. 2015). The other sets rate relatedness, for which the
general model is better. So measures that compare lists by degrees, such as `WMD` and `SoftF1`, use
the general model by default."""


def _read_ratings(path: Path) -> tuple[Pairs, list[float]]:
    """Return pairs of words in lower case, and their ratings."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row[0].lower(), row[1].lower()) for row in rows], [
        float(row[2]) for row in rows
    ]


def _lvis(
    path: Path | None, lexicon: Lexicon, models: Sequence[_Model]
) -> Iterator[str]:
    """Yield how models do on the synonyms of LVIS categories."""
    yield "\n### Synonyms of LVIS v1 categories\n"
    if path is None or not path.exists():
        yield "Not measured: the file is absent."
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    terms = [
        _plain_terms(category["synonyms"]) for category in ast.literal_eval(assigned)
    ]
    same = []
    for synonyms in terms:
        for first, second in combinations(synonyms, 2):
            if not _is_inside(first, second):
                same.append((first, second))
    random = np.random.default_rng(_SEED)
    places = random.integers(len(terms), size=(_STRANGERS, 2))
    strangers = [(terms[a][0], terms[b][0]) for a, b in places.tolist() if a != b]
    siblings = _sibling_categories(lexicon, terms)
    yield f"{len(same):,} pairs of synonyms, {len(siblings):,} categories whose first names are"
    yield f"siblings in WordNet, {len(strangers):,} random categories.\n"
    yield "| | AUC, same against sibling | AUC, same against random | same | sibling | random |"
    yield "|---|---|---|---|---|---|"
    for model in models:
        cosines = [model.cosines(pairs) for pairs in (same, siblings, strangers)]
        cells = [f"{_auc(cosines[0], others):.3f}" for others in cosines[1:]]
        cells += _matched(cosines, model.threshold)
        yield f"| {model.name} | " + " | ".join(cells) + " |"
    yield "\nThe last three columns are shares that match at the default threshold."


def _plain_terms(terms: Sequence[str]) -> list[str]:
    """Return terms without remarks in brackets: "mouse_(computer_equipment)" is "mouse"."""
    return [term.partition("_(")[0].replace("_", " ") for term in terms]


def _matched(cosines: Sequence[Values], threshold: float | None) -> list[str]:
    """Return the shares above a threshold; empty cells without one."""
    if threshold is None:
        return [""] * len(cosines)
    return [f"{(values > threshold).mean():.3f}" for values in cosines]


def _is_inside(first: str, second: str) -> bool:
    first = normalise(first)
    second = normalise(second)
    return first in second or second in first


def _sibling_categories(lexicon: Lexicon, terms: Sequence[Sequence[str]]) -> Pairs:
    """Return pairs of categories whose first names are siblings in WordNet."""
    names = [synonyms[0].lower() for synonyms in terms]
    names = [name for name in names if name in lexicon.nouns]
    hypernyms = {}
    for name in names:
        hypernyms[name] = set(lexicon.synsets[lexicon.nouns[name].senses[0]].hypernyms)
    pairs = []
    for first, second in combinations(hypernyms, 2):
        are_siblings = not hypernyms[first].isdisjoint(hypernyms[second])
        if are_siblings and not (
            lexicon.share_sense(first, second) or _is_inside(first, second)
        ):
            pairs.append((first, second))
    return pairs


def _own_list(models: Sequence[_Model]) -> Iterator[str]:
    """Yield how models do on the list of label pairs."""
    groups: Groups = {"same": [], "related": []}
    with _LIST.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            groups[row["relation"]].append((row["label"], row["other"]))
    yield f"""
### A list of label pairs

`label_pairs.csv` has {len(groups["same"])} labels of COCO, Open Images and LVIS with another usual
name of the same thing, and {len(groups["related"])} with a related label. It was written before a
model was tuned, and no pair of it was used for tuning. Errors of an early model on it led to two
rules of the recipe (see README.md), so an unseen list would fare a little worse.

| | AUC | same, matched | related, matched |
|---|---|---|---|"""
    for model in models:
        cosines = [model.cosines(pairs) for pairs in groups.values()]
        cells = [f"{_auc(*cosines):.3f}", *_matched(cosines, model.threshold)]
        yield f"| {model.name} | " + " | ".join(cells) + " |"


def _page(options: argparse.Namespace) -> Iterator[str]:
    """Yield the page."""
    lexicon = Lexicon.read()
    sentences = SentenceModel(options.cache)
    model = SameEmbedder()
    size = sum((DATA / name).stat().st_size for name in FILES) / 1e6
    yield f"""# Same thing or related thing

`{model.identity}`, {len(model):,} tuned entries, {size:.1f} MB. Written by
`python -m embeddings.same`.

## Nouns of WordNet

Pairs of nouns for visible things (animals, artifacts, body parts, food, natural objects, persons
and plants), by their first senses. `embeddings/relations.py` defines how pairs are related and
drawn. AUC is the probability that a pair of the same synset has the higher cosine than a pair that
is related in another way. Pairs of which one text contains the other are left out. For held-out
synsets, no constraint was on any of the nouns."""
    yield from _wordnet(lexicon, options.cache, sentences)
    yield from _curve(lexicon)
    yield "\n## Other data"
    models = [
        _of_package(StaticEmbedder(), "static, the general model"),
        _Model("all-MiniLM-L6-v2", sentences.embed, None),
        _of_package(model, "same, the default of matching"),
    ]
    yield from _ratings(options.ratings, models)
    yield from _lvis(options.lvis, lexicon, models)
    yield from _own_list(models)


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cache", type=Path, required=True, help="the cache of the recipe"
    )
    parser.add_argument(
        "--ratings", type=Path, help="data/word-sim of eval-word-vectors"
    )
    parser.add_argument("--lvis", type=Path, help="lvis_v1_categories.py of detectron2")
    text = "\n".join(_page(parser.parse_args())) + "\n"
    print(text)
    Path(__file__).with_name("SAME.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
