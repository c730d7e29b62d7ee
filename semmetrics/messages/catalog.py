"""All messages by their codes.

Importing this module loads all messages. So `find_message` imports it only when a message is written.
"""

from __future__ import annotations

from semmetrics.messages.message import Message
from semmetrics.messages.topics import (
    captions,
    classes,
    command_line,
    competitions,
    embeddings,
    environment,
    files,
    formats,
    ids,
    intervals,
    judgements,
    kinds,
    label_notes,
    labels,
    measures,
    options,
    retrieval,
    states,
    studies,
    tables,
    thresholds,
    values,
)

TOPICS = (
    values,
    files,
    tables,
    formats,
    ids,
    options,
    environment,
    kinds,
    measures,
    labels,
    label_notes,
    embeddings,
    thresholds,
    captions,
    retrieval,
    classes,
    intervals,
    states,
    judgements,
    studies,
    competitions,
    command_line,
)

MESSAGES: dict[str, Message] = {}
"""The message of each code."""

for _topic in TOPICS:
    MESSAGES.update(_topic.MESSAGES)
