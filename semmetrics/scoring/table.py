"""The result of scoring: a table of scores, its forms, and how a person reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from threading import RLock
from typing import Any, overload

import numpy as np

from semmetrics import reports
from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.data.lists import gather
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds import find_kind
from semmetrics.kinds.base import name_task
from semmetrics.kinds.common import finite_or_none, on_one_line
from semmetrics.messages import (
    Spelling,
    did_you_mean,
    keyword,
    listing,
    plural,
    pluralize,
    visible,
)
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import CAUSES, LABEL_AVERAGES, POLICIES
from semmetrics.metrics.formulas import f1, precision, recall
from semmetrics.metrics.measure_options import AUTO, OptionValue
from semmetrics.metrics.parsing import parse
from semmetrics.options import OUTPUT
from semmetrics.reports import Records, ScaledResult
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import default_method
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import (
    Score,
    matching_names,
    point_sums,
    score_statistics,
)
from semmetrics.scoring.signature import MODELS, SETTINGS

_PART_OF_ITEMS = 4  # a report shows at most a quarter of the items as the worst
_COLUMNS = (
    "system",
    "part",
    "heading",
    "measure",
    "value",
    "ci_low",
    "ci_high",
    "ci_level",
    "ci_method",
    "unit",
    "n",
    "undefined",
    "signature",
    "reason",
)
_MATCHES = (
    "id",
    "system",
    "rank",
    "prediction",
    "reference",
    "reason",
    "similarity",
    "nearest",
)
_CONFUSION = ("system", "measure", "true", "predicted", "count")
_PRECISION = ("system", "measure", "label", "recall", "precision")
_LABELS = ("system", "measure", "label", "value", "support", "predicted", "hit")
_UNDEFINED = ("system", "measure", "cause", "unit", "policy", "count")
_NUMBERS = ("value", "ci_low", "ci_high", "ci_level")
_ROWS, _SYSTEMS = 60, 10  # that a repr shows
RUNS = "semmetrics.runs/1"
_RUN = ("measure", "heading", "mean", "std", "ddof", "n", "runs")
_POLICIES = {
    "0": "counted as 0",
    "1": "counted as 1",
    "skip": "left out",
    "nan": "makes the value undefined",
}
_CAUSE_TEXTS = {
    "resample": "resamples without a value",
    "replicate": "resamples and jackknife values that are undefined",
}
_LONG = 40  # measures that share a line
_SAID = {
    *SETTINGS,
    *MODELS,
    *("task", "groups", "verified", "thr", "fit", "cal", "ci", "n", "data", "v"),
}
_GROUPS = 6  # of scores whose signatures differ


_MAKING = RLock()


class _Deferred:
    """An attribute that is a list, given as one or as a function that is called when it is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: object, owner: type) -> Any:
        if record is None:
            return self
        # one list for all threads; both at once, as both keep the inputs alive
        with _MAKING:
            for name, value in [*vars(record).items()]:
                if callable(value):
                    vars(record)[name] = value()
        return vars(record)[self.name]

    def __set__(
        self, record: object, value: list[Any] | Callable[[], list[Any]]
    ) -> None:
        vars(record)[self.name] = value


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
    facts : list of Fact
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

    _of = "scores"
    _reads_truth_last = True
    scores: list[Score]
    not_computed: list[NotComputed] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)
    differences: list[str] = field(default_factory=list, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, all of them made."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    @overload
    def __getitem__(
        self, key: int | str | Measure | tuple[str, str | Measure]
    ) -> Score: ...

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
        found = self.find(key)
        if len(found) == 1:
            return found[0]
        if found:
            _, name = _split_key(key)
            headings = dict.fromkeys(score.heading for score in found)
            several = f"choose one of {listing(headings)}"
            remedy = several if len(headings) > 1 else "write table[system, measure]"
            if len({score.part for score in found}) > 1:
                remedy = f"say of which part: {listing(f'{one.part} {name}' for one in found)}"
            raise UnknownKeyError(
                "ambiguous-score", n=len(found), key=key, remedy=remedy
            )
        raise self._unknown(key)

    def _unknown(self, key: Any) -> UnknownKeyError:
        """Return the error of a measure or a system that is not there."""
        system, value = _split_key(key)
        what, known = "score of", self.headings
        if system is not None and system not in self.systems:
            what, value, known = "system", system, self.systems
        remedy = did_you_mean(str(value), known, f"it has {listing(known)}")
        return UnknownKeyError("unknown-name", what=what, value=value, remedy=remedy)

    def __contains__(self, key: object) -> bool:
        """Return whether a score, or one of such a measure, is in the table."""
        return (isinstance(key, Score) and key in self.scores) or bool(self.find(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """The score of a measure, as ``table[key]``; the default where there is none.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures="F1 MicroRecall")
        >>> table.get("F1").value == table[0].value, table.get("F2"), "MicroRecall" in table
        (True, None, True)
        """
        return self[key] if self.find(key) else default

    def _systems(self) -> set[str]:
        parted = {score.system for score in self.scores if score.part}
        named = (s for s in self.scores if s.part or s.system not in parted)
        return {name_task(score.system, score.part) for score in named}

    def find(self, key: Any) -> list[Score]:
        """Return the scores of a measure, by heading, name, alias, or the measure itself."""
        system, name = _split_key(key)
        of = [score for score in self.scores if system in (None, score.system)]
        if isinstance(name, Measure):
            return [
                score
                for score in of
                if name == score.measure or str(name) == score.heading
            ]
        if not isinstance(name, str):
            return []
        meant = matching_names(name, {score.names for score in of})
        return [score for score in of if score.names in meant]

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

        Measures are under the names that were asked for, or their headings; a value that is
        undefined is nan. ``to_dicts`` has all that is known of each score.

        Examples
        --------
        >>> import semmetrics
        >>> semmetrics.score([["cat"]], [["cat", "dog"]], measures="MacroRecall f1").to_dict()
        {'MacroRecall': 0.5, 'f1': 0.6666666666666666}
        """
        found: dict[str, dict[str, float]] = {system: {} for system in self.systems}
        for score in self.scores:
            found[score.system][score.name] = score.value
        return dict(found) if len(found) > 1 else dict(next(iter(found.values()), {}))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each score as JSON has it."""
        return [score.to_dict() for score in self.scores]

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        return {**super()._entry(spell), "differences": self.differences}

    def to_records(self) -> Records:
        """Return one row a score and all that is known of it; last what was not computed.

        Returns
        -------
        Records
            Columns "system", "part", "heading", "measure", "value", "ci_low", "ci_high",
            "ci_level", "ci_method", "unit", "n", "undefined" ("cause=number", with semicolons
            between), "signature" and "reason". A value or a bound that is undefined is None. Of
            what was not computed the value is None, and "reason" says why; otherwise it is None.
        """
        rows = []
        for score in self.scores:
            entry = score.to_dict()
            limits = {
                f"ci_{name}": value for name, value in (entry["ci"] or {}).items()
            }
            undefined = ";".join(f"{cause}={n}" for cause, n in score.undefined.items())
            rows.append(entry | limits | {"part": score.part, "undefined": undefined})
        rows += [
            vars(one) | {"system": name}
            for name in self.systems
            for one in self.not_computed
        ]
        records = Records.from_rows(_COLUMNS, rows)
        numbers = {
            name: np.array(records.column(name), np.float64) for name in _NUMBERS
        }
        return records.with_columns(**numbers)

    def __repr__(self) -> str:
        some, more = self._first()
        return "\n".join([draw_systems(some), *more, *self._lines()])

    def _lines(self, digits: int = 4) -> list[str]:
        """Return the line that counts the notes, if there are any."""
        undefined = sum(record["count"] for record in self.undefined())
        counted = (
            (pluralize(len(self.notes), "note"), ".notes"),
            (pluralize(undefined, "undefined value"), ".undefined()"),
            (pluralize(len(self.differences), "difference"), ".differences"),
        )
        parts = [
            f"{text} ({where})" for text, where in counted if not text.startswith("0 ")
        ]
        return [*name_absent(self), *([", ".join(parts)] if parts else [])]

    def _first(self) -> tuple[ScoreTable, list[str]]:
        """The first rows and systems, as many as a screen shows; and a line of what is hidden."""
        names, few = self.headings[:_ROWS], self.systems[:_SYSTEMS]
        some = [s for s in self.scores if s.system in few and s.heading in names]
        left = len(self.headings) - len(names), len(self.systems) - len(few)
        counted = zip(left, ("measure", "system"), strict=True)
        hidden = " and ".join(
            pluralize(number, noun) for number, noun in counted if number
        )
        return replace(self, scores=some), [f"… and {hidden} more"] if hidden else []

    def _repr_html_(self) -> str:
        some, more = self._first()
        absent = [
            f"not computed: {one.heading} - {one.reason}" for one in self.not_computed
        ]
        lines = [*more, *absent, *self.notes, *self.differences]
        (cells,) = some._tables(4, 1.0)
        return reports.write_table(cells, some.scores, lines, self.undefined())

    def render(
        self,
        form: str,
        *,
        digits: int = 4,
        scale: float = 1.0,
        graded: bool = False,
        systems: str | None = None,
    ) -> str:
        """Write the scores as "table", "json", "csv", "markdown", "latex" or "html".

        In the last three the best of each measure are bold; ``graded`` shades all from the worst
        (red) to the best (green), in LaTeX (packages booktabs, and xcolor with [table]) and HTML.
        ``systems`` are "rows" or "columns" of tables; by default rows if they are more than the
        measures. CSV has the rows of ``to_records``, and this table only if ``systems`` is given.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score_systems({"a": [["cat"]], "b": [[]]}, [["cat"]], measures="F1")
        >>> print(table.to_text())
        system      F1
        a       1.0000
        b       0.0000
        """
        if form == "csv" and systems is not None:
            return self.to_csv(systems=systems, digits=digits, scale=scale).rstrip("\n")
        if graded and form not in ("markdown", "latex", "html"):
            raise InputError("not-applicable", name="graded", what=f"the format {form}")
        return self._render(form, digits, scale, graded=graded, systems=systems)

    def to_csv(self, *, systems: str | None = None, **shape: Any) -> str:
        """Write the rows of ``to_records`` in full precision; with ``systems`` the table of text.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat"]], measures="F1 MacroF1")
        >>> print(table.to_csv(systems="rows", digits=1, scale=100))
        system,F1,MacroF1
        preds,100.0,100.0
        """
        if systems is None:
            return super().to_csv()
        (rows,) = self._tables(shape.get("digits", 4), shape.get("scale", 1.0), systems)
        return reports.draw(rows, "csv") + "\n"

    def _tables(
        self, digits: int, scale: float, systems: str | None = None
    ) -> list[list[list[str]]]:
        check_choice("systems", systems, (None, *OUTPUT["systems"].choices))
        place = {(score.system, score.heading): score for score in self.scores}
        rows = [["measure", *map(_line, self.systems)]]
        for name in self.headings:
            scores = [place.get((system, name)) for system in self.systems]
            higher = any(s.measure.higher_is_better for s in scores if s is not None)
            rows.append(
                [
                    _line(name),
                    *reports.grade(
                        [_shown(score, digits, scale) for score in scores],
                        [
                            math.nan if score is None else score.value
                            for score in scores
                        ],
                        higher=higher,
                    ),
                ]
            )
            best = [None if score is None else score.best_threshold for score in scores]
            found = ["" if threshold is None else repr(threshold) for threshold in best]
            rows += [["  threshold", *found]] if any(found) else []
        rows += [
            [_line(one.heading), *("-" for _ in self.systems)]
            for one in self.not_computed
        ]
        many = len(self.systems) > len(self.headings) + len(self.not_computed)
        if systems == "rows" or (many and systems is None):
            rows = [
                [cell.strip() if cell[:1] == " " else cell for cell in one]
                for one in zip(*rows, strict=True)
            ]
            rows[0][0] = "system"
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
        parts: dict[tuple[str, str], dict[str, Score]] = {}
        for score in self.scores:
            if score.items is not None:
                parts.setdefault((score.system, score.part), {})[score.heading] = score
        texts: dict[str, list[Any]] = {"id": [], "system": [], "part": []}
        values: dict[str, list[Any]] = {heading: [] for heading in headings}
        for (system, part), found in parts.items():
            first = next(iter(found.values()))
            texts["id"] += map(plain_id, first.ids)
            texts["system"] += [system] * first.n
            texts["part"] += [part] * first.n
            for heading in headings:
                one = found.get(heading)
                values[heading].append(
                    np.full(first.n, np.nan) if one is None else one.items
                )
        if len(set(texts["part"])) < 2:
            del texts["part"]
        return Records(
            texts | {name: np.concatenate(some) for name, some in values.items()}
        )

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
            raise InputError(
                "lacks-measure", what="values of labels", example="MacroF1"
            )
        return Records.from_rows(
            _LABELS, (row for score in found for row in _label_rows(score))
        )

    def _first_of_systems(
        self, make: Callable[[Score], Any], what: str, example: str
    ) -> dict[str, Any]:
        """Return what is made of the first score of each system that it can be made of."""
        found: dict[str, Any] = {}
        for score in self.scores:
            if score.system not in found and (made := make(score)) is not None:
                found[score.system] = made
        if not found:
            raise InputError("lacks-measure", what=what, example=example)
        return found

    def classification_report(self) -> Records:
        """Return precision, recall, F1 and support of each label and their averages.

        Values are those of ``sklearn.metrics.classification_report``, of the labels, cutoff and
        decoding rule of the first measure of label sets. What is 0/0 is 0.

        Returns
        -------
        Records
            Columns "system", "label", "precision", "recall", "f1-score" and "support"; if scores
            have intervals also "precision_low", "precision_high" and so on, None where there is
            none. Behind the labels come "micro avg", "macro avg", "weighted avg" and "samples avg".

        Raises
        ------
        InputError
            If no measure is of label sets, or the data were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["MacroF1"])
        >>> for row in table.classification_report()[:2]:
        ...     print(*row.values())
        preds cat 1.0 1.0 1.0 1
        preds dog 0.0 0.0 0.0 1
        """

        def make(score: Score) -> Any:
            return None if score.measure["decode"] is None else _report(score)

        first = self._first_of_systems(make, "sets of labels", "F1")
        rows = [row for report in first.values() for row in report]
        return Records.from_rows(list(rows[0]), rows)

    def worst(self, n: int = 10, measure: str | Measure | None = None) -> Records:
        """Return the worst items of each system, by one measure.

        Parameters
        ----------
        n : int
            Items of each system, from 1. Those without a value are left out; of equal ones those
            are taken that the measures behind it find worse, and then those that come first.
        measure : str or Measure, optional
            A heading or a measure; the first that has item values where it is left out.

        Returns
        -------
        Records
            Columns "system", "measure", "id", "value", and what the item is: of labels "predicted"
            and "true"; of captions "caption" and "references", by SPICE and SPIDEr also the tuples
            "matched", "unmatched" and "missing", by METEOR the words "aligned", each with those of
            the reference and the stage, and by Soft-SPICE "nearest", each phrase with the nearest
            of the references and their similarity. The worst come first.

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
        return self._extreme("worst", n, measure)

    def best(self, n: int = 10, measure: str | Measure | None = None) -> Records:
        """Return the best items of each system, by one measure; else as ``worst``."""
        return self._extreme("best", n, measure)

    def _extreme(self, which: str, n: int, measure: str | Measure | None) -> Records:
        chosen = self.scores if measure is None else self.find(measure)
        if not chosen:
            raise self._unknown(measure)
        if n < 1:
            raise InputError(
                "bad-option", name=which, value=n, wanted="a whole number from 1"
            )
        if measure is not None and all(score.items is None for score in chosen):
            raise InputError("no-item-values", measure=measure)
        _item_headings(chosen)  # there is one
        rows: list[dict[str, Any]] = []
        for score in _first_of_items(chosen):
            if (values := score.items) is None:
                continue
            behind = [
                one
                for one in self.scores[self.scores.index(score) :]
                if (one.system, one.part) == (score.system, score.part)
            ]
            order = np.lexsort(
                [  # nan last
                    one.items
                    if one.measure.higher_is_better == (which == "worst")
                    else -one.items
                    for one in reversed(behind)
                    if one.items is not None
                ]
            )
            for place in order[: min(int(n), int((~np.isnan(values)).sum()))].tolist():
                item, value = (
                    plain_id(score.ids[place]),
                    finite_or_none(float(values[place])),
                )
                row = {
                    "system": score.system,
                    "measure": score.heading,
                    "id": item,
                    "value": value,
                }
                if score.task is not None:
                    show = find_kind(score.task.kind).show_item
                    row |= show(score.task, place, score.measure)
                rows.append(row)
        columns = dict.fromkeys(name for row in rows for name in row)
        return Records.from_rows(
            list(columns) or ["system", "measure", "id", "value"], rows
        )

    def _details(self) -> Iterator[tuple[str, Records]]:
        if any(score.per_label is not None for score in self.scores):
            yield "Labels", self.per_label()
        if undefined := self.undefined():
            yield "Undefined values", undefined

    def _examples(self, n: int) -> Iterator[tuple[str, Records]]:
        shown = [
            one for one in self.scores if one.task is not None and one.items is not None
        ]
        if shown:  # what matches by meaning shows most
            by = next(
                (one.heading for one in shown if one.measure["match"] is not None), None
            )
            number = max(len(one.items) for one in shown if one.items is not None)
            most = max(1, min(n, number // _PART_OF_ITEMS))
            yield "Worst items", self._without("best", self.worst(most, by))
            yield "Best items", self._without("worst", self.best(n, by))

    def _without(self, which: str, rows: Records) -> Records:
        """Leave out the items with the best, or the worst, possible value."""
        kept = []
        for row in rows:
            measure = self.find(row["measure"])[0].measure
            low, high = measure.definition.bounds
            is_high = (which == "best") == measure.higher_is_better
            if row["value"] != (high if is_high else low):
                kept.append(row)
        return Records.from_rows(rows.columns, kept)

    def matches(self) -> Records:
        """Return which prediction matched which reference, and what nothing matched.

        The first measure that matches labels by meaning is used, or that aligns words: METEOR.

        Returns
        -------
        Records
            Of labels, columns "id", "system", "rank" (from 1), "prediction", "reference",
            "reason", "similarity" in [-1, 1] and "nearest", the reference that the similarity is
            of. The reason is "equal" if both labels share a term, "same name" if they have forms of
            one name, "same synset" if they have terms of one synset of WordNet (only the model
            "same" knows names and synsets), and otherwise "similar".
            A prediction without a match has no reason, and the similarity to its nearest reference;
            a reference that nothing matched has no rank and no prediction. Of captions, "id",
            "system", "start" (of words in the candidate, from 1), "prediction", "number" (of the
            best reference, from 1), "reference_start", "reference" and "stage".

        Raises
        ------
        InputError
            If no measure matches labels or words, or items were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "car"]], measures=["SemF1(threshold=0.6)"])
        >>> [(row["prediction"], row["reference"]) for row in table.matches()]
        [('cat', 'cat'), (None, 'car')]
        """
        from semmetrics.kinds.labels.items import match_rows

        heading = find_matching_heading(self.scores)
        found = [score for score in self.scores if score.heading == heading]
        if any(score.task is None for score in found):
            raise InputError("rows-not-kept")
        matches = found[0].measure.definition.extra.get("matches", match_rows)
        rows = [
            {"id": row.pop("id"), "system": score.system, **row}
            for score in found
            for row in matches(score.task, score.measure)
        ]
        return Records.from_rows(list(rows[0]) if rows else _MATCHES, rows)

    def confusion(self) -> Records:
        """Return how many images of each class are taken for each class, where there are any.

        The first measure of each system that predicts one class for each image says among which
        candidates; all images are counted. Of label sets the first measure of sets counts in how
        many items a label is right, a wrong one may stand for one that is missed (by a measure of
        meaning: matches it), and a label is missed, or wrong, alone.

        Returns
        -------
        Records
            Columns "system", "measure", "true", "predicted" (None for nothing) and "count"; of
            label sets the most frequent first.

        Raises
        ------
        InputError
            If no measure predicts a class or sets of labels, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score(["cat", "cat"], ["cat", "dog"], measures=["PerClassAccuracy"])
        >>> [(row["true"], row["predicted"], row["count"]) for row in table.confusion()]
        [('cat', 'cat', 1), ('dog', 'cat', 1)]
        """
        what, example = (
            "predicted classes, or sets of labels",
            "F1, or PerClassAccuracy of classes",
        )
        return _rows_of(_CONFUSION, self._first_of_systems(_confused, what, example))

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

        def make(score: Score) -> Any:
            family: Any = score.measure.definition.family
            if not hasattr(family, "curve"):
                return None
            statistics, needed = score.statistics, family.statistic(score.measure)
            return family.curve(
                statistics.rows(needed), score.frame, statistics.item_weights
            )

        curves = self._first_of_systems(make, "a curve of seen and unseen", "AUSUC")
        every = curves.values()
        return Records(
            {
                "system": [name for name, curve in curves.items() for _ in curve.seen],
                "low": np.concatenate(
                    [np.append(-np.inf, curve.bounds) for curve in every]
                ),
                "high": np.concatenate(
                    [np.append(curve.bounds, np.inf) for curve in every]
                ),
                "unseen": np.concatenate([curve.unseen for curve in every]),
                "seen": np.concatenate([curve.seen for curve in every]),
                "H": np.concatenate([curve.harmonic for curve in every]),
            }
        )

    def precision_recall(self) -> Records:
        """Return precision and recall at each right item of the ranking by each class.

        Of each system by its first mAP or ROC-AUC, whose ties and interpolation count.

        Returns
        -------
        Records
            Columns "system", "measure", "label" (None where all classes are one), "recall" and
            "precision", a row a point, both in [0, 1], by rising recall.

        Raises
        ------
        InputError
            If no measure ranks items by class, or rows were not kept.

        Examples
        --------
        >>> import semmetrics
        >>> scores, truth = np.array([[9, 2], [6, 7], [3, 1]]) / 10, [["cat"], ["dog"], ["cat"]]
        >>> table = semmetrics.score(scores, truth, measures="mAP", classes=["cat", "dog"])
        >>> [(r["label"], r["recall"], round(r["precision"], 2)) for r in table.precision_recall()]
        [('cat', 0.5, 1.0), ('cat', 1.0, 0.67), ('dog', 1.0, 1.0)]
        """

        def make(score: Score) -> Any:
            points = getattr(score.measure.definition.family, "precision_recall", None)
            return points and [
                (score.system, score.heading, label, *point)
                for label, *both in points(
                    score.measure,
                    point_sums(score.measure, score.statistics),
                    score.frame,
                )
                for point in zip(*(side.tolist() for side in both), strict=True)
            ]

        return _rows_of(
            _PRECISION, self._first_of_systems(make, "items ranked by class", "mAP")
        )

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
        rows: list[dict[str, Any]] = []
        for score in self.scores:
            own: dict[str, Any] = {"system": score.system, "measure": score.heading}
            average = score.measure["average"]
            units = {"example": score.unit, "macro": "label", "weighted": "label"}
            for cause, number in score.undefined.items():
                of_item = score.unit if average is None and cause in CAUSES else None
                unit = (
                    "label" if cause == "absent" else of_item or units.get(str(average))
                )
                policy = (
                    None if score.measure[cause] is None else str(score.measure[cause])
                )
                rows.append(
                    own
                    | {"cause": cause, "unit": unit, "policy": policy, "count": number}
                )
            if score.ci is not None and score.ci.undefined:
                cause = "resample" if score.ci.method == "percentile" else "replicate"
                rows.append(
                    own
                    | {"cause": cause, "policy": "skip", "count": score.ci.undefined}
                )
        return Records.from_rows(_UNDEFINED, rows)


# in the class itself they would be taken for defaults
for _name in (
    "facts",
    "understood",
):
    setattr(ScoreTable, _name, _Deferred(_name))


def _item_headings(scores: Sequence[Score]) -> list[str]:
    """The measures that have a value for an item alone."""
    found = list(
        dict.fromkeys(score.heading for score in scores if score.items is not None)
    )
    if not found:
        raise InputError("lacks-measure", what="item values", example="F1")
    return found


def _first_of_items(scores: Sequence[Score]) -> list[Score]:
    """Return the scores of the first measure of each part that has values of items."""
    first = {
        score.part: score.heading
        for score in reversed(scores)
        if score.items is not None
    }
    return [score for score in scores if score.heading == first.get(score.part)]


def _rows_of(
    columns: Sequence[str], found: dict[str, list[tuple[Any, ...]]]
) -> Records:
    rows = (
        dict(zip(columns, row, strict=True)) for some in found.values() for row in some
    )
    return Records.from_rows(columns, rows)


def _label_rows(score: Score) -> Iterator[dict[str, Any]]:
    """Yield the labels of a score; a number that is not finite is None, a whole count an int."""
    columns = score.per_label or {}
    shared = {"system": score.system, "measure": score.heading}
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = shared | dict(zip(columns, values, strict=True))
        for name, value in row.items():
            if isinstance(value, float):
                whole = name != "value" and value.is_integer()
                row[name] = int(value) if whole else finite_or_none(value)
        yield row


_REPORT = {"precision": "Precision", "recall": "Recall", "f1-score": "F1"}
_AVERAGES = {
    "micro": "micro",
    "macro": "macro",
    "weighted": "weighted",
    "samples": "example",
}


def _report_measure(
    like: Score, name: str, average: str, policy: str, only: OptionValue = None
) -> tuple[Measure, str]:
    """Return a measure of the report under an average, made as a score was, and no note."""
    definition = parse(name)[0].definition
    is_of_labels = average in LABEL_AVERAGES
    chosen: dict[str, Any] = {}
    for option_name in ("decode", "keep_at_least"):
        chosen[option_name] = like.measure[option_name]
    for option in definition.options:
        if option.choices == POLICIES and option.applies(average):
            is_zero = is_of_labels and option.name != "absent"
            chosen[option.name] = "0" if is_zero else policy
    options = dict(definition(average=average, **chosen).options)
    if average != "example":
        options["labels"] = only or like.measure["labels"] or AUTO
    return Measure(definition, tuple(options.items()), like.measure.k), ""


def _report(like: Score) -> Iterator[dict[str, Any]]:
    """Yield the rows of a classification report of label sets that are made as those of a score.

    A label's value is the micro average over it alone; where that is 0/0 it has no interval. What
    is averaged in a resample are the labels that it has, unless there are labels without items.
    """
    if like.task is None:
        raise InputError("rows-not-kept")
    every = [_report_measure(like, name, "example", "0") for name in _REPORT.values()]
    every.append(_report_measure(like, "F1", "macro", "0"))
    made = evaluate(like.task, [one for one, _ in every], keep_rows=like.ci is not None)
    (macro,) = score_statistics({"": made}, {"": every[-1:]}, headings=[""])
    known: Any = macro.per_label
    hit, predicted, support = (known[name] for name in ("hit", "predicted", "support"))
    plain, named = list[Any](), dict[str, Any]()
    if like.ci is None:
        columns = (
            precision(hit, predicted),
            recall(hit, support),
            f1(hit, predicted, support),
        )
        plain = list(
            zip(*(np.nan_to_num(one).tolist() for one in columns), strict=True)
        )
    else:
        named = {f"only {label}": frozenset([label]) for label in known["label"]}
    least = "0" if (known["support"] + known["predicted"] == 0).any() else "skip"
    rows: list[Any] = [("micro", "skip", one) for one in named]
    rows += [
        (one, least if one in LABEL_AVERAGES else "0") for one in _AVERAGES.values()
    ]
    every = [
        _report_measure(like, name, *row) for row in rows for name in _REPORT.values()
    ]
    ci = None if like.ci is None else like.ci.bootstrap
    if ci and ci.method == default_method(like.measure):
        ci = replace(ci, method=AUTO)
    made = replace(made, named={**made.named, **named})
    scores = iter(
        score_statistics({"": made}, {"": every}, headings=[""] * len(every), ci=ci)
    )
    labels = [*known["label"], *(f"{name} avg" for name in _AVERAGES)]
    numbers = support.tolist() + [support.sum().item()] * len(_AVERAGES)
    for place, (label, n) in enumerate(zip(labels, numbers, strict=True)):
        row: dict[str, Any] = {"system": like.system, "label": label}
        row |= zip(_REPORT, plain[place] if place < len(plain) else (), strict=False)
        for name in _REPORT:
            if name not in row:
                row |= _report_cells(name, next(scores))
        yield row | {"support": int(n) if float(n).is_integer() else n}


def _report_cells(name: str, score: Score) -> dict[str, Any]:
    """Return the value of a score under a name, and the limits of its interval."""
    cells: dict[str, Any] = {name: 0.0 if math.isnan(score.value) else score.value}
    if score.ci:
        cells[f"{name}_low"] = finite_or_none(score.ci.low)
        cells[f"{name}_high"] = finite_or_none(score.ci.high)
    return cells


def draw_report(
    found: Records, form: str, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw a classification report; json and csv have full precision."""
    if form in ("json", "csv"):
        return found.render(form)

    def shown(row: dict[str, Any], name: str) -> str:
        parts = [row[name], *(row.get(f"{name}_{end}") for end in ("low", "high"))]
        text, *ends = (f"{one * scale:.{digits}f}" for one in parts if one is not None)
        return f"{text} [{', '.join(ends)}]" if ends else text

    rows = [row | {name: shown(row, name) for name in _REPORT} for row in found]
    names = ["system"] * (len({*found.column("system")}) > 1) + [
        "label",
        *_REPORT,
        "support",
    ]
    return Records.from_rows(names, rows).render(form, digits=digits)


def plain_id(name: Any) -> str | int:
    """Return the id of an item as JSON has it."""
    return name if isinstance(name, str) else int(name)


def find_matching_heading(scores: Sequence[Score]) -> str:
    """Find the first measure that matches labels by meaning, or aligns words.

    Raises
    ------
    InputError
        If there is none.
    """
    # exact measures do without it
    from semmetrics.metrics.semantic import (
        SemanticFamily,
    )

    for score in scores:
        definition = score.measure.definition
        if (
            isinstance(definition.family, SemanticFamily)
            or "matches" in definition.extra
        ):
            return score.heading
    what, example = (
        "matches of labels by meaning, or of words",
        "SemF1, or METEOR of captions",
    )
    raise InputError("lacks-measure", what=what, example=example)


def _split_key(key: Any) -> tuple[Any, Any]:
    """A key as a system, or None for all, and a measure."""
    return key if isinstance(key, tuple) and len(key) == 2 else (None, key)


def _line(text: str) -> str:
    return " ".join(text.splitlines())


def _shown(score: Score | None, digits: int, scale: float) -> str:
    if score is None:
        return ""
    scale = score.measure.definition.printed_scale(scale)
    text = reports.format_number(score.value * scale, digits)
    if score.ci is not None:
        ends = (
            reports.format_number(v * scale, digits)
            for v in (score.ci.low, score.ci.high)
        )
        text += f" [{', '.join(ends)}]"
    return text


def draw_systems(
    table: ScoreTable,
    *,
    width: int | None = None,
    systems: str | None = None,
    **shape: Any,
) -> str:
    """Draw the scores alone, with systems as rows or columns.

    Where a line is too narrow for systems as columns, they are rows, unless these are too wide, too
    (or columns were asked for): then they stand in parts one below the other.

    Parameters
    ----------
    table : ScoreTable
    width : int, optional
        Letters of a line; left out, there is no limit.
    systems : {"rows", "columns"}, optional
    **shape
        As for ``ScoreTable.render``.
    """

    def text(names: Sequence[str], how: str | None = "columns") -> str:
        some = ScoreTable([s for s in table if s.system in names], table.not_computed)
        (cells,) = some._tables(**{"digits": 4, "scale": 1.0, **shape}, systems=how)
        return reports.draw(cells)

    def fits(drawn: str) -> bool:
        return width is None or max(map(len, drawn.split("\n"))) <= width

    for how in (systems, "rows") if systems is None else (systems,):
        if table.systems and (
            fits(whole := text(table.systems, how)) or systems == "rows"
        ):
            return whole
    parts: list[list[str]] = []
    for system in table.systems:
        grown = [*parts[-1], system] if parts else []
        if grown and fits(text(grown)):
            parts[-1] = grown
        else:
            parts.append([system])
    return "\n\n".join(map(text, parts)) or "no measure could be computed"


def name_absent(table: ScoreTable) -> list[str]:
    """Name what was not computed, with the reason, which several measures may share."""
    reasons = gather((entry.reason, entry.heading) for entry in table.not_computed)
    return [
        f"not computed: {_join_headings(h)} - {reason}" for reason, h in reasons.items()
    ]


def _confused(score: Score) -> list[tuple[Any, ...]] | None:
    """Return rows of `_CONFUSION`; None if no class is predicted."""
    of = score.system, score.heading
    soft = score.measure["match"] is not None and score.measure["threshold"] is None
    if score.measure["decode"] is not None and not soft:  # soft measures match nothing
        from semmetrics.kinds.labels.items import count_confused

        if score.task is None:
            raise InputError("rows-not-kept")
        pairs = count_confused(score.task, score.measure).most_common()
        return [(*of, *pair, count) for pair, count in pairs]
    family: Any = score.measure.definition.family
    if not hasattr(family, "confusion"):
        return None
    counted = family.confusion(score.statistics.rows(family.statistic(score.measure)))
    if counted is None:
        return None
    names = [*score.frame.labels, None]  # -1 is the last
    true, predicted, counts = (column.tolist() for column in counted)
    return [
        (*of, names[t], names[p], n)
        for t, p, n in zip(true, predicted, counts, strict=True)
    ]


def _join_headings(headings: Sequence[str]) -> str:
    """Headings with their cutoffs once.

    Examples
    --------
    >>> _join_headings(["F1@1", "F1@3"]), _join_headings(["F1@1", "WMD@1", "F1@3", "WMD@3"])
    ('F1@1,3', 'F1, WMD (@1,3)')
    >>> _join_headings(["F1", "F1@1", "F1@3"])
    'F1, F1@1,3'
    """
    cuts: dict[str, list[str]] = {}
    by_cutoff: dict[str, list[str]] = {}
    for heading in headings:
        name, sign, cut = heading.rpartition("@")
        if sign and cut.isdecimal():
            cuts.setdefault(name, []).append(cut)
        else:
            by_cutoff.setdefault("", []).append(heading)
    for name, several in cuts.items():
        by_cutoff.setdefault(",".join(several), []).append(name)
    parts = []
    for cut, names in by_cutoff.items():
        sign = (f" (@{cut})" if len(names) > 1 else f"@{cut}") if cut else ""
        parts.append(", ".join(names) + sign)
    return ", ".join(parts)


def report_gaps(table: ScoreTable) -> list[str]:
    """Say what was undefined, by cause and counted; and what was not computed, with the reason."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    place = {heading: number for number, heading in enumerate(table.headings)}
    for record in sorted(table.undefined(), key=lambda one: place[one["measure"]]):
        cause = _CAUSE_TEXTS.get(record["cause"], record["cause"].replace("_", " "))
        if record["unit"]:
            cause += f" ({plural(record['unit'])})"
        if policy := _POLICIES.get(str(record["policy"])):
            cause += f", {policy}"
        counts.setdefault((record["measure"], cause), {})[record["system"]] = record[
            "count"
        ]
    groups: dict[tuple[str, ...], list[str]] = {}
    for (heading, cause), by_system in counts.items():
        key = (cause, *(str(by_system.get(system, 0)) for system in table.systems))
        groups.setdefault(key, []).append(heading)
    rows = []
    for (cause, *numbers), headings in groups.items():
        together = ", ".join(headings)
        shown = [together] if len(together) <= _LONG else headings
        rows += [[f"{heading}: {cause}", *numbers] for heading in shown]
    parts = [reports.align([["undefined", *table.systems], *rows])] if rows else []
    absent = name_absent(table)
    return [*parts, "\n".join(absent)] if absent else parts


def draw_worst(
    table: ScoreTable, number: int, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw the worst items of each system, and of each part of retrieval, each with what it is.

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
        missed     dog
        wrong      cow
    """
    records = list(table.worst(number))
    parts = []
    for score in _first_of_items(table.scores):
        of = f" of {visible(score.system)}" if len(table.systems) > 1 else ""
        definition, task = score.measure.definition, score.task
        lines = [
            f"{'lowest' if score.measure.higher_is_better else 'highest'} {score.heading}{of}"
        ]
        for record in records:
            if (record["system"], record["measure"]) == (score.system, score.heading):
                value = math.inf if record["value"] is None else record["value"]
                value *= definition.printed_scale(scale)
                lines.append(f"  {value:.{digits}f}  {on_one_line(str(record['id']))}")
                by_name = {"by_name": score.measure["embedding"] is None}
                describer = None if task is None else find_kind(task.kind)
                shown = (
                    [] if describer is None else describer.format_item(record | by_name)
                )
                lines += [f"    {line}" for line in shown]
        parts.append(
            "\n".join(lines if len(lines) > 1 else [*lines, "  no item has a value"])
        )
    return "\n\n".join(parts)


def report_shared(table: ScoreTable) -> str:
    """Say what signatures have in common of items, settings, data and version, and what differs.

    Examples
    --------
    >>> import semmetrics
    >>> measures = ["F1", "SemF1"]
    >>> table = semmetrics.score([["cat"]], [["dog"]], measures=measures, embedding="static")
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
        whose = (
            "share" if len(some) == len(table) else f"of {_name_scores(some, table)}"
        )
        groups.setdefault(whose, []).append(part)
    shared = "|".join(groups.pop("share", []))
    lines = [
        f"signatures {whose}: {'|'.join(parts)}" for whose, parts in groups.items()
    ]
    if len(lines) > _GROUPS:
        more = f"and {len(lines) - _GROUPS + 1} more"
        lines[_GROUPS - 1 :] = [
            f"{more}, see the signature of each score (--show-signatures)"
        ]
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


def draw_runs(
    table: ScoreTable,
    form: str,
    *,
    digits: int = 4,
    scale: float = 1.0,
    spell: Spelling = keyword,
) -> str:
    """Draw mean (std) of each measure over systems that are runs of one system.

    Parameters
    ----------
    table : ScoreTable
    form : {"table", "json", "csv", "markdown", "latex", "html"}
        json and csv have full precision, and the values of the runs.
    digits : int
    scale : float
    spell : callable
        How notes in JSON name options.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> print(draw_runs(table, "table"))
    measure  mean (std, n-1) of 2 runs
    O-F1               0.7500 (0.3536)
    """
    rows = [["measure", f"mean (std, n-1) of {pluralize(len(table.systems), 'run')}"]]
    if form == "csv":
        rows = [["measure", "mean", "std", "n", *table.systems]]
    entries: list[dict[str, Any]] = []
    for one in summarize(list(table)):
        scores = [score for score in table if score.heading == one.heading]
        runs = [
            {
                "system": score.system,
                "value": finite_or_none(score.value),
                "signature": score.signature,
            }
            for score in scores
        ]
        measure = scores[0].measure
        entries.append(
            reports.entry_of(one, RUNS, _RUN, measure=str(measure), runs=runs)
        )
        cells = [one.text(digits=digits, scale=measure.definition.printed_scale(scale))]
        if form == "csv":
            moments = map(reports.format_full, (one.mean, one.std))
            cells = [*moments, str(one.n), *map(reports.format_full, one.values)]
        rows.append([one.heading, *cells])
    if form == "json":
        found = table._entry(spell) | {
            "schema": "semmetrics.summaries/1",
            "summaries": entries,
        }
        del found["scores"]
        return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    absent = "" if form == "csv" else "-"
    rows += [
        [one.heading, *(absent for _ in rows[0][1:])] for one in table.not_computed
    ]
    return "\n".join([reports.draw(rows, form), *reports.comment(table, form)])


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

    @staticmethod
    def of(heading: str, values: Sequence[float], ddof: int = 1) -> RunSummary:
        """Summarize values; both moments are nan without any."""
        n = len(values)
        mean = math.fsum(values) / n if n else math.nan
        square = math.fsum((value - mean) ** 2 for value in values)
        std = math.sqrt(square / (n - ddof)) if n > ddof else math.nan
        return RunSummary(heading, mean, std, n, tuple(values), ddof)

    @property
    def moments(self) -> tuple[float, float]:
        """The mean and the standard deviation."""
        return self.mean, self.std

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
    found = []
    for heading, column in gather(
        (score.heading, score.value) for score in scores
    ).items():
        n = len(column)
        if n != len(runs):
            raise InputError(
                "wrong-count",
                heading,
                found=pluralize(n, "value"),
                wanted=pluralize(len(runs), "run"),
            )
        found.append(RunSummary.of(heading, column, ddof))
    return found
