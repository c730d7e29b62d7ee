"""Displays contain the numbers of results, and figures draw them."""

import sys
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from refusals import refused

import semmetrics as sm
from semmetrics import plots
from semmetrics.errors import MissingDependencyError
from semmetrics.reports import figures
from semmetrics.studies import rank_normalized

LABELS = ["cat", "a$b$c", "x" * 90, "\x1b[2J\n", "<b>&猫", "dog"]
TRUTH = {f"item {n}": [LABELS[n % 6], LABELS[(n + 2) % 6]] for n in range(12)}
BASE = {item: [LABELS[n % 5]] for n, item in enumerate(TRUTH)}
OTHER = {item: TRUTH[item][: n % 3] for n, item in enumerate(TRUTH)}
SYSTEMS = {"base": BASE, "$new$ " + "y" * 90: OTHER}
SCORES = np.arange(72).reshape(12, 6) * 7 % 11 / 11


def score_arrays(truth=None, **options):
    if truth is None:
        truth = list(TRUTH.values())
    return sm.score(SCORES, truth, **{"classes": LABELS, **options})


@cache
def result_with(figure):
    """Return a result that the figure suits."""
    return RESULTS.get(figure, score_of_systems)()


def score_of_systems():
    measures = "F1 MacroF1 SemF1"
    return sm.score_systems(SYSTEMS, TRUTH, measures=measures, ci=True, resamples=50)


def comparison():
    return sm.compare(SYSTEMS, TRUTH, measures="F1 MacroF1", resamples=50)


def ranking():
    datasets = {}
    for d in range(6):
        datasets[f"set {d}"] = {"A": 0.9, "B": 0.7 - d / 50, "C": 0.65, "$D": d / 9}
    return rank_normalized(datasets)


def agreement():
    ratings = [{"id": item, "rating": n % 5} for n, item in enumerate(TRUTH)]
    return sm.meta(ratings, BASE, TRUTH, measures="F1 SemF1", resamples=50)


def competition():
    systems = {}
    for k in (2, 3, 5):
        systems[f"$n{k}"] = {f"p{n}": f"a dog runs by {n % k} cats" for n in range(9)}
    selection = sm.select_discrepant(systems, k=2)
    references = {image: [systems["$n5"][image]] for image in selection.images}
    return sm.rank_competition(selection, references, measures="ROUGE-L BLEU-1")


def seen_and_unseen_classes():
    truth = [LABELS[n % 6] for n in range(12)]
    return score_arrays(truth, measures="AUSUC", seen=LABELS[:3], unseen=LABELS[3:])


def retrieval_with_phi():
    return sm.score(
        SCORES,
        {str(n): [str(n % 6)] for n in range(12)},
        task="retrieval",
        measures="NCS@1 NCS@3 HitRate@1 HitRate@3",
        phi=SCORES[:, ::-1],
    )


RESULTS = {
    "differences": comparison,
    "rank-matrix": comparison,
    "ranks": ranking,
    "agreement": agreement,
    "dominance": competition,
    "precision-recall": lambda: score_arrays(measures="mAP"),
    "top-k": lambda: score_arrays(measures="F1 Recall", top_k=[1, 2, 4]),
    "thresholds": lambda: score_arrays(measures="F1", threshold="0.2,0.5,best"),
    "seen-unseen": seen_and_unseen_classes,
    "ncs": retrieval_with_phi,
}


# ---- drawn numbers ------------------------------------------------------------------------------


def curves_of(display):
    """Return the held and the drawn points of each curve."""
    drawn = []
    for line in display.ax_.lines:
        if line.get_linestyle() != "None":
            drawn.append(line.get_xydata().T)
    return [curve[:2] for curve in display.curves.values()], drawn


def shades_of(display):
    """Return the held and the drawn shades of each heat map."""
    axes = np.ravel(display.ax_)
    drawn = [np.ma.filled(ax.collections[0].get_array(), 0) for ax in axes]
    return [np.nan_to_num(panel.shades) for panel in display.panels], drawn


def dots_of(display):
    """Return the held and the drawn values of each series, scale by scale."""
    drawn = []
    for ax in np.ravel(display.ax_):
        drawn += [line.get_xdata() for line in ax.lines[::2]]
    held = []
    for scale in dict.fromkeys(display.scales.values()) or [""]:
        rows = [display.scales.get(row, scale) == scale for row in display.rows]
        held += list(display.value[rows].T)
    return held, drawn[: len(held)]


def bars_of(display):
    """Return the held and the drawn values and supports of labels."""
    drawn = []
    for ax in display.ax_:
        drawn.append([bar.get_width() for bar in ax.patches])
    return [display.value.T.ravel(), display.support], drawn


def mean_ranks_of(display):
    """Return the held and the drawn mean ranks. Systems have lines of three points."""
    lines = [line.get_xdata() for line in display.ax_.lines]
    drawn = [xs[0] for xs in lines if len(xs) == 3]
    return [display.means], [drawn]


def points_of(display):
    """Return the held and the drawn values of items for two systems."""
    points = np.stack([display.x, display.y], axis=1)
    return [np.unique(points, axis=0)], [display.ax_.collections[0].get_offsets()]


NUMBERS_OF = {
    "values": dots_of,
    "differences": dots_of,
    "agreement": dots_of,
    "labels": bars_of,
    "systems": points_of,
    "ranks": mean_ranks_of,
    "confusion": shades_of,
    "rank-matrix": shades_of,
    "dominance": shades_of,
    "items": curves_of,
    "thresholds": curves_of,
    "seen-unseen": curves_of,
    "ncs": curves_of,
    "top-k": curves_of,
    "precision-recall": curves_of,
}
"""The function that compares the held and the drawn numbers of each figure."""


def test_each_class_of_a_figure_is_public():
    # given
    classes = {figure_class.__name__ for figure_class in plots.FIGURES.values()}

    # when
    missing = sorted(classes - set(plots.__all__))

    # then
    assert not missing, f"add {missing} to semmetrics/plots.py"


def test_each_public_display_has_the_name_of_a_figure():
    # given
    displays = {name for name in figures.__all__ if name.endswith("Display")}
    named = {figure_class.__name__ for figure_class in plots.FIGURES.values()}

    # when
    missing = sorted(displays - named - {"Display"})

    # then
    assert not missing, f"add {missing} to FIGURES in reports/figures/selection.py"


@pytest.mark.parametrize("figure", plots.FIGURES)
def test_a_figure_draws_the_numbers_that_its_display_holds(figure):
    # given
    assert figure in NUMBERS_OF, f"add {figure!r} to NUMBERS_OF"
    display = plots.choose(result_with(figure), figure).plot()

    # when
    held, drawn = NUMBERS_OF[figure](display)

    # then
    for held_numbers, drawn_numbers in zip(held, drawn, strict=True):
        assert_allclose(drawn_numbers, held_numbers)


@pytest.mark.parametrize("figure", plots.FIGURES)
def test_a_figure_is_the_same_small_svg_whether_plotted_before_or_not(figure):
    result = result_with(figure)
    assert figure in plots.suitable(result)
    display = plots.choose(result, figure).plot()

    svg = plots.svg_text(display)

    assert plots.svg_text(plots.choose(result, figure)) == svg
    assert display.figure_.get_size_inches().max() < 30
    assert "<style" not in svg
    text = "".join(ElementTree.fromstring(svg).itertext())
    assert "\x1b" not in text
    assert "y" * 40 not in text


# ---- numbers of displays ------------------------------------------------------------------------


def test_values_and_intervals_are_the_values_of_the_table():
    table = result_with("values")

    display = plots.ValuesDisplay.from_scores(table)

    for record in table.to_records():
        row = display.rows.index(record["heading"])
        series = display.series.index(record["system"])
        assert display.value[row, series] == record["value"]
        assert display.low[row, series] == record["ci_low"]


def test_values_and_supports_of_labels_are_the_values_of_the_table():
    table = result_with("labels")

    display = plots.LabelsDisplay.from_scores(table)

    assert display.title == "F1 by label"
    for record in table.per_label():
        row = display.labels.index(record["label"])
        system = display.systems.index(record["system"])
        assert display.value[row, system] == record["value"]
        assert display.support[row] == record["support"]


def test_the_first_precision_recall_curve_is_the_interpolated_mean():
    display = plots.PrecisionRecallDisplay.of(result_with("precision-recall"))

    mean, *_ = display.curves.values()
    (expected,) = score_arrays(measures="mAP(interpolation=coco101)")
    assert mean[1].mean() == pytest.approx(expected.value)


def test_figures_show_at_most_30_systems_and_labels():
    systems = {f"system {n}": {"a": [f"l{n}"]} for n in range(40)}
    truth = {"a": [f"l{n}" for n in range(50)]}
    table = sm.score_systems(systems, truth, measures="F1 MacroF1")

    values = plots.ValuesDisplay.of(table)
    labels = plots.LabelsDisplay.of(table)

    assert len(values.rows) == 30
    assert "30 of 40 systems" in values.note
    assert "the most frequent 30 of 50 labels" in labels.note


@pytest.mark.parametrize("truth", [[["cat"]], [["cat"], []]])
def test_single_and_undefined_values_can_be_drawn(truth):
    preds = [[] for _ in truth]
    measures = "Precision(no_prediction=nan) MacroF1"
    table = sm.score(preds, truth, measures=measures)

    for figure in plots.suitable(table):
        assert plots.choose(table, figure).plot().figure_


def test_items_have_the_share_of_items_up_to_each_value():
    preds = [["a"], ["b"], ["q"]]
    table = sm.score(preds, [["a"], ["a"], ["q"]], measures="F1", weights=[1, 3, 1])

    display = plots.ItemsDisplay.of(table)

    curve = display.curves["preds: 0.400"]  # the weighted mean
    assert_allclose(curve, [[0, 0, 1], [0, 1 / 3, 1]])


def test_labels_of_more_than_four_systems_are_ticks():
    systems = {f"s{n}": BASE for n in range(15)}
    table = sm.score_systems(systems, TRUTH, measures="MacroF1")

    display = plots.LabelsDisplay.from_scores(table).plot()

    ticks = [line for line in display.ax_[0].lines if line.get_marker() == "|"]
    assert len(ticks) == 15


def test_confusions_by_identity_and_by_meaning_have_the_same_labels():
    table = result_with("confusion")

    display = plots.ConfusionDisplay.from_scores(table)

    first, second = display.panels
    assert first.title.startswith("base")
    assert set(first.rows) - {"(nothing)"} == set(second.rows) - {"(nothing)"}
    assert "share of the true label (row)" in display.note
    other, *_ = plots.ConfusionDisplay.of(table, system=table.systems[1]).panels
    assert other.title.startswith("$new$")


def test_the_axes_of_confusions_are_predicted_and_true_labels():
    display = plots.ConfusionDisplay.from_scores(result_with("confusion")).plot()

    assert display.ax_[0].get_xlabel() == "predicted"
    assert display.ax_[0].get_ylabel() == "true"


def test_titles_of_rankings_name_datasets():
    ranks = plots.RankMatrixDisplay.of(ranking())
    means = plots.CriticalDifferenceDisplay.of(ranking())

    assert ranks.panels[0].title.startswith("datasets at each rank")
    assert means.title.endswith("over 6 datasets")


@pytest.mark.parametrize(
    ("measure", "thresholds", "chosen"),
    [
        ("HammingLoss", [0.1, 0.8], "HammingLoss: lowest at 0.8"),
        ("MicroF1", ["best", 0.1, 0.8], "MicroF1: chosen at 0.6"),
    ],
)
def test_thresholds_of_scores_name_the_best_one(measure, thresholds, chosen):
    table = sm.score(
        np.array([[0.9, 0.2], [0.6, 0.7]]),
        [["cat"], ["dog"]],
        measures=measure,
        threshold=thresholds,
        classes=["cat", "dog"],
    )

    assert list(plots.ThresholdDisplay.of(table).chosen) == [chosen]


def test_thresholds_of_similarity_have_no_best_one():
    systems = {"a": [["bike"]], "b": [["bus"]]}
    sweep = sm.studies.sweep_systems(systems, [["bicycle"]], thresholds="0.5,1")

    display = plots.ThresholdDisplay.of(sweep)

    assert list(display.curves) == ["a SemF1", "b SemF1"]
    assert display.chosen == {}  # the lowest threshold always matches most


# ---- axes, files and notebooks ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extension", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_figures_are_saved_in_the_format_of_the_extension(tmp_path, extension, start):
    path = tmp_path / f"figure.{extension}"

    plots.save(plots.TopKDisplay.of(result_with("top-k")), path)

    assert path.read_bytes().startswith(start)


def test_figures_are_drawn_on_given_axes():
    first, second = Figure().subplots(2)

    assert plots.TopKDisplay.of(result_with("top-k")).plot(first).ax_ is first
    assert len(plots.LabelsDisplay.of(result_with("labels")).plot(second).ax_) == 2


def test_a_display_is_a_picture_in_a_notebook():
    display = plots.ValuesDisplay.from_scores(result_with("values"))

    picture, size = display._repr_png_()

    assert picture.startswith(b"\x89PNG")
    assert size["width"] == 680
    assert display.plot()._repr_png_()[0] == picture


def test_a_notebook_shows_a_plotted_display_only_once(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    before = pyplot.get_fignums()

    display = plots.ValuesDisplay.from_scores(result_with("values")).plot()

    assert pyplot.get_fignums() == [*before, display.figure_.number]
    assert display._repr_png_() is None  # pyplot shows it at the end of the cell
    pyplot.close(display.figure_)
    assert display._repr_png_() is not None


def test_pyplot_has_no_figure_outside_a_notebook(monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    before = pyplot.get_fignums()

    plots.ValuesDisplay.from_scores(result_with("values")).plot()

    assert pyplot.get_fignums() == before


def test_figures_that_cannot_be_drawn_raise_an_error():
    table = result_with("values")

    with refused("no-figure", name="ranks"):
        plots.choose(table, "ranks")
    with refused("wrong-ending"):
        plots.save(plots.choose(table), "a.jpg")


def test_figures_need_matplotlib(monkeypatch):
    display = plots.ValuesDisplay.of(result_with("values"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    assert display._repr_png_() is None
    with pytest.raises(MissingDependencyError, match=r"semmetrics\[plots\]"):
        display.plot()
