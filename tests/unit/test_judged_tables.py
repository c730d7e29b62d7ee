"""Runs and judgements of retrieval as tables: columns of grades, scores and ranks."""

import pandas as pd
import pytest
from reading import saved
from refusals import codes, facts, refused

import semmetrics
from semmetrics.options import flag
from semmetrics.scale import score_stream

MRR = {"task": "retrieval", "measures": "MRR"}
RUN = "qid,docid,docno,rank,score\n1,7,a,0,9\n1,8,b,1,8\n2,9,c,0,7\n2,3,d,1,6\n"


def score_texts(folder, run, judged, **options):
    """Score two tables."""
    run_path = saved(folder, "run.csv", run)
    judged_path = saved(folder, "judged.csv", judged)
    return semmetrics.score(run_path, judged_path, **MRR, **options)


@pytest.mark.parametrize(
    "judged",
    [
        "qid,docno,label,iteration\n1,a,0,0\n1,b,1,0\n2,c,0,0\n2,d,2,0\n",
        "query_id\tdoc_id\trelevance\titeration\n1\ta\t0\tQ0\n1\tb\t1\tQ0\n2\td\t2\tQ0\n",
        "q_id,doc_id,score\n1,b,1\n2,d,2\n2,c,0\n",
        "query-id\tcorpus-id\tscore\n1\tb\t1\n2\td\t2\n2\tc\t0\n",
        "topic,document,rating\n1,b,1\n1,a,0\n2,d,2\n",
        "qid,docno,score,grade\n1,a,0.9,0\n1,b,0.4,1\n2,d,0.1,2\n",
    ],
    ids=["PyTerrier", "ir_datasets", "ranx", "BEIR", "rating", "score and grade"],
)
def test_judgements_of_other_programs_are_read(tmp_path, judged):
    run_path = saved(tmp_path, "run.csv", RUN)
    suffix = "tsv" if "\t" in judged else "csv"
    judged_path = saved(tmp_path, f"judged.{suffix}", judged)

    table = semmetrics.score(run_path, judged_path, **MRR)
    streamed = score_stream(run_path, judged_path, **MRR).compute()

    assert table["MRR"].value == 0.5
    assert streamed["MRR"].value == 0.5


# Which column has the numbers

NUMBERS_OF_RUN = "qid,docno,score\n1,a,2\n1,b,1\n"
NUMBERS_OF_TRUTH = "qid,docno,grade\n1,a,0\n1,b,1\n"


@pytest.mark.parametrize(
    ("run", "judged", "name", "option"),
    [
        (
            NUMBERS_OF_RUN,
            "qid,docno,stars\n1,a,0\n1,b,1\n",
            "stars",
            "gt_score_column",
        ),
        (
            NUMBERS_OF_RUN,
            "qid,docno,rank,stars\n1,a,1,3\n1,b,2,0\n",
            "stars",
            "gt_score_column",
        ),
        (
            "qid,docno,bm25\n1,a,9.5\n1,b,8.5\n",
            NUMBERS_OF_TRUTH,
            "bm25",
            "pred_score_column",
        ),
    ],
)
def test_a_column_of_numbers_with_another_name_is_an_error_unless_an_option_names_it(
    tmp_path, run, judged, name, option
):
    with refused("unknown-numbers", name=name, flag=option) as caught:
        score_texts(tmp_path, run, judged)

    assert flag(option) in caught.value.text(flag)
    table = score_texts(tmp_path, run, judged, **{option: name})
    assert table["MRR"].value > 0


@pytest.mark.parametrize(
    "judged",
    [
        "qid,docno,text\n1,a,a cat\n1,b,a dog\n",
        "qid,docno,iteration\n1,a,0\n1,b,0\n",
        "qid,docno,passage_id\n1,a,17\n1,b,18\n",
        "qid,docno,score,year\n1,a,1,2001\n1,b,1,1999\n",
        "qid,docno,split\n1,a,train\n1,b,train\n",
        "qid,docno,comment\n1,a,yes I do\n1,b,no\n",
    ],
)
def test_columns_that_are_not_grades_are_noted(tmp_path, judged):
    table = score_texts(tmp_path, NUMBERS_OF_RUN, judged)

    assert table["MRR"].value == 1.0
    assert facts(table, "unused-columns")[0].n >= 1


@pytest.mark.parametrize(
    ("record", "value"),
    [
        ({"labels": [0, 1]}, 0.5),
        ({"labels": [False, True]}, 0.5),
        ({"text": ["a cat", "a dog"]}, 1.0),
    ],
)
def test_records_with_lists_of_candidates_may_have_grades(record, value):
    records = [{"query": "1", "candidates": ["a", "b"], **record}]

    assert semmetrics.score({"1": ["a", "b"]}, records, **MRR)["MRR"].value == value


def test_records_with_lists_of_numbers_under_another_name_are_an_error():
    records = [{"query": "1", "candidates": ["a", "b"], "stars": [0, 1]}]

    with refused("unknown-numbers", name="stars", flag="gt_score_column"):
        semmetrics.score({"1": ["a", "b"]}, records, **MRR)


# Ranks


def test_rank_1_is_the_best(tmp_path):
    run = "qid,docno,rank\n1,c,1\n1,b,2\n2,b,1\n2,c,2\n"

    table = score_texts(tmp_path, run, "qid,docno,grade\n1,c,1\n2,c,1\n")

    assert table["MRR"].items.tolist() == [1.0, 0.5]
    assert {"sorted-by-rank", "unused-columns"}.isdisjoint(codes(table))


def test_rows_that_are_not_in_the_order_of_ranks_are_sorted_and_noted(tmp_path):
    run = "qid,docno,rank\n1,b,10\n1,c,9\n2,b,1\n2,c,2\n"

    table = score_texts(tmp_path, run, "qid,docno,grade\n1,c,1\n2,c,1\n")

    assert table["MRR"].items.tolist() == [1.0, 0.5]
    assert facts(table, "sorted-by-rank")[0].n == 1


@pytest.mark.parametrize(
    ("rows", "n_queries"),
    [
        ("1,c,1,0.1\n1,b,2,0.9\n", [1]),
        ("1,b,1,0.9\n1,c,2,0.1\n", []),
        ("1,c,1,0.5\n1,b,2,0.5\n", []),
    ],
)
def test_ranks_that_contradict_scores_are_noted(tmp_path, rows, n_queries):
    run = f"qid,docno,rank,score\n{rows}"

    table = score_texts(tmp_path, run, "qid,docno,grade\n1,c,1\n")

    assert [fact.n for fact in facts(table, "other-ranks")] == n_queries


# True and false


@pytest.mark.parametrize(
    ("yes", "no"), [("True", "False"), ("true", "false"), ("TRUE", "0")]
)
def test_grades_may_be_true_and_false(tmp_path, yes, no):
    judged = f"qid,docno,relevant\n1,a,{no}\n1,b,{yes}\n2,c,{no}\n2,d,{yes}\n"

    assert score_texts(tmp_path, RUN, judged)["MRR"].value == 0.5


def test_grades_of_a_frame_may_be_true_and_false():
    columns = {"qid": ["1", "1"], "docno": ["a", "b"], "relevance": [False, True]}
    judged = pd.DataFrame(columns)

    for data in (judged, judged.to_dict("records")):
        table = semmetrics.score({"1": ["a", "b"]}, data, **MRR)
        assert table["MRR"].value == 0.5


def test_scores_of_a_run_may_not_be_true_and_false(tmp_path):
    with refused("not-a-number"):
        score_texts(tmp_path, "qid,docno,score\n1,a,True\n", NUMBERS_OF_TRUTH)


@pytest.mark.parametrize(
    ("name", "yes", "no", "code"),
    [
        ("is_relevant", "True", "False", "unknown-numbers"),
        ("verdict", "relevant", "irrelevant", "verdicts"),
        ("answer", "Yes", "no", "verdicts"),
    ],
)
def test_answers_in_a_column_with_another_name_are_an_error(
    tmp_path, name, yes, no, code
):
    judged = f"qid,docno,{name}\n1,a,{yes}\n1,b,{no}\n"

    with refused(code, name=name):
        score_texts(tmp_path, NUMBERS_OF_RUN, judged)
