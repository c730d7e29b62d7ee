"""``semmetrics validate`` of captions."""

import json
from pathlib import Path

from cli.data import CAPTIONS

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


def test_standard_input(ok):
    assert "2 captions, 2 distinct" in ok("validate", "-", stdin=json.dumps(CAPTIONS))


def test_captions_of_coco(ok, reference_dir):
    found = report(ok, reference_dir / "coco" / "coco_karpathy_test5k.tsv")
    assert (found["items"], found["captions"], found["distinct"]) == (5000, 25_000, 24_824)
    assert found["cardinality"]["histogram"] == [0, 0, 0, 0, 0, 5000]
    assert sum(entry["count"] - 1 for entry in found["repeated"]) == 25_000 - 24_824
