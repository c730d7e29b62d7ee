"""The result of scoring: a table of scores, its forms, and what the scores hold as records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from semmetrics.core.same import by_value
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds import find_kind, name_task
from semmetrics.kinds.describe import finite_or_none
from semmetrics.messages import did_you_mean, listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import CAUSES
from semmetrics.reports import Records, ScaledResult, draw, write_table
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score, matching_names

__all__ = ["ScoreTable", "draw_scores", "records_of"]

_COLUMNS = (
    "system", "part", "heading", "measure", "value", "ci_low", "ci_high", "ci_level", "ci_method",
    "unit", "n", "undefined", "signature",
)  # fmt: skip
_MATCHES = ("id", "system", "rank", "prediction", "reference", "similarity")
_CONFUSION = ("system", "measure", "true", "predicted", "count")
_LABELS = ("system", "measure", "label", "value", "support", "predicted", "hit")
_UNDEFINED = ("system", "measure", "cause", "unit", "policy", "count")
_NUMBERS = ("value", "ci_low", "ci_high", "ci_level")
_ROWS, _SYSTEMS = 60, 10  # that a repr shows


@by_value()
@dataclass(frozen=True, eq=False)
class ScoreTable(ScaledResult):
    """Scores of one or more systems: a sequence of Score, with notes.

    Tables are equal where all attributes are: scores as `Score` compares them, and every line that
    is said, which names files. To compare the scores alone, compare ``table.scores``.

    Attributes
    ----------
    scores : list of Score
        System by system.
    not_computed : list of NotComputed
        What a protocol names and this input does not allow, with the reason.
    facts : list of Fact or str
        What is odd in the input, or has no effect; ``notes`` has them as texts.
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
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)
    differences: list[str] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    @overload
    def __getitem__(self, key: int | str | Measure | tuple[str, str | Measure]) -> Score: ...

    @overload
    def __getitem__(self, key: slice) -> ScoreTable: ...

    def __getitem__(self, key: Any) -> Score | ScoreTable:
        """The score at a place, or of a measure in any spelling and case; of a slice a table.

        ``table[0]``, ``table[-1]``, ``table["MicroF1"]``, ``table[parse("F1@3")[0]]``; with many
        systems ``table[system, measure]``.

        Raises
        ------
        IndexError
            If there is no such place.
        UnknownKeyError
            If there is no such measure or system, or more than one; a KeyError and an InputError.
        """
        if isinstance(key, slice):
            return replace(self, scores=self.scores[key])
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self.scores[key]
        found = self._find(key)
        if len(found) == 1:
            return found[0]
        if found:
            _, name = _split_key(key)
            remedy = "write table[system, measure]"
            if len({score.part for score in found}) > 1:
                remedy = f"say of which part: {listing(f'{one.part} {name}' for one in found)}"
            raise UnknownKeyError("ambiguous-score", n=len(found), key=key, remedy=remedy)
        raise self._unknown(key)

    def _unknown(self, key: Any) -> UnknownKeyError:
        """Return the error of a measure or a system that is not there."""
        system, name = _split_key(key)
        if system is not None and system not in self.systems:
            remedy = did_you_mean(str(system), self.systems, f"it has {listing(self.systems)}")
            return UnknownKeyError("unknown-name", what="system", value=system, remedy=remedy)
        remedy = did_you_mean(str(name), self.headings, f"it has {listing(self.headings)}")
        return UnknownKeyError("unknown-name", what="score of", value=name, remedy=remedy)

    def __contains__(self, key: object) -> bool:
        """Return whether a score, or one of such a measure, is in the table."""
        return (isinstance(key, Score) and key in self.scores) or bool(self._find(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """The score of a measure, as ``table[key]``; the default where there is none.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures="F1 MicroRecall")
        >>> table.get("F1").value == table[0].value, table.get("F2"), "MicroRecall" in table
        (True, None, True)
        """
        return self[key] if self._find(key) else default

    def _systems(self) -> set[str]:
        names = [name_task(score.system, score.part) for score in self.scores if score.part]
        parted = {score.system for score in self.scores if score.part}
        names += [score.system for score in self.scores if score.system not in parted]
        return set(names)

    def _find(self, key: Any) -> list[Score]:
        """The scores of a measure, by heading, name, alias, or the measure itself."""
        system, name = _split_key(key)
        of = [score for score in self.scores if system in (None, score.system)]
        if isinstance(name, Measure):
            return [score for score in of if name == score.measure or str(name) == score.heading]
        if not isinstance(name, str):
            return []
        meant = matching_names(name, {(score.heading, str(score.measure)) for score in of})
        return [score for score in of if (score.heading, str(score.measure)) in meant]

    @property
    def systems(self) -> list[str]:
        """The systems, in the order given."""
        return list(dict.fromkeys(score.system for score in self.scores))

    @property
    def headings(self) -> list[str]:
        """The measures' headings, in the order given."""
        return list(dict.fromkeys(score.heading for score in self.scores))

    def to_dict(self) -> dict[str, Any]:
        """Return {measure: value}, or with several systems {system: {measure: value}}.

        Measures are under their headings; a value that is undefined is nan. ``to_dicts`` has all
        that is known of each score.

        Examples
        --------
        >>> import semmetrics
        >>> semmetrics.score([["cat"]], [["cat", "dog"]], measures="Recall Precision").to_dict()
        {'Recall': 0.5, 'Precision': 1.0}
        """
        found: dict[str, dict[str, float]] = {system: {} for system in self.systems}
        for score in self.scores:
            found[score.system][score.heading] = score.value
        return dict(found) if len(found) > 1 else dict(next(iter(found.values()), {}))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each score as JSON has it."""
        return [score.to_dict() for score in self.scores]

    def _entry(self) -> Any:
        return self.to_dicts()

    def to_records(self) -> Records:
        """Return one row a score and all that is known of it.

        Returns
        -------
        Records
            Columns "system", "part", "heading", "measure", "value", "ci_low", "ci_high",
            "ci_level", "ci_method", "unit", "n", "undefined" ("cause=number", with semicolons
            between) and "signature". A value or a bound that is undefined is None.
        """
        return records_of(self.scores)

    def _lines(self, digits: int) -> list[str]:
        return self._beside()

    def __repr__(self) -> str:
        some, hidden = self._first()
        text = draw_scores(some) if len(some) else "no measure could be computed"
        more = [f"… and {hidden} more"] if hidden else []
        return "\n".join([text, *more, *self._beside()])

    def _beside(self) -> list[str]:
        """Return the line that counts the notes, if there are any."""
        undefined = sum(record["count"] for record in self.undefined())
        counted = (
            (pluralize(len(self.notes), "note"), ".notes"),
            (pluralize(undefined, "undefined value"), ".undefined()"),
            (f"{len(self.not_computed):,} not computed", ".not_computed"),
            (pluralize(len(self.differences), "difference"), ".differences"),
        )
        parts = [f"{text} ({where})" for text, where in counted if not text.startswith("0 ")]
        return [", ".join(parts)] if parts else []

    def _first(self) -> tuple[ScoreTable, str]:
        """The first rows and systems, as many as a screen shows; and what is not among them."""
        names, few = self.headings[:_ROWS], self.systems[:_SYSTEMS]
        some = [s for s in self.scores if s.system in few and s.heading in names]
        left = (
            (len(self.headings) - len(names), "measure"),
            (len(self.systems) - len(few), "system"),
        )
        hidden = " and ".join(pluralize(number, noun) for number, noun in left if number)
        return replace(self, scores=some), hidden

    def _repr_html_(self) -> str:
        some, hidden = self._first()
        absent = [f"not computed: {one.heading} - {one.reason}" for one in self.not_computed]
        lines = [*([f"… and {hidden} more"] if hidden else []), *absent, *self.notes]
        return write_table(some.scores, lines, self.undefined(), self.differences)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        place = {(score.system, score.heading): score for score in self.scores}
        head = ["measure", *map(_line, self.systems)]
        rows = [head]
        for name in self.headings:
            scores = [place.get((system, name)) for system in self.systems]
            rows.append([_line(name), *(_shown(score, digits, scale) for score in scores)])
            found = [None if score is None else score.best_threshold for score in scores]
            if any(threshold is not None for threshold in found):
                rows.append(["  threshold", *("" if t is None else repr(t) for t in found)])
        return [rows]

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
        headings = _item_headings(self.scores)
        parts = dict.fromkeys((s.system, s.part) for s in self.scores if s.items is not None)
        several = len({part for _, part in parts}) > 1
        columns: dict[str, list[Any]] = {name: [] for name in ("id", "system", "part", *headings)}
        for system, part in parts:
            found = {s.heading: s for s in self.scores if (s.system, s.part) == (system, part)}
            ids = list(map(_plain_id, next(iter(found.values())).ids))
            columns["id"].append(ids)
            columns["system"].append([system] * len(ids))
            columns["part"].append([part] * len(ids))
            for heading in headings:
                values = found[heading].items if heading in found else None
                columns[heading].append(np.full(len(ids), np.nan) if values is None else values)
        joined: dict[str, Any] = {name: np.concatenate(columns[name]) for name in headings}
        known = ("id", "system", "part") if several else ("id", "system")
        named = {name: [one for part in columns[name] for one in part] for name in known}
        return Records({**named, **joined})

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
        found = [score for score in self.scores if score.per_label is not None]
        if not found:
            raise InputError("lacks-measure", what="values of labels", example="MacroF1")
        return Records.from_rows(_LABELS, (row for score in found for row in _label_rows(score)))

    def worst(self, n: int = 10, measure: str | Measure | None = None) -> Records:
        """Return the worst items of each system, by one measure.

        Parameters
        ----------
        n : int
            Items of each system, from 1. Those without a value are left out; of equal ones those
            that come first are taken.
        measure : str or Measure, optional
            A heading or a measure; the first that has item values where it is left out.

        Returns
        -------
        Records
            Columns "system", "measure", "id", "value", and what the item is: of labels "predicted"
            and "true"; of captions "caption" and "references", by SPICE and SPIDEr also the tuples
            "matched", "unmatched" and "missing", and by Soft-SPICE "nearest", each phrase with the
            nearest of the references and their similarity. The worst come first.

        Raises
        ------
        InputError
            If the measure is not there or has no item values, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
        >>> table.worst(1)[0]
        {'system': 'preds', 'measure': 'F1', 'id': 1, 'value': 0.0, 'predicted': ['cow'],
        'true': ['dog']}
        """
        chosen = self.scores if measure is None else self._find(measure)
        if not chosen:
            raise self._unknown(measure)
        if n < 1:
            raise InputError("bad-option", name="worst", value=n, wanted="a whole number from 1")
        _item_headings(chosen)  # there is one
        first = {score.part: score.heading for score in reversed(chosen) if score.items is not None}
        rows: list[dict[str, Any]] = []
        for score in chosen:
            if score.heading == first.get(score.part):
                rows += _worst_rows(score, int(n))
        columns = dict.fromkeys(name for row in rows for name in row)
        return Records.from_rows(list(columns) or ["system", "measure", "id", "value"], rows)

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
        from semmetrics.kinds.labels.facts import match_rows

        heading = find_matching_heading(self.scores)
        if any(score.task is None for score in self.scores if score.heading == heading):
            raise InputError("rows-not-kept")
        rows = (
            {**row, "system": score.system}
            for score in self.scores
            if score.heading == heading
            for row in match_rows(score.task, score.measure)
        )
        return Records.from_rows(_MATCHES, rows)

    def confusion(self) -> Records:
        """Return how many images of each class are taken for each class, where there are any.

        The first measure of each system that predicts one class for each image says among which
        candidates; all images are counted.

        Returns
        -------
        Records
            Columns "system", "measure", "true", "predicted" (None for nothing) and "count".

        Raises
        ------
        InputError
            If no measure predicts a class, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score(["cat", "cat"], ["cat", "dog"], measures=["PerClassAccuracy"])
        >>> [(row["true"], row["predicted"], row["count"]) for row in table.confusion()]
        [('cat', 'cat', 1), ('dog', 'cat', 1)]
        """
        found = set[str]()
        taken: list[dict[str, Any]] = []
        for score in self.scores:
            family = score.measure.definition.family
            if score.system in found or not hasattr(family, "confusion"):
                continue
            rows = score.statistics.rows(family.statistic(score.measure))
            counted = family.confusion(rows)
            if counted is not None:
                found.add(score.system)
                names = [*score.frame.labels, None]  # -1 is the last
                taken += [
                    {"system": score.system, "measure": score.heading, "true": names[true],
                     "predicted": names[predicted], "count": count}
                    for true, predicted, count in zip(*(c.tolist() for c in counted), strict=True)
                ]  # fmt: skip
        if not found:
            raise InputError("lacks-measure", what="one predicted class for each image",
                             example="PerClassAccuracy, of task='classes' "
                             "(--task classes)")  # fmt: skip
        return Records.from_rows(_CONFUSION, taken)

    def curve(self) -> Records:
        """Return the accuracy on seen and unseen classes for every calibrating constant.

        The scores must have AUSUC or BestH.

        Returns
        -------
        Records
            Columns "system", "low" and "high" (the constants between which a point holds; None for
            infinite ones), "unseen", "seen" and "H", a row a point.

        Raises
        ------
        InputError
            If no measure has a curve, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> scores, truth = [[0.75, 0.25], [0.75, 0.5]], ["cat", "dog"]
        >>> table = semmetrics.score(scores, truth, measures=["AUSUC"], classes=["cat", "dog"],
        ...                          seen=["cat"], unseen=["dog"])
        >>> [(row["low"], row["unseen"], row["seen"]) for row in table.curve()]
        [(None, 0.0, 1.0), (0.25, 1.0, 1.0), (0.5, 1.0, 0.0)]
        """
        curves: dict[str, Any] = {}
        for score in self.scores:
            family = score.measure.definition.family
            if score.system not in curves and hasattr(family, "curve"):
                weights = score.statistics.weights
                every = np.ones(score.n) if weights is None else weights
                rows = score.statistics.rows(family.statistic(score.measure))
                curves[score.system] = family.curve(rows, score.frame, every)
        if not curves:
            raise InputError("lacks-measure", what="a curve of seen and unseen", example="AUSUC")
        columns = {
            "low": [np.append(-np.inf, curve.bounds) for curve in curves.values()],
            "high": [np.append(curve.bounds, np.inf) for curve in curves.values()],
            "unseen": [curve.unseen for curve in curves.values()],
            "seen": [curve.seen for curve in curves.values()],
            "H": [curve.harmonic for curve in curves.values()],
        }
        systems = [name for name, curve in curves.items() for _ in curve.seen]
        joined = {name: np.concatenate(parts) for name, parts in columns.items()}
        return Records({"system": systems, **joined})

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
        rows = (row for score in self.scores for row in _undefined_rows(score))
        return Records.from_rows(_UNDEFINED, rows)


def _item_headings(scores: Sequence[Score]) -> list[str]:
    """The measures that have a value for an item alone."""
    found = list(dict.fromkeys(score.heading for score in scores if score.items is not None))
    if not found:
        raise InputError("lacks-measure", what="item values", example="F1")
    return found


def _label_rows(score: Score) -> Iterator[dict[str, Any]]:
    columns = score.per_label or {}
    shared = {"system": score.system, "measure": score.heading}
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        yield shared | {name: _plain_number(name, value) for name, value in row.items()}


def _plain_number(name: str, value: Any) -> Any:
    """A number that is not finite is None, and a count that is whole an int."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if name != "value" and value == int(value) else value


def _worst_rows(score: Score, number: int) -> Iterator[dict[str, Any]]:
    """Yield the items that have a value, the worst first."""
    values = np.full(score.n, np.nan) if score.items is None else score.items
    higher = score.measure.definition.higher_is_better
    order = np.argsort(values if higher else -values, kind="stable")  # nan last
    for row in order[: min(number, int((~np.isnan(values)).sum()))].tolist():
        known = {"system": score.system, "measure": score.heading, "id": _plain_id(score.ids[row]),
                 "value": finite_or_none(float(values[row]))}  # fmt: skip
        if score.task is not None:
            describer = find_kind(score.task.kind).describer
            known |= describer.show_item(score.task, row, score.measure)
        yield known


def _plain_id(name: Any) -> str | int:
    return name if isinstance(name, str) else int(name)


def find_matching_heading(scores: Sequence[Score]) -> str:
    """Find the first measure that matches labels by meaning.

    Raises
    ------
    InputError
        If there is none.
    """
    from semmetrics.metrics.semantic import SemanticFamily  # exact measures do without it

    for score in scores:
        if isinstance(score.measure.definition.family, SemanticFamily):
            return score.heading
    raise InputError("lacks-measure", what="matches of labels by meaning", example="SemF1")


def _undefined_rows(score: Score) -> Iterator[dict[str, Any]]:
    average = score.measure["average"]
    units = {"example": score.unit, "macro": "label", "weighted": "label"}
    shared = {"system": score.system, "measure": score.heading}
    for cause, number in score.undefined.items():
        policy = score.measure[cause]
        of_item = score.unit if average is None and cause in CAUSES else None
        yield shared | {
            "cause": cause,
            "unit": "label" if cause == "absent" else of_item or units.get(str(average)),
            "policy": None if policy is None else str(policy),
            "count": number,
        }
    if score.ci is not None and score.ci.undefined:
        cause = "resample" if score.ci.method == "percentile" else "replicate"
        count = {"cause": cause, "unit": None, "policy": "skip", "count": score.ci.undefined}
        yield shared | count


def draw_scores(table: ScoreTable, *, digits: int = 4, scale: float = 1.0) -> str:
    """Draw aligned columns of the scores alone: measures as rows and systems as columns."""
    (cells,) = table._tables(digits, scale)
    return draw(cells)


def records_of(scores: Sequence[Score]) -> Records:
    """Return a record of each score, with numbers as arrays."""
    rows = list(map(_row, scores))
    numbers = {name: np.array([row[name] for row in rows], np.float64) for name in _NUMBERS}
    return Records({name: numbers.get(name, [r[name] for r in rows]) for name in _COLUMNS})


def _row(score: Score) -> dict[str, Any]:
    entry = score.to_dict()
    ci = entry["ci"] or dict.fromkeys(("low", "high", "level", "method"))
    causes = ";".join(f"{cause}={n}" for cause, n in entry["undefined"].items())
    intervals = {f"ci_{name}": ci[name] for name in ("low", "high", "level", "method")}
    return {**entry, **intervals, "part": score.part, "undefined": causes}


def _split_key(key: Any) -> tuple[Any, Any]:
    """A key as a system, or None for all, and a measure."""
    return key if isinstance(key, tuple) and len(key) == 2 else (None, key)


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _shown(score: Score | None, digits: int, scale: float) -> str:
    if score is None:
        return ""
    scale = score.measure.definition.printed_scale(scale)
    text = _number(score.value * scale, digits)
    if score.ci is not None:
        low, high = (_number(v * scale, digits) for v in (score.ci.low, score.ci.high))
        text += f" [{low}, {high}]"
    return text


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)
