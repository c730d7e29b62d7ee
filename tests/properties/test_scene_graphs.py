"""SPICE of random tuples with many synonyms, against a plain formula."""

import tracemalloc
from unittest import mock

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from numpy.testing import assert_array_equal
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
OBJECT = st.tuples(WORD)
ATTRIBUTE = st.tuples(WORD, WORD)
RELATION = st.tuples(WORD, WORD, VERB)
CAPTION = st.lists(st.one_of(OBJECT, ATTRIBUTE, RELATION), max_size=8)
REFERENCES = st.lists(CAPTION, min_size=1, max_size=3)
SYNSETS = st.dictionaries(VERB, st.frozensets(st.integers(0, 5), max_size=3))


def make_table(synsets):
    """Return a table of synonyms, given the numbers of the synsets of each word."""
    lines = {}
    for word, numbers in synsets.items():
        lines[word] = " ".join(map(str, numbers))
    return SynonymTable(lines, {})


def merge_items(captions_of_items, concepts):
    """Return the table of the merged graphs of items."""
    graphs = [merge_captions(captions, concepts) for captions in captions_of_items]
    return GraphTable.of(graphs)


@given(CAPTION, REFERENCES, SYNSETS)
def test_f_is_in_the_range_over_all_orders_of_merging(candidate, references, synsets):
    concepts = Concepts(make_table(synsets))
    graph = merge_captions([candidate], concepts)
    reference_graph = merge_captions(references, concepts)
    candidates = GraphTable.of([graph])
    reference_graphs = GraphTable.of([reference_graph])

    scores = TupleMatches(candidates, reference_graphs, concepts).scores("All")

    (f,) = scores["f"]
    low, high, is_complete = spice_range(candidate, references, concepts, most=64)
    assert low <= f <= high
    if is_complete and not (graph.ties or reference_graph.ties):
        assert low == high


@given(st.lists(st.tuples(CAPTION, REFERENCES), max_size=6), SYNSETS, st.booleans())
def test_counts_of_all_categories_equal_the_plain_formula(items, synsets, small):
    """Also in small blocks, and without a table of similar concepts."""
    table = make_table(synsets)
    concepts = Concepts(table)
    graphs = merge_items([[candidate] for candidate, _ in items], concepts)
    reference_graphs = merge_items([references for _, references in items], concepts)

    with mock.patch.multiple(
        tuple_matching,
        category_words=lambda: WORDS_OF_CATEGORIES,
        MAX_PAIRS_PER_BATCH=2 if small else 1000,
        _MAX_TABLE_PAIRS=0 if small else 1000,
    ):
        matches = TupleMatches(graphs, reference_graphs, concepts)
        counts = {name: matches.counts(name).tolist() for name in CATEGORIES}

    for category, counts_of_items in counts.items():
        words = WORDS_OF_CATEGORIES.get(category, frozenset())
        for item, counts_of_item in zip(items, counts_of_items, strict=True):
            expected = oracle.counts(*item, table.synsets, category, words)
            assert tuple(counts_of_item) == expected, category


@given(SYNSETS, st.lists(WORD, max_size=9), st.integers(1, 5))
def test_similar_pairs_are_all_pairs_of_similar_concepts(synsets, words, batch_size):
    concepts = Concepts(make_table(synsets))
    rows = []
    columns = []
    for place, word in enumerate(words):
        rows.append(concepts.of(word))
        columns.append(concepts.of(words[place:]))

    arrays = np.array([rows, columns], np.int64)
    n_pairs, batches = concepts.similar_pairs(*arrays)
    pairs = []
    with mock.patch("semmetrics.text.concepts.MAX_PAIRS_PER_BATCH", batch_size):
        for first, second in batches:
            pairs += zip(first.tolist(), second.tolist(), strict=True)

    expected = set()
    for row, column in np.ndindex(len(rows), len(columns)):
        if concepts.is_similar(rows[row], columns[column]):
            expected.add((row, column))
    assert len(pairs) == n_pairs
    assert set(pairs) == expected


def test_items_with_the_same_synonyms_take_little_memory():
    """Each of 3,000 items is compared only with its own references."""
    n = 3000
    words = [f"w{number}" for number in range(2 * n)]
    concepts = Concepts(make_table(dict.fromkeys(words, (1, 2))))
    graphs = [SceneGraph((concepts.of(word),), (), ()) for word in words]
    candidates = GraphTable.of(graphs[:n])
    references = GraphTable.of(graphs[n:])

    tracemalloc.start()
    try:
        counts = TupleMatches(candidates, references, concepts).counts("All")
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

    first = GraphTable.of(graphs[:cut])
    second = GraphTable.of(graphs[cut:])

    joined = GraphTable.join([first, second])
    reordered = joined.take(np.array(order, np.int64))

    expected = GraphTable.of([graphs[row] for row in order])
    assert_array_equal(reordered.ties, expected.ties)
    for slots, expected_slots in zip(reordered.slots, expected.slots, strict=True):
        assert_array_equal(slots, expected_slots)
    for indptr, expected_indptr in zip(reordered.indptr, expected.indptr, strict=True):
        assert_array_equal(indptr, expected_indptr)


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

    names_of_tuples = []
    for numbers in graph.tuples:
        names_of_tuples.append([concepts.name(number) for number in numbers])
    expected = []
    for nodes in oracle.merge([caption], table.synsets):
        expected.append(["/".join(sorted(node.words)) for node in nodes])
    assert graph.ties == 1
    assert [concepts.name(number) for number in graph.attributes] == ["b/w/y", "d"]
    assert names_of_tuples == expected
