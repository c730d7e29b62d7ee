"""Sample weights in signatures: a hash of those of the items that are scored."""

import pytest

import semmetrics

PREDS = {"a": ["cat"], "b": ["dog"], "c": ["cow", "cat"]}
TRUTH = {"a": ["cat"], "b": ["cat"], "c": ["cat"]}
WEIGHTS = {"a": 1.0, "b": 2.0, "c": 0.0}


def signature(weights, preds=PREDS, truth=TRUTH, **options):
    table = semmetrics.score(preds, truth, measures="F1", weights=weights, **options)
    return table.scores[0].signature


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_and_merged_parts_have_the_hash_of_the_whole(keep_rows):
    def part(names):
        scorer = semmetrics.Scorer(measures=["F1"], keep_rows=keep_rows)
        for name in names:
            one = {name: WEIGHTS[name]}
            scorer.update({name: PREDS[name]}, {name: TRUTH[name]}, weights=one)
        return scorer

    whole = semmetrics.score(PREDS, TRUTH, measures="F1", weights=WEIGHTS).scores[0]
    assert part("cab").compute().scores[0].signature == whole.signature
    first = part("cb")
    first.merge(part("a"))
    assert first.compute().scores[0].signature == whole.signature
