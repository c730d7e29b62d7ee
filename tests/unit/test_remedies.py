"""What messages advise: remedies and notes that fit the input they are about."""

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
from semmetrics.messages import plural, pluralize


def test_a_few_columns_of_a_frame_hold_other_numbers():
    frame = pd.DataFrame(
        {"id": ["a", "b"], "x": [0.5, 0.1], "y": [0.1, 1.0], "epoch": [3, 3]}
    )
    truth = {"a": ["x"], "b": ["y"]}
    for form in (frame, pl.from_pandas(frame), frame.set_index("id")):
        said = [
            n
            for n in semmetrics.score(form, truth, measures="mAP").notes
            if "outside" in n
        ]
        assert said == [
            "preds: 1 column of 3 with numbers outside [0, 1]: 'epoch'; leave out what is not a "
            "label"
        ]
        assert any(
            "outside [0, 1]" in note for note in semmetrics.validate(form)["notes"]
        )
    logits = frame.assign(x=[-2.0, 5.0])  # most columns: scores of another range
    for form in (logits, frame.drop(columns="epoch")):
        notes = semmetrics.score(form, truth, measures="mAP").notes
        assert not any("outside" in note for note in notes)


@pytest.mark.parametrize("sign", [";", "|", "\t"])
def test_a_header_of_one_column_that_holds_a_delimiter(tmp_path, sign):
    path = saved(tmp_path, "p.csv", f"photo{sign}label\na{sign}x\n")
    with refused("other-delimiter", sign=sign):
        semmetrics.score(path, path, measures="F1")
    read = semmetrics.ReadOptions(delimiter=sign, id_column="photo")
    assert semmetrics.score(path, path, measures="F1", read=read)["F1"].value == 1.0


VECTOR, LISTS = [0, 1, 1], [[0], [1], [2]]
SIMILARITIES = np.eye(3)


@pytest.mark.parametrize("run", [SIMILARITIES, LISTS, [["a"], ["b"], ["c"]]])
def test_positives_of_retrieval_without_their_lists_show_the_form(run):
    with refused("number-as-list", "gts, item 0 (from 0)") as caught:
        semmetrics.score(run, VECTOR, task="retrieval")
    assert "[[0], ...]" in str(caught.value)
    assert "task=" not in str(caught.value)  # it is set


@pytest.mark.parametrize(
    ("preds", "gts", "code", "shown"),
    [
        ([["a"], None], [["a"], ["b"]], "wrong-type", '["cat", "dog"], or []'),
        (["a, b", "c"], [["a"], ["b"]], "text-as-list", '["a", "b"]'),
        (["traffic light", "c"], [["a"], ["b"]], "text-as-list", '["traffic light"]'),
        ({"x": "a;b"}, {"x": ["a"]}, "text-as-list", '["a", "b"]'),
        ({"x": "a" * 80}, {"x": ["a"]}, "text-as-list", '["cat", "dog"]'),
        ([0, 1], [["a"], ["b"]], "number-as-label", "task='classes'"),
        (np.array([0, 1]), [["a"], ["b"]], "vector-as-matrix", "task='classes'"),
    ],
)
def test_what_is_not_a_list_of_labels_shows_the_form(preds, gts, code, shown):
    with refused(code) as caught:
        semmetrics.score(preds, gts, measures="F1")
    assert shown in str(caught.value)


NAMES_OF_CLASSES = ["ant", "bee", "cat"]


@pytest.mark.parametrize(
    ("value", "classes", "code"),
    [
        (3, NAMES_OF_CLASSES, "number-outside-classes"),
        (40, NAMES_OF_CLASSES, "number-outside-classes"),
        (-1, NAMES_OF_CLASSES, "outside-classes"),
        ("dog", NAMES_OF_CLASSES, "outside-classes"),
        ("3", ["1", "2"], "outside-classes"),  # numbers are names of classes here
    ],
)
def test_a_number_after_the_last_class_asks_whether_the_file_counts_from_1(
    value, classes, code
):
    truth = [value] if isinstance(value, str) else [0, value]
    with refused(code) as caught:
        semmetrics.score(truth, truth, task="classes", classes=classes)
    assert ("counts from 1" in str(caught.value)) is (code == "number-outside-classes")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("coco", "coco-multilabel or coco-caption or coco-5k or coco-1k"),
        ("COCO", "coco-multilabel or coco-caption or coco-5k or coco-1k"),
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
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("metrics", "did you mean measures?"),
        ("nBoot", "did you mean resamples?"),
        ("tresh", "did you mean threshold?"),
        ("average", "F1(average=macro)"),
        ("foo", "the nearest are"),
        ("qqqqq", "see help(semmetrics.Scorer)"),
    ],
)
def test_the_nearest_options_are_suggested(name, remedy):
    with refused("unknown-name", what="option") as caught:
        semmetrics.Scorer(**{name: 1})
    assert remedy in str(caught.value)
    assert len(str(caught.value)) < 200
    assert "self" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["eval"], "did you mean score?"),
        (["Benchmark"], "did you mean score?"),
        (["comp"], "did you mean compare or completion?"),
        (["metrics"], "did you mean list?"),
        (["help"], "semmetrics --help"),
        (["mad", "sel"], "did you mean select?"),
        (["discrepancy"], "write: semmetrics mad select"),
        (["embed", "qqq"], "the commands are convert"),
        (["score", "--metrics", "F1"], "did you mean --measure?"),
        (["score", "--top_k", "3"], "did you mean --top-k?"),
        (["score", "--thresold", "3"], "did you mean --threshold?"),
        (["score", "--baseline", "a"], "it is an option of 'compare'"),
        (["score", "--qqqqq"], "semmetrics score --help"),
    ],
)
def test_commands_and_flags_are_suggested(capsys, arguments, remedy):
    assert program.main(arguments, standalone_mode=False) == 2
    assert remedy in capsys.readouterr().err


@pytest.mark.parametrize(
    ("noun", "many"),
    [
        ("key", "keys"),
        ("array", "arrays"),
        ("query", "queries"),
        ("category", "categories"),
        ("class", "classes"),
        ("box", "boxes"),
        ("match", "matches"),
        ("item", "items"),
        ("survey", "surveys"),
        ("toy", "toys"),
        ("image id", "image ids"),
        ("y", "ys"),
    ],
)
def test_plurals(noun, many):
    assert plural(noun) == many
    assert pluralize(1, noun) == f"1 {noun}"


def test_one_candidate_is_not_candidates():
    notes = semmetrics.score([[], ["a"]], [["a"], ["a"]], measures="HitRate@1,2").notes
    assert any("fewer than 1 candidate, counted" in note for note in notes)
    assert any("fewer than 2 candidates, counted" in note for note in notes)


SCORES, TRUE = np.array([[0.9, 0.2], [0.4, 0.6]]), np.array([[1, 0], [1, 1]])


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
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(TRUE.astype(float), TRUE)
    with refused("other-scores"):
        scorer.update(SCORES, TRUE)
    assert scorer.compute()["F1"].value == 1.0


def test_ids_without_named_rows_or_columns_lead_to_the_options():
    similarity = np.eye(2, 4)
    captions = {"42": ["7", "8"], "43": ["9", "10"]}
    with refused("outside-columns", n=4) as caught:
        semmetrics.score(similarity, captions, protocol="coco-5k")
    assert "queries='images.txt' gallery='captions.txt'" in str(caught.value)
    small = {"42": ["0", "1"], "43": ["2", "3"]}
    for given in ({}, {"gallery": ["7", "8", "9", "10"]}):
        with refused("outside-rows", n=2) as caught:
            truth = captions if given else small
            semmetrics.score(similarity, truth, protocol="coco-5k", **given)
        assert "queries='images.txt'" in str(caught.value)
    numbered = {"0": ["0", "1"], "1": ["2", "3"]}
    assert len(semmetrics.score(similarity, numbered, protocol="coco-5k"))


def test_a_wrong_choice_is_answered_with_the_nearest():
    with refused("bad-choice") as caught:
        check_choice("plot", "rankmat", ("values", "rank-matrix"))
    assert "did you mean rank-matrix?" in str(caught.value)
    with refused("bad-choice") as caught:
        check_choice("plot", "zzz", ("values", "rank-matrix"))
    assert "did you mean" not in str(caught.value)
    result = CliRunner().invoke(program, ["list", "protocl"])
    assert "did you mean protocols?" in result.stderr
    result = CliRunner().invoke(program, ["list", "zzz"])
    assert result.exit_code == 2
    assert "did you mean" not in result.stderr


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
def test_notes_on_options_without_effect_say_why(options, option, reason):
    scores = {"a": {"cat": 0.9, "dog": 0.3}, "b": {"dog": 0.8}}
    table = semmetrics.score(scores, {"a": ["cat"], "b": ["dog"]}, **options)
    (fact,) = facts(table, "no-effect-on")
    assert fact.values["option"] == option
    assert fact.values["on"].startswith(reason)


def test_numbers_in_place_of_labels_lead_to_an_array_or_to_strings():
    with refused("number-as-label") as caught:
        semmetrics.score([[1, 0, 1], [0, 1, 1]], [[1, 0, 1], [0, 1, 1]])
    assert "numpy.array(rows)" in str(caught.value)
    assert '"1"' in str(caught.value)


@pytest.mark.parametrize(
    "line", ["0 dog", "0: dog", "dog ", "Dog", "n02084071 dog, domestic dog"]
)
def test_a_class_list_with_another_spelling_shows_it(line):
    with refused("similar-class", value="dog", similar=line):
        semmetrics.score([["dog"]], [["dog"]], measures="F1", classes=["cat", line])


@pytest.mark.parametrize("line", ["hot dog", "dogs", "dog house"])
def test_other_classes_are_not_shown_as_spellings(line):
    with refused("outside-classes", value="dog"):
        semmetrics.score([["dog"]], [["dog"]], measures="F1", classes=["cat", line])


@pytest.mark.parametrize("entry", [None, []])
def test_an_entry_that_is_no_label_is_to_be_removed(entry):
    with refused("no-entry") as caught:
        semmetrics.as_labels({"a": ["cat", entry]})
    assert "remove it" in str(caught.value)


def test_measures_of_two_kinds_are_scored_in_separate_calls():
    captions = {"a": "a cat"}
    with refused("wrong-kind") as caught:
        semmetrics.score(captions, {"a": ["a cat"]}, measures="CIDEr-D F1")
    assert "in separate calls" in str(caught.value)
    with refused("wrong-kind") as caught:
        semmetrics.score({"a": ["x"]}, {"a": ["x"]}, measures="Accuracy F1")
    assert "write Jaccard" in str(caught.value)
