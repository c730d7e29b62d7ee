"""Recognise which kind of data the inputs of a score are.

Conventions
-----------
The package of each kind has a function ``recognise(samples)``. It looks at the beginning of each
input and returns a `Verdict`, which states how certain it is that the data are of its kind.
`resolve_kind` compares the verdicts:

- If two kinds are certain, and one of them fits both sides, it is the kind of the data. Otherwise
  the sides are of different kinds, which is an error.
- If two kinds are equally likely, the data are ambiguous, which is an error if there are two sides.
- If no kind recognises the data, the first kind reads them, and its reader reports the problem.
- A kind without this function recognises nothing. `semmetrics.kinds.find_kind` raises an error for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from semmetrics.data.form import Form
from semmetrics.data.read_options import (
    DEFAULTS,
    ReadOptions,
    prediction_options,
    truth_options,
)
from semmetrics.data.samples import Sample, sample_of
from semmetrics.errors import InputError
from semmetrics.options import KINDS

_CAPTION_NAMES = (
    "caption",
    "captions",
    "text",
    "sentence",
    "sentences",
    "reference",
    "references",
    "comment",
)
_LABEL_NAMES = ("label", "labels", "name", "names", "class", "category", "tag", "tags")
_FORM_OF_ANY_KIND = Form(noun="item", columns=(*_CAPTION_NAMES, *_LABEL_NAMES), keys=())


class Certainty(IntEnum):
    """How certain it is that data are of a kind."""

    NO = 0
    POSSIBLE = 1
    LIKELY = 2
    CERTAIN = 3
    ASK = 4  # The user has to confirm this kind, whatever the other verdicts are.


class Verdict(NamedTuple):
    """How certain a kind is that samples of one or both sides are of its kind.

    Attributes
    ----------
    certainty : Certainty
    reason : str
        Why the data are ambiguous, for the error message.
    descriptions : tuple of str
        A description of each side, if the kind knows more than the samples.
    """

    certainty: Certainty
    reason: str = ""
    descriptions: tuple[str, ...] = ()


Recogniser: TypeAlias = Callable[[Sequence[Sample]], Verdict]
"""The function ``recognise`` of a kind."""


class Resolved(NamedTuple):
    """The kind of the data, and how it was recognised.

    Attributes
    ----------
    kind : str
    understood : str
        A description of each side.
    others : tuple of str
        The other kinds that the data could be of.
    """

    kind: str
    understood: str
    others: tuple[str, ...] = ()


def resolve_kind(*sides: Any, options: ReadOptions | None = None) -> Resolved:
    """Recognise the kind of predictions and ground truth, or of one input.

    Parameters
    ----------
    *sides : Source, path, or any input of `as_labels` and `as_captions`
        The ground truth last. A path is read again when the data are read. A Source, as returned
        by ``open_input``, is not.
    options : ReadOptions, optional

    Returns
    -------
    Resolved
        If several kinds are equally likely for a single input, the last of them.

    Raises
    ------
    InputError
        If several kinds are equally likely for two sides, the sides are of different kinds, or a
        file cannot be read.

    Examples
    --------
    >>> resolve_kind({"a": ["cat"]}, {"a": ["cat", "dog"]}).kind
    'labels'
    >>> resolved = resolve_kind({"a": "a cat sleeps"}, {"a": ["the cat sleeps"]})
    >>> resolved.kind, resolved.understood
    ('captions', 'predictions: one string per item, ground truth: lists of strings')
    >>> resolve_kind({"a": ["a man rides a brown horse"]})
    Resolved(kind='captions', understood='lists of strings of 6.0 words on average',
    others=('labels',))
    """
    samples = _sample_sides(sides, options or DEFAULTS)
    verdicts = {name: _ask_kind(name, samples) for name in KINDS}
    certainty = max(verdict.certainty for verdict in verdicts.values())
    candidates = _kinds_with_certainty(verdicts, certainty)
    first_verdict = verdicts[candidates[0]]
    understood = _describe_sides(samples, first_verdict)
    if certainty == Certainty.ASK:
        raise InputError("unknown-kind", what=understood, task=candidates[0])
    if certainty == Certainty.NO:
        return Resolved(KINDS[0], understood)
    if certainty == Certainty.CERTAIN:
        kind = _choose_certain(candidates, samples)
        if kind is None:
            raise InputError("different-kinds", what=understood, kinds=candidates)
        return Resolved(kind, understood)
    if len(candidates) > 1 and len(sides) > 1:
        what = _describe_sides(samples, first_verdict, with_words=True)
        reason = first_verdict.reason
        raise InputError("ambiguous-kind", reason=reason, kinds=candidates, what=what)
    kind = candidates[-1]
    return Resolved(kind, understood, _other_kinds(verdicts, kind))


def find_recogniser(name: str) -> Recogniser | None:
    """Return the function ``recognise`` of a kind, or None if its package has none."""
    package = importlib.import_module(f"semmetrics.kinds.{name}")
    recognise: Recogniser | None = getattr(package, "recognise", None)
    return recognise


def has_entry_column(sample: Sample, form: Form) -> bool:
    """Return whether a sample has a column or key whose name is one for the entries of a kind.

    Parameters
    ----------
    sample : Sample
    form : Form
        The form of the kind.
    """
    if sample.shape not in ("columns", "keys"):
        return False
    column = sample.read.column(form.noun)
    if column is not None:
        return column in sample.names
    entry_names = form.columns
    if sample.shape == "keys":
        entry_names = form.keys
    return any(name.strip().casefold() in entry_names for name in sample.names)


def _sample_sides(sides: Sequence[Any], options: ReadOptions) -> list[Sample]:
    """Return a sample of each side, with the options by which it is read."""
    samples = []
    last = len(sides) - 1
    for number, side in enumerate(sides):
        side_options = options
        if len(sides) > 1 and number == last:
            side_options = truth_options(options)
        elif len(sides) > 1:
            side_options = prediction_options(options)
        sample = sample_of(side, _FORM_OF_ANY_KIND, side_options)
        samples.append(sample._replace(read=side_options))
    return samples


def _ask_kind(name: str, samples: Sequence[Sample]) -> Verdict:
    """Return the verdict of a kind."""
    recognise = find_recogniser(name)
    if recognise is None:
        return Verdict(Certainty.NO)
    return recognise(samples)


def _kinds_with_certainty(
    verdicts: Mapping[str, Verdict], certainty: Certainty
) -> list[str]:
    """Return the kinds that are this certain."""
    kinds = []
    for name, verdict in verdicts.items():
        if verdict.certainty == certainty:
            kinds.append(name)
    return kinds


def _choose_certain(kinds: Sequence[str], samples: Sequence[Sample]) -> str | None:
    """Return the first of several certain kinds that fits every side, or None.

    Two kinds are certain of the same side if it has the columns of both. A side fits every kind if
    no kind is certain of it.
    """
    certain_kinds_by_side = []
    for sample in samples:
        certain_kinds = []
        for name in kinds:
            if _ask_kind(name, [sample]).certainty >= Certainty.CERTAIN:
                certain_kinds.append(name)
        if certain_kinds:
            certain_kinds_by_side.append(certain_kinds)
    for name in kinds:
        if all(name in certain_kinds for certain_kinds in certain_kinds_by_side):
            return name
    return None


def _other_kinds(verdicts: Mapping[str, Verdict], kind: str) -> tuple[str, ...]:
    """Return the other kinds that the data could be of."""
    others = []
    for name, verdict in verdicts.items():
        if verdict.certainty != Certainty.NO and name != kind:
            others.append(name)
    return tuple(others)


def _describe_sides(
    samples: Sequence[Sample], verdict: Verdict, *, with_words: bool = False
) -> str:
    """Describe each side.

    With a single input, or if ``with_words`` is set, the mean number of words of strings in lists is
    added.
    """
    descriptions = list(verdict.descriptions)
    if not descriptions:
        descriptions = [sample.what for sample in samples]
    if with_words or len(samples) == 1:
        for number, sample in enumerate(samples):
            if sample.shape == "lists":
                descriptions[number] += _describe_words(sample)
    if len(descriptions) == 1:
        return descriptions[0]
    return f"predictions: {descriptions[0]}, ground truth: {descriptions[1]}"


def _describe_words(sample: Sample) -> str:
    """Write the mean number of words of a sample's strings."""
    about = ""
    if sample.is_cut:
        about = "about "
    return f" of {about}{sample.mean_words:.1f} words on average"
