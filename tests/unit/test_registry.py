"""Measures by name, written and read back; and metrics of one's own."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import semmetrics
from semmetrics.metrics import registry
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.registry import (
    aliases,
    all_definitions,
    cutoffs,
    find,
    forget,
    group_of,
    kinds_of,
    parse,
    parse_all,
)
from semmetrics.metrics.set_measures import measure
from semmetrics.metrics.sets import F1, BalancedAccuracy
from semmetrics.scoring.signature import read_signature

PREDS, REFS = [["a", "b", "c"], ["a"], []], [["a", "b"], ["b"], []]


@pytest.fixture(autouse=True)
def registered():
    """Leave the registry as it was found."""
    before = all_definitions()
    yield
    for definition in set(all_definitions()) - set(before):
        forget(definition)


def test_a_formula_becomes_a_measure():
    @measure(
        averages=("example", "micro", "macro"),
        source="Szymkiewicz 1934",
        equation="|Y ∩ Z| / min(|Y|, |Z|)",
        aliases={"MicroOverlap": "Overlap(average=micro)"},
        defaults={"empty": "skip"},
        symmetric=True,
    )
    def Overlap(hit, n_pred, n_ref):
        """Shared labels over the size of the smaller set.

        More words.
        """
        return divide(hit, np.minimum(n_pred, n_ref))

    assert Overlap.summary == "Shared labels over the size of the smaller set."
    assert (Overlap.source, Overlap.symmetric) == ("Szymkiewicz 1934", True)
    assert Overlap.averages == ("example", "micro", "macro")
    table = semmetrics.score(PREDS, REFS, measures=["Overlap", "MicroOverlap"], ci=True)
    assert table["Overlap"].value == 0.5
    assert table["Overlap"].undefined == {"empty": 1}
    assert table["Overlap(average=micro)"].value == pytest.approx(2 / 3)
    assert table["Overlap"].items.tolist()[:2] == [1.0, 0.0]
    assert read_signature(table["Overlap"].signature).measure == Overlap()


def test_keyword_only_parameters_are_options():
    @measure(averages=("example", "micro"))
    def FBeta(hit, n_pred, n_ref, *, beta: float = 1.0, kind: Literal["plain", "root"] = "plain"):
        value = divide((1 + beta**2) * hit, beta**2 * n_ref + n_pred)
        return np.sqrt(value) if kind == "root" else value

    assert str(FBeta(beta=2, average="micro")) == "FBeta(average=micro,beta=2.0)"
    assert FBeta(beta=2) == FBeta(beta=2.0) == FBeta(beta="2") == parse("FBeta(beta=2)")[0]
    assert FBeta(beta=np.float64(2)) == FBeta(beta=2)
    table = semmetrics.score(
        PREDS[:1], REFS[:1], measures=["FBeta", "FBeta(beta=2)", "FBeta(kind=root)"]
    )
    assert [s.value for s in table] == pytest.approx([0.8, 10 / 11, 0.8**0.5])
    for wrong in ("x", np.nan, True):
        with refused("bad-option"):
            FBeta(beta=wrong)
    with refused("bad-choice"):
        FBeta(kind="round")


def test_an_option_may_be_required_or_a_choice_of_numbers():
    @measure()
    def Needs(hit, *, size: int, order: Literal[1, 2] = 1):
        return hit / size**order

    with refused("missing-option"):
        Needs()
    assert str(Needs(size=2)) == "Needs(size=2)"
    assert parse("Needs(size=2,order=2)") == [Needs(size=2, order=2)]
    assert semmetrics.score([["a"]], [["a"]], measures=[Needs(size=2, order=2)]).scores[
        0
    ].value == pytest.approx(0.25)


def test_text_options_can_be_written_or_are_refused():
    @measure()
    def Named(hit, *, by: str = "plain"):
        return hit * 1.0

    for good in ("x", "a=b", "F1(average=macro,labels=union)", "ü", "a|b", "50%"):
        assert parse(str(Named(by=good))) == [Named(by=good)]
        score = semmetrics.score([["a"]], [["a"]], measures=[Named(by=good)]).scores[0]
        assert read_signature(score.signature).measure == Named(by=good)
    for bad in ("", " x", "a,b", "(", "x)y"):
        with refused("bad-option"):
            Named(by=bad)


def test_total_counts_items_for_a_label_and_cells_for_micro():
    @measure(averages=("micro", "macro"))
    def Total(hit, total):
        return total * 1.0

    table = semmetrics.score(PREDS, REFS, measures=["Total(labels=union)", "Total(average=macro)"])
    assert [s.value for s in table] == [9.0, 3.0]
    assert semmetrics.score(
        PREDS, REFS, measures=["Total(average=macro)"], weights=[0.5, 1, 2]
    ).scores[0].value == pytest.approx(3.5)


def option_called(name):
    source = f"lambda hit, *, {name}=3: hit"
    formula = eval(source)  # a parameter whose name the test chooses
    formula.__annotations__ = {name: int}
    return formula


@pytest.mark.parametrize(
    ("options", "formula", "code"),
    [
        ({}, lambda hit, colour: hit, "wrong-formula"),
        ({}, lambda *hit: hit, "wrong-formula"),
        ({}, lambda hit, total: hit, "wrong-formula"),
        ({"averages": ("micro",)}, lambda precision_sum: 1, "wrong-formula"),
        ({"averages": ("mean",)}, lambda hit: hit, "bad-choice"),
        ({"averages": ()}, lambda hit: hit, "bad-choice"),
        ({"averages": "example"}, lambda hit: hit, "bad-choice"),
        ({"defaults": {"emty": "0"}}, lambda hit: hit, "bad-choice"),
        *[({"name": name}, lambda hit: hit, "name-taken") for name in ("F1", "MacroF1")],
        ({"aliases": {"MicroF1": "X"}}, lambda hit: hit, "name-taken"),
        *[
            ({"name": name}, lambda hit: hit, "bad-option")
            for name in ("A B", "A@3", "A(x)", "A|B")
        ],
        *[({}, option_called(name), "reserved-option") for name in ("k", "n", "empty", "avg")],
    ],
)
def test_what_the_decorator_refuses(options, formula, code):
    before = all_definitions()
    with refused(code):
        measure(**{"name": "X", **options})(formula)
    assert before == all_definitions()


@pytest.mark.parametrize("kind", [bool, int | None, list, Literal[1, "a"]])
def test_options_are_text_numbers_or_a_choice(kind):
    def formula(hit, *, option=None):
        return hit

    formula.__annotations__["option"] = kind
    with refused("bad-option"):
        measure(name="X")(formula)


@pytest.mark.parametrize(
    "formula", [lambda hit: 1.0, lambda hit: np.ones(len(hit) + 1), lambda hit: hit + np.inf]
)
@pytest.mark.parametrize("average", ["example", "micro", "macro"])
def test_a_formula_gives_one_finite_number_for_each_count(formula, average):
    wrong = measure(name="Wrong", averages=(average,))(formula)
    with refused("wrong-formula", measure="Wrong"):
        semmetrics.score(PREDS, REFS, measures=[wrong])


def test_a_formula_may_divide_by_zero(recwarn):
    made = measure(averages=("example", "macro"))(_ratio)
    try:
        table = semmetrics.score([[], ["cat"]], [["cat"], ["cat"]], measures=[made()])
        assert table[0].items.tolist()[1] == 1
        assert np.isnan(table[0].items[0])
        macro = made(average="macro")
        assert semmetrics.score([["a"]], [["b"]], measures=[macro])[0].value == 0
    finally:
        forget(made)
    assert len(recwarn) == 0


def _ratio(hit, n_pred):
    return hit / n_pred


def _double(hit, n_pred):
    return 2 * hit


@pytest.mark.parametrize("average", ["example", "micro", "macro"])
def test_values_outside_the_bounds_are_noted_once(average):
    made = measure(averages=(average,), bounds=(0, 1))(_double)
    wide = measure(averages=(average,), bounds=(0, 2), name="Wide")(_double)
    try:
        systems = {"one": [["a"]], "two": [["a"]]}
        table = semmetrics.score_systems(systems, [["a"]], measures=[made(), wide(), "F1"])
        (note,) = table.notes
        assert note.startswith("_double has the value 2.0, outside its bounds 0 to 1")
    finally:
        forget(made)
        forget(wide)


def test_a_measure_of_ones_own_is_replaced_and_a_built_in_one_is_not():
    def again(share, aliases):
        def Own(hit, n_pred):
            return share * hit / n_pred

        return measure(aliases=aliases)(Own)

    again(1.0, {"Mine": "Own(average=example)"})
    assert semmetrics.score([["a"]], [["a"]], measures="Mine")[0].value == 1
    again(0.5, {"Mine": "Own(average=example)"})
    assert semmetrics.score([["a"]], [["a"]], measures="Mine")[0].value == 0.5
    last = again(0.25, None)
    assert semmetrics.score([["a"]], [["a"]], measures=[last()])[0].value == 0.25
    with refused("unknown-name"):
        parse("Mine")
    again(0.25, {"Mine": "Own(average=example)"})
    for name in ("F1", "MacroF1", "Mine"):
        with refused("name-taken"):
            measure(name=name)(_ratio)
    assert parse("MacroF1")[0]["average"] == "macro"


def test_a_scorer_of_an_unregistered_measure_says_what_to_import():
    made = measure(_ratio)
    scorer = semmetrics.Scorer(measures="_ratio F1")
    scorer.update([["a"]], [["a"]])
    kept = pickle.dumps(scorer)
    assert [one.value for one in pickle.loads(kept).compute()] == [1, 1]
    forget(made)
    with refused("not-registered"):
        pickle.loads(kept)


def test_the_table_of_names_and_the_definitions_agree():
    table = registry._MODULES
    for (kind, name), module in table.items():
        definition, options = find(name, kind)
        assert definition.kind == kind
        assert (definition.name == name) != bool(options)
        homes = [*vars(importlib.import_module(module)).values()]
        homes += [thing for home in homes if isinstance(home, tuple) for thing in home]
        assert any(home is definition for home in homes), f"{module} does not make {name}"
    made = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert sorted(made[:-1]) == sorted(f"{kind} {name}" for kind, name in table)


LOADED = """
import importlib, pkgutil
import semmetrics.metrics
from semmetrics.metrics import registry
for module in pkgutil.walk_packages(semmetrics.metrics.__path__, "semmetrics.metrics."):
    importlib.import_module(module.name)
for kind, name in [*registry._DEFINITIONS, *registry._ALIASES]:
    print(kind, name)
"""


def test_a_measure_loads_its_own_module_alone():
    code = (
        "import sys\n"
        "from semmetrics.metrics.registry import parse\n"
        "parse('F1')\n"
        "print(*[name for name in sys.modules if name.startswith('semmetrics.metrics.')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = found.stdout.split()
    assert "semmetrics.metrics.sets" in loaded
    others = set(registry._MODULES.values()) - {"semmetrics.metrics.sets"}
    assert not others & set(loaded)


def test_two_kinds_may_use_one_name():
    @measure(kind="captions", name="F1")
    def other(hit):
        """Count what is found."""
        return hit * 1.0

    @measure(kind="scenes", aliases={"Half": "Share(average=example)"})
    def Share(hit):
        """Count what is found."""
        return hit * 1.0

    assert kinds_of("F1") == ("labels", "captions")
    assert find("F1")[0].kind == "labels"
    assert find("F1", "captions") == (other, {})
    assert parse("F1", "captions") == [other()] == parse_all(["F1"], "captions")
    assert kinds_of("Half") == ("scenes",)
    assert find("Half") == (Share, {"average": "example"})
    assert all_definitions("scenes") == [Share]
    assert aliases("scenes") == {"Half": "Share(average=example)"}
    assert group_of(other) == group_of(Share) == "Other measures"
    assert pickle.loads(pickle.dumps(other)) is other
    with refused("unknown-name"):
        find("F1", "scenes")
    forget(other)
    with refused("name-taken"):
        forget(find("F1")[0])
    assert kinds_of("F1") == ("labels",)


def test_a_name_of_the_table_is_taken_before_its_module_is_loaded():
    code = (
        "from semmetrics import measure\n"
        "try:\n"
        "    measure(kind='captions', name='CIDEr')(lambda hit: hit)\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "there is already a measure 'CIDEr'; choose another name\n"


def test_many_measures_are_not_compared_with_each_other(monkeypatch):
    calls, equal = [], Measure.__eq__

    def counted(self, other):
        calls.append(1)
        return equal(self, other)

    monkeypatch.setattr(Measure, "__eq__", counted)
    assert len(parse_all(f"F1@{k}" for k in range(1, 2001))) == 2000
    assert len(calls) < 2000
    with refused("duplicate-measures"):
        parse_all(f"F1@{k}" for k in (*range(1, 200), 7))


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
        with refused("fixed-option"):
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
    ("text", "code"),
    [
        *[(text, "not-a-measure") for text in ("", "F1(average=macro")],
        *[(f"F1@{k}", "out-of-range") for k in ("", "0", "1.5", "3@5", 2**53, "9" * 5000)],
        ("LRAP@3", "measure-option"),
        *[(f"F1({o})", "bad-option") for o in ("average", "average=", "=x", "average=macro,micro")],
        ("F1(averag=macro)", "unknown-name"),
        ("F1(average=macr)", "bad-choice"),
        ("F1(average=macro,average=micro)", "duplicate"),
        ("MacroF1(labels=union,labels=given)", "duplicate"),
        ("MacroF1(average=micro)", "fixed-option"),
        ("F1(labels=union)", "measure-option"),
        ("F1(average=macro,empty=0)", "measure-option"),
        *[
            (f"F1(decode={rule})", "bad-option")
            for rule in ("threshold", "threshold:nan", "cumulative:best", "all:3")
        ],
        ("F1(keep_at_least=-1)", "bad-option"),
        ("F1(keep_at_least=x)", "bad-option"),
        ("BalancedAccuracy", "missing-option"),
        ("BalancedAccuracy(q=2.5)", "bad-option"),
        *[(text, "comma-separated") for text in ("F1,Precision", "F1, Precision", "F1,")],
    ],
)
def test_errors(text, code):
    with refused(code) as caught:
        parse(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("f1", "did you mean F1"),
        ("Precison", "did you mean Precision"),
        ("f1score", "did you mean F1?"),
        ("BLEU4", "did you mean BLEU-4"),
        ("bleu", "did you mean BLEU-1 or BLEU-2 or BLEU-3 or BLEU-4"),
        ("ROUGE", "did you mean ROUGE-L?"),
        ("MacroF", "did you mean MacroF1"),
        ("Qxzw", "see: semmetrics list"),
    ],
)
def test_the_nearest_names_are_suggested(name, suggested):
    with refused("unknown-name", value=name) as caught:
        parse(name)
    assert suggested in caught.value.values["remedy"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F1,Precision", "F1 Precision"),
        ("F1@1,3,Precision@2", "F1@1,3 Precision@2"),
        ("F1(average=macro),Recall", "F1(average=macro) Recall"),
    ],
)
def test_measures_with_commas_between_them_are_separated(text, wanted):
    with refused("comma-separated", wanted=wanted):
        parse_all([text])


def test_all_errors_come_together():
    with refused("wrong-measures", n=4) as caught:
        parse_all(["F1", "F2", "Recal", "F1(average=x)", 7])
    assert str(caught.value).count("\n  ") == 4
    with refused("unknown-name", value="F2"):
        parse_all(["F1", "F2"])


def test_each_measure_once():
    assert parse_all(["F1", F1, F1()][:1]) == [F1()]
    assert parse_all([F1, "Recall", F1() @ 2])[1:] == [*parse("Recall"), *parse("F1@2")]
    for twice in (["MacroF1", "F1(average=macro)", "F1"], ["F1@1,1"]):
        with refused("duplicate-measures"):
            parse_all(twice)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        *[({"k": k}, "bad-option") for k in (0, True, 2.0)],
        *[({"average": None}, "bad-option"), ({"empty": True}, "bad-option")],
        ({"decode": 0.5}, "bad-option"),
        *[({"keep_at_least": least}, "bad-option") for least in (True, 1.0, -1)],
        ({"min_label": 1}, "unknown-name"),
    ],
)
def test_options_in_python_are_checked_as_well(options, code):
    with refused(code):
        F1(**options)


def test_options_in_python_and_in_text_are_the_same():
    assert F1(empty=0) == F1(empty="0") == parse("F1(empty=0)")[0]
    assert BalancedAccuracy(q=3)["q"] == 3
    assert F1(average="macro") @ 3 == parse("MacroF1@3")[0]
    assert F1(average="macro")["duplicates"] is None
    assert F1(k=3).with_options(average="macro") == parse("MacroF1@3")[0]
    for value in (None, 2.5, True):
        with refused("bad-option"):
            BalancedAccuracy(q=value)


def test_find_and_cutoffs():
    assert find("MacroF1") == (F1, {"average": "macro"})
    assert cutoffs(" 1, 3 ") == [1, 3]
    with refused("out-of-range"):
        cutoffs("1,,3")
    assert parse(f"F1@{2**53 - 1}")[0].k == 2**53 - 1
