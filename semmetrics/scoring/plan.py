"""From predictions and ground truth to prepared tasks.

Conventions
-----------
A *prepared* input is joined, its models are open and its measures chosen. Scores, sweeps,
calibration and comparisons all begin there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Ints
from semmetrics.data.categories import name_categories
from semmetrics.data.form import (
    DEFAULTS,
    ReadOptions,
    prediction_options,
    truth_options,
)
from semmetrics.data.inputs import open_input
from semmetrics.data.items import has_surrogate
from semmetrics.data.join import compared
from semmetrics.data.lists import Lists, gather
from semmetrics.data.matrix import Matrix, note_unstored
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import Kind, Tasks, each_task, find_kind, name_task, resolve_kind
from semmetrics.messages import pluralize, report_progress
from semmetrics.metrics.registry import kinds_of_all, parse_all
from semmetrics.options import CERTAINTY as INTERVALS
from semmetrics.options import OPTIONS, ResolvedOptions, is_given, resolve_options
from semmetrics.scoring.evaluate import check_kind
from semmetrics.scoring.protocols import Plan, find_protocol, listed, plan_measures
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_notes import bound_notes, interval_notes, left_out_notes

CERTAINTY = [n for n, one in OPTIONS.items() if one.group == INTERVALS and n != "ci"]
"""The options of intervals, which mean nothing without one."""
_SHARDS = 1_000_000
_MANY = 3  # inputs that are named one by one


class Prepared(NamedTuple):
    """Tasks that are ready to be evaluated, and what to compute of them.

    Attributes
    ----------
    kind : Kind
    options : ResolvedOptions
    inputs : sequence
        What was read: the predictions of each system, then the ground truth.
    tasks : mapping from system and part to Task
    plan : Plan
    calibrations : sequence of Calibration
    """

    kind: Kind
    options: ResolvedOptions
    inputs: Sequence[Any]
    tasks: Tasks
    plan: Plan
    calibrations: Sequence[Any]

    def understood(self) -> list[str]:
        """Describe how each input was read, with the ground truth on the last line.

        Predictions of many systems that were read alike share a line.
        """
        *predictions, truth = self.inputs
        return describe_inputs(predictions) + describe_inputs([truth])

    def facts(self, scores: Iterable[Score] = ()) -> list[Fact]:
        """Return what was odd in the inputs and tasks, and what has no effect.

        Parameters
        ----------
        scores : iterable of Score
            Those of the tasks, where they were computed.
        """
        scores = list(scores)
        noted = {name_task(s.system, s.part): s.statistics.noted for s in scores}
        axes = {
            name: (
                task.axis,
                "scored" if getattr(task, "ranked", False) else "predicted",
            )
            for name, task in each_task(self.tasks)
        }
        of_scores = score_facts(scores, axes, ci=bool(self.options["ci"]))
        return self.data_facts(noted) + of_scores + self.plan_facts()

    def data_facts(self, noted: Mapping[str, Any]) -> list[Fact]:
        """Return what was odd in the inputs and tasks; ``noted`` is by task."""
        notes = [
            replace(note, where=one.source) for one in self.inputs for note in one.notes
        ]
        plan, options = self.plan, self.options
        return notes + self.kind.facts(
            self.tasks, plan.measures, options, noted, self.inputs
        )

    def plan_facts(self) -> list[Fact]:
        """Return what has no effect, and what was calibrated otherwise."""
        notes = list(self.plan.notes)
        if self.calibrations:
            from semmetrics.scoring.calibration import calibration_notes

            notes += calibration_notes(
                self.tasks, self.plan.measures, self.calibrations
            )
        return notes + idle_certainty(self.options)


def score_facts(
    scores: Sequence[Score], axes: Mapping[str, tuple[Any, str]], *, ci: bool
) -> list[Fact]:
    """Return what scores say of themselves: what they leave out, their intervals and bounds.

    Parameters
    ----------
    scores : sequence of Score
    axes : mapping from task to its label axis, and what its labels are: "predicted" or "scored"
    ci : bool
        Whether intervals were asked for.
    """
    notes: list[Fact] = []
    by_task = gather((name_task(score.system, score.part), score) for score in scores)
    for name, (axis, verb) in axes.items():
        some = by_task.get(name, [])
        left_out = left_out_notes(some[0].statistics if some else axis, some, verb)
        notes += [replace(fact, where=name) for fact in left_out]
    notes += interval_notes(scores)
    apart = [score.heading for score in scores if ci and score.ci is None]
    notes += [Fact("parts-apart", values={"heading": heading}) for heading in apart]
    return notes + bound_notes(scores)


def idle_certainty(options: ResolvedOptions) -> list[Fact]:
    """Note options of intervals where there is none."""
    idle = [name for name in CERTAINTY if name in options.given and not options["ci"]]
    return [Fact("needs-ci", values={"option": name}) for name in idle]


def describe_inputs(inputs: Sequence[Lists | Matrix]) -> list[str]:
    """Say how each input was read; many that were read alike are one line.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> describe_inputs([as_labels({"a": ["cat"]}, source="gt.json")])
    ['gt.json: {id: [labels]}: 1 item, 1 label']
    """
    lines = []
    for how, group in gather((one.understood, one) for one in inputs).items():
        if len(group) > _MANY:
            names = ", ".join(one.source for one in group[:_MANY])
            what = pluralize(
                sum(one.contents[0] for one in group), group[0].contents[1]
            )
            lines.append(f"{names} and {len(group) - _MANY} more: {how}: {what}")
            continue
        for one in group:
            size = f"{pluralize(len(one), 'item')}, {pluralize(*one.contents)}"
            lines.append(f"{one.source}: {how}: {size}")
    return lines


def check_system_names(names: Iterable[object]) -> None:
    r"""Raise for the name of a system that no file can hold.

    Raises
    ------
    InputError
        If it has half of a surrogate pair.

    Examples
    --------
    >>> check_system_names(["resnet", "caf\xe9"])
    """
    for name in names:
        if has_surrogate(str(name)):
            raise InputError("lone-surrogate", role=f"the system name {str(name)!r}")


def prepare_systems(
    systems: Mapping[str, Any], gts: Any, given: Mapping[str, Any]
) -> Prepared:
    """Read and join the predictions of systems and the ground truth, and open what measures need.

    Parameters
    ----------
    systems : mapping from name to predictions
    gts : path or object
    given : mapping from name to value
        Options of `semmetrics.options`.

    Returns
    -------
    Prepared

    Raises
    ------
    InputError
        If the input or an option is wrong.
    """
    check_given(given)
    if not systems:
        raise InputError(
            "nothing-given", what="systems to score", remedy="give predictions"
        )
    check_system_names(systems)
    if given.get("measures") is not None:  # they are looked at twice
        given = {**given, "measures": listed(given["measures"])}
    sides = [gts, *systems.values()]

    def announce(side: int) -> None:
        if isinstance(sides[side], str | os.PathLike):
            what = f"reading {sides[side]}", "file"
            report_progress(given.get("progress"), side, len(sides), *what)

    announce(0)
    name, systems, gts = resolve_inputs(systems, gts, given)
    setup = open_setup(name, given)
    ref, preds = setup.read_truth(gts), {}
    for side, (system, data) in enumerate(systems.items(), 1):
        announce(side)
        preds[system] = setup.read(data, system)
    prepared = setup.prepare(preds, ref)
    check_weights(prepared)
    for system, task in each_task(prepared.tasks):
        if not len(task):
            sides = [preds[system].source] if system in preds else []
            raise InputError("no-items", " and ".join([*sides, ref.source]))
    return prepared


def _is_empty_cell(error: InputError) -> bool:
    """Return whether a cell of 0/1 is empty, as many mark labels that nobody verified."""
    if error.code not in ("not-finite", "not-a-number"):
        return False
    value = error.values["value"]
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None


class Setup(NamedTuple):
    """What is evaluated and how, opened: it makes prepared tasks of any data.

    Attributes
    ----------
    kind : Kind
    options : ResolvedOptions
        With what they name read and opened.
    calibrations : sequence of Calibration
    """

    kind: Kind
    options: ResolvedOptions
    calibrations: Sequence[Any]

    def read(self, data: Any, source: str) -> Any:
        """Read one side."""
        files = self.options["read"] or DEFAULTS
        options = self.options.replace(
            read=prediction_options(files), unknown_value=None
        )
        found = note_unstored(self.kind.read(data, source, options))
        return compared(found, self.options["ids"])

    def read_truth(self, gts: Any) -> Any:
        """Read the ground truth, which needs no scores where a column of them is named."""
        files = self.options["read"] or DEFAULTS
        options = self.options.replace(read=truth_options(files))
        try:
            found = self.kind.read(gts, "gts", options)
        except InputError as error:
            if self.kind.name == "labels" and _is_empty_cell(error):
                value = error.values["value"]
                raise InputError("empty-truth-cell", error.where, value=value) from None
            raise
        return compared(found, options["ids"])

    def forget(self) -> None:
        """Let go what is kept of the items that were prepared, such as tokens of captions."""
        for value in self.options.values():
            if hasattr(value, "forget"):
                value.forget()

    def prepare(
        self,
        preds: Mapping[str, Any],
        ref: Any,
        *,
        plan: Plan | None = None,
        shard: Shard | None = None,
        **changed: Any,
    ) -> Prepared:
        """Join predictions and ground truth, choose measures and open what those need.

        Parameters
        ----------
        preds : mapping from system to Lists
        ref : Lists
        plan : Plan, optional
            What to compute, where it has been chosen before.
        shard : Shard, optional
            The items to evaluate, where these are not all.
        **changed
            Options of these data.
        """
        options = self.options.replace(**changed)
        preds, ref = name_categories(preds, ref)
        tasks: Tasks = {
            system: {part: _choose_items(task, shard) for part, task in parts.items()}
            for system, parts in _make_tasks(self.kind, preds, ref, options).items()
        }
        if plan is None:
            plan = plan_measures(self.kind, tasks, options)
            check_kind(plan.measures, self.kind.name)
        tasks = self.kind.prepare(tasks, plan.measures, options)
        inputs = [*preds.values(), ref]
        return Prepared(self.kind, options, inputs, tasks, plan, self.calibrations)


def open_setup(name: str, given: Mapping[str, Any]) -> Setup:
    """Resolve the options of a kind, and read what they name.

    Raises
    ------
    InputError
        If an option is wrong.
    """
    kind, options = find_kind(name), resolve(name, given)
    if options["measures"] is not None:  # before anything is read
        check_kind(parse_all(listed(options["measures"]), first=name), name)
    calibrations: Sequence[Any] = ()
    if options["calibration"] is not None:
        from semmetrics.scoring.calibration import as_calibrations

        files = options["read"] or DEFAULTS
        calibrations = as_calibrations(options["calibration"], files.max_bytes)
    return Setup(kind, kind.read_beside(options), calibrations)


def resolve(name: str, given: Mapping[str, Any]) -> ResolvedOptions:
    """Return the options of a kind, with what the protocol fixes and all defaults."""
    protocol = given.get("protocol")
    fixed = {} if protocol is None else find_protocol(protocol).settings
    return resolve_options(given, name, protocol=protocol, fixed=fixed)


class Shard(NamedTuple):
    """Which of so many parts of the items, by the hashes of their ids: no two share an item.

    Examples
    --------
    >>> Shard.read("3/8")
    Shard(number=3, of=8)
    """

    number: int
    of: int

    @staticmethod
    def read(text: str) -> Shard:
        """Return what a text such as "3/8" means."""
        parts = f"{text}/".split("/")[:2]
        number, of = (
            int(one) if one.isdecimal() and len(one) < 9 else 0 for one in parts
        )
        if text != f"{number}/{of}" or not 1 <= number <= of <= _SHARDS:
            raise InputError(
                "bad-option", name="shard", value=text, wanted="a part such as 3/8"
            )
        return Shard(number, of)

    def rows(self, hashes: Hashes) -> Ints:
        """Return the places of the items of this part."""
        return np.flatnonzero(hashes % np.uint64(self.of) == self.number - 1)


def _make_tasks(
    kind: Kind, preds: Mapping[str, Any], ref: Any, options: ResolvedOptions
) -> Tasks:
    """Join each system with the ground truth; with ``missing=common`` on the items of all."""
    if options["missing"] != "common":
        return kind.make_tasks(preds, ref, options)
    if options["score_references"]:
        raise InputError(
            "not-applicable", name="score_references", what="missing=common"
        )
    tasks = kind.make_tasks(preds, ref, options.replace(missing="skip"))
    common: dict[str, frozenset[Any]] = {}
    for parts in tasks.values():
        for part, task in parts.items():
            ids = frozenset(task.ids)
            common[part] = common.get(part, ids) & ids
    return {
        system: {part: _keep_common(task, common[part]) for part, task in parts.items()}
        for system, parts in tasks.items()
    }


def _keep_common(task: Any, common: frozenset[Any]) -> Any:
    """Leave out the items that another system does not have, and count them."""
    if not common:
        raise InputError("no-common-items")
    rows = np.array(
        [row for row, name in enumerate(task.ids) if name in common], np.int64
    )
    counts = {**task.counts, "not_in_all": len(task) - len(rows)}
    settings = {**task.settings, "missing": "common"}
    return replace(task.take(rows), counts=counts, settings=settings)


def _choose_items(task: Any, shard: Shard | None) -> Any:
    """Leave out items of weight 0, which count as if they were not there, and other shards.

    What is counted of all items goes with the first shard.
    """
    # a kind may have done so itself
    if task.weights is not None and not task.weights.all():
        rows = np.flatnonzero(task.weights)
        counts = {**task.counts, "weight_0": len(task) - len(rows)}
        task = replace(task.take(rows), counts=counts)
    if shard is None:
        return task
    first: Mapping[str, Any] = {} if shard.number == 1 else {"counts": {}, "odd": {}}
    return replace(task.take(shard.rows(task.hashes)), **first)


def check_weights(prepared: Prepared) -> None:
    """Refuse weights that leave nothing.

    Raises
    ------
    InputError
        If all items of a task weigh nothing.
    """
    where = getattr(prepared.options["weights"], "source", "weights")
    for _, task in each_task(prepared.tasks):
        if not len(task) and "weight_0" in task.counts:
            raise InputError("zero-weights", where)


def check_given(given: Mapping[str, Any]) -> None:
    """Refuse options that are wrong whatever is evaluated.

    Raises
    ------
    InputError
        If there are measures and a protocol.
    """
    if given.get("protocol") is not None and given.get("measures") is not None:
        raise InputError("measures-and-protocol", protocol=given["protocol"])


def resolve_task(task: str | None, protocol: str | None, measures: Any) -> str | None:
    """Return what is evaluated, as far as the task, the protocol or the measures say it.

    Measures that several kinds have do not.

    Raises
    ------
    InputError
        If the task is not known, or the protocol is for another.

    Examples
    --------
    >>> resolve_task(None, "coco-caption", None), resolve_task(None, None, ["F1"])
    ('captions', 'labels')
    """
    if task is not None:
        check_choice("task", task, OPTIONS["task"].choices)
    meant = None if protocol is None else find_protocol(protocol).kind
    if task is not None and meant not in (None, task):
        raise InputError("protocol-of-kind", protocol=protocol, kind=meant, task=task)
    if task or meant or measures is None:
        return task or meant
    kinds = kinds_of_all(listed(measures))
    if not kinds:  # one is wrong, or they are of several kinds
        parse_all(listed(measures))
    return kinds[0] if len(kinds) == 1 else None


def resolve_inputs(
    systems: Mapping[str, Any], gts: Any, given: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any], Any]:
    """Return what is evaluated; where only the data tell, with both sides opened."""
    name = resolve_task(given.get("task"), given.get("protocol"), given.get("measures"))
    instead = (
        one for one in OPTIONS.values() if one.instead and is_given(given.get(one.name))
    )
    name = name or next((one.kinds[0] for one in instead), None)
    if name is not None:
        return name, systems, gts

    read = given.get("read") or ReadOptions()
    first = next(iter(systems))
    systems, gts = (
        {**systems, first: open_input(systems[first], read)},
        open_input(gts, read),
    )
    try:
        return resolve_kind(systems[first], gts, options=read).kind, systems, gts
    except InputError:
        kinds = kinds_of_all(listed(given.get("measures") or ()))
        if len(kinds) < 2:
            raise
        # data that could be either: the first that has them
        return (
            kinds[0],
            systems,
            gts,
        )
