"""``semmetrics.score`` of captions: its options, and the protocol of COCO captions."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from stand_ins import meteor_programs, without_pycocoevalcap

import semmetrics
from semmetrics.metrics.cider import fit_document_frequencies

CAPTIONS = {"1": "a cat sleeps on a mat", "2": "two dogs run", "3": "a red bus"}
REFERENCES = {
    "1": ["a cat is sleeping on a mat", "the cat sleeps"],
    "2": ["two dogs are running on the grass", "dogs run"],
    "3": ["the red bus stops", "a bus"],
}
FREQUENCIES = fit_document_frequencies(list(REFERENCES.values()))


@pytest.fixture(autouse=True)
def no_program(monkeypatch):
    """METEOR's program takes seconds to start."""
    without_pycocoevalcap(monkeypatch)


def score(preds=CAPTIONS, gts=REFERENCES, **options):
    return semmetrics.score(preds, gts, **options)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tokenizer": "moses"}, "Choose one of ptb, ptb-java, 13a, whitespace"),
        ({"tokenizer": 3}, "wrong-type"),
        ({"tokenizer": len}, "wrong-type"),
        ({"doc_freq": 3}, "wrong-type"),
        ({"doc_freq": FREQUENCIES, "tokenizer": "13a"}, "ptb"),
        ({"doc_freq": FREQUENCIES, "measures": "CIDEr-D(stem=porter)"}, "stem"),
        ({"measures": "CIDEr-D(df=given)"}, "df=given needs doc_freq="),
        ({"measures": ["SemF1", "CIDEr-D"], "task": "captions"}, "wrong-kind"),
        ({"protocol": "kubany2020", "task": "captions"}, "protocol-of-kind"),
        ({"protocol": "coco-caption", "tokenizer": str.split}, "fixed-by"),
        ({"measures": ["BLEU-1@3"]}, "BLEU-1"),
    ],
)
def test_options_that_do_not_fit_are_errors(options, problem):
    with refused(problem):
        score(**options)


OPTIONS_OF_LABELS = {
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
OPTIONS_OF_CAPTIONS = {
    "tokenizer": "ptb",
    "doc_freq": FREQUENCIES,
    "score_references": True,
}


@pytest.mark.parametrize(("name", "value"), OPTIONS_OF_LABELS.items())
def test_an_option_of_labels_is_an_error_for_captions(name, value):
    with refused("not-of-kind", name=name):
        score(**{name: value})


@pytest.mark.parametrize(("name", "value"), OPTIONS_OF_CAPTIONS.items())
def test_an_option_of_captions_is_an_error_for_labels(name, value):
    with refused("not-of-kind", name=name):
        score([["cat"]], [["cat"]], **{name: value})


@pytest.mark.parametrize(
    ("preds", "gts", "problem"),
    [
        ({"4": "a"}, {}, "gts is missing 1 of the ids: '4'.*missing='skip'"),
        ({}, {"3": []}, "gts has no caption for 1 of the ids: '3'"),
        ({}, {"3": ["a", None]}, "wrong-type"),
        ({}, {"3": "a bus"}, "wrong-type"),
        ({"3": "half \ud83d"}, {}, "preds, id '3'.*surrogate"),
    ],
)
def test_wrong_captions_are_errors(preds, gts, problem):
    with refused(problem):
        score(CAPTIONS | preds, REFERENCES | gts, task="captions")


def test_the_protocol_computes_meteor_with_its_files():
    with meteor_programs():
        table = score(protocol="coco-caption", ci=True, resamples=5)
        alone = score(measures="METEOR")["METEOR"]

    assert table.headings[4] == "METEOR"
    assert [entry.heading for entry in table.not_computed] == ["SPICE"]
    assert 0 < table["METEOR"].ci.low <= table["METEOR"].ci.high <= 1
    assert table["METEOR"].value == alone.value


def test_a_tokenizer_must_return_tokens_for_each_caption():
    class Short:
        name = "short"

        def tokens(self, captions):
            return [caption.split() for caption in captions if "dog" not in caption]

    with refused("wrong-count"):
        score(tokenizer=Short())
