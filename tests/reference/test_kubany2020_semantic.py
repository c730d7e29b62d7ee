"""The semantic columns of Kubany et al. 2020, computed by the command line.

Source: Expert Systems with Applications 161, tables 7 to 10, Microsoft Computer Vision on Open
Images. The word vectors are 8,074 words of GoogleNews without its phrases. Therefore 214 of the 457
terms are unknown here, and the values are near the printed ones, not equal to them.
"""

import csv
import json
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from semmetrics.cli.app import program

# At 1, 3 and 5 predictions.
PRINTED = {
    "Accuracy": (0.212, 0.288, 0.278),
    "Recall": (0.212, 0.346, 0.385),
    "Precision": (0.729, 0.622, 0.566),
    "F1": (0.306, 0.405, 0.399),
}
# Fewer joined words are known than in the paper, so more of them coincide.
PRINTED_WMD = (2.795, 2.645, 2.622)
NOT_COMPUTED = {
    "Fine-Tuned BERT@1,3,5": "=sbert:bert-base-nli-stsb-wkpooling",
    "Fine-Tuned RoBERTa@1,3,5": "=sbert:roberta-base-nli-stsb-mean-tokens",
    "Balanced Accuracy@1,3,5": "(--classes)",
}
"""The options that the notes name."""


class Output(NamedTuple):
    """Scores by heading, the lines of standard error, and the rows of the file of matches."""

    scores: dict
    notes: list
    matches: list


def run_score(reference_dir, *options):
    images = reference_dir / "openimages"
    arguments = [
        images / "microsoft_predictions.csv",
        images / "ground_truth.csv",
        *("--protocol", "kubany2020", "--top-k", "1,3,5", "--format", "json"),
        *options,
    ]
    result = CliRunner().invoke(program, ["score", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    scores = json.loads(result.stdout)["scores"]
    return {score["heading"]: score for score in scores}, result.stderr.split("\n")


@pytest.fixture(scope="module")
def output(reference_dir, tmp_path_factory):
    vectors = reference_dir / "word2vec" / "googlenews_subset_8074.bin"
    path = tmp_path_factory.mktemp("matches") / "matches.csv"
    scores, notes = run_score(
        reference_dir, "--embedding", vectors, "--matches", str(path)
    )
    with path.open(encoding="utf-8") as file:
        matches = list(csv.DictReader(file))
    return Output(scores, notes, matches)


@pytest.mark.parametrize("column", PRINTED)
def test_semantic_columns_are_near_the_printed_ones(output, column):
    for k, printed in zip((1, 3, 5), PRINTED[column], strict=True):
        value = output.scores[f"{column} (Semantic)@{k}"]["value"]
        assert value == pytest.approx(printed, abs=0.005)


def test_word_movers_distances_are_near_the_printed_ones(output):
    for k, printed in zip((1, 3, 5), PRINTED_WMD, strict=True):
        value = output.scores[f"WMD@{k}"]["value"]
        assert value == pytest.approx(printed, abs=0.1)


def test_exact_columns_do_not_change_with_an_embedding(output, reference_dir):
    scores, _ = run_score(reference_dir)

    assert len(scores) == 33
    assert len(output.scores) == 33 + 3 * 6
    for heading, score in scores.items():
        assert output.scores[heading] == score


def test_a_note_counts_unknown_terms(output):
    (note,) = [line for line in output.notes if "missing from googlenews" in line]

    assert ": 214 distinct terms missing from googlenews_subset_8074-300@" in note
    assert "such as 'academic_gown'" in note


def test_notes_name_the_options_of_columns_that_are_not_computed(output):
    notes = [line for line in output.notes if "not computed: " in line]

    assert len(notes) == 3
    for note, (column, option) in zip(notes, NOT_COMPUTED.items(), strict=True):
        assert f"not computed: {column} - " in note
        assert option in note


def test_signatures_contain_the_vectors_and_the_rules(output):
    signature = output.scores["F1 (Semantic)@5"]["signature"]

    assert "|emb:googlenews_subset_8074-300@" in signature
    assert "|lookup:kubany2020|oov:unknown|" in signature
    assert "|thr:0.4|match:greedy|" in signature
    assert "emb:" not in output.scores["F1@5"]["signature"]


def test_the_file_of_matches_has_the_first_semantic_column(output):
    predictions = [row for row in output.matches if row["prediction"]]
    hits = [row for row in predictions if row["reference"]]

    # One prediction per image.
    assert len({row["id"] for row in output.matches}) == len(predictions) == 833
    precision = output.scores["Precision (Semantic)@1"]["value"]
    assert len(hits) / len(predictions) == pytest.approx(precision)
    assert all(float(row["similarity"]) > 0.4 for row in hits)
