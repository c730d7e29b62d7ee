"""Captions as a kind of data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError, why_not
from semmetrics.kinds import embeddings, sample_weights
from semmetrics.kinds.base import (
    CompletedMeasure,
    Defaults,
    Kind,
    Measures,
    Notes,
    Options,
    Tasks,
)
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
    format_item,
    show_item,
)
from semmetrics.kinds.captions.notes import caption_notes, check_shared
from semmetrics.kinds.captions.prepare import prepare_captions
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse
from semmetrics.text.tokenizers import CachingTokenizer, open_tokenizer

if TYPE_CHECKING:
    pass
from semmetrics.kinds.captions.prepare import HUMAN, read_frequencies
from semmetrics.kinds.captions.scene_graphs import (
    OpenGraphs,
    open_tuples,
    parse_captions,
)
from semmetrics.kinds.captions.task import join_captions, leave_one_out

_DEFAULTS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")


class CaptionKind(Kind):
    """Captions, as a kind of data. See `Kind` for the methods."""

    name = "captions"
    example_files = "captions.json references.json"

    def read_side_inputs(self, options: Options) -> Options:
        """Open the tokenizer, and read weights, document frequencies and tuples from paths."""
        given = options.doc_freq
        if given is not None and options.protocol is not None:
            raise InputError(
                "not-applicable", name="doc_freq", what=f"protocol {options.protocol}"
            )
        files = options.read
        return options.replace(
            tokenizer=CachingTokenizer(open_tokenizer(options.tokenizer)),
            weights=sample_weights.read_weights(options.weights, files.beside()),
            doc_freq=read_frequencies(given, files.max_bytes),
            embedding=embeddings.read_embedding(options.embedding),
            tuples=OpenGraphs(
                open_tuples(options.tuples, files.max_bytes), options.progress
            ),
        )

    def read(self, data: Any, source: str, options: Options) -> Lists:
        """Read one side."""
        return as_captions(data, source=source, options=options.read)

    def join(self, preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
        """Make the task of each system; with ``score_references`` also that of the references."""
        shared = {name: options.value(name) for name in ("tokenizer", "weights")}
        tasks = {
            name: {"": join_captions(pred, ref, missing=options.missing, **shared)}
            for name, pred in preds.items()
        }
        if options.score_references and HUMAN in tasks:
            raise InputError("duplicate", role="the system", value=HUMAN)
        if options.score_references:
            tasks[HUMAN] = {"": leave_one_out(ref, **shared)}
        return tasks

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return the measures that need nothing beside the library."""
        return Defaults(_DEFAULTS)

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Name what a measure lacks that reads data of a package, or takes scene graphs."""
        (measure,), graphs = parse(text), options.tuples
        if measure["parser"] is not None:
            try:  # only parsing tells whether all captions have a graph; the parses are kept
                # what may be missing comes before captions are parsed
                graphs[str(measure["parser"])]
                parse_captions(tasks, [measure], graphs)
            except InputError as error:
                return CompletedMeasure(text, str(error))
        elif open_data := measure.definition.extra.get("open"):
            return CompletedMeasure(
                text, why_not(lambda: open_data(measure, options.progress))
            )
        return CompletedMeasure(text, "")

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add what the measures need to the tasks; see `prepare_captions`."""
        return prepare_captions(tasks, measures, options)

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        noted: Notes,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return what a user should know besides the scores."""
        return caption_notes(tasks, measures, options, noted, inputs)

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


KIND = CaptionKind()
