"""Signatures: they omit nothing, and what they say can be computed again."""

from __future__ import annotations

import pytest
from refusals import refused
from stand_ins import meteor_programs

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics.registry import all_definitions
from semmetrics.scoring.signature import read_signature

PREDS = {"x": [("a", 0.9), ("b", 0.4)], "y": [("c", 0.5)]}
REFS = {"x": ["a"], "y": ["b", "c"]}


GOOD = "F1|avg:macro|labels:union|k:3|norm:none|ci:percentile,0.95,100,7|n:3|data:00ff|v:0.2.0.dev0"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (GOOD, "", None),
        ("F1", "F7", "unknown-name"),
        ("n:3|", "", "bad-signature"),
        ("|n:3|data:00ff|v:0.2.0.dev0", "", "bad-signature"),
        ("n:3", "n:-3", "bad-signature"),
        ("n:3", f"n:{'9' * 5000}", "bad-signature"),
        ("k:3", "k:three", "bad-signature"),
        ("k:3", "k", "bad-signature"),
        ("k:3", "k:0", "bad-option"),
        ("k:3", f"k:{'9' * 5000}", None),
        ("norm", "nrom", "bad-signature"),
        ("macro", "makro", "bad-choice"),
        ("avg:macro", "avg:example", "measure-option"),
        ("v:0.2.0.dev0", "v:0.2.0.dev0|avg:micro", "bad-signature"),
        ("v:0.2.0.dev0", "v:0.2.0.dev0|k:1", "bad-signature"),
        ("percentile", "auto", "bad-signature"),
        ("percentile", "basic", "bad-signature"),
        (",100,", ",many,", "bad-signature"),
        (",7", "", "bad-signature"),
    ],
)
def test_errors(old, new, code):
    assert str(read_signature(GOOD).measure) == "F1(average=macro,labels=union)@3"
    with refused(code) if code else pytest.raises(InputError):
        read_signature(GOOD.replace(old, new))


@pytest.mark.parametrize(
    "definition", all_definitions("captions"), ids=lambda one: one.name
)
def test_signatures_of_captions_are_computed_again(definition):
    if any(option.name == "parser" for option in definition.options):
        measure = definition(parser="offline")
        pytest.importorskip("pycocoevalcap")
    else:
        measure = definition()
    preds, refs = (
        {"a": "a red bus", "b": "two dogs"},
        {"a": ["a bus"], "b": ["dogs", "two cats"]},
    )
    with meteor_programs():
        (score,) = semmetrics.score(preds, refs, measures=[measure])
        again = semmetrics.rescore(score.signature, preds, refs)
    assert again[0].signature == score.signature
    assert again[0].value == pytest.approx(score.value, abs=0, nan_ok=True)
    assert not again.differences


def test_a_signature_of_a_comparison_says_what_it_is():
    found = semmetrics.compare({"a": PREDS, "b": PREDS}, REFS, measures="F1")
    with refused("signature-of-study"):
        read_signature(found.differences[0].signature)
