"""JSON, JSON lines and COCO instances."""

import gzip
import json

import pytest
from reading import read

from semmetrics import ReadOptions, as_labels
from semmetrics.errors import InputError


@pytest.fixture
def load(tmp_path):
    def reader(data, name="gt.json", **options):
        text = data if isinstance(data, str) else json.dumps(data)
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return read(path, ReadOptions(**options))

    return reader


def lines(*records):
    return "\n".join(json.dumps(record) for record in records)


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


@pytest.mark.parametrize("name", ["gt.json", "gt.json.gz"])
def test_mapping(load, name):
    raw = load({"b": [{"label": "dog", "score": 0.5}, ["car", 1]], "7": []}, name)
    assert raw.ids == ["b", "7"]
    assert raw.items == [[("dog", 0.5), ("car", 1)], []]
    assert load({"b": ["cat", ["bin", "ashcan"]]}).items == [["cat", ["bin", "ashcan"]]]
    assert raw.where(1).endswith(f"{name}, id '7'")
    assert raw.understood.startswith("JSON, {id: [labels]}")
    assert raw.notes == []


def test_mapping_of_scores(load):
    raw = load({"a": {"cat": 0.5, "dog": 1}, "b": {}})
    assert raw.items == [[("cat", 0.5), ("dog", 1)], []]
    assert raw.understood == "JSON, {id: {label: score}}"
    raw = load({"a": {"cat": 0.5}, "b": [["dog", 0.5]]})
    assert raw.understood == "JSON, {id: [labels]}"
    assert raw.notes == ["1 item written {label: score}, the others as lists"]


@pytest.mark.parametrize("id_key", ["id", "image_id", "img_id", "ID"])
@pytest.mark.parametrize("label_key", ["labels", "names", "tags", "categories"])
def test_records(load, id_key, label_key):
    scored = {label_key: {"dog": 0.5}, id_key: "b", "url": ""}
    records = [{id_key: 42, label_key: [["cat", 1]]}, scored]
    raw = load(records)
    assert raw.ids == ["42", "b"]
    assert raw.items == [[("cat", 1)], [("dog", 0.5)]]
    assert raw.where(1).endswith("gt.json, element [1], id 'b'")
    assert raw.notes == ["keys not used: 'url'"]
    raw = load(lines(*records), "gt.jsonl")
    assert raw.ids == ["42", "b"]
    assert raw.where(1).endswith("gt.jsonl, line 2, id 'b'")
    assert raw.understood == "JSON lines, one record an item"


def test_records_with_a_list_of_scores(load):
    raw = load([{"id": "a", "labels": ["cat", "dog"], "scores": [0.5, 1]}])
    assert raw.items == [[("cat", 0.5), ("dog", 1)]]


def test_keys_by_option(load):
    record = {"id": "a", "key": "b", "labels": ["x"], "top": ["y"], "p": [1]}
    raw = load([record], id_column="key", label_column="top", score_column="p")
    assert (raw.ids, raw.items) == (["b"], [[("y", 1)]])


def test_positional(load):
    raw = load([["cat"], [], [["bin", "ashcan"]]])
    assert raw.ids == range(3)
    assert raw.items == [["cat"], [], [["bin", "ashcan"]]]
    assert raw.where(2).endswith("gt.json, element [2]")


def test_blank_lines_are_counted_and_final_ones_are_not(load):
    text = '{"id": 1, "labels": []}\n\n \r\n{"id": 2, "labels": []}\r\n\n\n'
    raw = load(text, "gt.jsonl.gz")
    assert raw.notes == ["2 blank lines between records, the first is line 2"]
    assert raw.where(1).endswith("line 4, id '2'")


def test_paired_surrogate_escapes_are_characters(load):
    assert load(r'{"a": ["\ud83d\ude00"]}').items == [["😀"]]


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"a": ["x"], "b": "cat"}, r"gt\.json, id 'b': 'cat' stands where a list .*write \[\"lab"),
        ({"a": 3}, "id 'a': 3 stands where a list"),
        ({"a": None}, "null stands where a list .*empty one for no labels"),
        ({"a": True}, "true stands where"),
        ({"a": {"label": "cat"}}, "id 'a': the label 'label' has 'cat' for a score; write"),
        ({"a": {"cat": True, "dog": 0.5}}, "the label 'cat' has true for a score"),
        ({"a": {"cat": [1]}}, "has a list for a score"),
        ({"": []}, r"gt\.json, key '': the id is empty; name the item"),
        ("3", "3 stands where labels are expected; write"),
        ('"cat"', "'cat' stands where labels"),
        ("{}", "there are no items"),
        ("[]", "there are no items"),
        (["cat", "dog"], r"element \[0\]: 'cat' stands where a list of labels"),
        ([["cat"], {"id": 1}], r"element \[1\]: an object stands among lists; write all"),
        ([{"id": 1, "labels": []}, ["x"]], r"element \[1\]: a list stands where a record"),
        ([{"id": 1}], r"element \[0\]: there is no label column: sought any of labels, .*--label"),
        ([{"labels": []}], "there is no id column.*--id-column"),
        ([{"id": 1, "img_id": 2, "labels": []}], "2 columns could be the id: 'id', 'img_id'"),
        ([{"id": 1, "tags": [], "labels": []}], "could be the label.*--label-column"),
        ([{"id": 1.0, "labels": []}], "1.0 is no id; an id is a text or an integer"),
        ([{"id": True, "labels": []}], "true is no id"),
        ([{"id": None, "labels": []}], "null is no id"),
        ([{"id": [], "labels": []}], "a list is no id"),
        ([{"id": "", "labels": []}], r"element \[0\]: the id is empty"),
        (
            [{"id": 1, "labels": []}, {"id": "1", "labels": []}],
            r"element \[1\], id '1': the id is also at element \[0\]; keep one record",
        ),
        ([{"id": 1, "labels": "cat"}], r"element \[0\], id '1': 'cat' stands where a list"),
        ([{"id": 1, "labels": ["x"], "scores": []}], "beside 1 label there is 0 scores"),
        ([{"id": 1, "labels": ["x"], "scores": 0.5}], "beside 1 label there is 0.5; give one"),
        ([{"id": 1, "labels": {"x": 1}, "scores": [1]}], "labels that have scores; keep one"),
        ('{"a": [], "a": []}', r"gt\.json: the key 'a' stands twice in one object; keep one"),
        ('{"a": [{"label": "x", "label": "y"}]}', "the key 'label' stands twice"),
        ('{"a": [["x", NaN]]}', r"gt\.json, line 1, column 14: NaN is no JSON number"),
        (
            '{"a": [["NaN \\" NaN", 1]],\n "b": [["x", -Infinity]]}',
            r"line 2, column 14: -Infinity is no JSON number",
        ),
        ("[" * 200_000, "nested too deeply"),
        ('{"a":' * 200_000, "nested too deeply"),
        ('{"a": [' + "1" * 5000 + "]}", "thousands of digits; shorten"),
        ('{"a": ["x"]\n "b"}', r"gt\.json, line 2, column 2: invalid JSON.*correct the JSON"),
        ('{"a": ["x"', "invalid JSON"),
        ('{"a": ["\t"]}', "invalid JSON: Invalid control character"),
        ('{"a": []}\n{"b": []}', "line 2, column 1.*--input-format jsonl"),
        ('{"a": []} {"b": []}', "line 1, column 11.*correct the JSON"),
        (r'{"a": ["\ud800"]}', "escape without its other half"),
        (r'{"\udc00": []}', "escape without its other half"),
    ],
)
def test_bad_json(load, data, match):
    with pytest.raises(InputError, match=match):
        load(data)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"id": 1, "labels": []}\n\n{"id": 2, "labels": [}', r"gt\.jsonl, line 3, column 2"),
        ('{"id": 1, "labels": []}\n["x"]', "line 2: a list stands where a record is expected"),
        ('{"a": ["x"]}', "line 1: there is no id column"),
        ('{"id": 1, "labels": []}\n{"id": 1, "labels": []}', "line 2, id '1'.*also at line 1"),
        ('{"id": 1, "id": 1, "labels": []}', "the key 'id' stands twice"),
        ('{"id": 1, "labels": []}\n{"id": 2, "labels": [NaN]}', "line 2, column 22: NaN"),
        ('{"id": 1, "labels": []}\n{"id": 2, "labels": 3}', "line 2, id '2': 3 stands where"),
    ],
)
def test_bad_json_lines(load, text, match):
    with pytest.raises(InputError, match=match):
        load(text, "gt.jsonl")


def test_line_limit(load):
    text = '{"id": 1, "labels": []}\n{"id": 2, "labels": ["' + "x" * 100 + '"]}\n'
    with pytest.raises(InputError, match=r"line 2: .*longer than 60 bytes.*--max-line-bytes"):
        load(text, "gt.jsonl", max_line_bytes=60)
    assert load(text, "gt.jsonl", max_line_bytes=len(text)).ids == ["1", "2"]


@pytest.mark.parametrize("options", [{}, {"format": "coco"}, {"format": "json"}])
def test_coco(load, options):
    raw = load(COCO, **options)
    assert raw.ids == ["1", "2", "x"]
    assert raw.items == [["car", "dog"], ["dog"], []]
    assert raw.understood == "COCO instances, 3 images, 2 categories"
    assert raw.notes == ["1 image without annotations: no labels"]
    assert raw.where(0).endswith("gt.json, id '1'")


def test_ids_named_like_coco_sections_are_ids(load):
    assert load({"images": ["a"], "annotations": []}).ids == ["images", "annotations"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"images": [{"id": 1}, {"id": "1"}]}, r"images\[1\]: the image id 1 stands twice"),
        ({"images": [{}]}, r"images\[0\]: there is no 'id'"),
        ({"images": [{"id": 1.5}]}, r"images\[0\], id: 1.5 is no id"),
        ({"images": [{"id": 1}]}, r"annotations\[0\]: image id 2 is not among the images"),
        ({"annotations": [{"image_id": 1, "category_id": 4}]}, "category id 4 is not among the ca"),
        ({"annotations": [{"image_id": 1, "caption": "A"}]}, "no 'category_id'.*instances file"),
        ({"annotations": [{"image_id": True, "category_id": 3}]}, "true is no id"),
        ({"categories": [{"id": 3, "name": "a"}, {"id": 3, "name": "b"}]}, "id 3 stands twice"),
        ({"categories": [{"id": 3, "name": "a"}, {"id": 4, "name": "a"}]}, "name 'a' stands twice"),
        ({"categories": [{"id": 3, "name": ""}]}, r"categories\[0\]: '' is no category name"),
        ({"categories": [{"id": 3}]}, "null is no category name"),
        ({"categories": [3]}, r"categories\[0\]: 3 is no object"),
        ({"categories": None}, "need a list 'categories', not null"),
        ({"images": [], "annotations": []}, "there are no items"),
    ],
)
def test_bad_coco(load, change, match):
    with pytest.raises(InputError, match=match):
        load({**COCO, **change})


def test_coco_by_format_must_be_coco(load):
    with pytest.raises(InputError, match="need a list 'images'"):
        load({"a": ["x"]}, format="coco")
    with pytest.raises(
        InputError, match=r"gt\.json: a list stands where labels are expected; give the ann"
    ):
        load([["x"]], format="coco")


@pytest.fixture
def many(tmp_path):
    """Write so many records that the fast reader takes them, with others before and after."""

    def written(before, after=()):
        same = [{"id": f"i{i}", "labels": ["a" * 40], "scores": [0.5]} for i in range(30_000)]
        path = tmp_path / "many.jsonl"
        lines = [json.dumps(record) + "\n" for record in [*before, *same, *after]]
        path.write_text("".join(lines))
        assert path.stat().st_size > 2**21
        return path

    return written


def test_scores_that_the_first_record_lacks_are_read(many):
    found = as_labels(many([{"id": "x", "labels": []}]))
    assert found.notes == []
    assert found.side.scores is not None
    with pytest.raises(InputError, match="line 2, id 'i0': some labels have a score"):
        as_labels(many([{"id": "x", "labels": ["b"]}]))


@pytest.mark.parametrize("value", [["b"], None])
@pytest.mark.parametrize("name", ["tags", "Tags", " labels "])
@pytest.mark.parametrize("late", [False, True])
def test_another_name_of_labels_in_one_of_many_records(many, name, value, late):
    record = {"id": "x", "labels": ["a"], "scores": [1], name: value}
    first = {"id": "w", "labels": ["a"], "scores": [1]}
    path = many([first] if late else [first, record], [record] if late else ())
    with pytest.raises(InputError, match="2 columns could be the label"):
        as_labels(path)


def test_keys_of_one_of_many_records_that_are_not_used(many):
    record = {"id": "x", "labels": ["a"], "scores": [1], "width": 3}
    assert as_labels(many([], [record])).notes == ["keys not used: 'width'"]


@pytest.mark.parametrize("first", ["", ', "q": 1'])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("NaN", "NaN is no JSON number"),
        ("[-Infinity]", "-Infinity is no JSON number"),
        ("Inf", "invalid JSON"),
        ("[" * 20_000 + "]" * 20_000, "it is nested too deeply"),
        ('{"a":' * 12_000 + "1" + "}" * 12_000, "it is nested too deeply"),
        ("[" * 500_000, "it is nested too deeply"),
        ('"NaN, Inf: NaN [[[["', None),
        ("[[1, 2], [3, {}]]", None),
        ("[" * 450 + "]" * 450, None),
        ("[" + "[]," * 3000 + "1]", None),
    ],
)
def test_values_of_unused_keys_of_large_files(tmp_path, first, value, message):
    record = '{{"id": "{}", "labels": ["cat"], "note": "{}"{}}}\n'
    path = tmp_path / "large.jsonl"
    with path.open("w") as out:
        out.writelines(record.format(i, "x" * 60, first) for i in range(25_000))
        out.write('{"id": "last", "labels": ["dog"], "q": %s}\n' % value)  # noqa: UP031
    if message is None:
        found = as_labels(path)
        assert (len(found), found.to_list()[-1]) == (25_001, ["dog"])
    else:
        with pytest.raises(InputError, match=f"line 25001.*{message}"):
            as_labels(path)


def test_deep_labels_of_large_files(tmp_path):
    path = tmp_path / "large.jsonl"
    with path.open("w") as out:
        out.writelines(f'{{"id": {i}, "labels": ["{"x" * 90}"]}}\n' for i in range(25_000))
        out.write('{"id": -1, "labels": %s}\n' % ("[" * 20_000 + "]" * 20_000))
    with pytest.raises(InputError, match="nested too deeply"):
        as_labels(path)
