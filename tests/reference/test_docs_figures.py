"""The figures of docs/measures/semantic.md and thresholds.md are what their commands print.

Source: predictions of Microsoft Computer Vision and ground truth of Kubany et al. 2020; 8,074 words
of GoogleNews.
"""

import csv
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from semmetrics.cli.app import program
from semmetrics.embed.lookup import embed_terms
from semmetrics.embed.open import open_embedding
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.normalization import normalization

ROOT = Path(__file__).resolve().parents[2]
MEASURES = ROOT / "docs" / "measures"
SEMANTIC = (MEASURES / "semantic.md").read_text(encoding="utf-8")
THRESHOLDS = (MEASURES / "thresholds.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(reference_dir):
    """The files that commands of the pages call PRED, GT and BIN."""
    images = reference_dir / "openimages"
    return {
        "PRED": images / "microsoft_predictions.csv",
        "GT": images / "ground_truth.csv",
        "BIN": reference_dir / "word2vec" / "googlenews_subset_8074.bin",
    }


def commands(page, name):
    """Return the commands of that name below the tables of a page."""
    return re.findall(rf"^semmetrics ({name} .* PRED GT)$", page, re.MULTILINE)


def table(page, heading):
    """Return the cells of the table with that heading, without marks of bold type and code."""
    _, _, content = page.partition(f"\n{heading}")
    lines = content.partition("\n\n")[0].split("\n")
    rows = []
    for line in lines[2:]:
        rows.append([cell.strip(" *`") for cell in line.strip("|").split("|")])
    return rows


def section(page, start, end="\0"):
    """Return the text from one string to another, in one line."""
    text = page.partition(start)[2].partition(end)[0]
    return " ".join(text.split())


def run(data, command, *options):
    """Return the output of a command of a page."""
    arguments = [str(data.get(word, word)) for word in shlex.split(command)]
    result = CliRunner().invoke(program, [*arguments, "-q", *options])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def values(data, command):
    output = json.loads(run(data, command, "--format", "json"))
    return [score["value"] for score in output["scores"]]


def sweep_rows(data, command):
    """Return the rows that a command prints as CSV, without the header."""
    output = run(data, command, "--format", "csv")
    return list(csv.reader(io.StringIO(output)))[1:]


def digits(numbers, places=3):
    return [f"{float(number):.{places}f}" for number in numbers]


def test_the_page_has_the_values_of_rules_of_matching(data):
    command, _ = commands(SEMANTIC, "score")

    rows = table(SEMANTIC, "| `match` |")

    for rule, *_ in rows:
        assert f"match={rule}," in command
    assert [row[-1] for row in rows] == digits(values(data, command))


def test_the_page_has_the_values_of_thresholds(data):
    _, exact_command = commands(SEMANTIC, "score")
    words_command, default_command = commands(SEMANTIC, "sweep")

    *rows, exact_row = table(SEMANTIC, "| threshold |")

    words_rows = sweep_rows(data, words_command)
    default_rows = sweep_rows(data, default_command)
    for row, words_row, default_row in zip(rows, words_rows, default_rows, strict=True):
        assert float(row[0]) == float(words_row[0]) == float(default_row[0])
        assert row[1:] == digits(words_row[1:] + default_row[1:])
    assert exact_row[1:] == 2 * digits(values(data, exact_command))


def contrast(data, command):
    """Return the threshold, and the range of thresholds that are nearly as good."""
    first_line, _, third_line, *_ = run(data, command).split("\n")
    low, high = digits(third_line.split()[-3::2], 2)
    return [first_line.split()[1], f"{low} to {high}"]


def test_the_page_has_the_thresholds_by_contrast(data):
    words_command, default_command = commands(THRESHOLDS, "calibrate")

    words_row, default_row = table(THRESHOLDS, "| embedding | threshold by contrast")

    assert words_row[1:3] == contrast(data, words_command)
    assert default_row[1:3] == contrast(data, default_command)
    threshold, near = contrast(data, f"{words_command} --lookup kubany2020")
    sentence = f"is then also {threshold}, but the range is wider: {near}."
    assert sentence in section(THRESHOLDS, "With `--lookup kubany2020`")


def unit_vectors(vectors):
    vectors = vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cosines(first, second):
    return unit_vectors(first) @ unit_vectors(second).T


def test_the_page_has_the_cosines_of_pairs_of_labels(data):
    embeddings = open_embedding(data["BIN"]), open_embedding("static")

    for pair, *shown in table(SEMANTIC, "| pair |"):
        computed = []
        for embedding in embeddings:
            vectors = embed_terms(pair.split(", "), embedding, oov="error").vectors
            computed.append(cosines(vectors, vectors)[0, 1])
        assert shown == digits(computed, 2)


def known_terms(data, side, embedding):
    """The normalised labels of a file that the embedding has."""
    normalize = normalization("kubany2020")
    labels = set()
    for terms in as_labels(data[side]).terms:
        labels.update(normalize(*terms))
    labels = sorted(labels)
    is_known = embed_terms(labels, embedding, lookup="kubany2020").known
    return [label for label, known in zip(labels, is_known, strict=True) if known]


def term_cosines(reference, predicted, embedding, lookup):
    reference_vectors = embed_terms(reference, embedding, lookup=lookup).vectors
    predicted_vectors = embed_terms(predicted, embedding, lookup=lookup).vectors
    return cosines(reference_vectors, predicted_vectors)


def test_the_page_has_the_agreement_of_word2vec_and_the_static_model(data):
    words = open_embedding(data["BIN"])
    reference = known_terms(data, "GT", words)
    predicted = known_terms(data, "PRED", words)
    word2vec = term_cosines(reference, predicted, words, "kubany2020")
    static = term_cosines(reference, predicted, open_embedding("static"), "auto")

    differs = np.array(reference)[:, None] != np.array(predicted)
    word2vec_matches = word2vec[differs] > 0.4
    static_matches = static[differs] > 0.5
    n_both = (word2vec_matches & static_matches).sum()
    correlation = np.corrcoef(word2vec[differs], static[differs])[0, 1]
    correlation_of_all = np.corrcoef(word2vec.ravel(), static.ravel())[0, 1]

    text = section(SEMANTIC, "**Two models agree", "| pair |")
    n_reference = f"{len(reference)} reference labels"
    assert f"{n_reference} and {len(predicted)} predicted labels" in text
    assert f"form {differs.sum():,} pairs of two different labels" in text
    share = f"{word2vec_matches.sum()} pairs ({word2vec_matches.mean():.1%})"
    assert f"{share} have a word2vec cosine above 0.4" in text
    share = f"{static_matches.sum()} ({static_matches.mean():.1%})"
    assert f"{share}, is above 0.5" in text
    assert f"{n_both} pairs are in both sets" in text
    assert f"correlation of the cosines is {correlation:.2f}" in text
    assert f"With the {(~differs).sum()} pairs of equal labels" in text
    assert f"it is {correlation_of_all:.2f}." in text


def test_the_page_has_the_figures_of_the_evaluation():
    report = (ROOT / "embeddings" / "EVALUATION.md").read_text(encoding="utf-8")
    start = "| the static model | 0.9"
    (row,) = [line for line in report.split("\n") if line.startswith(start)]
    pearson = float(row.split("|")[3].split(",")[0])

    assert f"The {pearson:.2f} of the [evaluation]" in SEMANTIC
    assert "over the 24,198 of them" in report
    assert "(24,198 pairs)" in SEMANTIC
