"""Caption files: COCO results and annotations, Karpathy's JSON, Flickr's tokens, and text."""

import pyarrow as pa
import pytest
from reading import codes, refused_in, saved
from refusals import refused

from semmetrics import ReadOptions, as_candidates, as_captions
from semmetrics.kinds.captions import as_texts

COCO = {
    "images": [{"id": 9}, {"id": 4}, {"id": 7}],
    "annotations": [
        {"id": 1, "image_id": 4, "caption": "a dog"},
        {"id": 2, "image_id": 9, "caption": "a cat"},
        {"id": 3, "image_id": 4, "caption": "the dog"},
    ],
}


def test_coco_results_are_captions_of_images(tmp_path):
    records = [
        {"image_id": 404, "caption": "one"},
        {"image_id": 7, "caption": "two", "id": 3},
        {"image_id": 404, "caption": "three"},
    ]

    lists = as_captions(saved(tmp_path, "refs.json", records))

    assert lists.ids == ["404", "7"]
    assert lists.to_list() == [["one", "three"], ["two"]]
    assert lists.where(1).endswith("refs.json, element [1], id '7'")
    assert lists.understood == "JSON, one record per caption"
    assert codes(lists) == [("unused-columns", 1, "id")]


def test_a_null_caption_of_a_table_is_an_error():
    table = pa.table({"id": ["a", "b"], "caption": ["x", None]})
    message = "the caption is null. Write an empty string for an empty caption."

    with refused(message):
        as_captions(table)


def test_coco_captions_have_the_order_of_the_images(tmp_path):
    lists = as_captions(saved(tmp_path, "refs.json", COCO))

    assert lists.ids == ["9", "4"]
    assert lists.to_list() == [["a cat"], ["a dog", "the dog"]]
    assert lists.understood == "COCO captions, 3 captions"
    assert [note.code for note in lists.notes] == ["without-annotations"]
    assert lists.where(1).endswith("refs.json, id '4'")


ONE_CAPTION = {"id": 1, "caption": "x"}
LIST_OF_CAPTIONS = {"id": 1, "captions": ["y"]}


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        ([["x"], {"id": 1}], "wrong-type", ", element [1]"),
        ([ONE_CAPTION, LIST_OF_CAPTIONS], "duplicate-at", ", element [1], id '1'"),
        ([LIST_OF_CAPTIONS, ONE_CAPTION], "duplicate-at", ", element [1], id '1'"),
        ("a\rb\r", "carriage-returns", ", line 1"),
    ],
)
def test_an_error_in_captions_names_the_place(tmp_path, data, code, place):
    name = "refs.txt" if isinstance(data, str) else "refs.json"

    with refused_in(code, f"{name}{place}"):
        as_captions(saved(tmp_path, name, data))


def test_the_karpathy_split_of_coco_is_read(reference_dir):
    lists = as_captions(reference_dir / "coco" / "coco_karpathy_test5k.tsv")

    captions = lists.values()
    assert len(lists) == 5000
    assert len(captions) == 25000
    assert lists.ids[0] == "391895"
    assert captions[0] == "A man with a red helmet on a small moped on a dirt road."


# Karpathy's JSON


def image(imgid, *texts, split="test"):
    """Return an image with captions."""
    sentences = []
    for number, text in enumerate(texts):
        sentences.append({"sentid": 10 * imgid + number, "raw": text})
    file_name = f"{imgid}.jpg"
    record = {"imgid": imgid, "filename": file_name, "split": split}
    return {**record, "sentences": sentences}


KARPATHY = {
    "dataset": "coco",
    "images": [
        image(0, "A cat.", split="train"),
        image(1, "Two cats.", "Cats."),
        image(2, "A dog.", split="restval"),
        image(3, "A bus.", "Bus."),
    ],
}


@pytest.mark.parametrize("name", ["dataset_coco.json", "dataset_coco.json.gz"])
def test_all_splits_of_karpathys_json_are_read_by_default(tmp_path, name):
    candidates = as_candidates(saved(tmp_path, name, KARPATHY))

    assert candidates.to_list() == [["0"], ["10", "11"], ["20"], ["30", "31"]]
    assert "splits train, test, restval" in candidates.understood


def test_an_unknown_split_is_an_error():
    with refused("unknown-name"):
        as_captions(KARPATHY, options=ReadOptions(split="dev"))


@pytest.mark.parametrize("read", [as_captions, as_candidates, as_texts])
@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        ({"imgid": 0}, "duplicate-id", ""),
        ({"imgid": None}, "wrong-id", ", imgid"),
        ({"sentences": None}, "wrong-type", ""),
        ({"sentences": [7]}, "wrong-type", ".sentences[0]"),
        ({"sentences": [{"sentid": 1}]}, "missing-key", ".sentences[0]"),
        ({"sentences": [{"raw": "a"}]}, "missing-key", ".sentences[0]"),
        ({"sentences": [{"sentid": 0, "raw": "a"}]}, "duplicate-id", ".sentences[0]"),
    ],
)
def test_an_error_in_karpathys_json_names_the_place(read, changes, code, place):
    document = {"images": [image(0, "A cat."), {**image(1), **changes}]}

    with refused(code, place=f"images[1]{place}"):
        read(document)


# Flickr's token files

TOKENS = "1.jpg#0\tA cat .\r\n2.jpg#0\tTwo dogs\tand more\n1.jpg#1\t\n"


@pytest.mark.parametrize("name", ["results.token", "Flickr8k.token.txt"])
def test_token_files_have_captions_with_ids(tmp_path, name):
    path = saved(tmp_path, name, TOKENS)

    captions = as_captions(path)

    assert list(captions.ids) == ["1.jpg", "2.jpg"]
    assert captions.to_list() == [["A cat .", ""], ["Two dogs\tand more"]]
    assert captions.understood == "Flickr's token file, 3 captions"
    assert as_candidates(path).to_list() == [["1.jpg#0", "1.jpg#1"], ["2.jpg#0"]]
    assert list(as_texts(path).ids) == ["1.jpg#0", "2.jpg#0", "1.jpg#1"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("no name", "wrong-content"),
        ("", "wrong-content"),
        ("1.jpg#0\tb", "duplicate"),
        ("1.jpg#x\tb", "wrong-content"),
    ],
)
def test_an_error_in_a_token_file_names_the_line(tmp_path, line, code):
    path = saved(tmp_path, "results.token", f"1.jpg#0\ta\n{line}\n")

    with refused(code, place="line 2"):
        as_captions(path)
