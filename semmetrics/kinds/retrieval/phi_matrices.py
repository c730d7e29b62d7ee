"""The matrices phi of a score: read once, checked against what ranks, and handed to tasks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from semmetrics.core.ragged import Ints, lengths
from semmetrics.data.form import ReadOptions
from semmetrics.data.matrix import Matrix
from semmetrics.data.pair_scores import IDS_BESIDE, read_pair_ids
from semmetrics.data.phi import DEPTH, MOST, PHI, Phi, fingerprint
from semmetrics.data.rankings import RankedLists
from semmetrics.data.retrieval_task import RetrievalTask
from semmetrics.errors import InputError, listing, pluralize
from semmetrics.frozen import dataclass
from semmetrics.kinds import Options, Tasks
from semmetrics.kinds.retrieval.reading import as_candidates
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.derived import terms_of
from semmetrics.metrics.graded_retrieval import needed_depth

__all__ = ["takes_phi", "unused_phi", "with_phi"]

_COMPUTED = ("CIDEr-D", "CIDEr", "SPICE", "BagSim")  # by semmetrics pairs


def with_phi(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Return tasks with the matrices that measures name, and how deep these look.

    Raises
    ------
    InputError
        If a matrix is not given, cannot be read, or does not fit what ranks; or a measure has no
        cutoff, or ranks parts of the gallery alone.
    """
    wanted = _takers(measures)
    if not wanted:
        return tasks
    found = {name: _read(name, options) for name in dict.fromkeys(str(m[PHI]) for m in wanted)}
    return {
        system: {
            part: replace(task, beside=_beside(task, found, wanted, options))
            for part, task in parts.items()
        }
        for system, parts in tasks.items()
    }


def _takers(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures of phi, sums as what they are sums of."""
    flat = [one for m in measures for some in (terms_of(m) or {"": [m]}).values() for one in some]
    return [one for one in dict.fromkeys(flat) if PHI in one.definition.needs]


def takes_phi(measures: Sequence[Measure]) -> bool:
    """Tell whether any of some measures needs a phi."""
    return bool(_takers(measures))


def _given(options: Options) -> dict[str, Any]:
    """Return what is given as phi, by name."""
    given = options[PHI]
    if given is None:
        return {}
    return dict(given) if isinstance(given, Mapping) else {"default": given}


@dataclass(frozen=True, eq=False)
class _Given:
    """A matrix as it was read.

    Attributes
    ----------
    origin : object
        What was given.
    values : array
    ids : pair of lists of str or None
        Of its rows and of its columns.
    identity, source : str
    """

    origin: Any
    values: Any
    ids: tuple[list[str] | None, list[str] | None]
    identity: str
    source: str


def _read(name: str, options: Options) -> _Given:
    """Return the matrix of a name; read once."""
    given = _given(options)
    if name == "default" and name not in given and len(given) == 1:
        (name,) = given
    if name not in given and Path(name).exists():
        given[name] = name
    if name not in given:
        raise InputError(
            f"there is no phi {name!r}"
            if name != "default"
            else f"{len(given)} phi are given, and none of them is the default"
            if given
            else "no phi is given",
            remedy=_remedy(name, given),
        )
    opened = options.opened.setdefault(PHI, {})
    if name not in opened or opened[name].origin is not given[name]:
        opened[name] = _open(name, given[name], options)
    found: _Given = opened[name]
    return found


def _open(name: str, origin: Any, options: Options) -> _Given:
    """Read a matrix, with the ids of its rows and columns if it has some."""
    files = options["read"] or ReadOptions()
    rows_of = np.asarray(origin, np.float64) if _is_table(origin) else origin
    matrix = as_candidates(rows_of, source=f"phi {name}", options=files)
    if not isinstance(matrix, Matrix) or matrix.sparse:
        raise InputError(
            "phi is no full matrix", where=matrix.source, remedy="give an array, or a .npy file"
        )
    rows = None if isinstance(matrix.ids, range) else [str(one) for one in matrix.ids]
    columns = [str(one) for one in matrix.vocabulary] if matrix.named else None
    if isinstance(origin, str | os.PathLike):
        beside = f"{os.fspath(origin)}{IDS_BESIDE}"
        if Path(beside).exists():
            rows, columns = (list(map(str, ids)) for ids in read_pair_ids(beside, files))
            if (len(rows), len(columns)) != matrix.values.shape:
                raise InputError(
                    f"it names {pluralize(len(rows), 'row')} and "
                    f"{pluralize(len(columns), 'column')}, and the matrix has "
                    f"shape {matrix.values.shape}",
                    where=beside,
                    remedy="write both again with semmetrics pairs, or remove the file",
                )
    return _Given(origin, matrix.values, (rows, columns), fingerprint(matrix.values), matrix.source)


def _is_table(value: Any) -> bool:
    """Tell whether it is a list of rows of numbers, whole ones among them."""
    rows = isinstance(value, list | tuple) and all(isinstance(row, list | tuple) for row in value)
    if not rows or len({len(row) for row in value}) != 1:
        return False
    return all(isinstance(one, Real) and not isinstance(one, bool) for row in value for one in row)


def _remedy(name: str, given: Mapping[str, Any]) -> str:
    """Say how a phi is given."""
    if given and name == "default":
        return f"say which is meant, as NCS(phi=NAME)@10: {listing(given)}; or give one alone"
    if name in _COMPUTED:
        return (
            f"write it first: semmetrics pairs --phi {name} -o phi.npy CAPTIONS REFERENCES; then "
            f"phi={{{name!r}: 'phi.npy'}} (--phi {name}=phi.npy)"
        )
    if name == "default":
        return "give a matrix of images x captions: phi= (--phi FILE); semmetrics pairs writes one"
    return f"give phi={{{name!r}: …}} (--phi {name}=FILE)"


def _beside(
    task: RetrievalTask,
    found: Mapping[str, _Given],
    wanted: Sequence[Measure],
    options: Options,
) -> dict[str, Any]:
    """Return what measures of phi take beside a task."""
    if task.folds is not None:
        raise InputError(
            f"{', '.join(dict.fromkeys(m.definition.name for m in wanted))}: phi is of the whole "
            "gallery, and here each part of it is ranked alone",
            remedy="leave folds= (--folds) out",
        )
    most = int(lengths(task.indptr).max(initial=0))
    needed = [needed_depth(measure, most) for measure in wanted]
    return {
        **task.beside,
        PHI: {name: _fit(task, given, options) for name, given in found.items()},
        DEPTH: max(depth for depth, _ in needed),
        MOST: max(items for _, items in needed),
    }


def _fit(task: RetrievalTask, given: _Given, options: Options) -> Phi:
    """Check a matrix against what ranks, and say where each query lies in it."""
    turned = task.settings["direction"] == "t2i"
    queries, gallery = given.ids[::-1] if turned else given.ids
    n_queries, n_gallery = given.values.shape[::-1] if turned else given.values.shape
    place = _places(task, queries, n_queries, given, options)
    order = None if gallery is None else _order(task, gallery, given)
    if order is None and n_gallery != task.scores.shape[1]:
        _refuse_shape(task, given, turned)
    values, theirs = given.values, int(not turned)
    if order is not None:
        values = np.take(values, order, axis=theirs)
    if (place >= 0).all() and not np.array_equal(place, np.arange(n_queries)):
        values, place = np.take(values, place, axis=1 - theirs), np.arange(len(place))
    return Phi(values, "columns" if turned else "rows", place, given.identity)


def _places(
    task: RetrievalTask, ids: Sequence[str] | None, size: int, given: _Given, options: Options
) -> Ints:
    """Return the place in phi of each row of what ranks: by its id where both have ids."""
    listed = isinstance(task.scores, RankedLists)
    number = task.scores.shape[0]
    if listed and ids is None:
        if options["queries"] is None or options["gallery"] is None:
            raise InputError(
                "ranked lists do not say which row and column of phi are theirs",
                where=given.source,
                remedy="name them in the order of phi: queries= (--queries) and gallery= "
                "(--gallery)",
            )
        ids = [str(name) for name in options["queries"]]
        if len(ids) != size:
            _refuse_shape(task, given, False)
    if ids is None or (isinstance(task.ids, range) and not listed):
        if size != number:
            _refuse_shape(task, given, task.settings["direction"] == "t2i")
        return np.arange(number)
    known = {name: place for place, name in enumerate(ids)}
    ranked = np.flatnonzero(task.rows >= 0)
    own = [str(task.ids[row]) for row in ranked.tolist()]
    lost = [name for name in own if name not in known]
    if lost:
        _refuse_ids(lost, "query", given)
    place = np.full(number, -1)
    place[task.rows[ranked]] = [known[name] for name in own]
    return place


def _order(task: RetrievalTask, ids: Sequence[str], given: _Given) -> Ints | None:
    """Return where the candidates of the gallery lie in phi; None where they lie as they are."""
    if isinstance(task.gallery, range):
        return None
    own = [str(name) for name in task.gallery[: task.scores.shape[1]]]
    if own == list(ids):
        return None
    known = {name: place for place, name in enumerate(ids)}
    lost = [name for name in own if name not in known]
    if lost:
        _refuse_ids(lost, "candidate", given)
    return np.array([known[name] for name in own], np.int64)


def _refuse_ids(lost: Sequence[str], noun: str, given: _Given) -> NoReturn:
    raise InputError(
        f"phi lacks {pluralize(len(lost), noun)}: {listing(lost)}",
        where=given.source,
        remedy="give phi of all queries and candidates, with the same ids",
    )


def _refuse_shape(task: RetrievalTask, given: _Given, turned: bool) -> NoReturn:
    want, have = task.scores.shape, given.values.shape
    want = want[::-1] if turned else want
    raise InputError(
        f"phi has shape {have[0]:,} x {have[1]:,}, and what ranks {want[0]:,} x {want[1]:,}",
        where=given.source,
        remedy="give its transpose"
        if have == want[::-1]
        else "give phi of the same rows and columns",
    )


def unused_phi(measures: Sequence[Measure], options: Options) -> list[str]:
    """Say that phi was given in vain."""
    given = _given(options)
    named = {str(m[PHI]) for m in _takers(measures)}
    if not named and given:
        return ["phi= (--phi) has no effect: no measure here takes it"]
    idle = [name for name in given if name not in named and not (len(given) == 1 and named)]
    return [f"phi= (--phi) {listing(idle)}: no measure here takes it"] if idle else []
