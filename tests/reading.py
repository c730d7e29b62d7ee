"""Label lists from files as plain values that tests compare, and refusals of files."""

from __future__ import annotations

import gzip
import json
import os
from contextlib import contextmanager

from refusals import refused

from semmetrics import as_labels


class Read:
    """What `as_labels` gives: the labels of each item, and their scores if there are some."""

    def __init__(self, lists):
        self.lists = lists

    def __getattr__(self, name):
        return getattr(self.lists, name)

    @property
    def items(self):
        """Synonyms are lists, and a label with a score is a pair."""
        found = [
            [label if isinstance(label, str) else list(label) for label in item]
            for item in self.lists.to_list()
        ]
        scores = self.lists.side.scores
        if scores is None:
            return found
        left = iter(scores.tolist())
        return [[(label, next(left)) for label in item] for item in found]


def saved(folder, name, data):
    """Write bytes, a text or what JSON holds, packed if its name says so; return the path."""
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    content = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(
        gzip.compress(content, mtime=0) if name.endswith("gz") else content
    )
    return path


def read(path, options=None):
    """Read label lists."""
    return Read(as_labels(path, options=options))


@contextmanager
def refused_in(code, where=None):
    """Expect an ``InputError``, perhaps of a code, at a place written without its folder."""
    with refused(code) as caught:
        yield caught
    if where is not None:
        assert caught.value.where.rpartition(os.sep)[2] == where


def codes(found):
    """The notes of what was read: code, number and examples of each."""
    return [(note.code, note.n, *note.examples) for note in found.notes]
