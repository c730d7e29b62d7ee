"""Taxonomies against recursion over parents, and the errors of their inputs."""

from __future__ import annotations

import io
import pickle
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import hierarchical as oracle
from refusals import facts, refused

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data import ancestors as taxonomy_graph
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.data.taxonomy_files import as_taxonomy
from semmetrics.data.wordnet import read_wordnet
from semmetrics.errors import InputError, MissingDependencyError

DEBIAN = Path("/usr/share/wordnet")
DIAMOND = {
    "cat": ["feline", "pet"],
    "feline": "animal",
    "pet": ["being"],
    "animal": ["being"],
}
INDEX = """\
  1 a licence, indented
being n 1 1 ~ 1 0 00000001
cat n 2 1 @ 2 1 00000003 00000004
ada_lovelace n 1 1 @i 1 0 00000005
dog n 1 1 @ 1 1 00000002
whip n 1 1 @ 1 1 00000004
"""
DATA = """\
  1 a licence, indented
00000001 03 n 01 being 0 001 ~ 00000002 n 0000 | what lives
00000002 05 n 01 Dog 0 001 @ 00000001 n 0000 | barks | or bites
00000003 05 n 01 cat 0 002 @ 00000001 n 0000 + 00000009 v 0101 | purrs
00000004 06 n 02 cat 1 whip 0 000 | for sailors
00000005 18 n 01 Ada_Lovelace 0 001 @i 00000001 n 0000 | wrote programs
"""


@st.composite
def graphs(draw):
    """Parents of some names, several allowed, in any order; no cycles."""
    size = draw(st.integers(1, 9))
    names = draw(st.permutations([f"n{i}" for i in range(size)]))
    parents = {
        name: draw(st.sets(st.sampled_from(names[:i]), max_size=3)) if i else set()
        for i, name in enumerate(names)
    }
    order = draw(st.permutations(names))
    return {name: parents[name] for name in order}


def built(parents):
    return Taxonomy.from_parents(
        {name: sorted(above) for name, above in parents.items()}
    )


def ancestors_of(made, term):
    code = made.find(term)
    row = slice(made.indptr[code], made.indptr[code + 1])
    names = (made.names[ancestor] for ancestor in made.ancestors[row])
    return dict(zip(names, made.distances[row].tolist(), strict=True))


@given(parents=graphs())
def test_ancestors_depth_height_and_root(parents):
    made = built(parents)
    assert set(made.names) == set(parents)
    for code, name in enumerate(made.names):
        assert ancestors_of(made, name) == oracle.ancestors(parents, name)
        assert made.depth[code] == oracle.depth(parents, name)
        assert made.height[code] == oracle.height(parents, name)
    assert {made.names[code] for code in made.roots} == oracle.roots(parents)
    assert (None if made.root is None else made.names[made.root]) == oracle.the_root(
        parents
    )


@given(
    graphs(),
    st.integers(0, 20),
    st.sampled_from([1, taxonomy_graph._MAX_PAIRS_PER_BATCH]),
)
def test_parts_of_any_size_give_the_same(parents, heavy, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            taxonomy_graph, "_MAX_PAIRS_TO_SORT", -1 if heavy == 20 else heavy
        )
        patch.setattr(taxonomy_graph, "_MAX_PAIRS_PER_BATCH", cells)
        parts = built(parents)
    whole = built(parents)
    for name in ("indptr", "ancestors", "distances"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name))


def test_links_to_every_ancestor_are_not_followed_from_each(monkeypatch):
    looked = []
    whole = taxonomy_graph._lower_distances
    monkeypatch.setattr(
        taxonomy_graph, "_lower_distances", lambda *row: looked.append(1) or whole(*row)
    )
    names = [f"n{number}" for number in range(700)]
    tree = Taxonomy.from_parents({name: names[:n] for n, name in enumerate(names)})
    assert np.diff(tree.indptr).tolist() == list(range(1, 701))
    assert tree.distances.sum() == 700 * 699 / 2
    assert 0 < len(looked) < 700  # a parent a name, where there are 244,650 links


@given(
    parents=graphs(),
    extra=st.lists(st.sampled_from(["new", "other"]), max_size=2, unique=True),
)
def test_placed_labels(parents, extra):
    made = built(parents)
    labels = [*extra, *list(parents)[::2]]
    placed = made.place([(label,) for label in labels])
    assert placed.outside.tolist() == [label in extra for label in labels]
    names = {}
    for code, label in enumerate(labels):
        row = slice(placed.indptr[code], placed.indptr[code + 1])
        expected = oracle.ancestors(parents, label)
        assert sorted(placed.distances[row].tolist()) == sorted(expected.values())
        assert placed.depth[code] == oracle.depth(parents, label)
        for node, distance in zip(
            placed.nodes[row], placed.distances[row], strict=True
        ):
            if not distance:
                assert names.setdefault(int(node), label) == label
                assert placed.height[node] == oracle.height(parents, label)
    assert len(names) == len(labels)
    without = placed.without_root
    root = oracle.the_root(parents)
    sizes = [len(oracle.ancestors(parents, label).keys() - {root}) for label in labels]
    assert np.diff(without.indptr).tolist() == sizes
    assert placed.root < 0 or placed.root not in without.nodes


@given(parents=graphs(), data=st.data())
def test_a_link_back_makes_a_cycle_of_links(parents, data):
    below = [(n, a) for n in parents for a in oracle.ancestors(parents, n) if a != n]
    if not below:
        return
    name, ancestor = data.draw(st.sampled_from(below))
    links = [(child, parent) for child, above in parents.items() for parent in above]
    links.append((ancestor, name))
    with pytest.raises(InputError) as caught:
        as_taxonomy(links)
    named = caught.value.problem.partition(": ")[2].replace("'", "").split(" -> ")
    assert named[0] == named[-1]
    assert len(set(named)) == len(named) - 1
    assert all(link in links for link in pairwise(named))


@pytest.mark.parametrize(
    ("value", "code", "where"),
    [
        ({"cat": ["animal", " "]}, "empty", "taxonomy, 'cat'"),
        ({"": "animal"}, "empty", "taxonomy, ''"),
        ([], "nothing-given", "taxonomy"),
        ([("cat", "animal"), ("dog",)], "wrong-cells", "taxonomy, element [1]"),
        (["ab"], "wrong-type", "taxonomy, element [0]"),
        ([("cat", "animal"), ("dog", "dog")], "own-parent", "taxonomy, element [1]"),
        (5, "wrong-type", "taxonomy"),
        (np.array("cat"), "wrong-type", "taxonomy"),
    ],
)
def test_bad_links(value, code, where):
    with refused(code, where):
        as_taxonomy(value)


def test_its_size_is_bounded(monkeypatch):
    chain = {f"n{i}": f"n{i + 1}" for i in range(200)}
    layers = {
        f"{i}.{j}": [f"{i + 1}.{k}" for k in range(9)]
        for i in range(9)
        for j in range(9)
    }
    monkeypatch.setattr(taxonomy_graph, "MAX_PAIRS", 1000)
    for parents in (chain, layers):
        with refused("too-many-ancestors", "taxonomy"):
            Taxonomy.from_parents(parents)
    monkeypatch.setattr(taxonomy_graph, "MAX_PAIRS", 201 * 202 // 2)
    assert len(Taxonomy.from_parents(chain).ancestors) == 201 * 202 // 2


def test_pickled_and_given_again():
    made = Taxonomy.from_parents(DIAMOND)
    again = pickle.loads(pickle.dumps(made))
    assert as_taxonomy(again) is again
    assert again.identity == made.identity
    assert ancestors_of(again, "cat") == ancestors_of(made, "cat")


# --- files ---


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("t.csv", "child;parent\ncat;animal\n", "other-delimiter", ", line 1"),
        (
            "t.csv",
            "child,parent\ncat, mammal\nmammal,animal\n",
            "differ-by-blanks",
            ", line 3",
        ),
        (
            "t.tsv",
            "child\tparent\ncat\tanimal\ncat \tpet\n",
            "differ-by-blanks",
            ", line 3",
        ),
        ("t.json", '{"cat": {"animal": {}}}', "wrong-type", ", 'cat'"),
        ("t.json", '[["cat", "animal"], "dog"]', "wrong-type", ", element [1]"),
        ("t.jsonl", "{}", "wrong-format", ""),
    ],
)
def test_bad_files(tmp_path, name, text, code, where):
    path = tmp_path / name
    path.write_text(text)
    with refused(code, f"{path}{where}"):
        as_taxonomy(path)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        # as of labels
        (
            "child,parent\n cat,animal\n dog,animal\n",
            {},
            (" cat", "animal", " dog"),
        ),
        ("child;parent\ncat;animal, pet\n", {"delimiter": ";"}, ("cat", "animal, pet")),
    ],
)
def test_names_of_a_csv(tmp_path, text, options, names):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert as_taxonomy(path, options=ReadOptions(**options)).names == names


# --- WordNet ---


@pytest.fixture
def wordnet(tmp_path):
    (tmp_path / "index.noun").write_text(INDEX)
    (tmp_path / "data.noun").write_text(DATA)
    return tmp_path


def test_wordnet_files(wordnet):
    made = as_taxonomy(f"wordnet:{wordnet}")
    assert {*made.names} == {
        "being.n.01",
        "dog.n.01",
        "cat.n.01",
        "cat.n.02",
        "ada_lovelace.n.01",
    }
    # the first sense
    assert ancestors_of(made, "cat") == {
        "cat.n.01": 0,
        "being.n.01": 1,
    }
    assert (
        ancestors_of(made, "cat.n.02") == ancestors_of(made, "whip") == {"cat.n.02": 0}
    )
    assert ancestors_of(made, "Ada Lovelace") == {
        "ada_lovelace.n.01": 0,
        "being.n.01": 1,
    }
    assert made.find("wolf") is None
    assert made.identity.startswith("wordnet:5@")
    clean = made.normalized(lambda label: (label.replace("_", "-"),))
    assert clean.find("ada-lovelace") == made.find("ada_lovelace")
    with refused("missing-file"):
        as_taxonomy(f"wordnet:{wordnet / 'none'}")


@pytest.mark.parametrize(
    ("name", "old", "new", "where"),
    [
        ("data.noun", "03 n 01 being", "03 n 0x", "data.noun, line 2"),
        ("index.noun", "dog n 1", "dog n x", "index.noun, line 5"),
        ("index.noun", "dog n 1", "hound n 1", "data.noun"),
        ("data.noun", "@ 00000001 n 0000 | barks", "@ 00000077 n 0000 |", "data.noun"),
        ("index.noun", "1 1 00000002", "1 1 00000042", "data.noun"),
    ],
)
def test_bad_wordnet_files(wordnet, name, old, new, where):
    path = wordnet / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with refused("not-wordnet", str(wordnet / where)):
        read_wordnet(wordnet)


class Pointer:
    def __init__(self, path):
        self.path = path

    def open(self):
        if not self.path.is_file():
            raise PermissionError("not here")
        return io.BytesIO(self.path.read_bytes())


def test_wordnet_of_nltk(monkeypatch, wordnet):
    found = {f"corpora/wordnet/{p.name}": Pointer(p) for p in wordnet.iterdir()}
    data = types.ModuleType("nltk.data")
    data.find = found.__getitem__
    monkeypatch.setitem(sys.modules, "nltk", types.ModuleType("nltk"))
    monkeypatch.setitem(sys.modules, "nltk.data", data)
    assert as_taxonomy("wordnet").identity == read_wordnet(wordnet).identity
    (wordnet / "index.noun").unlink()
    with refused("unreadable", "nltk's index.noun"):
        as_taxonomy("wordnet")
    found.clear()
    with refused("no-wordnet"):
        as_taxonomy("wordnet")


def test_without_nltk(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.setitem(sys.modules, "nltk.data", None)
    with pytest.raises(
        MissingDependencyError, match="finding WordNet needs the package nltk"
    ):
        as_taxonomy("wordnet")


@pytest.mark.skipif(
    not (DEBIAN / "data.noun").is_file(), reason="no wordnet-base of Debian"
)
def test_wordnet_of_debian():
    made = read_wordnet(DEBIAN)
    assert len(made) == 82115
    assert made.names[made.root] == "entity.n.01"
    assert (made.depth.max(), made.height.max()) == (18, 19)
    # as nltk's hypernym_distances has them
    dog = ancestors_of(made, "dog")
    assert {
        "canine.n.02": 1,
        "domestic_animal.n.01": 1,
        "entity.n.01": 8,
    }.items() <= dog.items()
    assert dog["animal.n.01"] == 2


def test_an_array_of_links():
    links = [("cat", "feline"), ("feline", "animal")]
    assert as_taxonomy(np.array(links)).identity == as_taxonomy(links).identity


@pytest.mark.parametrize(
    ("taxonomy", "n"),
    [
        ({"animal": ["cat", "dog"], "thing": ["bus", "sofa"]}, 4),  # parents as keys
        ({"animal": ["cat", "dog", "thing"], "thing": ["bus", "sofa"]}, 4),
        ({"cat": "animal", "dog": "animal", "bus": "thing"}, 0),
        ({"cat": "animal", "animal": None, "bus": None, "dog": None}, 0),
        # one label with several parents
        (
            {"cat": ["pet", "animal"], "pet": "animal"},
            0,
        ),
    ],
)
def test_a_taxonomy_upside_down_is_noted(taxonomy, n):
    pred = {"a": ["cat", "dog"], "b": ["bus"], "c": ["sofa"]}
    true = {"a": ["cat", "dog"], "b": ["bus"], "c": ["sofa", "cat"]}
    found = semmetrics.score(pred, true, measures="hF(unknown=own)", taxonomy=taxonomy)
    assert [fact.n for fact in facts(found, "no-parents")] == ([n] if n else [])
