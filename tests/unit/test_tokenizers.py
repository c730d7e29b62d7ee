"""Tokenizers by name, and the tokenizer "13a"."""

import random
import string

import pytest
from refusals import refused

from semmetrics.text.tokenizers import open_tokenizer

THIRTEEN_A = [
    ("", []),
    ("A man, a plan.", ["A", "man", ",", "a", "plan", "."]),
    ("It's 1,000.5 kg", ["It's", "1,000.5", "kg"]),
    ("3.14, 2.", ["3.14", ",", "2", "."]),
    ("a 10-year-old", ["a", "10", "-", "year-old"]),
    ("(red) [blue]", ["(", "red", ")", "[", "blue", "]"]),
    ("&lt;3 &quot;hi&quot;", ["<", "3", '"', "hi", '"']),
    ("&amp;lt;", ["<"]),
    ("50% a/b c_d", ["50", "%", "a", "/", "b", "c", "_", "d"]),
    ("well-\nknown\nman <skipped>", ["wellknown", "man"]),
    ("café – 日本。", ["café", "–", "日本。"]),
]


@pytest.mark.parametrize(("spec", "code"), [("PTB", "unknown-name"), (3, "wrong-type")])
def test_another_tokenizer_is_an_error(spec, code):
    with refused(code):
        open_tokenizer(spec)


@pytest.mark.parametrize("tokens", ["a dog", None, [1], {"a": 1}])
def test_a_function_that_returns_no_strings_is_an_error(tokens):
    tokenizer = open_tokenizer(lambda caption: tokens if caption == "x" else ["a"])

    with refused("wrong-type", "caption 1 (from 0)"):
        tokenizer.tokens(["a", "x"])


@pytest.mark.parametrize("spec", ["ptb", "13a", "whitespace", tuple])
def test_captions_must_be_a_list_of_strings(spec):
    tokenizer = open_tokenizer(spec)

    for caption in (None, b"a dog", ["a"], float("nan")):
        with refused("wrong-type", "caption 2 (from 0)"):
            tokenizer.tokens(["a", "b", caption])
    with refused("wrong-type", ""):
        tokenizer.tokens("a dog")


@pytest.mark.parametrize(("caption", "tokens"), THIRTEEN_A)
def test_13a_has_a_token_for_each_rule(caption, tokens):
    assert open_tokenizer("13a").tokens([caption]) == [tokens]


def test_13a_has_the_tokens_of_sacrebleu():
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a")
    theirs = module.Tokenizer13a()
    rng = random.Random(13)
    pieces = [*string.printable, "é", "—", "&amp;", "&lt;", "&quot;"]
    pieces += ["<skipped>", "-\n", "dog", "5"]
    captions = ["".join(rng.choices(pieces, k=rng.randint(0, 20))) for _ in range(5000)]

    ours = open_tokenizer("13a").tokens(captions)

    assert ours == [theirs(caption).split() for caption in captions]


def test_a_subclass_of_str_is_a_string():
    class Caption(str):
        __slots__ = ()

    assert open_tokenizer("ptb").tokens([Caption("A dog.")]) == [["a", "dog"]]
