"""pineda2019: O-F1, C-F1 and I-F1, compared with plain Python after every decoding."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import decoding
from oracles import measures as oracle
from refusals import facts, refused

import semmetrics

CLASSES = ["a", "b", "c", "d", "e"]
SCORES = np.array(
    [
        [0.9, 0.5, 0.3, 0.2, 0.0],
        [0.1, 0.2, 0.6, 0.2, 0.1],
        [0.4, 0.4, 0.1, 0.1, 0.0],
        [0.0, 0.1, 0.2, 0.3, 0.4],
    ]
)
REFS = [["a", "c"], ["c"], [], ["d", "e"]]
SIZE_PROBS = np.array(
    [[0.1, 0.2, 0.7], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.5, 0.4]]
)


def score(preds, refs, **options):
    options = {"protocol": "pineda2019", "classes": CLASSES, **options}
    return semmetrics.score(preds, refs, **options)


def values(table):
    return [result.value for result in table]


# ---- sets ---------------------------------------------------------------------------


def test_nothing_predicted_of_nothing_scores_1():
    assert values(score([[], []], [[], []])) == [1.0, 1.0, 1.0, 0.0]


def test_empty_items_and_absent_classes_score_1_among_others():
    overall, per_class, per_image, _ = values(score([[], ["a"]], [[], ["b"]]))

    assert overall == pytest.approx(1e-8, rel=1e-6)
    assert per_class == pytest.approx(3 / 5)
    assert per_image == pytest.approx(1 / 2)


def test_a_prediction_of_nothing_true_scores_slightly_above_0():
    table = score([["a"]], [[]])

    assert 0 < table["I-F1"].value < 1e-7
    assert table["I-F1"].undefined == {}
    assert table["C-F1"].undefined == {"absent": 4}


def test_epsilon_is_part_of_precision_and_recall():
    table = score([["a", "b", "c"]], [["a", "d"]])

    precision = (1 + 1e-8) / (3 + 1e-8)
    recall = (1 + 1e-8) / (2 + 1e-8)
    expected = 2 * precision * recall / (precision + recall)
    assert table["O-F1"].value == pytest.approx(expected, rel=1e-15)
    assert table["I-F1"].value == pytest.approx(expected, rel=1e-15)


def test_a_class_for_the_end_of_a_set_can_be_ignored():
    preds = [["a", "<end>"], ["<end>"]]
    refs = [["a", "<end>"], ["b", "<end>"]]

    table = score(preds, refs, classes=["<end>", "a", "b"], ignore=["<end>"])

    assert values(table) == pytest.approx([2 / 3, 0.5, 0.5, 0.5], abs=1e-7)
    assert "|L:2|" in table["C-F1"].signature


# ---- decoding -----------------------------------------------------------------------


def decode(rule):
    """Return the sets that a rule of the oracle keeps."""
    sets = []
    for row, head in zip(SCORES, SIZE_PROBS, strict=True):
        order = np.argsort(-row, kind="stable")
        size = rule(row[order].tolist(), head.tolist())
        sets.append({CLASSES[code] for code in order[:size]})
    return sets


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (
            {"decode": "cumulative:0.1", "keep_at_least": 2},
            lambda s, h: decoding.cumulative(s, 0.1, 2),
        ),
        (
            {"decode": "cardinality", "first_set_size": 1},
            lambda s, h: decoding.cardinality(s, h, 1),
        ),
        (
            {"decode": "cardinality", "keep_at_least": 2},
            lambda s, h: max(2, decoding.cardinality(s, h)),
        ),
        (
            {"decode": "cardinality+scores:code"},
            lambda s, h: decoding.cardinality_with_scores(s, h, 0, 1),
        ),
        (
            {"decode": "threshold:0.15", "top_k": 2},
            lambda s, h: min(2, decoding.above(s, 0.15)),
        ),
    ],
)
def test_every_decoding_of_scores_equals_the_oracle(options, rule):
    if "cardinality" in options.get("decode", ""):
        options = {**options, "set_size_probs": SIZE_PROBS}
    lists = [list(zip(CLASSES, row, strict=True)) for row in SCORES.tolist()]

    from_matrix = values(score(SCORES, REFS, **options))
    from_lists = values(score(lists, REFS, **options))

    sides = decode(rule), [set(ref) for ref in REFS]
    expected = [
        oracle.score("O-F1", *sides, average="micro", labels=CLASSES),
        oracle.score("C-F1", *sides, average="macro", labels=CLASSES),
        oracle.score("I-F1", *sides, average="example"),
        oracle.score("CardinalityError", *sides, average="example"),
    ]
    assert from_matrix == pytest.approx(expected, abs=1e-12)
    assert from_lists == from_matrix


@pytest.mark.parametrize("rule", ["cardinality", "cardinality+scores"])
@pytest.mark.parametrize(("first_set_size", "errors"), [(0, [0, 0, 1]), (1, [1, 1, 1])])
def test_a_set_size_does_not_depend_on_the_least_number_of_labels(
    rule, first_set_size, errors
):
    preds = [[("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.1)]]
    options = {"measures": "CardinalityError", "decode": rule}
    options |= {"set_size_probs": [[0, 0, 1.0, 0]], "first_set_size": first_set_size}

    for keep_at_least, error in zip([0, 2, 3], errors, strict=True):
        (result,) = semmetrics.score(
            preds, [["a", "b"]], keep_at_least=keep_at_least, **options
        )
        assert result.value == error

        probs = {"set_size_probs": options["set_size_probs"]}
        rescored = semmetrics.rescore(result.signature, preds, [["a", "b"]], **probs)
        assert (rescored[0].value, rescored.differences) == (error, [])


def test_first_set_size_needs_a_rule_of_set_sizes():
    options = {"protocol": None, "measures": "F1", "decode": "threshold:0.5"}

    (fact,) = facts(score(SCORES, REFS, first_set_size=1, **options), "no-effect")

    assert fact.values["option"] == "first_set_size"


@pytest.mark.parametrize("offset", [0, 1])
def test_dirichlet_multiplies_the_probabilities_of_sizes_by_powers(offset):
    def rule(scores, head):
        weighted = [p * 2.36 ** (n + offset) for n, p in enumerate(head)]
        return decoding.cardinality_with_scores(scores, weighted, offset)

    table = score(
        SCORES,
        REFS,
        decode="dirichlet:2.36",
        set_size_probs=SIZE_PROBS,
        first_set_size=offset,
    )

    sides = decode(rule), [set(ref) for ref in REFS]
    expected = oracle.score("O-F1", *sides, average="micro", labels=CLASSES)
    assert table["O-F1"].value == pytest.approx(expected, abs=1e-12)


def test_dirichlet_weighs_a_thousand_set_sizes():
    probs = np.zeros((4, 1001))
    probs[:, 1:4] = 1 / 3

    many = score(SCORES, REFS, decode="dirichlet:2.36", set_size_probs=probs)
    few = score(SCORES, REFS, decode="dirichlet:2.36", set_size_probs=probs[:, :4])

    assert values(many) == values(few)


@pytest.mark.parametrize(
    "options",
    [
        {"decode": "dirichlet:0"},
        {"decode": "dirichlet"},
        {"decode": "dirichlet:inf"},
        {"decode": "cardinality", "first_set_size": -1},
    ],
)
def test_invalid_options_of_set_sizes_are_errors(options):
    with refused("bad-option"):
        score(SCORES, REFS, set_size_probs=SIZE_PROBS, **options)
