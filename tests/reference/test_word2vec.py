"""Figures of word2vec and of the lookup of Kubany et al. 2020, for 8,074 words of GoogleNews."""

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


def read_normalized(path):
    return as_labels(path).normalized(kubany2020)


@pytest.fixture(scope="module")
def truth(reference_dir):
    return read_normalized(reference_dir / "openimages" / "ground_truth.csv")


@pytest.fixture(scope="module")
def predictions(reference_dir):
    return read_normalized(reference_dir / "openimages" / "microsoft_predictions.csv")


def cosine(embedding, word, other_word):
    left, right = embedding.embed([word, other_word]).vectors.astype(np.float64)
    return left @ right / np.sqrt((left @ left) * (right @ right))


@pytest.mark.parametrize(("pair", "value"), COSINES.items())
def test_words_have_the_published_cosines(words, tmp_path, pair, value):
    converted = open_converted(convert(words, tmp_path / "converted"))

    assert cosine(words, *pair) == pytest.approx(value, abs=1e-6)
    assert cosine(converted, *pair) == cosine(words, *pair)
    assert converted.identity == words.identity


def test_all_words_have_the_published_directions(words, reference_dir):
    path = reference_dir / "word2vec" / "googlenews_subset_8074.npz"
    with np.load(path) as arrays:
        unit_vectors = arrays["unit"]
        names = arrays["words"].tolist()

    vectors = words.embed(names).vectors.astype(np.float64)

    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, unit_vectors, atol=1e-6)


def test_two_unknown_labels_have_cosine_1(words):
    terms = ["traffic_light", "parking_meter", "car"]

    embedded = embed_terms(terms, words, lookup="kubany2020", oov="unknown")

    vectors = embedded.vectors
    unit_vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert embedded.known.tolist() == [False, False, True]
    assert unit_vectors[0] @ unit_vectors[1] == pytest.approx(1, abs=1e-6)


def test_214_labels_of_open_images_are_unknown(words, truth, predictions):
    labels = [*truth.terms, *predictions.terms]
    terms = sorted(set().union(*labels))

    embedded = embed_terms(terms, words, lookup="kubany2020", oov="unknown")

    assert len(terms) == 457
    # 213 are missing from the words. "doing" is a word, but a stop word of the paper's code.
    assert embedded.counts["unknown"] == 214
    assert not embedded.known[terms.index("doing")]


def test_coverage_counts_images_labels_and_terms(words, truth, predictions):
    systems = {"gt": truth, "microsoft": predictions}

    truth_row, all_labels = measure_coverage(systems, words, lookup="kubany2020")
    (top_5,) = measure_coverage(
        {"microsoft": predictions}, words, lookup="kubany2020", top_k=5
    )

    assert truth_row.images == 1000
    assert truth_row.labels == truth_row.terms == 3939
    assert (all_labels.images, all_labels.labels) == (833, 2883)
    assert (top_5.images, top_5.labels, top_5.synonyms) == (833, 2653, 1.0)
    # Table 1 of the paper has 2.7% with all of word2vec. This part has no phrases.
    assert top_5.unknown == 213
