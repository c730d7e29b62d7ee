"""Tables of runs and judgements, as PyTerrier, ir_datasets, ranx and BEIR write them."""

from __future__ import annotations

import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics.options import flag
from semmetrics.scale import score_stream

MAP = {"task": "retrieval", "measures": "MAP MRR"}
RUN = "qid,docid,docno,rank,score,query\n1,7,a,0,9,w\n1,8,b,1,8,w\n2,9,c,0,7,x\n2,3,d,1,6,x\n"


def saved(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


JUDGED = {
    "pyterrier.csv": "qid,docno,label,iteration\n1,a,0,0\n1,b,1,0\n2,c,0,0\n2,d,2,0\n",
    "datasets.tsv": "query_id\tdoc_id\trelevance\titeration\n1\ta\t0\tQ0\n1\tb\t1\tQ0\n"
    "2\td\t2\tQ0\n",
    "ranx.csv": "q_id,doc_id,score\n1,b,1\n2,d,2\n2,c,0\n",
    "beir.tsv": "query-id\tcorpus-id\tscore\n1\tb\t1\n2\td\t2\n2\tc\t0\n",
    "rating.csv": "topic,document,rating\n1,b,1\n1,a,0\n2,d,2\n",
    "both.csv": "qid,docno,score,grade\n1,a,0.9,0\n1,b,0.4,1\n2,d,0.1,2\n",
}


@pytest.mark.parametrize("name", JUDGED)
def test_judgements_as_others_write_them(name, tmp_path):
    run, judged = saved(tmp_path, "run.csv", RUN), saved(tmp_path, name, JUDGED[name])
    found = semmetrics.score(run, judged, **MAP)
    assert [one.value for one in found] == [0.5, 0.5]
    scorer = score_stream(run, judged, **MAP)
    assert [one.value for one in scorer.compute()] == [0.5, 0.5]


def test_frames_of_judgements():
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame(
        {"qid": ["1", "1"], "docno": ["a", "b"], "rank": [0, 1], "score": [2.5, 1.5]}
    )
    judged = pandas.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [0, 1]})
    assert semmetrics.score(run, judged, **MAP)[0].value == 0.5
    with refused("unknown-numbers", name="stars", flag="gt_score_column"):
        semmetrics.score(run, judged.rename(columns={"label": "stars"}), **MAP)
    assert semmetrics.score(run, judged, gt_score_column="label", **MAP)[0].value == 0.5


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (1, "qid,docno,stars\n1,a,0\n1,b,1\n"),
        (1, "qid,docno,rank,stars\n1,a,1,3\n1,b,2,0\n"),
        (0, "qid,docno,bm25\n1,a,9.5\n1,b,8.5\n"),
        (0, "qid,docno,timestamp\n1,a,100\n1,b,120\n"),
    ],
)
def test_numbers_that_no_name_explains_are_refused(side, text, tmp_path):
    texts = ["qid,docno,score\n1,a,2\n1,b,1\n", "qid,docno,grade\n1,a,0\n1,b,1\n"]
    texts[side] = text
    sides = [saved(tmp_path, f"{number}.csv", one) for number, one in enumerate(texts)]
    with refused("unknown-numbers") as caught:
        semmetrics.score(*sides, **MAP)
    name = caught.value.values["name"]
    option = caught.value.values["flag"]
    assert f"{flag(option)}" in caught.value.text(flag)
    assert semmetrics.score(*sides, **{option: name}, **MAP)[0].value > 0


@pytest.mark.parametrize(
    "text",
    [
        "qid,docno,text\n1,a,a cat\n1,b,a dog\n",  # texts
        "qid,docno,iteration\n1,a,0\n1,b,0\n",
        "qid,docno,passage_id\n1,a,17\n1,b,18\n",  # other ids
        "qid,docno,score,year\n1,a,1,2001\n1,b,1,1999\n",  # it has grades
    ],
)
def test_columns_that_are_no_grades_are_noted(text, tmp_path):
    run = saved(tmp_path, "run.csv", "qid,docno,score\n1,a,2\n1,b,1\n")
    found = semmetrics.score(run, saved(tmp_path, "gt.csv", text), **MAP)
    assert found[0].value == 1.0
    assert facts(found, "unused-columns")[0].n >= 1


def test_rank_1_is_best(tmp_path):
    judged = saved(tmp_path, "gt.csv", "qid,docno,grade\n1,c,1\n2,c,1\n")
    sorted_run = saved(
        tmp_path, "a.csv", "qid,docno,rank\n1,c,1\n1,b,2\n2,b,1\n2,c,2\n"
    )
    found = semmetrics.score(sorted_run, judged, **MAP)
    assert found["MRR"].items.tolist() == [1.0, 0.5]
    assert {"sorted-by-rank", "unused-columns"}.isdisjoint(codes(found))
    mixed = saved(tmp_path, "b.csv", "qid,docno,rank\n1,b,10\n1,c,9\n2,b,1\n2,c,2\n")
    found = semmetrics.score(mixed, judged, **MAP)
    assert found["MRR"].items.tolist() == [1.0, 0.5]
    assert facts(found, "sorted-by-rank")[0].n == 1
    parts = score_stream(mixed, judged, gallery=["b", "c"], **MAP).compute()
    assert parts["MRR"].value == found["MRR"].value


def test_ranks_that_contradict_scores_are_noted(tmp_path):
    judged = saved(tmp_path, "gt.csv", "qid,docno,grade\n1,c,1\n")
    for text, number in (
        ("qid,docno,rank,score\n1,c,1,0.1\n1,b,2,0.9\n", 1),  # a distance, perhaps
        ("qid,docno,rank,score\n1,b,1,0.9\n1,c,2,0.1\n", 0),
        ("qid,docno,rank,score\n1,c,1,0.5\n1,b,2,0.5\n", 0),  # a tie
    ):
        found = semmetrics.score(saved(tmp_path, "run.csv", text), judged, **MAP)
        assert sum(fact.n for fact in facts(found, "other-ranks")) == number


def test_numbers_in_records_are_refused_as_well():
    run = {"1": ["a", "b"]}
    records = [{"query": "1", "candidates": ["a", "b"], "stars": [0, 1]}]
    with refused("unknown-numbers", name="stars", flag="gt_score_column"):
        semmetrics.score(run, records, **MAP)
    assert (
        semmetrics.score(run, records, gt_score_column="stars", **MAP)[0].value == 0.5
    )
    graded = [{"query": "1", "candidates": ["a", "b"], "labels": [0, 1]}]
    assert semmetrics.score(run, graded, **MAP)[0].value == 0.5
    texts = [{"query": "1", "candidates": ["a", "b"], "text": ["a cat", "a dog"]}]
    assert semmetrics.score(run, texts, **MAP)[0].value == 1.0
    ranked = [{"query": "1", "candidates": ["a", "b"], "rank": [2, 1]}]
    assert semmetrics.score(ranked, {"1": ["b"]}, **MAP)[0].value == 1.0


def test_the_error_for_distances_says_that_scores_rise(tmp_path):
    run = saved(tmp_path, "run.csv", "qid,docno,distance\n1,a,0.5\n1,b,0.25\n")
    judged = saved(tmp_path, "judged.csv", "qid,docno,label\n1,a,1\n")
    with refused("unknown-numbers", name="distance") as caught:
        semmetrics.score(run, judged, **MAP)
    assert "negate distances first" in str(caught.value)


BINARY_RUN = "q1 Q0 d2 1 9.5 t\nq1 Q0 d1 2 8.5 t\nq2 Q0 d3 1 7 t\n"


@pytest.mark.parametrize(
    "answers", [("True", "False"), ("true", "false"), ("TRUE", "0")]
)
def test_grades_may_be_true_and_false(answers, tmp_path):
    yes, no = answers
    run = saved(tmp_path, "p.run", BINARY_RUN)
    text = f"qid,docno,relevant\nq1,d1,{yes}\nq1,d2,{no}\nq2,d3,{yes}\n"
    judged = saved(tmp_path, "g.csv", text)
    assert (
        semmetrics.score(run, judged, task="retrieval", measures="MRR")[0].value == 0.75
    )
    run = saved(tmp_path, "p.csv", "qid,docno,score\nq1,d2,9.5\nq1,d1,8.5\nq2,d3,7\n")
    parts = score_stream(run, judged, task="retrieval", measures="MRR").compute()
    assert parts[0].value == 0.75


def test_grades_of_frames_and_records_may_be_true_and_false(tmp_path):
    pandas = pytest.importorskip("pandas")
    run = saved(tmp_path, "p.run", BINARY_RUN)
    columns = {"qid": ["q1", "q1", "q2"], "docno": ["d1", "d2", "d3"]}
    frame = pandas.DataFrame({**columns, "relevance": [True, False, True]})
    records = frame.to_dict("records")
    lists = [
        {"query": "q1", "candidates": ["d1", "d2"], "labels": [True, False]},
        {"query": "q2", "candidates": ["d3"], "labels": [True]},
    ]
    frame.to_parquet(tmp_path / "g.parquet")
    for judged in (frame, records, lists, str(tmp_path / "g.parquet")):
        assert (
            semmetrics.score(run, judged, task="retrieval", measures="MRR")[0].value
            == 0.75
        )


def test_scores_of_a_run_are_not_true_and_false(tmp_path):
    run = saved(tmp_path, "p.csv", "qid,docno,score\nq1,d1,True\nq1,d2,False\n")
    judged = saved(tmp_path, "g.csv", "qid,docno,grade\nq1,d1,1\n")
    with refused("not-a-number"):
        semmetrics.score(run, judged, **MAP)


@pytest.mark.parametrize(
    ("code", "name", "cells"),
    [
        ("unknown-numbers", "is_relevant", ("True", "False")),
        ("unknown-numbers", "clicked", ("false", "true")),
        ("verdicts", "verdict", ("relevant", "irrelevant")),
        ("verdicts", "answer", ("Yes", "no")),
    ],
)
def test_answers_under_other_names_are_refused(code, name, cells, tmp_path):
    run = saved(tmp_path, "p.run", BINARY_RUN)
    text = f"qid,docno,{name}\nq1,d1,{cells[0]}\nq1,d2,{cells[1]}\n"
    with refused(code, name=name):
        semmetrics.score(run, saved(tmp_path, "g.csv", text), **MAP)


@pytest.mark.parametrize(
    "cells", [("train", "train"), ("yes I do", "no"), ("a cat", "")]
)
def test_other_words_beside_positives_are_noted_only(cells, tmp_path):
    run = saved(tmp_path, "p.run", BINARY_RUN)
    text = f"qid,docno,split\nq1,d1,{cells[0]}\nq1,d2,{cells[1]}\n"
    found = semmetrics.score(run, saved(tmp_path, "g.csv", text), missing="skip", **MAP)
    assert facts(found, "unused-columns")[0].n == 1
