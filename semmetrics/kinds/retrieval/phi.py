"""The matrices phi of a score: read or computed once, checked against the run, added to tasks.

Conventions
-----------
Rows are images, columns captions. A phi that is computed in the same call is a caption measure of
all captions of the gallery for all images; the references of an image are the captions of its
positives, in their order. So it is what `semmetrics.caption_matrix` computes of these, in the same
blocks and with the same digits. Document frequencies are counted over the images that are ranked,
each once.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints, lengths
from semmetrics.data.form import check_classes
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.pair_values import IDS_BESIDE, read_pair_ids
from semmetrics.data.rankings import DEPTH, MOST, PHI, Phi, RankedLists, fingerprint
from semmetrics.data.tasks import RetrievalTask
from semmetrics.errors import Fact, InputError, at
from semmetrics.kinds import common
from semmetrics.kinds.base import Measures, Options, Tasks, each_task
from semmetrics.kinds.captions import as_texts
from semmetrics.kinds.captions.matrix import PAIR_MEASURES, PairJob, options_taken
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.kinds.retrieval.relation import CAPTIONS, CaptionedTruth, check_size
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import flat_terms
from semmetrics.metrics.registry import kinds_of
from semmetrics.metrics.semantic_retrieval import needed_depth
from semmetrics.options import TAKEN

MATRIX_OPTIONS = [name for name, one in TAKEN["caption_matrix"].items() if one.kinds]
"""The options that only a phi computed here takes."""

# names in `Options.opened`
_ODD, _LACKING = (
    "notes on computed phi",
    "why phi cannot be computed",
)
# bytes of a matrix that is kept in memory; a larger one is a temporary file
_HELD = 1 << 30
_NEEDS_PHI = (
    "needs phi, a matrix of images x captions: give phi= (--phi FILE), or captions= "
    "(--captions FILE) to compute it"
)
_OTHERS = (
    "or name another phi: phi='CIDEr-D' (--phi CIDEr-D), or phi='SPICE(parser=offline)'"
)


# ---- tasks with phi -----------------------------------------------------------------------------


def with_phi(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Return tasks with the matrices that measures name, and how deep these look.

    Raises
    ------
    InputError
        If a matrix is not given, cannot be read or computed, or does not fit the run; or a
        measure has no cutoff.
    """
    wanted = [one for one in phi_measures(measures) if not _by_grades(one, options)]
    if not wanted:
        return tasks
    names = list(dict.fromkeys(str(m[PHI]) for m in wanted))

    def added(task: RetrievalTask, found: Mapping[str, _Given]) -> RetrievalTask:
        most = int(lengths(task.indptr).max(initial=0))
        depths, items = zip(
            *(needed_depth(measure, most) for measure in wanted), strict=True
        )
        phi = {name: _fit(task, given, options) for name, given in found.items()}
        more = {PHI: phi, DEPTH: max(depths), MOST: max(items)}
        return replace(task, beside={**task.beside, **more})

    made: dict[str, dict[str, RetrievalTask]] = {}
    for system, parts in tasks.items():
        truth = next(iter(parts.values())).beside.get(CAPTIONS)  # that of all parts
        found = {name: _read(name, truth, options) for name in names}
        made[system] = {part: added(task, found) for part, task in parts.items()}
    return made


def _by_grades(measure: Measure, options: Options) -> bool:
    """Whether a measure takes the grades of the positives for phi, as none is given."""
    can = measure.definition.name == "nDCG" and measure["ground_truth"] == "kept"
    given = common.by_name(options.value(PHI)) or options.value(CAPTIONS) is not None
    return can and measure[PHI] == "default" and not given


def phi_measures(measures: Measures) -> list[Measure]:
    """Return the measures that need phi; instead of a sum its terms."""
    return [one for one in flat_terms(measures) if PHI in one.definition.needs]


def chosen_phi(measure: Measure, tasks: Tasks, options: Options) -> tuple[Measure, str]:
    """Return a protocol's measure with the phi that is given, and why it has none.

    If nothing else is given, what the protocol names is computed of captions. It is computed to
    find out whether it can be, and kept.

    Raises
    ------
    InputError
        If the captions are wrong.
    """
    name, given = str(measure[PHI]), common.by_name(options.value(PHI))
    if given and name not in given:
        return measure.with_options(phi="default"), ""
    if given or options.value(CAPTIONS) is None:
        return measure, "" if given else _NEEDS_PHI
    reasons = options.opened.setdefault(_LACKING, {})
    if name not in reasons:
        _, task = next(iter(each_task(tasks)))
        truth, reasons[name] = task.beside[CAPTIONS], ""
        _texts(truth)
        try:
            _read(name, truth, options)
        except InputError as error:
            reasons[name] = f"{error}; {_OTHERS}"
    return measure, reasons[name]


class _Given(NamedTuple):
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
    found: _Given | None = opened.get(name)
    if truth is None or not is_computed(origin):
        if found is None or found.origin is not origin:
            found = opened[name] = _open(name, origin, options)
        return found
    # systems may rank others
    origin = (
        origin,
        _images(truth),
        list(map(str, truth.sides.columns)),
    )
    if found is None or found.origin != origin:
        values, identity = _compute(origin[0], truth, options)
        found = opened[name] = _Given(
            origin, values, origin[1:], identity, f"phi {origin[0]}"
        )
    return found


def _origin(name: str, truth: CaptionedTruth | None, options: Options) -> Any:
    """Return what is given under a name: a matrix, a path, or a measure to compute.

    Raises
    ------
    InputError
        If nothing is, or phi cannot be computed by the measure.
    """
    given = common.by_name(options.value(PHI))
    if name == "default" and len(given) == 1:
        (name,) = given
    if name in given:
        origin = given[name]
    elif name == "default" and given:
        raise InputError("several-phi", names=given)
    elif name == "default" and truth is None:
        raise InputError("needs-option", what="a measure of phi", name="phi")
    elif name == "default":
        origin = PAIR_MEASURES[0]
    elif Path(name).exists() or is_computed(name):
        origin = name
    else:
        remedy = f"give it: phi={{{name!r}: ...}} (--phi {name}=FILE)"
        raise InputError("unknown-name", what="phi", value=name, remedy=remedy)
    if truth is None and is_computed(origin):
        raise InputError("phi-without-captions", measure=origin)
    return origin


def _open(name: str, origin: Any, options: Options) -> _Given:
    """Read a matrix, with the ids of its rows and columns if it has some."""
    files = options.read
    if (
        isinstance(origin, str)
        and kinds_of(origin.partition("(")[0])
        and not Path(origin).exists()
    ):
        raise InputError("bad-choice", name="phi", value=origin, choices=PAIR_MEASURES)
    # of a list of rows, whole numbers are numbers and not names
    values = (
        np.asarray(origin, np.float64) if isinstance(origin, list | tuple) else origin
    )
    matrix = as_candidates(values, source=f"phi {name}", options=files)
    if not isinstance(matrix, Matrix) or matrix.sparse:
        values = {"format": matrix.understood, "wanted": "an array, or a .npy file"}
        raise InputError("wrong-format", matrix.source, what="phi", **values)
    rows = None if not matrix.has_ids else [str(one) for one in matrix.ids]
    columns = [str(one) for one in matrix.vocabulary] if matrix.named else None
    if isinstance(origin, str | os.PathLike):
        beside = f"{os.fspath(origin)}{IDS_BESIDE}"
        if Path(beside).exists():
            rows, columns = (
                list(map(str, ids)) for ids in read_pair_ids(beside, files)
            )
            for ids, side in ((rows, "images"), (columns, "captions")):
                check_classes(ids, at(beside, side), noun="id")
            check_size(len(rows), len(matrix), beside, "row", -1, "id")
            check_size(len(columns), matrix.values.shape[1], beside, "column", -1, "id")
    return _Given(
        origin,
        matrix.values,
        (rows, columns),
        fingerprint(matrix.values),
        matrix.source,
    )


def _fit(task: RetrievalTask, given: _Given, options: Options) -> Phi:
    """Check that a matrix fits a run, and find the row or column of each query in it."""
    transposed = task.settings["direction"] == "t2i"
    queries, gallery = given.ids[::-1] if transposed else given.ids
    n_queries, n_gallery = (
        given.values.shape[::-1] if transposed else given.values.shape
    )
    listed = isinstance(task.scores, RankedLists)
    if listed and queries is None:
        if options.queries is None or options.gallery is None:
            raise InputError("unnamed-phi", given.source)
        queries = [str(name) for name in options.queries]
        if len(queries) != n_queries:
            raise _wrong_shape(task, given)
    if queries is None or (isinstance(task.ids, range) and not listed):
        place = np.arange(n_queries)
        if n_queries != task.scores.shape[0]:
            raise _wrong_shape(task, given)
    else:
        ranked = np.flatnonzero(task.rows >= 0)
        place = np.full(task.scores.shape[0], -1)
        names = [task.ids[row] for row in ranked.tolist()]
        place[task.rows[ranked]] = _find(names, queries, "query", given)
    values, theirs, size = given.values, int(not transposed), task.scores.shape[1]
    own = (
        None if isinstance(task.gallery, range) else list(map(str, task.gallery[:size]))
    )
    if gallery is not None and own not in (None, list(gallery)):
        values = np.take(values, _find(own, gallery, "candidate", given), axis=theirs)
    elif n_gallery != size:
        raise _wrong_shape(task, given)
    if (place >= 0).all() and not np.array_equal(place, np.arange(n_queries)):
        values, place = np.take(values, place, axis=1 - theirs), np.arange(len(place))
    return Phi(values, "columns" if transposed else "rows", place, given.identity)


def _find(names: Sequence[str], ids: Sequence[str], noun: str, given: _Given) -> Ints:
    """Return the place of each name among the ids of phi; refuse names that it lacks."""
    places, lost = common.find_names(names, ids)
    # an image without positives has no references of which phi could be computed
    if lost:
        code = "no-references" if isinstance(given.origin, tuple) else "phi-lacks"
        raise InputError(code, given.source, n=len(lost), noun=noun, names=lost)
    return places


def _wrong_shape(task: RetrievalTask, given: _Given) -> InputError:
    want, have = task.scores.shape, given.values.shape
    want = want[::-1] if task.settings["direction"] == "t2i" else want
    wanted = (
        "its transpose"
        if have == want[::-1]
        else f"one of the predictions' shape, {want}"
    )
    return InputError(
        "wrong-shape", given.source, role="phi", shape=have, wanted=wanted
    )


# ---- phi computed of captions -------------------------------------------------------------------


def is_computed(spec: Any) -> bool:
    """Tell whether a phi is a measure, not a matrix or file.

    Examples
    --------
    >>> is_computed("CIDEr(stem=porter)"), is_computed("phi.npy")
    (True, False)
    """
    named = isinstance(spec, str) and spec.partition("(")[0] in PAIR_MEASURES
    return named and not Path(spec).exists()


def read_caption_texts(options: Options) -> Lists | None:
    """Read the captions, one text each.

    Raises
    ------
    InputError
        If an id has several texts, which are the captions of an image; or if options of computing
        phi are given and captions are not.
    """
    given = options.value(CAPTIONS)
    if given is None:
        if idle := [name for name in MATRIX_OPTIONS if name in options.set_by_user]:
            raise InputError(
                "needs-option", what=f"{idle[0]}= in retrieval", name=CAPTIONS
            )
        return None
    found = as_texts(given, source=CAPTIONS, options=options.read)
    several = np.flatnonzero(found.side.sizes != 1)
    if len(several):
        raise InputError("not-one-text", found.where(int(several[0])), n=len(several))
    return found


def _images(truth: CaptionedTruth) -> list[str]:
    """Return the images that have positives, in the order of the rows."""
    sizes = truth.positives.side.sizes.tolist()
    number = dict(zip(map(str, truth.positives.ids), sizes, strict=True))
    return [name for name in map(str, truth.sides.rows) if number.get(name)]


def _texts(truth: CaptionedTruth) -> tuple[list[list[str]], list[str]]:
    """Return the references of each image, and the captions.

    Raises
    ------
    InputError
        If captions or positives have no text, or the gallery no names that the texts have.
    """
    names: Any = truth.captions.ids
    gallery, source = list(map(str, truth.sides.columns)), truth.captions.source
    if isinstance(names, range):  # the texts are in the order of the columns
        names = gallery
        if truth.sides.listed or len(gallery) != len(truth.captions):
            found = f"{pluralize(len(truth.captions), 'caption')} without ids"
            wanted = (
                "a named gallery"
                if truth.sides.listed
                else f"a gallery of {len(gallery):,}"
            )
            raise InputError("wrong-count", source, found=found, wanted=wanted)
    text_of = dict(zip(map(str, names), truth.captions.values(), strict=True))
    known = {str(name): row for row, name in enumerate(truth.positives.ids)}
    vocabulary = list(map(str, truth.positives.vocabulary))
    indptr, codes = truth.positives.side.indptr, truth.positives.side.codes
    rows = [known[name] for name in _images(truth)]
    of_image = [
        [vocabulary[c] for c in codes[indptr[r] : indptr[r + 1]].tolist()] for r in rows
    ]
    needed = dict.fromkeys(name for some in (gallery, *of_image) for name in some)
    if lost := [name for name in needed if name not in text_of]:
        code = (
            "unnamed-gallery"
            if isinstance(truth.sides.columns, range)
            else "without-text"
        )
        raise InputError(code, source, n=len(lost), names=lost)
    return [[text_of[n] for n in some] for some in of_image], [
        text_of[n] for n in gallery
    ]


def _compute(spec: str, truth: CaptionedTruth, options: Options) -> tuple[Any, str]:
    """Compute a measure of all captions for all images that have positives.

    Parameters
    ----------
    spec : str
        The measure, with its options.
    truth : CaptionedTruth
    options : Options

    Returns
    -------
    matrix : float64 array, shape (images, captions)
        A memory map if it would be large.
    identity : str
        Its shape, a hash of its values, and how it was computed.
    """
    references, texts = _texts(truth)
    given = {
        name: options.value(name)
        for name in options_taken(spec)
        if name in options.set_by_user
    }
    if not references:
        where, remedy = truth.positives.source, "give those of images (rows)"
        raise InputError(
            "nothing-given", where, what="images with positives", remedy=remedy
        )
    job = PairJob.of(
        references, texts, spec, given, notes=options.opened.setdefault(_ODD, [])
    )
    matrix = _hold(job, options.progress)
    return matrix, f"{fingerprint(matrix)};{job.identity}"


def _hold(job: PairJob, progress: Any) -> Any:
    """Compute a matrix in memory; a large one in a file that is gone with it."""
    rows, columns = job.shape
    if 8 * rows * columns <= _HELD:
        return job.matrix(progress=progress)
    made = tempfile.TemporaryDirectory(
        prefix="semmetrics-phi-", ignore_cleanup_errors=True
    )
    with made as folder:
        matrix = job.matrix(Path(folder) / "phi.npy", progress=progress)
    if Path(
        folder
    ).exists():  # the map keeps the numbers, but the system does not let the file go
        weakref.finalize(matrix, shutil.rmtree, folder, ignore_errors=True)
    return matrix


# ---- facts --------------------------------------------------------------------------------------


def phi_facts(measures: Measures, options: Options) -> list[Fact]:
    """Note phi, captions and options of computing phi that have no effect."""
    given, facts = common.by_name(options.value(PHI)), []
    named = {str(m[PHI]) for m in phi_measures(measures)}
    if idle := [
        name for name in given if name not in named and (len(given) > 1 or not named)
    ]:
        which = listing(idle) if named else "it"
        facts.append(common.no_effect("phi", f"no measure here takes {which}"))
    if options.value(CAPTIONS) is not None and not any(
        options.opened.get(_LACKING, {}).values()
    ):
        found = (one.origin for one in options.opened.get(PHI, {}).values())
        computed = [
            one[0] for one in found if isinstance(one, tuple) and is_computed(one[0])
        ]
        taken = {name for spec in computed for name in options_taken(spec)}
        if not computed:
            facts.append(common.no_effect(CAPTIONS, "no phi is computed"))
        facts += [
            Fact("no-effect-on", values={"option": name, "on": ", ".join(computed)})
            for name in MATRIX_OPTIONS
            if computed and name in options.set_by_user and name not in taken
        ]
    return [*facts, *dict.fromkeys(options.opened.get(_ODD, ()))]
