"""The adapters next to torchmetrics, scikit-learn and evaluate themselves."""

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
MACRO_F1 = "F1(average=macro)"


# ---- torchmetrics --------------------------------------------------------------------

# Measure, options, how many items the first of two processes has, and the items
DIVIDED = [
    (MACRO_F1, {}, 0, LABELS),
    ("MicroF1", {"keep_rows": False}, 1, LABELS),
    ("SoftF1", {}, 3, LABELS),
    ("CIDEr", {}, 1, CAPTIONS),
]
PROCESS = """
import json, sys, torch
from semmetrics.adapters.torchmetrics import SemMetric
rank, place = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", "file://" + place, rank=rank, world_size=2)
for measures, options, first, (preds, gts) in json.loads(sys.argv[3]):
    metric = SemMetric(measures, **options)
    for n in range(first)[::-1] if rank == 0 else range(first, len(preds)):
        metric(preds[n : n + 1], gts[n : n + 1])
    print(metric.compute().item().hex())
metric = SemMetric("F1")
metric({"a": ["cat"]}, {"a": ["cat"]})
try:
    metric.compute()
except ValueError as error:
    print(error.code)
"""


def test_two_processes_have_the_value_of_one(tmp_path):
    pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    arguments = [str(tmp_path / "met"), json.dumps(DIVIDED)]

    processes = []
    for rank in ("0", "1"):
        command = [sys.executable, "-c", PROCESS, rank, *arguments]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate(timeout=300)[0] for process in processes]

    expected = []
    for measure, options, _, sides in DIVIDED:
        expected.append(score(*sides, measures=measure, **options)[0].value.hex())
    expected.append("ids-in-two-batches")  # as a sampler repeats items
    assert [output.splitlines() for output in outputs] == [expected] * 2


@pytest.fixture
def torchmetrics():
    return pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")


def test_a_metric_is_part_of_a_collection(torchmetrics):
    torch = pytest.importorskip("torch")
    from semmetrics.adapters.torchmetrics import SemMetric

    preds = torch.tensor([2, 0, 1, 1])
    target = torch.tensor([2, 1, 1, 0])
    f1 = torchmetrics.classification.MulticlassF1Score(3, average="macro")
    collection = torchmetrics.MetricCollection(
        {
            "theirs": f1,
            "ours": SemMetric(MACRO_F1),
            "several": SemMetric([MACRO_F1, "Recall"], classes=["a", "b", "c"]),
        }
    )

    collection(preds[:3], target[:3])
    batch = collection(preds[3:], target[3:])
    values = pickle.loads(pickle.dumps(collection.clone())).compute()

    assert batch["theirs"] == batch["ours"] == 0
    assert values["ours"] == values[MACRO_F1] == pytest.approx(values["theirs"].item())


def test_a_metric_may_keep_sums_only(torchmetrics):
    torch = pytest.importorskip("torch")
    from semmetrics.adapters.torchmetrics import SemMetric

    metric = SemMetric(
        "Accuracy", classes=["a", "b", "c"], keep_rows=False, sync_on_compute=False
    )
    scores = torch.eye(3)[[2, 0, 1, 1]].bfloat16()

    assert metric(scores, torch.tensor([2, 1, 1, 0])) == 0.5


# ---- scikit-learn --------------------------------------------------------------------


@pytest.fixture
def multilabel():
    """Features, and the classes of samples as a matrix."""
    datasets = pytest.importorskip(
        "sklearn.datasets", reason="scikit-learn is not installed"
    )
    return datasets.make_multilabel_classification(60, 5, n_classes=4, random_state=0)


def as_names(sets):
    return np.array(["no", "yes"])[sets[:, 0]]


def hamming_loss():
    metrics = pytest.importorskip("sklearn.metrics")
    return metrics.make_scorer(metrics.hamming_loss, greater_is_better=False)


@pytest.mark.parametrize(
    ("target_of", "measure", "options", "theirs"),
    [
        (lambda sets: sets, MACRO_F1, {}, "f1_macro"),
        (as_names, MACRO_F1, {}, "f1_macro"),
        (lambda sets: sets[:, 0] + 1234567.0, MACRO_F1, {}, "f1_macro"),
        (
            lambda sets: sets[:, 0] + 1.0,
            MACRO_F1,
            {"classes": ["1.0", "2.0"]},
            "f1_macro",
        ),
        (lambda sets: sets[:, 0], "Accuracy", {"classes": np.arange(2)}, "accuracy"),
        (lambda sets: sets, "mAP", {}, "average_precision"),
        (lambda sets: sets[:, 0], "ROC-AUC", {}, "roc_auc"),
        (lambda sets: sets, "HammingLoss", {}, None),
        (lambda sets: sets[:, 0], "HammingLoss", {}, None),
        (as_names, "HammingLoss", {}, None),
    ],
)
def test_scorers_have_the_values_of_scikit_learn(
    multilabel, target_of, measure, options, theirs
):
    from sklearn import model_selection, neighbors

    features, sets = multilabel
    target = target_of(sets)
    model = neighbors.KNeighborsClassifier()

    ours = model_selection.cross_val_score(
        model, features, target, scoring=make_scorer(measure, **options), cv=3
    )

    expected = model_selection.cross_val_score(
        model, features, target, scoring=theirs or hamming_loss(), cv=3
    )
    assert ours == pytest.approx(expected)


def test_scores_of_0_and_1_have_an_average_precision(multilabel):
    from sklearn import model_selection, neighbors

    values = model_selection.cross_val_score(
        neighbors.KNeighborsClassifier(1), *multilabel, scoring=make_scorer("mAP"), cv=3
    )

    assert not np.isnan(values).any()


def test_a_pickled_scorer_searches_a_grid(multilabel):
    from sklearn import model_selection, neighbors

    scorer = pickle.loads(pickle.dumps(make_scorer(MACRO_F1)))
    search = model_selection.GridSearchCV(
        neighbors.KNeighborsClassifier(), {"n_neighbors": [1, 5]}, scoring=scorer
    )

    assert search.fit(*multilabel).best_score_ > 0


@pytest.mark.parametrize(
    ("target_of", "measure", "option"),
    [
        (as_names, "ROC-AUC", "pos_label"),
        (lambda sets: sets[:, 0] + sets[:, 1] + 1, "mAP", "classes"),
    ],
)
def test_scores_need_the_names_of_classes(multilabel, target_of, measure, option):
    from sklearn import neighbors

    features, sets = multilabel
    target = target_of(sets)
    model = neighbors.KNeighborsClassifier().fit(features, target)

    with refused("needs-option", name=option):
        make_scorer(measure)(model, features, target)


def test_the_hamming_loss_of_lists_counts_labels_and_of_classes_items():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")

    lists = measure_value(
        [["a"], ["b"], ["c"]], [["a"], ["b"], ["a"]], measures="HammingLoss"
    )
    classes = measure_value(
        np.array(["a", "b", "c"]), np.array(["a", "b", "a"]), measures="HammingLoss"
    )

    assert lists == pytest.approx(2 / 9)
    assert classes == pytest.approx(1 / 3)


# ---- evaluate ------------------------------------------------------------------------


def test_modules_are_combined_by_evaluate():
    evaluate = pytest.importorskip("evaluate", reason="evaluate is not installed")
    both = evaluate.combine(
        {"several": Module([MACRO_F1, "Recall"]), "f1": Module("F1")}
    )
    preds, gts = LABELS

    both.add(predictions=preds[0], references=gts[0])
    both.add_batch(predictions=preds[1:], references=gts[1:])

    expected = score(preds, gts, measures=[MACRO_F1, "Recall", "F1"])
    assert both.compute() == expected.to_dict()


def test_a_module_is_used_by_an_evaluator_of_evaluate():
    base = pytest.importorskip("evaluate.evaluator.base", reason="evaluate is missing")
    sides = {"predictions": [0, 1], "references": [1, 1]}

    values = base.Evaluator.compute_metric(base.Evaluator, Module("Accuracy"), sides)

    assert values == {"Accuracy": 0.5}


def test_a_wrong_batch_does_not_discard_earlier_ones():
    module = Module("F1", classes=["cat", "dog"])
    module.add(prediction=["cat"], reference=["cat"])

    with refused("wrong-type"):
        module.compute(predictions=["a"], references=[None])

    assert module.compute(predictions=[0], references=[1]) == {"F1": 0.5}


def test_a_class_number_must_not_be_negative():
    with pytest.raises(KeyError):
        as_sides({"measures": "F1", "classes": ["cat"]}, [-1])
