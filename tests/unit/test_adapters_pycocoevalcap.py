"""The adapter against pycocoevalcap's own classes where they are, and what it refuses."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections import defaultdict
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from refusals import refused
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
from semmetrics.errors import why_not
from semmetrics.text.java import METEOR_FILES
from semmetrics.text.official_parser import OfficialParser

GTS = {7: ["a man rides a horse", "a person on a horse"], "x": ["two dogs in the snow"]}
RES = {7: ["a man on a horse"], "x": ["two dogs play"]}
SCORERS = {"bleu": (Bleu, "Bleu"), "rouge": (Rouge, "Rouge"), "cider": (Cider, "CIDEr")}
# What coco-caption's page prints of its example.
PRINTED = {
    "Bleu_1": 0.579,
    "Bleu_2": 0.404,
    "Bleu_3": 0.279,
    "Bleu_4": 0.191,
    "METEOR": 0.195,
    "ROUGE_L": 0.396,
    "CIDEr": 0.600,
}


def theirs(module, name):
    """A class of pycocoevalcap itself."""
    try:
        return getattr(importlib.import_module(f"pycocoevalcap.{module}"), name)
    except ImportError:
        pytest.skip("pycocoevalcap is not installed")


@pytest.fixture(scope="module")
def raw(reference_dir):
    path = reference_dir / "coco" / "captions_val2014_fakecap_results.json"
    return json.loads(path.read_text(encoding="utf-8"))


def drawn(seed, number=60):
    """Captions with words in common; some are empty, or have odd blanks."""
    chance = random.Random(seed)
    words = ["a", "the", "man", "horse", "dog", "rides", "on", "beach", "two", "big"]

    def some(most):
        return [
            " ".join(chance.choices(words, k=chance.randint(1, 9)))
            for _ in range(chance.randint(1, most))
        ]

    gts, res = ({place: some(most) for place in range(number)} for most in (4, 1))
    gts |= {0: ["", "a  man"], 1: ["5\xa01/2 men", "5 men"], 2: [""], 3: ["a man\xa0"]}
    return gts, {**res, 0: ["a  dog"], 1: ["5\xa01/2 dogs"], 2: [""], number - 1: [""]}


def assert_equal(mine, others):
    """Values and items, at every nesting."""
    for one, other in zip(mine, others, strict=True):
        assert np.asarray(one) == pytest.approx(
            np.asarray(other, np.float64), abs=1e-12
        )


@pytest.mark.parametrize("module", SCORERS)
@pytest.mark.parametrize("source", ["fakecap", "drawn", "one image"])
def test_values_are_those_of_pycocoevalcap(module, source, request):
    scorer, name = SCORERS[module]
    other = theirs(f"{module}.{module}", name.replace("CIDEr", "Cider"))()
    gts, res = request.getfixturevalue("fakecap") if source == "fakecap" else drawn(1)
    if source == "one image":
        gts, res = {0: gts[0]}, {0: res[0]}
    verbose = {"verbose": 0} if module == "bleu" else {}
    mine, others = (one.compute_score(gts, res, **verbose) for one in (scorer(), other))
    assert_equal(mine, others)
    assert [type(part) for part in mine][1] is type(others[1])
    assert scorer().method() == other.method() == name


@pytest.mark.slow
def test_meteor_is_that_of_pycocoevalcap(fakecap):
    if missing := why_not(METEOR_FILES.locate):
        pytest.skip(missing)
    odd = drawn(5)
    gts, res = (
        {**{one: side[one] for one in [*side][:90]}, **odd[i]}
        for i, side in enumerate(fakecap)
    )
    other = theirs("meteor.meteor", "Meteor")()
    expected = other.compute_score(gts, res)
    for stream in (other.meteor_p.stdout, other.meteor_p.stderr):
        stream.close()  # which it leaves open
    value, items = Meteor().compute_score(gts, res)
    assert_equal((value, items), expected)
    assert (type(value), type(items), len(items)) == (float, list, 150)
    assert Meteor().method() == other.method()


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
def test_what_pycocoevalcap_asserts(scorer, gts, res, code, where):
    with refused(code, where):
        scorer.compute_score(gts, res)


def test_bad_parameters():
    for n in (0, 5):
        with refused("bad-choice"):
            Bleu(n)
    with refused("bad-choice"):
        Cider(n=3)
    with refused("bad-option"):
        Cider(sigma=0)


def test_tokens_are_those_of_pycocoevalcap(fakecap, raw):
    given = {str(one["image_id"]): [one] for one in raw}
    tokens = PTBTokenizer().tokenize(given)
    assert list(tokens) == list(given)
    assert tokens == {image: fakecap[1][image] for image in given}


def test_tokens_of_several_captions():
    several = {1: [{"caption": "A cat."}, {"caption": "Two\ncats!", "id": 3}], 2: []}
    assert PTBTokenizer().tokenize(several) == {1: ["a cat", "two cats"]}
    assert PTBTokenizer().tokenize({}) == {}


def coco(captions):
    """What of pycocotools' class is used."""
    annotations = defaultdict(list)
    for image, texts in captions.items():
        annotations[image] += [{"image_id": image, "caption": text} for text in texts]
    return SimpleNamespace(imgToAnns=annotations, getImgIds=lambda: list(captions))


def test_evaluation_of_a_file(fakecap, raw):
    gts, _ = fakecap
    results = coco({str(one["image_id"]): [one["caption"]] for one in raw})
    evaluation = COCOEvalCap(coco({**gts, "more": ["of no result"]}), results)
    evaluation.params["image_id"] = results.getImgIds()
    evaluation.evaluate()
    missing = set() if find_spec("pycocoevalcap") else {"METEOR"}
    assert set(evaluation.missing) == {"SPICE"} | missing
    expected = {name: value for name, value in PRINTED.items() if name not in missing}
    assert evaluation.eval == pytest.approx(expected, abs=5e-4)
    assert list(evaluation.imgToEval) == results.getImgIds()
    assert evaluation.evalImgs == list(evaluation.imgToEval.values())
    one = evaluation.evalImgs[0]
    assert list(one) == ["image_id", *expected]
    values = [row["CIDEr"] for row in evaluation.evalImgs]
    assert np.mean(values) == pytest.approx(evaluation.eval["CIDEr"], abs=1e-12)


PROGRAM = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"tuples": [[word] for word in line.split()]}), flush=True)
"""


@pytest.fixture
def program(monkeypatch, tmp_path):
    """A stand-in for SPICE's own parser: each word is an object."""
    monkeypatch.setenv("SEMMETRICS_HOME", str(tmp_path / "home"))
    command = [sys.executable, "-c", PROGRAM]
    monkeypatch.setattr(OfficialParser, "_command", lambda self: command)


@pytest.mark.skipif(
    not find_spec("pycocoevalcap"), reason="the synonyms are not installed"
)
def test_spice_is_given_by_image(program):
    gts = {"b": ["red dog", "small puppy"], "a": ["cat on mat", " cat "], 7: ["man"]}
    res = {"b": ["dog red car"], "a": ["cat"], 7: ["men"]}
    value, items = Spice().compute_score(gts, res)
    table = semmetrics.score(
        {str(image): texts for image, texts in res.items()},
        {str(image): texts for image, texts in gts.items()},
        measures="SPICE",
        tokenizer="whitespace",
    )
    assert value == pytest.approx(table["SPICE"].value, abs=1e-15)
    by_image = dict(zip(["7", "a", "b"], items, strict=True))
    for name, f in zip(table["SPICE"].ids, table["SPICE"].items, strict=True):
        assert by_image[name]["All"]["f"] == f
    one = by_image["a"]["All"]
    assert list(one) == ["pr", "re", "f", "fn", "tp", "fp", "numImages"]
    assert (one["tp"], one["fp"], one["fn"], one["pr"]) == (1, 0, 2, 1)
    assert np.isnan(by_image["a"]["Color"]["f"])
    evaluation = COCOEvalCap(coco(gts), coco(res))
    with meteor_programs():
        evaluation.evaluate()
    assert evaluation.eval["SPICE"] == value
    assert "SPICE" not in evaluation.missing
    assert evaluation.imgToEval["b"]["SPICE"]["All"] == by_image["b"]["All"]


def test_tokens_of_captions_that_run_on():
    if missing := why_not(METEOR_FILES.locate):
        pytest.skip(missing)
    texts = [
        "A box of vitamin C.",
        "The cat's 5 1/2 fish (dead).",
        "Vitamin C.",
        "no. 3",
        "a dog ",
    ]
    given = {1: [{"caption": text} for text in texts], 2: [{"caption": "a man\nrides"}]}
    tokens = PTBTokenizer().tokenize(given)
    assert tokens == theirs("tokenizer.ptbtokenizer", "PTBTokenizer")().tokenize(given)
