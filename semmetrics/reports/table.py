"""The result of scoring: a table of scores, its forms, and what the scores hold as records."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from semmetrics.errors import InputError, listing
from semmetrics.frozen import dataclass
from semmetrics.reports import details
from semmetrics.reports.records import Records, draw
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.score_result import Score

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["FORMATS", "ScoreTable"]

FORMATS = ("table", "json", "csv", "markdown", "latex")
_FIELDS = (
    "system", "heading", "measure", "value", "ci_low", "ci_high", "unit", "n", "undefined",
    "signature",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of one or more systems: a sequence of Score, and what is said beside it.

    Attributes
    ----------
    scores : list of Score
        System by system.
    not_computed : list of NotComputed
        What a protocol names and this input does not allow, with the reason.
    notes : list of str
        How the input was understood, and what is odd.
    understood : list of str
        How each input was read.
    differences : list of str
        Of a signature that was computed again: what differs from it.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["Recall", "F1"])
    >>> table["Recall"].value
    0.5
    >>> print(table.to_markdown())
    | measure | preds |
    |---|---:|
    | Recall | 0.5000 |
    | F1 | 0.6667 |
    """

    scores: list[Score]
    not_computed: list[NotComputed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)
    differences: list[str] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __getitem__(self, key: str | tuple[str, str]) -> Score:
        """The score under a heading or measure name; ``table[system, name]`` with many systems.

        Raises
        ------
        InputError
            If there is none, or more than one.
        """
        system, name = key if isinstance(key, tuple) else (None, key)
        found = [
            score
            for score in self.scores
            if system in (None, score.system) and name in (score.heading, str(score.measure))
        ]
        if len(found) == 1:
            return found[0]
        if system is not None and system not in self.systems:
            raise InputError(
                f"the table has no system {system!r}", remedy=f"it has {listing(self.systems)}"
            )
        if not found:
            raise InputError(
                f"the table has no {name!r}", remedy=f"it has {listing(self.headings)}"
            )
        raise InputError(
            f"{name!r} is there for several systems", remedy="write table[system, measure]"
        )

    @property
    def systems(self) -> list[str]:
        """The systems, in the order given."""
        return list(dict.fromkeys(score.system for score in self.scores))

    @property
    def headings(self) -> list[str]:
        """The measures' headings, in the order given."""
        return list(dict.fromkeys(score.heading for score in self.scores))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each score as JSON has it."""
        return [score.to_dict() for score in self.scores]

    def to_json(self) -> str:
        """Write a JSON list of scores in full precision; null for what is undefined."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """Write one row a score, in full precision; an empty cell for what is undefined."""
        return self._records().to_csv()

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row a score.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return self._records().to_pandas()

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row a score; null for what is undefined.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        return self._records().to_arrow()

    def to_markdown(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write a Markdown table with measures as rows and systems as columns."""
        return draw(self._cells(digits, scale), "markdown")

    def to_latex(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write a LaTeX tabular in the style of booktabs, measures as rows."""
        return draw(self._cells(digits, scale), "latex")

    def to_text(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write aligned columns for a terminal."""
        return draw(self._cells(digits, scale))

    def __str__(self) -> str:
        return self.to_text()

    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write the table in one of FORMATS."""
        if form not in FORMATS:
            raise InputError(f"there is no format {form!r}", remedy=f"choose {listing(FORMATS)}")
        if form == "json":
            return self.to_json()
        if form == "csv":
            return self.to_csv().rstrip("\n")
        draw = {"table": self.to_text, "markdown": self.to_markdown, "latex": self.to_latex}[form]
        return draw(digits=digits, scale=scale)

    def _cells(self, digits: int, scale: float) -> list[list[str]]:
        place = {(score.system, score.heading): score for score in self.scores}
        head = ["measure", *map(_line, self.systems)]
        return [head] + [
            [_line(name), *(_shown(place.get((s, name)), digits, scale) for s in self.systems)]
            for name in self.headings
        ]

    def _records(self) -> Records:
        return Records.from_rows(_FIELDS, map(_row, self.scores))

    def per_item(self) -> Records:
        """Return the value of each item, of the measures that an item alone has a value of.

        Returns
        -------
        Records
            Columns "id", "system", and one for each measure, under its heading.

        Raises
        ------
        InputError
            If no measure has item values, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score({"a": ["cat"]}, {"a": ["cat", "dog"]}, measures=["Recall"])
        >>> list(table.per_item())
        [{'id': 'a', 'system': 'preds', 'Recall': 0.5}]
        """
        return details.collect_item_values(self.scores)

    def per_label(self) -> Records:
        """Return the value and the counts of each label, of the measures that average over labels.

        Returns
        -------
        Records
            Columns "system", "measure", "label", "value", "support", "predicted" and "hit".

        Raises
        ------
        InputError
            If no measure has values of labels.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["MacroRecall"])
        >>> [(row["label"], row["value"], row["support"]) for row in table.per_label()]
        [('cat', 1.0, 1), ('dog', 0.0, 1)]
        """
        return details.collect_label_values(self.scores)

    def worst(self, n: int = 10) -> Records:
        """Return the worst items of each system, by the first measure that has item values.

        Parameters
        ----------
        n : int
            Items of each system, from 1. Those without a value are left out; of equal ones those
            that come first are taken.

        Returns
        -------
        Records
            Columns "system", "measure", "id", "value", and what the item is: of labels "predicted"
            and "true", of captions "caption" and "references". The worst come first.

        Raises
        ------
        InputError
            If no measure has item values, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
        >>> table.worst(1)[0]
        {'system': 'preds', 'measure': 'F1', 'id': 1, 'value': 0.0, 'predicted': ['cow'],
        'true': ['dog']}
        """
        return details.find_worst_items(self.scores, n)

    def matches(self) -> Records:
        """Return which prediction matched which reference, and what nothing matched.

        The first measure that matches labels by meaning is used.

        Returns
        -------
        Records
            Columns "id", "system", "rank" (from 1), "prediction", "reference" and "similarity" in
            [-1, 1]. A prediction without a match has the similarity to its nearest reference; a
            reference that nothing matched has no rank and no prediction.

        Raises
        ------
        InputError
            If no measure matches labels by meaning, or items were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "car"]], measures=["SemF1(threshold=0.6)"])
        >>> [(row["prediction"], row["reference"]) for row in table.matches()]
        [('cat', 'cat'), (None, 'car')]
        """
        return details.collect_matches(self.scores)

    def undefined(self) -> Records:
        """Return how many items or labels have no value, by cause, and what counts for them.

        Returns
        -------
        Records
            Columns "system", "measure", "cause", "unit" (what is counted, such as "image" or
            "label"; None for the whole), "policy" ("0", "1", "skip" or "nan") and "count".

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([[], ["cat"]], [["cat"], ["cat"]], measures=["Precision"])
        >>> table.undefined()[0]
        {'system': 'preds', 'measure': 'Precision', 'cause': 'no_prediction', 'unit': 'image',
        'policy': '0', 'count': 1}
        """
        return details.count_undefined(self.scores)


def _row(score: Score) -> dict[str, Any]:
    entry = score.to_dict()
    ci = entry["ci"] or {"low": None, "high": None}
    causes = ";".join(f"{cause}={n}" for cause, n in entry["undefined"].items())
    return {**entry, "ci_low": ci["low"], "ci_high": ci["high"], "undefined": causes}


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _shown(score: Score | None, digits: int, scale: float) -> str:
    if score is None:
        return ""
    if max(map(abs, score.measure.definition.bounds)) > 1:
        scale = 1.0  # a percentage of what is no share means nothing
    text = _number(score.value * scale, digits)
    if score.ci is not None:
        low, high = (_number(v * scale, digits) for v in (score.ci.low, score.ci.high))
        text += f" [{low}, {high}]"
    return text


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)
