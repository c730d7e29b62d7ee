"""Saved states of parts are merged into the scores of one call on all items."""

from __future__ import annotations

import io
from itertools import permutations

import numpy as np
import pytest
from batches import save, save_and_load, scores, select, update_with, values
from own_measures import temporary_measures
from refusals import codes, refused

import semmetrics
from semmetrics import InputError, ReadOptions, Scorer, score

IDS = [f"item {number}" for number in range(24)]
OPTIONS = {
    "measures": "F1 MicroF1 MacroF1 SemF1",
    "ci": True,
    "resamples": 20,
}


def draw_side(seed):
    """Draw up to four of twelve labels for each item."""
    rng = np.random.default_rng(seed)
    names = [f"label {number}" for number in range(12)]
    side = {}
    for name in IDS:
        side[name] = rng.permutation(names)[: rng.integers(0, 5)].tolist()
    return side


PREDS = draw_side(0)
GTS = draw_side(1)


def scorers_of_parts(cuts, preds=PREDS, gts=GTS, weights=None, **options):
    """Return a scorer for the items between each two cuts."""
    scorers = []
    for ids in np.split(IDS, cuts):
        scorer = Scorer(keep_rows=False, **options)
        part_weights = None if weights is None else select(weights, ids)
        update_with(scorer, preds, gts, ids, weights=part_weights)
        scorers.append(scorer)
    return scorers


def save_parts(cuts, **options):
    """Save the state of each part as a shard."""
    scorers = scorers_of_parts(cuts, **options)
    states = []
    for number, scorer in enumerate(scorers, 1):
        states.append(save(scorer, shard=f"{number}/{len(scorers)}"))
    return states


@pytest.mark.parametrize("weight", [None, 3, 0.1])
def test_states_merge_in_any_order_to_the_scores_and_resamples_of_one_call(weight):
    weights = None
    if weight:
        weights = {name: weight * place for place, name in enumerate(IDS, 1)}
    states = save_parts([3, 10], weights=weights, **OPTIONS)
    whole = score(PREDS, GTS, weights=weights, ci_method="poisson", **OPTIONS)

    for first, second, third in permutations(states):
        pair = Scorer.load(second) + Scorer.load(third)
        merged = (save_and_load(pair) + Scorer.load(first)).compute()

        assert scores(merged) == scores(whole)
        for merged_score, score_of_all in zip(merged, whole, strict=True):
            resamples = merged_score.replicates.values.tolist()
            assert resamples == score_of_all.replicates.values.tolist()


CLASSES = [["label 0", "a"], ["label 1", "a"], *(f"label {k}" for k in range(2, 12))]


@pytest.mark.parametrize(
    "options",
    [
        {"measures": "F1", "ignore": ["label 1", "label 2", "x"]},
        {"measures": "MacroF1", "classes": CLASSES},
        {"measures": "SemF1", "oov": "skip"},
        {"measures": "F1", "missing": "skip"},
    ],
    ids=["ignored labels", "synonyms", "labels without vectors", "missing items"],
)
def test_states_and_scorers_together_give_the_notes_of_one_call(options):
    preds = {name: [*labels, "日本"] for name, labels in PREDS.items()}
    if "missing" in options:
        del preds[IDS[3]]
    scorers = scorers_of_parts([5, 10, 15], preds=preds, **options)
    states = [save_and_load(scorer) for scorer in scorers]

    mixed = [states[0], scorers[1], states[2], scorers[3]]
    notes = [note for note in sum(mixed).compute().notes if "ids of states" not in note]

    assert sorted(notes) == sorted(score(preds, GTS, **options).notes)


def test_states_of_several_systems_give_the_table_of_one_call():
    others = draw_side(5)
    states = [
        *save_parts([7], system="a", **OPTIONS),
        *save_parts([7], system="b", preds=others, **OPTIONS),
    ]

    merged = Scorer.load(*states).compute()

    whole = semmetrics.score_systems(
        {"a": PREDS, "b": others}, GTS, ci_method="poisson", **OPTIONS
    )
    assert scores(merged) == scores(whole)


def test_systems_with_different_ground_truth_raise_an_error():
    other_truth = {**GTS, "item 3": ["label 1"]}
    first = scorers_of_parts([], system="a", measures="F1")
    second = scorers_of_parts([], system="b", gts=other_truth, measures="F1")

    with refused("scored-on-other-items"):
        sum(map(save_and_load, first + second)).compute()


# ---- errors -------------------------------------------------------------------------------------


def test_the_same_part_twice_raises_an_error():
    (scorer,) = scorers_of_parts([], measures="F1")
    shard = Scorer.load(save(scorer, shard="1/2"))
    state = Scorer.load(save(scorer))

    with refused("merged-twice"):
        shard + shard
    with refused("merged-twice"):
        state + shard


def test_missing_shards_raise_an_error_that_names_them():
    first, _ = save_parts([7], measures="F1")

    with refused("missing-shards", names=["2/2"]):
        Scorer.load(first).compute()


def test_shards_of_different_numbers_of_parts_raise_an_error():
    half, _ = save_parts([7], measures="F1")
    _, third, _ = save_parts([3, 9], measures="F1")

    with refused("different-statistics"):
        Scorer.load(half, third)


@pytest.mark.parametrize(
    "changed", [{"measures": "F1"}, {"resamples": 21}, {"normalize": "lower"}]
)
def test_states_with_different_options_raise_an_error(changed):
    first, _ = save_parts([7], **OPTIONS)
    _, second = save_parts([7], **{**OPTIONS, **changed})

    with pytest.raises(InputError) as caught:
        Scorer.load(first) + Scorer.load(second)

    assert caught.value.code in ("different-scorers", "different-statistics")


def test_a_note_reports_that_ids_of_states_were_not_compared():
    states = map(save_and_load, scorers_of_parts([7], measures="F1"))

    assert "ids-not-compared" in codes(sum(states).compute())


def test_a_scorer_with_stored_items_has_no_state():
    with refused("needs-no-rows"):
        Scorer(measures="F1").save(io.BytesIO())


# ---- options that are files, functions or measures ------------------------------------------------


@pytest.mark.parametrize(
    ("option", "labels"), [("ignore", ["dog"]), ("classes", ["cat", "dog", "cow"])]
)
def test_a_state_contains_the_labels_of_a_file_that_is_deleted(
    tmp_path, option, labels
):
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(labels))
    scorer = Scorer(measures="MacroF1", keep_rows=False, **{option: path})
    scorer.update({"1": ["cat", "dog"]}, {"1": ["cat"]})
    state = save(scorer)
    path.unlink()

    loaded = Scorer.load(state)
    loaded.update({"2": ["dog", "cow"]}, {"2": ["cow"]})

    preds = {"1": ["cat", "dog"], "2": ["dog", "cow"]}
    gts = {"1": ["cat"], "2": ["cow"]}
    whole = score(preds, gts, measures="MacroF1", **{option: labels})
    assert values(loaded.compute()) == values(whole)


def test_a_state_with_a_function_can_be_merged_but_takes_no_new_items():
    def embed(texts):
        return [[len(text), 1.0] for text in texts]

    options = {"measures": "SemF1", "embedding": embed}
    loaded = Scorer.load(*save_parts([7], **options))

    assert values(loaded.compute()) == values(score(PREDS, GTS, **options))
    with refused("not-in-a-state", value="embedding"):
        loaded.update(PREDS, GTS)


def test_a_state_with_a_user_measure_needs_the_same_measure():
    with temporary_measures():

        @semmetrics.measure
        def Hits(hit):
            return hit

        (state,) = save_parts([], measures="Hits")
        whole = score(PREDS, GTS, measures="Hits")
        assert values(Scorer.load(state).compute()) == values(whole)

    with temporary_measures():

        @semmetrics.measure
        def Hits(hit):
            return 2 * hit

        with refused("other-measure", measure="Hits"):
            Scorer.load(state)


LABELS = [f"label {number}" for number in range(12)]
KEYED = ReadOptions(id_column="key")
READ_BOTH_SIDES = ReadOptions(pred=KEYED, gt=ReadOptions(id_column="key"))


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"classes": list(np.array(LABELS))}, {"classes": LABELS}),
        ({"ignore": {"label 1", "label 2"}}, {"ignore": ["label 2", "label 1"]}),
        ({"seed": np.int64(1)}, {"seed": 1}),
        ({"read": ReadOptions()}, {}),
        (
            {"read": ReadOptions(classes=np.array(LABELS))},
            {"read": ReadOptions(classes=LABELS)},
        ),
        ({"read": READ_BOTH_SIDES}, {"read": READ_BOTH_SIDES}),
    ],
)
def test_options_that_mean_the_same_can_be_merged(options, others):
    first, _ = scorers_of_parts([9], measures="F1", **options)
    _, last = scorers_of_parts([9], measures="F1", **others)

    for scorer in (first, save_and_load(first)):
        merged = scorer + last
        assert len(merged) == len(IDS)


@pytest.mark.parametrize("is_saved", [False, True])
def test_merged_shards_of_items_without_ids_are_numbered_on(is_saved):
    preds = list(PREDS.values())
    gts = list(GTS.values())
    shards = ["1/2", "2/2"]
    scorers = []
    for shard in shards:
        scorer = Scorer(keep_rows=False, measures="F1 MacroF1")
        scorer.update(preds[:11], gts[:11], shard=shard)
        scorers.append(scorer)
    if is_saved:
        states = map(save, scorers, shards)
        merged = Scorer.load(*states)
    else:
        merged = sum(scorers)

    for shard in shards:
        merged.update(preds[11:], gts[11:], shard=shard)

    assert len(merged) == len(preds)
    whole = score(preds, gts, measures="F1 MacroF1")
    assert values(merged.compute()) == values(whole)


def test_batches_after_a_loaded_state_continue_its_first_system():
    first_ids, other_ids = IDS[:10], IDS[10:]
    scorer = Scorer(keep_rows=False, measures="F1", system="model")
    update_with(scorer, PREDS, GTS, first_ids)

    loaded = save_and_load(scorer)
    update_with(loaded, PREDS, GTS, other_ids)

    (total,) = loaded.compute()
    assert (total.system, total.n) == ("model", len(IDS))


class Pipe(io.RawIOBase):
    """A stream that cannot be rewound."""

    def __init__(self, content):
        super().__init__()
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(buffer)


def test_a_state_is_read_from_a_stream_that_cannot_be_rewound():
    (scorer,) = scorers_of_parts([], measures="F1")
    state = save(scorer)

    loaded = Scorer.load(io.BufferedReader(Pipe(state.getvalue())))

    assert values(loaded.compute()) == values(scorer.compute())
