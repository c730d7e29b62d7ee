"""Files scored block by block: the digits of one call on whole files, in any order."""

import io
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scaled import CI, MEASURES, check_same, draw, shuffled, write, write_both

from semmetrics import InputError, score, score_systems
from semmetrics.scale import parts, stream
from semmetrics.scale.stream import Seen, score_stream

KIND = pytest.mark.parametrize("kind", MEASURES)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let blocks have a few items each."""
    for name, value in {"BLOCK": 150, "ROWS": 5, "_TAIL": 16, "_PIECE": 64}.items():
        monkeypatch.setattr(parts, name, value)
    monkeypatch.setattr(stream, "_TOGETHER", 3)


def options(kind, **more):
    return {"measures": MEASURES[kind], "task": kind, **CI, **more}


@pytest.mark.parametrize("order", ["alike", "shuffled", "skip", "empty", "error"])
@pytest.mark.parametrize("form", ["jsonl", "csv.gz", "parquet"])
@KIND
def test_streams_say_what_whole_files_say(tmp_path, kind, form, order):
    preds, gts = draw(kind)
    given = options(kind)
    if (kind, order) == ("captions", "skip"):  # not all references are counted
        given["measures"] = ["BLEU-4"]
    if order in ("skip", "empty", "error"):
        given["missing"] = order
        preds.pop("item 7"), gts.pop("item 20"), preds.pop("item 23")  # some before, some behind
    if order == "skip":
        given["weights"] = {i: len(i) % 3 * 0.75 for i in (*preds, *gts)}
    gts = gts if order == "alike" else dict([*gts.items()][:9]) | shuffled(gts)
    pred, gt = (write(tmp_path / f"{name}.{form}", side, kind)
                for name, side in (("preds", preds), ("gts", gts)))  # fmt: skip
    if order == "error":
        with pytest.raises(InputError) as caught:
            score_stream(pred, gt, **given)
        assert caught.value.code in ("missing-ids", "other-ids")
        assert not [one for one in threading.enumerate() if "Pool" in one.name]  # none reads on
        assert "'item 20'" in str(caught.value)
        return
    steps = []
    scorer = score_stream(pred, gt, advance=lambda *step: steps.append(step), **given)
    check_same(scorer.compute(), score(pred, gt, keep_rows=False, **given))
    what, read, items, size = steps[-1]
    assert (what, read) == ("reading and scoring", size)
    assert items == len(preds)


@KIND
def test_systems_in_other_orders_are_scored_side_by_side(tmp_path, kind):
    preds, gts = draw(kind)
    systems = {"a": preds, "b": shuffled(draw(kind, seed=4)[0]), "c": draw(kind, seed=5)[0]}
    paths = {name: write(tmp_path / f"{name}.jsonl", one, kind) for name, one in systems.items()}
    gt = write(tmp_path / "gts.csv", gts, kind)
    table = score_stream(paths, gt, **options(kind)).compute()
    check_same(table, score_systems(paths, gt, keep_rows=False, **options(kind)))


@pytest.mark.parametrize("where", ["folder", "folder/*.jsonl", "-"])
@KIND
def test_folders_patterns_and_standard_input(tmp_path, monkeypatch, kind, where):
    pred, gt = write_both(tmp_path, kind)
    whole = score(pred, gt, keep_rows=False, **options(kind))
    folder = tmp_path / "folder"
    folder.mkdir()
    lines = (tmp_path / "preds.jsonl").read_bytes().splitlines(keepends=True)
    cut = next(k for k in range(9, 20) if lines[k].split(b",")[0] != lines[k - 1].split(b",")[0])
    for name, some in {"1.jsonl": lines[:cut], "2.jsonl": lines[cut:], ".x.jsonl": [b"{"]}.items():
        (folder / name).write_bytes(b"".join(some))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"".join(lines))))
    given = where if where == "-" else f"{tmp_path}/{where}"
    check_same(score_stream(given, gt, **options(kind)).compute(), whole)


@pytest.mark.parametrize("order", [[0, 1, 2, 1], [0, 0, 1, 2], [2, 1, 0, 2], [1, 0, 0, 2]])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_id_that_comes_again_is_refused(tmp_path, form, side, order):
    paths = write_both(tmp_path, "labels", form, n=3, seed=3)
    lines = [f"i{k},cat" if form == "csv" else f'{{"id": "i{k}", "labels": ["cat"]}}'
             for k in range(3)]  # fmt: skip
    head = ["id,label"] if form == "csv" else []
    together = form == "csv" and any(a == b for a, b in pairwise(order))
    for number, path in enumerate(paths):
        rows = [lines[k] for k in (order if number == side else range(3))]
        with open(path, "w", encoding="utf-8") as out:  # noqa: PTH123
            out.write("\n".join([*head, *rows]) + "\n")
    if together:  # rows of one item
        assert score_stream(*paths, measures="Recall").compute()["Recall"].value == 1.0
        return
    with pytest.raises(InputError) as caught:
        score_stream(*paths, measures="F1")
    assert caught.value.code in ("rows-apart", "duplicate-at")
    assert "i" in str(caught.value)


def test_what_is_empty_or_needs_all_items_is_refused(tmp_path):
    pred, gt = write_both(tmp_path, "labels")
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_bytes(b"")
    for pair in ((str(nothing), gt), (pred, str(nothing))):
        with pytest.raises(InputError, match="nothing"):
            score_stream(*pair, measures="F1").compute()
    with refused("not-applicable", name="set_size_probs"):
        score_stream(pred, gt, measures="F1", set_size_probs=np.ones((2, 2)))
    with refused("wrong-type", value=[1.0]):
        score_stream(pred, gt, measures="F1", weights=[1.0])
    with refused("needs-all-items"):
        score_stream(pred, gt, measures="F1", ci=True, ci_method="bca")


@given(st.lists(st.lists(st.integers(0, 40))))
def test_seen_is_a_set(batches):
    seen, known = Seen(), set()
    for batch in batches:
        again = []
        for place, number in enumerate(batch):
            again += [place] * (number in known)
            known.add(number)
        assert seen.add(np.array(batch, np.uint64)).tolist() == again
    assert {int(one) for run in seen.runs for one in run} == known
    lengths = [len(run) for run in seen.runs if len(run)]
    assert all(a > 2 * b for a, b in pairwise(lengths))


