"""Signatures of scores can be read and computed again."""

from __future__ import annotations

import pytest
from refusals import refused
from stand_ins import meteor_programs

import semmetrics
from semmetrics.metrics.registry import all_definitions
from semmetrics.scoring.signature import read_signature

SIGNATURE = (
    "F1|avg:macro|labels:union|k:3|norm:none|ci:percentile,0.95,100,7"
    "|n:3|data:00ff|v:0.2.0.dev0"
)


def test_a_signature_has_a_measure():
    measure = read_signature(SIGNATURE).measure

    assert str(measure) == "F1(average=macro,labels=union)@3"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (SIGNATURE, "", "unknown-name"),
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
        (",100,", ",many,", "bad-signature"),
        (",7", "", "bad-signature"),
    ],
    ids=str,
)
def test_a_wrong_signature_raises_an_error(old, new, code):
    with refused(code):
        read_signature(SIGNATURE.replace(old, new))


def test_a_signature_of_a_comparison_raises_an_error_that_says_so():
    preds = {"x": ["a"], "y": ["c"]}
    table = semmetrics.compare({"a": preds, "b": preds}, preds, measures="F1")

    with refused("signature-of-study"):
        read_signature(table.differences[0].signature)


@pytest.mark.parametrize(
    "definition", all_definitions("captions"), ids=lambda definition: definition.name
)
def test_scores_of_captions_are_computed_again_from_their_signature(definition):
    options = {}
    if any(option.name == "parser" for option in definition.options):
        pytest.importorskip("pycocoevalcap")
        options["parser"] = "offline"
    preds = {"a": "a red bus", "b": "two dogs"}
    refs = {"a": ["a bus"], "b": ["dogs", "two cats"]}

    with meteor_programs():
        (score,) = semmetrics.score(preds, refs, measures=[definition(**options)])
        again = semmetrics.rescore(score.signature, preds, refs)

    assert again[0].signature == score.signature
    assert again[0].value == pytest.approx(score.value, abs=0, nan_ok=True)
    assert not again.differences
