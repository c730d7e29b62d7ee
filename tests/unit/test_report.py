"""Reports as one HTML page: what they hold, that nothing gets in or out, and how they look."""

import base64
import hashlib
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import semmetrics
from tests.refusals import refused

for _package in ("jinja2", "matplotlib", "PIL"):
    pytest.importorskip(_package)
CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J$x$"


class Page(HTMLParser):
    """The elements and texts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self._script = [], [], False
        self.scripts = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._script = tag == "script"

    def handle_data(self, data):
        (self.scripts if self._script else self.texts).append(data)

    def handle_endtag(self, tag):
        self._script = False


@pytest.fixture
def scored():
    truth = {"a": ["cat", HOSTILE], "b": ["dog"], "c": ["automobile"]}
    systems = {
        "one": {"a": [HOSTILE], "b": [], "c": ["car"]},
        HOSTILE: {"a": ["cat"], "b": ["cow"], "c": []},
    }
    return semmetrics.score_systems(
        systems, truth, measures="F1 MacroF1 SemF1", ci=True, resamples=50
    )


def test_a_report_holds_the_result_and_no_markup_of_the_input(scored, tmp_path):
    scored.to_html_report(tmp_path / "r.html", title=HOSTILE)
    html = (tmp_path / "r.html").read_text("utf-8")
    page = Page(html)
    text = "\n".join(page.texts)
    for row in scored.to_records():
        assert f"{row['value']:.4f} [{row['ci_low']:.4f}, {row['ci_high']:.4f}]" in text
        assert row["signature"].split("|v:")[0] in text
    assert (
        {row["label"] for row in scored.per_label()} >= {"cat", "dog"} <= {*page.texts}
    )
    for note in scored.notes:
        assert note.replace("\x1b", "\\x1b") in text
    (script,) = page.scripts
    assert len(script) < 5000
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert [t for t, _ in page.tags].count("script") == 1
    assert not [a for t, a in page.tags if any(name.startswith("on") for name in a)]
    assert not [
        a
        for _, a in page.tags
        if {"src", "href"} & {*a}
        and not re.match("data:image/|#", a.get("src", a.get("href", "#")))
    ]
    assert text.count("alert(1)") > 3
    hits = [a for t, a in page.tags if t == "li" and a.get("class") == "hit"]
    assert any(f", {scored.headings[2]}: value" in one for one in page.texts)
    assert hits  # car and automobile match, and so do the same labels


def test_results_with_little_in_them_have_reports():
    coco = {
        "images": [{"id": 1, "file_name": "a"}, {"id": 2, "file_name": "a"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1}],
    }
    with refused("no-items"):  # a name that two images have is none
        semmetrics.score(
            {"a": ["cat"]}, coco, measures="F1", task="labels", missing="skip"
        )
    captions = {"a": "a cat"}
    partly = semmetrics.score(captions, {"a": ["a cat"]}, protocol="coco-caption")
    assert partly.not_computed
    assert partly.not_computed[0].reason in "\n".join(Page(partly.html_report()).texts)
    assert "<table" in semmetrics.score([[]], [[]], measures="MacroF1").html_report()
    label = 'id="zz url(#q)'
    table = semmetrics.score([[label, "cat"]], [[label]], measures="MacroF1 F1")
    texts = Page(table.html_report(scale=100, digits=1)).texts
    assert texts.count(label) > 2  # in the figure, too
    assert "100.0" in texts  # of the label
    assert any(one.endswith("F1: value 66.7") for one in texts)
    pairs = semmetrics.compare(
        {"a": [["cat"]] * 2, "b": [[]] * 2}, [["cat"]] * 2, measures="F1"
    )
    texts = Page(pairs.html_report()).texts
    assert "Report on a, b" in texts
    assert (
        "b against a, F1: value 0.0000, baseline value 1.0000, difference -1.0000"
        in texts
    )


def test_a_picture_in_another_format_than_its_name_says_is_not_opened(
    tmp_path, monkeypatch
):
    from PIL import EpsImagePlugin, Image

    def start(*_, **__):
        raise AssertionError("Ghostscript would be started")

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", start)
    picture = Image.new("RGB", (30, 20), "red")
    formats = {"eps": "EPS", "tiff": "TIFF", "ppm": "PPM", "ico": "ICO", "pdf": "PDF"}
    formats |= {
        "jpeg": "JPEG",
        "png": "PNG",
        "gif": "GIF",
        "bmp": "BMP",
        "webp": "WEBP",
    }
    for name, kind in formats.items():
        picture.save(tmp_path / f"{name}.jpg", kind)
    sides = {name: ["cat"] for name in formats}
    html = semmetrics.score(sides, sides, measures="F1").html_report(
        images=str(tmp_path)
    )
    assert "data:image/jpeg;base64," in html
    assert "5 items without a picture" in html


def test_pictures_are_those_of_the_folder_alone(tmp_path):
    from PIL import Image

    (tmp_path / "images").mkdir()
    Image.new("RGB", (900, 600), "red").save(tmp_path / "images" / "a.png")
    Image.new("RGB", (9, 9), "red").save(tmp_path / "secret.png")
    (tmp_path / "images" / "bad.jpg").write_bytes(b"\xff\xd8 no picture")
    ids = ["a", "bad", "../secret", "lacking", "a\0"]
    table = semmetrics.score(
        {id: ["cat"] for id in ids}, {id: ["cat"] for id in ids}, measures="F1"
    )
    for images in ("images", "images/{id}.png"):
        table.to_html_report(tmp_path / "r.html", images=str(tmp_path / images))
        html = (tmp_path / "r.html").read_text("utf-8")
        pictures = set(re.findall(r'src="data:image/jpeg;base64,([^"]+)"', html))
        assert len(pictures) == 1
        with Image.open(io.BytesIO(base64.b64decode(*pictures))) as picture:
            assert picture.size == (160, 107)
        assert "items without a picture" in html
    other = semmetrics.score({"a.jpg": ["cat"]}, {"a.jpg": ["cat"]}, measures="F1")
    assert "data:image" in other.html_report(images=str(tmp_path / "images"))
    one = semmetrics.score({"b": ["cat"]}, {"b": ["cat"]}, measures="F1")
    for chosen, images in ((table, "nowhere"), (one, "images")):
        with refused("missing-file"):
            chosen.html_report(images=str(tmp_path / images))
    Image.new("RGB", (9, 9), "red").save(tmp_path / "images" / "000000000042.jpg")
    coco = semmetrics.score({"42": ["cat"]}, {"42": ["cat"]}, measures="F1")
    assert "data:image" in coco.html_report(
        images=str(tmp_path / "images/{id:012d}.jpg")
    )
    for images in ("images", "images/{id}.jpg", "images/{id:05d}.jpg"):
        with refused("missing-file") as caught:
            coco.html_report(images=str(tmp_path / images))
        assert "{id:012d}" in str(caught.value)


def shown(page, column):
    """What a column of the labels shows."""
    return page.locator(
        f"#table1 tr:not([hidden]) > td:nth-child({column})"
    ).all_inner_texts()


@pytest.mark.skipif(not CHROMIUM.exists(), reason="chromium is not installed")
def test_a_browser_shows_sorts_searches_and_folds(scored, tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    scored.to_html_report(tmp_path / "r.html")
    problems = []
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width in (375, 1280):
            for scheme in ("light", "dark"):
                view = {"width": width, "height": 800}
                page = browser.new_page(viewport=view, color_scheme=scheme)
                page.on("console", lambda one: problems.append(one.text))
                page.on("pageerror", lambda one: problems.append(str(one)))
                page.on(
                    "request",
                    lambda one: (
                        problems.append(one.url)
                        if one.url[:5] != "file:" and one.url[:5] != "data:"
                        else None
                    ),
                )
                page.goto((tmp_path / "r.html").as_uri())
                assert page.evaluate(
                    "document.scrollingElement.scrollWidth <= innerWidth"
                )
                head = page.locator("#table1 thead th", has_text="value")
                column = 1 + head.evaluate("one => one.cellIndex")
                for falling in (False, True):
                    head.locator("button").click()
                    values = [float(v) for v in shown(page, column) if v]
                    assert values == sorted(values, reverse=falling)
                page.get_by_role("searchbox").first.fill("DOG")
                assert {*shown(page, 3)} == {"dog"}
                page.get_by_role("searchbox").first.fill("")
                details = page.locator("details").first
                details.locator("summary").click()
                assert details.get_attribute("open") is None
                page.evaluate(
                    "for (const one of document.querySelectorAll('details')) one.open = 1"
                )
                assert page.evaluate(
                    "document.scrollingElement.scrollWidth <= innerWidth"
                )
                violations = axe.Axe().run(page).response["violations"]
                assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == []
                page.close()
        browser.close()
    assert not problems


def test_a_system_name_that_no_file_can_hold_is_an_error(tmp_path):
    sides = {"1": ["cat"], "2": ["dog"]}
    for name in ("a\ud800", "\udcff"):
        with refused("lone-surrogate"):
            semmetrics.score(sides, sides, measures="F1", system=name)
        with refused("lone-surrogate"):
            semmetrics.compare({name: sides, "b": sides}, sides, measures="F1")
        with refused("lone-surrogate"):
            semmetrics.Scorer(measures="F1", system=name)
        scorer = semmetrics.Scorer(measures="F1", keep_rows=False)
        with refused("lone-surrogate"):
            scorer.update(sides, sides, system=name)
    for name in ("caf\xe9", "\U0001f600", "a\nb", "<b>"):
        table = semmetrics.score(sides, sides, measures="F1", system=name)
        table.to_html_report(tmp_path / "r.html")


def test_a_report_says_on_top_what_it_is_of(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    table = semmetrics.score_systems(
        {"one": [["a"], ["b"]] * 4, "two": [["a"], ["a"]] * 4}, [["a"], ["b"]] * 4
    )
    page = table.html_report()
    assert "<h1>Report on one, two</h1>" in page
    assert "Written on 1970-01-02 by semmetrics" in page
    assert "Items: 8." in page
    assert "Ground truth: " in page
    assert "The best value of each measure is bold." in page
    assert "Written on today by" in table.html_report(date="today")
    assert page == table.html_report()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with refused("not-a-number", "SOURCE_DATE_EPOCH"):
        table.html_report()


def test_a_report_of_many_systems_names_the_ground_truth(tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text('{"x": ["a", "b"], "y": ["c"]}')
    systems = {}
    for name in ("one", "two", "three", "four"):
        path = tmp_path / f"{name}.json"
        path.write_text('{"x": ["a"], "y": ["b"]}')
        systems[name] = str(path)
    table = semmetrics.score_systems(systems, str(truth), measures="F1")
    line = f"{truth}: JSON, {{id: [labels]}}: 2 items, 3 labels"
    assert table.understood[-1] == line
    assert f"Ground truth: {line}." in table.html_report()


def test_a_report_calls_no_predictions_the_ground_truth(tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text('{"x": ["a", "b"], "y": ["c"]}')
    tables = {}
    for name in ("one", "two"):
        path = tmp_path / f"{name}.json"
        path.write_text('{"x": ["a"], "y": ["b"]}')
        tables[name] = semmetrics.score(str(path), str(truth), measures="F1", ci=True)
    found = semmetrics.compare(tables)
    assert found.understood[-1] == tables["one"].understood[-1]
    assert f"Ground truth: {truth}: JSON" in found.html_report()
    captions = {"one": {"x": "a dog", "y": "a cat"}, "two": {"x": "dogs", "y": "cats"}}
    assert (
        "Ground truth: "
        not in semmetrics.select_discrepant(captions, k=1).html_report()
    )


def test_figures_of_a_report_are_dark_in_dark_mode():
    page = semmetrics.score([["a"]], [["a"]], measures="F1").html_report()
    dark = re.search(
        r"@media screen and \(prefers-color-scheme: dark\) \{ figure \{(.*?)\}", page
    )
    assert "invert(1)" in dark[1]


def test_worst_items_of_a_report_are_few_and_not_perfect():
    preds = [["a"], ["b"], ["x"], ["a"], ["b"], ["a"], ["b"], ["a"]]
    table = semmetrics.score(preds, [["a"], ["b"]] * 4, measures="F1")
    examples = dict(table._examples(10))
    assert [row["value"] for row in examples["Worst items"]] == [0.0, 0.0]
    assert {row["value"] for row in examples["Best items"]} == {1.0}
    perfect = semmetrics.score(preds, preds, measures="F1")
    assert not dict(perfect._examples(10))["Worst items"]


def test_long_sections_of_a_report_are_folded():
    labels = [[f"label {n}"] for n in range(40)]
    page = semmetrics.score(labels, labels, measures="MacroF1").html_report()
    assert "<details><summary>Labels</summary>" in page
    few = semmetrics.score(labels[:3], labels[:3], measures="MacroF1").html_report()
    assert "<details open><summary>Labels</summary>" in few
