"""Select the images of a maximum discrepancy competition, and add systems to it.

Conventions
-----------
Systems answer for the same images, which need no references. For each pair of systems, the images
on which the two differ most are selected. References or ratings of these images then decide between
the two, and all pairs together give one global rank (Wan et al. 2022). The selection is a state.
It can be saved, extended by further systems, and ranked.

A measure for which higher is better is a similarity, and its smallest values are the most
discrepant. If lower is better, the largest values are. If a measure is not symmetric, it is
computed both ways and averaged.

Images without a value are never selected. Images of equal values are ordered by a named rule:

- "id" orders them by id: by code points, or by number if items have no ids.
- "position" orders them by position.
- "random" orders them by a hash of the seed, the two systems and the id.
- "orders" (the default) orders images whose NGSM is 0 by the NGSM of one order less, and so on
  down to single words, and then by id.

So the selection depends neither on the size of blocks nor, except with "position", on the order of
the images. Values that differ only by rounding errors count as equal. Most images may have an NGSM
of 0. The state counts the images that share the value of the last selected image. With "orders",
they must also share the values of all lower orders. If ties decide, "id" selects the same few
images for all pairs, and "random" selects different images for each pair.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeGuard

from semmetrics.arguments import check_choice
from semmetrics.data.input_columns import proposing_shared_options
from semmetrics.data.lists import Lists
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.source import load
from semmetrics.errors import FROM_0, Fact, InputError, first_of_each
from semmetrics.kinds.note_builders import counted, named
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Definition, Measure
from semmetrics.options import OPTIONS
from semmetrics.scoring.evaluation import Evaluation, describe_inputs
from semmetrics.studies.answer_similarity import (
    AnswerFunction,
    Pairs,
    name_function,
    open_similarity,
)
from semmetrics.studies.competition_state import (
    DiscrepancySelection,
    PairSelection,
    as_selection,
)
from semmetrics.studies.image_selector import ImageSelector

TIES = ("orders", "id", "position", "random")
_DEFAULT_K = 70  # as in the paper


# ---- public functions --------------------------------------------------------------------------


@takes_options()
def select_discrepant(
    systems: Any,
    k: int | None = None,
    *,
    total: int | None = None,
    measure: str | Measure | Definition | AnswerFunction = "NGSM",
    ties: str = "orders",
    seed: int = 12345,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Select, for each pair of systems, the k images on which they differ most.

    With ``total`` all pairs together have at most so many different images. k is then the largest
    number of images of each pair that this allows. Pairs may share images, so k can be larger than
    the total divided by the number of pairs.

    Parameters
    ----------
    systems : mapping from name to answers, or iterable of such mappings
        Captions (or label sets) of each system for the same images, in any form that ``score``
        accepts as predictions. Sets that do not fit into memory can be passed as batches of images.
        A measure whose values depend on other images, such as CIDEr-D, then sees only the images of
        the same batch.
    k : int, optional
        The number of images to select for each pair. The default is 70, as in the paper.
    total : int, optional
        The largest number of different images, instead of k.
    measure : str, Measure, Definition or callable
        How alike two answers are: NGSM, any other measure with values per item, or a function of
        two captions or of two lists of labels. Smaller values of a function are more discrepant.
    ties : {"orders", "id", "position", "random"}
        How to order images of equal values: by NGSM of lower orders if NGSM is 0, and then by id;
        by id; by position; or by a hash of the seed, the pair and the id. Most images may share
        the smallest value ("tied" of the pairs counts them). "id" then selects nearly the same
        images for all pairs, which saves annotation, and "random" different images for each pair.
    seed : int
        The seed of "random".
    exclude : path or iterable of str
        Images that must not be selected, for example because nobody can describe them. The next
        images are selected instead. A path names a file with one id per line.
    **options

    Returns
    -------
    DiscrepancySelection
        The state of the competition, with the sheets to fill.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have different images, an image has several
        captions, k is larger than the number of images, the total allows no image of each pair, k
        and the total are both given, or an option is invalid.

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
    >>> select_discrepant(systems, total=2).k
    2
    """
    if k is not None and total is not None:
        raise InputError("conflicting-options", names="k and total")
    for name, number in (("k", k), ("total", total)):
        if number is not None and number < 1:
            raise InputError(
                "bad-option", name=name, value=number, wanted="a positive integer"
            )
    check_choice("ties", ties, TIES)
    empty_state = DiscrepancySelection(
        systems=(),
        measure="",
        k=total or k or _DEFAULT_K,
        ties=ties,
        seed=seed,
        kind="",
        noun="",
        n=0,
        left_out=0,
        excluded=(),
        options={},
        models={},
        inputs={},
        pairs=(),
        answers={},
    )
    return _extend(empty_state, systems, measure, exclude, options, total=total)


@takes_options()
def add_systems(
    selection: DiscrepancySelection | str | os.PathLike[str],
    systems: Any,
    *,
    measure: AnswerFunction | None = None,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Add systems to a competition, or take images out of it.

    Existing pairs are kept and not compared again, unless an image of theirs is excluded. Then the
    next image of the pair replaces it.

    Parameters
    ----------
    selection : DiscrepancySelection or path
    systems : mapping from name to answers, or iterable of such mappings
        The systems of the competition, with the same answers as before, and the new ones.
    measure : callable, optional
        The function that the competition was selected with, if it was a function.
    exclude : path or iterable of str
        Further images that must not be selected, for example because nobody can describe them.
    **options
        Options that a state cannot store, such as functions. All others are read from the state.

    Returns
    -------
    DiscrepancySelection
        Its ``sheet(since=selection)`` has the rows that are still to be filled.

    Raises
    ------
    InputError
        If a system of the competition is missing or its answers have changed, there is neither a
        new system nor an image to take out, an option differs from the state, or for a reason of
        ``select_discrepant``.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.3 and algorithm 2.

    Examples
    --------
    >>> systems = {"a": {"1": "a dog", "2": "a cat"}, "b": {"1": "a dog", "2": "a bus"}}
    >>> before = select_discrepant(systems, k=1)
    >>> after = add_systems(before, {**systems, "c": {"1": "two men", "2": "a cat"}})
    >>> [(pair.first, pair.second, pair.images) for pair in after.pairs]
    [('a', 'b', ('2',)), ('a', 'c', ('1',)), ('b', 'c', ('1',))]
    >>> add_systems(before, systems, exclude=["2"]).images
    ['1']
    """
    state = as_selection(selection, options)
    restored_options = _restore_options(state, options)
    if not state.measure.startswith("function:"):
        if measure is not None:
            what = f"a state of {state.measure}"
            raise InputError("not-applicable", name="measure", what=what)
        return _extend(state, systems, state.measure, exclude, restored_options)
    if measure is None or name_function(measure) != state.measure:
        what = state.measure.replace(":", " ")
        raise InputError("give-again", what=what, name="measure")
    return _extend(state, systems, measure, exclude, restored_options)


# ---- selection ---------------------------------------------------------------------------------


class _Extension(NamedTuple):
    """The systems and pairs of an extended state.

    Attributes
    ----------
    systems : tuple of str
        All systems. Those of the earlier state come first.
    new_systems : tuple of str
        The systems whose pairs are compared.
    new_pairs : sequence of pairs of int
        The pairs to compare, by the numbers of the systems.
    unchanged_pairs : tuple of PairSelection
        Pairs of the earlier state that stay as they are.
    unchanged_answers : mapping from image to mapping from system to list
        Their answers.
    """

    systems: tuple[str, ...]
    new_systems: tuple[str, ...]
    new_pairs: Pairs
    unchanged_pairs: tuple[PairSelection, ...]
    unchanged_answers: Mapping[str, Mapping[str, list[Any]]]


def _extend(
    state: DiscrepancySelection,
    systems: Any,
    measure: Any,
    exclude: Any,
    options: Mapping[str, Any],
    *,
    total: int | None = None,
) -> DiscrepancySelection:
    """Add systems to a state, or take images out of it.

    An empty state becomes a new competition. Only pairs that the state does not have are compared,
    but all systems are read, so that changed answers are detected.
    """
    first_batch, later_batches = _split_batches(systems)
    _check_systems(first_batch, state)
    exclusions = _read_exclusions(exclude, options)
    extension = _plan_extension(state, first_batch, exclusions)
    first_batch = {name: first_batch[name] for name in extension.systems}
    opened = open_similarity(measure, first_batch, options)
    similarity = opened.similarity
    selector = ImageSelector(
        extension.systems,
        similarity,
        extension.new_pairs,
        k=state.k,
        ties=state.ties,
        seed=state.seed,
        exclude={*state.excluded, *exclusions},
    )
    batches = chain([opened.systems], later_batches)
    notes, understood = _compare_batches(selector, opened.setup, batches, options)
    if state.systems:
        _check_unchanged(state, selector, similarity.models)
    else:
        state = replace(
            state,
            measure=similarity.name,
            kind=opened.setup.kind.name,
            noun=selector.noun,
            n=selector.n,
            left_out=selector.n_left_out,
            models=dict(similarity.models),
            options=_options_to_save(options, opened.setup),
        )
    if total is not None:
        state = replace(state, k=selector.limit_total(total))
    state = _add_selection(state, extension, selector)
    # Excluded ids that never occurred are noted, as they may be written differently in the data.
    distinct_exclusions = dict.fromkeys(exclusions)
    unknown = [id_ for id_ in distinct_exclusions if id_ not in selector.excluded]
    notes += named("unknown-exclusions", unknown)
    notes += _note_selection(state, extension.new_systems)
    return replace(state, facts=tuple(notes), understood=tuple(understood))


def _add_selection(
    state: DiscrepancySelection, extension: _Extension, selector: ImageSelector
) -> DiscrepancySelection:
    """Return a state with the images that a selector found."""
    selected = selector.finish()
    answers: dict[str, dict[str, list[Any]]] = {}
    for source in (extension.unchanged_answers, selected.answers):
        for image, answers_for_image in source.items():
            answers.setdefault(image, {}).update(answers_for_image)
    return replace(
        state,
        systems=extension.systems,
        pairs=(*extension.unchanged_pairs, *selected.pairs),
        excluded=tuple(sorted({*state.excluded, *selector.excluded})),
        inputs={**state.inputs, **selector.describe()},
        answers=answers,
    )


def _split_batches(systems: Any) -> tuple[Mapping[str, Any], Iterator[Any]]:
    """Return the first batch of images, and an iterator over the others."""
    is_whole = isinstance(systems, Mapping)
    batches: Iterator[Any] = iter([systems]) if is_whole else iter(systems)
    first_batch = next(batches, None)
    if not _is_mapping_of_names(first_batch):
        raise InputError(
            "wrong-type", "systems", value=systems, wanted="a mapping of names"
        )
    return first_batch, batches


def _is_mapping_of_names(batch: Any) -> TypeGuard[Mapping[str, Any]]:
    if not isinstance(batch, Mapping):
        return False
    return all(isinstance(name, str) and name for name in batch)


def _check_systems(batch: Mapping[str, Any], state: DiscrepancySelection) -> None:
    """Check that there are at least two systems, and all systems of the state."""
    if len(batch) < 2:
        raise InputError("too-few-compared", n=len(batch))
    missing = [name for name in state.systems if name not in batch]
    if missing:
        raise InputError("systems-missing", n=len(missing), systems=missing)


def _read_exclusions(exclude: Any, options: Mapping[str, Any]) -> list[str]:
    """Return the ids of images to exclude, or read them from a file with one per line."""
    if not isinstance(exclude, (str, os.PathLike)):
        return list(map(str, exclude))
    read = options.get("read") or DEFAULTS
    source = load(exclude, read.max_bytes)
    stripped = [line.strip() for line in source.text.splitlines()]
    return [line for line in stripped if line]


def _plan_extension(
    state: DiscrepancySelection, batch: Mapping[str, Any], exclusions: Iterable[str]
) -> _Extension:
    """Choose the pairs to compare.

    If an image of the state is excluded, all pairs are compared again.
    """
    new_systems = tuple(name for name in batch if name not in state.systems)
    takes_images_out = not set(state.images).isdisjoint(exclusions)
    if not new_systems and not takes_images_out:
        raise InputError(
            "nothing-given",
            what="new systems and no images to exclude",
            remedy="add a system, or exclude images that are selected",
        )
    systems = (*state.systems, *new_systems)
    if takes_images_out or not state.pairs:
        all_pairs = list(combinations(range(len(systems)), 2))
        compared = systems if takes_images_out else new_systems
        return _Extension(systems, compared, all_pairs, (), {})
    new_pairs = []
    for new_number in range(len(state.systems), len(systems)):
        for earlier_number in range(new_number):
            new_pairs.append((earlier_number, new_number))
    return _Extension(systems, new_systems, new_pairs, state.pairs, state.answers)


def _compare_batches(
    selector: ImageSelector,
    setup: Evaluation,
    batches: Iterable[Any],
    options: Mapping[str, Any],
) -> tuple[list[Fact], list[str]]:
    """Read and compare all batches.

    Returns
    -------
    notes : list of Fact
    understood : list of str
        How the first batch was read. There may be thousands of others.
    """
    missing = options.get("missing") or "error"
    progress = options.get("progress")
    notes: list[Fact] = []
    understood: list[str] = []
    for number, batch in enumerate(batches):
        if not isinstance(batch, Mapping) or set(batch) != set(selector.systems):
            where = f"batch {number}{FROM_0}"
            raise InputError("other-systems", where, systems=selector.systems)
        lists = {}
        for system in selector.systems:
            lists[system] = _read_answers(batch[system], system, setup)
        selector.update(lists, missing, progress)
        for lists_of_system in lists.values():
            source = lists_of_system.source
            notes += [replace(note, where=source) for note in lists_of_system.notes]
        if number == 0:
            understood = describe_inputs(list(lists.values()))
    notes = first_of_each(notes)
    notes += counted("images-left-out", selector.n_left_out)
    return notes, understood


def _read_answers(data: Any, system: str, setup: Evaluation) -> Lists:
    """Read the answers of a system, which must not be scores of labels."""
    with proposing_shared_options():
        lists = setup.read(data, system)
    if not isinstance(lists, Lists) or lists.ranked:
        raise InputError(
            "wrong-format",
            system,
            what="answers",
            format="scores of labels",
            wanted="the labels of each image",
        )
    return lists


def _check_unchanged(
    state: DiscrepancySelection, selector: ImageSelector, models: Mapping[str, str]
) -> None:
    """Check that the answers of a state, and the models that compare them, have not changed."""
    for name, earlier_model in state.models.items():
        model = models.get(name)
        if model != earlier_model:
            what = f"{name}:{earlier_model} instead of {model}"
            raise InputError("state-differs", what=what)
    if selector.n != state.n:
        n_images = pluralize(selector.n, "image")
        raise InputError("state-differs", what=f"{state.n:,} instead of {n_images}")
    descriptions = selector.describe()
    changed = []
    for system in state.systems:
        earlier = state.inputs[system]["fingerprint"]
        if descriptions[system]["fingerprint"] != earlier:
            changed.append(system)
    if changed:
        raise InputError("state-differs", what=f"other answers of {listing(changed)}")


def _note_selection(
    state: DiscrepancySelection, new_systems: Sequence[str]
) -> list[Fact]:
    """Note systems with equal or empty answers, and pairs whose selection ties decide."""
    pairs = []
    for pair in state.pairs:
        if pair.first in new_systems or pair.second in new_systems:
            pairs.append(pair)
    notes = []
    for pair in pairs:
        if pair.identical == state.n:
            where = f"{pair.first} and {pair.second}"
            notes.append(Fact("same-answers", pair.identical, where=where))
    tied_pairs = [pair for pair in pairs if pair.tied > pair.taken]
    if tied_pairs:
        notes.append(_ties_decide_fact(tied_pairs, state.ties))
    n_undefined = sum(pair.undefined for pair in pairs)
    notes += counted("undefined-pairs", n_undefined)
    for system in new_systems:
        n_empty = state.inputs[system]["empty"]
        notes += counted("empty-answers", n_empty, (), system, noun=state.noun)
    return notes


def _ties_decide_fact(tied_pairs: Sequence[PairSelection], ties: str) -> Fact:
    """Return the note that ties decide, with the pair that has most ties as an example."""
    example = max(tied_pairs, key=lambda pair: pair.tied)
    rule = "id" if ties == "orders" else ties
    values = {
        "ties": rule,
        "pair": f"{example.first} and {example.second}",
        "taken": example.taken,
        "tied": example.tied,
    }
    return Fact("ties-decide", len(tied_pairs), values=values)


# ---- options in a state ------------------------------------------------------------------------


def _options_to_save(options: Mapping[str, Any], setup: Evaluation) -> dict[str, Any]:
    """Return the options that describe data and measure, in a form that JSON can hold."""
    saved = {}
    for name, value in options.items():
        # Options without a group concern one call only.
        if value is not None and OPTIONS[name].group:
            saved[name] = _value_to_save(value)
    if hasattr(setup.options.tokenizer, "name"):
        saved.setdefault("tokenizer", OPTIONS["tokenizer"].default)
    return saved


def _value_to_save(value: Any) -> Any:
    """Return the value of an option for JSON, or the type of an object that JSON cannot hold."""
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(map(_is_plain, value)):
        return list(value)
    return {"object": type(value).__name__}


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float))


def _restore_options(
    state: DiscrepancySelection, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a state, with the given values for those that it could not store.

    Raises
    ------
    InputError
        If such a value is missing, or a given option differs from the state.
    """
    restored = dict(options)
    for name, saved in state.options.items():
        value = options.get(name)
        if name == "embedding":
            value = _unwrap_default_embedding(value)
        if isinstance(saved, dict):
            if value is None:
                what = f"{name}= of type {saved['object']}"
                raise InputError("give-again", what=what, name=name)
        elif value is not None and _value_to_save(value) != saved:
            raise InputError(
                "state-differs", what=f"{name}={saved!r} instead of {value!r}"
            )
        else:
            restored[name] = saved
    _check_stored(state, options)
    return restored


def _check_stored(state: DiscrepancySelection, options: Mapping[str, Any]) -> None:
    """Check that no option is set which the state was selected without."""
    for name, value in options.items():
        if value is not None and name not in state.options and OPTIONS[name].group:
            what = "a state selected without it"
            raise InputError("not-applicable", name=name, what=what)


def _unwrap_default_embedding(embedding: Any) -> Any:
    """Return an embedding without the default name that the command line adds to it."""
    if isinstance(embedding, Mapping) and list(embedding) == [DEFAULT_EMBEDDING]:
        return embedding[DEFAULT_EMBEDDING]
    return embedding
