"""pineda2019: O-F1, C-F1 and I-F1 against plain Python, from every decoding."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import decoding
from oracles import measures as oracle
from refusals import facts, refused

import semmetrics

CLASSES = list("abcde")
HEADINGS = ["O-F1", "C-F1", "I-F1", "Cardinality error"]
SCORES = np.array(
    [
        [0.9, 0.5, 0.3, 0.2, 0.0],
        [0.1, 0.2, 0.6, 0.2, 0.1],
        [0.4, 0.4, 0.1, 0.1, 0.0],
        [0.0, 0.1, 0.2, 0.3, 0.4],
    ]
)
REFS = [["a", "c"], ["c"], [], ["d", "e"]]
HEADS = np.array([[0.1, 0.2, 0.7], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.5, 0.4]])


def expected(preds, refs):
    """The four numbers, as the released code computes them."""
    return [
        oracle.score("O-F1", preds, refs, average="micro", labels=CLASSES),
        oracle.score("C-F1", preds, refs, average="macro", labels=CLASSES),
        oracle.score("I-F1", preds, refs, average="example"),
        oracle.score("CardinalityError", preds, refs, average="example"),
    ]


def values(preds, refs, **options):
    table = semmetrics.score(
        preds, refs, protocol="pineda2019", classes=CLASSES, **options
    )
    assert [heading.partition("@")[0] for heading in table.headings] == HEADINGS
    return [score.value for score in table]


def test_nothing_predicted_and_nothing_true_scores_one():
    assert values([[], []], [[], []]) == [1.0, 1.0, 1.0, 0.0]
    # an empty image among others, and classes absent on both sides
    overall, per_class, per_image, _ = values([[], ["a"]], [[], ["b"]])
    assert overall == pytest.approx(1e-8, rel=1e-6)
    assert per_image == pytest.approx(0.5)
    assert per_class == pytest.approx(3 / 5)
    # nothing true, something predicted: eps keeps it above 0, and no 0/0 arises
    table = semmetrics.score([["a"]], [[]], protocol="pineda2019", classes=CLASSES)
    assert 0 < table["I-F1"].value < 1e-7
    assert table["I-F1"].undefined == {}
    # of five classes; each of them counts as 1
    assert table["C-F1"].undefined == {"absent": 4}


def test_eps_is_in_precision_and_recall_and_not_in_f1():
    precision, recall = (1 + 1e-8) / (3 + 1e-8), (1 + 1e-8) / (2 + 1e-8)
    exact = 2 * precision * recall / (precision + recall)
    got = values([["a", "b", "c"]], [["a", "d"]])
    assert got[0] == got[2] == pytest.approx(exact, rel=1e-15)
    assert got[0] != 0.4


def test_the_end_of_set_class_is_left_out():
    preds, refs = [["a", "<end>"], ["<end>"]], [["a", "<end>"], ["b", "<end>"]]
    table = semmetrics.score(
        preds,
        refs,
        protocol="pineda2019",
        classes=["<end>", "a", "b"],
        ignore=["<end>"],
    )
    assert [s.value for s in table] == pytest.approx([2 / 3, 0.5, 0.5, 0.5], abs=1e-7)
    assert "|L:2|" in table["C-F1"].signature


def decoded(rule):
    """Sets from the scores, by the oracle of the rule."""
    result = []
    for row, head in zip(SCORES, HEADS, strict=True):
        order = np.argsort(-row, kind="stable")
        ranked = row[order].tolist()
        result.append({CLASSES[c] for c in order[: rule(ranked, head.tolist())]})
    return result


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"decode": "threshold:0.2"}, lambda s, h: decoding.above(s, 0.2)),
        (
            {"decode": "threshold:0.5", "keep_at_least": 1},
            lambda s, h: decoding.above(s, 0.5, 1),
        ),
        ({"decode": "cumulative:0.5"}, lambda s, h: decoding.cumulative(s, 0.5)),
        (
            {"decode": "cumulative:0.1", "keep_at_least": 2},
            lambda s, h: decoding.cumulative(s, 0.1, 2),
        ),
        ({"decode": "cardinality"}, decoding.cardinality),
        (
            {"decode": "cardinality", "first_set_size": 1},
            lambda s, h: decoding.cardinality(s, h, 1),
        ),
        (
            {"decode": "cardinality", "keep_at_least": 2},
            lambda s, h: max(2, decoding.cardinality(s, h)),
        ),
        ({"decode": "cardinality+scores"}, decoding.cardinality_with_scores),
        (
            {"decode": "cardinality+scores", "first_set_size": 1},
            lambda s, h: decoding.cardinality_with_scores(s, h, 1),
        ),
        (
            {"decode": "cardinality+scores:code"},
            lambda s, h: decoding.cardinality_with_scores(s, h, 0, 1),
        ),
        (
            {"decode": "cardinality+scores:code", "first_set_size": 1},
            lambda s, h: decoding.cardinality_with_scores(s, h, 1),
        ),
        ({"top_k": 2}, lambda s, h: 2),
        (
            {"decode": "threshold:0.15", "top_k": 2},
            lambda s, h: min(2, decoding.above(s, 0.15)),
        ),
    ],
)
def test_from_scores_through_each_decoding(options, rule):
    want = expected(decoded(rule), [set(r) for r in REFS])
    if "cardinality" in options.get("decode", ""):
        options = {**options, "set_size_probs": HEADS}
    found = values(SCORES, REFS, **options)
    assert found == pytest.approx(want, abs=1e-12)
    # label lists with scores are decoded as a matrix is; labels without a score cannot be kept
    lists = [
        [(c, float(s)) for c, s in zip(CLASSES, row, strict=True)] for row in SCORES
    ]
    assert values(lists, REFS, **options) == found


@pytest.mark.parametrize("rule", ["cardinality", "cardinality+scores"])
def test_a_column_of_the_head_means_one_size_whatever_is_kept(rule):
    preds, refs = [[("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.1)]], [["a", "b"]]
    head = [[0, 0, 1.0, 0]]

    def error(**options):
        table = semmetrics.score(
            preds,
            refs,
            measures="CardinalityError",
            decode=rule,
            set_size_probs=head,
            **options,
        )
        assert (":1|" in table[0].signature.partition("firstsize")[2]) == bool(
            options.get("first_set_size")
        )
        again = semmetrics.rescore(table[0].signature, preds, refs, set_size_probs=head)
        assert (again[0].value, again.differences) == (table[0].value, [])
        return table[0].value

    assert [error(keep_at_least=n) for n in range(5)] == [0, 0, 0, 1, 2]
    assert [error(keep_at_least=n, first_set_size=1) for n in range(5)] == [
        1,
        1,
        1,
        1,
        2,
    ]


def test_what_first_set_size_takes():
    table = semmetrics.score(
        SCORES,
        REFS,
        classes=CLASSES,
        measures="F1",
        first_set_size=1,
        decode="threshold:0.5",
    )
    assert [fact.values["option"] for fact in facts(table, "no-effect")] == [
        "first_set_size"
    ]
    with refused("bad-option"):
        semmetrics.score(
            SCORES,
            REFS,
            classes=CLASSES,
            measures="F1",
            first_set_size=-1,
            decode="cardinality",
            set_size_probs=HEADS,
        )


@pytest.mark.parametrize(
    ("policy", "threshold", "value"),
    [("0", 0.1, 0.4), ("1", 0.5, 0.8), ("skip", 0.5, 0.5)],
)
def test_the_best_threshold_depends_on_what_an_empty_item_is_worth(
    policy, threshold, value
):
    preds = [[("a", 0.9)], [("b", 0.4)], *[[("c", 0.5), ("c", 0.1)]] * 3]
    refs = [["a"], ["b"], [], [], []]
    text = f"F1(empty={policy},decode=threshold:best)"
    found = semmetrics.score(preds, refs, measures=[text]).scores[0]
    assert found.value == pytest.approx(value)
    best = float(str(found.measure["decode"]).removeprefix("threshold:"))
    assert (best >= 0.5) == (threshold >= 0.5)


@pytest.mark.parametrize("offset", [0, 1])
def test_the_dirichlet_categorical_cardinality(offset):
    heads = [[p * 2.36 ** (n + offset) for n, p in enumerate(row)] for row in HEADS]
    shared = {
        "classes": CLASSES,
        "measures": "O-F1 CardinalityError",
        "first_set_size": offset,
    }
    mine = semmetrics.score(
        SCORES, REFS, decode="dirichlet:2.36", set_size_probs=HEADS, **shared
    )
    sets = [
        [CLASSES[place] for place in np.argsort(-row, kind="stable")[:size]]
        for row, head in zip(SCORES, heads, strict=True)
        for size in [
            decoding.cardinality_with_scores(sorted(row, reverse=True), head, offset)
        ]
    ]
    assert (
        mine[0].value
        == semmetrics.score(sets, REFS, classes=CLASSES, measures="O-F1")[0].value
    )
    for rule in ("dirichlet:0", "dirichlet", "dirichlet:inf"):
        with refused("bad-option"):
            semmetrics.score(SCORES, REFS, decode=rule, set_size_probs=HEADS, **shared)


def test_dirichlet_takes_many_set_sizes():
    heads = np.zeros((len(SCORES), 1001))
    heads[:, 1:4] = 1 / 3
    found = [
        semmetrics.score(
            SCORES,
            REFS,
            classes=CLASSES,
            measures="O-F1",
            set_size_probs=head,
            decode="dirichlet:2.36",
        )[0].value
        for head in (heads, heads[:, :4])
    ]
    assert found[0] == found[1]
