"""Signatures: they omit nothing, and what they say can be computed again."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import Bootstrap
from semmetrics.errors import InputError
from semmetrics.metrics.class_precision import ClassPrecisionFamily
from semmetrics.metrics.ranking import ItemRankingFamily
from semmetrics.metrics.registry import all_definitions, parse
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


def signed(*texts, **options):
    options = {"classes": ["a", "b", "c", "d"], **options}
    return semmetrics.score(PREDS, REFS, measures=list(texts), **options).scores


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ci", [False, Bootstrap(0.9, 7, 3)])
def test_a_signature_reads_back(text, ci):
    (score,) = signed(text, ci=ci, ignore=["d", "50%|d"], weights={"x": 1.0, "y": 2.0})
    found = read_signature(score.signature)
    assert score.measure == parse(text)[0]
    labels = {"labels": "given"} if score.measure["labels"] == "auto" else {}
    assert found.measure == score.measure.with_options(**labels)
    assert found.bootstrap == (score.ci and score.ci.bootstrap)
    assert found.bootstrap is None or found.bootstrap.method == score.replicates.default
    assert found.n == 2
    assert found.version == semmetrics.__version__
    weights = f"{score.statistics.weighting:016x}"
    assert found.settings == {**score.statistics.settings, "weights": weights}
    assert "\n" not in score.signature
    every = score.signature.split("|")
    assert every[0] == score.measure.definition.name
    for option in score.measure.definition.options:
        if score.measure[option.name] is not None:
            assert f"{option.short}:{found.measure[option.name]}" in every


def test_what_changes_a_number_changes_the_signature():
    base = {"normalize": "none", "missing": "error", "empty_predictions": "keep"}
    (first,) = signed("MacroF1", **base)
    changed = [
        signed("MacroF1", **{**base, name: value})[0].signature
        for name, value in [
            ("normalize", "lower"),
            ("missing", "skip"),
            ("empty_predictions", "skip"),
            ("ignore", ["d"]),
            ("classes", ["a", "b", "c"]),
            ("weights", {"x": 1, "y": 1}),
            ("ci", True),
        ]
    ]
    changed += [s.signature for s in signed("MacroF1@1", "MacroF1(labels=union)", "MicroF1")]
    changed.append(
        semmetrics.score(PREDS, {**REFS, "y": ["b"]}, measures=["MacroF1"], classes=list("abcd"))
        .scores[0]
        .signature
    )
    assert len({first.signature, *changed}) == len(changed) + 1
    assert signed("MacroF1", ci=True, seed=1)[0].signature not in (first.signature, *changed)


def test_the_number_of_labels_is_said():
    def size(text, **options):
        (score,) = semmetrics.score(PREDS, REFS, measures=[text], **options).scores
        return [part for part in score.signature.split("|") if part.startswith("L:")]

    assert size("MacroF1") == ["L:3"]
    assert size("MacroF1", classes=list("abcde")) == ["L:5"]
    assert size("MacroF1(labels=reference)", classes=list("abcde")) == ["L:3"]
    assert size("C-F1", classes=list("abcde")) == ["L:5"]
    assert size("LRAP") == ["L:3"]
    assert size("RankingLoss", classes=list("abcde")) == ["L:5"]
    assert size("F1") == []


def test_the_data_are_those_of_the_reference():
    (first,) = signed("F1")
    (other,) = semmetrics.score(
        {"y": [], "x": ["b"]}, dict(reversed(REFS.items())), measures=["F1"], classes=list("abcd")
    ).scores
    assert read_signature(first.signature).data == read_signature(other.signature).data
    assert len(read_signature(first.signature).data) == 16


def test_a_fitted_threshold_is_frozen_in_the_signature():
    (score,) = signed("MicroF1(decode=threshold:best)")
    assert "|fit:best-F1-micro|" in score.signature
    again = read_signature(score.signature).measure
    assert again == score.measure.with_options(labels="given")
    assert str(again["decode"]).startswith("threshold:0.")
    assert signed(str(again))[0].value == score.value


@pytest.mark.parametrize("label", ["a|b", "50%", "%7C", "x\ny", "x\ry", "%25|"])
def test_labels_with_signs_of_the_signature_are_escaped(label):
    (score,) = semmetrics.score([["q"]], [["q"]], measures=["F1"], ignore=[label]).scores
    assert read_signature(score.signature).settings["ignore"] == label
    assert len(score.signature.splitlines()) == 1


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


def test_numbers_of_numpy_make_the_same_signature():
    (first,) = signed("F1", ci=Bootstrap(np.float64(0.9), np.int64(5), np.int32(2)))
    (second,) = signed("F1", ci=True, level=0.9, resamples=5, seed=2)
    assert first.signature == second.signature
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize("part", ["n:1", "k:1"])
def test_numbers_of_thousands_of_digits_are_refused(part):
    found = semmetrics.score({"1": ["a"]}, {"1": ["a"]}, measures=["F1@1"])
    text = found["F1@1"].signature
    assert f"|{part}|" in text
    with pytest.raises(InputError):
        read_signature(text.replace(f"|{part}|", f"|{part[0]}:{'9' * 5000}|"))


def test_ignored_labels_may_hold_commas():
    pred = {"1": ["cat", "c,d", "e\\", "5%2C"], "2": ["c,d"]}
    gts = {"1": ["cat"], "2": ["dog"]}
    (score,) = semmetrics.score(pred, gts, measures="Precision", ignore=["c,d", "e\\", "5%2C"])
    again = semmetrics.rescore(score.signature, pred, gts)
    assert (again[0].value, again[0].signature, again.differences) == (0.5, score.signature, [])


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
