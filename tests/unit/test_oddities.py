"""What is probably a mistake is said: labels by spelling, joined cells, swapped sides."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tiny import Tiny

import semmetrics
from semmetrics.embed.static import StaticEmbedder
from semmetrics.errors import InputError
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.captions.task import join_captions
from semmetrics.kinds.labels import as_labels, oddities
from semmetrics.kinds.labels.facts import _folded
from semmetrics.kinds.labels.normalization import normalization, singular
from semmetrics.kinds.labels.oddities import oddity_notes
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.registry import parse_all
from semmetrics.reports.score_text import report_shared
from semmetrics.scoring.statistics import evaluate
from semmetrics.text.tokenizers import open_tokenizer


def said(preds, gts, **options):
    return semmetrics.score(preds, gts, measures=options.pop("measures", "F1"), **options).notes


# ---- labels that are alike -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pred", "ref", "what", "name"),
    [
        ("person", "Person", "case", "lower"),
        (" person", "person", "white space around it", "lower"),
        ("person ", "Person", "case or white space around it", "lower"),
        ("traffic_light", "traffic light", "blanks, _ or -", "separators"),
        ("t-shirt", "t shirt", "blanks, _ or -", "separators"),
        ("cats", "cat", "plural", "plural"),
        ("Boxes", "box", "case or plural", "lower+plural"),
        ("Traffic_Lights", "traffic light", "case or blanks, _ or - or plural",
         "lower+separators+plural"),
    ],
)  # fmt: skip
def test_labels_that_differ_by_spelling_are_said_and_joined(pred, ref, what, name):
    preds, gts = [[pred], [pred, "cow"], ["cow"]], [[ref], [ref, "cow"], ["cow"]]
    (note,) = said(preds, gts)
    assert note == (
        f"preds: 2 predicted labels in 2 items differ from a reference label only by {what} "
        f"({pred!r} and {ref!r}): normalize={name!r} (--normalize {name}) joins them"
    )
    table = semmetrics.score(preds, gts, measures="F1", normalize=name)
    assert (table["F1"].value, table.notes) == (1.0, [])
    assert f"|norm:{name}|" in table["F1"].signature
    assert semmetrics.rescore(table["F1"].signature, preds, gts).differences == []


def test_labels_that_are_there_as_they_are_written_are_not_said():
    gts = [["Person", "person"], ["dog"]]
    (note,) = said([["person"], ["dog"]], gts)
    assert note.startswith("2 reference labels in 1 item differ from another one only by case")
    assert said([["Person"], ["fox"]], gts) == [note]


@pytest.mark.parametrize("separators", ["_", "- -"])
def test_labels_of_separators_alone_are_like_no_other(separators):
    """The normalisations leave nothing of them, so none joins them."""
    gts = [["Person", "person"], [separators]]
    (note,) = said([["person"], [separators]], gts)
    assert note.startswith("2 reference labels in 1 item differ from another one only by case")
    assert said([["cat"], ["__"]], [["cat"], [separators]]) == []


def test_labels_that_share_a_synonym_are_not_two_spellings():
    gts = [[("cat", "animal")], [("dog", "animal")]]
    shared = "gts: terms that several classes share: 1"
    assert [note for note in said(gts, gts) if note != shared] == ["preds: " + shared[5:]]
    (note,) = said([["cat"]] * 3, [*gts, [("Animal", "cow")]])[1:]
    assert note.startswith("3 reference labels in 3 items differ from another one only by case")
    assert "('animal' and 'Animal')" in note


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [("Dog", "dog", "lower"), ("a_b", "a b", "separators"), ("A_b", "a b", "lower+separators")],
)
def test_a_ground_truth_in_two_spellings_is_said(first, second, rule):
    (note,) = said([["cat"], ["x"], [first]], [["cat", first], ["x"], [second]])
    assert note.startswith("2 reference labels in 2 items differ from another one only by")
    assert f"normalize={rule!r} (--normalize {rule}) joins them" in note
    assert said([["cat"], [first]], [["cat"], [first, "cows", "cow"]]) == []


def test_a_remedy_joins_what_either_side_needs():
    notes = said([["Cat"], ["x"]], [["cat", "a_b"], ["a b"]])
    assert len(notes) == 2
    assert all("--normalize lower+separators" in note for note in notes)
    # a class of the class list is no misspelling of another
    assert said([["Dog"], ["dog"]], [["dog"], ["Dog"]], classes=["dog", "Dog"]) == []
    assert said([["Dog"], ["dog"]], [["dog"], ["dog"]], classes=["dog", "Dog"]) == []


def test_normalisations_are_added_to_the_one_in_use_and_a_protocol_keeps_its_own():
    preds, gts = {"a": ["Cats"]}, {"a": ["cat"]}
    assert "(--normalize lower+plural) joins" in said(preds, gts, normalize="lower")[0]
    assert "(--normalize kubany2020+plural) joins" in said(preds, gts, normalize="kubany2020")[0]
    notes = semmetrics.score(preds, gts, protocol="kubany2020").notes
    assert any("protocol kubany2020 compares them as they are" in note for note in notes)


def test_synonyms_are_looked_at_one_by_one():
    (note,) = said([["Trash can"]], [[("ashcan", "trash can")]])
    assert "('Trash can' and 'trash can'): normalize='lower' (--normalize lower) joins them" in note


def test_what_is_alike_is_what_the_normalisations_join():
    clean, draw = normalization("lower+separators+plural"), random.Random(5)
    letters = "abcdES sx_-\té"
    for _ in range(3000):
        text = "".join(draw.choice(letters) for _ in range(draw.randrange(1, 12)))
        assert clean(text) in (tuple(_folded([text])), ()), text


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

    monkeypatch.setattr(oddities, "normalization", counted_normalization)
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
        assert oddities._needed_steps(pairs) == {"lower", "separators"}
        looks[number] = CountedPair.looks
    assert looks[400] <= 8.5 * looks[50]  # with the number of pairs, not with its square


@pytest.mark.parametrize("name", ["none+lower", "lower+lower", "lower+", "stem", "", None, 3])
def test_normalisations_that_mean_nothing_are_refused(name):
    with pytest.raises(InputError, match="label normalisation"):
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
def test_labels_in_one_text_are_said(delimiter):
    joined, gts = [[f"cat{delimiter}dog"], ["cow"]], [["cat", "dog"], ["cow"]]
    sign = "a tab" if delimiter == "\t" else repr(delimiter)
    (note,) = said(joined, gts)
    assert note.startswith(f"preds: 1 predicted label holds {sign} (such as {joined[0][0]!r}): ")
    assert note.endswith('write them as a list: ["cat", "dog"]')
    (note,) = said(gts, joined)
    assert note.startswith(f"1 reference label holds {sign}")


def test_names_with_commas_are_no_lists():
    names = ["tench, Tinca tinca", "goldfish, Carassius auratus", "hammerhead, hammerhead shark"]
    gts = [[name] for name in names]
    assert said(gts, gts) == []
    assert semmetrics.validate(gts, task="labels")["odd"] == []
    others = [*gts, *([[f"label {n}"]] for n in range(5))]
    assert said([*gts, *([[f"label {n}"]] for n in range(5))], others) == []
    # one odd name among many
    assert said([["rhythm, blues"]] + 9 * [["cat"]] + [["dog"]], 10 * [["cat"]] + [["dog"]]) == []


def test_csv_with_labels_in_one_cell(tmp_path):
    text = "id,label\n1,cat;dog\n2,cow\n3,dog;cow\n"
    preds, gts = tmp_path / "a.csv", tmp_path / "b.csv"
    preds.write_text(text)
    gts.write_text("id,label\n1,cat;cow\n2,cow\n3,cow;dog\n")
    notes = said(preds, gts)
    assert [note.partition(" hold ';'")[0] for note in notes] == [
        "a: 2 predicted labels", "2 reference labels",
    ]  # fmt: skip
    assert all(note.endswith("(--label-delimiter ';')") for note in notes)
    odd = semmetrics.validate(preds)["odd"]
    assert "say label_delimiter=';' in ReadOptions (--label-delimiter ';')" in odd[-1]
    read = semmetrics.ReadOptions(label_delimiter=";")
    assert said(preds, gts, read=read) == []
    assert semmetrics.validate(preds, read=read)["odd"] == []


def test_sides_that_share_hardly_any_label():
    preds, gts = [[f"p{n}"] for n in range(20)], [[f"g{n}"] for n in range(20)]
    (note,) = said(preds, gts)
    assert note == (
        "preds: 20 of 20 predicted labels occur nowhere in the ground truth (such as 'p0'): do "
        "both sides write labels in one way?"
    )
    assert said(preds[:9], gts[:9]) == []
    assert said([["g1"], ["g2"], *preds[2:]], gts) == []


# ---- captions for labels, labels for captions, sides that are swapped ----------------------------


def test_labels_for_captions_and_captions_for_labels():
    captions = {"1": ["a cat sits on a mat"], "2": ["the dog runs in the park"]}
    labels = {"1": ["cat"], "2": ["dog"]}
    (note,) = said(labels, captions, measures="BLEU-1")
    assert note == (
        "the candidates are single words, 1.0 each on average; of labels say task='labels' "
        "(--task labels)"
    )
    notes = said(captions, captions, measures="F1")
    assert [note.partition(" labels are sentences, 6.0 words")[0] for note in notes] == [
        "preds: the predicted", "the reference",
    ]  # fmt: skip
    assert said(captions, captions, measures="BLEU-1") == said(labels, labels) == []
    assert (
        "of labels say task='labels' (--task labels)"
        in semmetrics.validate(labels, task="captions")["odd"][-1]
    )
    odd = semmetrics.validate(captions, task="labels")["odd"]
    assert any("of captions say task='captions' (--task captions)" in line for line in odd)


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
    odd = semmetrics.validate(captions, task="captions")["odd"]
    found = re.findall("single words, (.*) each", "\n".join(odd))
    assert found == ([] if mean is None else [mean])


def test_lists_written_as_text_are_said(tmp_path):
    file = tmp_path / "p.csv"
    rows = [{"id": "a", "labels": ["boat", "bus"]}, {"id": "b", "labels": ["cat"]}]
    pd.DataFrame(rows).to_csv(file, index=False)
    gts = {"a": ["boat", "bus"], "b": ["cat"]}
    remedy = "save the lists as JSON or Parquet (DataFrame.to_parquet), or join their labels with"
    (note,) = said(file, gts)
    assert note.startswith("p: 2 predicted labels look like lists written as text (such as \"['bo")
    assert remedy in note
    (note,) = said(file, gts, read=semmetrics.ReadOptions(label_delimiter=","))
    assert note.startswith("p: 3 predicted labels look like lists written as text")
    assert [remedy in note for note in said(file, file)] == [True, True]
    (odd,) = semmetrics.validate(file)["odd"]
    assert odd.startswith("2 distinct labels look like lists written as text")
    assert said({"a": ["[sic]", "cat's"], "b": []}, gts) == []


def test_sides_that_look_swapped(tmp_path):
    one, several = {"1": ["a cat sits here"]}, {"1": ["a cat sat", "the cat is here"]}
    notes = said(several, one, measures="BLEU-1")
    assert "every image has a single reference, and several captions: are the two" in notes[-1]
    assert said(one, several, measures="BLEU-1") == []
    scored = {"1": {"cat": 0.9, "dog": 0.2}}
    (note,) = said({"1": ["cat"]}, scored)
    assert note.startswith("the ground truth has scores, and the predictions have none: are")
    assert said(scored, {"1": ["cat"]}, measures="mAP") == []
    for name in ("gt.json", "preds.json"):
        (tmp_path / name).write_text(json.dumps({"1": ["cat"]}))
    (note,) = said(tmp_path / "gt.json", tmp_path / "preds.json")
    assert note.startswith("the file of predictions is named as ground truth, and the other as")
    assert said(tmp_path / "preds.json", tmp_path / "gt.json") == []


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
    mine, _ = oddity_notes(merged.noted, "none", None)
    assert any("2 predicted labels in 2 items differ" in note for note in mine)
    assert any("('Dogs' and 'dog'): normalize='lower+plural'" in note for note in mine)
    assert any("1 predicted label holds ';'" in note for note in mine)


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
    (note,) = semmetrics.score_systems(systems, gts, measures="F1").notes
    assert note.startswith("all 7 systems: 1 to 7 predicted labels in 1 to 7 items differ from a ")
    joined = {key: ["cat;dog"] for key in gts}
    notes = semmetrics.score_systems(dict.fromkeys("abcde", gts), joined, measures="F1").notes
    assert sum("reference labels hold ';'" in note for note in notes) == 1


# ---- thresholds, composed labels, signatures, what has no effect ---------------------------------


def test_a_threshold_that_nobody_calibrated_is_said_with_the_command():
    plain = Tiny({"a": [1.0, 0.0], "b": [0.6, 0.8]})
    (note,) = said([["a"]], [["b"]], measures="SemF1", embedding=plain)
    assert note.startswith("the threshold 0.4 is that of word2vec, and not calibrated for ")
    assert "calibrate_threshold(preds, gts, embedding=..., holdout=1)" in note
    (note,) = said([["a"]] * 150, [["b"]] * 150, measures="SemF1", embedding=plain)
    assert "calibrate_threshold(preds, gts, embedding=...)" in note
    for measures in ("SemF1(threshold=0.4)", "SoftF1", "F1"):
        notes = said([["a"]], [["b"]], measures=measures, embedding=plain)
        assert not any("not calibrated" in one for one in notes)
    assert said([["cat"]], [["cat"]], measures="SemF1") == []


def test_the_command_that_calibrates_runs(tmp_path, monkeypatch):
    import shlex

    from semmetrics.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.txt").write_text("4 2\ncat 1 0\ndog 0 1\nkitten 1 0.1\npuppy 0.1 1\n")
    sides = {"p.json": ("kitten", "puppy"), "g.json": ("cat", "dog")}
    for name, (one, other) in sides.items():
        lists = {str(n): [one if n % 2 else other] for n in range(40)}
        (tmp_path / name).write_text(json.dumps(lists))
    measures = "SemRecall(embedding=w)@5"
    table = semmetrics.score("p.json", "g.json", measures=measures, embedding={"w": "words.txt"},
                             normalize="lower")  # fmt: skip
    (note,) = table.notes
    command = note.partition(": ")[2].partition(", then calibration='threshold.json'")[0]
    arguments = shlex.split(command)
    assert arguments[:2] == ["semmetrics", "calibrate"]
    with pytest.raises(SystemExit) as left:
        main(arguments[1:])
    assert left.value.code in (0, None)
    notes = said("p.json", "g.json", measures=measures, embedding={"w": "words.txt"},
                 normalize="lower", calibration="threshold.json")  # fmt: skip
    assert not any("not calibrated" in one for one in notes)


@pytest.mark.parametrize("name", ["word2vec-googlenews-300", "GoogleNews-vectors"])
def test_word2vec_has_the_threshold_of_its_paper(name):
    from semmetrics.embed.word_vectors import MatrixEmbedder

    model = MatrixEmbedder(np.eye(2), ["cat", "dog"], name=name)
    assert said([["cat"]], [["dog"]], measures="SemF1", embedding=model) == []


def test_composed_labels_are_counted_beside_the_unknown():
    model = StaticEmbedder()
    found = model.embed(["cat", "xqzlaptop", "red laptop", "日本"])
    assert found.composed.tolist() == [False, True, False, False]
    assert found.known.tolist() == [True, True, True, False]
    lists = {"1": ["xqzlaptop", "cat", "日本"], "2": ["xqzlaptop"]}
    notes = said(lists, lists, measures="SemF1")
    assert any("1 of 3 terms composed by semmetrics-static" in note for note in notes)
    from semmetrics.embed.label_vectors import measure_coverage

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


def test_weights_of_no_item_are_said():
    lists = {"a": ["cat"], "b": ["dog"]}
    weights = {"a": 1, "b": 2, "x": 3, "y": 4}
    (note,) = said(lists, lists, weights=weights)
    assert note == "2 of 4 sample weights have no effect: no input has their ids: 'x', 'y'"
    assert said({"a": ["cat"]}, lists, weights={"a": 1, "b": 2}, missing="skip") == [
        "preds: items without a prediction, left out: 1"
    ]
    captions = {"a": "a cat sits here"}
    (note,) = said(captions, {"a": ["a cat"]}, measures="BLEU-1", weights={"a": 1, "x": 1})
    assert "1 of 2 sample weights has no effect: no input has its id: 'x'" in note


def test_cutoffs_and_rules_that_no_measure_takes_are_said():
    scores = {"a": {"cat": 0.9, "dog": 0.2}}
    measures = ["F1", "Recall@5", "mAP"]
    notes = said(scores, {"a": ["cat"]}, measures=measures, top_k=3)
    assert "top_k= (--top-k) has no effect on Recall@5: it has a cutoff already" in notes
    assert "top_k= (--top-k) has no effect on mAP: it takes none" in notes
    notes = said(scores, {"a": ["cat"]}, measures=["F1(decode=threshold:0.1)", "mAP"],
                 decode="threshold:0.5")  # fmt: skip
    own = "F1(decode=threshold:0.1): it has a decoding rule already"
    assert f"decode= (--decode) has no effect on {own}" in notes
    (note,) = said(scores, {"a": ["cat"]}, measures=["F1", "mAP"], threshold=0.5)
    assert note == "threshold= (--threshold) has no effect on mAP: it takes none"
    assert said([["cat"]], [["cat"]], measures=["F1", "MacroF1"], top_k=3) == []
    probs = np.full((1, 3), 1 / 3)
    (note,) = said({"a": {"cat": 0.9}}, {"a": ["cat"]}, set_size_probs=probs)
    assert note.startswith(
        "set_size_probs= (--set-size-probs) has no effect: no decoding rule here uses it"
    )
    with pytest.raises(InputError, match="set_size_probs names 'x', which is no system"):
        said(scores, {"a": ["cat"]}, set_size_probs={"x": probs})


def test_keys_that_mean_nothing_are_refused(tmp_path):
    path = tmp_path / "df.json"
    path.write_text('{"documents": 3, "frequencies": {"a": 1}, "tokeniser": "ptb"}')
    with pytest.raises(InputError, match="the key 'tokeniser' means nothing"):
        semmetrics.DocumentFrequencies.load(path)
    found = semmetrics.calibrate_threshold_on_pairs(
        [("car", "automobile", 1), ("car", "tree", 0)]
    ).to_dict()
    path.write_text(json.dumps(found | {"treshold": 0.3}))
    with pytest.raises(InputError, match="the calibration has 'treshold', which means nothing"):
        semmetrics.score([["a"]], [["a"]], measures="SemF1", calibration=path)


def test_nothing_is_said_of_a_calibration_that_is_being_made():
    task = label_task(as_labels([["a"]]), as_labels([["a"]]))
    measures = parse_all(["F1"])
    from semmetrics.options import resolve_options

    options = resolve_options({}, "labels")
    assert uncalibrated_notes({"s": {"": replace(task)}}, measures, options, []) == []
