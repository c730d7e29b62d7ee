"""Make the task of comparing predicted with reference label lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    cell_keys,
    is_member,
    offsets,
)
from semmetrics.data.join import Joined, aligned_rows, join, weigh
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.data.matrix import PRESENT, UNVERIFIED, is_signed
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import IgnoredLabels, LabelTask, Unverified, occurring
from semmetrics.errors import InputError
from semmetrics.kinds.base import (
    Options,
)
from semmetrics.kinds.labels import oddities
from semmetrics.kinds.labels.coding import (
    LabelCoding,
    clean_class_list,
    code_labels,
    code_plain_labels,
    identify_classes,
)
from semmetrics.kinds.labels.normalization import (
    REPEATING,
    Ignored,
    class_name,
    normalization,
)
from semmetrics.kinds.options import resolve_options
from semmetrics.options import OPTIONS, join_names

VERIFIED = "verified"
"""The setting of signatures if only cells that a federated ground truth lists were verified."""


class _LabelSides(NamedTuple):
    """Both sides of a task, before their labels are coded.

    Attributes
    ----------
    pred, ref : Lists
        Normalised.
    joined : Joined
        The labels that are predicted and true.
    difficult, unverified : Side or None
        The labels that the ground truth marks as difficult, and those that nobody verified. Of a
        federated dataset, the verified labels in place of those.
    weights : float array, shape (items,), or None
    observations : Observations
        What was observed in the scores (`oddities.find_probabilities`).
    """

    pred: Lists
    ref: Lists
    joined: Joined
    difficult: Side | None
    unverified: Side | None
    weights: Floats | None
    observations: Observations


def label_task(
    pred: Lists, ref: Lists, options: Options | None = None, heads: Floats | None = None
) -> LabelTask:
    """Make the task of comparing predicted with reference label lists.

    Parameters
    ----------
    pred, ref : Lists
    options : Options, optional
        The options of a score, with the files that they name already read. Default: the default of
        every option.
    heads : float array, shape (items of the predictions, cardinalities), optional
        The probability of each set size.

    Returns
    -------
    LabelTask

    Raises
    ------
    InputError
        If ids do not match, a reference label is outside the class list, or a weight is bad.
    """
    options = options or resolve_options({}, "labels")
    clean = normalization(options.normalize)
    if ref.ranked and not (ref.has_marks or _has_signs(ref)):
        raise InputError("truth-of-scores", ref.source)
    ignored = Ignored.of(options.ignore, clean)
    repeats = options.normalize == REPEATING
    pred = pred.normalized(clean, ignored.written, repeats=repeats)
    ref = ref.normalized(clean, ignored.written, repeats=repeats)
    sides = _join_sides(pred, ref, options)
    _check_columns(pred, ref)
    class_list = None
    if options.classes is not None:
        class_list = clean_class_list(options.classes, clean)
    coding = _code_sides(sides, class_list, ignored, options)
    task = _build_task(sides, coding, class_list, options, heads)

    observations = sides.observations.copy()
    if coding.shared_terms:
        observations.add_names(oddities.SHARED, coding.shared_terms)
    task, n_left_out = _without_unverified(task)
    if ignored.written:
        task, ignored_labels = _without(task, coding.classes, ignored)
        observations.add_names(oddities.IGNORED, ignored_labels)
    _count_unverified(observations, task, n_left_out)
    if options.empty_predictions == "skip":
        task = _skip_empty_predictions(task)
    observations.merge(oddities.find_oddities(task, pred, sides.ref))
    if task.difficult:
        observations.count(oddities.DIFFICULT, len(task.difficult.codes))
    # replace() would make a task that counts again how often classes occur.
    task.observations.merge(observations)
    return task


def _has_signs(truth: Lists) -> bool:
    """Return whether all labels of all items are marked: 1 present, 0 difficult, -1 absent."""
    return is_signed(truth.side.scores) and truth.contents[0] == len(truth) * len(
        truth.vocabulary
    )


def _join_sides(pred: Lists, ref: Lists, options: Options) -> _LabelSides:
    """Join normalised sides, and separate difficult and unverified labels from true ones."""
    joined, weights = weigh(
        join(pred, ref, missing=options.missing), options.weights, ref
    )
    observations = Observations()
    if options.activation is not None:
        observations = oddities.find_probabilities(joined.pred, options.activation)
        joined = joined._replace(pred=_activate(joined.pred, options.activation))
    present, difficult, unverified = _split_marks(joined.ref, ref)
    if ref.ranked or ref.has_marks:
        ref = replace(ref, side=replace(ref.side, scores=None))
        joined = joined._replace(ref=present)
    return _LabelSides(pred, ref, joined, difficult, unverified, weights, observations)


def _code_sides(
    sides: _LabelSides,
    class_list: list[Terms] | None,
    ignored: Ignored,
    options: Options,
) -> LabelCoding:
    """Find the class of each label."""
    pred, ref, truth = sides.pred, sides.ref, sides.joined.ref
    if class_list is None and not pred.synonyms and not ref.synonyms:
        return code_plain_labels(pred, ref)
    if options.empty_predictions == "skip":
        truth = truth.take(np.flatnonzero(np.diff(sides.joined.pred.indptr)))
    return code_labels(
        pred, ref, occurring(truth.codes, len(ref.terms)), class_list, ignored
    )


def _build_task(
    sides: _LabelSides,
    coding: LabelCoding,
    class_list: list[Terms] | None,
    options: Options,
    heads: Floats | None,
) -> LabelTask:
    """Make the task of joined sides whose labels are coded."""
    pred, joined = sides.pred, sides.joined
    pred_written = ref_written = None
    if coding.synonyms is not None:
        pred_written = joined.pred.codes
        ref_written = (joined.ref.codes + len(pred.terms)).astype(np.int32)
    have_one_term = all(len(terms) == 1 for terms in coding.classes)
    return LabelTask(
        ids=joined.ids,
        classes=tuple(map(class_name, coding.classes)),
        pred=_with_classes(joined.pred, coding.pred_codes, pred_written),
        ref=_with_classes(joined.ref, coding.ref_codes, ref_written),
        difficult=sides.difficult and _with_classes(sides.difficult, coding.ref_codes),
        unverified=_unverified(sides, coding),
        ranked=pred.ranked,
        binary=pred.order in ("columns", "keys"),
        given=None if class_list is None else len(class_list),
        settings=_settings(options, sides, class_list, heads),
        counts=joined.counts,
        in_columns=_in_columns(sides, coding),
        precision="float64" if options.activation else pred.precision,
        synonyms=coding.synonyms,
        terms=None if have_one_term else coding.classes,
        heads=None if heads is None else aligned_rows(heads, pred, joined.ids),
        first_set_size=options.first_set_size,
        weights=sides.weights,
    )


def _with_classes(
    side: Side, class_of_label: Codes, written: Codes | None = None
) -> Side:
    """Replace the code of each label by the code of its class."""
    return replace(side, codes=class_of_label.take(side.codes), written=written)


def _skip_empty_predictions(task: LabelTask) -> LabelTask:
    """Leave out the items without predicted labels, and count them."""
    rows = np.flatnonzero(np.diff(task.pred.indptr))
    n_skipped = len(task) - len(rows)
    if not n_skipped:
        return task
    counts = {**task.counts, "empty_prediction_skipped": n_skipped}
    return replace(task.take(rows), counts=counts)


def _settings(
    options: Options,
    sides: _LabelSides,
    listed: list[Terms] | None,
    heads: Floats | None,
) -> dict[str, str]:
    """Return the conventions that a signature names; only those that change a number."""
    settings = options.settings("labels")
    first_size, activation = OPTIONS["first_set_size"].key, OPTIONS["activation"].key
    if sides.pred.side.scores is None:
        settings.pop(activation, None)
    if options.unknown_value is not None:
        settings[OPTIONS["unknown_value"].key] = str(options.unknown_value)
    if sides.ref.is_federated:
        settings[VERIFIED] = "listed"
    size = settings.pop(first_size, "")
    if listed is not None:
        settings["classes"] = identify_classes(listed)
    if options.weights is not None:
        settings["weights"] = "given"
    if heads is not None and size:
        settings[first_size] = size
    return settings


def _activate(pred: Side, activation: str) -> Side:
    """Turn the scores of predictions into probabilities; without scores nothing changes."""
    from semmetrics.metrics import decoding  # a measure of lists does without it

    if pred.scores is None:
        return pred
    if activation == "sigmoid":
        return replace(pred, scores=decoding.sigmoid(pred.scores))
    return replace(pred, scores=decoding.softmax(pred.indptr, pred.scores))


def _in_columns(sides: _LabelSides, coding: LabelCoding) -> Bools | None:
    """Return which classes are columns of a matrix, or keys of 0/1 mappings; None without any."""
    if not sides.pred.names_all and not sides.ref.names_all:
        return None
    in_columns = np.zeros(len(coding.classes), np.bool_)
    if sides.pred.names_all:
        in_columns[coding.pred_codes] = True
    if sides.ref.names_all:
        in_columns[coding.ref_codes] = True
    return in_columns


def _split_marks(truth: Side, ref: Lists) -> tuple[Side, Side | None, Side | None]:
    """Return the labels that are present, difficult (None without marks) and unverified.

    A matrix of -1, 0 and 1 has difficult labels, marked 0. If the user names an unknown value, the
    truth has the marks of `Lists.has_marks` instead, and no difficult labels. Of a federated
    dataset, the cells that are verified are returned in place of those that are not.
    """
    if not ref.ranked and not ref.has_marks:
        return truth, None, None

    def marked(mark: float) -> Side:
        scores: Any = truth.scores
        return replace(truth.keep(scores == mark), scores=None)

    if ref.is_federated:
        return marked(PRESENT), None, replace(truth, scores=None)
    if ref.has_marks:
        return marked(PRESENT), None, marked(UNVERIFIED)
    return marked(1), marked(0), None


def _unverified(sides: _LabelSides, coding: LabelCoding) -> Unverified | None:
    """Return the cells that nobody verified, or their complement; None if there are none."""
    if sides.unverified is None:
        return None
    cells = _with_classes(sides.unverified, coding.ref_codes)
    if not sides.ref.is_federated:
        return Unverified(cells)
    categories = np.zeros(len(coding.classes), np.bool_)
    categories[coding.ref_codes] = True
    return Unverified(cells, categories)


def _without_unverified(task: LabelTask) -> tuple[LabelTask, int]:
    """Take predictions of unverified cells out of a task; return also how many there were."""
    if task.unverified is None:
        return task, 0
    width = max(1, len(task.classes))
    side, categories = task.unverified.cells, task.unverified.categories
    cells = cell_keys(side.indptr, side.codes, width)
    predicted = cell_keys(task.pred.indptr, task.pred.codes, width)
    is_known = is_member(predicted, cells, width * len(task))
    unverified = task.unverified
    if categories is None:
        is_known = ~is_known
    else:
        is_other = ~categories[task.pred.codes]
        is_known |= is_other
        cells = np.union1d(cells, predicted[is_other])
        indptr = offsets(np.bincount(cells // width, minlength=len(task)))
        listed = Side(indptr, (cells % width).astype(np.int32))
        unverified = replace(unverified, cells=listed)
    pred = task.pred.keep(is_known)
    return replace(task, pred=pred, unverified=unverified), int((~is_known).sum())


def _count_unverified(
    observations: Observations, task: LabelTask, n_left_out: int
) -> None:
    """Count the unverified cells. Of a federated dataset, count the predictions left out."""
    if task.unverified is None:
        return
    if task.unverified.categories is None:
        n_cells = len(task.unverified.cells.codes)
        observations.count(oddities.UNVERIFIED, n_cells)
    else:
        observations.count(oddities.LEFT_OUT, n_left_out)


def _check_columns(pred: Lists, ref: Lists) -> None:
    """Refuse columns without names beside a matrix of another width, or beside other names."""
    if (
        pred.columns is not None
        and ref.columns is not None
        and pred.columns != ref.columns
    ):
        where = f"{pred.source} and {ref.source}"
        raise InputError("unnamed-widths", where, mine=pred.columns, theirs=ref.columns)
    for one, other in ((pred, ref), (ref, pred)):
        names = [terms[0] for terms in other.terms] if one.columns is not None else []
        if names and set(map(str, range(one.columns or 0))).isdisjoint(names):
            raise InputError(
                "unnamed-columns", one.source, other=other.source, names=names
            )


def _without(
    task: LabelTask, classes: Sequence[Terms], ignored: Ignored
) -> tuple[LabelTask, frozenset[str]]:
    """Take the labels to ignore out of both sides; return also which of them there are."""
    left_out, among = ignored.chosen(classes)

    def only(side: Side, some: Bools) -> Side:
        """Return the occurrences of some classes, which are numbered anew."""
        kept = side.keep(some[side.codes])
        return replace(kept, codes=(np.cumsum(some) - 1).astype(np.int32)[kept.codes])

    names = tuple(compress(task.classes, left_out))
    unverified = task.unverified
    if unverified is not None:
        categories = unverified.categories
        if categories is not None:
            categories = categories[~left_out]
        unverified = Unverified(only(unverified.cells, ~left_out), categories)
    rest = replace(
        task,
        pred=only(task.pred, ~left_out),
        ref=only(task.ref, ~left_out),
        difficult=task.difficult and only(task.difficult, ~left_out),
        unverified=unverified,
        classes=tuple(compress(task.classes, ~left_out)),
        terms=None if task.terms is None else list(compress(task.terms, ~left_out)),
        given=None if task.given is None else int((~left_out[: task.given]).sum()),
        in_columns=None if task.in_columns is None else task.in_columns[~left_out],
        ignored=IgnoredLabels(
            names, only(task.pred, left_out), only(task.ref, left_out)
        ),
        settings={
            **task.settings,
            "ignore": join_names(sorted({one[0] for one in ignored.names})),
        },
    )
    return rest, among
