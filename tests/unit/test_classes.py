"""Classes: how scores, class lists and numbers of classes are read, and errors and notes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reading import saved
from refusals import codes, facts, refused

import semmetrics
from semmetrics.metrics.classes import PerClassAccuracy, per_class_accuracy
from semmetrics.metrics.stacking import ausuc

CLASSES = ["cat", "dog", "cow", "fox"]
SCORES = np.array(
    [
        [0.9, 0.1, 0.2, 0.0],
        [0.3, 0.2, 0.1, 0.0],
        [0.1, 0.5, 0.4, 0.0],
        [0.6, 0.1, 0.5, 0.0],
        [0.0, 0.1, 0.9, 0.2],
    ]
)
TRUTH = ["cat", "dog", "dog", "cow", "cow"]
TRUTH_LISTS = [[name] for name in TRUTH]
TRUTH_CODES = [0, 1, 1, 2, 2]
SIDES = {"seen": ["cat", "dog"], "unseen": ["cow", "fox"]}


def per_class(options):
    return f"PerClassAccuracy({options})"


def score(preds=SCORES, gts=TRUTH, **options):
    given = {"task": "classes", "classes": CLASSES, "measures": "PerClassAccuracy"}
    return semmetrics.score(preds, gts, **{**given, **options})


# ---- values -------------------------------------------------------------------------


def test_per_class_accuracy_equals_balanced_accuracy_of_scikit_learn():
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    scores = rng.random((500, 12)).round(2)
    truth = rng.integers(0, 9, 500)
    classes = [f"class {code}" for code in range(12)]
    names = [classes[code] for code in truth]

    (result,) = score(scores, names, classes=classes)

    with pytest.warns(UserWarning, match="not in y_true"):
        expected = sklearn_metrics.balanced_accuracy_score(truth, scores.argmax(axis=1))
    assert result.value == pytest.approx(expected, rel=1e-12)
    assert result.undefined == {"absent": 3}
    assert per_class_accuracy(scores, truth) == pytest.approx(expected, rel=1e-12)


def test_the_worst_item_has_its_class_rank_and_first_classes():
    record = score().worst(1)[0]

    assert record["class"] == "dog"
    assert record["rank"] == 2
    assert record["first"] == ["cat", "dog", "cow"]


def test_confusion_counts_true_and_predicted_classes():
    rows = []
    for record in score().confusion():
        rows.append((record["true"], record["predicted"], record["count"]))

    assert rows == [
        ("cat", "cat", 1),
        ("dog", "cat", 1),
        ("dog", "dog", 1),
        ("cow", "cat", 1),
        ("cow", "cow", 1),
    ]
    with refused("lacks-measure"):
        score(measures="PerClassAccuracy@2").confusion()


def test_the_area_under_the_curve_of_seen_and_unseen_classes_is_ausuc():
    table = score(**SIDES, measures="AUSUC BestH")

    curve = pd.DataFrame(list(table.curve()))
    area = np.trapezoid(curve.seen, curve.unseen)
    assert table["AUSUC"].value == pytest.approx(area)
    assert table["BestH"].value == curve.H.max()
    with refused("lacks-measure", what="a curve of seen and unseen accuracy"):
        score().curve()


# In floats, the four constants that make the classes equal differ, but all of them are 0.1.
CLOSE_SCORES = np.array([[0.3, 0.2], [0.8, 0.7], [0.6, 0.5], [1.0, 0.9]])
TWO_CLASSES = {"classes": ["a", "b"], "seen": ["a"], "unseen": ["b"]}
TWO_LISTS = {"seen": [0], "unseen": [1]}


@pytest.mark.parametrize("scores", [CLOSE_SCORES, CLOSE_SCORES + 4, CLOSE_SCORES * 10])
def test_constants_that_differ_by_rounding_are_equal(scores):
    table = score(scores, ["a", "b", "a", "b"], **TWO_CLASSES, measures="AUSUC BestH")

    assert [result.value for result in table] == [0.5, 0.0]
    assert ausuc(scores, [0, 1, 0, 1], **TWO_LISTS) == 0.5


def test_constants_that_differ_by_more_than_rounding_are_different():
    scores = CLOSE_SCORES.copy()
    scores[[1, 3], 0] += 1e-12

    assert ausuc(scores, [0, 1, 0, 1], **TWO_LISTS) == 0.0


def test_constants_of_float32_scores_differ_by_less():
    single = np.array([[0.25, 0], [0.25 + 2**-24, 0]], np.float32)

    assert ausuc(single, [0, 1], **TWO_LISTS) == 0.0
    assert ausuc(single, [1, 0], **TWO_LISTS) == 1.0


SMALL_INTEGERS = np.array([[3, 2], [2, 3], [3, 2]])


def test_stacking_of_large_integers_is_exact():
    scores = SMALL_INTEGERS + 2**53 - 4

    table = score(scores, ["a", "b", "b"], **TWO_CLASSES, measures="AUSUC")

    assert table["AUSUC"].value == 0.75
    assert ausuc(scores, [0, 1, 1], **TWO_LISTS) == 0.75


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_stacking_of_integers_beyond_floats_is_an_error(dtype):
    scores = (SMALL_INTEGERS + 2**53 - 3).astype(dtype)

    with refused("inexact"):
        ausuc(scores, [0, 1, 1], **TWO_LISTS)
    with refused("inexact", "preds"):
        score(scores, ["a", "b", "b"], **TWO_CLASSES, measures="AUSUC")
    assert score(scores, ["a", "b", "b"], **TWO_CLASSES)[0].value == 0.75


# ---- inputs -------------------------------------------------------------------------


TRUTH_ARRAY = np.array(TRUTH_CODES)
ONE_HOT = np.eye(4, dtype=int)[TRUTH_CODES]


@pytest.mark.parametrize(
    "truth",
    [TRUTH_CODES, TRUTH_ARRAY, TRUTH_LISTS, ONE_HOT],
    ids=["codes", "array", "lists", "one-hot"],
)
def test_every_form_of_the_truth_gives_the_same_values(truth):
    assert score(gts=truth).to_dict() == score().to_dict()


def test_numbers_in_the_truth_are_places_unless_they_are_names(tmp_path):
    np.save(tmp_path / "truth.npy", TRUTH_CODES)
    names = ["3", "1", "0", "2"]

    truth_names = [names[code] for code in TRUTH_CODES]

    by_place = score(gts=tmp_path / "truth.npy")
    by_name = score(gts=truth_names, classes=names)

    assert by_place.to_dict() == by_name.to_dict() == score().to_dict()
    assert "numbers-as-places" in codes(by_place)
    assert "numbers-as-places" not in codes(by_name)


def test_only_scores_of_candidates_are_checked(tmp_path):
    scores = SCORES.copy()
    scores[3, 0] = np.nan
    path = tmp_path / "scores.npy"
    np.save(path, scores)

    with refused("row 3, column 0"):
        score(path)
    score(path, **SIDES, measures=per_class("labels=unseen,candidates=unseen"))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"seen": ["cat", "dog"], "unseen": ["dog"]}, "seen-and-unseen"),
        ({"seen": ["cat", "cod"]}, "outside-classes"),
        ({"seen": []}, "bad-option"),
        ({"gts": ["cat", "dog", "dog", "cow", "cod"]}, "outside-classes"),
        ({"gts": [4, 1, 2, 3, 3]}, "number-outside-classes"),
        ({"gts": [-1, 1, 2, 3, 3]}, "outside-classes"),
        ({"gts": [["cat", "dog"], *TRUTH_LISTS[1:]]}, "several-classes"),
        ({"gts": [[], *TRUTH_LISTS[1:]]}, "wrong-count"),
        ({"gts": TRUTH[1:]}, "other-length"),
        ({"gts": np.array([[1, 0]] * 5), "classes": None}, "wrong-shape"),
        ({"classes": CLASSES[:3]}, "classes-of-columns"),
        ({"classes": None}, "outside-classes"),
        ({"preds": [[name, name] for name in TRUTH]}, "duplicate"),
        ({"task": None, "classes": None, "measures": None}, "unknown-kind"),
        ({"measures": "H"}, "unknown-side"),
        ({"measures": "H", "seen": CLASSES}, "empty-side"),
        ({"preds": TRUTH, **SIDES, "measures": "AUSUC"}, "measure-needs-scores"),
        ({"measures": per_class("labels=easy")}, "unknown class list 'easy'"),
        ({"measures": per_class("labels=M2")}, "needs-option"),
    ],
)
def test_invalid_input_is_an_error(options, code):
    with refused(code):
        score(**options)


def test_a_json_object_is_not_a_list_of_seen_classes(tmp_path):
    path = saved(tmp_path, "seen.json", {"cat": 0})

    with refused("wrong-type", str(path)):
        score(seen=path)


def test_single_words_may_be_classes_or_labels():
    with refused("ambiguous-kind"):
        semmetrics.score({"a": "cat"}, {"a": "dog"})


def test_a_code_outside_the_classes_is_an_error():
    truth = np.array([0, 1, 2**63, 2, 2], np.uint64)

    with refused("out-of-range", "truth, row 2 (from 0)", value=2**63):
        per_class_accuracy(SCORES, truth)


@pytest.mark.parametrize(
    ("missing", "accuracy", "notes"),
    [("skip", 1.0, set()), ("empty", 0.5, {"missing-prediction", "without-class"})],
)
def test_items_of_one_side_are_skipped_or_wrong(missing, accuracy, notes):
    preds = {"a": "cat", "b": "dog"}
    truth = {"a": "cat", "c": "cow"}

    table = score(preds, truth, missing=missing, measures="Accuracy")

    assert table[0].value == accuracy
    assert notes <= {*codes(table)}
    with refused("missing="):
        score(preds, truth)


# ---- notes --------------------------------------------------------------------------


def test_a_note_counts_predictions_with_fewer_classes_than_the_cutoff():
    table = score({"a": ["cat", "dog"]}, {"a": "dog"}, measures="PerClassAccuracy@3")

    assert table[0].value == 1.0
    assert "fewer-classes" in codes(table)


def test_a_note_says_that_there_are_fewer_candidates_than_the_cutoff():
    measure = per_class("labels=unseen,candidates=unseen") + "@3"

    (fact,) = facts(score(**SIDES, measures=measure), "few-classes")

    assert fact.where == "preds"
    assert fact.values["n_classes"] == 2
    assert fact.values["k"] == "3"


def test_a_note_says_that_only_one_side_of_the_classes_is_known():
    by_default = semmetrics.score(TRUTH, TRUTH, task="classes", seen=["cat"])
    of_seen = semmetrics.score(TRUTH, TRUTH, measures="SeenAccuracy", seen=["cat"])

    assert "unknown-side" in codes(by_default)
    assert "unknown-side" not in codes(of_seen)
    assert "empty-side" in codes(score(seen=CLASSES, measures=None))


def test_classes_that_are_not_seen_are_unseen():
    table = score(seen=["cat", "dog"], measures="UnseenAccuracy")

    assert table[0].value == 0.5
    (fact,) = facts(table, "rest-of-classes")
    assert fact.values["side"] == "unseen"


def test_notes_of_batches_count_all_items(monkeypatch):
    monkeypatch.setattr("semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER", 1)
    preds = ["cod", "dog", "ant", "cow", "cat"]
    options = {"classes": CLASSES, "seen": ["cat"], "unseen": ["cow"]}
    scorer = semmetrics.Scorer(measures="PerClassAccuracy", keep_rows=False, **options)
    for pred, name in zip(preds, TRUTH, strict=True):
        scorer.update([pred], [name])

    table = scorer.compute()

    expected = score(preds, **options)
    assert sorted(table.notes) == sorted(expected.notes)
    counts = [(fact.code, fact.n, fact.examples) for fact in table.facts]
    assert sorted(counts) == [
        ("classes-without-images", 1, ("fox",)),
        ("neither-side", 2, ()),
        ("predicted-outside", 2, ("ant", "cod")),
        ("run-of-classes", 5, ()),
    ]


# ---- lists and numbers of classes ---------------------------------------------------


@pytest.mark.parametrize("columns", [["class", "images"], ["id", "number"]])
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_populations_are_read_from_tables(tmp_path, columns, form):
    rows = [("cat", 9), ("dog", 8), ("cow", 7), ("fox", 6)]
    populations = pd.DataFrame(rows, columns=columns)
    if form == "csv":
        path = tmp_path / "populations.csv"
        populations.to_csv(path, index=False)
        populations = path

    table = score(populations=populations, measures=per_class("labels=M2"))

    assert table[0].per_label["label"].tolist() == ["cat", "dog"]


def test_a_note_names_unused_columns_of_populations():
    rows = {"Class": CLASSES, "population": [9, 8, 7, 6], "hops": [1, 1, 1, 1]}

    table = score(populations=pd.DataFrame(rows), measures=per_class("labels=M2"))

    assert any("not used: 'hops'" in note for note in table.notes)


def test_numbers_and_names_of_classes_may_be_strings_or_integers():
    populations = {"cow": "10", "fox": "9"}
    of_names = score(**SIDES, populations=populations, measures=per_class("labels=M2"))

    classes = ["0", "1", "2", "3"]
    sides = {"seen": ["0", "1"], "unseen": ["2", "3"], "hops": {2: 2, 3: 4}}
    options = {"classes": classes, **sides, "measures": per_class("labels=2H")}
    of_integers = score(gts=TRUTH_CODES, **options)

    assert of_names[0].value == of_integers[0].value == 0.5


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ({"cow": None, "fox": 1}, "not-a-number"),
        ({"cow": float("nan"), "fox": 1}, "not-finite"),
        ({"cow": np.True_, "fox": 1}, "not-a-number"),
        ({"cow": -1, "fox": 1}, "out-of-range"),
        ({2: 1, "2": 1}, "duplicate"),
    ],
)
def test_invalid_numbers_of_classes_are_errors(numbers, code):
    with refused(code):
        score(**SIDES, hops=numbers, measures=per_class("labels=2H"))


EQUAL_POPULATIONS = {"cat": 1, "dog": 1, "cow": 1, "fox": 1}


@pytest.mark.parametrize(("name", "sides"), [("M9", {}), ("M3", SIDES)])
def test_lists_of_the_most_frequent_classes_need_enough_classes(name, sides):
    measure = per_class(f"labels={name}")

    with refused("out-of-range"):
        score(measures=measure, populations=EQUAL_POPULATIONS, **sides)


def test_lists_of_the_most_frequent_classes_need_all_populations():
    with refused("without-value"):
        score(measures=per_class("labels=M2"), populations={"cat": 3})


@pytest.mark.parametrize("hops", [{"cat": 3}, {"cod": 1}, {"fox": 3, "cow": 4}])
def test_a_list_of_classes_within_hops_must_not_be_empty(hops):
    with refused("empty-list"):
        score(measures=per_class("labels=2H"), hops=hops)


@pytest.mark.parametrize(
    ("hops", "notes"),
    [
        ({"fox": 1}, {"unnumbered-classes"}),
        ({"fox": 1, "wolf": 1}, {"unnumbered-classes", "numbers-of-no-class"}),
        ({"fox": 1, "cow": 3, "cat": 0}, set()),
    ],
)
def test_notes_name_classes_without_a_number_and_numbers_without_a_class(hops, notes):
    table = score(**SIDES, measures=per_class("labels=2H"), hops=hops)

    assert {"unnumbered-classes", "numbers-of-no-class"} & {*codes(table)} == notes


@pytest.mark.parametrize("measure", ["H", per_class("labels=mine")])
def test_a_signature_with_class_lists_can_be_rescored(measure):
    lists = {**SIDES, "class_lists": {"mine": ["dog", "cow"]}}
    other_lists = {**SIDES, "seen": ["cat"], "class_lists": {"mine": ["dog"]}}
    (result,) = score(**lists, measures=measure)

    def rescore(**lists):
        return semmetrics.rescore(result.signature, SCORES, TRUTH, **lists)

    again = rescore(classes=CLASSES, **lists)
    differences = rescore(classes=CLASSES, **other_lists).differences

    assert again[0].value == result.value
    assert again.differences == []
    assert any("the seen classes differ" in line for line in differences)
    names_list = any("a list of classes differs" in line for line in differences)
    assert names_list == ("mine" in measure)
    with refused("signed-input"):
        rescore()


@pytest.mark.parametrize("name", ["auto", "reference", "union", "given"])
def test_names_of_built_in_lists_are_reserved(name):
    with refused("reserved-list"):
        score(**SIDES, class_lists={name: ["cat"]})
    with refused("bad-option", name="candidates"):
        PerClassAccuracy(candidates=name)


@pytest.mark.parametrize(
    ("truth", "options", "place"),
    [
        (["zebra", "ox"], {}, "gts, item 0 (from 0)"),
        ([0, 1], {"seen": ["zebra"]}, "seen"),
    ],
)
def test_names_need_names_of_the_columns(truth, options, place):
    # given a matrix without names of its columns, and classes that are named
    # then the error asks for the names of the columns
    with refused("outside-classes", place, value="zebra") as caught:
        semmetrics.score(np.eye(2), truth, task="classes", **options)
    assert str(caught.value).endswith("Name the classes with classes=.")


def test_a_class_of_another_case_needs_the_same_spelling():
    # given a class whose name has another case in the class list
    with refused("similar-class", value="Zebra") as caught:
        semmetrics.score(
            np.eye(2), ["Zebra", "ox"], task="classes", classes=["zebra", "ox"]
        )
    # then the error asks for the same spelling
    assert "same spelling" in str(caught.value)
