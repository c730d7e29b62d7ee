"""What is probably a mistake is noted: labels by spelling, joined cells, swapped sides."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from refusals import codes, facts, refused
from tiny import Tiny

import semmetrics
from semmetrics.kinds.labels.normalization import normalization, singular
from semmetrics.scoring.table_text import report_shared


def scored(preds, gts, **options):
    return semmetrics.score(
        preds, gts, measures=options.pop("measures", "F1"), **options
    )


def noted(preds, gts, **options):
    return codes(scored(preds, gts, **options))


# ---- labels that are alike -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["none+lower", "lower+lower", "lower+", "stem", "", None, 3]
)
def test_normalisations_that_mean_nothing_are_refused(name):
    with refused("bad-option", name="normalize"):
        normalization(name)


# ---- delimiters, and labels of one side ----------------------------------------------------------


def test_csv_with_labels_in_one_cell(tmp_path):
    preds, gts = tmp_path / "a.csv", tmp_path / "b.csv"
    preds.write_text("id,label\n1,cat;dog\n2,cow\n3,dog;cow\n")
    gts.write_text("id,label\n1,cat;cow\n2,cow\n3,cow;dog\n")
    found = facts(scored(preds, gts), "joined-labels")
    assert [(fact.n, fact.where) for fact in found] == [(2, "a"), (2, str(gts))]
    assert len(semmetrics.validate(preds)["odd"]) == 1
    read = semmetrics.ReadOptions(label_delimiter=";")
    assert noted(preds, gts, read=read) == []
    assert semmetrics.validate(preds, read=read)["odd"] == []


def test_sides_that_share_hardly_any_label():
    preds, gts = [[f"p{n}"] for n in range(20)], [[f"g{n}"] for n in range(20)]
    (fact,) = scored(preds, gts).facts
    assert (fact.code, fact.n, fact.examples) == ("one-sided-labels", 20, ("p0",))
    assert fact.values["total"] == 20
    assert noted(preds[:9], gts[:9]) == []
    assert noted([["g1"], ["g2"], *preds[2:]], gts) == []


# ---- captions for labels, labels for captions, sides that are swapped ----------------------------


def test_lists_that_a_delimiter_cut_are_noted(tmp_path):
    file = tmp_path / "p.csv"
    rows = [{"id": "a", "labels": ["boat", "bus"]}, {"id": "b", "labels": ["cat"]}]
    pd.DataFrame(rows).to_csv(file, index=False)
    gts = {"a": ["boat", "bus"], "b": ["cat"]}
    read = semmetrics.ReadOptions(label_delimiter=",")
    (fact,) = facts(scored(file, gts, read=read), "lists-as-text")
    assert (fact.n, fact.where) == (3, "p")
    assert noted(file, file) == []
    assert noted({"a": ["[sic]", "cat's"], "b": []}, gts) == []


def test_swapped_sides_are_refused_where_scores_are_needed():
    with refused("swapped-sides"):
        scored({"a": ["cat"]}, {"a": {"cat": 0.9, "dog": 0.2}}, measures="mAP")


# ---- thresholds, composed labels, signatures, what has no effect ---------------------------------


@pytest.mark.parametrize("name", ["word2vec-googlenews-300", "GoogleNews-vectors"])
def test_word2vec_has_the_threshold_of_its_paper(name):
    from semmetrics.embed.words import MatrixEmbedder

    model = MatrixEmbedder(np.eye(2), ["cat", "dog"], name=name)
    assert noted([["cat"]], [["dog"]], measures="SemF1", embedding=model) == []


def test_what_signatures_do_not_share_is_shown():
    other = Tiny({"cat": [1.0, 0.0], "dog": [0.6, 0.8]})
    measures = ["F1", "SemF1", "SemF1(embedding=own)"]
    table = semmetrics.score(
        [["cat"]], [["dog"]], measures=measures, embedding={"own": other}
    )
    first, same, both, own = report_shared(table).split("\n")
    assert "emb:" not in first
    assert both == "signatures of SemF1, SemF1(embedding=own): lookup:text|oov:zero"
    assert same.startswith("signatures of SemF1: thr:")
    assert "|emb:semmetrics-same-" in same
    assert own.startswith(
        f"signatures of SemF1(embedding=own): thr:0.4|emb:{other.identity}"
    )
    systems = {"a": {"1": ["cat"], "2": ["cat"]}, "b": {"1": ["cat"]}}
    gts = {"1": ["cat"], "2": ["dog"]}
    table = semmetrics.score_systems(systems, gts, measures="F1", missing="skip")
    _, a, b = report_shared(table).split("\n")
    assert a.startswith("signatures of a: n:2|data:")
    assert b.startswith("signatures of b: n:1|data:")


def test_keys_that_mean_nothing_are_refused(tmp_path):
    path = tmp_path / "df.json"
    path.write_text('{"documents": 3, "frequencies": {"a": 1}, "tokeniser": "ptb"}')
    with refused("unknown-name"):
        semmetrics.DocumentFrequencies.load(path)
    found = semmetrics.calibrate_threshold_on_pairs(
        [("car", "automobile", 1), ("car", "tree", 0)]
    ).to_dict()
    path.write_text(json.dumps(found | {"treshold": 0.3}))
    with refused("not-a-calibration"):
        semmetrics.score([["a"]], [["a"]], measures="SemF1", calibration=path)


def test_names_with_commas_are_no_lists():
    names = [
        "tench, Tinca tinca",
        "goldfish, Carassius auratus",
        "hammerhead, hammerhead shark",
    ]
    gts = [[name] for name in names]
    assert noted(gts, gts) == []
    assert semmetrics.validate(gts, task="labels")["odd"] == []
    others = [*gts, *([[f"label {n}"]] for n in range(5))]
    assert noted(others, others) == []
    # one odd name among many
    assert (
        noted(
            [["rhythm, blues"]] + 9 * [["cat"]] + [["dog"]], 10 * [["cat"]] + [["dog"]]
        )
        == []
    )


def test_plurals():
    pairs = (
        "cats cat, boxes box, dishes dish, watches watch, glasses glass, berries berry, "
        "cookies cookie, houses house, horses horse, roses rose, buses bus, lenses lens, "
        "tomatoes tomato, shoes shoe, gloves glove, series series, tennis tennis, glass glass, "
        "cactus cactus, men men, axes axe, gas gas"
    )
    for pair in pairs.split(", "):
        plural, one = pair.split()
        assert (singular(plural), singular(one)) == (one, one)


@pytest.mark.parametrize(
    ("highest", "threshold", "code"),
    [
        (98.0, 0.5, "no-probabilities"),
        (98.0, 50.0, None),
        (98.0, 0.0, None),
        (0.98, 0.5, None),
        (1 + 1e-6, 0.5, None),
        (0.98, 0.99, "nothing-predicted"),
        (98.0, "best", None),
    ],
)
def test_thresholds_on_another_scale_are_noted(highest, threshold, code):
    preds = {"1": {"cat": highest, "dog": highest / 50}, "2": {"dog": highest / 2}}
    truth = {"1": ["cat"], "2": ["dog"]}
    if code == "no-probabilities":
        with pytest.warns(semmetrics.InputWarning, match="activation='sigmoid'"):
            found = noted(preds, truth, threshold=threshold)
    else:
        found = noted(preds, truth, threshold=threshold)
    assert {"no-probabilities", "nothing-predicted"} & {*found} == {code} - {None}


def test_classes_that_differ_by_case_are_noted():
    preds, truth = {"1": "cat", "2": "horse"}, {"1": "cat", "2": "Horse"}
    assert "lookalikes" in codes(semmetrics.score(preds, truth, task="classes"))
    with refused("similar-class", value="Horse", similar="horse"):
        semmetrics.score(preds, truth, task="classes", classes=["cat", "horse"])


@pytest.mark.parametrize(
    ("preds", "gts", "noted"),
    [
        ({"a": ["0", "2"], "b": ["1"]}, {"a": ["cat"], "b": ["dog"]}, True),
        ({"a": ["cat"], "b": ["dog"]}, {"a": ["0", "2"], "b": ["1"]}, True),
        ({"a": ["0", "2"], "b": ["1"]}, {"a": ["3"], "b": ["4"]}, False),
        ({"a": ["0", "dog"], "b": ["1"]}, {"a": ["cat"], "b": ["dog"]}, False),
        ({"a": ["x"], "b": ["y"]}, {"a": ["cat"], "b": ["dog"]}, False),
        ({"a": ["0"], "b": ["1"]}, {"a": ["0"], "b": ["1"]}, False),
        ({"a": ["1970s"], "b": ["1980s"]}, {"a": ["cat"], "b": ["dog"]}, False),
    ],
)
def test_numbers_against_names_are_noted_for_few_items(preds, gts, noted):
    table = semmetrics.score(preds, gts, measures="F1")
    assert ("one-sided-labels" in {fact.code for fact in table.facts}) is noted


def test_columns_of_numbers_against_columns_of_names_are_noted(tmp_path):
    rows = ["1,0,1", "0,1,0"]
    paths = []
    for name, header in (("preds", "id,0,1,2"), ("gts", "id,cat,dog,cow")):
        lines = [header] + [f"item {number},{row}" for number, row in enumerate(rows)]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(lines) + "\n")
    table = semmetrics.score(*paths, measures="F1")
    assert "one-sided-labels" in {fact.code for fact in table.facts}


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"
ENCODINGS = [
    ({"a": [DECOMPOSED], "b": ["bus"]}, {"a": [COMPOSED], "b": ["bus"]}, "preds"),
    ({"a": [COMPOSED], "b": [COMPOSED]}, {"a": [COMPOSED], "b": [DECOMPOSED]}, "gts"),
    ({"a": ["zebra\u200b"], "b": ["bus"]}, {"a": ["zebra"], "b": ["bus"]}, "preds"),
    ({"a": ["\ufeffcat"], "b": ["bus"]}, {"a": ["cat"], "b": ["bus"]}, "preds"),
]


@pytest.mark.parametrize(("preds", "gts", "where"), ENCODINGS)
def test_labels_that_only_look_equal(preds, gts, where):
    (fact,) = facts(semmetrics.score(preds, gts, measures="F1"), "other-encoding")
    assert (fact.n, fact.where) == (1, where)
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update(preds, gts)
    assert len(facts(scorer.compute(), "other-encoding")) == 1


def test_columns_that_only_look_equal():
    scores = pd.DataFrame({"id": ["a", "b"], DECOMPOSED: [0.9, 0.1], "bus": [0.2, 0.8]})
    table = semmetrics.score(scores, {"a": [COMPOSED], "b": ["bus"]}, measures="mAP")
    assert len(facts(table, "other-encoding")) == 1


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        ({"a": [DECOMPOSED], "b": ["bus"]}, {"a": [DECOMPOSED], "b": ["bus"]}),
        ({"a": [DECOMPOSED], "b": ["bus"]}, {"a": ["tea"], "b": ["bus"]}),
        ({"a": ["cafe"], "b": ["bus"]}, {"a": [COMPOSED], "b": ["bus"]}),
        ({"a": ["\u2764\ufe0f"], "b": ["bus"]}, {"a": ["\u2764\ufe0f"], "b": ["bus"]}),
    ],
)
def test_labels_that_do_not_look_equal(preds, gts):
    assert not facts(semmetrics.score(preds, gts, measures="F1"), "other-encoding")


@pytest.mark.parametrize(
    ("columns", "measures", "n"),
    [
        ({"logit": [1, 5, 2]}, "F1@1", 1),
        ({"rank": [2, 1, 1]}, "Precision@1", 1),
        ({"logit": [1, 5, 2]}, "F1", 0),
        ({"logit": [1, 5, 2], "score": [1, 5, 2]}, "F1@1", 0),
        ({"problem": [1, 5, 2], "annotator": [1, 1, 2]}, "F1@1", 0),
    ],
)
def test_the_order_of_the_file_beside_a_column_like_scores(columns, measures, n):
    rows = pd.DataFrame(
        {"id": ["a", "a", "b"], "label": ["cat", "dog", "bus"], **columns}
    )
    table = scored(rows, {"a": ["dog"], "b": ["bus"]}, measures=measures)
    assert [fact.examples for fact in facts(table, "order-of-file")] == [
        (next(iter(columns)),)
    ] * n


@pytest.mark.parametrize(
    ("column", "numbers", "n"),
    [
        ("distance", [0.2, 0.5, 0.1], 1),
        ("l2_dist", [0.2, 0.5, 0.1], 1),
        ("Rank", [1, 2, 1], 1),
        ("distance", [-0.2, -0.5, -0.1], 0),
        ("neg_distance", [0.2, 0.5, 0.1], 0),
        ("logit", [0.2, 0.5, 0.1], 0),
        ("distinct", [0.2, 0.5, 0.1], 0),
    ],
)
def test_scores_named_as_a_distance(column, numbers, n, tmp_path):
    rows = {"id": ["a", "a", "b"], "label": ["cat", "dog", "bus"], column: numbers}
    path = tmp_path / "p.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    for preds in (str(path), pd.DataFrame(rows)):
        table = scored(preds, {"a": ["dog"], "b": ["bus"]}, pred_score_column=column)
        assert len(facts(table, "less-is-better")) == n
    judged = pd.DataFrame({"qid": ["a", "b"], "docno": ["dog", "bus"], column: [1, 1]})
    run = {"a": ["dog"], "b": ["bus"]}
    table = scored(
        run, judged, task="retrieval", measures="MRR", gt_score_column=column
    )
    assert not facts(table, "less-is-better")


FOLDERS = [
    (["/data/a.jpg", "/data/b.jpg"], ["a.jpg", "b.jpg"]),
    (["a.png", "b.png"], ["a.jpg", "b.jpg"]),
    (["C:\\img\\a.jpg", "C:\\img\\b.jpg"], ["/data/a.jpg", "/data/b.jpg"]),
]


@pytest.mark.parametrize(("ids", "others"), FOLDERS)
@pytest.mark.parametrize("missing", ["error", "skip", "empty", "common"])
def test_ids_in_other_folders(ids, others, missing):
    preds, gts = {name: ["cat"] for name in ids}, {name: ["cat"] for name in others}
    for one, other in ((preds, gts), (gts, preds)):
        with refused("joinable-ids") as caught:
            scored(one, other, missing=missing)
        expression = caught.value.values["expression"]
        assert scored(one, other, ids=expression)[0].value == 1.0


def test_other_ids_are_missing_items():
    table = scored({"a": ["cat"], "b": ["cat"]}, {"c": ["cat"]}, missing="empty")
    assert table[0].value == 0.0
    table = scored(
        {"x/a": ["cat"], "b": ["cat"]}, {"a": ["cat"], "b": ["cat"]}, missing="empty"
    )
    assert codes(table) == ["missing-prediction", "missing-reference"]


NESTED = {"a": [["cat", "dog"]], "b": [["dog", "bus"]]}
FLAT = {"a": ["cat", "dog"], "b": ["dog", "bus"]}
NAMES = {"a": [["sofa", "couch"]], "b": [["car", "auto"]]}
IDENTICAL = {"a": [["cat", "dog"]]}


@pytest.mark.parametrize(
    ("preds", "gts", "noted"),
    [
        (NESTED, FLAT, ["preds"]),
        (FLAT, NESTED, ["gts"]),
        (NESTED, NESTED, ["preds", "gts"]),
        (IDENTICAL, IDENTICAL, ["preds"]),
        (IDENTICAL, FLAT, ["preds"]),
        (NESTED | {"c": [["bus"]]}, FLAT | {"c": ["bus"]}, ["preds"]),
        ({"a": ["sofa"], "b": ["car"]}, NAMES, []),
        (NAMES, NAMES, []),
        (FLAT, FLAT, []),
        (FLAT, {"a": [["cat", "kitty"], "dog"], "b": ["dog", ["bus", "coach"]]}, []),
        ({"a": ["cat"]}, {"a": [["cat", "kitty"]]}, []),
        ({"a": [["cat", 0.9]], "b": [["dog", 0.3]]}, FLAT, []),
    ],
)
def test_lists_in_lists_are_noted_if_they_are_not_synonyms(preds, gts, noted):
    keys = set(preds) & set(gts)
    sides = [{key: side[key] for key in sorted(keys)} for side in (preds, gts)]
    table = semmetrics.score(*sides, measures="F1", top_k=1)
    assert [fact.where for fact in facts(table, "nested-labels")] == noted


@pytest.mark.parametrize(
    ("preds", "truth", "count"),
    [
        ([["nan"], ["N/A"], ["cat"]], [[], [], ["cat"]], 1),
        ([["None"], ["cat"]], [["dog"], ["cat"]], 1),
        ([["nan"], ["cat"]], [["nan"], []], 2),
        ([["None"], ["cat"]], [["None"], ["cat"]], 0),
        ([["none", "cat"]], [["cat"]], 0),
        ([["Nancy"], ["none of these"]], [["cat"], ["dog"]], 0),
    ],
)
def test_texts_for_missing_values_are_noted(preds, truth, count):
    table = semmetrics.score(preds, truth, measures="F1")
    assert codes(table).count("missing-labels") == count


def test_missing_values_of_a_class_list_are_classes():
    table = semmetrics.score(
        [["none"], []], [["cat"], []], measures="F1", classes=["none", "cat"]
    )
    assert "missing-labels" not in codes(table)


def test_captions_for_missing_values_are_noted():
    truth = ["a dog runs", "a cat sits"]
    table = semmetrics.score(["nan", "a cat"], truth, measures="BLEU-1")
    assert codes(table) == ["missing-captions"]
    assert (
        codes(semmetrics.score(["none of it", "a cat"], truth, measures="BLEU-1")) == []
    )


# ---- files beside the data -----------------------------------------------------------------------


def test_the_header_of_a_class_list_is_noted(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("class\ncat\ndog\n")
    options = {"measures": "HammingLoss", "classes": path}
    found = semmetrics.score([["cat"]], [["dog"]], **options)
    (fact,) = facts(found, "header-as-class")
    assert fact.values["name"] == "class"
    found = semmetrics.score([["cat"]], [["dog", "class"]], **options)
    assert facts(found, "header-as-class") == []
    found = semmetrics.score(
        [["cat"]], [["dog"]], measures="F1", classes=["cat", "dog", "class"]
    )
    assert facts(found, "header-as-class") == []


def test_a_label_to_ignore_that_is_a_file_is_noted(tmp_path):
    path = tmp_path / "ignore.txt"
    path.write_text("dog\n")
    found = semmetrics.score([["cat"]], [["dog"]], measures="F1", ignore=[str(path)])
    (fact,) = facts(found, "ignored-file")
    assert fact.values["name"] == str(path)
    found = semmetrics.score(
        [["cat"]], [["dog"]], measures="F1", ignore=["no such file"]
    )
    assert facts(found, "ignored-file") == []
