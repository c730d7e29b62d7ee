"""The Python entry point: every kind of input, every option, and errors that name the remedy."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.metrics.sets import Recall
from semmetrics.options import READING, SHARED_READING, SIDED, SIDES, SideReading

IDS = ["x", "y", "z"]
PREDS = [["a", "b"], ["b"], []]
REFS = [["a"], ["a", "b"], ["c"]]
CLASSES = ["a", "b", "c"]
MEASURES = ["F1", "MacroF1", "MicroF1"]
SCORES = np.array([[0.9, 0.6, 0.1], [0.2, 0.7, 0.3], [0.1, 0.3, 0.2]])


def matrix(rows):
    return np.array([[int(c in row) for c in CLASSES] for row in rows])


def values(preds, refs, **options):
    return [
        s.value for s in semmetrics.score(preds, refs, measures=MEASURES, **options)
    ]


def by_id(rows):
    return dict(zip(IDS, rows, strict=True))


def expected():
    macro = (2 * 1 / (1 + 2) + 2 * 1 / (2 + 1) + 0) / 3
    return pytest.approx([(2 / 3 + 2 / 3 + 0) / 3, macro, 2 * 2 / (3 + 4)], abs=1e-12)


@pytest.mark.parametrize(
    "made",
    [
        list,
        tuple,
        by_id,
        lambda rows: [set(row) for row in rows],
        pd.Series,
        lambda rows: pd.Series(rows, index=IDS),
        lambda rows: as_labels(by_id(rows)),
        matrix,
        lambda rows: matrix(rows).astype(bool),
        lambda rows: matrix(rows).astype(float),
        lambda rows: scipy.sparse.csr_matrix(matrix(rows)),
        lambda rows: pd.DataFrame(matrix(rows), columns=CLASSES),
        lambda rows: pd.DataFrame(matrix(rows), columns=CLASSES, index=IDS),
    ],
)
def test_every_kind_of_input(made):
    named = isinstance(made(PREDS), (np.ndarray, scipy.sparse.csr_matrix))
    options = {"classes": CLASSES} if named else {}
    assert values(made(PREDS), made(REFS), **options) == expected()


@pytest.mark.parametrize("top_k", [[1, 3], (1, 3), np.array([1, 3]), range(1, 4, 2)])
def test_cutoffs_go_to_measures_without_one(top_k):
    table = semmetrics.score(PREDS, REFS, measures=["F1", "Recall@2"], top_k=top_k)
    assert table.headings == ["F1@1", "F1@3", "Recall@2"]
    assert semmetrics.score(
        PREDS, REFS, measures=["F1"], top_k=np.int64(2)
    ).headings == ["F1@2"]


def test_labels_without_a_score_tie_below_and_others_count_nowhere():
    measures = ["RankingLoss", "LRAP", "CoverageError"]
    for preds, refs, classes, wanted in (
        (
            [("zebra", 0.9), ("a", 0.8), ("yak", 0.7), ("b", 0.1)],
            ["a"],
            "ab",
            [0.0, 1.0, 1.0],
        ),
        # b below a; c below a and tied with d
        (
            [("a", 0.9), ("b", 0.5)],
            ["b", "c"],
            "abcd",
            [3 / 4, (1 / 2 + 2 / 4) / 2, 4.0],
        ),
    ):
        table = semmetrics.score([preds], [refs], measures=measures, classes=[*classes])
        assert [s.value for s in table] == wanted


SCORED = {"preds": SCORES, "classes": CLASSES, "measures": "F1"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"measures": []}, "nothing-given"),
        ({"metrics": "F1"}, "unknown-name"),
        *[
            ({"measures": [text]}, "no-scores")
            for text in ("mAP", "F1(decode=threshold:0.5)")
        ],
        ({"decode": "threshold:best"}, "no-scores"),
        ({"measures": ["C-F1"]}, "needs-option"),
        *[
            ({"decode": rule}, "bad-option")
            for rule in ([], ["all", "all"], "best", 0.5)
        ],
        ({"keep_at_least": 2}, "needs-option"),
        *[({"top_k": k}, "bad-option") for k in (0, [1, 1], True, [1.5])],
        ({"task": "sounds"}, "bad-choice"),
        ({"missing": "drop"}, "bad-choice"),
        ({"preds": 3}, "wrong-type"),
        *[({**SCORED, "measures": text}, "no-rule") for text in ("F1", "MacroF1")],
        ({**SCORED, "decode": "cardinality"}, "needs-option"),
        ({**SCORED, "decode": "cardinality", "set_size_probs": [[1, 0]]}, "shape"),
    ],
)
def test_errors(options, code):
    with refused(code):
        semmetrics.score(**{"preds": PREDS, "gts": REFS, **options})


def test_public_names_are_loaded_when_used():
    code = (
        "import sys, semmetrics\n"
        "early = {'scipy', 'pandas', 'semmetrics.scoring.score'} & set(sys.modules)\n"
        "assert not early, early\n"
        "assert semmetrics.metrics.f1([[1]], [[1]]) == 1.0\n"
        "for name in semmetrics.__all__: assert getattr(semmetrics, name) is not None, name\n"
        "assert set(semmetrics.__all__) < set(dir(semmetrics))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        semmetrics.scores  # noqa: B018


# more likely another option, or said by the name of one measure alone


def test_decoding_goes_to_measures_without_a_rule():
    table = semmetrics.score(
        SCORES,
        REFS,
        measures=["F1", "F1(decode=cumulative:0.4)", "mAP"],
        decode=["threshold:0.5", "threshold:0.65"],
        classes=CLASSES,
    )
    assert table.headings == [
        "F1(decode=threshold:0.5)",
        "F1(decode=threshold:0.65)",
        "F1(decode=cumulative:0.4)",
        "mAP",
    ]
    least = semmetrics.score(
        SCORES,
        REFS,
        measures=["Recall", "mAP"],
        decode="threshold:0.8",
        keep_at_least=1,
        classes=CLASSES,
    )
    assert least.headings == ["Recall(decode=threshold:0.8,keep_at_least=1)", "mAP"]
    assert least.scores[0].items.tolist() == [1, 0.5, 0]
    sizes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    for heads in (sizes, {"preds": sizes}, sizes.tolist()):
        table = semmetrics.score(
            SCORES,
            REFS,
            measures=["Recall"],
            decode="cardinality",
            classes=CLASSES,
            set_size_probs=heads,
        )
        assert table.scores[0].items.tolist() == [1, 0.5, 0]


def test_numbers_have_no_meaning_that_a_default_measure_compares():
    named = semmetrics.score(matrix(PREDS), matrix(REFS), classes=CLASSES)
    assert named.headings[-3:] == ["SemF1", "SemPrecision", "SemRecall"]
    assert named.not_computed == []
    for options in ({}, {"top_k": 1}):
        table = semmetrics.score(matrix(PREDS), matrix(REFS), **options)
        assert len(table.headings) == 7
        assert not any("Sem" in heading for heading in table.headings)
        assert [entry.heading for entry in table.not_computed] == named.headings[-3:]
        assert "--classes" in table.not_computed[0].reason
    assert semmetrics.score(SCORES, matrix(REFS)).not_computed == []
    asked = semmetrics.score(matrix(PREDS), matrix(REFS), measures=["SemF1"])
    assert asked.headings == ["SemF1"]
    assert (
        semmetrics.score([["1"], ["2"]], [["1"], ["cat"]]).headings[-1] == "SemRecall"
    )
    assert semmetrics.score([[]], [[]]).not_computed == []


def test_recall_of_a_definition_is_the_named_one():
    assert (
        semmetrics.score(PREDS, REFS, measures=[Recall])["Recall"].measure == Recall()
    )


@pytest.mark.parametrize(
    "weights",
    [
        [1, 2, 3],
        np.array([1, 2, 3]),
        {"x": 1, "y": 2, "z": 3},
        pd.Series({"z": 3.0, "y": 2.0, "x": 1.0}),
    ],
)
def test_sample_weights(weights):
    table = semmetrics.score(
        by_id(PREDS), by_id(REFS), measures=["F1"], weights=weights
    )
    assert table["F1"].value == pytest.approx((2 / 3 + 4 / 3) / 6)
    if not isinstance(weights, (dict, pd.Series)):
        assert semmetrics.score(PREDS, REFS, measures=["F1"], weights=weights)[
            "F1"
        ].value == (table["F1"].value)


def test_fields_of_read_options_are_keywords(tmp_path):
    preds, gts = tmp_path / "p.csv", tmp_path / "g.csv"
    preds.write_text("photo|label\na|cat\n", encoding="utf-8")
    gts.write_text("photo|label\na|cat\na|dog\n", encoding="utf-8")
    fields = {"id_column": "photo", "delimiter": "|"}
    options = {"measures": "Recall", **fields}
    assert semmetrics.score(preds, gts, **options)["Recall"].value == 0.5
    scorer = semmetrics.Scorer(**options)
    scorer.update(preds, gts)
    assert scorer.compute()["Recall"].value == 0.5
    found = semmetrics.sweep(preds, gts, thresholds=[0.5], **fields)
    read = semmetrics.ReadOptions(**fields)
    assert (
        found.values == semmetrics.sweep(preds, gts, thresholds=[0.5], read=read).values
    )
    assert semmetrics.validate(gts, **fields)["items"] == 1
    with refused("conflicting-options"):
        semmetrics.score(preds, gts, read=read, **fields)
    with refused("unknown-name"):
        semmetrics.score(preds, gts, id_colum="photo")
    with refused("unknown-name"):
        semmetrics.validate(gts, id_colum="photo")


def test_functions_that_read_files_name_all_fields_of_read_options():
    fields = {field.name for field in dataclasses.fields(semmetrics.ReadOptions)}
    fields -= {"classes", "pred", "gt"}
    assert fields == set(SHARED_READING)
    assert READING.keys() - fields == {
        f"{side}_{name}" for side in SIDES for name in SIDED
    }
    assert READING.keys() == SideReading.__annotations__.keys()
    functions = [getattr(semmetrics, name) for name in semmetrics.__all__]
    signatures = [
        inspect.signature(one).parameters for one in functions if callable(one)
    ]
    readers = [names for names in signatures if "read" in names]
    assert len(readers) == 15
    assert all(fields <= names.keys() for names in readers)
    for names in readers:  # those that have predictions and ground truth
        two_sided = not {"preds", "gts", "systems", "measures"}.isdisjoint(names)
        assert ("gt_id_column" in names) <= two_sided


def test_values_of_options_are_checked_wherever_they_are_taken():
    systems = {"a": {"1": "a dog"}, "b": {"1": "a cat"}}
    for task in ("nope", ""):
        with refused("bad-choice"):
            semmetrics.validate(systems["a"], task=task)
    with refused("bad-choice"):
        semmetrics.select_discrepant(systems, k=1, missing="empty")
    with refused("bad-option"):
        semmetrics.correlate([("a", "b", 1.0)], {"a": ["b"]}, read=5)
    with refused("not-applicable", fix="did you mean measure?"):
        semmetrics.select_discrepant(systems, k=1, measures="F1")


def test_numbers_of_numpy_are_those_of_python():
    options = {
        "measures": "F1",
        "decode": "cardinality",
        "set_size_probs": np.eye(3)[[1, 1]],
    }
    data = {"a": [("cat", 0.9)], "b": [("car", 0.8)]}, {"a": ["cat"], "b": ["tree"]}
    for zero in (0, np.int64(0)):
        (score,) = semmetrics.score(*data, first_set_size=zero, **options)
        assert "firstsize" not in score.signature
    (score,) = semmetrics.score(*data, first_set_size=np.int64(1), **options)
    assert "|emptypred:keep|firstsize:1|" in score.signature
    selection = semmetrics.select_discrepant(
        {"a": {"1": "x"}, "b": {"1": "y"}}, k=np.int64(1)
    )
    assert selection.to_json()


def test_a_matrix_of_bags_says_that_a_cache_is_of_no_use():
    notes = []
    semmetrics.caption_matrix(
        [["a cat"]], ["a dog"], measure="BagSim", cache=True, notes=notes
    )
    assert [note.code for note in notes] == ["no-effect"]


def test_what_has_no_effect_is_noted():
    items = {str(n): ["cat"] for n in range(9)}
    systems = {"a": items, "b": {**items, "0": ["dog"], "1": ["cow"]}}
    for test, noted in (("interval", True), ("bootstrap", False)):
        facts = semmetrics.compare(
            systems, items, measures="F1", test=test, resamples=50
        ).facts
        assert ("no-effect-on" in [fact.code for fact in facts]) is noted
    assert any(
        "classes=" in note
        for note in semmetrics.validate(items, classes=["cat"])["notes"]
    )
    assert not semmetrics.validate(np.eye(2), classes=["cat", "dog"])["notes"]
    given = {"measures": "F1", "cache": True}
    codes = [fact.code for fact in semmetrics.score(items, items, **given).facts]
    assert codes.count("no-effect") == 1


def test_help_shows_types_and_an_example_and_stands_alone():
    shown = str(inspect.signature(semmetrics.score))
    assert (
        "(preds: Data | None, gts: Data, *, system: str | None = None, measures: str |"
        in shown
    )
    assert "typing." not in shown + semmetrics.score.__doc__
    lines = inspect.getdoc(semmetrics.score).split("\n")
    assert lines[2].startswith(">>> score(")
    assert "measures : str | Measure | Iterable[str | Measure]" in lines
    assert "read : Any" in lines
    assert dir(semmetrics.metrics) == sorted(semmetrics.metrics.__all__)
    for name in semmetrics.metrics.__all__:
        text = inspect.getdoc(getattr(semmetrics.metrics, name))
        assert "\nParameters\n-" in text, name
        assert "\nExamples\n-" in text, name
        assert "As for " not in text, name
