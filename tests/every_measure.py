"""A small input for every measure, with the options that the measure needs."""

from __future__ import annotations

import numpy as np
import pytest
from stand_ins import meteor_programs, spice_programs
from tiny import Tiny

from semmetrics.metrics.families import Derived
from semmetrics.metrics.registry import all_definitions

N_ITEMS = 24
NAMES = [f"label {number}" for number in range(12)]
WORDS = [
    "a",
    "the",
    "man",
    "dog",
    "cat",
    "rides",
    "runs",
    "on",
    "red",
    "big",
    "beach",
    "two",
]
# a binary tree of the labels
PARENTS = {f"label {i}": f"label {(i - 1) // 2}" for i in range(1, 12)}


def _vectors_of_labels():
    """Return random vectors of all labels except the last."""
    rng = np.random.default_rng(7)
    return Tiny({name: rng.normal(size=8).tolist() for name in NAMES[:-1]})


MODEL = _vectors_of_labels()


def embed_texts(texts):
    """Return vectors that depend on the lengths and letters of strings."""
    return [[len(text), text.count("1") + 1.0, text.count("l") + 0.5] for text in texts]


def _draw_labels(rng):
    return rng.permutation(NAMES)[: rng.integers(0, 5)].tolist()


def label_items(n, seed=0):
    """Draw labels with scores, and true labels, of n items."""
    rng = np.random.default_rng(seed)
    preds = []
    for _ in range(n):
        labels = _draw_labels(rng)
        preds.append([(name, float(rng.random())) for name in labels])
    gts = [_draw_labels(rng) for _ in range(n)]
    return preds, gts


def class_items(n, seed=0):
    """Draw a score of each class, and a true class, of n items."""
    rng = np.random.default_rng(seed)
    preds = []
    for _ in range(n):
        preds.append([(name, float(rng.random())) for name in NAMES])
    gts = [[str(name)] for name in rng.choice(NAMES, n)]
    return preds, gts


def _draw_caption(rng):
    return " ".join(rng.choice(WORDS, rng.integers(3, 9)))


def caption_items(n, seed=0):
    """Draw a caption, and up to three reference captions, of n items."""
    rng = np.random.default_rng(seed)
    preds = [_draw_caption(rng) for _ in range(n)]
    gts = []
    for _ in range(n):
        gts.append([_draw_caption(rng) for _ in range(rng.integers(1, 4))])
    return preds, gts


def measures_of(definition):
    """Return a measure for each average of a definition, with the options it requires."""
    required = {}
    for option in definition.options:
        if option.required:
            required[option.name] = 40 if option.name == "q" else 3
    if not definition.averages:
        return [definition(**required)]
    return [definition(average=average, **required) for average in definition.averages]


def case_of(definition):
    """Return measures of a definition, the options of the score, and both sides of items."""
    measures = measures_of(definition)
    if definition.kind == "captions":
        return measures, {}, caption_items(N_ITEMS)
    if definition.kind == "classes":
        options = {"task": "classes", "seen": NAMES[:7], "unseen": NAMES[7:]}
        return measures, options, class_items(N_ITEMS)

    options = {}
    if any(measure["labels"] == "given" for measure in measures):
        options["classes"] = NAMES
    if "embedding" in definition.needs:
        options["embedding"] = MODEL
    elif "text_embedding" in definition.needs:
        options["embedding"] = embed_texts
    if "taxonomy" in definition.needs:
        options["taxonomy"] = PARENTS
    return measures, options, label_items(N_ITEMS)


def _definitions_for_lists():
    """Return the definitions that apply to lists: no sums of directions, and no phi matrix."""
    definitions = []
    for definition in all_definitions():
        is_sum = isinstance(definition.family, Derived)
        if not is_sum and "phi" not in definition.needs:
            definitions.append(definition)
    return definitions


DEFINITIONS = _definitions_for_lists()
EVERY = pytest.mark.parametrize(
    "definition",
    DEFINITIONS,
    ids=lambda definition: f"{definition.kind} {definition.name}",
)


@pytest.fixture(scope="module", autouse=True)
def stand_ins():
    """Replace the programs behind METEOR and SPICE."""
    words = dict.fromkeys(("Color", "Cardinality", "Size"), frozenset(["cat"]))
    with meteor_programs(), spice_programs(words):
        yield
