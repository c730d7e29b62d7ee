"""Sample weights in signatures: a hash of those of the items that are scored."""

import re

import pytest

import semmetrics

PREDS = {"a": ["cat"], "b": ["dog"], "c": ["cow", "cat"]}
TRUTH = {"a": ["cat"], "b": ["cat"], "c": ["cat"]}
WEIGHTS = {"a": 1.0, "b": 2.0, "c": 0.0}


def signature(weights, preds=PREDS, truth=TRUTH, **options):
    table = semmetrics.score(preds, truth, measures="F1", weights=weights, **options)
    return table.scores[0].signature


def signed(*args, **options):
    return re.search(r"\|weights:([0-9a-f]{16})\|", signature(*args, **options))[1]


def test_other_weights_are_another_hash():
    every = [WEIGHTS, {**WEIGHTS, "a": 1.5}, {"a": 2.0, "b": 1.0, "c": 0.0}]
    assert len({signed(weights) for weights in every}) == 3
    assert "weights:" not in signature(None)


def test_order_and_spelling_do_not_matter():
    turned = {name: WEIGHTS[name] for name in reversed(WEIGHTS)}
    truth = {name: TRUTH[name] for name in reversed(TRUTH)}
    assert signed(turned) == signed(WEIGHTS) == signed(WEIGHTS, truth=truth)
    assert signed([1, 2, 0]) == signed(WEIGHTS) == signed({"a": 1, "b": 2, "c": -0.0})


def test_only_the_weights_of_joined_items_count():
    fewer = {name: PREDS[name] for name in "ab"}
    whole = signed(WEIGHTS, preds=fewer, missing="skip")
    assert whole == signed({**WEIGHTS, "c": 7.0}, preds=fewer, missing="skip")
    assert whole == signed(WEIGHTS)  # "c" weighs nothing
    assert whole != signed({**WEIGHTS, "c": 7.0})


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


def test_scoring_again_says_that_weights_differ():
    text = signature(WEIGHTS)
    assert semmetrics.rescore(text, PREDS, TRUTH, weights=WEIGHTS).differences == []
    other = {**WEIGHTS, "b": 1.0}
    (line,) = semmetrics.rescore(text, PREDS, TRUTH, weights=other).differences
    assert line.startswith("the sample weights differ from the signature's: weights:")
