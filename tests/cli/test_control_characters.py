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
IDS = [f"i{place}{EVIL}" for place in range(4)]
CAT = f"cat{EVIL}"
DOG = f"dog{EVIL}"
COW = f"cow{EVIL}"
CAPTIONS = [
    f"a {CAT} runs on the grass",
    f"a {DOG} runs on the grass",
    f"a {COW} runs on the grass",
    f"two men{EVIL}",
]
SCORED = {CAT: 0.0, DOG: 0.1, COW: 0.2}
CONTENTS = {
    "gt": dict.fromkeys(
        IDS,
        (
            CAT,
            DOG,
        ),
    ),
    "a": dict.fromkeys(
        IDS,
        (
            DOG,
            COW,
        ),
    ),
    "b": dict.fromkeys(IDS, (CAT,)),
    "part": dict.fromkeys(
        IDS[:3],
        (
            CAT,
            CAT,
            CAT.upper(),
        ),
    ),
    "captions": dict(zip(IDS, CAPTIONS, strict=True)),
    "others": dict(zip(IDS, reversed(CAPTIONS), strict=True)),
    "references": dict.fromkeys(IDS, tuple(CAPTIONS[:2])),
    "relation": dict.fromkeys(IDS, (IDS[0],)),
    "seen": [CAT, DOG],
    "unseen": [COW],
    "classes": [CAT, DOG, COW],
    "truth": dict(zip(IDS, [CAT, DOG, COW, CAT], strict=True)),
    "similar": [[CAT, CAT, 1], [CAT, DOG, 0]],
    "scored": dict.fromkeys(IDS, SCORED),
    "ratings": [
        {"id": id_, "rating": place, "how": f"g{place % 2}{EVIL}"}
        for place, id_ in enumerate(IDS)
    ],
    "pairs": [[id_, IDS[0], place % 3] for place, id_ in enumerate(IDS)],
    "taxonomy": {CAT: DOG, COW: DOG},
}


@pytest.fixture
def paths(tmp_path, monkeypatch):
    """Write files whose names, ids, labels and captions all have control characters."""
    monkeypatch.chdir(tmp_path)
    paths = {}
    for name, content in CONTENTS.items():
        paths[name] = f"{name}{EVIL}.json"
        Path(paths[name]).write_text(json.dumps(content), encoding="utf-8")
    return paths | {
        "state": f"state{EVIL}.json",
        "matrix": f"matrix{EVIL}.npy",
        "sheet": f"sheet{EVIL}.csv",
    }


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
    command, *words = line.split(" ")

    check_output(run(command, *(word.format(**paths) for word in words)))


@pytest.mark.parametrize("form", ["markdown", "latex"])
@pytest.mark.parametrize("line", SCORES)
def test_tables_of_papers_have_no_control_characters(run, paths, line, form):
    command, *words = line.split(" ")
    words = [word.format(**paths) for word in words]

    check_output(run(command, *words, "--format", form))


def test_json_has_the_exact_names(scores, ok, paths):
    files = (paths["a"], paths["gt"])

    (score,) = scores("score -m F1 --per-item items.jsonl", *files)
    (report,) = json.loads(ok("validate --format json", paths["gt"]))

    assert score["system"] == f"a{EVIL}"
    assert report["file"] == paths["gt"]
    with Path("items.jsonl").open(encoding="utf-8") as lines:
        assert json.loads(next(lines))["id"] == IDS[0]


def test_csv_has_printable_names(ok, paths):
    files = (paths["a"], paths["gt"])

    text = ok("score -m F1 --format csv --per-item items.csv", *files)

    (row,) = csv.DictReader(io.StringIO(text))
    assert row["system"] == printable(f"a{EVIL}")
    with Path("items.csv").open(encoding="utf-8", newline="") as lines:
        assert next(csv.DictReader(lines))["id"] == printable(IDS[0])
