"""From a run and positives to retrieval tasks: names, directions, folds, and what is left out.

Conventions
-----------
The rows of a run are joined with the positives by id, or by position if rows have no names; ids
that are whole numbers are then positions. The positives of the columns (t2i) are those of the rows
transposed, unless they are given themselves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import find_device, is_torch, to_device
from semmetrics.core.hashing import hash_ids, mix
from semmetrics.core.ragged import Ints
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import join_rows
from semmetrics.data.lists import Ids, Lists, Side, take_ids
from semmetrics.data.matrix import (
    Matrix,
    check_finite,
    is_membership,
    members,
    row_blocks,
)
from semmetrics.data.observations import Observations
from semmetrics.data.rankings import Products, RankedLists, Similarities, check_repeats
from semmetrics.data.swapped import check_rankings, observe_truth
from semmetrics.data.tasks import RetrievalTask
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import class_names, note_builders
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.messages import pluralize

LISTED = "listed"
"""What a signature says of a gallery that only lists name."""
CAPTIONS = "captions"
"""The option that gives the captions, and under which a task has its `CaptionedTruth`."""

_SUSPECT = 3  # standard errors by which similarities of the transpose are larger
_LEAST_PLACES = (
    3  # columns of a matrix that may list places: 0 and 1 are often something else
)
_BLOCK = 1 << 18  # numbers looked at together: they stay in a cache


# ---- vectors of both sides ----------------------------------------------------------------------


class Embeddings(Matrix):
    """Vectors of queries and of a gallery; the values, `Products`, are their similarities."""

    @property
    def contents(self) -> tuple[int, str]:
        """How many of what it holds."""
        return sum(self.values.shape), "vector"


EMBEDDINGS = ("queries_embeddings", "gallery_embeddings")


def read_embeddings(options: ResolvedOptions) -> Embeddings:
    """Read the vectors of both sides, as the options name them.

    Raises
    ------
    InputError
        If one side is lacking, they have different dimensions, or a number is not finite.
    """
    names = EMBEDDINGS
    for one, other in (names, names[::-1]):
        if options.value(one) is None:
            raise InputError("needs-option", what=other, name=one)
    files = options.read
    tables = [_read_vectors(options.value(name), name, files) for name in names]
    width, shape = tables[0].shape[1], tables[1].shape
    if shape[1] != width:
        wanted = f"vectors of {width} dimensions, like the queries"
        raise InputError(
            "wrong-shape", names[1], role="the gallery", shape=shape, wanted=wanted
        )
    kind: Any = np.result_type(*(table.dtype for table in tables))
    notes: list[Fact] = []
    if options.similarity == "cosine":
        made = [_unit(table, kind) for table in tables]
        tables, zeros = [table for table, _ in made], sum(number for _, number in made)
        notes = note_builders.counted("zero-length-vectors", zeros)
    first = options.value(names[0])
    own = str(first.device) if is_torch(first) else "cpu"  # where numpy computes
    device = find_device(options.device or (None if own == "cpu" else own))
    both = [to_device(np.ascontiguousarray(table, kind), device) for table in tables]
    size = f"{len(both[0]):,} x {len(both[1]):,} of {width:,} dimensions, {kind}"
    understood = f"embeddings, {size}, compared by {options.similarity}"
    source = " and ".join(
        options.value(name) for name in names if isinstance(options.value(name), str)
    )
    source, values = source or "embeddings", Products(*both)
    given: Any = {"source": source, "understood": understood, "notes": notes}
    return Embeddings(values, range(len(both[0])), (), **given, named=False)


def _read_vectors(given: Any, name: str, files: ReadOptions) -> Any:
    """Return one side's vectors as a float array."""
    if isinstance(given, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        values: Any = read_dense(
            given, files.beside(), "vectors are", ("npy", "npz", "hdf5")
        )
    else:
        from semmetrics.data.objects import plain_matrix

        values = plain_matrix(given, name)
        if values.dtype.kind == "f":
            check_finite(values, name)
    if not values.size:
        raise InputError(
            "wrong-shape", name, role="it", shape=values.shape, wanted="vectors"
        )
    single = values.dtype.kind != "f" or values.dtype == np.float16
    return values.astype(np.float32) if single else values


def _unit(table: Any, kind: Any) -> tuple[Any, int]:
    """Return vectors of length 1, those of length 0 as they are, and the number of the latter."""
    made, zeros = np.empty(table.shape, kind), 0
    step = max(1, _BLOCK // table.shape[1])
    for start in range(0, len(table), step):
        part = np.asarray(table[start : start + step], np.float64)
        largest = np.abs(part).max(axis=1)
        zeros += int((largest == 0).sum())
        # squares stay finite
        part = part / np.where(largest > 0, largest, 1.0)[:, None]
        norms = np.sqrt(np.einsum("ij,ij->i", part, part))
        made[start : start + step] = part / np.where(norms > 0, norms, 1.0)[:, None]
    return made, zeros


# ---- positives ----------------------------------------------------------------------------------


def as_positives(
    found: Lists | Matrix, gallery: int | None = None
) -> tuple[Lists, int]:
    """Return the positives of each query, each once, and how many entries of grade 0 were left out.

    Grades are the scores of the positives.

    Parameters
    ----------
    found : Lists or Matrix
        A matrix holds 0/1 for each candidate, or in each row the columns of its positives.
    gallery : int, optional
        The number of candidates, if a matrix of scores or vectors tells it.

    Raises
    ------
    InputError
        If the matrix holds anything else, or 0/1 for a part of the candidates; if a candidate
        has two grades for one query.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> positives, n = as_positives(as_candidates({"q": {"a": 2, "b": 0}}))
    >>> positives.to_list(), n
    ([['a']], 1)
    """
    if isinstance(found, Matrix):
        found = _relation(found, gallery)
    side, width = found.side, max(1, len(found.vocabulary))
    if side.scores is not None:
        cells = ragged.cell_keys(side.indptr, side.codes, width)
        order = np.lexsort((side.scores, cells))
        twice = (np.diff(cells[order]) == 0) & (np.diff(side.scores[order]) != 0)
        if twice.any():
            row, code = divmod(int(cells[order][np.flatnonzero(twice)[0]]), width)
            where, name = found.where(row), found.vocabulary[code]
            raise InputError("duplicate", where, role="with two grades,", value=name)
        side = side.keep(side.scores > 0)
    graded, notes = len(found.side.codes) - len(side.codes), list(found.notes)
    cells = ragged.cell_keys(side.indptr, side.codes, width)
    first = ragged.first_occurrences(cells, width * len(found))
    if first is not None:
        side, repeated = side.keep(first), int((~first).sum())
        notes.append(Fact("repeated-positives", repeated))
    return replace(found, side=side, notes=notes), graded


def plausible_positives(
    classes: Lists, positives: Lists, differing: int = 0
) -> dict[str, list[str]]:
    """Return the plausible matches of each image: positives of all images of much the same classes.

    Parameters
    ----------
    classes : Lists
        Of each image, such as those of its annotated objects. Images that have none are left out.
    positives : Lists
        Of each image, such as its captions.
    differing : int
        In how many classes the images may differ: ζ of the paper, which takes the mean of PMRP for
        0, 1 and 2.

    Raises
    ------
    InputError
        If no image has classes and positives.

    References
    ----------
    Chun et al. 2021, Probabilistic embeddings for cross-modal retrieval, section 4.2.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> classes = as_labels({"1": ["cat"], "2": ["dog", "cat"], "3": ["bus", "dog"]})
    >>> captions = as_candidates({"1": ["a"], "2": ["b"], "3": ["c"]})
    >>> plausible_positives(classes, captions, differing=1)
    {'1': ['a', 'b'], '2': ['a', 'b'], '3': ['c']}
    """
    from scipy.sparse import csr_array

    own = {
        str(i): row for i, row in zip(positives.ids, positives.to_list(), strict=True)
    }
    side, shape = classes.side, (len(classes), len(classes.vocabulary))
    table = csr_array((np.ones(len(side.codes)), side.codes, side.indptr), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1
    sizes: Any = table.sum(axis=1)
    some = np.flatnonzero((sizes > 0) & [str(i) in own for i in classes.ids])
    images = [str(classes.ids[place]) for place in some.tolist()]
    if not images:
        what, remedy = (
            "images with classes and positives",
            "give both files the same ids",
        )
        raise InputError("nothing-given", positives.source, what=what, remedy=remedy)
    table, sizes, found = table[some], sizes[some], dict[str, list[str]]()
    for start in range(0, len(images), 256):  # images that are compared together
        part = slice(start, start + 256)
        near = (
            sizes[part, None] + sizes - 2 * (table[part] @ table.T).toarray()
            <= differing
        )
        for image, row in zip(images[part], near, strict=True):
            places = np.flatnonzero(row).tolist()
            found[image] = [name for place in places for name in own[images[place]]]
    return found


def _relation(matrix: Matrix, gallery: int | None) -> Lists:
    """Return the positives that a matrix of 0/1 marks, or whose columns its rows list."""
    if (
        not matrix.sparse
        and matrix.values.dtype.kind in "iu"
        and (matrix.values > 1).any()
    ):
        columns, codes = np.unique(matrix.values, return_inverse=True)
        indptr = np.arange(len(matrix) + 1) * matrix.values.shape[1]
        side = Side(indptr, codes.ravel().astype(np.int32))
        lists = replace(matrix, vocabulary=list(map(str, columns.tolist()))).lists(side)
        return replace(lists, understood=f"{matrix.understood}, columns by row")
    if not is_membership(matrix):
        raise InputError("truth-of-scores", matrix.source)
    width = matrix.values.shape[1]
    if not (matrix.named or matrix.sparse) and gallery is not None and width < gallery:
        raise InputError("partial-truth", matrix.source, columns=width, gallery=gallery)
    return replace(members(matrix), understood=f"{matrix.understood}, 0/1")


# ---- rows and columns by name -------------------------------------------------------------------


class Sides(NamedTuple):
    """What is ranked: the scores, and the names of rows and columns; ranges have none.

    ``listed`` tells whether only lists name the gallery.
    """

    scores: Any
    rows: Ids
    columns: Ids
    source: str
    listed: bool = False

    def transpose(self) -> Sides:
        """Return the columns as queries."""
        if isinstance(self.scores, RankedLists):
            what = "ranked lists, which have one direction"
            raise InputError("not-applicable", self.source, name="direction", what=what)
        return Sides(self.scores.transpose(), self.columns, self.rows, self.source)


def name_sides(
    run: Lists | Matrix, positives: Lists, options: ResolvedOptions
) -> Sides:
    """Name the rows and columns of a run."""
    if isinstance(run, Lists):
        return _named_lists(run, positives, options.queries, options.gallery)
    own = [
        None if isinstance(run.ids, range) else list(map(str, run.ids)),
        list(map(str, run.vocabulary)) if run.named else None,
    ]
    scores: Any = (
        run.values if isinstance(run, Embeddings) else Similarities(run.values)
    )
    if run.sparse:
        scores = RankedLists.of(run.ranked().side, run.values.shape[1])
    shape, names = scores.shape, []
    for place, (option, what) in enumerate((("queries", "row"), ("gallery", "column"))):
        if options.value(option) is not None and own[place] not in (
            None,
            options.value(option),
        ):
            raise InputError("other-names", run.source, what=what, option=option)
        names.append(options.value(option) or own[place] or range(shape[place]))
        check_size(len(names[place]), shape[place], option, what, shape[1 - place])
    return Sides(scores, names[0], names[1], run.source)


def _named_lists(run: Lists, positives: Lists, queries: Any, gallery: Any) -> Sides:
    """Name what ranked lists hold; the gallery is what they and the positives name, or given."""
    check_repeats(run)
    rows, names = run.ids, [str(name) for name in run.vocabulary]
    columns = (
        sorted({*names, *map(str, positives.vocabulary)})
        if gallery is None
        else gallery
    )
    codes, lost = class_names.find_names(names, columns)
    option, what = "gallery", "candidate"
    if queries is not None and isinstance(rows, range):
        check_size(len(queries), len(run), "queries", "list", -1)
        rows = queries
    elif queries is not None and (unknown := class_names.find_names(rows, queries)[1]):
        option, what, lost = "queries", "query", unknown
    if lost:
        values = {"what": what, "n": len(lost), "names": lost, "option": option}
        raise InputError("not-in-option", run.source, **values)
    side = replace(run.side, codes=codes.astype(np.int32)[run.side.codes])
    return Sides(
        RankedLists.of(side, len(columns)), rows, columns, run.source, gallery is None
    )


def _own_columns(sides: Sides) -> Ints:
    """Return the column of the candidate that has the id of each row; -1 if there is none."""
    if isinstance(sides.rows, range) or isinstance(sides.columns, range):
        return np.full(len(sides.rows), -1)
    codes, _ = class_names.find_names(list(map(str, sides.rows)), sides.columns)
    return codes


def without_own_ids(sides: Sides) -> tuple[Sides, int]:
    """Leave candidates out of ranked lists that have the id of their query, and count them.

    Raises
    ------
    InputError
        If the run is a matrix.
    """
    ranked = sides.scores
    if not isinstance(ranked, RankedLists):
        what = "a matrix, which ranks every candidate"
        raise InputError(
            "not-applicable",
            sides.source,
            name="ignore_identical_ids",
            what=what,
            fix="give ranked lists",
        )
    own = _own_columns(sides)
    is_other = ranked.side.codes != own[ragged.row_numbers(ranked.side.indptr)]
    kept = RankedLists(ranked.side.keep(is_other), ranked.size)
    return sides._replace(scores=kept), int((~is_other).sum())


def count_own_ids(sides: Sides, relation: Relation) -> int:
    """Count queries whose list has a candidate with their own id, which is not a positive.

    Images and captions may be numbered alike. So ids that are numbers count only if at least half
    of the queries retrieve their own id first.
    """
    ranked = sides.scores
    if not isinstance(ranked, RankedLists) or not len(sides.rows):
        return 0
    own = _own_columns(sides)
    row = relation.rows[ragged.row_numbers(relation.indptr)]
    is_own_positive = (row >= 0) & (relation.codes == own[row])
    own[row[is_own_positive]] = -1
    side = ranked.side
    rows = ragged.row_numbers(side.indptr)
    places = np.flatnonzero(side.codes == own[rows])
    numbered = all(
        _position(sides.rows[row]) is not None for row in rows[places].tolist()
    )
    n_first = int((places == side.indptr[rows[places]]).sum())
    if numbered and 2 * n_first < len(side):
        return 0
    return len(places)


def check_size(
    n: int, size: int, where: str, what: str, other: int, noun: str = "name"
) -> None:
    """Refuse names that are not as many as rows or columns; ``other`` is the size of those."""
    if n != size:
        code = "transposed-names" if n == other else "wrong-count"
        raise InputError(
            code, where, found=pluralize(n, noun), wanted=pluralize(size, what)
        )


def by_name(positives: Lists, sides: Sides, what: str) -> Lists:
    """Return positives by the names of the rows where these alone have names.

    Raises
    ------
    InputError
        If positives without ids are not as many as the rows, or ids are not positions of these.
    """
    rows = sides.rows
    if isinstance(positives.ids, range):  # the first list is that of the first row
        n, other = len(positives), len(sides.columns)
        check_size(n, len(rows), positives.source, what, other, "list")
        own = positives.ids if isinstance(rows, range) else list(map(str, rows))
        return replace(positives, ids=own)
    if isinstance(rows, range):
        numbers = [_position(name) for name in positives.ids]
        if None in numbers or isinstance(sides.scores, RankedLists):
            name = positives.ids[numbers.index(None) if None in numbers else 0]
            option = "queries" if what == "row" else "gallery"
            raise InputError(
                "unnamed-rows", positives.source, name=name, what=what, option=option
            )
    return positives


def _position(name: Any) -> int | None:
    text = str(name)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else None


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """Queries with the place of each in the rows (-1 if it has none), and their positives.

    ``indptr`` and ``codes`` have the positives, by column; beyond the columns those of the names
    ``outside``, which are not in the gallery. ``counts`` has what was left out, ``grades`` those of
    the positives, if they have some.
    """

    ids: Ids
    rows: Ints
    indptr: Ints
    codes: Ints
    counts: Mapping[str, int]
    outside: Sequence[str] = ()
    grades: Any = None

    @staticmethod
    def of(positives: Lists, sides: Sides, missing: str) -> Relation:
        """Join positives with the rows."""
        ids = sides.rows
        if isinstance(ids, range) and not isinstance(positives.ids, range):
            ids = list(map(str, ids))
        # tells more of a transposed matrix
        place, outside = _columns_of(positives, sides, missing)
        if isinstance(sides.rows, range) and missing == "error":
            _check_numbers(positives, sides.rows)
        joined, rows = join_rows(ids, positives, source=sides.source, missing=missing)
        codes = place[joined.ref.codes]
        counts = {
            **joined.counts,
            "positives_outside": int((codes >= len(sides.columns)).sum()),
        }
        ref = joined.ref
        return Relation(
            joined.ids, rows, ref.indptr, codes, counts, outside, ref.scores
        )

    def transpose(self, sides: Sides, missing: str) -> Relation:
        """Return the columns as queries, with the rows that have them as positives.

        Positives that have no row are outside the gallery.
        """
        lost = np.flatnonzero(self.rows < 0)
        gallery = self.rows.copy()
        gallery[lost] = len(sides.columns) + np.arange(len(lost))
        rows = gallery[ragged.row_numbers(self.indptr)]
        there = self.codes < len(sides.rows)  # others are no queries
        columns, rows = self.codes[there], rows[there]
        order = np.lexsort((rows, columns))
        codes, grades = (
            rows[order],
            None if self.grades is None else self.grades[there][order],
        )
        number = np.bincount(columns, minlength=len(sides.rows))
        every = np.arange(len(sides.rows))
        counts = {"positives_outside": int((codes >= len(sides.columns)).sum())}
        if missing == "skip":
            every = np.flatnonzero(number)
            counts = {"missing_reference": len(number) - len(every), **counts}
        outside = [str(self.ids[place]) for place in lost.tolist()]
        ids = sides.rows if len(every) == len(number) else take_ids(sides.rows, every)
        return Relation(
            ids, every, ragged.offsets(number[every]), codes, counts, outside, grades
        )


def _check_numbers(positives: Lists, rows: range) -> None:
    """Raise an error if ids of positives are not numbers of rows, which have no names."""
    lost = []
    for name in positives.ids:
        number = _position(name)
        if number is None or number not in rows:
            lost.append(name)
    if lost:
        raise InputError(
            "outside-rows", positives.source, n=len(lost), names=lost, size=len(rows)
        )


def _columns_of(positives: Lists, sides: Sides, missing: str) -> tuple[Ints, list[str]]:
    """Return the column of each name of positives, and the names outside the gallery.

    These have numbers behind the columns.
    """
    names, size = [str(name) for name in positives.vocabulary], len(sides.columns)
    numbered = isinstance(sides.columns, range)
    if numbered:
        found = [_position(name) for name in names]
        codes = np.array([-1 if n is None or n >= size else n for n in found], np.int64)
    else:
        codes, _ = class_names.find_names(names, sides.columns)
    outside = np.flatnonzero((codes < 0) & positives.occurring())
    lost = [names[code] for code in outside.tolist()]
    if lost and missing == "error":
        code = "outside-gallery"
        if numbered:
            fits = all(n is not None and n < len(sides.rows) for n in found)
            code = (
                "transposed-positives"
                if fits and len(positives) <= size
                else "outside-columns"
            )
        raise InputError(code, positives.source, n=len(lost), names=lost, size=size)
    codes[outside] = size + np.arange(len(lost))
    return codes, lost


# ---- tasks --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class CaptionedTruth:
    """Which captions are the positives of each image, by name.

    Attributes
    ----------
    positives : Lists
        By image.
    sides : Sides
        The images are the rows, the captions the columns.
    captions : Lists
        A text for each caption.
    """

    positives: Lists
    sides: Sides
    captions: Lists


def make_parts(
    run: Lists | Matrix, truth: Lists | Matrix, options: ResolvedOptions
) -> dict[str, Any]:
    """Make the tasks of one system: one, or one for each direction.

    Parameters
    ----------
    run, truth : Lists or Matrix
    options : mapping
        Resolved, with what they name read.

    Returns
    -------
    dict of RetrievalTask by part

    Raises
    ------
    InputError
        If sizes or ids do not fit, a positive is not in the gallery, a candidate is ranked twice,
        or the options do not fit each other.
    """
    if isinstance(run, Lists) and isinstance(truth, Lists):
        check_rankings(run, truth)
    # of a known gallery
    size = None if isinstance(run, Lists) else int(run.values.shape[1])
    positives, graded = as_positives(truth, size)
    sides = name_sides(run, positives, options)
    positives = by_name(positives, sides, "row")
    reverse, direction, back = options.reverse_positives, options.direction, None
    if reverse is not None:
        if direction == "i2t":
            raise InputError(
                "not-applicable", name="reverse_positives", what="direction='i2t'"
            )
        back, _ = as_positives(reverse, len(sides.rows))
        back = by_name(back, sides.transpose(), "column")
    counts = {"graded_0": graded}
    if options.ignore_identical_ids:
        sides, counts["own_ids_left_out"] = without_own_ids(sides)
    relation = Relation.of(positives, sides, options.missing)
    folds = _fold(relation, sides, options.folds) if options.folds else None
    given: dict[str, Any] = {"options": options, "counted": counts, "beside": {}}
    if options.value(CAPTIONS) is not None:
        given["beside"] = {
            CAPTIONS: CaptionedTruth(positives, sides, options.value(CAPTIONS))
        }
    made: dict[str, Any] = {}
    if direction != "t2i":
        made["i2t"] = _task(sides, relation, "i2t", folds, **given)
    if direction != "i2t":
        sides = sides.transpose()
        if back is None:
            relation = relation.transpose(sides, options.missing)
        else:
            relation = Relation.of(back, sides, options.missing)
        made["t2i"] = _task(sides, relation, "t2i", folds and folds[::-1], **given)
    of_truth = observe_truth(truth)
    for task in made.values():
        task.observations.merge(of_truth)
    return made if direction == "both" else {"": made[direction]}


def _fold(relation: Relation, sides: Sides, number: int) -> tuple[Ints, Ints]:
    """Return the fold of each row, and that of each column: of the first row that has it."""
    n_rows, n_columns = len(sides.rows), len(sides.columns)
    if n_rows % number:
        wanted = f"a divisor of {pluralize(n_rows, 'row')}"
        raise InputError(
            "bad-option", sides.source, name="folds", value=number, wanted=wanted
        )
    mine = np.arange(n_rows) * number // n_rows
    theirs = np.full(n_columns, -1)
    rows = relation.rows[ragged.row_numbers(relation.indptr)]
    order = np.argsort(-rows, kind="stable")  # the first row is written last
    order = order[(rows[order] >= 0) & (relation.codes[order] < n_columns)]
    theirs[relation.codes[order]] = mine[rows[order]]
    return mine, theirs


def _task(
    sides: Sides,
    relation: Relation,
    direction: str,
    folds: tuple[Ints, Ints] | None,
    *,
    options: ResolvedOptions,
    counted: Mapping[str, int],
    beside: Mapping[str, Any],
) -> RetrievalTask:
    """Make the task of one direction."""
    indptr, codes, gallery = relation.indptr, relation.codes, sides.columns
    grades = relation.grades
    counts = {**counted, **relation.counts}
    name = LISTED  # what lists name differs from part to part of the queries
    if not sides.listed:
        digest = hashlib.blake2b(
            hash_ids(gallery).astype("<u8").tobytes(), digest_size=6
        )
        name = f"{len(gallery)}@{digest.hexdigest()}"
    settings = {
        "task": "retrieval",
        "missing": options.missing,
        "direction": direction,
        "tie": options.ties,
        "gallery": name,
    }
    if hasattr(sides.scores, "queries"):
        settings["similarity"] = options.similarity
    if options.ignore_identical_ids:
        settings["identical"] = str(True)
    own = None
    if folds is not None:
        settings["folds"] = str(options.folds)
        beyond = np.full(len(relation.outside), -1)
        own = (np.where(relation.rows >= 0, folds[0][relation.rows], -2), folds[1])
        there = own[0][ragged.row_numbers(indptr)] == np.append(folds[1], beyond)[codes]
        counts["other_folds"] = int((~there).sum())
        indptr, codes = ragged.offsets(ragged.sum_rows(there, indptr)), codes[there]
        grades = None if grades is None else grades[there]
    order = np.lexsort((codes, ragged.row_numbers(indptr)))
    codes, grades = codes[order], None if grades is None else grades[order]
    if relation.outside:
        gallery = [*map(str, gallery), *relation.outside]
    groups = None
    if direction == "t2i" and len(codes) and (np.diff(indptr) <= 1).all():
        # a query without positives belongs to no other
        groups = mix(hash_ids(relation.ids))
        groups[np.diff(indptr) > 0] = hash_ids(gallery)[codes]
        settings["groups"] = "positive"
    numbered, weights = (
        isinstance(sides.rows, range) and not isinstance(relation.ids, range),
        None,
    )
    if options.weights is not None:
        settings["weights"] = "given"
        if options.direction == "both":
            raise InputError(
                "not-applicable", name="weights", what="both directions together"
            )
        nothing = Side(np.zeros(len(relation.ids) + 1, np.int64), np.zeros(0, np.int32))
        items = Lists(relation.ids, [], nothing)
        weights = options.weights.align(items, relation.ids)
    has_places = isinstance(sides.scores, Similarities) and lists_places(sides.scores)
    observations = Observations()
    if _looks_transposed(sides, relation):
        observations.count("transposed", 1)
    observations.count("own_ids", count_own_ids(sides, relation))
    observations.count("places", int(has_places))
    observations.count("numbered", int(numbered))
    observations.count("several", int((np.diff(indptr) > 1).sum()))
    return RetrievalTask(
        ids=relation.ids,
        settings=settings,
        counts={name: number for name, number in counts.items() if number},
        observations=observations,
        weights=weights,
        groups=groups,
        unit="query",
        gallery=gallery,
        scores=sides.scores,
        rows=relation.rows,
        indptr=indptr,
        positives=codes.astype(np.int32),
        ties=options.ties,
        folds=own,
        beside=beside,
        grades=grades,
    )


def lists_places(scores: Similarities) -> bool:
    """Tell whether every row of a matrix lists places of the gallery, as ``argsort`` returns them.

    The rows have different integers from 0, none above the number of rows or columns.

    Examples
    --------
    >>> lists_places(Similarities(np.array([[2, 0, 1], [1, 2, 0]])))
    True
    >>> lists_places(Similarities(np.array([[2, 0, 0], [1, 2, 0]])))
    False
    """
    size = max(scores.values.shape)
    if scores.values.shape[1] < _LEAST_PLACES:
        return False
    for _, block in row_blocks(scores.values):
        for row in block:
            if row.min() < 0 or row.max() > size or (row != np.floor(row)).any():
                return False
            if len(np.unique(row)) < len(row):
                return False
    return len(scores.values) > 0


def _looks_transposed(sides: Sides, relation: Relation) -> bool:
    """Return whether positives have larger similarities in the transpose of a square matrix."""
    scores = sides.scores
    if not isinstance(scores, Similarities) or len(set(scores.shape)) > 1:
        return False
    rows, codes = relation.rows[ragged.row_numbers(relation.indptr)], relation.codes
    there = (rows >= 0) & (codes < len(sides.columns))
    rows, codes = rows[there], codes[there]
    keys, transposed = (
        np.sort(a * len(sides.rows) + b) for a, b in ((rows, codes), (codes, rows))
    )
    if not len(rows) or np.array_equal(keys, transposed):
        return False
    straight, across = scores.values[rows, codes], scores.values[codes, rows]
    if scores.transposed:
        straight, across = across, straight
    more = across.astype(np.float64) - straight.astype(np.float64)
    error = more.std() / np.sqrt(len(more))
    return bool(more.mean() > _SUSPECT * error and more.mean() > 0)
