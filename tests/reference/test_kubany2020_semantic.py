"""The semantic columns of Kubany et al. 2020, from the command line.

Source: Expert Systems with Applications 161, tables 7 to 10, Microsoft Computer Vision on Open
Images. The word vectors are 8,074 words of GoogleNews without its phrases, so 214 of the 457
terms are unknown here and values are near the printed ones, not equal to them.
"""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from semmetrics.cli.app import program

COLUMNS = ("Accuracy", "Recall", "Precision", "F1")
PRINTED = {
    1: (0.212, 0.212, 0.729, 0.306),
    3: (0.288, 0.346, 0.622, 0.405),
    5: (0.278, 0.385, 0.566, 0.399),
}
# The lookup of the joined words knows fewer words than the paper's, so more of them coincide.
PRINTED_WMD = {1: 2.795, 3: 2.645, 5: 2.622}


@pytest.fixture(scope="module")
def done(reference_dir, tmp_path_factory):
    """The result of the program, and the file of matches."""
    images = reference_dir / "openimages"
    matches = tmp_path_factory.mktemp("matches") / "matches.csv"
    arguments = (
        "score",
        images / "microsoft_predictions.csv",
        images / "ground_truth.csv",
        "--protocol",
        "kubany2020",
        "--top-k",
        "1,3,5",
        "--embedding",
        reference_dir / "word2vec" / "googlenews_subset_8074.bin",
        "--format",
        "json",
        "--matches",
        matches,
    )
    result = CliRunner().invoke(program, list(map(str, arguments)))
    assert result.exit_code == 0, result.stderr
    return result, matches


@pytest.fixture(scope="module")
def scores(done):
    return {score["heading"]: score for score in json.loads(done[0].stdout)["scores"]}


@pytest.mark.parametrize("k", PRINTED)
@pytest.mark.parametrize("column", COLUMNS)
def test_semantic_columns(scores, column, k):
    value = scores[f"{column} (Semantic)@{k}"]["value"]
    assert abs(value - PRINTED[k][COLUMNS.index(column)]) <= 0.005


@pytest.mark.parametrize("k", PRINTED_WMD)
def test_word_movers_distance_is_near(scores, k):
    assert abs(scores[f"WMD@{k}"]["value"] - PRINTED_WMD[k]) <= 0.1


def test_exact_columns_are_what_they_are_without_vectors(scores, reference_dir):
    images = reference_dir / "openimages"
    arguments = (
        "score",
        images / "microsoft_predictions.csv",
        images / "ground_truth.csv",
        "--protocol",
        "kubany2020",
        "--top-k",
        "1,3,5",
        "--format",
        "json",
    )
    result = CliRunner().invoke(program, list(map(str, arguments)))
    plain = json.loads(result.stdout)["scores"]
    assert len(plain) == 33
    for entry in plain:
        assert scores[entry["heading"]] == entry
    assert len(scores) == 33 + 3 * 6


def test_what_is_unknown_is_said(done):
    (line,) = (
        line for line in done[0].stderr.split("\n") if "missing from googlenews" in line
    )
    assert ": 214 distinct terms missing from googlenews_subset_8074-300@" in line
    assert "such as 'academic_gown'" in line


def test_what_is_not_computed_is_listed_with_the_command(done):
    lines = [line for line in done[0].stderr.split("\n") if "not computed: " in line]
    assert len(lines) == 3
    for line, column, option in zip(
        lines,
        (
            "Fine-Tuned BERT@1,3,5",
            "Fine-Tuned RoBERTa@1,3,5",
            "Balanced Accuracy@1,3,5",
        ),
        (
            "=sbert:bert-base-nli-stsb-wkpooling",
            "=sbert:roberta-base-nli-stsb-mean-tokens",
            "(--classes)",
        ),
        strict=True,
    ):
        assert f"not computed: {column} - " in line
        assert option in line


def test_signatures_say_the_vectors_and_the_rules(scores):
    signature = scores["F1 (Semantic)@5"]["signature"]
    assert "|emb:googlenews_subset_8074-300@" in signature
    assert "|lookup:kubany2020|oov:unknown|" in signature
    assert "|thr:0.4|match:greedy|" in signature
    assert "emb:" not in scores["F1@5"]["signature"]


def test_matches_are_those_of_the_first_semantic_column(done, scores):
    with Path(done[1]).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    predicted = [row for row in rows if row["prediction"]]
    # one prediction an image
    assert len({row["id"] for row in rows}) == len(predicted) == 833
    hits = [row for row in predicted if row["reference"]]
    share = scores["Precision (Semantic)@1"]["value"]
    assert len(hits) / len(predicted) == pytest.approx(share)
    assert all(float(row["similarity"]) > 0.4 for row in hits)
