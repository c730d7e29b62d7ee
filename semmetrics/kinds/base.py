"""The interface of a kind of data: labels, captions, retrieval or classes.

Conventions
-----------
Everything that differs between kinds is a method of `Kind`, from reading the inputs to the notes on
the result, so that other modules need not ask for the name of a kind. The only exception is the
function ``recognise`` in the package of each kind, which `semmetrics.kinds.recognition` describes.

A *task* has the predictions and the references of the same items. A kind makes one or more tasks
for each system, one for each *part* of the evaluation, such as each direction of retrieval. A part
has a name, which is "" if there is only one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from semmetrics.errors import Fact
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.metrics.definition import Definition, Measure

Options: TypeAlias = ResolvedOptions
"""The options of a score."""
Measures: TypeAlias = Sequence[Measure]
Tasks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The tasks by system and part."""
ObservationsByTask: TypeAlias = Mapping[str, Any]
"""The observations in each task, by the name of the task."""


class Defaults(NamedTuple):
    """The measures that are computed if the user requests none.

    Attributes
    ----------
    measures : sequence of str
    absent : mapping from measure to reason
        The usual measures of the kind that cannot be computed from this input.
    """

    measures: Sequence[str]
    absent: Mapping[str, str] = {}


class CompletedMeasure(NamedTuple):
    """A measure of a protocol, completed from the data.

    Attributes
    ----------
    text : str
        The measure, without placeholders, as it is parsed.
    missing : str
        The missing part of the data or the options, and the option to set. Empty if the measure
        can be computed.
    """

    text: str
    missing: str = ""


class Kind(ABC):
    """A kind of data that can be evaluated.

    Attributes
    ----------
    name : str
    example_files : str
        The names of files in command-line examples.
    """

    name: ClassVar[str]
    example_files: ClassVar[str]

    @abstractmethod
    def read_side_inputs(self, options: Options) -> Options:
        """Read the other inputs that options name, such as class lists and weights."""

    @abstractmethod
    def read(self, data: Any, source: str, options: Options) -> Any:
        """Read the predictions or the ground truth from a path or an object."""

    @abstractmethod
    def join(self, preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
        """Join the predictions of each system with the ground truth."""

    @abstractmethod
    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return the measures that are computed if the user requests none."""

    @abstractmethod
    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Replace the placeholders in a measure of a protocol, or report a missing input."""

    @abstractmethod
    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add the models and fits that measures need to the tasks."""

    @abstractmethod
    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        observations: ObservationsByTask,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return notes for the user on the data and the options.

        Parameters
        ----------
        tasks : mapping from system and part to Task
        measures : sequence of Measure
        options : ResolvedOptions
        observations : mapping from name of a task to Observations
            The observations that were made while the tasks were evaluated.
        inputs : sequence of Lists or Matrix
            The predictions of each system, then the ground truth.
        """

    def check_shared(
        self, observations: Iterable[Any], options: Options, names: Sequence[str]
    ) -> None:
        """Raise an error if an input that an option names has nothing in common with the data.

        Parameters
        ----------
        observations : iterable of Observations
            The observations in each task.
        options : ResolvedOptions
        names : sequence of str
            Some labels or captions of the data.
        """
        return

    @abstractmethod
    def describe(self, data: Any) -> dict[str, Any]:
        """Return a record that describes one input."""

    @abstractmethod
    def format_description(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the lines of a description by their names. An empty line is not shown."""

    @abstractmethod
    def show_item(self, task: Any, row: int, measure: Measure) -> dict[str, Any]:
        """Return a record that shows one item as a measure sees it."""

    @abstractmethod
    def format_item(self, record: Mapping[str, Any]) -> list[str]:
        """Return the lines that show an item."""

    @abstractmethod
    def explain_definition(self, definition: Definition) -> dict[str, str]:
        """Return lines that explain a measure for this kind of data, by their names.

        "options" has the command-line options that an example command needs.
        """

    @abstractmethod
    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return lines that explain a protocol for this kind of data, by their names."""


def each_task(tasks: Tasks) -> Iterator[tuple[str, Any]]:
    """Yield the name of each task and the task."""
    for system, parts in tasks.items():
        for part, task in parts.items():
            yield name_task(system, part), task


def name_task(system: str, part: str) -> str:
    """Return the name of a task in messages: the system, and its part if there are several."""
    return f"{system}, {part}" if part else system
