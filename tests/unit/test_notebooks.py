"""What notebooks and other libraries see of scores: HTML, data frames and plain dictionaries."""

import sys
from html.parser import HTMLParser

import pytest

import semmetrics

PREDS = {"a": ["cat", "dog"], "b": ["bus"], "c": []}
OTHER = {"a": ["cat"], "b": ["car"], "c": ["tree"]}
GTS = {"a": ["cat", "dog"], "b": ["bus"], "c": ["tree"]}
VOID = {"br", "img", "hr", "input", "meta", "link"}


class Checked(HTMLParser):
    """Reads HTML, and fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.bold, self.text = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag not in VOID
        assert tag not in {"script", "style", "iframe"}
        for name, value in attrs:
            assert name in {"style", "scope"}
            assert "url" not in value
            assert "color" not in value
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if "strong" in self.open:
            self.bold.append(data)


def compared(**options):
    systems = {"<b>one</b> & co": PREDS, "two": OTHER}
    return semmetrics.score_systems(
        systems, GTS, measures="F1 HammingLoss MicroF1", **options
    )


def test_a_table_in_html_is_valid_escaped_and_marks_the_best():
    table = compared(ci=True, resamples=20)
    page = Checked(table._repr_html_())
    assert "<b>one</b> & co" in page.text
    assert "b" not in page.seen
    best = [max(table["<b>one</b> & co", "F1"].value, table["two", "F1"].value)]
    best += [min(score.value for score in table if score.heading == "HammingLoss")]
    best += [max(score.value for score in table if score.heading == "MicroF1")]
    assert [text.partition(" [")[0] for text in page.bold] == [
        f"{value:.4f}" for value in best
    ]
    ci = table["two", "F1"].ci
    assert any(f"[{ci.low:.4f}, {ci.high:.4f}]" in text for text in page.text)
    assert "details" in page.seen
    assert all(score.signature in page.text for score in table)


def test_one_value_alone_is_not_marked():
    assert Checked(semmetrics.score(PREDS, GTS, measures="F1")._repr_html_()).bold == []
    same = semmetrics.score_systems({"x": PREDS, "y": PREDS}, GTS, measures="F1")
    assert Checked(same._repr_html_()).bold == []


def test_records_and_sweeps_in_html():
    records = semmetrics.Records({"id": ["<i>"] * 70, "value": [0.5, *[None] * 69]})
    page = Checked(records._repr_html_())
    assert page.text[:4] == ["id", "value", "<i>", "0.5000"]
    assert "… and 10 rows more" in page.text
    sweep = semmetrics.sweep(PREDS, OTHER, thresholds=[0.3, 0.5])
    page = Checked(sweep._repr_html_())
    assert page.text.count("0.5") == 1
    assert any(
        f"highest SemF1: {sweep.best['SemF1'].value:.4f}" in text for text in page.text
    )


def test_what_stands_beside_a_table_is_counted_below_it():
    made = semmetrics.score({**PREDS, "c": ["tree"]}, GTS, measures="Precision")
    assert len(str(made).splitlines()) == 2
    again = semmetrics.rescore(made[0].signature, {**PREDS, "a": []}, {**GTS, "a": []})
    (line,) = {
        text.splitlines()[-1] for text in (str(again), repr(again), again.to_text())
    }
    assert line == "2 undefined values (.undefined()), 1 difference (.differences)"
    page = Checked(again._repr_html_())
    assert {"undefined", "no_prediction", *again.differences} <= set(page.text)


def forms(thing):
    """The rows of a thing in pandas, polars and Arrow, with None for what is missing."""
    frame = thing.to_pandas()
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows, thing.to_polars().to_dicts(), thing.to_arrow().to_pylist()


def test_frames_of_sweeps():
    sweep = semmetrics.sweep(
        PREDS, GTS, measures="SemF1 SemRecall", thresholds=[0.3, 0.5]
    )
    pandas, polars, arrow = forms(sweep)
    assert pandas == polars == arrow
    assert [(row["measure"], row["threshold"], row["value"]) for row in arrow] == [
        (name, point, value)
        for name, values in sweep.values.items()
        for point, value in zip(sweep.points, values, strict=True)
    ]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_a_package_that_is_missing_is_named(monkeypatch, package):
    table = compared()
    sweep = semmetrics.sweep(PREDS, GTS, thresholds=[0.3])
    monkeypatch.setitem(sys.modules, package, None)
    method = {"pyarrow": "to_arrow"}.get(package, f"to_{package}")
    for thing in (table, table.per_item(), sweep):
        with pytest.raises(
            semmetrics.MissingDependencyError, match=f"needs the package {package}"
        ):
            getattr(thing, method)()


def test_scores_are_found_in_any_spelling():
    table = semmetrics.score(PREDS, GTS, measures="F1 F1(average=micro) Recall@2 SemF1")
    assert table["f1"] is table["preds", "F1"] is table[0]
    assert table["MicroF1"] is table["F1(average = micro)"] is table[1] is table[-3]
    assert table["microf1"] is table["F1(AVERAGE=micro)"] is table[1]
    assert table["Recall@2"] is table[semmetrics.parse("Recall@2")[0]]
    assert (
        table["SemF1"]
        is table[3]
        is table[str(table[3].measure)]
        is table[table[3].measure]
    )
    assert table["SEMF1(threshold=0.5)"] is table[3]
    assert "MicroF1" in table
    assert table[0] in table
    assert "MacroF1" not in table
    assert "recall" not in table
    assert [score.heading for score in table[1:3]] == ["F1(average=micro)", "Recall@2"]
    assert table.get("MacroF1") is None
    kubany = semmetrics.score(PREDS, GTS, protocol="kubany2020")
    assert kubany[kubany[0].heading.lower()] is kubany[0]
    with pytest.raises(KeyError):
        table["Recal@2"]


def test_several_measures_stand_in_one_text():
    names = ["F1", "F1(average=macro,labels=union)", "Recall@1", "Recall@3"]
    spelled = "F1 F1(average=macro, labels=union)\n Recall@1,3"
    for measures in (spelled, [spelled], spelled.split("\n"), names):
        table = semmetrics.score(PREDS, GTS, measures=measures)
        assert len(table) == 4
        assert [table[name].value for name in names] == [score.value for score in table]
    # one measure, with a blank
    assert len(semmetrics.score(PREDS, GTS, measures="F1 @1")) == 1
    found = semmetrics.sweep(PREDS, GTS, measures="SemF1 SemRecall@1", thresholds=[0.5])
    assert list(found.values) == ["SemF1", "SemRecall@1"]


@pytest.mark.parametrize("ci", [False, True])
def test_frames_hold_everything(ci):
    table = compared(ci=ci, resamples=20)
    pandas, polars, arrow = forms(table)
    assert pandas == polars == arrow
    for row, score in zip(arrow, table, strict=True):
        assert (row["system"], row["part"], row["n"]) == (score.system, "", 3)
        assert (row["measure"], row["value"]) == (str(score.measure), score.value)
        assert row["signature"] == score.signature
        assert row["ci_low"] == (score.ci.low if ci else None)
        assert row["ci_level"] == (0.95 if ci else None)
    assert str(table.to_pandas()["ci_low"].dtype) == "float64"
    assert str(table.to_arrow().schema.field("ci_high").type) == "double"
    lacking = semmetrics.score(
        PREDS, GTS, measures="Precision(no_prediction=nan)", ci=ci
    )
    for row in (rows[0] for rows in forms(lacking)):
        assert (row["undefined"], row["value"]) == ("no_prediction=1", None)
