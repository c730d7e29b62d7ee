"""Why two labels match: equal, the same name, the same synset, or similar."""

import numpy as np
import pytest
from tiny import Tiny

import semmetrics
from semmetrics.embed.embedder import CachedEmbedder, RememberingEmbedder
from semmetrics.embed.open import open_embedding

VECTORS = {"sofa": [1, 0], "couch": [1, 0.1], "seat": [1, 0.2], "sky": [0, 1]}


class Synonyms(Tiny):
    """A model that knows one group of synonyms, and counts comparisons."""

    def __init__(self, vectors, group):
        super().__init__(vectors, "synonyms", threshold=0.5)
        self.group = group
        self.n_compared = 0

    def share_synset(self, first, second):
        self.n_compared += len(first)
        pairs = zip(first, second, strict=True)
        return np.array([set(pair) <= self.group for pair in pairs])


def reasons(preds, gts, measure="SemF1", **options):
    table = semmetrics.score(preds, gts, measures=measure, **options)
    return [row["reason"] for row in table.matches()]


@pytest.mark.parametrize(
    ("label", "with_synonyms", "without"),
    [
        ("couch", "same synset", "similar"),
        ("seat", "similar", "similar"),
        ("sofa", "equal", "equal"),
        (["seat", "couch"], "same synset", "similar"),
    ],
)
def test_a_match_has_a_reason(label, with_synonyms, without):
    synonyms = Synonyms(VECTORS, {"sofa", "couch"})
    plain = Tiny(VECTORS, threshold=0.5)

    assert reasons([[label]], [["sofa"]], embedding=synonyms) == [with_synonyms]
    assert reasons([[label]], [["sofa"]], embedding=plain) == [without]


def test_labels_that_do_not_match_have_no_reason():
    model = Synonyms(VECTORS, {"sofa", "couch"})

    assert reasons([["sky"]], [["sofa"]], embedding=model) == [None, None]


def test_each_pair_of_labels_is_compared_once():
    model = Synonyms(VECTORS, {"sofa", "couch"})

    assert set(reasons([["couch"]] * 50, [["sofa"]] * 50, embedding=model)) == {
        "same synset"
    }
    assert model.n_compared == 1


def test_labels_are_compared_in_the_form_in_which_they_are_looked_up():
    model = Synonyms({"pool table": [1, 0], "sofa": [1, 0.1]}, {"pool table", "sofa"})

    assert reasons([["pool_table"]], [["sofa"]], embedding=model) == ["same synset"]


def test_the_own_model_knows_names_and_synsets():
    preds = [["Dogs", "couch", "cat"]]
    gts = [["a dog", "sofa", "cat"]]

    assert reasons(preds, gts) == ["same name", "same synset", "equal"]


@pytest.mark.parametrize("wrapper", [RememberingEmbedder, CachedEmbedder])
def test_a_cached_model_knows_synsets(tmp_path, wrapper):
    file = [tmp_path / "cache.sqlite"] if wrapper is CachedEmbedder else []
    model = wrapper(open_embedding("same"), *file)

    shared = model.share_synset(["couch", "couch"], ["sofa", "car"])

    assert shared.tolist() == [True, False]
