"""What messages advise, for inputs and options that users get wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reading import saved
from refusals import facts, refused

import semmetrics
from semmetrics.arguments import check_choice
from semmetrics.cli.app import program

PREDS = {"a": ["cat", "dog"], "b": ["dog"]}
TRUTH = {"a": ["cat"], "b": ["dog", "cat"]}
SCORES = np.array([[0.9, 0.2], [0.4, 0.6]])
TRUE = np.array([[1, 0], [1, 1]])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write predictions and ground truth to the current folder, and return their names."""
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, "p.json", '{"a": ["cat", "dog"]}')
    saved(tmp_path, "g.json", '{"a": ["cat"]}')
    return ["p.json", "g.json"]


# ---- unknown names ------------------------------------------------------------------------------


def run_failing_command(arguments):
    """Run a command that exits with code 2."""
    assert program.main(arguments, standalone_mode=False) == 2


PROTOCOLS_OF_COCO = "coco-multilabel, coco-caption, coco-5k or coco-1k"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("coco", PROTOCOLS_OF_COCO),
        ("COCO", PROTOCOLS_OF_COCO),
        ("flickr30k", "f30k"),
        ("mscoco", "coco-caption"),
        ("xian", "xian2018"),
        ("eccvs", "eccv"),
        ("flickr8k-expert", "semmetrics meta"),
    ],
)
def test_protocols_are_suggested(name, remedy):
    with refused("unknown-name", what="protocol") as caught:
        semmetrics.score([["a"]], [["a"]], protocol=name)
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("metrics", "Did you mean measures?"),
        ("nBoot", "Did you mean resamples?"),
        ("tresh", "Did you mean threshold?"),
        ("average", "F1(average=macro)"),
        ("foo", "The nearest are"),
        ("qqqqq", "help(semmetrics.Scorer)"),
    ],
)
def test_options_are_suggested(name, remedy):
    with refused("unknown-name", what="option") as caught:
        semmetrics.Scorer(**{name: 1})

    message = str(caught.value)
    assert remedy in caught.value.remedy
    assert len(message) < 200
    assert "self" not in message


@pytest.mark.parametrize(
    ("name", "side"), [("y_true", "gts"), ("y_pred", "preds"), ("references", "gts")]
)
def test_names_of_sides_in_other_libraries_lead_to_ours(name, side):
    with refused("unknown-name", "score", value=name) as caught:
        semmetrics.score(PREDS, **{name: TRUTH})

    remedy = caught.value.remedy
    assert remedy.startswith(f"Did you mean {side}?")
    assert "predictions first" in remedy


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("eval", "Did you mean score?"),
        ("Benchmark", "Did you mean score?"),
        ("comp", "Did you mean compare or completion?"),
        ("metrics", "Did you mean list?"),
        ("help", "`semmetrics --help`"),
        ("mad sel", "Did you mean select?"),
        ("discrepancy", "`semmetrics mad select`"),
        ("embed qqq", "The commands are convert"),
        ("list protocl", "Did you mean protocols?"),
        ("explain f1score", "Did you mean F1?"),
        ("score --metrics F1", "Did you mean --measure?"),
        ("score --top_k 3", "Did you mean --top-k?"),
        ("score --thresold 3", "Did you mean --threshold?"),
        ("score --baseline a", "It is an option of 'compare'"),
        ("score --qqqqq", "`semmetrics score --help`"),
    ],
)
def test_commands_flags_and_measures_are_suggested(capsys, command, remedy):
    run_failing_command(command.split())

    assert remedy in capsys.readouterr().err


@pytest.mark.parametrize(("value", "is_similar"), [("rankmat", True), ("zzz", False)])
def test_only_similar_choices_are_suggested(value, is_similar):
    with refused("bad-choice") as caught:
        check_choice("plot", value, ("values", "rank-matrix"))

    is_suggested = "Did you mean rank-matrix?" in str(caught.value)
    assert is_suggested is is_similar


def test_an_argument_that_is_similar_to_no_choice_has_no_suggestion(capsys):
    run_failing_command(["list", "zzz"])

    assert "Did you mean" not in capsys.readouterr().err


# ---- the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("-m F1 SemF1", "-m 'F1 SemF1' or -m F1 -m SemF1"),
        ("-m F1,SemF1", "'F1 SemF1'"),
        ("-m F1 --ci 0.99", "--ci --level 0.99"),
        ("-m F1 --ci=0.99", "--ci --level"),
        ("-m SemF1 --threshold 0.5", "SemF1(threshold=0.5)"),
        ("-m mAP@0.5", "object detection"),
        ("-m F1@0.5", "F1(decode=threshold:0.5)"),
    ],
)
def test_frequent_mistakes_lead_to_what_to_write(files, capsys, line, remedy):
    run_failing_command(["score", *files, *line.split()])

    assert remedy in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_a_missing_file_is_not_always_a_measure(capsys):
    run_failing_command(["score", "-m", "F1", "p.jsn", "g.json"])

    assert "Did you mean 'p.json'" in capsys.readouterr().err


# ---- inputs of a wrong form ---------------------------------------------------------------------


LABELS = [["a"], ["b"]]
ROWS_OF_NUMBERS = [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("preds", "gts", "code", "example"),
    [
        ([["a"], None], LABELS, "wrong-type", '["cat", "dog"], or []'),
        (["a, b", "c"], LABELS, "text-as-list", '["a", "b"]'),
        (["traffic light", "c"], LABELS, "text-as-list", '["traffic light"]'),
        ({"x": "a;b"}, {"x": ["a"]}, "text-as-list", '["a", "b"]'),
        ({"x": "a" * 80}, {"x": ["a"]}, "text-as-list", '["cat", "dog"]'),
        ([0, 1], LABELS, "number-as-label", "task='classes'"),
        (ROWS_OF_NUMBERS, ROWS_OF_NUMBERS, "number-as-label", "numpy.array(rows)"),
        (np.array([0, 1]), LABELS, "vector-as-matrix", "task='classes'"),
    ],
)
def test_values_that_are_no_lists_of_labels_show_the_form(preds, gts, code, example):
    with refused(code) as caught:
        semmetrics.score(preds, gts, measures="F1")
    assert example in caught.value.remedy


@pytest.mark.parametrize("run", [np.eye(3), [[0], [1], [2]], [["a"], ["b"], ["c"]]])
def test_positives_that_are_no_lists_show_the_form(run):
    with refused("number-as-list", "gts, item 0 (from 0)") as caught:
        semmetrics.score(run, [0, 1, 1], task="retrieval")
    assert "[[0], ...]" in caught.value.remedy
    assert "task=" not in caught.value.remedy  # it is set


@pytest.mark.parametrize("systems", [[PREDS, PREDS], ["p.json", "q.json"]])
@pytest.mark.parametrize("function", [semmetrics.score_systems, semmetrics.compare])
def test_systems_in_a_list_lead_to_names(systems, function):
    with refused("wrong-type", "systems") as caught:
        function(systems, TRUTH)
    assert '{"ours": preds}' in caught.value.remedy


@pytest.mark.parametrize("text", ['{"a": {"cat": NaN}}', '{"a": ["cat", -Infinity]}'])
def test_nan_in_json_leads_to_missing_values(tmp_path, text):
    path = saved(tmp_path, "p.json", text)
    with refused("not-json") as caught:
        semmetrics.score(path, TRUTH, measures="mAP")
    assert "line 1, column" in caught.value.where
    assert "missing value" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": ["cat', "the string that starts here has no closing quote"),
        ('{"a": ["cat\ndog"]}', "a string contains a line break"),
        ('{"a": [1 2]}', "Expecting ',' delimiter"),
    ],
)
def test_errors_of_json_are_whole_sentences(tmp_path, text, problem):
    path = saved(tmp_path, "p.json", text)
    with refused("not-json") as caught:
        semmetrics.score(path, TRUTH)
    assert f": {problem}" in caught.value.problem
    assert not caught.value.problem.endswith(" at")


SWAPPED_NAMES = {"queries": ["a", "b", "c"], "gallery": ["q1", "q2", "q3", "q4", "q5"]}


@pytest.mark.parametrize(
    ("gts", "options", "code"),
    [
        (np.eye(5, 3), {"measures": "F1"}, "other-length"),
        ([0, 1, 2, 0, 1], {"measures": "Accuracy"}, "other-length"),
        ([["a"]] * 3, {"classes": ["a", "b", "c"]}, "classes-of-columns"),
        ([[0]] * 5, {"task": "retrieval"}, "transposed-names"),
        ({"q1": ["a"]}, {"task": "retrieval", **SWAPPED_NAMES}, "outside-gallery"),
    ],
)
def test_a_transposed_matrix_is_to_be_transposed(gts, options, code):
    matrix = np.eye(3, 5)

    with refused(code) as caught:
        semmetrics.score(matrix, gts, **options)
    assert "ranspose" in caught.value.remedy


@pytest.mark.parametrize("entry", [None, []])
def test_an_entry_that_is_no_label_is_to_be_removed(entry):
    with refused("no-entry") as caught:
        semmetrics.as_labels({"a": ["cat", entry]})
    assert caught.value.remedy.startswith("Remove it.")


@pytest.mark.parametrize("sign", [";", "|", "\t"])
def test_a_header_with_another_delimiter_leads_to_it(tmp_path, sign):
    path = saved(tmp_path, "p.csv", f"photo{sign}label\na{sign}x\n")
    read = semmetrics.ReadOptions(delimiter=sign, id_column="photo")

    with refused("other-delimiter", sign=sign):
        semmetrics.score(path, path, measures="F1")
    table = semmetrics.score(path, path, measures="F1", read=read)

    assert table["F1"].value == 1.0


PROBABILITIES = pd.DataFrame(
    {"id": ["a", "b"], "x": [0.5, 0.1], "y": [0.1, 1.0], "epoch": [3, 3]}
)
TRUE_COLUMNS = {"a": ["x"], "b": ["y"]}


@pytest.mark.parametrize(
    "table",
    [PROBABILITIES, pl.from_pandas(PROBABILITIES), PROBABILITIES.set_index("id")],
    ids=["pandas", "polars", "index"],
)
def test_columns_with_other_numbers_are_noted(table):
    scores = semmetrics.score(table, TRUE_COLUMNS, measures="mAP")
    notes = semmetrics.validate(table)["notes"]

    (note,) = facts(scores, "odd-columns")
    assert note.n == 1
    assert note.examples == ("epoch",)
    assert note.values["of"] == 3
    assert any("outside [0, 1]" in note for note in notes)


@pytest.mark.parametrize(
    "table",
    [PROBABILITIES.assign(x=[-2.0, 5.0]), PROBABILITIES.drop(columns="epoch")],
    ids=["most columns", "no column"],
)
def test_columns_of_one_range_or_of_logits_are_not_noted(table):
    scores = semmetrics.score(table, TRUE_COLUMNS, measures="mAP")

    assert not facts(scores, "odd-columns")


# ---- classes ------------------------------------------------------------------------------------


ANIMALS = ["ant", "bee", "cat"]


@pytest.mark.parametrize("number", [3, 40])
def test_a_number_after_the_last_class_may_count_from_1(number):
    truth = [0, number]

    with refused("number-outside-classes") as caught:
        semmetrics.score(truth, truth, task="classes", classes=ANIMALS)
    assert "counts from 1" in str(caught.value)


@pytest.mark.parametrize(
    ("truth", "classes"),
    [
        ([0, -1], ANIMALS),
        (["dog"], ANIMALS),
        (["3"], ["1", "2"]),  # the names of the classes are numbers
    ],
)
def test_other_unknown_classes_do_not_count_from_1(truth, classes):
    with refused("outside-classes") as caught:
        semmetrics.score(truth, truth, task="classes", classes=classes)
    assert "counts from 1" not in str(caught.value)


def score_dog(classes):
    semmetrics.score([["dog"]], [["dog"]], measures="F1", classes=classes)


@pytest.mark.parametrize(
    "line", ["0 dog", "0: dog", "dog ", "Dog", "n02084071 dog, domestic dog"]
)
def test_other_spellings_of_a_class_are_shown(line):
    with refused("similar-class", value="dog", similar=line):
        score_dog(["cat", line])


@pytest.mark.parametrize("line", ["hot dog", "dogs", "dog house"])
def test_classes_with_a_similar_name_are_not_shown(line):
    with refused("outside-classes", value="dog", similar=None):
        score_dog(["cat", line])


@pytest.mark.parametrize(
    ("model", "y", "example"),
    [
        ("binary", ["cat", "dog", "cat", "dog"], "pos_label='dog'"),
        ("several", ["a", "b", "c", "a"], "classes=['a', 'b', 'c']"),
    ],
)
def test_scorers_of_scikit_learn_ask_for_the_classes(model, y, example):
    linear_model = pytest.importorskip("sklearn.linear_model")
    from semmetrics.adapters.sklearn import make_scorer

    X = np.arange(8.0).reshape(4, 2)
    y = np.array(y)
    classifier = linear_model.LogisticRegression().fit(X, y)
    scorer = make_scorer("mAP")

    with refused("needs-option") as caught:
        scorer(classifier, X, y)
    assert example in caught.value.remedy


# ---- scores and scorers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measures", "code"),
    [
        ("F1", "no-rule"),
        ("mAP SubsetAccuracy", "no-rule"),
        ("SemF1(threshold=auto)", "no-rule"),
        ("F1(decode=cardinality)", "needs-option"),
        ("hF@1", "needs-option"),
    ],
)
def test_scores_without_a_threshold_fail_at_the_first_update(measures, code):
    scorer = semmetrics.Scorer(measures=measures)

    with refused(code):
        scorer.update(SCORES, TRUE)
    assert not len(scorer)


def test_lists_without_scores_fail_at_the_first_update():
    scorer = semmetrics.Scorer(measures="mAP")

    with refused("no-scores"):
        scorer.update([["a"]], [["a"]])


@pytest.mark.parametrize(
    "options",
    [
        {"measures": "F1", "threshold": 0.5},
        {"measures": "F1", "threshold": "best"},
        {"measures": "F1@1"},
        {"measures": "mAP"},
        {"protocol": "coco-multilabel"},
        {},
    ],
)
def test_scores_with_a_rule_are_accepted_by_update(options):
    scorer = semmetrics.Scorer(**options)

    scorer.update(SCORES, TRUE)

    assert len(scorer) == 2
    assert scorer.compute() == semmetrics.score(SCORES, TRUE, **options)


def test_a_batch_that_contradicts_the_first_one_changes_nothing():
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(TRUE.astype(float), TRUE)

    with refused("other-scores"):
        scorer.update(SCORES, TRUE)
    table = scorer.compute()

    assert table["F1"].value == 1.0


# ---- retrieval, options, and measures of several kinds ------------------------------------------


CAPTIONS = ["7", "8", "9", "10"]
CAPTIONS_OF_IMAGES = {"42": ["7", "8"], "43": ["9", "10"]}


@pytest.mark.parametrize(
    ("truth", "gallery", "code"),
    [
        (CAPTIONS_OF_IMAGES, None, "outside-columns"),
        ({"42": ["0", "1"], "43": ["2", "3"]}, None, "outside-rows"),
        (CAPTIONS_OF_IMAGES, CAPTIONS, "outside-rows"),
    ],
)
def test_ids_without_named_rows_or_columns_lead_to_options(truth, gallery, code):
    with refused(code) as caught:
        semmetrics.score(np.eye(2, 4), truth, protocol="coco-5k", gallery=gallery)
    assert "queries='images.txt'" in caught.value.remedy
    assert "gallery='captions.txt'" in caught.value.remedy


def test_ids_that_are_positions_need_no_names():
    truth = {"0": ["0", "1"], "1": ["2", "3"]}

    table = semmetrics.score(np.eye(2, 4), truth, protocol="coco-5k")

    assert len(table)


def test_one_candidate_is_not_candidates():
    table = semmetrics.score([[], ["a"]], [["a"], ["a"]], measures="HitRate@1,2")

    assert any("fewer than 1 candidate, counted" in note for note in table.notes)
    assert any("fewer than 2 candidates, counted" in note for note in table.notes)


@pytest.mark.parametrize(
    ("measures", "option", "value", "reason"),
    [
        ("F1 mAP", "threshold", 0.5, "mAP: computed from the scores"),
        ("F1 mAP", "top_k", 1, "mAP: computed from all predictions"),
        ("F1@2 F1", "top_k", 1, "F1@2: the cutoff in the name"),
    ],
)
def test_notes_on_options_without_effect_have_a_reason(measures, option, value, reason):
    scores = {"a": {"cat": 0.9, "dog": 0.3}, "b": {"dog": 0.8}}
    truth = {"a": ["cat"], "b": ["dog"]}

    table = semmetrics.score(scores, truth, measures=measures, **{option: value})

    (fact,) = facts(table, "no-effect-on")
    assert fact.values["option"] == option
    assert fact.values["on"].startswith(reason)


@pytest.mark.parametrize(
    ("preds", "gts", "measures", "remedy"),
    [
        ({"a": "a cat"}, {"a": ["a cat"]}, "CIDEr-D F1", "in separate calls"),
        ({"a": ["x"]}, {"a": ["x"]}, "Accuracy F1", "rite Jaccard"),
    ],
)
def test_measures_of_several_kinds_need_several_calls(preds, gts, measures, remedy):
    with refused("wrong-kind") as caught:
        semmetrics.score(preds, gts, measures=measures)
    assert remedy in caught.value.remedy


# ---- ids of a matrix ----------------------------------------------------------------------------


@pytest.mark.parametrize("measures", ["Recall@1", "Precision@1 Recall@1", None])
def test_a_matrix_without_ids_may_be_similarities_of_queries(measures):
    with refused("similarities-without-ids", "preds") as caught:
        semmetrics.score(SCORES, TRUTH, measures=measures)

    for option in ("task='retrieval'", "queries=", "gallery="):
        assert option in caught.value.remedy
    table = semmetrics.score(
        SCORES,
        {"a": ["dog"], "b": ["dog"]},
        task="retrieval",
        queries=["a", "b"],
        gallery=["cat", "dog"],
        measures="Recall@1",
    )
    assert table["Recall@1"].value == 0.5


def test_a_matrix_for_measures_of_labels_needs_ids():
    with refused("one-side-has-ids", "preds"):
        semmetrics.score(SCORES, TRUTH, measures="mAP")


def test_a_matrix_needs_a_class_for_each_column():
    with refused("classes-of-columns") as caught:
        semmetrics.score(SCORES, TRUE, classes=["a", "b", "c"], measures="mAP")
    assert str(caught.value).endswith(
        "the matrix has 2 columns, but there are 3 classes. Give one class for each column."
    )


def test_options_that_differ_are_named_without_a_sign():
    scorer = semmetrics.Scorer(measures="F1", missing="skip")
    with refused("different-scorers") as caught:
        scorer.merge(semmetrics.Scorer(measures="Recall"))
    assert "from before: measures, missing. " in str(caught.value)


# ---- numbers and choices ------------------------------------------------------------------------


QUOTES = "Write it without quotes: 0.9."
EXAMPLE = "Write a number such as 0.5."


@pytest.mark.parametrize(
    ("score", "remedy"),
    [("0.9", QUOTES), ("0_9", EXAMPLE), ("nan", EXAMPLE), ("high", EXAMPLE)],
)
@pytest.mark.parametrize("form", ["mapping", "lists"])
def test_a_score_in_quotes_leads_to_a_number(tmp_path, form, score, remedy):
    preds = {"a": {"cat": score}}
    if form == "lists":
        preds = [{"id": "a", "labels": ["cat"], "scores": [score]}]
    path = saved(tmp_path, "p.json", preds)

    with refused("not-a-number") as caught:
        semmetrics.score(path, {"a": ["cat"]}, measures="mAP")

    assert caught.value.remedy == remedy


@pytest.mark.parametrize(
    ("form", "hint"),
    [
        ("md", "The format of .md files is markdown."),
        ("tex", "The format of .tex files is latex."),
        (".HTM", "The format of .htm files is html."),
    ],
)
def test_an_extension_leads_to_its_format(files, capsys, form, hint):
    with refused("bad-choice") as caught:
        semmetrics.score(PREDS, TRUTH, measures="F1").render(form)
    run_failing_command(["score", "-m", "F1", "--format", form, *files])

    assert caught.value.remedy.endswith(hint)
    assert hint in capsys.readouterr().err


def test_averages_of_scikit_learn_lead_to_example():
    with refused("bad-choice") as caught:
        semmetrics.score(PREDS, TRUTH, measures="F1(average=samples)")

    assert caught.value.remedy.endswith("scikit-learn is called example here.")
