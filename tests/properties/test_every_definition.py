"""What holds for every definition of every kind.

Every value of every option changes a number on some input, or is refused; and an item of weight 0
counts as if it were not there.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from stand_ins import meteor_programs
from tiny import Tiny

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics.registry import all_definitions

CLASSES = list("abcdef")
# values of the options that do not list theirs
VALUES = {
    ("labels", "decode"): [
        "all",
        "threshold:0.5",
        "threshold:best",
        "cumulative:0.5",
        "cardinality",
        "cardinality+scores",
        "cardinality+scores:code",
    ],
    ("labels", "keep_at_least"): [0, 1, 2],
    ("labels", "q"): [7, 9],
    ("labels", "beta"): [2, 0.5],
    ("labels", "threshold"): ["auto", "0.2", "0.95"],
    ("labels", "embedding"): ["default", "other"],
    ("captions", "embedding"): ["default", "other"],
    ("captions", "sigma"): [6.0, 2.0],
    ("captions", "alpha"): [0.9, 0.5],
    ("captions", "beta"): [1.2, 3.0],
    ("captions", "gamma"): [0.5, 0.2],
    ("retrieval", "phi"): ["default", "other"],
    ("retrieval", "extended"): ["none", "k", "3"],
    ("retrieval", "m"): [2, 3],
    ("retrieval", "depth"): [10, 1],
    ("retrieval", "rel"): [2, 3],
    ("classes", "labels"): ["auto", "seen", "unseen", "mine"],
    ("classes", "candidates"): ["all", "seen", "unseen", "mine"],
}
# what else a measure says where an option acts beside another alone
BESIDE = {
    "labels": [{"absent": "0"}, {"no_reference": "0"}],
    "keep_at_least": [{"decode": "threshold:0.8"}],
    "no_prediction": [{"normalize": "hits"}, {"q": 6, "decode": "threshold:0.99"}],
    "undefined": [{"category": "color"}, {"unconnected": "skip"}],
    "depth": [{"similar": "images"}],
}
ALWAYS = {"q": 6, "m": 2, "beta": 2, "parser": "offline"}
# of classes without positives either is undefined where all are, and no other has a weight
SAME = {
    (name, average, "no_reference", "nan")
    for name in ("mAP", "ROC-AUC")
    for average in ("weighted", "micro")
}
UNTOLD = {"official"}  # not every machine has its parser


class Seeded(Tiny):
    """Random vectors, the same for the same text; of "f" nothing is known."""

    def embed(self, texts):
        self.vectors = {
            text: np.random.default_rng([len(self.identity), *text.encode()]).normal(
                size=3
            )
            for text in texts
            if text != "f"
        }
        return super().embed(texts)


EMBEDDINGS = {name: Seeded({"": [0.0] * 3}, name) for name in ("default", "other")}


def labels():
    pred = {
        "0": [("a", 0.9), ("b", 0.6), ("a", 0.55), ("c", 0.1)],
        "1": [("a", 0.6), ("d", 0.2)],
        "2": [("e", 0.85), ("b", 0.7), ("d", 0.7), ("a", 0.3)],
        "3": [("x", 0.4), ("e", 0.4)],
        "4": [("b", 0.7), ("b", 0.6)],
        "5": [],
        "6": [],
        "7": [("a", 0.7)],
    }
    ref = {
        "0": ["a", "a", "e"],
        "1": ["b"],
        "2": ["c", "f", "a"],
        "3": ["e", "c", "d"],
        "4": ["b"],
        "5": [],
        "6": ["a"],
        "7": [],
    }
    rng = np.random.default_rng(3)
    forest = {
        "a": ["m"],
        "b": ["m"],
        "m": ["r"],
        "c": ["s"],
        "d": ["s"],
        "e": ["a"],
        "f": ["s"],
    }
    given = {"embedding": EMBEDDINGS, "taxonomy": forest}

    def sized(preds, refs, **more):
        sizes = rng.dirichlet(np.ones(4), len(preds))
        return preds, refs, {"set_size_probs": sizes, **given, **more}

    yield sized(pred, ref)
    given["taxonomy"] = {**forest, "x": ["s"]}
    yield sized(pred, ref)
    yield sized(pred, ref, classes=CLASSES, taxonomy={**given["taxonomy"], "s": ["r"]})
    # synonyms, which say what class a label of another item belongs to
    synonyms = {"0": ["c"], "1": [["a", "b"]], "2": [["d", "c"]]}
    yield (
        {"0": ["b", "c"], "1": ["a"], "2": ["d", "b"]},
        synonyms,
        {"embedding": EMBEDDINGS},
    )
    # labels without a vector, or without a common ancestor
    yield sized(
        [[("f", 0.9)], [("d", 0.9)], [("a", 0.9)]],
        [["a"], ["b"], ["b"]],
        classes=CLASSES,
    )
    # lists of which some labels are alike
    letters = list("abcdeghijk")
    pred = [[(x, rng.random()) for x in rng.choice(letters, 4)] for _ in range(20)]
    yield sized(
        pred, [[*rng.choice(letters, 4)] for _ in pred], classes=letters, taxonomy=None
    )
    # lists that rules of matching pair in different ways
    degrees = {"a": 0, "b": -40, "c": 40, "s": 0, "p": 10, "q": -65, "r": 75}
    plane = {
        name: np.cos(np.radians([angle, angle - 90])).tolist()
        for name, angle in degrees.items()
    }
    alike = {"embedding": {name: Tiny(plane, name) for name in EMBEDDINGS}}
    yield [["a", "b"], ["p", "q"]], [["a", "c"], ["r", "s"]], alike
    # scores of every label; no label is true, or all are
    for width in (2, 6):
        names = CLASSES[:width]
        table = [
            [*zip(names, rng.integers(1, 9, width) / 8.5, strict=True)]
            for _ in range(20)
        ]
        truth = [[name for name in names if rng.random() < 0.5] for _ in range(20)]
        for first in ([], names[:1], names):
            yield sized(table, [first, *truth[1:]], classes=names)
    # one item, so that a label or all together lack predictions or references
    yield [[]], [[]], given
    a, x = ("a", 0.9), ("x", 0.9)
    for one, other in (([], []), ([], ["a"]), ([a], []), ([x], []), ([a], ["a"])):
        yield sized([one], [other], classes=CLASSES)


def captions():
    preds = {
        "0": "A red dog runs on the green grass.",
        "1": "two small cats and a red dog",
        "2": "a man holds the ball in his hands",
        "3": "a dog dog dog",
        "4": "A red dog. The cat sleeps.",
    }
    refs = {
        "0": [
            "a red dog running on the green grass",
            "a small dog runs on the green grass",
        ],
        "1": ["two cats sleep", "Three big dogs and a red cat", "a cat and a red dog"],
        "2": ["the man holds a large white ball in his hands"],
        "3": ["a dog and another dog run", "dogs"],
        "4": ["a red dog", "a cat sleeps beside a dog"],
    }
    every = [*preds.values(), *itertools.chain(*refs.values())]
    given = {"task": "captions", "embedding": EMBEDDINGS}
    frequencies = semmetrics.fit_document_frequencies(
        [["a red dog", "dogs"], ["the man runs"]]
    )
    yield preds, refs, given
    given["doc_freq"] = frequencies
    yield (
        preds,
        refs,
        {**given, "tuples": {t: [[word] for word in t.split()] for t in every}},
    )
    yield preds, {n: refs[n] for n in "0123"}, {**given, "missing": "empty"}
    for one, other in (
        ("", "a dog runs"),
        ("f", "a dog"),
        ("a dog", "f"),
        ("a dog", ""),
    ):
        yield {**preds, "5": one}, {**refs, "5": [other]}, given


def retrieval():
    rng = np.random.default_rng(5)
    table, phi = rng.random((6, 18)), np.maximum(0, rng.normal(size=(6, 18))).round(2)
    names = [f"i{row}" for row in range(6)], [f"c{one}" for one in range(18)]
    positives = {
        f"i{row}": [f"c{3 * row + one}" for one in range(3)] for row in range(6)
    }
    given = {
        "task": "retrieval",
        "queries": names[0],
        "gallery": names[1],
        "direction": "both",
    }
    given["phi"] = {"default": phi, "other": phi[:, ::-1]}
    yield table, positives, given
    empty = phi.copy()
    empty[0], empty[:, 0] = 0, 0
    yield table, positives, {**given, "phi": {"default": empty, "other": phi}}
    lists = {
        f"i{row}": [f"c{one}" for one in np.argsort(-table[row])] for row in range(6)
    }
    yield lists, {**positives, "i0": []}, {"task": "retrieval"}
    yield {**lists, "i0": ["c9"]}, positives, {"task": "retrieval"}


def classes():
    rng = np.random.default_rng(8)
    names = [f"c{j}" for j in range(6)]
    given = {"task": "classes", "classes": names, "class_lists": {"mine": names[1:4]}}
    truth = {f"i{row}": names[i] for row, i in enumerate(rng.integers(0, 6, 60))}
    lines = zip(truth, rng.random((60, 6)), strict=True)
    table = {name: dict(zip(names, line, strict=True)) for name, line in lines}
    yield table, truth, {**given, "seen": names[:3], "unseen": names[3:]}


INPUTS = {
    "labels": labels,
    "captions": captions,
    "retrieval": retrieval,
    "classes": classes,
}


@pytest.fixture(scope="module", autouse=True)
def stand_ins():
    with meteor_programs():
        yield


def scored(measures, preds, refs, given, tell=lambda score: repr(score.value)):
    """What is told of the scores of each measure, one a part; None where it is refused."""
    try:
        table = semmetrics.score(preds, refs, measures=measures, **given)
    except InputError:
        if len(measures) == 1:
            return {measures[0]: None}
        half = len(measures) // 2
        halves = measures[:half], measures[half:]
        parts = (scored(some, preds, refs, given, tell) for some in halves)
        return dict(itertools.chain.from_iterable(part.items() for part in parts))
    found = {m: [] for m in measures}
    for score in table:
        found[score.heading.removeprefix(f"{score.part} ")].append(tell(score))
    return found


def values_of(definition, option, average):
    """The values of an option, the default first."""
    known = option.choices or VALUES.get((definition.kind, option.name))
    assert known, (
        f"VALUES lacks {option.name} of {definition.kind}: give some values of it"
    )
    default = known[0] if option.required else option.default_for(average)
    return list(dict.fromkeys([default, *known]))


def make(definition, chosen):
    """The measure with these options; None where it refuses them."""
    k = 2 if definition.cutoff and definition.kind == "retrieval" else None
    try:
        return definition(k=k, **chosen)
    except InputError:
        return None


def usual(definition):
    names = {option.name for option in definition.options}
    return make(
        definition, {name: value for name, value in ALWAYS.items() if name in names}
    )


def variants(definition):
    """Yield the options beside one, that one and its values by name of the measure, default first.

    An option is tried under each average.
    """
    names = [option.name for option in definition.options]
    required = {name: ALWAYS[name] for name in names if name in ALWAYS}
    bases = [required | {"average": average} for average in definition.averages] or [
        required
    ]
    for option in definition.options:
        for base in [required] if option.name == "average" else bases:
            average = base.get("average")
            if average not in (option.averages or (average,)):
                continue
            several = [base | more for more in BESIDE.get(option.name, [])] + [base]
            chosen = next(some for some in several if make(definition, some))
            values = [
                v for v in values_of(definition, option, average) if v not in UNTOLD
            ]
            made = {
                value: make(definition, chosen | {option.name: value})
                for value in values
            }
            yield chosen, option.name, {str(m): value for value, m in made.items() if m}


def ignored_of(kind):
    """The values that are taken and change nothing: measure, what it says, option, value."""
    ignored = []
    for definition in all_definitions(kind):
        alike = {}  # on all inputs so far: measure with another value and with the default
        for chosen, name, texts in variants(definition):
            usual, *others = texts
            for text in others:
                case = definition.name, chosen.get("average"), name, texts[text]
                if case not in SAME:
                    alike[text, usual] = (*case, chosen)
        for preds, refs, given in INPUTS[kind]():
            texts = dict.fromkeys(itertools.chain.from_iterable(alike))
            if texts:
                found = scored(list(texts), preds, refs, given)
                alike = {
                    pair: alike[pair]
                    for pair in alike
                    if found[pair[0]] == found[pair[1]]
                }
        ignored += alike.values()
    return ignored


@pytest.mark.parametrize("kind", INPUTS)
def test_every_value_of_every_option_acts_or_is_refused(kind):
    if kind == "captions":
        pytest.importorskip("pycocoevalcap", reason="SPICE needs its words")
    ignored = ignored_of(kind)
    assert not ignored, "\n" + "\n".join(map(str, ignored))


def without_one(place, preds, refs, given):
    """Data in which the item at a place weighs nothing, and the same data without that item."""
    matrix, by_id = isinstance(preds, np.ndarray), isinstance(refs, dict)
    ids = range(len(refs)) if not by_id else refs if matrix else {**preds, **refs}
    names = [*map(str, ids)]
    sides = [
        dict(zip(names, side, strict=True)) if isinstance(side, list) else side
        for side in (preds, refs)
    ]
    usual = {name: 0.5 + place % 3 for place, name in enumerate(names)}
    more = {"ci": True, "resamples": 20} | (
        {"direction": "i2t"} if "direction" in given else {}
    )
    gone = names[place]
    rest = [name for name in names if name != gone]
    rows = [names.index(name) for name in rest]
    fewer = {"weights": {name: usual[name] for name in rest}}
    if "set_size_probs" in given:
        fewer["set_size_probs"] = given["set_size_probs"][rows]
    if matrix:
        fewer |= {
            "queries": rest,
            "phi": {n: phi[rows] for n, phi in given["phi"].items()},
        }
    some = [
        preds[rows]
        if side is preds and matrix
        else {name: side[name] for name in rest if name in side}
        for side in sides
    ]
    return (*sides, given | more | {"weights": usual | {gone: 0.0}}), (
        *some,
        given | more | fewer,
    )


def everything(score):
    """All that a score says but for the fingerprints of the weights and of phi, as given."""
    rows = (
        None
        if score.items is None
        else dict(zip(map(str, score.ids), score.items, strict=True))
    )
    table = score.per_label and {
        name: [*column] for name, column in score.per_label.items()
    }
    signature = re.sub("weights:[0-9a-f]+|matrix:[^|]+", "", score.signature)
    return repr(
        (score.value, score.ci, score.n, score.undefined, rows, table, signature)
    )


@pytest.mark.parametrize("kind", INPUTS)
def test_an_item_of_weight_0_counts_as_if_it_were_not_there(kind):
    if kind == "captions":
        pytest.importorskip("pycocoevalcap", reason="SPICE needs its words")
    measures = {
        text: definition.name
        for definition in all_definitions(kind)
        for _, name, texts in [
            *variants(definition),
            ({}, "", [str(usual(definition))]),
        ]
        if name in ("", "average", "labels", "interpolation", "df")
        for text in texts
    }
    compared = set()
    several = (data for data in INPUTS[kind]() if len(data[1]) > 1)
    for number, data in enumerate(several):
        one, other = without_one(-(number % 2), *data)  # the first or the last in turns
        found = scored(list(measures), *one, everything)
        assert found == scored(list(measures), *other, everything)
        compared |= {measures[text] for text, values in found.items() if values}
    both = {"Rsum", "Nsum"}  # of both directions, and weights are those of one
    assert compared == {*measures.values()} - both
