"""What is evaluated, where nobody has said: kinds look at a sample, and the most certain is taken.

Conventions
-----------
Each kind says how certain it is that the data are its own. Where two are certain the sides are of
different kinds; where two are equally likely the data are ambiguous. Both are errors. Where no kind
recognises the data, the first kind reads them and says what is wrong.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from semmetrics.data.form import DEFAULTS, Form, ReadOptions
from semmetrics.data.inputs import Sample, sample_of
from semmetrics.errors import InputError
from semmetrics.options import KINDS

__all__ = ["Certainty", "Resolved", "Verdict", "names_entries", "resolve_kind"]

_ANY = Form(noun="item", columns=(), keys=())


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
    reason, remedy : str
        What is ambiguous, and how it is written without a doubt.
    whats : tuple of str
        What each side is, where the sample alone does not say it.
    """

    certainty: Certainty
    reason: str = ""
    remedy: str = ""
    whats: tuple[str, ...] = ()


def names_entries(sample: Sample, form: Form, options: ReadOptions) -> bool:
    """Tell whether there are columns or keys, one named as a kind's entries are."""
    if sample.shape not in ("columns", "keys"):
        return False
    chosen = options.column(form.noun)
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

    @property
    def sure(self) -> bool:
        """Whether no other kind is possible."""
        return not self.others


def resolve_kind(*sides: Any, options: ReadOptions | None = None) -> Resolved:
    """Tell from a sample of predictions and ground truth, or of one side, what is evaluated.

    Parameters
    ----------
    *sides : Source, path, or what `as_labels` and `as_captions` take
        Of paths only those of ``open_input`` are not read again by the readers.
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
    samples = [sample_of(side, _ANY, options) for side in sides]
    verdicts = {name: _recogniser(name)(samples, options) for name in KINDS}
    highest = max(verdict.certainty for verdict in verdicts.values())
    best = [name for name, verdict in verdicts.items() if verdict.certainty == highest]
    understood = _describe(samples, verdicts[best[0]])
    if highest == Certainty.ASK:
        raise InputError(
            f"nothing says what is evaluated: {understood}",
            remedy=f"{verdicts[best[0]].remedy}, {_name_tasks(best)}",
        )
    if highest == Certainty.NO:
        return Resolved(KINDS[0], understood)
    if highest == Certainty.CERTAIN:
        return Resolved(_certain_of_all(best, samples, options, understood), understood)
    if len(best) > 1 and len(sides) > 1:
        raise _ambiguous(best, verdicts[best[0]], _describe(samples, verdicts[best[0]], words=True))
    others = (name for name, v in verdicts.items() if v.certainty and name != best[-1])
    return Resolved(best[-1], understood, tuple(others))


def _recogniser(kind: str) -> Callable[[Sequence[Sample], ReadOptions], Verdict]:
    """Load how a kind recognises its data."""
    module = importlib.import_module(f"semmetrics.kinds.{kind}.reading")
    recognise: Callable[[Sequence[Sample], ReadOptions], Verdict] = module.recognise
    return recognise


def _certain_of_all(
    names: Sequence[str], samples: Sequence[Sample], options: ReadOptions, understood: str
) -> str:
    """Return the first kind that is certain of every side that some kind is certain of.

    A side that two kinds are certain of has columns of both.
    """
    claims = [
        {name for name in names if _recogniser(name)([one], options).certainty >= Certainty.CERTAIN}
        for one in samples
    ]
    for name in names:
        if all(name in claim for claim in claims if claim):
            return name
    tasks = _name_tasks(names)
    raise InputError(f"the two sides are of different kinds: {understood}", remedy=tasks)


def _describe(samples: Sequence[Sample], verdict: Verdict, *, words: bool = False) -> str:
    whats = list(verdict.whats) or [sample.what for sample in samples]
    if words or len(samples) == 1:
        for place, sample in enumerate(samples):
            if sample.shape == "lists":
                about = "about " if sample.cut else ""
                whats[place] += f" of {about}{sample.words:.1f} words on average"
    return whats[0] if len(whats) == 1 else f"predictions: {whats[0]}; ground truth: {whats[1]}"


def _ambiguous(names: Sequence[str], verdict: Verdict, understood: str) -> InputError:
    remedy = _name_tasks(names)
    return InputError(
        f"{verdict.reason} could be {' or '.join(names)}: {understood}",
        remedy=f"{verdict.remedy}; or {remedy}" if verdict.remedy else remedy,
    )


def _name_tasks(names: Sequence[str]) -> str:
    tasks = " or ".join(f"task={name!r}" for name in names)
    return f"say {tasks} (on the command line --task)"
