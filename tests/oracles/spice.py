"""SPICE of raw tuples in loops; a synonym table is a function from a word to a set of numbers."""

from __future__ import annotations

LENGTHS = {"All": (1, 2, 3), "Object": (1,), "Attribute": (2,), "Relation": (3,)}


class Concept:
    """Words and their synsets."""

    def __init__(self, words, synsets):
        self.words, self.synsets = frozenset(words), frozenset(synsets)

    def joined(self, other):
        return Concept(self.words | other.words, self.synsets | other.synsets)

    def similarity(self, other):
        """1 if they share a word, otherwise intersection over union of synsets."""
        if self.words & other.words:
            return 1.0
        union = self.synsets | other.synsets
        return len(self.synsets & other.synsets) / len(union) if union else 0.0


def merge(captions, synsets):
    """The tuples of concepts of a graph, each a tuple."""
    nodes, attributes, relations = [], [], {}

    def concept(word):
        return Concept([word], synsets(word))

    def place_of(word):
        new = concept(word)
        for place, node in enumerate(nodes):
            if node.words == new.words:
                return place
        likeness = [node.similarity(new) for node in nodes]
        if not any(likeness):
            nodes.append(new)
            attributes.append([])
            return len(nodes) - 1
        place = likeness.index(max(likeness))
        nodes[place] = nodes[place].joined(new)
        return place

    def put(among, word):
        new = concept(word)
        if any(one.words == new.words for one in among):
            return
        for place, one in enumerate(among):
            if one.similarity(new):
                among[place] = one.joined(new)
                return
        among.append(new)

    for tuples in captions:
        for raw in tuples:
            place = place_of(raw[0])
            if len(raw) == 2:
                put(attributes[place], raw[1])
            elif len(raw) == 3:
                ends = place, place_of(raw[1])
                put(relations.setdefault(ends, []), raw[2].removeprefix("be "))
    return [
        *((node,) for node in nodes),
        *(
            (node, one)
            for node, some in zip(nodes, attributes, strict=True)
            for one in some
        ),
        *(
            (nodes[a], nodes[b], one)
            for (a, b), some in relations.items()
            for one in some
        ),
    ]


def counts(candidate, references, synsets, category="All", words=frozenset()):
    """Hits, and the number of tuples of either side, in a category; ``words`` are those of it."""

    def chosen(tuples):
        if category in LENGTHS:
            return [one for one in tuples if len(one) in LENGTHS[category]]
        return [
            one
            for one in tuples
            if len(one) == 2 and "/".join(sorted(one[1].words)) in words
        ]

    mine, theirs = (
        chosen(merge([candidate], synsets)),
        chosen(merge(references, synsets)),
    )
    hits = sum(
        any(
            len(one) == len(other)
            and all(a.similarity(b) > 0 for a, b in zip(one, other, strict=True))
            for other in theirs
        )
        for one in mine
    )
    return hits, len(mine), len(theirs)
