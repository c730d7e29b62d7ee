"""The model "same": its arithmetic, the names of labels, and its files."""

from __future__ import annotations

import hashlib
import json
import random
import string

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.same import FILES, RULES, Network, SameEmbedder, gelu
from semmetrics.embed.static import StaticEmbedder

CITIES = """zurich basel paris london berlin madrid rome vienna tokyo osaka chicago boston seattle
dallas houston denver miami toronto sydney melbourne cairo lagos delhi mumbai lima oslo helsinki
prague warsaw budapest"""
SURNAMES = """smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez
lopez wilson anderson thomas taylor moore jackson martin lee perez thompson white harris sanchez
clark ramirez lewis robinson walker"""
ADJECTIVES = """happy sad angry big small red blue green old young fast slow hot cold wet dry open
closed wooden metallic bright dark smooth rough clean dirty soft hard heavy light"""
# Labels, and the names by which they are looked up
NAMES = """
planes: plane, kites: kite, oranges: orange, vases: vase, pies: pie, ties: tie,
buses: bus, shoes: shoe, clocks: clock, caves: cave, leaves: leaf, sandals: sandal,
cell phones: cellphone, hoodies: hoodie, stop signs: stop sign, men: man,
currencies: currency, fresh pastries: fresh pastry, two loaves: two loaf,
paint brushes: paintbrush, young platypus: young platypus, old clothes: old clothes,
plastic glasses: plastic glasses, red shorts: red shorts, snowmen: snowman,
cacti: cactus, taxi: taxi, Собаки: собаки, glasses: glasses, shorts: shorts,
Mars: mars, Paris: paris, bus: bus, ##s: s
"""


@pytest.fixture(scope="module")
def model():
    return SameEmbedder()


# ---- arithmetic ----------------------------------------------------------------------


def test_the_network_adds_a_hidden_layer_to_a_linear_map():
    rng = np.random.default_rng(0)
    linear = rng.normal(size=(3, 2)).astype(np.float32)
    hidden = rng.normal(size=(3, 4)).astype(np.float32)
    hidden_bias = np.float32([0.1, 0.2, 0.3, 0.4])
    out = rng.normal(size=(4, 2)).astype(np.float32)
    bias = np.float32([0.5, -0.5])
    vector = rng.normal(size=3).astype(np.float32)

    network = Network(linear, hidden, hidden_bias, out, bias)

    activation = gelu(vector @ hidden + hidden_bias)
    expected = vector @ linear + activation @ out + bias
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(network(vector[None])[0], expected, rtol=1e-5)


def test_gelu_is_near_the_exact_function():
    special = pytest.importorskip("scipy.special")
    values = np.linspace(-5, 5, 101, dtype=np.float32)

    np.testing.assert_allclose(gelu(values), values * special.ndtr(values), atol=2e-3)


def test_a_vector_does_not_depend_on_other_texts(model):
    texts = ["couch", "red sports car", "Quickly", "日本", "couch"]

    together = model.embed(texts)

    for row, text in enumerate(texts):
        (vector,) = model.embed([text]).vectors
        np.testing.assert_allclose(vector, together.vectors[row], atol=1e-6)
    assert together.known.tolist() == [True, True, True, False, True]
    assert together.tuned.tolist() == [True, False, False, False, True]


def test_vectors_have_length_one(model):
    vectors = model.embed(["dog", "dogs", "red car", "qwxzv", "##s"]).vectors

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_vectors_change_only_with_the_version_of_the_rules(model):
    """Raise RULES if vectors change, and record both here."""
    texts = ["dogs", "cell phones", "snowmen", "red car", "zxqvb", "class_7", "C++"]
    texts += ["日本", "glasses"]

    rounded = np.round(model.embed(texts).vectors, 3) + 0.0

    digest = hashlib.sha256(rounded.astype("<f4").tobytes()).hexdigest()[:12]
    assert (RULES, digest) == (4, "867e9933e38a")


def test_a_text_can_be_embedded_as_if_it_were_not_tuned(model):
    tuned = model.embed(["dog", "qwxzv"]).vectors

    untuned = model.embed_untuned(["dog", "qwxzv"])

    np.testing.assert_array_equal(untuned.vectors[1], tuned[1])
    assert abs(untuned.vectors[0] @ tuned[0] - 1) > 0.01
    assert untuned.composed.tolist() == [False, True]


# ---- names ---------------------------------------------------------------------------


def test_a_label_is_looked_up_by_its_nearest_singular(model):
    entries = NAMES.replace("\n", " ").strip().split(", ")
    labels, names = zip(*[entry.split(": ") for entry in entries], strict=True)

    assert model.names(list(labels)) == list(names)


@pytest.mark.parametrize(
    "forms",
    [
        ["dog", "dogs", "the dogs", "a dog"],
        ["traffic light", "Traffic_lights", "TRAFFIC-LIGHT"],
        ["knife", "knives"],
        ["class 7", "Class_7"],
    ],
)
def test_forms_of_a_name_have_the_same_vector(model, forms):
    vectors = model.embed(forms).vectors

    np.testing.assert_array_equal(vectors, np.tile(vectors[0], (len(forms), 1)))


@pytest.mark.parametrize(("plural", "other"), [("glasses", "glass"), ("kites", "kit")])
def test_a_plural_does_not_match_another_singular(model, plural, other):
    first, second = model.embed([plural, other]).vectors

    assert first @ second < model.threshold


def test_pairs_of_labels_share_a_name_or_a_synset(model):
    first = ["Traffic_lights", "dog", "selfie-stick", "日本", "C++", "couch"]
    second = ["traffic light", "cat", "Selfie sticks", "中国", "C#", "sofa"]

    assert np.flatnonzero(model.share_name(first, second)).tolist() == [0, 2]
    assert model.share_synset(first, second)[[1, 2, 5]].tolist() == [0, 0, 1]


def test_nouns_outside_the_general_vocabulary_are_tuned(model):
    texts = ["canis familiaris", "Canis Familiaris", "ursus arctos", "dog"]
    tokenizer = StaticEmbedder().tokenizer
    assert tokenizer.find(texts[0]) is tokenizer.find(texts[2]) is None

    embedded = model.embed(texts)

    assert embedded.tuned.all()
    cosines = embedded.vectors @ embedded.vectors[3]
    assert cosines[0] == cosines[1] > model.threshold > cosines[2]


# ---- pairs above the threshold -------------------------------------------------------


def share_of_matches(model, texts):
    vectors = model.embed(texts).vectors
    cosines = (vectors @ vectors.T)[np.triu_indices(len(texts), 1)]
    return (cosines >= model.threshold).mean()


def test_codes_and_unreadable_texts_match_only_themselves(model):
    codes = ["C++", "C#", "C", "собака 1", "-5", "кошка 1", "3D принтер", "3D очки"]
    codes += ["1999", "2000", *map(str, range(13))]
    codes += [f"n0{number}" for number in range(2084071, 2084171)]
    codes += [f"class_{number}" for number in range(100)]

    assert share_of_matches(model, codes) == 0


@pytest.mark.parametrize("words", [CITIES, SURNAMES, ADJECTIVES])
def test_names_and_adjectives_rarely_match(model, words):
    assert share_of_matches(model, words.split()) < 0.06


def test_random_letters_rarely_match(model):
    rng = random.Random(0)
    words = ["".join(rng.choices(string.ascii_lowercase, k=7)) for _ in range(200)]

    assert share_of_matches(model, words) < 0.02


# ---- files ---------------------------------------------------------------------------


@pytest.fixture
def copied(model, tmp_path):
    """A copy of the model's files, which a test may change."""
    for name in (*FILES, "same.json"):
        (tmp_path / name).write_bytes((model.folder / name).read_bytes())
    return tmp_path


def change_metadata(folder, **values):
    path = folder / "same.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_a_copy_is_the_same_model(model, copied):
    assert SameEmbedder(copied).identity == model.identity


@pytest.mark.parametrize("damage", ["missing", "empty", "cut off", "other"])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_an_error(copied, name, damage):
    path = copied / name
    content = path.read_bytes()
    contents = {"empty": b"", "cut off": content[: len(content) // 2], "other": b"x"}
    path.unlink()
    if damage != "missing":
        path.write_bytes(contents[damage])

    with refused("damaged-model"):
        SameEmbedder(copied)


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries[::-1],
        lambda entries: entries[:-1],
        lambda entries: entries.astype(np.float32),
        lambda entries: entries[:, None],
        lambda entries: np.append(entries[:-1], np.uint16(65535)),
    ],
    ids=["reversed", "too few", "floats", "column", "too large"],
)
def test_wrong_entries_are_an_error(copied, change):
    path = copied / "same-entries.npy"
    np.save(path, change(np.load(path)))

    with refused("damaged-model"):
        SameEmbedder(copied)


def test_unsorted_synsets_are_an_error(copied):
    path = copied / "same-synsets.npy"
    np.save(path, np.load(path)[::-1])

    with refused("damaged-model"):
        SameEmbedder(copied)


@pytest.mark.parametrize("name", ["linear", "hidden_bias", "out_scale"])
def test_a_network_of_another_shape_is_an_error(copied, name):
    path = copied / "same-network.npz"
    with np.load(path) as parts:
        arrays = dict(parts)
    arrays[name] = arrays[name][:1]
    np.savez(path, **arrays)

    with refused("damaged-model") as caught:
        SameEmbedder(copied)

    assert name in str(caught.value)


@pytest.mark.parametrize("threshold", [None, True, "0.5", 2.0, float("nan")])
def test_a_threshold_that_is_not_a_cosine_is_an_error(copied, threshold):
    change_metadata(copied, threshold=threshold)

    with refused("damaged-model") as caught:
        SameEmbedder(copied)

    assert "threshold" in str(caught.value)


def test_another_static_model_is_an_error(copied):
    change_metadata(copied, static="0" * 64)

    with refused("damaged-model"):
        SameEmbedder(copied)


@pytest.mark.parametrize("name", ["same-rows.npy", "same-vocabulary.txt"])
def test_a_changed_file_has_no_identity(copied, name):
    content = bytearray((copied / name).read_bytes())
    content[-2] ^= 1
    (copied / name).write_bytes(content)
    changed_model = SameEmbedder(copied)

    with refused("damaged-model"):
        _ = changed_model.identity


def test_both_models_fit_into_fifteen_megabytes():
    folder = StaticEmbedder().folder

    assert sum(path.stat().st_size for path in folder.iterdir()) < 15_000_000
