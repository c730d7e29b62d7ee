"""Notes on probable mistakes in the labels of one side.

`semmetrics.kinds.labels.oddities` and `semmetrics.kinds.labels.spelling` make the observations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from semmetrics.data.observations import Observations
from semmetrics.errors import Fact
from semmetrics.kinds.base import Options
from semmetrics.kinds.labels.joined import ALL_DELIMITERS
from semmetrics.kinds.labels.observation_codes import (
    ALIKE_LABELS,
    JOINED_LABELS,
    LISTS_AS_TEXT,
    MISSING_VALUES,
    ONE_SIDED_LABELS,
    OTHER_ENCODINGS,
    SPELLING_STEPS,
)
from semmetrics.kinds.labels.occurring_labels import SIDES
from semmetrics.kinds.side_observations import word_facts

_ADJECTIVES = {"pred": "predicted", "ref": "reference"}
"""How messages call the labels of a side."""
_OTHER_SIDES = {"pred": "ground truth", "ref": "predictions"}


def mistake_notes(
    observed: Observations, side: str, where: str, options: Options
) -> list[Fact]:
    """Return notes on the labels of one side.

    Parameters
    ----------
    observed : Observations
        The observations of a task.
    side : {"pred", "ref"}
    where : str
        The name of the task, or of the ground truth.
    options : ResolvedOptions
    """
    builder = _NoteBuilder(observed, side, where)
    notes = builder.build("lists-as-text", LISTS_AS_TEXT)
    notes += builder.build("missing-labels", MISSING_VALUES)
    notes += builder.build("other-encoding", OTHER_ENCODINGS)
    for delimiter in ALL_DELIMITERS:
        values = {"delimiter": delimiter}
        notes += builder.build("joined-labels", JOINED_LABELS, delimiter, **values)
    notes += _spelling_notes(builder, options)
    # One note on labels that only one side has is enough, and predictions come first.
    if side == "pred" or not observed.has(ONE_SIDED_LABELS, "pred", "alone"):
        n_labels = observed.number(ONE_SIDED_LABELS, side, "all")
        notes += builder.build(
            "one-sided-labels",
            ONE_SIDED_LABELS,
            "alone",
            total=n_labels,
            other=_OTHER_SIDES[side],
        )
    # Labels with many words may be captions.
    notes += word_facts("sentences", observed, side, _ADJECTIVES[side], where)
    return notes


class _NoteBuilder(NamedTuple):
    """Builds the notes of one side from the observations of a task."""

    observed: Observations
    side: str
    where: str

    def build(
        self, code: str, observation: str, *details: str, **values: Any
    ) -> list[Fact]:
        """Return the note on an observation, with an example, or no note without it.

        Parameters
        ----------
        code : str
            The key of the message.
        observation : str
            The code of the observation.
        *details : str
            The details with which it was counted, apart from the side.
        **values
            Other values of the message.
        """
        if not self.observed.has(observation, self.side, *details):
            return []
        n = self.observed.number(observation, self.side, *details)
        names = self.observed.names_of(observation, self.side, *details)
        examples: tuple[str, ...] = ()
        if names:
            # The smallest name is the same in any order of the items.
            examples = (min(names),)
        values = {"side": _ADJECTIVES[self.side], **values}
        return [Fact(code, n, examples, self.where, values)]


def _spelling_notes(builder: _NoteBuilder, options: Options) -> list[Fact]:
    """Return a note on labels that a normalisation makes equal to others.

    It recommends a normalisation for both sides, unless a protocol fixes it.
    """
    observed = builder.observed
    side = builder.side
    n_items = observed.number(ALIKE_LABELS, side, "items")
    differences = []
    for step, difference in SPELLING_STEPS.items():
        if observed.has(ALIKE_LABELS, side, step):
            differences.append(difference)
    ways = " or ".join(differences)
    if options.protocol is not None:
        values = {"items": n_items, "ways": ways, "protocol": options.protocol}
        return builder.build("spelling-kept", ALIKE_LABELS, "labels", **values)

    # The current rules stay, and the steps that would merge labels of any side are added.
    added_rules = []
    for step in SPELLING_STEPS:
        if any(observed.has(ALIKE_LABELS, any_side, step) for any_side in SIDES):
            added_rules.append(step)
    current_rules = []
    for rule in options.normalize.split("+"):
        if rule != "none" and rule not in added_rules:
            current_rules.append(rule)
    rules = "+".join([*current_rules, *added_rules])
    values = {"items": n_items, "ways": ways, "rules": rules}
    return builder.build("spelling", ALIKE_LABELS, "labels", **values)
