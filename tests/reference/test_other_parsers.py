"""The figures of docs/measures/spice.md of parsers of others, where these are installed."""

import pytest
from shown_parsers import real_scene_graph_parser

evaluate = pytest.importorskip("embeddings.parsing.evaluate")
pytest.importorskip("pycocoevalcap")


@pytest.mark.parametrize(
    ("name", "pearson", "mean", "tau"),
    [
        ("fakecap", 0.810, 0.1212, None),
        ("flickr8k", 0.909, 0.0530, 41.65),
    ],
)
def test_agreement_with_the_official_parser(reference_dir, name, pearson, mean, tau):
    parse = real_scene_graph_parser()
    items = getattr(evaluate, name)(reference_dir)
    captions = list(items.official)
    found = evaluate.agreement(items, dict(zip(captions, parse(captions), strict=True)))
    # other versions of spaCy and its model are a little different
    assert found.pearson == pytest.approx(pearson, abs=0.01)
    assert found.ours == pytest.approx(mean, rel=0.02)
    if tau is not None:
        assert found.our_tau == pytest.approx(tau, abs=0.5)
