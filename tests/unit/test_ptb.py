"""PTB tokens: a caption for each rule, and the Java program."""

import itertools
import json
import random
import shutil
import string
from importlib.util import find_spec
from pathlib import Path

import pytest
from refusals import refused
from stand_ins import fake_java, fake_pycocoevalcap

from semmetrics.text.ptb import PtbTokenizer, scan_caption
from semmetrics.text.ptb_rules import RULES
from semmetrics.text.tokenizers import open_tokenizer

# Rule, caption, and the tokens that the Java program of pycocoevalcap prints. It also
# prints a no-break space inside a token.
CASES = json.loads(Path(__file__).with_name("ptb_cases.json").read_text("utf-8"))
SIGNS = string.punctuation + " '’“”‘–—…½£€\xa0\xad\u200b\t\x07éñ中д\u0301٣😀²‐"


@pytest.fixture(scope="module")
def tokenizer():
    return PtbTokenizer()


@pytest.mark.parametrize(("rule", "caption", "tokens"), CASES)
def test_a_rule_has_the_tokens_of_the_program(tokenizer, rule, caption, tokens):
    expected = tokens.split(" ") if tokens else []

    assert tokenizer.tokens([caption] * 2) == [expected] * 2


def test_rules_have_different_names():
    assert len({rule.name for rule in RULES}) == len(RULES)


def joined_words(rng):
    """Return words of the cases and signs, with and without spaces in between."""
    pieces = ["a", "dog", "The", "C.", "no.", "5", "1/2", "Mr.", "555", ". .", "<b>"]
    for _, caption, _ in CASES:
        pieces += caption.split(" ")
    parts = []
    for _ in range(rng.randint(1, 9)):
        parts.append(rng.choice(pieces))
        parts.append(rng.choice([" ", " ", " ", "", rng.choice(SIGNS)]))
    return "".join(parts)


def few_characters(rng):
    """Return a string of few different characters, so that rules meet."""
    letters = (string.ascii_letters, string.digits, " a.T")
    alphabet = [rng.choice(characters) for characters in letters]
    alphabet += rng.sample(SIGNS, rng.randint(1, 4))
    return "".join(rng.choices(alphabet, k=rng.randint(1, 14)))


def random_captions(seed, number):
    rng = random.Random(seed)
    return [rng.choice((joined_words, few_characters))(rng) for _ in range(number)]


def test_cached_words_give_the_tokens_of_the_whole_caption():
    captions = random_captions(0, 4000)
    tokenizer = PtbTokenizer()

    expected = [scan_caption(caption) for caption in captions]

    assert tokenizer.tokens(captions) == expected
    assert tokenizer.tokens(captions) == expected  # now from the cache


@pytest.mark.parametrize(
    ("caption", "following", "alone", "run_on"),
    [
        ("a box of vitamin C.", "The dog runs", "c.", "c"),
        ("block B.", "a dog", "b.", "b."),
        ("bus no.", "5 dogs", "no", "no."),
        ("bus no.", "five dogs", "no", "no"),
    ],
)
def test_the_next_caption_counts_only_on_request(caption, following, alone, run_on):
    captions = [caption, following]

    assert PtbTokenizer().tokens(captions)[0][-1] == alone
    assert PtbTokenizer(run_on=True).tokens(captions)[0][-1] == run_on


def test_any_character_is_accepted(tokenizer):
    captions = [f"a{chr(code)}b {chr(code)} {chr(code)}1" for code in range(0x11000)]

    tokens = tokenizer.tokens(captions)

    assert all(map(all, tokens))  # no token is empty
    for code in (0x1F, 0xD800, 0x10000):
        assert tokens[code] == ["a", "b", "1"]


def test_more_words_than_are_cached_have_right_tokens():
    words = map("q".join, itertools.product(string.ascii_lowercase, repeat=4))
    words = list(itertools.islice(words, 250_000))

    tokens = PtbTokenizer().tokens([f"{word} dog's." for word in words])

    assert tokens == [[word, "dog", "'s"] for word in words]


# ---- the Java program ----------------------------------------------------------------


@pytest.fixture(scope="module")
def java():
    if find_spec("pycocoevalcap") is None:
        pytest.skip("pycocoevalcap is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    return open_tokenizer("ptb-java")


def test_unusual_line_ends_do_not_separate_captions_for_java(java):
    captions = ["a\u2028dog", "two\x0bcats", "a\rbird", "one\ud800fish", ""]

    tokens = [["a", "dog"], ["two", "cats"], ["a", "bird"], ["one", "fish"], []]
    assert java.tokens(captions) == tokens
    assert java.tokens([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_java_has_the_same_tokens(java, tokenizer, seed):
    captions = random_captions(f"java {seed}", 2000)
    separated = []
    for caption in captions:  # "dog" leaves the end of the caption before it as it is
        separated += [caption, "dog"]

    theirs = java.tokens(separated)[::2]

    ours = tokenizer.tokens(captions)
    rows = zip(captions, theirs, ours, strict=True)
    different = [row for row in rows if row[1] != row[2]]
    assert len(different) <= 2, different[:5]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("#!/bin/sh\necho no main class >&2; exit 3", "java-failed"),
        ("#!/bin/sh\necho a dog", "wrong-count"),
        ("\x00\x01", "java-not-started"),
    ],
)
def test_a_failing_program_is_an_error(monkeypatch, tmp_path, script, code):
    fake_pycocoevalcap(monkeypatch, tmp_path, "tokenizer/stanford-corenlp-3.4.1.jar")
    fake_java(monkeypatch, tmp_path / "bin", script)

    with refused(code):
        open_tokenizer("ptb-java").tokens(["a dog", "b", "c"])
