"""``semmetrics.score`` of captions: what is given, what is refused, and what a table holds."""

from __future__ import annotations

import random
from functools import reduce
from operator import add

import numpy as np
import pytest
from refusals import refused
from stand_ins import meteor_programs, without_pycocoevalcap

import semmetrics
from semmetrics import Bootstrap
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.scoring.result import score_statistics

CAPTIONS = {
    "1": "a cat sleeps on a mat",
    "2": "two dogs run on grass",
    "3": "a red bus",
}
REFERENCES = {
    "1": ["a cat is sleeping on a mat", "the cat sleeps"],
    "2": ["two dogs are running on the grass", "dogs run", "dogs play on grass"],
    "3": ["the red bus stops", "a bus"],
}
WORDS = ["a", "the", "cat", "dog", "sleeps", "runs", "on", "mat", "grass", "red"]
FIT = fit_document_frequencies([*REFERENCES.values(), ["a dog", "the mat"], ["grass"]])


@pytest.fixture(autouse=True)
def no_program(monkeypatch):
    """METEOR's program takes seconds to start."""
    without_pycocoevalcap(monkeypatch)


def score(preds=CAPTIONS, gts=REFERENCES, **options):
    return semmetrics.score(preds, gts, **options)


def bits(scores):
    """Everything that is shown of scores, and the value of each item by id."""
    return [
        repr(
            (
                one.to_dict(),
                sorted(zip(map(str, one.ids), one.items.tolist(), strict=True)),
            )
        )
        for one in scores
    ]


def drawn(number, seed):
    """Captions of random words, and one to three references of each."""
    chance = random.Random(seed)

    def text():
        return " ".join(chance.choices(WORDS, k=chance.randint(2, 8)))

    names = [f"image{place}" for place in range(number)]
    return (
        {name: text() for name in names},
        {name: [text() for _ in range(chance.randint(1, 3))] for name in names},
    )


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"tokenizer": "moses"},
            "unknown tokenizer 'moses'. Choose one of ptb, ptb-java, 13a, whitespace",
        ),
        ({"tokenizer": 3}, "3 is an int. Expected a tokenizer"),
        ({"tokenizer": len}, "wrong-type"),
        ({"doc_freq": 3}, "wrong-type"),
        ({"doc_freq": FIT, "tokenizer": "13a"}, "ptb"),
        ({"doc_freq": FIT, "measures": "CIDEr-D(stem=porter)"}, "stem"),
        ({"measures": "CIDEr-D(df=given)"}, "df=given needs doc_freq="),
        (
            {"measures": ["MacroF1", "SemF1", "CIDEr-D"], "task": "captions"},
            "wrong-kind",
        ),
        ({"protocol": "kubany2020", "task": "captions"}, "protocol-of-kind"),
        ({"protocol": "coco-caption", "tokenizer": str.split}, "fixed-by"),
        ({"measures": ["BLEU-1@3"]}, "BLEU-1"),
    ],
)
def test_options_that_do_not_fit(options, match):
    with refused(match):
        score(**options)


LABELS = {"preds": [["cat"]], "gts": [["cat"]]}


OF_LABELS = {
    "top_k": 3,
    "decode": "threshold:0.5",
    "keep_at_least": 1,
    "set_size_probs": np.eye(3),
    "normalize": "lower",
    "classes": ["cat"],
    "ignore": ["cat"],
    "calibration": "c.json",
    "taxonomy": {"a": "b"},
}
OF_CAPTIONS = {"tokenizer": "ptb", "doc_freq": FIT, "score_references": True}


@pytest.mark.parametrize(("sides", "options"), [({}, OF_LABELS), (LABELS, OF_CAPTIONS)])
def test_options_of_another_kind_are_refused(sides, options):
    for name, value in options.items():
        with refused("not-of-kind", name=name):
            score(**sides, **{name: value})


@pytest.mark.parametrize(
    ("preds", "refs", "match"),
    [
        (
            {**CAPTIONS, "4": "a"},
            REFERENCES,
            "gts is missing 1 of the ids: '4'.*missing='skip'",
        ),
        (CAPTIONS, {**REFERENCES, "3": []}, "gts has no caption for 1 of the ids: '3'"),
        (CAPTIONS, {**REFERENCES, "3": ["a", None]}, "wrong-type"),
        (CAPTIONS, {**REFERENCES, "3": "a bus"}, "wrong-type"),
        ({**CAPTIONS, "3": "half \ud83d"}, REFERENCES, "preds, id '3'.*surrogate"),
    ],
)
def test_wrong_captions(preds, refs, match):
    with refused(match):
        score(preds, refs, task="captions")


# ---- the protocol -----------------------------------------------------------------------------


def test_the_protocol_with_meteor():
    with meteor_programs():
        table = score(protocol="coco-caption", ci=True, resamples=5)
        alone = score(measures="METEOR")["METEOR"]
    assert table.headings[4] == "METEOR"
    assert [one.heading for one in table.not_computed] == ["SPICE"]
    assert 0 < table["METEOR"].ci.low <= table["METEOR"].ci.high <= 1
    assert table["METEOR"].value == alone.value


# ---- signatures, and parts that add up --------------------------------------------------------


@pytest.mark.parametrize("human", [False, True])
def test_parts_add_up_to_the_whole(human):
    preds, refs = drawn(25, 3)
    refs = {name: [*several, "a cat"] for name, several in refs.items()}
    measures = [
        "BLEU-4",
        "ROUGE-L",
        "CIDEr-D",
        "NGSM",
        "LengthRatio",
        "CIDEr",
        "CaptionLength",
    ]
    system = "human" if human else "preds"
    own = fit_document_frequencies(list(refs.values()))

    def part(names, **options):
        table = score(
            {name: preds[name] for name in names},
            {name: refs[name] for name in names},
            measures=measures,
            doc_freq=own,
            score_references=human,
            **options,
        )
        return [one for one in table if one.system == system]

    whole = part(list(preds), ci=Bootstrap(resamples=9))
    names = random.Random(4).sample(list(preds), 25)
    parts = [part(some) for some in (names[:1], names[1:9], names[9:])]
    merged = reduce(add, (one[0].statistics for one in parts))
    chosen = {system: [(one.measure, one.note) for one in whole]}
    again = score_statistics(
        {system: merged}, chosen, headings=measures, ci=Bootstrap(resamples=9)
    )
    assert bits(again) == bits(whole)
    with refused("items-in-both"):
        merged + parts[0][0].statistics


# ---- captions of any kind ---------------------------------------------------------------------


def test_a_tokenizer_gives_tokens_for_each_caption():
    class Short:
        name = "short"

        def tokens(self, captions):
            return [caption.split() for caption in captions if "dog" not in caption]

    with refused("wrong-count"):
        score(tokenizer=Short())
