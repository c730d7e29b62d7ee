"""The embedding that a measure uses by default, and other embeddings in its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.embed.open import describe, open_embedding, opening_options
from semmetrics.metrics.registry import all_definitions

SAME_MEASURES = {"SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP"}
STATIC_MEASURES = ["SoftRecall", "SoftF1", "MeanSim", "BagSim", "WMD", "RWMD"]
PREDS = {"a": ["couch", "dog"], "b": ["car"], "c": ["cat", "zxqwv"]}
GTS = {"a": ["sofa", "sky"], "b": ["bus"], "c": ["cat"]}
PAIRS = [("couch", "sofa", 1), ("car", "automobile", 1), ("car", "tree", 0)]
PAGE = Path(__file__).parents[2] / "docs" / "measures" / "semantic.md"
STATIC = open_embedding("static")
SAME = open_embedding("same")


def score(measures, **options):
    return semmetrics.score(PREDS, GTS, measures=measures, **options)


def model_of(score):
    """Return the identity of the embedding in a signature."""
    for part in score.signature.split("|"):
        if part.startswith("emb:"):
            return part.removeprefix("emb:")
    return None


def test_the_model_same_is_described_by_its_name():
    facts = describe("same")

    assert open_embedding("same:") is SAME
    assert opening_options("same") == ()
    assert facts["identity"] == SAME.identity
    assert facts["threshold"] == SAME.threshold
    assert facts["lookup"] == "text"


def test_measures_that_match_labels_use_same_and_all_others_static():
    names = set()
    for definition in all_definitions():
        assert definition.own_embedding in {"same", "static"}
        if definition.own_embedding == "same":
            names.add(definition.name)

    assert names == SAME_MEASURES


def test_a_measure_uses_its_own_model():
    for result in score([*SAME_MEASURES - {"SemAP"}, "SemAP@2"]):
        assert model_of(result) == SAME.identity
    for result in score(STATIC_MEASURES):
        assert model_of(result) == STATIC.identity


@pytest.mark.parametrize("embedding", ["static", {"default": "static"}, STATIC, "same"])
def test_a_given_embedding_is_used_by_all_measures(embedding):
    table = score(["SemF1", "SoftF1", "WMD"], embedding=embedding)

    model = SAME if embedding == "same" else STATIC
    assert {model_of(result) for result in table} == {model.identity}
    assert f"|thr:{model.threshold!r}|" in table["SemF1"].signature


@pytest.mark.parametrize(("measure", "own"), [("SemF1", "same"), ("SoftF1", "static")])
def test_the_own_model_gives_the_same_score_as_that_model_given(measure, own):
    default = score(["SemF1", "SoftF1", "WMD"])[measure]
    (given,) = score(measure, embedding=own)

    assert default.value == given.value
    assert default.signature == given.signature


def test_a_measure_may_name_a_model_of_the_package():
    (result,) = score("SemF1(embedding=static)")

    assert model_of(result) == STATIC.identity


@pytest.mark.parametrize("name", ["#same", "#default, own same"])
def test_a_name_must_not_look_like_a_default(name):
    with refused("do not start with '#'"):
        score("SemF1", embedding={name: "static"})


def fail_to_open(*_):
    raise AssertionError("the model was opened")


@pytest.mark.parametrize(
    ("model", "measures", "options"),
    [
        ("same.open_same", "SemF1", {"embedding": "static"}),
        ("same.open_same", ["WMD", "SoftF1"], {}),
        ("static.open_static", "SemF1", {}),
    ],
)
def test_a_model_that_no_measure_uses_is_not_opened(
    monkeypatch, model, measures, options
):
    monkeypatch.setattr(f"semmetrics.embed.{model}", fail_to_open)

    score(measures, **options)


def test_each_label_is_embedded_once():
    model = Tiny({"couch": [1, 0], "sofa": [1, 0.1]}, threshold=0.5)

    measures = ["SemF1", "SoftF1", "SemRecall", "WMD", "MeanSim"]
    semmetrics.score([["couch"]], [["sofa"]], measures=measures, embedding=model)

    assert sorted(model.asked) == ["couch", "sofa"]


# ---- signatures ----------------------------------------------------------------------


@pytest.mark.parametrize("embedding", [None, "static", "same"])
def test_a_score_is_computed_again_from_its_signature(embedding):
    (first,) = score("SemF1", embedding=embedding)

    again = semmetrics.rescore(first.signature, PREDS, GTS)

    assert again.differences == []
    assert again.scores[0].value == first.value
    assert again.scores[0].signature == first.signature


def test_a_signature_of_an_earlier_version_uses_the_static_model():
    """SemF1 used the static model at that time."""
    (now,) = score("SemF1", embedding="static")
    earlier = "semmetrics-static-320@000000000000"

    again = semmetrics.rescore(
        now.signature.replace(STATIC.identity, earlier), PREDS, GTS
    )

    assert again.scores[0].value == now.value
    (difference,) = again.differences
    assert f"emb:{STATIC.identity} instead of emb:{earlier}" in difference


def test_a_signature_with_an_unknown_embedding_is_an_error():
    (result,) = score("SemF1")
    unknown = "semmetrics-other-96@000000000000"

    with refused(unknown):
        semmetrics.rescore(result.signature.replace(SAME.identity, unknown), PREDS, GTS)


# ---- calibration ---------------------------------------------------------------------


@pytest.mark.parametrize("model", [SAME, STATIC])
def test_a_threshold_is_calibrated_for_a_model(model):
    calibration = semmetrics.calibrate_threshold_on_pairs(PAIRS, model)

    (result,) = score("SemF1", embedding=model, calibration=calibration)

    assert calibration.embedding == model.identity
    assert f"|thr:{calibration.threshold!r}|" in result.signature


def test_pairs_and_contrast_are_calibrated_for_the_own_model():
    preds = {"a": ["couch"], "b": ["cat"], "c": ["car"]}
    gts = {"a": ["sofa"], "b": ["cat"], "c": ["automobile"]}

    by_pairs = semmetrics.calibrate_threshold_on_pairs(PAIRS)
    by_contrast = semmetrics.calibrate_threshold(
        preds, gts, holdout=1, thresholds="0:0.9:0.3"
    )

    assert by_pairs.embedding == by_contrast.embedding == SAME.identity


def test_a_calibration_of_another_model_is_an_error():
    calibration = semmetrics.calibrate_threshold_on_pairs(PAIRS, "static")

    with refused("use the calibrated one with embedding="):
        score("SemF1", calibration=calibration)


def test_the_pairs_in_the_documentation_have_the_printed_cosines():
    table = PAGE.read_text(encoding="utf-8").partition("| match | cosine |")[2]
    rows = table.split("\n")[2:12]
    assert len(rows) == 10

    for row in rows:
        match, above, other, below = map(str.strip, row.strip("|").split("|"))
        vectors = SAME.embed(match.split(", ") + other.split(", ")).vectors
        first = float(vectors[0] @ vectors[1])
        second = float(vectors[2] @ vectors[3])

        assert first > SAME.threshold > second
        assert (f"{first:.2f}", f"{second:.2f}") == (above, below)
