"""Merged graphs that are kept: what is read again, what is not, and damage."""

import json
import sqlite3
import weakref
from contextlib import closing

import numpy as np
import pytest
from interruptions import interruptions

from semmetrics.text import graphs as merged_graphs
from semmetrics.text.concepts import Concepts, _ConceptNumbers
from semmetrics.text.graphs import Graphs
from semmetrics.text.parses import FunctionParser, KeptParser
from semmetrics.text.scene_graphs import merge_captions
from semmetrics.text.synonyms import SynonymTable

SYNSETS = {
    "couch": "1",
    "sofa": "1 2",
    "lounge": "5",
    "red": "3",
    "on": "4",
    "upon": "4",
}
GROUP = ("couch red", "sofa lounge on", "sofa lounge upon")


def slots(captions):
    """A parser: the words of a caption are one tuple."""
    return [[tuple(caption.split()[:3])] for caption in captions]


slots.version = "1"


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


def shown(graphs, group):
    tuples = [one for slots in graphs.take([group]).slots for one in slots.tolist()]
    return [" ".join(map(graphs.concepts.name, one)) for one in tuples]


EXPECTED = ["couch/sofa", "lounge", "couch/sofa red", "couch/sofa lounge on/upon"]


def rows(folder):
    with closing(sqlite3.connect(folder / "p.sqlite")) as file:
        found = file.execute(
            "SELECT text, words, places FROM merged_graphs_checked"
        ).fetchall()
    return {
        text: (json.loads(words), np.frombuffer(places, "<i4").tolist())
        for text, words, places in found
    }


def test_what_is_kept_is_pinned(table, tmp_path):
    """Where this fails, graphs that users have kept are others: MERGING must be raised."""
    graphs_of(tmp_path).prepare([GROUP, ("couch",), ()])
    words = [["couch", "sofa"], "lounge", "red", ["on", "upon"]]
    assert rows(tmp_path) == {
        "\n".join(GROUP).encode(): (words, [0, 2, 2, 3, 0, 1, 0, 2, 0, 1, 3]),
        b"couch": (["couch"], [0, 1, 0, 0, 0]),
    }
    with closing(sqlite3.connect(tmp_path / "p.sqlite")) as file:
        (identity,) = file.execute(
            "SELECT DISTINCT identity FROM merged_graphs_checked"
        ).fetchone()
    assert identity == f"{FunctionParser(slots).identity}, merged 1 by ours"


def merged(concepts, group=GROUP):
    return [
        " ".join(map(concepts.name, one))
        for one in merge_captions(slots(group), concepts).tuples
    ]


def test_concepts_serve_the_next_graphs_until_they_are_many(
    table, tmp_path, monkeypatch
):
    first = graphs_of(tmp_path)
    first.prepare([GROUP])
    assert graphs_of(tmp_path).concepts is first.concepts
    monkeypatch.setattr(merged_graphs, "_MAX_SHARED_CONCEPTS", len(first.concepts) - 1)
    next_ = graphs_of(tmp_path)
    assert next_.concepts is not first.concepts
    next_.prepare([GROUP])
    assert shown(next_, GROUP) == shown(first, GROUP) == EXPECTED


def test_many_concepts_go_with_their_graphs(table, tmp_path, monkeypatch):
    """A process that goes on with other things does not hold them."""
    monkeypatch.setattr(merged_graphs, "_MAX_SHARED_CONCEPTS", 2)
    graphs = graphs_of(tmp_path)
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    concepts = weakref.ref(graphs.concepts)
    assert concepts() is not None
    del graphs
    assert concepts() is None


@pytest.mark.parametrize("name", ["n" * 300, "file", "damaged", None])
def test_a_place_that_can_hold_no_graphs_is_said(table, tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "p.sqlite").write_bytes(b"no database" * 1000)
    kept = name and tmp_path / name
    graphs = graphs_of(kept) if kept else Graphs(KeptParser(FunctionParser(slots)))
    graphs.prepare([GROUP])
    assert shown(graphs, GROUP) == EXPECTED
    assert (graphs.trouble and graphs.trouble.code) == (name and "cache-unusable")
    assert name != "damaged" or graphs._cache is None  # it is not waited for again


def test_concepts_have_words():
    concepts = Concepts(SynonymTable(SYNSETS, {}))
    for words in (["a/b"], ["couch", "sofa"], ["couch", "dog", "sofa"]):
        assert concepts.words[concepts.of(words)] == tuple(words)
        assert concepts.of(words[::-1]) == concepts.of(words)
    assert concepts.of(["sofa", "sofa"]) == concepts.of("sofa")


@pytest.mark.parametrize(
    "code", [_ConceptNumbers.__missing__, _ConceptNumbers.add, Concepts.of]
)
def test_concepts_are_whole_after_an_interruption(code):
    """What was merged afterwards is kept: it must not be of concepts half made."""
    table = SynonymTable(SYNSETS, {})

    def start():
        concepts = Concepts(table)
        return lambda: merged(concepts)

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
        merged(concepts)
    assert merged(concepts) == EXPECTED
