"""CVAT for images, and Datumaro."""

import pytest
from public_formats import items_by_id, measure_values
from reading import saved
from refusals import refused

from semmetrics import as_captions, as_labels

CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><labels><label><name>cat</name></label></labels></task></meta>
  <image id="0" name="train/a.jpg" width="4" height="4">
    <tag label="cat" source="manual"></tag>
    <box label="dog" xtl="0" ytl="0" xbr="1" ybr="1"></box>
    <box label="dog" xtl="0" ytl="0" xbr="2" ybr="2"></box>
  </image>
  <image id="1" name="train/b.jpg" width="4" height="4"></image>
</annotations>
"""


def test_labels_of_cvat_are_tags_and_classes_of_shapes(tmp_path):
    lists = as_labels(saved(tmp_path, "annotations.xml", CVAT))

    assert items_by_id(lists) == {"train/a.jpg": ["cat", "dog"], "train/b.jpg": []}
    assert lists.notes == []


def test_a_note_names_the_attributes_of_cvat(tmp_path):
    attribute = '<attribute name="age">3</attribute>'
    document = CVAT.replace("</box>", f"{attribute}</box>", 1)

    (note,) = as_labels(saved(tmp_path, "annotations.xml", document)).notes

    assert note.code == "unused-results"
    assert note.examples == ("age",)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (
            CVAT.replace("<image", "<track").replace("</image", "</track"),
            "format-recipe",
        ),
        ('<!DOCTYPE x [<!ENTITY y "z">]>' + CVAT[39:], "wrong-content"),
        (CVAT[:-30], "damaged"),
    ],
    ids=["video", "entities", "truncated"],
)
def test_other_xml_is_an_error(tmp_path, document, code):
    path = saved(tmp_path, "annotations.xml", document)

    with refused(code):
        as_labels(path)


DATUMARO = {
    "info": {},
    "categories": {"label": {"labels": [{"name": "cat"}, {"name": "dog"}]}},
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


def test_datumaro_has_labels_and_captions():
    captions = as_captions(DATUMARO)

    assert items_by_id(as_labels(DATUMARO)) == {
        "train/a": ["dog", "cat"],
        "train/b": [],
    }
    assert items_by_id(captions)["train/a"] == ["a cat"]


def test_predictions_may_use_the_file_names_of_datumaro_images():
    preds = {"a.jpg": ["cat", "dog"], "train/b": []}

    assert measure_values(preds, DATUMARO, measures="F1")["F1"] == 1.0
