"""Comparisons as sentences and as tables with marks of significance."""

import re

from paired_systems import label_systems

from semmetrics import compare


def test_sentences_group_measures_and_pairs_with_the_same_verdict():
    systems, gts = label_systems(40, 3, (0.0, 0.25, 0.28))
    systems["d"] = {item: [*labels, "z"] for item, labels in systems["b"].items()}

    table = compare(systems, gts, measures="Precision Recall", resamples=99)

    *lines, _ = table.sentences()
    assert "(p at most 0." in lines[0]
    assert "(p at least 0." in lines[4]
    assert [re.sub(r" \(p [^)]*\)", "", line) for line in lines] == [
        "b is better than a and d in Precision; better than a in Recall",
        "c is better than a and d in Precision; better than a in Recall",
        "d is better than a in Recall",
        "d and b have the same value in Recall, also if any image is left out",
        "no significant difference between c and b or d and a in Precision",
        "no significant difference between c and b or d and c in Recall",
    ]


def test_scores_are_marked_with_the_systems_that_are_worse():
    systems, gts = label_systems(200, 3, (0.0, 0.15, 0.18))
    systems = {"a": systems["a"], "b_<": systems["b"], "c": systems["c"]}

    table = compare(systems, gts, measures="F1 HammingLoss", resamples=200)

    rows = table.to_markdown().split("\n")
    assert rows[0] == "| # | system | F1 | HammingLoss |"
    assert rows[2] == "| a | a | 0.7267 | 0.1675 |"
    assert rows[3].endswith(
        "| b_&lt; | **0.8628**<sup>a</sup> | **0.0883**<sup>a</sup> |"
    )
    assert "by Holm for 6 comparisons" in rows[6]
    latex = table.to_latex(scale=100, digits=1)
    assert r"b & b\_\textless{} & \textbf{86.3}$^{a}$ & \textbf{8.8}$^{a}$" in latex
    assert "<strong>0.8628</strong><sup>a</sup>" in table.render("html")


def test_scores_are_only_marked_for_pairs_that_were_compared():
    systems, gts = label_systems(200, 3, (0.0, 0.15, 0.18))

    table = compare(systems, gts, measures="F1", resamples=200, baseline="b")

    assert table.to_markdown().count("<sup>") == 1


def test_too_few_items_for_any_significant_difference_are_reported():
    systems, gts = label_systems(5, 0, (0.0, 0.4, 0.0))

    table = compare(systems, gts, measures="F1", test="randomization", resamples=100)

    line = table.sentences()[-1]
    assert line.startswith("no difference can be significant")
    assert "at least 0.1875" in line  # 2 / 2**5 for each of three pairs


def test_measures_that_few_items_decide_are_reported():
    gts = {str(i): ["cat"] for i in range(60)}
    nothing = {item: [] for item in gts}
    halves = {str(i): ["cat"] if i % 2 else ["dog"] for i in range(6)}
    thirds = {str(i): ["cat"] if i % 3 else ["dog"] for i in range(6)}
    systems = {"x": {**nothing, **halves}, "y": {**nothing, **thirds}}

    table = compare(systems, gts, measures="MicroPrecision F1")

    assert "a few images decide MicroPrecision: " in table.sentences()[-1]
