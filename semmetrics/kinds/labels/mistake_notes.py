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
        Of a task.
    side : {"pred", "ref"}
    where : str
        The name of the task, or of the ground truth.
    options : ResolvedOptions
    """
    build = _SideNotes(observed, side, where)
    notes = build("lists-as-text", LISTS_AS_TEXT)
    notes += build("missing-labels", MISSING_VALUES)
    notes += build("other-encoding", OTHER_ENCODINGS)
    for delimiter in ALL_DELIMITERS:
        notes += build("joined-labels", JOINED_LABELS, delimiter, delimiter=delimiter)
    notes += _spelling_notes(build, options)
    # If the predictions have such labels, the note on them is enough.
    if side == "pred" or not observed.has(ONE_SIDED_LABELS, "pred", "alone"):
        total = observed.number(ONE_SIDED_LABELS, side, "all")
        other = _OTHER_SIDES[side]
        notes += build(
            "one-sided-labels", ONE_SIDED_LABELS, "alone", total=total, other=other
        )
    return notes + word_facts("sentences", observed, side, _ADJECTIVES[side], where)


class _SideNotes(NamedTuple):
    """Builds the notes of one side from the observations of a task."""

    observed: Observations
    side: str
    where: str

    def __call__(
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
            Its details after the side.
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


def _spelling_notes(build: _SideNotes, options: Options) -> list[Fact]:
    """Return a note on labels that a normalisation makes equal to others.

    It recommends a normalisation for both sides, unless a protocol fixes it.
    """
    observed = build.observed
    n_items = observed.number(ALIKE_LABELS, build.side, "items")
    steps_of_side = [
        step for step in SPELLING_STEPS if observed.has(ALIKE_LABELS, build.side, step)
    ]
    ways = " or ".join(SPELLING_STEPS[step] for step in steps_of_side)
    if options.protocol is not None:
        values = {"items": n_items, "ways": ways, "protocol": options.protocol}
        return build("spelling-kept", ALIKE_LABELS, "labels", **values)

    steps = []
    for step in SPELLING_STEPS:
        if any(observed.has(ALIKE_LABELS, side, step) for side in SIDES):
            steps.append(step)
    rules = []
    for rule in options.normalize.split("+"):
        if rule != "none" and rule not in steps:
            rules.append(rule)
    values = {"items": n_items, "ways": ways, "rules": "+".join([*rules, *steps])}
    return build("spelling", ALIKE_LABELS, "labels", **values)
