"""A competition from the command line: COCO's five references stand in for five captioners.

Source: the captions of COCO's Karpathy test split, image by image in their order. Annotators write
again what the second to fourth person wrote. Selection and scores are compared with loops over the
same tokens.
"""

import csv
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from oracles import competition as oracle
from oracles.captions_ngram import ngsm
from reference_data import coco_test_captions

import semmetrics
from semmetrics.cli.app import program
from semmetrics.text.tokenizers import open_tokenizer

K = 4


@pytest.fixture(scope="module")
def captions(reference_dir):
    """Five captions for each image."""
    images = coco_test_captions(reference_dir).by_image
    return {image: texts[:5] for image, texts in images.items()}


def captions_of(captions, person):
    return {image: texts[person] for image, texts in captions.items()}


@pytest.fixture(scope="module")
def folder(captions, tmp_path_factory):
    """A folder with a file for each of the five captioners."""
    path = tmp_path_factory.mktemp("coco")
    for person in range(5):
        text = json.dumps(captions_of(captions, person))
        (path / f"person{person}.json").write_text(text, encoding="utf-8")
    return path


def run(command, *arguments):
    words = [*command.split(), *map(str, arguments)]
    result = CliRunner().invoke(program, words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def select(folder, persons, measure, *options):
    files = [folder / f"person{person}.json" for person in persons]
    path = folder / "state.json"
    run(f"mad select -k {K} -q -m {measure}", "-o", path, *options, *files)
    return semmetrics.DiscrepancySelection.load(path)


class Study(NamedTuple):
    """A selection, and the rankings by the captions that annotators wrote."""

    state: semmetrics.DiscrepancySelection
    rankings: list
    sheet: Path
    ratings: Path


@pytest.fixture(scope="module")
def study(captions, folder):
    sheet = folder / "sheet.csv"
    ratings = folder / "ratings.csv"
    files = (
        "--sheet",
        sheet,
        "--rating-sheet",
        ratings,
        "--page",
        folder / "page.html",
    )
    state = select(folder, range(5), "NGSM(order=1)", "--ties", "random", *files)

    def annotation(row):
        return captions[row["image_id"]][int(row["annotator"])]

    fill(sheet, "caption", annotation)
    state_copy = folder / "study.json"
    state.save(state_copy)
    text = run(
        "mad rank -m CIDEr-D -m ROUGE-L --stability 2,3 --format json --references",
        sheet,
        state_copy,
    )
    return Study(state, json.loads(text)["rankings"], sheet, ratings)


def test_the_sheet_has_the_selected_images(study):
    assert study.state.n == 5000
    assert len(study.state.pairs) == 10
    sheet_images = {row["image_id"] for row in read(study.sheet)}
    assert sheet_images == set(study.state.images)


def test_there_is_a_ranking_for_each_measure(study):
    measures = [ranking["measure"] for ranking in study.rankings]
    assert measures == ["CIDEr-D", "ROUGE-L"]


def test_global_scores_are_the_perron_vector_of_the_dominance(study):
    for ranking in study.rankings:
        values, vectors = np.linalg.eig(np.array(ranking["dominance"]))
        perron = np.abs(vectors[:, np.argmax(values.real)].real)
        global_scores = ranking["global_scores"]
        scores = [global_scores[name] for name in study.state.systems]

        assert_allclose(scores, perron / perron.sum(), rtol=1e-9)
        assert ranking["convergence"]["irreducible"]
        assert set(ranking["stability"]) == {"2", "3"}


def test_persons_whom_annotators_did_not_repeat_are_last(study):
    for ranking in study.rankings:
        ranks = ranking["ranks"]
        assert {ranks["person0"], ranks["person4"]} == {4, 5}


def test_scores_of_a_pair_are_those_on_its_images(captions, study):
    pair = study.state.pairs[7]
    references = {image: captions[image][1:4] for image in pair.images}
    score_table = study.rankings[0]["scores"]
    names = (pair.first, pair.second)
    for name, other in (names, names[::-1]):
        person = int(name[-1])
        answers = {image: captions[image][person] for image in pair.images}

        (expected,) = semmetrics.score(answers, references, measures="CIDEr-D")

        row = study.state.systems.index(name)
        column = study.state.systems.index(other)
        assert score_table[row][column] == pytest.approx(expected.value)


def test_systems_can_be_ranked_by_ratings(folder, study):
    fill(study.ratings, "rating", lambda row: 1 + len(row["caption"]) % 5)

    text = run("mad rank --ratings", study.ratings, folder / "study.json")

    assert "rating" in text


def test_the_selection_is_the_oracles(captions, folder):
    state = select(folder, (0, 1), "NGSM")
    systems = {
        "person0": captions_of(captions, 0),
        "person1": captions_of(captions, 1),
    }
    texts = sorted({*systems["person0"].values(), *systems["person1"].values()})
    tokens = dict(zip(texts, open_tokenizer("ptb").tokens(texts), strict=True))

    def ngsm_up_to(order):
        return lambda first, second: ngsm(tokens[first], tokens[second], order)

    lower = [ngsm_up_to(order) for order in (3, 2, 1)]
    expected = oracle.select(systems, K, ngsm_up_to(4), lower=lower)
    (expected_images,) = expected.values()
    (pair,) = state.pairs
    assert pair.images == tuple(image for image, _ in expected_images)

    text_pairs = [texts[:2] for texts in captions.values()]
    values = [ngsm_up_to(4)(*text_pair) for text_pair in text_pairs]
    assert pair.mean == pytest.approx(sum(values) / len(values))
    # The documentation says "nine of ten images".
    assert 0.9 < values.count(0) / state.n < 0.95
    # The selected images are among those whose captions share no word.
    unigram_values = [ngsm_up_to(1)(*text_pair) for text_pair in text_pairs]
    assert pair.tied == unigram_values.count(0)


def test_an_added_person_gives_the_pairs_of_a_complete_selection(folder):
    options = ("NGSM(order=2)", "--ties", "random")
    complete = select(folder, range(5), *options)
    before = select(folder, range(4), *options)
    files = [folder / f"person{person}.json" for person in range(5)]
    extended_path = folder / "extended.json"
    new_sheet = folder / "new.csv"

    outputs = ("-o", extended_path, "--sheet", new_sheet)
    run("mad add -q", *outputs, folder / "state.json", *files)

    extended = semmetrics.DiscrepancySelection.load(extended_path)
    assert pairs_by_names(extended) == pairs_by_names(complete)
    new_images = {row["image_id"] for row in read(new_sheet)}
    assert new_images == set(complete.images) - set(before.images)


def pairs_by_names(state):
    return {(pair.first, pair.second): pair for pair in state.pairs}


def read(path):
    with Path(path).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def fill(path, column, value):
    rows = [{**row, column: value(row)} for row in read(path)]
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
