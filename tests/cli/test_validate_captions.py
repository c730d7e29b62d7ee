"""``semmetrics validate`` of captions."""

import json
from pathlib import Path

import pytest
from cli.data import CAPTIONS, REFERENCES

SENTENCES = {
    "1": ["a man rides a brown horse", "a person on a horse"],
    "2": ["two dogs run on grass"],
}


def write(name, content):
    text = content if isinstance(content, str) else json.dumps(content)
    Path(name).write_text(text, encoding="utf-8")
    return name


def report(ok, *arguments):
    (found,) = json.loads(ok("validate", *arguments, "--format", "json"))
    return found


def test_the_table(ok, files):
    write("refs.json", {**REFERENCES, "3": ["the cat sleeps", "dogs run"]})
    lines = ok("validate", "refs.json", "--task", "captions").splitlines()
    assert lines == [
        "refs.json: JSON, {id: [captions]}",
        "  items             3, known by id",
        "  captions          7 captions, 5 distinct",
        "  captions an item  2.33 (0.58) mean (std), from 2 to 3",
        "  words             28 words, 15 distinct",
        "  words a caption   4.00 (2.16) mean (std), from 2 to 7",
        "  most frequent     'the cat sleeps' 2, 'dogs run' 2",
        "  odd: 2 captions in more than one item: 'the cat sleeps', 'dogs run'",
    ]
    assert "  nothing is odd" in ok("validate", "captions.json")
    assert "most frequent" not in ok("validate", "captions.json")


def test_json(ok, files):
    found = report(ok, "captions.json")
    assert found == {
        "schema": "semmetrics.validation/1",
        "file": "captions.json",
        "error": None,
        "task": "captions",
        "understood": "JSON, {id: caption}",
        "notes": [],
        "items": 2,
        "ids": True,
        "captions": 2,
        "distinct": 2,
        "cardinality": {"mean": 1.0, "std": 0.0, "min": 1, "max": 1, "histogram": [0, 2]},
        "words": {
            "total": 11,
            "distinct": 9,
            "mean": 5.5,
            "std": pytest.approx(0.5**0.5),
            "min": 5,
            "max": 6,
        },
        "repeated": [],
        "odd": [],
    }
    assert report(ok, "a.json")["task"] == "labels"


def test_what_is_odd(ok, files):
    content = {
        " 1": ["a cat", "a cat", "  ", "a dog"],
        "1": ["a dog", " a bird ", "a dog", "\x1b[31m red"],
        "3": [],
        "4": ["word " * 99_999 + "end", ""],
    }
    found = report(ok, write("odd.json", content), "--task", "captions")
    for expected in (
        "1 of 4 items without captions: '3'",
        "2 empty captions in 2 items: ' 1', '4'",
        "2 of 4 items with a repeated caption: ' 1', '1'",
        "1 caption in more than one item: 'a dog'",
        "1 caption with blanks around: ' a bird '",
        "1 caption with invisible characters: '\\x1b[31m red'",
        "1 id with blanks around: ' 1'",
        "1 group of ids differing only by case or white space: ' 1', '1'",
    ):
        assert expected in found["odd"]
    assert len(found["odd"]) == 8
    assert found["repeated"] == [{"caption": "a dog", "count": 3}, {"caption": "a cat", "count": 2}]
    assert found["words"]["max"] == 100_000
    assert (found["words"]["min"], found["cardinality"]["min"]) == (0, 0)


def test_long_captions_are_cut(ok, files):
    text = "word " * 100_000
    shown = ok("validate", write("long.json", {"1": text, "2": text}))
    assert len(shown) < 1000
    assert f"'{text[:40]}...' 2" in shown


def test_items_without_any_caption(ok, files):
    found = report(ok, write("none.json", {"1": []}), "--task", "captions")
    assert found["words"] == {
        "total": 0, "distinct": 0, "mean": None, "std": None, "min": None, "max": None,
    }  # fmt: skip
    assert "words a caption" not in ok("validate", "none.json", "--task", "captions")


@pytest.mark.parametrize(
    ("name", "content", "task"),
    [
        ("a.jsonl", '{"id": "1", "caption": "a cat"}\n', "captions"),
        ("a.csv", "id,caption\n1,a cat\n", "captions"),
        ("a.csv", "id,label\n1,a cat\n", "labels"),
        ("a.txt", "a cat\ta dog\n", "captions"),
        ("a.json", {"annotations": [{"image_id": 1, "caption": "a cat"}]}, "captions"),
        ("a.json", {"1": "cat"}, "captions"),
        ("a.json", {"1": ["cat", "dog"]}, "labels"),
        ("a.json", {"1": [["cat", 0.5]]}, "labels"),
        ("a.json", SENTENCES, "captions"),
    ],
)
def test_the_shape_of_a_file_tells(ok, files, name, content, task):
    found = report(ok, write(name, content))
    assert found["task"] == task
    assert bool(found["notes"]) == (content in (SENTENCES, {"1": "cat"}))


def test_lists_could_be_either(ok, files):
    write("s.json", SENTENCES)
    assert "5.3 words on average, taken for captions; if not" in ok("validate", "s.json")
    found = report(ok, "s.json", "--task", "labels")
    assert (found["labels"], found["notes"]) == (3, [])
    assert report(ok, "s.json", "--classes", "classes.txt")["task"] == "labels"
    (note,) = report(ok, "references.json")["notes"]
    assert note.endswith("taken for labels; if not, set task= (--task) to 'captions'")
    found = report(ok, "references.json", "--task", "captions", "--classes", "classes.txt")
    assert (found["captions"], found["notes"]) == (
        5,
        ["classes= (--classes) has no effect on captions"],
    )


def test_bad_files_are_named_and_the_others_read(run, files):
    write("bad.json", {"1": "a cat", "2": 7})
    result = run("validate", "bad.json", "captions.json", "none.json")
    assert result.exit_code == 2
    assert result.stdout.lstrip().startswith("captions.json: JSON, {id: caption}\n")
    assert "bad.json, id '2': 7 is an int, not " in result.stderr
    assert result.stderr.count("semmetrics: error: ") == 2
    assert "is not one of 'labels', 'captions'" in run("validate", "--task", "x", "a.json").stderr


def test_standard_input(ok):
    assert "2 captions, 2 distinct" in ok("validate", "-", stdin=json.dumps(CAPTIONS))


def test_captions_of_coco(ok, reference_dir):
    found = report(ok, reference_dir / "coco" / "coco_karpathy_test5k.tsv")
    assert (found["items"], found["captions"], found["distinct"]) == (5000, 25_000, 24_824)
    assert found["cardinality"]["histogram"] == [0, 0, 0, 0, 0, 5000]
    assert sum(entry["count"] - 1 for entry in found["repeated"]) == 25_000 - 24_824
