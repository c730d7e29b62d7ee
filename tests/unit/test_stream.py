"""Files that are scored block by block give the scores of one call on whole files."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from batches import select
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scaled import MEASURES, asked, check_same, draw, shuffled, write, write_both

from semmetrics import InputError, score, score_systems
from semmetrics.data import blocks
from semmetrics.scale import stream
from semmetrics.scale.stream import SeenIds, score_stream

EVERY_KIND = pytest.mark.parametrize("kind", MEASURES)
EVERY_FORMAT = pytest.mark.parametrize("form", ["jsonl", "csv.gz", "parquet"])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let each block have a few items."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 150)
    monkeypatch.setattr(blocks, "MAX_BLOCK_ROWS", 5)
    monkeypatch.setattr(stream, "MAX_UNPREDICTED_PER_BATCH", 3)


def check_stream(preds, gts, **options):
    """Check that a stream of files gives the scores of one call."""
    whole = score_systems(preds, gts, keep_rows=False, **options)
    check_same(score_stream(preds, gts, **options).compute(), whole)


def without_some_items(preds, gts):
    """Leave out different items of each side, and change the order of one."""
    lacking_predictions = {f"item {k}" for k in (7, *range(12, 19), 23)}
    preds = select(preds, [name for name in preds if name not in lacking_predictions])
    gts = select(gts, [name for name in gts if name != "item 20"])
    first = select(gts, [f"item {k}" for k in (1, 0, *range(2, 9))])
    return preds, first | shuffled(gts)


# ---- orders of items ----------------------------------------------------------------------------


@EVERY_FORMAT
@EVERY_KIND
def test_sides_with_the_same_order_are_read_side_by_side(tmp_path, kind, form):
    pred, gt = write_both(tmp_path, kind, form)
    steps = []

    scorer = score_stream(
        pred, gt, advance=lambda *step: steps.append(step), **asked(kind)
    )

    check_same(scorer.compute(), score(pred, gt, keep_rows=False, **asked(kind)))
    stage, n_read, n_items, size = steps[-1]
    assert stage == "reading and scoring"
    assert n_read == size
    assert n_items == 24


@pytest.mark.parametrize("missing", ["skip", "empty"])
@EVERY_FORMAT
@EVERY_KIND
def test_sides_may_have_different_orders_and_items(tmp_path, kind, form, missing):
    preds, gts = without_some_items(*draw(kind))
    options = {**asked(kind), "missing": missing}
    if missing == "skip":
        options["weights"] = {name: len(name) % 3 * 0.75 for name in draw(kind)[0]}
    if missing == "skip" and kind == "captions":
        # CIDEr-D would count the words of all references.
        options["measures"] = ["BLEU-4"]
    systems = {
        "a": write(tmp_path / f"a.{form}", preds, kind),
        "b": write(tmp_path / f"b.{form}", shuffled(preds), kind),
    }
    gt = write(tmp_path / f"gts.{form}", gts, kind)

    check_stream(systems, gt, **options)


@EVERY_KIND
def test_missing_ids_raise_an_error_and_stop_all_reading(tmp_path, kind):
    preds, gts = draw(kind)
    del preds["item 7"]
    del gts["item 20"]
    pred = write(tmp_path / "preds.csv.gz", preds, kind)
    gt = write(tmp_path / "gts.csv.gz", gts, kind)

    with pytest.raises(InputError, match="'item 20'") as caught:
        score_stream(pred, gt, **asked(kind))

    assert caught.value.code == "missing-ids"
    assert not any("Pool" in thread.name for thread in threading.enumerate())


# ---- repeated ids -------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["preds", "gts"])
@pytest.mark.parametrize(
    ("form", "order"),
    [("jsonl", "0121"), ("jsonl", "0012"), ("csv", "0121"), ("csv", "2102")],
)
def test_a_repeated_id_raises_an_error_in_any_block(
    tmp_path, monkeypatch, form, side, order
):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 20)
    head, row = "", '{"id": "%s", "labels": ["cat"]}\n'
    if form == "csv":
        head, row = "id,label\n", "%s,cat\n"
    paths = []
    for name in ("preds", "gts"):
        path = tmp_path / f"{name}.{form}"
        ids = order if name == side else "012"
        path.write_text(head + "".join(row % name for name in ids))
        paths.append(str(path))

    with pytest.raises(InputError) as caught:
        score_stream(*paths, measures="F1")

    repeated = max(order, key=order.count)
    assert caught.value.code in ("duplicate-at", "rows-apart")
    assert f"id '{repeated}'" in caught.value.where


def test_an_item_may_have_several_rows_of_csv(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id,label\n0,cat\n0,dog\n1,cat\n")

    table = score_stream(str(path), str(path), measures="Recall").compute()

    assert table["Recall"].value == 1.0
    assert table["Recall"].n == 2


@given(st.lists(st.lists(st.integers(0, 40))))
def test_seen_ids_report_the_positions_of_repeated_hashes(batches):
    seen_ids = SeenIds()
    expected_ids = set()

    for batch in batches:
        repeated = []
        for position, number in enumerate(batch):
            if number in expected_ids:
                repeated.append(position)
            expected_ids.add(number)

        assert seen_ids.add(np.array(batch, np.uint64)).tolist() == repeated


# ---- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_text_may_be_in_utf_16(tmp_path, codec, form, monkeypatch):
    monkeypatch.setattr("semmetrics.data.source.MAX_SMALL_BYTES", 99)
    monkeypatch.setattr("semmetrics.data.blocks.MAX_SMALL_BYTES", 99)
    preds, gts = draw("labels")
    preds["item 3"] = ["caf\xe9", "\u4e2d\u6587", "\U0001f600"]
    byte_order_mark = "" if codec == "utf-16" else "\ufeff"
    paths = []
    for name, side in (("preds", preds), ("gts", gts)):
        path = Path(write(tmp_path / f"{name}.{form}", side, "labels"))
        path.write_bytes((byte_order_mark + path.read_text("utf-8")).encode(codec))
        paths.append(str(path))

    check_stream({"a": paths[0]}, paths[1], **asked("labels"))


def test_utf_16_with_half_a_character_raises_an_error(tmp_path):
    pred, gt = write_both(tmp_path, "labels", "csv")
    content = Path(pred).read_text("utf-8").encode("utf-16")
    Path(pred).write_bytes(content[:-1])

    with refused("not-utf8"):
        score_stream(pred, gt, **asked("labels"))


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty_side", [0, 1])
def test_an_empty_file_raises_an_error(tmp_path, empty_side):
    paths = write_both(tmp_path, "labels")
    Path(paths[empty_side]).write_bytes(b"")

    with refused("empty-file", paths[empty_side]):
        score_stream(*paths, measures="F1")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"set_size_probs": np.ones((2, 2))}, "not-applicable"),
        ({"weights": [1.0]}, "wrong-type"),
        ({"ci": True, "ci_method": "bca"}, "needs-all-items"),
    ],
)
def test_options_that_need_all_items_raise_an_error(tmp_path, options, code):
    paths = write_both(tmp_path, "labels")

    with refused(code):
        score_stream(*paths, measures="F1", **options)
