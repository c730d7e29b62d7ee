"""Bad input: one clear error with place and remedy, exit code 2, nothing on standard output."""

import gzip
import json
import os
from pathlib import Path

import pytest
from refusals import is_refusal

PREDS = '{"1": ["cat"], "2": ["dog"], "3": [], "4": ["cat"]}'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("p.json", '{"1": ["cat"], "1": ["dog"]}', ["p.json", "'1'"]),
        ("p.json", '[{"id": "1", "labels": []}, {"id": "1", "labels": []}]', ["p.json", "'1'"]),
        ("p.json", '{"1": [{"label": "cat", "score": NaN}]}', ["p.json"]),
        ("p.json", '{"1": [{"label": "cat", "score": "high"}]}', ["p.json", "'1'", "not-a-number"]),
        ("p.json", '{"1": [""]}', ["p.json", "'1'", "empty"]),
        ("p.json", '{"1": [7]}', ["p.json", "'1'"]),
        ("p.json", '{"1": "cat"', ["p.json"]),
        ("p.json", '"cat"', ["p.json"]),
        ("p.json", "", ["p.json", "empty-file"]),
        ("p.json", "[" * 100_000, ["p.json"]),
        ("p.json", b"\xff\xfe\x00", ["p.json"]),
        ("p.json", b'{"1": ["caf\xe9"]}', ["p.json", "not-utf8"]),
        ("p.csv", "id,label,score\n1,cat,nan\n", ["p.csv", "line 2"]),
        ("p.csv", "photo,seen\n1,cat\n", ["p.csv", "--id-column"]),
        ("p.jsonl", '{"id": "1"}\n', ["p.jsonl", "line 1"]),
        ("p.xyz", PREDS, ["p.xyz", "unknown-extension"]),
        ("p.json.gz", gzip.compress(PREDS.encode(), mtime=0)[:-6], ["p.json.gz", "damaged"]),
        ("p.npy", b"\x93NUMPY broken", ["p.npy"]),
    ],
)
def test_bad_files(refused, files, name, content, expected):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for arguments in (("score", name, "gt.json"), ("score", "a.json", name)):
        message = refused(*arguments)
        assert message.count("semmetrics: error: ") == 1
        for part in expected:
            assert is_refusal(message, part)


def test_a_file_that_is_missing(refused, files):
    message = refused("score", "aa.json", "gt.json")
    assert message.code == "missing-file"
    assert refused("score", ".", "gt.json").code == "is-folder"
    assert refused("score", "a.json", "gt.json", "--classes", "clases.txt").code == "missing-file"


def test_missing_ids_are_listed(refused, files):
    Path("p.json").write_text('{"1": ["cat"], "9": ["cat"]}', encoding="utf-8")
    message = refused("score", "p.json", "gt.json")
    assert message.code == "missing-ids"
    assert message.code == "missing-ids"
    assert message.code == "missing-ids"


def test_all_wrong_measures_are_told_together_with_near_names(refused, files):
    message = refused(
        "score", "a.json", "gt.json", "-m", "F2 Recal", "-m", "Precison@5", "-m", "F1@0",
        "-m", "F1(averag=macro)", "-m", "F1(average=median)", "-m", "Jaccard",
    )  # fmt: skip
    assert message.code == "wrong-measures"
    for part in ("'F2'; did you mean", "F1?", "did you mean Recall", "did you mean Precision",
                 "cutoff", "'average'", "median"):  # fmt: skip
        assert is_refusal(message, part)


def test_wrong_options(refused, files):
    pair = ("score", "a.json", "gt.json")
    for arguments, expected in (
        (("-m", " "), "nothing-given"),
        (("-m", "F1 F1"), "twice"),
        (("--protocol", "kubani"), "did you mean kubany2020?"),
        (("--protocol", "kubany2020", "-m", "F1"), "--protocol"),
        (("--protocol", "kubany2020", "--missing", "empty"), "missing"),
        (("--protocol", "kubany2020", "--threshold", "0.5"), "fixed-by"),
        (("--top-k", "0"), "cutoff"),
        (("--top-k", "1,x"), "cutoff"),
        (("--top-k", "1,1"), "distinct"),
        (("--threshold", "high"), "decoding rule"),
        (("--decode", "magic"), "decoding rule"),
        (("--normalize", "upper"), "bad-option"),
        (("--missing", "maybe"), "--missing"),
        (("--task", "sounds"), "--task"),
        (("--format", "xml"), "--format"),
        (("--input-format", "xml"), "xml"),
        (("--delimiter", "ab"), "delimiter"),
        (("--ci", "--level", "2"), "level"),
        (("--ci", "--resamples", "1"), "resamples"),
        (("--ci", "--seed", "-1"), "seed"),
        (("--digits", "99"), "--digits"),
        (("--ignore", "@none.txt"), "none.txt"),
        (("--weights", "none.json"), "none.json"),
        (("--set-size-probs", "none.npy"), "none.npy"),
        (("--speed",), "--speed"),
    ):
        assert is_refusal(refused(*pair, *arguments), expected), arguments


def test_files_beside_the_lists_are_told_by_their_names(refused, files):
    Path("w.dat").write_text("id,weight\n1,1\n", encoding="utf-8")
    # no option names the format of such a file, so none is the remedy
    for option, ends in (
        ("--weights", ".json, .csv, .tsv, .tab, .npy, .npz"),
        ("--set-size-probs", ".npy, .npz"),
    ):
        message = refused("score", "b.json", "gt.json", option, "w.dat", "--input-format", "json")
        assert message.code == "unknown-ending"
        assert message.endswith(f"{ends}\n")
    assert refused("score", "a.json", "gt.json", "--classes", "w.dat").code == "wrong-format"
    message = refused("score", "w.dat", "gt.json")
    assert message.code == "unknown-extension"


def test_measures_are_checked_before_files(refused, files):
    assert refused("score", "none.json", "nothing.json", "-m", "F2").code == "unknown-name"


def test_too_few_files(refused, files):
    assert refused("score", "gt.json").code == "UsageError"


def test_a_file_given_twice(refused, files):
    assert refused("score", "a.json", "./a.json", "gt.json").code == "duplicate"
    assert refused("score", "-", "-", stdin="{}").code == "stdin-twice"
    Path("hard.json").hardlink_to("a.json")
    assert refused("score", "a.json", "hard.json", "gt.json").code == "duplicate"


def test_a_device_may_be_named_twice(ok, refused, files):
    pair = ("score", "a.json", "gt.json")
    Path("null.csv").symlink_to(os.devnull)
    ok(*pair, "-o", os.devnull, "--per-item", "null.csv")
    assert refused(*pair, "-o", "new.csv", "--per-item", "./new.csv").code == "output-is-output"


def test_outputs_never_overwrite(refused, files):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    Path("link.json").symlink_to("gt.json")
    pair = ("score", "a.json", "gt.json")
    for name in ("gt.json", "a.json", "./gt.json", "link.json", "classes.txt"):
        assert refused(*pair, "-o", name, "--classes", "classes.txt").code == "output-is-input"
    Path("i.csv").symlink_to("gt.json")
    assert refused(*pair, "--per-item", "i.csv").code == "output-is-input"
    assert refused(*pair, "--per-label", "gt.json").code == "output-is-input"
    assert refused(*pair, "--per-item", "x.csv", "-o", "./x.csv").code == "output-is-output"
    assert refused(*pair, "-o", "nowhere/x.csv").code == "missing-folder"
    assert refused(*pair, "-o", ".").code == "is-folder"
    for name, content in before.items():
        assert Path(name).read_bytes() == content


def test_nothing_is_written_when_the_input_is_bad(refused, files):
    Path("old.json").write_text("old", encoding="utf-8")
    Path("p.json").write_text(json.dumps({"1": [""]}), encoding="utf-8")
    refused("score", "p.json", "gt.json", "-o", "old.json", "--per-item", "i.csv")
    assert Path("old.json").read_text(encoding="utf-8") == "old"
    assert not Path("i.csv").exists()
