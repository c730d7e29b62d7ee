"""What a user is told beside the scores."""

from __future__ import annotations

import numpy as np
import pytest
from tiny import Tiny

import semmetrics

NEAR = Tiny({"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.6 + 1e-7, 0.8]})
NUMBERS = Tiny({str(number): [1.0, float(number)] for number in range(4)})
MATRIX = np.eye(2, dtype=int)
NUMBERED = (
    "preds: the labels are numbers, compared as they are; give labels by name, or the class list "
    "of a matrix's columns (classes=, --classes)"
)


def near(preds, refs, measures):
    notes = semmetrics.score(preds, refs, measures=measures, embedding=NEAR).notes
    return [note for note in notes if "1e-6" in note]


def test_one_pair_is_one_pair():
    measure = "SemF1(threshold=0.6)"
    assert near([["a"]], [["b"]], measure) == [
        "preds: 1 pair of labels is within 1e-6 of the threshold 0.6"
    ]
    assert near([["a"]], [["b", "c"]], measure) == [
        "preds: 2 pairs of labels are within 1e-6 of the threshold 0.6"
    ]


@pytest.mark.parametrize(("refs", "most"), [(["b"], "1 pair"), (["b", "c"], "2 pairs")])
def test_pairs_near_many_thresholds_are_one_note(refs, most):
    measures = [f"SemF1(threshold={0.6 + shift * 1e-7!r})" for shift in range(4)]
    assert near([["a"]], [refs], measures) == [
        f"preds: at most {most} of labels within 1e-6 of each of 4 thresholds"
    ]


@pytest.mark.parametrize("oov", ["unknown", "skip", "zero"])
def test_label_lists_that_a_model_does_not_know_are_counted(oov):
    model = Tiny({"a": [1.0, 0.0], "b": [0.0, 1.0], "unknown": [1.0, 1.0]})
    preds, refs = [["a"], ["?"], ["?"], [], ["a", "?"]], [["b"], ["a"], ["?", "?"], ["b"], []]

    def said(preds, refs, measures="BagSim"):
        return semmetrics.score(preds, refs, measures=measures, embedding=model, oov=oov).notes

    assert said(preds, refs) == [f"preds: 4 label lists unknown to {model.identity}: {oov}"]
    assert said(preds[:2], refs[:2]) == [f"preds: 1 label list unknown to {model.identity}: {oov}"]
    assert said([["a"], []], [["b"], []]) == []
    # of measures that take other lists, the most of one of them
    both = said(preds, refs, ["BagSim", "BagSim@1"])
    assert both == said(preds, refs)


def test_one_term_is_one_term():
    table = semmetrics.score([["?"]], [["?"]], measures="SoftF1", embedding=NEAR)
    named = "'?'; semmetrics embed coverage counts them"
    assert table.notes == [f"preds: 1 of 1 term unknown to {NEAR.identity}: zero: {named}"]


def test_the_first_terms_that_are_not_known_are_named():
    table = semmetrics.score([["a", "?4", "?1"]], [["?3", "?2"]], measures="SoftF1", embedding=NEAR)
    assert table.notes == [
        f"preds: 4 of 5 terms unknown to {NEAR.identity}: zero: '?1', '?2', '?3' and 1 more; "
        "semmetrics embed coverage counts them"
    ]


def test_terms_of_many_systems_are_one_note_however_many_are_named():
    unknown = ["?1", "it's", "?3", "?4", "?5"]
    systems = {name: [["a", *unknown[:n]]] for n, name in enumerate("uvwxy", 1)}
    table = semmetrics.score_systems(systems, [["a"]], measures="SoftF1", embedding=NEAR)
    assert table.notes == [
        f"all 5 systems: 1 to 5 of 2 to 6 terms unknown to {NEAR.identity}: zero: '?1', '?3', "
        "'?4' and 1 more; semmetrics embed coverage counts them"
    ]


@pytest.mark.parametrize("measure", ["SemF1(threshold=0.5)", "SoftF1", "WMD", "MeanSim", "BagSim"])
def test_numbers_that_are_compared_by_meaning_are_noted(measure):
    asked = {"measures": ["F1", measure], "embedding": NUMBERS}
    table = semmetrics.score([["0"], ["1"]], [["0"], ["1"]], **asked)
    assert table.headings == ["F1", measure]
    assert table.notes == [NUMBERED]
    matrix = semmetrics.score(MATRIX, MATRIX, **asked)
    assert NUMBERED in matrix.notes
    named = semmetrics.score(MATRIX, MATRIX, classes=["cat", "dog"], **asked)
    assert not any("numbers" in note for note in named.notes)


def test_numbers_that_no_meaning_is_asked_of_are_not_noted():
    for measures in (["F1", "Jaccard"], None):
        assert semmetrics.score([["0"]], [["0"]], measures=measures).notes == []
    for preds, refs in (([["0"]], [["0", "b"]]), ([[]], [[]])):
        notes = semmetrics.score(preds, refs, measures="SemF1", embedding=NEAR).notes
        assert not any("numbers" in note for note in notes)


def test_each_system_is_told_of_its_numbers():
    systems = {"x": [["1"]], "y": [["cat"]]}
    table = semmetrics.score_systems(systems, [["1"]], measures="SemF1", embedding=NUMBERS)
    assert [note for note in table.notes if "numbers" in note] == [NUMBERED.replace("preds", "x")]


def test_embeddings_that_no_measure_uses():
    def said(texts, embedding):
        return semmetrics.score([["a"]], [["a"]], measures=texts, embedding=embedding).notes

    idle = "has no effect: no measure here uses it"
    assert said(["F1", "SoftF1"], {"foo": NEAR}) == [f"the embedding 'foo' {idle}"]
    assert said(["SoftF1(embedding=foo)"], {"foo": NEAR}) == []
    both = {"default": NEAR, "foo": NEAR}
    assert said(["SoftF1(embedding=foo)"], both) == [f"the embedding {idle}"]
    assert said(["SoftF1", "BagSim(embedding=foo)"], both) == []
    idle = "has no effect: no measure here compares meanings (SemF1 does)"
    several = idle.replace("has", "have", 1)
    assert said(["F1"], both) == [f"the embeddings 'default', 'foo' {several}"]
    assert said(["F1"], {"None": NEAR}) == [f"the embedding 'None' {idle}"]
    for given in (NEAR, "static"):
        assert said(["F1"], given) == [f"the embedding {idle}"]
        assert said(["SoftF1"], given) == []
    assert said(["F1"], None) == []


def test_an_embedding_without_effect_is_said_wherever_it_is_given():
    line = "the embedding 'foo' has no effect: no measure here uses it"
    given = {"embedding": {"default": NEAR, "foo": NEAR}}
    sides = [["a"], ["c"]], [["a"], ["b"]]
    assert line in semmetrics.score(*sides, measures="SemF1", **given).notes
    assert line not in semmetrics.score(*sides, measures="SemF1(embedding=foo)", **given).notes
    assert line in semmetrics.sweep(*sides, thresholds=[0.5], **given).notes
    assert line in semmetrics.calibrate_threshold(*sides, holdout=1, **given).notes


def test_notes_of_a_task_without_vectors():
    sides = [["0"]], [["0"]]
    assert semmetrics.score(*sides, measures="F1", system="x").notes == []
    table = semmetrics.score(*sides, measures="SoftF1", embedding=NUMBERS, system="x")
    assert table.notes == [NUMBERED.replace("preds", "x")]


def test_labels_outside_of_many_systems_are_one_note():
    systems = {f"s{n}": [["dog"], ["bus"]] for n in range(5)}
    measure = "F1(average=macro,labels=reference)"
    table = semmetrics.score_systems(systems, [["cat"], ["bus"]], measures=measure)
    assert table.notes == [
        "all 5 systems: 1 label (predicted 1 time) is outside the ground truth, and counts nowhere "
        f"in {measure}"
    ]
