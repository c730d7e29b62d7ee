"""Names, ids and labels with control characters cannot control the terminal or forge a line."""

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from semmetrics.messages import printable

EVIL = "\x1b[2J\nFORGED\r\x07\x9b31m\x7f\u202e\u2028FORGED"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such file names"
)
# The content of each file. The files have the control characters instead of "!".
IDS = ["i0!", "i1!", "i2!", "i3!"]
CAT_AND_DOG = ["a cat! runs on the grass", "a dog! runs on the grass"]
CAPTIONS = [*CAT_AND_DOG, "a cow! runs on the grass", "two men!"]
SCORED = {"cat!": 0.0, "dog!": 0.1, "cow!": 0.2}
CONTENTS = {
    "gt": dict.fromkeys(IDS, ("cat!", "dog!")),
    "a": dict.fromkeys(IDS, ("dog!", "cow!")),
    "b": dict.fromkeys(IDS, ("cat!",)),
    "part": dict.fromkeys(IDS[:3], ("cat!", "cat!", "CAT!")),
    "captions": dict(zip(IDS, CAPTIONS, strict=True)),
    "others": dict(zip(IDS, reversed(CAPTIONS), strict=True)),
    "references": dict.fromkeys(IDS, tuple(CAT_AND_DOG)),
    "relation": dict.fromkeys(IDS, ("i0!",)),
    "seen": ["cat!", "dog!"],
    "unseen": ["cow!"],
    "classes": ["cat!", "dog!", "cow!"],
    "truth": {"i0!": "cat!", "i1!": "dog!", "i2!": "cow!", "i3!": "cat!"},
    "similar": [["cat!", "cat!", 1], ["cat!", "dog!", 0]],
    "scored": dict.fromkeys(IDS, SCORED),
    "ratings": [
        {"id": "i0!", "rating": 0, "how": "g0!"},
        {"id": "i1!", "rating": 1, "how": "g1!"},
        {"id": "i2!", "rating": 2, "how": "g0!"},
        {"id": "i3!", "rating": 3, "how": "g1!"},
    ],
    "pairs": [
        ["i0!", "i0!", 0],
        ["i1!", "i0!", 1],
        ["i2!", "i0!", 2],
        ["i3!", "i0!", 0],
    ],
    "taxonomy": {"cat!": "dog!", "cow!": "dog!"},
}
OUTPUTS = ["state!.json", "matrix!.npy", "sheet!.csv"]


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """Write files whose names, ids, labels and captions all have control characters."""
    monkeypatch.chdir(tmp_path)
    paths = {}
    escaped = json.dumps(EVIL).strip('"')
    for name, content in CONTENTS.items():
        paths[name] = f"{name}{EVIL}.json"
        text = json.dumps(content).replace("!", escaped)
        Path(paths[name]).write_text(text, encoding="utf-8")
    for output in OUTPUTS:
        name, _, _ = output.partition("!")
        paths[name] = output.replace("!", EVIL)
    return paths


def split(line, paths):
    """Return the arguments of a command with the names of files."""
    return [word.format(**paths) for word in line.split(" ")]


SCORES = [
    "score {a} {b} {gt} --worst 2 --show-signatures -m F1",
    "score {a} {gt} --runs -m F1",
    "score {a} {gt} -m F1 --ci --resamples 20",
    "score {part} {gt} -m F1 --missing skip --classes {classes}",
    "score -m SemF1 {a} {gt} --worst 1",
    "score -m hF --taxonomy {taxonomy} {a} {gt}",
    "score {captions} {others} {references} -m ROUGE-L --worst 1 --score-references",
    "score --task retrieval {relation} {relation} -m HitRate@1 --worst 1",
    "score --task classes {scored} {truth} --seen {seen} --unseen {unseen} -m Accuracy --worst 2",
    "score --task classes {scored} {truth} --class-list some={unseen} -m "
    "PerClassAccuracy(labels=some)",
    "compare {a} {b} {gt} -m F1 --differing 2 --ranks --resamples 20 --show-signatures",
]
OTHERS = [
    "sweep {a} {gt} -m SemF1 --thresholds 0.3,0.5",
    "calibrate --pairs {similar}",
    "meta {ratings} {a} {gt} -m F1 --group-by how --resamples 20 --show-signatures",
    "correlate {pairs} {pairs}",
    "validate {a} {part} {captions} {gt}",
    "validate --task classes {truth}",
    "validate --task retrieval {relation}",
    "embed coverage {a} {part} --names 5",
    "doc-freq -o {state} {references}",
    "pairs --phi CIDEr-D -o {matrix} {captions} {references}",
    "mad select -k 2 -o {state} --sheet {sheet} {captions} {others}",
]


def check_output(result):
    """Check that a command succeeded, and that its output has no control characters."""
    assert result.exit_code == 0, result.stderr
    for text in (result.stdout, result.stderr):
        assert not CONTROL.search(text), repr(text)
        for line in text.split("\n"):
            assert not line.lstrip().startswith("FORGED"), repr(text)


@pytest.mark.parametrize("line", SCORES + OTHERS)
def test_the_output_has_no_control_characters(run, paths, line):
    result = run(*split(line, paths))

    check_output(result)


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize("line", SCORES)
def test_tables_of_papers_have_no_control_characters(run, paths, line, form):
    result = run(*split(line, paths), "--format", form)

    check_output(result)


def test_json_has_the_exact_names(scores, ok, paths):
    files = (paths["a"], paths["gt"])

    (score,) = scores("score -m F1 --per-item items.jsonl", *files)
    (report,) = json.loads(ok("validate --format json", paths["gt"]))

    with Path("items.jsonl").open(encoding="utf-8") as lines:
        item = json.loads(next(lines))
    assert score["system"] == f"a{EVIL}"
    assert report["file"] == paths["gt"]
    assert item["id"] == f"i0{EVIL}"


def test_csv_has_printable_names(ok, paths):
    files = (paths["a"], paths["gt"])

    text = ok("score -m F1 --format csv --per-item items.csv", *files)

    (row,) = csv.DictReader(io.StringIO(text))
    with Path("items.csv").open(encoding="utf-8", newline="") as lines:
        item = next(csv.DictReader(lines))
    assert row["system"] == printable(f"a{EVIL}")
    assert item["id"] == printable(f"i0{EVIL}")
