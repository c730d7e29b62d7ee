"""Notes and errors on labels and scores that are probably mistakes of the user."""

import pandas as pd
import pytest
from refusals import codes, facts, refused

import semmetrics


def note_codes(preds, gts, **options):
    """Return the codes of the notes of a score."""
    options = {"measures": "F1", **options}
    return codes(semmetrics.score(preds, gts, **options))


# Labels of one side


def test_sides_that_share_hardly_any_label_are_noted():
    preds = [[f"p{number}"] for number in range(20)]
    gts = [[f"g{number}"] for number in range(20)]

    (fact,) = semmetrics.score(preds, gts, measures="F1").facts

    assert fact.code == "one-sided-labels"
    assert fact.n == fact.values["total"] == 20
    assert fact.examples == ("p0",)
    assert note_codes([["g1"], ["g2"], *preds[2:]], gts) == []


@pytest.mark.parametrize(
    ("preds", "gts", "is_noted"),
    [
        ([["0", "2"], ["1"]], [["cat"], ["dog"]], True),
        ([["0", "2"], ["1"]], [["3"], ["4"]], False),
    ],
)
def test_numbers_against_names_are_noted_even_for_few_items(preds, gts, is_noted):
    assert ("one-sided-labels" in note_codes(preds, gts)) is is_noted


@pytest.mark.parametrize(
    ("true_columns", "expected"),
    [
        (["cat", "dog"], []),
        (["cat", "puppy"], ["one-sided-labels"]),
        (["cat", "Dog"], ["spelling"]),
    ],
)
def test_true_labels_without_a_column_of_scores_are_noted(true_columns, expected):
    scores = [[0.9, 0.1, 0.2], [0.2, 0.8, 0.1]]
    preds = pd.DataFrame(scores, index=["a", "b"], columns=["cat", "dog", "cow"])
    gts = pd.DataFrame([[1, 0], [0, 1]], index=["a", "b"], columns=true_columns)

    noted = note_codes(preds, gts, measures="mAP")

    assert [code for code in noted if code != "one-sided-columns"] == expected


# Spelling

COMPOSED = "caf\u00e9"
DECOMPOSED = "cafe\u0301"


@pytest.mark.parametrize(
    ("pred", "ref"),
    [(DECOMPOSED, COMPOSED), ("zebra\u200b", "zebra"), ("\ufeffcat", "cat")],
)
def test_labels_that_look_equal_and_are_not_are_noted(pred, ref):
    table = semmetrics.score([[pred], ["bus"]], [[ref], ["bus"]], measures="F1")

    (fact,) = facts(table, "other-encoding")
    assert fact.n == 1
    assert fact.where == "preds"


def test_columns_of_scores_that_look_equal_to_a_label_are_noted():
    scores = pd.DataFrame({"id": ["a", "b"], DECOMPOSED: [0.9, 0.1], "bus": [0.2, 0.8]})

    notes = note_codes(scores, {"a": [COMPOSED], "b": ["bus"]}, measures="mAP")

    assert "other-encoding" in notes


@pytest.mark.parametrize(
    ("pred", "ref"),
    [(DECOMPOSED, DECOMPOSED), (DECOMPOSED, "tea"), ("cafe", COMPOSED)],
)
def test_labels_that_do_not_look_equal_are_not_noted(pred, ref):
    assert "other-encoding" not in note_codes([[pred], ["bus"]], [[ref], ["bus"]])


def test_classes_that_differ_by_case_are_noted():
    preds = {"1": "cat", "2": "horse"}
    truth = {"1": "cat", "2": "Horse"}

    assert "lookalikes" in codes(semmetrics.score(preds, truth, task="classes"))
    with refused("similar-class", value="Horse", similar="horse"):
        semmetrics.score(preds, truth, task="classes", classes=["cat", "horse"])


# Lists and missing values


def test_parts_of_lists_that_a_delimiter_split_are_noted(tmp_path):
    path = tmp_path / "preds.csv"
    path.write_text("id,labels\na,\"['boat', 'bus']\"\nb,\"['cat']\"\n")
    gts = {"a": ["boat", "bus"], "b": ["cat"]}
    read = semmetrics.ReadOptions(label_delimiter=",")

    table = semmetrics.score(path, gts, measures="F1", read=read)

    (fact,) = facts(table, "lists-as-text")
    assert fact.n == 3
    assert note_codes(path, gts) == []
    assert note_codes([["[sic]", "cat's"]], [["cat's"]]) == []


NESTED = {"a": [["cat", "dog"]], "b": [["dog", "bus"]]}
FLAT = {"a": ["cat", "dog"], "b": ["dog", "bus"]}
SYNONYMS = {"a": [["sofa", "couch"]], "b": [["car", "auto"]]}
IDENTICAL = {"a": [["cat", "dog"]]}


@pytest.mark.parametrize(
    ("preds", "gts", "sides"),
    [
        (NESTED, FLAT, ["preds"]),
        (FLAT, NESTED, ["gts"]),
        (IDENTICAL, IDENTICAL, ["preds"]),
        ({"a": ["sofa"], "b": ["car"]}, SYNONYMS, []),
        (FLAT, {"a": [["cat", "kitty"], "dog"], "b": ["dog", ["bus", "coach"]]}, []),
        ({"a": ["cat"]}, {"a": [["cat", "kitty"]]}, []),
        ({"a": [["cat", 0.9]], "b": [["dog", 0.3]]}, FLAT, []),
    ],
)
def test_lists_in_lists_are_noted_unless_they_are_synonyms(preds, gts, sides):
    table = semmetrics.score(preds, gts, measures="F1", top_k=1)

    assert [fact.where for fact in facts(table, "nested-labels")] == sides


@pytest.mark.parametrize(
    ("preds", "truth", "n_notes"),
    [
        ([["nan"], ["N/A"], ["cat"]], [[], [], ["cat"]], 1),
        ([["nan"], ["cat"]], [["nan"], []], 2),
        ([["None"], ["cat"]], [["None"], ["cat"]], 0),
        ([["none", "cat"]], [["cat"]], 0),
    ],
)
def test_missing_values_written_as_labels_are_noted(preds, truth, n_notes):
    assert note_codes(preds, truth).count("missing-labels") == n_notes


def test_missing_values_may_be_classes():
    classes = ["none", "cat"]

    assert "missing-labels" not in note_codes([["none"]], [["cat"]], classes=classes)


# Scores


@pytest.mark.parametrize(
    ("highest", "threshold", "code"),
    [
        (98.0, 50.0, None),
        (98.0, "best", None),
        (1 + 1e-6, 0.5, None),
        (0.98, 0.99, "nothing-predicted"),
    ],
)
def test_a_threshold_above_all_scores_is_noted(highest, threshold, code):
    preds = {"1": {"cat": highest, "dog": highest / 50}, "2": {"dog": highest / 2}}

    notes = note_codes(preds, {"1": ["cat"], "2": ["dog"]}, threshold=threshold)

    threshold_notes = {"no-probabilities", "nothing-predicted"} & {*notes}
    assert threshold_notes == ({code} if code else set())


def test_a_threshold_between_0_and_1_for_scores_above_1_is_a_warning():
    preds = {"1": {"cat": 98.0, "dog": 2.0}}

    with pytest.warns(semmetrics.InputWarning, match="activation='sigmoid'"):
        notes = note_codes(preds, {"1": ["cat"]}, threshold=0.5)

    assert "no-probabilities" in notes


ROWS = {"id": ["a", "a", "b"], "label": ["cat", "dog", "bus"]}
TRUTH = {"a": ["dog"], "b": ["bus"]}


@pytest.mark.parametrize(
    ("columns", "measures", "examples"),
    [
        ({"logit": [1, 5, 2]}, "F1@1", [("logit",)]),
        ({"logit": [1, 5, 2]}, "F1", []),
        ({"logit": [1, 5, 2], "score": [1, 5, 2]}, "F1@1", []),
    ],
)
def test_the_order_of_rows_is_noted_if_a_column_may_have_scores(
    columns, measures, examples
):
    frame = pd.DataFrame({**ROWS, **columns})

    table = semmetrics.score(frame, TRUTH, measures=measures)

    assert [fact.examples for fact in facts(table, "order-of-file")] == examples


@pytest.mark.parametrize(
    ("column", "numbers", "is_noted"),
    [
        ("l2_dist", [0.2, 0.5, 0.1], True),
        ("distance", [-0.2, -0.5, -0.1], False),
        ("neg_distance", [0.2, 0.5, 0.1], False),
        ("distinct", [0.2, 0.5, 0.1], False),
    ],
)
def test_scores_with_the_name_of_a_distance_are_noted(column, numbers, is_noted):
    frame = pd.DataFrame({**ROWS, column: numbers})

    notes = note_codes(frame, TRUTH, pred_score_column=column)

    assert ("less-is-better" in notes) is is_noted


# Other inputs


def test_a_header_read_as_a_class_is_noted(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("class\ncat\ndog\n")
    options = {"measures": "HammingLoss", "classes": path}

    table = semmetrics.score([["cat"]], [["dog"]], **options)

    (fact,) = facts(table, "header-as-class")
    assert fact.values["name"] == "class"
    assert "header-as-class" not in note_codes([["cat"]], [["dog", "class"]], **options)


def test_a_path_as_a_label_to_ignore_is_noted(tmp_path):
    path = tmp_path / "ignore.txt"
    path.write_text("dog\n")

    assert "ignored-file" in note_codes([["cat"]], [["dog"]], ignore=[str(path)])
    assert "ignored-file" not in note_codes([["cat"]], [["dog"]], ignore=["no file"])


@pytest.mark.parametrize("name", ["word2vec-googlenews-300", "GoogleNews-vectors"])
def test_word2vec_has_the_threshold_of_its_paper(name):
    from semmetrics.embed.words import MatrixEmbedder

    model = MatrixEmbedder([[1.0, 0.0], [0.0, 1.0]], ["cat", "dog"], name=name)

    notes = note_codes([["cat"]], [["dog"]], measures="SemF1", embedding=model)

    assert notes == []


@pytest.mark.parametrize("threshold", ["abc", "0.5,abc", "nan"])
def test_a_threshold_that_is_not_a_number_is_named_as_the_option(threshold):
    # given a threshold that is neither a number nor "best"
    # then the error is about the option that was set
    with refused("bad-option", name="threshold"):
        semmetrics.score(
            {"a": {"cat": 0.5}}, {"a": ["cat"]}, measures="F1", threshold=threshold
        )
