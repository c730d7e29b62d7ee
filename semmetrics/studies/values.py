"""Comparisons of published values, such as values of systems on several datasets.

Conventions
-----------
Values are paired by the rows of their table. A gain is the value of a system minus the
value of the baseline on the same row. Only rows that both have count. Standard
deviations divide by n - 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import DEFAULTS
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.metrics.parsing import parse_in_any_case
from semmetrics.options import CORRECTIONS, OPTIONS_OF_FUNCTION, TESTS, VALUE_TESTS
from semmetrics.reports import Records, format_p
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.runs import RunSummary
from semmetrics.studies import comparisons, rank_tests, significance
from semmetrics.studies.value_tables import Values, is_lower_better, read_table

_ROUNDING = 1e-13
"""Rounding error of a difference, relative to the values that are subtracted."""


class _GainTest(NamedTuple):
    """How the gains of a system over a baseline are tested.

    Attributes
    ----------
    name : {"t", "wilcoxon", "randomization"}
    bootstrap : Bootstrap
    lower_is_better : bool
    max_gain : float
        The largest possible gain, which limits the interval.
    """

    name: str
    bootstrap: Bootstrap
    lower_is_better: bool
    max_gain: float


@takes_options()
def compare_values(
    values: Any,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    measure: str | None = None,
    **options: Any,
) -> Records:
    """Compare values of systems, paired by datasets, splits or seeds.

    Parameters
    ----------
    values : path, frame, rows or mapping
        As for `read_values`.
    baseline : str, optional
        The system to compare all others with. Default: compare all pairs, each system
        with the systems before it.
    test : {"t", "wilcoxon", "randomization"}
        Student's paired t-test, Wilcoxon's signed-rank test, or a permutation test that
        flips the signs of gains at random. The last is exact if there are at most
        ``resamples`` ways to flip them.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Correction of p for the number of pairs.
    measure : str, optional
        Which measure to read from results of ``score --runs`` that have several. For
        other values, it only sets whether lower is better.
    **options

    Returns
    -------
    Records
        One row per pair of a "system" and its "baseline". "n" is the number of rows
        that both have. The other columns are the mean and standard deviation of both
        and of the gains ("difference"), the confidence limits of the mean gain
        (Student's t, within the bounds of the measure if it is known), p, and the
        numbers of rows won, tied and lost. p is None if there are fewer than two rows
        or all gains are equal. Rows are won by higher values, unless lower values of
        the measure are better.

    Raises
    ------
    InputError
        If the table is invalid, or has fewer than two systems.

    References
    ----------
    Demšar 2006, Statistical comparisons of classifiers over multiple data sets, section
    3.1. Pineda, Salvador et al. 2019, table 4 and figure 4. Xian et al. 2018, section
    6.1.

    Examples
    --------
    >>> values = {f"seed {n}": {"A": 0.5, "B": 0.6 + n / 50} for n in range(5)}
    >>> (pair,) = compare_values(values)
    >>> [round(pair[name], 4) for name in ("mean", "std", "difference", "p")]
    [0.64, 0.0316, 0.14, 0.0006]
    """
    check_choice("test", test, VALUE_TESTS)
    check_choice("correction", correction, CORRECTIONS)
    settings = {name: value for name, value in options.items() if value is not None}
    settings.setdefault(
        "resamples", OPTIONS_OF_FUNCTION["compare_values"]["resamples"].default
    )
    bootstrap = Bootstrap.of(settings)
    table = read_table(values, measure, settings.get("read", DEFAULTS))
    comparisons.check_systems(table.systems, baseline)
    pairs = comparisons.pair_systems(table.systems, baseline)
    lower_is_better = is_lower_better(table.measure, table.values)
    max_gain = _find_max_gain(table.measure, table.values)
    gain_test = _GainTest(test, bootstrap, lower_is_better, max_gain)

    rows = []
    for system, other in pairs:
        row = _compare_pair(system, other, table.values, gain_test)
        rows.append(row)
    p_values = significance.correct_p([row["p"] for row in rows], correction)
    for row, p in zip(rows, p_values, strict=True):
        row |= {
            "p_corrected": p,
            "significant": p < bootstrap.alpha,
            "measure": table.measure or None,
            "test": test,
            "correction": correction,
            "level": bootstrap.level,
        }
        for name, value in row.items():
            if isinstance(value, float):
                row[name] = finite_or_none(value)
    return Records.from_rows(list(rows[0]), rows)


def _find_max_gain(measure: str, values: Values) -> float:
    """Return the largest gain that the bounds of a measure allow.

    It is infinite if the measure is unknown, or if a value is outside the bounds, such
    as a percentage.
    """
    if not measure:
        return math.inf
    measures = parse_in_any_case(measure)
    if not measures:
        return math.inf
    lowest = min(candidate.definition.bounds[0] for candidate in measures)
    highest = max(candidate.definition.bounds[1] for candidate in measures)
    for values_of_row in values.values():
        for value in values_of_row.values():
            if not lowest <= value <= highest:
                return math.inf
    return highest - lowest


def _compare_pair(
    system: str, baseline: str, values: Values, gain_test: _GainTest
) -> dict[str, Any]:
    """Compare a system with a baseline on the rows that both have."""
    pairs = []
    for row in values.values():
        if system in row and baseline in row:
            pairs.append((row[system], row[baseline]))
    # Without common rows, the shape is (0, 2).
    table = np.array(pairs, np.float64).reshape(-1, 2)
    system_values, baseline_values = table.T
    gains = significance.subtract(system_values, baseline_values)
    mean, std = _moments(system_values)
    baseline_mean, baseline_std = _moments(baseline_values)
    difference, difference_std = _moments(gains)
    p, low, high = _test_gains(system_values, baseline_values, gain_test)
    wins = int((gains > 0).sum())
    losses = int((gains < 0).sum())
    ties = len(gains) - wins - losses
    if gain_test.lower_is_better:
        wins, losses = losses, wins
    return {
        "system": system,
        "baseline": baseline,
        "n": len(gains),
        "mean": mean,
        "std": std,
        "baseline_mean": baseline_mean,
        "baseline_std": baseline_std,
        "difference": difference,
        "difference_std": difference_std,
        "low": low,
        "high": high,
        "p": p,
        "wins": wins,
        "ties": ties,
        "losses": losses,
    }


def _moments(values: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation."""
    return RunSummary.of("", values.tolist()).moments


def _test_gains(
    system_values: Floats, baseline_values: Floats, gain_test: _GainTest
) -> tuple[float, float, float]:
    """Return p and the confidence limits of the mean gain, nan if undefined."""
    gains = significance.subtract(system_values, baseline_values)
    if len(gains) < 2:
        return math.nan, math.nan, math.nan
    bootstrap = gain_test.bootstrap
    p, low, high = significance.student_t(gains, bootstrap.level)
    low = max(low, -gain_test.max_gain)
    high = min(high, gain_test.max_gain)
    if math.isnan(p):  # All gains are equal.
        low = math.nan
        high = math.nan
    if gain_test.name == "wilcoxon":
        p = rank_tests.signed_rank_p(gains)
    elif gain_test.name == "randomization":
        largest = max(
            float(np.abs(system_values).max()), float(np.abs(baseline_values).max())
        )
        rounding = _ROUNDING * largest
        p = significance.sign_flip_p(
            gains, bootstrap.resamples, bootstrap.seed, rounding
        )
    return p, low, high


def draw_values(comparison: Records, form: str, *, digits: int = 4) -> str:
    """Render the result of `compare_values` in a result format.

    JSON and CSV have all columns. Other formats omit columns with the same value in all
    rows, and the caption of a plain-text table gives these values.
    """
    if form in ("json", "csv"):
        return comparison.render(form)
    p = _format_p_values(comparison.column("p"))
    p_corrected = _format_p_values(comparison.column("p_corrected"))
    hidden = ["measure", "level", "test", "correction"]
    baselines = set(comparison.column("baseline"))
    has_single_baseline = len(baselines) == 1
    if has_single_baseline:
        hidden.append("baseline")
    shown = comparison.drop(*hidden).with_columns(p=p, p_corrected=p_corrected)
    text = shown.render(form, digits=digits)
    if form != "table":
        return text
    caption = _describe_comparison(comparison[0], single_baseline=has_single_baseline)
    return f"{text}\n\n{caption}"


def _format_p_values(p_values: Iterable[float | None]) -> list[str]:
    """Format p values. An undefined one is an empty string."""
    formatted = []
    for p in p_values:
        if p is None:
            formatted.append("")
        else:
            formatted.append(format_p(p))
    return formatted


def _describe_comparison(row: Mapping[str, Any], *, single_baseline: bool) -> str:
    """Return a caption that names the baseline, the measure, the test and the level."""
    baseline = "the baseline of each row"
    if single_baseline:
        baseline = row["baseline"]
    gains = f"gains over {baseline}"
    measure = row["measure"]
    if measure:
        gains += f" in {measure}"
    test = TESTS[row["test"]]
    parts = [gains, test]
    correction = CORRECTIONS[row["correction"]]
    if correction:
        parts.append(f"p corrected by {correction}")
    level = row["level"]
    parts.append(f"{level:.0%} intervals")
    return ", ".join(parts)
