"""States: parts summed elsewhere say what one call says, and files that changed are refused."""

import io
from itertools import permutations

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import InputError, Scorer, score
from semmetrics.metrics.registry import forget
from semmetrics.scoring.scorer_state import checksum_of

IDS = [f"item {number}" for number in range(24)]
OPTIONS = {
    "measures": ["F1", "MicroF1", "MacroF1", "SemF1"],
    "ci": True,
    "resamples": 20,
}


def states(preds, gts, cuts, shards=True, system="preds", **options):
    """Save the sums of parts of the items, and return the files."""
    found = []
    parts = np.split(np.array([*gts]), cuts)
    for number, ids in enumerate(parts, 1):
        scorer = Scorer(system=system, keep_rows=False, **options)
        scorer.update({i: preds[i] for i in ids}, {i: gts[i] for i in ids})
        found.append(io.BytesIO())
        scorer.save(found[-1], shard=f"{number}/{len(parts)}" if shards else None)
    return found


def items(seed=0):
    """Both sides by id."""
    rng = np.random.default_rng(seed)
    names = [f"label {number}" for number in range(12)]
    preds, gts = (
        {i: rng.permutation(names)[: rng.integers(0, 5)].tolist() for i in IDS}
        for _ in range(2)
    )
    return preds, gts


def test_states_merge_in_any_order_and_in_trees():
    preds, gts = items()
    whole = score(preds, gts, ci_method="poisson", **OPTIONS)
    parts = states(preds, gts, [3, 10], **OPTIONS)
    for order in permutations(parts):
        first, *others = map(Scorer.load, order)
        tree = io.BytesIO()
        sum(others).save(tree)
        table = (Scorer.load(tree) + first).compute()
        assert [one.signature for one in table] == [one.signature for one in whole]
        assert [one.ci for one in table] == [one.ci for one in whole]
        assert table.notes == whole.notes


@pytest.mark.parametrize("weight", [None, 3, 0.1])
def test_resamples_of_merged_states_are_exact(weight):
    """Floats that were rounded in each part would differ in the last digit."""
    preds, gts = items()
    weights = weight and {name: weight * (1 + place) for place, name in enumerate(IDS)}
    whole = score(preds, gts, weights=weights, ci_method="poisson", **OPTIONS)
    parts = []
    for ids in np.split(np.array(IDS), [3, 10]):
        scorer = Scorer(keep_rows=False, **OPTIONS)
        some = weights and {name: weights[name] for name in ids}
        scorer.update(
            {i: preds[i] for i in ids}, {i: gts[i] for i in ids}, weights=some
        )
        scorer.save(state := io.BytesIO())
        parts.append(Scorer.load(state))
    for one, other in zip(whole, sum(parts).compute(), strict=True):
        assert one.value == other.value
        assert one.replicates.values.tolist() == other.replicates.values.tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"ignore": ["label 1", "label 2", "x"]},
        {
            "classes": [
                ["label 0", "a"],
                ["label 1", "a"],
                *(f"label {k}" for k in range(2, 12)),
            ]
        },
        {"measures": ["SemF1"], "oov": "skip"},
        {"missing": "skip"},
        {"decode": "threshold:0.5"},
        {"weights": {name: float(place % 3) for place, name in enumerate(IDS)}},
    ],
    ids=" ".join,
)
def test_notes_are_those_of_all_items(options):
    preds, gts = items()
    preds = {
        i: [*some, "日本" if i > "item 2" else "Ω"]
        for i, some in preds.items()
        if i != IDS[3]
    }
    if "missing" not in options:
        preds[IDS[3]] = ["7"]
    if "decode" in options:
        preds = {
            i: {one: 0.1 + 0.01 * len(i) for one in some} for i, some in preds.items()
        }
    given = {"measures": ["F1", "MacroF1"], **options}
    weights = given.pop("weights", None)
    whole, parts = score(preds, gts, weights=weights, **given), []
    for ids in np.array_split(np.array(IDS), 5):
        parts.append(Scorer(keep_rows=False, **given))
        parts[-1].update(
            {i: preds[i] for i in ids if i in preds},
            {i: gts[i] for i in ids},
            weights=weights and {i: weights[i] for i in ids},
        )
        parts[-1].save(state := io.BytesIO())
        parts.append(Scorer.load(state))
    for some in (parts[::2], parts[1::2]):
        alone = [
            note for note in sum(some).compute().notes if "ids of states" not in note
        ]
        assert sorted(alone) == sorted(whole.notes)


def test_states_of_several_systems_are_scored_together():
    preds, gts = items()
    others, _ = items(5)
    options = {**OPTIONS, "ci_method": "poisson"}
    whole = semmetrics.score_systems({"a": preds, "b": others}, gts, **options)
    parts = [
        *states(preds, gts, [7], system="a", **options),
        *states(others, gts, [7], system="b", **options),
    ]
    table = sum(map(Scorer.load, parts)).compute()
    assert (table.to_dicts(), table.to_dict()) == (whole.to_dicts(), whole.to_dict())
    truth = {**gts, "item 3": ["label 1"]}
    parts[2:] = states(others, truth, [7], system="b", **options)
    with refused("scored-otherwise"):
        sum(map(Scorer.load, parts)).compute()


def test_what_does_not_belong_together_is_refused():
    preds, gts = items()
    parts = list(map(Scorer.load, states(preds, gts, [7], **OPTIONS)))
    with refused("merged-twice"):
        _ = parts[0] + parts[0]
    with refused("missing-shards", names=["2/2"]):
        parts[0].compute()
    for changed in ({"measures": ["F1"]}, {"resamples": 21}, {"normalize": "lower"}):
        with pytest.raises(InputError) as caught:
            _ = parts[0] + Scorer.load(
                states(preds, gts, [], **{**OPTIONS, **changed})[0]
            )
        assert caught.value.code in ("different-scorers", "different-statistics")
    with refused("different-statistics"):
        _ = parts[0] + Scorer.load(states(preds, gts, [3, 9], **OPTIONS)[1])
    loose = list(map(Scorer.load, states(preds, gts, [7], shards=False, **OPTIONS)))
    assert [one.code for one in sum(loose).compute().facts if "ids" in one.code] == [
        "ids-not-compared"
    ]
    with refused("merged-twice"):
        _ = loose[0] + parts[0]
    with refused("needs-no-rows"):
        Scorer(measures="F1").save(io.BytesIO())


def test_parts_in_which_no_item_counts_are_not_the_same():
    weights = {"a": 0.0, "b": 0.0, "c": 2.0}
    scorers = []
    for name in weights:
        scorers.append(Scorer(measures="F1", keep_rows=False))
        scorers[-1].update({name: ["cat"]}, {name: ["cat"]}, weights=weights)
        scorers[-1].save(part := io.BytesIO())
        scorers[-1] = Scorer.load(part)
    assert sum(scorers).compute()["F1"].n == 1


def test_files_that_changed_are_refused(tmp_path, monkeypatch):
    preds, gts = items()
    (part,) = states(preds, gts, [], measures="F1")
    raw = part.getvalue()
    for cut in (10, len(raw) // 2, len(raw) - 1):
        with refused("damaged" if cut > 4 else "no-state"):
            Scorer.load(io.BytesIO(raw[:cut]))
    arrays = dict(np.load(io.BytesIO(raw)))
    name = next(n for n, one in arrays.items() if one.size and one.dtype.kind == "i")
    changed = io.BytesIO()
    np.savez(changed, **{**arrays, name: arrays[name] + 1})
    with refused("damaged"):
        Scorer.load(changed)
    with refused("no-state"):
        Scorer.load(io.BytesIO(b"{}"))
    monkeypatch.setattr("semmetrics.scoring.scorer_state.__version__", "99.0")
    with refused("other-version"):
        Scorer.load(part)


def test_functions_stand_for_themselves_and_own_measures_are_the_same(tmp_path):
    preds, gts = items()

    def embed(texts):
        return [[len(text), 1.0] for text in texts]

    @semmetrics.measure
    def Hits(hit):
        return hit

    try:
        options = {"measures": ["SemF1", "Hits"], "embedding": embed}
        parts = list(map(Scorer.load, states(preds, gts, [7], **options)))
        whole = score(preds, gts, **options)
        assert [one.value for one in sum(parts).compute()] == [
            one.value for one in whole
        ]
        with refused("not-in-a-state", value="embedding"):
            parts[0].update(preds, gts)
        (part,) = states(preds, gts, [], **options)
        forget(Hits)

        @semmetrics.measure
        def Hits(hit):
            return 2 * hit

        with refused("other-measure", measure="Hits"):
            Scorer.load(part)
    finally:
        forget(Hits)
    path = tmp_path / "part.state"
    loaded = Scorer(measures="F1", keep_rows=False)
    loaded.update({"a": ["cat"]}, {"a": ["cat"]})
    loaded.save(path)
    more = Scorer.load(path)
    more.update({"b": ["cat"]}, {"b": ["dog"]})  # more can follow
    assert more.compute()["F1"].value == 0.5


def test_items_without_ground_truth_are_not_lost():
    preds = {"z": ["cow"], "a": ["cat"], "b": ["dog"]}
    gts = {"a": ["cat"], "b": ["cat"]}
    options = {"measures": "F1", "missing": "empty"}
    whole = score(preds, gts, **options)["F1"]
    for first in (["z"], ["a", "b"]):
        scorer = Scorer(keep_rows=False, **options)
        for ids in (first, [i for i in preds if i not in first]):
            scorer.update(
                {i: preds[i] for i in ids}, {i: gts[i] for i in ids if i in gts}
            )
        found = scorer.compute()["F1"]
        assert (found.value, found.n, found.signature) == (
            whole.value,
            3,
            whole.signature,
        )


def test_systems_may_have_other_items_where_that_was_asked():
    scorer = Scorer(keep_rows=False, measures="F1", missing="empty")
    scorer.update({"a": ["cat"], "z": ["cow"]}, {"a": ["cat"]}, system="one")
    scorer.update({"a": ["cat"]}, {"a": ["cat"]}, system="two")
    table = scorer.compute()
    assert [(one.system, one.value) for one in table] == [("one", 0.5), ("two", 1.0)]
    assert "different-items" in [one.code for one in table.facts]


def test_merged_sums_of_resamples_are_bounded(monkeypatch):
    parts = []
    for name in ("cat", "dog"):
        scorer = Scorer(keep_rows=False, measures="MacroF1", ci=True)
        scorer.update({name: [name]}, {name: [name]})
        parts.append(io.BytesIO())
        scorer.save(parts[-1])
    Scorer.load(*parts).compute()
    monkeypatch.setattr(
        "semmetrics.scoring.resampling._MAX_BYTES_OF_RESAMPLES", 8 * 1000 * 5
    )
    with refused("too-many-resamples"):
        Scorer.load(*parts)


def test_what_others_wrote_is_damaged(tmp_path, monkeypatch):
    path = tmp_path / "forged.state"
    for text in (
        b"[]",
        b"{}",
        b"no",
        b'{"schema": "semmetrics.scorer-state/1", "version": "x"}',
    ):
        arrays = {"state": np.frombuffer(text, np.uint8)}
        with path.open("wb") as out:
            np.savez(out, **arrays, checksum=checksum_of(arrays))
        with pytest.raises(InputError) as caught:
            Scorer.load(path)
        assert caught.value.code in ("damaged", "other-version")


@pytest.mark.parametrize("name", ["ignore", "classes"])
def test_a_state_has_the_labels_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    labels = ["dog"] if name == "ignore" else ["cat", "dog", "cow"]
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(labels) + "\n")
    scorer = Scorer(measures="F1 MacroF1", keep_rows=False, **{name: "labels.txt"})
    scorer.update({"1": ["cat", "dog"]}, {"1": ["cat"]})
    buffer = io.BytesIO()
    scorer.save(buffer)
    expected = scorer.compute()
    for change in (path.unlink, lambda: path.write_text("cat\n")):
        change()
        buffer.seek(0)
        loaded = Scorer.load(buffer)
        found = loaded.compute()
        assert found.to_json() == expected.to_json()
        loaded.update({"2": ["dog", "cow"]}, {"2": ["cow"]})
        given = [
            {"1": ["cat", "dog"], "2": ["dog", "cow"]},
            {"1": ["cat"], "2": ["cow"]},
        ]
        whole = score(*given, measures="F1 MacroF1", **{name: labels})
        assert [one.value for one in loaded.compute()] == [one.value for one in whole]
