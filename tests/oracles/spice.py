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
        if any(known.words == new.words for known in among):
            return
        for place, known in enumerate(among):
            if known.similarity(new):
                among[place] = known.joined(new)
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
    tuples = [(node,) for node in nodes]
    for node, node_attributes in zip(nodes, attributes, strict=True):
        tuples += [(node, attribute) for attribute in node_attributes]
    for (subject, target), pair_relations in relations.items():
        for relation in pair_relations:
            tuples.append((nodes[subject], nodes[target], relation))
    return tuples


def is_in_category(concepts, category, words):
    """Whether a tuple counts. ``words`` are the attributes of other categories."""
    if category in LENGTHS:
        return len(concepts) in LENGTHS[category]
    if len(concepts) != 2:
        return False
    return "/".join(sorted(concepts[1].words)) in words


def is_match(concepts, others):
    """Whether two tuples have the same length and similar concepts at each place."""
    if len(concepts) != len(others):
        return False
    pairs = zip(concepts, others, strict=True)
    return all(concept.similarity(other) > 0 for concept, other in pairs)


def counts(candidate, references, synsets, category="All", words=frozenset()):
    """Hits, and the number of tuples of both sides, in a category."""

    def chosen(captions):
        tuples = merge(captions, synsets)
        return [row for row in tuples if is_in_category(row, category, words)]

    candidate_tuples = chosen([candidate])
    reference_tuples = chosen(references)
    hits = 0
    for concepts in candidate_tuples:
        hits += any(is_match(concepts, others) for others in reference_tuples)
    return hits, len(candidate_tuples), len(reference_tuples)
