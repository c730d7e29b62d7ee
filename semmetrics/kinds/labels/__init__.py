"""Label sets: what is in an image, in words of a vocabulary; how they are written and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import cell_keys, first_occurrences
from semmetrics.data import matrix
from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data
from semmetrics.data.lists import Lists, as_entry
from semmetrics.data.public import is_coco, is_coco_captions, read_coco_labels
from semmetrics.errors import ITEM, Fact, InputError
from semmetrics.kinds.class_names import outside_classes
from semmetrics.kinds.labels.normalization import class_name
from semmetrics.kinds.recognition import Certainty, Verdict, names_entries
from semmetrics.messages import pluralize
from semmetrics.options import FORMATS

FORM = Form(
    noun="label",
    columns=("label", "labels", "name", "names", "class", "category", "tag", "tags"),
    keys=("labels", "names", "tags", "categories"),
    formats=tuple(name for name, kinds in FORMATS.items() if "labels" in kinds),
    coco=read_coco_labels,
    is_coco=is_coco,
    scored=True,
)
_SENTENCE = 5.0  # mean words: lists of longer strings could be captions


def as_labels(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists:
    """Read label lists from whatever holds them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        of label lists is known by position; a sequence of records, a frame or a mapping of columns
        has ids and labels. An array, tensor or scipy.sparse matrix of items x classes, and a frame
        of numbers, hold 0/1, or scores as floats. A set of labels is taken in sorted order.
    source : str
        What messages call it.
    classes : sequence, optional
        The names of a matrix's columns, and of labels that are numbers: places, from 0, if none of
        the names is a number. Rows of 0/1, one for each class, are a matrix.
    options : ReadOptions, optional
        How files are read.

    Returns
    -------
    Lists
        ``ranked`` where every class has a score, and nothing says which are predicted.

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_labels({"a": ["cat", "dog"], "b": []}).to_list()
    [['cat', 'dog'], []]
    """
    return read_labels(data, source, classes, options)


def read_labels(
    data: Any,
    source: str,
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
    unknown: tuple[float, ...] = (),
    *,
    scores: str | None = None,
) -> Lists:
    """Read label lists as `as_labels` does, or a ground truth with cells that nobody verified.

    Parameters
    ----------
    data, source, classes, options
        As for `as_labels`.
    unknown : tuple of float
        The values of such cells. With any, the scores of the result are marks.
    scores : {"members", "values"}, optional
        What scores of only 0 and 1 are: whether an item has the label, or scores. Without it, they
        are members if some are 0, and a matrix of 0 and 1 has members.
    """
    form = replace(FORM, places=classes is not None, unknown=unknown)
    found = as_data(data, form, source=source, names=classes, options=options)
    if unknown:
        return _with_marks(found, unknown)
    if isinstance(found, Lists):
        if classes is not None and not found.by_category:
            found = _named_places(found, classes)
        unlike = _find_unlike(found)
        if unlike[0]:
            found = replace(found, unlike=unlike)
        if scores == "values":
            return found
        if scores == "members":
            return _as_members(found)
        return found.chosen()
    member = matrix.is_membership(found)
    if scores == "members" and not member:
        values = np.asarray(found.values if not found.sparse else found.values.data)
        is_fraction = (values != 0) & (values != 1)
        value = float(values[is_fraction].flat[0])
        raise InputError("fractional-members", found.source, value=value)
    if scores == "values":
        member = False
    cells = (
        "0/1" if member else "-1/0/1" if matrix.is_signed(found.values) else "scores"
    )
    found = replace(found, understood=f"{found.understood}, {cells}")
    return matrix.members(found) if member else matrix.note_unstored(found).ranked()


def _as_members(labels: Lists) -> Lists:
    """Return lists whose scores of 0 and 1 say which labels an item has.

    Raises
    ------
    InputError
        If a score is neither 0 nor 1.
    """
    scores = labels.side.scores
    if scores is None or labels.ranked:
        return labels
    if labels.has_fractions:
        value = float(scores[(scores != 0) & (scores != 1)][0])
        raise InputError("fractional-members", labels.source, value=value)
    return replace(
        labels,
        side=replace(labels.side.keep(scores != 0), scores=None),
        order=labels.order or "keys",
        understood=f"{labels.understood}, 0/1",
        whole=labels,
        names_all=True,
    )


def _with_marks(found: Lists | matrix.Matrix, unknown: tuple[float, ...]) -> Lists:
    """Return a ground truth whose scores are marks; lists without scores stay as they are."""
    if not isinstance(found, Lists):
        understood = f"{found.understood}, 0/1 with unverified cells"
        return matrix.marked_members(replace(found, understood=understood), unknown)
    if found.has_marks or found.side.scores is None:
        return found
    side = replace(found.side, scores=matrix.mark_values(found.side.scores, unknown))
    return replace(found, side=side, has_marks=True, names_all=True, ranked=False)


def _named_places(found: Lists, classes: Sequence[str | Sequence[str]]) -> Lists:
    """Return lists of numbers by name: as places in the class list, or as rows of 0/1.

    Raises
    ------
    InputError
        If a number is no place, or rows may be either.
    """
    named = list(map(as_entry, matrix.class_terms(classes)))
    texts = list(map(str, found.vocabulary))
    if not all(map(str.isdecimal, texts or [""])) or any(
        str(one).isdecimal() for one in named
    ):
        return found
    values = np.array(list(map(int, texts)))
    # declares more labels than have a name
    if found.names_all and (values >= len(named)).any():
        return _named_places(replace(found, names_all=False).occurring_alone(), classes)
    sizes, width = np.diff(found.side.indptr), len(named)
    if (values < 2).all() and (sizes == width).all() and found.side.scores is None:
        cells = values[found.side.codes].reshape(-1, width)
        if width < 3 and (cells.sum(axis=1) == width - 1).all():
            raise InputError("ambiguous-rows", found.source)
        rows = matrix.as_matrix(cells, named, source=found.source, notes=found.notes)
        rows = replace(rows, ids=found.ids, where=found.where, understood="rows of 0/1")
        return matrix.members(rows)
    keys = cell_keys(found.side.indptr, found.side.codes, max(1, len(values)))
    is_repeated = first_occurrences(keys, len(values) * len(found)) is not None
    if (values < 2).all() and is_repeated:  # places would be there twice
        row = int((sizes != width).argmax())
        raise InputError(
            "wrong-count",
            found.where(row),
            wanted=pluralize(width, "class"),
            found=pluralize(int(sizes[row]), "number"),
        )
    if (values >= width).any():
        code = int((values >= width).argmax())
        where, value = found.where(found.first_item(code)), found.vocabulary[code]
        raise outside_classes(value, named, where, "the label")
    notes = [*found.notes, Fact("numbers-as-places")]
    return replace(
        found.renamed([named[value] for value in values.tolist()]), notes=notes
    )


def _find_unlike(labels: Lists) -> tuple[int, int, str]:
    """Count the labels that an item has with different scores, and their items."""
    scores, side, width = (
        labels.side.scores,
        labels.side,
        max(1, len(labels.vocabulary)),
    )
    none = 0, 0, ""
    if scores is None or labels.ranked:  # a matrix has each label once
        return none
    keys = cell_keys(side.indptr, side.codes, width)
    if first_occurrences(keys, width * len(labels)) is None:
        return none
    order = np.lexsort((scores, keys))
    ordered, values = keys[order], scores[order]
    unlike = np.unique(
        ordered[1:][(ordered[1:] == ordered[:-1]) & (values[1:] != values[:-1])]
    )
    if not len(unlike):
        return none
    row, code = divmod(int(unlike[0]), width)
    each = dict.fromkeys(
        repr(one).removesuffix(".0") for one in scores[keys == unlike[0]].tolist()
    )
    item = ITEM.format(row) if isinstance(labels.ids, range) else repr(labels.ids[row])
    example = f"{class_name(labels.terms[code])!r} of {item}: {' and '.join(each)}"
    return len(unlike), len(np.unique(unlike // width)), example


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Tell how certain it is that the data are labels: lists of strings that are not sentences."""

    def is_own(one: Sample) -> bool:
        if one.noun is not None:
            return one.noun == FORM.noun
        if one.shape in ("columns", "keys"):
            return names_entries(one, FORM)
        if is_coco_captions(one.value or {}):
            return False
        return one.shape in ("entries", "matrix", "other") or is_coco(one.value or {})

    whats = (
        "COCO instances" if is_coco(one.value or {}) else one.what for one in samples
    )
    if any(map(is_own, samples)):
        sure = all(one.read.caption_column is None for one in samples)
        return Verdict(
            Certainty.CERTAIN if sure else Certainty.LIKELY, whats=tuple(whats)
        )
    shapes = {one.shape for one in samples}
    if "strings" in shapes and all(one.is_single_words for one in samples):
        return Verdict(Certainty.POSSIBLE, "single words")
    if shapes != {"lists"}:
        return Verdict(Certainty.NO)
    if min(one.words for one in samples) < _SENTENCE:  # of the side that has fewer
        return Verdict(Certainty.LIKELY)
    return Verdict(Certainty.POSSIBLE, "lists of sentences")
