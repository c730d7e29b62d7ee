"""The model of labels that name the same thing: which measures use it, and what it tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny import Tiny

import semmetrics
from semmetrics.data.lists import Lists
from semmetrics.embed.coverage import measure_coverage
from semmetrics.embed.embedder import (
    CachedEmbedder,
    Embedded,
    RememberingEmbedder,
    embed_unique,
)
from semmetrics.embed.lookup import embed_terms
from semmetrics.embed.open import describe, open_embedding, opening_options
from semmetrics.embed.same import SameEmbedder
from semmetrics.kinds.labels import as_labels
from semmetrics.metrics.definition import model_key
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.studies.thresholds import (
    calibrate_threshold,
    calibrate_threshold_on_pairs,
)

MATCHED = ["SemPrecision", "SemRecall", "SemF1", "SemJaccard", "SemAP"]
OTHERS = ["SoftPrecision", "SoftRecall", "SoftF1", "MeanSim", "BagSim", "WMD", "RWMD"]
PREDS = {"a": ["couch", "dog"], "b": ["car"], "c": ["cat", "zxqwv"]}
GTS = {"a": ["sofa", "sky"], "b": ["bus"], "c": ["cat"]}
STATIC = open_embedding("static")
SAME = open_embedding("same")


class Tuned(Tiny):
    """Some of the texts were in the vocabulary that it was tuned on, and some are composed."""

    def __init__(self, vectors, tuned=(), composed=()):
        super().__init__(vectors, "tuned", threshold=0.5)
        self.tuned = tuned
        self.composed = composed

    def embed(self, texts):
        found = super().embed(texts)
        tuned = np.array([text in self.tuned for text in texts], np.bool_)
        composed = np.array([text in self.composed for text in texts], np.bool_)
        return Embedded(found.vectors, found.known, composed=composed, tuned=tuned)


class Synonyms(Tiny):
    """It knows which texts are synonyms."""

    def __init__(self, vectors, groups):
        super().__init__(vectors, "synonyms", threshold=0.5)
        self.groups = groups
        self.n_compared = 0

    def share_synset(self, first, second):
        self.n_compared += len(first)
        pairs = zip(first, second, strict=True)
        return np.array(
            [any({*pair} <= group for group in self.groups) for pair in pairs]
        )


def identity_of(signature):
    (part,) = [part for part in signature.split("|") if part.startswith("emb:")]
    return part.removeprefix("emb:")


def never(*_):
    raise AssertionError("the model was opened")


class TestNames:
    def test_it_is_opened_by_its_name(self):
        assert isinstance(SAME, SameEmbedder)
        assert open_embedding("same:") is SAME
        assert opening_options("same") == ()
        assert SAME.identity.startswith(f"semmetrics-same-{SAME.dimension}@")

    def test_it_is_named_with_the_others_that_can_be_opened(self):
        with pytest.raises(semmetrics.InputError, match="static, same, word2vec"):
            open_embedding("nonsense")

    def test_what_it_is(self):
        facts = describe("same")
        assert (facts["identity"], facts["threshold"]) == (
            SAME.identity,
            SAME.threshold,
        )
        assert (facts["lookup"], facts["dimension"]) == ("text", SAME.dimension)


class TestDefaults:
    def test_definitions_that_use_it(self):
        own = {
            one.name: one.own_embedding
            for one in all_definitions()
            if one.kind == "labels"
        }
        assert {name for name, model in own.items() if model == "same"} == set(MATCHED)
        assert {one.own_embedding for one in all_definitions()} == {"static", "same"}

    def test_each_measure_uses_the_model_of_its_definition(self):
        names = [name for name in MATCHED + OTHERS if name != "SemAP"]
        table = semmetrics.score(PREDS, GTS, measures=[*names, "SemAP@2"])
        for score in table:
            model = SAME if score.measure.definition.name in MATCHED else STATIC
            assert identity_of(score.signature) == model.identity

    @pytest.mark.parametrize(
        "embedding", ["static", {"default": "static"}, STATIC, "same"]
    )
    def test_an_embedding_that_is_given_is_that_of_all(self, embedding):
        table = semmetrics.score(
            PREDS, GTS, measures=["SemF1", "SoftF1", "WMD"], embedding=embedding
        )
        model = SAME if embedding == "same" else STATIC
        for score in table:
            assert identity_of(score.signature) == model.identity
        assert f"|thr:{model.threshold!r}|" in table["SemF1"].signature

    @pytest.mark.parametrize("measure", ["SemF1", "SoftF1"])
    def test_a_default_has_the_value_of_the_same_model_given(self, measure):
        own = {"SemF1": "same", "SoftF1": "static"}[measure]
        alone = semmetrics.score(PREDS, GTS, measures=measure)
        together = semmetrics.score(PREDS, GTS, measures=["SemF1", "SoftF1", "WMD"])
        given = semmetrics.score(PREDS, GTS, measures=measure, embedding=own)
        assert alone[measure].value == together[measure].value == given[measure].value
        assert alone[measure].signature == given[measure].signature

    def test_a_named_embedding_is_that_of_measures_that_name_it(self):
        measures = ["SemF1", "SemF1(embedding=old)", "SoftF1"]
        table = semmetrics.score(
            PREDS, GTS, measures=measures, embedding={"old": "static"}
        )
        found = [identity_of(score.signature) for score in table]
        assert found == [SAME.identity, STATIC.identity, STATIC.identity]
        with pytest.raises(
            semmetrics.InputError, match="Choose one of 'default', 'old'"
        ):
            semmetrics.score(
                PREDS, GTS, measures="SemF1(embedding=new)", embedding={"old": "same"}
            )

    def test_the_threshold_is_that_of_the_model(self):
        table = semmetrics.score(PREDS, GTS, measures="SemF1")
        assert f"|thr:{SAME.threshold!r}|" in table["SemF1"].signature

    def test_keys_of_models(self):
        keys = [
            model_key(one)
            for one in parse_all(["SemF1", "SoftF1", "SemF1(embedding=x)"])
        ]
        assert keys == ["#default, own same", "default", "x"]

    def test_captions_use_the_general_model(self):
        table = semmetrics.score(
            ["a red car"], [["a car"]], task="captions", measures="BagSim"
        )
        assert identity_of(table["BagSim"].signature) == STATIC.identity


class TestOpening:
    def test_a_model_that_no_measure_needs_is_not_opened(self, monkeypatch):
        monkeypatch.setattr("semmetrics.embed.same.open_same", never)
        model = Tiny({"couch": [1, 0], "sofa": [1, 0.1]}, threshold=0.5)
        semmetrics.score([["couch"]], [["sofa"]], measures="SemF1", embedding=model)
        semmetrics.score([["couch"]], [["sofa"]], measures=["WMD", "SoftF1"])
        semmetrics.score([["couch"]], [["sofa"]], measures="SemF1", embedding="static")
        monkeypatch.undo()
        monkeypatch.setattr("semmetrics.embed.static.open_static", never)
        semmetrics.score([["couch"]], [["sofa"]], measures="SemF1")

    def test_each_term_is_looked_up_once(self):
        model = Tiny({"couch": [1, 0], "sofa": [1, 0.1]}, threshold=0.5)
        measures = ["SemF1", "SoftF1", "SemRecall", "WMD", "MeanSim"]
        semmetrics.score([["couch"]], [["sofa"]], measures=measures, embedding=model)
        assert sorted(model.asked) == ["couch", "sofa"]

    def test_a_name_is_not_taken_for_a_default(self):
        for name in ("#same", "#default, own same"):
            with pytest.raises(semmetrics.InputError, match="do not start with '#'"):
                semmetrics.score(
                    PREDS, GTS, measures="SemF1", embedding={name: "static"}
                )

    def test_labels_are_laid_out_once_for_measures_of_both_defaults(self, monkeypatch):
        from semmetrics.metrics import label_batches

        layouts = []
        of_blocks = label_batches.BatchLayout

        def count(*parts):
            layouts.append(parts)
            return of_blocks(*parts)

        monkeypatch.setattr(label_batches, "BatchLayout", count)
        measures = ["SemF1", "SoftF1"]
        semmetrics.score([["couch"]], [["sofa"]], measures=measures, embedding="static")
        assert len(layouts) == 1

    def test_similarities_are_computed_once_for_measures_of_both_defaults(
        self, monkeypatch
    ):
        from semmetrics.metrics import label_similarity

        computed = []
        choose = label_similarity.choose_similarities

        def count(vectors, *sides):
            computed.append(vectors)
            return choose(vectors, *sides)

        monkeypatch.setattr(label_similarity, "choose_similarities", count)
        measures = ["SemF1", "SoftF1"]
        semmetrics.score([["couch"]], [["sofa"]], measures=measures, embedding="static")
        assert len(computed) == 1
        semmetrics.score([["couch"]], [["sofa"]], measures=measures)
        assert len(computed) == 3


class TestSignatures:
    @pytest.mark.parametrize("embedding", [None, "static", "same"])
    @pytest.mark.parametrize("measure", ["SemF1", "SoftF1", "WMD"])
    def test_what_a_signature_says_is_computed_again(self, measure, embedding):
        first = semmetrics.score(PREDS, GTS, measures=measure, embedding=embedding)[
            measure
        ]
        again = semmetrics.rescore(first.signature, PREDS, GTS)
        assert again.differences == []
        assert again.scores[0].value == first.value
        assert again.scores[0].signature == first.signature

    def test_of_an_earlier_version_it_uses_the_general_model(self):
        """SemF1 had the general model, and a signature of that time says so."""
        now = semmetrics.score(PREDS, GTS, measures="SemF1", embedding="static")[
            "SemF1"
        ]
        old = now.signature.replace(
            STATIC.identity, "semmetrics-static-320@000000000000"
        )
        again = semmetrics.rescore(old, PREDS, GTS)
        assert again.scores[0].value == now.value
        assert again.differences == [
            f"the embedding differs from the signature's: emb:{STATIC.identity} instead of "
            "emb:semmetrics-static-320@000000000000"
        ]

    def test_another_embedding_must_be_given_again(self):
        signature = semmetrics.score(PREDS, GTS, measures="SemF1")["SemF1"].signature
        unknown = signature.replace(SAME.identity, "semmetrics-other-96@000000000000")
        with pytest.raises(semmetrics.InputError, match="semmetrics-other-96"):
            semmetrics.rescore(unknown, PREDS, GTS)


class TestCalibration:
    def test_of_pairs(self):
        pairs = [("couch", "sofa", 1), ("car", "automobile", 1), ("car", "tree", 0)]
        assert calibrate_threshold_on_pairs(pairs).embedding == SAME.identity
        static = calibrate_threshold_on_pairs(pairs, "static")
        assert static.embedding == STATIC.identity
        table = semmetrics.score(
            PREDS, GTS, measures="SemF1", embedding="static", calibration=static
        )
        assert f"|thr:{static.threshold!r}|" in table["SemF1"].signature

    def test_an_error_tells_how_to_use_one_of_another_embedding(self):
        pairs = [("couch", "sofa", 1), ("car", "automobile", 1), ("car", "tree", 0)]
        static = calibrate_threshold_on_pairs(pairs, "static")
        with pytest.raises(
            semmetrics.InputError, match="use the calibrated one with embedding="
        ):
            semmetrics.score(PREDS, GTS, measures="SemF1", calibration=static)

    def test_by_contrast(self):
        preds = {"a": ["couch"], "b": ["cat"], "c": ["car"]}
        gts = {"a": ["sofa"], "b": ["cat"], "c": ["automobile"]}
        found = calibrate_threshold(preds, gts, holdout=1, thresholds="0:0.9:0.3")
        assert found.embedding == SAME.identity
        again = semmetrics.score(preds, gts, measures="SemF1", calibration=found)
        assert f"|thr:{found.threshold!r}|" in again["SemF1"].signature


class TestReasons:
    def test_equal_synonyms_and_similar(self):
        vectors = {"sofa": [1, 0], "couch": [1, 0.1], "seat": [1, 0.2], "sky": [0, 1]}
        model = Synonyms(vectors, [{"sofa", "couch"}])
        preds = [["couch"], ["seat"], ["sofa"], ["sky"], [["seat", "couch"]]]
        gts = [["sofa"], ["sofa"], ["sofa"], ["sofa"], ["sofa"]]
        rows = list(
            semmetrics.score(preds, gts, measures="SemF1", embedding=model).matches()
        )
        reasons = [row["reason"] for row in rows]
        assert reasons == ["same synset", "similar", "equal", None, None, "same synset"]
        plain = Tiny(vectors, threshold=0.5)
        rows = semmetrics.score(preds, gts, measures="SemF1", embedding=plain).matches()
        assert [row["reason"] for row in rows] == [
            "similar",
            "similar",
            "equal",
            None,
            None,
            "similar",
        ]

    def test_each_pair_of_labels_is_compared_once(self):
        model = Synonyms({"sofa": [1, 0], "couch": [1, 0.1]}, [{"sofa", "couch"}])
        table = semmetrics.score(
            [["couch"]] * 50, [["sofa"]] * 50, measures="SemF1", embedding=model
        )
        assert {row["reason"] for row in table.matches()} == {"same synset"}
        assert model.n_compared == 1

    def test_labels_are_asked_for_as_they_are_looked_up(self):
        model = Synonyms(
            {"pool table": [1, 0], "sofa": [1, 0.1]}, [{"pool table", "sofa"}]
        )
        table = semmetrics.score(
            [["pool_table"]], [["sofa"]], measures="SemF1", embedding=model
        )
        assert table.matches()[0]["reason"] == "same synset"

    def test_of_the_model_of_the_package(self):
        measure = "SemF1(threshold=-1)"  # whatever their similarity
        table = semmetrics.score(
            [["couch"], ["couch"]], [["sofa"], ["couch"]], measures=measure
        )
        assert [row["reason"] for row in table.matches()] == ["same synset", "equal"]
        assert table.matches().columns == (
            "id",
            "system",
            "rank",
            "prediction",
            "reference",
            "reason",
            "similarity",
            "nearest",
        )

    def test_models_around_it_know_its_synsets(self, tmp_path):
        for model in (
            RememberingEmbedder(SAME),
            CachedEmbedder(SAME, tmp_path / "cache.sqlite"),
        ):
            assert model.share_synset(["couch", "couch"], ["sofa", "car"]).tolist() == [
                True,
                False,
            ]


VECTORS = {"cat": [1, 0], "kitten": [1, 0.1], "dog": [0, 1], "zx": [1, 1]}
PARTLY_TUNED = Tuned(VECTORS, tuned={"cat", "dog"}, composed={"zx"})


class TestUntuned:
    def test_terms(self):
        found = embed_terms(["cat", "kitten", "zx", "nothing"], PARTLY_TUNED)
        assert found.untuned.tolist() == [False, True, False, False]
        assert found.composed.tolist() == [False, False, True, False]
        assert found.counts["untuned"] == found.counts["composed"] == 1
        plain = embed_terms(["cat", "kitten"], Tiny(VECTORS))
        assert not plain.untuned.any()
        assert plain.counts["untuned"] == 0

    def test_it_is_kept_in_memory(self):
        texts = ["kitten", "cat", "kitten"]
        remembering = RememberingEmbedder(PARTLY_TUNED)
        for _ in range(2):
            assert remembering.embed(texts).tuned.tolist() == [False, True, False]
        assert embed_unique(PARTLY_TUNED, texts).tuned.tolist() == [False, True, False]
        assert RememberingEmbedder(Tiny(VECTORS)).embed(texts).tuned is None
        assert embed_unique(Tiny(VECTORS), texts).tuned is None

    def test_a_note_counts_them(self):
        preds, gts = [["kitten", "zx"], ["cat"]], [["cat"], ["dog"]]
        table = semmetrics.score(
            preds, gts, measures=["SemF1", "SoftF1"], embedding=PARTLY_TUNED
        )
        (note,) = [note for note in table.notes if "tuned on" in note]
        assert note == (
            "preds: 1 distinct term outside the vocabulary that tuned-2@000000000000 was tuned on, "
            "such as 'kitten'"
        )
        (note,) = [note for note in table.notes if "parts of words" in note]
        assert "'zx'" in note
        plain = semmetrics.score(preds, gts, measures="SemF1", embedding=Tiny(VECTORS))
        assert not any("tuned on" in note for note in plain.notes)

    def test_coverage(self):
        labels: Lists = as_labels(
            {"a": ["cat", "kitten", ["zx", "kitten"]], "b": ["zx", "kitten"]}
        )
        (found,) = measure_coverage({"vet": labels}, PARTLY_TUNED)
        assert (found.untuned, found.untuned_names) == (3, ("kitten", "zx, kitten"))
        assert (found.composed, found.composed_names) == (1, ("zx",))
        assert found.to_dict()["untuned"] == 3


def test_the_pairs_of_the_documentation():
    page = Path(__file__).parents[2] / "docs" / "measures" / "semantic.md"
    rows = (
        page.read_text(encoding="utf-8")
        .partition("| match | cosine |")[2]
        .split("\n")[2:12]
    )
    assert len(rows) == 10
    for row in rows:
        same, above, other, below = (cell.strip() for cell in row.strip("|").split("|"))
        vectors = SAME.embed([*same.split(", "), *other.split(", ")]).vectors
        first = float(vectors[0] @ vectors[1])
        second = float(vectors[2] @ vectors[3])
        assert first > SAME.threshold > second
        assert (f"{first:.2f}", f"{second:.2f}") == (above, below)


def test_both_models_in_one_table():
    table = semmetrics.score(PREDS, GTS, measures="SemF1 SemF1(embedding=static)")
    first, second = (score.signature for score in table)
    assert f"emb:{SAME.identity}|" in first
    assert f"emb:{STATIC.identity}|" in second
    alone = semmetrics.score(PREDS, GTS, measures="SemF1", embedding="static")
    assert table["SemF1(embedding=static)"].value == alone["SemF1"].value


def test_forms_of_one_name_have_a_reason_of_their_own():
    predicted = {"a": ["Dogs", "couch", "cat"]}
    reference = {"a": ["a dog", "sofa", "cat"]}
    table = semmetrics.score(predicted, reference, measures="SemF1")
    reasons = [row["reason"] for row in table.matches()]
    assert reasons == ["same name", "same synset", "equal"]
