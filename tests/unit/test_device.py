"""Measures on a device of torch have the values of numpy. The device is torch's processor."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tiny import Tiny

import semmetrics
from benchmarks.device import Counts, count, counted_runs
from semmetrics.core.backend import find_device, is_torch
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics import label_similarity, similarity_sources

# Measures that count matches, so that each decision must be the same
COUNTED = [
    "SemAP(threshold=0.5)",
    "SemJaccard(threshold=0.5,duplicates=each)@3",
    "SemF1(average=micro,threshold=0.4)",
]
for match in ("greedy", "optimal", "total", "any"):
    for threshold in (0.3, 0.6):
        COUNTED.append(f"SemF1(threshold={threshold},match={match})")
    COUNTED.append(f"SemRecall(threshold=0.6,match={match})")
MEASURED = ["SoftPrecision", "SoftF1", "SoftF1(match=total)", "WMD", "WMD(build=text)"]
MEASURED += ["RWMD", "MeanSim", "MeanSim@2", "BagSim", "BagSim@1"]
N_WORDS = 60
WORDS = [f"w{number}" for number in range(N_WORDS)]


class Summing(Tiny):
    """A model that embeds an unknown text as the sum of its words."""

    def embed(self, texts):
        embedded = super().embed(texts)
        for row, text in enumerate(texts):
            words = super().embed(text.split())
            if not embedded.known[row] and len(words.known):
                embedded.vectors[row] = words.vectors.sum(0)
                embedded.known[row] = words.known.any()
        return embedded


def make_model(rng):
    """Return a model with repeated and zero vectors, and cosines at the thresholds."""
    centres = rng.normal(size=(15, 8))[rng.integers(0, 15, N_WORDS)]
    vectors = (centres + 0.5 * rng.normal(size=(N_WORDS, 8))).astype(np.float32)
    vectors[3:6] = 0
    vectors[4, 0] = 1
    vectors[5, :2] = (0.6, 0.8)
    known = dict(zip(WORDS[:-2], vectors.tolist(), strict=False))
    return Summing({**known, "unknown": [1.0] * 8})


def random_lists(rng, n_items, max_labels, synonyms):
    """Return lists of labels, with empty lists, repeated labels and synonyms."""
    lists = []
    for _ in range(n_items):
        labels = []
        for number in rng.integers(0, N_WORDS, rng.integers(0, max_labels)):
            label = WORDS[number]
            if synonyms and label in ("w4", "w5", "w6"):
                label = [label, "w7"]
            labels.append(label)
        lists.append(labels)
    return lists


def assert_same_scores(measures, *, n_items=120, synonyms=False, oov="skip"):
    """Score with numpy and with torch, and compare."""
    rng = np.random.default_rng(1)
    model = make_model(rng)
    preds = random_lists(rng, n_items, 6, synonyms)
    gts = random_lists(rng, n_items, 10, synonyms)
    options = {"measures": measures, "embedding": model, "oov": oov}

    expected = semmetrics.score(preds, gts, **options)
    on_torch = semmetrics.score(preds, gts, device="torch:cpu", **options)

    assert on_torch.notes == expected.notes
    for ours, theirs in zip(on_torch, expected, strict=True):
        # The ninth digit of a rounded value may differ.
        tolerance = 0 if str(ours.measure).startswith("Sem") else 1.001e-9
        assert_allclose(ours.items, theirs.items, rtol=0, atol=tolerance)
        assert ours.value == pytest.approx(theirs.value, rel=0, abs=tolerance)
        assert ours.undefined == theirs.undefined
        assert ours.signature == theirs.signature


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


needs_torch = pytest.mark.usefixtures("torch")


@needs_torch
@pytest.mark.parametrize("oov", ["skip", "zero", "unknown"])
@pytest.mark.parametrize("synonyms", [False, True])
def test_scores_are_those_of_numpy(synonyms, oov):
    assert_same_scores([*COUNTED, *MEASURED], synonyms=synonyms, oov=oov)


@needs_torch
@pytest.mark.parametrize("gather", [True, False])
@pytest.mark.parametrize("synonyms", [False, True])
def test_scores_without_a_table_of_all_pairs_are_those_of_numpy(
    synonyms, gather, monkeypatch
):
    monkeypatch.setattr(label_similarity, "MAX_TABLE_CELLS", 0)
    if not gather:
        for name in ("MAX_GATHERED_ON_CPU", "MAX_GATHERED_ON_DEVICE"):
            monkeypatch.setattr(similarity_sources, name, 0)

    assert_same_scores(COUNTED[3:] + MEASURED[:4], n_items=30, synonyms=synonyms)


@needs_torch
def test_a_calibrated_threshold_is_that_of_numpy():
    pairs = [("w1", "w2", 1), ("w1", "w5", 0), ("w8", "w9", 1), ("w4", "w5", 0)]
    model = make_model(np.random.default_rng(4))

    calibrate = semmetrics.calibrate_threshold_on_pairs
    on_torch = calibrate(pairs, embedding=model, device="torch:cpu")

    assert on_torch.threshold == calibrate(pairs, embedding=model).threshold


def score(**options):
    return semmetrics.score([["a"]], [["b"]], measures=["SoftF1"], **options)


@needs_torch
def test_similarities_are_computed_by_torch(monkeypatch):
    types = []
    compute = similarity_sources.cosine_table

    def cosine_table(left, right):
        types.append((is_torch(left), is_torch(right)))
        return compute(left, right)

    monkeypatch.setattr(similarity_sources, "cosine_table", cosine_table)
    score(device="torch:cpu")

    assert types == [(True, True)]


# ---- errors --------------------------------------------------------------------------


def test_the_processor_needs_no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)

    assert find_device(None) is find_device("cpu") is None
    assert score(device="cpu")[0].value == score()[0].value


@pytest.mark.parametrize("name", ["cuda", "torch:cpu"])
def test_missing_torch_is_an_error(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(MissingDependencyError, match=f"device='{name}' needs"):
        score(device=name)


def test_measures_without_an_embedding_need_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None; import semmetrics;"
        "print(semmetrics.score([['a']], [['a']], measures='F1', device='cuda')[0].value)"
    )

    printed = subprocess.check_output([sys.executable, "-c", code], text=True)

    assert printed.strip() == "1.0"


def test_a_missing_device_is_an_error(torch):
    for name in (f"cuda:{torch.cuda.device_count()}", "gpu"):
        with pytest.raises(InputError, match=f"has no device '{name}"):
            score(device=name)


def test_a_device_without_double_precision_is_an_error(torch, monkeypatch):
    def zeros(*_, dtype, device):
        raise TypeError(f"Cannot convert a {device} Tensor to {dtype}")

    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch, "zeros", zeros)

    with pytest.raises(InputError, match="does not support double precision"):
        find_device("mps")


# ---- how often a device is used ------------------------------------------------------

RUNS = [*counted_runs(1)]


def test_waits_for_a_device_are_counted(torch):
    values = torch.arange(4)
    waits = [
        values.numpy,
        values.tolist,
        values[0].item,
        lambda: bool(values[0]),
        lambda: values[values > 1],
        values.nonzero,
    ]

    assert count(values.neg) == Counts(1, 0)
    assert [count(wait).transfers for wait in waits] == [1] * len(waits)


@pytest.fixture(scope="module")
def large_runs(torch):
    return counted_runs(10_000)


@needs_torch
@pytest.mark.parametrize("name", RUNS)
def test_a_device_is_used_seldom(large_runs, name):
    counts = count(large_runs[name])

    assert counts.operations <= 1_000
    assert counts.transfers <= 50


@needs_torch
@pytest.mark.parametrize("name", RUNS)
def test_a_device_is_used_as_often_for_more_items(name):
    few = count(counted_runs(800)[name])
    many = count(counted_runs(2_400)[name])

    assert many.transfers == few.transfers
    assert (
        many.operations <= few.operations + 2
    )  # torch fills large arrays in more calls


@needs_torch
@pytest.mark.slow
def test_a_device_is_used_seldom_for_lists_of_many_lengths():
    for name, run in counted_runs(10_000, uneven=True).items():
        counts = count(run)
        assert counts.operations <= 1_000, name
        assert counts.transfers <= 50, name
