"""Rankings of a competition, against loops over single scores."""

import json
import math

import numpy as np
import pytest
from competitors import random_captions
from numpy.testing import assert_allclose
from oracles import competition as oracle
from refusals import refused

import semmetrics
from semmetrics import rank_competition, select_discrepant
from semmetrics.errors import Fact


@pytest.fixture(scope="module")
def state():
    return select_discrepant(random_captions(), 6)


@pytest.fixture(scope="module")
def references():
    references = {}
    for captions in random_captions(m=3, seed=9).values():
        for image, caption in captions.items():
            references.setdefault(image, []).append(caption)
    return references


def scores_of_pairs(state, references, measure, k=None):
    """Return a matrix of scores, each from a call of ``score``."""
    size = len(state.systems)
    scores = np.full((size, size), math.nan)
    for pair in state.pairs:
        truth = {image: references[image] for image in pair.images[:k]}
        first = state.systems.index(pair.first)
        second = state.systems.index(pair.second)
        for row, column in ((first, second), (second, first)):
            system = state.systems[row]
            preds = {image: state.answers[image][system][0] for image in truth}
            (score,) = semmetrics.score(preds, truth, measures=measure)
            scores[row, column] = score.value
    return scores


@pytest.mark.parametrize("measure", ["ROUGE-L", "BLEU-1", "NGSM(order=1)"])
def test_ranking_follows_from_the_dominances_of_pairs(state, references, measure):
    ranking = rank_competition(state, references, measures=measure)

    (by_measure,) = ranking.rankings
    scores = scores_of_pairs(state, references, measure)
    assert_allclose(by_measure.pairs.scores, scores, rtol=1e-12)
    dominance = oracle.dominance(scores.tolist())
    assert_allclose(by_measure.dominance, dominance, rtol=1e-12)
    global_scores = oracle.power_mean(dominance, 3000)
    assert_allclose(by_measure.rank.scores, global_scores, atol=1e-3)
    assert ranking.n == len(state.images)


def test_stability_is_the_correlation_with_the_ranks_by_fewer_images(state, references):
    ranking = rank_competition(state, references, measures="ROUGE-L", stability=[2, 4])

    def global_scores(k):
        scores = scores_of_pairs(state, references, "ROUGE-L", k)
        return oracle.power_mean(oracle.dominance(scores.tolist()), 200)

    stability = ranking.rankings[0].stability
    for k in (2, 4):
        correlation = oracle.spearman(global_scores(k), global_scores(None))
        assert stability[k] == pytest.approx(correlation)


def test_rankings_by_several_measures_as_records_and_json(state, references):
    ranking = rank_competition(
        state, references, measures="ROUGE-L BLEU-1", stability=[3]
    )

    measures = ranking.to_records().column("measure")
    assert measures == ["ROUGE-L"] * 4 + ["BLEU-1"] * 4
    ranks = ranking.to_records().column("rank")
    assert ranks[:4] == sorted(ranks[:4])
    pair, *_ = ranking.pair_records()
    ratio = pair["first_score"] / pair["second_score"]
    assert pair["dominance"] == pytest.approx(ratio)
    assert ranking.stability_records().column("measure") == ["ROUGE-L", "BLEU-1"]
    entry = json.loads(ranking.render("json"))["rankings"][1]
    assert entry["scores"][0][0] is None
    assert entry["dominance"][0][0] == 1
    assert sum(entry["global_scores"].values()) == pytest.approx(1)


def test_identical_systems_share_a_rank():
    systems = random_captions(m=2)
    systems["s2"] = systems["s0"]
    state = select_discrepant(systems, 40)
    references = {image: [caption] for image, caption in systems["s1"].items()}

    ranking = rank_competition(state, references, measures="ROUGE-L")

    records = ranking.to_records()
    ranks = dict(zip(records.column("system"), records.column("rank"), strict=True))
    assert ranks == {"s1": 1, "s0": 2, "s2": 2}
    assert Fact("shared-ranks", 1, where="ROUGE-L") in ranking.facts
    assert Fact("same-answers", 40, where="s0 and s2") in state.facts


def test_images_without_references_raise_an_error_or_are_skipped(state, references):
    fewer = dict(references)
    del fewer[state.pairs[0].images[0]]

    with refused("not-annotated"):
        rank_competition(state, fewer, measures="ROUGE-L")
    ranking = rank_competition(state, fewer, measures="ROUGE-L", missing="skip")

    assert Fact("images-not-annotated", 1) in ranking.facts
    assert ranking.images["s0", "s1"] == 5
    assert ranking.n == len(state.images) - 1


def test_pairs_without_annotated_images_cannot_be_skipped(state):
    with refused("nothing-given", "s0 and s1"):
        rank_competition(state, {"x": ["a dog"]}, missing="skip")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "needs-option"),
        ({"references": {}, "ratings": []}, "conflicting-options"),
        ({"ratings": []}, "not-a-sheet"),
        ({"ratings": {"1": 2}}, "not-a-sheet"),
        ({"ratings": 3}, "not-a-sheet"),
        ({"references": {}, "missing": "empty"}, "bad-choice"),
        ({"references": {}, "k": 7}, "bad-option"),
        ({"references": {}, "stability": [0]}, "bad-option"),
        ({"references": {}, "ci": True}, "not-applicable"),
    ],
)
def test_invalid_options_raise_an_error(state, options, code):
    with refused(code):
        rank_competition(state, **options)
