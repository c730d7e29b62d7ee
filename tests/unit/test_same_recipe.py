"""The recipe of the model "same", on a WordNet of nine synsets, and the model's own arithmetic."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from semmetrics.embed.same import FILES, RULES, Network, SameEmbedder, gelu
from semmetrics.embed.static import StaticEmbedder
from semmetrics.errors import InputError

relations = pytest.importorskip("embeddings.relations")
constraints = pytest.importorskip("embeddings.constraints")
wordnet = pytest.importorskip("embeddings.wordnet")

CITIES = """zurich basel paris london berlin madrid rome vienna tokyo osaka chicago boston seattle
dallas houston denver miami toronto sydney melbourne cairo lagos delhi mumbai lima oslo helsinki
prague warsaw budapest"""
SURNAMES = """smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez
lopez wilson anderson thomas taylor moore jackson martin lee perez thompson white harris sanchez
clark ramirez lewis robinson walker"""
ADJECTIVES = """happy sad angry big small red blue green old young fast slow hot cold wet dry open
closed wooden metallic bright dark smooth rough clean dirty soft hard heavy light"""

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


class TestWordNet:
    def test_pointers(self, lexicon):
        car = lexicon.synsets["00000002"]
        assert (car.hypernyms, car.parts) == (("00000001",), ("00000005",))
        # from the part to the whole
        assert lexicon.synsets["00000005"].parts == ("00000002",)
        assert lexicon.synsets["00000006"].parts == ()  # a pointer to a verb

    def test_senses_with_their_counts(self, lexicon):
        mouse = lexicon.nouns["mouse"]
        assert mouse.senses == ("00000007", "00000008")
        assert mouse.sense_counts == (14, 0)
        assert lexicon.nouns["bus"].count == 0  # tagged as a verb

    def test_shares_of_senses(self, lexicon):
        shares = relations.sense_shares(lexicon.nouns["mouse"], lexicon.synsets)
        assert shares == pytest.approx({"00000007": 15 / 15.5, "00000008": 0.5 / 15.5})

    def test_plurals_are_of_tagged_nouns(self, folder, lexicon):
        found = wordnet.plurals(lexicon.nouns.values(), folder)
        assert found == {"car": "cars", "mouse": "mice"}


class TestRelations:
    def test_pairs(self, lexicon):
        pairs = relations.draw(lexicon, list(lexicon.nouns), 200, seed=0)
        as_sets = {
            name: {frozenset(pair) for pair in found} for name, found in pairs.items()
        }
        assert as_sets["same"] == {
            frozenset(pair)
            for pair in (
                ("automobile", "car"),
                ("bike", "motorcycle"),
                ("conveyance", "vehicle"),
                ("mouse", "rodent"),
            )
        }
        assert frozenset(("car", "bus")) in as_sets["sibling"]
        assert frozenset(("car", "motorcycle")) in as_sets["sibling"]
        assert frozenset(("car", "vehicle")) in as_sets["hypernym"]
        assert as_sets["part"] == {
            frozenset(("car", "wheel")),
            frozenset(("automobile", "wheel")),
        }
        # The example after the definition of "car" does not count.
        assert as_sets["associated"] == {
            frozenset(("motorcycle", "saddle")),
            frozenset(("bike", "saddle")),
        }

    def test_nothing_contains_the_other_or_shares_a_sense(self, lexicon):
        pairs = relations.draw(lexicon, list(lexicon.nouns), 200, seed=0)
        random = {frozenset(pair) for pair in pairs["random"]}
        assert frozenset(("computer mouse", "mouse")) not in random
        assert not {frozenset(pair) for pair in pairs["same"]} & random

    def test_both_nouns_are_among_those_given(self, lexicon):
        pairs = relations.draw(lexicon, ["car", "bus", "wheel"], 50, seed=0)
        assert {
            text for found in pairs.values() for pair in found for text in pair
        } == {
            "car",
            "bus",
            "wheel",
        }

    def test_folds(self):
        folds = [relations.fold(f"{number:08}") for number in range(20_000)]
        shares = {
            name: folds.count(name) / len(folds) for name in ("test", "choice", "fit")
        }
        assert shares == pytest.approx(
            {"test": 0.2, "choice": 0.1, "fit": 0.7}, abs=0.01
        )


class TestConstraints:
    def relations_of(self, found, *texts):
        return found.relations(np.array([found.texts.index(text) for text in texts]))

    def test_same_and_related(self, lexicon):
        found = constraints.Constraints(lexicon)
        given = self.relations_of(
            found, "car", "automobile", "bus", "vehicle", "wheel", "rodent"
        )
        assert np.argwhere(np.triu(given.same)).tolist() == [[0, 1]]
        assert np.argwhere(np.triu(given.related["sibling"])).tolist() == [
            [0, 2],
            [1, 2],
        ]
        assert np.argwhere(np.triu(given.related["hypernym"])).tolist() == [
            [0, 3],
            [1, 3],
            [2, 3],
        ]
        assert np.argwhere(np.triu(given.related["distant"])).tolist() == [
            [0, 4],
            [1, 4],
        ]
        assert given.unrelated[5].tolist() == [True] * 5 + [False]

    def test_a_rare_sense_counts_only_for_the_head_of_a_synonym(self, lexicon):
        found = constraints.Constraints(lexicon)
        given = self.relations_of(found, "mouse", "computer mouse", "rodent")
        assert np.argwhere(np.triu(given.same)).tolist() == [[0, 1], [0, 2]]

    def test_a_near_hypernym_counts_as_the_same(self, lexicon):
        found = constraints.Constraints(lexicon)
        given = self.relations_of(found, "car", "bus", "vehicle")
        near = given.with_near_hypernyms(np.full((3, 3), 0.9, np.float32))
        assert np.argwhere(np.triu(near.same)).tolist() == [[0, 2], [1, 2]]
        assert np.argwhere(np.triu(near.related["sibling"])).tolist() == [[0, 1]]
        assert not near.related["hypernym"].any()
        far = given.with_near_hypernyms(np.full((3, 3), 0.6, np.float32))
        assert not far.same.any()
        assert far.related["hypernym"].any()

    def test_nouns_that_are_held_out_are_in_no_constraint(self, lexicon):
        held_out = relations.fold("00000002")  # the fold of "car"
        found = constraints.Constraints(lexicon, [held_out])
        drawn = {
            found.texts[number] for number in found.sample(np.random.default_rng(0), 2)
        }
        assert drawn.isdisjoint({"car", "automobile"})
        given = self.relations_of(found, "car", "automobile", "wheel")
        assert not given.same.any()
        assert not any(mask.any() for mask in given.related.values())

    def test_a_sample_has_distinct_nouns(self, lexicon):
        found = constraints.Constraints(lexicon)
        numbers = found.sample(np.random.default_rng(0), 9)
        assert len(set(numbers.tolist())) == 9


class TestArithmetic:
    def test_network(self):
        random = np.random.default_rng(0)
        linear = random.normal(size=(3, 2)).astype(np.float32)
        hidden = random.normal(size=(3, 4)).astype(np.float32)
        out = random.normal(size=(4, 2)).astype(np.float32)
        hidden_bias = np.float32([0.1, 0.2, 0.3, 0.4])
        bias = np.float32([0.5, -0.5])
        network = Network(linear, hidden, hidden_bias, out, bias)
        vectors = random.normal(size=(5, 3)).astype(np.float32)
        made = network(vectors)
        for vector, row in zip(vectors, made, strict=True):
            expected = (
                vector @ linear + gelu(vector @ hidden + hidden_bias) @ out + bias
            )
            np.testing.assert_allclose(
                row, expected / np.linalg.norm(expected), rtol=1e-5
            )

    def test_gelu_is_near_the_exact_one(self):
        special = pytest.importorskip("scipy.special")
        values = np.linspace(-5, 5, 101, dtype=np.float32)
        exact = values * special.ndtr(values)
        np.testing.assert_allclose(gelu(values), exact, atol=2e-3)

    def test_a_text_alone_has_the_vector_that_it_has_among_others(self):
        model = SameEmbedder()
        texts = ["couch", "red sports car", "Quickly", "日本", "couch"]
        together = model.embed(texts)
        for place, text in enumerate(texts):
            alone = model.embed([text])
            np.testing.assert_allclose(
                alone.vectors[0], together.vectors[place], atol=1e-6
            )
            assert alone.known[0] == together.known[place]
            assert alone.tuned[0] == together.tuned[place]
        assert together.known.tolist() == [True, True, True, False, True]
        assert together.tuned.tolist() == [True, False, False, False, True]
        np.testing.assert_array_equal(together.vectors[0], together.vectors[4])

    def test_a_plural_is_its_singular(self):
        model = SameEmbedder()
        texts = [
            "dogs",
            "traffic lights",
            "cherries",
            "knives",
            "men",
            "Women",
            "tomatoes",
        ]
        singular = ["dog", "traffic light", "cherry", "knife", "man", "woman", "tomato"]
        found = model.embed(texts)
        np.testing.assert_array_equal(found.vectors, model.embed(singular).vectors)
        assert found.tuned.all()
        glasses, glass = model.embed(["glasses", "glass"]).vectors
        assert glasses @ glass < model.threshold  # an entry of its own

    def test_the_nearest_singular_is_chosen(self):
        singular_of = {
            "planes": "plane",
            "kites": "kite",
            "oranges": "orange",
            "vases": "vase",
            "pies": "pie",
            "ties": "tie",
            "buses": "bus",
            "shoes": "shoe",
            "clocks": "clock",
            "caves": "cave",
            "leaves": "leaf",
            "sandals": "sandal",
            "cell phones": "cellphone",
            "hoodies": "hoodie",
            "stop signs": "stop sign",
            "currencies": "currency",
            "fresh pastries": "fresh pastry",
            "two loaves": "two loaf",
            "paint brushes": "paintbrush",
            "young platypus": "young platypus",
            "plastic glasses": "plastic glasses",
            "old clothes": "old clothes",
            "red shorts": "red shorts",
            "snowmen": "snowman",
            "cacti": "cactus",
            "taxi": "taxi",
            "men": "man",
            "Собаки": "собаки",
            "glasses": "glasses",
            "shorts": "shorts",
            "Mars": "mars",
            "Paris": "paris",
            "bus": "bus",
            "##s": "s",
        }
        model = SameEmbedder()
        assert model.names(list(singular_of)) == list(singular_of.values())
        kites, kite, kit = model.embed(["kites", "kite", "kit"]).vectors
        np.testing.assert_array_equal(kites, kite)
        assert kites @ kit < model.threshold

    def test_an_article_does_not_matter(self):
        found = SameEmbedder().embed(["the dogs", "a dog", "dog"])
        np.testing.assert_array_equal(found.vectors, found.vectors[[2, 2, 2]])

    def test_forms_of_one_name(self):
        first = ["Traffic_lights", "dog", "selfie-stick", "日本", "C++", "couch"]
        second = ["traffic light", "cat", "Selfie sticks", "中国", "C#", "sofa"]
        model = SameEmbedder()
        assert model.share_name(first, second).tolist() == [
            True,
            False,
            True,
            False,
            False,
            False,
        ]
        assert model.share_synset(first, second)[[1, 2, 5]].tolist() == [
            False,
            False,
            True,
        ]

    def test_codes_and_texts_that_are_partly_read_match_only_themselves(self):
        model = SameEmbedder()
        codes = [f"n0{number}" for number in range(2084071, 2084171)]
        codes += [f"class_{number}" for number in range(100)]
        codes += [
            "C++",
            "C#",
            "C",
            "собака 1",
            "-5",
            "кошка 1",
            "3D принтер",
            "3D очки",
            "1999",
            "2000",
        ]
        codes += [str(number) for number in range(13)]
        vectors = model.embed(codes).vectors
        cosines = (vectors @ vectors.T)[np.triu_indices(len(codes), 1)]
        assert cosines.max() < model.threshold
        again = model.embed(["Class 7", "class_7", "c++", "C++"]).vectors
        np.testing.assert_array_equal(again[[0, 2]], again[[1, 3]])

    @pytest.mark.parametrize(
        "words", [CITIES, SURNAMES, ADJECTIVES], ids=["city", "surname", "adjective"]
    )
    def test_names_and_adjectives_rarely_match(self, words):
        model = SameEmbedder()
        vectors = model.embed(words.split()).vectors
        cosines = (vectors @ vectors.T)[np.triu_indices(30, 1)]
        assert (cosines > model.threshold).mean() < 0.06

    def test_the_rules_have_a_version(self):
        texts = [
            "dogs",
            "cell phones",
            "snowmen",
            "red car",
            "zxqvb",
            "class_7",
            "C++",
            "日本",
            "glasses",
        ]
        rounded = np.round(SameEmbedder().embed(texts).vectors, 3) + 0.0
        digest = hashlib.sha256(rounded.astype("<f4").tobytes()).hexdigest()[:12]
        message = "vectors changed: raise RULES in semmetrics/embed/same.py, and record them here"
        assert (RULES, digest) == (4, "867e9933e38a"), message

    def test_nouns_that_the_general_model_does_not_have(self):
        model = SameEmbedder()
        latin = ["canis familiaris", "Canis Familiaris", "ursus arctos"]
        assert all(StaticEmbedder().tokenizer.find(text) is None for text in latin)
        found = model.embed([*latin, "dog"])
        assert found.tuned.all()
        np.testing.assert_array_equal(found.vectors[0], found.vectors[1])
        dog = found.vectors @ found.vectors[3]
        assert dog[0] > model.threshold > dog[2]
        assert model.share_synset(latin[:1], ["dog"]).tolist() == [True]

    def test_a_text_as_if_it_were_not_tuned(self):
        model = SameEmbedder()
        found = model.embed_untuned(["dog", "qwxzv"])
        np.testing.assert_array_equal(
            found.vectors[1], model.embed(["qwxzv"]).vectors[0]
        )
        assert abs(found.vectors[0] @ model.embed(["dog"]).vectors[0] - 1) > 0.01
        assert found.composed.tolist() == [False, True]

    def test_vectors_have_length_one(self):
        vectors = (
            SameEmbedder().embed(["dog", "dogs", "red car", "qwxzv", "##s"]).vectors
        )
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)

    def test_spelling_does_not_matter(self):
        vectors = (
            SameEmbedder()
            .embed(["Traffic light", "traffic_light", "TRAFFIC-LIGHT"])
            .vectors
        )
        np.testing.assert_array_equal(vectors, vectors[[0, 0, 0]])


class TestFiles:
    @pytest.fixture
    def copied(self, tmp_path):
        for name in (*FILES, "same.json"):
            (tmp_path / name).write_bytes((SameEmbedder().folder / name).read_bytes())
        return tmp_path

    def test_a_copy_is_the_same_model(self, copied):
        assert SameEmbedder(copied).identity == SameEmbedder().identity

    @pytest.mark.parametrize("name", [*FILES, "same.json"])
    def test_a_missing_or_damaged_file(self, copied, name):
        (copied / name).write_bytes(b"not this")
        with pytest.raises(InputError) as error:
            SameEmbedder(copied)
        assert error.value.code == "damaged-model"
        (copied / name).unlink()
        with pytest.raises(InputError) as error:
            SameEmbedder(copied)
        assert error.value.code == "damaged-model"

    @pytest.mark.parametrize("name", FILES)
    def test_an_empty_or_cut_file(self, copied, name):
        whole = (copied / name).read_bytes()
        for part in (b"", whole[: len(whole) // 2]):
            (copied / name).write_bytes(part)
            with pytest.raises(InputError) as error:
                SameEmbedder(copied)
            assert error.value.code == "damaged-model"

    @pytest.mark.parametrize(
        "change",
        [
            lambda entries: entries[::-1],
            lambda entries: entries.astype(np.float32),
            lambda entries: entries[:, None],
            lambda entries: np.append(entries[:-1], np.uint16(65535)),
        ],
        ids=["reversed", "floats", "column", "too large"],
    )
    def test_entries_that_are_none(self, copied, change):
        np.save(
            copied / "same-entries.npy", change(np.load(copied / "same-entries.npy"))
        )
        with pytest.raises(InputError) as error:
            SameEmbedder(copied)
        assert error.value.code == "damaged-model"

    def test_synsets_that_are_not_sorted(self, copied):
        np.save(copied / "same-synsets.npy", np.load(copied / "same-synsets.npy")[::-1])
        with pytest.raises(InputError, match="synsets"):
            SameEmbedder(copied)

    @pytest.mark.parametrize("name", ["linear", "hidden_bias", "out_scale"])
    def test_a_network_of_other_shapes(self, copied, name):
        with np.load(copied / "same-network.npz") as parts:
            arrays = dict(parts)
        arrays[name] = arrays[name][:1]
        np.savez(copied / "same-network.npz", **arrays)
        with pytest.raises(InputError, match=name):
            SameEmbedder(copied)

    @pytest.mark.parametrize("threshold", [None, True, "0.5", 2.0, float("nan")])
    def test_a_threshold_that_is_no_cosine(self, copied, threshold):
        described = json.loads((copied / "same.json").read_text())
        (copied / "same.json").write_text(
            json.dumps(described | {"threshold": threshold})
        )
        with pytest.raises(InputError, match="threshold"):
            SameEmbedder(copied)

    def test_files_of_another_model(self, copied):
        entries = np.load(copied / "same-entries.npy")
        np.save(copied / "same-entries.npy", entries[:-1])
        with pytest.raises(InputError, match="not of one model"):
            SameEmbedder(copied)

    def test_another_static_model(self, copied):
        described = json.loads((copied / "same.json").read_text())
        (copied / "same.json").write_text(json.dumps(described | {"static": "0" * 64}))
        with pytest.raises(InputError, match="another static model"):
            SameEmbedder(copied)

    @pytest.mark.parametrize("name", ["same-rows.npy", "same-vocabulary.txt"])
    def test_a_file_that_was_changed(self, copied, name):
        whole = bytearray((copied / name).read_bytes())
        whole[-2] ^= 1
        (copied / name).write_bytes(whole)
        model = SameEmbedder(copied)
        with pytest.raises(InputError, match=f"{name}.*SHA-256"):
            _ = model.identity

    def test_both_models_fit_into_fifteen_megabytes(self):
        folder = StaticEmbedder().folder
        assert sum(path.stat().st_size for path in folder.iterdir()) < 15_000_000
