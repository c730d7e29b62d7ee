"""Properties of every definition of every kind.

Each value of each option changes the score of some input, or raises an error. An item with weight 0
changes nothing.
"""

import re

import numpy as np
import pytest
from stand_ins import meteor_programs
from tiny import Tiny

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics.registry import all_definitions

CLASSES = list("abcdef")
KINDS = ("labels", "captions", "retrieval", "classes")

# ---- options and their values -------------------------------------------------------------------

# Values to try of the options that do not list theirs. The first one is the default.
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
# Options that change nothing unless certain other options are also set.
NEEDED_OPTIONS = {
    "labels": [{"absent": "0"}, {"no_reference": "0"}],
    "keep_at_least": [{"decode": "threshold:0.8"}],
    "no_prediction": [{"normalize": "hits"}, {"q": 6, "decode": "threshold:0.99"}],
    "undefined": [{"category": "color"}, {"unconnected": "skip"}],
    "depth": [{"similar": "images"}],
}
ALWAYS_SET = {"q": 6, "m": 2, "beta": 2, "parser": "offline"}
PARSERS_OF_OTHER_MACHINES = {"official"}
# If a class without positives is undefined, these averages are nan or have no weight for it.
WITHOUT_EFFECT = {
    ("mAP", "weighted", "no_reference", "nan"),
    ("mAP", "micro", "no_reference", "nan"),
    ("ROC-AUC", "weighted", "no_reference", "nan"),
    ("ROC-AUC", "micro", "no_reference", "nan"),
}


def make_measure(definition, options):
    """Return the measure with these options, or None if they are invalid."""
    k = 2 if definition.cutoff and definition.kind == "retrieval" else None
    try:
        return definition(k=k, **options)
    except InputError:
        return None


def options_always_set(definition):
    names = [option.name for option in definition.options]
    return {name: ALWAYS_SET[name] for name in names if name in ALWAYS_SET}


def values_to_try(definition, option, average):
    """Return values of an option, the default first."""
    values = option.choices or VALUES.get((definition.kind, option.name))
    assert values, f"add values of {option.name} of {definition.kind} to VALUES"
    default = values[0] if option.required else option.default_for(average)
    values = dict.fromkeys([default, *values])
    return [value for value in values if value not in PARSERS_OF_OTHER_MACHINES]


def add_needed_options(definition, option, options):
    """Return the options with others, if the definition has them, that let an option act."""
    for needed in NEEDED_OPTIONS.get(option.name, []):
        if make_measure(definition, options | needed):
            return options | needed
    return options


def variants_of_option(definition, option):
    """Yield, for each average, the other options and the measures by value of an option."""
    always_set = options_always_set(definition)
    averages = definition.averages or (None,)
    if option.name == "average":
        averages = (None,)
    for average in averages:
        if average not in (option.averages or (average,)):
            continue
        options = dict(always_set)
        if average is not None:
            options["average"] = average
        options = add_needed_options(definition, option, options)
        measures = {}
        for value in values_to_try(definition, option, average):
            measure = make_measure(definition, options | {option.name: value})
            if measure is not None:
                measures[value] = str(measure)
        yield options, measures


# ---- inputs -------------------------------------------------------------------------------------


class RandomVectors(Tiny):
    """Random vectors, the same for the same text. Only "f" is unknown."""

    def embed(self, texts):
        self.vectors = {text: self.vector(text) for text in texts if text != "f"}
        return super().embed(texts)

    def vector(self, text):
        seed = [len(self.identity), *text.encode()]
        return np.random.default_rng(seed).normal(size=3)


EMBEDDINGS = {
    "default": RandomVectors({"": [0.0] * 3}, "default"),
    "other": RandomVectors({"": [0.0] * 3}, "other"),
}
TAXONOMY = {
    "a": ["m"],
    "b": ["m"],
    "m": ["r"],
    "c": ["s"],
    "d": ["s"],
    "e": ["a"],
    "f": ["s"],
}


def with_options(preds, refs, **options):
    """Return sides of labels with the options that measures may need."""
    rng = np.random.default_rng(3)
    needed = {
        "embedding": EMBEDDINGS,
        "taxonomy": TAXONOMY,
        "set_size_probs": rng.dirichlet(np.ones(4), len(preds)),
    }
    return preds, refs, needed | options


def scored_label_lists():
    preds = {
        "0": [("a", 0.9), ("b", 0.6), ("a", 0.55), ("c", 0.1)],
        "1": [("a", 0.6), ("d", 0.2)],
        "2": [("e", 0.85), ("b", 0.7), ("d", 0.7), ("a", 0.3)],
        "3": [("x", 0.4), ("e", 0.4)],
        "4": [("b", 0.7), ("b", 0.6)],
        "5": [],
        "6": [],
        "7": [("a", 0.7)],
        "8": [("c", 0.5)],
    }
    refs = {
        "0": ["a", "a", "e"],
        "1": ["b"],
        "2": ["c", "f", "a"],
        "3": ["e", "c", "d"],
        "4": ["b"],
        "5": [],
        "6": ["a"],
        "7": [],
        "8": ["c"],
    }
    yield with_options(preds, refs)
    with_x = {**TAXONOMY, "x": ["s"]}
    yield with_options(preds, refs, taxonomy=with_x)
    yield with_options(preds, refs, classes=CLASSES, taxonomy={**with_x, "s": ["r"]})


def labels_with_synonyms():
    """Synonyms decide the class of a label of another item."""
    preds = {"0": ["b", "c"], "1": ["a"], "2": ["d", "b"]}
    refs = {"0": ["c"], "1": [["a", "b"]], "2": [["d", "c"]]}
    yield preds, refs, {"embedding": EMBEDDINGS}


def labels_without_vector_or_ancestor():
    preds = [[("f", 0.9)], [("d", 0.9)], [("a", 0.9)]]
    yield with_options(preds, [["a"], ["b"], ["b"]], classes=CLASSES)


def random_label_lists():
    rng = np.random.default_rng(0)
    letters = list("abcdeghijk")
    preds = []
    refs = []
    for _ in range(20):
        labels = rng.choice(letters, 4).tolist()
        preds.append(list(zip(labels, rng.random(4).tolist(), strict=True)))
        refs.append(rng.choice(letters, 4).tolist())
    yield with_options(preds, refs, classes=letters, taxonomy=None)


def labels_that_rules_of_matching_pair_differently():
    degrees = {"a": 0, "b": -40, "c": 40, "s": 0, "p": 10, "q": -65, "r": 75}
    vectors = {}
    for label, angle in degrees.items():
        vectors[label] = np.cos(np.radians([angle, angle - 90])).tolist()
    embeddings = {name: Tiny(vectors, name) for name in EMBEDDINGS}
    yield [["a", "b"], ["p", "q"]], [["a", "c"], ["r", "s"]], {"embedding": embeddings}


def scores_of_all_labels():
    """In the first item no label, one label or all labels are true."""
    rng = np.random.default_rng(4)
    for width in (2, 6):
        names = CLASSES[:width]
        preds = []
        refs = []
        for _ in range(20):
            scores = rng.integers(1, 9, width) / 8.5
            preds.append(list(zip(names, scores.tolist(), strict=True)))
            refs.append([name for name in names if rng.random() < 0.5])
        for first in ([], names[:1], names):
            yield with_options(preds, [first, *refs[1:]], classes=names)


def single_items():
    """Some label, or all labels together, have no predictions or no references."""
    yield [[]], [[]], {"embedding": EMBEDDINGS, "taxonomy": TAXONOMY}
    a = ("a", 0.9)
    x = ("x", 0.9)
    for pred, ref in (([], []), ([], ["a"]), ([a], []), ([x], []), ([a], ["a"])):
        yield with_options([pred], [ref], classes=CLASSES)


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
    options = {"task": "captions", "embedding": EMBEDDINGS}
    yield preds, refs, options

    corpus = [["a red dog", "dogs"], ["the man runs"]]
    options["doc_freq"] = semmetrics.fit_document_frequencies(corpus)
    tuples = {}
    for image, references in refs.items():
        for caption in [preds[image], *references]:
            tuples[caption] = [[word] for word in caption.split()]
    yield preds, refs, {**options, "tuples": tuples}

    without_one = {image: refs[image] for image in "0123"}
    yield preds, without_one, {**options, "missing": "empty"}
    for pred, ref in (
        ("", "a dog runs"),
        ("f", "a dog"),
        ("a dog", "f"),
        ("a dog", ""),
    ):
        yield {**preds, "5": pred}, {**refs, "5": [ref]}, options


def retrieval():
    rng = np.random.default_rng(5)
    similarity = rng.random((6, 18))
    phi = np.maximum(0, rng.normal(size=(6, 18))).round(2)
    images = [f"i{row}" for row in range(6)]
    texts = [f"c{column}" for column in range(18)]
    positives = {}
    rankings = {}
    for row, image in enumerate(images):
        positives[image] = texts[3 * row : 3 * row + 3]
        rankings[image] = [texts[column] for column in np.argsort(-similarity[row])]

    options = {
        "task": "retrieval",
        "queries": images,
        "gallery": texts,
        "direction": "both",
        "phi": {"default": phi, "other": phi[:, ::-1]},
    }
    yield similarity, positives, options
    phi_with_zeros = phi.copy()
    phi_with_zeros[0] = 0
    phi_with_zeros[:, 0] = 0
    yield (
        similarity,
        positives,
        {**options, "phi": {"default": phi_with_zeros, "other": phi}},
    )
    yield rankings, {**positives, "i0": []}, {"task": "retrieval"}
    yield {**rankings, "i0": ["c9"]}, positives, {"task": "retrieval"}


def classes():
    rng = np.random.default_rng(8)
    names = [f"c{column}" for column in range(6)]
    scores = {}
    truth = {}
    for row in range(200):
        truth[f"i{row}"] = rng.choice(names)
        scores[f"i{row}"] = dict(zip(names, rng.random(6).tolist(), strict=True))
    options = {
        "task": "classes",
        "classes": names,
        "class_lists": {"mine": names[1:4]},
        "seen": names[:3],
        "unseen": names[3:],
    }
    yield scores, truth, options


SOURCES = {
    "labels": [
        scored_label_lists,
        labels_with_synonyms,
        labels_without_vector_or_ancestor,
        random_label_lists,
        labels_that_rules_of_matching_pair_differently,
        scores_of_all_labels,
        single_items,
    ],
    "captions": [captions],
    "retrieval": [retrieval],
    "classes": [classes],
}


def inputs_of(kind):
    """Yield predictions, references and options."""
    for source in SOURCES[kind]:
        yield from source()


# ---- scores -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def small_word_lists():
    with meteor_programs():
        yield


@pytest.fixture(params=KINDS)
def kind(request):
    if request.param == "captions":
        pytest.importorskip("pycocoevalcap", reason="SPICE needs its lists of words")
    return request.param


def describe_value(score):
    return repr(score.value)


def describe_score(measures, data, describe=describe_value):
    """Describe the scores by each measure, one per part. None if a measure raises an error."""
    preds, refs, options = data
    try:
        table = semmetrics.score(preds, refs, measures=measures, **options)
    except InputError:
        if len(measures) == 1:
            return {measures[0]: None}
        middle = len(measures) // 2
        descriptions = describe_score(measures[:middle], data, describe)
        descriptions |= describe_score(measures[middle:], data, describe)
        return descriptions
    descriptions = {measure: [] for measure in measures}
    for score in table:
        measure = score.heading.removeprefix(f"{score.part} ")
        descriptions[measure].append(describe(score))
    return descriptions


# ---- each value of an option --------------------------------------------------------------------


def option_values(kind):
    """Map each measure with a value of an option, and the default, to their options."""
    pairs = {}
    for definition in all_definitions(kind):
        for option in definition.options:
            for options, measures in variants_of_option(definition, option):
                (_, default), *others = measures.items()
                average = options.get("average")
                for value, measure in others:
                    case = (definition.name, average, option.name, value)
                    if case not in WITHOUT_EFFECT:
                        pairs[measure, default] = (*case, options)
    return pairs


def test_every_value_of_every_option_acts_or_raises_an_error(kind):
    ignored = option_values(kind)

    for data in inputs_of(kind):
        measures = set().union(*ignored)
        if not measures:
            break
        values = describe_score(sorted(measures), data)
        for measure, default in list(ignored):
            if values[measure] != values[default]:
                del ignored[measure, default]

    assert list(ignored.values()) == []


# ---- items with weight 0 ------------------------------------------------------------------------


def item_ids(preds, refs):
    if isinstance(preds, np.ndarray):
        return list(refs)
    return list({**preds, **refs})


def by_id(side):
    """Return the items of a list by their number."""
    if isinstance(side, list):
        return {str(number): item for number, item in enumerate(side)}
    return side


def without_item(place, data):
    """Return the data with weight 0 for an item, and the data without this item."""
    preds, refs, options = data
    preds = by_id(preds)
    refs = by_id(refs)
    ids = item_ids(preds, refs)
    removed = ids[place]
    rows = [row for row, item in enumerate(ids) if item != removed]
    weights = {item: 0.5 + number % 3 for number, item in enumerate(ids)}

    options = options | {"ci": True, "resamples": 20}
    if "direction" in options:
        options["direction"] = "i2t"
    with_weight_0 = options | {"weights": weights | {removed: 0.0}}

    fewer = options | {"weights": without_key(weights, removed)}
    if "set_size_probs" in options:
        fewer["set_size_probs"] = options["set_size_probs"][rows]
    if isinstance(preds, np.ndarray):
        fewer["queries"] = [ids[row] for row in rows]
        fewer["phi"] = {name: phi[rows] for name, phi in options["phi"].items()}
        fewer_preds = preds[rows]
    else:
        fewer_preds = without_key(preds, removed)
    fewer_refs = without_key(refs, removed)
    return (preds, refs, with_weight_0), (fewer_preds, fewer_refs, fewer)


def without_key(mapping, key):
    return {other: value for other, value in mapping.items() if other != key}


def describe_all(score):
    """Describe a score, apart from the fingerprints of weights and phi."""
    items = None
    if score.items is not None:
        items = dict(zip(map(str, score.ids), score.items, strict=True))
    labels = None
    if score.per_label:
        labels = {name: list(column) for name, column in score.per_label.items()}
    signature = re.sub("weights:[0-9a-f]+|matrix:[^|]+", "", score.signature)
    return repr(
        (score.value, score.ci, score.n, score.undefined, items, labels, signature)
    )


def measures_with_weights(kind):
    """Map measures to their definitions, under the options that concern several items."""
    measures = {}
    for definition in all_definitions(kind):
        usual = make_measure(definition, options_always_set(definition))
        measures[str(usual)] = definition.name
        for option in definition.options:
            if option.name in ("average", "labels", "interpolation", "df"):
                for _, by_value in variants_of_option(definition, option):
                    for measure in by_value.values():
                        measures[measure] = definition.name
    return measures


def test_an_item_of_weight_0_counts_as_if_it_did_not_exist(kind):
    definition_of = measures_with_weights(kind)
    measures = list(definition_of)
    compared = set()

    several_items = [data for data in inputs_of(kind) if len(data[1]) > 1]
    for number, data in enumerate(several_items):
        place = -(number % 2)  # the first or the last item
        with_weight_0, without = without_item(place, data)
        scores = describe_score(measures, with_weight_0, describe_all)
        assert scores == describe_score(measures, without, describe_all)
        for measure, description in scores.items():
            if description:
                compared.add(definition_of[measure])

    # Weights are for one direction, and these need both.
    assert compared == set(definition_of.values()) - {"Rsum", "Nsum"}
