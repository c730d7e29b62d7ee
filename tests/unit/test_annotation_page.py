"""The page on which annotators fill a sheet."""

import json
import re

import pytest
from refusals import refused

from semmetrics import Records, select_discrepant
from semmetrics.studies.annotation_page import write_annotation_page

CAPTIONS = {"a": {"1": "a dog"}, "b": {"1": "a cat"}}
LABELS = {"a": {"1": ["cat", "dog"]}, "b": {"1": ["cat"]}}
MARKUP = '<script>alert("x")</script>&\'"</textarea>'


@pytest.mark.parametrize("ratings", [False, True])
def test_markup_of_the_input_is_escaped(ratings):
    systems = {"a": {MARKUP: MARKUP}, "b": {MARKUP: "x"}}
    sheet = select_discrepant(systems, 1).sheet(ratings=ratings)

    page = write_annotation_page(
        sheet, images='im"ages/{id}.jpg', title=MARKUP, name=MARKUP
    )

    assert "<script>alert" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert page.count("<textarea") == page.count("</textarea>")
    assert 'src="im&quot;ages/%3Cscript%3E' in page
    data = re.search('<script type="application/json" id="sheet">(.*?)</', page)
    assert json.loads(data[1])["rows"][0][0] == MARKUP
    assert not re.search('(?:src|href)="(?:https?:)?//', page)


def test_only_fields_for_labels_have_a_hint():
    hint = 'placeholder="one label per line"'
    captions = select_discrepant(CAPTIONS, 1)
    labels = select_discrepant(LABELS, 1, measure="F1")

    assert hint in write_annotation_page(labels.sheet())
    assert "placeholder" not in write_annotation_page(labels.sheet(ratings=True))
    assert "placeholder" not in write_annotation_page(captions.sheet())


@pytest.mark.parametrize(
    "columns", [[], ["image_id"], ["image_id", "rating"], ["x", "y", "z"]]
)
def test_records_that_are_no_sheet_raise_an_error(columns):
    with refused("bad-option", name="sheet"):
        write_annotation_page(Records({name: ["1"] for name in columns}))


def test_addresses_of_images_need_the_id():
    sheet = select_discrepant(CAPTIONS, 1).sheet()

    with refused("bad-option", name="images"):
        write_annotation_page(sheet, images="a.jpg")
