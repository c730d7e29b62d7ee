"""Numbers that papers print, compared and ranked: forms of tables, tests, runs of systems."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from refusals import refused
from scipy import stats
from tables import write_table

import semmetrics
from semmetrics.cli.app import program
from semmetrics.scoring.runs import draw_runs
from semmetrics.studies import compare_values, read_values
from semmetrics.studies.ranks import rank_systems
from semmetrics.studies.values import draw_values

VALUES = {
    "SUN": {"A": 0.7, "B": 0.6, "C": 0.65},
    "CUB": {"A": 0.8, "B": 0.9, "C": 0.85},
    "AWA": {"A": 0.5, "B": 0.45, "C": 0.52},
    "aPY": {"A": 0.4, "B": 0.38},
    "INet": {"A": 0.3, "B": 0.2, "C": 0.1},
}
LONG = [
    {"dataset": row, "system": system, "value": value}
    for row, cells in VALUES.items()
    for system, value in cells.items()
]


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.json", "v.jsonl", "frame"])
@pytest.mark.parametrize("wide", [True, False])
def test_every_form_of_a_table(tmp_path, name, wide):
    rows = [{"data": row, **VALUES[row]} for row in VALUES] if wide else LONG
    given = (
        pd.DataFrame(rows) if name == "frame" else write_table(tmp_path / name, rows)
    )
    assert read_values(given) == read_values(VALUES) == VALUES


@pytest.mark.parametrize(
    ("test", "p"),
    [
        ("t", lambda gains: stats.ttest_1samp(gains, 0).pvalue),
        ("wilcoxon", lambda gains: stats.wilcoxon(gains).pvalue),
        (
            "randomization",
            lambda gains: (
                stats.permutation_test(
                    (gains,), sum, permutation_type="samples", vectorized=False
                ).pvalue
            ),
        ),
    ],
)
def test_gains_are_tested_as_scipy_does(test, p):
    found = compare_values(VALUES, test=test)
    assert [one["system"] + one["baseline"] for one in found] == ["BA", "CA", "CB"]
    assert "gains over the baseline of each row" in draw_values(found, "table")
    for one in found:
        rows = [
            row for row in VALUES.values() if {one["system"], one["baseline"]} <= {*row}
        ]
        gains = [row[one["system"]] - row[one["baseline"]] for row in rows]
        assert one["p"] == pytest.approx(p(gains))
        assert one["difference"] == pytest.approx(sum(gains) / len(gains))
        assert one["std"] == pytest.approx(
            pd.Series([row[one["system"]] for row in rows]).std()
        )
        ends = stats.ttest_1samp(gains, 0).confidence_interval()
        assert (one["low"], one["high"]) == pytest.approx(tuple(ends))
        assert (one["wins"] + one["ties"] + one["losses"], one["n"]) == (
            len(rows),
            len(rows),
        )


def exact_p(gains):
    """p of random signs, in fractions."""
    signs = list(itertools.product((1, -1), repeat=len(gains)))
    means = [
        sum(sign * gain for sign, gain in zip(row, gains, strict=True)) for row in signs
    ]
    at_least = sum(mean >= sum(gains) for mean in means)
    at_most = sum(mean <= sum(gains) for mean in means)
    return min(1.0, 2 * min(at_least, at_most) / len(means))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("0.4 0.3 0.8 0.5 0.4 0.4 0.6", "0.5 0.1 0.7 0.7 0.9 0.7 -0.2"),
        ("0.9 0.3 0.3 0.7 0.5 0.5 0.1 0.1", "0.1 0.8 0.7 0.4 0.0 0.8 0.6 0.0"),
        ("0.4 0.2 0.8 0.5 0.1 0.5 0.8 0.3", "0.8 0.3 0.6 0.0 0.1 0.5 0.7 0.6"),
        ("70.1 70.4 70.2 69.8", "70.2 70.6 69.9 69.8"),
        ("0.5 0.5 0.5", "0.6 0.7 0.2"),
        ("0.5 0.5 0.5", "0.6 0.7 0.8"),
        ("0.3 0.3", "0.3 0.3"),
    ],
)
def test_ties_are_counted_although_sums_are_rounded(first, second):
    first, second = first.split(), second.split()
    table = {
        str(row): {"A": float(a), "B": float(b)}
        for row, (a, b) in enumerate(zip(first, second, strict=True))
    }
    (one,) = compare_values(table, test="randomization")
    gains = [Fraction(b) - Fraction(a) for a, b in zip(first, second, strict=True)]
    assert one["p"] == pytest.approx(exact_p(gains))


@pytest.mark.parametrize(
    ("measure", "values", "limits"),
    [
        ("F1", {"1": {"A": 0.1, "B": 0.9}, "2": {"A": 0.9, "B": 1.0}}, (-1.0, 1.0)),
        (
            "MicroF1",
            {"1": {"A": 0.1, "B": 0.9}, "2": {"A": 0.9, "B": 1.0}},
            (-1.0, 1.0),
        ),
        (
            "F1",
            {"1": {"A": 10.0, "B": 90.0}, "2": {"A": 90.0, "B": 100.0}},
            (-399.717, 489.717),
        ),
        (None, {"1": {"A": 0.1, "B": 0.9}, "2": {"A": 0.9, "B": 1.0}}, (-3.997, 4.897)),
        (
            "MeanR",
            {"1": {"A": 1.0, "B": 9.0}, "2": {"A": 9.0, "B": 10.0}},
            (-39.972, 48.972),
        ),
        ("F1", {"1": {"A": 0.1, "B": 0.3}, "2": {"A": 0.1, "B": 0.2}}, (-0.485, 0.785)),
    ],
)
def test_limits_stay_within_the_gains_that_a_measure_allows(measure, values, limits):
    (one,) = compare_values(values, measure=measure)
    assert (one["low"], one["high"]) == pytest.approx(limits, abs=1e-3)


def test_what_cannot_be_tested_has_no_p():
    found = compare_values(
        {"x": {"A": 0.5, "B": 0.6}, "y": {"A": 0.5, "B": 0.6, "C": 0.1}}
    )
    assert [one["p"] for one in found] == [None] * 3
    assert not any(one["significant"] for one in found)


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([*LONG, LONG[0]], "duplicate"),
        ([{"data": "SUN", "A": 0.1}, {"data": "SUN", "A": 0.2}], "duplicate"),
        ([{"data": "SUN", "A": 1e200, "B": 0.1}], "not-finite"),
        ([{}], "wrong-type"),
        ([{"data": "SUN", "A": "high"}], "not-a-number"),
        ([{"data": "SUN", "A": 0.5}], "too-few-compared"),
        (["SUN"], "wrong-type"),
    ],
)
def test_tables_that_are_refused(tmp_path, rows, code):
    with refused(code):
        compare_values(write_table(tmp_path / "v.json", rows))


def runs(folder, name, shift):
    gts = {str(n): ["cat", "dog"] if n % 2 else ["cow"] for n in range(12)}
    preds = {
        f"seed{s}": {i: gts[i] if int(i) % (3 + s + shift) else ["bus"] for i in gts}
        for s in range(3)
    }
    for part, side in {**preds, "gt": gts}.items():
        (folder / f"{name}.{part}.json").write_text(json.dumps(side))
    files = [str(folder / f"{name}.{part}.json") for part in (*preds, "gt")]
    path = folder / f"{name}.json"
    given = [
        "score",
        "-q",
        "--runs",
        "-m",
        "F1 O-F1",
        "--format",
        "json",
        "-o",
        str(path),
        *files,
    ]
    assert CliRunner().invoke(program, given).exit_code == 0
    tables = [
        semmetrics.score(side, gts, measures="O-F1")[0].value for side in preds.values()
    ]
    return path, tables


def test_runs_are_compared_by_seed_and_ranked_by_their_means(tmp_path):
    sets = {name: tmp_path / name for name in ("voc", "coco")}
    files, values, names = [], {}, ("bce", "lstm")
    for shift, folder in enumerate(sets.values()):
        folder.mkdir()
        for name in names:
            path, several = runs(folder, name, shift + (name == "lstm"))
            files.append(str(path))
            values.setdefault(folder.name, {})[name] = several
    made = compare_values(dict(zip(names, files, strict=False)), measure="O-F1")
    rows = [
        dict(zip(names, row, strict=True))
        for row in zip(*values["voc"].values(), strict=True)
    ]
    same = compare_values({str(n): row for n, row in enumerate(rows)})
    assert made.drop("measure") == same.drop("measure")
    assert made.column("measure") == ["O-F1"]
    means = {
        row: {s: sum(v) / len(v) for s, v in of.items()} for row, of in values.items()
    }
    ranked = rank_systems(
        {row: {s: sets[row] / f"{s}.json" for s in of} for row, of in values.items()}
    )
    for row, of in means.items():
        assert ranked.values[row] == pytest.approx(of)
    done = CliRunner().invoke(program, ["rank", *files])
    assert done.stdout == str(ranked) + "\n"
    with refused("needs-option"):
        compare_values(dict(zip(names, files, strict=False)))
    with refused("unknown-name"):
        compare_values(dict(zip(names, files, strict=False)), measure="Recall")
    # as a list they are read, too
    entries = json.loads(Path(files[1]).read_text())["summaries"]
    for change in ("fewer", "data", "measure"):
        for one in entries:
            if change == "fewer":
                one["runs"].pop()
            elif change == "data":
                one["runs"][0]["signature"] = "data:other"
        other = tmp_path / "other.json"
        other.write_text(json.dumps(entries if change != "measure" else entries[:1]))
        with refused("unknown-name" if change == "measure" else "unlike-runs"):
            compare_values({"bce": files[0], "lstm": other}, measure="O-F1")


def test_lower_may_be_better(tmp_path):
    gts = {"1": ["a", "b"], "2": ["a"]}
    sides = {
        "good": [gts, gts],
        "bad": [{"1": ["a"], "2": ["b", "c"]}, {"1": [], "2": ["c", "b"]}],
    }
    files = {}
    for name, several in sides.items():
        table = semmetrics.score_systems(
            {f"{name}{n}": side for n, side in enumerate(several)},
            gts,
            protocol="pineda2019",
            classes=["a", "b", "c"],
        )
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(draw_runs(table, "json"))
    (found,) = compare_values(
        dict(reversed(files.items())), measure="Cardinality error"
    )
    assert (found["wins"], found["losses"], found["measure"]) == (
        2,
        0,
        "CardinalityError",
    )
    ranked = rank_systems({"d": files}, "Cardinality error", by="rank")
    assert [place.system for place in ranked] == ["good", "bad"]
    with refused("lower-is-better"):
        rank_systems({"d": files}, "Cardinality error")
    with refused("not-a-measure"):
        compare_values({"x": {"A": 0.5, "B": 0.1}}, measure="error of cardinality")
    rows = {"x": {"A": 0.5, "B": 0.1}, "y": {"A": 0.2, "B": 0.1}}
    assert rank_systems(rows, "HammingLoss", by="rank")[0].system == "B"
    (found,) = compare_values({"x": {"A": 0.5, "B": 0.1}}, measure="HammingLoss")
    assert (found["wins"], found["losses"]) == (1, 0)


@pytest.mark.parametrize("cell", ["86.4 (0.2)", "86.4 ± 0.2", "86.40", "86.4(0.2)"])
def test_cells_as_papers_print_them(tmp_path, cell):
    (tmp_path / "v.csv").write_text(f"data,A,B\nx,{cell},-\n")
    assert read_values(tmp_path / "v.csv") == {"x": {"A": 86.4}}
    (tmp_path / "v.csv").write_text(f"A,B\n0.5,{cell}\n")
    with refused("wrong-content"):
        read_values(tmp_path / "v.csv")


def test_tables_on_the_command_line(tmp_path):
    path = str(
        write_table(
            tmp_path / "v.csv", [{"data": row, **VALUES[row]} for row in VALUES]
        )
    )
    done = CliRunner().invoke(program, ["compare", "--table", path, "--baseline", "B"])
    shown = draw_values(compare_values(VALUES, baseline="B"), "table")
    assert done.stdout == f"{shown}\n"
    assert shown.endswith(
        "\n\ngains over B, paired t-test, p corrected by Holm, 95% intervals"
    )
    done = CliRunner().invoke(
        program, ["rank", "--by", "rank", "-m", "WMD", "--table", path]
    )
    assert done.stdout == str(rank_systems(path, "WMD", by="rank")) + "\n"
    for given in (
        ["compare", "--table", path, "--missing", "skip"],
        ["rank", "--table", path, path],
        ["rank"],
    ):
        assert CliRunner().invoke(program, given).exit_code == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model,COCO,VOC\nours,0.5,0.6", "wrong-content"),
        ("data,seed,A\nx,1,0.5", "wrong-content"),
        ("A,B,seed\n0,0.1,1", "wrong-content"),
        ("x,0.5,0.6\ny,0.1,0.2", "wrong-content"),
        ("data,A,B,A\nx,1,2,3\n", "duplicate"),
    ],
)
def test_tables_of_another_shape_are_refused(tmp_path, text, code):
    (tmp_path / "v.csv").write_text(text)
    with refused(code):
        read_values(tmp_path / "v.csv")


def test_a_system_without_values_is_listed_and_columns_say_the_baseline(tmp_path):
    text = "data,ours,none,theirs,\nx,,,0.4,\ny,0.5,,0.4,\nz,0.6,,0.4,\n"
    (tmp_path / "v.csv").write_text(text)
    found = compare_values(tmp_path / "v.csv", baseline="ours")
    assert [(one["system"], one["baseline"], one["n"]) for one in found] == [
        ("none", "ours", 0),
        ("theirs", "ours", 2),
    ]
    ranked = rank_systems(tmp_path / "v.csv")
    assert {place.system for place in ranked} == {"ours", "none", "theirs"}
    alike = compare_values({n: {"A": 0.5, "B": 0.25} for n in "xyz"})[0]
    assert (alike["low"], alike["high"], alike["p"]) == (None, None, None)


def test_scores_and_runs_of_one_name_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d1").mkdir()
    runs(tmp_path / "d1", "x", 0)
    scores = semmetrics.score({"1": ["a"]}, {"1": ["a"]}, measures="F1").to_json()
    (tmp_path / "d1.json").write_text(scores)
    for files in (["d1/x.json", "d1.json"], ["d1.json", "d1/x.json"]):
        done = CliRunner().invoke(program, ["rank", "-m", "F1", *files])
        assert (done.exit_code, "twice" in done.stderr) == (2, True)
    for text in (scores, (tmp_path / "d1/x.json").read_text()):
        done = CliRunner().invoke(program, ["rank", "-m", "F1", "-"], input=text)
        assert (done.exit_code, done.stdout[:6]) == (0, "system"), done.stderr


@pytest.mark.parametrize("summary", ["Average", "mean", "AVG"])
def test_a_row_of_means_is_no_dataset(summary):
    rows = {"d1": {"A": 0.5, "B": 0.6}, "d2": {"A": 0.4, "B": 0.5}}
    with refused("summary", what="row", name=summary):
        compare_values({**rows, summary: {"A": 0.45, "B": 0.55}})
    assert compare_values({**rows, "average weather": {"A": 0.45, "B": 0.55}})


@pytest.mark.parametrize("summary", ["A_std", "mean", "n"])
def test_a_column_of_means_or_deviations_is_no_system(summary):
    rows = {
        "d1": {"A": 0.5, "B": 0.6, summary: 0.1},
        "d2": {"A": 0.4, "B": 0.5, summary: 0.2},
    }
    with refused("summary", what="column", name=summary):
        compare_values(rows)
