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
    """What stands for the files that commands name."""
    images = reference_dir / "openimages"
    return {
        "PRED": images / "microsoft_predictions.csv",
        "GT": images / "ground_truth.csv",
        "BIN": reference_dir / "word2vec" / "googlenews_subset_8074.bin",
    }


def commands(page, name):
    """The commands of that name below tables, which stand for others' files."""
    return re.findall(rf"^semmetrics ({name} .* PRED GT)$", page, re.MULTILINE)


def table(page, heading):
    """The cells of the table with that heading, without what makes them bold."""
    rows = page.partition(f"\n{heading}")[2].partition("\n\n")[0].split("\n")[2:]
    return [[cell.strip(" *`") for cell in row.strip("|").split("|")] for row in rows]


def printed(data, command, *options):
    arguments = [str(data.get(word, word)) for word in shlex.split(command)]
    done = CliRunner().invoke(program, [*arguments, "-q", *options])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def values(data, command):
    found = json.loads(printed(data, command, "--format", "json"))
    return [score["value"] for score in found["scores"]]


def digits(numbers, places=3):
    return [f"{number:.{places}f}" for number in numbers]


def test_matching(data):
    command, _ = commands(SEMANTIC, "score")
    rows = table(SEMANTIC, "| `match` |")
    assert [row[-1] for row in rows] == digits(values(data, command))
    assert all(f"match={row[0]}," in command for row in rows)


def test_thresholds(data):
    both = [printed(data, c, "--format", "csv") for c in commands(SEMANTIC, "sweep")]
    words, default = ([*csv.reader(io.StringIO(text))][1:] for text in both)
    *rows, exact = table(SEMANTIC, "| threshold |")
    for row, one, other in zip(rows, words, default, strict=True):
        assert float(row[0]) == float(one[0]) == float(other[0])
        assert row[1:] == digits(map(float, one[1:] + other[1:]))
    assert exact[1:] == 2 * digits(values(data, commands(SEMANTIC, "score")[1]))


def contrast(data, command):
    """The threshold, and the range of those that are nearly as good."""
    first, _, third, *_ = printed(data, command).split("\n")
    low, high = (f"{float(number):.2f}" for number in third.split()[-3::2])
    return first.split()[1], f"{low} to {high}"


def test_contrast(data):
    rows = table(THRESHOLDS, "| embedding | threshold by contrast")
    words, default = commands(THRESHOLDS, "calibrate")
    assert [tuple(row[1:3]) for row in rows] == [
        contrast(data, words),
        contrast(data, default),
    ]
    threshold, near = contrast(data, f"{words} --lookup kubany2020")
    told = " ".join(THRESHOLDS.partition("With `--lookup kubany2020`")[2].split())
    assert f"is then also {threshold}, but the range is wider: {near}." in told


def unit_vectors(vectors):
    vectors = vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cosines(first, second):
    return unit_vectors(first) @ unit_vectors(second).T


def test_pairs_of_labels(data):
    models = open_embedding(data["BIN"]), open_embedding("static")
    for *pair, first, second in table(SEMANTIC.replace(", ", " | "), "| pair |"):
        vectors = [embed_terms(pair, model, oov="error").vectors for model in models]
        assert [first, second] == digits([cosines(v, v)[0, 1] for v in vectors], 2)


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

    section = SEMANTIC.partition("**Two models agree")[2].partition("| pair |")[0]
    text = " ".join(section.split())
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


def test_the_evaluation_that_the_page_names():
    report = (ROOT / "embeddings" / "EVALUATION.md").read_text(encoding="utf-8")
    (row,) = (
        line
        for line in report.split("\n")
        if line.startswith("| the static model | 0.9")
    )
    pearson = float(row.split("|")[3].split(",")[0])
    assert f"The {pearson:.2f} of the [evaluation]" in SEMANTIC
    assert "over the 24,198 of them" in report
    assert "(24,198 pairs)" in SEMANTIC
