"""Selections that earlier versions saved can be continued.

Then, all measures had the model "static" by default. The file in ``earlier`` was written from the
items below.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused

from semmetrics import DiscrepancySelection, add_systems, select_discrepant
from semmetrics.metrics.parsing import parse_all
from semmetrics.scoring.earlier_selections import name_static

PATH = Path(__file__).parent / "earlier" / "default.mad.json"
MEASURE = "SemF1(threshold=0.5)"
WORDS = {
    "couch": [1, 0, 0],
    "sofa": [0.9, 0.1, 0],
    "cat": [0, 1, 0],
    "dog": [0, 0.6, 0.6],
}
PREDS = {"a": ["couch", "cat"], "b": ["dog"], "c": ["sofa", "xq zz"], "d": ["cat"]}
GTS = {"a": ["sofa"], "b": ["cat"], "c": ["couch", "dog"], "d": ["cat", "dog"]}
TWO_SYSTEMS = {"s0": PREDS, "s1": GTS}
THREE_SYSTEMS = {**TWO_SYSTEMS, "s2": {name: ["dog"] for name in PREDS}}


def pairs(selection):
    return json.loads(selection.to_json())["pairs"]


@pytest.mark.parametrize(
    "options",
    [{}, {"embedding": "static"}, {"embedding": {"default": "static"}}],
)
def test_systems_are_added_to_an_earlier_selection_with_its_model(tmp_path, options):
    selection = DiscrepancySelection.load(PATH)

    added = add_systems(selection, THREE_SYSTEMS, **options)
    added.save(tmp_path / "state.json")

    whole = select_discrepant(THREE_SYSTEMS, 2, measure=MEASURE, embedding="static")
    assert added.models == whole.models
    assert pairs(added) == pairs(whole)
    loaded = DiscrepancySelection.load(tmp_path / "state.json")
    assert loaded.to_json() == added.to_json()


def test_another_embedding_than_the_earlier_one_raises_an_error():
    selection = DiscrepancySelection.load(PATH)

    with refused("state-differs", what="embedding='static' instead of 'same'"):
        add_systems(selection, THREE_SYSTEMS, embedding="same")


@pytest.mark.parametrize("embedding", [WORDS, {"default": "static"}])
def test_the_embedding_of_an_earlier_selection_is_given_again(tmp_path, embedding):
    path = tmp_path / "state.json"
    selection = select_discrepant(TWO_SYSTEMS, 2, measure=MEASURE, embedding=embedding)
    (model,) = selection.models.values()
    replace(selection, models={"default": model}).save(path)

    earlier = DiscrepancySelection.load(path)

    assert earlier == replace(selection, facts=(), understood=())
    assert len(add_systems(earlier, THREE_SYSTEMS, embedding=embedding).pairs) == 3
    with refused("give-again", name="embedding"):
        add_systems(earlier, THREE_SYSTEMS)


def test_a_selection_of_this_version_uses_the_model_of_its_measure():
    selection = select_discrepant(TWO_SYSTEMS, 2, measure=MEASURE)

    added = add_systems(selection, THREE_SYSTEMS)

    (model,) = added.models.values()
    assert "semmetrics-same" in model


def test_the_static_model_is_named_if_one_of_the_measures_used_it():
    measures = parse_all(["SoftF1", "SemF1", "F1"])

    assert name_static({}, measures) == {"embedding": "static"}
    assert name_static({"embedding": "same"}, measures) == {"embedding": "same"}
