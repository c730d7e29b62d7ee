"""Parsed captions: how they are read, and which may be learned from.

A file of parsed captions has a line of JSON for each caption, as `parsing.dump` writes it: the
caption, its raw tuples, and its sentences, each with tokens (word, tag, lemma), basic dependencies
and collapsed ones with conjunctions propagated (governor, dependent, relation; places from 1).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Caption", "Sentence", "read_parsed"]

Edges = list[tuple[int, int, str]]


@dataclass(frozen=True)
class Sentence:
    """A sentence as the official parser sees it.

    Attributes
    ----------
    words, tags, lemmas : list of str
    basic, edges : list of (governor, dependent, relation)
        Places from 0; the root has no governor and no edge.
    """

    words: list[str]
    tags: list[str]
    lemmas: list[str]
    basic: Edges
    edges: Edges


@dataclass(frozen=True)
class Caption:
    """A caption, its sentences and its raw tuples."""

    text: str
    tuples: list[list[str]]
    sentences: list[Sentence]


def read_parsed(paths: Sequence[Path]) -> Iterator[Caption]:
    """Yield the captions of files of parsed captions; a last line that is cut is left out."""
    for path in paths:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line.endswith("}\n"):
                    found = json.loads(line)
                    sentences = [_sentence(one) for one in found["sentences"]]
                    yield Caption(found["caption"], found["tuples"], sentences)


def _sentence(found: dict[str, list[list[str]]]) -> Sentence:
    words, tags, lemmas = (
        list(column) for column in zip(*found["tokens"], strict=True)
    )
    basic, edges = (
        [(int(g) - 1, int(d) - 1, relation) for g, d, relation in found[kind]]
        for kind in ("basic", "cc")
    )
    return Sentence(words, tags, lemmas, basic, edges)
