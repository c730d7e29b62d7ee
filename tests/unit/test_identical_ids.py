"""Candidates with the id of their query: noted, or left out of ranked lists."""

import numpy as np
import pytest
from reading import saved
from refusals import codes, facts, refused

import semmetrics
from semmetrics.scale import score_stream

RUN = {"q1": {"q1": 5.0, "d1": 4.0, "d2": 3.0}, "q2": {"q2": 5.0, "d3": 4.0, "d2": 3.0}}
RUN_WITHOUT_QUERIES = {"q1": {"d1": 4.0, "d2": 3.0}, "q2": {"d3": 4.0, "d2": 3.0}}
JUDGED = {"q1": {"d1": 1}, "q2": {"d2": 1}}
OPTIONS = {"task": "retrieval", "measures": "MRR nDCG@10 Precision@1"}
LEFT_OUT = {**OPTIONS, "ignore_identical_ids": True}


def test_an_option_leaves_out_candidates_with_the_id_of_their_query():
    table = semmetrics.score(RUN, JUDGED, **LEFT_OUT)

    expected = semmetrics.score(RUN_WITHOUT_QUERIES, JUDGED, **OPTIONS)
    assert table.to_dict() == expected.to_dict()
    assert facts(table, "own-ids-left-out")[0].n == 2
    assert "own-ids" not in codes(table)


def test_a_signature_records_that_candidates_were_left_out():
    signature = semmetrics.score(RUN, JUDGED, **LEFT_OUT)["MRR"].signature

    assert "identical:True" in signature
    assert not semmetrics.rescore(signature, RUN, JUDGED).differences


def test_batches_and_streams_leave_them_out(tmp_path):
    options = {"gallery": ["q1", "q2", "d1", "d2", "d3"], **LEFT_OUT}
    whole = semmetrics.score(RUN, JUDGED, **options)
    rows = "qid,docno,score\nq1,q1,5\nq1,d1,4\nq2,q2,5\nq2,d3,4\nq2,d2,3\n"
    run = saved(tmp_path, "run.csv", rows)
    judged = saved(tmp_path, "qrels.csv", "qid,docno,grade\nq1,d1,1\nq2,d2,1\n")
    scorer = semmetrics.Scorer(**options)
    for query, row in RUN.items():
        scorer.update({query: row}, {query: JUDGED[query]})

    streamed = score_stream(str(run), str(judged), **options).compute()

    assert scorer.compute().to_dict() == whole.to_dict()
    assert streamed["MRR"].value == whole["MRR"].value == 0.75


def test_queries_that_retrieve_themselves_are_noted():
    table = semmetrics.score(RUN, JUDGED, **OPTIONS)

    assert facts(table, "own-ids")[0].n == 2


@pytest.mark.parametrize(
    ("run", "judged"),
    [
        (RUN_WITHOUT_QUERIES, JUDGED),
        ({"0": ["3", "0"], "1": ["2", "1"]}, {"0": ["3"], "1": ["2"]}),
        (RUN, {"q1": ["q1", "d1"], "q2": ["q2"]}),
    ],
    ids=["no query", "numbers", "positives"],
)
def test_other_candidates_are_not_noted(run, judged):
    assert "own-ids" not in codes(semmetrics.score(run, judged, **OPTIONS))


def test_a_matrix_has_a_score_of_every_candidate():
    names = {"queries": ["a", "b"], "gallery": ["a", "b"]}

    with refused("not-applicable", name="ignore_identical_ids"):
        semmetrics.score(np.eye(2), [["b"], ["a"]], **names, **LEFT_OUT)
