"""The adapter against pycocoevalcap's own classes, and its errors."""

from __future__ import annotations

import importlib
import json
import random
from collections import defaultdict
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused
from spice_program import install_program
from stand_ins import meteor_programs

import semmetrics
from semmetrics.adapters.pycocoevalcap import (
    Bleu,
    Cider,
    COCOEvalCap,
    Meteor,
    PTBTokenizer,
    Rouge,
    Spice,
)
from semmetrics.errors import message_of_error
from semmetrics.text.java import METEOR_FILES

GTS = {7: ["a man rides a horse", "a person on a horse"], "x": ["two dogs in the snow"]}
RES = {7: ["a man on a horse"], "x": ["two dogs play"]}
# The values that coco-caption's page prints for its example
PRINTED = {
    "Bleu_1": 0.579,
    "Bleu_2": 0.404,
    "Bleu_3": 0.279,
    "Bleu_4": 0.191,
    "METEOR": 0.195,
    "ROUGE_L": 0.396,
    "CIDEr": 0.600,
}


def their_class(module, name):
    """Return a class of pycocoevalcap itself."""
    try:
        return getattr(importlib.import_module(f"pycocoevalcap.{module}"), name)
    except ImportError:
        pytest.skip("pycocoevalcap is not installed")


@pytest.fixture(scope="module")
def raw(reference_dir):
    """The candidates of coco-caption's example as they are written."""
    path = reference_dir / "coco" / "captions_val2014_fakecap_results.json"
    return json.loads(path.read_text(encoding="utf-8"))


def random_captions(seed, n_images=60):
    """Return references and candidates, some of them empty or with unusual spaces."""
    rng = random.Random(seed)
    words = ["a", "the", "man", "horse", "dog", "rides", "on", "beach", "two", "big"]

    def caption():
        return " ".join(rng.choices(words, k=rng.randint(1, 9)))

    gts = {}
    res = {}
    for image in range(n_images):
        gts[image] = [caption() for _ in range(rng.randint(1, 4))]
        res[image] = [caption()]
    gts |= {0: ["", "a  man"], 1: ["5\xa01/2 men", "5 men"], 2: [""], 3: ["a man\xa0"]}
    res |= {0: ["a  dog"], 1: ["5\xa01/2 dogs"], 2: [""], n_images - 1: [""]}
    return gts, res


def assert_equal(ours, theirs):
    """Compare the value of the corpus and the values of items."""
    for our_values, their_values in zip(ours, theirs, strict=True):
        expected = np.asarray(their_values, np.float64)
        assert np.asarray(our_values) == pytest.approx(expected, abs=1e-12)
    assert type(ours[1]) is type(theirs[1])


@pytest.mark.parametrize(
    ("scorer", "module", "name"),
    [
        (Bleu(), "bleu", "Bleu"),
        (Rouge(), "rouge", "Rouge"),
        (Cider(), "cider", "Cider"),
    ],
)
@pytest.mark.parametrize("source", ["fakecap", "random", "one image"])
def test_values_are_those_of_pycocoevalcap(scorer, module, name, source, request):
    gts, res = random_captions(1)
    if source == "fakecap":
        gts, res = request.getfixturevalue("fakecap")
    elif source == "one image":
        gts, res = {0: gts[0]}, {0: res[0]}
    theirs = their_class(f"{module}.{module}", name)()
    verbose = {"verbose": 0} if name == "Bleu" else {}

    values = scorer.compute_score(gts, res, **verbose)

    assert_equal(values, theirs.compute_score(gts, res, **verbose))
    assert scorer.method() == theirs.method()


@pytest.mark.slow
def test_meteor_is_that_of_pycocoevalcap():
    if missing := message_of_error(METEOR_FILES.locate):
        pytest.skip(missing)
    gts, res = random_captions(5)
    theirs = their_class("meteor.meteor", "Meteor")()
    expected = theirs.compute_score(gts, res)
    theirs.meteor_p.stdout.close()
    theirs.meteor_p.stderr.close()

    assert_equal(Meteor().compute_score(gts, res), expected)
    assert Meteor().method() == theirs.method()


@pytest.mark.parametrize("scorer", [Bleu(), Rouge(), Cider()])
@pytest.mark.parametrize(
    ("gts", "res", "code", "where"),
    [
        ({**GTS, 9: ["a"]}, RES, "missing-images", "res"),
        (GTS, {**RES, 9: ["a"]}, "missing-images", "gts"),
        (GTS, {**RES, 7: ["a", "b"]}, "wrong-captions", "res[7]"),
        (GTS, {**RES, 7: []}, "wrong-captions", "res[7]"),
        ({**GTS, 7: []}, RES, "wrong-captions", "gts[7]"),
        (GTS, {**RES, 7: "a horse"}, "wrong-type", "res[7]"),
        ({**GTS, 7: [{"caption": "a"}]}, RES, "wrong-type", "gts[7][0]"),
        ({}, {}, "empty", ""),
    ],
)
def test_wrong_captions_are_errors(scorer, gts, res, code, where):
    with refused(code, where):
        scorer.compute_score(gts, res)


@pytest.mark.parametrize(
    ("make", "options", "code"),
    [
        (Bleu, {"n": 0}, "bad-choice"),
        (Bleu, {"n": 5}, "bad-choice"),
        (Cider, {"n": 3}, "bad-choice"),
        (Cider, {"sigma": 0}, "bad-option"),
    ],
)
def test_wrong_parameters_are_errors(make, options, code):
    with refused(code):
        make(**options)


# ---- the tokenizer -------------------------------------------------------------------


def test_tokens_are_those_of_the_example(fakecap, raw):
    captions = {str(result["image_id"]): [result] for result in raw}

    tokens = PTBTokenizer().tokenize(captions)

    _, expected = fakecap
    assert list(tokens) == list(captions)
    assert tokens == {image: expected[image] for image in captions}


def test_an_image_may_have_several_captions_or_none():
    captions = {1: [{"caption": "A cat."}, {"caption": "Two\ncats!", "id": 3}], 2: []}

    assert PTBTokenizer().tokenize(captions) == {1: ["a cat", "two cats"]}
    assert PTBTokenizer().tokenize({}) == {}


def test_tokens_that_depend_on_the_next_caption_are_those_of_pycocoevalcap():
    if missing := message_of_error(METEOR_FILES.locate):
        pytest.skip(missing)
    texts = ["A box of vitamin C.", "The cat's 5 1/2 fish (dead).", "no. 3", "a dog "]
    captions = {1: [{"caption": text} for text in texts], 2: [{"caption": "a\nman"}]}

    theirs = their_class("tokenizer.ptbtokenizer", "PTBTokenizer")()

    assert PTBTokenizer().tokenize(captions) == theirs.tokenize(captions)


# ---- the evaluation of files ---------------------------------------------------------


def coco(captions):
    """Return what is used of pycocotools' class."""
    annotations = defaultdict(list)
    for image, texts in captions.items():
        for text in texts:
            annotations[image].append({"image_id": image, "caption": text})
    return SimpleNamespace(imgToAnns=annotations, getImgIds=lambda: list(captions))


def test_an_evaluation_has_the_printed_values(fakecap, raw):
    gts, _ = fakecap
    results = coco({str(result["image_id"]): [result["caption"]] for result in raw})
    evaluation = COCOEvalCap(coco({**gts, "more": ["without a result"]}), results)
    evaluation.params["image_id"] = results.getImgIds()

    evaluation.evaluate()

    expected = dict(PRINTED)
    if not find_spec("pycocoevalcap"):
        del expected["METEOR"]
    assert set(evaluation.missing) == {"SPICE", *PRINTED} - set(expected)
    assert evaluation.eval == pytest.approx(expected, abs=5e-4)
    assert list(evaluation.imgToEval) == results.getImgIds()
    assert evaluation.evalImgs == list(evaluation.imgToEval.values())
    assert list(evaluation.evalImgs[0]) == ["image_id", *expected]
    values = [row["CIDEr"] for row in evaluation.evalImgs]
    assert np.mean(values) == pytest.approx(evaluation.eval["CIDEr"], abs=1e-12)


# Parses each word as an object
PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"tuples": [[word] for word in line.split()]}), flush=True)
"""
SPICE_GTS = {"b": ["red dog", "small puppy"], "a": ["cat on mat", " cat "], 7: ["man"]}
SPICE_RES = {"b": ["dog red car"], "a": ["cat"], 7: ["men"]}


@pytest.fixture
def spice_program(monkeypatch, tmp_path):
    if not find_spec("pycocoevalcap"):
        pytest.skip("pycocoevalcap has the synonyms")
    install_program(monkeypatch, tmp_path, PROGRAM)


def test_spice_has_the_values_of_the_measure_by_image(spice_program):
    value, items = Spice().compute_score(SPICE_GTS, SPICE_RES)

    preds = {str(image): texts for image, texts in SPICE_RES.items()}
    gts = {str(image): texts for image, texts in SPICE_GTS.items()}
    table = semmetrics.score(preds, gts, measures="SPICE", tokenizer="whitespace")
    score = table["SPICE"]
    assert value == pytest.approx(score.value, abs=1e-15)
    values = dict(zip(score.ids, score.items, strict=True))
    assert [item["All"]["f"] for item in items] == [values[i] for i in ("7", "a", "b")]


def test_spice_has_counts_by_category(spice_program):
    _, items = Spice().compute_score(SPICE_GTS, SPICE_RES)

    counts = items[1]["All"]
    assert list(counts) == ["pr", "re", "f", "fn", "tp", "fp", "numImages"]
    assert (counts["tp"], counts["fp"], counts["fn"], counts["pr"]) == (1, 0, 2, 1)
    assert np.isnan(items[1]["Color"]["f"])


def test_an_evaluation_has_spice_if_its_program_is_there(spice_program):
    value, items = Spice().compute_score(SPICE_GTS, SPICE_RES)
    evaluation = COCOEvalCap(coco(SPICE_GTS), coco(SPICE_RES))

    with meteor_programs():
        evaluation.evaluate()

    assert evaluation.eval["SPICE"] == value
    assert "SPICE" not in evaluation.missing
    assert evaluation.imgToEval["b"]["SPICE"]["All"] == items[2]["All"]
