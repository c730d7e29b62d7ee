"""Signatures: they omit nothing, and what they say can be computed again."""

from __future__ import annotations

import pytest
from refusals import refused

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics.class_precision import ClassPrecisionFamily
from semmetrics.metrics.ranking import ItemRankingFamily
from semmetrics.metrics.registry import all_definitions
from semmetrics.metrics.set_measures import SetFamily
from semmetrics.scoring.signature import read_signature

PREDS = {"x": [("a", 0.9), ("b", 0.4)], "y": [("c", 0.5)]}
REFS = {"x": ["a"], "y": ["b", "c"]}
ASKED = {"BalancedAccuracy": "BalancedAccuracy(q=9)"}
TEXTS = [
    ASKED.get(definition.name, definition.name)
    for definition in all_definitions("labels")
    if type(definition.family) in (SetFamily, ItemRankingFamily, ClassPrecisionFamily)
]
TEXTS += ["F1(average=macro,labels=union,absent=0)@2", "F1(decode=threshold:0.45,keep_at_least=1)"]


GOOD = "F1|avg:macro|labels:union|k:3|norm:none|ci:percentile,0.95,100,7|n:3|data:00ff|v:0.1.0"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", "no measure ''"),
        (GOOD.replace("F1", "F7"), "no measure 'F7'; did you mean "),
        (GOOD.replace("n:3|", ""), "bad-signature"),
        (GOOD.replace("|n:3|data:00ff|v:0.1.0", ""), "bad-signature"),
        (GOOD.replace("n:3", "n:-3"), "bad-signature"),
        (GOOD.replace("k:3", "k:three"), "bad-signature"),
        (GOOD.replace("k:3", "k:0"), "bad-option"),
        (GOOD.replace("k:3", "k"), "bad-signature"),
        (GOOD.replace("norm", "nrom"), "bad-signature"),
        (GOOD.replace("macro", "makro"), "bad-choice"),
        (GOOD.replace("avg:macro", "avg:example"), "measure-option"),
        (GOOD + "|avg:micro", "bad-signature"),
        (GOOD + "|k:1", "bad-signature"),
        (GOOD.replace("percentile", "auto"), "bad-signature"),
        (GOOD.replace("percentile", "basic"), "bad-signature"),
        (GOOD.replace(",100,", ",many,"), "bad-signature"),
        (GOOD.replace(",7", ""), "bad-signature"),
    ],
)
def test_errors(wrong, message):
    assert str(read_signature(GOOD).measure) == "F1(average=macro,labels=union)@3"
    with refused(message):
        read_signature(wrong)


@pytest.mark.parametrize("part", ["n:1", "k:1"])
def test_numbers_of_thousands_of_digits_are_refused(part):
    found = semmetrics.score({"1": ["a"]}, {"1": ["a"]}, measures=["F1@1"])
    text = found["F1@1"].signature
    assert f"|{part}|" in text
    with pytest.raises(InputError):
        read_signature(text.replace(f"|{part}|", f"|{part[0]}:{'9' * 5000}|"))


@pytest.mark.parametrize("definition", all_definitions("captions"), ids=lambda one: one.name)
def test_signatures_of_captions_are_computed_again(definition):
    if any(option.name == "parser" for option in definition.options):
        measure = definition(parser="offline")
        pytest.importorskip("pycocoevalcap")
    elif definition.name.startswith("METEOR"):
        pytest.skip("its words are not here")
    else:
        measure = definition()
    preds, refs = {"a": "a red bus", "b": "two dogs"}, {"a": ["a bus"], "b": ["dogs", "two cats"]}
    (score,) = semmetrics.score(preds, refs, measures=[measure])
    again = semmetrics.rescore(score.signature, preds, refs)
    assert again[0].signature == score.signature
    assert again[0].value == pytest.approx(score.value, abs=0, nan_ok=True)
    assert not again.differences


def test_a_signature_of_a_comparison_says_what_it_is():
    found = semmetrics.compare({"a": PREDS, "b": PREDS}, REFS, measures="F1")
    with refused("signature-of-study"):
        read_signature(found.differences[0].signature)
