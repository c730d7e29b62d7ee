"""Measures by name, written and read back; and metrics of one's own."""

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


def test_total_counts_items_for_a_label_and_cells_for_micro():
    @measure(averages=("micro", "macro"))
    def Total(hit, total):
        return total * 1.0

    micro, macro = "Total(labels=union)", "Total(average=macro)"
    assert [
        s.value for s in semmetrics.score(PREDS, REFS, measures=[micro, macro])
    ] == [9.0, 3.0]
    weighted = semmetrics.score(PREDS, REFS, measures=macro, weights=[0.5, 1, 2])
    assert weighted[0].value == pytest.approx(3.5)


def option_called(name, default=3):
    # the test chooses its name
    formula = eval(f"lambda hit, *, {name}={default!r}: hit * 1.0")
    formula.__annotations__ = {name: type(default)}
    return formula


@pytest.mark.parametrize(
    ("options", "formula", "code"),
    [
        ({}, lambda hit, colour: hit, "wrong-formula"),
        ({"averages": ("mean",)}, lambda hit: hit, "bad-choice"),
        ({"averages": "example"}, lambda hit: hit, "bad-choice"),
        ({"defaults": {"emty": "0"}}, lambda hit: hit, "bad-choice"),
        *[
            ({"name": name}, lambda hit: hit, "name-taken")
            for name in ("F1", "MacroF1")
        ],
        ({"aliases": {"MicroF1": "X"}}, lambda hit: hit, "name-taken"),
        *[
            ({"name": name}, lambda hit: hit, "bad-option")
            for name in ("A B", "A@3", "A(x)", "A|B")
        ],
        *[
            ({}, option_called(name), "reserved-option")
            for name in ("k", "n", "empty", "avg")
        ],
    ],
)
def test_what_the_decorator_refuses(options, formula, code):
    before = all_definitions()
    with refused(code):
        measure(**{"name": "X", **options})(formula)
    assert before == all_definitions()


@pytest.mark.parametrize("kind", [bool, int | None, list, Literal[1, "a"]])
def test_options_are_text_numbers_or_a_choice(kind):
    formula = option_called("option")
    formula.__annotations__["option"] = kind
    with refused("bad-option"):
        measure(name="X")(formula)


@pytest.mark.parametrize(
    "formula",
    [lambda hit: 1.0, lambda hit: np.ones(len(hit) + 1), lambda hit: hit + np.inf],
)
@pytest.mark.parametrize("average", ["example", "micro", "macro"])
def test_a_formula_gives_one_finite_number_for_each_count(formula, average):
    wrong = measure(name="Wrong", averages=(average,))(formula)
    with refused("wrong-formula", measure="Wrong"):
        semmetrics.score(PREDS, REFS, measures=[wrong])


def _ratio(hit, n_pred):
    return hit / n_pred


def _double(hit, n_pred):
    return 2 * hit


def test_a_measure_of_ones_own_is_replaced_and_a_built_in_one_is_not():
    def again(share, aliases):
        return measure(name="Own", aliases=aliases)(
            lambda hit, n_pred: share * hit / n_pred
        )

    alias = {"Mine": "Own(average=example)"}
    for share in (1.0, 0.5):
        again(share, alias)
        assert semmetrics.score([["a"]], [["a"]], measures="Mine")[0].value == share
    last = again(0.25, None)
    assert semmetrics.score([["a"]], [["a"]], measures=[last()])[0].value == 0.25
    with refused("unknown-name"):
        parse("Mine")
    again(0.25, alias)
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


@pytest.mark.parametrize(
    "kind", ["captions", "retrieval", "classes", "caption", "Labels"]
)
def test_a_formula_on_counts_is_of_labels(kind):
    with refused("measure-of-kind", value=kind):
        measure(kind=kind, name="Share")(_ratio)
    with refused("unknown-name"):
        find("Share")


def test_a_formula_on_counts_may_name_its_kind():
    made = measure(kind="labels", name="Share")(_ratio)
    assert made.kind == "labels"
    forget(made)


def test_two_kinds_may_use_one_name():
    made = [measure(name="Temporary")(formula) for formula in (_double, _ratio)]
    forget(made[1])
    other = add(replace(made[0], name="F1", kind="captions"))
    halves = {"Half": "Share(average=example)"}
    share = add(replace(made[1], name="Share", kind="scenes", aliases=halves))
    assert kinds_of("F1") == ("labels", "captions")
    assert find("F1")[0].kind == "labels"
    assert find("F1", "captions") == (other, {})
    assert parse("F1", "captions") == [other()] == parse_all(["F1"], "captions")
    assert kinds_of("Half") == ("scenes",)
    assert find("Half") == (share, {"average": "example"})
    assert all_definitions("scenes") == [share]
    assert aliases("scenes") == {"Half": "Share(average=example)"}
    assert group_of(other) == group_of(share) == "Other measures"
    assert pickle.loads(pickle.dumps(other)) is other
    with refused("unknown-name"):
        find("F1", "scenes")
    forget(other)
    with refused("name-taken"):
        forget(find("F1")[0])
    assert kinds_of("F1") == ("labels",)


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
    ("text", "code"),
    [
        *[(text, "not-a-measure") for text in ("", "F1(average=macro")],
        *[
            (f"F1@{k}", "out-of-range")
            for k in ("", "0", "1.5", "3@5", 2**53, "9" * 5000)
        ],
        ("LRAP@3", "measure-option"),
        *[
            (f"F1({o})", "not-a-measure")
            for o in ("average", "average=", "=x", "average=macro,micro")
        ],
        ("F1(k=2)", "not-a-measure"),
        *[(f"F1({name}=macro)", "unknown-name") for name in ("averag", "self")],
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
        *[
            (text, "comma-separated")
            for text in ("F1,Precision", "F1, Precision", "F1,")
        ],
    ],
)
def test_errors(text, code):
    with refused(code) as caught:
        parse(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "suggested"),
    [
        ("Precison", "did you mean Precision"),
        ("f1score", "did you mean F1?"),
        ("blue4", "did you mean BLEU-4?"),
        ("hits", "HitRate"),
        ("bleu", "did you mean BLEU-1 or BLEU-2 or BLEU-3 or BLEU-4"),
        ("map", "mean mAP or MAP?"),
        *[
            (name, "semmetrics does not compute it")
            for name in ("CLIPScore", "BERTScore", "bert_score")
        ],
        *[(name, "`semmetrics list`") for name in ("SimCSE", "PACS", "eval")],
        ("f1_samples", "write F1, "),
        ("samples_precision", "write Precision, "),
        ("f1_weighted", "write F1(average=weighted)"),
        ("recall_at_5", "did you mean Recall@5?"),
        ("exact_match", "write SubsetAccuracy"),
        ("top_5_accuracy", "PerClassAccuracy@5"),
        ("average_precision_score", "write mAP"),
        ("F-score", "write F1 or FBeta(beta=2)"),
    ],
)
def test_the_nearest_names_are_suggested(name, suggested):
    with refused("unknown-name", value=name) as caught:
        parse(name)
    assert suggested in caught.value.values["remedy"]


def test_one_name_that_is_alike_is_taken():
    texts = (
        "f1",
        "MACRO_F1(labels=union)",
        "CIDER",
        "bleu4",
        "rougeL",
        "ndcg@10",
        "Micro F1@3",
    )
    assert list(map(str, parse_all(texts))) == [
        "F1",
        "F1(average=macro,labels=union)",
        "CIDEr",
        "BLEU-4",
        "ROUGE-L",
        "nDCG@10",
        "F1(average=micro)@3",
    ]
    with refused("unknown-name") as caught:
        parse("cf1")
    assert {"CF1", "C-F1"} <= set(
        caught.value.values["remedy"].removesuffix("?").split()
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F1@1,3,Precision@2", "F1@1,3 Precision@2"),
        ("F1(average=macro),Recall", "F1(average=macro) Recall"),
    ],
)
def test_measures_with_commas_between_them_are_separated(text, wanted):
    with refused("comma-separated", wanted=wanted):
        parse_all([text])


def test_all_errors_come_together():
    with refused("wrong-measures", n=3):
        parse_all(["F1", "F2", "Recal", "F1(average=x)"])
    with refused("unknown-name", value="F2"):
        parse_all(["F1", "F2"])
