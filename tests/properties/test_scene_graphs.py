"""SPICE of made tuples with crowded synonyms, beside a plain formula."""

import tracemalloc
from unittest import mock

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from oracles import spice as plain

from semmetrics.metrics import tuple_matching
from semmetrics.metrics.tuple_matching import CATEGORIES, TupleMatches, spice_range
from semmetrics.text.concepts import Concepts
from semmetrics.text.scene_graphs import GraphTable, SceneGraph, merge_captions
from semmetrics.text.synonyms import SynonymTable

WORDS = "abcdefgh"
LISTED = {
    "Color": frozenset("ab"),
    "Cardinality": frozenset("c"),
    "Size": frozenset(["d", "e/f"]),
}
WORD = st.sampled_from(WORDS)
RELATION = st.tuples(WORD, WORD, st.sampled_from([*WORDS, "be a", "be b"]))
CAPTION = st.lists(
    st.one_of(st.tuples(WORD), st.tuples(WORD, WORD), RELATION), max_size=8
)
REFERENCES = st.lists(CAPTION, min_size=1, max_size=3)
SYNSETS = st.fixed_dictionaries(
    {
        word: st.frozensets(st.integers(0, 5), max_size=3)
        for word in [*WORDS, "be a", "be b"]
    }
)


def table_of(synsets):
    return SynonymTable(
        {word: " ".join(map(str, s)) for word, s in synsets.items()}, {}
    )


@given(CAPTION, REFERENCES, SYNSETS)
def test_f_lies_in_its_range(candidate, references, synsets):
    concepts = Concepts(table_of(synsets))
    graphs = merge_captions([candidate], concepts), merge_captions(references, concepts)
    (f,) = TupleMatches(*(GraphTable.of([graph]) for graph in graphs), concepts).scores(
        "All"
    )["f"]
    low, high, every = spice_range(candidate, references, concepts, most=64)
    assert low <= f <= high
    if every and not any(graph.ties for graph in graphs):
        assert low == high


@given(st.lists(st.tuples(CAPTION, REFERENCES), max_size=6), SYNSETS, st.booleans())
def test_counts_are_those_of_the_plain_formula(items, synsets, small):
    """Also in blocks of few pairs, and where a table of similar concepts is not worth it."""
    table = table_of(synsets)
    concepts = Concepts(table)
    mine = [merge_captions([candidate], concepts) for candidate, _ in items]
    theirs = [merge_captions(references, concepts) for _, references in items]
    with (
        mock.patch.object(tuple_matching, "category_words", return_value=LISTED),
        mock.patch.object(tuple_matching, "_MAX_PAIRS_PER_BATCH", 2 if small else 1000),
        mock.patch.object(tuple_matching, "_MAX_TABLE_PAIRS", 0 if small else 1000),
    ):
        matches = TupleMatches(GraphTable.of(mine), GraphTable.of(theirs), concepts)
        found = {name: matches.counts(name).tolist() for name in CATEGORIES}
    for category, counts in found.items():
        words = LISTED.get(category, frozenset())
        for some, (candidate, references) in zip(counts, items, strict=True):
            expected = plain.counts(
                candidate, references, table.synsets, category, words
            )
            assert tuple(some) == expected, category


@given(SYNSETS, st.lists(st.sampled_from(WORDS), max_size=9), st.integers(1, 5))
def test_similar_pairs_are_those_of_two_concepts_each(synsets, words, most):
    table = SynonymTable(
        {word: " ".join(map(str, s)) for word, s in synsets.items()}, {}
    )
    concepts = Concepts(table)
    ones = np.array([concepts.of(word) for word in words], np.int64)
    others = np.array(
        [concepts.of(words[place:]) for place in range(len(words))], np.int64
    )
    number, pairs = concepts.similar_pairs(ones, others)
    with mock.patch("semmetrics.text.concepts._MAX_PAIRS_PER_BATCH", most):
        several = [np.stack(some, axis=1).tolist() for some in pairs]
    found = [tuple(pair) for some in several for pair in some]
    assert len(found) == number
    assert set(found) == {
        (row, column)
        for row, one in enumerate(ones.tolist())
        for column, other in enumerate(others.tolist())
        if concepts.is_similar(one, other)
    }


def test_words_that_all_are_synonyms_take_little_memory():
    """Of thousands of items, which are compared each with its own references alone."""
    n = 3000
    concepts = Concepts(
        SynonymTable({f"w{number}": "1 2" for number in range(2 * n)}, {})
    )
    sides = [
        GraphTable.of(
            [SceneGraph((concepts.of(f"w{number}"),), (), ()) for number in numbers]
        )
        for numbers in (range(n), range(n, 2 * n))
    ]
    tracemalloc.start()
    try:
        counts = TupleMatches(*sides, concepts).counts("All")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts.tolist() == [[1, 1, 1]] * n
    assert peak < 20 << 20


@given(st.lists(st.lists(CAPTION, max_size=3), max_size=5), st.data())
def test_a_table_holds_its_graphs(groups, data):
    concepts = Concepts(SynonymTable({}, {}))
    graphs = [merge_captions(group, concepts) for group in groups]
    cut = data.draw(st.integers(0, len(graphs)))
    table = GraphTable.join([GraphTable.of(graphs[:cut]), GraphTable.of(graphs[cut:])])
    order = data.draw(st.permutations(range(len(graphs))))
    taken = table.take(np.array(order, np.int64))
    expected = GraphTable.of([graphs[row] for row in order])
    for name in ("slots", "indptr"):
        for one, other in zip(
            getattr(taken, name), getattr(expected, name), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(taken.ties, expected.ties)


def test_a_word_may_go_to_another_node_than_before():
    # "w" lies in the second node; then the first has just its synsets, and is there first
    synsets = {
        "b": {1},
        "a": {2, 3, 4, 5},
        "w": {1, 2, 3, 4},
        "c": {5, *range(6, 25)},
        "y": {1, 2, 3, 4},
    }
    table = table_of(synsets)
    concepts = Concepts(table)
    raw = [("b",), ("a",), ("w",), ("c",), ("y",), ("w", "d")]
    graph = merge_captions([raw], concepts)
    assert graph.ties == 1
    assert [concepts.name(one) for one in graph.attributes] == ["b/w/y", "d"]
    expected = [
        tuple("/".join(sorted(c.words)) for c in one)
        for one in plain.merge([raw], table.synsets)
    ]
    assert [tuple(map(concepts.name, one)) for one in graph.tuples] == expected
