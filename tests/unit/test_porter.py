"""The Porter stemmers against published examples, and against nltk."""

import random

import pytest

from semmetrics.text.porter import porter_stem
from semmetrics.text.porter2 import english_stem

# Examples of Porter (1980) for steps 1a to 5b, after all steps.
PAPER = """
caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed,
agreed agre, plastered plaster, bled bled, motoring motor, sing sing,
conflated conflat, troubled troubl, sized size, hopping hop, tanned tan,
falling fall, hissing hiss, fizzed fizz, failing fail, filing file, happy happi,
sky sky, relational relat, conditional condit, rational ration, digitizer digit,
conformabli conform, differentli differ, vileli vile, analogousli analog,
vietnamization vietnam, operator oper, feudalism feudal, decisiveness decis,
hopefulness hope, sensibiliti sensibl, triplicate triplic, formative form,
electriciti electr, goodness good, revival reviv, allowance allow, airliner airlin,
gyroscopic gyroscop, defensible defens, replacement replac, adjustment adjust,
dependent depend, adoption adopt, communism commun, activate activ,
homologous homolog, bowdlerize bowdler, probate probat, rate rate, cease ceas,
controll control, roll roll
"""
# A word for each rule and exception of the English stemmer of Snowball.
PORTER_2 = """
riding ride, rides ride, skies sky, dying die, generously generous, 'cause caus,
dog's dog, dogs' dog, ties tie, cries cri, gas gas, kiwis kiwi, agreed agre,
hopping hop, hoping hope, falling fall, toy toy, by by, happy happi,
relational relat, apologist apologist, geologi geolog, gently gentl, quickly quick,
hopefulness hope, adoption adopt, lion lion, controll control, innings inning,
see see, yellow yellow, sayyid sayyid, communism communism, conversational convers
"""
ENDINGS = (
    "ational tional enci anci izer abli alli entli eli ousli ization ation ator alism "
    "iveness fulness ousness aliti iviti biliti icate ative alize iciti ical ful ness al "
    "ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive "
    "ize ed ing s sses ies eed y ll e tt zz"
)


def pairs(table):
    """Return the words of a table and their stems."""
    return [entry.split() for entry in table.split(",")]


@pytest.mark.parametrize(("word", "stem"), pairs(PAPER))
def test_porter_has_the_stems_of_the_paper(word, stem):
    assert porter_stem(word) == stem


@pytest.mark.parametrize(("word", "stem"), pairs(PORTER_2))
def test_porter2_has_the_stems_of_snowball(word, stem):
    assert english_stem(word) == stem


def test_porter_has_the_stems_of_nltk():
    """Random endings meet every rule, and exceptions to it."""
    nltk = pytest.importorskip("nltk.stem.porter", reason="nltk is not installed")
    theirs = nltk.PorterStemmer(mode=nltk.PorterStemmer.ORIGINAL_ALGORITHM)
    rng = random.Random(0)
    endings = [*ENDINGS.split(), ""]
    starts = [word for word, _ in pairs(PAPER)]
    starts += ["b", "y", "tr", "ye", "q", "ay", "yy", "oo", "o'c", "3", ""]

    for _ in range(20_000):
        start = rng.choice(starts)[: rng.randint(0, 6)]
        word = start + rng.choice(endings) + rng.choice(endings)
        if word:
            assert porter_stem(word) == theirs.stem(word), word
