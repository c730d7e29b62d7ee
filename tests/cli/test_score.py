"""``semmetrics score``: it computes what the API computes, and its signatures can be run again."""

import gzip
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cli.data import CAPTIONS, REFERENCES
from refusals import is_refusal
from stand_ins import meteor_programs, without_pycocoevalcap

import semmetrics
from semmetrics.embed import lookup
from semmetrics.embed.open import open_embedding
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.options import OPTIONS
from semmetrics.scoring.protocols import PROTOCOLS

LISTS, SCORES = ("a.json", "gt.json"), ("b.json", "gt.json")
TEXTS = ("captions.json", "references.json")
# Cosines: cat-dog 0.8, cat-cow 0.6, dog-cow 0.96, dog-bird 0.6, cow-bird 0.8, cat-bird 0.
VECTORS = {
    "cat": (1, 0),
    "dog": (0.8, 0.6),
    "cow": (0.6, 0.8),
    "bird": (0, 1),
    "unknown": (-1, 0),
}
SIDES = {
    "labels": (*SCORES, "--classes", "classes.txt"),
    "captions": TEXTS,
    "retrieval": ("sims.json", "positives.json"),
    "classes": (
        "scores.json",
        "truth.json",
        "--seen",
        "seen.txt",
        "--unseen",
        "unseen.txt",
    ),
}


@pytest.fixture
def place(files):
    """The working directory, with what options name, and files of the other kinds."""
    lines = [f"{word} {x} {y}" for word, (x, y) in VECTORS.items()]
    scored = {
        str(i): {n: (3 * i + 7 * j) % 11 for j, n in enumerate("wxyz")}
        for i in range(8)
    }
    made = {
        "weights.json": {"1": 2, "2": 0.5},
        "words.vec": "\n".join([f"{len(lines)} 2", *lines, ""]),
        "matrix.txt": "\n".join(VECTORS),
        "sims.json": [[(3 * i + 7 * j) % 11 / 4 for j in range(10)] for i in range(5)],
        "positives.json": [[2 * i, 2 * i + 1] for i in range(5)],
        "scores.json": scored,
        "truth.json": {name: ["wxyz"[int(name) % 4]] for name in scored},
        "seen.txt": "w\nx\n",
        "unseen.txt": "y\nz\n",
    }
    for name, content in made.items():
        text = content if isinstance(content, str) else json.dumps(content)
        Path(name).write_text(text, encoding="utf-8")
    np.save("matrix.npy", np.array(list(VECTORS.values()), np.float32))
    fit_document_frequencies([*REFERENCES.values(), ["a mat"]]).save("df.npz")
    return files


def api(systems, gts="gt.json", **options):
    return semmetrics.score_systems(systems, gts, **options).to_dicts()


# ---- the same results as from Python ----------------------------------------------------------


NEAR = ["SemF1(threshold=0.7)", "WMD"]
ALIKE = [
    (LISTS, "-m F1 --top-k 1,2", {"measures": ["F1"], "top_k": [1, 2]}),
    (
        LISTS,
        "--protocol kubany2020 --top-k 2 --classes classes.txt",
        {"protocol": "kubany2020", "top_k": 2, "classes": "classes.txt"},
    ),
    (
        LISTS,
        "--ci --resamples 20 --seed 7 --level 0.9",
        {"ci": True, "resamples": 20, "seed": 7, "level": 0.9},
    ),
    (LISTS, "--ignore cow --ignore dog", {"ignore": ["cow", "dog"]}),
    *(
        (
            LISTS,
            f"-m '{' '.join(NEAR)}' --embedding {spec}",
            {"measures": NEAR, "embedding": spec},
        )
        for spec in ("words.vec", "word2vec:words.vec", "matrix:matrix.npy")
    ),
    *(
        (SCORES, f"-m 'F1 MicroF1' {text}", {"measures": ["F1", "MicroF1"], **options})
        for text, options in (
            ("--threshold 0.15,best", {"decode": ["threshold:0.15", "threshold:best"]}),
            (
                "--decode cumulative:0.5 --threshold 0.5 --keep-at-least 1",
                {"decode": ["cumulative:0.5", "threshold:0.5"], "keep_at_least": 1},
            ),
        )
    ),
    (TEXTS, "-m NGSM -m 'CIDEr(df=rows)'", {"measures": ["NGSM", "CIDEr(df=rows)"]}),
    (
        TEXTS,
        "--tokenizer whitespace --score-references",
        {"tokenizer": "whitespace", "score_references": True},
    ),
    (TEXTS, "--weights weights.json", {"weights": {"1": 2, "2": 0.5}}),
    (TEXTS, "--doc-freq df.npz", {"doc_freq": "df.npz"}),
]


@pytest.mark.parametrize(("sides", "arguments", "options"), ALIKE)
def test_json_is_what_the_api_gives(ok, place, monkeypatch, sides, arguments, options):
    without_pycocoevalcap(monkeypatch)  # its program takes seconds to start
    text = ok("score", *sides, "--format", "json", *shlex.split(arguments))
    assert json.loads(text)["scores"] == api(
        {Path(sides[0]).stem: sides[0]}, sides[1], **options
    )


def test_matrices_with_a_class_list_and_cardinalities(ok, refused, files):
    generator = np.random.default_rng(3)
    np.save("s.npy", generator.random((5, 4)))
    np.save("t.npy", generator.random((5, 4)))
    np.save("g.npy", generator.integers(0, 2, (5, 4)))
    np.save("heads.npy", generator.dirichlet(np.ones(3), 5))
    found = json.loads(
        ok("score", "s.npy", "g.npy", "--classes", "classes.txt", "--format", "json")
    )["scores"]
    assert found == api({"s": "s.npy"}, "g.npy", classes="classes.txt")
    assert [one["heading"] for one in found] == [
        "mAP",
        "LRAP",
        "RankingLoss",
        "CoverageError",
    ]
    heads = ("--set-size-probs", "heads.npy")
    common = ("--classes", "classes.txt", "--decode", "cardinality", "--format", "json")
    options = {
        "classes": "classes.txt",
        "decode": "cardinality",
        "set_size_probs": "heads.npy",
    }
    expected = api({"s": "s.npy", "t": "t.npy"}, "g.npy", measures=["F1"], **options)
    command = ("score", *common, "-m", "F1")
    for each in (heads, heads * 2):
        assert (
            json.loads(ok(*command, *each, "s.npy", "t.npy", "g.npy"))["scores"]
            == expected
        )
    said = refused(*command, *heads * 2, "s.npy", "t.npy", "b.json", "g.npy")
    assert said.code == "wrong-count"
    text = ok("sweep", "s.npy", "g.npy", "--thresholds", "0.4", *heads, *common)
    (value,) = json.loads(text)["measures"][0]["values"]
    (one,) = semmetrics.score(
        "s.npy", "g.npy", measures="SemF1(threshold=0.4)", **options
    )
    assert value == one.value


def test_the_choices_are_those_of_the_lookup():
    choices = OPTIONS["lookup"].choices, OPTIONS["oov"].choices
    assert choices == (lookup.LOOKUPS, lookup.OOV)


def test_captions_of_any_kind(ok, files):
    """A hundred thousand words, control characters, emoji, other scripts, an empty caption."""
    preds = {
        "1": "猫が😀 好き",
        "2": "a\x00b \x1b \u200d",
        "3": "cat " * 100_000,
        "4": "",
        "5": "ÉCOLE",
    }
    refs = {
        "1": ["猫が😀 好き"],
        "2": ["a\x00b"],
        "3": ["a cat"],
        "4": ["x"],
        "5": ["école"],
    }
    for name, side in (("p.json", preds), ("r.json", refs)):
        Path(name).write_text(json.dumps(side), encoding="utf-8")
    for tokenizer in ("ptb", "13a", "whitespace"):
        text = ok(
            "score",
            "p.json",
            "r.json",
            "--tokenizer",
            tokenizer,
            "--format",
            "json",
            "--per-item",
            "items.jsonl",
        )
        assert all(0 <= entry["value"] <= 10 for entry in json.loads(text)["scores"])
        rows = [
            json.loads(line)
            for line in Path("items.jsonl").read_text("utf-8").splitlines()
        ]
        # ptb writes small letters
        assert [rows[i]["ROUGE-L"] for i in (0, 3, 4)] == [1, 0, tokenizer == "ptb"]


# ---- what is said -----------------------------------------------------------------------------


def test_standard_input_is_recognised(ok, files):
    text = ok(
        "score", "-", "references.json", "--format", "json", stdin=json.dumps(CAPTIONS)
    )
    expected = api({"captions": "captions.json"}, "references.json")
    assert [e["value"] for e in json.loads(text)["scores"]] == [
        e["value"] for e in expected
    ]


def test_options_without_effect_are_said(run, files):
    assert (
        "--seed has no effect without --ci" in run("score", *LISTS, "--seed", 3).stderr
    )
    assert (
        "full precision" in run("score", *LISTS, "--percent", "--format", "json").stderr
    )


def test_the_worst_of_score_matrices(ok, files):
    np.save("s.npy", np.array([[0.9, 0.2, 0.4, 0.1], [0.1, 0.8, 0.7, 0.3]]))
    np.save("g.npy", np.array([[1, 0, 0, 0], [1, 0, 0, 0]]))
    arguments = ("score", "s.npy", "g.npy", "--classes", "classes.txt", "--worst", 1)
    assert "  0.2500  1\n    predicted  dog, bird, cow, cat\n" in ok(
        *arguments, "-m", "LRAP"
    )
    text = ok(*arguments, "-m", "F1", "--threshold", 0.5)
    assert "  0.0000  1\n    predicted  dog, bird\n    true       cat\n" in text


# ---- signatures -------------------------------------------------------------------------------


def again(run, signature, *arguments):
    """What the signature gives, and what is said."""
    result = run("score", *arguments, "--rescore", signature, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["scores"], result.stderr


MEANT = "--embedding {0}words.vec --lookup exact --oov skip"
SIGNED = [
    (TEXTS, "", ""),
    (TEXTS, "--tokenizer 13a --missing empty", ""),
    (TEXTS, "-m 'CIDEr(df=rows,stem=porter) NGSM(refs=max) LengthRatio'", ""),
    (LISTS, "-m SemF1 " + MEANT.format(""), "--embedding words.vec"),
    *(
        (LISTS, "-m 'SemF1(embedding=m)' " + MEANT.format("m="), f"--embedding {given}")
        for given in ("m=words.vec", "words.vec")
    ),
    *((SIDES[one.kind], f"--protocol {name}", "") for name, one in PROTOCOLS.items()),
]


@pytest.mark.parametrize(("sides", "arguments", "given"), SIGNED)
def test_a_signature_is_computed_again(ok, run, place, sides, arguments, given):
    with meteor_programs():
        table = ok("score", *sides, *shlex.split(arguments), "--format", "json")
        for entry in json.loads(table)["scores"]:
            (found,), said = again(run, entry["signature"], *sides, *shlex.split(given))
            for name in ("value", "signature", "ci", "n"):
                assert found[name] == entry[name]
            assert "warning" not in said


@pytest.mark.parametrize(
    ("arguments", "report"),
    [
        ("score --html r.html a.json b.json gt.json", "score a.json b.json gt.json"),
        ("compare -o r.html a.json b.json gt.json", "compare a.json b.json gt.json"),
    ],
)
def test_a_report_stands_beside_the_result(ok, refused, files, arguments, report):
    for package in ("jinja2", "matplotlib"):
        pytest.importorskip(package)
    assert ok(*arguments.split()) == ok(*report.split())
    assert "<svg" in Path("r.html").read_text(encoding="utf-8")
    for wrong, code in (
        ("--images nowhere", "missing-file"),
        ("--state s.state", "not-applicable"),
    ):
        words = ["score", "--html", "q.html", "a.json", "gt.json"]
        assert is_refusal(refused(*words[:3], *wrong.split(), *words[3:]), code)
    assert not Path("q.html").exists()


def test_the_references_as_a_system_are_computed_again(ok, run, files):
    asked = (*TEXTS, "--score-references")
    entries = json.loads(ok("score", *asked, "-m", "ROUGE-L", "--format", "json"))[
        "scores"
    ]
    found, said = again(run, entries[1]["signature"], *asked)
    assert [e["value"] for e in found] == [e["value"] for e in entries]
    assert "human: " not in said.replace("captions: ", "")
    assert "captions: the number of items differs from the signature's: n:2" in said


@pytest.mark.parametrize(
    ("measure", "model"), [("SemF1", "same"), ("SoftF1", "static")]
)
def test_another_version_of_the_model_of_the_package(ok, run, files, measure, model):
    (entry,) = json.loads(ok("score", *LISTS, "-m", measure, "--format", "json"))[
        "scores"
    ]
    now = open_embedding(model).identity
    old = now.rpartition("@")[0] + "@000000000000"
    (found,), said = again(run, entry["signature"].replace(now, old), *LISTS)
    assert found["value"] == entry["value"]
    assert f"emb:{now} instead of emb:{old}" in said


@pytest.mark.parametrize(
    "name", ["out.tsv", "out.jsonl", "out.parquet", "out.tsv.gz", "OUT.JSONL"]
)
def test_records_are_written_in_the_format_of_the_extension(ok, files, tmp_path, name):
    path = tmp_path / name
    ok("score", "-m", "F1 MacroF1", "-o", path, "a.json", "gt.json")
    ok("score", "-m", "F1 MacroF1", "-o", tmp_path / "out.csv", "a.json", "gt.json")
    if "parquet" in name:
        rows = pq.read_table(path).to_pylist()
    elif "tsv" in name:
        rows = pd.read_csv(path, sep="\t").to_dict("records")
    else:
        rows = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
    wanted = pd.read_csv(tmp_path / "out.csv").to_dict("records")
    for key in ("heading", "measure", "value", "signature"):
        assert [row[key] for row in rows] == [row[key] for row in wanted]


@pytest.mark.parametrize(
    "name", ["a.xlsx", "a.htm", "a.xls", "a.out", "a.parquet.gz", "a.jpeg"]
)
def test_unknown_extensions_of_results_raise_an_error(refused, files, tmp_path, name):
    found = refused("score", "-m", "F1", "-o", tmp_path / name, "a.json", "gt.json")
    assert found.code == "wrong-ending"
    assert ".tsv" in str(found)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["plain", "a.txt", "run-v1.2", "a.csv.gz"])
def test_extensions_that_are_plain_or_packed(ok, files, tmp_path, name):
    ok("score", "-m", "F1", "-o", tmp_path / name, "a.json", "gt.json")
    content = (tmp_path / name).read_bytes()
    packed = name.endswith(".gz")
    text = (gzip.decompress(content) if packed else content).decode()
    assert text.startswith("system,part" if packed else ("measure", "system"))


def test_a_shaped_table_is_no_record(refused, files, tmp_path):
    given = (
        "score",
        "-m",
        "F1",
        "--classification-report",
        "-o",
        tmp_path / "a.jsonl",
        "a.json",
        "gt.json",
    )
    assert refused(*given).code == "not-applicable"
