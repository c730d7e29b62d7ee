"""Measures by name: written and read back, and every error with its remedy."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.errors import InputError
from semmetrics.metrics.registry import (
    aliases,
    all_definitions,
    cutoffs,
    find,
    kinds_of,
    parse,
    parse_all,
)
from semmetrics.metrics.sets import F1, BalancedAccuracy

RULES = ["all", "threshold:0.5", "threshold:best", "cumulative:0.25", "cardinality",
         "cardinality+scores", "cardinality+scores:code"]  # fmt: skip
DECODE = st.sampled_from(RULES)


def value_of(option):
    if option.name == "decode":
        return DECODE
    if option.choices:
        return st.sampled_from(option.choices)
    # one that is checked takes all of these numbers
    floats = st.floats(allow_nan=False) if option.check is None else st.floats(0.01, 1.0)
    return {int: st.integers(1, 10**6), float: floats}.get(option.kind)


@st.composite
def measures(draw, definition):
    """A measure with random options, all of which mean something under its average."""
    average = draw(st.sampled_from(definition.averages)) if definition.averages else None
    chosen = {}
    for option in definition.options:
        applies = option.averages is None or average in option.averages
        strategy = value_of(option)
        if option.name == "average" or not applies or strategy is None:
            continue
        if option.required or draw(st.booleans()):
            chosen[option.name] = draw(strategy)
    if average is not None:
        chosen["average"] = average
    k = draw(st.none() | st.integers(1, 999)) if definition.cutoff else None
    return definition(k=k, **chosen)


@pytest.mark.parametrize("definition", all_definitions(), ids=lambda d: d.name)
def test_a_printed_measure_reads_back(definition):
    @given(measures(definition))
    def check(measure):
        kind = definition.kind  # several kinds may use one name
        assert parse(str(measure), kind) == [measure]
        spaced = f" {str(measure).replace(',', ' , ').replace('=', ' = ')} "
        assert parse(spaced, kind) == [measure]
        if len(kinds_of(definition.name)) == 1:
            assert parse(str(measure)) == [measure]
        assert pickle.loads(pickle.dumps(measure)) == measure == copy.deepcopy(measure)

    check()


@pytest.mark.parametrize("alias", aliases())
def test_an_alias_is_the_measure_it_stands_for(alias):
    assert parse(alias) == parse(aliases()[alias])
    assert parse(f"{alias}@3") == [parse(aliases()[alias])[0] @ 3]
    if "labels=" in aliases()[alias]:
        with pytest.raises(InputError, match="not union; write PerClassAccuracy with its options"):
            parse(f"{alias}(labels=union)")
    else:
        assert parse(f"{alias}(labels=union)")[0]["labels"] == "union"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("F1", ["F1"]),
        ("F1()", ["F1"]),
        (" F1 ( average = macro ) @ 3 , 5 ", ["F1(average=macro)@3", "F1(average=macro)@5"]),
        ("F1(average=example)", ["F1"]),
        ("F1(average=micro,labels=auto)", ["F1(average=micro)"]),
        ("F1(average=macro,labels=union)", ["F1(average=macro,labels=union)"]),
        ("MacroF1(average=macro)@2", ["F1(average=macro)@2"]),
        ("BalancedAccuracy(q=12)", ["BalancedAccuracy(q=12)"]),
        ("O-F1(decode=threshold:.5)", ["O-F1(decode=threshold:0.5)"]),
    ],
)
def test_forms(text, expected):
    assert list(map(str, parse(text))) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a measure; write it as"),
        ("F1(average=macro", "is not a measure; close its bracket, as in F1"),
        ("F1@", "cutoffs '' are not"),
        ("F1@0", "whole numbers from 1"),
        ("F1@1.5", "whole numbers from 1"),
        ("F1@3@5", "whole numbers from 1"),
        ("LRAP@3", "LRAP has no cutoff @k"),
        ("f1", "no measure 'f1'; did you mean F1"),
        ("Precison", "did you mean Precision"),
        ("f1score", r"did you mean F1\?"),
        ("BLEU4", "did you mean BLEU-4"),
        ("MacroF", "did you mean MacroF1"),
        ("Qxzw", "no measure 'Qxzw'; see: semmetrics list"),
        ("F1(average)", "'average' in .*; write option=value"),
        ("F1(average=)", "write option=value"),
        ("F1(=macro)", "write option=value"),
        (
            "F1(average=macro,micro)",
            "'micro' in .*; write option=value; average has one value: name a measure for each",
        ),
        ("F1(averag=macro)", "F1 has no option 'averag'; its options are 'average'"),
        (
            "F1(average=macr)",
            r"^F1\(average=macr\): average=macr is not allowed; choose one of example, macro",
        ),
        ("F1(average=macro,average=micro)", "average is given twice"),
        ("MacroF1(labels=union,labels=given)", "labels is given twice"),
        ("MacroF1(average=micro)", "MacroF1 has average=macro, not micro"),
        ("F1(labels=union)", "labels means nothing for F1 with average=example"),
        ("F1(average=macro,empty=0)", "empty means nothing for F1 with average=macro"),
        ("F1(decode=threshold)", "is not a decoding rule"),
        ("F1(decode=threshold:nan)", "is not a decoding rule"),
        ("F1(decode=cumulative:best)", "is not a decoding rule"),
        ("F1(decode=all:3)", "is not a decoding rule"),
        ("F1(keep_at_least=-1)", "not a whole number from 0"),
        ("F1(keep_at_least=x)", "not a whole number"),
        ("BalancedAccuracy", "needs q; write BalancedAccuracy"),
        ("BalancedAccuracy(q=2.5)", "q=2.5 is not a whole number"),
    ],
)
def test_errors(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


def test_all_errors_come_together():
    with pytest.raises(InputError) as caught:
        parse_all(["F1", "F2", "Recal", "F1(average=x)", 7])
    text = str(caught.value)
    assert text.startswith("4 measures are wrong:")
    assert all(part in text for part in ("'F2'", "mean Recall", "average=x", "7 is no measure"))
    with pytest.raises(InputError, match=r"^there is no measure 'F2'"):
        parse_all(["F1", "F2"])


def test_each_measure_once():
    assert parse_all(["F1", F1, F1()][:1]) == [F1()]
    assert parse_all([F1, "Recall", F1() @ 2])[1:] == [*parse("Recall"), *parse("F1@2")]
    with pytest.raises(InputError, match=r"named twice: 'F1\(average=macro\)'"):
        parse_all(["MacroF1", "F1(average=macro)", "F1"])
    with pytest.raises(InputError, match="named twice: 'F1@1'"):
        parse_all(["F1@1,1"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "cutoff @0"),
        ({"k": True}, "k=True; give a whole number from 1"),
        ({"k": 2.0}, "k=2.0; give a whole number from 1"),
        ({"average": None}, "average=None"),
        ({"empty": True}, "empty=True"),
        ({"decode": 0.5}, "decode=0.5 is not text"),
        ({"keep_at_least": True}, "keep_at_least=True is not a whole number"),
        ({"keep_at_least": 1.0}, "keep_at_least=1.0 is not a whole number"),
        ({"min_label": 1}, "no option 'min_label'"),
    ],
)
def test_options_in_python_are_checked_as_well(options, message):
    with pytest.raises(InputError, match=message):
        F1(**options)


def test_options_in_python_and_in_text_are_the_same():
    assert F1(empty=0) == F1(empty="0") == parse("F1(empty=0)")[0]
    assert BalancedAccuracy(q=3)["q"] == 3
    assert F1(average="macro") @ 3 == parse("MacroF1@3")[0]
    assert F1(average="macro")["duplicates"] is None
    assert F1(k=3).with_options(average="macro") == parse("MacroF1@3")[0]
    for value in (None, 2.5, True):
        with pytest.raises(InputError, match="is not a whole number"):
            BalancedAccuracy(q=value)


def test_find_and_cutoffs():
    assert find("MacroF1") == (F1, {"average": "macro"})
    assert cutoffs(" 1, 3 ") == [1, 3]
    with pytest.raises(InputError, match="write 1,3,5"):
        cutoffs("1,,3")
