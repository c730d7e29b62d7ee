"""SPICE of random tuples with many synonyms, against a plain formula."""

import tracemalloc
from unittest import mock

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from oracles import spice as oracle

from semmetrics.metrics import tuple_matching
from semmetrics.metrics.tuple_matching import CATEGORIES, TupleMatches, spice_range
from semmetrics.text.concepts import Concepts
from semmetrics.text.scene_graphs import GraphTable, SceneGraph, merge_captions
from semmetrics.text.synonyms import SynonymTable

WORDS = "abcdefgh"
WORDS_OF_CATEGORIES = {
    "Color": frozenset("ab"),
    "Cardinality": frozenset("c"),
    "Size": frozenset(["d", "e/f"]),
}
WORD = st.sampled_from(WORDS)
VERB = st.sampled_from([*WORDS, "be a", "be b"])
TUPLE = st.one_of(st.tuples(WORD), st.tuples(WORD, WORD), st.tuples(WORD, WORD, VERB))
CAPTION = st.lists(TUPLE, max_size=8)
REFERENCES = st.lists(CAPTION, min_size=1, max_size=3)
SYNSETS = st.dictionaries(VERB, st.frozensets(st.integers(0, 5), max_size=3))


def make_table(synsets):
    """Return a table of synonyms, given the numbers of the synsets of each word."""
    lines = {}
    for word, numbers in synsets.items():
        lines[word] = " ".join(map(str, numbers))
    return SynonymTable(lines, {})


@given(CAPTION, REFERENCES, SYNSETS)
def test_f_is_in_the_range_over_all_orders_of_merging(candidate, references, synsets):
    concepts = Concepts(make_table(synsets))
    graph = merge_captions([candidate], concepts)
    reference_graph = merge_captions(references, concepts)
    tables = [GraphTable.of([graph]), GraphTable.of([reference_graph])]

    (f,) = TupleMatches(*tables, concepts).scores("All")["f"]

    low, high, is_complete = spice_range(candidate, references, concepts, most=64)
    assert low <= f <= high
    if is_complete and not (graph.ties or reference_graph.ties):
        assert low == high


@given(st.lists(st.tuples(CAPTION, REFERENCES), max_size=6), SYNSETS, st.booleans())
def test_counts_of_all_categories_equal_the_plain_formula(items, synsets, small):
    """Also in small blocks, and without a table of similar concepts."""
    table = make_table(synsets)
    concepts = Concepts(table)
    graphs = GraphTable.of([merge_captions([mine], concepts) for mine, _ in items])
    references = GraphTable.of([merge_captions(refs, concepts) for _, refs in items])

    with mock.patch.multiple(
        tuple_matching,
        category_words=lambda: WORDS_OF_CATEGORIES,
        _MAX_PAIRS_PER_BATCH=2 if small else 1000,
        _MAX_TABLE_PAIRS=0 if small else 1000,
    ):
        matches = TupleMatches(graphs, references, concepts)
        counts = {name: matches.counts(name).tolist() for name in CATEGORIES}

    for category, counts_of_items in counts.items():
        words = WORDS_OF_CATEGORIES.get(category, frozenset())
        for item, counts_of_item in zip(items, counts_of_items, strict=True):
            expected = oracle.counts(*item, table.synsets, category, words)
            assert tuple(counts_of_item) == expected, category


@given(SYNSETS, st.lists(WORD, max_size=9), st.integers(1, 5))
def test_similar_pairs_are_all_pairs_of_similar_concepts(synsets, words, batch_size):
    concepts = Concepts(make_table(synsets))
    rows = [concepts.of(word) for word in words]
    columns = [concepts.of(words[place:]) for place in range(len(words))]

    n_pairs, batches = concepts.similar_pairs(
        np.array(rows, np.int64), np.array(columns, np.int64)
    )
    pairs = []
    with mock.patch("semmetrics.text.concepts._MAX_PAIRS_PER_BATCH", batch_size):
        for first, second in batches:
            pairs += zip(first.tolist(), second.tolist(), strict=True)

    expected = set()
    for row, concept in enumerate(rows):
        for column, other in enumerate(columns):
            if concepts.is_similar(concept, other):
                expected.add((row, column))
    assert len(pairs) == n_pairs
    assert set(pairs) == expected


def test_items_with_the_same_synonyms_take_little_memory():
    """Each of 3,000 items is compared only with its own references."""
    n = 3000
    concepts = Concepts(SynonymTable({f"w{i}": "1 2" for i in range(2 * n)}, {}))
    graphs = [SceneGraph((concepts.of(f"w{i}"),), (), ()) for i in range(2 * n)]
    sides = [GraphTable.of(graphs[:n]), GraphTable.of(graphs[n:])]

    tracemalloc.start()
    try:
        counts = TupleMatches(*sides, concepts).counts("All")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert counts.tolist() == [[1, 1, 1]] * n
    assert peak < 20 << 20


@given(st.lists(st.lists(CAPTION, max_size=3), max_size=5), st.data())
def test_joined_tables_have_the_graphs_in_any_order(groups, data):
    concepts = Concepts(SynonymTable({}, {}))
    graphs = [merge_captions(captions, concepts) for captions in groups]
    cut = data.draw(st.integers(0, len(graphs)))
    order = data.draw(st.permutations(range(len(graphs))))

    table = GraphTable.join([GraphTable.of(graphs[:cut]), GraphTable.of(graphs[cut:])])
    reordered = table.take(np.array(order, np.int64))

    expected = GraphTable.of([graphs[row] for row in order])
    np.testing.assert_array_equal(reordered.ties, expected.ties)
    for name in ("slots", "indptr"):
        arrays = zip(getattr(reordered, name), getattr(expected, name), strict=True)
        for array, expected_array in arrays:
            np.testing.assert_array_equal(array, expected_array)


def test_a_word_joins_the_node_that_equals_its_synsets_after_a_merge():
    """When "y" comes, the first node has exactly its synsets, although "w" began another one."""
    synsets = {
        "b": {1},
        "a": {2, 3, 4, 5},
        "w": {1, 2, 3, 4},
        "c": {5, *range(6, 25)},
        "y": {1, 2, 3, 4},
    }
    table = make_table(synsets)
    concepts = Concepts(table)
    caption = [("b",), ("a",), ("w",), ("c",), ("y",), ("w", "d")]

    graph = merge_captions([caption], concepts)

    assert graph.ties == 1
    assert [concepts.name(number) for number in graph.attributes] == ["b/w/y", "d"]
    expected = []
    for nodes in oracle.merge([caption], table.synsets):
        expected.append(tuple("/".join(sorted(node.words)) for node in nodes))
    assert [tuple(map(concepts.name, numbers)) for numbers in graph.tuples] == expected
