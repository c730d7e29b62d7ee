"""The text of a message before its fields are filled."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """The text of an error or a note.

    Both parts may have fields, which `semmetrics.messages.formatter` describes.

    Attributes
    ----------
    problem : str
        What is wrong, or worth knowing. It starts in lower case and has no full stop, because it
        follows a place: "gt.csv, line 3: the id is empty".
    remedy : str
        One or more sentences that tell how to fix the problem. Empty for most notes.
    """

    problem: str
    remedy: str = ""
