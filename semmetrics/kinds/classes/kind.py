"""Classes as a kind of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.core.hashing import identity_of
from semmetrics.data.rankings import RankedLists
from semmetrics.data.side_inputs import read_names
from semmetrics.data.tasks import ALL, ClassTask
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import sample_weights
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
from semmetrics.kinds.classes import as_classes
from semmetrics.kinds.classes.class_lists import _read_numbers, find_list, names_asked
from semmetrics.kinds.classes.description import (
    describe,
    explain_definition,
    explain_protocol,
    format_description,
    format_item,
    show_item,
)
from semmetrics.kinds.classes.notes import _NUMBERS, class_notes
from semmetrics.kinds.classes.task import make_task
from semmetrics.metrics.class_predictions import SEEN, UNSEEN
from semmetrics.metrics.classes import RESERVED
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse
from semmetrics.options import OPTIONS

_PLAIN = ("PerClassAccuracy", "Accuracy")
_GENERALISED = ("UnseenAccuracy", "SeenAccuracy", "H")
_LISTED = ("classes", SEEN, UNSEEN, "pretraining")
_ZERO_SHOT = "PerClassAccuracy(labels=unseen,candidates=unseen)"
_NEEDS_RANKING = (
    "restricts predictions to some classes, and there is one class for each image: give scores or "
    "ranked classes"
)


def _has_ranking(task: ClassTask) -> bool:
    """Tell whether more classes than one are ranked for some image."""
    lists = isinstance(task.scores, RankedLists)
    return not lists or int(task.scores.side.sizes.max(initial=0)) > 1  # type: ignore[union-attr]


class ClassKind(Kind):
    """Scores of classes, and the classes of images, as a kind of data. See `Kind` for the methods."""

    name = "classes"
    example_files = "--task classes --classes classes.txt --seen seen.txt --unseen unseen.txt scores.npy truth.txt"

    def read_side_inputs(self, options: Options) -> Options:
        """Read the lists of classes, their numbers, and the weights."""
        files = options.read.beside()
        lists = {str(name): some for name, some in (options.class_lists or {}).items()}
        for name in lists:
            if name in (SEEN, UNSEEN, *RESERVED):
                raise InputError("reserved-list", "class_lists", name=name)
        return options.replace(
            **{
                name: read_names(options.value(name), files, name, "class name")
                for name in _LISTED
            },
            **{
                name: _read_numbers(options.value(name), files, name)
                for name in _NUMBERS
            },
            weights=sample_weights.read_weights(options.weights, files),
            class_lists={
                name: read_names(some, files, f"class_lists, {name}", "class name")
                for name, some in lists.items()
            },
        )

    def read(self, data: Any, source: str, options: Options) -> Any:
        """Read one side; the class list names the columns of a matrix."""
        return as_classes(
            data, source=source, classes=options.classes, options=options.read
        )

    def join(self, preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
        """Make the task of each system."""
        return {name: {"": make_task(run, ref, options)} for name, run in preds.items()}

    def default_measures(self, tasks: Tasks, options: Options) -> Defaults:
        """Return accuracies, and those of generalised zero-shot learning where classes are unseen."""
        every = [task for _, task in each_task(tasks)]
        if not all({SEEN, UNSEEN} <= {*task.named} for task in every):
            return Defaults(_PLAIN)
        if not all(map(_has_ranking, every)):
            return Defaults((*_GENERALISED, *_PLAIN), {_ZERO_SHOT: _NEEDS_RANKING})
        return Defaults((*_GENERALISED, _ZERO_SHOT, *_PLAIN))

    def complete_measure(
        self, text: str, tasks: Tasks, options: Options
    ) -> CompletedMeasure:
        """Name the lists of classes that a measure lacks."""
        (measure,), every = (
            parse(text, "classes"),
            [task for _, task in each_task(tasks)],
        )
        known = {name for task in every for name in task.named}
        asked = [name for name in names_asked([measure]) if name in (SEEN, UNSEEN)]
        if lacking := [OPTIONS[name].both for name in asked if name not in known]:
            return CompletedMeasure(text, f"needs {' and '.join(lacking)}")
        ranked = measure["candidates"] in (None, ALL) or all(map(_has_ranking, every))
        return CompletedMeasure(text, "" if ranked else _NEEDS_RANKING)

    def prepare(self, tasks: Tasks, measures: Measures, options: Options) -> Tasks:
        """Hand over the lists of classes that measures name.

        Raises
        ------
        InputError
            If there is no such list, it holds none of the classes, or a measure needs scores.
        """
        asked, prepared = names_asked(measures), {}
        for system, parts in tasks.items():
            (task,) = parts.values()
            for one in measures:
                lists = isinstance(task.scores, RankedLists)
                if (
                    "scores" in one.definition.needs
                    and lists
                    and task.scores.side.scores is None
                ):
                    raise InputError("measure-needs-scores", system, measure=str(one))
            lacking = [name for name in asked if name not in task.named]
            more = {
                name: find_list(name, options, task.named, task.class_list)
                for name in lacking
            }
            listed = {name: identity_of(sorted(some)) for name, some in more.items()}
            prepared[system] = {
                "": replace(task, named={**task.named, **more}, listed=listed)
            }
        return prepared

    def notes(
        self,
        tasks: Tasks,
        measures: Measures,
        options: Options,
        noted: Notes,
        inputs: Sequence[Any],
    ) -> list[Fact]:
        """Return what a user should know besides the scores."""
        return class_notes(tasks, measures, options, noted, inputs)

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


KIND = ClassKind()
