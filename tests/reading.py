"""Lists of labels from files as plain values, and errors of files."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import contextmanager

from refusals import refused

from semmetrics import as_labels


class Read:
    """The lists of ``as_labels``, with the labels of each item as plain values."""

    def __init__(self, lists):
        self.lists = lists

    def __getattr__(self, name):
        return getattr(self.lists, name)

    @property
    def items(self):
        """The labels of each item. Synonyms are lists, and a label with a score is a pair."""
        scores = self.lists.side.scores
        remaining_scores = None if scores is None else iter(scores.tolist())
        items = []
        for entries in self.lists.to_list():
            labels = [_plain_label(entry) for entry in entries]
            if remaining_scores is not None:
                labels = [(label, next(remaining_scores)) for label in labels]
            items.append(labels)
        return items


def _plain_label(entry):
    return entry if isinstance(entry, str) else list(entry)


def saved(folder, name, data):
    """Write bytes, a string or a JSON value, compressed if its name ends so; return the path."""
    if not isinstance(data, str | bytes):
        data = json.dumps(data)
    content = data.encode() if isinstance(data, str) else data
    if name.endswith("gz"):
        content = gzip.compress(content, mtime=0)
    path = folder / name
    path.write_bytes(content)
    return path


def read(path, options=None):
    """Read lists of labels."""
    return Read(as_labels(path, options=options))


@contextmanager
def refused_in(code, where=None):
    """Expect an ``InputError``, perhaps with a code, at a place without its folder."""
    with refused(code) as caught:
        yield caught
    if where is not None:
        assert caught.value.where.rpartition(os.sep)[2] == where


def codes(lists):
    """Return the notes on lists: the code, the number and the examples of each."""
    return [(note.code, note.n, *note.examples) for note in lists.notes]
