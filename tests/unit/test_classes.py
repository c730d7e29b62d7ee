"""The kind of classes: what is read, how it is joined, lists of classes, and what is said."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics.metrics.classes import PerClassAccuracy, per_class_accuracy
from semmetrics.metrics.stacking import ausuc

NAMES = ["cat", "dog", "cow", "fox"]
SCORES = np.array(
    [
        [0.9, 0.1, 0.2, 0.0],
        [0.3, 0.2, 0.1, 0.0],
        [0.1, 0.5, 0.4, 0.0],
        [0.6, 0.1, 0.5, 0.0],
        [0.0, 0.1, 0.9, 0.2],
    ]
)
TRUTH = ["cat", "dog", "dog", "cow", "cow"]
SIDES = {"classes": NAMES, "seen": ["cat", "dog"], "unseen": ["cow", "fox"]}
TEXT = "PerClassAccuracy"


def score(preds=SCORES, gts=TRUTH, **options):
    return semmetrics.score(
        preds, gts, **{"task": "classes", "classes": NAMES, **options}
    )


def values(table):
    return {str(one.measure): one.value for one in table}


# ---- values --------------------------------------------------------------------------------------


def test_balanced_accuracy_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    scores, truth = rng.random((500, 12)).round(2), rng.integers(0, 9, 500)
    with pytest.warns(UserWarning, match="not in y_true"):
        wanted = metrics.balanced_accuracy_score(truth, scores.argmax(axis=1))
    names = [f"class {i}" for i in range(12)]
    found = score(
        scores, [names[i] for i in truth], classes=names, measures="PerClassAccuracy"
    )
    assert found.scores[0].value == pytest.approx(wanted, rel=1e-12)
    assert per_class_accuracy(scores, truth) == pytest.approx(wanted, rel=1e-12)
    assert found.scores[0].undefined == {"absent": 3}


def test_fewer_classes_than_the_cutoff_are_said():
    table = score({"a": ["cat", "dog"]}, {"a": "dog"}, measures=f"{TEXT}@3")
    assert (table.scores[0].value, "fewer-classes" in codes(table)) == (1.0, True)
    table = score(**SIDES, measures=f"{TEXT}(labels=unseen,candidates=unseen)@3")
    (fact,) = facts(table, "few-classes")
    assert (fact.where, fact.values["n_classes"], fact.values["k"]) == ("preds", 2, "3")


def test_items_intervals_and_the_worst():
    table = score(**SIDES, measures=[TEXT, "H", "AUSUC"], ci=True)
    assert table.per_item().column(TEXT) == [1.0, 0.0, 1.0, 0.0, 1.0]
    assert all(
        one.ci is not None and one.ci.low <= one.value <= one.ci.high for one in table
    )
    worst = table.worst(1)[0]
    assert (worst["class"], worst["rank"], worst["first"]) == (
        "dog",
        2,
        ["cat", "dog", "cow"],
    )


def test_confusion_and_curve():
    table = score(**SIDES, measures=[TEXT, "AUSUC", "BestH"])
    rows = [(r["true"], r["predicted"], r["count"]) for r in table.confusion()]
    assert rows == [
        ("cat", "cat", 1),
        ("dog", "cat", 1),
        ("dog", "dog", 1),
        ("cow", "cat", 1),
        ("cow", "cow", 1),
    ]
    curve = table.curve()
    assert [curve[0]["low"], curve[len(curve) - 1]["high"]] == [None, None]
    area = sum(
        (b["unseen"] - a["unseen"]) * (a["seen"] + b["seen"]) / 2
        for a, b in zip(curve, list(curve)[1:], strict=False)
    )
    assert table["AUSUC"].value == pytest.approx(area)
    assert table["BestH"].value == max(row["H"] for row in curve)
    assert table["BestH"].value >= score(**SIDES, measures="H").scores[0].value
    with refused("lacks-measure", what="a curve of seen and unseen"):
        score(measures=TEXT).curve()
    with refused("lacks-measure"):
        score(measures=f"{TEXT}@2").confusion()


# ---- inputs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "truth",
    [
        TRUTH,
        [[one] for one in TRUTH],
        [NAMES.index(one) for one in TRUTH],
        np.array([NAMES.index(one) for one in TRUTH]),
        np.eye(4, dtype=int)[[NAMES.index(one) for one in TRUTH]],
    ],
)
def test_every_form_of_the_truth(truth):
    found = score(gts=truth, measures=[TEXT, "Accuracy"])
    assert values(found) == values(score(measures=[TEXT, "Accuracy"]))


@pytest.mark.parametrize(
    "name", ["s.npy", "s.npz", "s.h5", "s.parquet", "s.json", "s.csv"]
)
def test_files_of_scores(tmp_path, name):
    path, ids = tmp_path / name, [f"im{i}" for i in range(len(TRUTH))]
    columns = {"id": ids, **dict(zip(NAMES, SCORES.T.tolist(), strict=True))}
    rows = {
        i: dict(zip(NAMES, one, strict=True))
        for i, one in zip(ids, SCORES, strict=True)
    }
    if name == "s.npy":
        np.save(path, SCORES)
    elif name == "s.npz":
        np.savez(path, scores=SCORES, classes=np.array(NAMES))
    elif name == "s.h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["scores"] = SCORES
    elif name == "s.parquet":
        pq.write_table(pa.table(columns), path)
    elif name == "s.csv":
        lines = [[*columns], *zip(*columns.values(), strict=True)]
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    else:
        path.write_text(json.dumps(rows), encoding="utf-8")
    gts = (
        dict(zip(ids, TRUTH, strict=True))
        if name in ("s.parquet", "s.csv", "s.json")
        else TRUTH
    )
    found = score(path, gts, **SIDES, measures=[TEXT, "H", "AUSUC"])
    assert values(found) == values(score(**SIDES, measures=[TEXT, "H", "AUSUC"]))


def test_numbers_are_places_or_names(tmp_path):
    np.save(tmp_path / "t.npy", [NAMES.index(one) for one in TRUTH])
    names = ["3", "1", "0", "2"]
    named = {"gts": [names[NAMES.index(one)] for one in TRUTH], "classes": names}
    for given, places in (({"gts": tmp_path / "t.npy"}, True), (named, False)):
        table = score(measures=TEXT, **given)
        assert values(table) == values(score(measures=TEXT))
        assert ("numbers-as-places" in codes(table)) == places


def test_a_memory_map_is_read_once_and_checked_as_it_is_read(tmp_path):
    path = tmp_path / "s.npy"
    table = np.random.default_rng(0).random((300, 40)).astype(np.float32)
    table[123, 7] = np.nan
    np.save(path, table)
    names = [f"c{i}" for i in range(40)]
    with refused("not-finite"):
        score(path, [0] * 300, classes=names, measures=TEXT)
    with refused("row 123, column 7"):
        score(np.load(path), [0] * 300, classes=names, measures=f"{TEXT}@3")
    # what is no candidate is not looked at
    among = {"seen": names[:8], "unseen": names[8:]}
    score(
        path,
        [9] * 300,
        classes=names,
        **among,
        measures=f"{TEXT}(labels=unseen,candidates=unseen)",
    )


# ---- what is refused or said ---------------------------------------------------------------------


HOPS, MANY = f"{TEXT}(labels=2H)", dict.fromkeys(NAMES, 1)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"seen": ["cat", "dog"], "unseen": ["dog"]}, "seen-and-unseen"),
        ({"seen": ["cat", "cod"]}, "outside-classes"),
        ({"gts": ["cat", "dog", "dog", "cow", "cod"]}, "outside-classes"),
        ({"gts": [4, 1, 2, 3, 3]}, "number-outside-classes"),
        ({"gts": [-1, 1, 2, 3, 3]}, "outside-classes"),
        *[
            ({"gts": [one, *([name] for name in TRUTH[1:])]}, code)
            for one, code in ((["cat", "dog"], "several-classes"), ([], "wrong-count"))
        ],
        ({"gts": TRUTH[1:]}, "has 5 items, but gts has 4"),
        ({"gts": np.array([[1, 0]] * 5), "classes": None}, "wrong-shape"),
        ({"classes": NAMES[:3]}, "wrong-count"),
        ({"measures": "ZSL@5"}, "unknown-name"),
        ({"measures": f"{TEXT}(labels=easy)"}, "unknown class list 'easy'"),
        ({"measures": f"{TEXT}(labels=M2)"}, "needs-option"),
        ({"measures": "H"}, "unknown-side"),
        ({"measures": f"{TEXT}(labels=M9)", "populations": MANY}, "out-of-range"),
        (
            {"measures": f"{TEXT}(labels=M3)", "populations": MANY, **SIDES},
            "out-of-range",
        ),
        (
            {"measures": f"{TEXT}(labels=M2)", "populations": {"cat": 3}},
            "without-value",
        ),
        ({"measures": HOPS, "hops": {"cat": 3}}, "empty-list"),
        ({"measures": HOPS, "hops": {"cod": 1}}, "empty-list"),
        (
            {"measures": HOPS, "hops": {"cat": 1, "fox": 3, "cow": 4}, **SIDES},
            "empty-list",
        ),
        ({"measures": "H", "seen": NAMES}, "empty-side"),
        (
            {"preds": TRUTH, "classes": None, "measures": "H", "seen": ["cat"]},
            "unknown-side",
        ),
        ({"preds": [[one, one] for one in TRUTH]}, "duplicate"),
        ({"preds": TRUTH, **SIDES, "measures": "AUSUC"}, "measure-needs-scores"),
        ({"seen": []}, "bad-option"),
        ({"seen": ["cat", "cat"]}, "duplicate-at"),
    ],
)
def test_what_is_wrong_is_said(given, code):
    with refused(code):
        score(**{"measures": TEXT, **given})


def test_what_is_not_named_or_known_is_asked_for():
    with refused("outside-classes"):
        semmetrics.score(
            SCORES, [0, 1, 1, 2, 2], task="classes", seen=["cat"], unseen=["dog"]
        )
    with refused("outside-classes"):
        semmetrics.score(SCORES, TRUTH, task="classes")
    with refused("ambiguous-kind"):
        semmetrics.score({"a": "cat"}, {"a": "dog"})
    for gts in (TRUTH, [0, 1, 1, 2, 2], np.array([0, 1, 1, 2, 2])):
        with refused("unknown-kind"):
            semmetrics.score(SCORES, gts)


def test_one_side_alone_is_said():
    table = semmetrics.score(TRUTH, TRUTH, task="classes", seen=["cat"])
    assert "unknown-side" in codes(table)
    assert "unknown-side" not in codes(score(TRUTH, seen=["cat"]))
    table = semmetrics.score(TRUTH, TRUTH, measures="SeenAccuracy", seen=["cat"])
    assert "unknown-side" not in codes(table)
    assert {"empty-side", "unknown-side"} & {*codes(score(seen=NAMES))} == {
        "empty-side"
    }


def test_items_in_batches_are_described_together(monkeypatch):
    monkeypatch.setattr("semmetrics.scoring.system_items.ITEMS_SUMMED_TOGETHER", 1)
    given = {"measures": TEXT, "classes": NAMES, "seen": ["cat"], "unseen": ["cow"]}
    preds, gts = (
        ["cod", "dog", "ant", "cow", "cat"],
        ["cat", "dog", "dog", "cow", "cow"],
    )
    scorer = semmetrics.Scorer(**given, keep_rows=False)
    for place in range(5):
        scorer.update(preds[place : place + 1], gts[place : place + 1])
    one, other = scorer.compute(), score(preds, gts, **given)
    assert sorted(one.notes) == sorted(other.notes)
    assert sorted((fact.code, fact.n, fact.examples) for fact in one.facts) == [
        ("classes-without-images", 1, ("fox",)),
        ("neither-side", 2, ()),
        ("predicted-outside", 2, ("ant", "cod")),
        ("run-of-classes", 5, ()),
    ]


def test_images_of_one_side_alone():
    preds, gts = {"a": "cat", "b": "dog"}, {"a": "cat", "c": "cow"}
    with refused("missing="):
        score(preds, gts)
    assert values(score(preds, gts, missing="skip", measures="Accuracy")) == {
        "Accuracy": 1.0
    }
    table = score(preds, gts, missing="empty", measures="Accuracy")
    assert values(table) == {"Accuracy": 0.5}
    assert "missing-prediction" in codes(table)
    assert "without-class" in codes(table)


# ---- lists, splits, signatures -------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    ["class,images", "label,count", "id,number", "Class,population,hops", "name,value"],
)
def test_numbers_of_classes_in_tables(tmp_path, header):
    columns = header.split(",")
    rows = [[name, 9 - place, 1] for place, name in enumerate(NAMES)]
    path = tmp_path / "populations.csv"
    lines = [header, *(",".join(map(str, row[: len(columns)])) for row in rows)]
    path.write_text("\n".join(lines), encoding="utf-8")
    given = {
        "measures": f"{TEXT}(labels=M2)",
        "read": semmetrics.ReadOptions(id_column="photo"),
    }
    frame = pd.DataFrame([row[: len(columns)] for row in rows], [3, 1, 4, 8], columns)
    for populations in (path, frame):
        (one,) = table = score(populations=populations, **given)
        assert one.per_label["label"].tolist() == NAMES[:2]
        assert any("not used: 'hops'" in note for note in table.notes) is (
            len(columns) > 2
        )


@pytest.mark.parametrize(
    "measure",
    [
        "H",
        "AUSUC",
        f"{TEXT}(labels=unseen,candidates=unseen)@2",
        f"{TEXT}(labels=mine)",
    ],
)
def test_a_signature_is_computed_again(measure):
    lists = {"class_lists": {"mine": ["dog", "cow"]}}
    (one,) = score(**SIDES, **lists, measures=measure, ties="pessimistic", ci=True)
    again = semmetrics.rescore(one.signature, SCORES, TRUTH, **SIDES, **lists)
    assert (again.scores[0].value, again.differences) == (one.value, [])
    other = {"class_lists": {"mine": ["dog"]}, **SIDES, "seen": ["cat"]}
    differences = semmetrics.rescore(one.signature, SCORES, TRUTH, **other).differences
    assert any("the seen classes differ" in line for line in differences)
    assert ("mine" in measure) == any(
        "a list of classes differs" in line for line in differences
    )
    with refused("signed-input"):
        semmetrics.rescore(one.signature, SCORES, TRUTH)


@pytest.mark.parametrize(
    "name", ["auto", "reference", "union", "given", "seen", "unseen"]
)
def test_names_that_no_further_list_has(name):
    with refused("reserved-list"):
        score(**SIDES, class_lists={name: ["cat"]})
    if "seen" not in name:
        with refused("bad-option", name="candidates"):
            PerClassAccuracy(candidates=name)


@pytest.mark.parametrize(
    ("numbers", "problem"),
    [
        ({"cow": None, "fox": 1}, "not-a-number"),
        ({"cow": float("nan"), "fox": 1}, "not-finite"),
        ({"cow": "many", "fox": 1}, "not-a-number"),
        ({"cow": np.True_, "fox": 1}, "not-a-number"),
        ({"cow": -1, "fox": 1}, "out-of-range"),
        ({2: 1, "2": 1}, "duplicate"),
    ],
)
def test_numbers_of_classes_are_checked(numbers, problem):
    for option, name in (("populations", "M1"), ("hops", "2H")):
        with refused(problem):
            score(**SIDES, **{option: numbers}, measures=f"{TEXT}(labels={name})")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", '{"cat": 0}', "wrong-type"),
        ("a.csv", "cat\ndog\n", "wrong-format"),
    ],
)
def test_class_lists_of_other_forms_are_refused(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    for option in ("classes", "seen"):
        with refused(problem, str(path)):
            score(**{option: path})


def test_a_class_that_is_no_place_is_named():
    with refused("out-of-range", "truth, row 2 (from 0)", value=2**63):
        per_class_accuracy(SCORES, np.array([0, 1, 2**63, 2, 2], np.uint64))


def test_stacking_refuses_whole_numbers_whose_differences_are_not_exact():
    # in float64 all three constants would be 0, and the curve straight: 0.5
    small = np.array([[3, 2], [2, 3], [3, 2]])
    lists = {"seen": [0], "unseen": [1]}
    assert ausuc(small, [0, 1, 1], **lists) == 0.75
    below = small + 2**53 - 4
    options = {
        "task": "classes",
        "measures": "AUSUC",
        "classes": ["a", "b"],
        "seen": ["a"],
        "unseen": ["b"],
    }
    for table in (below, -below, below.astype(np.uint64), below * 1.0):
        sign = -1 if table[0, 0] < 0 else 1
        truth = np.array([0, 1, 1]) if sign == 1 else np.array([1, 0, 0])
        found = semmetrics.score(table, ["ab"[code] for code in truth], **options)
        assert found["AUSUC"].value == ausuc(table, truth, **lists)
    for table in (small + 2**60, -small - 2**60, (small + 2**53).astype(np.uint64)):
        with refused("inexact"):
            ausuc(table, [0, 1, 1], **lists)
        with refused("inexact", "preds"):
            semmetrics.score(table, ["a", "b", "b"], **options)
        options["measures"] = "PerClassAccuracy"  # which compares, and is exact
        table = table if table[0, 0] > 0 else -table
        assert semmetrics.score(table, ["a", "b", "b"], **options)[0].value == 0.75
        options["measures"] = "AUSUC"


def test_classes_without_a_number_are_counted_and_named():
    hops, sides = (
        f"{TEXT}(labels=2H)",
        {"seen": ["cat", "dog"], "unseen": ["fox", "cow"]},
    )
    five = {"cat": 1, "dog": 2, "fox": 3, "cow": 4, "emu": 5}
    for options, noted in (
        (
            {"hops": {"cat": 1, "dog": 2, "fox": 9, "wolf": 1, "yak": 3}},
            {"unnumbered-classes", "numbers-of-no-class"},
        ),
        ({"hops": {"fox": 1}, **sides}, {"unnumbered-classes"}),
        ({"hops": {"fox": 1, "cow": 3, "cat": 0}, **sides}, set()),
        (
            {"populations": five, "measures": f"{TEXT}(labels=M2)"},
            {"numbers-of-no-class"},
        ),
    ):
        found = score(**{"measures": hops, **options})
        assert {"unnumbered-classes", "numbers-of-no-class"} & {*codes(found)} == noted
    with refused("without-value"):
        score(measures=f"{TEXT}(labels=M2)", populations={"cat": 1, "dog": 2, "fox": 3})


def test_constants_that_rounding_tells_apart_are_the_same():
    # all four constants are 0.1, of which no two are the same in binary
    scores = np.array([[0.3, 0.2], [0.8, 0.7], [0.6, 0.5], [1.0, 0.9]])
    truth, lists = [0, 1, 0, 1], {"seen": [0], "unseen": [1]}
    assert len({float(a - b) for a, b in scores}) > 1
    assert ausuc(scores, truth, **lists) == 0.5
    options = {
        "task": "classes",
        "classes": ["a", "b"],
        "seen": ["a"],
        "unseen": ["b"],
        "measures": "AUSUC BestH",
    }
    named = {
        f"i{place}": {"a": a, "b": b} for place, (a, b) in enumerate(scores.tolist())
    }
    for preds in (scores, scores + 4, scores * 10, named):
        gts = dict(zip(named, "abab", strict=True)) if preds is named else [*"abab"]
        assert [one.value for one in semmetrics.score(preds, gts, **options)] == [
            0.5,
            0.0,
        ]
    # what differs by more than rounding stays apart, and so do all constants of single precision
    apart = scores + np.array([[0, 0], [1e-12, 0], [0, 0], [1e-12, 0]])
    for table in (apart, -apart[:, ::-1]):
        assert ausuc(table, truth, **lists) == 0.0
    single = np.array([[0.25, 0], [0.25 + 2**-24, 0]], np.float32)
    assert [ausuc(single, order, **lists) for order in ([0, 1], [1, 0])] == [0.0, 1.0]


def test_numbers_of_classes_may_be_texts():
    found = score(
        **SIDES, populations={"cow": "10", "fox": "9"}, measures=f"{TEXT}(labels=M1)"
    )
    assert found.scores[0].value == 0.5
    sides = {"classes": list("0123"), "seen": ["0", "1"], "unseen": ["2", "3"]}
    found = score(
        gts=[0, 1, 1, 2, 2], **sides, hops={2: 1, 3: 4}, measures=f"{TEXT}(labels=2H)"
    )
    assert found.scores[0].value == 0.5
