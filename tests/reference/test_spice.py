"""SPICE against the official program, bit for bit."""

import gzip
import json
import math

import pytest

from semmetrics.metrics.spice import CATEGORIES, spice_range, spice_scores
from semmetrics.text.scene_graphs import Concepts
from semmetrics.text.synonyms import open_synonyms

pytest.importorskip("pycocoevalcap")


def _lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("name", ["official_cases", "official_flickr_tuples"])
def test_items_with_official_scores(reference_dir, name):
    items = _lines(reference_dir / "spice" / f"{name}.jsonl.gz")
    scores = spice_scores([one["test"] for one in items], [one["refs"] for one in items])
    for category in CATEGORIES:
        for key, ours in (("f", "f"), ("pr", "precision"), ("re", "recall"),
                          ("tp", "tp"), ("fp", "fp"), ("fn", "fn")):  # fmt: skip
            expected = [one["scores"][category][key] for one in items]
            got = [None if math.isnan(x) else x for x in scores[category][ours].tolist()]
            assert got == expected, (category, key)


def _tuples(reference_dir, name):
    lines = _lines(reference_dir / "spice" / f"raw_tuples_{name}.jsonl.gz")
    return {line["caption"]: line["tuples"] for line in lines}


def test_fakecap(reference_dir):
    tuples = _tuples(reference_dir, "fakecap")
    sides = [
        json.loads((reference_dir / "coco" / f"fakecap_tokenized_{side}.json").read_text())
        for side in ("res", "gts")
    ]
    candidates = [tuples[sides[0][image][0]] for image in sides[1]]
    references = [[tuples[text] for text in texts] for texts in sides[1].values()]
    official = json.loads(
        gzip.decompress((reference_dir / "spice" / "official_fakecap_scores.json.gz").read_bytes())
    )
    found = spice_scores(candidates, references)["All"]
    assert found["f"].tolist() == [official[image]["All"]["f"] for image in sides[1]]
    assert math.fsum(found["f"]) / 1000 == pytest.approx(0.1328946160377789, abs=1e-16)

    concepts = Concepts(open_synonyms())
    ranges = [spice_range(*pair, concepts) for pair in zip(candidates, references, strict=True)]
    assert all(complete for *_, complete in ranges)
    low, high = (math.fsum(values) / 1000 for values in list(zip(*ranges, strict=True))[:2])
    assert low == pytest.approx(0.13288891803208092, abs=1e-15)
    assert high == pytest.approx(0.1328946160377789, abs=1e-15)


def test_the_published_rows_of_flickr8k(reference_dir):
    tuples = _tuples(reference_dir, "flickr8k")
    expert = json.loads((reference_dir / "flickr8k" / "flickr8k_expert.json").read_text())
    published = json.loads((reference_dir / "spice" / "flickr8k_SPICE_test_out.json").read_text())
    candidates, references = [], []
    for image in expert.values():
        several = [tuples[text.strip()] for text in image["ground_truth"]]
        for judged in image["human_judgement"]:
            candidates.append(tuples[judged["caption"].strip()])
            references.append(several)
    found = spice_scores(candidates, references)["All"]
    assert len(published) == 16_992
    for key, ours in (("f", "f"), ("pr", "precision"), ("re", "recall"), ("tp", "tp")):
        assert found[ours].tolist() == [row["scores"]["All"][key] for row in published]
