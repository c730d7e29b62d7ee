"""``semmetrics df`` and ``semmetrics matrix``."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from cli.data import CAPTIONS, REFERENCES
from refusals import is_refusal

import semmetrics

BOTH = ("captions.json", "references.json")


def value(ok, *arguments):
    text = ok("score", *BOTH, "-m", "CIDEr-D", "--format", "json", *arguments)
    return json.loads(text)[0]


@pytest.mark.parametrize("name", ["df.npz", "df.json"])
def test_frequencies_are_saved_and_used(ok, files, name):
    assert "10 documents" not in ok("doc-freq", "-q", "-o", name, "references.json")
    mine, given = value(ok), value(ok, "--doc-freq", name)
    assert given["value"] == mine["value"] > 0
    fits = [entry["signature"].partition("fit:")[2].partition("|")[0] for entry in (mine, given)]
    assert fits[0] == fits[1]
    assert "df:given" in given["signature"]


def test_a_single_image_needs_frequencies_of_others(run, ok, files):
    for name, data in (("one", CAPTIONS), ("one_ref", REFERENCES)):
        Path(f"{name}.json").write_text(json.dumps({"1": data["1"]}), encoding="utf-8")
    arguments = ("score", "one.json", "one_ref.json", "-m", "CIDEr-D", "--format", "json")
    found = run(*arguments)
    assert json.loads(found.stdout)[0]["value"] == 0
    assert "the value for a single image is 0" in found.stderr
    ok("doc-freq", "-o", "df.npz", "references.json")
    assert json.loads(ok(*arguments, "--doc-freq", "df.npz"))[0]["value"] > 0


def test_pickles_are_converted_and_not_run(ok, refused, files):
    counts = {("a", "cat"): 2, ("cat",): 3}
    Path("df.p").write_bytes(pickle.dumps({"document_frequency": counts, "ref_len": np.log(7.0)}))
    assert "2 n-grams of 7 documents" in ok("doc-freq", "--convert", "-o", "df.npz", "df.p")
    assert semmetrics.DocumentFrequencies.load("df.npz").as_dict() == counts
    Path("bad.p").write_bytes(pickle.dumps({"document_frequency": Path("x"), "ref_len": 1.0}))
    assert refused("doc-freq", "--convert", "-o", "out.npz", "bad.p").code == "pickled-name"
    assert not Path("out.npz").exists()


def test_stemmed_frequencies_serve_stemmed_words(ok, refused, files):
    ok("doc-freq", "--stem", "porter", "-o", "df.npz", "references.json")
    ok("score", *BOTH, "-m", "CIDEr(stem=porter)", "--doc-freq", "df.npz")
    assert refused("score", *BOTH, "-m", "CIDEr-D", "--doc-freq", "df.npz").code == "other-tokens"


def test_the_matrix_has_the_values_of_score(ok, files):
    assert "2 x 2, float64" in ok("pairs", "-o", "phi.npy", *BOTH)
    matrix = np.load("phi.npy")
    ok("score", *BOTH, "-m", "CIDEr-D", "--per-item", "items.jsonl")
    lines = Path("items.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line)["CIDEr-D"] for line in lines]
    np.testing.assert_allclose(np.diag(matrix), items, rtol=0, atol=1e-12)
    ids = json.loads(Path("phi.npy.ids.json").read_text(encoding="utf-8"))
    assert ids.pop("phi").startswith("CIDEr-D;tok:ptb;df@")
    assert ids == {"images": ["1", "2"], "captions": ["1", "2"]}


@pytest.mark.parametrize("phi", ["BagSim", "BagSim(references=mean)"])
def test_sentences_are_compared_by_an_embedding(ok, refused, files, phi):
    assert "2 x 2" in ok("pairs", "--phi", phi, "--embedding", "static", "-o", "phi.npy", *BOTH)
    per_item = ok("score", "-m", phi, "--task", "captions", "--per-item", "v.csv", *BOTH)
    assert "BagSim" in per_item
    values = [float(line.split(",")[-1]) for line in Path("v.csv").read_text().splitlines()[1:]]
    np.testing.assert_allclose(np.diag(np.load("phi.npy")), values, atol=2e-9)
    ok("pairs", "--phi", phi, "--rows", "references", "-o", "each.npy", *BOTH)
    assert np.load("each.npy").shape == (5, 2)
    assert refused("pairs", "--phi", phi, "-o", "phi.npy", *BOTH).code == "matrix-exists"
    assert refused("pairs", "--embedding", "static", "-o", "x.npy", *BOTH).code == "not-applicable"


def test_the_best_of_each_row_or_column(ok, files):
    ok("pairs", "-o", "phi.npy", "references.json", "references.json")
    matrix = np.load("phi.npy")
    ok("pairs", "--top-k", 2, "-o", "best.jsonl", "references.json", "references.json")
    ids = json.loads(Path("phi.npy.ids.json").read_text(encoding="utf-8"))
    rows = [json.loads(line) for line in Path("best.jsonl").read_text().splitlines()]
    for row, values in zip(rows, matrix, strict=True):
        best = np.argsort(-values, kind="stable")[:2]
        assert [one["id"] for one in row["captions"]] == [ids["captions"][i] for i in best]
    ok("pairs", "--top-k", 1, "--axis", "images", "-o", "best.jsonl", *BOTH)
    rows = [json.loads(line) for line in Path("best.jsonl").read_text().splitlines()]
    assert [(row["caption"], row["images"][0]["id"]) for row in rows] == [("1", "1"), ("2", "2")]


def test_the_best_on_standard_output(run, ok, files):
    ok("pairs", "--top-k", 2, "-o", "best.jsonl", *BOTH)
    found = run("pairs", "-q", "--top-k", 2, "-o", "-", *BOTH)
    assert found.exit_code == 0
    assert found.stdout == Path("best.jsonl").read_text(encoding="utf-8")
    assert not Path("-").exists()


def test_a_matrix_of_something_else_is_overwritten_on_request(ok, refused, files):
    ok("pairs", "-o", "phi.npy", *BOTH)
    before = np.load("phi.npy")
    message = refused("pairs", "-m", "CIDEr", "-o", "phi.npy", *BOTH)
    assert message.code == "matrix-exists"
    assert message.code == "matrix-exists"
    np.testing.assert_array_equal(np.load("phi.npy"), before)
    ok("pairs", "-m", "CIDEr", "--overwrite", "-o", "phi.npy", *BOTH)
    ok("pairs", "-m", "CIDEr", "-o", "other.npy", *BOTH)
    np.testing.assert_array_equal(np.load("phi.npy"), np.load("other.npy"))
    assert (np.load("phi.npy") != before).any()


def test_single_precision(ok, files):
    assert "2 x 2, float32" in ok("pairs", "--dtype", "float32", "-o", "phi.npy", *BOTH)
    assert np.load("phi.npy").dtype == np.float32


def test_one_name_for_two_captions_is_refused(refused, files):
    named = {"1": ["a cat", "the cat"], "1#1": ["a dog"]}
    Path("twice.json").write_text(json.dumps(named), encoding="utf-8")
    for more in (("-o", "phi.npy"), ("--top-k", 1, "-o", "best.jsonl")):
        assert refused("pairs", *more, "twice.json", "references.json").code == "id-of-candidate"
    assert not Path("phi.npy").exists()


def test_options_without_effect_are_said(run, files):
    Path("refs.txt").write_text("a cat\na dog\n", encoding="utf-8")
    idle = ("--id-column", "x")
    for call in (("doc-freq", "-o", "df.npz", "refs.txt"),
                 ("pairs", "--overwrite", "-o", "phi.npy", "refs.txt", "refs.txt")):  # fmt: skip
        found = run(*call, *idle)
        assert found.exit_code == 0, found.stderr
        assert "refs.txt: 1 option not used for txt: 'id_column'" in found.stderr
        assert run(call[0], "-q", *call[1:], *idle).stderr == ""


@pytest.mark.parametrize(
    "option",
    [
        ("--caption-column", "x"),
        ("--id-column", "x"),
        ("--input-format", "json"),
        ("--delimiter", ";"),
        ("--max-line-bytes", 5),
    ],
)
def test_reading_options_with_convert(ok, refused, files, option):
    ok("doc-freq", "-o", "df.npz", "references.json")
    message = refused("doc-freq", "--convert", *option, "-o", "out.npz", "df.npz")
    assert (message.code, option[0] in message) == ("not-applicable", True)
    assert not Path("out.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("doc-freq", "-o", "references.json", "references.json"), "output-is-input"),
        (("doc-freq", "--convert", "--stem", "none", "-o", "df.npz", "references.json"), "--stem"),
        (("doc-freq", "--documents", 3, "-o", "df.npz", "references.json"), "--convert"),
        (("doc-freq", "--convert", "-o", "df.npz", "references.json"), "references.json"),
        (("pairs", "--axis", "images", "-o", "phi.npy", *BOTH), "--top-k"),
        (("pairs", "-m", "BLEU-4", "-o", "phi.npy", *BOTH), "no matrix of BLEU-4"),
        (("pairs", "-o", "captions.json", *BOTH), "output-is-input"),
        (("pairs", "-o", "phi.csv", *BOTH), "wrong-ending"),
        (("pairs", "-o", "phi", *BOTH), "wrong-ending"),
        (("pairs", "-o", "-", *BOTH), "wrong-ending"),
        (("pairs", "--top-k", 1, "-o", "best.csv", *BOTH), "wrong-ending"),
        (("pairs", "--top-k", 1, "--dtype", "float32", "-o", "b.jsonl", *BOTH), "--dtype"),
        (("pairs", "--top-k", 1, "--overwrite", "-o", "b.jsonl", *BOTH), "--overwrite"),
        (("pairs", "-o", "no/phi.npy", *BOTH), "no such folder"),
        (("doc-freq", "-o", "d.txt", "references.json"), "wrong-ending"),
        (("doc-freq", "-o", "-", "references.json"), "wrong-ending"),
        (("pairs", "--top-k", 9, "-o", "best.jsonl", *BOTH), "--k 9"),
    ],
)
def test_wrong_requests(refused, files, arguments, message):
    assert is_refusal(refused(*arguments), message)


@pytest.mark.parametrize("command", ["doc-freq", "pairs", "rank", "score"])
def test_what_to_do_where_an_input_would_be_overwritten(refused, files, command):
    inputs = {"doc-freq": ("references.json",), "rank": ("references.json", "-m", "F1")}.get(
        command, BOTH
    )
    message = refused(command, *inputs, "-o", "references.json")
    assert message.code == "output-is-input"


def test_other_frequencies_than_those_of_the_signature_are_told(ok, run, files):
    ok("doc-freq", "-o", "df.npz", "references.json")
    Path("more.json").write_text(json.dumps({**REFERENCES, "3": ["a mat"]}), encoding="utf-8")
    ok("doc-freq", "-o", "more.npz", "more.json")
    signature = value(ok, "--doc-freq", "df.npz")["signature"]
    again = ("score", *BOTH, "--rescore", signature, "--doc-freq")
    assert "warning" not in run(*again, "df.npz").stderr
    assert "the document frequencies differ" in run(*again, "more.npz").stderr
