"""Merged graphs that are kept: what is read again, what is not, and damage."""

import json
import random
import sqlite3
import weakref

import numpy as np
import pytest
from interruptions import interruptions

from semmetrics.text import graphs as merged_graphs
from semmetrics.text.graphs import Concepts, Graphs, GraphTable, _Numbers, merge_captions
from semmetrics.text.parses import FunctionParser, KeptParser, TupleTable
from semmetrics.text.synonyms import SynonymTable

SYNSETS = {"couch": "1", "sofa": "1 2", "lounge": "5", "red": "3", "on": "4", "upon": "4"}
GROUP = ("couch red", "sofa lounge on", "sofa lounge upon")


def slots(captions):
    """A parser: the words of a caption are one tuple."""
    return [[tuple(caption.split()[:3])] for caption in captions]


slots.version = "1"


def nothing(captions):
    """A parser that fails."""
    raise AssertionError(captions)


@pytest.fixture
def table(monkeypatch):
    table = SynonymTable(SYNSETS, {}, "ours")
    monkeypatch.setattr(merged_graphs, "open_synonyms", lambda: table)
    return table


def graphs_of(folder, function=slots, given=None):
    """Graphs by the parser "slots", whose file is in the folder; ``function`` parses."""
    parser = FunctionParser(slots)
    _ = parser.identity
    object.__setattr__(parser, "function", function)
    return Graphs(KeptParser(parser, given, folder / "p.sqlite"))


def graph_of(graphs, group):
    return graphs.take([group]).graph(0)


def shown(graphs, group):
    return [" ".join(map(graphs.concepts.name, one)) for one in graph_of(graphs, group).tuples]


EXPECTED = ["couch/sofa", "lounge", "couch/sofa red", "couch/sofa lounge on/upon"]


def test_a_kept_graph_needs_no_parse(table, tmp_path):
    first = graphs_of(tmp_path)
    first.prepare([GROUP, ("couch",)])
    assert shown(first, GROUP) == EXPECTED
    again = graphs_of(tmp_path, nothing)
    again.prepare([GROUP])
    assert shown(again, GROUP) == EXPECTED
    assert graph_of(again, GROUP).ties == graph_of(first, GROUP).ties
    assert (first.trouble, again.trouble) == (None, None)


def rows(folder):
    with sqlite3.connect(folder / "p.sqlite") as file:
        found = file.execute("SELECT text, words, places FROM merged_graphs_checked").fetchall()
    return {text: (json.loads(words), np.frombuffer(places, "<i4").tolist())
            for text, words, places in found}  # fmt: skip


def test_what_is_kept_is_pinned(table, tmp_path):
    """Where this fails, graphs that users have kept are others: MERGING must be raised."""
    graphs_of(tmp_path).prepare([GROUP, ("couch",), ()])
    words = [["couch", "sofa"], "lounge", "red", ["on", "upon"]]
    assert rows(tmp_path) == {
        "\n".join(GROUP).encode(): (words, [0, 2, 2, 3, 0, 1, 0, 2, 0, 1, 3]),
        b"couch": (["couch"], [0, 1, 0, 0, 0]),
    }
    with sqlite3.connect(tmp_path / "p.sqlite") as file:
        (identity,) = file.execute("SELECT DISTINCT identity FROM merged_graphs_checked").fetchone()
    assert identity == f"{FunctionParser(slots).identity}, merged 1 by ours"


@pytest.mark.parametrize(
    "group", [GROUP[::-1], GROUP[:2], ("couch red\nsofa lounge on", "sofa lounge upon")]
)
def test_other_captions_have_a_graph_of_their_own(table, tmp_path, group):
    graphs_of(tmp_path).prepare([GROUP])
    other = graphs_of(tmp_path)
    other.prepare([group])
    tuples = slots(group)
    assert shown(other, group) == [
        " ".join(map(other.concepts.name, one))
        for one in merge_captions(tuples, other.concepts).tuples
    ]


def test_other_synonyms_have_graphs_of_their_own(table, tmp_path, monkeypatch):
    graphs_of(tmp_path).prepare([GROUP])
    others = SynonymTable({}, {}, "others")
    monkeypatch.setattr(merged_graphs, "open_synonyms", lambda: others)
    other = graphs_of(tmp_path)
    other.prepare([GROUP])
    assert shown(other, GROUP)[:3] == ["couch", "sofa", "lounge"]


def test_concepts_serve_the_next_graphs_until_they_are_many(table, tmp_path, monkeypatch):
    first = graphs_of(tmp_path)
    first.prepare([GROUP])
    assert graphs_of(tmp_path).concepts is first.concepts
    monkeypatch.setattr(merged_graphs, "_MANY", len(first.concepts) - 1)
    next_ = graphs_of(tmp_path)
    assert next_.concepts is not first.concepts
    next_.prepare([GROUP])
    assert shown(next_, GROUP) == shown(first, GROUP) == EXPECTED


def test_many_concepts_go_with_their_graphs(table, tmp_path, monkeypatch):
    """A process that goes on with other things does not hold them."""
    monkeypatch.setattr(merged_graphs, "_MANY", 2)
    graphs = graphs_of(tmp_path)
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    concepts = weakref.ref(graphs.concepts)
    assert concepts() is not None
    del graphs
    assert concepts() is None


def test_graphs_may_be_taken_that_were_not_prepared(table, tmp_path):
    graphs = graphs_of(tmp_path)
    graphs.prepare([GROUP])
    taken = graphs.take([("dog",), GROUP, ("dog",), ()])
    assert [len(taken.graph(row).objects) for row in range(4)] == [1, 2, 1, 0]
    assert taken.graph(1) == graph_of(graphs, GROUP)


def test_adding_a_graph_costs_the_same_however_many_there_are(table, tmp_path, monkeypatch):
    graphs = graphs_of(tmp_path)
    graphs.prepare([(f"dog {number}",) for number in range(50)])
    tables = []
    take = GraphTable.take
    monkeypatch.setattr(
        GraphTable, "take", lambda self, rows: tables.append(self) or take(self, rows)
    )
    monkeypatch.setattr(GraphTable, "join", None)
    graphs.prepare([GROUP])
    assert len(graphs.take([GROUP]).graph(0).objects) == 2
    assert [len(one) for one in tables] == [1]


def test_graphs_of_many_batches_are_taken_in_their_order(table, tmp_path):
    chance, graphs, groups = random.Random(3), graphs_of(tmp_path), []
    for batch in range(20):
        some = [(f"dog {batch}",) * chance.randint(1, 3), (f"{batch} couch",)]
        graphs.prepare(some)
        groups += some
    chance.shuffle(groups)
    groups += groups[:5]
    taken = graphs.take(groups)
    assert len(taken) == len(groups)
    assert [taken.graph(row) for row in range(len(groups))] == [
        graphs.take([group]).graph(0) for group in groups
    ]
    assert [graphs.concepts.name(one) for one in taken.slots[0][:, 0].tolist()] == [
        name for group in groups for name in [group[0].split()[0]]
    ]


def test_given_tuples_come_before_kept_graphs(table, tmp_path):
    graphs_of(tmp_path).prepare([GROUP])
    identity = FunctionParser(slots).identity
    given = TupleTable.of({GROUP[0]: [["bed"]]})
    given = TupleTable(given.name, given.tuples, dict.fromkeys(given.tuples, identity))
    own = graphs_of(tmp_path, given=given)
    own.prepare([GROUP])
    assert "bed" in shown(own, GROUP)
    plain = graphs_of(tmp_path, nothing)
    plain.prepare([GROUP])
    assert shown(plain, GROUP) == EXPECTED


def test_a_damaged_graph_is_merged_again(table, tmp_path):
    graphs_of(tmp_path).prepare([GROUP, GROUP[:2]])
    good = rows(tmp_path)
    with sqlite3.connect(tmp_path / "p.sqlite") as file:
        file.execute("UPDATE merged_graphs_checked SET words = ? WHERE text = ?",
                     (b"[]", "\n".join(GROUP).encode()))  # fmt: skip
    again = graphs_of(tmp_path, nothing)  # parses are kept
    again.prepare([GROUP, GROUP[:2]])
    assert shown(again, GROUP) == EXPECTED
    assert again.trouble.code == "cache-damaged-rows"
    assert rows(tmp_path) == good


def test_without_a_file_nothing_is_kept(table):
    graphs = Graphs(KeptParser(FunctionParser(slots)))
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    assert graphs.trouble is None


@pytest.mark.parametrize("name", ["n" * 300, "file"])
def test_a_place_that_can_hold_no_graphs_is_said(table, tmp_path, name):
    (tmp_path / "file").touch()
    graphs = graphs_of(tmp_path / name)
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    assert graphs.trouble.code == "cache-unusable"


def test_a_store_in_trouble_is_not_waited_for_again(table, tmp_path):
    (tmp_path / "p.sqlite").write_bytes(b"no database" * 1000)
    graphs = graphs_of(tmp_path)
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    assert graphs.trouble.code == "cache-unusable"
    assert graphs._cache is None


def test_a_number_that_another_thread_was_given_is_not_given_again():
    numbers = _Numbers(SynonymTable({}, {}))
    numbers.features[1] = frozenset([7])
    assert numbers.add(frozenset(), ("y",)) == 2
    assert numbers.features == {1: frozenset([7]), 2: frozenset([~2])}


def test_synonyms_without_a_name_keep_nothing(table, tmp_path):
    table.identity = ""
    graphs_of(tmp_path).prepare([GROUP])
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        rows(tmp_path)


def test_random_graphs_are_read_as_they_were_written(table, tmp_path):
    """Also by concepts that have other numbers."""
    chance = random.Random(5)
    words = [*SYNSETS, "a/b", "é ", '"', "dog"]
    groups = [
        tuple(
            dict.fromkeys(
                "\t".join(chance.choices(words, k=chance.randint(1, 3)))
                for _ in range(chance.randint(2, 5))
            )
        )
        for _ in range(300)
    ]

    def parse(captions):
        return [[tuple(caption.split("\t"))] for caption in captions]

    first = graphs_of(tmp_path, parse)
    first.prepare(groups)
    again = graphs_of(tmp_path, parse)
    again.concepts.of("upon")
    again.prepare(groups[::-1])
    for group in groups:
        assert shown(again, group) == shown(first, group)
        assert graph_of(again, group).ties == graph_of(first, group).ties


HALVES, WHOLE = "\ud83d\ude00", "\U0001f600"


def test_halves_of_a_character_stay_apart(table, tmp_path):
    """Of parses, and of graphs: what is read again is what was written."""

    def parse(captions):
        return [[(HALVES,), (WHOLE,), ("\ud800", "\u2028\x00")] for _ in captions]

    first = graphs_of(tmp_path, parse)
    first.prepare([("dog",)])
    for group in [("dog",), ("dog", "dog")]:
        again = graphs_of(tmp_path, nothing)
        assert shown(again, group) == [HALVES, WHOLE, "\ud800", "\ud800 \u2028\x00"]


def test_concepts_have_words():
    concepts = Concepts(SynonymTable(SYNSETS, {}))
    for words in (["a/b"], ["couch", "sofa"], ["couch", "dog", "sofa"]):
        assert concepts.words[concepts.of(words)] == tuple(words)
        assert concepts.of(words[::-1]) == concepts.of(words)
    assert concepts.of(["sofa", "sofa"]) == concepts.of("sofa")


@pytest.mark.parametrize("code", [_Numbers.__missing__, _Numbers.add, Concepts.of])
def test_concepts_are_whole_after_an_interruption(code):
    """What was merged afterwards is kept: it must not be of concepts half made."""
    table = SynonymTable(SYNSETS, {})

    def start():
        concepts = Concepts(table)

        def merge():
            graph = merge_captions(slots(GROUP), concepts)
            return [" ".join(map(concepts.name, one)) for one in graph.tuples]

        return merge

    found = list(interruptions(code.__code__, start))
    assert len(found) > 10
    assert found == [EXPECTED] * len(found)


def test_an_interrupted_look_up_leaves_no_concept():
    class Interrupted(SynonymTable):
        left = 3

        def synsets(self, phrase):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return super().synsets(phrase)

    concepts = Concepts(Interrupted(SYNSETS, {}))
    with pytest.raises(KeyboardInterrupt):
        merge_captions(slots(GROUP), concepts)
    graph = merge_captions(slots(GROUP), concepts)
    assert [" ".join(map(concepts.name, one)) for one in graph.tuples] == EXPECTED


def test_concepts_made_at_once_have_numbers_of_their_own():
    """As by threads: while one word is looked up, another makes concepts, also of the same word."""

    class Others(SynonymTable):
        busy = False

        def synsets(self, phrase):
            if not self.busy:
                self.busy = True
                merge_captions(slots(GROUP), concepts)
                self.busy = False
            return super().synsets(phrase)

    concepts = Concepts(Others(SYNSETS, {}))
    graph = merge_captions(slots(GROUP), concepts)
    assert [" ".join(map(concepts.name, one)) for one in graph.tuples] == EXPECTED
    assert len(concepts) == len(concepts.words)
    assert len(set(concepts.numbers.values())) == len(concepts.numbers)
