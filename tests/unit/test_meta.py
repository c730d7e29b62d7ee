"""Agreement of measures with human judgements: values, intervals, tests and groups."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from judged import F1, GTS, PREDS, RATINGS, agreements
from oracles import agreement as oracle
from refusals import codes, facts, refused
from tables import write_table

import semmetrics
from benchmarks.agreement import simulate
from semmetrics.cli.app import program
from semmetrics.errors import Fact

FEW = {"resamples": 20}


def meta(ratings, preds=PREDS, gts=GTS, *, measures="F1", **options):
    return semmetrics.meta(ratings, preds, gts, measures=measures, **FEW | options)


# ---- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aggregate", "judged"),
    [
        ("none", [(row["id"], row["rating"]) for row in RATINGS]),
        ("mean", [("a", 3.5), ("b", 4), ("c", 1.5), ("d", 1), ("e", 1)]),
    ],
)
def test_statistics_of_ratings_equal_plain_python(aggregate, judged):
    table = meta(RATINGS, aggregate=aggregate)

    scores = [F1[name] for name, _ in judged]
    ratings = [rating for _, rating in judged]
    assert {row.statistic for row in table} == set(oracle.STATISTICS)
    for row in table:
        expected = oracle.STATISTICS[row.statistic](scores, ratings)
        assert row.value == pytest.approx(expected, abs=1e-12)
        assert (row.n, row.images, row.lacking) == (len(judged), 5, 0)
        assert f"|agg:{aggregate}|ratings:{len(judged)}|images:5|" in row.signature


def test_the_mean_of_ratings_does_not_depend_on_their_order():
    ratings = []
    for name, values in (("a", (0.1, 0.2, 0.3)), ("b", (0.3, 0.2, 0.1)), ("c", (0.1,))):
        ratings += [{"id": name, "rating": value} for value in values]

    table = meta(ratings, aggregate="mean")
    from_reversed = meta(ratings[::-1], aggregate="mean")

    assert agreements(table) == agreements(from_reversed)
    assert table["F1"].n == 3


@pytest.mark.parametrize("image", [{}, {"image": "i"}])
def test_a_pair_is_the_same_with_its_sides_swapped(image):
    ratings = [
        {"a": "c", "b": "d", "preferred": "a", "rater": "x", **image},
        {"a": "d", "b": "c", "preferred": "b", "rater": "y", **image},
        {"a": "d", "b": "c", "preferred": "a", "rater": "z", **image},
    ]

    (row,) = meta(ratings, aggregate="mean")
    (tie,) = meta(ratings[1:], aggregate="mean")

    assert (row.n, row.images, row.value) == (1, 1, 1.0)
    assert (tie.n, tie.lacking) == (0, 1)


# ---- intervals and tests ------------------------------------------------------------------------


def test_a_resample_draws_images_with_all_of_their_ratings():
    ratings = []
    for image in range(6):
        for caption, rating in (
            ("a dog runs", 3 + image % 2),
            ("a cat runs", image % 3),
        ):
            row = {"caption": caption, "references": ["a dog runs"], "rating": rating}
            ratings.append({**row, "image": str(image)})
    scores = [1.0, 2 / 3] * 6
    rng = np.random.default_rng(0)
    resampled = []
    for _ in range(400):
        rows = []
        for image in rng.integers(0, 6, 6):
            rows += [2 * image, 2 * image + 1]
        values = [ratings[row]["rating"] for row in rows]
        resampled.append(oracle.tau_b([scores[row] for row in rows], values))

    (row,) = semmetrics.meta(
        ratings, measures="BLEU-1", statistics="kendall-b", resamples=400
    )

    low, high = np.quantile(resampled, [0.025, 0.975])
    assert (row.low, row.high) == pytest.approx((low, high), abs=0.03)


def test_measures_are_compared_with_the_baseline():
    table = meta(
        RATINGS,
        measures="Recall Precision F1",
        baseline="F1",
        statistics="pearson,kendall-b",
        resamples=200,
    )

    compared = [row for row in table if row.heading != "F1"]
    for row in compared:
        baseline = table["F1", row.statistic]
        assert row.comparisons == 4
        assert row.difference == pytest.approx(row.value - baseline.value)
        assert row.difference_low <= row.difference <= row.difference_high
        assert row.p <= row.p_corrected <= 1


@pytest.mark.parametrize("test", ["bootstrap", "williams"])
def test_measures_with_the_same_values_do_not_differ(test):
    table = meta(RATINGS, measures="F1 F1(empty=skip)", test=test)

    assert table["F1(empty=skip)", "pearson"].p == 1


def test_a_p_equal_to_the_level_is_not_significant():
    """1 - 0.95 is above 0.05 by rounding."""
    row = meta(RATINGS, measures="F1 Recall")["Recall", "pearson"]

    assert not replace(row, p_corrected=0.05).significant
    assert replace(row, p_corrected=0.0499).significant


def test_williams_test_is_only_for_pearson():
    table = meta(RATINGS, measures="F1 Recall", test="williams")

    assert [row.statistic for row in table] == ["pearson", "pearson"]
    assert 0 < table["Recall"].p < 1
    (fact,) = facts(table, "dependent-judgements")
    assert fact.n == 8


def test_intervals_and_tests_are_right_in_a_simulation():
    """Shares within four standard errors of those in benchmarks/AGREEMENT.md."""
    results = simulate(30, 1, 1, trials=60, resamples=200, seed=3)

    for statistic, coverage, false_positives, williams in results:
        assert coverage > 0.93 - 4 * math.sqrt(0.93 * 0.07 / 60)
        assert false_positives < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 60)
        assert math.isnan(williams) == (statistic != "pearson")


# ---- undefined values ---------------------------------------------------------------------------


def test_equal_ratings_have_no_agreement():
    flat = [{**row, "rating": 3} for row in RATINGS]

    table = meta(flat, measures="F1 Recall")

    assert all(math.isnan(row.value) for row in table)
    assert table.to_records()[0]["value"] is None
    assert Fact("constant-ratings", where="ratings") in table.facts


def test_one_image_has_no_interval_and_no_p():
    ratings = [{**row, "image": "all"} for row in RATINGS]

    table = meta(ratings, measures="F1 Recall")

    assert all(math.isnan(row.low) and math.isnan(row.p) for row in table)
    assert "one-image" in codes(table)


def test_judgements_of_items_without_a_value_are_left_out():
    preds = {**PREDS, "a": []}

    table = meta(RATINGS, preds, measures="Precision(no_prediction=skip)")

    assert (table[0].n, table[0].lacking) == (6, 2)
    (fact,) = facts(table, "unjudged")
    assert fact.n == 2


# ---- groups -------------------------------------------------------------------------------------


def test_each_group_has_the_agreement_of_its_ratings():
    table = meta(RATINGS, statistics="kendall-b", group_by="rater")

    assert {row.group: row.n for row in table} == {"all": 8, "x": 4, "y": 4}
    group = [row for row in RATINGS if row["rater"] == "y"]
    scores = [F1[row["id"]] for row in group]
    expected = oracle.tau_b(scores, [row["rating"] for row in group])
    assert table["F1", "kendall-b", "y"].value == pytest.approx(expected)
    with pytest.raises(KeyError):
        table["F1", "kendall-b", "z"]


@pytest.mark.parametrize("n_in_group", [3, 2, 1])
def test_a_group_that_is_too_small_for_williams_test_has_no_p(n_in_group):
    ratings = [{**row, "rating": place} for place, row in enumerate(RATINGS)]
    large_group = [row for row in ratings if row["rater"] == "x"]
    small_group = [row for row in ratings if row["rater"] == "y"][:n_in_group]
    ratings = large_group + small_group
    options = {"measures": "F1 Precision", "test": "williams"}

    table = meta(ratings, group_by="rater", **options)

    whole = table["Precision", "pearson", "all"]
    small = table["Precision", "pearson", "y"]
    assert math.isnan(small.p_corrected)
    assert whole.comparisons == 2
    assert whole.p == meta(ratings, **options)["Precision"].p
    assert ("untested-group" in codes(table)) == (n_in_group == 3)
    assert ("one-image" in codes(table)) == (n_in_group == 1)


# ---- several systems ----------------------------------------------------------------------------


SYSTEMS = {"new": PREDS, "old": {**GTS, "a": ["cow"], "c": ["bus"]}}


def ratings_of_systems():
    """Return ratings of two systems. The second has higher ratings by 1."""
    ratings = []
    for row in RATINGS:
        item = row["id"]
        ratings.append({"item": item, "system": "new", "rating": row["rating"]})
        ratings.append({"item": item, "system": "old", "rating": row["rating"] + 1})
    return ratings


RATED = ratings_of_systems()


def test_ratings_of_systems_are_ratings_of_their_predictions():
    preds = {}
    for name, items in SYSTEMS.items():
        for key, labels in items.items():
            preds[f"{name}/{key}"] = labels
    pairs = []
    for row in RATED:
        candidate = f"{row['system']}/{row['item']}"
        pair = {"candidate": candidate, "reference": row["item"]}
        pairs.append({**pair, "rating": row["rating"]})

    table = meta(RATED, None, systems=SYSTEMS, group_by="system")

    assert table.groups == ["all", "new", "old"]
    assert agreements(meta(pairs, preds)).items() <= agreements(table).items()


def test_a_note_reports_a_column_of_systems_that_is_not_used():
    table = meta(RATED[:8])

    (fact,) = facts(table, "unused-judged-columns")
    assert fact.examples == ("system",)


def test_predictions_and_systems_together_raise_an_error():
    with refused("conflicting-options"):
        meta(RATED, systems=SYSTEMS)


@pytest.mark.parametrize(
    ("rows", "systems", "code"),
    [
        (RATINGS, SYSTEMS, "missing-column"),
        (RATED, {"new": PREDS}, "unmatched-ids"),
        ([{**RATED[0], "rating": "good"}], SYSTEMS, "not-a-number"),
        (GTS, SYSTEMS, "not-judged"),
    ],
)
def test_ratings_that_do_not_fit_the_systems_raise_an_error(rows, systems, code):
    with refused(code):
        meta(rows, None, systems=systems)


def test_the_program_reads_the_files_of_several_systems(tmp_path):
    ratings = write_table(tmp_path / "ratings.csv", RATED)
    gt = write_table(tmp_path / "gt.json", GTS)
    systems = []
    for name, side in SYSTEMS.items():
        path = write_table(tmp_path / f"{name}.json", side)
        systems.append(f"{name}={path}")
    options = ["-m", "F1", "--format", "json", "--resamples", "20"]

    result = CliRunner().invoke(
        program, ["meta", *options, str(ratings), *systems, str(gt)]
    )

    entries = json.loads(result.stdout)["agreements"]
    table = meta(RATED, None, systems=SYSTEMS)
    assert [entry["value"] for entry in entries] == [row.value for row in table]
