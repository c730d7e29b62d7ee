"""Results of options with different values have different signatures."""

from itertools import combinations

import numpy as np
import pytest
from tiny import Tiny

import semmetrics
from semmetrics.embed.words import MatrixEmbedder
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.options import KINDS, OPTIONS

WITHOUT_EFFECT_ON_SCORES = {
    "task": "is part of the measure",
    "cache": "stores vectors",
    "keep_rows": "stores values of items",
    "score_references": "adds another system",
}
"""Options with choices that change no score, each with what they do instead."""
WITHOUT_EFFECT_ON_KIND = {("lookup", "retrieval")}
"""Options that change no score of one kind. The embeddings of retrieval are of whole captions."""
DESCRIBES_THE_DATA = {"n", "data", "gallery", "groups"}
"""The parts of signatures that may differ by themselves if an option changes the data."""

# ---- options and their values -------------------------------------------------------------------


def values_of(option):
    """Return the values to try: the default and all choices, or on and off."""
    if isinstance(option.default, bool):
        return [False, True]
    return list(dict.fromkeys([option.default, *option.choices]))


def cases():
    """Return each option with values that can be listed, with each kind that has it."""
    pairs = []
    for name, option in OPTIONS.items():
        if name in WITHOUT_EFFECT_ON_SCORES or len(values_of(option)) < 2:
            continue
        pairs += [(name, kind) for kind in option.kinds or KINDS]
    return [pair for pair in pairs if pair not in WITHOUT_EFFECT_ON_KIND]


# ---- data of each kind --------------------------------------------------------------------------

WORDS = [
    "cat",
    "dog",
    "red",
    "car",
    "trafficlight",
    "traffic_light",
    "Sofa",
    "unknown",
    "a",
    "runs",
]
WORD_VECTORS = MatrixEmbedder(
    np.random.default_rng(7).normal(size=(10, 4)), WORDS, lookup="words"
)
TEXT_VECTORS = Tiny({word: [n + 1, 2 - n, n % 3] for n, word in enumerate(WORDS)})


def labels():
    """Yield label sets with empty, missing and unknown labels, and matrices of scores."""
    preds = {
        "0": ["traffic light", "cat"],
        "1": ["sofa", "a cat"],
        "2": ["red car", "dog"],
        "3": ["zebra", "cat"],
        "4": [],
    }
    refs = {
        "0": ["trafficlight", "dog"],
        "1": ["Sofa"],
        "2": ["car", "dog"],
        "3": ["dog", "lion"],
        "4": ["cat"],
    }
    measures = "F1 MacroF1 SemF1(threshold=0.5) MeanSim"
    for embedding in (WORD_VECTORS, TEXT_VECTORS):
        options = {"measures": measures, "embedding": embedding}
        yield preds, refs, options
    yield preds, {**refs, "5": ["dog"]}, {"measures": "F1"}

    rule = {"measures": "F1", "decode": "threshold:0.3"}
    fractions = np.array([[0.9, 0.1, 0.25], [0.35, 0.2, 0.8], [0.1, 0.5, 0.05]])
    members = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]])
    yield fractions, members, rule
    yield members[::-1], members, rule
    yield members[::-1], members, {"measures": "F1@2"}


def captions():
    """Yield captions with punctuation, missing captions, and words for embeddings."""
    preds = {
        "0": "A red car's light, e.g. a traffic light (on).",
        "1": "the dog runs",
        "2": "a zebra",
    }
    refs = {
        "0": ["a red car 's light e.g. a traffic light ( on )"],
        "1": ["a dog runs.", "the cat"],
        "2": ["the lion and a dog"],
    }
    options = {"measures": "BLEU-1 CaptionLength LengthRatio"}
    yield preds, refs, options
    yield preds, {**refs, "3": ["a dog"]}, options

    preds = {"0": "a cat", "1": "a dog", "2": "a cat"}
    refs = {"0": ["a sofa"], "1": ["a zebra", "a car"], "2": ["a lion and a dog"]}
    measures = "Soft-SPICE(parser=offline)"
    yield preds, refs, {"measures": measures, "embedding": WORD_VECTORS}


def retrieval():
    """Yield similarities with ties, rankings, embeddings, and captions of the gallery."""
    rng = np.random.default_rng(8)
    images = ["i0", "i1", "c2"]
    texts = [f"c{number}" for number in range(6)]
    names = {"queries": images, "gallery": texts}
    similarity = rng.integers(1, 4, (3, 6)) / 4
    positives = {"i0": ["c0", "c1"], "i1": ["c3"], "c2": ["c4", "c5"]}
    options = {"measures": "Recall@2 MRR MeanR"}
    yield similarity, positives, {**options, **names}

    rankings = {"i0": ["c1", "c0"], "i1": ["c0", "c3"], "c2": ["c2", "c4"]}
    yield rankings, positives, options
    yield rankings, {**positives, "i9": ["c1"]}, options

    lengths = np.arange(1, 7)[:, None] ** 2
    vectors = {
        "queries_embeddings": rng.normal(size=(3, 4)),
        "gallery_embeddings": rng.normal(size=(6, 4)) * lengths,
    }
    yield None, positives, {**options, **vectors, **names}

    sentences = [
        "A red car's light, e.g. a traffic light (on).",
        "a red car 's light e.g. a traffic light ( on )",
        "the dog runs.",
        "a dog runs",
        "a zebra and the lion",
        "a zebra (red) sofa",
    ]
    names["captions"] = dict(zip(texts, sentences, strict=True))
    options = {"measures": "NCS@2", **names}
    yield similarity, positives, options
    known = [*sentences[:5], "unknown"]
    embedding = Tiny(dict(zip(known, rng.normal(size=(6, 3)).tolist(), strict=True)))
    yield similarity, positives, {**options, "phi": "BagSim", "embedding": embedding}


def classes():
    """Yield scores of classes with ties, and an image without predictions."""
    rng = np.random.default_rng(9)
    names = ["cat", "dog", "bus"]
    scores = {}
    for number in range(8):
        row = (rng.integers(1, 4, 3) / 4).tolist()
        scores[f"i{number}"] = dict(zip(names, row, strict=True))
    truth = {image: names[number % 3] for number, image in enumerate(scores)}
    options = {"measures": "Accuracy PerClassAccuracy", "classes": names}
    yield scores, truth, options
    yield scores, {**truth, "i9": "dog"}, options


DATA = {
    "labels": labels,
    "captions": captions,
    "retrieval": retrieval,
    "classes": classes,
}

# ---- scores -------------------------------------------------------------------------------------


def score_with(preds, refs, options):
    """Return the result and the settings in the signature of each score, or {} for an error."""
    try:
        table = semmetrics.score(preds, refs, **options)
    except (InputError, MissingDependencyError):
        return {}
    scores = {}
    for score in table:
        settings = []
        for part in score.signature.split("|"):
            if part.partition(":")[0] not in DESCRIBES_THE_DATA:
                settings.append(part)
        limits = None
        if score.ci is not None:
            limits = (score.ci.low, score.ci.high)
        result = repr((score.value, limits))
        scores[score.system, score.heading] = (result, "|".join(settings))
    return scores


@pytest.mark.filterwarnings("ignore::semmetrics.errors.InputWarning")
@pytest.mark.parametrize(("name", "kind"), cases())
def test_results_with_different_values_have_different_signatures(name, kind):
    # given
    values = values_of(OPTIONS[name])
    has_effect = False

    for preds, refs, options in DATA[kind]():
        fixed = {"task": kind, **options}
        if name == "ci_method":
            fixed |= {"ci": True, "resamples": 20}

        # when
        scores_by_value = {}
        for value in values:
            scores_by_value[value] = score_with(preds, refs, {**fixed, name: value})

        # then
        for first, second in combinations(values, 2):
            other_scores = scores_by_value[second]
            for key, (result, signature) in scores_by_value[first].items():
                if key not in other_scores or other_scores[key][0] == result:
                    continue
                has_effect = True
                assert signature != other_scores[key][1], (
                    f"{name}={first!r} and {name}={second!r} have the same signature "
                    f"for different values of {key}. Give the option a key"
                )
    assert has_effect, (
        f"{name} changes no score. Add data to {DATA[kind].__name__} for which it "
        "does, or add the option to WITHOUT_EFFECT_ON_SCORES"
    )
