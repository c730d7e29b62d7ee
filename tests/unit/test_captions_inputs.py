"""Captions from Python objects."""

from __future__ import annotations

import numpy as np
import pytest
from reading import refused_in
from refusals import facts

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


@pytest.mark.parametrize(("data", "match"), [
    ({"a": [["x"]]}, ("wrong-type", "refs, id 'a', caption 1")),
    ({"a": b"x"}, ("wrong-type", "refs, id 'a'")),
    (["x", 4], ("wrong-type", "refs, item 1 (from 0)")),
    ({"a": ["x", "y\ud800"]}, ("lone-surrogate", "refs, id 'a', caption 2")),
    (["x", "\udfff"], ("lone-surrogate", "refs, item 1, caption 0 (from 0)")),
    ([{"id": True, "text": "x"}], ("wrong-id", "refs, element [0]")),
    (np.eye(2), ("wrong-type", "refs")), (iter(["x"]), ("wrong-type", "refs")),
])  # fmt: skip
def test_errors(data, match):
    with refused_in(*match):
        as_captions(data, source="refs")


@pytest.mark.parametrize(("candidates", "references", "noted"), [
    (["<start> a dog <end>", "<start> a cat <end>"], ["a dog", "a cat"], "candidates"),
    (["[CLS] dog [SEP]", "[CLS] cat [SEP]"], ["a dog", "a cat"], "candidates"),
    (["startseq dog endseq", "startseq cat endseq"], ["a dog", "a cat"], "candidates"),
    (["dog<|endoftext|>", "cat<|endoftext|>"], ["a dog", "a cat"], "candidates"),
    (["dog", "cat"], ["<s> a dog </s>", "<S> a cat </s>"], "references"),
    (["a dog <unk>", "a cat"], ["a dog", "a cat"], ""),  # not in all
    (["the start of the end", "start end"], ["a dog", "a cat"], ""),
    (["a [dog] runs", "a [dog] <b>sits"], ["a dog", "a cat"], ""),
    (["<person> walks", "<person> sits"], ["a dog", "a cat"], ""),
])  # fmt: skip
def test_special_tokens_in_all_captions_of_a_side_are_noted(candidates, references, noted):
    scored = semmetrics.score(
        candidates, [[one] for one in references], task="captions", measures="BLEU-1"
    )
    found = [fact.values["side"] for fact in facts(scored, "special-tokens")]
    assert found == ([noted] if noted else [])


def test_special_tokens_of_one_batch_are_not_those_of_all():
    scorer = semmetrics.Scorer(task="captions", measures="BLEU-1", keep_rows=False)
    scorer.update({"1": "<s> a"}, {"1": ["a"]})
    scorer.let_go()
    assert len(facts(scorer.compute(), "special-tokens")) == 1
    scorer.update({"2": "b"}, {"2": ["a"]})
    assert not facts(scorer.compute(), "special-tokens")
