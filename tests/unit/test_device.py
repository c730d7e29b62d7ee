"""Measures on a device of torch have the values of numpy; here the device is torch's processor."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tiny import Tiny

import semmetrics
from benchmarks.device import Counts, count, counted_runs
from semmetrics.core.backend import find_device, is_torch
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics import label_similarity, similarity_sources

MATCHED = [
    *(
        f"Sem{name}(threshold={threshold},match={match})"
        for threshold in (0.3, 0.6)
        for name in ("Precision", "Recall", "F1")
        for match in ("greedy", "optimal", "total", "any")
    ),
    "SemAP(threshold=0.5)",
    "SemJaccard(threshold=0.5,duplicates=each)@3",
    "SemF1(average=micro,threshold=0.4)",
]
VALUED = [
    "SoftPrecision",
    "SoftRecall",
    "SoftF1",
    "SoftF1(match=total)",
    "WMD",
    "WMD(build=text)",
    "RWMD",
    "MeanSim",
    "MeanSim@2",
    "BagSim",
    "BagSim@1",
]


class Readable(Tiny):
    """The same model, asked for whole lists: the sum of what it knows of their words."""

    def embed(self, texts):
        found = super().embed(texts)
        for place, text in enumerate(texts):
            words = super().embed(text.split())
            if not found.known[place] and len(words.known):
                found.vectors[place] = words.vectors.sum(0)
                found.known[place] = words.known.any()
        return found


def make_problem(seed, *, synonyms, items=120, words=60):
    """Lists with repeats, empty ones and unknown words, and cosines at the thresholds."""
    rng = np.random.default_rng(seed)
    names = [f"w{place}" for place in range(words)]
    table = rng.normal(size=(words // 4, 8))[rng.integers(0, words // 4, words)]
    table = (table + 0.5 * rng.normal(size=(words, 8))).astype(np.float32)
    table[3], table[4], table[5] = 0, [1, *[0] * 7], [0.6, 0.8, *[0] * 6]
    sides = [
        [
            [names[k] for k in rng.integers(0, words, rng.integers(0, most))]
            for _ in range(items)
        ]
        for most in (6, 10)
    ]
    if synonyms:
        sides = [
            [
                [[name, "w7"] if name in ("w5", "w6", "w4") else name for name in row]
                for row in side
            ]
            for side in sides
        ]
    known = dict(zip(names[:-2], table.tolist(), strict=False))
    return (*sides, Readable({**known, "unknown": [1.0] * 8}))


@pytest.fixture(scope="module")
def device():
    pytest.importorskip("torch", reason="torch is not installed")
    return "torch:cpu"


@pytest.mark.parametrize("oov", ["skip", "zero", "unknown"])
@pytest.mark.parametrize("synonyms", [False, True])
def test_a_device_gives_the_scores_of_numpy(device, synonyms, oov):
    preds, refs, model = make_problem(1, synonyms=synonyms)
    options = {"measures": [*MATCHED, *VALUED], "embedding": model, "oov": oov}
    expected = semmetrics.score(preds, refs, **options)
    found = semmetrics.score(preds, refs, device=device, **options)
    for mine, theirs in zip(found.scores, expected.scores, strict=True):
        if str(mine.measure).startswith("Sem"):  # every decision is the same
            assert_array_equal(mine.items, theirs.items)
            assert mine.value == theirs.value
        # a last digit of nine
        assert_allclose(mine.items, theirs.items, rtol=0, atol=1.001e-9)
        assert mine.value == pytest.approx(theirs.value, abs=1e-9)
        assert mine.undefined == theirs.undefined
        assert mine.signature == theirs.signature
    assert found.notes == expected.notes


@pytest.mark.parametrize("most_gathered", [None, 0])
@pytest.mark.parametrize("synonyms", [False, True])
def test_pairs_on_a_device_are_those_of_numpy(
    device, synonyms, most_gathered, monkeypatch
):
    monkeypatch.setattr(label_similarity, "_MAX_TABLE_CELLS", 0)
    if most_gathered is not None:
        for name in ("_MAX_GATHERED_ON_CPU", "_MAX_GATHERED_ON_DEVICE"):
            monkeypatch.setattr(similarity_sources, name, most_gathered)
    preds, refs, model = make_problem(2, synonyms=synonyms, items=30)
    options = {"measures": MATCHED[:8] + VALUED[:4], "embedding": model, "oov": "skip"}
    expected = semmetrics.score(preds, refs, **options)
    found = semmetrics.score(preds, refs, device=device, **options)
    for mine, theirs in zip(found.scores, expected.scores, strict=True):
        assert_allclose(mine.items, theirs.items, rtol=0, atol=1e-12)
    assert found.notes == expected.notes


def test_calibration_on_a_device_is_that_of_numpy(device):
    pairs = [
        ("w1", "w2", True),
        ("w1", "w5", False),
        ("w8", "w9", True),
        ("w4", "w5", False),
    ]
    model = make_problem(4, synonyms=False)[2]
    expected = semmetrics.calibrate_threshold_on_pairs(pairs, embedding=model)
    found = semmetrics.calibrate_threshold_on_pairs(
        pairs, embedding=model, device=device
    )
    assert found.threshold == expected.threshold


def test_what_is_asked_for_is_computed_there(device, monkeypatch):
    """The tables, and not the model alone, are torch's."""
    seen = []
    real = similarity_sources.cosine_table

    def table(left, right):
        seen.append((is_torch(left), is_torch(right)))
        return real(left, right)

    monkeypatch.setattr(similarity_sources, "cosine_table", table)
    semmetrics.score([["a"]], [["b"]], measures=["SoftF1"], device=device)
    assert seen == [(True, True)]


def test_the_processor_is_numpys(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert find_device(None) is find_device("cpu") is None
    plain, asked = (
        semmetrics.score(
            [["cat"]], [["kitten"]], measures=["SoftF1"], device=device
        ).scores[0]
        for device in (None, "cpu")
    )
    assert plain.value == asked.value


@pytest.mark.parametrize("name", ["cuda", "torch:cpu"])
def test_a_device_without_torch_is_one_clear_error(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingDependencyError, match=f"device='{name}' needs the package torch"
    ):
        semmetrics.score([["a"]], [["b"]], measures=["SoftF1"], device=name)


def test_devices_that_are_not_there_are_refused(device):
    torch = pytest.importorskip("torch")
    for name, message in (
        (f"cuda:{torch.cuda.device_count()}", "PyTorch has no device 'cuda"),
        ("gpu", "PyTorch has no device 'gpu'"),
    ):
        with pytest.raises(InputError, match=message):
            semmetrics.score([["a"]], [["b"]], measures=["SoftF1"], device=name)


def test_a_device_without_double_precision_is_refused(device, monkeypatch):
    import torch

    def zeros(*_, dtype, device):
        raise TypeError(f"Cannot convert a {device} Tensor to {dtype}")

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch, "zeros", zeros)
    with pytest.raises(
        InputError, match=r"'mps' does not support double precision.*Leave out device"
    ):
        find_device("mps")


def test_measures_without_an_embedding_need_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None; import semmetrics;"
        "print(semmetrics.score([['a']], [['a']], measures=['F1'], device='cuda')['F1'].value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, text=True, capture_output=True
    )
    assert done.stdout.strip() == "1.0"


# ---- what a device is asked for ------------------------------------------------------------------

RUNS = [*counted_runs(1)]


def test_waits_for_a_device_are_counted(device):
    torch = pytest.importorskip("torch")
    values = torch.arange(4)
    assert count(values.neg) == Counts(1, 0)
    for wait in (
        values.numpy,
        values.tolist,
        values[0].item,
        lambda: bool(values[0]),
        lambda: values[values > 1],
        values.nonzero,
    ):
        assert count(wait).transfers == 1


@pytest.fixture(scope="module")
def runs(device):
    return counted_runs(10_000)


@pytest.mark.parametrize("name", RUNS)
def test_a_device_is_asked_seldom(runs, name):
    found = count(runs[name])
    assert found.operations <= 1_000
    assert found.transfers <= 50


@pytest.mark.parametrize("name", RUNS)
def test_a_device_is_asked_as_often_for_more_items_of_a_block(device, name):
    few, more = (count(counted_runs(items)[name]) for items in (800, 2_400))
    assert few.transfers == more.transfers
    # torch fills large arrays by one call more
    assert more.operations <= few.operations + 2


@pytest.mark.slow
def test_a_device_is_asked_seldom_for_lists_of_many_lengths(device):
    for name, run in counted_runs(10_000, uneven=True).items():
        found = count(run)
        assert found.operations <= 1_000, name
        assert found.transfers <= 50, name
