"""Scores on many machines: by Ray, or in parts that Spark, Dask, Fugue and Ray hand out.

Conventions
-----------
Nothing is computed here. `score_dataset` reads each file once, by the readers of one process, and
its items go to the part that their hash says; a part joins both sides and saves the state of a
scorer; states are merged in a tree. Tasks hold nothing, so what a lost machine had is done again,
from the files on. What is not read in blocks, such as matrices and embeddings, each part opens
itself, and evaluates its shard of the items. Files must be where all machines find them.

`partial_scores` takes Arrow record batches. A row is an item, with both sides in it: columns "id",
"preds" and "gts", and if there are any "scores" (of the predictions) and "weights". The result of a
partition is one row with one binary column, "state", as `Scorer.save` writes it. An id stands in
one partition alone.
"""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import hash_ids
from semmetrics.data.blocks import FORMATS, Parts, find_parts
from semmetrics.data.form import (
    EXTENSIONS,
    ReadOptions,
    prediction_options,
    takes_options,
    truth_options,
)
from semmetrics.data.lists import Lists
from semmetrics.errors import InputError, at, require
from semmetrics.metrics.parsing import listed, parse_all
from semmetrics.metrics.registry import is_own
from semmetrics.options import COLUMNS
from semmetrics.scale.stream import Seen, Side, score_sides, take_weights, with_task
from semmetrics.scoring.fits import (
    add_up_frequencies,
    count_frequencies,
    stems_to_count,
)
from semmetrics.scoring.scorer import Scorer
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

ROLES = ("id", "preds", "gts", "scores", "weights")
_TOGETHER = 8  # states that are merged at once
_MOST = 100_000  # partitions
_CONNECT_SECONDS = 10
_FRAME_HEADER = 9  # bytes
_SETTINGS_FRAME = b"\4"
_HTTP2_GREETING = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0" + _SETTINGS_FRAME + bytes(5)
)
_TRIES = 5  # of a task whose machine was lost


@takes_options()
def score_dataset(
    preds: Any,
    gts: Any,
    *,
    address: str | None = None,
    partitions: int | None = None,
    num_gpus: float = 0,
    advance: Callable[[str, int, int], object] | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Score on all machines of a Ray cluster.

    Parameters
    ----------
    preds : path, ray.data.Dataset, or mapping from system to those
        A path is a file, a folder or a pattern; a Dataset has a row an item. None beside
        embeddings.
    gts : path or ray.data.Dataset
    address : str, optional
        Of a cluster: "auto" is the one that this machine belongs to. Without it, Ray is started on
        this machine, unless it runs already.
    partitions : int, optional
        Parts of the items; four for each processor where left out.
    num_gpus : float
        GPUs for each part, of measures whose embedding uses them.
    advance : callable, optional
        Called with what is done, the number of tasks done, and in all.
    **options

    Returns
    -------
    ScoreTable
        With the values and signatures of one process.

    Raises
    ------
    InputError
        As ``score``; or if the cluster cannot be reached, lacks what is asked of it, or fails.
    MissingDependencyError
        If Ray is not installed.
    """
    ray = require("ray", "scoring on a cluster", extra="ray")
    if not ray.is_initialized():
        _connect(ray, address or "local")
    if not 0 <= num_gpus <= ray.cluster_resources().get("GPU", 0):  # tasks would wait
        raise InputError(
            "cluster-failed", why=f"it has no {num_gpus:g} GPUs for a task"
        )
    if partitions is not None and not (
        isinstance(partitions, int) and 0 < partitions <= _MOST
    ):
        raise InputError(
            "bad-option", name="partitions", value=partitions, wanted="1 to 100,000"
        )
    if own := [
        m
        for m in parse_all(listed(options.get("measures") or ()))
        if is_own(m.definition)
    ]:
        raise InputError(
            "not-applicable",
            name="measures",
            what=f"a cluster, which lacks {own[0]}",
            fix="score in one process",
        )
    systems = dict(preds) if isinstance(preds, Mapping) else {"preds": preds}
    count = partitions or 4 * int(ray.cluster_resources().get("CPU", 1))
    job = _Job(ray, options, systems, gts, count, num_gpus, advance)
    try:
        return job.run()
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        why = str(error).partition("\n")[0]
        raise InputError(
            "cluster-failed", why=f"{type(error).__name__}: {why}"
        ) from error


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start Ray on this machine.

    Raises
    ------
    InputError
        If no server of Ray's protocol answers at the address within 10 seconds, or it is not a
        cluster.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        # Ray itself tries for minutes
        try:
            _check_server(host.strip("[]"), int(port))
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError("no-cluster", address=address, why=why) from None
    try:
        ray.init(address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError) as error:
        why = str(error).partition("\n")[0]
        raise InputError("no-cluster", address=address, why=why) from error


def _check_server(host: str, port: int) -> None:
    """Check that a server answers as Ray does, which speaks gRPC and so HTTP/2.

    With TLS only the connection is checked, because the server waits for a certificate.

    Raises
    ------
    OSError
        If nothing answers within 10 seconds, or the answer is in another protocol.
    """
    end = time.monotonic() + _CONNECT_SECONDS
    with socket.create_connection((host, port), timeout=_CONNECT_SECONDS) as connection:
        if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
            return
        connection.sendall(_HTTP2_GREETING)
        answer = b""
        while len(answer) < _FRAME_HEADER:
            connection.settimeout(max(0.001, end - time.monotonic()))
            part = connection.recv(_FRAME_HEADER - len(answer))
            if not part:
                break
            answer += part
    # the first frame of a server has its settings, for stream 0
    if answer[3:4] != _SETTINGS_FRAME or answer[5:] != bytes(4):
        raise OSError("what answers there is not Ray")


class _Job:
    """The tasks of one call."""

    def __init__(
        self,
        ray: Any,
        options: Any,
        systems: Any,
        gts: Any,
        count: int,
        gpus: float,
        advance: Any,
    ) -> None:
        self.ray, self.count, self.advance = ray, count, advance
        self.given, self.weights = take_weights(options)
        self.sides = {**systems, "": gts}  # the ground truth has no name
        self.places = {name: self._places(one) for name, one in self.sides.items()}
        self.is_whole = None in self.places.values()  # some side is not read in blocks
        blocks = (one[0] for one in self.places.values() if one)
        texts = [one.paths[0] for one in blocks if isinstance(one, Parts)]
        self.given = self.given if self.is_whole else with_task(self.given, texts)
        settings = {"max_retries": _TRIES, "num_gpus": gpus}
        self.remote = {
            one: ray.remote(**settings)(one) for one in (_score_part, _score_shard)
        } | {
            one: ray.remote(max_retries=_TRIES)(one) for one in (_split, _count, _merge)
        }

    def _places(self, side: Any) -> list[Any] | None:
        """Return the files or blocks of a side; None of one that is not read in blocks."""
        if hasattr(side, "to_arrow_refs"):
            return list(side.to_arrow_refs())
        paths = find_parts(side).paths if isinstance(side, str) else ()
        plain = [path.removesuffix(".gz").lower() for path in paths]
        known = [ending for ending, kind in EXTENSIONS.items() if kind in FORMATS]
        if not plain or not all(path.endswith(tuple(known)) for path in plain):
            return None
        return [
            Parts(side, (path,), None, paths[0] if len(paths) > 1 else "")
            for path in paths
        ]

    def run(self) -> ScoreTable:
        """Run all tasks, and return the scores."""
        if self.is_whole:
            inputs = self.ray.put((self.given, self.weights, self.sides))
            shards = [f"{number + 1}/{self.count}" for number in range(self.count)]
            states = [self._submit(_score_shard, inputs, shard) for shard in shards]
        else:
            states = self._score_parts()
        while len(states) > 1:
            groups = [
                states[k : k + _TOGETHER] for k in range(0, len(states), _TOGETHER)
            ]
            self._wait("scoring", states)
            states = [self._submit(_merge, *group) for group in groups]
        return Scorer.load(io.BytesIO(self.ray.get(states[0]))).compute()

    def _score_parts(self) -> list[Any]:
        given = self.ray.put(self.given)
        truth = self.places[""] or []
        if stems := stems_to_count(Scorer(**self.given).setup, weights=self.weights):
            counts = [self._submit(_count, given, place, stems) for place in truth]
            self._wait("counting document frequencies", counts)
            counted = add_up_frequencies(self.ray.get(one) for one in counts)
            given = self.ray.put({**self.given, "doc_freq": counted})
        parts: dict[str, list[Any]] = {}
        for name, places in self.places.items():
            split = self.remote[_split].options(num_returns=self.count)
            source = (
                self.sides[name] if isinstance(self.sides[name], str) else name or "gts"
            )
            made = [
                split.remote(given, name, source, place, self.count)
                for place in places or ()
            ]
            parts[name] = [one if isinstance(one, list) else [one] for one in made]
            self._wait("reading", [one[0] for one in parts[name]])
        weights = self.ray.put(self.weights)
        names = [(name, len(some)) for name, some in parts.items()]
        return [
            self._submit(
                _score_part,
                given,
                weights,
                names,
                f"{number + 1}/{self.count}",
                *(one[number] for some in parts.values() for one in some),
            )
            for number in range(self.count)
        ]

    def _submit(self, task: Any, *given: Any) -> Any:
        return self.remote[task].remote(*given)

    def _wait(self, what: str, left: Sequence[Any]) -> None:
        """Wait for tasks; one that failed ends it."""
        total, left = len(left), list(left)
        while left:
            _, left = self.ray.wait(left, num_returns=1, fetch_local=False)
            if self.advance is not None:
                self.advance(what, total - len(left), total)


# What workers do


def _split(given: Any, name: str, source: str, place: Any, count: int) -> Any:
    """Read a file or a block, and return its items by part."""
    parts: list[list[Lists]] = [[] for _ in range(count)]
    for lists in _read(given, name, source, place):
        number = hash_ids(lists.ids) % np.uint64(count)
        order = np.argsort(number, kind="stable")
        ends = np.searchsorted(number[order], np.arange(count + 1))
        sorted_lists = lists.take(order)
        for part, start, stop in zip(
            parts, ends[:-1].tolist(), ends[1:].tolist(), strict=True
        ):
            if stop > start:
                part.append(sorted_lists.rows(start, stop).occurring_alone())
    return parts if count > 1 else parts[0]


def _read(given: Any, name: str, source: str, place: Any) -> Iterator[Lists]:
    """Yield the items of a file or a block, which are called by their side."""
    setup, shared = _scorer(given).setup, given.get("read") or ReadOptions()
    files = prediction_options(shared) if name else truth_options(shared)

    def read(data: Any, source: str) -> Any:
        return setup.read(data, source) if name else setup.read_truth(data)

    if isinstance(place, Parts):
        yield from place.lists(read, files, lambda n: None)
    else:
        yield read(place, source)


def _count(given: Any, place: Any, stems: Sequence[str]) -> dict[str, Any]:
    """Count the document frequencies of a file or a block."""
    setup, every = _scorer(given).setup, _read(given, "", "", place)
    return add_up_frequencies(count_frequencies(one, setup, stems) for one in every)


def _score_part(
    given: Any, weights: Any, names: Sequence[tuple[str, int]], shard: str, *lists: Any
) -> bytes:
    """Join the items of a part, and return the state of their sums."""
    rest, sides = iter(lists), dict[str, Side]()
    for name, n in names:
        sides[name] = Side(iter([one for _ in range(n) for one in next(rest)]), None)
    scorer, truth = _scorer(given), sides.pop("")
    scorer.reset()
    score_sides(scorer, truth, sides, weights)
    return _state(scorer, shard)


def _score_shard(inputs: Any, shard: str) -> bytes:
    """Evaluate a shard of what is not read in blocks, and return the state of its sums."""
    given, weights, sides = inputs
    scorer = Scorer(**given)
    for name, preds in sides.items():
        if name:
            scorer.update(preds, sides[""], system=name, shard=shard, weights=weights)
    return _state(scorer, shard)


def _merge(*states: bytes) -> bytes:
    """Return the state of several."""
    return _state(Scorer.load(*map(io.BytesIO, states)))


def _state(scorer: Scorer, shard: str | None = None) -> bytes:
    target = io.BytesIO()
    scorer.save(target, shard=shard)
    return target.getvalue()


_OPEN: dict[bytes, Scorer] = {}


def _scorer(given: Any) -> Scorer:
    """Return a scorer whose models stay open for the next task of this process."""
    import pickle

    key = pickle.dumps(given)
    if key not in _OPEN:
        _OPEN.clear()
        _OPEN[key] = Scorer(**given)
    return _OPEN[key]


# Frameworks that hand out batches


@takes_options()
def partial_scores(
    batches: Iterable[Any],
    *,
    columns: Mapping[str, str] | None = None,
    **options: Unpack[Options],
) -> Iterator[Any]:
    """Sum the items of some record batches.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
    columns : mapping from role to column, optional
        For columns with other names than "id", "preds", "gts", "scores" and "weights".
    **options

    Yields
    ------
    pyarrow.RecordBatch
        One, for `merge_states`.

    Raises
    ------
    InputError
        If an id comes twice, a column is missing, or neither the measures nor ``task`` say what is
        evaluated.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"id": ["a"], "preds": [["cat"]], "gts": [["cat", "dog"]]})
    >>> parts = [part for part in partial_scores([batch], measures="Recall", task="labels")]
    >>> merge_states(parts).compute()["Recall"].value
    0.5
    """
    import pyarrow as pa

    for role in columns or ():
        check_choice("columns", role, ROLES)
    named = {role: role for role in ROLES} | dict(columns or {})
    given: Any = {name: value for name, value in options.items() if value is not None}
    scorer, seen = Scorer(**{**given, "keep_rows": False}), Seen()
    if scorer.kind is None:
        raise InputError("needs-option", what="a table", name="task")
    noun = next(
        n for n, kinds in COLUMNS.items() if scorer.kind in kinds and n != "score"
    )
    for batch in batches:
        table = pa.table(batch)
        for role, name in named.items():
            if (
                role in (*ROLES[:3], *(columns or ()))
                and name not in table.column_names
            ):
                raise InputError(
                    "missing-column",
                    "a partition",
                    role=role,
                    wanted=repr(name),
                    found=table.column_names,
                    flag="columns",
                )
        found = {
            role: table.column(name)
            for role, name in named.items()
            if name in table.column_names
        }
        ids = [str(one) for one in found["id"].to_pylist()]
        if len(again := seen.add(hash_ids(ids))):
            raise InputError("rows-apart", at("a partition", "", ids[again[0]]))
        pred, gt = ({"id": found["id"], noun: found[side]} for side in ROLES[1:3])
        pred |= {"score": found["scores"]} if "scores" in found else {}
        weights = found.get("weights") and dict(
            zip(ids, found["weights"].to_pylist(), strict=True)
        )
        scorer.update(pa.table(pred), pa.table(gt), weights=weights)
    yield pa.record_batch({"state": pa.array([_state(scorer)], pa.binary())})


def merge_states(parts: Iterable[Any]) -> Scorer:
    """Return the scorer of all partitions.

    Parameters
    ----------
    parts : iterable of pyarrow.RecordBatch, pyarrow.Table or bytes
        What `partial_scores` yields, or its column "state".

    Raises
    ------
    InputError
        If there is none, or they do not belong together.
    """
    each = (
        one.column("state").to_pylist() if hasattr(one, "column") else [one]
        for one in parts
    )
    states = [bytes(state) for column in each for state in column]
    if not states:
        raise InputError("nothing-given", what="partitions", remedy="give at least one")
    return Scorer.load(*map(io.BytesIO, states))
