"""Calibrated thresholds: found on pairs and by contrast, saved, and used by scores."""

import io
import json
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.semantic import cosine
from oracles.thresholds import area, decisions, pairs_at
from refusals import codes, refused
from tiny import Tiny

import semmetrics
from semmetrics import Calibration, InputError, calibrate_threshold, calibrate_threshold_on_pairs
from semmetrics.core.hashing import hash_ids
from semmetrics.data.side_inputs import as_pairs
from semmetrics.scoring.calibration import choose_holdout, derangement
from semmetrics.scoring.signature import read_signature

VECTORS = {
    "car": [4, 0, 0], "auto": [4, 1, 0], "bike": [0, 4, 0], "cycle": [1, 4, 0], "tree": [0, 0, 4],
    "oak": [0, 1, 3], "sky": [2, 2, 2], "cat": [-1, 2, 4], "dog": [-1, 3, 3], "sea": [3, -1, 2],
}  # fmt: skip
MODEL = Tiny(VECTORS)
TRIPLES = [
    ("car", "auto", True), ("bike", "cycle", True), ("tree", "oak", True), ("car", "car", True),
    ("car", "tree", False), ("cat", "dog", False), ("sky", "sea", False), ("car", "bike", False),
]  # fmt: skip
NAMES = list(VECTORS)


def cosines(pairs, vectors=VECTORS):
    return [1.0 if a == b else cosine(vectors[a], vectors[b]) for a, b, _ in pairs]


# ---- pairs ------------------------------------------------------------------------------------

TRIPLE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans())


@given(st.lists(TRIPLE, min_size=2, max_size=25), st.sampled_from(["f1", "youden", "accuracy"]))
def test_pairs_against_the_oracle(pairs, criterion):
    same = [answer for _, _, answer in pairs]
    known = cosines(pairs)
    if len(set(same)) < 2 or len(set(known)) < 2:
        with pytest.raises(InputError):
            calibrate_threshold_on_pairs(pairs, MODEL, criterion=criterion)
        return
    found = calibrate_threshold_on_pairs(pairs, MODEL, criterion=criterion)
    assert found.auc == pytest.approx(area(known, same), abs=1e-12)
    thresholds = found.curve["threshold"]
    assert thresholds == pytest.approx(decisions(known), abs=1e-9)
    rows = [pairs_at(known, same, threshold) for threshold in thresholds]
    for name in ("precision", "recall", "f1", "accuracy", "youden"):
        assert found.curve[name] == pytest.approx([row[name] for row in rows], nan_ok=True)
    values = found.curve[criterion]
    assert found.value == max(values)
    assert found.threshold == max(
        t for t, value in zip(thresholds, values, strict=True) if value == max(values)
    )


def test_the_threshold_lies_midway():
    found = calibrate_threshold_on_pairs(TRIPLES, MODEL)
    between = sorted({cosine(VECTORS["tree"], VECTORS["oak"]), cosine(VECTORS["cat"],
                      VECTORS["dog"]), *cosines(TRIPLES)})  # fmt: skip
    assert any(
        found.threshold == pytest.approx((a + b) / 2, abs=1e-9)
        for a, b in zip([-1.0, *between], [*between, 1.0], strict=True)
    )
    assert (found.method, found.criterion, found.n, found.unit) == ("pairs", "f1", 8, "pair")
    assert found.embedding == MODEL.identity
    assert (found.holdout, found.seed, found.items) == (None, None, "")


def test_unknown_labels_of_pairs():
    pairs = [*TRIPLES, ("zzz", "car", False), ("zzz", "qqq", True)]
    skipped = calibrate_threshold_on_pairs(pairs, MODEL, oov="skip")
    # they match at no threshold
    assert skipped.curve["recall"][0] == pytest.approx(4 / 5)
    assert (
        skipped.curve["threshold"]
        == calibrate_threshold_on_pairs(TRIPLES, MODEL).curve["threshold"]
    )
    zero = calibrate_threshold_on_pairs(pairs, MODEL, oov="zero")
    assert zero.curve["recall"][0] == 1.0
    with refused("unknown-terms"):
        calibrate_threshold_on_pairs(pairs, MODEL, oov="error")


def test_a_score_separates_the_pairs_as_calibration_said():
    found = calibrate_threshold_on_pairs(TRIPLES, MODEL)
    table = semmetrics.score(
        [[a] for a, _, _ in TRIPLES], [[b] for _, b, _ in TRIPLES], measures="SemF1",
        embedding=MODEL, calibration=found,
    )  # fmt: skip
    matched = [bool(value) for value in table["SemF1"].items]
    assert matched == [c > found.threshold for c in cosines(TRIPLES)]


def test_the_order_of_pairs_does_not_matter():
    there = calibrate_threshold_on_pairs(TRIPLES, MODEL)
    back = calibrate_threshold_on_pairs(TRIPLES[::-1], MODEL)
    assert there.to_dict() == back.to_dict()
    assert there.digest == back.digest
    changed = [*TRIPLES[:-1], (*TRIPLES[-1][:2], True)]
    assert calibrate_threshold_on_pairs(changed, MODEL).data != there.data


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "a,b,same\ncar,auto,1\ncar,tree,0\n"),
        ("p.tsv", "word1\tword2\tmatch\tnote\ncar\tauto\tyes\tx\ncar\ttree\tno\ty\n"),
        ("p.jsonl", '{"a":"car","b":"auto","same":true}\n\n{"a":"car","b":"tree","same":0}\n'),
        ("p.json", '[["car","auto",1],{"b":"tree","a":"car","same":"False"}]'),
    ],
)
def test_files_of_pairs(tmp_path, name, text):
    Path(tmp_path, name).write_text(text, encoding="utf-8")
    assert as_pairs(tmp_path / name) == [("car", "auto", True), ("car", "tree", False)]
    found = calibrate_threshold_on_pairs(tmp_path / name, MODEL)
    again = calibrate_threshold_on_pairs([("car", "auto", 1), ("car", "tree", 0)], MODEL)
    assert found.to_dict() == again.to_dict()


@pytest.mark.parametrize(
    "text",
    [
        "a,b,same\ncar,auto,1\ncar,tree,0\n",
        "a\tb\tsame\ncar\tauto\t1\ncar\ttree\t0\n",
        '[["car","auto",1],["car","tree",0]]',
        '{"a":"car","b":"auto","same":1}\n{"a":"car","b":"tree","same":0}\n',
    ],
)
def test_pairs_from_standard_input(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert as_pairs("-") == [("car", "auto", True), ("car", "tree", False)]


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("p.csv", "a,b\ncar,auto\n", "no-column", ", line 1"),
        ("p.csv", "a,b,same\ncar,,1\n", "empty", ", line 2"),
        ("p.csv", "a,b,same\ncar,auto,2\n", "wrong-content", ", line 2"),
        ("p.csv", "a,b,same\n", "nothing-given", ""),
        ("p.json", '{"a": 1}', "wrong-type", ""),
        ("p.json", '[["car", "auto"]]', "wrong-cells", ", element [0]"),
        ("p.json", '[["car", "auto", null]]', "wrong-content", ", element [0]"),
        ("p.jsonl", '"car"\n', "wrong-type", ", line 1"),
        ("p.parquet", "x", None, ""),
        ("p.dat", "x", None, ""),
    ],
)
def test_bad_files_of_pairs(tmp_path, name, text, code, where):
    Path(tmp_path, name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        calibrate_threshold_on_pairs(tmp_path / name, MODEL)
    assert code in (None, caught.value.code)
    assert caught.value.where == f"{tmp_path / name}{where}"


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (TRIPLES[:4], {}, "pairs-of-one-kind"),
        (TRIPLES[4:], {}, "pairs-of-one-kind"),
        ([("car", "car", 1), ("bike", "bike", 0)], {}, "equal-pairs"),
        (TRIPLES, {"criterion": "mcc"}, "bad-choice"),
        (3, {}, "wrong-type"),
        ([], {}, "nothing-given"),
    ],
)
def test_bad_pairs(pairs, options, message):
    with refused(message):
        calibrate_threshold_on_pairs(pairs, MODEL, **options)


def test_equal_texts_are_the_same_and_normalisation_counts():
    pairs = [("Car", "car", True), ("car", "tree", False)]
    model = Tiny({"Car": [0, 0, 1], "car": [1, 0, 0], "tree": [3, 0, 4]})
    assert calibrate_threshold_on_pairs(pairs, model).value < 1
    found = calibrate_threshold_on_pairs(pairs, model, normalize="lower")
    assert (found.value, found.threshold) == (1.0, 0.8)
    assert found.settings == {"norm": "lower"}


# ---- contrast ---------------------------------------------------------------------------------


def lists(n, seed, size=4):
    rng = np.random.default_rng(seed)
    return {
        f"i{i}": [NAMES[j] for j in rng.choice(len(NAMES), rng.integers(1, size), replace=False)]
        for i in range(n)
    }


GTS = lists(80, 1)
PREDS = {
    name: [{"car": "auto", "bike": "cycle", "tree": "oak"}.get(x, x) for x in some]
    for name, some in GTS.items()
}


@pytest.mark.parametrize("measure", ["SemF1", "SemRecall(match=any)@2", "SemF1(average=micro)"])
def test_contrast_is_that_of_scores(measure):
    found = calibrate_threshold(
        PREDS, GTS, embedding=MODEL, holdout=0.5, seed=3, measure=measure, thresholds="0:1:0.1"
    )
    ids = list(PREDS)
    chosen = [
        name for name, kept in zip(ids, choose_holdout(hash_ids(ids), 0.5, 3), strict=True) if kept
    ]
    assert 0 < len(chosen) < len(ids)
    other = derangement(hash_ids(chosen), 3)
    preds = {name: PREDS[name] for name in chosen}
    own = {name: GTS[name] for name in chosen}
    wrong = {name: GTS[chosen[o]] for name, o in zip(chosen, other.tolist(), strict=True)}
    (parsed,) = semmetrics.parse(measure)
    for place, point in enumerate(found.curve["threshold"]):
        at = str(parsed.with_options(threshold=point))
        for name, gts in (("own", own), ("other", wrong)):
            (score,) = semmetrics.score(preds, gts, measures=at, embedding=MODEL)
            assert found.curve[name][place] == score.value
    contrast = found.curve["contrast"]
    assert contrast == tuple(
        a - b for a, b in zip(found.curve["own"], found.curve["other"], strict=True)
    )
    assert found.value == max(contrast)
    best = [t for t, c in zip(found.curve["threshold"], contrast, strict=True) if c == found.value]
    assert found.threshold == best[-1]
    assert (found.n, found.unit, found.criterion) == (len(chosen), "image", measure)
    assert found.used(ids).tolist() == [name in preds for name in ids]


def test_contrast_is_between_unlike_and_alike():
    """Own labels are synonyms of cosine 0.98; others are at right angles or alike by chance."""
    model = Tiny({"a": [1, 0, 0], "A": [5, 1, 0], "b": [0, 1, 0], "B": [0, 5, 1],
                  "c": [0, 0, 1], "C": [1, 0, 5]})  # fmt: skip
    gts = {str(i): ["abc"[i % 3]] for i in range(60)}
    preds = {name: [some[0].upper()] for name, some in gts.items()}
    found = calibrate_threshold(preds, gts, embedding=model, holdout=1)
    assert found.threshold == 0.98  # cosines 0.98058 and at most 0.19612
    assert found.curve["contrast"][0] < found.value
    assert found.curve["contrast"][19] < found.value == found.curve["contrast"][20]


def test_items_are_held_whatever_stands_beside_them():
    ids = [f"image {i}" for i in range(2000)]
    some = dict(zip(ids, choose_holdout(hash_ids(ids), 0.2, 12345).tolist(), strict=True))
    assert 320 < sum(some.values()) < 480  # 400 +- 4.5 standard deviations
    fewer = ids[500:1200][::-1]
    again = choose_holdout(hash_ids(fewer), 0.2, 12345).tolist()
    assert again == [some[name] for name in fewer]
    larger = choose_holdout(hash_ids(ids), 0.5, 12345).tolist()
    assert all(b for a, b in zip(some.values(), larger, strict=True) if a)
    assert choose_holdout(hash_ids(ids), 0.2, 7).tolist() != list(some.values())
    assert choose_holdout(hash_ids(ids), 1, 7).all()


@pytest.mark.parametrize("n", [2, 3, 50])
def test_the_items_swapped_are_a_derangement(n):
    hashes = hash_ids([f"i{i}" for i in range(n)])
    other = derangement(hashes, 5)
    assert sorted(other.tolist()) == list(range(n))
    assert (other != np.arange(n)).all()
    back = derangement(hashes[::-1], 5)  # the same pairs of items in another order
    assert (hashes[::-1][back][::-1] == hashes[other]).all()


def test_the_order_of_items_does_not_matter():
    there = calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=0.5)
    turned = dict(reversed(PREDS.items()))
    again = calibrate_threshold(turned, GTS, embedding=MODEL, holdout=0.5)
    assert again.to_dict() == there.to_dict()
    assert calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=0.5, seed=1).data != there.data
    changed = {name: [*some, "sky"] for name, some in PREDS.items()}
    assert calibrate_threshold(changed, GTS, embedding=MODEL, holdout=0.5).data != there.data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holdout": 0}, "bad-option"),
        ({"holdout": 1.5}, "bad-option"),
        ({"holdout": True}, "holdout=True"),
        ({"holdout": 1e-9}, "small-holdout"),
        ({"seed": -1}, "bad-option"),
        ({"seed": 0.5}, "seed=0.5"),
        ({"measure": "F1"}, "no-threshold"),
        ({"measure": "SemF1@1,2"}, "wrong-count"),
        ({"measure": "SemF1(threshold=0.3)"}, "not-applicable"),
        ({"top_k": 3}, "not-applicable"),
        ({"top_k": np.array([3, 5])}, "not-applicable"),
        ({"calibration": "x.json"}, "not-applicable"),
        ({"lookups": "exact"}, "unknown-name"),
        ({"keep_rows": True}, "unknown-name"),
        ({"thresholds": "0:2:1"}, "out-of-range"),
    ],
)
def test_bad_options(options, message):
    with refused(message):
        calibrate_threshold(PREDS, GTS, embedding=MODEL, **options)


def test_a_rule_that_is_fitted_itself_is_refused():
    scored = {name: [(x, 0.5) for x in some] for name, some in PREDS.items()}
    with refused("bad-option", "SemF1(decode=threshold:best)"):
        calibrate_threshold(scored, GTS, embedding=MODEL, measure="SemF1(decode=threshold:best)")
    found = calibrate_threshold(
        scored, GTS, embedding=MODEL, measure="SemF1(decode=threshold:0.4)", holdout=1
    )
    assert found.threshold == calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=1).threshold


SCORES = np.array([[0.3 + 0.4 * (x in PREDS[name]) for x in NAMES] for name in GTS])


@pytest.mark.parametrize("rule", ["(decode=threshold:0.5)", "@1"])
def test_a_matrix_is_cut_by_the_rule_of_the_measure(rule):
    options = {"embedding": MODEL, "holdout": 1, "thresholds": "0:1:0.1"}
    found = calibrate_threshold(
        SCORES, list(GTS.values()), measure=f"SemF1{rule}", classes=NAMES, **options
    )
    kept = [[x for x in NAMES if x in some][: 1 if rule == "@1" else None]
            for some in PREDS.values()]  # fmt: skip
    lists = calibrate_threshold(kept, list(GTS.values()), **options)
    assert (found.threshold, found.curve) == (lists.threshold, lists.curve)


def test_a_matrix_needs_a_rule_that_is_not_fitted():
    options = {"embedding": MODEL, "holdout": 1, "classes": NAMES}
    with refused("bad-option", "SemF1(decode=threshold:best)"):
        calibrate_threshold(
            SCORES, list(GTS.values()), measure="SemF1(decode=threshold:best)", **options
        )
    with refused("no-rule"):
        calibrate_threshold(SCORES, list(GTS.values()), **options)


def test_a_rule_that_is_fitted_is_refused_before_anything_is_read():
    with refused("bad-option", "SemF1(decode=threshold:best)"):
        calibrate_threshold("none.json", "none.json", measure="SemF1(decode=threshold:best)")


def test_the_embedding_is_that_of_the_measure():
    other = Tiny({name: [*vector[::-1], 1] for name, vector in VECTORS.items()}, "other")
    found = calibrate_threshold(
        PREDS, GTS, measure="SemF1(embedding=w)", embedding={"w": other}, holdout=1
    )
    assert found.embedding == other.identity
    assert found.notes == []


def test_another_task_is_refused_in_the_name_of_the_measure():
    for function in (calibrate_threshold, semmetrics.sweep):
        with refused("wrong-kind", names=["SemF1"]):
            function(PREDS, GTS, task="captions")
        with refused("bad-choice"):
            function(PREDS, GTS, task="x")
    found = calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=1, task="labels")
    assert found.criterion == "SemF1"


def test_undefined_everywhere():
    empty = {name: [] for name in PREDS}
    with refused("undefined-on-holdout"):
        calibrate_threshold(
            empty, GTS, embedding=MODEL, measure="SemPrecision(no_prediction=nan)", holdout=1
        )


def test_predictions_that_say_nothing_of_their_items():
    nothing = {name: [] for name in PREDS}
    alike = {name: ["sky"] for name in PREDS}
    for preds, gts in ((nothing, GTS), (PREDS, alike)):
        with refused("no-contrast"):
            calibrate_threshold(preds, gts, embedding=MODEL, holdout=1)


def test_an_error_says_that_labels_are_not_known():
    model = Tiny({"cat": [1, 0]})
    with refused("equal-pairs"):
        calibrate_threshold_on_pairs([("car", "auto", 1), ("sky", "sea", 0)], model)
    with refused("no-contrast"):
        calibrate_threshold([["car"], ["sky"]], [["auto"], ["sea"]], embedding=model, holdout=1)


def test_pairs_are_compared_by_one_embedding():
    with refused("bad-option"):
        calibrate_threshold_on_pairs(TRIPLES, {"words": MODEL})
    found = calibrate_threshold_on_pairs(TRIPLES, {"default": MODEL})
    assert found.to_dict() == calibrate_threshold_on_pairs(TRIPLES, MODEL).to_dict()


# ---- files ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calibration():
    return calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=0.5)


def test_saved_and_loaded(tmp_path, calibration):
    for one in (calibration, calibrate_threshold_on_pairs(TRIPLES, MODEL)):
        one.save(tmp_path / "c.json")
        again = Calibration.load(tmp_path / "c.json")
        assert again.to_dict() == one.to_dict()
        assert (again.digest, again.threshold) == (one.digest, one.threshold)
    text = Path(tmp_path, "c.json").read_text(encoding="utf-8")
    assert json.loads(text)["schema"] == "semmetrics.calibration/1"
    assert json.loads(text)["curve"]["precision"][-1] is None  # nothing is above the last cut
    assert "NaN" not in text
    assert math.isnan(again.curve["precision"][-1])
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path, calibration):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(pipe.read_text)
        calibration.save(pipe)
        assert text.result() == calibration.to_json() + "\n"
    assert pipe.is_fifo()


def test_a_failed_save_leaves_nothing(tmp_path, calibration):
    with refused("unwritable"):
        calibration.save(tmp_path / "none" / "c.json")
    Path(tmp_path, "folder").mkdir()
    with refused("unwritable"):
        calibration.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    "change",
    [
        lambda e: [e],
        lambda e: {**e, "schema": "semmetrics.score/1"},
        lambda e: {k: v for k, v in e.items() if k != "oov"},
        lambda e: {**e, "threshold": "0.5"},
        lambda e: {**e, "threshold": True},
        lambda e: {**e, "curve": {"threshold": [0.1]}},
        lambda e: {**e, "curve": {"threshold": 0.1}},
        lambda e: {**e, "curve": {"threshold": [e["threshold"]]}},
        lambda e: {**e, "method": "guess"},
        lambda e: {**e, "items": "not base64!"},
    ],
)
def test_files_that_are_none(tmp_path, calibration, change):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(change(calibration.to_dict())), encoding="utf-8")
    with refused("not-a-calibration", str(path)):
        semmetrics.score(PREDS, GTS, embedding=MODEL, calibration=path)


def test_no_file(tmp_path):
    with refused("missing-file"):
        Calibration.load(tmp_path / "none.json")


# ---- use --------------------------------------------------------------------------------------


def test_scores_take_the_threshold(tmp_path, calibration):
    calibration.save(tmp_path / "c.json")
    measures = ["SemF1", "SemRecall@2", "SemF1(threshold=0.3)", "F1", "SoftF1"]
    for given_ in (calibration, tmp_path / "c.json", [calibration]):
        table = semmetrics.score(PREDS, GTS, measures=measures, embedding=MODEL, calibration=given_)
        at = f"threshold={calibration.threshold!r}"
        texts = [f"SemF1({at})", f"SemRecall({at})@2", *measures[2:]]
        plain = semmetrics.score(PREDS, GTS, measures=texts, embedding=MODEL)
        assert [s.value for s in table] == [s.value for s in plain]
        notes = [f"|{calibration.note}|" in s.signature for s in table]
        assert notes == [True, True, False, False, False]
    assert calibration.note == f"cal:contrast-SemF1@{calibration.digest}"
    assert len(calibration.digest) == 12


def test_a_signature_with_a_calibration_is_computed_again(calibration):
    table = semmetrics.score(PREDS, GTS, measures="SemF1", embedding=MODEL, calibration=calibration)
    signed = read_signature(table["SemF1"].signature)
    assert signed.measure["threshold"] == repr(calibration.threshold)
    again = semmetrics.rescore(table["SemF1"].signature, PREDS, GTS, embedding=MODEL)
    (score,) = again
    assert score.measure == signed.measure
    assert score.value == table["SemF1"].value
    assert again.differences == []


def test_a_calibration_and_a_fitted_score_threshold():
    scored = {
        name: [(x, 0.9 - 0.2 * i) for i, x in enumerate(some)] for name, some in PREDS.items()
    }
    found = calibrate_threshold_on_pairs(TRIPLES, MODEL)
    (score,) = semmetrics.score(
        scored, GTS, measures="SemF1(decode=threshold:best)", embedding=MODEL, calibration=found
    )
    assert f"|{found.note}|fit:best-SemF1-example|" in score.signature
    assert read_signature(score.signature).measure == score.measure


def test_another_embedding_is_refused(calibration):
    other = Tiny(VECTORS, name="other")
    identities = {"embedding": "other-3@000000000000", "known": ["tiny-3@000000000000"]}
    with refused("other-embedding", **identities):
        semmetrics.score(PREDS, GTS, measures="SemF1", embedding=other, calibration=calibration)
    # what has its own threshold needs none
    semmetrics.score(
        PREDS, GTS, measures="SemF1(threshold=0.5)", embedding=other, calibration=calibration
    )


def test_one_calibration_for_each_embedding(calibration):
    other = Tiny(VECTORS, name="other")
    second = replace(calibration, embedding=other.identity, threshold=0.25)
    table = semmetrics.score(
        PREDS, GTS, measures=["SemF1", "SemF1(embedding=o)"],
        embedding={"default": MODEL, "o": other}, calibration=[calibration, second],
    )  # fmt: skip
    thresholds = [float(score.measure["threshold"]) for score in table]
    assert thresholds == [calibration.threshold, 0.25]
    with refused("duplicate"):
        semmetrics.score(PREDS, GTS, embedding=MODEL, calibration=[calibration, calibration])
    for wrong in (3, {"a": 1}):
        with refused("bad-option"):
            semmetrics.score(PREDS, GTS, embedding=MODEL, calibration=wrong)


def test_items_used_to_calibrate_are_told(calibration):
    assert notes(PREDS, GTS, calibration) == ["calibration-items"]
    fresh = {name: GTS[name] for name in GTS if not calibration.used([name])[0]}
    assert 0 < len(fresh) < 80
    assert notes({name: PREDS[name] for name in fresh}, fresh, calibration) == []
    renamed = ({f"other {k}": v for k, v in side.items()} for side in (PREDS, GTS))
    assert notes(*renamed, calibration) == []


def test_positions_are_not_known_again():
    sides = list(PREDS.values()), list(GTS.values())
    found = calibrate_threshold(*sides, embedding=MODEL, holdout=1)
    assert found.items == ""
    assert notes(*sides, found) == ["calibration-items-unknown"]


def test_other_notes(calibration):
    assert notes(PREDS, GTS, calibration, measures="F1")[1:] == ["unused-calibration"]
    assert "other-calibration" in notes(PREDS, GTS, calibration, oov="skip")


def notes(preds, gts, calibration, measures="SemF1", **options):
    return codes(semmetrics.score(
        preds, gts, measures=measures, embedding=MODEL, calibration=calibration, **options
    ))  # fmt: skip


# ---- the best score threshold of a semantic measure -------------------------------------------


@pytest.mark.parametrize("measure", ["SemF1", "SemRecall@2", "SemAP", "SemF1(average=micro)"])
def test_the_best_score_threshold_is_that_of_sem_f1(measure):
    rng = np.random.default_rng(3)
    scored = {
        name: [(x, round(float(rng.random()), 1)) for x in dict.fromkeys([*some, "sea"])]
        for name, some in PREDS.items()
    }
    rule = "decode=threshold:best"
    text = measure.replace("(", f"({rule},") if "(" in measure else measure.replace(
        measure.partition("@")[0], f"{measure.partition('@')[0]}({rule})")  # fmt: skip
    (score,) = semmetrics.score(scored, GTS, measures=text, embedding=MODEL)
    chosen = float(str(score.measure["decode"]).partition(":")[2])
    judge = "SemF1(average=micro)" if "micro" in measure else "SemF1"
    judge += f"@{score.measure.k}" if score.measure.k else ""
    points = sorted({p for some in scored.values() for _, p in some})
    points = [0.0 if points[0] > 0 else points[0] - 1, *points]
    (parsed,) = semmetrics.parse(judge)
    values = {
        float(p): semmetrics.score(
            scored, GTS, measures=parsed.with_options(decode=f"threshold:{float(p)!r}"),
            embedding=MODEL,
        ).scores[0].value
        for p in points
    }  # fmt: skip
    assert chosen == max(p for p, value in values.items() if value == max(values.values()))
    assert f"|fit:best-SemF1-{score.measure['average']}|" in score.signature


@pytest.mark.parametrize("measure", ["WMD", "SoftF1", "MeanSim", "BagSim", "RWMD"])
def test_measures_without_a_best_score_threshold(measure):
    scored = {name: [(x, 0.5) for x in some] for name, some in PREDS.items()}
    with refused("no-best-threshold"):
        semmetrics.score(scored, GTS, measures=f"{measure}(decode=threshold:best)", embedding=MODEL)


def test_what_is_not_known_is_told_and_not_saved(tmp_path):
    pairs = [("cat", "kitten", 1), ("zebra", "cat", 0), ("cat", "yak", 0)]
    model = Tiny({"cat": [1, 0], "kitten": [4, 3]})
    found = semmetrics.calibrate_threshold_on_pairs(pairs, model)
    few, unknown = found.notes
    assert few.startswith("few pairs decide the threshold: 1 that mean the same and 2 that do not")
    assert unknown.startswith("pairs: 2 distinct terms unknown to tiny-2@000000000000")
    assert "notes" not in found.to_dict()
    found.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json").notes == []
    preds, gts = {"a": ["cat"], "b": ["yak"]}, {"a": ["kitten"], "b": ["emu"], "c": ["cat"]}
    of_data = semmetrics.calibrate_threshold(
        preds, gts, embedding=model, holdout=1, missing="skip", thresholds=[0.7, 1.0]
    )
    few, missing, unknown = of_data.notes  # and nothing of a threshold that was only tried
    assert few.startswith("few items decide the threshold: 2 of 2 in the holdout")
    assert missing == "preds: 1 item without a prediction, left out"
    assert unknown.startswith("preds: 2 distinct terms unknown to tiny-2@000000000000")


@pytest.mark.parametrize(("n", "few"), [(29, True), (30, False)])
def test_few_items_or_pairs_are_said(n, few):
    model = Tiny({"cat": [1, 0], "kitten": [4, 3], "dog": [0, 1], "puppy": [3, 4]})
    preds = {f"{i}": ["cat" if i % 2 else "dog"] for i in range(n)}
    gts = {name: ["kitten" if one == ["cat"] else "puppy"] for name, one in preds.items()}
    held = semmetrics.calibrate_threshold(preds, gts, embedding=model, holdout=1)
    assert any(note.startswith("few items") for note in held.notes) == few
    pairs = [("cat", "kitten", 1)] * 40 + [("cat", "dog", 0)] * n
    found = semmetrics.calibrate_threshold_on_pairs(pairs, model)
    assert any(note.startswith("few pairs") for note in found.notes) == few


def test_a_part_that_is_too_small_names_option_and_flag():
    with refused("small-holdout"):
        semmetrics.calibrate_threshold({"a": ["cat"]}, {"a": ["cat"]}, embedding=MODEL)
