"""Files scored block by block: the digits of one call on whole files, in any order."""

import io
import json
import sys
import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scaled import MEASURES, asked, check_same, draw, shuffled, write, write_both

from semmetrics import InputError, score, score_systems
from semmetrics.data import blocks
from semmetrics.scale import stream
from semmetrics.scale.stream import SeenIds, score_stream

KIND = pytest.mark.parametrize("kind", MEASURES)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let blocks have a few items each."""
    for name, value in {"BLOCK": 150, "ROWS": 5}.items():
        monkeypatch.setattr(blocks, name, value)
    monkeypatch.setattr(stream, "_MAX_UNPREDICTED_PER_BATCH", 3)


@pytest.mark.parametrize("order", ["alike", "shuffled", "skip", "empty", "error"])
@pytest.mark.parametrize("form", ["jsonl", "csv.gz", "parquet"])
@KIND
def test_streams_say_what_whole_files_say(tmp_path, kind, form, order):
    preds, gts = draw(kind)
    given, systems = asked(kind), {"a": preds}
    if order in ("skip", "empty", "error"):
        given["missing"] = order
        gts.pop("item 20")
        # some before, some behind, more than go together
        for k in (
            7,
            *range(12, 19),
            23,
        ):
            preds.pop(f"item {k}")
    if order == "skip":
        given["weights"] = {i: len(i) % 3 * 0.75 for i in (*preds, *gts)}
        if kind == "captions":  # not all references are counted
            given["measures"] = ["BLEU-4"]
    if order == "shuffled":
        systems |= {"b": shuffled(draw(kind, seed=4)[0]), "c": draw(kind, seed=5)[0]}
    first = dict([*gts.items()][:9])
    if order == "empty":  # the same ids in a block, in another order
        first = {"item 1": gts["item 1"], **first}
    gts = gts if order == "alike" else first | shuffled(gts)
    gt = write(tmp_path / f"gts.{form}", gts, kind)
    paths = {
        name: write(tmp_path / f"{name}.{form}", one, kind)
        for name, one in systems.items()
    }
    steps = []
    if order == "error":
        with pytest.raises(InputError, match="'item 20'") as caught:
            score_stream(paths, gt, **given)
        assert caught.value.code == "missing-ids"
        # none reads on
        assert not [one for one in threading.enumerate() if "Pool" in one.name]
        return
    found = score_stream(
        paths, gt, advance=lambda *step: steps.append(step), **given
    ).compute()
    check_same(found, score_systems(paths, gt, keep_rows=False, **given))
    what, read, items, size = steps[-1]
    assert (what, read) == ("reading and scoring", size)
    assert items == len(preds) or order == "shuffled"


@pytest.mark.parametrize("where", ["folder", "folder/*.jsonl", "-"])
@KIND
def test_folders_patterns_and_standard_input(tmp_path, monkeypatch, kind, where):
    pred, gt = write_both(tmp_path, kind)
    lines = Path(pred).read_bytes().splitlines(keepends=True)
    cut = next(
        k
        for k in range(9, 20)
        if lines[k].split(b",")[0] != lines[k - 1].split(b",")[0]
    )
    (tmp_path / "folder").mkdir()
    for name, some in {
        "1.jsonl": lines[:cut],
        "2.jsonl": lines[cut:],
        ".x.jsonl": [b"{"],
    }.items():
        (tmp_path / "folder" / name).write_bytes(b"".join(some))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"".join(lines))))
    source = where if where == "-" else f"{tmp_path}/{where}"
    found = score_stream(source, gt, **asked(kind)).compute()
    check_same(found, score(pred, gt, keep_rows=False, **asked(kind)))


@pytest.mark.parametrize("order", ["0121", "0012", "2102", "1002"])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_id_that_comes_again_is_refused(tmp_path, monkeypatch, form, side, order):
    monkeypatch.setattr(blocks, "BLOCK", 20)
    row, paths = (
        {"jsonl": '{"id": "%s", "labels": ["cat"]}\n', "csv": "%s,cat\n"}[form],
        [],
    )
    for some in (order, "012") if side == 0 else ("012", order):
        paths.append(tmp_path / f"{len(paths)}.{form}")
        text = "".join(row % one for one in some)
        paths[-1].write_text("id,label\n" * (form == "csv") + text, encoding="utf-8")
    if form == "csv" and "00" in order:  # rows of one item
        assert (
            score_stream(*map(str, paths), measures="Recall").compute()["Recall"].value
            == 1.0
        )
        return
    with pytest.raises(InputError) as caught:  # in one block, or in two
        score_stream(*map(str, paths), measures="F1")
    assert caught.value.code in ("duplicate-at", "rows-apart")
    assert f"id '{max(order, key=order.count)}'" in caught.value.where


def test_what_is_empty_or_needs_all_items_is_refused(tmp_path):
    pred, gt = write_both(tmp_path, "labels")
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_bytes(b"")
    for pair in ((str(nothing), gt), (pred, str(nothing))):
        with refused("empty-file", str(nothing)):
            score_stream(*pair, measures="F1")
    for code, option in {
        "not-applicable": {"set_size_probs": np.ones((2, 2))},
        "wrong-type": {"weights": [1.0]},
        "needs-all-items": {"ci": True, "ci_method": "bca"},
    }.items():
        with refused(code):
            score_stream(pred, gt, measures="F1", **option)


@given(st.lists(st.lists(st.integers(0, 40))))
def test_seen_is_a_set(batches):
    seen, known = SeenIds(), set()
    for batch in batches:
        again = [k for k, one in enumerate(batch) if one in known or one in batch[:k]]
        known.update(batch)
        assert seen.add(np.array(batch, np.uint64)).tolist() == again
    assert {int(one) for run in seen.runs for one in run} == known
    lengths = [len(run) for run in seen.runs if len(run)]
    assert all(a > 2 * b for a, b in pairwise(lengths))


def test_the_ground_truth_may_end_first(tmp_path):
    lines = [json.dumps({"id": str(k), "labels": ["cat"]}) + "\n" for k in range(6)]
    paths = [tmp_path / "p.jsonl", tmp_path / "g.jsonl"]
    for path, some in zip(paths, (lines, lines[:4]), strict=True):
        path.write_text("".join(some), encoding="utf-8")
    weights = {str(k): k + 0.5 for k in range(6)}
    for options in ({"missing": "skip"}, {"missing": "empty", "weights": weights}):
        (one,) = score_stream(*map(str, paths), measures="F1", **options).compute()
        (whole,) = score(*paths, measures="F1", **options)
        assert (one.value, one.signature) == (whole.value, whole.signature)
    with refused("missing-ids"):
        score_stream(*map(str, paths), measures="F1")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_text_in_utf_16_is_streamed(tmp_path, codec, form, monkeypatch):
    monkeypatch.setattr("semmetrics.data.source.SMALL", 99)
    monkeypatch.setattr("semmetrics.data.blocks.SMALL", 99)
    preds, gts = draw("labels")
    preds["item 3"] = ["caf\xe9", "\u4e2d\u6587", "\U0001f600"]
    sides = []
    for name, side in (("preds", preds), ("gts", gts)):
        path = Path(write(tmp_path / f"{name}.{form}", side, "labels"))
        mark = "" if codec == "utf-16" else "\ufeff"
        path.write_bytes((mark + path.read_text("utf-8")).encode(codec))
        sides.append(str(path))
    given = asked("labels")
    check_same(
        score_stream(*sides, **given).compute(), score(*sides, keep_rows=False, **given)
    )


def test_damaged_utf_16_is_an_error(tmp_path):
    preds, gts = draw("labels")
    gt = write(tmp_path / "gts.csv", gts, "labels")
    path = Path(write(tmp_path / "preds.csv", preds, "labels"))
    data = path.read_text("utf-8").encode("utf-16")
    for damaged in (data[:-1], data[:40] + b"\x00\xd8" + data[42:]):
        path.write_bytes(damaged)
        with refused("not-utf8"):
            score_stream(str(path), gt, **asked("labels"))


def names_of(labels):
    """Return labels without their scores."""
    return [label if isinstance(label, str) else label[0] for label in labels]


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_lists_of_a_dictionary_in_several_row_groups(tmp_path, rows):
    import pyarrow as pa
    from pyarrow import parquet

    preds, gts = draw("labels")
    paths = []
    for name, side in (("preds", preds), ("gts", gts)):
        labels = pa.array([names_of(one) for one in side.values()])
        coded = pa.ListArray.from_arrays(
            labels.offsets, labels.flatten().dictionary_encode()
        )
        path = tmp_path / f"{name}.parquet"
        table = pa.table({"id": list(side), "labels": coded})
        parquet.write_table(table, path, row_group_size=rows)
        paths.append(str(path))
    plain = [
        {item: names_of(one) for item, one in side.items()} for side in (preds, gts)
    ]
    given = {"measures": "F1 MacroF1"}
    expected = score(*plain, **given)
    whole = score(*paths, **given)
    streamed = score_stream(*paths, **given).compute()
    for heading in ("F1", "MacroF1"):
        assert whole[heading].value == expected[heading].value
        assert streamed[heading].value == pytest.approx(
            expected[heading].value, abs=1e-12
        )
        assert whole[heading].signature == expected[heading].signature
