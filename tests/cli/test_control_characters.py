"""No file name, id, label or class can command the terminal, or write a line of its own."""

import csv
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from semmetrics.messages import printable

EVIL = "\x1b[2J\nFORGED\r\x07\x9b31m\x7f\u202e\u2028FORGED"
COMMANDING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has no such file names"
)


def name(text):
    return f"{text}{EVIL}"


def dump(stem, value):
    path = name(stem) + ".json"
    Path(path).write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Files whose names, ids, labels, captions and classes are all of this kind."""
    monkeypatch.chdir(tmp_path)
    ids = [name(f"i{place}") for place in range(4)]
    labels = [name(one) for one in ("cat", "dog", "cow")]
    captions = [f"a {one} runs on the grass" for one in labels] + [name("two men")]
    found = {
        "gt": dump("gt", dict.fromkeys(ids, labels[:2])),
        "a": dump("a", dict.fromkeys(ids, labels[1:])),
        "b": dump("b", {one: [labels[0]] for one in ids}),
        "part": dump(
            "part", {one: [labels[0], labels[0], labels[0].upper()] for one in ids[:3]}
        ),
        "captions": dump("captions", dict(zip(ids, captions, strict=True))),
        "others": dump("others", dict(zip(ids, reversed(captions), strict=True))),
        "references": dump("references", dict.fromkeys(ids, captions[:2])),
        "relation": dump("relation", {one: [ids[0]] for one in ids}),
        "seen": dump("seen", labels[:2]),
        "unseen": dump("unseen", labels[2:]),
        "classes": dump("classes", labels),
        "truth": dump("truth", dict(zip(ids, labels + labels[:1], strict=True))),
        "similar": dump(
            "similar", [[labels[0], labels[0], 1], [labels[0], labels[1], 0]]
        ),
        "first": dump(
            "first",
            {one: {label: 0.1 * k for k, label in enumerate(labels)} for one in ids},
        ),
        "ratings": dump(
            "ratings",
            [
                {"id": one, "rating": k, "how": name(f"g{k % 2}")}
                for k, one in enumerate(ids)
            ],
        ),
        "pairs": dump("pairs", [[one, ids[0], k % 3] for k, one in enumerate(ids)]),
        "scores": name("scores") + ".npy",
        "state": name("state") + ".json",
        "matrix": name("matrix") + ".npy",
        "sheet": name("sheet") + ".csv",
        "taxonomy": dump("taxonomy", {labels[0]: labels[1], labels[2]: labels[1]}),
    }
    np.save(found["scores"], np.random.default_rng(1).random((4, 3)))
    return found


LINES = [
    "score {a} {b} {gt} --worst 2 --show-signatures -m F1",
    "score {a} {gt} --runs -m F1",
    "score {a} {gt} -m F1 --ci --resamples 20",
    "score {part} {gt} --missing skip -m F1",
    "score {part} {gt} -m F1 --missing skip --classes {classes}",
    "score -m SemF1 {a} {gt} --worst 1",
    "score -m hF --taxonomy {taxonomy} {a} {gt}",
    "score {captions} {others} {references} -m ROUGE-L --worst 1 --score-references",
    "score --task retrieval {relation} {relation} -m HitRate@1 --worst 1",
    "score --task classes {first} {truth} --seen {seen} --unseen {unseen} -m Accuracy --worst 2",
    "score --task classes {first} {truth} --class-list some={unseen} -m "
    "PerClassAccuracy(labels=some)",
    "compare {a} {b} {gt} -m F1 --differing 2 --ranks --resamples 20 --show-signatures",
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
    "mad select -k 2 -m F1 -o {state} {a} {b}",
]


DRAWN = [one for one in LINES if one.split()[0] in ("score", "compare")]


@pytest.mark.parametrize(
    "line",
    [
        *LINES,
        *(f"{one} --format {form}" for one in DRAWN for form in ("markdown", "latex")),
    ],
)
def test_what_is_drawn(run, evil, line):
    result = run(*(word.format(**evil) for word in line.split(" ")))
    assert result.exit_code == 0, result.stderr
    for text in (result.stdout, result.stderr):
        found = COMMANDING.search(text)
        assert not found, (
            f"{line}: {text[max(0, found.start() - 90) : found.end() + 20]!r}"
        )
        wrong = [one for one in text.split("\n") if one.lstrip().startswith("FORGED")]
        assert not wrong, f"{line}: {wrong} in {text!r}"


def test_json_is_exact_and_csv_commands_nothing(run, ok, evil):
    files = (evil["a"], evil["b"], evil["gt"])
    (entry, _) = json.loads(ok("score", *files, "-m", "F1", "--format", "json"))[
        "scores"
    ]
    assert entry["system"] == name("a")
    rows = csv.DictReader(
        io.StringIO(ok("score", *files, "-m", "F1", "--format", "csv"))
    )
    assert [row["system"] for row in rows] == [
        printable(name("a")),
        printable(name("b")),
    ]
    ok("score", *files, "-m", "F1", "--per-item", "items.csv")
    with Path("items.csv").open(encoding="utf-8", newline="") as lines:
        assert next(csv.DictReader(lines))["id"] == printable(name("i0"))
    ok("score", *files, "-m", "F1", "--per-item", "items.jsonl")
    with Path("items.jsonl").open(encoding="utf-8") as lines:
        assert json.loads(next(lines))["id"] == name("i0")
    (entry,) = json.loads(ok("validate", "--format", "json", evil["gt"]))
    assert entry["file"] == evil["gt"]
