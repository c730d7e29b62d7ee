"""Score files on the machines of a Ray cluster.

Conventions
-----------
`score_dataset` reads each file once, with the readers of a single process. The hash of
its id decides to which part an item goes. A part joins both sides and saves the state
of a scorer. States are merged in a tree. Tasks are stateless: if a machine is lost, its
work is repeated, beginning with the files. Inputs that cannot be read in blocks, such as
matrices and embeddings, are opened by every part, which scores its shard of the items.
All machines must find the files under the same paths.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from semmetrics.data.blocks import FORMATS, SideFiles, find_side_files
from semmetrics.data.form import EXTENSIONS
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import InputError, require
from semmetrics.metrics.parsing import listed, parse_all
from semmetrics.metrics.registry import is_own
from semmetrics.scale.cluster_tasks import (
    TRUTH,
    count_block,
    merge_parts,
    score_part,
    score_shard,
    split_block,
)
from semmetrics.scale.ray_connection import connect
from semmetrics.scale.stream import take_weights, with_task
from semmetrics.scoring.fits import add_up_frequencies, stems_to_count
from semmetrics.scoring.scorer import Scorer
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

_STATES_PER_MERGE = 8
_MAX_PARTITIONS = 100_000
_MAX_RETRIES = 5  # If the machine of a task is lost.

AdvanceTasks: TypeAlias = Callable[[str, int, int], object]
"""Called with the stage, the number of tasks done, and the number of all tasks."""

_Ref: TypeAlias = Any
"""A reference to an object in the cluster."""


@takes_options()
def score_dataset(
    preds: Any,
    gts: Any,
    *,
    address: str | None = None,
    partitions: int | None = None,
    num_gpus: float = 0,
    advance: AdvanceTasks | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Score on all machines of a Ray cluster.

    Parameters
    ----------
    preds : path, ray.data.Dataset, or mapping from system to those
        A path is a file, a folder or a pattern. A Dataset has one row per item. None if
        embeddings are scored.
    gts : path or ray.data.Dataset
    address : str, optional
        The address of a cluster. "auto" is the cluster that this machine belongs to.
        Default: start Ray on this machine, unless it is running.
    partitions : int, optional
        The number of parts of the items. Default: four per processor.
    num_gpus : float
        GPUs per part, for measures whose embedding uses them.
    advance : callable, optional
        Called with the stage, the number of tasks done, and the number of all tasks.
    **options

    Returns
    -------
    ScoreTable
        With the values and signatures of a single process.

    Raises
    ------
    InputError
        As ``score``. Also if the cluster cannot be reached, does not have the requested
        GPUs, or fails.
    MissingDependencyError
        If Ray is not installed.
    """
    ray = require("ray", "scoring on a cluster", extra="ray")
    if not ray.is_initialized():
        connect(ray, address or "local")
    resources = ray.cluster_resources()
    if not 0 <= num_gpus <= resources.get("GPU", 0):
        # Tasks would wait forever.
        raise InputError(
            "cluster-failed", why=f"it has no {num_gpus:g} GPUs for a task"
        )
    if partitions is not None:
        _check_partitions(partitions)
    _check_measures(options.get("measures"))
    systems = dict(preds) if isinstance(preds, Mapping) else {"preds": preds}
    n_parts = partitions or 4 * int(resources.get("CPU", 1))
    job = _Job(ray, options, systems, gts, n_parts, num_gpus, advance)
    try:
        return job.run()
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        why = str(error).partition("\n")[0]
        raise InputError(
            "cluster-failed", why=f"{type(error).__name__}: {why}"
        ) from error


def _check_partitions(partitions: Any) -> None:
    if not isinstance(partitions, int) or not 0 < partitions <= _MAX_PARTITIONS:
        raise InputError(
            "bad-option", name="partitions", value=partitions, wanted="1 to 100,000"
        )


def _check_measures(measures: Any) -> None:
    """Raise an error for the user's own measures, which workers do not know."""
    for measure in parse_all(listed(measures or ())):
        if is_own(measure.definition):
            raise InputError(
                "not-applicable",
                name="measures",
                what=f"a cluster, which does not have {measure}",
                fix="score in one process",
            )


class _Job:
    """The tasks of one call of `score_dataset`.

    Parameters
    ----------
    ray : module
    options : mapping
    systems : mapping from name to predictions
    gts : path or ray.data.Dataset
    n_parts : int
    num_gpus : float
        GPUs of each task that scores.
    advance : callable or None
    """

    def __init__(
        self,
        ray: Any,
        options: Mapping[str, Any],
        systems: Mapping[str, Any],
        gts: Any,
        n_parts: int,
        num_gpus: float,
        advance: AdvanceTasks | None,
    ) -> None:
        self._ray = ray
        self._n_parts = n_parts
        self._advance = advance
        self._settings, self._weights = take_weights(options)
        self._sides = {**systems, TRUTH: gts}
        self._blocks: dict[str, list[Any]] = {}
        self._are_read_in_blocks = True
        for name, side in self._sides.items():
            blocks = _list_blocks(side)
            if blocks is None:
                self._are_read_in_blocks = False
            else:
                self._blocks[name] = blocks
        if self._are_read_in_blocks:
            self._settings = with_task(self._settings, self._list_first_files())
        on_gpus = ray.remote(max_retries=_MAX_RETRIES, num_gpus=num_gpus)
        on_cpu = ray.remote(max_retries=_MAX_RETRIES)
        self._remote_tasks: dict[Callable[..., Any], Any] = {
            score_part: on_gpus(score_part),
            score_shard: on_gpus(score_shard),
            split_block: on_cpu(split_block),
            count_block: on_cpu(count_block),
            merge_parts: on_cpu(merge_parts),
        }

    def _list_first_files(self) -> list[str]:
        """Return the first file of each side that consists of files."""
        files = []
        for blocks in self._blocks.values():
            if blocks and isinstance(blocks[0], SideFiles):
                files.append(blocks[0].paths[0])
        return files

    def run(self) -> ScoreTable:
        """Run all tasks, and return the scores."""
        if self._are_read_in_blocks:
            states = self._score_parts()
        else:
            states = self._score_shards()
        while len(states) > 1:
            merged_states = []
            self._wait("scoring", states)
            for start in range(0, len(states), _STATES_PER_MERGE):
                group = states[start : start + _STATES_PER_MERGE]
                merged_states.append(self._submit(merge_parts, *group))
            states = merged_states
        (state,) = states
        return Scorer.load(io.BytesIO(self._ray.get(state))).compute()

    def _list_shards(self) -> list[str]:
        """Return the name of each part, such as "3/8"."""
        numbers = range(1, self._n_parts + 1)
        return [f"{number}/{self._n_parts}" for number in numbers]

    def _score_shards(self) -> list[_Ref]:
        """Return the state of each shard of inputs that are not read in blocks."""
        inputs = self._ray.put((self._settings, self._weights, self._sides))
        shards = self._list_shards()
        return [self._submit(score_shard, inputs, shard) for shard in shards]

    def _score_parts(self) -> list[_Ref]:
        """Return the state of each part of inputs that are read in blocks."""
        settings = self._put_settings()
        n_blocks_of_sides = []
        split_blocks: list[list[_Ref]] = []
        for name, blocks in self._blocks.items():
            n_blocks_of_sides.append((name, len(blocks)))
            split_blocks += self._split_side(settings, name, blocks)
        weights = self._ray.put(self._weights)
        states = []
        for number, shard in enumerate(self._list_shards()):
            blocks_of_part = [parts[number] for parts in split_blocks]
            state = self._submit(
                score_part, settings, weights, n_blocks_of_sides, shard, *blocks_of_part
            )
            states.append(state)
        return states

    def _put_settings(self) -> _Ref:
        """Store the options in the cluster, with document frequencies if needed."""
        settings = self._ray.put(self._settings)
        setup = Scorer(**self._settings).setup
        stems = stems_to_count(setup, weights=self._weights)
        if not stems:
            return settings
        counts = []
        for block in self._blocks[TRUTH]:
            counts.append(self._submit(count_block, settings, block, stems))
        self._wait("counting document frequencies", counts)
        frequencies = add_up_frequencies(self._ray.get(count) for count in counts)
        return self._ray.put({**self._settings, "doc_freq": frequencies})

    def _split_side(
        self, settings: _Ref, name: str, blocks: Sequence[Any]
    ) -> list[list[_Ref]]:
        """Read the blocks of a side, and return the parts of each block."""
        side = self._sides[name]
        source = name or "gts"
        if isinstance(side, str):
            source = side
        split = self._remote_tasks[split_block].options(num_returns=self._n_parts)
        split_blocks = []
        for block in blocks:
            parts = split.remote(settings, name, source, block, self._n_parts)
            if not isinstance(parts, list):  # There is a single part.
                parts = [parts]
            split_blocks.append(parts)
        self._wait("reading", [parts[0] for parts in split_blocks])
        return split_blocks

    def _submit(self, task: Callable[..., Any], *arguments: Any) -> _Ref:
        return self._remote_tasks[task].remote(*arguments)

    def _wait(self, stage: str, tasks: Sequence[_Ref]) -> None:
        """Wait for tasks, and report their number. The first error ends the wait."""
        n_tasks = len(tasks)
        running = list(tasks)
        while running:
            _, running = self._ray.wait(running, num_returns=1, fetch_local=False)
            if self._advance is not None:
                self._advance(stage, n_tasks - len(running), n_tasks)


def _list_blocks(side: Any) -> list[Any] | None:
    """Return the files or blocks of a side, or None if it is not read in blocks."""
    if hasattr(side, "to_arrow_refs"):
        return list(side.to_arrow_refs())
    if not isinstance(side, str):
        return None
    paths = find_side_files(side).paths
    if not paths or not all(map(_is_read_in_blocks, paths)):
        return None
    first_path = ""
    if len(paths) > 1:
        first_path = paths[0]
    return [SideFiles(side, (path,), None, first_path) for path in paths]


def _is_read_in_blocks(path: str) -> bool:
    """Return whether the format of a file, by its extension, is read in blocks."""
    plain_path = path.removesuffix(".gz").lower()
    for extension, file_format in EXTENSIONS.items():
        if file_format in FORMATS and plain_path.endswith(extension):
            return True
    return False
