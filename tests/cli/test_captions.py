"""``semmetrics score`` of captions."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.data import CAPTIONS, REFERENCES
from stand_ins import without_pycocoevalcap

import semmetrics
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.metrics.meteor import METEOR_PROGRAM

FILES = ("captions.json", "references.json")


@pytest.fixture
def program():
    """Skips where METEOR's program cannot run."""
    if reason := METEOR_PROGRAM.missing():
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def no_program(request, monkeypatch):
    """Everywhere else there is none: it takes seconds to start."""
    if "program" not in request.fixturenames:
        without_pycocoevalcap(monkeypatch)


def write(name, content):
    """Write JSON, or a text as it is."""
    text = content if isinstance(content, str) else json.dumps(content)
    Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
    return name


def api(systems=None, gts="references.json", **options):
    systems = systems or {"captions": "captions.json"}
    return semmetrics.score_systems(systems, gts, **options).to_dicts()


def entries(text):
    return {entry["heading"]: entry for entry in json.loads(text)}


# ---- the same results as from Python ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--task", "captions"], {"task": "captions"}),
        (["-m", "BLEU-4 ROUGE-L(beta=1)"], {"measures": ["BLEU-4", "ROUGE-L(beta=1)"]}),
        (["-m", "NGSM", "-m", "CIDEr(df=rows)"], {"measures": ["NGSM", "CIDEr(df=rows)"]}),
        (["--protocol", "coco-caption"], {"protocol": "coco-caption"}),
        (["--tokenizer", "13a"], {"tokenizer": "13a"}),
        (
            ["--tokenizer", "whitespace", "--score-references"],
            {"tokenizer": "whitespace", "score_references": True},
        ),
        (["--missing", "skip"], {"missing": "skip"}),
        (["--ci", "--resamples", "9", "--seed", "2"], {"ci": True, "resamples": 9, "seed": 2}),
        (["--weights", "weights.json"], {"weights": {"1": 2, "2": 0.5}}),
        (["--doc-freq", "df.npz"], {"doc_freq": "df.npz"}),
    ],
)
def test_json_is_what_the_api_gives(ok, files, arguments, options):
    write("weights.json", {"1": 2, "2": 0.5})
    fit_document_frequencies([*REFERENCES.values(), ["a mat"]]).save("df.npz")
    assert json.loads(ok("score", *FILES, "--format", "json", *arguments)) == api(**options)


def coco(texts):
    """Annotations of images, in the order that COCO has them: not by image."""
    rows = [(int(name), text) for name, several in texts.items() for text in several]
    rows.sort(key=lambda row: row[1])
    return {
        "info": {},
        "images": [{"id": int(name), "file_name": f"{name}.jpg"} for name in texts],
        "annotations": [
            {"image_id": name, "id": place, "caption": text}
            for place, (name, text) in enumerate(rows)
        ],
    }


def test_files_of_coco(ok, run, files):
    write("results.json", [{"image_id": int(i), "caption": text} for i, text in CAPTIONS.items()])
    write("annotations.json", coco(REFERENCES))
    result = run("score", "--protocol", "coco-caption", "results.json", "annotations.json")
    assert result.exit_code == 0
    assert "read annotations.json: COCO captions, 5 captions: 2 items" in result.stderr
    assert "not computed: SPICE - SPICE needs the package pycocoevalcap" in result.stdout
    assert "not computed: METEOR - METEOR needs the package pycocoevalcap" in result.stdout
    found = entries(ok("score", "results.json", "annotations.json", "--format", "json"))
    for heading, entry in entries(ok("score", *FILES, "--format", "json")).items():
        assert found[heading]["value"] == pytest.approx(entry["value"], abs=1e-15)
    assert json.loads(ok("score", "--protocol", "coco-caption", "results.json",
                         "annotations.json", "--format", "json")) == api(
        {"results": "results.json"}, "annotations.json", protocol="coco-caption"
    )  # fmt: skip


# ---- what is shown ----------------------------------------------------------------------------


# ---- signatures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--tokenizer", "13a", "--missing", "empty"),
        ("-m", "CIDEr(df=rows,stem=porter) NGSM(refs=max) LengthRatio"),
        ("--ci", "--resamples", "7", "--seed", "3"),
        ("--protocol", "coco-caption"),
        ("--doc-freq", "df.npz"),
        ("--weights", "weights.json"),
    ],
)
def test_a_signature_is_computed_again(ok, run, files, arguments):
    fit_document_frequencies([*REFERENCES.values(), ["a mat"]]).save("df.npz")
    write("weights.json", {"1": 2, "2": 0.5})
    given = arguments if arguments[:1] in (("--doc-freq",), ("--weights",)) else ()
    for entry in json.loads(ok("score", *FILES, *arguments, "--format", "json")):
        again = run("score", *FILES, "--rescore", entry["signature"], *given, "--format", "json")
        (found,) = json.loads(again.stdout)
        for name in ("value", "signature", "ci", "n"):
            assert found[name] == entry[name]
        assert "warning" not in again.stderr


def test_the_references_as_a_system_are_computed_again(ok, run, files):
    found = json.loads(
        ok("score", *FILES, "-m", "ROUGE-L", "--score-references", "--format", "json")
    )
    again = run(
        "score",
        *FILES,
        "--rescore",
        found[1]["signature"],
        "--score-references",
        "--format",
        "json",
    )
    assert [e["value"] for e in json.loads(again.stdout)] == [e["value"] for e in found]
    assert "human: " not in again.stderr.replace("captions: ", "")
    assert "captions: the number of items differs from the signature's: n:2" in again.stderr


# ---- wrong input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "preds", "refs"),
    [("captions", ["a man rides a horse"], ["a man rides a horse", "one"]),
     ("captions", "horse", ["horse", "rider"]),
     ("labels", ["a man rides a horse"], ["a man rides a horse", "one"])],
)  # fmt: skip
def test_the_task_decides(ok, files, task, preds, refs):
    names = write("p.json", {"1": preds, "2": preds}), write("r.json", {"1": refs, "2": refs})
    found = entries(ok("score", *names, "--task", task, "--format", "json"))
    assert ("BLEU-1" in found) == (task == "captions")


def test_captions_of_any_kind(ok, files):
    """A hundred thousand words, control characters, emoji, other scripts, an empty caption."""
    preds = {
        "1": "猫が😀 好き",
        "2": "a\x00b \x1b \u200d",
        "3": "cat " * 100_000,
        "4": "",
        "5": "ÉCOLE",
    }
    refs = {"1": ["猫が😀 好き"], "2": ["a\x00b"], "3": ["a cat"], "4": ["x"], "5": ["école"]}
    names = write("p.json", preds), write("r.json", refs)
    for tokenizer in ("ptb", "13a", "whitespace"):
        found = entries(ok("score", *names, "--tokenizer", tokenizer, "--format", "json",
                           "--per-item", "items.jsonl"))  # fmt: skip
        assert all(0 <= entry["value"] <= 10 for entry in found.values())
        rows = [json.loads(line) for line in Path("items.jsonl").read_text("utf-8").splitlines()]
        assert rows[0]["ROUGE-L"] == 1
        assert [row["ROUGE-L"] for row in rows if row["id"] == "4"] == [0]
        assert rows[4]["ROUGE-L"] == (tokenizer == "ptb")  # which writes small letters


def test_standard_input_is_recognised(ok, files):
    text = json.dumps(CAPTIONS)
    found = json.loads(ok("score", "-", "references.json", "--format", "json", stdin=text))
    assert [e["value"] for e in found] == [e["value"] for e in api()]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_values_of_items(ok, files, ending):
    measures = ("BLEU-1", "ROUGE-L", "CIDEr-D", "UniqueCaptions")
    name = f"items.{ending}"
    ok("score", *FILES, "--score-references", "-m", " ".join(measures), "--per-item", name)
    text = Path(name).read_text(encoding="utf-8")
    if ending == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
    else:
        rows = list(map(json.loads, text.splitlines()))
    assert list(rows[0]) == ["id", "system", *measures[:3]]  # one caption alone is always unique
    assert [(row["id"], row["system"]) for row in rows] == [
        ("1", "captions"), ("2", "captions"), ("1#1", "human"), ("1#2", "human"),
        ("2#1", "human"), ("2#2", "human"), ("2#3", "human"),
    ]  # fmt: skip
    table = semmetrics.score(CAPTIONS, REFERENCES, measures=measures, score_references=True)
    for heading in measures[:3]:
        expected = [
            *table["preds", heading].items.tolist(), *table["human", heading].items.tolist()
        ]  # fmt: skip
        assert [float(row[heading]) for row in rows] == expected
