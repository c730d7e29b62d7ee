"""The Python functions: every form of input, options, and errors that name the remedy."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from batches import values
from refusals import codes, refused

import semmetrics
from semmetrics import score
from semmetrics.kinds.labels import as_labels
from semmetrics.metrics.sets import Recall
from semmetrics.options import SHARED_READING

IDS = ["x", "y", "z"]
PREDS = [["a", "b"], ["b"], []]
REFS = [["a"], ["a", "b"], ["c"]]
CLASSES = ["a", "b", "c"]
SCORES = np.array([[0.9, 0.6, 0.1], [0.2, 0.7, 0.3], [0.1, 0.3, 0.2]])


def by_id(rows):
    return dict(zip(IDS, rows, strict=True))


def matrix(rows):
    members = np.zeros((len(rows), len(CLASSES)), int)
    for number, row in enumerate(rows):
        for label in row:
            members[number, CLASSES.index(label)] = 1
    return members


def frame(rows):
    return pd.DataFrame(matrix(rows), columns=CLASSES, index=IDS)


# ---- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        list,
        by_id,
        lambda rows: [set(row) for row in rows],
        pd.Series,
        lambda rows: pd.Series(rows, index=IDS),
        lambda rows: as_labels(by_id(rows)),
        matrix,
        lambda rows: matrix(rows).astype(float),
        lambda rows: scipy.sparse.csr_matrix(matrix(rows)),
        frame,
        lambda rows: frame(rows).reset_index(drop=True),
    ],
)
def test_both_sides_may_have_any_form(convert):
    preds = convert(PREDS)
    needs_names = isinstance(preds, (np.ndarray, scipy.sparse.csr_matrix))
    options = {"classes": CLASSES} if needs_names else {}

    table = score(preds, convert(REFS), measures="F1 MacroF1 MicroF1", **options)

    f1 = (2 / 3 + 2 / 3 + 0) / 3
    f1_of_labels = [2 / 3, 2 / 3, 0]
    micro_f1 = 2 * 2 / (3 + 4)
    assert values(table) == pytest.approx([f1, np.mean(f1_of_labels), micro_f1])


@pytest.mark.parametrize(
    "weights",
    [
        [1, 2, 3],
        np.array([1, 2, 3]),
        by_id([1, 2, 3]),
        pd.Series([3.0, 2, 1], IDS[::-1]),
    ],
    ids=["list", "array", "mapping", "series"],
)
def test_weights_may_have_any_form(weights):
    table = score(by_id(PREDS), by_id(REFS), measures="F1", weights=weights)

    assert table["F1"].value == pytest.approx((2 / 3 + 4 / 3) / 6)


SET_SIZES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    "probs", [SET_SIZES, SET_SIZES.tolist(), {"preds": SET_SIZES}], ids=str
)
def test_probabilities_of_set_sizes_may_have_any_form(probs):
    table = score(
        SCORES,
        REFS,
        measures="Recall",
        decode="cardinality",
        classes=CLASSES,
        set_size_probs=probs,
    )

    assert table[0].items.tolist() == [1, 0.5, 0]


def test_without_names_of_columns_the_semantic_measures_are_not_computed():
    preds = matrix(PREDS)
    refs = matrix(REFS)
    semantic = ["SemF1", "SemPrecision", "SemRecall"]

    named = score(preds, refs, classes=CLASSES)
    table = score(preds, refs)

    assert named.headings[-3:] == semantic
    assert not set(semantic) & set(table.headings)
    assert [entry.heading for entry in table.not_computed] == semantic
    assert "--classes" in table.not_computed[0].reason
    assert score(preds, refs, measures="SemF1").headings == ["SemF1"]


def test_a_measure_may_be_a_definition():
    (recall,) = score(PREDS, REFS, measures=[Recall])

    assert recall.measure == Recall()


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("top_k", [[1, 3], np.array([1, 3]), range(1, 4, 2)])
def test_cutoffs_apply_to_measures_without_one(top_k):
    table = score(PREDS, REFS, measures=["F1", "Recall@2"], top_k=top_k)

    assert table.headings == ["F1@1", "F1@3", "Recall@2"]


def test_decoding_rules_apply_to_measures_without_one():
    measures = ["F1", "F1(decode=cumulative:0.4)", "mAP"]
    rules = ["threshold:0.5", "threshold:0.65"]

    table = score(SCORES, REFS, measures=measures, decode=rules, classes=CLASSES)

    assert table.headings == [
        "F1(decode=threshold:0.5)",
        "F1(decode=threshold:0.65)",
        "F1(decode=cumulative:0.4)",
        "mAP",
    ]


def test_keep_at_least_applies_to_measures_with_a_decoding_rule():
    table = score(
        SCORES,
        REFS,
        measures="Recall mAP",
        decode="threshold:0.8",
        keep_at_least=1,
        classes=CLASSES,
    )

    assert table.headings == ["Recall(decode=threshold:0.8,keep_at_least=1)", "mAP"]
    assert table[0].items.tolist() == [1, 0.5, 0]


def test_integers_may_be_numpy_integers():
    options = {"measures": "F1", "decode": "cardinality", "set_size_probs": SET_SIZES}

    table = score(SCORES, REFS, classes=CLASSES, first_set_size=np.int64(1), **options)

    assert "|firstsize:1|" in table[0].signature
    assert score(PREDS, REFS, measures="F1", top_k=np.int64(2)).headings == ["F1@2"]


def test_fields_of_read_options_are_keywords(tmp_path):
    preds = tmp_path / "p.csv"
    gts = tmp_path / "g.csv"
    preds.write_text("photo|label\na|cat\n")
    gts.write_text("photo|label\na|cat\na|dog\n")
    fields = {"id_column": "photo", "delimiter": "|"}
    read = semmetrics.ReadOptions(**fields)
    scorer = semmetrics.Scorer(measures="Recall", **fields)
    scorer.update(preds, gts)

    assert score(preds, gts, measures="Recall", **fields)["Recall"].value == 0.5
    assert score(preds, gts, measures="Recall", read=read)["Recall"].value == 0.5
    assert scorer.compute()["Recall"].value == 0.5
    assert semmetrics.validate(gts, **fields)["items"] == 1
    with refused("conflicting-options"):
        score(preds, gts, read=read, **fields)
    with refused("unknown-name"):
        semmetrics.validate(gts, id_colum="photo")


def functions_with(parameter):
    functions = []
    for name in semmetrics.__all__:
        function = getattr(semmetrics, name)
        if callable(function) and parameter in inspect.signature(function).parameters:
            functions.append(function)
    return functions


@pytest.mark.parametrize(
    "function", functions_with("read"), ids=lambda function: function.__name__
)
def test_functions_that_read_files_have_all_fields_of_read_options(function):
    assert SHARED_READING.keys() <= inspect.signature(function).parameters.keys()


@pytest.mark.parametrize("test", ["interval", "bootstrap"])
def test_a_note_reports_an_option_without_effect_on_the_test(test):
    items = {str(n): ["cat"] for n in range(9)}
    systems = {"a": items, "b": {**items, "0": ["dog"], "1": ["cow"]}}

    table = semmetrics.compare(systems, items, measures="F1", test=test, resamples=50)

    assert ("no-effect-on" in codes(table)) == (test == "interval")


def test_a_note_reports_a_cache_without_effect():
    notes = []

    semmetrics.caption_matrix(
        [["a cat"]], ["a dog"], measure="BagSim", cache=True, notes=notes
    )

    assert [note.code for note in notes] == ["no-effect"]
    assert codes(score(PREDS, REFS, measures="F1", cache=True)) == ["no-effect"]


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"measures": []}, "nothing-given"),
        ({"metrics": "F1"}, "unknown-name"),
        ({"measures": "mAP"}, "no-scores"),
        ({"measures": "C-F1"}, "needs-option"),
        ({"keep_at_least": 2}, "needs-option"),
        ({"decode": []}, "bad-option"),
        ({"decode": "best"}, "bad-option"),
        ({"decode": 0.5}, "bad-option"),
        ({"top_k": 0}, "bad-option"),
        ({"top_k": [1, 1]}, "bad-option"),
        ({"top_k": True}, "bad-option"),
        ({"task": "sounds"}, "bad-choice"),
    ],
    ids=str,
)
def test_a_wrong_option_raises_an_error(options, code):
    with refused(code):
        score(PREDS, REFS, **options)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "no-rule"),
        ({"decode": "cardinality"}, "needs-option"),
        ({"decode": "cardinality", "set_size_probs": [[1, 0]]}, "shape"),
    ],
)
def test_scores_without_a_complete_rule_raise_an_error(options, code):
    with refused(code):
        score(SCORES, REFS, classes=CLASSES, measures="F1", **options)


def test_a_number_is_not_data():
    with refused("wrong-type"):
        score(3, REFS)


def test_options_of_other_functions_are_checked():
    systems = {"a": {"1": "a dog"}, "b": {"1": "a cat"}}

    with refused("bad-choice"):
        semmetrics.validate(systems["a"], task="nope")
    with refused("bad-choice"):
        semmetrics.select_discrepant(systems, k=1, missing="empty")
    with refused("not-applicable", fix="did you mean measure?"):
        semmetrics.select_discrepant(systems, k=1, measures="F1")
    with refused("bad-option"):
        semmetrics.correlate([("a", "b", 1.0)], {"a": ["b"]}, read=5)


# ---- the module ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", semmetrics.__all__)
def test_public_names_exist(name):
    assert getattr(semmetrics, name) is not None
    assert name in dir(semmetrics)


def test_a_name_that_does_not_exist_raises_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        semmetrics.scores  # noqa: B018


@pytest.mark.parametrize("name", semmetrics.metrics.__all__)
def test_the_help_of_a_measure_has_parameters_and_an_example(name):
    text = inspect.getdoc(getattr(semmetrics.metrics, name))

    assert "\nParameters\n-" in text
    assert "\nExamples\n-" in text
    assert "As for " not in text
