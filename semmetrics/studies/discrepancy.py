"""The images of a maximum discrepancy competition: selected, and added to, in one call each.

Conventions
-----------
Systems answer for the same images, which need no references. The images on which two systems differ
most are selected, annotated, and decide between the two; all pairs together give one global rank
(Wan et al. 2022). Selecting keeps a state, to which systems can be added and which is ranked.

The state of a competition is one JSON file: systems, options, a fingerprint of what each system
answers for all images, the images of each pair, and what both answer for those. It ends with a hash
of all this. A file that was edited by hand is refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.core.same import by_value
from semmetrics.data.form import DEFAULTS, has_surrogate
from semmetrics.data.inputs import open_input
from semmetrics.data.json_files import parse_source
from semmetrics.data.lists import Lists
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import EXAMPLES, FROM_0, Fact, InputError, first_of_each
from semmetrics.kinds.describe import finite_or_none
from semmetrics.kinds.resolve import resolve_kind
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse_all
from semmetrics.options import OPTIONS, check_options
from semmetrics.reports.result import Records, Result, cells
from semmetrics.scoring.plan import Setup, check_given, describe_inputs, open_setup, resolve_task
from semmetrics.scoring.protocols import listed
from semmetrics.scoring.score import document_options
from semmetrics.store.files import open_output
from semmetrics.studies.discrepant_images import (
    TIES,
    FunctionSimilarity,
    MeasureSimilarity,
    NgsmSimilarity,
    PairSelection,
    Selector,
    Similarity,
    align_systems,
    name_function,
)

_ANSWERS = ("labels", "captions")  # what systems can say of an image
NOT_SELECTING = (
    "measures", "protocol", "top_k", "decode", "threshold", "keep_at_least", "set_size_probs",
    "first_set_size", "weights", "score_references", "empty_predictions", "ci", "ci_method",
    "seed", "resamples", "level", "keep_rows",
    *(name for name, one in OPTIONS.items() if one.kinds and not {*one.kinds} & {*_ANSWERS}),
)  # fmt: skip
"""The options of a score that do not apply here."""
_KNOWN = [name for name in OPTIONS if name not in NOT_SELECTING]

_OWN_OPTIONS = ("read", "progress")  # of one call, not of the state


@document_options(*NOT_SELECTING)
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
    check_options("select_discrepant", options, _KNOWN)
    check_given(options)
    if k < 1:
        raise InputError("bad-option", name="k", value=k, wanted="a whole number from 1")
    check_choice("ties", ties, TIES)
    batches = as_batches(systems)
    first = next(batches)
    check_named_systems(first)
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
    notes = [*seen.notes, *_exclusion_notes(left_out, selector)]
    return replace(state, facts=(*notes, *_selection_notes(state, state.systems)))


@document_options(*NOT_SELECTING)
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
    check_options("add_systems", options, _KNOWN)
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
    notes = [*seen.notes, *_exclusion_notes(left_out, selector)]
    return replace(state, facts=(*notes, *_selection_notes(state, names)))


def _saved_options(options: Mapping[str, Any], setup: Setup) -> dict[str, Any]:
    """Return the options as the state keeps them; of an object only that there was one."""
    saved = {
        name: _saved(value) for name, value in options.items()
        if value is not None and name not in _OWN_OPTIONS
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
                raise InputError("give-again", what=f"{name}= of type {value['object']}", name=name)
        elif mine is not None and _saved(mine) != value:
            raise InputError("state-differs", what=f"{name}={mine!r}, not {value!r}")
        else:
            restored[name] = value
    for name, value in given.items():
        if value is not None and name not in state.options and name not in _OWN_OPTIONS:
            raise InputError("not-applicable", name=name, what="a state selected without it")
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
            raise InputError("not-applicable", name="measure", what=f"a state of {state.measure}")
        return state.measure
    if measure is None or name_function(measure) != state.measure:
        raise InputError("give-again", what=state.measure.replace(":", " "), name="measure")
    return measure


def _check_added(state: DiscrepancySelection, systems: Any) -> list[str]:
    """Return the names of the new systems."""
    check_named_systems(systems)
    lost = [name for name in state.systems if name not in systems]
    if lost:
        raise InputError("systems-missing", n=len(lost), systems=lost)
    new = [name for name in systems if name not in state.systems]
    if not new:
        raise InputError(
            "nothing-given", what="new systems", remedy="add one to those of the state"
        )
    return new


def _check_unchanged(
    state: DiscrepancySelection, selector: Selector, models: Mapping[str, str]
) -> None:
    """Refuse systems that answer otherwise than they did, and what compares them otherwise."""
    for name, before in state.models.items():
        if models.get(name) != before:
            raise InputError("state-differs", what=f"{name}:{models.get(name)}, not {before}")
    changed = [
        name for name in state.systems
        if state.inputs[name]["fingerprint"] != f"{selector.fingerprints[name]:016x}"
    ]  # fmt: skip
    if selector.n != state.n:
        raise InputError("state-differs", what=f"{pluralize(selector.n, 'image')}, not {state.n:,}")
    if changed:
        raise InputError("state-differs", what=f"other answers of {listing(changed)}")


def _read_exclude(exclude: Any, options: Mapping[str, Any]) -> list[str]:
    """Return the ids of images that are not to be selected."""
    if isinstance(exclude, (str, os.PathLike)):
        lines = load(exclude, (options.get("read") or DEFAULTS).max_bytes).text.splitlines()
        return [line.strip() for line in lines if line.strip()]
    ids = [None] if isinstance(exclude, bytes) or not isinstance(exclude, Iterable) else [*exclude]
    if not all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in ids):
        raise InputError("bad-option", name="exclude", value=exclude,
                         wanted="ids, or a file with one a line")  # fmt: skip
    return [str(name) for name in ids]


def _exclusion_notes(excluded: Iterable[str], selector: Selector) -> list[Fact]:
    """Note which images to exclude are not there: their ids may be written otherwise."""
    unknown = [name for name in dict.fromkeys(excluded) if name not in selector.excluded]
    return [Fact("unknown-exclusions", len(unknown), tuple(unknown[:EXAMPLES]))] if unknown else []


def _selection_notes(state: DiscrepancySelection, new: Sequence[str]) -> list[Fact]:
    """Note which systems answer alike, and where ties decide what is selected."""
    pairs = [pair for pair in state.pairs if pair.first in new or pair.second in new]
    notes = [Fact("same-answers", p.identical, where=f"{p.first} and {p.second}")
             for p in pairs if p.identical == state.n]  # fmt: skip
    tied = [pair for pair in pairs if pair.tied > pair.taken]
    if tied:
        most = max(tied, key=lambda pair: pair.tied)
        known = {"ties": state.ties, "pair": f"{most.first} and {most.second}",
                 "taken": most.taken, "tied": most.tied}  # fmt: skip
        notes.append(Fact("ties-decide", len(tied), values=known))
    undefined = sum(pair.undefined for pair in pairs)
    if undefined:
        notes.append(Fact("undefined-pairs", undefined))
    empty = {name: state.inputs[name]["empty"] for name in new}
    notes += [Fact("empty-answers", n, where=name, values={"noun": state.noun})
              for name, n in empty.items() if n]  # fmt: skip
    return notes


_SCHEMA = "semmetrics.mad/1"
_ANNOTATORS = 100  # at most
_UNSAVED = ("facts", "understood")


@by_value()
@dataclass(frozen=True, eq=False, kw_only=True)
class DiscrepancySelection(Result):
    """The most discrepant images of each pair of systems: the state of a competition.

    Attributes
    ----------
    systems : tuple of str
    measure : str
        What tells how alike two answers are.
    k : int
        Images of each pair.
    ties : str
        How images of equal values are told apart: "id", "position" or "random".
    seed : int
        Of "random".
    kind, noun : str
        What is evaluated, and what an entry of an answer is: "captions", "caption".
    n : int
        Images compared.
    left_out : int
        Images that some system lacks.
    excluded : tuple of str
        Images that were not to be selected.
    options : mapping
        Options of the data and of the measure.
    models : mapping
        What answers were compared with, by identity: "tok", embeddings.
    inputs : mapping from system to mapping
        "fingerprint" of what it answers, "empty" answers, and with NGSM the "duplicated" captions,
        in which a word stands three or more times in a row, and how many "duplicated_words".
    pairs : tuple of PairSelection
    answers : mapping from image to mapping from system to list
        What systems answer for the images of their pairs.
    version : str
    facts : tuple of Fact
        What is odd; not saved.
    understood : tuple of str
        How each input was read; not saved.
    """

    systems: tuple[str, ...]
    measure: str
    k: int
    ties: str
    seed: int
    kind: str
    noun: str
    n: int
    left_out: int
    excluded: tuple[str, ...]
    options: Mapping[str, Any]
    models: Mapping[str, str]
    inputs: Mapping[str, Mapping[str, Any]]
    pairs: tuple[PairSelection, ...]
    answers: Mapping[str, Mapping[str, list[Any]]] = field(repr=False)
    version: str = __version__
    facts: tuple[Fact, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    @property
    def images(self) -> list[str]:
        """The images of all pairs, each once: what is to be annotated."""
        return list(dict.fromkeys(image for pair in self.pairs for image in pair.images))

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined."""
        entry: dict[str, Any] = {"schema": _SCHEMA, **asdict(self)}
        for name in _UNSAVED:
            del entry[name]
        for pair in entry["pairs"]:
            pair["mean"] = finite_or_none(pair["mean"])
        return entry

    def _entry(self) -> dict[str, Any]:
        """Return what ``save`` writes."""
        entry = self.to_dict()
        entry["digest"] = _digest(entry)
        return entry

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON; a file appears only when it is complete.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        with open_output(path) as out:
            out.write(self.to_json() + "\n")

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes
    ) -> DiscrepancySelection:
        """Read what ``save`` wrote, of at most so many bytes.

        Raises
        ------
        InputError
            If the file holds no state of a competition, or was changed.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name, max_bytes):
            return _selection_of(parse_source(source), source.name)

    def to_records(self) -> Records:
        """Return one row for each pair and image: place, value, and what both systems answer."""
        rows = [
            {
                "first": pair.first, "second": pair.second, "place": place, "image_id": image,
                "value": value,
                "first_answer": answer_text(self.answers[image][pair.first]),
                "second_answer": answer_text(self.answers[image][pair.second]),
            }
            for pair in self.pairs
            for place, (image, value) in enumerate(zip(pair.images, pair.values, strict=True), 1)
        ]  # fmt: skip
        columns = ["first", "second", "place", "image_id", "value", "first_answer", "second_answer"]
        return Records.from_rows(columns, rows)

    def pair_records(self) -> Records:
        """Return one row for each pair: how alike the systems are, and how the images were cut."""
        last = [pair.values[-1] for pair in self.pairs]
        names = ("first", "second", "n", "undefined", "identical", "mean", "tied", "taken")
        columns = {name: [getattr(pair, name) for pair in self.pairs] for name in names}
        columns["mean"] = [finite_or_none(value) for value in columns["mean"]]
        return Records({**columns, "last": last})

    def system_records(self) -> Records:
        """Return one row for each system: empty answers, and duplicated captions where counted."""
        columns = ["system", "fingerprint", "empty", "duplicated", "duplicated_words"]
        rows = [{"system": name, **self.inputs[name]} for name in self.systems]
        return Records.from_rows(columns, rows)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return a table of the pairs, and one of the systems."""
        systems = self.system_records().drop("fingerprint")
        if systems.column("duplicated")[0] is None:
            systems = systems.drop("duplicated", "duplicated_words")
        return [cells(self.pair_records(), digits), cells(systems, digits)]

    def _repr_html_(self) -> str:
        return self.pair_records()._repr_html_()

    # ---- sheets to fill ---------------------------------------------------------------------

    def sheet(
        self,
        *,
        ratings: bool = False,
        annotators: int = 3,
        since: DiscrepancySelection | None = None,
    ) -> Records:
        """Return the sheet that annotators fill.

        It names no system. Rows of references are in the order of a hash of the image, rows of
        ratings of one image in that of a hash of the answer.

        Parameters
        ----------
        ratings : bool
            Whether what systems answer is to be rated, each distinct answer to an image once;
            otherwise references are to be written.
        annotators : int
            Rows for each image or answer, at most 100.
        since : DiscrepancySelection, optional
            An earlier state: its rows are left out.

        Returns
        -------
        Records
            Columns "image_id", "annotator" and "caption" (what an entry is called), which is
            empty; of ratings the answer stands there, and "rating" is empty.

        Raises
        ------
        InputError
            If ``annotators`` is not 1 to 100.
        """
        if not 1 <= annotators <= _ANNOTATORS:
            raise InputError("bad-option", name="annotators", value=annotators,
                             wanted=f"1 to {_ANNOTATORS}")  # fmt: skip
        known = {} if since is None else since._answers_to_fill(ratings)
        rows: list[dict[str, Any]] = []
        for image, answers in self._answers_to_fill(ratings).items():
            new = [answer for answer in answers if answer not in known.get(image, ())]
            for answer, number in ((a, n) for a in new for n in range(1, annotators + 1)):
                row = {"image_id": image, "annotator": str(number), self.noun: answer}
                rows.append({**row, "rating": ""} if ratings else row)
        return Records.from_rows(
            ["image_id", "annotator", self.noun, *(["rating"] if ratings else [])], rows
        )

    def _answers_to_fill(self, ratings: bool) -> dict[str, list[str]]:
        """Return the distinct answers of each image, or one empty text for its references."""
        images = sorted(self.images, key=_hashed)
        if not ratings:
            return {image: [""] for image in images}
        return {
            image: sorted({answer_text(a) for a in self.answers[image].values()}, key=_hashed)
            for image in images
        }


def answer_text(answer: Sequence[Any]) -> str:
    """Return an answer as a sheet has it: its entries on one line.

    Examples
    --------
    >>> answer_text(["cat", ["bin", "ashcan"]])
    'cat; bin, ashcan'
    """
    return "; ".join(entry if isinstance(entry, str) else ", ".join(entry) for entry in answer)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(entry: Mapping[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _selection_of(entry: Any, where: str) -> DiscrepancySelection:
    """Make a selection of what a file holds."""
    if not isinstance(entry, Mapping) or entry.get("schema") != _SCHEMA:
        raise InputError("not-a-state", where)
    fields = {name: value for name, value in entry.items() if name != "digest"}
    try:
        if entry.get("digest") != _digest(fields):
            raise ValueError
        del fields["schema"]
        pairs = [
            PairSelection(**{**pair, "images": tuple(pair["images"]),
                             "values": tuple(pair["values"]),
                             "mean": math.nan if pair["mean"] is None else pair["mean"]})
            for pair in fields.pop("pairs")
        ]  # fmt: skip
        systems, excluded = tuple(fields.pop("systems")), tuple(fields.pop("excluded"))
        return DiscrepancySelection(
            systems=systems, excluded=excluded, pairs=tuple(pairs), **fields
        )
    except (TypeError, ValueError, LookupError, AttributeError):
        raise InputError("state-edited", where) from None


Function = Callable[[Any, Any], float]


def as_batches(systems: Any) -> Iterator[Any]:
    """Return an iterator of mappings from system to answers, of which there is one at least."""
    if isinstance(systems, Mapping):
        return iter([systems])
    if isinstance(systems, (str, bytes)) or not isinstance(systems, Iterable):
        raise InputError("wrong-type", "systems", value=systems, wanted="a mapping of names")
    batches = iter(systems)
    first = next(batches, None)
    if first is None:
        raise InputError("nothing-given", what="batches of systems", remedy="give at least one")
    return chain([first], batches)


def check_named_systems(systems: Any) -> None:
    """Refuse anything but a mapping from the names of two systems or more."""
    if not isinstance(systems, Mapping):
        raise InputError("wrong-type", "systems", value=systems, wanted="a mapping of names")
    for name in systems:
        if not isinstance(name, str) or not name:
            raise InputError("wrong-type", "systems", value=name, wanted="a name")
        if has_surrogate(name):
            raise InputError("lone-surrogate", "systems", role=repr(name))
    if len(systems) < 2:
        raise InputError("too-few-compared", n=len(systems))


def open_similarity(
    measure: Any, systems: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Setup, Similarity, Mapping[str, Any]]:
    """Return what reads the systems, what compares them, and the systems."""
    given = {name: value for name, value in options.items() if value is not None}
    if callable(measure) and not isinstance(measure, (Measure, Definition)):
        kind = resolve_task(given.get("task"), None, None)
        if kind is None:
            read = given.get("read") or DEFAULTS
            first, second, *_ = systems
            systems = {**systems, **{n: open_input(systems[n], read) for n in (first, second)}}
            kind = resolve_kind(systems[first], systems[second], options=read).kind
        form = importlib.import_module(f"semmetrics.kinds.{kind}").FORM
        return open_setup(kind, given), FunctionSimilarity(measure, single=form.single), systems
    chosen = parse_all(listed(measure))
    if len(chosen) != 1:
        raise InputError("wrong-count", "measure", found=pluralize(len(chosen), "measure"),
                         wanted="a competition")  # fmt: skip
    (one,) = chosen
    setup = open_setup(resolve_task(given.get("task"), None, chosen) or one.definition.kind,
                       {**given, "measures": chosen})  # fmt: skip
    if one.definition.name == "NGSM" and one.definition.kind == setup.kind.name:
        return setup, NgsmSimilarity(one, setup.options["tokenizer"]), systems
    return setup, MeasureSimilarity(one, setup), systems


class Answered:
    """What was read of the systems, batch by batch, as far as it is kept."""

    def __init__(self) -> None:
        self.noun, self.left_out = "entry", 0
        self.notes: list[Fact] = []
        self.understood: list[str] = []
        self.kept: dict[str, dict[str, list[Any]]] = {}

    def answers_of(self, pairs: Iterable[Any]) -> dict[str, dict[str, list[Any]]]:
        """Return what the systems of pairs answer for the images of those."""
        found: dict[str, dict[str, list[Any]]] = {}
        for pair in pairs:
            for image in pair.images:
                for name in (pair.first, pair.second):
                    found.setdefault(image, {})[name] = self.kept[image][name]
        return found


def compare_systems(
    selector: Selector,
    setup: Setup,
    batches: Iterable[Mapping[str, Any]],
    options: Mapping[str, Any],
) -> Answered:
    """Read and compare all batches; keep what is answered for images that may be selected."""
    seen, notes = Answered(), []
    for number, batch in enumerate(batches):
        if not isinstance(batch, Mapping) or {*batch} != {*selector.systems}:
            raise InputError("other-systems", f"batch {number}{FROM_0}", systems=selector.systems)
        lists = {}
        for name in selector.systems:
            lists[name] = one = setup.read(batch[name], name)
            if not isinstance(one, Lists) or one.ranked:
                raise InputError("wrong-format", name, what="answers", format="scores of labels",
                                 wanted="the labels of each image")  # fmt: skip
        aligned, left_out = align_systems(lists, options.get("missing") or "error")
        start = selector.n
        selector.update(aligned, options.get("progress"))
        _keep_answers(seen.kept, selector, aligned, start)
        seen.left_out += left_out
        seen.noun = next(iter(aligned.values())).noun
        notes += [replace(note, where=one.source) for one in lists.values() for note in one.notes]
        if number == 0:  # there may be thousands
            seen.understood = describe_inputs(list(lists.values()))
    seen.notes += first_of_each(notes)
    if seen.left_out:
        seen.notes.append(Fact("images-left-out", seen.left_out))
    return seen


def _keep_answers(
    kept: dict[str, dict[str, list[Any]]],
    selector: Selector,
    lists: Mapping[str, Lists],
    start: int,
) -> None:
    """Keep the answers for the images that are selected as far as is known, and let others go."""
    near = selector.candidates()
    for image in [image for image in kept if image not in near]:
        del kept[image]
    first = next(iter(lists.values()))
    ids = range(start, start + len(first)) if isinstance(first.ids, range) else first.ids
    rows = [(str(name), row) for row, name in enumerate(ids) if str(name) in near]
    for system, one in lists.items():
        for image, row in rows:
            part = one.side.rows(row, row + 1).codes.tolist()
            kept.setdefault(image, {})[system] = [
                entry if isinstance(entry, str) else list(entry)
                for entry in (one.vocabulary[code] for code in part)
            ]


def describe_systems(selector: Selector, similarity: Similarity) -> dict[str, dict[str, Any]]:
    """Describe what each system answers."""
    found = {}
    for name in selector.systems:
        own: dict[str, Any] = {
            "fingerprint": f"{selector.fingerprints[name]:016x}",
            "empty": selector.empty[name],
        }
        if isinstance(similarity, NgsmSimilarity):
            own["duplicated"] = similarity.duplicated.get(name, 0)
            own["duplicated_words"] = len(similarity.words.get(name, ()))
        found[name] = own
    return found
