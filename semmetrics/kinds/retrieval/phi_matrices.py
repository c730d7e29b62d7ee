"""The matrices phi of a score: read once, checked against what ranks, and handed to tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints, lengths
from semmetrics.data.matrix import Matrix
from semmetrics.data.phi import DEPTH, MOST, PHI, Phi, fingerprint
from semmetrics.data.rankings import RankedLists
from semmetrics.data.retrieval_task import RetrievalTask
from semmetrics.errors import InputError, listing
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


def _read(name: str, options: Options) -> tuple[Any, Matrix, str]:
    """Return the matrix of a name as it was given, as it was read, and its identity."""
    given = _given(options)
    if name == "default" and name not in given and len(given) == 1:
        (name,) = given
    if name not in given and Path(name).exists():
        given[name] = name
    if name not in given:
        raise InputError(
            "no phi is given" if name == "default" else f"there is no phi {name!r}",
            remedy=_remedy(name, given),
        )
    opened = options.opened.setdefault(PHI, {})
    kept = opened.get(name)
    if kept is None or kept[0] is not given[name]:
        matrix = as_candidates(given[name], source=f"phi {name}", options=options["read"])
        if not isinstance(matrix, Matrix) or matrix.sparse:
            raise InputError(
                "phi is no full matrix", where=matrix.source, remedy="give an array, or a .npy file"
            )
        kept = opened[name] = given[name], matrix, fingerprint(matrix.values)
    return kept  # type: ignore[no-any-return]


def _remedy(name: str, given: Mapping[str, Any]) -> str:
    """Say how a phi is given."""
    if given and name == "default":
        return f"say which is meant, as NCS(phi=NAME)@10: {listing(given)}"
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
    found: Mapping[str, tuple[Any, Matrix, str]],
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
        PHI: {name: _fit(task, matrix, key, options) for name, (_, matrix, key) in found.items()},
        DEPTH: max(depth for depth, _ in needed),
        MOST: max(items for _, items in needed),
    }


def _fit(task: RetrievalTask, matrix: Matrix, identity: str, options: Options) -> Phi:
    """Check a matrix against what ranks, and say where each query lies in it."""
    turned = task.settings["direction"] == "t2i"
    shape, place = _shape(task, matrix, options)
    want = shape[::-1] if turned else shape
    if matrix.values.shape != want:
        across = matrix.values.shape == want[::-1]
        raise InputError(
            f"phi has shape {matrix.values.shape[0]:,} x {matrix.values.shape[1]:,}, and what "
            f"ranks {want[0]:,} x {want[1]:,}",
            where=matrix.source,
            remedy="give its transpose" if across else "give phi of the same rows and columns",
        )
    _check_names(task, matrix, options)
    return Phi(matrix.values, "columns" if turned else "rows", place, identity)


def _shape(task: RetrievalTask, matrix: Matrix, options: Options) -> tuple[tuple[int, int], Ints]:
    """Return how many queries and candidates phi must have, and the place of each row in it."""
    if not isinstance(task.scores, RankedLists):
        return task.scores.shape, np.arange(task.scores.shape[0])
    if options["queries"] is None or options["gallery"] is None:
        raise InputError(
            "ranked lists do not say which row and column of phi are theirs",
            where=matrix.source,
            remedy="name them in the order of phi: queries= (--queries) and gallery= (--gallery)",
        )
    names = {str(name): number for number, name in enumerate(options["queries"])}
    place = np.full(task.scores.shape[0], -1)
    ranked = task.rows >= 0
    own = [names.get(str(name), -1) for name in np.asarray(task.ids, object)[ranked].tolist()]
    place[task.rows[ranked]] = own
    return (len(names), task.scores.shape[1]), place


def _check_names(task: RetrievalTask, matrix: Matrix, options: Options) -> None:
    """Refuse a matrix whose columns have other names than the gallery."""
    if not matrix.named or task.settings["direction"] == "t2i" or isinstance(task.gallery, range):
        return
    mine = list(map(str, task.gallery[: task.scores.shape[1]]))
    if mine != list(map(str, matrix.vocabulary)):
        raise InputError(
            "the columns of phi have other names than the gallery, or another order",
            where=matrix.source,
            remedy="give phi with the columns of the gallery, in its order",
        )


def unused_phi(measures: Sequence[Measure], options: Options) -> list[str]:
    """Say that phi was given in vain."""
    given = _given(options)
    named = {str(m[PHI]) for m in _takers(measures)}
    if not named and given:
        return ["phi= (--phi) has no effect: no measure here takes it"]
    idle = [name for name in given if name not in named and not (len(given) == 1 and named)]
    return [f"phi= (--phi) {listing(idle)}: no measure here takes it"] if idle else []
