"""The Porter stemmer against the examples of the paper, and against nltk where it is installed."""

from __future__ import annotations

import random

import pytest

from semmetrics.text import porter as stem
from semmetrics.text.porter import porter_stem

# Of the sections on steps 1a to 5b of Porter (1980), each word taken through all steps.
PAPER = {
    "caresses": "caress",
    "ponies": "poni",
    "ties": "ti",
    "caress": "caress",
    "cats": "cat",
    "feed": "feed",
    "agreed": "agre",
    "plastered": "plaster",
    "bled": "bled",
    "motoring": "motor",
    "sing": "sing",
    "conflated": "conflat",
    "troubled": "troubl",
    "sized": "size",
    "hopping": "hop",
    "tanned": "tan",
    "falling": "fall",
    "hissing": "hiss",
    "fizzed": "fizz",
    "failing": "fail",
    "filing": "file",
    "happy": "happi",
    "sky": "sky",
    "relational": "relat",
    "conditional": "condit",
    "rational": "ration",
    "digitizer": "digit",
    "conformabli": "conform",
    "differentli": "differ",
    "vileli": "vile",
    "analogousli": "analog",
    "vietnamization": "vietnam",
    "operator": "oper",
    "feudalism": "feudal",
    "decisiveness": "decis",
    "hopefulness": "hope",
    "sensibiliti": "sensibl",
    "triplicate": "triplic",
    "formative": "form",
    "electriciti": "electr",
    "goodness": "good",
    "revival": "reviv",
    "allowance": "allow",
    "airliner": "airlin",
    "gyroscopic": "gyroscop",
    "defensible": "defens",
    "replacement": "replac",
    "adjustment": "adjust",
    "dependent": "depend",
    "adoption": "adopt",
    "communism": "commun",
    "activate": "activ",
    "homologous": "homolog",
    "bowdlerize": "bowdler",
    "probate": "probat",
    "rate": "rate",
    "cease": "ceas",
    "controll": "control",
    "roll": "roll",
}


@pytest.mark.parametrize(("word", "expected"), PAPER.items())
def test_paper(word, expected):
    assert porter_stem(word) == expected


def test_made_words_as_nltk():
    """Endings put together at random, so that every rule is met, refused and followed by others."""
    nltk = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed")
    other = nltk.PorterStemmer(mode=nltk.PorterStemmer.ORIGINAL_ALGORITHM)
    rng = random.Random(0)
    endings = [*stem._STEP_2, *stem._STEP_3, *stem._STEP_4]
    endings += ["ed", "ing", "s", "sses", "ies", "eed", "y", "ll", "e", "tt", "zz", ""]
    starts = [*PAPER, "b", "y", "tr", "ye", "q", "ay", "yy", "oo", "o'c", "3", ""]
    for _ in range(20_000):
        start = rng.choice(starts)[: rng.randint(0, 6)]
        word = start + rng.choice(endings) + rng.choice(endings)
        if word:
            assert porter_stem(word) == other.stem(word), word
