"""JSON, JSON lines and COCO instances."""

import json

import pytest
from reading import read, refused_in, saved

from semmetrics import ReadOptions, as_labels


@pytest.fixture
def load(tmp_path):
    def reader(data, name="gt.json", **options):
        return read(saved(tmp_path, name, data), ReadOptions(**options))

    return reader


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


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"a": {"cat": True, "dog": 0.5}}, ("not-a-number", "gt.json, id 'a'")),
        ({"a": {"cat": [1]}}, ("not-a-number", "gt.json, id 'a'")),
        (
            [{"id": 1, "img_id": 2, "labels": []}],
            ("ambiguous-column", "gt.json, element [0]"),
        ),
        (
            [{"id": 1, "tags": [], "labels": []}],
            ("ambiguous-column", "gt.json, element [0]"),
        ),
        ([{"id": [], "labels": []}], ("wrong-id", "gt.json, element [0]")),
        (
            [{"id": 1, "labels": "cat"}],
            ("text-as-list", "gt.json, element [0], id '1'"),
        ),
        (
            [{"id": 1, "labels": {"x": 1}, "scores": [1]}],
            ("scored-twice", "gt.json, element [0], id '1'"),
        ),
        (
            '{"a": [["NaN \\" NaN", 1]],\n "b": [["x", -Infinity]]}',
            ("not-json", "gt.json, line 2, column 14"),
        ),
        ('{"a":' * 200_000, ("not-json", "gt.json")),
        ('{"a": []}\n{"b": []}', ("json-lines", "gt.json, line 2, column 1")),
    ],
)
def test_bad_json(load, data, match):
    with refused_in(*match):
        load(data)


@pytest.mark.parametrize("options", [{}, {"format": "coco"}, {"format": "json"}])
def test_coco(load, options):
    raw = load(COCO, **options)
    assert raw.ids == ["1", "2", "x"]
    assert raw.items == [["car", "dog"], ["dog"], []]
    assert raw.understood == "COCO instances, 3 images, 2 categories"
    assert [note.code for note in raw.notes] == ["without-annotations"]
    assert raw.where(0).endswith("gt.json, id '1'")


def test_ids_named_like_coco_sections_are_ids(load):
    assert load({"images": ["a"], "annotations": []}).ids == ["images", "annotations"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"images": [{"id": 1.5}]}, ("wrong-id", "gt.json, images[0], id")),
        (
            {"annotations": [{"image_id": 1, "caption": "A"}]},
            (None, "gt.json, annotations[0]"),
        ),
        (
            {"annotations": [{"image_id": True, "category_id": 3}]},
            ("wrong-id", "gt.json, annotations[0], image_id"),
        ),
        ({"categories": [3]}, (None, "gt.json, categories[0]")),
        ({"categories": None}, (None, "gt.json")),
        ({"images": [], "annotations": []}, ("nothing-given", "gt.json")),
    ],
)
def test_bad_coco(load, change, match):
    with refused_in(*match):
        load({**COCO, **change})


@pytest.fixture
def many(tmp_path):
    """Write so many records that the fast reader takes them, with others before and after."""

    def written(before, after=()):
        same = [
            {"id": f"i{i}", "labels": ["a" * 40], "scores": [0.5]}
            for i in range(30_000)
        ]
        path = tmp_path / "many.jsonl"
        lines = [json.dumps(record) + "\n" for record in [*before, *same, *after]]
        path.write_text("".join(lines))
        assert path.stat().st_size > 2**21
        return path

    return written


@pytest.mark.parametrize("value", [["b"], None])
@pytest.mark.parametrize("name", ["tags", "Tags", " labels "])
@pytest.mark.parametrize("late", [False, True])
def test_another_name_of_labels_in_one_of_many_records(many, name, value, late):
    record = {"id": "x", "labels": ["a"], "scores": [1], name: value}
    first = {"id": "w", "labels": ["a"], "scores": [1]}
    path = many([first] if late else [first, record], [record] if late else ())
    with refused_in("ambiguous-column"):
        as_labels(path)


def test_deep_labels_of_large_files(tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("w") as out:
        out.writelines(
            f'{{"id": {i}, "labels": ["{"x" * 90}"]}}\n' for i in range(25_000)
        )
        out.write('{"id": -1, "labels": %s}\n' % ("[" * 20_000 + "]" * 20_000))
    with refused_in("not-json", "large.jsonl, line 25001"):
        as_labels(path)


@pytest.mark.parametrize("first", ["", ', "q": 1'])
@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("NaN", ", column 40"),
        ("[-Infinity]", ", column 41"),
        ("Inf", ", column 40"),
        ("[" * 20_000 + "]" * 20_000, ""),
        ('{"a":' * 12_000 + "1" + "}" * 12_000, ""),
        ("[" * 500_000, ""),
        ('"NaN, Inf: NaN [[[["', None),
        ("[[1, 2], [3, {}]]", None),
        ("[" * 450 + "]" * 450, None),
        ("[" + "[]," * 3000 + "1]", None),
    ],
)
def test_values_of_unused_keys_of_large_files(tmp_path, first, value, place):
    record = '{{"id": "{}", "labels": ["cat"], "note": "{}"{}}}\n'
    path = tmp_path / "large.jsonl"
    with path.open("w") as out:
        out.writelines(record.format(i, "x" * 60, first) for i in range(25_000))
        out.write('{"id": "last", "labels": ["dog"], "q": %s}\n' % value)  # noqa: UP031
    if place is None:
        found = as_labels(path)
        assert (len(found), found.to_list()[-1]) == (25_001, ["dog"])
    else:
        with refused_in("not-json", f"large.jsonl, line 25001{place}"):
            as_labels(path)
