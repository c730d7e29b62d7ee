"""Tables of scores, with look-ups, records, items, labels and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from threading import RLock
from typing import Any, Literal, overload

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds.base import name_task
from semmetrics.messages import Spelling, did_you_mean, keyword, listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.reports import Records, ScaledResult, cells, draw
from semmetrics.reports.html_tables import (
    LEFT,
    draw_html_list,
    draw_html_table,
    fold_html,
)
from semmetrics.scoring import label_records
from semmetrics.scoring.classification_report import report_classification
from semmetrics.scoring.item_records import (
    find_extreme_items,
    headings_with_items,
    list_items,
)
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score_cells import (
    NOTHING_COMPUTED,
    describe_not_computed,
    list_headings,
    list_systems,
    score_cells,
)

_MAX_SHOWN_MEASURES = 60
_MAX_SHOWN_SYSTEMS = 10
_SHARE_OF_WORST_ITEMS = 4
"""A report shows at most one quarter of the items as the worst."""
_RECORD_COLUMNS = (
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
_NUMBER_COLUMNS = ("value", "ci_low", "ci_high", "ci_level")

_LAZY_LISTS_LOCK = RLock()


class _LazyList:
    """A list attribute that may be set to a function, which is called at the first read.

    All such attributes of an object are computed together, since their functions hold
    references to the inputs. The lock gives all threads the same lists.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        attributes = vars(instance)
        with _LAZY_LISTS_LOCK:
            for name, value in list(attributes.items()):
                if callable(value):
                    attributes[name] = value()
        return attributes[self.name]

    def __set__(
        self, instance: object, value: list[Any] | Callable[[], list[Any]]
    ) -> None:
        vars(instance)[self.name] = value


@by_value()
@dataclass(frozen=True, eq=False)
class ScoreTable(ScaledResult):
    """Scores of one or more systems: a sequence of Score, with notes.

    Tables are equal if all attributes are equal: the scores, compared as by `Score`, and
    the notes, which contain file names. To compare only the scores, compare
    ``table.scores``.

    Attributes
    ----------
    scores : list of Score
        System by system.
    not_computed : list of NotComputed
        Measures of a protocol that this input does not allow, with the reasons.
    facts : list of Fact
        Unusual properties of the input, and options without an effect. ``notes`` has
        them as text.
    understood : list of str
        How each input was read.
    differences : list of str
        How a signature that was computed again differs from the original.

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
        """Return the attributes, with lists instead of functions."""
        names = [attribute.name for attribute in fields(self)]
        return {name: getattr(self, name) for name in names}

    # ---- look-ups ---------------------------------------------------------------------

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
        """Return a score by its index or its measure, or a table for a slice.

        The name of a measure may have any spelling and case: ``table[0]``, ``table[-1]``,
        ``table["MicroF1"]``, ``table[parse("F1@3")[0]]``. With several systems use
        ``table[system, measure]``.

        Raises
        ------
        IndexError
            If the index is out of range.
        UnknownKeyError
            If no score or several scores match. It is a KeyError and an InputError.
        """
        if isinstance(key, slice):
            return replace(self, scores=self.scores[key])
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            return self.scores[key]
        matches = self.find(key)
        if not matches:
            raise self._unknown_key_error(key)
        if len(matches) > 1:
            raise _ambiguous_key_error(key, matches)
        return matches[0]

    def _unknown_key_error(self, key: Any) -> UnknownKeyError:
        """Return the error for a measure or a system that is not in the table."""
        system, measure = _split_key(key)
        what = "score"
        value = measure
        known = self.headings
        if system is not None and system not in self.systems:
            what = "system"
            value = system
            known = self.systems
        choices = f"choose one of {listing(known)}"
        if len(known) == 1:
            choices = f"the table has only {listing(known)}"
        remedy = did_you_mean(str(value), known, choices)
        return UnknownKeyError("unknown-name", what=what, value=value, remedy=remedy)

    def __contains__(self, key: object) -> bool:
        """Return whether the table has a score, or a score of a measure."""
        if isinstance(key, Score) and key in self.scores:
            return True
        return bool(self.find(key))

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the score of a measure like ``table[key]``, or the default.

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures="F1 MicroRecall")
        >>> table.get("F1").value == table[0].value, table.get("F2"), "MicroRecall" in table
        (True, None, True)
        """
        if self.find(key):
            return self[key]
        return default

    def find(self, key: Any) -> list[Score]:
        """Return the scores of a measure, by heading, name, alias, or the measure itself."""
        system, measure = _split_key(key)
        scores = self.scores
        if system is not None:
            scores = [score for score in scores if score.system == system]
        if isinstance(measure, Measure):
            return [score for score in scores if _is_of_measure(score, measure)]
        if not isinstance(measure, str):
            return []
        all_names = {score.names for score in scores}
        matching = matching_names(measure, all_names)
        return [score for score in scores if score.names in matching]

    @property
    def systems(self) -> list[str]:
        """The systems, in order."""
        return list_systems(self.scores)

    @property
    def headings(self) -> list[str]:
        """The headings of the measures, in order."""
        return list_headings(self.scores)

    def _systems(self) -> set[str]:
        """Return the names that notes may begin with: systems, or parts of divided systems."""
        divided_systems = {score.system for score in self.scores if score.part}
        names = set()
        for score in self.scores:
            if score.part or score.system not in divided_systems:
                names.add(name_task(score.system, score.part))
        return names

    # ---- values -----------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return {measure: value}, or with several systems {system: {measure: value}}.

        Measures have the names that were requested, or else their headings. Undefined
        values are nan. ``to_dicts`` has all details of each score.

        Examples
        --------
        >>> import semmetrics
        >>> semmetrics.score([["cat"]], [["cat", "dog"]], measures="MacroRecall f1").to_dict()
        {'MacroRecall': 0.5, 'f1': 0.6666666666666666}
        """
        values: dict[str, dict[str, float]] = {system: {} for system in self.systems}
        for score in self.scores:
            values[score.system][score.name] = score.value
        if len(values) == 1:
            (values_of_system,) = values.values()
            return dict(values_of_system)
        return dict(values)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each score as in JSON."""
        return [score.to_dict() for score in self.scores]

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        return {**super()._entry(spell), "differences": self.differences}

    def to_records(self) -> Records:
        """Return one row per score, and then one per measure that was not computed.

        Returns
        -------
        Records
            Columns "system", "part", "heading", "measure", "value", "ci_low", "ci_high",
            "ci_level", "ci_method", "unit", "n", "undefined" ("cause=number", separated
            by semicolons), "signature" and "reason". Undefined values and limits are
            None. If a measure was not computed, its value is None, and "reason" is the
            reason. Otherwise "reason" is None.
        """
        rows = []
        for score in self.scores:
            row = score.to_dict()
            for name, value in (row["ci"] or {}).items():
                row[f"ci_{name}"] = value
            counts = [f"{cause}={count}" for cause, count in score.undefined.items()]
            row["part"] = score.part
            row["undefined"] = ";".join(counts)
            rows.append(row)
        for system in self.systems:
            for measure in self.not_computed:
                rows.append({**vars(measure), "system": system})
        records = Records.from_rows(_RECORD_COLUMNS, rows)
        numbers = {}
        for name in _NUMBER_COLUMNS:
            numbers[name] = np.array(records.column(name), np.float64)
        return records.with_columns(**numbers)

    # ---- tables -----------------------------------------------------------------------

    def _tables(
        self, digits: int, scale: float, systems: str | None = None
    ) -> list[list[list[str]]]:
        rows = score_cells(self.scores, self.not_computed, digits, scale, systems)
        return [rows]

    def _lines(self, digits: int = 4) -> list[str]:
        """Return the measures that were not computed, and a line that counts the notes."""
        lines = describe_not_computed(self.not_computed)
        n_notes = len(self.notes)
        n_undefined = sum(record["count"] for record in self.undefined())
        counts = []
        if n_notes:
            counts.append(f"{pluralize(n_notes, 'note')} (.notes)")
        if n_undefined:
            undefined_values = pluralize(n_undefined, "undefined value")
            counts.append(f"{undefined_values} (.undefined())")
        if self.differences:
            differences = pluralize(len(self.differences), "difference")
            counts.append(f"{differences} (.differences)")
        if counts:
            lines.append(", ".join(counts))
        return lines

    def __repr__(self) -> str:
        table_text = NOTHING_COMPUTED
        if self.scores:
            table_text = draw(score_cells(self._shown_scores(), self.not_computed))
        return "\n".join([table_text, *self._hidden_line(), *self._lines()])

    def _repr_html_(self) -> str:
        shown_scores = self._shown_scores()
        html = draw_html_table(score_cells(shown_scores, self.not_computed))
        lines = self._hidden_line()
        for measure in self.not_computed:
            lines.append(f"not computed: {measure.heading} - {measure.reason}")
        html += draw_html_list([*lines, *self.notes, *self.differences])
        undefined = self.undefined()
        if undefined:
            html += fold_html("undefined", draw_html_table(cells(undefined, 4), LEFT))
        signatures = [["system", "measure", "signature"]]
        for score in shown_scores:
            signatures.append([score.system, score.heading, score.signature])
        html += fold_html("signatures", draw_html_table(signatures, LEFT))
        return f"<div>{html}</div>"

    def _shown_scores(self) -> list[Score]:
        """Return the scores of the first measures and systems, which fit on a screen."""
        headings = self.headings[:_MAX_SHOWN_MEASURES]
        systems = self.systems[:_MAX_SHOWN_SYSTEMS]
        scores = []
        for score in self.scores:
            if score.system in systems and score.heading in headings:
                scores.append(score)
        return scores

    def _hidden_line(self) -> list[str]:
        """Return a line that counts hidden measures and systems, if there are any."""
        n_hidden_measures = len(self.headings) - _MAX_SHOWN_MEASURES
        n_hidden_systems = len(self.systems) - _MAX_SHOWN_SYSTEMS
        hidden = []
        if n_hidden_measures > 0:
            hidden.append(pluralize(n_hidden_measures, "measure"))
        if n_hidden_systems > 0:
            hidden.append(pluralize(n_hidden_systems, "system"))
        if not hidden:
            return []
        return [f"… and {' and '.join(hidden)} more"]

    def render(
        self,
        form: str,
        *,
        digits: int = 4,
        scale: float = 1.0,
        graded: bool = False,
        systems: str | None = None,
    ) -> str:
        """Return the scores as "table", "json", "csv", "markdown", "latex" or "html".

        In Markdown, LaTeX and HTML the best value of each measure is bold.

        Parameters
        ----------
        form : str
        digits : int
            The number of decimals.
        scale : float
            Multiplies values in [-1, 1], CIDEr, SPICE and SPIDEr.
        graded : bool
            Whether to color all values from the worst (red) to the best (green). LaTeX
            needs the packages booktabs, and xcolor with the option [table].
        systems : {"rows", "columns"}, optional
            Default: systems are rows if there are more systems than measures. CSV has
            the rows of ``to_records``, unless ``systems`` is given.

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
        """Return the rows of ``to_records`` as CSV in full precision.

        Parameters
        ----------
        systems : {"rows", "columns"}, optional
            Return the table of ``to_text`` instead.
        **shape
            The keywords ``digits`` and ``scale`` of ``render``.

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
        digits = shape.get("digits", 4)
        scale = shape.get("scale", 1.0)
        rows = score_cells(self.scores, self.not_computed, digits, scale, systems)
        return draw(rows, "csv") + "\n"

    # ---- items ------------------------------------------------------------------------

    def per_item(self) -> Records:
        """Return the value of each item, for measures that have values of items.

        Returns
        -------
        Records
            Columns "id", "system", "part" (if the data have several parts), and one for
            each measure with its heading.

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
        return list_items(self.scores)

    def worst(self, n: int = 10, measure: str | Measure | None = None) -> Records:
        """Return the worst items of each system, by one measure.

        Parameters
        ----------
        n : int
            The number of items per system, at least 1. Items without a value are left
            out. Items with equal values are ordered by the measures after it in the
            table, then by their position.
        measure : str or Measure, optional
            A heading or a measure. Default: the first with item values.

        Returns
        -------
        Records
            Columns "system", "measure", "id", "value", and the content of the item, worst
            items first. Items of labels have "predicted" and "true". Captions have
            "caption" and "references". SPICE and SPIDEr add the tuples that are
            "matched", "unmatched" and "missing". METEOR adds the "aligned" words, each
            with the word of the reference and the stage. Soft-SPICE adds "nearest", with
            the nearest phrase of the references for each phrase and their similarity.

        Raises
        ------
        InputError
            If the measure is not in the table or has no item values, or rows were not
            kept.

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
        """Return the best items of each system, by one measure. Otherwise as ``worst``."""
        return self._extreme("best", n, measure)

    def _extreme(
        self, end: Literal["worst", "best"], n: int, measure: str | Measure | None
    ) -> Records:
        chosen = self.scores if measure is None else self.find(measure)
        if not chosen:
            raise self._unknown_key_error(measure)
        if n < 1:
            wanted = "a positive integer"
            raise InputError("bad-option", name=end, value=n, wanted=wanted)
        if measure is not None and all(score.items is None for score in chosen):
            raise InputError("no-item-values", measure=measure)
        headings_with_items(chosen)  # raises an error without any
        return find_extreme_items(self.scores, chosen, n, end)

    # ---- labels and matches -----------------------------------------------------------

    def per_label(self) -> Records:
        """Return the value and counts of each label, for measures averaged over labels.

        Returns
        -------
        Records
            Columns "system", "measure", "label", "value", "support", "predicted" and
            "hit".

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
        return label_records.list_labels(self.scores)

    def classification_report(self) -> Records:
        """Return precision, recall, F1 and support of each label and their averages.

        Values are equal to ``sklearn.metrics.classification_report``. The labels, cutoff
        and decoding rule come from the first measure of label sets. A value that is 0/0
        is 0.

        Returns
        -------
        Records
            Columns "system", "label", "precision", "recall", "f1-score" and "support". If
            scores have intervals, also "precision_low", "precision_high" and so on, which
            are None without an interval. After the labels come the rows "micro avg",
            "macro avg", "weighted avg" and "samples avg".

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
        return report_classification(self.scores)

    def matches(self) -> Records:
        """Return which prediction matched which reference, and the labels without a match.

        The first measure is used that matches labels by meaning or, like METEOR, aligns
        words.

        Returns
        -------
        Records
            For labels, the columns "id", "system", "rank" (from 1), "prediction",
            "reference", "reason", "similarity" in [-1, 1], and "nearest", the reference
            with this similarity.

            The reason is "equal" if both labels share a term, "same name" if they have
            forms of one name, "same synset" if they have terms of one synset of WordNet,
            and otherwise "similar". Only the model "same" knows names and synsets. A
            prediction without a match has no reason, and the similarity to its nearest
            reference. A reference without a match has no rank and no prediction.

            For captions, the columns "id", "system", "start" (the position of the word in
            the candidate, from 1), "prediction", "number" (of the best reference, from
            1), "reference_start", "reference" and "stage".

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
        return label_records.list_matches(self.scores)

    def confusion(self) -> Records:
        """Return how often each class is predicted for each true class.

        For classes, the first measure of each system that predicts one class per image
        decides among which candidates. All images are counted.

        For label sets, the first measure of sets decides which labels count. A label is
        counted as correct, as confused with a label that is missed in the same item, or
        as missed or wrong on its own. A measure by meaning counts matching labels as
        confused.

        Returns
        -------
        Records
            Columns "system", "measure", "true", "predicted" (None for nothing) and
            "count". For label sets the most frequent rows come first.

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
        return label_records.list_confusions(self.scores)

    def curve(self) -> Records:
        """Return the accuracy on seen and unseen classes for every calibrating constant.

        The table must contain AUSUC or BestH.

        Returns
        -------
        Records
            Columns "system", "low" and "high" (the limits of the constants at which a
            point applies, None if infinite), "unseen", "seen" and "H", one row per point.

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
        return label_records.list_seen_unseen(self.scores)

    def precision_recall(self) -> Records:
        """Return precision and recall at each true item of the ranking by each class.

        The first mAP or ROC-AUC of each system is used, with its rules for ties and
        interpolation.

        Returns
        -------
        Records
            Columns "system", "measure", "label" (None if all classes are ranked
            together), "recall" and "precision", both in [0, 1]. One row per point, by
            rising recall.

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
        return label_records.list_precision_recall(self.scores)

    def undefined(self) -> Records:
        """Return how many items or labels have no value, by cause, and how they count.

        Returns
        -------
        Records
            Columns "system", "measure", "cause", "unit" (such as "image" or "label", or
            None for the value of the measure itself), "policy" ("0", "1", "skip" or
            "nan") and "count".

        Examples
        --------
        >>> import semmetrics
        >>> table = semmetrics.score([[], ["cat"]], [["cat"], ["cat"]], measures=["Precision"])
        >>> table.undefined()[0]
        {'system': 'preds', 'measure': 'Precision', 'cause': 'no_prediction', 'unit': 'image',
        'policy': '0', 'count': 1}
        """
        return label_records.count_undefined(self.scores)

    # ---- reports ----------------------------------------------------------------------

    def _details(self) -> Iterator[tuple[str, Records]]:
        if any(score.per_label is not None for score in self.scores):
            yield "Labels", self.per_label()
        undefined = self.undefined()
        if undefined:
            yield "Undefined values", undefined

    def _examples(self, n: int) -> Iterator[tuple[str, Records]]:
        n_items = 0
        measure_by_meaning = None
        for score in self.scores:
            if score.task is None or score.items is None:
                continue
            n_items = max(n_items, len(score.items))
            if measure_by_meaning is None and score.measure["match"] is not None:
                measure_by_meaning = score.heading
        if not n_items:
            return
        n_worst = max(1, min(n, n_items // _SHARE_OF_WORST_ITEMS))
        worst = self.worst(n_worst, measure_by_meaning)
        yield "Worst items", self._drop_perfect(worst, "best")
        best = self.best(n, measure_by_meaning)
        yield "Best items", self._drop_perfect(best, "worst")

    def _drop_perfect(self, records: Records, end: Literal["worst", "best"]) -> Records:
        """Drop the items that have the best, or the worst, possible value."""
        rows = []
        for row in records:
            measure = self.find(row["measure"])[0].measure
            low, high = measure.definition.bounds
            is_best = end == "best"
            bound = high if is_best == measure.higher_is_better else low
            if row["value"] != bound:
                rows.append(row)
        return Records.from_rows(records.columns, rows)


# In the class body, dataclass would read the descriptors as default values.
for _name in ("facts", "understood"):
    setattr(ScoreTable, _name, _LazyList(_name))


def _split_key(key: Any) -> tuple[Any, Any]:
    """Return the system, or None for all systems, and the measure of a key."""
    if isinstance(key, tuple) and len(key) == 2:
        system, measure = key
        return system, measure
    return None, key


def _is_of_measure(score: Score, measure: Measure) -> bool:
    """Return whether a score is of a measure, or its heading is the measure's name."""
    return measure == score.measure or str(measure) == score.heading


def _ambiguous_key_error(key: Any, matches: list[Score]) -> UnknownKeyError:
    """Return the error for a key that matches several scores."""
    _, measure = _split_key(key)
    headings = list_headings(matches)
    parts = {score.part for score in matches}
    if len(parts) > 1:
        choices = listing(f"{score.part} {measure}" for score in matches)
        remedy = f"choose one of the parts: {choices}"
    elif len(headings) > 1:
        remedy = f"choose one of {listing(headings)}"
    else:
        remedy = "write table[system, measure]"
    return UnknownKeyError("ambiguous-score", n=len(matches), key=key, remedy=remedy)
