"""``semmetrics score --rescore`` computes the score of a signature again."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import write_json
from stand_ins import meteor_programs

from semmetrics.embed.open import open_embedding
from semmetrics.scoring.protocols import PROTOCOLS

LABELS = "a.json gt.json"
CAPTIONS = "captions.json references.json"
FILES = {
    "labels": "b.json gt.json --classes classes.txt",
    "captions": CAPTIONS,
    "retrieval": "sims.json positives.json",
    "classes": "scores.json truth.json --seen seen.txt --unseen unseen.txt",
}


@pytest.fixture
def inputs(files):
    """Add word vectors, and files of retrieval and classes to the small files."""
    rows, columns = np.indices((8, 10))
    similarities = (3 * rows + 7 * columns) % 11 / 4
    class_scores = {}
    truth = {}
    for row in range(8):
        class_scores[str(row)] = dict(
            zip("wxyz", similarities[row].tolist(), strict=False)
        )
        truth[str(row)] = ["wxyz"[row % 4]]
    write_json(
        sims=similarities[:5].tolist(),
        positives=[[column, column + 1] for column in range(0, 10, 2)],
        scores=class_scores,
        truth=truth,
    )
    Path("seen.txt").write_text("w\nx\n", encoding="utf-8")
    Path("unseen.txt").write_text("y\nz\n", encoding="utf-8")
    Path("words.vec").write_text("2 2\ncat 1 0\ndog 0.8 0.6\n", encoding="utf-8")


@pytest.fixture
def rescore(run):
    """Return a function that runs a signature, and returns its scores and the notes."""

    def run_signature(signature, line):
        result = run(f"score {line} --format json --rescore", signature)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["scores"], result.stderr

    return run_signature


def check_rescored(scores, rescore, first_line, second_line):
    """Check that each score of a command has the same value with its signature."""
    with meteor_programs():
        for score in scores(f"score {first_line}"):
            (found,), notes = rescore(score["signature"], second_line)
            for name in ("value", "signature", "ci", "n"):
                assert found[name] == score[name]
            assert "warning" not in notes


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--tokenizer 13a --missing empty",
        "-m 'CIDEr(df=rows,stem=porter) NGSM(refs=max) LengthRatio'",
    ],
)
def test_a_signature_has_the_options_of_captions(scores, rescore, inputs, options):
    check_rescored(scores, rescore, f"{CAPTIONS} {options}", CAPTIONS)


@pytest.mark.parametrize(
    ("options", "embedding"),
    [
        ("-m SemF1 --embedding words.vec", "words.vec"),
        ("-m 'SemF1(embedding=m)' --embedding m=words.vec", "m=words.vec"),
        ("-m 'SemF1(embedding=m)' --embedding m=words.vec", "words.vec"),
    ],
)
def test_a_signature_has_the_options_of_the_lookup(
    scores, rescore, inputs, options, embedding
):
    check_rescored(
        scores,
        rescore,
        f"{LABELS} {options} --lookup exact --oov skip",
        f"{LABELS} --embedding {embedding}",
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_signature_has_the_options_of_a_protocol(scores, rescore, inputs, protocol):
    files = FILES[PROTOCOLS[protocol].kind]

    check_rescored(scores, rescore, f"{files} --protocol {protocol}", files)


def test_the_references_are_a_system_again(scores, rescore, files):
    line = f"{CAPTIONS} --score-references"
    first = scores(f"score -m ROUGE-L {line}")

    found, notes = rescore(first[1]["signature"], line)

    assert [score["value"] for score in found] == [score["value"] for score in first]
    assert "captions: the number of items differs from the signature's: n:2" in notes
    assert " human: " not in notes


@pytest.mark.parametrize(
    ("measure", "model"), [("SemF1", "same"), ("SoftF1", "static")]
)
def test_a_note_reports_another_version_of_an_included_model(
    scores, rescore, files, measure, model
):
    (first,) = scores(f"score -m {measure} {LABELS}")
    identity = open_embedding(model).identity
    old_identity = identity.rpartition("@")[0] + "@000000000000"

    (found,), notes = rescore(
        first["signature"].replace(identity, old_identity), LABELS
    )

    assert found["value"] == first["value"]
    assert f"emb:{identity} instead of emb:{old_identity}" in notes
