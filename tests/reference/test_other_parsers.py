"""The figures of other scene graph parsers in docs/measures/spice.md, if these are installed."""

import pytest
from shown_parsers import real_scene_graph_parser

evaluate = pytest.importorskip("embeddings.parsing.evaluate")
pytest.importorskip("pycocoevalcap")


def agreement_of_parser(items):
    parse = real_scene_graph_parser()
    captions = list(items.official)
    return evaluate.agreement(items, dict(zip(captions, parse(captions), strict=True)))


# The tolerances allow for other versions of spaCy and its model.
def test_scores_of_fakecap_have_the_printed_agreement(reference_dir):
    agreement = agreement_of_parser(evaluate.fakecap(reference_dir))

    assert agreement.pearson == pytest.approx(0.810, abs=0.01)
    assert agreement.ours == pytest.approx(0.1212, rel=0.02)


def test_scores_and_correlations_of_flickr8k_have_the_printed_agreement(reference_dir):
    agreement = agreement_of_parser(evaluate.flickr8k(reference_dir))

    assert agreement.pearson == pytest.approx(0.909, abs=0.01)
    assert agreement.ours == pytest.approx(0.0530, rel=0.02)
    assert agreement.our_tau == pytest.approx(41.65, abs=0.5)
