"""The adapters beside torchmetrics, scikit-learn and evaluate themselves."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

from semmetrics import score
from semmetrics.adapters import as_sides
from semmetrics.adapters.evaluate import SemMetric as Module
from semmetrics.adapters.sklearn import make_scorer, measure_value

LABELS = [["cat", "dog"], ["cat"], ["cow"]], [["cat"], ["cat", "cow"], ["cow"]]
CAPTIONS = (
    ["a man on a horse", "two dogs play"],
    [["a man rides a horse"], ["two dogs", "dogs"]],
)
NAMES = ["F1(average=macro)", "Recall"]
# Measures, options, how many items the first of two processes has, and the items.
CASES = [
    ("F1(average=macro)", {}, 0, LABELS),
    ("MicroF1", {"keep_rows": False}, 1, LABELS),
    ("SoftF1", {}, 3, LABELS),
    ("CIDEr", {}, 1, CAPTIONS),
    # as a sampler repeats them
    (
        "F1",
        {},
        1,
        [{"a": side[0], "b": side[1]} for side in LABELS],
    ),
]
PROCESS = """
import json, sys, torch
from semmetrics.adapters.torchmetrics import SemMetric
rank, place = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", "file://" + place, rank=rank, world_size=2)
for measures, options, first, sides in json.loads(sys.argv[3]):
    metric = SemMetric(measures, **options)
    for n in range(first)[::-1] if rank == 0 else range(first, len(sides[0])):
        metric(*(s[n : n + 1] if type(s) is list else {"a": s["a"]} for s in sides))
    try:
        print(metric.compute().item().hex(), len(metric._scorer))
    except ValueError as error:
        print(error.code, len(metric._scorer))
"""


def test_two_processes_have_the_value_of_one(tmp_path):
    pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    given = [str(tmp_path / "met"), json.dumps(CASES)]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(rank), *given],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    found = [process.communicate(timeout=300)[0].splitlines() for process in started]
    for (measures, options, first, (preds, gts)), *lines in zip(
        CASES, *found, strict=True
    ):
        value = score(preds, gts, measures=measures, **options)[0].value.hex()
        value = value if isinstance(preds, list) else "ids-in-two-batches"
        assert lines == [f"{value} {first}", f"{value} {len(preds) - first}"], measures


def test_torchmetrics_loops():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    theirs = pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    from semmetrics.adapters.torchmetrics import SemMetric

    preds, target, classes = (
        torch.tensor([2, 0, 1, 1]),
        torch.tensor([2, 1, 1, 0]),
        ["a", "b", "c"],
    )
    both = theirs.MetricCollection(
        {
            "theirs": theirs.classification.MulticlassF1Score(3, average="macro"),
            "mine": SemMetric(NAMES[0]),
            "more": SemMetric(NAMES, classes=classes),
        }
    )
    for rows in (slice(0, 3), slice(3, 4)):
        batch = both(preds[rows], target[rows])
    assert batch["theirs"] == batch["mine"] == 0
    values = pickle.loads(pickle.dumps(both.clone())).compute()
    assert values["mine"] == values[NAMES[0]] == pytest.approx(values["theirs"].item())
    top = SemMetric("Accuracy", classes=classes, keep_rows=False, sync_on_compute=False)
    assert top(torch.eye(3)[preds].bfloat16(), target) == 0.5


def test_scikit_learn_searches():
    metrics = pytest.importorskip(
        "sklearn.metrics", reason="scikit-learn is not installed"
    )
    from sklearn import datasets, model_selection, neighbors

    model = neighbors.KNeighborsClassifier()
    x, sets = datasets.make_multilabel_classification(
        60, 5, n_classes=4, random_state=0
    )
    single, named = sets[:, 0], np.array(["no", "yes"])[sets[:, 0]]
    loss = metrics.make_scorer(metrics.hamming_loss, greater_is_better=False)
    for y, measure, options, theirs in [
        (sets, NAMES[0], {}, "f1_macro"),
        (named, NAMES[0], {}, "f1_macro"),
        (single + 1234567.0, NAMES[0], {}, "f1_macro"),
        (single + 1.0, NAMES[0], {"classes": ["1.0", "2.0"]}, "f1_macro"),
        (single, "Accuracy", {"classes": np.arange(2)}, "accuracy"),
        (sets, "mAP", {}, "average_precision"),
        (single, "ROC-AUC", {}, "roc_auc"),
        (sets, "HammingLoss", {}, loss),
        (sets * [1, 0, 1, 0], "HammingLoss", {}, loss),
        (single, "HammingLoss", {}, loss),
        (named, "HammingLoss", {}, loss),
        (single + 1.0, "HammingLoss", {"classes": ["1.0", "2.0"]}, loss),
    ]:
        values = [
            model_selection.cross_val_score(model, x, y, scoring=scoring, cv=3)
            for scoring in (make_scorer(measure, **options), theirs)
        ]
        assert values[0] == pytest.approx(values[1]), measure
    tree = model_selection.cross_val_score(
        neighbors.KNeighborsClassifier(1), x, sets, cv=3, scoring=make_scorer("mAP")
    )
    assert not np.isnan(tree).any()  # all scores are 0 or 1
    grid, scorer = (
        {"n_neighbors": [1, 5]},
        pickle.loads(pickle.dumps(make_scorer(NAMES[0]))),
    )
    assert (
        model_selection.GridSearchCV(model, grid, scoring=scorer)
        .fit(x, sets)
        .best_score_
        > 0
    )
    with refused("needs-option", name="pos_label"):
        make_scorer("ROC-AUC")(model.fit(x, named), x, named)
    three = sets[:, 0] + sets[:, 1] + 1  # of which scores do not say the names
    with refused("needs-option", name="classes"):
        make_scorer("mAP")(model.fit(x, three), x, three)


def test_hamming_loss_of_lists_counts_labels_even_if_each_has_one():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    truth, preds = [["a"], ["b"], ["c"]], [["a"], ["b"], ["a"]]
    want = score(preds, truth, measures="HammingLoss")[0].value
    assert (
        measure_value(truth, preds, measures=["HammingLoss"])
        == want
        == pytest.approx(2 / 9)
    )
    classes = np.array(["a", "b", "c"]), np.array(["a", "b", "a"])
    assert measure_value(*classes, measures=["HammingLoss"]) == pytest.approx(1 / 3)


def test_evaluate_combines_and_evaluates():
    modules = pytest.importorskip("evaluate", reason="evaluate is not installed")
    both = modules.combine({"sets": Module(NAMES), "more": Module("F1")})
    both.add(predictions=LABELS[0][0], references=LABELS[1][0])
    both.add_batch(predictions=LABELS[0][1:], references=LABELS[1][1:])
    assert both.compute() == score(*LABELS, measures=[*NAMES, "F1"]).to_dict()

    from evaluate.evaluator.base import Evaluator

    sides = {"predictions": [0, 1], "references": [1, 1]}
    assert Evaluator.compute_metric(Evaluator, Module("Accuracy"), sides) == {
        "Accuracy": 0.5
    }


def test_batches_and_classes_by_place():
    metric = Module("F1", classes=["cat", "dog"])
    metric.add(prediction=["cat"], reference=["cat"])
    with refused("wrong-type"):  # and keeps what was added
        metric.compute(predictions=["a"], references=[None])
    assert metric.compute(predictions=[0], references=[1]) == {"F1": 0.5}
    with pytest.raises(KeyError):
        as_sides({"measures": "F1", "classes": ["cat"]}, [-1])
