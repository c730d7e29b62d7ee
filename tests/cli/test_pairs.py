"""``semmetrics pairs``, and retrieval that is judged by its matrices."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.conftest import write_json

import semmetrics


@pytest.fixture
def retrieval(files):
    """Write the similarities and judgements of 12 images and 60 captions."""
    generator = np.random.default_rng(5)
    np.save("sims.npy", generator.random((12, 60)))
    np.save("phi.npy", generator.random((12, 60)))
    write_json(positives=np.arange(60).reshape(12, 5).tolist())


def test_a_measure_names_the_matrix_that_judges(scores, retrieval):
    line = (
        "score --task retrieval --phi x=phi.npy -m NCS(phi=x)@5 sims.npy positives.json"
    )

    (score,) = scores(line)

    expected = semmetrics.score(
        "sims.npy",
        "positives.json",
        task="retrieval",
        measures="NCS@5",
        phi=np.load("phi.npy"),
    )
    assert score["value"] == expected[0].value


def test_a_protocol_computes_measures_with_and_without_the_ground_truth(ok, retrieval):
    text = ok("score --protocol biten2022 --phi phi.npy sims.npy positives.json")

    for heading in ("R@1", "N@10", "N@5, without GT", "Rsum", "Nsum"):
        assert heading in text


def test_a_protocol_lists_measures_that_need_a_matrix(ok, retrieval):
    text = ok("score --protocol biten2022 sims.npy positives.json")

    assert "needs phi" in text


@pytest.fixture
def swapped(files):
    """Write several captions per image in place of candidates."""
    write_json(
        several={"i1": ["a cat", "the cat"], "i2": ["two dogs"]},
        single={"i1": "a cat", "i2": "dogs"},
    )


def test_a_matrix_is_of_one_measure(refused, swapped):
    refusal = refused("pairs --phi CIDEr -m BagSim -o phi.npy single.json several.json")

    assert refusal.code == "wrong-count"
    assert not Path("phi.npy").exists()


def test_references_in_place_of_candidates_are_an_error(refused, swapped):
    refusal = refused("pairs -o phi.npy several.json single.json")

    assert refusal.code == "swapped-files"
    assert not Path("phi.npy").exists()


def test_the_best_images_of_each_caption_are_records(ok, files):
    ok("pairs --top-k 1 --axis images -o best.jsonl captions.json references.json")

    lines = Path("best.jsonl").read_text(encoding="utf-8").splitlines()
    best = [json.loads(line)["images"][0]["id"] for line in lines]
    assert best == ["1", "2"]
