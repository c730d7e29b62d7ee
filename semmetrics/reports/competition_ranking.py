"""The ranking of a maximum discrepancy competition, as tables and records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from semmetrics._version import __version__
from semmetrics.comparison.dominance import GlobalRank
from semmetrics.comparison.pairwise_scores import PairScores
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds.describe import finite_or_none
from semmetrics.reports.records import Records
from semmetrics.reports.report import Report, cells

__all__ = ["SCHEMA", "CompetitionRanking", "MeasureRanking"]

SCHEMA = "semmetrics.mad-ranking/1"


@by_value()
@dataclass(frozen=True, eq=False)
class MeasureRanking:
    """Systems ranked by one measure.

    Attributes
    ----------
    pairs : PairScores
        Its name and direction, the scores of all pairs, and each system's own over all its images.
    dominance : float array, shape (systems, systems)
    rank : GlobalRank
    stability : mapping from int to float
        For each k that was asked, Spearman's correlation of its ranks with those of all images;
        nan where all systems share one rank.
    """

    pairs: PairScores
    dominance: Any
    rank: GlobalRank
    stability: Mapping[int, float] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """How tables call the measure."""
        return self.pairs.measure

    def to_dict(self, systems: Sequence[str]) -> dict[str, Any]:
        """As JSON has it: null for what is undefined, matrices as lists of rows."""
        rank = self.rank
        return {
            "measure": self.measure,
            "higher_is_better": self.pairs.higher_is_better,
            "global_scores": dict(zip(systems, rank.scores, strict=True)),
            "ranks": dict(zip(systems, rank.ranks, strict=True)),
            "overall": dict(zip(systems, map(finite_or_none, self.pairs.overall), strict=True)),
            "scores": [[finite_or_none(x) for x in row] for row in self.pairs.scores.tolist()],
            "dominance": self.dominance.tolist(),
            "convergence": {
                "irreducible": rank.irreducible, "period": rank.period, "power": rank.power,
                "converged": rank.converged,
            },
            "stability": {str(k): finite_or_none(value) for k, value in self.stability.items()},
        }  # fmt: skip


@by_value()
@dataclass(frozen=True, eq=False)
class CompetitionRanking(Report):
    """Systems ranked by the measures of a competition.

    Attributes
    ----------
    systems : tuple of str
    k : int
        Images that were selected of each pair.
    n : int
        Images that were annotated.
    rankings : tuple of MeasureRanking
    images : mapping from pair of systems to int
        How many of its images count.
    notes : tuple of str
    understood : tuple of str
    """

    systems: tuple[str, ...]
    k: int
    n: int
    rankings: tuple[MeasureRanking, ...]
    images: Mapping[tuple[str, str], int] = field(default_factory=dict, repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    def to_records(self) -> Records:
        """Return one row for each measure and system, best first."""
        rows = [
            {
                "measure": one.measure, "system": self.systems[place],
                "rank": one.rank.ranks[place],
                "global_score": one.rank.scores[place],
                "overall": finite_or_none(one.pairs.overall[place]),
            }
            for one in self.rankings
            for place in sorted(range(len(self.systems)), key=lambda i: -one.rank.scores[i])
        ]  # fmt: skip
        columns = ["measure", "system", "rank", "global_score", "overall"]
        return Records.from_rows(columns, rows)

    def pair_records(self) -> Records:
        """Return one row for each measure and ordered pair: scores of both, and dominance."""
        place = {name: number for number, name in enumerate(self.systems)}
        rows = []
        for one in self.rankings:
            for (a, b), count in self.images.items():
                for first, second in ((a, b), (b, a)):
                    i, j = place[first], place[second]
                    scores = one.pairs.scores
                    rows.append({
                        "measure": one.measure, "first": first, "second": second, "images": count,
                        "first_score": finite_or_none(scores[i, j]),
                        "second_score": finite_or_none(scores[j, i]),
                        "dominance": float(one.dominance[i, j]),
                    })  # fmt: skip
        columns = ["measure", "first", "second", "images", "first_score", "second_score",
                   "dominance"]  # fmt: skip
        return Records.from_rows(columns, rows)

    def stability_records(self) -> Records:
        """Return one row for each measure and smaller k: the rank correlation (SRCC)."""
        rows = [
            {"measure": one.measure, "k": k, "srcc": finite_or_none(value)}
            for one in self.rankings
            for k, value in one.stability.items()
        ]
        return Records.from_rows(["measure", "k", "srcc"], rows)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "schema": SCHEMA,
            "version": __version__,
            "systems": list(self.systems),
            "k": self.k,
            "n": self.n,
            "images": [[*pair, count] for pair, count in self.images.items()],
            "rankings": [one.to_dict(self.systems) for one in self.rankings],
        }

    def to_json(self) -> str:
        """The dictionary in full precision."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        both = (self.to_records(), self.stability_records())
        return [cells(records, digits) for records in both if len(records)]

    def _repr_html_(self) -> str:
        return self.to_records()._repr_html_()
