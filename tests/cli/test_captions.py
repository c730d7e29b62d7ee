"""``semmetrics score`` of captions."""

import csv
import io
import json
from pathlib import Path

import pytest
from cli.data import CAPTIONS, REFERENCES
from refusals import is_refusal
from stand_ins import without_pycocoevalcap

import semmetrics
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.metrics.meteor import METEOR_PROGRAM

FILES = ("captions.json", "references.json")
DEFAULTS = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"]
OTHER = {"1": "a dog", "2": "two dogs play on grass"}


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


def test_the_shape_tells(run, files):
    result = run("score", *FILES)
    assert result.exit_code == 0
    headings = [line.split()[0] for line in result.stdout.split("\n\n")[0].split("\n")]
    assert headings == ["measure", *DEFAULTS]
    assert "read captions.json: JSON, {id: caption}: 2 items, 2 captions" in result.stderr
    assert "read references.json: JSON, {id: [captions]}: 2 items, 5 captions" in result.stderr
    assert "signatures share: tok:ptb|missing:error|n:2|" in result.stdout


def test_several_systems_and_the_references(ok, files):
    write("b.json", OTHER)
    both = ("captions.json", "b.json", "references.json")
    found = json.loads(ok("score", *both, "--score-references", "--format", "json"))
    assert found == api({"captions": "captions.json", "b": "b.json"}, score_references=True)
    assert list(dict.fromkeys(entry["system"] for entry in found)) == ["captions", "b", "human"]


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


def test_meteor(ok, run, program, files):
    (entry,) = json.loads(ok("score", *FILES, "-m", "METEOR", "--format", "json"))
    assert 0 < entry["value"] <= 1
    again = run("score", *FILES, "--rescore", entry["signature"], "--format", "json")
    assert json.loads(again.stdout) == [entry]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt"])
def test_formats_and_line_ends(ok, files, kind, end):
    if kind == "txt":
        preds = [*CAPTIONS.values()]
        refs = ["\t".join(several) for several in REFERENCES.values()]
    elif kind == "jsonl":
        preds = [json.dumps({"id": name, "caption": text}) for name, text in CAPTIONS.items()]
        refs = [
            json.dumps({"id": name, "captions": several}) for name, several in REFERENCES.items()
        ]
    else:
        comma = {"csv": ",", "tsv": "\t"}[kind]
        head = [f"id{comma}caption"]
        preds = head + [f"{name}{comma}{text}" for name, text in CAPTIONS.items()]
        refs = head + [f"{name}{comma}{t}" for name, several in REFERENCES.items() for t in several]
    names = [write(f"{side}.{kind}", end.join([*lines, ""]))
             for side, lines in (("p", preds), ("r", refs))]  # fmt: skip
    found = entries(ok("score", *names, "--format", "json"))
    for heading, entry in entries(ok("score", *FILES, "--format", "json")).items():
        assert found[heading]["value"] == entry["value"]


def test_standard_input_is_recognised(ok, files):
    text = json.dumps(CAPTIONS)
    found = json.loads(ok("score", "-", "references.json", "--format", "json", stdin=text))
    assert [e["value"] for e in found] == [e["value"] for e in api()]


# ---- what is shown ----------------------------------------------------------------------------


def test_csv(ok, files):
    rows = list(
        csv.DictReader(io.StringIO(ok("score", *FILES, "--score-references", "--format", "csv")))
    )
    assert [(row["system"], row["heading"], float(row["value"])) for row in rows] == [
        (entry["system"], entry["heading"], entry["value"]) for entry in api(score_references=True)
    ]
    assert rows[0]["signature"] == api()[0]["signature"]


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


def test_items_without_references_have_no_value(ok, run, files):
    write("more.json", {**CAPTIONS, "3": "a boat"})
    arguments = ("more.json", "references.json", "-m", "ROUGE-L", "--missing", "empty")
    result = run("score", *arguments, "--per-item", "items.jsonl")
    assert "ROUGE-L: no reference (images), left out  " in " ".join(result.stdout.split("\n"))
    assert "more: 1 item without ground truth, taken as empty" in result.stderr
    rows = [json.loads(line) for line in Path("items.jsonl").read_text("utf-8").splitlines()]
    assert rows[2] == {"id": "3", "system": "more", "ROUGE-L": None}
    (entry,) = json.loads(ok("score", *arguments, "--format", "json"))
    assert entry["undefined"] == {"no_reference": 1}


def test_the_worst_items(ok, files):
    write("b.json", OTHER)
    text = ok("score", *FILES, "-m", "UniqueCaptions ROUGE-L", "--worst", 1)
    value = semmetrics.score(CAPTIONS, REFERENCES, measures="ROUGE-L").scores[0].items[0]
    assert text[text.index("lowest ROUGE-L\n") :].split("\n\n")[0].split("\n")[1:] == [
        f"  {value:.4f}  1",
        "    caption    a cat sleeps on a mat",
        "    reference  a cat is sleeping on a mat",
        "    reference  the cat sleeps",
    ]
    text = ok("score", "captions.json", "b.json", "references.json", "-m", "CIDEr-D", "--worst", 9)
    assert text.count("    caption    ") == 4
    assert "lowest CIDEr-D of b\n" in text
    lowest = ok("score", *FILES, "-m", "DuplicatedCaption", "--worst", 1)
    assert "highest DuplicatedCaption\n" in lowest


def test_the_worst_items_command_no_terminal(ok, files):
    preds = {"1": "red \x1b[31m\x07\r\nand \u2028 on\x85", "2": "word " * 100_000}
    write("odd.json", preds)
    text = ok("score", "odd.json", "references.json", "-m", "ROUGE-L", "--worst", 2)
    assert "    caption    red \\x1b[31m\\x07 and   on\n" in text
    assert " word word  ... and 499,500 more letters\n" in text
    assert not set(text) & {"\x1b", "\x07", "\r", "\x85", "\u2028"}
    assert len(text) < 3000


@pytest.mark.parametrize("option", ["--per-label", "--matches"])
def test_what_captions_do_not_have(refused, files, option):
    assert "no measure here" in refused("score", *FILES, option, "out.csv")
    assert not Path("out.csv").exists()


def test_options_without_effect_are_said(run, files):
    fit_document_frequencies(list(REFERENCES.values())).save("df.json")
    said = run("score", *FILES, "-m", "ROUGE-L", "--doc-freq", "df.json").stderr
    assert "--doc-freq has no effect: no measure here takes document frequencies" in said
    assert "no effect" not in run("score", *FILES, "--doc-freq", "df.json").stderr


def test_a_single_image_is_said(run, files):
    write("one.json", {"1": CAPTIONS["1"]})
    arguments = ("score", "one.json", "references.json", "--missing", "skip")
    said = run(*arguments).stderr
    assert "for a single image is 0: 'CIDEr-D'; give document frequencies" in said
    fit_document_frequencies(list(REFERENCES.values())).save("df.npz")
    result = run(*arguments, "--doc-freq", "df.npz", "--format", "json")
    assert "single image" not in result.stderr
    assert entries(result.stdout)["CIDEr-D"]["value"] > 0


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


def test_a_signature_says_which_tokens_and_frequencies(refused, run, files):
    signature = api(measures="CIDEr-D", doc_freq=fit_document_frequencies([["a"], ["a b"]]))[0][
        "signature"
    ]
    message = refused("score", *FILES, "--rescore", signature)
    assert message.code == "needs-option"
    assert "doc-freq" in message.replace("_", "-")
    message = refused("score", *FILES, "--rescore", signature, "--tokenizer", "13a")
    assert "--tokenizer is part of the signature" in message
    write("fewer.json", {"1": REFERENCES["1"], "2": ["dogs run"]})
    signature = api(measures="ROUGE-L")[0]["signature"]
    said = run("score", "captions.json", "fewer.json", "--rescore", signature).stderr
    assert "warning: the ground truth differs from the signature's: data:" in said


# ---- wrong input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preds", "refs", "expected"),
    [
        (CAPTIONS, {"1": REFERENCES["1"]}, ["missing-ids", "--missing"]),
        (CAPTIONS, {**REFERENCES, "2": []}, ["missing-entries"]),
        ({"1": "a cat sits"}, REFERENCES, ["missing-ids", "--missing"]),
        (CAPTIONS, {**REFERENCES, "2": "dogs run"}, ["r.json, id '2'", "wrong-type", "wrong-type"]),
        ({**CAPTIONS, "2": 7}, REFERENCES, ["p.json, id '2'", "wrong-type"]),
        ({**CAPTIONS, "2": None}, REFERENCES, ["p.json, id '2'", "wrong-type"]),
        ({**CAPTIONS, "2": {"text": "a"}}, REFERENCES, ["p.json, id '2'", "wrong-type"]),
        ('{"1": "a cat sits", "1": "a dog sits"}', REFERENCES, ["p.json", "duplicate"]),
        ('{"1": "half \\ud83d of it"}', {"1": ["a"]}, ["p.json", "lone-surrogate"]),
        ('{"1": "a cat', REFERENCES, ["p.json", "line 1"]),
        ({"": "a cat sits"}, {"": ["a"]}, ["json, key ''", "empty-id"]),
        ("[]", "[]", ["nothing-given"]),
        (
            {"1": ["a man rides a horse"]},
            {"1": ["a person rides a horse"]},
            ["ambiguous-kind", "--task"],
        ),
        ({"1": "horse"}, {"1": ["horse", "rider"]}, ["ambiguous-kind", "--task"]),
    ],
)
def test_wrong_captions(refused, files, preds, refs, expected):
    message = refused("score", write("p.json", preds), write("r.json", refs))
    for part in expected:
        assert is_refusal(message, part)


def test_a_reference_that_is_no_string(refused, files):
    write("r.json", {**REFERENCES, "2": ["dogs run", 3]})
    for told in ([], ["--task", "captions"]):
        message = refused("score", "captions.json", "r.json", *told)
        assert "r.json, id '2'" in message
    assert message.code == "wrong-type"


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


def test_lines_that_do_not_match_are_counted(refused, files):
    write("p.txt", "a cat\r\na dog\r\n")
    write("r.txt", "a cat\na dog\na bird\n")
    message = refused("score", "p.txt", "r.txt")
    assert message.code == "other-length"
    assert message.code == "other-length"


def test_blank_lines_are_captions_and_said(run, files):
    write("p.txt", "a cat\n\n  \n")
    write("r.txt", "a cat\na dog\na bird\n")
    result = run("score", "p.txt", "r.txt")
    assert result.exit_code == 0
    assert "2 blank lines, taken as empty captions; the first is line 2" in result.stderr
    assert "p: 2 empty candidates" in result.stderr


def test_repeated_ids_of_rows_are_captions_of_one_item(run, files):
    write("p.csv", "id,caption\n1,a cat\n2,dogs run\n1,the cat sleeps\n")
    result = run("score", "p.csv", "references.json", "-m", "ROUGE-L", "--per-item", "items.csv")
    assert "p: 1 image with several candidates, each scored on its own" in result.stderr
    rows = list(csv.DictReader(io.StringIO(Path("items.csv").read_text("utf-8"))))
    assert [row["id"] for row in rows] == ["1#1", "1#2", "2"]
    assert float(rows[1]["ROUGE-L"]) == 1


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


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--top-k", "3"], ["not-of-kind", "--task"]),
        (["--threshold", "0.5"], ["--threshold", "not-of-kind"]),
        (["--taxonomy", "df.npz"], ["not-of-kind"]),
        (["--normalize", "lower", "--top-k", "3"], ["not-of-kind"]),
        (["--ignore", "cat"], ["not-of-kind"]),
        (["--classes", "classes.txt"], ["not-of-kind"]),
        (["--task", "labels"], ["captions.json, id '1'", "wrong-type"]),
        (["-m", "F1 BLEU-1"], ["wrong-kind", "wrong-kind"]),
        (["-m", "BLEU-9"], ["BLEU-9"]),
        (
            ["--protocol", "coco-caption", "-m", "BLEU-1"],
            ["measures-and-protocol", "measures-and-protocol", "measures-and-protocol"],
        ),
        (["--protocol", "coco-caption", "--tokenizer", "13a"], ["fixed-by"]),
        (["--protocol", "coco-caption", "--task", "labels"], ["protocol-of-kind"]),
        (["--protocol", "kubany2020"], ["captions.json"]),
        (["--tokenizer", "moses"], ["--tokenizer", "BadParameter"]),
        (["--doc-freq", "none.npz"], ["none.npz", "no such file"]),
        (["--doc-freq", "references.json"], ["references.json"]),
        (["--doc-freq", "df.npz", "--tokenizer", "13a"], ["ptb", "13a"]),
        (["--doc-freq", "df.npz", "-o", "df.npz"], ["output-is-input"]),
        (["--weights", "few.json"], ["'2'", "weight"]),
    ],
)
def test_bad_options(refused, files, arguments, expected):
    fit_document_frequencies(list(REFERENCES.values())).save("df.npz")
    before = Path("df.npz").read_bytes()
    write("few.json", {"1": 1})
    message = refused("score", *arguments, *FILES)
    for part in expected:
        assert is_refusal(message, part)
    assert Path("df.npz").read_bytes() == before


def test_options_of_captions_are_not_for_labels(refused, files):
    for option in (["--score-references"], ["--tokenizer", "ptb"]):
        message = refused("score", "a.json", "gt.json", *option)
        assert message.code == "not-of-kind"
