"""Captions to tokens, beside NLTK's word tokenizers and the Java program that ours reproduces.

The captions are those of COCO's test split and Flickr8k where SEMMETRICS_REFERENCE names the folder
that has them, and otherwise made up. Every run starts with a new tokenizer, which has seen no
word. Java's time has the start of its machine in it; its tokens must be ours.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labels import Scale
from benchmarks.timing import Row, ratio, seconds, take_turns
from semmetrics.errors import InputError
from semmetrics.text.tokenizers import encode_tokens, open_tokenizer

__all__ = ["WORKLOADS"]

FILES = ("ptb_tokens_coco_test5k.tsv.gz", "ptb_tokens_flickr8k.tsv.gz")
MOST = 30_000
NOUNS = [
    "man",
    "woman",
    "dog",
    "bus",
    "plate",
    "pizza",
    "child's",
    "skateboard",
    "table",
    "surfboard",
]
VERBS = [
    "rides",
    "holds",
    "watches",
    "isn't on",
    "jumps over",
    "sits near",
    "eats",
    "looks at",
]
KINDS = [
    "red",
    "small",
    "two-story",
    "black-and-white",
    "old",
    "wooden",
    "white",
    "3",
    "parked",
]


def made_up(number: int, seed: int = 0) -> list[str]:
    """Sentences of a few words with the punctuation that captions have."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.choice(np.array(words, object), number)
        for words in (
            ["A", "The", "Two", "a"],
            KINDS,
            NOUNS,
            VERBS,
            ["a", "the"],
            KINDS,
            NOUNS,
        )
    ]
    ends = rng.choice(
        np.array([".", " .", "", ", outside.", ' in "town"!'], object), number
    )
    names = rng.integers(number, size=number)  # rare words: every caption has one
    return [
        f"{' '.join(words)} {name:x}th{end}"
        for *words, name, end in zip(*columns, names, ends, strict=True)
    ]


def captions() -> tuple[str, list[str]]:
    """What the captions are, and the captions."""
    folder = Path(os.environ.get("SEMMETRICS_REFERENCE", ""), "coco")
    if not all((folder / name).is_file() for name in FILES):
        return "made-up captions", made_up(MOST)
    found: list[str] = []
    for name in FILES:
        with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
            found += [line.partition("\t")[0] for line in lines]
    return "captions of COCO and Flickr8k", found[:MOST]


def ours(spec: str, texts: list[str]) -> list[list[str]]:
    """A new tokenizer each time."""
    return open_tokenizer(spec).tokens(texts)


def peers(texts: list[str]) -> tuple[dict[str, Callable[[], Any]], list[Row]]:
    """The other tokenizers that are installed, and rows of those that are not."""
    contenders: dict[str, Callable[[], Any]] = {}
    skipped = []
    try:
        from nltk.tokenize import NLTKWordTokenizer, TreebankWordTokenizer
    except ImportError as error:
        skipped.append(Row("NLTK", "", f"skipped: {error}"))
    else:
        for kind in (TreebankWordTokenizer, NLTKWordTokenizer):
            cut = kind().tokenize
            contenders[f"NLTK's `{kind.__name__}`"] = partial(
                lambda f: list(map(f, texts)), cut
            )
    try:
        java = open_tokenizer("ptb-java")
    except InputError as error:
        skipped.append(Row("the Java program", "", f"skipped: {error.problem}"))
    else:
        pairs = zip(texts, java.tokens(texts), ours("ptb", texts), strict=True)
        wrong = [text for text, theirs, mine in pairs if theirs != mine]
        if len(wrong) > 1:  # one caption ends by what the next begins with
            raise SystemExit(f"Java's tokens differ: {wrong[:5]}")
        contenders["pycocoevalcap's Java program"] = partial(java.tokens, texts)
    return contenders, skipped


def tokenizing(scale: Scale) -> list[Row]:
    """PTB tokens of 30,000 captions, and the small tokenizers."""
    what, texts = captions()
    contenders, skipped = peers(texts)
    own = {
        f"`{spec}`": partial(ours, spec, texts) for spec in ("ptb", "13a", "whitespace")
    }
    times = take_turns({**own, **contenders}, scale.repeats)
    head = f"{len(texts):,} {what}"
    mine = times["`ptb`"]
    rows = [Row(f"{head}; {name}", seconds(times[name])) for name in own]
    rows += [
        Row(
            f"{head}; `ptb` beside {name}",
            seconds(mine),
            seconds(times[name]),
            ratio(times[name], mine),
        )
        for name in contenders
    ]
    lists = ours("ptb", texts)
    coding = take_turns({"codes": partial(encode_tokens, lists)}, scale.repeats)[
        "codes"
    ]
    return [*rows, Row(f"{head}; their tokens to integers", seconds(coding)), *skipped]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"captions": tokenizing}
