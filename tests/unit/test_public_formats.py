"""Public file formats: what is read from each, and files that only look like one."""

from __future__ import annotations

import json
import re
import textwrap
from collections import deque
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import facts, refused

import semmetrics
from semmetrics import as_captions, as_labels
from semmetrics.kinds import resolve_kind
from semmetrics.kinds.classes import as_classes
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.scale.stream import score_stream

INSTANCES = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 18, "bbox": [0, 0, 1, 1], "iscrowd": 0},
        {"id": 2, "image_id": 2, "category_id": 44, "bbox": [0, 0, 1, 1], "iscrowd": 0},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 44, "name": "bottle"}],
}
RESULTS = [
    {"image_id": 1, "category_id": 44, "bbox": [0, 0, 1, 1], "score": 0.25},
    {"image_id": 1, "category_id": 18, "bbox": [0, 0, 1, 1], "score": 0.5},
    {"image_id": 1, "category_id": 44, "bbox": [0, 0, 2, 2], "score": 0.75},
    {"image_id": 2, "category_id": 18, "bbox": [0, 0, 1, 1], "score": 0.125},
]


def write(folder, name, content):
    path = folder / name
    if not isinstance(content, str):
        content = json.dumps(content)
    path.write_text(content, encoding="utf-8")
    return str(path)


def score_values(preds, gts, **options):
    table = semmetrics.score(preds, gts, **options)
    return {score.heading: score.value for score in table}


def by_id(lists):
    return dict(zip(map(str, lists.ids), lists.to_list(), strict=True))


def scores_by_id(lists):
    values = iter(lists.side.scores.tolist())
    return {
        id_: {label: next(values) for label in labels}
        for id_, labels in by_id(lists).items()
    }


# ---- COCO results -------------------------------------------------------------------------------


def as_csv(records):
    return pd.DataFrame(records).drop(columns="bbox")


@pytest.mark.parametrize(
    "kind", ["json", "jsonl", "csv", "tsv", "parquet", "objects", "frame"]
)
def test_coco_results_are_read_from_every_kind_of_file(tmp_path, kind):
    path = tmp_path / f"results.{kind}"
    frame = as_csv(RESULTS)
    if kind == "json":
        path.write_text(json.dumps(RESULTS))
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, RESULTS)))
    elif kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        frame.to_parquet(path)
    data = {"objects": RESULTS, "frame": frame}.get(kind, str(path))
    lists = as_labels(data)
    assert scores_by_id(lists) == {"1": {"44": 0.75, "18": 0.5}, "2": {"18": 0.125}}
    assert "COCO results" in lists.understood
    table = score_values(data, INSTANCES, measures="F1@1")
    assert table["F1@1"] == 0.0
    assert score_values(data, INSTANCES, measures="F1@2")["F1@2"] == pytest.approx(
        1 / 3
    )


def test_categories_are_named_in_batches_and_comparisons():
    scorer = semmetrics.Scorer(measures="F1@2")
    scorer.update(RESULTS, INSTANCES)
    assert scorer.compute()["F1@2"].value == pytest.approx(1 / 3)
    named = {"1": [["bottle", 0.75], ["dog", 0.5]], "2": [["dog", 0.125]]}
    systems = {"ids": RESULTS, "names": named}
    (row,) = semmetrics.compare(systems, INSTANCES, measures="F1@2").to_records()
    assert (row["value"], row["difference"]) == (pytest.approx(1 / 3), 0.0)


def test_the_class_list_does_not_number_category_ids():
    options = {"measures": "F1@2", "classes": ["dog", "bottle", "cat"]}
    assert score_values(RESULTS, INSTANCES, **options)["F1@2"] == pytest.approx(1 / 3)


def test_category_ids_without_names_are_refused():
    with refused("unnamed-categories", other="gts"):
        score_values(RESULTS, {"1": ["dog"], "2": ["bottle"]}, measures="F1")
    with refused("unnamed-categories"):
        score_values(
            RESULTS, {"1": ["dog"], "2": ["dog"]}, measures="F1", classes=["dog"]
        )


def test_ids_are_compared_with_ids_if_no_side_has_names():
    table = score_values(RESULTS, {"1": ["18", "44"], "2": ["44"]}, measures="F1")
    assert table["F1"] == 0.5
    plain = [{"image_id": 1, "category_id": 18}, {"image_id": 2, "category_id": 18}]
    assert score_values(plain, plain, measures="F1")["F1"] == 1.0


def test_an_unknown_category_is_named():
    results = [{"image_id": 1, "category_id": 0, "score": 1.0}]
    with refused("unknown-category", value="0"):
        score_values(results, INSTANCES, measures="F1", missing="empty")
    results = [{"image_id": 1, "category_id": 18}, {"image_id": 1, "category_id": 99}]
    with refused("unknown-category", "preds, id '1'", value="99"):
        score_values(results, INSTANCES, measures="F1", missing="empty")


def test_instances_with_scores_are_predictions():
    scored = json.loads(json.dumps(INSTANCES))
    for annotation, score in zip(scored["annotations"], (0.25, 0.75), strict=True):
        annotation["score"] = score
    assert scores_by_id(as_labels(scored)) == {
        "1": {"dog": 0.25},
        "2": {"bottle": 0.75},
    }


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"image_id": 1, "category_id": 18, "score": "high"}, "not-a-number"),
        ({"image_id": 1, "category_id": None, "score": 0.5}, "wrong-id"),
        ({"category_id": 18, "score": 0.5}, "missing-key"),
        ({"image_id": 1, "category_id": 18}, "some-scores"),
    ],
)
def test_wrong_results_are_refused_with_their_place(record, code):
    results = [{**result, "image_id": n} for n, result in enumerate(RESULTS * 6)]
    results.append({**record, "image_id": 0} if code == "some-scores" else record)
    with refused(code, place="element [24]"):
        as_labels(results)


@pytest.mark.parametrize(
    "records",
    [
        [{"image_id": 1, "category_id": 3, "label": "dog"}],
        [{"image_id": 1, "category_id": 3, "labels": ["dog"]}],
        [{"image_id": 1, "category_id": 3, "tags": ["dog"]}],
    ],
)
def test_records_with_names_are_not_results(records):
    if "label" not in records[0]:
        assert by_id(as_labels(records)) == {"1": ["dog"]}
    columns = "image_id,category_id,label\n1,3,dog\n"
    assert (
        "COCO"
        not in as_labels(
            pd.DataFrame([["1", "3", "dog"]], columns=columns[:26].split(","))
        ).understood
    )


# ---- LVIS ---------------------------------------------------------------------------------------

LVIS = {
    "images": [
        {
            "id": 1,
            "file_name": "a.jpg",
            "neg_category_ids": [3],
            "not_exhaustive_category_ids": [1],
        },
        {
            "id": 2,
            "file_name": "b.jpg",
            "neg_category_ids": [1],
            "not_exhaustive_category_ids": [],
        },
    ],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]},
        {"id": 2, "image_id": 2, "category_id": 3, "bbox": [0, 0, 1, 1]},
    ],
    "categories": [
        {"id": 1, "name": "cat", "frequency": "f"},
        {"id": 2, "name": "alarm_clock", "frequency": "f"},
        {"id": 3, "name": "bus", "frequency": "r"},
    ],
}
WITH_UNVERIFIED = {"1": ["cat", "alarm_clock"], "2": ["bus", "alarm_clock"]}


def test_unverified_labels_are_left_out():
    table = semmetrics.score(WITH_UNVERIFIED, LVIS, measures="Precision F1")
    assert table["Precision"].value == table["F1"].value == 1.0
    (fact,) = facts(table, "unverified-labels")
    assert fact.n == 2


@pytest.mark.parametrize(
    ("preds", "options", "precision"),
    [
        ({"1": ["cat", "bus"], "2": ["bus", "cat"]}, {}, 0.5),  # verified as absent
        ({"1": ["cat", "zebra"], "2": ["bus"]}, {}, 0.75),  # not a category
        ({"a.jpg": ["cat", "alarm_clock"], "b.jpg": ["bus"]}, {}, 1.0),
        (
            {"x/1.png": ["cat", "alarm_clock"], "x/2.png": ["bus"]},
            {"ids": "[0-9]+"},
            1.0,
        ),
        (
            {"1": ["cat", "Alarm clock"], "2": ["bus"]},
            {"normalize": "lower+separators"},
            1.0,
        ),
        ({"1": ["cat", "Alarm clock"], "2": ["bus"]}, {}, 0.75),
    ],
)
def test_which_labels_are_unverified(preds, options, precision):
    values = score_values(preds, LVIS, measures="Precision", **options)
    assert values["Precision"] == precision


def test_unverified_labels_of_batches_and_of_results():
    scorer = semmetrics.Scorer(measures="Precision")
    scorer.update(WITH_UNVERIFIED, LVIS)
    assert scorer.compute()["Precision"].value == 1.0
    results = [
        {"image_id": image, "category_id": category, "score": score}
        for image, category, score in [
            (1, 1, 0.5),
            (1, 2, 0.9),
            (2, 3, 0.5),
            (2, 2, 0.9),
        ]
    ]
    assert score_values(results, LVIS, measures="Precision@1")["Precision@1"] == 1.0
    without = json.loads(json.dumps(LVIS))
    for image in without["images"]:
        del image["neg_category_ids"]
    assert score_values(results, without, measures="Precision@1")["Precision@1"] == 0.0


# ---- annotation tools ---------------------------------------------------------------------------


def region(kind, labels, **more):
    return {"type": kind, "value": {"x": 1, "y": 2, kind: labels}, **more}


TASKS = [
    {
        "id": 7,
        "data": {"image": "/data/upload/3/0a1b2c3d-a.jpg"},
        "annotations": [
            {
                "result": [
                    region("choices", ["cat", "dog"]),
                    {"type": "relation", "from_id": "x", "to_id": "y"},
                    {"type": "textarea", "value": {"text": ["a caption"]}},
                ]
            },
            {"was_cancelled": True, "result": [region("choices", ["bus"])]},
        ],
        "predictions": [{"result": [region("rectanglelabels", ["cat"], score=0.75)]}],
    },
    {
        "id": 8,
        "data": {"image": "https://x.org/b.jpg?size=1"},
        "annotations": [
            {"result": [region("taxonomy", [["animal", "cow"]])]},
            {
                "result": [
                    region("polygonlabels", ["cow"]),
                    region("brushlabels", ["bus"]),
                ]
            },
        ],
        "predictions": [{"result": [region("rectanglelabels", ["cow"], score=0.5)]}],
    },
]


def test_label_studio_tasks():
    annotated = [{**task, "predictions": []} for task in TASKS]
    lists = as_labels(annotated)
    assert by_id(lists) == {"7": ["cat", "dog"], "8": ["cow", "bus"]}
    codes = [fact.code for fact in lists.notes]
    assert codes == ["several-annotations", "unused-results"]
    table = score_values(
        {"a.jpg": ["cat"], "b.jpg": ["cow"]}, TASKS, measures="Precision F1"
    )
    assert table["Precision"] == 1.0


def test_label_studio_predictions_are_read_on_the_side_of_predictions():
    lists = as_labels(TASKS)
    assert scores_by_id(lists) == {"7": {"cat": 0.75}, "8": {"cow": 0.5}}
    table = score_values(TASKS, TASKS, measures="Precision Recall")
    assert table == {"Precision": 1.0, "Recall": 0.5}


@pytest.mark.parametrize(
    "annotations", [[], None, [{"was_cancelled": True, "result": []}]]
)
def test_label_studio_tasks_that_nobody_annotated_are_left_out(annotations):
    tasks = [
        two_questions("no", "yes"),
        {"id": 2, "data": {"image": "b.jpg"}, "annotations": annotations},
        {"id": 3, "data": {"image": "c.jpg"}, "annotations": [{"result": []}]},
    ]
    preds = {"1": ["is_cat: no", "is_dog: yes"], "3": []}
    table = semmetrics.score(preds, tasks, measures="F1")
    (fact,) = facts(table, "unannotated-items")
    assert fact.n == 1
    assert table["F1"].n == 2
    assert by_id(as_labels(tasks))["2"] == []  # of predictions
    assert not facts(
        semmetrics.score(preds, tasks[::2], measures="F1"), "unannotated-items"
    )


def test_results_of_label_studio_that_are_not_labels_are_noted():
    answer = {"type": "choices", "from_name": "kind", "value": {"choices": ["cat"]}}
    text = {"type": "textarea", "from_name": "caption", "value": {"text": ["dog"]}}
    tasks = [{"id": 1, "data": {}, "annotations": [{"result": [answer, text]}]}]
    (fact,) = as_labels(tasks).notes
    assert (fact.code, fact.n, fact.examples) == ("unused-results", 1, ("caption",))
    shape = {"type": "rectangle", "from_name": "shape", "value": {"x": 1, "y": 2}}
    tasks[0]["annotations"][0]["result"] = [
        answer,
        shape,
        region("rectanglelabels", []),
    ]
    assert as_labels(tasks).notes == []


EXPORT = """id,image,choice,annotator,annotation_id,created_at,updated_at,lead_time
7,/data/upload/a.jpg,"{""choices"": [""cat"", ""dog""]}",1,5,x,x,1.5
8,/data/upload/b.jpg,cow,1,6,x,x,1.5
9,/data/upload/c.jpg,,1,6,x,x,1.5
"""


def test_label_studio_csv(tmp_path):
    lists = as_labels(write(tmp_path, "export.csv", EXPORT))
    assert by_id(lists) == {"7": ["cat", "dog"], "8": ["cow"], "9": []}
    tabs = write(
        tmp_path,
        "export.tsv",
        EXPORT.replace(",", "\t").replace("\t ", ", ").replace('cat""\t', 'cat"",'),
    )
    assert by_id(as_labels(tabs)) == by_id(lists)


def test_rows_of_label_studio_without_an_annotation_are_left_out(tmp_path):
    export = EXPORT + "10,/data/upload/d.jpg,,,,x,x,\n"
    preds = {"7": ["cat", "dog"], "8": ["cow"], "9": []}
    table = semmetrics.score(
        preds, write(tmp_path, "export.csv", export), measures="F1"
    )
    assert [fact.n for fact in facts(table, "unannotated-items")] == [1]
    assert table["F1"].n == 3
    # labels without an annotation's id
    labelled = export.replace("d.jpg,,,,", "d.jpg,bus,,,")
    preds["10"] = ["bus"]
    path = write(tmp_path, "labelled.csv", labelled)
    assert score_values(preds, path, measures="F1")["F1"] == 1.0


def test_label_studio_min_and_regions(tmp_path):
    rest = {"annotator": 1, "annotation_id": 3, "lead_time": 2.5}
    records = [
        {
            "id": 1,
            "image": "a.jpg",
            "boxes": [{"x": 1, "rectanglelabels": ["cat"]}],
            **rest,
        },
        {"id": 2, "image": "b.jpg", "boxes": [], **rest},
    ]
    assert by_id(as_labels(records)) == {"1": ["cat"], "2": []}


def two_questions(cat, dog, section="annotations"):
    results = [
        {"type": "choices", "from_name": "is_cat", "value": {"choices": [cat]}},
        {"type": "choices", "from_name": "is_dog", "value": {"choices": [dog]}},
    ]
    return {"id": 1, "data": {"image": "a.jpg"}, section: [{"result": results}]}


def test_label_studio_names_the_control_of_several():
    truth = [two_questions("no", "yes")]
    lists = as_labels(truth)
    assert by_id(lists) == {"1": ["is_cat: no", "is_dog: yes"]}
    assert "labels 'control: choice' of 2 controls" in lists.understood
    opposite = [two_questions("yes", "no", "predictions")]
    assert score_values(opposite, truth, measures="F1")["F1"] == 0.0
    assert score_values(truth, truth, measures="F1")["F1"] == 1.0
    single = json.loads(json.dumps(truth).replace("is_dog", "is_cat"))
    assert by_id(as_labels(single)) == {"1": ["no", "yes"]}


def test_controls_of_label_studio_are_those_of_the_whole_file():
    answer = {"type": "choices", "from_name": "is_cat", "value": {"choices": ["yes"]}}
    tasks = [{**two_questions("yes", "no"), "predictions": [{"result": [answer]}]}]
    assert by_id(as_labels(tasks)) == {"1": ["is_cat: yes"]}
    assert score_values(tasks, tasks, measures="Precision Recall") == {
        "Precision": 1.0,
        "Recall": 0.5,
    }
    box = {
        "type": "rectanglelabels",
        "from_name": "box",
        "value": {"rectanglelabels": ["car"]},
    }
    one_question = [{"id": 1, "data": {}, "annotations": [{"result": [answer, box]}]}]
    assert by_id(as_labels(one_question)) == {"1": ["yes", "car"]}


def answered(number, section="annotations", **answers):
    """A task with one answer for each question."""
    results = []
    for question, answer in answers.items():
        value = {"choices": [answer]}
        results.append({"type": "choices", "from_name": question, "value": value})
    return {
        "id": number,
        "data": {"image": f"{number}.jpg"},
        section: [{"result": results}],
    }


def labelbox_row(number, **answers):
    """A data row with one answer for each question."""
    questions = []
    for question, answer in answers.items():
        questions.append({"name": question, "radio_answer": {"name": answer}})
    labels = [{"annotations": {"classifications": questions}}]
    return {"data_row": {"id": str(number)}, "projects": {"p": {"labels": labels}}}


def flat(number, **answers):
    """A task of a flat export."""
    cells = {question: {"choices": [answer]} for question, answer in answers.items()}
    return {"id": number, **cells, "annotator": 1, "annotation_id": 3, "lead_time": 2.5}


def sample(number, **fields):
    """A sample of FiftyOne with one label in each field."""
    labels = {
        field: {"_cls": "Classification", "label": one} for field, one in fields.items()
    }
    return {"filepath": f"{number}.jpg", **labels}


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("task", [answered, labelbox_row, flat, sample])
def test_batches_with_other_questions_or_fields_are_refused(task, keep_rows):
    one, other = {"ground_truth": "cat"}, {"predictions": "dog"}
    for first, later, is_alike in (
        (one, one, True),
        (one | other, one | other, True),
        (one, one | other, task is sample),
        (one | other, one, task is sample),
        (one, other, False),
    ):
        scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
        truth = [task(0, **first), task(1, **first)]
        scorer.update({id_: ["x"] for id_ in by_id(as_labels(truth))}, truth)
        later_truth = [task(2, **later)]
        batch = {id_: ["x"] for id_ in by_id(as_labels(later_truth))}, later_truth
        if is_alike:
            scorer.update(*batch)
            assert len(scorer) == 3
        else:
            with refused("other-style") as caught:
                scorer.update(*batch)
            assert caught.value.where.startswith("gts, ")
            assert len(scorer) == 2


def test_batches_of_annotations_and_of_predictions_are_refused():
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update([answered(1, "predictions", animal="cat")], {"1": ["cat"]})
    with refused("other-style", where="preds, element [0], id '2'"):
        scorer.update([answered(2, animal="cat")], {"2": ["cat"]})
    box = {
        "type": "rectanglelabels",
        "from_name": "b",
        "value": {"rectanglelabels": ["cat"]},
    }
    region = {"id": 3, "data": {}, "predictions": [{"result": [box]}]}
    scorer.update([region], {"3": ["cat"]})
    scorer.update([{"id": 4, "data": {}, "predictions": []}], {"4": ["cat"]})
    scorer.update({"5": ["cat"]}, {"5": ["cat"]})
    assert len(scorer) == 4


def in_small_blocks(monkeypatch):
    monkeypatch.setattr("semmetrics.data.blocks.BLOCK", 2**10)
    monkeypatch.setattr("semmetrics.data.source.SMALL", 99)
    monkeypatch.setattr("semmetrics.data.blocks.SMALL", 99)


@pytest.mark.parametrize("task", [answered, labelbox_row, flat, sample])
def test_streams_of_public_json_lines_are_read_like_whole_files(
    tmp_path, monkeypatch, task
):
    tasks = [task(number, animal=f"cat {number % 3}") for number in range(60)]
    lines = [json.dumps(task) + "\n" for task in tasks]
    path = write(tmp_path, "gt.jsonl", "".join([*lines[:30], "\n", *lines[30:]]))
    truth = by_id(as_labels(path))
    preds = [{"id": id_, "labels": ["cat 0"]} for id_ in truth]
    pred = write(
        tmp_path, "pred.jsonl", "".join(json.dumps(one) + "\n" for one in preds)
    )
    whole = semmetrics.score(pred, path, measures="F1")
    in_small_blocks(monkeypatch)
    found = score_stream(str(pred), str(path), measures="F1").compute()
    assert found["F1"].value == whole["F1"].value == pytest.approx(1 / 3)
    assert found["F1"].signature == whole["F1"].signature


def test_errors_in_public_json_lines_name_the_line(tmp_path, monkeypatch):
    lines = [json.dumps(answered(number, animal="cat")) + "\n" for number in range(60)]
    good = write(tmp_path, "good.jsonl", "".join(lines))
    bad = lines[41].replace('"result": ', '"result": 7, "x": ')
    path = write(tmp_path, "gt.jsonl", "".join([*lines[:40], "\n", bad]))
    for read in (
        as_labels,
        lambda file: score_stream(str(good), str(file), measures="F1"),
    ):
        with refused("wrong-type", where=f"{path}, line 42"):
            read(path)
        in_small_blocks(monkeypatch)


def test_a_stream_of_tasks_with_other_questions_is_refused(tmp_path, monkeypatch):
    in_small_blocks(monkeypatch)
    both = [answered(number, animal="cat", size="big") for number in range(60)]
    only_one = [answered(number, animal="cat") for number in range(60, 120)]
    path = write(
        tmp_path, "tasks.jsonl", "".join(json.dumps(one) + "\n" for one in both)
    )
    assert score_stream(str(path), str(path), measures="F1").compute()["F1"].value == 1
    lines = [json.dumps(one) + "\n" for one in both + only_one]
    path = write(tmp_path, "tasks.jsonl", "".join(lines))
    with refused("other-style") as caught:
        score_stream(str(path), str(path), measures="F1")
    assert re.search(r"tasks\.jsonl, line \d+, id", caught.value.where)


def test_a_flat_export_with_two_questions_names_them(tmp_path):
    rest = {"annotator": 1, "annotation_id": 3, "lead_time": 2.5}
    cat, dog = {"choices": ["no"]}, {"choices": ["yes"]}
    records = [{"id": 1, "is_cat": cat, "is_dog": dog, **rest}]
    wanted = {"1": ["is_cat: no", "is_dog: yes"]}
    lists = as_labels(records)
    assert by_id(lists) == wanted
    assert "labels 'control: choice' of 2 controls" in lists.understood
    frame = pd.DataFrame(
        [{**records[0], "is_cat": json.dumps(cat), "is_dog": json.dumps(dog)}]
    )
    assert (
        by_id(as_labels(write(tmp_path, "export.csv", frame.to_csv(index=False))))
        == wanted
    )
    truth = [two_questions("no", "yes")]
    assert score_values(records, truth, measures="F1")["F1"] == 1.0
    options = semmetrics.ReadOptions(label_column="is_cat")
    assert by_id(as_labels(records, options=options)) == {"1": ["no"]}


def test_a_flat_export_with_two_columns_that_may_be_data_asks_for_the_column():
    rest = {"annotator": 1, "annotation_id": 3, "lead_time": 2.5}
    records = [{"id": 1, "category": "pets", "animal": {"choices": ["cat"]}, **rest}]
    with refused("ambiguous-column", flag="label_column"):
        as_labels(records)
    options = semmetrics.ReadOptions(label_column="animal")
    assert by_id(as_labels(records, options=options)) == {"1": ["cat"]}


MEKA = """@relation 'Example: -C {count}'
@attribute cat {{0,1}}
@attribute dog {{0,1}}
@attribute bus {{0,1}}
@attribute cow {{0,1}}
@data
1,0,0,0
0,1,0,0
"""


@pytest.mark.parametrize(
    ("name", "content", "preds"),
    [
        ("g.arff", MEKA.format(count=4), [["cat"], ["dog", "cat"]]),
        ("g.arff", MEKA.format(count=-4), [["cat"], ["dog", "cat"]]),
        ("g.txt", "2 4\n0:1\n2:1\n", [["0", "3"], ["2"]]),
        (
            "g.json",
            {"classes": ["cat", "dog", "bus", "cow"], "labels": {"a": 1, "b": [0]}},
            {"a": ["dog"], "b": ["cat", "dog"]},
        ),
    ],
)
def test_labels_that_a_file_declares_are_the_label_universe(
    tmp_path, name, content, preds
):
    path = write(tmp_path, name, content)
    wanted = 1 / 8
    assert score_values(preds, path, measures="HammingLoss")["HammingLoss"] == wanted
    scorer = semmetrics.Scorer(measures="HammingLoss")
    scorer.update(preds, path)
    assert scorer.compute()["HammingLoss"].value == wanted
    scorer = semmetrics.Scorer(measures="HammingLoss", keep_rows=False)
    scorer.update(preds, path)
    assert scorer.compute()["HammingLoss"].value == wanted


def test_declared_labels_of_xmlc_are_named_by_the_class_list(tmp_path):
    path = write(tmp_path, "g.txt", "2 4\n0:1\n2:1\n")
    preds = {"measures": "HammingLoss", "classes": ["cat", "dog", "bus", "cow"]}
    assert (
        score_values([["cat", "cow"], ["bus"]], path, **preds)["HammingLoss"] == 1 / 8
    )
    preds["classes"] = ["cat", "dog", "bus"]  # fewer than the header declares
    assert score_values([["cat"], ["bus"]], path, **preds)["HammingLoss"] == 0.0


def test_a_file_that_declares_no_labels_has_those_of_its_items():
    document = {"classes": None, "labels": {"a": "dog", "b": ["cat"]}}
    preds = {"a": ["dog"], "b": ["cat", "dog"]}
    assert score_values(preds, document, measures="HammingLoss")["HammingLoss"] == 1 / 4


def classification(label, **more):
    return {
        "_id": {"$oid": "1"},
        "_cls": "Classification",
        "label": label,
        "tags": [],
        **more,
    }


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (
            {"classes": ["cat", "dog"], "labels": {"a": 1, "b": [0, 1], "c": None}},
            {"a": ["dog"], "b": ["cat", "dog"], "c": []},
        ),
        (
            {"classes": None, "labels": {"a": "cat", "b": ["dog"]}},
            {"a": ["cat"], "b": ["dog"]},
        ),
        (
            {
                "a": {
                    "_cls": "Classifications",
                    "classifications": [classification("cat")],
                }
            },
            {"a": ["cat"]},
        ),
        (
            {
                "a": {
                    "detections": [{"label": "cat", "bounding_box": [0, 0, 1, 1]}] * 2
                },
                "b": None,
            },
            {"a": ["cat"], "b": []},
        ),
        (
            {"a": classification("cat"), "b": classification("dog")},
            {"a": ["cat"], "b": ["dog"]},
        ),
    ],
)
def test_fiftyone_labels(document, wanted):
    assert by_id(as_labels(document)) == wanted


def test_fiftyone_confidence():
    label = {"label": "cat", "confidence": 0.75}
    assert scores_by_id(as_labels({"a": label, "b": label})) == {
        "a": {"cat": 0.75},
        "b": {"cat": 0.75},
    }
    boxes = [{"label": "cat", "confidence": 0.25}, label]
    document = {"classes": [], "labels": {"a": boxes}}
    assert scores_by_id(as_labels(document)) == {"a": {"cat": 0.75}}


def test_fiftyone_objects_may_have_numbers_of_classes():
    boxes = [{"label": 1, "bounding_box": [0, 0, 1, 1], "confidence": 0.75}]
    document = {"classes": ["cat", "dog"], "labels": {"a": boxes}}
    assert scores_by_id(as_labels(document)) == {"a": {"dog": 0.75}}
    several = {
        "classes": ["cat", "dog"],
        "labels": {"a": [{"label": 1}, {"label": 0}], "b": []},
    }
    assert by_id(as_labels(several)) == {"a": ["dog", "cat"], "b": []}
    boxes[0]["label"] = 2
    with refused("outside-classes", value="2"):
        as_labels(document)


def test_fiftyone_samples_have_a_field_for_each_side():
    sample = {
        "filepath": "/data/a.jpg",
        "ground_truth": {"detections": [{"label": "cat"}, {"label": "dog"}]},
        "predictions": {"detections": [{"label": "cat", "confidence": 0.5}]},
    }
    document = {"samples": [sample]}
    table = score_values(document, document, measures="Precision Recall")
    assert table == {"Precision": 1.0, "Recall": 0.5}
    assert (
        score_values({"a.jpg": ["cat"]}, [sample], measures="Recall")["Recall"] == 0.5
    )


LABELBOX = {
    "data_row": {"id": "c1", "external_id": "a.jpg", "global_key": "k-a"},
    "projects": {
        "p": {
            "name": "x",
            "labels": [
                {
                    "annotations": {
                        "objects": [
                            {"name": "Car", "bounding_box": {}},
                            {"name": "Car"},
                        ],
                        "classifications": [
                            {
                                "name": "Weather",
                                "radio_answer": {"name": "Sunny", "value": "sunny"},
                            },
                            {"name": "Note", "text_answer": {"content": "x"}},
                        ],
                    }
                }
            ],
        }
    },
}


def test_labelbox(tmp_path):
    other = json.loads(
        json.dumps(LABELBOX).replace("a.jpg", "b.jpg").replace("k-a", "k-b")
    )
    text = "\n".join(map(json.dumps, [LABELBOX, other]))
    lists = as_labels(write(tmp_path, "export.ndjson", text))
    assert by_id(lists) == {"a.jpg": ["Car", "Sunny"], "b.jpg": ["Car", "Sunny"]}
    preds = {"k-a": ["Car"], "b.jpg": ["Car"]}
    assert (
        score_values(preds, [LABELBOX, other], measures="Precision")["Precision"] == 1.0
    )


def test_labelbox_questions_name_their_answers():
    document = json.loads(json.dumps(LABELBOX))
    label = document["projects"]["p"]["labels"][0]["annotations"]
    label["classifications"].append(
        {"name": "Time", "checklist_answers": [{"name": "day"}, {"name": "night"}]}
    )
    wanted = ["Car", "Weather: Sunny", "Time: day", "Time: night"]
    assert by_id(as_labels([document])) == {"a.jpg": wanted}


def test_labelbox_version_1():
    record = {
        "ID": "1",
        "External ID": "a.jpg",
        "DataRow ID": "d",
        "Label": {
            "objects": [{"title": "Car", "value": "car"}],
            "classifications": [
                {"title": "Time", "answer": {"title": "day", "value": "day"}}
            ],
        },
    }
    assert by_id(as_labels([record])) == {"a.jpg": ["Car", "day"]}


def test_labelbox_rows_that_nobody_labelled_are_left_out():
    rows = [json.loads(json.dumps(LABELBOX).replace("a.jpg", name)) for name in "abcd"]
    rows[1]["projects"]["p"]["labels"] = []
    rows[2]["projects"]["p"]["labels"][0]["performance_details"] = {"skipped": True}
    rows[3]["projects"]["p"]["labels"][0]["annotations"] = {
        "objects": [],
        "classifications": [],
    }
    for row in rows:
        del row["data_row"]["global_key"]
    preds = {"a": ["Car", "Sunny"], "d": []}
    table = semmetrics.score(preds, rows, measures="F1")
    (fact,) = facts(table, "unannotated-items")
    assert (fact.n, table["F1"].n) == (2, 2)


@pytest.mark.parametrize(
    "row",
    [{"Label": {}, "Skipped": True}, {"Label": "Skip"}, {"Label": None}, {"Label": {}}],
)
def test_labelbox_rows_of_version_1_that_were_skipped_are_left_out(row):
    record = {
        "External ID": "a.jpg",
        "Label": {"objects": [{"title": "Car"}]},
        "Skipped": False,
    }
    rows = [record, {"External ID": "b.jpg", **row}]
    is_empty = row == {"Label": {}}
    preds = {"a.jpg": ["Car"], **({"b.jpg": []} if is_empty else {})}
    table = semmetrics.score(preds, rows, measures="F1")
    assert len(facts(table, "unannotated-items")) == (0 if is_empty else 1)
    assert table["F1"].n == len(preds)


CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><labels><label><name>cat</name></label></labels></task></meta>
  <image id="0" name="train/a.jpg" width="4" height="4">
    <tag label="cat" source="manual"></tag>
    <box label="dog" xtl="0" ytl="0" xbr="1" ybr="1"><attribute name="age">3</attribute></box>
    <box label="dog" xtl="0" ytl="0" xbr="2" ybr="2"></box>
  </image>
  <image id="1" name="train/b.jpg" width="4" height="4"></image>
</annotations>
"""


def test_cvat(tmp_path):
    path = write(tmp_path, "annotations.xml", CVAT)
    assert by_id(as_labels(path)) == {"train/a.jpg": ["cat", "dog"], "train/b.jpg": []}
    preds = {"a.jpg": ["cat", "dog"], "b.jpg": []}
    assert score_values(preds, path, measures="F1")["F1"] == 1.0


def test_attributes_of_cvat_are_noted(tmp_path):
    (fact,) = as_labels(write(tmp_path, "annotations.xml", CVAT)).notes
    assert (fact.code, fact.n, fact.examples) == ("unused-results", 1, ("age",))
    without = CVAT.replace('<attribute name="age">3</attribute>', "")
    assert as_labels(write(tmp_path, "without.xml", without)).notes == []


def test_what_cvat_does_not_write_is_refused(tmp_path):
    video = CVAT.replace("<image", "<track").replace("</image>", "</track>")
    with refused("format-recipe"):
        as_labels(write(tmp_path, "video.xml", video))
    declared = CVAT.replace(
        "<annotations>", '<!DOCTYPE x [<!ENTITY y "z">]><annotations>'
    )
    with refused("wrong-content"):
        as_labels(write(tmp_path, "entity.xml", declared))
    with refused("damaged"):
        as_labels(write(tmp_path, "cut.xml", CVAT[:-30]))


DATUMARO = {
    "info": {},
    "categories": {
        "label": {"labels": [{"name": "cat"}, {"name": "dog"}], "attributes": []}
    },
    "items": [
        {
            "id": "train/a",
            "annotations": [
                {"id": 0, "type": "label", "label_id": 1, "attributes": {}},
                {"id": 1, "type": "bbox", "label_id": 0, "bbox": [0, 0, 1, 1]},
                {"id": 2, "type": "caption", "caption": "a cat"},
            ],
            "image": {"path": "train/a.jpg"},
        },
        {"id": "train/b", "annotations": []},
    ],
}


def test_datumaro():
    assert by_id(as_labels(DATUMARO)) == {"train/a": ["dog", "cat"], "train/b": []}
    preds = {"a.jpg": ["cat", "dog"], "train/b": []}
    assert score_values(preds, DATUMARO, measures="F1")["F1"] == 1.0
    assert by_id(as_captions(DATUMARO))["train/a"] == ["a cat"]


# ---- captions -----------------------------------------------------------------------------------

MSRVTT = {
    "info": {},
    "videos": [
        {"video_id": "video0", "split": "train", "category": 9, "url": "x"},
        {"video_id": "video1", "split": "test", "category": 9, "url": "x"},
    ],
    "sentences": [
        {"caption": "a man drives", "video_id": "video0", "sen_id": 3},
        {"caption": "a car", "video_id": "video0", "sen_id": 4},
        {"caption": "a cat sleeps", "video_id": "video1", "sen_id": 5},
    ],
}


def test_msrvtt():
    captions = {"video0": ["a man drives", "a car"], "video1": ["a cat sleeps"]}
    assert by_id(as_captions(MSRVTT)) == captions
    options = semmetrics.ReadOptions(split="test")
    assert by_id(as_captions(MSRVTT, options=options)) == {"video1": ["a cat sleeps"]}
    with refused("unknown-name"):
        as_captions(MSRVTT, options=semmetrics.ReadOptions(split="val"))
    assert by_id(as_candidates(MSRVTT)) == {"video0": ["3", "4"], "video1": ["5"]}


def test_textcaps_repeats_the_references_of_an_image():
    references = ["a sign that says stop", "a red sign"]
    data = [
        {
            "image_id": "x1",
            "caption_id": n,
            "caption_str": text,
            "reference_strs": references,
        }
        for n, text in enumerate(references)
    ]
    assert by_id(as_captions({"dataset_name": "textcaps", "data": data})) == {
        "x1": references
    }
    bare = [{"image_id": "x1", "caption_id": 5, "caption_str": "a sign"}]
    assert by_id(as_captions({"data": bare})) == {"x1": ["a sign"]}


def test_lavis_lists_are_known_by_number():
    path = "val2014/COCO_val2014_000000184613.jpg"
    document = [{"image": path, "caption": ["a cow", "a cow in a field"]}]
    assert by_id(as_captions(document)) == {path: ["a cow", "a cow in a field"]}
    table = score_values(
        [{"image_id": 184613, "caption": "a cow in a field"}],
        document,
        measures="BLEU-1",
    )
    assert table["BLEU-1"] == pytest.approx(1.0)


def test_lavis_training_lists_and_results():
    train = [
        {"caption": "a cow", "image": "a.jpg", "image_id": "coco_0"},
        {"caption": "the cow", "image": "a.jpg", "image_id": "coco_0"},
    ]
    assert by_id(as_captions(train)) == {"coco_0": ["a cow", "the cow"]}


CLOTHO = """file_name,caption_1,caption_2,caption_3,caption_4,caption_5
rain.wav,"Rain falls, hard",It rains,Water,Rain,Drops
wind.wav,Wind blows,A storm,Wind,Gusts,
"""


def test_clotho(tmp_path):
    lists = as_captions(write(tmp_path, "clotho.csv", CLOTHO))
    assert by_id(lists)["rain.wav"] == [
        "Rain falls, hard",
        "It rains",
        "Water",
        "Rain",
        "Drops",
    ]
    assert by_id(lists)["wind.wav"] == ["Wind blows", "A storm", "Wind", "Gusts"]
    predicted = write(
        tmp_path,
        "pred.csv",
        "file_name,caption_predicted\nrain.wav,Rain\nwind.wav,Wind\n",
    )
    table = score_values(predicted, str(tmp_path / "clotho.csv"), measures="BLEU-1")
    assert table["BLEU-1"] > 0.5


@pytest.mark.parametrize(
    "names",
    [("ref1", "ref2"), ("reference_01", "reference_02"), ("caption 1", "caption 2")],
)
def test_other_numbered_captions(names):
    frame = pd.DataFrame(
        [["a", "x y", "z", "s"]], columns=["image_id", *names, "source"]
    )
    lists = as_captions(frame)
    assert by_id(lists) == {"a": ["x y", "z"]}
    assert [fact.examples for fact in lists.notes] == [("source",)]


def test_a_caption_beside_numbered_references():
    frame = pd.DataFrame(
        [["a", "x", "x y", "x z"]], columns=["id", "caption", "ref1", "ref2"]
    )
    assert by_id(as_captions(frame)) == {"a": ["x"]}
    values = score_values(frame, frame, measures="ROUGE-L")
    assert 0 < values["ROUGE-L"] < 1


def test_results_may_name_their_categories():
    results = [{"image_id": 1, "category_id": "dog", "score": 0.5}]
    truth = {"1": ["dog"]}
    assert score_values(results, truth, measures="F1")["F1"] == 1.0
    assert score_values(results, INSTANCES, measures="F1", missing="skip")["F1"] == 1.0


def test_vatex_and_nocaps():
    vatex = [{"videoID": "v1", "enCap": ["a cat", "the cat"], "chCap": ["x"]}]
    assert by_id(as_captions(vatex)) == {"v1": ["a cat", "the cat"]}
    nocaps = {
        "licenses": [],
        "info": {},
        "images": [
            {
                "id": 0,
                "open_images_id": "0013",
                "domain": "near-domain",
                "file_name": "0013.jpg",
            }
        ],
        "annotations": [{"image_id": 0, "id": 0, "caption": "a baby"}],
    }
    assert by_id(as_captions(nocaps)) == {"0": ["a baby"]}


@pytest.mark.parametrize(
    "document",
    [
        {
            "v_1": {
                "duration": 9.0,
                "timestamps": [[0, 4], [4, 9]],
                "sentences": ["A man.", "He ran."],
            }
        },
        {
            "version": "1",
            "results": {"v_1": [{"sentence": "a man", "timestamp": [0, 4]}]},
        },
    ],
)
def test_activitynet_is_refused_with_a_recipe(tmp_path, monkeypatch, document):
    path = write(tmp_path, "val_1.json", document)
    with refused("format-recipe") as caught:
        as_captions(path)
    recipe = str(caught.value).partition("\n")[2]
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(recipe), {"json": json, "path": path, "Path": Path})
    assert len(by_id(as_captions("captions.json"))["v_1"]) == 1


# ---- text ---------------------------------------------------------------------------------------


def test_xmlc(tmp_path):
    data = write(tmp_path, "test.txt", "3 5 4\n3,1 0:0.5 4:1.2\n 0:0.5\n2 1:1\n")
    assert as_labels(data).to_list() == [["3", "1"], [], ["2"]]
    labels = write(tmp_path, "tst_X_Y.txt", "3 4\n1:1.00000 3:1.0\n\n2:1.0\n")
    assert as_labels(labels).to_list() == [["1", "3"], [], ["2"]]
    assert as_labels(labels).side.scores is None
    scored = write(tmp_path, "score.txt", "3 4\n1:0.25 3:0.75\n0:0.5\n2:0.5\n")
    table = score_values(scored, labels, measures="Precision@1")
    assert table["Precision@1"] == pytest.approx(2 / 3)
    names = score_values(labels, data, measures="F1", classes=["a", "b", "c", "d"])
    assert names["F1"] == 1.0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("3 4\n1:1.0\n2:1.0\n", "wrong-count"),
        ("2 4\n1:1.0\n4:1.0\n", "wrong-content"),
        ("2 4\n1:1.0\n1:x\n", "not-a-number"),
    ],
)
def test_wrong_xmlc_files_are_refused(tmp_path, text, code):
    with refused(code):
        as_labels(write(tmp_path, "y.txt", text))


def test_fasttext(tmp_path):
    text = "__label__cat __label__dog two of them\nnothing here\n__label__bus a bus\n"
    path = write(tmp_path, "train.txt", text)
    assert as_labels(path).to_list() == [["cat", "dog"], [], ["bus"]]
    predicted = [
        "__label__cat 0.75 __label__bus 0.25",
        "__label__dog 0.5 __label__cat 0.5",
        "__label__bus 1.0 __label__cat 1e-05",
    ]
    scored = write(tmp_path, "pred.txt", "\n".join(predicted))
    assert as_labels(scored).side.scores.tolist() == [0.75, 0.25, 0.5, 0.5, 1.0, 1e-05]
    assert score_values(scored, path, measures="Precision@1")[
        "Precision@1"
    ] == pytest.approx(2 / 3)


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


def test_arff(tmp_path):
    assert as_labels(write(tmp_path, "a.arff", MEKA)).to_list() == [
        ["cat"],
        ["cat", "wild dog"],
        [],
    ]
    last = (
        MEKA.replace("-C 2", "-C -2")
        .replace("x numeric", "x {0,1}")
        .replace("0.5", "1")
        .replace("0.25", "0")
    )
    assert as_labels(write(tmp_path, "b.arff", last)).to_list() == [
        ["x"],
        ["wild dog"],
        ["x"],
    ]
    single = "@relation iris\n@attribute x numeric\n@attribute class {a,b}\n@data\n1,a\n2,b\n"
    assert as_classes(write(tmp_path, "c.arff", single)).to_list() == [["a"], ["b"]]


@pytest.mark.parametrize(
    "text",
    [
        MEKA.replace("1,0,0.5", "{0 1, 2 0.5}"),
        MEKA.replace(" -C 2", ""),
        MEKA.replace("x numeric", "x string"),
    ],
)
def test_arff_that_scipy_does_not_read_is_refused_with_a_recipe(tmp_path, text):
    with refused("format-recipe"):
        as_labels(write(tmp_path, "a.arff", text))


def test_matlab_is_refused_with_a_recipe(tmp_path):
    from scipy.io import savemat

    path = tmp_path / "res101.mat"
    savemat(path, {"labels": np.array([[1], [2]])})
    with refused("format-recipe"):
        as_classes(str(path))


@pytest.mark.parametrize(
    "text",
    [
        "a cat\nthe dog\n",
        "3 dogs\n2 4 6\n",
        "12:30 a bus leaves\nnoon\n",
        "10 20\na cat\n",
    ],
)
def test_plain_captions_are_no_format(tmp_path, text):
    assert as_captions(write(tmp_path, "captions.txt", text)).to_list() == [
        [line] for line in text.splitlines()
    ]


# ---- class vectors ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "vector",
    [
        np.array([[0], [2], [1]]),
        np.array([0.0, 2.0, 1.0]),
        np.array([[0.0], [2.0], [1.0]], np.float32),
    ],
)
def test_class_vectors(tmp_path, vector):
    path = tmp_path / "classes.npy"
    np.save(path, vector)
    for data in (vector, str(path)):
        assert as_classes(data).to_list() == [["0"], ["2"], ["1"]]
        table = score_values(
            np.eye(3)[[0, 2, 0]], data, task="classes", measures="Accuracy"
        )
        assert table["Accuracy"] == pytest.approx(2 / 3)


# ---- what is not used is noted ------------------------------------------------------------------


def test_keys_of_annotations_that_are_not_used_are_noted():
    for read, document in (
        (
            as_labels,
            {**INSTANCES, "annotations": [{**INSTANCES["annotations"][0], "crowd": 1}]},
        ),
        (
            as_captions,
            {"annotations": [{"image_id": 1, "id": 1, "caption": "x", "crowd": 1}]},
        ),
    ):
        noted = [
            fact for fact in read(document).notes if fact.code == "unused-entry-keys"
        ]
        assert [fact.examples for fact in noted] == [("crowd",)]
    assert (
        as_captions({"annotations": [{"image_id": 1, "id": 1, "caption": "x"}]}).notes
        == []
    )


def test_columns_that_are_named_and_not_used_are_noted(tmp_path):
    options = semmetrics.ReadOptions(id_column="x", score_column="y")
    for data in (RESULTS, as_csv(RESULTS), DATUMARO, write(tmp_path, "a.xml", CVAT)):
        (fact,) = [one for one in as_labels(data, options=options).notes if one.n == 2]
        assert (fact.code, fact.examples) == (
            "unused-options",
            ("id_column", "score_column"),
        )


# ---- the page of formats ------------------------------------------------------------------------

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


@pytest.mark.parametrize(("language", "example"), EXAMPLES)
def test_every_example_of_the_page_is_read(tmp_path, language, example):
    suffix = language
    if language == "text":
        suffix = next(
            (SUFFIXES[one] for one in SUFFIXES if example.startswith(one)), "csv"
        )
    path = write(tmp_path, f"example.{suffix}", example)
    if "timestamps" in example:
        with refused("format-recipe"):
            as_captions(path)
        return
    kind = resolve_kind(path).kind
    lists = {"labels": as_labels, "captions": as_captions}[kind](path)
    assert len(lists.side.codes)
    assert not re.match(r"JSON,|CSV,", lists.understood)


# ---- files that only look like a format ---------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (
            {"classes": ["cat"], "labels": ["dog"]},
            {"classes": ["cat"], "labels": ["dog"]},
        ),
        ({"a": {"cat": 0.5}, "b": {"label": 0.5}}, {"a": ["cat"], "b": ["label"]}),
        (
            {"classes": {"x": 0.5}, "labels": {"y": 0.5}},
            {"classes": ["x"], "labels": ["y"]},
        ),
        ({"a": {"detections": 1, "cat": 0}}, {"a": ["detections"]}),
        ([{"id": "a", "labels": ["x"], "data": {"k": 1}}], {"a": ["x"]}),
        ([{"id": "a", "tags": ["x"], "Label": "y"}], {"a": ["x"]}),
        ({"items": ["x"], "categories": ["y"]}, {"items": ["x"], "categories": ["y"]}),
    ],
)
def test_label_files_that_are_no_format(document, wanted):
    assert by_id(as_labels(document)) == wanted


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (
            {"videos": ["a video"], "sentences": ["a cat"]},
            {"videos": ["a video"], "sentences": ["a cat"]},
        ),
        ({"data": ["a cat sleeps"]}, {"data": ["a cat sleeps"]}),
        ([{"image_id": 1, "image": "a.jpg", "caption": ["a cat"]}], {"1": ["a cat"]}),
        (
            {"results": ["a cat"], "version": ["b"]},
            {"results": ["a cat"], "version": ["b"]},
        ),
    ],
)
def test_caption_files_that_are_no_format(document, wanted):
    assert by_id(as_captions(document)) == wanted


def test_a_format_is_recognised_without_a_task():
    table = semmetrics.score({"a.jpg": ["cat"]}, DATUMARO, missing="skip")
    assert "F1" in {score.heading for score in table}
    assert not facts(table, "unused-columns")


# ---- damaged records ----------------------------------------------------------------------------

EXPORTED = {
    "id": 1,
    "choice": "cat",
    "annotation_id": 1,
    "annotator": 1,
    "lead_time": 2,
}
SAMPLE = {"filepath": "a.jpg", "ground_truth": {"classifications": [{"label": "cat"}]}}
RECORDS = {
    "COCO results": RESULTS[0],
    "Label Studio": {"id": 1, "data": {}, "annotations": []},
    "JSON-MIN": EXPORTED,
    "Labelbox": {"data_row": {"id": "a"}, "projects": {}},
    "Labelbox v1": {"External ID": "a", "Label": "Skip"},
    "FiftyOne": SAMPLE,
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=list(RECORDS))
@pytest.mark.parametrize("damaged", [5, None, "cat", ["cat"]])
def test_a_late_record_that_is_no_object_has_its_place(record, damaged):
    document = [record] * 25 + [damaged]
    with refused("wrong-type", place="element [25]", wanted="an object"):
        as_labels(document)


def test_a_sequence_without_slices_is_read():
    assert by_id(as_labels(deque([SAMPLE]))) == {"a.jpg": ["cat"]}


def test_repeated_rows_of_labelbox_do_not_move_places():
    good = {"External ID": "a", "Label": {"objects": [{"title": "cat"}]}}
    bad = {"External ID": "b", "Label": {"objects": [{"color": "red"}]}}
    with refused("missing-key", place="element [3]", key="name"):
        as_labels([good, good, good, bad])


def test_an_answer_without_a_name_has_its_place():
    label = {"classifications": [{"title": "weather", "answer": {"title": " "}}]}
    with refused("empty", place="element [1]"):
        as_labels(
            [
                {"External ID": "a", "Label": {"objects": [{"title": "cat"}]}},
                {"External ID": "b", "Label": label},
            ]
        )
