"""Published values of systems, compared by the tests of scipy, and ranked."""

import itertools
from fractions import Fraction

import pytest
from click.testing import CliRunner
from refusals import refused
from scipy import stats
from tables import write_table

import semmetrics
from semmetrics.cli.app import program
from semmetrics.scoring.runs import draw_runs
from semmetrics.studies import compare_values
from semmetrics.studies.ranks import rank_systems
from semmetrics.studies.values import draw_values

VALUES = {
    "SUN": {"A": 0.7, "B": 0.6, "C": 0.65},
    "CUB": {"A": 0.8, "B": 0.9, "C": 0.85},
    "AWA": {"A": 0.5, "B": 0.45, "C": 0.52},
    "aPY": {"A": 0.4, "B": 0.38},
    "INet": {"A": 0.3, "B": 0.2, "C": 0.1},
}
TABLE = [{"data": name, **values} for name, values in VALUES.items()]


def permutation_p(gains):
    """Return p of the permutation test of scipy."""
    options = {"permutation_type": "samples", "vectorized": False}
    return stats.permutation_test((gains,), sum, **options).pvalue


@pytest.mark.parametrize(
    ("test", "p_of_gains"),
    [
        ("t", lambda gains: stats.ttest_1samp(gains, 0).pvalue),
        ("wilcoxon", lambda gains: stats.wilcoxon(gains).pvalue),
        ("randomization", permutation_p),
    ],
)
def test_p_of_each_pair_of_systems_equals_scipy(test, p_of_gains):
    rows = compare_values(VALUES, test=test)

    assert [row["system"] + row["baseline"] for row in rows] == ["BA", "CA", "CB"]
    for row in rows:
        gains = []
        for values in VALUES.values():
            if row["system"] in values:  # every dataset has A and B
                gains.append(values[row["system"]] - values[row["baseline"]])
        interval = stats.ttest_1samp(gains, 0).confidence_interval()
        assert row["p"] == pytest.approx(p_of_gains(gains))
        assert row["n"] == row["wins"] + row["ties"] + row["losses"] == len(gains)
        assert row["difference"] == pytest.approx(sum(gains) / len(gains))
        assert (row["low"], row["high"]) == pytest.approx(tuple(interval))


def exact_p(gains):
    """Return p of all ways to flip the signs of gains, in fractions."""
    total = sum(gains)
    n_at_least = 0
    n_at_most = 0
    for signs in itertools.product((1, -1), repeat=len(gains)):
        flipped_total = sum(map(Fraction.__mul__, map(Fraction, signs), gains))
        n_at_least += flipped_total >= total
        n_at_most += flipped_total <= total
    return min(1.0, 2 * min(n_at_least, n_at_most) / 2 ** len(gains))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("0.4 0.3 0.8 0.5 0.4 0.4 0.6", "0.5 0.1 0.7 0.7 0.9 0.7 -0.2"),
        ("0.4 0.2 0.8 0.5 0.1 0.5 0.8 0.3", "0.8 0.3 0.6 0.0 0.1 0.5 0.7 0.6"),
        ("70.1 70.4 70.2 69.8", "70.2 70.6 69.9 69.8"),
        ("0.5 0.5 0.5", "0.6 0.7 0.2"),
        ("0.3 0.3", "0.3 0.3"),
    ],
)
def test_sums_of_gains_that_differ_only_by_rounding_are_equal(first, second):
    table = {}
    gains = []
    pairs = zip(first.split(), second.split(), strict=True)
    for number, (a, b) in enumerate(pairs):
        table[str(number)] = {"A": float(a), "B": float(b)}
        gains.append(Fraction(b) - Fraction(a))

    (row,) = compare_values(table, test="randomization")

    assert row["p"] == pytest.approx(exact_p(gains))


FRACTIONS = {"1": {"A": 0.1, "B": 0.9}, "2": {"A": 0.9, "B": 1.0}}
PERCENTAGES = {"1": {"A": 10.0, "B": 90.0}, "2": {"A": 90.0, "B": 100.0}}


@pytest.mark.parametrize(
    ("measure", "values", "limits"),
    [
        ("F1", FRACTIONS, (-1.0, 1.0)),
        ("F1", PERCENTAGES, (-399.717, 489.717)),
        (None, FRACTIONS, (-3.997, 4.897)),
        ("F1", {"1": {"A": 0.1, "B": 0.3}, "2": {"A": 0.1, "B": 0.2}}, (-0.485, 0.785)),
    ],
)
def test_the_interval_is_within_the_largest_gain_of_the_measure(
    measure, values, limits
):
    (row,) = compare_values(values, measure=measure)

    assert (row["low"], row["high"]) == pytest.approx(limits, abs=1e-3)


@pytest.mark.parametrize(
    "values",
    [
        {"x": {"A": 0.5, "B": 0.6}},
        {"x": {"A": 0.5, "B": 0.6}, "y": {"A": 0.5, "B": 0.6}},
    ],
    ids=["one row", "equal gains"],
)
def test_p_and_interval_need_gains_that_differ(values):
    (row,) = compare_values(values)

    assert row["p"] is row["low"] is row["high"] is None
    assert not row["significant"]


def test_one_system_cannot_be_compared():
    with refused("too-few-compared"):
        compare_values({"x": {"A": 0.5}})


def test_a_system_without_values_is_listed(tmp_path):
    text = "data,ours,none,theirs,\nx,,,0.4,\ny,0.5,,0.4,\nz,0.6,,0.4,\n"
    (tmp_path / "v.csv").write_text(text)

    rows = compare_values(tmp_path / "v.csv", baseline="ours")

    assert rows.column("system") == ["none", "theirs"]
    assert rows.column("n") == [0, 2]


# Runs of systems

GTS = {str(number): ["cat"] for number in range(12)}


def save_runs(path, first_size, gts=GTS):
    """Write three runs, which are right for three numbers of items, and return O-F1 of each."""
    runs = {}
    for seed in range(3):
        run = {id_: ["bus"] for id_ in gts}
        for id_ in list(gts)[: first_size + seed * seed]:
            run[id_] = gts[id_]
        runs[f"seed{seed}"] = run
    table = semmetrics.score_systems(runs, gts, measures="F1 O-F1")
    path.write_text(draw_runs(table, "json"))
    return [score.value for score in table if score.heading == "O-F1"]


def test_runs_are_compared_by_seed(tmp_path):
    first = save_runs(tmp_path / "first.json", 2)
    second = save_runs(tmp_path / "second.json", 3)
    systems = {"A": tmp_path / "first.json", "B": tmp_path / "second.json"}

    rows = compare_values(systems, measure="O-F1")

    values = {}
    for seed, (a, b) in enumerate(zip(first, second, strict=True)):
        values[str(seed)] = {"A": a, "B": b}
    assert rows.drop("measure") == compare_values(values).drop("measure")
    assert rows.column("measure") == ["O-F1"]


@pytest.mark.parametrize(
    ("measure", "code"), [(None, "needs-option"), ("Recall", "unknown-name")]
)
def test_the_measure_of_runs_must_be_one_that_they_have(tmp_path, measure, code):
    save_runs(tmp_path / "a.json", 2)
    systems = {"A": tmp_path / "a.json", "B": tmp_path / "a.json"}

    with refused(code):
        compare_values(systems, measure=measure)


def test_runs_on_other_data_cannot_be_compared(tmp_path):
    save_runs(tmp_path / "a.json", 2)
    save_runs(tmp_path / "b.json", 2, gts={**GTS, "0": ["dog"]})
    systems = {"A": tmp_path / "a.json", "B": tmp_path / "b.json"}

    with refused("unlike-runs"):
        compare_values(systems, measure="O-F1")


def test_systems_are_ranked_by_the_means_of_their_runs(tmp_path):
    first = save_runs(tmp_path / "first.json", 2)
    second = save_runs(tmp_path / "second.json", 3)
    files = {"A": tmp_path / "first.json", "B": tmp_path / "second.json"}

    ranked = rank_systems({"coco": files}, "O-F1")

    means = {"A": sum(first) / 3, "B": sum(second) / 3}
    assert ranked.values["coco"] == pytest.approx(means)


# Measures whose lower values are better

ERRORS = {"x": {"A": 0.5, "B": 0.1}, "y": {"A": 0.2, "B": 0.1}}


def test_lower_values_of_an_error_win():
    (row,) = compare_values(ERRORS, measure="HammingLoss")

    assert row["wins"] == 2
    assert row["losses"] == 0
    assert rank_systems(ERRORS, "HammingLoss", by="rank")[0].system == "B"


def test_errors_can_only_be_ranked_by_rank():
    with refused("lower-is-better"):
        rank_systems(ERRORS, "Cardinality error")


def test_another_name_of_a_measure_is_an_error():
    with refused("not-a-measure"):
        compare_values(ERRORS, measure="error of cardinality")


# The command line


def test_the_commands_draw_what_the_functions_return(tmp_path):
    path = str(write_table(tmp_path / "v.csv", TABLE))

    compared = CliRunner().invoke(program, ["compare", "--table", path])
    ranked = CliRunner().invoke(
        program, ["rank", "--by", "rank", "-m", "WMD", "--table", path]
    )

    assert compared.stdout == draw_values(compare_values(VALUES), "table") + "\n"
    assert ranked.stdout == str(rank_systems(path, "WMD", by="rank")) + "\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "--table", "v.csv", "--missing", "skip"],
        ["rank", "--table", "v.csv", "v.csv"],
        ["rank"],
    ],
)
def test_wrong_arguments_of_the_commands_are_an_error(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "v.csv", TABLE)

    assert CliRunner().invoke(program, arguments).exit_code == 2


@pytest.mark.parametrize("files", [["d1/x.json", "d1.json"], ["d1.json", "d1/x.json"]])
def test_scores_and_runs_of_the_same_name_are_an_error(tmp_path, monkeypatch, files):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d1").mkdir()
    save_runs(tmp_path / "d1" / "x.json", 2)
    scores = semmetrics.score({"1": ["a"]}, {"1": ["a"]}, measures="F1")
    (tmp_path / "d1.json").write_text(scores.to_json())

    result = CliRunner().invoke(program, ["rank", "-m", "F1", *files])

    assert result.exit_code == 2
    assert "twice" in result.stderr


def test_rank_reads_runs_and_scores_from_standard_input(tmp_path):
    save_runs(tmp_path / "x.json", 2)
    runs = (tmp_path / "x.json").read_text()
    scores = semmetrics.score({"1": ["a"]}, {"1": ["a"]}, measures="F1").to_json()

    for text in (runs, scores):
        result = CliRunner().invoke(program, ["rank", "-m", "F1", "-"], input=text)

        assert result.exit_code == 0
        assert result.stdout.startswith("system")
