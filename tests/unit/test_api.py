"""The Python entry point: every kind of input, every option, and errors that name the remedy."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from refusals import codes, refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.metrics.registry import parse
from semmetrics.metrics.sets import F1, Recall
from semmetrics.scoring.score import system_name

IDS = ["x", "y", "z"]
PREDS = [["a", "b"], ["b"], []]
REFS = [["a"], ["a", "b"], ["c"]]
CLASSES = ["a", "b", "c"]
MEASURES = ["F1", "MacroF1", "MicroF1"]
SCORES = np.array([[0.9, 0.6, 0.1], [0.2, 0.7, 0.3], [0.1, 0.3, 0.2]])


def matrix(rows):
    return np.array([[int(c in row) for c in CLASSES] for row in rows])


def values(preds, refs, **options):
    return [s.value for s in semmetrics.score(preds, refs, measures=MEASURES, **options)]


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


def test_paths(tmp_path):
    for name, rows in (("resnet.json", PREDS), ("gt.json", REFS)):
        (tmp_path / name).write_text(json.dumps(by_id(rows)))
    table = semmetrics.score(tmp_path / "resnet.json", str(tmp_path / "gt.json"), measures=MEASURES)
    assert [s.value for s in table] == expected()
    assert table.systems == ["resnet"]
    assert semmetrics.score(PREDS, REFS, system="mine").systems == ["mine"]
    assert [system_name(p) for p in ("a/b.tar.json.gz", "x", "-", PREDS)] == [
        "b.tar", "x", "preds", "preds",
    ]  # fmt: skip


def test_items_are_joined_by_id():
    mixed = {name: by_id(PREDS)[name] for name in ("z", "x", "y")}
    assert values(mixed, by_id(REFS)) == expected()
    table = semmetrics.score(mixed, by_id(REFS), measures=["F1"])
    assert list(table["F1"].ids) == IDS
    assert table["F1"].items.tolist() == pytest.approx([2 / 3, 2 / 3, 0])


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
    table = semmetrics.score(by_id(PREDS), by_id(REFS), measures=["F1"], weights=weights)
    assert table["F1"].value == pytest.approx((2 / 3 + 4 / 3) / 6)
    if not isinstance(weights, (dict, pd.Series)):
        assert semmetrics.score(PREDS, REFS, measures=["F1"], weights=weights)["F1"].value == (
            table["F1"].value
        )


def test_measures_are_named_or_made():
    for measures in ("F1", ["F1"], F1, F1(), [F1], (F1() for _ in range(1))):
        assert semmetrics.score(PREDS, REFS, measures=measures).headings == ["F1"]
    table = semmetrics.score(PREDS, REFS, measures=[F1(average="macro") @ 1, "Recall@2"])
    assert table.headings == ["F1(average=macro)@1", "Recall@2"]


def test_defaults_depend_on_the_kind_of_input():
    lists = semmetrics.score(PREDS, REFS).headings
    assert lists[:2] == ["F1", "Precision"]
    assert "F1(average=macro)" in lists
    scores = semmetrics.score(SCORES, REFS, classes=CLASSES).headings
    assert scores == ["mAP", "LRAP", "RankingLoss", "CoverageError"]
    decoded = semmetrics.score(SCORES, REFS, classes=CLASSES, decode="threshold:0.5").headings
    assert decoded[0] == "F1(decode=threshold:0.5)"
    assert semmetrics.score(SCORES, REFS, classes=CLASSES, top_k=1).headings[0] == "F1@1"


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
    assert semmetrics.score([["1"], ["2"]], [["1"], ["cat"]]).headings[-1] == "SemRecall"
    assert semmetrics.score([[]], [[]]).not_computed == []


@pytest.mark.parametrize("top_k", [[1, 3], (1, 3), np.array([1, 3]), range(1, 4, 2)])
def test_cutoffs_go_to_measures_without_one(top_k):
    table = semmetrics.score(PREDS, REFS, measures=["F1", "Recall@2"], top_k=top_k)
    assert table.headings == ["F1@1", "F1@3", "Recall@2"]
    assert semmetrics.score(PREDS, REFS, measures=["F1"], top_k=np.int64(2)).headings == ["F1@2"]


def test_a_cutoff_takes_the_first_of_the_list_repeats_included():
    preds, refs = [["b", "b", "a"], ["a"]], [["a"], ["a"]]
    table = semmetrics.score(
        preds, refs, measures=["Precision", "Precision(duplicates=each)", "Recall"], top_k=[2, 3]
    )
    assert [s.value for s in table] == [0.5, 0.75, 0.5, pytest.approx(2 / 3), 0.5, 1.0]
    scored = [[("a", 0.2), ("b", 0.9), ("c", 0.9)], [("a", 0.1)]]
    assert semmetrics.score(scored, refs, measures="Recall@1").scores[0].items.tolist() == [0, 1]
    assert semmetrics.score(scored, [["b"], []], measures="Recall@1").scores[0].items[0] == 1


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
        SCORES, REFS, measures=["Recall", "mAP"], decode="threshold:0.8", keep_at_least=1,
        classes=CLASSES,
    )  # fmt: skip
    assert least.headings == ["Recall(decode=threshold:0.8,keep_at_least=1)", "mAP"]
    assert least.scores[0].items.tolist() == [1, 0.5, 0]
    sizes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    for heads in (sizes, {"preds": sizes}, sizes.tolist()):
        table = semmetrics.score(
            SCORES, REFS, measures=["Recall"], decode="cardinality", classes=CLASSES,
            set_size_probs=heads,
        )  # fmt: skip
        assert table.scores[0].items.tolist() == [1, 0.5, 0]
    own = {"one": sizes, "two": sizes[::-1]}
    table = semmetrics.score_systems(
        {"one": SCORES, "two": SCORES}, REFS, measures=["CardinalityError"],
        decode="cardinality", set_size_probs=own, classes=CLASSES,
    )  # fmt: skip
    assert [s.items.tolist() for s in table] == [[0, 0, 1], [1, 0, 0]]


def test_classes_ignored_labels_and_missing_items():
    table = semmetrics.score(PREDS, REFS, measures=["C-F1"], classes=[*CLASSES, "d"])
    assert len(table.scores[0].per_label["label"]) == 4
    ignoring = semmetrics.score(PREDS, REFS, measures=["F1"], ignore=["b"])
    assert ignoring.scores[0].items[:2].tolist() == [1, 0]
    assert "preds: 1 label ignored (predicted 2 times, true 1 time)" in ignoring.notes
    fewer = {name: by_id(PREDS)[name] for name in IDS[:2]}
    skipped = semmetrics.score(fewer, by_id(REFS), measures=["F1"], missing="skip")
    assert skipped.scores[0].n == 2
    assert "missing-prediction" in codes(skipped)
    empty = semmetrics.score(fewer, by_id(REFS), measures=["F1"], missing="empty")
    assert empty.scores[0].n == 3
    kept = semmetrics.score(PREDS, REFS, measures=["F1"], empty_predictions="skip")
    assert kept.scores[0].n == 2


def test_values_of_labels():
    found = semmetrics.score(PREDS, REFS, measures=["MacroF1"]).scores[0].per_label
    assert found["label"].tolist() == CLASSES
    assert found["value"].tolist() == pytest.approx([2 / 3, 2 / 3, 0])
    assert found["support"].tolist() == [2, 1, 1]
    assert found["predicted"].tolist() == [1, 2, 0]
    assert found["hit"].tolist() == [1, 1, 0]
    assert semmetrics.score(PREDS, REFS, measures=["F1"]).scores[0].per_label is None
    assert semmetrics.score(PREDS, REFS, measures=["MacroF1"]).scores[0].items is None


def test_scores_outside_the_class_list_count_nowhere():
    preds = [[("zebra", 0.9), ("a", 0.8), ("yak", 0.7), ("b", 0.1)]]
    table = semmetrics.score(
        preds, [["a"]], measures=["RankingLoss", "LRAP", "CoverageError"], classes=["a", "b"]
    )
    assert [s.value for s in table] == [0.0, 1.0, 1.0]


def test_labels_without_a_score_tie_below():
    table = semmetrics.score(
        [[("a", 0.9), ("b", 0.5)]], [["b", "c"]], classes=list("abcd"),
        measures=["RankingLoss", "LRAP", "CoverageError"],
    )  # fmt: skip
    # b below a; c below a and tied with d
    assert [s.value for s in table] == [3 / 4, (1 / 2 + 2 / 4) / 2, 4.0]


def test_other_data_make_a_note():
    table = semmetrics.score_systems(
        {"all": by_id(PREDS), "some": {"x": ["a"]}}, by_id(REFS), measures="F1", missing="skip"
    )
    assert "different-items" in codes(table)


def test_progress_is_told():
    seen = []
    semmetrics.score(PREDS, REFS, measures="F1", progress=lambda *done: seen.append(done))
    assert seen == [(3, 3)]


def test_score_takes_what_score_systems_takes():
    known = set(inspect.signature(semmetrics.score_systems).parameters) - {"systems", "gts"}
    with refused("unknown-name"):
        semmetrics.score(PREDS, REFS, top=3)
    assert {"measures", "protocol", "top_k", "ci", "weights", "classes"} <= known


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": []}, "nothing-given"),
        ({"measures": ["F2"]}, "no measure 'F2'; did you mean "),
        ({"measures": [None]}, "bad-option"),
        ({"measures": ["mAP"]}, "mAP needs a score for each predicted label"),
        ({"measures": ["C-F1"]}, "labels=given needs classes="),
        ({"measures": ["F1(decode=threshold:0.5)"]}, "needs a score for each predicted label"),
        ({"decode": "threshold:best"}, "threshold:best needs a score"),
        ({"decode": []}, "bad-option"),
        ({"decode": ["all", "all"]}, "bad-option"),
        ({"decode": "best"}, "bad-option"),
        ({"keep_at_least": 2}, "needs-option"),
        ({"top_k": 0}, "bad-option"),
        ({"top_k": [1, 1]}, "bad-option"),
        ({"top_k": True}, "top_k=True; give a whole number, a list of whole numbers or a text"),
        ({"top_k": [1.5]}, r"top_k=\[1.5\]; give a whole number"),
        ({"task": "sounds"}, "bad-choice"),
        ({"missing": "drop"}, "missing='drop'"),
        ({"normalize": "upper"}, "bad-option"),
        ({"weights": [1, 2]}, "weights for 3 items|weights of shape"),
        ({"weights": [0, 0, 0]}, "zero-weights"),
        ({"weights": [1, -1, 1]}, "weight of item"),
        ({"classes": ["a", "b"]}, "the reference label 'c' is not in the class list"),
        ({"ci": True, "level": 95}, "bad-option"),
    ],
)
def test_errors(options, message):
    with refused(message):
        semmetrics.score(PREDS, REFS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "F1"}, r"no rule makes sets of them; give a cutoff \(F1@3\) or decode="),
        ({"measures": "MacroF1"}, "no rule makes sets of them"),
        ({"measures": "F1", "decode": "cardinality"}, "needs-option"),
        ({"measures": "F1", "decode": "cardinality", "set_size_probs": [["x"]]}, "wrong-type"),
        ({"measures": "F1", "decode": "cardinality", "set_size_probs": [[1, 0]]}, "shape"),
    ],
)
def test_errors_with_scores(options, message):
    with refused(message):
        semmetrics.score(SCORES, REFS, classes=CLASSES, **options)


def test_errors_of_input():
    with refused("nothing-given"):
        semmetrics.score_systems({}, REFS)
    with refused("the ground truth is a matrix of scores"):
        semmetrics.score(PREDS, SCORES)
    with refused("wrong-type"):
        semmetrics.score(3, REFS)
    with refused("preds lacks 1 of the ids: 'w'; add them"):
        semmetrics.score(by_id(PREDS), by_id(REFS) | {"w": []})


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


def test_recall_of_a_definition_is_the_named_one():
    assert semmetrics.score(PREDS, REFS, measures=[Recall])["Recall"].measure == Recall()


def test_a_frame_keeps_its_own_names_beside_a_class_list():
    scores = pd.DataFrame([[0.9, 0.1, 0.8], [0.2, 0.7, 0.1]], columns=["dog", "cat", "bus"])
    truth = [["dog", "bus"], ["cat"]]
    for classes in (["bus", "cat", "dog"], ["dog", "cat", "bus", "car"]):
        (found,) = semmetrics.score(
            scores, truth, measures=["F1"], decode="threshold:0.5", classes=classes
        )
        assert found.value == 1


def test_a_frame_without_names_takes_those_of_the_class_list():
    scores = pd.DataFrame([[0.9, 0.1], [0.2, 0.7]])
    (found,) = semmetrics.score(
        scores, [["dog"], ["cat"]], measures=["F1"], decode="threshold:0.5", classes=["dog", "cat"]
    )
    assert found.value == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("decode", 0.5), ("decode", ["top:1", 2]), ("top_k", 1.5), ("ci", 0.9), ("ci", "yes")],
)
def test_options_of_the_wrong_type(option, value):
    with refused(f"^{option}="):
        semmetrics.score([["a"]], [["a"]], measures=["F1"], **{option: value})


def test_things_that_are_no_mapping_from_names():
    with refused("wrong-type"):
        semmetrics.score_systems([[["a"]], [["b"]]], [["a"]])
    with refused("wrong-type"):
        semmetrics.rank_systems(["v1.json"])


def test_a_path_is_no_list_of_captions():
    with refused("wrong-type"):
        semmetrics.fit_document_frequencies("coco.json")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("metrics", "did you mean measures"),
        ("k", "did you mean top_k"),
        ("labels", "did you mean classes"),
        ("n_resamples", "did you mean resamples"),
        ("confidence", "did you mean level"),
        ("random_state", "did you mean seed"),
        ("thresholds", "did you mean threshold"),
        ("average", r"write it in the measure, as 'F1\(average=macro\)'"),
    ],
)
def test_names_of_other_libraries_are_understood(name, remedy):
    with refused(remedy):
        semmetrics.score([["cat"]], [["cat"]], **{name: 1})


# more likely another option, or said by the name of one measure alone
@pytest.mark.parametrize("name", ["average", "zero_division", "match", "sigma", "parser", "gain"])
def test_an_option_of_a_measure_is_shown_in_a_measure(name):
    with refused("unknown-name") as found:
        semmetrics.score([["cat"]], [["cat"]], **{name: "x"})
    shown = re.findall(r"'([^' ]+)'", found.value.remedy)
    assert shown
    assert all(parse(measure) for measure in shown)
