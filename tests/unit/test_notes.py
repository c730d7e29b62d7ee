"""What a user is told beside the scores: facts by code, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import codes, facts
from tiny import Tiny

import semmetrics
from semmetrics.errors import Fact, add_up, first_of_each, render_facts

NEAR = Tiny({"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.6 + 1e-7, 0.8]})
NUMBERS = Tiny({str(number): [1.0, float(number)] for number in range(4)})
MATRIX = np.eye(2, dtype=int)


def scored(preds, refs, measures, **options):
    return semmetrics.score(preds, refs, measures=measures, **options)


# ---- facts of many systems ----------------------------------------------------------------------


def test_facts_add_up_by_code_place_and_values():
    several = [Fact("unused-columns", 1, (name,), "gt.csv") for name in "aab"]
    other = Fact("unused-columns", 1, ("a",), "preds.csv")
    total = Fact("unused-columns", 3, ("a", "b"), "gt.csv")
    assert add_up([*several, other]) == [total, other]
    assert first_of_each([*several, other]) == [several[0], other]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("abc", ["a: 1 item of weight 0 left out", "b: 2 items of weight 0 left out",
                 "c: 3 items of weight 0 left out"]),
        ("abcd", ["all 4 systems: 1 to 4 items of weight 0 left out"]),
        ("abcdx", ["all 5 systems: 1 to 5 items of weight 0 left out"]),
    ],
)  # fmt: skip
def test_facts_of_many_systems_are_one_line(names, expected):
    some = [Fact("weight-0", n, (), name) for n, name in enumerate(names, 1)]
    assert render_facts(some, names) == expected


def test_some_of_many_systems_are_named():
    same = [Fact("weight-0", 2, (), name) for name in "abcdx"]
    assert render_facts(same, "abcdxyz") == ["a, b, c and 2 more: 2 items of weight 0 left out"]
    values = [{"total": 3 + n, "model": "m"} for n in range(4)]
    spans = [Fact("rare-labels", 1, (), name, v) for name, v in zip("abcd", values, strict=True)]
    assert render_facts(spans, "abcd") == ["all 4 systems: 1 of 3 to 6 labels in one item alone"]
    other = [Fact("no-effect-on", 0, (), n, {"option": "oov", "on": n}) for n in "abcd"]
    assert len(render_facts(other, "abcd")) == 4  # they say different things


def test_terms_of_many_systems_are_one_note():
    unknown = ["?1", "it's", "?3", "?4", "?5"]
    systems = {name: [["a", *unknown[:n]]] for n, name in enumerate("uvwxy", 1)}
    table = semmetrics.score_systems(systems, [["a"]], measures="SoftF1", embedding=NEAR)
    assert [fact.n for fact in facts(table, "unknown-texts")] == [1, 2, 3, 4, 5]
    (note,) = table.notes
    assert note.startswith(f"all 5 systems: 1 to 5 distinct terms unknown to {NEAR.identity}")


def test_labels_outside_of_many_systems_are_one_note():
    systems = {f"s{n}": [["dog"], ["bus"]] for n in range(5)}
    measure = "F1(average=macro,labels=reference)"
    table = semmetrics.score_systems(systems, [["cat"], ["bus"]], measures=measure)
    assert len(table.notes) == 1
    assert table.notes[0].startswith("all 5 systems: ")


# ---- what measures of meaning note ---------------------------------------------------------------


@pytest.mark.parametrize(("refs", "n"), [(["b"], 1), (["b", "c"], 2)])
def test_pairs_near_a_threshold_are_counted(refs, n):
    table = scored([["a"]], [refs], "SemF1(threshold=0.6)", embedding=NEAR)
    assert [fact.n for fact in facts(table, "near-threshold")] == [n]
    measures = [f"SemF1(threshold={0.6 + shift * 1e-7!r})" for shift in range(4)]
    (fact,) = facts(scored([["a"]], [refs], measures, embedding=NEAR), "near-thresholds")
    assert (fact.n, fact.values) == (n, {"thresholds": 4})


@pytest.mark.parametrize("oov", ["unknown", "skip", "zero"])
def test_label_lists_that_a_model_does_not_know_are_counted(oov):
    model = Tiny({"a": [1.0, 0.0], "b": [0.0, 1.0], "unknown": [1.0, 1.0]})
    preds, refs = [["a"], ["?"], ["?"], [], ["a", "?"]], [["b"], ["a"], ["?", "?"], ["b"], []]

    def found(preds, refs, measures="BagSim"):
        table = scored(preds, refs, measures, embedding=model, oov=oov)
        assert codes(table) in ([], ["unknown-texts"])
        return [(fact.n, fact.values["noun"], fact.values["oov"]) for fact in table.facts]

    assert found(preds, refs) == [(4, "label list", oov)]
    assert found(preds[:2], refs[:2]) == [(1, "label list", oov)]
    assert found([["a"], []], [["b"], []]) == []
    # of measures that take other lists, the most of one of them
    assert found(preds, refs, ["BagSim", "BagSim@1"]) == found(preds, refs)


def test_the_first_terms_that_are_not_known_are_named():
    table = scored([["a", "?4", "?1"]], [["?3", "?2"]], "SoftF1", embedding=NEAR)
    (fact,) = facts(table, "unknown-texts")
    assert (fact.n, fact.examples, fact.where) == (4, ("?1", "?2", "?3"), "preds")
    assert fact.values == {"noun": "distinct term", "model": NEAR.identity, "oov": "zero"}


@pytest.mark.parametrize("measure", ["SemF1(threshold=0.5)", "SoftF1", "WMD", "MeanSim", "BagSim"])
def test_numbers_that_are_compared_by_meaning_are_noted(measure):
    asked = {"measures": ["F1", measure], "embedding": NUMBERS}
    table = semmetrics.score([["0"], ["1"]], [["0"], ["1"]], **asked)
    assert table.headings == ["F1", measure]
    assert table.facts == [Fact("numbers-as-labels", where="preds")]
    assert "numbers-as-labels" in codes(semmetrics.score(MATRIX, MATRIX, **asked))
    named = semmetrics.score(MATRIX, MATRIX, classes=["cat", "dog"], **asked)
    assert "numbers-as-labels" not in codes(named)


def test_numbers_that_no_meaning_is_asked_of_are_not_noted():
    for measures in (["F1", "Jaccard"], None):
        assert semmetrics.score([["0"]], [["0"]], measures=measures).notes == []
    for preds, refs in (([["0"]], [["0", "b"]]), ([[]], [[]])):
        table = scored(preds, refs, "SemF1", embedding=NEAR)
        assert "numbers-as-labels" not in codes(table)


def test_each_system_is_told_of_its_numbers():
    systems = {"x": [["1"]], "y": [["cat"]]}
    table = semmetrics.score_systems(systems, [["1"]], measures="SemF1", embedding=NUMBERS)
    assert [fact.where for fact in facts(table, "numbers-as-labels")] == ["x"]


@pytest.mark.parametrize(
    ("measures", "embedding", "unused"),
    [
        (["F1", "SoftF1"], {"foo": NEAR}, ("foo",)),
        (["SoftF1(embedding=foo)"], {"foo": NEAR}, None),
        (["SoftF1(embedding=foo)"], {"default": NEAR, "foo": NEAR}, ("default",)),
        (["SoftF1", "BagSim(embedding=foo)"], {"default": NEAR, "foo": NEAR}, None),
        (["F1"], {"default": NEAR, "foo": NEAR}, ("default", "foo")),
        (["F1"], {"None": NEAR}, ("None",)),
        (["F1"], NEAR, ("default",)),
        (["F1"], "static", ("default",)),
        (["SoftF1"], "static", None),
        (["F1"], None, None),
    ],
)
def test_embeddings_that_no_measure_uses(measures, embedding, unused):
    found = facts(scored([["a"]], [["a"]], measures, embedding=embedding), "unused-embeddings")
    assert [fact.examples for fact in found] == ([] if unused is None else [unused])


def test_an_embedding_without_effect_is_said_wherever_it_is_given():
    given = {"embedding": {"default": NEAR, "foo": NEAR}}
    sides = [["a"], ["c"]], [["a"], ["b"]]
    line = str(Fact("unused-embeddings", 1, ("foo",)))
    assert line in semmetrics.score(*sides, measures="SemF1", **given).notes
    assert line not in semmetrics.score(*sides, measures="SemF1(embedding=foo)", **given).notes
    assert line in semmetrics.sweep(*sides, thresholds=[0.5], **given).notes
    assert line in semmetrics.calibrate_threshold(*sides, holdout=1, **given).notes
