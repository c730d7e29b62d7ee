"""A competition from the command line: COCO's five references stand in for five captioners.

Source: the captions of COCO's Karpathy test split, image by image in their order. Annotators write
again what the second to fourth person wrote. Selection and scores are those of loops over the same
tokens.
"""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from oracles import competition as oracle
from oracles.captions_ngram import ngsm

import semmetrics
from semmetrics.cli.app import program
from semmetrics.text.tokenizers import open_tokenizer

K = 4


@pytest.fixture(scope="module")
def captions(reference_dir):
    path = reference_dir / "coco" / "coco_karpathy_test5k.tsv"
    if not path.is_file():
        pytest.skip("the COCO captions are not there")
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        image, _, caption = line.split("\t")
        found.setdefault(image, []).append(caption)
    return {image: some[:5] for image, some in found.items()}


@pytest.fixture(scope="module")
def folder(captions, tmp_path_factory):
    """A file for each of the five captioners."""
    made = tmp_path_factory.mktemp("coco")
    for number in range(5):
        answers = {image: some[number] for image, some in captions.items()}
        (made / f"person{number}.json").write_text(
            json.dumps(answers), encoding="utf-8"
        )
    return made


def run(*arguments):
    done = CliRunner().invoke(program, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def selected(folder, numbers, measure, *options):
    files = [folder / f"person{number}.json" for number in numbers]
    run(
        "mad",
        "select",
        "-k",
        K,
        "-m",
        measure,
        "-q",
        "-o",
        folder / "state.json",
        *options,
        *files,
    )
    return semmetrics.DiscrepancySelection.load(folder / "state.json")


def test_five_people_end_to_end(captions, folder):
    sheet, ratings = folder / "sheet.csv", folder / "ratings.csv"
    state = selected(
        folder,
        range(5),
        "NGSM(order=1)",
        "--ties",
        "random",
        "--sheet",
        sheet,
        "--rating-sheet",
        ratings,
        "--page",
        folder / "page.html",
    )
    assert (state.n, len(state.pairs)) == (5000, 10)
    assert {row["image_id"] for row in read(sheet)} == {*state.images}
    fill(sheet, "caption", lambda row: captions[row["image_id"]][int(row["annotator"])])
    text = run(
        "mad",
        "rank",
        "-m",
        "CIDEr-D",
        "-m",
        "ROUGE-L",
        "--references",
        sheet,
        "--stability",
        "2,3",
        "--format",
        "json",
        folder / "state.json",
    )
    first, second = json.loads(text)["rankings"]
    assert (first["measure"], second["measure"]) == ("CIDEr-D", "ROUGE-L")
    for one in (first, second):
        dominance = np.array(one["dominance"])
        values, vectors = np.linalg.eig(dominance)
        perron = np.abs(vectors[:, np.argmax(values.real)].real)
        scores = [one["global_scores"][name] for name in state.systems]
        assert_allclose(scores, perron / perron.sum(), rtol=1e-9)
        assert one["convergence"]["irreducible"]
        assert {*one["stability"]} == {"2", "3"}
        # annotators wrote again what persons 1 to 3 had written
        assert {one["ranks"][f"person{n}"] for n in (0, 4)} == {4, 5}
    pair = state.pairs[7]
    names = [pair.first, pair.second]
    refs = {image: captions[image][1:4] for image in pair.images}
    for name, other in (names, names[::-1]):
        answers = {image: captions[image][int(name[-1])] for image in pair.images}
        score = semmetrics.score(answers, refs, measures="CIDEr-D")[0].value
        i, j = state.systems.index(name), state.systems.index(other)
        assert first["scores"][i][j] == pytest.approx(score)
    fill(ratings, "rating", lambda row: 1 + len(row["caption"]) % 5)
    assert "rating" in run("mad", "rank", "--ratings", ratings, folder / "state.json")


def test_selection_is_that_of_a_loop(captions, folder):
    state = selected(folder, (0, 1), "NGSM")
    texts = sorted({caption for some in captions.values() for caption in some[:2]})
    tokens = dict(zip(texts, open_tokenizer("ptb").tokens(texts), strict=True))
    systems = {
        f"person{n}": {i: some[n] for i, some in captions.items()} for n in (0, 1)
    }

    def up_to(order):
        return lambda a, b: ngsm(tokens[a], tokens[b], order)

    lower = [up_to(order) for order in (3, 2, 1)]
    expected = oracle.select(systems, K, up_to(4), lower=lower)
    ((_, images),) = expected.items()
    (pair,) = state.pairs
    assert pair.images == tuple(image for image, _ in images)
    firsts = [some[:2] for some in captions.values()]
    values = [up_to(4)(*two) for two in firsts]
    assert pair.mean == pytest.approx(sum(values) / len(values))
    n_zero = sum(value == 0 for value in values)
    assert 0.9 < n_zero / state.n < 0.95  # "nine of ten images" of the documentation
    # the first images share no word, and the last one that was selected is one of them
    assert pair.tied == sum(up_to(1)(*two) == 0 for two in firsts)


def test_a_fifth_person_is_added(folder):
    options = ("NGSM(order=2)", "--ties", "random")
    whole = selected(folder, range(5), *options)
    before = selected(folder, range(4), *options)
    run(
        "mad",
        "add",
        "-q",
        "-o",
        folder / "more.json",
        "--sheet",
        folder / "new.csv",
        folder / "state.json",
        *(folder / f"person{n}.json" for n in range(5)),
    )
    after = semmetrics.DiscrepancySelection.load(folder / "more.json")
    pairs = {(one.first, one.second): one for one in whole.pairs}
    assert {(one.first, one.second): one for one in after.pairs} == pairs
    new = {row["image_id"] for row in read(folder / "new.csv")}
    assert new == {*whole.images} - {*before.images}


def read(path):
    with Path(path).open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def fill(path, column, value):
    rows = [{**row, column: value(row)} for row in read(path)]
    with Path(path).open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
