"""The recipe of the model "same", on a WordNet of ten synsets."""

from __future__ import annotations

import numpy as np
import pytest

relations = pytest.importorskip("embeddings.relations")
constraints = pytest.importorskip("embeddings.constraints")
wordnet = pytest.importorskip("embeddings.wordnet")

DATA = """\
  1 The licence is at the head of the file.
00000001 06 n 02 vehicle 0 conveyance 0 002 ~ 00000002 n 0000 ~ 00000003 n 0000 | it carries
00000002 06 n 02 car 0 automobile 0 002 @ 00000001 n 0000 %p 00000005 n 0000 | fast; "a saddle"
00000003 06 n 01 bus 0 001 @ 00000001 n 0000 | a vehicle for many
00000004 06 n 02 motorcycle 0 bike 0 001 @ 00000001 n 0000 | a vehicle with a saddle
00000005 06 n 01 wheel 0 001 #p 00000002 n 0000 | a round part
00000006 06 n 01 saddle 0 001 + 00000009 v 0101 | a seat
00000007 05 n 02 mouse 0 rodent 0 000 | a small animal
00000008 06 n 02 computer_mouse 0 mouse 0 000 | a device
00000010 09 n 01 idea 0 000 | a thought
"""
INDEX = """\
  1 The licence is at the head of the file.
automobile n 1 1 @ 1 0 00000002
bike n 1 1 @ 1 0 00000004
bus n 1 1 @ 1 0 00000003
car n 1 1 @ 1 1 00000002
computer_mouse n 1 0 1 0 00000008
conveyance n 1 1 ~ 1 0 00000001
idea n 1 0 1 0 00000010
motorcycle n 1 1 @ 1 0 00000004
mouse n 2 0 2 1 00000007 00000008
rodent n 1 0 1 0 00000007
saddle n 1 0 1 0 00000006
vehicle n 1 1 ~ 1 0 00000001
wheel n 1 1 #p 1 0 00000005
"""
COUNTS = """\
car%1:06:00:: 1 70
mouse%1:05:00:: 1 14
bus%2:38:00:: 1 9
"""
EXCEPTIONS = "mice mouse\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wordnet")
    (folder / "data.noun").write_text(DATA)
    (folder / "index.noun").write_text(INDEX)
    (folder / "cntlist.rev").write_text(COUNTS)
    (folder / "noun.exc").write_text(EXCEPTIONS)
    return folder


@pytest.fixture(scope="module")
def lexicon(folder):
    return relations.Lexicon.read(folder)


# ---- WordNet -------------------------------------------------------------------------


def test_pointers_lead_to_hypernyms_and_from_wholes_to_parts(lexicon):
    car = lexicon.synsets["00000002"]
    wheel = lexicon.synsets["00000005"]
    saddle = lexicon.synsets["00000006"]

    assert car.hypernyms == ("00000001",)
    assert car.parts == ("00000005",)
    assert wheel.parts == ("00000002",)
    assert saddle.parts == ()  # its pointer leads to a verb


def test_senses_have_the_counts_of_nouns(lexicon):
    mouse = lexicon.nouns["mouse"]

    assert mouse.senses == ("00000007", "00000008")
    assert mouse.sense_counts == (14, 0)
    assert lexicon.nouns["bus"].count == 0  # tagged as a verb


def test_the_share_of_a_sense_is_smoothed(lexicon):
    shares = relations.sense_shares(lexicon.nouns["mouse"], lexicon.synsets)

    assert shares == pytest.approx({"00000007": 15 / 15.5, "00000008": 0.5 / 15.5})


def test_tagged_nouns_have_plurals(folder, lexicon):
    plurals = wordnet.plurals(lexicon.nouns.values(), folder)

    assert plurals == {"car": "cars", "mouse": "mice"}


# ---- pairs of nouns ------------------------------------------------------------------


def draw_pairs(lexicon, nouns, number):
    """Return the unordered pairs of each relation."""
    pairs_by_relation = relations.draw(lexicon, nouns, number, seed=0)
    unordered = {}
    for relation, pairs in pairs_by_relation.items():
        unordered[relation] = {frozenset(pair) for pair in pairs}
    return unordered


def unordered(*pairs):
    return {frozenset(pair.split()) for pair in pairs}


def test_pairs_are_drawn_by_relation(lexicon):
    pairs = draw_pairs(lexicon, list(lexicon.nouns), 200)

    synonyms = ("automobile car", "bike motorcycle", "conveyance vehicle")
    assert pairs["same"] == unordered(*synonyms, "mouse rodent")
    assert unordered("car bus", "car motorcycle") <= pairs["sibling"]
    assert unordered("car vehicle") <= pairs["hypernym"]
    assert pairs["part"] == unordered("car wheel", "automobile wheel")
    # The example after the definition of "car" does not count.
    assert pairs["associated"] == unordered("motorcycle saddle", "bike saddle")


def test_random_pairs_share_no_sense_and_do_not_contain_each_other(lexicon):
    pairs = draw_pairs(lexicon, list(lexicon.nouns), 200)

    assert frozenset(("computer mouse", "mouse")) not in pairs["random"]
    assert pairs["same"].isdisjoint(pairs["random"])


def test_pairs_have_only_the_given_nouns(lexicon):
    nouns = {"car", "bus", "wheel"}

    pairs = draw_pairs(lexicon, list(nouns), 50)

    drawn = set()
    for pairs_of_relation in pairs.values():
        drawn = drawn.union(*pairs_of_relation)
    assert drawn == nouns


def test_synsets_are_divided_into_folds():
    folds = [relations.fold(f"{number:08}") for number in range(20_000)]

    for name, share in (("test", 0.2), ("choice", 0.1), ("fit", 0.7)):
        assert folds.count(name) / len(folds) == pytest.approx(share, abs=0.01)


# ---- constraints ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_constraints(lexicon):
    return constraints.Constraints(lexicon)


def relations_of(made_constraints, texts):
    """Return the relations of nouns, which are separated by commas."""
    rows = [made_constraints.texts.index(text) for text in texts.split(", ")]
    return made_constraints.relations(np.array(rows))


def pairs_in(mask):
    return np.argwhere(np.triu(mask)).tolist()


def test_nouns_are_the_same_or_related(all_constraints):
    given = relations_of(
        all_constraints, "car, automobile, bus, vehicle, wheel, rodent"
    )

    assert pairs_in(given.same) == [[0, 1]]
    assert pairs_in(given.related["sibling"]) == [[0, 2], [1, 2]]
    assert pairs_in(given.related["hypernym"]) == [[0, 3], [1, 3], [2, 3]]
    assert pairs_in(given.related["distant"]) == [[0, 4], [1, 4]]
    assert given.unrelated[5].tolist() == [True] * 5 + [False]


def test_a_rare_sense_counts_only_for_the_head_of_a_synonym(all_constraints):
    given = relations_of(all_constraints, "mouse, computer mouse, rodent")

    assert pairs_in(given.same) == [[0, 1], [0, 2]]


def test_a_near_hypernym_counts_as_the_same(all_constraints):
    given = relations_of(all_constraints, "car, bus, vehicle")

    near = given.with_near_hypernyms(np.full((3, 3), 0.9, np.float32))
    far = given.with_near_hypernyms(np.full((3, 3), 0.6, np.float32))

    assert pairs_in(near.same) == [[0, 2], [1, 2]]
    assert pairs_in(near.related["sibling"]) == [[0, 1]]
    assert not near.related["hypernym"].any()
    assert not far.same.any()
    assert far.related["hypernym"].any()


def test_held_out_nouns_are_in_no_constraint(lexicon):
    fold_of_car = relations.fold("00000002")
    without_car = constraints.Constraints(lexicon, [fold_of_car])

    rows = without_car.sample(np.random.default_rng(0), 2)

    assert {without_car.texts[row] for row in rows}.isdisjoint({"car", "automobile"})
    given = relations_of(without_car, "car, automobile, wheel")
    assert not given.same.any()
    assert not any(mask.any() for mask in given.related.values())


def test_a_sample_has_distinct_nouns(all_constraints):
    rows = all_constraints.sample(np.random.default_rng(0), 9)

    assert len(set(rows.tolist())) == 9
