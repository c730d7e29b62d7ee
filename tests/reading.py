"""Label lists from files, as plain values that tests compare."""

from __future__ import annotations

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


def read(path, options=None):
    """Read label lists."""
    return Read(as_labels(path, options=options))
