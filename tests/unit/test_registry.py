"""Measures by name, errors in names, and measures defined by users."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.metrics.count_measures import measure
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.parsing import parse, parse_all
from semmetrics.metrics.registry import (
    add,
    aliases,
    all_definitions,
    find,
    forget,
    group_of,
    kinds_of,
)
from semmetrics.scoring.signature import read_signature

PREDS = [["a", "b", "c"], ["a"], []]
REFS = [["a", "b"], ["b"], []]


@pytest.fixture(autouse=True)
def restore_registry():
    before = set(all_definitions())
    yield
    for definition in set(all_definitions()) - before:
        forget(definition)


def ratio(hit, n_pred):
    """Divide the hits by the predictions."""
    return hit / n_pred


def score(measures, **options):
    table = semmetrics.score(PREDS, REFS, measures=measures, **options)
    return [result.value for result in table]


# ---- measures of users --------------------------------------------------------------


def test_a_formula_of_counts_becomes_a_measure():
    @measure(
        averages=("example", "micro", "macro"),
        source="Szymkiewicz 1934",
        aliases={"MicroOverlap": "Overlap(average=micro)"},
        defaults={"empty": "skip"},
    )
    def Overlap(hit, n_pred, n_ref):
        """Shared labels over the size of the smaller set.

        More words.
        """
        return divide(hit, np.minimum(n_pred, n_ref))

    table = semmetrics.score(PREDS, REFS, measures=["Overlap", "MicroOverlap"])

    assert Overlap.summary == "Shared labels over the size of the smaller set."
    assert Overlap.source == "Szymkiewicz 1934"
    assert table["Overlap"].value == 0.5
    assert table["Overlap"].undefined == {"empty": 1}
    assert table["Overlap(average=micro)"].value == pytest.approx(2 / 3)
    assert read_signature(table["Overlap"].signature).measure == Overlap()


def test_the_total_is_the_number_of_items_or_of_cells():
    @measure(averages=("micro", "macro"))
    def Total(hit, total):
        return total * 1.0

    assert score("Total(labels=union) Total(average=macro)") == [9.0, 3.0]
    assert score("Total(average=macro)", weights=[0.5, 1, 2]) == [3.5]


def annotate(formula, **types):
    formula.__annotations__ = types
    return formula


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"averages": ("mean",)}, "bad-choice"),
        ({"averages": "exampel"}, "bad-choice"),
        ({"defaults": {"emty": "0"}}, "bad-choice"),
        ({"name": "F1"}, "name-taken"),
        ({"name": "MacroF1"}, "name-taken"),
        ({"aliases": {"MicroF1": "X"}}, "name-taken"),
        ({"name": "A B"}, "bad-option"),
        ({"name": "A@3"}, "bad-option"),
        ({"name": "A(x)"}, "bad-option"),
        ({"name": "A|B"}, "bad-option"),
        ({"kind": "captions"}, "measure-of-kind"),
        ({"kind": "Labels"}, "measure-of-kind"),
    ],
)
def test_invalid_definitions_are_errors_and_change_nothing(options, code):
    before = all_definitions()

    with refused(code):
        measure(**{"name": "X", **options})(ratio)

    assert all_definitions() == before


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        (lambda hit, colour: hit, "wrong-formula"),
        (annotate(lambda hit, *, k=3: hit, k=int), "reserved-option"),
        (annotate(lambda hit, *, empty=3: hit, empty=int), "reserved-option"),
        (annotate(lambda hit, *, avg=3: hit, avg=int), "reserved-option"),
        (annotate(lambda hit, *, colour=3: hit, colour=bool), "bad-option"),
        (annotate(lambda hit, *, colour=3: hit, colour=int | None), "bad-option"),
        (annotate(lambda hit, *, colour=3: hit, colour=Literal[1, "a"]), "bad-option"),
    ],
)
def test_invalid_parameters_of_a_formula_are_errors(formula, code):
    with refused(code):
        measure(name="X")(formula)


@pytest.mark.parametrize(
    "formula",
    [lambda hit: 1.0, lambda hit: np.ones(len(hit) + 1), lambda hit: hit + np.inf],
)
@pytest.mark.parametrize("average", ["example", "micro", "macro"])
def test_a_formula_must_return_one_finite_number_per_count(formula, average):
    definition = measure(name="Wrong", averages=(average,))(formula)

    with refused("wrong-formula", measure="Wrong"):
        score([definition])


def test_a_measure_of_a_user_may_be_defined_again():
    def define(share, aliases):
        def formula(hit, n_pred):
            return share * hit / n_pred

        return measure(name="Own", aliases=aliases)(formula)

    alias = {"Mine": "Own(average=example)"}
    for share in (1.0, 0.5):
        define(share, alias)
        assert semmetrics.score([["a"]], [["a"]], measures="Mine")[0].value == share

    define(0.25, None)
    with refused("unknown-name"):
        parse("Mine")


def test_a_pickled_scorer_of_a_measure_needs_its_definition():
    definition = measure(ratio)
    scorer = semmetrics.Scorer(measures="ratio F1")
    scorer.update([["a"]], [["a"]])
    pickled = pickle.dumps(scorer)

    assert pickle.loads(pickled).compute().to_dict() == {"ratio": 1, "F1": 1}
    forget(definition)
    with refused("not-registered"):
        pickle.loads(pickled)


# ---- kinds and aliases --------------------------------------------------------------


def test_two_kinds_may_use_the_same_name():
    of_captions = replace(measure(name="Temporary")(ratio), name="F1", kind="captions")

    add(of_captions)

    assert kinds_of("F1") == ("labels", "captions")
    assert find("F1")[0].kind == "labels"
    assert find("F1", "captions") == (of_captions, {})
    assert parse("F1", "captions") == [of_captions()]
    assert pickle.loads(pickle.dumps(of_captions)) is of_captions
    with refused("unknown-name"):
        find("F1", "scenes")


def test_a_new_kind_has_its_own_measures_and_aliases():
    halves = {"Half": "Share(average=example)"}
    temporary = measure(name="Temporary")(ratio)
    share = replace(temporary, name="Share", kind="scenes", aliases=halves)

    add(share)

    assert all_definitions("scenes") == [share]
    assert aliases("scenes") == halves
    assert kinds_of("Half") == ("scenes",)
    assert find("Half") == (share, {"average": "example"})
    assert group_of(share) == "Other measures"


def test_built_in_measures_cannot_be_removed():
    with refused("name-taken"):
        forget(find("F1")[0])


@pytest.mark.parametrize("alias", aliases())
def test_an_alias_is_the_measure_that_it_stands_for(alias):
    (aliased,) = parse(aliases()[alias])

    assert parse(f"{alias}@3") == [aliased @ 3]
    if "labels=" in aliases()[alias]:
        with refused("fixed-option"):
            parse(f"{alias}(labels=union)")
    else:
        assert parse(f"{alias}(labels=union)")[0]["labels"] == "union"


# ---- names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not-a-measure"),
        ("F1(average=macro", "not-a-measure"),
        ("F1(average)", "not-a-measure"),
        ("F1(=x)", "not-a-measure"),
        ("F1(average=macro,micro)", "not-a-measure"),
        ("F1(k=2)", "not-a-measure"),
        ("F1@", "out-of-range"),
        ("F1@0", "out-of-range"),
        ("F1@1.5", "out-of-range"),
        ("F1@" + "9" * 5000, "out-of-range"),
        ("LRAP@3", "measure-option"),
        ("F1(averag=macro)", "unknown-name"),
        ("F1(average=macr)", "bad-choice"),
        ("F1(average=macro,average=micro)", "duplicate"),
        ("MacroF1(average=micro)", "fixed-option"),
        ("F1(labels=union)", "measure-option"),
        ("F1(average=macro,empty=0)", "measure-option"),
        ("F1(decode=threshold)", "bad-option"),
        ("F1(decode=threshold:nan)", "bad-option"),
        ("F1(decode=cumulative:best)", "bad-option"),
        ("F1(decode=all:3)", "bad-option"),
        ("F1(keep_at_least=-1)", "bad-option"),
        ("F1(keep_at_least=x)", "bad-option"),
        ("BalancedAccuracy", "missing-option"),
        ("BalancedAccuracy(q=2.5)", "bad-option"),
        ("F1,Precision", "comma-separated"),
        ("F1,", "comma-separated"),
    ],
)
def test_invalid_names_are_short_errors(text, code):
    with refused(code) as caught:
        parse(text)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Precison", "did you mean Precision"),
        ("f1score", "did you mean F1?"),
        ("hits", "HitRate"),
        ("bleu", "did you mean BLEU-1, BLEU-2, BLEU-3 or BLEU-4"),
        ("map", "mean mAP or MAP?"),
        ("BERTScore", "it is not computed"),
        ("bert_score", "it is not computed"),
        ("SimCSE", "`semmetrics list`"),
        ("eval", "`semmetrics list`"),
        ("f1_samples", "write F1, "),
        ("samples_precision", "write Precision, "),
        ("f1_weighted", "write F1(average=weighted)"),
        ("recall_at_5", "did you mean Recall@5?"),
        ("exact_match", "write SubsetAccuracy"),
        ("top_5_accuracy", "PerClassAccuracy@5"),
        ("average_precision_score", "write mAP"),
        ("F-score", "write F1 or FBeta(beta=2)"),
        ("cf1", "C-F1"),
    ],
)
def test_an_error_suggests_the_nearest_names(name, suggestion):
    with refused("unknown-name", value=name) as caught:
        parse(name)

    assert suggestion in caught.value.values["remedy"]


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("MACRO_F1(labels=union)", "F1(average=macro,labels=union)"),
        ("CIDER", "CIDEr"),
        ("bleu4", "BLEU-4"),
        ("rougeL", "ROUGE-L"),
        ("ndcg@10", "nDCG@10"),
        ("Micro F1@3", "F1(average=micro)@3"),
    ],
)
def test_case_and_punctuation_of_a_name_do_not_matter_in_a_list(name, measure):
    assert [str(parsed) for parsed in parse_all([name])] == [measure]


@pytest.mark.parametrize(
    ("text", "separated"),
    [
        ("F1@1,3,Precision@2", "F1@1,3 Precision@2"),
        ("F1(average=macro),Recall", "F1(average=macro) Recall"),
    ],
)
def test_an_error_separates_measures_with_commas_between_them(text, separated):
    with refused("comma-separated", wanted=separated):
        parse_all([text])


def test_several_errors_are_reported_together():
    with refused("wrong-measures", n=3):
        parse_all(["F1", "F2", "Recal", "F1(average=x)"])


def test_an_average_that_an_own_measure_does_not_allow():
    # given a measure of one's own with a single average, written as a string
    @measure(averages="micro")
    def OneAverage(hit, n_pred, n_ref):
        return hit / n_pred

    try:
        # then another average is an error that shows how to allow it
        with refused("bad-choice", value="macro") as caught:
            parse("OneAverage(average=macro)")
        assert "averages=('micro', 'macro')" in str(caught.value)
    finally:
        forget(OneAverage)


def test_a_wrong_average_of_an_own_measure_is_read_as_a_whole():
    # given a misspelt average as a string
    with refused("bad-choice", value="macros"):

        @measure(averages="macros")
        def WrongAverage(hit, n_pred, n_ref):
            return hit / n_pred


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("F1(avg=macro)", "Did you mean average?"),
        ("F1(averag=macro)", "Did you mean average?"),
        ("F1(beta=2)", "Write FBeta(beta=2)."),
        ("F1(zzz=2)", "The options are"),
    ],
)
def test_an_unknown_option_of_a_measure_suggests_another(text, remedy):
    # given a measure with an unknown option, then the error has a suggestion
    with refused("unknown-name", what="F1 option") as caught:
        parse(text)
    assert remedy in str(caught.value)


def test_commas_and_spaces_between_measures_keep_all_measures():
    # given measures with a comma and a space between them
    # then the error has all of them, separated by spaces
    with refused("comma-separated", wanted="F1 Recall"):
        parse_all(["F1, Recall"])


@pytest.mark.parametrize("measures", [len, [len], ["F1", len]])
def test_a_function_is_not_a_measure(measures):
    # given a function in place of a measure, then the error names the decorator
    with refused("function-as-measure"):
        semmetrics.score(PREDS, REFS, measures=measures)


def test_a_number_is_not_a_measure():
    # given a number in place of a measure, then it is an error
    with refused("wrong-type", "measures", value=3):
        semmetrics.score(PREDS, REFS, measures=[3])
