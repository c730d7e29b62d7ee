"""Label sets as a kind of data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from semmetrics.data.categories import mark_verified
from semmetrics.data.form import ReadOptions, is_truth
from semmetrics.data.lists import Lists
from semmetrics.data.swapped import check_labels
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import common
from semmetrics.kinds.base import (
    CompletedMeasure,
    Defaults,
    Kind,
    Measures,
    Notes,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.labels import read_labels
from semmetrics.kinds.labels.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
)
from semmetrics.kinds.labels.items import format_item, show_item
from semmetrics.kinds.labels.normalization import (
    normalization,
)
from semmetrics.kinds.labels.notes import check_shared, label_notes
from semmetrics.kinds.labels.prepare import prepare_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.definition import (
    DEFAULT_EMBEDDING,
    Definition,
    Measure,
)
from semmetrics.metrics.registry import parse
from semmetrics.options import OPTIONS

_EXACT = (
    "F1",
    "Precision",
    "Recall",
    "Jaccard",
    "SubsetAccuracy",
    "MicroF1",
    "MacroF1",
)
_SEMANTIC = ("SemF1", "SemPrecision", "SemRecall")
_GIVE_CLASSES = f"give the class list, {OPTIONS['classes'].both}"
_NUMBERS = (
    f"the labels are numbers; give names, or the class list, {OPTIONS['classes'].both}"
)
_RANKING = ("mAP", "LRAP", "RankingLoss", "CoverageError")


def _read_names(names: Any, files: ReadOptions) -> list[Any]:
    """Return a list of names, read if it is a path."""
    if isinstance(names, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_class_list

        return list(read_class_list(names, files))
    return list(names)


def unknown_values(given: str | float | None) -> tuple[float, ...]:
    """Return the values of cells that nobody verified.

    Raises
    ------
    InputError
        If one is not a number, or is 0 or 1.

    Examples
    --------
    >>> unknown_values("-1,nan"), unknown_values(-1), unknown_values(None)
    ((-1.0, nan), (-1.0,), ())
    """
    if given is None:
        return ()
    values = []
    for text in str(given).split(","):
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if value in (0.0, 1.0):
            wanted = "a number other than 0 and 1, nan, or several as -1,nan"
            raise InputError(
                "bad-option", name="unknown_value", value=given, wanted=wanted
            )
        values.append(value)
    return tuple(values)


def _ships(spec: Any) -> bool:
    """Return whether an embedding is named as a model of the package."""
    from semmetrics.embed.open import SHIPPED

    return isinstance(spec, str) and spec in SHIPPED


class LabelKind(Kind):
    """Label sets, as a kind of data. See `Kind` for the methods."""

    name = "labels"
    example_files = "preds.json gt.json"

    def read_side_inputs(self, options: Options) -> Options:
        """Read the class list, the labels to ignore, the weights, the taxonomy and vectors of words."""
        files = options.read.beside()
        taxonomy = options.taxonomy
        if taxonomy is not None:
            from semmetrics.data.taxonomy_files import as_taxonomy

            taxonomy = as_taxonomy(taxonomy, options=files)
            taxonomy = taxonomy.normalized(normalization(options.normalize))
        classes, ignore = options.classes, options.ignore
        return options.replace(
            embedding=common.read_embedding(options.embedding),
            classes=None if classes is None else _read_names(classes, files),
            ignore=_read_names(ignore, files),
            weights=common.read_weights(options.weights, files),
            taxonomy=taxonomy,
        )

    def read(self, data: Any, source: str, options: Options) -> Lists:
        """Read one side; the class list names the columns of a matrix."""
        unknown = unknown_values(options.unknown_value)
        if is_truth(options.read):
            truth = read_labels(data, source, options.classes, options.read, unknown)
            return mark_verified(truth)
        return read_labels(
            data,
            source,
            options.classes,
            options.read,
            unknown,
            scores=options.scores,
        )

    def join(self, preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
        """Make the task of each system."""
        given, tasks = options.set_size_probs, {}
        for name, pred in preds.items():
            check_labels(pred, ref)
            probs = given.get(name) if isinstance(given, Mapping) else given
            heads = common.read_set_size_probs(probs, options.read)
            tasks[name] = {"": label_task(pred, ref, options, heads)}
        return tasks

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return ranking measures for scores without a rule, otherwise set measures.

        Lists that are all numbers have no meaning to compare.
        """
        every = [task for _, task in each_task(tasks)]
        decided = options.top_k is not None or options.decode is not None
        if any(task.ranked for task in every) and not decided:
            return Defaults(_RANKING)
        if all(task.numbered for task in every):
            return Defaults(_EXACT, dict.fromkeys(_SEMANTIC, _NUMBERS))
        return Defaults((*_EXACT, *_SEMANTIC))

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Fill the size of the class list into a protocol's measure, or name what is lacking."""
        n_classes = max(
            (task.n_known for _, task in each_task(tasks)), key=lambda n: n or 0
        )
        if "{q}" in text and n_classes is None:
            return CompletedMeasure(
                text, f"needs the number of labels of the data set: {_GIVE_CLASSES}"
            )
        if "labels=given" in text and n_classes is None:
            return CompletedMeasure(
                text, f"is a mean over the whole dictionary: {_GIVE_CLASSES}"
            )
        scores = [task.pred.scores for _, task in each_task(tasks)]
        if "{logits}" in text and any(
            one is not None and not (one < 0).any() for one in scores
        ):
            return CompletedMeasure(
                text,
                "needs logits, or threshold=0.5 (--threshold 0.5): no score is below 0",
            )
        text = text.replace("{logits}", "at-least:0")
        given = common.by_name(options.embedding)
        text = text.replace("{q}", str(n_classes))
        (measure,) = parse(text)
        name = measure["embedding"]
        if name not in (None, DEFAULT_EMBEDDING, *given):
            give = f"embedding={{{name!r}: 'sbert:{name}'}} (--embedding {name}=sbert:{name})"
            return CompletedMeasure(text, f"needs the sentence model {name}: {give}")
        if name == DEFAULT_EMBEDDING and (name not in given or _ships(given[name])):
            needs = "needs word vectors (the paper's are GoogleNews word2vec)"
            return CompletedMeasure(text, f"{needs}: embedding= (--embedding FILE)")
        return CompletedMeasure(text, "")

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add what the measures need to the tasks; see `prepare_labels`."""
        return prepare_labels(tasks, measures, options)

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        noted: Notes,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return what a user should know besides the scores."""
        return label_notes(tasks, measures, options, noted, inputs)

    def check_shared(
        self, noted: Iterable[Any], options: Options, names: Sequence[str]
    ) -> None:
        """Raise an error if no label or caption has anything in common with a given input."""
        check_shared(noted, options, names)

    def describe(self, data: Any) -> dict[str, Any]:
        """Return a record that describes one input."""
        return describe(data)

    def format_description(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the lines of a description by their names."""
        return format_description(record)

    def show_item(self, task: Any, row: int, measure: Measure) -> dict[str, Any]:
        """Return a record that shows one item as a measure sees it."""
        return show_item(task, row, measure)

    def format_item(self, record: Mapping[str, Any]) -> list[str]:
        """Return the lines that show an item."""
        return format_item(record)

    def explain_definition(self, definition: Definition) -> dict[str, str]:
        """Return what a definition means for this kind, by name."""
        return explain_definition(definition)

    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return what a protocol means for this kind, by name."""
        return explain_protocol(protocol)


KIND = LabelKind()
