"""Tokenizers by name, the small ones, and tokens as integers."""

import random
import string
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from refusals import refused

from semmetrics.text import Tokenizer, encode_tokens, open_tokenizer

THIRTEEN_A = [
    ("", []),
    ("A man, a plan.", ["A", "man", ",", "a", "plan", "."]),
    ("It's 1,000.5 kg", ["It's", "1,000.5", "kg"]),
    ("3.14, 2.", ["3.14", ",", "2", "."]),
    ("a 10-year-old", ["a", "10", "-", "year-old"]),
    ("(red) [blue] {green}", ["(", "red", ")", "[", "blue", "]", "{", "green", "}"]),
    ("cats &amp; dogs &lt;3 &quot;hi&quot;", ["cats", "&", "dogs", "<", "3", '"', "hi", '"']),
    ("&amp;lt;", ["<"]),
    ("50% a/b c_d e@f #g", ["50", "%", *"a/bc_de@f#g"]),
    ("well-\nknown\nman <skipped>", ["wellknown", "man"]),
    ("wait... what?!", ["wait", ".", ".", ".", "what", "?", "!"]),
    ("café – 日本。", ["café", "–", "日本。"]),
]


@pytest.mark.parametrize("name", ["ptb", "13a", "whitespace"])
def test_name_is_that_of_the_signature(name):
    tokenizer = open_tokenizer(name)
    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.name == name
    assert tokenizer.tokens([]) == []
    assert tokenizer.tokens(("a dog", "", " ")) == [["a", "dog"], [], []]


@pytest.mark.parametrize(("spec", "code"), [("PTB", "unknown-name"), (3, "wrong-type")])
def test_other_things_are_no_tokenizer(spec, code):
    with refused(code):
        open_tokenizer(spec)


def letters(caption):
    return tuple(caption)


def test_function_is_a_tokenizer_by_its_name():
    tokenizer = open_tokenizer(letters)
    assert tokenizer.name.partition("@")[0] == "letters"
    assert tokenizer.tokens(["ab", ""]) == [["a", "b"], []]


def test_callable_object_has_the_name_of_its_type():
    class Reverse:
        def __call__(self, caption):
            return caption.split()[::-1]

    tokenizer = open_tokenizer(Reverse())
    assert tokenizer.name.partition("@")[0].endswith("Reverse")
    assert tokenizer.tokens(["a dog"]) == [["dog", "a"]]


def test_functions_of_one_name_are_told_apart_by_what_they_do():
    one, other, again = (open_tokenizer(rule) for rule in (LAMBDAS[0], LAMBDAS[1], LAMBDAS[0]))
    assert one.name == again.name != other.name
    assert one.name.partition("@")[0] == other.name.partition("@")[0]


LAMBDAS = [lambda caption: caption.split(), lambda caption: [*caption]]


@pytest.mark.parametrize("bad", ["a dog", None, [1], [b"a"], {"a": 1}])
def test_function_must_give_strings(bad):
    tokenizer = open_tokenizer(lambda caption: bad if caption == "x" else ["a"])
    with refused("wrong-type", "caption 1 (from 0)"):
        tokenizer.tokens(["a", "x"])


def test_tokenizer_is_taken_as_it_is():
    tokenizer = open_tokenizer("13a")
    assert open_tokenizer(tokenizer) is tokenizer


@pytest.mark.parametrize("spec", ["ptb", "13a", "whitespace", letters])
def test_captions_are_a_list_of_strings(spec):
    tokenizer = open_tokenizer(spec)
    for bad in (None, 3, b"a dog", ["a"], float("nan")):
        with refused("wrong-type", "caption 2 (from 0)"):
            tokenizer.tokens(["a", "b", bad])
    with refused("wrong-type", ""):
        tokenizer.tokens("a dog")


def test_subclass_of_str_is_a_string():
    class Caption(str):
        __slots__ = ()

    assert open_tokenizer("ptb").tokens([Caption("A dog."), "b"]) == [["a", "dog"], ["b"]]


def test_whitespace_keeps_case_and_punctuation():
    assert open_tokenizer("whitespace").tokens(["A  dog.\n(Red)\u2003x"]) == [
        ["A", "dog.", "(Red)", "x"]
    ]


@pytest.mark.parametrize(("caption", "tokens"), THIRTEEN_A)
def test_13a(caption, tokens):
    assert open_tokenizer("13a").tokens([caption]) == [tokens]


def test_13a_is_that_of_sacrebleu():
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a")
    theirs = module.Tokenizer13a()
    rng = random.Random(13)
    pieces = [
        *string.printable, "é", "—", "&amp;", "&lt;", "&quot;", "<skipped>", "-\n", "dog", "5",
    ]  # fmt: skip
    captions = ["".join(rng.choices(pieces, k=rng.randint(0, 20))) for _ in range(5000)]
    captions += [caption for caption, _ in THIRTEEN_A]
    assert open_tokenizer("13a").tokens(captions) == [theirs(c).split() for c in captions]


def test_codes_follow_first_occurrence():
    lists = [["b", "a"], [], ["a", "c", "b"], []]
    indptr, codes, vocabulary = encode_tokens(lists)
    assert indptr.dtype == np.int64
    assert codes.dtype == np.int32
    assert vocabulary == ["b", "a", "c"]
    assert indptr.tolist() == [0, 2, 2, 5, 5]
    assert codes.tolist() == [0, 1, 1, 2, 0]


def test_codes_give_the_tokens_back():
    rng = random.Random(0)
    lists = [rng.choices("abcdefgh", k=rng.randint(0, 9)) for _ in range(500)]
    indptr, codes, vocabulary = encode_tokens(lists)
    pairs = pairwise(indptr)
    assert [[vocabulary[code] for code in codes[low:high]] for low, high in pairs] == lists
    assert len(set(vocabulary)) == len(vocabulary)


def test_nothing_to_code():
    indptr, codes, vocabulary = encode_tokens([])
    assert (indptr.tolist(), codes.tolist(), vocabulary) == ([0], [], [])


def test_names_load_no_heavy_package():
    code = (
        "import sys; from semmetrics.text import open_tokenizer; open_tokenizer('ptb');"
        "print(sorted({'scipy', 'torch', 'gensim', 'ot', 'pycocoevalcap'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
