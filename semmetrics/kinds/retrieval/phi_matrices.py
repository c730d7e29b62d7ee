"""The matrices phi of a score: read once, checked against the run, and added to tasks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from semmetrics.core.ragged import Ints, lengths
from semmetrics.data.form import ReadOptions, check_classes
from semmetrics.data.matrix import Matrix
from semmetrics.data.pair_scores import IDS_BESIDE, read_pair_ids
from semmetrics.data.phi import DEPTH, MOST, PHI, Phi, fingerprint
from semmetrics.data.rankings import RankedLists
from semmetrics.data.retrieval_task import RetrievalTask
from semmetrics.errors import InputError, at
from semmetrics.frozen import dataclass
from semmetrics.kinds import Options, Tasks, each_task
from semmetrics.kinds.captions.matrix import PAIR_MEASURES, options_taken
from semmetrics.kinds.retrieval.computed_phi import (
    CAPTIONS,
    MATRIX_OPTIONS,
    ODD,
    CaptionedTruth,
    compute_phi,
    is_computed,
)
from semmetrics.kinds.retrieval.reading import as_candidates
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.derived import flat_terms
from semmetrics.metrics.graded_retrieval import needed_depth
from semmetrics.metrics.registry import kinds_of
from semmetrics.options import OPTIONS

__all__ = ["chosen_phi", "takes_phi", "unused_phi", "with_phi"]

_NEEDS_PHI = (
    "needs phi, a matrix of images x captions: give phi= (--phi FILE), or the captions, of which "
    "it is computed: captions= (--captions FILE)"
)
_OTHERS = "or name another phi: phi='CIDEr-D' (--phi CIDEr-D), or phi='SPICE(parser=offline)'"
_LACKING = "why phi cannot be computed"  # under this name stand reasons among what was opened


def with_phi(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Return tasks with the matrices that measures name, and how deep these look.

    Raises
    ------
    InputError
        If a matrix is not given, cannot be read or computed, or does not fit the run; or a
        measure has no cutoff.
    """
    wanted = _takers(measures)
    if not wanted:
        return tasks
    names = list(dict.fromkeys(str(m[PHI]) for m in wanted))
    made: dict[str, dict[str, RetrievalTask]] = {}
    for system, parts in tasks.items():
        truth = next(iter(parts.values())).beside.get(CAPTIONS)  # that of all parts
        found = {name: _read(name, truth, options) for name in names}
        made[system] = {
            part: replace(task, beside=_beside(task, found, wanted, options))
            for part, task in parts.items()
        }
    return made


def _takers(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that need phi; instead of a sum its terms."""
    return [one for one in flat_terms(measures) if PHI in one.definition.needs]


def takes_phi(measures: Sequence[Measure]) -> bool:
    """Tell whether any of some measures needs a phi."""
    return bool(_takers(measures))


def chosen_phi(measure: Measure, tasks: Tasks, options: Options) -> tuple[Measure, str]:
    """Return a protocol's measure with the phi that is given, and why it has none.

    What the protocol names is computed of captions where nothing else is given. It is computed to
    find out whether it can be, and kept.

    Raises
    ------
    InputError
        If the captions are wrong.
    """
    name, given = str(measure[PHI]), _given(options)
    if given and name not in given:
        return measure.with_options(phi="default"), ""
    if given or options[CAPTIONS] is None:
        return measure, "" if given else _NEEDS_PHI
    reasons = options.opened.setdefault(_LACKING, {})
    if name not in reasons:
        _, task = next(iter(each_task(tasks)))
        truth, reasons[name] = task.beside[CAPTIONS], ""
        truth.texts()
        try:
            _read(name, truth, options)
        except InputError as error:
            reasons[name] = f"{error}; {_OTHERS}"
    return measure, reasons[name]


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


def _read(name: str, truth: CaptionedTruth | None, options: Options) -> _Given:
    """Read or compute the matrix of a name, once."""
    opened, origin = options.opened.setdefault(PHI, {}), _origin(name, truth, options)
    held: _Given | None = opened.get(name)
    if truth is None or not is_computed(origin):
        if held is None or held.origin is not origin:
            held = opened[name] = _open(name, origin, options)
        return held
    origin = origin, truth.images, truth.names  # systems may rank others
    if held is None or held.origin != origin:
        values, identity = compute_phi(origin[0], truth, options)
        held = opened[name] = _Given(origin, values, origin[1:], identity, f"phi {origin[0]}")
    return held


def _origin(name: str, truth: CaptionedTruth | None, options: Options) -> Any:
    """Return what is given under a name: a matrix, a path, or a measure to compute.

    Raises
    ------
    InputError
        If nothing is, or phi cannot be computed by the measure.
    """
    given = _given(options)
    if name not in given and name == "default":
        if len(given) == 1:
            return _origin(next(iter(given)), truth, options)
        if not given and truth is not None:
            return PAIR_MEASURES[0]
    elif name not in given and (Path(name).exists() or (truth is not None and is_computed(name))):
        return name
    if name not in given:
        problem = f"there is no phi {name!r}"
        if name == "default":
            several = f"{len(given)} phi are given, and none of them is the default"
            problem = several if given else "no phi is given"
        raise InputError(problem, remedy=_remedy(name, given))
    if truth is None and is_computed(given[name]):
        raise InputError(
            f"phi {given[name]} is computed of captions, and none are given",
            remedy=_remedy(given[name], given),
        )
    return given[name]


def _open(name: str, origin: Any, options: Options) -> _Given:
    """Read a matrix, with the ids of its rows and columns if it has some."""
    files = options["read"] or ReadOptions()
    _refuse_measure(origin)
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
            for ids, side in ((rows, "images"), (columns, "captions")):
                check_classes(ids, at(beside, side), noun="id")
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


def _refuse_measure(origin: Any) -> None:
    """Refuse the name of a measure that no phi is computed by, and that is no file."""
    if isinstance(origin, str) and kinds_of(origin.partition("(")[0]) and not Path(origin).exists():
        raise InputError(
            f"no phi is computed by {origin}",
            remedy=f"it is a matrix, or computed by {', '.join(PAIR_MEASURES)}",
        )


def _remedy(name: str, given: Mapping[str, Any]) -> str:
    """Say how a phi is given."""
    if given and name == "default":
        return f"say which is meant, as NCS(phi=NAME)@10: {listing(given)}; or give one alone"
    if is_computed(name):
        return (
            f"give {OPTIONS[CAPTIONS].both}, or write it first: semmetrics pairs --phi {name!r} -o "
            f"phi.npy CAPTIONS REFERENCES; then phi={{{name!r}: 'phi.npy'}} (--phi {name}=phi.npy)"
        )
    if name == "default":
        return (
            "give a matrix of images x captions: phi= (--phi FILE); semmetrics pairs writes one; "
            f"or the captions, of which it is computed: {OPTIONS[CAPTIONS].both}"
        )
    return f"give phi={{{name!r}: …}} (--phi {name}=FILE)"


def _beside(
    task: RetrievalTask,
    found: Mapping[str, _Given],
    wanted: Sequence[Measure],
    options: Options,
) -> dict[str, Any]:
    """Return the further inputs of a task that measures of phi need."""
    most = int(lengths(task.indptr).max(initial=0))
    needed = [needed_depth(measure, most) for measure in wanted]
    return {
        **task.beside,
        PHI: {name: _fit(task, given, options) for name, given in found.items()},
        DEPTH: max(depth for depth, _ in needed),
        MOST: max(items for _, items in needed),
    }


def _fit(task: RetrievalTask, given: _Given, options: Options) -> Phi:
    """Check that a matrix fits a run, and find the row or column of each query in it."""
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
    """Return the place in phi of each row of the run: by its id if both have ids."""
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
    ranked = np.flatnonzero(task.rows >= 0)
    own = [str(task.ids[row]) for row in ranked.tolist()]
    place = np.full(number, -1)
    place[task.rows[ranked]] = _find(own, ids, "query", given)
    return place


def _order(task: RetrievalTask, ids: Sequence[str], given: _Given) -> Ints | None:
    """Return where the candidates of the gallery lie in phi; None where they lie as they are."""
    if isinstance(task.gallery, range):
        return None
    own = [str(name) for name in task.gallery[: task.scores.shape[1]]]
    return None if own == list(ids) else _find(own, ids, "candidate", given)


def _find(names: Sequence[str], ids: Sequence[str], noun: str, given: _Given) -> Ints:
    """Return the place of each name among the ids of phi; refuse names that it lacks."""
    known = {name: place for place, name in enumerate(ids)}
    lost = [name for name in names if name not in known]
    if lost:
        problem = f"phi lacks {pluralize(len(lost), noun)}: {listing(lost)}"
        remedy = "give phi of all queries and candidates, with the same ids"
        if isinstance(given.origin, tuple):  # it is computed
            remedy = "an image without positives has no references: leave it out, or give a matrix"
        raise InputError(problem, where=given.source, remedy=remedy)
    return np.array([known[name] for name in names], np.int64)


def _refuse_shape(task: RetrievalTask, given: _Given, turned: bool) -> NoReturn:
    want, have = task.scores.shape, given.values.shape
    want = want[::-1] if turned else want
    mine, theirs = (f"{rows:,} x {columns:,}" for rows, columns in (have, want))
    remedy = "give phi of the same rows and columns"
    if have == want[::-1]:
        remedy = "give its transpose"
    problem = f"phi has shape {mine}, and the predictions have {theirs}"
    raise InputError(problem, where=given.source, remedy=remedy)


def unused_phi(measures: Sequence[Measure], options: Options) -> list[str]:
    """Note phi, captions and options of computing phi that have no effect."""
    given = _given(options)
    named = {str(m[PHI]) for m in _takers(measures)}
    notes = []
    if not named and given:
        notes.append("phi= (--phi) has no effect: no measure here takes it")
    else:
        idle = [name for name in given if name not in named and not (len(given) == 1 and named)]
        notes += [f"phi= (--phi) {listing(idle)}: no measure here takes it"] if idle else []
    return notes + _unused_captions(options) + list(dict.fromkeys(options.opened.get(ODD, ())))


def _unused_captions(options: Options) -> list[str]:
    """Note captions, or options of computing phi, that have no effect."""
    if options[CAPTIONS] is None or any(options.opened.get(_LACKING, {}).values()):
        return []
    held = [one.origin for one in options.opened.get(PHI, {}).values()]
    computed = [one[0] for one in held if isinstance(one, tuple) and is_computed(one[0])]
    if not computed:
        return [f"{OPTIONS[CAPTIONS].both} has no effect: no phi is computed"]
    taken = {name for spec in computed for name in options_taken(spec)}
    idle = [name for name in MATRIX_OPTIONS if name in options.given and name not in taken]
    return [f"{OPTIONS[name].both} has no effect on {listing(computed)}" for name in idle]
