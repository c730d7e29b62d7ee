"""Candidates that have the id of their query: noted, or left out of ranked lists."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics.scale import score_stream

RUN = {"q1": {"q1": 5.0, "d1": 4.0, "d2": 3.0}, "q2": {"q2": 5.0, "d3": 4.0, "d2": 3.0}}
JUDGED = {"q1": {"d1": 1}, "q2": {"d2": 1}}
OPTIONS = {"task": "retrieval", "measures": "MRR nDCG@10 Precision@1"}


def without_own(run):
    return {
        query: {d: s for d, s in row.items() if d != query}
        for query, row in run.items()
    }


def test_candidates_with_the_id_of_their_query_are_left_out():
    found = semmetrics.score(RUN, JUDGED, ignore_identical_ids=True, **OPTIONS)
    assert (
        found.to_dict()
        == semmetrics.score(without_own(RUN), JUDGED, **OPTIONS).to_dict()
    )
    assert facts(found, "own-ids-left-out")[0].n == 2
    assert "own-ids" not in codes(found)
    assert "identical:True" in found[0].signature
    again = semmetrics.rescore(found[0].signature, RUN, JUDGED)
    assert not again.differences
    lists = {query: list(row) for query, row in RUN.items()}
    found = semmetrics.score(lists, JUDGED, ignore_identical_ids=True, **OPTIONS)
    assert found["MRR"].value == 0.75


def test_batches_and_streams_leave_them_out(tmp_path):
    options = {
        "gallery": ["q1", "q2", "d1", "d2", "d3"],
        "ignore_identical_ids": True,
        **OPTIONS,
    }
    scorer = semmetrics.Scorer(**options)
    for query, row in RUN.items():
        scorer.update({query: row}, {query: JUDGED[query]})
    whole = semmetrics.score(RUN, JUDGED, **options)
    assert scorer.compute().to_dict() == whole.to_dict()
    (tmp_path / "run.csv").write_text(
        "qid,docno,score\nq1,q1,5\nq1,d1,4\nq2,q2,5\nq2,d3,4\nq2,d2,3\n"
    )
    (tmp_path / "qrels.csv").write_text("qid,docno,grade\nq1,d1,1\nq2,d2,1\n")
    scorer = score_stream(
        str(tmp_path / "run.csv"), str(tmp_path / "qrels.csv"), **options
    )
    assert scorer.compute()["MRR"].value == 0.75


def test_queries_that_retrieve_themselves_are_noted():
    found = semmetrics.score(RUN, JUDGED, **OPTIONS)
    assert facts(found, "own-ids")[0].n == 2
    numbers = {"7": ["7", "8"], "9": ["9", "8"]}  # Quora's ids
    found = semmetrics.score(numbers, {"7": ["8"], "9": ["8"]}, **OPTIONS)
    assert facts(found, "own-ids")[0].n == 2


@pytest.mark.parametrize(
    ("run", "judged"),
    [
        (without_own(RUN), JUDGED),
        # numbered alike
        (
            {"0": ["3", "0", "1"], "1": ["2", "1", "4"]},
            {"0": ["3"], "1": ["4"]},
        ),
        (RUN, {"q1": ["q1", "d1"], "q2": ["q2"]}),  # the query is meant to be found
        (
            {"q1": {"q2": 2.0, "d1": 1.0}, "q2": {"q1": 3.0}},
            {"q1": ["d1"], "q2": ["q1"]},
        ),
        ([["d1", "d2"], ["d2"]], [["d1"], ["d2"]]),
    ],
)
def test_no_query_retrieves_itself(run, judged):
    assert "own-ids" not in codes(semmetrics.score(run, judged, **OPTIONS))


def test_a_matrix_ranks_every_candidate():
    names = {"queries": ["a", "b"], "gallery": ["a", "b"]}
    with refused("not-applicable", name="ignore_identical_ids"):
        semmetrics.score(
            np.eye(2), [["b"], ["a"]], ignore_identical_ids=True, **names, **OPTIONS
        )
    with refused("not-of-kind", name="ignore_identical_ids"):
        semmetrics.score(
            {"a": ["x"]}, {"a": ["x"]}, measures="F1", ignore_identical_ids=True
        )


def test_a_run_without_queries_retrieves_none():
    found = semmetrics.score(
        {}, {"q1": ["d1"]}, missing="empty", gallery=["q1", "d1"], **OPTIONS
    )
    assert found["MRR"].value == 0
