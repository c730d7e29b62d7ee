"""The labels that averages include: those of both sides, a class list, or columns."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sklearn_metrics
from refusals import refused
from scipy.sparse import csr_array
from sklearn.preprocessing import MultiLabelBinarizer

import semmetrics
from semmetrics import as_labels
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.scale.stream import score_stream

SKLEARN_SCORES = {
    "F1": sklearn_metrics.f1_score,
    "Precision": sklearn_metrics.precision_score,
    "Recall": sklearn_metrics.recall_score,
    "Jaccard": sklearn_metrics.jaccard_score,
}


def value(preds, refs, measure="HammingLoss", **options):
    return semmetrics.score(preds, refs, measures=measure, **options)[0].value


# ---- label lists --------------------------------------------------------------------


def draw_lists(seed):
    """Draw label sets of two vocabularies that overlap. Some sets are empty."""
    rng = np.random.default_rng(seed)
    names = np.array([f"l{place}" for place in range(12)])
    sides = []
    for vocabulary in (names[:9], names[3:]):
        rows = rng.random((20, 9)) < 0.25
        sides.append([vocabulary[row].tolist() for row in rows])
    sides[1][0] = ["l3"]
    return sides


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", SKLEARN_SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_averages_include_the_labels_of_both_sides_as_in_scikit_learn(
    seed, name, average
):
    preds, refs = draw_lists(seed)

    result = value(preds, refs, f"{name}(average={average})")

    binarizer = MultiLabelBinarizer().fit(preds + refs)
    tables = binarizer.transform(refs), binarizer.transform(preds)
    expected = SKLEARN_SCORES[name](*tables, average=average, zero_division=0)
    assert result == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("options", ["macro,absent=0", "weighted", "micro"])
@pytest.mark.parametrize("name", SKLEARN_SCORES)
def test_averages_include_only_the_labels_of_a_class_list(name, options):
    preds, refs = draw_lists(0)
    classes = [f"l{place}" for place in range(3, 14)]  # without three, with two unseen
    measure = f"{name}(average={options})"

    (result,) = semmetrics.score(preds, refs, measures=measure, classes=classes)

    binarizer = MultiLabelBinarizer(classes=["l0", "l1", "l2", *classes]).fit(preds)
    expected = SKLEARN_SCORES[name](
        binarizer.transform(refs),
        binarizer.transform(preds),
        average=options.partition(",")[0],
        labels=range(3, 14),
        zero_division=0,
    )
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert "|labels:given|" in result.signature
    assert "|L:11|" in result.signature
    outside = [label for row in preds for label in row if label not in classes]
    assert result.left_out == (len(set(outside)), len(outside), 0)


# ---- columns of matrices ------------------------------------------------------------

COLUMNS = ["l0", "l1", "l2", "l3", "l4"]
# Two columns are empty on both sides.
PREDS = np.array([[1, 0, 0, 1, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 0]])
REFS = np.array([[1, 0, 1, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]])


def as_frame(cells):
    return pd.DataFrame(cells, columns=COLUMNS)


def as_mapping(cells):
    rows = as_frame(cells).to_dict(orient="records")
    return {f"item {place}": row for place, row in enumerate(rows)}


def as_booleans(cells):
    return as_mapping(cells.astype(bool))


FORMS = {
    "floats": lambda cells: cells.astype(float),
    "frame": as_frame,
    "sparse": csr_array,
    "mapping": as_mapping,
    "booleans": as_booleans,
    "series of booleans": lambda cells: pd.Series(as_booleans(cells)),
}


def measures_of_counts():
    """Return all averages of the measures of label sets that need only counts."""
    measures = parse_all(["F1@2", "Precision(denominator=cutoff)@3"])
    for definition in all_definitions("labels"):
        options = {option.name: option for option in definition.options}
        if definition.needs or "beta" in options:
            continue
        given = {"q": 9} if "q" in options else {}
        if "average" not in options:
            measures.append(definition(**given))
            continue
        for average in options["average"].choices:
            measures.append(definition(average=average, **given))
    return measures


def test_all_columns_of_a_matrix_are_labels():
    measures = ["HammingLoss", "F1(average=macro,absent=0)", "C-F1"]

    table = semmetrics.score(PREDS, REFS, measures=measures)

    macro = {"average": "macro"}
    expected = [
        sklearn_metrics.hamming_loss(REFS, PREDS),
        sklearn_metrics.f1_score(REFS, PREDS, zero_division=0, **macro),
        sklearn_metrics.f1_score(REFS, PREDS, zero_division=1, **macro),
    ]
    assert [score.value for score in table] == pytest.approx(expected, abs=1e-6)
    assert all("|L:5|" in score.signature for score in table)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_measure_depends_on_the_form_of_a_matrix(form):
    measures = measures_of_counts()
    scorer = semmetrics.Scorer(measures=measures, keep_rows=False)
    scorer.update(form(PREDS), form(REFS))

    table = semmetrics.score(form(PREDS), form(REFS), measures=measures)

    expected = semmetrics.score(PREDS, REFS, measures=measures).to_dict()
    assert table.to_dict() == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
    computed = scorer.compute().to_dict()
    assert computed == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("form", [as_frame, csr_array, as_booleans])
def test_batches_have_the_columns_of_all_items(form, keep_rows):
    scorer = semmetrics.Scorer(measures="HammingLoss", keep_rows=keep_rows)
    for row in range(3):
        batch = [form(side[row : row + 1]) for side in (PREDS, REFS)]
        if form is as_booleans:
            batch = [{str(row): side["item 0"]} for side in batch]
        scorer.update(*batch)

    assert scorer.compute()[0].value == value(PREDS, REFS)


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_all_keys_of_booleans_in_a_file_are_labels(suffix, tmp_path):
    paths = []
    for name, cells in (("preds", PREDS), ("refs", REFS)):
        text = json.dumps(as_booleans(cells))
        if suffix == "jsonl":
            lines = []
            for item, labels in as_booleans(cells).items():
                lines.append(json.dumps({"id": item, "labels": labels}))
            text = "\n".join(lines)
        path = tmp_path / f"{name}.{suffix}"
        path.write_text(text)
        paths.append(str(path))

    assert value(*paths) == value(PREDS, REFS)
    if suffix == "jsonl":
        stream = score_stream(*paths, measures="HammingLoss").compute()
        assert stream[0].value == value(PREDS, REFS)
        assert "|L:5|" in stream[0].signature


def test_the_categories_of_coco_instances_are_labels():
    names = ["cat", "dog", "bus", "zebra"]
    truth = {
        "images": [{"id": 1}, {"id": 2}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 0},
            {"id": 2, "image_id": 2, "category_id": 2},
        ],
        "categories": [{"id": place, "name": name} for place, name in enumerate(names)],
    }

    table = semmetrics.score(
        {"1": ["cat"], "2": ["dog", "bus"]},
        truth,
        measures="HammingLoss MacroF1(absent=0)",
    )

    assert [score.value for score in table] == [1 / 8, 2 / 4]
    assert "|L:4|" in table["HammingLoss"].signature


@pytest.mark.parametrize("key", [1, "", None])
def test_keys_of_booleans_must_be_labels(key):
    with pytest.raises(semmetrics.InputError, match="id 'a', label 2: "):
        as_labels({"a": {"x": True, key: False}})


def test_columns_of_one_side_and_the_labels_of_the_other_are_included():
    truth = {"x": ["a"], "y": ["b", "z"]}
    preds = pd.DataFrame([[1, 0, 0], [0, 1, 1]], ["x", "y"], ["a", "b", "c"])

    assert value(preds, truth) == 2 / 8  # four labels in two items
    assert value(truth, preds) == 2 / 8
    assert value(truth, preds, ignore=["c"]) == 1 / 6


def test_a_protocol_uses_the_columns_as_class_list():
    cells = np.eye(3, 5, dtype=int)

    table = semmetrics.score(cells, cells, protocol="pineda2019")

    assert "|labels:given|" in table["C-F1"].signature
    with refused("needs-option", name="classes"):
        value([["a"]], [["a"]], "C-F1")


def test_a_class_list_replaces_the_columns():
    preds = pd.DataFrame([[1, 0]], columns=["a", "b"])

    assert value(preds, preds * 0, classes=["a", "b", "c"]) == 1 / 3
