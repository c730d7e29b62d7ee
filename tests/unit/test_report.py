"""Reports as one HTML page: the result, nothing that gets in or out, and how they look."""

import base64
import hashlib
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from refusals import refused

import semmetrics

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
image_module = pytest.importorskip("PIL.Image")
CHROMIUM = Path("/usr/bin/chromium")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J$x$"


class Page(HTMLParser):
    """The elements, texts and scripts of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.texts = []
        self.scripts = []
        self._in_script = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"

    def handle_data(self, data):
        (self.scripts if self._in_script else self.texts).append(data)

    def handle_endtag(self, tag):
        self._in_script = False

    @property
    def text(self):
        return "\n".join(self.texts)


@pytest.fixture(scope="module")
def table():
    """Scores of labels and a system whose names are markup."""
    truth = {"a": ["cat", HOSTILE], "b": ["dog"], "c": ["automobile"]}
    systems = {
        "one": {"a": [HOSTILE], "b": [], "c": ["car"]},
        HOSTILE: {"a": ["cat"], "b": ["cow"], "c": []},
    }
    measures = "F1 MacroF1 SemF1"
    return semmetrics.score_systems(
        systems, truth, measures=measures, ci=True, resamples=50
    )


@pytest.fixture(scope="module")
def page(table):
    return Page(table.html_report(title=HOSTILE))


# ---- the content of a report --------------------------------------------------------------------


def test_a_report_has_all_values_signatures_labels_and_notes(table, page):
    for row in table.to_records():
        value = f"{row['value']:.4f} [{row['ci_low']:.4f}, {row['ci_high']:.4f}]"
        assert value in page.text
        assert row["signature"].split("|v:")[0] in page.text
    assert {"cat", "dog"} <= set(page.texts)
    for note in table.notes:
        assert note.replace("\x1b", "\\x1b") in page.text
    assert ("li", {"class": "hit"}) in page.tags  # car and automobile


def test_markup_of_the_input_is_text(page):
    assert page.text.count("alert(1)") > 3
    assert len(page.scripts) == 1
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)


def test_a_report_loads_nothing(page):
    for _, attributes in page.tags:
        assert re.match("data:image/|#", attributes.get("src", "#"))
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_of_a_report_allows_only_its_script(page):
    (script,) = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()

    policies = [attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs]

    assert policies[0].startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policies[0]


def test_the_head_of_a_report_names_systems_items_and_date(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    systems = {"one": [["a"], ["b"]], "two": [["a"], ["a"]]}
    table = semmetrics.score_systems(systems, [["a"], ["b"]])

    html = table.html_report()

    assert "<h1>Report on one, two</h1>" in html
    assert "Written on 1970-01-02 by semmetrics" in html
    assert "Items: 2." in html
    assert "The best value of each measure is bold." in html
    assert "Written on today by" in table.html_report(date="today")


def test_a_date_that_is_not_a_number_raises_an_error(monkeypatch, table):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")

    with refused("not-a-number", "SOURCE_DATE_EPOCH"):
        table.html_report()


def test_reports_of_scores_and_comparisons_name_the_ground_truth(tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text('{"x": ["a", "b"], "y": ["c"]}', encoding="utf-8")
    systems = {name: {"x": ["a"], "y": ["b"]} for name in ("one", "two", "three")}
    table = semmetrics.score_systems(systems, str(truth), measures="F1", ci=True)

    line = f"Ground truth: {truth}: JSON, {{id: [labels]}}: 2 items, 3 labels."
    assert line in table.html_report()
    assert line in semmetrics.compare(table).html_report()


def test_reports_of_competitions_have_no_ground_truth():
    captions = {"one": {"x": "a dog", "y": "a cat"}, "two": {"x": "dogs", "y": "cats"}}

    html = semmetrics.select_discrepant(captions, k=1).html_report()

    assert "Ground truth: " not in html


def test_reports_of_comparisons_show_items_that_differ():
    systems = {"a": [["cat"]] * 2, "b": [[]] * 2}

    table = semmetrics.compare(systems, [["cat"]] * 2, measures="F1")

    page = Page(table.html_report())
    assert "Report on a, b" in page.texts
    values = "value 0.0000, baseline value 1.0000, difference -1.0000"
    assert f"b against a, F1: {values}" in page.texts


def test_measures_that_were_not_computed_have_their_reason():
    table = semmetrics.score({"a": "a cat"}, {"a": ["a cat"]}, protocol="coco-caption")

    page = Page(table.html_report())

    assert table.not_computed[0].reason in page.text


def test_worst_items_are_not_perfect():
    imperfect = semmetrics.score([["a"], ["b"]], [["a"], ["x"]], measures="F1")
    perfect = semmetrics.score([["a"], ["b"]], [["a"], ["b"]], measures="F1")

    assert "Worst items" in imperfect.html_report()
    assert "Worst items" not in perfect.html_report()


@pytest.mark.parametrize("name", ["a\ud800", "\udcff"])
def test_system_names_that_no_file_can_hold_raise_an_error(name):
    items = {"1": ["cat"], "2": ["dog"]}

    with refused("lone-surrogate"):
        semmetrics.score(items, items, measures="F1", system=name)
    with refused("lone-surrogate"):
        semmetrics.compare({name: items, "b": items}, items, measures="F1")
    with refused("lone-surrogate"):
        semmetrics.Scorer(measures="F1", system=name)
    with refused("lone-surrogate"):
        semmetrics.Scorer(measures="F1").update(items, items, system=name)


# ---- pictures -----------------------------------------------------------------------------------


def score_items(*ids):
    items = {item: ["cat"] for item in ids}
    return semmetrics.score(items, items, measures="F1")


def save_picture(path, form=None, size=(30, 20)):
    path.parent.mkdir(exist_ok=True)
    image_module.new("RGB", size, "red").save(path, form)


@pytest.mark.parametrize("pattern", ["images", "images/{id}.png"])
def test_only_pictures_of_the_folder_are_shown_and_small(tmp_path, pattern):
    folder = tmp_path / "images"
    save_picture(folder / "a.png", size=(900, 600))
    (folder / "bad.jpg").write_bytes(b"\xff\xd8 no picture")
    save_picture(tmp_path / "secret.png")
    table = score_items("a", "bad", "../secret", "missing", "a\0")

    html = table.html_report(images=str(tmp_path / pattern))

    pictures = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', html)
    assert len(set(pictures)) == 1
    picture = image_module.open(io.BytesIO(base64.b64decode(pictures[0])))
    assert picture.size == (160, 107)
    assert "items without a picture" in html


@pytest.mark.parametrize(
    ("file", "item", "pattern"),
    [
        ("a.png", "a.png", ""),
        ("000000000042.jpg", "42", "{id:012d}.jpg"),
    ],
)
def test_pictures_are_found_by_the_name_or_the_number_of_an_item(
    tmp_path, file, item, pattern
):
    save_picture(tmp_path / file)

    html = score_items(item).html_report(images=str(tmp_path / pattern))

    assert "data:image" in html


@pytest.mark.parametrize("pattern", ["", "{id}.jpg", "{id:05d}.jpg"])
def test_missing_pictures_raise_an_error_that_suggests_leading_zeros(tmp_path, pattern):
    save_picture(tmp_path / "000000000042.jpg")

    with refused("missing-file") as caught:
        score_items("42").html_report(images=str(tmp_path / pattern))

    assert "{id:012d}" in str(caught.value)


def test_pictures_need_a_folder_that_exists(tmp_path):
    with refused("missing-file"):
        score_items("a").html_report(images=str(tmp_path / "nowhere"))


def test_formats_that_are_not_for_the_web_are_not_opened(tmp_path, monkeypatch):
    def start(*_, **__):
        raise AssertionError("Ghostscript would be started")

    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", start)
    opened = ["JPEG", "PNG", "GIF", "BMP", "WEBP"]
    others = ["EPS", "TIFF", "PPM", "ICO", "PDF"]
    for form in opened + others:
        save_picture(tmp_path / f"{form}.jpg", form)

    html = score_items(*opened, *others).html_report(images=str(tmp_path))

    assert "data:image/jpeg;base64," in html
    assert "5 items without a picture" in html


# ---- browsers -----------------------------------------------------------------------------------


def test_figures_are_inverted_in_dark_mode(table):
    dark = r"@media screen and \(prefers-color-scheme: dark\) \{ figure \{(.*?)\}"

    match = re.search(dark, table.html_report())

    assert "invert(1)" in match[1]


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as programs:
        browser = programs.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(params=[375, 1280])
def width(request):
    return request.param


@pytest.fixture(params=["light", "dark"])
def browser_page(request, browser, width, table, tmp_path):
    """The report in a browser. Messages, errors and requests to the network fail."""
    path = tmp_path / "r.html"
    table.to_html_report(path)
    view = {"width": width, "height": 800}
    page = browser.new_page(viewport=view, color_scheme=request.param)
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda sent: problems.append(sent.url))
    page.goto(path.as_uri())
    yield page
    page.close()
    local = ("file:", "data:")
    assert [text for text in problems if not text.startswith(local)] == []


def visible_cells(page, column):
    rows = "#table1 tr:not([hidden])"
    return page.locator(f"{rows} > td:nth-child({column})").all_inner_texts()


def test_a_browser_sorts_searches_and_folds_tables(browser_page):
    head = browser_page.locator("#table1 thead th", has_text="value")
    column = 1 + head.evaluate("cell => cell.cellIndex")
    for falling in (False, True):
        head.locator("button").click()
        values = [float(text) for text in visible_cells(browser_page, column) if text]
        assert values == sorted(values, reverse=falling)

    search = browser_page.get_by_role("searchbox").first
    search.fill("DOG")
    assert set(visible_cells(browser_page, 3)) == {"dog"}
    search.fill("")

    details = browser_page.locator("details").first
    details.locator("summary").click()
    assert details.get_attribute("open") is None


def test_a_report_fits_the_screen_and_is_accessible(browser_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    open_all = "for (const one of document.querySelectorAll('details')) one.open = 1"
    fits = "document.scrollingElement.scrollWidth <= innerWidth"

    assert browser_page.evaluate(fits)
    browser_page.evaluate(open_all)
    assert browser_page.evaluate(fits)
    violations = axe.Axe().run(browser_page).response["violations"]
    assert [violation["id"] for violation in violations] == []
