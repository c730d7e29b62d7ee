"""``semmetrics mad``: select, add, replace, inspect and rank."""

import csv
import json
import re
from pathlib import Path

import pytest
from cli.conftest import write_json
from competitors import random_captions

import semmetrics

SELECT = "mad select -k 5 -o state.json"


@pytest.fixture
def systems(tmp_path, monkeypatch):
    """Write the captions of four systems into the working directory."""
    monkeypatch.chdir(tmp_path)
    systems = random_captions(m=4)
    write_json(**systems)
    return systems


def read_rows(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path, column="caption", value=lambda row: "a dog sits on the grass"):
    """Fill a column of a sheet, as a person does."""
    rows = read_rows(path)
    for row in rows:
        row[column] = value(row)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def load_state(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def images_of(state):
    """Return the images of all pairs of systems."""
    images = set()
    for pair in state["pairs"]:
        images.update(pair["images"])
    return images


# ---- selections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["--format json", "-o -"])
def test_a_selection_can_be_printed(ok, systems, form):
    text = ok(f"mad select -k 5 s0.json s1.json {form}")

    assert json.loads(text)["schema"] == "semmetrics.mad/1"


def test_a_note_reports_that_a_selection_is_not_saved(run, systems):
    result = run("mad select -k 5 --sheet sheet.csv s0.json s1.json")

    assert "add -o state.json" in result.stderr
    assert Path("sheet.csv").exists()


@pytest.mark.parametrize("total", [5, 9, 1000])
def test_a_total_is_the_largest_number_per_pair_that_it_allows(ok, systems, total):
    files = [f"{name}.json" for name in systems]

    ok("mad select -n", total, "-o", "total.json", *files)

    state = load_state("total.json")
    ok("mad select -k", state["k"], "-o", "same.json", *files)
    assert state == load_state("same.json")
    assert len(images_of(state)) <= total
    if state["k"] < state["n"]:
        ok("mad select -k", state["k"] + 1, "-o", "larger.json", *files)
        assert len(images_of(load_state("larger.json"))) > total


def test_an_interrupted_selection_leaves_the_old_file(run, systems, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    Path("state.json").write_text("before", encoding="utf-8")
    monkeypatch.setattr(semmetrics.DiscrepancySelection, "to_json", interrupt)

    assert run(f"{SELECT} s0.json s1.json").exit_code == 130

    assert Path("state.json").read_text(encoding="utf-8") == "before"
    assert not list(Path().glob(".*.part"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("select -k 2 -n 3 -o x.json s0.json s1.json", "conflicting-options"),
        (
            "select -n 1 --ties random -o x.json s0.json s1.json s2.json s3.json",
            "total-too-small",
        ),
        ("select -k 41 -o state.json s0.json s1.json", "too-few-images"),
        ("select -o x.json --sheet x.txt s0.json s1.json", "wrong-ending"),
        (
            "select -k 2 -o x.json --page p.html --images a s0.json s1.json",
            "missing-file",
        ),
        ("rank --references s0.json s1.json", "not-a-state"),
        ("rank -m F1 --ratings s0.json state.json", "not-applicable"),
        ("rank --references s0.json --stability x state.json", "bad-option"),
        ("add -o state.json state.json s0.json s1.json", "output-is-input"),
    ],
)
def test_an_error_leaves_the_files(ok, refused, systems, line, code):
    ok(f"{SELECT} s0.json s1.json")
    before = Path("state.json").read_bytes()

    assert refused(f"mad {line}").code == code

    assert Path("state.json").read_bytes() == before
    assert not Path("x.json").exists()


def test_pictures_without_a_page_are_an_error(refused, systems):
    refusal = refused("mad select -k 2 -o x.json --images a s0.json s1.json")

    assert "--images" in refusal


# ---- pages and sheets ----------------------------------------------------------------------------


@pytest.fixture
def pictures(systems):
    """Create an empty picture of each image, and return the folder."""
    folder = Path("im")
    folder.mkdir()
    for image in systems["s0"]:
        (folder / f"{image}.jpg").touch()
    return folder


def read_pages(name):
    """Return the text of the pages of three annotators."""
    pages = [Path(f"{name}-{number}.html") for number in (1, 2, 3)]
    return "".join(page.read_text(encoding="utf-8") for page in pages)


def test_a_page_has_a_field_for_each_row_of_the_sheet(ok, pictures):
    ok(f"{SELECT} --page p.html --images im/{{id}}.jpg --sheet s.json s0.json s1.json")

    page = read_pages("p")
    assert page.count("<textarea") == len(load_state("s.json"))
    assert '"name": "p-2.csv"' in page
    assert "im/" in page


def test_a_page_of_ratings_has_a_button_for_each_rating(ok, pictures):
    ok(
        f"{SELECT} --rating-page p.html --images im --scale 3 --rating-sheet r.jsonl "
        "s0.json s1.json"
    )

    page = read_pages("p")
    rows = Path("r.jsonl").read_text(encoding="utf-8").splitlines()
    assert page.count('type="radio"') == 3 * len(rows)
    assert "> 3 (fully)</label>" in page


@pytest.mark.parametrize("images", ["im", "im/{id}.jpg", "im/{id}"])
def test_a_page_in_another_folder_finds_the_pictures(ok, pictures, images):
    Path("pages").mkdir()

    ok(f"{SELECT} --page pages/p.html --images {images} s0.json s1.json")

    page = Path("pages/p-1.html").read_text(encoding="utf-8")
    sources = re.findall('<img src="([^"]+)"', page)
    assert sources
    for source in sources:
        assert (Path("pages") / source).is_file()


@pytest.mark.parametrize(
    ("content", "is_noted"),
    [(b"\xff\xd8\xff\xe0", False), (b"%!PS-Adobe-3.0 EPSF-3.0", True)],
)
def test_a_note_reports_files_that_are_not_pictures(run, pictures, content, is_noted):
    for path in pictures.iterdir():
        path.write_bytes(content)

    result = run(f"{SELECT} --page p.html --images im s0.json s1.json")

    note = "content is not JPEG, PNG, WebP, GIF or BMP"
    assert (note in result.stderr) == is_noted


@pytest.mark.parametrize("images", ["im", "im/{id}.jpg", "im/{id}.png"])
def test_missing_pictures_are_an_error(refused, pictures, images):
    for picture in sorted(pictures.iterdir())[1:]:
        picture.unlink()

    refusal = refused(
        f"{SELECT} --rating-page p.html --images {images} s0.json s1.json"
    )

    assert refusal.code == "missing-pictures"
    assert "--exclude" in refusal
    assert not Path("state.json").exists()


def test_pictures_on_the_web_are_not_downloaded(ok, systems):
    ok(
        f"{SELECT} --page p.html --images https://example.org/{{id}}.jpg s0.json s1.json"
    )

    assert 'src="https://example.org/' in Path("p-1.html").read_text(encoding="utf-8")


@pytest.fixture
def padded_pictures(tmp_path, monkeypatch):
    """Write two systems, and pictures whose names have zeros before the id."""
    monkeypatch.chdir(tmp_path)
    Path("im").mkdir()
    ids = (7, 41, 42, 43, 44)
    write_json(
        a={str(id_): f"a cat {id_}" for id_ in ids},
        b={str(id_): f"a dog {id_}" for id_ in ids},
    )
    for id_ in ids:
        Path(f"im/COCO_{id_:012d}.jpg").touch()


@pytest.mark.parametrize("folder", ["im", "https://x.org/im"])
def test_names_of_pictures_may_have_zeros_before_the_id(ok, padded_pictures, folder):
    ok(f"{SELECT} --page p.html --images {folder}/COCO_{{id:012d}}.jpg a.json b.json")

    page = Path("p-1.html").read_text(encoding="utf-8")
    assert f'src="{folder}/COCO_000000000042.jpg"' in page


@pytest.mark.parametrize(
    "images",
    [
        "im",
        "im/COCO_{id}.jpg",
        "im/COCO_{id:011d}.jpg",
        "im/COCO_{id.__class__}.jpg",
    ],
)
def test_the_error_for_missing_zeros_shows_the_pattern(
    refused, padded_pictures, images
):
    refusal = refused(f"{SELECT} --page q.html --images {images} a.json b.json")

    assert "{id:012d}" in refusal


FORMULAS = ["=1+1", "'=1+1", "-4ws", "@(a)", "\x1b[2J"]


def test_ids_that_look_like_formulas_are_escaped_in_sheets(ok, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(
        a={id_: f"=a cat sits {n}" for n, id_ in enumerate(FORMULAS)},
        b={id_: f"- (dog) sits {n}" for n, id_ in enumerate(FORMULAS)},
    )

    ok(f"{SELECT} --sheet s.csv --rating-sheet r.csv --page s.html a.json b.json")

    ids_of_sheet = {row["image_id"] for row in read_rows("s.csv")}
    assert ids_of_sheet == {"'=1+1", "''=1+1", "-4ws", "'@(a)", "\\x1b[2J"}
    page = Path("s-1.html").read_text(encoding="utf-8")
    sheet = json.loads(page.split('id="sheet">')[1].split("</script>")[0])
    assert {row[0] for row in sheet["rows"]} == ids_of_sheet
    fill("s.csv")
    fill("r.csv", "rating", lambda row: "3")
    ok("mad rank -m ROUGE-L --references s.csv state.json")
    ok("mad rank --ratings r.csv state.json")


# ---- rankings ------------------------------------------------------------------------------------


def test_the_stability_of_a_ranking_is_a_note_of_csv(ok, run, systems):
    ok(f"{SELECT} --sheet sheet.csv s0.json s1.json s2.json")
    fill("sheet.csv")

    result = run(
        "mad rank -m ROUGE-L --references sheet.csv --stability 2,3 --format csv state.json"
    )

    assert result.stdout.startswith(
        "measure,system,rank,global_score,overall\nROUGE-L,"
    )
    table = [line.split()[1:3] for line in result.stderr.splitlines()[-3:]]
    assert table == [["measure", "k"], ["ROUGE-L", "2"], ["ROUGE-L", "3"]]


def test_replaced_images_are_annotated_and_inspected(ok, systems):
    names = "s0.json s1.json s2.json"
    ok(f"{SELECT} --sheet sheet.csv --annotators 2 {names}")
    excluded = load_state("state.json")["pairs"][0]["images"][0]
    Path("bad.txt").write_text(f"{excluded}\n", encoding="utf-8")

    output = ok(
        "mad replace --exclude bad.txt -o next.json --sheet new.csv --annotators 2 "
        f"state.json {names}"
    )
    assert "to annotate" in output
    fill("sheet.csv")
    fill("new.csv")
    ok("mad inspect -q --inspectors 1 -o votes.csv sheet.csv new.csv")
    fill("votes.csv", "keep", lambda row: "no" if row["annotator"] == "2" else "yes")
    ok("mad inspect -o kept.csv votes.csv")

    output = ok("mad rank -q -m BLEU-1 --references kept.csv next.json")
    assert output.count("dominance, BLEU-1") == 1
    images = {row["image_id"] for row in read_rows("sheet.csv") + read_rows("new.csv")}
    assert len(read_rows("kept.csv")) == len(images)


def test_a_replacement_without_excluded_images_is_an_error(ok, refused, systems):
    ok(f"{SELECT} s0.json s1.json")

    assert refused("mad replace -o x.json state.json s0.json s1.json")
