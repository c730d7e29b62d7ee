"""Agreement of measures with people: every form of judgements, tests, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from oracles import agreement as oracle
from refusals import facts, refused
from scipy.io import savemat
from tables import write_table

import semmetrics
from benchmarks.agreement import simulate
from semmetrics.cli.app import program
from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.judgements import Judgements
from semmetrics.data.mat_files import read_mat
from semmetrics.data.source import load
from semmetrics.errors import Fact, InputError
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.studies.agreement import AgreementDesign, Judged, measure_agreement

GTS = {
    "a": ["cat", "dog"],
    "b": ["dog"],
    "c": ["cow"],
    "d": ["cat", "cow"],
    "e": ["bus"],
}
PREDS = {
    "a": ["cat"],
    "b": ["dog"],
    "c": ["cow", "dog", "bus"],
    "d": ["bus"],
    "e": ["cat", "bus"],
}
F1 = {"a": 2 / 3, "b": 1.0, "c": 0.5, "d": 0.0, "e": 2 / 3}
ROWS = [
    {"id": "a", "rating": 3, "rater": "x"},
    {"id": "a", "rating": 4, "rater": "y"},
    {"id": "b", "rating": 4, "rater": "x"},
    {"id": "b", "rating": 4, "rater": "y"},
    {"id": "c", "rating": 2, "rater": "x"},
    {"id": "c", "rating": 1, "rater": "y"},
    {"id": "d", "rating": 1, "rater": "x"},
    {"id": "e", "rating": 1, "rater": "y"},
]
DOGS, CATS = ["a dog runs fast", "the dog runs"], ["two cats sleep here", "cats sleep"]
IMAGES = {
    "dogs": {
        "ground_truth": DOGS,
        "human_judgement": [
            {"caption": "the dog is fast", "rating": 4},
            {"caption": "the dog is fast", "rating": 3},
            {"caption": "a cat", "rating": 1},
            {"caption": "the dog runs", "rating": 4},
        ],
    },
    "cats": {
        "ground_truth": CATS,
        "human_judgement": [
            {"caption": "cats sleep here", "rating": 3},
            {"caption": "two cars", "rating": 2},
        ],
    },
}
TEXTS = [
    {
        "imgid": image,
        "mt": one["caption"],
        "refs": of["ground_truth"],
        "score": one["rating"],
    }
    for image, of in IMAGES.items()
    for one in of["human_judgement"]
]


def values(table):
    return {(one.heading, one.group, one.statistic): one.value for one in table}


@pytest.mark.parametrize(
    ("aggregate", "pairs"),
    [
        ("none", [(row["id"], row["rating"]) for row in ROWS]),
        ("mean", [("a", 3.5), ("b", 4), ("c", 1.5), ("d", 1), ("e", 1)]),
    ],
)
def test_ratings_of_ids_and_their_means_equal_loops(aggregate, pairs):
    found = semmetrics.meta(
        ROWS, PREDS, GTS, measures="F1", aggregate=aggregate, resamples=50
    )
    assert len(found) == len(oracle.STATISTICS)
    for one in found:
        plain = oracle.STATISTICS[one.statistic](
            [F1[name] for name, _ in pairs], [rating for _, rating in pairs]
        )
        assert one.value == pytest.approx(plain, abs=1e-12)
        assert (one.n, one.candidates, one.images, one.lacking) == (len(pairs), 5, 5, 0)
        assert math.isnan(one.p)
        assert f"|agg:{aggregate}|ratings:{len(pairs)}|images:5|" in one.signature


def test_resamples_are_of_images_with_all_of_their_ratings():
    rows = [
        {
            "caption": f"{c} runs",
            "references": ["a dog runs"],
            "rating": r,
            "image": str(i),
        }
        for i in range(6)
        for c, r in (("a dog", 3 + i % 2), ("a cat", i % 3))
    ]
    found = semmetrics.meta(
        rows, measures="BLEU-1", statistics="kendall-b", resamples=400
    )
    judged = read_judgements(rows)
    images, names = judged.image_numbers()
    assert (names, images.tolist()) == (
        [*"012345"],
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    )
    scores = [1.0 if "dog" in row["caption"] else 1 / 2 for row in rows]
    ratings = [row["rating"] for row in rows]
    random, drawn = np.random.default_rng(0), []
    for _ in range(400):
        some = [
            i for image in random.integers(0, 6, 6) for i in (2 * image, 2 * image + 1)
        ]
        drawn.append(
            oracle.tau_b([scores[i] for i in some], [ratings[i] for i in some])
        )
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found[0].low == pytest.approx(low, abs=0.03)
    assert found[0].high == pytest.approx(high, abs=0.03)


def test_images_as_flickr8k_has_them(tmp_path):
    path = tmp_path / "flickr8k.json"
    path.write_text(json.dumps(IMAGES), encoding="utf-8")
    options = {"measures": "ROUGE-L BLEU-1", "resamples": 20}
    expert = semmetrics.meta(path, protocol="flickr8k-expert", **options)
    assert {(one.statistic, one.n, one.candidates) for one in expert} == {
        ("kendall-c", 5, 4)
    }
    assert "16,992" in "".join(map(str, expert.notes))
    crowd = semmetrics.meta(IMAGES, protocol="flickr8k-cf", **options)
    assert {(one.n, one.statistic) for one in crowd} == {(6, "kendall-b")}
    kept = semmetrics.meta(IMAGES, statistics="kendall-b", **options)
    # it is no longer its own reference
    assert kept["BLEU-1"].value > crowd["BLEU-1"].value
    scored = semmetrics.score(
        {
            name: [one["caption"] for one in of["human_judgement"]]
            for name, of in IMAGES.items()
        },
        {name: of["ground_truth"] for name, of in IMAGES.items()},
        measures="ROUGE-L",
        task="captions",
    )
    ratings = [one["rating"] for of in IMAGES.values() for one in of["human_judgement"]]
    assert kept["ROUGE-L"].value == pytest.approx(
        oracle.tau_b(scored[0].items.tolist(), ratings)
    )


@pytest.mark.parametrize("form", ["c.json", "c.csv", "python", "objects", "frame"])
def test_composite_with_its_references_in_each_row(tmp_path, form):
    # pandas writes lists to CSV as Python shows them
    shown = {"python": repr, "c.csv": json.dumps}.get(form, lambda refs: refs)
    data = [{**row, "refs": shown(row["refs"])} for row in TEXTS]
    if form == "frame":
        data = pd.DataFrame(data)
    elif form != "objects":
        data = write_table(tmp_path / form.replace("python", "c.csv"), data)
    options = {"measures": "ROUGE-L", "protocol": "composite", "resamples": 20}
    found, images = semmetrics.meta(data, **options), semmetrics.meta(IMAGES, **options)
    assert [one.statistic for one in found] == ["kendall-c", "kendall-b"]
    assert values(found) == values(images)


def mat(folder, *, votes=None):
    """Four pairs, one of each category, with four references and votes each."""

    def text(value):
        return np.array([value])

    def cell(value):
        made = np.empty((1, 1), object)
        made[0, 0] = text(value)
        return made

    pairs = np.empty((1, 4), [("image", object), ("a", object), ("b", object)])
    rows = np.empty(
        (1, 16), [("ref", object), ("b", object), ("c", object), ("won", object)]
    )
    votes = votes or [[1, 1, 1, -1], [1, 1, 1, 1], [-1, -1, -1, 1], [1, -1, 1, -1]]
    for i in range(4):
        a, b = f"a dog runs {i} ", f"the cat sleeps {i}"
        pairs[0, i] = (text(f"2008_{i % 2}.jpg"), text(a), text(b))
        for j in range(4):
            of = f"dog number {j} runs {i}"
            rows[0, 4 * i + j] = (cell(of), cell(a), cell(b), np.array([[votes[i][j]]]))
    savemat(
        folder / "pair_pascal.mat",
        {
            "new_input": pairs,
            "category": np.array([[1, 2, 3, 4]]),
            "new_data": np.array([[6, 6], [6, 7], [2, 6], [1, 2]]),
        },
    )
    savemat(folder / "consensus_pascal.mat", {"triplets": rows})
    return folder


def test_pascal_50s(tmp_path):
    folder = mat(tmp_path)
    judged = read_judgements(folder, draw_references=2, seed=1)
    assert judged.groups == ["HC", "HI", "HM", "MM"]
    assert judged.values.tolist()[:3] == [1, 1, -1]
    assert judged.values[3] in (1, -1)
    assert judged.candidates[:2] == ["a dog runs 0", "the cat sleeps 0"]
    assert all(len(of) == 2 for of in judged.references)
    assert all(judged.references[i] == judged.references[i + 1] for i in range(0, 8, 2))
    assert [(fact.code, fact.n) for fact in judged.notes] == [("equal-votes", 1)]
    again = read_judgements(folder / "pair_pascal.mat", draw_references=2, seed=1)
    assert again.references == judged.references
    seeds = {
        tuple(read_judgements(folder, draw_references=2, seed=s).references[0])
        for s in range(20)
    }
    assert len(seeds) > 1
    found = semmetrics.meta(
        folder, protocol="pascal-50s", measures="ROUGE-L BLEU-1", seed=1, resamples=50
    )
    assert found.groups == ["all", "HC", "HI", "HM", "MM"]
    by = {one.group: one.value for one in found if one.heading == "ROUGE-L"}
    right = float(judged.values[3] == 1)
    assert by == {"HC": 1.0, "HI": 1.0, "HM": 0.0, "MM": right, "all": (2 + right) / 4}
    assert {one.unit for one in found} == {"pair"}


def test_pascal_50s_that_is_not_as_it_is(tmp_path):
    folder = mat(tmp_path, votes=[[1, 0, 1, 1]] * 4)
    path = folder / "consensus_pascal.mat"
    with refused("not-pascal", place="pair 0 (from 0)"):
        read_judgements(folder)
    for code, change in (
        ("not-pascal", lambda: savemat(path, {"other": 1})),
        ("damaged", lambda: path.write_text("no", encoding="utf-8")),
        ("missing-file", path.unlink),
    ):
        change()
        with refused(code):
            read_judgements(folder)


def test_damaged_matlab_files_are_read_or_refused(tmp_path):
    folder, outcomes = mat(tmp_path), set()
    for name in ("pair_pascal.mat", "consensus_pascal.mat"):
        path = folder / name
        whole = path.read_bytes()
        for place in [*range(120, 420), *range(420, len(whole), 7)]:
            path.write_bytes(
                whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]
            )
            try:
                outcomes.add(len(read_judgements(folder)))
            except InputError:
                outcomes.add(None)
        for stop in range(0, len(whole), 37):
            path.write_bytes(whole[:stop])
            with pytest.raises(InputError):
                read_judgements(folder)
        path.write_bytes(whole)
    assert outcomes == {4, None}


@pytest.mark.parametrize("packed", [False, True])
def test_matlab_files_as_scipy_reads_them(tmp_path, packed):
    cells = np.empty((1, 3), object)
    cells[0] = ["é ü", np.array([[1.5, -2]]), np.zeros((0, 0))]
    records = np.zeros((2, 1), [("first", object), ("b", object)])
    records[0, 0], records[1, 0] = ("x", cells), ("日本", np.int16([[3]]))
    savemat(
        tmp_path / "a.mat",
        {
            "c": cells,
            "s": records,
            "n": np.arange(6.0).reshape(2, 3),
            "z": np.eye(2) * 1j,
            "t": ["ab", "cd"],
            "long_name": "q",
        },
        do_compression=packed,
    )
    found = read_mat(
        load(tmp_path / "a.mat", 10**6), ("c", "s", "n", "t", "long_name", "none")
    )
    assert list(found) == ["c", "s", "n", "t", "long_name"]
    assert (found["t"], found["long_name"], found["c"][0]) == ("ab", "q", "é ü")
    assert [len(one) for one in found["c"]] == [3, 2, 0]
    assert found["c"][1].tolist() == [1.5, -2]
    assert found["n"].tolist() == [0, 3, 1, 4, 2, 5]
    assert found["s"].fields == ("first", "b")
    assert [record[0] for record in found["s"].records] == ["x", "日本"]
    assert found["s"].records[1][1].tolist() == [3]


def test_a_matlab_file_that_swells_is_refused(tmp_path):
    savemat(tmp_path / "a.mat", {"n": np.zeros((1, 100_000))}, do_compression=True)
    assert len(read_mat(load(tmp_path / "a.mat", 10**6), ("n",))["n"]) == 100_000
    with refused("damaged"):
        read_mat(load(tmp_path / "a.mat", 100_000), ("n",))


@pytest.mark.parametrize("test", ["bootstrap", "williams"])
def test_rounding_is_no_difference(test):
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 5, 60).astype(float)
    names = [str(one) for one in range(60)]
    judged = Judgements(
        names,
        [(one,) for one in names],
        names,
        False,
        ratings,
        np.arange(60),
        None,
        None,
        "ratings",
        [],
    )
    mine = rng.normal(size=60) + ratings
    both = [
        Judged(one, one, one, of) for one, of in (("A", mine), ("B", mine / 7 + 1 / 3))
    ]
    design = AgreementDesign(
        ("pearson",), "none", test, "none", "A", Bootstrap(0.95, 200, 1)
    )
    found = measure_agreement(judged, both, design)[1]
    assert (found.difference, found.difference_low, found.difference_high) == (0, 0, 0)
    assert found.p == 1


def test_the_order_of_ratings_breaks_no_tie_of_their_means():
    said = [
        ("a", (0.1, 0.2, 0.3)),
        ("b", (0.3, 0.2, 0.1)),
        ("c", (0.1,)),
        ("d", (0.9,)),
    ]
    rows = [{"id": name, "rating": one} for name, several in said for one in several]
    tables = [
        semmetrics.meta(some, PREDS, GTS, measures="F1", aggregate="mean", resamples=20)
        for some in (
            rows,
            rows[::-1],
            sorted(rows, key=lambda row: (row["id"], row["rating"])),
        )
    ]
    assert values(tables[0]) == values(tables[1]) == values(tables[2])
    assert tables[0]["F1"].n == 4
    large = [{"id": "a", "rating": 1.7e308}, {"id": "a", "rating": 1.7e308}]
    with pytest.raises(OverflowError):
        semmetrics.meta(large, PREDS, GTS, measures="F1", aggregate="mean")


@pytest.mark.parametrize("image", [{}, {"image": "i"}])
def test_a_pair_is_the_same_the_other_way_round(image):
    rows = [
        {"a": "c", "b": "d", "preferred": "a", "rater": "x", **image},
        {"a": "d", "b": "c", "preferred": "b", "rater": "y", **image},
        {"a": "d", "b": "c", "preferred": "a", "rater": "z", **image},
    ]
    for some in (rows, rows[::-1]):
        found = semmetrics.meta(
            some, PREDS, GTS, measures="F1", aggregate="mean", resamples=20
        )
        assert (found["F1"].n, found["F1"].images, found["F1"].value) == (1, 1, 1.0)
    tie = semmetrics.meta(
        rows[1:], PREDS, GTS, measures="F1", aggregate="mean", resamples=20
    )
    assert (tie["F1"].n, tie["F1"].lacking) == (0, 1)
    with refused("rated-twice", "ratings, element [1]"):
        read_judgements([rows[0], {**rows[1], "rater": "x"}])


def test_ids_that_look_alike_when_joined_stay_apart():
    preds, gts = {"c": ["x"], "c | r": ["y"]}, {"q": ["x"], "r | s": ["z"], "s": ["y"]}
    rows = [
        {"candidate": "c", "reference": "q", "rating": 1},
        {"candidate": "c | r", "reference": "s", "rating": 2},
        {"candidate": "c", "reference": "r | s", "rating": 5},
    ]
    found = semmetrics.meta(
        rows, preds, gts, measures="F1", statistics="pearson", resamples=20
    )
    assert found["F1"].value == pytest.approx(np.corrcoef([1, 1, 0], [1, 2, 5])[0, 1])


CAPTION = {"caption": "a dog", "references": ["a dog runs"], "rating": 3, "image": "i"}
OTHER = {**CAPTION, "caption": "a cat", "rating": 1}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"references": []}, "empty"),
        ({"references": "[]"}, "empty"),
        ({"references": b"ab"}, "wrong-type"),
        ({"image": None}, "wrong-id"),
        ({"image": ["i"]}, "wrong-id"),
        ({"image": ""}, "empty-id"),
    ],
)
def test_captions_without_references_or_images_are_refused(change, code):
    with refused(code, "ratings, element [1]"):
        semmetrics.meta([OTHER, {**CAPTION, **change}], measures="BLEU-1")


def test_references_may_be_arrays():
    arrays = [
        {**one, "references": np.array(one["references"])} for one in (CAPTION, OTHER)
    ]
    found, same = (
        semmetrics.meta(rows, measures="BLEU-1", resamples=20)
        for rows in (arrays, [CAPTION, OTHER])
    )
    assert values(found) == values(same)


def test_columns_that_stand_twice_are_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("id,rating,rating\na,1,2\n", encoding="utf-8")
    with refused("duplicate-column", f"{path}, line 2"):
        read_judgements(path)


def test_candidates_and_references_by_ids():
    captions = {
        "1": "the dog is fast",
        "2": "a cat",
        "3": "cats sleep here",
        "4": "two cars",
    }
    references = {"dogs": DOGS, "cats": CATS}
    rows = [
        {"candidate": c, "reference": r, "rating": n}
        for c, r, n in (
            ("1", "dogs", 4),
            ("2", "dogs", 1),
            ("3", "cats", 3),
            ("4", "cats", 2),
        )
    ]
    found = semmetrics.meta(
        rows,
        captions,
        references,
        measures="ROUGE-L CIDEr-D",
        task="captions",
        resamples=20,
    )
    texts = [
        {
            "caption": captions[r["candidate"]],
            "references": references[r["reference"]],
            "image": r["reference"],
            "rating": r["rating"],
        }
        for r in rows
    ]
    beside = semmetrics.meta(texts, measures="ROUGE-L CIDEr-D", resamples=20)
    assert values(found) == values(beside)
    assert {(one.n, one.images) for one in found} == {(4, 2)}
    assert found.understood[1:] == [
        "preds: {id: caption}: 4 items, 4 captions",
        "gts: {id: [captions]}: 2 items, 4 captions",
    ]
    sits = [
        {
            "caption": f"COCO_val2014:sentid:{c}",
            "image": f"COCO_val2014_00000{i}.jpg",
            "agg_score": s,
            "sampling_method": m,
        }
        for c, i, s, m in (
            (11, 7, 4.5, "x"),
            (12, 7, 2, "x"),
            (13, 8, 3, "y"),
            (14, 8, 1, "y"),
        )
    ]
    given = {"11": DOGS[0], "12": "a cat", "13": "cats sleep here", "14": "two cars"}
    both = {"7": DOGS, "8": CATS}
    cxc = semmetrics.meta(
        sits, given, both, protocol="cxc-sits", measures="ROUGE-L", resamples=20
    )
    assert cxc.groups == ["all", "x", "y"]
    alone = semmetrics.score({"x": DOGS[0]}, {"x": DOGS[1:]}, measures="ROUGE-L")[
        0
    ].value
    whole = [
        alone,
        *(
            semmetrics.score({"x": given[c]}, {"x": both[i]}, measures="ROUGE-L")[
                0
            ].value
            for c, i in (("12", "7"), ("13", "8"), ("14", "8"))
        ),
    ]
    assert cxc["ROUGE-L", "pearson"].value == pytest.approx(
        oracle.pearson(whole, [4.5, 2, 3, 1])
    )

    with refused("only-own-reference", "ratings, image '7'"):
        semmetrics.meta(
            sits,
            given,
            {"7": DOGS[:1], "8": CATS},
            protocol="cxc-sits",
            measures="ROUGE-L",
        )
    with refused("wrong-count", "preds, 11"):
        semmetrics.meta(
            sits,
            {k: DOGS if k == "11" else [v] for k, v in given.items()},
            both,
            protocol="cxc-sits",
            measures="ROUGE-L",
            task="captions",
        )


def test_an_image_counts_once_in_document_frequencies():
    captions = {
        "1": "the dog is fast",
        "2": "a cat",
        "3": "a dog runs fast",
        "4": "two cars",
    }
    references = {"dogs": DOGS, "cats": CATS}
    rows = [
        {"candidate": c, "reference": r, "rating": n}
        for c, r, n in (
            ("1", "dogs", 4),
            ("2", "dogs", 1),
            ("3", "dogs", 5),
            ("4", "cats", 2),
        )
    ]
    found = semmetrics.meta(
        rows, captions, references, measures="CIDEr-D", statistics="pearson"
    )
    each = semmetrics.score(
        {"dogs": [captions[one] for one in "123"], "cats": [captions["4"]]},
        references,
        measures="CIDEr-D",
        task="captions",
    )[0].items
    assert found[0].value == pytest.approx(oracle.pearson(each, [4, 1, 5, 2]))
    mean = semmetrics.meta(
        [*rows, {**rows[0], "rating": 2}],
        captions,
        references,
        measures="CIDEr-D",
        aggregate="mean",
    )
    assert (mean[0].n, mean.understood[0]) == (4, "ratings: 5 ratings, 4 ids, 2 images")


def test_every_kind_has_agreement():
    runs = {"q1": ["x", "y"], "q2": ["y", "x"], "q3": ["x", "y"]}
    positives = {"q1": ["x"], "q2": ["x"], "q3": ["y"]}
    rows = [{"id": id, "rating": r} for id, r in (("q1", 5), ("q2", 2), ("q3", 1))]
    found = semmetrics.meta(
        rows,
        runs,
        positives,
        measures="Recall@1",
        task="retrieval",
        statistics="kendall-b",
        resamples=20,
    )
    assert found[0].value == pytest.approx(oracle.tau_b([1, 0, 0], [5, 2, 1]))


def test_default_measures_are_those_with_values_of_items():
    found = semmetrics.meta(ROWS, PREDS, GTS, statistics="kendall-b", resamples=20)
    assert "F1" in found.headings
    assert not any("macro" in one.measure for one in found)


def test_comparisons_are_with_the_baseline():
    options = {"measures": "F1 Recall Precision", "resamples": 200}
    found = semmetrics.meta(ROWS, PREDS, GTS, statistics="pearson,kendall-b", **options)
    assert {one.comparisons for one in found if not math.isnan(one.p)} == {4}
    for one in found:
        base = found["F1", one.statistic]
        if one.heading != "F1":
            assert one.difference == pytest.approx(one.value - base.value)
            assert one.difference_low <= one.difference <= one.difference_high
            assert one.p <= one.p_corrected <= 1
    same = semmetrics.meta(
        ROWS, PREDS, GTS, measures=["F1", "F1(empty=skip)"], resamples=50
    )
    assert {one.p for one in same if not math.isnan(one.p)} == {1.0}


def test_a_difference_is_the_opposite_from_the_other_baseline():
    rows = [{"id": str(n), "rating": n % 5 + 1} for n in range(12)]
    gts = {str(n): list("abcde") for n in range(12)}
    preds = {
        id: gts[id][: n % 5 + 1] + list("0123456789")[: n % 5 * 2 + 1 + n % 2]
        for n, id in enumerate(gts)
    }
    tables = [
        semmetrics.meta(
            rows, preds, gts, measures="Precision Recall", baseline=baseline
        )
        for baseline in ("Precision", "Recall")
    ]
    for statistic in oracle.STATISTICS:
        recall, precision = (
            tables[0]["Recall", statistic],
            tables[1]["Precision", statistic],
        )
        assert (recall.difference, recall.p) == pytest.approx(
            (-precision.difference, precision.p)
        )
        ends = -precision.difference_high, -precision.difference_low
        assert (recall.difference_low, recall.difference_high) == pytest.approx(ends)
        assert ends[0] < recall.difference < ends[1]


def test_williams_is_for_pearson():
    found = semmetrics.meta(
        ROWS, PREDS, GTS, measures="F1 Recall", test="williams", resamples=20
    )
    assert [one.statistic for one in found] == ["pearson"] * 2
    assert 0 < found["Recall"].p < 1
    known = {"unit": "rating", "images": 5}
    assert found.facts[-1] == Fact("dependent-judgements", 8, values=known)


def test_what_is_undefined_is_said():
    flat = [{**row, "rating": 3} for row in ROWS]
    found = semmetrics.meta(flat, PREDS, GTS, measures="F1 Recall", resamples=20)
    assert all(math.isnan(one.value) for one in found)
    assert Fact("constant-ratings", where="ratings") in found.facts
    assert found.to_records()[0]["value"] is None
    constant = semmetrics.meta(
        ROWS, GTS, GTS, measures="F1", statistics="kendall-b", resamples=20
    )
    assert math.isnan(constant[0].value)
    assert Fact("constant-side", where="F1") in constant.facts
    one = [{**row, "image": "all"} for row in ROWS]
    alone = semmetrics.meta(one, PREDS, GTS, measures="F1 Recall", resamples=20)
    assert all(math.isnan(row.low) and math.isnan(row.p) for row in alone)
    assert Fact("one-image", values={"unit": "rating"}) in alone.facts
    empty = {**PREDS, "a": []}
    left = semmetrics.meta(
        ROWS,
        empty,
        GTS,
        measures="Precision(no_prediction=skip)",
        statistics="kendall-b",
        resamples=20,
    )
    assert (left[0].n, left[0].lacking) == (6, 2)
    assert (left.facts[-1].code, left.facts[-1].n) == ("unjudged", 2)


CASES = {
    "no judgements": ([], {}, "nothing-given", "ratings"),
    "nan": (
        [{"id": "a", "rating": math.nan}],
        {},
        "not-finite",
        "ratings, element [0]",
    ),
    "word": (
        [{"id": "a", "rating": "good"}],
        {},
        "not-a-number",
        "ratings, element [0]",
    ),
    "unknown id": ([{"id": "zz", "rating": 1}], {}, None, "ratings"),
    "no id": ([{"rating": 1}], {}, "missing-column", "ratings, element [0]"),
    "no rating": ([{"id": "a"}], {}, "no-ratings", "ratings, element [0]"),
    "twice": ([ROWS[0], ROWS[0]], {}, "rated-twice", "ratings, element [1]"),
    "list": ([["a", 1]], {}, "needs-keys", "ratings, element [0]"),
    "mixed": (
        [{"id": "a", "rating": 1}, {"a": "a", "b": "b", "preferred": "a"}],
        {},
        "mixed-rows",
        "ratings, element [1]",
    ),
    "side": (
        [{"a": "a", "b": "b", "preferred": "c"}],
        {},
        "wrong-content",
        "ratings, element [0]",
    ),
    "either side": (
        [{"a": "b", "b": "a", "preferred": "a"}],
        {},
        "ambiguous-side",
        "ratings, element [0]",
    ),
    "role": (ROWS, {"columns": {"stars": "rating"}}, "unknown-name", "columns"),
    "column": (
        ROWS,
        {"columns": {"rating": "stars"}},
        "missing-column",
        "ratings, element [0]",
    ),
    "no name": (
        ROWS,
        {"columns": {"rating": 3}},
        "missing-column",
        "ratings, element [0]",
    ),
    "all": (
        [{**row, "of": "all"} for row in ROWS],
        {"group_by": "of"},
        "reserved-group",
        "ratings",
    ),
    "no path": ("", {}, "empty", ""),
    "groups": (
        ROWS,
        {"group_by": "rater", "aggregate": "mean"},
        "two-groups",
        "ratings",
    ),
    "williams": (
        ROWS,
        {"test": "williams", "statistics": "spearman"},
        "bad-option",
        "",
    ),
    "too few": (ROWS[1:3], {"test": "williams"}, "too-few-for-test", ""),
    "group": (ROWS, {"group_by": "place"}, "missing-column", "ratings, element [0]"),
    "no group": (
        [{**ROWS[0], "place": "x"}, {**ROWS[1], "place": None}],
        {"group_by": "place"},
        "empty",
        "ratings, element [1]",
    ),
    "statistic": (ROWS, {"statistics": "kendall"}, None, ""),
    "none": (ROWS, {"statistics": []}, None, ""),
    "aggregate": (ROWS, {"aggregate": "median"}, None, ""),
    "baseline": (ROWS, {"baseline": "F2"}, None, ""),
    "no items": (ROWS, {"measures": "MacroF1"}, None, ""),
    "protocol": (ROWS, {"protocol": "flickr8k"}, None, ""),
    "preferences": (ROWS, {"protocol": "pascal-50s"}, None, "ratings"),
    "tau of pairs": (
        [{"a": "a", "b": "b", "preferred": "a"}],
        {"statistics": "kendall-b"},
        None,
        "",
    ),
    "option": (ROWS, {"ci": True}, None, ""),
    "number": (7, {}, "wrong-type", "ratings"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused(case):
    rows, options, code, where = CASES[case]
    with refused(code, place=where):
        semmetrics.meta(
            rows, PREDS, GTS, **{"measures": "F1 Recall", "resamples": 20, **options}
        )


@pytest.mark.parametrize(
    ("image", "judged", "change", "code", "where"),
    [
        ("dogs", None, {"ground_truth": ...}, "not-judged", "id 'dogs'"),
        (
            "dogs",
            None,
            {"ground_truth": []},
            "empty",
            "id 'dogs', judgement 0 (from 0)",
        ),
        ("dogs", 1, {"rating": ...}, "wrong-type", "id 'dogs', judgement 1 (from 0)"),
        (
            "dogs",
            1,
            {"rating": None},
            "not-a-number",
            "id 'dogs', judgement 1 (from 0)",
        ),
        ("cats", 0, {"caption": 7}, "wrong-type", "id 'cats', judgement 0 (from 0)"),
    ],
)
def test_images_that_are_wrong(image, judged, change, code, where):
    data = json.loads(json.dumps(IMAGES))
    changed = data[image] if judged is None else data[image]["human_judgement"][judged]
    for key, value in change.items():
        changed[key] = value
        if value is ...:
            del changed[key]
    with refused(code, f"ratings, {where}"):
        semmetrics.meta(data, measures="ROUGE-L")


def test_sides_that_are_lacking_or_too_many():
    with refused("nothing-given", "ratings"):
        semmetrics.meta(ROWS, measures="F1")
    with refused("not-applicable", "ratings"):
        semmetrics.meta(IMAGES, PREDS, GTS, measures="ROUGE-L")
    only = {
        "x": {
            "ground_truth": ["a dog"],
            "human_judgement": [{"caption": "a dog", "rating": 1}],
        }
    }
    with refused("nothing-given", "ratings"):
        semmetrics.meta(only, protocol="flickr8k-expert", measures="ROUGE-L")


def test_columns_are_for_tables(tmp_path):
    folder = mat(tmp_path)
    for options in ({"columns": {"rating": "x"}}, {"group_by": "x"}, {"ids": "x"}):
        for data in (IMAGES, folder):
            with refused("not-applicable"):
                semmetrics.meta(data, measures="ROUGE-L", **options)


def test_groups_have_rows_of_their_own():
    found = semmetrics.meta(
        ROWS,
        PREDS,
        GTS,
        measures="F1",
        statistics="kendall-b",
        group_by="rater",
        resamples=20,
    )
    assert {one.group: one.n for one in found} == {"all": 8, "x": 4, "y": 4}
    some = [row for row in ROWS if row["rater"] == "y"]
    plain = oracle.tau_b(
        [F1[row["id"]] for row in some], [row["rating"] for row in some]
    )
    assert found["F1", "kendall-b", "y"].value == pytest.approx(plain)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_group_that_is_too_small_for_williams_has_no_p(lost):
    rows = [
        {"id": row["id"], "rating": place, "rater": row["rater"]}
        for place, row in enumerate(ROWS)
    ]
    first, second = ([row for row in rows if row["rater"] == rater] for rater in "xy")
    rows = first + second[:-lost]
    options = {"measures": "F1 Precision", "test": "williams", "resamples": 20}
    found = semmetrics.meta(rows, PREDS, GTS, group_by="rater", **options)
    whole, large, small = (
        found["Precision", "pearson", name] for name in ("all", "x", "y")
    )
    assert small.n == 4 - lost
    assert math.isnan(small.p)
    assert math.isnan(small.p_corrected)
    # the corrections are of those with a p
    assert whole.comparisons == large.comparisons == 2
    assert whole.p == semmetrics.meta(rows, PREDS, GTS, **options)["Precision"].p
    assert 0 <= large.p <= 1
    notes = {(note.code, note.where) for note in found.facts}
    assert (("untested-group", "Precision, y") in notes) is (lost == 1)
    # of two items precision is 1 for both, and its correlation undefined
    assert (("one-image", "y") in notes) is (lost == 3)
    with refused("too-few-for-test", "Precision, group 'all'"):
        semmetrics.meta(rows[:3], PREDS, GTS, group_by="rater", **options)


def test_p_equal_to_the_level_is_not_below_it():
    """1 - 0.95 is above 0.05 by rounding alone."""
    row = semmetrics.meta(ROWS, PREDS, GTS, measures="F1 Recall", resamples=20)[
        "Recall", "pearson"
    ]
    assert not replace(row, p_corrected=0.05).significant
    assert replace(row, p_corrected=0.0499).significant


def test_intervals_and_tests_are_right_in_a_simulation():
    """Of many data sets, in benchmarks/AGREEMENT.md; of these few, within four standard errors."""
    for name, coverage, found, williams in simulate(
        30, 1, 1, trials=60, resamples=200, seed=3
    ):
        assert coverage > 0.93 - 4 * math.sqrt(0.93 * 0.07 / 60), name
        assert found < 0.05 + 4 * math.sqrt(0.05 * 0.95 / 60), name
        assert math.isnan(williams) == (name != "pearson")


def test_the_table_is_read_by_names():
    found = semmetrics.meta(ROWS, PREDS, GTS, measures="F1 Recall", resamples=20)
    assert (
        found["Recall", "spearman"].heading,
        found["Recall", "spearman"].statistic,
    ) == ("Recall", "spearman")
    assert found["F1", "accuracy", "all"].statistic == "accuracy"
    with pytest.raises(KeyError):
        found["F2"]


def test_a_signature_of_agreement_is_no_score_to_compute_again():
    (one,) = semmetrics.meta(
        ROWS, PREDS, GTS, measures="F1", statistics="pearson", resamples=20
    )
    with refused("signature-of-study"):
        semmetrics.rescore(one.signature, PREDS, GTS)


@pytest.mark.parametrize("name", ["r.csv", "r.json", "r.jsonl"])
def test_every_form_of_a_table_gives_the_same(tmp_path, name):
    path = write_table(tmp_path / name, ROWS)
    options = {"measures": "F1 Recall", "resamples": 20}
    found, again = (semmetrics.meta(r, PREDS, GTS, **options) for r in (ROWS, path))
    assert found.to_dicts() == again.to_dicts()
    other = [{"item no": row["id"] + ".jpg", "stars": row["rating"]} for row in ROWS]
    named = {"rating": "stars", "id": "item no"}
    third = semmetrics.meta(
        other, PREDS, GTS, columns=named, ids=r"(\w)[.]jpg", **options
    )
    assert values(third) == values(found)


SYSTEMS = {"new": PREDS, "old": {**GTS, "a": ["cow"], "c": ["bus"]}}
RATED = [
    {"item": one["id"], "system": system, "rating": one["rating"] + shift}
    for shift, system in enumerate(SYSTEMS)
    for one in ROWS
]


def test_ratings_of_several_systems_are_those_of_their_predictions():
    options = {"measures": "F1 Jaccard", "resamples": 50}
    together = semmetrics.meta(RATED, gts=GTS, systems=SYSTEMS, **options)
    pooled = {
        f"{name}/{key}": value
        for name, of in SYSTEMS.items()
        for key, value in of.items()
    }
    rows = [
        {
            "candidate": f"{one['system']}/{one['item']}",
            "reference": one["item"],
            "rating": one["rating"],
        }
        for one in RATED
    ]
    assert values(together) == values(semmetrics.meta(rows, pooled, GTS, **options))
    grouped = semmetrics.meta(
        RATED, gts=GTS, systems=SYSTEMS, group_by="system", **options
    )
    old = [
        {"id": one["item"], "rating": one["rating"]}
        for one in RATED
        if one["system"] == "old"
    ]
    alone = semmetrics.meta(old, SYSTEMS["old"], GTS, **options)
    for key, value in values(alone).items():
        assert values(grouped)[key[0], "old", key[2]] == value
    renamed = [
        {"item": one["item"], "m": one["system"], "rating": one["rating"]}
        for one in RATED
    ]
    same = semmetrics.meta(
        renamed, gts=GTS, systems=SYSTEMS, columns={"system": "m"}, **options
    )
    assert values(same) == values(together)


@pytest.mark.parametrize(
    ("rows", "systems", "code"),
    [
        (ROWS, SYSTEMS, "missing-column"),
        (RATED, {"new": PREDS}, "unmatched-ids"),
        (RATED, {**SYSTEMS, "old": {"a": ["cat"]}}, "unmatched-ids"),
        ([{**RATED[0], "rating": "good"}], SYSTEMS, "not-a-number"),
        (GTS, SYSTEMS, "not-judged"),
    ],
)
def test_ratings_that_do_not_fit_the_systems(rows, systems, code):
    with refused(code):
        semmetrics.meta(rows, gts=GTS, systems=systems, measures="F1")


def test_one_prediction_is_not_of_several_systems():
    with refused("conflicting-options"):
        semmetrics.meta(RATED, PREDS, GTS, systems=SYSTEMS)
    table = semmetrics.meta(RATED[:8], PREDS, GTS, measures="F1", resamples=20)
    (fact,) = facts(table, "unused-judged-columns")
    assert fact.examples == ("system",)
    rows = [{"id": one["item"], "rating": one["rating"]} for one in RATED[:8]]
    assert not facts(
        semmetrics.meta(rows, PREDS, GTS, measures="F1"), "unused-judged-columns"
    )


def test_meta_reads_several_files_in_one_call(tmp_path):
    paths = {}
    for name, data in {**SYSTEMS, "gt": GTS}.items():
        paths[name] = str(tmp_path / f"{name}.json")
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    ratings = str(tmp_path / "ratings.csv")
    pd.DataFrame(RATED).to_csv(ratings, index=False)
    options = ["meta", "-m", "F1", "--format", "json", "--resamples", "20"]
    calls = [
        [ratings, paths["new"], paths["old"], paths["gt"]],
        [ratings, f"new={paths['new']}", f"old={paths['old']}", paths["gt"]],
    ]
    found = semmetrics.meta(
        ratings, gts=paths["gt"], systems=SYSTEMS, measures="F1", resamples=20
    )
    for call in calls:
        result = CliRunner().invoke(program, [*options, *call])
        entries = json.loads(result.stdout)["agreements"]
        assert [one["value"] for one in entries] == [one.value for one in found]
    wrong = [
        (
            [f"new={paths['new']}", f"old={paths['old']}", paths["gt"]],
            "ratings come first",
        ),
        ([paths["new"], paths["old"], paths["gt"], ratings], "human_judgement"),
        ([ratings, paths["new"]], "PRED... and GT"),
    ]
    for call, text in wrong:
        result = CliRunner().invoke(program, [*options, *call])
        assert result.exit_code == 2
        assert text in result.stderr
