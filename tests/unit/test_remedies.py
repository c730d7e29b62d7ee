"""What messages advise, for inputs and options that users get wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
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


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("coco", "coco-multilabel, coco-caption, coco-5k or coco-1k"),
        ("COCO", "coco-multilabel, coco-caption, coco-5k or coco-1k"),
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
    assert remedy in caught.value.remedy
    assert len(str(caught.value)) < 200
    assert "self" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "side"), [("y_true", "gts"), ("y_pred", "preds"), ("references", "gts")]
)
def test_names_of_sides_in_other_libraries_lead_to_ours(name, side):
    with refused("unknown-name", "score", value=name) as caught:
        semmetrics.score(PREDS, **{name: TRUTH})
    assert caught.value.remedy.startswith(f"Did you mean {side}?")
    assert "predictions first" in caught.value.remedy


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["eval"], "Did you mean score?"),
        (["Benchmark"], "Did you mean score?"),
        (["comp"], "Did you mean compare or completion?"),
        (["metrics"], "Did you mean list?"),
        (["help"], "`semmetrics --help`"),
        (["mad", "sel"], "Did you mean select?"),
        (["discrepancy"], "`semmetrics mad select`"),
        (["embed", "qqq"], "The commands are convert"),
        (["list", "protocl"], "Did you mean protocols?"),
        (["explain", "f1score"], "Did you mean F1?"),
        (["score", "--metrics", "F1"], "Did you mean --measure?"),
        (["score", "--top_k", "3"], "Did you mean --top-k?"),
        (["score", "--thresold", "3"], "Did you mean --threshold?"),
        (["score", "--baseline", "a"], "It is an option of 'compare'"),
        (["score", "--qqqqq"], "`semmetrics score --help`"),
    ],
)
def test_commands_flags_and_measures_are_suggested(capsys, arguments, remedy):
    assert program.main(arguments, standalone_mode=False) == 2
    assert remedy in capsys.readouterr().err


def test_only_similar_choices_are_suggested():
    # given a choice that is similar to an allowed one, or not
    for value, is_similar in (("rankmat", True), ("zzz", False)):
        with refused("bad-choice") as caught:
            check_choice("plot", value, ("values", "rank-matrix"))
        assert ("Did you mean rank-matrix?" in str(caught.value)) is is_similar
    result = CliRunner().invoke(program, ["list", "zzz"])
    assert result.exit_code == 2
    assert "Did you mean" not in result.stderr


# ---- the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["-m", "F1", "SemF1"], "-m 'F1 SemF1' or -m F1 -m SemF1"),
        (["-m", "F1,SemF1"], "'F1 SemF1'"),
        (["-m", "F1", "--ci", "0.99"], "--ci --level 0.99"),
        (["-m", "F1", "--ci=0.99"], "--ci --level"),
        (["-m", "SemF1", "--threshold", "0.5"], "SemF1(threshold=0.5)"),
        (["-m", "mAP@0.5"], "object detection"),
        (["-m", "F1@0.5"], "F1(decode=threshold:0.5)"),
    ],
)
def test_frequent_mistakes_lead_to_what_to_write(files, capsys, arguments, remedy):
    assert program.main(["score", *files, *arguments], standalone_mode=False) == 2
    assert remedy in capsys.readouterr().err


def test_a_missing_file_is_not_always_a_measure(files, capsys):
    arguments = ["score", "-m", "F1", "p.jsn", "g.json"]
    assert program.main(arguments, standalone_mode=False) == 2
    assert "Did you mean 'p.json'" in capsys.readouterr().err


# ---- inputs of a wrong form ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preds", "gts", "code", "example"),
    [
        ([["a"], None], [["a"], ["b"]], "wrong-type", '["cat", "dog"], or []'),
        (["a, b", "c"], [["a"], ["b"]], "text-as-list", '["a", "b"]'),
        (["traffic light", "c"], [["a"], ["b"]], "text-as-list", '["traffic light"]'),
        ({"x": "a;b"}, {"x": ["a"]}, "text-as-list", '["a", "b"]'),
        ({"x": "a" * 80}, {"x": ["a"]}, "text-as-list", '["cat", "dog"]'),
        ([0, 1], [["a"], ["b"]], "number-as-label", "task='classes'"),
        ([[1, 0], [0, 1]], [[1, 0], [0, 1]], "number-as-label", "numpy.array(rows)"),
        (np.array([0, 1]), [["a"], ["b"]], "vector-as-matrix", "task='classes'"),
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
def test_systems_in_a_list_lead_to_names(systems):
    for function in (semmetrics.score_systems, semmetrics.compare):
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
    ("preds", "gts", "options", "code"),
    [
        (np.eye(3, 5), np.eye(5, 3), {"measures": "F1"}, "other-length"),
        (np.eye(3, 5), [0, 1, 2, 0, 1], {"measures": "Accuracy"}, "other-length"),
        (np.eye(3, 5), [["a"]] * 3, {"classes": ["a", "b", "c"]}, "wrong-count"),
        (np.eye(5, 3), [[0], [1, 2], [3]], {"task": "retrieval"}, "transposed-names"),
        (
            np.eye(2, 3),
            {"q1": ["a"], "q2": ["b"]},
            {"task": "retrieval", "queries": ["a", "b"], "gallery": ["q1", "q2", "q3"]},
            "outside-gallery",
        ),
    ],
)
def test_a_transposed_matrix_is_to_be_transposed(preds, gts, options, code):
    with refused(code) as caught:
        semmetrics.score(preds, gts, **options)
    assert "ranspose" in caught.value.remedy


@pytest.mark.parametrize("entry", [None, []])
def test_an_entry_that_is_no_label_is_to_be_removed(entry):
    with refused("no-entry") as caught:
        semmetrics.as_labels({"a": ["cat", entry]})
    assert caught.value.remedy.startswith("Remove it.")


@pytest.mark.parametrize("sign", [";", "|", "\t"])
def test_a_header_with_another_delimiter_leads_to_it(tmp_path, sign):
    # given a file with another delimiter
    path = saved(tmp_path, "p.csv", f"photo{sign}label\na{sign}x\n")
    with refused("other-delimiter", sign=sign):
        semmetrics.score(path, path, measures="F1")
    # when the delimiter is set, then the file is read
    read = semmetrics.ReadOptions(delimiter=sign, id_column="photo")
    assert semmetrics.score(path, path, measures="F1", read=read)["F1"].value == 1.0


def test_columns_with_other_numbers_are_noted():
    # given a table of probabilities with a column of another range
    frame = pd.DataFrame(
        {"id": ["a", "b"], "x": [0.5, 0.1], "y": [0.1, 1.0], "epoch": [3, 3]}
    )
    truth = {"a": ["x"], "b": ["y"]}
    for table in (frame, pl.from_pandas(frame), frame.set_index("id")):
        # then a note has the name of the column
        (note,) = facts(semmetrics.score(table, truth, measures="mAP"), "odd-columns")
        assert (note.n, note.examples, note.values["of"]) == (1, ("epoch",), 3)
        notes = semmetrics.validate(table)["notes"]
        assert any("outside [0, 1]" in note for note in notes)
    # given no such column, or logits in most columns, then there is no note
    for table in (frame.assign(x=[-2.0, 5.0]), frame.drop(columns="epoch")):
        found = semmetrics.score(table, truth, measures="mAP")
        assert facts(found, "odd-columns") == []


# ---- classes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "classes", "code"),
    [
        (3, ["ant", "bee", "cat"], "number-outside-classes"),
        (40, ["ant", "bee", "cat"], "number-outside-classes"),
        (-1, ["ant", "bee", "cat"], "outside-classes"),
        ("dog", ["ant", "bee", "cat"], "outside-classes"),
        ("3", ["1", "2"], "outside-classes"),  # the names of the classes are numbers
    ],
)
def test_a_number_after_the_last_class_may_count_from_1(value, classes, code):
    truth = [value] if isinstance(value, str) else [0, value]
    with refused(code) as caught:
        semmetrics.score(truth, truth, task="classes", classes=classes)
    assert ("counts from 1" in str(caught.value)) is (code == "number-outside-classes")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("0 dog", "similar-class"),
        ("0: dog", "similar-class"),
        ("dog ", "similar-class"),
        ("Dog", "similar-class"),
        ("n02084071 dog, domestic dog", "similar-class"),
        ("hot dog", "outside-classes"),
        ("dogs", "outside-classes"),
        ("dog house", "outside-classes"),
    ],
)
def test_only_other_spellings_of_a_class_are_shown(line, code):
    with refused(code, value="dog") as caught:
        semmetrics.score([["dog"]], [["dog"]], measures="F1", classes=["cat", line])
    assert caught.value.values.get("similar", line) == line


@pytest.mark.parametrize(
    ("model", "y", "example"),
    [
        ("binary", ["cat", "dog", "cat", "dog"], "pos_label='dog'"),
        ("several", ["a", "b", "c", "a"], "classes=['a', 'b', 'c']"),
    ],
)
def test_scorers_of_scikit_learn_ask_for_the_classes(model, y, example):
    # given a classifier with names of classes
    linear_model = pytest.importorskip("sklearn.linear_model")
    X = np.arange(8.0).reshape(4, 2)
    classifier = linear_model.LogisticRegression().fit(X, np.array(y))
    # when a measure needs its scores
    from semmetrics.adapters.sklearn import make_scorer

    with refused("needs-option") as caught:
        make_scorer("mAP")(classifier, X, np.array(y))
    # then the message shows the option with these names
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
    with refused("no-scores"):
        semmetrics.Scorer(measures="mAP").update([["a"]], [["a"]])


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
    # given a scorer with a batch of 0/1
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(TRUE.astype(float), TRUE)
    # when a batch has other scores, then it is an error
    with refused("other-scores"):
        scorer.update(SCORES, TRUE)
    # and the first batch can still be scored
    assert scorer.compute()["F1"].value == 1.0


# ---- retrieval, options, and measures of several kinds ------------------------------------------


@pytest.mark.parametrize(
    ("truth", "options", "code"),
    [
        ({"42": ["7", "8"], "43": ["9", "10"]}, {}, "outside-columns"),
        ({"42": ["0", "1"], "43": ["2", "3"]}, {}, "outside-rows"),
        (
            {"42": ["7", "8"], "43": ["9", "10"]},
            {"gallery": ["7", "8", "9", "10"]},
            "outside-rows",
        ),
    ],
)
def test_ids_without_named_rows_or_columns_lead_to_options(truth, options, code):
    with refused(code) as caught:
        semmetrics.score(np.eye(2, 4), truth, protocol="coco-5k", **options)
    assert "queries='images.txt'" in caught.value.remedy
    assert "gallery='captions.txt'" in caught.value.remedy


def test_ids_that_are_positions_need_no_names():
    truth = {"0": ["0", "1"], "1": ["2", "3"]}
    assert len(semmetrics.score(np.eye(2, 4), truth, protocol="coco-5k"))


def test_one_candidate_is_not_candidates():
    notes = semmetrics.score([[], ["a"]], [["a"], ["a"]], measures="HitRate@1,2").notes
    assert any("fewer than 1 candidate, counted" in note for note in notes)
    assert any("fewer than 2 candidates, counted" in note for note in notes)


@pytest.mark.parametrize(
    ("options", "option", "reason"),
    [
        (
            {"measures": "F1 mAP", "threshold": 0.5},
            "threshold",
            "mAP: computed from the scores",
        ),
        (
            {"measures": "F1 mAP", "top_k": 1},
            "top_k",
            "mAP: computed from all predictions",
        ),
        ({"measures": "F1@2 F1", "top_k": 1}, "top_k", "F1@2: the cutoff in the name"),
    ],
)
def test_notes_on_options_without_effect_have_a_reason(options, option, reason):
    scores = {"a": {"cat": 0.9, "dog": 0.3}, "b": {"dog": 0.8}}
    table = semmetrics.score(scores, {"a": ["cat"], "b": ["dog"]}, **options)
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
