"""What is probably a mistake is noted: labels by spelling, joined cells, swapped sides."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from refusals import codes, facts, refused
from tiny import Tiny

import semmetrics
from semmetrics.embed.static import StaticEmbedder
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.task import join_captions
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels import facts as label_facts
from semmetrics.kinds.labels.normalization import normalization, singular
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.registry import parse_all
from semmetrics.options import resolve_options
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.score_text import report_shared
from semmetrics.text.tokenizers import open_tokenizer


def scored(preds, gts, **options):
    return semmetrics.score(preds, gts, measures=options.pop("measures", "F1"), **options)


def noted(preds, gts, **options):
    return codes(scored(preds, gts, **options))


# ---- labels that are alike -----------------------------------------------------------------------

LOWER = "case or surrounding blanks"


@pytest.mark.parametrize(
    ("pred", "ref", "what", "name"),
    [
        ("person", "Person", LOWER, "lower"),
        (" person", "person", LOWER, "lower"),
        ("person ", "Person", LOWER, "lower"),
        ("traffic_light", "traffic light", "blanks, _ or -", "separators"),
        ("t-shirt", "t shirt", "blanks, _ or -", "separators"),
        ("cats", "cat", "plural", "plural"),
        ("Boxes", "box", f"{LOWER} or plural", "lower+plural"),
        ("Traffic_Lights", "traffic light", f"{LOWER} or blanks, _ or - or plural",
         "lower+separators+plural"),
    ],
)  # fmt: skip
def test_labels_that_differ_by_spelling_are_noted_and_joined(pred, ref, what, name):
    preds, gts = [[pred], [pred, "cow"], ["cow"]], [[ref], [ref, "cow"], ["cow"]]
    (fact,) = scored(preds, gts).facts
    assert (fact.code, fact.n, fact.where) == ("spelling", 2, "preds")
    assert fact.examples == (f"{pred!r} and {ref!r}",)
    assert fact.values == {"side": "predicted", "items": 2, "ways": what, "rules": name}
    table = semmetrics.score(preds, gts, measures="F1", normalize=name)
    assert (table["F1"].value, table.notes) == (1.0, [])
    assert f"|norm:{name}|" in table["F1"].signature
    assert semmetrics.rescore(table["F1"].signature, preds, gts).differences == []


def doubled(preds, gts, **options):
    """What is noted of a ground truth in two spellings."""
    found = facts(scored(preds, gts, **options), "spelling")
    return [(fact.n, fact.values["items"], fact.values["rules"], fact.where) for fact in found]


@pytest.mark.parametrize(
    ("preds", "gts", "expected"),
    [
        ([["person"], ["dog"]], [["Person", "person"], ["dog"]], [(2, 1, "lower", "gts")]),
        ([["Person"], ["fox"]], [["Person", "person"], ["dog"]], [(2, 1, "lower", "gts")]),
        # nothing is left of separators alone, so nothing joins them
        ([["person"], ["_"]], [["Person", "person"], ["_"]], [(2, 1, "lower", "gts")]),
        ([["person"], ["- -"]], [["Person", "person"], ["- -"]], [(2, 1, "lower", "gts")]),
        ([["cat"], ["__"]], [["cat"], ["_"]], []),
        ([["cat"], ["__"]], [["cat"], ["- -"]], []),
        # labels that share a synonym are not two spellings
        ([["cat"]] * 2, [[("cat", "animal")], [("dog", "animal")]], []),
        ([["cat"]] * 3, [[("cat", "animal")], [("dog", "animal")], [("Animal", "cow")]],
         [(3, 3, "lower", "gts")]),
        ([["Trash can"]], [[("ashcan", "trash can")]], [(1, 1, "lower", "preds")]),
        ([["cat"], ["x"], ["Dog"]], [["cat", "Dog"], ["x"], ["dog"]], [(2, 2, "lower", "gts")]),
        ([["cat"], ["x"], ["a_b"]], [["cat", "a_b"], ["x"], ["a b"]],
         [(2, 2, "separators", "gts")]),
        ([["cat"], ["x"], ["A_b"]], [["cat", "A_b"], ["x"], ["a b"]],
         [(2, 2, "lower+separators", "gts")]),
        ([["cat"], ["Dog"]], [["cat"], ["Dog", "cows", "cow"]], []),
        # a remedy joins what either side needs
        ([["Cat"], ["x"]], [["cat", "a_b"], ["a b"]],
         [(1, 1, "lower+separators", "preds"), (2, 2, "lower+separators", "gts")]),
    ],
)  # fmt: skip
def test_spellings_of_the_ground_truth(preds, gts, expected):
    assert doubled(preds, gts) == expected


def test_a_class_of_the_class_list_is_no_misspelling_of_another():
    options = {"classes": ["dog", "Dog"]}
    assert doubled([["Dog"], ["dog"]], [["dog"], ["Dog"]], **options) == []
    assert doubled([["Dog"], ["dog"]], [["dog"], ["dog"]], **options) == []


def test_normalisations_are_added_to_the_one_in_use_and_a_protocol_keeps_its_own():
    preds, gts = {"a": ["Cats"]}, {"a": ["cat"]}
    assert doubled(preds, gts, normalize="lower") == [(1, 1, "lower+plural", "preds")]
    assert doubled(preds, gts, normalize="kubany2020") == [(1, 1, "kubany2020+plural", "preds")]
    (fact,) = facts(semmetrics.score(preds, gts, protocol="kubany2020"), "spelling-kept")
    assert fact.values["protocol"] == "kubany2020"


def test_what_is_alike_is_what_the_normalisations_join():
    clean, draw = normalization("lower+separators+plural"), random.Random(5)
    letters = "abcdES sx_-\té"
    for _ in range(3000):
        text = "".join(draw.choice(letters) for _ in range(draw.randrange(1, 12)))
        assert clean(text) in (tuple(label_facts._folded([text])), ()), text


class CountedPair(tuple):
    """A pair that counts how often anybody asks what it is equal to."""

    __slots__ = ()
    looks = 0

    def __hash__(self):
        CountedPair.looks += 1
        return super().__hash__()

    def __eq__(self, other):
        CountedPair.looks += 1
        return super().__eq__(other)


def test_work_on_labels_that_are_alike_grows_with_their_number(monkeypatch):
    def counted_normalization(rules):
        clean = normalization(rules)

        def counted(text):
            CountedPair.looks += 1
            return clean(text)

        return counted

    monkeypatch.setattr(label_facts, "normalization", counted_normalization)
    forms = [
        ("Label {}", "label {}"),
        ("a-label {}", "a label {}"),
        ("Big_label {}", "big label {}"),
    ]
    looks = {}
    for number in (50, 400):
        CountedPair.looks = 0
        pairs = [
            CountedPair(text.format(n) for text in forms[n % len(forms)]) for n in range(number)
        ]
        assert label_facts._needed_steps(pairs) == {"lower", "separators"}
        looks[number] = CountedPair.looks
    assert looks[400] <= 8.5 * looks[50]  # with the number of pairs, not with its square


@pytest.mark.parametrize("name", ["none+lower", "lower+lower", "lower+", "stem", "", None, 3])
def test_normalisations_that_mean_nothing_are_refused(name):
    with refused("bad-option", name="normalize"):
        normalization(name)


def test_plurals():
    pairs = (
        "cats cat, boxes box, dishes dish, watches watch, glasses glass, berries berry, "
        "cookies cookie, houses house, horses horse, roses rose, buses bus, lenses lens, "
        "tomatoes tomato, shoes shoe, gloves glove, series series, tennis tennis, glass glass, "
        "cactus cactus, men men, axes axe, gas gas"
    )
    for pair in pairs.split(", "):
        plural, one = pair.split()
        assert (singular(plural), singular(one)) == (one, one)


# ---- delimiters, and labels of one side ----------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", "|", ",", "\t"])
def test_labels_in_one_text_are_noted(delimiter):
    joined, gts = [[f"cat{delimiter}dog"], ["cow"]], [["cat", "dog"], ["cow"]]
    for preds, refs, where in ((joined, gts, "preds"), (gts, joined, "gts")):
        (fact,) = scored(preds, refs).facts
        assert (fact.code, fact.n, fact.where) == ("joined-labels", 1, where)
        assert (fact.values["delimiter"], fact.examples) == (delimiter, (joined[0][0],))


def test_names_with_commas_are_no_lists():
    names = ["tench, Tinca tinca", "goldfish, Carassius auratus", "hammerhead, hammerhead shark"]
    gts = [[name] for name in names]
    assert noted(gts, gts) == []
    assert semmetrics.validate(gts, task="labels")["odd"] == []
    others = [*gts, *([[f"label {n}"]] for n in range(5))]
    assert noted(others, others) == []
    # one odd name among many
    assert noted([["rhythm, blues"]] + 9 * [["cat"]] + [["dog"]], 10 * [["cat"]] + [["dog"]]) == []


def test_csv_with_labels_in_one_cell(tmp_path):
    preds, gts = tmp_path / "a.csv", tmp_path / "b.csv"
    preds.write_text("id,label\n1,cat;dog\n2,cow\n3,dog;cow\n")
    gts.write_text("id,label\n1,cat;cow\n2,cow\n3,cow;dog\n")
    found = facts(scored(preds, gts), "joined-labels")
    assert [(fact.n, fact.where) for fact in found] == [(2, "a"), (2, str(gts))]
    assert len(semmetrics.validate(preds)["odd"]) == 1
    read = semmetrics.ReadOptions(label_delimiter=";")
    assert noted(preds, gts, read=read) == []
    assert semmetrics.validate(preds, read=read)["odd"] == []


def test_sides_that_share_hardly_any_label():
    preds, gts = [[f"p{n}"] for n in range(20)], [[f"g{n}"] for n in range(20)]
    (fact,) = scored(preds, gts).facts
    assert (fact.code, fact.n, fact.examples) == ("one-sided-labels", 20, ("p0",))
    assert fact.values["total"] == 20
    assert noted(preds[:9], gts[:9]) == []
    assert noted([["g1"], ["g2"], *preds[2:]], gts) == []


# ---- captions for labels, labels for captions, sides that are swapped ----------------------------


def test_labels_for_captions_and_captions_for_labels():
    captions = {"1": ["a cat sits on a mat"], "2": ["the dog runs in the park"]}
    labels = {"1": ["cat"], "2": ["dog"]}
    (fact,) = scored(labels, captions, measures="BLEU-1").facts
    assert (fact.code, fact.values) == ("single-words", {"side": "candidates", "mean": 1.0})
    found = facts(scored(captions, captions, measures="F1"), "sentences")
    assert [(fact.values["side"], fact.values["mean"], fact.where) for fact in found] == [
        ("predicted", 6.0, "preds"), ("reference", 6.0, "gts"),
    ]  # fmt: skip
    assert noted(captions, captions, measures="BLEU-1") == noted(labels, labels) == []
    (odd,) = semmetrics.validate(labels, task="captions")["odd"]
    assert "task='labels'" in odd
    odd = semmetrics.validate(captions, task="labels")["odd"]
    assert any("task='captions'" in line for line in odd)


@pytest.mark.parametrize("block", [1, 3, 256])
@pytest.mark.parametrize(
    ("captions", "mean"),
    [
        (["cat", "", "a dog", "mat", "hat"], "1.2"),
        (["a cat", "a dog", "", "mat"], None),
        (["cat", "dog", "mat", "rat", "a long caption of words"], None),
        (["a long caption of words", *(f"w{n}" for n in range(9))], "1.4"),
        (["", ""], None),
    ],
)
def test_single_words_are_told_from_captions_in_blocks(monkeypatch, block, captions, mean):
    monkeypatch.setattr("semmetrics.kinds.captions.task._BLOCK", block)
    odd = "\n".join(semmetrics.validate(captions, task="captions")["odd"])
    assert ("single words" in odd) == (mean is not None)
    assert mean is None or f" {mean} on average" in odd


def test_lists_written_as_text_are_noted(tmp_path):
    file = tmp_path / "p.csv"
    rows = [{"id": "a", "labels": ["boat", "bus"]}, {"id": "b", "labels": ["cat"]}]
    pd.DataFrame(rows).to_csv(file, index=False)
    gts = {"a": ["boat", "bus"], "b": ["cat"]}
    for read, n in ((None, 2), (semmetrics.ReadOptions(label_delimiter=","), 3)):
        (fact,) = scored(file, gts, read=read).facts
        assert (fact.code, fact.n, fact.where) == ("lists-as-text", n, "p")
    assert noted(file, file) == ["lists-as-text"] * 2
    assert len(semmetrics.validate(file)["odd"]) == 1
    assert noted({"a": ["[sic]", "cat's"], "b": []}, gts) == []


def test_sides_that_look_swapped(tmp_path):
    one, several = {"1": ["a cat sits here"]}, {"1": ["a cat sat", "the cat is here"]}
    assert "swapped-sides" in noted(several, one, measures="BLEU-1")
    assert noted(one, several, measures="BLEU-1") == []
    with_scores = {"1": {"cat": 0.9, "dog": 0.2}}
    assert noted({"1": ["cat"]}, with_scores) == ["swapped-sides"]
    assert noted(with_scores, {"1": ["cat"]}, measures="mAP") == []
    for name in ("gt.json", "preds.json"):
        (tmp_path / name).write_text(json.dumps({"1": ["cat"]}))
    assert noted(tmp_path / "gt.json", tmp_path / "preds.json") == ["swapped-sides"]
    assert noted(tmp_path / "preds.json", tmp_path / "gt.json") == []


# ---- merging and grouping ------------------------------------------------------------------------


def test_what_is_odd_survives_merging():
    preds = {"a": ["person"], "b": ["cat;dog"], "c": ["Dogs"], "d": ["cow"]}
    gts = {"a": ["Person"], "b": ["cat"], "c": ["dog"], "d": ["cow"]}
    task = label_task(as_labels(preds), as_labels(gts))
    measures = parse_all(["F1"])
    whole = evaluate(task, measures)
    halves = [evaluate(task.take(np.array(rows)), measures) for rows in ([0, 1], [2, 3])]
    assert set((halves[0] + halves[1]).noted) == set(whole.noted)
    ids = [("a", "b"), ("c", "d")]
    parts = [
        label_task(*(as_labels({name: side[name] for name in some}) for side in (preds, gts)))
        for some in ids
    ]
    merged = evaluate(parts[0], measures) + evaluate(parts[1], measures)
    options = {"normalize": "none", "protocol": None}
    delimiter, spelling = label_facts.oddity_facts(merged.noted, "pred", "x", options)
    assert (spelling.n, spelling.values["items"]) == (2, 2)
    assert (spelling.examples, spelling.values["rules"]) == (("'Dogs' and 'dog'",), "lower+plural")
    assert (delimiter.code, delimiter.n) == ("joined-labels", 1)


def test_captions_that_are_odd_survive_merging():
    words = open_tokenizer("whitespace")
    sides = [{"a": ["cat"]}, {"b": ["dog"]}]
    parts = [
        evaluate(join_captions(as_captions(one), as_captions(one), tokenizer=words),
                 parse_all(["BLEU-1"])) for one in sides
    ]  # fmt: skip
    noted = (parts[0] + parts[1]).noted
    assert noted["words of", "pred", "entries"] == noted["words of", "pred", "words"] == 2


def test_notes_of_many_systems_are_one():
    gts = {str(n): ["Person", "dog"] for n in range(9)}
    systems = {
        f"s{k}": {key: ["person"] if int(key) < k else ["dog"] for key in gts} for k in range(1, 8)
    }
    table = semmetrics.score_systems(systems, gts, measures="F1")
    assert len(table.facts) == 7
    (note,) = table.notes
    assert note.startswith("all 7 systems: 1 to 7 predicted labels in 1 to 7 items ")
    joined = {key: ["cat;dog"] for key in gts}
    table = semmetrics.score_systems(dict.fromkeys("abcde", gts), joined, measures="F1")
    assert codes(table).count("joined-labels") == 1  # of the ground truth


# ---- thresholds, composed labels, signatures, what has no effect ---------------------------------


@pytest.mark.parametrize(
    ("measures", "noted"),
    [("SemF1", True), ("SemF1(threshold=0.4)", False), ("SoftF1", False), ("F1", False)],
)
def test_a_threshold_that_nobody_calibrated_is_noted(measures, noted):
    plain = Tiny({"a": [1.0, 0.0], "b": [0.6, 0.8]})
    found = facts(scored([["a"]], [["b"]], measures=measures, embedding=plain), "uncalibrated")
    values = {"threshold": 0.4, "model": plain.identity}
    assert [fact.values for fact in found] == [values] * noted


@pytest.mark.parametrize("name", ["word2vec-googlenews-300", "GoogleNews-vectors"])
def test_word2vec_has_the_threshold_of_its_paper(name):
    from semmetrics.embed.words import MatrixEmbedder

    model = MatrixEmbedder(np.eye(2), ["cat", "dog"], name=name)
    assert noted([["cat"]], [["dog"]], measures="SemF1", embedding=model) == []


def test_composed_labels_are_counted_beside_the_unknown():
    model = StaticEmbedder()
    found = model.embed(["cat", "xqzlaptop", "red laptop", "日本"])
    assert found.composed.tolist() == [False, True, False, False]
    assert found.known.tolist() == [True, True, True, False]
    lists = {"1": ["xqzlaptop", "cat", "日本"], "2": ["xqzlaptop"]}
    (fact,) = facts(scored(lists, lists, measures="SemF1"), "composed-texts")
    assert (fact.n, fact.examples) == (1, ("xqzlaptop",))
    from semmetrics.embed.lookup import measure_coverage

    (found,) = measure_coverage({"s": as_labels(lists)}, model)
    assert (found.labels, found.unknown, found.composed) == (4, 1, 2)
    assert found.to_dict()["composed_names"] == ["xqzlaptop"]


def test_what_signatures_do_not_share_is_shown():
    other = Tiny({"cat": [1.0, 0.0], "dog": [0.6, 0.8]})
    measures = ["F1", "SemF1", "SemF1(embedding=own)"]
    table = semmetrics.score([["cat"]], [["dog"]], measures=measures, embedding={"own": other})
    first, static, both, own = report_shared(table).split("\n")
    assert "emb:" not in first
    assert both == "signatures of SemF1, SemF1(embedding=own): lookup:text|oov:zero"
    assert static.startswith("signatures of SemF1: thr:0.5|emb:semmetrics-static-")
    assert own.startswith(f"signatures of SemF1(embedding=own): thr:0.4|emb:{other.identity}")
    systems = {"a": {"1": ["cat"], "2": ["cat"]}, "b": {"1": ["cat"]}}
    gts = {"1": ["cat"], "2": ["dog"]}
    table = semmetrics.score_systems(systems, gts, measures="F1", missing="skip")
    _, a, b = report_shared(table).split("\n")
    assert a.startswith("signatures of a: n:2|data:")
    assert b.startswith("signatures of b: n:1|data:")


def test_weights_of_no_item_are_noted():
    lists = {"a": ["cat"], "b": ["dog"]}
    (fact,) = scored(lists, lists, weights={"a": 1, "b": 2, "x": 3, "y": 4}).facts
    assert (fact.code, fact.n, fact.examples) == ("unused-weights", 2, ("x", "y"))
    assert fact.values == {"total": 4}
    found = noted({"a": ["cat"]}, lists, weights={"a": 1, "b": 2}, missing="skip")
    assert found == ["missing-prediction"]
    captions, weights = {"a": "a cat sits here"}, {"a": 1, "x": 1}
    found = noted(captions, {"a": ["a cat"]}, measures="BLEU-1", weights=weights)
    assert found[-1:] == ["unused-weights"]


def test_cutoffs_and_rules_that_no_measure_takes_are_noted():
    scores = {"a": {"cat": 0.9, "dog": 0.2}}
    measures = ["F1", "Recall@5", "mAP"]
    notes = scored(scores, {"a": ["cat"]}, measures=measures, top_k=3).notes
    assert "top_k= has no effect on Recall@5, which takes its own cutoff" in notes
    assert "top_k= has no effect on mAP, which takes none" in notes
    measures = ["F1(decode=threshold:0.1)", "mAP"]
    notes = scored(scores, {"a": ["cat"]}, measures=measures, decode="threshold:0.5").notes
    own = "F1(decode=threshold:0.1), which takes its own rule"
    assert f"decode= has no effect on {own}" in notes
    (note,) = scored(scores, {"a": ["cat"]}, measures=["F1", "mAP"], threshold=0.5).notes
    assert note == "threshold= has no effect on mAP, which takes none"
    assert noted([["cat"]], [["cat"]], measures=["F1", "MacroF1"], top_k=3) == []
    probs = np.full((1, 3), 1 / 3)
    (fact,) = scored({"a": {"cat": 0.9}}, {"a": ["cat"]}, set_size_probs=probs).facts
    assert (fact.code, fact.values["option"]) == ("no-effect", "set_size_probs")
    with refused("unknown-name", "set_size_probs", value="x"):
        scored(scores, {"a": ["cat"]}, set_size_probs={"x": probs})


def test_keys_that_mean_nothing_are_refused(tmp_path):
    path = tmp_path / "df.json"
    path.write_text('{"documents": 3, "frequencies": {"a": 1}, "tokeniser": "ptb"}')
    with refused("unknown-name"):
        semmetrics.DocumentFrequencies.load(path)
    found = semmetrics.calibrate_threshold_on_pairs(
        [("car", "automobile", 1), ("car", "tree", 0)]
    ).to_dict()
    path.write_text(json.dumps(found | {"treshold": 0.3}))
    with refused("not-a-calibration"):
        semmetrics.score([["a"]], [["a"]], measures="SemF1", calibration=path)


def test_nothing_is_noted_of_a_calibration_that_is_being_made():
    task = label_task(as_labels([["a"]]), as_labels([["a"]]))
    options = resolve_options({}, "labels")
    tasks = {"s": {"": replace(task)}}
    assert label_facts.uncalibrated_facts(tasks, parse_all(["F1"]), options) == []
