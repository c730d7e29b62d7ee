"""Label sets as a kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from semmetrics.data.categories import mark_verified
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import is_truth
from semmetrics.data.swapped import check_labels
from semmetrics.errors import Fact
from semmetrics.kinds.base import (
    CompletedMeasure,
    Defaults,
    Kind,
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
)
from semmetrics.kinds.embeddings import read_embedding
from semmetrics.kinds.labels import read_labels
from semmetrics.kinds.labels.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
)
from semmetrics.kinds.labels.items import format_item, show_item
from semmetrics.kinds.labels.label_measures import complete_measure, default_measures
from semmetrics.kinds.labels.normalization import normalization
from semmetrics.kinds.labels.notes import label_notes
from semmetrics.kinds.labels.prepare import check_shared, prepare_labels
from semmetrics.kinds.labels.side_inputs import (
    read_class_names,
    read_set_size_probs,
    unknown_values,
)
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.sample_weights import read_weights
from semmetrics.metrics.definition import Definition, Measure


class LabelKind(Kind):
    """Label sets, as a kind of data. See `Kind` for the methods."""

    name = "labels"
    example_files = "preds.json gt.json"

    def read_side_inputs(self, options: Options) -> Options:
        """Read the class list, labels to ignore, weights, taxonomy and word vectors."""
        files = options.read.for_side_inputs()
        taxonomy = options.taxonomy
        if taxonomy is not None:
            from semmetrics.data.taxonomy_files import as_taxonomy

            taxonomy = as_taxonomy(taxonomy, options=files)
            taxonomy = taxonomy.normalized(normalization(options.normalize))
        embedding = read_embedding(options.embedding)
        classes = options.classes
        if classes is not None:
            classes = read_class_names(classes, files)
        return options.replace(
            embedding=embedding,
            classes=classes,
            ignore=read_class_names(options.ignore, files),
            weights=read_weights(options.weights, files),
            taxonomy=taxonomy,
        )

    def read(self, data: Any, source: str, options: Options) -> Lists:
        """Read one side. The class list names the columns of a matrix."""
        unknown = unknown_values(options.unknown_value)
        classes = options.classes
        if is_truth(options.read):
            truth = read_labels(data, source, classes, options.read, unknown)
            return mark_verified(truth)
        return read_labels(
            data, source, classes, options.read, unknown, scores=options.scores
        )

    def join(self, preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
        """Make the task of each system."""
        tasks = {}
        for system, pred in preds.items():
            check_labels(pred, ref)
            probs = options.set_size_probs
            if isinstance(probs, Mapping):
                probs = probs.get(system)
            set_size_probs = read_set_size_probs(probs, options.read)
            tasks[system] = {"": label_task(pred, ref, options, set_size_probs)}
        return tasks

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return measures of rankings for scores without a rule, otherwise measures of sets."""
        return default_measures(tasks, options)

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Replace the placeholders in a measure of a protocol, or report a missing input."""
        return complete_measure(text, tasks, options)

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add label vectors and the taxonomy to the tasks."""
        return prepare_labels(tasks, measures, options)

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        observations: ObservationsByTask,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return notes for the user on the data and the options."""
        return label_notes(tasks, measures, options, observations, inputs)

    def check_shared(
        self, observations: Iterable[Any], options: Options, names: Sequence[str]
    ) -> None:
        """Raise an error if no label is in the taxonomy or in the embedding of the user."""
        check_shared(observations, options, names)

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
        """Return lines that explain a measure for label sets, by their names."""
        return explain_definition(definition)

    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return lines that explain a protocol for label sets, by their names."""
        return explain_protocol(protocol)


KIND = LabelKind()
