"""The table of differences between systems, and its renderings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_letters
from typing import Any

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import CORRECTIONS
from semmetrics.reports import Graded, Records, ScaledResult, Table, draw, format_p
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_cells import describe_not_computed
from semmetrics.scoring.table import ScoreTable
from semmetrics.studies.comparison_text import (
    describe_differences,
    describe_limits,
    describe_test,
    has_several_baselines,
    join_names,
    judge,
)
from semmetrics.studies.differences import COLUMNS, Difference, find_headings
from semmetrics.studies.differing_items import draw_items, tabulate_differing
from semmetrics.studies.rank_tests import rank_matrix


@by_value()
@dataclass(frozen=True, eq=False)
class ComparisonTable(ScaledResult, Table[Difference]):
    """Differences of systems from a baseline or from each other, with notes.

    A sequence of Difference. ``table["F1"]`` and ``table[system, "F1"]`` are differences. If all
    pairs are compared, use ``table[system, baseline, "F1"]``.

    Attributes
    ----------
    differences : list of Difference
        Pair by pair, with measures in the given order.
    scores : ScoreTable
        The scores that were compared.
    facts : list of Fact
        Notes on the input.
    understood : list of str
        How each input was read.

    Examples
    --------
    >>> import semmetrics
    >>> gts = [["cat"], ["dog"], ["cat", "dog"], ["cow"], ["cow"], ["dog"]]
    >>> systems = {"old": [["cat"]] * 6, "new": [["cat"], ["dog"], ["cat"], ["cow"], [], ["dog"]]}
    >>> table = semmetrics.compare(systems, gts, measures="F1", test="t")
    >>> f1 = table["F1"]
    >>> round(f1.difference, 4), round(f1.p, 4), f1.wins, f1.ties, f1.losses
    (0.5, 0.0756, 3, 3, 0)
    >>> print(table.sentences()[0])
    no significant difference between new and old in F1 (p = 0.0756)
    """

    _columns = COLUMNS
    _of = "differences"
    _reads_truth_last = True
    differences: list[Difference]
    scores: ScoreTable = field(repr=False)
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    @property
    def not_computed(self) -> list[NotComputed]:
        """Measures that were not computed for any system, with the reason."""
        return self.scores.not_computed

    @property
    def systems(self) -> list[str]:
        """The systems that were compared with a baseline."""
        systems = dict.fromkeys(difference.system for difference in self.differences)
        return list(systems)

    def _systems(self) -> set[str]:
        return self.scores._systems()

    def __repr__(self) -> str:
        n_significant = sum(difference.significant for difference in self)
        total = pluralize(len(self), "difference")
        names = ""
        if self.differences:
            names = f"{', '.join(self.systems)} and {self[0].baseline}"
        return f"ComparisonTable({n_significant} of {total} significant: {names})"

    def _find(self, key: Any) -> Difference:
        """Return the difference of a measure, (system, measure) or (system, baseline, measure)."""
        matches = self._find_all(key)
        if len(matches) == 1:
            return matches[0]
        choices = _list_keys(matches or self)
        if matches:
            raise UnknownKeyError("ambiguous-key", value=key, choices=choices)
        remedy = f"choose one of {choices}"
        raise UnknownKeyError(
            "unknown-name", what="comparison", value=key, remedy=remedy
        )

    def _find_all(self, key: Any) -> list[Difference]:
        """Return the differences that a key refers to."""
        parts: tuple[Any, ...] = (key,)
        if isinstance(key, tuple) and key:
            parts = key
        *systems, name = parts
        if not isinstance(name, str):
            return []
        differences = []
        for difference in self:
            names = [difference.system, difference.baseline]
            if systems == names[: len(systems)]:
                differences.append(difference)
        headings = find_headings(name, differences)
        return [entry for entry in differences if entry.heading in headings]

    # ---- tables ----------------------------------------------------------------------------

    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write the differences as "table", "json", "csv", "markdown", "latex" or "html".

        In the last three formats, the scores by system come first. The best score of each measure
        is bold, and letters name the systems that a system is significantly better than.
        """
        rendered = self._render(form, digits, scale)
        if form not in ("markdown", "latex", "html") or not self.differences:
            return rendered
        test_description = describe_test(self.differences)
        caption = (
            "The best of each measure is bold. Letters name the systems over which a system "
            f"is significantly better ({test_description})."
        )
        without_p = []
        for difference in self:
            if math.isnan(difference.p):
                pair = f"{difference.system} and {difference.baseline}"
                without_p.append(f"{pair} ({difference.heading})")
        if without_p:
            caption += f" There is no p of {join_names(without_p)}."
        scores = draw(self._mark_scores(digits, scale), form, caption=caption)
        return f"{scores}\n\n{rendered}"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return the table of differences, with a column of the baselines if there are several."""
        if not self.differences:
            return []
        design = self.differences[0].design
        correction = CORRECTIONS[design.correction].split(" ")[0]
        several_baselines = has_several_baselines(self)
        head = ["measure", "system"]
        if several_baselines:
            head += ["baseline", "value", "baseline value"]
        else:
            head += ["value", "baseline"]
        head += [f"difference [{design.bootstrap.level:.4g}]", "p"]
        if correction:
            head.append(f"p ({correction})")
        head += ["effect", "won", "tied", "lost"]
        rows = [head]
        for difference in self:
            row = [difference.heading, difference.system]
            if several_baselines:
                row.append(difference.baseline)
            row += _draw_values(difference, digits, scale)
            row.append(format_p(difference.p))
            if correction:
                row.append(format_p(difference.p_corrected))
            row += _draw_effect(difference)
            rows.append(row)
        return [rows]

    def _mark_scores(self, digits: int, scale: float) -> list[list[str]]:
        """Return a table of scores by system, marked with letters of significantly worse systems.

        Systems after the 52nd have numbers for letters.
        """
        systems = self.scores.systems
        letters = _assign_letters(systems)
        marks = self._letters_of_worse_systems(letters)
        scores = [replace(score, ci=None) for score in self.scores]
        without_ci = replace(self.scores, scores=scores)
        (table,) = without_ci._tables(digits, scale, "columns")
        _, *rows = table
        for heading, *cells in rows:
            for system, cell in zip(systems, cells, strict=True):
                # Cells are not graded, and not marked, if all values are equal.
                if isinstance(cell, Graded):
                    cell.mark = marks.get((system, heading), "")
        # The rows of measures become columns, after the columns of letters and systems.
        columns = [["#", *letters.values()], ["system", *systems], *rows]
        return [list(row) for row in zip(*columns, strict=True)]

    def _letters_of_worse_systems(
        self, letters: dict[str, str]
    ) -> dict[tuple[str, str], str]:
        """Return, by system and heading, the letters of the systems that are worse."""
        marks: dict[tuple[str, str], str] = {}
        for difference in self:
            verdict = judge(difference)
            if verdict == "better":
                winner = difference.system
                loser = difference.baseline
            elif verdict == "worse":
                winner = difference.baseline
                loser = difference.system
            else:
                continue
            key = (winner, difference.heading)
            marks[key] = marks.get(key, "") + letters[loser]
        return marks

    # ---- sentences -------------------------------------------------------------------------

    def sentences(self) -> list[str]:
        """Describe which differences are significant, by which test, correction, number and seed.

        Measures of a protocol that were not computed come last, with the reason.
        """
        lines = describe_differences(self.differences, self.scores.systems)
        if lines:
            lines.append(describe_test(self.differences))
            lines += describe_limits(self.differences)
        else:
            lines.append("nothing could be compared")
        lines += describe_not_computed(self.scores.not_computed)
        return list(map(visible, lines))

    _sentences = sentences

    # ---- items -----------------------------------------------------------------------------

    def differing(self, n: int = 10, measure: str | None = None) -> Records:
        """Return the items on which each system differs most from its baseline.

        Parameters
        ----------
        n : int
            The number of items per pair, at least 1. Items without a difference are left out.
        measure : str, optional
            A heading or a measure. Default: the first with values of items.

        Returns
        -------
        Records
            Columns "system", "baseline", "measure", "id", "value", "baseline_value", "difference",
            and the content of the item: for labels "predicted", "baseline_predicted" and "true",
            for captions "caption", "baseline_caption" and "references". The largest differences
            come first.

        Raises
        ------
        InputError
            If n is less than 1, or the measure has no values of items.
        """
        return tabulate_differing(self.differences, n, measure)

    def _examples(self, n: int) -> Iterator[tuple[str, Records]]:
        if any(difference.items is not None for difference in self):
            yield "Items that differ most", self.differing(n)

    # ---- ranks -----------------------------------------------------------------------------

    def rank_matrix(self, measure: str | None = None) -> Records:
        """Return how often each system, including the baseline, has each rank in the resamples.

        Parameters
        ----------
        measure : str, optional
            A heading or a measure. Default: the first.

        Returns
        -------
        Records
            Columns "system", "mean_rank" and "rank_1", "rank_2", …: shares of the resamples in
            which the measure has a value for all systems. Equal systems share the mean of their
            ranks, and count in equal parts at each of them. The best mean rank comes first.

        Raises
        ------
        InputError
            If the measure is not a measure of all systems.
        """
        wanted = measure or self.scores.headings[0]
        headings = find_headings(wanted, self.scores)
        scores = [score for score in self.scores if score.heading in headings]
        if len(scores) != len(self.scores.systems):
            raise InputError(
                "bad-choice", name="measure", value=wanted, choices=self.scores.headings
            )
        counts, means = rank_matrix(_defined_replicates(scores))
        order = np.argsort(means, kind="stable")
        n_resamples = float(counts[0].sum())
        shares = counts / max(1.0, n_resamples)
        columns: dict[str, Any] = {
            "system": [scores[number].system for number in order.tolist()],
            "mean_rank": means[order],
        }
        for rank in range(1, len(scores) + 1):
            columns[f"rank_{rank}"] = shares[order, rank - 1]
        return Records(columns)


def _list_keys(differences: Iterable[Difference]) -> str:
    """List the keys of differences for a message, the first few of many."""
    keys = []
    for difference in differences:
        keys.append(f"{difference.system}, {difference.baseline}, {difference.heading}")
    return listing(keys)


def _defined_replicates(scores: Sequence[Score]) -> Floats:
    """Return the resamples in which all scores have a value, one column per score.

    Higher values are better.
    """
    sign = 1.0 if scores[0].measure.higher_is_better else -1.0
    columns = []
    for score in scores:
        if score.replicates:
            columns.append(sign * score.replicates.values)
    values = np.stack(columns, axis=1)
    is_defined = ~np.isnan(values).any(axis=1)
    defined: Floats = values[is_defined]
    return defined


# ---- cells -------------------------------------------------------------------------------------


def _draw_values(difference: Difference, digits: int, scale: float) -> list[str]:
    """Return the cells of both values, and of the difference with its interval."""
    factor = difference.score.measure.definition.printed_scale(scale)
    value = difference.value * factor
    baseline_value = difference.baseline_value * factor
    gap = difference.difference * factor
    low = difference.low * factor
    high = difference.high * factor
    interval = f"{gap:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"
    return [
        f"{value:.{digits}f}",
        f"{baseline_value:.{digits}f}",
        interval.replace("+nan", "nan"),
    ]


def _draw_effect(difference: Difference) -> list[str]:
    """Return the cells of the effect size and of the items won, tied and lost."""
    effect = ""
    if math.isfinite(difference.effect_size):
        effect = f"{difference.effect_size:.2f}"
    cells = [effect]
    for count in (difference.wins, difference.ties, difference.losses):
        cells.append("" if count is None else str(count))
    return cells


def _assign_letters(systems: Sequence[str]) -> dict[str, str]:
    """Return a letter for each system, or a number in parentheses after the last letter."""
    marks = {}
    for number, system in enumerate(systems):
        if number < len(ascii_letters):
            marks[system] = ascii_letters[number]
        else:
            marks[system] = f"({number + 1})"
    return marks


# ---- text for terminals ------------------------------------------------------------------------


def draw_rank_matrix(table: ComparisonTable, *, digits: int = 4) -> str:
    """Draw how often each system has each rank in the resamples, by the first measure."""
    records = table.rank_matrix()
    rows = []
    for record in records:
        system, mean, *shares = record.values()
        rows.append(
            [system, f"{mean:.2f}", *(f"{share:.{digits}f}" for share in shares)]
        )
    ranks = map(str, range(1, len(rows) + 1))
    head = [f"ranks by {table.scores.headings[0]}", "mean", *ranks]
    return draw([head, *rows])


def draw_differing(
    table: ComparisonTable, number: int, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw the items that differ most, with their content for the system and for the baseline."""
    score_by_heading = {entry.heading: entry.score for entry in table}
    records = table.differing(number)
    return draw_items(records, score_by_heading, digits=digits, scale=scale)
