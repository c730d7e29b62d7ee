"""Scores in notebooks and other libraries: HTML, data frames and names of measures."""

import sys
from html.parser import HTMLParser

import pytest

import semmetrics

PREDS = {"a": ["cat", "dog"], "b": ["bus"], "c": []}
OTHER_PREDS = {"a": ["cat"], "b": ["car"], "c": ["tree"]}
GTS = {"a": ["cat", "dog"], "b": ["bus"], "c": ["tree"]}
MARKUP = "<b>one</b> & co"


class CheckedPage(HTMLParser):
    """HTML that closes its tags in order, and has no scripts, addresses or colours."""

    def __init__(self, result):
        super().__init__()
        self.open_tags = []
        self.tags = set()
        self.texts = []
        self.bold_texts = []
        self.feed(result._repr_html_())
        self.close()
        assert self.open_tags == []

    def handle_starttag(self, tag, attrs):
        assert tag not in {"script", "style", "iframe", "img"}
        for name, value in attrs:
            assert name in {"style", "scope"}
            assert "url" not in value
            assert "color" not in value
        self.open_tags.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if "strong" in self.open_tags:
            self.bold_texts.append(data)


def score_two_systems(**options):
    systems = {MARKUP: PREDS, "two": OTHER_PREDS}
    measures = "F1 HammingLoss MicroF1"
    return semmetrics.score_systems(systems, GTS, measures=measures, **options)


# ---- HTML ---------------------------------------------------------------------------------------


def test_html_of_scores_is_escaped_and_has_intervals_and_signatures():
    table = score_two_systems(ci=True, resamples=20)

    page = CheckedPage(table)

    assert MARKUP in page.texts
    assert "b" not in page.tags
    ci = table["two", "F1"].ci
    interval = f"[{ci.low:.4f}, {ci.high:.4f}]"
    assert any(interval in text for text in page.texts)
    assert {score.signature for score in table} <= set(page.texts)


def test_the_best_value_of_each_measure_is_bold():
    table = score_two_systems()

    page = CheckedPage(table)

    best = [table[MARKUP, "F1"], table[MARKUP, "HammingLoss"], table[MARKUP, "MicroF1"]]
    assert page.bold_texts == [f"{score.value:.4f}" for score in best]


def test_single_and_equal_values_are_not_bold():
    single = semmetrics.score(PREDS, GTS, measures="F1")
    equal = semmetrics.score_systems({"x": PREDS, "y": PREDS}, GTS, measures="F1")

    assert CheckedPage(single).bold_texts == []
    assert CheckedPage(equal).bold_texts == []


def test_html_of_records_has_the_first_60_rows():
    records = semmetrics.Records({"id": ["<i>"] * 70, "value": [0.5, *[None] * 69]})

    page = CheckedPage(records)

    assert page.texts[:4] == ["id", "value", "<i>", "0.5000"]
    assert "… and 10 rows more" in page.texts


def test_html_of_sweeps_has_the_best_point():
    sweep = semmetrics.sweep(PREDS, OTHER_PREDS, thresholds=[0.3, 0.5])

    page = CheckedPage(sweep)

    best = f"highest SemF1: {sweep.best['SemF1'].value:.4f}"
    assert any(best in text for text in page.texts)


def test_undefined_values_and_differences_are_counted_below_the_table():
    table = semmetrics.score({**PREDS, "c": ["tree"]}, GTS, measures="Precision")
    preds = {**PREDS, "a": []}
    gts = {**GTS, "a": []}

    again = semmetrics.rescore(table[0].signature, preds, gts)

    line = "2 undefined values (.undefined()), 1 difference (.differences)"
    assert str(again).splitlines()[-1] == line
    page = CheckedPage(again)
    assert {"undefined", "no_prediction", *again.differences} <= set(page.texts)


# ---- data frames --------------------------------------------------------------------------------


def rows_in_all_libraries(result):
    """Return the rows in Arrow, after checking that pandas and polars have the same."""
    frame = result.to_pandas()
    in_pandas = frame.astype(object).where(frame.notna(), None)
    rows = result.to_arrow().to_pylist()
    assert in_pandas.to_dict("records") == rows
    assert result.to_polars().to_dicts() == rows
    return rows


def test_frames_of_sweeps_have_a_row_per_measure_and_point():
    sweep = semmetrics.sweep(
        PREDS, GTS, measures="SemF1 SemRecall", thresholds=[0.3, 0.5]
    )

    rows = rows_in_all_libraries(sweep)

    assert [row["measure"] for row in rows] == ["SemF1"] * 2 + ["SemRecall"] * 2
    assert [row["threshold"] for row in rows] == [0.3, 0.5] * 2
    values = [row["value"] for row in rows]
    assert values == [*sweep.values["SemF1"], *sweep.values["SemRecall"]]


@pytest.mark.parametrize("ci", [False, True])
def test_frames_of_scores_have_a_row_per_score(ci):
    table = score_two_systems(ci=ci, resamples=20)

    rows = rows_in_all_libraries(table)

    for row, score in zip(rows, table, strict=True):
        assert row["system"] == score.system
        assert row["measure"] == str(score.measure)
        assert row["value"] == score.value
        assert row["signature"] == score.signature
        assert row["ci_low"] == (score.ci.low if ci else None)
    assert str(table.to_pandas()["ci_low"].dtype) == "float64"
    assert str(table.to_arrow().schema.field("ci_high").type) == "double"


def test_undefined_scores_are_missing_values_in_frames():
    table = semmetrics.score(PREDS, GTS, measures="Precision(no_prediction=nan)")

    (row,) = rows_in_all_libraries(table)

    assert row["value"] is None
    assert row["undefined"] == "no_prediction=1"


@pytest.mark.parametrize(
    ("package", "method"),
    [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")],
)
def test_missing_packages_are_named(monkeypatch, package, method):
    table = score_two_systems()
    sweep = semmetrics.sweep(PREDS, GTS, thresholds=[0.3])
    monkeypatch.setitem(sys.modules, package, None)

    for result in (table, table.per_item(), sweep):
        with pytest.raises(
            semmetrics.MissingDependencyError, match=f"needs the package {package}"
        ):
            getattr(result, method)()


# ---- names of measures --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    measures = "F1 F1(average=micro) Recall@2 SemF1"
    return semmetrics.score(PREDS, GTS, measures=measures)


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("f1", 0),
        (("preds", "F1"), 0),
        ("MicroF1", 1),
        ("microf1", 1),
        ("F1(AVERAGE = micro)", 1),
        (semmetrics.parse("Recall@2")[0], 2),
        ("SEMF1(threshold=0.5)", 3),
    ],
)
def test_scores_are_found_by_any_spelling_of_the_measure(table, key, place):
    assert table[key] is table[place]
    assert key in table


def test_measures_that_were_not_scored_are_not_found(table):
    assert "MacroF1" not in table
    assert "recall" not in table
    assert table.get("MacroF1") is None
    with pytest.raises(KeyError):
        table["Recal@2"]


@pytest.mark.parametrize(
    "measures",
    [
        "F1 F1(average=macro, labels=union)\n Recall@1,3",
        ["F1 F1(average=macro, labels=union)", "Recall@1,3"],
        ["F1", "F1(average=macro,labels=union)", "Recall@1", "Recall@3"],
    ],
)
def test_a_string_may_contain_several_measures(measures):
    table = semmetrics.score(PREDS, GTS, measures=measures)

    assert table.headings == [
        "F1",
        "F1(average=macro,labels=union)",
        "Recall@1",
        "Recall@3",
    ]
