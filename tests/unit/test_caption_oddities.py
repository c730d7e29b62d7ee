"""Notes on captions that are probably mistakes of the user."""

import pytest
from refusals import codes, facts

import semmetrics


def score_captions(candidates, references=("a dog", "a cat")):
    """Score two candidates against two references."""
    return semmetrics.score(
        candidates,
        [[reference] for reference in references],
        task="captions",
        measures="BLEU-1",
    )


@pytest.mark.parametrize(
    "candidates",
    [
        ["<start> a dog <end>", "<start> a cat <end>"],
        ["[CLS] dog [SEP]", "[CLS] cat [SEP]"],
        ["startseq dog endseq", "startseq cat endseq"],
        ["dog<|endoftext|>", "cat<|endoftext|>"],
    ],
)
def test_special_tokens_in_all_candidates_are_noted(candidates):
    (fact,) = facts(score_captions(candidates), "special-tokens")

    assert fact.values["side"] == "candidates"


def test_special_tokens_in_all_references_are_noted():
    references = ["<s> a dog </s>", "<S> a cat </s>"]

    (fact,) = facts(score_captions(["dog", "cat"], references), "special-tokens")

    assert fact.values["side"] == "references"


@pytest.mark.parametrize(
    "candidates",
    [
        ["a dog <unk>", "a cat"],
        ["the start of the end", "start end"],
        ["a [dog] runs", "a [dog] <b>sits"],
        ["<person> walks", "<person> sits"],
    ],
)
def test_words_like_special_tokens_are_not_noted(candidates):
    assert not facts(score_captions(candidates), "special-tokens")


def test_special_tokens_must_be_in_the_captions_of_all_batches():
    scorer = semmetrics.Scorer(task="captions", measures="BLEU-1", keep_rows=False)
    scorer.update({"1": "<s> a"}, {"1": ["a"]})
    scorer.drop_items()
    assert len(facts(scorer.compute(), "special-tokens")) == 1

    scorer.update({"2": "b"}, {"2": ["a"]})

    assert not facts(scorer.compute(), "special-tokens")


@pytest.mark.parametrize(
    ("candidates", "n_items"),
    [
        (["a be@@ ach", "two bi@@ kes"], [2]),
        (["\u2581a \u2581dog", "\u2581a \u2581cat"], [2]),
        (["a\u0120dog runs", "a\u0120cat"], [2]),
        (["a dog @@ home", "me@@home"], []),
        (["a be@@ ach", "a cat"], []),
    ],
)
def test_subwords_in_all_captions_are_noted(candidates, n_items):
    notes = facts(score_captions(candidates), "subwords")

    assert [fact.n for fact in notes] == n_items


@pytest.mark.parametrize(
    ("candidates", "examples"),
    [
        (["Caption: a dog", "Caption: a cat"], [("Caption:",)]),
        (["1. a dog", "2. a cat"], [("1.",)]),
        (["b'a dog'", "b'a cat'"], [("b'...'",)]),
        (["Left: a dog", "Right: a cat"], []),
        (["3 dogs", "2 cats"], []),
    ],
)
def test_a_prefix_of_all_captions_is_noted(candidates, examples):
    notes = facts(score_captions(candidates), "special-tokens")

    assert [fact.examples for fact in notes] == examples


@pytest.mark.parametrize(
    ("references", "separators"),
    [
        (["a dog runs\nthe dog", "a cat\nthe cat sits"], ["\n"]),
        (["a dog runs|||the dog", "a cat|||the cat"], ["|||"]),
        (["a dog runs#the dog", "a cat#the cat"], ["#"]),
        (["a dog runs; the dog", "a cat; the cat"], ["; "]),
        (["a dog runs; it barks", "a cat"], []),
        (["dog; cat", "cat; dog"], []),
        (["a dog runs\n", "a cat\n"], []),
        (["a dog runs.\n\nIt barks.", "a cat.\n\nIt sits."], []),
    ],
)
def test_references_joined_by_a_separator_are_noted(references, separators):
    notes = facts(score_captions(["a dog", "a cat"], references), "joined-references")

    assert [fact.values["separator"] for fact in notes] == separators


def test_missing_values_written_as_captions_are_noted():
    assert codes(score_captions(["nan", "a cat"])) == ["missing-captions"]
    assert codes(score_captions(["none of it", "a cat"])) == []
