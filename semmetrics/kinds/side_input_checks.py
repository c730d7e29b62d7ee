"""Check that the data have something in common with the further inputs that options name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semmetrics.errors import InputError
from semmetrics.kinds.base import Options


def check_shared(
    counts: Mapping[str, int], options: Options, noun: str, names: Sequence[str]
) -> None:
    """Raise an error if an input that the user set has no name of the data.

    Parameters
    ----------
    counts : mapping from option to int
        How many names of the data occur in the input of each option. An input that a protocol or
        a default sets is not checked.
    options : ResolvedOptions
    noun : str
        The word for a name in messages: "label".
    names : sequence of str
        Some names of the data. If there are none, or all are white space, nothing is checked.

    Raises
    ------
    InputError
    """
    if not any(name.strip() for name in names):
        return
    for option, n_shared in counts.items():
        if not n_shared and option in options.set_by_user:
            raise InputError("nothing-shared", name=option, noun=noun, names=names)
