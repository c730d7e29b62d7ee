"""The embedding that ships with the package: its files, its tokenizer and its vectors."""

import hashlib
import json
import shutil

import numpy as np
import pytest
from refusals import refused

from semmetrics.embed.embedder import embed_unique
from semmetrics.embed.model_files import DATA, LEVELS, PackedRows
from semmetrics.embed.static import (
    FILES,
    VECTOR_SHARE,
    StaticEmbedder,
    StaticModel,
    Tokenizer,
    normalise,
    split_words,
)
from semmetrics.store.files import file_digest

VOCABULARY = DATA / "static-vocabulary.txt"


@pytest.fixture(scope="module")
def model():
    return StaticEmbedder()


def cosine(model, left, right):
    vectors = model.embed([left, right]).vectors
    return float(vectors[0] @ vectors[1])


# ---- files --------------------------------------------------------------------------


def test_the_files_are_small_enough_for_the_wheel():
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= 16_000_000


def test_the_identity_is_the_checksum_of_the_files(model):
    digest = hashlib.sha256()
    for name in FILES:
        content = (DATA / name).read_bytes()
        digest.update(content)
        assert model.metadata["files"][name] == hashlib.sha256(content).hexdigest()

    assert model.metadata["sha256"] == digest.hexdigest()
    assert model.identity.endswith(f"@{digest.hexdigest()[:12]}")


def test_the_vocabulary_is_normalised_and_has_no_duplicates():
    entries = VOCABULARY.read_text(encoding="utf-8").splitlines()

    assert len(set(entries)) == len(entries)
    for entry in entries:
        assert normalise(entry) == entry.removeprefix("##")


def test_a_folder_without_the_files_is_an_error(tmp_path):
    with refused("damaged-model"):
        StaticEmbedder(tmp_path)


@pytest.fixture
def copied_model(tmp_path):
    return shutil.copytree(DATA, tmp_path / "model")


@pytest.mark.parametrize("text", ["{", "[]", "{}", "null"])
def test_damaged_metadata_are_an_error(copied_model, text):
    (copied_model / "static.json").write_text(text)

    with refused("damaged-model"):
        StaticEmbedder(copied_model)


@pytest.mark.parametrize("name", FILES)
def test_files_that_do_not_fit_each_other_are_an_error(copied_model, name):
    path = copied_model / name
    if name.endswith(".npy"):
        np.save(path, np.zeros(7, np.float32))
    else:
        path.write_text(path.read_text("utf-8").partition("\n")[2], "utf-8")

    with refused("damaged-model"):
        StaticEmbedder(copied_model)


# ---- words and entries --------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Traffic_light", ["traffic", "light"]),
        ("T-shirt", ["t", "shirt"]),
        ("bird's-foot", ["birds", "foot"]),
        ("Bat (Animal)", ["bat", "animal"]),
        ("SMØRREBRØD", ["smorrebrod"]),
        ("Œuf à la coque", ["oeuf", "a", "la", "coque"]),
        ("ＣＡＲ", ["car"]),
        ("Straße", ["strasse"]),
        ("mp3\tplayer\n", ["mp3", "player"]),
        ("кот", []),
        ("cafe\u0301", ["cafe"]),
        ("caf\u00e9", ["cafe"]),
    ],
)
def test_a_text_is_split_into_words_of_basic_latin_letters(text, words):
    assert split_words(text) == words


ENTRIES = [
    "##s",
    "##x",
    "hot",
    "hot dog",
    "hot dog stand",
    "dog",
    "chain",
    "chainsaw",
    "s",
    "x",
]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("Hot Dog Stand", ["hot dog stand"]),
        ("hot dog dog", ["hot dog", "dog"]),
        ("dog hot", ["dog", "hot"]),
        ("chainsaws", ["chainsaw", "##s"]),
        ("chainss", ["chain", "##s", "##s"]),
        ("sx", ["s", "##x"]),
        ("qs", ["##s"]),
        ("##s", ["s"]),
        ("", []),
    ],
)
def test_the_longest_entries_are_found_first(text, entries):
    numbers = Tokenizer(ENTRIES)(text)

    assert [ENTRIES[number] for number in numbers] == entries


def test_only_the_beginning_of_a_long_word_is_split():
    assert len(Tokenizer(ENTRIES)("s" * 100_000)) == 100


# ---- vectors ------------------------------------------------------------------------

TEXTS = [
    "car",
    "a man riding a brown horse",
    "",
    "日本",
    "!?",
    "zyzzogeton quxblat",
    "Crème brûlée",
    "plant " * 40,
]


def test_vectors_of_known_texts_have_length_1_and_others_are_0(model):
    embedded = model.embed(TEXTS)

    unknown = np.array(TEXTS)[~embedded.known].tolist()
    assert unknown == ["", "日本", "!?"]
    lengths = np.linalg.norm(embedded.vectors.astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, embedded.known, atol=1e-6)
    assert embedded.vectors.dtype == np.float32
    assert embedded.truncated == 0
    assert model.embed([]).vectors.shape == (0, model.dimension)


def test_a_vector_does_not_depend_on_the_batch(model):
    entries = VOCABULARY.read_text(encoding="utf-8").splitlines()[::7]
    texts = [*TEXTS, *entries]
    order = np.random.default_rng(1).permutation(len(texts))

    vectors = model.embed(texts).vectors

    shuffled = model.embed([texts[place] for place in order]).vectors
    np.testing.assert_array_equal(shuffled, vectors[order])
    for place in (*range(len(TEXTS)), len(texts) - 1):
        alone = model.embed([texts[place]]).vectors[0]
        np.testing.assert_array_equal(alone, vectors[place])


def test_embed_unique_returns_a_row_for_each_duplicate(model):
    texts = ["car", "dog", "car"]

    vectors = embed_unique(model, texts).vectors

    np.testing.assert_array_equal(vectors, model.embed(texts).vectors)


def test_spelling_does_not_change_a_vector(model):
    vectors = model.embed(["Traffic light", "traffic_light", "TRAFFIC-LIGHT"]).vectors

    np.testing.assert_array_equal(vectors, vectors[[0, 0, 0]])


@pytest.mark.parametrize(
    ("label", "near", "far"),
    [
        ("car", "automobile", "tree"),
        ("sofa", "couch", "airplane"),
        ("garbage can", "trash can", "violin"),
        ("diningtable", "dining table", "horse"),
        ("tvmonitor", "television", "cow"),
        ("Café", "coffee shop", "tractor"),
        ("small brown dogs on the grass", "dog on the grass", "car"),
    ],
)
def test_synonyms_are_more_similar_than_the_threshold(model, label, near, far):
    assert cosine(model, label, near) > model.threshold > cosine(model, label, far)


@pytest.mark.parametrize(
    ("text", "vector"),
    [
        pytest.param("dog", [3, 1], id="one entry"),
        pytest.param("hot dog", [1, 3], id="one entry of two words"),
        pytest.param("dogs", [9, 5], id="parts"),
        pytest.param("dog dog dogs", [1 + 8 / 2**0.5, 1 + 12 / 2**0.5], id="4 parts"),
        pytest.param(
            "dog cat",
            [1 + VECTOR_SHARE, 5 + VECTOR_SHARE],
            id="an entry without a part",
        ),
    ],
)
def test_parts_are_summed_and_divided_by_the_root_of_half_their_number(text, vector):
    entries = ["##s", "dog", "hot dog", "cat"]
    rows = np.array([[2, 0], [0, 2], [1, 1], [8, 0], [0, 4]], np.float32)
    mean = np.ones(2, np.float32)

    embedded = StaticModel(entries, rows, mean).embed([text])

    expected = vector / np.linalg.norm(vector)
    np.testing.assert_allclose(embedded.vectors[0], expected, rtol=1e-6)


def test_rows_are_packed_as_codes_of_four_bits_and_a_scale():
    table = np.zeros(2, dtype=[("scale", np.float16), ("codes", np.uint8, 2)])
    table["scale"] = [2, 0.5]
    table["codes"] = [[0x0F, 0x78], [0x12, 0x34]]

    rows = PackedRows(table)[np.array([0, 1])]

    expected = [2 * LEVELS[[0, 15, 7, 8]], 0.5 * LEVELS[[1, 2, 3, 4]]]
    np.testing.assert_array_equal(rows, expected)


# ---- the scripts that made it -------------------------------------------------------


def test_packing_writes_a_model_that_can_be_opened(tmp_path):
    pack = pytest.importorskip("embeddings.pack")
    rows = np.random.default_rng(0).normal(size=(50, 64)).astype(np.float32)
    pack.write(tmp_path, ["##s", "dog"], rows[:3], rows[0])
    metadata = {"name": "n", "dimension": 64, "entries": 2, "threshold": 0.5}
    pack.describe(tmp_path, metadata)

    identity = StaticEmbedder(tmp_path).identity

    digest = file_digest(*(tmp_path / name for name in FILES))
    assert identity == f"n-64@{digest[:12]}"
    assert json.loads((tmp_path / "static.json").read_text())["sha256"] == digest


def test_packing_loses_about_one_percent_of_the_squares():
    pack = pytest.importorskip("embeddings.pack")
    rows = np.random.default_rng(0).normal(size=(50, 64)).astype(np.float32)

    packed = PackedRows(pack.four_bits(rows))

    errors = packed[np.arange(50)] - rows
    assert np.square(errors).sum() < 0.012 * np.square(rows).sum()


def test_the_best_threshold_is_midway_between_synonyms_and_other_pairs():
    measures = pytest.importorskip("embeddings.measures")
    similarities = np.array([0.9, 0.8, 0.4, 0.2])
    is_synonym = np.array([True, True, False, False])

    assert measures.auc(similarities, is_synonym) == 1
    assert measures.auc(np.zeros(4), is_synonym) == 0.5
    for choose in (measures.best_f1, measures.youden):
        assert choose(similarities, is_synonym) == (pytest.approx(0.6), 1)
