"""Captions as a kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError, message_of_error
from semmetrics.kinds import embeddings, sample_weights
from semmetrics.kinds.base import (
    CompletedMeasure,
    Defaults,
    Kind,
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
)
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
)
from semmetrics.kinds.captions.items import format_item, show_item
from semmetrics.kinds.captions.notes import caption_notes, check_shared
from semmetrics.kinds.captions.prepare import prepare_captions
from semmetrics.kinds.captions.scene_graphs import OpenGraphs, parse_captions
from semmetrics.kinds.captions.side_inputs import open_tuples, read_frequencies
from semmetrics.kinds.captions.task import HUMAN, join_captions, leave_one_out
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse
from semmetrics.text.tokenizers import CachingTokenizer, open_tokenizer

_DEFAULT_MEASURES = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")


class CaptionKind(Kind):
    """Captions, as a kind of data. See `Kind` for the methods."""

    name = "captions"
    example_files = "captions.json references.json"

    def read_side_inputs(self, options: Options) -> Options:
        """Open the tokenizer, and read weights, document frequencies and tuples from paths."""
        if options.doc_freq is not None and options.protocol is not None:
            what = f"protocol {options.protocol}"
            raise InputError("not-applicable", name="doc_freq", what=what)
        files = options.read
        tokenizer = CachingTokenizer(open_tokenizer(options.tokenizer))
        weights = sample_weights.read_weights(options.weights, files.for_side_inputs())
        doc_freq = read_frequencies(options.doc_freq, files.max_bytes)
        embedding = embeddings.read_embedding(options.embedding)
        tuples = open_tuples(options.tuples, files.max_bytes)
        return options.replace(
            tokenizer=tokenizer,
            weights=weights,
            doc_freq=doc_freq,
            embedding=embedding,
            tuples=OpenGraphs(tuples, options.progress),
        )

    def read(self, data: Any, source: str, options: Options) -> Lists:
        """Read one side."""
        return as_captions(data, source=source, options=options.read)

    def join(self, preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
        """Make the task of each system and, if requested, the task of the references."""
        tasks: dict[str, dict[str, Any]] = {}
        for system, pred in preds.items():
            task = join_captions(
                pred,
                ref,
                tokenizer=options.tokenizer,
                missing=options.missing,
                weights=options.weights,
            )
            tasks[system] = {"": task}
        if options.score_references:
            if HUMAN in tasks:
                raise InputError("duplicate", role="the system", value=HUMAN)
            task = leave_one_out(
                ref, tokenizer=options.tokenizer, weights=options.weights
            )
            tasks[HUMAN] = {"": task}
        return tasks

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return the measures that need no other package and no scene graphs."""
        return Defaults(_DEFAULT_MEASURES)

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Return which data or scene graphs a measure is missing."""
        (measure,) = parse(text)
        open_data = measure.definition.extra.get("open")
        missing = ""
        if measure["parser"] is not None:
            # Only parsing shows whether every caption has a graph. The parses are stored.
            missing = message_of_error(
                partial(parse_captions, tasks, [measure], options.tuples)
            )
        elif open_data:
            missing = message_of_error(partial(open_data, measure, options.progress))
        return CompletedMeasure(text, missing)

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add what the measures need to the tasks. See `prepare_captions`."""
        return prepare_captions(tasks, measures, options)

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        observations: ObservationsByTask,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return notes for the user on the data and the options."""
        return caption_notes(tasks, measures, options, observations, inputs)

    def check_shared(
        self, observations: Iterable[Any], options: Options, names: Sequence[str]
    ) -> None:
        """Raise an error if no caption has a word of the given frequencies or vectors."""
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
        """Return lines that explain a measure for this kind, by their names."""
        return explain_definition(definition)

    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return lines that explain a protocol for this kind, by their names."""
        return explain_protocol(protocol)


KIND = CaptionKind()
