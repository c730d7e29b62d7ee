"""Randomisation tests: swapped statistics against the scores of swapped predictions."""

import numpy as np
import pytest
from every_measure import EVERY, case_of, stand_ins  # noqa: F401

import semmetrics
from semmetrics import Bootstrap
from semmetrics.scoring.draws import Draws
from semmetrics.studies.randomization import swapped_differences

SWAPS = Bootstrap(resamples=3, seed=5)


@pytest.mark.sampled(30)
@EVERY
def test_swapped_statistics_are_the_statistics_of_swapped_items(definition):
    measures, options, (preds, gts) = case_of(definition)
    other_preds = preds[7:] + preds[:7]
    table = semmetrics.score_systems(
        {"a": preds, "b": other_preds},
        gts,
        measures=measures,
        ci=True,
        resamples=2,
        **options,
    )
    headings = [str(measure) for measure in measures]
    pairs = [(table["b", heading], table["a", heading]) for heading in headings]

    differences = swapped_differences(pairs, SWAPS)

    for swap, coins in enumerate(coins_of_items(pairs[0][0])):
        expected = differences_of_swapped_items(
            preds, other_preds, gts, coins, measures=measures, **options
        )
        np.testing.assert_allclose(differences[:, swap], expected, rtol=0, atol=1e-9)


def coins_of_items(score):
    """Return a row per swap that is true for each item that a system keeps."""
    draws = Draws.of(score.statistics)
    (coins,) = draws.coins(SWAPS, SWAPS.resamples)
    assert 0 < coins.mean() < 1
    return coins[:, draws.unit_of_item].astype(bool)


def differences_of_swapped_items(preds, other_preds, gts, coins, **options):
    """Score both systems after the items with a false coin were swapped."""
    swapped = {"a": [], "b": []}
    for pred, other_pred, keeps in zip(preds, other_preds, coins, strict=True):
        swapped["a"].append(pred if keeps else other_pred)
        swapped["b"].append(other_pred if keeps else pred)
    table = semmetrics.score_systems(swapped, gts, **options)
    differences = []
    for heading in table.headings:
        differences.append(table["b", heading].value - table["a", heading].value)
    return differences


def test_swapped_rsum_is_the_sum_of_its_swapped_terms():
    rng = np.random.default_rng(6)
    queries = [f"i{n}" for n in range(12)]
    gallery = [f"c{n}" for n in range(12)]
    systems = {name: rng.normal(size=(12, 12)) + np.eye(12) for name in "ab"}
    table = semmetrics.score_systems(
        systems,
        {query: [item] for query, item in zip(queries, gallery, strict=True)},
        measures="Rsum HitRate@1 HitRate@5 HitRate@10",
        task="retrieval",
        direction="both",
        queries=queries,
        gallery=gallery,
        ci=True,
        resamples=50,
    )
    scores_of_a = [score for score in table if score.system == "a"]
    scores_of_b = [score for score in table if score.system == "b"]
    pairs = list(zip(scores_of_b, scores_of_a, strict=True))

    differences = swapped_differences(pairs, SWAPS)

    is_rsum = np.array([score.heading == "Rsum" for score, _ in pairs])
    assert len(pairs) == 7
    np.testing.assert_allclose(
        differences[is_rsum][0], 100 * differences[~is_rsum].sum(axis=0), atol=1e-9
    )
    assert differences[is_rsum].std() > 0
