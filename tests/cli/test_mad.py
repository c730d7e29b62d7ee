"""``semmetrics mad select``, ``add`` and ``rank``."""

import csv
import json
import re
from pathlib import Path

import pytest
from refusals import is_refusal
from unit.test_discrepancy import made

import semmetrics


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


SELECT = ("mad", "select", "-k", "5", "-o", "state.json")


def test_stability_is_said_beside_csv(run, ok, systems):
    ok(*SELECT, "--sheet", "sheet.csv", "s0.json", "s1.json", "s2.json")
    fill("sheet.csv")
    result = run(
        "mad",
        "rank",
        "-m",
        "ROUGE-L",
        "--references",
        "sheet.csv",
        "--stability",
        "2,3",
        "--format",
        "csv",
        "state.json",
    )
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(
        "measure,system,rank,global_score,overall\nROUGE-L,"
    )
    lines = [line.split()[1:3] for line in result.stderr.splitlines()][-3:]
    assert lines == [["measure", "k"], ["ROUGE-L", "2"], ["ROUGE-L", "3"]]


def test_a_selection_that_is_not_saved_is_shown_and_said(ok, run, systems):
    given = ("mad", "select", "-k", "5", "s0.json", "s1.json")
    for form in (("--format", "json"), ("-o", "-")):
        assert json.loads(ok(*given, *form))["schema"] == "semmetrics.mad/1"
    found = run(*given, "--sheet", "sheet.csv")
    assert "add -o state.json" in found.stderr
    assert found.stdout == ok(*given, "-o", "state.json")
    assert Path("sheet.csv").exists()


@pytest.fixture
def pictures(systems):
    """A folder with an empty picture of each image."""
    folder = Path("im")
    folder.mkdir()
    for image in systems["s0"]:
        (folder / f"{image}.jpg").touch()
    return folder


def test_pages_and_json_sheets(ok, pictures):
    ok(
        *SELECT,
        "--page",
        "p.html",
        "--rating-page",
        "rp.html",
        "--images",
        "im/{id}.jpg",
        "--scale",
        "3",
        "--sheet",
        "s.json",
        "--rating-sheet",
        "r.jsonl",
        "s0.json",
        "s1.json",
    )
    page, rating = (
        "".join(Path(f"{name}-{who}.html").read_text(encoding="utf-8") for who in "123")
        for name in ("p", "rp")
    )
    assert page.count("<textarea") == len(
        json.loads(Path("s.json").read_text(encoding="utf-8"))
    )
    assert '"name": "p-2.csv"' in page
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines()
    assert rating.count('type="radio"') == 3 * len(lines)
    assert "im/" in page
    assert "Describe it in one sentence." in page
    assert "How well does each caption describe its image?" in rating
    assert (
        "1: it does not describe the image. 3: it describes the image fully" in rating
    )
    assert "> 3 (fully)</label>" in rating


@pytest.mark.parametrize("images", ["im", "im/{id}.jpg", "im/{id}"])
def test_a_page_in_another_folder_finds_the_pictures(ok, pictures, images):
    Path("pages").mkdir()
    ok(*SELECT, "--page", "pages/p.html", "--images", images, "s0.json", "s1.json")
    page = Path("pages/p-1.html").read_text(encoding="utf-8")
    sources = re.findall('<img src="([^"]+)"', page)
    assert sources
    assert all((Path("pages") / source).is_file() for source in sources)


def test_files_that_are_no_pictures_are_noted(run, pictures):
    paths = sorted(pictures.iterdir())
    for path in paths:
        path.write_bytes(b"\xff\xd8\xff\xe0")
    arguments = (*SELECT, "--page", "p.html", "--images", "im", "s0.json", "s1.json")
    assert "whose content" not in run(*arguments).stderr
    for path in paths:
        path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0")
    assert "content is not JPEG, PNG, WebP, GIF or BMP" in run(*arguments).stderr


@pytest.mark.parametrize("images", ["im", "im/{id}.jpg", "im/{id}.png"])
def test_missing_pictures_are_named(refused, pictures, images):
    for picture in sorted(pictures.iterdir())[1:]:
        picture.unlink()
    found = refused(
        *SELECT, "--rating-page", "p.html", "--images", images, "s0.json", "s1.json"
    )
    assert found.code == "missing-pictures"
    assert "--exclude" in str(found)
    assert not Path("state.json").exists()


def test_addresses_of_the_web_are_not_looked_up(ok, systems):
    address = "https://example.org/{id}.jpg"
    ok(*SELECT, "--page", "p.html", "--images", address, "s0.json", "s1.json")
    assert 'src="https://example.org/' in Path("p-1.html").read_text(encoding="utf-8")


def test_pictures_may_have_zeros_in_front_of_their_ids(
    ok, refused, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    Path("im").mkdir()
    for system, word in (("a", "cat"), ("b", "dog")):
        answers = {str(number): f"a {word} {number}" for number in (7, 41, 42, 43, 44)}
        Path(f"{system}.json").write_text(json.dumps(answers), encoding="utf-8")
    for number in (7, 41, 42, 43, 44):
        Path(f"im/COCO_{number:012d}.jpg").touch()
    template = "im/COCO_{id:012d}.jpg"
    ok(*SELECT, "--page", "p.html", "--images", template, "a.json", "b.json")
    assert 'src="im/COCO_000000000042.jpg"' in Path("p-1.html").read_text(
        encoding="utf-8"
    )
    ok(
        *SELECT,
        "--page",
        "p.html",
        "--images",
        f"https://x.org/{template}",
        "a.json",
        "b.json",
    )
    assert 'x.org/im/COCO_000000000007.jpg"' in Path("p-1.html").read_text(
        encoding="utf-8"
    )
    for wrong in (
        "im",
        "im/COCO_{id}.jpg",
        "im/COCO_{id:011d}.jpg",
        "im/COCO_{id.__class__}.jpg",
    ):
        found = refused(
            *SELECT, "--page", "q.html", "--images", wrong, "a.json", "b.json"
        )
        assert "{id:012d}" in str(found)


@pytest.mark.parametrize("total", [5, 9, 1000])
def test_a_total_is_the_largest_number_of_each_pair_that_it_allows(
    ok, refused, systems, total
):
    files = [f"{name}.json" for name in systems]
    ok("mad", "select", "-n", total, "-o", "total.json", *files)
    state = json.loads(Path("total.json").read_text(encoding="utf-8"))
    ok("mad", "select", "-k", state["k"], "-o", "k.json", *files)
    same = json.loads(Path("k.json").read_text(encoding="utf-8"))
    assert state == same
    images = {image for pair in state["pairs"] for image in pair["images"]}
    assert len(images) <= total
    if state["k"] < state["n"]:
        ok("mad", "select", "-k", state["k"] + 1, "-o", "more.json", *files)
        more = json.loads(Path("more.json").read_text(encoding="utf-8"))
        assert (
            len({image for pair in more["pairs"] for image in pair["images"]}) > total
        )


def test_a_total_and_a_number_of_each_pair_contradict(refused, systems):
    given = (
        "mad",
        "select",
        "-o",
        "x.json",
        "-k",
        "2",
        "-n",
        "3",
        "s0.json",
        "s1.json",
    )
    assert refused(*given).code == "conflicting-options"
    given = ("mad", "select", "-o", "x.json", "-n", "1", "--ties", "random")
    assert (
        refused(*given, *(f"{name}.json" for name in systems)).code == "total-too-small"
    )


def test_inspectors_vote_and_images_are_replaced(ok, refused, systems):
    names = ["s0.json", "s1.json", "s2.json"]
    ok(*SELECT, "--sheet", "sheet.csv", "--annotators", "2", *names)
    lost = json.loads(Path("state.json").read_text(encoding="utf-8"))["pairs"][0][
        "images"
    ][0]
    Path("bad.txt").write_text(f"{lost}\n", encoding="utf-8")
    text = ok(
        "mad",
        "replace",
        "--exclude",
        "bad.txt",
        "-o",
        "next.json",
        "--sheet",
        "new.csv",
        "--annotators",
        "2",
        "state.json",
        *names,
    )
    assert "to annotate" in text
    fill("sheet.csv")
    fill("new.csv")
    ok(
        "mad",
        "inspect",
        "-q",
        "--inspectors",
        "1",
        "-o",
        "votes.csv",
        "sheet.csv",
        "new.csv",
    )
    fill("votes.csv", "keep", lambda row: "no" if row["annotator"] == "2" else "yes")
    ok("mad", "inspect", "-o", "kept.csv", "votes.csv")
    text = ok(
        "mad", "rank", "-q", "-m", "BLEU-1", "--references", "kept.csv", "next.json"
    )
    assert text.count("dominance, BLEU-1") == 1
    assert len(Path("kept.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(
        {
            line.split(",")[0]
            for name in ("sheet.csv", "new.csv")
            for line in Path(name).read_text(encoding="utf-8").splitlines()[1:]
        }
    )
    assert refused("mad", "replace", "-o", "x.json", "state.json", *names)


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
        (["select", "-o", "x.json", "s0.json", "s1.json"], "too-few-images"),
        (
            ["select", "-o", "x.json", "--sheet", "x.txt", "s0.json", "s1.json"],
            "wrong-ending",
        ),
        (
            [
                "select",
                "-k",
                "2",
                "-o",
                "x.json",
                "--images",
                "a",
                "s0.json",
                "s1.json",
            ],
            "--images",
        ),
        (
            [
                "select",
                "-k",
                "2",
                "-o",
                "x.json",
                "--page",
                "p.html",
                "--images",
                "a",
                "s0.json",
                "s1.json",
            ],
            "missing-file",
        ),
        (["rank", "--references", "s0.json", "s1.json"], "not-a-state"),
        (["rank", "-m", "F1", "--ratings", "s0.json", "state.json"], "not-applicable"),
        (
            ["rank", "--references", "s0.json", "--stability", "x", "state.json"],
            "bad-option",
        ),
        (
            ["add", "-o", "state.json", "state.json", "s0.json", "s1.json"],
            "output-is-input",
        ),
    ],
)
def test_what_is_refused(ok, refused, systems, arguments, words):
    ok(*SELECT, "s0.json", "s1.json")
    before = Path("state.json").read_bytes()
    assert is_refusal(refused("mad", *arguments), words)
    assert Path("state.json").read_bytes() == before
    assert not Path("x.json").exists()


def test_sheets_of_names_that_look_like_formulas(ok, tmp_path, monkeypatch):
    """They are written with an apostrophe, and read as they were."""
    monkeypatch.chdir(tmp_path)
    ids = ["=1+1", "'=1+1", "-4ws", "@(a)", "\x1b[2J"]
    for name, start in (("a", "=a cat"), ("b", "- (dog)")):
        captions = {one: f"{start} sits {n}" for n, one in enumerate(ids)}
        Path(f"{name}.json").write_text(json.dumps(captions), encoding="utf-8")
    ok(
        "mad",
        "select",
        "-k",
        5,
        "-o",
        "state.json",
        "--sheet",
        "s.csv",
        "--rating-sheet",
        "r.csv",
        "--page",
        "s.html",
        "a.json",
        "b.json",
    )
    state = semmetrics.DiscrepancySelection.load("state.json")
    assert sorted(state.images) == sorted(ids)
    with Path("s.csv").open(encoding="utf-8", newline="") as text:
        found = {row["image_id"] for row in csv.DictReader(text)}
    assert found == {"'=1+1", "''=1+1", "-4ws", "'@(a)", "\\x1b[2J"}
    page = Path("s-1.html").read_text(encoding="utf-8")
    kept = json.loads(page.split('id="sheet">')[1].split("</script>")[0])
    assert {row[0] for row in kept["rows"]} == found
    fill("s.csv")
    fill("r.csv", "rating", lambda row: "3")
    ok("mad", "rank", "-m", "ROUGE-L", "--references", "s.csv", "state.json")
    ok("mad", "rank", "--ratings", "r.csv", "state.json")
