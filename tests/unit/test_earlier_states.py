"""States and selections that earlier versions wrote.

All measures had the model "static" by default then. The files in ``earlier`` were written from the
items below: those of "given" with an embedding, and those of "default" without one.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

from semmetrics import (
    DiscrepancySelection,
    Scorer,
    add_systems,
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


@pytest.mark.parametrize("name", ["default-1", "given-words-1"])
def test_a_state_of_an_earlier_schema_is_refused_by_its_name(name):
    with refused("other-version", by="semmetrics 0.2.0.dev0 (semmetrics.state/2)"):
        Scorer.load(EARLIER / f"{name}.state")


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
