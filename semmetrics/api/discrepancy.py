"""The images of a maximum discrepancy competition: selected, and added to, in one call each.

Conventions
-----------
Systems answer for the same images, which need no references. The images on which two systems differ
most are selected, annotated, and decide between the two; all pairs together give one global rank
(Wan et al. 2022). Selecting keeps a state, to which systems can be added and which is ranked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from semmetrics.api.compared_systems import (
    Function,
    as_batches,
    check_systems,
    compare_systems,
    describe_systems,
    open_similarity,
)
from semmetrics.api.scores import document_options
from semmetrics.arguments import checked_but
from semmetrics.comparison.answer_similarity import name_function
from semmetrics.comparison.discrepant_images import TIES, Selector
from semmetrics.data.form import DEFAULTS
from semmetrics.data.source import load
from semmetrics.errors import InputError
from semmetrics.messages import brief, listing, pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.options import OPTIONS, check_options
from semmetrics.reports.selection import DiscrepancySelection
from semmetrics.scoring.plan import Setup, check_given

__all__ = ["NOT_SELECTING", "add_systems", "as_selection", "select_discrepant"]

_ANSWERS = ("labels", "captions")  # what systems can say of an image
NOT_SELECTING = (
    "measures", "protocol", "top_k", "decode", "threshold", "keep_at_least", "set_size_probs",
    "first_set_size", "weights", "score_references", "empty_predictions", "ci", "ci_method",
    "seed", "resamples", "level", "keep_rows",
    *(name for name, one in OPTIONS.items() if one.kinds and not {*one.kinds} & {*_ANSWERS}),
)  # fmt: skip
"""The options of a score that mean nothing here."""

_UNSAVED = ("read", "progress")


@document_options(*NOT_SELECTING)
@checked_but("systems")
def select_discrepant(
    systems: Any,
    k: int = 70,
    *,
    measure: str | Measure | Definition | Function = "NGSM",
    ties: str = "id",
    seed: int = 12345,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Select, for each pair of systems, the k images on which they differ most.

    Parameters
    ----------
    systems : mapping from name to answers, or iterable of such mappings
        Captions (or label sets) of each system for the same images: whatever ``score`` takes as
        predictions. Sets that do not fit into memory are given in batches of images; a measure
        whose values depend on other images, such as CIDEr-D, then sees those of its batch.
    k : int
        Images of each pair; 70 in the paper.
    measure : str, Measure, Definition or callable
        What tells how alike two answers are: NGSM, any other measure with values of items, or a
        function of two captions or of two lists of labels, whose smaller values are more
        discrepant.
    ties : {"id", "position", "random"}
        How images of equal values are told apart: by id, by where they stand, or by a hash of the
        seed, the pair and the id. Most images may share the smallest value: "tied" of the pairs
        counts them. "id" then selects much the same images for all pairs, which is little to
        annotate, and "random" others for each.
    seed : int
        Of "random".
    exclude : path or iterable of str
        Images that are not to be selected, such as those that nobody can describe; the next ones
        are taken. A path names a file with one a line.
    **options

    Returns
    -------
    DiscrepancySelection
        The state of the competition, with the sheets to fill.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have different images, an image has several
        captions, k is larger than the number of images, or an option is wrong.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.2, equation 6 and algorithm 1.

    Examples
    --------
    >>> systems = {
    ...     "a": {"1": "a dog runs on grass", "2": "a red bus"},
    ...     "b": {"1": "a dog runs on sand", "2": "two men talk"},
    ... }
    >>> selection = select_discrepant(systems, k=1)
    >>> selection.pairs[0].images, selection.pairs[0].values
    (('2',), (0.0,))
    """
    check_options("select_discrepant", options, _known())
    check_given(options)
    _check_selecting(k, ties)
    batches = as_batches(systems)
    first = next(batches)
    check_systems(first)
    setup, similarity, first = open_similarity(measure, first, options)
    left_out = _read_exclude(exclude, options)
    selector = Selector(list(first), similarity, k, ties=ties, seed=seed, exclude=left_out)
    seen = compare_systems(selector, setup, chain([first], batches), options)
    pairs = selector.finish()
    state = DiscrepancySelection(
        systems=tuple(first),
        measure=similarity.name,
        k=k,
        ties=ties,
        seed=seed,
        kind=setup.kind.name,
        noun=seen.noun,
        n=selector.n,
        left_out=seen.left_out,
        excluded=tuple(sorted(selector.excluded)),
        options=_saved_options(options, setup),
        models=dict(similarity.models),
        inputs=describe_systems(selector, similarity),
        pairs=tuple(pairs),
        answers=seen.answers_of(pairs),
        understood=tuple(seen.understood),
    )
    notes = seen.notes + _exclusion_notes(left_out, selector)
    return replace(state, notes=tuple(notes + _selection_notes(state, state.systems)))


@document_options(*NOT_SELECTING)
@checked_but("systems")
def add_systems(
    selection: DiscrepancySelection | str | os.PathLike[str],
    systems: Any,
    *,
    measure: Function | None = None,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Add systems to a competition; pairs that it has already are kept and not compared again.

    Parameters
    ----------
    selection : DiscrepancySelection or path
    systems : mapping from name to answers, or iterable of such mappings
        Those of the competition, with the same answers as then, and the new ones.
    measure : callable, optional
        The function that the competition was selected with, where it was one.
    exclude : path or iterable of str
        Further images that are not to be selected.
    **options
        Those that the state does not hold, such as functions; others are taken from it.

    Returns
    -------
    DiscrepancySelection
        ``sheet(since=selection)`` has the rows that are still to be filled.

    Raises
    ------
    InputError
        If a system of the competition is not given or answers otherwise than then, there is no new
        one, an option differs from that of the state, or as for ``select_discrepant``.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, algorithm 2.

    Examples
    --------
    >>> systems = {"a": {"1": "a dog", "2": "a cat"}, "b": {"1": "a dog", "2": "a bus"}}
    >>> before = select_discrepant(systems, k=1)
    >>> after = add_systems(before, {**systems, "c": {"1": "two men", "2": "a cat"}})
    >>> [(pair.first, pair.second, pair.images) for pair in after.pairs]
    [('a', 'b', ('2',)), ('a', 'c', ('1',)), ('b', 'c', ('1',))]
    """
    check_options("add_systems", options, _known())
    check_given(options)
    before = as_selection(selection, options)
    given = _restored_options(before, options)
    batches = as_batches(systems)
    first = next(batches)
    names = _check_added(before, first)
    ordered = [*before.systems, *(name for name in first if name not in before.systems)]
    old = len(before.systems)
    left_out = _read_exclude(exclude, options)
    pairs = [(i, j) for j in range(old, len(ordered)) for i in range(j)]
    first = {name: first[name] for name in ordered}
    setup, similarity, first = open_similarity(_measure_of(before, measure), first, given)
    selector = Selector(
        ordered,
        similarity,
        before.k,
        pairs=pairs,
        ties=before.ties,
        seed=before.seed,
        exclude={*before.excluded, *left_out},
    )
    seen = compare_systems(selector, setup, chain([first], batches), given)
    _check_unchanged(before, selector, similarity.models)
    made = selector.finish()
    answers = {image: dict(some) for image, some in before.answers.items()}
    for image, some in seen.answers_of(made).items():
        answers[image] = {**answers.get(image, {}), **some}
    state = replace(
        before,
        systems=tuple(ordered),
        excluded=tuple(sorted({*before.excluded, *selector.excluded})),
        inputs={**before.inputs, **describe_systems(selector, similarity)},
        pairs=(*before.pairs, *made),
        answers=answers,
        understood=tuple(seen.understood),
    )
    notes = seen.notes + _exclusion_notes(left_out, selector)
    return replace(state, notes=tuple(notes + _selection_notes(state, names)))


def _known() -> list[str]:
    return [name for name in OPTIONS if name not in NOT_SELECTING]


def _check_selecting(k: int, ties: str) -> None:
    if k < 1:
        raise InputError(f"k={k}", remedy="give 1 or more")
    if ties not in TIES:
        raise InputError(f"ties={ties!r}", remedy=f"choose one of {listing(TIES)}")


def _saved_options(options: Mapping[str, Any], setup: Setup) -> dict[str, Any]:
    """Return the options as the state keeps them; of an object only that there was one."""
    saved = {
        name: _saved(value) for name, value in options.items()
        if value is not None and name not in _UNSAVED
    }  # fmt: skip
    if hasattr(setup.options["tokenizer"], "name"):
        saved.setdefault("tokenizer", OPTIONS["tokenizer"].default)
    return saved


def _saved(value: Any) -> Any:
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(isinstance(v, (str, int, float)) for v in value):
        return list(value)
    return {"object": type(value).__name__}


def _restored_options(state: DiscrepancySelection, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a state; what it could not keep is given again."""
    restored = dict(given)
    for name, value in state.options.items():
        mine = given.get(name)
        if isinstance(value, dict):
            if mine is None:
                raise InputError(
                    f"the competition was selected with {name}= of type {value['object']}, which "
                    "the state does not hold",
                    remedy="give it again",
                )
        elif mine is not None and _saved(mine) != value:
            raise InputError(
                f"{OPTIONS[name].both} is {brief(mine)}, and the state has {brief(value)}",
                remedy="leave it out, or select again",
            )
        else:
            restored[name] = value
    extra = [OPTIONS[n].both for n, v in given.items()
             if v is not None and n not in state.options and n not in _UNSAVED]  # fmt: skip
    if extra:
        raise InputError(f"the state was selected without {', '.join(extra)}",
                         remedy="leave that out, or select again")  # fmt: skip
    return restored


def as_selection(selection: Any, options: Mapping[str, Any]) -> DiscrepancySelection:
    """Return a selection from itself or from the file that it was saved in."""
    if isinstance(selection, DiscrepancySelection):
        return selection
    read = options.get("read") or DEFAULTS
    return DiscrepancySelection.load(selection, max_bytes=read.max_bytes)


def _measure_of(state: DiscrepancySelection, measure: Function | None) -> Any:
    """Return the measure of a state; a function is given again."""
    if not state.measure.startswith("function:"):
        if measure is not None:
            raise InputError(f"the competition was selected by {state.measure}",
                             remedy="leave measure= out")  # fmt: skip
        return state.measure
    if measure is None or name_function(measure) != state.measure:
        raise InputError(f"the competition was selected by the {state.measure.replace(':', ' ')}",
                         remedy="give it again: measure=")  # fmt: skip
    return measure


def _check_added(state: DiscrepancySelection, systems: Any) -> list[str]:
    """Return the names of the new systems."""
    named = isinstance(systems, Mapping)
    lost = [name for name in state.systems if named and name not in systems]
    if lost:
        raise InputError(
            f"{listing(lost)} of the competition {'is' if len(lost) == 1 else 'are'} not given",
            remedy="give all systems of the competition, and the new ones",
        )
    check_systems(systems)
    new = [name for name in systems if name not in state.systems]
    if not new:
        raise InputError("there is no new system", remedy="give one that the competition has not")
    return new


def _check_unchanged(
    state: DiscrepancySelection, selector: Selector, models: Mapping[str, str]
) -> None:
    """Refuse systems that answer otherwise than they did, and what compares them otherwise."""
    for name, before in state.models.items():
        if models.get(name) != before:
            raise InputError(
                f"{name}:{models.get(name)}, and the state was selected with {name}:{before}",
                remedy="give what was given then, or select again",
            )
    changed = [
        name for name in state.systems
        if state.inputs[name]["fingerprint"] != f"{selector.fingerprints[name]:016x}"
    ]  # fmt: skip
    if selector.n != state.n or changed:
        what = f"answers of {listing(changed)}" if selector.n == state.n else "images"
        raise InputError(
            f"the {what} are not those that the state was selected from "
            f"({pluralize(state.n, 'image')} then, {selector.n:,} now)",
            remedy="give the same files as then, and the new system for the same images",
        )


def _read_exclude(exclude: Any, options: Mapping[str, Any]) -> list[str]:
    """Return the ids of images that are not to be selected."""
    if isinstance(exclude, (str, os.PathLike)):
        lines = load(exclude, (options.get("read") or DEFAULTS).max_bytes).text.splitlines()
        return [line.strip() for line in lines if line.strip()]
    ids = [None] if isinstance(exclude, bytes) or not isinstance(exclude, Iterable) else [*exclude]
    if not all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in ids):
        raise InputError(f"exclude={brief(exclude)}", remedy="give ids, or a file of one a line")
    return [str(name) for name in ids]


def _exclusion_notes(left_out: Iterable[str], selector: Selector) -> list[str]:
    """Say which images to exclude are not there: their ids may be written otherwise."""
    unknown = [name for name in dict.fromkeys(left_out) if name not in selector.excluded]
    number = pluralize(len(unknown), "image")
    return [f"{number} to exclude that no system has: {listing(unknown)}"] if unknown else []


def _selection_notes(state: DiscrepancySelection, new: Sequence[str]) -> list[str]:
    """Say which systems answer alike, and where ties decide what is selected."""
    pairs = [pair for pair in state.pairs if pair.first in new or pair.second in new]
    notes = [
        f"{p.first} and {p.second} answer the same for all {pluralize(p.identical, 'image')}: "
        "nothing tells them apart"
        for p in pairs if p.identical == state.n
    ]  # fmt: skip
    tied = [pair for pair in pairs if pair.tied > pair.taken]
    if tied:
        most = max(tied, key=lambda pair: pair.tied)
        notes.append(
            f"ties decide in {pluralize(len(tied), 'pair')}: images with the value of the last one "
            f"selected are chosen by {state.ties} (of {most.first} and {most.second} {most.taken} "
            f"of {most.tied:,})"
        )
    undefined = sum(pair.undefined for pair in pairs)
    if undefined:
        notes.append(f"values of pairs that are undefined, and not selected: {undefined:,}")
    empty = {name: state.inputs[name]["empty"] for name in new}
    notes += [f"{name}: empty {state.noun}s: {n:,}" for name, n in empty.items() if n]
    return notes
