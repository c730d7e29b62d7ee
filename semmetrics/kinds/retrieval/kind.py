"""Retrieval as a kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.side_inputs import read_names
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import sample_weights
from semmetrics.kinds.base import (
    CompletedMeasure,
    Defaults,
    Kind,
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.captions.side_inputs import open_tuples, read_frequencies
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.kinds.retrieval.computed_phi import read_caption_texts
from semmetrics.kinds.retrieval.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
)
from semmetrics.kinds.retrieval.embeddings import EMBEDDINGS, read_embeddings
from semmetrics.kinds.retrieval.items import format_item, show_item
from semmetrics.kinds.retrieval.notes import retrieval_notes
from semmetrics.kinds.retrieval.phi import chosen_phi, phi_measures, with_phi
from semmetrics.kinds.retrieval.task import make_parts
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.families import flat_terms
from semmetrics.metrics.parsing import parse
from semmetrics.metrics.retrieval import level_of

_DEFAULT_MEASURES = (
    "HitRate@1",
    "HitRate@5",
    "HitRate@10",
    "Recall@10",
    "MRR",
    "MedR",
    "R-Precision",
)


class RetrievalKind(Kind):
    """Rankings of a gallery for each query, as a kind of data. See `Kind` for the methods."""

    name = "retrieval"
    example_files = "--task retrieval sims.npy positives.json"

    def read_side_inputs(self, options: Options) -> Options:
        """Read names, positives of columns, captions, frequencies, tuples and weights."""
        files = options.read
        captions = read_caption_texts(options)
        reverse_positives = options.reverse_positives
        if reverse_positives is not None:
            reverse_positives = as_candidates(
                reverse_positives, source="reverse_positives", options=files
            )
        return options.replace(
            queries=read_names(options.queries, files, "queries"),
            gallery=read_names(options.gallery, files, "gallery"),
            reverse_positives=reverse_positives,
            captions=captions,
            doc_freq=read_frequencies(options.doc_freq, files.max_bytes),
            tuples=open_tuples(options.tuples, files.max_bytes),
            weights=sample_weights.read_weights(
                options.weights, files.for_side_inputs()
            ),
        )

    def read(self, data: Any, source: str, options: Options) -> Any:
        """Read one side. Without predictions, read the embeddings that the options name."""
        embedded = [name for name in EMBEDDINGS if options.value(name) is not None]
        if embedded and data is None:
            return read_embeddings(options)
        if embedded and source != "gts":
            names = f"predictions and {embedded[0]}"
            raise InputError("conflicting-options", names=names)
        return as_candidates(data, source=source, options=options.read)

    def join(self, preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
        """Make the tasks of each system: one for each direction."""
        return {name: make_parts(run, ref, options) for name, run in preds.items()}

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return the measures that papers report, and Recall@10."""
        if options.direction == "both":
            return Defaults((*_DEFAULT_MEASURES, "Rsum"))
        return Defaults(_DEFAULT_MEASURES)

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Complete a measure with the phi that is given, or return why there is no phi."""
        (measure,) = parse(text, "retrieval")
        if not phi_measures([measure]):
            return CompletedMeasure(text)
        completed, missing = chosen_phi(measure, tasks, options)
        return CompletedMeasure(str(completed), missing)

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Check the levels of relevance of measures, and add the matrices phi that they need.

        Raises
        ------
        InputError
            If a measure has a level above 1, and the positives have no grades.
        """
        for measure in flat_terms(measures):
            level = level_of(measure)
            if level is None or level <= 1:
                continue
            for _, task in each_task(tasks):
                if task.grades is None:
                    raise InputError("no-grades", measure=measure, level=level)
        return with_phi(tasks, measures, options)

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        observations: ObservationsByTask,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return notes for the user on the data and the options."""
        return retrieval_notes(tasks, measures, options, observations, inputs)

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
        """Return lines that explain a measure for this kind, by their names."""
        return explain_definition(definition)

    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return lines that explain a protocol for this kind, by their names."""
        return explain_protocol(protocol)


KIND = RetrievalKind()
