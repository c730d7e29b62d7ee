"""States and selections of the version in which all measures had the model "static" by default.

The files in ``earlier`` were written by that version, from the items below: those of "given" with
an embedding, and those of "default" without one.
"""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

import semmetrics
from semmetrics import (
    DiscrepancySelection,
    Scorer,
    add_systems,
    score,
    select_discrepant,
)

EARLIER = Path(__file__).parent / "earlier"
MEASURES = ["SemF1", "SoftF1", "F1", "SemRecall"]
WORDS = {
    "couch": [1, 0, 0],
    "sofa": [0.9, 0.1, 0],
    "cat": [0, 1, 0],
    "dog": [0, 0.6, 0.6],
}
PREDS = {"a": ["couch", "cat"], "b": ["dog"], "c": ["sofa", "xq zz"], "d": ["cat"]}
GTS = {"a": ["sofa"], "b": ["cat"], "c": ["couch", "dog"], "d": ["cat", "dog"]}
WITH_EMBEDDING = pytest.mark.parametrize(
    ("name", "embedding"), [("given-words", WORDS), ("default", "static")]
)


def load(name):
    return Scorer.load(EARLIER / f"{name}.state")


def items(ids):
    return {i: PREDS[i] for i in ids}, {i: GTS[i] for i in ids}


def scorer_of(ids, **options):
    scorer = Scorer(measures=MEASURES, keep_rows=False, **options)
    scorer.update(*items(ids))
    return scorer


def saved(scorer):
    scorer.save(state := io.BytesIO())
    return Scorer.load(state)


def check_same(table, embedding):
    whole = score(PREDS, GTS, measures=MEASURES, embedding=embedding)
    assert [one.value for one in table] == [one.value for one in whole]
    assert [one.signature for one in table] == [one.signature for one in whole]
    assert [note for note in table.notes if "ids of states" not in note] == whole.notes


class TestStates:
    @WITH_EMBEDDING
    def test_new_items_are_added_with_the_same_embedding(self, name, embedding):
        scorer = load(f"{name}-1")
        scorer.update(*items("c"))
        scorer.update(*items("d"))
        check_same(scorer.compute(), embedding)

    @WITH_EMBEDDING
    def test_they_merge_with_each_other_and_are_written_again(self, name, embedding):
        both = load(f"{name}-1") + load(f"{name}-2")
        check_same(both.compute(), embedding)
        check_same(saved(both).compute(), embedding)

    @WITH_EMBEDDING
    def test_they_merge_with_new_ones(self, name, embedding):
        live = scorer_of("cd", embedding=embedding)
        for new in (live, saved(live)):
            check_same((load(f"{name}-1") + new).compute(), embedding)
            check_same((new + load(f"{name}-1")).compute(), embedding)

    @pytest.mark.parametrize("is_saved", [False, True])
    def test_another_default_is_refused_with_both_embeddings_and_the_fix(
        self, is_saved
    ):
        new = scorer_of("cd")
        if is_saved:
            new = saved(new)
        both = r"static-320@\w+.* semmetrics-same-\d+@\w+.*embedding='static'"
        with pytest.raises(semmetrics.InputError, match=both):
            _ = load("default-1") + new
        with refused("static-and-other-embedding"):
            _ = new + load("default-1")

    def test_systems_that_are_compared_have_one_embedding(self):
        def other(**options):
            scorer = Scorer(
                measures=MEASURES, keep_rows=False, system="other", **options
            )
            scorer.update(*items("ab"))
            return scorer

        with refused("static-and-other-embedding"):
            (load("default-1") + other()).compute()
        with refused("different-embeddings"):
            (load("given-words-1") + saved(other())).compute()
        table = (load("default-1") + other(embedding="static")).compute()
        values = [one.value for one in table]
        assert values[: len(MEASURES)] == values[len(MEASURES) :]

    def test_options_name_the_embedding_only_if_the_default_changed(self):
        assert load("default-1")._given["embedding"] == "static"
        assert load("given-words-1")._given["embedding"] == WORDS


class TestSelections:
    def test_systems_are_added_with_the_same_embedding(self, tmp_path):
        systems = {"s0": PREDS, "s1": GTS, "s2": {i: ["dog"] for i in PREDS}}
        measure = "SemF1(threshold=0.5)"
        whole = select_discrepant(systems, 2, measure=measure, embedding="static")
        earlier = DiscrepancySelection.load(EARLIER / "default.mad.json")
        for options in (
            {},
            {"embedding": "static"},
            {"embedding": {"default": "static"}},
        ):
            added = add_systems(earlier, systems, **options)
            assert added.models == whole.models
            assert (
                json.loads(added.to_json())["pairs"]
                == json.loads(whole.to_json())["pairs"]
            )
            added.save(tmp_path / "state.json")
            again = DiscrepancySelection.load(tmp_path / "state.json")
            assert again.to_json() == added.to_json()
        with refused("state-differs", what="embedding='same', not 'static'"):
            add_systems(earlier, systems, embedding="same")

    @pytest.mark.parametrize("embedding", [WORDS, {"default": "static"}])
    def test_an_embedding_that_was_given_is_given_again(self, tmp_path, embedding):
        systems = {"s0": PREDS, "s1": GTS}
        measure = "SemF1(threshold=0.5)"
        now = select_discrepant(systems, 2, measure=measure, embedding=embedding)
        (model,) = now.models.values()
        replace(now, models={"default": model}).save(tmp_path / "state.json")
        earlier = DiscrepancySelection.load(tmp_path / "state.json")
        assert earlier == replace(now, facts=(), understood=())
        systems["s2"] = {i: ["dog"] for i in PREDS}
        assert len(add_systems(earlier, systems, embedding=embedding).pairs) == 3
        with refused("give-again", name="embedding"):
            add_systems(earlier, systems)

    def test_one_of_now_uses_the_model_of_its_measure(self):
        systems = {"s0": PREDS, "s1": GTS}
        before = select_discrepant(systems, 2, measure="SemF1(threshold=0.5)")
        systems["s2"] = {i: ["dog"] for i in PREDS}
        added = add_systems(before, systems)
        assert "semmetrics-same" in next(iter(added.models.values()))
