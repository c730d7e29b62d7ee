"""Shards: sums of parts by the hashes of ids, merged in any order, say what one call says."""

import io
import json

import numpy as np
import pytest
from refusals import refused
from scaled import CI, MEASURES, asked, check_same, write_both

from semmetrics import Scorer, score
from semmetrics.scale.stream import score_stream

KIND = pytest.mark.parametrize("kind", MEASURES)


def saved(scorer, shard=None):
    target = io.BytesIO()
    scorer.save(target, shard=shard)
    return target


def merged(states, seed=0):
    """Return the table of states, merged by twos in random order, and some written in between."""
    rng, left = np.random.default_rng(seed), [*map(Scorer.load, states)]
    while len(left) > 1:
        both = sum(left.pop(rng.integers(len(left))) for _ in range(2))
        left.append(Scorer.load(saved(both)) if len(left) % 9 == 0 else both)
    return left[0].compute()


@KIND
def test_shards_of_streams_say_what_one_call_says(tmp_path, kind):
    pair = write_both(tmp_path, kind, n=9)  # fewer items than shards
    given = asked(kind)
    if kind == "labels":
        given["weights"] = {f"item {k}": k % 4 / 2 for k in range(9)}
    shards = [f"{number}/12" for number in range(1, 13)]
    scorers = [score_stream(*pair, shard=one, **given) for one in shards]
    assert 0 in map(len, scorers)
    states = [*map(saved, scorers, shards)]
    whole = score(*pair, keep_rows=False, **given)
    for seed in range(3):
        check_same(merged(states, seed), whole)
    with refused("missing-shards", names=["4/12"]):
        merged(states[:3] + states[4:])


@pytest.mark.parametrize("case", ["similarities", "named", "embeddings", "classes"])
def test_shards_of_matrices_say_what_one_call_says(tmp_path, case):
    rng, n, preds = np.random.default_rng(3), 30, str(tmp_path / "preds.npy")
    queries, gallery = (
        [f"{side}{k}" for k in range(size)] for side, size in (("q", n), ("c", 20))
    )
    shapes = {"preds": (n, 20), "phi": (n, 20), "queries": (n, 8), "gallery": (20, 8)}
    gts = [rng.choice(20, rng.integers(1, 4), replace=False).tolist() for _ in queries]
    given = {
        "task": "retrieval",
        "direction": "both",
        "measures": ["HitRate@1", "MRR"],
        **CI,
    }
    if case == "classes":
        gts = [gallery[some[0]] for some in gts]
        given = {
            "task": "classes",
            "classes": gallery,
            "seen": gallery[:8],
            "unseen": gallery[8:],
        }
        given |= CI
    elif case == "embeddings":
        preds = None
        given |= {
            f"{one}_embeddings": str(tmp_path / f"{one}.npy")
            for one in ("queries", "gallery")
        }
    else:
        given |= {
            "phi": str(tmp_path / "phi.npy"),
            "measures": ["HitRate@1", "Recall@5", "NCS@2"],
        }
    if case in ("named", "embeddings"):
        given |= {"queries": queries, "gallery": gallery}
        gts = {
            i: [gallery[k] for k in some] for i, some in zip(queries, gts, strict=True)
        }
    for name, shape in shapes.items():
        np.save(tmp_path / f"{name}.npy", np.round(rng.random(shape), 2))  # with ties
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps(gts), encoding="utf-8")
    states = []
    for number in range(1, 34):  # some are empty
        scorer = Scorer(keep_rows=False, **given)
        scorer.update(preds, str(truth), shard=f"{number}/33")
        states.append(saved(scorer, f"{number}/33"))
    table, whole = merged(states), score(preds, str(truth), keep_rows=False, **given)
    check_same(table, whole)
    assert sorted(table.notes) == sorted(whole.notes)


@pytest.mark.parametrize("batches", [1, 3])
def test_shards_of_items_without_ids_in_one_scorer(batches):
    preds, gts = np.random.default_rng(0).random((2, 12, 3)).round().astype(int)
    given = {"measures": "F1", "classes": ["a", "b", "c"], "keep_rows": False}
    scorer = Scorer(**given)
    for number in (1, 2, 3):
        for some in np.split(np.arange(12), batches):
            scorer.update(preds[some], gts[some], shard=f"{number}/3")
    check_same(scorer.compute(), score(preds, gts, **given))
    mixed = Scorer(measures="F1", keep_rows=False)
    for shard in (None, "1/1"):
        mixed.update([["a"]], [["a"]], shard=shard)
    assert "unnumbered" in [one.code for one in mixed.compute().facts]


@pytest.mark.parametrize(
    "text", ["", "3", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1.0/2"]
)
def test_wrong_shards_are_refused(tmp_path, text):
    pair = write_both(tmp_path, "labels", n=2)
    scorer = Scorer(keep_rows=False, measures="F1")
    for call in (score_stream, scorer.update, lambda *_, shard: saved(scorer, shard)):
        with refused("bad-option", name="shard", value=text):
            call(*pair, shard=text)
    with refused("needs-no-rows"):
        Scorer(measures="F1").update(*pair, shard="1/2")
