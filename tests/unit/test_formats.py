"""What applies to all public file formats: recognition, batches, streams and errors."""

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from public_formats import items_by_id, measure_values
from reading import saved
from refusals import refused

import semmetrics
from semmetrics import as_captions, as_labels
from semmetrics.data.form import EXTENSIONS
from semmetrics.data.formats.base import ScoredLabels
from semmetrics.data.inputs import as_data
from semmetrics.errors import InputError
from semmetrics.kinds import resolve_kind
from semmetrics.kinds.captions import FORM
from semmetrics.options import FORMATS
from semmetrics.scale.stream import score_stream

# Recognition

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
EXAMPLES = re.findall(
    r"```(json|text|xml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)
SUFFIXES = {
    "__label__": "txt",
    "@relation": "arff",
    "2 4": "txt",
    "1000268201": "token",
}
"""The file name extensions of examples that are not JSON, XML or CSV, by how they begin."""


def suffix_of_example(language, example):
    """Return the file name extension of an example of the page."""
    if language != "text":
        return language
    for beginning, suffix in SUFFIXES.items():
        if example.startswith(beginning):
            return suffix
    return "csv"


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_examples_of_the_documentation_are_read(tmp_path, language, example):
    suffix = suffix_of_example(language, example)
    path = saved(tmp_path, f"example.{suffix}", example)
    if "timestamps" in example:
        with refused("format-recipe"):
            as_captions(path)
        return

    kind = resolve_kind(path).kind
    read = {"labels": as_labels, "captions": as_captions}[kind]
    lists = read(path)

    assert len(lists.side.codes)
    assert not lists.understood.startswith(("JSON,", "CSV,"))


@pytest.mark.parametrize(
    ("document", "labels"),
    [
        (
            {"classes": ["cat"], "labels": ["dog"]},
            {"classes": ["cat"], "labels": ["dog"]},
        ),
        (
            {"classes": {"x": 0.5}, "labels": {"y": 0.5}},
            {"classes": ["x"], "labels": ["y"]},
        ),
        ({"a": {"detections": 1, "cat": 0}}, {"a": ["detections"]}),
        ([{"id": "a", "labels": ["x"], "data": {"k": 1}}], {"a": ["x"]}),
        ({"items": ["x"], "categories": ["y"]}, {"items": ["x"], "categories": ["y"]}),
    ],
)
def test_plain_labels_with_the_keys_of_a_format_are_plain_labels(document, labels):
    assert items_by_id(as_labels(document)) == labels


@pytest.mark.parametrize(
    ("document", "captions"),
    [
        (
            {"videos": ["a video"], "sentences": ["a cat"]},
            {"videos": ["a video"], "sentences": ["a cat"]},
        ),
        ({"data": ["a cat sleeps"]}, {"data": ["a cat sleeps"]}),
        ([{"image_id": 1, "image": "a.jpg", "caption": ["a cat"]}], {"1": ["a cat"]}),
    ],
)
def test_plain_captions_with_the_keys_of_a_format_are_plain_captions(
    document, captions
):
    assert items_by_id(as_captions(document)) == captions


@pytest.mark.parametrize("label", [7, None, ["cat"]])
def test_a_label_that_is_not_a_string_is_an_error_with_its_place(label):
    # given
    gathered = ScoredLabels("results.json")

    # when, then
    with refused("wrong-type", "results.json, element [3]", value=label):
        gathered.add("a", label, None, "results.json, element [3]")


# General formats


@pytest.mark.parametrize("name", FORMATS)
def test_each_general_format_has_a_reader(tmp_path, name):
    # given a damaged file, which a reader refuses or reads as text
    path = saved(tmp_path, "items", "{")
    form = replace(FORM, formats=tuple(FORMATS))
    options = semmetrics.ReadOptions(format=name)

    # when it is read, then there is no error of another type
    with contextlib.suppress(InputError):
        as_data(path, form, options=options)


def test_a_general_format_without_a_reader_is_not_read_as_json(tmp_path, monkeypatch):
    # given a file that would be valid JSON
    path = saved(tmp_path, "items.new", json.dumps({"a": "a cat"}))
    monkeypatch.setitem(EXTENSIONS, ".new", "new")
    form = replace(FORM, formats=(*FORMATS, "new"))

    # when it is read, then the error names the format
    with pytest.raises(NotImplementedError, match="'new'"):
        as_data(path, form)


FIFTYONE = {"classes": ["cat", "dog", "bus", "cow"], "labels": {"a": 1, "b": [0]}}


COCO = {"image_id": 1, "category_id": 44, "score": 0.25}


@pytest.mark.parametrize("document", [[COCO], FIFTYONE])
def test_a_note_names_column_options_that_the_format_does_not_use(document):
    options = semmetrics.ReadOptions(id_column="x", score_column="y")

    notes = as_labels(document, options=options).notes

    (note,) = [note for note in notes if note.code == "unused-options"]
    assert note.examples == ("id_column", "score_column")


# The label universe

MEKA = """@relation 'Example: -C 4'
@attribute cat {0,1}
@attribute dog {0,1}
@attribute bus {0,1}
@attribute cow {0,1}
@data
1,0,0,0
0,1,0,0
"""


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    ("name", "content", "preds"),
    [
        ("gt.arff", MEKA, [["cat"], ["dog", "cat"]]),
        ("gt.txt", "2 4\n0:1\n2:1\n", [["0", "3"], ["2"]]),
        ("gt.json", FIFTYONE, {"a": ["dog"], "b": ["cat", "dog"]}),
    ],
)
def test_labels_that_a_file_declares_are_in_the_label_universe(
    tmp_path, name, content, preds, keep_rows
):
    path = saved(tmp_path, name, content)
    scorer = semmetrics.Scorer(measures="HammingLoss", keep_rows=keep_rows)

    scorer.update(preds, path)

    wrong_cells, cells = 1, 8
    assert scorer.compute()["HammingLoss"].value == wrong_cells / cells
    values = measure_values(preds, path, measures="HammingLoss")
    assert values["HammingLoss"] == wrong_cells / cells


# Batches and streams


def label_studio_task(number, **answers):
    """Return a task with one answer to each question."""
    results = []
    for question, answer in answers.items():
        value = {"choices": [answer]}
        results.append({"type": "choices", "from_name": question, "value": value})
    image = {"image": f"{number}.jpg"}
    return {"id": number, "data": image, "annotations": [{"result": results}]}


def labelbox_row(number, **answers):
    """Return a data row with one answer to each question."""
    questions = []
    for question, answer in answers.items():
        questions.append({"name": question, "radio_answer": {"name": answer}})
    labels = [{"annotations": {"classifications": questions}}]
    return {"data_row": {"id": str(number)}, "projects": {"p": {"labels": labels}}}


def json_min_record(number, **answers):
    """Return a record of a flat export of Label Studio with one answer to each question."""
    cells = {question: {"choices": [answer]} for question, answer in answers.items()}
    return {"id": number, **cells, "annotator": 1, "annotation_id": 3, "lead_time": 2.5}


def fiftyone_sample(number, **labels):
    """Return a sample of FiftyOne with one label in each field."""
    fields = {}
    for field, label in labels.items():
        fields[field] = {"_cls": "Classification", "label": label}
    return {"filepath": f"{number}.jpg", **fields}


RECORDS = [label_studio_task, labelbox_row, json_min_record, fiftyone_sample]
CAT = {"ground_truth": "cat"}
DOG = {"predictions": "dog"}


def update_scorer(scorer, truth):
    """Update a scorer with a ground truth and predictions for the same items."""
    ids = items_by_id(as_labels(truth))
    scorer.update({id_: ["x"] for id_ in ids}, truth)


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("record", RECORDS)
@pytest.mark.parametrize("answers", [CAT, CAT | DOG], ids=["one", "two"])
def test_batches_with_the_same_questions_are_one_evaluation(record, answers, keep_rows):
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)

    update_scorer(scorer, [record(0, **answers), record(1, **answers)])
    update_scorer(scorer, [record(2, **answers)])

    assert len(scorer) == 3


@pytest.mark.parametrize("record", [label_studio_task, labelbox_row, json_min_record])
@pytest.mark.parametrize(
    ("first", "second"), [(CAT, DOG), (CAT, CAT | DOG), (CAT | DOG, CAT)]
)
def test_batches_with_other_questions_are_an_error(record, first, second):
    scorer = semmetrics.Scorer(measures="F1")
    update_scorer(scorer, [record(0, **first), record(1, **first)])

    with refused("other-style") as caught:
        update_scorer(scorer, [record(2, **second)])

    assert caught.value.where.startswith("gts, ")
    assert len(scorer) == 2


@pytest.fixture
def in_small_blocks(monkeypatch):
    """Read streams in blocks of a few lines."""
    monkeypatch.setattr("semmetrics.data.blocks.BLOCK_BYTES", 2**10)
    monkeypatch.setattr("semmetrics.data.source.MAX_SMALL_BYTES", 99)
    monkeypatch.setattr("semmetrics.data.blocks.MAX_SMALL_BYTES", 99)


def save_lines(folder, name, records):
    """Write records as JSON lines, and return the path."""
    lines = [json.dumps(record) for record in records]
    return str(saved(folder, name, "\n".join(lines)))


@pytest.mark.parametrize("record", RECORDS)
def test_a_stream_has_the_value_and_signature_of_the_whole_file(
    tmp_path, record, request
):
    records = [record(number, animal=f"cat {number % 3}") for number in range(60)]
    path = save_lines(tmp_path, "gt.jsonl", records)
    preds = [{"id": id_, "labels": ["cat 0"]} for id_ in items_by_id(as_labels(path))]
    pred_path = save_lines(tmp_path, "pred.jsonl", preds)
    whole = semmetrics.score(pred_path, path, measures="F1")["F1"]

    request.getfixturevalue("in_small_blocks")
    streamed = score_stream(pred_path, path, measures="F1").compute()["F1"]

    assert streamed.value == whole.value == pytest.approx(1 / 3)
    assert streamed.signature == whole.signature


DAMAGED_TASK = {"id": 41, "data": {}, "annotations": [{"result": 7}]}


@pytest.mark.usefixtures("in_small_blocks")
def test_an_error_in_a_later_block_of_a_stream_names_the_line(tmp_path):
    tasks = [label_studio_task(number, animal="cat") for number in range(41)]
    path = save_lines(tmp_path, "gt.jsonl", [*tasks, DAMAGED_TASK])

    with refused("wrong-type", where=f"{path}, line 42"):
        score_stream(path, path, measures="F1")


@pytest.mark.usefixtures("in_small_blocks")
def test_a_stream_with_other_questions_in_a_later_block_is_an_error(tmp_path):
    two = [label_studio_task(number, animal="cat", size="big") for number in range(60)]
    one = [label_studio_task(number, animal="cat") for number in range(60, 120)]
    path = save_lines(tmp_path, "tasks.jsonl", two + one)

    with refused("other-style") as caught:
        score_stream(path, path, measures="F1")

    assert re.search(r"tasks\.jsonl, line \d+, id", caught.value.where)


# Damaged records


@pytest.mark.parametrize(
    "record",
    [
        COCO,
        label_studio_task(1),
        json_min_record(1, choice="cat"),
        labelbox_row(1),
        {"External ID": "a", "Label": "Skip"},
        fiftyone_sample(1, ground_truth="cat"),
    ],
    ids=["COCO", "Label Studio", "JSON-MIN", "Labelbox", "Labelbox v1", "FiftyOne"],
)
@pytest.mark.parametrize("damaged", [5, None, "cat", ["cat"]])
def test_an_error_names_a_record_that_is_not_an_object(record, damaged):
    document = [record] * 25 + [damaged]

    with refused("wrong-type", place="element [25]", wanted="an object"):
        as_labels(document)
