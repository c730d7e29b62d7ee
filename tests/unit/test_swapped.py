"""Sides in the wrong order, and sides that only look like it."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import facts, refused

import semmetrics

RANKED = {"task": "retrieval", "measures": "MAP"}
RUN_LINES = (
    "1 Q0 101 1 3.5 bm25\n1 Q0 99 2 3.0 bm25\n2 Q0 98 1 9.0 bm25\n2 Q0 102 2 8e0 bm25\n"
)
JUDGED_LINES = "1 0 101 2\n1 0 100 1\n2 0 102 1\n"
RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.71, "d_36": 0.6},
}
JUDGED = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RESULTS = [
    {"image_id": 1, "caption": "a cat sleeps"},
    {"image_id": 2, "caption": "a dog runs"},
]
ANNOTATIONS = {
    "images": [{"id": 1}, {"id": 2}],
    "annotations": [
        {"id": 10, "image_id": 1, "caption": "a cat sleeps"},
        {"id": 11, "image_id": 2, "caption": "the dog runs"},
    ],
}
SCORED = {"a": {"cat": 0.9, "dog": 0.1}, "b": {"cat": 0.2, "dog": 0.8}}


def files(folder, **texts):
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return [str(folder / name.replace("_", ".")) for name in texts]


def test_trec_files_in_trec_evals_order(tmp_path):
    run, judged = files(tmp_path, a_run=RUN_LINES, a_qrels=JUDGED_LINES)
    assert semmetrics.score(run, judged, missing="skip", **RANKED)[0].value > 0
    for measured in (RANKED, {"measures": "MAP"}, {}):
        with refused("swapped-order"):
            semmetrics.score(judged, run, **measured)
    with refused("swapped-order"):
        semmetrics.Scorer(**RANKED).update(judged, run)
    with refused("swapped-order"):
        semmetrics.compare({"one": judged, "two": judged}, run, **RANKED)


def test_tables_in_the_wrong_order(tmp_path):
    run, judged = files(
        tmp_path,
        run_csv="qid,docno,rank,score\n1,a,0,9\n1,b,1,8\n",
        judged_csv="qid,docno,label\n1,a,0\n1,b,1\n",
    )
    assert semmetrics.score(run, judged, **RANKED)[0].value == 0.5
    with refused("swapped-order"):
        semmetrics.score(judged, run, **RANKED)


@pytest.mark.parametrize(
    "judged",
    [
        JUDGED,
        {query: {d: float(g) for d, g in row.items()} for query, row in JUDGED.items()},
    ],
)
def test_dictionaries_in_the_wrong_order(judged, tmp_path):
    (run,) = files(tmp_path, a_run="q_1 Q0 d_12 1 0.9 t\nq_2 Q0 d_11 1 8.5 t\n")
    (lines,) = files(tmp_path, a_qrels="q_1 0 d_12 1\nq_2 0 d_11 1\n")
    assert semmetrics.score(RUN, judged, **RANKED)[0].value > 0
    for preds, gts in ((judged, RUN), (judged, run), (lines, RUN)):
        with refused("swapped-order"):
            semmetrics.score(preds, gts, **RANKED)


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        (JUDGED, JUDGED),  # judgements against judgements
        (JUDGED, {query: dict.fromkeys(row, 1) for query, row in RUN.items()}),
        (
            {"q_1": {"d_12": 1}, "q_2": {"d_11": 1}},
            {"q_1": {"d_12": 0.5, "d_1": 1.0}, "q_2": {"d_11": 1.5}},
        ),
        # grades in fractions
        (
            RUN,
            {"q_1": {"d_12": 0.9, "d_25": 0.3}, "q_2": {"d_11": 0.7}},
        ),
        # as many
        (
            {q: {d: 10.0 - n for n, d in enumerate(r)} for q, r in RUN.items()},
            RUN,
        ),
        (
            {"q_1": {"d_12": 3, "d_25": 2}},
            {"q_1": {"d_12": 4.5, "d_25": 3.25, "d_1": 1.75}},
        ),
        # a ranking of as many
        (
            {query: list(row)[::-1] for query, row in RUN.items()},
            RUN,
        ),
        ({"q_1": ["d_12"]}, {"q_1": {"d_12": 0.5, "d_1": 1, "d_2": 0.75}}),
        ({"q_1": {"d_12": 1, "d_1": 0}}, {"q_1": {"d_12": 0.5, "d_1": 0.25}}),
        ({"q_1": {"d_12": 1}, "q_2": {"d_11": 1}}, {q: {"d_11": 0.9} for q in RUN}),
        (RUN, {"q_1": {"d_12": 5}, "q_2": {"d_11": 6}}),
        (RUN, RUN),
    ],
)
def test_rankings_that_only_look_swapped(preds, gts):
    assert semmetrics.score(preds, gts, **RANKED)[0].value >= 0


@pytest.mark.parametrize("scores", [(0.9, 0.8, 0.3, 0.1), (12.31, 11.7, 9.43, 8.89)])
@pytest.mark.parametrize(
    "preds",
    [
        {"q1": ["d2"], "q2": ["d1"]},
        {"q1": {"d2": 1, "d1": 0}, "q2": {"d1": 1, "d2": 0}},
        {"q1": {"d2": 1.0}, "q2": {"d1": 1.0}},
    ],
)
def test_positives_as_predictions(preds, scores, tmp_path):
    run = {
        "q1": {"d1": scores[0], "d2": scores[1]},
        "q2": {"d1": scores[2], "d2": scores[3]},
    }
    assert semmetrics.score(run, preds, **RANKED)[0].value > 0
    with refused("swapped-order"):
        semmetrics.score(preds, run, **RANKED)
    with refused("swapped-order"):
        semmetrics.Scorer(**RANKED).update(preds, run)
    lines = [f"{q} Q0 {d} 1 {s} t\n" for q, row in run.items() for d, s in row.items()]
    (path,) = files(tmp_path, a_run="".join(lines))
    with refused("swapped-order"):
        semmetrics.score(preds, path, **RANKED)


def test_grades_with_fractions_are_noted():
    whole = {query: dict.fromkeys(row, 1.0) for query, row in RUN.items()}
    soft = {"q_1": {"d_12": 0.5, "d_25": 1.0}, "q_2": {"d_11": 1.0}}
    for truth, n_queries in ((soft, 1), (RUN, 2)):
        (fact,) = facts(semmetrics.score(RUN, truth, **RANKED), "fractional-grades")
        assert fact.n == n_queries
    for truth in (whole, JUDGED, {"q_1": ["d_12"], "q_2": ["d_11"]}):
        table = semmetrics.score(RUN, truth, **RANKED)
        assert not facts(table, "fractional-grades")


def test_a_run_as_ground_truth_is_noted(tmp_path):
    run, judged = files(tmp_path, a_run=RUN_LINES, a_qrels=JUDGED_LINES)
    (fact,) = facts(semmetrics.score(run, run, **RANKED), "run-as-truth")
    assert fact.n == 2
    for preds in (run, judged):
        assert not facts(semmetrics.score(preds, judged, **RANKED), "run-as-truth")


def test_trec_files_of_one_kind_are_compared(tmp_path):
    run, judged = files(tmp_path, a_run=RUN_LINES, a_qrels=JUDGED_LINES)
    for path in (run, judged):
        assert semmetrics.score(path, path, **RANKED)[0].value == 1.0


def test_results_of_captions_as_ground_truth():
    assert semmetrics.score(RESULTS, ANNOTATIONS, measures="BLEU-1")[0].value > 0
    with refused("swapped-order"):
        semmetrics.score(ANNOTATIONS, RESULTS, measures="BLEU-1")
    with refused("swapped-order"):
        semmetrics.score(ANNOTATIONS, RESULTS)
    # references as a list
    several = [
        *RESULTS,
        {"image_id": 1, "caption": "a cat is asleep"},
    ]
    for refs in (ANNOTATIONS, several, {"1": ["a cat"], "2": ["a dog"]}):
        assert semmetrics.score(ANNOTATIONS, refs, measures="BLEU-1")[0].value > 0
    assert semmetrics.score(RESULTS, RESULTS, measures="BLEU-1")[
        0
    ].value == pytest.approx(1)


def test_scores_of_labels_as_ground_truth():
    sets = {"a": ["cat"], "b": ["dog", "cat"]}
    with refused("swapped-order"):
        semmetrics.score(sets, SCORED, measures="F1")
    ranked = {
        "a": {"cat": 0.9, "dog": 0.3, "cow": 0.1},
        "b": {"bus": 0.8, "car": 0.4, "van": 0.3},
    }
    with refused("swapped-order"):
        semmetrics.score(sets, ranked, measures="F1")
    matrix = np.array([[0.9, 0.1], [0.2, 0.8]])
    with refused("truth-of-scores"):
        semmetrics.score(np.eye(2, dtype=int), matrix, measures="F1")


@pytest.mark.parametrize(
    "truth",
    [
        # confident annotators
        {
            "a": {"cat": 0.9, "dog": 0.8},
            "b": {"cat": 0.7, "dog": 0.95},
        },
        {"a": {"cat": 0.9, "dog": 0.3}, "b": {"bus": 0.7}},  # votes
        {"a": {"cat": 1.0, "dog": 0.4}, "b": {"bus": 0.7, "dog": 0.2}},
        {"a": {"cat": 1, "dog": 0}, "b": {"cat": 0, "dog": 1}},
        {"a": {"cat": 0.9, "dog": 0.2}},
    ],
)
def test_references_may_have_scores(truth):
    preds = {"a": ["cat"], "b": ["dog"]}
    preds = {name: preds[name] for name in truth}
    assert 0 <= semmetrics.score(preds, truth, measures="F1")["F1"].value <= 1


def test_scores_of_classes_as_ground_truth():
    one = {"a": "cat", "b": "dog"}
    options = {"task": "classes", "measures": "Accuracy"}
    assert semmetrics.score(SCORED, one, **options)[0].value == 1.0
    with refused("truth-of-class-scores"):
        semmetrics.score(one, SCORED, **options)
    with refused("truth-of-scores"):
        semmetrics.score(
            [0, 1], np.array([[0.9, 0.1], [0.2, 0.8]]), classes=["a", "b"], **options
        )
    with refused("several-classes"):
        semmetrics.score(one, {"a": ["cat", "dog"], "b": ["dog"]}, **options)
