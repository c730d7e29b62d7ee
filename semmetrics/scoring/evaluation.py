"""The path of a score, from options to joined tasks.

`open_evaluation` makes an `Evaluation` for a kind of data, and reads the files that options name.
Its methods read the predictions and the ground truth. `Evaluation.join` joins them, and returns an
`Evaluation` with tasks and measures. Scores, sweeps, calibration, comparisons, batches and streams
all begin with one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.data.categories import name_categories
from semmetrics.data.id_parts import with_compared_ids
from semmetrics.data.inputs import open_input
from semmetrics.data.items import has_surrogate
from semmetrics.data.lists import gather
from semmetrics.data.matrix import note_unstored
from semmetrics.data.observations import Observations
from semmetrics.data.read_options import ReadOptions, prediction_options, truth_options
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import find_kind, resolve_kind
from semmetrics.kinds.base import Kind, Tasks, each_task, name_task
from semmetrics.kinds.options import ResolvedOptions, resolve_options
from semmetrics.messages import listing, pluralize, report_progress
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.parsing import listed, parse_all, parse_by_kind
from semmetrics.options import OPTIONS, is_on
from semmetrics.scoring.evaluate import check_kind
from semmetrics.scoring.measures import ChosenMeasures, choose_measures
from semmetrics.scoring.protocols import find_protocol
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_notes import (
    idle_intervals,
    interval_notes,
    score_notes,
)
from semmetrics.scoring.shards import Shard

_MAX_NAMED_IDS = 3
_MAX_NAMED_INPUTS = 3  # inputs that were read alike and are named one by one


def _no_measures() -> ChosenMeasures:
    return ChosenMeasures([], [], [], [])


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The state of a score: its options, inputs, tasks and measures.

    Attributes
    ----------
    kind : Kind
    options : ResolvedOptions
        With the content of the files that they name, and with parsed measures.
    calibrations : sequence of Calibration
    inputs : sequence of Lists or Matrix
        The predictions of each system, then the ground truth. Empty before they are joined.
    tasks : mapping from system and part to Task
        Prepared for the measures. Empty before the inputs are joined.
    chosen : ChosenMeasures
        The measures that are computed. Empty before the inputs are joined.
    """

    kind: Kind
    options: ResolvedOptions
    calibrations: Sequence[Any] = ()
    inputs: Sequence[Any] = ()
    tasks: Tasks = field(default_factory=dict)
    chosen: ChosenMeasures = field(default_factory=_no_measures)

    # ---- reading and joining --------------------------------------------------------------------

    def read(self, data: Any, source: str) -> Any:
        """Read the predictions of a system.

        Parameters
        ----------
        data : path or object
        source : str
            The name in messages if the data are an object.
        """
        options = self.options.replace(
            read=prediction_options(self.options.read), unknown_value=None
        )
        lists = note_unstored(self.kind.read(data, source, options))
        return with_compared_ids(lists, options.ids)

    def read_truth(self, data: Any) -> Any:
        """Read the ground truth, which needs no scores even if a column of them is named."""
        options = self.options.replace(read=truth_options(self.options.read))
        try:
            lists = self.kind.read(data, "gts", options)
        except InputError as error:
            if self.kind.name == "labels" and _is_empty_cell(error):
                value = error.values["value"]
                raise InputError("empty-truth-cell", error.where, value=value) from None
            raise
        return with_compared_ids(lists, options.ids)

    def join(
        self,
        preds: Mapping[str, Any],
        ref: Any,
        *,
        chosen: ChosenMeasures | None = None,
        shard: Shard | None = None,
        **changed: Any,
    ) -> Evaluation:
        """Join predictions and ground truth, choose measures, and open the models they need.

        Parameters
        ----------
        preds : mapping from system to Lists or Matrix
        ref : Lists or Matrix
        chosen : ChosenMeasures, optional
            The measures. By default they are chosen here.
        shard : Shard, optional
            Evaluate only this part of the items.
        **changed
            Options with another value for these data.

        Raises
        ------
        InputError
            If the inputs do not fit each other or the options.
        """
        options = self.options.replace(**changed)
        preds, ref = name_categories(preds, ref)
        tasks: dict[str, dict[str, Any]] = {}
        for system, parts in _join(self.kind, preds, ref, options).items():
            tasks[system] = {}
            for part, task in parts.items():
                tasks[system][part] = _choose_items(task, shard)
        if chosen is None:
            chosen = choose_measures(self.kind, tasks, options)
            check_kind(chosen.measures, self.kind.name)
        prepared = self.kind.prepare(tasks, chosen.measures, options)
        inputs = [*preds.values(), ref]
        return replace(
            self, options=options, inputs=inputs, tasks=prepared, chosen=chosen
        )

    def forget_items(self) -> None:
        """Discard what options cache for the items, such as the tokens of captions."""
        for value in self.options.values():
            if hasattr(value, "forget"):
                value.forget()

    # ---- notes -----------------------------------------------------------------------------------

    def understood(self) -> list[str]:
        """Describe how each input was read, with the ground truth on the last line.

        Predictions of many systems that were read alike share a line.
        """
        predictions = self.inputs[:-1]
        truth = self.inputs[-1:]
        return describe_inputs(predictions) + describe_inputs(truth)

    def notes(self, scores: Iterable[Score] = ()) -> list[Fact]:
        """Return notes on the inputs, the tasks and the scores, and on options without effect.

        Parameters
        ----------
        scores : iterable of Score
            The scores of the tasks, if they were computed.
        """
        scores = list(scores)
        observed = {}
        for score in scores:
            task_name = name_task(score.system, score.part)
            observed[task_name] = score.statistics.observations
        axes = {}
        for name, task in each_task(self.tasks):
            is_ranked = getattr(task, "ranked", False)
            verb = "scored" if is_ranked else "predicted"
            axes[name] = (task.axis, verb)
        notes = self.data_notes(observed)
        notes += score_notes(scores, axes, ci=bool(self.options.ci))
        notes += interval_notes(scores)
        return notes + self.measure_notes()

    def data_notes(self, observed: Mapping[str, Observations]) -> list[Fact]:
        """Return notes on the inputs and tasks.

        Parameters
        ----------
        observed : mapping from name of a task to Observations
        """
        notes = []
        for lists in self.inputs:
            notes += [replace(note, where=lists.source) for note in lists.notes]
        measures = self.chosen.measures
        return notes + self.kind.notes(
            self.tasks, measures, self.options, observed, self.inputs
        )

    def measure_notes(self) -> list[Fact]:
        """Return notes on options without effect, and on calibrations for other data."""
        notes = list(self.chosen.notes)
        if self.calibrations:
            from semmetrics.scoring.calibration import calibration_notes

            measures = self.chosen.measures
            notes += calibration_notes(self.tasks, measures, self.calibrations)
        return notes + idle_intervals(self.options)


# ---- opening ------------------------------------------------------------------------------------


def join_systems(
    systems: Mapping[str, Any], gts: Any, user_options: Mapping[str, Any]
) -> Evaluation:
    """Read and join the predictions of systems and the ground truth.

    Parameters
    ----------
    systems : mapping from name to predictions
    gts : path or object
    user_options : mapping from name to value
        The options of the user, with checked values.

    Raises
    ------
    InputError
        If the input or an option is wrong.
    """
    check_systems_mapping(systems)
    check_conflicts(user_options)
    if user_options.get("measures") is not None:
        # A list can be read twice.
        measure_list = listed(user_options["measures"])
        user_options = {**user_options, "measures": measure_list}
    if not systems:
        what = "systems to score"
        raise InputError("nothing-given", what=what, remedy="give predictions")
    check_system_names(systems)
    progress = _ReadProgress(user_options.get("progress"), 1 + len(systems))
    progress.start(gts)
    kind, measures, systems, gts = choose_kind(systems, gts, user_options)
    evaluation = open_evaluation(kind, user_options, measures=measures)
    ref = evaluation.read_truth(gts)
    preds = {}
    for system, data in systems.items():
        progress.start(data)
        preds[system] = evaluation.read(data, system)
    joined = evaluation.join(preds, ref)
    check_weights(joined)
    for system, task in each_task(joined.tasks):
        if not len(task):
            sources = [preds[system].source] if system in preds else []
            raise InputError("no-items", " and ".join([*sources, ref.source]))
    return joined


def open_evaluation(
    kind: str,
    user_options: Mapping[str, Any],
    *,
    measures: Sequence[Measure] | None = None,
) -> Evaluation:
    """Resolve the options of a kind, and read the files that they name.

    Parameters
    ----------
    kind : str
    user_options : mapping from name to value
    measures : sequence of Measure, optional
        The requested measures. By default they are parsed here.

    Raises
    ------
    InputError
        If an option is wrong.
    """
    options = resolve(kind, user_options)
    if measures is None and options.measures is not None:
        measures = parse_all(listed(options.measures), prefer=kind)
    if measures is not None:
        check_kind(measures, kind)
    options = options.replace(measures=measures)
    calibrations: Sequence[Any] = ()
    if options.calibration is not None:
        from semmetrics.scoring.calibration import as_calibrations

        calibrations = as_calibrations(options.calibration, options.read.max_bytes)
    kind_of_data = find_kind(kind)
    options = kind_of_data.read_side_inputs(options)
    return Evaluation(kind_of_data, options, calibrations)


def resolve(kind: str, user_options: Mapping[str, Any]) -> ResolvedOptions:
    """Return the options of a kind, with the values of the protocol and the defaults."""
    protocol = user_options.get("protocol")
    fixed: Mapping[str, Any] = {}
    if protocol is not None:
        fixed = find_protocol(protocol).settings
    return resolve_options(user_options, kind, protocol=protocol, fixed=fixed)


class _ReadProgress:
    """Reports the files that are read.

    Parameters
    ----------
    progress : callable or None
    n_inputs : int
    """

    def __init__(self, progress: Any, n_inputs: int) -> None:
        self._progress = progress
        self._n_inputs = n_inputs
        self._n_started = 0

    def start(self, data: Any) -> None:
        """Report that the next input is read, if it is a file."""
        if isinstance(data, (str, os.PathLike)):
            report_progress(
                self._progress,
                self._n_started,
                self._n_inputs,
                f"reading {data}",
                "file",
            )
        self._n_started += 1


# ---- the kind of data ---------------------------------------------------------------------------


def choose_kind(
    systems: Mapping[str, Any], gts: Any, user_options: Mapping[str, Any]
) -> tuple[str, Sequence[Measure] | None, Mapping[str, Any], Any]:
    """Determine the kind of data from the options, or else from the data.

    Returns
    -------
    kind : str
    measures : sequence of Measure, or None
        The requested measures, parsed.
    systems, gts
        The inputs. If the kind was determined from the data, the first system and the ground
        truth are opened.
    """
    kind, measures_by_kind = requested_kind(user_options)
    if kind is None:
        kind = _kind_of_embeddings(user_options)
    if kind is None:
        read = user_options.get("read") or ReadOptions()
        first = next(iter(systems))
        systems = {**systems, first: open_input(systems[first], read)}
        gts = open_input(gts, read)
        try:
            kind = resolve_kind(systems[first], gts, options=read).kind
        except InputError:
            if len(measures_by_kind) < 2:
                raise
            # The data could be either, and both kinds have the measures.
            kind = next(iter(measures_by_kind))
    return kind, measures_by_kind.get(kind), systems, gts


def _kind_of_embeddings(user_options: Mapping[str, Any]) -> str | None:
    """Return the kind of an option that replaces the predictions, if the user sets one."""
    for option in OPTIONS.values():
        if option.replaces_predictions and is_on(user_options.get(option.name)):
            return option.kinds[0]
    return None


def requested_kind(
    user_options: Mapping[str, Any],
) -> tuple[str | None, dict[str, list[Measure]]]:
    """Return the kind that the task, the protocol or the measures request, and the measures.

    Measures that several kinds have do not decide the kind.

    Returns
    -------
    kind : str or None
    measures_by_kind : dict from kind to list of Measure
        The requested measures, parsed for each kind that has all of them.

    Raises
    ------
    InputError
        If the task is unknown, the protocol is for another kind, or a measure is wrong.

    Examples
    --------
    >>> requested_kind({"protocol": "coco-caption"}), requested_kind({"measures": ["F1"]})[0]
    (('captions', {}), 'labels')
    """
    task = user_options.get("task")
    protocol = user_options.get("protocol")
    if task is not None:
        check_choice("task", task, OPTIONS["task"].choices)
    protocol_kind = None
    if protocol is not None:
        protocol_kind = find_protocol(protocol).kind
    if task is not None and protocol_kind not in (None, task):
        values = {"protocol": protocol, "kind": protocol_kind, "task": task}
        raise InputError("protocol-of-kind", **values)
    kind = task or protocol_kind
    measures = user_options.get("measures")
    if kind is not None or measures is None:
        return kind, {}
    measures_by_kind = parse_by_kind(listed(measures))
    if not measures_by_kind:
        parse_all(listed(measures))  # raises an error for an unknown measure
    if len(measures_by_kind) == 1:
        (kind,) = measures_by_kind
    return kind, measures_by_kind


# ---- checks -------------------------------------------------------------------------------------


def check_conflicts(user_options: Mapping[str, Any]) -> None:
    """Raise an error if both measures and a protocol are given."""
    protocol = user_options.get("protocol")
    if protocol is not None and user_options.get("measures") is not None:
        raise InputError("measures-and-protocol", protocol=protocol)


def check_systems_mapping(systems: object) -> None:
    """Raise an error for systems without names, such as a list of predictions."""
    if not isinstance(systems, Mapping):
        wanted = (
            'a mapping from names to predictions, such as {"ours": preds}. For a single '
            "system, use semmetrics.score(preds, gts)"
        )
        raise InputError("wrong-type", "systems", value=systems, wanted=wanted)


def check_ids_not_systems(systems: Mapping[str, Any], gts: object) -> None:
    """Raise an error if the systems are the predictions of a single system, by id.

    Examples
    --------
    >>> check_ids_not_systems({"ours": [["cat"]]}, {"a.jpg": ["cat"]})
    >>> check_ids_not_systems({"a.jpg": ["cat"]}, {"a.jpg": ["cat"]})
    Traceback (most recent call last):
    semmetrics.errors.InputError: systems: expected {name: predictions}, but the names are the ids
    of the ground truth. Give each system a name, such as {"ours": preds, "baseline": other}.
    """
    if not systems or not isinstance(gts, Mapping):
        return
    for name, data in systems.items():
        if name not in gts or not isinstance(data, str | list | tuple | set):
            return
    raise InputError("ids-as-systems", "systems")


def check_system_names(names: Iterable[object]) -> None:
    r"""Raise an error for a name of a system that cannot be written to a file.

    Raises
    ------
    InputError
        If a name contains half of a surrogate pair.

    Examples
    --------
    >>> check_system_names(["resnet", "caf\xe9"])
    """
    for name in names:
        if has_surrogate(str(name)):
            raise InputError("lone-surrogate", role=f"the system name {str(name)!r}")


def check_weights(evaluation: Evaluation) -> None:
    """Raise an error if all items of a task have weight 0."""
    weights = evaluation.options.weights
    where = "weights" if weights is None else weights.source
    for _, task in each_task(evaluation.tasks):
        if not len(task) and "weight_0" in task.counts:
            raise InputError("zero-weights", where)


def _is_empty_cell(error: InputError) -> bool:
    """Return whether an error is about an empty cell in a table of 0 and 1.

    Many datasets leave the cell of an unverified label empty.
    """
    if error.code not in ("not-finite", "not-a-number"):
        return False
    value = error.values["value"]
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None


# ---- items --------------------------------------------------------------------------------------


def _join(
    kind: Kind, preds: Mapping[str, Any], ref: Any, options: ResolvedOptions
) -> Tasks:
    """Join each system with the ground truth.

    With ``missing=common`` the tasks have only the items that all systems have.
    """
    if options.missing != "common":
        return kind.join(preds, ref, options)
    if options.score_references:
        name = "score_references"
        raise InputError("not-applicable", name=name, what="missing=common")
    tasks = kind.join(preds, ref, options.replace(missing="skip"))
    common_ids: dict[str, frozenset[Any]] = {}
    for parts in tasks.values():
        for part, task in parts.items():
            ids = frozenset(task.ids)
            common_ids[part] = common_ids.get(part, ids) & ids
    if not all(common_ids.values()):
        raise InputError("no-common-items", ids=_name_first_ids(tasks))
    joined: dict[str, dict[str, Any]] = {}
    for system, parts in tasks.items():
        joined[system] = {}
        for part, task in parts.items():
            joined[system][part] = _keep_common(task, common_ids[part])
    return joined


def _name_first_ids(tasks: Tasks) -> str:
    """Write the first ids of each system."""
    texts = []
    for name, task in each_task(tasks):
        ids = listing(map(str, task.ids), most=_MAX_NAMED_IDS) or "none"
        texts.append(f"{name} has {ids}")
    return ", and ".join(texts)


def _keep_common(task: Any, common_ids: frozenset[Any]) -> Any:
    """Leave out the items that another system does not have, and count them."""
    is_common = [item_id in common_ids for item_id in task.ids]
    rows = np.flatnonzero(is_common)
    counts = {**task.counts, "not_in_all": len(task) - len(rows)}
    settings = {**task.settings, "missing": "common"}
    return replace(task.take(rows), counts=counts, settings=settings)


def _choose_items(task: Any, shard: Shard | None) -> Any:
    """Leave out items of weight 0, and items of other shards.

    An item of weight 0 counts as if it were absent. Only the first shard has the counts and the
    observations of all items, since shards are added up.
    """
    # A kind may have left out the items of weight 0 itself.
    if task.weights is not None and not task.weights.all():
        rows = np.flatnonzero(task.weights)
        counts = {**task.counts, "weight_0": len(task) - len(rows)}
        task = replace(task.take(rows), counts=counts)
    if shard is None:
        return task
    if shard.number > 1:
        task = replace(task, counts={}, observations=Observations())
    return task.take(shard.rows(task.hashes))


# ---- descriptions -------------------------------------------------------------------------------


class DescribedInput(Protocol):
    """An input with a description: Lists, a Matrix, or the batches of a `Scorer`."""

    @property
    def source(self) -> str:
        """The name of the input."""

    @property
    def understood(self) -> str:
        """How the input was read."""

    @property
    def contents(self) -> tuple[int, str]:
        """The number of entries, and the noun for an entry."""

    def __len__(self) -> int: ...


def describe_inputs(inputs: Sequence[DescribedInput]) -> list[str]:
    """Describe how each input was read. Many inputs that were read alike share a line.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> describe_inputs([as_labels({"a": ["cat"]}, source="gt.json")])
    ['gt.json: {id: [labels]}: 1 item, 1 label']
    """
    lines = []
    inputs_by_form = gather((data.understood, data) for data in inputs)
    for form, group in inputs_by_form.items():
        if len(group) > _MAX_NAMED_INPUTS:
            names = ", ".join(data.source for data in group[:_MAX_NAMED_INPUTS])
            n_entries = sum(data.contents[0] for data in group)
            noun = group[0].contents[1]
            n_more = len(group) - _MAX_NAMED_INPUTS
            contents = pluralize(n_entries, noun)
            lines.append(f"{names} and {n_more} more: {form}: {contents}")
            continue
        for data in group:
            size = f"{pluralize(len(data), 'item')}, {pluralize(*data.contents)}"
            lines.append(f"{data.source}: {form}: {size}")
    return lines
