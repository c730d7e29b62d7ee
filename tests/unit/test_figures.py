"""Figures: what they hold and draw are the numbers of the records, whatever the input is called."""

from __future__ import annotations

import sys
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

import semmetrics as sm
from semmetrics import plots
from semmetrics.errors import MissingDependencyError
from semmetrics.reports.figures.curves import curve_style
from semmetrics.reports.figures.figure_text import shorten
from semmetrics.studies import rank_normalized

LABELS = ["cat", "a$b$c", "x" * 90, "\x1b[2J\n", "<b>&猫", "dog"]
TRUTH = {f"item {n}": [LABELS[n % 6], LABELS[(n + 2) % 6]] for n in range(12)}
SYSTEMS = {
    "base": {key: [LABELS[n % 5]] for n, key in enumerate(TRUTH)},
    "$new$ " + "y" * 90: {
        key: labels[: n % 3] for n, (key, labels) in enumerate(TRUTH.items())
    },
}
RANKED = np.array([[(n * 7 + c * 5) % 11 / 11 for c in range(6)] for n in range(12)])
VALUES = {
    f"set {d}": {"A": 0.9, "B": 0.7 - d / 50, "C": 0.65, "$D": 0.1 + d / 9}
    for d in range(6)
}


@cache
def result(name):
    scored = {"truth": list(TRUTH.values()), "measures": "F1 Recall", "classes": LABELS}
    how = {
        "precision-recall": {"measures": "mAP"},
        "top-k": {"top_k": [1, 2, 4]},
        "thresholds": {"threshold": "0.2,0.5,best", "measures": "F1"},
        "seen-unseen": {
            "truth": [LABELS[n % 6] for n in range(12)],
            "measures": "AUSUC",
            "seen": LABELS[:3],
            "unseen": LABELS[3:],
        },
        "ncs": {
            "truth": {str(n): [str(n % 6)] for n in range(12)},
            "task": "retrieval",
            "measures": "NCS@1 NCS@3 HitRate@1 HitRate@3",
            "phi": RANKED[:, ::-1],
            "classes": None,
        },
    }
    if name in how:
        options = scored | how[name]
        found = sm.score(RANKED, options.pop("truth"), **options)
    elif name in ("differences", "rank-matrix"):
        found = sm.compare(SYSTEMS, TRUTH, measures="F1 MacroF1", resamples=50)
    elif name == "ranks":
        found = rank_normalized(VALUES)
    elif name == "agreement":
        ratings = [{"id": key, "rating": n % 5} for n, key in enumerate(TRUTH)]
        found = sm.meta(
            ratings, SYSTEMS["base"], TRUTH, measures="F1 SemF1", resamples=50
        )
    elif name == "dominance":
        said = {
            f"$n{k}": {f"p{n}": f"a dog runs by {n % k} cats" for n in range(9)}
            for k in (2, 3, 5)
        }
        chosen = sm.select_discrepant(said, k=2)
        references = {key: [said["$n5"][key]] for key in chosen.images}
        found = sm.rank_competition(
            chosen, references=references, measures="ROUGE-L BLEU-1"
        )
    else:
        found = sm.score_systems(
            SYSTEMS, TRUTH, measures="F1 MacroF1 SemF1", ci=True, resamples=50
        )
    return found


def held(display):
    """Return the numbers that a display holds, and those that its axes draw."""
    axes = np.ravel(display.ax_)
    if hasattr(display, "panels"):
        return [np.nan_to_num(p[4]) for p in display.panels], [
            np.ma.filled(ax.collections[0].get_array(), 0) for ax in axes
        ]
    if hasattr(display, "curves"):
        lines = [
            line.get_xydata().T
            for line in axes[0].lines
            if line.get_linestyle() != "None"
        ]
        return [one[:2] for one in display.curves.values()], lines
    if hasattr(display, "support"):
        bars = [[bar.get_width() for bar in ax.patches] for ax in axes]
        return [display.value.T.ravel(), display.support], bars
    if hasattr(display, "value"):
        lines = [line.get_xdata() for ax in axes for line in ax.lines[::2]]
        wanted = [
            column
            for scale in dict.fromkeys(display.scales.values()) or [""]
            for column in display.value[
                [display.scales.get(row, scale) == scale for row in display.rows]
            ].T
        ]
        return wanted, lines[: len(wanted)]
    if hasattr(display, "means"):
        return [display.means], [
            [one.get_xdata()[0] for one in axes[0].lines if len(one.get_xdata()) == 3]
        ]
    every = axes[0].collections[0].get_offsets()
    return [np.unique(np.stack([display.x, display.y], 1), axis=0)], [every]


@pytest.mark.parametrize("name", plots.FIGURES)
def test_a_figure_draws_what_it_holds(name):
    found = result(name)
    display = plots.choose(found, name).plot()
    for wanted, drawn in zip(*held(display), strict=True):
        assert_allclose(drawn, wanted)
    assert name in plots.suitable(found)
    assert display.figure_.get_size_inches().max() < 30
    svg = plots.svg_text(display)
    assert plots.svg_text(plots.choose(found, name)) == svg
    text = "".join(ElementTree.fromstring(svg).itertext())
    names = [*getattr(display, "systems", ()), *getattr(display, "series", ())]
    assert not [one for one in names if names[1:] and shorten(one) not in text]
    assert not [one for one in ("\x1b", "y" * 40) if one in text] + ["style"] * (
        "<style" in svg
    )


def test_displays_hold_the_numbers_of_records():
    table = result("values")
    shown = plots.ValuesDisplay.from_scores(table)
    for one in table.to_records():
        row, column = (
            shown.rows.index(one["heading"]),
            shown.series.index(one["system"]),
        )
        assert (shown.value[row, column], shown.low[row, column]) == (
            one["value"],
            one["ci_low"],
        )
    labels = plots.LabelsDisplay.from_scores(table)
    for one in table.per_label():
        place = labels.labels.index(one["label"]), labels.systems.index(one["system"])
        drawn = labels.value[place], labels.support[place[0]]
        assert drawn == (one["value"], one["support"])
    found = result("ranks")
    assert plots.CriticalDifferenceDisplay.from_ranking(found).means == [
        one.mean_rank for one in found
    ]
    mean = next(
        iter(
            plots.PrecisionRecallDisplay.of(result("precision-recall")).curves.values()
        )
    )
    wanted = sm.score(
        RANKED,
        list(TRUTH.values()),
        measures="mAP(interpolation=coco101)",
        classes=LABELS,
    )
    assert mean[1].mean() == pytest.approx(wanted[0].value)


def test_figures_hide_what_is_too_much_and_draw_what_is_undefined():
    many = {f"system {n}": {"a": [f"l{n}"], "b": []} for n in range(40)}
    truth = {"a": [f"l{n}" for n in range(50)], "b": ["q"]}
    table = sm.score_systems(
        many, truth, measures="Precision(no_prediction=nan) MacroF1"
    )
    for name in plots.suitable(table):
        plots.choose(table, name).plot()
    shown = plots.ValuesDisplay.of(table)
    assert len(shown.rows) == 30
    assert "30 of 40 systems" in shown.note
    assert "the most frequent 30 of 51 labels" in plots.LabelsDisplay.of(table).note
    pairs = {
        f"checkpoint-with-a-long-name-{n}": {"a": [f"l{n}"], "b": ["q"]}
        for n in range(3)
    }
    found = sm.compare(pairs, {"a": ["l0"], "b": ["q"]}, measures="F1", resamples=10)
    assert plots.DifferencesDisplay.of(found).value.shape == (1, 3)
    two = sm.score_systems(
        pairs, {"a": ["l0"], "b": ["q"]}, measures="F1", weights=[1, 3]
    )
    assert list(plots.ItemsDisplay.of(two).curves)[1].endswith(": 0.750")
    assert (
        plots.ConfusionDisplay.of(two, system=two.systems[1])
        .panels[0][0]
        .startswith(two.systems[1])
    )
    one = sm.score({"a": ["cat"]}, {"a": ["cat"]}, measures="F1")
    assert [plots.choose(one, name).plot() is not None for name in plots.suitable(one)]


def test_thresholds_name_what_is_best():
    scores, truth = np.array([[0.9, 0.2], [0.6, 0.7]]), [["cat"], ["dog"]]
    table = sm.score(
        scores,
        truth,
        measures="HammingLoss",
        threshold=[0.1, 0.8],
        classes=["cat", "dog"],
    )
    assert list(plots.ThresholdDisplay.of(table).chosen) == [
        "HammingLoss: lowest at 0.8"
    ]
    table = sm.score(
        scores,
        truth,
        measures="MicroF1",
        threshold=["best", 0.1, 0.8],
        classes=["cat", "dog"],
    )
    assert list(plots.ThresholdDisplay.of(table).chosen) == ["MicroF1: chosen at 0.6"]
    swept = sm.studies.sweep_systems(
        {"a": [["bike"]], "b": [["bus"]]}, [["bicycle"]], thresholds="0.5,1"
    )
    display = plots.ThresholdDisplay.of(swept)
    assert list(display.curves) == ["a SemF1", "b SemF1"]
    # the lowest threshold of similarity always matches most
    assert display.chosen == {}
    assert {row["system"] for row in swept.to_records()} == {"a", "b"}


def test_axes_may_be_given_and_figures_are_saved(tmp_path):
    from matplotlib.figure import Figure

    before = {*sys.modules}
    for ending, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        plots.save(
            plots.TopKDisplay.of(result("top-k")), path := tmp_path / f"a.{ending}"
        )
        assert path.read_bytes().startswith(start)
    axes = Figure().subplots(2)
    assert plots.TopKDisplay.of(result("top-k")).plot(axes[0]).ax_ is axes[0]
    assert len(plots.LabelsDisplay.of(result("labels")).plot(axes[1]).ax_) == 2
    assert "matplotlib.pyplot" not in {*sys.modules} - before


def test_a_display_is_its_picture_in_a_notebook(monkeypatch):
    display = plots.ValuesDisplay.from_scores(result("values"))
    assert repr(display).startswith("<ValuesDisplay: values")
    picture, size = display._repr_png_()  # also if it was not plotted
    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 680
    assert display.plot()._repr_png_()[0] == picture
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert display._repr_png_() is None


def test_a_notebook_shows_what_is_plotted_once(monkeypatch):
    from matplotlib import pyplot

    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    before = pyplot.get_fignums()
    display = plots.ValuesDisplay.from_scores(result("values")).plot()
    assert pyplot.get_fignums() == [*before, display.figure_.number]
    assert display._repr_png_() is None  # the notebook shows it at the end of the cell
    pyplot.close(display.figure_)
    assert display._repr_png_() is not None
    assert plots.svg_text(plots.ItemsDisplay.from_scores(result("values")))
    assert pyplot.get_fignums() == before


def test_outside_a_notebook_pyplot_has_no_figure(monkeypatch):
    from matplotlib import pyplot

    monkeypatch.delenv("MPLBACKEND", raising=False)
    before = pyplot.get_fignums()
    plots.ValuesDisplay.from_scores(result("values")).plot()
    assert pyplot.get_fignums() == before


def test_fourteen_curves_differ_in_mark_and_line():
    styles = [curve_style(place) for place in range(14)]
    assert len({style[1:] for style in styles}) == 14


def test_the_axis_of_cutoffs_has_ticks_at_cutoffs():
    display = plots.TopKDisplay.from_scores(result("top-k")).plot()
    assert display.ax_.get_xticks().tolist() == [1, 2, 4]


def test_no_threshold_of_similarity_is_the_best():
    found = sm.sweep(SYSTEMS["base"], TRUTH, thresholds="0.1:0.9:0.2")
    assert plots.ThresholdDisplay.from_sweep(found).chosen == {}
    assert plots.ThresholdDisplay.from_scores(result("thresholds")).chosen


def test_the_panels_of_a_confusion_have_the_same_labels():
    display = plots.ConfusionDisplay.from_scores(result("confusion"))
    assert len(display.panels) == 2
    sides = [
        [name for name in panel[1] if name != "(nothing)"] for panel in display.panels
    ]
    assert sides[0] == sides[1]
    assert "shares of the true label (row)" in display.note


def test_labels_name_the_measure_of_one_label():
    assert plots.LabelsDisplay.from_scores(result("labels")).title == "F1 by label"


def test_ranks_of_a_table_without_a_measure_name_what_is_ranked():
    rows = [{"dataset": name, "A": 0.9, "B": 0.5} for name in ("x", "y")]
    unnamed = sm.rank_systems(rows, by="rank")
    diagram = plots.CriticalDifferenceDisplay.from_ranking(unnamed)
    assert diagram.title == "mean ranks by the values of the table over 2 data sets"
    assert diagram.title in unnamed.to_svg()
    matrix = plots.RankMatrixDisplay.from_ranking(unnamed)
    assert matrix.panels[0][0] == "data sets at each rank, the values of the table"
    named = plots.CriticalDifferenceDisplay.from_ranking(
        sm.rank_systems(rows, "F1", by="rank")
    )
    assert named.title == "mean ranks by F1 over 2 data sets"


def test_dominance_names_its_shades():
    assert plots.choose(result("dominance"), "dominance").note == "shades: logarithms"


def test_labels_of_many_systems_are_all_drawn():
    systems = {f"s{n}": SYSTEMS["base"] for n in range(15)}
    table = sm.score_systems(systems, TRUTH, measures="MacroF1")
    display = plots.LabelsDisplay.from_scores(table).plot()
    assert display.value.shape[1] == 15
    ticks = [line for line in display.ax_[0].lines if line.get_marker() == "|"]
    assert len(ticks) == 15


def test_refusals(monkeypatch):
    with refused("no-figure", name="ranks"):
        plots.choose(result("values"), "ranks")
    with refused("wrong-ending"):
        plots.save(plots.choose(result("values")), "a.jpg")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"semmetrics\[plots\]"):
        plots.ValuesDisplay.of(result("values")).plot()
