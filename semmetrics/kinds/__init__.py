"""What can be evaluated: one folder and one record a kind, and which kind data are.

Conventions
-----------
Everything that differs between kinds is in the folder of the kind and is reached through its
record, from inputs to prepared tasks and the facts that a user should know. Nothing else asks what
is evaluated.

A *task* holds both sides of the same items. A kind makes one or more tasks of each system, each a
named part ("" where there is one). Options are those of `semmetrics.options`, resolved: every name
has a value.

If no option names the kind, each kind looks at a sample and says how certain it is that the data
are its own. If two are certain, the sides are of different kinds; if two are equally likely, the
data are ambiguous. Both are errors. If no kind recognises the data, the first kind reads them and
names what is wrong.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from semmetrics.data.form import (
    DEFAULTS,
    Form,
    ReadOptions,
    prediction_options,
    truth_options,
)
from semmetrics.data.inputs import Sample, sample_of
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.metrics.definition import Measure
from semmetrics.options import KINDS

_ENTRY_NAMES = (
    *(
        "caption",
        "captions",
        "text",
        "sentence",
        "sentences",
        "reference",
        "references",
        "comment",
    ),
    *("label", "labels", "name", "names", "class", "category", "tag", "tags"),
)
_ANY = Form(noun="item", columns=_ENTRY_NAMES, keys=())

Options: TypeAlias = ResolvedOptions
Measures: TypeAlias = Sequence[Measure]
Tasks: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Tasks by system and part."""
Notes: TypeAlias = Mapping[str, Any]
"""What steps noted of each task, by its name."""


class Defaults(NamedTuple):
    """The measures of input for which none is named.

    Attributes
    ----------
    measures : sequence of str
    absent : mapping from measure to reason
        Those that such input usually has and this one does not allow.
    """

    measures: Sequence[str]
    absent: Mapping[str, str] = {}


def each_task(tasks: Tasks) -> Iterator[tuple[str, Any]]:
    """Yield each task with its name: the system, and its part where there are several."""
    for system, parts in tasks.items():
        for part, task in parts.items():
            yield name_task(system, part), task


def name_task(system: str, part: str) -> str:
    """Return how messages call a task: the system, and its part where there are several."""
    return f"{system}, {part}" if part else system


class Kind(NamedTuple):
    """What differs between kinds; see the module ``record`` in each kind's folder.

    Attributes
    ----------
    name : str
    read_beside : callable (options) -> options
        Read the further inputs that options name: class lists, weights and so on.
    read : callable (data, source, options) -> input
        Read one side from a path or an object.
    make_tasks : callable (predictions by system, references, options) -> Tasks
        Join the sides, with everything else that the options hand over.
    defaults : callable (tasks, options) -> Defaults
    fill_entry : callable (text, tasks, options) -> (text, reason)
        Complete a protocol's measure from the data; a reason says what is lacking, with the
        option that gives it.
    prepare : callable (tasks, measures, options) -> Tasks
        Open models and freeze fits that the measures need.
    facts : callable (tasks, measures, options, noted, inputs) -> list of Fact
        What a user should know beside the scores; ``noted`` is what steps noted of each task, by
        name. ``where`` is the name of a task or of a file.
        Its module describes data and shows items, `describer`. It has ``FILES`` (names of files in
        examples) and:

        - ``describe(lists)`` returns a record of what was read;
        - ``report(record)`` returns that record as texts by name;
        - ``show_item(task, row, measure)`` returns a record of one item as a measure sees it;
        - ``report_item(record)`` returns the lines of that record;
        - ``explain_definition(definition)`` and ``explain_protocol(protocol)`` return what these
          mean for the kind, by name; of a definition "options" are those that an example needs.
    check_shared : callable (noted, options, names) -> None
        Raise if nothing in an input that an option gives occurs in the data. ``noted`` is what
        steps noted of all tasks, ``names`` some labels or captions of the data.
    """

    name: str
    read_beside: Callable[[Options], Options]
    read: Callable[[Any, str, Options], Any]
    make_tasks: Callable[[Mapping[str, Any], Any, Options], Tasks]
    defaults: Callable[[Tasks, Options], Defaults]
    fill_entry: Callable[[str, Tasks, Options], tuple[str, str]]
    prepare: Callable[[Tasks, Measures, Options], Tasks]
    facts: Callable[[Tasks, Measures, Options, Notes, Sequence[Any]], list[Fact]]
    check_shared: Callable[[Iterable[Any], Options, Sequence[str]], None] = lambda *_: (
        None
    )

    @property
    def describer(self) -> Any:
        """The module that describes its data and shows its items."""
        return sys.modules[self.facts.__module__]


def find_kind(name: str) -> Kind:
    """Load the record of a kind.

    Examples
    --------
    >>> find_kind("labels").name
    'labels'
    """
    module = importlib.import_module(
        f"semmetrics.kinds.{KINDS[KINDS.index(name)]}.record"
    )
    kind: Kind = module.KIND
    return kind


class Certainty(IntEnum):
    """How certain a kind is that data are its own."""

    NO = 0
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3
    ASK = 4  # it is likely that kind, which is never guessed


class Verdict(NamedTuple):
    """What a kind makes of samples of one or both sides.

    Attributes
    ----------
    certainty : Certainty
    reason : str
        What is ambiguous.
    whats : tuple of str
        What each side is, where the sample alone does not tell.
    """

    certainty: Certainty
    reason: str = ""
    whats: tuple[str, ...] = ()


def names_entries(sample: Sample, form: Form) -> bool:
    """Tell whether there are columns or keys, one named as a kind's entries are."""
    if sample.shape not in ("columns", "keys"):
        return False
    chosen = sample.read.column(form.noun)
    if chosen is not None:
        return chosen in sample.names
    known = form.keys if sample.shape == "keys" else form.columns
    return any(name.strip().casefold() in known for name in sample.names)


class Resolved(NamedTuple):
    """What is evaluated, and why.

    Attributes
    ----------
    kind : str
    understood : str
        What each side was taken for.
    others : tuple of str
        Which other kinds are possible.
    """

    kind: str
    understood: str
    others: tuple[str, ...] = ()


def resolve_kind(*sides: Any, options: ReadOptions | None = None) -> Resolved:
    """Tell from a sample of predictions and ground truth, or of one side, what is evaluated.

    Parameters
    ----------
    *sides : Source, path, or what `as_labels` and `as_captions` take
        The ground truth last. Of paths only those of ``open_input`` are not read again by the
        readers.
    options : ReadOptions, optional

    Returns
    -------
    Resolved
        Of one side, where kinds are equally likely, the last of them.

    Raises
    ------
    InputError
        If kinds are equally likely, the sides are of different kinds, or a file cannot be read.

    Examples
    --------
    >>> resolve_kind({"a": ["cat"]}, {"a": ["cat", "dog"]}).kind
    'labels'
    >>> found = resolve_kind({"a": "a cat sleeps"}, {"a": ["the cat sleeps"]})
    >>> found.kind, found.understood
    ('captions', 'predictions: a string an item; ground truth: lists of strings')
    >>> resolve_kind({"a": ["a man rides a brown horse"]})
    Resolved(kind='captions', understood='lists of strings of 6.0 words on average',
    others=('labels',))
    """
    options = options or DEFAULTS
    samples = []
    for place, side in enumerate(sides):
        own = options
        if len(sides) > 1:
            last = place == len(sides) - 1
            own = truth_options(options) if last else prediction_options(options)
        samples.append(sample_of(side, _ANY, own)._replace(read=own))
    verdicts = {name: _recognise(name, samples, options) for name in KINDS}
    highest = max(verdict.certainty for verdict in verdicts.values())
    best = [name for name, verdict in verdicts.items() if verdict.certainty == highest]
    understood = _describe(samples, verdicts[best[0]])
    if highest == Certainty.ASK:
        raise InputError("unknown-kind", what=understood, task=best[0])
    if highest == Certainty.NO:
        return Resolved(KINDS[0], understood)
    if highest == Certainty.CERTAIN:
        # of each side
        claims = [
            {
                n
                for n in best
                if _recognise(n, [one], options).certainty >= Certainty.CERTAIN
            }
            for one in samples
        ]
        for name in best:  # a side that two kinds are certain of has columns of both
            if all(name in claim for claim in claims if claim):
                return Resolved(name, understood)
        raise InputError("different-kinds", what=understood, kinds=best)
    if len(best) > 1 and len(sides) > 1:
        verdict = verdicts[best[0]]
        what = _describe(samples, verdict, words=True)
        raise InputError("ambiguous-kind", reason=verdict.reason, kinds=best, what=what)
    others = (name for name, v in verdicts.items() if v.certainty and name != best[-1])
    return Resolved(best[-1], understood, tuple(others))


def _recognise(kind: str, samples: Sequence[Sample], options: ReadOptions) -> Verdict:
    module = importlib.import_module(f"semmetrics.kinds.{kind}")
    verdict: Verdict = module.recognise(samples, options)
    return verdict


def _describe(
    samples: Sequence[Sample], verdict: Verdict, *, words: bool = False
) -> str:
    whats = list(verdict.whats) or [sample.what for sample in samples]
    if words or len(samples) == 1:
        for place, sample in enumerate(samples):
            if sample.shape == "lists":
                about = "about " if sample.cut else ""
                whats[place] += f" of {about}{sample.words:.1f} words on average"
    return (
        whats[0]
        if len(whats) == 1
        else f"predictions: {whats[0]}; ground truth: {whats[1]}"
    )
