"""Merged graphs of captions, their cache, and the concepts that they share."""

import json
import sqlite3
import weakref
from contextlib import closing

import numpy as np
import pytest
from interruptions import interruptions

from semmetrics.metrics.spice_pairs import SpicePairs
from semmetrics.text import concepts as concepts_module
from semmetrics.text import graphs as graphs_module
from semmetrics.text.concepts import Concepts
from semmetrics.text.graphs import Graphs
from semmetrics.text.parses import CachingParser, FunctionParser
from semmetrics.text.scene_graphs import GraphTable, merge_captions
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
MERGED = ["couch/sofa", "lounge", "couch/sofa red", "couch/sofa lounge on/upon"]


def parse(captions):
    """Parse the words of a caption as one tuple."""
    return [[tuple(caption.split())] for caption in captions]


parse.version = "1"


@pytest.fixture(autouse=True)
def synonyms(monkeypatch):
    table = SynonymTable(SYNSETS, {}, "ours")
    monkeypatch.setattr(graphs_module, "open_synonyms", lambda: table)


def open_graphs(file=None):
    return Graphs(CachingParser(FunctionParser(parse), file=file))


def merged(graphs):
    """Return the tuples of the merged group as texts."""
    texts = []
    for slots in graphs.take([GROUP]).slots:
        for concepts in slots.tolist():
            texts.append(" ".join(map(graphs.concepts.name, concepts)))
    return texts


def test_the_cached_graphs_are_those_of_earlier_versions(tmp_path):
    """If this fails, users have cached graphs of another form: raise MERGING."""
    file = tmp_path / "p.sqlite"

    open_graphs(file).prepare([GROUP, ("couch",), ()])

    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT * FROM merged_graphs_checked").fetchall()
        columns = database.execute(
            "PRAGMA table_info(merged_graphs_checked)"
        ).fetchall()
    names = [column[1] for column in columns]
    graphs = {}
    for values in rows:
        row = dict(zip(names, values, strict=True))
        parser = FunctionParser(parse).identity
        assert row["identity"] == f"{parser}, merged 1 by ours"
        places = np.frombuffer(row["places"], "<i4").tolist()
        graphs[row["text"]] = (json.loads(row["words"]), places)
    words = [["couch", "sofa"], "lounge", "red", ["on", "upon"]]
    assert graphs == {
        "\n".join(GROUP).encode(): (words, [0, 2, 2, 3, 0, 1, 0, 2, 0, 1, 3]),
        b"couch": (["couch"], [0, 1, 0, 0, 0]),
    }


def test_cached_graphs_are_read_again(tmp_path):
    file = tmp_path / "p.sqlite"
    open_graphs(file).prepare([GROUP])

    assert merged(open_graphs(file)) == MERGED


@pytest.mark.parametrize("name", ["n" * 300, "file", "damaged"])
def test_an_unusable_cache_is_reported(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "p.sqlite").write_bytes(b"no database" * 1000)
    graphs = open_graphs(tmp_path / name / "p.sqlite")

    assert merged(graphs) == MERGED
    assert graphs.trouble.code == "cache-unusable"


def test_graphs_without_a_cache_have_no_trouble():
    graphs = open_graphs()

    assert merged(graphs) == MERGED
    assert graphs.trouble is None


# ---- concepts ------------------------------------------------------------------------


def test_graphs_share_concepts_until_there_are_many(monkeypatch):
    first = open_graphs()
    first.prepare([GROUP])
    assert open_graphs().concepts is first.concepts

    monkeypatch.setattr(graphs_module, "MAX_SHARED_CONCEPTS", len(first.concepts) - 1)
    second = open_graphs()

    assert second.concepts is not first.concepts
    assert merged(second) == merged(first) == MERGED


def test_many_concepts_are_freed_with_their_graphs(monkeypatch):
    monkeypatch.setattr(graphs_module, "MAX_SHARED_CONCEPTS", 2)
    graphs = open_graphs()
    graphs.prepare([GROUP])
    concepts = weakref.ref(graphs.concepts)
    assert concepts() is not None

    del graphs

    assert concepts() is None


def test_a_concept_has_its_words_in_any_order():
    concepts = Concepts(SynonymTable(SYNSETS, {}))

    for words in (["a/b"], ["couch", "sofa"], ["couch", "dog", "sofa"]):
        concept = concepts.of(words)
        assert concepts.words[concept] == tuple(words)
        assert concepts.of(words[::-1]) == concept
    assert concepts.of(["sofa", "sofa"]) == concepts.of("sofa")


def merge(concepts):
    """Return the merged group as texts."""
    tuples = merge_captions(parse(GROUP), concepts).tuples
    return [" ".join(map(concepts.name, slots)) for slots in tuples]


@pytest.mark.parametrize(
    ("images", "captions"), [([], ["sofa"]), (["sofa red"], []), ([], [])]
)
def test_a_matrix_of_spice_is_0_if_a_side_has_no_tuples(images, captions):
    concepts = Concepts(SynonymTable(SYNSETS, {}))
    image_table = GraphTable.of([merge_captions(parse(images), concepts)])
    caption_table = GraphTable.of([merge_captions(parse(captions), concepts)])

    pairs = SpicePairs(caption_table, image_table, concepts)

    assert pairs.block(0, 1).tolist() == [[0.0]]


def test_concepts_are_complete_after_an_interruption():
    def start():
        concepts = Concepts(SynonymTable(SYNSETS, {}))
        return lambda: merge(concepts)

    results = list(interruptions(concepts_module, start))

    assert len(results) > 100
    assert results == [MERGED] * len(results)


def test_an_interrupted_look_up_leaves_no_concept():
    class Interrupted(SynonymTable):
        n_calls = 0

        def synsets(self, phrase):
            self.n_calls += 1
            if self.n_calls == 3:
                raise KeyboardInterrupt
            return super().synsets(phrase)

    concepts = Concepts(Interrupted(SYNSETS, {}))
    with pytest.raises(KeyboardInterrupt):
        merge(concepts)

    assert merge(concepts) == MERGED
