"""The parser without Java against the official one, on captions that it was not trained on."""

import pytest

evaluate = pytest.importorskip("embeddings.parsing.evaluate")
pytest.importorskip("pycocoevalcap")


@pytest.mark.parametrize(
    ("name", "pearson", "difference", "tau"),
    [
        ("fakecap", 0.962, 0.015, None),
        ("flickr8k", 0.98, 0.005, 44.3),
    ],
)
def test_agreement_with_the_official_parser(
    reference_dir, name, pearson, difference, tau
):
    items = getattr(evaluate, name)(reference_dir)
    found = evaluate.agreement(items, evaluate.parse(items.official))
    assert found.pearson >= pearson
    assert found.ours == pytest.approx(found.official, rel=difference)
    if tau is not None:
        assert found.official_tau == pytest.approx(44.7706, abs=1e-4)
        assert found.our_tau >= tau
