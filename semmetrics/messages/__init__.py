"""The messages of the library, and how names and values are shown in them.

==================  ============================================================================
``topics``          the messages by their codes, in a module for each topic
``catalog``         all messages in one mapping
``message``         the problem and the remedy of a message
``formatter``       the fields of messages, and how they are filled
``display``         names and values: quoted, shortened, without control characters
``counts``          numbers with their nouns
``suggestions``     similar names for an unknown one
``progress``        progress of long computations
==================  ============================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semmetrics.messages.counts import counted, plural, pluralize
from semmetrics.messages.display import (
    brief,
    listing,
    printable,
    shown,
    type_with_article,
    visible,
)
from semmetrics.messages.formatter import (
    Spelling,
    as_sentence,
    keyword,
    write,
    write_message,
    write_remedy,
)
from semmetrics.messages.message import Message
from semmetrics.messages.progress import report_progress
from semmetrics.messages.suggestions import (
    ask_which,
    did_you_mean,
    fold,
    nearest_names,
)

__all__ = [
    "MESSAGES",
    "Message",
    "Spelling",
    "type_with_article",
    "ask_which",
    "as_sentence",
    "brief",
    "counted",
    "did_you_mean",
    "find_message",
    "fold",
    "keyword",
    "listing",
    "nearest_names",
    "plural",
    "pluralize",
    "printable",
    "report_progress",
    "shown",
    "visible",
    "write",
    "write_message",
    "write_remedy",
]


def find_message(code: str) -> Message:
    """Return the message of a code. The first call loads all messages.

    Raises
    ------
    KeyError
        If no message has the code.
    """
    from semmetrics.messages.catalog import MESSAGES

    return MESSAGES[code]


if TYPE_CHECKING:
    from semmetrics.messages.catalog import MESSAGES
else:

    def __getattr__(name: str) -> object:
        """Load the messages when ``MESSAGES`` is read."""
        if name != "MESSAGES":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from semmetrics.messages.catalog import MESSAGES

        return MESSAGES
