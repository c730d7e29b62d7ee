"""The offline parser's words: sentences, tokens and lemmas."""

import pytest

from semmetrics.text.lemmas import Lemmas
from semmetrics.text.parser_tokens import cut_sentences


@pytest.mark.parametrize(
    ("caption", "sentences"),
    [
        ("A dog's ball.", ["A dog 's ball ."]),
        ("it doesn't cannot", ["it does n't can not"]),
        ('a "stop" sign', ["a `` stop '' sign"]),
        ("a (red) [car]", ["a -LRB- red -RRB- -LSB- car -RSB-"]),
        ("a -lrb- red -rrb- car", ["a -lrb- red -rrb- car"]),
        ("at 3:30, 1,000 t-shirts", ["at 3:30 , 1,000 t-shirts"]),
        ("Mr. Smith in the U.S. now", ["Mr. Smith in the U.S. now"]),
        ("Stop! He said. ok", ["Stop !", "He said .", "ok"]),
        ("five o'clock … well", ["five o'clock … well"]),
        ("the plate.a spoon", ["the plate.a spoon"]),
        ("A cat \U0001f431 \u2028sleeps", ["A cat sleeps"]),
    ],
)
def test_captions_are_cut_into_sentences_and_tokens(caption, sentences):
    expected = [sentence.split() for sentence in sentences]

    assert cut_sentences(caption) == expected


@pytest.mark.parametrize(
    "example",
    [
        "Dogs NNS dog",
        "dishes NNS dish",
        "ponies NNS pony",
        "glass NNS glass",
        "riding VBG ride",
        "running VBG run",
        "eating VBG eat",
        "carried VBN carry",
        "walks VBZ walk",
        "riding NN riding",
        "red JJ red",
        "sing VB sing",
        "wolves NNS wolf",
        "Texas NNP texas",
    ],
)
def test_a_word_has_a_lemma_by_its_tag(example):
    word, tag, lemma = example.split()

    assert Lemmas({"N wolves": "wolf"}).of(word, tag) == lemma
