"""Read the positives of queries: the candidates that are relevant to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Floats
from semmetrics.data.lists import Lists, Side
from semmetrics.data.matrix import Matrix, is_membership, members
from semmetrics.errors import Fact, InputError

_IMAGES_PER_BLOCK = 256
"""The images that are compared with all others together."""


def as_positives(
    truth: Lists | Matrix, gallery: int | None = None
) -> tuple[Lists, int]:
    """Return the positives of each query, each once. Their scores are grades.

    Parameters
    ----------
    truth : Lists or Matrix
        A matrix has 0/1 for each candidate, or in each row the columns of its positives.
    gallery : int, optional
        The number of candidates, if a matrix of scores or vectors shows it.

    Returns
    -------
    positives : Lists
    n_left_out : int
        The number of entries of grade 0 or less, which are not positives.

    Raises
    ------
    InputError
        If the matrix contains anything else, or 0/1 for only some of the candidates, or if a
        candidate has two grades for one query.

    Examples
    --------
    >>> from semmetrics.kinds.retrieval import as_candidates
    >>> positives, n_left_out = as_positives(as_candidates({"q": {"a": 2, "b": 0}}))
    >>> positives.to_list(), n_left_out
    ([['a']], 1)
    """
    if isinstance(truth, Matrix):
        truth = _positives_of_matrix(truth, gallery)
    side = truth.side
    if side.scores is not None:
        _check_grades(truth)
        side = side.keep(side.scores > 0)
    n_left_out = len(truth.side.codes) - len(side.codes)
    notes = list(truth.notes)
    width = max(1, len(truth.vocabulary))
    cells = ragged.cell_keys(side.indptr, side.codes, width)
    is_first = ragged.first_occurrences(cells, width * len(truth))
    if is_first is not None:
        n_repeated = int((~is_first).sum())
        notes.append(Fact("repeated-positives", n_repeated))
        side = side.keep(is_first)
    return replace(truth, side=side, notes=notes), n_left_out


def _check_grades(truth: Lists) -> None:
    """Raise an error if a candidate has two grades for one query."""
    side = truth.side
    grades = side.scores
    if grades is None:
        return
    width = max(1, len(truth.vocabulary))
    cells = ragged.cell_keys(side.indptr, side.codes, width)
    order = np.lexsort((grades, cells))
    is_same_cell = np.diff(cells[order]) == 0
    is_other_grade = np.diff(grades[order]) != 0
    conflicts = np.flatnonzero(is_same_cell & is_other_grade)
    if len(conflicts):
        row, code = divmod(int(cells[order][conflicts[0]]), width)
        name = truth.vocabulary[code]
        raise InputError(
            "duplicate", truth.where(row), role="with two grades,", value=name
        )


def _positives_of_matrix(matrix: Matrix, gallery: int | None) -> Lists:
    """Return the positives that a matrix marks with 1, or whose columns its rows list."""
    if _lists_columns(matrix):
        columns, codes = np.unique(matrix.values, return_inverse=True)
        indptr = np.arange(len(matrix) + 1) * matrix.values.shape[1]
        side = Side(indptr, codes.ravel().astype(np.int32))
        names = [str(column) for column in columns.tolist()]
        positives = replace(matrix, vocabulary=names).lists(side)
        understood = f"{matrix.understood}, columns by row"
        return replace(positives, understood=understood)
    if not is_membership(matrix):
        raise InputError("truth-of-scores", matrix.source)
    may_be_partial = not matrix.named and not matrix.is_sparse
    n_columns = matrix.values.shape[1]
    if may_be_partial and gallery is not None and n_columns < gallery:
        raise InputError(
            "partial-truth", matrix.source, columns=n_columns, gallery=gallery
        )
    return replace(members(matrix), understood=f"{matrix.understood}, 0/1")


def _lists_columns(matrix: Matrix) -> bool:
    """Return whether the rows of a matrix list columns, so that some numbers are above 1."""
    if matrix.is_sparse or matrix.values.dtype.kind not in "iu":
        return False
    return bool((matrix.values > 1).any())


def plausible_positives(
    classes: Lists, positives: Lists, differing: int = 0
) -> dict[str, list[str]]:
    """Return the plausible matches of each image: the positives of all images of similar classes.

    Parameters
    ----------
    classes : Lists
        The classes of each image, such as those of its annotated objects. Images without classes
        are left out.
    positives : Lists
        The positives of each image, such as its captions.
    differing : int
        In how many classes the images may differ. This is ζ in the paper, which reports the mean
        of PMRP for 0, 1 and 2.

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

    positives_of_image = {}
    for image_id, names in zip(positives.ids, positives.to_list(), strict=True):
        positives_of_image[str(image_id)] = names
    side = classes.side
    shape = (len(classes), len(classes.vocabulary))
    table = csr_array((np.ones(len(side.codes)), side.codes, side.indptr), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1
    n_classes: Floats = table.sum(axis=1)
    all_ids = [str(image_id) for image_id in classes.ids]
    has_positives = np.array([name in positives_of_image for name in all_ids], np.bool_)
    rows = np.flatnonzero((n_classes > 0) & has_positives)
    images = [all_ids[row] for row in rows.tolist()]
    if not images:
        what = "images with classes and positives"
        remedy = "use the same ids in both files"
        raise InputError("nothing-given", positives.source, what=what, remedy=remedy)

    table = table[rows]
    n_classes = n_classes[rows]
    plausible: dict[str, list[str]] = {}
    for start in range(0, len(images), _IMAGES_PER_BLOCK):
        block = slice(start, start + _IMAGES_PER_BLOCK)
        n_shared = (table[block] @ table.T).toarray()
        n_differing = n_classes[block, None] + n_classes - 2 * n_shared
        is_similar = n_differing <= differing
        for image, similar in zip(images[block], is_similar, strict=True):
            matches: list[str] = []
            for place in np.flatnonzero(similar).tolist():
                matches += positives_of_image[images[place]]
            plausible[image] = matches
    return plausible
