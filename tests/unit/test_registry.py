"""Metrics of one's own: what the decorator makes of a formula, and what it refuses."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from typing import Literal

import numpy as np
import pytest

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics import registry
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.registry import (
    aliases,
    all_definitions,
    find,
    forget,
    group_of,
    kinds_of,
    parse,
    parse_all,
)
from semmetrics.metrics.set_measures import measure
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
    for options, message in (
        ({"beta": "x"}, "beta=x is not a number"),
        ({"beta": np.nan}, "beta=nan is not a number"),
        ({"beta": True}, "beta=True is not a number"),
        ({"kind": "round"}, "kind=round is not allowed; choose one of plain, root"),
    ):
        with pytest.raises(InputError, match=message):
            FBeta(**options)


def test_an_option_may_be_required_or_a_choice_of_numbers():
    @measure()
    def Needs(hit, *, size: int, order: Literal[1, 2] = 1):
        return hit / size**order

    with pytest.raises(InputError, match="Needs needs size"):
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
        with pytest.raises(InputError, match="cannot be written"):
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
    ("make", "message"),
    [
        (lambda: measure(name="X")(lambda hit, colour: hit), "takes 'colour', which is no count"),
        (lambda: measure(name="X")(lambda *hit: hit), "takes 'hit', which is no count"),
        (lambda: measure(name="X", averages=("mean",))(lambda hit: hit), "choose among example"),
        (lambda: measure(name="X", averages=())(lambda hit: hit), "choose among example"),
        (lambda: measure(name="X")(lambda hit, total: hit), "total is known only for"),
        (
            lambda: measure(name="X", averages=("micro",))(lambda precision_sum: 1),
            "precision_sum is known only for",
        ),
        (lambda: measure(name="F1")(lambda hit: hit), "there is a measure F1 already"),
        (lambda: measure(name="MacroF1")(lambda hit: hit), "measure MacroF1 already"),
        (
            lambda: measure(name="X", aliases={"MicroF1": "X"})(lambda hit: hit),
            "measure MicroF1 already",
        ),
        (lambda: measure(name="A B")(lambda hit: hit), "cannot be called 'A B'"),
        (lambda: measure(name="A@3")(lambda hit: hit), "cannot be called 'A@3'"),
        (lambda: measure(name="A(x)")(lambda hit: hit), "cannot be called"),
        (lambda: measure(name="A|B")(lambda hit: hit), "cannot be called"),
        (
            lambda: measure(name="X", defaults={"emty": "0"})(lambda hit: hit),
            "defaults for 'emty'",
        ),
        (lambda: measure(name="X")(option_called("k")), "cannot have an option 'k'"),
        (lambda: measure(name="X")(option_called("n")), "cannot have an option 'n'"),
        (lambda: measure(name="X")(option_called("empty")), "cannot have an option 'empty'"),
        (lambda: measure(name="X")(option_called("avg")), "cannot have an option 'avg'"),
    ],
)
def test_what_the_decorator_refuses(make, message):
    before = all_definitions()
    with pytest.raises(InputError, match=message):
        make()
    assert before == all_definitions()


@pytest.mark.parametrize("kind", [bool, int | None, list, Literal[1, "a"]])
def test_options_are_text_numbers_or_a_choice(kind):
    def formula(hit, *, option=None):
        return hit

    formula.__annotations__["option"] = kind
    with pytest.raises(InputError, match="annotate it str, int, float or Literal"):
        measure(name="X")(formula)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda hit: 1.0, r"an array of shape \(\)"),
        (lambda hit: np.ones(len(hit) + 1), "an array of shape"),
        (lambda hit: hit + np.inf, "an infinite value"),
    ],
)
@pytest.mark.parametrize("average", ["example", "micro", "macro"])
def test_a_formula_gives_one_finite_number_for_each_count(formula, message, average):
    wrong = measure(name="Wrong", averages=(average,))(formula)
    with pytest.raises(InputError, match=f"the formula of Wrong gives {message}"):
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
    with pytest.raises(InputError, match="there is no measure 'Mine'"):
        parse("Mine")
    again(0.25, {"Mine": "Own(average=example)"})
    for name in ("F1", "MacroF1", "Mine"):
        with pytest.raises(InputError, match=f"there is a measure {name} already"):
            measure(name=name)(_ratio)
    assert parse("MacroF1")[0]["average"] == "macro"


def test_an_average_that_was_not_declared_says_how_to_declare_it():
    made = measure(_ratio)
    with pytest.raises(InputError, match=r"choose one of example, or declare more: @measure\(ave"):
        made(average="macro")
    with pytest.raises(InputError) as error:
        parse("O-F1(average=macro)")
    assert "@measure" not in str(error.value)


def test_a_scorer_of_an_unregistered_measure_says_what_to_import():
    made = measure(_ratio)
    scorer = semmetrics.Scorer(measures="_ratio F1")
    scorer.update([["a"]], [["a"]])
    kept = pickle.dumps(scorer)
    assert [one.value for one in pickle.loads(kept).compute()] == [1, 1]
    forget(made)
    with pytest.raises(InputError, match="not registered here; import the module that defines it"):
        pickle.loads(kept)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("F1,Precision", "'F1 Precision'"),
        ("F1@1,3,Precision@2", "'F1@1,3 Precision@2'"),
        ("F1(average=macro),Recall", r"'F1\(average=macro\) Recall'"),
        ("F1, Precision", "'F1'"),
    ],
)
def test_measures_with_commas_between_them_are_told_apart(text, remedy):
    with pytest.raises(InputError, match=f"put blanks (alone )?between measures: {remedy}"):
        parse_all([text])


def test_a_copy_of_an_unregistered_measure_says_what_to_import():
    definition = measure(name="Gone")(lambda hit: hit)
    gone = pickle.dumps(definition())
    forget(definition)
    with pytest.raises(InputError, match="Gone is not registered here; import the module"):
        pickle.loads(gone)


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
    with pytest.raises(InputError, match="'F1' of scenes; it is one of labels, captions"):
        find("F1", "scenes")
    forget(other)
    with pytest.raises(InputError, match="F1 comes with semmetrics"):
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
    assert found.stdout == "there is a measure CIDEr already; choose another name\n"


def test_many_measures_are_not_compared_with_each_other(monkeypatch):
    calls, equal = [], Measure.__eq__

    def counted(self, other):
        calls.append(1)
        return equal(self, other)

    monkeypatch.setattr(Measure, "__eq__", counted)
    assert len(parse_all(f"F1@{k}" for k in range(1, 2001))) == 2000
    assert len(calls) < 2000
    with pytest.raises(InputError, match=r"measures are named twice: 'F1@7'"):
        parse_all(f"F1@{k}" for k in (*range(1, 200), 7))


@pytest.mark.parametrize("k", ["9223372036854775808", "9" * 5000, str(2**53)])
def test_cutoffs_have_a_bound(k):
    with pytest.raises(InputError, match=r"not all below 2\*\*53") as caught:
        parse(f"F1@{k}")
    assert len(str(caught.value)) < 200
    assert parse(f"F1@{2**53 - 1}")[0].k == 2**53 - 1


def test_the_family_of_a_name_is_suggested():
    with pytest.raises(InputError, match="did you mean BLEU-1 or BLEU-2 or BLEU-3 or BLEU-4"):
        parse("bleu")
    with pytest.raises(InputError, match=r"did you mean ROUGE-L\?"):
        parse("ROUGE")
