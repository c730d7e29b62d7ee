"""Shards by the hashes of ids, merged in any order, give the scores of one call."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from batches import save, save_and_load
from refusals import codes, refused
from scaled import CI, MEASURES, asked, check_same, write_both

from semmetrics import Scorer, score
from semmetrics.scale.stream import score_stream


def merge_in_random_order(scorers, seed=0):
    """Merge scorers two by two, and save some of the results in between."""
    rng = np.random.default_rng(seed)
    scorers = list(scorers)
    while len(scorers) > 1:
        first = scorers.pop(rng.integers(len(scorers)))
        second = scorers.pop(rng.integers(len(scorers)))
        merged = first + second
        if len(scorers) % 9 == 0:
            merged = save_and_load(merged)
        scorers.append(merged)
    return scorers[0].compute()


@pytest.mark.parametrize("kind", MEASURES)
def test_shards_of_streams_give_the_scores_of_one_call(tmp_path, kind):
    paths = write_both(tmp_path, kind, n=9)
    options = asked(kind)
    if kind == "labels":
        options["weights"] = {f"item {k}": k % 4 / 2 for k in range(9)}

    shards = []
    for number in range(1, 13):
        scorer = score_stream(*paths, shard=f"{number}/12", **options)
        shards.append(Scorer.load(save(scorer, f"{number}/12")))

    assert 0 in map(len, shards)
    whole = score(*paths, keep_rows=False, **options)
    for seed in range(3):
        check_same(merge_in_random_order(shards, seed), whole)
    with refused("missing-shards", names=["4/12"]):
        merge_in_random_order(shards[:3] + shards[4:])


def write_array(path, *shape):
    """Write random numbers with ties, and return the path."""
    numbers = np.random.default_rng(len(path.name)).random(shape).round(2)
    np.save(path, numbers)
    return str(path)


def check_shards(preds, gts, **options):
    """Check that 33 shards, some without items, give the scores of one call."""
    shards = []
    for number in range(1, 34):
        scorer = Scorer(keep_rows=False, **options)
        scorer.update(preds, gts, shard=f"{number}/33")
        shards.append(Scorer.load(save(scorer, f"{number}/33")))

    table = merge_in_random_order(shards)

    whole = score(preds, gts, keep_rows=False, **options)
    check_same(table, whole)
    assert sorted(table.notes) == sorted(whole.notes)


GALLERY = [f"c{number}" for number in range(20)]


def test_shards_of_similarities_give_the_scores_of_one_call(tmp_path):
    check_shards(
        write_array(tmp_path / "preds.npy", 30, 20),
        [[number % 20] for number in range(30)],
        task="retrieval",
        direction="both",
        measures="HitRate@1 NCS@2",
        phi=write_array(tmp_path / "phi.npy", 30, 20),
        **CI,
    )


def test_shards_of_class_scores_give_the_scores_of_one_call(tmp_path):
    preds = write_array(tmp_path / "preds.npy", 30, 20)
    true_classes = [GALLERY[number % 20] for number in range(30)]

    check_shards(
        preds,
        true_classes,
        task="classes",
        classes=GALLERY,
        seen=GALLERY[:8],
        unseen=GALLERY[8:],
        **CI,
    )


@pytest.mark.parametrize("bounds", [(0, 12), (0, 4, 8, 12)])
def test_items_without_ids_are_in_shards_by_their_position(bounds):
    preds, gts = np.random.default_rng(0).random((2, 12, 3)).round().astype(int)
    options = {"measures": "F1", "classes": ["a", "b", "c"], "keep_rows": False}
    scorer = Scorer(**options)

    for shard in ("1/3", "2/3", "3/3"):
        for start, stop in pairwise(bounds):
            scorer.update(preds[start:stop], gts[start:stop], shard=shard)

    check_same(scorer.compute(), score(preds, gts, **options))


def test_a_note_reports_items_without_ids_that_are_only_partly_in_shards():
    scorer = Scorer(measures="F1", keep_rows=False)

    scorer.update([["a"]], [["a"]])
    scorer.update([["a"]], [["a"]], shard="1/1")

    assert "unnumbered" in codes(scorer.compute())


@pytest.mark.parametrize(
    "text", ["", "3", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1.0/2"]
)
def test_a_wrong_shard_raises_an_error(tmp_path, text):
    paths = write_both(tmp_path, "labels", n=2)
    scorer = Scorer(keep_rows=False, measures="F1")

    with refused("bad-option", name="shard", value=text):
        scorer.update(*paths, shard=text)
    with refused("bad-option", name="shard", value=text):
        save(scorer, shard=text)
    with refused("bad-option", name="shard", value=text):
        score_stream(*paths, shard=text, measures="F1")


def test_a_shard_of_stored_items_raises_an_error():
    scorer = Scorer(measures="F1")

    with refused("needs-no-rows"):
        scorer.update({"a": ["cat"]}, {"a": ["cat"]}, shard="1/2")
