"""METEOR of the example of the COCO caption code, and counts of the official program."""

import csv
import json
from importlib.util import find_spec
from itertools import pairwise

import laws
import numpy as np
import pytest
from oracles.captions_ngram import task_of

from semmetrics.errors import message_of_error
from semmetrics.metrics.meteor import METEOR, java_counts
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.java import METEOR_FILES
from semmetrics.text.meteor import Sentences
from semmetrics.text.paraphrases import open_paraphrases

pytestmark = pytest.mark.skipif(
    not find_spec("pycocoevalcap"), reason="its word lists are needed"
)


@pytest.fixture
def program_files():
    """Skip the test if the files of the official program are missing."""
    reason = message_of_error(METEOR_FILES.locate)
    if reason:
        pytest.skip(reason)


def meteor_score(candidates, references):
    task = task_of(candidates, references)
    (score,) = laws.scores(evaluate(task, [METEOR()]), [METEOR()])
    return score


def test_the_example_has_the_published_value(fakecap):
    references_by_image, candidates_by_image = fakecap
    candidates = [candidates_by_image[image][0] for image in references_by_image]

    score = meteor_score(candidates, list(references_by_image.values()))

    assert score.n == 1000
    assert score.value == pytest.approx(0.19525467177780284, abs=1e-15)
    # The corpus value is computed from summed counts.
    assert score.items.mean() != pytest.approx(score.value, abs=1e-3)


# References with equal values but other counts: the last bit decides which of them is best.
EQUAL_REFERENCES = [
    (
        "a blorbked in blorgked sofa and on of blorgking",
        "is blorbked in blorgked of in is of of",
        "of yy of blorgked sofa the of of blorgking",
    ),
    (
        "lady of large blormking blorfking in",
        "woman of big blormking blorfking a",
        "lady of big blormk blorfking to",
    ),
    (
        "blorgked blorfk in street to blorbked blordked",
        "blorgked blorfking the street to blorbked blordk",
        "blorgked blorfking of road to blorbked blordked",
    ),
    (
        "blortked blorbked to blordked in blorfked blorcking",
        "blortked xx to blordked in blorfk blorcking",
        "blortked blorbked xx zz blordked in blorfked blorcking",
    ),
    (
        "with boat blortk blorbking blorcked domestic_dog in the blormk",
        "with of the the blorck zz domestic_dog the the blormking",
        "with ship xx blorbking blorcking dog and zz the blormk",
    ),
]


def official_meteor(candidates, references):
    """Return the corpus value of pycocoevalcap."""
    package = pytest.importorskip("pycocoevalcap.meteor.meteor")
    candidate_lists = {}
    for number, caption in enumerate(candidates):
        candidate_lists[str(number)] = [caption]
    reference_lists = dict(zip(candidate_lists, references, strict=True))
    meteor = package.Meteor()
    value, _ = meteor.compute_score(reference_lists, candidate_lists)
    meteor.meteor_p.stdout.close()
    meteor.meteor_p.stderr.close()
    return value


@pytest.mark.usefixtures("program_files")
@pytest.mark.parametrize("order", [1, -1])
def test_the_best_of_equal_references_is_the_one_of_the_program(order):
    candidates = []
    references = []
    for candidate, *both in EQUAL_REFERENCES:
        candidates.append(candidate)
        references.append(both[::order])

    score = meteor_score(candidates, references)

    expected = official_meteor(candidates, references)
    assert score.value == pytest.approx(expected, abs=1e-15)


# ---- counts -------------------------------------------------------------------------------------


def pairs_of_fakecap(folder):
    """Return the candidate with each of its references."""
    sides = []
    for side in ("gts", "res"):
        path = folder / "coco" / f"fakecap_tokenized_{side}.json"
        sides.append(json.loads(path.read_text("utf-8")))
    references_by_image, candidates_by_image = sides
    pairs = []
    for image, references in references_by_image.items():
        (candidate,) = candidates_by_image[image]
        pairs.extend((candidate, reference) for reference in references)
    return pairs


def pairs_of_karpathy(folder):
    """Return the first caption of each image with captions of this and of the next image."""
    captions_by_image = {}
    path = folder / "coco" / "coco_karpathy_test5k.tsv"
    with path.open(encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        for image, _, caption in rows:
            captions_by_image.setdefault(image, []).append(caption)
    caption_lists = list(captions_by_image.values())
    pairs = []
    for captions in caption_lists:
        pairs.extend((captions[0], other) for other in captions[1:])
    for captions, next_captions in pairwise(caption_lists):
        pairs.extend((captions[0], other) for other in next_captions)
    return pairs


def pairs_of_flickr(folder):
    """Return the distinct pairs of a rated caption and a reference of its image."""
    path = folder / "flickr8k" / "flickr8k_expert.json"
    pairs = {}
    for image in json.loads(path.read_text("utf-8")).values():
        for rating in image["human_judgement"]:
            for reference in image["ground_truth"]:
                pairs[rating["caption"], reference] = None
    return list(pairs)


@pytest.mark.slow
@pytest.mark.usefixtures("program_files")
@pytest.mark.parametrize(
    "read_pairs", [pairs_of_fakecap, pairs_of_karpathy, pairs_of_flickr]
)
@pytest.mark.parametrize("with_paraphrases", [True, False])
def test_counts_are_equal_to_the_program(reference_dir, read_pairs, with_paraphrases):
    pairs = read_pairs(reference_dir)
    numbers = {}
    for pair in pairs:
        for caption in pair:
            numbers.setdefault(caption, len(numbers))
    captions = list(numbers)
    candidates = np.array([numbers[candidate] for candidate, _ in pairs])
    references = np.array([numbers[reference] for _, reference in pairs])
    table = open_paraphrases() if with_paraphrases else None

    counts = Sentences(captions, table).counts(candidates, references)

    option = "true" if with_paraphrases else "false"
    expected = java_counts(captions, candidates, references, option)
    assert len(pairs) > 5000
    assert counts.tolist() == expected.tolist()
