"""METEOR of the COCO caption code's example, and its counts beside the program's."""

import csv
import json
from importlib.util import find_spec
from itertools import chain, pairwise

import laws
import numpy as np
import pytest
from oracles.captions_ngram import Blanks

from semmetrics.data.tasks import caption_task
from semmetrics.errors import why_not
from semmetrics.metrics.meteor import METEOR, java_counts
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.java import METEOR_FILES
from semmetrics.text.meteor import Sentences
from semmetrics.text.paraphrases import open_paraphrases

pytestmark = pytest.mark.skipif(
    not find_spec("pycocoevalcap"), reason="its word lists are needed"
)


def test_fakecap(fakecap):
    gts, res = fakecap
    task = caption_task(
        [res[name] for name in gts], list(gts.values()), list(gts), Blanks()
    )
    (found,) = laws.scores(evaluate(task, [METEOR()]), [METEOR()])
    assert found.n == 1000
    assert found.value == pytest.approx(0.19525467177780284, abs=1e-15)
    assert found.items.mean() != pytest.approx(found.value, abs=1e-3)


# References of equal value but other counts: the last bit decides which one is taken.
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


@pytest.mark.parametrize("order", [1, -1])
def test_equal_references_are_chosen_as_by_the_program(order):
    if missing := why_not(METEOR_FILES.locate):
        pytest.skip(missing)
    candidates = [candidate for candidate, *_ in EQUAL_REFERENCES]
    references = [list(several)[::order] for _, *several in EQUAL_REFERENCES]
    package = pytest.importorskip("pycocoevalcap.meteor.meteor")
    ids = [str(place) for place in range(len(candidates))]
    meteor = package.Meteor()
    expected, _ = meteor.compute_score(
        dict(zip(ids, references, strict=True)),
        {name: [text] for name, text in zip(ids, candidates, strict=True)},
    )
    meteor.meteor_p.stdout.close()
    meteor.meteor_p.stderr.close()
    task = caption_task([[text] for text in candidates], references, ids, Blanks())
    (found,) = laws.scores(evaluate(task, [METEOR()]), [METEOR()])
    assert found.value == pytest.approx(expected, abs=1e-15)


def of_fakecap(folder):
    gts, res = (
        json.loads(
            (folder / "coco" / f"fakecap_tokenized_{side}.json").read_text("utf-8")
        )
        for side in ("gts", "res")
    )
    return [(res[name][0], other) for name, others in gts.items() for other in others]


def of_karpathy(folder):
    with (folder / "coco" / "coco_karpathy_test5k.tsv").open(encoding="utf-8") as file:
        captions: dict[str, list[str]] = {}
        for image, _, text in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            captions.setdefault(image, []).append(text)
    several = list(captions.values())
    own = [(one[0], other) for one in several for other in one[1:]]
    return own + [
        (one[0], other) for one, others in pairwise(several) for other in others
    ]


def of_flickr(folder):
    images = json.loads(
        (folder / "flickr8k" / "flickr8k_expert.json").read_text("utf-8")
    )
    rows = (
        (one["caption"], other)
        for image in images.values()
        for one in image["human_judgement"]
        for other in image["ground_truth"]
    )
    return list(dict.fromkeys(rows))


@pytest.mark.slow
@pytest.mark.parametrize("pairs_of", [of_fakecap, of_karpathy, of_flickr])
@pytest.mark.parametrize("table", ["true", "false"])
def test_the_counts_are_the_programs(reference_dir, pairs_of, table):
    if missing := why_not(METEOR_FILES.locate):
        pytest.skip(missing)
    pairs = pairs_of(reference_dir)
    assert len(pairs) > 5000
    number = {
        text: place
        for place, text in enumerate(dict.fromkeys(chain.from_iterable(pairs)))
    }
    sides = [
        np.array([number[one] for one in side]) for side in zip(*pairs, strict=True)
    ]
    sentences = Sentences(list(number), open_paraphrases() if table == "true" else None)
    assert (
        sentences.counts(*sides).tolist()
        == java_counts(list(number), *sides, table).tolist()
    )
