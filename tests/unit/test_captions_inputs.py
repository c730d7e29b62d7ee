"""Captions from Python objects."""

from __future__ import annotations

import numpy as np
import pytest
from reading import refused_in
from refusals import facts, refused

import semmetrics
from semmetrics.kinds.captions import as_captions


def test_series():
    pandas = pytest.importorskip("pandas")
    got = as_captions(pandas.Series(["x", "y"]))
    assert (got.ids, got.to_list()) == (range(2), [["x"], ["y"]])
    got = as_captions(pandas.Series([["x", "y"], ["z"]], index=["a", 7]))
    assert (got.ids, got.to_list(), got.understood) == (
        ["a", "7"],
        [["x", "y"], ["z"]],
        "a Series of captions",
    )
    got = as_captions(pandas.Series(["x", "y", "z"], index=[3, 4, 3]), source="refs")
    assert (got.ids, got.to_list()) == (["3", "4"], [["x", "z"], ["y"]])
    assert got.where(1) == "refs, row 1 (from 0), id '4'"
    with refused_in("wrong-type", "input, id 'b'"):
        as_captions(pandas.Series(["x", float("nan")], index=["a", "b"]))
    with refused_in("duplicate-id", "input"):
        as_captions(pandas.Series([["x"], ["y"]], index=["a", "a"]))
    with refused_in("missing-column", "input"):
        as_captions(pandas.DataFrame({"caption": ["x"]}))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"a": [["x"]]}, ("wrong-type", "refs, id 'a', caption 1")),
        ({"a": b"x"}, ("wrong-type", "refs, id 'a'")),
        (["x", 4], ("wrong-type", "refs, item 1 (from 0)")),
        ({"a": ["x", "y\ud800"]}, ("lone-surrogate", "refs, id 'a', caption 2")),
        (["x", "\udfff"], ("lone-surrogate", "refs, item 1, caption 0 (from 0)")),
        ([{"id": True, "text": "x"}], ("wrong-id", "refs, element [0]")),
        (np.eye(2), ("wrong-type", "refs")),
        (iter(["x"]), ("wrong-type", "refs")),
    ],
)
def test_errors(data, match):
    with refused_in(*match):
        as_captions(data, source="refs")


@pytest.mark.parametrize(
    ("candidates", "references", "noted"),
    [
        (
            ["<start> a dog <end>", "<start> a cat <end>"],
            ["a dog", "a cat"],
            "candidates",
        ),
        (["[CLS] dog [SEP]", "[CLS] cat [SEP]"], ["a dog", "a cat"], "candidates"),
        (
            ["startseq dog endseq", "startseq cat endseq"],
            ["a dog", "a cat"],
            "candidates",
        ),
        (["dog<|endoftext|>", "cat<|endoftext|>"], ["a dog", "a cat"], "candidates"),
        (["dog", "cat"], ["<s> a dog </s>", "<S> a cat </s>"], "references"),
        (["a dog <unk>", "a cat"], ["a dog", "a cat"], ""),  # not in all
        (["the start of the end", "start end"], ["a dog", "a cat"], ""),
        (["a [dog] runs", "a [dog] <b>sits"], ["a dog", "a cat"], ""),
        (["<person> walks", "<person> sits"], ["a dog", "a cat"], ""),
    ],
)
def test_special_tokens_in_all_captions_of_a_side_are_noted(
    candidates, references, noted
):
    scored = semmetrics.score(
        candidates, [[one] for one in references], task="captions", measures="BLEU-1"
    )
    found = [fact.values["side"] for fact in facts(scored, "special-tokens")]
    assert found == ([noted] if noted else [])


def test_special_tokens_of_one_batch_are_not_those_of_all():
    scorer = semmetrics.Scorer(task="captions", measures="BLEU-1", keep_rows=False)
    scorer.update({"1": "<s> a"}, {"1": ["a"]})
    scorer.drop_items()
    assert len(facts(scorer.compute(), "special-tokens")) == 1
    scorer.update({"2": "b"}, {"2": ["a"]})
    assert not facts(scorer.compute(), "special-tokens")


@pytest.mark.parametrize(
    ("candidates", "n"),
    [
        (["a be@@ ach", "two bi@@ kes"], 2),
        (["a bea ##ch", "a ma ##t"], 2),
        (["\u2581a \u2581dog", "\u2581a \u2581cat"], 2),
        (["a\u0120dog runs", "a\u0120cat"], 2),
        (["a dog @@ home", "me@@home"], 0),
        (["## a dog", "#dog ##"], 0),
        (["a be@@ ach", "a cat"], 0),
    ],
)
def test_marks_of_subwords_are_noted(candidates, n):
    found = semmetrics.score(
        candidates, [["a dog"], ["a cat"]], task="captions", measures="BLEU-1"
    )
    assert [fact.n for fact in facts(found, "subwords")] == ([n] if n else [])


@pytest.mark.parametrize(
    ("candidates", "mark"),
    [
        (["Caption: a dog", "Caption: a cat"], "Caption:"),
        (["1. a dog", "2. a cat"], "1."),
        (["b'a dog'", "b'a cat'"], "b'...'"),
        (["Note: a dog", "a cat"], ""),
        (["Left: a dog", "Right: a cat"], ""),
        (["3 dogs", "2 cats"], ""),
        (["1.5 dogs", "2.5 cats"], ""),
    ],
)
def test_what_is_before_all_captions_is_noted(candidates, mark):
    found = semmetrics.score(
        candidates, [["a dog"], ["a cat"]], task="captions", measures="BLEU-1"
    )
    examples = [fact.examples for fact in facts(found, "special-tokens")]
    assert examples == ([(mark,)] if mark else [])


@pytest.mark.parametrize(
    ("references", "separator"),
    [
        (["a dog runs\nthe dog", "a cat\nthe cat sits"], "\n"),
        (["a dog runs | the dog", "a cat | the cat"], " | "),
        (["a dog runs|||the dog", "a cat|||the cat"], "|||"),
        (["a dog runs#the dog", "a cat#the cat"], "#"),
        (["a dog runs; the dog", "a cat; the cat"], "; "),
        (["a dog runs; it barks", "a cat"], ""),
        (["dog; cat", "cat; dog"], ""),
        (["a dog runs\n", "a cat\n"], ""),
        (["a dog #cute", "a cat #1"], ""),
        (["a dog runs.\n\nIt barks.", "a cat.\n\nIt sits."], ""),
    ],
)
def test_several_references_in_one_caption_are_noted(references, separator):
    found = semmetrics.score(
        ["a dog", "a cat"],
        [[one] for one in references],
        task="captions",
        measures="BLEU-1",
    )
    noted = [fact.values["separator"] for fact in facts(found, "joined-references")]
    assert noted == ([separator] if separator else [])


def test_tokens_of_a_reference_are_an_error_that_says_how_to_join_them():
    with refused(
        "'runs'] is a list. Expected a caption. If these are its tokens, join them"
    ):
        semmetrics.as_captions({"1": [["a", "dog", "runs"], ["a", "dog"]]})
    with refused("is a list. Expected a caption") as caught:
        semmetrics.as_captions({"1": [["a", 7]]})
    assert "tokens" not in str(caught.value)
