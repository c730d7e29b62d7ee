"""PTB tokens: a caption for every rule, and the Java program beside ours."""

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

# Rule, caption, and what the Java program of pycocoevalcap makes of the caption. A no-break space
# inside a token is written as the Java program writes it.
CASES = json.loads(Path(__file__).with_name("ptb_cases.json").read_text("utf-8"))
NEXT = [
    # A caption's end that depends on the next caption: tokens alone, and before that caption.
    ("a box of vitamin C.", "The dog runs", "c.", "c"),
    ("block B.", "a dog", "b.", "b."),
    ("bus no.", "5 dogs", "no", "no."),
    ("bus no.", "five dogs", "no", "no"),
]
SIGNS = string.punctuation + " '’“”‘–—…½£€\xa0\xad\u200b\t\x07éñ中д\u0301٣😀²‐"


@pytest.fixture(scope="module")
def tokenizer():
    return PtbTokenizer()


@pytest.mark.parametrize(("rule", "caption", "tokens"), CASES)
def test_caption_of_each_rule(tokenizer, rule, caption, tokens):
    assert " ".join(tokenizer.tokens([caption])[0]) == tokens
    assert tokenizer.tokens([caption] * 2) == [[t for t in tokens.split(" ") if t]] * 2


def test_rules_have_different_names():
    assert len({rule.name for rule in RULES}) == len(RULES)


def glued(rng):
    """A caption of words and signs with and without blanks between."""
    pieces = [word for _, caption, _ in CASES for word in caption.split(" ")]
    pieces += [
        "a",
        "dog",
        "The",
        "C.",
        "no.",
        "5",
        "1/2",
        "Mr.",
        "555",
        "1234",
        ". .",
        "<b>",
        "it's",
    ]
    parts = []
    for _ in range(rng.randint(1, 9)):
        parts.append(rng.choice(pieces))
        parts.append(rng.choice([" ", " ", " ", "", rng.choice(SIGNS)]))
    return "".join(parts)


def noise(rng):
    """A string of few different characters, so that rules meet."""
    alphabet = [
        rng.choice(string.ascii_letters),
        rng.choice(string.digits),
        rng.choice(" a.T"),
    ]
    alphabet += rng.sample(SIGNS, rng.randint(1, 4))
    return "".join(rng.choices(alphabet, k=rng.randint(1, 14)))


def strings(seed, number):
    rng = random.Random(seed)
    return [rng.choice((glued, noise))(rng) for _ in range(number)]


def test_words_looked_up_give_what_the_whole_caption_gives():
    captions = strings(0, 4000)
    tokenizer = PtbTokenizer()
    expected = [scan_caption(caption) for caption in captions]
    assert tokenizer.tokens(captions) == expected
    assert tokenizer.tokens(captions) == expected  # now from what was kept


@pytest.mark.parametrize(("caption", "following", "alone", "before"), NEXT)
def test_next_caption_counts_only_if_asked(caption, following, alone, before):
    both = [caption, following]
    assert PtbTokenizer().tokens(both)[0][-1] == alone
    assert PtbTokenizer(run_on=True).tokens(both)[0][-1] == before


def test_every_character_is_taken(tokenizer):
    captions = [f"a{chr(code)}b {chr(code)} {chr(code)}1" for code in range(0x11000)]
    tokens = tokenizer.tokens(captions)
    assert all(
        isinstance(token, str) and token for caption in tokens for token in caption
    )
    assert tokens[0x1F] == ["a", "b", "1"]
    assert tokens[0xD800] == ["a", "b", "1"]
    assert tokens[0x10000] == ["a", "b", "1"]


def test_memory_of_words_is_bounded():
    tokenizer = PtbTokenizer()
    words = map("q".join, itertools.product(string.ascii_lowercase, repeat=4))
    captions = [f"{word} dog's." for word in itertools.islice(words, 250_000)]
    assert tokenizer.tokens(captions) == [
        [c.split(" ")[0], "dog", "'s"] for c in captions
    ]
    assert len(tokenizer._word_tokens) <= 200_000


@pytest.fixture(scope="module")
def java():
    if find_spec("pycocoevalcap") is None:
        pytest.skip("pycocoevalcap is not installed")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    return open_tokenizer("ptb-java")


def test_java_keeps_captions_apart_at_odd_line_ends(java):
    captions = ["a\u2028dog", "two\x0bcats", "a\rbird", "one\ud800fish", ""]
    expected = [["a", "dog"], ["two", "cats"], ["a", "bird"], ["one", "fish"], []]
    assert java.tokens(captions) == expected
    assert java.tokens([]) == []


JAR = "tokenizer/stanford-corenlp-3.4.1.jar"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("echo no main class >&2; exit 3", "java-failed"),
        ("echo a dog", "wrong-count"),
    ],
)
def test_failures_of_the_program(monkeypatch, tmp_path, script, code):
    fake_pycocoevalcap(monkeypatch, tmp_path, JAR)
    fake_java(monkeypatch, tmp_path / "bin", f"#!/bin/sh\n{script}\n")
    with refused(code):
        open_tokenizer("ptb-java").tokens(["a dog", "b", "c"])


def apart(java, captions):
    """Tokens of each caption before a line that changes none."""
    lines = [line for caption in captions for line in (caption, "dog")]
    return java.tokens(lines)[::2]


@pytest.mark.parametrize("seed", range(5))
def test_java_gives_the_same_tokens(java, tokenizer, seed):
    captions = strings(f"java {seed}", 2000)
    theirs = apart(java, captions)
    ours = tokenizer.tokens(captions)
    wrong = [
        trio for trio in zip(captions, theirs, ours, strict=True) if trio[1] != trio[2]
    ]
    assert len(wrong) <= 2, wrong[:5]
