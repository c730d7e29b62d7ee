"""Score files of any size: both sides are read in blocks, and only sums are stored.

Conventions
-----------
While both sides have the same ids in the same order, they are read side by side. From
the first difference on, the rest of the ground truth is stored as codes, and the
predictions are streamed past it. Only an 8-byte hash of each id is stored, which is
enough to reject duplicate ids. A dataset in which two different ids have the same hash is
also rejected. This happens to one in forty datasets with a billion ids.

A shard is the part of the items whose hash, modulo the number of shards, is the number
of the shard. Shards have no item in common, and all shards together are the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids
from semmetrics.core.prefetch import prefetch
from semmetrics.core.ragged import Bools, Ints, slices, starts_run
from semmetrics.data.blocks import SideFiles, find_side_files
from semmetrics.data.inputs import open_input
from semmetrics.data.item_ids import Utf8Strings, join_ids
from semmetrics.data.join import Weights
from semmetrics.data.lists import Lists
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import ReadOptions, prediction_options, truth_options
from semmetrics.errors import InputError, Places
from semmetrics.kinds import resolve_kind
from semmetrics.kinds.sample_weights import read_weights
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.fits import (
    add_up_frequencies,
    count_frequencies,
    stems_to_count,
)
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.scorer import Scorer
from semmetrics.scoring.shards import Shard

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

Advance: TypeAlias = Callable[[str, int, int, "int | None"], object]
"""Called with the stage, the bytes read, the items scored, and all bytes to read."""

ItemWeights: TypeAlias = Mapping[str, Any] | None
"""The weights of items by id."""

MAX_UNPREDICTED_PER_BATCH = 1 << 16
"""Items of the ground truth without a prediction that are scored together."""

_COUNTING = "counting document frequencies"
_SCORING = "reading and scoring"


@takes_options()
def score_stream(
    preds: str | Mapping[str, str],
    gts: str,
    *,
    shard: str | None = None,
    advance: Advance | None = None,
    **options: Unpack[Options],
) -> Scorer:
    r"""Score files of any size in constant memory.

    Parameters
    ----------
    preds : path, or mapping from system to path
        JSON lines, CSV, TSV, Parquet or Arrow: a file, a folder, a pattern such as
        ``preds/*.csv``, or "-" for standard input.
    gts : path
    shard : str, optional
        Score only a part of the items, by the hash of their ids. "3/8" is the third of
        eight parts.
    advance : callable, optional
        Called with the stage, the bytes read, the items scored, and the bytes of all
        files, or None if a side is a stream.
    **options

    Returns
    -------
    Scorer
        Has scored all items. ``compute()`` returns the scores, ``save()`` writes a state.

    Raises
    ------
    InputError
        If the input or an option is invalid, an id occurs twice, or the rows of an id
        are not together.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("preds", "gt"):
    ...     path = folder / f"{name}.jsonl"
    ...     _ = path.write_text('{"id": "a", "labels": ["cat"]}')
    >>> preds, gts = f"{folder}/preds.jsonl", f"{folder}/gt.jsonl"
    >>> scorer = score_stream(preds, gts, measures="F1")
    >>> scorer.compute()["F1"].value
    1.0
    """
    systems = preds if isinstance(preds, Mapping) else {"preds": preds}
    pred_parts = {name: find_side_files(path) for name, path in systems.items()}
    truth_parts = find_side_files(gts)
    all_parts = [*pred_parts.values(), truth_parts]
    total_bytes = _sum_sizes(all_parts)
    # A stream can be read only once, so its beginning does not help to infer the task.
    files = [parts.paths[0] for parts in all_parts if parts.size]
    settings, weights = take_weights(options)
    settings = with_task(settings, files)
    read_options = settings.get("read") or ReadOptions()
    parsed_shard = None if shard is None else Shard.read(shard)

    progress = _Progress(advance)
    progress.start(_SCORING, total_bytes)
    progress.report()
    scorer = Scorer(**settings)
    frequencies = _count_frequencies(
        scorer, truth_parts, weights, read_options, progress
    )
    if frequencies is not None:
        scorer = Scorer(**{**settings, "doc_freq": frequencies})
        progress.start(_SCORING, total_bytes)

    setup = scorer.setup
    truth_batches = _read_truth_parts(truth_parts, setup, read_options, progress)
    pred_batches = {}
    for name, parts in pred_parts.items():
        pred_batches[name] = parts.lists(
            setup.read, prediction_options(read_options), progress.add_bytes
        )
    with ExitStack() as stack:
        # All readers are also closed after an error.
        for reader in (truth_batches, *pred_batches.values()):
            stack.callback(_close, reader)
        truth = StreamedSide(truth_batches, parsed_shard)
        sides = {}
        for name, batches in pred_batches.items():
            sides[name] = StreamedSide(batches, parsed_shard)
        score_sides(scorer, truth, sides, weights, progress.add_items)
    return scorer


class _Progress:
    """Counts of bytes read and items scored, which are reported to a callback.

    Bytes and items may be counted in different threads.
    """

    def __init__(self, advance: Advance | None) -> None:
        self._advance = advance
        self._stage = ""
        self._n_bytes = 0
        self._n_items = 0
        self._total_bytes: int | None = None

    def start(self, stage: str, total_bytes: int | None) -> None:
        """Begin a stage, without a report."""
        self._stage = stage
        self._n_bytes = 0
        self._total_bytes = total_bytes

    def add_bytes(self, n: int) -> None:
        """Count bytes that were read, and report."""
        self._n_bytes += n
        self.report()

    def add_items(self, n: int) -> None:
        """Count items that were scored, and report."""
        self._n_items += n
        self.report()

    def report(self) -> None:
        """Call the callback."""
        if self._advance is not None:
            self._advance(self._stage, self._n_bytes, self._n_items, self._total_bytes)


def _sum_sizes(all_parts: Sequence[SideFiles]) -> int | None:
    """Return the bytes of all files, or None if one of them is a stream."""
    total = 0
    for parts in all_parts:
        if parts.size is None:
            return None
        total += parts.size
    return total


def _count_frequencies(
    scorer: Scorer,
    truth: SideFiles,
    weights: ItemWeights,
    options: ReadOptions,
    progress: _Progress,
) -> dict[str, Any] | None:
    """Count the document frequencies of the ground truth, if measures need them.

    Returns
    -------
    dict or None
        None if they are not needed, or a stream cannot be read twice.
    """
    if truth.size is None:
        return None
    setup = scorer.setup
    stems = stems_to_count(setup, weights=weights)
    if not stems:
        return None
    progress.start(_COUNTING, truth.size)
    batches = _read_truth_parts(truth, setup, options, progress)
    return add_up_frequencies(
        count_frequencies(lists, setup, stems) for lists in batches
    )


def _read_truth_parts(
    truth: SideFiles, setup: Evaluation, options: ReadOptions, progress: _Progress
) -> Iterator[Lists]:
    """Yield the ground truth, block by block."""
    read = partial(read_truth_block, setup)
    return truth.lists(read, truth_options(options), progress.add_bytes)


def read_truth_block(setup: Evaluation, data: Any, source: str) -> Any:
    """Read a block of the ground truth.

    `SideFiles.lists` also passes ``source``, the name of the block, which is not needed.
    """
    return setup.read_truth(data)


def _close(reader: Any) -> None:
    """Close a generator.

    After an interrupt a thread may still run it, which raises ValueError. It stays open then.
    """
    with suppress(ValueError):
        reader.close()


# ---- ids and batches of a side -------------------------------------------------------


class SeenIds:
    """Hashes of the ids so far, in sorted runs of decreasing length.

    Attributes
    ----------
    runs : tuple of uint64 arrays
    """

    def __init__(self, runs: tuple[Hashes, ...] = ()) -> None:
        self.runs = runs

    def add(self, hashes: Hashes) -> Ints:
        """Add hashes, and return the indices of those that occurred before."""
        order = np.argsort(hashes, kind="stable")
        new = hashes[order]
        is_repeated = ~starts_run(new)
        for run in self.runs:
            is_repeated |= _find_hashes(run, new) >= 0
        # Merging runs of similar length keeps their number small.
        while self.runs and len(self.runs[-1]) <= 2 * len(new):
            *runs, last = self.runs
            self.runs = tuple(runs)
            new = np.concatenate([last, new])
            del last  # Only one copy at a time is in memory.
            new.sort(kind="stable")
        self.runs = (*self.runs, new)
        return np.sort(order[is_repeated])


def _find_hashes(run: Hashes, hashes: Hashes) -> Ints:
    """Return the index of each hash in a sorted run, or -1 if it is not there."""
    if not len(run):
        return np.full(len(hashes), -1)
    order = np.argsort(hashes)  # Sorted hashes are found faster, near each other.
    index = np.empty(len(hashes), np.int64)
    index[order] = np.searchsorted(run, hashes[order])
    # A hash above the whole run would be after its end.
    np.minimum(index, len(run) - 1, out=index)
    return np.where(run[index] == hashes, index, -1)


class StreamedSide:
    """Buffered reader of one side of a stream.

    Attributes
    ----------
    hashes : uint64 array
        The hashes of the ids of the buffered items.
    seen : SeenIds
        The ids so far.
    """

    def __init__(self, batches: Iterator[Lists], shard: Shard | None) -> None:
        self._batches = batches
        self._shard = shard
        self._lists: Lists | None = None
        self.hashes: Hashes = np.zeros(0, np.uint64)
        self.seen = SeenIds()

    def fill(self) -> int:
        """Read the next block if the buffer is empty. Return the number of items.

        It is 0 at the end of the data.
        """
        while not len(self.hashes):
            lists = next(self._batches, None)
            if lists is None:
                break
            self._lists = lists
            self.hashes = hash_ids(lists.ids)
            if self._shard is not None:
                rows = self._shard.rows(self.hashes)
                self._lists = lists.take(rows)
                self.hashes = self.hashes[rows]
        return len(self.hashes)

    @property
    def lists(self) -> Lists:
        """The buffered items. `fill` must be called first."""
        assert self._lists is not None
        return self._lists

    def take(self, n: int) -> Lists:
        """Remove and return the first ``n`` items of the buffer."""
        items = self.lists
        if n < len(self.hashes):
            # Notes of a block are returned only once.
            self._lists = replace(items.rows(n, len(items)), notes=[])
            items = items.rows(0, n)
        self.hashes = self.hashes[n:]
        return items

    def rest(self) -> Iterator[tuple[Lists, Hashes]]:
        """Yield all remaining items."""
        while n := self.fill():
            hashes = self.hashes
            yield self.take(n), hashes

    def check(self, hashes: Hashes, lists: Lists, rows: Ints | None = None) -> None:
        """Add ids to those seen, and raise an error if one of them occurred before.

        Parameters
        ----------
        hashes : uint64 array
        lists : Lists
            The items with these hashes.
        rows : int array, optional
            The items to check. Default: all.
        """
        checked_hashes = hashes if rows is None else hashes[rows]
        repeated = self.seen.add(checked_hashes)
        if len(repeated):
            row = repeated[0] if rows is None else rows[repeated[0]]
            raise InputError("rows-apart", lists.where(int(row)))


# ---- options -------------------------------------------------------------------------


def take_weights(options: Mapping[str, Any]) -> tuple[dict[str, Any], ItemWeights]:
    """Separate the weights of items from the options of a scorer that stores only sums.

    Returns
    -------
    settings : dict
        The options that are set, without weights, and ``keep_rows=False``.
    weights : mapping from id to weight, or None

    Raises
    ------
    InputError
        If an option does not apply to a stream, or the weights are not by id.
    """
    settings = {name: value for name, value in options.items() if value is not None}
    if "set_size_probs" in settings:
        raise InputError(
            "not-applicable",
            name="set_size_probs",
            what="a stream",
            fix="score the files whole",
        )
    settings["keep_rows"] = False
    read_options = settings.get("read") or ReadOptions()
    weights = read_weights(
        settings.pop("weights", None), read_options.for_side_inputs()
    )
    values = weights
    if isinstance(weights, Weights):
        values = weights.values
    if values is None:
        return settings, None
    if not isinstance(values, Mapping):
        raise InputError("wrong-type", "weights", value=values, wanted="weights by id")
    return settings, {str(item_id): weight for item_id, weight in values.items()}


def with_task(settings: dict[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Add the task to options, inferred from files, unless the options determine it."""
    known_kind = Scorer(**settings).kind
    if known_kind is not None or not paths:
        return settings
    read_options = settings.get("read")
    sides = [open_input(path, read_options) for path in paths]
    guess = resolve_kind(*sides, options=read_options)
    return {**settings, "task": guess.kind}


# ---- scoring -------------------------------------------------------------------------


def score_sides(
    scorer: Scorer,
    truth: StreamedSide,
    sides: Mapping[str, StreamedSide],
    weights: ItemWeights = None,
    count_items: Callable[[int], object] | None = None,
) -> None:
    """Score the items of all systems, side by side as long as their ids are the same.

    Parameters
    ----------
    scorer : Scorer
    truth : StreamedSide
    sides : mapping from system to StreamedSide
    weights : mapping from id to number, optional
    count_items : callable, optional
        Called with the number of items that were scored.
    """
    for name in sides:
        scorer.add_system(name)  # A system may have no items.
    # A thread reads the next batch while one is scored.
    batches = prefetch(_pair_batches(truth, sides))
    with closing(batches):  # Reading stops after an error.
        for system, pred, ref in batches:
            _score_batch(scorer, system, pred, ref, weights)
            if count_items is not None:
                count_items(len(pred))


def _score_batch(
    scorer: Scorer, system: str, pred: Lists, ref: Lists, weights: ItemWeights
) -> None:
    """Score a batch, and discard its items."""
    batch_weights = weights
    if weights:
        ids = dict.fromkeys(map(str, (*ref.ids, *pred.ids)))
        batch_weights = {name: weights[name] for name in ids if name in weights}
    try:
        scorer.update(pred, ref, system=system, weights=batch_weights)
        scorer.drop_items()  # Compares the ids of both sides.
    except InputError as error:
        is_first_batch = not len(scorer)
        if error.code != "other-ids" or is_first_batch:
            raise
        # The error says that both sides share no id. But they shared ids in earlier batches.
        raise InputError("missing-ids", error.where, **error.values) from None


def _pair_batches(
    truth: StreamedSide, sides: Mapping[str, StreamedSide]
) -> Iterator[tuple[str, Lists, Lists]]:
    """Yield a system, a batch of its predictions, and the ground truth of the batch."""
    yield from _pair_equal_ids(truth, sides)
    has_rest = any(side.fill() for side in (truth, *sides.values()))
    if has_rest:
        yield from _pair_by_hash(truth, sides)


def _pair_equal_ids(
    truth: StreamedSide, sides: Mapping[str, StreamedSide]
) -> Iterator[tuple[str, Lists, Lists]]:
    """Yield batches while all sides have the same ids in the same order."""
    all_sides = [truth, *sides.values()]
    while n := min(side.fill() for side in all_sides):
        hashes = truth.hashes[:n]
        if not all(np.array_equal(side.hashes[:n], hashes) for side in all_sides):
            return
        truth.check(hashes, truth.lists)
        ref = truth.take(n)
        for name, side in sides.items():
            # The ids are equal. As the same object, they need no comparison.
            yield name, replace(side.take(n), ids=ref.ids), ref


def _pair_by_hash(
    truth: StreamedSide, sides: Mapping[str, StreamedSide]
) -> Iterator[tuple[str, Lists, Lists]]:
    """Yield the remaining items, with the rest of the ground truth in memory.

    Items without a prediction come last for each system.
    """
    # All sides had the same ids so far.
    for side in sides.values():
        side.seen = SeenIds(truth.seen.runs)
    ref, ref_hashes, row_of_hash = _store_rest(truth)
    for name, side in sides.items():
        is_predicted = np.zeros(len(ref), np.bool_)
        for pred, pred_hashes in side.rest():
            places = _find_hashes(ref_hashes, pred_hashes)
            has_ref = places >= 0
            ref_rows = row_of_hash[places[has_ref]]
            # Ids with a reference are checked by is_predicted, other ids by their hashes.
            side.check(pred_hashes, pred, np.flatnonzero(~has_ref))
            _check_not_predicted(pred, has_ref, is_predicted[ref_rows])
            is_predicted[ref_rows] = True
            # If every prediction has a reference, both have the same ids.
            ref_ids = None
            if len(ref_rows) == len(pred):
                ref_ids = pred.ids
            yield name, pred, ref.take(ref_rows, ref_ids)
        no_items = ref.side.rows(0, 0)
        no_predictions = replace(ref, ids=[], side=no_items, source=name)
        unpredicted = np.flatnonzero(~is_predicted)
        for batch in slices(len(unpredicted), MAX_UNPREDICTED_PER_BATCH):
            yield name, no_predictions, ref.take(unpredicted[batch])


def _check_not_predicted(pred: Lists, has_ref: Bools, is_predicted: Bools) -> None:
    """Raise an error if an item has a prediction already.

    Parameters
    ----------
    pred : Lists
    has_ref : bool array, shape (predictions,)
        Whether a prediction has an item in the ground truth.
    is_predicted : bool array, shape (predictions with an item,)
        Whether the item had a prediction before.
    """
    if is_predicted.any():
        pred_rows = np.flatnonzero(has_ref)
        first_repeated = int(pred_rows[is_predicted][0])
        raise InputError("rows-apart", pred.where(first_repeated))


def _store_rest(truth: StreamedSide) -> tuple[Lists, Hashes, Ints]:
    """Read the rest of the ground truth into memory.

    Only one copy of each array is in memory at a time.

    Returns
    -------
    lists : Lists
    hashes : uint64 array
        The hashes of the ids, in rising order.
    rows : int array
        The row of each hash.
    """
    batches = InputBuffer()
    hash_parts = [np.zeros(0, np.uint64)]
    id_parts = []
    for lists, hashes_of_lists in truth.rest():
        # Ids are joined below, so the buffer needs only numbers in their place.
        numbered_lists = replace(lists, ids=range(len(lists)))
        batches.extend(InputBuffer.of(numbered_lists))
        hash_parts.append(hashes_of_lists)
        ids = lists.ids
        if isinstance(ids, Utf8Strings):
            ids = Utf8Strings(ids.data, ids.ends)  # Frees the cached hashes.
        id_parts.append(ids)
    hashes = np.concatenate(hash_parts)
    hash_parts.clear()
    ref = batches.lists() if id_parts else truth.lists.rows(0, 0)
    batches = InputBuffer()  # Frees the batches.
    names = join_ids(id_parts)
    id_parts.clear()
    rows: Ints = np.argsort(hashes, kind="stable").astype(np.int32)
    hashes = hashes[rows]
    where = Places(ref.source, names)
    _check_distinct(hashes, rows, truth.seen, where)
    return replace(ref, ids=names, where=where), hashes, rows


def _check_distinct(
    sorted_hashes: Hashes, rows: Ints, seen: SeenIds, where: Callable[[int], str]
) -> None:
    """Raise an error if an id occurs twice, or was seen before."""
    is_repeated = ~starts_run(sorted_hashes)
    for run in seen.runs:
        is_repeated |= _find_hashes(run, sorted_hashes) >= 0
    if is_repeated.any():
        first_repeated = int(rows[is_repeated.argmax()])
        raise InputError("rows-apart", where(first_repeated))
