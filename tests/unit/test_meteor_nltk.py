"""METEOR-nltk against nltk's own function, and against a stand-in without nltk."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from meteor_inputs import random_captions
from oracles.captions_ngram import scored
from refusals import refused

from semmetrics.errors import MissingDependencyError
from semmetrics.metrics.meteor import METEOR_NLTK


@pytest.fixture
def nltk_score():
    corpus = pytest.importorskip("nltk.corpus", reason="nltk is not installed")
    try:
        corpus.wordnet.ensure_loaded()
    except (LookupError, OSError):
        pytest.skip("nltk has no WordNet data")
    return pytest.importorskip("nltk.translate.meteor_score").meteor_score


@pytest.mark.parametrize("options", [{}, {"alpha": 0.5, "beta": 1.0, "gamma": 0.25}])
def test_items_have_the_value_of_nltk(nltk_score, options):
    candidates, references = random_captions(60, seed=6)

    (score,) = scored(candidates, references, [METEOR_NLTK(**options)])

    expected = []
    for candidate, own_references in zip(candidates, references, strict=True):
        tokens = [reference.split() for reference in own_references]
        expected.append(nltk_score(tokens, candidate.split(), **options))
    assert score.items == pytest.approx(expected, abs=1e-12)
    assert score.value == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.fixture
def stand_in(monkeypatch):
    """Replace nltk. The options of calls are in "calls", and its data raises "error"."""
    state = SimpleNamespace(calls=[], error=None)

    def meteor_score(references, hypothesis, *, alpha, beta, gamma):
        state.calls.append((alpha, beta, gamma))
        shared = [len({*hypothesis} & {*reference}) for reference in references]
        return max(shared) / 8

    def ensure_loaded():
        if state.error:
            raise state.error

    wordnet = SimpleNamespace(ensure_loaded=ensure_loaded)
    modules = {
        "nltk": SimpleNamespace(),
        "nltk.corpus": SimpleNamespace(wordnet=wordnet),
        "nltk.translate": SimpleNamespace(),
        "nltk.translate.meteor_score": SimpleNamespace(meteor_score=meteor_score),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return state


CANDIDATES = ["a man", "a horse", "two dogs"]
REFERENCES = [["a man on", "a"], ["a"], []]


def test_the_value_is_the_mean_of_items_with_a_reference(stand_in):
    (score,) = scored(CANDIDATES, REFERENCES, [METEOR_NLTK(alpha=0.5)])

    assert score.items.tolist()[:2] == [0.25, 0.125]
    assert np.isnan(score.items[2])
    assert score.value == 0.1875
    assert score.undefined == {"no_reference": 1}
    assert stand_in.calls == [(0.5, 3.0, 0.5)] * 2


@pytest.mark.parametrize(
    ("option", "value"),
    [("alpha", 1.5), ("gamma", -0.1), ("beta", -1.0), ("beta", np.inf)],
)
def test_options_out_of_range_are_errors(option, value):
    with refused("bad-option", name=option):
        METEOR_NLTK(**{option: value})


@pytest.mark.parametrize("error", [LookupError("no data"), OSError("no index.sense")])
def test_missing_wordnet_data_is_an_error(stand_in, error):
    stand_in.error = error

    with refused("no-wordnet"):
        scored(["a"], [["a"]], [METEOR_NLTK()])


def test_missing_nltk_is_an_error_with_its_extra(monkeypatch):
    for name in ("nltk", "nltk.corpus", "nltk.translate.meteor_score"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(MissingDependencyError, match=r"semmetrics\[wordnet\]"):
        scored(["a"], [["a"]], [METEOR_NLTK()])
