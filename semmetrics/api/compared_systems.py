"""What systems answer: read, batch by batch, and compared as a competition needs it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from semmetrics.comparison.answer_similarity import (
    FunctionSimilarity,
    MeasureSimilarity,
    NgsmSimilarity,
    Similarity,
)
from semmetrics.comparison.discrepant_images import Selector, align_systems
from semmetrics.data.form import DEFAULTS
from semmetrics.data.inputs import open_input
from semmetrics.data.items import has_surrogate
from semmetrics.data.lists import Lists
from semmetrics.errors import InputError
from semmetrics.kinds.resolve import resolve_kind
from semmetrics.messages import a_kind, listing, pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse_all
from semmetrics.scoring.plan import Setup, describe_inputs, open_setup, resolve_task
from semmetrics.scoring.protocols import listed

__all__ = [
    "Answered",
    "Function",
    "as_batches",
    "check_systems",
    "compare_systems",
    "describe_systems",
    "open_similarity",
]

Function = Callable[[Any, Any], float]


def as_batches(systems: Any) -> Iterator[Any]:
    """Return an iterator of mappings from system to answers, of which there is one at least."""
    if isinstance(systems, Mapping):
        return iter([systems])
    if isinstance(systems, (str, bytes)) or not isinstance(systems, Iterable):
        raise InputError(f"{a_kind(systems)} instead of systems by their names",
                         remedy="give {name: captions}")  # fmt: skip
    batches = iter(systems)
    first = next(batches, None)
    if first is None:
        raise InputError("there is no batch of systems", remedy="give {name: captions}")
    return chain([first], batches)


def check_systems(systems: Any) -> None:
    """Refuse what is no mapping from the names of two systems or more."""
    if not isinstance(systems, Mapping):
        raise InputError(f"{a_kind(systems)} instead of systems by their names",
                         remedy="give {name: captions}, or batches of these")  # fmt: skip
    if not all(isinstance(name, str) and name and not has_surrogate(name) for name in systems):
        raise InputError(f"systems are called {listing(systems)}", remedy="give names as texts")
    if len(systems) < 2:
        raise InputError(
            f"{pluralize(len(systems), 'system')} cannot be compared", remedy="give two or more"
        )


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
        raise InputError(
            f"{pluralize(len(chosen), 'measure', 'are')} named", remedy="compare systems by one"
        )
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
        self.notes: list[str] = []
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
    seen = Answered()
    for number, batch in enumerate(batches):
        if not isinstance(batch, Mapping) or {*batch} != {*selector.systems}:
            raise InputError(
                f"batch {number} (from 0) has not the systems of the first",
                remedy=f"give each of {listing(selector.systems)} in every batch",
            )
        lists = {name: _read(setup, batch[name], name) for name in selector.systems}
        aligned, left_out = align_systems(lists, options.get("missing") or "error")
        start = selector.n
        selector.update(aligned, options.get("progress"))
        _keep_answers(seen.kept, selector, aligned, start)
        seen.left_out += left_out
        seen.noun = next(iter(aligned.values())).noun
        seen.notes += [f"{one.source}: {note}" for one in lists.values() for note in one.notes]
        if number == 0:  # there may be thousands
            seen.understood = describe_inputs(list(lists.values()))
    seen.notes = list(dict.fromkeys(seen.notes))
    if seen.left_out:
        seen.notes.append(f"images left out that a system lacks: {seen.left_out:,}")
    return seen


def _read(setup: Setup, data: Any, name: str) -> Lists:
    found = setup.read(data, name)
    if not isinstance(found, Lists) or found.ranked:
        raise InputError(
            "scores of labels are no answers", where=name, remedy="give the labels of each image"
        )
    return found


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
    numbered = isinstance(first.ids, range)
    rows = [
        (str(start + row) if numbered else str(name), row)
        for row, name in enumerate(range(len(first)) if numbered else first.ids)
        if (str(start + row) if numbered else str(name)) in near
    ]
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
