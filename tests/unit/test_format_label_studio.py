"""Label Studio: tasks as JSON, and flat exports as JSON-MIN, CSV and TSV."""

import io

import pandas as pd
import pytest
from public_formats import items_by_id, measure_values, scores_by_id
from refusals import facts, refused

import semmetrics
from semmetrics import ReadOptions, as_labels


def choice(question, answer):
    """Return the answer to a question."""
    return {"type": "choices", "from_name": question, "value": {"choices": [answer]}}


def region(kind, labels, **keys):
    """Return a region with labels."""
    return {"type": kind, "value": {"x": 1, "y": 2, kind: labels}, **keys}


def task(id_, *results, section="annotations"):
    """Return a task with one annotation, or one prediction."""
    image = f"/data/upload/3/0a1b2c3d-{id_}.jpg"
    return {"id": id_, "data": {"image": image}, section: [{"result": list(results)}]}


def test_labels_are_choices_taxonomies_and_classes_of_regions():
    tasks = [
        task("a", region("choices", ["cat", "dog"])),
        task("b", region("taxonomy", [["animal", "cow"]])),
        task("c", region("polygonlabels", ["cow"]), region("brushlabels", ["bus"])),
    ]

    lists = as_labels(tasks)

    assert items_by_id(lists) == {
        "a": ["cat", "dog"],
        "b": ["cow"],
        "c": ["cow", "bus"],
    }
    assert lists.notes == []


def test_a_task_has_the_labels_of_all_its_annotations_except_cancelled_ones():
    labelled = task("a", region("choices", ["cat"]))
    labelled["annotations"] += [
        {"result": [region("choices", ["dog"])]},
        {"result": [region("choices", ["bus"])], "was_cancelled": True},
    ]

    lists = as_labels([labelled])

    assert items_by_id(lists) == {"a": ["cat", "dog"]}
    assert [note.code for note in lists.notes] == ["several-annotations"]


@pytest.mark.parametrize("id_", ["a", "/data/upload/3/0a1b2c3d-a.jpg", "a.jpg"])
def test_predictions_may_name_the_image_of_a_task(id_):
    tasks = [task("a", region("choices", ["cat"]))]

    assert measure_values({id_: ["cat"]}, tasks, measures="F1") == {"F1": 1.0}


def test_predictions_are_read_for_predictions_and_annotations_for_ground_truth():
    both = task("a", region("choices", ["cat"]), region("choices", ["dog"]))
    both["predictions"] = [{"result": [region("choices", ["cat"], score=0.75)]}]
    tasks = [both]

    assert scores_by_id(as_labels(tasks)) == {"a": {"cat": 0.75}}
    values = measure_values(tasks, tasks, measures="Precision Recall")
    assert values == {"Precision": 1.0, "Recall": 0.5}


@pytest.mark.parametrize(
    "annotations", [[], None, [{"was_cancelled": True, "result": []}]]
)
def test_tasks_that_nobody_annotated_are_left_out_of_the_ground_truth(annotations):
    labelled = task("1", choice("animal", "cat"))
    unannotated = {"id": "2", "data": {"image": "b.jpg"}, "annotations": annotations}
    without_labels = task("3")
    tasks = [labelled, unannotated, without_labels]
    preds = {"1": ["cat"], "3": []}

    table = semmetrics.score(preds, tasks, measures="F1")

    (fact,) = facts(table, "unannotated-items")
    assert fact.n == 1
    assert table["F1"].n == 2
    assert items_by_id(as_labels(tasks))["2"] == []


def test_a_note_names_controls_whose_results_are_not_labels():
    text = {"type": "textarea", "from_name": "caption", "value": {"text": ["dog"]}}
    relation = {"type": "relation", "from_id": "x", "to_id": "y"}
    tasks = [task("a", choice("animal", "cat"), text, relation)]

    (note,) = as_labels(tasks).notes

    assert note.code == "unused-results"
    assert note.examples == ("caption", "relation")


def test_shapes_without_labels_are_not_noted():
    shape = {"type": "rectangle", "from_name": "shape", "value": {"x": 1, "y": 2}}
    tasks = [task("a", shape, region("rectanglelabels", []))]

    assert as_labels(tasks).notes == []


def test_answers_to_several_questions_name_their_question():
    truth = [task("a", choice("is_cat", "no"), choice("is_dog", "yes"))]
    opposite = [
        task(
            "a",
            choice("is_cat", "yes"),
            choice("is_dog", "no"),
            section="predictions",
        )
    ]

    lists = as_labels(truth)

    assert items_by_id(lists) == {"a": ["is_cat: no", "is_dog: yes"]}
    assert "labels 'control: choice' of 2 controls" in lists.understood
    values = measure_values(opposite, truth, measures="F1")
    assert values["F1"] == 0.0


def test_answers_to_one_question_and_regions_do_not_name_their_control():
    box = region("rectanglelabels", ["car"], from_name="box")
    tasks = [task("a", choice("is_cat", "yes"), choice("is_cat", "no"), box)]

    assert items_by_id(as_labels(tasks)) == {"a": ["yes", "no", "car"]}


def test_questions_of_annotations_that_are_not_read_count():
    both = task("a", choice("is_cat", "yes"), choice("is_dog", "no"))
    both["predictions"] = [{"result": [choice("is_cat", "yes")]}]
    tasks = [both]

    assert items_by_id(as_labels(tasks)) == {"a": ["is_cat: yes"]}
    values = measure_values(tasks, tasks, measures="Precision Recall")
    assert values == {"Precision": 1.0, "Recall": 0.5}


def test_batches_of_annotations_and_of_predictions_cannot_be_mixed():
    answer = choice("animal", "cat")
    predicted = [task("1", answer, section="predictions")]
    annotated = [task("2", answer)]
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(predicted, {"1": ["cat"]})
    scorer.update([{"id": 3, "data": {}, "predictions": []}], {"3": ["cat"]})

    with refused("other-style", where="preds, element [0], id '2'"):
        scorer.update(annotated, {"2": ["cat"]})


# Flat exports

EXPORT = """id,image,choice,annotator,annotation_id,created_at,updated_at,lead_time
7,/data/upload/a.jpg,"{""choices"": [""cat"", ""dog""]}",1,5,x,x,1.5
8,/data/upload/b.jpg,cow,1,6,x,x,1.5
9,/data/upload/c.jpg,,1,6,x,x,1.5
"""
LABELS_OF_EXPORT = {"7": ["cat", "dog"], "8": ["cow"], "9": []}
EXPORT_KEYS = {"annotator": 1, "annotation_id": 3, "lead_time": 2.5}


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_cells_of_an_export_are_labels_or_json(tmp_path, suffix, separator):
    path = tmp_path / f"export.{suffix}"
    frame = pd.read_csv(io.StringIO(EXPORT))
    frame.to_csv(path, sep=separator, index=False)

    assert items_by_id(as_labels(path)) == LABELS_OF_EXPORT


def test_rows_without_an_annotation_are_left_out_unless_they_have_labels(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(
        EXPORT + "10,/d.jpg,,,,x,x,\n11,/e.jpg,bus,,,x,x,\n", encoding="utf-8"
    )
    preds = {**LABELS_OF_EXPORT, "11": ["bus"]}

    table = semmetrics.score(preds, path, measures="F1")

    (fact,) = facts(table, "unannotated-items")
    assert fact.n == 1
    assert table["F1"].n == 4
    assert table["F1"].value == 1.0


def test_json_min_has_the_classes_of_regions():
    boxes = [{"x": 1, "rectanglelabels": ["cat"]}]
    records = [
        {"id": 1, "image": "a.jpg", "boxes": boxes, **EXPORT_KEYS},
        {"id": 2, "image": "b.jpg", "boxes": [], **EXPORT_KEYS},
    ]

    assert items_by_id(as_labels(records)) == {"1": ["cat"], "2": []}


def test_answers_of_json_min_to_several_questions_name_their_question():
    cat = {"choices": ["no"]}
    dog = {"choices": ["yes"]}
    records = [{"id": 1, "is_cat": cat, "is_dog": dog, **EXPORT_KEYS}]

    lists = as_labels(records)
    one_column = as_labels(records, options=ReadOptions(label_column="is_cat"))

    assert items_by_id(lists) == {"1": ["is_cat: no", "is_dog: yes"]}
    assert "labels 'control: choice' of 2 controls" in lists.understood
    assert items_by_id(one_column) == {"1": ["no"]}


def test_a_flat_export_with_a_column_that_may_be_data_needs_the_label_column():
    animal = {"choices": ["cat"]}
    records = [{"id": 1, "category": "pets", "animal": animal, **EXPORT_KEYS}]

    with refused("ambiguous-column", flag="label_column"):
        as_labels(records)

    lists = as_labels(records, options=ReadOptions(label_column="animal"))
    assert items_by_id(lists) == {"1": ["cat"]}
