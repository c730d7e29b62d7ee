"""Taxonomies, compared with recursion over parents, and the files that they are read from."""

from __future__ import annotations

import io
import pickle
import sys
import types
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import hierarchical as oracle
from refusals import facts, refused

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data import ancestors as ancestors_module
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.data.taxonomy_files import as_taxonomy
from semmetrics.data.wordnet import read_wordnet
from semmetrics.errors import InputError, MissingDependencyError

# ---- ancestors ----------------------------------------------------------------------


@st.composite
def graphs(draw):
    """Parents of some names, often several, in any order and without cycles."""
    size = draw(st.integers(1, 9))
    names = draw(st.permutations([f"n{place}" for place in range(size)]))
    parents = {names[0]: set()}
    for place in range(1, size):
        candidates = st.sampled_from(names[:place])
        parents[names[place]] = draw(st.sets(candidates, max_size=3))
    return {name: parents[name] for name in draw(st.permutations(names))}


def build(parents):
    return Taxonomy.from_parents(
        {name: sorted(above) for name, above in parents.items()}
    )


def ancestors_of(taxonomy, name):
    """Return the distances of the ancestors of a name."""
    code = taxonomy.find(name)
    row = slice(taxonomy.indptr[code], taxonomy.indptr[code + 1])
    names = [taxonomy.names[ancestor] for ancestor in taxonomy.ancestors[row]]
    return dict(zip(names, taxonomy.distances[row].tolist(), strict=True))


@given(parents=graphs())
def test_ancestors_depths_heights_and_roots_equal_recursion(parents):
    taxonomy = build(parents)

    assert set(taxonomy.names) == set(parents)
    for code, name in enumerate(taxonomy.names):
        assert ancestors_of(taxonomy, name) == oracle.ancestors(parents, name)
        assert taxonomy.depth[code] == oracle.depth(parents, name)
        assert taxonomy.height[code] == oracle.height(parents, name)
    assert {taxonomy.names[root] for root in taxonomy.roots} == oracle.roots(parents)
    root = None if taxonomy.root is None else taxonomy.names[taxonomy.root]
    assert root == oracle.only_root(parents)


def test_names_with_links_to_all_their_ancestors_have_small_distances():
    names = [f"n{place}" for place in range(300)]
    parents = {name: names[:place] for place, name in enumerate(names)}

    taxonomy = Taxonomy.from_parents(parents)

    for place in (0, 7, 299):
        distances = ancestors_of(taxonomy, names[place])
        assert distances == {**dict.fromkeys(parents[names[place]], 1), names[place]: 0}


@given(parents=graphs())
def test_labels_are_placed_in_the_taxonomy(parents):
    labels = ["new", *list(parents)[::2]]

    placed = build(parents).place([(label,) for label in labels])

    assert placed.outside.tolist() == [label == "new" for label in labels]
    root = oracle.only_root(parents)
    sizes = np.diff(placed.without_root.indptr)
    own_nodes = set()
    for code, label in enumerate(labels):
        row = slice(placed.indptr[code], placed.indptr[code + 1])
        ancestors = oracle.ancestors(parents, label)
        distances = placed.distances[row].tolist()
        assert sorted(distances) == sorted(ancestors.values())
        assert placed.depth[code] == oracle.depth(parents, label)
        node = placed.nodes[row][distances.index(0)]
        own_nodes.add(node)
        assert placed.height[node] == oracle.height(parents, label)
        assert sizes[code] == len(ancestors.keys() - {root})
    assert len(own_nodes) == len(labels)


@given(parents=graphs(), data=st.data())
def test_a_cycle_is_an_error_that_names_its_links(parents, data):
    pairs = []
    for name in parents:
        pairs += [(above, name) for above in oracle.ancestors(parents, name)]
    pairs = [(above, name) for above, name in pairs if above != name]
    assume(pairs)
    links = [(name, above) for name in parents for above in parents[name]]
    links.append(data.draw(st.sampled_from(pairs)))

    with pytest.raises(InputError) as caught:
        as_taxonomy(links)

    cycle = caught.value.problem.partition(": ")[2].replace("'", "").split(" -> ")
    assert cycle[0] == cycle[-1]
    assert len(set(cycle)) == len(cycle) - 1
    assert set(pairwise(cycle)) <= set(links)


def chain(length):
    return {f"n{place}": f"n{place + 1}" for place in range(length)}


@pytest.mark.parametrize(
    "parents", [chain(100), {f"{row}": list("abcdefghi") for row in range(600)}]
)
def test_a_taxonomy_with_too_many_ancestors_is_an_error(monkeypatch, parents):
    monkeypatch.setattr(ancestors_module, "MAX_PAIRS", 101 * 102 // 2 - 1)

    with refused("too-many-ancestors", "taxonomy"):
        Taxonomy.from_parents(parents)

    assert len(Taxonomy.from_parents(chain(99)).ancestors) == 100 * 101 // 2


# ---- links --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "code", "where"),
    [
        ({"cat": ["animal", " "]}, "empty", "taxonomy, 'cat'"),
        ({"": "animal"}, "empty", "taxonomy, ''"),
        ([], "nothing-given", "taxonomy"),
        ([("cat", "animal"), ("dog",)], "wrong-cells", "taxonomy, element [1]"),
        (["ab"], "wrong-type", "taxonomy, element [0]"),
        ([("cat", "animal"), ("dog", "dog")], "own-parent", "taxonomy, element [1]"),
        (np.array("cat"), "wrong-type", "taxonomy"),
    ],
)
def test_invalid_links_are_errors(links, code, where):
    with refused(code, where):
        as_taxonomy(links)


LINKS = [("cat", "feline"), ("feline", "animal")]


def test_an_array_of_links_is_a_taxonomy():
    assert as_taxonomy(np.array(LINKS)).identity == as_taxonomy(LINKS).identity


def test_a_pickled_taxonomy_is_the_same():
    taxonomy = as_taxonomy(LINKS)

    copy = pickle.loads(pickle.dumps(taxonomy))

    assert as_taxonomy(copy) is copy
    assert copy.identity == taxonomy.identity
    assert ancestors_of(copy, "cat") == {"cat": 0, "feline": 1, "animal": 2}


@pytest.mark.parametrize(
    ("taxonomy", "counts"),
    [
        ({"animal": ["cat", "dog"], "thing": ["bus", "sofa"]}, [4]),
        ({"animal": ["cat", "dog", "thing"], "thing": ["bus", "sofa"]}, [4]),
        ({"cat": "animal", "dog": "animal", "bus": "thing"}, []),
        ({"cat": "animal", "animal": None, "bus": None, "dog": None}, []),
        ({"cat": ["pet", "animal"], "pet": "animal"}, []),
    ],
)
def test_a_note_says_that_parents_and_children_are_probably_swapped(taxonomy, counts):
    preds = {"a": ["cat", "dog"], "b": ["bus"], "c": ["sofa"]}
    refs = {"a": ["cat", "dog"], "b": ["bus"], "c": ["sofa", "cat"]}

    table = semmetrics.score(preds, refs, measures="hF(unknown=own)", taxonomy=taxonomy)

    assert [fact.n for fact in facts(table, "no-parents")] == counts


# ---- files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("t.csv", "child;parent\ncat;animal\n", "other-delimiter", ", line 1"),
        ("t.csv", "child,parent\na, b\nb,c\n", "differ-by-blanks", ", line 3"),
        ("t.tsv", "child\tparent\na\tb\na \tc\n", "differ-by-blanks", ", line 3"),
        ("t.json", '{"cat": {"animal": {}}}', "wrong-type", ", 'cat'"),
        ("t.json", '[["cat", "animal"], "dog"]', "wrong-type", ", element [1]"),
        ("t.jsonl", "{}", "wrong-format", ""),
    ],
)
def test_invalid_files_are_errors(tmp_path, name, text, code, where):
    path = tmp_path / name
    path.write_text(text)

    with refused(code, f"{path}{where}"):
        as_taxonomy(path)


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("child,parent\n cat,animal\n", {}, (" cat", "animal")),
        ("child;parent\ncat;animal, pet\n", {"delimiter": ";"}, ("cat", "animal, pet")),
    ],
)
def test_cells_of_a_csv_file_are_names_as_they_are(tmp_path, text, options, names):
    path = tmp_path / "t.csv"
    path.write_text(text)

    assert as_taxonomy(path, options=ReadOptions(**options)).names == names


# ---- WordNet ------------------------------------------------------------------------

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


@pytest.fixture
def wordnet(tmp_path):
    (tmp_path / "index.noun").write_text(INDEX)
    (tmp_path / "data.noun").write_text(DATA)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "ancestors"),
    [
        ("cat", {"cat.n.01": 0, "being.n.01": 1}),
        ("cat.n.02", {"cat.n.02": 0}),
        ("whip", {"cat.n.02": 0}),
        ("Ada Lovelace", {"ada_lovelace.n.01": 0, "being.n.01": 1}),
    ],
)
def test_a_word_is_its_first_sense_in_wordnet(wordnet, name, ancestors):
    assert ancestors_of(as_taxonomy(f"wordnet:{wordnet}"), name) == ancestors


def test_senses_of_wordnet_are_the_names(wordnet):
    taxonomy = as_taxonomy(f"wordnet:{wordnet}")

    assert taxonomy.identity.startswith("wordnet:5@")
    assert taxonomy.find("wolf") is None
    normalized = taxonomy.normalized(lambda label: (label.replace("_", "-"),))
    assert normalized.find("ada-lovelace") == taxonomy.find("ada_lovelace")


def test_a_folder_without_wordnet_is_an_error(tmp_path):
    with refused("missing-file"):
        as_taxonomy(f"wordnet:{tmp_path / 'none'}")


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
def test_damaged_wordnet_files_are_errors(wordnet, name, old, new, where):
    path = wordnet / name
    path.write_text(path.read_text().replace(old, new))

    with refused("not-wordnet", str(wordnet / where)):
        read_wordnet(wordnet)


class Pointer:
    """A file as nltk finds it."""

    def __init__(self, path):
        self.path = path

    def open(self):
        if not self.path.is_file():
            raise PermissionError("not here")
        return io.BytesIO(self.path.read_bytes())


@pytest.fixture
def nltk_files(monkeypatch):
    """Replace nltk by one that finds these files."""
    files = {}
    data = types.ModuleType("nltk.data")
    data.find = files.__getitem__
    monkeypatch.setitem(sys.modules, "nltk", types.ModuleType("nltk"))
    monkeypatch.setitem(sys.modules, "nltk.data", data)
    return files


def test_wordnet_is_read_from_nltk(wordnet, nltk_files):
    for name in ("index.noun", "data.noun"):
        nltk_files[f"corpora/wordnet/{name}"] = Pointer(wordnet / name)
    assert as_taxonomy("wordnet").identity == read_wordnet(wordnet).identity

    (wordnet / "index.noun").unlink()
    with refused("unreadable", "nltk's index.noun"):
        as_taxonomy("wordnet")


def test_the_size_of_wordnet_from_nltk_is_limited(wordnet, nltk_files):
    sizes = {}
    for name in ("index.noun", "data.noun"):
        nltk_files[f"corpora/wordnet/{name}"] = Pointer(wordnet / name)
        sizes[name] = (wordnet / name).stat().st_size
    largest = max(sizes, key=sizes.get)
    limit = sizes[largest]

    assert read_wordnet(max_bytes=limit).identity == read_wordnet(wordnet).identity
    with refused("too-large", f"nltk's {largest}"):
        read_wordnet(max_bytes=limit - 1)


def test_nltk_without_wordnet_is_an_error(nltk_files):
    with refused("no-wordnet"):
        as_taxonomy("wordnet")


def test_wordnet_without_a_folder_needs_nltk(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.setitem(sys.modules, "nltk.data", None)

    with pytest.raises(MissingDependencyError, match="needs the package nltk"):
        as_taxonomy("wordnet")


DEBIAN = Path("/usr/share/wordnet")


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="wordnet-base of Debian is missing")
def test_distances_in_wordnet_equal_nltk():
    taxonomy = read_wordnet(DEBIAN)

    assert len(taxonomy) == 82115
    assert taxonomy.names[taxonomy.root] == "entity.n.01"
    assert (taxonomy.depth.max(), taxonomy.height.max()) == (18, 19)
    distances = ancestors_of(taxonomy, "dog")
    assert distances["canine.n.02"] == 1
    assert distances["animal.n.01"] == 2
    assert distances["entity.n.01"] == 8
