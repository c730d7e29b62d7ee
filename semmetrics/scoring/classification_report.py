"""Classification reports: precision, recall, F1 and support of labels and averages.

Values are equal to ``sklearn.metrics.classification_report``. A value that is 0/0 is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import LABEL_AVERAGES, POLICIES
from semmetrics.metrics.formulas import f1, precision, recall
from semmetrics.metrics.measure_options import AUTO, OptionValue
from semmetrics.metrics.parsing import parse
from semmetrics.reports import Records
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import Bootstrap, default_method
from semmetrics.scoring.label_records import first_of_systems
from semmetrics.scoring.result import Score, score_statistics
from semmetrics.scoring.statistics import Statistics

_MEASURES = {"precision": "Precision", "recall": "Recall", "f1-score": "F1"}
"""The measures of a report by their columns."""
_AVERAGES = {
    "micro avg": "micro",
    "macro avg": "macro",
    "weighted avg": "weighted",
    "samples avg": "example",
}
"""The averages of a report by their rows."""
_CONVENTIONS = ("decode", "keep_at_least")
"""The options that a report takes over from a score."""


class _LabelCounts(NamedTuple):
    """The counts of each label.

    Attributes
    ----------
    labels : list of str
    hit, predicted, support : arrays, shape (labels,)
        How often the label is predicted correctly, predicted, and true.
    """

    labels: Sequence[str]
    hit: Floats
    predicted: Floats
    support: Floats


class _ReportRow(NamedTuple):
    """A row of a report whose values are computed as scores.

    Attributes
    ----------
    average : str
    policy : str
        How undefined values count.
    labels : str, optional
        The name of the set of labels that is averaged over. Default: the labels of the
        score that the report follows.
    """

    average: str
    policy: str
    labels: str | None = None


def report_classification(scores: Sequence[Score]) -> Records:
    """Return a classification report for each system.

    The labels, cutoff and decoding rule come from the first measure of label sets.

    Raises
    ------
    InputError
        If no measure is of label sets, or the data were not stored.
    """
    reports = first_of_systems(scores, _report_score, "sets of labels", "F1")
    rows: list[dict[str, Any]] = []
    for report in reports.values():
        rows += report
    return Records.from_rows(list(rows[0]), rows)


def _report_score(score: Score) -> list[dict[str, Any]] | None:
    """Return the rows of a report, or None if the score is not of label sets.

    The value of a label is the micro average over this label only. If that is 0/0, it has
    no interval. Averages in a resample run over the labels that the resample has, unless
    there are labels without items.
    """
    if score.measure["decode"] is None:
        return None
    if score.task is None:
        raise InputError("rows-not-kept")
    example_row = _ReportRow("example", "0")
    measures = []
    for name in _MEASURES.values():
        measures.append(_report_measure(score, name, example_row))
    macro_f1 = _report_measure(score, "F1", _ReportRow("macro", "0"))
    measures.append(macro_f1)
    has_intervals = score.ci is not None
    statistics = evaluate(score.task, measures, keep_rows=has_intervals)
    counts = _count_labels(statistics, macro_f1)
    cells = _list_cells(score, statistics, counts)
    total = counts.support.sum().item()
    supports = counts.support.tolist() + [total] * len(_AVERAGES)
    rows = []
    names = [*counts.labels, *_AVERAGES]
    for name, cells_of_row, support in zip(names, cells, supports, strict=True):
        row = {"system": score.system, "label": name, **cells_of_row}
        row["support"] = int(support) if float(support).is_integer() else support
        rows.append(row)
    return rows


def _report_measure(score: Score, name: str, row: _ReportRow) -> Measure:
    """Return a measure of the report that follows the conventions of a score."""
    definition = parse(name)[0].definition
    options: dict[str, Any] = {}
    for option_name in _CONVENTIONS:
        options[option_name] = score.measure[option_name]
    is_over_labels = row.average in LABEL_AVERAGES
    for option in definition.options:
        if option.choices == POLICIES and option.applies(row.average):
            options[option.name] = row.policy
            if is_over_labels and option.name != "absent":
                options[option.name] = "0"
    measure = definition(average=row.average, **options)
    all_options: dict[str, OptionValue] = dict(measure.options)
    if row.average != "example":
        all_options["labels"] = row.labels or score.measure["labels"] or AUTO
    return Measure(definition, tuple(all_options.items()), score.measure.k)


def _count_labels(statistics: Statistics, measure: Measure) -> _LabelCounts:
    """Return the counts of each label that a macro average runs over."""
    (score,) = _score(statistics, [measure])
    columns: Any = score.per_label
    return _LabelCounts(
        columns["label"], columns["hit"], columns["predicted"], columns["support"]
    )


def _list_cells(
    score: Score, statistics: Statistics, counts: _LabelCounts
) -> list[dict[str, Any]]:
    """Return the values, and perhaps intervals, of all labels and averages.

    Without intervals the values of labels follow from the counts. With intervals each
    label is scored as a set of labels with its own name, together with the averages, so
    that all share one set of resamples.
    """
    has_absent_labels = bool((counts.support + counts.predicted == 0).any())
    policy_over_labels = "0" if has_absent_labels else "skip"
    scored_rows = []
    for average in _AVERAGES.values():
        policy = policy_over_labels if average in LABEL_AVERAGES else "0"
        scored_rows.append(_ReportRow(average, policy))
    cells = []
    bootstrap = None
    if score.ci is None:
        cells = _label_cells(counts)
    else:
        sets_of_labels = {}
        for label in counts.labels:
            sets_of_labels[f"only {label}"] = frozenset([label])
        label_rows = [_ReportRow("micro", "skip", name) for name in sets_of_labels]
        scored_rows = label_rows + scored_rows
        statistics = replace(statistics, named={**statistics.named, **sets_of_labels})
        bootstrap = _bootstrap_of(score.measure, score.ci.bootstrap)
    measures = []
    for row in scored_rows:
        for name in _MEASURES.values():
            measures.append(_report_measure(score, name, row))
    scores = _score(statistics, measures, bootstrap)
    n_columns = len(_MEASURES)
    for start in range(0, len(scores), n_columns):
        scores_of_row = scores[start : start + n_columns]
        cells.append(_cells_of_row(scores_of_row))
    return cells


def _score(
    statistics: Statistics, measures: Sequence[Measure], ci: Bootstrap | None = None
) -> list[Score]:
    """Return the scores of measures."""
    noted_measures = [(measure, "") for measure in measures]
    headings = [""] * len(measures)
    return score_statistics(
        {"": statistics}, {"": noted_measures}, headings=headings, ci=ci
    )


def _bootstrap_of(measure: Measure, bootstrap: Bootstrap) -> Bootstrap:
    """Return how the intervals of a report are computed, given the bootstrap of a measure.

    If the measure uses its default method, each measure of the report uses its own.
    """
    if bootstrap.method == default_method(measure):
        return replace(bootstrap, method=AUTO)
    return bootstrap


def _label_cells(counts: _LabelCounts) -> list[dict[str, Any]]:
    """Return the values of each label."""
    columns = {
        "precision": precision(counts.hit, counts.predicted),
        "recall": recall(counts.hit, counts.support),
        "f1-score": f1(counts.hit, counts.predicted, counts.support),
    }
    lists = [np.nan_to_num(column).tolist() for column in columns.values()]
    cells = []
    for values_of_label in zip(*lists, strict=True):
        cells.append(dict(zip(columns, values_of_label, strict=True)))
    return cells


def _cells_of_row(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the values of a row, and the limits of their intervals, if there are any."""
    cells: dict[str, Any] = {}
    for column, score in zip(_MEASURES, scores, strict=True):
        cells[column] = 0.0 if math.isnan(score.value) else score.value
        if score.ci is not None:
            cells[f"{column}_low"] = finite_or_none(score.ci.low)
            cells[f"{column}_high"] = finite_or_none(score.ci.high)
    return cells


# ---- formats --------------------------------------------------------------------------


def draw_report(
    report: Records, form: str, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Return a classification report as text. JSON and CSV have full precision.

    Parameters
    ----------
    report : Records
        The result of ``ScoreTable.classification_report``.
    form : {"table", "json", "csv", "markdown", "latex", "html"}
    digits : int
        The number of decimals.
    scale : float
        Multiplies the values.
    """
    if form in ("json", "csv"):
        return report.render(form)
    rows = []
    for record in report:
        row = dict(record)
        for column in _MEASURES:
            row[column] = _format_cell(record, column, digits, scale)
        rows.append(row)
    columns = ["label", *_MEASURES, "support"]
    if len(set(report.column("system"))) > 1:
        columns.insert(0, "system")
    return Records.from_rows(columns, rows).render(form, digits=digits)


def _format_cell(
    record: Mapping[str, Any], column: str, digits: int, scale: float
) -> str:
    """Return a value, and its interval in brackets if there is one."""
    text = _format(record[column], digits, scale)
    shown_limits = []
    for end in ("low", "high"):
        limit = record.get(f"{column}_{end}")
        if limit is not None:
            shown_limits.append(_format(limit, digits, scale))
    if not shown_limits:
        return text
    return f"{text} [{', '.join(shown_limits)}]"


def _format(value: float, digits: int, scale: float) -> str:
    return f"{value * scale:.{digits}f}"
