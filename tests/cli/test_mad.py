"""``semmetrics mad select``, ``add`` and ``rank``."""

import csv
import json
import os
import sys
from pathlib import Path

import pytest
from refusals import is_refusal, refused
from unit.test_discrepancy import made

import semmetrics
from semmetrics.cli.commands import _read_stability


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """Files of four systems in the working directory."""
    monkeypatch.chdir(tmp_path)
    found = made(m=4)
    for name, captions in found.items():
        Path(f"{name}.json").write_text(json.dumps(captions), encoding="utf-8")
    return found


def fill(path, column="caption", value=lambda row: "a dog sits on the grass"):
    """Fill a sheet as a person does with a spreadsheet."""
    with Path(path).open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    for row in rows:
        row[column] = value(row)
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_sheets_of_names_that_look_like_formulas(ok, tmp_path, monkeypatch):
    """They are written with an apostrophe, and read as they were."""
    monkeypatch.chdir(tmp_path)
    ids = ["=1+1", "'=1+1", "-4ws", "@(a)", "\x1b[2J"]
    for name, start in (("a", "=a cat"), ("b", "- (dog)")):
        captions = {one: f"{start} sits {n}" for n, one in enumerate(ids)}
        Path(f"{name}.json").write_text(json.dumps(captions), encoding="utf-8")
    ok("mad", "select", "-k", 5, "-o", "state.json", "--sheet", "s.csv", "--rating-sheet", "r.csv",
       "--page", "s.html", "a.json", "b.json")  # fmt: skip
    state = semmetrics.DiscrepancySelection.load("state.json")
    assert sorted(state.images) == sorted(ids)
    with Path("s.csv").open(encoding="utf-8", newline="") as text:
        found = {row["image_id"] for row in csv.DictReader(text)}
    assert found == {"'=1+1", "''=1+1", "-4ws", "'@(a)", "\\x1b[2J"}
    page = Path("s.html").read_text(encoding="utf-8")
    kept = json.loads(page.split('id="sheet">')[1].split("</script>")[0])
    assert {row[0] for row in kept["rows"]} == found
    fill("s.csv")
    fill("r.csv", "rating", lambda row: "3")
    ok("mad", "rank", "-m", "ROUGE-L", "--references", "s.csv", "state.json")
    ok("mad", "rank", "--ratings", "r.csv", "state.json")


SELECT = ("mad", "select", "-k", "5", "-o", "state.json")


def test_from_captions_to_a_ranking(ok, run, systems):
    text = ok(*SELECT, "--sheet", "sheet.csv", "--ties", "random", "s0.json", "s1.json", "s2.json")
    assert "s0" in text.split("\n")[1]
    state = semmetrics.DiscrepancySelection.load("state.json")
    same = semmetrics.select_discrepant({f"s{n}": f"s{n}.json" for n in range(3)}, 5, ties="random")
    assert state.to_json() == same.to_json()
    assert f"{len(state.images)} images to annotate, of 40; NGSM, k=5, ties by random" in text
    fill("sheet.csv")
    # a filled sheet is what other commands read, too
    assert ok("validate", "sheet.csv")
    first = json.loads(ok("mad", "rank", "-m", "ROUGE-L", "--references", "sheet.csv",
                          "state.json", "--format", "json"))  # fmt: skip
    mine = semmetrics.rank_competition(state, "sheet.csv", measures="ROUGE-L")
    assert first == json.loads(mine.to_json())
    result = run("mad", "add", "-o", "more.json", "--sheet", "new.csv", "state.json",
                 "s3.json", "s2.json", "s0.json", "s1.json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    more = semmetrics.DiscrepancySelection.load("more.json")
    assert more.systems == ("s0", "s1", "s2", "s3")
    assert more.pairs[:3] == state.pairs
    fill("new.csv")
    text = ok("mad", "rank", "-m", "ROUGE-L", "--references", "sheet.csv", "--references",
              "new.csv", "--stability", "2:4:2,3", "--pairs", "pairs.csv", "more.json")  # fmt: skip
    assert text.split("\n")[0].split() == ["measure", "system", "rank", "global_score", "overall"]
    assert text.count("ROUGE-L") == 4 + 3
    with Path("pairs.csv").open(encoding="utf-8", newline="") as rows:
        assert len(list(csv.DictReader(rows))) == 12


def test_stability_is_said_beside_csv(run, ok, systems):
    ok(*SELECT, "--sheet", "sheet.csv", "s0.json", "s1.json", "s2.json")
    fill("sheet.csv")
    result = run("mad", "rank", "-q", "-m", "ROUGE-L", "--references", "sheet.csv", "--stability",
                 "2,3", "--format", "csv", "state.json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("measure,system,rank,global_score,overall\nROUGE-L,")
    lines = [line.split()[1:3] for line in result.stderr.splitlines()]
    assert lines == [["measure", "k"], ["ROUGE-L", "2"], ["ROUGE-L", "3"]]


def test_a_system_that_needs_no_new_annotation(ok, systems):
    ok(*SELECT, "--sheet", "sheet.csv", "s0.json", "s1.json")
    text = ok("mad", "add", "-o", "more.json", "--sheet", "new.csv", "state.json", "s0.json",
              "s1.json", "s2.json")  # fmt: skip
    assert "5 images to annotate (0 of them new), of 40" in text
    assert Path("new.csv").read_text(encoding="utf-8") == "image_id,annotator,caption\n"
    fill("sheet.csv")
    assert ok("mad", "rank", "--references", "sheet.csv", "--references", "new.csv", "-m",
              "ROUGE-L", "more.json")  # fmt: skip


def test_ratings(ok, systems):
    ok(*SELECT, "--rating-sheet", "r.csv", "--annotators", "2", "s0.json", "s1.json")
    fill("r.csv", "rating", lambda row: len(row["caption"]) % 5 + 1)
    text = ok("mad", "rank", "--ratings", "r.csv", "--format", "csv", "state.json")
    assert text.startswith("measure,system,rank,global_score,overall\nrating,")


def test_pages_and_json_sheets(ok, systems):
    ok(*SELECT, "--page", "p.html", "--rating-page", "rp.html", "--images", "im/{id}.jpg",
       "--scale", "3", "--sheet", "s.json", "--rating-sheet", "r.jsonl",
       "s0.json", "s1.json")  # fmt: skip
    page, rating = (Path(name).read_text(encoding="utf-8") for name in ("p.html", "rp.html"))
    assert page.count("<textarea") == len(json.loads(Path("s.json").read_text(encoding="utf-8")))
    assert '"name": "p.csv"' in page
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines()
    assert rating.count('type="radio"') == 3 * len(lines)
    assert "im/" in page


def test_labels_and_excluded_images(ok, files):
    text = ok("mad", "select", "-k", "1", "-m", "F1", "-o", "s.json", "a.json", "b.json")
    assert "F1, k=1" in text
    first = semmetrics.DiscrepancySelection.load("s.json").images
    Path("out.txt").write_text("\n".join(first), encoding="utf-8")
    ok("mad", "select", "-k", "1", "-m", "F1", "--exclude", "out.txt", "-o", "s.json", "a.json",
       "b.json")  # fmt: skip
    again = semmetrics.DiscrepancySelection.load("s.json")
    assert again.excluded == tuple(first)
    assert not {*again.images} & {*first}


def test_the_state_on_standard_output(ok, systems):
    text = ok("mad", "select", "-k", "2", "-o", "-", "s0.json", "s1.json")
    assert json.loads(text)["schema"] == "semmetrics.mad/1"


def test_a_run_that_fails_leaves_what_was_there(run, refused, systems, monkeypatch):
    Path("state.json").write_text("before", encoding="utf-8")
    refused("mad", "select", "-k", "41", "-o", "state.json", "s0.json", "s1.json")
    assert Path("state.json").read_text(encoding="utf-8") == "before"

    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(semmetrics.DiscrepancySelection, "to_json", stop)
    assert run(*SELECT, "s0.json", "s1.json").exit_code == 130
    assert Path("state.json").read_text(encoding="utf-8") == "before"
    assert not list(Path().glob(".*.part"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", "-o", "x.json", "s0.json"], "too-few-compared"),
        (["select", "-o", "x.json", "s0.json", "s1.json"], "too-few-images"),
        (["select", "-o", "s0.json", "s0.json", "s1.json"], "output-is-input"),
        (["select", "-o", "x.json", "--sheet", "x.txt", "s0.json", "s1.json"], "wrong-ending"),
        (["select", "-k", "2", "-o", "x.json", "--images", "a", "s0.json", "s1.json"], "--images"),
        (["select", "-k", "2", "-o", "x.json", "--page", "p.html", "--images", "a", "s0.json",
          "s1.json"], "{id}"),
        (["select", "-k", "0", "-o", "x.json", "s0.json", "s1.json"], "bad-option"),
        (["select", "-k", "2", "-o", "x.json", "-m", "CIDR", "s0.json", "s1.json"], "CIDEr"),
        (["select", "-k", "2", "-o", "x.json", "s0.json", "s0.json"], "duplicate"),
        (["select", "-k", "2", "-o", "x.json", "s0.json", "no.json"], "no.json"),
        (["rank", "--references", "s0.json", "s1.json"], "not-a-state"),
        (["rank", "state.json"], "needs-option"),
        (["rank", "-m", "F1", "--ratings", "s0.json", "state.json"], "not-applicable"),
        (["rank", "--ratings", "s0.json", "state.json"], "no"),
        (["rank", "--references", "s0.json", "--stability", "x", "state.json"], "bad-option"),
        (["add", "-o", "state.json", "state.json", "s0.json", "s1.json"], "output-is-input"),
        (["add", "-o", "x.json", "state.json", "s0.json", "s1.json"], "nothing-given"),
        (["add", "-o", "x.json", "state.json", "s0.json", "s2.json"], "systems-missing"),
        (["add", "-o", "x.json", "--tokenizer", "13a", "state.json", "s0.json", "s1.json",
          "s2.json"], "not 'ptb'"),
    ],
)  # fmt: skip
def test_what_is_refused(ok, refused, systems, arguments, words):
    ok(*SELECT, "s0.json", "s1.json")
    before = Path("state.json").read_bytes()
    assert is_refusal(refused("mad", *arguments), words)
    assert Path("state.json").read_bytes() == before
    assert not Path("x.json").exists()


def test_a_state_that_was_tampered_with(ok, refused, systems):
    ok(*SELECT, "s0.json", "s1.json")
    text = Path("state.json").read_text(encoding="utf-8")
    Path("state.json").write_text(text.replace('"k": 5', '"k": 4'), encoding="utf-8")
    said = refused("mad", "rank", "--references", "s0.json", "state.json")
    assert said.code == "state-edited"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are texts there")
def test_a_file_whose_name_is_no_text(ok, systems):
    name = os.fsdecode(b"caf\xe9.json")
    Path("s1.json").rename(name)
    ok(*SELECT, "s0.json", name)
    state = semmetrics.DiscrepancySelection.load("state.json")
    assert state.systems == ("s0", r"caf\xe9")
    assert r"caf\xe9" in ok("mad", "rank", "-m", "ROUGE-L", "--references", "s0.json", "state.json")


def test_images_to_exclude_that_are_not_there_are_named(run, systems):
    Path("bad.txt").write_text("00\nno such image\n", encoding="utf-8")
    result = run(*SELECT, "--exclude", "bad.txt", "s0.json", "s1.json")
    assert "1 image to exclude that no system has: 'no such image'" in result.stderr


def test_stability():
    assert _read_stability("5,10:20:5, 7") == [5, 10, 15, 20, 7]
    assert _read_stability(None) == []
    for wrong in ("", "5:", "9:5", "a", "1:2:0", "-1", "1:2:3:4", "0:99999999", "9" * 40):
        with refused("bad-option"):
            _read_stability(wrong)


@pytest.mark.parametrize("name", ["select", "add", "rank"])
def test_help_has_examples(ok, name):
    text = ok("mad", name, "--help")
    assert f"semmetrics mad {name}" in text.partition("Examples:")[2]
