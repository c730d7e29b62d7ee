"""Bootstrap replicates and intervals against plain Python with the same draws."""

from __future__ import annotations

import dataclasses
import functools
import math
import pickle
import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics import Bootstrap
from semmetrics.core.hashing import hash_ids
from semmetrics.scoring import resampling

CLASSES = list("abcde")
MEASURES = ["F1", "Precision(empty=skip)", "CardinalityError", "F1(average=macro)",
            "F1(average=macro,labels=union)", "F1(average=weighted)", "F1(average=micro)",
            "Recall(average=macro,labels=given,absent=0)", "HammingLoss(labels=given)",
            "O-F1", "I-F1", "C-F1"]  # fmt: skip


def data(n, seed=0, *, scored=False):
    rng = random.Random(seed)
    names = [f"id{i}" for i in range(n)]
    refs = {name: rng.sample(CLASSES, rng.randrange(4)) for name in names}
    preds = {name: rng.sample([*CLASSES, "z"], rng.randrange(5)) for name in names}
    if scored:
        preds = {
            name: [(label, rng.randrange(5) / 4) for label in labels]
            for name, labels in preds.items()
        }
    return preds, refs


def draws(ids, bootstrap):
    """How often each item is drawn, resample by resample, from the order of the ids' hashes."""
    order = np.argsort(hash_ids(ids))
    generator = np.random.default_rng(bootstrap.seed)
    for _ in range(bootstrap.resamples):
        drawn = [ids[order[i]] for i in generator.integers(0, len(ids), len(ids)).tolist()]
        yield {name: drawn.count(name) for name in ids}


def percentile(values, share):
    """Linear between the order statistics."""
    ranked = sorted(values)
    place = share * (len(ranked) - 1)
    low = math.floor(place)
    return ranked[low] + (ranked[min(low + 1, len(ranked) - 1)] - ranked[low]) * (place - low)


def plain(text, preds, refs, weights, bootstrap):
    """The interval of a measure by counting again in every resample."""
    (measure,) = semmetrics.parse(text)
    ids = list(refs)
    options = {name: str(value) for name, value in measure.options if name in oracle.DEFAULTS}
    labels = "given" if measure["labels"] == "auto" else str(measure["labels"])
    # the union, and the reference for micro, are those of the whole: conditions, not results
    sides = refs if labels == "reference" else {**preds, **{f"r{i}": r for i, r in refs.items()}}
    universe = CLASSES if labels == "given" else sorted(set().union(*sides.values()))
    values = []
    for counts in draws(ids, bootstrap):
        if labels == "reference" and measure["average"] != "micro":
            universe = "reference"
        kept = [name for name in ids if counts[name] * weights[name]]
        if not kept:
            values.append(math.nan)
            continue
        values.append(
            oracle.score(
                measure.definition.name,
                [set(preds[name]) for name in kept],
                [set(refs[name]) for name in kept],
                average=measure["average"],
                labels=universe,
                weights=[counts[name] * weights[name] for name in kept],
                **options,
            )
        )
    known = [value for value in values if not math.isnan(value)]
    tail = (1 - bootstrap.level) / 2
    return percentile(known, tail), percentile(known, 1 - tail), len(values) - len(known)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_plain_python(seed, weighted):
    preds, refs = data(11, seed)
    rng = random.Random(seed)
    weights = {name: rng.choice([0.5, 1.0, 3.25]) if weighted else 1.0 for name in refs}
    bootstrap = Bootstrap(0.8, 40, seed)
    table = semmetrics.score(
        preds,
        refs,
        measures=MEASURES,
        classes=CLASSES,
        ci=bootstrap,
        weights=weights if weighted else None,
    )
    for text, score in zip(MEASURES, table, strict=True):
        low, high, undefined = plain(text, preds, refs, weights, bootstrap)
        found = score.replicates.interval(0.8, "percentile")
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12), text
        assert found.undefined == undefined
        assert replace(score.ci.bootstrap, method="auto") == bootstrap


@pytest.mark.parametrize("weighted", [False, True])
def test_ranking_measures_equal_repeated_items(weighted):
    preds, refs = data(9, 5, scored=True)
    names = list(refs)
    weights = {name: 0.5 + (i % 3) if weighted else 1.0 for i, name in enumerate(names)}
    bootstrap = Bootstrap(0.9, 25, 8)
    measures = [
        "LRAP",
        "RankingLoss",
        "CoverageError",
        "mAP(labels=given)",
        "mAP(average=weighted,labels=given)",
        "mAP(labels=given,interpolation=coco101)",
    ]
    options = {"measures": measures, "classes": [*CLASSES, "z"]}
    table = semmetrics.score(preds, refs, ci=bootstrap, weights=weights, **options)
    values = {text: [] for text in measures}
    for counts in draws(names, bootstrap):
        copies = {f"{name},{i}": name for name in names for i in range(counts[name])}
        again = semmetrics.score(
            {copy: preds[name] for copy, name in copies.items()},
            {copy: refs[name] for copy, name in copies.items()},
            weights={copy: weights[name] for copy, name in copies.items()},
            **options,
        )
        for text, score in zip(measures, again, strict=True):
            values[text].append(score.value)
    for text, score in zip(measures, table, strict=True):
        known = [value for value in values[text] if not math.isnan(value)]
        expected = percentile(known, 0.05), percentile(known, 0.95)
        found = score.replicates.interval(0.9, "percentile")
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-12), text


def texts(table):
    return [repr((score.value, score.ci)) for score in table]


EVERY = ["F1", "I-F1", "AP", "F1(average=macro)", "F1(average=micro)", "F1(average=weighted)",
         "CardinalityError", "LRAP", "RankingLoss", "mAP", "mAP(average=weighted)"]  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
def test_the_digits_do_not_depend_on_order_chunks_or_blocks(weighted):
    preds, refs = data(300, 1, scored=True)
    weights = {n: 1 / (3 + i % 7) for i, n in enumerate(refs)} if weighted else None
    options = {"measures": EVERY, "ci": Bootstrap(resamples=30), "weights": weights}
    expected = texts(semmetrics.score(preds, refs, **options))
    names = random.Random(2).sample(list(refs), len(refs))
    mixed = [{name: side[name] for name in names} for side in (preds, refs)]
    assert texts(semmetrics.score(*mixed, **options)) == expected
    for chunk in (1, 7):
        with mock.patch.object(resampling, "chunk_size", lambda _, size=chunk: size):
            assert texts(semmetrics.score(preds, refs, **options)) == expected
    for block in (1, 64):
        with (
            mock.patch.object(resampling, "_BLOCK", block),
            mock.patch.object(resampling, "_CELLS", block),
        ):
            assert texts(semmetrics.score(preds, refs, **options)) == expected


def test_grids_lose_nothing_and_add_up_exactly():
    rng = np.random.default_rng(0)
    for values in (rng.random(1000), rng.normal(size=500) * 1e9, np.zeros(3), np.full(4, 1 / 3)):
        parts = resampling._grids(values, len(values))
        scale = np.abs(values).max()
        np.testing.assert_allclose(sum(parts), values, rtol=0, atol=2.0**-80 * scale)
        drawn = rng.integers(0, len(values), len(values))
        for part in parts:
            assert math.fsum(part[drawn]) == part[drawn].sum() == part[np.sort(drawn)].sum()


def test_systems_are_paired():
    preds, refs = data(60, 3)
    other = dict(reversed(list(preds.items())))
    systems = {"one": preds, "two": other, "three": {name: [] for name in refs}}
    table = semmetrics.score_systems(systems, refs, measures=["F1", "MacroF1"], ci=True)
    assert table["one", "F1"].ci == table["two", "F1"].ci
    assert table["one", "F1"].ci != table["three", "F1"].ci
    alone = semmetrics.score(preds, refs, measures=["F1"], ci=True)
    assert alone["F1"].ci == table["one", "F1"].ci


def test_replicates_are_the_values_of_the_drawn_items():
    preds, refs = data(15, 6)
    other = {name: refs[name][:1] for name in refs}
    names, chosen = list(refs), ["F1(empty=nan)", "F1(average=macro)", "F1(average=micro)"]
    options, bootstrap = {"measures": chosen}, Bootstrap(0.95, 30, 4)
    table = semmetrics.score_systems({"one": preds, "two": other}, refs, ci=bootstrap, **options)
    for place, counts in enumerate(draws(names, bootstrap)):
        copies = {f"{name},{i}": name for name in names for i in range(counts[name])}
        systems = {
            system: {copy: side[name] for copy, name in copies.items()}
            for system, side in (("one", preds), ("two", other))
        }
        drawn = {copy: refs[name] for copy, name in copies.items()}
        again = semmetrics.score_systems(systems, drawn, **options)
        for score, expected in zip(table, again, strict=True):
            found = score.replicates.values[place]
            assert found == pytest.approx(expected.value, abs=1e-12, nan_ok=True)


def test_replicates_of_measures_are_paired():
    preds, refs = data(50, 7)
    names = ["F1(average=micro)", "Precision(average=micro)", "Recall(average=micro)"]
    table = semmetrics.score(preds, refs, measures=names, ci=True)
    f1, precision, recall = (score.replicates.values for score in table)
    np.testing.assert_allclose(f1, 2 * precision * recall / (precision + recall), rtol=1e-12)
    assert len({score.replicates.drawn for score in table}) == 1


def test_replicates_of_systems_are_paired():
    preds, refs = data(50, 8)
    preds["id0"] = refs["id0"] = ["a"]
    systems = {"one": dict(reversed(preds.items())), "worse": {**preds, "id0": []}}
    table = semmetrics.score_systems(systems, refs, measures=["F1"], ci=True)
    one, worse = (score.replicates for score in table)
    assert one.drawn == worse.drawn
    # they differ by the draws of one item
    counts = [drawn["id0"] for drawn in draws(list(refs), Bootstrap())]
    np.testing.assert_allclose((one.values - worse.values) * 50, counts, atol=1e-9)


def test_unpaired_replicates_tell_so():
    preds, refs = data(20, 9)

    def drawn(preds, refs, **options):
        return semmetrics.score(preds, refs, measures=["F1"], **options)["F1"].replicates.drawn

    expected = drawn(preds, refs, ci=True)
    assert drawn(refs, refs, ci=True, level=0.5) == expected
    assert drawn(preds, refs, ci=True, seed=1) != expected
    assert drawn(preds, refs, ci=True, resamples=999) != expected
    fewer = {name: refs[name] for name in list(refs)[1:]}
    assert drawn(preds, fewer, ci=True, missing="skip") != expected


def test_an_interval_is_made_of_replicates():
    preds, refs = data(40, 4)
    table = semmetrics.score(preds, refs, measures=MEASURES, classes=CLASSES, ci=True, level=0.8)
    half = semmetrics.score(preds, refs, measures=MEASURES, classes=CLASSES, ci=True, level=0.5)
    for score, narrow in zip(table, half, strict=True):
        replicates = score.replicates
        assert (replicates.seed, len(replicates), replicates.unit) == (12345, 1000, "image")
        assert replicates.interval(0.8) == score.ci
        assert replicates.interval(level=0.5) == narrow.ci
        known = replicates.values[~np.isnan(replicates.values)].tolist()
        expected = percentile(known, 0.1), percentile(known, 0.9)
        found = replicates.interval(0.8, "percentile")
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-15)
        assert "replicates" not in repr(score)
        assert "replicates" not in score.to_dict()
    with refused("bad-option"):
        replicates.interval(2.0)
    with refused("bad-choice"):
        replicates.interval(method="studentized")
    assert semmetrics.score(preds, refs, measures=["F1"])["F1"].replicates is None


def test_replicates_are_small_and_immutable():
    preds, refs = data(2000, 2)
    systems = {f"system {i}": preds for i in range(3)}
    table = semmetrics.score_systems(systems, refs, measures=["F1", "MacroF1"], ci=True)
    for score in table:
        values = score.replicates.values
        assert (values.dtype, values.nbytes, values.base) == (np.float64, 8000, None)
        assert (score.replicates.left_out.nbytes, score.replicates.left_out.base) == (8000, None)
        assert len(pickle.dumps(score.replicates)) < 25_000
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0.0
        with pytest.raises(dataclasses.FrozenInstanceError):
            score.replicates.values = values


def test_seeds_levels_and_defaults():
    preds, refs = data(40, 4)

    def interval(**options):
        return semmetrics.score(preds, refs, measures=["F1"], **options)["F1"].ci

    default = interval(ci=True)
    assert default.bootstrap == Bootstrap(0.95, 1000, 12345, "wilson")
    assert default == interval(ci=True, level=0.95, resamples=1000, seed=12345)
    assert default == interval(ci=Bootstrap())
    interval = functools.partial(interval, ci_method="percentile")
    default = interval(ci=True)
    other = interval(ci=True, seed=1)
    assert (other.low, other.high) != (default.low, default.high)
    narrow = interval(ci=True, level=0.5)
    assert default.low < narrow.low < narrow.high < default.high
    assert interval() is None


def test_resamples_without_a_value_are_left_out_and_counted():
    # an item without references makes the mean undefined whenever it is drawn
    preds, refs = {"x": ["a"], "y": ["a"], "z": []}, {"x": ["a"], "y": ["b"], "z": []}
    bootstrap = Bootstrap(resamples=200)
    table = semmetrics.score(preds, refs, measures=["F1(empty=nan)"], ci=bootstrap)
    score = table.scores[0]
    without = sum(not counts["z"] for counts in draws(list(refs), bootstrap))
    assert np.isnan(score.value)
    assert score.replicates.interval(method="percentile").undefined == 200 - without > 0
    drawn = [bool(counts["z"]) for counts in draws(list(refs), bootstrap)]
    assert np.isnan(score.replicates.values).tolist() == drawn
    nothing = semmetrics.score([[]], [[]], measures=["F1(empty=nan)"], ci=bootstrap).scores[0]
    nothing = nothing.replicates.interval(method="percentile")
    assert np.isnan([nothing.low, nothing.high]).all()
    assert nothing.undefined == 200


def test_many_items_are_taken_in_small_chunks():
    class Many:
        labels = ("a",) * 10

        def __len__(self):
            return 10**9

    class Wide(Many):
        labels = range(10**8)

        def __len__(self):
            return 1

    class Few(Many):
        def __len__(self):
            return 1

    assert resampling.chunk_size([Many()]) == resampling.chunk_size([Few(), Wide()]) == 1
    assert resampling.chunk_size([Few()]) > 100


def test_progress_counts_resamples():
    preds, refs = data(10)
    seen = []
    semmetrics.score(
        preds,
        refs,
        measures=["F1"],
        ci=Bootstrap(resamples=3000),
        progress=lambda *a: seen.append(a),
    )
    assert seen[0] == (10, 10)
    assert seen[-1] == (3000, 3000)
    assert len(seen) > 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "bad-option"),
        ({"level": 0}, "bad-option"),
        ({"level": math.nan}, "bad-option"),
        ({"level": "0.95"}, "bad-option"),
        ({"resamples": 1}, "bad-option"),
        ({"resamples": 10**11}, "bad-option"),
        ({"resamples": 100.0}, "bad-option"),
        ({"seed": -1}, "bad-option"),
        ({"seed": True}, "bad-option"),
        ({"seed": None}, "bad-option"),
        ({"method": "basic"}, "bad-choice"),
        ({"method": None}, "bad-choice"),
    ],
)
def test_errors(options, message):
    with refused(message):
        Bootstrap(**options)


def test_rows_are_needed():
    preds, refs = data(10)
    score = semmetrics.score(preds, refs, measures=["F1"], keep_rows=False).scores[0]
    one = resampling.Subject(score.statistics, [score.measure], [0.0], score.frame)
    with refused("rows-not-kept"):
        resampling.replicate([one], Bootstrap())
    assert semmetrics.score(preds, refs, measures=["F1"], keep_rows=False, ci=True).scores[0].ci


def test_captions_of_one_image_are_drawn_together():
    rng = np.random.default_rng(5)
    words = [f"w{n}" for n in range(12)]

    def caption():
        return " ".join(rng.choice(words, 6).tolist())

    refs = {str(n): [caption(), caption()] for n in range(20)}
    once = {n: [" ".join(texts[0].split()[: 1 + int(n) % 5])] for n, texts in refs.items()}
    often = {name: texts * 25 for name, texts in once.items()}
    options = {"measures": ["ROUGE-L", "BLEU-1"], "ci": True, "resamples": 200}
    one, many = (semmetrics.score(preds, refs, **options) for preds in (once, often))
    for a, b in zip(one, many, strict=True):
        assert (a.unit, b.unit, a.n, b.n) == ("image", "caption", 20, 500)
        assert b.value == pytest.approx(a.value, abs=1e-9)
        widths = [score.ci.high - score.ci.low for score in (a, b)]
        assert widths[0] > 0.01
        assert widths[1] == pytest.approx(widths[0], rel=0.35)  # a fifth where drawn one by one
        assert "|cand:several|" in b.signature
        assert a.replicates.drawn == b.replicates.drawn  # the same images, in either part
        assert (a.replicates.grouped, b.replicates.grouped) == (False, True)
    statistics = many.scores[0].statistics
    assert len(np.unique(statistics.groups)) == 20
