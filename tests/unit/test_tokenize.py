"""Tokenizers by name, the small ones, and tokens as integers."""

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
    ("(red) [blue] {green}", ["(", "red", ")", "[", "blue", "]", "{", "green", "}"]),
    (
        "cats &amp; dogs &lt;3 &quot;hi&quot;",
        ["cats", "&", "dogs", "<", "3", '"', "hi", '"'],
    ),
    ("&amp;lt;", ["<"]),
    ("50% a/b c_d e@f #g", ["50", "%", *"a/bc_de@f#g"]),
    ("well-\nknown\nman <skipped>", ["wellknown", "man"]),
    ("wait... what?!", ["wait", ".", ".", ".", "what", "?", "!"]),
    ("café – 日本。", ["café", "–", "日本。"]),
]


@pytest.mark.parametrize(("spec", "code"), [("PTB", "unknown-name"), (3, "wrong-type")])
def test_other_things_are_no_tokenizer(spec, code):
    with refused(code):
        open_tokenizer(spec)


def letters(caption):
    return tuple(caption)


@pytest.mark.parametrize("bad", ["a dog", None, [1], [b"a"], {"a": 1}])
def test_function_must_give_strings(bad):
    tokenizer = open_tokenizer(lambda caption: bad if caption == "x" else ["a"])
    with refused("wrong-type", "caption 1 (from 0)"):
        tokenizer.tokens(["a", "x"])


@pytest.mark.parametrize("spec", ["ptb", "13a", "whitespace", letters])
def test_captions_are_a_list_of_strings(spec):
    tokenizer = open_tokenizer(spec)
    for bad in (None, 3, b"a dog", ["a"], float("nan")):
        with refused("wrong-type", "caption 2 (from 0)"):
            tokenizer.tokens(["a", "b", bad])
    with refused("wrong-type", ""):
        tokenizer.tokens("a dog")


@pytest.mark.parametrize(("caption", "tokens"), THIRTEEN_A)
def test_13a(caption, tokens):
    assert open_tokenizer("13a").tokens([caption]) == [tokens]


def test_13a_is_that_of_sacrebleu():
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a")
    theirs = module.Tokenizer13a()
    rng = random.Random(13)
    pieces = [
        *string.printable,
        "é",
        "—",
        "&amp;",
        "&lt;",
        "&quot;",
        "<skipped>",
        "-\n",
        "dog",
        "5",
    ]
    captions = ["".join(rng.choices(pieces, k=rng.randint(0, 20))) for _ in range(5000)]
    captions += [caption for caption, _ in THIRTEEN_A]
    assert open_tokenizer("13a").tokens(captions) == [
        theirs(c).split() for c in captions
    ]


def test_subclass_of_str_is_a_string():
    class Caption(str):
        __slots__ = ()

    assert open_tokenizer("ptb").tokens([Caption("A dog."), "b"]) == [
        ["a", "dog"],
        ["b"],
    ]
