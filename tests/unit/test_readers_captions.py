"""Captions from files: JSON, JSON lines, COCO, tables, Parquet and plain text."""

import gzip
import io
import json
import sys

import pytest
from reading import codes, refused_in
from refusals import refused

from semmetrics import ReadOptions
from semmetrics.data.inputs import open_input
from semmetrics.data.json_files import parse_source
from semmetrics.errors import Fact
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels


@pytest.fixture
def load(tmp_path):
    def reader(data, name="refs.json", **options):
        path = tmp_path / name
        text = data if isinstance(data, str | bytes) else json.dumps(data)
        raw = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
        return as_captions(path, options=ReadOptions(**options))

    return reader


def lists(captions):
    """The captions of each item."""
    return captions.to_list()


def lines(*records):
    return "\n".join(json.dumps(record) for record in records)


COCO = {
    "info": {},
    "images": [{"id": 9}, {"id": 4}, {"id": 7}],
    "annotations": [
        {"id": 1, "image_id": 4, "caption": "a dog"},
        {"id": 2, "image_id": 9, "caption": "a cat"},
        {"id": 3, "image_id": 4, "caption": "the dog"},
    ],
}


@pytest.mark.parametrize("name", ["refs.json", "refs.json.gz"])
def test_mapping_of_lists(load, name):
    got = load({"b": ["one", "two"], "7": ["three"], "c": []}, name)
    assert got.ids == ["b", "7", "c"]
    assert lists(got) == [["one", "two"], ["three"], []]
    assert got.where(1).endswith(f"{name}, id '7'")
    assert got.understood == "JSON, {id: [captions]}" + ", gzip" * name.endswith("gz")
    assert got.notes == []


def test_mapping_of_texts(load):
    got = load({"b": "one", "a": ""})
    assert (got.ids, lists(got)) == (["b", "a"], [["one"], [""]])
    assert got.understood == "JSON, {id: caption}"


def test_by_position(load):
    got = load(["one", "two"])
    assert (got.ids, lists(got)) == (range(2), [["one"], ["two"]])
    assert got.understood == "JSON, [captions] by position"
    assert got.where(1).endswith("refs.json, element [1]")
    got = load([["one", "two"], []])
    assert lists(got) == [["one", "two"], []]
    assert got.understood == "JSON, [[captions]] by position"


def test_coco_results(load):
    records = [
        {"image_id": 404, "caption": "one"},
        {"image_id": 7, "caption": "two", "id": 3},
        {"image_id": 404, "caption": "three"},
    ]
    got = load(records)
    assert got.ids == ["404", "7"]
    assert lists(got) == [["one", "three"], ["two"]]
    assert got.where(1).endswith("refs.json, element [1], id '7'")
    assert got.understood == "JSON, one record a caption"
    assert codes(got) == [("unused-columns", 1, "id")]


def test_coco_captions_keep_the_order_of_annotations(load):
    got = load(COCO)
    assert got.ids == ["9", "4"]
    assert lists(got) == [["a cat"], ["a dog", "the dog"]]
    assert got.understood == "COCO captions, 3 captions"
    assert [note.code for note in got.notes] == ["without-annotations"]
    assert got.where(1).endswith("refs.json, id '4'")


def test_coco_captions_without_images(load):
    got = load({"annotations": COCO["annotations"]})
    assert (got.ids, lists(got)) == (["4", "9"], [["a dog", "the dog"], ["a cat"]])
    assert got.notes == []


@pytest.mark.parametrize("id_key", ["id", "image_id", "img_id", "ID"])
@pytest.mark.parametrize(
    "key", ["caption", "captions", "references", "refs", "sentence", "sentences", "text"]
)
def test_records(load, id_key, key):
    records = [{id_key: 1, key: ["one", "two"]}, {key: ["three"], id_key: "b"}]
    for got in (load(records), load(lines(*records), "refs.jsonl")):
        assert got.ids == ["1", "b"]
        assert lists(got) == [["one", "two"], ["three"]]
        assert got.understood.endswith("one record an item")
    assert got.where(1).endswith("refs.jsonl, line 2, id 'b'")


def test_records_of_texts_share_an_id_and_blank_lines_are_noted(load):
    one, two, three = ({"id": i, "text": t} for i, t in [("a", "x"), ("b", "y"), ("a", "z")])
    got = load(f"{lines(one, two)}\n\n{lines(three)}\n", "refs.ndjson.gz")
    assert lists(got) == [["x", "z"], ["y"]]
    assert got.understood == "JSON lines, one record a caption, gzip"
    assert got.notes == [Fact("blank-lines", 1, values={"between": "records", "first": 3})]


def test_keys_by_option(load):
    record = {"image_id": 1, "test": "mine", "refs": ["theirs", "others"]}
    assert lists(load([record])) == [["theirs", "others"]]
    assert lists(load([record], caption_column="test")) == [["mine"]]
    assert load([{"k": "a", "caption": "x"}], id_column="k").ids == ["a"]


def test_table(load):
    got = load('Image_ID,caption_id,Caption\n7,1,"a, b"\n8,2,\n7,3," ""c"" "\n', "refs.csv")
    assert got.ids == ["7", "8"]
    assert lists(got) == [["a, b", ' "c" '], [""]]
    assert got.where(1).endswith("refs.csv, line 3, id '8'")
    assert got.understood == "CSV, one row a caption: id 'Image_ID', caption 'Caption'"
    assert codes(got) == [("scattered-rows", 1), ("unused-columns", 1, "caption_id")]


@pytest.mark.parametrize("key", ["caption", "captions", "text", "sentence", "sentences", "comment",
                                 "reference", "references"])  # fmt: skip
def test_table_columns(load, key):
    assert lists(load(f"img\t{key}\r\na\tone two\r\n", "refs.tsv.gz")) == [["one two"]]


def test_an_image_goes_before_the_number_of_the_annotation(load):
    assert load("id,image_id,caption\n5,7,x\n", "refs.csv").ids == ["7"]
    assert load("id,image_id,caption\n5,7,x\n", "refs.csv", id_column="id").ids == ["5"]


def test_table_options(load):
    got = load("name|said\na|x\n", "r.csv", id_column="name", caption_column="said", delimiter="|")
    assert (got.ids, lists(got)) == (["a"], [["x"]])


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def written(columns):
        parquet.write_table(arrow.table(columns), tmp_path / "refs.parquet")
        return as_captions(tmp_path / "refs.parquet")

    got = written({"image_id": [3, 4, 3], "caption": ["a", "b", "c"], "n": [1, 2, 3]})
    assert (got.ids, lists(got)) == (["3", "4"], [["a", "c"], ["b"]])
    assert got.understood == "Parquet, one row a caption: id 'image_id', caption 'caption'"
    assert codes(got)[-1] == ("unused-columns", 1, "n")
    assert got.where(1).endswith("row 1 (from 0), id '4'")
    got = written({"id": ["x", "y"], "references": [["a", "b"], []]})
    assert (got.ids, lists(got)) == (["x", "y"], [["a", "b"], []])
    assert got.understood.startswith("Parquet, one row an item")
    for columns, match in [
        ({"id": ["x", "y"], "caption": ["a", None]}, r"row 1 .*, id 'y': the caption is null; wri"),
        (
            {"id": ["x", "y"], "caption": [["a"], None]},
            r"row 1 .*, id 'y': the list of captions is null",
        ),
        ({"id": ["x", "x"], "caption": [["a"], ["b"]]}, r"row 1 .*the id also appears at row 0"),
        ({"id": ["x"], "caption": [1]}, "column 'caption': the type int64 does not fit a column"),
        ({"id": ["x"], "caption": [[1]]}, r"row 0, id 'x', caption 0 \(from 0\): 1 is an int, not"),
        ({"id": ["x"], "label": ["a"]}, "no column for caption"),
    ]:
        with refused(match):
            written(columns)


def test_text_lines(load):
    text = "one\r\ntwo \n\n \t\nlast\r\n"
    got = load(text, "refs.txt")
    assert got.ids == range(5)
    assert lists(got) == [["one"], ["two "], [""], [" ", ""], ["last"]]
    assert got.understood == "text, one item a line, tabs between its captions"
    assert got.notes == [Fact("blank-texts", 2, values={"noun": "caption", "first": 3})]
    assert got.where(4).endswith("refs.txt, line 5")


def test_a_final_newline_ends_the_last_line(load):
    for text, expected in [("a\nb", ["a", "b"]), ("a\nb\n", ["a", "b"]), ("a\n\n", ["a", ""])]:
        got = load(text, "hyp.txt.gz")
        assert got.values() == expected
        assert got.understood == "text, one caption a line, gzip"


@pytest.mark.parametrize(
    "break_", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
)
@pytest.mark.parametrize("name", ["c.txt", "c.csv", "c.jsonl", "c.json"])
def test_other_separators_do_not_end_lines(load, break_, name):
    caption = f"a{break_}b"
    record = {"id": "x", "caption": caption}
    text = {
        "c.txt": f"{caption}\nc\n",
        "c.csv": f"id,caption\nx,{caption}\ny,c\n",
        "c.jsonl": f"{json.dumps(record, ensure_ascii=False)}\n" + '{"id":"y","caption":"c"}\n'
        if break_ >= " "
        else lines(record, {"id": "y", "caption": "c"}),
        "c.json": json.dumps({"x": caption, "y": "c"}, ensure_ascii=break_ < " "),
    }[name]
    assert load(text, name).values() == [caption, "c"]


def test_long_and_strange_captions_are_kept(load):
    captions = ["word " * 100_000, "\x01\x1b[31m\x7f", "👩‍👩‍👧 \U0001f600", "これは猫です", "عربى"]
    for data, name in [
        (captions, "c.json"),
        ("\n".join(captions), "c.txt"),
        ("id,text\n" + "\n".join(f"{i},{c}" for i, c in enumerate(captions)), "c.csv"),
        (lines(*({"id": i, "text": c} for i, c in enumerate(captions))), "c.jsonl"),
    ]:
        assert load(data, name).values() == captions


@pytest.mark.parametrize(
    ("text", "understood", "expected"),
    [
        (
            "a cat\nthe dog, it sleeps\n",
            "text, one caption a line",
            ["a cat", "the dog, it sleeps"],
        ),
        ("a cat\tthe cat\n", "text, one item a line, tabs between", ["a cat", "the cat"]),
        ("image_id\tcaption\n7\ta cat\n", "TSV, one row", ["a cat"]),
        ('"id","caption"\n7,"a, cat"\n', "CSV, one row", ["a, cat"]),
        ('{"7": "a cat"}', "JSON, {id: caption}", ["a cat"]),
        ('{"id": 7, "caption": "a cat"}\n{"id": 8, "caption": "x"}', "JSON lines", ["a cat", "x"]),
        ('[{"image_id": 7, "caption": "a cat"}]', "JSON, one record", ["a cat"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, text, understood, expected, packed):
    raw = gzip.compress(text.encode()) if packed else text.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    got = as_captions("-")
    assert got.source == "standard input"
    assert got.understood.startswith(understood)
    assert got.values() == expected


def test_text_by_option(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,caption\na,b\n")))
    got = as_captions("-", options=ReadOptions(format="txt"))
    assert got.values() == ["id,caption", "a,b"]


def test_options_that_do_not_apply_are_noted(load):
    got = load("a\n", "c.txt", id_column="id", label_column="label", delimiter=";")
    assert codes(got) == [("unused-options", 3, "id_column", "label_column", "delimiter")]
    got = load({"a": "x"}, caption_column="caption", delimiter=";")
    assert codes(got) == [
        ("unused-options", 1, "caption_column"),
        ("unused-options", 1, "delimiter"),
    ]
    assert load([{"id": 1, "caption": "x"}], caption_column="caption").notes == []


def test_a_loaded_file_is_read_once(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": ["one", "two"]}')
    held = open_input(path)
    path.unlink()
    assert as_captions(held).values() == ["one", "two"]
    assert as_labels(held).vocabulary == ["one", "two"]
    assert held.parsed(parse_source) is held.parsed(parse_source)


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        ({"a": "x", "b": ["y"]}, "r.json", ("wrong-type", "r.json, id 'a'")),
        ({"a": ["x"], "b": "y"}, "r.json", ("wrong-type", "r.json, id 'b'")),
        ({"a": "x", "b": 3}, "r.json", ("wrong-type", "r.json, id 'b'")),
        ({"a": ["x", None]}, "r.json", ("wrong-type", "r.json, id 'a', caption 2")),
        ({"a": {"caption": "x"}}, "r.json", ("wrong-type", "r.json, id 'a'")),
        ({"": "x"}, "r.json", ("empty-id", "r.json, key ''")),
        ('{"a": "x", "a": "y"}', "r.json", ("duplicate", "r.json")),
        (r'{"a": "\ud800"}', "r.json", ("lone-surrogate", "r.json")),
        ("3", "r.json", ("wrong-type", "r.json")),
        ("{}", "r.json", ("nothing-given", "r.json")),
        ("[]", "r.json", ("nothing-given", "r.json")),
        (["x", ["y"]], "r.json", ("wrong-type", "r.json, element [0]")),
        ([["x"], {"id": 1}], "r.json", ("wrong-type", "r.json, element [1]")),
        ([{"id": 1, "caption": 5}], "r.json", ("wrong-type", "r.json, element [0], id '1'")),
        ([{"id": 1, "caption": "x"}, {"id": 1, "captions": ["y"]}], "r.json",
         ("duplicate-at", "r.json, element [1], id '1'")),
        ([{"id": 1, "captions": ["x"]}, {"id": 1, "captions": ["y"]}], "r.json",
         ("duplicate-at", "r.json, element [1], id '1'")),
        ([{"id": 1, "captions": ["x"]}, {"id": 1, "caption": "y"}], "r.json",
         ("duplicate-at", "r.json, element [1], id '1'")),
        ([{"id": 1, "caption": "x"}, "y"], "r.json", ("wrong-type", "r.json, element [1]")),
        ([{"id": None, "caption": "x"}], "r.json", ("wrong-id", "r.json, element [0]")),
        ([{"id": 1, "label": "x"}], "r.json", ("missing-column", "r.json, element [0]")),
        ([{"id": 1, "caption": "x", "references": []}], "r.json",
         ("ambiguous-column", "r.json, element [0]")),
        ({"annotations": [{"image_id": 1, "caption": 4}]}, "r.json",
         (None, "r.json, annotations[0], id '1'")),
        ({"annotations": [{"caption": "x"}]}, "r.json", (None, "r.json, annotations[0]")),
        (COCO | {"images": [{"id": 4}]}, "r.json", (None, "r.json, annotations[1]")),
        (COCO | {"images": [{"id": 4}, {"id": 4}]}, "r.json", (None, "r.json, images[1]")),
        (COCO | {"images": 4}, "r.json", (None, "r.json")),
        ({"images": [{"id": 1}], "annotations": [{"image_id": 1, "category_id": 2}]}, "r.json",
         (None, "r.json, annotations[0], id '1'")),
        ({"images": [{"id": 1}], "annotations": []}, "r.json", ("nothing-given", "r.json")),
        ('{"id": 1, "caption": "x"}\n{"id": 2}', "r.jsonl", ("missing-column", "r.jsonl, line 2")),
        ('{"id": 1, "caption": "x"}\n[]', "r.jsonl", ("wrong-type", "r.jsonl, line 2")),
        ("id,caption\n,x\n", "r.csv", ("empty-id", "r.csv, line 2")),
        ("id,caption\na,x,y\n", "r.csv", ("wrong-width", "r.csv, line 2")),
        ("id,label\na,x\n", "r.csv", ("missing-column", "r.csv, line 1")),
        ("caption\nx\n", "r.csv", ("missing-column", "r.csv, line 1")),
        (" \n\n", "r.txt", ("empty", "r.txt")),
        ("a\rb\r", "r.txt", ("carriage-returns", "r.txt, line 1")),
        ("a\n\0\n", "r.txt", ("bad-character", "r.txt, line 2")),
        (b"a\n\xff\n", "r.txt", ("not-utf8", "r.txt, line 2")),
        ("x", "r.npy", ("wrong-format", "r.npy")),
        ("x", "r.doc", ("unknown-extension", "r.doc")),
    ],
)  # fmt: skip
def test_errors_name_place_and_remedy(load, data, name, match):
    with refused_in(*match) as caught:
        load(data, name)
    assert name in caught.value.where


def test_long_lines_are_refused_by_the_limit(load):
    with refused_in("line-too-long", "c.txt, line 2"):
        load("a\n0123456789\n", "c.txt", max_line_bytes=9)


def test_labels_are_not_read_from_text(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("cat\n")
    with refused_in("unknown-extension", "x.txt") as got:
        as_labels(path)
    assert ".txt" not in got.value.remedy
    with refused_in("wrong-format", "x.txt"):
        as_labels(path, options=ReadOptions(format="txt"))


def test_a_column_of_captions_is_no_option_of_labels(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": ["cat"]}')
    found = as_labels(path, options=ReadOptions(caption_column="c"))
    assert codes(found) == [("unused-options", 1, "caption_column")]


def test_karpathy_split(reference_dir):
    got = as_captions(reference_dir / "coco" / "coco_karpathy_test5k.tsv")
    assert (len(got), len(got.values())) == (5000, 25000)
    assert got.ids[0] == "391895"
    assert got.values()[0] == "A man with a red helmet on a small moped on a dirt road."


def test_fakecap(reference_dir):
    raw = as_captions(reference_dir / "coco" / "captions_val2014_fakecap_results.json")
    refs = as_captions(reference_dir / "coco" / "fakecap_tokenized_gts.json")
    assert (len(raw), len(raw.values()), raw.understood) == (
        1000,
        1000,
        "JSON, one record a caption",
    )
    assert set(raw.ids) == set(refs.ids)
    assert set(map(len, lists(refs))) == {5, 6}


def test_flickr30k(reference_dir):
    got = as_captions(reference_dir / "flickr30k" / "test_caps.txt")
    assert (len(got), got.ids, got.notes) == (5000, range(5000), [])
    assert got.values()[0] == "The man with pierced ears is wearing glasses and an orange hat ."
    assert got.where(4999).endswith("test_caps.txt, line 5000")


LONG = "a cat that sleeps " * 7  # 20,000 of them are more than is read at once


@pytest.mark.parametrize("last", ["a new one, caption 0", f"{LONG}7"])
def test_captions_that_differ_but_for_a_late_repeat(load, last):
    texts = [f"{LONG}{number}" for number in range(20_000)]
    records = [{"id": number, "captions": [text]} for number, text in enumerate(texts)]
    records.append({"id": "last", "captions": [last, texts[7]]})
    got = load(lines(*records), "refs.jsonl")
    assert got.to_list() == [*([text] for text in texts), [last, texts[7]]]
    assert list(got.vocabulary) == list(dict.fromkeys([*texts, last]))


@pytest.mark.parametrize("blank", ["\n", "\r\n"])
def test_blank_lines_of_a_large_table_are_noted(load, blank):
    rows = [f"{number},{LONG}\n" for number in range(20_000)]
    rows[15_000] += blank
    got = load("id,caption\n" + "".join(rows), "refs.csv")
    assert len(got) == 20_000
    assert got.notes == [Fact("blank-lines", 1, values={"between": "rows", "first": 15003})]
