"""Make the task of comparing predicted with reference label lists."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Codes, Floats
from semmetrics.data.join import Joined, aligned_rows, join, weigh
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.base import occurring
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds.base import Options
from semmetrics.kinds.labels.coding import (
    LabelCoding,
    clean_class_list,
    code_labels,
    code_plain_labels,
    identify_classes,
)
from semmetrics.kinds.labels.excluded_labels import (
    LabelsToIgnore,
    count_unverified,
    find_unverified,
    leave_out_ignored,
    leave_out_unverified,
    marks_every_label,
    separate_marks,
)
from semmetrics.kinds.labels.normalization import REPEATING, class_name, normalization
from semmetrics.kinds.labels.numbered_labels import looks_like_cells
from semmetrics.kinds.labels.observation_codes import (
    DIFFICULT_LABELS,
    IGNORED_LABELS,
    SHARED_TERMS,
)
from semmetrics.kinds.labels.oddities import find_oddities
from semmetrics.kinds.labels.predicted_scores import observe_probabilities
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.registry import kinds_of
from semmetrics.options import OPTIONS

_VERIFIED = "verified"
"""The key of a setting: only the cells that a federated ground truth lists were verified."""


class _LabelSides(NamedTuple):
    """Both sides of a task, before their labels are coded.

    Attributes
    ----------
    pred, ref : Lists
        The normalised inputs, with all of their items.
    joined : Joined
        The predicted and the true labels of the evaluated items.
    difficult, listed_cells : Side or None
        As the attributes of `semmetrics.kinds.labels.excluded_labels.MarkedLabels`.
    weights : float array, shape (items,), or None
    observations : Observations
        Observations of the scores.
    """

    pred: Lists
    ref: Lists
    joined: Joined
    difficult: Side | None
    listed_cells: Side | None
    weights: Floats | None
    observations: Observations


def label_task(
    pred: Lists,
    ref: Lists,
    options: Options | None = None,
    set_size_probs: Floats | None = None,
) -> LabelTask:
    """Make the task of comparing predicted with reference label lists.

    Parameters
    ----------
    pred, ref : Lists
    options : ResolvedOptions, optional
        The options of a score, whose files are read. Default: the default of every option.
    set_size_probs : float array, shape (items of the predictions, set sizes), optional
        The probability of each set size.

    Returns
    -------
    LabelTask

    Raises
    ------
    InputError
        If ids do not match, a reference label is outside the class list, or a weight is invalid.
    """
    options = options or resolve_options({}, "labels")
    clean = normalization(options.normalize)
    if ref.ranked and not ref.has_marks and not marks_every_label(ref):
        raise InputError("truth-of-scores", ref.source)
    ignored = LabelsToIgnore.of(options.ignore, clean)
    repeats = options.normalize == REPEATING
    # A label to ignore may be empty after normalisation.
    pred = pred.normalized(clean, ignored.written, repeats=repeats)
    ref = ref.normalized(clean, ignored.written, repeats=repeats)
    sides = _join_sides(pred, ref, options)
    _check_columns(pred, ref)
    class_list = None
    if options.classes is not None:
        class_list = clean_class_list(options.classes, clean)
    coding = _code_sides(sides, class_list, ignored, options)
    task = _build_task(sides, coding, class_list, options, set_size_probs)
    return _leave_out(task, sides, coding, ignored, options)


def _leave_out(
    task: LabelTask,
    sides: _LabelSides,
    coding: LabelCoding,
    ignored: LabelsToIgnore,
    options: Options,
) -> LabelTask:
    """Remove the parts of a task that are not evaluated, and observe the rest."""
    observations = sides.observations.copy()
    if coding.shared_terms:
        observations.add_names(SHARED_TERMS, coding.shared_terms)
    task, n_left_out = leave_out_unverified(task)
    if ignored.written:
        task, ignored_labels = leave_out_ignored(task, coding.classes, ignored)
        observations.add_names(IGNORED_LABELS, ignored_labels)
    count_unverified(observations, task, n_left_out)
    if options.empty_predictions == "skip":
        task = _skip_empty_predictions(task)
    observations.merge(find_oddities(task, sides.pred, sides.ref))
    if task.difficult is not None and len(task.difficult):
        observations.count(DIFFICULT_LABELS, len(task.difficult.codes))
    # The task is changed in place. A copy by replace() would lose what it has cached, and count
    # again how often classes occur.
    task.observations.merge(observations)
    return task


# ---- sides --------------------------------------------------------------------------------------


def _may_be_of_retrieval(options: Options) -> bool:
    """Return whether all measures are also measures of retrieval, or none is requested."""
    measures = options.measures or ()
    return all("retrieval" in kinds_of(measure.definition.name) for measure in measures)


def _join_sides(pred: Lists, ref: Lists, options: Options) -> _LabelSides:
    """Join normalised sides, and separate difficult and unverified labels from true ones."""
    try:
        joined = join(pred, ref, missing=options.missing)
    except InputError as error:
        is_matrix = pred.ranked and pred.columns is not None
        if error.code != "one-side-has-ids" or not is_matrix or pred.has_ids:
            raise
        if not _may_be_of_retrieval(options):
            raise
        # The rows may be queries, so there are two ways out.
        raise InputError(
            "similarities-without-ids", pred.source, other=ref.source
        ) from None
    joined, weights = weigh(joined, options.weights, ref)
    observations = Observations()
    if options.activation is not None:
        observations = observe_probabilities(joined.pred, options.activation)
        joined = joined._replace(pred=_activate(joined.pred, options.activation))
    marked = separate_marks(joined.ref, ref)
    if ref.ranked or ref.has_marks:
        # Its scores are the marks, which are not needed any more.
        ref = replace(ref, side=replace(ref.side, scores=None))
        joined = joined._replace(ref=marked.present)
    return _LabelSides(
        pred, ref, joined, marked.difficult, marked.listed_cells, weights, observations
    )


def _activate(pred: Side, activation: str) -> Side:
    """Turn the scores of predictions into probabilities. Lists without scores do not change."""
    if pred.scores is None:
        return pred
    from semmetrics.metrics import decoding  # label lists without scores do not need it

    if activation == "sigmoid":
        probabilities = decoding.sigmoid(pred.scores)
    else:
        probabilities = decoding.softmax(pred.indptr, pred.scores)
    return replace(pred, scores=probabilities)


def _check_columns(pred: Lists, ref: Lists) -> None:
    """Raise an error if columns without names do not fit the other side.

    ``Lists.columns`` is the number of such columns, and None if columns have names.
    """
    are_both_unnamed = pred.columns is not None and ref.columns is not None
    if are_both_unnamed and pred.columns != ref.columns:
        where = f"{pred.source} and {ref.source}"
        widths = {"mine": pred.columns, "theirs": ref.columns}
        raise InputError("unnamed-widths", where, **widths)
    _check_unnamed_columns(pred, ref)
    _check_unnamed_columns(ref, pred)


def _check_unnamed_columns(lists: Lists, other: Lists) -> None:
    """Raise an error if columns have no names, and the other side has names."""
    if lists.columns is None:
        return
    # The other side may name columns by their numbers.
    column_numbers = set(map(str, range(lists.columns)))
    names = [terms[0] for terms in other.terms]
    if looks_like_cells(other, lists.columns):
        place = {"other": lists.source, "columns": lists.columns}
        raise InputError("cells-as-labels", other.source, names=names, **place)
    if names and column_numbers.isdisjoint(names):
        raise InputError(
            "unnamed-columns", lists.source, other=other.source, names=names
        )


# ---- the task -----------------------------------------------------------------------------------


def _code_sides(
    sides: _LabelSides,
    class_list: list[Terms] | None,
    ignored: LabelsToIgnore,
    options: Options,
) -> LabelCoding:
    """Find the class of each label."""
    pred = sides.pred
    ref = sides.ref
    if class_list is None and not pred.has_synonyms and not ref.has_synonyms:
        return code_plain_labels(pred, ref)
    truth = sides.joined.ref
    if options.empty_predictions == "skip":
        truth = truth.take(np.flatnonzero(sides.joined.pred.sizes))
    is_evaluated = occurring(truth.codes, len(ref.terms))
    return code_labels(pred, ref, is_evaluated, class_list, ignored)


def _build_task(
    sides: _LabelSides,
    coding: LabelCoding,
    class_list: list[Terms] | None,
    options: Options,
    set_size_probs: Floats | None,
) -> LabelTask:
    """Make the task of joined sides whose labels are coded."""
    pred = sides.pred
    joined = sides.joined
    pred_written = None
    ref_written = None
    if coding.synonyms is not None:
        # Written labels are numbered across both sides: first the predictions, then the references.
        pred_written = joined.pred.codes
        ref_written = (joined.ref.codes + len(pred.terms)).astype(np.int32)
    difficult = sides.difficult
    if difficult is not None:
        difficult = _with_classes(difficult, coding.ref_codes)
    unverified = find_unverified(
        sides.listed_cells,
        coding.ref_codes,
        len(coding.classes),
        is_federated=sides.ref.is_federated,
    )
    n_listed = None
    if class_list is not None:
        n_listed = len(class_list)
    precision = pred.precision
    if options.activation:
        precision = "float64"
    terms_of_classes = None
    if not all(len(terms) == 1 for terms in coding.classes):
        terms_of_classes = coding.classes
    # Only labels from cells of 0 and 1 are in the order of columns or keys.
    is_binary = pred.order in ("columns", "keys")
    if set_size_probs is not None:
        set_size_probs = aligned_rows(set_size_probs, pred, joined.ids)
    has_set_sizes = set_size_probs is not None
    return LabelTask(
        ids=joined.ids,
        classes=tuple(map(class_name, coding.classes)),
        pred=_with_classes(joined.pred, coding.pred_codes, pred_written),
        ref=_with_classes(joined.ref, coding.ref_codes, ref_written),
        difficult=difficult,
        unverified=unverified,
        ranked=pred.ranked,
        binary=is_binary,
        n_listed=n_listed,
        settings=_settings(options, sides, class_list, has_set_sizes=has_set_sizes),
        counts=joined.counts,
        in_columns=_in_columns(sides, coding),
        precision=precision,
        synonyms=coding.synonyms,
        terms=terms_of_classes,
        set_size_probs=set_size_probs,
        first_set_size=options.first_set_size,
        weights=sides.weights,
    )


def _with_classes(
    side: Side, class_of_label: Codes, written: Codes | None = None
) -> Side:
    """Replace the code of each label by the code of its class."""
    return replace(side, codes=class_of_label.take(side.codes), written=written)


def _in_columns(sides: _LabelSides, coding: LabelCoding) -> Bools | None:
    """Return which classes are columns of a matrix, or keys of 0/1 mappings.

    None means that neither side is a matrix or such mappings.
    """
    if not sides.pred.names_all and not sides.ref.names_all:
        return None
    in_columns = np.zeros(len(coding.classes), np.bool_)
    if sides.pred.names_all:
        in_columns[coding.pred_codes] = True
    if sides.ref.names_all:
        in_columns[coding.ref_codes] = True
    return in_columns


def _settings(
    options: Options,
    sides: _LabelSides,
    class_list: list[Terms] | None,
    *,
    has_set_sizes: bool,
) -> dict[str, str]:
    """Return the settings in the signature that have an effect on these data."""
    settings = options.settings("labels")
    if sides.pred.side.scores is None:
        settings.pop(OPTIONS["activation"].key, None)
    if options.unknown_value is not None:
        settings[OPTIONS["unknown_value"].key] = str(options.unknown_value)
    if sides.ref.is_federated:
        settings[_VERIFIED] = "listed"
    # Without probabilities of set sizes it has no effect. With them it comes last.
    first_set_size_key = OPTIONS["first_set_size"].key
    first_set_size = settings.pop(first_set_size_key, "")
    if class_list is not None:
        settings["classes"] = identify_classes(class_list)
    if options.weights is not None:
        settings["weights"] = "given"
    if has_set_sizes and first_set_size:
        settings[first_set_size_key] = first_set_size
    return settings


def _skip_empty_predictions(task: LabelTask) -> LabelTask:
    """Leave out the items without predicted labels, and count them."""
    rows = np.flatnonzero(task.pred.sizes)
    n_skipped = len(task) - len(rows)
    if not n_skipped:
        return task
    counts = {**task.counts, "empty_prediction_skipped": n_skipped}
    return replace(task.take(rows), counts=counts)
