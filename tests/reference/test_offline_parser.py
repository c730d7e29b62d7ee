"""The parser without Java compared with the official one, on captions it was not trained on."""

import pytest

evaluate = pytest.importorskip("embeddings.parsing.evaluate")
pytest.importorskip("pycocoevalcap")


def test_scores_of_fakecap_agree_with_the_official_parser(reference_dir):
    items = evaluate.fakecap(reference_dir)

    agreement = evaluate.agreement(items, evaluate.parse(items.official))

    assert agreement.pearson >= 0.962
    assert agreement.ours == pytest.approx(agreement.official, rel=0.015)


def test_scores_and_correlations_of_flickr8k_agree_with_the_official_parser(
    reference_dir,
):
    items = evaluate.flickr8k(reference_dir)

    agreement = evaluate.agreement(items, evaluate.parse(items.official))

    assert agreement.pearson >= 0.98
    assert agreement.ours == pytest.approx(agreement.official, rel=0.005)
    assert agreement.official_tau == pytest.approx(44.7706, abs=1e-4)
    assert agreement.our_tau >= 44.3
