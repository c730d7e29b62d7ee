"""Text formats of machine learning tools: XMLC, fastText, ARFF and MATLAB."""

import pytest
from public_formats import measure_values
from reading import saved
from refusals import refused

from semmetrics import ReadOptions, as_captions, as_labels
from semmetrics.kinds.classes import as_classes


def test_xmlc_data_has_labels_before_features(tmp_path):
    path = saved(tmp_path, "test.txt", "3 5 4\n3,1 0:0.5 4:1.2\n 0:0.5\n2 1:1\n")

    assert as_labels(path).to_list() == [["3", "1"], [], ["2"]]


def test_xmlc_labels_have_no_scores_if_all_values_are_1(tmp_path):
    path = saved(tmp_path, "tst_X_Y.txt", "3 4\n1:1.00000 3:1.0\n\n2:1.0\n")

    lists = as_labels(path)

    assert lists.to_list() == [["1", "3"], [], ["2"]]
    assert lists.side.scores is None


def test_xmlc_predictions_have_scores(tmp_path):
    labels = saved(tmp_path, "tst_X_Y.txt", "3 4\n1:1.0 3:1.0\n\n2:1.0\n")
    preds = saved(tmp_path, "score.txt", "3 4\n1:0.25 3:0.75\n0:0.5\n2:0.5\n")

    values = measure_values(preds, labels, measures="Precision@1")

    assert values["Precision@1"] == pytest.approx(2 / 3)


def test_the_class_list_names_the_labels_of_xmlc(tmp_path):
    path = saved(tmp_path, "gt.txt", "2 4\n0:1\n2:1\n")
    preds = [["cat", "cow"], ["bus"]]
    options = {"measures": "HammingLoss", "classes": ["cat", "dog", "bus", "cow"]}

    assert measure_values(preds, path, **options)["HammingLoss"] == 1 / 8


def test_the_class_list_may_be_shorter_than_the_header_of_xmlc_says(tmp_path):
    path = saved(tmp_path, "gt.txt", "2 4\n0:1\n2:1\n")
    options = {"measures": "HammingLoss", "classes": ["cat", "dog", "bus"]}

    values = measure_values([["cat"], ["bus"]], path, **options)

    assert values["HammingLoss"] == 0.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("3 4\n1:1.0\n2:1.0\n", "wrong-count"),
        ("2 4\n1:1.0\n4:1.0\n", "wrong-content"),
        ("2 4\n1:1.0\n1:x\n", "not-a-number"),
    ],
)
def test_wrong_xmlc_files_are_an_error(tmp_path, text, code):
    path = saved(tmp_path, "y.txt", text)

    with refused(code):
        as_labels(path)


def test_fasttext_has_labels_before_a_text(tmp_path):
    text = "__label__cat __label__dog two of them\nnothing here\n__label__bus a bus\n"
    path = saved(tmp_path, "train.txt", text)

    assert as_labels(path).to_list() == [["cat", "dog"], [], ["bus"]]


def test_fasttext_predictions_have_a_score_after_each_label(tmp_path):
    text = "__label__cat 0.75 __label__bus 0.25\n__label__bus 1.0 __label__cat 1e-05\n"
    path = saved(tmp_path, "pred.txt", text)

    lists = as_labels(path)

    assert lists.to_list() == [["cat", "bus"], ["bus", "cat"]]
    assert lists.side.scores.tolist() == [0.75, 0.25, 1.0, 1e-05]


def test_an_option_reads_the_lines_of_a_text_format_as_captions(tmp_path):
    path = saved(tmp_path, "train.txt", "__label__cat two of them\n")

    captions = as_captions(path, options=ReadOptions(format="txt"))

    assert captions.to_list() == [["__label__cat two of them"]]


MEKA = """% a comment
@relation 'Example: -C 2 -split-number 1'
@attribute cat {0,1}
@attribute 'wild dog' {0,1}
@attribute x numeric
@data
1,0,0.5
1,1,0.25
0,0,1
"""


def test_the_first_attributes_of_arff_are_labels(tmp_path):
    path = saved(tmp_path, "a.arff", MEKA)

    assert as_labels(path).to_list() == [["cat"], ["cat", "wild dog"], []]


def test_the_last_attributes_of_arff_are_labels_if_their_number_is_negative(tmp_path):
    text = "@relation 'Example: -C -2'\n@attribute x numeric\n"
    text += "@attribute cat {0,1}\n@attribute dog {0,1}\n@data\n0.5,0,1\n0.25,1,0\n"
    path = saved(tmp_path, "a.arff", text)

    assert as_labels(path).to_list() == [["dog"], ["cat"]]


def test_the_only_nominal_attribute_of_arff_is_the_class(tmp_path):
    text = "@relation iris\n@attribute x numeric\n@attribute class {a,b}\n@data\n1,a\n2,b\n"
    path = saved(tmp_path, "a.arff", text)

    assert as_classes(path).to_list() == [["a"], ["b"]]


@pytest.mark.parametrize(
    "text",
    [
        MEKA.replace("1,0,0.5", "{0 1, 2 0.5}"),
        MEKA.replace(" -C 2", ""),
        MEKA.replace("x numeric", "x string"),
    ],
    ids=["sparse", "unknown number of labels", "text attribute"],
)
def test_arff_that_cannot_be_read_is_an_error_with_code(tmp_path, text):
    path = saved(tmp_path, "a.arff", text)

    with refused("format-recipe"):
        as_labels(path)


def test_matlab_is_an_error_with_code(tmp_path):
    path = saved(tmp_path, "res101.mat", b"MATLAB 5.0 MAT-file")

    with refused("format-recipe"):
        as_classes(path)


@pytest.mark.parametrize(
    "text",
    [
        "a cat\nthe dog\n",
        "3 dogs\n2 4 6\n",
        "12:30 a bus leaves\nnoon\n",
        "10 20\na cat\n",
    ],
)
def test_captions_that_look_like_a_text_format_are_captions(tmp_path, text):
    path = saved(tmp_path, "captions.txt", text)

    assert as_captions(path).to_list() == [[line] for line in text.splitlines()]
