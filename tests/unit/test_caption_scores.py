"""``semmetrics.score`` of captions: what is given, what is refused, and what a table holds."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import re
from functools import reduce
from operator import add

import numpy as np
import pytest
from oracles import captions_ngram as ngram
from oracles import cider
from refusals import codes, refused
from stand_ins import without_pycocoevalcap

import semmetrics
from semmetrics import Bootstrap, DocumentFrequencies
from semmetrics.metrics.cider import fit_document_frequencies
from semmetrics.metrics.meteor import METEOR_PROGRAM
from semmetrics.scoring.result import score_statistics
from semmetrics.scoring.signature import read_signature
from semmetrics.text.tokenizers import open_tokenizer

DEFAULTS = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"]
CAPTIONS = {"1": "a cat sleeps on a mat", "2": "two dogs run on grass", "3": "a red bus"}
REFERENCES = {
    "1": ["a cat is sleeping on a mat", "the cat sleeps"],
    "2": ["two dogs are running on the grass", "dogs run", "dogs play on grass"],
    "3": ["the red bus stops", "a bus"],
}
OTHER = {"1": "a dog", "2": "dogs play on the grass", "3": "a red bus stops"}
TEXTS = [text for several in REFERENCES.values() for text in several]
WORDS = ["a", "the", "cat", "dog", "sleeps", "runs", "on", "mat", "grass", "red"]
FIT = fit_document_frequencies([*REFERENCES.values(), ["a dog", "the mat"], ["grass"]])


@pytest.fixture
def program():
    """Skips where METEOR's program cannot run."""
    if reason := METEOR_PROGRAM.missing():
        pytest.skip(reason)


@pytest.fixture(autouse=True)
def no_program(request, monkeypatch):
    """Everywhere else there is none: it takes seconds to start."""
    if "program" not in request.fixturenames:
        without_pycocoevalcap(monkeypatch)


def score(preds=CAPTIONS, gts=REFERENCES, **options):
    return semmetrics.score(preds, gts, **options)


def values(table):
    return {one.heading: one.value for one in table}


def bits(scores):
    """Everything that is shown of scores, and the value of each item by id."""
    return [
        repr((one.to_dict(), sorted(zip(map(str, one.ids), one.items.tolist(), strict=True))))
        for one in scores
    ]


def drawn(number, seed):
    """Captions of random words, and one to three references of each."""
    chance = random.Random(seed)

    def text():
        return " ".join(chance.choices(WORDS, k=chance.randint(2, 8)))

    names = [f"image{place}" for place in range(number)]
    return (
        {name: text() for name in names},
        {name: [text() for _ in range(chance.randint(1, 3))] for name in names},
    )


# ---- what is given ----------------------------------------------------------------------------


def test_the_values_are_those_of_loops():
    preds, refs = drawn(40, 0)
    table = score(preds, refs, tokenizer="whitespace")
    assert table.headings == DEFAULTS
    mine = [text.split() for text in preds.values()]
    theirs = [[text.split() for text in several] for several in refs.values()]
    pairs = list(zip(mine, theirs, strict=True))
    counted = cider.document_frequencies(theirs)
    for name, expected in {
        "ROUGE-L": [ngram.rouge_l(*pair) for pair in pairs],
        "CIDEr-D": [cider.score(*pair, counted, len(pairs)) for pair in pairs],
    }.items():
        assert table[name].items == pytest.approx(expected, abs=1e-12)
        assert table[name].value == pytest.approx(sum(expected) / len(pairs), abs=1e-12)
    rows = [ngram.bleu_row(*pair) for pair in pairs]
    for n in range(1, 5):
        found = table[f"BLEU-{n}"]
        assert found.value == pytest.approx(ngram.bleu(rows, n), abs=1e-12)
        assert found.items == pytest.approx([ngram.bleu([row], n) for row in rows], abs=1e-12)
        assert (found.n, found.unit, found.undefined) == (40, "image", {})


def test_the_forms_of_the_same_captions(tmp_path):
    pandas = pytest.importorskip("pandas")
    records = [{"image_id": name, "caption": text} for name, text in CAPTIONS.items()]
    (tmp_path / "results.json").write_text(json.dumps(records), encoding="utf-8")
    (tmp_path / "refs.json").write_text(json.dumps(REFERENCES), encoding="utf-8")
    rows = "".join(f"{name},{text}\n" for name, text in CAPTIONS.items())
    (tmp_path / "preds.csv").write_text(f"id,caption\n{rows}", encoding="utf-8")
    expected = bits(score())
    for preds, refs in itertools.product(
        (
            CAPTIONS,
            {name: [text] for name, text in CAPTIONS.items()},
            dict(reversed(CAPTIONS.items())),
            {int(name): text for name, text in CAPTIONS.items()},
            records,
            pandas.Series(CAPTIONS),
            semmetrics.as_captions(CAPTIONS),
            tmp_path / "results.json",
            str(tmp_path / "preds.csv"),
        ),
        (REFERENCES, tmp_path / "refs.json", dict(reversed(REFERENCES.items()))),
    ):
        assert bits(score(preds, refs, system="preds", task="captions")) == expected
    assert score(str(tmp_path / "preds.csv"), tmp_path / "refs.json").systems == ["preds"]
    by_position = score(list(CAPTIONS.values()), list(REFERENCES.values()))
    assert values(by_position) == values(score())
    assert list(by_position.scores[0].ids) == [0, 1, 2]


def test_several_captions_of_an_image_are_items_of_their_own():
    preds = {name: [text] for name, text in CAPTIONS.items()}
    preds["2"].append("dogs play on the grass")
    table = score(preds, task="captions")
    assert table.scores[0].ids == ["1", "2#1", "2#2", "3"]
    first, second = (score(one)["ROUGE-L"].items.tolist() for one in (CAPTIONS, OTHER))
    assert table["ROUGE-L"].items.tolist() == [first[0], first[1], second[1], first[2]]
    assert codes(table) == ["several-candidates"]
    # an image is one document, however many candidates it has
    assert table["CIDEr-D"].items[:2].tolist() == score()["CIDEr-D"].items[:2].tolist()


def test_several_systems():
    table = semmetrics.score_systems({"a": CAPTIONS, "b": OTHER}, REFERENCES)
    assert table.systems == ["a", "b"]
    for name, preds in {"a": CAPTIONS, "b": OTHER}.items():
        alone = bits(score(preds, system=name))
        assert bits([one for one in table if one.system == name]) == alone


def test_captions_are_tokenised_once():
    seen = []

    def tokens(caption):
        seen.append(caption)
        return caption.split()

    tokenizer = open_tokenizer(tokens)
    seen.clear()  # captions that it is told from others by
    systems = {"a": CAPTIONS, "b": OTHER}
    measures = ["BLEU-4", "CIDEr-D", "CIDEr(stem=porter)", "UniqueCaptions"]
    semmetrics.score_systems(
        systems, REFERENCES, measures=measures, tokenizer=tokenizer, score_references=True
    )
    every = {*CAPTIONS.values(), *OTHER.values(), *TEXTS}
    assert sorted(text for text in seen if text in every) == sorted(every)


@pytest.mark.parametrize(
    "options", [{"measures": "BLEU-1"}, {"protocol": "coco-caption"}, {"task": "captions"}]
)
def test_what_is_evaluated_is_said(options):
    lists = {"1": ["cat"], "2": ["dog", "cat"]}, {"1": ["cat", "dog"], "2": ["dog"]}
    assert score(*lists).headings[0] == "F1"
    assert score(*lists, **options)["BLEU-1"].n == 3


def test_lists_of_sentences_could_be_either():
    lists = {"1": ["a man is riding a horse"]}, {"1": ["a person is riding a brown horse"]}
    with refused("ambiguous-kind"):
        score(*lists)
    assert score(*lists, task="captions").headings == DEFAULTS
    assert score(*lists, measures="F1")["F1"].value == 0


# ---- tokenizers -------------------------------------------------------------------------------


def upper(caption):
    return caption.upper().split()


class Letters:
    name = "letters"

    def tokens(self, captions):
        return [list(caption) for caption in captions]


@pytest.mark.parametrize(
    ("tokenizer", "name", "split"),
    [
        (None, "ptb", lambda text: text.lower().replace(".", "").split()),
        ("ptb", "ptb", lambda text: text.lower().replace(".", "").split()),
        ("13a", "13a", lambda text: text.replace(".", " .").split()),
        ("whitespace", "whitespace", str.split),
        (str.split, "str.split", str.split),
        (upper, "upper", upper),
        (Letters(), "letters", list),
    ],
)
def test_tokenizers(tokenizer, name, split):
    preds = {"1": "A Cat sleeps.", "2": "a Dog."}
    refs = {"1": ["a cat sleeps.", "The Cat."], "2": ["A dog", "one dog."]}
    given = {} if tokenizer is None else {"tokenizer": tokenizer}
    table = score(preds, refs, measures=["BLEU-2", "ROUGE-L"], **given)
    rows = [ngram.bleu_row(split(preds[i]), [split(text) for text in refs[i]]) for i in preds]
    assert table["BLEU-2"].value == pytest.approx(ngram.bleu(rows, 2), abs=1e-12)
    for one in table:
        known, _, probe = one.signature.partition("|tok:")[2].partition("|")[0].partition("@")
        assert known == name
        own = callable(tokenizer) or isinstance(tokenizer, Letters)
        assert len(probe.removeprefix("unversioned-")) == (12 if own else 0)
        assert probe.startswith("unversioned-") == own


@pytest.mark.parametrize(
    ("tokenizer", "match"),
    [
        ("moses", "there is no tokenizer 'moses'; choose one of ptb, ptb-java, 13a, whitespace"),
        (3, "3 is an int, not a tokenizer"),
        (len, "wrong-type"),
    ],
)
def test_tokenizers_that_are_none(tokenizer, match):
    with refused(match):
        score(tokenizer=tokenizer)


# ---- document frequencies ---------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_document_frequencies_from_an_object_and_a_file(tmp_path, ending):
    path = tmp_path / f"df.{ending}"
    FIT.save(path)
    tables = [score(doc_freq=given) for given in (FIT, path, str(path))]
    assert bits(tables[0]) == bits(tables[1]) == bits(tables[2])
    found = tables[0]["CIDEr-D"]
    assert "|df:given|stem:none|noref:skip|tok:ptb|" in found.signature
    assert f"|fit:df@{FIT.hash}|" in found.signature
    counts, documents = FIT.as_dict(), FIT.documents
    expected = [
        cider.score(CAPTIONS[i].split(), [t.split() for t in REFERENCES[i]], counts, documents)
        for i in CAPTIONS
    ]
    assert found.items == pytest.approx(expected, abs=1e-12)
    assert values(score())["CIDEr-D"] != found.value


def test_document_frequencies_of_the_references_themselves_change_nothing():
    own = fit_document_frequencies(list(REFERENCES.values()))
    assert score(doc_freq=own)["CIDEr-D"].items.tolist() == score()["CIDEr-D"].items.tolist()
    assert f"|fit:df@{own.hash}|" in score()["CIDEr-D"].signature


def test_one_image_has_a_value_with_document_frequencies_alone():
    alone = score({"1": CAPTIONS["1"]}, {"1": REFERENCES["1"]})
    assert alone["CIDEr-D"].value == 0
    assert any("for a single image is 0: 'CIDEr-D'" in note for note in alone.notes)
    given = score({"1": CAPTIONS["1"]}, {"1": REFERENCES["1"]}, doc_freq=FIT)
    assert given["CIDEr-D"].value == score(doc_freq=FIT)["CIDEr-D"].items[0]
    assert given.notes == []


@pytest.mark.parametrize(
    ("df", "options", "match"),
    [
        (3, {}, "wrong-type"),
        ("none.npz", {}, "missing-file"),
        (FIT, {"tokenizer": "13a"}, "ptb"),
        (FIT, {"measures": "CIDEr-D(stem=porter)"}, "stem"),
        (None, {"measures": "CIDEr-D(df=given)"}, "df=given needs doc_freq="),
    ],
)
def test_document_frequencies_that_do_not_fit(df, options, match):
    with refused(match):
        score(doc_freq=df, **options)


def test_df_is_for_captions_whatever_the_measure():
    """It is no error where no measure takes it up, and changes nothing."""
    assert bits(score(measures="ROUGE-L", doc_freq=FIT)) == bits(score(measures="ROUGE-L"))


# ---- the references as a system ---------------------------------------------------------------


def test_human():
    table = score(score_references=True)
    assert table.systems == ["preds", "human"]
    found = table["human", "ROUGE-L"]
    assert found.ids == ["1#1", "1#2", "2#1", "2#2", "2#3", "3#1", "3#2"]
    expected = [
        ngram.rouge_l(one.split(), [text.split() for text in several if text != one])
        for several in REFERENCES.values()
        for one in several
    ]
    assert found.items == pytest.approx(expected, abs=1e-12)
    assert bits([one for one in table if one.system == "preds"]) == bits(score())


def test_human_has_the_document_frequencies_of_the_other_systems():
    """Those of all references, not of the references that are left over."""
    counted = cider.document_frequencies(
        [[text.split() for text in several] for several in REFERENCES.values()]
    )
    expected = [
        cider.score(one.split(), [t.split() for t in several if t != one], counted, len(CAPTIONS))
        for several in REFERENCES.values()
        for one in several
    ]
    table = score(score_references=True)
    assert table["human", "CIDEr-D"].items == pytest.approx(expected, abs=1e-12)
    hashes = {one.signature.partition("|fit:df@")[2][:12] for one in table if one.measure["df"]}
    assert hashes == {fit_document_frequencies(list(REFERENCES.values())).hash}
    given = score(score_references=True, doc_freq=FIT)
    assert all(f"|fit:df@{FIT.hash}|" in one.signature for one in given if one.measure["df"])


def test_human_leaves_single_references_out():
    refs = {**REFERENCES, "3": ["a bus"]}
    table = score(gts=refs, score_references=True)
    assert table["human", "BLEU-1"].n == 5
    assert "single-reference" in codes(table)
    with refused("single-references"):
        score(
            gts={name: several[:1] for name, several in REFERENCES.items()}, score_references=True
        )
    with refused("duplicate", value="human"):
        score(system="human", score_references=True)


# ---- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "measures", [["F1"], ["F1", "BLEU-1"], ["MacroF1", "SemF1", "CIDEr-D"], "WMD"]
)
def test_measures_of_labels_are_refused(measures):
    with refused("wrong-kind"):
        score(measures=measures, task="captions")


def test_measures_of_captions_are_refused_for_labels():
    lists = [["cat"]], [["cat"]]
    with refused("wrong-kind"):
        semmetrics.score(*lists, measures=["BLEU-1"], task="labels")
    with refused("wrong-kind"):
        semmetrics.score(*lists, measures=["ROUGE-L", "F1"])


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 3},
        {"decode": "threshold:0.5"},
        {"keep_at_least": 1},
        {"set_size_probs": np.eye(3)},
        {"normalize": "lower", "empty_predictions": "skip"},
        {"classes": ["cat"]},
        {"ignore": ["cat"]},
        {"calibration": "c.json"},
        {"taxonomy": {"a": "b"}},
    ],
)
def test_options_of_labels_are_refused(options):
    with refused("not-of-kind", name=next(iter(options))):
        score(**options)


@pytest.mark.parametrize(
    "options",
    [{"tokenizer": "ptb"}, {"doc_freq": FIT}, {"score_references": True, "tokenizer": len}],
)
def test_options_of_captions_are_refused_for_labels(options):
    with refused("not-of-kind", name=next(iter(options))):
        semmetrics.score([["cat"]], [["cat"]], **options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"protocol": "coco-caption", "measures": ["BLEU-1"]}, "measures-and-protocol"),
        ({"protocol": "coco-caption", "task": "labels"}, "protocol-of-kind"),
        ({"protocol": "kubany2020", "task": "captions"}, "protocol-of-kind"),
        ({"protocol": "coco-caption", "tokenizer": "13a"}, "fixed-by"),
        ({"protocol": "coco-caption", "tokenizer": str.split}, "fixed-by"),
        ({"task": "sounds"}, "bad-choice"),
        ({"measures": []}, "nothing-given"),
        ({"measures": ["BLEU-5"]}, "BLEU-5"),
        ({"measures": ["BLEU-1@3"]}, "BLEU-1"),
        ({"missing": "drop"}, "missing='drop'"),
    ],
)
def test_what_makes_no_sense(options, match):
    with refused(match):
        score(**options)


@pytest.mark.parametrize(
    ("preds", "refs", "match"),
    [
        ({"1": CAPTIONS["1"]}, REFERENCES, "missing-ids"),
        ({**CAPTIONS, "4": "a"}, REFERENCES, "gts lacks 1 of the ids: '4'.*missing='skip'"),
        (CAPTIONS, {**REFERENCES, "3": []}, "gts has no caption for 1 of the ids: '3'"),
        ({**CAPTIONS, "3": 7}, REFERENCES, "wrong-type"),
        (CAPTIONS, {**REFERENCES, "3": ["a", None]}, "wrong-type"),
        (CAPTIONS, {**REFERENCES, "3": "a bus"}, "wrong-type"),
        ({**CAPTIONS, "3": "half \ud83d"}, REFERENCES, "preds, id '3'.*surrogate"),
        (["a b"], [["b"], ["c"]], "preds has 1 item and gts has 2"),
        ({}, {}, "no-items"),
    ],
)
def test_wrong_captions(preds, refs, match):
    with refused(match):
        score(preds, refs, task="captions")


# ---- ids without captions, and weights --------------------------------------------------------


def test_missing_captions():
    fewer = {name: text for name, text in CAPTIONS.items() if name != "2"}
    table = score(fewer, missing="skip")
    assert codes(table) == ["missing-prediction"]
    assert table.scores[0].ids == ["1", "3"]
    without = {name: several for name, several in REFERENCES.items() if name != "2"}
    assert values(table) == values(score(fewer, without))
    assert "|missing:skip|" in table.scores[0].signature
    table = score(fewer, missing="empty")
    assert "missing-prediction" in codes(table)
    assert values(table) == values(score({**CAPTIONS, "2": ""}))
    assert table.scores[0].ids == ["1", "2", "3"]


def test_candidates_without_references_are_undefined_and_counted():
    more = {**CAPTIONS, "4": "a boat"}
    texts = ["BLEU-1", "ROUGE-L", "ROUGE-L(no_reference=0)", "NGSM(no_reference=nan)", "CIDEr-D",
             "CaptionLength"]  # fmt: skip
    table = score(more, measures=texts, missing="empty")
    assert codes(table) == ["missing-reference"]
    found, known = values(table), values(score(measures=["BLEU-1", "ROUGE-L", "CIDEr-D"]))
    for name in ("BLEU-1", "ROUGE-L", "CIDEr-D"):
        assert found[name] == known[name]
    assert found["ROUGE-L(no_reference=0)"] == pytest.approx(known["ROUGE-L"] * 3 / 4, abs=1e-15)
    assert np.isnan(found["NGSM(no_reference=nan)"])
    for one in table:
        lacking = one.heading != "CaptionLength"
        assert one.undefined == ({"no_reference": 1} if lacking else {})
        assert one.n == 4
        assert np.isnan(one.items).tolist() == [False, False, False, lacking]
    assert table.scores[3].to_dict()["value"] is None


def test_weights():
    given = {"1": 2.0, "2": 0.5, "3": 1.0}
    table = score(weights=given)
    items = score()["ROUGE-L"].items
    assert table["ROUGE-L"].value == pytest.approx(np.average(items, weights=list(given.values())))
    assert table["ROUGE-L"].items.tolist() == items.tolist()
    counts = [
        ngram.bleu_row(CAPTIONS[i].split(), [text.split() for text in REFERENCES[i]])
        for i in CAPTIONS
    ]
    doubled = [row for row, times in zip(counts, (4, 1, 2), strict=True) for _ in range(times)]
    assert table["BLEU-2"].value == pytest.approx(ngram.bleu(doubled, 2), abs=1e-9)
    assert re.search(r"\|weights:[0-9a-f]{16}\|", table["BLEU-2"].signature)
    assert values(score(weights=[2.0, 0.5, 1.0])) == values(table)
    whole = score(weights={"1": 2, "2": 1, "3": 1})["ROUGE-L"].value
    twice = score({**CAPTIONS, "4": CAPTIONS["1"]}, {**REFERENCES, "4": REFERENCES["1"]})
    assert whole == pytest.approx(twice["ROUGE-L"].value, abs=1e-15)
    with refused("no-weights"):
        score(weights={"1": 1, "2": 1})
    with refused("zero-weights"):
        score(weights=[0, 0, 0])


# ---- intervals and rows -----------------------------------------------------------------------


def test_the_interval_of_bleu_is_that_of_its_counts():
    preds, refs = drawn(30, 1)
    ci = semmetrics.Bootstrap(0.9, 60, 7, "percentile")
    table = score(preds, refs, tokenizer="whitespace", ci=ci)
    rows = [
        ngram.bleu_row(preds[name].split(), [text.split() for text in refs[name]]) for name in preds
    ]
    found = table["BLEU-2"]
    draw, order = np.random.default_rng(7), found.statistics.order
    resamples = [order[draw.integers(0, 30, 30)] for _ in range(60)]
    of_counts, of_items = (
        np.quantile([value(some) for some in resamples], [0.05, 0.95])
        for value in (
            lambda some: ngram.bleu([rows[place] for place in some], 2),
            lambda some: found.items[some].mean(),
        )
    )
    assert (found.ci.low, found.ci.high) == pytest.approx(tuple(of_counts), abs=1e-12)
    assert np.abs(of_counts - of_items).min() > 1e-3
    assert "|ci:percentile,0.9,60,7|" in found.signature
    assert values(table) == values(score(preds, refs, tokenizer="whitespace"))
    for one in table:
        assert one.ci.low < one.value < one.ci.high


def test_intervals_do_not_depend_on_the_order():
    preds, refs = drawn(20, 2)
    mixed = random.Random(0).sample(list(preds), 20)
    first, second = (
        score(preds, {name: refs[name] for name in names}, ci=Bootstrap(resamples=30))
        for names in (refs, mixed)
    )
    assert bits(first) == bits(second)


def test_rows_may_be_left_out():
    table = score(keep_rows=False)
    assert values(table) == values(score())
    with refused("rows-not-kept"):
        _ = table["BLEU-1"].items
    kept = score(keep_rows=False, ci=True, resamples=5)
    assert kept["BLEU-1"].ci.low <= kept["BLEU-1"].ci.high


def test_progress():
    calls = []
    score(score_references=True, progress=lambda done, every: calls.append((done, every)))
    assert (3, 3) in calls
    assert (7, 7) in calls


# ---- the protocol -----------------------------------------------------------------------------


def test_the_protocol_without_meteor():
    table = score(protocol="coco-caption", ci=True, resamples=5)
    assert table.headings == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert values(table) == dict(zip(table.headings, values(score()).values(), strict=True))
    reasons = {one.heading: one.reason for one in table.not_computed}
    assert set(reasons) == {"METEOR", "SPICE"}
    assert "pip install 'semmetrics[captions]'" in reasons["METEOR"]
    assert "pip install 'semmetrics[captions]'" in reasons["SPICE"]
    assert score(protocol="coco-caption", tokenizer="ptb").headings == table.headings
    with refused("missing-package"):
        score(measures=["BLEU-1", "METEOR"])
    captions = {"a": ["a cat"]}
    with pytest.raises(semmetrics.MissingDependencyError):  # of several systems, too
        semmetrics.score_systems(
            {"one": captions, "two": captions}, captions, measures="METEOR", task="captions"
        )


def test_the_protocol_with_meteor(program):
    table = score(protocol="coco-caption", ci=True, resamples=5)
    assert table.headings[4] == "METEOR"
    assert [one.heading for one in table.not_computed] == ["SPICE"]
    assert 0 < table["METEOR"].ci.low <= table["METEOR"].ci.high <= 1
    assert table["METEOR"].value == score(measures="METEOR")["METEOR"].value


# ---- signatures, and parts that add up --------------------------------------------------------


@pytest.mark.parametrize("ci", [False, Bootstrap(0.9, 7, 3)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tokenizer": "13a", "missing": "skip"},
        {"protocol": "coco-caption"},
        {"measures": ["CIDEr(df=rows,stem=porter)", "ROUGE-L(beta=2)", "LengthRatio", "NGSM"]},
        {"measures": "CIDEr-D(sigma=3)", "doc_freq": FIT},
        {"score_references": True, "missing": "empty"},
    ],
)
def test_a_signature_can_be_computed_again(options, ci):
    table = score(ci=ci, **options)
    for one in table:
        signed = read_signature(one.signature)
        assert (signed.measure, signed.n) == (one.measure, one.n)
        assert signed.bootstrap == ((ci and dataclasses.replace(ci, method=one.ci.method)) or None)
        if one.system == "human":  # counted on all references, which the signature calls given
            continue
        again = score(
            measures=signed.measure,
            tokenizer=signed.settings["tok"],
            missing=signed.settings["missing"],
            ci=signed.bootstrap or False,
            doc_freq=options.get("doc_freq"),
        )
        (found,) = again
        assert (found.signature, found.value, found.ci) == (one.signature, one.value, one.ci)
        assert found.items.tolist() == one.items.tolist()


def test_what_changes_a_number_changes_the_signature():
    first = score()["CIDEr-D"].signature
    fewer = {name: REFERENCES[name][:2] for name in REFERENCES}
    for changed in (
        score(tokenizer="13a"),
        score(missing="skip"),
        score(weights=[1, 1, 1]),
        score(doc_freq=FIT),
        score(gts=fewer),
        score(measures="CIDEr-D(sigma=5)"),
        score({"1": CAPTIONS["1"]}, missing="skip"),
    ):
        assert changed.scores[-1].signature != first
    assert score(OTHER)["CIDEr-D"].signature == first  # that of the data, not of the system


@pytest.mark.parametrize("human", [False, True])
def test_parts_add_up_to_the_whole(human):
    preds, refs = drawn(25, 3)
    refs = {name: [*several, "a cat"] for name, several in refs.items()}
    measures = ["BLEU-4", "ROUGE-L", "CIDEr-D", "NGSM", "LengthRatio", "CIDEr", "CaptionLength"]
    system = "human" if human else "preds"
    own = fit_document_frequencies(list(refs.values()))

    def part(names, **options):
        table = score(
            {name: preds[name] for name in names},
            {name: refs[name] for name in names},
            measures=measures, doc_freq=own, score_references=human, **options,
        )  # fmt: skip
        return [one for one in table if one.system == system]

    whole = part(list(preds), ci=Bootstrap(resamples=9))
    names = random.Random(4).sample(list(preds), 25)
    parts = [part(some) for some in (names[:1], names[1:9], names[9:])]
    merged = reduce(add, (one[0].statistics for one in parts))
    chosen = {system: [(one.measure, one.note) for one in whole]}
    again = score_statistics({system: merged}, chosen, headings=measures, ci=Bootstrap(resamples=9))
    assert bits(again) == bits(whole)
    with refused("items-in-both"):
        merged + parts[0][0].statistics


def test_parts_of_which_one_has_several_candidates_add_up():
    preds = {"1": [CAPTIONS["1"], OTHER["1"]], "2": [CAPTIONS["2"]], "3": [CAPTIONS["3"]]}

    def part(names):
        sides = ({name: side[name] for name in names} for side in (preds, REFERENCES))
        (one,) = score(*sides, measures="ROUGE-L", task="captions")
        return one

    whole = part("123")
    for first, second in (("1", "23"), ("23", "1"), ("12", "3")):
        statistics = part(first).statistics + part(second).statistics
        chosen = {"preds": [(whole.measure, "")]}
        assert bits(score_statistics({"preds": statistics}, chosen, headings=["ROUGE-L"])) == bits(
            [whole]
        )


def test_parts_with_other_tokens_do_not_add_up():
    left = score({"1": CAPTIONS["1"]}, {"1": REFERENCES["1"]}, measures="BLEU-1")
    right = score({"2": CAPTIONS["2"]}, {"2": REFERENCES["2"]}, measures="BLEU-1", tokenizer="13a")
    with refused("different-statistics"):
        left.scores[0].statistics + right.scores[0].statistics


def test_parts_with_document_frequencies_of_their_own_do_not_add_up():
    left, right = (
        score({i: CAPTIONS[i]}, {i: REFERENCES[i]}, measures="CIDEr-D").scores[0] for i in "12"
    )
    with refused("different-statistics"):
        left.statistics + right.statistics


# ---- captions of any kind ---------------------------------------------------------------------


def test_strange_captions_are_captions():
    preds = {
        "1": "😀 猫が好き\x00\x07",
        "2": "Ünï\r\ncode",
        "3": "",
        "4": " \t ",
        "5": "a " * 100_000,
    }
    refs = {"1": ["😀 猫が好き"], "2": ["ünï code", ""], "3": [""], "4": ["a"], "5": ["a b", "a"]}
    table = score(preds, refs, tokenizer="whitespace", measures=["BLEU-1", "ROUGE-L", "NGSM"])
    assert all(0 <= one.value <= 1 for one in table)
    assert table["ROUGE-L"].items[2] == 1  # an empty caption of an empty reference
    assert table["NGSM"].items[2] == 1
    assert "empty-candidates" in codes(table)
    assert "empty-references" in codes(table)
    for one in score(preds, refs):
        low, high = one.measure.definition.bounds
        assert low <= one.value <= high


def test_what_is_given_is_not_changed():
    preds, refs = json.loads(json.dumps([CAPTIONS, REFERENCES]))
    score(
        preds,
        refs,
        score_references=True,
        weights={"1": 1, "2": 2, "3": 3},
        doc_freq=FIT,
        missing="skip",
    )
    assert (preds, refs) == (CAPTIONS, REFERENCES)
    assert isinstance(FIT, DocumentFrequencies)
    assert (
        FIT.hash
        == fit_document_frequencies([*REFERENCES.values(), ["a dog", "the mat"], ["grass"]]).hash
    )


def test_a_protocol_counts_its_own_document_frequencies():
    with refused("not-applicable", name="doc_freq"):
        score(protocol="coco-caption", doc_freq=FIT)


def test_systems_on_different_images_are_told():
    fewer = dict(list(CAPTIONS.items())[:1])
    systems = {"all": CAPTIONS, "some": fewer}
    options = {"measures": "ROUGE-L", "missing": "skip"}
    told = "different-items"
    assert told in codes(semmetrics.score_systems(systems, REFERENCES, **options))
    # what human captions are scored on is known
    table = semmetrics.score(CAPTIONS, REFERENCES, score_references=True, **options)
    assert told not in codes(table)


def test_a_tokenizer_gives_tokens_for_each_caption():
    class Short:
        name = "short"

        def tokens(self, captions):
            return [caption.split() for caption in captions if "dog" not in caption]

    with refused("wrong-count"):
        score(tokenizer=Short())
