"""The kinds of data that can be evaluated, one folder for each, and which kind data are.

Conventions
-----------
If no option names the kind, each kind looks at a sample and says how certain it is that the data
are its own. If two are certain, the sides are of different kinds; if two are equally likely, the
data are ambiguous. Both are errors. If no kind recognises the data, the first kind reads them and
names what is wrong.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from semmetrics.data.form import (
    DEFAULTS,
    Form,
    ReadOptions,
    prediction_options,
    truth_options,
)
from semmetrics.data.inputs import Sample, sample_of
from semmetrics.errors import Fact as Fact
from semmetrics.errors import InputError
from semmetrics.kinds.base import Kind
from semmetrics.kinds.options import ResolvedOptions as ResolvedOptions
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


def find_kind(name: str) -> Kind:
    """Load a kind by its name.

    Examples
    --------
    >>> find_kind("labels").name
    'labels'
    """
    position = KINDS.index(name)
    module = importlib.import_module(f"semmetrics.kinds.{KINDS[position]}.kind")
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
