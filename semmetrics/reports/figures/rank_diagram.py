"""The diagram of mean ranks with critical differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.reports.figures.display import COLORS, MAX_ROWS, Display
from semmetrics.reports.figures.figure_text import hidden_note, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_MAX_SYSTEMS = 2 * MAX_ROWS
_MAX_TICKS = 15


def rank_lines(n: int) -> list[tuple[bool, int]]:
    """Return where the names of n systems are written, best first.

    Returns
    -------
    list of (bool, int)
        Whether the name is on the left, and the number of its line from the top. Names
        go down on the left, then up on the right, so that their connecting lines do not
        cross.

    Examples
    --------
    >>> rank_lines(3)
    [(True, 0), (True, 1), (False, 0)]
    """
    n_left = math.ceil(n / 2)
    n_right = n - n_left
    left = [(True, line) for line in range(n_left)]
    right = [(False, line) for line in reversed(range(n_right))]
    return left + right


def name_ranked_values(ranking: Any) -> str:
    """Return the measure of a ranking, or a description if it is unknown."""
    if ranking.measure:
        return shorten(ranking.measure)
    return "the values of the table"


@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks of systems, with bars that join systems without a significant difference.

    The diagram is due to Demšar (2006).

    Attributes
    ----------
    systems : list of str
        Best first, at most 60.
    means : list of float
        The mean rank of each system.
    groups : list of list of str
        Systems that do not differ significantly.
    critical_difference : float
        nan if it is undefined.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9, "B": 0.6, "C": 0.3} for n in range(5)}
    >>> display = CriticalDifferenceDisplay.from_ranking(rank_normalized(values))
    >>> display.means, display.groups
    ([1.0, 2.0, 3.0], [['A', 'B'], ['B', 'C']])
    """

    systems: list[str]
    means: list[float]
    groups: list[list[str]]
    critical_difference: float

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the mean ranks in a result of ``rank_systems``."""
        if not hasattr(result, "critical_difference") or len(result.ranked) < 2:
            raise InputError(
                "other-result", what="mean ranks of systems", of="rank_systems"
            )
        mean_ranks = {}
        for rank in result:
            if not rank.lacking:
                mean_ranks[rank.system] = rank.mean_rank
        systems = sorted(mean_ranks, key=mean_ranks.__getitem__)[:_MAX_SYSTEMS]
        groups = []
        for group in result.groups:
            shown_systems = [system for system in group if system in systems]
            if len(shown_systems) > 1:
                groups.append(shown_systems)
        datasets = pluralize(len(result.values), "dataset")
        return cls(
            title=f"mean ranks by {name_ranked_values(result)} over {datasets}",
            note=hidden_note(_MAX_SYSTEMS, len(mean_ranks), "system", "best"),
            systems=systems,
            means=[mean_ranks[system] for system in systems],
            groups=groups,
            critical_difference=result.critical_difference,
        )

    from_ranking = of

    def _size(self) -> tuple[float, float]:
        return 7.2, 1.6 + 0.13 * (len(self.systems) + len(self.groups))

    def _draw(self, axes: Sequence[Axes]) -> None:
        (ax,) = axes
        worst_rank = max(math.ceil(self.means[-1]), 2)
        margin = (worst_rank - 1) / 40
        first_line = 1 + 0.5 * len(self.groups)
        lowest_line = first_line + math.ceil(len(self.systems) / 2)
        self._draw_groups(ax, margin)
        self._draw_systems(ax, first_line, 1 - margin, worst_rank + margin)
        if self.critical_difference <= worst_rank - 1:
            self._draw_critical_difference(ax, lowest_line + 0.4)
        ax.set(ylim=(lowest_line + 1, 0), xlim=(1 - margin, worst_rank + margin))
        ax.xaxis.set_ticks_position("top")
        step = math.ceil(worst_rank / _MAX_TICKS)
        ax.set(xticks=range(1, worst_rank + 1, step), yticks=[])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.axhline(0, color="black", linewidth=2)

    def _draw_groups(self, ax: Axes, margin: float) -> None:
        """Draw a bar for each group of systems, a little longer than their ranks."""
        mean_ranks = dict(zip(self.systems, self.means, strict=True))
        for number, group in enumerate(self.groups):
            start = mean_ranks[group[0]] - margin / 4
            end = mean_ranks[group[-1]] + margin / 4
            y = 0.6 + 0.5 * number
            ax.plot((start, end), [y, y], color="black", linewidth=3.5)

    def _draw_systems(
        self, ax: Axes, first_line: float, left_end: float, right_end: float
    ) -> None:
        """Draw a line from the mean rank of each system to its name on a side."""
        places = rank_lines(len(self.systems))
        for system, mean, place in zip(self.systems, self.means, places, strict=True):
            is_left, line = place
            y = first_line + line
            name = shorten(system, 24)
            if is_left:
                end = left_end
                text = f" {name}  {mean:.2f} "
                alignment = "right"
            else:
                end = right_end
                text = f" {mean:.2f}  {name} "
                alignment = "left"
            ax.plot([mean, mean, end], [0, y, y], color="black", linewidth=0.8)
            ax.text(end, y, text, ha=alignment, va="center", fontsize="small")

    def _draw_critical_difference(self, ax: Axes, y: float) -> None:
        """Draw a scale bar of the critical difference."""
        end = 1 + self.critical_difference
        ax.plot([1, end], [y, y], "|-", color=COLORS[1])
        text = f"  critical difference {self.critical_difference:.2f}"
        ax.text(end, y, text, va="center", fontsize="small")
