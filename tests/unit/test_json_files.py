"""Labels in JSON, JSON lines and COCO instances."""

import json

import pytest
from reading import read, refused_in, saved

from semmetrics import ReadOptions, as_labels


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        ({"a": {"cat": True, "dog": 0.5}}, "not-a-number", "id 'a'"),
        ([{"id": 1, "img_id": 2, "labels": []}], "ambiguous-column", "element [0]"),
        ([{"id": 1, "labels": "cat"}], "text-as-list", "element [0], id '1'"),
        (
            [{"id": 1, "labels": {"x": 1}, "scores": [1]}],
            "scored-twice",
            "element [0], id '1'",
        ),
        (
            '{"a": [["NaN \\" NaN", 1]],\n "b": [["x", -Infinity]]}',
            "not-json",
            "line 2, column 14",
        ),
        ('{"a": []}\n{"b": []}', "json-lines", "line 2, column 1"),
    ],
)
def test_an_error_in_json_names_the_place(tmp_path, data, code, place):
    path = saved(tmp_path, "gt.json", data)

    with refused_in(code, f"gt.json, {place}"):
        read(path)


COCO = {
    "images": [{"id": 1}, {"id": 2}, {"id": "x"}],
    "annotations": [
        {"image_id": 2, "category_id": 18},
        {"image_id": 1, "category_id": 3},
        {"image_id": 1, "category_id": 18},
        {"image_id": 1, "category_id": 3},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car"}],
}


@pytest.mark.parametrize("format_", [None, "coco", "json"])
def test_coco_instances_are_label_sets_of_images(tmp_path, format_):
    path = saved(tmp_path, "gt.json", COCO)

    lists = read(path, ReadOptions(format=format_))

    assert lists.ids == ["1", "2", "x"]
    assert lists.items == [["car", "dog"], ["dog"], []]
    assert lists.understood == "COCO instances, 3 images, 2 categories"
    assert [note.code for note in lists.notes] == ["without-annotations"]
    assert lists.where(0).endswith("gt.json, id '1'")


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        (
            {"annotations": [{"image_id": 1, "caption": "A"}]},
            "captions-file",
            ", annotations[0]",
        ),
        (
            {"annotations": [{"image_id": True, "category_id": 3}]},
            "wrong-id",
            ", annotations[0], image_id",
        ),
        ({"categories": [3]}, "wrong-type", ", categories[0]"),
        ({"images": [], "annotations": []}, "nothing-given", ""),
    ],
)
def test_an_error_in_coco_instances_names_the_place(tmp_path, change, code, place):
    path = saved(tmp_path, "gt.json", {**COCO, **change})

    with refused_in(code, f"gt.json{place}"):
        read(path)


# Large files: pyarrow reads all lines that have the keys of the first one.


def save_many(folder, last_line, first_line=""):
    """Write 25,000 records and a last line, and return the path."""
    lines = [first_line] if first_line else []
    for number in range(25_000):
        record = {"id": f"i{number}", "labels": ["cat"], "note": "x" * 60}
        lines.append(json.dumps(record))
    lines.append(last_line)
    return saved(folder, "large.jsonl", "\n".join(lines))


@pytest.mark.parametrize("value", [["dog"], None])
@pytest.mark.parametrize("name", ["tags", "Tags", " labels "])
@pytest.mark.parametrize("is_last", [True, False])
def test_a_second_key_for_labels_in_one_of_many_records_is_an_error(
    tmp_path, name, value, is_last
):
    record = json.dumps({"id": "x", "labels": ["cat"], name: value})
    plain = '{"id": "y", "labels": ["cat"]}'
    first_line, last_line = (plain, record) if is_last else (record, plain)
    path = save_many(tmp_path, last_line, first_line)

    with refused_in("ambiguous-column"):
        as_labels(path)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("NaN", ", column 40"),
        ("[-Infinity]", ", column 41"),
        ("Inf", ", column 40"),
        ("[" * 20_000 + "]" * 20_000, ""),
        ('{"a":' * 12_000 + "1" + "}" * 12_000, ""),
        ("[" * 500_000, ""),
    ],
    ids=["NaN", "infinity", "Inf", "deep list", "deep object", "open lists"],
)
def test_a_wrong_value_of_an_unused_key_of_a_large_file_is_an_error(
    tmp_path, value, place
):
    path = save_many(tmp_path, f'{{"id": "last", "labels": ["dog"], "q": {value}}}')

    with refused_in("not-json", f"large.jsonl, line 25001{place}"):
        as_labels(path)


@pytest.mark.parametrize(
    "value", ['"NaN, Inf: NaN [[[["', "[[1, 2], [3, {}]]", "[" * 450 + "]" * 450]
)
def test_values_of_unused_keys_of_a_large_file_are_skipped(tmp_path, value):
    path = save_many(tmp_path, f'{{"id": "last", "labels": ["dog"], "q": {value}}}')

    lists = as_labels(path)

    assert len(lists) == 25_001
    assert lists.to_list()[-1] == ["dog"]
