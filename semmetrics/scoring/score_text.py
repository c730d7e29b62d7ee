"""Scores as a person reads them: values, what was undefined, worst items and runs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.kinds.describe import finite_or_none, on_one_line
from semmetrics.messages import plural, pluralize, visible
from semmetrics.reports import align, draw, format_full
from semmetrics.scoring.result import Score
from semmetrics.scoring.signature import MODELS, SETTINGS
from semmetrics.scoring.table import ScoreTable, draw_scores

RUNS = "semmetrics.runs/1"
_POLICIES = {
    "0": "counted as 0",
    "1": "counted as 1",
    "skip": "left out",
    "nan": "makes the value undefined",
}
_CAUSES = {
    "resample": "resamples without a value",
    "replicate": "resamples and jackknife values that are undefined",
}
_LONG = 40  # measures that share a line
_SAID = {*SETTINGS, *MODELS, "task", "groups", "thr", "fit", "cal", "ci", "n", "data", "v"}
_GROUPS = 6  # of scores whose signatures differ


def draw_systems(
    table: ScoreTable, *, width: int | None = None, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw the table, in parts one below the other where a line is too narrow for all systems.

    Parameters
    ----------
    table : ScoreTable
    width : int, optional
        Letters of a line; left out, there is no limit.
    digits : int
    scale : float
        Factor of values that papers print in percent.
    """

    def text(systems: Sequence[str]) -> str:
        some = [score for score in table if score.system in systems]
        return draw_scores(ScoreTable(some), digits=digits, scale=scale)

    parts: list[list[str]] = []
    for system in table.systems:
        grown = [*parts[-1], system] if parts else []
        if grown and (width is None or max(map(len, text(grown).split("\n"))) <= width):
            parts[-1] = grown
        else:
            parts.append([system])
    return "\n\n".join(map(text, parts)) or "no measure could be computed"


def report_gaps(table: ScoreTable) -> list[str]:
    """Say what was undefined, by cause and counted; and what was not computed, with the reason."""
    parts = []
    rows = _undefined_rows(table)
    if rows:
        parts.append(align([["undefined", *table.systems], *rows]))
    absent = name_absent(table)
    return [*parts, "\n".join(absent)] if absent else parts


def name_absent(table: ScoreTable) -> list[str]:
    """Name what was not computed, with the reason, which several measures may share."""
    reasons: dict[str, list[str]] = {}
    for entry in table.not_computed:
        reasons.setdefault(entry.reason, []).append(entry.heading)
    return [f"not computed: {_join_headings(h)} - {reason}" for reason, h in reasons.items()]


def _join_headings(headings: Sequence[str]) -> str:
    """Headings with their cutoffs once.

    Examples
    --------
    >>> _join_headings(["F1@1", "F1@3"]), _join_headings(["F1@1", "WMD@1", "F1@3", "WMD@3"])
    ('F1@1,3', 'F1, WMD (@1,3)')
    >>> _join_headings(["F1", "F1@1", "F1@3"])
    'F1, F1@1,3'
    """
    whole: list[str] = []
    cuts: dict[str, list[str]] = {}
    for heading in headings:
        name, sign, cut = heading.rpartition("@")
        if sign and cut.isdecimal():
            cuts.setdefault(name, []).append(cut)
        else:
            whole.append(heading)
    by_cutoff: dict[str, list[str]] = {"": whole} if whole else {}
    for name, several in cuts.items():
        by_cutoff.setdefault(",".join(several), []).append(name)
    parts = []
    for cut, names in by_cutoff.items():
        sign = (f" (@{cut})" if len(names) > 1 else f"@{cut}") if cut else ""
        parts.append(", ".join(names) + sign)
    return ", ".join(parts)


def _undefined_rows(table: ScoreTable) -> list[list[str]]:
    """A row for each cause: the measures, the cause and its policy, the count of each system."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    place = {heading: number for number, heading in enumerate(table.headings)}
    for record in sorted(table.undefined(), key=lambda one: place[one["measure"]]):
        cause = _CAUSES.get(record["cause"], record["cause"].replace("_", " "))
        if record["unit"]:
            cause += f" ({plural(record['unit'])})"
        if policy := _POLICIES.get(str(record["policy"])):
            cause += f", {policy}"
        counts.setdefault((record["measure"], cause), {})[record["system"]] = record["count"]
    groups: dict[tuple[str, ...], list[str]] = {}
    systems = table.systems
    for (heading, cause), by_system in counts.items():
        key = (cause, *(str(by_system.get(system, 0)) for system in systems))
        groups.setdefault(key, []).append(heading)
    rows = []
    for (cause, *numbers), headings in groups.items():
        together = ", ".join(headings)
        shown = [together] if len(together) <= _LONG else headings
        rows += [[f"{heading}: {cause}", *numbers] for heading in shown]
    return rows


def draw_worst(table: ScoreTable, number: int, *, digits: int = 4, scale: float = 1.0) -> str:
    """Draw the worst items of each system, each with what it is.

    Raises
    ------
    InputError
        If no measure has item values.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
    >>> print(draw_worst(table, 1))
    lowest F1
      0.0000  1
        predicted  cow
        true       dog
    """
    records = list(table.worst(number))
    heading = next(score.heading for score in table if score.items is not None)
    definition = next(score for score in table if score.heading == heading).measure.definition
    scale = definition.printed_scale(scale)
    parts = []
    systems = table.systems
    for system in systems:
        of = f" of {visible(system)}" if len(systems) > 1 else ""
        lines = [f"{'lowest' if definition.higher_is_better else 'highest'} {heading}{of}"]
        task = table[system, heading].task
        for record in records:
            if record["system"] == system:
                value = math.inf if record["value"] is None else record["value"] * scale
                lines.append(f"  {value:.{digits}f}  {on_one_line(str(record['id']))}")
                shown = [] if task is None else find_kind(task.kind).describer.report_item(record)
                lines += [f"    {line}" for line in shown]
        parts.append("\n".join(lines if len(lines) > 1 else [*lines, "  no item has a value"]))
    return "\n\n".join(parts)


def report_shared(table: ScoreTable) -> str:
    """Say what signatures have in common of items, settings, data and version, and what differs.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["dog"]], measures=["F1", "SemF1"])
    >>> print(report_shared(table).splitlines()[1])
    signatures of SemF1: thr:0.5|emb:semmetrics-static-320@c476d4872c28|lookup:text|oov:zero
    """
    having: dict[str, list[Score]] = {}
    for score in table:
        for part in score.signature.split("|"):
            if part.partition(":")[0] in _SAID:
                having.setdefault(part, []).append(score)
    groups: dict[str, list[str]] = {}
    for part, some in having.items():
        whose = "share" if len(some) == len(table) else f"of {_name_scores(some, table)}"
        groups.setdefault(whose, []).append(part)
    shared = "|".join(groups.pop("share", []))
    lines = [f"signatures {whose}: {'|'.join(parts)}" for whose, parts in groups.items()]
    if len(lines) > _GROUPS:
        more = f"and {len(lines) - _GROUPS + 1} more"
        lines[_GROUPS - 1 :] = [f"{more}, see the signature of each score (--show-signatures)"]
    return "\n".join(map(visible, [f"signatures share: {shared}", *lines]))


def _name_scores(some: Sequence[Score], table: ScoreTable) -> str:
    """Name scores by their headings, by their systems, or by both where neither tells them."""
    headings = list(dict.fromkeys(score.heading for score in some))
    systems = list(dict.fromkeys(score.system for score in some))
    chosen = {(score.system, score.heading) for score in some}
    every = {(score.system, score.heading) for score in table}
    if chosen == {pair for pair in every if pair[1] in headings}:
        return _join_headings(headings)
    if chosen == {pair for pair in every if pair[0] in systems}:
        return ", ".join(systems)
    return ", ".join(f"{score.system} {score.heading}" for score in some)


def draw_signatures(table: ScoreTable) -> str:
    """Draw a table of the whole signature of each score."""
    several = len(table.systems) > 1
    return align(
        [[*([score.system] if several else []), score.heading, score.signature] for score in table],
        left=True,
    )


def draw_runs(table: ScoreTable, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
    """Draw mean (std) of each measure over systems that are runs of one system.

    Parameters
    ----------
    table : ScoreTable
    form : {"table", "json", "csv", "markdown", "latex"}
        json and csv have full precision, and the values of the runs.
    digits : int
    scale : float

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> print(draw_runs(table, "table"))
    measure  mean (std, n-1) of 2 runs
    O-F1               0.7500 (0.3536)
    """
    summaries = summarize(list(table))
    if form == "json":
        entries = [_run_entry(summary, table) for summary in summaries]
        return json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)
    if form == "csv":
        head = ["measure", "mean", "std", "n", *table.systems]
        return draw([head, *([s.heading, format_full(s.mean), format_full(s.std), str(s.n),
                              *map(format_full, s.values)] for s in summaries)], form)  # fmt: skip
    head = ["measure", f"mean (std, n-1) of {pluralize(len(table.systems), 'run')}"]
    scales = {one.heading: one.measure.definition.printed_scale(scale) for one in table}
    texts = (s.text(digits=digits, scale=scales[s.heading]) for s in summaries)
    return draw(
        [head, *([s.heading, text] for s, text in zip(summaries, texts, strict=True))], form
    )


def _run_entry(summary: RunSummary, table: ScoreTable) -> dict[str, Any]:
    scores = [score for score in table if score.heading == summary.heading]
    return {
        "schema": RUNS,
        "measure": str(scores[0].measure),
        "heading": summary.heading,
        "mean": finite_or_none(summary.mean),
        "std": finite_or_none(summary.std),
        "ddof": summary.ddof,
        "n": summary.n,
        "runs": [
            {"system": score.system, "value": finite_or_none(score.value),
             "signature": score.signature}
            for score in scores
        ],
    }  # fmt: skip


@dataclass(frozen=True)
class RunSummary:
    """A measure over several runs.

    Attributes
    ----------
    heading : str
    mean, std : float
        std is nan for one run (with n - 1), and both are where a run has no value.
    n : int
    values : tuple of float
        Of each run, in the order given.
    ddof : int
        What was subtracted from n in the standard deviation.
    """

    heading: str
    mean: float
    std: float
    n: int
    values: tuple[float, ...]
    ddof: int = 1

    def text(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """As papers print it: mean (std).

        Examples
        --------
        >>> RunSummary("O-F1", 0.864, 0.0019, 5, ()).text(digits=2, scale=100)
        '86.40 (0.19)'
        """
        return f"{self.mean * scale:.{digits}f} ({self.std * scale:.{digits}f})"


def summarize(scores: Sequence[Score], *, ddof: int = 1) -> list[RunSummary]:
    """Mean and standard deviation of each measure over the runs of one system.

    Parameters
    ----------
    scores : sequence of Score, such as a ScoreTable whose systems are the runs
    ddof : int
        1 for n - 1, 0 for n in the denominator.

    Returns
    -------
    list of RunSummary
        In the order of the measures.

    Raises
    ------
    InputError
        If a run lacks a measure.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> summarize(list(table))[0].text()
    '0.7500 (0.3536)'
    """
    runs = list(dict.fromkeys(score.system for score in scores))
    values: dict[str, list[float]] = {}
    for score in scores:
        values.setdefault(score.heading, []).append(score.value)
    for heading, column in values.items():
        if len(column) != len(runs):
            raise InputError("wrong-count", heading, found=pluralize(len(column), "value"),
                             wanted=pluralize(len(runs), "run"))  # fmt: skip
    found = []
    for heading, column in values.items():
        n = len(column)
        mean = math.fsum(column) / n
        square = math.fsum((value - mean) ** 2 for value in column)
        std = math.sqrt(square / (n - ddof)) if n > ddof else math.nan
        found.append(RunSummary(heading, mean, std, n, tuple(column), ddof))
    return found
