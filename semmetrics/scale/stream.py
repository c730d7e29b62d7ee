"""Scores of files of any size: both sides are read block by block, and items are summed and let go.

Conventions
-----------
While both sides have the same ids in the same order, they are read side by side. From the first
item on that differs, the rest of the ground truth is kept, as codes, and predictions stream past
it. Of each id eight bytes are kept, a hash: an id that comes again is refused. Two of a billion ids
have the same hash in one of forty data sets, which is then refused.

A shard is the items whose hash, divided by the number of shards, leaves its number: shards have no
item in common, and all of them together are the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids
from semmetrics.core.ragged import Ints, slices, starts_run
from semmetrics.data.blocks import find_parts
from semmetrics.data.form import (
    ReadOptions,
    prediction_options,
    takes_options,
    truth_options,
)
from semmetrics.data.inputs import open_input
from semmetrics.data.join import Weights
from semmetrics.data.lists import Lists, Texts, join_ids
from semmetrics.data.source import ahead
from semmetrics.errors import InputError, Places
from semmetrics.kinds import resolve_kind
from semmetrics.kinds.sample_weights import read_weights
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
"""Called with what is done, the bytes read, the items scored, and the bytes of all files."""
_TOGETHER = 1 << 16  # items that are scored together


class Seen:
    """Hashes of ids, in sorted runs of falling length."""

    def __init__(self, runs: tuple[Hashes, ...] = ()) -> None:
        self.runs = runs

    def add(self, hashes: Hashes) -> Ints:
        """Add hashes, and return the places of those that were there before."""
        order = np.argsort(hashes, kind="stable")
        new = hashes[order]
        again = ~starts_run(new)
        for run in self.runs:
            again |= _find(run, new) >= 0
        while self.runs and len(self.runs[-1]) <= 2 * len(new):
            *runs, last = self.runs
            self.runs, new = tuple(runs), np.concatenate([last, new])
            del last  # one copy at a time
            new.sort(kind="stable")
        self.runs = (*self.runs, new)
        return np.sort(order[again])


def _find(run: Hashes, hashes: Hashes) -> Ints:
    """Return the places of hashes in a sorted run; -1 for those that are not there."""
    if not len(run):
        return np.full(len(hashes), -1)
    order = np.argsort(hashes)  # rising ones are found near each other
    place = np.empty(len(hashes), np.int64)
    place[order] = np.searchsorted(run, hashes[order]).clip(max=len(run) - 1)
    return np.where(run[place] == hashes, place, -1)


class Side:
    """A side of a stream: the items that were read and not taken yet.

    Attributes
    ----------
    lists : Lists or None
        What was read last; None before.
    hashes : uint64 array
        Of their ids.
    seen : Seen
        Ids so far.
    """

    def __init__(self, batches: Iterator[Lists], shard: Shard | None) -> None:
        self._batches, self._shard = batches, shard
        self.lists: Any = None
        self.hashes: Hashes = np.zeros(0, np.uint64)
        self.seen = Seen()

    def fill(self) -> int:
        """Read on if all items were taken, and return how many there are; 0 at the end."""
        while not len(self.hashes) and (lists := next(self._batches, None)) is not None:
            self.hashes, self.lists = hash_ids(lists.ids), lists
            if self._shard is not None:
                rows = self._shard.rows(self.hashes)
                self.lists, self.hashes = lists.take(rows), self.hashes[rows]
        return len(self.hashes)

    def take(self, n: int) -> Any:
        """Return the next items, of which there are as many."""
        found: Any = self.lists
        if n < len(self.hashes):
            # what was noted is noted once
            rest = replace(found.rows(n, len(found)), notes=[])
            self.lists, found = rest, found.rows(0, n)
        self.hashes = self.hashes[n:]
        return found

    def rest(self) -> Iterator[tuple[Lists, Hashes]]:
        """Yield all items that are left."""
        while n := self.fill():
            hashes = self.hashes
            yield self.take(n), hashes

    def check(self, hashes: Hashes, lists: Lists, rows: Ints | None = None) -> None:
        """Refuse ids that came before: those of all items, or of some."""
        again = self.seen.add(hashes if rows is None else hashes[rows])
        if len(again):
            row = again[0] if rows is None else rows[again[0]]
            raise InputError("rows-apart", lists.where(int(row)))


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
        JSON lines, CSV, TSV, Parquet or Arrow: a file, a folder, a pattern as ``preds/*.csv``,
        or "-" for standard input.
    gts : path
    shard : str, optional
        Only a part of the items, by the hash of their ids: "3/8" is the third of eight.
    advance : callable, optional
        Called with what is done, the bytes read, the items scored, and the bytes of all files or
        None where a side is a stream.
    **options

    Returns
    -------
    Scorer
        Of all items; ``compute()`` gives the scores, ``save()`` writes a state.

    Raises
    ------
    InputError
        If the input or an option is wrong, an id comes twice, or rows of an id are not together.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, label in (("preds", "cat"), ("gt", "cat")):
    ...     _ = (folder / f"{name}.jsonl").write_text('{"id": "a", "labels": ["%s"]}\n' % label)
    >>> scorer = score_stream(f"{folder}/preds.jsonl", f"{folder}/gt.jsonl", measures="F1")
    >>> scorer.compute()["F1"].value
    1.0
    """
    systems = preds if isinstance(preds, Mapping) else {"preds": preds}
    parts, truth = (
        {name: find_parts(path) for name, path in systems.items()},
        find_parts(gts),
    )
    sizes = [one.size for one in (truth, *parts.values())]
    size = None if None in sizes else sum(filter(None, sizes))
    given, weights = take_weights(options)
    given = with_task(
        given, [one.paths[0] for one in (*parts.values(), truth) if one.size]
    )
    files, part = (
        given.get("read") or ReadOptions(),
        None if shard is None else Shard.read(shard),
    )
    what, read, scored = "reading and scoring", 0, 0

    def tell() -> None:
        if advance is not None:
            advance(what, read, scored, size)

    def count_bytes(n: int) -> None:
        nonlocal read
        read += n
        tell()

    def count_items(n: int) -> None:  # in another thread
        nonlocal scored
        scored += n
        tell()

    tell()
    scorer = Scorer(**given)
    if truth.size is not None and (
        stems := stems_to_count(scorer.setup, weights=weights)
    ):
        what, size = "counting document frequencies", truth.size
        lists = truth.lists(
            lambda data, _: scorer.setup.read_truth(data),
            truth_options(files),
            count_bytes,
        )
        total = add_up_frequencies(
            count_frequencies(one, scorer.setup, stems) for one in lists
        )
        scorer = Scorer(**{**given, "doc_freq": total})
        what, read, size = "reading and scoring", 0, sum(filter(None, sizes))
    setup = scorer.setup
    every: list[Any] = [
        truth.lists(
            lambda data, _: setup.read_truth(data), truth_options(files), count_bytes
        )
    ]
    pred_files = prediction_options(files)
    every += [one.lists(setup.read, pred_files, count_bytes) for one in parts.values()]
    with ExitStack() as stack:  # no reader outlives an error
        for one in every:
            stack.callback(_close, one)
        first, *others = (Side(one, part) for one in every)
        score_sides(
            scorer, first, dict(zip(parts, others, strict=True)), weights, count_items
        )
    return scorer


def _close(reader: Any) -> None:
    # a thread still uses it, when the program was told to end at once
    with suppress(ValueError):
        reader.close()


def take_weights(
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Return options for items that are let go, and the weights of items by id."""
    given = {name: value for name, value in options.items() if value is not None}
    if "set_size_probs" in given:
        raise InputError(
            "not-applicable",
            name="set_size_probs",
            what="a stream",
            fix="score the files whole",
        )
    files = given.get("read") or ReadOptions()
    weights = read_weights(given.pop("weights", None), files.beside())
    values = weights.values if isinstance(weights, Weights) else weights
    if values is not None and not isinstance(values, Mapping):
        raise InputError("wrong-type", "weights", value=values, wanted="weights by id")
    return {**given, "keep_rows": False}, values and {
        str(i): w for i, w in values.items()
    }


def with_task(given: dict[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    """Return options that say what is evaluated; if they do not yet, files are looked at."""
    if Scorer(**given).kind is not None or not paths:
        return given
    files = given.get("read")
    sides = [open_input(path, files) for path in paths]
    return {**given, "task": resolve_kind(*sides, options=files).kind}


def score_sides(
    scorer: Scorer,
    truth: Side,
    sides: Mapping[str, Side],
    weights: Mapping[str, Any] | None = None,
    count: Callable[[int], None] = int,  # type: ignore[assignment]
) -> None:
    """Score the items of both sides, side by side as long as their ids are the same.

    Parameters
    ----------
    scorer : Scorer
    truth : Side
    sides : mapping from system to Side
    weights : mapping from id to number, optional
    count : callable
        Called with the number of items that were scored.
    """

    def add(system: str, pred: Lists, ref: Lists) -> None:
        ids = dict.fromkeys(map(str, (*ref.ids, *pred.ids))) if weights else ()
        some = weights and {i: weights[i] for i in ids if i in weights}
        try:
            scorer.update(pred, ref, system=system, weights=some)
            scorer.drop_items()  # ids are checked here
        except InputError as error:
            if error.code != "other-ids" or not len(scorer):  # not all ids differ
                raise
            raise InputError("missing-ids", error.where, **error.values) from None

    for name in sides:
        scorer.add_system(name)  # there may be no items
    pairs: Any = ahead(_pairs(truth, sides))
    with closing(pairs):  # nothing is read on when an error was met
        for system, pred, ref in pairs:
            add(system, pred, ref)
            count(len(pred))


def _pairs(
    truth: Side, sides: Mapping[str, Side]
) -> Iterator[tuple[str, Lists, Lists]]:
    """Yield systems with some of their predictions, and the ground truth of the same items."""
    every = [truth, *sides.values()]
    while n := min(one.fill() for one in every):
        first = truth.hashes[:n]
        if any(not np.array_equal(one.hashes[:n], first) for one in every):
            break
        truth.check(first, truth.lists)
        ref = truth.take(n)
        for name, one in sides.items():
            yield name, replace(one.take(n), ids=ref.ids), ref
    if not any(one.fill() for one in every):
        return
    for one in sides.values():
        one.seen = Seen(truth.seen.runs)
    ref, hashes, order = _keep(truth)
    for name, side in sides.items():
        used = np.zeros(len(ref), np.bool_)
        nothing = replace(ref, ids=[], side=ref.side.rows(0, 0), source=name)
        for pred, own in side.rest():
            place = _find(hashes, own)
            rows = order[place[place >= 0]]
            side.check(own, pred, np.flatnonzero(place < 0))  # known ids are used once
            if used[rows].any():
                row = np.flatnonzero(place >= 0)[used[rows]][0]
                raise InputError("rows-apart", pred.where(int(row)))
            used[rows] = True
            yield (
                name,
                pred,
                ref.take(rows, pred.ids if len(rows) == len(pred) else None),
            )
        left = np.flatnonzero(~used)
        for part in slices(len(left), _TOGETHER):
            yield name, nothing, ref.take(left[part])


def _keep(truth: Side) -> tuple[Lists, Hashes, Ints]:
    """Return what is left of the ground truth, the rising hashes of its ids, and their rows."""
    kept, parts, ids = InputBuffer(), [np.zeros(0, np.uint64)], []
    for lists, own in truth.rest():
        kept.extend(InputBuffer.of(replace(lists, ids=range(len(lists)))))
        parts.append(own)
        texts = lists.ids  # which keep the hashes, too
        ids.append(Texts(texts.data, texts.ends) if isinstance(texts, Texts) else texts)
    hashes = np.concatenate(parts)
    parts.clear()  # one copy of each array at a time
    ref, kept = (
        (kept.lists() if ids else replace(truth.lists.rows(0, 0), ids=[])),
        InputBuffer(),
    )
    names: Any = join_ids(ids)
    ids.clear()
    order: Any = np.argsort(hashes, kind="stable").astype(np.int32)
    hashes = hashes[order]
    again = ~starts_run(hashes)
    for run in truth.seen.runs:
        again |= _find(run, hashes) >= 0
    where = Places(ref.source, names)
    if again.any():
        raise InputError("rows-apart", where(int(order[again.argmax()])))
    return replace(ref, ids=names, where=where), hashes, order
