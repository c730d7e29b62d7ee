"""Classes as a kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.core.hashing import identity_of
from semmetrics.data.rankings import RankedLists
from semmetrics.data.side_inputs import read_names
from semmetrics.data.tasks.classes import ALL, ClassTask
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
from semmetrics.kinds.classes import as_classes
from semmetrics.kinds.classes.class_lists import (
    EXAMPLE_LIST_OF_OPTION,
    find_list,
    read_numbers,
    requested_lists,
)
from semmetrics.kinds.classes.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
)
from semmetrics.kinds.classes.items import format_item, show_item
from semmetrics.kinds.classes.notes import class_notes
from semmetrics.kinds.classes.task import make_task
from semmetrics.metrics.class_predictions import SEEN, UNSEEN
from semmetrics.metrics.classes import RESERVED
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse
from semmetrics.options import OPTIONS

_MEASURES = ("PerClassAccuracy", "Accuracy")
_ZERO_SHOT_MEASURES = ("UnseenAccuracy", "SeenAccuracy", "H")
_RESTRICTED = "PerClassAccuracy(labels=unseen,candidates=unseen)"
"""The measure of plain zero-shot classification, which predicts only unseen classes."""
_NEEDS_RANKING = (
    "restricts predictions to some classes, but there is only one predicted "
    "class per image: give scores or ranked classes"
)
_CLASS_LIST_OPTIONS = ("classes", SEEN, UNSEEN, "pretraining")


def _ranks_classes(task: ClassTask) -> bool:
    """Return whether more than one class is ranked for some image."""
    if not isinstance(task.scores, RankedLists):
        return True
    return int(task.scores.side.sizes.max(initial=0)) > 1


def _has_scores(task: ClassTask) -> bool:
    """Return whether the predicted classes have scores."""
    if not isinstance(task.scores, RankedLists):
        return True
    return task.scores.side.scores is not None


class ClassKind(Kind):
    """Scores of classes, and the classes of images, as a kind of data. See `Kind` for the methods."""

    name = "classes"
    example_files = "--task classes --classes classes.txt --seen seen.txt --unseen unseen.txt scores.npy truth.txt"

    def read_side_inputs(self, options: Options) -> Options:
        """Read the lists of classes, the numbers of classes, and the weights."""
        files = options.read.for_side_inputs()
        given_lists = {}
        for key, names in (options.class_lists or {}).items():
            given_lists[str(key)] = names
        for name in given_lists:
            if name in (SEEN, UNSEEN, *RESERVED):
                raise InputError("reserved-list", "class_lists", name=name)
        changed: dict[str, Any] = {}
        for option in _CLASS_LIST_OPTIONS:
            changed[option] = read_names(
                options.value(option), files, option, "class name"
            )
        for option in EXAMPLE_LIST_OF_OPTION:
            changed[option] = read_numbers(options.value(option), files, option)
        changed["weights"] = sample_weights.read_weights(options.weights, files)
        class_lists = {}
        for name, names in given_lists.items():
            where = f"class_lists, {name}"
            class_lists[name] = read_names(names, files, where, "class name")
        changed["class_lists"] = class_lists
        return options.replace(**changed)

    def read(self, data: Any, source: str, options: Options) -> Any:
        """Read one side. The class list names the columns of a matrix."""
        return as_classes(
            data, source=source, classes=options.classes, options=options.read
        )

    def join(self, preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
        """Make the task of each system."""
        return {name: {"": make_task(run, ref, options)} for name, run in preds.items()}

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return accuracies, also of zero-shot classification if there are unseen classes."""
        all_tasks = [task for _, task in each_task(tasks)]
        for task in all_tasks:
            if SEEN not in task.named or UNSEEN not in task.named:
                return Defaults(_MEASURES)
        if not all(_ranks_classes(task) for task in all_tasks):
            absent = {_RESTRICTED: _NEEDS_RANKING}
            return Defaults((*_ZERO_SHOT_MEASURES, *_MEASURES), absent)
        return Defaults((*_ZERO_SHOT_MEASURES, _RESTRICTED, *_MEASURES))

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Return the lists of classes that a measure is missing, or that it needs a ranking."""
        (measure,) = parse(text, "classes")
        all_tasks = [task for _, task in each_task(tasks)]
        named: set[str] = set()
        for task in all_tasks:
            named.update(task.named)
        missing = []
        for name in requested_lists([measure]):
            if name in (SEEN, UNSEEN) and name not in named:
                missing.append(OPTIONS[name].keyword_and_flag)
        if missing:
            return CompletedMeasure(text, f"needs {' and '.join(missing)}")
        if measure["candidates"] in (None, ALL):
            return CompletedMeasure(text)
        if all(_ranks_classes(task) for task in all_tasks):
            return CompletedMeasure(text)
        return CompletedMeasure(text, _NEEDS_RANKING)

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Add to the tasks the lists of classes that measures name.

        Raises
        ------
        InputError
            If there is no such list, it contains none of the classes, or a measure needs scores.
        """
        list_names = requested_lists(measures)
        prepared = {}
        for system, parts in tasks.items():
            (task,) = parts.values()
            for measure in measures:
                if "scores" in measure.definition.needs and not _has_scores(task):
                    raise InputError(
                        "measure-needs-scores", system, measure=str(measure)
                    )
            named = dict(task.named)
            listed = {}
            for name in list_names:
                if name not in task.named:
                    classes = find_list(name, options, task.named, task.class_list)
                    named[name] = classes
                    listed[name] = identity_of(sorted(classes))
            prepared[system] = {"": replace(task, named=named, listed=listed)}
        return prepared

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        observations: ObservationsByTask,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return notes for the user on the data and the options."""
        return class_notes(tasks, measures, options, observations, inputs)

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


KIND = ClassKind()
