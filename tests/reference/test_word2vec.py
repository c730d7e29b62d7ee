"""The figures of word2vec and of the paper's lookup, on the words of GoogleNews that are here."""

import numpy as np
import pytest

from semmetrics.embed.converted import convert, open_converted
from semmetrics.embed.coverage import measure_coverage
from semmetrics.embed.lookup import embed_terms
from semmetrics.embed.open import open_embedding
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.normalization import kubany2020

COSINES = {
    ("car", "vehicle"): 0.78210967,
    ("car", "cars"): 0.7423831,
    ("car", "SUV"): 0.7160962,
    ("car", "truck"): 0.6735789,
}


@pytest.fixture(scope="module")
def words(reference_dir):
    return open_embedding(reference_dir / "word2vec" / "googlenews_subset_8074.bin")


@pytest.fixture(scope="module")
def systems(reference_dir):
    folder = reference_dir / "openimages"
    files = {"gt": "ground_truth.csv", "microsoft": "microsoft_predictions.csv"}
    return {
        name: as_labels(folder / file).normalized(kubany2020)
        for name, file in files.items()
    }


def cosine(model, one, other):
    left, right = model.embed([one, other]).vectors.astype(np.float64)
    return left @ right / np.sqrt((left @ left) * (right @ right))


@pytest.mark.parametrize(("pair", "value"), COSINES.items())
def test_cosines_of_words(words, tmp_path, pair, value):
    assert cosine(words, *pair) == pytest.approx(value, abs=1e-6)
    again = open_converted(convert(words, tmp_path / "converted"))
    assert cosine(again, *pair) == cosine(words, *pair)
    assert again.identity == words.identity


def test_all_words_have_the_published_directions(words, reference_dir):
    with np.load(reference_dir / "word2vec" / "googlenews_subset_8074.npz") as arrays:
        unit, names = arrays["unit"], arrays["words"].tolist()
    rows = words.embed(names).vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, unit, atol=1e-6)


def test_two_unknown_labels_have_cosine_1(words):
    got = embed_terms(
        ["traffic_light", "parking_meter", "car"],
        words,
        lookup="kubany2020",
        oov="unknown",
    )
    unit = got.vectors / np.linalg.norm(got.vectors, axis=1, keepdims=True)
    assert got.known.tolist() == [False, False, True]
    assert unit[0] @ unit[1] == pytest.approx(1, abs=1e-6)


def test_unknown_labels_of_open_images(words, systems):
    terms = sorted(
        {term for one in systems.values() for label in one.terms for term in label}
    )
    got = embed_terms(terms, words, lookup="kubany2020", oov="unknown")
    assert len(terms) == 457
    # 213 are not among the words; "doing" is, and is a stop word of the paper's code.
    assert got.counts["unknown"] == 214
    assert not got.known[terms.index("doing")]


def test_the_table_of_unknown_labels(words, systems):
    truth, microsoft = measure_coverage(systems, words, lookup="kubany2020")
    assert (truth.images, truth.labels, truth.terms) == (1000, 3939, 3939)
    assert (microsoft.images, microsoft.labels) == (833, 2883)
    (first,) = measure_coverage(
        {"m": systems["microsoft"]}, words, lookup="kubany2020", top_k=5
    )
    assert (first.images, first.labels, first.synonyms) == (833, 2653, 1.0)
    # The paper's table 1 has 2.7% with all of word2vec; this subset has no phrases.
    assert first.unknown == 213
